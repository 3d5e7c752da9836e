/*
 * borders.c - thresholds of one column: GreedyLogSum (reference catboost.md
 * section 2).
 *
 * The sorted values start as one bin; the bin whose best cut gains most is cut, until
 * there are enough bins or none can be cut.  A bin is only looked at around its
 * middle value, at the two edges of that value's run.  Equal gains: the bin
 * of smaller values goes first.
 */
#include <math.h>
#include <string.h>

#include "core/fit/fit_int.h"

uint32_t em_fit_key(float x)
{
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u & 0x80000000u ? ~u : u | 0x80000000u;
}

static float of_key(uint32_t k)
{
  uint32_t u = k & 0x80000000u ? k & 0x7fffffffu : ~k;
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* One pass of a radix sort by 8 bits; false when all have the same digit (nothing moved). */
static bool radix_pass(const uint32_t *from, uint32_t *to, size_t n, int shift)
{
  size_t at[256] = {0}, sum = 0;
  for (size_t i = 0; i < n; i++) at[from[i] >> shift & 255]++;
  if (at[from[0] >> shift & 255] == n) return false;
  for (size_t d = 0; d < 256; d++) {
    size_t count = at[d];
    at[d] = sum;
    sum += count;
  }
  for (size_t i = 0; i < n; i++) to[at[from[i] >> shift & 255]++] = from[i];
  return true;
}

/* Returns the array (keys or tmp) that holds the sorted keys. */
static const uint32_t *sort_keys(uint32_t *keys, uint32_t *tmp, size_t n)
{
  for (int shift = 0; shift < 32; shift += 8)
    if (radix_pass(keys, tmp, n, shift)) {
      uint32_t *t = keys;
      keys = tmp;
      tmp = t;
    }
  return keys;
}

typedef struct bin {
  size_t start, end, cut;
  double gain;
} bin;

static double cut_gain(size_t start, size_t end, size_t cut)
{
  if (cut == start || cut == end) return -INFINITY;
  return em_fit_log((double)(cut - start) + 1e-8) + em_fit_log((double)(end - cut) + 1e-8) -
         em_fit_log((double)(end - start) + 1e-8);
}

/* First index in [lo, hi) with v[i] >= x, or > x; hi when there is none. */
static size_t first_at_least(const uint32_t *v, size_t lo, size_t hi, uint32_t x, bool greater)
{
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (greater ? v[mid] > x : v[mid] >= x)
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

static bin bin_of(const uint32_t *v, size_t start, size_t end)
{
  size_t mid = start + (end - start) / 2;
  size_t left = first_at_least(v, start, mid, v[mid], false), right = first_at_least(v, mid, end, v[mid], true);
  double gain_left = cut_gain(start, end, left), gain_right = cut_gain(start, end, right);
  bool take_left = gain_left >= gain_right;
  return (bin){start, end, take_left ? left : right, take_left ? gain_left : gain_right};
}

/* Between a < b; never b itself, which would fall left of it. */
static float border_between(float a, float b)
{
  float mid = 0.5f * a + 0.5f * b;
  return mid < b ? mid : a;
}

static bool goes_first(const bin *a, const bin *b)
{
  return a->gain > b->gain || (a->gain == b->gain && a->start < b->start);
}

static void insert_ascending(float *out, size_t n, float x)
{
  for (; n > 0 && out[n - 1] > x; n--) out[n] = out[n - 1];
  out[n] = x;
}

size_t em_fit_borders(uint32_t *keys, uint32_t *tmp, size_t n, size_t max, float out[EM_FIT_MAX_BORDERS])
{
  bin bins[EM_FIT_MAX_BORDERS + 1];
  size_t n_bins = 1, n_out = 0;
  if (n == 0) return 0;
  const uint32_t *v = sort_keys(keys, tmp, n);
  bins[0] = bin_of(v, 0, n);
  while (n_bins < max + 1) {
    size_t top = 0;
    for (size_t i = 1; i < n_bins; i++)
      if (goes_first(&bins[i], &bins[top])) top = i;
    if (isinf(bins[top].gain)) break;
    bin b = bins[top];
    bins[top] = bin_of(v, b.start, b.cut);
    bins[n_bins++] = bin_of(v, b.cut, b.end);
  }
  for (size_t i = 0; i < n_bins; i++)
    if (bins[i].start > 0)
      insert_ascending(out, n_out++, border_between(of_key(v[bins[i].start - 1]), of_key(v[bins[i].start])));
  return n_out;
}
