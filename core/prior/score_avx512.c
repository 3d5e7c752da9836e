/*
 * score_avx512.c - scoring with AVX-512 (F, BW, DQ).
 */
#include "core/prior/score_int.h"

#if defined(__x86_64__)
#include "core/prior/score_x86.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) TARGET

static bool available(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* ---- loading ------------------------------------------------------------------------ */

INLINE __m256 narrow(const double *x) { return _mm512_cvtpd_ps(_mm512_loadu_pd(x)); }

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

/* heap[i] for sixteen positions i of level `level`, that is 2^level <= i < 2^(level + 1).
 * A permutation uses only the low bits of i it needs: 4 of one register, 5 of two. */
INLINE __m512 look_up(const float *heap, int level, __m512i i)
{
  if (level <= 3) return _mm512_permutexvar_ps(i, _mm512_load_ps(heap));
  const float *at = heap + ((size_t)1 << level);
  if (level == 4) return _mm512_permutexvar_ps(i, _mm512_load_ps(at));
  __m512 a = _mm512_permutex2var_ps(_mm512_load_ps(at), i, _mm512_load_ps(at + 16));
  if (level == 5) return a;
  __mmask16 bit5 = _mm512_test_epi32_mask(i, _mm512_set1_epi32(32)),
            bit6 = _mm512_test_epi32_mask(i, _mm512_set1_epi32(64));
  __m512 b = _mm512_permutex2var_ps(_mm512_load_ps(at + 32), i, _mm512_load_ps(at + 48));
  a = _mm512_mask_blend_ps(bit5, a, b);
  if (level == 6) return a;
  __m512 c = _mm512_permutex2var_ps(_mm512_load_ps(at + 64), i, _mm512_load_ps(at + 80));
  __m512 d = _mm512_permutex2var_ps(_mm512_load_ps(at + 96), i, _mm512_load_ps(at + 112));
  return _mm512_mask_blend_ps(bit6, a, _mm512_mask_blend_ps(bit5, c, d));
}

INLINE void quantize_levels(const float *heap, int levels, const float *values, int8_t *bins)
{
  const __m512i one = _mm512_set1_epi32(1), base = _mm512_set1_epi32((1 << levels) + 128);
  for (size_t r = 0; r < EM_BLOCK; r += 16) {
    __m512 v = _mm512_loadu_ps(values + r);
    __m512i i = one;
#pragma GCC unroll 8
    for (int l = 0; l < levels; l++) {
      __mmask16 above = _mm512_cmp_ps_mask(v, look_up(heap, l, i), _CMP_GT_OQ);
      i = _mm512_add_epi32(i, i);
      i = _mm512_mask_add_epi32(i, above, i, one);
    }
    _mm_storeu_si128((__m128i *)(bins + r), _mm512_cvtepi32_epi8(_mm512_sub_epi32(i, base)));
  }
}

/* The number of levels is a constant in each call: the search unrolls. */
TARGET static void quantize(const em_plan *p, const em_bin_column *c, const float *values, int8_t *bins)
{
  const float *heap = p->heaps + c->heap_at;
  switch (c->levels) {
  case 1: quantize_levels(heap, 1, values, bins); break;
  case 2: quantize_levels(heap, 2, values, bins); break;
  case 3: quantize_levels(heap, 3, values, bins); break;
  case 4: quantize_levels(heap, 4, values, bins); break;
  case 5: quantize_levels(heap, 5, values, bins); break;
  case 6: quantize_levels(heap, 6, values, bins); break;
  case 7: quantize_levels(heap, 7, values, bins); break;
  default: quantize_levels(heap, 8, values, bins);
  }
}

/* ---- trees of depth <= 6 --------------------------------------------------------------- */

/* Sums of 32 rows in registers, in the order in which zipping leaves them: the two
 * doubles of 128-bit lane q of s0, s1, s2, s3 are even (or odd) rows
 * 16 q + 0, 2 | 4, 6 | 8, 10 | 12, 14 (or one more).  Named, not arrays, so
 * that they are kept in registers. */
typedef struct sums32 {
  __m512d s0, s1, s2, s3;
} sums32;

INLINE __m512d load_pairs(const double *sums)
{
  return _mm512_setr_pd(sums[0], sums[2], sums[16], sums[18], sums[32], sums[34], sums[48], sums[50]);
}

INLINE sums32 load_sums(const double *sums)
{
  return (sums32){load_pairs(sums), load_pairs(sums + 4), load_pairs(sums + 8), load_pairs(sums + 12)};
}

INLINE void store_pairs(double *sums, __m512d s)
{
  double x[8];
  _mm512_storeu_pd(x, s);
  for (size_t q = 0; q < 4; q++) {
    sums[16 * q] = x[2 * q];
    sums[16 * q + 2] = x[2 * q + 1];
  }
}

INLINE void store_sums(double *sums, sums32 s)
{
  store_pairs(sums, s.s0);
  store_pairs(sums + 4, s.s1);
  store_pairs(sums + 8, s.s2);
  store_pairs(sums + 12, s.s3);
}

/* The 64 leaf values of a tree: four planes of 64 words, two registers each. */
typedef struct planes {
  __m512i a0, a1, b0, b1, c0, c1, d0, d1;
} planes;

INLINE planes load_planes(const uint16_t *at)
{
  return (planes){_mm512_load_si512(at),       _mm512_load_si512(at + 32),  _mm512_load_si512(at + 64),
                  _mm512_load_si512(at + 96),  _mm512_load_si512(at + 128), _mm512_load_si512(at + 160),
                  _mm512_load_si512(at + 192), _mm512_load_si512(at + 224)};
}

INLINE __m512d add_value(__m512d sum, __m512i value) { return _mm512_add_pd(sum, _mm512_castsi512_pd(value)); }

/* Adds the leaf values of 32 rows, whose leaves are the low six bits of 16-bit words. */
INLINE sums32 add_leaves(sums32 s, const planes *p, __m512i leaf)
{
  __m512i a = _mm512_permutex2var_epi16(p->a0, leaf, p->a1), b = _mm512_permutex2var_epi16(p->b0, leaf, p->b1);
  __m512i c = _mm512_permutex2var_epi16(p->c0, leaf, p->c1), d = _mm512_permutex2var_epi16(p->d0, leaf, p->d1);
  __m512i ab = _mm512_unpacklo_epi16(a, b), ab8 = _mm512_unpackhi_epi16(a, b);
  __m512i cd = _mm512_unpacklo_epi16(c, d), cd8 = _mm512_unpackhi_epi16(c, d);
  s.s0 = add_value(s.s0, _mm512_unpacklo_epi32(ab, cd));
  s.s1 = add_value(s.s1, _mm512_unpackhi_epi32(ab, cd));
  s.s2 = add_value(s.s2, _mm512_unpacklo_epi32(ab8, cd8));
  s.s3 = add_value(s.s3, _mm512_unpackhi_epi32(ab8, cd8));
  return s;
}

/* Leaves of the block's 128 rows, as bytes. */
typedef struct leaves {
  __m512i a, b;
} leaves;

#define EIGHT(x) (x) * 0x0101010101010101
#define ALL(x)                                                                                                         \
  {                                                                                                                    \
    EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x)                                     \
  }
static const _Alignas(64) int64_t bits[EM_PLANE_DEPTH][8] = {ALL(1), ALL(2), ALL(4), ALL(8), ALL(16), ALL(32)};

INLINE leaves add_split(leaves l, const em_bin_split *splits, size_t d, const int8_t *bins)
{
  const int8_t *column = bins + splits[d].bins_at;
  __m512i threshold = _mm512_set1_epi8(splits[d].threshold), bit = _mm512_load_si512(bits[d]);
  __mmask64 a = _mm512_cmpgt_epi8_mask(_mm512_load_si512(column), threshold);
  __mmask64 b = _mm512_cmpgt_epi8_mask(_mm512_load_si512(column + 64), threshold);
  return (leaves){_mm512_mask_add_epi8(l.a, a, l.a, bit), _mm512_mask_add_epi8(l.b, b, l.b, bit)};
}

INLINE leaves find_leaves(const em_model *m, size_t tree, const int8_t *bins)
{
  const em_bin_split *splits = m->plan.splits + m->trees[tree].split_at;
  const size_t depth = m->trees[tree].n_splits;
  leaves l = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  if (depth != 6) {
    for (size_t d = 0; d < depth; d++) l = add_split(l, splits, d, bins);
    return l;
  }
  l = add_split(l, splits, 0, bins); /* by far the most frequent depth, without a loop */
  l = add_split(l, splits, 1, bins);
  l = add_split(l, splits, 2, bins);
  l = add_split(l, splits, 3, bins);
  l = add_split(l, splits, 4, bins);
  return add_split(l, splits, 5, bins);
}

/* All rows of the block through trees [from, to), none deeper than 6.  The leaves of a tree are found while the values of
 * the one before it are added: the two keep different units busy. */
TARGET static void run_shallow(const em_model *m, size_t from, size_t to, const int8_t *bins, double *sums,
                               em_ahead *next)
{
  sums32 even_a = load_sums(sums), odd_a = load_sums(sums + 1), even_b = load_sums(sums + 64),
         odd_b = load_sums(sums + 65);
  leaves l = find_leaves(m, from, bins);
  for (size_t t = from; t < to; t++) {
    em_ahead_step(next);
    const leaves following = find_leaves(m, t + 1 < to ? t + 1 : t, bins);
    const planes p = load_planes(m->plan.planes + t * 4 * EM_PLANE_WORDS);
    even_a = add_leaves(even_a, &p, l.a);
    odd_a = add_leaves(odd_a, &p, _mm512_srli_epi16(l.a, 8));
    even_b = add_leaves(even_b, &p, l.b);
    odd_b = add_leaves(odd_b, &p, _mm512_srli_epi16(l.b, 8));
    l = following;
  }
  store_sums(sums, even_a);
  store_sums(sums + 1, odd_a);
  store_sums(sums + 64, even_b);
  store_sums(sums + 65, odd_b);
}

/* Runs of shallow trees, and the deeper ones between them. */
static void trees(const em_model *m, const int8_t *bins, double *sums, em_ahead *next)
{
  for (size_t t = 0, end; t < m->n_trees; t = end) {
    for (end = t; end < m->n_trees && m->trees[end].n_splits <= EM_PLANE_DEPTH;) end++;
    if (end > t)
      run_shallow(m, t, end, bins, sums, next);
    else
      em_score_tree_portable(m, end++, bins, sums);
  }
}

const em_score_ops em_score_avx512 = {"AVX-512", available, load, quantize, trees};

#else

static bool available(void) { return false; }
const em_score_ops em_score_avx512 = {.name = "AVX-512", .available = available};

#endif
