/* Rows as stored: keys, JSON, typed text, and the rules between two rows. */
#include "tests/unit/unit.h"

#include "core/schedule/schedule.h"

static em_knobs typed(const char *text)
{
  em_err err;
  em_knobs k;
  if (em_knobs_parse_text(text, &k, &err) != EM_OK) fail_msg("%s: %s", text, err.msg);
  return k;
}

static int from_json(const char *text, em_knobs *out, em_err *err)
{
  em_place at = {.file = "golden.json"}, rows = {.up = &at, .key = "rows"}, row = {.up = &rows, .index = 3};
  em_place knobs = {.up = &row, .key = "knobs"};
  cJSON *json;
  int rc = em_json_parse(text, strlen(text), "golden.json", &json, err);
  if (rc) return rc;
  rc = em_knobs_from_json(json, &knobs, out, err);
  em_json_free(json);
  return rc;
}

static void assert_json(const em_knobs *k, const char *want)
{
  em_str s = {0};
  em_knobs_print_json(k, &s);
  assert_string_equal(s.s, want);
  em_str_free(&s);
}

/* ---- JSON ---- */

static void test_json_round_trip(void **state)
{
  (void)state;
  static const char *const same[] = {
    "{}",
    "{\"WORK\":\"t32x8\",\"TILE\":\"f2x8\",\"REDUCE\":\"\",\"STAGE\":\"d2/smem-async\",\"RASTER\":\"\"}",
    "{\"WORK\":\"t128\",\"REDUCE\":\"coop/r4\",\"RASTER\":\"\"}",
    "{\"WORK\":\"t32\",\"TILE@inner\":\"f1\",\"TILE@map.1/inner\":\"\",\"REDUCE@inner.1/map.1/reduce\":\"coop\",\"RASTER\":\"gm8\"}",
    "{\"WORK\":\"\",\"RASTER\":\"\",\"LOOPIFY\":\"0\",\"SHARED_CARRY\":\"0\"}",
    "{\"WORK\":\"\",\"RASTER\":\"\",\"FAST_EXP\":true,\"VECTORIZE_LOADS\":false}",
    "{\"REDUCE\":\"g16k\"}",
    "{\"LAYOUT@w0\":\"source\",\"PLACE@map.1/reduce\":\"cut\"}",
    "{\"block_size_x\":\"16\"}", /* another tuner's parameter */
  };
  for (size_t i = 0; i < N_OF(same); i++) {
    em_err err;
    em_knobs k;
    if (from_json(same[i], &k, &err) != EM_OK) fail_msg("%s", err.msg);
    assert_json(&k, same[i]);
    em_knobs_free(&k);
  }
  em_err err;
  em_knobs k;
  assert_int_equal(from_json("{\"UNROLL\":8,\"FAST_EXP\":true,\"RASTER\":\"\",\"WORK\":\"\"}", &k, &err), EM_OK);
  assert_string_equal(em_knobs_get(&k, "UNROLL"), "8");
  assert_string_equal(em_knobs_get(&k, "FAST_EXP"), "True");
  assert_string_equal(em_knobs_get(&k, "RASTER"), ""); /* unused */
  assert_null(em_knobs_get(&k, "TILE"));               /* missing */
  assert_json(&k, "{\"WORK\":\"\",\"RASTER\":\"\",\"FAST_EXP\":true,\"UNROLL\":\"8\"}");
  em_knobs_free(&k);
}

static void test_json_refusals(void **state)
{
  (void)state;
  static const char *const rows[][3] = {
    {"{\"TILE\":\"f4x1\"}", "rows[3].knobs.TILE", "write \"f4\""},
    {"{\"TILE\":\"mma_m16n8k16_f16_f32/f1x1\",\"WORK\":\"t32x8\"}", "rows[3].knobs.TILE", "expected WORK w<M>x<N>"},
    {"{\"TILE\":\"f4\",\"WORK\":\"t32x1\"}", "rows[3].knobs.WORK", "write \"t32\""},
    {"{\"WORK\":true}", "rows[3].knobs.WORK", "expected a string"},
    {"{\"STAGE\":2}", "rows[3].knobs.STAGE", "expected a string"},
    {"{\"WORK\":null}", "rows[3].knobs.WORK", "expected a string, a boolean or an integer"},
    {"{\"UNROLL\":1.5}", "rows[3].knobs.UNROLL", "integer"},
    {"{\"UNROLL\":\"x\"}", "rows[3].knobs.UNROLL", "expected a decimal number"},
    {"{\"FAST_EXP\":\"yes\"}", "rows[3].knobs.FAST_EXP", "expected True or False"},
    {"{\"WORK@map\":\"t32\"}", "rows[3].knobs.WORK@map", "belongs to the whole kernel"},
    {"{\"TILE@\":\"\"}", "rows[3].knobs", "expected TILE@<route>"},
    {"{\"TILE@loop\":\"\"}", "rows[3].knobs", "expected TILE@<route>"},
    {"{\"TILE@map.0/inner\":\"\"}", "rows[3].knobs", "expected TILE@<route>"},
    {"{\"TILE@map.01/inner\":\"\"}", "rows[3].knobs", "expected TILE@<route>"},
    {"{\"TILE@map/inner\":\"\"}", "rows[3].knobs", "expected TILE@<route>"},
    {"{\"TILE@map.1\":\"\"}", "rows[3].knobs", "expected TILE@<route>"},
    {"{\"TILE@map.1/\":\"\"}", "rows[3].knobs", "expected TILE@<route>"},
    {"{\"PLACE\":\"keep\"}", "rows[3].knobs.PLACE", "fuse | cut"},
    {"{\"LAYOUT@w\":\"Source\"}", "rows[3].knobs.LAYOUT@w", "write \"source\""},
    {"{\"a b\":\"1\"}", "rows[3].knobs", "without blanks"},
    {"{\"\":\"1\"}", "rows[3].knobs", "expected a name"},
    {"[]", "rows[3].knobs", "expected an object"},
  };
  int64_t live = em_alloc_live();
  for (size_t i = 0; i < N_OF(rows); i++) {
    em_err err;
    em_knobs k;
    assert_int_equal(from_json(rows[i][0], &k, &err), EM_E_INPUT);
    if (!strstr(err.msg, "golden.json") || !strstr(err.msg, rows[i][1]) || !strstr(err.msg, rows[i][2]))
      fail_msg("%s gave: %s", rows[i][0], err.msg);
  }
  assert_int_equal(em_alloc_live(), live);
}

static void test_too_many_knobs(void **state)
{
  (void)state;
  em_err err;
  em_knobs k = {0};
  char key[32];
  for (int i = 0; i < EM_KNOBS_MAX; i++) {
    snprintf(key, sizeof key, "P%d", i * 7919 % EM_KNOBS_MAX); /* 7919 is odd: each name once */
    assert_int_equal(em_knobs_set(&k, key, "1", &err), EM_OK);
  }
  assert_int_equal(k.n, EM_KNOBS_MAX);
  for (size_t i = 1; i < k.n; i++) assert_true(strcmp(k.items[i - 1].key, k.items[i].key) < 0);
  assert_int_equal(em_knobs_set(&k, "ONE_MORE", "1", &err), EM_E_INPUT);
  assert_int_equal(em_knobs_set(&k, "P7", "2", &err), EM_OK); /* replacing is no growth */
  assert_string_equal(em_knobs_get(&k, "P7"), "2");
  em_knobs_free(&k);
  em_knobs_free(NULL);
}

/* ---- typed text ---- */

static void test_typed_text(void **state)
{
  (void)state;
  static const char *const rows[][2] = {
    {"", "{}"},
    {"  ", "{}"},
    {"WORK=t32x8,TILE=f2x8", "{\"WORK\":\"t32x8\",\"TILE\":\"f2x8\"}"},
    {"tile=f2x8, work=t32x8", "{\"WORK\":\"t32x8\",\"TILE\":\"f2x8\"}"},
    {"Tile@MAP.1/Inner=", "{\"TILE@map.1/inner\":\"\"}"},
    {"REDUCE=,RASTER=", "{\"REDUCE\":\"\",\"RASTER\":\"\"}"},
    {"fast_math=1,FAST_EXP=false", "{\"FAST_EXP\":false,\"FAST_MATH\":true}"},
    {"layout@W0=folded", "{\"LAYOUT@W0\":\"folded\"}"},
    {"block_size_x=16", "{\"block_size_x\":\"16\"}"},
    {"TILE=f4", "{\"TILE\":\"f4\"}"}, /* WORK is not decided */
  };
  for (size_t i = 0; i < N_OF(rows); i++) {
    em_knobs k = typed(rows[i][0]);
    assert_json(&k, rows[i][1]);
    em_knobs_free(&k);
  }
  static const char *const bad[][2] = {
    {"TILE", "expected KEY=VALUE"},       {"TILE=f4,", "expected KEY=VALUE"},
    {",", "expected KEY=VALUE"},          {"TILE=f4,tile=f2", "stands twice"},
    {"TILE=f4x1", "write \"f4\""},        {"WORK@map=t32", "whole kernel"},
    {"=f4", "expected a name"},           {"WORK=t32,TILE=mma_m16n8k16_f16_f32/f1x1", "expected WORK w"},
    {"FAST_MATH=maybe", "True or False"}, {"REDUCE@node_3=", "expected REDUCE@<route>"},
    {"gm=\xff", "expected UTF-8"},
  };
  int64_t live = em_alloc_live();
  for (size_t i = 0; i < N_OF(bad); i++) {
    em_err err;
    em_knobs k;
    assert_int_equal(em_knobs_parse_text(bad[i][0], &k, &err), EM_E_INPUT);
    if (!strstr(err.msg, bad[i][1])) fail_msg("%s gave: %s", bad[i][0], err.msg);
  }
  assert_int_equal(em_alloc_live(), live);
}

/* ---- unused, structural ---- */

static void test_unused_and_structural(void **state)
{
  (void)state;
  static const struct {
    const char *key, *value;
    bool off, structural;
  } rows[] = {
    {"WORK", "", true, false},
    {"TILE", "", true, false},
    {"REDUCE", "", true, false},
    {"STAGE", "", true, false},
    {"RASTER", "", true, false},
    {"TILE@map.1/inner", "", true, false},
    {"SHARED_CARRY", "0", true, false},
    {"LOOPIFY", "0", true, false},
    {"SHARED_CARRY", "1", false, false},
    {"VECTORIZE_LOADS", "False", true, false},
    {"VECTORIZE_STORES", "False", true, false},
    {"INTERLEAVE_LOADS", "False", true, false},
    {"GUARD_REDUCTIONS", "False", true, false},
    {"PAIR_LDMATRIX", "False", true, false},
    {"FAST_EXP", "False", true, false},
    {"FAST_EXP", "True", false, false},
    {"FAST_MATH", "False", false, false},
    {"COLD_CACHE", "False", false, false},
    {"F16_MMA_F32_ACC", "False", false, false},
    {"FP8_MMA", "False", false, false},
    {"UNROLL", "0", false, false},
    {"block", "", false, false},
    {"PLACE", "fuse", false, true},
    {"PLACE@map", "cut", false, true},
    {"LAYOUT@w", "folded", false, true},
    {"REDUCE", "g4k", false, true},
    {"REDUCE@reduce", "g2a/coop", false, true},
    {"REDUCE", "coop", false, false},
    {"STAGE", "gm8", false, false},
    {"RASTER", "gm8", false, false},
  };
  for (size_t i = 0; i < N_OF(rows); i++) {
    assert_int_equal(em_knob_is_off(rows[i].key, rows[i].value), rows[i].off);
    assert_int_equal(em_knob_is_structural(rows[i].key, rows[i].value), rows[i].structural);
  }
}

static void test_same_schedule(void **state)
{
  (void)state;
  static const struct {
    const char *a, *b;
    bool same;
  } rows[] = {
    {"WORK=t32,TILE=f4,REDUCE=,STAGE=", "WORK=t32,TILE=f4", true},
    {"WORK=t32,TILE=f4", "WORK=t32,TILE=f4,LOOPIFY=0,FAST_EXP=false,STAGE=", true},
    {"WORK=t32,TILE=f4", "WORK=t32,TILE=f4,FAST_EXP=true", false},
    {"WORK=t32,TILE=f4", "WORK=t32,TILE=f4,UNROLL=0", false},
    {"WORK=t32,TILE=f4", "WORK=t32,TILE=f2", false},
    {"WORK=t32,TILE=f4", "WORK=t32", false},
    {"", "WORK=,TILE=,RASTER=", true},
  };
  for (size_t i = 0; i < N_OF(rows); i++) {
    em_knobs a = typed(rows[i].a), b = typed(rows[i].b);
    assert_int_equal(em_knobs_same_schedule(&a, &b), rows[i].same);
    assert_int_equal(em_knobs_same_schedule(&b, &a), rows[i].same);
    em_knobs_free(&a);
    em_knobs_free(&b);
  }
}

/* ---- agreement ---- */

static void test_agreement(void **state)
{
  (void)state;
  static const struct {
    const char *candidate, *measured;
    bool agree;
  } rows[] = {
    {"", "WORK=t32,TILE=f4", true}, /* nothing decided: all free */
    {"WORK=t32", "WORK=t32,TILE=f4", true},
    {"WORK=t32,TILE=f4,STAGE=d2/smem", "WORK=t32,TILE=f4", true}, /* absent in the row: free */
    {"WORK=t32,TILE=f4", "WORK=t32,TILE=f2", false},
    {"TILE=", "TILE=f4", false}, /* unused is a decision */
    {"TILE=", "TILE=", true},
    {"TILE=", "WORK=t32", true},
    {"FAST_EXP=true,WORK=t32", "FAST_EXP=false,WORK=t32", true}, /* booleans are not compared */
    {"UNROLL=4", "UNROLL=8", false},
    /* Site keys against a bare one: one site carries it, the others are unused. */
    {"TILE@inner=f4,TILE@map=", "TILE=f4", true},
    {"TILE@inner=f4,TILE@map=f4", "TILE=f4", false},
    {"TILE@inner=f4,TILE@map=f2", "TILE=f4", false},
    {"TILE@inner=,TILE@map=", "TILE=f4", false},
    {"TILE@inner=,TILE@map=", "TILE=", true},
    {"TILE@inner=f4,TILE@map=", "TILE=", false},
    {"TILE@inner=f4", "TILE=f4", true},
    {"TILE@inner=f4,REDUCE@inner=coop", "TILE=f4,REDUCE=", false}, /* each family by itself */
    /* The same site key: the strings must match. */
    {"TILE@inner=f4", "TILE@inner=f4,TILE@map=f2", true},
    {"TILE@inner=f4", "TILE@inner=f2", false},
    {"TILE@inner=f4", "TILE@map=f2", true},         /* that site is absent: free */
    {"TILE@inner=f4", "TILE=f2,TILE@map=f2", true}, /* not only the bare family */
    {"TILE=f4", "TILE@inner=f2", true},             /* the bare key is absent: free */
  };
  for (size_t i = 0; i < N_OF(rows); i++) {
    em_knobs c = typed(rows[i].candidate), m = typed(rows[i].measured);
    if (em_knobs_agree(&c, &m) != rows[i].agree) fail_msg("\"%s\" against \"%s\"", rows[i].candidate, rows[i].measured);
    em_knobs_free(&c);
    em_knobs_free(&m);
  }
}

/* ---- canonical row order ---- */

static int sign(int c) { return (c > 0) - (c < 0); }

/* Each row sorts before the next. */
static void test_row_order(void **state)
{
  (void)state;
  static const char *const sorted[] = {
    "",
    "AAA=1",
    "LAYOUT=folded",
    "LAYOUT@w=folded,PLACE=fuse", /* site keys of LAYOUT lead, the names decide: LAYOUT < LAYOUT@w */
    "PLACE=cut,LAYOUT=source",
    "PLACE=fuse,LAYOUT=folded",
    "PLACE@map=cut,WORK=t32",
    "RASTER=gm8",
    "TILE=f2",
    "TILE=f2,AAA=1",
    "TILE=f2,AAA=1,STAGE=d1/reg", /* STAGE stands before AAA, so AAA < STAGE decides */
    "TILE@inner=f8,WORK=t32",
    "WORK=,TILE=f2",
    "WORK=t128,TILE=f1", /* by text, not by number */
    "WORK=t32",          /* a row that ends first */
    "WORK=t32,TILE=",
    "WORK=t32,TILE=,REDUCE=,STAGE=,RASTER=",
    "WORK=t32,TILE=,REDUCE=,STAGE=,RASTER=gm8",
    "WORK=t32,TILE=f1,RASTER=gm8,AAA=2", /* AAA stands before RASTER */
    "WORK=t32,TILE=f1,RASTER=,AAA=3",
    "WORK=t32x8",
    "WORK=w2x2",
  };
  for (size_t i = 0; i < N_OF(sorted); i++)
    for (size_t j = 0; j < N_OF(sorted); j++) {
      em_knobs a = typed(sorted[i]), b = typed(sorted[j]);
      if (sign(em_knobs_compare(&a, &b)) != (i > j) - (i < j)) fail_msg("\"%s\" against \"%s\"", sorted[i], sorted[j]);
      em_knobs_free(&a);
      em_knobs_free(&b);
    }
  em_knobs a = typed("FAST_EXP=true,WORK=t32"), b = typed("WORK=t32"); /* booleans do not enter */
  assert_int_equal(em_knobs_compare(&a, &b), 0);
  em_knobs_free(&a);
  em_knobs_free(&b);
}

static void test_out_of_memory(void **state)
{
  (void)state;
  em_err err;
  em_knobs k;
  cJSON *json;
  const char *text =
    "{\"WORK\":\"t32x8\",\"TILE\":\"f2x8\",\"REDUCE\":\"\",\"FAST_EXP\":true,\"UNROLL\":4,\"RASTER\":\"\"}";
  assert_int_equal(em_json_parse(text, strlen(text), "x", &json, &err), EM_OK);
  em_place at = {.file = "x"};
  ASSERT_SURVIVES_NOMEM(em_knobs_from_json(json, &at, &k, &err), em_knobs_free(&k));
  em_json_free(json);
  ASSERT_SURVIVES_NOMEM(em_knobs_parse_text("WORK=t32x8,TILE=f2x8,REDUCE=,STAGE=d2/smem,RASTER=", &k, &err),
                        em_knobs_free(&k));
  em_row row;
  assert_int_equal(em_row_parse("WORK=t32x8 TILE=f2x8 REDUCE= STAGE=d2/smem RASTER=gm8", &row, &err), EM_OK);
  ASSERT_SURVIVES_NOMEM(em_row_to_knobs(&row, &k, &err), em_knobs_free(&k));
}

/* Every family and every registered knob is found by its own name alone. */
static void test_tables(void **state)
{
  (void)state;
  for (int f = 0; f < EM_N_FAMILIES; f++) {
    const em_family_info *info = em_family_at((em_family)f);
    em_family found;
    assert_true(em_family_find(info->name, strlen(info->name), &found) && found == (em_family)f);
    assert_false(em_family_find(info->name, strlen(info->name) - 1, &found));
    assert_null(em_knob_info_find(info->name, strlen(info->name)));
  }
  for (size_t i = 0; i < em_n_knob_infos(); i++) {
    const em_knob_info *info = em_knob_info_at(i);
    assert_ptr_equal(em_knob_info_find(info->name, strlen(info->name)), info);
  }
  assert_null(em_knob_info_at(em_n_knob_infos()));
  assert_null(em_knob_info_find("WSPEC", 5)); /* retired */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_json_round_trip),
    cmocka_unit_test(test_json_refusals),
    cmocka_unit_test(test_too_many_knobs),
    cmocka_unit_test(test_typed_text),
    cmocka_unit_test(test_unused_and_structural),
    cmocka_unit_test(test_same_schedule),
    cmocka_unit_test(test_agreement),
    cmocka_unit_test(test_row_order),
    cmocka_unit_test(test_out_of_memory),
    cmocka_unit_test(test_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
