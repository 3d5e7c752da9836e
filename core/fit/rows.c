/*
 * rows.c - the rows of a tree that grows, leaf by leaf.
 *
 * Work on them is parted into stretches: pieces of leaves, so that one large leaf keeps all threads busy.
 * Nothing depends on where stretches end: rows keep their order, and sums of them are exact.
 */
#include <string.h>

#include "core/fit/fit_int.h"

#define STRETCH ((size_t)8192) /* rows; shorter pieces do not pay for being dealt out */

int em_fit_rows_open(em_fit_rows *r, const em_fit_set *s, size_t max_leaves, bool runs, em_err *err)
{
  *r = (em_fit_rows){0};
  r->id = em_calloc(s->n_rows, sizeof *r->id);
  r->id_next = em_calloc(s->n_rows, sizeof *r->id_next);
  r->gw = em_alloc_aligned(s->n_rows, sizeof *r->gw);
  r->gw_next = em_alloc_aligned(s->n_rows, sizeof *r->gw_next);
  r->right = em_calloc(s->n_rows, sizeof *r->right);
  r->begin = em_calloc(max_leaves, sizeof *r->begin);
  r->end = em_calloc(max_leaves, sizeof *r->end);
  r->stretches = em_calloc(max_leaves + s->n_rows / STRETCH, sizeof *r->stretches);
  bool ok = r->id && r->id_next && r->gw && r->gw_next && r->right && r->begin && r->end && r->stretches;
  if (ok && runs) {
    r->run_id = em_calloc(s->n_rows, sizeof *r->run_id);
    r->run_gw = em_alloc_aligned(s->n_rows, sizeof *r->run_gw);
    ok = r->run_id && r->run_gw;
  }
  return ok ? EM_OK : em_fail_nomem(err);
}

void em_fit_rows_close(em_fit_rows *r)
{
  em_free(r->id);
  em_free(r->id_next);
  em_free(r->gw);
  em_free(r->gw_next);
  em_free(r->right);
  em_free(r->begin);
  em_free(r->end);
  em_free(r->stretches);
  em_free(r->run_id);
  em_free(r->run_gw);
  *r = (em_fit_rows){0};
}

static size_t rows_of(const em_fit_rows *r, size_t leaf) { return r->end[leaf] - r->begin[leaf]; }

size_t em_fit_rows_smaller(const em_fit_rows *r, size_t leaf, size_t half)
{
  return rows_of(r, leaf) <= rows_of(r, leaf + half) ? leaf : leaf + half;
}

/* ---- stretches -------------------------------------------------------------------- */

static void add_stretches(em_fit_rows *r, size_t leaf, size_t n)
{
  size_t at = r->begin[leaf], left = rows_of(r, leaf);
  for (; n > 0; n--) {
    size_t rows = left / n;
    r->stretches[r->n_stretches++] = (em_fit_stretch){.leaf = leaf, .begin = at, .end = at + rows};
    at += rows;
    left -= rows;
  }
}

void em_fit_rows_to_add(em_fit_rows *r, size_t half, size_t most)
{
  size_t rows = 0, leaves = half ? half : 1;
  for (size_t leaf = 0; leaf < leaves; leaf++) rows += rows_of(r, half ? em_fit_rows_smaller(r, leaf, half) : leaf);
  size_t n = rows / leaves / STRETCH;
  r->n_stretches = 0;
  r->parts = n < 1 || most < 1 ? 1 : n < most ? n : most;
  for (size_t leaf = 0; leaf < leaves; leaf++)
    add_stretches(r, half ? em_fit_rows_smaller(r, leaf, half) : leaf, r->parts);
}

typedef struct summing {
  em_fit_rows *rows;
  const uint32_t *group; /* of each row */
} summing;

/* Sums of the runs of rows of one group, at the place of the rows. */
static void sum_runs(void *ctx, size_t begin, size_t end)
{
  const summing *w = ctx;
  em_fit_rows *r = w->rows;
  for (em_fit_stretch *s = r->stretches + begin; s < r->stretches + end; s++) {
    uint32_t last = UINT32_MAX;
    size_t n = s->begin; /* where the next run goes */
    for (size_t i = s->begin; i < s->end; i++) {
      uint32_t g = w->group[r->id[i]];
      if (g != last) {
        r->run_id[n] = last = g;
        r->run_gw[n++] = (em_fit_gw){0, 0};
      }
      r->run_gw[n - 1] += r->gw[i];
    }
    s->n_runs = n - s->begin;
  }
}

void em_fit_rows_sum_runs(em_fit_rows *r, const em_fit_set *set, int threads)
{
  if (r->run_id) em_parallel_for(r->n_stretches, 1, threads, sum_runs, &(summing){r, set->group});
}

/* ---- parting ----------------------------------------------------------------------- */

typedef struct parting {
  em_fit_rows *rows;
  const em_fit_set *set;
  const em_fit_bins *bins;
  const em_fit_feature *feature;
  bool right[EM_FIT_CODES]; /* of each code */
} parting;

void em_fit_sides(const em_fit_feature *f, uint32_t border, bool right[EM_FIT_CODES])
{
  for (size_t code = 0; code < EM_FIT_CODES; code++) right[code] = code / f->div % f->n_bins > border;
}

static void mark_sides(void *ctx, size_t begin, size_t end)
{
  const parting *w = ctx;
  em_fit_rows *r = w->rows;
  for (em_fit_stretch *s = r->stretches + begin; s < r->stretches + end; s++) {
    size_t n = 0;
    for (size_t i = s->begin; i < s->end; i++) {
      r->right[i] = w->right[*em_fit_code(w->bins, w->feature, w->set, r->id[i])];
      n += r->right[i];
    }
    s->right = n;
  }
}

/* Where the halves begin and end; stretches: from how many rows go right to where its rows go. */
static void place_halves(em_fit_rows *r, size_t half)
{
  for (size_t leaf = 0; leaf < half; leaf++) {
    r->end[leaf + half] = r->end[leaf];
    r->begin[leaf + half] = r->end[leaf];
  }
  for (size_t k = 0; k < r->n_stretches; k++) r->begin[r->stretches[k].leaf + half] -= r->stretches[k].right;
  for (size_t leaf = 0; leaf < half; leaf++) r->end[leaf] = r->begin[leaf + half];
  size_t left = 0, right = 0;
  for (em_fit_stretch *s = r->stretches; s < r->stretches + r->n_stretches; s++) {
    if (s->begin == r->begin[s->leaf]) {
      left = s->begin;
      right = r->begin[s->leaf + half];
    }
    size_t n_right = s->right;
    s->left = left;
    s->right = right;
    left += s->end - s->begin - n_right;
    right += n_right;
  }
}

static void move_rows(void *ctx, size_t begin, size_t end)
{
  const em_fit_rows *r = ctx;
  for (const em_fit_stretch *s = r->stretches + begin; s < r->stretches + end; s++) {
    size_t to[2] = {s->left, s->right};
    for (size_t i = s->begin; i < s->end; i++) {
      size_t at = to[r->right[i]]++;
      r->id_next[at] = r->id[i];
      r->gw_next[at] = r->gw[i];
    }
  }
}

static void swap_buffers(em_fit_rows *r)
{
  uint32_t *id = r->id;
  em_fit_gw *gw = r->gw;
  r->id = r->id_next;
  r->gw = r->gw_next;
  r->id_next = id;
  r->gw_next = gw;
}

void em_fit_rows_part(em_fit_rows *r, const em_fit_set *set, const em_fit_bins *bins, em_fit_choice split, size_t half,
                      int threads)
{
  parting w = {.rows = r, .set = set, .bins = bins, .feature = &bins->features[split.feature]};
  em_fit_sides(w.feature, split.border, w.right);
  r->n_stretches = 0;
  for (size_t leaf = 0; leaf < half; leaf++) add_stretches(r, leaf, 1 + rows_of(r, leaf) / (STRETCH + 1));
  em_parallel_for(r->n_stretches, 1, threads, mark_sides, &w);
  place_halves(r, half);
  em_parallel_for(r->n_stretches, 1, threads, move_rows, r);
  swap_buffers(r);
}
