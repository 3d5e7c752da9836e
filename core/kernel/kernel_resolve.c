/*
 * kernel_resolve.c - binds each name to the statement that defines it.
 *
 * A name means one thing at a time: what a block defines is forgotten at its
 * end, and nothing visible may be defined again.  An accumulator belongs to
 * the block around the loop that it is seeded before, so it is bound when that
 * loop is entered: its running value may be read inside.
 */
#include <string.h>

#include "core/kernel/kernel_int.h"

/* Blocks at once: the body and one per level of nesting. */
#define LEVELS (EM_NEST_DEPTH + 2)

typedef struct resolver {
  em_kernel *k;
  em_err *err;
  int level;
  kx_name *bound[LEVELS]; /* the names that each open block defined */
} resolver;

static int resolve_body(resolver *r, kx_body *b, const em_place *at);

static void bind(resolver *r, kx_name *name, int level)
{
  name->next_bound = r->bound[level];
  r->bound[level] = name;
}

static void open_block(resolver *r) { r->bound[++r->level] = NULL; }

static void close_block(resolver *r)
{
  for (kx_name *n = r->bound[r->level]; n; n = n->next_bound) {
    n->value = NULL;
    n->axis = NULL;
  }
  r->level--;
}

static int check_free(resolver *r, const kx_name *name, const em_place *at)
{
  if (name->value || name->axis) return em_fail_at(r->err, at, "\"%.80s\" is already defined here", name->text);
  if (name->sym) return em_fail_at(r->err, at, "\"%.80s\" is already the name of a size", name->text);
  return EM_OK;
}

static int new_value(resolver *r, kx_name *name, const kx_stmt *def, int level, kx_value **out)
{
  kx_value *v = em_arena_alloc(r->k->arena, 1, sizeof *v);
  if (!v) {
    em_fail_nomem(r->err);
    return EM_E_NOMEM;
  }
  *v = (kx_value){.name = name->text, .num = r->k->n_values++, .def = def};
  name->value = v;
  bind(r, name, level);
  *out = v;
  return EM_OK;
}

static int use(resolver *r, kx_ref *ref, const em_place *at)
{
  ref->value = ref->name->value;
  ref->axis = ref->name->axis;
  if (!ref->value && !ref->axis)
    return em_fail_at(r->err, at, "\"%.80s\" is used before it is defined", ref->name->text);
  return EM_OK;
}

static int uses(resolver *r, kx_refs *refs, const em_place *at)
{
  int rc = EM_OK;
  for (size_t i = 0; !rc && i < refs->n; i++) rc = use(r, &refs->items[i], at);
  return rc;
}

static int resolve_expr(resolver *r, kx_expr *e, const em_place *at)
{
  int rc = EM_OK;
  if (e->kind == KX_X_NAME) {
    e->axis = e->name->axis;
    e->value = e->name->value;
    e->sym = e->axis || e->value ? NULL : e->name->sym;
    if (!e->axis && !e->value && !e->sym)
      return em_fail_at(r->err, at, "unknown name \"%.80s\" in an expression, expected an axis, a value or a size",
                        e->name->text);
  }
  for (size_t i = 0; !rc && i < e->n_args; i++) rc = resolve_expr(r, e->args[i], at);
  return rc;
}

static int resolve_exprs(resolver *r, kx_exprs *list, const em_place *at, const char *key)
{
  int rc = EM_OK;
  em_place here = {.up = at, .key = key};
  for (size_t i = 0; !rc && i < list->n; i++) {
    em_place element = {.up = &here, .index = (int64_t)i};
    rc = resolve_expr(r, list->items[i], list->n == 1 && !strcmp(key, "cond") ? &here : &element);
  }
  return rc;
}

static int define(resolver *r, kx_stmt *s, const em_place *at)
{
  int rc = EM_OK;
  for (size_t i = 0; !rc && i < s->defs.n; i++) {
    kx_ref *d = &s->defs.items[i];
    if (!(rc = check_free(r, d->name, at))) rc = new_value(r, d->name, s, r->level, &d->value);
  }
  return rc;
}

/* The accumulators of a loop; one that cannot be bound is reported at its Accum. */
static int seed_accumulators(resolver *r, kx_stmt *loop)
{
  kx_stmt *in_order = NULL;
  for (kx_stmt *next, *s = loop->seeds; s; s = next) { /* they were linked last first */
    next = s->next_seed;
    s->next_seed = in_order;
    in_order = s;
  }
  loop->seeds = in_order;
  for (kx_stmt *s = in_order; s; s = s->next_seed) {
    kx_name *name = s->defs.items[0].name;
    kx_value *v;
    if (name->value || name->axis || name->sym) continue;
    int rc = new_value(r, name, s, r->level, &v);
    if (rc) return rc;
    v->seed = loop;
  }
  return EM_OK;
}

static int accumulate(resolver *r, kx_stmt *s, const em_place *at)
{
  kx_ref *d = &s->defs.items[0];
  d->value = d->name->value;
  bool mine = d->value && (d->value->seed == s->loop || d->value->def->tag == KX_S_INIT);
  if (!mine) {
    int rc = check_free(r, d->name, at);
    return rc ? rc : em_fail_at(r->err, at, "\"%.80s\" is not visible here", d->name->text);
  }
  if (d->value->def->tag == KX_S_ACCUM && strcmp(d->value->def->op, s->op))
    return em_fail_at(r->err, at, "\"%.80s\" is accumulated with both \"%s\" and \"%s\"", d->name->text,
                      d->value->def->op, s->op);
  return EM_OK;
}

static int resolve_loop(resolver *r, kx_stmt *s, const em_place *at)
{
  em_place axis_at = {.up = at, .key = "axis"}, body_at = {.up = at, .key = "body"};
  int rc = seed_accumulators(r, s);
  kx_name *name = kx_intern(r->k->arena, &r->k->names, s->axis->name, strlen(s->axis->name));
  if (rc || !name) return rc ? rc : em_fail_nomem(r->err);
  if ((rc = check_free(r, name, &axis_at))) return rc;
  open_block(r);
  s->axis->num = r->k->n_axes++;
  name->axis = s->axis;
  bind(r, name, r->level);
  rc = resolve_body(r, &s->body, &body_at);
  close_block(r);
  return rc;
}

static int resolve_cond(resolver *r, kx_stmt *s, const em_place *at)
{
  em_place body_at = {.up = at, .key = "body"}, else_at = {.up = at, .key = "else_body"};
  open_block(r);
  int rc = resolve_body(r, &s->body, &body_at);
  close_block(r);
  if (rc) return rc;
  open_block(r);
  rc = resolve_body(r, &s->orelse, &else_at);
  close_block(r);
  return rc;
}

static int resolve_stmt(resolver *r, kx_stmt *s, const em_place *at)
{
  int rc;
  if ((rc = uses(r, &s->uses, at)) || (rc = uses(r, &s->base, at)) ||
      (rc = resolve_exprs(r, &s->index, at,
                          s->tag == KX_S_COND     ? "cond"
                          : s->tag == KX_S_SELECT ? "branches"
                                                  : "index")) ||
      (rc = resolve_exprs(r, &s->start, at, "start")) || (rc = resolve_exprs(r, &s->step, at, "step")))
    return rc;
  switch (s->tag) {
  case KX_S_LOOP:
  case KX_S_STRIDED: return resolve_loop(r, s, at);
  case KX_S_COND: return resolve_cond(r, s, at);
  case KX_S_ACCUM: return accumulate(r, s, at);
  default: return define(r, s, at);
  }
}

static int resolve_body(resolver *r, kx_body *b, const em_place *at)
{
  int rc = EM_OK;
  for (size_t i = 0; !rc && i < b->n; i++) {
    em_place here = {.up = at, .index = (int64_t)i};
    em_place tag_at = {.up = &here, .key = kx_tag_of(b->items[i].tag)->name};
    rc = resolve_stmt(r, &b->items[i], &tag_at);
  }
  return rc;
}

int kx_resolve(em_kernel *k, const em_place *at, em_err *err)
{
  resolver r = {.k = k, .err = err, .level = 0};
  em_place nodes_at = {.up = at, .key = "nodes"}, node_at = {.up = &nodes_at, .index = k->loop - k->nodes};
  em_place attrs_at = {.up = &node_at, .key = "attrs"}, body_at = {.up = &attrs_at, .key = "body"};
  int rc = resolve_body(&r, &k->body, &body_at);
  close_block(&r); /* also after a failure: names outlive their bindings */
  return rc;
}

/* ---- canonical names -------------------------------------------------------------------- */

typedef enum prefix { PRE_AXIS, PRE_LOAD, PRE_ACCUM, PRE_VALUE, N_PREFIX } prefix;

typedef struct renamer {
  em_kernel *k;
  em_err *err;
  int next[N_PREFIX];
} renamer;

static int next_name(renamer *r, prefix pre, const char **out)
{
  static const char *const text[N_PREFIX] = {"a", "in", "acc", "v"};
  char buf[32];
  kx_name *name;
  do {
    snprintf(buf, sizeof buf, "%s%d", text[pre], r->next[pre]++);
    if (!(name = kx_intern(r->k->arena, &r->k->names, buf, strlen(buf)))) return em_fail_nomem(r->err);
  } while (name->sym);
  *out = name->text;
  return EM_OK;
}

static int rename_body(renamer *r, kx_body *b);

static int rename_stmt(renamer *r, kx_stmt *s)
{
  int rc = EM_OK;
  if (s->axis && (rc = next_name(r, PRE_AXIS, &s->axis->name))) return rc;
  prefix pre = s->tag == KX_S_LOAD ? PRE_LOAD : s->tag == KX_S_ACCUM || s->tag == KX_S_INIT ? PRE_ACCUM : PRE_VALUE;
  for (size_t i = 0; !rc && i < s->defs.n; i++)
    if (s->defs.items[i].value->def == s) rc = next_name(r, pre, &s->defs.items[i].value->name);
  if (rc || (rc = rename_body(r, &s->body))) return rc;
  return rename_body(r, &s->orelse);
}

static int rename_body(renamer *r, kx_body *b)
{
  int rc = EM_OK;
  for (size_t i = 0; !rc && i < b->n; i++) rc = rename_stmt(r, &b->items[i]);
  return rc;
}

int kx_rename(em_kernel *k, em_err *err)
{
  renamer r = {.k = k, .err = err};
  return rename_body(&r, &k->body);
}
