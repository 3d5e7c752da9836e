/* dataset_load.c - opening a dataset directory.
 *
 * The manifest's tree stays alive: names and texts are borrowed from it, arrays live in an
 * arena.  Nothing in the manifest is believed before it was checked against the files. */
#include "core/dataset/dataset_int.h"

#include <pthread.h>
#include <string.h>

/* The row texts of a group, mapped on first use. */
typedef struct row_texts {
  const char *matrix; /* the group's .npy, whose name with .rows theirs is */
  em_map map;
  size_t *begins; /* n_rows + 1 offsets; NULL until mapped */
} row_texts;

typedef struct stored_kernel {
  const cJSON *json;
  em_kernel *parsed; /* NULL until asked for */
} stored_kernel;

struct em_dataset {
  char *dir;
  cJSON *json;
  em_arena *arena;
  em_group *groups;
  em_npy *matrices;
  row_texts *texts;
  size_t n_groups;
  stored_kernel *kernels;
  size_t n_kernels;
  em_skips skips;
  em_reason *dropped[2];
  size_t n_dropped[2];
  const cJSON *provenance;
  pthread_mutex_t mutex; /* guards what is filled on first use */
};

enum { MAX_COLUMNS = 4096 };

/* ---- small parts -------------------------------------------------------------------- */

/* NULL, with err filled, when there is no memory. */
static void *arena_array(em_dataset *d, size_t n, size_t size, em_err *err)
{
  void *p = em_arena_alloc(d->arena, n ? n : 1, size);
  if (!p) em_fail_nomem(err);
  return p;
}

static int arena_json(em_dataset *d, const cJSON *json, const char **out, em_err *err)
{
  em_str b = {0};
  em_json_print(json, &b);
  int rc = em_str_finish(&b, err);
  if (rc) return rc;
  *out = em_arena_strdup(d->arena, b.s);
  em_str_free(&b);
  return *out ? EM_OK : em_fail_nomem(err);
}

static int need_objects(const cJSON *list, const em_place *at, em_err *err)
{
  int64_t i = 0;
  for (const cJSON *item = list->child; item; item = item->next, i++) {
    em_place leaf = {.up = at, .index = i};
    if (!cJSON_IsObject(item)) return em_fail_at(err, &leaf, "expected an object");
  }
  return EM_OK;
}

/* ---- header -------------------------------------------------------------------------- */

static int read_versions(em_dataset *d, const em_place *file, int feat_ver, em_err *err)
{
  const char *format, *space = "schedule";
  int64_t version, features;
  em_place provenance = {.up = file, .key = "provenance"}, leaf = {.up = file, .key = "version"};
  if (!cJSON_IsObject(d->json)) return em_fail_at(err, file, "expected a dataset manifest: one JSON object");
  int rc = em_json_need_string(d->json, "format", file, &format, err);
  if (!rc && strcmp(format, EM_DATASET_FORMAT))
    rc = em_fail_at(err, file, "found format \"%s\", expected \"%s\"", format, EM_DATASET_FORMAT);
  if (!rc) rc = em_json_need_i64(d->json, "version", file, INT32_MIN, INT32_MAX, &version, err);
  if (!rc && version != EM_DATASET_VERSION)
    rc = em_fail_at(err, &leaf, "found version %lld, expected %d; write it again with: emmy db export --db FILE DIR",
                    (long long)version, EM_DATASET_VERSION);
  if (!rc) rc = em_json_need_object(d->json, "provenance", file, &d->provenance, err);
  if (!rc) rc = em_json_need_i64(d->provenance, "feat_ver", &provenance, INT32_MIN, INT32_MAX, &features, err);
  if (!rc && features != feat_ver)
    rc = em_fail_at(err, &provenance,
                    "found feat_ver %lld, expected %d; write it again with: emmy db export --db FILE DIR (or read it "
                    "with --feat-ver %lld)",
                    (long long)features, feat_ver, (long long)features);
  if (!rc) rc = em_json_opt_string(d->provenance, "space", &provenance, &space, err);
  if (!rc && strcmp(space, "schedule"))
    rc = em_fail_at(err, &provenance, "found space \"%s\", expected \"schedule\"", space);
  return rc;
}

static int read_kernels(em_dataset *d, const em_place *file, em_err *err)
{
  const cJSON *list, *ids;
  em_place at = {.up = file, .key = "kernels"}, ids_at = {.up = file, .key = "identities"};
  int rc = em_json_need_array(d->json, "kernels", file, &list, err);
  if (!rc) rc = em_json_need_array(d->json, "identities", file, &ids, err);
  if (!rc) rc = need_objects(list, &at, err);
  if (rc) return rc;
  size_t n = (size_t)cJSON_GetArraySize(list);
  if ((size_t)cJSON_GetArraySize(ids) != n)
    return em_fail_at(err, &ids_at, "found %d identities for %zu kernels", cJSON_GetArraySize(ids), n);
  if (!(d->kernels = arena_array(d, n, sizeof *d->kernels, err))) rc = err->code;
  for (const cJSON *k = rc ? NULL : list->child; k; k = k->next) d->kernels[d->n_kernels++].json = k;
  return rc;
}

static int read_skipped(em_dataset *d, const em_place *file, em_err *err)
{
  const cJSON *list;
  em_place at = {.up = file, .key = "skipped"};
  int rc = em_json_need_array(d->json, "skipped", file, &list, err);
  if (!rc && !(d->skips.items = arena_array(d, (size_t)cJSON_GetArraySize(list), sizeof *d->skips.items, err)))
    rc = err->code;
  for (const cJSON *item = rc ? NULL : list->child; item; item = item->next) {
    em_place leaf = {.up = &at, .index = (int64_t)d->skips.n};
    const cJSON *part = cJSON_IsArray(item) && cJSON_GetArraySize(item) == 3 ? item->child : NULL;
    if (!part || !cJSON_IsString(part) || !cJSON_IsString(part->next) || !cJSON_IsString(part->next->next))
      return em_fail_at(err, &leaf, "expected [card, pool, reason]");
    d->skips.items[d->skips.n++] = (em_skip){
      .gpu = part->valuestring, .name = part->next->valuestring, .reason = part->next->next->valuestring};
  }
  return rc;
}

static int read_dropped(em_dataset *d, const em_place *file, em_err *err)
{
  const cJSON *both, *map;
  em_place at = {.up = file, .key = "dropped"};
  int rc = em_json_need_object(d->json, "dropped", file, &both, err);
  for (int h = 0; h < 2 && !rc; h++) {
    em_place half = {.up = &at, .key = em_halves[h]};
    rc = em_json_need_object(both, em_halves[h], &at, &map, err);
    if (!rc && !(d->dropped[h] = arena_array(d, (size_t)cJSON_GetArraySize(map), sizeof *d->dropped[h], err)))
      rc = err->code;
    for (const cJSON *item = rc ? NULL : map->child; item && !rc; item = item->next) {
      em_place leaf = {.up = &half, .key = item->string};
      int64_t count = 0;
      rc = em_json_i64(item, &leaf, 0, INT64_MAX, &count, err);
      d->dropped[h][d->n_dropped[h]++] = (em_reason){.reason = item->string, .count = (size_t)count};
    }
  }
  return rc;
}

/* ---- groups ----------------------------------------------------------------------------- */

static int read_group_row(em_dataset *d, const cJSON *obj, const em_place *at, struct em_group_row *out, em_err *err)
{
  const cJSON *knobs;
  em_place us_at = {.up = at, .key = "us"};
  if (!cJSON_IsObject(obj)) return em_fail_at(err, at, "expected an object");
  int rc = em_json_need_object(obj, "knobs", at, &knobs, err);
  if (!rc) rc = em_json_need_f64(obj, "us", at, &out->us, err);
  if (!rc && out->us <= 0) rc = em_fail_at(err, &us_at, "a time is positive");
  if (!rc) rc = em_json_need_string(obj, "source", at, &out->source, err);
  if (!rc) rc = em_json_opt_string(obj, "label", at, &out->label, err);
  return rc ? rc : arena_json(d, knobs, &out->knobs, err);
}

static int read_pool_rows(em_dataset *d, const cJSON *obj, const em_place *at, em_group_pool *p, em_err *err)
{
  const cJSON *list;
  struct em_group_row *rows = NULL;
  em_place here = {.up = at, .key = "rows"};
  int rc = em_json_need_array(obj, "rows", at, &list, err);
  if (!rc && !(rows = arena_array(d, (size_t)cJSON_GetArraySize(list), sizeof *rows, err))) rc = err->code;
  for (const cJSON *item = rc ? NULL : list->child; item && !rc; item = item->next, p->n_rows++) {
    em_place leaf = {.up = &here, .index = (int64_t)p->n_rows};
    rc = read_group_row(d, item, &leaf, &rows[p->n_rows], err);
  }
  p->rows = rc ? NULL : rows;
  return rc;
}

static int read_pool(em_dataset *d, const cJSON *obj, const em_place *at, em_group_pool *p, em_err *err)
{
  const cJSON *bindings;
  int64_t kernel;
  int rc = em_json_need_string(obj, "gpu", at, &p->gpu, err);
  if (!rc) rc = em_json_need_string(obj, "cap", at, &p->cap, err);
  if (!rc) rc = em_json_need_string(obj, "regime", at, &p->regime, err);
  if (!rc) rc = em_json_need_i64(obj, "kernel", at, 0, (int64_t)d->n_kernels - 1, &kernel, err);
  if (!rc) rc = em_json_need_object(obj, "bindings", at, &bindings, err);
  if (rc) return rc;
  p->kernel = (size_t)kernel;
  rc = arena_json(d, bindings, &p->bindings, err);
  return rc ? rc : read_pool_rows(d, obj, at, p, err);
}

static int read_pools(em_dataset *d, const cJSON *obj, const em_place *at, em_group *g, em_err *err)
{
  const cJSON *list;
  em_group_pool *pools = NULL;
  em_place here = {.up = at, .key = "pools"};
  int rc = em_json_need_array(obj, "pools", at, &list, err);
  if (!rc && !list->child) rc = em_fail_at(err, &here, "a group comes from at least one pool");
  if (!rc) rc = need_objects(list, &here, err);
  if (!rc && !(pools = arena_array(d, (size_t)cJSON_GetArraySize(list), sizeof *pools, err))) rc = err->code;
  for (const cJSON *item = rc ? NULL : list->child; item && !rc; item = item->next, g->n_pools++) {
    em_place leaf = {.up = &here, .index = (int64_t)g->n_pools};
    rc = read_pool(d, item, &leaf, &pools[g->n_pools], err);
  }
  g->pools = rc ? NULL : pools;
  return rc;
}

static int read_names(em_dataset *d, const cJSON *obj, const em_place *at, em_group *g, em_err *err)
{
  const cJSON *list;
  em_place here = {.up = at, .key = "feat_names"};
  int rc = em_json_need_array(obj, "feat_names", at, &list, err);
  if (!rc && !list->child) rc = em_fail_at(err, &here, "expected at least one column");
  if (!rc && cJSON_GetArraySize(list) > MAX_COLUMNS)
    rc = em_fail_at(err, &here, "found %d columns, expected at most %d", cJSON_GetArraySize(list), MAX_COLUMNS);
  if (!rc && !(g->cols.names = arena_array(d, (size_t)cJSON_GetArraySize(list), sizeof *g->cols.names, err)))
    rc = err->code;
  for (const cJSON *item = rc ? NULL : list->child; item; item = item->next) {
    em_place leaf = {.up = &here, .index = (int64_t)g->cols.n};
    if (!cJSON_IsString(item)) return em_fail_at(err, &leaf, "expected the name of a column");
    if (em_columns_index(&g->cols, item->valuestring) >= 0)
      return em_fail_at(err, &leaf, "column \"%s\" is there twice", item->valuestring);
    g->cols.names[g->cols.n++] = item->valuestring;
  }
  return rc;
}

/* "golden/0007.npy": below the half's own folder and nowhere else. */
static bool is_matrix_name(const char *name, const char *half)
{
  size_t len = strlen(half);
  if (strncmp(name, half, len) || name[len] != '/') return false;
  return em_is_group_file(name + len + 1, ".npy");
}

static int map_matrix(em_dataset *d, const cJSON *obj, const em_place *at, const char *half, em_group *g, em_err *err)
{
  const char *name;
  char *path;
  em_npy *npy = &d->matrices[d->n_groups];
  em_place here = {.up = at, .key = "matrix"};
  int rc = em_json_need_string(obj, "matrix", at, &name, err);
  if (!rc && !is_matrix_name(name, half))
    rc = em_fail_at(err, &here, "found \"%s\", expected a file such as \"%s/0000.npy\"", name, half);
  if (!rc) rc = em_path_join(&path, err, d->dir, name);
  if (rc) return rc;
  d->texts[d->n_groups].matrix = name;
  rc = em_npy_map(path, npy, err);
  em_free(path);
  if (rc) return rc;
  if (npy->cols != g->cols.n || !npy->rows || npy->rows > UINT32_MAX)
    return em_fail_at(err, &here, "%s has the shape (%zu, %zu), expected at least one row of %zu columns", name,
                      npy->rows, npy->cols, g->cols.n);
  g->n_rows = npy->rows;
  g->matrix = npy->data;
  return EM_OK;
}

static int read_ids(em_dataset *d, const cJSON *obj, const em_place *at, em_group *g, em_err *err)
{
  const cJSON *list;
  uint32_t *ids = NULL;
  em_place here = {.up = at, .key = "golden_ids"};
  int rc = em_json_need_array(obj, "golden_ids", at, &list, err);
  if (!rc && !list->child) rc = em_fail_at(err, &here, "a golden group has at least one golden row");
  if (!rc && !(ids = arena_array(d, (size_t)cJSON_GetArraySize(list), sizeof *ids, err))) rc = err->code;
  int64_t last = -1;
  for (const cJSON *item = rc ? NULL : list->child; item && !rc; item = item->next) {
    em_place leaf = {.up = &here, .index = (int64_t)g->n_golden};
    int64_t id = 0;
    rc = em_json_i64(item, &leaf, 0, (int64_t)g->n_rows - 1, &id, err);
    if (!rc && id <= last)
      rc = em_fail_at(err, &leaf, "found %lld after %lld, expected ascending rows", (long long)id, (long long)last);
    ids[g->n_golden++] = (uint32_t)id;
    last = id;
  }
  g->golden_ids = rc ? NULL : ids;
  return rc;
}

static int read_latency(em_dataset *d, const cJSON *obj, const em_place *at, em_group *g, em_err *err)
{
  const cJSON *list;
  double *us = NULL;
  em_place here = {.up = at, .key = "latency_us"};
  int rc = em_json_need_array(obj, "latency_us", at, &list, err);
  size_t n = rc ? 0 : (size_t)cJSON_GetArraySize(list), i = 0;
  if (!rc && n != g->n_rows) rc = em_fail_at(err, &here, "found %zu times for %zu rows", n, g->n_rows);
  if (!rc && !(us = arena_array(d, n, sizeof *us, err))) rc = err->code;
  for (const cJSON *item = rc ? NULL : list->child; item && !rc; item = item->next, i++) {
    em_place leaf = {.up = &here, .index = (int64_t)i};
    rc = em_json_f64(item, &leaf, &us[i], err);
    if (!rc && us[i] <= 0) rc = em_fail_at(err, &leaf, "a time is positive");
    if (!rc && us[i] < us[g->fastest]) g->fastest = (uint32_t)i;
  }
  g->latency_us = rc ? NULL : us;
  return rc;
}

static int read_measured(em_dataset *d, const cJSON *obj, const em_place *at, em_group *g, em_err *err)
{
  int64_t level;
  int rc = em_json_need_i64(obj, "h_opt", at, 0, 3, &level, err);
  if (rc) return rc;
  g->h_opt = (int)level;
  return read_latency(d, obj, at, g, err);
}

static int read_group_texts(const cJSON *obj, const em_place *at, em_group *g, em_err *err)
{
  const struct {
    const char *key;
    const char **to;
  } texts[] = {
    {"key", &g->key}, {"name", &g->name}, {"tier", &g->tier}, {"gpu", &g->gpu}, {"shape", &g->shape},
  };
  int rc = EM_OK;
  for (size_t i = 0; i < sizeof texts / sizeof *texts && !rc; i++)
    rc = em_json_need_string(obj, texts[i].key, at, texts[i].to, err);
  if (!rc) rc = em_json_opt_string(obj, "label", at, &g->label, err);
  return rc ? rc : em_json_need_bool(obj, "dynamic", at, &g->dynamic, err);
}

static int read_group(em_dataset *d, const cJSON *obj, const em_place *at, int half, em_err *err)
{
  em_group *g = &d->groups[d->n_groups];
  int64_t total;
  em_place total_at = {.up = at, .key = "total"};
  g->measured = half == 1;
  int rc = read_group_texts(obj, at, g, err);
  if (!rc) rc = read_names(d, obj, at, g, err);
  if (!rc) rc = em_json_need_i64(obj, "total", at, 1, INT64_MAX, &total, err);
  if (!rc) rc = map_matrix(d, obj, at, em_halves[half], g, err);
  d->n_groups++; /* from here on its matrix is closed with the dataset */
  if (rc) return rc;
  g->total = (uint64_t)total;
  if (g->total < g->n_rows)
    return em_fail_at(err, &total_at, "found a pool of %lld with %zu rows", (long long)total, g->n_rows);
  rc = half ? read_measured(d, obj, at, g, err) : read_ids(d, obj, at, g, err);
  return rc ? rc : read_pools(d, obj, at, g, err);
}

static int read_groups(em_dataset *d, const em_place *file, em_err *err)
{
  const cJSON *lists[2];
  size_t n = 0;
  for (int h = 0; h < 2; h++) {
    em_place at = {.up = file, .key = em_halves[h]};
    int rc = em_json_need_array(d->json, em_halves[h], file, &lists[h], err);
    if (!rc) rc = need_objects(lists[h], &at, err);
    if (rc) return rc;
    n += (size_t)cJSON_GetArraySize(lists[h]);
  }
  int rc = EM_OK;
  if (!(d->groups = arena_array(d, n, sizeof *d->groups, err))) rc = err->code;
  if (!rc && !(d->matrices = arena_array(d, n, sizeof *d->matrices, err))) rc = err->code;
  if (!rc && !(d->texts = arena_array(d, n, sizeof *d->texts, err))) rc = err->code;
  for (int h = 0; h < 2; h++) {
    em_place at = {.up = file, .key = em_halves[h]};
    int64_t i = 0;
    for (const cJSON *item = rc ? NULL : lists[h]->child; item && !rc; item = item->next, i++) {
      em_place leaf = {.up = &at, .index = i};
      rc = read_group(d, item, &leaf, h, err);
    }
  }
  return rc;
}

/* ---- open and close -------------------------------------------------------------------------- */

static int read_manifest(em_dataset *d, const char *dir, int feat_ver, em_err *err)
{
  char *path;
  int rc = em_path_join(&path, err, dir, "manifest.json");
  if (rc) return rc;
  em_place file = {.file = path};
  if (!em_path_exists(path))
    rc = em_fail(err, EM_E_INPUT, "%s: no manifest.json: %s", dir,
                 em_path_is_dir(dir)
                   ? "not a dataset, or an interrupted export; write it again with: emmy db export --db FILE DIR"
                   : "no such folder; write it with: emmy db export --db FILE DIR");
  if (!rc) rc = em_json_read(path, &d->json, err);
  if (!rc) rc = read_versions(d, &file, feat_ver, err);
  if (!rc) rc = read_kernels(d, &file, err);
  if (!rc) rc = read_skipped(d, &file, err);
  if (!rc) rc = read_dropped(d, &file, err);
  if (!rc) rc = read_groups(d, &file, err);
  em_free(path);
  return rc;
}

int em_dataset_open(const char *dir, int feat_ver, em_dataset **out, em_err *err)
{
  em_dataset *d = em_calloc(1, sizeof *d);
  if (!d) return em_fail_nomem(err);
  pthread_mutex_init(&d->mutex, NULL);
  d->dir = em_strdup(dir);
  d->arena = em_arena_new();
  int rc = d->dir && d->arena ? read_manifest(d, dir, feat_ver, err) : em_fail_nomem(err);
  if (rc)
    em_dataset_close(d);
  else
    *out = d;
  return rc;
}

void em_dataset_close(em_dataset *d)
{
  if (!d) return;
  for (size_t i = 0; i < d->n_groups; i++) {
    em_npy_close(&d->matrices[i]);
    em_map_close(&d->texts[i].map);
    em_free(d->texts[i].begins);
  }
  for (size_t i = 0; i < d->n_kernels; i++) em_kernel_free(d->kernels[i].parsed);
  em_arena_free(d->arena);
  em_json_free(d->json);
  em_free(d->dir);
  pthread_mutex_destroy(&d->mutex);
  em_free(d);
}

const char *em_dataset_path(const em_dataset *d) { return d->dir; }

size_t em_dataset_n_groups(const em_dataset *d) { return d->n_groups; }

const em_group *em_dataset_group(const em_dataset *d, size_t i) { return &d->groups[i]; }

size_t em_dataset_groups_with(const em_dataset *d, const char *column)
{
  size_t n = 0;
  for (size_t g = 0; g < em_dataset_n_groups(d); g++) n += em_columns_index(&d->groups[g].cols, column) >= 0;
  return n;
}

size_t em_dataset_n_kernels(const em_dataset *d) { return d->n_kernels; }

const em_skips *em_dataset_skipped(const em_dataset *d) { return &d->skips; }

const em_reason *em_dataset_dropped(const em_dataset *d, bool measured, size_t *n)
{
  *n = d->n_dropped[measured];
  return d->dropped[measured];
}

const cJSON *em_dataset_provenance(const em_dataset *d) { return d->provenance; }

static void rest_matrix(const void *npy) { em_map_rest(&((const em_npy *)npy)->map); }

static em_fit_group fit_group(const em_group *g, const em_npy *matrix, bool learned)
{
  return (em_fit_group){.key = g->key,
                        .gpu = g->gpu,
                        .tier = g->tier,
                        .shape = g->shape,
                        .dynamic = g->dynamic,
                        .watched = !learned,
                        .cols = &g->cols,
                        .matrix = g->matrix,
                        .rows = g->n_rows,
                        .total = g->total,
                        .positives = g->measured ? &g->fastest : g->golden_ids,
                        .n_positives = g->measured ? 1 : g->n_golden,
                        .latency = g->latency_us,
                        .h_opt = g->h_opt,
                        .rest = rest_matrix,
                        .owner = matrix};
}

void em_dataset_fit_groups(const em_dataset *d, int64_t labels, em_fit_group *out)
{
  for (size_t i = 0; i < d->n_groups; i++) {
    const em_group *g = &d->groups[i];
    out[i] = fit_group(g, &d->matrices[i], labels == EM_LABELS_BOTH || g->measured == (labels == EM_LABELS_MEASURED));
  }
}

/* ---- on first use ------------------------------------------------------------------------------- */

static int parse_kernel(const em_dataset *d, size_t i, em_kernel **out, em_err *err)
{
  em_place file = {.file = d->dir}, list = {.up = &file, .key = "kernels"}, at = {.up = &list, .index = (int64_t)i};
  em_place body = {.up = &at, .key = "loop_ir"};
  const char *name;
  const cJSON *loop_ir;
  int rc = em_json_need_string(d->kernels[i].json, "name", &at, &name, err);
  if (!rc) rc = em_json_need_object(d->kernels[i].json, "loop_ir", &at, &loop_ir, err);
  return rc ? rc : em_kernel_parse(loop_ir, name, &body, out, err);
}

int em_dataset_kernel(const em_dataset *d, size_t kernel, const em_kernel **out, em_err *err)
{
  pthread_mutex_t *mutex = &((em_dataset *)d)->mutex;
  pthread_mutex_lock(mutex);
  int rc = d->kernels[kernel].parsed ? EM_OK : parse_kernel(d, kernel, &d->kernels[kernel].parsed, err);
  pthread_mutex_unlock(mutex);
  *out = d->kernels[kernel].parsed;
  return rc;
}

static int index_lines(row_texts *t, size_t n_rows, const char *path, em_err *err)
{
  const char *text = t->map.data;
  size_t n = 0, at = 0;
  t->begins = em_calloc(n_rows + 1, sizeof *t->begins);
  if (!t->begins) return em_fail_nomem(err);
  while (at < t->map.len && n < n_rows) {
    const char *end = memchr(text + at, '\n', t->map.len - at);
    if (!end) break;
    at = (size_t)(end - text) + 1;
    t->begins[++n] = at;
  }
  if (n == n_rows && at == t->map.len) return EM_OK;
  em_free(t->begins);
  t->begins = NULL;
  return em_fail(err, EM_E_INPUT,
                 "%s: %s %zu whole lines, expected exactly %zu, one a row of the matrix; write the dataset again", path,
                 n == n_rows ? "more than" : "found", n, n_rows);
}

static int map_texts(em_dataset *d, size_t group, em_err *err)
{
  row_texts *t = &d->texts[group];
  em_str path = {0};
  em_str_printf(&path, "%s/%.*s.rows", d->dir, (int)(strlen(t->matrix) - strlen(".npy")), t->matrix);
  int rc = em_str_finish(&path, err);
  if (!rc) rc = em_map_open(path.s, &t->map, err);
  if (!rc) {
    rc = index_lines(t, d->groups[group].n_rows, path.s, err);
    if (rc) em_map_close(&t->map);
  }
  em_str_free(&path);
  return rc;
}

int em_dataset_row(const em_dataset *d, size_t group, size_t row, const char **text, size_t *len, em_err *err)
{
  em_dataset *m = (em_dataset *)d;
  row_texts *t = &m->texts[group];
  pthread_mutex_lock(&m->mutex);
  int rc = t->begins ? EM_OK : map_texts(m, group, err);
  pthread_mutex_unlock(&m->mutex);
  if (rc) return rc;
  *text = (const char *)t->map.data + t->begins[row]; /* NOLINT: map_texts has set it */
  *len = t->begins[row + 1] - t->begins[row] - 1;
  return EM_OK;
}

int em_dataset_rows(const em_dataset *d, size_t group, em_row *out, em_err *err)
{
  for (size_t i = 0; i < d->groups[group].n_rows; i++) {
    const char *text;
    char line[EM_ROW_LEN];
    size_t len;
    int rc = em_dataset_row(d, group, i, &text, &len, err);
    if (rc) return rc;
    if (len >= sizeof line)
      return em_fail(err, EM_E_INPUT, "%s: %s: row %zu: a line of %zu bytes, expected one row", d->dir,
                     d->groups[group].key, i, len);
    memcpy(line, text, len);
    line[len] = '\0';
    rc = em_row_parse(line, &out[i], err);
    if (rc) return em_err_prefix(err, "%s: %s: row %zu", d->dir, d->groups[group].key, i);
  }
  return EM_OK;
}
