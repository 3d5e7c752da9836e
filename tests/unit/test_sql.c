/* SQL over the views: arguments, values, plans, what is refused. */
#include "tests/unit/sql_query.h"

#include <sqlite3.h>

/* ---- arguments ---- */

static void test_arguments(void **state)
{
  (void)state;
  expect("select count(*) from candidates('add.512')", "4\n");
  expect("select count(*) from candidates where pool = 'add.512'", "4\n");
  expect("select count(*) from candidates c, (select 'add.512' as p union all select 'softmax.1024') where c.pool = p",
         "67\n");
  expect("select count(*) from candidates where pool in ('add.512', 'softmax.1024')", "67\n");
  expect("select distinct pool from candidates('add.512')", "add.512\n");
  expect("select count(*) from candidates('add.512') where rank <= 1 or rank >= 4", "2\n");
  /* an optional argument that comes from the other table is never left out, whichever table the planner begins with */
  expect("select count(*) from (select '' as path) w, fork_tree('square.64', w.path) f where f.choice is not null",
         "18\n");
  expect("select count(*) from pools('rtx4080')", "5\n");
  expect("select count(*) from pools('h100')", "0\n");
  expect("select count(*) from pools(null, (select kernel from kernels where kind = 'reduce'))", "1\n");
  /* two rows that differ in the accumulators alone */
  expect("select a, b from features('softmax.1024', 1, 2) where a is not b and feature = 'D_reduce_ilp'", "0.0,1.0\n");
  expect("select count(*) from features('softmax.1024', 1, 1) where a is not b", "0\n");
}

static void test_argument_errors(void **state)
{
  (void)state;
  expect_error("select * from candidates", "candidates needs pool: candidates('...'); key, label");
  expect_error("select * from candidates('square.65')",
               "no pool is called \"square.65\"; the nearest is \"square.64\"");
  expect_error("select * from candidates('square')", "names ");
  expect_error("select * from candidates('add.512', null, 1)", "too many arguments on candidates() - max 2");
  expect_error("select * from features('add.512', 9)", "is no candidate of add.512: give a rank from 1 to 4");
  expect_error("select * from pools('no card')", "no card");
}

/* A NULL pool has no rows, and neither has one that is outside its space; the rest of a join goes on. */
static void test_pools_without_candidates(void **state)
{
  (void)state;
  expect("select count(*) from candidates(null)", "0\n");
  expect("select p.kernel, count(c.rank) from pools p left join candidates c on c.pool = p.pool "
         "where p.kind <> 'contraction' group by 1 order by 1",
         "add.512,4\nadd.outside,0\nsoftmax.1024,63\n");
  expect("select kernel, golden_rank is null, notes like 'out of pool%' from pools where kernel = 'add.outside'",
         "add.outside,1,1\n");
}

static void test_default_pool(void **state)
{
  (void)state;
  em_err err;
  assert_int_equal(em_sql_use(sql, "nothing like it", &err), EM_E_INPUT);
  fixture_must(em_sql_use(sql, "add.512", &err), &err);
  expect("select count(*) from candidates", "4\n");
  expect("select count(*) from candidates('softmax.1024')", "63\n"); /* a given one wins */
  fixture_must(em_sql_use(sql, NULL, &err), &err);
  expect_error("select * from candidates", "candidates needs pool");
}

/* ---- values ---- */

static void test_values_are_exact(void **state)
{
  (void)state;
  /* pointwise kernels have no REDUCE: missing; RASTER is decided and unused */
  expect("select typeof(reduce), typeof(raster), raster = '' from candidates('add.512') where rank = 1",
         "null,text,1\n");
  expect(
    "select typeof(rank), typeof(quality), typeof(work), typeof(us) from candidates('add.512') where golden is not null",
    "integer,real,text,real\n");
  expect("select us, golden from candidates('softmax.1024') where golden is not null", "6.125,golden\n");
  /* three trees: 0.25 (32 threads: first split no; 4 cells or fewer: ...) are in the fixture; a price is exp(-quality) */
  expect("select count(*) from candidates('softmax.1024') where abs(price - exp(-quality)) > 1e-12", "0\n");
  expect("select count(*) from candidates('softmax.1024') where price(quality) <> price", "0\n");
}

static void test_missing_and_unused_on_screen(void **state)
{
  (void)state;
  em_err err;
  char *got = query_as(EM_FORMAT_TABLE, "select null as a, '' as b, 0 as c, 12345 as d, 0.5 as e", &err);
  assert_non_null(got);
  assert_string_equal(got, "a  b  c       d    e\n\u00b7  -  0  12,345  0.5\n");
  em_free(got);
}

/* Control characters reach a terminal escaped, CSV and JSON exactly; bytes that are no text are spelled. */
static void test_control_characters(void **state)
{
  (void)state;
  em_err err;
  char *got = query_as(EM_FORMAT_TABLE, "select 'a' || char(27) || '[2J' as x", &err);
  assert_string_equal(got, "x\na\\x1b[2J\n");
  em_free(got);
  expect("select 'a' || char(27) || '[2J', x'00ff', 'a' || char(0) || 'b'", "a\x1b[2J,X'00ff',X'610062'\n");
  got = query_as(EM_FORMAT_JSON, "select char(27) as \"a\"\"b\", 9e999 as inf", &err);
  assert_string_equal(got, "[\n {\"a\\\"b\":\"\\u001b\",\"inf\":null}\n]\n");
  em_free(got);
}

static void test_formats(void **state)
{
  (void)state;
  em_err err;
  const char *text = "select rank, work, golden, us from candidates('add.512') where golden is not null";
  char *got = query_as(EM_FORMAT_MARKDOWN, text, &err);
  assert_non_null(strstr(got, "| rank | work | golden | us |\n| ---: | --- | --- | ---: |\n| #"));
  assert_non_null(strstr(got, "| golden | 4.5 |\n"));
  em_free(got);
  got = query_as(EM_FORMAT_LINE, "select 1 as a, 'x|y' as b union all select 2, null", &err);
  assert_string_equal(got, "a = 1\nb = x|y\n\na = 2\nb = \u00b7\n");
  em_free(got);
  got = query_as(EM_FORMAT_MARKDOWN, "select 'x|y' as \"p|q\"", &err);
  assert_string_equal(got, "| p\\|q |\n| --- |\n| x\\|y |\n");
  em_free(got);
}

/* ---- plans ---- */

/* What xBestIndex tells SQLite, as EXPLAIN QUERY PLAN shows it. */
static void expect_plan(const char *text, const char *want)
{
  char explained[512];
  snprintf(explained, sizeof explained, "explain query plan %s", text);
  char *got = query(explained);
  if (!strstr(got, want)) fail_msg("%s\ngives    %s\nexpected %s", text, got, want);
  em_free(got);
}

static void test_rank_is_sought(void **state)
{
  (void)state;
  const char *pool = "square.64";
  char text[256];
  static const struct {
    const char *where;
    int lo, hi;
  } ranges[] = {{"rank = 7", 7, 7},
                {"rank <= 3", 1, 3},
                {"rank < 3", 1, 2},
                {"rank > 2060", 2061, 2063},
                {"rank >= 2060", 2060, 2063},
                {"rank between 5 and 9", 5, 9},
                {"rank > 4.5 and rank < 6.5", 5, 6},
                {"rank <= '3'", 1, 3},
                {"rank = 2.5", 1, 0},
                {"rank < 'x'", 1, 2063},
                {"rank > 'x'", 1, 0},
                {"rank = null", 1, 0},
                {"rank > -1e300 and rank < 1e300", 1, 2063},
                {"rank > 3 and rank < 3", 1, 0},
                {"rank = 0", 1, 0},
                {"rank in (1, 5, 9999999999)", 1, 2}};
  for (size_t i = 0; i < N_OF(ranges); i++) {
    int n = ranges[i].hi - ranges[i].lo + 1;
    char want[64];
    snprintf(text, sizeof text,
             "select count(*), coalesce(min(rank), 1), coalesce(max(rank), 0) from candidates('%s') where %s", pool,
             ranges[i].where);
    if (strncmp(ranges[i].where, "rank in", 7) == 0)
      snprintf(want, sizeof want, "2,1,5\n");
    else
      snprintf(want, sizeof want, "%d,%d,%d\n", n, n ? ranges[i].lo : 1, n ? ranges[i].hi : 0);
    expect(text, want);
  }
}

static void test_order_is_recognised(void **state)
{
  (void)state;
  expect_plan("select * from candidates('add.512') order by rank limit 1", "VIRTUAL TABLE INDEX 1:");
  char *plan = query("explain query plan select * from candidates('add.512') order by rank desc");
  assert_null(strstr(plan, "TEMP B-TREE"));
  em_free(plan);
  plan = query("explain query plan select * from candidates('add.512') order by price");
  assert_non_null(strstr(plan, "TEMP B-TREE"));
  em_free(plan);
  expect("select group_concat(rank) from (select rank from candidates('add.512') order by rank desc)", "\"4,3,2,1\"\n");
  expect("select rank from candidates('square.64') where rank > 10 order by rank desc limit 2", "2063\n2062\n");
  expect("select rank from candidates('square.64') where rank <= 10 order by rank desc limit 1 offset 1", "9\n");
}

/* ---- functions ---- */

static void test_knob(void **state)
{
  (void)state;
  expect("select knob('WORK=t32x8 TILE=f2x8 REDUCE= STAGE=d2/smem-async RASTER=', 'TILE')", "f2x8\n");
  expect("select knob('WORK=t32x8 TILE=f2x8 REDUCE= STAGE=d2/smem-async RASTER=', 'REDUCE') = ''", "1\n");
  expect("select knob('WORK=t32x8 TILE=f2x8', 'STAGE') is null", "1\n");
  expect("select knob('WORK=t32x8,TILE=f2x8', 'WORK'), knob('{\"WORK\":\"t32x8\"}', 'WORK')", "t32x8,t32x8\n");
  expect("select knob(null, 'WORK') is null, knob('WORK=t32', null) is null", "1,1\n");
  expect(
    "select count(*) from candidates('square.64') where knob(row, 'WORK') is not work or knob(row, 'STAGE') is not stage",
    "0\n");
  expect_error("select knob('WORK=t32x8', 'TIEL')", "\"TIEL\" is no knob");
  expect_error("select knob('WORK=t032', 'WORK')", "knob: ");
  expect_error("select knob('WORK')", "wrong number of arguments to function knob()");
}

static void test_agrees(void **state)
{
  (void)state;
  expect("select agrees('WORK=t32x8', 'WORK=t32x8 TILE=f2x8')", "1\n"); /* undecided knobs are free */
  expect("select agrees('WORK=t32x8 TILE=f2x8', 'WORK=t32x8')", "1\n"); /* on either side */
  expect("select agrees('WORK=t32x8 TILE=f2', 'WORK=t32x8 TILE=f2x8')", "0\n");
  expect("select agrees(null, 'WORK=t32x8') is null", "1\n");
  expect_error("select agrees('?', 'WORK=t32x8')", "agrees: ");
}

static void test_aggregates(void **state)
{
  (void)state;
  const char *four = "with t(x, y) as (values (4, 1.5), (1, 9), (null, 7), (3, 2), (2, 4)) select ";
  static const struct {
    const char *call, *want;
  } calls[] = {{"median(x)", "2.5"},
               {"quantile(x, 0)", "1.0"},
               {"quantile(x, 1)", "4.0"},
               {"quantile(x, 0.25)", "1.75"},
               {"topk(x, 1)", "0.25"},
               {"topk(x, 3)", "0.75"},
               {"spearman(x, y)", "-1.0"},
               {"spearman(x, x * x)", "1.0"},
               {"spearman(x, 1)", ""},
               {"median(x) filter (where x > 9)", ""},
               {"geomean(x) filter (where x in (1, 4))", "2.0"},
               {"median('x')", ""},
               {"count(distinct x)", "4"}};
  for (size_t i = 0; i < N_OF(calls); i++) {
    char text[256], want[32];
    snprintf(text, sizeof text, "%s%s from t", four, calls[i].call);
    snprintf(want, sizeof want, "%s\n", calls[i].want);
    expect(text, want);
  }
  /* equal values share their mean rank: 1, 2.5, 2.5, 4 against 1, 2, 3, 4 is 4.5 / sqrt(4.5 * 5) */
  expect(
    "with t(x, y) as (values (1, 1), (2, 2), (2, 3), (3, 4)) select abs(spearman(x, y) - 0.9486832980505138) < 1e-15 from t",
    "1\n");
  expect_error("select quantile(1, 1.5)", "quantile: p lies outside 0 to 1");
  expect_error("select geomean(0)", "geomean: a number is not positive");
}

/* ---- what is refused ---- */

static void test_writes_are_refused(void **state)
{
  (void)state;
  static const char *const statements[] = {"create table t(x)",
                                           "create view v as select 1",
                                           "create index i on pools(card)",
                                           "insert into pools(card) values ('x')",
                                           "update pools set card = 'x'",
                                           "delete from candidates",
                                           "drop table pools",
                                           "alter table pools rename to p",
                                           "create virtual table t using candidates",
                                           "create temp trigger t after insert on x begin select 1; end",
                                           "pragma journal_mode = wal",
                                           "pragma writable_schema = 1",
                                           "pragma temp_store_directory = '/tmp'",
                                           "analyze",
                                           "vacuum",
                                           "vacuum into 'file.db'",
                                           "select load_extension('x')"};
  for (size_t i = 0; i < N_OF(statements); i++) expect_error(statements[i], "");
  assert_false(em_path_exists("file.db"));
  expect_error("create table t(x)", "not authorized: only ");
  expect_error("pragma cache_size = 7", "not authorized: only pragmas that list things");
}

/* What SQLite declares for itself is no write of the user's. */
static void test_tables_of_sqlite(void **state)
{
  (void)state;
  expect("select sum(value) from json_each('[1,2,4]')", "7\n");
  expect("select group_concat(key) from json_tree('{\"a\":{\"b\":1}}') where key is not null", "\"a,b\"\n");
  expect("select count(*) = (select count(*) from schema_doc('candidates') where kind = 'column') "
         "from pragma_table_info('candidates')",
         "1\n");
  expect("select count(*) from pragma_database_list", "1\n");
}

static void test_temporary_tables(void **state)
{
  (void)state;
  expect(
    "create temp table best as select rank, row from candidates('square.64') where rank <= 3;"
    "create index temp.i on best(rank);"
    "insert into best values (99, 'x'); update best set rank = 100 where rank = 99; delete from best where rank = 1;"
    "create temp view v as select count(*) as n, max(rank) from best; select * from v; drop view v; drop table best",
    "3,100\n");
}

/* A temporary or attached table goes first; the view is still there under main. */
static void test_hidden_names(void **state)
{
  (void)state;
  expect("create temp table pools as select 1 as mine; select * from pools; select count(*) from main.pools", "1\n5\n");
  expect("drop table pools; select count(*) from pools", "5\n");
  expect("create temp table features as select 2 as mine; select mine from features; "
         "select count(*) > 99 from main.features('add.512'); drop table features",
         "2\n1\n");
}

static void test_attached_files_are_read_only(void **state)
{
  (void)state;
  sqlite3 *db;
  char text[1200];
  assert_int_equal(sqlite3_open(in_scratch("mine.db"), &db), SQLITE_OK);
  assert_int_equal(
    sqlite3_exec(db, "create table t(card, us); insert into t values ('rtx4080', 3.5)", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  snprintf(text, sizeof text, "attach '%s' as mine", in_scratch("mine.db"));
  expect(text, "");
  expect("select t.us, count(*) from mine.t join pools using (card)", "3.5,5\n");
  expect_error("insert into mine.t values (1, 2)", "not authorized: only temporary tables can be written");
  expect_error("drop table mine.t", "not authorized");
  snprintf(text, sizeof text, "attach 'file:%s?mode=rwc' as other", in_scratch("new.db"));
  expect_error(text, ""); /* which words depends on how SQLite was built */
  snprintf(text, sizeof text, "attach '%s' as other", in_scratch("new.db"));
  expect_error(text, "unable to open");
  assert_false(em_path_exists(in_scratch("new.db")));
  expect("detach mine", "");
}

static void test_hostile_statements(void **state)
{
  (void)state;
  em_str text = {0};
  expect_error("select", "incomplete input");
  expect_error("select 1 from poolz", "no such table: poolz; did you mean pools?");
  expect_error("select golden_rnk from pools", "no such column: golden_rnk; did you mean golden_rank?");
  expect_error("select medain(1)", "no such function: medain; did you mean median?");
  em_err err = {0};
  assert_null(query_as(EM_FORMAT_CSV, "select x", &err));
  assert_string_equal(err.msg, "no such column: x"); /* and not: did you mean a? */
  expect_error("select 'abc", "unrecognized token");
  expect_error("\x01\x02\xff", "unrecognized token: \"\\x01\"");
  for (int i = 0; i < 5000; i++) em_str_put(&text, "(");
  expect_error(text.s, "");
  em_str_clear(&text);
  em_str_put(&text, "select 1");
  for (int i = 0; i < 5000; i++) em_str_put(&text, "+1");
  expect_error(text.s, "Expression tree is too large");
  em_str_clear(&text);
  em_str_put(&text, "select 1");
  for (int i = 0; i < 5000; i++) em_str_put(&text, " union all select 1");
  expect_error(text.s, "too many terms in compound SELECT");
  em_str_clear(&text);
  em_str_put(&text, "select '");
  for (int i = 0; i < 2000000; i++) em_str_putc(&text, 'x');
  em_str_put(&text, "'");
  expect_error(text.s, "bytes of SQL, at most");
  expect_error("select zeroblob(1000000000)", "too big");
  em_str_free(&text);
}

static void test_error_place(void **state)
{
  (void)state;
  em_err err;
  size_t at;
  em_str out = {0};
  em_render r = {.format = EM_FORMAT_CSV};
  const char *text = "select 1;\n  select 2;\nselect nothing;";
  assert_int_equal(em_sql_run(sql, text, strlen(text), &r, collect_text, &out, &at, &err), EM_E_INPUT);
  assert_string_equal(out.s, "1\n1\n2\n2\n");
  assert_int_equal(at, strstr(text, "nothing") - text);
  em_str_free(&out);
}

/* ---- stopping ---- */

static int put_three(void *ctx, const char *text, size_t len)
{
  (void)text;
  (void)len;
  return ++*(int *)ctx >= 3;
}

/* A reader that goes away ends an endless query, and is no error. */
/* SQLite places such an error in the text of the view. */
static void test_error_place_in_a_view(void **state)
{
  (void)state;
  em_err err;
  size_t at;
  em_str out = {0};
  em_render r = {.format = EM_FORMAT_CSV};
  const char *view =
    "create temp view odd as select 'a text that is longer than the question', trim('x') filter (where 1)";
  const char *text = "select * from odd";
  assert_int_equal(em_sql_run(sql, view, strlen(view), &r, collect_text, &out, &at, &err), EM_OK);
  assert_int_equal(em_sql_run(sql, text, strlen(text), &r, collect_text, &out, &at, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "FILTER may not be used"));
  assert_true(at < strlen(text));
  em_str_free(&out);
}

static void test_closed_pipe(void **state)
{
  (void)state;
  em_err err;
  size_t at;
  int calls = 0;
  em_render r = {.format = EM_FORMAT_CSV};
  const char *text = "with recursive c(x) as (values (1) union all select x + 1 from c) select x from c; select 1";
  assert_int_equal(em_sql_run(sql, text, strlen(text), &r, put_three, &calls, &at, &err), EM_OK);
  assert_int_equal(calls, 3);
}

static void test_cancel(void **state)
{
  (void)state;
  em_err err;
  em_sql *other;
  size_t at;
  int calls = 0;
  volatile int cancel = 1;
  em_progress p = {.cancel = &cancel};
  em_render r = {.format = EM_FORMAT_CSV};
  const char *endless = "with recursive c(x) as (values (1) union all select x + 1 from c) select count(*) from c";
  const char *opening = "select count(*) from candidates('square.128.fp16')";
  em_session *fresh = fixture_session();
  fixture_must(em_sql_open(fresh, &p, &other, &err), &err);
  assert_int_equal(em_sql_run(other, endless, strlen(endless), &r, put_three, &calls, &at, &err), EM_E_CANCEL);
  assert_int_equal(em_sql_run(other, opening, strlen(opening), &r, put_three, &calls, &at, &err), EM_E_CANCEL);
  cancel = 0;
  assert_int_equal(em_sql_run(other, opening, strlen(opening), &r, put_three, &calls, &at, &err), EM_OK);
  /* The pool is there: now it is the view that gives up. */
  const char *const views[] = {"select 1 from importance(null, 'square.128.fp16')",
                               "select 1 from blind_pairs('square.128.fp16')",
                               "select 1 from fork_tree('square.128.fp16')"};
  cancel = 1;
  for (size_t i = 0; i < N_OF(views); i++)
    assert_int_equal(em_sql_run(other, views[i], strlen(views[i]), &r, put_three, &calls, &at, &err), EM_E_CANCEL);
  em_sql_close(other);
  em_session_close(fresh);
}

/* ---- statements one by one ---- */

static void test_columns_carry_units(void **state)
{
  (void)state;
  em_err err;
  em_stmt *st;
  size_t used;
  bool row;
  const char *text =
    "select rank as place, us, us * 2 as double_us from (select * from candidates('add.512')) where golden is not null;  -- more";
  fixture_must(em_stmt_prepare(sql, text, strlen(text), &st, &used, &err), &err);
  assert_int_equal(text[used - 1], ';');
  fixture_must(em_stmt_step(st, &row, &err), &err);
  assert_true(row);
  assert_int_equal(em_stmt_n_columns(st), 3);
  const em_view_column *c = em_stmt_columns(st);
  assert_string_equal(c[0].name, "place");
  assert_string_equal(c[0].unit, "rank");
  assert_string_equal(c[1].unit, "us");
  assert_int_equal(c[2].type, EM_REAL);
  fixture_must(em_stmt_step(st, &row, &err), &err);
  assert_false(row);
  em_stmt_free(st);
  fixture_must(em_stmt_prepare(sql, text + used, strlen(text + used), &st, &used, &err), &err);
  assert_null(st);
}

static void test_completeness(void **state)
{
  (void)state;
  assert_false(em_sql_is_complete("select 1"));
  assert_false(em_sql_is_complete("select ';"));
  assert_false(em_sql_is_complete("select 1 -- ;"));
  assert_true(em_sql_is_complete("select 1;"));
}

static int run_once(em_session *s, const char *text, em_err *err)
{
  em_sql *q;
  em_str out = {0};
  size_t at;
  em_render r = {.format = EM_FORMAT_TABLE};
  int rc = em_sql_open(s, NULL, &q, err);
  if (rc != EM_OK) return rc;
  rc = em_sql_run(q, text, strlen(text), &r, collect_text, &out, &at, err);
  if (rc == EM_OK && out.failed) rc = em_fail_nomem(err);
  em_str_free(&out);
  em_sql_close(q);
  return rc;
}

static void test_allocation_failures(void **state)
{
  (void)state;
  em_err err;
  const em_scored *kept;
  size_t pool;
  fixture_must(em_session_find(session, "add.512", &pool, &err), &err);
  fixture_must(em_session_load(session, pool, NULL, &kept, &err), &err); /* so that nothing is cached on the way */
  const char *text =
    "select c.row, knob(c.row, 'TILE'), agrees(c.row, c.row), median(f.a) from candidates('add.512') c, "
    "features('add.512') f group by c.rank";
  ASSERT_SURVIVES_NOMEM(run_once(session, text, &err), );
  em_session_release(session, kept);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arguments),
                                     cmocka_unit_test(test_argument_errors),
                                     cmocka_unit_test(test_pools_without_candidates),
                                     cmocka_unit_test(test_default_pool),
                                     cmocka_unit_test(test_values_are_exact),
                                     cmocka_unit_test(test_missing_and_unused_on_screen),
                                     cmocka_unit_test(test_control_characters),
                                     cmocka_unit_test(test_formats),
                                     cmocka_unit_test(test_rank_is_sought),
                                     cmocka_unit_test(test_order_is_recognised),
                                     cmocka_unit_test(test_knob),
                                     cmocka_unit_test(test_agrees),
                                     cmocka_unit_test(test_aggregates),
                                     cmocka_unit_test(test_writes_are_refused),
                                     cmocka_unit_test(test_tables_of_sqlite),
                                     cmocka_unit_test(test_temporary_tables),
                                     cmocka_unit_test(test_hidden_names),
                                     cmocka_unit_test(test_attached_files_are_read_only),
                                     cmocka_unit_test(test_hostile_statements),
                                     cmocka_unit_test(test_error_place),
                                     cmocka_unit_test(test_error_place_in_a_view),
                                     cmocka_unit_test(test_closed_pipe),
                                     cmocka_unit_test(test_cancel),
                                     cmocka_unit_test(test_columns_carry_units),
                                     cmocka_unit_test(test_completeness),
                                     cmocka_unit_test(test_allocation_failures)};
  return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
