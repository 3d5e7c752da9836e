/*
 * explain_path.c - a row's way through one tree.
 */
#include <math.h>

#include "core/prior/model_int.h"

static em_step ask(const em_model *m, uint32_t border, const double *row, const int32_t *col)
{
  uint32_t feature = m->border_feature[border];
  float value = em_model_value(m, feature, row, col);
  return (em_step){
    .feature = feature, .border = m->borders[border], .value = value, .above = value > m->borders[border]};
}

static size_t oblivious_path(const em_model *m, const em_oblivious *t, const double *row, const int32_t *col,
                             em_step *steps, em_leaf *out)
{
  uint32_t leaf = 0;
  for (size_t d = 0; d < t->n_splits; d++) {
    em_step s = ask(m, m->split_border[t->split_at + d], row, col);
    leaf |= (uint32_t)s.above << d;
    if (steps) steps[d] = s;
  }
  *out = (em_leaf){.index = leaf,
                   .value = m->scale * m->leaf_values[t->leaf_at + leaf],
                   .weight = t->weighted ? m->leaf_weights[t->leaf_at + leaf] : NAN};
  return t->n_splits;
}

size_t em_model_path(const em_model *m, size_t tree, const double *row, const int32_t *col, em_step steps[EM_MAX_STEPS],
                     em_leaf *out)
{
  if (m->symmetric) return oblivious_path(m, &m->trees[tree], row, col, steps, out);
  const em_node *n = &m->nodes[m->roots[tree]];
  size_t depth = 0;
  for (; n->left; depth++) {
    em_step s = ask(m, n->border, row, col);
    if (steps) steps[depth] = s;
    n = &m->nodes[s.above ? n->right : n->left];
  }
  *out = (em_leaf){.index = n->border, .value = m->scale * n->value, .weight = n->weighted ? n->weight : NAN};
  return depth;
}

bool em_model_saw_missing(const em_model *m, size_t feature) { return m->features[feature].has_nans; }
