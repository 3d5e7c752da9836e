/*
 * kernel_print.c - the Loop IR as text: canonical JSON, and the normal form
 * whose digest is the identity.
 *
 * Both are one walk over the field table.  In the normal form axes, values,
 * buffers and symbols are printed by number, hints are left out, and the
 * buffers that the body uses follow the body in the order of their first use.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

static void print_body(kx_print *p, const kx_body *b);

static void put_key(kx_print *p, const char *key, bool *first)
{
  em_str_put(p->out, *first ? "" : ",");
  em_str_put_json(p->out, key);
  em_str_putc(p->out, ':');
  *first = false;
}

/* "prefix<number>" in the normal form, the name otherwise. */
static void put_name(kx_print *p, const char *name, const char *prefix, int num)
{
  char buf[32];
  snprintf(buf, sizeof buf, "%s%d", prefix, num);
  em_str_put_json(p->out, p->numbered ? buf : name);
}

static void put_ref(kx_print *p, const kx_ref *r)
{
  if (r->axis)
    put_name(p, r->axis->name, "a", r->axis->num);
  else
    put_name(p, r->value->name, "v", r->value->num);
}

static void put_refs(kx_print *p, const kx_refs *refs)
{
  em_str_putc(p->out, '[');
  for (size_t i = 0; i < refs->n; i++) {
    em_str_put(p->out, i ? "," : "");
    put_ref(p, &refs->items[i]);
  }
  em_str_putc(p->out, ']');
}

static void put_buffer(kx_print *p, kx_buffer *b)
{
  if (p->numbered && b->num < 0) b->num = p->n_buffers++;
  put_name(p, b->name, "b", b->num);
}

static void put_expr(kx_print *p, const kx_expr *e)
{
  em_str_putc(p->out, '"');
  kx_expr_print(p, e); /* made of characters that JSON does not escape */
  em_str_putc(p->out, '"');
}

static void put_exprs(kx_print *p, const kx_exprs *list)
{
  em_str_putc(p->out, '[');
  for (size_t i = 0; i < list->n; i++) {
    em_str_put(p->out, i ? "," : "");
    put_expr(p, list->items[i]);
  }
  em_str_putc(p->out, ']');
}

static void put_axes(kx_print *p, const kx_axes *axes)
{
  em_str_putc(p->out, '[');
  for (size_t i = 0; i < axes->n; i++) {
    em_str_put(p->out, i ? "," : "");
    put_name(p, axes->items[i]->name, "a", axes->items[i]->num);
  }
  em_str_putc(p->out, ']');
}

static void put_branches(kx_print *p, const kx_stmt *s)
{
  em_str_putc(p->out, '[');
  for (size_t i = 0; i < s->uses.n; i++) {
    em_str_put(p->out, i ? ",{\"value\":" : "{\"value\":");
    put_ref(p, &s->uses.items[i]);
    em_str_put(p->out, ",\"select\":");
    put_expr(p, s->index.items[i]);
    em_str_putc(p->out, '}');
  }
  em_str_putc(p->out, ']');
}

static void put_raw(kx_print *p, const kx_raw *r) { em_str_put(p->out, p->numbered ? r->canon : r->text); }

void kx_print_dim(kx_print *p, const kx_dim *d)
{
  if (!d->expr) {
    em_str_printf(p->out, "%" PRId64, d->size);
    return;
  }
  em_str_put(p->out, d->expr->kind == KX_X_NAME ? "{\"sym\":" : "{\"expr\":");
  put_expr(p, d->expr);
  if (!p->numbered) em_str_printf(p->out, ",\"hint\":%" PRId64, d->hint);
  em_str_putc(p->out, '}');
}

static void put_axis(kx_print *p, const kx_stmt *s)
{
  em_str_put(p->out, "{\"name\":");
  put_name(p, s->axis->name, "a", s->axis->num);
  em_str_put(p->out, ",\"extent\":");
  kx_print_dim(p, &s->axis->extent);
  if (s->axis_extra.text) {
    em_str_putc(p->out, ',');
    em_str_put(p->out, (p->numbered ? s->axis_extra.canon : s->axis_extra.text) + 1); /* after its "{" */
  } else {
    em_str_putc(p->out, '}');
  }
}

/* Whether a field is at its default, so that it is left out. */
static bool is_default(const kx_stmt *s, const kx_field *f)
{
  if (f->required) return false;
  switch (f->type) {
  case KX_F_BOOL: return *KX_CAT(s, f, bool) == !strcmp(f->absent, "true");
  case KX_F_DTYPE: return *KX_CAT(s, f, em_dtype) == EM_DTYPE_NONE;
  case KX_F_BODY: return KX_CAT(s, f, kx_body)->n == 0;
  case KX_F_BASE: return KX_CAT(s, f, kx_refs)->n == 0;
  case KX_F_RAW: return !KX_CAT(s, f, kx_raw)->text;
  default: return !strcmp(*KX_CAT(s, f, const char *), f->absent);
  }
}

static void put_field(kx_print *p, const kx_stmt *s, const kx_field *f)
{
  switch (f->type) {
  case KX_F_AXIS: put_axis(p, s); break;
  case KX_F_BODY: print_body(p, KX_CAT(s, f, kx_body)); break;
  case KX_F_DEF:
  case KX_F_USE:
  case KX_F_BASE: put_ref(p, KX_CAT(s, f, kx_refs)->items); break;
  case KX_F_DEFS:
  case KX_F_USES: put_refs(p, KX_CAT(s, f, kx_refs)); break;
  case KX_F_AXES: put_axes(p, &s->axes); break;
  case KX_F_SOURCE:
  case KX_F_TARGET: put_buffer(p, s->buffer); break;
  case KX_F_OP:
  case KX_F_FOLD:
  case KX_F_TEXT: em_str_put_json(p->out, *KX_CAT(s, f, const char *)); break;
  case KX_F_DTYPE: em_str_put_json(p->out, em_dtype_name(*KX_CAT(s, f, em_dtype))); break;
  case KX_F_EXPR: put_expr(p, KX_CAT(s, f, kx_exprs)->items[0]); break;
  case KX_F_EXPRS: put_exprs(p, KX_CAT(s, f, kx_exprs)); break;
  case KX_F_BOOL: em_str_put(p->out, *KX_CAT(s, f, bool) ? "true" : "false"); break;
  case KX_F_NUMBER:
  case KX_F_RAW: put_raw(p, KX_CAT(s, f, kx_raw)); break;
  case KX_F_BRANCHES: put_branches(p, s); break;
  }
}

void kx_print_stmt(kx_print *p, const kx_stmt *s)
{
  const kx_tag_info *tag = kx_tag_of(s->tag);
  bool first = true;
  em_str_printf(p->out, "{\"%s\":{", tag->name);
  for (int i = 0; i < KX_MAX_FIELDS && tag->fields[i].key; i++)
    if (!is_default(s, &tag->fields[i])) {
      put_key(p, tag->fields[i].key, &first);
      put_field(p, s, &tag->fields[i]);
    }
  em_str_put(p->out, "}}");
}

static void print_body(kx_print *p, const kx_body *b)
{
  em_str_putc(p->out, '[');
  for (size_t i = 0; i < b->n; i++) {
    em_str_put(p->out, i ? "," : "");
    kx_print_stmt(p, &b->items[i]);
  }
  em_str_putc(p->out, ']');
}

/* ---- the graph ------------------------------------------------------------------------ */

static void put_shape(kx_print *p, const kx_buffer *b)
{
  em_str_printf(p->out, "\"%s\",[", em_dtype_name(b->dtype));
  for (int i = 0; i < b->rank; i++) {
    em_str_put(p->out, i ? "," : "");
    kx_print_dim(p, &b->shape[i]);
  }
  em_str_putc(p->out, ']');
}

static void put_buffers(kx_print *p, const char *key, kx_buffer *const *list, size_t n)
{
  em_str_printf(p->out, "\"%s\":[", key);
  for (size_t i = 0; i < n; i++) {
    em_str_put(p->out, i ? "," : "");
    em_str_put_json(p->out, list[i]->name);
  }
  em_str_putc(p->out, ']');
}

static void put_attrs(kx_print *p, const em_kernel *k, const kx_node *n)
{
  if (n->kind == KX_LOOP) {
    em_str_put(p->out, ",\"attrs\":{\"body\":");
    print_body(p, &k->body);
    if (k->loop_name) {
      em_str_put(p->out, ",\"name\":");
      em_str_put_json(p->out, k->loop_name);
    }
    em_str_putc(p->out, '}');
  } else if (n->attrs.text) {
    em_str_printf(p->out, ",\"attrs\":%s", n->attrs.text);
  }
}

void kx_print_buffer(kx_print *p, const kx_buffer *b)
{
  em_str_putc(p->out, '[');
  em_str_put_json(p->out, b->name);
  em_str_putc(p->out, ',');
  put_shape(p, b);
  em_str_putc(p->out, ']');
}

void kx_print_node(kx_print *p, const em_kernel *k, const kx_node *n)
{
  em_str_put(p->out, "{\"id\":");
  em_str_put_json(p->out, n->id);
  em_str_printf(p->out, ",\"op\":\"%s\"", kx_node_kind_name[n->kind]);
  put_attrs(p, k, n);
  if (n->n_inputs) {
    em_str_putc(p->out, ',');
    put_buffers(p, "inputs", n->inputs, n->n_inputs);
  }
  em_str_put(p->out, ",\"outputs\":[");
  for (size_t i = 0; i < n->n_outputs; i++) {
    em_str_put(p->out, i ? "," : "");
    kx_print_buffer(p, &n->outputs[i]);
  }
  em_str_put(p->out, "]}");
}

void em_kernel_print(const em_kernel *k, em_str *out)
{
  kx_print p = {.out = out};
  em_str_putc(out, '{');
  put_buffers(&p, "inputs", k->inputs, k->n_inputs);
  em_str_putc(out, ',');
  put_buffers(&p, "outputs", k->outputs, k->n_outputs);
  em_str_put(out, ",\"nodes\":[");
  for (size_t i = 0; i < k->n_nodes; i++) {
    em_str_put(out, i ? "," : "");
    kx_print_node(&p, k, &k->nodes[i]);
  }
  em_str_putc(out, ']');
  if (k->hints.text) em_str_printf(out, ",\"hints\":%s", k->hints.text);
  em_str_putc(out, '}');
}

/* ---- identity -------------------------------------------------------------------------- */

int kx_identify(em_kernel *k, em_err *err)
{
  em_str text = {0};
  kx_print p = {.out = &text, .numbered = true};
  print_body(&p, &k->body);
  const kx_buffer **used = em_calloc((size_t)p.n_buffers + 1, sizeof(kx_buffer *));
  if (!used) {
    em_str_free(&text);
    return em_fail_nomem(err);
  }
  for (size_t i = 0; i < k->n_nodes; i++)
    for (size_t j = 0; j < k->nodes[i].n_outputs; j++)
      if (k->nodes[i].outputs[j].num >= 0) used[k->nodes[i].outputs[j].num] = &k->nodes[i].outputs[j];
  for (int i = 0; i < p.n_buffers; i++) {
    em_str_printf(&text, "\n%s ", kx_node_kind_name[used[i]->node->kind]);
    put_shape(&p, used[i]);
    em_str_put(&text, used[i]->node->value ? used[i]->node->value : "");
  }
  em_free(used);
  int rc = em_str_finish(&text, err);
  if (rc) return rc;
  k->identity = em_digest_bytes(text.s, text.len);
  em_str_free(&text);
  return EM_OK;
}
