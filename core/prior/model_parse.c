/*
 * model_parse.c - reads CatBoost's JSON model: features, borders, scale, bias.
 *
 * Stricter than CatBoost's own loader: what that takes on trust (ascending borders,
 * a split index in range, array lengths) is checked, since a model that breaks
 * it is scored with garbage there.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/prior/model_int.h"

const char *const em_nan_treatment_name[EM_N_NAN_TREATMENTS] = {"AsIs", "AsFalse", "AsTrue"};

/* CatBoost reads borders that were written as strings too. */
static int border_value(const cJSON *item, const em_place *at, float *out, em_err *err)
{
  double x;
  if (cJSON_IsString(item)) {
    if (!em_parse_f64(item->valuestring, &x))
      return em_fail_at(err, at, "border \"%s\" is not a finite number", item->valuestring);
  } else if (em_json_f64(item, at, &x, err)) {
    return err->code;
  }
  if (isinf((float)x)) return em_fail_at(err, at, "border %g does not fit a 32-bit float", x);
  *out = (float)x;
  return EM_OK;
}

static int add_border(em_model *m, size_t feature, float border, const em_place *at, em_err *err)
{
  em_model_feature *f = &m->features[feature];
  if (f->n_borders && !(border > m->borders[m->n_borders - 1]))
    return em_fail_at(err, at,
                      "border %.9g is not above the one before it (%.9g): borders must ascend as 32-bit floats",
                      (double)border, (double)m->borders[m->n_borders - 1]);
  m->borders[m->n_borders] = border;
  m->border_feature[m->n_borders++] = (uint32_t)feature;
  f->n_borders++;
  return EM_OK;
}

/* `borders`: a list, or null / absent where no split uses the feature. */
static int read_borders(em_model *m, size_t feature, const cJSON *json, const em_place *at, em_err *err)
{
  m->features[feature].border_at = m->n_borders;
  if (!json || cJSON_IsNull(json)) return EM_OK;
  const em_place here = {.up = at, .key = "borders"};
  if (!cJSON_IsArray(json))
    return em_fail_at(err, &here, "found something that is not a list; expected the borders of the feature");
  em_place place = {.up = &here};
  for (const cJSON *it = json->child; it; it = it->next, place.index++) {
    float b = 0;
    if (border_value(it, &place, &b, err) || add_border(m, feature, b, &place, err)) return err->code;
  }
  return EM_OK;
}

static int read_nan_treatment(em_model_feature *f, const cJSON *json, const em_place *at, em_err *err)
{
  const char *text = em_nan_treatment_name[EM_NAN_AS_IS]; /* files of 2018 have no such member */
  if (em_json_opt_string(json, "nan_value_treatment", at, &text, err)) return err->code;
  for (int i = 0; i < EM_N_NAN_TREATMENTS; i++)
    if (!strcmp(text, em_nan_treatment_name[i])) {
      f->nan = (em_nan_treatment)i;
      return EM_OK;
    }
  return em_fail_at(err, at, "nan_value_treatment is \"%s\"; expected AsIs, AsFalse or AsTrue", text);
}

static int read_feature_name(em_model_feature *f, const cJSON *json, const em_place *at, em_err *err)
{
  const char *name = "", *id = "";
  if (em_json_opt_string(json, "feature_name", at, &name, err) || em_json_opt_string(json, "feature_id", at, &id, err))
    return err->code;
  f->name = em_strdup(*id ? id : name);
  return f->name ? EM_OK : em_fail_nomem(err);
}

static int read_feature(em_model *m, size_t i, const cJSON *json, const em_place *at, em_err *err)
{
  em_model_feature *f = &m->features[i];
  if (!cJSON_IsObject(json)) return em_fail_at(err, at, "not an object; expected a float feature");
  int64_t index = (int64_t)i, flat = (int64_t)i;
  if (em_json_opt_i64(json, "feature_index", at, 0, INT32_MAX, &index, err) ||
      em_json_opt_i64(json, "flat_feature_index", at, 0, INT32_MAX, &flat, err))
    return err->code;
  if (index != (int64_t)i)
    return em_fail_at(err, at, "feature_index is %lld; expected %zu, its position in float_features", (long long)index,
                      i);
  if (flat != index)
    return em_fail_at(
      err, at,
      "flat_feature_index is %lld but feature_index is %lld: the model was trained with columns that are "
      "not numbers; train it on numeric columns alone",
      (long long)flat, (long long)index);
  if (em_json_opt_bool(json, "has_nans", at, &f->has_nans, err) || read_nan_treatment(f, json, at, err) ||
      read_feature_name(f, json, at, err))
    return err->code;
  return read_borders(m, i, cJSON_GetObjectItemCaseSensitive(json, "borders"), at, err);
}

static size_t count_borders(const cJSON *features)
{
  size_t n = 0;
  for (const cJSON *it = features->child; it; it = it->next) {
    const cJSON *borders = cJSON_GetObjectItemCaseSensitive(it, "borders");
    if (cJSON_IsArray(borders)) n += (size_t)cJSON_GetArraySize(borders);
  }
  return n;
}

static int read_features(em_model *m, const cJSON *info, const em_place *at, em_err *err)
{
  const cJSON *list;
  if (em_json_need_array(info, "float_features", at, &list, err)) return err->code;
  const em_place here = {.up = at, .key = "float_features"};
  m->n_features = (size_t)cJSON_GetArraySize(list);
  if (!m->n_features) return em_fail_at(err, &here, "the model has no numeric feature");
  m->features = em_calloc(m->n_features, sizeof *m->features);
  if (!m->features) return em_fail_nomem(err);
  if (em_model_alloc_borders(m, count_borders(list), err)) return err->code;
  em_place place = {.up = &here};
  for (const cJSON *it = list->child; it; it = it->next, place.index++)
    if (read_feature(m, (size_t)place.index, it, &place, err)) return err->code;
  return EM_OK;
}

/* ---- what is refused by name ------------------------------------------------- */

static const struct {
  const char *key, *what;
} foreign[] = {
  {"categorical_features", "categorical features"},
  {"ctrs", "categorical features (CTR tables)"},
  {"text_features", "text features"},
  {"embedding_features", "embedding features"},
  {"estimated_features", "features estimated from text or embeddings"},
};

static const char *foreign_name(const cJSON *list)
{
  const cJSON *first = list->child;
  const cJSON *id = cJSON_GetObjectItemCaseSensitive(first, "feature_id");
  if (!cJSON_IsString(id) || !*id->valuestring) id = cJSON_GetObjectItemCaseSensitive(first, "feature_name");
  return cJSON_IsString(id) ? id->valuestring : "";
}

static int refuse_foreign(const cJSON *model, const cJSON *info, const em_place *at, em_err *err)
{
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(info, foreign[i].key);
    if (!list || !list->child) continue;
    const char *name = foreign_name(list);
    return em_fail_at(err, at,
                      "the model has %s (%d of them%s%s); only numeric features are supported: train it without them",
                      foreign[i].what, cJSON_GetArraySize(list), *name ? ", the first is " : "", name);
  }
  const cJSON *ctr = cJSON_GetObjectItemCaseSensitive(model, "ctr_data");
  if (ctr && ctr->child)
    return em_fail_at(err, at,
                      "the model has ctr_data, that is categorical features; only numeric features are supported");
  return EM_OK;
}

/* ---- scale and bias ------------------------------------------------------------ */

/* [scale, [bias]]; older files [scale, bias]. */
static int read_scale_and_bias(em_model *m, const cJSON *json, const em_place *up, em_err *err)
{
  m->scale = 1;
  if (!json) return EM_OK;
  const em_place here = {.up = up, .key = "scale_and_bias"};
  if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != 2) return em_fail_at(err, &here, "expected [scale, [bias]]");
  em_place place = {.up = &here};
  if (em_json_f64(json->child, &place, &m->scale, err)) return err->code;
  place.index = 1;
  const cJSON *bias = json->child->next;
  if (cJSON_IsArray(bias)) {
    int n = cJSON_GetArraySize(bias);
    if (n > 1)
      return em_fail_at(err, &place, "%d biases: a model of %d dimensions is not supported, only one value a row", n,
                        n);
    if (n == 0) return EM_OK;
    bias = bias->child;
  }
  return em_json_f64(bias, &place, &m->bias, err);
}

/* ---- the whole ------------------------------------------------------------------- */

static int read_info(em_model *m, const cJSON *json, const em_place *at, em_err *err)
{
  const cJSON *info = cJSON_GetObjectItemCaseSensitive(json, "model_info");
  if (!info || cJSON_IsNull(info)) return EM_OK;
  if (!cJSON_IsObject(info)) return em_fail_at(err, at, "model_info is not an object");
  m->info = cJSON_Duplicate(info, 1);
  return m->info ? EM_OK : em_fail_nomem(err);
}

static int read_model(em_model *m, const cJSON *json, const em_place *at, em_err *err)
{
  if (!cJSON_IsObject(json)) return em_fail_at(err, at, "not an object; expected a CatBoost model");
  const cJSON *info;
  if (em_json_need_object(json, "features_info", at, &info, err)) return err->code;
  const em_place place = {.up = at, .key = "features_info"};
  if (refuse_foreign(json, info, &place, err) || read_features(m, info, &place, err)) return err->code;
  if (read_scale_and_bias(m, cJSON_GetObjectItemCaseSensitive(json, "scale_and_bias"), at, err) ||
      read_info(m, json, at, err))
    return err->code;
  /* As CatBoost does: oblivious_trees decides if it is there. */
  m->symmetric = cJSON_GetObjectItemCaseSensitive(json, "oblivious_trees") ||
                 !cJSON_GetObjectItemCaseSensitive(json, "trees");
  const char *key = m->symmetric ? "oblivious_trees" : "trees";
  const cJSON *trees;
  if (em_json_need_array(json, key, at, &trees, err)) return err->code;
  const em_place here = {.up = at, .key = key};
  if (!trees->child) return em_fail_at(err, &here, "the model has no trees");
  return m->symmetric ? em_model_read_oblivious(m, trees, &here, err) : em_model_read_trees(m, trees, &here, err);
}

int em_model_parse(const cJSON *json, const em_place *at, em_model **out, em_err *err)
{
  em_model *m = em_calloc(1, sizeof *m);
  if (!m) return em_fail_nomem(err);
  if (read_model(m, json, at, err) || em_plan_build(m, err)) {
    em_model_free(m);
    return err->code;
  }
  *out = m;
  return EM_OK;
}
