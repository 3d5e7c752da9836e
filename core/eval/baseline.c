/*
 * baseline.c - what ranks come to without a prior.
 *
 * The random order is not drawn but worked out: the best of p positives among n rows
 * has rank r or more with chance C(n - r, p) / C(n, p).
 */
#include <math.h>
#include <string.h>

#include "core/eval/eval_int.h"

double em_eval_chance_from(size_t n, size_t p, size_t r)
{
  double chance = 1;
  if (r > n - p) return 0;
  for (size_t j = 0; j < p; j++) chance *= (double)(n - r - j) / (double)(n - j);
  return chance;
}

/* Pools expected to have a rank below r. */
static double expected_below(const em_eval_pool *pools, size_t n, size_t r)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += 1 - em_eval_chance_from(pools[i].rows, pools[i].positives, r);
  return sum;
}

static size_t median_rank(const em_eval_pool *pools, size_t n)
{
  size_t lo = 0, hi = 0; /* the least rank r with expected_below(r + 1) >= n / 2 */
  for (size_t i = 0; i < n; i++)
    if (pools[i].rows > hi) hi = pools[i].rows;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (expected_below(pools, n, mid + 1) >= (double)n / 2)
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

/* Sum over r of log2(1 + r) times the chance of rank r. */
static double expected_log2(const em_eval_pool *p)
{
  double sum = 0, from = 1;
  for (size_t r = 0; from > 0; r++) {
    double next = em_eval_chance_from(p->rows, p->positives, r + 1);
    sum += (from - next) * log2(1.0 + (double)r);
    from = next;
  }
  return sum;
}

int em_eval_random(const em_eval_pool *pools, size_t n, em_rank_summary *out, em_err *err)
{
  int rc = em_rank_summarise(NULL, 0, out, err);
  if (rc != EM_OK || n == 0) return rc;
  out->pools = n;
  out->median = out->median_optimistic = (double)median_rank(pools, n);
  out->mean_log2 = 0;
  for (size_t i = 0; i < n; i++) out->mean_log2 += expected_log2(&pools[i]) / (double)n;
  for (size_t k = 0; k < EM_N_TOPS; k++) out->top[k] = (size_t)(expected_below(pools, n, em_top_ks[k]) + 0.5);
  return EM_OK;
}

int em_eval_baselines(const em_dataset *d, em_eval *e, em_err *err)
{
  e->random = (em_eval_cell){.gpu = "", .tier = "", .bucket = ""};
  e->first_option = e->random;
  em_rank *first = em_calloc(e->n_pools ? e->n_pools : 1, sizeof *first);
  if (!first) return em_fail_nomem(err);
  for (size_t i = 0; i < e->n_pools; i++) {
    size_t row = em_dataset_group(d, e->pools[i].group)->golden_ids[0]; /* ascending; rows are in enumeration order */
    first[i] = (em_rank){.against = row, .optimistic = row, .best = row};
  }
  int rc = em_eval_random(e->pools, e->n_pools, &e->random.ranks, err);
  if (rc == EM_OK) rc = em_rank_summarise(first, e->n_pools, &e->first_option.ranks, err);
  em_free(first);
  return rc;
}
