/*
 * view_extrapolation.c - how far a pool lies outside of what the fit saw, column by column.
 */

#include "views/views_int.h"

enum { FEATURE, REACH, ROWS, LO, HI, FROM, TO, KNOWN, BORDERS, MISSING, UNIT, DOC };

static const em_view_column columns[] = {
  {"feature", "feature", EM_TEXT, "", 24, 0, "name of a column that the prior splits on"},
  {"reach", "reach", EM_TEXT, "", 8, 0,
   "\"inside\", \"above\" or \"below\" what the fit saw, or \"missing\": here, and never in the fit"},
  {"rows", "rows", EM_INT, "candidates", 9, 0, "candidates that this is true of"},
  {"lo", "lowest", EM_REAL, "", 9, -1, "least value of the pool"},
  {"hi", "highest", EM_REAL, "", 9, -1, "greatest value of the pool"},
  {"seen_from", "fit from", EM_REAL, "", 9, -1, "least value that counts as seen"},
  {"seen_to", "to", EM_REAL, "", 9, -1, "greatest value that counts as seen"},
  {"known_by", "by", EM_TEXT, "", 7, 0,
   "where that is from: \"rows\" = the training rows; \"borders\" = a guess: the outermost borders and as far beyond "
   "as the last two lie apart"},
  {"borders", "borders", EM_INT, "borders", 7, 0, "borders between values"},
  {"missing", "missing", EM_INT, "candidates", 9, 0, "candidates without a value"},
  {"unit", "unit", EM_TEXT, "", 10, 0, "unit"},
  {"doc", "doc", EM_TEXT, "", 0, 0, "formula in words"},
};

static const em_param params[] = {EM_POOL_PARAM, EM_PRIOR_PARAM};

typedef struct cursor {
  em_cursor base;
  const em_scored *scored;
  uint32_t *order; /* what lies outside first */
  size_t nearest;  /* SIZE_MAX = none */
  double distance;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_session_release(base->session, c->scored);
  em_free(c->order);
}

static int prepare(cursor *c, em_err *err)
{
  em_session *s = c->base.session;
  c->order = em_calloc(c->scored->reach->n + 1, sizeof *c->order);
  if (!c->order) return em_fail_nomem(err);
  size_t at = 0;
  for (int outside = 1; outside >= 0; outside--)
    for (size_t i = 0; i < c->scored->reach->n; i++)
      if ((c->scored->reach->columns[i].reach != EM_REACH_INSIDE) == outside) c->order[at++] = (uint32_t)i;
  if (!em_session_nearest_golden(s, c->scored->pool, &c->nearest, &c->distance)) c->nearest = SIZE_MAX;
  return EM_OK;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_pool_open(base->session, args[0], &c->scored, err);
  return rc == EM_OK ? prepare(c, err) : rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->scored->reach->n; }

static const em_column_reach *reach_at(em_cursor *base, size_t row)
{
  cursor *c = (cursor *)base;
  return &c->scored->reach->columns[c->order[row]];
}

static const char *name_at(em_cursor *base, size_t row)
{
  return em_prior_columns(em_session_prior(base->session))->names[reach_at(base, row)->feature];
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  static const char *const words[] = {[EM_REACH_INSIDE] = "inside",
                                      [EM_REACH_ABOVE] = "above",
                                      [EM_REACH_BELOW] = "below",
                                      [EM_REACH_MISSING] = "missing"};
  const em_column_reach *r = reach_at(base, row);
  const em_feature *f = em_feature_find(name_at(base, row));
  switch (column) {
  case FEATURE: em_cell_text(out, name_at(base, row)); break;
  case REACH: em_cell_text(out, words[r->reach]); break;
  case ROWS: em_cell_int(out, (int64_t)r->rows_outside); break;
  case LO: em_cell_real(out, r->lo); break;
  case HI: em_cell_real(out, r->hi); break;
  case FROM: em_cell_real(out, r->from); break;
  case TO: em_cell_real(out, r->to); break;
  case KNOWN: em_cell_text(out, r->known ? "rows" : "borders"); break;
  case BORDERS: em_cell_int(out, (int64_t)r->n_borders); break;
  case MISSING: em_cell_int(out, (int64_t)r->rows_missing); break;
  case UNIT: em_cell_text(out, f ? f->unit : NULL); break;
  default: em_cell_text(out, f ? f->doc : NULL);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  return reach_at(base, row)->reach == EM_REACH_INSIDE ? EM_MARK_NONE : EM_MARK_ATTENTION;
}

static void foot(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  bool known = c->scored->reach->n > 0 && c->scored->reach->columns[0].known;
  em_str_printf(out, "%zu of %zu used columns %s outside the fit (%.0f%%)", c->scored->reach->n_outside,
                c->scored->reach->n, known ? "lie" : "may lie",
                c->scored->reach->n ? 100.0 * (double)c->scored->reach->n_outside / (double)c->scored->reach->n : 0);
  if (c->nearest == SIZE_MAX) {
    em_str_put(out, "; no other golden pool of its kind");
    return;
  }
  em_pool_info near;
  em_session_pool(base->session, c->nearest, &near);
  em_str_put(out, "; nearest golden pool: ");
  em_str_put_safe(out, em_card_label(&near));
  em_str_putc(out, ' ');
  em_str_put_safe(out, near.label);
  em_str_printf(out, ", %.1f away", c->distance);
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  const em_feature *f = em_feature_find(name_at(base, row));
  em_str_put_safe(out, name_at(base, row));
  if (f) em_str_printf(out, ": %s", f->doc);
}

static void crumb(em_cursor *base, em_str *out) { em_pair_crumb(&(em_pair){.scored = ((cursor *)base)->scored}, out); }

const em_view em_view_extrapolation = {
  .name = "extrapolation",
  .title = "outside the fit",
  .doc =
    "How far a pool lies outside of what the prior was fitted on: the columns that the prior splits on, their values in the pool and its "
    "borders, and the golden pool that is most like this one.",
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
