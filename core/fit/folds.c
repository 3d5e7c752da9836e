/*
 * folds.c - which pools are held out together.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

typedef struct shape {
  const char *name;
  size_t groups; /* learned from */
  uint32_t fold;
} shape;

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static int largest_first(const void *a, const void *b)
{
  const shape *x = a, *y = b;
  if (x->groups != y->groups) return x->groups > y->groups ? -1 : 1;
  return strcmp(x->name, y->name);
}

static int shape_by_name(const void *a, const void *b)
{
  return strcmp(((const shape *)a)->name, ((const shape *)b)->name);
}

static shape *find(shape *shapes, size_t n, const char *name)
{
  return bsearch(&(shape){.name = name}, shapes, n, sizeof *shapes, shape_by_name);
}

/* Counts the groups of each shape; returns the number of shapes. */
static size_t count_shapes(const em_fit_group *groups, size_t n, const char **names, shape *shapes)
{
  size_t n_shapes = 0;
  for (size_t i = 0; i < n; i++) names[i] = groups[i].shape;
  qsort(names, n, sizeof *names, by_name);
  for (size_t i = 0; i < n; i++)
    if (n_shapes == 0 || strcmp(shapes[n_shapes - 1].name, names[i]) != 0)
      shapes[n_shapes++] = (shape){.name = names[i]};
  for (size_t i = 0; i < n; i++) find(shapes, n_shapes, groups[i].shape)->groups += !groups[i].watched;
  return n_shapes;
}

/* Scratch of one call. */
typedef struct dealing {
  const char **names;
  shape *shapes;
  size_t *sizes; /* of each fold, in groups */
} dealing;

static int deal(const em_fit_group *groups, size_t n, size_t folds, dealing w, uint32_t *fold, em_err *err)
{
  if (!w.names || !w.shapes || !w.sizes) return em_fail_nomem(err);
  size_t n_shapes = count_shapes(groups, n, w.names, w.shapes);
  qsort(w.shapes, n_shapes, sizeof *w.shapes, largest_first);
  for (size_t i = 0; i < n_shapes; i++) {
    size_t least = 0;
    for (size_t f = 1; f < folds; f++)
      if (w.sizes[f] < w.sizes[least]) least = f;
    w.shapes[i].fold = (uint32_t)least;
    w.sizes[least] += w.shapes[i].groups ? w.shapes[i].groups : 1;
  }
  qsort(w.shapes, n_shapes, sizeof *w.shapes, shape_by_name);
  for (size_t i = 0; i < n; i++) fold[i] = find(w.shapes, n_shapes, groups[i].shape)->fold;
  return EM_OK;
}

int em_fit_folds(const em_fit_group *groups, size_t n, int64_t folds, uint32_t *fold, em_err *err)
{
  if (folds < 1) return em_fail(err, EM_E_INPUT, "folds %lld: expected at least 1", (long long)folds);
  dealing w = {em_calloc(n ? n : 1, sizeof *w.names), em_calloc(n ? n : 1, sizeof *w.shapes),
               em_calloc((size_t)folds, sizeof *w.sizes)};
  int rc = deal(groups, n, (size_t)folds, w, fold, err);
  em_free(w.names);
  em_free(w.shapes);
  em_free(w.sizes);
  return rc;
}
