/*
 * view_tree_path.c - the way of one candidate through every tree of the prior.
 */
#include <math.h>
#include <string.h>

#include "views/views_int.h"

enum { TREE, LEVEL, FEATURE, VALUE, BORDER, PASSES, LEAF, LEAF_VALUE, LEAF_ROWS };

static const em_view_column columns[] = {
  {"tree", "tree", EM_INT, "", 5, 0, "number of the tree, from 1"},
  {"level", "level", EM_INT, "", 5, 0, "place of the split in its tree, from 1; missing in a tree without splits"},
  {"feature", "feature", EM_TEXT, "", 30, 0, "name of the feature that is compared"},
  {"value", "value", EM_REAL, "", 12, -1, "value of the candidate; missing when it has none"},
  {"border", "border", EM_REAL, "", 12, -1, "the split is true where the value is greater"},
  {"passes", "passes", EM_FLAG, "", 6, 0, "is the split true for the candidate?"},
  {"leaf", "leaf", EM_INT, "", 5, 0, "number of the leaf reached, from 0"},
  {"leaf_value", "leaf value", EM_REAL, "", 10, 4, "what the leaf adds to the quality"},
  {"leaf_rows", "rows", EM_REAL, "rows", 9, -1,
   "training rows (their weight) in the leaf; missing when the model has none"},
};

static const em_param params[] = {
  EM_POOL_PARAM,
  {"candidate", EM_TEXT, false, "a rank, \"pick\" (the default) or \"golden\""},
  EM_PRIOR_PARAM,
};

typedef struct at {
  uint32_t tree, level;
} at;

typedef struct cursor {
  em_cursor base;
  const em_scored *scored;
  size_t row;     /* of the pool */
  int32_t *col;   /* feature of the model -> column of the matrix */
  uint32_t *leaf; /* by tree */
  at *splits;
  size_t n, cap;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_session_release(base->session, c->scored);
  em_free(c->col);
  em_free(c->leaf);
  em_free(c->splits);
}

/* A tree without splits has one row all the same: its leaf counts. */
static int list_splits(cursor *c, em_err *err)
{
  const em_model *m = em_view_model(c->base.session);
  for (size_t tree = 0; tree < em_model_n_trees(m); tree++) {
    em_tree_view t;
    if (!em_model_tree(m, tree, &t))
      return em_fail(err, EM_E_INPUT, "the trees of this prior are not symmetric: their paths have no levels to list");
    size_t n = t.n_splits ? t.n_splits : 1;
    if (em_grow(&c->splits, &c->cap, c->n + n, sizeof *c->splits, err) != EM_OK) return err->code;
    for (size_t i = 0; i < n; i++) c->splits[c->n++] = (at){(uint32_t)tree, (uint32_t)i};
  }
  return EM_OK;
}

static int find_leaves(cursor *c, em_err *err)
{
  const em_columns *names = em_prior_columns(em_session_prior(c->base.session));
  const em_model *m = em_view_model(c->base.session);
  c->col = em_calloc(names->n + 1, sizeof *c->col);
  c->leaf = em_calloc(em_model_n_trees(m) + 1, sizeof *c->leaf);
  if (!c->col || !c->leaf) return em_fail_nomem(err);
  for (size_t i = 0; i < names->n; i++) c->col[i] = (int32_t)em_columns_index(c->scored->cols, names->names[i]);
  em_model_leaves(m, c->scored->matrix + c->row * c->scored->cols->n, c->col, c->leaf);
  return EM_OK;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_pool_open(base->session, args[0], &c->scored, err);
  if (rc == EM_OK) rc = em_pair_candidate(c->scored, args[1] ? args[1] : "pick", &c->row, err);
  if (rc == EM_OK) rc = list_splits(c, err);
  return rc == EM_OK ? find_leaves(c, err) : rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void split_cell(const cursor *c, const em_tree_view *t, at a, size_t column, em_cell *out)
{
  if (a.level >= t->n_splits) {
    em_cell_missing(out);
    return;
  }
  const em_split *s = &t->splits[a.level];
  int32_t col = c->col[s->feature];
  switch (column) {
  case LEVEL: em_cell_int(out, (int64_t)a.level + 1); break;
  case FEATURE: em_cell_text(out, em_prior_columns(em_session_prior(c->base.session))->names[s->feature]); break;
  case VALUE: em_cell_real(out, col < 0 ? NAN : c->scored->matrix[c->row * c->scored->cols->n + (size_t)col]); break;
  case BORDER: em_cell_real(out, (double)s->border); break;
  default: em_cell_flag(out, c->leaf[a.tree] >> a.level & 1);
  }
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  cursor *c = (cursor *)base;
  at a = c->splits[row];
  const em_model *m = em_view_model(base->session);
  em_tree_view t;
  if (!em_model_tree(m, a.tree, &t)) return; /* open_view made sure */
  switch (column) {
  case TREE: em_cell_int(out, (int64_t)a.tree + 1); break;
  case LEAF: em_cell_int(out, c->leaf[a.tree]); break;
  case LEAF_VALUE: em_cell_real(out, em_model_scale(m) * t.leaf_values[c->leaf[a.tree]]); break;
  case LEAF_ROWS: em_cell_real(out, t.leaf_weights ? t.leaf_weights[c->leaf[a.tree]] : NAN); break;
  default: split_cell(c, &t, a, column, out);
  }
}

static void foot(em_cursor *base, em_str *out)
{
  const cursor *c = (cursor *)base;
  em_str_printf(out, "candidate #%u of %zu   quality %.4f", c->scored->rank_of[c->row] + 1, c->scored->n,
                c->scored->quality[c->row]);
}

static void crumb(em_cursor *base, em_str *out) { em_put_crumb(out, ((cursor *)base)->scored, "tree path"); }

const em_view em_view_tree_path = {
  .name = "tree_path",
  .title = "path through the trees",
  .doc =
    "The way of one candidate through every tree of the prior: each split with the candidate's value, the leaf that is "
    "reached and what it adds to the quality.",
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
  .crumb = crumb,
};
