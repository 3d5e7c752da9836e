/*
 * score_portable.c - scoring in plain C, and what every path does alike.
 */
#include "core/prior/score_int.h"

static bool always(void) { return true; }

void em_score_load_portable(const double *rows, size_t stride, size_t from, size_t n, float *out)
{
  for (size_t r = from; r < n; r++)
    for (size_t c = 0; c < EM_WINDOW; c++) out[c * EM_BLOCK + r] = (float)rows[r * stride + c];
}

static void load(const double *rows, size_t stride, size_t n, float *out)
{
  em_score_load_portable(rows, stride, 0, n, out);
}

static void quantize(const em_plan *p, const em_bin_column *c, const float *values, int8_t *bins)
{
  const float *heap = p->heaps + c->heap_at;
  int base = (1 << c->levels) + 128;
  for (size_t r = 0; r < EM_BLOCK; r++) {
    uint32_t i = 1;
    for (uint32_t l = 0; l < c->levels; l++) i = 2 * i + (values[r] > heap[i]);
    bins[r] = (int8_t)((int)i - base);
  }
}

void em_score_tree_portable(const em_model *m, size_t tree, const int8_t *bins, double *sums)
{
  const em_oblivious *t = &m->trees[tree];
  const em_bin_split *splits = m->plan.splits + t->split_at;
  const double *leaves = m->leaf_values + t->leaf_at;
  uint16_t leaf[EM_BLOCK] = {0};
  for (size_t d = 0; d < t->n_splits; d++) {
    const int8_t *column = bins + splits[d].bins_at;
    for (size_t r = 0; r < EM_BLOCK; r++) leaf[r] |= (uint16_t)((column[r] > splits[d].threshold) << d);
  }
  for (size_t r = 0; r < EM_BLOCK; r++) sums[r] += leaves[leaf[r]];
}

static void trees(const em_model *m, const int8_t *bins, double *sums, em_ahead *next)
{
  for (size_t t = 0; t < m->n_trees; t++) {
    em_ahead_step(next);
    em_score_tree_portable(m, t, bins, sums);
  }
}

const em_score_ops em_score_portable = {"portable", always, load, quantize, trees};
