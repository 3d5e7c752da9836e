/*
 * bench.c - prints the figures that the project promises, measured now.
 *
 *   make bench                  all of them
 *   make bench ARGS="score"     those whose name starts with a word
 *
 * Each line: name, figure with unit, what was measured, and the promise.  Figures are the best of
 * several rounds: the machines are shared, and noise only slows.  Nothing is asserted.
 */
#include <math.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"

double bench_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_figure(const char *name, double value, const char *unit, const char *promise, const char *what)
{
  printf("%-28s %14.4g %-16s %s  (promised: %s)\n", name, value, unit, what, promise);
  fflush(stdout);
}

static void stop(const em_err *err)
{
  fprintf(stderr, "bench: %s\n", err->msg);
  exit(1);
}

void bench_check(int rc, const em_err *err)
{
  if (rc != EM_OK) stop(err);
}

/* ---- enumeration and features ---- */

em_kernel *bench_kernel(const char *kind, int64_t m, int64_t n, int64_t k, em_dtype in)
{
  em_err err;
  em_kernel *kernel;
  em_build b = {.kind = kind, .m = m, .n = n, .k = k, .in = in};
  bench_check(em_kernel_build(&b, &kernel, &err), &err);
  return kernel;
}

enum { BATCH = 4096 };

static size_t featurize_pool(const em_space *space, const em_featurizer *f, em_row *rows, double *matrix)
{
  size_t n = 0, got;
  em_space_cursor c = em_space_begin(space);
  while ((got = em_space_next(&c, rows, BATCH)) > 0) {
    if (f) em_featurize(f, rows, got, matrix);
    n += got;
  }
  return n;
}

static double best_rate(const em_space *space, const em_featurizer *f, em_row *rows, double *matrix)
{
  double best = 0;
  for (int round = 0; round < 5; round++) {
    double start = bench_now();
    size_t n = 0;
    for (int again = 0; again < 10; again++) n += featurize_pool(space, f, rows, matrix);
    double rate = (double)n / (bench_now() - start);
    if (rate > best) best = rate;
  }
  return best;
}

static void bench_enumerate(void)
{
  em_err err;
  const em_card *card;
  em_space *space;
  em_columns cols;
  em_featurizer *f;
  em_kernel *k = bench_kernel("matmul", 2048, 2048, 2048, EM_F16);
  bench_check(em_card_find("h100", &card, &err), &err);
  bench_check(em_space_open(k, card, EM_REGIME_DEFAULT, &space, &err), &err);
  bench_check(em_columns_all(k, &cols, &err), &err);
  bench_check(em_featurizer_open(k, card, EM_REGIME_DEFAULT, space, &cols, &f, &err), &err);
  em_row *rows = malloc(BATCH * sizeof *rows);
  double *matrix = malloc(BATCH * cols.n * sizeof *matrix);
  if (!rows || !matrix) exit(1);
  char what[96];
  snprintf(what, sizeof what, "2048^3 f16 matmul on h100, %llu candidates", (unsigned long long)em_space_count(space));
  bench_figure("enumerate", best_rate(space, NULL, rows, matrix) / 1e6, "M rows/s", "-", what);
  snprintf(what, sizeof what, "the same with %zu features, one core", cols.n);
  bench_figure("enumerate+featurize", best_rate(space, f, rows, matrix) / 1e6, "M rows/s", ">= 1", what);
  free(rows);
  free(matrix);
  em_featurizer_free(f);
  em_columns_free(&cols);
  em_space_free(space);
  em_kernel_free(k);
}

/* ---- memory of a whole pool, in a child so that its peak is its own ---- */

static size_t peak_bytes(void)
{
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (size_t)u.ru_maxrss * 1024;
}

static void fill_evidence(em_evidence *e, em_kernel *k)
{
  static em_evidence_row row;
  em_err err;
  bench_check(em_knobs_parse_text(
                "WORK=w2x2,TILE=mma_m16n8k16_f16_f32/f4x4/k2,REDUCE=,STAGE=d2/smem-async,RASTER=", &row.knobs, &err),
              &err);
  row.us = 100;
  row.reference_us = NAN;
  row.golden = row.ok = true;
  *e = (em_evidence){.kernel = k,
                     .identity = em_kernel_identity(k),
                     .kernel_name = (char *)em_kernel_name(k),
                     .formed = true,
                     .gpu_name = "NVIDIA H100 80GB",
                     .cc_major = 9,
                     .regime = EM_REGIME_DEFAULT,
                     .rows = &row,
                     .n_rows = 1};
}

static void bench_memory(void)
{
  fflush(stdout);
  if (fork() == 0) {
    em_err err;
    em_skips skips = {0};
    em_pool *pool;
    em_evidence e;
    em_kernel *k = bench_kernel("matmul", 2048, 2048, 2048, EM_F16);
    fill_evidence(&e, k);
    size_t before = peak_bytes();
    bench_check(em_pool_build(&e, 0, 0, NULL, &skips, &pool, &err), &err);
    if (!pool) {
      fprintf(stderr, "bench: %s\n", skips.items[0].reason);
      _exit(1);
    }
    bench_check(em_pool_featurize(pool, 1, &err), &err);
    size_t n = pool->n_rows, limit = n * (pool->cols.n * 8 + 64) + ((size_t)16 << 20);
    char what[96], promise[32];
    snprintf(what, sizeof what, "%zu candidates x %zu columns, whole pool", n, pool->cols.n);
    snprintf(promise, sizeof promise, "<= %.0f MiB", (double)limit / 1048576);
    bench_figure("pool memory", (double)(peak_bytes() - before) / 1048576, "MiB", promise, what);
    _exit(0);
  }
  wait(NULL);
}

/* ---- scoring ---- */

/* 200 trees of depth 6 over 43 columns, made from counters. */
static em_model *random_model(size_t n_trees)
{
  enum { FEATURES = 43, DEPTH = 6, LEAVES = 1 << DEPTH };
  em_err err;
  em_model *m;
  const char *names[FEATURES];
  bool has_nans[FEATURES] = {0};
  em_tree_view *trees = calloc(n_trees, sizeof *trees);
  em_split *splits = calloc(n_trees * DEPTH, sizeof *splits);
  double *values = calloc(n_trees * LEAVES, sizeof *values);
  if (!trees || !splits || !values) exit(1);
  for (size_t i = 0; i < FEATURES; i++) names[i] = "";
  for (size_t t = 0; t < n_trees; t++) {
    for (size_t d = 0; d < DEPTH; d++) {
      size_t i = t * DEPTH + d;
      splits[i] = (em_split){(uint32_t)em_rng_below(1, 0, i, FEATURES), (float)em_rng_below(1, 1, i, 60) / 60};
    }
    for (size_t l = 0; l < LEAVES; l++) values[t * LEAVES + l] = em_rng_f64(1, 2, t * LEAVES + l);
    trees[t] = (em_tree_view){.splits = splits + t * DEPTH,
                              .n_splits = DEPTH,
                              .leaf_values = values + t * LEAVES,
                              .leaf_weights = values + t * LEAVES}; /* positive numbers: all that explaining asks */
  }
  em_model_build b = {.n_features = FEATURES,
                      .feature_names = names,
                      .has_nans = has_nans,
                      .n_trees = n_trees,
                      .trees = trees,
                      .scale = 1,
                      .loss = "QuerySoftMax"};
  bench_check(em_model_new(&b, &m, &err), &err);
  free(trees);
  free(splits);
  free(values);
  return m;
}

static void score_with(size_t n_trees, const char *promise)
{
  enum { ROWS = 100000, FEATURES = 43 };
  em_err err;
  em_model *m = random_model(n_trees);
  int32_t col[FEATURES];
  double *matrix = malloc(sizeof(double) * ROWS * FEATURES), *quality = malloc(sizeof(double) * ROWS);
  if (!matrix || !quality) exit(1);
  for (size_t i = 0; i < (size_t)ROWS * FEATURES; i++) matrix[i] = em_rng_f64(2, 0, i);
  for (int i = 0; i < FEATURES; i++) col[i] = i;
  double best = 0, one = 1e9;
  for (int round = 0; round < 5; round++) {
    double start = bench_now();
    bench_check(em_model_score(m, matrix, ROWS, FEATURES, col, 1, quality, &err), &err);
    double rate = ROWS / (bench_now() - start);
    if (rate > best) best = rate;
    start = bench_now();
    for (int i = 0; i < 2000; i++)
      bench_check(em_model_score(m, matrix + i * FEATURES, 1, FEATURES, col, 1, quality, &err), &err);
    double each = (bench_now() - start) / 2000;
    if (each < one) one = each;
  }
  char what[64];
  snprintf(what, sizeof what, "%zu trees of depth 6, 43 columns, one core", n_trees);
  bench_figure("score", best / 1e6, "M rows/s", promise, what);
  bench_figure("score one row", one * 1e6, "us", n_trees == 200 ? "< 5" : "-", what);
  free(matrix);
  free(quality);
  em_model_free(m);
}

static void bench_score(void)
{
  score_with(200, ">= 2");
  score_with(1000, "-");
}

/* ---- explaining ---- */

/* tests/conformance/explain.py prints the ratio to CatBoost's time. */
static void bench_explain(void)
{
  enum { ROWS = 10000, FEATURES = 43 };
  em_err err;
  em_model *m = random_model(200);
  int32_t col[FEATURES];
  double *matrix = malloc(sizeof(double) * ROWS * FEATURES), *shap = malloc(sizeof(double) * ROWS * (FEATURES + 1));
  if (!matrix || !shap) exit(1);
  for (size_t i = 0; i < (size_t)ROWS * FEATURES; i++) matrix[i] = em_rng_f64(2, 0, i);
  for (int i = 0; i < FEATURES; i++) col[i] = i;
  double best = 1e9, pair = 1e9;
  for (int round = 0; round < 5; round++) {
    em_explainer *e;
    double start = bench_now();
    bench_check(em_explainer_new(m, &e, &err), &err);
    bench_check(em_explain_difference(e, matrix, matrix + FEATURES, col, shap, NULL, &err), &err);
    if (bench_now() - start < pair) pair = bench_now() - start;
    em_explainer_free(e);
    start = bench_now();
    bench_check(em_explainer_new(m, &e, &err), &err);
    bench_check(em_explain_rows(e, matrix, ROWS, FEATURES, col, 1, shap, &err), &err);
    if (bench_now() - start < best) best = bench_now() - start;
    em_explainer_free(e);
  }
  bench_figure("explain", best * 1e3, "ms", "a quarter of CatBoost's",
               "SHAP of 10,000 rows, 200 trees of depth 6, one core");
  bench_figure("explain a pair", pair * 1e3, "ms", "< 16", "two rows, from the model alone");
  free(matrix);
  free(shap);
  em_model_free(m);
}

/* ---- fitting ---- */

enum { FIT_GROUPS = 1000, FIT_ROWS = 350, FIT_COLUMNS = 43 };

/* Few values in some columns, many in others, as the features have them; tests/conformance/fit_speed.py makes the same kind. */
static double fit_value(size_t i)
{
  static const uint64_t values[] = {2, 6, 12, 40, 200, 5000};
  return (double)em_rng_below(3, 0, i, values[i % FIT_COLUMNS % 6]);
}

static double fit_seconds(const em_fit_group *groups, em_fit_params *p, int threads)
{
  em_err err;
  em_prior *prior;
  double best = 1e9;
  p->threads = threads;
  for (int round = 0; round < 3; round++) {
    double start = bench_now();
    bench_check(em_fit_train(groups, FIT_GROUPS, p, NULL, NULL, &prior, &err), &err);
    double t = bench_now() - start;
    if (t < best) best = t;
    em_prior_free(prior);
  }
  return best;
}

static void bench_fit(void)
{
  static char *names[FIT_COLUMNS], text[FIT_GROUPS][16];
  static em_fit_group groups[FIT_GROUPS];
  static uint32_t positive[FIT_GROUPS];
  const em_columns cols = {names, FIT_COLUMNS};
  em_fit_params p;
  size_t n = 0;
  for (size_t i = 0; i < em_n_features() && n < FIT_COLUMNS; i++) {
    const char *name = em_feature_at(i)->name;
    if (name[0] == 'D' && !strchr(name, '*')) names[n++] = (char *)name;
  }
  double *matrix = malloc(sizeof *matrix * FIT_GROUPS * FIT_ROWS * FIT_COLUMNS);
  if (!matrix || n < FIT_COLUMNS) exit(1);
  for (size_t i = 0; i < (size_t)FIT_GROUPS * FIT_ROWS * FIT_COLUMNS; i++) matrix[i] = fit_value(i);
  for (size_t g = 0; g < FIT_GROUPS; g++) {
    snprintf(text[g], sizeof text[g], "g/%zu", g);
    positive[g] = (uint32_t)em_rng_below(4, 0, g, FIT_ROWS);
    groups[g] = (em_fit_group){.key = text[g],
                               .gpu = "g",
                               .tier = "warp",
                               .shape = text[g],
                               .cols = &cols,
                               .rows = FIT_ROWS,
                               .matrix = matrix + g * FIT_ROWS * FIT_COLUMNS,
                               .total = FIT_ROWS,
                               .positives = &positive[g],
                               .n_positives = 1};
  }
  em_fit_defaults(&p);
  p.iterations = 200;
  p.depth = 6;
  p.bags = 1;
  p.features = "D_*";
  bench_figure("fit, 1 thread", fit_seconds(groups, &p, 1), "s", "half of CatBoost's",
               "350,000 rows x 43 columns, 1,000 groups, 200 trees of depth 6");
  bench_figure("fit, 2 threads", fit_seconds(groups, &p, 2), "s", "half of CatBoost's", "the same");
  free(matrix);
}

/* ---- store and dataset ---- */

void bench_remove_tree(const char *path)
{
  char command[512];
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  if (system(command) != 0) exit(1);
}

static double import_seconds(em_store *store, const char *path)
{
  em_err err;
  em_import report;
  double start = bench_now();
  bench_check(em_store_import(store, path, NULL, &report, &err), &err);
  double t = bench_now() - start;
  em_import_free(&report);
  return t;
}

void bench_add_golden(em_golden *g, em_kernel *k, double us)
{
  em_err err;
  em_evidence e;
  em_golden_row row = {.name = "bench",
                       .regime = EM_REGIME_DEFAULT,
                       .has_knobs = true,
                       .measured = true,
                       .us = us,
                       .reference_us = 20,
                       .reference_backend = "cublas",
                       .tried = -1};
  fill_evidence(&e, k);
  row.knobs = e.rows[0].knobs;
  bench_check(em_golden_add_kernel(g, k, true, &row.kernel, &err), &err);
  bench_check(em_golden_add_row(g, &row, &err), &err);
  em_knobs_free(&e.rows[0].knobs);
}

/* A golden file of at least a megabyte: many shapes of one kernel. */
static void write_big_golden(const char *path)
{
  em_err err;
  em_golden *g;
  bench_check(em_golden_new("NVIDIA H100 80GB", 9, 0, &g, &err), &err);
  for (int64_t i = 0; i < 900; i++)
    bench_add_golden(g, bench_kernel("matmul", 128 + 64 * (i % 30), 128 + 64 * (i / 30), 1024, EM_F16), 10 + (double)i);
  bench_check(em_golden_write(g, path, &err), &err);
  em_golden_free(g);
}

static void bench_store(void)
{
  em_err err;
  em_store *store;
  char folder[] = "/tmp/emmy-bench-XXXXXX", db[64], big[64], out[64], *golden, **paths;
  size_t n, len;
  if (!mkdtemp(folder)) exit(1);
  snprintf(db, sizeof db, "%s/db", folder);
  snprintf(big, sizeof big, "%s/big.json", folder);
  snprintf(out, sizeof out, "%s/dataset", folder);
  write_big_golden(big);
  char *text;
  bench_check(em_file_read(big, &text, &len, &err), &err);
  em_free(text);
  bench_check(em_store_open(db, EM_STORE_WRITE, &store, &err), &err);
  char what[96];
  snprintf(what, sizeof what, "a golden file of %.2f MB, 900 kernels", (double)len / 1e6);
  bench_figure("import", import_seconds(store, big), "s", "< 0.1 for 1 MB", what);
  em_store_close(store);

  snprintf(db, sizeof db, "%s/shipped", folder);
  bench_check(em_store_open(db, EM_STORE_WRITE, &store, &err), &err);
  bench_check(em_data_path("golden", &golden, &err), &err);
  bench_check(em_dir_list(golden, ".json", &paths, &n, &err), &err);
  double seconds = 0;
  for (size_t i = 0; i < n; i++) seconds += import_seconds(store, paths[i]);
  snprintf(what, sizeof what, "the %zu shipped golden files", n);
  bench_figure("import shipped", seconds, "s", "-", what);
  em_export_options o = {.pool_sample = 2000};
  em_export_report report;
  double start = bench_now();
  bench_check(em_dataset_export(store, out, &o, NULL, &report, &err), &err);
  snprintf(what, sizeof what, "%zu groups, %zu rows, pool sample 2000, %d cores", report.golden_groups, report.rows,
           em_cpu_count());
  bench_figure("export shipped", bench_now() - start, "s", "< 10", what);
  em_store_close(store);
  for (size_t i = 0; i < n; i++) em_free(paths[i]);
  em_free(paths);
  em_free(golden);
  bench_remove_tree(folder);
}

/* ---- the explorer's first frame, on a terminal of its own ---- */

static double first_frame(const char *program, const char *source)
{
  int master;
  struct winsize size = {.ws_row = 24, .ws_col = 80};
  double start = bench_now();
  pid_t pid = forkpty(&master, NULL, NULL, &size);
  if (pid < 0) return NAN;
  if (pid == 0) {
    setenv("TERM", "xterm-256color", 1);
    execl(program, program, "explore", source, (char *)NULL);
    _exit(127);
  }
  char seen[65536];
  size_t n = 0;
  double t = NAN;
  for (ssize_t got; n < sizeof seen - 1 && (got = read(master, seen + n, sizeof seen - 1 - n)) > 0;) {
    n += (size_t)got;
    seen[n] = '\0';
    if (!strstr(seen, "w why")) continue; /* in the status line, which is drawn last */
    t = bench_now() - start;
    break;
  }
  kill(pid, SIGTERM);
  close(master);
  waitpid(pid, NULL, 0);
  return t;
}

static void bench_explorer(void)
{
  char *golden;
  em_err err;
  double best = 1e9;
  bench_check(em_data_path("golden/rtx4090_sm89.json", &golden, &err), &err);
  for (int round = 0; round < 5; round++) {
    double t = first_frame("./emmy", golden);
    if (t < best) best = t;
  }
  bench_figure("first frame", best * 1e3, "ms", "< 150", "explore data/golden/rtx4090_sm89.json at 80x24");
  em_free(golden);
}

/* ---- all ---- */

static const struct {
  const char *name;
  void (*run)(void);
} benches[] = {
  {"enumerate", bench_enumerate}, {"memory", bench_memory}, {"score", bench_score},       {"fit", bench_fit},
  {"explain", bench_explain},     {"store", bench_store},   {"explorer", bench_explorer}, {"sql", bench_sql}};

static bool is_wanted(const char *name, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strncmp(name, argv[i], strlen(argv[i])) == 0) return true;
  return argc == 1;
}

int main(int argc, char **argv)
{
  for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
    if (is_wanted(benches[i].name, argc, argv)) benches[i].run();
  return 0;
}
