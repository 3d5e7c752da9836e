/* session_int.h - inside of a session. */
#ifndef EM_SESSION_INT_H
#define EM_SESSION_INT_H

#include <pthread.h>

#include "core/session/session.h"

/* A listed pool and where its candidates come from: evidence to enumerate, or a
 * group of a dataset. */
typedef struct entry {
  em_pool_info info;     /* guarded by the session's mutex once the worker runs */
  em_evidence *evidence; /* owned; NULL for a dataset's group */
  const em_dataset *dataset;
  size_t group;
} entry;

/* A pool's candidates with everything that em_scored points at. */
typedef struct scored {
  em_scored pub; /* first: em_session_release gets this address */
  int refs;
  uint64_t used;         /* session clock at the last load: the least is evicted */
  em_pool *pool;         /* enumerated; NULL for a dataset's group */
  em_row *rows;          /* read from a dataset; NULL when enumerated */
  em_golden_mark *marks; /* the same */
  em_space *space;
  uint32_t *positives; /* rows of the goldens */
  double *quality;
  uint32_t *order, *rank_of, *against;
  bool *constant;
  em_extrapolation reach;
} scored;

#define KEPT_POOLS 3 /* open pool, the one before, the wanted one */

struct em_session {
  em_session_options opt;
  em_arena *arena; /* strings of the infos */
  char *source, *prior_path;
  em_prior *prior;
  em_columns none; /* "every column" */
  em_dataset **datasets;
  size_t n_datasets, cap_datasets;
  entry *entries;
  size_t n, cap;
  em_skips skips;

  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t worker;
  bool started, working;
  volatile int cancel;
  size_t wanted;  /* SIZE_MAX = none */
  size_t current; /* pool the worker is on, SIZE_MAX = none */
  size_t done;    /* pools no longer waiting */
  uint64_t generation, clock;
  scored *kept[KEPT_POOLS];
};

/* source.c: list the pools of one source. */
int em_session_add_source(em_session *s, const char *path, em_err *err) EM_MUST_CHECK;
int em_session_add_goldens(em_session *s, const char *const *paths, size_t n, em_err *err) EM_MUST_CHECK;

/* scored.c: build the candidates of a pool.  `cols` NULL = every column; *out is NULL when there is
 * no pool (the reason goes to `why`). */
int em_scored_build(em_session *s, const entry *e, const em_columns *cols, const em_progress *p, em_str *why,
                    scored **out, em_err *err) EM_MUST_CHECK;
void em_scored_free(scored *sc);
/* The part of the info that only a ranked pool knows. */
void em_scored_summarise(const em_prior *prior, const scored *sc, em_pool_info *info, em_str *note);

#endif
