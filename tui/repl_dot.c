/* repl_dot.c - the dot commands: settings, what is open, documentation, and commands of the program. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "tui/repl.h"

#define COUNT(a)  (sizeof(a) / sizeof *(a))
#define MAX_WORDS 64

/* ---- what is open ---- */

static int dot_open(em_repl *r, size_t n, char **words, em_err *err)
{
  return em_repl_open(r, words + 1, n - 1, r->prior, err);
}

static int dot_prior(em_repl *r, size_t n, char **words, em_err *err)
{
  return em_repl_open(r, r->sources, r->n_sources, n > 1 ? words[1] : NULL, err);
}

static int dot_use(em_repl *r, size_t n, char **words, em_err *err)
{
  return em_sql_use(r->sql, n > 1 ? words[1] : NULL, err);
}

/* ---- settings ---- */

static int one_of(const char *command, const char *word, const char *const *names, size_t n, int *out, em_err *err)
{
  em_str all = {0};
  for (size_t i = 0; i < n; i++) {
    if (strcasecmp(word, names[i]) == 0) {
      *out = (int)i;
      em_str_free(&all);
      return EM_OK;
    }
    em_str_printf(&all, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", names[i]);
  }
  em_fail(err, EM_E_INPUT, "%s takes %s, got \"%s\"", command, all.s ? all.s : "", word);
  em_str_free(&all);
  return err->code;
}

static int dot_mode(em_repl *r, size_t n, char **words, em_err *err)
{
  static const char *const names[] = {[EM_FORMAT_TABLE] = "table",
                                      [EM_FORMAT_CSV] = "csv",
                                      [EM_FORMAT_JSON] = "json",
                                      [EM_FORMAT_LINE] = "line",
                                      [EM_FORMAT_MARKDOWN] = "markdown"};
  int format;
  (void)n;
  if (one_of(words[0], words[1], names, COUNT(names), &format, err) != EM_OK) return err->code;
  r->render.format = (em_format)format;
  return EM_OK;
}

static int on_or_off(char **words, bool *out, em_err *err)
{
  static const char *const names[] = {"off", "on"};
  int i = 0;
  if (one_of(words[0], words[1], names, COUNT(names), &i, err) != EM_OK) return err->code;
  *out = i == 1;
  return EM_OK;
}

static int dot_timer(em_repl *r, size_t n, char **words, em_err *err)
{
  (void)n;
  return on_or_off(words, &r->timer, err);
}

static int dot_headers(em_repl *r, size_t n, char **words, em_err *err)
{
  bool on = true;
  (void)n;
  if (on_or_off(words, &on, err) != EM_OK) return err->code;
  r->render.bare = !on;
  return EM_OK;
}

static int dot_width(em_repl *r, size_t n, char **words, em_err *err)
{
  int64_t width = -1;
  if (n > 1 && !em_parse_i64(words[1], 0, 10000, &width))
    return em_fail(err, EM_E_INPUT, ".width takes 0 (as wide as needed) to 10000, got \"%s\"", words[1]);
  r->width = (int)width;
  return EM_OK;
}

/* ---- files ---- */

/* What was written so far becomes visible, whole. */
static int end_output(em_repl *r, em_err *err)
{
  em_out *out = r->output;
  r->output = NULL;
  if (!out) return EM_OK;
  int rc = em_out_commit(out, err);
  if (rc != EM_OK) em_out_abort(out);
  return rc;
}

static int dot_output(em_repl *r, size_t n, char **words, em_err *err)
{
  int rc = end_output(r, err);
  return rc == EM_OK && n > 1 ? em_out_open(words[1], &r->output, err) : rc;
}

static int dot_once(em_repl *r, size_t n, char **words, em_err *err)
{
  (void)n;
  em_out_abort(r->once);
  r->once = NULL;
  return em_out_open(words[1], &r->once, err);
}

static int dot_read(em_repl *r, size_t n, char **words, em_err *err)
{
  (void)n;
  return em_repl_run_file(r, words[1], err);
}

static int dot_save(em_repl *r, size_t n, char **words, em_err *err)
{
  em_out *out;
  (void)n;
  if (r->log.failed) return em_fail_nomem(err);
  if (em_out_open(words[1], &out, err) != EM_OK) return err->code;
  if (r->log.len) em_out_write(out, r->log.s, r->log.len);
  int rc = em_out_commit(out, err);
  if (rc != EM_OK) em_out_abort(out);
  return rc;
}

/* ---- documentation ---- */

static void put_call(em_str *out, const em_view *v)
{
  em_str_put(out, v->name);
  for (size_t i = 0; i < v->n_params; i++)
    em_str_printf(out, "%s%s%s%s", i ? ", " : "(", v->params[i].required ? "" : "[", v->params[i].name,
                  v->params[i].required ? "" : "]");
  if (v->n_params) em_str_putc(out, ')');
}

static const char *const type_words[] = {
  [EM_TEXT] = "text", [EM_INT] = "integer", [EM_REAL] = "real", [EM_FLAG] = "0 or 1"};

static void put_column(em_str *out, const char *name, const char *type, const char *unit, const char *doc)
{
  em_str head = {0}, body = {0};
  em_str_printf(&head, "  %-24s %s%s%s%s", name, type, *unit ? " (" : "", unit, *unit ? ")" : "");
  em_put_wrapped(&body, doc, 6, 78);
  em_str_printf(out, "%s\n%s", head.s ? head.s : "", body.s ? body.s : "");
  out->failed |= head.failed || body.failed;
  em_str_free(&head);
  em_str_free(&body);
}

static void put_schema(em_str *out, const em_view *v)
{
  put_call(out, v);
  em_str_put(out, "\n");
  em_put_wrapped(out, v->doc, 2, 78);
  for (size_t i = 0; i < v->n_params; i++) {
    char name[64];
    em_sql_param_name(v, i, name);
    put_column(out, name, v->params[i].required ? "argument" : "argument, may be left out", "", v->params[i].doc);
  }
  for (size_t i = 0; i < v->n_columns; i++)
    put_column(out, v->columns[i].name, type_words[v->columns[i].type], v->columns[i].unit, v->columns[i].doc);
}

static int unknown_name(const char *what, const char *name, em_err *err)
{
  const char *names[256] = {0};
  em_str near = {0};
  size_t n = 0;
  for (size_t i = 0; em_views[i] && n < COUNT(names) - 1; i++) names[n++] = em_views[i]->name;
  for (size_t i = 0; i < em_n_sql_functions() && n < COUNT(names) - 1; i++) names[n++] = em_sql_function_at(i)->name;
  em_put_near(&near, name, names);
  em_fail(err, EM_E_INPUT, "%s \"%s\"%s", what, name, near.s ? near.s : "");
  em_str_free(&near);
  return err->code;
}

static int dot_schema(em_repl *r, size_t n, char **words, em_err *err)
{
  em_str out = {0};
  const em_view *v = n > 1 ? em_view_find(words[1]) : NULL;
  if (n > 1 && !v) return unknown_name("no table is called", words[1], err);
  if (v) put_schema(&out, v);
  for (size_t i = 0; !v && em_views[i]; i++) {
    put_call(&out, em_views[i]);
    em_str_putc(&out, '\n');
    em_put_wrapped(&out, em_views[i]->doc, 4, 78);
  }
  return em_repl_put_text(r, &out, err);
}

static void put_function(em_str *out, const em_sql_function *f)
{
  em_str_printf(out, "%s(%s)%s\n", f->name, f->args, f->aggregate ? "  aggregate" : "");
  em_put_wrapped(out, f->doc, 4, 78);
}

/* The name of anything: a table, a column of any table, a function, a knob, a feature. */
static void put_doc(em_str *out, const char *name)
{
  em_family family;
  const em_view *view = em_view_find(name);
  const em_feature *feature = em_feature_find(name);
  if (view) put_schema(out, view);
  for (size_t i = 0; i < em_n_sql_functions(); i++)
    if (strcasecmp(name, em_sql_function_at(i)->name) == 0) put_function(out, em_sql_function_at(i));
  for (size_t v = 0; em_views[v]; v++) {
    int i = em_view_find_column(em_views[v], name);
    if (i < 0) continue;
    em_str_printf(out, "column of %s\n", em_views[v]->name);
    put_column(out, em_views[v]->columns[i].name, type_words[em_views[v]->columns[i].type],
               em_views[v]->columns[i].unit, em_views[v]->columns[i].doc);
  }
  if (em_family_find(name, strlen(name), &family)) {
    em_str_printf(out, "knob %s: %s\n", em_family_at(family)->name, em_family_at(family)->grammar);
    em_put_wrapped(out, em_family_at(family)->doc, 4, 78);
  }
  if (feature) {
    em_str_printf(out, "feature %s, %s, unit %s\n", feature->name, feature->group,
                  *feature->unit ? feature->unit : "none");
    em_put_wrapped(out, feature->doc, 4, 78);
  }
}

static int dot_doc(em_repl *r, size_t n, char **words, em_err *err)
{
  em_str out = {0};
  if (n > 1) put_doc(&out, words[1]);
  for (size_t i = 0; n == 1 && i < em_n_sql_functions(); i++) put_function(&out, em_sql_function_at(i));
  if (!out.len && !out.failed)
    return unknown_name("no table, column, function, knob or feature is called", words[1], err);
  return em_repl_put_text(r, &out, err);
}

static int dot_examples(em_repl *r, size_t n, char **words, em_err *err)
{
  em_str out = {0};
  int64_t only = 0;
  if (n > 1 && !em_parse_i64(words[1], 1, (int64_t)em_n_sql_examples(), &only))
    return em_fail(err, EM_E_INPUT, ".examples takes a number from 1 to %zu, got \"%s\"", em_n_sql_examples(),
                   words[1]);
  for (size_t i = 0; i < em_n_sql_examples(); i++) {
    if (only && (size_t)only != i + 1) continue;
    em_str_printf(&out, "%s-- %zu. %s\n%s\n", out.len ? "\n" : "", i + 1, em_sql_example_at(i)->question,
                  em_sql_example_at(i)->sql);
  }
  return em_repl_put_text(r, &out, err);
}

static int dot_help(em_repl *r, size_t n, char **words, em_err *err)
{
  em_str out = {0};
  for (const em_dot *d = em_dots; d->name; d++) {
    if (n > 1 && strcmp(d->name + 1, words[1] + (*words[1] == '.')) != 0) continue;
    em_str_printf(&out, "%s%s%s\n", d->name, *d->args ? " " : "", d->args);
    em_put_wrapped(&out, d->doc, 4, 78);
  }
  if (!out.len && !out.failed)
    return em_fail(err, EM_E_INPUT, "no dot command is called \"%s\"; .help lists them", words[1]);
  return em_repl_put_text(r, &out, err);
}

static int dot_quit(em_repl *r, size_t n, char **words, em_err *err)
{
  (void)n, (void)words, (void)err;
  r->quit = true;
  return EM_OK;
}

/* ---- commands of the program ---- */

static const struct {
  const char *dot, *command;
} aliases[] = {{".import", "db import"},
               {".export", "db export"},
               {".eval", "eval prior"},
               {".fit", "fit"},
               {".compare", "compare"}};

/* As if the words stood on the command line; the session stays as it is. */
static int dot_command(em_repl *r, size_t n, char **words, em_err *err)
{
  const char *name = "";
  em_args args;
  bool help;
  for (size_t i = 0; i < COUNT(aliases); i++)
    if (strcmp(aliases[i].dot, words[0]) == 0) name = aliases[i].command;
  const em_command *c = em_command_find(name);
  if (!c) return em_fail(err, EM_E_INPUT, "%s: this program has no command \"%s\"", words[0], name);
  if (em_args_parse(c, (int)n, words, &args, &help, err) != EM_OK) return err->code;
  em_str text = {0};
  if (help) em_help_put_command(&text, c);
  int rc = help ? em_repl_put_text(r, &text, err) : c->run(&args, err);
  em_cli_progress_end();
  if (r->interactive) em_repl_catch_interrupt(r);
  return rc;
}

/* ---- the table ---- */

const em_dot em_dots[] = {
  {".open", "[SOURCE...]",
   "open other sources: golden files, stores, dataset directories; none = the shipped golden files", 0, -1, dot_open},
  {".prior", "[FILE]", "rank with another prior; none = the shipped one", 0, 1, dot_prior},
  {".use", "[POOL]",
   "the pool of tables whose argument pool is not given, while the sources have it; none = it has to be given", 0, 1,
   dot_use},
  {".mode", "table|csv|json|line|markdown", "how results are written", 1, 1, dot_mode},
  {".headers", "on|off", "names of columns above tables and CSV", 1, 1, dot_headers},
  {".width", "[N]", "cells that a table may take; 0 = as many as it needs; none = those of the terminal", 0, 1,
   dot_width},
  {".timer", "on|off", "time of each statement, on standard error", 1, 1, dot_timer},
  {".output", "[FILE]",
   "write results to FILE, which is whole once the next .output or the end comes; none = standard output", 0, 1,
   dot_output},
  {".once", "FILE", "write the result of the next statement to FILE", 1, 1, dot_once},
  {".read", "FILE", "run the statements and dot commands of FILE", 1, 1, dot_read},
  {".save", "FILE", "write the statements that ran so far to FILE, for .read", 1, 1, dot_save},
  {".schema", "[TABLE]", "the tables, or the columns of one with type, unit and meaning", 0, 1, dot_schema},
  {".doc", "[NAME]", "what a table, column, function, knob or feature means; none = the functions", 0, 1, dot_doc},
  {".examples", "[N]", "questions with the statements that answer them", 0, 1, dot_examples},
  {".import", "[OPTION...] SOURCE...", "import golden files or a store, as emmy db import does", 0, -1, dot_command},
  {".export", "[OPTION...] DIR", "write a dataset, as emmy db export does", 0, -1, dot_command},
  {".eval", "[OPTION...] DATASET", "report how well a prior ranks, as emmy eval prior does", 0, -1, dot_command},
  {".fit", "[OPTION...] DATASET [FILE]", "fit a prior, as emmy fit does", 0, -1, dot_command},
  {".compare", "[OPTION...] FIT FIT", "compare two fits, as emmy compare does", 0, -1, dot_command},
  {".help", "[NAME]", "the dot commands", 0, 1, dot_help},
  {".quit", "", "leave", 0, 0, dot_quit},
  {NULL, NULL, NULL, 0, 0, NULL}};

/* Words are separated by blanks; quotes of either kind keep blanks together.  Cuts the text in place. */
static int split(char *text, char **words, size_t *n, em_err *err)
{
  char *to = text;
  *n = 0;
  for (char *s = text; *s;) {
    while (isspace((unsigned char)*s)) s++;
    if (!*s) break;
    if (*n == MAX_WORDS) return em_fail(err, EM_E_INPUT, "more than %d words", MAX_WORDS);
    words[(*n)++] = to;
    while (*s && !isspace((unsigned char)*s)) {
      char quote = *s == '\'' || *s == '"' ? *s++ : '\0';
      while (*s && (quote ? *s != quote : !isspace((unsigned char)*s) && *s != '\'' && *s != '"')) *to++ = *s++;
      if (quote && !*s) return em_fail(err, EM_E_INPUT, "the quote %c is not closed", quote);
      if (quote) s++;
    }
    bool more = *s != '\0';
    *to++ = '\0';
    if (more) s++;
  }
  words[*n] = NULL;
  return EM_OK;
}

static int unknown_dot(const char *name, em_err *err)
{
  const char *names[64] = {0};
  em_str near = {0};
  size_t n = 0;
  for (const em_dot *d = em_dots; d->name && n < COUNT(names) - 1; d++) names[n++] = d->name;
  em_put_near(&near, name, names);
  em_fail(err, EM_E_INPUT, "no dot command is called \"%s\"%s; .help lists them", name, near.s ? near.s : "");
  em_str_free(&near);
  return err->code;
}

int em_dot_run(em_repl *r, const char *line, em_err *err)
{
  char *words[MAX_WORDS + 1];
  size_t n;
  char *text = em_strdup(line);
  if (!text) return em_fail_nomem(err);
  int rc = split(text, words, &n, err);
  const char *name = rc == EM_OK && n > 0 ? words[0] : "";
  const em_dot *d = em_dots;
  while (d->name && strcmp(d->name, name) != 0) d++;
  if (rc == EM_OK && !d->name) rc = unknown_dot(name, err);
  if (rc == EM_OK && ((int)n - 1 < d->least || (d->most >= 0 && (int)n - 1 > d->most)))
    rc = em_fail(err, EM_E_INPUT, "usage: %s%s%s", d->name, *d->args ? " " : "", d->args);
  if (rc == EM_OK) rc = d->run(r, n, words, err);
  em_free(text);
  return rc;
}
