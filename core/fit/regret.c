/*
 * regret.c - how the order of a prior agrees with the latencies of measured pools.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

#define K(k) k,
const size_t em_regret_ks[EM_N_REGRETS] = {EM_REGRET_KS(K)};
#undef K

/* ---- rank correlation ------------------------------------------------------------- */

static int order_of(double a, double b) { return (a > b) - (a < b); }

static int by_y(const void *a, const void *b) { return order_of(((const em_xy *)a)->y, ((const em_xy *)b)->y); }

/* Equal x by y, so that the sums below have one order. */
static int by_x(const void *a, const void *b)
{
  const em_xy *p = a, *q = b;
  return p->x != q->x ? order_of(p->x, q->x) : by_y(a, b);
}

/* Sorted points: equal values get their mean rank. */
static void rank_sorted(em_xy *points, size_t n, bool is_x)
{
  for (size_t i = 0, end; i < n; i = end) {
    double value = is_x ? points[i].x : points[i].y;
    for (end = i + 1; end < n && (is_x ? points[end].x : points[end].y) == value; end++)
      ;
    double rank = ((double)i + (double)(end - 1)) / 2;
    for (size_t k = i; k < end; k++) *(is_x ? &points[k].x : &points[k].y) = rank;
  }
}

double em_spearman(em_xy *points, size_t n)
{
  double mean = n ? (double)(n - 1) / 2 : 0, xx = 0, yy = 0, xy = 0;
  if (n < 2) return NAN;
  qsort(points, n, sizeof *points, by_y);
  rank_sorted(points, n, false);
  qsort(points, n, sizeof *points, by_x);
  rank_sorted(points, n, true);
  for (size_t i = 0; i < n; i++) {
    double dx = points[i].x - mean, dy = points[i].y - mean;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* ---- one pool ------------------------------------------------------------------------ */

/* x: what the prior predicts, less is better; y: latency.  Of equal predictions the slowest comes first. */
static int by_prediction(const void *a, const void *b)
{
  int order = order_of(((const em_xy *)a)->x, ((const em_xy *)b)->x);
  return order ? order : -by_y(a, b);
}

static double least_latency(const em_xy *points, size_t n)
{
  double least = points[0].y;
  for (size_t i = 1; i < n; i++)
    if (points[i].y < least) least = points[i].y;
  return least;
}

/* Of the n measured rows. */
static void judge(em_xy *points, size_t n, em_regret *out)
{
  *out = (em_regret){.measured = n, .spearman = NAN};
  if (n) qsort(points, n, sizeof *points, by_prediction);
  for (size_t i = 0; i < EM_N_REGRETS; i++)
    out->at[i] = n > em_regret_ks[i] ? least_latency(points, em_regret_ks[i]) / least_latency(points, n) : (double)NAN;
  out->spearman = em_spearman(points, n);
}

int em_regret_of(const double *quality, const double *latency, size_t n, em_regret *out, em_err *err)
{
  em_xy *points = em_calloc(n ? n : 1, sizeof *points);
  size_t measured = 0;
  if (!points) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++)
    if (latency[i] > 0 && isfinite(latency[i])) points[measured++] = (em_xy){-quality[i], latency[i]};
  judge(points, measured, out);
  em_free(points);
  return EM_OK;
}

/* ---- several pools --------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) { return order_of(*(const double *)a, *(const double *)b); }

/* `value` of each pool, NaN = the figure is not defined there; `sign` 1: more is worse.  Sorts. */
static void figure_of(double *value, const char *const *keys, size_t n, int sign, em_regret_figure *out)
{
  *out = (em_regret_figure){.median = NAN, .worst = NAN};
  for (size_t i = 0; i < n; i++) {
    if (isnan(value[i])) continue;
    int worse = out->worst_pool ? order_of(value[i], out->worst) * sign : 1;
    if (worse > 0 || (worse == 0 && strcmp(keys[i], out->worst_pool) < 0)) {
      out->worst = value[i];
      out->worst_pool = keys[i];
    }
  }
  for (size_t i = 0; i < n; i++)
    if (!isnan(value[i])) value[out->pools++] = value[i];
  if (out->pools == 0) return;
  qsort(value, out->pools, sizeof *value, ascending);
  size_t half = out->pools / 2;
  out->median = out->pools % 2 ? value[half] : (value[half - 1] + value[half]) / 2;
}

int em_regret_summarise(const em_regret *pools, const char *const *keys, size_t n, em_regret_summary *out, em_err *err)
{
  double *value = em_calloc(n ? n : 1, sizeof *value);
  *out = (em_regret_summary){.pools = n};
  if (!value) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) value[i] = pools[i].measured < EM_SPEARMAN_LEAST ? NAN : pools[i].spearman;
  figure_of(value, keys, n, -1, &out->spearman);
  for (size_t k = 0; k < EM_N_REGRETS; k++) {
    for (size_t i = 0; i < n; i++) value[i] = pools[i].at[k];
    figure_of(value, keys, n, 1, &out->at[k]);
  }
  em_free(value);
  return EM_OK;
}

/* ---- as JSON -------------------------------------------------------------------------------- */

static bool add_number(cJSON *o, const char *key, double x) { return cJSON_AddNumberToObject(o, key, x) != NULL; }

static bool add_figure(cJSON *o, const char *name, const em_regret_figure *f)
{
  cJSON *figure = cJSON_AddObjectToObject(o, name);
  return add_number(figure, "median", f->median) && add_number(figure, "worst", f->worst) &&
         add_number(figure, "groups", (double)f->pools) &&
         (!f->worst_pool || cJSON_AddStringToObject(figure, "worst_pool", f->worst_pool));
}

cJSON *em_regret_summary_json(const em_regret_summary *s)
{
  cJSON *out = cJSON_CreateObject();
  bool ok = add_figure(out, "spearman", &s->spearman);
  for (size_t k = 0; k < EM_N_REGRETS && ok; k++) {
    char name[EM_REGRET_NAME_LEN];
    ok = add_figure(out, em_regret_name(k, name), &s->at[k]);
  }
  if (ok) return out;
  cJSON_Delete(out);
  return NULL;
}

const char *em_regret_name(size_t k, char buf[EM_REGRET_NAME_LEN])
{
  snprintf(buf, EM_REGRET_NAME_LEN, "regret%zu", em_regret_ks[k]);
  return buf;
}

bool em_regret_add_json(cJSON *o, const em_regret *r)
{
  bool ok = add_number(o, "measured", (double)r->measured) && add_number(o, "spearman", r->spearman);
  for (size_t k = 0; k < EM_N_REGRETS && ok; k++) {
    char name[EM_REGRET_NAME_LEN];
    ok = add_number(o, em_regret_name(k, name), r->at[k]);
  }
  return ok;
}
