/* The examples of the manual: each runs on a shipped golden file and answers its question with rows. */
#include "tests/unit/sql_query.h"

#include <limits.h>

#define SHIPPED "data/golden/rtx4080_sm89.json"
#define PRIOR   "tests/fixtures/tiny-prior.json"

static char home[PATH_MAX];

/* Two fits of one pool, under the names that the examples use, each with its prior. */
static void write_fits(void)
{
  static const int ranks[] = {0, 5};
  em_err err;
  for (size_t i = 0; i < N_OF(ranks); i++) {
    em_str folder = {0}, text = {0};
    em_str_printf(&folder, "_tune/fits/%04zu", i + 1);
    fixture_must(em_mkdirs(folder.s, &err), &err);
    em_str_put(&folder, "/metrics.json");
    em_str_printf(&text, "{\"header\":{},\"full_train\":{\"per_golden\":{\"gpu/p\":{\"rank\":%d}}}}", ranks[i]);
    put_file(folder.s, text.s, text.len);
    em_str_clear(&folder);
    em_str_printf(&folder, "_tune/fits/%04zu/prior.json", i + 1);
    fixture_other_prior(folder.s);
    em_str_free(&folder);
    em_str_free(&text);
  }
}

/* Fits are looked for in the working directory: the tests work in the scratch folder. */
static int open_shipped(void **state)
{
  em_err err;
  char shipped[PATH_MAX], prior[PATH_MAX];
  const char *golden = shipped;
  if (scratch_setup(state) != 0 || !getcwd(home, sizeof home) || !realpath(SHIPPED, shipped) || !realpath(PRIOR, prior))
    return -1;
  const em_session_options o = {.sources = &golden, .n_sources = 1, .prior = prior, .feat_ver = EM_FEAT_VER};
  if (chdir(scratch) != 0) return -1;
  write_fits();
  fixture_must(em_session_open(&o, &session, &err), &err);
  fixture_must(em_sql_open(session, NULL, &sql, &err), &err);
  return 0;
}

static int close_shipped(void **state) { return chdir(home) == 0 ? close_fixture(state) : -1; }

/* Every golden of that file lies in its pool, and a walk that ends with the golden's branch never left it. */
static bool may_be_empty(const em_sql_example *e) { return strstr(e->sql, "from skipped") != NULL; }

static void test_examples_answer(void **state)
{
  (void)state;
  for (size_t i = 0; i < em_n_sql_examples(); i++) {
    const em_sql_example *e = em_sql_example_at(i);
    em_err err;
    char *got = query_as(EM_FORMAT_CSV, e->sql, &err);
    if (!got) fail_msg("%s\n%s", e->sql, err.msg);
    if (!*got && !may_be_empty(e)) fail_msg("%s\n%s\ngives no row", e->question, e->sql);
    em_free(got);
  }
}

static void test_there_are_enough(void **state)
{
  (void)state;
  assert_true(em_n_sql_examples() >= 12);
  for (size_t i = 0; i < em_n_sql_examples(); i++) {
    const em_sql_example *e = em_sql_example_at(i);
    assert_true(em_sql_is_complete(e->sql)); /* one statement, with its semicolon */
    assert_int_equal(e->question[strlen(e->question) - 1], '?');
  }
}

/* The walk of the fork ends where the branches of pick and golden part: the level is one in which the two differ,
 * and all levels before it are equal. */
static void test_the_walk_finds_the_parting(void **state)
{
  (void)state;
  for (size_t i = 0; i < em_n_sql_examples(); i++) {
    const em_sql_example *e = em_sql_example_at(i);
    if (!strstr(e->sql, "fork_tree")) continue;
    em_str text = {0};
    em_str_printf(
      &text,
      "with answer(level, choice) as (%.*s) select knob(golden_row, level) = choice, knob(pick_row, level) <> choice "
      "from answer, pools where kernel = 'matmul.square.1024'",
      (int)strlen(e->sql) - 1, e->sql);
    expect(text.s, "1,1\n");
    em_str_free(&text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples_answer), cmocka_unit_test(test_there_are_enough),
                                     cmocka_unit_test(test_the_walk_finds_the_parting)};
  return cmocka_run_group_tests(tests, open_shipped, close_shipped);
}
