/*
 * bench_sql.c - SQL over a pool of a million candidates.
 *
 * The pool is a dataset made for this: the rows of a real pool, written several times over, with random numbers for
 * features, and a prior of 100 trees over them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "views/sql.h"

enum { LEAST_ROWS = 1000000, ROUNDS = 5 };

static char *const features[] = {(char *)"D_cells",      (char *)"D_grid",        (char *)"D_reuse",
                                 (char *)"D_smem_bytes", (char *)"D_stage_depth", (char *)"D_threads"};
enum { N_FEATURES = sizeof features / sizeof *features, DEPTH = 6, LEAVES = 1 << DEPTH, TREES = 100 };

static char folder[] = "/tmp/emmy-bench-XXXXXX";

static const char *in_folder(const char *name)
{
  static char paths[4][128];
  static size_t next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* ---- the dataset ---- */

/* One pool, whole, with few columns. */
static void export_pool(void)
{
  em_err err;
  em_golden *g;
  em_store *store;
  em_import imported;
  em_export_report report;
  const em_export_options o = {.features = "D_cells,D_grid,D_reuse,D_smem_bytes,D_stage_depth,D_threads"};
  bench_check(em_golden_new("NVIDIA H100 80GB", 9, 0, &g, &err), &err);
  bench_add_golden(g, bench_kernel("matmul", 2048, 2048, 2048, EM_F16), 10);
  bench_check(em_golden_write(g, in_folder("golden.json"), &err), &err);
  em_golden_free(g);
  bench_check(em_store_open(in_folder("db"), EM_STORE_WRITE, &store, &err), &err);
  bench_check(em_store_import(store, in_folder("golden.json"), NULL, &imported, &err), &err);
  em_import_free(&imported);
  bench_check(em_dataset_export(store, in_folder("dataset"), &o, NULL, &report, &err), &err);
  em_store_close(store);
}

static void write_matrix(size_t rows, size_t cols)
{
  em_err err;
  em_out *out;
  bench_check(em_out_open(in_folder("dataset/golden/0000.npy"), &out, &err), &err);
  em_npy_write(out, rows, cols);
  for (size_t i = 0; i < rows * cols; i++) {
    double v = em_rng_f64(3, 0, i);
    em_out_write(out, &v, sizeof v);
  }
  bench_check(em_out_commit(out, &err), &err);
}

static void repeat_rows(size_t times)
{
  em_err err;
  em_out *out;
  char *text;
  size_t len;
  bench_check(em_file_read(in_folder("dataset/golden/0000.rows"), &text, &len, &err), &err);
  bench_check(em_out_open(in_folder("dataset/golden/0000.rows"), &out, &err), &err);
  for (size_t i = 0; i < times; i++) em_out_write(out, text, len);
  bench_check(em_out_commit(out, &err), &err);
  em_free(text);
}

/* The manifest says how many candidates the pool has. */
static void set_total(size_t total)
{
  em_err err;
  em_out *out;
  char *text;
  size_t len;
  bench_check(em_file_read(in_folder("dataset/manifest.json"), &text, &len, &err), &err);
  cJSON *json = cJSON_ParseWithLength(text, len);
  cJSON *group = json ? cJSON_GetArrayItem(cJSON_GetObjectItem(json, "golden"), 0) : NULL;
  bool done = group && cJSON_ReplaceItemInObject(group, "total", cJSON_CreateNumber((double)total));
  char *fresh = done ? cJSON_Print(json) : NULL;
  if (!fresh) bench_check(em_fail(&err, EM_E_INPUT, "the manifest has no golden group with a total"), &err);
  bench_check(em_out_open(in_folder("dataset/manifest.json"), &out, &err), &err);
  em_out_write(out, fresh, strlen(fresh));
  bench_check(em_out_commit(out, &err), &err);
  cJSON_free(fresh);
  cJSON_Delete(json);
  em_free(text);
}

static size_t make_dataset(void)
{
  em_err err;
  em_dataset *d;
  export_pool();
  bench_check(em_dataset_open(in_folder("dataset"), EM_FEAT_VER, &d, &err), &err);
  size_t rows = em_dataset_group(d, 0)->n_rows, cols = em_dataset_group(d, 0)->cols.n;
  size_t times = (LEAST_ROWS + rows - 1) / rows;
  em_dataset_close(d);
  write_matrix(rows * times, cols);
  repeat_rows(times);
  set_total(rows * times);
  return rows * times;
}

static void make_prior(void)
{
  static em_tree_view trees[TREES];
  static em_split splits[TREES][DEPTH];
  static double values[TREES][LEAVES];
  const em_columns cols = {(char **)features, N_FEATURES};
  const em_model_build spec = {.n_features = N_FEATURES,
                               .feature_names = (const char *const *)features,
                               .has_nans = (const bool[N_FEATURES]){false},
                               .n_trees = TREES,
                               .trees = trees,
                               .scale = 1,
                               .loss = "QuerySoftMax"};
  em_err err;
  em_model *m;
  em_prior *p;
  for (size_t t = 0; t < TREES; t++) {
    for (size_t d = 0; d < DEPTH; d++)
      splits[t][d] = (em_split){(uint32_t)em_rng_below(4, 0, t * DEPTH + d, N_FEATURES),
                                (float)em_rng_below(4, 1, t * DEPTH + d, 60) / 60};
    for (size_t l = 0; l < LEAVES; l++) values[t][l] = em_rng_f64(4, 2, t * LEAVES + l);
    trees[t] = (em_tree_view){splits[t], DEPTH, values[t], values[t]};
  }
  bench_check(em_model_new(&spec, &m, &err), &err);
  bench_check(em_prior_new(m, &cols, EM_FEAT_VER, 1, NULL, &p, &err), &err);
  bench_check(em_prior_save(p, in_folder("prior.json"), &err), &err);
  em_prior_free(p);
}

/* ---- the questions ---- */

/* Reads every cell; how many there were. */
static size_t ask(em_sql *q, const char *text, double *seconds)
{
  em_err err;
  em_stmt *st;
  size_t used, cells = 0;
  bool row = true;
  double start = bench_now();
  bench_check(em_stmt_prepare(q, text, strlen(text), &st, &used, &err), &err);
  for (;;) {
    bench_check(em_stmt_step(st, &row, &err), &err);
    if (!row) break;
    for (size_t i = 0; i < em_stmt_n_columns(st); i++, cells++) {
      em_cell cell;
      em_stmt_cell(st, i, &cell);
    }
  }
  em_stmt_free(st);
  *seconds = bench_now() - start;
  return cells;
}

static double best_seconds(em_sql *q, const char *text, size_t *cells)
{
  double best = INFINITY, seconds;
  for (int round = 0; round < ROUNDS; round++) {
    *cells = ask(q, text, &seconds);
    if (seconds < best) best = seconds;
  }
  return best;
}

static void ask_all(em_session *s, size_t rows)
{
  static const char count[] = "select count(*) from candidates('bench')";
  em_err err;
  em_sql *q;
  size_t cells;
  double first;
  char what[96];
  bench_check(em_sql_open(s, NULL, &q, &err), &err);
  snprintf(what, sizeof what, "the first question: %zu candidates read and scored, %d cores", rows, em_cpu_count());
  ask(q, count, &first);
  bench_figure("sql first", first, "s", "-", what);
  bench_figure("sql count", 1e3 * best_seconds(q, count, &cells), "ms", "< 20", "count(*) of the same, now scored");
  double top = best_seconds(q, "select * from candidates('bench') order by rank limit 10", &cells);
  bench_figure("sql top 10", 1e3 * top, "ms", "< 5", "* order by rank limit 10");
  double all = best_seconds(q, "select * from candidates('bench')", &cells);
  snprintf(what, sizeof what, "*: %zu cells in %.2f s", cells, all);
  bench_figure("sql scan", (double)cells / all / 1e6, "M cells/s", ">= 5", what);
  em_sql_close(q);
}

void bench_sql(void)
{
  em_err err;
  em_session *s;
  if (!mkdtemp(folder)) bench_check(em_fail_errno(&err, EM_E_ENV, errno, "%s", folder), &err);
  size_t rows = make_dataset();
  make_prior();
  const char *source = in_folder("dataset");
  const em_session_options o = {
    .sources = &source, .n_sources = 1, .prior = in_folder("prior.json"), .feat_ver = EM_FEAT_VER};
  bench_check(em_session_open(&o, &s, &err), &err);
  ask_all(s, rows);
  em_session_close(s);
  bench_remove_tree(folder);
}
