/*
 * view_trees.c - the trees of the prior, one a row.
 */
#include <math.h>

#include "views/views_int.h"

enum { TREE, DEPTH, SPLITS, LEAST, MOST, SPREAD, ROWS, LEAVES, EMPTY };

static const em_view_column columns[] = {
  {"tree", "tree", EM_INT, "", 5, 0, "number of the tree, from 1"},
  {"depth", "depth", EM_INT, "splits", 5, 0,
   "its splits; missing, as all that follows, when the tree is not symmetric"},
  {"splits", "splits", EM_TEXT, "", 60, 0,
   "what each split asks, in the order of the levels; unused when there is none"},
  {"least_value", "least", EM_REAL, "", 9, 4, "least leaf value, times the scale of the model"},
  {"most_value", "most", EM_REAL, "", 9, 4, "greatest leaf value, times the scale of the model"},
  {"spread", "spread", EM_REAL, "", 9, 4, "greatest minus least: the most that the tree can move two candidates apart"},
  {"training_rows", "rows", EM_REAL, "rows", 9, -1,
   "training rows (their weight) of the tree; missing when the model has none"},
  {"leaves", "leaves", EM_INT, "leaves", 6, 0, "its leaves"},
  {"empty_leaves", "empty", EM_INT, "leaves", 6, 0,
   "leaves that no training row fell in: what they say was not learned; missing when the model has no rows"},
};

static const em_param params[] = {EM_PRIOR_PARAM};

typedef struct cursor {
  em_cursor base;
  em_arena *arena;
  const char **splits; /* by tree; NULL = not symmetric */
} cursor;

void em_tree_figures_of(const em_model *m, const em_tree_view *t, em_tree_figures *out)
{
  *out = (em_tree_figures){.leaves = (size_t)1 << t->n_splits, .least = INFINITY, .most = -INFINITY, .rows = NAN};
  if (t->leaf_weights) out->rows = 0;
  for (size_t i = 0; i < out->leaves; i++) {
    double value = em_model_scale(m) * t->leaf_values[i];
    out->least = fmin(out->least, value);
    out->most = fmax(out->most, value);
    if (!t->leaf_weights) continue;
    out->rows += t->leaf_weights[i];
    out->empty += t->leaf_weights[i] == 0;
  }
}

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_arena_free(c->arena);
  em_free(c->splits);
}

/* "D_threads>48 D_cells>3.5" */
static int spell(cursor *c, size_t tree, em_str *text, em_err *err)
{
  const em_columns *names = em_prior_columns(em_session_prior(c->base.session));
  em_tree_view t;
  if (!em_model_tree(em_view_model(c->base.session), tree, &t)) return EM_OK;
  em_str_clear(text);
  em_str_put(text, "");
  for (size_t i = 0; i < t.n_splits; i++)
    em_str_printf(text, "%s%s>%g", i ? " " : "", names->names[t.splits[i].feature], (double)t.splits[i].border);
  c->splits[tree] = text->failed ? NULL : em_arena_strdup(c->arena, text->s);
  return c->splits[tree] ? EM_OK : em_fail_nomem(err);
}

static int spell_all(cursor *c, em_err *err)
{
  size_t n = em_model_n_trees(em_view_model(c->base.session));
  em_str text = {0};
  c->arena = em_arena_new();
  c->splits = em_calloc(n + 1, sizeof *c->splits);
  int rc = c->arena && c->splits ? EM_OK : em_fail_nomem(err);
  for (size_t i = 0; i < n && rc == EM_OK; i++) rc = spell(c, i, &text, err);
  em_str_free(&text);
  return rc;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  (void)args;
  return spell_all((cursor *)base, err);
}

static size_t rows(em_cursor *base) { return em_model_n_trees(em_view_model(base->session)); }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const char *splits = ((cursor *)base)->splits[row];
  em_tree_view t;
  em_tree_figures f;
  em_cell_missing(out);
  if (column == TREE) em_cell_int(out, (int64_t)row + 1);
  if (column == TREE || !em_model_tree(em_view_model(base->session), row, &t)) return;
  em_tree_figures_of(em_view_model(base->session), &t, &f);
  switch (column) {
  case DEPTH: em_cell_int(out, (int64_t)t.n_splits); break;
  case SPLITS: em_cell_text_or_unused(out, splits); break;
  case LEAST: em_cell_real(out, f.least); break;
  case MOST: em_cell_real(out, f.most); break;
  case SPREAD: em_cell_real(out, f.most - f.least); break;
  case ROWS: em_cell_real(out, f.rows); break;
  case LEAVES: em_cell_int(out, (int64_t)f.leaves); break;
  default:
    if (t.leaf_weights) em_cell_int(out, (int64_t)f.empty);
  }
}

/* Of what is not known, the leaves of trees without levels and weights that the model lacks, nothing is said. */
static void foot(em_cursor *base, em_str *out)
{
  size_t leaves = 0, empty = 0, n = rows(base), symmetric = 0, weighed = 0;
  for (size_t i = 0; i < n; i++) {
    em_tree_view t;
    em_tree_figures f;
    if (!em_model_tree(em_view_model(base->session), i, &t)) continue;
    em_tree_figures_of(em_view_model(base->session), &t, &f);
    symmetric++;
    weighed += t.leaf_weights != NULL;
    leaves += f.leaves;
    empty += f.empty;
  }
  em_put_count(out, n, "tree", "trees");
  if (symmetric < n) em_str_printf(out, ", %zu of them not symmetric", n - symmetric);
  if (symmetric) em_str_printf(out, ", %zu leaves", leaves);
  if (symmetric && weighed == symmetric) em_str_printf(out, ", %zu of them without a training row", empty);
}

static void crumb(em_cursor *base, em_str *out) { em_str_put_safe(out, em_session_prior_path(base->session)); }

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  char tree[24];
  snprintf(tree, sizeof tree, "%zu", row + 1);
  return ((cursor *)base)->splits[row] && em_target_set(out, "splits", NULL, tree, NULL);
}

static size_t estimate(em_session *s, const char *const *args)
{
  return args[0] ? SIZE_MAX : em_model_n_trees(em_view_model(s));
}

const em_view em_view_trees = {
  .name = "trees",
  .title = "trees of the prior",
  .doc =
    "The trees of the prior, one a row: what they ask, the range of their leaf values, and how many training rows they rest on.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .key = "tree",
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .foot = foot,
  .crumb = crumb,
  .enter = enter,
  .estimate = estimate,
};
