/*
 * view_tree.c - one tree as two candidates go through it: its splits, their values and answers, and where they part.
 */
#include <math.h>

#include "views/views_int.h"

enum { STEP, FEATURE, BORDER, A, ANSWER_A, B, ANSWER_B, PART, UNIT, DOC };

static const em_view_column columns[] = {
  {"step", "step", EM_INT, "", 4, 0, "number of the split, from 1"},
  {"feature", "feature", EM_TEXT, "", 24, 0, "feature that is asked about: is its value above the border?"},
  {"border", "> border", EM_REAL, "", 10, -1,
   "border; one at the end of the number range asks whether there is a value"},
  {"a", "A", EM_REAL, "", 9, -1, "value in the first candidate"},
  {"answer_a", "A", EM_TEXT, "", 4, 0, "\"yes\" when it is above; missing where the first candidate does not come by"},
  {"b", "B", EM_REAL, "", 9, -1, "value in the second candidate"},
  {"answer_b", "B", EM_TEXT, "", 4, 0, "\"yes\" when it is above; missing where the second candidate does not come by"},
  {"part", "part", EM_TEXT, "", 10, 0, "\"they part\" where the two answer differently"},
  {"unit", "unit", EM_TEXT, "", 10, 0, "unit"},
  {"doc", "doc", EM_TEXT, "", 0, 0, "formula in words"},
};

/* A split that one of the two meets, or both. */
typedef struct meeting {
  em_step a, b;
  bool by_a, by_b;
} meeting;

typedef struct cursor {
  em_cursor base;
  em_pair pair;
  em_pair_parts parts;
  uint32_t *order;    /* trees, the largest part first */
  size_t tree, place; /* and its place in `order` */
  em_leaf leaf_a, leaf_b;
  meeting steps[2 * EM_MAX_STEPS];
  size_t n_steps, depth;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_pair_close(base->session, &c->pair);
  em_pair_parts_free(&c->parts);
  em_free(c->order);
}

static int find_tree(cursor *c, const char *arg, em_err *err)
{
  size_t n = em_model_n_trees(em_view_model(c->base.session));
  int64_t number;
  if (n == 0) return em_fail(err, EM_E_INPUT, "%s: the model has no tree", em_session_prior_path(c->base.session));
  if (!arg)
    number = c->order[0] + 1;
  else if (!em_parse_i64(arg, 1, (int64_t)n, &number))
    return em_fail(err, EM_E_USAGE, "\"%s\" is no tree: the prior has trees 1 to %zu", arg, n);
  c->tree = (size_t)number - 1;
  while (c->order[c->place] != c->tree) c->place++;
  return EM_OK;
}

/* Both together as long as they meet the same splits; then A's way, then B's. */
static void merge(cursor *c, const em_step *a, size_t n_a, const em_step *b, size_t n_b)
{
  bool oblivious = em_model_tree(em_view_model(c->base.session), c->tree, &(em_tree_view){0}), together = true;
  size_t i = 0;
  for (; i < n_a && i < n_b && together; i++) {
    c->steps[c->n_steps++] = (meeting){a[i], b[i], true, true};
    together = oblivious || a[i].above == b[i].above;
  }
  for (size_t k = i; k < n_a; k++) c->steps[c->n_steps++] = (meeting){.a = a[k], .by_a = true};
  for (size_t k = i; k < n_b; k++) c->steps[c->n_steps++] = (meeting){.b = b[k], .by_b = true};
}

static int walk(cursor *c, em_err *err)
{
  const em_scored *sc = c->pair.scored;
  const em_model *m = em_view_model(c->base.session);
  em_step a[EM_MAX_STEPS], b[EM_MAX_STEPS];
  int32_t *col = em_calloc(em_model_n_features(m) + 1, sizeof *col);
  if (!col) return em_fail_nomem(err);
  em_prior_map(em_session_prior(c->base.session), sc->cols, col);
  size_t n_a = em_model_path(m, c->tree, sc->matrix + c->pair.a * sc->cols->n, col, a, &c->leaf_a);
  size_t n_b = em_model_path(m, c->tree, sc->matrix + c->pair.b * sc->cols->n, col, b, &c->leaf_b);
  em_free(col);
  c->depth = n_a > n_b ? n_a : n_b;
  merge(c, a, n_a, b, n_b);
  return EM_OK;
}

static int prepare(cursor *c, const char *tree, em_err *err)
{
  if (em_pair_explain(c->base.session, &c->pair, &c->parts, err) != EM_OK) return err->code;
  c->order = em_order_by_size(c->parts.trees, em_model_n_trees(em_view_model(c->base.session)));
  if (!c->order) return em_fail_nomem(err);
  if (find_tree(c, tree, err) != EM_OK) return err->code;
  return walk(c, err);
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_pair_open(base->session, args, &c->pair, err);
  return rc == EM_OK ? prepare(c, args[EM_PAIR_PARAMS], err) : rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n_steps; }

static bool they_part(const meeting *m) { return m->by_a && m->by_b && m->a.above != m->b.above; }

static void answer_cell(const em_step *s, bool met, em_cell *out)
{
  em_cell_text(out, !met ? NULL : s->above ? "yes" : "no");
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const meeting *m = &((cursor *)base)->steps[row];
  const em_step *any = m->by_a ? &m->a : &m->b;
  const char *name = em_prior_columns(em_session_prior(base->session))->names[any->feature];
  const em_feature *f = em_feature_find(name);
  switch (column) {
  case STEP: em_cell_int(out, (int64_t)row + 1); break;
  case FEATURE: em_cell_text(out, name); break;
  case BORDER: em_cell_real(out, any->border); break;
  case A: em_cell_real(out, m->by_a ? m->a.value : NAN); break;
  case ANSWER_A: answer_cell(&m->a, m->by_a, out); break;
  case B: em_cell_real(out, m->by_b ? m->b.value : NAN); break;
  case ANSWER_B: answer_cell(&m->b, m->by_b, out); break;
  case PART: em_cell_text(out, they_part(m) ? "they part" : NULL); break;
  case UNIT: em_cell_text(out, f ? f->unit : NULL); break;
  default: em_cell_text(out, f ? f->doc : NULL);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  return they_part(&((cursor *)base)->steps[row]) ? EM_MARK_ATTENTION : EM_MARK_NONE;
}

static void put_leaf(char which, const em_leaf *leaf, em_str *out)
{
  em_str_printf(out, "%c  leaf %u   adds %+.4f   ", which, leaf->index, leaf->value);
  if (leaf->weight == 0)
    em_str_put(out, "no training row came here: the fit knows nothing");
  else
    em_str_printf(out, "rests on %g training rows%s", leaf->weight,
                  leaf->weight < 10 ? ": the fit knows little here" : "");
  em_str_putc(out, '\n');
}

static void head(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  double part = c->parts.trees[c->tree];
  em_str_printf(out, "tree %zu of %zu   depth %zu   ", c->tree + 1, em_model_n_trees(em_view_model(base->session)),
                c->depth);
  if (part == 0)
    em_str_put(out, "moves neither\n");
  else
    em_str_printf(out, "moves %s by %.4f (number %zu by size)\n", part > 0 ? "A over B" : "B over A", fabs(part),
                  c->place + 1);
  put_leaf('A', &c->leaf_a, out);
  put_leaf('B', &c->leaf_b, out);
}

static void foot(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  size_t parts = 0;
  for (size_t i = 0; i < c->n_steps; i++) parts += they_part(&c->steps[i]);
  if (parts == 0)
    em_str_put(out, "the two fall in the same leaf");
  else
    em_str_printf(out, "%zu of %zu splits part them", parts, c->n_steps);
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  em_cell name;
  cell(base, row, FEATURE, &name);
  const em_feature *f = em_feature_find(name.s);
  em_str_put_safe(out, name.s);
  if (f) em_str_printf(out, ": %s", f->doc);
}

static void crumb(em_cursor *base, em_str *out) { em_pair_crumb(&((cursor *)base)->pair, out); }

/* The tree that comes next by size; after the last one the first. */
static bool turn(em_cursor *base, em_target *out)
{
  cursor *c = (cursor *)base;
  char tree[24];
  size_t next = c->place + 1 < em_model_n_trees(em_view_model(base->session)) ? c->place + 1 : 0;
  snprintf(tree, sizeof tree, "%u", c->order[next] + 1);
  return em_pair_target(&c->pair, "tree", tree, out);
}

static bool swap(em_cursor *base, em_target *out)
{
  cursor *c = (cursor *)base;
  char tree[24];
  snprintf(tree, sizeof tree, "%zu", c->tree + 1);
  return em_pair_swap(&c->pair, "tree", tree, out);
}

const em_view em_view_tree = {
  .name = "tree",
  .title = "tree",
  .doc =
    "One tree of the prior as two candidates of a pool go through it: each split with their values and answers, where they part, and what "
    "their leaves add. Tab goes to the tree that moves them next most.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = em_tree_params,
  .n_params = COUNT(em_tree_params),
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
  .swap = swap,
  .turn = turn,
};
