/*
 * softmax.c - the objective QuerySoftMax.
 *
 * A tree adds one value a leaf, so within a tree the loss depends on each pool's
 * mass and positives a leaf alone (its cells): leaf values are found on those, not
 * on the rows.
 */
#include <string.h>

#include "core/fit/fit_int.h"

/* ---- masses ---------------------------------------------------------------------- */

typedef struct pass {
  const em_fit_set *set;
  const double *score;
  double *mass;
  int64_t *loss; /* of each chunk of groups */
  size_t chunk;
} pass;

static int64_t group_masses(const em_fit_set *s, size_t g, const double *score, double *mass)
{
  size_t begin = s->start[g], end = s->start[g + 1];
  double max = score[begin];
  int64_t sum = 0, above = 0; /* above: the targets' distance below max */
  for (size_t i = begin + 1; i < end; i++)
    if (score[i] > max) max = score[i];
  for (size_t i = begin; i < end; i++) {
    mass[i] = em_fit_exp(score[i] - max);
    sum += em_fit_fixed(mass[i], EM_FIT_ONE_EXP);
    if (s->target[i] > 0) above += em_fit_fixed(s->target[i] * (max - score[i]), EM_FIT_ONE_LOSS);
  }
  double z = (double)sum / EM_FIT_ONE_EXP, share = 1.0 / z;
  for (size_t i = begin; i < end; i++) mass[i] *= share;
  return above + em_fit_fixed(s->total[g] * em_fit_log(z), EM_FIT_ONE_LOSS);
}

static void masses(void *ctx, size_t begin, size_t end)
{
  pass *w = ctx;
  int64_t loss = 0;
  for (size_t g = begin; g < end; g++) loss += group_masses(w->set, g, w->score, w->mass);
  w->loss[begin / w->chunk] = loss;
}

static size_t chunk_of(const em_fit_set *s) { return (s->n_groups + EM_FIT_CHUNKS - 1) / EM_FIT_CHUNKS; }

double em_fit_softmax(const em_fit_set *s, const double *score, double *mass, int threads)
{
  int64_t loss[EM_FIT_CHUNKS] = {0}, sum = 0;
  pass w = {s, score, mass, loss, chunk_of(s)};
  em_parallel_for(s->n_groups, w.chunk, threads, masses, &w);
  for (size_t i = 0; i < EM_FIT_CHUNKS; i++) sum += loss[i];
  return (double)sum / EM_FIT_ONE_LOSS;
}

/* ---- cells ------------------------------------------------------------------------ */

int em_fit_cells_open(em_fit_cells *c, const em_fit_set *s, size_t max_leaves, em_err *err)
{
  *c = (em_fit_cells){.max_leaves = max_leaves};
  c->cells = em_calloc(s->n_rows, sizeof *c->cells);
  c->n = em_calloc(s->n_groups, sizeof *c->n);
  c->scratch = em_calloc(EM_FIT_CHUNKS * max_leaves, sizeof *c->scratch);
  return c->cells && c->n && c->scratch ? EM_OK : em_fail_nomem(err);
}

void em_fit_cells_close(em_fit_cells *c)
{
  em_free(c->cells);
  em_free(c->n);
  em_free(c->scratch);
  *c = (em_fit_cells){0};
}

typedef struct filling {
  const em_fit_set *set;
  const double *mass;
  const uint16_t *leaf;
  em_fit_cells *cells;
  size_t n_leaves, chunk;
} filling;

static void fill_cells(void *ctx, size_t begin, size_t end)
{
  const filling *w = ctx;
  const em_fit_set *s = w->set;
  em_fit_cell *by_leaf = w->cells->scratch + begin / w->chunk * w->cells->max_leaves;
  for (size_t g = begin; g < end; g++) {
    em_fit_cell *out = w->cells->cells + s->start[g];
    uint32_t n = 0;
    for (size_t i = s->start[g]; i < s->start[g + 1]; i++) {
      em_fit_cell *c = &by_leaf[w->leaf[i]];
      c->rows++;
      c->target += s->target[i];
      c->mass += em_fit_fixed(w->mass[i], EM_FIT_ONE_MASS);
    }
    for (size_t l = 0; l < w->n_leaves; l++) {
      if (by_leaf[l].rows == 0) continue;
      by_leaf[l].leaf = (uint32_t)l;
      out[n++] = by_leaf[l];
      by_leaf[l] = (em_fit_cell){0};
    }
    w->cells->n[g] = n;
  }
}

/* ---- leaf values --------------------------------------------------------------------- */

/* What the steps evaluate. */
typedef struct view {
  const em_fit_set *set;
  const em_fit_cells *cells;
} view;

/* Returns the pool's loss, less that at value 0. */
static int64_t evaluate_group(const em_fit_cell *cell, size_t n, double total, const double *value,
                              const double *factor, int64_t *sums)
{
  double z = 0, below = 0;
  for (size_t i = 0; i < n; i++) {
    z += (double)cell[i].mass * factor[cell[i].leaf];
    below += cell[i].target * value[cell[i].leaf];
  }
  double share = 1.0 / z;
  for (size_t i = 0; i < n; i++) {
    size_t leaf = cell[i].leaf;
    double q = (double)cell[i].mass * factor[leaf] * share;
    sums[2 * leaf] += em_fit_fixed(cell[i].target - total * q, EM_FIT_ONE_GRAD);
    sums[2 * leaf + 1] += em_fit_fixed(total * q * (1.0 - q), EM_FIT_ONE_GRAD);
  }
  return em_fit_fixed(total * em_fit_log(z / EM_FIT_ONE_MASS) - below, EM_FIT_ONE_LOSS);
}

static int64_t evaluate(const void *ctx, size_t begin, size_t end, const double *value, const double *factor,
                        int64_t *sums)
{
  const view *w = ctx;
  int64_t loss = 0;
  for (size_t g = begin; g < end; g++)
    loss += evaluate_group(w->cells->cells + w->set->start[g], w->cells->n[g], w->set->total[g], value, factor, sums);
  return loss;
}

static void count_weights(const em_fit_set *s, const em_fit_cells *c, em_fit_leaves *l)
{
  memset(l->weight, 0, l->n * sizeof *l->weight);
  for (size_t g = 0; g < s->n_groups; g++)
    for (size_t i = 0; i < c->n[g]; i++) {
      const em_fit_cell *cell = &c->cells[s->start[g] + i];
      l->weight[cell->leaf] += cell->rows;
    }
}

void em_fit_softmax_leaves(const em_fit_set *s, const double *mass, const uint16_t *leaf, const em_fit_params *p,
                           em_fit_cells *cells, em_fit_leaves *l)
{
  filling w = {s, mass, leaf, cells, l->n, chunk_of(s)};
  em_parallel_for(s->n_groups, w.chunk, (int)p->threads, fill_cells, &w);
  count_weights(s, cells, l);
  memcpy(l->base, l->weight, l->n * sizeof *l->base);
  em_fit_step_leaves(l, p, &(em_fit_objective){evaluate, &(view){s, cells}, s->n_groups, (int)p->threads});
}
