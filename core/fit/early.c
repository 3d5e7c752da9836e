/*
 * early.c - how the loss on held-out pools goes on from tree to tree, and where to stop.
 */
#include <string.h>

#include "core/fit/fit_int.h"

/* Scores of held-out rows as trees are added. */
typedef struct watch {
  const em_fit_forest *forest;
  const em_fit_bins *bins;
  const em_columns *cols;
  const em_fit_set *set;
  size_t tree;
  double *score;
} watch;

static bool goes_right(const watch *w, const em_fit_choice *split, const em_fit_group *g, size_t row)
{
  const em_fit_feature *f = &w->bins->features[split->feature];
  int64_t at = em_columns_index(g->cols, w->cols->names[f->column]);
  return at >= 0 && (float)g->matrix[row * g->cols->n + (size_t)at] > f->borders[split->border]; /* missing: left */
}

static void add_tree(void *ctx, size_t begin, size_t end)
{
  const watch *w = ctx;
  const em_fit_forest *f = w->forest;
  const em_fit_choice *splits = f->splits + w->tree * f->depth;
  for (size_t i = begin; i < end; i++) {
    size_t leaf = 0;
    for (size_t k = 0; k < f->n_splits[w->tree]; k++)
      leaf |= (size_t)goes_right(w, &splits[k], w->set->groups[w->set->group[i]], w->set->pool_row[i]) << k;
    w->score[i] += f->values[(w->tree << f->depth) + leaf];
  }
}

/* Pairs whatever the objective on pairs is: YetiRank's own loss changes with its draws. */
static double held_out_loss(em_fit_pairs *pairs, const em_fit_set *s, const em_fit_params *p, const double *score,
                            double *mass)
{
  if (p->objective == EM_OBJECTIVE_SOFTMAX) return em_fit_softmax(s, score, mass, (int)p->threads);
  return em_fit_pairs_derive(pairs, s, score, (int)p->threads);
}

int em_fit_add_curve(const em_fit_forest *f, const em_fit_bins *b, const em_columns *cols, const em_fit_set *held,
                     const em_fit_params *p, double *loss, em_err *err)
{
  em_fit_pairs pairs = {0};
  em_fit_params q = *p;
  double *mass = em_calloc(held->n_rows, sizeof *mass);
  watch w = {f, b, cols, held, 0, em_calloc(held->n_rows, sizeof *w.score)};
  int rc = mass && w.score ? EM_OK : em_fail_nomem(err);
  if (q.objective != EM_OBJECTIVE_SOFTMAX) q.objective = EM_OBJECTIVE_PAIRS;
  if (rc == EM_OK && q.objective == EM_OBJECTIVE_PAIRS) rc = em_fit_pairs_open(&pairs, held, &q, err);
  for (size_t t = 0; rc == EM_OK && t <= f->n_trees; t++) {
    loss[t] += held_out_loss(&pairs, held, &q, w.score, mass);
    w.tree = t;
    if (t < f->n_trees) em_parallel_for(held->n_rows, 1024, (int)p->threads, add_tree, &w);
  }
  em_fit_pairs_close(&pairs);
  em_free(mass);
  em_free(w.score);
  return rc;
}

size_t em_fit_stop_at(const double *loss, size_t n_trees, size_t patience)
{
  size_t best = 0;
  for (size_t t = 1; t <= n_trees && t - best <= patience; t++)
    if (loss[t] < loss[best]) best = t;
  return best ? best : 1;
}
