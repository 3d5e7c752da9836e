/*
 * view_fit_compare.c - two fits side by side: by card, tier and pool size, by card, and over all.
 */
#include <string.h>

#include "views/metrics_file.h"

enum {
  CARD,
  TIER,
  SIZE,
  POOLS,
  BETTER,
  WORSE,
  MEDIAN_A,
  MEDIAN_B,
  TOP1_A,
  TOP1_B,
  TOP10_A,
  TOP10_B,
  LOG2_A,
  LOG2_B,
  CHANGE,
  LOW,
  HIGH,
  VERDICT
};

static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card; missing = all cards"},
  {"tier", "tier", EM_TEXT, "", 9, 0, "tier of the pools; missing = all of them"},
  {"size", "size", EM_TEXT, "", 6, 0, "candidates of the whole pool; missing = any number"},
  {"pools", "pools", EM_INT, "pools", 5, 0, "pools that both fits rank"},
  {"better", "better", EM_INT, "pools", 6, 0, "of them better by B"},
  {"worse", "worse", EM_INT, "pools", 5, 0, "of them worse by B"},
  {"median_a", "median A", EM_REAL, "rank", 8, 1,
   "median rank of the goldens by A, from 1, every tie counted against them"},
  {"median_b", "B", EM_REAL, "rank", 6, 1, "the same by B"},
  {"top1_a", "top-1 A", EM_INT, "pools", 7, 0, "pools whose golden ranks first by A"},
  {"top1_b", "B", EM_INT, "pools", 4, 0, "the same by B"},
  {"top10_a", "top-10 A", EM_INT, "pools", 8, 0, "pools whose golden ranks 10 or better by A"},
  {"top10_b", "B", EM_INT, "pools", 4, 0, "the same by B"},
  {"mean_log2_a", "log2 A", EM_REAL, "log2", 6, 3, "mean of log2(rank) by A"},
  {"mean_log2_b", "B", EM_REAL, "log2", 6, 3, "the same by B"},
  {"change", "change", EM_REAL, "log2", 7, 3, "mean of log2(rank by B / rank by A): below 0, B is better"},
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

const em_compare *em_fit_compare_of(const em_cursor *base) { return &((const cursor *)base)->compare; }

static size_t rows(em_cursor *base) { return em_fit_compare_of(base)->n_cells; }

static void text_cell(em_cell *out, const char *s) { em_cell_text(out, *s ? s : NULL); }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const em_compare_cell *c = &em_fit_compare_of(base)->cells[row];
  switch (column) {
  case CARD:
    if (*c->gpu)
      em_cell_gpu(out, c->gpu, strlen(c->gpu));
    else
      em_cell_missing(out);
    break;
  case TIER: text_cell(out, c->tier); break;
  case SIZE: text_cell(out, c->bucket); break;
  case POOLS: em_cell_int(out, (int64_t)c->a.pools); break;
  case BETTER: em_cell_int(out, (int64_t)c->better); break;
  case WORSE: em_cell_int(out, (int64_t)c->worse); break;
  case MEDIAN_A: em_cell_real(out, c->a.median + 1); break;
  case MEDIAN_B: em_cell_real(out, c->b.median + 1); break;
  case TOP1_A: em_cell_int(out, (int64_t)c->a.top[0]); break;
  case TOP1_B: em_cell_int(out, (int64_t)c->b.top[0]); break;
  case TOP10_A: em_cell_int(out, (int64_t)c->a.top[2]); break;
  case TOP10_B: em_cell_int(out, (int64_t)c->b.top[2]); break;
  case LOG2_A: em_cell_real(out, c->a.mean_log2); break;
  case LOG2_B: em_cell_real(out, c->b.mean_log2); break;
  case CHANGE: em_cell_real(out, c->change); break;
  case LOW: em_cell_real(out, c->low); break;
  case HIGH: em_cell_real(out, c->high); break;
  default: em_cell_text(out, em_verdict_words[c->verdict]);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  static const em_mark marks[EM_N_VERDICTS] = {EM_MARK_NONE, EM_MARK_GOLDEN, EM_MARK_ATTENTION};
  return marks[em_fit_compare_of(base)->cells[row].verdict];
}

static void foot(em_cursor *base, em_str *out)
{
  const em_compare *c = em_fit_compare_of(base);
  if (c->n_cells == 0) {
    em_str_put(out, "no golden pool is ranked by both");
    return;
  }
  const em_compare_cell *all = &c->cells[c->n_cells - 1];
  em_str_printf(out, "B is %s: ",
                all->verdict == EM_VERDICT_NONE ? "neither better nor worse as far as shown"
                                                : em_verdict_words[all->verdict]);
  em_str_printf(
    out, "log2(rank) changes by %+.3f (95 %% from %+.3f to %+.3f), %s, over %zu pools: %zu better, %zu worse, %zu same",
    all->change, all->low, all->high, c->held_out ? "held out" : "on pools that the fits learned from", c->n_pools,
    all->better, all->worse, c->n_pools - all->better - all->worse);
  if (c->unlike)
    em_str_printf(out, "\nleft out: %zu pools that are not of as many candidates for both fits", c->unlike);
  if (c->only_a || c->only_b) em_str_printf(out, "\nknown to one fit alone: %zu to A, %zu to B", c->only_a, c->only_b);
}

static void crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "two fits / figures");
}

const em_view em_view_fit_compare = {
  .name = "fit_compare",
  .title = "two fits, figures",
  .doc =
    "The figures of two fits side by side over the pools that both rank, held out where both were cross-validated, with the mean "
    "change of log2(rank), its 95 % interval and what that shows; the last row is over all cards.  Golden pools; measured "
    "ones: fit_measured_compare.",
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
