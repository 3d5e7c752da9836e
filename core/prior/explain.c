/*
 * explain.c - SHAP values of rows.
 *
 * In an oblivious tree they depend on the row's leaf alone: what a leaf's rows get is worked out once and kept, so a
 * row costs a few additions per tree.  In other trees they depend on every answer, so each row is walked.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/prior/explain_int.h"

#define BLOCK 4096 /* rows whose leaves are held at once */
#define CHUNK 64   /* rows a thread takes at once */

/* The SHAP values of the leaves that were asked for, of one oblivious tree. */
typedef struct leaf_table {
  uint32_t *features; /* distinct features of the tree */
  size_t n_features;
  uint32_t *place; /* leaf -> 1 + its row of values, 0 = not there */
  double *values;  /* n x n_features */
  size_t n, cap;
} leaf_table;

struct em_explainer {
  const em_model *m;
  em_gauss rule;
  size_t depth, n_features, n_questions; /* the most of any tree */
  double expected;
  leaf_table *tables; /* oblivious trees */
  em_xtree *trees;    /* the others */
};

/* ---- opening ---------------------------------------------------------------------------- */

static void free_table(leaf_table *t)
{
  em_free(t->features);
  em_free(t->place);
  em_free(t->values);
}

void em_explainer_free(em_explainer *e)
{
  if (!e) return;
  for (size_t i = 0; e->tables && i < e->m->n_trees; i++) free_table(&e->tables[i]);
  for (size_t i = 0; e->trees && i < e->m->n_trees; i++) em_xtree_free(&e->trees[i]);
  em_free(e->tables);
  em_free(e->trees);
  em_gauss_free(&e->rule);
  em_free(e);
}

static int open_table(leaf_table *t, em_xtree *x, em_err *err)
{
  t->features = x->features;
  t->n_features = x->n_features;
  x->features = NULL;
  t->place = em_calloc((x->n_nodes + 1) / 2, sizeof *t->place);
  return t->place ? EM_OK : em_fail_nomem(err);
}

static void widen(size_t *most, size_t n)
{
  if (*most < n) *most = n;
}

static int open_tree(em_explainer *e, size_t tree, double *mean, em_err *err)
{
  em_xtree x;
  if (em_xtree_build(e->m, tree, &x, err)) return err->code;
  *mean += x.nodes[0].value;
  widen(&e->depth, x.depth);
  widen(&e->n_features, x.n_features);
  widen(&e->n_questions, x.n_questions);
  if (e->trees) {
    e->trees[tree] = x;
    return EM_OK;
  }
  int rc = open_table(&e->tables[tree], &x, err);
  em_xtree_free(&x);
  return rc;
}

static int open_trees(em_explainer *e, em_err *err)
{
  double mean = 0;
  for (size_t i = 0; i < e->m->n_trees; i++)
    if (open_tree(e, i, &mean, err)) return err->code;
  e->expected = e->m->scale * mean + e->m->bias;
  size_t on_path = e->depth < e->n_features ? e->depth : e->n_features;
  return em_gauss_new(on_path ? (on_path + 1) / 2 : 1, &e->rule, err);
}

int em_explainer_new(const em_model *m, em_explainer **out, em_err *err)
{
  em_explainer *e = em_calloc(1, sizeof *e);
  if (!e) return em_fail_nomem(err);
  e->m = m;
  if (m->symmetric)
    e->tables = em_calloc(m->n_trees + 1, sizeof *e->tables);
  else
    e->trees = em_calloc(m->n_trees + 1, sizeof *e->trees);
  int rc = e->tables || e->trees ? open_trees(e, err) : em_fail_nomem(err);
  if (rc == EM_OK)
    *out = e;
  else
    em_explainer_free(e);
  return rc;
}

double em_explainer_expected(const em_explainer *e) { return e->expected; }
const em_model *em_explainer_model(const em_explainer *e) { return e->m; }

/* ---- a block of rows ------------------------------------------------------------------------- */

typedef struct job {
  em_explainer *e;
  const double *matrix;
  size_t rows, stride;
  const int32_t *col;
  uint32_t *leaf; /* tree x row of the block */
  double *shap;
  atomic_bool no_memory;
} job;

static void load_row(const job *j, size_t row, float *values)
{
  for (size_t i = 0; i < j->e->m->n_features; i++)
    values[i] = em_model_value(j->e->m, i, j->matrix + row * j->stride, j->col);
}

static void find_leaves(const job *j, size_t row, const float *values)
{
  const em_model *m = j->e->m;
  for (size_t t = 0; t < m->n_trees; t++) {
    const em_split *s = m->splits + m->trees[t].split_at;
    uint32_t leaf = 0;
    for (size_t d = 0; d < m->trees[t].n_splits; d++) leaf |= (uint32_t)(values[s[d].feature] > s[d].border) << d;
    j->leaf[t * j->rows + row] = leaf;
  }
}

static void leaves_chunk(void *ctx, size_t begin, size_t end)
{
  job *j = ctx;
  float *values = em_calloc(j->e->m->n_features + 1, sizeof *values);
  if (!values) atomic_store(&j->no_memory, true);
  for (size_t r = begin; values && r < end; r++) {
    load_row(j, r, values);
    find_leaves(j, r, values);
  }
  em_free(values);
}

/* ---- leaf tables --------------------------------------------------------------------------------- */

static int add_leaf(leaf_table *t, const em_xtree *x, em_walk *w, uint32_t leaf, em_err *err)
{
  bool answer[EM_MODEL_MAX_DEPTH] = {0};
  /* Room for a tree without splits too: its rows are empty. */
  if (em_grow(&t->values, &t->cap, (t->n + 1) * t->n_features + 1, sizeof *t->values, err)) return err->code;
  for (size_t d = 0; d < x->depth; d++) answer[d] = leaf >> d & 1;
  em_walk_tree(w, x, answer, t->values + t->n * t->n_features);
  t->place[leaf] = (uint32_t)++t->n;
  return EM_OK;
}

static int add_leaves(const job *j, size_t tree, size_t from, em_err *err)
{
  leaf_table *t = &j->e->tables[tree];
  const uint32_t *leaf = j->leaf + tree * j->rows;
  em_xtree x;
  if (em_xtree_build(j->e->m, tree, &x, err)) return err->code;
  em_walk *w = em_walk_new(&j->e->rule, x.depth, x.n_features);
  int rc = w ? EM_OK : em_fail_nomem(err);
  for (size_t r = from; r < j->rows && rc == EM_OK; r++)
    if (!t->place[leaf[r]]) rc = add_leaf(t, &x, w, leaf[r], err);
  em_walk_free(w);
  em_xtree_free(&x);
  return rc;
}

static void tables_chunk(void *ctx, size_t begin, size_t end)
{
  job *j = ctx;
  em_err err;
  for (size_t tree = begin; tree < end; tree++) {
    const uint32_t *leaf = j->leaf + tree * j->rows, *place = j->e->tables[tree].place;
    size_t r = 0;
    while (r < j->rows && place[leaf[r]]) r++;
    /* The tree was read before: only memory can be short. */
    if (r < j->rows && add_leaves(j, tree, r, &err)) atomic_store(&j->no_memory, true);
  }
}

/* ---- sums -------------------------------------------------------------------------------------------- */

static void add_values(double *shap, const uint32_t *features, size_t n, const double *values)
{
  for (size_t i = 0; i < n; i++) shap[features[i]] += values[i];
}

static void finish_row(const em_explainer *e, double *shap)
{
  for (size_t i = 0; i < e->m->n_features; i++) shap[i] *= e->m->scale;
  shap[e->m->n_features] = e->expected;
}

static void sums_chunk(void *ctx, size_t begin, size_t end)
{
  const job *j = ctx;
  const em_explainer *e = j->e;
  size_t width = e->m->n_features + 1;
  for (size_t r = begin; r < end; r++) {
    double *shap = j->shap + r * width;
    memset(shap, 0, width * sizeof *shap);
    for (size_t t = 0; t < e->m->n_trees; t++) {
      const leaf_table *table = &e->tables[t];
      size_t at = table->place[j->leaf[t * j->rows + r]] - 1;
      add_values(shap, table->features, table->n_features, table->values + at * table->n_features);
    }
    finish_row(e, shap);
  }
}

/* ---- rows of trees that are not oblivious ---------------------------------------------------------------- */

typedef struct scratch {
  float *values;
  bool *answer;
  double *phi;
  em_walk *walk;
} scratch;

static void free_scratch(scratch *s)
{
  em_free(s->values);
  em_free(s->answer);
  em_free(s->phi);
  em_walk_free(s->walk);
}

static bool open_scratch(const em_explainer *e, scratch *s)
{
  *s = (scratch){.values = em_calloc(e->m->n_features + 1, sizeof *s->values),
                 .answer = em_calloc(e->n_questions + 1, sizeof *s->answer),
                 .phi = em_calloc(e->n_features + 1, sizeof *s->phi),
                 .walk = em_walk_new(&e->rule, e->depth, e->n_features)};
  return s->values && s->answer && s->phi && s->walk;
}

static void walk_row(const job *j, size_t row, scratch *s)
{
  const em_explainer *e = j->e;
  const em_model *m = e->m;
  double *shap = j->shap + row * (m->n_features + 1);
  load_row(j, row, s->values);
  memset(shap, 0, (m->n_features + 1) * sizeof *shap);
  for (size_t t = 0; t < m->n_trees; t++) {
    const em_xtree *x = &e->trees[t];
    for (size_t i = 0; i < x->n_nodes; i++) {
      const em_xnode *n = &x->nodes[i];
      if (n->child[0]) s->answer[i] = s->values[m->border_feature[n->border]] > m->borders[n->border];
    }
    em_walk_tree(s->walk, x, s->answer, s->phi);
    add_values(shap, x->features, x->n_features, s->phi);
  }
  finish_row(e, shap);
}

static void walk_chunk(void *ctx, size_t begin, size_t end)
{
  job *j = ctx;
  scratch s;
  bool ok = open_scratch(j->e, &s);
  if (!ok) atomic_store(&j->no_memory, true);
  for (size_t r = begin; ok && r < end; r++) walk_row(j, r, &s);
  free_scratch(&s);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static int explain_block(job *j, int threads, em_err *err)
{
  if (j->e->trees) {
    em_parallel_for(j->rows, CHUNK, threads, walk_chunk, j);
    return atomic_load(&j->no_memory) ? em_fail_nomem(err) : EM_OK;
  }
  em_parallel_for(j->rows, CHUNK, threads, leaves_chunk, j);
  if (atomic_load(&j->no_memory)) return em_fail_nomem(err);
  em_parallel_for(j->e->m->n_trees, 1, threads, tables_chunk, j);
  if (atomic_load(&j->no_memory)) return em_fail_nomem(err);
  em_parallel_for(j->rows, CHUNK, threads, sums_chunk, j);
  return EM_OK;
}

int em_explain_rows(em_explainer *e, const double *matrix, size_t rows, size_t stride, const int32_t *col, int threads,
                    double *shap, em_err *err)
{
  size_t block = rows < BLOCK ? rows : BLOCK;
  uint32_t *leaf = em_calloc(block * (e->tables ? e->m->n_trees : 0) + 1, sizeof *leaf);
  if (!leaf) return em_fail_nomem(err);
  int rc = EM_OK;
  for (size_t at = 0; at < rows && rc == EM_OK; at += block) {
    job j = {.e = e,
             .matrix = matrix + at * stride,
             .rows = rows - at < block ? rows - at : block,
             .stride = stride,
             .col = col,
             .leaf = leaf,
             .shap = shap + at * (e->m->n_features + 1)};
    rc = em_progress_step(NULL, "explaining", at, rows, err);
    if (rc == EM_OK) rc = explain_block(&j, threads, err);
  }
  em_free(leaf);
  return rc;
}

/* ---- two rows -------------------------------------------------------------------------------------------- */

static int difference_of_features(em_explainer *e, const double *a, const double *b, const int32_t *col,
                                  double *features, em_err *err)
{
  size_t n = e->m->n_features;
  double *shap = em_calloc(2 * (n + 1), sizeof *shap);
  if (!shap) return em_fail_nomem(err);
  int rc = em_explain_rows(e, a, 1, 0, col, 1, shap, err);
  if (rc == EM_OK) rc = em_explain_rows(e, b, 1, 0, col, 1, shap + n + 1, err);
  for (size_t i = 0; i < n && rc == EM_OK; i++) features[i] = shap[i] - shap[n + 1 + i];
  em_free(shap);
  return rc;
}

int em_explain_difference(em_explainer *e, const double *a, const double *b, const int32_t *col, double *features,
                          double *trees, em_err *err)
{
  for (size_t t = 0; trees && t < e->m->n_trees; t++) {
    em_leaf x, y;
    em_model_path(e->m, t, a, col, NULL, &x);
    em_model_path(e->m, t, b, col, NULL, &y);
    trees[t] = x.value - y.value;
  }
  return features ? difference_of_features(e, a, b, col, features, err) : EM_OK;
}
