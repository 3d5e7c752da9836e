/*
 * model_int.h - the parts of a model, shared by its reader, writer and scorer.
 */
#ifndef EM_MODEL_INT_H
#define EM_MODEL_INT_H

#include "core/prior/prior.h"

#define EM_MODEL_MAX_DEPTH 16
#define EM_MODEL_MAX_NODES 65535 /* of one non-symmetric tree: CatBoost keeps 16-bit offsets */

typedef enum em_nan_treatment { EM_NAN_AS_IS, EM_NAN_AS_FALSE, EM_NAN_AS_TRUE, EM_N_NAN_TREATMENTS } em_nan_treatment;
extern const char *const em_nan_treatment_name[EM_N_NAN_TREATMENTS];

typedef struct em_model_feature {
  char *name; /* "" when the file has none */
  em_nan_treatment nan;
  bool has_nans;
  size_t border_at, n_borders; /* in em_model.borders */
} em_model_feature;

typedef struct em_oblivious {
  size_t split_at, n_splits; /* in em_model.splits */
  size_t leaf_at;            /* in em_model.leaf_values and leaf_weights */
  bool weighted;             /* leaf_weights are known */
} em_oblivious;

/* A node of a non-symmetric tree; nodes[0] of the model is never a child, so
 * left == 0 marks a leaf. */
typedef struct em_node {
  uint32_t border;      /* index in em_model.borders; of a leaf: its number from the left */
  uint32_t left, right; /* false side, true side */
  bool weighted;
  double value, weight;
} em_node;

/* What the scorer reads: values become 8-bit bins, splits byte comparisons.
 *
 * A bin column covers up to 255 neighbouring borders of one feature; its bin is
 * the number of them below the value, kept minus 128 because byte comparison
 * in SIMD is signed.  A split is true iff bin > threshold. */
#define EM_BIN_BORDERS 255
#define EM_BLOCK       128 /* rows scored together; what is beyond the last row is computed and dropped */

typedef struct em_bin_column {
  uint32_t levels; /* of the search heap: 2^levels - 1 borders, padded with +inf */
  size_t heap_at;  /* in em_plan.heaps: borders in heap order, root at [1] */
} em_bin_column;

/* A feature that some split may use, and its bin columns. */
typedef struct em_used_feature {
  uint32_t feature;
  bool nan_is_true;
  size_t column_at, n_columns;
} em_used_feature;

typedef struct em_bin_split {
  uint32_t bins_at; /* where the bins of its column begin in those of a block of rows */
  int8_t threshold;
  int8_t above; /* threshold + 1, the least bin for which it is true */
} em_bin_split;

/* A node of a non-symmetric tree.  A leaf is its own child, so that every row
 * may take as many steps as the tree is deep. */
typedef struct em_bin_node {
  em_bin_split split;
  uint32_t child[2];
} em_bin_node;

#define EM_PLANE_DEPTH 6
#define EM_PLANE_WORDS ((size_t)1 << EM_PLANE_DEPTH)

typedef struct em_plan {
  em_used_feature *used;
  size_t n_used;
  em_bin_column *columns; /* by feature */
  size_t n_columns;
  float *heaps;
  float *sorted;        /* the same borders in ascending order, at the same place, [0] the least */
  em_bin_split *splits; /* parallel to em_model.splits */
  em_bin_node *nodes;   /* parallel to em_model.nodes */
  uint32_t *depth;      /* of each non-symmetric tree */
  /* Per tree of depth <= 6: its leaf values cut in four planes of 64 16-bit words,
   * lowest words first: what one AVX-512 permutation can look up. */
  uint16_t *planes;
} em_plan;

struct em_model {
  size_t n_features;
  em_model_feature *features;

  float *borders;           /* all features' borders in feature order: a split_index points here */
  uint32_t *border_feature; /* whose border it is */
  size_t n_borders;

  size_t n_trees; /* while the trees are read: those that are begun */
  bool symmetric;

  em_oblivious *trees;
  em_split *splits;
  uint32_t *split_border; /* parallel to splits: index in borders */
  size_t n_splits;
  double *leaf_values, *leaf_weights;
  size_t n_leaves;

  size_t *roots; /* non-symmetric: the root node of each tree */
  em_node *nodes;
  size_t n_nodes, cap_nodes;

  double scale, bias;
  cJSON *info; /* model_info as read or made; NULL = none */
  em_plan plan;
};

/* model_tree.c: the members oblivious_trees and trees, once features are read. */
int em_model_read_oblivious(em_model *m, const cJSON *trees, const em_place *at, em_err *err) EM_MUST_CHECK;
int em_model_read_trees(em_model *m, const cJSON *trees, const em_place *at, em_err *err) EM_MUST_CHECK;

/* model_new.c: the arrays of a model whose sizes were counted before.  They
 * count n_borders, n_splits and n_leaves up from 0 as they are filled. */
int em_model_alloc_borders(em_model *m, size_t n, em_err *err) EM_MUST_CHECK;
int em_model_alloc_trees(em_model *m, size_t n_trees, size_t n_splits, size_t n_leaves, em_err *err) EM_MUST_CHECK;
/* The next tree, of `n_splits` splits, which are yet to be set. */
em_oblivious *em_model_add_tree(em_model *m, size_t n_splits);
void em_model_set_split(em_model *m, size_t split, size_t border);

/* model_print.c: the model's text, each line but the first led by `indent` blanks. */
void em_model_print_indented(const em_model *m, int indent, em_str *out);
void em_put_number(em_str *out, double x);

/* score.c: the value of a feature that splits compare. */
float em_model_value(const em_model *m, size_t feature, const double *row, const int32_t *col);

/* score_plan.c */
int em_plan_build(em_model *m, em_err *err) EM_MUST_CHECK;
void em_plan_free(em_plan *p);

#endif
