/* cli.c - from the words of the command line to a command and its options. */
#include "tui/cli.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

const em_option em_options[EM_N_OPTIONS] = {
#define OPTION(id, name, letter, kind, arg, dflt, lo, hi, doc)                                                         \
  {name, letter, EM_OPTION_##kind, arg, dflt, lo, hi, doc, NULL},
#include "tui/options.def"
#undef OPTION
};

/* ---- the tables ---- */

const em_option *em_command_option(const em_command *c, size_t k, em_args *a, em_value **value)
{
  size_t n = 0, n_more = 0;
  em_option_id id = EM_OPT_HELP;
  const em_option *more = c->more ? c->more(&n_more) : NULL;
  while (c->options[n] != EM_N_OPTIONS) n++;
  if (k >= n && k < n + n_more) {
    if (a) *value = &a->more[k - n];
    return &more[k - n];
  }
  if (k < n)
    id = c->options[k];
  else if (k > n + n_more)
    return NULL;
  if (a) *value = &a->opt[id];
  return &em_options[id];
}

const em_command *em_command_find(const char *name)
{
  for (const em_command *c = em_commands; c->name; c++)
    if (strcmp(c->name, name) == 0) return c;
  return NULL;
}

static int check_options(const em_command *c, em_err *err)
{
  const em_option *a, *b;
  for (size_t i = 0; (a = em_command_option(c, i, NULL, NULL)); i++) {
    if (!*a->doc || (a->kind == EM_OPTION_FLAG) != !*a->arg)
      return em_fail(err, EM_E_CHECK, "%s --%s: no help, or an argument that does not go with its kind", c->name,
                     a->name);
    for (size_t j = 0; j < i && (b = em_command_option(c, j, NULL, NULL)); j++)
      if (strcmp(a->name, b->name) == 0 || (a->letter && a->letter == b->letter))
        return em_fail(err, EM_E_CHECK, "%s has two options --%s and --%s on one name or letter", c->name, b->name,
                       a->name);
  }
  return EM_OK;
}

int em_tables_check(em_err *err)
{
  for (const em_command *c = em_commands; c->name; c++) {
    size_t n_more = 0;
    if (c->more) c->more(&n_more);
    if (!*c->doc || !*c->text || !c->examples[0].command || !c->run || n_more > EM_MAX_MORE)
      return em_fail(err, EM_E_CHECK, "command %s: lacks help, an example or its function, or has too many options",
                     c->name);
    if (em_command_find(c->name) != c) return em_fail(err, EM_E_CHECK, "two commands are called %s", c->name);
    int rc = check_options(c, err);
    if (rc != EM_OK) return rc;
  }
  return EM_OK;
}

/* ---- suggestions ---- */

static bool put_near(em_str *out, const char *name, const char *dashes, const char *const *names)
{
  size_t found = 0, len = strlen(name);
  int least = len < 3 ? 1 : (int)len / 3;
  for (size_t i = 0; names[i]; i++) {
    int d = em_edit_distance(name, names[i]);
    if (d < least) least = d;
  }
  for (size_t i = 0; names[i]; i++)
    if (em_edit_distance(name, names[i]) == least)
      em_str_printf(out, "%s%s%s", found++ ? ", " : "; did you mean ", dashes, names[i]);
  if (found) em_str_putc(out, '?');
  return found > 0;
}

enum { MAX_LISTED = 40 };

void em_put_near(em_str *out, const char *name, const char *const *names)
{
  size_t n = 0;
  while (names[n]) n++;
  if (put_near(out, name, "", names) || n > MAX_LISTED) return;
  for (size_t i = 0; names[i]; i++) em_str_printf(out, "%s%s", i ? ", " : "; there are ", names[i]);
}

#define MAX_NAMES 64

/* A command's first word, or both, when the name asked for has as many. */
static int unknown_command(const char *name, em_err *err)
{
  const char *names[MAX_NAMES + 1] = {0};
  char words[MAX_NAMES][32];
  size_t n = 0;
  em_str near = {0};
  for (const em_command *c = em_commands; c->name && n < MAX_NAMES; c++) {
    snprintf(words[n], sizeof words[n], "%s", c->name);
    if (!strchr(name, ' ')) words[n][strcspn(words[n], " ")] = '\0';
    if (n && strcmp(words[n], words[n - 1]) == 0) continue;
    names[n] = words[n];
    n++;
  }
  put_near(&near, name, "", names);
  em_fail(err, EM_E_USAGE, "no command is called \"%s\"%s (emmy help lists them)", name, near.s ? near.s : "");
  em_str_free(&near);
  return err->code;
}

static int unknown_option(const em_command *c, const char *word, em_err *err)
{
  const char *names[MAX_NAMES + 1] = {0};
  char name[64];
  size_t n = 0;
  em_str near = {0};
  const em_option *o;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
  for (; n < MAX_NAMES && (o = em_command_option(c, n, NULL, NULL)); n++) names[n] = o->name;
  if (word[1] == '-') put_near(&near, name, "--", names);
  em_fail(err, EM_E_USAGE, "%s has no option %s%s (emmy help %s lists them)", c->name, word, near.s ? near.s : "",
          c->name);
  em_str_free(&near);
  return err->code;
}

/* ---- choosing the command ---- */

/* A folder of commands, as "db": its names, for the message. */
static int group_needs(const char *group, em_err *err)
{
  em_str names = {0};
  size_t len = strlen(group);
  for (const em_command *c = em_commands; c->name; c++)
    if (strncmp(c->name, group, len) == 0 && c->name[len] == ' ')
      em_str_printf(&names, "%s%s", names.len ? ", " : "", c->name + len + 1);
  em_fail(err, EM_E_USAGE, "%s needs a command: %s", group, names.s ? names.s : "");
  em_str_free(&names);
  return err->code;
}

bool em_command_is_group(const char *word)
{
  size_t len = strlen(word);
  for (const em_command *c = em_commands; c->name; c++)
    if (strncmp(c->name, word, len) == 0 && c->name[len] == ' ') return true;
  return false;
}

static bool looks_like_path(const char *word) { return strpbrk(word, "/.") != NULL || em_path_exists(word); }

static int choose_in_group(int argc, char **argv, const em_command **out, int *n_words, em_err *err)
{
  char name[128];
  if (argc < 3 || argv[2][0] == '-') return group_needs(argv[1], err);
  snprintf(name, sizeof name, "%s %s", argv[1], argv[2]);
  *out = em_command_find(name);
  *n_words = 2;
  return *out ? EM_OK : unknown_command(name, err);
}

int em_command_choose(int argc, char **argv, const em_command **out, int *n_words, em_err *err)
{
  *n_words = 0;
  *out = em_command_find("explore");
  if (argc < 2 || argv[1][0] == '-') return EM_OK;
  if (em_command_is_group(argv[1])) return choose_in_group(argc, argv, out, n_words, err);
  const em_command *c = em_command_find(argv[1]);
  if (!c) return looks_like_path(argv[1]) ? EM_OK : unknown_command(argv[1], err);
  *out = c;
  *n_words = 1;
  return EM_OK;
}

/* ---- options ---- */

static int set_number(const em_command *c, const em_option *o, const char *text, em_value *v, em_err *err)
{
  bool ok;
  if (o->kind == EM_OPTION_INT) {
    ok = em_parse_i64(text, (int64_t)o->lo, (int64_t)o->hi, &v->i);
    v->f = (double)v->i;
  } else {
    ok = em_parse_f64(text, &v->f) && v->f >= o->lo && v->f <= o->hi;
  }
  if (ok) return EM_OK;
  if (o->kind == EM_OPTION_INT)
    return em_fail(err, EM_E_USAGE, "%s: --%s takes an integer from %.0f to %.0f, got \"%s\"", c->name, o->name, o->lo,
                   o->hi, text);
  return em_fail(err, EM_E_USAGE, "%s: --%s takes a number from %.15g to %.15g, got \"%s\"", c->name, o->name, o->lo,
                 o->hi, text);
}

static int add_listed(const em_option *o, const char *text, em_args *a, em_err *err)
{
  if (a->n_listed == EM_MAX_LISTED)
    return em_fail(err, EM_E_USAGE, "--%s: at most %d of such options are taken: write a file of them", o->name,
                   EM_MAX_LISTED);
  a->listed[a->n_listed++] = (em_listed){o, text};
  return EM_OK;
}

static int set_value(const em_command *c, const em_option *o, const char *text, em_value *v, em_err *err)
{
  v->text = text;
  return o->kind == EM_OPTION_INT || o->kind == EM_OPTION_REAL ? set_number(c, o, text, v, err) : EM_OK;
}

static int set_defaults(const em_command *c, em_args *a, em_err *err)
{
  const em_option *o;
  em_value *v = NULL;
  for (size_t k = 0; (o = em_command_option(c, k, a, &v)); k++) {
    int rc = o->dflt ? set_value(c, o, o->dflt, v, err) : EM_OK;
    if (rc != EM_OK) return rc;
  }
  return EM_OK;
}

enum { OPTION_BASE = 1000 }; /* getopt's value of the k-th option: no character */

/* getopt's two descriptions of the command's options. */
static void describe(const em_command *c, struct option *longs, char *letters)
{
  const em_option *o;
  size_t k = 0;
  *letters++ = ':';
  for (; k < MAX_NAMES && (o = em_command_option(c, k, NULL, NULL)); k++) {
    int takes = o->kind == EM_OPTION_FLAG ? no_argument : required_argument;
    longs[k] = (struct option){o->name, takes, NULL, OPTION_BASE + (int)k};
    if (!o->letter) continue;
    *letters++ = o->letter;
    if (takes == required_argument) *letters++ = ':';
  }
  *letters = '\0';
  longs[k] = (struct option){0};
}

static const em_option *option_of(const em_command *c, int got, em_args *a, em_value **v)
{
  const em_option *o;
  if (got >= OPTION_BASE) return em_command_option(c, (size_t)(got - OPTION_BASE), a, v);
  for (size_t k = 0; (o = em_command_option(c, k, a, v)); k++)
    if (o->letter && o->letter == got) return o;
  return NULL;
}

/* What getopt refused: ':' = a value is missing, '?' = unknown, ambiguous, or a value too much. */
static int refused(const em_command *c, int got, char **argv, em_args *a, em_err *err)
{
  em_value *v;
  const em_option *o = optopt ? option_of(c, optopt, a, &v) : NULL;
  const char *word = argv[optind - 1];
  char letter[3] = {'-', (char)optopt, '\0'};
  if (o && got == ':') return em_fail(err, EM_E_USAGE, "%s: --%s needs %s", c->name, o->name, o->arg);
  if (o) return em_fail(err, EM_E_USAGE, "%s: --%s takes no value", c->name, o->name);
  return unknown_option(c, optopt ? letter : word, err);
}

static int check_words(const em_command *c, const em_args *a, em_err *err)
{
  if (a->opt[EM_OPT_CSV].set + a->opt[EM_OPT_JSON].set + a->opt[EM_OPT_MARKDOWN].set > 1)
    return em_fail(err, EM_E_USAGE, "%s: --csv, --json and --md exclude each other", c->name);
  if (a->n_words >= (size_t)c->least && (c->most < 0 || a->n_words <= (size_t)c->most)) return EM_OK;
  const char *what = !*c->args ? "no arguments" : c->args;
  return em_fail(err, EM_E_USAGE, "%s takes %s, got %zu argument%s (emmy help %s says more)", c->name, what, a->n_words,
                 a->n_words == 1 ? "" : "s", c->name);
}

int em_args_parse(const em_command *c, int argc, char **argv, em_args *out, bool *help, em_err *err)
{
  struct option longs[MAX_NAMES + 1];
  char letters[2 * MAX_NAMES + 2];
  em_value *v = NULL;
  int got;
  *out = (em_args){.command = c};
  int rc = set_defaults(c, out, err);
  describe(c, longs, letters);
  optind = 0; /* glibc: begin anew */
  opterr = 0;
  while (rc == EM_OK && (got = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
    if (got == '?' || got == ':') return refused(c, got, argv, out, err);
    const em_option *o = option_of(c, got, out, &v);
    v->set = true; /* NOLINT: getopt gives what `describe` listed, nothing else */
    rc = set_value(c, o, optarg, v, err);
    if (rc == EM_OK && o->kind == EM_OPTION_LIST) rc = add_listed(o, optarg, out, err);
  }
  *help = out->opt[EM_OPT_HELP].set;
  out->words = argv + optind;
  out->n_words = (size_t)(argc - optind);
  if (rc != EM_OK || *help) return rc;
  return check_words(c, out, err);
}
