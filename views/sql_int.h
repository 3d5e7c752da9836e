/* sql_int.h - inside of the SQL module. */
#ifndef EM_SQL_INT_H
#define EM_SQL_INT_H

#include <sqlite3.h>

#include "views/sql.h"
#include "views/views_int.h"

/* What a table of SQL knows of its view: the module's client data. */
typedef struct sql_table {
  em_sql *sql;
  const em_view *view;
} sql_table;

struct em_sql {
  sqlite3 *db;
  em_session *session;
  const em_progress *progress;
  char *pool;          /* of em_sql_use */
  char needs[256];     /* a table's parameter that was not given, in words; "" = none */
  bool declaring;      /* SQLite parses a table's declaration: no statement of the user's */
  bool stepping;       /* a statement runs: what is compiled now is not the user's */
  const char *refused; /* why the authorizer said no; NULL = it did not */
  sql_table *tables;   /* one per view */
};

int em_sql_register_tables(em_sql *q, em_err *err) EM_MUST_CHECK;    /* sql_vtab.c */
int em_sql_register_functions(em_sql *q, em_err *err) EM_MUST_CHECK; /* sql_functions.c, sql_aggregates.c */
/* The declared function of that name was implemented elsewhere. */
typedef struct sql_aggregate {
  const char *name;
  void (*step)(sqlite3_context *, int, sqlite3_value **);
  void (*final)(sqlite3_context *);
} sql_aggregate;
extern const sql_aggregate em_sql_aggregates[]; /* ends with a NULL name */
/* "; did you mean candidates?" for SQLite's "no such ..." messages. */
void em_sql_put_near(const char *message, em_str *out); /* sql_near.c */
/* Where in the text the name stands that SQLite does not know; 0 = who knows. */
size_t em_sql_place(const char *message, const char *text, size_t len);

#endif
