/*
 * leaves.c - the steps to a tree's leaf values, whatever the objective.
 */
#include <string.h>

#include "core/fit/fit_int.h"

int em_fit_leaves_open(em_fit_leaves *l, size_t n, em_err *err)
{
  *l = (em_fit_leaves){0};
  l->value = em_calloc(n, 8 * sizeof *l->value);
  l->sums = em_calloc(n, EM_FIT_PIECES * 2 * sizeof *l->sums);
  if (!l->value || !l->sums) return em_fail_nomem(err);
  l->weight = l->value + n;
  l->trial = l->value + 2 * n;
  l->step = l->value + 3 * n;
  l->grad = l->value + 4 * n;
  l->curv = l->value + 5 * n;
  l->factor = l->value + 6 * n;
  l->base = l->value + 7 * n;
  return EM_OK;
}

void em_fit_leaves_close(em_fit_leaves *l)
{
  em_free(l->value);
  em_free(l->sums);
  *l = (em_fit_leaves){0};
}

/* What the steps evaluate, cut in pieces of pools. */
typedef struct work {
  const em_fit_objective *of;
  em_fit_leaves *leaves;
  const double *value;
  size_t chunk; /* pools */
} work;

static void evaluate_chunk(void *ctx, size_t begin, size_t end)
{
  const work *w = ctx;
  size_t piece = begin / w->chunk;
  int64_t *sums = w->leaves->sums + piece * 2 * w->leaves->n;
  memset(sums, 0, 2 * w->leaves->n * sizeof *sums);
  w->leaves->loss[piece] = w->of->evaluate(w->of->ctx, begin, end, w->value, w->leaves->factor, sums);
}

/* The objective at `value`; its gradient and curvature go to the scratch sums. */
static int64_t evaluate(work *w, const double *value, double l2)
{
  em_fit_leaves *l = w->leaves;
  double squares = 0;
  for (size_t i = 0; i < l->n; i++) {
    l->factor[i] = em_fit_exp(value[i]);
    squares += value[i] * value[i];
  }
  w->value = value;
  em_parallel_for(w->of->n_groups, w->chunk, w->of->threads, evaluate_chunk, w);
  int64_t loss = em_fit_fixed(0.5 * l2 * squares, EM_FIT_ONE_LOSS);
  for (size_t piece = 0; piece * w->chunk < w->of->n_groups; piece++) {
    loss += l->loss[piece];
    for (size_t i = 0; i < 2 * l->n && piece > 0; i++) l->sums[i] += l->sums[piece * 2 * l->n + i];
  }
  return loss;
}

static void take_sums(em_fit_leaves *l)
{
  for (size_t i = 0; i < l->n; i++) {
    l->grad[i] = (double)l->sums[2 * i] / EM_FIT_ONE_GRAD;
    l->curv[i] = (double)l->sums[2 * i + 1] / EM_FIT_ONE_GRAD;
  }
}

/* No step moves a leaf further than this: where the curvature vanishes the quadratic picture is worthless. */
#define MAX_STEP 4.0

/* Sets l->step; returns the largest. */
static double next_step(em_fit_leaves *l, const em_fit_params *p)
{
  double largest = 0;
  bool newton = p->leaf_method == EM_LEAF_NEWTON;
  for (size_t i = 0; i < l->n; i++) {
    double up = newton ? l->grad[i] - p->l2_leaf_reg * l->value[i] : l->grad[i];
    double down = (newton ? l->curv[i] : l->base[i]) + p->l2_leaf_reg;
    double step = l->weight[i] > 0 && down > 0 ? up / down : 0;
    l->step[i] = step > MAX_STEP ? MAX_STEP : step < -MAX_STEP ? -MAX_STEP : step;
    if (l->step[i] > largest) largest = l->step[i];
    if (-l->step[i] > largest) largest = -l->step[i];
  }
  return largest;
}

/* Steps below this change no rank. */
#define ENOUGH 1e-7

void em_fit_step_leaves(em_fit_leaves *l, const em_fit_params *p, const em_fit_objective *of)
{
  double l2 = p->leaf_method == EM_LEAF_NEWTON ? p->l2_leaf_reg : 0, scale = 1;
  work w = {.of = of, .leaves = l, .chunk = (of->n_groups + EM_FIT_PIECES - 1) / EM_FIT_PIECES};
  memset(l->value, 0, l->n * sizeof *l->value);
  int64_t best = evaluate(&w, l->value, l2);
  take_sums(l);
  double largest = next_step(l, p);
  for (int64_t k = 0; k < p->leaf_steps && scale * largest > ENOUGH; k++) {
    for (size_t i = 0; i < l->n; i++) l->trial[i] = l->value[i] + scale * l->step[i];
    int64_t loss = evaluate(&w, l->trial, l2);
    if (loss >= best) {
      scale *= 0.5;
      continue;
    }
    best = loss;
    scale = 1;
    memcpy(l->value, l->trial, l->n * sizeof *l->value);
    take_sums(l);
    largest = next_step(l, p);
  }
}
