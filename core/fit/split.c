/*
 * split.c - one oblivious tree: histograms and the search for its splits.
 *
 * Per level each block of columns is one piece of parallel work: it adds up the
 * histograms of the smaller half of each leaf, takes the other half by subtraction (exact: integers),
 * and scores its borders over all leaves.  Rows are then parted leaf by leaf.
 */
#include <math.h>
#include <string.h>

#include "core/fit/fit_int.h"

int em_fit_search_open(em_fit_search *q, const em_fit_set *s, const em_fit_bins *b, const em_fit_params *p, em_err *err)
{
  size_t leaves = (size_t)1 << (p->depth - 1); /* the last level needs no histograms */
  *q = (em_fit_search){.set = s, .bins = b, .params = p, .max_leaves = leaves};
  q->id = em_calloc(s->n_rows, sizeof *q->id);
  q->id_tmp = em_calloc(s->n_rows, sizeof *q->id_tmp);
  q->run_id = em_calloc(s->n_rows, sizeof *q->run_id);
  q->gw = em_alloc_aligned(s->n_rows, sizeof *q->gw);
  q->gw_tmp = em_alloc_aligned(s->n_rows, sizeof *q->gw_tmp);
  q->run_gw = em_alloc_aligned(s->n_rows, sizeof *q->run_gw);
  q->begin = em_calloc(leaves, sizeof *q->begin);
  q->end = em_calloc(leaves, sizeof *q->end);
  q->runs = em_calloc(leaves, sizeof *q->runs);
  q->hist = em_alloc_aligned(leaves * b->total_bins, sizeof *q->hist);
  q->scratch = em_alloc_aligned(b->n_blocks * EM_FIT_SLOTS * EM_FIT_CODES, sizeof *q->scratch);
  q->best = em_calloc(b->n_features, sizeof *q->best);
  if (!q->id || !q->id_tmp || !q->run_id || !q->gw || !q->gw_tmp || !q->run_gw || !q->begin || !q->end || !q->runs ||
      !q->hist || !q->scratch || !q->best)
    return em_fail_nomem(err);
  return EM_OK;
}

void em_fit_search_close(em_fit_search *q)
{
  em_free(q->id);
  em_free(q->id_tmp);
  em_free(q->run_id);
  em_free(q->gw);
  em_free(q->gw_tmp);
  em_free(q->run_gw);
  em_free(q->begin);
  em_free(q->end);
  em_free(q->runs);
  em_free(q->hist);
  em_free(q->scratch);
  em_free(q->best);
  *q = (em_fit_search){0};
}

/* ---- histograms ------------------------------------------------------------------- */

static em_fit_gw *hist_of(const em_fit_search *q, const em_fit_block *b, size_t leaf)
{
  return q->hist + b->hist * q->max_leaves + leaf * b->n_bins;
}

static void add_codes(const uint8_t *codes, const uint32_t *id, const em_fit_gw *gw, size_t n, em_fit_gw *slots)
{
  for (size_t i = 0; i < n; i++) {
    const uint8_t *c = codes + (size_t)id[i] * EM_FIT_SLOTS;
    slots[c[0]] += gw[i];
    slots[EM_FIT_CODES + c[1]] += gw[i];
    slots[2 * EM_FIT_CODES + c[2]] += gw[i];
    slots[3 * EM_FIT_CODES + c[3]] += gw[i];
  }
}

/* The histogram of a feature from that of its slot. */
static void take_feature(const em_fit_feature *f, size_t slot_size, const em_fit_gw *slot, em_fit_gw *hist)
{
  memset(hist, 0, f->n_bins * sizeof *hist);
  for (size_t code = 0; code < slot_size; code += (size_t)f->n_bins * f->div)
    for (size_t bin = 0; bin < f->n_bins; bin++) {
      const em_fit_gw *from = slot + code + bin * f->div;
      for (size_t i = 0; i < f->div; i++) hist[bin] += from[i];
    }
}

/* Histograms of the rows of `leaf`, one a feature of the block. */
static void build(const em_fit_search *q, size_t block, size_t leaf, em_fit_gw *out)
{
  const em_fit_block *b = &q->bins->blocks[block];
  em_fit_gw *slots = q->scratch + block * EM_FIT_SLOTS * EM_FIT_CODES;
  size_t at = q->begin[leaf];
  for (size_t k = 0; k < EM_FIT_SLOTS; k++) memset(slots + k * EM_FIT_CODES, 0, b->slot_size[k] * sizeof *slots);
  if (b->per_group)
    add_codes(b->codes, q->run_id + at, q->run_gw + at, q->runs[leaf], slots);
  else
    add_codes(b->codes, q->id + at, q->gw + at, q->end[leaf] - at, slots);
  for (size_t i = 0; i < b->n; i++) {
    const em_fit_feature *f = &q->bins->features[b->first + i];
    take_feature(f, b->slot_size[f->slot], slots + f->slot * EM_FIT_CODES, out + f->offset);
  }
}

static size_t rows_of(const em_fit_search *q, size_t leaf) { return q->end[leaf] - q->begin[leaf]; }

/* The child with fewer rows, of leaf and leaf + half. */
static size_t smaller(const em_fit_search *q, size_t leaf, size_t half)
{
  return rows_of(q, leaf) <= rows_of(q, leaf + half) ? leaf : leaf + half;
}

/* From the histogram of a leaf that was parted to those of its halves. */
static void halve(const em_fit_search *q, size_t block, size_t leaf, size_t half)
{
  const em_fit_block *b = &q->bins->blocks[block];
  em_fit_gw *low = hist_of(q, b, leaf), *high = hist_of(q, b, leaf + half);
  bool low_is_small = smaller(q, leaf, half) == leaf;
  build(q, block, low_is_small ? leaf : leaf + half, high);
  for (size_t i = 0; i < b->n_bins; i++) {
    em_fit_gw built = high[i], rest = low[i] - built;
    low[i] = low_is_small ? built : rest;
    high[i] = low_is_small ? rest : built;
  }
}

/* ---- scores ------------------------------------------------------------------------- */

typedef struct tally { /* of each border of a feature, over the leaves */
  double num[EM_FIT_MAX_BORDERS], den[EM_FIT_MAX_BORDERS];
  bool parts[EM_FIT_MAX_BORDERS]; /* some leaf has weight on both sides */
} tally;

static void add_side(double g, double w, double l2, double *num, double *den)
{
  double mean = w > 0 ? g / (w + l2) : 0;
  *num += mean * g;
  *den += mean * mean * w;
}

static void add_leaf(tally *t, const em_fit_gw *hist, size_t n_borders, double l2)
{
  em_fit_gw all = hist[n_borders], left = {0, 0};
  for (size_t i = 0; i < n_borders; i++) all += hist[i];
  if (all[1] == 0) return;
  for (size_t i = 0; i < n_borders; i++) {
    left += hist[i];
    em_fit_gw right = all - left;
    double num = 0, den = 0;
    add_side((double)left[0] / EM_FIT_ONE_GRAD, (double)left[1] / EM_FIT_ONE_GRAD, l2, &num, &den);
    add_side((double)right[0] / EM_FIT_ONE_GRAD, (double)right[1] / EM_FIT_ONE_GRAD, l2, &num, &den);
    t->num[i] += num;
    t->den[i] += den;
    t->parts[i] = t->parts[i] || (left[1] > 0 && right[1] > 0);
  }
}

/* About normal: the sum of four uniform draws, scaled to variance 1. */
static double noise(const em_fit_params *p, uint64_t stream, uint64_t index)
{
  uint64_t u = em_rng_u64((uint64_t)p->seed, stream, index);
  double sum = (double)(u & 0xffff) + (double)(u >> 16 & 0xffff) + (double)(u >> 32 & 0xffff) + (double)(u >> 48);
  return (sum / 65536.0 - 2.0) * 1.7320508075688772;
}

typedef struct level {
  em_fit_search *q;
  size_t tree, depth;
  double sd; /* of the noise */
} level;

static bool offered(const level *v, const em_fit_feature *f)
{
  const em_fit_params *p = v->q->params;
  uint64_t stream = em_fit_stream(EM_FIT_DRAW_COLUMN, v->tree, v->depth);
  return p->rsm >= 1 || em_rng_f64((uint64_t)p->seed, stream, f->column) < p->rsm;
}

/* The feature's best border with noise; then its score without, with the feature's own noise: a column with
 * many borders gets no more chances than one with few. */
static em_fit_choice best_border(const level *v, uint32_t feature)
{
  const em_fit_search *q = v->q;
  const em_fit_feature *f = &q->bins->features[feature];
  const em_fit_block *b = &q->bins->blocks[f->block];
  size_t n = f->n_bins - 1u;
  uint64_t stream = em_fit_stream(EM_FIT_DRAW_BORDER, v->tree, v->depth);
  em_fit_choice best = {feature, 0, -INFINITY};
  double best_noisy = -INFINITY;
  tally t;
  memset(t.num, 0, n * sizeof *t.num);
  memset(t.den, 0, n * sizeof *t.den);
  memset(t.parts, 0, n * sizeof *t.parts);
  for (size_t leaf = 0; leaf < (size_t)1 << v->depth; leaf++)
    add_leaf(&t, hist_of(q, b, leaf) + f->offset, n, q->params->l2_leaf_reg);
  for (size_t i = 0; i < n; i++) {
    double score = q->params->score == EM_SCORE_L2 ? t.num[i] : t.num[i] / sqrt(1e-100 + t.den[i]);
    double noisy = v->sd > 0 ? score + v->sd * noise(q->params, stream, f->column * 256ull + i) : score;
    if (t.parts[i] && noisy > best_noisy) {
      best_noisy = noisy;
      best = (em_fit_choice){feature, (uint32_t)i, score};
    }
  }
  if (v->sd > 0)
    best.score += v->sd * noise(q->params, em_fit_stream(EM_FIT_DRAW_FEATURE, v->tree, v->depth), f->column);
  return best;
}

static void score_blocks(void *ctx, size_t begin, size_t end)
{
  const level *v = ctx;
  em_fit_search *q = v->q;
  size_t half = v->depth ? (size_t)1 << (v->depth - 1) : 0;
  for (size_t block = begin; block < end; block++) {
    const em_fit_block *b = &q->bins->blocks[block];
    if (v->depth == 0) build(q, block, 0, hist_of(q, b, 0));
    for (size_t leaf = 0; leaf < half; leaf++) halve(q, block, leaf, half);
    for (uint32_t i = b->first; i < b->first + b->n; i++)
      q->best[i] = offered(v, &q->bins->features[i]) ? best_border(v, i) : (em_fit_choice){i, 0, -INFINITY};
  }
}

/* ---- rows ------------------------------------------------------------------------------ */

/* Sums of the stretches of rows of one group, at the place of the rows. */
static void find_runs(em_fit_search *q, size_t leaf)
{
  size_t n = 0, at = q->begin[leaf];
  uint32_t last = UINT32_MAX;
  for (size_t i = at; i < q->end[leaf]; i++) {
    uint32_t g = q->set->group[q->id[i]];
    if (g != last) {
      q->run_id[at + n] = last = g;
      q->run_gw[at + n++] = (em_fit_gw){0, 0};
    }
    q->run_gw[at + n - 1] += q->gw[i];
  }
  q->runs[leaf] = n;
}

typedef struct parting {
  em_fit_search *q;
  em_fit_choice split;
  size_t half;              /* leaves before the split */
  bool right[EM_FIT_CODES]; /* of each code */
} parting;

static void part_leaves(void *ctx, size_t begin, size_t end)
{
  const parting *w = ctx;
  em_fit_search *q = w->q;
  const em_fit_feature *f = &q->bins->features[w->split.feature];
  for (size_t leaf = begin; leaf < end; leaf++) {
    size_t left = q->begin[leaf], right = q->begin[leaf]; /* ends of the parted rows, in place and in the copy */
    for (size_t i = q->begin[leaf]; i < q->end[leaf]; i++) {
      uint32_t id = q->id[i];
      em_fit_gw gw = q->gw[i];
      bool r = w->right[*em_fit_code(q->bins, f, q->set, id)];
      q->id[left] = q->id_tmp[right] = id;
      q->gw[left] = q->gw_tmp[right] = gw;
      left += !r;
      right += r;
    }
    size_t n = right - q->begin[leaf];
    memcpy(q->id + left, q->id_tmp + q->begin[leaf], n * sizeof *q->id);
    memcpy(q->gw + left, q->gw_tmp + q->begin[leaf], n * sizeof *q->gw);
    q->begin[leaf + w->half] = left;
    q->end[leaf + w->half] = q->end[leaf];
    q->end[leaf] = left;
    find_runs(q, smaller(q, leaf, w->half));
  }
}

void em_fit_sides(const em_fit_feature *f, uint32_t border, bool right[EM_FIT_CODES])
{
  for (size_t code = 0; code < EM_FIT_CODES; code++) right[code] = code / f->div % f->n_bins > border;
}

static void part(em_fit_search *q, em_fit_choice split, size_t half)
{
  parting w = {.q = q, .split = split, .half = half};
  em_fit_sides(&q->bins->features[split.feature], split.border, w.right);
  em_parallel_for(half, 1, (int)q->params->threads, part_leaves, &w);
}

/* ---- tree -------------------------------------------------------------------------------- */

/* The scale of a score without any signal, fading as trees are added. */
static double noise_sd(const em_fit_search *q, size_t tree)
{
  const em_fit_params *p = q->params;
  if (p->random_strength == 0) return 0;
  int64_t squares = 0, weight = 0;
  for (size_t i = 0; i < q->n_rows; i++) {
    double g = (double)q->gw[i][0] / EM_FIT_ONE_GRAD;
    squares += em_fit_fixed(g * g, EM_FIT_ONE_GRAD);
    weight += q->gw[i][1];
  }
  double mean = weight > 0 ? (double)squares / (double)weight : 0;
  double m = (double)q->set->n_rows * em_fit_exp(-(double)(tree % (size_t)p->iterations) * p->learning_rate);
  return p->random_strength * m / (1 + m) * (p->score == EM_SCORE_L2 ? mean : sqrt(mean));
}

/* Best of the features; equal scores: the first column.  NULL when nothing can be parted. */
static const em_fit_choice *best_feature(const em_fit_search *q)
{
  const em_fit_choice *best = NULL;
  for (size_t i = 0; i < q->bins->n_features; i++) {
    const em_fit_choice *c = &q->best[i];
    uint32_t column = q->bins->features[i].column;
    if (isinf(c->score)) continue;
    if (!best || c->score > best->score ||
        (c->score == best->score && column < q->bins->features[best->feature].column))
      best = c;
  }
  return best;
}

size_t em_fit_search_tree(em_fit_search *q, size_t tree, em_fit_choice *splits)
{
  level v = {.q = q, .tree = tree, .sd = noise_sd(q, tree)};
  size_t depth = (size_t)q->params->depth;
  q->begin[0] = 0;
  q->end[0] = q->n_rows;
  find_runs(q, 0);
  for (v.depth = 0; v.depth < depth; v.depth++) {
    em_parallel_for(q->bins->n_blocks, 1, (int)q->params->threads, score_blocks, &v);
    const em_fit_choice *best = best_feature(q);
    if (!best) break;
    splits[v.depth] = *best;
    if (v.depth + 1 < depth) part(q, *best, (size_t)1 << v.depth);
  }
  return v.depth;
}
