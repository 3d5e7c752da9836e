/*
 * store.h - golden files and the SQLite store of measured configurations.
 *
 * Golden file   JSON in the public format (reference formats.md section 1; our
 *               rules in design.md section 5).  Read strictly into em_golden,
 *               written in one canonical form, byte-stable.
 * Store         our own SQLite schema (schema.h): STRICT tables, foreign keys,
 *               WAL, PRAGMA user_version.  A file that is not SQLite, or of another
 *               version, is refused and left as it is.  Writers hold an advisory
 *               lock; all work is in transactions; a kill loses at most the work in flight.
 */
#ifndef EM_STORE_H
#define EM_STORE_H

#include "core/schedule/schedule.h"

/* ---- golden files ---------------------------------------------------------------- */

typedef struct em_golden_kernel {
  char *ref;        /* key when present, else name: unique in the file */
  char *name, *key; /* key may be NULL */
  em_kernel *kernel;
  bool formed;    /* false: only its parent's program can make it; it has no pool */
  int64_t traced; /* index into programs, or -1 */
  char **origins;
  size_t n_origins;
  em_binding *bindings;
  size_t n_bindings;
  bool older_form; /* carried identity and stamps of the older form */
  bool drifted;    /* ... and they are not what we compute */
} em_golden_kernel;

typedef struct em_golden_routing {
  size_t parent; /* index into kernels */
  em_knobs arm;  /* structural knobs only */
  size_t *children;
  size_t n_children;
} em_golden_routing;

typedef struct em_golden_row {
  char *name;    /* label, not unique */
  size_t kernel; /* index into kernels */
  em_binding *bindings;
  size_t n_bindings;
  char *pins;       /* canonical JSON object text, or NULL when absent */
  em_regime regime; /* from the pins; opt 3 */
  bool has_knobs;
  em_knobs knobs;
  bool measured;
  double us, reference_us; /* microseconds; reference_us NaN when absent */
  char *reference_backend; /* NULL when absent */
  int64_t tried;           /* -1 when absent */
  char *latency;           /* canonical JSON text, or NULL */
} em_golden_row;

typedef struct em_golden {
  char *path;
  char *gpu_name; /* NULL in a working file without one */
  int cc_major, cc_minor;
  char *model, *model_quant_digest, *note; /* NULL when absent */
  char **programs;
  size_t n_programs; /* canonical JSON texts */
  em_golden_kernel *kernels;
  size_t n_kernels;
  em_golden_routing *routing;
  size_t n_routing;
  em_golden_row *rows;
  size_t n_rows;
} em_golden;

/* Strict: unknown and missing keys, unknown kernels, non-canonical knobs, structural knobs in a row ... each is an
 * error naming the place.  A Git-LFS pointer file is named as such. */
int em_golden_read(const char *path, em_golden **out, em_err *err) EM_MUST_CHECK;
int em_golden_parse(const char *text, size_t len, const char *path, em_golden **out, em_err *err) EM_MUST_CHECK;
void em_golden_free(em_golden *g);
/* The canonical text: header keys one a line, one entry a line. */
int em_golden_print(const em_golden *g, em_str *out, em_err *err) EM_MUST_CHECK;
int em_golden_write(const em_golden *g, const char *path, em_err *err) EM_MUST_CHECK;

/* Building one in memory (a fresh golden starts with em_golden_new; each add copies what
 * it is given, a kernel is taken over, also on failure). */
int em_golden_new(const char *gpu_name, int cc_major, int cc_minor, em_golden **out, em_err *err) EM_MUST_CHECK;
int em_golden_add_kernel(em_golden *g, em_kernel *kernel, bool formed, size_t *index,
                         em_err *err) EM_MUST_CHECK; /* same identity = same index */
/* Replaces what was there of the same parent and arm. */
int em_golden_put_routing(em_golden *g, size_t parent, const em_knobs *arm, const size_t *children, size_t n,
                          em_err *err) EM_MUST_CHECK;
int em_golden_add_row(em_golden *g, const em_golden_row *row, em_err *err) EM_MUST_CHECK;

/* ---- the store --------------------------------------------------------------------- */

typedef struct em_store em_store;
typedef enum em_store_mode { EM_STORE_READ, EM_STORE_WRITE, EM_STORE_FRESH } em_store_mode;

/* $XDG_CACHE_HOME/emmy/autotune.db, or ~/.cache/emmy/autotune.db. */
int em_store_default_path(char **out, em_err *err) EM_MUST_CHECK;
/* READ needs the file to exist.  WRITE creates it (and its folder) when missing, and takes the lock ("in use by
 * process N" is an error).  FRESH is WRITE on an emptied store, of whatever version it was, inside a batch: without
 * em_store_commit the old store stays as it was. */
int em_store_open(const char *path, em_store_mode mode, em_store **out, em_err *err) EM_MUST_CHECK;
/* Rolls back an open batch; removes a file that this handle created and nothing was committed to. */
void em_store_close(em_store *s);
/* A batch: all that is written until em_store_commit is one transaction. */
int em_store_begin(em_store *s, em_err *err) EM_MUST_CHECK;
int em_store_commit(em_store *s, em_err *err) EM_MUST_CHECK;
const char *em_store_path(const em_store *s);
bool em_store_is_sqlite(const char *path); /* looks at the first bytes */
bool em_store_is_ours(const char *path);   /* so does this: a store of whatever version, damaged or not */

/* What an import did with one source; reasons are counted, and can be listed. */
typedef struct em_reason {
  char *reason;
  size_t count;
} em_reason;
typedef struct em_import {
  char *source, *digest;
  bool already; /* imported before with this digest: nothing done */
  size_t kernels, routing, measured, proposals, inventory;
  size_t replaced, kept; /* measurements that met a worse / a better one of the same key */
  size_t drifted;        /* older-form kernels whose stamps are not what we compute */
  em_reason *skipped;
  size_t n_skipped;
} em_import;
void em_import_free(em_import *i);
/* SOURCE: a golden file, or another store of ours.  One transaction (in a batch: a part of it that is undone alone
 * when it fails). */
int em_store_import(em_store *s, const char *source, const em_progress *p, em_import *out, em_err *err) EM_MUST_CHECK;

/* Counts of the whole store (pools: of em_store_each_evidence), and of what `db check` verifies (each should be 0). */
typedef struct em_store_counts {
  size_t sources, kernels, routing, schedules, measured, proposals, failed, cards, pools;
} em_store_counts;
int em_store_count(em_store *s, em_store_counts *out, em_err *err) EM_MUST_CHECK;
typedef struct em_store_check {
  const char *what;
  size_t count;
} em_store_check; /* `what` is static text */
int em_store_verify(em_store *s, em_store_check *out, size_t cap, size_t *n, em_err *err) EM_MUST_CHECK;

/* ---- reading back ------------------------------------------------------------------- */

/* A pool's evidence: one (kernel, card, regime, bindings), its rows sorted by (us, canonical
 * knob order). */
typedef struct em_evidence_row {
  em_knobs knobs;
  double us, reference_us; /* reference NaN when absent */
  char *reference_backend;
  char *label;  /* the golden row's name; may be NULL */
  char *source; /* "rtx4090_sm89.json" */
  bool golden;  /* recorded as a golden (else bench) */
  bool ok;      /* false: a kept failure; us is then not a measurement */
} em_evidence_row;
typedef struct em_evidence {
  em_digest identity;
  em_kernel *kernel; /* owned */
  char *kernel_name;
  bool formed;
  char *gpu_name; /* as stored: may be a card we do not know */
  int cc_major, cc_minor;
  em_regime regime;
  em_binding *bindings;
  size_t n_bindings;
  em_evidence_row *rows;
  size_t n_rows;
} em_evidence;
void em_evidence_free(em_evidence *e);

/* Calls fn for each pool's evidence, sorted by (card, kernel name, identity, regime, bindings): the
 * order of everything downstream.  fn takes the evidence over; a nonzero return stops and is
 * returned. */
int em_store_each_evidence(em_store *s, int (*fn)(void *ctx, em_evidence *e, em_err *err), void *ctx,
                           em_err *err) EM_MUST_CHECK;
/* A store in memory of what golden files hold, to be read back like any other (explore FILE...). */
int em_store_of_goldens(const em_golden *const *goldens, size_t n, em_store **out, em_err *err) EM_MUST_CHECK;

/* One piece of a kernel-set decision: taking `arm` at the kernel `parent` makes `child` and the other pieces in its
 * place.  A decision is of no card and has no time of its own: its price is the sum of its pieces' best times.  Texts are
 * borrowed until fn returns. */
typedef struct em_routing_piece {
  const char *parent, *child; /* names */
  em_digest parent_identity, child_identity;
  const char *arm;    /* canonical JSON: {"REDUCE":"g4k"} */
  size_t position, n; /* from 0, of n pieces */
  bool formed;        /* false: only its parent's program can make the child; it has no pool */
  const char *source;
} em_routing_piece;
/* Calls fn for each piece, sorted by (parent name, identity, arm, position); a nonzero return stops and is returned. */
int em_store_each_routing(em_store *s, int (*fn)(void *ctx, const em_routing_piece *p, em_err *err), void *ctx,
                          em_err *err) EM_MUST_CHECK;

/* The sources of the store, for listing: fn(name, digest, rows). */
int em_store_each_source(em_store *s, int (*fn)(void *ctx, const char *name, const char *digest, size_t rows),
                         void *ctx, em_err *err) EM_MUST_CHECK;

#endif
