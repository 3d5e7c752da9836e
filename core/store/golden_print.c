/* golden_print.c - the canonical text of a golden file (formats.md 1.1). */
#include "core/store/golden_int.h"

#include <math.h>

static void put_text_key(em_str *out, const char *key, const char *value)
{
  if (!value) return;
  em_str_printf(out, "\"%s\": ", key);
  em_str_put_json(out, value);
  em_str_put(out, ",\n ");
}

static void put_number(em_str *out, const char *key, double x)
{
  char buf[EM_DOUBLE_LEN];
  em_str_printf(out, "\"%s\":%s", key, em_double_repr(x, buf));
}

static void put_list(em_str *out, const char *key, char *const *items, size_t n)
{
  em_str_printf(out, ",\"%s\":[", key);
  for (size_t i = 0; i < n; i++) {
    if (i) em_str_putc(out, ',');
    em_str_put_json(out, items[i]);
  }
  em_str_putc(out, ']');
}

static void put_bindings(em_str *out, const em_binding *b, size_t n)
{
  if (!n) return;
  em_str_put(out, ",\"bindings\":");
  em_bindings_print(b, n, out);
}

static void put_program(const em_golden *g, size_t i, em_str *out) { em_str_put(out, g->programs[i]); }

static void put_kernel(const em_golden *g, size_t i, em_str *out)
{
  const em_golden_kernel *k = &g->kernels[i];
  em_str_put(out, "{\"loop_ir\":");
  em_kernel_print(k->kernel, out);
  em_str_put(out, ",\"name\":");
  em_str_put_json(out, k->name);
  em_str_printf(out, ",\"formed\":%s", k->formed ? "true" : "false");
  if (k->key) {
    em_str_put(out, ",\"key\":");
    em_str_put_json(out, k->key);
  }
  if (k->traced >= 0) em_str_printf(out, ",\"traced\":%lld", (long long)k->traced);
  if (k->n_origins) put_list(out, "origins", k->origins, k->n_origins);
  put_bindings(out, k->bindings, k->n_bindings);
  em_str_putc(out, '}');
}

static void put_routing(const em_golden *g, size_t i, em_str *out)
{
  const em_golden_routing *r = &g->routing[i];
  em_str_put(out, "{\"parent\":");
  em_str_put_json(out, g->kernels[r->parent].ref);
  em_str_put(out, ",\"arm\":");
  em_knobs_print_json(&r->arm, out);
  em_str_put(out, ",\"children\":[");
  for (size_t c = 0; c < r->n_children; c++) {
    if (c) em_str_putc(out, ',');
    em_str_put_json(out, g->kernels[r->children[c]].ref);
  }
  em_str_put(out, "]}");
}

static void put_measurements(const em_golden_row *r, em_str *out)
{
  em_str_put(out, ",\"measurements\":{");
  put_number(out, "emmy_us", r->us);
  if (!isnan(r->reference_us)) {
    em_str_putc(out, ',');
    put_number(out, "reference_us", r->reference_us);
  }
  if (r->reference_backend) {
    em_str_put(out, ",\"reference_backend\":");
    em_str_put_json(out, r->reference_backend);
  }
  if (r->tried >= 0) em_str_printf(out, ",\"tried\":%lld", (long long)r->tried);
  em_str_putc(out, '}');
}

static void put_row(const em_golden *g, size_t i, em_str *out)
{
  const em_golden_row *r = &g->rows[i];
  em_str_put(out, "{\"name\":");
  em_str_put_json(out, r->name);
  em_str_put(out, ",\"kernel\":");
  em_str_put_json(out, g->kernels[r->kernel].ref);
  put_bindings(out, r->bindings, r->n_bindings);
  if (r->pins) {
    em_str_put(out, ",\"pins\":");
    em_str_put(out, r->pins);
  }
  if (r->has_knobs) {
    em_str_put(out, ",\"knobs\":");
    em_knobs_print_json(&r->knobs, out);
  }
  if (r->measured) put_measurements(r, out);
  if (r->latency) {
    em_str_put(out, ",\"latency\":");
    em_str_put(out, r->latency);
  }
  em_str_putc(out, '}');
}

int em_golden_print(const em_golden *g, em_str *out, em_err *err)
{
  const struct table {
    const char *name;
    size_t n;
    void (*put)(const em_golden *g, size_t i, em_str *out);
  } tables[] = {
    {"programs", g->n_programs, put_program},
    {"kernels", g->n_kernels, put_kernel},
    {"routing", g->n_routing, put_routing},
    {"rows", g->n_rows, put_row},
  };
  em_str_putc(out, '{');
  put_text_key(out, "gpu_name", g->gpu_name);
  em_str_printf(out, "\"compute_cap\": [%d, %d]", g->cc_major, g->cc_minor);
  const char *const keys[] = {"model", "model_quant_digest", "note"};
  const char *const values[] = {g->model, g->model_quant_digest, g->note};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (!values[i]) continue;
    em_str_printf(out, ",\n \"%s\": ", keys[i]);
    em_str_put_json(out, values[i]);
  }
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    if (!tables[t].n) continue;
    em_str_printf(out, ",\n \"%s\": [", tables[t].name);
    for (size_t i = 0; i < tables[t].n; i++) {
      em_str_put(out, i ? ",\n  " : "\n  ");
      tables[t].put(g, i, out);
    }
    em_str_put(out, "\n ]");
  }
  em_str_put(out, "}\n");
  return out->failed ? em_fail_nomem(err) : EM_OK;
}

int em_golden_write(const em_golden *g, const char *path, em_err *err)
{
  em_str text = {0};
  int rc = em_golden_print(g, &text, err);
  em_out *o = NULL;
  if (!rc) rc = em_out_open(path, &o, err);
  if (!rc) {
    em_out_write(o, text.s, text.len);
    rc = em_out_commit(o, err);
    if (rc) em_out_abort(o);
  }
  em_str_free(&text);
  return rc;
}
