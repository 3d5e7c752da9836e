/*
 * eval.c - ranks of the golden pools, and their summaries.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/eval/eval_int.h"

/* ---- pools -------------------------------------------------------------------------- */

/* Room for the largest pool. */
typedef struct work {
  const em_dataset *d;
  const em_prior *prior;
  int threads;
  double *quality;
} work;

bool em_eval_wanted(const em_group *g, bool measured, const char *kernel)
{
  if (g->measured != measured) return false;
  return !kernel || strstr(g->name, kernel) || (g->label && strstr(g->label, kernel));
}

/* Highest quality; rows are only read where it is shared, to break the tie by content. */
static int pick(const work *w, size_t group, const em_group *g, size_t *out, em_err *err)
{
  *out = em_rank_pick(w->quality, NULL, g->n_rows);
  size_t shared = 0;
  for (size_t i = 0; i < g->n_rows; i++) shared += w->quality[i] == w->quality[*out];
  if (shared == 1) return EM_OK;
  em_row *rows = em_calloc(g->n_rows, sizeof *rows);
  if (!rows) return em_fail_nomem(err);
  int rc = em_dataset_rows(w->d, group, rows, err);
  if (rc == EM_OK) *out = em_rank_pick(w->quality, rows, g->n_rows);
  em_free(rows);
  return rc;
}

static int rank_pool(const work *w, size_t group, em_eval_pool *out, em_err *err)
{
  const em_group *g = em_dataset_group(w->d, group);
  int rc = em_prior_score(w->prior, &g->cols, g->matrix, g->n_rows, w->threads, w->quality, err);
  if (rc != EM_OK) return rc;
  *out = (em_eval_pool){
    .group = group,
    .rank = em_rank_of(w->quality, g->n_rows, g->golden_ids, g->n_golden),
    .rows = g->n_rows,
    .positives = g->n_golden,
  };
  return pick(w, group, g, &out->pick, err);
}

static int rank_wanted(const work *w, const char *kernel, size_t total, const em_progress *p, em_eval *out, em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0; i < em_dataset_n_groups(w->d) && rc == EM_OK; i++) {
    if (!em_eval_wanted(em_dataset_group(w->d, i), false, kernel)) continue;
    rc = em_progress_step(p, "ranking pools", out->n_pools, total, err);
    if (rc == EM_OK) rc = rank_pool(w, i, &out->pools[out->n_pools], err);
    out->n_pools += rc == EM_OK;
  }
  return rc;
}

static int rank_pools(work *w, const char *kernel, const em_progress *p, em_eval *out, em_err *err)
{
  size_t most = 1, total = 0;
  for (size_t i = 0; i < em_dataset_n_groups(w->d); i++) {
    const em_group *g = em_dataset_group(w->d, i);
    if (!em_eval_wanted(g, false, kernel)) continue;
    total++;
    if (g->n_rows > most) most = g->n_rows;
  }
  out->pools = em_calloc(total ? total : 1, sizeof *out->pools);
  if (!out->pools) return em_fail_nomem(err);
  w->quality = em_calloc(most, sizeof *w->quality);
  if (!w->quality) return em_fail_nomem(err);
  int rc = rank_wanted(w, kernel, total, p, out, err);
  em_free(w->quality);
  return rc;
}

/* ---- cells -------------------------------------------------------------------------- */

/* Sizes of whole pools, also where a sample is stored. */
static const struct bucket {
  const char *name;
  uint64_t below;
} BUCKETS[] = {
  {"<100", 100},
  {"<1k", 1000},
  {"<10k", 10000},
  {">=10k", UINT64_MAX},
};
enum { N_BUCKETS = sizeof BUCKETS / sizeof *BUCKETS };

size_t em_eval_bucket(uint64_t total)
{
  size_t i = 0;
  while (i + 1 < N_BUCKETS && total >= BUCKETS[i].below) i++;
  return i;
}

const char *em_eval_bucket_name(size_t bucket) { return BUCKETS[bucket].name; }

/* A pool in the order of the report. */
typedef struct line {
  const char *gpu, *tier;
  size_t bucket;
  em_rank rank;
} line;

static int by_cell(const void *a, const void *b)
{
  const line *x = a, *y = b;
  int order = strcmp(x->gpu, y->gpu);
  if (order == 0) order = strcmp(x->tier, y->tier);
  return order ? order : (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

static bool same_gpu(const line *a, const line *b) { return strcmp(a->gpu, b->gpu) == 0; }

static bool same_cell(const line *a, const line *b) { return by_cell(a, b) == 0; }

static bool any(const line *a, const line *b)
{
  (void)a;
  (void)b;
  return true;
}

/* One cell for each stretch of lines that are `same`. */
static int add_cells(const line *lines, const em_rank *ranks, size_t n, bool (*same)(const line *, const line *),
                     em_eval *out, em_err *err)
{
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && same(&lines[i], &lines[end]); end++)
      ;
    em_eval_cell *c = &out->cells[out->n_cells++];
    bool whole = same == any;
    *c = (em_eval_cell){.gpu = whole ? "" : lines[i].gpu,
                        .tier = same == same_cell ? lines[i].tier : "",
                        .bucket = same == same_cell ? BUCKETS[lines[i].bucket].name : ""};
    int rc = em_rank_summarise(ranks + i, end - i, &c->ranks, err);
    if (rc != EM_OK) return rc;
  }
  return EM_OK;
}

static int fill_cells(const em_dataset *d, line *lines, em_rank *ranks, em_eval *out, em_err *err)
{
  size_t n = out->n_pools;
  if (!lines || !ranks || !out->cells) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    const em_group *g = em_dataset_group(d, out->pools[i].group);
    lines[i] = (line){g->gpu, g->tier, em_eval_bucket(g->total), out->pools[i].rank};
  }
  qsort(lines, n, sizeof *lines, by_cell);
  for (size_t i = 0; i < n; i++) ranks[i] = lines[i].rank;
  int rc = add_cells(lines, ranks, n, same_cell, out, err);
  if (rc == EM_OK) rc = add_cells(lines, ranks, n, same_gpu, out, err);
  if (rc == EM_OK) rc = add_cells(lines, ranks, n, any, out, err);
  return rc;
}

static int make_cells(const em_dataset *d, em_eval *out, em_err *err)
{
  size_t n = out->n_pools ? out->n_pools : 1;
  line *lines = em_calloc(n, sizeof *lines);
  em_rank *ranks = em_calloc(n, sizeof *ranks);
  out->cells = em_calloc(2 * n + 1, sizeof *out->cells);
  int rc = fill_cells(d, lines, ranks, out, err);
  em_free(lines);
  em_free(ranks);
  return rc;
}

/* ---- all ------------------------------------------------------------------------------ */

int em_eval_golden(const em_dataset *d, const em_prior *prior, const char *kernel, int threads, const em_progress *p,
                   em_eval *out, em_err *err)
{
  work w = {.d = d, .prior = prior, .threads = threads};
  *out = (em_eval){0};
  int rc = rank_pools(&w, kernel, p, out, err);
  if (rc == EM_OK) rc = make_cells(d, out, err);
  if (rc == EM_OK) rc = em_eval_baselines(d, out, err);
  if (rc != EM_OK) em_eval_free(out);
  return rc;
}

/* Only some kernels have the members of a family (S_pw_<op>): that no pool has one says nothing. */
static bool of_family(const char *name)
{
  const em_feature *f = em_feature_find(name);
  return f && f->name[strlen(f->name) - 1] == '*';
}

bool em_eval_lacks(const em_dataset *d, const em_prior *prior, size_t column)
{
  const char *name = em_prior_columns(prior)->names[column];
  size_t borders;
  em_model_borders(em_prior_model(prior), column, &borders);
  return borders && !of_family(name) && !em_dataset_groups_with(d, name);
}

void em_eval_free(em_eval *e)
{
  em_free(e->pools);
  em_free(e->cells);
  *e = (em_eval){0};
}
