/*
 * view_definitions.c - the kernels as golden files, stores and datasets define them, with or without a pool.
 */
#include <string.h>

#include "views/views_int.h"

enum { KERNEL, KIND, SHAPE, IDENTITY, NOTES, SOURCE };

static const em_view_column columns[] = {
  {"kernel", "kernel", EM_TEXT, "", 26, 0, "name, as the source refers to it"},
  {"kind", "kind", EM_TEXT, "", 11, 0, "pointwise, reduce, contraction or other"},
  {"shape", "shape", EM_TEXT, "", 34, 0, "extents and dtypes"},
  {"identity", "identity", EM_TEXT, "", 32, 0, "digest of the normalised definition"},
  {"notes", "notes", EM_TEXT, "", 30, 0, "why it is outside the space; empty when it is not"},
  {"source", "source", EM_TEXT, "", 0, 0, "where it was read"},
};

static const em_param params[] = {{"source", EM_TEXT, true, "a golden file, a store or a dataset directory"}};

typedef struct item {
  char *name, *shape;
  const char *source;
  em_kernel *owned;        /* NULL in a dataset */
  const em_kernel *kernel; /* whoever owns it */
} item;

typedef struct cursor {
  em_cursor base;
  item *items;
  size_t n, cap;
  em_dataset **datasets; /* of kernels that are not owned */
  size_t n_datasets, cap_datasets;
  char **sources;
  size_t n_sources, cap_sources;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  for (size_t i = 0; i < c->n; i++) {
    em_free(c->items[i].name);
    em_free(c->items[i].shape);
    em_kernel_free(c->items[i].owned);
  }
  em_free(c->items);
  for (size_t i = 0; i < c->n_datasets; i++) em_dataset_close(c->datasets[i]);
  em_free(c->datasets);
  for (size_t i = 0; i < c->n_sources; i++) em_free(c->sources[i]);
  em_free(c->sources);
}

/* ---- collecting ---- */

static const char *reading(const cursor *c) { return c->sources[c->n_sources - 1]; }

/* Once per source: cards and sizes repeat a kernel. */
static bool is_known(const cursor *c, const em_kernel *k)
{
  for (size_t i = c->n; i-- > 0 && c->items[i].source == reading(c);)
    if (em_digest_eq(em_kernel_identity(c->items[i].kernel), em_kernel_identity(k))) return true;
  return false;
}

/* `owned` may be NULL: then `k` is borrowed.  Takes `owned` over, also on failure. */
static int add(cursor *c, const char *name, const em_kernel *k, em_kernel *owned, em_bindings sizes, em_err *err)
{
  int rc = EM_OK;
  if (is_known(c, k) || (rc = em_grow(&c->items, &c->cap, c->n + 1, sizeof *c->items, err)) != EM_OK) {
    em_kernel_free(owned);
    return rc;
  }
  item *i = &c->items[c->n++];
  *i = (item){.name = em_strdup(name), .source = reading(c), .owned = owned, .kernel = k};
  return i->name ? em_kernel_shape(k, sizes, &i->shape, err) : em_fail_nomem(err);
}

static int add_golden(cursor *c, em_err *err)
{
  em_golden *g;
  int rc = em_golden_read(reading(c), &g, err);
  if (rc != EM_OK) return rc;
  for (size_t i = 0; i < g->n_kernels && rc == EM_OK; i++) {
    em_golden_kernel *k = &g->kernels[i];
    em_kernel *owned = k->kernel;
    k->kernel = NULL;
    rc = add(c, k->ref, owned, owned, (em_bindings){k->bindings, k->n_bindings}, err);
  }
  em_golden_free(g);
  return rc;
}

static int add_evidence(void *ctx, em_evidence *e, em_err *err)
{
  em_kernel *owned = e->kernel;
  e->kernel = NULL;
  int rc = add(ctx, e->kernel_name, owned, owned, (em_bindings){e->bindings, e->n_bindings}, err);
  em_evidence_free(e);
  return rc;
}

static int add_store(cursor *c, em_err *err)
{
  em_store *store;
  int rc = em_store_open(reading(c), EM_STORE_READ, &store, err);
  if (rc != EM_OK) return rc;
  rc = em_store_each_evidence(store, add_evidence, c, err);
  em_store_close(store);
  return rc;
}

static int add_dataset(cursor *c, em_err *err)
{
  em_dataset *d;
  int rc = em_grow(&c->datasets, &c->cap_datasets, c->n_datasets + 1, sizeof *c->datasets, err);
  if (rc == EM_OK) rc = em_dataset_open(reading(c), EM_FEAT_VER, &d, err);
  if (rc != EM_OK) return rc;
  c->datasets[c->n_datasets++] = d;
  for (size_t i = 0; i < em_dataset_n_kernels(d) && rc == EM_OK; i++) {
    const em_kernel *k;
    rc = em_dataset_kernel(d, i, &k, err);
    if (rc == EM_OK) rc = add(c, em_kernel_name(k), k, NULL, (em_bindings){0}, err);
  }
  return rc;
}

int em_definitions_add(em_cursor *base, const char *source, em_err *err)
{
  cursor *c = (cursor *)base;
  if (em_grow(&c->sources, &c->cap_sources, c->n_sources + 1, sizeof *c->sources, err) != EM_OK) return err->code;
  char *copy = em_strdup(source);
  if (!copy) return em_fail_nomem(err);
  c->sources[c->n_sources++] = copy;
  if (em_path_is_dir(copy)) return add_dataset(c, err);
  return em_store_is_sqlite(copy) ? add_store(c, err) : add_golden(c, err);
}

const em_kernel *em_definition(const em_cursor *base, size_t row) { return ((const cursor *)base)->items[row].kernel; }

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  return em_definitions_add(base, args[0], err);
}

/* ---- showing ---- */

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const item *i = &((cursor *)base)->items[row];
  const char *scope = em_kernel_nest(i->kernel)->out_of_scope;
  switch (column) {
  case KERNEL: em_cell_text(out, i->name); break;
  case KIND: em_cell_text(out, em_kind_name(em_kernel_kind(i->kernel))); break;
  case SHAPE: em_cell_text(out, i->shape); break;
  case IDENTITY: em_cell_digest(out, em_kernel_identity(i->kernel)); break;
  case NOTES: em_cell_printf(out, "%s%s", scope ? "out of scope: " : "", scope ? scope : ""); break;
  default: em_cell_text(out, i->source);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  return em_kernel_nest(em_definition(base, row))->out_of_scope ? EM_MARK_ATTENTION : EM_MARK_NONE;
}

static void crumb(em_cursor *base, em_str *out)
{
  em_str_put_safe(out, ((cursor *)base)->sources[0]);
  em_str_put(out, " / definitions");
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  return em_target_set(out, "pools", NULL, em_kernel_name(em_definition(base, row)), NULL);
}

const em_view em_view_definitions = {
  .name = "definitions",
  .title = "definitions",
  .doc =
    "The kernels that a golden file, a store or a dataset defines, whether they have a pool or not, and what keeps one out of the space.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .mark = mark,
  .crumb = crumb,
  .enter = enter,
};
