/*
 * fit_ranges.c - what the training rows had in each column: a prior that knows it can say
 * which values are new to it.
 */
#include <math.h>

#include "core/fit/fit_int.h"

typedef struct range {
  double lo, hi;
} range; /* NaN: no value */

/* Pool by pool, so that only one need be in memory. */
static void add_group(const em_fit_set *s, size_t g, const em_columns *cols, range *ranges)
{
  const em_fit_group *group = s->groups[g];
  for (size_t c = 0; c < cols->n; c++) {
    int64_t column = em_columns_index(group->cols, cols->names[c]);
    if (column < 0) continue;
    range *r = &ranges[c];
    for (size_t i = s->start[g]; i < s->start[g + 1]; i++) {
      double v = group->matrix[s->pool_row[i] * group->cols->n + (size_t)column];
      r->lo = fmin(r->lo, v); /* fmin and fmax pass over NaN */
      r->hi = fmax(r->hi, v);
    }
  }
  em_fit_rest(group);
}

static bool put_ranges(const range *ranges, const em_columns *cols, cJSON *o)
{
  for (size_t i = 0; i < cols->n; i++) {
    if (isnan(ranges[i].lo)) continue;
    cJSON *pair = cJSON_CreateDoubleArray((const double[]){ranges[i].lo, ranges[i].hi}, 2);
    if (pair && cJSON_AddItemToObject(o, cols->names[i], pair)) continue;
    cJSON_Delete(pair);
    return false;
  }
  return true;
}

bool em_fit_add_ranges(const em_fit_set *s, const em_columns *cols, cJSON *fit)
{
  cJSON *o = cJSON_AddObjectToObject(fit, "ranges");
  range *ranges = em_calloc(cols->n + 1, sizeof *ranges);
  bool ok = o && ranges;
  for (size_t i = 0; ok && i < cols->n; i++) ranges[i] = (range){NAN, NAN};
  for (size_t g = 0; ok && g < s->n_groups; g++) add_group(s, g, cols, ranges);
  ok = ok && put_ranges(ranges, cols, o);
  em_free(ranges);
  return ok;
}
