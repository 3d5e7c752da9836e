/* kernel_pretty.c - the Loop IR for people: indented loops, one statement a line. */

#include <inttypes.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

static void put_body(kx_print *p, const kx_body *b, int depth);

static void indent(kx_print *p, int depth) { em_str_printf(p->out, "%*s", 2 * depth, ""); }

static void put_dim(kx_print *p, const kx_dim *d)
{
  if (d->expr)
    em_str_printf(p->out, "%s=%" PRId64, d->text, d->hint);
  else
    em_str_printf(p->out, "%" PRId64, d->size);
}

static void put_refs(kx_print *p, const kx_refs *refs)
{
  for (size_t i = 0; i < refs->n; i++)
    em_str_printf(p->out, "%s%s", i ? ", " : "",
                  refs->items[i].axis ? refs->items[i].axis->name : refs->items[i].value->name);
}

static void put_place(kx_print *p, const kx_stmt *s)
{
  em_str_put_safe(p->out, s->buffer->name);
  em_str_putc(p->out, '[');
  for (size_t i = 0; i < s->index.n; i++) {
    em_str_put(p->out, i ? ", " : "");
    kx_expr_print(p, s->index.items[i]);
  }
  em_str_putc(p->out, ']');
}

static void put_dtype(kx_print *p, em_dtype t)
{
  if (t) em_str_printf(p->out, " : %s", em_dtype_name(t));
}

static void put_accum(kx_print *p, const kx_stmt *s)
{
  em_str_put(p->out, " = ");
  em_str_printf(p->out, "%s(", s->op);
  put_refs(p, s->base.n ? &s->base : &s->defs);
  em_str_put(p->out, ", ");
  put_refs(p, &s->uses);
  em_str_put(p->out, ") over ");
  for (size_t i = 0; i < s->axes.n; i++) em_str_printf(p->out, "%s%s", i ? ", " : "", s->axes.items[i]->name);
}

static void put_select(kx_print *p, const kx_stmt *s)
{
  em_str_put(p->out, " = select ");
  for (size_t i = 0; i < s->uses.n; i++) {
    kx_refs one = {1, &s->uses.items[i]};
    em_str_put(p->out, i ? ", " : "");
    put_refs(p, &one);
    em_str_put(p->out, " if ");
    kx_expr_print(p, s->index.items[i]);
  }
}

static void put_loop(kx_print *p, const kx_stmt *s)
{
  em_str_printf(p->out, "for %s in ", s->axis->name);
  if (s->tag == KX_S_STRIDED)
    kx_expr_print(p, s->start.items[0]);
  else
    em_str_putc(p->out, '0');
  em_str_put(p->out, "..");
  put_dim(p, &s->axis->extent);
  if (s->tag == KX_S_STRIDED) {
    em_str_put(p->out, " step ");
    kx_expr_print(p, s->step.items[0]);
  }
  em_str_put(p->out, s->flag ? " unrolled" : "");
}

static void put_stmt(kx_print *p, const kx_stmt *s, int depth)
{
  indent(p, depth);
  put_refs(p, &s->defs);
  switch (s->tag) {
  case KX_S_LOOP:
  case KX_S_STRIDED: put_loop(p, s); break;
  case KX_S_LOAD:
    em_str_put(p->out, " = ");
    put_place(p, s);
    break;
  case KX_S_ASSIGN:
    em_str_printf(p->out, " = %s(", s->op);
    put_refs(p, &s->uses);
    em_str_putc(p->out, ')');
    break;
  case KX_S_ACCUM: put_accum(p, s); break;
  case KX_S_WRITE:
    put_place(p, s);
    em_str_put(p->out, s->flag ? " += " : " = ");
    put_refs(p, &s->uses);
    break;
  case KX_S_SELECT: put_select(p, s); break;
  case KX_S_COND:
    em_str_put(p->out, "if ");
    kx_expr_print(p, s->index.items[0]);
    break;
  case KX_S_INIT:
  case KX_S_CONST: em_str_printf(p->out, " = %s", s->number.text); break;
  case KX_N_TAGS: break;
  }
  put_dtype(p, s->dtype);
  em_str_putc(p->out, '\n');
  put_body(p, &s->body, depth + 1);
  if (s->orelse.n) {
    indent(p, depth);
    em_str_put(p->out, "else\n");
    put_body(p, &s->orelse, depth + 1);
  }
}

static void put_body(kx_print *p, const kx_body *b, int depth)
{
  for (size_t i = 0; i < b->n; i++) put_stmt(p, &b->items[i], depth);
}

static void put_node(kx_print *p, const kx_node *n)
{
  for (size_t i = 0; i < n->n_outputs; i++) {
    const kx_buffer *b = &n->outputs[i];
    em_str_printf(p->out, "%-8s ", n->kind == KX_LOOP ? "output" : kx_node_kind_name[n->kind]);
    em_str_put_safe(p->out, b->name);
    em_str_printf(p->out, " : %s[", em_dtype_name(b->dtype));
    for (int j = 0; j < b->rank; j++) {
      em_str_put(p->out, j ? ", " : "");
      put_dim(p, &b->shape[j]);
    }
    em_str_putc(p->out, ']');
    if (n->value) {
      em_str_put(p->out, " = ");
      em_str_put_safe(p->out, n->value);
    }
    em_str_putc(p->out, '\n');
  }
}

void em_kernel_print_pretty(const em_kernel *k, em_str *out)
{
  kx_print p = {.out = out};
  em_str_printf(out, "kernel %s (%s)\n", k->name, em_kind_name(k->nest.kind));
  for (size_t i = 0; i < k->n_nodes; i++) put_node(&p, &k->nodes[i]);
  put_body(&p, &k->body, 0);
}
