/* What Tab offers, and where a statement of a text ends. */
#include "tests/unit/sql_query.h"

#include "tui/repl.h"

typedef struct words {
  em_str all;
  size_t n;
} words;

static void add(void *ctx, const char *word)
{
  words *w = ctx;
  em_str_printf(&w->all, "%s%s", w->n++ ? " " : "", word);
}

/* The words offered at the end of the line, and where the word begins. */
static void expect_words(const char *line, size_t start, const char *want)
{
  em_repl r = {.session = session, .sql = sql};
  words w = {0};
  size_t got;
  em_complete(&r, line, strlen(line), &got, add, &w);
  const char *all = w.all.s ? w.all.s : "";
  if (strcmp(all, want) != 0) fail_msg("\"%s\" offers \"%s\", expected \"%s\"", line, all, want);
  if (w.n) assert_int_equal(got, start);
  em_str_free(&w.all);
}

static void test_names(void **state)
{
  (void)state;
  expect_words("select * from cand", 14, "candidates");
  expect_words("select * from CAND", 14, "candidates");
  expect_words("select golden_r", 7, "golden_rank golden_rank_optimistic golden_row");
  expect_words("select medi", 7, "median median_optimistic median_a median_b");
  expect_words("sel", 0, "select");
  expect_words("select p.golden_rank_o", 9, "golden_rank_optimistic");
  expect_words("select nothinglikeit", 7, "");
}

static void test_texts_in_quotes(void **state)
{
  (void)state;
  expect_words("select * from candidates('soft", 26, "softmax.1024");
  expect_words("select * from candidates('square.64", 26, "square.64");
  expect_words("select knob(row, 'TI", 18, "TILE");
  expect_words("select * from pools where card = 'rtx4080' and kernel = 'add", 57, "add.512 add.outside");
  expect_words("where card = 'rtx4080s", 14, "rtx4080super");
  expect_words("where card = 'x' and fe", 21, "features feature_registry feature feature_group");
}

static void test_dot_commands(void **state)
{
  (void)state;
  expect_words(".sch", 0, ".schema");
  expect_words(".s", 0, ".save .schema");
  expect_words(".schema poo", 8, "pools pool");
}

/* Every dot command that is declared can be run or refuses with its usage; the last entry ends the table. */
static void test_table(void **state)
{
  (void)state;
  size_t n = 0;
  for (const em_dot *d = em_dots; d->name; d++, n++) {
    assert_int_equal(d->name[0], '.');
    assert_true(*d->doc && d->run && (d->most < 0 || d->least <= d->most));
    for (const em_dot *e = em_dots; e != d; e++) assert_string_not_equal(d->name, e->name);
  }
  assert_true(n >= 20);
}

static int run(em_repl *r, const char *text, em_err *err) { return em_repl_run_text(r, "text", text, err); }

static void test_words_and_quotes(void **state)
{
  (void)state;
  em_err err = {0};
  em_repl r = {.session = session, .sql = sql};
  assert_int_equal(run(&r, ".use 'add.512'", &err), EM_OK);
  assert_int_equal(run(&r, ".use add.\"512\"  ", &err), EM_OK);
  assert_int_equal(run(&r, ".use 'add.512", &err), EM_E_INPUT);
  assert_string_equal(err.msg, "text:1: the quote ' is not closed");
  assert_int_equal(run(&r, ".use ''", &err), EM_E_INPUT); /* an empty word is a word */
  assert_int_equal(run(&r, "-- a comment\n/* another;\n */ .use add.512", &err),
                   EM_E_INPUT); /* a dot begins its line */
  assert_int_equal(run(&r, "-- a comment\n/* another;\n */\n.use\n", &err), EM_OK);
  em_str_free(&r.log);
}

static void test_lines_of_errors(void **state)
{
  (void)state;
  em_err err = {0};
  em_repl r = {.session = session, .sql = sql, .render = {.format = EM_FORMAT_CSV}};
  assert_int_equal(run(&r, "create temp view v as\nselect 1;\n\n\nselect\n a\nfrom v;", &err), EM_E_INPUT);
  assert_true(strncmp(err.msg, "text:6: no such column: a", 25) == 0);
  assert_int_equal(run(&r, "drop view v;\nselect abs(\n'x', 2);\n", &err), EM_E_INPUT);
  assert_true(strncmp(err.msg, "text:2: ", 8) == 0);
  em_str_free(&r.log);
}

/* A dot begins a command only where the statement before has ended. */
static void test_where_statements_end(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int line; /* of .nope; 0 = it is in the middle of a statement */
  } cases[] = {{"select 1;\n.nope", 2},
               {"select ';';\n.nope", 2},
               {"select '\n.nope';", 0},
               {"select ';\n.nope' as \"it''s ;\n\";", 0},
               {"select 'it''s;\n';\n.nope", 3},
               {"select 1 as \"a;\n'\", 2 as `;\n\"`, 3 as [;\n`];\n.nope", 5},
               {"select 1; -- it's\n.nope", 2},
               {"select 1 -- ;\n.nope", 0},
               {"select 1 /* ;\n.nope */;", 0},
               {"select 1; /* ;\n.nope */", 0},
               {"select 1 /* ' */; /* \" -- */ ;\n.nope", 2},
               {"select 1 - -1, 4 / 2;\n.nope", 2},
               {"/* it's\n*/\n-- \"\n.nope", 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    em_err err = {0};
    em_repl r = {.session = session, .sql = sql, .render = {.format = EM_FORMAT_CSV}};
    char want[64];
    int rc = run(&r, cases[i].text, &err);
    em_str_free(&r.log);
    snprintf(want, sizeof want, "text:%d: no dot command", cases[i].line);
    bool met = strncmp(err.msg, want, strlen(want)) == 0;
    bool command = rc != EM_OK && strstr(err.msg, "no dot command");
    if (cases[i].line ? !met : command) fail_msg("%s: %s", cases[i].text, err.msg);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                     cmocka_unit_test(test_texts_in_quotes),
                                     cmocka_unit_test(test_dot_commands),
                                     cmocka_unit_test(test_table),
                                     cmocka_unit_test(test_words_and_quotes),
                                     cmocka_unit_test(test_lines_of_errors),
                                     cmocka_unit_test(test_where_statements_end)};
  return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
