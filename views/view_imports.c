/*
 * view_imports.c - what was imported into a store.
 */
#include "views/views_int.h"

enum { SOURCE, DIGEST, ROWS };

static const em_view_column columns[] = {
  {"source", "source", EM_TEXT, "", 40, 0, "name of the imported file"},
  {"digest", "digest", EM_TEXT, "", 32, 0, "digest of its bytes"},
  {"rows", "rows", EM_INT, "rows", 8, 0, "rows of it that the store holds: those that no better one replaced"},
};

static const em_param params[] = {{"db", EM_TEXT, false, "the store; left out: the default one"}};

typedef struct source {
  char *name, *digest;
  size_t rows;
} source;

typedef struct cursor {
  em_cursor base;
  source *items;
  size_t n, cap;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  for (size_t i = 0; i < c->n; i++) {
    em_free(c->items[i].name);
    em_free(c->items[i].digest);
  }
  em_free(c->items);
}

static int add(void *ctx, const char *name, const char *digest, size_t rows)
{
  cursor *c = ctx;
  em_err err;
  int rc = em_grow(&c->items, &c->cap, c->n + 1, sizeof *c->items, &err);
  if (rc != EM_OK) return rc;
  source *s = &c->items[c->n++];
  *s = (source){em_strdup(name), em_strdup(digest), rows};
  return s->name && s->digest ? EM_OK : EM_E_NOMEM;
}

static int list(cursor *c, const char *path, em_err *err)
{
  em_store *store;
  int rc = em_store_open(path, EM_STORE_READ, &store, err);
  if (rc != EM_OK) return rc;
  rc = em_store_each_source(store, add, c, err);
  em_store_close(store);
  return rc == EM_E_NOMEM ? em_fail_nomem(err) : rc;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  char *path = NULL;
  int rc = args[0] ? EM_OK : em_store_default_path(&path, err);
  if (rc == EM_OK) rc = list((cursor *)base, args[0] ? args[0] : path, err);
  em_free(path);
  return rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const source *s = &((cursor *)base)->items[row];
  switch (column) {
  case SOURCE: em_cell_text(out, s->name); break;
  case DIGEST: em_cell_text(out, s->digest); break;
  default: em_cell_int(out, (int64_t)s->rows);
  }
}

static void crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "store / imports");
}

const em_view em_view_imports = {
  .name = "imports",
  .title = "imports",
  .doc = "Every source that was imported into a store, with its digest and the number of its rows.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .crumb = crumb,
};
