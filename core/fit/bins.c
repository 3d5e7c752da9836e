/*
 * bins.c - the training rows as 8-bit codes.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

/* ---- values to bins, a column at a time -------------------------------------------- */

#define TOGETHER 16 /* columns whose values are fetched in one pass over the pools */

/* Columns while they are cut: one byte a row, column by column. */
typedef struct cutting {
  const em_fit_set *set;
  const em_columns *cols;
  size_t max_borders;
  em_fit_bins *out;
  size_t first, n;       /* columns that are being cut */
  float *values;         /* TOGETHER x n_rows: of these */
  uint8_t *bins;         /* n_columns x n_rows */
  bool *varies_in_group; /* of each column */
  em_digest *digest;     /* of each column's bins */
  bool *failed;          /* of each column: out of memory */
} cutting;

/* As the model compares: float32; beyond its range the largest finite one, 0 for -0. */
static float narrow(double x)
{
  if (x > FLT_MAX) return FLT_MAX;
  if (x < -FLT_MAX) return -FLT_MAX;
  return (float)x + 0.0f;
}

/* Pool by pool, so that only one need be in memory. */
static void fetch_groups(void *ctx, size_t begin, size_t end)
{
  const cutting *c = ctx;
  const em_fit_set *s = c->set;
  for (size_t g = begin; g < end; g++) {
    const em_fit_group *pool = s->groups[g];
    for (size_t k = 0; k < c->n; k++) {
      int64_t at = em_columns_index(pool->cols, c->cols->names[c->first + k]);
      float *value = c->values + k * s->n_rows;
      for (size_t i = s->start[g]; i < s->start[g + 1]; i++) {
        double x = at < 0 ? NAN : pool->matrix[(size_t)s->pool_row[i] * pool->cols->n + (size_t)at];
        value[i] = isnan(x) ? NAN : narrow(x);
      }
    }
    em_fit_rest(pool);
  }
}

/* Number of borders less than x; NaN is less than all. */
static uint8_t bin_of_value(const float *border, size_t n, float x)
{
  size_t lo = 0;
  while (n > 0) {
    size_t half = n / 2;
    if (x > border[lo + half]) {
      lo += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return (uint8_t)lo;
}

static void cut_column(cutting *c, size_t col, uint32_t *keys)
{
  const em_fit_set *s = c->set;
  const float *value = c->values + (col - c->first) * s->n_rows;
  float *border = c->out->borders + col * EM_FIT_MAX_BORDERS;
  uint8_t *bins = c->bins + col * s->n_rows;
  size_t n = 0, first = 0;
  for (size_t i = 0; i < s->n_rows; i++)
    if (!isnan(value[i])) keys[n++] = em_fit_key(value[i]);
  bool nans = n < s->n_rows;
  if (nans && n > 0) border[first++] = -FLT_MAX;
  size_t n_borders = first + em_fit_borders(keys, keys + s->n_rows, n, c->max_borders - first, border + first);
  c->out->has_nans[col] = nans;
  c->out->n_borders[col] = (uint16_t)n_borders;
  for (size_t i = 0; i < s->n_rows; i++) bins[i] = bin_of_value(border, n_borders, value[i]);
  for (size_t i = 1; i < s->n_rows && !c->varies_in_group[col]; i++)
    c->varies_in_group[col] = bins[i] != bins[i - 1] && s->group[i] == s->group[i - 1];
  c->digest[col] = em_digest_bytes(bins, s->n_rows);
}

static void cut_columns(void *ctx, size_t begin, size_t end)
{
  cutting *c = ctx;
  for (size_t col = c->first + begin; col < c->first + end; col++) {
    uint32_t *keys = em_calloc(c->set->n_rows, 2 * sizeof *keys);
    c->failed[col] = !keys;
    if (keys) cut_column(c, col, keys);
    em_free(keys);
  }
}

static int cut_all(cutting *c, int threads, em_err *err)
{
  c->values = em_calloc(c->set->n_rows, TOGETHER * sizeof *c->values);
  if (!c->values) return em_fail_nomem(err);
  for (c->first = 0; c->first < c->cols->n; c->first += TOGETHER) {
    size_t left = c->cols->n - c->first;
    c->n = left < TOGETHER ? left : TOGETHER;
    em_parallel_for(c->set->n_groups, 1, threads, fetch_groups, c);
    em_parallel_for(c->n, 1, threads, cut_columns, c);
  }
  em_free(c->values);
  return EM_OK;
}

/* ---- bins to codes -------------------------------------------------------------------- */

/* Does an earlier column cut the rows in the same way?  Then this one has nothing to add. */
static bool repeats(const cutting *c, size_t col)
{
  for (size_t i = 0; i < col; i++)
    if (c->out->n_borders[i] == c->out->n_borders[col] && em_digest_eq(c->digest[i], c->digest[col])) return true;
  return false;
}

typedef struct slot {
  bool per_group;
  size_t size;
} slot;

/* First fit of the features into slots; a feature's `block` holds the number of its slot until the slots have blocks. */
static size_t fill_slots(em_fit_bins *b, const cutting *c, slot *slots)
{
  size_t n = 0;
  for (size_t i = 0; i < b->n_features; i++) {
    em_fit_feature *f = &b->features[i];
    bool per_group = !c->varies_in_group[f->column];
    size_t k = 0;
    while (k < n && (slots[k].per_group != per_group || slots[k].size * f->n_bins > EM_FIT_CODES)) k++;
    if (k == n) slots[n++] = (slot){per_group, 1};
    f->block = (uint32_t)k;
    f->div = (uint16_t)slots[k].size;
    slots[k].size *= f->n_bins;
  }
  return n;
}

/* Largest first, so that first fit packs well. */
static int by_bins(const void *a, const void *b)
{
  const em_fit_feature *x = a, *y = b;
  if (x->n_bins != y->n_bins) return x->n_bins > y->n_bins ? -1 : 1;
  return x->column < y->column ? -1 : x->column > y->column;
}

static int by_place(const void *a, const void *b)
{
  const em_fit_feature *x = a, *y = b;
  if (x->block != y->block) return x->block < y->block ? -1 : 1;
  if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
  return x->div < y->div ? -1 : x->div > y->div;
}

/* Slots to blocks, those of rows first; place[k] = block * EM_FIT_SLOTS + slot of slot k. */
static void fill_blocks(em_fit_bins *b, const slot *slots, size_t n, size_t *place)
{
  for (int per_group = 0; per_group < 2; per_group++) {
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
      if (slots[k].per_group != per_group) continue;
      if (used % EM_FIT_SLOTS == 0)
        b->blocks[b->n_blocks++] = (em_fit_block){.per_group = per_group, .slot_size = {1, 1, 1, 1}};
      b->blocks[b->n_blocks - 1].slot_size[used % EM_FIT_SLOTS] = (uint16_t)slots[k].size;
      place[k] = (b->n_blocks - 1) * EM_FIT_SLOTS + used % EM_FIT_SLOTS;
      used++;
    }
  }
}

static void place_features(em_fit_bins *b, const size_t *place)
{
  for (size_t i = 0; i < b->n_features; i++) {
    size_t at = place[b->features[i].block];
    b->features[i].block = (uint32_t)(at / EM_FIT_SLOTS);
    b->features[i].slot = (uint16_t)(at % EM_FIT_SLOTS);
  }
  qsort(b->features, b->n_features, sizeof *b->features, by_place);
  for (size_t i = 0; i < b->n_features; i++) {
    em_fit_block *k = &b->blocks[b->features[i].block];
    if (k->n++ == 0) k->first = (uint32_t)i;
    b->features[i].offset = k->n_bins;
    k->n_bins += b->features[i].n_bins;
  }
  for (size_t k = 0; k < b->n_blocks; k++) {
    b->blocks[k].hist = b->total_bins;
    b->total_bins += b->blocks[k].n_bins;
  }
}

typedef struct coding {
  const cutting *cut;
  em_fit_bins *out;
} coding;

static void code_blocks(void *ctx, size_t begin, size_t end)
{
  const coding *w = ctx;
  const em_fit_set *s = w->cut->set;
  for (size_t k = begin; k < end; k++) {
    em_fit_block *b = &w->out->blocks[k];
    size_t n = b->per_group ? s->n_groups : s->n_rows;
    for (size_t i = b->first; i < b->first + b->n; i++) {
      const em_fit_feature *f = &w->out->features[i];
      const uint8_t *bins = w->cut->bins + f->column * s->n_rows;
      for (size_t r = 0; r < n; r++)
        b->codes[r * EM_FIT_SLOTS + f->slot] += (uint8_t)(bins[b->per_group ? s->start[r] : r] * f->div);
    }
  }
}

/* Room for the slots and where each goes. */
typedef struct packing {
  slot *slots;
  size_t *place;
} packing;

static int place_all(cutting *c, packing w, em_err *err)
{
  em_fit_bins *b = c->out;
  if (!w.slots || !w.place || !b->blocks) return em_fail_nomem(err);
  qsort(b->features, b->n_features, sizeof *b->features, by_bins);
  fill_blocks(b, w.slots, fill_slots(b, c, w.slots), w.place);
  place_features(b, w.place);
  return EM_OK;
}

static int pack(cutting *c, int threads, em_err *err)
{
  em_fit_bins *b = c->out;
  packing w = {em_calloc(b->n_features, sizeof *w.slots), em_calloc(b->n_features, sizeof *w.place)};
  b->blocks = em_calloc(b->n_features, sizeof *b->blocks);
  int rc = place_all(c, w, err);
  for (size_t k = 0; k < b->n_blocks && rc == EM_OK; k++) {
    size_t n = b->blocks[k].per_group ? c->set->n_groups : c->set->n_rows;
    b->blocks[k].codes = em_calloc(n, EM_FIT_SLOTS);
    if (!b->blocks[k].codes) rc = em_fail_nomem(err);
  }
  if (rc == EM_OK) em_parallel_for(b->n_blocks, 1, threads, code_blocks, &(coding){c, b});
  em_free(w.slots);
  em_free(w.place);
  return rc;
}

/* The features: columns with borders that cut the rows in a way of their own. */
static int list_features(cutting *c, em_err *err)
{
  em_fit_bins *b = c->out;
  for (size_t col = 0; col < b->n_columns; col++) {
    if (c->failed[col]) return em_fail_nomem(err);
    if (b->n_borders[col] == 0 || repeats(c, col)) continue;
    b->features[b->n_features++] = (em_fit_feature){
      .column = (uint32_t)col,
      .n_bins = (uint16_t)(b->n_borders[col] + 1),
      .has_nans = b->has_nans[col],
      .borders = b->borders + col * EM_FIT_MAX_BORDERS,
    };
  }
  if (b->n_features == 0)
    return em_fail(err, EM_E_INPUT, "nothing to learn from: none of the %zu columns varies over the %zu training rows",
                   b->n_columns, c->set->n_rows);
  return EM_OK;
}

int em_fit_bins_make(const em_fit_set *s, const em_columns *cols, size_t max_borders, int threads, em_fit_bins *out,
                     em_err *err)
{
  *out = (em_fit_bins){.n_columns = cols->n};
  cutting c = {.set = s, .cols = cols, .max_borders = max_borders, .out = out};
  out->features = em_calloc(cols->n, sizeof *out->features);
  out->borders = em_calloc(cols->n, EM_FIT_MAX_BORDERS * sizeof *out->borders);
  out->n_borders = em_calloc(cols->n, sizeof *out->n_borders);
  out->has_nans = em_calloc(cols->n, sizeof *out->has_nans);
  c.bins = em_calloc(cols->n, s->n_rows);
  c.varies_in_group = em_calloc(cols->n, sizeof *c.varies_in_group);
  c.digest = em_calloc(cols->n, sizeof *c.digest);
  c.failed = em_calloc(cols->n, sizeof *c.failed);
  int rc = EM_OK;
  if (!out->features || !out->borders || !out->n_borders || !out->has_nans || !c.bins || !c.varies_in_group ||
      !c.digest || !c.failed)
    rc = em_fail_nomem(err);
  if (rc == EM_OK) rc = cut_all(&c, threads, err);
  if (rc == EM_OK) rc = list_features(&c, err);
  if (rc == EM_OK) rc = pack(&c, threads, err);
  em_free(c.bins);
  em_free(c.varies_in_group);
  em_free(c.digest);
  em_free(c.failed);
  if (rc != EM_OK) em_fit_bins_free(out);
  return rc;
}

void em_fit_bins_free(em_fit_bins *b)
{
  for (size_t k = 0; k < b->n_blocks; k++) em_free(b->blocks[k].codes);
  em_free(b->blocks);
  em_free(b->features);
  em_free(b->borders);
  em_free(b->n_borders);
  em_free(b->has_nans);
  *b = (em_fit_bins){0};
}
