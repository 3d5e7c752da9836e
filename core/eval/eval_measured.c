/*
 * eval_measured.c - how the prior's order of measured pools agrees with their latencies, by card and
 * level of optimization.
 */
#include <stdlib.h>
#include <string.h>

#include "core/eval/eval_int.h"

/* ---- pools -------------------------------------------------------------------------- */

typedef struct work {
  const em_dataset *d;
  const em_prior *prior;
  int threads;
  double *quality; /* room for the largest pool */
} work;

static size_t first_of(const double *quality, const em_group *g)
{
  size_t first = 0;
  for (size_t i = 1; i < g->n_rows; i++)
    if (quality[i] > quality[first] || (quality[i] == quality[first] && g->latency_us[i] > g->latency_us[first]))
      first = i;
  return first;
}

static int judge(const work *w, size_t group, em_eval_measured_pool *out, em_err *err)
{
  const em_group *g = em_dataset_group(w->d, group);
  int rc = em_prior_score(w->prior, &g->cols, g->matrix, g->n_rows, w->threads, w->quality, err);
  if (rc != EM_OK) return rc;
  *out = (em_eval_measured_pool){
    .group = group, .rank = em_rank_of(w->quality, g->n_rows, &g->fastest, 1), .first = first_of(w->quality, g)};
  return em_regret_of(w->quality, g->latency_us, g->n_rows, &out->regret, err);
}

/* Lists the groups, and makes room for the largest. */
static int list_pools(work *w, const char *kernel, em_eval_measured *out, em_err *err)
{
  size_t n = em_dataset_n_groups(w->d), most = 1;
  out->pools = em_calloc(n ? n : 1, sizeof *out->pools);
  if (!out->pools) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    const em_group *g = em_dataset_group(w->d, i);
    if (!em_eval_wanted(g, true, kernel)) continue;
    out->pools[out->n_pools++].group = i;
    if (g->n_rows > most) most = g->n_rows;
  }
  w->quality = em_calloc(most, sizeof *w->quality);
  return w->quality ? EM_OK : em_fail_nomem(err);
}

static int judge_pools(work *w, const char *kernel, const em_progress *p, em_eval_measured *out, em_err *err)
{
  int rc = list_pools(w, kernel, out, err);
  for (size_t i = 0; i < out->n_pools && rc == EM_OK; i++) {
    rc = em_progress_step(p, "judging measured pools", i, out->n_pools, err);
    if (rc == EM_OK) rc = judge(w, out->pools[i].group, &out->pools[i], err);
  }
  em_free(w->quality);
  return rc;
}

static int name_pools(const em_dataset *d, em_eval_measured *e, em_err *err)
{
  size_t n = e->n_pools ? e->n_pools : 1;
  const char **keys = em_calloc(n, sizeof *keys);
  e->keys = em_calloc(n, sizeof *e->keys);
  int rc = keys && e->keys ? EM_OK : em_fail_nomem(err);
  for (size_t i = 0; i < e->n_pools && rc == EM_OK; i++) keys[i] = em_dataset_group(d, e->pools[i].group)->key;
  if (rc == EM_OK) rc = em_unique_keys(keys, e->n_pools, e->keys, err);
  for (size_t i = 0; i < e->n_pools && rc == EM_OK; i++) e->pools[i].key = e->keys[i];
  em_free(keys);
  return rc;
}

/* ---- cells -------------------------------------------------------------------------- */

/* A pool in the order of the report. */
typedef struct line {
  const em_group *group;
  const em_eval_measured_pool *pool;
} line;

static int by_cell(const void *a, const void *b)
{
  const em_group *x = ((const line *)a)->group, *y = ((const line *)b)->group;
  int order = strcmp(x->gpu, y->gpu);
  return order ? order : x->h_opt - y->h_opt;
}

/* Scratch: pools by cell, and their figures and keys in that order. */
typedef struct sorted {
  line *lines;
  em_regret *regrets;
  const char **keys;
} sorted;

static int fill_cells(const em_dataset *d, const sorted *s, em_eval_measured *e, em_err *err)
{
  for (size_t i = 0; i < e->n_pools; i++) s->lines[i] = (line){em_dataset_group(d, e->pools[i].group), &e->pools[i]};
  if (e->n_pools) qsort(s->lines, e->n_pools, sizeof *s->lines, by_cell);
  for (size_t i = 0; i < e->n_pools; i++) {
    s->regrets[i] = s->lines[i].pool->regret;
    s->keys[i] = s->lines[i].pool->key;
  }
  int rc = EM_OK;
  for (size_t i = 0, end; i < e->n_pools && rc == EM_OK; i = end) {
    for (end = i + 1; end < e->n_pools && by_cell(&s->lines[i], &s->lines[end]) == 0; end++)
      ;
    em_eval_measured_cell *c = &e->cells[e->n_cells++];
    *c = (em_eval_measured_cell){.gpu = s->lines[i].group->gpu, .h_opt = s->lines[i].group->h_opt};
    rc = em_regret_summarise(s->regrets + i, s->keys + i, end - i, &c->figures, err);
  }
  return rc;
}

static int make_cells(const em_dataset *d, em_eval_measured *e, em_err *err)
{
  size_t n = e->n_pools ? e->n_pools : 1;
  sorted s = {em_calloc(n, sizeof *s.lines), em_calloc(n, sizeof *s.regrets), em_calloc(n, sizeof *s.keys)};
  e->cells = em_calloc(n, sizeof *e->cells);
  int rc = s.lines && s.regrets && s.keys && e->cells ? fill_cells(d, &s, e, err) : em_fail_nomem(err);
  em_free(s.lines);
  em_free(s.regrets);
  em_free(s.keys);
  return rc;
}

/* ---- all ------------------------------------------------------------------------------ */

int em_eval_measured_pools(const em_dataset *d, const em_prior *prior, const char *kernel, int threads,
                           const em_progress *p, em_eval_measured *out, em_err *err)
{
  work w = {.d = d, .prior = prior, .threads = threads};
  *out = (em_eval_measured){0};
  int rc = judge_pools(&w, kernel, p, out, err);
  if (rc == EM_OK) rc = name_pools(d, out, err);
  if (rc == EM_OK) rc = make_cells(d, out, err);
  if (rc != EM_OK) em_eval_measured_free(out);
  return rc;
}

void em_eval_measured_free(em_eval_measured *e)
{
  for (size_t i = 0; e->keys && i < e->n_pools; i++) em_free(e->keys[i]);
  em_free(e->keys);
  em_free(e->pools);
  em_free(e->cells);
  *e = (em_eval_measured){0};
}
