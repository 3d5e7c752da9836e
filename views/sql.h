/*
 * sql.h - SQL over every view.
 *
 *   select card, kernel, golden_rank from pools where golden_rank > 10 order by golden_rank desc;
 *   select rank, row, price from candidates('square.1024') order by rank limit 10;
 *   select a.rank, b.rank from candidates('square.1024') a join candidates('square.1024', 'fit.json') b using (row);
 *   select p.kernel, f.feature, f.difference from pools p, features(p.pool) f where f.standing = 'differs';
 *
 * How it works.  Each view of views.def is a table of its name, made from its em_view alone: its columns, and
 * after them one hidden column per parameter, which may be given as a function's argument or as `where pool = ...`.
 * A hidden column is called like its parameter, with "arg_" before it where a column has that name.  A required
 * parameter that is not given is an error; a NULL one gives no rows; an optional one that is NULL counts as not given.
 * A pool that has no candidates gives no rows (its notes in `pools` say why); an unknown one is an error.
 *
 * The argument `prior` of a table is the file of another prior than the session's.  It is loaded once, strictly; its
 * ranks are its own.
 *
 * Values are exact: missing is NULL, unused is '' (never confused), flags are 0 and 1, ranks count from 1.
 *
 * What the planner is told: the number of rows where the view can say it without opening; that a view's key column
 * (em_view.key) numbers its rows, so that ranges of it are sought, and ordering by it costs nothing.  Rows come as they
 * are asked for: LIMIT stops the work.
 *
 * Everything is read-only.  Temporary tables, indexes and views may be written; SQLite files may be attached, and are
 * opened for reading alone.  A connection serves one thread.
 */
#ifndef EM_SQL_H
#define EM_SQL_H

#include "views/views.h"

typedef struct em_sql em_sql;
typedef struct em_stmt em_stmt;

/* The session is borrowed; `p` (may be NULL) reports the ranking of pools that a query needs, and its cancel flag stops
 * a query (EM_E_CANCEL) wherever it is. */
int em_sql_open(em_session *s, const em_progress *p, em_sql **out, em_err *err) EM_MUST_CHECK;
void em_sql_close(em_sql *q); /* its statements are freed before */
/* Turns to another session: what is temporary and what is attached stays, and so does the pool of em_sql_use where `s`
 * has it.  No statement is open meanwhile; the session before may be closed then. */
void em_sql_turn(em_sql *q, em_session *s);
/* The pool that tables use whose parameter `pool` is not given; NULL = none. */
int em_sql_use(em_sql *q, const char *pool, em_err *err) EM_MUST_CHECK;

/* Is `text` one or more whole statements, each ended by its semicolon? */
bool em_sql_is_complete(const char *text);

/* Compiles the first statement of the `len` bytes of text; *used = how many bytes it takes.  *out is NULL when there are
 * only blanks and comments.  When it fails, *used = the byte that the error is about, as far as is known. */
int em_stmt_prepare(em_sql *q, const char *text, size_t len, em_stmt **out, size_t *used, em_err *err) EM_MUST_CHECK;
void em_stmt_free(em_stmt *st);
int em_stmt_step(em_stmt *st, bool *row, em_err *err) EM_MUST_CHECK; /* *row false = done */
/* Columns that are a view's carry its unit, type and decimals; of others the type of the first row's value. */
size_t em_stmt_n_columns(const em_stmt *st); /* 0 = gives no rows at all */
const em_view_column *em_stmt_columns(const em_stmt *st);
/* A value of the current row, good until the next call.  NULL is missing, '' is unused; bytes that are no text become
 * X'..' */
void em_stmt_cell(em_stmt *st, size_t column, em_cell *out);

/* Runs every statement of `text`, each one's rows in the format of `r`.  Stops at the first error, *at = its byte. */
int em_sql_run(em_sql *q, const char *text, size_t len, const em_render *r, em_put_fn put, void *ctx, size_t *at,
               em_err *err) EM_MUST_CHECK;

/* ---- what there is, for completion and manuals --------------------------------------------------- */

typedef struct em_sql_function {
  const char *name, *args; /* "knob", "row, name" */
  int n_args;
  bool aggregate;
  const char *doc;
} em_sql_function;
size_t em_n_sql_functions(void);
const em_sql_function *em_sql_function_at(size_t i);

/* Questions with the statement that answers each; every one is run by a test. */
typedef struct em_sql_example {
  const char *question, *sql;
} em_sql_example;
size_t em_n_sql_examples(void);
const em_sql_example *em_sql_example_at(size_t i);

/* What a view's hidden column for parameter i is called. */
void em_sql_param_name(const em_view *v, size_t i, char buf[64]);
#endif
