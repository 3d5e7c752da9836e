/* rng.c - random numbers that are a function of (seed, stream, index). */
#include <stdlib.h>

#include "core/base/base_int.h"

#define GOLDEN 0x9E3779B97F4A7C15u /* 2^64 / golden ratio, odd: a Weyl sequence visits every value */

/* A bijection of 64 bits in which each input bit flips about half of the output
 * (the finalizer of SplitMix64). */
static uint64_t mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Two rounds over the index with a key of (seed, stream): one round would make
 * the sequences of two keys shifted copies of each other. */
uint64_t em_rng_u64(uint64_t seed, uint64_t stream, uint64_t index)
{
  uint64_t key = mix(mix(seed + GOLDEN) + (stream + 1) * GOLDEN);
  return mix(mix(key + (index + 1) * GOLDEN) ^ key);
}

double em_rng_f64(uint64_t seed, uint64_t stream, uint64_t index)
{
  return (double)(em_rng_u64(seed, stream, index) >> 11) * 0x1p-53;
}

__extension__ typedef unsigned __int128 u128;

uint64_t em_rng_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t n)
{
  return (uint64_t)((u128)em_rng_u64(seed, stream, index) * n >> 64);
}

/* ---- a sample without repetition ---------------------------------------- */

/* A set of numbers by open addressing; an empty slot holds 0, a member m + 1. */
typedef struct number_set {
  size_t *slots, mask;
} number_set;

static bool set_add(number_set *s, size_t m)
{
  size_t i = (size_t)mix(m) & s->mask;
  for (; s->slots[i]; i = (i + 1) & s->mask)
    if (s->slots[i] == m + 1) return false;
  s->slots[i] = m + 1;
  return true;
}

static int by_value(const void *a, const void *b)
{
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

/* Floyd's method: each round draws from one number more and takes that new
 * number itself when the draw was taken before; every subset is equally likely. */
int em_rng_sample(uint64_t seed, uint64_t stream, size_t n, size_t k, size_t *out, em_err *err)
{
  size_t room = 16;
  while (room / 2 < k && room <= SIZE_MAX / 4) room *= 2;
  number_set seen = {em_calloc(room, sizeof *seen.slots), room - 1};
  if (!seen.slots) return em_fail_nomem(err);
  for (size_t i = 0; i < k; i++) {
    size_t last = n - k + i;
    size_t draw = (size_t)em_rng_below(seed, stream, i, (uint64_t)last + 1);
    if (!set_add(&seen, draw)) {
      draw = last;
      set_add(&seen, draw);
    }
    out[i] = draw;
  }
  em_free(seen.slots);
  qsort(out, k, sizeof *out, by_value);
  return EM_OK;
}
