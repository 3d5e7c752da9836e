/* sql.c - a connection, what it refuses, statements and their values. */
#include <string.h>

#include "views/sql_int.h"

/* ---- opening ---- */

/* Statements that a person never writes are refused before they cost memory. */
static const struct {
  int id, most;
} limits[] = {{SQLITE_LIMIT_LENGTH, 64 << 20},          {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
              {SQLITE_LIMIT_EXPR_DEPTH, 200},           {SQLITE_LIMIT_COMPOUND_SELECT, 200},
              {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000}, {SQLITE_LIMIT_ATTACHED, 10},
              {SQLITE_LIMIT_VDBE_OP, 1 << 20},          {SQLITE_LIMIT_WORKER_THREADS, 0}};

static bool is_listed(const char *name, const char *const *list)
{
  while (*list && sqlite3_stricmp(name, *list) != 0) list++;
  return *list != NULL;
}

/* Pragmas that only look, also with an argument. */
static const char *const pragmas[] = {"table_info",      "table_xinfo", "table_list",       "index_list",
                                      "index_info",      "index_xinfo", "foreign_key_list", "database_list",
                                      "function_list",   "module_list", "collation_list",   "pragma_list",
                                      "compile_options", NULL};

static int refuse(em_sql *q, const char *why)
{
  q->refused = why;
  return SQLITE_DENY;
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *database, const char *trigger)
{
  em_sql *q = ctx;
  (void)b;
  (void)trigger;
  if (q->declaring) return SQLITE_OK;
  bool temporary = database && strcmp(database, "temp") == 0;
  switch (action) {
  case SQLITE_SELECT:
  case SQLITE_READ:
  case SQLITE_FUNCTION:
  case SQLITE_RECURSIVE:
  case SQLITE_TRANSACTION:
  case SQLITE_SAVEPOINT:
  case SQLITE_DETACH:
  case SQLITE_CREATE_TEMP_TABLE:
  case SQLITE_CREATE_TEMP_INDEX:
  case SQLITE_CREATE_TEMP_VIEW:
  case SQLITE_DROP_TEMP_TABLE:
  case SQLITE_DROP_TEMP_INDEX:
  case SQLITE_DROP_TEMP_VIEW: return SQLITE_OK;
  case SQLITE_ATTACH: /* by VACUUM INTO, which would write it */
    return q->stepping ? refuse(q, "only temporary tables can be written") : SQLITE_OK;
  case SQLITE_INSERT:
  case SQLITE_UPDATE:
  case SQLITE_DELETE:
  case SQLITE_REINDEX: return temporary ? SQLITE_OK : refuse(q, "only temporary tables can be written");
  case SQLITE_ALTER_TABLE:
    return a && strcmp(a, "temp") == 0 ? SQLITE_OK : refuse(q, "only temporary tables can be written");
  case SQLITE_PRAGMA: return is_listed(a, pragmas) ? SQLITE_OK : refuse(q, "only pragmas that list things are offered");
  default: return refuse(q, "only reading and temporary tables are offered");
  }
}

static int poll_cancel(void *ctx)
{
  const em_progress *p = ctx;
  return p->cancel && *p->cancel;
}

static int fail_sqlite(em_sql *q, em_err *err)
{
  int rc = q->db ? sqlite3_errcode(q->db) : SQLITE_NOMEM;
  if (rc == SQLITE_NOMEM) return em_fail_nomem(err);
  if (rc == SQLITE_INTERRUPT) return em_fail(err, EM_E_CANCEL, "interrupted");
  const char *message = sqlite3_errmsg(q->db);
  if (*q->needs && strcmp(message, "no query solution") == 0) return em_fail(err, EM_E_INPUT, "%s", q->needs);
  em_str near = {0};
  if (q->refused)
    em_str_printf(&near, ": %s", q->refused);
  else
    em_sql_put_near(message, &near);
  em_fail(err, EM_E_INPUT, "%s%s", message, near.s ? near.s : "");
  em_str_free(&near);
  return err->code;
}

static int declare_one(em_sql *q, const char *prefix, const char *name, em_err *err)
{
  char text[96];
  sqlite3_stmt *stmt = NULL;
  snprintf(text, sizeof text, "select 1 from %s%s", prefix, name);
  int rc = sqlite3_prepare_v2(q->db, text, -1, &stmt, NULL);
  sqlite3_finalize(stmt);
  return rc == SQLITE_NOMEM ? em_fail_nomem(err) : EM_OK; /* a build of SQLite may lack the table */
}

/* Tables that SQLite itself offers: it declares each at its first use, in words that the authorizer takes for the user's.
 * So they are used once before there is an authorizer. */
static int declare_lists(em_sql *q, em_err *err)
{
  int rc = declare_one(q, "", "json_each", err);
  if (rc == EM_OK) rc = declare_one(q, "", "json_tree", err);
  for (size_t i = 0; rc == EM_OK && pragmas[i]; i++) rc = declare_one(q, "pragma_", pragmas[i], err);
  return rc;
}

static int configure(em_sql *q, em_err *err)
{
  int on;
  for (size_t i = 0; i < COUNT(limits); i++) sqlite3_limit(q->db, limits[i].id, limits[i].most);
  sqlite3_db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &on);
  sqlite3_db_config(q->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &on);
  int rc = em_sql_register_tables(q, err);
  if (rc == EM_OK) rc = em_sql_register_functions(q, err);
  if (rc == EM_OK) rc = declare_lists(q, err);
  if (rc != EM_OK) return rc;
  sqlite3_set_authorizer(q->db, authorize, q);
  if (q->progress) sqlite3_progress_handler(q->db, 1000, poll_cancel, (void *)q->progress);
  return EM_OK;
}

int em_sql_open(em_session *s, const em_progress *p, em_sql **out, em_err *err)
{
  em_sql *q = em_calloc(1, sizeof *q);
  if (!q) return em_fail_nomem(err);
  q->session = s;
  q->progress = p;
  /* Read-only holds for every file that is attached; temporary tables are kept apart. */
  int rc = sqlite3_open_v2(":memory:", &q->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
  rc = rc == SQLITE_OK ? configure(q, err) : fail_sqlite(q, err);
  if (rc != EM_OK) {
    em_sql_close(q);
    return rc;
  }
  *out = q;
  return EM_OK;
}

void em_sql_close(em_sql *q)
{
  if (!q) return;
  sqlite3_close(q->db);
  em_free(q->tables);
  em_free(q->pool);
  em_free(q);
}

int em_sql_use(em_sql *q, const char *pool, em_err *err)
{
  size_t i;
  char *copy = NULL;
  if (pool) {
    if (em_session_find(q->session, pool, &i, err) != EM_OK) return err->code;
    em_pool_info info;
    em_session_pool(q->session, i, &info);
    if (!(copy = em_strdup(info.key))) return em_fail_nomem(err);
  }
  em_free(q->pool);
  q->pool = copy;
  return EM_OK;
}

void em_sql_turn(em_sql *q, em_session *s)
{
  size_t i;
  em_err none;
  q->session = s;
  if (!q->pool || em_session_find(s, q->pool, &i, &none) == EM_OK) return;
  em_free(q->pool);
  q->pool = NULL;
}

bool em_sql_is_complete(const char *text) { return sqlite3_complete(text); }

/* ---- statements ---- */

struct em_stmt {
  em_sql *sql;
  sqlite3_stmt *stmt;
  em_view_column *columns;
  size_t n;
  bool stepped;
  em_str scratch;
};

/* The view's column that a result column is, or NULL. */
static const em_view_column *origin(sqlite3_stmt *stmt, int i)
{
  const char *database = sqlite3_column_database_name(stmt, i), *table = sqlite3_column_table_name(stmt, i);
  const char *name = sqlite3_column_origin_name(stmt, i);
  if (!database || !table || !name || strcmp(database, "main") != 0) return NULL;
  const em_view *v = em_view_find(table);
  int column = v ? em_view_find_column(v, name) : -1;
  return column < 0 ? NULL : &v->columns[column];
}

static int name_columns(em_stmt *st, em_err *err)
{
  st->columns = em_calloc(st->n + 1, sizeof *st->columns);
  if (!st->columns) return em_fail_nomem(err);
  for (size_t i = 0; i < st->n; i++) {
    const em_view_column *from = origin(st->stmt, (int)i);
    const char *name = sqlite3_column_name(st->stmt, (int)i);
    if (!name) return em_fail_nomem(err);
    st->columns[i] = from ? *from : (em_view_column){.type = EM_TEXT, .unit = "", .digits = -1, .doc = ""};
    st->columns[i].name = st->columns[i].title = name;
    st->columns[i].width = 1;
  }
  return EM_OK;
}

int em_stmt_prepare(em_sql *q, const char *text, size_t len, em_stmt **out, size_t *used, em_err *err)
{
  *used = 0;
  if (len > (size_t)limits[1].most)
    return em_fail(err, EM_E_INPUT, "%zu bytes of SQL, at most %d are taken at once", len, limits[1].most);
  em_stmt *st = em_calloc(1, sizeof *st);
  if (!st) return em_fail_nomem(err);
  const char *tail = NULL;
  st->sql = q;
  q->refused = NULL;
  q->needs[0] = '\0';
  int rc = EM_OK;
  if (sqlite3_prepare_v2(q->db, text, (int)len, &st->stmt, &tail) != SQLITE_OK) {
    int at = sqlite3_error_offset(q->db); /* of an error inside a view: in the view's own text, which may be longer */
    *used = at > 0 && (size_t)at < len ? (size_t)at : em_sql_place(sqlite3_errmsg(q->db), text, len);
    rc = fail_sqlite(q, err);
  } else {
    *used = tail ? (size_t)(tail - text) : len;
    st->n = st->stmt ? (size_t)sqlite3_column_count(st->stmt) : 0;
    rc = name_columns(st, err);
  }
  if (rc != EM_OK || !st->stmt) {
    em_stmt_free(st);
    st = NULL;
  }
  *out = st;
  return rc;
}

void em_stmt_free(em_stmt *st)
{
  if (!st) return;
  sqlite3_finalize(st->stmt);
  em_free(st->columns);
  em_str_free(&st->scratch);
  em_free(st);
}

/* A column that is no view's is shown as its first value is. */
static void type_columns(em_stmt *st)
{
  for (size_t i = 0; i < st->n; i++) {
    if (origin(st->stmt, (int)i)) continue;
    int type = sqlite3_column_type(st->stmt, (int)i);
    st->columns[i].type = type == SQLITE_INTEGER ? EM_INT : type == SQLITE_FLOAT ? EM_REAL : EM_TEXT;
  }
}

int em_stmt_step(em_stmt *st, bool *row, em_err *err)
{
  st->sql->refused = NULL;
  st->sql->stepping = true;
  int rc = sqlite3_step(st->stmt);
  st->sql->stepping = false;
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) return fail_sqlite(st->sql, err);
  if (rc == SQLITE_ROW && !st->stepped) type_columns(st);
  st->stepped = true;
  *row = rc == SQLITE_ROW;
  return EM_OK;
}

size_t em_stmt_n_columns(const em_stmt *st) { return st->n; }

const em_view_column *em_stmt_columns(const em_stmt *st) { return st->columns; }

static void hex_cell(em_stmt *st, const unsigned char *bytes, int n, em_cell *out)
{
  em_str_clear(&st->scratch);
  em_str_put(&st->scratch, "X'");
  for (int i = 0; i < n; i++) em_str_printf(&st->scratch, "%02x", bytes[i]);
  em_str_putc(&st->scratch, '\'');
  em_cell_text(out, st->scratch.failed ? NULL : st->scratch.s);
}

static void text_cell(em_stmt *st, int column, em_cell *out)
{
  const unsigned char *text = sqlite3_column_text(st->stmt, column);
  int n = sqlite3_column_bytes(st->stmt, column);
  if (!text)
    em_cell_missing(out);
  else if (n == 0)
    em_cell_unused(out);
  else if (memchr(text, 0, (size_t)n))
    hex_cell(st, text, n, out);
  else
    em_cell_text(out, (const char *)text);
}

void em_stmt_cell(em_stmt *st, size_t column, em_cell *out)
{
  int i = (int)column;
  switch (sqlite3_column_type(st->stmt, i)) {
  case SQLITE_INTEGER:
    if (st->columns[i].type == EM_FLAG)
      em_cell_flag(out, sqlite3_column_int(st->stmt, i) != 0);
    else
      em_cell_int(out, sqlite3_column_int64(st->stmt, i));
    break;
  case SQLITE_FLOAT: em_cell_real(out, sqlite3_column_double(st->stmt, i)); break;
  case SQLITE_TEXT: text_cell(st, i, out); break;
  case SQLITE_BLOB: hex_cell(st, sqlite3_column_blob(st->stmt, i), sqlite3_column_bytes(st->stmt, i), out); break;
  default: em_cell_missing(out);
  }
}

/* ---- running a text ---- */

static int write_rows(em_stmt *st, bool row, const em_render *r, em_put_fn put, void *ctx, bool *stopped, em_err *err)
{
  em_writer *w;
  em_err ignored;
  int rc = em_writer_open(st->columns, st->n, r, put, ctx, &w, err);
  if (rc != EM_OK) return rc;
  for (size_t n = 0; rc == EM_OK && row && !em_writer_stopped(w) && (!r->limit || n < r->limit); n++) {
    for (size_t i = 0; i < st->n; i++) {
      em_cell cell;
      em_stmt_cell(st, i, &cell);
      em_writer_cell(w, &cell);
    }
    rc = em_stmt_step(st, &row, err);
  }
  *stopped = em_writer_stopped(w);
  int closed = em_writer_close(w, rc == EM_OK ? err : &ignored);
  return rc == EM_OK ? closed : rc;
}

static int run_one(em_stmt *st, const em_render *r, em_put_fn put, void *ctx, bool *stopped, em_err *err)
{
  bool row = false;
  int rc = em_stmt_step(st, &row, err);
  return rc == EM_OK && st->n > 0 ? write_rows(st, row, r, put, ctx, stopped, err) : rc;
}

int em_sql_run(em_sql *q, const char *text, size_t len, const em_render *r, em_put_fn put, void *ctx, size_t *at,
               em_err *err)
{
  bool stopped = false;
  *at = 0;
  while (*at < len && !stopped) {
    em_stmt *st = NULL;
    size_t used;
    int rc = em_stmt_prepare(q, text + *at, len - *at, &st, &used, err);
    if (rc != EM_OK) {
      *at += used;
      return rc;
    }
    if (!st && used == 0) return EM_OK;
    if (st) rc = run_one(st, r, put, ctx, &stopped, err);
    em_stmt_free(st);
    if (rc != EM_OK) return rc;
    *at += used;
  }
  return EM_OK;
}
