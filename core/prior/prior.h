/*
 * prior.h - the fitted model, its artifact, and the one way to rank.
 *
 * Every part of the program that orders candidates calls em_prior_score and
 * em_rank_*: there is no second scorer.
 *
 *   quality  scale * sum of leaf values + bias; higher = predicted faster
 *   price    exp(-params.scale * quality), exponent clamped to +-700; lower =
 *            faster, a stand-in for latency that may be added over kernels
 *
 * The model is CatBoost's own JSON (reference catboost.md section 1): float32
 * comparison value > border, NaN by treatment, double sums in tree order.
 */
#ifndef EM_PRIOR_H
#define EM_PRIOR_H

#include "core/feature/feature.h"

/* ---- model -------------------------------------------------------------------- */

typedef struct em_model em_model;

/* Reads a numeric CatBoost JSON model of one dimension: oblivious trees of depth 0..16 or non-symmetric
 * `trees`.  Refused by name: categorical, text, embedding and
 * multi-dimensional models, split_index out of range or against border and feature, leaf counts that do not match
 * the splits, non-finite values, borders not ascending. */
int em_model_parse(const cJSON *json, const em_place *at, em_model **out, em_err *err) EM_MUST_CHECK;
void em_model_free(em_model *m);
/* CatBoost's layout, loadable by the real one, byte-stable. */
void em_model_print(const em_model *m, em_str *out);

size_t em_model_n_features(const em_model *m);
size_t em_model_n_trees(const em_model *m);
/* Borders of one feature, ascending (as used by some split); *n may be 0. */
const float *em_model_borders(const em_model *m, size_t feature, size_t *n);

typedef struct em_split {
  uint32_t feature;
  float border;
} em_split;
/* One oblivious tree: splits (bit i of the leaf index = split i), leaf values and
 * training weights (NULL when the file has none), 1 << n_splits each. */
typedef struct em_tree_view {
  const em_split *splits;
  size_t n_splits;
  const double *leaf_values, *leaf_weights;
} em_tree_view;
/* How many splits of the trees ask each feature: em_model_n_features counts. */
void em_model_count_splits(const em_model *m, size_t *splits);
bool em_model_tree(const em_model *m, size_t tree, em_tree_view *out); /* false for a non-symmetric tree */
double em_model_scale(const em_model *m);                              /* what leaf values are multiplied with */

/* A model built by the booster: adopts nothing, copies all. */
typedef struct em_model_build {
  size_t n_features;
  const char *const *feature_names;
  const bool *has_nans;
  size_t n_trees;
  const em_tree_view *trees; /* every one oblivious */
  double scale, bias;
  const char *loss; /* "QuerySoftMax" */
} em_model_build;
int em_model_new(const em_model_build *spec, em_model **out, em_err *err) EM_MUST_CHECK;

/* Scores `rows` rows: feature f of the model is column col[f] of the row-major matrix with
 * `stride` doubles a row, or missing where col[f] < 0.  `threads` 0 = all cores; same
 * bits for any number and on any instruction set. */
int em_model_score(const em_model *m, const double *matrix, size_t rows, size_t stride, const int32_t *col, int threads,
                   double *quality, em_err *err) EM_MUST_CHECK;
/* The leaf index of each tree for one row (n_trees values). */
void em_model_leaves(const em_model *m, const double *row, const int32_t *col, uint32_t *leaf);

/* ---- artifact ------------------------------------------------------------------- */

typedef struct em_prior em_prior;

/* Strict: a missing file, malformed JSON, another feat_ver, a wrong space, model and cols that disagree are each an
 * error that says what was found, what was expected and the command that mends it.
 * feat_ver: EM_FEAT_VER, or what --feat-ver allows. */
int em_prior_load(const char *path, int feat_ver, em_prior **out, em_err *err) EM_MUST_CHECK;
/* Takes over `model`, also when it fails.  `provenance` is a JSON object (copied), may be NULL. */
int em_prior_new(em_model *model, const em_columns *cols, int feat_ver, double scale, const cJSON *provenance,
                 em_prior **out, em_err *err) EM_MUST_CHECK;
int em_prior_save(const em_prior *p, const char *path, em_err *err) EM_MUST_CHECK;
void em_prior_print(const em_prior *p, em_str *out); /* the artifact's text */
void em_prior_free(em_prior *p);

const em_model *em_prior_model(const em_prior *p);
const em_columns *em_prior_columns(const em_prior *p);
int em_prior_feat_ver(const em_prior *p);
const char *em_prior_digest(const em_prior *p); /* 32 hex digits of the artifact's text */
const cJSON *em_prior_provenance(const em_prior *p);

/* Scores a matrix whose columns are `cols` (matched by name; a column the matrix lacks is missing). */
int em_prior_score(const em_prior *p, const em_columns *cols, const double *matrix, size_t rows, int threads,
                   double *quality, em_err *err) EM_MUST_CHECK;
double em_prior_price(const em_prior *p, double quality);

/* ---- ranks (formats.md section 7.6); all 0-based ---------------------------------- */

typedef struct em_rank {
  size_t against;    /* others with quality >= its own: every tie counts against it */
  size_t optimistic; /* others with quality strictly greater */
  size_t plateau;    /* others with exactly its quality */
  size_t best;       /* the positive (row index) that these are of: the least `against`, first on equality */
} em_rank;
/* Rank of the best of `n_pos` >= 1 positives among `n` qualities.  Other positives count like any row. */
em_rank em_rank_of(const double *quality, size_t n, const uint32_t *positives, size_t n_pos);

/* The cold pick: highest quality, ties to the least row by em_row_compare (rows may be NULL: then the least index). */
size_t em_rank_pick(const double *quality, const em_row *rows, size_t n);
/* order[i] = row of rank i: quality descending, ties by content, then index. */
int em_rank_order(const double *quality, const em_row *rows, size_t n, uint32_t *order, em_err *err) EM_MUST_CHECK;

/* ---- explanations -------------------------------------------------------------------
 * SHAP values take one score apart by feature, exactly as CatBoost's regular algorithm does: the path-dependent
 * Shapley values of each tree, with the training weights of its leaves as the background.  They need leaf weights:
 * a model without them is refused.  Everything here is in units of quality (scale and bias included) and is
 * the same for any number of threads. */

/* For each feature of the model the column of its name in `cols`, or -1: the `col` of em_model_* and em_explain_*. */
void em_prior_map(const em_prior *p, const em_columns *cols, int32_t *col);

/* Borrows the model.  Keeps what rows needed, so that later ones cost a table row per tree: not for several threads at once. */
typedef struct em_explainer em_explainer;
int em_explainer_new(const em_model *m, em_explainer **out, em_err *err) EM_MUST_CHECK;
void em_explainer_free(em_explainer *e);
/* The score of a row of which nothing is known: the weighted mean over the training rows, plus bias. */
double em_explainer_expected(const em_explainer *e);
/* shap: rows x (n_features + 1), row-major: a value per feature, then the expected score.  A row sums up to its quality. */
int em_explain_rows(em_explainer *e, const double *matrix, size_t rows, size_t stride, const int32_t *col, int threads,
                    double *shap, em_err *err) EM_MUST_CHECK;
/* Why row a scores above row b: features[n_features] and trees[n_trees] (either may be NULL), each of
 * which sums up to quality(a) - quality(b). */
int em_explain_difference(em_explainer *e, const double *a, const double *b, const int32_t *col, double *features,
                          double *trees, em_err *err) EM_MUST_CHECK;

/* What a tree asks of a row: is value > border?  Missing is NaN, or +inf where the model takes it as above all. */
typedef struct em_step {
  uint32_t feature;
  float border, value;
  bool above;
} em_step;
typedef struct em_leaf {
  uint32_t index;
  double value;  /* times scale: the tree's part of the quality */
  double weight; /* of the training rows that fell here; NaN = the model does not say */
} em_leaf;
/* Bounds the steps of any path: JSON nests no deeper. */
#define EM_MAX_STEPS EM_JSON_DEPTH
/* The row's way through a tree, root first (of an oblivious tree: in the order of its splits); returns the number of steps.  `steps` may be NULL. */
size_t em_model_path(const em_model *m, size_t tree, const double *row, const int32_t *col, em_step steps[EM_MAX_STEPS],
                     em_leaf *out);

/* Did the training rows lack this feature somewhere?  Where not, the model never learnt what missing means. */
bool em_model_saw_missing(const em_model *m, size_t feature);

/* Importance of each feature to the model's own values (CatBoost's PredictionValuesChange), in percent of
 * their sum; all 0 for a model without splits that matter.  Needs leaf weights. */
int em_explain_values_change(const em_model *m, double *importance, em_err *err) EM_MUST_CHECK;

/* Rows in groups, for the loss QuerySoftMax; everything borrowed. */
typedef struct em_explain_data {
  const double *matrix;
  size_t rows, stride;
  const int32_t *col;
  const size_t *group_end;
  size_t n_groups;       /* ascending, the last one equals rows; a group begins where the one before ends */
  const double *labels;  /* finite, not negative */
  const double *weights; /* finite, not negative; NULL = all 1 */
} em_explain_data;
/* How much worse QuerySoftMax gets without each feature's SHAP values (CatBoost's LossFunctionChange); *loss (may be
 * NULL) is the loss with all of them.  No label above 0 anywhere is EM_E_INPUT. */
int em_explain_loss_change(em_explainer *e, const em_explain_data *d, int threads, double *importance, double *loss,
                           em_err *err) EM_MUST_CHECK;

#endif
