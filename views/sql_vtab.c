/*
 * sql_vtab.c - a view as an eponymous virtual table.
 *
 * Schema: the view's columns, then a hidden TEXT column per parameter.  The plan is a bit set (idxNum) that xBestIndex
 * makes and xFilter reads; the values come in the order of the bits:
 *
 *   bit 0..4   parameter i is given
 *   bit 5      key = value
 *   bit 6, 7   key > value, key >= value
 *   bit 8, 9   key < value, key <= value
 *   bit 10     rows in descending order (takes no value)
 *
 * Bounds of the key only narrow what is scanned: SQLite checks each row again, so that odd values
 * (texts, fractions) need no care here.
 */
#include <math.h>
#include <string.h>

#include "views/sql_int.h"

enum {
  KEY_EQ = 1 << EM_MAX_PARAMS,
  KEY_GT = KEY_EQ << 1,
  KEY_GE = KEY_EQ << 2,
  KEY_LT = KEY_EQ << 3,
  KEY_LE = KEY_EQ << 4,
  DESCENDING = KEY_EQ << 5,
  N_BITS = EM_MAX_PARAMS + 5
};

#define UNKNOWN_ROWS 10000 /* where a view cannot say; only the planner sees it */
#define OPENING_COST 1000.0

typedef struct vtab {
  sqlite3_vtab base;
  const sql_table *table;
} vtab;

typedef struct cursor {
  sqlite3_vtab_cursor base;
  em_cursor *view; /* kept while the arguments stay the same */
  char *args[EM_MAX_PARAMS];
  size_t row, left; /* the current row, and how many there are with it */
  bool down;
} cursor;

void em_sql_param_name(const em_view *v, size_t i, char buf[64])
{
  snprintf(buf, 64, "%s%s", em_view_find_column(v, v->params[i].name) < 0 ? "" : "arg_", v->params[i].name);
}

static int fail_table(sqlite3_vtab *t, const em_err *err)
{
  if (err->code == EM_E_NOMEM) return SQLITE_NOMEM;
  if (err->code == EM_E_CANCEL) return SQLITE_INTERRUPT;
  sqlite3_free(t->zErrMsg);
  t->zErrMsg = sqlite3_mprintf("%s", err->msg);
  return SQLITE_ERROR;
}

/* ---- declaring ---- */

static const char *const type_names[] = {
  [EM_TEXT] = "TEXT", [EM_INT] = "INTEGER", [EM_REAL] = "REAL", [EM_FLAG] = "INTEGER"};

static void put_declaration(em_str *out, const em_view *v)
{
  em_str_put(out, "CREATE TABLE x(");
  for (size_t i = 0; i < v->n_columns; i++)
    em_str_printf(out, "%s\"%s\" %s", i ? ", " : "", v->columns[i].name, type_names[v->columns[i].type]);
  for (size_t i = 0; i < v->n_params; i++) {
    char name[64];
    em_sql_param_name(v, i, name);
    em_str_printf(out, ", \"%s\" TEXT HIDDEN", name);
  }
  em_str_putc(out, ')');
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
  (void)argc;
  (void)argv;
  (void)message;
  const sql_table *table = aux;
  em_str text = {0};
  put_declaration(&text, table->view);
  table->sql->declaring = true;
  int rc = text.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(db, text.s);
  table->sql->declaring = false;
  em_str_free(&text);
  if (rc != SQLITE_OK) return rc;
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  vtab *t = em_calloc(1, sizeof *t);
  if (!t) return SQLITE_NOMEM;
  t->table = table;
  *out = &t->base;
  return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *t)
{
  em_free(t);
  return SQLITE_OK;
}

/* ---- planning ---- */

static int key_bit(unsigned char op)
{
  switch (op) {
  case SQLITE_INDEX_CONSTRAINT_EQ: return KEY_EQ;
  case SQLITE_INDEX_CONSTRAINT_GT: return KEY_GT;
  case SQLITE_INDEX_CONSTRAINT_GE: return KEY_GE;
  case SQLITE_INDEX_CONSTRAINT_LT: return KEY_LT;
  case SQLITE_INDEX_CONSTRAINT_LE: return KEY_LE;
  default: return 0;
  }
}

enum { NONE = -1, UNUSABLE = -2 };

/* Which constraint serves which bit; UNUSABLE: a parameter is given, but its value is not known in this plan. */
static void choose(const em_view *v, const sqlite3_index_info *info, int chosen[N_BITS])
{
  int key = v->key ? em_view_find_column(v, v->key) : -1;
  for (int bit = 0; bit < N_BITS; bit++) chosen[bit] = NONE;
  for (int i = 0; i < info->nConstraint; i++) {
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    int param = c->iColumn - (int)v->n_columns;
    if (param >= 0) {
      if (c->op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
      if (chosen[param] < 0) chosen[param] = c->usable ? i : UNUSABLE;
    } else if (c->usable && c->iColumn >= 0 && c->iColumn == key) {
      for (int bit = EM_MAX_PARAMS, op = key_bit(c->op); op && bit < N_BITS; bit++)
        if (op == 1 << bit && chosen[bit] < 0) chosen[bit] = i;
    }
  }
}

static bool has_default(const em_sql *q, const em_param *p) { return q->pool && strcmp(p->name, "pool") == 0; }

/* A table cannot be opened before the parameters that it is given are known, and not without those that it needs.  No
 * error yet: SQLite also asks for plans with a part of the conditions.  When it finds no plan at all, the words are here. */
static int check_params(vtab *t, const int chosen[N_BITS])
{
  const em_view *v = t->table->view;
  for (size_t i = 0; i < v->n_params; i++)
    if (chosen[i] == UNUSABLE) return SQLITE_CONSTRAINT;
  for (size_t i = 0; i < v->n_params; i++) {
    if (!v->params[i].required || chosen[i] >= 0 || has_default(t->table->sql, &v->params[i])) continue;
    snprintf(t->table->sql->needs, sizeof t->table->sql->needs, "%s needs %s: %s('...'); %s", v->name,
             v->params[i].name, v->name, v->params[i].doc);
    return SQLITE_CONSTRAINT;
  }
  return SQLITE_OK;
}

static const char *known_text(sqlite3_index_info *info, int constraint)
{
  sqlite3_value *value = NULL;
  if (constraint < 0 || sqlite3_vtab_rhs_value(info, constraint, &value) != SQLITE_OK || !value) return NULL;
  return (const char *)sqlite3_value_text(value);
}

static size_t estimate(vtab *t, sqlite3_index_info *info, const int chosen[N_BITS])
{
  const em_view *v = t->table->view;
  const char *args[EM_MAX_PARAMS] = {0};
  for (size_t i = 0; i < v->n_params; i++) {
    args[i] = known_text(info, chosen[i]);
    if (chosen[i] < 0 && has_default(t->table->sql, &v->params[i])) args[i] = t->table->sql->pool;
  }
  size_t rows = v->estimate ? v->estimate(t->table->sql->session, args) : SIZE_MAX;
  return rows == SIZE_MAX ? UNKNOWN_ROWS : rows;
}

/* Rows [*lo, *hi) that can meet a bound; values that are no numbers narrow nothing. */
static void narrow(int bit, sqlite3_value *value, size_t *lo, size_t *hi)
{
  int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) *hi = *lo;
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  double x = sqlite3_value_double(value);
  double first = bit == KEY_GT ? floor(x) + 1 : ceil(x), last = bit == KEY_LT ? ceil(x) - 1 : floor(x); /* of the key */
  bool below = bit == KEY_EQ || bit == KEY_LT || bit == KEY_LE, above = bit == KEY_EQ || bit == KEY_GT || bit == KEY_GE;
  if (above && first - 1 > (double)*lo) *lo = first - 1 < (double)*hi ? (size_t)(first - 1) : *hi;
  if (below && last < (double)*hi) *hi = last > (double)*lo ? (size_t)last : *lo;
}

static size_t narrowed(sqlite3_index_info *info, const int chosen[N_BITS], size_t rows)
{
  size_t lo = 0, hi = rows;
  for (int bit = EM_MAX_PARAMS; bit < N_BITS; bit++) {
    sqlite3_value *value = NULL;
    if (chosen[bit] < 0) continue;
    if (sqlite3_vtab_rhs_value(info, chosen[bit], &value) == SQLITE_OK && value)
      narrow(1 << bit, value, &lo, &hi);
    else
      hi = lo + (hi - lo + 3) / 4;
  }
  return hi - lo;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
  vtab *t = (vtab *)base;
  const em_view *v = t->table->view;
  int chosen[N_BITS], n = 0;
  choose(v, info, chosen);
  int rc = check_params(t, chosen);
  if (rc != SQLITE_OK) return rc;
  info->idxNum = 0;
  for (int bit = 0; bit < N_BITS; bit++) {
    if (chosen[bit] < 0) continue;
    info->idxNum |= 1 << bit;
    info->aConstraintUsage[chosen[bit]].argvIndex = ++n;
    info->aConstraintUsage[chosen[bit]].omit = bit < EM_MAX_PARAMS;
  }
  if (info->nOrderBy == 1 && v->key && info->aOrderBy[0].iColumn == em_view_find_column(v, v->key)) {
    info->orderByConsumed = 1;
    if (info->aOrderBy[0].desc) info->idxNum |= DESCENDING;
  }
  size_t rows = narrowed(info, chosen, estimate(t, info, chosen));
  if (chosen[EM_MAX_PARAMS] >= 0) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  info->estimatedRows = (sqlite3_int64)rows;
  info->estimatedCost = (v->n_params ? OPENING_COST : 1) + (double)rows;
  return SQLITE_OK;
}

/* ---- reading ---- */

static void close_view(cursor *c)
{
  em_cursor_close(c->view);
  c->view = NULL;
  for (size_t i = 0; i < EM_MAX_PARAMS; i++) {
    em_free(c->args[i]);
    c->args[i] = NULL;
  }
}

static int open_cursor(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
  (void)t;
  cursor *c = em_calloc(1, sizeof *c);
  if (!c) return SQLITE_NOMEM;
  *out = &c->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
  close_view((cursor *)base);
  em_free(base);
  return SQLITE_OK;
}

static bool same_args(const cursor *c, const char *const *args)
{
  for (size_t i = 0; i < EM_MAX_PARAMS; i++)
    if ((c->args[i] != NULL) != (args[i] != NULL) || (args[i] && strcmp(c->args[i], args[i]) != 0)) return false;
  return true;
}

static int keep_args(cursor *c, const char *const *args, em_err *err)
{
  for (size_t i = 0; i < EM_MAX_PARAMS; i++)
    if (args[i] && !(c->args[i] = em_strdup(args[i]))) return em_fail_nomem(err);
  return EM_OK;
}

/* A pool is built here, where that can be cancelled; the view then finds it ready.  *none: it has no candidates. */
static int prepare_pool(em_session *s, const em_progress *p, const char *name, const em_scored **scored, bool *none,
                        em_err *err)
{
  size_t pool;
  if (em_session_find(s, name, &pool, err) != EM_OK) return err->code;
  int rc = em_session_load(s, pool, p, scored, err);
  if (rc != EM_E_INPUT) return rc;
  em_pool_info info;
  em_session_pool(s, pool, &info);
  *none = info.state == EM_POOL_OUTSIDE;
  return *none ? EM_OK : rc;
}

static int open_view(const sql_table *t, const char *const *args, em_cursor **out, em_err *err)
{
  const em_view *v = t->view;
  const em_progress *p = t->sql->progress;
  const em_scored *scored = NULL;
  em_session *s;
  bool none = false;
  if (em_view_session(v, t->sql->session, args, &s, err) != EM_OK) return err->code;
  int rc = v->live && !v->waits_for ? em_session_rank_all(s, p, err) : EM_OK;
  for (size_t i = 0; i < v->n_params && rc == EM_OK && !none; i++) {
    if (args[i] && v->params[i].required && strcmp(v->params[i].name, "pool") == 0)
      rc = prepare_pool(s, p, args[i], &scored, &none, err);
    none |= v->params[i].required && !args[i];
  }
  *out = NULL;
  const volatile int *outer = em_cancel_of_thread(t->sql->progress ? t->sql->progress->cancel : NULL);
  if (rc == EM_OK && !none) rc = em_view_open(v->name, t->sql->session, args, out, err);
  em_cancel_of_thread(outer);
  em_session_release(s, scored);
  em_session_let_go(s);
  return rc;
}

static size_t read_args(const sql_table *t, int plan, sqlite3_value **argv, const char **args)
{
  size_t n = 0;
  for (size_t i = 0; i < t->view->n_params; i++) {
    if (plan & 1 << i)
      args[i] = (const char *)sqlite3_value_text(argv[n++]);
    else if (has_default(t->sql, &t->view->params[i]))
      args[i] = t->sql->pool;
  }
  return n;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
  (void)text;
  (void)argc;
  cursor *c = (cursor *)base;
  const sql_table *t = ((vtab *)base->pVtab)->table;
  const char *args[EM_MAX_PARAMS] = {0};
  size_t n = read_args(t, plan, argv, args);
  em_err err;
  if (!c->view || !same_args(c, args)) {
    close_view(c);
    int rc = open_view(t, args, &c->view, &err);
    if (rc == EM_OK) rc = keep_args(c, args, &err);
    if (rc != EM_OK) return fail_table(base->pVtab, &err);
  }
  size_t lo = 0, hi = c->view ? t->view->rows(c->view) : 0;
  for (int bit = EM_MAX_PARAMS; bit < N_BITS; bit++)
    if (plan & 1 << bit) narrow(1 << bit, argv[n++], &lo, &hi);
  c->left = hi - lo;
  c->down = (plan & DESCENDING) != 0;
  c->row = c->down && hi > lo ? hi - 1 : lo;
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
  cursor *c = (cursor *)base;
  c->left--;
  c->row += c->down ? (size_t)-1 : 1;
  return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base) { return ((cursor *)base)->left == 0; }

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
  *out = (sqlite3_int64)((cursor *)base)->row + 1;
  return SQLITE_OK;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
  cursor *c = (cursor *)base;
  const em_view *v = ((vtab *)base->pVtab)->table->view;
  em_sql *q = ((vtab *)base->pVtab)->table->sql;
  em_err err;
  em_cell cell;
  if ((size_t)i >= v->n_columns) {
    sqlite3_result_text(ctx, c->args[(size_t)i - v->n_columns], -1, SQLITE_TRANSIENT);
    return SQLITE_OK;
  }
  size_t pool = v->waits_for ? v->waits_for(c->view, c->row, (size_t)i) : SIZE_MAX;
  if (pool != SIZE_MAX && em_session_rank(c->view->session, pool, q->progress, &err) != EM_OK)
    return fail_table(base->pVtab, &err);
  v->cell(c->view, c->row, (size_t)i, &cell);
  if (cell.state == EM_CELL_UNUSED)
    sqlite3_result_text(ctx, "", 0, SQLITE_STATIC);
  else if (cell.state == EM_CELL_MISSING)
    sqlite3_result_null(ctx);
  else if (cell.type == EM_TEXT)
    sqlite3_result_text(ctx, cell.s, -1, SQLITE_TRANSIENT);
  else if (cell.type == EM_REAL)
    sqlite3_result_double(ctx, cell.f);
  else
    sqlite3_result_int64(ctx, cell.i);
  return SQLITE_OK;
}

/* No xCreate: the table is there by its name alone, and cannot be made under another. */
static const sqlite3_module module = {
  .iVersion = 0,
  .xConnect = connect,
  .xBestIndex = best_index,
  .xDisconnect = disconnect,
  .xOpen = open_cursor,
  .xClose = close_cursor,
  .xFilter = filter,
  .xNext = next,
  .xEof = at_end,
  .xColumn = column,
  .xRowid = row_id,
};

int em_sql_register_tables(em_sql *q, em_err *err)
{
  size_t n = 0;
  while (em_views[n]) n++;
  q->tables = em_calloc(n + 1, sizeof *q->tables);
  if (!q->tables) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    q->tables[i] = (sql_table){q, em_views[i]};
    if (sqlite3_create_module_v2(q->db, em_views[i]->name, &module, &q->tables[i], NULL) != SQLITE_OK)
      return em_fail_nomem(err);
  }
  return EM_OK;
}
