/* dataset_measured.c - measured groups: every row was benched.
 *
 * A group is one card, one set of structure stamps, one regime and one set of sizes, so that its latencies are of the
 * same work; its rows are ordered by (kernel, knobs), which is the order in which evidence arrives. */
#include "core/dataset/dataset_int.h"

#include <stdlib.h>
#include <string.h>

static bool is_ok(const em_evidence_row *r) { return r->ok; }

bool em_evidence_is_measured(const em_evidence *e)
{
  for (size_t i = 0; i < e->n_rows; i++)
    if (!e->rows[i].golden) return true;
  return false;
}

static void clear_group(em_measured_group *g)
{
  em_group_entry_clear(&g->entry);
  em_free(g->matrix);
  em_str_free(&g->lines);
}

void em_measured_free(em_measured *all)
{
  for (size_t i = 0; i < all->n; i++) clear_group(&all->items[i]);
  em_free(all->items);
  *all = (em_measured){0};
}

/* ---- the group of a pool ------------------------------------------------------------- */

static int digest_stamps(const em_kernel *k, em_digest *out, em_err *err)
{
  size_t n;
  const em_stamp *stamps = em_kernel_stamps(k, &n);
  em_hasher *h = em_hasher_new();
  if (!h) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    em_hasher_add_str(h, stamps[i].name);
    em_hasher_add(h, &stamps[i].value, sizeof stamps[i].value);
  }
  *out = em_hasher_end(h);
  return EM_OK;
}

static int digest_key(const em_evidence *e, em_digest stamps, const em_columns *cols, em_digest *out, em_err *err)
{
  char regime[64];
  em_hasher *h = em_hasher_new();
  if (!h) return em_fail_nomem(err);
  em_hasher_add_str(h, e->gpu_name);
  em_hasher_add(h, &stamps, sizeof stamps);
  em_hasher_add_str(h, em_regime_text(e->regime, regime));
  for (size_t i = 0; i < e->n_bindings; i++) {
    em_hasher_add_str(h, e->bindings[i].sym);
    em_hasher_add(h, &e->bindings[i].size, sizeof e->bindings[i].size);
  }
  for (size_t i = 0; i < cols->n; i++) em_hasher_add_str(h, cols->names[i]);
  *out = em_hasher_end(h);
  return EM_OK;
}

static void put_bindings(const em_evidence *e, em_str *out)
{
  for (size_t i = 0; i < e->n_bindings; i++)
    em_str_printf(out, " %s=%lld", e->bindings[i].sym, (long long)e->bindings[i].size);
}

/* The shape is that of golden pools, so that cross-validation holds both out together. */
static int name_group(em_group_entry *g, const em_evidence *e, em_digest stamps, em_err *err)
{
  em_str key = {0}, name = {0};
  char hex[33], regime[64];
  em_regime at_key = e->regime;
  at_key.opt = 3; /* the key spells the level itself */
  em_digest_hex(stamps, hex);
  em_regime_text(at_key, regime);
  em_str_printf(&name, "%.12s", hex);
  put_bindings(e, &name);
  em_str_printf(&key, "%s/%.12s@O%d%s%s", e->gpu_name, hex, e->regime.opt, *regime ? " " : "", regime);
  put_bindings(e, &key);
  int rc = em_str_take(&key, &g->key, err);
  if (!rc) rc = em_str_take(&name, &g->name, err);
  em_str_free(&name);
  if (!rc && (!(g->label = em_strdup(e->kernel_name)) || !(g->gpu = em_strdup(e->gpu_name)))) rc = em_fail_nomem(err);
  return rc ? rc : em_kernel_shape(e->kernel, (em_bindings){.items = e->bindings, .n = e->n_bindings}, &g->shape, err);
}

/* Finds or makes the group; takes over the columns. */
static int find_group(em_measured *all, const em_evidence *e, em_columns *cols, em_measured_group **out, em_err *err)
{
  em_digest stamps = {0}, key = {0};
  int rc = digest_stamps(e->kernel, &stamps, err);
  if (!rc) rc = digest_key(e, stamps, cols, &key, err);
  for (size_t i = 0; i < all->n && !rc; i++) {
    if (em_digest_eq(all->items[i].entry.digest, key)) {
      em_columns_free(cols);
      *out = &all->items[i];
      return EM_OK;
    }
  }
  if (!rc) rc = em_grow(&all->items, &all->cap, all->n + 1, sizeof *all->items, err);
  if (rc) {
    em_columns_free(cols);
    return rc;
  }
  em_measured_group *g = &all->items[all->n++];
  *g = (em_measured_group){
    .entry = {
      .digest = key, .tier = "", .dynamic = em_kernel_n_symbols(e->kernel) > 0, .cols = *cols, .h_opt = e->regime.opt}};
  *out = g;
  return name_group(&g->entry, e, stamps, err);
}

/* ---- rows --------------------------------------------------------------------------------- */

static void put_line(em_str *out, const em_knobs *k)
{
  em_row row;
  bool single = false;
  em_err ignored;
  char line[EM_ROW_LEN];
  if (!em_row_from_knobs(k, &row, &single, &ignored) && single) em_str_put(out, em_row_print(&row, line));
  for (size_t i = 0; !single && i < k->n; i++)
    em_str_printf(out, "%s%s=%s", i ? " " : "", k->items[i].key, k->items[i].value);
  em_str_putc(out, '\n');
}

static int grow_rows(em_measured_group *g, em_err *err)
{
  if (g->n_rows < g->cap) return EM_OK;
  size_t cap = g->cap ? 2 * g->cap : 64;
  double *matrix = em_realloc(g->matrix, cap, g->entry.cols.n * sizeof *matrix);
  if (!matrix) return em_fail_nomem(err);
  g->matrix = matrix;
  double *us = em_realloc(g->entry.us, cap, sizeof *us);
  if (!us) return em_fail_nomem(err);
  g->entry.us = us;
  g->cap = cap;
  return EM_OK;
}

static int add_row(em_measured_group *g, em_manifest *m, const em_featurizer *f, const em_evidence_row *r, em_err *err)
{
  if (!r->ok) return em_tally_add(&m->dropped_measured, "not a measurement", 1, err);
  int rc = grow_rows(g, err);
  if (rc) return rc;
  rc = em_featurize_knobs(f, &r->knobs, g->matrix + g->n_rows * g->entry.cols.n, err);
  if (rc == EM_E_INPUT) return em_tally_add(&m->dropped_measured, "no schedule of the kernel", 1, err);
  if (rc) return rc;
  put_line(&g->lines, &r->knobs);
  g->entry.us[g->n_rows++] = r->us;
  g->entry.n_us = g->n_rows;
  return EM_OK;
}

static int by_knobs(const void *a, const void *b)
{
  return em_knobs_compare(&(*(const em_evidence_row *const *)a)->knobs, &(*(const em_evidence_row *const *)b)->knobs);
}

static int add_rows(em_measured_group *g, em_manifest *m, const em_featurizer *f, const em_evidence *e, em_err *err)
{
  const em_evidence_row **sorted = em_calloc(e->n_rows, sizeof *sorted);
  if (!sorted) return em_fail_nomem(err);
  for (size_t i = 0; i < e->n_rows; i++) sorted[i] = &e->rows[i];
  qsort(sorted, e->n_rows, sizeof *sorted, by_knobs);
  int rc = EM_OK;
  for (size_t i = 0; i < e->n_rows && !rc; i++) rc = add_row(g, m, f, sorted[i], err);
  em_free(sorted);
  return rc ? rc : em_manifest_pool(m, &g->entry, e, is_ok, err);
}

static int add_with_space(em_measured *all, em_manifest *m, const em_evidence *e, const em_card *card,
                          const em_space *space, const char *features, em_err *err)
{
  em_columns cols;
  em_measured_group *g = NULL;
  em_featurizer *f;
  if (em_space_out_of_scope(space)) return em_tally_add(&m->dropped_measured, "out of scope", e->n_rows, err);
  int rc = em_columns_of(e->kernel, features, &cols, err);
  if (!rc) rc = find_group(all, e, &cols, &g, err);
  if (!rc) rc = em_featurizer_open(e->kernel, card, e->regime, space, &g->entry.cols, &f, err);
  if (rc) return rc;
  rc = add_rows(g, m, f, e, err);
  em_featurizer_free(f);
  return rc;
}

int em_measured_add(em_measured *all, em_manifest *m, const em_evidence *e, const char *features, em_err *err)
{
  const em_card *card = em_card_lookup(e->gpu_name);
  em_space *space;
  if (!card) return em_tally_add(&m->dropped_measured, "unknown card", e->n_rows, err);
  int rc = em_space_open(e->kernel, card, e->regime, &space, err);
  if (rc) return rc;
  rc = add_with_space(all, m, e, card, space, features, err);
  em_space_free(space);
  return rc;
}

int em_measured_flush(em_measured *all, em_manifest *m, const char *dir, size_t *rows, em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0; i < all->n && !rc; i++) {
    em_measured_group *g = &all->items[i];
    if (!g->n_rows) continue;
    rc = em_str_finish(&g->lines, err);
    if (!rc) rc = em_grow(&m->measured, &m->cap_measured, m->n_measured + 1, sizeof *m->measured, err);
    g->entry.number = m->n_measured;
    g->entry.total = g->n_rows;
    if (!rc)
      rc = em_group_write(dir, "measured", g->entry.number, g->matrix, g->n_rows, g->entry.cols.n, &g->lines, err);
    if (rc) break;
    *rows += g->n_rows;
    m->measured[m->n_measured++] = g->entry;
    g->entry = (em_group_entry){0};
  }
  em_measured_free(all);
  return rc;
}
