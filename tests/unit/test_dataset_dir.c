/* The dataset directory: what export writes, what the loader believes. */
#include "tests/unit/goldens.h"

#include <math.h>
#include <sqlite3.h>

#include "core/dataset/dataset.h"
#include "tests/unit/scratch.h"

/* ---- a store with two cards, several kinds and an outsider -------------------------- */

#define KERNEL(ir, name) "{\"loop_ir\":%s,\"name\":\"" name "\",\"formed\":true}"
#define ROW(name, kernel, us, knobs)                                                                                   \
  "{\"name\":\"" name "\",\"kernel\":\"" kernel "\",\"knobs\":{" knobs "},\"measurements\":{\"emmy_us\":" us "}}"
#define POINT(tile) "\"WORK\":\"\",\"TILE\":\"" tile "\",\"RASTER\":\"\""
#define MATMUL      "\"WORK\":\"t32x8\",\"TILE\":\"f2x4\",\"REDUCE\":\"\",\"STAGE\":\"d2/smem-async\",\"RASTER\":\"\""

static void put_golden(const char *name, const char *card, const char *cap, const char *rows)
{
  char *exp_ir = pointwise_ir("exp"), *log_ir = pointwise_ir("log");
  char *mm = loop_ir_of(&(em_build){.kind = "matmul", .m = 64, .n = 64, .k = 64, .in = EM_F32});
  char *text = text_of("{\"gpu_name\": \"%s\",\n \"compute_cap\": %s,\n \"kernels\": [" KERNEL(ir, "k_exp") "," KERNEL(
                         ir, "k_log") "," KERNEL(ir, "k_mm") "],\n \"rows\": [%s]}\n",
                       card, cap, exp_ir, log_ir, mm, rows);
  put_file(in_scratch(name), text, strlen(text));
  em_free(text);
  em_free(exp_ir);
  em_free(log_ir);
  em_free(mm);
}

static void fill_store(void)
{
  em_store *s;
  em_err err;
  put_golden("a.json", CARD, CAP,
             ROW("exp", "k_exp", "3.5", POINT("f4")) "," ROW("log", "k_log", "4", POINT("f2")) "," ROW(
               "mm", "k_mm", "20", MATMUL) "," ROW("out", "k_mm", "10",
                                                   "\"WORK\":\"t32x8\",\"TILE\":\"f2x4\",\"REDUCE\":\"\","
                                                   "\"STAGE\":\"d9/smem-async\",\"RASTER\":\"\""));
  put_golden("b.json", "NVIDIA H100 80GB", "[9, 0]",
             ROW("exp", "k_exp", "1.5", POINT("")) "," ROW("out", "k_log", "1",
                                                           "\"WORK\":\"t128x8\",\"TILE\":\"\",\"RASTER\":\"\""));
  if (em_store_open(in_scratch("s.db"), EM_STORE_WRITE, &s, &err)) fail_msg("%s", err.msg);
  for (int i = 0; i < 2; i++) {
    em_import out;
    if (em_store_import(s, in_scratch(i ? "b.json" : "a.json"), NULL, &out, &err)) fail_msg("%s", err.msg);
    em_import_free(&out);
  }
  em_store_close(s);
}

static void run_sql(const char *sql)
{
  sqlite3 *db;
  assert_int_equal(sqlite3_open(in_scratch("s.db"), &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
  sqlite3_close(db);
}

static int export_with(const char *dir, const em_export_options *o, em_export_report *r, em_err *err)
{
  em_store *s;
  int rc = em_store_open(in_scratch("s.db"), EM_STORE_READ, &s, err);
  if (rc) return rc;
  rc = em_dataset_export(s, in_scratch(dir), o, NULL, r, err);
  em_store_close(s);
  return rc;
}

static em_export_report exported(const char *dir, const em_export_options *o)
{
  em_export_report r;
  em_err err;
  if (export_with(dir, o, &r, &err)) fail_msg("%s", err.msg);
  return r;
}

static em_dataset *loaded(const char *dir)
{
  em_dataset *d;
  em_err err;
  if (em_dataset_open(in_scratch(dir), EM_FEAT_VER, &d, &err)) fail_msg("%s", err.msg);
  return d;
}

static char *content(const char *path)
{
  char *text;
  size_t len;
  em_err err;
  if (em_file_read(in_scratch(path), &text, &len, &err)) fail_msg("%s", err.msg);
  return text;
}

/* ---- what is written ------------------------------------------------------------------ */

static void groups_come_in_the_order_of_the_evidence(void **state)
{
  (void)state;
  fill_store();
  em_export_report r = exported("d", &(em_export_options){.pool_sample = 0});
  assert_int_equal(r.golden_groups, 4);
  assert_int_equal(r.pools, 4);
  assert_int_equal(r.skipped, 2);
  em_dataset *d = loaded("d");
  static const struct {
    const char *gpu, *name, *tier, *label;
    size_t rows;
  } groups[] = {
    {CARD, "k_exp.", "pointwise", "exp", 5},
    {CARD, "k_log.", "pointwise", "log", 5},
    {CARD, "k_mm.", "thread", "mm", 0},
    {"NVIDIA H100 80GB", "k_exp.", "pointwise", "exp", 5},
  };
  assert_int_equal(em_dataset_n_groups(d), N_OF(groups));
  for (size_t i = 0; i < N_OF(groups); i++) {
    const em_group *g = em_dataset_group(d, i);
    assert_string_equal(g->gpu, groups[i].gpu);
    assert_memory_equal(g->name, groups[i].name, strlen(groups[i].name));
    assert_string_equal(g->tier, groups[i].tier);
    assert_string_equal(g->label, groups[i].label);
    assert_int_equal(g->total, g->n_rows);
    assert_int_equal(g->n_golden, 1);
    assert_false(g->measured || g->dynamic);
    assert_null(g->latency_us);
    assert_int_equal(g->n_pools, 1);
    assert_string_equal(g->pools[0].bindings, "{}");
    assert_string_equal(g->pools[0].cap, i == 3 ? "9.0" : "8.9");
  }
  const em_group_pool *mm = &em_dataset_group(d, 2)->pools[0];
  assert_int_equal(mm->n_rows, 2); /* with the one outside */
  assert_string_equal(mm->rows[1].knobs, "{" MATMUL "}");
  assert_true(mm->rows[1].us == 20);
  assert_string_equal(mm->rows[1].source, "a.json");
  em_dataset_close(d);
}

static void rows_and_features_are_those_of_the_pool(void **state)
{
  (void)state;
  em_err err;
  fill_store();
  exported("d", &(em_export_options){.pool_sample = 50, .seed = 3});
  em_dataset *d = loaded("d");
  const em_group *g = em_dataset_group(d, 2);
  const em_kernel *k;
  const char *text;
  size_t len;
  assert_int_equal(g->n_rows, 50);
  assert_true(g->total > 50);
  assert_int_equal(em_dataset_kernel(d, g->pools[0].kernel, &k, &err), EM_OK);
  assert_string_equal(em_kernel_name(k), "k_mm");
  assert_int_equal(em_dataset_row(d, 2, g->golden_ids[0], &text, &len, &err), EM_OK);
  assert_int_equal(len, strlen("WORK=t32x8 TILE=f2x4 REDUCE= STAGE=d2/smem-async RASTER="));
  assert_memory_equal(text, "WORK=t32x8 TILE=f2x4 REDUCE= STAGE=d2/smem-async RASTER=", len);
  em_row rows[50];
  double *again = em_calloc(50 * g->cols.n, sizeof *again);
  em_space *space;
  em_featurizer *f;
  const em_card *card = em_card_lookup(CARD);
  assert_int_equal(em_dataset_rows(d, 2, rows, &err), EM_OK);
  assert_int_equal(em_space_open(k, card, EM_REGIME_DEFAULT, &space, &err), EM_OK);
  assert_int_equal(em_featurizer_open(k, card, EM_REGIME_DEFAULT, space, &g->cols, &f, &err), EM_OK);
  em_featurize(f, rows, 50, again);
  for (size_t i = 0; i < 50 * g->cols.n; i++)
    assert_true(again[i] == g->matrix[i] || (isnan(again[i]) && isnan(g->matrix[i])));
  em_featurizer_free(f);
  em_space_free(space);
  em_free(again);
  em_fit_group groups[4];
  em_dataset_fit_groups(d, EM_LABELS_GOLDEN, groups);
  assert_ptr_equal(groups[2].matrix, g->matrix);
  assert_int_equal(groups[2].total, g->total);
  em_dataset_close(d);
}

static void what_was_lost_is_listed_and_counted(void **state)
{
  (void)state;
  fill_store();
  run_sql("UPDATE kernel SET formed = 0 WHERE name = 'k_exp'");
  exported("d", &(em_export_options){.pool_sample = 50});
  em_dataset *d = loaded("d");
  const em_skips *s = em_dataset_skipped(d);
  assert_int_equal(s->n, 4);
  assert_memory_equal(s->items[0].name, "k_exp.", 6);
  assert_non_null(strstr(s->items[0].reason, "not formed"));
  assert_non_null(strstr(s->items[1].reason, "candidates: out: STAGE d9/smem-async"));
  size_t n;
  const em_reason *r = em_dataset_dropped(d, false, &n);
  assert_int_equal(n, 2);
  assert_string_equal(r[0].reason, "golden not in N candidates");
  assert_int_equal(r[0].count, 2);
  assert_string_equal(r[1].reason, "not formed");
  assert_int_equal(r[1].count, 2);
  em_dataset_close(d);
}

static void same_bytes_with_any_number_of_threads(void **state)
{
  (void)state;
  static const char *const files[] = {"manifest.json",   "golden/0000.npy",  "golden/0001.npy", "golden/0002.npy",
                                      "golden/0003.npy", "golden/0000.rows", "golden/0002.rows"};
  char a[64], b[64], left[33], right[33];
  em_err err;
  fill_store();
  exported("d1", &(em_export_options){.pool_sample = 50, .threads = 1});
  exported("d2", &(em_export_options){.pool_sample = 50, .threads = 3});
  exported("d2", &(em_export_options){.pool_sample = 50, .threads = 2}); /* replaces a dataset */
  assert_int_equal(count_entries(in_scratch("d2")), 3);
  assert_int_equal(count_entries(in_scratch("d2/golden")), 8);
  for (size_t i = 0; i < N_OF(files); i++) {
    snprintf(a, sizeof a, "d1/%s", files[i]);
    snprintf(b, sizeof b, "d2/%s", files[i]);
    assert_int_equal(em_file_digest(in_scratch(a), left, &err), EM_OK);
    assert_int_equal(em_file_digest(in_scratch(b), right, &err), EM_OK);
    assert_string_equal(left, right);
  }
}

static void identical_pools_are_one_group(void **state)
{
  (void)state;
  fill_store();
  em_export_report r = exported("d", &(em_export_options){.pool_sample = 0, .features = "D_*"});
  assert_int_equal(r.merged, 1); /* exp and log differ in their stamps alone */
  em_dataset *d = loaded("d");
  const em_group *g = em_dataset_group(d, 0);
  assert_int_equal(em_dataset_n_groups(d), 3);
  assert_int_equal(g->n_pools, 2);
  assert_int_equal(g->n_golden, 2);
  assert_true(g->golden_ids[0] < g->golden_ids[1]);
  for (size_t i = 0; i < g->cols.n; i++)
    assert_true(!strncmp(g->cols.names[i], "D_", 2) || !strcmp(g->cols.names[i], "S_ext_n_symbolic_axis"));
  em_dataset_close(d);
}

static void bench_rows_make_measured_groups(void **state)
{
  (void)state;
  fill_store();
  run_sql("UPDATE perf SET golden = 0 WHERE kernel = (SELECT id FROM kernel WHERE name = 'k_mm')");
  run_sql("UPDATE perf SET status = 'failed', us = NULL WHERE us = 10");
  em_export_report r = exported("d", &(em_export_options){.pool_sample = 50});
  assert_int_equal(r.golden_groups, 3);
  assert_int_equal(r.measured_groups, 1);
  em_dataset *d = loaded("d");
  const em_group *g = em_dataset_group(d, 3);
  const char *text;
  size_t len, n;
  em_err err;
  assert_true(g->measured && g->h_opt == 3);
  assert_string_equal(g->label, "k_mm");
  assert_true(g->name[12] == '\0' && strncmp(g->shape, "contraction ", 12) == 0);
  assert_int_equal(g->n_rows, 1);
  assert_true(g->latency_us[0] == 20);
  em_fit_group groups[4];
  em_dataset_fit_groups(d, EM_LABELS_GOLDEN, groups);
  assert_true(groups[2].latency == NULL && !groups[2].watched && groups[3].watched);
  em_dataset_fit_groups(d, EM_LABELS_MEASURED, groups);
  assert_true(groups[2].watched && !groups[3].watched);
  em_dataset_fit_groups(d, EM_LABELS_BOTH, groups);
  assert_true(!groups[2].watched && !groups[3].watched && groups[3].h_opt == 3);
  assert_ptr_equal(groups[3].latency, g->latency_us);
  assert_int_equal(groups[3].n_positives, 1);
  assert_int_equal(groups[3].positives[0], 0);
  assert_memory_equal(g->key, CARD "/", strlen(CARD) + 1);
  assert_string_equal(g->key + strlen(g->key) - 3, "@O3");
  assert_int_equal(em_dataset_row(d, 3, 0, &text, &len, &err), EM_OK);
  assert_memory_equal(text, "WORK=t32x8 TILE=f2x4", 20);
  const em_reason *dropped = em_dataset_dropped(d, true, &n);
  assert_int_equal(n, 1);
  assert_string_equal(dropped[0].reason, "not a measurement");
  em_dataset_close(d);
}

static void only_a_dataset_is_replaced(void **state)
{
  (void)state;
  em_export_report r;
  em_err err;
  fill_store();
  assert_int_equal(mkdir(in_scratch("d"), 0777), 0);
  exported("d", &(em_export_options){.pool_sample = 50});
  assert_int_equal(mkdir(in_scratch("home"), 0777), 0);
  put_file(in_scratch("home/letter"), "x", 1);
  assert_int_equal(export_with("home", &(em_export_options){.pool_sample = 50}, &r, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "not a dataset"));
  assert_file_is(in_scratch("home/letter"), "x");
}

/* What a user put beside the files of a dataset would go with it. */
static void what_is_no_part_of_a_dataset_is_kept(void **state)
{
  (void)state;
  static const char *const strangers[] = {"d/store.db", "d/.hidden", "d/golden/0000.npy.orig", "d/measured/letter",
                                          "empty/.hidden"};
  em_export_report r;
  em_err err;
  fill_store();
  exported("d", &(em_export_options){.pool_sample = 50});
  assert_int_equal(mkdir(in_scratch("empty"), 0777), 0);
  for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
    const char *dir = strangers[i][0] == 'd' ? "d" : "empty";
    put_file(in_scratch(strangers[i]), "x", 1);
    assert_int_equal(export_with(dir, &(em_export_options){.pool_sample = 50}, &r, &err), EM_E_INPUT);
    assert_file_is(in_scratch(strangers[i]), "x");
    assert_int_equal(unlink(in_scratch(strangers[i])), 0);
    exported(dir, &(em_export_options){.pool_sample = 50});
  }
  assert_int_equal(export_with("d/.", &(em_export_options){.pool_sample = 50}, &r, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "the name of a folder"));
}

static void a_bad_column_leaves_the_old_dataset(void **state)
{
  (void)state;
  em_export_report r;
  em_err err;
  fill_store();
  exported("d", &(em_export_options){.pool_sample = 50});
  int entries = count_entries(scratch);
  assert_int_not_equal(export_with("d", &(em_export_options){.features = "D_thraeds"}, &r, &err), EM_OK);
  assert_int_equal(count_entries(scratch), entries);
  em_dataset_close(loaded("d"));
}

/* ---- what is not believed -------------------------------------------------------------- */

static void refuse_load(const char *dir, int feat_ver, const char *expected)
{
  em_dataset *d;
  em_err err;
  int64_t live = em_alloc_live();
  int rc = em_dataset_open(in_scratch(dir), feat_ver, &d, &err);
  if (rc != EM_E_INPUT || !strstr(err.msg, expected))
    fail_msg("code %d, \"%s\" lacks \"%s\"", rc, rc ? err.msg : "", expected);
  assert_int_equal(em_alloc_live(), live);
}

/* The text with its first `from` replaced by `to`. */
static char *replaced(const char *text, const char *from, const char *to)
{
  const char *at = strstr(text, from);
  if (!at) fail_msg("no \"%s\" in the manifest", from);
  em_str out = {0};
  em_str_putn(&out, text, (size_t)(at - text));
  em_str_put(&out, to);
  em_str_put(&out, at + strlen(from));
  return out.s;
}

static void a_manifest_that_lies_is_refused(void **state)
{
  (void)state;
  static const struct {
    const char *from, *to, *expected;
  } cases[] = {
    {"\"emmy-dataset\"", "\"other\"", "expected \"emmy-dataset\""},
    {"\"version\":2", "\"version\":1", "version: found version 1, expected 2; write it again with: emmy db export"},
    {"\"space\":\"schedule\"", "\"space\":\"placement\"", "expected \"schedule\""},
    {"\"matrix\":\"golden/0000.npy\"", "\"matrix\":\"golden/../../../etc/passwd\"", "golden[0].matrix: found"},
    {"\"matrix\":\"golden/0000.npy\"", "\"matrix\":\"/etc/passwd\"", "golden[0].matrix: found"},
    {"\"matrix\":\"golden/0000.npy\"", "\"matrix\":\"measured/0000.npy\"", "golden[0].matrix: found"},
    {"\"matrix\":\"golden/0000.npy\"", "\"matrix\":\"golden/.npy\"", "golden[0].matrix: found"},
    {"\"matrix\":\"golden/0000.npy\"", "\"matrix\":\"golden/9999.npy\"", "9999.npy"},
    {"\"matrix\":\"golden/0002.npy\"", "\"matrix\":\"golden/0000.npy\"",
     "golden[2].matrix: golden/0000.npy has the shape"},
    {"\"feat_names\":[\"", "\"feat_names\":[\"D_more\",\"", "golden[0].matrix: "},
    {"\"feat_names\":[", "\"feat_names\":[7,", "golden[0].feat_names[0]"},
    {"\"total\":5", "\"total\":4", "golden[0].total: found a pool of 4 with 5 rows"},
    {"\"total\":5", "\"total\":99999999999999999999", "golden[0].total"},
    {"\"golden_ids\":[", "\"golden_ids\":[77,", "golden[0].golden_ids[0]"},
    {"\"golden_ids\":[", "\"golden_ids\":[4,4,", "golden[0].golden_ids[1]: found 4 after 4"},
    {"\"golden_ids\":[3]", "\"golden_ids\":[]", "golden[0].golden_ids: "},
    {"\"kernel\":0", "\"kernel\":3", "golden[0].pools[0].kernel"},
    {"\"kernel\":0", "\"kernel\":-1", "golden[0].pools[0].kernel"},
    {"\"us\":3.5", "\"us\":0", "golden[0].pools[0].rows[0].us"},
    {"\"dynamic\":false", "\"dynamic\":0", "golden[0].dynamic"},
    {"\"identities\":[", "\"identities\":[\"x\",", "identities: found 4 identities for 3 kernels"},
    {"\"skipped\":[", "\"skipped\":[[1,2,3],", "skipped[0]"},
    {"\"dropped\":{\"golden\":{", "\"dropped\":{\"golden\":{\"x\":-1,", "dropped.golden.x"},
    {"\"measured\":[", "\"measured\":[3", "measured[0]"},
    {"\"format\"", "\"formats\"", "the member \"format\" is missing"},
  };
  fill_store();
  exported("d", &(em_export_options){.pool_sample = 0});
  char *manifest = content("d/manifest.json");
  for (size_t i = 0; i < N_OF(cases); i++) {
    char *lie = replaced(manifest, cases[i].from, cases[i].to);
    put_file(in_scratch("d/manifest.json"), lie, strlen(lie));
    refuse_load("d", EM_FEAT_VER, cases[i].expected);
    em_free(lie);
  }
  put_file(in_scratch("d/manifest.json"), manifest, strlen(manifest) / 2);
  refuse_load("d", EM_FEAT_VER, "line ");
  put_file(in_scratch("d/manifest.json"), manifest, strlen(manifest));
  refuse_load("d", EM_FEAT_VER + 1, "emmy db export --db FILE DIR (or read it with --feat-ver 101)");
  em_dataset_close(loaded("d"));
  em_free(manifest);
}

static void files_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  em_err err;
  em_dataset *d;
  const char *text;
  size_t len;
  fill_store();
  exported("d", &(em_export_options){.pool_sample = 0});
  refuse_load("nowhere", EM_FEAT_VER, "no such folder; write it with: emmy db export");
  assert_int_equal(truncate(in_scratch("d/golden/0001.npy"), 1000), 0);
  refuse_load("d", EM_FEAT_VER, "0001.npy");
  assert_int_equal(unlink(in_scratch("d/golden/0001.npy")), 0);
  refuse_load("d", EM_FEAT_VER, "0001.npy");
  exported("d", &(em_export_options){.pool_sample = 0});
  char *rows = content("d/golden/0000.rows");
  static const struct {
    const char *tail;
    int cut;
    const char *expected;
  } cases[] = {
    {"", 1, "found 4 whole lines, expected exactly 5"},
    {"", 30, "whole lines, expected exactly 5"},
    {"x", 0, "more than 5 whole lines"},
    {"x\n", 0, "more than 5 whole lines"},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    char *bad = text_of("%.*s%s", (int)strlen(rows) - cases[i].cut, rows, cases[i].tail);
    put_file(in_scratch("d/golden/0000.rows"), bad, strlen(bad));
    d = loaded("d");
    assert_int_equal(em_dataset_row(d, 0, 0, &text, &len, &err), EM_E_INPUT);
    if (!strstr(err.msg, cases[i].expected)) fail_msg("\"%s\" lacks \"%s\"", err.msg, cases[i].expected);
    em_dataset_close(d);
    em_free(bad);
  }
  put_file(in_scratch("d/golden/0000.rows"), "\n\n\n\nWORK=t0\n", 12);
  d = loaded("d");
  em_row parsed_rows[5];
  assert_int_equal(em_dataset_rows(d, 0, parsed_rows, &err), EM_E_INPUT);
  em_dataset_close(d);
  em_free(rows);
  assert_int_equal(unlink(in_scratch("d/manifest.json")), 0);
  refuse_load("d", EM_FEAT_VER, "interrupted export; write it again with: emmy db export");
}

/* ---- memory -------------------------------------------------------------------------------- */

static int load_and_close(em_err *err)
{
  em_dataset *d;
  const em_kernel *k;
  const char *text;
  size_t len;
  int rc = em_dataset_open(in_scratch("d"), EM_FEAT_VER, &d, err);
  if (rc) return rc;
  rc = em_dataset_row(d, 0, 1, &text, &len, err);
  if (!rc) rc = em_dataset_kernel(d, 0, &k, err);
  em_dataset_close(d);
  return rc;
}

static void memory_may_run_out(void **state)
{
  (void)state;
  em_err err;
  em_export_report r;
  fill_store();
  run_sql("DELETE FROM perf WHERE label IN ('mm', 'log')");
  run_sql("UPDATE perf SET golden = 0, status = 'ok', us = 2 WHERE us = 1");
  em_export_options o = {.pool_sample = 2, .threads = 1, .features = "D_threads,H_cc"};
  ASSERT_SURVIVES_NOMEM(export_with("d", &o, &r, &err), (void)0);
  ASSERT_SURVIVES_NOMEM(load_and_close(&err), (void)0);
}

#define WITH_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
    WITH_SCRATCH(groups_come_in_the_order_of_the_evidence),
    WITH_SCRATCH(rows_and_features_are_those_of_the_pool),
    WITH_SCRATCH(what_was_lost_is_listed_and_counted),
    WITH_SCRATCH(same_bytes_with_any_number_of_threads),
    WITH_SCRATCH(identical_pools_are_one_group),
    WITH_SCRATCH(bench_rows_make_measured_groups),
    WITH_SCRATCH(only_a_dataset_is_replaced),
    WITH_SCRATCH(what_is_no_part_of_a_dataset_is_kept),
    WITH_SCRATCH(a_bad_column_leaves_the_old_dataset),
    WITH_SCRATCH(a_manifest_that_lies_is_refused),
    WITH_SCRATCH(files_that_do_not_fit_are_refused),
    WITH_SCRATCH(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
