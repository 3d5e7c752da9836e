/*
 * fit_ranges.c - what the training rows had in each column: a prior that knows it can say
 * which values are new to it.
 */
#include <math.h>

#include "core/fit/fit_int.h"

typedef struct range {
  double lo, hi;
} range; /* NaN: no value */

static range range_of(const em_fit_set *s, const char *name)
{
  range r = {NAN, NAN};
  for (size_t g = 0; g < s->n_groups; g++) {
    const em_fit_group *group = s->groups[g];
    int64_t column = em_columns_index(group->cols, name);
    if (column < 0) continue;
    for (size_t i = s->start[g]; i < s->start[g + 1]; i++) {
      double v = group->matrix[s->pool_row[i] * group->cols->n + (size_t)column];
      r.lo = fmin(r.lo, v); /* fmin and fmax pass over NaN */
      r.hi = fmax(r.hi, v);
    }
  }
  return r;
}

bool em_fit_add_ranges(const em_fit_set *s, const em_columns *cols, cJSON *fit)
{
  cJSON *o = cJSON_AddObjectToObject(fit, "ranges");
  for (size_t i = 0; o && i < cols->n; i++) {
    range r = range_of(s, cols->names[i]);
    if (isnan(r.lo)) continue;
    cJSON *pair = cJSON_CreateDoubleArray((const double[]){r.lo, r.hi}, 2);
    if (pair && cJSON_AddItemToObject(o, cols->names[i], pair)) continue;
    cJSON_Delete(pair);
    return false;
  }
  return o != NULL;
}
