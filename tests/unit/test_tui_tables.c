/* test_tui_tables.c - the tables of commands, options and keys, and what is made from them. */
#include "tests/unit/unit.h"

#include "tui/cli.h"
#include "tui/explore.h"

static void test_keys_are_bound_once(void **state)
{
  em_err err;
  (void)state;
  assert_int_equal(em_actions_check(&err), EM_OK);
}

static void test_tables_have_no_clashes(void **state)
{
  em_err err = {0};
  (void)state;
  if (em_tables_check(&err) != EM_OK) fail_msg("%s", err.msg);
}

static void test_every_command_has_its_page(void **state)
{
  (void)state;
  for (const em_command *c = em_commands; c->name; c++) {
    em_str path = {0}, page = {0};
    em_err err;
    char *text;
    size_t len;
    em_str_put(&path, "man/");
    em_manpage_name(c, &path);
    em_str_put(&path, ".1");
    if (em_file_read(path.s, &text, &len, &err) != EM_OK) fail_msg("%s", err.msg);
    em_manpage_put(&page, c);
    assert_string_equal(text, page.s);
    em_free(text);
    em_str_free(&path);
    em_str_free(&page);
  }
}

/* ---- words, as a shell makes them of an example: blanks part, double quotes bind ---- */

enum { MAX_WORDS = 32 };

static int split(char *line, char **words)
{
  int n = 0;
  while (*(line += strspn(line, " "))) {
    bool quoted = *line == '"';
    assert_true(n < MAX_WORDS);
    words[n++] = line += quoted;
    line += strcspn(line, quoted ? "\"" : " ");
    if (*line) *line++ = '\0';
  }
  words[n] = NULL;
  return n;
}

/* Parses one line as main does; the words stand in `line`. */
static int parse(char *line, em_args *a, em_err *err)
{
  static char *words[MAX_WORDS + 1];
  const em_command *c;
  int n_words, n = split(line, words);
  bool help;
  int rc = em_command_choose(n, words, &c, &n_words, err);
  return rc == EM_OK ? em_args_parse(c, n - n_words, words + n_words, a, &help, err) : rc;
}

static void test_every_example_parses_as_its_command(void **state)
{
  (void)state;
  for (const em_command *c = em_commands; c->name; c++)
    for (const em_example *e = c->examples; e->command; e++) {
      char line[512];
      em_args a;
      em_err err;
      assert_true(strlen(e->command) < sizeof line);
      strcpy(line, e->command);
      if (parse(line, &a, &err) != EM_OK) fail_msg("%s: %s", e->command, err.msg);
      assert_string_equal(a.command->name, c->name);
    }
}

static void expect_usage(const char *text, const char *part)
{
  char line[256];
  em_args a;
  em_err err = {0};
  strcpy(line, text);
  assert_int_equal(parse(line, &a, &err), EM_E_USAGE);
  if (!strstr(err.msg, part)) fail_msg("%s: \"%s\" does not say \"%s\"", text, err.msg, part);
}

static void test_wrong_usage_is_said(void **state)
{
  (void)state;
  expect_usage("emmy db imprt x", "did you mean db import?");
  expect_usage("emmy exlpore", "did you mean explore?");
  expect_usage("emmy db", "import, export, list, check");
  expect_usage("emmy db import", "takes SOURCE..., got 0");
  expect_usage("emmy db check x", "takes no arguments, got 1");
  expect_usage("emmy db export a --pool-smaple 3", "did you mean --pool-sample?");
  expect_usage("emmy db export a --pool-sample", "needs N");
  expect_usage("emmy db export a --pool-sample 3.5", "an integer from 0 to 1000000000, got \"3.5\"");
  expect_usage("emmy db export a --pool-sample 1000000001", "1000000001");
  expect_usage("emmy target list --csv=yes", "--csv takes no value");
  expect_usage("emmy target list --csv --json", "exclude each other");
  expect_usage("emmy target list -Z", "no option -Z");
}

static void test_options_stand_anywhere(void **state)
{
  char line[] = "emmy view pools -n 5 a.json --sort=-golden_rank --card rtx4090 -- --odd";
  em_args a;
  em_err err;
  (void)state;
  assert_int_equal(parse(line, &a, &err), EM_OK);
  assert_int_equal(a.n_words, 3);
  assert_string_equal(a.words[0], "pools");
  assert_string_equal(a.words[1], "a.json");
  assert_string_equal(a.words[2], "--odd");
  assert_int_equal(a.opt[EM_OPT_LIMIT].i, 5);
  assert_string_equal(a.opt[EM_OPT_SORT].text, "-golden_rank");
  assert_string_equal(a.opt[EM_OPT_CARD].text, "rtx4090");
  assert_false(a.opt[EM_OPT_KERNEL].set);
}

static void test_defaults_are_values(void **state)
{
  char line[] = "emmy db export out";
  em_args a;
  em_err err;
  (void)state;
  assert_int_equal(parse(line, &a, &err), EM_OK);
  assert_false(a.opt[EM_OPT_SAMPLE].set);
  assert_int_equal(a.opt[EM_OPT_SAMPLE].i, 2000);
  assert_null(a.opt[EM_OPT_DB].text);
}

static void expect_command(const char *text, const char *name)
{
  char line[256];
  em_args a;
  em_err err;
  strcpy(line, text);
  assert_int_equal(parse(line, &a, &err), EM_OK);
  assert_string_equal(a.command->name, name);
}

static void test_a_path_or_nothing_explores(void **state)
{
  (void)state;
  expect_command("emmy", "explore");
  expect_command("emmy some/where", "explore");
  expect_command("emmy rows.json", "explore");
  expect_command("emmy core", "explore"); /* a folder that is there */
  expect_command("emmy --csv", "explore");
  expect_command("emmy explore", "explore");
}

static size_t longest_line(const char *text)
{
  size_t longest = 0;
  for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
    if (strcspn(text, "\n") > longest) longest = strcspn(text, "\n");
  return longest;
}

static void test_help_fits_a_terminal(void **state)
{
  (void)state;
  for (const em_command *c = em_commands; c->name; c++) {
    em_str text = {0};
    em_help_put_command(&text, c);
    /* Examples are not broken: they are to be copied. */
    *strstr(text.s, "\nexamples\n") = '\0';
    assert_true(longest_line(text.s) < 80);
    em_str_free(&text);
  }
}

static void test_wrapping_keeps_words_and_paragraphs(void **state)
{
  em_str out = {0};
  (void)state;
  em_put_wrapped(&out, "one two  three four\n\nfive ", 2, 12);
  assert_string_equal(out.s, "  one two\n  three four\n\n  five\n");
  em_str_free(&out);
}

static void test_near_names(void **state)
{
  static const char *const names[] = {"alpha", "beta", "gamma", NULL};
  em_str out = {0};
  (void)state;
  em_put_near(&out, "gama", names);
  assert_string_equal(out.s, "; did you mean gamma?");
  em_str_clear(&out);
  em_put_near(&out, "zzzzzz", names);
  assert_string_equal(out.s, "; there are alpha, beta, gamma");
  em_str_free(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_keys_are_bound_once),
    cmocka_unit_test(test_tables_have_no_clashes),
    cmocka_unit_test(test_every_command_has_its_page),
    cmocka_unit_test(test_every_example_parses_as_its_command),
    cmocka_unit_test(test_wrong_usage_is_said),
    cmocka_unit_test(test_options_stand_anywhere),
    cmocka_unit_test(test_defaults_are_values),
    cmocka_unit_test(test_a_path_or_nothing_explores),
    cmocka_unit_test(test_help_fits_a_terminal),
    cmocka_unit_test(test_wrapping_keeps_words_and_paragraphs),
    cmocka_unit_test(test_near_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
