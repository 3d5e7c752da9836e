/*
 * fit_measured.c - the part of metrics.json on pools with latencies: full_train.measured and
 * cv.measured.
 *
 * Latencies of different cards, or of different levels of optimization, are never put together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

static bool add_number(cJSON *o, const char *key, double x) { return cJSON_AddNumberToObject(o, key, x) != NULL; }

/* Takes `item` over. */
static bool push(cJSON *list, cJSON *item)
{
  if (item && cJSON_AddItemToArray(list, item)) return true;
  cJSON_Delete(item);
  return false;
}

/* The measured pools of a run, by card, level and key, and scratch for their figures. */
typedef struct report {
  const em_fit_findings *f;
  char *const *keys;
  size_t *pools, n;
  em_regret *regrets; /* folds x n, at least n */
  const char **names; /* of the same */
} report;

enum { FULL, HOLDOUT, TRAIN };
static const char *const SPLITS[] = {NULL, "holdout", "train"};

static bool same_cell(const report *r, size_t a, size_t b)
{
  const em_fit_group *x = &r->f->groups[r->pools[a]], *y = &r->f->groups[r->pools[b]];
  return strcmp(x->gpu, y->gpu) == 0 && x->h_opt == y->h_opt;
}

static bool comes_before(const report *r, size_t a, size_t b)
{
  const em_fit_group *x = &r->f->groups[a], *y = &r->f->groups[b];
  int order = strcmp(x->gpu, y->gpu);
  if (order == 0) order = x->h_opt - y->h_opt;
  return (order ? order : strcmp(r->keys[a], r->keys[b])) < 0;
}

/* Merges two sorted halves; `tmp` holds the left one meanwhile. */
static void sort(const report *r, size_t *pools, size_t n, size_t *tmp)
{
  size_t half = n / 2, i = 0, j = half, k = 0;
  if (n < 2) return;
  sort(r, pools, half, tmp);
  sort(r, pools + half, n - half, tmp);
  memcpy(tmp, pools, half * sizeof *tmp);
  while (i < half && j < n) pools[k++] = comes_before(r, pools[j], tmp[i]) ? pools[j++] : tmp[i++];
  while (i < half) pools[k++] = tmp[i++];
}

static int list_pools(report *r, em_err *err)
{
  size_t *tmp = em_calloc(r->f->n, sizeof *tmp);
  if (!tmp) return em_fail_nomem(err);
  for (size_t i = 0; i < r->f->n; i++)
    if (r->f->groups[i].latency) r->pools[r->n++] = i;
  sort(r, r->pools, r->n, tmp);
  em_free(tmp);
  return EM_OK;
}

/* ---- summaries -------------------------------------------------------------------------- */

/* Of the pools first .. end - 1 and a split; every (pool, fit) pair counts. */
static int summarise(const report *r, size_t first, size_t end, int split, em_regret_summary *out, em_err *err)
{
  const em_fit_findings *f = r->f;
  size_t n = 0, fits = split == FULL ? 1 : f->folds;
  for (size_t k = 0; k < fits; k++)
    for (size_t at = first; at < end; at++) {
      size_t i = r->pools[at];
      if (split != FULL && (!f->state[k].done || (f->fold[i] == k) != (split == HOLDOUT))) continue;
      if (split == TRAIN && f->groups[i].watched) continue;
      r->names[n] = r->keys[i];
      r->regrets[n++] = split == FULL ? f->full_regret[i] : f->regrets[k * f->n + i];
    }
  return em_regret_summarise(r->regrets, r->names, n, out, err);
}

static cJSON *axes_of(const report *r, size_t first, int split)
{
  const em_fit_group *g = &r->f->groups[r->pools[first]];
  cJSON *axes = cJSON_CreateObject();
  if (cJSON_AddStringToObject(axes, "half", "measured") && cJSON_AddStringToObject(axes, "gpu", g->gpu) &&
      add_number(axes, "h_opt", g->h_opt) &&
      (!SPLITS[split] || cJSON_AddStringToObject(axes, "cv_split", SPLITS[split])))
    return axes;
  cJSON_Delete(axes);
  return NULL;
}

/* Takes `item` over. */
static bool add_item(cJSON *o, const char *key, cJSON *item)
{
  if (item && cJSON_AddItemToObject(o, key, item)) return true;
  cJSON_Delete(item);
  return false;
}

static int add_summary(const report *r, size_t first, size_t end, int split, cJSON *list, em_err *err)
{
  em_regret_summary s;
  int rc = summarise(r, first, end, split, &s, err);
  if (rc != EM_OK || s.pools == 0) return rc;
  cJSON *o = cJSON_CreateObject();
  if (add_item(o, "axes", axes_of(r, first, split)) && add_number(o, "groups", (double)s.pools) &&
      add_item(o, "metrics", em_regret_summary_json(&s)))
    return push(list, o) ? EM_OK : em_fail_nomem(err);
  cJSON_Delete(o);
  return em_fail_nomem(err);
}

/* One for each card and level. */
static int add_summaries(const report *r, int split, cJSON *list, em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0, end; i < r->n && rc == EM_OK; i = end) {
    for (end = i + 1; end < r->n && same_cell(r, i, end); end++)
      ;
    rc = add_summary(r, i, end, split, list, err);
  }
  return rc;
}

/* ---- pools ---------------------------------------------------------------------------------- */

static bool add_pool(cJSON *o, const em_rank *rank, const em_regret *regret, const em_fit_group *g)
{
  return add_number(o, "rank", (double)rank->against) && add_number(o, "rank_optimistic", (double)rank->optimistic) &&
         add_number(o, "rows", (double)g->rows) && add_number(o, "h_opt", g->h_opt) && em_regret_add_json(o, regret);
}

static bool add_pools(const report *r, cJSON *map)
{
  const em_fit_findings *f = r->f;
  bool ok = map;
  for (size_t at = 0; at < r->n && ok; at++) {
    size_t i = r->pools[at];
    ok = add_pool(cJSON_AddObjectToObject(map, r->keys[i]), &f->full[i], &f->full_regret[i], &f->groups[i]);
  }
  return ok;
}

/* Of repeated cross-validations: regret@1 with each seed, null where the pool's fold could not be held out, and the mean that
 * fits are compared by. */
static bool add_repeats(const em_fit_findings *f, size_t pool, cJSON *o)
{
  if (f->repeats < 2) return true;
  cJSON *list = cJSON_AddArrayToObject(o, "regret1s");
  double sum = 0, n = 0;
  bool ok = list;
  for (size_t r = 0; r < f->repeats && ok; r++) {
    size_t piece = r * f->folds + f->fold[pool];
    double regret = f->state[piece].done ? f->regrets[piece * f->n + pool].at[0] : (double)NAN;
    if (f->state[piece].done) {
      sum += isnan(regret) ? regret : em_fit_log(regret) / em_fit_log(2.0);
      n++;
    }
    ok = push(list, cJSON_CreateNumber(regret));
  }
  return ok && add_number(o, "mean_log2_regret1", sum / n);
}

static bool add_held_out(const report *r, cJSON *map)
{
  const em_fit_findings *f = r->f;
  bool ok = map;
  for (size_t at = 0; at < r->n && ok; at++) {
    size_t i = r->pools[at], k = f->fold[i];
    if (!f->state[k].done) continue;
    cJSON *o = cJSON_AddObjectToObject(map, r->keys[i]);
    ok = add_pool(o, &f->ranks[k * f->n + i], &f->regrets[k * f->n + i], &f->groups[i]) &&
         add_number(o, "fold", (double)k) && add_repeats(f, i, o);
  }
  return ok;
}

/* ---- all ---------------------------------------------------------------------------------------- */

static int write_report(report *r, cJSON *full, cJSON *cv, em_err *err)
{
  int rc = list_pools(r, err);
  if (rc != EM_OK || r->n == 0) return rc;
  cJSON *part = cJSON_AddObjectToObject(full, "measured"), *list = cJSON_AddArrayToObject(part, "summaries");
  if (!list || !add_pools(r, cJSON_AddObjectToObject(part, "per_pool"))) return em_fail_nomem(err);
  rc = add_summaries(r, FULL, list, err);
  if (rc != EM_OK || !cv) return rc;
  part = cJSON_AddObjectToObject(cv, "measured");
  list = cJSON_AddArrayToObject(part, "summaries");
  if (!list || !add_held_out(r, cJSON_AddObjectToObject(part, "holdout_per_pool"))) return em_fail_nomem(err);
  rc = add_summaries(r, HOLDOUT, list, err);
  return rc == EM_OK ? add_summaries(r, TRAIN, list, err) : rc;
}

int em_fit_report_measured(const em_fit_findings *f, char *const *keys, cJSON *full, cJSON *cv, em_err *err)
{
  report r = {.f = f, .keys = keys};
  size_t size = f->folds ? f->folds : 1;
  r.pools = em_calloc(f->n, sizeof *r.pools);
  r.regrets = em_calloc(f->n, size * sizeof *r.regrets);
  r.names = em_calloc(f->n, size * sizeof *r.names);
  int rc = r.pools && r.regrets && r.names ? write_report(&r, full, cv, err) : em_fail_nomem(err);
  em_free(r.pools);
  em_free(r.regrets);
  em_free(r.names);
  return rc;
}
