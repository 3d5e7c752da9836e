/*
 * fit_report.c - what a run found out, as provenance and as metrics.json
 * (reference formats.md section 8.1): golden pools; fit_measured.c has those with latencies.
 *
 * cJSON's adders return NULL when out of memory and take NULL for an object, so that the
 * results are put together with && and looked at once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

/* ---- parts -------------------------------------------------------------------------- */

static bool add_number(cJSON *o, const char *key, double x) { return cJSON_AddNumberToObject(o, key, x) != NULL; }

static bool add_string(cJSON *o, const char *key, const char *s) { return cJSON_AddStringToObject(o, key, s) != NULL; }

/* Takes `item` over. */
static bool add_item(cJSON *o, const char *key, cJSON *item)
{
  if (item && cJSON_AddItemToObject(o, key, item)) return true;
  cJSON_Delete(item);
  return false;
}

static double round6(double x)
{
  char buf[EM_DOUBLE_LEN];
  snprintf(buf, sizeof buf, "%.6g", x);
  return strtod(buf, NULL);
}

static bool add_params(cJSON *o, const em_fit_params *p)
{
  bool ok = true;
  for (size_t i = 0; i < em_n_fit_params() && ok; i++) {
    const em_fit_param *d = em_fit_param_at(i);
    char text[EM_FIT_TEXT_LEN];
    if (!d->recorded) continue;
    ok = d->choices ? add_string(o, d->name, em_fit_param_text(d, p, text))
                    : add_number(o, d->name, em_fit_param_get(d, p));
  }
  return ok;
}

static const char *features_of(const em_fit_params *p) { return p->features ? p->features : "@schedule"; }

static bool is_golden(const em_fit_group *g) { return !g->latency; }

/* Of the pools learned from; `watched` counts the others. */
static bool add_counts(cJSON *o, const em_fit_findings *f)
{
  size_t total = 0, dynamic = 0, positives = 0, without_negatives = 0;
  for (size_t i = 0; i < f->n; i++) {
    const em_fit_group *g = &f->groups[i];
    if (g->watched) continue;
    total++;
    dynamic += g->dynamic;
    positives += g->n_positives;
    without_negatives += g->n_positives == g->rows;
  }
  cJSON *g = cJSON_AddObjectToObject(o, "groups");
  return add_number(g, "total", (double)total) && add_number(g, "static", (double)(total - dynamic)) &&
         add_number(g, "dynamic", (double)dynamic) && add_number(g, "without_negatives", (double)without_negatives) &&
         (total == f->n || add_number(g, "watched", (double)(f->n - total))) &&
         add_number(o, "positives", (double)positives) && add_number(o, "rows", (double)f->rows);
}

static bool add_loss(cJSON *o, const em_fit_findings *f)
{
  cJSON *loss = cJSON_AddObjectToObject(o, "loss");
  return add_number(loss, "first", round6(f->loss_first)) && add_number(loss, "last", round6(f->loss_last));
}

/* ---- provenance ------------------------------------------------------------------------ */

static bool add_in_sample(cJSON *o, const em_rank_summary *s)
{
  bool ok = add_number(o, "median", s->median) && add_number(o, "median_optimistic", s->median_optimistic) &&
            add_number(o, "mean_log2", round6(s->mean_log2));
  for (size_t k = 0; k < EM_N_TOPS && ok; k++) {
    char name[32];
    snprintf(name, sizeof name, "top%zu", em_top_ks[k]);
    ok = add_number(o, name, (double)s->top[k]);
  }
  return ok;
}

/* Over the pools learned from. */
static int summarise_learned(const em_fit_findings *f, em_rank_summary *out, em_err *err)
{
  size_t n = 0;
  em_rank *ranks = em_calloc(f->n, sizeof *ranks);
  if (!ranks) return em_fail_nomem(err);
  for (size_t i = 0; i < f->n; i++)
    if (!f->groups[i].watched) ranks[n++] = f->full[i];
  int rc = em_rank_summarise(ranks, n, out, err);
  em_free(ranks);
  return rc;
}

int em_fit_provenance(const em_fit_findings *f, cJSON **out, em_err *err)
{
  em_rank_summary s;
  int rc = summarise_learned(f, &s, err);
  if (rc != EM_OK) return rc;
  cJSON *o = f->provenance ? cJSON_Duplicate(f->provenance, true) : cJSON_CreateObject();
  cJSON_DeleteItemFromObjectCaseSensitive(o, "fit");
  cJSON *fit = cJSON_AddObjectToObject(o, "fit");
  char objective[EM_FIT_TEXT_LEN];
  bool ok = add_string(fit, "objective", em_fit_objective_name(f->params, objective)) &&
            add_string(fit, "features", features_of(f->params)) &&
            add_params(cJSON_AddObjectToObject(fit, "params"), f->params) && add_counts(fit, f) && add_loss(fit, f) &&
            em_fit_add_ranges(f->set, f->cols, fit) && add_in_sample(cJSON_AddObjectToObject(fit, "in_sample"), &s);
  if (!ok) {
    cJSON_Delete(o);
    return em_fail_nomem(err);
  }
  *out = o;
  return EM_OK;
}

/* ---- summaries -------------------------------------------------------------------------------- */

typedef struct report {
  const em_fit_findings *f;
  char **keys;       /* of each group, unique */
  const char **gpus; /* of golden pools: sorted, each once */
  size_t n_gpus;
  em_rank *tmp; /* folds x n, at least n */
} report;

enum { FULL, HOLDOUT, TRAIN };
static const char *const SPLITS[] = {NULL, "holdout", "train"};

/* Collects the ranks of one card (NULL = all) and split; every (pool, fit) pair counts.  No fit was trained on a watched
 * pool. */
static size_t collect(const report *r, const char *gpu, int split)
{
  const em_fit_findings *f = r->f;
  size_t n = 0, fits = split == FULL ? 1 : f->folds;
  for (size_t k = 0; k < fits; k++)
    for (size_t i = 0; i < f->n; i++) {
      const em_fit_group *g = &f->groups[i];
      if (!is_golden(g) || (gpu && strcmp(gpu, g->gpu) != 0) || (g->watched && split == TRAIN)) continue;
      if (split == FULL)
        r->tmp[n++] = f->full[i];
      else if (f->state[k].done && (f->fold[i] == k) == (split == HOLDOUT))
        r->tmp[n++] = f->ranks[k * f->n + i];
    }
  return n;
}

static int summarise(const report *r, const char *gpu, int split, em_rank_summary *out, em_err *err)
{
  return em_rank_summarise(r->tmp, collect(r, gpu, split), out, err);
}

static int add_summary(const report *r, const char *gpu, int split, cJSON *list, em_err *err)
{
  em_rank_summary s;
  int rc = summarise(r, gpu, split, &s, err);
  if (rc != EM_OK) return rc;
  cJSON *o = cJSON_CreateObject(), *axes = cJSON_AddObjectToObject(o, "axes");
  bool ok = axes && (!gpu || add_string(axes, "gpu", gpu)) &&
            (!SPLITS[split] || add_string(axes, "cv_split", SPLITS[split])) &&
            add_number(o, "groups", (double)s.pools) && add_item(o, "metrics", em_rank_summary_json(&s));
  if (ok && cJSON_AddItemToArray(list, o)) return EM_OK;
  cJSON_Delete(o);
  return em_fail_nomem(err);
}

/* One a card, then one over all of them. */
static int add_summaries(const report *r, int split, cJSON *list, em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0; i < r->n_gpus && rc == EM_OK; i++) rc = add_summary(r, r->gpus[i], split, list, err);
  return rc == EM_OK && r->n_gpus ? add_summary(r, NULL, split, list, err) : rc;
}

/* ---- the file ------------------------------------------------------------------------------------ */

static bool add_header(cJSON *root, const em_fit_findings *f)
{
  cJSON *h = cJSON_AddObjectToObject(root, "header");
  char objective[EM_FIT_TEXT_LEN];
  bool ok = add_item(h, "dataset", f->provenance ? cJSON_Duplicate(f->provenance, true) : cJSON_CreateNull()) &&
            add_string(h, "objective", em_fit_objective_name(f->params, objective)) &&
            add_string(h, "features", features_of(f->params)) && add_string(h, "artifact", em_prior_digest(f->prior)) &&
            (!f->asked || add_number(cJSON_AddObjectToObject(h, "early_stopping"), "asked", (double)f->asked)) &&
            add_params(cJSON_AddObjectToObject(h, "trainer_params"), f->params) && add_counts(h, f);
  cJSON *cols = cJSON_AddArrayToObject(h, "columns");
  for (size_t i = 0; i < f->cols->n && ok; i++) {
    cJSON *name = cJSON_CreateString(f->cols->names[i]);
    ok = name && cJSON_AddItemToArray(cols, name);
    if (!ok) cJSON_Delete(name);
  }
  return ok && cols;
}

static bool add_golden(cJSON *o, const em_rank *rank, const em_fit_group *g)
{
  return add_number(o, "rank", (double)rank->against) && add_number(o, "rank_optimistic", (double)rank->optimistic) &&
         add_number(o, "pool", (double)g->total) && add_number(o, "sampled", (double)g->rows) &&
         add_number(o, "positives", (double)g->n_positives) && add_string(o, "tier", g->tier);
}

static int add_full(const report *r, cJSON *full, em_err *err)
{
  const em_fit_findings *f = r->f;
  cJSON *golden = cJSON_AddObjectToObject(full, "per_golden");
  bool ok = golden && add_loss(full, f);
  for (size_t i = 0; i < f->n && ok; i++)
    if (is_golden(&f->groups[i]))
      ok = add_golden(cJSON_AddObjectToObject(golden, r->keys[i]), &f->full[i], &f->groups[i]);
  cJSON *list = cJSON_AddArrayToObject(full, "summaries");
  return ok && list ? add_summaries(r, FULL, list, err) : em_fail_nomem(err);
}

/* The ranks of a pool in the fits that learned from it, by fold. */
static bool add_train_ranks(cJSON *o, const em_fit_findings *f, size_t group)
{
  cJSON *list = cJSON_AddArrayToObject(o, "ranks");
  bool ok = list;
  for (size_t k = 0; k < f->folds && ok; k++) {
    if (!f->state[k].done || f->fold[group] == k || f->groups[group].watched) continue;
    cJSON *x = cJSON_CreateNumber((double)f->ranks[k * f->n + group].against);
    ok = x && cJSON_AddItemToArray(list, x);
    if (!ok) cJSON_Delete(x);
  }
  return ok;
}

/* Of repeated cross-validations: the pool's rank with each seed, null where its fold could not be held out, and the mean
 * that fits are compared by. */
static bool add_repeats(cJSON *o, const em_fit_findings *f, size_t group)
{
  if (f->repeats < 2) return true;
  cJSON *list = cJSON_AddArrayToObject(o, "ranks");
  double sum = 0, n = 0;
  bool ok = list;
  for (size_t r = 0; r < f->repeats && ok; r++) {
    size_t piece = r * f->folds + f->fold[group];
    double rank = f->state[piece].done ? (double)f->ranks[piece * f->n + group].against : (double)NAN;
    cJSON *x = cJSON_CreateNumber(rank);
    if (f->state[piece].done) {
      sum += em_fit_log(1.0 + rank) / em_fit_log(2.0);
      n++;
    }
    ok = x && cJSON_AddItemToArray(list, x);
    if (!ok) cJSON_Delete(x);
  }
  return ok && add_number(o, "mean_log2", sum / n);
}

static bool add_cv_golden(const report *r, cJSON *cv)
{
  const em_fit_findings *f = r->f;
  cJSON *out = cJSON_AddObjectToObject(cv, "holdout_per_golden"), *in = cJSON_AddObjectToObject(cv, "train_per_golden");
  bool ok = out && in;
  for (size_t i = 0; i < f->n && ok; i++) {
    size_t k = f->fold[i];
    if (!is_golden(&f->groups[i])) continue;
    ok = add_train_ranks(cJSON_AddObjectToObject(in, r->keys[i]), f, i);
    if (!ok || !f->state[k].done) continue;
    cJSON *o = cJSON_AddObjectToObject(out, r->keys[i]);
    ok = add_golden(o, &f->ranks[k * f->n + i], &f->groups[i]) && add_number(o, "fold", (double)k) &&
         add_repeats(o, f, i);
  }
  return ok;
}

/* Per card: holdout median - train median. */
static int add_gap(const report *r, cJSON *cv, em_err *err)
{
  cJSON *gap = cJSON_AddObjectToObject(cv, "gap");
  for (size_t i = 0; i < r->n_gpus; i++) {
    em_rank_summary out, in;
    int rc = summarise(r, r->gpus[i], HOLDOUT, &out, err);
    if (rc == EM_OK) rc = summarise(r, r->gpus[i], TRAIN, &in, err);
    if (rc == EM_OK && !add_number(gap, r->gpus[i], out.median - in.median)) rc = em_fail_nomem(err);
    if (rc != EM_OK) return rc;
  }
  return gap ? EM_OK : em_fail_nomem(err);
}

static int add_fold(const report *r, size_t k, cJSON *medians, cJSON *excluded, em_err *err)
{
  const em_fit_findings *f = r->f;
  em_rank_summary s;
  char name[32];
  size_t n = 0;
  snprintf(name, sizeof name, "%zu", k);
  if (!f->state[k].done) return add_string(excluded, name, f->state[k].excluded) ? EM_OK : em_fail_nomem(err);
  for (size_t i = 0; i < f->n; i++)
    if (f->fold[i] == k && is_golden(&f->groups[i])) r->tmp[n++] = f->ranks[k * f->n + i];
  int rc = em_rank_summarise(r->tmp, n, &s, err);
  if (rc != EM_OK) return rc;
  cJSON *o = cJSON_AddObjectToObject(medians, name);
  return add_number(o, "median", s.median) && add_number(o, "n", (double)n) ? EM_OK : em_fail_nomem(err);
}

static int add_folds(const report *r, cJSON *cv, em_err *err)
{
  cJSON *detail = cJSON_AddObjectToObject(cv, "fold_detail");
  cJSON *medians = cJSON_AddObjectToObject(detail, "holdout_medians"),
        *excluded = cJSON_AddObjectToObject(detail, "excluded");
  int rc = medians && excluded ? EM_OK : em_fail_nomem(err);
  for (size_t k = 0; k < r->f->folds && rc == EM_OK; k++) rc = add_fold(r, k, medians, excluded, err);
  return rc;
}

/* Held-out figures of one card (NULL = all), seed by seed, and the means of the seeds that held any pool out. */
static int add_seeds(const report *r, const char *gpu, cJSON *list, em_err *err)
{
  const em_fit_findings *f = r->f;
  double median = 0, mean_log2 = 0, top[EM_N_TOPS] = {0}, n = 0;
  cJSON *o = cJSON_CreateObject(), *axes = cJSON_AddObjectToObject(o, "axes"),
        *seeds = cJSON_AddArrayToObject(o, "per_seed");
  bool ok = axes && seeds && (!gpu || add_string(axes, "gpu", gpu));
  for (size_t i = 0; i < f->repeats && ok; i++) {
    em_fit_findings one = *f;
    em_rank_summary s;
    report of_one = *r;
    one.state += i * f->folds;
    one.ranks += i * f->folds * f->n;
    of_one.f = &one;
    cJSON *x = summarise(&of_one, gpu, HOLDOUT, &s, err) == EM_OK ? em_rank_summary_json(&s) : NULL;
    ok = add_number(x, "seed", (double)(f->params->seed + (int64_t)i)) && add_number(x, "groups", (double)s.pools) &&
         cJSON_AddItemToArray(seeds, x);
    if (!ok) {
      cJSON_Delete(x);
      break;
    }
    if (s.pools == 0) continue;
    n++;
    median += s.median;
    mean_log2 += s.mean_log2;
    for (size_t k = 0; k < EM_N_TOPS; k++) top[k] += (double)s.top[k];
  }
  cJSON *mean = cJSON_AddObjectToObject(o, "mean");
  ok = ok && add_number(mean, "median", median / n) && add_number(mean, "mean_log2", mean_log2 / n);
  for (size_t k = 0; k < EM_N_TOPS && ok; k++) {
    char name[32];
    snprintf(name, sizeof name, "top%zu", em_top_ks[k]);
    ok = add_number(mean, name, top[k] / n);
  }
  if (ok && cJSON_AddItemToArray(list, o)) return EM_OK;
  cJSON_Delete(o);
  return em_fail_nomem(err);
}

static int add_repeated(const report *r, cJSON *cv, em_err *err)
{
  if (r->f->repeats < 2) return EM_OK;
  cJSON *list = cJSON_AddArrayToObject(cv, "repeated");
  int rc = list ? EM_OK : em_fail_nomem(err);
  for (size_t i = 0; i < r->n_gpus && rc == EM_OK; i++) rc = add_seeds(r, r->gpus[i], list, err);
  return rc == EM_OK ? add_seeds(r, NULL, list, err) : rc;
}

static int add_cv(const report *r, cJSON *cv, em_err *err)
{
  char whole[EM_FIT_TEXT_LEN];
  cJSON *list = cJSON_AddArrayToObject(cv, "summaries");
  bool ok = list && add_string(cv, "hold_out", em_fit_param_text(em_fit_param_find("hold-out"), r->f->params, whole));
  int rc = ok && add_cv_golden(r, cv) ? EM_OK : em_fail_nomem(err);
  if (rc == EM_OK) rc = add_summaries(r, HOLDOUT, list, err);
  if (rc == EM_OK) rc = add_summaries(r, TRAIN, list, err);
  if (rc == EM_OK) rc = add_gap(r, cv, err);
  if (rc == EM_OK) rc = add_repeated(r, cv, err);
  return rc == EM_OK ? add_folds(r, cv, err) : rc;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void list_gpus(report *r)
{
  size_t n = 0;
  for (size_t i = 0; i < r->f->n; i++)
    if (is_golden(&r->f->groups[i])) r->gpus[n++] = r->f->groups[i].gpu;
  qsort(r->gpus, n, sizeof *r->gpus, by_text);
  for (size_t i = 0; i < n; i++)
    if (r->n_gpus == 0 || strcmp(r->gpus[r->n_gpus - 1], r->gpus[i]) != 0) r->gpus[r->n_gpus++] = r->gpus[i];
}

static int name_groups(report *r, em_err *err)
{
  const char **keys = em_calloc(r->f->n, sizeof *keys);
  if (!keys) return em_fail_nomem(err);
  for (size_t i = 0; i < r->f->n; i++) keys[i] = r->f->groups[i].key;
  int rc = em_unique_keys(keys, r->f->n, r->keys, err);
  em_free(keys);
  return rc;
}

static int write_report(report *r, char **text, em_err *err)
{
  cJSON *root = cJSON_CreateObject();
  int rc = name_groups(r, err);
  list_gpus(r);
  if (rc == EM_OK && !add_header(root, r->f)) rc = em_fail_nomem(err);
  cJSON *full = cJSON_AddObjectToObject(root, "full_train"), *cv = NULL;
  if (r->f->folds) cv = cJSON_AddObjectToObject(root, "cv");
  if (rc == EM_OK && !(cv || (!r->f->folds && cJSON_AddNullToObject(root, "cv")))) rc = em_fail_nomem(err);
  if (rc == EM_OK) rc = add_full(r, full, err);
  if (rc == EM_OK && cv) rc = add_cv(r, cv, err);
  if (rc == EM_OK) rc = em_fit_report_measured(r->f, r->keys, full, cv, err);
  if (rc == EM_OK) rc = em_metrics_print(root, text, err);
  cJSON_Delete(root);
  return rc;
}

int em_fit_report(const em_fit_findings *f, char **text, em_err *err)
{
  report r = {.f = f};
  r.keys = em_calloc(f->n, sizeof *r.keys);
  r.gpus = em_calloc(f->n, sizeof *r.gpus);
  r.tmp = em_calloc(f->n, (f->folds ? f->folds : 1) * sizeof *r.tmp);
  int rc = r.keys && r.gpus && r.tmp ? write_report(&r, text, err) : em_fail_nomem(err);
  for (size_t i = 0; r.keys && i < f->n; i++) em_free(r.keys[i]);
  em_free(r.keys);
  em_free(r.gpus);
  em_free(r.tmp);
  return rc;
}
