/* Error texts: one line, safe on a terminal, cut at a character. */
#include <errno.h>

#include "tests/unit/unit.h"

static void test_fail(void **state)
{
  (void)state;
  em_err err;
  assert_int_equal(em_fail(&err, EM_E_INPUT, "%s: line %d", "f.json", 3), EM_E_INPUT);
  assert_int_equal(err.code, EM_E_INPUT);
  assert_string_equal(err.msg, "f.json: line 3");
  assert_int_equal(em_fail_nomem(&err), EM_E_NOMEM);
  assert_non_null(strstr(err.msg, "out of memory"));
}

static void test_errno_text(void **state)
{
  (void)state;
  em_err err;
  assert_int_equal(em_fail_errno(&err, EM_E_IO, ENOENT, "%s: cannot open", "x"), EM_E_IO);
  assert_string_equal(err.msg, "x: cannot open: No such file or directory");
}

static void test_prefix_keeps_code(void **state)
{
  (void)state;
  em_err err;
  em_fail(&err, EM_E_CHECK, "inner");
  assert_int_equal(em_err_prefix(&err, "outer %d", 1), EM_E_CHECK);
  assert_string_equal(err.msg, "outer 1: inner");
}

static void test_own_message_as_argument(void **state)
{
  (void)state;
  em_err err;
  em_fail(&err, EM_E_INPUT, "first");
  em_fail(&err, EM_E_INPUT, "%s, then second", err.msg);
  assert_string_equal(err.msg, "first, then second");
}

static void test_controls_are_escaped(void **state)
{
  (void)state;
  em_err err;
  em_fail(&err, EM_E_INPUT, "%s", "a\x1b[31m\n\x7f\xc2\x9b\xff\xc3\xa9");
  assert_string_equal(err.msg, "a\\x1b[31m\\x0a\\x7f\\xc2\\x9b\\xff\xc3\xa9");
  em_err_prefix(&err, "p"); /* escaping what is escaped changes nothing */
  assert_string_equal(err.msg, "p: a\\x1b[31m\\x0a\\x7f\\xc2\\x9b\\xff\xc3\xa9");
}

static void test_long_text_is_cut_at_a_character(void **state)
{
  (void)state;
  char text[4 * EM_ERR_LEN + 1];
  for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "\xc3\xa9", 2);
  text[sizeof text - 1] = '\0';
  for (int shift = 0; shift < 2; shift++) { /* so that the border falls on both bytes */
    em_err err;
    em_fail(&err, EM_E_INPUT, "%s%s", shift ? "x" : "", text);
    size_t len = strlen(err.msg);
    assert_true(len < EM_ERR_LEN && len > EM_ERR_LEN - 8);
    assert_string_equal(err.msg + len - 5, "\xc3\xa9...");
  }
}

static void test_exit_status(void **state)
{
  (void)state;
  static const struct {
    em_code code;
    int status;
  } table[] = {{EM_OK, 0},    {EM_E_INPUT, 1}, {EM_E_USAGE, 2}, {EM_E_CHECK, 3},
               {EM_E_ENV, 4}, {EM_E_IO, 1},    {EM_E_NOMEM, 1}};
  for (size_t i = 0; i < N_OF(table); i++) assert_int_equal(em_exit_status(table[i].code), table[i].status);
  assert_int_equal(em_exit_status((em_code)99), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_fail),
    cmocka_unit_test(test_errno_text),
    cmocka_unit_test(test_prefix_keeps_code),
    cmocka_unit_test(test_own_message_as_argument),
    cmocka_unit_test(test_controls_are_escaped),
    cmocka_unit_test(test_long_text_is_cut_at_a_character),
    cmocka_unit_test(test_exit_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
