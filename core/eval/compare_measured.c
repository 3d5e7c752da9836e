/*
 * compare_measured.c - two fits side by side on measured pools.
 *
 * What a wrong pick costs is a ratio of times, so changes are of its logarithm, pool by pool; cards and levels stay apart.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/eval/eval_int.h"

/* ---- pools ---------------------------------------------------------------------- */

/* A figure of at least `least`, or null where it is not defined. */
static int figure_of(const cJSON *entry, const char *name, double least, double most, const char *fit, double *out,
                     em_err *err)
{
  const cJSON *x = cJSON_GetObjectItemCaseSensitive(entry, name);
  *out = cJSON_IsNumber(x) ? x->valuedouble : (double)NAN;
  if (cJSON_IsNull(x) || (*out >= least && *out <= most)) return EM_OK;
  return em_fail(err, EM_E_INPUT, "%s: %s of measured pool %s: expected a number from %g to %g, or null", fit, name,
                 entry->string, least, most);
}

static int read_regret(const cJSON *entry, const char *fit, em_regret *out, double *log2_regret, em_err *err)
{
  int rc = em_entry_count(entry, "measured", fit, &out->measured, err);
  if (rc == EM_OK) rc = figure_of(entry, "spearman", -1, 1, fit, &out->spearman, err);
  for (size_t k = 0; k < EM_N_REGRETS && rc == EM_OK; k++) {
    char name[EM_REGRET_NAME_LEN];
    rc = figure_of(entry, em_regret_name(k, name), 1, 1e300, fit, &out->at[k], err);
  }
  double mean = em_metrics_number(entry, "mean_log2_regret1");
  *log2_regret = mean >= 0 && mean < 1000 ? mean : log2(out->at[0]);
  return rc;
}

/* *texts has room for the card, which is what stands before the first slash of the key. */
static int add_pool(em_compare_measured *c, const cJSON *a, const cJSON *b, const char *const *fits, char **texts,
                    em_err *err)
{
  em_compare_measured_pool *p = &c->pools[c->n_pools];
  size_t level, len = strcspn(a->string, "/");
  *p = (em_compare_measured_pool){.key = a->string, .gpu = *texts};
  int rc = read_regret(a, fits[0], &p->a, &p->log2_a, err);
  if (rc == EM_OK) rc = read_regret(b, fits[1], &p->b, &p->log2_b, err);
  if (rc == EM_OK) rc = em_entry_count(a, "h_opt", fits[0], &level, err);
  if (rc == EM_OK && level > 3)
    rc = em_fail(err, EM_E_INPUT, "%s: h_opt of measured pool %s: found %zu, expected 0 to 3", fits[0], a->string,
                 level);
  if (rc == EM_OK && p->a.measured != p->b.measured) {
    c->unlike++;
    return EM_OK;
  }
  if (rc != EM_OK) return rc;
  p->h_opt = (int)level;
  memcpy(*texts, a->string, len);
  (*texts)[len] = '\0';
  *texts += len + 1;
  c->n_pools++;
  return EM_OK;
}

static int by_cell(const em_compare_measured_pool *x, const em_compare_measured_pool *y)
{
  int order = strcmp(x->gpu, y->gpu);
  return order ? order : x->h_opt - y->h_opt;
}

static int by_place(const void *a, const void *b)
{
  const em_compare_measured_pool *x = a, *y = b;
  int order = by_cell(x, y);
  return order ? order : strcmp(x->key, y->key);
}

static int pair_up(em_compare_measured *c, const cJSON *const *a, size_t n_a, const cJSON *const *b, size_t n_b,
                   const char *const *fits, em_err *err)
{
  size_t texts = 1;
  int rc = EM_OK;
  for (size_t i = 0; i < n_a; i++) texts += strlen(a[i]->string) + 1;
  c->pools = em_calloc(n_a + 1, sizeof *c->pools);
  c->gpus = em_alloc(texts);
  if (!c->pools || !c->gpus) return em_fail_nomem(err);
  char *text = c->gpus;
  for (size_t i = 0, k = 0; i < n_a && rc == EM_OK; i++) {
    while (k < n_b && strcmp(b[k]->string, a[i]->string) < 0) k++;
    if (k < n_b && strcmp(b[k]->string, a[i]->string) == 0) rc = add_pool(c, a[i], b[k], fits, &text, err);
  }
  if (rc == EM_OK && c->n_pools) qsort(c->pools, c->n_pools, sizeof *c->pools, by_place);
  return rc;
}

static int list_pools(em_compare_measured *c, const em_metrics *m, const char *const *fits, em_err *err)
{
  size_t n_a = 0, n_b = 0;
  c->held_out = m[0].measured_holdout && m[1].measured_holdout;
  const cJSON **a = em_members_by_key(c->held_out ? m[0].measured_holdout : m[0].measured, &n_a);
  const cJSON **b = em_members_by_key(c->held_out ? m[1].measured_holdout : m[1].measured, &n_b);
  int rc = a && b ? pair_up(c, a, n_a, b, n_b, fits, err) : em_fail_nomem(err);
  em_free(a);
  em_free(b);
  return rc;
}

/* ---- cells -------------------------------------------------------------------------- */

/* Scratch of one comparison. */
typedef struct work {
  double *means, *change;
  em_regret *regrets;
  const char **keys;
} work;

static void set_change(const em_compare_measured_pool *pools, size_t n, const work *w, em_compare_measured_cell *out)
{
  double sum = 0;
  out->change = out->low = out->high = NAN;
  for (size_t i = 0; i < n; i++) {
    double change = pools[i].log2_b - pools[i].log2_a;
    if (isnan(change)) continue;
    w->change[out->pools++] = change;
    sum += change;
    out->better += change < 0;
    out->worse += change > 0;
  }
  if (out->pools == 0) return;
  out->change = sum / (double)out->pools;
  em_compare_interval(w->change, out->pools, w->means, &out->low, &out->high);
  out->verdict = em_compare_verdict(out->low, out->high, out->better + out->worse);
}

static int fill_cell(const em_compare_measured_pool *pools, size_t n, const work *w, em_compare_measured_cell *out,
                     em_err *err)
{
  *out = (em_compare_measured_cell){.gpu = pools->gpu, .h_opt = pools->h_opt};
  for (size_t i = 0; i < n; i++) {
    w->keys[i] = pools[i].key;
    w->regrets[i] = pools[i].a;
  }
  int rc = em_regret_summarise(w->regrets, w->keys, n, &out->a, err);
  for (size_t i = 0; i < n; i++) w->regrets[i] = pools[i].b;
  if (rc == EM_OK) rc = em_regret_summarise(w->regrets, w->keys, n, &out->b, err);
  set_change(pools, n, w, out);
  return rc;
}

static int fill_cells(em_compare_measured *c, const work *w, em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0, end; i < c->n_pools && rc == EM_OK; i = end) {
    for (end = i + 1; end < c->n_pools && by_cell(&c->pools[i], &c->pools[end]) == 0; end++)
      ;
    rc = fill_cell(c->pools + i, end - i, w, &c->cells[c->n_cells++], err);
  }
  return rc;
}

static int make_cells(em_compare_measured *c, em_err *err)
{
  size_t n = c->n_pools ? c->n_pools : 1;
  work w = {em_calloc(EM_COMPARE_DRAWS, sizeof *w.means), em_calloc(n, sizeof *w.change),
            em_calloc(n, sizeof *w.regrets), em_calloc(n, sizeof *w.keys)};
  c->cells = em_calloc(n, sizeof *c->cells);
  int rc = w.means && w.change && w.regrets && w.keys && c->cells ? fill_cells(c, &w, err) : em_fail_nomem(err);
  em_free(w.means);
  em_free(w.change);
  em_free(w.regrets);
  em_free(w.keys);
  return rc;
}

int em_compare_measured_make(const em_metrics *fits, const char *const *names, em_compare_measured *out, em_err *err)
{
  int rc = list_pools(out, fits, names, err);
  return rc == EM_OK ? make_cells(out, err) : rc;
}

void em_compare_measured_free(em_compare_measured *c)
{
  em_free(c->pools);
  em_free(c->cells);
  em_free(c->gpus);
}
