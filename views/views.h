/*
 * views.h - every browsable table, declared once.
 *
 * A view is columns (name, type, unit, doc), parameters, rows, and what Enter
 * does on a row.  The same declaration is a screen of the explorer, a table of the command
 * line (text, CSV, JSON) and a table of SQL (sql.h).  views.def lists the views; adding
 * one is a file here and a line there.
 *
 * A cursor is an open view: random access to its rows, in the view's own order.
 * Cells are computed when asked.  Nothing here knows curses.
 */
#ifndef EM_VIEWS_H
#define EM_VIEWS_H

#include "core/session/session.h"

/* ---- cells ------------------------------------------------------------------------ */

typedef enum em_type { EM_TEXT, EM_INT, EM_REAL, EM_FLAG } em_type;

/* A cell is a value, missing (shown as a middle dot, empty in CSV, null in JSON), or
 * unused (a knob decided to be unused: shown as "-", "" in CSV and JSON). */
typedef enum em_cell_state { EM_CELL_MISSING, EM_CELL_UNUSED, EM_CELL_VALUE } em_cell_state;

/* Filled in place and never copied by value: `s` may point into `buf`. */
#define EM_CELL_TEXT 384
typedef struct em_cell {
  em_cell_state state;
  em_type type;
  int64_t i;     /* EM_INT, EM_FLAG */
  double f;      /* EM_REAL */
  const char *s; /* EM_TEXT: borrowed from the cursor, or points at buf */
  char buf[EM_CELL_TEXT];
} em_cell;

void em_cell_text(em_cell *c, const char *s);                          /* NULL = missing; borrowed */
void em_cell_printf(em_cell *c, const char *fmt, ...) EM_PRINTF(2, 3); /* into buf */
void em_cell_int(em_cell *c, int64_t v);
void em_cell_real(em_cell *c, double v); /* NaN = missing */
void em_cell_flag(em_cell *c, bool v);
void em_cell_missing(em_cell *c);
void em_cell_unused(em_cell *c);
/* Total order for sorting: missing last, unused before values, then by value. */
int em_cell_compare(const em_cell *a, const em_cell *b);

/* ---- declarations -------------------------------------------------------------------- */

typedef struct em_view_column {
  const char *name;  /* SQL name, CSV header: "golden_rank" */
  const char *title; /* on screen: "golden" */
  em_type type;
  const char *unit; /* "rank", "us", "candidates", "" */
  int width;        /* preferred cells on screen; text columns may shrink and grow; 0 = only in CSV, JSON and SQL */
  int digits;       /* EM_REAL: decimals on screen; -1 = shortest */
  const char *doc;
} em_view_column;

typedef struct em_param {
  const char *name; /* "pool" */
  em_type type;
  bool required;
  const char *doc;
} em_param;

typedef struct em_cursor em_cursor;

/* What a row's Enter opens: another view with arguments (static view name, owned texts). */
#define EM_MAX_PARAMS 5
typedef struct em_target {
  const char *view;
  char *args[EM_MAX_PARAMS];
} em_target;

/* How a row wants to be shown; a word in the row always says the same. */
typedef enum em_mark { EM_MARK_NONE, EM_MARK_GOLDEN, EM_MARK_PICK, EM_MARK_ATTENTION, EM_MARK_DIM } em_mark;

typedef struct em_view {
  const char *name; /* "pools" */
  const char *title;
  const char *doc; /* a paragraph for help and the manual */
  const em_view_column *columns;
  size_t n_columns;
  const em_param *params;
  size_t n_params;
  bool live;        /* rows or cells may change while the session works: what prints it ranks all pools first */
  const char *key;  /* an integer column that is the row's number from 1: SQL seeks and orders by it; NULL = none */
  const char *sort; /* name of the column that it is shown by at first, "-name" = descending; NULL = own order */
  size_t (*rows)(em_cursor *c);
  void (*cell)(em_cursor *c, size_t row, size_t column, em_cell *out);
  /* The rest may be NULL. */
  size_t size; /* of its cursor, whose first member is an em_cursor; 0 = it needs nothing more */
  /* Fills a fresh cursor, zeroed but for its em_cursor.  args[i] is the text of parameter i, NULL when not given. */
  int (*open)(em_cursor *c, const char *const *args, em_err *err);
  void (*close)(em_cursor *c); /* gives back what `open` took, also what it took before it failed */
  em_mark (*mark)(em_cursor *c, size_t row);
  void (*head)(em_cursor *c, em_str *out); /* lines above the table: both candidates' knobs, ... */
  void (*foot)(em_cursor *c, em_str *out); /* lines below: totals; the first is the one that a low screen keeps */
  void (*sentence)(em_cursor *c, size_t row, em_str *out); /* what the cursor is on */
  void (*crumb)(em_cursor *c, em_str *out);                /* where am I, for the title line */
  bool (*enter)(em_cursor *c, size_t row, em_target *out); /* false = nothing deeper */
  bool (*why)(em_cursor *c, size_t row, em_target *out);   /* cold pick beside golden, from anywhere in a pool */
  bool (*swap)(em_cursor *c, em_target *out);              /* the same comparison the other way round */
  bool (*turn)(em_cursor *c, em_target *out);              /* Tab: another look at the same thing */
  size_t (*start)(em_cursor *c);                           /* the row where a person wants to begin */
  /* How many rows `open` would give, without opening; SIZE_MAX = cannot say.  args[i] NULL = not given, or not known yet. */
  size_t (*estimate)(em_session *s, const char *const *args);
  /* The pool that must be ranked before this cell is whole; SIZE_MAX = none.  A live view without it needs all of them. */
  size_t (*waits_for)(em_cursor *c, size_t row, size_t column);
} em_view;

struct em_cursor {
  const em_view *view;
  em_session *session;
}; /* first member of each view's own cursor */

extern const em_view *const em_views[]; /* NULL-terminated, in the order of the number keys */
const em_view *em_view_find(const char *name);
int em_view_find_column(const em_view *v, const char *name); /* -1 = none */
/* Opens with arguments in order of the parameters; a missing required one and an unknown view are errors (EM_E_USAGE).  A
 * parameter called "prior" is not the view's business: what is given for it is the prior of the session that the view
 * gets, which the cursor holds. */
int em_view_open(const char *name, em_session *s, const char *const *args, em_cursor **out, em_err *err) EM_MUST_CHECK;
void em_cursor_close(em_cursor *c);
/* That session: to rank what a live view shows before it is opened.  Given back with em_session_let_go. */
int em_view_session(const em_view *v, em_session *s, const char *const *args, em_session **out,
                    em_err *err) EM_MUST_CHECK;
/* Where a row, or the whole view, leads; false = nowhere.  What it leads to keeps the cursor's prior. */
typedef enum em_way { EM_WAY_ENTER, EM_WAY_WHY, EM_WAY_SWAP, EM_WAY_TURN } em_way;
bool em_cursor_way(em_cursor *c, em_way way, size_t row, em_target *out);
void em_target_free(em_target *t);
const em_compare *em_fit_compare_of(const em_cursor *c); /* of a cursor of fit_compare: what it shows */
/* Of a cursor of definitions: the kernels of one source more, and the kernel of a row. */
int em_definitions_add(em_cursor *c, const char *source, em_err *err) EM_MUST_CHECK;
const em_kernel *em_definition(const em_cursor *c, size_t row);

/* ---- order and filter ------------------------------------------------------------------- */

/* A selection of a cursor's rows in an order: what a screen or a table shows. */
typedef struct em_arrangement {
  uint32_t *rows;
  size_t n, of;
} em_arrangement;
/* column -1 = the view's own order.  Stable: equal cells keep the view's order.  `filter` is a
 * case-insensitive substring of any cell's text, or "column:text"; NULL or "" = all; a leading '!' inverts. */
int em_arrange(em_cursor *c, int column, bool descending, const char *filter, em_arrangement *out,
               em_err *err) EM_MUST_CHECK;
void em_arrangement_free(em_arrangement *a);
/* The next row at or after `from` (wrapping, `step` +1 or -1) whose cells contain `text`; SIZE_MAX = none. */
size_t em_arrangement_search(em_cursor *c, const em_arrangement *a, size_t from, int step, const char *text);

/* ---- rendering without a screen ------------------------------------------------------------ */

/* A cell as people read it: units, decimals, missing and unused by their glyphs (ASCII set: "." and "-"). */
void em_cell_display(const em_view_column *col, const em_cell *c, bool ascii, em_str *out);
typedef enum em_format { EM_FORMAT_TABLE, EM_FORMAT_CSV, EM_FORMAT_JSON, EM_FORMAT_LINE, EM_FORMAT_MARKDOWN } em_format;
typedef struct em_render {
  em_format format;
  int width; /* of the table; 0 = as wide as it needs */
  bool ascii;
  bool bare; /* no header (table, CSV, Markdown) */
  bool
    leave_out; /* last columns of a table that is too wide, which a line at its end names; else texts are cut further */
  size_t limit; /* rows; 0 = all */
} em_render;
/* Takes text; nonzero = stop (a closed pipe). */
typedef int (*em_put_fn)(void *ctx, const char *text, size_t len);
int em_render_view(em_cursor *c, const em_arrangement *a, const em_render *r, em_put_fn put, void *ctx,
                   em_err *err) EM_MUST_CHECK;

/* The same for rows that come one after another: cells in the order of the columns, a row as soon as its last cell is
 * there.  A table's column widths come from its first rows, so memory stays flat.  `columns` are borrowed. */
typedef struct em_writer em_writer;
int em_writer_open(const em_view_column *columns, size_t n, const em_render *r, em_put_fn put, void *ctx,
                   em_writer **out, em_err *err) EM_MUST_CHECK;
void em_writer_cell(em_writer *w, const em_cell *c);
bool em_writer_stopped(const em_writer *w); /* the reader went away: no failure, but no use to go on */
int em_writer_close(em_writer *w, em_err *err) EM_MUST_CHECK; /* writes what is left */

/* Display width of UTF-8 text in cells, and cutting by cells (never through a wide character). */
int em_text_width(const char *s);
size_t em_text_cut(const char *s, int cells, int *used); /* bytes that fit */

#endif
