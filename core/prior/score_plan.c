/*
 * score_plan.c - a model made ready for scoring.
 */
#include <math.h>
#include <string.h>

#include "core/prior/model_int.h"

#define HEAP_ALIGN 16 /* floats: one 512-bit register */

/* ---- bin columns and their heaps -------------------------------------------------- */

static size_t columns_of(const em_model_feature *f) { return (f->n_borders + EM_BIN_BORDERS - 1) / EM_BIN_BORDERS; }

static uint32_t levels_for(size_t n_borders)
{
  uint32_t levels = 1;
  while (((size_t)1 << levels) - 1 < n_borders) levels++;
  return levels;
}

static size_t heap_size(uint32_t levels)
{
  size_t n = (size_t)1 << levels;
  return n < HEAP_ALIGN ? HEAP_ALIGN : n;
}

/* In-order walk of the heap gives the borders in ascending order. */
static void fill_heap(float *heap, size_t size, size_t node, const float *borders, size_t n, size_t *next)
{
  if (node >= size) return;
  fill_heap(heap, size, 2 * node, borders, n, next);
  heap[node] = *next < n ? borders[*next] : INFINITY;
  ++*next;
  fill_heap(heap, size, 2 * node + 1, borders, n, next);
}

static void add_feature(em_model *m, size_t feature, size_t *heap_at)
{
  em_plan *p = &m->plan;
  const em_model_feature *f = &m->features[feature];
  p->used[p->n_used++] = (em_used_feature){
    .feature = (uint32_t)feature,
    .nan_is_true = f->has_nans && f->nan == EM_NAN_AS_TRUE,
    .column_at = p->n_columns,
    .n_columns = columns_of(f),
  };
  for (size_t left = f->n_borders; left;) {
    size_t n = left < EM_BIN_BORDERS ? left : EM_BIN_BORDERS;
    em_bin_column *c = &p->columns[p->n_columns++];
    *c = (em_bin_column){.levels = levels_for(n), .heap_at = *heap_at};
    *heap_at += heap_size(c->levels);
    left -= n;
  }
}

static int build_columns(em_model *m, em_err *err)
{
  em_plan *p = &m->plan;
  size_t n_columns = 0, n_used = 0, heap_at = 0;
  for (size_t i = 0; i < m->n_features; i++) {
    n_columns += columns_of(&m->features[i]);
    n_used += m->features[i].n_borders > 0;
  }
  if (n_columns > UINT32_MAX / EM_BLOCK)
    return em_fail(err, EM_E_INPUT, "the model's borders take %zu columns of at most %d each: expected at most %u",
                   n_columns, EM_BIN_BORDERS, UINT32_MAX / EM_BLOCK);
  p->columns = em_calloc(n_columns + 1, sizeof *p->columns);
  p->used = em_calloc(n_used + 1, sizeof *p->used);
  if (!p->columns || !p->used) return em_fail_nomem(err);
  for (size_t i = 0; i < m->n_features; i++)
    if (m->features[i].n_borders) add_feature(m, i, &heap_at);
  p->heaps = em_alloc_aligned(heap_at + HEAP_ALIGN, sizeof *p->heaps);
  p->sorted = em_alloc_aligned(heap_at + HEAP_ALIGN, sizeof *p->sorted);
  return p->heaps && p->sorted ? EM_OK : em_fail_nomem(err);
}

static void fill_column(em_model *m, const em_bin_column *c, const float *borders, size_t n)
{
  float *heap = m->plan.heaps + c->heap_at, *sorted = m->plan.sorted + c->heap_at;
  size_t next = 0, size = heap_size(c->levels);
  for (size_t i = 0; i < size; i++) sorted[i] = i < n ? borders[i] : INFINITY;
  for (size_t i = 0; i < HEAP_ALIGN; i++) heap[i] = INFINITY; /* what a small heap leaves of its register */
  fill_heap(heap, (size_t)1 << c->levels, 1, borders, n, &next);
}

static void fill_heaps(em_model *m)
{
  for (size_t u = 0; u < m->plan.n_used; u++) {
    const em_used_feature *used = &m->plan.used[u];
    const em_model_feature *f = &m->features[used->feature];
    for (size_t k = 0; k < used->n_columns; k++) {
      size_t from = k * EM_BIN_BORDERS, left = f->n_borders - from;
      fill_column(m, &m->plan.columns[used->column_at + k], m->borders + f->border_at + from,
                  left < EM_BIN_BORDERS ? left : EM_BIN_BORDERS);
    }
  }
}

/* ---- splits ------------------------------------------------------------------------- */

/* The byte comparison for every border. */
static em_bin_split *splits_by_border(const em_model *m)
{
  em_bin_split *by = em_calloc(m->n_borders + 1, sizeof *by);
  for (size_t u = 0; by && u < m->plan.n_used; u++) {
    const em_used_feature *used = &m->plan.used[u];
    const em_model_feature *f = &m->features[used->feature];
    for (size_t j = 0; j < f->n_borders; j++) {
      size_t column = used->column_at + j / EM_BIN_BORDERS;
      int bin = (int)(j % EM_BIN_BORDERS) - 128;
      by[f->border_at + j] = (em_bin_split){
        .bins_at = (uint32_t)(column * EM_BLOCK), .threshold = (int8_t)bin, .above = (int8_t)(bin + 1)};
    }
  }
  return by;
}

static uint32_t depth_below(const em_model *m, size_t node)
{
  const em_node *n = &m->nodes[node];
  if (!n->left) return 0;
  uint32_t a = depth_below(m, n->left), b = depth_below(m, n->right);
  return 1 + (a > b ? a : b);
}

static int build_nodes(em_model *m, const em_bin_split *by, em_err *err)
{
  em_plan *p = &m->plan;
  p->nodes = em_calloc(m->n_nodes, sizeof *p->nodes);
  p->depth = em_calloc(m->n_trees, sizeof *p->depth);
  if (!p->nodes || !p->depth) return em_fail_nomem(err);
  for (size_t i = 0; i < m->n_nodes; i++) {
    const em_node *n = &m->nodes[i];
    uint32_t self = (uint32_t)i;
    if (n->left)
      p->nodes[i] = (em_bin_node){.split = by[n->border], .child = {n->left, n->right}};
    else
      p->nodes[i].child[0] = p->nodes[i].child[1] = self;
  }
  for (size_t t = 0; t < m->n_trees; t++) p->depth[t] = depth_below(m, m->roots[t]);
  return EM_OK;
}

/* ---- leaf planes ----------------------------------------------------------------------- */

static void cut_leaves(const double *leaves, size_t n, uint16_t *planes)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &leaves[i], sizeof bits);
    for (size_t w = 0; w < 4; w++) planes[w * EM_PLANE_WORDS + i] = (uint16_t)(bits >> (16 * w));
  }
}

static int build_oblivious(em_model *m, const em_bin_split *by, em_err *err)
{
  em_plan *p = &m->plan;
  p->splits = em_calloc(m->n_splits + 1, sizeof *p->splits);
  size_t words = m->n_trees * 4 * EM_PLANE_WORDS;
  p->planes = em_alloc_aligned(words, sizeof *p->planes);
  if (!p->splits || !p->planes) return em_fail_nomem(err);
  memset(p->planes, 0, words * sizeof *p->planes);
  for (size_t i = 0; i < m->n_splits; i++) p->splits[i] = by[m->split_border[i]];
  for (size_t t = 0; t < m->n_trees; t++)
    if (m->trees[t].n_splits <= EM_PLANE_DEPTH)
      cut_leaves(m->leaf_values + m->trees[t].leaf_at, (size_t)1 << m->trees[t].n_splits,
                 p->planes + t * 4 * EM_PLANE_WORDS);
  return EM_OK;
}

int em_plan_build(em_model *m, em_err *err)
{
  if (build_columns(m, err)) return err->code;
  fill_heaps(m);
  em_bin_split *by = splits_by_border(m);
  if (!by) return em_fail_nomem(err);
  int rc = m->symmetric ? build_oblivious(m, by, err) : build_nodes(m, by, err);
  em_free(by);
  return rc;
}

void em_plan_free(em_plan *p)
{
  em_free(p->used);
  em_free(p->columns);
  em_free(p->heaps);
  em_free(p->sorted);
  em_free(p->splits);
  em_free(p->nodes);
  em_free(p->depth);
  em_free(p->planes);
}
