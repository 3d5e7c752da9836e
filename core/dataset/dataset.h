/*
 * dataset.h - the dataset directory: pools with their feature matrices.
 *
 *   manifest.json            what is here (formats.md section 6; design.md section 5); written last
 *   golden/0000.npy ...      float64 matrices, one row a candidate; NaN = missing
 *   golden/0000.rows ...     the canonical row of each candidate, one a line
 *   measured/...             the same for measured pools
 *
 * A directory without a manifest is an interrupted export.  Matrices are
 * mapped, not copied.  Same store and options give the same bytes.
 */
#ifndef EM_DATASET_H
#define EM_DATASET_H

#include "core/fit/fit.h"
#include "core/store/store.h"

#define EM_DATASET_VERSION 2

/* ---- one pool: the shared step from evidence to rows and features ----------------
 * Used by export, by the explorer on stores and golden files, and by eval. */

typedef struct em_golden_mark {
  uint32_t row;            /* index into rows */
  double us, reference_us; /* microseconds; NaN when not known */
  char *label, *source;
} em_golden_mark;

typedef struct em_pool {
  /* who */
  char *key, *name; /* key: "<gpu>/<name>"; name: "<kernel>.<identity12>[ sym=size]" */
  char *label;      /* a golden row's label for people; NULL = none */
  const em_card *card;
  em_regime regime;
  em_kernel *kernel; /* owned; NULL in a loaded dataset until em_dataset_kernel is asked */
  char *tier;        /* "warp", "thread", "reduce", "pointwise"; "dyn" when symbolic */
  char *shape;
  bool dynamic;
  em_binding *bindings;
  size_t n_bindings;
  /* what */
  uint64_t total; /* leaves of the whole space */
  size_t n_rows;
  em_row *rows; /* n_rows, enumeration order */
  em_golden_mark *goldens;
  size_t n_goldens; /* sorted by row */
  em_columns cols;
  double *matrix; /* n_rows x cols.n; NULL until em_pool_featurize */
} em_pool;
void em_pool_free(em_pool *p);

/* Something that could not be used, and why; counted and listed, never dropped silently. */
typedef struct em_skip {
  char *gpu, *name, *reason;
} em_skip;
typedef struct em_skips {
  em_skip *items;
  size_t n, cap;
} em_skips;
int em_skips_add(em_skips *s, const char *gpu, const char *name, em_err *err, const char *fmt, ...)
  EM_PRINTF(5, 6) EM_MUST_CHECK;
void em_skips_free(em_skips *s);

/* Enumerates the pool of `e` (which stays the caller's).  `sample` 0 = whole, else a seeded uniform draw of that many
 * rows with every golden row kept, in enumeration order.  *out is NULL (and EM_OK returned) when
 * there is no pool: unknown card, kernel out of scope, not formed, no golden row inside; the
 * reasons, and each golden outside its pool with the refusing rule, go to `skips`.
 * Cancelled by p->cancel. */
int em_pool_build(const em_evidence *e, size_t sample, uint64_t seed, const em_progress *p, em_skips *skips,
                  em_pool **out, em_err *err) EM_MUST_CHECK;
/* Fills cols (when empty: all columns of the kernel) and matrix. */
int em_pool_featurize(em_pool *p, int threads, em_err *err) EM_MUST_CHECK;

/* ---- export ------------------------------------------------------------------------ */

typedef struct em_export_options {
  size_t pool_sample; /* default 2000; 0 = whole pools */
  uint64_t seed;
  const char *features; /* column spec; NULL = every column */
  int threads;          /* 0 = all */
} em_export_options;
typedef struct em_export_report {
  size_t golden_groups, measured_groups, pools, rows, merged, skipped;
} em_export_report;
int em_dataset_export(em_store *s, const char *dir, const em_export_options *o, const em_progress *p,
                      em_export_report *out, em_err *err) EM_MUST_CHECK;

/* ---- loading ------------------------------------------------------------------------- */

typedef struct em_dataset em_dataset;

/* A pool that went into a group (several when card, tier, shape, columns, matrix and row texts are identical). */
typedef struct em_group_pool {
  const char *gpu, *cap, *regime;
  size_t kernel;        /* index for em_dataset_kernel */
  const char *bindings; /* canonical JSON text */
  size_t n_rows;        /* golden rows recorded */
  const struct em_group_row {
    const char *knobs;
    double us;
    const char *source, *label;
  } * rows;
} em_group_pool;

typedef struct em_group {
  const char *key, *name, *label, *tier, *gpu, *shape;
  bool dynamic, measured;
  em_columns cols;
  uint64_t total;
  size_t n_rows;
  const double *matrix; /* mapped */
  const uint32_t *golden_ids;
  size_t n_golden;
  const double *latency_us; /* measured groups: one a row; else NULL */
  uint32_t fastest;         /* measured groups: the row of the least latency, the first of equals */
  int h_opt;                /* measured groups: optimization level of the regime */
  const em_group_pool *pools;
  size_t n_pools;
} em_group;

int em_dataset_open(const char *dir, int feat_ver, em_dataset **out, em_err *err) EM_MUST_CHECK;
void em_dataset_close(em_dataset *d);
const char *em_dataset_path(const em_dataset *d);
size_t em_dataset_n_groups(const em_dataset *d); /* golden first, then measured */
const em_group *em_dataset_group(const em_dataset *d, size_t i);
size_t em_dataset_groups_with(const em_dataset *d, const char *column); /* how many groups have that column */
/* The canonical text of candidate `row` of a group; borrowed, maps the .rows file on first use. */
int em_dataset_row(const em_dataset *d, size_t group, size_t row, const char **text, size_t *len,
                   em_err *err) EM_MUST_CHECK;
/* Parsed: rows of a group, into an array of n_rows (rows that are not one-site fail). */
int em_dataset_rows(const em_dataset *d, size_t group, em_row *out, em_err *err) EM_MUST_CHECK;
size_t em_dataset_n_kernels(const em_dataset *d);
/* Parsed on first use; borrowed. */
int em_dataset_kernel(const em_dataset *d, size_t kernel, const em_kernel **out, em_err *err) EM_MUST_CHECK;
const em_skips *em_dataset_skipped(const em_dataset *d);
/* Counts by reason of golden rows (half = false) or measured rows that were dropped. */
const em_reason *em_dataset_dropped(const em_dataset *d, bool measured, size_t *n);
const cJSON *em_dataset_provenance(const em_dataset *d);

/* All groups as the fit wants them, those that `labels` (EM_LABELS_...) leaves out as watched ones; `out` holds
 * em_dataset_n_groups entries. */
void em_dataset_fit_groups(const em_dataset *d, int64_t labels, em_fit_group *out);

#endif
