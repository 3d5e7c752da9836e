/* kernel.c - the life of a kernel, and what can be asked about it as a whole. */

#include <inttypes.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

static int set_name(em_kernel *k, const char *name, const em_place *at, em_err *err)
{
  name = name ? name : k->loop_name;
  if (!name || !em_name_is_identifier(name))
    return em_fail_at(err, at, "the kernel's name is \"%.80s\", expected a C identifier", name ? name : "");
  k->name = em_arena_strdup(k->arena, name);
  return k->name ? EM_OK : em_fail_nomem(err);
}

int em_kernel_parse(const cJSON *loop_ir, const char *name, const em_place *at, em_kernel **out, em_err *err)
{
  em_kernel *k = em_calloc(1, sizeof *k);
  if (!k || !(k->arena = em_arena_new())) {
    em_free(k);
    return em_fail_nomem(err);
  }
  int rc;
  if ((rc = kx_read(k, loop_ir, at, err)) || (rc = set_name(k, name, at, err)) || (rc = kx_resolve(k, at, err)) ||
      (rc = kx_stamp(k, err)) || (rc = kx_identify(k, err))) {
    em_kernel_free(k);
    return rc;
  }
  kx_nest(k);
  *out = k;
  return EM_OK;
}

int em_kernel_parse_text(const char *text, size_t len, const char *name, const char *file, em_kernel **out, em_err *err)
{
  cJSON *json;
  em_place root = {.file = file};
  int rc = em_json_parse(text, len, file, &json, err);
  if (rc) return rc;
  rc = em_kernel_parse(json, name, &root, out, err);
  em_json_free(json);
  return rc;
}

int kx_from_text(em_str *text, const char *name, bool rename, em_kernel **out, em_err *err)
{
  int rc = em_str_finish(text, err);
  if (rc) return rc;
  rc = em_kernel_parse_text(text->s, text->len, name, name, out, err);
  em_str_free(text);
  if (!rc && rename && (rc = kx_rename(*out, err))) em_kernel_free(*out);
  if (!rc) kx_nest(*out); /* its names are borrowed from the axes */
  return rc;
}

void em_kernel_free(em_kernel *k)
{
  if (!k) return;
  em_free(k->syms);
  em_arena_free(k->arena);
  em_free(k);
}

const char *em_kernel_name(const em_kernel *k) { return k->name; }

em_kind em_kernel_kind(const em_kernel *k) { return k->nest.kind; }

em_digest em_kernel_identity(const em_kernel *k) { return k->identity; }

size_t em_kernel_n_symbols(const em_kernel *k) { return k->n_syms; }

const char *em_kernel_symbol(const em_kernel *k, size_t i, int64_t *hint)
{
  if (hint) *hint = k->syms[i]->hint;
  return k->syms[i]->name;
}

const em_nest *em_kernel_nest(const em_kernel *k) { return &k->nest; }

/* ---- sizes --------------------------------------------------------------------------- */

static int64_t bound_size(void *ctx, const kx_sym *sym)
{
  const em_bindings *b = ctx;
  for (size_t i = 0; i < b->n; i++)
    if (!strcmp(b->items[i].sym, sym->name)) return b->items[i].size;
  return sym->hint;
}

static bool any_bound(const kx_expr *e, const em_bindings *b)
{
  bool found = false;
  for (size_t i = 0; e->sym && i < b->n; i++) found = found || !strcmp(b->items[i].sym, e->sym->name);
  for (size_t i = 0; i < e->n_args; i++) found = found || any_bound(e->args[i], b);
  return found;
}

static int dim_size(const em_kernel *k, const kx_dim *d, em_bindings b, int64_t *out, em_err *err)
{
  *out = d->hint;
  if (!d->expr || !any_bound(d->expr, &b)) return EM_OK;
  const char *why = kx_expr_eval(d->expr, bound_size, &b, out);
  if (!why && *out < 1) why = "is less than 1";
  return why ? em_fail(err, EM_E_INPUT, "%s: the size \"%s\" %s with these bindings", k->name, d->text, why) : EM_OK;
}

/* ---- copies ---------------------------------------------------------------------------- */

static int bind_axis(const em_kernel *k, const kx_axis *axis, em_bindings b, em_axis *out, em_err *err)
{
  return axis->extent.expr ? dim_size(k, &axis->extent, b, &out->hint, err) : EM_OK;
}

int em_kernel_copy(const em_kernel *k, em_bindings b, em_kernel **out, em_err *err)
{
  em_str text = {0};
  em_kernel *copy = NULL;
  em_kernel_print(k, &text);
  int rc = em_str_finish(&text, err);
  if (rc) return rc;
  rc = em_kernel_parse_text(text.s, text.len, k->name, k->name, &copy, err);
  em_str_free(&text);
  for (int i = 0; !rc && i < copy->nest.n_free; i++)
    rc = bind_axis(copy, copy->grid[i]->axis, b, &copy->nest.free[i], err);
  if (!rc && copy->fold) rc = bind_axis(copy, copy->fold->axis, b, &copy->nest.fold, err);
  if (!rc)
    *out = copy;
  else
    em_kernel_free(copy);
  return rc;
}

/* ---- shape ----------------------------------------------------------------------------- */

/* The dtypes of the inputs that are loaded, in the order of their first load. */
static void put_dtypes(const kx_body *b, bool seen[EM_N_DTYPES], em_str *out)
{
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    if (s->tag == KX_S_LOAD && !seen[s->buffer->dtype] && s->buffer->node->kind == KX_INPUT) {
      em_str_printf(out, "%s%s", out->len ? "," : "", em_dtype_name(s->buffer->dtype));
      seen[s->buffer->dtype] = true;
    }
    put_dtypes(&s->body, seen, out);
    put_dtypes(&s->orelse, seen, out);
  }
}

static int put_extent(const em_kernel *k, const kx_axis *axis, em_bindings bind, em_str *out, em_err *err)
{
  int64_t size;
  int rc = dim_size(k, &axis->extent, bind, &size, err);
  if (!rc) em_str_printf(out, "%s%" PRId64, out->len ? "x" : "", size);
  return rc;
}

int em_kernel_shape(const em_kernel *k, em_bindings bind, char **out, em_err *err)
{
  em_str text = {0}, extents = {0}, dtypes = {0};
  bool seen[EM_N_DTYPES] = {false};
  int rc = EM_OK;
  for (int i = 0; !rc && i < k->nest.n_free; i++) rc = put_extent(k, k->grid[i]->axis, bind, &extents, err);
  if (!rc && k->fold) rc = put_extent(k, k->fold->axis, bind, &extents, err);
  put_dtypes(&k->body, seen, &dtypes);
  if (k->nest.out_dtype && !seen[k->nest.out_dtype]) em_str_printf(&dtypes, "->%s", em_dtype_name(k->nest.out_dtype));
  text.failed = extents.failed || dtypes.failed;
  em_str_put(&text, em_kind_name(k->nest.kind));
  if (extents.len) em_str_printf(&text, " %s", extents.s);
  if (dtypes.len) em_str_printf(&text, " %s", dtypes.s);
  em_str_free(&extents);
  em_str_free(&dtypes);
  if (!rc) return em_str_take(&text, out, err);
  em_str_free(&text);
  return rc;
}
