/* cmd_kernel.c - emmy kernel list, show: the kernels of golden files, stores and datasets. */
#include <string.h>

#include "tui/cli.h"

/* ---- collecting ---- */

typedef struct item {
  char *name, *source, *shape;
  em_kernel *kernel;     /* owned; in a dataset borrowed */
  const em_kernel *view; /* the kernel, whoever owns it */
} item;

typedef struct items {
  item *all;
  size_t n, cap;
  em_dataset **datasets; /* of borrowed kernels */
  size_t n_datasets;
  const char *source; /* being read */
} items;

static void free_items(items *x)
{
  for (size_t i = 0; i < x->n; i++) {
    em_free(x->all[i].name);
    em_free(x->all[i].source);
    em_free(x->all[i].shape);
    em_kernel_free(x->all[i].kernel);
  }
  for (size_t i = 0; i < x->n_datasets; i++) em_dataset_close(x->datasets[i]);
  em_free(x->datasets);
  em_free(x->all);
}

/* Once per source: cards and sizes repeat a kernel. */
static bool is_known(const items *x, const em_kernel *k)
{
  for (size_t i = x->n; i-- > 0 && strcmp(x->all[i].source, x->source) == 0;)
    if (em_digest_eq(em_kernel_identity(x->all[i].view), em_kernel_identity(k))) return true;
  return false;
}

/* `owned` may be NULL: then `k` is borrowed.  Takes `owned` over, also on failure. */
static int add(items *x, const char *name, const em_kernel *k, em_kernel *owned, em_bindings sizes, em_err *err)
{
  if (is_known(x, k)) {
    em_kernel_free(owned);
    return EM_OK;
  }
  int rc = em_grow(&x->all, &x->cap, x->n + 1, sizeof *x->all, err);
  if (rc != EM_OK) {
    em_kernel_free(owned);
    return rc;
  }
  item *i = &x->all[x->n++];
  *i = (item){.name = em_strdup(name), .source = em_strdup(x->source), .kernel = owned, .view = k};
  if (!i->name || !i->source) {
    x->n--; /* is_known reads every source */
    em_free(i->name);
    em_free(i->source);
    em_kernel_free(owned);
    return em_fail_nomem(err);
  }
  return em_kernel_shape(k, sizes, &i->shape, err);
}

static int add_golden(items *x, em_err *err)
{
  em_golden *g;
  int rc = em_golden_read(x->source, &g, err);
  if (rc != EM_OK) return rc;
  for (size_t i = 0; i < g->n_kernels && rc == EM_OK; i++) {
    em_golden_kernel *k = &g->kernels[i];
    em_kernel *owned = k->kernel;
    k->kernel = NULL;
    rc = add(x, k->ref, owned, owned, (em_bindings){k->bindings, k->n_bindings}, err);
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

static int add_store(items *x, em_err *err)
{
  em_store *store;
  int rc = em_store_open(x->source, EM_STORE_READ, &store, err);
  if (rc != EM_OK) return rc;
  rc = em_store_each_evidence(store, add_evidence, x, err);
  em_store_close(store);
  return rc;
}

static int add_dataset(items *x, em_err *err)
{
  em_dataset *d;
  int rc = em_dataset_open(x->source, EM_FEAT_VER, &d, err);
  if (rc != EM_OK) return rc;
  x->datasets[x->n_datasets++] = d;
  for (size_t i = 0; i < em_dataset_n_kernels(d) && rc == EM_OK; i++) {
    const em_kernel *k;
    rc = em_dataset_kernel(d, i, &k, err);
    if (rc == EM_OK) rc = add(x, em_kernel_name(k), k, NULL, (em_bindings){0}, err);
  }
  return rc;
}

static int collect(items *x, char **sources, size_t n, em_err *err)
{
  int rc = EM_OK;
  x->datasets = em_calloc(n, sizeof *x->datasets);
  if (!x->datasets) return em_fail_nomem(err);
  for (size_t i = 0; i < n && rc == EM_OK; i++) {
    x->source = sources[i];
    if (em_path_is_dir(x->source))
      rc = add_dataset(x, err);
    else
      rc = em_store_is_sqlite(x->source) ? add_store(x, err) : add_golden(x, err);
  }
  return rc;
}

/* ---- list ---- */

enum { NAME, KIND, SHAPE, IDENTITY, NOTES, SOURCE };

static const em_view_column columns[] = {
  {"kernel", "kernel", EM_TEXT, "", 26, 0, "name, as the source refers to it"},
  {"kind", "kind", EM_TEXT, "", 11, 0, "pointwise, reduce, contraction or other"},
  {"shape", "shape", EM_TEXT, "", 34, 0, "extents and dtypes"},
  {"identity", "identity", EM_TEXT, "", 32, 0, "digest of the normalised definition"},
  {"notes", "notes", EM_TEXT, "", 30, 0, "why it is outside the space, if it is"},
  {"source", "source", EM_TEXT, "", 0, 0, "where it was read"},
};

static void get(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const item *i = (const item *)ctx + row;
  const char *scope = em_kernel_nest(i->view)->out_of_scope;
  char hex[33];
  switch (column) {
  case NAME: em_cell_text(out, i->name); break;
  case KIND: em_cell_text(out, em_kind_name(em_kernel_kind(i->view))); break;
  case SHAPE: em_cell_text(out, i->shape); break;
  case IDENTITY:
    em_digest_hex(em_kernel_identity(i->view), hex);
    em_cell_printf(out, "%s", hex);
    break;
  case NOTES: em_cell_printf(out, "%s%s", scope ? "out of scope: " : "", scope ? scope : ""); break;
  default: em_cell_text(out, i->source);
  }
}

int em_cmd_kernel_list(const em_args *a, em_err *err)
{
  items x = {0};
  int rc = collect(&x, a->words, a->n_words, err);
  em_table t = {columns, sizeof columns / sizeof *columns, x.n, get, x.all};
  if (rc == EM_OK) rc = em_table_print(a, &t, err);
  free_items(&x);
  return rc;
}

/* ---- show ---- */

static void put_axis(em_str *out, const char *role, const em_axis *axis)
{
  em_str_printf(out, "  %-10s %s ", role, axis->name);
  if (axis->sym)
    em_str_printf(out, "%s (hint %lld)\n", axis->sym, (long long)axis->hint);
  else
    em_str_printf(out, "%lld\n", (long long)axis->extent);
}

static void put_nest(em_str *out, const em_nest *n)
{
  em_str_put(out, "\nnest\n");
  for (int i = 0; i < n->n_free; i++)
    put_axis(out, i == n->m_axis ? "free m" : i == n->n_axis ? "free n" : "free", &n->free[i]);
  if (n->has_fold) {
    put_axis(out, "fold", &n->fold);
    em_str_printf(out, "  %-10s %s\n", "operation", n->fold_op);
  }
  if (n->out_of_scope) em_str_printf(out, "  %-10s %s\n", "no space", n->out_of_scope);
}

static void put_stamps(em_str *out, const em_kernel *k)
{
  size_t n;
  char text[EM_DOUBLE_LEN];
  const em_stamp *s = em_kernel_stamps(k, &n);
  em_str_put(out, "\nstamps\n");
  for (size_t i = 0; i < n; i++) em_str_printf(out, "  %-32s %s\n", s[i].name, em_double_repr(s[i].value, text));
}

static void put_kernel(em_str *out, const item *i)
{
  char hex[33];
  em_str_put(out, "kernel    ");
  em_str_put_safe(out, i->name);
  em_digest_hex(em_kernel_identity(i->view), hex);
  em_str_printf(out, "\nidentity  %s\nkind      %s\nshape     %s\n\n", hex, em_kind_name(em_kernel_kind(i->view)),
                i->shape);
  em_kernel_print_pretty(i->view, out);
  put_nest(out, em_kernel_nest(i->view));
  put_stamps(out, i->view);
}

static bool is_named(const item *i, const char *name)
{
  char hex[33];
  em_digest_hex(em_kernel_identity(i->view), hex);
  return strcmp(i->name, name) == 0 || (strlen(name) >= 6 && strncmp(hex, name, strlen(name)) == 0);
}

static int unknown_kernel(const items *x, const char *name, em_err *err)
{
  const char **names = em_calloc(x->n + 1, sizeof *names);
  em_str near = {0};
  if (!names) return em_fail_nomem(err);
  for (size_t i = 0; i < x->n; i++) names[i] = x->all[i].name;
  em_put_near(&near, name, names);
  em_fail(err, EM_E_INPUT, "%s: no kernel is called \"%s\"%s (emmy kernel list shows them)", x->source, name,
          near.s ? near.s : "");
  em_str_free(&near);
  em_free(names);
  return err->code;
}

int em_cmd_kernel_show(const em_args *a, em_err *err)
{
  items x = {0};
  em_str text = {0};
  const item *found = NULL;
  int rc = collect(&x, a->words, 1, err);
  for (size_t i = 0; i < x.n && !found; i++)
    if (is_named(&x.all[i], a->words[1])) found = &x.all[i];
  if (rc == EM_OK && !found) rc = unknown_kernel(&x, a->words[1], err);
  if (rc == EM_OK && a->opt[EM_OPT_JSON].set) {
    em_kernel_print(found->view, &text);
    em_str_putc(&text, '\n');
  } else if (rc == EM_OK) {
    put_kernel(&text, found);
  }
  free_items(&x);
  return rc == EM_OK ? em_put_text(&text, err) : rc;
}
