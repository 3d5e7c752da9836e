/*
 * view_splits.c - the splits of the prior's trees.
 */
#include <math.h>
#include <string.h>

#include "views/views_int.h"

enum { TREE, LEVEL, FEATURE, BORDER, UNIT, DEPTH, LEAST, MOST, ROWS };

static const em_view_column columns[] = {
  {"tree", "tree", EM_INT, "", 5, 0, "number of the tree, from 1"},
  {"level", "level", EM_INT, "", 5, 0,
   "place of the split in its tree, from 1; it is bit level - 1 of the leaf's number"},
  {"feature", "feature", EM_TEXT, "", 30, 0, "name of the feature that is compared"},
  {"border", "border", EM_REAL, "", 12, -1, "the split is true where the value is greater"},
  {"unit", "unit", EM_TEXT, "", 10, 0, "unit of the feature; unused when it has none"},
  {"depth", "depth", EM_INT, "splits", 5, 0, "splits of the whole tree"},
  {"least_value", "least", EM_REAL, "", 9, 4, "least leaf value of the tree, times the scale of the model"},
  {"most_value", "most", EM_REAL, "", 9, 4, "greatest leaf value of the tree, times the scale of the model"},
  {"training_rows", "rows", EM_REAL, "rows", 9, -1,
   "training rows (their weight) of the tree; missing when the model has none"},
};

enum { PRIOR_ARG, TREE_ARG };
static const em_param params[] = {EM_PRIOR_PARAM, {"tree", EM_INT, false, "only this tree, from 1"}};

typedef struct at {
  uint32_t tree, level;
} at;

typedef struct cursor {
  em_cursor base;
  at *splits;
  size_t n, cap;
} cursor;

static void close_view(em_cursor *base) { em_free(((cursor *)base)->splits); }

static int add_tree(cursor *c, size_t tree, em_err *err)
{
  em_tree_view t;
  if (!em_model_tree(em_view_model(c->base.session), tree, &t))
    return em_fail(err, EM_E_INPUT, "the trees of this prior are not symmetric: they have no levels to list");
  if (em_grow(&c->splits, &c->cap, c->n + t.n_splits, sizeof *c->splits, err) != EM_OK) return err->code;
  for (size_t i = 0; i < t.n_splits; i++) c->splits[c->n++] = (at){(uint32_t)tree, (uint32_t)i};
  return EM_OK;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  em_session *s = base->session;
  size_t n = em_model_n_trees(em_view_model(s));
  int64_t only = 0;
  if (args[TREE_ARG] && !em_parse_i64(args[TREE_ARG], 1, (int64_t)n, &only))
    return em_fail(err, EM_E_USAGE, "\"%s\" is no tree of the prior: give a number from 1 to %zu", args[TREE_ARG], n);
  int rc = only ? add_tree(c, (size_t)only - 1, err) : EM_OK;
  for (size_t t = 0; !only && t < n && rc == EM_OK; t++) rc = add_tree(c, t, err);
  return rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  at a = ((cursor *)base)->splits[row];
  em_tree_view t;
  em_tree_figures figures;
  if (!em_model_tree(em_view_model(base->session), a.tree, &t)) return; /* open_view made sure */
  em_tree_figures_of(em_view_model(base->session), &t, &figures);
  const char *name = em_prior_columns(em_session_prior(base->session))->names[t.splits[a.level].feature];
  const em_feature *f = em_feature_find(name);
  switch (column) {
  case TREE: em_cell_int(out, (int64_t)a.tree + 1); break;
  case LEVEL: em_cell_int(out, (int64_t)a.level + 1); break;
  case FEATURE: em_cell_text(out, name); break;
  case BORDER: em_cell_real(out, (double)t.splits[a.level].border); break;
  case UNIT:
    if (f)
      em_cell_text_or_unused(out, f->unit);
    else
      em_cell_missing(out);
    break;
  case DEPTH: em_cell_int(out, (int64_t)t.n_splits); break;
  case LEAST: em_cell_real(out, figures.least); break;
  case MOST: em_cell_real(out, figures.most); break;
  default: em_cell_real(out, figures.rows);
  }
}

static void foot(em_cursor *base, em_str *out)
{
  em_put_count(out, em_model_n_trees(em_view_model(base->session)), "tree", "trees");
  em_str_put(out, ", ");
  em_put_count(out, ((cursor *)base)->n, "split", "splits");
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  at a = ((cursor *)base)->splits[row];
  em_tree_view t;
  if (!em_model_tree(em_view_model(base->session), a.tree, &t)) return;
  const char *name = em_prior_columns(em_session_prior(base->session))->names[t.splits[a.level].feature];
  const em_feature *f = em_feature_find(name);
  em_str_put_safe(out, name);
  if (f) em_str_printf(out, ": %s", f->doc);
}

static void crumb(em_cursor *base, em_str *out)
{
  em_str_put_safe(out, em_session_prior_path(base->session));
  em_str_put(out, " / splits");
}

const em_view em_view_splits = {
  .name = "splits",
  .title = "splits of the prior",
  .doc = "The splits of the prior's trees, in the order of the trees: which feature is compared with which border.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .foot = foot,
  .sentence = sentence,
  .crumb = crumb,
};
