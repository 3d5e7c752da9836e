/* sql_functions.c - the functions of SQL: one table, and those that take one row. */
#include <string.h>

#include "views/sql_int.h"

static const em_sql_function functions[] = {
  {"knob", "row, name", 2, false,
   "the value of one knob of a row: '' when it is decided to be unused, NULL when it is missing; a row is text as in "
   "candidates.row (\"WORK=t32x8 TILE=f2x8\"), \"WORK=t32x8,TILE=f2x8\", or a JSON object"},
  {"agrees", "row, measured", 2, false,
   "1 when every knob that both rows have decided has the same value in both, else 0; one that either leaves undecided is free"},
  {"price", "quality", 1, false, "exp(-scale * quality) by the open prior: a stand-in for latency, lower is better"},
  {"median", "x", 1, true, "the middle of the numbers, or the mean of the two in the middle; NULLs do not count"},
  {"quantile", "x, p", 2, true,
   "the p-quantile of the numbers for p from 0 to 1, interpolated between neighbours; NULLs do not count"},
  {"geomean", "x", 1, true, "the geometric mean of positive numbers; NULLs do not count"},
  {"spearman", "x, y", 2, true,
   "the rank correlation of the pairs, equal values sharing their mean rank; NULL when one side is constant"},
  {"topk", "rank, k", 2, true, "the share of ranks that are at most k; NULLs do not count"},
};

size_t em_n_sql_functions(void) { return COUNT(functions); }

const em_sql_function *em_sql_function_at(size_t i) { return &functions[i]; }

/* ---- rows as text ---- */

static int knobs_of_json(const char *text, em_knobs *out, em_err *err)
{
  cJSON *json = NULL;
  em_place at = {.file = "row"};
  int rc = em_json_parse(text, strlen(text), "row", &json, err);
  if (rc == EM_OK) rc = em_knobs_from_json(json, &at, out, err);
  em_json_free(json);
  return rc;
}

/* The three spellings of a row; a blank or nothing at all between the knobs is the canonical one. */
static int knobs_of_text(const char *text, em_knobs *out, em_err *err)
{
  em_row row;
  *out = (em_knobs){0};
  if (*text == '{') return knobs_of_json(text, out, err);
  if (strchr(text, ',') || strchr(text, '@')) return em_knobs_parse_text(text, out, err);
  int rc = em_row_parse(text, &row, err);
  return rc == EM_OK ? em_row_to_knobs(&row, out, err) : rc;
}

static void fail_call(sqlite3_context *ctx, const char *function, const em_err *err)
{
  if (err->code == EM_E_NOMEM) {
    sqlite3_result_error_nomem(ctx);
    return;
  }
  char *message = sqlite3_mprintf("%s: %s", function, err->msg);
  if (message)
    sqlite3_result_error(ctx, message, -1);
  else
    sqlite3_result_error_nomem(ctx);
  sqlite3_free(message);
}

static bool any_null(int argc, sqlite3_value **argv)
{
  for (int i = 0; i < argc; i++)
    if (sqlite3_value_type(argv[i]) == SQLITE_NULL) return true;
  return false;
}

static const char *text_of(sqlite3_value *v)
{
  const char *text = (const char *)sqlite3_value_text(v);
  return text ? text : "";
}

static void knob(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  em_err err;
  em_knobs row;
  em_family family;
  if (any_null(argc, argv)) return;
  const char *text = text_of(argv[0]), *name = text_of(argv[1]);
  if (!em_family_find(name, strcspn(name, "@"), &family) && !em_knob_info_find(name, strlen(name)) &&
      !strstr(text, name)) {
    em_fail(&err, EM_E_INPUT, "\"%s\" is no knob; the families are WORK, TILE, REDUCE, STAGE, RASTER, PLACE and LAYOUT",
            name);
    fail_call(ctx, "knob", &err);
    return;
  }
  if (knobs_of_text(text, &row, &err) != EM_OK) {
    fail_call(ctx, "knob", &err);
    return;
  }
  const char *value = em_knobs_get(&row, name);
  if (value) sqlite3_result_text(ctx, value, -1, SQLITE_TRANSIENT);
  em_knobs_free(&row);
}

static void agrees(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  em_err err;
  em_knobs candidate, measured = {0};
  if (any_null(argc, argv)) return;
  int rc = knobs_of_text(text_of(argv[0]), &candidate, &err);
  if (rc == EM_OK) rc = knobs_of_text(text_of(argv[1]), &measured, &err);
  if (rc == EM_OK)
    sqlite3_result_int(ctx, em_knobs_agree(&candidate, &measured));
  else
    fail_call(ctx, "agrees", &err);
  em_knobs_free(&candidate);
  em_knobs_free(&measured);
}

static void price(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  em_sql *q = sqlite3_user_data(ctx);
  (void)argc;
  int type = sqlite3_value_numeric_type(argv[0]);
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
    sqlite3_result_double(ctx, em_prior_price(em_session_prior(q->session), sqlite3_value_double(argv[0])));
}

/* ---- registering ---- */

typedef void (*scalar_fn)(sqlite3_context *, int, sqlite3_value **);
static const struct {
  const char *name;
  scalar_fn call;
} scalars[] = {{"knob", knob}, {"agrees", agrees}, {"price", price}};

static int register_one(em_sql *q, const em_sql_function *f)
{
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  scalar_fn call = NULL;
  const sql_aggregate *aggregate = em_sql_aggregates;
  for (size_t i = 0; i < COUNT(scalars); i++)
    if (strcmp(scalars[i].name, f->name) == 0) call = scalars[i].call;
  while (aggregate->name && strcmp(aggregate->name, f->name) != 0) aggregate++;
  return sqlite3_create_function_v2(q->db, f->name, f->n_args, flags, q, call, aggregate->step, aggregate->final, NULL);
}

int em_sql_register_functions(em_sql *q, em_err *err)
{
  for (size_t i = 0; i < COUNT(functions); i++)
    if (register_one(q, &functions[i]) != SQLITE_OK) return em_fail_nomem(err);
  return EM_OK;
}
