/*
 * view_features.c - the feature rows of two candidates of a pool, side by side.
 *
 * Rows that differ come first, then the equal ones, then the columns that are
 * constant over the pool: those cannot order it by themselves.
 */
#include "views/views_int.h"

enum { FEATURE, A, B, DIFFERENCE, STANDING, MODEL, UNIT, GROUP, DOC };

static const em_view_column columns[] = {
  {"feature", "feature", EM_TEXT, "", 26, 0, "name of the feature"},
  {"a", "A", EM_REAL, "", 12, -1, "value in the first candidate"},
  {"b", "B", EM_REAL, "", 12, -1, "value in the second candidate"},
  {"difference", "B - A", EM_REAL, "", 12, -1, "second minus first; missing when either is"},
  {"standing", "standing", EM_TEXT, "", 18, 0, "\"differs\", \"equal\", \"missing in both\", or \"constant in pool\""},
  {"model", "prior", EM_TEXT, "", 9, 0, "how the prior uses the column: number of borders, or \"unread\""},
  {"unit", "unit", EM_TEXT, "", 10, 0, "unit"},
  {"feature_group", "group", EM_TEXT, "", 12, 0, "hardware, operation, candidate or instruction"},
  {"doc", "doc", EM_TEXT, "", 0, 0, "formula in words"},
};

typedef struct cursor {
  em_cursor base;
  em_pair pair;
  uint32_t *order; /* row of the view -> column of the matrix */
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_pair_close(base->session, &c->pair);
  em_free(c->order);
}

/* Columns are sorted by name; a stable pass per standing keeps that. */
static int order_columns(cursor *c, em_err *err)
{
  size_t n = c->pair.scored->cols->n, at = 0;
  c->order = em_calloc(n + 1, sizeof *c->order);
  if (!c->order) return em_fail_nomem(err);
  for (int s = EM_DIFFERS; s < EM_N_STANDINGS; s++)
    for (size_t i = 0; i < n; i++)
      if ((int)em_pair_standing(&c->pair, i) == s) c->order[at++] = (uint32_t)i;
  return EM_OK;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_pair_open(base->session, args, &c->pair, err);
  return rc == EM_OK ? order_columns(c, err) : rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->pair.scored->cols->n; }

static void model_cell(em_cursor *base, const char *name, em_cell *out)
{
  const em_prior *prior = em_session_prior(base->session);
  int64_t f = em_columns_index(em_prior_columns(prior), name);
  size_t borders = 0;
  if (f < 0) {
    em_cell_missing(out);
    return;
  }
  em_model_borders(em_prior_model(prior), (size_t)f, &borders);
  if (borders)
    em_cell_printf(out, "%zu", borders);
  else
    em_cell_text(out, "unread");
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  cursor *c = (cursor *)base;
  size_t at = c->order[row];
  const char *name = c->pair.scored->cols->names[at];
  const em_feature *f = em_feature_find(name);
  double a = em_pair_value(&c->pair, c->pair.a, at), b = em_pair_value(&c->pair, c->pair.b, at);
  switch (column) {
  case FEATURE: em_cell_text(out, name); break;
  case A: em_cell_real(out, a); break;
  case B: em_cell_real(out, b); break;
  case DIFFERENCE: em_cell_real(out, b - a); break;
  case STANDING: em_cell_text(out, em_standing_words[em_pair_standing(&c->pair, at)]); break;
  case MODEL: model_cell(base, name, out); break;
  case UNIT: em_cell_text(out, f ? f->unit : NULL); break;
  case GROUP: em_cell_text(out, f ? f->group : NULL); break;
  default: em_cell_text(out, f ? f->doc : NULL);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  cursor *c = (cursor *)base;
  switch (em_pair_standing(&c->pair, c->order[row])) {
  case EM_DIFFERS: return EM_MARK_ATTENTION;
  case EM_EQUAL: return EM_MARK_NONE;
  default: return EM_MARK_DIM;
  }
}

static void head(em_cursor *base, em_str *out) { em_pair_head(base->session, &((cursor *)base)->pair, out); }

static void foot(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  size_t count[EM_N_STANDINGS] = {0};
  for (size_t i = 0; i < c->pair.scored->cols->n; i++) count[em_pair_standing(&c->pair, i)]++;
  em_str_printf(out, "%zu differ   %zu equal   %zu missing in both   %zu constant in this pool (cannot order it alone)",
                count[EM_DIFFERS], count[EM_EQUAL], count[EM_MISSING_IN_BOTH], count[EM_CONSTANT]);
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  cursor *c = (cursor *)base;
  const char *name = c->pair.scored->cols->names[c->order[row]];
  const em_feature *f = em_feature_find(name);
  em_str_put_safe(out, name);
  if (f) em_str_printf(out, ": %s", f->doc);
}

static void crumb(em_cursor *base, em_str *out) { em_pair_crumb(&((cursor *)base)->pair, out); }

static bool swap(em_cursor *base, em_target *out)
{
  return em_pair_swap(&((cursor *)base)->pair, "features", NULL, out);
}

static bool turn(em_cursor *base, em_target *out)
{
  return em_pair_target(&((cursor *)base)->pair, "contributions", NULL, out);
}

const em_view em_view_features = {
  .name = "features",
  .title = "feature rows",
  .doc =
    "The feature rows of two candidates of a pool side by side: which values differ, which are missing, which are constant over the pool.",
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
  .swap = swap,
  .turn = turn,
};
