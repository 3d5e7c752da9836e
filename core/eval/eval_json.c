/*
 * eval_json.c - the report as JSON (reference formats.md section 8.2; ranks from 0).
 */
#include <string.h>

#include "core/eval/eval_int.h"

/* cJSON's adders take NULL for an object and return NULL when out of memory, so that
 * results are put together with && and looked at once. */

static bool add_number(cJSON *o, const char *key, double x) { return cJSON_AddNumberToObject(o, key, x) != NULL; }

static bool add_string(cJSON *o, const char *key, const char *s) { return cJSON_AddStringToObject(o, key, s) != NULL; }

/* Both take `item` over. */
static bool add_item(cJSON *o, const char *key, cJSON *item)
{
  if (item && cJSON_AddItemToObject(o, key, item)) return true;
  cJSON_Delete(item);
  return false;
}

static bool push(cJSON *list, cJSON *item)
{
  if (item && cJSON_AddItemToArray(list, item)) return true;
  cJSON_Delete(item);
  return false;
}

static bool add_metrics(cJSON *o, const em_rank_summary *s)
{
  return add_number(o, "groups", (double)s->pools) && add_item(o, "metrics", em_rank_summary_json(s));
}

/* ---- golden pools ---- */

static bool add_cell(cJSON *list, const em_eval_cell *c)
{
  cJSON *o = cJSON_CreateObject(), *axes = cJSON_AddObjectToObject(o, "axes");
  bool ok = axes && add_string(axes, "half", "golden") && (!*c->gpu || add_string(axes, "gpu", c->gpu)) &&
            (!*c->tier || add_string(axes, "tier", c->tier)) &&
            (!*c->bucket || add_string(axes, "pool_bucket", c->bucket)) && add_metrics(o, &c->ranks);
  if (ok) return push(list, o);
  cJSON_Delete(o);
  return false;
}

static bool add_header(cJSON *root, const em_dataset *d, const em_prior *prior)
{
  cJSON *h = cJSON_AddObjectToObject(root, "header");
  const cJSON *provenance = em_dataset_provenance(d);
  return add_item(h, "dataset", provenance ? cJSON_Duplicate(provenance, true) : cJSON_CreateNull()) &&
         add_string(h, "prior", em_prior_digest(prior)) && add_number(h, "feat_ver", em_prior_feat_ver(prior));
}

static bool add_dropped(cJSON *o, const em_dataset *d, bool measured)
{
  size_t n;
  const em_reason *reasons = em_dataset_dropped(d, measured, &n);
  bool ok = o;
  for (size_t i = 0; i < n && ok; i++) ok = add_number(o, reasons[i].reason, (double)reasons[i].count);
  return ok;
}

static bool add_skipped(cJSON *root, const em_dataset *d)
{
  const em_skips *skips = em_dataset_skipped(d);
  cJSON *list = cJSON_AddArrayToObject(root, "skipped");
  bool ok = list;
  for (size_t i = 0; i < skips->n && ok; i++) {
    const em_skip *s = &skips->items[i];
    cJSON *triple = cJSON_CreateStringArray((const char *const[]){s->gpu, s->name, s->reason}, 3);
    ok = push(list, triple);
  }
  return ok;
}

static bool add_pool(cJSON *map, const char *key, const em_eval_pool *p, const em_group *g)
{
  cJSON *o = cJSON_AddObjectToObject(map, key);
  return add_number(o, "rank", (double)p->rank.against) &&
         add_number(o, "rank_optimistic", (double)p->rank.optimistic) &&
         add_number(o, "plateau", (double)p->rank.plateau) && add_number(o, "best", (double)p->rank.best) &&
         add_number(o, "pick", (double)p->pick) && add_number(o, "pool", (double)g->total) &&
         add_number(o, "sampled", (double)p->rows) && add_number(o, "positives", (double)p->positives);
}

static int fill_map(cJSON *map, const em_eval *e, const em_dataset *d, const char **keys, char **names, em_err *err)
{
  if (!map || !keys || !names) return em_fail_nomem(err);
  for (size_t i = 0; i < e->n_pools; i++) keys[i] = em_dataset_group(d, e->pools[i].group)->key;
  int rc = em_unique_keys(keys, e->n_pools, names, err);
  for (size_t i = 0; i < e->n_pools && rc == EM_OK; i++)
    if (!add_pool(map, names[i], &e->pools[i], em_dataset_group(d, e->pools[i].group))) rc = em_fail_nomem(err);
  return rc;
}

static int add_pools(cJSON *root, const em_eval *e, const em_dataset *d, em_err *err)
{
  cJSON *map = cJSON_AddObjectToObject(root, "per_golden");
  const char **keys = em_calloc(e->n_pools ? e->n_pools : 1, sizeof *keys);
  char **names = em_calloc(e->n_pools ? e->n_pools : 1, sizeof *names);
  int rc = fill_map(map, e, d, keys, names, err);
  for (size_t i = 0; names && i < e->n_pools; i++) em_free(names[i]);
  em_free(names);
  em_free(keys);
  return rc;
}

static int add_golden(cJSON *root, cJSON *summaries, const em_eval *e, const em_dataset *d, em_err *err)
{
  cJSON *base = cJSON_AddObjectToObject(root, "baselines");
  bool ok = add_skipped(root, d) && add_dropped(cJSON_AddObjectToObject(root, "dropped"), d, false);
  for (size_t i = 0; i < e->n_cells && ok; i++) ok = add_cell(summaries, &e->cells[i]);
  ok = ok && add_metrics(cJSON_AddObjectToObject(base, "random"), &e->random.ranks) &&
       add_metrics(cJSON_AddObjectToObject(base, "first_option"), &e->first_option.ranks);
  return ok ? add_pools(root, e, d, err) : em_fail_nomem(err);
}

/* ---- measured pools ---- */

static bool add_measured_cell(cJSON *list, const em_eval_measured_cell *c)
{
  cJSON *o = cJSON_CreateObject(), *axes = cJSON_AddObjectToObject(o, "axes");
  bool ok = axes && add_string(axes, "half", "measured") && add_string(axes, "gpu", c->gpu) &&
            add_number(axes, "h_opt", c->h_opt) && add_number(o, "groups", (double)c->figures.pools) &&
            add_item(o, "metrics", em_regret_summary_json(&c->figures));
  if (ok) return push(list, o);
  cJSON_Delete(o);
  return false;
}

static bool add_measured_pool(cJSON *o, const em_eval_measured_pool *p, const em_group *g)
{
  return add_number(o, "rank", (double)p->rank.against) &&
         add_number(o, "rank_optimistic", (double)p->rank.optimistic) && add_number(o, "rows", (double)g->n_rows) &&
         add_number(o, "first", (double)p->first) && add_number(o, "fastest", (double)g->fastest) &&
         em_regret_add_json(o, &p->regret);
}

static bool add_measured(cJSON *root, cJSON *summaries, const em_eval_measured *e, const em_dataset *d)
{
  cJSON *map = cJSON_AddObjectToObject(root, "per_measured");
  bool ok = map && add_dropped(cJSON_AddObjectToObject(root, "dropped_measured"), d, true);
  for (size_t i = 0; i < e->n_cells && ok; i++) ok = add_measured_cell(summaries, &e->cells[i]);
  for (size_t i = 0; i < e->n_pools && ok; i++)
    ok = add_measured_pool(cJSON_AddObjectToObject(map, e->pools[i].key), &e->pools[i],
                           em_dataset_group(d, e->pools[i].group));
  return ok;
}

/* ---- all ---- */

int em_eval_json(const em_eval *e, const em_eval_measured *measured, const em_dataset *d, const em_prior *prior,
                 char **out, em_err *err)
{
  cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "summaries");
  int rc = list && add_header(root, d, prior) ? EM_OK : em_fail_nomem(err);
  if (rc == EM_OK && e) rc = add_golden(root, list, e, d, err);
  if (rc == EM_OK && measured && !add_measured(root, list, measured, d)) rc = em_fail_nomem(err);
  if (rc == EM_OK) rc = em_metrics_print(root, out, err);
  cJSON_Delete(root);
  return rc;
}
