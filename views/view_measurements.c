/*
 * view_measurements.c - the rows that were recorded of the pools, as golden files, stores and datasets tell them.
 */
#include <math.h>
#include <string.h>

#include "views/views_int.h"

enum { CARD, KERNEL, ROW, US, REFERENCE, SPEEDUP, GOLDEN, STATUS, SOURCE, LABEL, POOL, REGIME };

static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 12, 0, "short name of the card"},
  {"kernel", "kernel", EM_TEXT, "", 24, 0, "label of the pool"},
  {"row", "row", EM_TEXT, "", 44, 0,
   "all knob values as text, as in candidates.row; as JSON where they belong to several sites"},
  {"us", "us", EM_REAL, "us", 9, 1, "recorded time; missing where none was, or the run failed"},
  {"reference_us", "reference", EM_REAL, "us", 9, 1, "time of the reference beside it"},
  {"speedup", "speedup", EM_REAL, "ratio", 7, 2, "reference time over time: above 1 is faster than the reference"},
  {"golden", "golden", EM_FLAG, "", 6, 0, "is it recorded as a golden?"},
  {"status", "status", EM_TEXT, "", 8, 0, "\"ok\", or \"failed\" when the row was tried and did not work"},
  {"source", "source", EM_TEXT, "", 24, 0, "file that it comes from"},
  {"label", "label", EM_TEXT, "", 0, 0, "what the source calls the row"},
  {"pool", "pool", EM_TEXT, "", 0, 0, "key of the pool"},
  {"regime", "regime", EM_TEXT, "", 0, 0, "what the time is true of; unused = the default"},
};

static const em_param params[] = {{"pool", EM_TEXT, false, "only this pool: key, label, or a unique part of one"}};

typedef struct at {
  uint32_t pool, row;
  char *text; /* of its knobs, where it is not printed as it is asked for */
} at;

typedef struct cursor {
  em_cursor base;
  at *items;
  size_t n, cap;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  for (size_t i = 0; i < c->n; i++) em_free(c->items[i].text);
  em_free(c->items);
}

/* A group stands for several pools when their matrices are the same: their rows one after another. */
static size_t group_rows(const em_group *g)
{
  size_t n = 0;
  for (size_t p = 0; p < g->n_pools; p++) n += g->pools[p].n_rows;
  return n;
}

static const struct em_group_row *group_row(const em_group *g, size_t row)
{
  size_t p = 0;
  while (row >= g->pools[p].n_rows) row -= g->pools[p++].n_rows;
  return &g->pools[p].rows[row];
}

/* One row, wherever it comes from: of evidence `stored`, of a dataset `knobs`, as JSON. */
typedef struct recorded {
  const char *knobs, *source, *label;
  const em_knobs *stored;
  double us, reference_us;
  bool golden, ok;
} recorded;

static recorded read_row(em_cursor *base, const at *a)
{
  const em_evidence *evidence;
  const em_group *group;
  em_session_recorded(base->session, a->pool, &evidence, &group);
  if (evidence) {
    const em_evidence_row *r = &evidence->rows[a->row];
    return (recorded){.stored = &r->knobs,
                      .source = r->source,
                      .label = r->label,
                      .us = r->ok ? r->us : NAN,
                      .reference_us = r->reference_us,
                      .golden = r->golden,
                      .ok = r->ok};
  }
  const struct em_group_row *r = group_row(group, a->row);
  return (recorded){.knobs = r->knobs,
                    .source = r->source,
                    .label = r->label,
                    .us = r->us,
                    .reference_us = NAN,
                    .golden = true,
                    .ok = true};
}

/* A row of one site in the canonical form, as in candidates.row; of several sites, or with structural choices, as JSON:
 * that may be of any length, so it is kept. */
static int keep_text(const recorded *r, char **out, em_err *err)
{
  em_str text = {0};
  em_row row;
  bool single = false;
  if (r->stored) {
    if (em_row_from_knobs(r->stored, &row, &single, err) == EM_OK && single) return EM_OK;
    em_knobs_print_json(r->stored, &text);
  } else {
    char line[EM_ROW_LEN];
    int rc = em_group_row_schedule(r->knobs, &row, &single, err);
    if (rc != EM_OK) return rc;
    em_str_put(&text, single ? em_row_print(&row, line) : r->knobs);
  }
  return em_str_take(&text, out, err);
}

static int add_row(cursor *c, size_t pool, size_t row, em_err *err)
{
  at a = {.pool = (uint32_t)pool, .row = (uint32_t)row};
  if (em_grow(&c->items, &c->cap, c->n + 1, sizeof *c->items, err) != EM_OK) return err->code;
  recorded r = read_row(&c->base, &a);
  int rc = keep_text(&r, &a.text, err);
  if (rc == EM_OK) c->items[c->n++] = a;
  return rc;
}

static int add_pool(cursor *c, size_t pool, em_err *err)
{
  const em_evidence *evidence;
  const em_group *group;
  em_session_recorded(c->base.session, pool, &evidence, &group);
  size_t n = evidence ? evidence->n_rows : group_rows(group);
  int rc = EM_OK;
  for (size_t i = 0; i < n && rc == EM_OK; i++) rc = add_row(c, pool, i, err);
  return rc;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  em_session *s = base->session;
  size_t only = SIZE_MAX;
  if (args[0] && em_session_find(s, args[0], &only, err) != EM_OK) return err->code;
  int rc = EM_OK;
  for (size_t i = 0; i < em_session_n_pools(s) && rc == EM_OK; i++)
    if (only == SIZE_MAX || only == i) rc = add_pool(c, i, err);
  return rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void row_cell(const at *a, const recorded *r, em_cell *out)
{
  em_err none;
  em_row row;
  bool single;
  if (a->text || em_row_from_knobs(r->stored, &row, &single, &none) != EM_OK)
    em_cell_text(out, a->text);
  else
    em_cell_text(out, em_row_print(&row, out->buf));
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const at *a = &((cursor *)base)->items[row];
  em_pool_info i;
  recorded r = read_row(base, a);
  em_session_pool(base->session, a->pool, &i);
  switch (column) {
  case CARD: em_cell_text(out, em_card_label(&i)); break;
  case KERNEL: em_cell_text(out, i.label); break;
  case ROW: row_cell(a, &r, out); break;
  case US: em_cell_real(out, r.us); break;
  case REFERENCE: em_cell_real(out, r.reference_us); break;
  case SPEEDUP: em_cell_real(out, r.reference_us / r.us); break;
  case GOLDEN: em_cell_flag(out, r.golden); break;
  case STATUS: em_cell_text(out, r.ok ? "ok" : "failed"); break;
  case SOURCE: em_cell_text(out, r.source); break;
  case LABEL: em_cell_text(out, r.label); break;
  case POOL: em_cell_text(out, i.key); break;
  default: em_cell_text_or_unused(out, i.regime);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  recorded r = read_row(base, &((cursor *)base)->items[row]);
  return r.golden ? EM_MARK_GOLDEN : r.ok ? EM_MARK_NONE : EM_MARK_ATTENTION;
}

static void crumb(em_cursor *base, em_str *out)
{
  em_str_put_safe(out, em_session_source(base->session));
  em_str_put(out, " / measurements");
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  em_pool_info i;
  em_session_pool(base->session, ((cursor *)base)->items[row].pool, &i);
  return em_target_set(out, "candidates", i.key, NULL, NULL);
}

const em_view em_view_measurements = {
  .name = "measurements",
  .title = "measurements",
  .doc =
    "Every recorded row of the pools: its time beside the reference, whether it is a golden, and the file it comes from.",
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
  .crumb = crumb,
  .enter = enter,
};
