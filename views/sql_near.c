/* sql_near.c - "did you mean" for names that SQLite does not know. */
#include <string.h>

#include "views/sql_int.h"

typedef struct nearest {
  const char *name, *best;
  int least;
} nearest;

static void consider(nearest *n, const char *name)
{
  int d = em_edit_distance(n->name, name);
  if (n->best && d >= n->least) return;
  n->best = name;
  n->least = d;
}

static void consider_columns(nearest *n)
{
  for (size_t v = 0; em_views[v]; v++)
    for (size_t i = 0; i < em_views[v]->n_columns; i++) consider(n, em_views[v]->columns[i].name);
}

static void consider_tables(nearest *n)
{
  for (size_t v = 0; em_views[v]; v++) consider(n, em_views[v]->name);
}

static void consider_functions(nearest *n)
{
  for (size_t i = 0; i < em_n_sql_functions(); i++) consider(n, em_sql_function_at(i)->name);
}

static const struct {
  const char *start;
  void (*fill)(nearest *);
} kinds[] = {{"no such table: ", consider_tables},
             {"no such column: ", consider_columns},
             {"no such function: ", consider_functions}};

void em_sql_put_near(const char *message, em_str *out)
{
  for (size_t i = 0; i < COUNT(kinds); i++) {
    size_t len = strlen(kinds[i].start);
    if (strncmp(message, kinds[i].start, len) != 0) continue;
    const char *dot = strrchr(message + len, '.');
    nearest n = {.name = dot ? dot + 1 : message + len};
    kinds[i].fill(&n);
    int letters = (int)strlen(n.name); /* of a name in which no letter is right nothing is known */
    if (n.best && n.least > 0 && n.least < letters && n.least <= 1 + letters / 4)
      em_str_printf(out, "; did you mean %s?", n.best);
  }
}

size_t em_sql_place(const char *message, const char *text, size_t len)
{
  for (size_t i = 0; i < COUNT(kinds); i++) {
    size_t n = strlen(kinds[i].start);
    if (strncmp(message, kinds[i].start, n) != 0) continue;
    const char *found = memmem(text, len, message + n, strlen(message + n));
    if (found) return (size_t)(found - text);
  }
  return 0;
}
