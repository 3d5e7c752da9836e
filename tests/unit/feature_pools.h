/* feature_pools.h - a kernel with its space on a card, as the feature tests use them. */
#ifndef EM_TESTS_FEATURE_POOLS_H
#define EM_TESTS_FEATURE_POOLS_H

#include "tests/unit/unit.h"

#include <math.h>

#include "core/feature/feature.h"

typedef struct pool {
  em_kernel *kernel;
  const em_card *card;
  em_regime regime;
  em_space *space;
  em_columns cols;
  em_featurizer *f;
} pool;

/* Takes the kernel.  Columns NULL = all that the kernel has. */
static inline pool pool_of(em_kernel *k, const char *card, em_regime regime, const em_columns *cols)
{
  pool p = {.kernel = k, .regime = regime};
  em_err err;
  if (em_card_find(card, &p.card, &err) != EM_OK) fail_msg("%s", err.msg);
  if (em_space_open(p.kernel, p.card, regime, &p.space, &err) != EM_OK) fail_msg("%s", err.msg);
  assert_int_equal(cols ? em_columns_copy(cols, &p.cols, &err) : em_columns_all(p.kernel, &p.cols, &err), EM_OK);
  assert_int_equal(em_featurizer_open(p.kernel, p.card, regime, p.space, &p.cols, &p.f, &err), EM_OK);
  return p;
}

static inline pool pool_open(const em_build *spec, const char *card, em_regime regime, const em_columns *cols)
{
  em_kernel *k;
  em_err err;
  if (em_kernel_build(spec, &k, &err) != EM_OK) fail_msg("%s", err.msg);
  return pool_of(k, card, regime, cols);
}

static inline void pool_close(pool *p)
{
  em_featurizer_free(p->f);
  em_columns_free(&p->cols);
  em_space_free(p->space);
  em_kernel_free(p->kernel);
}

static inline em_row row_of(const char *text)
{
  em_row r;
  em_err err;
  if (em_row_parse(text, &r, &err) != EM_OK) fail_msg("%s", err.msg);
  return r;
}

/* One feature of one row. */
static inline double feature_of(const pool *p, const char *text, const char *name)
{
  double *out = em_calloc(p->cols.n, sizeof *out);
  em_row r = row_of(text);
  int64_t col = em_columns_index(&p->cols, name);
  assert_non_null(out);
  assert_true(col >= 0);
  em_featurize(p->f, &r, 1, out);
  double x = out[col];
  em_free(out);
  return x;
}

static inline bool same_value(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static inline void assert_value(const char *what, double found, double expected)
{
  if (!same_value(found, expected)) fail_msg("%s is %.17g, expected %.17g", what, found, expected);
}

#endif
