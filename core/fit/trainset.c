/*
 * trainset.c - from pools to training rows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

/* ---- columns ------------------------------------------------------------------- */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Sorts and drops repeats. */
static size_t unique(char **names, size_t n)
{
  size_t kept = 0;
  qsort(names, n, sizeof *names, by_text);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0) names[kept++] = names[i];
  return kept;
}

int em_fit_columns(const em_fit_group *groups, size_t n, const char *spec, em_columns *out, em_err *err)
{
  em_columns all = {0}; /* its names are borrowed from the groups */
  size_t cap = 0;
  int rc = EM_OK;
  *out = (em_columns){0};
  for (size_t i = 0; i < n && rc == EM_OK; i++) {
    const em_columns *c = groups[i].cols;
    if (groups[i].watched || (i > 0 && !groups[i - 1].watched && c == groups[i - 1].cols)) continue;
    rc = em_grow(&all.names, &cap, all.n + c->n, sizeof *all.names, err);
    if (rc == EM_OK && c->n) {
      memcpy(all.names + all.n, c->names, c->n * sizeof *c->names);
      all.n += c->n;
    }
    /* Many pools share few column lists: fold now and then, so that the list stays short. */
    if (all.n > 65536) all.n = unique(all.names, all.n);
  }
  if (rc == EM_OK) {
    all.n = all.n ? unique(all.names, all.n) : 0;
    rc = em_columns_select(&all, spec ? spec : "@schedule", out, err);
  }
  if (rc == EM_OK && out->n == 0)
    rc = em_fail(err, EM_E_INPUT,
                 "features %s: no column of the pools is left; expected a spec that selects some of their %zu columns",
                 spec ? spec : "@schedule", all.n);
  em_free(all.names);
  return rc;
}

/* ---- checks ---------------------------------------------------------------------- */

static int check_positives(const em_fit_group *g, em_err *err)
{
  if (g->n_positives == 0)
    return em_fail(err, EM_E_INPUT, "pool %s: no recorded row among its %zu candidates; expected at least one", g->key,
                   g->rows);
  for (size_t i = 0; i < g->n_positives; i++) {
    if (g->positives[i] >= g->rows)
      return em_fail(err, EM_E_INPUT, "pool %s: recorded row %u, but it has %zu candidates", g->key, g->positives[i],
                     g->rows);
    if (i > 0 && g->positives[i] <= g->positives[i - 1])
      return em_fail(err, EM_E_INPUT, "pool %s: recorded rows %u, %u; expected ascending, each once", g->key,
                     g->positives[i - 1], g->positives[i]);
  }
  return EM_OK;
}

static int check_finite(const em_fit_group *g, const em_columns *cols, em_err *err)
{
  for (size_t c = 0; c < cols->n; c++) {
    int64_t at = em_columns_index(g->cols, cols->names[c]);
    const double *x = g->matrix + (at < 0 ? 0 : at);
    for (size_t r = 0; at >= 0 && r < g->rows; r++)
      if (isinf(x[r * g->cols->n]))
        return em_fail(err, EM_E_INPUT,
                       "pool %s: candidate %zu has an infinite %s; expected a finite number, or NaN where missing",
                       g->key, r, cols->names[c]);
  }
  em_fit_rest(g);
  return EM_OK;
}

static int check_latencies(const em_fit_group *g, em_err *err)
{
  for (size_t r = 0; g->latency && r < g->rows; r++)
    if (!(g->latency[r] > 0) || !isnormal(g->latency[r]))
      return em_fail(err, EM_E_INPUT, "pool %s: candidate %zu has latency %g; expected a finite time above 0", g->key,
                     r, g->latency[r]);
  return EM_OK;
}

int em_fit_check_groups(const em_fit_group *groups, size_t n, const em_columns *cols, em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0; i < n && rc == EM_OK; i++) {
    rc = check_positives(&groups[i], err);
    if (rc == EM_OK) rc = check_latencies(&groups[i], err);
    if (rc == EM_OK) rc = check_finite(&groups[i], cols, err);
  }
  return rc;
}

void em_fit_rest(const em_fit_group *g)
{
  if (g->rest) g->rest(g->owner);
}

/* ---- rows -------------------------------------------------------------------------- */

static size_t negatives_of(const em_fit_group *g, const em_fit_params *p)
{
  size_t have = g->rows - g->n_positives;
  return p->negatives > 0 && have > (size_t)p->negatives ? (size_t)p->negatives : have;
}

static int count_rows(const em_fit_group *groups, const uint32_t *use, size_t n_use, const em_fit_params *p,
                      em_fit_set *s, em_err *err)
{
  for (size_t i = 0; i < n_use; i++) {
    const em_fit_group *g = &groups[use[i]];
    size_t neg = negatives_of(g, p);
    if (neg == 0) {
      s->all_positive++;
      continue;
    }
    s->n_groups++;
    s->n_positives += g->n_positives;
    s->n_rows += g->n_positives + neg;
    if (s->n_rows > EM_FIT_MAX_ROWS)
      return em_fail(err, EM_E_INPUT, "more than %zu training rows; expected fewer (lower negatives, now %lld)",
                     EM_FIT_MAX_ROWS, (long long)p->negatives);
  }
  if (s->n_groups == 0)
    return em_fail(err, EM_E_INPUT,
                   "nothing to learn from: of %zu pools none has a recorded row and another to rank below it", n_use);
  return EM_OK;
}

static int alloc_rows(em_fit_set *s, em_err *err)
{
  s->groups = em_calloc(s->n_groups, sizeof *s->groups);
  s->ids = em_calloc(s->n_groups, sizeof *s->ids);
  s->shape_ids = em_calloc(s->n_groups, sizeof *s->shape_ids);
  s->start = em_calloc(s->n_groups + 1, sizeof *s->start);
  s->total = em_calloc(s->n_groups, sizeof *s->total);
  s->pool_row = em_calloc(s->n_rows, sizeof *s->pool_row);
  s->group = em_calloc(s->n_rows, sizeof *s->group);
  s->label = em_calloc(s->n_rows, sizeof *s->label);
  s->target = em_calloc(s->n_rows, sizeof *s->target);
  if (!s->groups || !s->ids || !s->shape_ids || !s->start || !s->total || !s->pool_row || !s->group || !s->label ||
      !s->target)
    return em_fail_nomem(err);
  return EM_OK;
}

/* The group's positives and `n_neg` of its other rows, merged in row order. */
static int add_rows(em_fit_set *s, size_t g, size_t n_neg, const em_fit_params *p, size_t *drawn, em_err *err)
{
  const em_fit_group *pool = s->groups[g];
  uint64_t stream = s->ids[g] ^ em_fit_stream(EM_FIT_DRAW_NEGATIVES, 0, 0);
  int rc = em_rng_sample((uint64_t)p->seed, stream, pool->rows - pool->n_positives, n_neg, drawn, err);
  if (rc != EM_OK) return rc;
  size_t at = s->start[g], pos = 0, neg = 0, seen = 0; /* seen: negatives before row r */
  for (size_t r = 0; r < pool->rows; r++) {
    bool positive = pos < pool->n_positives && pool->positives[pos] == r;
    bool taken = positive || (neg < n_neg && drawn[neg] == seen);
    if (taken) {
      s->pool_row[at] = (uint32_t)r;
      s->group[at] = (uint32_t)g;
      s->label[at++] = positive;
    }
    pos += positive;
    neg += taken && !positive;
    seen += !positive;
  }
  s->start[g + 1] = at;
  return EM_OK;
}

/* Shares of 1 that add up exactly: each is rounded to the grid, and the total is what came out. */
static void grade(em_fit_set *s, size_t g, double temperature)
{
  const double *latency = s->groups[g]->latency;
  double best = latency[s->pool_row[s->start[g]]], sum = 0;
  for (size_t i = s->start[g]; i < s->start[g + 1]; i++)
    if (latency[s->pool_row[i]] < best) best = latency[s->pool_row[i]];
  best = em_fit_log(best);
  int64_t whole = 0; /* fixed point, so that the order of the rows does not matter */
  for (size_t i = s->start[g]; i < s->start[g + 1]; i++) {
    s->target[i] = em_fit_exp((best - em_fit_log(latency[s->pool_row[i]])) / temperature);
    whole += em_fit_fixed(s->target[i], EM_FIT_ONE_EXP);
  }
  for (size_t i = s->start[g]; i < s->start[g + 1]; i++) {
    s->target[i] = (double)em_fit_fixed(s->target[i] / ((double)whole / EM_FIT_ONE_EXP), EM_FIT_ONE_GRAD) /
                   EM_FIT_ONE_GRAD;
    sum += s->target[i];
  }
  s->total[g] = sum;
}

static void set_targets(em_fit_set *s, size_t g, const em_fit_params *p)
{
  for (size_t i = s->start[g]; i < s->start[g + 1]; i++) s->target[i] = s->label[i];
  s->total[g] = (double)s->groups[g]->n_positives;
  if (s->groups[g]->latency)
    grade(s, g, p->label_temperature);
  else if (p->objective == EM_OBJECTIVE_SOFTMAX && p->label_smoothing > 0)
    em_fit_share_labels(s, g, p);
}

static int fill_rows(em_fit_set *s, const em_fit_group *groups, const uint32_t *use, size_t n_use,
                     const em_fit_params *p, em_err *err)
{
  int rc = EM_OK;
  size_t g = 0, *drawn = em_calloc(s->n_rows, sizeof *drawn);
  if (!drawn) return em_fail_nomem(err);
  for (size_t i = 0; i < n_use && rc == EM_OK; i++) {
    const em_fit_group *pool = &groups[use[i]];
    size_t neg = negatives_of(pool, p);
    if (neg == 0) continue;
    s->groups[g] = pool;
    s->ids[g] = em_digest_bytes(pool->key, strlen(pool->key)).lo;
    s->shape_ids[g] = em_digest_bytes(pool->shape, strlen(pool->shape)).lo;
    rc = add_rows(s, g, neg, p, drawn, err);
    if (rc == EM_OK) set_targets(s, g++, p);
  }
  em_free(drawn);
  return rc;
}

int em_fit_set_make(const em_fit_group *groups, const uint32_t *use, size_t n_use, const em_fit_params *p,
                    em_fit_set *out, em_err *err)
{
  *out = (em_fit_set){0};
  int rc = count_rows(groups, use, n_use, p, out, err);
  if (rc == EM_OK) rc = alloc_rows(out, err);
  if (rc == EM_OK) rc = fill_rows(out, groups, use, n_use, p, err);
  if (rc != EM_OK) em_fit_set_free(out);
  return rc;
}

void em_fit_set_free(em_fit_set *s)
{
  em_free(s->groups);
  em_free(s->ids);
  em_free(s->shape_ids);
  em_free(s->start);
  em_free(s->total);
  em_free(s->pool_row);
  em_free(s->group);
  em_free(s->label);
  em_free(s->target);
  *s = (em_fit_set){0};
}
