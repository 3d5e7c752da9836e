/*
 * view_registry.c - the registry of features.
 */
#include <string.h>

#include "views/views_int.h"

enum { FEATURE, GROUP, UNIT, TIERS, BORDERS, DOC };

static const em_view_column columns[] = {
  {"feature", "feature", EM_TEXT, "", 26, 0, "name; a family that depends on the kernel ends in *"},
  {"feature_group", "group", EM_TEXT, "", 11, 0, "hardware, operation, candidate or instruction"},
  {"unit", "unit", EM_TEXT, "", 10, 0, "unit"},
  {"tiers", "tiers", EM_TEXT, "", 8, 0, "S scalar tile, W warp tile, R reduce, kernel once per row"},
  {"borders", "borders", EM_INT, "", 7, 0, "borders that the prior uses; missing when it has no such column"},
  {"doc", "formula", EM_TEXT, "", 60, 0, "formula in words"},
};

static const em_param params[] = {EM_PRIOR_PARAM};

static size_t rows(em_cursor *base)
{
  (void)base;
  return em_n_features();
}

static void borders_cell(em_cursor *base, const char *name, em_cell *out)
{
  const em_prior *prior = base->session ? em_session_prior(base->session) : NULL;
  int64_t f = prior ? em_columns_index(em_prior_columns(prior), name) : -1;
  size_t n = 0;
  em_cell_missing(out);
  if (f < 0) return;
  em_model_borders(em_prior_model(prior), (size_t)f, &n);
  em_cell_int(out, (int64_t)n);
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const em_feature *f = em_feature_at(row);
  switch (column) {
  case FEATURE: em_cell_text(out, f->name); break;
  case GROUP: em_cell_text(out, f->group); break;
  case UNIT: em_cell_text(out, f->unit); break;
  case TIERS: em_cell_text(out, f->tiers); break;
  case BORDERS: borders_cell(base, f->name, out); break;
  default: em_cell_text(out, f->doc);
  }
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  (void)base;
  em_str_printf(out, "%s: %s", em_feature_at(row)->name, em_feature_at(row)->doc);
}

static void crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "features");
}

static size_t estimate(em_session *s, const char *const *args)
{
  (void)s;
  (void)args;
  return em_n_features();
}

const em_view em_view_registry = {
  .name = "feature_registry",
  .title = "feature registry",
  .doc = "Every feature: group, unit, which tiers define it, its formula in words.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .rows = rows,
  .cell = cell,
  .sentence = sentence,
  .crumb = crumb,
  .estimate = estimate,
};
