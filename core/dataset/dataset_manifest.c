/* dataset_manifest.c - manifest.json: what an export gathered, and its text. */
#include "core/dataset/dataset_int.h"

#include <stdlib.h>
#include <string.h>

void em_group_entry_clear(em_group_entry *g)
{
  em_free(g->key);
  em_free(g->name);
  em_free(g->label);
  em_free(g->gpu);
  em_free(g->shape);
  em_columns_free(&g->cols);
  em_free(g->ids);
  em_free(g->us);
  em_str_free(&g->pools);
}

static void clear_half(em_group_entry *items, size_t n)
{
  for (size_t i = 0; i < n; i++) em_group_entry_clear(&items[i]);
  em_free(items);
}

void em_manifest_free(em_manifest *m)
{
  clear_half(m->golden, m->n_golden);
  clear_half(m->measured, m->n_measured);
  for (size_t i = 0; i < m->n_kernels; i++) em_free(m->kernels[i].json);
  em_free(m->kernels);
  em_skips_free(&m->skips);
  em_tally_free(&m->dropped_golden);
  em_tally_free(&m->dropped_measured);
}

int em_manifest_kernel(em_manifest *m, const em_evidence *e, size_t *index, em_err *err)
{
  for (size_t i = 0; i < m->n_kernels; i++) {
    if (em_digest_eq(m->kernels[i].identity, e->identity)) {
      *index = i;
      return EM_OK;
    }
  }
  int rc = em_grow(&m->kernels, &m->cap_kernels, m->n_kernels + 1, sizeof *m->kernels, err);
  if (rc) return rc;
  em_str json = {0};
  em_str_put(&json, "{\"loop_ir\":");
  em_kernel_print(e->kernel, &json);
  em_str_put(&json, ",\"name\":");
  em_str_put_json(&json, e->kernel_name);
  em_str_printf(&json, ",\"formed\":%s}", e->formed ? "true" : "false");
  em_kernel_entry k = {.identity = e->identity};
  rc = em_str_take(&json, &k.json, err);
  if (rc) return rc;
  *index = m->n_kernels;
  m->kernels[m->n_kernels++] = k;
  return EM_OK;
}

static void put_number(em_str *out, double x)
{
  char buf[EM_DOUBLE_LEN];
  em_str_put(out, em_double_repr(x, buf));
}

static void put_evidence_row(em_str *out, const em_evidence_row *r)
{
  em_str_put(out, "{\"knobs\":");
  em_knobs_print_json(&r->knobs, out);
  em_str_put(out, ",\"us\":");
  put_number(out, r->us);
  em_str_put(out, ",\"source\":");
  em_str_put_json(out, r->source);
  if (r->label) {
    em_str_put(out, ",\"label\":");
    em_str_put_json(out, r->label);
  }
  em_str_putc(out, '}');
}

int em_manifest_pool(em_manifest *m, em_group_entry *g, const em_evidence *e, bool (*want)(const em_evidence_row *r),
                     em_err *err)
{
  size_t kernel;
  char regime[64];
  em_str *out = &g->pools;
  int rc = em_manifest_kernel(m, e, &kernel, err);
  if (rc) return rc;
  em_str_put(out, out->len ? ",{\"gpu\":" : "{\"gpu\":");
  em_str_put_json(out, e->gpu_name);
  em_str_printf(out, ",\"cap\":\"%d.%d\",\"regime\":\"%s\",\"kernel\":%zu,\"bindings\":{", e->cc_major, e->cc_minor,
                em_regime_text(e->regime, regime), kernel);
  for (size_t i = 0; i < e->n_bindings; i++) {
    em_str_put(out, i ? "," : "");
    em_str_put_json(out, e->bindings[i].sym);
    em_str_printf(out, ":%lld", (long long)e->bindings[i].size);
  }
  em_str_put(out, "},\"rows\":[");
  bool first = true;
  for (size_t i = 0; i < e->n_rows; i++) {
    if (!want(&e->rows[i])) continue;
    em_str_put(out, first ? "" : ",");
    put_evidence_row(out, &e->rows[i]);
    first = false;
  }
  em_str_put(out, "]}");
  return out->failed ? em_fail_nomem(err) : EM_OK;
}

/* ---- the text ------------------------------------------------------------------------ */

static void put_key(em_str *out, const char *key, const char *text)
{
  em_str_printf(out, "\"%s\":", key);
  em_str_put_json(out, text);
  em_str_putc(out, ',');
}

static void put_group(em_str *out, const em_group_entry *g, const char *half)
{
  em_str_putc(out, '{');
  put_key(out, "key", g->key);
  put_key(out, "name", g->name);
  if (g->label) put_key(out, "label", g->label);
  put_key(out, "tier", g->tier);
  put_key(out, "gpu", g->gpu);
  put_key(out, "shape", g->shape);
  em_str_printf(out, "\"dynamic\":%s,\"feat_names\":[", g->dynamic ? "true" : "false");
  for (size_t i = 0; i < g->cols.n; i++) {
    em_str_put(out, i ? "," : "");
    em_str_put_json(out, g->cols.names[i]);
  }
  em_str_printf(out, "],\"total\":%llu,\"matrix\":\"%s/%04zu.npy\"", (unsigned long long)g->total, half, g->number);
  if (g->us) em_str_printf(out, ",\"h_opt\":%d", g->h_opt);
  em_str_put(out, g->us ? ",\"latency_us\":[" : ",\"golden_ids\":[");
  for (size_t i = 0; i < (g->us ? g->n_us : g->n_ids); i++) {
    em_str_put(out, i ? "," : "");
    if (g->us)
      put_number(out, g->us[i]);
    else
      em_str_printf(out, "%u", g->ids[i]);
  }
  em_str_printf(out, "],\"pools\":[%s]}", g->pools.s ? g->pools.s : "");
}

static int by_reason(const void *a, const void *b)
{
  return strcmp(((const em_reason *)a)->reason, ((const em_reason *)b)->reason);
}

static void put_tally(em_str *out, const char *half, em_tally *t)
{
  if (t->n) qsort(t->items, t->n, sizeof *t->items, by_reason);
  em_str_printf(out, "\"%s\":{", half);
  for (size_t i = 0; i < t->n; i++) {
    em_str_put(out, i ? "," : "");
    em_str_put_json(out, t->items[i].reason);
    em_str_printf(out, ":%zu", t->items[i].count);
  }
  em_str_putc(out, '}');
}

/* Rows by name of their source; names arrive sorted, equal ones are added up. */
typedef struct source_list {
  em_str *out;
  char *name;
  size_t rows;
  bool failed;
} source_list;

static void put_source(source_list *l)
{
  if (!l->name) return;
  em_str_put(l->out, l->out->s && l->out->s[l->out->len - 1] != '{' ? "," : "");
  em_str_put_json(l->out, l->name);
  em_str_printf(l->out, ":%zu", l->rows);
  em_free(l->name);
  l->name = NULL;
}

static int add_source(void *ctx, const char *name, const char *digest, size_t rows)
{
  (void)digest;
  source_list *l = ctx;
  if (l->name && !strcmp(l->name, name)) {
    l->rows += rows;
    return 0;
  }
  put_source(l);
  l->name = em_strdup(name);
  l->rows = rows;
  l->failed = l->failed || !l->name;
  return 0;
}

static int put_provenance(em_str *out, em_store *s, const em_export_options *o, em_err *err)
{
  const char *path = em_store_path(s), *slash = strrchr(path, '/');
  em_str_put(out, "\"provenance\":{\"source\":");
  em_str_put_json(out, slash ? slash + 1 : path);
  em_str_put(out, ",\"space\":\"schedule\",\"sources\":{");
  source_list l = {.out = out};
  int rc = em_store_each_source(s, add_source, &l, err);
  put_source(&l);
  if (rc || l.failed) return rc ? rc : em_fail_nomem(err);
  em_str_printf(out, "},\"pool_sample\":%zu,\"seed\":%llu,\"feat_ver\":%d", o->pool_sample, (unsigned long long)o->seed,
                EM_FEAT_VER);
  if (o->features) {
    em_str_put(out, ",\"features\":");
    em_str_put_json(out, o->features);
  }
  em_str_put(out, "},\n");
  return EM_OK;
}

static void put_kernels(em_str *out, const em_manifest *m)
{
  em_str_put(out, " \"kernels\":[");
  for (size_t i = 0; i < m->n_kernels; i++) em_str_printf(out, "%s\n  %s", i ? "," : "", m->kernels[i].json);
  em_str_put(out, "\n ],\n \"identities\":[");
  for (size_t i = 0; i < m->n_kernels; i++) {
    char hex[33];
    em_digest_hex(m->kernels[i].identity, hex);
    em_str_printf(out, "%s\n  \"%s\"", i ? "," : "", hex);
  }
  em_str_put(out, "\n ],\n");
}

static void put_half(em_str *out, const char *half, const em_group_entry *groups, size_t n)
{
  em_str_printf(out, " \"%s\":[", half);
  for (size_t i = 0; i < n; i++) {
    em_str_put(out, i ? ",\n  " : "\n  ");
    put_group(out, &groups[i], half);
  }
  em_str_put(out, "\n ],\n");
}

static void put_skips(em_str *out, const em_skips *skips)
{
  em_str_put(out, " \"skipped\":[");
  for (size_t i = 0; i < skips->n; i++) {
    const char *const texts[] = {skips->items[i].gpu, skips->items[i].name, skips->items[i].reason};
    em_str_put(out, i ? ",\n  [" : "\n  [");
    for (int t = 0; t < 3; t++) {
      em_str_put(out, t ? "," : "");
      em_str_put_json(out, texts[t]);
    }
    em_str_putc(out, ']');
  }
  em_str_put(out, "\n ],\n");
}

static int write_text(const char *dir, const em_str *text, em_err *err)
{
  char *path;
  em_out *o;
  int rc = em_path_join(&path, err, dir, "manifest.json");
  if (rc) return rc;
  rc = em_out_open(path, &o, err);
  em_free(path);
  if (rc) return rc;
  em_out_write(o, text->s, text->len);
  rc = em_out_commit(o, err);
  if (rc) em_out_abort(o);
  return rc;
}

int em_manifest_write(em_manifest *m, em_store *s, const em_export_options *o, const char *dir, em_err *err)
{
  em_str out = {0};
  em_str_printf(&out, "{\"format\":\"%s\",\n \"version\":%d,\n ", EM_DATASET_FORMAT, EM_DATASET_VERSION);
  int rc = put_provenance(&out, s, o, err);
  if (!rc) {
    put_kernels(&out, m);
    put_half(&out, "golden", m->golden, m->n_golden);
    put_half(&out, "measured", m->measured, m->n_measured);
    put_skips(&out, &m->skips);
    em_str_put(&out, " \"dropped\":{");
    put_tally(&out, "golden", &m->dropped_golden);
    em_str_putc(&out, ',');
    put_tally(&out, "measured", &m->dropped_measured);
    em_str_put(&out, "}}\n");
    rc = em_str_finish(&out, err);
  }
  if (!rc) rc = write_text(dir, &out, err);
  em_str_free(&out);
  return rc;
}
