/*
 * view_fits.c - the fits of a folder, each with its main figures.
 */
#include <math.h>
#include <string.h>

#include "views/metrics_file.h"

enum {
  FIT,
  POOLS,
  TOP1,
  MEDIAN,
  HOLDOUT_TOP1,
  HOLDOUT_TOP10,
  HOLDOUT_MEDIAN,
  HOLDOUT_LOG2,
  ITERATIONS,
  DEPTH,
  RATE,
  OBJECTIVE,
  FEATURES,
  COLUMNS,
  PATH,
  ARTIFACT
};

static const em_view_column columns[] = {
  {"fit", "fit", EM_TEXT, "", 20, 0, "name of the fit's folder"},
  {"pools", "pools", EM_INT, "pools", 6, 0, "pools that it was fitted to and ranks"},
  {"top1", "top-1", EM_INT, "pools", 6, 0, "pools whose golden is the cold pick"},
  {"median", "median", EM_REAL, "rank", 7, 1, "median rank of the goldens, from 1"},
  {"holdout_top1", "held out top-1", EM_INT, "pools", 14, 0,
   "the same when the pool's shape was held out; missing without folds"},
  {"holdout_top10", "top-10", EM_INT, "pools", 6, 0, "pools held out whose golden ranks 10 or better"},
  {"holdout_median", "median", EM_REAL, "rank", 7, 1, "median rank held out, from 1"},
  {"holdout_mean_log2", "mean log2", EM_REAL, "log2", 9, 3, "mean of log2(rank) held out"},
  {"iterations", "trees", EM_INT, "", 6, 0, "trees asked for"},
  {"depth", "depth", EM_INT, "splits", 5, 0, "depth of the trees"},
  {"learning_rate", "rate", EM_REAL, "", 6, -1, "learning rate"},
  {"objective", "objective", EM_TEXT, "", 14, 0, "what was minimised"},
  {"features", "features", EM_TEXT, "", 12, 0, "which columns were offered"},
  {"columns", "columns", EM_INT, "", 0, 0, "how many these are"},
  {"path", "path", EM_TEXT, "", 0, 0, "the metrics file"},
  {"artifact", "artifact", EM_TEXT, "", 0, 0, "digest of the prior"},
};

static const em_param params[] = {{"folder", EM_TEXT, false, "where the fits are; without it " EM_FITS_FOLDER}};

typedef struct fit {
  char *path, *name;
  em_metrics metrics;
} fit;

typedef struct cursor {
  em_cursor base;
  fit *items;
  size_t n;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  for (size_t i = 0; i < c->n; i++) {
    em_metrics_close(&c->items[i].metrics);
    em_free(c->items[i].path);
    em_free(c->items[i].name);
  }
  em_free(c->items);
}

/* A folder without metrics.json is no fit (yet): one may be at work there. */
static int add(cursor *c, const char *folder, em_err *err)
{
  fit f = {0};
  const char *slash = strrchr(folder, '/');
  int rc = em_path_join(&f.path, err, folder, "metrics.json");
  if (rc == EM_OK && !em_path_exists(f.path)) {
    em_free(f.path);
    return EM_OK;
  }
  if (rc == EM_OK && !(f.name = em_strdup(slash ? slash + 1 : folder))) rc = em_fail_nomem(err);
  if (rc == EM_OK) rc = em_metrics_open(f.path, &f.metrics, err);
  if (rc != EM_OK) {
    em_free(f.path);
    em_free(f.name);
    return rc;
  }
  c->items[c->n++] = f;
  return EM_OK;
}

static int list(cursor *c, const char *folder, em_err *err)
{
  char **paths = NULL;
  size_t n = 0;
  int rc = em_dir_list(folder, "", &paths, &n, err);
  c->items = em_calloc(n + 1, sizeof *c->items);
  if (rc == EM_OK && !c->items) rc = em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    if (rc == EM_OK && c->items && em_path_is_dir(paths[i])) rc = add(c, paths[i], err);
    em_free(paths[i]);
  }
  em_free(paths);
  return rc;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  const char *folder = args[0] ? args[0] : EM_FITS_FOLDER;
  return args[0] || em_path_is_dir(folder) ? list((cursor *)base, folder, err) : EM_OK;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

/* The summary over all cards, of the whole fit or of what was held out; NULL when there is none. */
static const cJSON *summary(const em_metrics *m, bool holdout)
{
  const cJSON *part = cJSON_GetObjectItemCaseSensitive(m->json, holdout ? "cv" : "full_train");
  const cJSON *summaries = cJSON_GetObjectItemCaseSensitive(part, "summaries");
  for (const cJSON *s = summaries ? summaries->child : NULL; s; s = s->next) {
    const char *split = em_metrics_text(s, "axes.cv_split");
    if (em_metrics_text(s, "axes.gpu") || (holdout && !(split && strcmp(split, "holdout") == 0))) continue;
    return s;
  }
  return NULL;
}

static void count_cell(em_cell *out, double n)
{
  if (isnan(n))
    em_cell_missing(out);
  else
    em_cell_int(out, (int64_t)n);
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const fit *f = &((cursor *)base)->items[row];
  const em_metrics *m = &f->metrics;
  switch (column) {
  case FIT: em_cell_text(out, f->name); break;
  case POOLS: count_cell(out, em_metrics_number(m->header, "groups.total")); break;
  case TOP1: count_cell(out, em_metrics_number(summary(m, false), "metrics.top1.count")); break;
  case MEDIAN: em_cell_real(out, em_metrics_number(summary(m, false), "metrics.rank.median") + 1); break;
  case HOLDOUT_TOP1: count_cell(out, em_metrics_number(summary(m, true), "metrics.top1.count")); break;
  case HOLDOUT_TOP10: count_cell(out, em_metrics_number(summary(m, true), "metrics.top10.count")); break;
  case HOLDOUT_MEDIAN: em_cell_real(out, em_metrics_number(summary(m, true), "metrics.rank.median") + 1); break;
  case HOLDOUT_LOG2: em_cell_real(out, em_metrics_number(summary(m, true), "metrics.rank.mean_log2")); break;
  case ITERATIONS: count_cell(out, em_metrics_number(m->header, "trainer_params.iterations")); break;
  case DEPTH: count_cell(out, em_metrics_number(m->header, "trainer_params.depth")); break;
  case RATE: em_cell_real(out, em_metrics_number(m->header, "trainer_params.learning-rate")); break;
  case OBJECTIVE: em_cell_text(out, em_metrics_text(m->header, "objective")); break;
  case FEATURES: em_cell_text(out, em_metrics_text(m->header, "features")); break;
  case COLUMNS: em_cell_int(out, cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(m->header, "columns"))); break;
  case PATH: em_cell_text(out, f->path); break;
  default: em_cell_text(out, em_metrics_text(m->header, "artifact"));
  }
}

static void crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "fits");
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  return em_target_set(out, "fit_ranks", ((cursor *)base)->items[row].path, NULL, NULL);
}

const em_view em_view_fits = {
  .name = "fits",
  .title = "fits",
  .doc = "The fits of a folder with their main figures: on what they were fitted to, and on shapes that were held out.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .crumb = crumb,
  .enter = enter,
};
