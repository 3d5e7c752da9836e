/*
 * fit.h - one training run: from pools with recorded rows to an artifact and a
 * metrics file.
 *
 * Training set: per pool its recorded rows (label 1) and a uniform seeded draw
 * of the rest (label 0); group = pool; objective QuerySoftMax, PairLogit or YetiRank; oblivious trees.
 * With QuerySoftMax rows near a recorded one share a part of its label (label_smoothing, label_reach).
 * A pool with latencies has graded labels instead: a row of latency t counts as (best / t) ^ (1 / label_temperature), all of
 * a pool together as 1.
 * Every random draw is a function of (seed, what for, tree, column, pool or shape) and sums over rows are exact,
 * so a fit gives the same bytes with any number of threads and for any order of the pools.
 * Ranks in the metrics come from em_prior_score and em_rank_of over whole pools.
 */
#ifndef EM_FIT_H
#define EM_FIT_H

#include "core/prior/prior.h"

/* A pool to learn from; everything borrowed. */
typedef struct em_fit_group {
  const char *key, *gpu, *tier, *shape; /* gpu, shape: what may be held out whole */
  bool dynamic;
  bool watched; /* never learned from, only ranked: its figures stand in the metrics beside those of the others */
  const em_columns *cols;
  const double *matrix; /* rows x cols->n */
  size_t rows;
  size_t total;              /* size of the whole pool; rows < total when sampled */
  const uint32_t *positives; /* ascending row indices; with latencies: the fastest */
  size_t n_positives;
  const double *latency; /* of each row, above 0; NULL = recorded rows are all that counts */
  void (*rest)(
    const void *owner); /* the matrix is not read for a while: its memory may go until then; NULL = it stays */
  const void *owner;
  int h_opt; /* optimization level that the latencies were taken at */
} em_fit_group;

/* One table of parameters: name, default, range, doc; the command line, its help, provenance and checks are made
 * from it (em_fit_param_at). */
typedef struct em_fit_params {
  int64_t iterations, depth, bags, negatives, folds, seed, threads;
  double learning_rate, l2_leaf_reg, random_strength, subsample, bagging_temperature, rsm, label_temperature,
    label_smoothing, label_reach;
  int64_t bootstrap, score, split_weight, leaf_method, leaf_steps, borders, feat_ver, objective, labels, repeats,
    early_stopping, hold_out;
  const char *features; /* view spec; NULL = "@schedule" */
} em_fit_params;
enum { EM_BOOTSTRAP_NONE, EM_BOOTSTRAP_BERNOULLI, EM_BOOTSTRAP_BAYESIAN };
enum { EM_HOLD_OUT_SHAPES, EM_HOLD_OUT_CARDS };
enum { EM_SCORE_COSINE, EM_SCORE_L2 };
enum { EM_SPLIT_ROWS, EM_SPLIT_CURVATURE };
enum { EM_LEAF_NEWTON, EM_LEAF_GRADIENT };
enum { EM_OBJECTIVE_SOFTMAX, EM_OBJECTIVE_PAIRS, EM_OBJECTIVE_YETI };
enum { EM_LABELS_GOLDEN, EM_LABELS_MEASURED, EM_LABELS_BOTH };

typedef struct em_fit_param {
  const char *name, *doc;
  bool integer;
  const char *choices; /* "none,bernoulli": the value is the index of one of these names; NULL = a number */
  size_t offset;       /* in em_fit_params: an int64_t when integer, else a double */
  double dflt, lo, hi;
  bool recorded; /* belongs into provenance: the result depends on it */
} em_fit_param;
size_t em_n_fit_params(void);
const em_fit_param *em_fit_param_at(size_t i);
const em_fit_param *em_fit_param_find(const char *name); /* NULL = unknown */
double em_fit_param_get(const em_fit_param *d, const em_fit_params *p);
/* As the user types it: a number in range, or one of the choices. */
int em_fit_param_set(const em_fit_param *d, em_fit_params *p, const char *text, em_err *err) EM_MUST_CHECK;
#define EM_FIT_TEXT_LEN 64
const char *em_fit_param_text(const em_fit_param *d, const em_fit_params *p, char buf[EM_FIT_TEXT_LEN]);
void em_fit_defaults(em_fit_params *p);
int em_fit_check(const em_fit_params *p, em_err *err) EM_MUST_CHECK;

/* "QuerySoftMax" ...: as model files name it. */
const char *em_fit_objective_name(const em_fit_params *p, char buf[EM_FIT_TEXT_LEN]);

/* Trains one prior on all groups.  Unusable input is a clear error: no groups, a pool without positives, infinities
 * in features, no column left by the view, no column that varies.  A pool of positives only teaches
 * nothing: it is left out, and counted.  Provenance gets a member "fit": parameters, counts, figures. */
int em_fit_train(const em_fit_group *groups, size_t n, const em_fit_params *p, const cJSON *provenance,
                 const em_progress *progress, em_prior **out, em_err *err) EM_MUST_CHECK;

/* One table: the k of top-k columns. */
#define EM_TOP_KS(X)  X(1) X(5) X(10) X(25) X(50) X(100)
#define EM_TOP_ONE(k) +1
enum { EM_N_TOPS = 0 EM_TOP_KS(EM_TOP_ONE) };
#undef EM_TOP_ONE
extern const size_t em_top_ks[EM_N_TOPS];

/* Figures over the ranks of `n` pools; shared with eval. */
typedef struct em_rank_summary {
  size_t pools;
  double median, median_optimistic, mean_log2; /* of 0-based ranks; mean of log2(1 + rank); NaN when pools is 0 */
  size_t top[EM_N_TOPS];                       /* pools with rank < k */
} em_rank_summary;
/* The `metrics` object that files show of a summary: rank {median, median_optimistic, mean_log2}, top1 {count} ...;
 * NULL when out of memory. */
cJSON *em_rank_summary_json(const em_rank_summary *s);
int em_rank_summarise(const em_rank *ranks, size_t n, em_rank_summary *out, em_err *err) EM_MUST_CHECK;

/* ---- measured pools: the order against the latencies (regret.c) ----
 * Formulas of formats.md section 7.6.  Let the rows that have a latency (finite, above 0) stand in the order of the prior,
 * highest quality first; rows without one are left out, as if the pool did not hold them.
 *
 *   regret@k = least latency of the first k / least latency of all: 1 is best, 1.4 is 40 % slower.  Of equal quality the
 *   slowest stands first, so that a tie is never luck.  Not defined where no more than k rows have a latency.
 *
 *   Spearman's rho = Pearson's correlation of the ranks of the predicted cost (minus quality) and of the latency; equal
 *   values share their mean rank (Kendall and Gibbons, "Rank Correlation Methods"; what scipy.stats.spearmanr gives).  1 is best, 0 is no
 *   order at all.  Not defined for fewer than two rows, or where all qualities or all latencies are equal.
 *
 * Nothing of this changes when qualities or latencies go through a rising function (latencies: rho alone; regret is a
 * ratio), or when the rows come in another order. */
#define EM_REGRET_KS(X)  X(1) X(10)
#define EM_REGRET_ONE(k) +1
enum { EM_N_REGRETS = 0 EM_REGRET_KS(EM_REGRET_ONE) };
#undef EM_REGRET_ONE
extern const size_t em_regret_ks[EM_N_REGRETS];

typedef struct em_regret {
  size_t measured;                   /* rows with a latency */
  double spearman, at[EM_N_REGRETS]; /* NaN = not defined */
} em_regret;
int em_regret_of(const double *quality, const double *latency, size_t n, em_regret *out, em_err *err) EM_MUST_CHECK;

/* Over pools, of one card: latencies of different cards have nothing in common.  Each figure over the pools where it is
 * defined, rho over those of at least EM_SPEARMAN_LEAST rows with a latency; `pools` counts them.  worst: least rho, greatest regret; of equals the
 * pool of the least key. */
#define EM_SPEARMAN_LEAST ((size_t)5)
typedef struct em_regret_figure {
  size_t pools;
  double median, worst;   /* NaN when pools is 0 */
  const char *worst_pool; /* one of the keys; NULL when pools is 0 */
} em_regret_figure;
typedef struct em_regret_summary {
  size_t pools; /* all of them */
  em_regret_figure spearman, at[EM_N_REGRETS];
} em_regret_summary;
int em_regret_summarise(const em_regret *pools, const char *const *keys, size_t n, em_regret_summary *out,
                        em_err *err) EM_MUST_CHECK;

/* "regret1", "regret10": what files call them. */
#define EM_REGRET_NAME_LEN 32
const char *em_regret_name(size_t k, char buf[EM_REGRET_NAME_LEN]);
/* The `metrics` object of a summary: spearman {median, worst, worst_pool, groups}, regret1 ...; NULL when out of memory. */
cJSON *em_regret_summary_json(const em_regret_summary *s);
/* The figures of one pool as members of `o`; false when out of memory. */
bool em_regret_add_json(cJSON *o, const em_regret *r) EM_MUST_CHECK;

/* Spearman's rho of n points, whose values become their ranks. */
typedef struct em_xy {
  double x, y;
} em_xy;
double em_spearman(em_xy *points, size_t n);

/* The text of a metrics file: keys sorted, one member a line, figures rounded to six digits; two of them can be
 * compared with diff. */
int em_metrics_print(const cJSON *json, char **out, em_err *err) EM_MUST_CHECK;

/* A name of its own for each of n keys: the key, with "#2", "#3" ... where it repeats.  out holds n NULLs; its texts are
 * the caller's, also those made before a failure. */
int em_unique_keys(const char *const *keys, size_t n, char **out, em_err *err) EM_MUST_CHECK;

/* Fold of each group: whole shapes (or cards, EM_HOLD_OUT_CARDS), largest first to the smallest fold, ties by
 * name.  fold[i] in 0..folds-1.  Watched groups do not change the folds of the others: they go where
 * their shape is, and shapes of theirs alone are dealt last. */
int em_fit_folds(const em_fit_group *groups, size_t n, int64_t hold_out, int64_t folds, uint32_t *fold,
                 em_err *err) EM_MUST_CHECK;

/* Trains on all and, with folds > 0, on each complement, `repeats` times with seeds seed, seed + 1 ... and the same folds (at the same time: progress may be reported by any of the threads,
 * one at a time).  With early_stopping the folds are trained once more before: all trainings take as many trees as lower the
 * loss of the pools held out, added up over the folds, until so many trees do not.  Writes the metrics JSON (design.md section 5;
 * formats.md section 8.1): sorted keys, rounded figures, no clock.  Pools with latencies stand apart from the golden ones, in
 * full_train.measured and cv.measured: {per_pool, summaries} by card and level, the figures of em_regret. */
typedef struct em_fit_result {
  em_prior *prior;
  char *metrics; /* text of metrics.json */
} em_fit_result;
int em_fit_run(const em_fit_group *groups, size_t n, const em_fit_params *p, const cJSON *provenance,
               const em_progress *progress, em_fit_result *out, em_err *err) EM_MUST_CHECK;
void em_fit_result_free(em_fit_result *r);

#endif
