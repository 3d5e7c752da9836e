/* help.c - the help texts, made from the tables. */
#include <string.h>

#include "tui/cli.h"

enum { HELP_WIDTH = 79, NAME_COLUMN = 24 };

/* One word of the text at *s, or an empty one at a paragraph's end. */
static size_t next_word(const char **s)
{
  *s += strspn(*s, " ");
  return strcspn(*s, " \n");
}

void em_put_wrapped(em_str *out, const char *text, int indent, int width)
{
  int used = 0;
  while (*text) {
    size_t n = next_word(&text);
    if (!*text) break;
    if (n == 0) { /* a line end: paragraphs stay apart */
      em_str_putc(out, '\n');
      text++;
      used = 0;
      continue;
    }
    if (used && used + 1 + (int)n > width) {
      em_str_putc(out, '\n');
      used = 0;
    }
    if (used)
      em_str_putc(out, ' ');
    else
      em_str_printf(out, "%*s", indent, "");
    em_str_putn(out, text, n);
    used += (used ? 1 : indent) + (int)n;
    text += n;
  }
  em_str_putc(out, '\n');
}

void em_put_item(em_str *out, const char *name, const char *text, int column, int width)
{
  em_str body = {0};
  em_put_wrapped(&body, text, column, width);
  int used = (int)strlen(name) + 2;
  em_str_printf(out, "  %s", name);
  if (used + 2 > column)
    em_str_printf(out, "\n%s", body.s ? body.s : "");
  else
    em_str_printf(out, "%*s%s", column - used, "", body.s ? body.s + column : "");
  em_str_free(&body);
}

static void put_item(em_str *out, const char *name, const char *text)
{
  em_put_item(out, name, text, NAME_COLUMN, HELP_WIDTH);
}

static void put_option(em_str *out, const em_option *o)
{
  em_str name = {0}, text = {0};
  if (o->letter) em_str_printf(&name, "-%c, ", o->letter);
  em_str_printf(&name, "--%s%s%s", o->name, *o->arg ? " " : "", o->arg);
  em_str_put(&text, o->doc);
  if (o->dflt) em_str_printf(&text, " (default %s)", o->dflt);
  put_item(out, name.s ? name.s : "", text.s ? text.s : "");
  em_str_free(&name);
  em_str_free(&text);
}

static void put_command_line(em_str *out, const em_command *c)
{
  em_str_printf(out, "usage: emmy %s [OPTION...]%s%s\n", c->name, *c->args ? " " : "", c->args);
}

/* What the first argument can be, from the table that knows. */
static void put_values(em_str *out, const em_command *c)
{
  em_str name = {0};
  const char *doc;
  em_str_printf(out, "\n%s\n", c->values_title);
  for (size_t i = 0; c->value(i, &name, &doc); i++) {
    put_item(out, name.s ? name.s : "", doc);
    em_str_clear(&name);
  }
  em_str_free(&name);
}

void em_help_put_command(em_str *out, const em_command *c)
{
  const em_option *o;
  put_command_line(out, c);
  em_str_putc(out, '\n');
  em_put_wrapped(out, c->text, 0, HELP_WIDTH);
  if (c->value) put_values(out, c);
  em_str_put(out, "\noptions\n");
  for (size_t k = 0; (o = em_command_option(c, k, NULL, NULL)); k++) put_option(out, o);
  em_str_put(out, "\nexamples\n");
  for (const em_example *e = c->examples; e->command; e++) em_str_printf(out, "  %s\n      %s\n", e->command, e->what);
}

static void put_commands(em_str *out, const char *group)
{
  size_t len = strlen(group);
  for (const em_command *c = em_commands; c->name; c++) {
    em_str name = {0};
    if (len && (strncmp(c->name, group, len) != 0 || c->name[len] != ' ')) continue;
    em_str_put(&name, c->name);
    put_item(out, name.s ? name.s : "", c->doc);
    em_str_free(&name);
  }
}

void em_help_put_group(em_str *out, const char *group)
{
  em_str_printf(out, "usage: emmy %s COMMAND ...\n\ncommands\n", group);
  put_commands(out, group);
}

void em_help_put(em_str *out)
{
  em_str_put(out, "usage: emmy [COMMAND] [OPTION...] [ARGUMENT...]\n\n");
  em_put_wrapped(
    out,
    "Finds out why a kernel compiler's prior picked a slow configuration.  Without a command, or with a file "
    "or folder in its place, emmy starts the explorer.",
    0, HELP_WIDTH);
  em_str_put(out, "\ncommands\n");
  put_commands(out, "");
  em_str_putc(out, '\n');
  em_put_wrapped(out,
                 "emmy COMMAND --help explains a command, emmy --version says which emmy this is.\n"
                 "Exit status: 0 done, 1 bad input, 2 wrong usage, 3 a check failed, 4 something of the environment is "
                 "missing.",
                 0, HELP_WIDTH);
}
