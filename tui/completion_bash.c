/* completion_bash.c - the script for bash. */
#include "tui/completion.h"

#include <string.h>

static const char functions[] =
  "# Adds to COMPREPLY what may be there, of what starts like WORD; compopt fails outside of a completion.\n"
  "_emmy_offer() { # VALUES WORD VIEW\n"
  "  local IFS=$' \\t\\n' value words= sign= folder\n"
  "  for value in ${1//,/ }; do\n"
  "    case $value in\n"
  "    @file | @fit) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$2\") ;;\n"
  "    @dir) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- \"$2\") ;;\n"
  "    esac\n"
  "    case $value in\n"
  "    @file | @dir) compopt -o filenames 2>/dev/null ;;\n"
  "    @fit)\n"
  "      compopt -o filenames 2>/dev/null\n"
  "      for folder in _tune/fits/*/; do\n"
  "        [[ ! -d $folder ]] || { folder=${folder%/} words+=\" ${folder##*/}\"; }\n"
  "      done ;;\n"
  "    @column)\n"
  "      [[ $2 != -* ]] || sign=-\n"
  "      words+=\" $(_emmy_columns \"${3-}\")\" ;;\n"
  "    @*) words+=\" $(_emmy_source \"$value\")\" ;;\n"
  "    *) words+=\" $value\" ;;\n"
  "    esac\n"
  "  done\n"
  "  [[ ! $words ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P \"$sign\" -W \"$words\" -- \"${2#\"$sign\"}\")\n"
  "}\n"
  "\n"
  "_emmy_names() { # the names in options\n"
  "  local option\n"
  "  for option in $options; do printf '%s,' \"${option%%=*}\"; done\n"
  "}\n"
  "\n"
  "_emmy() {\n"
  "  local IFS=$' \\t\\n' cur=${COMP_WORDS[COMP_CWORD]} name=explore at=1 sub view= options= args= n=0 i word values\n"
  "  COMPREPLY=()\n"
  "  if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then\n"
  "    _emmy_offer @command,@file \"$cur\"\n"
  "    return\n"
  "  fi\n"
  "  word=${COMP_WORDS[1]}\n"
  "  if [[ \" $(_emmy_source @command) \" == *\" $word \"* ]]; then\n"
  "    name=$word at=2 sub=2\n"
  "    [[ $name != help ]] || { word=${COMP_WORDS[2]-}; sub=3; }\n"
  "    values=$(_emmy_group \"$word\")\n"
  "    if [[ $values ]] && ((COMP_CWORD == sub)); then\n"
  "      _emmy_offer \"$values\" \"$cur\"\n"
  "      return\n"
  "    fi\n"
  "    [[ ! $values || $name == help ]] || { name+=\" ${COMP_WORDS[2]-}\" at=3; }\n"
  "  fi\n"
  "  _emmy_line \"$name\"\n"
  "  for ((i = at; i < COMP_CWORD; i++)); do\n"
  "    word=${COMP_WORDS[i]}\n"
  "    if [[ \" $options \" == *\" $word=\"* ]]; then\n"
  "      values=\" $options \" values=${values#* \"$word\"=} values=${values%% *}\n"
  "      # --option=value comes in three words\n"
  "      [[ ${COMP_WORDS[i + 1]-} != = ]] || ((i++))\n"
  "      if ((i + 1 >= COMP_CWORD)); then\n"
  "        [[ $cur != = ]] || cur=\n"
  "        _emmy_offer \"$values\" \"$cur\" \"$view\"\n"
  "        return\n"
  "      fi\n"
  "      ((i++))\n"
  "    elif [[ $word != -* ]]; then\n"
  "      ((n++))\n"
  "      [[ $name != view || $view ]] || { view=$word; _emmy_line view \"$view\"; }\n"
  "    fi\n"
  "  done\n"
  "  if [[ $cur == -* ]]; then\n"
  "    _emmy_offer \"$(_emmy_names)\" \"$cur\"\n"
  "    return\n"
  "  fi\n"
  "  for word in $args; do\n"
  "    if ((n-- == 0)) || [[ $word == *... ]]; then\n"
  "      _emmy_offer \"${word%...}\" \"$cur\"\n"
  "      return\n"
  "    fi\n"
  "  done\n"
  "}\n"
  "\n"
  "complete -F _emmy emmy\n";

static void put_option(em_str *out, const em_option *o)
{
  const char *values = o->kind == EM_OPTION_FLAG ? NULL : em_completion_of_option(o);
  if (o->letter) em_str_printf(out, " -%c%s%s", o->letter, values ? "=" : "", values ? values : "");
  em_str_printf(out, " --%s%s%s", o->name, values ? "=" : "", values ? values : "");
}

/* The parameters of the view in the line; of all views while there is none. */
static void put_params(em_str *out)
{
  size_t n;
  const em_option *all = em_view_options(&n);
  em_str_put(out, "    case ${2-} in\n    '') options+='");
  for (size_t i = 0; i < n; i++) em_str_printf(out, " --%s=@any", all[i].name);
  em_str_put(out, "' ;;\n");
  for (const em_view *const *v = em_views; *v; v++) {
    if ((*v)->n_params == 0) continue;
    em_str_printf(out, "    %s) options+='", (*v)->name);
    for (size_t i = 0; i < (*v)->n_params; i++) {
      const em_param *p = &(*v)->params[i];
      if (em_completion_is_own(p)) em_str_printf(out, " --%s=%s", p->name, em_completion_of_param(*v, p));
    }
    em_str_put(out, "' ;;\n");
  }
  em_str_put(out, "    esac\n");
}

static void put_line(em_str *out, const em_command *c)
{
  const em_option *o;
  em_completion_word word;
  em_str_printf(out, "  '%s')\n    options='", c->name);
  for (size_t k = 0; (o = em_completion_option(c, k)); k++) put_option(out, o);
  em_str_put(out, "'\n");
  if (c->more == em_view_options) put_params(out);
  em_str_put(out, "    args='");
  for (size_t k = 0; em_completion_argument(c, k, &word); k++)
    em_str_printf(out, " %s%s", word.values, word.many ? "..." : "");
  em_str_put(out, "' ;;\n");
}

static void put_groups(em_str *out)
{
  const em_command *group;
  em_str_put(out, "_emmy_group() { # WORD: the commands that it starts\n  case $1 in\n");
  for (size_t i = 0; (group = em_completion_group(i)); i++) {
    size_t n = em_completion_group_len(group);
    const char *sep = "";
    em_str_printf(out, "  %.*s) echo ", (int)n, group->name);
    for (const em_command *c = em_commands; c->name; c++) {
      if (!em_completion_is_in_group(c, group)) continue;
      em_str_printf(out, "%s%s", sep, c->name + n + 1);
      sep = ",";
    }
    em_str_put(out, " ;;\n");
  }
  em_str_put(out, "  esac\n}\n\n");
}

static void put_words(em_str *out)
{
  const char *name;
  em_str_put(out, "_emmy_source() { # @NAME: its words\n  case $1 in\n");
  for (size_t i = 0; (name = em_completion_source(i)); i++) {
    em_str_printf(out, "  %s) echo", name);
    em_completion_put_source(out, i);
    em_str_put(out, " ;;\n");
  }
  em_str_put(out, "  esac\n}\n\n_emmy_columns() { # VIEW\n  case $1 in\n");
  for (const em_view *const *v = em_views; *v; v++) {
    em_str_printf(out, "  %s) echo", (*v)->name);
    for (size_t i = 0; i < (*v)->n_columns; i++) em_str_printf(out, " %s", (*v)->columns[i].name);
    em_str_put(out, " ;;\n");
  }
  em_str_put(out, "  esac\n}\n\n");
}

void em_completion_put_bash(em_str *out)
{
  em_str_put(out, "# Completion of emmy in bash, made by emmy help --completion bash.\n\n");
  put_groups(out);
  put_words(out);
  em_str_put(
    out,
    "# Sets options, each with \"=\" and what its value may be when it takes one, and args: what each may be, \"...\"\n"
    "# behind one that repeats.\n"
    "_emmy_line() { # COMMAND VIEW\n  case $1 in\n");
  for (const em_command *c = em_commands; c->name; c++) put_line(out, c);
  em_str_put(out, "  esac\n}\n\n");
  em_str_put(out, functions);
}
