/*
 * view_fit_metrics.c - the summaries of one fit: by card, and over all cards.
 */
#include <math.h>
#include <string.h>

#include "views/metrics_file.h"

enum { PART, CARD, POOLS, MEDIAN, OPTIMISTIC, MEAN_LOG2, FIRST_TOP };

static const em_view_column columns[] = {
  {"part", "part", EM_TEXT, "", 9, 0,
   "\"whole\" (fitted to all), \"train\" or \"holdout\" (cross-validation: pools fitted to, pools held out)"},
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card; missing = all cards"},
  {"pools", "pools", EM_INT, "pools", 6, 0, "pools that were ranked"},
  {"median", "median", EM_REAL, "rank", 7, 1, "median rank of the goldens from 1, every tie counted against them"},
  {"median_optimistic", "ties ignored", EM_REAL, "rank", 12, 1, "the same with ties ignored"},
  {"mean_log2", "mean log2", EM_REAL, "log2", 9, 3, "mean of log2(rank)"},
#define TOP(k) {"top" #k, "top-" #k, EM_INT, "pools", 7, 0, "pools whose golden ranks " #k " or better"},
  EM_TOP_KS(TOP)
#undef TOP
};

static const em_param params[] = {
  {"fit", EM_TEXT, true, "a metrics.json, the folder that holds one, or a folder's name under " EM_FITS_FOLDER}};

typedef struct cursor {
  em_cursor base;
  em_metrics metrics;
  const cJSON **summaries;
  size_t n, n_whole; /* those of the whole fit come first */
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_metrics_close(&c->metrics);
  em_free(c->summaries);
}

static int list(cursor *c, em_err *err)
{
  const cJSON *s, *parts[] = {cJSON_GetObjectItemCaseSensitive(c->metrics.json, "full_train"),
                              cJSON_GetObjectItemCaseSensitive(c->metrics.json, "cv")};
  size_t n = 0;
  for (size_t p = 0; p < COUNT(parts); p++)
    n += (size_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(parts[p], "summaries"));
  c->summaries = em_calloc(n + 1, sizeof *c->summaries);
  if (!c->summaries) return em_fail_nomem(err);
  for (size_t p = 0; p < COUNT(parts); p++) {
    const cJSON *summaries = cJSON_GetObjectItemCaseSensitive(parts[p], "summaries");
    for (s = summaries ? summaries->child : NULL; s; s = s->next) c->summaries[c->n++] = s;
    if (p == 0) c->n_whole = c->n;
  }
  return EM_OK;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_metrics_open(args[0], &c->metrics, err);
  return rc == EM_OK ? list(c, err) : rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void top_cell(const cJSON *s, size_t k, em_cell *out)
{
  char path[32];
  snprintf(path, sizeof path, "metrics.top%zu.count", em_top_ks[k]);
  double n = em_metrics_number(s, path);
  if (isnan(n))
    em_cell_missing(out);
  else
    em_cell_int(out, (int64_t)n);
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const cursor *c = (cursor *)base;
  const cJSON *s = c->summaries[row];
  const char *gpu = em_metrics_text(s, "axes.gpu"), *split = em_metrics_text(s, "axes.cv_split");
  switch (column) {
  case PART: em_cell_text(out, row < c->n_whole ? "whole" : split); break;
  case CARD:
    if (gpu)
      em_cell_gpu(out, gpu, strlen(gpu));
    else
      em_cell_missing(out);
    break;
  case POOLS: em_cell_int(out, (int64_t)em_metrics_number(s, "groups")); break;
  case MEDIAN: em_cell_real(out, em_metrics_number(s, "metrics.rank.median") + 1); break;
  case OPTIMISTIC: em_cell_real(out, em_metrics_number(s, "metrics.rank.median_optimistic") + 1); break;
  case MEAN_LOG2: em_cell_real(out, em_metrics_number(s, "metrics.rank.mean_log2")); break;
  default: top_cell(s, column - FIRST_TOP, out);
  }
}

static void crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "fit / metrics");
}

const em_view em_view_fit_metrics = {
  .name = "fit_metrics",
  .title = "figures of a fit",
  .doc =
    "The figures of one fit on golden pools by card and over all cards: fitted to everything, and in cross-validation.  "
    "Those on measured pools: fit_measured.",
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
};
