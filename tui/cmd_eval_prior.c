/* cmd_eval_prior.c - emmy eval prior. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/cli.h"

/* ---- summaries: per card, tier and size; the baselines ---- */

/* The columns of the view ranks, up to the last top-k. */
enum { CARD, TIER, SIZE, POOLS, MEDIAN, OPTIMISTIC, LOG2, TOP, N_COLUMNS = TOP + EM_N_TOPS };

typedef struct cells {
  em_eval_cell *all;
  const char *together; /* the word for cards, tiers or sizes that are counted together; NULL = missing */
} cells;

static void get_cell(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const cells *x = ctx;
  const em_eval_cell *c = &x->all[row];
  switch (column) {
  case CARD: em_cell_text(out, *c->gpu ? em_card_short_name(c->gpu) : x->together); break;
  case TIER: em_cell_text(out, *c->tier ? c->tier : x->together); break;
  case SIZE: em_cell_text(out, *c->bucket ? c->bucket : x->together); break;
  case POOLS: em_cell_int(out, (int64_t)c->ranks.pools); break;
  case MEDIAN: em_cell_real(out, c->ranks.median + 1); break;
  case OPTIMISTIC: em_cell_real(out, c->ranks.median_optimistic + 1); break;
  case LOG2: em_cell_real(out, c->ranks.mean_log2); break;
  default: em_cell_int(out, (int64_t)c->ranks.top[column - TOP]);
  }
}

static int print_cells(const em_args *a, const em_eval *e, em_err *err)
{
  cells x = {em_calloc(e->n_cells + 2, sizeof *x.all), em_args_format(a) == EM_FORMAT_CSV ? NULL : "all"};
  if (!x.all) return em_fail_nomem(err);
  memcpy(x.all, e->cells, e->n_cells * sizeof *x.all);
  x.all[e->n_cells] = e->random;
  x.all[e->n_cells].gpu = "baseline: random order";
  x.all[e->n_cells + 1] = e->first_option;
  x.all[e->n_cells + 1].gpu = "baseline: first option";
  em_table t = {em_view_find("ranks")->columns, N_COLUMNS, e->n_cells + 2, get_cell, &x};
  int rc = em_table_print(a, &t, err);
  em_free(x.all);
  return rc;
}

/* ---- the pools ranked worst ---- */

enum { WORST_SHOWN = 20 };
enum { WORST_CARD, POOL, RANK, TIES, ROWS, PICK, GOLDEN };

static const em_view_column worst_columns[] = {
  {"card", "card", EM_TEXT, "", 9, 0, "short name of the card"},
  {"pool", "pool", EM_TEXT, "", 40, 0, "label of the pool, or its name"},
  {"golden_rank", "golden", EM_INT, "rank", 7, 0, "rank of its best golden, ties against it"},
  {"ties", "ties", EM_INT, "candidates", 5, 0, "other candidates with the golden's quality"},
  {"candidates", "of", EM_INT, "candidates", 8, 0, "candidates that the dataset holds"},
  {"pick", "pick", EM_TEXT, "", 50, 0, "what the prior takes"},
  {"best_golden", "golden row", EM_TEXT, "", 50, 0, "the golden of that rank"},
};

typedef struct worst {
  const em_dataset *d;
  em_eval_pool *pools;
} worst;

void em_dataset_row_cell(const em_dataset *d, size_t group, size_t row, em_cell *out)
{
  const char *text;
  size_t len, word;
  em_err err;
  em_str used = {0};
  if (em_dataset_row(d, group, row, &text, &len, &err) != EM_OK) {
    em_cell_missing(out);
    return;
  }
  for (size_t at = 0; at < len; at += word + 1) {
    const char *blank = memchr(text + at, ' ', len - at);
    word = blank ? (size_t)(blank - (text + at)) : len - at;
    if (word == 0 || text[at + word - 1] == '=') continue;
    if (used.len) em_str_putc(&used, ' ');
    em_str_putn(&used, text + at, word);
  }
  em_cell_printf(out, "%s", used.s ? used.s : "-");
  em_str_free(&used);
}

static void get_worst(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const worst *w = ctx;
  const em_eval_pool *p = &w->pools[row];
  const em_group *g = em_dataset_group(w->d, p->group);
  switch (column) {
  case WORST_CARD: em_cell_text(out, em_card_short_name(g->gpu)); break;
  case POOL: em_cell_text(out, g->label && *g->label ? g->label : g->name); break;
  case RANK: em_cell_int(out, (int64_t)p->rank.against + 1); break;
  case TIES: em_cell_int(out, (int64_t)p->rank.plateau); break;
  case ROWS: em_cell_int(out, (int64_t)p->rows); break;
  case PICK: em_dataset_row_cell(w->d, p->group, p->pick, out); break;
  default: em_dataset_row_cell(w->d, p->group, p->rank.best, out);
  }
}

/* Worst first; equals in the order of the dataset. */
static int by_rank(const void *a, const void *b)
{
  const em_eval_pool *x = a, *y = b;
  if (x->rank.against != y->rank.against) return x->rank.against < y->rank.against ? 1 : -1;
  return (x->group > y->group) - (x->group < y->group);
}

static int print_worst(const em_args *a, const em_eval *e, const em_dataset *d, em_err *err)
{
  worst w = {d, em_calloc(e->n_pools + 1, sizeof *w.pools)};
  size_t n = 0;
  if (!w.pools) return em_fail_nomem(err);
  memcpy(w.pools, e->pools, e->n_pools * sizeof *w.pools);
  qsort(w.pools, e->n_pools, sizeof *w.pools, by_rank);
  while (n < e->n_pools && n < WORST_SHOWN && w.pools[n].rank.against > 0) n++;
  em_table t = {worst_columns, sizeof worst_columns / sizeof *worst_columns, n, get_worst, &w};
  int rc = em_section_print(a, "pools ranked worst", &t, err);
  em_free(w.pools);
  return rc;
}

/* ---- what was left out, by reason ---- */

static const em_view_column golden_rows = {"golden_rows", "golden rows", EM_INT, "", 11, 0, "how many"};
static const em_view_column measured_rows = {"measured_rows", "measured rows", EM_INT, "", 13, 0, "how many"};
static const em_view_column reason = {"reason", "reason", EM_TEXT, "", 60, 0, "why"};

static void get_reason(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const em_reason *r = (const em_reason *)ctx + row;
  if (column == 0)
    em_cell_int(out, (int64_t)r->count);
  else
    em_cell_text(out, r->reason);
}

int em_print_dropped(const em_args *a, const em_dataset *d, bool measured, em_err *err)
{
  const em_view_column of_reason[] = {measured ? measured_rows : golden_rows, reason};
  em_table t = {.columns = of_reason, .n_columns = 2, .get = get_reason};
  t.ctx = em_dataset_dropped(d, measured, &t.n_rows);
  return em_section_print(
    a, measured ? "measured rows dropped, by reason" : "skipped, by reason (emmy view skipped lists them)", &t, err);
}

/* ---- the features that the trees use ---- */

enum { COLUMN, SPLITS, BORDERS, GROUPS, UNIT, FORMULA };

static const em_view_column used_columns[] = {
  {"column", "column", EM_TEXT, "", 28, 0, "column of the prior"},
  {"splits", "splits", EM_INT, "splits", 7, 0, "splits of the trees on it"},
  {"borders", "borders", EM_INT, "borders", 7, 0, "different thresholds among them"},
  {"groups", "groups", EM_INT, "groups", 7, 0, "groups of the dataset that have the column"},
  {"unit", "unit", EM_TEXT, "", 10, 0, "its unit"},
  {"formula", "formula", EM_TEXT, "", 60, 0, "what it is"},
};

typedef struct used {
  const em_columns *cols;
  const em_model *model;
  const em_dataset *d;
  size_t *splits;
} used;

static void get_used(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const used *u = ctx;
  const char *name = u->cols->names[row];
  const em_feature *f = em_feature_find(name);
  size_t n;
  switch (column) {
  case COLUMN: em_cell_text(out, name); break;
  case SPLITS: em_cell_int(out, (int64_t)u->splits[row]); break;
  case BORDERS:
    em_model_borders(u->model, row, &n);
    em_cell_int(out, (int64_t)n);
    break;
  case GROUPS: em_cell_int(out, (int64_t)em_dataset_groups_with(u->d, name)); break;
  case UNIT: em_cell_text(out, f ? f->unit : NULL); break;
  default: em_cell_text(out, f ? f->doc : NULL);
  }
}

static int print_used(const em_args *a, const em_prior *prior, const em_dataset *d, em_err *err)
{
  used u = {em_prior_columns(prior), em_prior_model(prior), d, NULL};
  u.splits = em_calloc(u.cols->n + 1, sizeof *u.splits);
  if (!u.splits) return em_fail_nomem(err);
  em_model_count_splits(u.model, u.splits);
  em_table t = {used_columns, sizeof used_columns / sizeof *used_columns, u.cols->n, get_used, &u};
  int rc = em_section_print(a, "features", &t, err);
  em_free(u.splits);
  return rc;
}

static void warn_of_lacking(const em_prior *prior, const em_dataset *d)
{
  enum { NAMED = 5 };
  const em_columns *cols = em_prior_columns(prior);
  size_t lacking = 0;
  em_str names = {0};
  for (size_t i = 0; i < cols->n; i++)
    if (em_eval_lacks(d, prior, i) && lacking++ < NAMED)
      em_str_printf(&names, "%s%s", names.len ? ", " : "", cols->names[i]);
  if (lacking)
    em_warn(
      "%s lacks %zu of the columns that the prior splits on, which count as missing values: %s%s (--features lists all)",
      em_dataset_path(d), lacking, names.s ? names.s : "", lacking > NAMED ? ", ..." : "");
  em_str_free(&names);
}

/* ---- the report ---- */

/* What was asked for; a half that was not is NULL. */
typedef struct report {
  const em_dataset *d;
  const em_prior *prior;
  const em_eval *golden;
  const em_eval_measured *measured;
} report;

static int write_json(const char *path, const report *r, em_err *err)
{
  char *text;
  em_out *out;
  int rc = em_eval_json(r->golden, r->measured, r->d, r->prior, &text, err);
  if (rc != EM_OK) return rc;
  rc = em_out_open(path, &out, err);
  if (rc == EM_OK) {
    em_out_write(out, text, strlen(text));
    rc = em_out_commit(out, err);
    if (rc != EM_OK) em_out_abort(out);
  }
  em_free(text);
  return rc;
}

static int print_golden(const em_args *a, const em_eval *e, const em_dataset *d, em_err *err)
{
  int rc = print_cells(a, e, err);
  if (rc != EM_OK || !em_is_text_table(a)) return rc;
  rc = print_worst(a, e, d, err);
  return rc == EM_OK ? em_print_dropped(a, d, false, err) : rc;
}

static int print_report(const em_args *a, const report *r, em_err *err)
{
  int rc = r->golden ? print_golden(a, r->golden, r->d, err) : EM_OK;
  if (rc == EM_OK && r->measured) rc = em_print_eval_measured(a, r->measured, r->d, err);
  return rc == EM_OK && em_is_text_table(a) && a->opt[EM_OPT_USED].set ? print_used(a, r->prior, r->d, err) : rc;
}

static int load_prior(const em_args *a, em_prior **out, em_err *err)
{
  char *path = NULL;
  int rc = EM_OK;
  if (!a->opt[EM_OPT_PRIOR].text) rc = em_data_path("prior/schedule.json", &path, err);
  if (rc != EM_OK) return rc;
  rc = em_prior_load(path ? path : a->opt[EM_OPT_PRIOR].text, em_args_feat_ver(a), out, err);
  em_free(path);
  return rc;
}

/* Nothing to report on is an error, unless one asked for golden pools and there are none at all. */
static int check_found(const em_args *a, const report *r, em_err *err)
{
  const char *kernel = a->opt[EM_OPT_KERNEL].text, *half = !r->measured ? "golden " : !r->golden ? "measured " : "";
  if ((r->golden && r->golden->n_pools) || (r->measured && r->measured->n_pools)) return EM_OK;
  if (kernel)
    return em_fail(err, EM_E_INPUT, "%s: no %spool's name or label contains \"%s\"", em_dataset_path(r->d), half,
                   kernel);
  if (r->golden) return EM_OK;
  return em_fail(err, EM_E_INPUT,
                 "%s: no measured pools: the store that it was exported from holds no rows but goldens; --pools golden "
                 "ranks those",
                 em_dataset_path(r->d));
}

enum { GOLDEN_POOLS = 1, MEASURED_POOLS = 2 };

static int evaluate(const em_args *a, int pools, const em_dataset *d, const em_prior *prior, em_err *err)
{
  em_eval golden = {0};
  em_eval_measured measured = {0};
  report r = {d, prior, pools & GOLDEN_POOLS ? &golden : NULL, pools & MEASURED_POOLS ? &measured : NULL};
  const char *kernel = a->opt[EM_OPT_KERNEL].text;
  int threads = (int)a->opt[EM_OPT_THREADS].i, rc = EM_OK;
  if (r.golden) rc = em_eval_golden(d, prior, kernel, threads, em_cli_progress(), &golden, err);
  if (rc == EM_OK && r.measured)
    rc = em_eval_measured_pools(d, prior, kernel, threads, em_cli_progress(), &measured, err);
  em_cli_progress_end();
  if (rc == EM_OK) rc = check_found(a, &r, err);
  if (rc == EM_OK && a->opt[EM_OPT_JSON_FILE].text) rc = write_json(a->opt[EM_OPT_JSON_FILE].text, &r, err);
  if (rc == EM_OK) rc = print_report(a, &r, err);
  em_eval_free(&golden);
  em_eval_measured_free(&measured);
  return rc;
}

static int pools_asked_for(const char *text, int *out, em_err *err)
{
  *out = !strcmp(text, "golden")     ? GOLDEN_POOLS
         : !strcmp(text, "measured") ? MEASURED_POOLS
         : !strcmp(text, "both")     ? GOLDEN_POOLS | MEASURED_POOLS
                                     : 0;
  if (*out) return EM_OK;
  return em_fail(err, EM_E_USAGE, "eval prior: --pools takes golden, measured or both, got \"%s\"", text);
}

int em_cmd_eval_prior(const em_args *a, em_err *err)
{
  em_dataset *d;
  em_prior *prior = NULL;
  int pools, rc = pools_asked_for(a->opt[EM_OPT_POOLS].text, &pools, err);
  if (rc == EM_OK) rc = em_dataset_open(a->words[0], em_args_feat_ver(a), &d, err);
  if (rc != EM_OK) return rc;
  if (a->opt[EM_OPT_JSON_FILE].text) rc = em_check_outside(a->opt[EM_OPT_JSON_FILE].text, a->words[0], err);
  if (rc == EM_OK) rc = load_prior(a, &prior, err);
  if (rc == EM_OK) warn_of_lacking(prior, d);
  if (rc == EM_OK) rc = evaluate(a, pools, d, prior, err);
  em_prior_free(prior);
  em_dataset_close(d);
  return rc;
}
