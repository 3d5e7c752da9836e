/*
 * fit.c - one training, and the run with cross-validation.
 */
#include <math.h>
#include <string.h>

#include "core/fit/fit_int.h"

/* ---- one training -------------------------------------------------------------------- */

typedef struct training {
  em_fit_set set;
  em_fit_bins bins;
  em_fit_forest forest;
} training;

static void training_free(training *t)
{
  em_fit_set_free(&t->set);
  em_fit_bins_free(&t->bins);
  em_fit_forest_free(&t->forest);
}

/* Learns from groups[use[..]].  On failure nothing is left to free. */
static int train(const em_fit_group *groups, const uint32_t *use, size_t n_use, const em_columns *cols,
                 const em_fit_params *p, em_fit_steps *steps, training *out, em_err *err)
{
  memset(out, 0, sizeof *out);
  int rc = em_fit_step(steps, 0, err);
  if (rc == EM_OK) rc = em_fit_set_make(groups, use, n_use, p, &out->set, err);
  if (rc == EM_OK) rc = em_fit_bins_make(&out->set, cols, (size_t)p->borders, (int)p->threads, &out->bins, err);
  if (rc == EM_OK) rc = em_fit_boost(&out->set, &out->bins, p, steps, &out->forest, err);
  if (rc != EM_OK) training_free(out);
  return rc;
}

static int prior_of(const training *t, const em_columns *cols, const em_fit_params *p, const cJSON *provenance,
                    em_prior **out, em_err *err)
{
  em_model *model;
  int rc = em_fit_forest_model(&t->forest, &t->bins, cols, &model, err);
  return rc == EM_OK ? em_prior_new(model, cols, (int)p->feat_ver, 1.0, provenance, out, err) : rc;
}

/* ---- ranks ----------------------------------------------------------------------------- */

typedef struct ranking {
  const em_prior *prior;
  const em_fit_group *groups;
  em_rank *out;
  em_regret *regrets;
  em_err *errs; /* of each group */
} ranking;

static void rank_groups(void *ctx, size_t begin, size_t end)
{
  ranking *w = ctx;
  for (size_t i = begin; i < end; i++) {
    const em_fit_group *g = &w->groups[i];
    double *quality = em_calloc(g->rows, sizeof *quality);
    int rc = quality ? em_prior_score(w->prior, g->cols, g->matrix, g->rows, 1, quality, &w->errs[i])
                     : em_fail_nomem(&w->errs[i]);
    em_fit_rest(g);
    if (rc == EM_OK && g->latency) rc = em_regret_of(quality, g->latency, g->rows, &w->regrets[i], &w->errs[i]);
    if (rc == EM_OK) w->out[i] = em_rank_of(quality, g->rows, g->positives, g->n_positives);
    em_free(quality);
  }
}

/* Rank of every group's best recorded row within its stored pool, and regrets where there are latencies. */
static int rank_all(const em_prior *prior, const em_fit_findings *f, em_rank *out, em_regret *regrets, em_err *err)
{
  size_t n = f->n;
  em_err *errs = em_calloc(n, sizeof *errs);
  if (!errs) return em_fail_nomem(err);
  em_parallel_for(n, 1, (int)f->params->threads, rank_groups, &(ranking){prior, f->groups, out, regrets, errs});
  int rc = EM_OK;
  for (size_t i = 0; i < n && rc == EM_OK; i++)
    if ((rc = errs[i].code) != EM_OK) *err = errs[i];
  em_free(errs);
  return rc;
}

/* ---- the run -------------------------------------------------------------------------------- */

typedef struct run {
  em_fit_findings f;
  em_fit_params params; /* of its trainings */
  em_columns cols;
  uint32_t *learned; /* the groups that are not watched */
  size_t n_learned;
  uint32_t *fold;
  em_rank *full, *ranks;
  em_regret *full_regret, *regrets;
  em_fit_fold *state;
  em_fit_steps steps;
} run;

/* Trains on all, ranks, and makes the prior again with what the ranks came to in its provenance. */
static int fit_all(run *r, em_prior **out, em_err *err)
{
  training t;
  em_fit_findings *f = &r->f;
  em_prior *bare = NULL;
  cJSON *provenance = NULL;
  int rc = train(f->groups, r->learned, r->n_learned, f->cols, f->params, &r->steps, &t, err);
  if (rc != EM_OK) return rc;
  f->set = &t.set;
  f->rows = t.set.n_rows;
  f->loss_first = t.forest.loss[0];
  f->loss_last = t.forest.loss_last;
  rc = prior_of(&t, f->cols, f->params, NULL, &bare, err);
  if (rc == EM_OK) rc = rank_all(bare, f, r->full, r->full_regret, err);
  em_prior_free(bare);
  if (rc == EM_OK) rc = em_fit_provenance(f, &provenance, err);
  if (rc == EM_OK) rc = prior_of(&t, f->cols, f->params, provenance, out, err);
  f->prior = rc == EM_OK ? *out : NULL;
  cJSON_Delete(provenance);
  f->set = NULL;
  training_free(&t);
  return rc;
}

static void run_close(run *r)
{
  em_fit_steps_close(&r->steps);
  em_columns_free(&r->cols);
  em_free(r->learned);
  em_free(r->fold);
  em_free(r->full);
  em_free(r->ranks);
  em_free(r->full_regret);
  em_free(r->regrets);
  em_free(r->state);
}

static int list_learned(run *r, const em_fit_group *groups, size_t n, em_err *err)
{
  if (n > UINT32_MAX) return em_fail(err, EM_E_INPUT, "%zu pools; expected at most %u", n, UINT32_MAX);
  r->learned = em_calloc(n ? n : 1, sizeof *r->learned);
  if (!r->learned) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++)
    if (!groups[i].watched) r->learned[r->n_learned++] = (uint32_t)i;
  if (n == 0) return em_fail(err, EM_E_INPUT, "no pools to learn from; expected at least one with a recorded row");
  if (r->n_learned) return EM_OK;
  char labels[EM_FIT_TEXT_LEN];
  em_fit_param_text(em_fit_param_find("labels"), &r->params, labels);
  return em_fail(err, EM_E_INPUT,
                 "no pools to learn from: labels %s leaves out all %zu; expected another choice of them", labels, n);
}

/* trainings: those of all repeats. */
static int run_alloc(run *r, size_t n, size_t trainings, em_err *err)
{
  r->full = em_calloc(n, sizeof *r->full);
  r->full_regret = em_calloc(n, sizeof *r->full_regret);
  if (!r->full || !r->full_regret) return em_fail_nomem(err);
  if (trainings == 0) return EM_OK;
  r->fold = em_calloc(n, sizeof *r->fold);
  r->ranks = em_calloc(n, trainings * sizeof *r->ranks);
  r->regrets = em_calloc(n, trainings * sizeof *r->regrets);
  r->state = em_calloc(trainings, sizeof *r->state);
  return r->fold && r->ranks && r->regrets && r->state ? EM_OK : em_fail_nomem(err);
}

/* On failure the caller still calls run_close. */
static int run_open(run *r, const em_fit_group *groups, size_t n, const em_fit_params *p, size_t folds,
                    const cJSON *provenance, const em_progress *progress, em_err *err)
{
  size_t trainings = folds * (size_t)p->repeats;
  *r = (run){.params = *p};
  em_fit_steps_open(&r->steps, progress, (size_t)p->iterations * (size_t)p->bags * (1 + trainings));
  int rc = em_fit_check(p, err);
  if (rc == EM_OK) rc = list_learned(r, groups, n, err);
  if (rc == EM_OK) rc = em_fit_columns(groups, n, p->features, &r->cols, err);
  if (rc == EM_OK) rc = em_fit_check_groups(groups, n, &r->cols, err);
  if (rc == EM_OK) rc = run_alloc(r, n, trainings, err);
  r->f = (em_fit_findings){.groups = groups,
                           .n = n,
                           .params = &r->params,
                           .cols = &r->cols,
                           .provenance = provenance,
                           .folds = folds,
                           .repeats = (size_t)p->repeats,
                           .fold = r->fold,
                           .state = r->state,
                           .full = r->full,
                           .full_regret = r->full_regret,
                           .ranks = r->ranks,
                           .regrets = r->regrets};
  return rc;
}

int em_fit_train(const em_fit_group *groups, size_t n, const em_fit_params *p, const cJSON *provenance,
                 const em_progress *progress, em_prior **out, em_err *err)
{
  run r;
  int rc = run_open(&r, groups, n, p, 0, provenance, progress, err);
  if (rc == EM_OK) rc = fit_all(&r, out, err);
  run_close(&r);
  return rc;
}

/* The pools to learn from that are in a fold, or those that are not; room for n_learned. */
static size_t pools_of_fold(const run *r, size_t fold, bool inside, uint32_t *use)
{
  size_t n = 0;
  for (size_t i = 0; i < r->n_learned; i++)
    if ((r->fold[r->learned[i]] == fold) == inside) use[n++] = r->learned[i];
  return n;
}

/* Learns from all pools but those of one fold; EM_E_INPUT when it cannot be held out. */
static int train_without(run *r, size_t fold, const em_fit_params *p, training *out, em_err *err)
{
  const em_fit_findings *f = &r->f;
  uint32_t *use = em_calloc(r->n_learned, sizeof *use);
  if (!use) return em_fail_nomem(err);
  size_t n_use = pools_of_fold(r, fold, false, use);
  const char *wholes = p->hold_out == EM_HOLD_OUT_CARDS ? "cards" : "shapes";
  int rc = n_use == r->n_learned
             ? em_fail(err, EM_E_INPUT, "no pool in this fold: there are fewer %s than folds", wholes)
             : train(f->groups, use, n_use, f->cols, p, &r->steps, out, err);
  em_free(use);
  return rc;
}

/* Trains without one fold, with the seed of its repeat, and ranks every pool.  A fold that cannot be held out is noted, not
 * an error. */
static int hold_out(run *r, size_t piece, em_err *err)
{
  const em_fit_findings *f = &r->f;
  em_fit_fold *state = &r->state[piece];
  em_fit_params p = *f->params;
  training t;
  em_prior *prior = NULL;
  p.seed += (int64_t)(piece / f->folds);
  int rc = train_without(r, piece % f->folds, &p, &t, err);
  if (rc == EM_E_INPUT) {
    snprintf(state->excluded, sizeof state->excluded, "%s", err->msg);
    *err = (em_err){0};
    return em_fit_step(&r->steps, (size_t)f->params->iterations * (size_t)f->params->bags, err);
  }
  if (rc != EM_OK) return rc;
  rc = prior_of(&t, f->cols, f->params, NULL, &prior, err);
  if (rc == EM_OK) rc = rank_all(prior, f, r->ranks + piece * f->n, r->regrets + piece * f->n, err);
  state->done = rc == EM_OK;
  em_prior_free(prior);
  training_free(&t);
  return rc;
}

/* The trainings of a run do not wait for each other: each is one piece of parallel work, and in it
 * everything runs on one thread.  Piece 0 is the fit on all pools, the others hold one fold out. */
typedef struct pieces {
  run *r;
  em_prior **out;
  em_err *errs; /* of each piece */
} pieces;

static void do_pieces(void *ctx, size_t begin, size_t end)
{
  pieces *w = ctx;
  for (size_t i = begin; i < end; i++) {
    int rc = i == 0 ? fit_all(w->r, w->out, &w->errs[i]) : hold_out(w->r, i - 1, &w->errs[i]);
    if (rc != EM_OK) em_fit_stop(&w->r->steps);
  }
}

/* The first failure that is not just a piece giving up because another failed. */
static int first_failure(const em_err *errs, size_t n, em_err *err)
{
  const em_err *found = NULL;
  for (size_t i = 0; i < n; i++)
    if (errs[i].code != EM_OK && (!found || (found->code == EM_E_CANCEL && errs[i].code != EM_E_CANCEL)))
      found = &errs[i];
  if (!found) return EM_OK;
  *err = *found;
  return err->code;
}

static int run_pieces(run *r, em_prior **out, em_err *err)
{
  size_t n = 1 + r->f.folds * r->f.repeats;
  em_err *errs = em_calloc(n, sizeof *errs);
  if (!errs) return em_fail_nomem(err);
  em_parallel_for(n, 1, (int)r->f.params->threads, do_pieces, &(pieces){r, out, errs});
  int rc = first_failure(errs, n, err);
  em_free(errs);
  return rc;
}

/* ---- early stopping ----------------------------------------------------------------------- */

/* The folds' losses on what they held out, tree by tree. */
typedef struct stopping {
  run *r;
  em_fit_params params;
  double *loss; /* of each fold: iterations + 1 */
  bool *held;   /* of each fold: its loss is there */
  em_err *errs; /* of each fold */
} stopping;

/* Pools that teach nothing are no use here either. */
static int curve_of(stopping *w, size_t fold, em_err *err)
{
  const em_fit_findings *f = &w->r->f;
  training t;
  em_fit_set held = {0};
  int rc = train_without(w->r, fold, &w->params, &t, err);
  if (rc != EM_OK) return rc;
  uint32_t *use = em_calloc(w->r->n_learned, sizeof *use);
  if (!use) rc = em_fail_nomem(err);
  if (rc == EM_OK) rc = em_fit_set_make(f->groups, use, pools_of_fold(w->r, fold, true, use), &w->params, &held, err);
  if (rc == EM_OK)
    rc = em_fit_add_curve(&t.forest, &t.bins, f->cols, &held, &w->params,
                          w->loss + fold * ((size_t)w->params.iterations + 1), err);
  em_free(use);
  em_fit_set_free(&held);
  training_free(&t);
  return rc;
}

static void do_curves(void *ctx, size_t begin, size_t end)
{
  stopping *w = ctx;
  for (size_t k = begin; k < end; k++) {
    int rc = curve_of(w, k, &w->errs[k]);
    w->held[k] = rc == EM_OK;
    if (rc == EM_E_INPUT)
      w->errs[k] = (em_err){0}; /* the fold will be listed as excluded */
    else if (rc != EM_OK)
      em_fit_stop(&w->r->steps);
  }
}

static int check_held(const stopping *w, em_err *err)
{
  for (size_t k = 0; k < w->r->f.folds; k++)
    if (w->held[k]) return EM_OK;
  return em_fail(
    err, EM_E_INPUT,
    "early-stopping %lld: none of %zu folds can be held out to stop by; expected pools of at least two shapes or cards "
    "that can be learned from without each other",
    (long long)w->params.early_stopping, w->r->f.folds);
}

/* Adds the folds' losses up and sets how many trees the trainings take. */
static void choose_trees(stopping *w)
{
  run *r = w->r;
  size_t n = (size_t)w->params.iterations;
  for (size_t k = 1; k < r->f.folds; k++)
    for (size_t t = 0; t <= n; t++) w->loss[t] += w->loss[k * (n + 1) + t];
  r->f.asked = n;
  r->params.iterations = (int64_t)em_fit_stop_at(w->loss, n, (size_t)w->params.early_stopping);
  r->steps.total = r->steps.done + (size_t)(r->params.iterations * r->params.bags) * (1 + r->f.folds * r->f.repeats);
}

static int stop_early(run *r, em_err *err)
{
  stopping w = {.r = r, .params = r->params};
  size_t folds = r->f.folds;
  w.params.bags = 1;
  w.loss = em_calloc(folds, ((size_t)w.params.iterations + 1) * sizeof *w.loss);
  w.held = em_calloc(folds, sizeof *w.held);
  w.errs = em_calloc(folds, sizeof *w.errs);
  int rc = w.loss && w.held && w.errs ? EM_OK : em_fail_nomem(err);
  r->steps.total += folds * (size_t)w.params.iterations;
  if (rc == EM_OK) em_parallel_for(folds, 1, (int)r->params.threads, do_curves, &w);
  if (rc == EM_OK) rc = first_failure(w.errs, folds, err);
  if (rc == EM_OK) rc = check_held(&w, err);
  if (rc == EM_OK) choose_trees(&w);
  em_free(w.loss);
  em_free(w.held);
  em_free(w.errs);
  return rc;
}

int em_fit_run(const em_fit_group *groups, size_t n, const em_fit_params *p, const cJSON *provenance,
               const em_progress *progress, em_fit_result *out, em_err *err)
{
  run r;
  *out = (em_fit_result){0};
  int rc = run_open(&r, groups, n, p, (size_t)p->folds, provenance, progress, err);
  if (rc == EM_OK && r.f.folds) rc = em_fit_folds(groups, n, p->hold_out, p->folds, r.fold, err);
  if (rc == EM_OK && p->early_stopping) rc = stop_early(&r, err);
  if (rc == EM_OK) rc = run_pieces(&r, &out->prior, err);
  if (rc == EM_OK) rc = em_fit_report(&r.f, &out->metrics, err);
  run_close(&r);
  if (rc != EM_OK) em_fit_result_free(out);
  return rc;
}

void em_fit_result_free(em_fit_result *r)
{
  em_prior_free(r->prior);
  em_free(r->metrics);
  *r = (em_fit_result){0};
}
