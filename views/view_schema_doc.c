/*
 * view_schema_doc.c - the views themselves: every column and argument, with type, unit and meaning.
 */
#include "views/sql.h"
#include "views/views_int.h"

enum { TABLE, NAME, KIND, TYPE, UNIT, DOC, POSITION };

static const em_view_column columns[] = {
  {"table_name", "table", EM_TEXT, "", 16, 0, "name of the table, which is a view"},
  {"name", "name", EM_TEXT, "", 20, 0, "name of the column or argument"},
  {"kind", "kind", EM_TEXT, "", 12, 0,
   "\"column\", \"argument\" (needed), or \"optional\" (an argument that may be left out)"},
  {"type", "type", EM_TEXT, "", 8, 0, "text, integer, real, or flag (0 or 1)"},
  {"unit", "unit", EM_TEXT, "", 11, 0, "unit; unused when there is none"},
  {"doc", "meaning", EM_TEXT, "", 70, 0, "what it means"},
  {"position", "position", EM_INT, "", 0, 0, "place in the table, from 1; arguments stand behind the columns"},
};

static const em_param params[] = {{"table_name", EM_TEXT, false, "only this table"}};

typedef struct cursor {
  em_cursor base;
  const em_view *only; /* NULL = every view */
} cursor;

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  const em_view *only = args[0] ? em_view_find(args[0]) : NULL;
  if (args[0] && !only)
    return em_fail(err, EM_E_USAGE, "no table is called \"%s\"; view schema_doc lists them", args[0]);
  ((cursor *)base)->only = only;
  return EM_OK;
}

static size_t entries(const em_view *v) { return v->n_columns + v->n_params; }

static size_t rows(em_cursor *base)
{
  const em_view *only = ((cursor *)base)->only;
  size_t n = only ? entries(only) : 0;
  for (size_t i = 0; !only && em_views[i]; i++) n += entries(em_views[i]);
  return n;
}

static const em_view *view_at(em_cursor *base, size_t *row)
{
  const em_view *only = ((cursor *)base)->only;
  size_t i = 0;
  if (only) return only;
  while (*row >= entries(em_views[i])) *row -= entries(em_views[i++]);
  return em_views[i];
}

static const char *const type_words[] = {
  [EM_TEXT] = "text", [EM_INT] = "integer", [EM_REAL] = "real", [EM_FLAG] = "flag"};

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const em_view *v = view_at(base, &row);
  const em_param *p = row >= v->n_columns ? &v->params[row - v->n_columns] : NULL;
  const em_view_column *c = p ? NULL : &v->columns[row];
  switch (column) {
  case TABLE: em_cell_text(out, v->name); break;
  case NAME:
    if (p) em_sql_param_name(v, row - v->n_columns, out->buf);
    em_cell_text(out, p ? out->buf : c->name);
    break;
  case KIND: em_cell_text(out, !p ? "column" : p->required ? "argument" : "optional"); break;
  case TYPE: em_cell_text(out, type_words[p ? p->type : c->type]); break;
  case UNIT: em_cell_text_or_unused(out, p ? "" : c->unit); break;
  case DOC: em_cell_text(out, p ? p->doc : c->doc); break;
  default: em_cell_int(out, (int64_t)row + 1);
  }
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  const em_view *v = view_at(base, &row);
  em_str_printf(out, "%s: %s", v->name, v->doc);
}

static void crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "tables");
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  const em_view *v = view_at(base, &row);
  return (v->n_params == 0 || !v->params[0].required) && em_target_set(out, v->name, NULL, NULL, NULL);
}

const em_view em_view_schema_doc = {
  .name = "schema_doc",
  .title = "tables",
  .doc = "Every table of SQL, which is a view each: its columns and arguments with type, unit and meaning.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .size = sizeof(cursor),
  .open = open_view,
  .rows = rows,
  .cell = cell,
  .sentence = sentence,
  .crumb = crumb,
  .enter = enter,
};
