/*
 * pairs.c - the objectives PairLogit and YetiRank: which rows are to stand above which, and the derivatives.
 *
 * The leaf values of a tree move a pair by the difference of its rows' leaves, so steps work on the odds of
 * each pair and never on scores.
 */
#include <string.h>

#include "core/fit/fit_int.h"

/* YetiRank: orders drawn a tree; weight of the first two of an order, and how it falls from place to place. */
enum { ORDERS = 10, PLACES = 100 /* beyond it a weight is below one in ten millions of the first */ };
#define FIRST_WEIGHT 0.15
#define DECAY        0.85

/* ---- room ---------------------------------------------------------------------------- */

/* Ordered pairs of rows with different targets. */
static size_t count_different(const em_fit_set *s, size_t g)
{
  size_t n = s->start[g + 1] - s->start[g], same = 0;
  if (!s->groups[g]->latency) {
    size_t positives = (size_t)s->total[g];
    return positives * (n - positives);
  }
  for (size_t i = s->start[g]; i < s->start[g + 1] && n * n / 2 <= EM_FIT_MAX_PAIRS; i++)
    for (size_t k = i + 1; k < s->start[g + 1]; k++) same += s->target[i] == s->target[k];
  return n * (n - 1) / 2 - same;
}

static size_t room_of(const em_fit_set *s, size_t g, const em_fit_params *p)
{
  size_t n = s->start[g + 1] - s->start[g];
  if (p->objective == EM_OBJECTIVE_YETI) return ORDERS * (n - 1 < PLACES ? n - 1 : PLACES);
  size_t pairs = count_different(s, g);
  return pairs < EM_FIT_MAX_PAIRS ? pairs : EM_FIT_MAX_PAIRS;
}

void em_fit_pairs_close(em_fit_pairs *q)
{
  em_free(q->start);
  em_free(q->n);
  em_free(q->pairs);
  em_free(q->odds);
  em_free(q->slope);
  em_free(q->power);
  *q = (em_fit_pairs){0};
}

/* ---- PairLogit ------------------------------------------------------------------------- */

/* The row with the higher target wins; none does when they are equal. */
static void add_pair(const em_fit_set *s, size_t a, size_t b, double weight, em_fit_pair *pairs, size_t *n)
{
  if (s->target[a] == s->target[b]) return;
  bool first = s->target[a] > s->target[b];
  pairs[(*n)++] = (em_fit_pair){(uint32_t)(first ? a : b), (uint32_t)(first ? b : a), weight};
}

static void all_pairs(const em_fit_set *s, size_t g, em_fit_pair *pairs, size_t *n)
{
  for (size_t i = s->start[g]; i < s->start[g + 1]; i++)
    for (size_t k = s->start[g]; s->target[i] > 0 && k < s->start[g + 1]; k++)
      if (s->target[i] > s->target[k]) add_pair(s, i, k, 1, pairs, n);
}

/* As many draws of two rows as there is room for. */
static void some_pairs(const em_fit_set *s, size_t g, const em_fit_params *p, em_fit_pair *pairs, size_t *n)
{
  size_t first = s->start[g], rows = s->start[g + 1] - first;
  uint64_t stream = s->ids[g] ^ em_fit_stream(EM_FIT_DRAW_PAIRS, 0, 0);
  for (size_t k = 0; k < EM_FIT_MAX_PAIRS; k++) {
    size_t a = first + em_rng_below((uint64_t)p->seed, stream, 2 * k, rows);
    add_pair(s, a, first + em_rng_below((uint64_t)p->seed, stream, 2 * k + 1, rows), 1, pairs, n);
  }
}

static void fill_pairs(em_fit_pairs *q, const em_fit_set *s, const em_fit_params *p)
{
  for (size_t g = 0; g < s->n_groups; g++) {
    em_fit_pair *pairs = q->pairs + q->start[g];
    if (q->start[g + 1] - q->start[g] < EM_FIT_MAX_PAIRS)
      all_pairs(s, g, pairs, &q->n[g]);
    else
      some_pairs(s, g, p, pairs, &q->n[g]);
    for (size_t i = 0; i < q->n[g]; i++) pairs[i].weight = s->total[g] / (double)q->n[g];
  }
}

int em_fit_pairs_open(em_fit_pairs *q, const em_fit_set *s, const em_fit_params *p, em_err *err)
{
  *q = (em_fit_pairs){0};
  q->start = em_calloc(s->n_groups + 1, sizeof *q->start);
  q->n = em_calloc(s->n_groups, sizeof *q->n);
  q->slope = em_calloc(s->n_rows, sizeof *q->slope);
  q->power = em_calloc(p->objective == EM_OBJECTIVE_YETI ? s->n_rows : 1, sizeof *q->power);
  if (!q->start || !q->n || !q->slope || !q->power) return em_fail_nomem(err);
  for (size_t g = 0; g < s->n_groups; g++) q->start[g + 1] = q->start[g] + room_of(s, g, p);
  q->pairs = em_calloc(q->start[s->n_groups] + 1, sizeof *q->pairs);
  q->odds = em_calloc(q->start[s->n_groups] + 1, sizeof *q->odds);
  if (!q->pairs || !q->odds) return em_fail_nomem(err);
  if (p->objective == EM_OBJECTIVE_PAIRS) fill_pairs(q, s, p);
  return EM_OK;
}

/* ---- YetiRank --------------------------------------------------------------------------- */

typedef struct placed {
  double key;
  uint32_t row;
} placed;

typedef struct drawing {
  em_fit_pairs *q;
  const em_fit_set *set;
  const em_fit_params *params;
  const double *score;
  size_t draw;
} drawing;

/* Keeps `top` the highest keys, falling; equal keys stay in the order of the rows. */
static size_t place(placed *top, size_t n, double key, uint32_t row)
{
  size_t at = n < PLACES + 1 ? n : PLACES;
  if (n == PLACES + 1 && key <= top[at].key) return n;
  for (; at > 0 && top[at - 1].key < key; at--) top[at] = top[at - 1];
  top[at] = (placed){key, row};
  return n < PLACES + 1 ? n + 1 : n;
}

/* One drawn order: its neighbours with different targets. */
static void draw_order(const drawing *w, size_t g, size_t order)
{
  const em_fit_set *s = w->set;
  placed top[PLACES + 1];
  size_t n = 0;
  double weight = FIRST_WEIGHT / ORDERS;
  uint64_t stream = s->ids[g] ^ em_fit_stream(EM_FIT_DRAW_PAIRS, w->draw, order);
  for (size_t i = s->start[g]; i < s->start[g + 1]; i++) {
    double u = em_rng_f64((uint64_t)w->params->seed, stream, s->pool_row[i]);
    n = place(top, n, w->q->power[i] * u / (1.000001 - u), (uint32_t)i);
  }
  for (size_t i = 0; i + 1 < n; i++, weight *= DECAY) {
    double apart = s->target[top[i].row] - s->target[top[i + 1].row];
    add_pair(s, top[i].row, top[i + 1].row, weight * (apart < 0 ? -apart : apart), w->q->pairs + w->q->start[g],
             &w->q->n[g]);
  }
}

static void draw_groups(void *ctx, size_t begin, size_t end)
{
  const drawing *w = ctx;
  for (size_t g = begin; g < end; g++) {
    double max = w->score[w->set->start[g]];
    for (size_t i = w->set->start[g]; i < w->set->start[g + 1]; i++)
      if (w->score[i] > max) max = w->score[i];
    for (size_t i = w->set->start[g]; i < w->set->start[g + 1]; i++) w->q->power[i] = em_fit_exp(w->score[i] - max);
    w->q->n[g] = 0;
    for (size_t order = 0; order < ORDERS; order++) draw_order(w, g, order);
  }
}

void em_fit_pairs_draw(em_fit_pairs *q, const em_fit_set *s, const em_fit_params *p, const double *score, size_t draw)
{
  em_parallel_for(s->n_groups, 1, (int)p->threads, draw_groups, &(drawing){q, s, p, score, draw});
}

/* ---- derivatives --------------------------------------------------------------------------- */

typedef struct deriving {
  em_fit_pairs *q;
  const em_fit_set *set;
  const double *score;
  int64_t *loss; /* of each chunk of groups */
  size_t chunk;
} deriving;

/* p: the chance of the wrong order. */
static int64_t derive_pair(const em_fit_pair *pair, double odds, em_fit_slope *slope)
{
  double p = odds / (1.0 + odds);
  int64_t grad = em_fit_fixed(pair->weight * p, EM_FIT_ONE_GRAD);
  int64_t curv = em_fit_fixed(pair->weight * p * (1.0 - p), EM_FIT_ONE_GRAD);
  int64_t weight = em_fit_fixed(pair->weight, EM_FIT_ONE_GRAD);
  em_fit_slope *win = &slope[pair->win], *lose = &slope[pair->lose];
  *win = (em_fit_slope){win->grad + grad, win->curv + curv, win->weight + weight};
  *lose = (em_fit_slope){lose->grad - grad, lose->curv + curv, lose->weight + weight};
  return em_fit_fixed(pair->weight * em_fit_log(1.0 + odds), EM_FIT_ONE_LOSS);
}

static void derive_groups(void *ctx, size_t begin, size_t end)
{
  deriving *w = ctx;
  const em_fit_pairs *q = w->q;
  int64_t loss = 0;
  for (size_t g = begin; g < end; g++) {
    size_t first = w->set->start[g];
    memset(q->slope + first, 0, (w->set->start[g + 1] - first) * sizeof *q->slope);
    for (size_t i = q->start[g]; i < q->start[g] + q->n[g]; i++) {
      q->odds[i] = em_fit_exp(w->score[q->pairs[i].lose] - w->score[q->pairs[i].win]);
      loss += derive_pair(&q->pairs[i], q->odds[i], q->slope);
    }
  }
  w->loss[begin / w->chunk] = loss;
}

double em_fit_pairs_derive(em_fit_pairs *q, const em_fit_set *s, const double *score, int threads)
{
  int64_t loss[EM_FIT_CHUNKS] = {0}, sum = 0;
  deriving w = {q, s, score, loss, (s->n_groups + EM_FIT_CHUNKS - 1) / EM_FIT_CHUNKS};
  em_parallel_for(s->n_groups, w.chunk, threads, derive_groups, &w);
  for (size_t i = 0; i < EM_FIT_CHUNKS; i++) sum += loss[i];
  return (double)sum / EM_FIT_ONE_LOSS;
}

/* ---- leaf values ------------------------------------------------------------------------------ */

typedef struct view {
  const em_fit_pairs *q;
  const em_fit_set *set;
  const uint16_t *leaf;
} view;

static int64_t evaluate(const void *ctx, size_t begin, size_t end, const double *value, const double *factor,
                        int64_t *sums)
{
  const view *w = ctx;
  const em_fit_pairs *q = w->q;
  int64_t loss = 0;
  (void)value;
  for (size_t g = begin; g < end; g++)
    for (size_t i = q->start[g]; i < q->start[g] + q->n[g]; i++) {
      const em_fit_pair *pair = &q->pairs[i];
      size_t win = w->leaf[pair->win], lose = w->leaf[pair->lose];
      if (win == lose) continue;
      double odds = q->odds[i] * factor[lose] / factor[win], p = odds / (1.0 + odds);
      int64_t grad = em_fit_fixed(pair->weight * p, EM_FIT_ONE_GRAD);
      int64_t curv = em_fit_fixed(pair->weight * p * (1.0 - p), EM_FIT_ONE_GRAD);
      sums[2 * win] += grad;
      sums[2 * lose] -= grad;
      sums[2 * win + 1] += curv;
      sums[2 * lose + 1] += curv;
      loss += em_fit_fixed(pair->weight * em_fit_log((1.0 + odds) / (1.0 + q->odds[i])), EM_FIT_ONE_LOSS);
    }
  return loss;
}

void em_fit_pairs_leaves(const em_fit_pairs *q, const em_fit_set *s, const uint16_t *leaf, const em_fit_params *p,
                         em_fit_leaves *l)
{
  memset(l->weight, 0, l->n * sizeof *l->weight);
  memset(l->sums, 0, l->n * sizeof *l->sums);
  for (size_t i = 0; i < s->n_rows; i++) {
    l->weight[leaf[i]]++;
    l->sums[leaf[i]] += q->slope[i].weight;
  }
  for (size_t i = 0; i < l->n; i++) l->base[i] = (double)l->sums[i] / EM_FIT_ONE_GRAD;
  em_fit_step_leaves(l, p, &(em_fit_objective){evaluate, &(view){q, s, leaf}, s->n_groups, (int)p->threads});
}
