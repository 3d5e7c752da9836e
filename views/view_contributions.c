/*
 * view_contributions.c - why the prior prefers one candidate to another: each feature's part of the difference.
 *
 * A feature's part is its SHAP value of A minus that of B.  It may be there for a feature whose
 * values are equal: what the value means depends on the others.
 */
#include <math.h>
#include <string.h>

#include "views/views_int.h"

enum { FEATURE, A, B, PREFERS, PART, BAR, STANDING, BORDERS, UNIT, DOC };

static const em_view_column columns[] = {
  {"feature", "feature", EM_TEXT, "", 24, 0, "name of the feature"},
  {"a", "A", EM_REAL, "", 9, -1, "value in the first candidate"},
  {"b", "B", EM_REAL, "", 9, -1, "value in the second candidate"},
  {"prefers", "prefers", EM_TEXT, "", 7, 0, "the candidate that the feature speaks for"},
  {"quality", "quality", EM_REAL, "", 8, 3,
   "part of the difference in quality, A minus B: SHAP value of A minus that of B"},
  {"bar", "", EM_TEXT, "", 16, 0, "the same as a bar against the largest part: '=' for A, '-' for B"},
  {"standing", "standing", EM_TEXT, "", 16, 0,
   "\"differs\", \"equal\", \"missing in both\", \"constant in pool\", or \"not in pool\""},
  {"borders", "borders", EM_INT, "borders", 7, 0, "borders of the feature that the model splits at"},
  {"unit", "unit", EM_TEXT, "", 10, 0, "unit"},
  {"doc", "doc", EM_TEXT, "", 0, 0, "formula in words"},
};

typedef struct cursor {
  em_cursor base;
  em_pair pair;
  em_pair_parts parts;
  uint32_t *order; /* row of the view -> feature of the model, the largest part first */
  uint32_t *tree_order;
  em_counterfactual change;
  size_t nearest; /* golden pool; SIZE_MAX = none */
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_pair_close(base->session, &c->pair);
  em_pair_parts_free(&c->parts);
  em_free(c->order);
  em_free(c->tree_order);
}

static int prepare(cursor *c, em_err *err)
{
  em_session *s = c->base.session;
  const em_model *m = em_view_model(c->base.session);
  int rc = em_pair_explain(s, &c->pair, &c->parts, err);
  if (rc != EM_OK) return rc;
  c->order = em_order_by_size(c->parts.features, em_model_n_features(m));
  c->tree_order = em_order_by_size(c->parts.trees, em_model_n_trees(m));
  if (!c->order || !c->tree_order) return em_fail_nomem(err);
  double distance;
  if (!em_session_nearest_golden(s, c->pair.scored->pool, &c->nearest, &distance)) c->nearest = SIZE_MAX;
  /* What would put the lower one above the other. */
  const double *q = c->pair.scored->quality;
  bool b_below = q[c->pair.a] >= q[c->pair.b];
  em_scored_counterfactual(c->pair.scored, b_below ? c->pair.a : c->pair.b, b_below ? c->pair.b : c->pair.a,
                           &c->change);
  return EM_OK;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_pair_open(base->session, args, &c->pair, err);
  return rc == EM_OK ? prepare(c, err) : rc;
}

static size_t rows(em_cursor *base) { return em_model_n_features(em_view_model(base->session)); }

static const char *name_of(em_cursor *base, size_t feature)
{
  return em_prior_columns(em_session_prior(base->session))->names[feature];
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  cursor *c = (cursor *)base;
  size_t f = c->order[row], n_borders;
  int64_t at = em_pair_column(base->session, &c->pair, f);
  const em_feature *info = em_feature_find(name_of(base, f));
  double part = c->parts.features[f];
  switch (column) {
  case FEATURE: em_cell_text(out, name_of(base, f)); break;
  case A: em_cell_real(out, at < 0 ? NAN : em_pair_value(&c->pair, c->pair.a, (size_t)at)); break;
  case B: em_cell_real(out, at < 0 ? NAN : em_pair_value(&c->pair, c->pair.b, (size_t)at)); break;
  case PREFERS: em_cell_prefers(out, part); break;
  case PART: em_cell_real(out, part); break;
  case BAR: em_cell_bar(out, part, fabs(c->parts.features[c->order[0]])); break;
  case STANDING:
    em_cell_text(out, at < 0 ? "not in pool" : em_standing_words[em_pair_standing(&c->pair, (size_t)at)]);
    break;
  case BORDERS:
    em_model_borders(em_view_model(base->session), f, &n_borders);
    em_cell_int(out, (int64_t)n_borders);
    break;
  case UNIT: em_cell_text(out, info ? info->unit : NULL); break;
  default: em_cell_text(out, info ? info->doc : NULL);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  cursor *c = (cursor *)base;
  size_t f = c->order[row];
  int64_t at = em_pair_column(base->session, &c->pair, f);
  if (c->parts.features[f] == 0) return EM_MARK_DIM;
  return at >= 0 && em_pair_standing(&c->pair, (size_t)at) == EM_DIFFERS ? EM_MARK_ATTENTION : EM_MARK_NONE;
}

/* ---- above and below ---- */

static void head(em_cursor *base, em_str *out) { em_pair_head(base->session, &((cursor *)base)->pair, out); }

static void put_families(const em_counterfactual *c, em_str *out)
{
  size_t put = 0;
  for (int f = 0; f < EM_N_FAMILIES; f++) {
    if (!c->changed[f]) continue;
    if (put) em_str_put(out, put + 1 == c->n_families ? " and " : ", ");
    em_str_put(out, em_family_at((em_family)f)->name);
    put++;
  }
}

/* "change  TILE and STAGE together bring B to #1, quality 4.4142 (A itself); no 1 knob does" */
static void put_change(const cursor *c, em_str *out)
{
  const em_scored *sc = c->pair.scored;
  const em_counterfactual *x = &c->change;
  bool b_below = sc->quality[c->pair.a] >= sc->quality[c->pair.b];
  size_t top = b_below ? c->pair.a : c->pair.b;
  if (x->n_families == 0) return;
  em_str_put(out, "change  ");
  put_families(x, out);
  em_str_printf(out, " %s %c to #%u, quality %.4f", x->n_families > 1 ? "together bring" : "alone brings",
                b_below ? 'B' : 'A', sc->rank_of[x->row] + 1, sc->quality[x->row]);
  if (x->row == top) em_str_printf(out, " (%c itself)", b_below ? 'A' : 'B');
  if (x->n_families > 1)
    em_str_printf(out, "; no %zu knob%s", x->n_families - 1, x->n_families == 2 ? " does" : "s do");
  em_str_putc(out, '\n');
}

static void put_reach(cursor *c, em_str *out)
{
  const em_extrapolation *x = c->pair.scored->reach;
  bool known = false;
  for (size_t i = 0; i < x->n; i++) known |= x->columns[i].known;
  em_str_printf(out, "fit     %zu of %zu used columns %s outside", x->n_outside, x->n, known ? "lie" : "may lie");
  for (size_t i = 0, put = 0; i < x->n && put < 2; i++) {
    const em_column_reach *r = &x->columns[i];
    if (r->reach == EM_REACH_INSIDE) continue;
    em_str_put(out, put++ ? ", " : " (");
    em_str_put_safe(out, name_of(&c->base, r->feature));
    if (r->reach == EM_REACH_MISSING) em_str_put(out, " missing");
    if (r->reach == EM_REACH_ABOVE) em_str_printf(out, " %g > %g", r->hi, r->to);
    if (r->reach == EM_REACH_BELOW) em_str_printf(out, " %g < %g", r->lo, r->from);
  }
  if (x->n_outside) em_str_put(out, x->n_outside > 2 ? ", ...)" : ")");
  if (c->nearest != SIZE_MAX) {
    em_pool_info near;
    em_session_pool(c->base.session, c->nearest, &near);
    em_str_printf(out, "; nearest golden pool: ");
    em_str_put_safe(out, em_card_label(&near));
    em_str_putc(out, ' ');
    em_str_put_safe(out, near.label);
  }
  em_str_putc(out, '\n');
}

/* "for A: 12 (+0.061) 40 (+0.048) and 61 more" */
static void put_side(const cursor *c, size_t n_trees, char which, int sign, em_str *out)
{
  size_t total = 0, put = 0;
  em_str_printf(out, "for %c:", which);
  for (size_t i = 0; i < n_trees; i++) {
    size_t t = c->tree_order[i];
    if (c->parts.trees[t] * sign <= 0) continue;
    if (total++ < 3) em_str_printf(out, " %zu (%+.3f)", t + 1, c->parts.trees[t]), put++;
  }
  if (total > put) em_str_printf(out, " and %zu more", total - put);
  if (!total) em_str_put(out, " none");
}

static void put_trees(const cursor *c, size_t n_trees, em_str *out)
{
  em_str_put(out, "trees   ");
  put_side(c, n_trees, 'A', 1, out);
  em_str_put(out, "   ");
  put_side(c, n_trees, 'B', -1, out);
  em_str_putc(out, '\n');
}

static void put_counts(const cursor *c, em_str *out)
{
  const em_columns *cols = c->pair.scored->cols;
  size_t count[EM_N_STANDINGS] = {0}, put = 0;
  for (size_t i = 0; i < cols->n; i++) count[em_pair_standing(&c->pair, i)]++;
  em_str_printf(out,
                "equal %zu   missing in both %zu   constant in this pool (cannot order it alone) %zu:", count[EM_EQUAL],
                count[EM_MISSING_IN_BOTH], count[EM_CONSTANT]);
  for (size_t i = 0; i < cols->n && put < 3; i++) {
    if (em_pair_standing(&c->pair, i) != EM_CONSTANT) continue;
    em_str_putc(out, ' ');
    em_str_put_safe(out, cols->names[i]);
    put++;
  }
  em_str_put(out, count[EM_CONSTANT] > put ? " ...\n" : "\n");
}

static void foot(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  put_change(c, out);
  put_reach(c, out);
  put_trees(c, em_model_n_trees(em_view_model(base->session)), out);
  put_counts(c, out);
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  cursor *c = (cursor *)base;
  const char *name = name_of(base, c->order[row]);
  const em_feature *f = em_feature_find(name);
  em_str_put_safe(out, name);
  if (f) em_str_printf(out, ": %s", f->doc);
}

static void crumb(em_cursor *base, em_str *out) { em_pair_crumb(&((cursor *)base)->pair, out); }

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  (void)row;
  return em_pair_target(&((cursor *)base)->pair, "tree_diff", NULL, out);
}

static bool turn(em_cursor *base, em_target *out)
{
  return em_pair_target(&((cursor *)base)->pair, "tree_diff", NULL, out);
}

static bool swap(em_cursor *base, em_target *out)
{
  return em_pair_swap(&((cursor *)base)->pair, "contributions", NULL, out);
}

const em_view em_view_contributions = {
  .name = "contributions",
  .title = "why",
  .doc =
    "Why the prior prefers one candidate of a pool to another: the features by their parts of the difference in quality (SHAP values), "
    "the knobs side by side, the smallest change of knobs that brings the lower one level, and how far the pool lies outside the fit.",
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
