/*
 * model_new.c - builds, frees and looks into a model.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/prior/model_int.h"

/* ---- arrays ----------------------------------------------------------------------- */

/* One element where n is 0, so that NULL means out of memory. */
static void *array(size_t n, size_t size) { return em_calloc(n ? n : 1, size); }

int em_model_alloc_borders(em_model *m, size_t n, em_err *err)
{
  m->borders = array(n, sizeof *m->borders);
  m->border_feature = array(n, sizeof *m->border_feature);
  return m->borders && m->border_feature ? EM_OK : em_fail_nomem(err);
}

int em_model_alloc_trees(em_model *m, size_t n_trees, size_t n_splits, size_t n_leaves, em_err *err)
{
  m->trees = array(n_trees, sizeof *m->trees);
  m->splits = array(n_splits, sizeof *m->splits);
  m->split_border = array(n_splits, sizeof *m->split_border);
  m->leaf_values = array(n_leaves, sizeof *m->leaf_values);
  m->leaf_weights = array(n_leaves, sizeof *m->leaf_weights);
  bool ok = m->trees && m->splits && m->split_border && m->leaf_values && m->leaf_weights;
  return ok ? EM_OK : em_fail_nomem(err);
}

em_oblivious *em_model_add_tree(em_model *m, size_t n_splits)
{
  em_oblivious *t = &m->trees[m->n_trees++];
  *t = (em_oblivious){.split_at = m->n_splits, .n_splits = n_splits, .leaf_at = m->n_leaves};
  m->n_splits += n_splits;
  m->n_leaves += (size_t)1 << n_splits;
  return t;
}

void em_model_set_split(em_model *m, size_t split, size_t border)
{
  m->split_border[split] = (uint32_t)border;
  m->splits[split] = (em_split){m->border_feature[border], m->borders[border]};
}

void em_model_free(em_model *m)
{
  if (!m) return;
  for (size_t i = 0; m->features && i < m->n_features; i++) em_free(m->features[i].name);
  em_free(m->features);
  em_free(m->borders);
  em_free(m->border_feature);
  em_free(m->trees);
  em_free(m->splits);
  em_free(m->split_border);
  em_free(m->leaf_values);
  em_free(m->leaf_weights);
  em_free(m->roots);
  em_free(m->nodes);
  em_json_free(m->info);
  em_plan_free(&m->plan);
  em_free(m);
}

/* ---- what a model says of itself ------------------------------------------------------ */

size_t em_model_n_features(const em_model *m) { return m->n_features; }
size_t em_model_n_trees(const em_model *m) { return m->n_trees; }
double em_model_scale(const em_model *m) { return m->scale; }

const float *em_model_borders(const em_model *m, size_t feature, size_t *n)
{
  *n = m->features[feature].n_borders;
  return m->borders + m->features[feature].border_at;
}

void em_model_count_splits(const em_model *m, size_t *splits)
{
  memset(splits, 0, m->n_features * sizeof *splits);
  for (size_t i = 0; i < m->n_splits; i++) splits[m->splits[i].feature]++;
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].left) splits[m->border_feature[m->nodes[i].border]]++;
}

bool em_model_tree(const em_model *m, size_t tree, em_tree_view *out)
{
  if (!m->symmetric) return false;
  const em_oblivious *t = &m->trees[tree];
  *out = (em_tree_view){
    .splits = m->splits + t->split_at,
    .n_splits = t->n_splits,
    .leaf_values = m->leaf_values + t->leaf_at,
    .leaf_weights = t->weighted ? m->leaf_weights + t->leaf_at : NULL,
  };
  return true;
}

/* ---- a model of the booster's --------------------------------------------------------- */

static int check_tree(const em_model_build *spec, size_t tree, em_err *err)
{
  const em_tree_view *t = &spec->trees[tree];
  if (t->n_splits > EM_MODEL_MAX_DEPTH)
    return em_fail(err, EM_E_INPUT, "tree %zu has %zu splits; at most %d are possible", tree, t->n_splits,
                   EM_MODEL_MAX_DEPTH);
  for (size_t i = 0; i < t->n_splits; i++) {
    if (t->splits[i].feature >= spec->n_features)
      return em_fail(err, EM_E_INPUT, "tree %zu splits on feature %u of %zu", tree, t->splits[i].feature,
                     spec->n_features);
    if (!isfinite(t->splits[i].border))
      return em_fail(err, EM_E_INPUT, "tree %zu has a border that is not finite", tree);
  }
  for (size_t i = 0; i < (size_t)1 << t->n_splits; i++)
    if (!isfinite(t->leaf_values[i]) || (t->leaf_weights && !isfinite(t->leaf_weights[i])))
      return em_fail(err, EM_E_INPUT, "leaf %zu of tree %zu is not finite", i, tree);
  return EM_OK;
}

static int check_spec(const em_model_build *spec, size_t *n_splits, size_t *n_leaves, em_err *err)
{
  if (!spec->n_features || !spec->n_trees) return em_fail(err, EM_E_INPUT, "a model needs a feature and a tree");
  if (!isfinite(spec->scale) || !isfinite(spec->bias)) return em_fail(err, EM_E_INPUT, "scale or bias is not finite");
  for (size_t i = 0; i < spec->n_trees; i++) {
    if (check_tree(spec, i, err)) return err->code;
    *n_splits += spec->trees[i].n_splits;
    *n_leaves += (size_t)1 << spec->trees[i].n_splits;
  }
  return EM_OK;
}

static int copy_features(em_model *m, const em_model_build *spec, em_err *err)
{
  m->features = em_calloc(spec->n_features, sizeof *m->features);
  if (!m->features) return em_fail_nomem(err);
  m->n_features = spec->n_features;
  for (size_t i = 0; i < spec->n_features; i++) {
    em_model_feature *f = &m->features[i];
    f->name = em_strdup(spec->feature_names[i]);
    if (!f->name) return em_fail_nomem(err);
    f->has_nans = spec->has_nans[i];
    f->nan = f->has_nans ? EM_NAN_AS_FALSE : EM_NAN_AS_IS;
  }
  return EM_OK;
}

static int split_order(const void *pa, const void *pb)
{
  const em_split *a = pa, *b = pb;
  if (a->feature != b->feature) return a->feature < b->feature ? -1 : 1;
  return (a->border > b->border) - (a->border < b->border);
}

static bool same_split(const em_split *a, const em_split *b) { return split_order(a, b) == 0; }

/* The distinct splits, sorted, are the borders. */
static int collect_borders(em_model *m, const em_model_build *spec, size_t n_splits, em_err *err)
{
  em_split *all = array(n_splits, sizeof *all);
  if (!all) return em_fail_nomem(err);
  size_t n = 0, kept = 0;
  for (size_t i = 0; i < spec->n_trees; i++)
    for (size_t j = 0; j < spec->trees[i].n_splits; j++) all[n++] = spec->trees[i].splits[j];
  for (size_t i = 0; i < n; i++) all[i].border += 0.0f; /* -0 and 0 are one border */
  qsort(all, n, sizeof *all, split_order);
  for (size_t i = 0; i < n; i++)
    if (!kept || !same_split(&all[kept - 1], &all[i])) all[kept++] = all[i];
  int rc = em_model_alloc_borders(m, kept, err);
  for (size_t i = 0; !rc && i < kept; i++) {
    m->borders[i] = all[i].border;
    m->border_feature[i] = all[i].feature;
    m->features[all[i].feature].n_borders++;
  }
  m->n_borders = rc ? 0 : kept;
  for (size_t i = 1; !rc && i < m->n_features; i++)
    m->features[i].border_at = m->features[i - 1].border_at + m->features[i - 1].n_borders;
  em_free(all);
  return rc;
}

static size_t border_index(const em_model *m, const em_split *s)
{
  size_t lo = m->features[s->feature].border_at, n = m->features[s->feature].n_borders;
  while (n > 1) {
    size_t half = n / 2;
    if (m->borders[lo + half] <= s->border) lo += half;
    n -= half;
  }
  return lo;
}

static int copy_trees(em_model *m, const em_model_build *spec, size_t n_splits, size_t n_leaves, em_err *err)
{
  m->symmetric = true;
  if (em_model_alloc_trees(m, spec->n_trees, n_splits, n_leaves, err)) return err->code;
  for (size_t i = 0; i < spec->n_trees; i++) {
    const em_tree_view *from = &spec->trees[i];
    em_oblivious *t = em_model_add_tree(m, from->n_splits);
    size_t bytes = sizeof(double) << t->n_splits;
    for (size_t j = 0; j < t->n_splits; j++) em_model_set_split(m, t->split_at + j, border_index(m, &from->splits[j]));
    memcpy(m->leaf_values + t->leaf_at, from->leaf_values, bytes);
    t->weighted = from->leaf_weights != NULL;
    if (t->weighted) memcpy(m->leaf_weights + t->leaf_at, from->leaf_weights, bytes);
  }
  return EM_OK;
}

/* What CatBoost's own tools look for: the loss, by which they pick a metric; flat_params is where its Python package reads
 * parameters, and it complains when there are none. */
static int make_info(em_model *m, const char *loss, em_err *err)
{
  em_str text = {0};
  em_str_put(&text, "{\"params\":{\"flat_params\":{\"loss_function\":");
  em_str_put_json(&text, loss);
  em_str_put(&text, "},\"loss_function\":{\"params\":{},\"type\":");
  em_str_put_json(&text, loss);
  em_str_put(&text, "},\"metrics\":{\"objective_metric\":{\"params\":{},\"type\":");
  em_str_put_json(&text, loss);
  em_str_put(&text, "}}}}");
  if (em_str_finish(&text, err)) return err->code;
  int rc = em_json_parse(text.s, text.len, "model_info", &m->info, err);
  em_str_free(&text);
  return rc;
}

int em_model_new(const em_model_build *spec, em_model **out, em_err *err)
{
  size_t n_splits = 0, n_leaves = 0;
  if (check_spec(spec, &n_splits, &n_leaves, err)) return err->code;
  em_model *m = em_calloc(1, sizeof *m);
  if (!m) return em_fail_nomem(err);
  m->scale = spec->scale;
  m->bias = spec->bias;
  if (copy_features(m, spec, err) || collect_borders(m, spec, n_splits, err) ||
      copy_trees(m, spec, n_splits, n_leaves, err) || make_info(m, spec->loss, err) || em_plan_build(m, err)) {
    em_model_free(m);
    return err->code;
  }
  *out = m;
  return EM_OK;
}
