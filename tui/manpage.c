/* manpage.c - manual pages in mdoc, made from the tables. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tui/cli.h"
#include "tui/explore.h"
#include "tui/mdoc.h"
#include "tui/repl.h"

/* ---- parts of a page ---- */

static void put_upper(em_str *out, const char *s)
{
  for (; *s; s++) em_str_putc(out, (char)toupper((unsigned char)*s));
}

void em_manpage_name(const em_command *c, em_str *out)
{
  em_str_put(out, "emmy");
  if (!c) return;
  em_str_putc(out, '-');
  for (const char *s = c->name; *s; s++) em_str_putc(out, *s == ' ' ? '-' : *s);
}

static void put_top(em_str *out, const em_command *c, const char *doc)
{
  em_str name = {0};
  em_manpage_name(c, &name);
  em_str_put(out, ".\\\" Made by emmy help --man from the tables of the program.\n.Dd " EM_VERSION_DATE "\n.Dt ");
  put_upper(out, name.s ? name.s : "");
  em_str_printf(out, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", name.s ? name.s : "", doc);
  em_str_free(&name);
}

/* ".Ar SOURCE ..." or ".Op Ar SOURCE ..." for each word. */
static void put_arguments(em_str *out, const char *args)
{
  while (*args) {
    size_t n = strcspn(args, " ");
    bool optional = args[0] == '[', many = strstr(args, "...") && strcspn(args, ".") < n;
    const char *name = args + optional;
    em_str_printf(out, "%s%.*s%s\n", optional ? ".Op Ar " : ".Ar ", (int)strcspn(name, " .]"), name,
                  many ? " ..." : "");
    args += n + (args[n] == ' ');
  }
}

static void put_synopsis(em_str *out, const em_command *c)
{
  const em_option *o;
  em_str_printf(out, ".Sh SYNOPSIS\n.Nm emmy %s\n", c->name);
  for (size_t k = 0; (o = em_command_option(c, k, NULL, NULL)); k++) {
    em_str_put(out, ".Op Fl \\-");
    em_mdoc_escaped(out, o->name, strlen(o->name));
    em_str_printf(out, "%s%s\n", *o->arg ? " Ar " : "", o->arg);
  }
  put_arguments(out, c->args);
}

static void put_option(em_str *out, const em_option *o)
{
  em_str text = {0};
  em_str_put(out, ".It ");
  if (o->letter) em_str_printf(out, "Fl %c , ", o->letter);
  em_str_put(out, "Fl \\-");
  em_mdoc_escaped(out, o->name, strlen(o->name));
  em_str_printf(out, "%s%s\n", *o->arg ? " Ar " : "", o->arg);
  em_str_put(&text, o->doc);
  if (o->dflt) em_str_printf(&text, " (default %s)", o->dflt);
  em_str_putc(&text, '.');
  em_mdoc_text(out, text.s ? text.s : "");
  em_str_free(&text);
}

static void put_examples(em_str *out, const em_example *examples)
{
  em_str_put(out, ".Sh EXAMPLES\n");
  for (const em_example *e = examples; e->command; e++) {
    em_str text = {0};
    em_str_printf(&text, "%c%s:", toupper((unsigned char)e->what[0]), e->what + 1);
    if (e != examples) em_str_put(out, ".Pp\n");
    em_mdoc_text(out, text.s ? text.s : "");
    em_str_put(out, ".Dl ");
    em_mdoc_escaped(out, e->command, strlen(e->command));
    em_str_putc(out, '\n');
    em_str_free(&text);
  }
}

static void put_status(em_str *out)
{
  em_str_put(out, ".Sh EXIT STATUS\n.Bl -tag -width 1n -compact\n"
                  ".It 0\nThe work was done; or the reader of standard output went away.\n"
                  ".It 1\nBad input, or reading or writing failed.\n"
                  ".It 2\nWrong usage.\n"
                  ".It 3\nA check failed.\n"
                  ".It 4\nSomething of the environment is missing.\n.El\n");
}

/* ---- a command's page ---- */

enum { MAX_COMMANDS = 64 };

static int by_name(const void *a, const void *b)
{
  return strcmp((*(const em_command *const *)a)->name, (*(const em_command *const *)b)->name);
}

/* References to the commands whose names begin with `group`, sorted, but for `self`; each ends its line with " ,". */
static void put_references(em_str *out, const char *group, const em_command *self)
{
  const em_command *found[MAX_COMMANDS] = {0};
  size_t n = 0;
  for (const em_command *c = em_commands; c->name && n < MAX_COMMANDS; c++)
    if ((!self || strcmp(c->name, self->name) != 0) && strncmp(c->name, group, strlen(group)) == 0) found[n++] = c;
  qsort(found, n, sizeof *found, by_name);
  for (size_t i = 0; i < n; i++) {
    em_str_put(out, " ,\n.Xr ");
    em_manpage_name(found[i], out);
    em_str_put(out, " 1");
  }
}

static void put_see_also(em_str *out, const em_command *c)
{
  char group[32];
  size_t len = strcspn(c->name, " ");
  em_str_put(out, ".Sh SEE ALSO\n.Xr emmy 1");
  snprintf(group, sizeof group, "%.*s ", (int)len, c->name);
  if (c->name[len]) put_references(out, group, c);
  if (strcmp(c->name, "repl") == 0 || strcmp(c->name, "view") == 0) em_str_put(out, " ,\n.Xr emmy-sql 7");
  em_str_putc(out, '\n');
}

static void put_values(em_str *out, const em_command *c)
{
  em_str name = {0};
  const char *doc;
  em_str_printf(out, ".Pp\nThe %s are:\n.Bl -tag -width Ds\n", c->values_title);
  for (size_t i = 0; c->value(i, &name, &doc); i++) {
    em_mdoc_item(out, name.s ? name.s : "", doc);
    em_str_clear(&name);
  }
  em_str_put(out, ".El\n");
  em_str_free(&name);
}

static void put_dots(em_str *out)
{
  em_str_put(out, ".Pp\nThe dot commands are:\n.Bl -tag -width Ds\n");
  for (const em_dot *d = em_dots; d->name; d++) {
    em_str name = {0};
    em_str_printf(&name, "%s%s%s", d->name, *d->args ? " " : "", d->args);
    em_mdoc_item(out, name.s ? name.s : "", d->doc);
    em_str_free(&name);
  }
  em_str_put(out, ".El\n");
}

static void put_command(em_str *out, const em_command *c)
{
  const em_option *o;
  put_top(out, c, c->doc);
  put_synopsis(out, c);
  em_str_put(out, ".Sh DESCRIPTION\n");
  em_mdoc_text(out, c->text);
  if (c->value) put_values(out, c);
  if (strcmp(c->name, "repl") == 0) put_dots(out);
  em_str_put(out, ".Pp\nThe options are:\n.Bl -tag -width Ds\n");
  for (size_t k = 0; (o = em_command_option(c, k, NULL, NULL)); k++) put_option(out, o);
  em_str_put(out, ".El\n");
  put_status(out);
  put_examples(out, c->examples);
  put_see_also(out, c);
}

/* ---- emmy(1) ---- */

static void put_commands(em_str *out)
{
  em_str_put(out, ".Ss Commands\n.Bl -tag -width Ds\n");
  for (const em_command *c = em_commands; c->name; c++) em_mdoc_item(out, c->name, c->doc);
  em_str_put(out, ".El\n");
}

static void put_keys(em_str *out)
{
  em_str_put(out, ".Ss Keys of the explorer\n"
                  "Each key is followed by the command that does the same when typed after a colon,\n"
                  "or in a line of a script that starts with a colon.\n"
                  "The other lines of a script are keys, spelled as here and one behind the other,\n"
                  "or, behind a number sign, comments; a file that cannot be written ends it.\n"
                  "What takes long goes on behind the screen, and <Esc> gives it up; a script waits\n"
                  "for it, but not with a line that starts with an exclamation mark.\n.Bl -tag -width Ds\n");
  for (size_t i = 0; i < EM_N_ACTIONS; i++) {
    const em_action_info *a = em_action_at(i);
    em_str name = {0};
    em_str_printf(&name, "%s%s:%s%s%s", a->keys, *a->keys ? "   " : "", a->command, *a->argument ? " " : "",
                  a->argument);
    em_mdoc_item(out, name.s ? name.s : "", a->help);
    em_str_free(&name);
  }
  em_mdoc_item(out, "1-9", "the main screens, in the order in which the views are listed below");
  em_str_put(out, ".El\n");
}

static void put_views(em_str *out)
{
  em_str_put(out,
             ".Ss Views\n"
             "Every view is a screen of the explorer, a table of\n.Nm emmy view\nand a table of SQL;\n.Xr emmy-sql 7\n"
             "lists their parameters and columns.\n.Bl -tag -width Ds\n");
  for (const em_view *const *v = em_views; *v; v++) {
    em_str_printf(out, ".It Cm %s\n", (*v)->name);
    em_mdoc_text(out, (*v)->doc);
  }
  em_str_put(out, ".El\n");
}

static void put_environment(em_str *out)
{
  em_str_put(out, ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
                  ".It Ev EMMY_DATA\nFolder of the shipped golden files and prior.\n"
                  ".It Ev XDG_CACHE_HOME\nThe default store is\n.Pa emmy/autotune.db\nin it, or in\n.Pa ~/.cache .\n"
                  ".It Ev NO_COLOR\nWhen set and not empty, the explorer uses no colours.\n"
                  ".It Ev LC_ALL , LC_CTYPE , LANG\nWithout UTF\\-8 only ASCII characters are drawn.\n"
                  ".It Ev LINES , COLUMNS\nSize of the screen that\n.Fl \\-script\ndraws on.\n.El\n");
}

static void put_program(em_str *out)
{
  put_top(out, NULL, "find out why a prior picked a slow kernel configuration");
  em_str_put(out, ".Sh SYNOPSIS\n.Nm\n.Op Ar COMMAND\n.Op Ar options\n.Op Ar argument ...\n.Sh DESCRIPTION\n");
  em_mdoc_text(
    out, "A kernel compiler meets forks: places where several configurations of a kernel are correct and one must be "
         "picked.  Where nothing was measured a prior decides, a model that ranks the candidates.  emmy shows where "
         "the configurations that were measured to be good (goldens) rank under a prior, and the feature rows of the "
         "prior's pick and the golden side by side.  It imports golden files into a store, exports datasets, fits "
         "priors and reports on them.\n\n"
         "Without a command, or with a file or folder in its place, the explorer starts.  Data go to standard output, "
         "messages to standard error.  A missing value is shown as \u00b7 and is empty in CSV and null in JSON; a knob "
         "that is unused is shown as - and is the empty string in both.");
  put_commands(out);
  put_keys(out);
  put_views(out);
  put_environment(out);
  put_status(out);
  em_str refs = {0};
  put_references(&refs, "", NULL);
  em_str_printf(out,
                ".Sh SEE ALSO\n%s ,\n.Xr emmy-dataset 5 ,\n.Xr emmy-golden 5 ,\n.Xr emmy-prior 5 ,\n.Xr emmy-sql 7\n",
                refs.s ? refs.s + 3 : "");
  em_str_free(&refs);
}

void em_manpage_put(em_str *out, const em_command *c)
{
  if (c)
    put_command(out, c);
  else
    put_program(out);
}
