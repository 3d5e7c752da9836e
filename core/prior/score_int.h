/*
 * score_int.h - the scorer's code paths.
 *
 * Rows are scored in blocks: values become bins (quantize), bins leaf indices,
 * and leaf values are added in tree order (trees).  Every path does the same
 * comparisons and the same additions in the same order, so all give the same bits.
 */
#ifndef EM_SCORE_INT_H
#define EM_SCORE_INT_H

#include "core/prior/model_int.h"

#define EM_LINE   64 /* bytes of a cache line */
#define EM_WINDOW 8  /* neighbouring columns of the matrix that are loaded together */

typedef enum em_score_path { EM_PATH_PORTABLE, EM_PATH_AVX2, EM_PATH_AVX512, EM_N_PATHS } em_score_path;

/* What the next block will read of the matrix.  Fetched while this one goes through
 * the trees, some of it per tree: else memory and arithmetic would take turns. */
typedef struct em_ahead {
  const char *at, *end;
  size_t step;
} em_ahead;

static inline void em_ahead_step(em_ahead *a)
{
  for (size_t done = 0; done < a->step && a->at < a->end; done += EM_LINE, a->at += EM_LINE)
    __builtin_prefetch(a->at, 0, 2);
}

typedef struct em_score_ops {
  const char *name;
  bool (*available)(void);
  /* The first EM_WINDOW doubles of each of n rows, narrowed to 32 bits and turned: out[c * EM_BLOCK + row].
   */
  void (*load)(const double *rows, size_t stride, size_t n, float *out);
  /* The bins of EM_BLOCK values; NaN is above no border. */
  void (*quantize)(const em_plan *p, const em_bin_column *c, const float *values, int8_t *bins);
  /* Adds the leaf values of oblivious trees to sums[EM_BLOCK]; bins[column * EM_BLOCK + row]. */
  void (*trees)(const em_model *m, const int8_t *bins, double *sums, em_ahead *next);
} em_score_ops;

extern const em_score_ops em_score_portable, em_score_avx2, em_score_avx512;
const em_score_ops *em_score_ops_of(em_score_path path); /* NULL: not on this machine */

/* em_model_score by one path; EM_E_ENV where the machine lacks it. */
int em_model_score_path(const em_model *m, const double *matrix, size_t rows, size_t stride, const int32_t *col,
                        int threads, em_score_path path, double *quality, em_err *err) EM_MUST_CHECK;

/* For paths that leave a part to plain C: rows from `from` on; one oblivious tree of any depth. */
void em_score_load_portable(const double *rows, size_t stride, size_t from, size_t n, float *out);
void em_score_tree_portable(const em_model *m, size_t tree, const int8_t *bins, double *sums);

#endif
