/*
 * view_fit_ranks.c - where the goldens of each pool rank after one fit, or after two of them side by side.
 */
#include <math.h>
#include <string.h>

#include "views/metrics_file.h"

#define FIT_DOC "a metrics.json, the folder that holds one, or a folder's name under " EM_FITS_FOLDER

/* One pool: what each file says of it, whole and held out; NULL = nothing. */
typedef struct pool {
  const char *key;
  const cJSON *train[2], *holdout[2];
} pool;

typedef struct cursor {
  em_cursor base;
  em_metrics fit[2]; /* the second of a comparison alone */
  pool *items;
  size_t n, cap;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  for (size_t i = 0; i < 2; i++) em_metrics_close(&c->fit[i]);
  em_free(c->items);
}

static const cJSON *children(const cJSON *object) { return object ? object->child : NULL; }

/* Held-out ranks of one file, beside the pools that are listed in the same order. */
static void add_holdout(cursor *c, size_t which)
{
  const cJSON *at = children(c->fit[which].holdout);
  for (size_t i = 0; i < c->n; i++) {
    while (at && strcmp(at->string, c->items[i].key) < 0) at = at->next;
    if (at && strcmp(at->string, c->items[i].key) == 0) c->items[i].holdout[which] = at;
  }
}

static int list(cursor *c, em_err *err)
{
  em_both at = {children(c->fit[0].train), children(c->fit[1].train)};
  pool p = {0};
  while (em_both_next(&at, &p.key, &p.train[0], &p.train[1])) {
    if (em_grow(&c->items, &c->cap, c->n + 1, sizeof *c->items, err) != EM_OK) return err->code;
    c->items[c->n++] = p;
  }
  for (size_t i = 0; i < 2; i++) add_holdout(c, i);
  return EM_OK;
}

static int open_fits(em_cursor *base, const char *const *fits, size_t n, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = EM_OK;
  for (size_t i = 0; i < n && rc == EM_OK; i++) rc = em_metrics_open(fits[i], &c->fit[i], err);
  return rc == EM_OK ? list(c, err) : rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void count_cell(em_cell *out, const cJSON *entry, const char *name)
{
  double n = em_metrics_number(entry, name);
  if (isnan(n))
    em_cell_missing(out);
  else
    em_cell_int(out, (int64_t)n);
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  size_t i;
  em_err err;
  const char *key = ((cursor *)base)->items[row].key;
  return em_session_find(base->session, key, &i, &err) == EM_OK && em_target_set(out, "candidates", key, NULL, NULL);
}

/* ---- one fit ---- */

enum { POOL, CARD, RANK, OPTIMISTIC, HOLDOUT, HOLDOUT_OPTIMISTIC, FOLD, CANDIDATES, SAMPLED, POSITIVES };

static const em_view_column ranks_columns[] = {
  {"pool", "pool", EM_TEXT, "", 50, 0, "key of the pool"},
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card"},
  {"rank", "rank", EM_INT, "rank", 7, 0,
   "rank of the best golden by the fit to everything, every tie counted against it"},
  {"rank_optimistic", "ties ignored", EM_INT, "rank", 12, 0, "the same with ties ignored"},
  {"holdout_rank", "held out", EM_INT, "rank", 8, 0, "rank when the pool's shape was held out; missing without folds"},
  {"holdout_rank_optimistic", "ties ignored", EM_INT, "rank", 12, 0, "the same with ties ignored"},
  {"fold", "fold", EM_INT, "", 5, 0, "the fold that held it out, from 0"},
  {"candidates", "candidates", EM_INT, "candidates", 10, 0, "candidates of the whole pool"},
  {"sampled", "sampled", EM_INT, "candidates", 8, 0, "candidates that the dataset holds"},
  {"positives", "goldens", EM_INT, "rows", 7, 0, "golden rows among them"},
};

static const em_param ranks_params[] = {{"fit", EM_TEXT, true, FIT_DOC}};

static int open_ranks(em_cursor *base, const char *const *args, em_err *err) { return open_fits(base, args, 1, err); }

static void ranks_cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const pool *p = &((cursor *)base)->items[row];
  switch (column) {
  case POOL: em_cell_text(out, p->key); break;
  case CARD: em_cell_gpu(out, p->key, strcspn(p->key, "/")); break;
  case RANK: em_cell_file_rank(out, em_metrics_number(p->train[0], "rank")); break;
  case OPTIMISTIC: em_cell_file_rank(out, em_metrics_number(p->train[0], "rank_optimistic")); break;
  case HOLDOUT: em_cell_file_rank(out, em_metrics_number(p->holdout[0], "rank")); break;
  case HOLDOUT_OPTIMISTIC: em_cell_file_rank(out, em_metrics_number(p->holdout[0], "rank_optimistic")); break;
  case FOLD: count_cell(out, p->holdout[0], "fold"); break;
  case CANDIDATES: count_cell(out, p->train[0], "pool"); break;
  case SAMPLED: count_cell(out, p->train[0], "sampled"); break;
  default: count_cell(out, p->train[0], "positives");
  }
}

static void ranks_crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "fit / ranks");
}

const em_view em_view_fit_ranks = {
  .name = "fit_ranks",
  .title = "ranks of a fit",
  .doc = "Where the golden of each pool ranks after one fit: fitted to everything, and when its shape was held out.",
  .columns = ranks_columns,
  .n_columns = COUNT(ranks_columns),
  .params = ranks_params,
  .n_params = COUNT(ranks_params),
  .size = sizeof(cursor),
  .open = open_ranks,
  .close = close_view,
  .rows = rows,
  .cell = ranks_cell,
  .crumb = ranks_crumb,
  .enter = enter,
};

/* ---- two fits ---- */

enum { D_POOL, D_CARD, RANK_A, RANK_B, HOLDOUT_A, HOLDOUT_B, CHANGE, STANDING };

static const em_view_column diff_columns[] = {
  {"pool", "pool", EM_TEXT, "", 50, 0, "key of the pool"},
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card"},
  {"rank_a", "A", EM_INT, "rank", 7, 0, "rank of the best golden by fit A; missing when A does not know the pool"},
  {"rank_b", "B", EM_INT, "rank", 7, 0, "the same by fit B"},
  {"holdout_a", "held out A", EM_INT, "rank", 10, 0, "rank by fit A when the pool's shape was held out"},
  {"holdout_b", "held out B", EM_INT, "rank", 10, 0, "the same by fit B"},
  {"change", "change", EM_REAL, "log2", 7, 2,
   "log2(rank by B / rank by A), held out where both were: below 0 is better; missing when one is"},
  {"standing", "standing", EM_TEXT, "", 9, 0, "\"better\", \"worse\", \"same\", \"only A\" or \"only B\""},
};

static const em_param diff_params[] = {{"a", EM_TEXT, true, FIT_DOC},
                                       {"b", EM_TEXT, true, "the other fit, named in the same ways"}};

static int open_diff(em_cursor *base, const char *const *args, em_err *err) { return open_fits(base, args, 2, err); }

static double change(const pool *p)
{
  const cJSON *const *entry = p->holdout[0] && p->holdout[1] ? p->holdout : p->train;
  return log2((em_metrics_number(entry[1], "rank") + 1) / (em_metrics_number(entry[0], "rank") + 1));
}

static const char *standing(const pool *p)
{
  double d = change(p);
  if (!p->train[0] || !p->train[1]) return p->train[0] ? "only A" : "only B";
  return d < 0 ? "better" : d > 0 ? "worse" : d == 0 ? "same" : NULL;
}

static void diff_cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const pool *p = &((cursor *)base)->items[row];
  switch (column) {
  case D_POOL: em_cell_text(out, p->key); break;
  case D_CARD: em_cell_gpu(out, p->key, strcspn(p->key, "/")); break;
  case RANK_A: em_cell_file_rank(out, em_metrics_number(p->train[0], "rank")); break;
  case RANK_B: em_cell_file_rank(out, em_metrics_number(p->train[1], "rank")); break;
  case HOLDOUT_A: em_cell_file_rank(out, em_metrics_number(p->holdout[0], "rank")); break;
  case HOLDOUT_B: em_cell_file_rank(out, em_metrics_number(p->holdout[1], "rank")); break;
  case CHANGE: em_cell_real(out, change(p)); break;
  default: em_cell_text(out, standing(p));
  }
}

static em_mark diff_mark(em_cursor *base, size_t row)
{
  double d = change(&((cursor *)base)->items[row]);
  return d > 0 ? EM_MARK_ATTENTION : d < 0 ? EM_MARK_GOLDEN : EM_MARK_DIM;
}

static void diff_foot(em_cursor *base, em_str *out)
{
  const cursor *c = (cursor *)base;
  size_t better = 0, worse = 0, same = 0;
  for (size_t i = 0; i < c->n; i++) {
    double d = change(&c->items[i]);
    better += d < 0;
    worse += d > 0;
    same += d == 0;
  }
  em_str_printf(out, "%zu better   %zu worse   %zu same   %zu known to one fit alone", better, worse, same,
                c->n - better - worse - same);
}

static void diff_crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "two fits");
}

const em_view em_view_fit_diff = {
  .name = "fit_diff",
  .title = "two fits",
  .sort = "-change",
  .doc = "Where the golden of each pool ranks after two fits, side by side, and which way it moved.",
  .columns = diff_columns,
  .n_columns = COUNT(diff_columns),
  .params = diff_params,
  .n_params = COUNT(diff_params),
  .size = sizeof(cursor),
  .open = open_diff,
  .close = close_view,
  .rows = rows,
  .cell = diff_cell,
  .mark = diff_mark,
  .foot = diff_foot,
  .crumb = diff_crumb,
  .enter = enter,
};
