/*
 * score_avx2.c - scoring with AVX2.
 */
#include <string.h>

#include "core/prior/score_int.h"

#if defined(__x86_64__)
#include "core/prior/score_x86.h"

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

static bool available(void) { return __builtin_cpu_supports("avx2"); }

/* ---- loading ------------------------------------------------------------------------ */

INLINE __m256 narrow(const double *x)
{
  return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(x + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(x)));
}

TARGET static void load(const double *rows, size_t stride, size_t n, float *out)
{
  size_t r = 0;
  for (; r + 8 <= n; r += 8) {
    const double *x = rows + r * stride;
    const __m256 v[8] = {narrow(x),
                         narrow(x + stride),
                         narrow(x + 2 * stride),
                         narrow(x + 3 * stride),
                         narrow(x + 4 * stride),
                         narrow(x + 5 * stride),
                         narrow(x + 6 * stride),
                         narrow(x + 7 * stride)};
    em_store_turned(v, out + r);
  }
  em_score_load_portable(rows, stride, r, n, out);
}

/* ---- values to bins ----------------------------------------------------------------- */

/* b where bit `bit` of i is set, else a. */
INLINE __m256 choose(__m256 a, __m256 b, __m256i i, int bit)
{
  return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(_mm256_slli_epi32(i, 31 - bit)));
}

INLINE __m256 permute(const float *at, __m256i i) { return _mm256_permutevar8x32_ps(_mm256_load_ps(at), i); }

/* heap[i] for eight positions i of level `level` <= 5, that is 2^level <= i < 2^(level + 1).
 * A permutation uses the three low bits of i. */
INLINE __m256 look_up(const float *heap, int level, __m256i i)
{
  if (level <= 2) return permute(heap, i);
  const float *at = heap + ((size_t)1 << level);
  if (level == 3) return permute(at, i);
  __m256 a = choose(permute(at, i), permute(at + 8, i), i, 3);
  if (level == 4) return a;
  return choose(a, choose(permute(at + 16, i), permute(at + 24, i), i, 3), i, 4);
}

/* How many of the 2^levels - 1 separators are below each value. */
INLINE __m256i search(const float *heap, int levels, __m256 v)
{
  __m256i i = _mm256_set1_epi32(1);
#pragma GCC unroll 8
  for (int l = 0; l < levels; l++) {
    __m256i above = _mm256_castps_si256(_mm256_cmp_ps(v, look_up(heap, l, i), _CMP_GT_OQ));
    i = _mm256_sub_epi32(_mm256_add_epi32(i, i), above);
  }
  return _mm256_sub_epi32(i, _mm256_set1_epi32(1 << levels));
}

/* 32 counts of borders below, as bins. */
INLINE void store_bins(const __m256i below[4], int8_t *bins)
{
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7); /* undoes the lanes of packing */
  __m256i i[4];
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) i[k] = _mm256_sub_epi32(below[k], _mm256_set1_epi32(128));
  __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(i[0], i[1]), _mm256_packs_epi32(i[2], i[3]));
  _mm256_storeu_si256((__m256i *)(bins), _mm256_permutevar8x32_epi32(packed, order));
}

INLINE void quantize_levels(const float *heap, int levels, const float *values, int8_t *bins)
{
  for (size_t r = 0; r < EM_BLOCK; r += 32) {
    __m256i i[4];
    for (size_t k = 0; k < 4; k++) i[k] = search(heap, levels, _mm256_loadu_ps(values + r + 8 * k));
    store_bins(i, bins + r);
  }
}

/* Four values, each compared with eight borders: a byte is -1 where its border is below.  Lanes hold four borders of
 * each value, the lower and the upper ones. */
INLINE __m256i compare_eights(const float *sorted, const uint32_t *at, const float *values)
{
  __m256i below[4];
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++)
    below[k] = _mm256_castps_si256(
      _mm256_cmp_ps(_mm256_broadcast_ss(values + k), _mm256_load_ps(sorted + at[k]), _CMP_GT_OQ));
  return _mm256_packs_epi16(_mm256_packs_epi32(below[0], below[1]), _mm256_packs_epi32(below[2], below[3]));
}

/* The bins of eight values, of which `at` says where the eight borders begin that are left to look at. */
INLINE __m256i finish_search(const float *sorted, const uint32_t *at, const float *values)
{
  __m256i a = compare_eights(sorted, at, values), b = compare_eights(sorted, at + 4, values + 4);
  __m256i pairs = _mm256_add_epi8(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
  __m256i below = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), pairs), _mm256_set1_epi16(-1));
  return _mm256_add_epi32(_mm256_load_si256((const __m256i *)(const void *)at), below);
}

/* Many borders: the search stops where eight are left, and one comparison takes all of them.  It is quicker than gathers. */
INLINE void quantize_eights(const float *heap, const float *sorted, int levels, const float *values, int8_t *bins)
{
  _Alignas(32) uint32_t at[EM_BLOCK];
  for (size_t r = 0; r < EM_BLOCK; r += 8) {
    __m256i eight = search(heap, levels - 3, _mm256_loadu_ps(values + r));
    _mm256_store_si256((__m256i *)(void *)(at + r), _mm256_slli_epi32(eight, 3));
  }
  for (size_t r = 0; r < EM_BLOCK; r += 32) {
    __m256i i[4];
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; k++) i[k] = finish_search(sorted, at + r + 8 * k, values + r + 8 * k);
    store_bins(i, bins + r);
  }
}

/* The number of levels is a constant in each call: the search unrolls. */
TARGET static void quantize(const em_plan *p, const em_bin_column *c, const float *values, int8_t *bins)
{
  const float *heap = p->heaps + c->heap_at, *sorted = p->sorted + c->heap_at;
  switch (c->levels) {
  case 1: quantize_levels(heap, 1, values, bins); break;
  case 2: quantize_levels(heap, 2, values, bins); break;
  case 3: quantize_levels(heap, 3, values, bins); break;
  case 4: quantize_levels(heap, 4, values, bins); break;
  case 5: quantize_levels(heap, 5, values, bins); break;
  case 6: quantize_levels(heap, 6, values, bins); break;
  case 7: quantize_eights(heap, sorted, 7, values, bins); break;
  default: quantize_eights(heap, sorted, 8, values, bins);
  }
}

/* ---- trees of depth <= 8 --------------------------------------------------------------- */

#define TOGETHER 32 /* trees whose leaves are found before their values are added */

/* The highest split comes first.  A comparison gives -1 where the value is not above, since this way the value is read
 * by the comparison itself: what adds up is how far the leaf is from the last one. */
INLINE __m256i add_split(__m256i from_last, const int8_t *bins, __m256i above)
{
  __m256i below = _mm256_cmpgt_epi8(above, _mm256_load_si256((const __m256i *)(const void *)bins));
  return _mm256_add_epi8(_mm256_add_epi8(from_last, from_last), below);
}

INLINE void find_leaves(const em_bin_split *splits, size_t depth, const int8_t *bins, uint8_t *leaf)
{
  __m256i a = _mm256_setzero_si256(), b = a, c = a, e = a;
#pragma GCC unroll 8
  for (size_t d = depth; d-- > 0;) {
    const int8_t *column = bins + splits[d].bins_at;
    __m256i above = _mm256_set1_epi8(splits[d].above);
    a = add_split(a, column, above);
    b = add_split(b, column + 32, above);
    c = add_split(c, column + 64, above);
    e = add_split(e, column + 96, above);
  }
  const __m256i last = _mm256_set1_epi8((char)((1 << depth) - 1));
  _mm256_store_si256((__m256i *)(void *)leaf, _mm256_add_epi8(last, a));
  _mm256_store_si256((__m256i *)(void *)(leaf + 32), _mm256_add_epi8(last, b));
  _mm256_store_si256((__m256i *)(void *)(leaf + 64), _mm256_add_epi8(last, c));
  _mm256_store_si256((__m256i *)(void *)(leaf + 96), _mm256_add_epi8(last, e));
}

/* The values of one tree for 16 rows, whose leaves two loads have: what bounds this is the loading of values, two a
 * cycle.  The halves are shifted in place, two leaves a time; without the empty statement compilers shift a copy for
 * each leaf. */
INLINE void add_tree(double s[16], const double *values, const uint8_t *leaf)
{
  uint64_t a, b;
  memcpy(&a, leaf, sizeof a);
  memcpy(&b, leaf + sizeof a, sizeof b);
#pragma GCC unroll 4
  for (int k = 0; k < 8; k += 2) {
    s[k] += values[(uint8_t)a];
    s[k + 1] += values[(uint8_t)(a >> 8)];
    s[k + 8] += values[(uint8_t)b];
    s[k + 9] += values[(uint8_t)(b >> 8)];
    a >>= 16;
    b >>= 16;
    __asm__("" : "+r"(a), "+r"(b));
  }
}

/* 16 rows through n trees, their sums in registers.  The leaf values of tree t begin at values + at[t], or where at is
 * NULL at values + t * leaves. */
INLINE void add_rows(const double *values, const size_t *at, size_t leaves, size_t n, const uint8_t *leaf, double *sums)
{
  double s[16];
  size_t t = 0;
#pragma GCC unroll 16
  for (int k = 0; k < 16; k++) s[k] = sums[k];
  for (; t + 2 <= n; t += 2, leaf += (size_t)2 * EM_BLOCK) {
    add_tree(s, values + (at ? at[t] : t * leaves), leaf);
    add_tree(s, values + (at ? at[t + 1] : (t + 1) * leaves), leaf + EM_BLOCK);
  }
  if (t < n) add_tree(s, values + (at ? at[t] : t * leaves), leaf);
#pragma GCC unroll 16
  for (int k = 0; k < 16; k++) sums[k] = s[k];
}

/* n trees of depth 6, by far the most frequent: their splits and leaf values lie one after another. */
TARGET static void group_of_six(const em_model *m, size_t from, size_t n, const int8_t *bins, double *sums,
                                em_ahead *next)
{
  _Alignas(32) uint8_t leaf[TOGETHER][EM_BLOCK];
  const em_bin_split *splits = m->plan.splits + m->trees[from].split_at;
  const double *values = m->leaf_values + m->trees[from].leaf_at;
  for (size_t i = 0; i < n; i++) {
    em_ahead_step(next);
    find_leaves(splits + 6 * i, 6, bins, leaf[i]);
  }
  for (size_t row = 0; row < EM_BLOCK; row += 16) add_rows(values, NULL, 64, n, leaf[0] + row, sums + row);
}

/* n trees of any depths up to 8. */
TARGET static void group_of_any(const em_model *m, size_t from, size_t n, const int8_t *bins, double *sums,
                                em_ahead *next)
{
  _Alignas(32) uint8_t leaf[TOGETHER][EM_BLOCK];
  size_t at[TOGETHER];
  for (size_t i = 0; i < n; i++) {
    const em_oblivious *t = &m->trees[from + i];
    em_ahead_step(next);
    at[i] = t->leaf_at;
    find_leaves(m->plan.splits + t->split_at, t->n_splits, bins, leaf[i]);
  }
  for (size_t row = 0; row < EM_BLOCK; row += 16) add_rows(m->leaf_values, at, 0, n, leaf[0] + row, sums + row);
}

/* How many trees from `from` on, at most TOGETHER, are no deeper than 8; *six: all of them have depth 6. */
static size_t group_at(const em_model *m, size_t from, bool *six)
{
  size_t n = 0;
  for (*six = true; n < TOGETHER && from + n < m->n_trees && m->trees[from + n].n_splits <= 8; n++)
    *six &= m->trees[from + n].n_splits == 6;
  return n;
}

/* Groups of shallow trees, and the deeper ones between them. */
static void trees(const em_model *m, const int8_t *bins, double *sums, em_ahead *next)
{
  for (size_t t = 0; t < m->n_trees;) {
    bool six;
    size_t n = group_at(m, t, &six);
    if (n == 0)
      em_score_tree_portable(m, t, bins, sums);
    else if (six)
      group_of_six(m, t, n, bins, sums, next);
    else
      group_of_any(m, t, n, bins, sums, next);
    t += n ? n : 1;
  }
}

const em_score_ops em_score_avx2 = {"AVX2", available, load, quantize, trees};

#else

static bool available(void) { return false; }
const em_score_ops em_score_avx2 = {.name = "AVX2", .available = available};

#endif
