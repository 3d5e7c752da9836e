/*
 * explain_int.h - trees made ready for explaining.
 *
 * SHAP values are integrals.  The Shapley weight of a set of s features out of k - 1 others, s! (k-1-s)! / k!, is the
 * integral of t^s (1-t)^(k-1-s) over [0, 1]; so a feature's value is the integral over t of a product with one
 * factor per other feature, a polynomial in t of degree k - 1, which Gauss's rule of k/2 points integrates exactly.
 * At one point t the products of all leaves are formed on one walk down and summed on the way up: a tree
 * costs its nodes times k/2, with nothing but sums of products of numbers in [0, 1].
 */
#ifndef EM_EXPLAIN_INT_H
#define EM_EXPLAIN_INT_H

#include "core/prior/model_int.h"

/* A node; nodes[0] is the root and never a child, so child[0] == 0 marks a leaf. */
typedef struct em_xnode {
  uint32_t child[2]; /* false side, true side */
  uint32_t border;   /* index in em_model.borders */
  uint32_t slot;     /* which of the tree's features it asks about */
  uint32_t question; /* nodes that always give the same answer share one: the level, or the node itself */
  double share[2];   /* of the training weight that went to either side */
  double weight;
  double value; /* of a leaf: as in the model; else the weighted mean of the leaves below */
} em_xnode;

typedef struct em_xtree {
  em_xnode *nodes;
  size_t n_nodes, n_questions, depth;
  uint32_t *features; /* distinct features of the tree, in order of their first node */
  size_t n_features;
} em_xtree;

/* Refuses a tree without usable leaf weights. */
int em_xtree_build(const em_model *m, size_t tree, em_xtree *out, em_err *err) EM_MUST_CHECK;
void em_xtree_free(em_xtree *x);

/* Gauss-Legendre on [0, 1]; exact for polynomials of degree 2n - 1. */
typedef struct em_gauss {
  size_t n;
  double *t, *w;
} em_gauss;
int em_gauss_new(size_t n, em_gauss *out, em_err *err) EM_MUST_CHECK;
void em_gauss_free(em_gauss *g);

/* Memory of a walk over trees that are no larger than asked for. */
typedef struct em_walk em_walk;
em_walk *em_walk_new(const em_gauss *rule, size_t depth, size_t n_features);
void em_walk_free(em_walk *w);
/* phi[slot]: the SHAP values of a row whose answers are given by question. */
void em_walk_tree(em_walk *w, const em_xtree *x, const bool *answer, double *phi);

/* explain.c */
const em_model *em_explainer_model(const em_explainer *e);

#endif
