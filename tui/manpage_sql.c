/* manpage_sql.c - emmy-sql(7), made from the declarations of the views, the functions and the examples. */
#include <string.h>

#include "tui/mdoc.h"
#include "views/sql.h"

static const char intro[] =
  "Every view of emmy is a table: what the explorer shows on a screen can be asked in SQL, at the prompt of emmy-repl(1) "
  "or in a script.  The SQL is that of SQLite.\n\n"
  "Arguments.  A table with arguments is written like a function, candidates('h100/matmul.square.1024'), or with a "
  "condition: where pool = '...'.  An argument may come from another table: from pools p, candidates(p.pool) c.  A table's "
  "argument is a hidden column behind its columns, called like the argument, with arg_ before it where a column has that "
  "name.  A pool is named by its key, by card and label, or by a unique part of either; a candidate by its rank, "
  "\"pick\" or \"golden\".  Tables that show what the prior says take the file of another one as the argument prior: "
  "candidates('h100/matmul.square.1024', 'fit.json').\n\n"
  "Values.  What is missing is NULL.  A knob that is decided to be unused is the empty string, which is not NULL.  Flags are 0 and 1.  "
  "Ranks count from 1: the candidate of rank 1 is the pick.  Values are exact; a table on a terminal rounds them and shows "
  "NULL as \u00b7 and the empty string as -.\n\n"
  "Work.  Pools are ranked when a query asks for what only a ranked pool knows, and are then kept.  Conditions on the rank "
  "of candidates and order by rank cost nothing, however large the pool.  Rows come as they are needed: limit stops the work.\n\n"
  "Reading only.  Nothing can be written but temporary tables: create temp table best as select * from pools.  Other SQLite files "
  "are opened for reading: attach 'mine.db' as mine.  A table of theirs, or a temporary one, hides ours of the same name (a store "
  "has one called routing); main.routing is ours.";

static const char *const type_words[] = {
  [EM_TEXT] = "text", [EM_INT] = "integer", [EM_REAL] = "real", [EM_FLAG] = "0 or 1"};

static void put_table(em_str *out, const em_view *v)
{
  em_str_printf(out, ".Ss Table %s", v->name);
  for (size_t i = 0; i < v->n_params; i++)
    em_str_printf(out, "%s%s%s%s", i ? ", " : "(", v->params[i].required ? "" : "[", v->params[i].name,
                  v->params[i].required ? "" : "]");
  em_str_put(out, v->n_params ? ")\n" : "\n");
  em_mdoc_text(out, v->doc);
  if (v->n_params) em_str_put(out, ".Pp\nArguments:\n.Bl -tag -width Ds -compact\n");
  for (size_t i = 0; i < v->n_params; i++) {
    char name[64];
    em_sql_param_name(v, i, name);
    em_mdoc_item(out, name, v->params[i].doc);
  }
  if (v->n_params) em_str_put(out, ".El\n");
  em_str_put(out, ".Pp\nColumns:\n.Bl -tag -width Ds -compact\n");
  for (size_t i = 0; i < v->n_columns; i++) {
    const em_view_column *c = &v->columns[i];
    em_str text = {0};
    em_str_printf(&text, "%s%s%s: %s", type_words[c->type], *c->unit ? ", " : "", c->unit, c->doc);
    em_mdoc_item(out, c->name, text.s ? text.s : "");
    em_str_free(&text);
  }
  em_str_put(out, ".El\n");
}

/* ".Fn knob row name": each argument is a word. */
static void put_function(em_str *out, const em_sql_function *f)
{
  em_str text = {0};
  em_str_printf(out, ".It Fn %s ", f->name);
  for (const char *s = f->args; *s; s++)
    if (*s != ',') em_str_putc(out, *s);
  em_str_printf(&text, "%s%s.", f->aggregate ? "aggregate: " : "", f->doc);
  em_str_putc(out, '\n');
  em_mdoc_text(out, text.s ? text.s : "");
  em_str_free(&text);
}

static void put_example(em_str *out, const em_sql_example *e, bool first)
{
  if (!first) em_str_put(out, ".Pp\n");
  em_mdoc_text(out, e->question);
  em_str_put(out, ".Bd -literal -offset indent\n");
  for (const char *s = e->sql; *s;) {
    size_t n = strcspn(s, "\n");
    em_mdoc_escaped(out, s, n);
    em_str_putc(out, '\n');
    s += n + (s[n] == '\n');
  }
  em_str_put(out, ".Ed\n");
}

void em_manpage_sql_put(em_str *out)
{
  em_str_put(out, ".\\\" Made by emmy help --man from the tables of the program.\n.Dd " EM_VERSION_DATE
                  "\n.Dt EMMY-SQL 7\n.Os\n"
                  ".Sh NAME\n.Nm emmy-sql\n.Nd the tables and functions of emmy's SQL\n.Sh DESCRIPTION\n");
  em_mdoc_text(out, intro);
  em_str_put(out, ".Sh TABLES\n");
  for (size_t i = 0; em_views[i]; i++) put_table(out, em_views[i]);
  em_str_put(out, ".Sh FUNCTIONS\nBesides those of SQLite:\n.Bl -tag -width Ds\n");
  for (size_t i = 0; i < em_n_sql_functions(); i++) put_function(out, em_sql_function_at(i));
  em_str_put(out, ".El\n.Sh EXAMPLES\n");
  for (size_t i = 0; i < em_n_sql_examples(); i++) put_example(out, em_sql_example_at(i), i == 0);
  em_str_put(out, ".Sh SEE ALSO\n.Xr emmy-repl 1 ,\n.Xr emmy-view 1 ,\n.Xr sqlite3 1\n");
}
