/*
 * view_fit_measured.c - one fit on measured pools: by card and level, and pool by pool.
 */
#include <string.h>

#include "views/metrics_file.h"

#define FIT_DOC "a metrics.json, the folder that holds one, or a folder's name under " EM_FITS_FOLDER

static const em_param params[] = {{"fit", EM_TEXT, true, FIT_DOC}};

/* Entries of the file, those of its second part after those of the first. */
typedef struct cursor {
  em_cursor base;
  em_metrics metrics;
  const cJSON **items;
  size_t n, n_first;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_metrics_close(&c->metrics);
  em_free(c->items);
}

static const cJSON *children(const cJSON *x) { return x ? x->child : NULL; }

static int list(cursor *c, const cJSON *first, const cJSON *second, em_err *err)
{
  size_t n = (size_t)cJSON_GetArraySize(first) + (size_t)cJSON_GetArraySize(second);
  c->items = em_calloc(n ? n : 1, sizeof *c->items);
  if (!c->items) return em_fail_nomem(err);
  for (const cJSON *x = children(first); x; x = x->next) c->items[c->n++] = x;
  c->n_first = c->n;
  for (const cJSON *x = children(second); x; x = x->next) c->items[c->n++] = x;
  return EM_OK;
}

/* The members of two places in the file; the second may be NULL. */
static int open_lists(em_cursor *base, const char *fit, const char *first, const char *second, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_metrics_open(fit, &c->metrics, err);
  if (rc != EM_OK) return rc;
  return list(c, em_metrics_member(c->metrics.json, first), second ? em_metrics_member(c->metrics.json, second) : NULL,
              err);
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void count_cell(em_cell *out, const cJSON *entry, const char *path)
{
  double n = em_metrics_number(entry, path);
  if (n >= 0 && n < 9e15)
    em_cell_int(out, (int64_t)n);
  else
    em_cell_missing(out);
}

/* ---- by card and level ---- */

enum { PART, CARD, LEVEL, POOLS, FIRST_FIGURE };

static const em_view_column columns[] = {
  {"part", "part", EM_TEXT, "", 9, 0,
   "\"whole\" (fitted to all), \"train\" or \"holdout\" (cross-validation: pools fitted to, pools held out)"},
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card"},
  {"h_opt", "level", EM_INT, "level", 5, 0, "optimization level that the latencies were taken at"},
  {"pools", "pools", EM_INT, "pools", 6, 0, "measured pools that were judged"},
  {"spearman", "rho", EM_REAL, "", 6, 3,
   "median of Spearman's rank correlation of predicted cost and latency: 1 is the order of the latencies"},
  {"spearman_pools", "of", EM_INT, "pools", 4, 0, "pools of at least five rows that it is of"},
  {"spearman_worst", "least", EM_REAL, "", 6, 3, "the least of them"},
  {"spearman_worst_pool", "pool", EM_TEXT, "", 0, 0, "its pool"},
  {"regret1", "regret@1", EM_REAL, "ratio", 8, 3,
   "median latency of the prior's first over the pool's best: 1 is best"},
  {"regret1_pools", "of", EM_INT, "pools", 4, 0, "pools of at least two rows that it is of"},
  {"regret1_worst", "worst", EM_REAL, "ratio", 7, 2, "the greatest of them"},
  {"regret1_worst_pool", "worst pool", EM_TEXT, "", 40, 0, "its pool"},
  {"regret10", "regret@10", EM_REAL, "ratio", 9, 3, "the same of the best of the prior's first ten"},
  {"regret10_pools", "of", EM_INT, "pools", 4, 0, "pools of more than ten rows that it is of"},
  {"regret10_worst", "worst", EM_REAL, "ratio", 7, 2, "the greatest of them"},
  {"regret10_worst_pool", "pool", EM_TEXT, "", 0, 0, "its pool"},
};

static int open_summaries(em_cursor *base, const char *const *args, em_err *err)
{
  return open_lists(base, args[0], "full_train.measured.summaries", "cv.measured.summaries", err);
}

/* Column `part` of one of the figures. */
static void figure_cell(const cJSON *s, size_t figure, size_t part, em_cell *out)
{
  static const char *const parts[] = {"median", "groups", "worst", "worst_pool"};
  char name[EM_REGRET_NAME_LEN], path[64];
  snprintf(path, sizeof path, "metrics.%s.%s", figure ? em_regret_name(figure - 1, name) : "spearman", parts[part]);
  if (part == 3)
    em_cell_text(out, em_metrics_text(s, path));
  else if (part == 1)
    count_cell(out, s, path);
  else
    em_cell_real(out, em_metrics_number(s, path));
}

static void summary_cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const cursor *c = (cursor *)base;
  const cJSON *s = c->items[row];
  const char *gpu = em_metrics_text(s, "axes.gpu");
  switch (column) {
  case PART: em_cell_text(out, row < c->n_first ? "whole" : em_metrics_text(s, "axes.cv_split")); break;
  case CARD:
    if (gpu)
      em_cell_gpu(out, gpu, strlen(gpu));
    else
      em_cell_missing(out);
    break;
  case LEVEL: count_cell(out, s, "axes.h_opt"); break;
  case POOLS: count_cell(out, s, "groups"); break;
  default: figure_cell(s, (column - FIRST_FIGURE) / 4, (column - FIRST_FIGURE) % 4, out);
  }
}

static void summary_crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "fit / measured pools");
}

const em_view em_view_fit_measured = {
  .name = "fit_measured",
  .title = "figures on measured pools",
  .doc =
    "How the order of one fit agrees with the latencies of measured pools, by card and level of optimization: fitted "
    "to everything, and in cross-validation.  Empty when the dataset had no measured pools.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .size = sizeof(cursor),
  .open = open_summaries,
  .close = close_view,
  .rows = rows,
  .cell = summary_cell,
  .crumb = summary_crumb,
};

/* ---- pool by pool ---- */

enum { P_POOL, P_CARD, P_LEVEL, P_ROWS, P_MEASURED, P_RANK, P_FIRST_FIGURE };

static const em_view_column pool_columns[] = {
  {"pool", "pool", EM_TEXT, "", 50, 0, "key of the pool"},
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card"},
  {"h_opt", "level", EM_INT, "level", 5, 0, "optimization level that the latencies were taken at"},
  {"candidates", "candidates", EM_INT, "candidates", 10, 0, "rows of the pool"},
  {"measured", "measured", EM_INT, "rows", 8, 0, "those with a latency"},
  {"rank", "rank", EM_INT, "rank", 7, 0, "rank of the fastest by the fit to everything, every tie counted against it"},
  {"spearman", "rho", EM_REAL, "", 6, 3,
   "Spearman's rank correlation of predicted cost and latency, by the fit to everything; missing where it is not defined"},
  {"regret1", "regret@1", EM_REAL, "ratio", 8, 3,
   "latency of the first over the pool's best, by the fit to everything: 1 is best"},
  {"regret10", "regret@10", EM_REAL, "ratio", 9, 3,
   "the same of the best of the first ten; missing for ten rows or fewer"},
  {"holdout_spearman", "held out rho", EM_REAL, "", 12, 3,
   "rho when the pool's shape was held out; missing without folds"},
  {"holdout_regret1", "regret@1", EM_REAL, "ratio", 8, 3, "regret@1 held out"},
  {"holdout_regret10", "regret@10", EM_REAL, "ratio", 9, 3, "regret@10 held out"},
  {"fold", "fold", EM_INT, "", 5, 0, "the fold that held it out, from 0"},
};

static int open_pools(em_cursor *base, const char *const *args, em_err *err)
{
  return open_lists(base, args[0], "full_train.measured.per_pool", NULL, err);
}

static const cJSON *held_out(const cursor *c, const cJSON *entry)
{
  return cJSON_GetObjectItemCaseSensitive(c->metrics.measured_holdout, entry->string);
}

static void pool_cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const cursor *c = (cursor *)base;
  const cJSON *e = c->items[row];
  enum { FIGURES = 1 + EM_N_REGRETS };
  static const char *const names[FIGURES] = {"spearman", "regret1", "regret10"};
  switch (column) {
  case P_POOL: em_cell_text(out, e->string); break;
  case P_CARD: em_cell_gpu(out, e->string, strcspn(e->string, "/")); break;
  case P_LEVEL: count_cell(out, e, "h_opt"); break;
  case P_ROWS: count_cell(out, e, "rows"); break;
  case P_MEASURED: count_cell(out, e, "measured"); break;
  case P_RANK: em_cell_file_rank(out, em_metrics_number(e, "rank")); break;
  case P_FIRST_FIGURE + 2 * FIGURES: count_cell(out, held_out(c, e), "fold"); break;
  default:
    column -= P_FIRST_FIGURE;
    em_cell_real(out, em_metrics_number(column < FIGURES ? e : held_out(c, e), names[column % FIGURES]));
  }
}

static void pool_crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "fit / measured pools / each");
}

const em_view em_view_fit_measured_pools = {
  .name = "fit_measured_pools",
  .title = "measured pools of a fit",
  .doc =
    "How the order of one fit agrees with the latencies of each measured pool: fitted to everything, and when its shape "
    "was held out.",
  .columns = pool_columns,
  .n_columns = COUNT(pool_columns),
  .params = params,
  .n_params = COUNT(params),
  .size = sizeof(cursor),
  .open = open_pools,
  .close = close_view,
  .rows = rows,
  .cell = pool_cell,
  .crumb = pool_crumb,
};
