/*
 * eval.h - how well a prior ranks: the report over golden pools and over measured ones, and two fits side by side.
 *
 * Figures per card, tier and pool-size bucket, never pooled over cards; each beside its
 * count.  Ranks are 0-based in files and from 1 where people read them.
 */
#ifndef EM_EVAL_H
#define EM_EVAL_H

#include "core/dataset/dataset.h"

/* The size of a whole pool as the reports name it: "<100" ...; number and name of its bucket. */
size_t em_eval_bucket(uint64_t total);
const char *em_eval_bucket_name(size_t bucket);

typedef struct em_eval_pool {
  size_t group; /* of the dataset */
  em_rank rank;
  size_t rows, positives;
  size_t pick; /* row of the cold pick */
} em_eval_pool;

typedef struct em_eval_cell {      /* one line of the report */
  const char *gpu, *tier, *bucket; /* "" = all of them */
  em_rank_summary ranks;
} em_eval_cell;

typedef struct em_eval {
  em_eval_pool *pools;
  size_t n_pools;
  em_eval_cell *cells;
  size_t n_cells;                    /* sorted: card, tier, bucket; then per card; then all */
  em_eval_cell random, first_option; /* baselines over the same pools: a uniform order, the enumeration's order */
} em_eval;

/* Ranks every golden group whose name or label contains `kernel` (NULL = all). */
int em_eval_golden(const em_dataset *d, const em_prior *prior, const char *kernel, int threads, const em_progress *p,
                   em_eval *out, em_err *err) EM_MUST_CHECK;
void em_eval_free(em_eval *e);
/* Does the prior split on its column `column`, and has no pool of the dataset that column, though every kernel has it?  It is
 * missing in every row then, and its splits answer alike for all: the ranks are not those of the prior. */
bool em_eval_lacks(const em_dataset *d, const em_prior *prior, size_t column);

/* ---- measured pools (eval_measured.c): fit.h has the formulas ---- */

typedef struct em_eval_measured_pool {
  size_t group;
  const char *key; /* unique among them */
  em_rank rank;    /* of the fastest row */
  em_regret regret;
  size_t first; /* row that regret@1 is of: of the highest quality, of equals the slowest */
} em_eval_measured_pool;

typedef struct em_eval_measured_cell {
  const char *gpu;
  int h_opt;
  em_regret_summary figures; /* worst pools by key */
} em_eval_measured_cell;

typedef struct em_eval_measured {
  em_eval_measured_pool *pools; /* in the order of the dataset */
  size_t n_pools;
  em_eval_measured_cell *cells; /* by card and level */
  size_t n_cells;
  char **keys; /* n_pools */
} em_eval_measured;
/* Judges every measured group whose name or label contains `kernel` (NULL = all). */
int em_eval_measured_pools(const em_dataset *d, const em_prior *prior, const char *kernel, int threads,
                           const em_progress *p, em_eval_measured *out, em_err *err) EM_MUST_CHECK;
void em_eval_measured_free(em_eval_measured *e);

/* {header, summaries, baselines, per_golden, per_measured}, sorted keys; what is NULL is left out. */
int em_eval_json(const em_eval *e, const em_eval_measured *measured, const em_dataset *d, const em_prior *prior,
                 char **out, em_err *err) EM_MUST_CHECK;

/* ---- the metrics file of a fit (metrics.c) ----
 * A fit is named by its metrics.json, by the folder that holds one, or by the name of a folder under EM_FITS_FOLDER. */

#define EM_FITS_FOLDER "_tune/fits"

typedef struct em_metrics {
  cJSON *json;
  const cJSON *header, *train,
    *holdout; /* train: full_train.per_golden; holdout: cv.holdout_per_golden, NULL without folds */
  const cJSON *measured, *measured_holdout; /* the same of measured pools; NULL = it judged none */
} em_metrics;
int em_metrics_open(const char *fit, em_metrics *out, em_err *err) EM_MUST_CHECK;
void em_metrics_close(em_metrics *m);
/* A number among the members of an object, reached by "a.b.c"; NaN when it is not there. */
double em_metrics_number(const cJSON *object, const char *path);
const cJSON *em_metrics_member(const cJSON *object, const char *path); /* NULL when not there */
const char *em_metrics_text(const cJSON *object, const char *path);    /* NULL when not there */

/* ---- two fits side by side (compare.c) ----
 * Over the pools that both fits rank, held out where both held out; else by the fits to everything, which flatter a fit
 * that learns by heart (held_out says which).  Changes are in log2(rank), from 1: below 0, B is better. */

typedef enum em_verdict { EM_VERDICT_NONE, EM_VERDICT_BETTER, EM_VERDICT_WORSE, EM_N_VERDICTS } em_verdict;
extern const char *const em_verdict_words[EM_N_VERDICTS]; /* of B against A */

typedef struct em_compare_pool {
  const char *key, *gpu, *tier, *bucket; /* tier "" when the files do not say */
  em_rank a, b;
  double log2_a, log2_b; /* log2(rank); over repeated cross-validations their mean */
} em_compare_pool;

typedef struct em_compare_cell {
  const char *gpu, *tier, *bucket; /* "" = all of them */
  em_rank_summary a, b;
  double change, low, high; /* mean over the pools, and its 95 % interval */
  size_t better, worse;     /* pools */
  em_verdict verdict;       /* a difference is shown when the interval leaves out 0 */
} em_compare_cell;

/* Measured pools (compare_measured.c): the change is in log2(regret@1), over the pools where both have one. */
typedef struct em_compare_measured_pool {
  const char *key, *gpu;
  int h_opt;
  em_regret a, b;
  double log2_a, log2_b; /* log2(regret@1), NaN where it is not defined; over repeated cross-validations its mean */
} em_compare_measured_pool;

typedef struct em_compare_measured_cell {
  const char *gpu;
  int h_opt;
  em_regret_summary a, b;
  size_t pools;             /* with a change */
  double change, low, high; /* NaN when there is none */
  size_t better, worse;
  em_verdict verdict;
} em_compare_measured_cell;

typedef struct em_compare_measured {
  bool held_out;
  em_compare_measured_pool *pools;
  size_t n_pools; /* that both fits judge: by card, level and key */
  size_t unlike;  /* left out: not of as many rows for both */
  em_compare_measured_cell *cells;
  size_t n_cells; /* per card and level; never over several */
  char *gpus;
} em_compare_measured;

typedef struct em_compare {
  em_metrics fit[2]; /* what the texts are borrowed from */
  bool held_out;
  em_compare_measured measured;
  em_compare_pool *pools;
  size_t n_pools;        /* by card, tier, size and key */
  size_t only_a, only_b; /* pools that one fit alone ranks */
  size_t unlike;         /* pools left out: not of as many candidates for both, whose ranks cannot be compared */
  em_compare_cell *cells;
  size_t n_cells; /* per card, tier and size; per card; the last: all; 0 when no golden pool is ranked by both */
  char *gpus;     /* texts of the pools */
} em_compare;
/* The interval is a paired bootstrap over pools: EM_COMPARE_DRAWS seeded draws of as many pools, with their percentiles;
 * same files, same interval.  Where fewer than EM_COMPARE_LEAST pools moved nothing is shown: if B were as likely better as
 * worse, so few would all agree by chance more often than once in twenty. */
#define EM_COMPARE_DRAWS 10000
#define EM_COMPARE_LEAST 6
/* EM_E_INPUT when not one pool, golden or measured, is in both. */
int em_compare_open(const char *fit_a, const char *fit_b, em_compare *out, em_err *err) EM_MUST_CHECK;
void em_compare_close(em_compare *c);
/* Pools by how far they moved, the greatest gain of B first; equals by key.  n_pools indices, the caller's. */
int em_compare_order(const em_compare *c, uint32_t **out, em_err *err) EM_MUST_CHECK;

#endif
