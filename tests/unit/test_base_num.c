/* Numbers as text. */
#include "tests/unit/unit.h"

#include "tests/unit/base_repr.inc"

static void test_repr_is_pythons(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof reprs / sizeof *reprs; i++) {
    double x, back;
    char buf[EM_DOUBLE_LEN];
    memcpy(&x, &reprs[i].bits, sizeof x);
    assert_string_equal(em_double_repr(x, buf), reprs[i].text);
    assert_true(em_parse_f64(buf, &back));
    assert_memory_equal(&back, &x, sizeof x);
  }
}

static void test_parse_i64(void **state)
{
  (void)state;
  static const char *const bad[] = {"",
                                    "-",
                                    "+1",
                                    " 1",
                                    "1 ",
                                    "0x10",
                                    "1.0",
                                    "1e3",
                                    "007",
                                    "-0",
                                    "--1",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "99999999999999999999"};
  int64_t v = 42;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(em_parse_i64(bad[i], INT64_MIN, INT64_MAX, &v));
  assert_int_equal(v, 42);
  assert_true(em_parse_i64("9223372036854775807", INT64_MIN, INT64_MAX, &v));
  assert_true(v == INT64_MAX);
  assert_true(em_parse_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &v));
  assert_true(v == INT64_MIN);
  assert_true(em_parse_i64("0", 0, 0, &v) && v == 0);
  assert_false(em_parse_i64("8", 0, 7, &v));
  assert_false(em_parse_i64("-1", 0, 7, &v));
}

static void test_parse_f64(void **state)
{
  (void)state;
  static const char *const bad[] = {"", "inf", "nan", "0x1p3", " 1", "1 ", "1e999", "1,5", "1.5.2", "e5", "-"};
  double v = 42;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(em_parse_f64(bad[i], &v));
  assert_true(v == 42);
  assert_true(em_parse_f64("-2.5e-3", &v) && v == -0.0025);
}

static void test_identifier(void **state)
{
  (void)state;
  assert_true(em_name_is_identifier("_a9Z"));
  static const char *const bad[] = {"", "9a", "a-b", "a b", "\xc3\xa9", "a;"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(em_name_is_identifier(bad[i]));
}

static void test_edit_distance(void **state)
{
  (void)state;
  assert_int_equal(em_edit_distance("kitten", "sitting"), 3); /* the textbook pair */
  assert_int_equal(em_edit_distance("h100", "H100"), 0);
  assert_int_equal(em_edit_distance("h010", "h100"), 1); /* a swap is one step */
  assert_int_equal(em_edit_distance("", "abc"), 3);
  assert_int_equal(em_edit_distance("abc", ""), 3);
  char longer[300];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  assert_int_equal(em_edit_distance("abc", longer), 299);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_repr_is_pythons), cmocka_unit_test(test_parse_i64),     cmocka_unit_test(test_parse_f64),
    cmocka_unit_test(test_identifier),      cmocka_unit_test(test_edit_distance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
