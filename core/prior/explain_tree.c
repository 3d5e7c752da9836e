/*
 * explain_tree.c - trees with the shares of the training weight at each node.
 */
#include <math.h>
#include <string.h>

#include "core/prior/explain_int.h"

void em_xtree_free(em_xtree *x)
{
  em_free(x->nodes);
  em_free(x->features);
  *x = (em_xtree){0};
}

static int no_weights(size_t tree, em_err *err)
{
  return em_fail(
    err, EM_E_INPUT,
    "tree %zu of the model has no leaf weights, which explanations need; "
    "save the model with a CatBoost that writes leaf_weights, or make a new prior with: emmy fit DATASET WEIGHTS",
    tree);
}

/* ---- nodes ---------------------------------------------------------------------------- */

/* An oblivious tree spelled out, level by level.  CatBoost walks it from its last split to the first, and the shares
 * depend on that order; so the node of a level is numbered by the answers to the later splits, and a leaf
 * by all answers as in the model: bit d is the answer to split d. */
static void spell_out(const em_model *m, const em_oblivious *t, em_xtree *x)
{
  size_t depth = t->n_splits, leaves = (size_t)1 << depth;
  for (size_t level = 0; level < depth; level++) {
    size_t first = ((size_t)1 << level) - 1, below = ((size_t)2 << level) - 1, split = depth - 1 - level;
    for (size_t i = 0; i < (size_t)1 << level; i++)
      x->nodes[first + i] = (em_xnode){.child = {(uint32_t)(below + 2 * i), (uint32_t)(below + 2 * i + 1)},
                                       .border = m->split_border[t->split_at + split],
                                       .question = (uint32_t)split};
  }
  for (size_t i = 0; i < leaves; i++) {
    em_xnode *leaf = &x->nodes[leaves - 1 + i];
    leaf->value = m->leaf_values[t->leaf_at + i];
    leaf->weight = m->leaf_weights[t->leaf_at + i];
  }
}

static int build_oblivious(const em_model *m, size_t tree, em_xtree *x, em_err *err)
{
  const em_oblivious *t = &m->trees[tree];
  if (!t->weighted) return no_weights(tree, err);
  x->n_nodes = ((size_t)2 << t->n_splits) - 1;
  x->n_questions = x->depth = t->n_splits;
  x->nodes = em_calloc(x->n_nodes, sizeof *x->nodes);
  if (!x->nodes) return em_fail_nomem(err);
  spell_out(m, t, x);
  return EM_OK;
}

static size_t tree_end(const em_model *m, size_t tree)
{
  return tree + 1 < m->n_trees ? m->roots[tree + 1] : m->n_nodes;
}

static int copy_nodes(const em_model *m, size_t tree, em_xtree *x, em_err *err)
{
  size_t root = m->roots[tree];
  x->n_questions = x->n_nodes = tree_end(m, tree) - root;
  x->depth = m->plan.depth[tree];
  x->nodes = em_calloc(x->n_nodes, sizeof *x->nodes);
  if (!x->nodes) return em_fail_nomem(err);
  for (size_t i = 0; i < x->n_nodes; i++) {
    const em_node *n = &m->nodes[root + i];
    em_xnode *to = &x->nodes[i];
    to->question = (uint32_t)i;
    if (n->left) {
      to->child[0] = n->left - (uint32_t)root;
      to->child[1] = n->right - (uint32_t)root;
      to->border = n->border;
    } else if (n->weighted) {
      to->value = n->value;
      to->weight = n->weight;
    } else {
      return no_weights(tree, err);
    }
  }
  return EM_OK;
}

/* ---- features, weights ------------------------------------------------------------------ */

static uint32_t slot_of(em_xtree *x, uint32_t feature)
{
  uint32_t i = 0;
  while (i < x->n_features && x->features[i] != feature) i++;
  if (i == x->n_features) x->features[x->n_features++] = feature;
  return i;
}

static int name_features(const em_model *m, em_xtree *x, em_err *err)
{
  size_t most = x->n_questions < m->n_features ? x->n_questions : m->n_features;
  x->features = em_calloc(most + 1, sizeof *x->features);
  if (!x->features) return em_fail_nomem(err);
  for (size_t i = 0; i < x->n_nodes; i++)
    if (x->nodes[i].child[0]) x->nodes[i].slot = slot_of(x, m->border_feature[x->nodes[i].border]);
  return EM_OK;
}

/* Where no training row came, neither side is likelier. */
static void weigh_node(em_xtree *x, em_xnode *n)
{
  const em_xnode *a = &x->nodes[n->child[0]], *b = &x->nodes[n->child[1]];
  n->weight = a->weight + b->weight;
  n->share[0] = n->weight > 0 ? a->weight / n->weight : 0.5;
  n->share[1] = n->weight > 0 ? b->weight / n->weight : 0.5;
  n->value = n->share[0] * a->value + n->share[1] * b->value;
}

/* Children stand behind their parents. */
static int weigh(em_xtree *x, size_t tree, em_err *err)
{
  for (size_t i = x->n_nodes; i-- > 0;) {
    em_xnode *n = &x->nodes[i];
    if (n->child[0]) weigh_node(x, n);
    if (n->weight < 0 || !isfinite(n->weight))
      return em_fail(err, EM_E_INPUT, "tree %zu of the model has leaf weights that are negative or add up to infinity",
                     tree);
  }
  return EM_OK;
}

int em_xtree_build(const em_model *m, size_t tree, em_xtree *out, em_err *err)
{
  em_xtree x = {0};
  int rc = m->symmetric ? build_oblivious(m, tree, &x, err) : copy_nodes(m, tree, &x, err);
  if (rc == EM_OK) rc = name_features(m, &x, err);
  if (rc == EM_OK) rc = weigh(&x, tree, err);
  if (rc == EM_OK)
    *out = x;
  else
    em_xtree_free(&x);
  return rc;
}
