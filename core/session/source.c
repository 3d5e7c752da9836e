/* source.c - from datasets, stores and golden files to the list of pools. */
#include <math.h>
#include <string.h>

#include "core/session/session_int.h"

static const char *keep(em_session *s, const char *text) { return text ? em_arena_strdup(s->arena, text) : NULL; }

/* Room for one more entry, zeroed; not counted until commit_entry. */
static entry *new_entry(em_session *s, em_err *err)
{
  if (em_grow(&s->entries, &s->cap, s->n + 1, sizeof *s->entries, err) != EM_OK) return NULL;
  entry *e = &s->entries[s->n];
  memset(e, 0, sizeof *e);
  e->info.us = e->info.reference_us = NAN;
  e->info.note = e->info.outside = "";
  return e;
}

static bool is_selected(const em_session *s, const em_pool_info *i)
{
  if (s->opt.kernel && !strcasestr(i->name, s->opt.kernel) && !strcasestr(i->label, s->opt.kernel)) return false;
  const em_card *card = s->opt.card ? em_card_lookup(s->opt.card) : NULL;
  return !s->opt.card || i->card == card;
}

/* ---- evidence: pools that are enumerated when they are ranked ---- */

/* Labels of golden rows are for people; the first one names the pool. */
static const char *label_of(const em_evidence *ev)
{
  for (size_t i = 0; i < ev->n_rows; i++)
    if (ev->rows[i].golden && ev->rows[i].label) return ev->rows[i].label;
  return NULL;
}

static void count_goldens(const em_evidence *ev, em_pool_info *i)
{
  for (size_t r = 0; r < ev->n_rows; r++) {
    const em_evidence_row *row = &ev->rows[r];
    if (!row->golden || !row->ok) continue;
    i->n_goldens++;
    if (!isnan(row->us) && !(i->us <= row->us)) {
      i->us = row->us;
      i->reference_us = row->reference_us;
    }
  }
}

static void put_bindings(const em_evidence *ev, em_str *out)
{
  for (size_t i = 0; i < ev->n_bindings; i++)
    em_str_printf(out, "%s%s=%lld", i ? " " : "", ev->bindings[i].sym, (long long)ev->bindings[i].size);
}

static bool is_taken(const em_session *s, const char *key)
{
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->entries[i].info.key, key) == 0) return true;
  return false;
}

/* Pools of one kernel that differ in the regime alone are told apart by it; one that another source
 * holds too, by a number: each key opens one pool. */
static void put_key(const em_session *s, const char *gpu, const char *name, const char *regime, em_str *out)
{
  em_str_printf(out, "%s/%s%s%s", gpu, name, *regime ? " " : "", regime);
  size_t len = out->len;
  for (int n = 2; !out->failed && is_taken(s, out->s); n++) {
    out->len = len;
    em_str_printf(out, "#%d", n);
  }
}

/* The pool's name: kernel, twelve digits of its identity, sizes. */
static int name_pool(em_session *s, const em_evidence *ev, em_pool_info *i, em_err *err)
{
  char hex[33], regime[64], *shape = NULL;
  em_str bindings = {0}, name = {0}, key = {0};
  em_digest_hex(ev->identity, hex);
  put_bindings(ev, &bindings);
  em_str_printf(&name, "%s.%.12s%s%s", ev->kernel_name, hex, bindings.len ? " " : "", bindings.len ? bindings.s : "");
  put_key(s, ev->gpu_name, name.s ? name.s : "", em_regime_text(ev->regime, regime), &key);
  int rc = em_kernel_shape(ev->kernel, (em_bindings){ev->bindings, ev->n_bindings}, &shape, err);
  if (rc == EM_OK) {
    i->bindings = keep(s, bindings.len ? bindings.s : "");
    i->name = keep(s, name.s);
    i->key = keep(s, key.s);
    i->shape = keep(s, shape);
    i->regime = keep(s, em_regime_text(ev->regime, regime));
    const char *label = label_of(ev);
    i->label = label ? keep(s, label) : i->name;
    i->kernel = keep(s, ev->kernel_name);
    i->gpu = keep(s, ev->gpu_name);
    bool whole = i->bindings && i->name && i->key && i->shape && i->regime && i->label && i->kernel && i->gpu;
    if (bindings.failed || name.failed || key.failed || !whole) rc = em_fail_nomem(err);
  }
  em_free(shape);
  em_str_free(&bindings);
  em_str_free(&name);
  em_str_free(&key);
  return rc;
}

static const char *tier_of(const em_evidence *ev)
{
  if (em_kernel_n_symbols(ev->kernel) > 0) return "dyn";
  switch (em_kernel_kind(ev->kernel)) {
  case EM_KIND_POINTWISE: return "pointwise";
  case EM_KIND_REDUCE: return "reduce";
  default: break;
  }
  for (size_t r = 0; r < ev->n_rows; r++) {
    const char *work = em_knobs_get(&ev->rows[r].knobs, "WORK");
    if (work && work[0] == 'w') return "warp";
  }
  return "thread";
}

static int add_evidence(void *ctx, em_evidence *ev, em_err *err)
{
  em_session *s = ctx;
  entry *e = new_entry(s, err);
  if (!e) {
    em_evidence_free(ev);
    return err->code;
  }
  em_pool_info *i = &e->info;
  int rc = name_pool(s, ev, i, err);
  if (rc == EM_OK) {
    i->card = em_card_lookup(ev->gpu_name);
    i->identity = ev->identity;
    i->kind = em_kernel_kind(ev->kernel);
    i->tier = tier_of(ev);
    count_goldens(ev, i);
    if (i->n_goldens > 0 && is_selected(s, i)) {
      e->evidence = ev;
      s->n++;
      return EM_OK;
    }
  }
  em_evidence_free(ev);
  return rc;
}

/* ---- datasets ---- */

static int add_group(em_session *s, const em_dataset *d, size_t group, em_err *err)
{
  const em_group *g = em_dataset_group(d, group);
  if (g->measured || g->n_pools == 0) return EM_OK;
  entry *e = new_entry(s, err);
  if (!e) return err->code;
  em_pool_info *i = &e->info;
  const em_group_pool *p = &g->pools[0];
  const em_kernel *kernel;
  int rc = em_dataset_kernel(d, p->kernel, &kernel, err);
  if (rc != EM_OK) return rc;
  em_str key = {0};
  put_key(s, g->gpu, g->name, p->regime, &key);
  const char *kept = key.failed ? NULL : keep(s, key.s);
  em_str_free(&key);
  if (!kept) return em_fail_nomem(err);
  *i = (em_pool_info){.key = kept,
                      .name = g->name,
                      .label = g->label && *g->label ? g->label : g->name,
                      .gpu = g->gpu,
                      .card = em_card_lookup(g->gpu),
                      .kernel = em_kernel_name(kernel),
                      .identity = em_kernel_identity(kernel),
                      .kind = em_kernel_kind(kernel),
                      .tier = g->tier,
                      .shape = g->shape,
                      .regime = p->regime,
                      .bindings = p->bindings,
                      .n_goldens = g->n_golden,
                      .us = NAN,
                      .reference_us = NAN,
                      .note = "",
                      .outside = ""};
  for (size_t r = 0; r < p->n_rows; r++)
    if (!(i->us <= p->rows[r].us)) i->us = p->rows[r].us;
  if (!is_selected(s, i)) return EM_OK;
  e->dataset = d;
  e->group = group;
  s->n++;
  return EM_OK;
}

static int copy_skips(em_session *s, const em_skips *from, em_err *err)
{
  for (size_t i = 0; i < from->n; i++) {
    const em_skip *k = &from->items[i];
    int rc = em_skips_add(&s->skips, k->gpu, k->name, err, "%s", k->reason);
    if (rc != EM_OK) return rc;
  }
  return EM_OK;
}

static int add_dataset(em_session *s, const char *path, em_err *err)
{
  em_dataset *d;
  int rc = em_grow(&s->datasets, &s->cap_datasets, s->n_datasets + 1, sizeof *s->datasets, err);
  if (rc == EM_OK) rc = em_dataset_open(path, s->opt.feat_ver, &d, err);
  if (rc != EM_OK) return rc;
  s->datasets[s->n_datasets++] = d;
  for (size_t g = 0; g < em_dataset_n_groups(d) && rc == EM_OK; g++) rc = add_group(s, d, g, err);
  return rc == EM_OK ? copy_skips(s, em_dataset_skipped(d), err) : rc;
}

/* ---- routing ---- */

static int add_piece(void *ctx, const em_routing_piece *p, em_err *err)
{
  em_session *s = ctx;
  if (s->opt.kernel && !strcasestr(p->parent, s->opt.kernel) && !strcasestr(p->child, s->opt.kernel)) return EM_OK;
  if (em_grow(&s->routing, &s->cap_routing, s->n_routing + 1, sizeof *s->routing, err) != EM_OK) return err->code;
  em_routing_piece *kept = &s->routing[s->n_routing];
  *kept = *p;
  kept->parent = keep(s, p->parent);
  kept->child = keep(s, p->child);
  kept->arm = keep(s, p->arm);
  kept->source = keep(s, p->source);
  if (!kept->parent || !kept->child || !kept->arm || !kept->source) return em_fail_nomem(err);
  s->n_routing++;
  return EM_OK;
}

/* ---- golden files and stores ---- */

/* Closes the store. */
static int take_store(em_session *s, em_store *store, em_err *err)
{
  int rc = em_store_each_evidence(store, add_evidence, s, err);
  if (rc == EM_OK) rc = em_store_each_routing(store, add_piece, s, err);
  em_store_close(store);
  return rc;
}

static int add_store(em_session *s, const char *path, em_err *err)
{
  em_store *store;
  int rc = em_store_open(path, EM_STORE_READ, &store, err);
  return rc == EM_OK ? take_store(s, store, err) : rc;
}

int em_session_add_goldens(em_session *s, const char *const *paths, size_t n, em_err *err)
{
  em_golden **goldens = em_calloc(n ? n : 1, sizeof *goldens);
  em_store *store;
  if (!goldens) return em_fail_nomem(err);
  int rc = EM_OK;
  for (size_t i = 0; i < n && rc == EM_OK; i++) rc = em_golden_read(paths[i], &goldens[i], err);
  if (rc == EM_OK) rc = em_store_of_goldens((const em_golden *const *)goldens, n, &store, err);
  if (rc == EM_OK) rc = take_store(s, store, err);
  for (size_t i = 0; i < n; i++) em_golden_free(goldens[i]);
  em_free(goldens);
  return rc;
}

int em_session_add_source(em_session *s, const char *path, em_err *err)
{
  return em_path_is_dir(path) ? add_dataset(s, path, err) : add_store(s, path, err);
}
