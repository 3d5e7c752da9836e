/*
 * split.c - one oblivious tree: histograms and the search for its splits.
 *
 * Per level the smaller half of each leaf is added up, a stretch of rows and a block of columns at a time.  Then each
 * feature takes its larger halves by subtraction (exact: integers) and scores its borders over all leaves.
 */
#include <math.h>
#include <string.h>

#include "core/fit/fit_int.h"

static bool any_per_group(const em_fit_bins *b)
{
  for (size_t i = 0; i < b->n_blocks; i++)
    if (b->blocks[i].per_group) return true;
  return false;
}

int em_fit_search_open(em_fit_search *q, const em_fit_set *s, const em_fit_bins *b, const em_fit_params *p, em_err *err)
{
  size_t leaves = (size_t)1 << (p->depth - 1); /* the last level needs no histograms */
  *q = (em_fit_search){.set = s, .bins = b, .params = p, .max_leaves = leaves};
  q->hist = em_alloc_aligned(leaves * b->total_bins, sizeof *q->hist);
  q->best = em_calloc(b->n_features, sizeof *q->best);
  return q->hist && q->best ? em_fit_rows_open(&q->rows, s, leaves, any_per_group(b), err) : em_fail_nomem(err);
}

void em_fit_search_close(em_fit_search *q)
{
  em_fit_rows_close(&q->rows);
  em_free(q->hist);
  em_free(q->best);
  *q = (em_fit_search){0};
}

/* ---- histograms ------------------------------------------------------------------- */

typedef struct level {
  em_fit_search *q;
  size_t tree, depth;
  size_t half; /* leaves that were parted last; 0 = the root is new */
  double sd;   /* of the noise */
} level;

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

/* Histograms of the rows of a stretch, one a feature of the block. */
static void build(const em_fit_search *q, const em_fit_block *b, const em_fit_stretch *s, em_fit_gw *out)
{
  em_fit_gw slots[EM_FIT_SLOTS * EM_FIT_CODES];
  for (size_t k = 0; k < EM_FIT_SLOTS; k++) memset(slots + k * EM_FIT_CODES, 0, b->slot_size[k] * sizeof *slots);
  if (b->per_group)
    add_codes(b->codes, q->rows.run_id + s->begin, q->rows.run_gw + s->begin, s->n_runs, slots);
  else
    add_codes(b->codes, q->rows.id + s->begin, q->rows.gw + s->begin, s->end - s->begin, slots);
  for (size_t i = 0; i < b->n; i++) {
    const em_fit_feature *f = &q->bins->features[b->first + i];
    take_feature(f, b->slot_size[f->slot], slots + f->slot * EM_FIT_CODES, out + f->offset);
  }
}

/* Leaves that are added up. */
static size_t n_added(const level *v) { return v->half ? v->half : 1; }

/* Stretches go to the histograms of leaves that are not there yet: part p of leaf l to leaf half + l + p * n_added. */
static void build_pieces(void *ctx, size_t begin, size_t end)
{
  const level *v = ctx;
  const em_fit_search *q = v->q;
  for (size_t i = begin; i < end; i++) {
    const em_fit_block *b = &q->bins->blocks[i % q->bins->n_blocks];
    size_t k = i / q->bins->n_blocks, leaf = k / q->rows.parts, part = k % q->rows.parts;
    build(q, b, &q->rows.stretches[k], hist_of(q, b, v->half + leaf + part * n_added(v)));
  }
}

static void build_all(level *v)
{
  enum { PIECES = 4 }; /* of a block's work at least, where the rows are many */
  em_fit_search *q = v->q;
  int threads = (int)q->params->threads;
  size_t room = (q->max_leaves - v->half) / n_added(v), most = PIECES / n_added(v);
  em_fit_rows_to_add(&q->rows, v->half, most < room ? most : room);
  em_fit_rows_sum_runs(&q->rows, q->set, threads);
  em_parallel_for(q->rows.n_stretches * q->bins->n_blocks, 1, threads, build_pieces, v);
}

/* Adds up the parts of a feature's histogram of the leaf that was added. */
static em_fit_gw *join_parts(const level *v, const em_fit_block *b, const em_fit_feature *f, size_t leaf)
{
  em_fit_gw *sum = hist_of(v->q, b, v->half + leaf) + f->offset;
  for (size_t part = 1; part < v->q->rows.parts; part++) {
    const em_fit_gw *more = hist_of(v->q, b, v->half + leaf + part * n_added(v)) + f->offset;
    for (size_t i = 0; i < f->n_bins; i++) sum[i] += more[i];
  }
  return sum;
}

/* A feature's histograms of all leaves: from those of leaves that were parted to those of their halves. */
static void take_halves(const level *v, const em_fit_feature *f)
{
  const em_fit_search *q = v->q;
  const em_fit_block *b = &q->bins->blocks[f->block];
  if (v->half == 0) join_parts(v, b, f, 0);
  for (size_t leaf = 0; leaf < v->half; leaf++) {
    em_fit_gw *low = hist_of(q, b, leaf) + f->offset, *high = join_parts(v, b, f, leaf);
    bool low_is_small = em_fit_rows_smaller(&q->rows, leaf, v->half) == leaf;
    for (size_t i = 0; i < f->n_bins; i++) {
      em_fit_gw built = high[i], rest = low[i] - built;
      low[i] = low_is_small ? built : rest;
      high[i] = low_is_small ? rest : built;
    }
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

static void score_features(void *ctx, size_t begin, size_t end)
{
  const level *v = ctx;
  em_fit_search *q = v->q;
  for (size_t i = begin; i < end; i++) {
    const em_fit_feature *f = &q->bins->features[i];
    take_halves(v, f);
    q->best[i] = offered(v, f) ? best_border(v, (uint32_t)i) : (em_fit_choice){(uint32_t)i, 0, -INFINITY};
  }
}

/* ---- tree -------------------------------------------------------------------------------- */

/* The scale of a score without any signal, fading as trees are added. */
static double noise_sd(const em_fit_search *q, size_t tree)
{
  const em_fit_params *p = q->params;
  if (p->random_strength == 0) return 0;
  int64_t squares = 0, weight = 0;
  for (size_t i = 0; i < q->rows.n; i++) {
    double g = (double)q->rows.gw[i][0] / EM_FIT_ONE_GRAD;
    squares += em_fit_fixed(g * g, EM_FIT_ONE_GRAD);
    weight += q->rows.gw[i][1];
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
  int threads = (int)q->params->threads;
  q->rows.begin[0] = 0;
  q->rows.end[0] = q->rows.n;
  for (; v.depth < depth; v.depth++) {
    build_all(&v);
    em_parallel_for(q->bins->n_features, 1, threads, score_features, &v);
    const em_fit_choice *best = best_feature(q);
    if (!best) break;
    splits[v.depth] = *best;
    v.half = (size_t)1 << v.depth;
    if (v.depth + 1 < depth) em_fit_rows_part(&q->rows, q->set, q->bins, *best, v.half, threads);
  }
  return v.depth;
}
