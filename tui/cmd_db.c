/* cmd_db.c - emmy db list, check. */
#include <string.h>

#include "tui/cli.h"

static int open_store(const em_args *a, em_store **out, em_err *err)
{
  char *db;
  int rc = em_args_db(a, &db, err);
  if (rc == EM_OK) {
    rc = em_store_open(db, EM_STORE_READ, out, err);
    em_free(db);
  }
  return rc;
}

/* ---- list ---- */

static const em_view_column source_columns[] = {
  {"source", "source", EM_TEXT, "", 40, 0, "name of the imported file"},
  {"digest", "digest", EM_TEXT, "", 32, 0, "digest of its bytes"},
  {"rows", "rows", EM_INT, "rows", 8, 0, "rows of it that the store holds"},
};

typedef struct source {
  char *name, *digest;
  size_t rows;
} source;
typedef struct sources {
  source *items;
  size_t n, cap;
} sources;

static void get_source(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const source *s = &((const sources *)ctx)->items[row];
  if (column == 0)
    em_cell_text(out, s->name);
  else if (column == 1)
    em_cell_text(out, s->digest);
  else
    em_cell_int(out, (int64_t)s->rows);
}

static int add_source(void *ctx, const char *name, const char *digest, size_t rows)
{
  sources *all = ctx;
  em_err err;
  int rc = em_grow(&all->items, &all->cap, all->n + 1, sizeof *all->items, &err);
  if (rc != EM_OK) return rc;
  source *s = &all->items[all->n++];
  *s = (source){em_strdup(name), em_strdup(digest), rows};
  return s->name && s->digest ? EM_OK : EM_E_NOMEM;
}

int em_cmd_db_list(const em_args *a, em_err *err)
{
  em_store *store;
  sources all = {0};
  int rc = open_store(a, &store, err);
  if (rc != EM_OK) return rc;
  rc = em_store_each_source(store, add_source, &all, err);
  if (rc == EM_E_NOMEM) em_fail_nomem(err);
  em_store_close(store);
  em_table t = {source_columns, sizeof source_columns / sizeof *source_columns, all.n, get_source, &all};
  if (rc == EM_OK) rc = em_table_print(a, &t, err);
  for (size_t i = 0; i < all.n; i++) {
    em_free(all.items[i].name);
    em_free(all.items[i].digest);
  }
  em_free(all.items);
  return rc;
}

/* ---- check ---- */

enum { MAX_CHECKS = 64, N_COUNTS = 8 };

static const em_view_column check_columns[] = {
  {"what", "what", EM_TEXT, "", 52, 0, "what was counted"},
  {"count", "count", EM_INT, "", 10, 0, "how many there are"},
  {"verdict", "verdict", EM_TEXT, "", 8, 0, "of what should be 0: ok or bad"},
};

typedef struct checks {
  em_store_check items[N_COUNTS + MAX_CHECKS];
  size_t n;
} checks;

static void get_check(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const em_store_check *c = &((const checks *)ctx)->items[row];
  if (column == 0)
    em_cell_text(out, c->what);
  else if (column == 1)
    em_cell_int(out, (int64_t)c->count);
  else
    em_cell_text(out, row < N_COUNTS ? "" : c->count ? "bad" : "ok");
}

static int count_all(em_store *store, checks *all, em_err *err)
{
  em_store_counts c;
  int rc = em_store_count(store, &c, err);
  if (rc != EM_OK) return rc;
  const em_store_check counts[N_COUNTS] = {
    {"sources", c.sources},        {"kernels", c.kernels},     {"routing rows", c.routing}, {"schedules", c.schedules},
    {"measured rows", c.measured}, {"proposals", c.proposals}, {"failed rows", c.failed},   {"cards", c.cards}};
  memcpy(all->items, counts, sizeof counts);
  rc = em_store_verify(store, all->items + N_COUNTS, MAX_CHECKS, &all->n, err);
  all->n += N_COUNTS;
  return rc;
}

int em_cmd_db_check(const em_args *a, em_err *err)
{
  em_store *store;
  checks all = {0};
  size_t bad = 0;
  int rc = open_store(a, &store, err);
  if (rc != EM_OK) return rc;
  rc = count_all(store, &all, err);
  em_store_close(store);
  em_table t = {check_columns, sizeof check_columns / sizeof *check_columns, all.n, get_check, &all};
  if (rc == EM_OK) rc = em_table_print(a, &t, err);
  if (rc != EM_OK) return rc;
  for (size_t i = N_COUNTS; i < all.n; i++) bad += all.items[i].count > 0;
  return bad ? em_fail(err, EM_E_CHECK, "the store contradicts itself in %zu way%s", bad, bad == 1 ? "" : "s") : EM_OK;
}
