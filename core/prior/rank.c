/*
 * rank.c - ranks, the cold pick, and the order of a pool.
 */
#include "core/prior/prior.h"

static em_rank rank_one(const double *quality, size_t n, size_t row)
{
  em_rank r = {.best = row};
  for (size_t i = 0; i < n; i++) {
    if (i == row) continue;
    r.optimistic += quality[i] > quality[row];
    r.plateau += quality[i] == quality[row];
  }
  r.against = r.optimistic + r.plateau;
  return r;
}

/* The best positive is the one of the highest quality: only that one is counted out. */
em_rank em_rank_of(const double *quality, size_t n, const uint32_t *positives, size_t n_pos)
{
  size_t best = positives[0];
  for (size_t i = 1; i < n_pos; i++)
    if (quality[positives[i]] > quality[best]) best = positives[i];
  return rank_one(quality, n, best);
}

/* By content, then by index; never 0 for two different rows. */
static int content_order(const em_row *rows, size_t a, size_t b)
{
  int c = rows ? em_row_compare(&rows[a], &rows[b]) : 0;
  return c ? c : (a > b) - (a < b);
}

size_t em_rank_pick(const double *quality, const em_row *rows, size_t n)
{
  size_t best = 0;
  for (size_t i = 1; i < n; i++)
    if (quality[i] > quality[best] || (quality[i] == quality[best] && content_order(rows, i, best) < 0)) best = i;
  return best;
}

typedef struct pool {
  const double *quality;
  const em_row *rows;
} pool;

static bool before(const pool *p, uint32_t a, uint32_t b)
{
  double qa = p->quality[a], qb = p->quality[b];
  return qa != qb ? qa > qb : content_order(p->rows, a, b) < 0;
}

/* Merges two sorted halves; `tmp` holds the left one meanwhile. */
static void merge_sort(const pool *p, uint32_t *order, size_t n, uint32_t *tmp)
{
  if (n < 2) return;
  size_t half = n / 2, i = 0, j = half, k = 0;
  merge_sort(p, order, half, tmp);
  merge_sort(p, order + half, n - half, tmp);
  for (size_t c = 0; c < half; c++) tmp[c] = order[c];
  while (i < half && j < n) order[k++] = before(p, order[j], tmp[i]) ? order[j++] : tmp[i++];
  while (i < half) order[k++] = tmp[i++];
}

int em_rank_order(const double *quality, const em_row *rows, size_t n, uint32_t *order, em_err *err)
{
  if (n > UINT32_MAX)
    return em_fail(err, EM_E_INPUT, "a pool of %zu rows cannot be ordered; the limit is %u", n, UINT32_MAX);
  uint32_t *tmp = em_calloc(n / 2 + 1, sizeof *tmp);
  if (!tmp) return em_fail_nomem(err);
  const pool p = {quality, rows};
  for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
  merge_sort(&p, order, n, tmp);
  em_free(tmp);
  return EM_OK;
}
