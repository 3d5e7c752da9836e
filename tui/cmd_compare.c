/* cmd_compare.c - emmy compare. */
#include "tui/cli.h"

/* ---- the pools that moved most ---- */

enum { MOVED_SHOWN = 10 };
enum { POOL, RANK_A, RANK_B, CHANGE };

static const em_view_column columns[] = {
  {"pool", "pool", EM_TEXT, "", 60, 0, "key of the pool"},
  {"rank_a", "A", EM_INT, "rank", 7, 0, "rank of the golden by A"},
  {"rank_b", "B", EM_INT, "rank", 7, 0, "rank of the golden by B"},
  {"change", "change", EM_REAL, "log2", 7, 2, "log2(rank by B / rank by A)"},
};

typedef struct moved {
  const em_compare *compare;
  const uint32_t *order;
} moved;

static void get(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const moved *m = ctx;
  const em_compare_pool *p = &m->compare->pools[m->order[row]];
  switch (column) {
  case POOL: em_cell_text(out, p->key); break;
  case RANK_A: em_cell_int(out, (int64_t)p->a.against + 1); break;
  case RANK_B: em_cell_int(out, (int64_t)p->b.against + 1); break;
  default: em_cell_real(out, p->log2_b - p->log2_a);
  }
}

/* The first of `order`, as long as they moved the way of `sign`. */
static int print_moved(const em_args *a, const char *title, const em_compare *c, const uint32_t *order, double sign,
                       em_err *err)
{
  moved m = {c, order};
  em_str text = {0};
  em_table t = {columns, sizeof columns / sizeof *columns, 0, get, &m};
  while (t.n_rows < c->n_pools && t.n_rows < MOVED_SHOWN) {
    const em_compare_pool *p = &c->pools[order[t.n_rows]];
    if (sign * (p->log2_b - p->log2_a) <= 0) break;
    t.n_rows++;
  }
  em_str_printf(&text, "\n%s\n%s", title, t.n_rows ? "" : "none\n");
  int rc = em_put_text(&text, err);
  return rc == EM_OK && t.n_rows ? em_table_print(a, &t, err) : rc;
}

static int print_both_ways(const em_args *a, const em_compare *c, em_err *err)
{
  uint32_t *order;
  int rc = em_compare_order(c, &order, err);
  if (rc != EM_OK) return rc;
  rc = print_moved(a, "pools that B ranks better, furthest first", c, order, -1, err);
  for (size_t i = 0; i < c->n_pools / 2; i++) {
    uint32_t last = order[c->n_pools - 1 - i];
    order[c->n_pools - 1 - i] = order[i];
    order[i] = last;
  }
  if (rc == EM_OK) rc = print_moved(a, "pools that B ranks worse, furthest first", c, order, 1, err);
  em_free(order);
  return rc;
}

/* ---- the command ---- */

static int print_verdict(em_cursor *c, em_err *err)
{
  em_str text = {0};
  em_str_putc(&text, '\n');
  c->view->foot(c, &text);
  em_str_putc(&text, '\n');
  return em_put_text(&text, err);
}

static int report(const em_args *a, const char *const *fits, em_cursor *c, em_err *err)
{
  int rc = EM_OK;
  bool golden = c->view->rows(c) > 0;
  if (golden || !em_is_text_table(a)) rc = em_cursor_print(a, c, err);
  if (rc != EM_OK || !em_is_text_table(a)) return rc;
  if (golden) rc = print_both_ways(a, em_fit_compare_of(c), err);
  if (rc == EM_OK) rc = em_print_fit_view(a, "fit_measured_compare", fits, err);
  return rc == EM_OK ? print_verdict(c, err) : rc;
}

/* On golden pools over all cards; on measured ones for any card. */
static int check_regression(const em_compare *c, em_err *err)
{
  for (size_t i = 0; i < c->measured.n_cells; i++) {
    const em_compare_measured_cell *m = &c->measured.cells[i];
    if (m->verdict == EM_VERDICT_WORSE)
      return em_fail(
        err, EM_E_CHECK,
        "the second fit is worse on measured pools of %s: log2(regret@1) changes by %+.3f, 95 %% from %+.3f "
        "to %+.3f, over %zu pools",
        m->gpu, m->change, m->low, m->high, m->pools);
  }
  if (c->n_cells == 0) return EM_OK;
  const em_compare_cell *all = &c->cells[c->n_cells - 1];
  if (all->verdict != EM_VERDICT_WORSE) return EM_OK;
  return em_fail(err, EM_E_CHECK,
                 "the second fit ranks worse: log2(rank) changes by %+.3f, 95 %% from %+.3f to %+.3f, over %zu pools",
                 all->change, all->low, all->high, c->n_pools);
}

int em_cmd_compare(const em_args *a, em_err *err)
{
  em_cursor *c;
  const char *fits[EM_MAX_PARAMS] = {a->words[0], a->words[1]};
  int rc = em_view_open("fit_compare", NULL, fits, &c, err);
  if (rc != EM_OK) return rc;
  rc = report(a, fits, c, err);
  if (rc == EM_OK && a->opt[EM_OPT_FAIL_WORSE].set) rc = check_regression(em_fit_compare_of(c), err);
  em_cursor_close(c);
  return rc;
}
