/* dataset_int.h - what the files of the dataset folder share. */
#ifndef EM_DATASET_INT_H
#define EM_DATASET_INT_H

#include "core/dataset/dataset.h"

#define EM_DATASET_FORMAT "emmy-dataset"

/* ---- names (pool.c) ------------------------------------------------------------- */

bool em_row_is_golden(const em_evidence_row *r); /* recorded and measured */
/* The columns of the kernel that the spec selects; NULL = all of them. */
int em_columns_of(const em_kernel *k, const char *spec, em_columns *out, em_err *err) EM_MUST_CHECK;

/* "<kernel>.<identity12>[ sym=size]" */
int em_pool_name(const em_evidence *e, char **out, em_err *err) EM_MUST_CHECK;
/* The part of a reason that is counted: up to its first colon, with each number as N. */
int em_reason_clause(const char *reason, char **out, em_err *err) EM_MUST_CHECK;

/* Reasons with their counts, sorted when printed. */
typedef struct em_tally {
  em_reason *items;
  size_t n, cap;
} em_tally;
int em_tally_add(em_tally *t, const char *clause, size_t count, em_err *err) EM_MUST_CHECK;
void em_tally_free(em_tally *t);

/* ---- the manifest being written (dataset_manifest.c) ----------------------------------- */

/* A group of either half; `pools` is the text of its pool entries, comma separated. */
typedef struct em_group_entry {
  em_digest digest; /* golden: what makes pools merge.  measured: the key */
  char *key, *name, *label, *gpu, *shape;
  const char *tier;
  bool dynamic;
  em_columns cols;
  uint64_t total;
  size_t number; /* of its files */
  uint32_t *ids;
  size_t n_ids; /* golden_ids */
  int h_opt;    /* measured */
  double *us;
  size_t n_us; /* measured: latency_us */
  em_str pools;
} em_group_entry;
void em_group_entry_clear(em_group_entry *g);

typedef struct em_kernel_entry {
  em_digest identity;
  char *json;
} em_kernel_entry;

typedef struct em_manifest {
  em_group_entry *golden, *measured;
  size_t n_golden, n_measured, cap_golden, cap_measured;
  em_kernel_entry *kernels;
  size_t n_kernels, cap_kernels;
  em_skips skips;
  em_tally dropped_golden, dropped_measured;
} em_manifest;
void em_manifest_free(em_manifest *m);
/* Index of the kernel in the manifest's table, added when new. */
int em_manifest_kernel(em_manifest *m, const em_evidence *e, size_t *index, em_err *err) EM_MUST_CHECK;
/* Appends a pool entry to g->pools: the rows of e for which want() holds. */
int em_manifest_pool(em_manifest *m, em_group_entry *g, const em_evidence *e, bool (*want)(const em_evidence_row *r),
                     em_err *err) EM_MUST_CHECK;
int em_manifest_write(em_manifest *m, em_store *s, const em_export_options *o, const char *dir,
                      em_err *err) EM_MUST_CHECK;

/* ---- files of a group (dataset_files.c) ------------------------------------------------- */

extern const char *const em_halves[2]; /* "golden", "measured": folders, and members of the manifest */
int em_group_path(char **out, const char *dir, const char *half, size_t number, const char *suffix,
                  em_err *err) EM_MUST_CHECK;
int em_group_write(const char *dir, const char *half, size_t number, const double *matrix, size_t rows, size_t cols,
                   const em_str *lines, em_err *err) EM_MUST_CHECK;
bool em_is_group_file(const char *name, const char *suffix); /* "0007.npy" */
/* A path below `dir` that is no part of a dataset, or (dataset = false) any; the caller's, NULL = there is none. */
int em_dataset_stranger(const char *dir, bool dataset, char **out, em_err *err) EM_MUST_CHECK;

/* ---- the measured half (dataset_measured.c) ---------------------------------------------- */

/* A measured group while its rows come in. */
typedef struct em_measured_group {
  em_group_entry entry;
  double *matrix;
  size_t n_rows, cap;
  em_str lines;
} em_measured_group;
typedef struct em_measured {
  em_measured_group *items;
  size_t n, cap;
} em_measured;
bool em_evidence_is_measured(const em_evidence *e); /* a bench row is among its rows */
/* Adds the rows of e to their group; what cannot be used goes to m->dropped_measured. */
int em_measured_add(em_measured *all, em_manifest *m, const em_evidence *e, const char *features,
                    em_err *err) EM_MUST_CHECK;
/* Writes the groups and moves their entries into the manifest. */
int em_measured_flush(em_measured *all, em_manifest *m, const char *dir, size_t *rows, em_err *err) EM_MUST_CHECK;
void em_measured_free(em_measured *all);

#endif
