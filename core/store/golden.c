/* golden.c - a golden file in memory: building and freeing. */
#include "core/store/golden_int.h"

#include <math.h>
#include <string.h>

/* ---- small parts ----------------------------------------------------------- */

void em_bindings_free(em_binding *b, size_t n)
{
  for (size_t i = 0; b && i < n; i++) em_free((char *)b[i].sym);
  em_free(b);
}

int em_bindings_copy(const em_binding *from, size_t n, em_binding **out, em_err *err)
{
  *out = NULL;
  if (!n) return EM_OK;
  em_binding *b = em_calloc(n, sizeof *b);
  if (!b) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    b[i] = (em_binding){.sym = em_strdup(from[i].sym), .size = from[i].size};
    if (!b[i].sym) {
      em_bindings_free(b, n);
      return em_fail_nomem(err);
    }
  }
  *out = b;
  return EM_OK;
}

void em_bindings_print(const em_binding *b, size_t n, em_str *out)
{
  em_str_putc(out, '{');
  for (size_t i = 0; i < n; i++) {
    if (i) em_str_putc(out, ',');
    em_str_put_json(out, b[i].sym);
    em_str_printf(out, ":%lld", (long long)b[i].size);
  }
  em_str_putc(out, '}');
}

int em_knobs_copy(const em_knobs *from, em_knobs *out, em_err *err)
{
  *out = (em_knobs){0};
  for (size_t i = 0; i < from->n; i++) {
    int rc = em_knobs_set(out, from->items[i].key, from->items[i].value, err);
    if (rc) {
      em_knobs_free(out);
      *out = (em_knobs){0};
      return rc;
    }
  }
  return EM_OK;
}

static int copy_text(const char *from, char **out, em_err *err)
{
  *out = NULL;
  if (from && !(*out = em_strdup(from))) return em_fail_nomem(err);
  return EM_OK;
}

/* ---- freeing ---------------------------------------------------------------- */

void em_golden_kernel_clear(em_golden_kernel *k)
{
  em_free(k->ref);
  em_free(k->name);
  em_free(k->key);
  em_kernel_free(k->kernel);
  for (size_t i = 0; i < k->n_origins; i++) em_free(k->origins[i]);
  em_free(k->origins);
  em_bindings_free(k->bindings, k->n_bindings);
}

void em_golden_routing_clear(em_golden_routing *r)
{
  em_knobs_free(&r->arm);
  em_free(r->children);
}

void em_golden_row_clear(em_golden_row *r)
{
  em_free(r->name);
  em_bindings_free(r->bindings, r->n_bindings);
  em_free(r->pins);
  em_knobs_free(&r->knobs);
  em_free(r->reference_backend);
  em_free(r->latency);
}

void em_golden_free(em_golden *g)
{
  if (!g) return;
  for (size_t i = 0; i < g->n_programs; i++) em_free(g->programs[i]);
  for (size_t i = 0; i < g->n_kernels; i++) em_golden_kernel_clear(&g->kernels[i]);
  for (size_t i = 0; i < g->n_routing; i++) em_golden_routing_clear(&g->routing[i]);
  for (size_t i = 0; i < g->n_rows; i++) em_golden_row_clear(&g->rows[i]);
  em_free(g->programs);
  em_free(g->kernels);
  em_free(g->routing);
  em_free(g->rows);
  em_free(g->path);
  em_free(g->gpu_name);
  em_free(g->model);
  em_free(g->model_quant_digest);
  em_free(g->note);
  em_free(g);
}

/* ---- building ---------------------------------------------------------------- */

int em_golden_new(const char *gpu_name, int cc_major, int cc_minor, em_golden **out, em_err *err)
{
  em_golden *g = em_calloc(1, sizeof *g);
  if (!g) return em_fail_nomem(err);
  g->cc_major = cc_major;
  g->cc_minor = cc_minor;
  int rc = copy_text(gpu_name, &g->gpu_name, err);
  if (rc) {
    em_golden_free(g);
    return rc;
  }
  *out = g;
  return EM_OK;
}

int em_golden_name_kernel(em_golden_kernel *k, unsigned *nth, bool (*taken)(void *ctx, const char *ref), void *ctx,
                          em_err *err)
{
  em_str ref = {0};
  do {
    em_str_clear(&ref);
    em_str_put(&ref, k->name);
    if (*nth > 1) em_str_printf(&ref, "#%u", *nth);
    ++*nth;
  } while (!ref.failed && taken(ctx, ref.s));
  int rc = em_str_take(&ref, &k->ref, err);
  if (!rc && strcmp(k->ref, k->name)) rc = copy_text(k->ref, &k->key, err);
  return rc;
}

static bool ref_taken(void *ctx, const char *ref)
{
  const em_golden *g = ctx;
  for (size_t i = 0; i < g->n_kernels; i++)
    if (!strcmp(g->kernels[i].ref, ref)) return true;
  return false;
}

int em_golden_room(void *items, size_t n, size_t size, em_err *err)
{
  if (n & (n - 1)) return EM_OK;
  void **p = items;
  void *bigger = em_realloc(*p, n ? 2 * n : 1, size);
  if (!bigger) return em_fail_nomem(err);
  *p = bigger;
  return EM_OK;
}

int em_golden_add_kernel(em_golden *g, em_kernel *kernel, bool formed, size_t *index, em_err *err)
{
  em_digest id = em_kernel_identity(kernel);
  for (size_t i = 0; i < g->n_kernels; i++) {
    if (em_digest_eq(em_kernel_identity(g->kernels[i].kernel), id)) {
      em_kernel_free(kernel);
      *index = i;
      return EM_OK;
    }
  }
  em_golden_kernel k = {.kernel = kernel, .formed = formed, .traced = -1};
  unsigned nth = 1;
  int rc = em_golden_room(&g->kernels, g->n_kernels, sizeof *g->kernels, err);
  if (!rc) rc = copy_text(em_kernel_name(kernel), &k.name, err);
  if (!rc) rc = em_golden_name_kernel(&k, &nth, ref_taken, g, err);
  if (rc) {
    em_golden_kernel_clear(&k);
    return rc;
  }
  *index = g->n_kernels;
  g->kernels[g->n_kernels++] = k;
  return EM_OK;
}

static bool same_knobs(const em_knobs *a, const em_knobs *b)
{
  bool same = a->n == b->n;
  for (size_t i = 0; same && i < a->n; i++)
    same = !strcmp(a->items[i].key, b->items[i].key) && !strcmp(a->items[i].value, b->items[i].value);
  return same;
}

/* The place of a decision: the old one of its parent and arm, or a new one at the end. */
static int routing_place(em_golden *g, size_t parent, const em_knobs *arm, em_golden_routing **out, em_err *err)
{
  for (size_t i = 0; i < g->n_routing; i++) {
    if (g->routing[i].parent == parent && same_knobs(&g->routing[i].arm, arm)) {
      *out = &g->routing[i];
      return EM_OK;
    }
  }
  int rc = em_golden_room(&g->routing, g->n_routing, sizeof *g->routing, err);
  *out = rc ? NULL : &g->routing[g->n_routing];
  return rc;
}

int em_golden_put_routing(em_golden *g, size_t parent, const em_knobs *arm, const size_t *children, size_t n,
                          em_err *err)
{
  bool known = parent < g->n_kernels && n;
  for (size_t i = 0; i < n; i++) known = known && children[i] < g->n_kernels;
  if (!known) return em_fail(err, EM_E_INPUT, "routing: parent and at least one child must be kernels of the file");
  em_place at = {.file = "routing"};
  em_golden_routing *place = NULL, r = {.parent = parent, .n_children = n};
  int rc = em_arm_check(arm, &at, err);
  if (!rc) rc = routing_place(g, parent, arm, &place, err);
  if (!rc) rc = em_knobs_copy(arm, &r.arm, err);
  if (!rc && !(r.children = em_calloc(n, sizeof *children))) rc = em_fail_nomem(err);
  if (rc || !r.children) {
    em_golden_routing_clear(&r);
    return rc;
  }
  memcpy(r.children, children, n * sizeof *children);
  if (place == &g->routing[g->n_routing])
    g->n_routing++;
  else
    em_golden_routing_clear(place);
  *place = r;
  return EM_OK;
}

/* As strict as the reader: what is written must read back. */
static int knobs_check(const em_knobs *k, const em_place *at, em_err *err)
{
  em_str text = {0};
  em_knobs again = {0};
  cJSON *json = NULL;
  em_knobs_print_json(k, &text);
  int rc = em_str_finish(&text, err);
  if (!rc) rc = em_json_parse(text.s, text.len, at->file, &json, err);
  em_str_free(&text);
  if (!rc) rc = em_knobs_from_json(json, at, &again, err);
  em_json_free(json);
  em_knobs_free(&again);
  return rc ? rc : em_row_knobs_check(k, at, err);
}

static int row_check(const em_golden *g, const em_golden_row *row, em_err *err)
{
  em_place at = {.file = row->name ? row->name : "row"};
  if (!row->name || !*row->name) return em_fail_at(err, &at, "a row needs a name");
  if (row->kernel >= g->n_kernels) return em_fail_at(err, &at, "the row's kernel is not in the file");
  if (row->measured && (!row->has_knobs || !(row->us > 0) || isinf(row->us)))
    return em_fail_at(err, &at, "a measured row needs knobs and a positive time");
  return row->has_knobs ? knobs_check(&row->knobs, &at, err) : EM_OK;
}

int em_golden_add_row(em_golden *g, const em_golden_row *row, em_err *err)
{
  int rc = row_check(g, row, err);
  if (rc) return rc;
  em_golden_row r = *row;
  r.name = r.pins = r.reference_backend = r.latency = NULL;
  r.bindings = NULL;
  r.knobs = (em_knobs){0};
  rc = copy_text(row->name, &r.name, err);
  if (!rc) rc = copy_text(row->pins, &r.pins, err);
  if (!rc) rc = copy_text(row->reference_backend, &r.reference_backend, err);
  if (!rc) rc = copy_text(row->latency, &r.latency, err);
  if (!rc) rc = em_bindings_copy(row->bindings, row->n_bindings, &r.bindings, err);
  if (!rc && r.has_knobs) rc = em_knobs_copy(&row->knobs, &r.knobs, err);
  if (!rc) rc = em_golden_room(&g->rows, g->n_rows, sizeof *g->rows, err);
  if (rc) {
    em_golden_row_clear(&r);
    return rc;
  }
  g->rows[g->n_rows++] = r;
  return EM_OK;
}
