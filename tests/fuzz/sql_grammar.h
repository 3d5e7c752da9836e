/*
 * sql_grammar.h - random statements over the tables of emmy, for the fuzz target of SQL.
 *
 * A generator writes statements that mostly compile: tables with arguments good and bad, columns of what is in scope,
 * functions of all kinds with values of all types, nested as deep as there is fuel.  The same seed gives the same text.
 */
#ifndef EM_TESTS_SQL_GRAMMAR_H
#define EM_TESTS_SQL_GRAMMAR_H

#include <string.h>

#include "views/sql.h"

#define GRAMMAR_FOLDER "build/fuzz-sql" /* mine.db, no-database.db; new.db is never there */

enum { MAX_SCOPE = 8 };

typedef struct grammar {
  uint64_t state;
  em_str out;
  int fuel; /* nested parts still to be written */
  const em_view *scope[MAX_SCOPE];
  int n_scope, first_alias;
  bool sought; /* say conditions so that the core serves them, or so that SQLite must */
} grammar;

static uint64_t g_next(grammar *g) /* splitmix64 */
{
  uint64_t z = g->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static size_t g_below(grammar *g, size_t n) { return (size_t)(g_next(g) % n); }
static bool g_chance(grammar *g, unsigned percent) { return g_next(g) % 100 < percent; }
static void g_put(grammar *g, const char *s) { em_str_put(&g->out, s); }

#define G_LEN(list)     (sizeof(list) / sizeof *(list))
#define G_PICK(g, list) ((list)[g_below(g, G_LEN(list))])

static void g_expr(grammar *g);
static void g_select(grammar *g);

/* ---- values ---- */

static void g_text(grammar *g, const char *s) { em_str_printf(&g->out, "'%s'", s); }

static void g_literal(grammar *g)
{
  static const char *const values[] = {"0",
                                       "1",
                                       "2",
                                       "3",
                                       "-1",
                                       "63",
                                       "64",
                                       "0.5",
                                       "2.5",
                                       "-0.0",
                                       "1e308",
                                       "-1e308",
                                       "9e999",
                                       "-9e999",
                                       "1e-320",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "9223372036854775808",
                                       "4294967296",
                                       "null",
                                       "''",
                                       "x''",
                                       "x'00ff'",
                                       "'pick'",
                                       "'golden'",
                                       "'1'",
                                       "' 2 '",
                                       "'2abc'",
                                       "'mm.64'",
                                       "'m'",
                                       "'%'",
                                       "'\xc3\xa9\xf0\x9f\x98\x80'",
                                       "'\xff\xfe'",
                                       "'a''b'",
                                       "zeroblob(100)",
                                       "zeroblob(70000000)",
                                       "hex(zeroblob(400))",
                                       "printf('%.*c', 300, 'x')",
                                       "printf('%500d', 1)",
                                       "char(0)",
                                       "char(27, 10)",
                                       "'WORK=t32x8 TILE=f2x4'",
                                       "'WORK=t32x8,TILE=f1'",
                                       "'{\"WORK\":\"t32x8\"}'",
                                       "'{'",
                                       "'@'",
                                       "true",
                                       "json('[1,2]')",
                                       "0x7f"};
  g_put(g, G_PICK(g, values));
}

static const char *const g_pools[] = {"mm.64", "softmax.256", "linear.dyn", "add.64x128", "rtx4080/mm.64"};

/* A good value for the parameter, most of the time. */
static void g_argument(grammar *g, const char *param)
{
  static const char *const candidates[] = {"'pick'", "'golden'", "1", "4", "63", "'2063'", "2064", "0", "null"};
  static const char *const paths[] = {"''",        "'WORK=t32x8'", "'WORK=t32x8 TILE=f1'", "'WORK=t128'", "'WORK='",
                                      "'TILE=f1'", "'='"};
  static const char *const bys[] = {"'card'", "'tier'", "'both'", "'all'", "'size'"};
  static const char *const paths_of_fits[] = {
    "'" GRAMMAR_FOLDER "'", "'tests/fixtures'", "'tests/fixtures/tiny-prior.json'", "'0001'", "'/'", "'.'"};
  if (g_chance(g, 12)) {
    g_expr(g);
  } else if (strcmp(param, "pool") == 0) {
    g_text(g, G_PICK(g, g_pools));
  } else if (strcmp(param, "a") == 0 || strcmp(param, "b") == 0 || strcmp(param, "candidate") == 0) {
    g_put(g, G_PICK(g, candidates));
  } else if (strcmp(param, "path") == 0) {
    g_put(g, G_PICK(g, paths));
  } else if (strcmp(param, "by") == 0) {
    g_put(g, G_PICK(g, bys));
  } else if (strcmp(param, "fit") == 0 || strcmp(param, "folder") == 0 || strcmp(param, "prior") == 0) {
    g_put(g, G_PICK(g, paths_of_fits));
  } else if (strcmp(param, "tree") == 0) {
    em_str_printf(&g->out, "%d", (int)g_below(g, 6));
  } else {
    g_literal(g);
  }
}

static const em_view *g_view(grammar *g)
{
  size_t n = 0;
  while (em_views[n]) n++;
  return em_views[g_below(g, n)];
}

static void g_column(grammar *g)
{
  static const char *const odd[] = {"rowid", "c1", "n", "rank", "pool", "arg_a", "golden_rank", "\"rank\"", "nonsense"};
  if (g->n_scope == 0 || g_chance(g, 7)) {
    g_put(g, G_PICK(g, odd));
    return;
  }
  int at = (int)g_below(g, (size_t)g->n_scope);
  const em_view *v = g->scope[at];
  size_t i = g_below(g, v->n_columns + v->n_params);
  char name[64];
  if (i < v->n_columns)
    snprintf(name, sizeof name, "%s", v->columns[i].name);
  else
    em_sql_param_name(v, i - v->n_columns, name);
  em_str_printf(&g->out, "t%d.%s", g->first_alias + at, name);
}

/* ---- expressions ---- */

static void g_call(grammar *g)
{
  static const struct {
    const char *name;
    int n;
  } builtins[] = {{"abs", 1},
                  {"length", 1},
                  {"hex", 1},
                  {"quote", 1},
                  {"typeof", 1},
                  {"lower", 1},
                  {"round", 2},
                  {"substr", 3},
                  {"instr", 2},
                  {"replace", 3},
                  {"coalesce", 2},
                  {"nullif", 2},
                  {"iif", 3},
                  {"min", 2},
                  {"max", 2},
                  {"printf", 2},
                  {"unicode", 1},
                  {"char", 1},
                  {"trim", 2},
                  {"zeroblob", 1},
                  {"likely", 1},
                  {"json_extract", 2},
                  {"json_array", 2},
                  {"glob", 2},
                  {"like", 3},
                  {"count", 1},
                  {"sum", 1},
                  {"avg", 1},
                  {"total", 1},
                  {"group_concat", 2},
                  {"min", 1},
                  {"max", 1},
                  {"load_extension", 1},
                  {"sqlite_version", 0},
                  {"changes", 0},
                  {"fts3_tokenizer", 2},
                  {"sqlite_compileoption_get", 1}};
  bool ours = g_chance(g, 55);
  const em_sql_function *f = em_sql_function_at(g_below(g, em_n_sql_functions()));
  size_t which = g_below(g, G_LEN(builtins));
  int n = ours ? f->n_args : builtins[which].n;
  if (g_chance(g, 4)) n += g_chance(g, 50) ? 1 : -1;
  em_str_printf(&g->out, "%s(", ours ? f->name : builtins[which].name);
  if (g_chance(g, 5)) g_put(g, "distinct ");
  for (int i = 0; i < n; i++) {
    if (i) g_put(g, ", ");
    g_expr(g);
  }
  g_put(g, ")");
  if (g_chance(g, 5)) {
    g_put(g, " filter (where ");
    g_expr(g);
    g_put(g, ")");
  }
  if (g_chance(g, 6)) {
    g_put(g, " over (partition by ");
    g_expr(g);
    g_put(g, " order by ");
    g_expr(g);
    g_put(g, g_chance(g, 50) ? " rows between 2 preceding and current row)" : ")");
  }
}

static void g_binary(grammar *g)
{
  static const char *const ops[] = {"+",
                                    "-",
                                    "*",
                                    "/",
                                    "%",
                                    "||",
                                    "=",
                                    "<>",
                                    "<",
                                    "<=",
                                    ">",
                                    ">=",
                                    "is",
                                    "is not",
                                    "and",
                                    "or",
                                    "like",
                                    "glob",
                                    "&",
                                    "<<",
                                    ">>",
                                    "->",
                                    "->>",
                                    "is distinct from",
                                    "collate nocase ="};
  g_put(g, "(");
  g_expr(g);
  em_str_printf(&g->out, " %s ", G_PICK(g, ops));
  g_expr(g);
  g_put(g, ")");
}

static void g_nested(grammar *g)
{
  static const char *const before[] = {"(", "exists (", "+(", "not (", "-(", "cast((", "~("};
  static const char *const after[] = {")", ")", ")", ")", ")", ") as integer)", ")"};
  size_t i = g_below(g, G_LEN(before));
  bool select = i == 1 || g_chance(g, 40);
  g_put(g, before[i]);
  if (select)
    g_select(g);
  else
    g_expr(g);
  g_put(g, after[i]);
}

static void g_membership(grammar *g)
{
  g_column(g);
  g_put(g, g_chance(g, 30) ? " not in (" : " in (");
  if (g_chance(g, 30)) {
    g_select(g);
  } else {
    for (size_t i = g_below(g, 5); i > 0; i--) {
      g_expr(g);
      if (i > 1) g_put(g, ", ");
    }
  }
  g_put(g, ")");
}

static void g_case(grammar *g)
{
  g_put(g, "case when ");
  g_expr(g);
  g_put(g, " then ");
  g_expr(g);
  g_put(g, " else ");
  g_expr(g);
  g_put(g, " end");
}

static void g_expr(grammar *g)
{
  if (g->fuel <= 0) {
    if (g_chance(g, 50))
      g_column(g);
    else
      g_literal(g);
    return;
  }
  g->fuel--;
  switch (g_below(g, 10)) {
  case 0:
  case 1:
  case 2: g_column(g); break;
  case 3: g_literal(g); break;
  case 4:
  case 5: g_call(g); break;
  case 6: g_binary(g); break;
  case 7: g_nested(g); break;
  case 8: g_membership(g); break;
  default: g_case(g); break;
  }
}

/* ---- tables ---- */

static void g_arguments(grammar *g, const em_view *v)
{
  size_t n = v->n_params;
  if (n == 0 && !g_chance(g, 3)) return;
  if (n && !v->params[0].required && g_chance(g, 40)) return;
  if (g_chance(g, 30) && n > 1) n = 1 + g_below(g, n);
  if (g_chance(g, 3)) n++;
  g_put(g, "(");
  for (size_t i = 0; i < n; i++) {
    if (i) g_put(g, ", ");
    g_argument(g, i < v->n_params ? v->params[i].name : "");
  }
  g_put(g, ")");
}

static void g_table(grammar *g)
{
  static const char *const others[] = {"temp1",
                                       "temp2",
                                       "seen",
                                       "mine.items",
                                       "mine.sqlite_schema",
                                       "sqlite_schema",
                                       "sqlite_temp_schema",
                                       "pragma_table_info('pools')",
                                       "pragma_function_list",
                                       "json_each('[1,2,{}]')",
                                       "walk",
                                       "(values (1, 2), (3, null))"};
  if (g->n_scope == MAX_SCOPE || g_chance(g, 12)) {
    g_put(g, G_PICK(g, others));
    return;
  }
  if (g->fuel > 4 && g_chance(g, 8)) {
    g_put(g, "(");
    g_select(g);
    g_put(g, ")");
    return;
  }
  const em_view *v = g_view(g);
  g_put(g, v->name);
  g_arguments(g, v);
  em_str_printf(&g->out, " as t%d", g->first_alias + g->n_scope);
  g->scope[g->n_scope++] = v;
}

static void g_from(grammar *g)
{
  static const char *const joins[] = {
    ", ", ", ", " join ", " left join ", " cross join ", " natural join ", " right join ", " full join "};
  g_put(g, " from ");
  g_table(g);
  for (size_t more = g_below(g, 4); more > 1; more--) {
    size_t join = g_below(g, G_LEN(joins));
    g_put(g, joins[join]);
    g_table(g);
    if (join < 2 || join == 5 || g_chance(g, 20)) continue;
    g_put(g, " on ");
    g_expr(g);
  }
}

/* ---- selects ---- */

static void g_limit(grammar *g)
{
  static const char *const counts[] = {"0",          "1",    "3",   "10", "-1", "9223372036854775807",
                                       "(select 2)", "null", "'x'", "1.5"};
  if (!g_chance(g, 50)) return;
  em_str_printf(&g->out, " limit %s", G_PICK(g, counts));
  if (g_chance(g, 40)) em_str_printf(&g->out, " offset %s", G_PICK(g, counts));
}

static void g_tail(grammar *g)
{
  if (g_chance(g, 60)) {
    g_put(g, " where ");
    g_expr(g);
  }
  if (g_chance(g, 15)) {
    g_put(g, " group by ");
    g_expr(g);
    if (g_chance(g, 40)) {
      g_put(g, " having ");
      g_expr(g);
    }
  }
}

static void g_core(grammar *g)
{
  /* Columns are written before the tables they are of: tables first, into a text of their own. */
  em_str before = g->out;
  g->out = (em_str){0};
  g_from(g);
  g_tail(g);
  em_str tables = g->out;
  g->out = before;
  g_put(g, g_chance(g, 10) ? "select distinct " : "select ");
  if (g_chance(g, 15)) {
    g_put(g, "*");
  } else {
    for (size_t i = 1 + g_below(g, 3); i > 0; i--) {
      g_expr(g);
      if (i > 1) g_put(g, ", ");
    }
  }
  em_str_putn(&g->out, tables.s ? tables.s : "", tables.len);
  em_str_free(&tables);
}

static void g_select(grammar *g)
{
  grammar outer = *g;
  g->first_alias += g->n_scope;
  g->n_scope = 0;
  g->fuel -= 2;
  g_core(g);
  if (g->fuel > 0 && g_chance(g, 6)) {
    static const char *const compounds[] = {" union ", " union all ", " intersect ", " except "};
    g_put(g, G_PICK(g, compounds));
    g_core(g);
  }
  if (g_chance(g, 40)) {
    g_put(g, " order by ");
    g_expr(g);
    if (g_chance(g, 30)) g_put(g, " desc nulls first");
  }
  g_limit(g);
  memcpy(g->scope, outer.scope, sizeof g->scope);
  g->n_scope = outer.n_scope;
  g->first_alias = outer.first_alias;
}

/* ---- statements ---- */

static void g_recursive(grammar *g)
{
  g_put(g, "with recursive walk(n, path) as (select 0, '' union all select n + 1, ");
  g_expr(g);
  g_put(g, " from walk, ");
  g_table(g);
  em_str_printf(&g->out, " where n < %d limit %d) ", (int)g_below(g, 2000), (int)g_below(g, 3000));
  g->n_scope = 0;
  g_select(g);
}

/* Deeper than anybody writes. */
static void g_deep(grammar *g)
{
  static const char *const opens[] = {"(", "abs(", "(select ", "not ", "case when 1 then ", "1 + (", "exists (select "};
  static const char *const closes[] = {")", ")", ")", "", " end", ")", ")"};
  size_t i = g_below(g, G_LEN(opens)), n = 1 + g_below(g, 260);
  g_put(g, "select ");
  for (size_t k = 0; k < n; k++) g_put(g, opens[i]);
  g_literal(g);
  for (size_t k = 0; k < n; k++) g_put(g, closes[i]);
}

static void g_temporary(grammar *g)
{
  static const char *const others[] = {"drop table temp1",
                                       "drop view seen",
                                       "insert into temp1 select * from temp1",
                                       "delete from temp1 where c1 > 1",
                                       "update temp1 set c1 = c1 + 1",
                                       "create index temp.i1 on temp1(c1)",
                                       "insert into temp1 values (1)",
                                       "begin",
                                       "commit",
                                       "rollback",
                                       "savepoint s",
                                       "release s",
                                       "alter table temp1 add column c9",
                                       "alter table temp1 rename to temp2",
                                       "create temp trigger g after insert on temp1 begin select 1; end",
                                       "reindex",
                                       "analyze",
                                       "drop table if exists temp2"};
  switch (g_below(g, 4)) {
  case 0:
    g_put(g, "create temp table temp1 as ");
    g_select(g);
    break;
  case 1:
    g_put(g, "create temp view seen as ");
    g_select(g);
    break;
  case 2: g_put(g, "create temp table if not exists temp1(c1, c2 primary key)"); break;
  default: g_put(g, G_PICK(g, others)); break;
  }
}

static void g_administration(grammar *g)
{
  static const char *const statements[] = {"attach '" GRAMMAR_FOLDER "/mine.db' as mine",
                                           "attach '" GRAMMAR_FOLDER "/mine.db' as mine",
                                           "attach '" GRAMMAR_FOLDER "/no-database.db' as mine",
                                           "attach '" GRAMMAR_FOLDER "/new.db' as mine",
                                           "attach ':memory:' as mine",
                                           "attach '' as mine",
                                           "attach 'file:" GRAMMAR_FOLDER "/new.db?mode=rwc' as mine",
                                           "detach mine",
                                           "insert into mine.items values (1, 2)",
                                           "vacuum",
                                           "vacuum into '" GRAMMAR_FOLDER "/new.db'",
                                           "vacuum mine into '" GRAMMAR_FOLDER "/new.db'",
                                           "pragma writable_schema = 1",
                                           "pragma journal_mode = wal",
                                           "pragma mine.journal_mode = wal",
                                           "pragma table_xinfo(candidates)",
                                           "pragma temp_store_directory = '.'",
                                           "pragma database_list",
                                           "create virtual table temp.v using candidates('mm.64')",
                                           "create table main.t(x)",
                                           "create virtual table f using fts5(x)",
                                           "drop table pools",
                                           "delete from pools",
                                           "update candidates set rank = 1",
                                           "insert into schema_doc default values",
                                           "explain select * from candidates('mm.64')",
                                           "create temp table pools(x)",
                                           "create temp view candidates as select 1 as rank"};
  g_put(g, G_PICK(g, statements));
}

static void g_statement(grammar *g)
{
  g->fuel = 3 + (int)g_below(g, 30);
  g->n_scope = 0;
  g->first_alias = 0;
  size_t kind = g_below(g, 20);
  if (g_chance(g, 5)) g_put(g, g_chance(g, 50) ? "explain query plan " : "/* x */ explain ");
  if (kind < 13)
    g_select(g);
  else if (kind == 13)
    g_recursive(g);
  else if (kind == 14)
    g_deep(g);
  else if (kind < 18)
    g_temporary(g);
  else
    g_administration(g);
}

/* Statements of one text. */
static void g_script(grammar *g)
{
  for (size_t n = 1 + g_below(g, 4); n > 0; n--) {
    g_statement(g);
    if (n > 1 || g_chance(g, 50)) g_put(g, ";\n");
  }
}

/* ---- one question asked in two ways ---- */

/* A condition on the key that the core serves, or (in a cast, which keeps the affinity) one that SQLite checks. */
static void g_bound(grammar *g, const char *key)
{
  static const char *const ops[] = {"=", "<", "<=", ">", ">=", "is", "in", "between"};
  static const char *const values[] = {"0",
                                       "1",
                                       "2",
                                       "2.5",
                                       "3",
                                       "17",
                                       "63",
                                       "64",
                                       "-1",
                                       "-2.5",
                                       "9e999",
                                       "-9e999",
                                       "null",
                                       "'3'",
                                       "'x'",
                                       "x'03'",
                                       "''",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "1e19",
                                       "-1e19",
                                       "(select 4)",
                                       "(select max(pools) from cards)"};
  const char *op = G_PICK(g, ops);
  em_str_printf(&g->out, g->sought ? "%s %s " : "cast(%s as integer) %s ", key, op);
  if (strcmp(op, "in") == 0)
    em_str_printf(&g->out, "(%s, %s, %s)", G_PICK(g, values), G_PICK(g, values), G_PICK(g, values));
  else if (strcmp(op, "between") == 0)
    em_str_printf(&g->out, "%s and %s", G_PICK(g, values), G_PICK(g, values));
  else
    g_put(g, G_PICK(g, values));
}

/* The rows are ordered by the key alone, so both ways give the same bytes. */
static void g_seek(grammar *g)
{
  const em_view *v = g_view(g);
  while (!v->key) v = g_view(g);
  bool pool = v->n_params && strcmp(v->params[0].name, "pool") == 0;
  const char *name = G_PICK(g, g_pools);
  em_str_printf(&g->out, "select *, rowid from %s", v->name);
  if (pool && g->sought) em_str_printf(&g->out, "('%s')", name);
  g_put(g, " where ");
  if (pool && !g->sought) em_str_printf(&g->out, "pool = '%s' and (", name);
  g_bound(g, v->key);
  for (size_t n = g_below(g, 3); n > 0; n--) {
    g_put(g, g_chance(g, 75) ? " and " : " or ");
    g_bound(g, v->key);
  }
  if (pool && !g->sought) g_put(g, ")");
  em_str_printf(&g->out, g->sought ? " order by %s%s" : " order by cast(%s as integer)%s", v->key,
                g_chance(g, 50) ? " desc" : "");
  if (g_chance(g, 50)) em_str_printf(&g->out, " limit %d offset %d", (int)g_below(g, 40), (int)g_below(g, 5));
}

#endif
