/*
 * artifact.c - the prior as a file: a model, its columns, where it came from.
 *
 *   {"feat_ver": 101, "space": "schedule", "kind": "catboost", "cols": [...],
 *    "params": {"scale": 1}, "provenance": {...}, "model": {...}}
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/prior/model_int.h"

#define SPACE "schedule"
#define KIND  "catboost"
#define MEND  "; make a new prior with: emmy fit DATASET WEIGHTS"

struct em_prior {
  em_model *model;
  em_columns cols;
  int feat_ver;
  double scale;
  cJSON *provenance; /* NULL = none */
  char digest[33];
};

void em_prior_free(em_prior *p)
{
  if (!p) return;
  em_model_free(p->model);
  em_columns_free(&p->cols);
  em_json_free(p->provenance);
  em_free(p);
}

const em_model *em_prior_model(const em_prior *p) { return p->model; }
const em_columns *em_prior_columns(const em_prior *p) { return &p->cols; }
int em_prior_feat_ver(const em_prior *p) { return p->feat_ver; }
const char *em_prior_digest(const em_prior *p) { return p->digest; }
const cJSON *em_prior_provenance(const em_prior *p) { return p->provenance; }

/* ---- writing ------------------------------------------------------------------------ */

static void put_columns(em_str *out, const em_columns *c)
{
  em_str_put(out, " \"cols\": [");
  for (size_t i = 0; i < c->n; i++) {
    em_str_put(out, i ? ",\n  " : "\n  ");
    em_str_put_json(out, c->names[i]);
  }
  em_str_put(out, "\n ],\n");
}

void em_prior_print(const em_prior *p, em_str *out)
{
  em_str_printf(out, "{\n \"feat_ver\": %d,\n \"space\": \"" SPACE "\",\n \"kind\": \"" KIND "\",\n", p->feat_ver);
  put_columns(out, &p->cols);
  em_str_put(out, " \"params\": {\"scale\": ");
  em_put_number(out, p->scale);
  em_str_put(out, "},\n");
  if (p->provenance) {
    em_str_put(out, " \"provenance\": ");
    em_json_print(p->provenance, out);
    em_str_put(out, ",\n");
  }
  em_str_put(out, " \"model\": ");
  em_model_print_indented(p->model, 1, out);
  em_str_put(out, "\n}\n");
}

int em_prior_save(const em_prior *p, const char *path, em_err *err)
{
  em_str text = {0};
  em_out *o;
  em_prior_print(p, &text);
  if (em_str_finish(&text, err)) return err->code;
  int rc = em_out_open(path, &o, err);
  if (!rc) {
    em_out_write(o, text.s, text.len);
    rc = em_out_commit(o, err);
    if (rc) em_out_abort(o);
  }
  em_str_free(&text);
  return rc;
}

/* ---- model and columns -------------------------------------------------------------- */

/* The names in the model are optional, but one that is there must be the column's. */
static int check_columns(const em_prior *p, const em_place *at, em_err *err)
{
  const em_place cols = {.up = at, .key = "cols"};
  if (p->cols.n != p->model->n_features)
    return em_fail_at(err, &cols, "%zu columns, but the model has %zu float features", p->cols.n, p->model->n_features);
  em_place place = {.up = &cols};
  for (size_t i = 0; i < p->cols.n; i++) {
    const char *name = p->model->features[i].name;
    place.index = (int64_t)i;
    if (*name && strcmp(name, p->cols.names[i]))
      return em_fail_at(err, &place, "found \"%s\", but the model calls this feature \"%s\"", p->cols.names[i], name);
    if (em_columns_index(&p->cols, p->cols.names[i]) != place.index)
      return em_fail_at(err, &place, "the column \"%s\" is there twice", p->cols.names[i]);
  }
  return EM_OK;
}

static int set_digest(em_prior *p, em_err *err)
{
  em_str text = {0};
  em_prior_print(p, &text);
  if (em_str_finish(&text, err)) return err->code;
  em_digest_hex(em_digest_bytes(text.s, text.len), p->digest);
  em_str_free(&text);
  return EM_OK;
}

static int fill_new(em_prior *p, const em_columns *cols, const cJSON *provenance, em_err *err)
{
  const em_place at = {.file = "the new prior"};
  if (!isfinite(p->scale) || p->scale <= 0) return em_fail_at(err, &at, "scale %g is not a positive number", p->scale);
  if (em_columns_copy(cols, &p->cols, err) || check_columns(p, &at, err)) return err->code;
  if (provenance) {
    p->provenance = cJSON_Duplicate(provenance, 1);
    if (!p->provenance) return em_fail_nomem(err);
  }
  return set_digest(p, err);
}

int em_prior_new(em_model *model, const em_columns *cols, int feat_ver, double scale, const cJSON *provenance,
                 em_prior **out, em_err *err)
{
  em_prior *p = em_calloc(1, sizeof *p);
  if (!p) {
    em_model_free(model);
    return em_fail_nomem(err);
  }
  *p = (em_prior){.model = model, .feat_ver = feat_ver, .scale = scale};
  if (fill_new(p, cols, provenance, err)) {
    em_prior_free(p);
    return err->code;
  }
  *out = p;
  return EM_OK;
}

/* ---- reading -------------------------------------------------------------------------- */

static int read_columns(em_prior *p, const cJSON *json, const em_place *up, em_err *err)
{
  const cJSON *list;
  if (em_json_need_array(json, "cols", up, &list, err)) return err->code;
  const em_place here = {.up = up, .key = "cols"};
  em_place place = {.up = &here};
  p->cols.names = em_calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *p->cols.names);
  if (!p->cols.names) return em_fail_nomem(err);
  for (const cJSON *it = list->child; it; it = it->next, place.index++) {
    if (!cJSON_IsString(it) || !*it->valuestring) return em_fail_at(err, &place, "not a column name");
    p->cols.names[p->cols.n] = em_strdup(it->valuestring);
    if (!p->cols.names[p->cols.n]) return em_fail_nomem(err);
    p->cols.n++;
  }
  return EM_OK;
}

static int read_version(em_prior *p, const cJSON *json, int want, const em_place *at, em_err *err)
{
  int64_t found;
  if (em_json_need_i64(json, "feat_ver", at, INT32_MIN, INT32_MAX, &found, err)) return err->code;
  p->feat_ver = (int)found;
  if (found == want) return EM_OK;
  return em_fail_at(err, at, "feat_ver is %lld, expected %d: the prior was fitted on another feature vocabulary",
                    (long long)found, want);
}

static int check_word(const char *key, const char *found, const char *want, const em_place *at, em_err *err)
{
  if (!strcmp(found, want)) return EM_OK;
  return em_fail_at(err, at, "%s is \"%s\", expected \"%s\"", key, found, want);
}

static int read_head(em_prior *p, const cJSON *json, int feat_ver, const em_place *at, em_err *err)
{
  static const char *const known[] = {"feat_ver", "space", "kind", "cols", "params", "provenance", "model", NULL};
  const char *space, *kind = KIND; /* priors of the public project have no kind: theirs is this one */
  if (cJSON_IsObject(json) && cJSON_GetObjectItemCaseSensitive(json, "features_info"))
    return em_fail_at(
      err, at, "this is a CatBoost model alone, expected a prior that carries it as \"model\" beside its columns");
  if (em_json_only_keys(json, known, at, err) || read_version(p, json, feat_ver, at, err) ||
      em_json_need_string(json, "space", at, &space, err) || em_json_opt_string(json, "kind", at, &kind, err) ||
      check_word("space", space, SPACE, at, err) || check_word("kind", kind, KIND, at, err))
    return err->code;
  return EM_OK;
}

static int read_scale(em_prior *p, const cJSON *json, const em_place *at, em_err *err)
{
  const cJSON *params;
  if (em_json_need_object(json, "params", at, &params, err)) return err->code;
  const em_place here = {.up = at, .key = "params"};
  if (em_json_need_f64(params, "scale", &here, &p->scale, err)) return err->code;
  return p->scale > 0 ? EM_OK : em_fail_at(err, &here, "scale is %g, expected a positive number", p->scale);
}

static int read_provenance(em_prior *p, const cJSON *json, const em_place *at, em_err *err)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "provenance");
  if (!item || cJSON_IsNull(item)) return EM_OK;
  if (!cJSON_IsObject(item)) return em_fail_at(err, at, "provenance is not an object");
  p->provenance = cJSON_Duplicate(item, 1);
  return p->provenance ? EM_OK : em_fail_nomem(err);
}

static int read_prior(em_prior *p, const cJSON *json, int feat_ver, const em_place *at, em_err *err)
{
  const cJSON *model;
  if (read_head(p, json, feat_ver, at, err) || read_columns(p, json, at, err) || read_scale(p, json, at, err) ||
      read_provenance(p, json, at, err) || em_json_need_object(json, "model", at, &model, err))
    return err->code;
  const em_place here = {.up = at, .key = "model"};
  if (em_model_parse(model, &here, &p->model, err)) return err->code;
  return check_columns(p, at, err);
}

static int read_text(em_prior *p, const char *path, const char *text, size_t len, int feat_ver, em_err *err)
{
  cJSON *json;
  if (len >= 4 && !memcmp(text, "CBM1", 4))
    return em_fail(err, EM_E_INPUT, "%s: this is CatBoost's binary format (CBM1), expected a prior in JSON", path);
  if (em_json_parse(text, len, path, &json, err)) return err->code;
  const em_place at = {.file = path};
  int rc = read_prior(p, json, feat_ver, &at, err);
  em_json_free(json);
  em_digest_hex(em_digest_bytes(text, len), p->digest);
  return rc;
}

static int read_file(em_prior *p, const char *path, int feat_ver, em_err *err)
{
  char *text;
  size_t len;
  if (!em_path_exists(path)) return em_fail_errno(err, EM_E_INPUT, ENOENT, "%s: no prior there", path);
  if (em_file_read(path, &text, &len, err)) return err->code;
  int rc = read_text(p, path, len ? text : "", len, feat_ver, err);
  em_free(text);
  return rc;
}

/* What is wrong with a prior is mended by fitting one, whatever it is. */
static int add_mend(em_err *err)
{
  size_t len = strlen(err->msg), room = sizeof err->msg - sizeof MEND;
  if (err->code != EM_E_NOMEM) memcpy(err->msg + (len < room ? len : room), MEND, sizeof MEND);
  return err->code;
}

int em_prior_load(const char *path, int feat_ver, em_prior **out, em_err *err)
{
  em_prior *p = em_calloc(1, sizeof *p);
  if (!p) return em_fail_nomem(err);
  if (read_file(p, path, feat_ver, err)) {
    em_prior_free(p);
    return add_mend(err);
  }
  *out = p;
  return EM_OK;
}

/* ---- scoring ---------------------------------------------------------------------------- */

void em_prior_map(const em_prior *p, const em_columns *cols, int32_t *col)
{
  for (size_t i = 0; i < p->cols.n; i++) col[i] = (int32_t)em_columns_index(cols, p->cols.names[i]);
}

int em_prior_score(const em_prior *p, const em_columns *cols, const double *matrix, size_t rows, int threads,
                   double *quality, em_err *err)
{
  int32_t *col = em_calloc(p->cols.n, sizeof *col);
  if (!col) return em_fail_nomem(err);
  em_prior_map(p, cols, col);
  int rc = em_model_score(p->model, matrix, rows, cols->n, col, threads, quality, err);
  em_free(col);
  return rc;
}

double em_prior_price(const em_prior *p, double quality)
{
  double x = -p->scale * quality;
  return exp(x > 700 ? 700 : x < -700 ? -700 : x);
}
