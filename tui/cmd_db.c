/* cmd_db.c - emmy db list, check. */
#include <string.h>

#include "tui/cli.h"

int em_cmd_db_list(const em_args *a, em_err *err)
{
  const char *args[EM_MAX_PARAMS] = {a->opt[EM_OPT_DB].text};
  return em_view_print(a, "imports", NULL, args, err);
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
