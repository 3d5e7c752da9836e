/*
 * score.c - scores rows: picks the code path, cuts rows in blocks.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/prior/score_int.h"

#define CHUNK         (16 * EM_BLOCK) /* rows a thread takes at once */
#define FEW_ROWS      8               /* up to here blocks do not pay */
#define STACK_COLUMNS 512             /* bins of a block that fit on the stack */
#define STACK_VALUES  1024            /* features of a row that fit on the stack */

/* ---- code paths ----------------------------------------------------------------------- */

const em_score_ops *em_score_ops_of(em_score_path path)
{
  static const em_score_ops *const all[EM_N_PATHS] = {
    [EM_PATH_PORTABLE] = &em_score_portable, [EM_PATH_AVX2] = &em_score_avx2, [EM_PATH_AVX512] = &em_score_avx512};
  return all[path]->available() ? all[path] : NULL;
}

static const em_score_ops *best_ops(void)
{
  for (int path = EM_N_PATHS - 1; path > EM_PATH_PORTABLE; path--) {
    const em_score_ops *ops = em_score_ops_of((em_score_path)path);
    if (ops) return ops;
  }
  return &em_score_portable;
}

/* ---- one row ---------------------------------------------------------------------------- */

/* CatBoost's value of a feature: 32 bits, NaN as the feature says. */
float em_model_value(const em_model *m, size_t feature, const double *row, const int32_t *col)
{
  const em_model_feature *f = &m->features[feature];
  float v = col[feature] < 0 ? NAN : (float)row[col[feature]];
  return isnan(v) && f->has_nans && f->nan == EM_NAN_AS_TRUE ? INFINITY : v;
}

static double score_row(const em_model *m, const double *row, const int32_t *col)
{
  float values[STACK_VALUES];
  double sum = 0;
  for (size_t i = 0; i < m->n_features; i++) values[i] = em_model_value(m, i, row, col);
  for (size_t t = 0; m->symmetric && t < m->n_trees; t++) {
    const em_oblivious *tree = &m->trees[t];
    const em_split *s = m->splits + tree->split_at;
    size_t leaf = 0;
    // cppcheck-suppress uninitvar ; each feature's value is set above
    for (size_t d = 0; d < tree->n_splits; d++) leaf |= (size_t)(values[s[d].feature] > s[d].border) << d;
    sum += m->leaf_values[tree->leaf_at + leaf];
  }
  for (size_t t = 0; !m->symmetric && t < m->n_trees; t++) {
    const em_node *n = &m->nodes[m->roots[t]];
    while (n->left) n = &m->nodes[values[m->border_feature[n->border]] > m->borders[n->border] ? n->right : n->left];
    sum += n->value;
  }
  return m->scale * sum + m->bias;
}

void em_model_leaves(const em_model *m, const double *row, const int32_t *col, uint32_t *leaf)
{
  for (size_t t = 0; m->symmetric && t < m->n_trees; t++) {
    const em_split *s = m->splits + m->trees[t].split_at;
    leaf[t] = 0;
    for (size_t d = 0; d < m->trees[t].n_splits; d++)
      leaf[t] |= (uint32_t)(em_model_value(m, s[d].feature, row, col) > s[d].border) << d;
  }
  for (size_t t = 0; !m->symmetric && t < m->n_trees; t++) {
    const em_node *n = &m->nodes[m->roots[t]];
    while (n->left)
      n = &m->nodes[em_model_value(m, m->border_feature[n->border], row, col) > m->borders[n->border] ? n->right
                                                                                                      : n->left];
    leaf[t] = n->border;
  }
}

/* ---- a block of rows ---------------------------------------------------------------------- */

typedef struct job {
  const em_model *m;
  const em_score_ops *ops;
  const double *matrix;
  size_t rows, stride;
  const int32_t *col;
  double *quality;
  atomic_bool no_memory;
} job;

/* Values of the columns [first, first + EM_WINDOW) of the block; rows beyond n stay as they are. */
static void load_window(const job *j, size_t begin, size_t n, size_t first, float *out)
{
  const double *rows = j->matrix + begin * j->stride + first;
  if (first + EM_WINDOW <= j->stride) {
    j->ops->load(rows, j->stride, n, out);
    return;
  }
  for (size_t c = 0; first + c < j->stride; c++) /* a matrix narrower than a window */
    for (size_t r = 0; r < n; r++) out[c * EM_BLOCK + r] = (float)rows[r * j->stride + c];
}

static void fill(float *values, float x)
{
  for (size_t r = 0; r < EM_BLOCK; r++) values[r] = x;
}

/* A NaN that is to count as above all borders becomes +inf; any other compares false by itself. */
static void quantize_feature(const job *j, const em_used_feature *u, const float *values, int8_t *bins)
{
  _Alignas(64) float treated[EM_BLOCK]; /* a copy: another feature may read the same column otherwise */
  for (size_t r = 0; u->nan_is_true && r < EM_BLOCK; r++) treated[r] = isnan(values[r]) ? INFINITY : values[r];
  if (u->nan_is_true) values = treated;
  for (size_t k = u->column_at; k < u->column_at + u->n_columns; k++)
    j->ops->quantize(&j->m->plan, &j->m->plan.columns[k], values, bins + k * EM_BLOCK);
}

/* Neighbouring columns are loaded together: features mostly stand in the order of the matrix. */
static void quantize_block(const job *j, size_t begin, size_t n, int8_t *bins)
{
  _Alignas(64) float window[EM_WINDOW * EM_BLOCK] = {0}, missing[EM_BLOCK];
  size_t first = SIZE_MAX - EM_WINDOW; /* of the window; none is loaded yet */
  for (size_t i = 0; i < j->m->plan.n_used; i++) {
    const em_used_feature *u = &j->m->plan.used[i];
    int32_t col = j->col[u->feature];
    if (col < 0) {
      fill(missing, NAN);
      quantize_feature(j, u, missing, bins);
      continue;
    }
    size_t at = (size_t)col;
    if (at < first || at >= first + EM_WINDOW) {
      first = at + EM_WINDOW <= j->stride ? at : j->stride < EM_WINDOW ? 0 : j->stride - EM_WINDOW;
      load_window(j, begin, n, first, window);
    }
    quantize_feature(j, u, window + (at - first) * EM_BLOCK, bins);
  }
}

/* Eight rows step down together: their loads overlap. */
static void walk_trees(const em_model *m, const int8_t *bins, double *sums)
{
  enum { TOGETHER = 8 };
  for (size_t t = 0; t < m->n_trees; t++)
    for (size_t r = 0; r < EM_BLOCK; r += TOGETHER) {
      uint32_t at[TOGETHER];
      for (size_t i = 0; i < TOGETHER; i++) at[i] = (uint32_t)m->roots[t];
      for (uint32_t d = 0; d < m->plan.depth[t]; d++)
        for (size_t i = 0; i < TOGETHER; i++) {
          const em_bin_node *n = &m->plan.nodes[at[i]];
          at[i] = n->child[bins[n->split.bins_at + r + i] > n->split.threshold];
        }
      for (size_t i = 0; i < TOGETHER; i++) sums[r + i] += m->nodes[at[i]].value;
    }
}

/* Nothing where the matrix is mostly of columns that the model does not use. */
static em_ahead look_ahead(const job *j, size_t begin)
{
  size_t rows = j->rows - begin < EM_BLOCK ? j->rows - begin : EM_BLOCK, bytes = rows * j->stride * sizeof *j->matrix;
  if (!rows || j->stride > EM_WINDOW * j->m->plan.n_used) return (em_ahead){0};
  const char *at = (const char *)(j->matrix + begin * j->stride);
  return (em_ahead){.at = at, .end = at + bytes, .step = bytes / j->m->n_trees + 1};
}

static void score_block(const job *j, size_t begin, size_t n, int8_t *bins)
{
  const em_model *m = j->m;
  double sums[EM_BLOCK] = {0};
  quantize_block(j, begin, n, bins);
  em_ahead next = look_ahead(j, begin + n);
  if (m->symmetric)
    j->ops->trees(m, bins, sums, &next);
  else
    walk_trees(m, bins, sums);
  for (size_t r = 0; r < n; r++) j->quality[begin + r] = m->scale * sums[r] + m->bias;
}

static void score_blocks(const job *j, size_t begin, size_t end, int8_t *bins)
{
  for (size_t at = begin; at < end; at += EM_BLOCK) score_block(j, at, end - at < EM_BLOCK ? end - at : EM_BLOCK, bins);
}

static void score_chunk(void *ctx, size_t begin, size_t end)
{
  job *j = ctx;
  if (j->m->plan.n_columns <= STACK_COLUMNS) {
    _Alignas(64) int8_t bins[STACK_COLUMNS * EM_BLOCK];
    score_blocks(j, begin, end, bins);
    return;
  }
  int8_t *bins = em_alloc_aligned(j->m->plan.n_columns, EM_BLOCK);
  if (bins)
    score_blocks(j, begin, end, bins);
  else
    atomic_store(&j->no_memory, true);
  em_free(bins);
}

static int run(job *j, size_t rows, int threads, em_err *err)
{
  em_parallel_for(rows, CHUNK, threads, score_chunk, j);
  return atomic_load(&j->no_memory) ? em_fail_nomem(err) : EM_OK;
}

int em_model_score_path(const em_model *m, const double *matrix, size_t rows, size_t stride, const int32_t *col,
                        int threads, em_score_path path, double *quality, em_err *err)
{
  job j = {.m = m,
           .ops = em_score_ops_of(path),
           .matrix = matrix,
           .rows = rows,
           .stride = stride,
           .col = col,
           .quality = quality};
  return j.ops ? run(&j, rows, threads, err)
               : em_fail(err, EM_E_ENV, "this machine lacks the scorer's code path %d", (int)path);
}

int em_model_score(const em_model *m, const double *matrix, size_t rows, size_t stride, const int32_t *col, int threads,
                   double *quality, em_err *err)
{
  if (rows <= FEW_ROWS && m->n_features <= STACK_VALUES) {
    for (size_t r = 0; r < rows; r++) quality[r] = score_row(m, matrix + r * stride, col);
    return EM_OK;
  }
  job j = {.m = m, .ops = best_ops(), .matrix = matrix, .rows = rows, .stride = stride, .col = col, .quality = quality};
  return run(&j, rows, threads, err);
}
