/*
 * view_fit_measured_compare.c - two fits side by side on measured pools, by card and level.
 */
#include <string.h>

#include "views/metrics_file.h"

enum {
  CARD,
  LEVEL,
  POOLS,
  BETTER,
  WORSE,
  RHO_A,
  RHO_A_OF,
  RHO_B,
  RHO_B_OF,
  REGRET1_A,
  REGRET1_A_OF,
  WORST_A,
  WORST_POOL_A,
  REGRET1_B,
  REGRET1_B_OF,
  WORST_B,
  WORST_POOL_B,
  REGRET10_A,
  REGRET10_A_OF,
  REGRET10_B,
  REGRET10_B_OF,
  CHANGE,
  LOW,
  HIGH,
  VERDICT
};

static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card"},
  {"h_opt", "level", EM_INT, "level", 5, 0, "optimization level that the latencies were taken at"},
  {"pools", "pools", EM_INT, "pools", 5, 0, "measured pools with a regret@1 in both fits"},
  {"better", "better", EM_INT, "pools", 6, 0, "of them better by B"},
  {"worse", "worse", EM_INT, "pools", 5, 0, "of them worse by B"},
  {"spearman_a", "rho A", EM_REAL, "", 6, 3,
   "median of Spearman's rank correlation of predicted cost and latency by A"},
  {"spearman_pools_a", "of", EM_INT, "pools", 4, 0, "pools that it is of"},
  {"spearman_b", "B", EM_REAL, "", 6, 3, "the same by B"},
  {"spearman_pools_b", "of", EM_INT, "pools", 4, 0, "pools that it is of"},
  {"regret1_a", "regret@1 A", EM_REAL, "ratio", 10, 3, "median latency of A's first over the pool's best"},
  {"regret1_pools_a", "of", EM_INT, "pools", 4, 0, "pools that it is of"},
  {"regret1_worst_a", "worst", EM_REAL, "ratio", 6, 2, "the greatest of them"},
  {"regret1_worst_pool_a", "worst pool", EM_TEXT, "", 0, 0, "its pool"},
  {"regret1_b", "B", EM_REAL, "ratio", 6, 3, "the same by B"},
  {"regret1_pools_b", "of", EM_INT, "pools", 4, 0, "pools that it is of"},
  {"regret1_worst_b", "worst", EM_REAL, "ratio", 6, 2, "the greatest of them"},
  {"regret1_worst_pool_b", "worst pool", EM_TEXT, "", 40, 0, "its pool"},
  {"regret10_a", "regret@10 A", EM_REAL, "ratio", 11, 3, "median of the best of A's first ten over the pool's best"},
  {"regret10_pools_a", "of", EM_INT, "pools", 4, 0, "pools that it is of"},
  {"regret10_b", "B", EM_REAL, "ratio", 6, 3, "the same by B"},
  {"regret10_pools_b", "of", EM_INT, "pools", 4, 0, "pools that it is of"},
  {"change", "change", EM_REAL, "log2", 7, 3, "mean of log2(regret@1 by B / regret@1 by A): below 0, B is better"},
  {"low", "95% from", EM_REAL, "log2", 8, 3, "lower end of its 95 % interval: paired bootstrap over the pools"},
  {"high", "to", EM_REAL, "log2", 7, 3, "upper end"},
  {"verdict", "B is", EM_TEXT, "", 19, 0,
   "\"better\" or \"worse\" where the interval leaves out 0, else \"no difference shown\""},
};

static const em_param params[] = {
  {"a", EM_TEXT, true, "a metrics.json, the folder that holds one, or a folder's name under " EM_FITS_FOLDER},
  {"b", EM_TEXT, true, "the other fit, named in the same ways"},
};

typedef struct cursor {
  em_cursor base;
  em_compare compare;
} cursor;

static void close_view(em_cursor *base) { em_compare_close(&((cursor *)base)->compare); }

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  return em_compare_open(args[0], args[1], &((cursor *)base)->compare, err);
}

static const em_compare_measured_cell *cell_of(em_cursor *base, size_t row)
{
  return &((cursor *)base)->compare.measured.cells[row];
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->compare.measured.n_cells; }

/* The parts of a figure stand in this order: median, pools, worst, worst pool. */
static void figure_cell(const em_regret_figure *f, size_t part, em_cell *out)
{
  switch (part) {
  case 0: em_cell_real(out, f->median); break;
  case 1: em_cell_int(out, (int64_t)f->pools); break;
  case 2: em_cell_real(out, f->worst); break;
  default: em_cell_text(out, f->worst_pool);
  }
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const em_compare_measured_cell *c = cell_of(base, row);
  switch (column) {
  case CARD: em_cell_gpu(out, c->gpu, strlen(c->gpu)); break;
  case LEVEL: em_cell_int(out, c->h_opt); break;
  case POOLS: em_cell_int(out, (int64_t)c->pools); break;
  case BETTER: em_cell_int(out, (int64_t)c->better); break;
  case WORSE: em_cell_int(out, (int64_t)c->worse); break;
  case RHO_A:
  case RHO_A_OF: figure_cell(&c->a.spearman, column - RHO_A, out); break;
  case RHO_B:
  case RHO_B_OF: figure_cell(&c->b.spearman, column - RHO_B, out); break;
  case REGRET10_A:
  case REGRET10_A_OF: figure_cell(&c->a.at[1], column - REGRET10_A, out); break;
  case REGRET10_B:
  case REGRET10_B_OF: figure_cell(&c->b.at[1], column - REGRET10_B, out); break;
  case CHANGE: em_cell_real(out, c->change); break;
  case LOW: em_cell_real(out, c->low); break;
  case HIGH: em_cell_real(out, c->high); break;
  case VERDICT: em_cell_text(out, em_verdict_words[c->verdict]); break;
  default:
    if (column < REGRET1_B)
      figure_cell(&c->a.at[0], column - REGRET1_A, out);
    else
      figure_cell(&c->b.at[0], column - REGRET1_B, out);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  static const em_mark marks[EM_N_VERDICTS] = {EM_MARK_NONE, EM_MARK_GOLDEN, EM_MARK_ATTENTION};
  return marks[cell_of(base, row)->verdict];
}

static void foot(em_cursor *base, em_str *out)
{
  const em_compare_measured *m = &((cursor *)base)->compare.measured;
  em_str_printf(out, "%zu measured pools judged by both fits, %s", m->n_pools,
                m->held_out ? "held out" : "by the fits to everything");
  if (m->unlike) em_str_printf(out, "; left out: %zu that are not of as many rows for both", m->unlike);
}

static void crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "two fits / measured pools");
}

const em_view em_view_fit_measured_compare = {
  .name = "fit_measured_compare",
  .title = "two fits, measured pools",
  .doc =
    "The figures of two fits side by side over the measured pools that both judge, by card and level of optimization, "
    "held out where both were cross-validated, with the mean change of log2(regret@1), its 95 % interval and what that shows.",
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
  .foot = foot,
  .crumb = crumb,
};
