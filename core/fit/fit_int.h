/*
 * fit_int.h - inside the fit: the training set, its bins, the objective, the
 * trees.
 *
 * A run goes top to bottom through these parts:
 *
 *   fit_params.c   the table of parameters
 *   trainset.c     pools -> columns and training rows (seeded draw of negatives)
 *   near.c         label smoothing: which rows are near a recorded one
 *   borders.c      a column's values -> borders (GreedyLogSum)
 *   bins.c         columns -> 8-bit codes, packed for the histograms
 *   softmax.c      the objective QuerySoftMax: masses, leaf values
 *   pairs.c        the objectives PairLogit and YetiRank: pairs, derivatives, leaf values
 *   leaves.c       the steps to a tree's leaf values
 *   rows.c         the rows of a growing tree, by leaf
 *   split.c        histograms and the search for the next split
 *   booster.c      trees, one after the other
 *   early.c        the loss on held-out pools from tree to tree
 *   folds.c        which pools are held out together
 *   fit.c          one training, and the run with cross-validation; fit_steps.c its progress
 *   regret.c       the order of a prior against latencies
 *   fit_report.c   provenance and metrics.json; fit_measured.c its part on pools with latencies
 *
 * Sums over rows and pools are sums of integers (fixed point, em_fit_fixed): exact, so
 * neither threads nor the order of rows or pools can change a bit of the result.
 */
#ifndef EM_FIT_INT_H
#define EM_FIT_INT_H

#include <pthread.h>

#include "core/fit/fit.h"

/* ---- numbers (fit_math.c) ---------------------------------------------------
 * Own exp and log from plain double arithmetic: the C library's differ in the
 * last bit between versions and processors, and the artifact's bytes with them. */

#define EM_FIT_LOG2_E 0x1.71547652b82fep+0
double em_fit_exp(double x); /* within 2 ulp; x clamped to +-700 */
double em_fit_log(double x); /* within 2 ulp; x > 0, finite, normal */

/* x * scale rounded to the nearest integer, halves away from zero. */
static inline int64_t em_fit_fixed(double x, double scale)
{
  double y = x * scale;
  return (int64_t)(y + (y < 0 ? -0.5 : 0.5));
}

/* Scales of the sums.  None can leave 63 bits: a set has at most 2^24 rows, masses add up to 1 a pool, gradients and
 * curvatures to at most the positives, and a positive's loss starts at ln of its pool's rows and only
 * falls, but for a trial step of at most 4. */
#define EM_FIT_MAX_ROWS   ((size_t)1 << 24)
#define EM_FIT_ONE_EXP    ((double)((int64_t)1 << 38)) /* sums of exp(a - max) of a pool */
#define EM_FIT_ONE_MASS   ((double)((int64_t)1 << 50)) /* sums of masses in a pool's leaf */
#define EM_FIT_ONE_LOSS   ((double)((int64_t)1 << 34))
#define EM_FIT_ONE_GRAD   ((double)((int64_t)1 << 32)) /* gradients and weights; sampling weights are at most 2^6 */
#define EM_FIT_MAX_WEIGHT 64.0

/* Random streams: what a draw is for and the tree it is for; the index says which. */
enum {
  EM_FIT_DRAW_NEGATIVES = 1,
  EM_FIT_DRAW_BAG,
  EM_FIT_DRAW_COLUMN,
  EM_FIT_DRAW_BORDER,
  EM_FIT_DRAW_FEATURE,
  EM_FIT_DRAW_PAIRS
};
static inline uint64_t em_fit_stream(int purpose, size_t tree, size_t level)
{
  return ((uint64_t)purpose << 56) ^ ((uint64_t)level << 48) ^ (uint64_t)tree;
}

/* ---- training set (trainset.c) --------------------------------------------------- */

/* The columns of all groups that the view selects, sorted by name. */
int em_fit_columns(const em_fit_group *groups, size_t n, const char *spec, em_columns *out, em_err *err) EM_MUST_CHECK;
void em_fit_rest(const em_fit_group *g); /* its matrix is not read for a while */
/* Everything that makes the input unusable. */
int em_fit_check_groups(const em_fit_group *groups, size_t n, const em_columns *cols, em_err *err) EM_MUST_CHECK;

typedef struct em_fit_set {
  size_t n_groups, n_rows, n_positives;
  size_t all_positive; /* pools left out: they hold nothing to rank below their positives */
  const em_fit_group **groups;
  uint64_t *ids;       /* of each group, from its key: what random draws are indexed by */
  uint64_t *shape_ids; /* the same from its shape, for draws that take all cards of a shape or none */
  size_t *start;       /* n_groups + 1: rows of group g are start[g] .. start[g + 1] - 1 */
  double *total;       /* of each group: its targets, summed */
  uint32_t *pool_row;  /* of each row: its index in the pool */
  uint32_t *group;     /* of each row */
  uint8_t *label;      /* of each row: 1 = recorded */
  double *target;      /* of each row: its label, less what rows near it share; in pools with latencies its share of 1;
                                 a multiple of 1 / 2^32, so that sums are exact */
} em_fit_set;
/* The training rows of groups[use[0]] .. groups[use[n_use - 1]]. */
int em_fit_set_make(const em_fit_group *groups, const uint32_t *use, size_t n_use, const em_fit_params *p,
                    em_fit_set *out, em_err *err) EM_MUST_CHECK;
void em_fit_set_free(em_fit_set *s);
/* Targets of a recorded group whose targets are its labels: see near.c. */
void em_fit_share_labels(em_fit_set *s, size_t g, const em_fit_params *p);

/* ---- bins (borders.c, bins.c) ------------------------------------------------------ */

enum { EM_FIT_MAX_BORDERS = 254, EM_FIT_SLOTS = 4, EM_FIT_CODES = 256 };

/* Integers in the order of the floats (no NaN, no -0) that they stand for. */
uint32_t em_fit_key(float x);
/* At most `max` ascending borders for the values of `keys`; a value belongs right of a border when it
 * is greater.  keys are sorted, tmp holds n. */
size_t em_fit_borders(uint32_t *keys, uint32_t *tmp, size_t n, size_t max, float out[EM_FIT_MAX_BORDERS]);

/* A column that has borders.  Its bin is the number of borders below the value (NaN: bin 0). */
typedef struct em_fit_feature {
  uint32_t column;
  uint32_t block;       /* where its codes are */
  uint16_t slot;        /* in the block */
  uint16_t n_bins, div; /* bin = code / div % n_bins */
  uint32_t offset;      /* of its first bin in a histogram of the block */
  bool has_nans;
  const float *borders; /* n_bins - 1 */
} em_fit_feature;

/* Codes of up to four slots, four bytes a row (or a group, for columns that are constant in each group:
 * hardware and structure, which then cost next to nothing).  A slot holds one feature, or several with few
 * bins in mixed radix: one addition serves them all. */
typedef struct em_fit_block {
  bool per_group;
  uint8_t *codes;
  uint16_t slot_size[EM_FIT_SLOTS]; /* codes in use; 1 for an empty slot */
  uint32_t first, n;                /* its features: features[first .. first + n - 1] */
  uint32_t n_bins;                  /* of a histogram: sum over its features */
  size_t hist;                      /* offset of its histograms, in bins per leaf */
} em_fit_block;

typedef struct em_fit_bins {
  size_t n_features, n_blocks, n_columns, total_bins;
  em_fit_feature *features; /* by block, slot and place in the slot */
  em_fit_block *blocks;
  float *borders;      /* n_columns x EM_FIT_MAX_BORDERS */
  uint16_t *n_borders; /* of each column */
  bool *has_nans;      /* of each column */
} em_fit_bins;
int em_fit_bins_make(const em_fit_set *s, const em_columns *cols, size_t max_borders, int threads, em_fit_bins *out,
                     em_err *err) EM_MUST_CHECK;
void em_fit_bins_free(em_fit_bins *b);

static inline const uint8_t *em_fit_code(const em_fit_bins *b, const em_fit_feature *f, const em_fit_set *s, size_t row)
{
  const em_fit_block *k = &b->blocks[f->block];
  return k->codes + (k->per_group ? s->group[row] : row) * EM_FIT_SLOTS + f->slot;
}

/* ---- objective (softmax.c) ------------------------------------------------------------
 * QuerySoftMax (reference catboost.md section 4.1): per pool with T positives, loss = -sum over positives of ln p,
 * p = softmax of the scores. */

typedef int64_t em_fit_gw __attribute__((vector_size(16))); /* {gradient, weight}, fixed point */

/* mass[i] = p of row i; returns the loss summed over pools. */
double em_fit_softmax(const em_fit_set *s, const double *score, double *mass, int threads);

/* A tree's leaves as the objective sees them: what of a pool falls into a leaf. */
typedef struct em_fit_cell {
  uint32_t leaf, rows;
  double target;
  int64_t mass;
} em_fit_cell; /* mass: times EM_FIT_ONE_MASS */
typedef struct em_fit_cells {
  em_fit_cell *cells;   /* those of group g from start[g], by leaf; never more than the group has rows */
  uint32_t *n;          /* of each group */
  em_fit_cell *scratch; /* EM_FIT_CHUNKS x max_leaves */
  size_t max_leaves;
} em_fit_cells;
#define EM_FIT_CHUNKS ((size_t)64)
int em_fit_cells_open(em_fit_cells *c, const em_fit_set *s, size_t max_leaves, em_err *err) EM_MUST_CHECK;
void em_fit_cells_close(em_fit_cells *c);

/* ---- leaf values (leaves.c) ------------------------------------------------------------ */

enum { EM_FIT_PIECES = 8 }; /* of the pools at most, in one evaluation */

/* The values of one tree's leaves, before the learning rate. */
typedef struct em_fit_leaves {
  size_t n;
  double *value, *weight;                      /* n each; weight: training rows */
  double *base;                                /* what the gradient method divides by */
  double *trial, *step, *grad, *curv, *factor; /* scratch, n each */
  int64_t *sums;                               /* scratch, 2 n a piece */
  int64_t loss[EM_FIT_PIECES];
} em_fit_leaves;
int em_fit_leaves_open(em_fit_leaves *l, size_t max_leaves, em_err *err) EM_MUST_CHECK;
void em_fit_leaves_close(em_fit_leaves *l);
/* An objective as a function of the leaf values. */
typedef struct em_fit_objective {
  /* Adds what pools `begin` .. `end` - 1 give at leaf values `value` (factor: their exponentials) to sums, {gradient of minus
   * the loss, curvature} a leaf, fixed point; returns their loss, less that at value 0.  Called by several threads. */
  int64_t (*evaluate)(const void *ctx, size_t begin, size_t end, const double *value, const double *factor,
                      int64_t *sums);
  const void *ctx;
  size_t n_groups;
  int threads;
} em_fit_objective;
/* Lowers loss + l2 / 2 * sum of squares (gradient method: the loss) from zero, by steps with backtracking; a leaf
 * without rows stays 0.  weight and base are set. */
void em_fit_step_leaves(em_fit_leaves *l, const em_fit_params *p, const em_fit_objective *of);
/* leaf: of each row, less than out->n. */
void em_fit_softmax_leaves(const em_fit_set *s, const double *mass, const uint16_t *leaf, const em_fit_params *p,
                           em_fit_cells *cells, em_fit_leaves *out);

/* ---- pairs (pairs.c) ----------------------------------------------------------------------
 * PairLogit and YetiRank (reference catboost.md sections 4.2, 4.3): loss = sum over pairs of weight * ln(1 + exp(score of the
 * loser - score of the winner)).  PairLogit: every two rows of a pool with different targets, a seeded draw of them where
 * they are many; the weights of a pool add up to its targets.  YetiRank: neighbours in orders drawn from the scores, drawn
 * anew for each tree and for its leaf values. */

typedef struct em_fit_pair {
  uint32_t win, lose;
  double weight;
} em_fit_pair; /* rows */
typedef struct em_fit_slope {
  int64_t grad, curv, weight;
} em_fit_slope; /* of a row, fixed point; weight: its pairs' */
typedef struct em_fit_pairs {
  size_t *start, *n; /* of each group */
  em_fit_pair *pairs;
  double *odds;        /* of each pair: exp(score of the loser - score of the winner) */
  em_fit_slope *slope; /* of each row */
  double *power;       /* of each row: exp(score) over the pool's largest; YetiRank alone */
} em_fit_pairs;
#define EM_FIT_MAX_PAIRS ((size_t)1 << 15) /* of a pool */
int em_fit_pairs_open(em_fit_pairs *q, const em_fit_set *s, const em_fit_params *p, em_err *err) EM_MUST_CHECK;
void em_fit_pairs_close(em_fit_pairs *q);
/* The pairs of YetiRank for these scores; `draw` numbers the draws. */
void em_fit_pairs_draw(em_fit_pairs *q, const em_fit_set *s, const em_fit_params *p, const double *score, size_t draw);
/* Sets odds and slope; returns the loss summed over pools. */
double em_fit_pairs_derive(em_fit_pairs *q, const em_fit_set *s, const double *score, int threads);
void em_fit_pairs_leaves(const em_fit_pairs *q, const em_fit_set *s, const uint16_t *leaf, const em_fit_params *p,
                         em_fit_leaves *out);

/* A split of a tree: bins > border go right. */
typedef struct em_fit_choice {
  uint32_t feature, border;
  double score;
} em_fit_choice;

/* ---- rows of a tree (rows.c) ---------------------------------------------------------------- */

/* Neighbouring rows of one leaf: a piece of work. */
typedef struct em_fit_stretch {
  size_t leaf, begin, end;
  size_t left, right; /* where its rows go when the leaf is parted */
  size_t n_runs;      /* of rows of one group */
} em_fit_stretch;

typedef struct em_fit_rows {
  size_t n;                /* rows in the bag */
  uint32_t *id, *id_next;  /* rows, sorted by leaf, then by row; room for the next level's */
  em_fit_gw *gw, *gw_next; /* their derivatives */
  bool *right;             /* of each place: its row goes right */
  uint32_t *run_id;        /* groups of the runs, at the place of their rows; NULL where no block is per group */
  em_fit_gw *run_gw;
  size_t *begin, *end; /* of each leaf */
  em_fit_stretch *stretches;
  size_t n_stretches, parts; /* parts: stretches of a leaf, of those to add up */
} em_fit_rows;
int em_fit_rows_open(em_fit_rows *r, const em_fit_set *s, size_t max_leaves, bool runs, em_err *err) EM_MUST_CHECK;
void em_fit_rows_close(em_fit_rows *r);
/* The child with fewer rows, of leaf and leaf + half. */
size_t em_fit_rows_smaller(const em_fit_rows *r, size_t leaf, size_t half);
/* Parts leaves 0 .. half - 1, each into itself and the leaf `half` further on. */
void em_fit_rows_part(em_fit_rows *r, const em_fit_set *set, const em_fit_bins *bins, em_fit_choice split, size_t half,
                      int threads);
/* Stretches: the smaller child of each leaf that was parted last (half = 0: the root), each in the same number of parts, at
 * most `most`. */
void em_fit_rows_to_add(em_fit_rows *r, size_t half, size_t most);
void em_fit_rows_sum_runs(em_fit_rows *r, const em_fit_set *set, int threads); /* of these stretches */
/* Which codes of the feature's slot go right of its border. */
void em_fit_sides(const em_fit_feature *f, uint32_t border, bool right[EM_FIT_CODES]);

/* ---- search (split.c) -------------------------------------------------------------------- */

/* What the search works on, allocated once for a training. */
typedef struct em_fit_search {
  const em_fit_set *set;
  const em_fit_bins *bins;
  const em_fit_params *params;
  em_fit_rows rows;
  em_fit_gw *hist;     /* block by block: leaf x n_bins */
  em_fit_choice *best; /* of each feature */
  size_t max_leaves;
} em_fit_search;
int em_fit_search_open(em_fit_search *q, const em_fit_set *s, const em_fit_bins *b, const em_fit_params *p,
                       em_err *err) EM_MUST_CHECK;
void em_fit_search_close(em_fit_search *q);
/* Grows one tree over the rows id[0 .. n - 1] (ascending) of q->rows with derivatives gw; returns its number of splits, at
 * most params->depth. */
size_t em_fit_search_tree(em_fit_search *q, size_t tree, em_fit_choice *splits);

/* ---- trees (booster.c) ---------------------------------------------------------------------- */

typedef struct em_fit_forest {
  size_t n_trees, depth; /* trees of all bags, bag by bag */
  em_fit_choice *splits; /* depth a tree */
  uint8_t *n_splits;
  char objective[EM_FIT_TEXT_LEN];
  double *values, *weights; /* 1 << depth a tree */
  double *loss;             /* before the first tree and after each, of its bag alone: n_trees + 1, a pool's mean */
  double loss_last;         /* of all bags together */
} em_fit_forest;
/* How far a run is, in trees over all its trainings, some of which may work at the same time. */
typedef struct em_fit_steps {
  pthread_mutex_t lock; /* reports come one at a time */
  const em_progress *progress;
  size_t done, total;
  bool stop;
} em_fit_steps;
void em_fit_steps_open(em_fit_steps *s, const em_progress *progress, size_t total);
void em_fit_steps_close(em_fit_steps *s);
/* `n` more trees are done (0 = about to start one): reports, and fails when the run is to stop. */
int em_fit_step(em_fit_steps *s, size_t n, em_err *err) EM_MUST_CHECK;
void em_fit_stop(em_fit_steps *s); /* one training failed: the others need not go on */
/* All bags; leaf values are divided by their number, so that the forest's sum is the bags' mean. */
int em_fit_boost(const em_fit_set *s, const em_fit_bins *b, const em_fit_params *p, em_fit_steps *steps,
                 em_fit_forest *out, em_err *err) EM_MUST_CHECK;
void em_fit_forest_free(em_fit_forest *f);
int em_fit_forest_model(const em_fit_forest *f, const em_fit_bins *b, const em_columns *cols, em_model **out,
                        em_err *err) EM_MUST_CHECK;

/* ---- early stopping (early.c) -------------------------------------------------------------- */

/* Adds to loss[t] (n_trees + 1) the loss of `held` by the first t trees: of QuerySoftMax, or of PairLogit for the objectives
 * on pairs. */
int em_fit_add_curve(const em_fit_forest *f, const em_fit_bins *b, const em_columns *cols, const em_fit_set *held,
                     const em_fit_params *p, double *loss, em_err *err) EM_MUST_CHECK;
/* The number of trees with the least loss before `patience` trees in a row are no better; at least 1. */
size_t em_fit_stop_at(const double *loss, size_t n_trees, size_t patience);

/* ---- report (fit_report.c) ---------------------------------------------------------------------- */

/* What a run found out; all borrowed but what em_fit_run owns. */
typedef struct em_fit_fold {
  bool done;
  char excluded[EM_ERR_LEN]; /* why not, when not done */
} em_fit_fold;
typedef struct em_fit_findings {
  const em_fit_group *groups;
  size_t n;
  const em_fit_params *params;
  const em_columns *cols;
  const cJSON *provenance; /* the caller's; may be NULL */
  const em_prior *prior;
  const em_fit_set *set;        /* training rows of the fit on all; NULL once they are gone */
  const em_rank *full;          /* of each group, by the prior fitted on all */
  const em_regret *full_regret; /* the same; of groups with latencies alone */
  size_t rows;                  /* training rows of that fit */
  double loss_first, loss_last;
  size_t folds;         /* 0 = no cross-validation */
  const uint32_t *fold; /* of each group */
  size_t repeats;
  const em_fit_fold *state; /* of each repeat and fold */
  const em_rank *ranks;     /* repeats x folds x n: by the prior fitted without the fold */
  const em_regret *regrets; /* the same */
  size_t asked;             /* trees asked for, when early stopping took params->iterations; else 0 */
} em_fit_findings;
int em_fit_report(const em_fit_findings *f, char **text, em_err *err) EM_MUST_CHECK;
/* Adds `measured` to full_train and cv (NULL = no cross-validation); nothing where no group has latencies.  keys: names of
 * the groups that are unique (fit_measured.c). */
int em_fit_report_measured(const em_fit_findings *f, char *const *keys, cJSON *full, cJSON *cv,
                           em_err *err) EM_MUST_CHECK;

/* Caller's provenance plus what was fitted on what, and how well it came out. */
int em_fit_provenance(const em_fit_findings *f, cJSON **out, em_err *err) EM_MUST_CHECK;
/* "ranges": {column: [least, greatest]} of the training rows; a column without a value is left out (fit_ranges.c). */
bool em_fit_add_ranges(const em_fit_set *s, const em_columns *cols, cJSON *fit);

#endif
