/*
 * booster.c - trees, one after the other.
 */
#include <string.h>

#include "core/fit/fit_int.h"

enum { ROW_CHUNK = 8192, GROUP_CHUNK = 16 };

/* What one training works on. */
typedef struct boost {
  const em_fit_set *set;
  const em_fit_bins *bins;
  const em_fit_params *params;
  em_fit_search search;
  em_fit_cells cells;
  em_fit_leaves leaves;
  em_fit_pairs pairs;   /* of the objectives on pairs */
  double *score, *mass; /* of each row */
  double *sum;          /* of each row: scores of the bags that are done */
  uint16_t *leaf;       /* of each row, in the newest tree */
  double *weight;       /* of each group, in the newest tree's structure; 0 = not in the bag */
  size_t *bag;          /* of each group: where its rows stand in the bag */
} boost;

static int boost_open(boost *b, const em_fit_set *s, const em_fit_bins *bins, const em_fit_params *p, em_err *err)
{
  size_t leaves = (size_t)1 << p->depth;
  *b = (boost){.set = s, .bins = bins, .params = p};
  b->score = em_calloc(s->n_rows, sizeof *b->score);
  b->mass = em_calloc(s->n_rows, sizeof *b->mass);
  b->sum = em_calloc(s->n_rows, sizeof *b->sum);
  b->leaf = em_calloc(s->n_rows, sizeof *b->leaf);
  b->weight = em_calloc(s->n_groups, sizeof *b->weight);
  b->bag = em_calloc(s->n_groups, sizeof *b->bag);
  if (!b->score || !b->mass || !b->sum || !b->leaf || !b->weight || !b->bag) return em_fail_nomem(err);
  int rc = em_fit_search_open(&b->search, s, bins, p, err);
  if (rc == EM_OK && p->objective != EM_OBJECTIVE_SOFTMAX) rc = em_fit_pairs_open(&b->pairs, s, p, err);
  if (rc == EM_OK) rc = em_fit_cells_open(&b->cells, s, leaves, err);
  if (rc == EM_OK) rc = em_fit_leaves_open(&b->leaves, leaves, err);
  return rc;
}

static void boost_close(boost *b)
{
  em_free(b->score);
  em_free(b->mass);
  em_free(b->sum);
  em_free(b->leaf);
  em_free(b->weight);
  em_free(b->bag);
  em_fit_search_close(&b->search);
  em_fit_pairs_close(&b->pairs);
  em_fit_cells_close(&b->cells);
  em_fit_leaves_close(&b->leaves);
}

/* ---- the bag ---------------------------------------------------------------------- */

static double draw_weight(const em_fit_params *p, size_t tree, uint64_t id)
{
  double u = em_rng_f64((uint64_t)p->seed, em_fit_stream(EM_FIT_DRAW_BAG, tree, 0), id);
  if (p->bootstrap == EM_BOOTSTRAP_NONE) return 1;
  if (p->bootstrap == EM_BOOTSTRAP_BERNOULLI) return u < p->subsample ? 1 : 0;
  /* (-ln u)^t; 1 - u is never 0 */
  double e = -em_fit_log(1.0 - u);
  double w = e > 1e-300 ? em_fit_exp(p->bagging_temperature * em_fit_log(e)) : p->bagging_temperature == 0;
  return w < EM_FIT_MAX_WEIGHT ? w : EM_FIT_MAX_WEIGHT;
}

/* Weights of the groups for one tree; a bag that came out empty takes all. */
static void draw_bag(boost *b, size_t tree)
{
  const em_fit_set *s = b->set;
  size_t n = 0;
  for (size_t g = 0; g < s->n_groups; g++) {
    b->weight[g] = draw_weight(b->params, tree, s->shape_ids[g]);
    b->bag[g] = n;
    if (b->weight[g] > 0) n += s->start[g + 1] - s->start[g];
  }
  b->search.rows.n = n;
  if (n > 0) return;
  for (size_t g = 0; g < s->n_groups; g++) {
    b->weight[g] = 1;
    b->bag[g] = s->start[g];
  }
  b->search.rows.n = s->n_rows;
}

/* Gradient of minus the loss and weight of a row, times w. */
static em_fit_gw derivatives(const boost *b, size_t row, double total, double w)
{
  bool curvature = b->params->split_weight == EM_SPLIT_CURVATURE;
  if (b->params->objective == EM_OBJECTIVE_SOFTMAX) {
    double p = b->mass[row];
    return (em_fit_gw){em_fit_fixed((b->set->target[row] - total * p) * w, EM_FIT_ONE_GRAD),
                       em_fit_fixed((curvature ? total * p * (1.0 - p) : 1.0) * w, EM_FIT_ONE_GRAD)};
  }
  const em_fit_slope *s = &b->pairs.slope[row];
  return (em_fit_gw){em_fit_fixed((double)s->grad, w), em_fit_fixed((double)(curvature ? s->curv : s->weight), w)};
}

static void fill_bag(void *ctx, size_t begin, size_t end)
{
  boost *b = ctx;
  const em_fit_set *s = b->set;
  for (size_t g = begin; g < end; g++) {
    double w = b->weight[g], total = s->total[g];
    size_t at = b->bag[g];
    for (size_t i = s->start[g]; w > 0 && i < s->start[g + 1]; i++, at++) {
      b->search.rows.id[at] = (uint32_t)i;
      b->search.rows.gw[at] = derivatives(b, i, total, w);
    }
  }
}

/* ---- one tree ------------------------------------------------------------------------ */

typedef struct routing {
  boost *b;
  size_t n;
  const em_fit_feature *feature[16];
  bool right[16][EM_FIT_CODES];
} routing;

static void route_rows(void *ctx, size_t begin, size_t end)
{
  const routing *w = ctx;
  boost *b = w->b;
  memset(b->leaf + begin, 0, (end - begin) * sizeof *b->leaf);
  for (size_t k = 0; k < w->n; k++)
    for (size_t i = begin; i < end; i++)
      b->leaf[i] |= (uint16_t)(w->right[k][*em_fit_code(b->bins, w->feature[k], b->set, i)] << k);
}

/* The leaf of every row, in the bag or not. */
static void route(boost *b, const em_fit_choice *splits, size_t n)
{
  routing w = {.b = b, .n = n};
  for (size_t k = 0; k < n; k++) {
    w.feature[k] = &b->bins->features[splits[k].feature];
    em_fit_sides(w.feature[k], splits[k].border, w.right[k]);
  }
  em_parallel_for(b->set->n_rows, ROW_CHUNK, (int)b->params->threads, route_rows, &w);
}

static void add_values(void *ctx, size_t begin, size_t end)
{
  boost *b = ctx;
  for (size_t i = begin; i < end; i++) b->score[i] += b->leaves.value[b->leaf[i]];
}

/* Values of the leaves; YetiRank takes other pairs for them than for the splits. */
static void value_leaves(boost *b, size_t tree)
{
  const em_fit_params *p = b->params;
  if (p->objective == EM_OBJECTIVE_SOFTMAX) {
    em_fit_softmax_leaves(b->set, b->mass, b->leaf, p, &b->cells, &b->leaves);
    return;
  }
  if (p->objective == EM_OBJECTIVE_YETI) {
    em_fit_pairs_draw(&b->pairs, b->set, p, b->score, 2 * tree + 1);
    em_fit_pairs_derive(&b->pairs, b->set, b->score, (int)p->threads);
  }
  em_fit_pairs_leaves(&b->pairs, b->set, b->leaf, p, &b->leaves);
}

static void grow(boost *b, size_t tree, em_fit_forest *out)
{
  int threads = (int)b->params->threads;
  em_fit_choice *splits = out->splits + tree * out->depth;
  size_t first = tree << out->depth;
  draw_bag(b, tree);
  em_parallel_for(b->set->n_groups, GROUP_CHUNK, threads, fill_bag, b);
  size_t n = em_fit_search_tree(&b->search, tree, splits);
  route(b, splits, n);
  b->leaves.n = (size_t)1 << n;
  value_leaves(b, tree);
  for (size_t i = 0; i < b->leaves.n; i++) b->leaves.value[i] *= b->params->learning_rate;
  em_parallel_for(b->set->n_rows, ROW_CHUNK, threads, add_values, b);
  out->n_splits[tree] = (uint8_t)n;
  memcpy(out->values + first, b->leaves.value, b->leaves.n * sizeof *out->values);
  memcpy(out->weights + first, b->leaves.weight, b->leaves.n * sizeof *out->weights);
}

/* ---- all trees --------------------------------------------------------------------------- */

static int forest_open(em_fit_forest *f, const em_fit_params *p, em_err *err)
{
  size_t n = (size_t)p->iterations * (size_t)p->bags, leaves = (size_t)1 << p->depth;
  *f = (em_fit_forest){.n_trees = n, .depth = (size_t)p->depth};
  em_fit_objective_name(p, f->objective);
  f->splits = em_calloc(n * f->depth, sizeof *f->splits);
  f->n_splits = em_calloc(n, sizeof *f->n_splits);
  f->values = em_calloc(n * leaves, sizeof *f->values);
  f->weights = em_calloc(n * leaves, sizeof *f->weights);
  f->loss = em_calloc(n + 1, sizeof *f->loss);
  return f->splits && f->n_splits && f->values && f->weights && f->loss ? EM_OK : em_fail_nomem(err);
}

void em_fit_forest_free(em_fit_forest *f)
{
  em_free(f->splits);
  em_free(f->n_splits);
  em_free(f->values);
  em_free(f->weights);
  em_free(f->loss);
  *f = (em_fit_forest){0};
}

/* Loss of a pool before tree `next`, and what that tree is grown from. */
static double mean_loss(boost *b, size_t next)
{
  const em_fit_params *p = b->params;
  if (p->objective == EM_OBJECTIVE_YETI) em_fit_pairs_draw(&b->pairs, b->set, p, b->score, 2 * next);
  double loss = p->objective == EM_OBJECTIVE_SOFTMAX
                  ? em_fit_softmax(b->set, b->score, b->mass, (int)p->threads)
                  : em_fit_pairs_derive(&b->pairs, b->set, b->score, (int)p->threads);
  return loss / (double)b->set->n_groups;
}

/* Starts from nothing; its trees are numbered on, which gives them draws of their own. */
static int grow_bag(boost *b, size_t first, em_fit_steps *steps, em_fit_forest *out, em_err *err)
{
  int rc = EM_OK;
  memset(b->score, 0, b->set->n_rows * sizeof *b->score);
  double before = mean_loss(b, first);
  if (first == 0) out->loss[0] = before;
  for (size_t t = first; t < first + (size_t)b->params->iterations && rc == EM_OK; t++) {
    grow(b, t, out);
    out->loss[t + 1] = mean_loss(b, t + 1);
    rc = em_fit_step(steps, 1, err);
  }
  for (size_t i = 0; i < b->set->n_rows; i++) b->sum[i] += b->score[i];
  return rc;
}

/* The mean of the bags. */
static void average(boost *b, em_fit_forest *out)
{
  double bags = (double)b->params->bags;
  size_t n = out->n_trees << out->depth;
  for (size_t i = 0; i < n; i++) out->values[i] /= bags;
  for (size_t i = 0; i < b->set->n_rows; i++) b->score[i] = b->sum[i] / bags;
  out->loss_last = mean_loss(b, out->n_trees);
}

int em_fit_boost(const em_fit_set *s, const em_fit_bins *bins, const em_fit_params *p, em_fit_steps *steps,
                 em_fit_forest *out, em_err *err)
{
  boost b;
  int rc = forest_open(out, p, err);
  int opened = boost_open(&b, s, bins, p, err);
  if (rc == EM_OK) rc = opened;
  for (size_t t = 0; t < out->n_trees && rc == EM_OK; t += (size_t)p->iterations) rc = grow_bag(&b, t, steps, out, err);
  if (rc == EM_OK) average(&b, out);
  boost_close(&b);
  if (rc != EM_OK) em_fit_forest_free(out);
  return rc;
}

/* ---- the model ------------------------------------------------------------------------------ */

static void fill_tree(const em_fit_forest *f, const em_fit_bins *b, size_t t, em_split *splits, em_tree_view *out)
{
  for (size_t k = 0; k < f->n_splits[t]; k++) {
    const em_fit_choice *c = &f->splits[t * f->depth + k];
    const em_fit_feature *x = &b->features[c->feature];
    splits[k] = (em_split){x->column, x->borders[c->border]};
  }
  *out = (em_tree_view){splits, f->n_splits[t], f->values + (t << f->depth), f->weights + (t << f->depth)};
}

static int model_of(const em_fit_forest *f, const em_fit_bins *b, const em_columns *cols, em_split *splits,
                    em_tree_view *trees, em_model **out, em_err *err)
{
  if (!splits || !trees) return em_fail_nomem(err);
  for (size_t t = 0; t < f->n_trees; t++) fill_tree(f, b, t, splits + t * f->depth, &trees[t]);
  em_model_build spec = {
    .n_features = cols->n,
    .feature_names = (const char *const *)cols->names,
    .has_nans = b->has_nans,
    .n_trees = f->n_trees,
    .trees = trees,
    .scale = 1,
    .bias = 0,
    .loss = f->objective,
  };
  return em_model_new(&spec, out, err);
}

int em_fit_forest_model(const em_fit_forest *f, const em_fit_bins *b, const em_columns *cols, em_model **out,
                        em_err *err)
{
  em_split *splits = em_calloc(f->n_trees * f->depth, sizeof *splits);
  em_tree_view *trees = em_calloc(f->n_trees, sizeof *trees);
  int rc = model_of(f, b, cols, splits, trees, out, err);
  em_free(splits);
  em_free(trees);
  return rc;
}
