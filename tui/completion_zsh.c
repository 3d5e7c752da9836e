/* completion_zsh.c - the script for zsh. */
#include "tui/completion.h"

#include <string.h>

static const char functions[] = "_emmy_offer() { # VALUES\n"
                                "  local value\n"
                                "  local -a words reply\n"
                                "  for value in ${(s:,:)1}; do\n"
                                "    reply=()\n"
                                "    case $value in\n"
                                "    (@file) _files ;;\n"
                                "    (@dir) _files -/ ;;\n"
                                "    (@fit)\n"
                                "      _files\n"
                                "      reply=(_tune/fits/*(N/:t)) ;;\n"
                                "    (@column)\n"
                                "      _emmy_columns\n"
                                "      [[ $PREFIX != -* ]] || reply=(-$^reply) ;;\n"
                                "    (@*) _emmy_source $value ;;\n"
                                "    (*) reply=($value) ;;\n"
                                "    esac\n"
                                "    words+=($reply)\n"
                                "  done\n"
                                "  (( ! $#words )) || compadd -a words\n"
                                "}\n"
                                "\n"
                                "_emmy() {\n"
                                "  local name=explore view=\n"
                                "  local -a reply specs\n"
                                "  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
                                "    _emmy_group ''\n"
                                "    _describe -t commands command reply\n"
                                "    _files\n"
                                "    return\n"
                                "  fi\n"
                                "  _emmy_group \"$words[2]\"\n"
                                "  if (( CURRENT == 4 )) && [[ $words[2] == help ]]; then\n"
                                "    _emmy_group \"$words[3]\"\n"
                                "    (( ! $#reply )) || { shift words; (( CURRENT-- )); }\n"
                                "  fi\n"
                                "  if (( $#reply && CURRENT == 3 )); then\n"
                                "    _describe -t commands command reply\n"
                                "    return\n"
                                "  elif (( $#reply )); then\n"
                                "    name=\"$words[2] $words[3]\"\n"
                                "    shift 2 words\n"
                                "    (( CURRENT -= 2 ))\n"
                                "  elif _emmy_source @command; [[ -n ${reply[(re)$words[2]]} ]]; then\n"
                                "    name=$words[2]\n"
                                "    shift words\n"
                                "    (( CURRENT-- ))\n"
                                "  fi\n"
                                "  if [[ $name == view ]]; then\n"
                                "    _emmy_source @view\n"
                                "    view=${words[2,CURRENT-1][(r)(${(j:|:)~reply})]}\n"
                                "  fi\n"
                                "  _emmy_line \"$name\"\n"
                                "  _arguments -s -S : $specs\n"
                                "}\n"
                                "\n"
                                "_emmy \"$@\"\n";

/* "NAME[doc]:VALUE: _emmy_offer VALUES", each part as _arguments reads it; the blank keeps it from adding arguments. */
static void put_spec(em_str *out, const char *dashes, const char *name, const char *doc, const char *arg,
                     const char *values)
{
  em_str spec = {0};
  em_str_printf(&spec, "%s%s%s[", dashes, name, values ? "=" : "");
  for (const char *s = doc; *s; s++) em_str_printf(&spec, "%s%c", strchr("[]:\\", *s) ? "\\" : "", *s);
  em_str_putc(&spec, ']');
  if (values) em_str_printf(&spec, ":%s: _emmy_offer %s", arg, values);
  em_str_put(out, "      ");
  em_completion_put_quoted(out, spec.s ? spec.s : "");
  em_str_putc(out, '\n');
  out->failed |= spec.failed;
  em_str_free(&spec);
}

static void put_option(em_str *out, const em_option *o)
{
  const char *values = o->kind == EM_OPTION_FLAG ? NULL : em_completion_of_option(o);
  const char letter[] = {o->letter, values ? '+' : '\0', '\0'};
  put_spec(out, "--", o->name, o->doc, o->arg, values);
  if (!o->letter) return;
  em_str spec = {0};
  em_str_printf(&spec, "-%s", letter);
  put_spec(out, "", spec.s ? spec.s : "", o->doc, o->arg, values);
  em_str_free(&spec);
}

static void put_params(em_str *out)
{
  em_str_put(out, "    case $view in\n");
  for (const em_view *const *v = em_views; *v; v++) {
    if ((*v)->n_params == 0) continue;
    em_str_printf(out, "    (%s)\n      specs+=(\n", (*v)->name);
    for (size_t i = 0; i < (*v)->n_params; i++) {
      const em_param *p = &(*v)->params[i];
      if (em_completion_is_own(p)) put_spec(out, "--", p->name, p->doc, p->name, em_completion_of_param(*v, p));
    }
    em_str_put(out, "      ) ;;\n");
  }
  em_str_put(out, "    esac ;;\n");
}

static void put_line(em_str *out, const em_command *c)
{
  const em_option *o;
  em_completion_word word;
  em_str_printf(out, "  ('%s')\n    specs=(\n", c->name);
  for (size_t k = 0; (o = em_completion_option(c, k)); k++) put_option(out, o);
  for (size_t k = 0; em_completion_argument(c, k, &word); k++)
    em_str_printf(out, "      '%s:%.*s: _emmy_offer %s'\n", word.many ? "*" : "", word.title_len, word.title,
                  word.values);
  em_str_put(out, "    )");
  if (c->more == em_view_options) {
    em_str_putc(out, '\n');
    put_params(out);
  } else {
    em_str_put(out, " ;;\n");
  }
}

/* "name:what it does", of a group or of all that can be a first word. */
static void put_described(em_str *out, const char *name, size_t len, const char *doc)
{
  em_str text = {0};
  em_str_printf(&text, "%.*s:%s", (int)len, name, doc);
  em_str_put(out, "      ");
  em_completion_put_quoted(out, text.s ? text.s : "");
  em_str_putc(out, '\n');
  out->failed |= text.failed;
  em_str_free(&text);
}

static void put_groups(em_str *out)
{
  const em_command *group;
  em_str_put(out,
             "_emmy_group() { # WORD: the commands that it starts\n  reply=()\n  case $1 in\n  ('')\n    reply=(\n");
  for (const em_command *c = em_commands; c->name; c++)
    if (!em_completion_group_len(c)) put_described(out, c->name, strlen(c->name), c->doc);
  for (size_t i = 0; (group = em_completion_group(i)); i++)
    put_described(out, group->name, em_completion_group_len(group), "a group of commands");
  em_str_put(out, "    ) ;;\n");
  for (size_t i = 0; (group = em_completion_group(i)); i++) {
    size_t n = em_completion_group_len(group);
    em_str_printf(out, "  (%.*s)\n    reply=(\n", (int)n, group->name);
    for (const em_command *c = em_commands; c->name; c++)
      if (em_completion_is_in_group(c, group)) put_described(out, c->name + n + 1, strlen(c->name + n + 1), c->doc);
    em_str_put(out, "    ) ;;\n");
  }
  em_str_put(out, "  esac\n}\n\n");
}

static void put_words(em_str *out)
{
  const char *name;
  em_str_put(out, "_emmy_source() { # @NAME: its words\n  case $1 in\n");
  for (size_t i = 0; (name = em_completion_source(i)); i++) {
    em_str_printf(out, "  (%s) reply=(", name);
    em_completion_put_source(out, i);
    em_str_put(out, ") ;;\n");
  }
  em_str_put(out, "  esac\n}\n\n_emmy_columns() { # of the view in the line\n  case $view in\n");
  for (const em_view *const *v = em_views; *v; v++) {
    em_str_printf(out, "  (%s) reply=(", (*v)->name);
    for (size_t i = 0; i < (*v)->n_columns; i++) em_str_printf(out, " %s", (*v)->columns[i].name);
    em_str_put(out, ") ;;\n");
  }
  em_str_put(out, "  esac\n}\n\n");
}

void em_completion_put_zsh(em_str *out)
{
  em_str_put(out, "#compdef emmy\n# Completion of emmy in zsh, made by emmy help --completion zsh.\n\n");
  put_groups(out);
  put_words(out);
  em_str_put(out, "_emmy_line() { # COMMAND: sets specs\n  case $1 in\n");
  for (const em_command *c = em_commands; c->name; c++) put_line(out, c);
  em_str_put(out, "  esac\n}\n\n");
  em_str_put(out, functions);
}
