/* pool_reach.c - how far a pool lies outside of what the fit saw, and which golden pool is most like it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/session/session_int.h"

void em_extrapolation_free(em_extrapolation *x)
{
  em_free(x->columns);
  *x = (em_extrapolation){0};
}

/* ---- columns ---- */

/* A border at the end of the number range separates "missing" from all values. */
static bool stands_for_missing(float border) { return fabsf(border) == FLT_MAX; }

/* The range of the training rows, where the prior kept it. */
static bool range_of(const em_prior *prior, em_column_reach *c)
{
  const char *name = em_prior_columns(prior)->names[c->feature];
  const cJSON *fit = cJSON_GetObjectItemCaseSensitive(em_prior_provenance(prior), "fit");
  const cJSON *range = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(fit, "ranges"), name);
  const cJSON *lo = cJSON_GetArrayItem(range, 0), *hi = cJSON_GetArrayItem(range, 1);
  if (!cJSON_IsNumber(lo) || !cJSON_IsNumber(hi)) return false;
  c->known = true;
  c->from = lo->valuedouble;
  c->to = hi->valuedouble;
  return true;
}

static void find_bounds(const em_prior *prior, em_column_reach *c)
{
  size_t n;
  const float *b = em_model_borders(em_prior_model(prior), c->feature, &n);
  if (n && stands_for_missing(b[0])) b++, n--;
  if (n && stands_for_missing(b[n - 1])) n--;
  c->n_borders = n;
  c->from = c->to = NAN;
  if (range_of(prior, c) || n == 0) return;
  double lone = fmax(fabs((double)b[0]), 1);
  c->from = b[0] - (n > 1 ? (double)b[1] - b[0] : lone);
  c->to = b[n - 1] + (n > 1 ? (double)b[n - 1] - b[n - 2] : lone);
}

/* What one pass over the rows counts of a column. */
typedef struct tally {
  size_t column, above, below;
} tally;

static void count_row(const double *row, em_column_reach *c, tally *t)
{
  double v = row[t->column];
  if (isnan(v)) {
    c->rows_missing++;
    return;
  }
  if (!(v >= c->lo)) c->lo = v;
  if (!(v <= c->hi)) c->hi = v;
  t->above += v > c->to;
  t->below += v < c->from;
}

static void conclude(const em_prior *prior, const tally *t, em_column_reach *c)
{
  bool new_missing = c->rows_missing && !em_model_saw_missing(em_prior_model(prior), c->feature);
  if (t->above)
    c->reach = EM_REACH_ABOVE, c->rows_outside = t->above;
  else if (t->below)
    c->reach = EM_REACH_BELOW, c->rows_outside = t->below;
  else if (new_missing)
    c->reach = EM_REACH_MISSING, c->rows_outside = c->rows_missing;
}

#define ABSENT SIZE_MAX /* a column that the pool lacks is missing in every row */

static void measure(const em_scored *sc, em_extrapolation *x, tally *tallies)
{
  for (size_t r = 0; r < sc->n; r++)
    for (size_t i = 0; i < x->n; i++)
      if (tallies[i].column != ABSENT) count_row(sc->matrix + r * sc->cols->n, &x->columns[i], &tallies[i]);
  for (size_t i = 0; i < x->n; i++)
    if (tallies[i].column == ABSENT) x->columns[i].rows_missing = sc->n;
}

static void list_used(const em_prior *prior, const em_scored *sc, em_extrapolation *x, tally *tallies)
{
  const em_columns *cols = em_prior_columns(prior);
  for (size_t f = 0; f < cols->n; f++) {
    size_t borders;
    em_model_borders(em_prior_model(prior), f, &borders);
    if (!borders) continue;
    int64_t at = em_columns_index(sc->cols, cols->names[f]);
    x->columns[x->n] = (em_column_reach){.feature = f, .lo = NAN, .hi = NAN};
    find_bounds(prior, &x->columns[x->n]);
    tallies[x->n++].column = at < 0 ? ABSENT : (size_t)at;
  }
}

int em_scored_extrapolation(const em_prior *prior, const em_scored *sc, em_extrapolation *out, em_err *err)
{
  size_t n = em_prior_columns(prior)->n;
  em_extrapolation x = {.columns = em_calloc(n + 1, sizeof *x.columns)};
  tally *tallies = em_calloc(n + 1, sizeof *tallies);
  if (!x.columns || !tallies) {
    em_extrapolation_free(&x);
    em_free(tallies);
    return em_fail_nomem(err);
  }
  list_used(prior, sc, &x, tallies);
  measure(sc, &x, tallies);
  for (size_t i = 0; i < x.n; i++) {
    conclude(prior, &tallies[i], &x.columns[i]);
    x.n_outside += x.columns[i].reach != EM_REACH_INSIDE;
  }
  em_free(tallies);
  *out = x;
  return EM_OK;
}

/* ---- the nearest golden pool ---- */

/* The next whole number of a shape's text, 0 at its end. */
static double next_extent(const char **at)
{
  *at += strcspn(*at, "0123456789");
  double v = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) v = 10 * v + (**at - '0');
  return v;
}

static double shape_distance(const char *a, const char *b)
{
  double sum = 0;
  for (;;) {
    double x = next_extent(&a), y = next_extent(&b);
    if (x == 0 || y == 0) return x == y ? sum : sum + 4;
    sum += fabs(log2(x / y));
  }
}

static double distance_of(const em_pool_info *a, const em_pool_info *b)
{
  double d = shape_distance(a->shape, b->shape);
  if (strcmp(a->tier, b->tier) != 0) d += 4;
  if (strcmp(a->gpu, b->gpu) != 0) d += 1;
  if (!a->card || !b->card || em_card_cc(a->card) != em_card_cc(b->card)) d += 1;
  return d;
}

bool em_session_nearest_golden(em_session *s, size_t pool, size_t *nearest, double *distance)
{
  em_pool_info self, other, best = {0};
  em_session_pool(s, pool, &self);
  for (size_t i = 0; i < em_session_n_pools(s); i++) {
    em_session_pool(s, i, &other);
    if (i == pool || other.n_goldens == 0 || other.kind != self.kind) continue;
    double d = distance_of(&self, &other);
    if (best.key && (d > *distance || (d == *distance && strcmp(other.key, best.key) > 0))) continue;
    best = other;
    *nearest = i;
    *distance = d;
  }
  return best.key != NULL;
}
