/*
 * view_importance.c - what each feature matters to the prior: to its values, and to its loss over a pool.
 */
#include <math.h>

#include "views/views_int.h"

enum { FEATURE, CHANGE, BAR, LOSS, SPLITS, BORDERS, FIRST, LAST, UNIT, GROUP, DOC };

static const em_view_column columns[] = {
  {"feature", "feature", EM_TEXT, "", 26, 0, "name of the feature"},
  {"importance", "importance", EM_REAL, "%", 10, 2,
   "share of the change in the prior's values that the feature's splits make (PredictionValuesChange)"},
  {"bar", "", EM_TEXT, "", 16, 0, "the same as a bar against the largest"},
  {"loss_change", "loss change", EM_REAL, "", 11, 4,
   "how much worse the softmax loss over the pool gets without the feature's SHAP values "
   "(LossFunctionChange); missing when no pool is named"},
  {"splits", "splits", EM_INT, "splits", 7, 0, "splits of oblivious trees that ask about it"},
  {"borders", "borders", EM_INT, "borders", 7, 0, "its borders"},
  {"first_border", "from", EM_REAL, "", 10, -1, "least border"},
  {"last_border", "to", EM_REAL, "", 10, -1, "greatest border"},
  {"unit", "unit", EM_TEXT, "", 10, 0, "unit"},
  {"feature_group", "group", EM_TEXT, "", 12, 0, "hardware, operation, candidate or instruction"},
  {"doc", "doc", EM_TEXT, "", 0, 0, "formula in words"},
};

enum { PRIOR_ARG, POOL_ARG };
static const em_param params[] = {
  EM_PRIOR_PARAM,
  {"pool", EM_TEXT, false, "also the loss change over this pool: key, label, or a unique part of one"},
};

typedef struct cursor {
  em_cursor base;
  size_t n;
  double *change, *loss; /* loss: NULL without a pool */
  size_t *splits;
  uint32_t *order;
  double with_all; /* the loss */
  const em_scored *scored;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_session_release(base->session, c->scored);
  em_free(c->change);
  em_free(c->loss);
  em_free(c->splits);
  em_free(c->order);
}

static int read_model(cursor *c, em_err *err)
{
  const em_model *m = em_view_model(c->base.session);
  c->n = em_model_n_features(m);
  c->change = em_calloc(c->n + 1, sizeof *c->change);
  c->splits = em_calloc(c->n + 1, sizeof *c->splits);
  if (!c->change || !c->splits) return em_fail_nomem(err);
  if (em_explain_values_change(m, c->change, err) != EM_OK) return err->code;
  em_model_count_splits(m, c->splits);
  c->order = em_order_by_size(c->change, c->n);
  return c->order ? EM_OK : em_fail_nomem(err);
}

/* The pool as one group, its goldens labelled 1. */
static int change_loss(cursor *c, double *labels, int32_t *col, em_err *err)
{
  const em_scored *sc = c->scored;
  const em_prior *prior = em_session_prior(c->base.session);
  em_explainer *e;
  for (size_t i = 0; i < sc->n_goldens; i++) labels[sc->goldens[i].row] = 1;
  em_prior_map(prior, sc->cols, col);
  const em_explain_data d = {.matrix = sc->matrix,
                             .rows = sc->n,
                             .stride = sc->cols->n,
                             .col = col,
                             .group_end = &sc->n,
                             .n_groups = 1,
                             .labels = labels};
  if (em_explainer_new(em_prior_model(prior), &e, err) != EM_OK) return err->code;
  int rc = em_explain_loss_change(e, &d, 0, c->loss, &c->with_all, err);
  em_explainer_free(e);
  return rc;
}

static int read_pool(cursor *c, const char *name, em_err *err)
{
  size_t pool;
  int rc = em_session_find(c->base.session, name, &pool, err);
  if (rc == EM_OK) rc = em_session_load(c->base.session, pool, NULL, &c->scored, err);
  if (rc != EM_OK) return rc;
  double *labels = em_calloc(c->scored->n + 1, sizeof *labels);
  int32_t *col = em_calloc(c->n + 1, sizeof *col);
  c->loss = em_calloc(c->n + 1, sizeof *c->loss);
  rc = labels && col && c->loss ? change_loss(c, labels, col, err) : em_fail_nomem(err);
  em_free(labels);
  em_free(col);
  return rc;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = read_model(c, err);
  if (rc == EM_OK && args[POOL_ARG]) rc = read_pool(c, args[POOL_ARG], err);
  return rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static const char *name_at(em_cursor *base, size_t row)
{
  return em_prior_columns(em_session_prior(base->session))->names[((cursor *)base)->order[row]];
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  cursor *c = (cursor *)base;
  size_t f = c->order[row], n;
  const float *borders = em_model_borders(em_view_model(base->session), f, &n);
  const em_feature *info = em_feature_find(name_at(base, row));
  switch (column) {
  case FEATURE: em_cell_text(out, name_at(base, row)); break;
  case CHANGE: em_cell_real(out, c->change[f]); break;
  case BAR: em_cell_bar(out, c->change[f], c->change[c->order[0]]); break;
  case LOSS: em_cell_real(out, c->loss ? c->loss[f] : NAN); break;
  case SPLITS: em_cell_int(out, (int64_t)c->splits[f]); break;
  case BORDERS: em_cell_int(out, (int64_t)n); break;
  case FIRST: em_cell_real(out, n ? borders[0] : NAN); break;
  case LAST: em_cell_real(out, n ? borders[n - 1] : NAN); break;
  case UNIT: em_cell_text(out, info ? info->unit : NULL); break;
  case GROUP: em_cell_text(out, info ? info->group : NULL); break;
  default: em_cell_text(out, info ? info->doc : NULL);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  cursor *c = (cursor *)base;
  return c->change[c->order[row]] == 0 ? EM_MARK_DIM : EM_MARK_NONE;
}

static void foot(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  size_t used = 0;
  for (size_t f = 0; f < c->n; f++) used += c->change[f] > 0;
  em_str_printf(out, "%zu of %zu features matter to the values of %zu trees", used, c->n,
                em_model_n_trees(em_view_model(base->session)));
  if (c->loss) em_str_printf(out, "   loss over the pool %.4f", c->with_all);
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  const em_feature *f = em_feature_find(name_at(base, row));
  em_str_put_safe(out, name_at(base, row));
  if (f) em_str_printf(out, ": %s", f->doc);
}

static void crumb(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  if (c->scored)
    em_pair_crumb(&(em_pair){.scored = c->scored}, out);
  else
    em_str_put_safe(out, em_session_prior_path(base->session));
}

const em_view em_view_importance = {
  .name = "importance",
  .title = "importance",
  .doc =
    "What each feature matters to the prior: its share of the change in the prior's values, how its trees split on it, and, for a pool, how "
    "much worse the loss gets without it.",
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
  .sentence = sentence,
  .crumb = crumb,
};
