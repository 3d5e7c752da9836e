/* The store: opening, importing, what replaces what, batches, checks, evidence. */
#include "tests/unit/goldens.h"

#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "core/store/store_int.h"
#include "tests/unit/scratch.h"
#include "tests/unit/shared.h"

/* ---- helpers -------------------------------------------------------------------- */

static em_store *opened(const char *name, em_store_mode mode)
{
  em_store *s;
  em_err err;
  if (em_store_open(in_scratch(name), mode, &s, &err)) fail_msg("%s", err.msg);
  return s;
}

static void refuse_open(const char *name, em_store_mode mode, const char *expected)
{
  em_store *s;
  em_err err;
  int64_t live = em_alloc_live();
  assert_int_equal(em_store_open(in_scratch(name), mode, &s, &err), EM_E_INPUT);
  if (!strstr(err.msg, expected)) fail_msg("\"%s\" lacks \"%s\"", err.msg, expected);
  assert_int_equal(em_alloc_live(), live);
}

static em_import imported(em_store *s, const char *name)
{
  em_import i;
  em_err err;
  if (em_store_import(s, in_scratch(name), NULL, &i, &err)) fail_msg("%s", err.msg);
  return i;
}

static void import_only(em_store *s, const char *name)
{
  em_import i = imported(s, name);
  em_import_free(&i);
}

static void put_text(const char *name, const char *text) { put_file(in_scratch(name), text, strlen(text)); }

static void put_golden(const char *name, const char *rows)
{
  char *ir = pointwise_ir("exp"), *text = golden_text(ir, "", rows);
  put_text(name, text);
  em_free(text);
  em_free(ir);
}

static void run_sql(const char *name, const char *sql)
{
  sqlite3 *db;
  char *why = NULL;
  assert_int_equal(sqlite3_open(in_scratch(name), &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s", why);
  sqlite3_close(db);
}

static em_store_counts counts(em_store *s)
{
  em_store_counts c;
  em_err err;
  if (em_store_count(s, &c, &err)) fail_msg("%s", err.msg);
  return c;
}

/* All evidence as text. */
static int describe(void *ctx, em_evidence *e, em_err *err)
{
  em_str *out = ctx;
  char regime[64];
  (void)err;
  em_str_printf(out, "%s %d.%d %s [%s]", e->gpu_name, e->cc_major, e->cc_minor, e->kernel_name,
                em_regime_text(e->regime, regime));
  for (size_t i = 0; i < e->n_bindings; i++)
    em_str_printf(out, " %s=%lld", e->bindings[i].sym, (long long)e->bindings[i].size);
  for (size_t i = 0; i < e->n_rows; i++) {
    const em_evidence_row *r = &e->rows[i];
    em_str_printf(out, "\n  %g %g %s %s %s%s%s ", r->us, r->reference_us,
                  r->reference_backend ? r->reference_backend : "-", r->label ? r->label : "-", r->source,
                  r->golden ? " golden" : "", r->ok ? "" : " failed");
    em_knobs_print_json(&r->knobs, out);
  }
  em_str_putc(out, '\n');
  em_evidence_free(e);
  return 0;
}

static char *evidence_of(em_store *s)
{
  em_str out = {0};
  em_err err;
  em_str_put(&out, "");
  if (em_store_each_evidence(s, describe, &out, &err)) fail_msg("%s", err.msg);
  return out.s ? out.s : em_strdup("");
}

static void assert_evidence(em_store *s, const char *expected)
{
  char *got = evidence_of(s);
  assert_string_equal(got, expected);
  em_free(got);
}

#define HEAD        CARD " 8.9 k []"
#define POINT(tile) "{\"WORK\":\"\",\"TILE\":\"" tile "\",\"RASTER\":\"\"}"

/* ---- opening ------------------------------------------------------------------------ */

static void what_is_no_store_is_refused_and_left(void **state)
{
  (void)state;
  refuse_open("none.db", EM_STORE_READ, "no such store; make it with: emmy db import");
  put_text("text.db", "these are not the bytes");
  for (int mode = 0; mode < 3; mode++)
    refuse_open("text.db", (em_store_mode)mode, "not a store: expected an SQLite file");
  assert_file_is(in_scratch("text.db"), "these are not the bytes");
  put_text("empty.db", "");
  refuse_open("empty.db", EM_STORE_READ, "not a store");
  run_sql("other.db", "CREATE TABLE kernel (x); INSERT INTO kernel VALUES (7)");
  for (int mode = 0; mode < 3; mode++) refuse_open("other.db", (em_store_mode)mode, "not a store of emmy");
  run_sql("other.db", "UPDATE kernel SET x = 8 WHERE x = 7");
}

static void another_version_is_refused_but_may_be_replaced(void **state)
{
  (void)state;
  em_err err;
  put_golden("g.json", POINTWISE_ROW("r", "1", "f4"));
  em_store *s = opened("v.db", EM_STORE_WRITE);
  import_only(s, "g.json");
  em_store_close(s);
  run_sql("v.db", "PRAGMA user_version = 9; CREATE TABLE more (x)");
  refuse_open("v.db", EM_STORE_READ, "a store of version 9, this program reads version 1");
  refuse_open("v.db", EM_STORE_WRITE, "emmy db import --fresh");
  s = opened("v.db", EM_STORE_FRESH);
  em_store_close(s);
  refuse_open("v.db", EM_STORE_READ, "version 9"); /* nothing was committed */
  s = opened("v.db", EM_STORE_FRESH);
  assert_int_equal(counts(s).measured, 0);
  import_only(s, "g.json");
  assert_int_equal(em_store_commit(s, &err), EM_OK);
  em_store_close(s);
  s = opened("v.db", EM_STORE_READ);
  assert_int_equal(counts(s).measured, 1);
  em_store_close(s);
}

static void one_writer_at_a_time_and_readers_beside_it(void **state)
{
  (void)state;
  put_golden("g.json", POINTWISE_ROW("r", "1", "f4"));
  em_store *w = opened("deep/er/a.db", EM_STORE_WRITE);
  refuse_open("deep/er/a.db", EM_STORE_WRITE, "in use by process");
  refuse_open("deep/er/a.db", EM_STORE_FRESH, "in use by process");
  em_store *r = opened("deep/er/a.db", EM_STORE_READ);
  import_only(w, "g.json");
  assert_int_equal(counts(r).measured, 1);
  em_import i;
  em_err err;
  assert_int_equal(em_store_import(r, in_scratch("g.json"), NULL, &i, &err), EM_E_USAGE);
  em_store_close(r);
  em_store_close(w);
}

static void a_store_that_got_nothing_is_not_left_behind(void **state)
{
  (void)state;
  put_text("bad.json", "{\"compute_cap\":[8,9],\"rows\":[{]}");
  em_store *s = opened("new.db", EM_STORE_WRITE);
  em_import i;
  em_err err;
  assert_int_equal(em_store_import(s, in_scratch("bad.json"), NULL, &i, &err), EM_E_INPUT);
  assert_int_equal(em_store_import(s, in_scratch("gone.json"), NULL, &i, &err), EM_E_INPUT);
  em_store_close(s);
  assert_int_equal(count_entries(scratch), 1);
}

static void the_default_path_follows_the_environment(void **state)
{
  (void)state;
  char *path;
  em_err err;
  char *cache = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL,
       *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
  setenv("XDG_CACHE_HOME", "/c", 1);
  setenv("HOME", "/h", 1);
  assert_int_equal(em_store_default_path(&path, &err), EM_OK);
  assert_string_equal(path, "/c/emmy/autotune.db");
  em_free(path);
  setenv("XDG_CACHE_HOME", "relative", 1);
  assert_int_equal(em_store_default_path(&path, &err), EM_OK);
  assert_string_equal(path, "/h/.cache/emmy/autotune.db");
  em_free(path);
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  assert_int_equal(em_store_default_path(&path, &err), EM_E_ENV);
  if (cache) setenv("XDG_CACHE_HOME", cache, 1);
  if (home) setenv("HOME", home, 1);
  free(cache);
  free(home);
}

/* ---- importing ------------------------------------------------------------------------- */

static void the_published_file_imports(void **state)
{
  (void)state;
  em_err err;
  em_import i;
  const char *root = getenv("EMMY_SHARED");
  FILE *f = shared_open("goldens/rtx4080_sm89.json");
  if (!f) skip();
  fclose(f);
  char *path = text_of("%s/goldens/rtx4080_sm89.json", root ? root : "../shared");
  em_store *s = opened("a.db", EM_STORE_WRITE);
  if (em_store_import(s, path, NULL, &i, &err)) fail_msg("%s", err.msg);
  assert_int_equal(i.kernels, 8);
  assert_int_equal(i.measured, 9);
  assert_int_equal(i.proposals + i.inventory + i.routing + i.replaced + i.kept + i.drifted + i.n_skipped, 0);
  assert_string_equal(i.source, "rtx4080_sm89.json");
  assert_false(i.already);
  em_import_free(&i);
  assert_int_equal(counts(s).pools, 8);
  em_store_close(s);
  em_free(path);
}

static void each_kind_of_row_is_counted(void **state)
{
  (void)state;
  char *ir = pointwise_ir("exp");
  char *text = golden_text(
    ir, "\"routing\":[{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g2a\"},\"children\":[\"k\"]}],",
    POINTWISE_ROW(
      "fast", "1.5",
      "f4") ",\n"
            "{\"name\":\"proposal\",\"kernel\":\"k\",\"knobs\":{\"WORK\":\"\",\"TILE\":\"f2\",\"RASTER\":\"\"}},\n"
            "{\"name\":\"inventory\",\"kernel\":\"k\"}");
  put_text("g.json", text);
  em_store *s = opened("a.db", EM_STORE_WRITE);
  em_import i = imported(s, "g.json");
  assert_int_equal(i.kernels, 1);
  assert_int_equal(i.routing, 1);
  assert_int_equal(i.measured, 1);
  assert_int_equal(i.proposals, 1);
  assert_int_equal(i.inventory, 1);
  em_import_free(&i);
  i = imported(s, "g.json");
  assert_true(i.already);
  assert_int_equal(i.measured, 0);
  em_import_free(&i);
  em_store_counts c = counts(s);
  assert_int_equal(c.sources, 1);
  assert_int_equal(c.routing, 1);
  assert_int_equal(c.proposals, 1);
  assert_evidence(s, HEAD "\n  1.5 nan - fast g.json golden " POINT("f4") "\n");
  em_store_close(s);
  em_free(text);
  em_free(ir);
}

static void rows_without_a_card_are_counted(void **state)
{
  (void)state;
  char *ir = pointwise_ir("exp");
  char *text = text_of(
    "{\"compute_cap\":[8,9],\"kernels\":[{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true}],\"rows\":[" POINTWISE_ROW(
      "r", "1", "f4") "]}",
    ir);
  put_text("g.json", text);
  em_store *s = opened("a.db", EM_STORE_WRITE);
  em_import i = imported(s, "g.json");
  assert_int_equal(i.measured, 0);
  assert_int_equal(i.n_skipped, 1);
  assert_int_equal(i.skipped[0].count, 1);
  em_import_free(&i);
  em_store_close(s);
  em_free(text);
  em_free(ir);
}

static void the_better_measurement_stays_in_any_order(void **state)
{
  (void)state;
  static const char *const orders[] = {"abc", "acb", "bac", "bca", "cab", "cba"};
  put_golden("a.json", POINTWISE_ROW("slow", "9", "f4") "," POINTWISE_ROW("two", "2", "f2"));
  put_golden("b.json", POINTWISE_ROW("quick", "3", "f4"));
  put_golden("c.json", POINTWISE_ROW("equal", "3", "f4") "," POINTWISE_ROW("one", "1", ""));
  for (size_t o = 0; o < N_OF(orders); o++) {
    char name[] = "x.db", file[] = "?.json";
    name[0] = (char)('0' + o);
    em_store *s = opened(name, EM_STORE_WRITE);
    size_t met = 0;
    for (int i = 0; i < 3; i++) {
      file[0] = orders[o][i];
      em_import m = imported(s, file);
      met += m.replaced + m.kept;
      em_import_free(&m);
    }
    assert_int_equal(met, 1); /* of the two that are equal neither outranks the other */
    assert_evidence(s, HEAD "\n  1 nan - one c.json golden " POINT("") "\n  2 nan - two a.json golden " POINT(
                         "f2") "\n  3 nan - equal c.json golden " POINT("f4") "\n");
    em_store_close(s);
  }
}

/* Two files of one name that differ in nothing but how many rows were tried. */
static void one_of_two_that_are_equal_stays_in_any_order(void **state)
{
  (void)state;
  em_digest digest[2];
  assert_int_equal(mkdir(in_scratch("a"), 0777), 0);
  assert_int_equal(mkdir(in_scratch("b"), 0777), 0);
  put_golden("a/g.json", "{\"name\":\"r\",\"kernel\":\"k\",\"knobs\":" POINT(
                           "f4") ",\"measurements\":{\"emmy_us\":3,\"tried\":5}}");
  put_golden("b/g.json", "{\"name\":\"r\",\"kernel\":\"k\",\"knobs\":" POINT(
                           "f4") ",\"measurements\":{\"emmy_us\":3,\"tried\":9}}");
  for (int i = 0; i < 2; i++) {
    em_store *s = opened(i ? "2.db" : "1.db", EM_STORE_WRITE);
    em_import m = imported(s, i ? "b/g.json" : "a/g.json");
    em_import_free(&m);
    m = imported(s, i ? "a/g.json" : "b/g.json");
    assert_int_equal(m.measured, 1);
    assert_int_equal(m.replaced + m.kept, 0);
    em_import_free(&m);
    char hex[33];
    em_err err;
    assert_int_equal(em_store_content_digest(s, hex, &err), EM_OK);
    assert_true(em_digest_parse(hex, &digest[i]));
    em_store_close(s);
  }
  assert_true(em_digest_eq(digest[0], digest[1]));
}

static void failures_are_kept_and_downgrade_nothing(void **state)
{
  (void)state;
  put_golden("g.json", POINTWISE_ROW("a", "5", "f4") "," POINTWISE_ROW("b", "6", "f2"));
  em_store *s = opened("bench.db", EM_STORE_WRITE);
  import_only(s, "g.json");
  em_store_close(s);
  run_sql("bench.db", "UPDATE perf SET status = 'failed', us = NULL, golden = 0, error = 'timeout', label = NULL");
  s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "bench.db");
  assert_int_equal(counts(s).failed, 2);
  assert_evidence(s,
                  HEAD "\n  nan nan - - g.json failed " POINT("f2") "\n  nan nan - - g.json failed " POINT("f4") "\n");
  put_golden("better.json", POINTWISE_ROW("c", "7", "f2"));
  import_only(s, "better.json"); /* a measurement replaces a failure */
  assert_evidence(s, HEAD
                  "\n  7 nan - c better.json golden " POINT("f2") "\n  nan nan - - g.json failed " POINT("f4") "\n");
  em_store_close(s);
  s = opened("b.db", EM_STORE_WRITE);
  import_only(s, "g.json");
  import_only(s, "bench.db"); /* a failure replaces nothing */
  assert_int_equal(counts(s).failed, 0);
  assert_int_equal(counts(s).measured, 2);
  em_store_close(s);
}

static void a_bench_row_keeps_the_golden_mark(void **state)
{
  (void)state;
  put_golden("g.json", POINTWISE_ROW("a", "5", "f4"));
  em_store *s = opened("bench.db", EM_STORE_WRITE);
  import_only(s, "g.json");
  em_store_close(s);
  run_sql("bench.db",
          "UPDATE perf SET us = 4, golden = 0, label = NULL; UPDATE source SET digest = 'bench', name = 'bench'");
  for (int order = 0; order < 2; order++) {
    s = opened(order ? "a.db" : "b.db", EM_STORE_WRITE);
    import_only(s, order ? "g.json" : "bench.db");
    import_only(s, order ? "bench.db" : "g.json");
    assert_evidence(s, HEAD "\n  4 nan - a bench golden " POINT("f4") "\n");
    em_store_close(s);
  }
}

static void regimes_and_sizes_are_pools_of_their_own(void **state)
{
  (void)state;
#define VARIANT(us, pins, bindings)                                                                                    \
  "{\"name\":\"r\",\"kernel\":\"k\",\"bindings\":" bindings ",\"pins\":" pins                                          \
  ",\"knobs\":{},\"measurements\":{\"emmy_us\":" us "}}"
  put_golden("g.json",
             VARIANT("1", "{\"FAST_MATH\":true}", "{}") "," VARIANT("2", "{\"FAST_MATH\":false}", "{}") "," VARIANT(
               "3", "{\"COLD_CACHE\":true}",
               "{}") "," VARIANT("4", "{}", "{\"n\":8}") "," VARIANT("5", "{}", "{\"n\":7,\"a\":1}"));
  em_store *s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "g.json");
  assert_int_equal(counts(s).pools, 5);
  assert_int_equal(counts(s).schedules, 1);
  char *got = evidence_of(s);
  assert_non_null(strstr(got, "k [] a=1 n=7\n  5 "));
  assert_non_null(strstr(got, "k [--use_fast_math]\n  1 "));
  assert_non_null(strstr(got, "k [cold-cache]\n  3 "));
  em_free(got);
  em_store_close(s);
}

static void a_store_imports_a_store(void **state)
{
  (void)state;
  char *ir = pointwise_ir("exp");
  char *text = golden_text(ir,
                           "\"routing\":[{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g2a\"},\"children\":[\"k\"]},"
                           "{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g4k\"},\"children\":[\"k\",\"k\"]}],",
                           POINTWISE_ROW("a\\u001bb", "1.5", "f4") ",{\"name\":\"p\",\"kernel\":\"k\",\"knobs\":{}}");
  put_text("g.json", text);
  em_store *a = opened("a.db", EM_STORE_WRITE);
  import_only(a, "g.json");
  em_store_close(a);
  em_store *b = opened("b.db", EM_STORE_WRITE);
  em_import i = imported(b, "a.db");
  assert_int_equal(i.kernels, 1);
  assert_int_equal(i.routing, 2);
  assert_int_equal(i.measured, 1);
  assert_int_equal(i.proposals, 1);
  em_import_free(&i);
  i = imported(b, "a.db");
  assert_true(i.already);
  em_import_free(&i);
  i = imported(b, "g.json"); /* everything of it came with the store */
  assert_true(i.already);
  em_import_free(&i);
  assert_int_equal(counts(b).routing, 2);
  assert_evidence(b, HEAD "\n  1.5 nan - a\x1b"
                          "b g.json golden " POINT("f4") "\n");
  em_store_close(b);
  em_free(text);
  em_free(ir);
}

static size_t bad_things(em_store *s, const char *what)
{
  em_store_check c[16];
  size_t n, sum = 0;
  em_err err;
  if (em_store_verify(s, c, N_OF(c), &n, &err)) fail_msg("%s", err.msg);
  for (size_t i = 0; i < n; i++)
    if (!what || strstr(c[i].what, what)) sum += c[i].count;
  return sum;
}

/* What no golden file could say of a measurement; `expected` is of the error, `read` says that the evidence cannot be
 * read either. */
static const struct {
  const char *sql, *expected;
  bool read;
} wrong_rows[] = {
  {"UPDATE perf SET us = 9e999", "time is none", true},
  {"UPDATE perf SET us = -1", "time is none", true},
  {"UPDATE perf SET us = NULL", "time is none", true},
  {"UPDATE perf SET reference_us = 9e999", "time is none", true},
  {"UPDATE perf SET status = 'failed'", "time is none", true},
  {"UPDATE perf SET status = 'good'", "unknown status", true},
  {"UPDATE perf SET opt = 4", "regime", true},
  {"UPDATE perf SET opt = 1 << 32", "regime", true},
  {"UPDATE perf SET fast_math = 2", "regime", false},
  {"UPDATE perf SET golden = -1", "regime", false},
  {"UPDATE perf SET bindings = 'x'", "bindings", true},
  {"UPDATE perf SET bindings = '{\"n\":0}'", "bindings.n", true},
  {"UPDATE perf SET bindings = '{ \"n\":1}'", "expected the spelling {\"n\":1}", false},
  {"UPDATE perf SET pins = '{\"COLD_CACHE\":1}'", "pins.COLD_CACHE", false},
  {"UPDATE perf SET pins = '{'", "pins", false},
};

static void wrong_rows_are_found(void **state)
{
  (void)state;
  put_golden("g.json", POINTWISE_ROW("a", "5", "f4"));
  for (size_t i = 0; i < N_OF(wrong_rows); i++) {
    em_err err;
    em_import out;
    em_str text = {0};
    char sql[200];
    em_store *s = opened("x.db", EM_STORE_FRESH);
    import_only(s, "g.json");
    assert_int_equal(em_store_commit(s, &err), EM_OK);
    em_store_close(s);
    snprintf(sql, sizeof sql, "PRAGMA ignore_check_constraints = 1; %s", wrong_rows[i].sql);
    run_sql("x.db", sql);
    s = opened("to.db", EM_STORE_WRITE);
    assert_int_equal(em_store_import(s, in_scratch("x.db"), NULL, &out, &err), EM_E_INPUT);
    if (!strstr(err.msg, wrong_rows[i].expected) || !strstr(err.msg, "x.db"))
      fail_msg("\"%s\" lacks \"%s\"", err.msg, wrong_rows[i].expected);
    em_store_close(s);
    s = opened("x.db", EM_STORE_READ);
    if (bad_things(s, "measurements") != 1) fail_msg("not found: %s", wrong_rows[i].sql);
    assert_int_equal(em_store_each_evidence(s, describe, &text, &err), wrong_rows[i].read ? EM_E_INPUT : EM_OK);
    em_str_free(&text);
    em_store_close(s);
  }
}

/* It would become a source of itself, another one each time. */
static void a_store_is_no_source_of_itself(void **state)
{
  (void)state;
  em_err err;
  em_import i;
  put_golden("g.json", POINTWISE_ROW("a", "5", "f4"));
  em_store *s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "g.json");
  assert_int_equal(em_store_import(s, in_scratch("./a.db"), NULL, &i, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "imported into"));
  assert_int_equal(counts(s).sources, 1);
  em_store_close(s);
}

static void a_damaged_store_is_not_imported(void **state)
{
  (void)state;
  static const struct {
    const char *sql, *expected;
  } cases[] = {
    {"UPDATE kernel SET identity = '00000000000000000000000000000000'", "identity is not that of its definition"},
    {"UPDATE kernel SET loop_ir = '{}'", "x.db"},
    {"UPDATE schedule SET knobs = '{\"WORK\":\"\",\"REDUCE\":\"g2a\",\"RASTER\":\"\"}'", "knobs.REDUCE"},
    {"UPDATE schedule SET knobs = '[]'", "knobs are not an object"},
    {"UPDATE schedule SET knobs = '{'", "line 1"},
    {"DROP TABLE routing_child", "damaged"},
  };
  put_golden("g.json", POINTWISE_ROW("a", "5", "f4"));
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_store *s = opened("x.db", EM_STORE_FRESH);
    em_err err;
    import_only(s, "g.json");
    assert_int_equal(em_store_commit(s, &err), EM_OK);
    em_store_close(s);
    run_sql("x.db", cases[i].sql);
    s = opened("to.db", EM_STORE_WRITE);
    em_import out;
    assert_int_equal(em_store_import(s, in_scratch("x.db"), NULL, &out, &err), EM_E_INPUT);
    if (!strstr(err.msg, cases[i].expected)) fail_msg("\"%s\" lacks \"%s\"", err.msg, cases[i].expected);
    assert_int_equal(counts(s).kernels + counts(s).sources, 0);
    em_store_close(s);
  }
}

/* ---- batches, kills, cancelling ------------------------------------------------------------ */

static void a_batch_is_all_or_nothing(void **state)
{
  (void)state;
  em_err err;
  em_import i;
  put_golden("a.json", POINTWISE_ROW("a", "5", "f4"));
  put_golden("b.json", POINTWISE_ROW("b", "6", "f2"));
  put_golden("bad.json", POINTWISE_ROW("b", "6", "f2") "," POINTWISE_ROW("b", "-6", "f2"));
  em_store *s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "a.json");
  assert_int_equal(em_store_begin(s, &err), EM_OK);
  import_only(s, "b.json");
  assert_int_equal(em_store_import(s, in_scratch("bad.json"), NULL, &i, &err), EM_E_INPUT);
  assert_int_equal(counts(s).measured, 2); /* the bad one alone is undone */
  em_store_close(s);
  s = opened("a.db", EM_STORE_FRESH);
  import_only(s, "b.json");
  em_store_close(s);
  s = opened("a.db", EM_STORE_READ);
  assert_evidence(s, HEAD "\n  5 nan - a a.json golden " POINT("f4") "\n");
  em_store_close(s);
}

static void die(void *ctx, const char *what, size_t done, size_t total)
{
  (void)ctx, (void)what, (void)done, (void)total;
  raise(SIGKILL);
}

static void a_kill_leaves_a_store_that_opens(void **state)
{
  (void)state;
  put_golden("a.json", POINTWISE_ROW("a", "5", "f4"));
  put_golden("b.json", POINTWISE_ROW("b", "6", "f2"));
  em_store *s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "a.json");
  em_store_close(s);
  for (int mode = EM_STORE_WRITE; mode <= EM_STORE_FRESH; mode++) {
    pid_t child = fork();
    if (child == 0) {
      em_import i;
      em_err err;
      em_progress p = {.report = die};
      if (em_store_open(in_scratch("a.db"), (em_store_mode)mode, &s, &err) == EM_OK)
        (void)!em_store_import(s, in_scratch("b.json"), &p, &i, &err);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    s = opened("a.db", EM_STORE_READ);
    assert_evidence(s, HEAD "\n  5 nan - a a.json golden " POINT("f4") "\n");
    em_store_close(s);
  }
  s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "b.json");
  assert_int_equal(counts(s).measured, 2);
  em_store_close(s);
}

static void cancelling_leaves_nothing(void **state)
{
  (void)state;
  put_golden("a.json", POINTWISE_ROW("a", "5", "f4"));
  volatile int cancel = 1;
  em_progress p = {.cancel = &cancel};
  em_import i;
  em_err err;
  em_store *s = opened("a.db", EM_STORE_WRITE);
  assert_int_equal(em_store_import(s, in_scratch("a.json"), &p, &i, &err), EM_E_CANCEL);
  assert_int_equal(counts(s).kernels, 0);
  import_only(s, "a.json");
  em_store_close(s);
}

/* ---- checks --------------------------------------------------------------------------------- */

static void damage_is_found(void **state)
{
  (void)state;
  static const struct {
    const char *sql, *what;
  } cases[] = {
    {"DELETE FROM schedule", "missing row"},
    {"UPDATE kernel SET identity = '00000000000000000000000000000000'", "identity"},
    {"UPDATE schedule SET digest = '0'", "digest"},
    {"UPDATE schedule SET knobs = '{\"WORK\":\"\",\"REDUCE\":\"g2a\",\"RASTER\":\"\"}'", "kernel-set decision"},
    {"UPDATE schedule SET knobs = '{\"WORK\":\"t032\",\"RASTER\":\"\"}'", "not canonical"},
    {"UPDATE routing SET arm = '{\"TILE\":\"f4\"}'", "decisions with a schedule knob"},
    {"DELETE FROM routing_child", "make no kernel"},
    {"UPDATE card SET gpu_name = 'Voodoo 2'", "not in the table of cards"},
  };
  char *ir = pointwise_ir("exp");
  char *text = golden_text(ir, "\"routing\":[{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g2a\"},\"children\":[\"k\"]}],",
                           POINTWISE_ROW("fast", "1.5", "f4"));
  put_text("g.json", text);
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_err err;
    em_store *s = opened("a.db", EM_STORE_FRESH);
    import_only(s, "g.json");
    assert_int_equal(em_store_commit(s, &err), EM_OK);
    assert_int_equal(bad_things(s, NULL), 0);
    em_store_close(s);
    run_sql("a.db", cases[i].sql);
    s = opened("a.db", EM_STORE_READ);
    if (bad_things(s, cases[i].what) != 1) fail_msg("not found: %s", cases[i].what);
    em_store_close(s);
  }
  em_free(text);
  em_free(ir);
}

/* ---- evidence -------------------------------------------------------------------------------- */

static void files_give_the_evidence_of_a_store(void **state)
{
  (void)state;
  em_golden *g[2];
  em_err err;
  em_str direct = {0};
  put_golden("a.json", POINTWISE_ROW("slow", "9", "f4") "," POINTWISE_ROW("two", "2", "f2"));
  put_golden("b.json", POINTWISE_ROW("quick", "3", "f4"));
  em_store *s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "a.json");
  import_only(s, "b.json");
  char *stored = evidence_of(s);
  em_store_close(s);
  assert_int_equal(em_golden_read(in_scratch("a.json"), &g[0], &err), EM_OK);
  assert_int_equal(em_golden_read(in_scratch("b.json"), &g[1], &err), EM_OK);
  assert_int_equal(em_store_of_goldens((const em_golden *const *)g, 2, &s, &err), EM_OK);
  assert_int_equal(em_store_each_evidence(s, describe, &direct, &err), EM_OK);
  assert_string_equal(direct.s, stored);
  em_store_close(s);
  em_golden_free(g[0]);
  em_golden_free(g[1]);
  em_str_free(&direct);
  em_free(stored);
}

static int list_piece(void *ctx, const em_routing_piece *p, em_err *err)
{
  (void)err;
  em_str_printf(ctx, "%s %s %zu/%zu %s%s %s\n", p->parent, p->arm, p->position, p->n, p->child,
                p->formed ? "" : " unformed", p->source);
  return em_digest_eq(p->parent_identity, p->child_identity) ? 0 : 78;
}

static int read_routing(em_store *s, em_err *err)
{
  em_str out = {0};
  int rc = em_store_each_routing(s, list_piece, &out, err);
  if (!rc) rc = em_str_finish(&out, err);
  em_str_free(&out);
  return rc;
}

static int stop_at_piece(void *ctx, const em_routing_piece *p, em_err *err)
{
  (void)p, (void)err;
  ++*(int *)ctx;
  return 77;
}

static void decisions_are_read_piece_by_piece(void **state)
{
  (void)state;
  em_err err;
  em_str out = {0};
  int calls = 0;
  char *ir = pointwise_ir("exp");
  char *text = golden_text(ir,
                           "\"routing\":[{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g4k\"},\"children\":[\"k\",\"k\"]},"
                           "{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g2a\"},\"children\":[\"k\"]}],",
                           POINTWISE_ROW("a", "1.5", "f4"));
  put_text("g.json", text);
  em_store *s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "g.json");
  assert_int_equal(em_store_each_routing(s, list_piece, &out, &err), EM_OK);
  assert_string_equal(out.s, "k {\"REDUCE\":\"g2a\"} 0/1 k g.json\n"
                             "k {\"REDUCE\":\"g4k\"} 0/2 k g.json\nk {\"REDUCE\":\"g4k\"} 1/2 k g.json\n");
  assert_int_equal(em_store_each_routing(s, stop_at_piece, &calls, &err), 77);
  assert_int_equal(calls, 1);
  ASSERT_SURVIVES_NOMEM(read_routing(s, &err), (void)0);
  em_str_free(&out);
  em_store_close(s);
  em_free(text);
  em_free(ir);
}

static int stop_at_once(void *ctx, em_evidence *e, em_err *err)
{
  (void)err;
  ++*(int *)ctx;
  em_evidence_free(e);
  return 77;
}

static int list_source(void *ctx, const char *name, const char *digest, size_t rows)
{
  em_str_printf(ctx, "%s %zu %zu;", name, strlen(digest), rows);
  return 0;
}

static void a_reader_may_stop(void **state)
{
  (void)state;
  int calls = 0;
  em_err err;
  em_str sources = {0};
  put_golden("a.json", POINTWISE_ROW("a", "5", "f4"));
  put_golden("b.json", POINTWISE_ROW("b", "4", "f4") "," POINTWISE_ROW("b", "4", "f2"));
  em_store *s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "b.json");
  import_only(s, "a.json");
  assert_int_equal(em_store_each_evidence(s, stop_at_once, &calls, &err), 77);
  assert_int_equal(calls, 1);
  assert_int_equal(em_store_each_source(s, list_source, &sources, &err), EM_OK);
  assert_string_equal(sources.s, "a.json 32 0;b.json 32 2;");
  em_str_free(&sources);
  em_store_close(s);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static int import_into(const char *source, em_err *err)
{
  em_store *s;
  em_import i;
  int rc = em_store_open(in_scratch("m.db"), EM_STORE_FRESH, &s, err);
  if (rc) return rc;
  rc = em_store_import(s, in_scratch(source), NULL, &i, err);
  if (!rc) em_import_free(&i);
  em_store_close(s);
  return rc;
}

static int read_evidence(em_store *s, em_err *err)
{
  em_str out = {0};
  int rc = em_store_each_evidence(s, describe, &out, err);
  if (!rc) rc = em_str_finish(&out, err);
  em_str_free(&out);
  return rc;
}

static void memory_may_run_out(void **state)
{
  (void)state;
  em_err err;
  put_golden("a.json",
             POINTWISE_ROW("a", "5", "f4") ",{\"name\":\"s\",\"kernel\":\"k\",\"bindings\":{\"n\":3},\"knobs\":{},"
                                           "\"measurements\":{\"emmy_us\":1}}");
  ASSERT_SURVIVES_NOMEM(import_into("a.json", &err), (void)0);
  em_store *s = opened("a.db", EM_STORE_WRITE);
  import_only(s, "a.json");
  em_store_close(s);
  ASSERT_SURVIVES_NOMEM(import_into("a.db", &err), (void)0);
  s = opened("a.db", EM_STORE_READ);
  char *warm = evidence_of(s); /* statements are prepared once */
  em_free(warm);
  ASSERT_SURVIVES_NOMEM(read_evidence(s, &err), (void)0);
  em_store_close(s);
}

#define WITH_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
    WITH_SCRATCH(what_is_no_store_is_refused_and_left),
    WITH_SCRATCH(another_version_is_refused_but_may_be_replaced),
    WITH_SCRATCH(one_writer_at_a_time_and_readers_beside_it),
    WITH_SCRATCH(a_store_that_got_nothing_is_not_left_behind),
    cmocka_unit_test(the_default_path_follows_the_environment),
    WITH_SCRATCH(the_published_file_imports),
    WITH_SCRATCH(each_kind_of_row_is_counted),
    WITH_SCRATCH(rows_without_a_card_are_counted),
    WITH_SCRATCH(the_better_measurement_stays_in_any_order),
    WITH_SCRATCH(one_of_two_that_are_equal_stays_in_any_order),
    WITH_SCRATCH(failures_are_kept_and_downgrade_nothing),
    WITH_SCRATCH(a_bench_row_keeps_the_golden_mark),
    WITH_SCRATCH(regimes_and_sizes_are_pools_of_their_own),
    WITH_SCRATCH(a_store_imports_a_store),
    WITH_SCRATCH(wrong_rows_are_found),
    WITH_SCRATCH(a_store_is_no_source_of_itself),
    WITH_SCRATCH(a_damaged_store_is_not_imported),
    WITH_SCRATCH(a_batch_is_all_or_nothing),
    WITH_SCRATCH(a_kill_leaves_a_store_that_opens),
    WITH_SCRATCH(cancelling_leaves_nothing),
    WITH_SCRATCH(damage_is_found),
    WITH_SCRATCH(files_give_the_evidence_of_a_store),
    WITH_SCRATCH(decisions_are_read_piece_by_piece),
    WITH_SCRATCH(a_reader_may_stop),
    WITH_SCRATCH(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
