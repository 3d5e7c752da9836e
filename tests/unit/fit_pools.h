/* fit_pools.h - made-up pools for the tests of fit and eval. */
#ifndef EM_TESTS_FIT_POOLS_H
#define EM_TESTS_FIT_POOLS_H

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "core/fit/fit_int.h"

static char *pool_names[] = {"D_aspect", "D_cells",   "D_l2_bm", "D_l2_bn",
                             "D_reuse",  "D_threads", "H_cc",    "S_ext_n_symbolic_axis"};
static const em_columns pool_columns = {pool_names, N_OF(pool_names)};
#define POOL_VIEW "D_*,H_cc"

typedef struct pools {
  em_fit_group *groups;
  size_t n, rows;
  double *matrix;
  uint32_t *positives;
  char *text;
} pools;

/* Value of a made-up candidate: six columns of the candidate (one with missing values), two of the pool. */
static double pool_value(size_t g, size_t r, size_t c)
{
  uint64_t u = em_rng_u64(7, g * 1000 + r, c);
  switch (c) {
  case 0: return u % 11 == 0 ? NAN : (double)(u % 1000) / 8.0 - 60;
  case 1: return (double)(u % 2);
  case 4: return (double)(u % 100000) / 777.0;
  case 6: return (double)(70 + em_rng_u64(8, g, 0) % 3 * 10);
  case 7: return (double)(em_rng_u64(9, g, 0) % 2);
  default: return (double)(u % 6);
  }
}

/* n pools of `rows` candidates; the recorded one is the best by a hidden rule that depends on the card. */
static pools make_pools(size_t n, size_t rows)
{
  size_t cols = N_OF(pool_names);
  pools p = {.n = n, .rows = rows};
  p.groups = calloc(n, sizeof *p.groups);
  p.matrix = calloc(n * rows * cols, sizeof *p.matrix);
  p.positives = calloc(n, sizeof *p.positives);
  p.text = calloc(n, 64);
  for (size_t g = 0; g < n; g++) {
    double *m = p.matrix + g * rows * cols, best = -INFINITY;
    for (size_t r = 0; r < rows; r++) {
      double *x = m + r * cols;
      for (size_t c = 0; c < cols; c++) x[c] = pool_value(g, r, c);
      double truth = (x[6] > 75 ? x[2] : -x[2]) + x[3] * 0.5 - fabs(x[4] - 60) / 20 + (isnan(x[0]) ? 1 : 0);
      if (truth > best) {
        best = truth;
        p.positives[g] = (uint32_t)r;
      }
    }
    char *key = p.text + g * 64, *shape = key + 32;
    snprintf(key, 32, "card/pool%zu", g);
    snprintf(shape, 32, "shape%zu", g % 7);
    p.groups[g] = (em_fit_group){
      .key = key,
      .gpu = g % 3 ? "card A" : "card B",
      .tier = "warp",
      .shape = shape,
      .dynamic = m[7] > 0,
      .cols = &pool_columns,
      .matrix = m,
      .rows = rows,
      .total = rows * 2,
      .positives = &p.positives[g],
      .n_positives = 1,
    };
  }
  return p;
}

static void free_pools(pools *p)
{
  free(p->groups);
  free(p->matrix);
  free(p->positives);
  free(p->text);
}

/* A short, quick fit on those columns. */
static em_fit_params quick_params(void)
{
  em_fit_params p;
  em_fit_defaults(&p);
  p.iterations = 8;
  p.depth = 3;
  p.bags = 1;
  p.rsm = 1;
  p.folds = 0;
  p.threads = 1;
  p.learning_rate = 0.3;
  p.features = POOL_VIEW;
  return p;
}

#endif
