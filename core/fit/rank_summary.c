/*
 * rank_summary.c - figures over the ranks of several pools.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

#define TOP(k) k,
const size_t em_top_ks[EM_N_TOPS] = {EM_TOP_KS(TOP)};
#undef TOP

static int ascending(const void *a, const void *b)
{
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

/* Sorts. */
static double median(size_t *x, size_t n)
{
  qsort(x, n, sizeof *x, ascending);
  size_t half = n / 2;
  return n % 2 ? (double)x[half] : ((double)x[half - 1] + (double)x[half]) / 2;
}

int em_rank_summarise(const em_rank *ranks, size_t n, em_rank_summary *out, em_err *err)
{
  *out = (em_rank_summary){.pools = n, .median = NAN, .median_optimistic = NAN, .mean_log2 = NAN};
  if (n == 0) return EM_OK;
  size_t *tmp = em_calloc(n, sizeof *tmp);
  if (!tmp) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) tmp[i] = ranks[i].optimistic;
  out->median_optimistic = median(tmp, n);
  for (size_t i = 0; i < n; i++) tmp[i] = ranks[i].against;
  out->median = median(tmp, n);
  double sum = 0; /* over the sorted ranks: the same sum for any order of the pools */
  for (size_t i = 0; i < n; i++) {
    sum += em_fit_log(1.0 + (double)tmp[i]);
    for (size_t k = 0; k < EM_N_TOPS; k++) out->top[k] += tmp[i] < em_top_ks[k];
  }
  out->mean_log2 = sum / em_fit_log(2.0) / (double)n;
  em_free(tmp);
  return EM_OK;
}

cJSON *em_rank_summary_json(const em_rank_summary *s)
{
  cJSON *out = cJSON_CreateObject();
  cJSON *rank = cJSON_AddObjectToObject(out, "rank");
  bool ok = cJSON_AddNumberToObject(rank, "median", s->median) &&
            cJSON_AddNumberToObject(rank, "median_optimistic", s->median_optimistic) &&
            cJSON_AddNumberToObject(rank, "mean_log2", s->mean_log2);
  for (size_t k = 0; k < EM_N_TOPS && ok; k++) {
    char name[32];
    snprintf(name, sizeof name, "top%zu", em_top_ks[k]);
    ok = cJSON_AddNumberToObject(cJSON_AddObjectToObject(out, name), "count", (double)s->top[k]);
  }
  if (ok) return out;
  cJSON_Delete(out);
  return NULL;
}
