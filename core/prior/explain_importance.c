/*
 * explain_importance.c - what each feature matters to a model, over all rows.
 */
#include <math.h>
#include <string.h>

#include "core/prior/explain_int.h"

/* ---- PredictionValuesChange ------------------------------------------------------------------ */

/* The variance within a pair of leaves or subtrees that a split tells apart, times their weight. */
static double spread(double v1, double w1, double v2, double w2)
{
  if (w1 == 0 || w2 == 0) return 0;
  double mean = (v1 * w1 + v2 * w2) / (w1 + w2);
  return (v1 - mean) * (v1 - mean) * w1 + (v2 - mean) * (v2 - mean) * w2;
}

/* A split of an oblivious tree is asked of all rows: leaves that differ in its answer alone are compared. */
static void change_oblivious(const em_model *m, const em_oblivious *t, double *importance)
{
  const double *v = m->leaf_values + t->leaf_at, *w = m->leaf_weights + t->leaf_at;
  for (size_t d = 0; d < t->n_splits; d++)
    for (size_t i = 0; i < (size_t)1 << t->n_splits; i++) {
      size_t other = i | (size_t)1 << d;
      if (i != other) importance[m->splits[t->split_at + d].feature] += spread(v[i], w[i], v[other], w[other]);
    }
}

static void change_nodes(const em_xtree *x, double *importance)
{
  for (size_t i = 0; i < x->n_nodes; i++) {
    const em_xnode *n = &x->nodes[i];
    if (!n->child[0]) continue;
    const em_xnode *a = &x->nodes[n->child[0]], *b = &x->nodes[n->child[1]];
    importance[x->features[n->slot]] += spread(a->value, a->weight, b->value, b->weight);
  }
}

int em_explain_values_change(const em_model *m, double *importance, em_err *err)
{
  memset(importance, 0, m->n_features * sizeof *importance);
  for (size_t t = 0; t < m->n_trees; t++) {
    em_xtree x;
    if (em_xtree_build(m, t, &x, err)) return err->code; /* also checks the weights */
    if (m->symmetric)
      change_oblivious(m, &m->trees[t], importance);
    else
      change_nodes(&x, importance);
    em_xtree_free(&x);
  }
  double sum = 0;
  for (size_t i = 0; i < m->n_features; i++) sum += importance[i];
  for (size_t i = 0; i < m->n_features && sum > 0; i++) importance[i] *= 100 / sum;
  return EM_OK;
}

/* ---- LossFunctionChange ------------------------------------------------------------------------- */

typedef struct loss_job {
  const em_explain_data *d;
  size_t begin, end; /* the group's rows */
  size_t n_features;
  const double *quality; /* of the group's rows */
  const double *shap;    /* group's rows x (n_features + 1) */
  double *sum;           /* by feature, and at [n_features] with all of them: sum over groups */
  size_t first;          /* feature that the loop begins with */
} loss_job;

static double weight_of(const em_explain_data *d, size_t row) { return d->weights ? d->weights[row] : 1; }

/* What row r of the group scores without a feature; n_features = with all. */
static double score_without(const loss_job *j, size_t r, size_t feature)
{
  return j->quality[r] - (feature == j->n_features ? 0 : j->shap[r * (j->n_features + 1) + feature]);
}

/* Minus the sum of weight * label * log p, where p is the softmax of the scores; see QuerySoftMax. */
static double group_loss(const loss_job *j, size_t feature)
{
  double most = -INFINITY, sum = 0, loss = 0;
  size_t n = j->end - j->begin;
  for (size_t r = 0; r < n; r++) {
    double s = score_without(j, r, feature);
    if (weight_of(j->d, j->begin + r) > 0 && s > most) most = s;
  }
  for (size_t r = 0; r < n; r++) {
    double w = weight_of(j->d, j->begin + r);
    if (w > 0) sum += w * exp(score_without(j, r, feature) - most);
  }
  for (size_t r = 0; r < n; r++) {
    double w = weight_of(j->d, j->begin + r), label = j->d->labels[j->begin + r];
    if (w > 0 && label > 0) loss -= w * label * (log(w) + score_without(j, r, feature) - most - log(sum));
  }
  return loss;
}

static void loss_chunk(void *ctx, size_t begin, size_t end)
{
  const loss_job *j = ctx;
  for (size_t f = j->first + begin; f < j->first + end; f++) j->sum[f] += group_loss(j, f);
}

enum { FEATURES_AT_ONCE = 16 }; /* between two looks at whether to go on */

static int add_losses(loss_job *j, int threads, em_err *err)
{
  for (j->first = 0; j->first <= j->n_features; j->first += FEATURES_AT_ONCE) {
    size_t left = j->n_features + 1 - j->first;
    if (em_progress_step(NULL, "importance", j->first, j->n_features + 1, err)) return err->code;
    em_parallel_for(left < FEATURES_AT_ONCE ? left : FEATURES_AT_ONCE, 1, threads, loss_chunk, j);
  }
  return EM_OK;
}

static int check_data(const em_explain_data *d, double *total, em_err *err)
{
  *total = 0;
  for (size_t r = 0; r < d->rows; r++) {
    double w = weight_of(d, r);
    if (!isfinite(d->labels[r]) || d->labels[r] < 0 || !isfinite(w) || w < 0)
      return em_fail(err, EM_E_INPUT,
                     "row %zu has label %g and weight %g; expected finite numbers that are not negative", r,
                     d->labels[r], w);
    *total += w * d->labels[r];
  }
  size_t begin = 0;
  for (size_t g = 0; g < d->n_groups; begin = d->group_end[g++])
    if (d->group_end[g] < begin || d->group_end[g] > d->rows)
      return em_fail(err, EM_E_INPUT, "group %zu ends at row %zu; expected %zu to %zu", g, d->group_end[g], begin,
                     d->rows);
  if (begin != d->rows) return em_fail(err, EM_E_INPUT, "the groups end at row %zu of %zu", begin, d->rows);
  return *total > 0
           ? EM_OK
           : em_fail(err, EM_E_INPUT, "no row has a label and weight above 0: QuerySoftMax has no loss to compare");
}

static bool has_label(const em_explain_data *d, size_t begin, size_t end)
{
  for (size_t r = begin; r < end; r++)
    if (d->labels[r] > 0 && weight_of(d, r) > 0) return true;
  return false;
}

/* One group at a time: memory for the largest. */
static int sum_losses(em_explainer *e, const em_model *m, const em_explain_data *d, int threads, double *shap,
                      double *quality, double *sum, em_err *err)
{
  size_t begin = 0;
  for (size_t g = 0; g < d->n_groups; begin = d->group_end[g++]) {
    size_t end = d->group_end[g];
    if (!has_label(d, begin, end)) continue; /* contributes nothing */
    const double *rows = d->matrix + begin * d->stride;
    if (em_explain_rows(e, rows, end - begin, d->stride, d->col, threads, shap, err) ||
        em_model_score(m, rows, end - begin, d->stride, d->col, threads, quality, err))
      return err->code;
    loss_job j = {
      .d = d, .begin = begin, .end = end, .n_features = m->n_features, .quality = quality, .shap = shap, .sum = sum};
    if (add_losses(&j, threads, err)) return err->code;
  }
  return EM_OK;
}

static size_t largest_group(const em_explain_data *d)
{
  size_t most = 0, begin = 0;
  for (size_t g = 0; g < d->n_groups; begin = d->group_end[g++])
    if (d->group_end[g] - begin > most) most = d->group_end[g] - begin;
  return most;
}

int em_explain_loss_change(em_explainer *e, const em_explain_data *d, int threads, double *importance, double *loss,
                           em_err *err)
{
  const em_model *m = em_explainer_model(e);
  double total;
  if (check_data(d, &total, err)) return err->code;
  size_t most = largest_group(d);
  double *shap = em_calloc(most, (m->n_features + 1) * sizeof *shap), *quality = em_calloc(most, sizeof *quality);
  double *sum = em_calloc(m->n_features + 1, sizeof *sum);
  int rc;
  if (shap && quality && sum) {
    rc = sum_losses(e, m, d, threads, shap, quality, sum, err);
    for (size_t f = 0; f < m->n_features; f++) importance[f] = (sum[f] - sum[m->n_features]) / total;
    if (loss) *loss = sum[m->n_features] / total;
  } else {
    rc = em_fail_nomem(err);
  }
  em_free(shap);
  em_free(quality);
  em_free(sum);
  return rc;
}
