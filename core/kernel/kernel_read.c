/*
 * kernel_read.c - from JSON to nodes, buffers and statements.
 *
 * Statements are read field by field from the table in kernel_tables.c.
 * Names of values are only interned here (kernel_resolve.c binds them);
 * buffers, symbols and the axes of an Accum are looked up at once.
 */
#include <inttypes.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

typedef struct reader {
  em_kernel *k;
  em_arena *arena;
  em_err *err;
  int depth; /* blocks around the statement */
  int n_loops;
  kx_stmt *loops[EM_NEST_DEPTH + 1]; /* those of them that are loops */
} reader;

static int read_body(reader *r, const cJSON *json, const em_place *at, kx_body *out);

/* The codes of failures are spelled out here so that whoever reads the callers,
 * a person or an analyser, sees that nothing is used after one. */
static int nomem(reader *r)
{
  em_fail_nomem(r->err);
  return EM_E_NOMEM;
}

static int not_found(reader *r, const em_place *at, const char *expected)
{
  em_fail_at(r->err, at, "expected %s", expected);
  return EM_E_INPUT;
}

static int intern(reader *r, const char *text, kx_name **out)
{
  *out = kx_intern(r->arena, &r->k->names, text, strlen(text));
  return *out ? EM_OK : nomem(r);
}

static void *alloc(reader *r, size_t n, size_t size, int *rc)
{
  void *p = em_arena_alloc(r->arena, n ? n : 1, size);
  *rc = p ? EM_OK : nomem(r);
  return p;
}

/* The string of an element of an array. */
static int item_text(reader *r, const cJSON *item, const em_place *at, const char **out)
{
  if (!cJSON_IsString(item)) return not_found(r, at, "a string");
  *out = item->valuestring;
  return EM_OK;
}

/* Names of axes and values end up in generated source, so they are identifiers. */
static int identifier(reader *r, const char *text, const em_place *at, kx_name **out)
{
  if (!em_name_is_identifier(text) || !strcmp(text, "true") || !strcmp(text, "false")) {
    em_fail_at(r->err, at, "found \"%.80s\", expected a name (letters, digits and _)", text);
    return EM_E_INPUT;
  }
  return intern(r, text, out);
}

/* ---- sizes -------------------------------------------------------------------------- */

static int symbol(reader *r, kx_name *name, kx_sym **out)
{
  em_kernel *k = r->k;
  if (!name->sym) {
    int rc = em_grow(&k->syms, &k->cap_syms, k->n_syms + 1, sizeof *k->syms, r->err);
    if (rc || !(name->sym = alloc(r, 1, sizeof(kx_sym), &rc))) return rc;
    *name->sym = (kx_sym){.name = name->text, .hint = KX_DEFAULT_HINT, .num = -1};
    k->syms[k->n_syms++] = name->sym;
  }
  *out = name->sym;
  return EM_OK;
}

static int bind_symbols(reader *r, kx_expr *e, const em_place *at)
{
  int rc = EM_OK;
  if (e->kind == KX_X_NAME) {
    if (!em_name_is_identifier(e->name->text))
      return em_fail_at(r->err, at, "found \"%.80s\", expected the name of a size", e->name->text);
    return symbol(r, e->name, &e->sym);
  }
  for (size_t i = 0; !rc && i < e->n_args; i++) rc = bind_symbols(r, e->args[i], at);
  return rc;
}

static int64_t hint_of(void *ctx, const kx_sym *sym)
{
  (void)ctx;
  return sym->hint;
}

static bool is_symbolic(const kx_expr *e)
{
  bool found = e->kind == KX_X_NAME;
  for (size_t i = 0; i < e->n_args; i++) found = found || is_symbolic(e->args[i]);
  return found;
}

/* A size expression: one without a symbol is a plain number. */
static int read_size_expr(reader *r, const char *text, const em_place *at, kx_dim *d)
{
  int64_t size = 0;
  int rc = kx_expr_parse(r->arena, &r->k->names, text, at, &d->expr, r->err);
  if (rc || (rc = bind_symbols(r, d->expr, at))) return rc;
  if (!is_symbolic(d->expr)) {
    const char *why = kx_expr_eval(d->expr, hint_of, NULL, &size);
    if (why || size < 1) return em_fail_at(r->err, at, "the size \"%.200s\" %s", text, why ? why : "is less than 1");
    *d = (kx_dim){.size = size, .hint = size};
    return EM_OK;
  }
  em_str printed = {0};
  kx_print p = {.out = &printed};
  kx_expr_print(&p, d->expr);
  if ((rc = em_str_finish(&printed, r->err))) return rc;
  d->text = em_arena_strdup(r->arena, printed.s);
  em_str_free(&printed);
  return d->text ? EM_OK : nomem(r);
}

static int read_symbolic(reader *r, const cJSON *json, const em_place *at, kx_dim *d)
{
  static const char *const keys[] = {"sym", "expr", "hint", NULL};
  const char *sym = NULL, *expr = NULL;
  em_place here = {.up = at, .key = "sym"};
  int rc = em_json_only_keys(json, keys, at, r->err);
  if (rc || (rc = em_json_opt_string(json, "sym", at, &sym, r->err)) ||
      (rc = em_json_opt_string(json, "expr", at, &expr, r->err)))
    return rc;
  if (!sym == !expr)
    return em_fail_at(r->err, at, "expected a size: a number, {\"sym\":NAME,\"hint\":N} or {\"expr\":TEXT,\"hint\":N}");
  if (sym && !em_name_is_identifier(sym))
    return em_fail_at(r->err, &here, "found \"%.80s\", expected the name of a size", sym);
  if (expr) here.key = "expr";
  if ((rc = read_size_expr(r, sym ? sym : expr, &here, d))) return rc;
  int64_t hint = 0;
  if ((rc = em_json_opt_i64(json, "hint", at, 1, INT64_MAX, &hint, r->err)) || !hint || !d->expr) return rc;
  d->hint = hint;
  d->has_hint = true;
  kx_sym *s = d->expr->sym;
  if (s && !s->has_hint) {
    s->hint = hint;
    s->has_hint = true;
  }
  return EM_OK;
}

static int read_dim(reader *r, const cJSON *json, const em_place *at, kx_dim *d)
{
  if (cJSON_IsObject(json)) return read_symbolic(r, json, at, d);
  if (cJSON_IsString(json)) return read_size_expr(r, json->valuestring, at, d);
  int rc = em_json_i64(json, at, 1, INT64_MAX, &d->size, r->err);
  d->hint = d->size;
  return rc;
}

/* Sizes without a hint of their own get it from their symbols, once all are known. */
static int settle_hint(reader *r, kx_dim *d, const em_place *at)
{
  int64_t size = 0;
  if (!d->expr) return EM_OK;
  const char *why = kx_expr_eval(d->expr, hint_of, NULL, &size);
  if (!why && !d->has_hint && size < 1) why = "is less than 1 at the hints of its symbols";
  if (why) return em_fail_at(r->err, at, "the size \"%.200s\" %s", d->text, why);
  if (!d->has_hint) d->hint = size;
  return EM_OK;
}

/* ---- fields of statements ---------------------------------------------------------- */

static int read_axis(reader *r, const cJSON *json, const em_place *at, kx_stmt *s)
{
  static const char *const known[] = {"name", "extent", NULL};
  const char *text = NULL;
  kx_name *name;
  em_place name_at = {.up = at, .key = "name"}, extent_at = {.up = at, .key = "extent"};
  int rc = em_json_need_string(json, "name", at, &text, r->err);
  if (rc || (rc = identifier(r, text, &name_at, &name)) || !(s->axis = alloc(r, 1, sizeof *s->axis, &rc))) return rc;
  s->axis->name = name->text;
  const cJSON *extent = cJSON_GetObjectItemCaseSensitive(json, "extent");
  if (!extent) return em_fail_at(r->err, at, "the member \"extent\" is missing");
  if ((rc = read_dim(r, extent, &extent_at, &s->axis->extent)) || (rc = settle_hint(r, &s->axis->extent, &extent_at)))
    return rc;
  return cJSON_GetArraySize(json) == 2 ? EM_OK : kx_raw_keep(r->arena, json, known, &s->axis_extra, r->err);
}

static int need_array(reader *r, const cJSON *json, const em_place *at, size_t least, size_t *n)
{
  if (!cJSON_IsArray(json)) return not_found(r, at, "an array");
  *n = (size_t)cJSON_GetArraySize(json);
  if (*n < least) return not_found(r, at, "at least one element");
  return EM_OK;
}

/* One name, or with `many` an array of them. */
static int read_refs(reader *r, const cJSON *json, const em_place *at, bool many, size_t least, kx_refs *out)
{
  int rc = EM_OK;
  out->n = 1;
  if (many && (rc = need_array(r, json, at, least, &out->n))) return rc;
  if (!(out->items = alloc(r, out->n, sizeof *out->items, &rc))) return rc;
  const cJSON *item = many ? json->child : json;
  for (size_t i = 0; !rc && i < out->n; i++, item = item->next) {
    em_place element = {.up = at, .index = (int64_t)i};
    const char *text = NULL;
    const em_place *here = many ? &element : at;
    if (!(rc = item_text(r, item, here, &text))) rc = identifier(r, text, here, &out->items[i].name);
  }
  return rc;
}

static int read_expr(reader *r, const cJSON *json, const em_place *at, kx_expr **out)
{
  const char *text = NULL;
  char number[24];
  int64_t value;
  int rc;
  if (cJSON_IsNumber(json)) {
    if ((rc = em_json_i64(json, at, INT64_MIN, INT64_MAX, &value, r->err))) return rc;
    snprintf(number, sizeof number, "%" PRId64, value);
    text = number;
  } else if ((rc = item_text(r, json, at, &text))) {
    return rc;
  }
  return kx_expr_parse(r->arena, &r->k->names, text, at, out, r->err);
}

static int read_exprs(reader *r, const cJSON *json, const em_place *at, bool many, kx_exprs *out)
{
  int rc = EM_OK;
  out->n = 1;
  if (many && (rc = need_array(r, json, at, 0, &out->n))) return rc;
  if (!(out->items = alloc(r, out->n, sizeof *out->items, &rc))) return rc;
  const cJSON *item = many ? json->child : json;
  for (size_t i = 0; !rc && i < out->n; i++, item = item->next) {
    em_place element = {.up = at, .index = (int64_t)i};
    rc = read_expr(r, item, many ? &element : at, &out->items[i]);
  }
  return rc;
}

static int read_branches(reader *r, const cJSON *json, const em_place *at, kx_stmt *s)
{
  static const char *const keys[] = {"value", "select", NULL};
  size_t n;
  int rc = need_array(r, json, at, 1, &n);
  if (rc || !(s->uses.items = alloc(r, n, sizeof *s->uses.items, &rc)) ||
      !(s->index.items = alloc(r, n, sizeof *s->index.items, &rc)))
    return rc;
  s->uses.n = s->index.n = n;
  const cJSON *item = json->child;
  for (size_t i = 0; !rc && i < n; i++, item = item->next) {
    em_place here = {.up = at, .index = (int64_t)i};
    em_place value_at = {.up = &here, .key = "value"}, select_at = {.up = &here, .key = "select"};
    const char *value = NULL, *select = NULL;
    if ((rc = em_json_only_keys(item, keys, &here, r->err)) ||
        (rc = em_json_need_string(item, "value", &here, &value, r->err)) ||
        (rc = em_json_need_string(item, "select", &here, &select, r->err)) ||
        (rc = identifier(r, value, &value_at, &s->uses.items[i].name)))
      return rc;
    rc = kx_expr_parse(r->arena, &r->k->names, select, &select_at, &s->index.items[i], r->err);
  }
  return rc;
}

/* Also finds the loop that the Accum is seeded before: the innermost of its axes. */
static int read_axes(reader *r, const cJSON *json, const em_place *at, kx_stmt *s)
{
  size_t n;
  int rc = need_array(r, json, at, 1, &n), innermost = -1;
  if (rc || !(s->axes.items = alloc(r, n, sizeof *s->axes.items, &rc))) return rc;
  s->axes.n = n;
  const cJSON *item = json->child;
  for (size_t i = 0; i < n; i++, item = item->next) {
    em_place here = {.up = at, .index = (int64_t)i};
    const char *text = NULL;
    if ((rc = item_text(r, item, &here, &text))) return rc;
    int l = r->n_loops - 1;
    while (l >= 0 && strcmp(r->loops[l]->axis->name, text)) l--;
    if (l < 0) return em_fail_at(r->err, &here, "\"%.80s\" is not the axis of a loop around this statement", text);
    s->axes.items[i] = r->loops[l]->axis;
    innermost = l > innermost ? l : innermost;
  }
  kx_stmt *loop = r->loops[innermost];
  s->loop = loop;
  s->next_seed = loop->seeds;
  loop->seeds = s;
  return EM_OK;
}

static int read_buffer_use(reader *r, const cJSON *json, const em_place *at, kx_field_type type, kx_buffer **out)
{
  const char *text = NULL;
  kx_name *name;
  int rc = item_text(r, json, at, &text);
  if (rc || (rc = intern(r, text, &name))) return rc;
  if (!name->buffer)
    return em_fail_at(r->err, at, "unknown buffer \"%.80s\", expected an output of one of the nodes", text);
  if (type == KX_F_TARGET && name->buffer->node != r->k->loop)
    return em_fail_at(r->err, at, "\"%.80s\" is not an output of the loop node and cannot be written", text);
  *out = name->buffer;
  return EM_OK;
}

static int read_op(reader *r, const cJSON *json, const em_place *at, kx_field_type type, const char **out)
{
  const char *text = NULL;
  int rc = item_text(r, json, at, &text);
  if (rc) return rc;
  const kx_op *op = type == KX_F_OP ? kx_op_find(text) : NULL;
  *out = type == KX_F_OP ? (op ? op->name : NULL) : kx_fold_find(text);
  if (!*out)
    return em_fail_at(r->err, at, "unknown %s operator \"%.80s\"", type == KX_F_OP ? "elementwise" : "fold", text);
  return EM_OK;
}

static int read_dtype(reader *r, const cJSON *json, const em_place *at, em_dtype *out)
{
  const char *text = NULL;
  int rc = item_text(r, json, at, &text);
  if (rc) return rc;
  *out = em_dtype_find(text);
  return *out ? EM_OK : em_fail_at(r->err, at, "unknown dtype \"%.80s\"", text);
}

static int read_block(reader *r, const cJSON *json, const em_place *at, kx_stmt *s, kx_body *out)
{
  bool loop = s->axis != NULL;
  if (++r->depth > EM_NEST_DEPTH) return em_fail_at(r->err, at, "statements nest deeper than %d levels", EM_NEST_DEPTH);
  if (loop) r->loops[r->n_loops++] = s;
  int rc = read_body(r, json, at, out);
  r->n_loops -= loop;
  r->depth--;
  return rc;
}

static int read_bool(reader *r, const cJSON *json, const em_place *at, bool *out)
{
  if (!cJSON_IsBool(json)) return not_found(r, at, "true or false");
  *out = cJSON_IsTrue(json);
  return EM_OK;
}

static int read_number(reader *r, const cJSON *json, const em_place *at, kx_raw *out)
{
  double value;
  if (!cJSON_IsBool(json)) {
    int rc = em_json_f64(json, at, &value, r->err);
    if (rc) return rc;
  }
  return kx_raw_keep(r->arena, json, NULL, out, r->err);
}

static int read_text(reader *r, const cJSON *json, const em_place *at, const char **out)
{
  kx_name *name;
  const char *text = NULL;
  int rc = item_text(r, json, at, &text);
  if (rc || (rc = intern(r, text, &name))) return rc;
  *out = name->text;
  return EM_OK;
}

static int read_field(reader *r, const kx_field *f, const cJSON *json, const em_place *at, kx_stmt *s)
{
  switch (f->type) {
  case KX_F_AXIS: return read_axis(r, json, at, s);
  case KX_F_BODY: return read_block(r, json, at, s, KX_AT(s, f, kx_body));
  case KX_F_DEF:
  case KX_F_USE:
  case KX_F_BASE: return read_refs(r, json, at, false, 1, KX_AT(s, f, kx_refs));
  case KX_F_DEFS: return read_refs(r, json, at, true, 1, KX_AT(s, f, kx_refs));
  case KX_F_USES: return read_refs(r, json, at, true, 0, KX_AT(s, f, kx_refs));
  case KX_F_AXES: return read_axes(r, json, at, s);
  case KX_F_SOURCE:
  case KX_F_TARGET: return read_buffer_use(r, json, at, f->type, KX_AT(s, f, kx_buffer *));
  case KX_F_OP:
  case KX_F_FOLD: return read_op(r, json, at, f->type, KX_AT(s, f, const char *));
  case KX_F_DTYPE: return read_dtype(r, json, at, KX_AT(s, f, em_dtype));
  case KX_F_EXPR: return read_exprs(r, json, at, false, KX_AT(s, f, kx_exprs));
  case KX_F_EXPRS: return read_exprs(r, json, at, true, KX_AT(s, f, kx_exprs));
  case KX_F_BOOL: return read_bool(r, json, at, KX_AT(s, f, bool));
  case KX_F_TEXT: return read_text(r, json, at, KX_AT(s, f, const char *));
  case KX_F_NUMBER: return read_number(r, json, at, KX_AT(s, f, kx_raw));
  case KX_F_RAW: return kx_raw_keep(r->arena, json, NULL, KX_AT(s, f, kx_raw), r->err);
  case KX_F_BRANCHES: return read_branches(r, json, at, s);
  }
  return EM_OK;
}

static void set_default(const kx_field *f, kx_stmt *s)
{
  if (f->type == KX_F_BOOL)
    *KX_AT(s, f, bool) = !strcmp(f->absent, "true");
  else if (f->absent)
    *KX_AT(s, f, const char *) = f->absent;
}

/* ---- statements ----------------------------------------------------------------------- */

/* Counts that the table does not say: arguments, values, rank. */
static int check_counts(reader *r, const kx_stmt *s, const em_place *at)
{
  if (s->tag == KX_S_ASSIGN) {
    const kx_op *op = kx_op_find(s->op);
    if ((int)s->uses.n < op->min_args || (int)s->uses.n > op->max_args)
      return em_fail_at(r->err, at, "\"%s\" has %zu arguments, expected %d", s->op, s->uses.n, op->max_args);
  }
  if (s->tag == KX_S_WRITE && !s->uses.n) return em_fail_at(r->err, at, "the Write stores no value");
  bool access = s->tag == KX_S_LOAD || s->tag == KX_S_WRITE;
  size_t rank = access ? (size_t)s->buffer->rank : 0;
  if (access && s->index.n != rank && !(rank == 0 && s->index.n == 1))
    return em_fail_at(r->err, at, "\"%.80s\" is indexed with %zu expressions, its shape has %zu dimensions",
                      s->buffer->name, s->index.n, rank);
  return EM_OK;
}

static int read_stmt(reader *r, const cJSON *json, const em_place *at, kx_stmt *s)
{
  const char *keys[KX_MAX_FIELDS + 1] = {NULL};
  if (!cJSON_IsObject(json) || !json->child || json->child->next)
    return em_fail_at(r->err, at, "expected a statement: an object with one member, such as {\"Load\":{...}}");
  const cJSON *fields = json->child;
  if (!kx_tag_find(fields->string, &s->tag))
    return em_fail_at(r->err, at, "unsupported statement \"%.80s\"", fields->string);
  const kx_tag_info *tag = kx_tag_of(s->tag);
  em_place tag_at = {.up = at, .key = tag->name};
  for (int i = 0; i < KX_MAX_FIELDS && tag->fields[i].key; i++) keys[i] = tag->fields[i].key;
  int rc = em_json_only_keys(fields, keys, &tag_at, r->err);
  for (int i = 0; !rc && keys[i]; i++) {
    const kx_field *f = &tag->fields[i];
    em_place here = {.up = &tag_at, .key = f->key};
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(fields, f->key);
    set_default(f, s);
    if (f->required && !item)
      rc = em_fail_at(r->err, &tag_at, "the member \"%s\" is missing", f->key);
    else if (item && !(cJSON_IsNull(item) && !f->required))
      rc = read_field(r, f, item, &here, s);
  }
  return rc ? rc : check_counts(r, s, &tag_at);
}

static int read_body(reader *r, const cJSON *json, const em_place *at, kx_body *out)
{
  int rc = need_array(r, json, at, 0, &out->n);
  if (rc || !(out->items = alloc(r, out->n, sizeof *out->items, &rc))) return rc;
  const cJSON *item = json->child;
  for (size_t i = 0; !rc && i < out->n; i++, item = item->next) {
    em_place here = {.up = at, .index = (int64_t)i};
    rc = read_stmt(r, item, &here, &out->items[i]);
  }
  return rc;
}

/* ---- nodes ----------------------------------------------------------------------------- */

static int read_shape(reader *r, const cJSON *json, const em_place *at, kx_buffer *b)
{
  size_t n;
  int rc = need_array(r, json, at, 0, &n);
  if (rc) return rc;
  if (n > EM_MAX_RANK)
    return em_fail_at(r->err, at, "the shape has %zu dimensions, expected at most %d", n, EM_MAX_RANK);
  if (!(b->shape = alloc(r, n, sizeof *b->shape, &rc))) return rc;
  b->rank = (int)n;
  const cJSON *item = json->child;
  for (size_t i = 0; !rc && i < n; i++, item = item->next) {
    em_place here = {.up = at, .index = (int64_t)i};
    rc = read_dim(r, item, &here, &b->shape[i]);
  }
  return rc;
}

static int read_buffer(reader *r, const cJSON *json, const em_place *at, const kx_node *node, kx_buffer *b)
{
  const char *text = NULL;
  kx_name *name;
  em_place part[3] = {{.up = at, .index = 0}, {.up = at, .index = 1}, {.up = at, .index = 2}};
  if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != 3) return not_found(r, at, "[buffer,dtype,shape]");
  int rc = item_text(r, json->child, &part[0], &text);
  if (rc || (rc = intern(r, text, &name)) || (rc = read_dtype(r, json->child->next, &part[1], &b->dtype))) return rc;
  if (!*text) return em_fail_at(r->err, &part[0], "the name of a buffer is empty");
  if (name->buffer) return em_fail_at(r->err, &part[0], "the buffer \"%.80s\" is defined twice", text);
  b->name = name->text;
  b->num = -1;
  b->node = node;
  name->buffer = b;
  return read_shape(r, json->child->next->next, &part[2], b);
}

/* The element count in bytes, at the hints, must fit in 64 bits. */
static int check_buffer(reader *r, kx_buffer *b, const em_place *at)
{
  int64_t bytes = em_dtype_bytes(b->dtype);
  for (int i = 0; i < b->rank; i++) {
    int rc = settle_hint(r, &b->shape[i], at);
    if (rc) return rc;
    if (__builtin_mul_overflow(bytes, b->shape[i].hint, &bytes))
      return em_fail_at(r->err, at, "the size of \"%.80s\" does not fit in 64 bits", b->name);
  }
  return EM_OK;
}

static int read_buffers(reader *r, const cJSON *json, const em_place *at, kx_node *node)
{
  int rc = need_array(r, json, at, 1, &node->n_outputs);
  if (rc || !(node->outputs = alloc(r, node->n_outputs, sizeof *node->outputs, &rc))) return rc;
  const cJSON *item = json->child;
  for (size_t i = 0; !rc && i < node->n_outputs; i++, item = item->next) {
    em_place here = {.up = at, .index = (int64_t)i};
    rc = read_buffer(r, item, &here, node, &node->outputs[i]);
  }
  return rc;
}

static int read_buffer_list(reader *r, const cJSON *json, const em_place *at, size_t *n, kx_buffer ***out)
{
  int rc = need_array(r, json, at, 0, n);
  if (rc || !(*out = alloc(r, *n, sizeof **out, &rc))) return rc;
  const cJSON *item = json->child;
  for (size_t i = 0; !rc && i < *n; i++, item = item->next) {
    em_place here = {.up = at, .index = (int64_t)i};
    rc = read_buffer_use(r, item, &here, KX_F_SOURCE, &(*out)[i]);
  }
  return rc;
}

static int keep_attrs(reader *r, const cJSON *attrs, const em_place *at, kx_node *node)
{
  if (!attrs || (cJSON_IsObject(attrs) && !attrs->child)) return EM_OK;
  if (!cJSON_IsObject(attrs)) return not_found(r, at, "an object");
  kx_raw value = {0};
  const cJSON *scalar = cJSON_GetObjectItemCaseSensitive(attrs, "value");
  int rc = kx_raw_keep(r->arena, attrs, NULL, &node->attrs, r->err);
  if (!rc && scalar) rc = kx_raw_keep(r->arena, scalar, NULL, &value, r->err);
  node->value = value.canon;
  return rc;
}

/* The head of a node: everything but its inputs and the body. */
static int read_node(reader *r, const cJSON *json, const em_place *at, kx_node *node)
{
  static const char *const keys[] = {"id", "op", "attrs", "inputs", "outputs", NULL};
  const char *id = NULL, *op = NULL;
  const cJSON *outputs;
  em_place op_at = {.up = at, .key = "op"}, attrs_at = {.up = at, .key = "attrs"},
           out_at = {.up = at, .key = "outputs"};
  int rc = em_json_only_keys(json, keys, at, r->err);
  if (rc || (rc = em_json_need_string(json, "id", at, &id, r->err)) ||
      (rc = em_json_need_string(json, "op", at, &op, r->err)) ||
      (rc = em_json_need_array(json, "outputs", at, &outputs, r->err)))
    return rc;
  int kind = 0;
  while (kind < KX_N_NODE_KINDS && strcmp(op, kx_node_kind_name[kind])) kind++;
  if (kind == KX_N_NODE_KINDS)
    return em_fail_at(r->err, &op_at, "found the op \"%.80s\", expected \"input\", \"constant\" or \"loop\"", op);
  node->kind = (kx_node_kind)kind;
  if (!(node->id = em_arena_strdup(r->arena, id))) return nomem(r);
  if (kind == KX_LOOP) {
    if (r->k->loop) return em_fail_at(r->err, &op_at, "a second loop node, expected exactly one");
    r->k->loop = node;
  } else if ((rc = keep_attrs(r, cJSON_GetObjectItemCaseSensitive(json, "attrs"), &attrs_at, node))) {
    return rc;
  }
  return read_buffers(r, outputs, &out_at, node);
}

static int read_nodes(reader *r, const cJSON *json, const em_place *at)
{
  em_kernel *k = r->k;
  int rc = EM_OK;
  k->n_nodes = (size_t)cJSON_GetArraySize(json);
  if (!(k->nodes = alloc(r, k->n_nodes, sizeof *k->nodes, &rc))) return rc;
  const cJSON *item = json->child;
  for (size_t i = 0; !rc && i < k->n_nodes; i++, item = item->next) {
    em_place here = {.up = at, .index = (int64_t)i};
    rc = read_node(r, item, &here, &k->nodes[i]);
  }
  if (!rc && !k->loop) return em_fail_at(r->err, at, "no node of op \"loop\", expected exactly one");
  item = json->child;
  for (size_t i = 0; !rc && i < k->n_nodes; i++, item = item->next) {
    em_place here = {.up = at, .index = (int64_t)i}, in_at = {.up = &here, .key = "inputs"},
             out_at = {.up = &here, .key = "outputs"};
    const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(item, "inputs");
    kx_node *node = &k->nodes[i];
    if (inputs) rc = read_buffer_list(r, inputs, &in_at, &node->n_inputs, &node->inputs);
    for (size_t j = 0; !rc && j < node->n_outputs; j++) rc = check_buffer(r, &node->outputs[j], &out_at);
  }
  return rc;
}

static int read_loop(reader *r, const cJSON *json, const em_place *at)
{
  static const char *const keys[] = {"body", "name", NULL};
  const cJSON *attrs, *body;
  const char *name = NULL;
  em_place attrs_at = {.up = at, .key = "attrs"}, body_at = {.up = &attrs_at, .key = "body"};
  int rc = em_json_need_object(json, "attrs", at, &attrs, r->err);
  if (rc || (rc = em_json_only_keys(attrs, keys, &attrs_at, r->err)) ||
      (rc = em_json_opt_string(attrs, "name", &attrs_at, &name, r->err)) ||
      (rc = em_json_need_array(attrs, "body", &attrs_at, &body, r->err)))
    return rc;
  if (name && !(r->k->loop_name = em_arena_strdup(r->arena, name))) return nomem(r);
  return read_body(r, body, &body_at, &r->k->body);
}

int kx_read(em_kernel *k, const cJSON *json, const em_place *at, em_err *err)
{
  static const char *const keys[] = {"inputs", "outputs", "nodes", "hints", NULL};
  reader *r = em_arena_alloc(k->arena, 1, sizeof *r);
  const cJSON *inputs, *outputs, *nodes, *hints = cJSON_GetObjectItemCaseSensitive(json, "hints");
  em_place in_at = {.up = at, .key = "inputs"}, out_at = {.up = at, .key = "outputs"},
           nodes_at = {.up = at, .key = "nodes"};
  if (!r) return em_fail_nomem(err);
  *r = (reader){.k = k, .arena = k->arena, .err = err};
  int rc = em_json_only_keys(json, keys, at, err);
  if (rc || (rc = em_json_need_array(json, "inputs", at, &inputs, err)) ||
      (rc = em_json_need_array(json, "outputs", at, &outputs, err)) ||
      (rc = em_json_need_array(json, "nodes", at, &nodes, err)) || (rc = read_nodes(r, nodes, &nodes_at)) ||
      (rc = read_buffer_list(r, inputs, &in_at, &k->n_inputs, &k->inputs)) ||
      (rc = read_buffer_list(r, outputs, &out_at, &k->n_outputs, &k->outputs)))
    return rc;
  if (hints && (rc = kx_raw_keep(k->arena, hints, NULL, &k->hints, err))) return rc;
  em_place loop_at = {.up = &nodes_at, .index = k->loop - k->nodes};
  return read_loop(r, cJSON_GetArrayItem(nodes, (int)(k->loop - k->nodes)), &loop_at);
}
