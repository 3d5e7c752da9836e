/*
 * session.h - what every front end opens: sources, a prior, and the pools ranked
 * with it.
 *
 * A session lists pools at once and ranks them behind the screen, one at a time,
 * the wanted one first.  Per pool it keeps a summary (a few hundred bytes); matrices
 * are kept for the few pools that are open.  Thread-safe: one worker thread fills, any
 * thread reads.  Paths: a dataset directory, a store, or golden files; several mix.
 */
#ifndef EM_SESSION_H
#define EM_SESSION_H

#include "core/eval/eval.h"

/* Where the shipped data lie: $EMMY_DATA, else data/ beside the program (or in the working
 * directory), else the installed share directory.  `name` is relative: "prior/schedule.json". */
int em_data_path(const char *name, char **out, em_err *err) EM_MUST_CHECK;

typedef struct em_session em_session;

typedef struct em_session_options {
  const char *const *sources;
  size_t n_sources;   /* none: the shipped golden files */
  const char *prior;  /* path; NULL = the shipped one */
  int feat_ver;       /* EM_FEAT_VER unless --feat-ver */
  const char *kernel; /* only pools whose name or label contains it; NULL = all */
  const char *card;   /* only this card (any spelling em_card_find takes); NULL = all */
  int threads;        /* for enumeration and scoring; 0 = all cores */
} em_session_options;

/* Opens sources and prior, lists the pools.  Ranks nothing yet.  A prior that cannot be loaded is an error
 * (strict loading). */
int em_session_open(const em_session_options *o, em_session **out, em_err *err) EM_MUST_CHECK;
void em_session_close(em_session *s); /* cancels and joins the worker */

const char *em_session_source(const em_session *s); /* for titles: the path, or "N files" */
const char *em_session_prior_path(const em_session *s);
const em_prior *em_session_prior(const em_session *s);

/* The session with another prior: a sibling that shows the same pools and ranks them anew.  `path` NULL: s itself.
 * Thread-safe.  Each is given back with em_session_let_go, before the main session is closed; a few of those that were
 * given back stay open, so that asking again costs nothing; a file that has changed meanwhile is loaded again.  A
 * sibling has its own worker, if it is started. */
int em_session_with_prior(em_session *s, const char *path, em_session **out, em_err *err) EM_MUST_CHECK;
void em_session_let_go(em_session *s);                   /* of a main session, or NULL: does nothing */
const char *em_session_other_prior(const em_session *s); /* a sibling's path; NULL of a main session */

/* ---- pools ----------------------------------------------------------------------- */

typedef enum em_pool_state {
  EM_POOL_WAITING, /* not ranked yet */
  EM_POOL_READY,
  EM_POOL_OUTSIDE, /* no pool, or no golden row inside: `note` says why */
  EM_POOL_FAILED   /* could not be built: `note` is the error */
} em_pool_state;

/* The summary of a pool; strings are owned by the session and never move. */
typedef struct em_pool_info {
  const char *key, *name, *label; /* label: what golden files call it; falls back to name */
  const char *gpu;                /* canonical card name */
  const em_card *card;            /* NULL when unknown */
  const char *kernel;             /* C name */
  em_digest identity;             /* of the kernel */
  em_kind kind;
  const char *tier, *shape, *regime, *bindings;
  size_t n_goldens;        /* recorded, inside or outside the pool */
  double us, reference_us; /* best recorded; NaN = none */
  /* What ranking finds; all above is known as soon as the sources are read, and never changes. */
  em_pool_state state;
  const char *note;    /* words that need attention; "" = none */
  const char *outside; /* golden rows outside the pool, each with the rule that refuses it; "" = none */
  /* when READY: */
  uint64_t total; /* candidates of the whole space */
  size_t rows;    /* candidates held: fewer when the source is sampled */
  em_rank rank;
  em_row golden, pick; /* the golden that `rank` is of, and the cold pick */
  double golden_quality, pick_quality;
  bool pick_fits; /* on the card */
} em_pool_info;

size_t em_session_n_pools(const em_session *s);
/* A consistent copy; cheap. */
void em_session_pool(em_session *s, size_t i, em_pool_info *out);
/* By key, card/label ("h100/matmul.square.1024"), exact label, or a unique part of key or label; near names in the error. */
int em_session_find(em_session *s, const char *name, size_t *index, em_err *err) EM_MUST_CHECK;
/* Where a pool's recorded rows are: evidence of a golden file or store, or a group of a dataset; the other is NULL. */
void em_session_recorded(const em_session *s, size_t pool, const em_evidence **evidence, const em_group **group);
/* The schedule of a dataset's recorded row, from its `knobs`.  *single is false, and the row untouched, where they belong to
 * several sites: then they are no candidate's. */
int em_group_row_schedule(const char *knobs, em_row *out, bool *single, em_err *err) EM_MUST_CHECK;
/* The kernel-set decisions that golden files and stores hold, a piece at a time, in the order of em_store_each_routing;
 * datasets hold none.  With the option `kernel`: those whose parent's or child's name contains it. */
size_t em_session_n_routing(const em_session *s);
const em_routing_piece *em_session_routing(const em_session *s, size_t i);
/* What the sources held that is no pool, by reason. */
void em_session_skips(em_session *s, void (*fn)(void *ctx, const em_skip *skip), void *ctx);

/* ---- one pool with all its candidates ------------------------------------------------ */

typedef struct em_scored {
  size_t pool;       /* index in the session */
  em_pool_info info; /* READY */
  const em_kernel *kernel;
  const em_space *space; /* NULL when the dataset's kernel is not in scope of our space */
  const em_columns *cols;
  const double *matrix; /* n x cols->n */
  const em_row *rows;
  size_t n;
  const double *quality;   /* n */
  const uint32_t *order;   /* order[rank] = row, ties by content */
  const uint32_t *rank_of; /* rank_of[row] */
  const uint32_t *against; /* against[row]: others with quality >= its own */
  const em_golden_mark *goldens;
  size_t n_goldens;     /* sorted by row */
  const bool *constant; /* cols->n: the column has one value over the pool (missing counts as a value) */
  const struct em_extrapolation *reach; /* how far the pool lies outside the fit, see below */
} em_scored;

/* Builds, features and scores the pool now (on the calling thread), or returns the kept one.
 * Release each once; a released pool may stay cached. */
int em_session_load(em_session *s, size_t pool, const em_progress *p, const em_scored **out, em_err *err) EM_MUST_CHECK;
void em_session_release(em_session *s, const em_scored *scored);
/* Would em_session_load return at once?  Ask em_session_want and poll, to keep a screen alive. */
bool em_session_ready(em_session *s, size_t pool);
/* The golden mark of a row, or NULL. */
const em_golden_mark *em_scored_golden(const em_scored *sc, size_t row);

/* ---- the worker ------------------------------------------------------------------------ */

int em_session_start(em_session *s, em_err *err) EM_MUST_CHECK; /* rank all pools behind the screen; once */
void em_session_want(em_session *s, size_t pool);               /* this one next, and keep its candidates */
/* Counts; generation changes whenever a summary changed. */
typedef struct em_session_status {
  size_t done, total;
  bool busy;
  uint64_t generation;
  const char *current;
} em_session_status;
void em_session_status_of(em_session *s, em_session_status *out);
void em_session_wait(em_session *s); /* until the worker is idle */
/* Rank one pool on the calling thread, unless it is ranked.  A pool that cannot be is no failure: its state and note
 * say why. */
int em_session_rank(em_session *s, size_t pool, const em_progress *p, em_err *err) EM_MUST_CHECK;
/* Rank all pools on the calling thread (no worker): CLI tables. */
int em_session_rank_all(em_session *s, const em_progress *p, em_err *err) EM_MUST_CHECK;

/* ---- what a pool says of the prior (design.md section 6) --------------------------------- */

/* Others with exactly this row's quality: the prior orders them by nothing but their text. */
size_t em_scored_plateau(const em_scored *sc, size_t row);

/* Blind pairs: candidates with equal values in every column that the model splits on.  No model of these columns
 * can tell them apart.  *out: the rows that are blind to `row`, ascending, without it. */
int em_scored_blind(const em_prior *prior, const em_scored *sc, size_t row, uint32_t **out, size_t *n,
                    em_err *err) EM_MUST_CHECK;
/* first[r]: the least row that r is blind to, itself when it is alone; sc->n entries. */
int em_scored_blind_groups(const em_prior *prior, const em_scored *sc, uint32_t *first, em_err *err) EM_MUST_CHECK;

/* How a column that the model splits on lies to what the fit saw of it.  A fit of ours keeps the range of its training
 * rows (provenance.fit.ranges).  Of another prior only the borders are known: a border halves the distance between two
 * values that were seen, so values farther beyond the outermost border than the last two borders lie apart (a lone
 * border: than its size, at least 1) count as outside; that can err both ways. */
typedef enum em_reach {
  EM_REACH_INSIDE,
  EM_REACH_ABOVE,
  EM_REACH_BELOW,
  EM_REACH_MISSING /* missing somewhere in the pool, and never in the fit */
} em_reach;

typedef struct em_column_reach {
  size_t feature;      /* of the model */
  em_reach reach;      /* the first of ABOVE, BELOW, MISSING that holds */
  bool known;          /* `from` and `to` are of the training rows */
  double from, to;     /* values in between count as inside; NaN = no bound */
  size_t n_borders;    /* without those that stand for missing */
  double lo, hi;       /* the pool's values; NaN when all are missing */
  size_t rows_outside; /* candidates that `reach` is true of */
  size_t rows_missing;
} em_column_reach;

typedef struct em_extrapolation {
  em_column_reach *columns;
  size_t n; /* the used columns, in the model's order */
  size_t n_outside;
} em_extrapolation;
/* Of the rows, matrix and columns of `sc`; em_session_load has it done: sc->reach. */
int em_scored_extrapolation(const em_prior *prior, const em_scored *sc, em_extrapolation *out,
                            em_err *err) EM_MUST_CHECK;
void em_extrapolation_free(em_extrapolation *x);

/* The golden pool that is most like this one, itself left out: same kind; then the least sum of |log2| ratios of the
 * numbers of its shape (extents, bits of the dtypes), 4 for another tier or how many numbers there are, 1 for another card,
 * 1 for another compute capability; ties by key.  False when there is none. */
bool em_session_nearest_golden(em_session *s, size_t pool, size_t *nearest, double *distance);

/* The smallest change of b's knobs, within the pool, that brings its quality to a's or above. */
typedef struct em_counterfactual {
  size_t row; /* the candidate reached; of equally small changes the best ranked; b itself when it is there already */
  size_t n_families; /* that differ between b and row */
  bool changed[EM_N_FAMILIES];
} em_counterfactual;
void em_scored_counterfactual(const em_scored *sc, size_t a, size_t b, em_counterfactual *out);

#endif
