/* eval_measured_print.c - the part of emmy eval prior on measured pools. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/cli.h"

/* ---- by card and level ---- */

enum { CARD, LEVEL, POOLS, FIRST_FIGURE };

static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card"},
  {"h_opt", "level", EM_INT, "level", 5, 0, "optimization level that the latencies were taken at"},
  {"pools", "pools", EM_INT, "pools", 6, 0, "measured pools"},
  {"spearman", "rho", EM_REAL, "", 6, 3, "median of Spearman's rank correlation of predicted cost and latency"},
  {"spearman_pools", "of", EM_INT, "pools", 5, 0, "pools of at least five rows that it is of"},
  {"spearman_worst", "least", EM_REAL, "", 6, 3, "the least of them"},
  {"spearman_worst_pool", "pool", EM_TEXT, "", 0, 0, "its pool"},
  {"regret1", "regret@1", EM_REAL, "ratio", 8, 3, "median latency of the prior's first over the pool's best"},
  {"regret1_pools", "of", EM_INT, "pools", 5, 0, "pools of at least two rows that it is of"},
  {"regret1_worst", "worst", EM_REAL, "ratio", 7, 2, "the greatest of them"},
  {"regret1_worst_pool", "worst pool", EM_TEXT, "", 60, 0, "its pool"},
  {"regret10", "regret@10", EM_REAL, "ratio", 9, 3, "the same of the best of the prior's first ten"},
  {"regret10_pools", "of", EM_INT, "pools", 5, 0, "pools of more than ten rows that it is of"},
  {"regret10_worst", "worst", EM_REAL, "ratio", 7, 2, "the greatest of them"},
  {"regret10_worst_pool", "worst pool", EM_TEXT, "", 60, 0, "its pool"},
};

static void figure_cell(const em_regret_figure *f, size_t part, em_cell *out)
{
  switch (part) {
  case 0: em_cell_real(out, f->median); break;
  case 1: em_cell_int(out, (int64_t)f->pools); break;
  case 2: em_cell_real(out, f->worst); break;
  default: em_cell_text(out, f->worst_pool);
  }
}

static void get_cell(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const em_eval_measured_cell *c = (const em_eval_measured_cell *)ctx + row;
  const em_regret_summary *s = &c->figures;
  switch (column) {
  case CARD: em_cell_text(out, em_card_short_name(c->gpu)); break;
  case LEVEL: em_cell_int(out, c->h_opt); break;
  case POOLS: em_cell_int(out, (int64_t)s->pools); break;
  default: column -= FIRST_FIGURE; figure_cell(column / 4 ? &s->at[column / 4 - 1] : &s->spearman, column % 4, out);
  }
}

/* ---- the pools of the greatest regret ---- */

enum { WORST_SHOWN = 20 };
enum { WORST_CARD, POOL, LABEL, ROWS, RANK, RHO, REGRET1, REGRET10, FIRST, FIRST_US, FASTEST, FASTEST_US };

static const em_view_column worst_columns[] = {
  {"card", "card", EM_TEXT, "", 9, 0, "short name of the card"},
  {"pool", "pool", EM_TEXT, "", 24, 0, "name of the pool"},
  {"label", "kernel", EM_TEXT, "", 24, 0, "name of its kernel"},
  {"rows", "rows", EM_INT, "rows", 6, 0, "measured rows"},
  {"rank", "fastest", EM_INT, "rank", 7, 0, "rank of the fastest row, ties against it"},
  {"spearman", "rho", EM_REAL, "", 6, 3, "rank correlation of predicted cost and latency"},
  {"regret1", "regret@1", EM_REAL, "ratio", 8, 3, "latency of the prior's first over the best"},
  {"regret10", "regret@10", EM_REAL, "ratio", 9, 3, "the same of the best of the first ten"},
  {"first", "first by the prior", EM_TEXT, "", 50, 0, "the row that regret@1 is of"},
  {"first_us", "us", EM_REAL, "us", 9, 1, "its latency"},
  {"fastest_row", "fastest row", EM_TEXT, "", 50, 0, "the row of the least latency"},
  {"fastest_us", "us", EM_REAL, "us", 9, 1, "its latency"},
};

typedef struct worst {
  const em_dataset *d;
  em_eval_measured_pool *pools;
} worst;

static void get_worst(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const worst *w = ctx;
  const em_eval_measured_pool *p = &w->pools[row];
  const em_group *g = em_dataset_group(w->d, p->group);
  switch (column) {
  case WORST_CARD: em_cell_text(out, em_card_short_name(g->gpu)); break;
  case POOL: em_cell_text(out, g->name); break;
  case LABEL: em_cell_text(out, g->label); break;
  case ROWS: em_cell_int(out, (int64_t)p->regret.measured); break;
  case RANK: em_cell_int(out, (int64_t)p->rank.against + 1); break;
  case RHO: em_cell_real(out, p->regret.spearman); break;
  case REGRET1: em_cell_real(out, p->regret.at[0]); break;
  case REGRET10: em_cell_real(out, p->regret.at[1]); break;
  case FIRST: em_dataset_row_cell(w->d, p->group, p->first, out); break;
  case FIRST_US: em_cell_real(out, g->latency_us[p->first]); break;
  case FASTEST: em_dataset_row_cell(w->d, p->group, g->fastest, out); break;
  default: em_cell_real(out, g->latency_us[g->fastest]);
  }
}

/* Greatest regret@1 first, those without one last; equals in the order of the dataset. */
static int by_regret(const void *a, const void *b)
{
  const em_eval_measured_pool *x = a, *y = b;
  double rx = isnan(x->regret.at[0]) ? 0 : x->regret.at[0], ry = isnan(y->regret.at[0]) ? 0 : y->regret.at[0];
  if (rx != ry) return rx < ry ? 1 : -1;
  return (x->group > y->group) - (x->group < y->group);
}

static int print_worst(const em_args *a, const em_eval_measured *e, const em_dataset *d, em_err *err)
{
  worst w = {d, em_calloc(e->n_pools + 1, sizeof *w.pools)};
  size_t n = 0;
  if (!w.pools) return em_fail_nomem(err);
  if (e->n_pools) {
    memcpy(w.pools, e->pools, e->n_pools * sizeof *w.pools);
    qsort(w.pools, e->n_pools, sizeof *w.pools, by_regret);
  }
  while (n < e->n_pools && n < WORST_SHOWN && w.pools[n].regret.at[0] > 1) n++;
  em_table t = {worst_columns, sizeof worst_columns / sizeof *worst_columns, n, get_worst, &w};
  int rc = em_section_print(a, "measured pools of the greatest regret", &t, err);
  em_free(w.pools);
  return rc;
}

int em_print_eval_measured(const em_args *a, const em_eval_measured *e, const em_dataset *d, em_err *err)
{
  em_table cells = {columns, sizeof columns / sizeof *columns, e->n_cells, get_cell, e->cells};
  int rc = em_is_text_table(a) ? em_section_print(a, "measured pools", &cells, err) : em_table_print(a, &cells, err);
  if (rc != EM_OK || !em_is_text_table(a)) return rc;
  rc = print_worst(a, e, d, err);
  return rc == EM_OK ? em_print_dropped(a, d, true, err) : rc;
}
