/*
 * view_tree_diff.c - the same difference by tree: where each tree sends two candidates, and on how many training rows
 * the two leaves rest.
 */
#include <math.h>

#include "views/views_int.h"

enum { TREE, PREFERS, PART, BAR, WEIGHT_A, WEIGHT_B, PARTED, NOTES, LEAF_A, LEAF_B, VALUE_A, VALUE_B, DEPTH };

static const em_view_column columns[] = {
  {"tree", "tree", EM_INT, "", 5, 0, "number of the tree, from 1"},
  {"prefers", "prefers", EM_TEXT, "", 7, 0, "the candidate that the tree speaks for"},
  {"quality", "quality", EM_REAL, "", 8, 4, "part of the difference in quality, A minus B"},
  {"bar", "", EM_TEXT, "", 16, 0, "the same as a bar against the largest part: '=' for A, '-' for B"},
  {"rows_a", "rows A", EM_REAL, "rows", 8, -1, "training rows (their weight) in the leaf of the first candidate"},
  {"rows_b", "rows B", EM_REAL, "rows", 8, -1, "training rows (their weight) in the leaf of the second candidate"},
  {"parted_by", "parted by", EM_TEXT, "", 30, 0, "features of the splits that the two answer differently"},
  {"notes", "notes", EM_TEXT, "", 24, 0, "what needs attention: a leaf that rests on few rows or none"},
  {"leaf_a", "leaf A", EM_INT, "", 6, 0, "leaf of the first candidate, from 0"},
  {"leaf_b", "leaf B", EM_INT, "", 6, 0, "leaf of the second candidate, from 0"},
  {"value_a", "value A", EM_REAL, "", 8, 4, "what its leaf adds to the quality of the first candidate"},
  {"value_b", "value B", EM_REAL, "", 8, 4, "what its leaf adds to the quality of the second candidate"},
  {"depth", "depth", EM_INT, "splits", 0, 0, "splits on the first candidate's path"},
};

typedef struct cursor {
  em_cursor base;
  em_pair pair;
  em_pair_parts parts;
  uint32_t *order; /* row of the view -> tree, the largest part first */
  int32_t *col;    /* feature of the model -> column of the pool's matrix */
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_pair_close(base->session, &c->pair);
  em_pair_parts_free(&c->parts);
  em_free(c->order);
  em_free(c->col);
}

static int prepare(cursor *c, em_err *err)
{
  const em_model *m = em_view_model(c->base.session);
  if (em_pair_explain(c->base.session, &c->pair, &c->parts, err) != EM_OK) return err->code;
  c->order = em_order_by_size(c->parts.trees, em_model_n_trees(m));
  c->col = em_calloc(em_model_n_features(m) + 1, sizeof *c->col);
  if (!c->order || !c->col) return em_fail_nomem(err);
  em_prior_map(em_session_prior(c->base.session), c->pair.scored->cols, c->col);
  return EM_OK;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_pair_open(base->session, args, &c->pair, err);
  return rc == EM_OK ? prepare(c, err) : rc;
}

static size_t rows(em_cursor *base) { return em_model_n_trees(em_view_model(base->session)); }

static size_t path_of(em_cursor *base, size_t tree, size_t row, em_step *steps, em_leaf *leaf)
{
  cursor *c = (cursor *)base;
  const em_scored *sc = c->pair.scored;
  return em_model_path(em_view_model(base->session), tree, sc->matrix + row * sc->cols->n, c->col, steps, leaf);
}

/* Each feature once, in the order of the splits.  Paths of another tree share no step beyond their parting. */
static void parted_cell(em_cursor *base, size_t tree, em_cell *out)
{
  cursor *c = (cursor *)base;
  const em_columns *names = em_prior_columns(em_session_prior(base->session));
  em_step a[EM_MAX_STEPS], b[EM_MAX_STEPS];
  em_leaf leaf;
  size_t n = path_of(base, tree, c->pair.a, a, &leaf), m = path_of(base, tree, c->pair.b, b, &leaf), len = 0;
  out->buf[0] = '\0';
  for (size_t i = 0; i < n && i < m && len < sizeof out->buf; i++) {
    bool same_split = a[i].feature == b[i].feature && a[i].border == b[i].border, said = false;
    if (!same_split) break;
    if (a[i].above == b[i].above) continue;
    for (size_t k = 0; k < i; k++) said |= a[k].feature == a[i].feature && a[k].above != b[k].above;
    if (!said)
      len += (size_t)snprintf(out->buf + len, sizeof out->buf - len, "%s%s", len ? " " : "",
                              names->names[a[i].feature]);
  }
  em_cell_text(out, len ? out->buf : NULL);
}

#define FEW 10 /* training rows: fewer say little */

static void notes_cell(const em_leaf *a, const em_leaf *b, em_cell *out)
{
  bool few_a = a->weight < FEW, few_b = b->weight < FEW;
  if (few_a && few_b)
    em_cell_printf(out, "both on %g and %g rows", a->weight, b->weight);
  else if (few_a || few_b)
    em_cell_printf(out, "%c rests on %g rows", few_a ? 'A' : 'B', few_a ? a->weight : b->weight);
  else
    em_cell_text(out, NULL);
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  cursor *c = (cursor *)base;
  size_t tree = c->order[row];
  em_leaf a, b;
  size_t depth = path_of(base, tree, c->pair.a, NULL, &a);
  path_of(base, tree, c->pair.b, NULL, &b);
  switch (column) {
  case TREE: em_cell_int(out, (int64_t)tree + 1); break;
  case PREFERS: em_cell_prefers(out, c->parts.trees[tree]); break;
  case PART: em_cell_real(out, c->parts.trees[tree]); break;
  case BAR: em_cell_bar(out, c->parts.trees[tree], fabs(c->parts.trees[c->order[0]])); break;
  case LEAF_A: em_cell_int(out, a.index); break;
  case LEAF_B: em_cell_int(out, b.index); break;
  case VALUE_A: em_cell_real(out, a.value); break;
  case VALUE_B: em_cell_real(out, b.value); break;
  case WEIGHT_A: em_cell_real(out, a.weight); break;
  case WEIGHT_B: em_cell_real(out, b.weight); break;
  case PARTED: parted_cell(base, tree, out); break;
  case NOTES: notes_cell(&a, &b, out); break;
  default: em_cell_int(out, (int64_t)depth);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  cursor *c = (cursor *)base;
  em_cell notes;
  cell(base, row, NOTES, &notes);
  if (c->parts.trees[c->order[row]] == 0) return EM_MARK_DIM;
  return notes.state == EM_CELL_VALUE ? EM_MARK_ATTENTION : EM_MARK_NONE;
}

static void head(em_cursor *base, em_str *out) { em_pair_head(base->session, &((cursor *)base)->pair, out); }

static void foot(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  size_t n[2] = {0}, trees = rows(base);
  double sum[2] = {0};
  for (size_t t = 0; t < trees; t++) {
    double part = c->parts.trees[t];
    if (part == 0) continue;
    n[part < 0]++;
    sum[part < 0] += part;
  }
  em_put_count(out, trees, "tree", "trees");
  em_str_printf(out, "   for A: %zu (%+.4f)   for B: %zu (%+.4f)   same leaf or value: %zu", n[0], sum[0], n[1], sum[1],
                trees - n[0] - n[1]);
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  cursor *c = (cursor *)base;
  double part = c->parts.trees[c->order[row]];
  em_str_printf(out, "tree %u moves ", c->order[row] + 1);
  if (part == 0)
    em_str_put(out, "neither");
  else
    em_str_printf(out, "%s by %.4f", part > 0 ? "A over B" : "B over A", fabs(part));
}

static void crumb(em_cursor *base, em_str *out) { em_pair_crumb(&((cursor *)base)->pair, out); }

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  cursor *c = (cursor *)base;
  char tree[24];
  snprintf(tree, sizeof tree, "%u", c->order[row] + 1);
  return em_pair_target(&c->pair, "tree", tree, out);
}

static bool turn(em_cursor *base, em_target *out)
{
  return em_pair_target(&((cursor *)base)->pair, "features", NULL, out);
}

static bool swap(em_cursor *base, em_target *out)
{
  return em_pair_swap(&((cursor *)base)->pair, "tree_diff", NULL, out);
}

const em_view em_view_tree_diff = {
  .name = "tree_diff",
  .title = "trees",
  .doc =
    "The difference in quality between two candidates of a pool by tree: which trees prefer which, the leaves the two fall in, and how "
    "many training rows those leaves rest on.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = em_pair_params,
  .n_params = COUNT(em_pair_params),
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .mark = mark,
  .head = head,
  .foot = foot,
  .sentence = sentence,
  .crumb = crumb,
  .enter = enter,
  .swap = swap,
  .turn = turn,
};
