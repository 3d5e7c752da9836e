/* Index expressions: precedence, canonical text, values, limits. */
#include "tests/unit/kernel_text.h"

#define IN_LOOPS(body) GRAPH(LOOP("a0", 64, LOOP("a1", 64, LOOP("a9", 512, body))))

/* The text of an index expression after reading and printing, NULL when it is refused. */
static char *canonical(const char *expr, em_err *err)
{
  em_str text = {0};
  em_kernel *k;
  em_str_put(&text, IN_LOOPS(LOAD("p", "i", "\"a0\"") "," LOAD("q", "i", "\"@\"")));
  assert_int_equal(em_str_finish(&text, err), EM_OK);
  char *whole = replaced(text.s, "@", expr), *found = NULL;
  if (!em_kernel_parse_text(whole, strlen(whole), NULL, "test", &k, err)) {
    char *printed = text_of(k), *at = strstr(printed, "{\"names\":[\"q\"],\"input\":\"i\",\"index\":[\"") +
                                      strlen("{\"names\":[\"q\"],\"input\":\"i\",\"index\":[\"");
    found = em_strndup(at, strcspn(at, "\""));
    em_free(printed);
  }
  em_free(whole);
  em_str_free(&text);
  return found;
}

static void canonical_texts_stay(void **state)
{
  (void)state;
  static const char *const texts[] = {
    "a9 / 256 * 4 + (a9 % 256 / 128 + 2)",
    "64 + (a0 < 64 ? a0 : 0)",
    "a9 / 128 * 128 + a1",
    "a1 + -64",
    "0",
    "-64 * a0",
    "a0 - (a1 - a9)",
    "a0 - a1 - a9",
    "a0 * (a1 + 1)",
    "a0 / (a1 * 2)",
    "a0 <= a1 && a1 < a9 || a0 == 3",
    "(a0 || a1) && a9",
    "a0 < a1 ? a1 : a0 < a9 ? 1 : 2",
    "(a0 ? a1 : a9) ? 1 : 2",
    "min(a0, a1 + 1)",
    "max(a0, a1, 3)",
    "(f32)a0 * 0.5",
    "(i32)(a0 + 1)",
    "a0 & 3 | a1 ^ 7",
    "a0 << 2 + a1",
    "(a0 << 2) + a1",
    "1e-06 * a0",
    "2.0",
    "true",
    "false",
    "p + 1",
    "a0 != a1",
    "9223372036854775807",
    "-9223372036854775808",
  };
  for (size_t i = 0; i < N_OF(texts); i++) {
    em_err err;
    char *got = canonical(texts[i], &err);
    if (!got) fail_msg("%s", err.msg);
    assert_string_equal(got, texts[i]);
    em_free(got);
  }
}

static void other_texts_become_canonical(void **state)
{
  (void)state;
  static const char *const pairs[][2] = {
    {"((a0))", "a0"},
    {"(a0*2)+a1", "a0 * 2 + a1"},
    {"a0 // 4", "a0 / 4"},
    {"(a0 + a1) + a9", "a0 + a1 + a9"},
    {"a0 + (a1 * a9)", "a0 + a1 * a9"},
    {"a0-64", "a0 - 64"},
    {"a0- -64", "a0 - -64"},
    {"1.50", "1.5"},
    {"2.", "2.0"},
    {"1E3", "1000.0"},
    {"(a0<a1)?(a0):(a1)", "a0 < a1 ? a0 : a1"},
    {"min((a0),(a1))", "min(a0, a1)"},
    {"  a0  ", "a0"},
  };
  for (size_t i = 0; i < N_OF(pairs); i++) {
    em_err err;
    char *got = canonical(pairs[i][0], &err);
    if (!got) fail_msg("%s", err.msg);
    assert_string_equal(got, pairs[i][1]);
    em_free(got);
  }
}

static void bad_texts_are_refused(void **state)
{
  (void)state;
  static const char *const pairs[][2] = {
    {"", "ends at byte 0, expected a number, a name or"},
    {"a0 +", "ends at byte 4"},
    {"a0 a1", "found \"a1\" at byte 3, expected an operator"},
    {"(a0", "expected \")\""},
    {"a0 ? a1", "expected \":\""},
    {"foo(a0)", "unknown function \"foo\""},
    {"min(a0)", "min has 1 arguments"},
    {"abs(a0, a1)", "abs has 2 arguments, expected 1 to 1"},
    {"a0 = a1", "found \"= a1\""},
    {"9223372036854775808", "an integer of 64 bits"},
    {"1e999", "a finite number"},
    {"-a0", "found \"-a0\" at byte 0"},
    {"zz", "unknown name \"zz\""},
    {"f32", "unknown name"},
    {"min", "unknown name"},
    {"(f32)", "ends at byte 5"},
    {"a0 ~ 1", "found \"~ 1\""},
    {"k_x_a_very_long_function_name(1)", "unknown function"},
  };
  for (size_t i = 0; i < N_OF(pairs); i++) {
    em_err err;
    char *got = canonical(pairs[i][0], &err);
    if (got || !strstr(err.msg, pairs[i][1]))
      fail_msg("\"%s\": got \"%s\", expected \"%s\"", pairs[i][0], got ? got : err.msg, pairs[i][1]);
  }
}

/* `n` times `open`, then "a0", then `n` times `close`. */
static char *repeated(const char *open, const char *close, int n)
{
  em_str s = {0};
  em_err err;
  char *text;
  for (int i = 0; i < n; i++) em_str_put(&s, open);
  em_str_put(&s, "a0");
  for (int i = 0; i < n; i++) em_str_put(&s, close);
  assert_int_equal(em_str_take(&s, &text, &err), EM_OK);
  return text;
}

static void depth_and_length_are_limited(void **state)
{
  (void)state;
  static const struct {
    const char *open, *close;
    int n;
    const char *message;
  } cases[] = {
    {"(", ")", 64, NULL},
    {"(", ")", 65, "deeper than 64"},
    {"(f32)", "", 65, "deeper than 64"},
    {"min(1, ", ")", 65, "deeper than 64"},
    {"a1 ? 1 : ", "", 65, "deeper than 64"},
    {"", " + a1", 2000, NULL},
    {"", " + a1", 3000, "more than 4096 terms"},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_err err;
    char *text = repeated(cases[i].open, cases[i].close, cases[i].n), *got = canonical(text, &err);
    if (cases[i].message ? got || !strstr(err.msg, cases[i].message) : !got)
      fail_msg("case %zu: %s", i, got ? "accepted" : err.msg);
    em_free(text);
    em_free(got);
  }
}

/* The size of one symbolic loop over `n` as the shape text gives it, with n bound to `size`. */
static char *shape_with(const char *extent, int64_t size, em_err *err)
{
  char *text = replaced(
    "{\"inputs\":[],\"outputs\":[\"y\"],\"nodes\":[{\"id\":\"y\",\"op\":\"loop\",\"attrs\":{\"name\":\"k\",\"body\":["
    "{\"Loop\":{\"axis\":{\"name\":\"a0\",\"extent\":{\"expr\":\"@\",\"hint\":1024}},\"body\":["
    "{\"Const\":{\"name\":\"v0\",\"value\":1}},{\"Write\":{\"output\":\"y\",\"index\":[\"0\"],\"values\":[\"v0\"]}}]}}]},"
    "\"outputs\":[[\"y\",\"f32\",[1]]]}]}",
    "@", extent);
  em_kernel *k = kernel_of(text);
  em_binding b = {"n", size};
  char *shape = NULL;
  int rc = em_kernel_shape(k, (em_bindings){&b, size ? 1 : 0}, &shape, err);
  assert_true(rc == EM_OK || rc == EM_E_INPUT);
  em_kernel_free(k);
  em_free(text);
  return shape;
}

/* Division rounds down and the remainder has the sign of the divisor, as the size expressions' own language defines them. */
static void sizes_are_computed_from_bindings(void **state)
{
  (void)state;
  static const struct {
    const char *expr;
    int64_t n;
    const char *extent;
  } cases[] = {
    {"n * 2", 300, "600"},
    {"n * 2", 0, "1024"},
    {"(n + 63) / 64", 65, "2"},
    {"(0 - n) / 2 + 10", 5, "7"},
    {"(0 - n) % 8", 5, "3"},
    {"n < 8 ? 8 : n", 5, "8"},
    {"min(n, 128)", 500, "128"},
    {"max(n, 128, 9)", 5, "128"},
    {"abs(3 - n)", 5, "2"},
    {"n << 3", 5, "40"},
    {"n >> 1", 5, "2"},
    {"n % 7 + (n == 5) + (n != 5) + (n & 4) + (n | 2) + (n ^ 1)", 5, "21"},
    {"1 + (n > 4 && n <= 5) + (n < 1 || n >= 5)", 5, "3"},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_err err;
    char expected[64];
    char *shape = shape_with(cases[i].expr, cases[i].n, &err);
    if (!shape) fail_msg("%s", err.msg);
    snprintf(expected, sizeof expected, "pointwise %s ->f32", cases[i].extent);
    assert_string_equal(shape, expected);
    em_free(shape);
  }
}

static void impossible_sizes_are_errors(void **state)
{
  (void)state;
  em_err err;
  assert_null(shape_with("8 / (n - 3)", 3, &err));
  assert_non_null(strstr(err.msg, "k: the size \"8 / (n - 3)\" divides by zero"));
  assert_null(shape_with("n - 5", 5, &err));
  assert_non_null(strstr(err.msg, "is less than 1"));
  assert_null(shape_with("n * n", INT64_MAX / 2, &err));
  assert_non_null(strstr(err.msg, "does not fit in 64 bits"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(canonical_texts_stay),
    cmocka_unit_test(other_texts_become_canonical),
    cmocka_unit_test(bad_texts_are_refused),
    cmocka_unit_test(depth_and_length_are_limited),
    cmocka_unit_test(sizes_are_computed_from_bindings),
    cmocka_unit_test(impossible_sizes_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
