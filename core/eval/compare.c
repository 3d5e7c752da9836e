/*
 * compare.c - two fits side by side, and whether one ranks better.
 *
 * A pool is compared with itself: what makes it hard for one fit makes it hard for the other, so the
 * differences say more than the difference of two means.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/eval/eval_int.h"

const char *const em_verdict_words[EM_N_VERDICTS] = {"no difference shown", "better", "worse"};

/* ---- pools ---------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
  const em_compare_pool *x = a, *y = b;
  int order = strcmp(x->gpu, y->gpu);
  if (order == 0) order = strcmp(x->tier, y->tier);
  if (order == 0 && x->bucket != y->bucket)
    for (size_t i = 0; order == 0; i++)
      order = x->bucket == em_eval_bucket_name(i) ? -1 : y->bucket == em_eval_bucket_name(i) ? 1 : 0;
  return order ? order : strcmp(x->key, y->key);
}

/* One that a double and a size_t hold. */
int em_entry_count(const cJSON *entry, const char *name, const char *fit, size_t *out, em_err *err)
{
  double n = em_metrics_number(entry, name);
  if (!(n >= 0 && n < 9e15) || n != floor(n))
    return em_fail(err, EM_E_INPUT, "%s: %s of pool %s is not a count", fit, name, entry->string);
  *out = (size_t)n;
  return EM_OK;
}

/* log2 of the rank, or the mean of it where the file has that of several seeds. */
static double log2_of(const cJSON *entry, const em_rank *rank)
{
  double mean = em_metrics_number(entry, "mean_log2");
  return mean >= 0 && mean < 64 ? mean : log2(1.0 + (double)rank->against);
}

static int read_rank(const cJSON *entry, const char *fit, em_rank *rank, double *log2_rank, em_err *err)
{
  int rc = em_entry_count(entry, "rank", fit, &rank->against, err);
  if (rc == EM_OK) rc = em_entry_count(entry, "rank_optimistic", fit, &rank->optimistic, err);
  if (rc == EM_OK) *log2_rank = log2_of(entry, rank);
  return rc;
}

/* A rank says nothing beside one among another number of candidates; a file that does not say how many is taken at its
 * word. */
static bool comparable(const cJSON *a, const cJSON *b)
{
  double x = em_metrics_number(a, "sampled"), y = em_metrics_number(b, "sampled");
  return isnan(x) || isnan(y) || x == y;
}

/* The card is what stands before the first slash of the key; *texts has room for it. */
static int add_pool(em_compare *c, const cJSON *a, const cJSON *b, const char *const *fits, char **texts, em_err *err)
{
  em_compare_pool *p = &c->pools[c->n_pools];
  const char *tier = em_metrics_text(a, "tier");
  size_t total, len = strcspn(a->string, "/");
  *p = (em_compare_pool){.key = a->string, .gpu = *texts, .tier = tier ? tier : ""};
  int rc = read_rank(a, fits[0], &p->a, &p->log2_a, err);
  if (rc == EM_OK) rc = read_rank(b, fits[1], &p->b, &p->log2_b, err);
  if (rc == EM_OK) rc = em_entry_count(a, "pool", fits[0], &total, err);
  if (rc == EM_OK && !comparable(a, b)) {
    c->unlike++;
    return EM_OK;
  }
  if (rc != EM_OK) return rc;
  p->bucket = em_eval_bucket_name(em_eval_bucket(total));
  memcpy(*texts, a->string, len);
  (*texts)[len] = '\0';
  *texts += len + 1;
  c->n_pools++;
  return EM_OK;
}

static int by_key(const void *a, const void *b)
{
  return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

const cJSON **em_members_by_key(const cJSON *object, size_t *n)
{
  const cJSON **list = em_calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof *list), *at;
  *n = 0;
  if (!list) return NULL;
  cJSON_ArrayForEach(at, object) list[(*n)++] = at;
  if (*n) qsort(list, *n, sizeof *list, by_key);
  return list;
}

static int pair_up(em_compare *c, const cJSON *const *a, size_t n_a, const cJSON *const *b, size_t n_b,
                   const char *const *fits, em_err *err)
{
  size_t texts = 1, i = 0, k = 0;
  for (size_t at = 0; at < n_a; at++) texts += strlen(a[at]->string) + 1;
  c->pools = em_calloc(n_a + 1, sizeof *c->pools);
  c->gpus = em_alloc(texts);
  if (!c->pools || !c->gpus) return em_fail_nomem(err);
  char *text = c->gpus;
  while (i < n_a || k < n_b) {
    int order = i == n_a ? 1 : k == n_b ? -1 : strcmp(a[i]->string, b[k]->string);
    int rc = order == 0 ? add_pool(c, a[i], b[k], fits, &text, err) : EM_OK;
    if (rc != EM_OK) return rc;
    c->only_a += order < 0;
    c->only_b += order > 0;
    i += order <= 0;
    k += order >= 0;
  }
  if (c->n_pools) qsort(c->pools, c->n_pools, sizeof *c->pools, by_place);
  return EM_OK;
}

/* What the folds of a fit hold whole; shapes in files that do not say. */
static const char *hold_out_of(const em_metrics *m)
{
  const cJSON *text = em_metrics_member(m->json, "cv.hold_out");
  return cJSON_IsString(text) ? text->valuestring : "shape";
}

/* A shape that was never seen, and a card that was never seen, are two questions. */
static int check_hold_out(const em_compare *c, const char *const *fits, em_err *err)
{
  const char *a = hold_out_of(&c->fit[0]), *b = hold_out_of(&c->fit[1]);
  if (!c->held_out || strcmp(a, b) == 0) return EM_OK;
  return em_fail(err, EM_E_INPUT, "%s and %s: cross-validated by %s and by %s; expected fits with the same --hold-out",
                 fits[0], fits[1], a, b);
}

static int list_pools(em_compare *c, const char *const *fits, em_err *err)
{
  size_t n_a = 0, n_b = 0;
  c->held_out = c->fit[0].holdout && c->fit[0].holdout->child && c->fit[1].holdout && c->fit[1].holdout->child;
  if (check_hold_out(c, fits, err) != EM_OK) return err->code;
  const cJSON **a = em_members_by_key(c->held_out ? c->fit[0].holdout : c->fit[0].train, &n_a);
  const cJSON **b = em_members_by_key(c->held_out ? c->fit[1].holdout : c->fit[1].train, &n_b);
  int rc = a && b ? pair_up(c, a, n_a, b, n_b, fits, err) : em_fail_nomem(err);
  em_free(a);
  em_free(b);
  if (rc == EM_OK) rc = em_compare_measured_make(c->fit, fits, &c->measured, err);
  if (rc == EM_OK && c->n_pools == 0 && c->measured.n_pools == 0)
    rc = em_fail(err, EM_E_INPUT,
                 "%s and %s: no pool is ranked by both%s (%zu by the first, %zu by the second); expected fits "
                 "to the same dataset",
                 fits[0], fits[1], c->unlike ? " among as many candidates" : "", n_a, n_b);
  return rc;
}

/* ---- the interval ------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double change_of(const em_compare_pool *p) { return p->log2_b - p->log2_a; }

/* Of the mean over as many pools, drawn with replacement: the middle 95 in 100 of the draws. */
void em_compare_interval(const double *change, size_t n, double *means, double *low, double *high)
{
  enum { CUT = EM_COMPARE_DRAWS / 40 };
  for (size_t d = 0; d < EM_COMPARE_DRAWS; d++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += change[em_rng_below(0, d, i, n)];
    means[d] = sum / (double)n;
  }
  qsort(means, EM_COMPARE_DRAWS, sizeof *means, ascending);
  *low = means[CUT];
  *high = means[EM_COMPARE_DRAWS - 1 - CUT];
}

em_verdict em_compare_verdict(double low, double high, size_t moved)
{
  if (moved < EM_COMPARE_LEAST) return EM_VERDICT_NONE;
  return high < 0 ? EM_VERDICT_BETTER : low > 0 ? EM_VERDICT_WORSE : EM_VERDICT_NONE;
}

/* ---- cells -------------------------------------------------------------------------- */

/* Scratch of one comparison. */
typedef struct work {
  double *means, *change;
  em_rank *ranks;
} work;

static int fill_cell(const em_compare_pool *pools, size_t n, const work *w, em_compare_cell *out, em_err *err)
{
  double a = 0, b = 0;
  for (size_t i = 0; i < n; i++) w->ranks[i] = pools[i].a;
  int rc = em_rank_summarise(w->ranks, n, &out->a, err);
  for (size_t i = 0; i < n; i++) w->ranks[i] = pools[i].b;
  if (rc == EM_OK) rc = em_rank_summarise(w->ranks, n, &out->b, err);
  for (size_t i = 0; i < n; i++) {
    a += pools[i].log2_a;
    b += pools[i].log2_b;
    w->change[i] = change_of(&pools[i]);
    out->better += w->change[i] < 0;
    out->worse += w->change[i] > 0;
  }
  out->a.mean_log2 = a / (double)n;
  out->b.mean_log2 = b / (double)n;
  out->change = (b - a) / (double)n;
  em_compare_interval(w->change, n, w->means, &out->low, &out->high);
  out->verdict = em_compare_verdict(out->low, out->high, out->better + out->worse);
  return rc;
}

static bool same_gpu(const em_compare_pool *a, const em_compare_pool *b) { return strcmp(a->gpu, b->gpu) == 0; }

static bool same_cell(const em_compare_pool *a, const em_compare_pool *b)
{
  return same_gpu(a, b) && strcmp(a->tier, b->tier) == 0 && a->bucket == b->bucket;
}

static bool any(const em_compare_pool *a, const em_compare_pool *b)
{
  (void)a;
  (void)b;
  return true;
}

/* One cell for each stretch of pools that are `same`. */
static int add_cells(em_compare *c, bool (*same)(const em_compare_pool *, const em_compare_pool *), const work *w,
                     em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0, end; i < c->n_pools && rc == EM_OK; i = end) {
    for (end = i + 1; end < c->n_pools && same(&c->pools[i], &c->pools[end]); end++)
      ;
    em_compare_cell *cell = &c->cells[c->n_cells++];
    *cell = (em_compare_cell){.gpu = same == any ? "" : c->pools[i].gpu,
                              .tier = same == same_cell ? c->pools[i].tier : "",
                              .bucket = same == same_cell ? c->pools[i].bucket : ""};
    rc = fill_cell(c->pools + i, end - i, w, cell, err);
  }
  return rc;
}

static int make_cells(em_compare *c, em_err *err)
{
  size_t n = c->n_pools ? c->n_pools : 1;
  work w = {em_calloc(EM_COMPARE_DRAWS, sizeof *w.means), em_calloc(n, sizeof *w.change),
            em_calloc(n, sizeof *w.ranks)};
  c->cells = em_calloc(2 * n + 1, sizeof *c->cells);
  int rc = w.means && w.change && w.ranks && c->cells ? add_cells(c, same_cell, &w, err) : em_fail_nomem(err);
  if (rc == EM_OK) rc = add_cells(c, same_gpu, &w, err);
  if (rc == EM_OK) rc = add_cells(c, any, &w, err);
  em_free(w.means);
  em_free(w.change);
  em_free(w.ranks);
  return rc;
}

/* ---- all ------------------------------------------------------------------------------ */

int em_compare_open(const char *fit_a, const char *fit_b, em_compare *out, em_err *err)
{
  const char *fits[] = {fit_a, fit_b};
  *out = (em_compare){0};
  int rc = em_metrics_open(fit_a, &out->fit[0], err);
  if (rc == EM_OK) rc = em_metrics_open(fit_b, &out->fit[1], err);
  if (rc == EM_OK) rc = list_pools(out, fits, err);
  if (rc == EM_OK) rc = make_cells(out, err);
  if (rc != EM_OK) em_compare_close(out);
  return rc;
}

void em_compare_close(em_compare *c)
{
  em_metrics_close(&c->fit[0]);
  em_metrics_close(&c->fit[1]);
  em_compare_measured_free(&c->measured);
  em_free(c->pools);
  em_free(c->cells);
  em_free(c->gpus);
  *c = (em_compare){0};
}

typedef struct moved {
  const em_compare_pool *pool;
  uint32_t index;
} moved;

static int by_change(const void *a, const void *b)
{
  const em_compare_pool *x = ((const moved *)a)->pool, *y = ((const moved *)b)->pool;
  double d = change_of(x) - change_of(y);
  return d < 0 ? -1 : d > 0 ? 1 : strcmp(x->key, y->key);
}

int em_compare_order(const em_compare *c, uint32_t **out, em_err *err)
{
  moved *all = em_calloc(c->n_pools ? c->n_pools : 1, sizeof *all);
  *out = em_calloc(c->n_pools ? c->n_pools : 1, sizeof **out);
  if (!all || !*out) {
    em_free(all);
    em_free(*out);
    return em_fail_nomem(err);
  }
  for (uint32_t i = 0; i < c->n_pools; i++) all[i] = (moved){&c->pools[i], i};
  if (c->n_pools) qsort(all, c->n_pools, sizeof *all, by_change);
  for (size_t i = 0; i < c->n_pools; i++) (*out)[i] = all[i].index;
  em_free(all);
  return EM_OK;
}
