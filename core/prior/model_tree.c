/*
 * model_tree.c - reads the trees of CatBoost's JSON: oblivious and other.
 */
#include <string.h>

#include "core/prior/model_int.h"

/* ---- one split ----------------------------------------------------------------- */

static bool has(const cJSON *obj, const char *key) { return cJSON_GetObjectItemCaseSensitive(obj, key) != NULL; }

static bool find_border(const em_model *m, size_t feature, float border, uint32_t *out)
{
  const em_model_feature *f = &m->features[feature];
  for (size_t i = 0; i < f->n_borders; i++)
    if (m->borders[f->border_at + i] == border) {
      *out = (uint32_t)(f->border_at + i);
      return true;
    }
  return false;
}

static int check_split_type(const cJSON *json, const em_place *at, em_err *err)
{
  const char *type = "FloatFeature";
  if (em_json_opt_string(json, "split_type", at, &type, err)) return err->code;
  if (!strcmp(type, "FloatFeature")) return EM_OK;
  return em_fail_at(err, at, "split_type is \"%s\", a split on a categorical feature; only FloatFeature is supported",
                    type);
}

/* What the file says besides split_index; -1 / false where it does not. */
typedef struct said {
  int64_t index, feature;
  bool has_border;
  float border;
} said;

static int read_said(const em_model *m, const cJSON *json, const em_place *at, said *s, em_err *err)
{
  *s = (said){.index = -1, .feature = -1};
  double border = 0;
  if (em_json_opt_i64(json, "split_index", at, INT32_MIN, INT32_MAX, &s->index, err) ||
      em_json_opt_i64(json, "float_feature_index", at, INT32_MIN, INT32_MAX, &s->feature, err) ||
      em_json_opt_f64(json, "border", at, &border, err))
    return err->code;
  s->has_border = has(json, "border");
  s->border = (float)border;
  if (has(json, "float_feature_index") && (s->feature < 0 || s->feature >= (int64_t)m->n_features))
    return em_fail_at(err, at, "float_feature_index is %lld; the model has %zu float features", (long long)s->feature,
                      m->n_features);
  if (has(json, "split_index") && (s->index < 0 || s->index >= (int64_t)m->n_borders))
    return em_fail_at(err, at, "split_index is %lld; the model has %zu borders", (long long)s->index, m->n_borders);
  return EM_OK;
}

/* split_index decides, as in CatBoost; border and feature must agree with it,
 * and stand in for it where it is missing. */
static int read_split(const em_model *m, const cJSON *json, const em_place *at, uint32_t *border, em_err *err)
{
  if (!cJSON_IsObject(json)) return em_fail_at(err, at, "not an object; expected a split");
  said s;
  if (check_split_type(json, at, err) || read_said(m, json, at, &s, err)) return err->code;
  if (s.index < 0) {
    if (s.feature < 0 || !s.has_border)
      return em_fail_at(err, at, "a split needs split_index, or border and float_feature_index");
    if (!find_border(m, (size_t)s.feature, s.border, border))
      return em_fail_at(err, at, "border %.9g is not among the borders of float feature %lld", (double)s.border,
                        (long long)s.feature);
    return EM_OK;
  }
  *border = (uint32_t)s.index;
  if ((s.feature >= 0 && m->border_feature[s.index] != s.feature) || (s.has_border && m->borders[s.index] != s.border))
    return em_fail_at(err, at,
                      "split_index %lld is border %.9g of float feature %u, but the split says border %.9g "
                      "of float feature "
                      "%lld: the file contradicts itself",
                      (long long)s.index, (double)m->borders[s.index], m->border_feature[s.index],
                      s.has_border ? (double)s.border : (double)m->borders[s.index],
                      s.feature >= 0 ? (long long)s.feature : (long long)m->border_feature[s.index]);
  return EM_OK;
}

/* ---- oblivious trees -------------------------------------------------------------- */

static int read_numbers(const cJSON *list, const em_place *at, double *out, em_err *err)
{
  em_place place = {.up = at};
  for (const cJSON *it = list->child; it; it = it->next, place.index++)
    if (em_json_f64(it, &place, &out[place.index], err)) return err->code;
  return EM_OK;
}

static int read_leaf_values(em_model *m, const cJSON *json, const em_oblivious *t, const em_place *up, em_err *err)
{
  const cJSON *list;
  if (em_json_need_array(json, "leaf_values", up, &list, err)) return err->code;
  const em_place here = {.up = up, .key = "leaf_values"};
  size_t n = (size_t)cJSON_GetArraySize(list), want = (size_t)1 << t->n_splits;
  if (n > want && n % want == 0)
    return em_fail_at(err, &here,
                      "%zu values, but %zu splits have %zu leaves: a model of %zu dimensions is not supported", n,
                      t->n_splits, want, n / want);
  if (n != want) return em_fail_at(err, &here, "%zu values, but %zu splits have %zu leaves", n, t->n_splits, want);
  return read_numbers(list, &here, m->leaf_values + t->leaf_at, err);
}

static int read_leaf_weights(em_model *m, const cJSON *json, em_oblivious *t, const em_place *up, em_err *err)
{
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "leaf_weights");
  if (!list || cJSON_IsNull(list)) return EM_OK;
  const em_place here = {.up = up, .key = "leaf_weights"};
  if (!cJSON_IsArray(list)) return em_fail_at(err, &here, "not a list");
  size_t n = (size_t)cJSON_GetArraySize(list), want = (size_t)1 << t->n_splits;
  if (n == 0) return EM_OK; /* a writer's way to say that it has none */
  if (n != want) return em_fail_at(err, &here, "%zu weights, but %zu splits have %zu leaves", n, t->n_splits, want);
  t->weighted = true;
  return read_numbers(list, &here, m->leaf_weights + t->leaf_at, err);
}

static int read_tree(em_model *m, const cJSON *json, const em_place *at, em_err *err)
{
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "splits");
  em_oblivious *t = em_model_add_tree(m, cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0);
  const em_place here = {.up = at, .key = "splits"};
  em_place place = {.up = &here};
  for (const cJSON *it = list ? list->child : NULL; it; it = it->next, place.index++) {
    uint32_t border = 0;
    if (read_split(m, it, &place, &border, err)) return err->code;
    em_model_set_split(m, t->split_at + (size_t)place.index, border);
  }
  if (read_leaf_values(m, json, t, at, err)) return err->code;
  return read_leaf_weights(m, json, t, at, err);
}

/* `splits`: a list; null or absent for a tree of depth 0. */
static int count_splits(const cJSON *tree, const em_place *up, size_t *n_splits, size_t *n_leaves, em_err *err)
{
  if (!cJSON_IsObject(tree)) return em_fail_at(err, up, "not an object; expected a tree");
  const em_place here = {.up = up, .key = "splits"};
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(tree, "splits");
  if (list && !cJSON_IsNull(list) && !cJSON_IsArray(list))
    return em_fail_at(err, &here, "not a list; expected the splits");
  size_t n = list ? (size_t)cJSON_GetArraySize(list) : 0;
  if (n > EM_MODEL_MAX_DEPTH) return em_fail_at(err, &here, "%zu splits; a tree has at most %d", n, EM_MODEL_MAX_DEPTH);
  *n_splits += n;
  *n_leaves += (size_t)1 << n;
  return EM_OK;
}

int em_model_read_oblivious(em_model *m, const cJSON *trees, const em_place *at, em_err *err)
{
  size_t n_splits = 0, n_leaves = 0;
  em_place place = {.up = at};
  for (const cJSON *it = trees->child; it; it = it->next, place.index++)
    if (count_splits(it, &place, &n_splits, &n_leaves, err)) return err->code;
  if (em_model_alloc_trees(m, (size_t)place.index, n_splits, n_leaves, err)) return err->code;
  place.index = 0;
  for (const cJSON *it = trees->child; it; it = it->next, place.index++)
    if (read_tree(m, it, &place, err)) return err->code;
  return EM_OK;
}

/* ---- non-symmetric trees ------------------------------------------------------------ */

static int new_node(em_model *m, size_t root, const em_place *at, uint32_t *out, em_err *err)
{
  if (m->n_nodes - root >= EM_MODEL_MAX_NODES)
    return em_fail_at(err, at, "the tree has more than %d nodes, the most that CatBoost loads", EM_MODEL_MAX_NODES);
  if (m->n_nodes >= UINT32_MAX) return em_fail_at(err, at, "the model has more than %u nodes", UINT32_MAX);
  if (em_grow(&m->nodes, &m->cap_nodes, m->n_nodes + 1, sizeof *m->nodes, err)) return err->code;
  *out = (uint32_t)m->n_nodes;
  m->nodes[m->n_nodes++] = (em_node){0};
  return EM_OK;
}

static int read_leaf(em_node *leaf, const cJSON *json, const cJSON *value, const em_place *at, em_err *err)
{
  const em_place here = {.up = at, .key = "value"};
  if (cJSON_IsArray(value)) {
    int n = cJSON_GetArraySize(value);
    if (n != 1)
      return em_fail_at(err, &here, "%d values: a model of %d dimensions is not supported, only one value a leaf", n,
                        n);
    value = value->child;
  }
  leaf->weighted = has(json, "weight");
  if (em_json_f64(value, &here, &leaf->value, err)) return err->code;
  return em_json_opt_f64(json, "weight", at, &leaf->weight, err);
}

/* Bounded by EM_JSON_DEPTH: each level is an object within an object. */
static int read_node(em_model *m, size_t root, const cJSON *json, const em_place *at, uint32_t *out, em_err *err)
{
  if (!cJSON_IsObject(json)) return em_fail_at(err, at, "not an object; expected a tree node");
  if (new_node(m, root, at, out, err)) return err->code;
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, "value");
  if (value) return read_leaf(&m->nodes[*out], json, value, at, err);
  const em_place split = {.up = at, .key = "split"}, left = {.up = at, .key = "left"},
                 right = {.up = at, .key = "right"};
  const cJSON *s, *l, *r;
  if (em_json_need_object(json, "split", at, &s, err) || em_json_need_object(json, "left", at, &l, err) ||
      em_json_need_object(json, "right", at, &r, err))
    return err->code;
  uint32_t border = 0, a = 0, b = 0;
  if (read_split(m, s, &split, &border, err) || read_node(m, root, l, &left, &a, err) ||
      read_node(m, root, r, &right, &b, err))
    return err->code;
  em_node *n = &m->nodes[*out]; /* only now: the array may have moved */
  n->border = border;
  n->left = a;
  n->right = b;
  return EM_OK;
}

int em_model_read_trees(em_model *m, const cJSON *trees, const em_place *at, em_err *err)
{
  m->n_trees = (size_t)cJSON_GetArraySize(trees);
  m->roots = em_calloc(m->n_trees, sizeof *m->roots);
  if (!m->roots) return em_fail_nomem(err);
  em_place place = {.up = at};
  for (const cJSON *it = trees->child; it; it = it->next, place.index++) {
    uint32_t root = 0;
    if (read_node(m, m->n_nodes, it, &place, &root, err)) return err->code;
    m->roots[place.index] = root;
    uint32_t leaf = 0; /* nodes stand in preorder, so leaves from the left */
    for (size_t i = root; i < m->n_nodes; i++)
      if (!m->nodes[i].left) m->nodes[i].border = leaf++;
  }
  return EM_OK;
}
