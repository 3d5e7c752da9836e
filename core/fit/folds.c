/*
 * folds.c - which pools are held out together.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

/* What is held out whole: a shape, or a card. */
typedef struct whole {
  const char *name;
  size_t groups; /* learned from */
  uint32_t fold;
} whole;

static const char *name_of(const em_fit_group *g, int64_t hold_out)
{
  return hold_out == EM_HOLD_OUT_CARDS ? g->gpu : g->shape;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static int largest_first(const void *a, const void *b)
{
  const whole *x = a, *y = b;
  if (x->groups != y->groups) return x->groups > y->groups ? -1 : 1;
  return strcmp(x->name, y->name);
}

static int whole_by_name(const void *a, const void *b)
{
  return strcmp(((const whole *)a)->name, ((const whole *)b)->name);
}

static whole *find(whole *wholes, size_t n, const char *name)
{
  return bsearch(&(whole){.name = name}, wholes, n, sizeof *wholes, whole_by_name);
}

/* Scratch of one call. */
typedef struct dealing {
  int64_t hold_out;
  const char **names;
  whole *wholes;
  size_t *sizes; /* of each fold, in groups */
} dealing;

/* Counts the groups of each; returns the number of wholes. */
static size_t count_wholes(const em_fit_group *groups, size_t n, const dealing *w)
{
  size_t n_wholes = 0;
  for (size_t i = 0; i < n; i++) w->names[i] = name_of(&groups[i], w->hold_out);
  qsort(w->names, n, sizeof *w->names, by_name);
  for (size_t i = 0; i < n; i++)
    if (n_wholes == 0 || strcmp(w->wholes[n_wholes - 1].name, w->names[i]) != 0)
      w->wholes[n_wholes++] = (whole){.name = w->names[i]};
  for (size_t i = 0; i < n; i++)
    find(w->wholes, n_wholes, name_of(&groups[i], w->hold_out))->groups += !groups[i].watched;
  return n_wholes;
}

static int deal(const em_fit_group *groups, size_t n, size_t folds, const dealing *w, uint32_t *fold, em_err *err)
{
  if (!w->names || !w->wholes || !w->sizes) return em_fail_nomem(err);
  size_t n_wholes = count_wholes(groups, n, w);
  qsort(w->wholes, n_wholes, sizeof *w->wholes, largest_first);
  for (size_t i = 0; i < n_wholes; i++) {
    size_t least = 0;
    for (size_t f = 1; f < folds; f++)
      if (w->sizes[f] < w->sizes[least]) least = f;
    w->wholes[i].fold = (uint32_t)least;
    w->sizes[least] += w->wholes[i].groups ? w->wholes[i].groups : 1;
  }
  qsort(w->wholes, n_wholes, sizeof *w->wholes, whole_by_name);
  for (size_t i = 0; i < n; i++) fold[i] = find(w->wholes, n_wholes, name_of(&groups[i], w->hold_out))->fold;
  return EM_OK;
}

int em_fit_folds(const em_fit_group *groups, size_t n, int64_t hold_out, int64_t folds, uint32_t *fold, em_err *err)
{
  if (folds < 1) return em_fail(err, EM_E_INPUT, "folds %lld: expected at least 1", (long long)folds);
  dealing w = {hold_out, em_calloc(n ? n : 1, sizeof *w.names), em_calloc(n ? n : 1, sizeof *w.wholes),
               em_calloc((size_t)folds, sizeof *w.sizes)};
  int rc = deal(groups, n, (size_t)folds, &w, fold, err);
  em_free(w.names);
  em_free(w.wholes);
  em_free(w.sizes);
  return rc;
}
