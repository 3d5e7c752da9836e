/* repl_complete.c - what may stand where the cursor is. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "tui/repl.h"

static const char *const keywords[] = {"select",   "from",      "where",  "order by",
                                       "group by", "having",    "limit",  "offset",
                                       "join",     "left join", "using",  "on",
                                       "and",      "or",        "not",    "null",
                                       "is",       "in",        "like",   "glob",
                                       "between",  "case",      "when",   "then",
                                       "else",     "end",       "as",     "distinct",
                                       "desc",     "asc",       "count",  "sum",
                                       "min",      "max",       "avg",    "group_concat",
                                       "coalesce", "round",     "abs",    "exp",
                                       "with",     "union",     "attach", "create temp table",
                                       NULL};

typedef struct offer {
  const char *prefix;
  size_t len;
  void (*fn)(void *ctx, const char *word);
  void *ctx;
} offer;

static void consider(const offer *o, const char *word)
{
  if (strncasecmp(word, o->prefix, o->len) == 0) o->fn(o->ctx, word);
}

/* Inside quotes: pools by label, cards, knobs. */
static void offer_texts(em_repl *r, const offer *o)
{
  for (size_t i = 0; i < em_session_n_pools(r->session); i++) {
    em_pool_info info;
    em_session_pool(r->session, i, &info);
    bool repeated = false;
    for (size_t k = 0; k < i && !repeated; k++) {
      em_pool_info before;
      em_session_pool(r->session, k, &before);
      repeated = strcmp(before.label, info.label) == 0;
    }
    if (!repeated) consider(o, info.label);
  }
  for (size_t i = 0; i < em_n_cards(); i++) consider(o, em_card_at(i)->short_name);
  for (int f = 0; f < EM_N_FAMILIES; f++) consider(o, em_family_at((em_family)f)->name);
}

/* Columns of an earlier view, tables and functions are offered already. */
static bool column_is_new(size_t view, size_t column)
{
  const char *name = em_views[view]->columns[column].name;
  for (size_t v = 0; v < view; v++)
    if (em_view_find_column(em_views[v], name) >= 0) return false;
  for (size_t i = 0; i < em_n_sql_functions(); i++)
    if (strcmp(em_sql_function_at(i)->name, name) == 0) return false;
  return em_view_find(name) == NULL;
}

static void offer_names(const offer *o)
{
  for (size_t v = 0; em_views[v]; v++) consider(o, em_views[v]->name);
  for (size_t i = 0; i < em_n_sql_functions(); i++) consider(o, em_sql_function_at(i)->name);
  for (size_t v = 0; em_views[v]; v++)
    for (size_t i = 0; i < em_views[v]->n_columns; i++)
      if (column_is_new(v, i)) consider(o, em_views[v]->columns[i].name);
  for (size_t i = 0; keywords[i]; i++) consider(o, keywords[i]);
}

/* Is the end of the line inside a text in single quotes?  *start = behind the quote. */
static bool in_quotes(const char *line, size_t len, size_t *start)
{
  bool quoted = false;
  for (size_t i = 0; i < len; i++) {
    if (line[i] != '\'') continue;
    quoted = !quoted;
    *start = i + 1;
  }
  return quoted;
}

void em_complete(em_repl *r, const char *line, size_t len, size_t *start, void (*fn)(void *ctx, const char *word),
                 void *ctx)
{
  char prefix[256];
  bool quoted = in_quotes(line, len, start);
  if (!quoted) {
    *start = len;
    while (*start && (isalnum((unsigned char)line[*start - 1]) || line[*start - 1] == '_')) --*start;
    if (*start == 1 && line[0] == '.') *start = 0;
  }
  offer o = {.prefix = prefix, .len = len - *start, .fn = fn, .ctx = ctx};
  if (o.len >= sizeof prefix) return;
  memcpy(prefix, line + *start, o.len);
  prefix[o.len] = '\0';
  if (quoted)
    offer_texts(r, &o);
  else if (line[0] == '.' && *start == 0)
    for (const em_dot *d = em_dots; d->name; d++) consider(&o, d->name);
  else if (o.len || len == 0 || line[0] != '.')
    offer_names(&o);
}
