/* session_int.h - inside of a session. */
#ifndef EM_SESSION_INT_H
#define EM_SESSION_INT_H

#include <pthread.h>
#include <sys/stat.h>

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
  struct scored *lender; /* of the main session: the candidates are its; NULL = they are its own */
  em_session *main;      /* whose the lender is */
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

#define KEPT_POOLS    3 /* open pool, the one before, the wanted one; a sibling keeps its open one alone */
#define KEPT_SIBLINGS 2 /* that nobody holds */

/* What tells one state of a file from another. */
typedef struct file_stamp {
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec modified, changed;
} file_stamp;

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
  em_routing_piece *routing;
  size_t n_routing, cap_routing;
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
  size_t n_kept; /* places */

  em_session *siblings; /* guarded by the lock, as their refs and used are */
  /* of a sibling: */
  em_session *main, *next;
  file_stamp stamp; /* of its prior's file */
  int refs;
  uint64_t used;
};

/* source.c: list the pools of one source. */
int em_session_add_source(em_session *s, const char *path, em_err *err) EM_MUST_CHECK;
int em_session_add_goldens(em_session *s, const char *const *paths, size_t n, em_err *err) EM_MUST_CHECK;

/* Without sources and prior, with places for `n_kept` pools; NULL when out of memory. */
em_session *em_session_new(size_t n_kept, em_err *err) EM_MUST_CHECK;
/* The kept candidates of a pool, held; NULL when they are not. */
scored *em_session_kept(em_session *s, size_t pool);

/* sibling.c */
void em_session_close_siblings(em_session *s);

/* scored.c: build the candidates of a pool.  `cols` NULL = every column; *out is NULL when there is
 * no pool (the reason goes to `why`). */
int em_scored_build(em_session *s, size_t pool, const em_columns *cols, const em_progress *p, em_str *why, scored **out,
                    em_err *err) EM_MUST_CHECK;
void em_scored_free(scored *sc);
/* The part of the info that only a ranked pool knows. */
void em_scored_summarise(const em_prior *prior, const scored *sc, em_pool_info *info, em_str *note);

#endif
