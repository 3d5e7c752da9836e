/* Strict JSON: what is refused and where, and that numbers keep their text. */
#include "tests/unit/unit.h"

static cJSON *parse(const char *text)
{
  cJSON *json = NULL;
  em_err err;
  int rc = em_json_parse(text, strlen(text), "f.json", &json, &err);
  if (rc) fail_msg("%s", err.msg);
  return json;
}

static void test_round_trip(void **state)
{
  (void)state;
  static const char text[] = "{\"a\":[1,-2,1.50,1E3,-0,1e-06,12345678901234567890,9007199254740993],\"b\":{"
                             "\"c\":null,\"d\":true,\"e\":false},"
                             "\"s\":\"q\\\"\\\\\\n\\u0001\xc3\xa9\",\"empty\":[],\"none\":{}}";
  cJSON *json = parse(text);
  em_str out = {0};
  em_json_print(json, &out);
  assert_string_equal(out.s, text);
  em_str_free(&out);
  em_json_free(json);
}

static void test_blanks_and_escapes(void **state)
{
  (void)state;
  cJSON *json = parse(" \t\r\n[ \"\\u00e9\\ud83d\\ude00\\/\\b\\f\" , { \"k\" : 1 } ]\n");
  em_str out = {0};
  em_json_print(json, &out);
  assert_string_equal(out.s, "[\"\xc3\xa9\xf0\x9f\x98\x80/\\b\\f\",{\"k\":1}]");
  em_str_free(&out);
  em_json_free(json);
}

static void test_made_numbers_print_as_pythons(void **state)
{
  (void)state;
  cJSON *json = cJSON_CreateArray();
  cJSON_AddItemToArray(json, cJSON_CreateNumber(3));
  cJSON_AddItemToArray(json, cJSON_CreateNumber(0.1));
  cJSON_AddItemToArray(json, cJSON_CreateNumber(1e-6));
  em_str out = {0};
  em_json_print(json, &out);
  assert_string_equal(out.s, "[3,0.1,1e-06]");
  em_str_free(&out);
  em_json_free(json);
}

typedef struct refusal {
  const char *text, *line_byte, *hint;
} refusal;

static const refusal refusals[] = {
  {"", "line 1, byte 0", "cut off"},
  {"{\"a\": 1,\n \"b\": [1, 2", "line 2, byte 20", "cut off"},
  {"{\"a\": \"xyz", "line 1, byte 6", "without an end"},
  {"{\"a\" 1}", "line 1, byte 5", "':'"},
  {"{\"a\": 1,}", "line 1, byte 8", "key"},
  {"{a: 1}", "line 1, byte 1", "key"},
  {"[1,]", "line 1, byte 3", "value"},
  {"[1 2]", "line 1, byte 3", "']'"},
  {"[1] x", "line 1, byte 4", "nothing after"},
  {"[01]", "line 1, byte 2", "']'"},
  {"[1.]", "line 1, byte 3", "digit"},
  {"[.5]", "line 1, byte 1", "value"},
  {"[+1]", "line 1, byte 1", "value"},
  {"[1e]", "line 1, byte 3", "digit"},
  {"[-]", "line 1, byte 2", "digit"},
  {"[1e999]", "line 1, byte 1", "double"},
  {"[NaN]", "line 1, byte 1", "value"},
  {"[tru]", "line 1, byte 1", "value"},
  {"\n\n[\"a\tb\"]", "line 3, byte 5", "0x09"},
  {"[\"\\x41\"]", "line 1, byte 3", "after a backslash"},
  {"[\"\\u12g4\"]", "line 1, byte 6", "hexadecimal"},
  {"[\"\\u0000\"]", "line 1, byte 2", "NUL"},
  {"[\"\\ud83d\"]", "line 1, byte 2", "surrogate"},
  {"[\"\\ude00\"]", "line 1, byte 2", "surrogate"},
  {"[\"\xff\"]", "line 1, byte 2", "UTF-8"},
  {"[\"\xc0\xaf\"]", "line 1, byte 2", "UTF-8"},         /* overlong '/' */
  {"[\"\xed\xa0\x80\"]", "line 1, byte 2", "UTF-8"},     /* a surrogate */
  {"[\"\xf4\x90\x80\x80\"]", "line 1, byte 2", "UTF-8"}, /* beyond U+10FFFF */
  {"[\"\xe2\x82\"]", "line 1, byte 2", "UTF-8"},
  {"{\"a\": 1,\n\"b\": 2, \"a\": 3}", "line 2, byte 17", "second time"},
  {"{\"o\": {\"x\": 1, \"y\": {\"x\": 1}, \"x\": 2}}", "line 1, byte 30", "second time"},
  {"{\"\\u0061\": 1, \"a\": 3}", "line 1, byte 14", "second time"},
};

static void test_refusals(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(refusals); i++) {
    const refusal *r = &refusals[i];
    int64_t live = em_alloc_live();
    cJSON *json = NULL;
    em_err err = {0};
    int rc = em_json_parse(r->text, strlen(r->text), "f.json", &json, &err);
    if (rc != EM_E_INPUT || !strstr(err.msg, r->line_byte) || !strstr(err.msg, r->hint) ||
        strncmp(err.msg, "f.json: ", 8))
      fail_msg("case %zu: code %d, message: %s", i, rc, err.msg);
    assert_null(json);
    assert_int_equal(em_alloc_live(), live);
  }
}

static void test_every_cut_is_refused(void **state)
{
  (void)state;
  static const char text[] = "{\"a\":[1,2.5,{\"b\":\"x\\u00e9\"}],\"c\":{\"d\":null}}";
  for (size_t len = 0; len < sizeof text - 1; len++) {
    cJSON *json;
    em_err err;
    char *copy = em_strndup(text, len); /* so that a sanitizer sees a read past the end */
    assert_int_equal(em_json_parse(copy, len, "cut", &json, &err), EM_E_INPUT);
    em_free(copy);
  }
}

static void test_nul_byte(void **state)
{
  (void)state;
  cJSON *json;
  em_err err;
  assert_int_equal(em_json_parse("[1]\0", 4, "f", &json, &err), EM_E_INPUT);
  assert_int_equal(em_json_parse("[\"a\0b\"]", 7, "f", &json, &err), EM_E_INPUT);
}

static void test_depth(void **state)
{
  (void)state;
  char text[2 * EM_JSON_DEPTH + 3];
  memset(text, '[', EM_JSON_DEPTH);
  memset(text + EM_JSON_DEPTH, ']', EM_JSON_DEPTH);
  text[2 * EM_JSON_DEPTH] = '\0';
  em_json_free(parse(text));
  memset(text, '[', EM_JSON_DEPTH + 1);
  memset(text + EM_JSON_DEPTH + 1, ']', EM_JSON_DEPTH + 1);
  cJSON *json;
  em_err err;
  assert_int_equal(em_json_parse(text, sizeof text - 1, "f", &json, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "256 levels"));
}

static void test_members(void **state)
{
  (void)state;
  cJSON *json = parse("{\"s\":\"t\",\"i\":7,\"big\":9223372036854775807,\"f\":0.5,\"b\":true,\"a\":[],\"o\":{"
                      "},\"n\":null,\"w\":15.0}");
  em_place root = {.file = "f.json"}, rows = {.up = &root, .key = "rows"}, third = {.up = &rows, .index = 3};
  em_err err;
  const char *s;
  const cJSON *sub;
  int64_t i = -1;
  double f = -1;
  bool b = false;
  assert_int_equal(em_json_need_string(json, "s", &root, &s, &err), EM_OK);
  assert_string_equal(s, "t");
  assert_int_equal(em_json_need_i64(json, "big", &root, 0, INT64_MAX, &i, &err), EM_OK);
  assert_true(i == INT64_MAX);
  assert_int_equal(em_json_need_f64(json, "f", &root, &f, &err), EM_OK);
  assert_true(f == 0.5);
  assert_int_equal(em_json_need_f64(json, "i", &root, &f, &err), EM_OK);
  assert_int_equal(em_json_need_bool(json, "b", &root, &b, &err), EM_OK);
  assert_true(b);
  assert_int_equal(em_json_need_array(json, "a", &root, &sub, &err), EM_OK);
  assert_int_equal(em_json_need_object(json, "o", &root, &sub, &err), EM_OK);
  i = 5;
  assert_int_equal(em_json_opt_i64(json, "none", &root, 0, 9, &i, &err), EM_OK);
  assert_int_equal(i, 5);

  assert_int_equal(em_json_need_i64(json, "none", &third, 0, 9, &i, &err), EM_E_INPUT);
  assert_string_equal(err.msg, "f.json: rows[3]: the member \"none\" is missing, expected an integer");
  assert_int_equal(em_json_need_i64(json, "s", &third, 0, 9, &i, &err), EM_E_INPUT);
  assert_string_equal(err.msg, "f.json: rows[3].s: found a string, \"t\", expected an integer");
  assert_int_equal(em_json_opt_i64(json, "n", &third, 0, 9, &i, &err), EM_E_INPUT);
  assert_string_equal(err.msg, "f.json: rows[3].n: found null, expected an integer");
  assert_int_equal(em_json_need_i64(json, "w", &root, 0, 99, &i, &err), EM_E_INPUT);
  assert_string_equal(err.msg, "f.json: w: found a number, 15.0, expected an integer");
  assert_int_equal(em_json_need_i64(json, "i", &root, 0, 6, &i, &err), EM_E_INPUT);
  assert_string_equal(err.msg, "f.json: i: found 7, expected an integer from 0 to 6");
  assert_int_equal(em_json_need_string(json, "i", &root, &s, &err), EM_E_INPUT);
  assert_int_equal(em_json_need_bool(json, "i", &root, &b, &err), EM_E_INPUT);
  assert_int_equal(em_json_need_array(json, "o", &root, &sub, &err), EM_E_INPUT);
  assert_int_equal(em_json_need_object(json, "a", &root, &sub, &err), EM_E_INPUT);
  assert_int_equal(em_json_need_string(cJSON_GetObjectItem(json, "a"), "x", &root, &s, &err), EM_E_INPUT);
  assert_int_equal(i, 5);
  em_json_free(json);
}

static void test_only_keys(void **state)
{
  (void)state;
  static const char *const known[] = {"a", "b", NULL};
  em_place root = {.file = "f.json"};
  em_err err;
  cJSON *json = parse("{\"b\":1,\"a\":2}");
  assert_int_equal(em_json_only_keys(json, known, &root, &err), EM_OK);
  em_json_free(json);
  json = parse("{\"b\":1,\"x\\u001b[31m\":2}");
  assert_int_equal(em_json_only_keys(json, known, &root, &err), EM_E_INPUT);
  assert_string_equal(err.msg, "f.json: found the unknown member \"x\\x1b[31m\", expected only: a, b");
  em_json_free(json);
}

static void test_nomem(void **state)
{
  (void)state;
  static const char text[] = "{\"a\":[1,2.5,{\"b\":\"x\\u00e9\",\"c\":{}}],\"d\":\"e\"}";
  cJSON *json = NULL;
  em_err err;
  ASSERT_SURVIVES_NOMEM(em_json_parse(text, sizeof text - 1, "f", &json, &err), em_json_free(json));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_blanks_and_escapes),
    cmocka_unit_test(test_refusals),   cmocka_unit_test(test_made_numbers_print_as_pythons),
    cmocka_unit_test(test_nul_byte),   cmocka_unit_test(test_every_cut_is_refused),
    cmocka_unit_test(test_depth),      cmocka_unit_test(test_members),
    cmocka_unit_test(test_only_keys),  cmocka_unit_test(test_nomem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
