/* store_sql.c - statements and errors of one SQLite connection. */
#include "core/store/store_int.h"

#include <math.h>

#define SQL_TEXT(id, sql) [EM_SQL_##id] = sql,
static const char *const texts[] = {EM_STORE_STATEMENTS(SQL_TEXT)};
#undef SQL_TEXT

int em_sql_fail(const em_store *s, const char *doing, em_err *err)
{
  const char *why = sqlite3_errmsg(s->db);
  switch (sqlite3_errcode(s->db) & 0xff) {
  case SQLITE_NOMEM: return em_fail_nomem(err);
  case SQLITE_FULL:
    return em_fail(err, EM_E_IO, "%s: cannot %s: the disk is full; nothing was changed", s->path, doing);
  case SQLITE_READONLY:
  case SQLITE_CANTOPEN:
  case SQLITE_IOERR: return em_fail(err, EM_E_IO, "%s: cannot %s: %s", s->path, doing, why);
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return em_fail(err, EM_E_INPUT, "%s: cannot %s: another process is using the store; try again when it is done",
                   s->path, doing);
  default:
    return em_fail(err, EM_E_INPUT,
                   "%s: cannot %s: %s; the store is damaged, build it again with: emmy db import --fresh", s->path,
                   doing, why);
  }
}

int em_store_damaged(const em_store *s, const char *what, em_err *err)
{
  return em_fail(err, EM_E_INPUT, "%s: damaged store: %s; check it with: emmy db check", s->path, what);
}

int em_sql_exec(em_store *s, const char *sql, em_err *err)
{
  return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? EM_OK
                                                                 : em_sql_fail(s, s->writable ? "write" : "read", err);
}

int em_sql_prepare(em_store *s, const char *sql, sqlite3_stmt **out, em_err *err)
{
  return sqlite3_prepare_v2(s->db, sql, -1, out, NULL) == SQLITE_OK ? EM_OK : em_sql_fail(s, "read its tables", err);
}

int em_sql_get(em_store *s, em_sql_id id, sqlite3_stmt **out, em_err *err)
{
  sqlite3_stmt **st = &s->statements[id];
  if (!*st && sqlite3_prepare_v3(s->db, texts[id], -1, SQLITE_PREPARE_PERSISTENT, st, NULL) != SQLITE_OK)
    return em_sql_fail(s, "read its tables", err);
  sqlite3_reset(*st);
  sqlite3_clear_bindings(*st);
  *out = *st;
  return EM_OK;
}

int em_sql_step(em_store *s, sqlite3_stmt *st, bool *row, em_err *err)
{
  int rc = sqlite3_step(st);
  *row = rc == SQLITE_ROW;
  if (rc == SQLITE_ROW || rc == SQLITE_DONE) return EM_OK;
  int code = em_sql_fail(s, sqlite3_stmt_readonly(st) ? "read" : "write", err);
  sqlite3_reset(st);
  return code;
}

const char *em_sql_text(sqlite3_stmt *st, int column)
{
  const char *text = (const char *)sqlite3_column_text(st, column);
  return text ? text : "";
}

int em_sql_strdup(sqlite3_stmt *st, int column, char **out, em_err *err)
{
  *out = NULL;
  if (sqlite3_column_type(st, column) == SQLITE_NULL) return EM_OK;
  *out = em_strdup(em_sql_text(st, column));
  return *out ? EM_OK : em_fail_nomem(err);
}

double em_sql_double(sqlite3_stmt *st, int column)
{
  return sqlite3_column_type(st, column) == SQLITE_NULL ? NAN : sqlite3_column_double(st, column);
}
