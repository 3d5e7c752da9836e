/* golden_read.c - the strict reader of golden files (formats.md section 1). */
#include "core/store/golden_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A name by which rows and routing may call a kernel. */
typedef struct ref {
  const char *text; /* borrowed from the kernel or from the JSON tree */
  size_t kernel;
} ref;

typedef struct reader {
  em_golden *g;
  const cJSON *programs;
  ref *refs;
  size_t n_refs, cap_refs;
  const char **identities; /* exact_identity of each kernel, NULL in the current form */
  size_t cap_identities;
} reader;

/* ---- refs ------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
  const ref *x = a, *y = b;
  int c = strcmp(x->text, y->text);
  return c ? c : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static int ref_add(reader *r, const char *text, size_t kernel, em_err *err)
{
  if (em_grow(&r->refs, &r->cap_refs, r->n_refs + 1, sizeof *r->refs, err)) return err->code;
  r->refs[r->n_refs++] = (ref){.text = text, .kernel = kernel};
  return EM_OK;
}

static const ref *ref_find(const reader *r, const char *text)
{
  size_t lo = 0, hi = r->n_refs;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (strcmp(r->refs[mid].text, text) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < r->n_refs && !strcmp(r->refs[lo].text, text) ? &r->refs[lo] : NULL;
}

static bool ref_taken(void *ctx, const char *text) { return ref_find(ctx, text) != NULL; }

static int ref_kernel(const reader *r, const char *text, const em_place *at, size_t *out, em_err *err)
{
  const ref *found = ref_find(r, text);
  if (!found)
    return em_fail_at(err, at,
                      "\"%s\" is no kernel of this file (%zu kernels; a kernel is named by its key, or else its name)",
                      text, r->g->n_kernels);
  *out = found->kernel;
  return EM_OK;
}

static void refs_sort(reader *r)
{
  if (r->n_refs) qsort(r->refs, r->n_refs, sizeof *r->refs, by_text);
}

/* The older form names kernels by identity, so their C names may repeat: later ones get
 * a key.  The current form must not repeat a ref. */
static int keys_complete(reader *r, const em_place *kernels, em_err *err)
{
  int rc = EM_OK;
  unsigned nth = 2;
  for (size_t i = 1; i < r->n_refs && !rc; i++) {
    em_golden_kernel *k = &r->g->kernels[r->refs[i].kernel];
    em_place at = {.up = kernels, .index = (int64_t)r->refs[i].kernel};
    if (strcmp(r->refs[i].text, r->refs[i - 1].text)) {
      nth = 2;
      continue;
    }
    if (!k->older_form || k->key)
      return em_fail_at(err, &at, "a second kernel is called \"%s\"; give it a key such as \"%s#2\"", r->refs[i].text,
                        k->name);
    em_free(k->ref);
    k->ref = NULL;
    rc = em_golden_name_kernel(k, &nth, ref_taken, r, err);
  }
  return rc;
}

static int refs_settle(reader *r, const em_place *kernels, em_err *err)
{
  em_golden *g = r->g;
  int rc = EM_OK;
  for (size_t i = 0; i < g->n_kernels && !rc; i++)
    rc = ref_add(r, g->kernels[i].key ? g->kernels[i].key : g->kernels[i].name, i, err);
  refs_sort(r);
  if (!rc) rc = keys_complete(r, kernels, err);
  r->n_refs = 0;
  for (size_t i = 0; i < g->n_kernels && !rc; i++) {
    rc = ref_add(r, g->kernels[i].ref, i, err);
    if (!rc && r->identities[i]) rc = ref_add(r, r->identities[i], i, err);
  }
  refs_sort(r);
  for (size_t i = 1; i < r->n_refs && !rc; i++) {
    em_place at = {.up = kernels, .index = (int64_t)r->refs[i].kernel};
    if (!strcmp(r->refs[i].text, r->refs[i - 1].text))
      rc = em_fail_at(err, &at, "kernels[%zu] has the same name \"%s\"", r->refs[i - 1].kernel, r->refs[i].text);
  }
  return rc;
}

/* ---- kernels ------------------------------------------------------------------------ */

static bool program_has_node(const cJSON *program, const char *id)
{
  const cJSON *nodes = cJSON_GetObjectItemCaseSensitive(program, "nodes");
  for (const cJSON *node = nodes ? nodes->child : NULL; node; node = node->next) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(node, "id");
    if (cJSON_IsString(name) && !strcmp(name->valuestring, id)) return true;
  }
  return false;
}

static int read_origins(const reader *r, const cJSON *obj, const em_place *at, em_golden_kernel *k, em_err *err)
{
  if (!cJSON_GetObjectItemCaseSensitive(obj, "origins")) return EM_OK;
  if (k->traced < 0) return em_fail_at(err, at, "origins need traced, the program they are nodes of");
  const cJSON *list;
  int rc = em_json_need_array(obj, "origins", at, &list, err);
  size_t n = rc ? 0 : (size_t)cJSON_GetArraySize(list);
  if (!n) return rc;
  if (!(k->origins = em_calloc(n, sizeof *k->origins))) return em_fail_nomem(err);
  const cJSON *program = cJSON_GetArrayItem(r->programs, (int)k->traced);
  em_place here = {.up = at, .key = "origins"};
  for (const cJSON *id = list->child; id && !rc; id = id->next) {
    em_place leaf = {.up = &here, .index = (int64_t)k->n_origins};
    if (!cJSON_IsString(id))
      rc = em_fail_at(err, &leaf, "expected the id of a node");
    else if (!program_has_node(program, id->valuestring))
      rc = em_fail_at(err, &leaf, "programs[%lld] has no node \"%s\"", (long long)k->traced, id->valuestring);
    else if (!(k->origins[k->n_origins] = em_strdup(id->valuestring)))
      rc = em_fail_nomem(err);
    k->n_origins += !rc;
  }
  return rc;
}

/* Carried stamps against ours.  S_warp_eligible depends on the card, so it is not compared. */
static int stamps_drift(const cJSON *obj, const em_place *at, const em_kernel *kernel, bool *drifted, em_err *err)
{
  const cJSON *map;
  int rc = em_json_need_object(obj, "stamps", at, &map, err);
  if (rc) return rc;
  em_place here = {.up = at, .key = "stamps"};
  size_t same = 0, ours;
  (void)em_kernel_stamps(kernel, &ours);
  *drifted = false;
  for (const cJSON *s = map->child; s; s = s->next) {
    em_place leaf = {.up = &here, .key = s->string};
    double value;
    if (em_json_f64(s, &leaf, &value, err)) return err->code;
    if (!strcmp(s->string, "S_warp_eligible")) continue;
    if (em_kernel_stamp(kernel, s->string) == value)
      same++;
    else
      *drifted = true;
  }
  *drifted = *drifted || same != ours;
  return EM_OK;
}

static bool is_hex64(const char *s) { return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64; }

static int read_older(reader *r, const cJSON *obj, const em_place *at, em_golden_kernel *k, em_err *err)
{
  const char *exact = NULL, *structural = NULL;
  int rc = em_json_opt_string(obj, "exact_identity", at, &exact, err);
  if (!rc) rc = em_json_opt_string(obj, "structural_identity", at, &structural, err);
  if (!rc && ((exact && !is_hex64(exact)) || (structural && !is_hex64(structural)))) {
    em_place leaf = {.up = at, .key = exact && !is_hex64(exact) ? "exact_identity" : "structural_identity"};
    rc = em_fail_at(err, &leaf, "expected 64 lowercase hexadecimal digits");
  }
  bool stamps = cJSON_GetObjectItemCaseSensitive(obj, "stamps") != NULL;
  if (!rc && stamps) rc = stamps_drift(obj, at, k->kernel, &k->drifted, err);
  k->older_form = exact || structural || stamps;
  if (!rc && !em_grow(&r->identities, &r->cap_identities, r->g->n_kernels + 1, sizeof *r->identities, err))
    r->identities[r->g->n_kernels] = exact;
  else if (!rc)
    rc = err->code;
  return rc;
}

static int read_kernel_fields(reader *r, const cJSON *obj, const em_place *at, em_golden_kernel *k, em_err *err)
{
  static const char *const keys[] = {
    "loop_ir", "name", "formed", "key", "traced", "origins", "bindings", "exact_identity", "structural_identity",
    "stamps",  NULL};
  const char *name = NULL, *key = NULL;
  const cJSON *loop_ir;
  em_place body = {.up = at, .key = "loop_ir"}, named = {.up = at, .key = "name"};
  int rc = em_json_only_keys(obj, keys, at, err);
  if (!rc) rc = em_json_need_string(obj, "name", at, &name, err);
  if (!rc && !*name) rc = em_fail_at(err, &named, "a kernel needs a name");
  if (!rc) rc = em_json_opt_string(obj, "key", at, &key, err);
  if (!rc) rc = em_json_need_bool(obj, "formed", at, &k->formed, err);
  if (!rc) rc = em_json_opt_i64(obj, "traced", at, 0, (int64_t)r->g->n_programs - 1, &k->traced, err);
  if (!rc) rc = em_json_need_object(obj, "loop_ir", at, &loop_ir, err);
  if (!rc) rc = em_kernel_parse(loop_ir, name, &body, &k->kernel, err);
  if (!rc && !(k->name = em_strdup(name))) rc = em_fail_nomem(err);
  if (!rc && key && !(k->key = em_strdup(key))) rc = em_fail_nomem(err);
  if (!rc && !(k->ref = em_strdup(key ? key : name))) rc = em_fail_nomem(err);
  if (!rc) rc = read_origins(r, obj, at, k, err);
  if (!rc) rc = em_bindings_member(obj, at, &k->bindings, &k->n_bindings, err);
  return rc ? rc : read_older(r, obj, at, k, err);
}

static int read_kernel(reader *r, const cJSON *obj, const em_place *at, em_err *err)
{
  em_golden *g = r->g;
  em_golden_kernel k = {.traced = -1};
  int rc = read_kernel_fields(r, obj, at, &k, err);
  if (!rc) rc = em_golden_room(&g->kernels, g->n_kernels, sizeof *g->kernels, err);
  if (rc)
    em_golden_kernel_clear(&k);
  else
    g->kernels[g->n_kernels++] = k;
  return rc;
}

/* ---- programs, routing ----------------------------------------------------------------- */

static int read_program(reader *r, const cJSON *obj, const em_place *at, em_err *err)
{
  em_golden *g = r->g;
  const cJSON *nodes;
  char *text;
  em_str out = {0};
  int rc = em_json_need_array(obj, "nodes", at, &nodes, err);
  if (!rc) rc = em_golden_room(&g->programs, g->n_programs, sizeof *g->programs, err);
  if (rc) return rc;
  em_json_print(obj, &out);
  rc = em_str_take(&out, &text, err);
  if (!rc) g->programs[g->n_programs++] = text;
  return rc;
}

static int read_children(reader *r, const cJSON *obj, const em_place *at, em_golden_routing *out, em_err *err)
{
  const cJSON *list;
  int rc = em_json_need_array(obj, "children", at, &list, err);
  if (rc) return rc;
  em_place here = {.up = at, .key = "children"};
  size_t n = (size_t)cJSON_GetArraySize(list);
  if (!n) return em_fail_at(err, &here, "a decision makes at least one kernel");
  if (!(out->children = em_calloc(n, sizeof *out->children))) return em_fail_nomem(err);
  for (const cJSON *c = list->child; c && !rc; c = c->next) {
    em_place leaf = {.up = &here, .index = (int64_t)out->n_children};
    rc = cJSON_IsString(c) ? ref_kernel(r, c->valuestring, &leaf, &out->children[out->n_children], err)
                           : em_fail_at(err, &leaf, "expected the name of a kernel");
    out->n_children += !rc;
  }
  return rc;
}

static int read_routing(reader *r, const cJSON *obj, const em_place *at, em_err *err)
{
  static const char *const keys[] = {"parent", "arm", "children", NULL};
  em_golden *g = r->g;
  em_golden_routing d = {0};
  const char *parent;
  const cJSON *arm;
  em_place arm_at = {.up = at, .key = "arm"}, parent_at = {.up = at, .key = "parent"};
  int rc = em_json_only_keys(obj, keys, at, err);
  if (!rc) rc = em_json_need_string(obj, "parent", at, &parent, err);
  if (!rc) rc = ref_kernel(r, parent, &parent_at, &d.parent, err);
  if (!rc) rc = em_json_need_object(obj, "arm", at, &arm, err);
  if (!rc) rc = em_knobs_from_json(arm, &arm_at, &d.arm, err);
  if (!rc) rc = em_arm_check(&d.arm, &arm_at, err);
  if (!rc) rc = read_children(r, obj, at, &d, err);
  if (!rc) rc = em_golden_room(&g->routing, g->n_routing, sizeof *g->routing, err);
  if (rc)
    em_golden_routing_clear(&d);
  else
    g->routing[g->n_routing++] = d;
  return rc;
}

/* ---- rows --------------------------------------------------------------------------------- */

static int read_time(const cJSON *obj, const char *key, const em_place *at, bool needed, double *out, em_err *err)
{
  em_place leaf = {.up = at, .key = key};
  int rc = needed ? em_json_need_f64(obj, key, at, out, err) : em_json_opt_f64(obj, key, at, out, err);
  if (!rc && *out <= 0) rc = em_fail_at(err, &leaf, "a time is in microseconds and positive");
  return rc;
}

static int read_measurements(const cJSON *row, const em_place *at, em_golden_row *out, em_err *err)
{
  static const char *const keys[] = {"emmy_us", "reference_us", "reference_backend", "tried", NULL};
  if (!cJSON_GetObjectItemCaseSensitive(row, "measurements")) return EM_OK;
  em_place here = {.up = at, .key = "measurements"};
  if (!out->has_knobs) return em_fail_at(err, &here, "a measurement needs knobs, the schedule that was measured");
  const cJSON *obj;
  const char *backend = NULL;
  int rc = em_json_need_object(row, "measurements", at, &obj, err);
  if (!rc) rc = em_json_only_keys(obj, keys, &here, err);
  if (!rc) rc = read_time(obj, "emmy_us", &here, true, &out->us, err);
  if (!rc) rc = read_time(obj, "reference_us", &here, false, &out->reference_us, err);
  if (!rc) rc = em_json_opt_string(obj, "reference_backend", &here, &backend, err);
  if (!rc) rc = em_json_opt_i64(obj, "tried", &here, 0, INT32_MAX, &out->tried, err);
  if (!rc && backend && !(out->reference_backend = em_strdup(backend))) rc = em_fail_nomem(err);
  out->measured = !rc;
  return rc;
}

static int read_latency(const cJSON *row, const em_place *at, em_golden_row *out, em_err *err)
{
  static const char *const keys[] = {"emmy_us", "tcompile_us", "eager_us", NULL};
  if (!cJSON_GetObjectItemCaseSensitive(row, "latency")) return EM_OK;
  const cJSON *map;
  int rc = em_json_need_object(row, "latency", at, &map, err);
  em_place here = {.up = at, .key = "latency"};
  for (const cJSON *card = rc ? NULL : map->child; card && !rc; card = card->next) {
    em_place leaf = {.up = &here, .key = card->string};
    double us = 1;
    if (!cJSON_IsObject(card)) return em_fail_at(err, &leaf, "expected an object with emmy_us");
    rc = em_json_only_keys(card, keys, &leaf, err);
    for (size_t i = 0; keys[i] && !rc; i++) rc = read_time(card, keys[i], &leaf, i == 0, &us, err);
  }
  if (rc || !map->child) return rc;
  em_str text = {0};
  em_json_print(map, &text);
  return em_str_take(&text, &out->latency, err);
}

static int read_knobs(const cJSON *row, const em_place *at, em_golden_row *out, em_err *err)
{
  const cJSON *knobs = cJSON_GetObjectItemCaseSensitive(row, "knobs");
  if (!knobs || cJSON_IsNull(knobs)) return EM_OK;
  em_place here = {.up = at, .key = "knobs"};
  int rc = em_json_need_object(row, "knobs", at, &knobs, err);
  if (!rc) rc = em_knobs_from_json(knobs, &here, &out->knobs, err);
  if (!rc) rc = em_row_knobs_check(&out->knobs, &here, err);
  out->has_knobs = !rc;
  return rc;
}

static int read_row_fields(const reader *r, const cJSON *obj, const em_place *at, em_golden_row *out, em_err *err)
{
  static const char *const keys[] = {"name", "kernel", "bindings", "pins", "knobs", "measurements", "latency", NULL};
  const char *name = NULL, *kernel = NULL;
  em_place name_at = {.up = at, .key = "name"}, kernel_at = {.up = at, .key = "kernel"};
  int rc = em_json_only_keys(obj, keys, at, err);
  if (!rc) rc = em_json_need_string(obj, "name", at, &name, err);
  if (!rc && !*name) rc = em_fail_at(err, &name_at, "a row needs a name that is not empty");
  if (!rc) rc = em_json_need_string(obj, "kernel", at, &kernel, err);
  if (!rc) rc = ref_kernel(r, kernel, &kernel_at, &out->kernel, err);
  if (!rc && !(out->name = em_strdup(name))) rc = em_fail_nomem(err);
  if (!rc) rc = em_bindings_member(obj, at, &out->bindings, &out->n_bindings, err);
  if (!rc) rc = em_pins_read(obj, at, &out->pins, &out->regime, err);
  if (!rc) rc = read_knobs(obj, at, out, err);
  if (!rc) rc = read_measurements(obj, at, out, err);
  return rc ? rc : read_latency(obj, at, out, err);
}

static int read_row(reader *r, const cJSON *obj, const em_place *at, em_err *err)
{
  em_golden *g = r->g;
  em_golden_row row = {.reference_us = NAN, .tried = -1};
  int rc = read_row_fields(r, obj, at, &row, err);
  if (!rc) rc = em_golden_room(&g->rows, g->n_rows, sizeof *g->rows, err);
  if (rc)
    em_golden_row_clear(&row);
  else
    g->rows[g->n_rows++] = row;
  return rc;
}

/* ---- the file ------------------------------------------------------------------------------- */

typedef int read_entry(reader *r, const cJSON *obj, const em_place *at, em_err *err);

static int read_table(reader *r, const cJSON *root, const em_place *file, const char *key, read_entry *read,
                      em_err *err)
{
  if (!cJSON_GetObjectItemCaseSensitive(root, key)) return EM_OK;
  const cJSON *list;
  int rc = em_json_need_array(root, key, file, &list, err);
  em_place here = {.up = file, .key = key};
  int64_t i = 0;
  for (const cJSON *item = rc ? NULL : list->child; item && !rc; item = item->next, i++) {
    em_place leaf = {.up = &here, .index = i};
    rc = cJSON_IsObject(item) ? read(r, item, &leaf, err) : em_fail_at(err, &leaf, "expected an object");
  }
  return rc;
}

static int read_text(const cJSON *root, const char *key, const em_place *file, char **out, em_err *err)
{
  const char *text = NULL;
  int rc = em_json_opt_string(root, key, file, &text, err);
  if (!rc && text && !(*out = em_strdup(text))) rc = em_fail_nomem(err);
  return rc;
}

static int read_cap(const cJSON *root, const em_place *file, em_golden *g, em_err *err)
{
  const cJSON *cap;
  int rc = em_json_need_array(root, "compute_cap", file, &cap, err);
  if (rc) return rc;
  em_place here = {.up = file, .key = "compute_cap"};
  if (cJSON_GetArraySize(cap) != 2) return em_fail_at(err, &here, "expected [major, minor]");
  em_place major = {.up = &here, .index = 0}, minor = {.up = &here, .index = 1};
  int64_t v[2];
  rc = em_json_i64(cap->child, &major, 1, 99, &v[0], err);
  if (!rc) rc = em_json_i64(cap->child->next, &minor, 0, 9, &v[1], err);
  if (rc) return rc;
  g->cc_major = (int)v[0];
  g->cc_minor = (int)v[1];
  const em_card *card = g->gpu_name ? em_card_lookup(g->gpu_name) : NULL;
  if (card && (card->cc_major != v[0] || card->cc_minor != v[1]))
    rc = em_fail_at(err, &here, "found [%d, %d], but %s has compute capability [%d, %d]", g->cc_major, g->cc_minor,
                    card->name, card->cc_major, card->cc_minor);
  return rc;
}

static int read_header(const cJSON *root, const em_place *file, em_golden *g, em_err *err)
{
  static const char *const keys[] = {
    "gpu_name", "compute_cap", "model", "model_quant_digest", "note", "programs", "kernels", "routing", "rows", NULL};
  if (!cJSON_IsObject(root))
    return em_fail_at(err, file, "expected a golden file: one JSON object with compute_cap, kernels and rows");
  if (cJSON_GetObjectItemCaseSensitive(root, "configs"))
    return em_fail_at(err, file,
                      "an older edition of the format (configs and realizations), which is not read; "
                      "rewrite it with the edition that made it");
  int rc = em_json_only_keys(root, keys, file, err);
  if (!rc) rc = read_text(root, "gpu_name", file, &g->gpu_name, err);
  if (!rc) rc = read_cap(root, file, g, err);
  if (!rc) rc = read_text(root, "model", file, &g->model, err);
  if (!rc) rc = read_text(root, "model_quant_digest", file, &g->model_quant_digest, err);
  if (!rc && g->model_quant_digest &&
      (strlen(g->model_quant_digest) != 16 || strspn(g->model_quant_digest, "0123456789abcdef") != 16)) {
    em_place leaf = {.up = file, .key = "model_quant_digest"};
    rc = em_fail_at(err, &leaf, "expected 16 lowercase hexadecimal digits");
  }
  return rc ? rc : read_text(root, "note", file, &g->note, err);
}

static int read_golden(reader *r, const cJSON *root, const char *path, em_err *err)
{
  em_place file = {.file = path}, kernels = {.up = &file, .key = "kernels"};
  int rc = read_header(root, &file, r->g, err);
  r->programs = cJSON_GetObjectItemCaseSensitive(root, "programs");
  if (!rc) rc = read_table(r, root, &file, "programs", read_program, err);
  if (!rc) rc = read_table(r, root, &file, "kernels", read_kernel, err);
  if (!rc) rc = refs_settle(r, &kernels, err);
  if (!rc) rc = read_table(r, root, &file, "routing", read_routing, err);
  return rc ? rc : read_table(r, root, &file, "rows", read_row, err);
}

int em_golden_parse(const char *text, size_t len, const char *path, em_golden **out, em_err *err)
{
  static const char lfs[] = "version https://git-lfs";
  if (len >= sizeof lfs - 1 && !memcmp(text, lfs, sizeof lfs - 1))
    return em_fail(err, EM_E_INPUT, "%s: a Git LFS pointer, not the golden file itself; fetch it with: git lfs pull",
                   path);
  cJSON *root;
  int rc = em_json_parse(text, len, path, &root, err);
  if (rc) return rc;
  reader r = {.g = em_calloc(1, sizeof *r.g)};
  if (!r.g || !(r.g->path = em_strdup(path)))
    rc = em_fail_nomem(err);
  else
    rc = read_golden(&r, root, path, err);
  em_free(r.refs);
  em_free(r.identities);
  em_json_free(root);
  if (rc)
    em_golden_free(r.g);
  else
    *out = r.g;
  return rc;
}

int em_golden_read(const char *path, em_golden **out, em_err *err)
{
  char *text;
  size_t len;
  int rc = em_file_read(path, &text, &len, err);
  if (rc) return rc;
  rc = em_golden_parse(text, len, path, out, err);
  em_free(text);
  return rc;
}
