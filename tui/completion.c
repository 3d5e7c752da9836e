/* completion.c - what may stand where in a command line, asked of the tables. */
#include "tui/completion.h"

#include <string.h>

/* ---- values ---- */

/* By the word that help uses for a value, or by the name of a view's parameter. */
static const struct {
  const char *word, *values;
} known[] = {
  {"SOURCE", "@file"},
  {"FILE", "@file"},
  {"WEIGHTS", "@file"},
  {"DIR", "@dir"},
  {"DATASET", "@dir"},
  {"FIT_A", "@fit"},
  {"FIT_B", "@fit"},
  {"VIEW", "@main"},
  {"COLUMN", "@column"},
  {"CARD", "@card"},
  {"TYPE", "@dtype"},
  {"WHEN", "auto,always,never"},
  {"KIND", "golden,measured,both"},
  {"LIST", "bias,relu,gelu,silu"},
  {"SHELL", "bash,zsh"},
  {"COMMAND", "@command"},
  {"candidate", "pick,golden"},
  {"fit", "@fit"},
  {"folder", "@dir"},
  {"by", "card,tier,both,all"},
  {"prior", "@file"},
  {"table_name", "@view"},
};

static const char *values_of(const char *word, size_t len)
{
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strlen(known[i].word) == len && memcmp(known[i].word, word, len) == 0) return known[i].values;
  return "@any";
}

const char *em_completion_of_option(const em_option *o)
{
  return o->values ? o->values : values_of(o->arg, strlen(o->arg));
}

const char *em_completion_of_param(const em_view *v, const em_param *p)
{
  bool pair = strcmp(p->name, "a") == 0 || strcmp(p->name, "b") == 0; /* two candidates of a pool, or two fits */
  if (pair) return strcmp(v->params[0].name, "pool") == 0 ? "pick,golden" : "@fit";
  return values_of(p->name, strlen(p->name));
}

bool em_completion_argument(const em_command *c, size_t k, em_completion_word *out)
{
  const char *s = c->args;
  for (; k && *s; k--) {
    s += strcspn(s, " ");
    s += strspn(s, " ");
  }
  if (!*s) return false;
  s += *s == '[';
  out->title = s;
  out->title_len = (int)strcspn(s, " .]");
  out->many = strncmp(s + out->title_len, "...", 3) == 0;
  bool listed = s == c->args && c->value; /* the command itself knows what it can be */
  if (listed)
    out->values = c->value == em_view_value ? "@view" : "@kind";
  else
    out->values = values_of(s, (size_t)out->title_len);
  return true;
}

/* ---- options ---- */

const em_option *em_completion_option(const em_command *c, size_t k)
{
  size_t n = 0;
  if (c->more != em_view_options) return em_command_option(c, k, NULL, NULL);
  while (c->options[n] != EM_N_OPTIONS) n++;
  return k < n ? &em_options[c->options[k]] : k == n ? &em_options[EM_OPT_HELP] : NULL;
}

bool em_completion_is_own(const em_param *p)
{
  size_t n;
  const em_option *options = em_view_options(&n);
  for (size_t i = 0; i < n; i++)
    if (strcmp(options[i].name, p->name) == 0) return true;
  return false;
}

/* ---- sources ---- */

static void put_cards(em_str *out)
{
  for (size_t i = 0; i < em_n_cards(); i++) em_str_printf(out, " %s", em_card_at(i)->short_name);
}

static void put_dtypes(em_str *out)
{
  for (int t = EM_DTYPE_NONE + 1; t < EM_N_DTYPES; t++) em_str_printf(out, " %s", em_dtype_name((em_dtype)t));
}

static void put_kinds(em_str *out)
{
  for (size_t i = 0; i < em_n_build_kinds(); i++) em_str_printf(out, " %s", em_build_kind_at(i)->name);
}

static void put_views(em_str *out)
{
  for (size_t i = 0; em_views[i]; i++) em_str_printf(out, " %s", em_views[i]->name);
}

/* Those that need no arguments: the explorer can begin with them. */
static void put_main_views(em_str *out)
{
  for (size_t i = 0; em_views[i]; i++) {
    bool needs = false;
    for (size_t k = 0; k < em_views[i]->n_params; k++) needs |= em_views[i]->params[k].required;
    if (!needs) em_str_printf(out, " %s", em_views[i]->name);
  }
}

/* First words of command lines. */
static void put_commands(em_str *out)
{
  const em_command *c;
  for (size_t i = 0; (c = em_completion_group(i)); i++)
    em_str_printf(out, " %.*s", (int)em_completion_group_len(c), c->name);
  for (c = em_commands; c->name; c++)
    if (!em_completion_group_len(c)) em_str_printf(out, " %s", c->name);
}

static const struct {
  const char *name;
  void (*put)(em_str *out);
} sources[] = {{"@card", put_cards}, {"@dtype", put_dtypes},    {"@kind", put_kinds},
               {"@view", put_views}, {"@main", put_main_views}, {"@command", put_commands}};

const char *em_completion_source(size_t i) { return i < sizeof sources / sizeof *sources ? sources[i].name : NULL; }

void em_completion_put_source(em_str *out, size_t i) { sources[i].put(out); }

/* ---- commands ---- */

size_t em_completion_group_len(const em_command *c)
{
  size_t n = strcspn(c->name, " ");
  return c->name[n] ? n : 0;
}

bool em_completion_is_in_group(const em_command *c, const em_command *group)
{
  size_t n = em_completion_group_len(group);
  return strncmp(c->name, group->name, n + 1) == 0;
}

const em_command *em_completion_group(size_t i)
{
  const em_command *last = NULL;
  for (const em_command *c = em_commands; c->name; c++) {
    if (!em_completion_group_len(c) || (last && em_completion_is_in_group(c, last))) continue;
    last = c;
    if (i-- == 0) return c;
  }
  return NULL;
}

/* ---- the scripts ---- */

void em_completion_put_quoted(em_str *out, const char *s)
{
  em_str_putc(out, '\'');
  for (; *s; s++) {
    if (*s == '\'')
      em_str_put(out, "'\\''");
    else
      em_str_putc(out, *s);
  }
  em_str_putc(out, '\'');
}

int em_completion_put(em_str *out, const char *shell, em_err *err)
{
  if (strcmp(shell, "bash") == 0)
    em_completion_put_bash(out);
  else if (strcmp(shell, "zsh") == 0)
    em_completion_put_zsh(out);
  else
    return em_fail(err, EM_E_USAGE, "help: --completion takes bash or zsh, got \"%s\"", shell);
  return EM_OK;
}
