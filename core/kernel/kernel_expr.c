/*
 * kernel_expr.c - index expressions: parse and print.
 *
 * Precedence climbing over the operator table; every binary level is left
 * associative.  Nesting (parentheses, "?:", calls, casts) is limited to
 * EM_NEST_DEPTH and the number of terms to KX_EXPR_NODES, which bounds the
 * recursion of everything that walks a tree later.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

typedef struct parser {
  em_arena *arena;
  kx_names *names;
  const char *text;
  size_t pos;
  int depth, nodes;
  const em_place *at;
  em_err *err;
} parser;

static int parse_cond(parser *p, kx_expr **out);

static void skip_blanks(parser *p)
{
  while (p->text[p->pos] == ' ' || p->text[p->pos] == '\t') p->pos++;
}

static bool take(parser *p, char c)
{
  skip_blanks(p);
  if (p->text[p->pos] != c) return false;
  p->pos++;
  return true;
}

/* "found X, expected Y" for the text at the current position. */
static int unexpected(parser *p, const char *expected)
{
  skip_blanks(p);
  const char *rest = p->text + p->pos;
  if (!*rest)
    return em_fail_at(p->err, p->at, "expression \"%.200s\" ends at byte %zu, expected %s", p->text, p->pos, expected);
  return em_fail_at(p->err, p->at, "expression \"%.200s\": found \"%.20s\" at byte %zu, expected %s", p->text, rest,
                    p->pos, expected);
}

static int new_node(parser *p, kx_expr_kind kind, size_t n_args, kx_expr **out)
{
  if (++p->nodes > KX_EXPR_NODES) {
    em_fail_at(p->err, p->at, "an expression has more than %d terms", KX_EXPR_NODES);
    return EM_E_INPUT;
  }
  kx_expr *e = em_arena_alloc(p->arena, 1, sizeof *e);
  kx_expr **args = em_arena_alloc(p->arena, n_args ? n_args : 1, sizeof *args);
  if (!e || !args) {
    em_fail_nomem(p->err);
    return EM_E_NOMEM;
  }
  *e = (kx_expr){.kind = kind, .n_args = n_args, .args = args};
  *out = e;
  return EM_OK;
}

static int enter(parser *p)
{
  if (++p->depth > EM_NEST_DEPTH)
    return em_fail_at(p->err, p->at, "an expression nests deeper than %d levels", EM_NEST_DEPTH);
  return EM_OK;
}

/* digits [ "." digits ] [ e [sign] digits ]; a point or exponent makes it a float. */
static int parse_number(parser *p, kx_expr **out)
{
  const char *s = p->text + p->pos;
  size_t n = *s == '-';
  bool is_float = false;
  while (isdigit((unsigned char)s[n])) n++;
  if (s[n] == '.')
    for (is_float = true, n++; isdigit((unsigned char)s[n]); n++)
      ;
  if (s[n] == 'e' || s[n] == 'E') {
    size_t m = n + 1 + (s[n + 1] == '+' || s[n + 1] == '-');
    if (isdigit((unsigned char)s[m]))
      for (is_float = true, n = m; isdigit((unsigned char)s[n]); n++)
        ;
  }
  char digits[512];
  if (n >= sizeof digits) return unexpected(p, "a shorter number");
  memcpy(digits, s, n);
  digits[n] = '\0';
  int rc = new_node(p, is_float ? KX_X_FLOAT : KX_X_INT, 0, out);
  if (rc) return rc;
  if (is_float ? !em_parse_f64(digits, &(*out)->f) : !em_parse_i64(digits, INT64_MIN, INT64_MAX, &(*out)->i))
    return unexpected(p, is_float ? "a finite number" : "an integer of 64 bits");
  p->pos += n;
  return EM_OK;
}

/* The length of NAME or NAME.NAME..., 0 when there is none. */
static size_t name_length(const char *s)
{
  size_t n = 0;
  while (isalpha((unsigned char)s[n]) || s[n] == '_') {
    while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
    if (s[n] != '.' || !(isalpha((unsigned char)s[n + 1]) || s[n + 1] == '_')) return n;
    n++;
  }
  return n;
}

static int parse_call(parser *p, const char *name, kx_expr **out)
{
  int func = kx_func_find(name);
  if (func < 0) return em_fail_at(p->err, p->at, "expression \"%.200s\": unknown function \"%s\"", p->text, name);
  const kx_func_info *info = kx_func_of(func);
  int rc = new_node(p, KX_X_CALL, (size_t)info->max_args, out);
  if (rc) return rc;
  (*out)->op = func;
  int n = 0;
  do {
    kx_expr *arg = NULL;
    if ((rc = parse_cond(p, &arg))) return rc;
    if (n < info->max_args) (*out)->args[n] = arg;
    n++;
  } while (take(p, ','));
  if (!take(p, ')')) return unexpected(p, "\",\" or \")\"");
  if (n < info->min_args || n > info->max_args)
    return em_fail_at(p->err, p->at, "expression \"%.200s\": %s has %d arguments, expected %d to %d", p->text, name, n,
                      info->min_args, info->max_args);
  (*out)->n_args = (size_t)n;
  return EM_OK;
}

static int parse_name(parser *p, kx_expr **out)
{
  const char *s = p->text + p->pos;
  size_t n = name_length(s);
  char func[16] = "";
  if (n < sizeof func) memcpy(func, s, n);
  p->pos += n;
  if (take(p, '(')) return parse_call(p, *func ? func : "?", out);
  bool yes = !strcmp(func, "true");
  int rc = new_node(p, yes || !strcmp(func, "false") ? KX_X_BOOL : KX_X_NAME, 0, out);
  if (rc) return rc;
  (*out)->i = yes;
  if ((*out)->kind == KX_X_NAME && !((*out)->name = kx_intern(p->arena, p->names, s, n))) return em_fail_nomem(p->err);
  return EM_OK;
}

/* The dtype of "(dtype)" at the current position, which it then steps over. */
static em_dtype take_cast(parser *p)
{
  const char *s = p->text + p->pos + 1;
  char name[16];
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789");
  if (s[n] != ')' || n >= sizeof name) return EM_DTYPE_NONE;
  memcpy(name, s, n);
  name[n] = '\0';
  em_dtype t = em_dtype_find(name);
  if (t != EM_DTYPE_NONE) p->pos += n + 2;
  return t;
}

static int parse_primary(parser *p, kx_expr **out);

static int parse_parenthesis(parser *p, kx_expr **out)
{
  em_dtype cast = take_cast(p);
  int rc;
  if (cast != EM_DTYPE_NONE) {
    if ((rc = enter(p)) || (rc = new_node(p, KX_X_CAST, 1, out)) || (rc = parse_primary(p, &(*out)->args[0])))
      return rc;
    (*out)->op = cast;
    p->depth--;
    return EM_OK;
  }
  p->pos++;
  if ((rc = parse_cond(p, out))) return rc;
  return take(p, ')') ? EM_OK : unexpected(p, "\")\"");
}

static int parse_primary(parser *p, kx_expr **out)
{
  skip_blanks(p);
  const char *s = p->text + p->pos;
  if (isdigit((unsigned char)*s) || (*s == '-' && isdigit((unsigned char)s[1]))) return parse_number(p, out);
  if (*s == '(') return parse_parenthesis(p, out);
  if (name_length(s)) return parse_name(p, out);
  return unexpected(p, "a number, a name or \"(\"");
}

/* Binary operators of at least `level`. */
static int parse_binary(parser *p, int level, kx_expr **out)
{
  kx_expr *left = NULL, *node;
  int rc = parse_primary(p, &left);
  while (!rc) {
    skip_blanks(p);
    const kx_binary_info *info = kx_binary_match(p->text + p->pos);
    if (!info || info->level < level) break;
    p->pos += strlen(info->text);
    if ((rc = new_node(p, KX_X_BINARY, 2, &node))) break;
    node->op = info->op;
    node->args[0] = left;
    rc = parse_binary(p, info->level + 1, &node->args[1]);
    left = node;
  }
  *out = left;
  return rc;
}

static int parse_cond(parser *p, kx_expr **out)
{
  kx_expr *test = NULL, *node;
  int rc = enter(p);
  if (rc || (rc = parse_binary(p, KX_LEVEL_OR, &test))) return rc;
  *out = test;
  if (take(p, '?')) {
    if ((rc = new_node(p, KX_X_COND, 3, &node))) return rc;
    node->args[0] = test;
    if ((rc = parse_cond(p, &node->args[1]))) return rc;
    if (!take(p, ':')) return unexpected(p, "\":\"");
    if ((rc = parse_cond(p, &node->args[2]))) return rc;
    *out = node;
  }
  p->depth--;
  return EM_OK;
}

int kx_expr_parse(em_arena *a, kx_names *names, const char *text, const em_place *at, kx_expr **out, em_err *err)
{
  parser p = {.arena = a, .names = names, .text = text, .depth = -1, .at = at, .err = err};
  int rc = parse_cond(&p, out);
  if (rc) return rc;
  skip_blanks(&p);
  return text[p.pos] ? unexpected(&p, "an operator or the end") : EM_OK;
}

/* ---- printing ------------------------------------------------------------------ */

static void print_level(kx_print *p, const kx_expr *e, int level);

static void print_name(kx_print *p, const kx_expr *e, int level)
{
  if (e->axis && e->axis == p->from) {
    int own = kx_binary_of(KX_ADD)->level;
    em_str_printf(p->out, own < level ? "(%s * %" PRId64 " + %s)" : "%s * %" PRId64 " + %s", p->part, p->chunk,
                  e->axis->name);
  } else if (!p->numbered) {
    em_str_put(p->out, e->axis ? e->axis->name : e->value ? e->value->name : e->sym ? e->sym->name : e->name->text);
  } else if (e->sym) {
    if (e->sym->num < 0) e->sym->num = p->n_syms++;
    em_str_printf(p->out, "s%d", e->sym->num);
  } else {
    em_str_printf(p->out, e->axis ? "a%d" : "v%d", e->axis ? e->axis->num : e->value->num);
  }
}

static int level_of(const kx_expr *e)
{
  switch (e->kind) {
  case KX_X_COND: return KX_LEVEL_COND;
  case KX_X_BINARY: return kx_binary_of((kx_binary)e->op)->level;
  default: return KX_LEVEL_PRIMARY;
  }
}

static void print_call(kx_print *p, const kx_expr *e)
{
  em_str_printf(p->out, "%s(", kx_func_of(e->op)->name);
  for (size_t i = 0; i < e->n_args; i++) {
    em_str_put(p->out, i ? ", " : "");
    print_level(p, e->args[i], KX_LEVEL_COND);
  }
  em_str_putc(p->out, ')');
}

static void print_node(kx_print *p, const kx_expr *e, int level)
{
  char buf[EM_DOUBLE_LEN];
  int own = level_of(e);
  switch (e->kind) {
  case KX_X_INT: em_str_printf(p->out, "%" PRId64, e->i); break;
  case KX_X_FLOAT: em_str_put(p->out, em_double_repr(e->f, buf)); break;
  case KX_X_BOOL: em_str_put(p->out, e->i ? "true" : "false"); break;
  case KX_X_NAME: print_name(p, e, level); break;
  case KX_X_CALL: print_call(p, e); break;
  case KX_X_BINARY:
    print_level(p, e->args[0], own);
    em_str_printf(p->out, " %s ", kx_binary_of((kx_binary)e->op)->text);
    print_level(p, e->args[1], own + 1);
    break;
  case KX_X_CAST:
    em_str_printf(p->out, "(%s)", em_dtype_name((em_dtype)e->op));
    print_level(p, e->args[0], KX_LEVEL_PRIMARY);
    break;
  case KX_X_COND:
    print_level(p, e->args[0], KX_LEVEL_OR);
    em_str_put(p->out, " ? ");
    print_level(p, e->args[1], KX_LEVEL_COND);
    em_str_put(p->out, " : ");
    print_level(p, e->args[2], KX_LEVEL_COND);
    break;
  }
}

/* In parentheses when `e` binds weaker than `level`. */
static void print_level(kx_print *p, const kx_expr *e, int level)
{
  bool wrap = level_of(e) < level;
  em_str_put(p->out, wrap ? "(" : "");
  print_node(p, e, wrap ? KX_LEVEL_COND : level);
  em_str_put(p->out, wrap ? ")" : "");
}

void kx_expr_print(kx_print *p, const kx_expr *e) { print_level(p, e, KX_LEVEL_COND); }
