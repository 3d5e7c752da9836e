/* families.c - the tables of knob families and of the knobs besides them. */
#include "core/schedule/schedule_int.h"

#include <string.h>

static const em_family_info families[EM_N_FAMILIES] = {
  [EM_WORK] = {"WORK", false, false, "\"\" | w<M>x<N>[+p<P>] | t<N>[x<M>]",
               "the kernel's workers: M x N warps and P producer warps, or N x M threads"},
  [EM_TILE] = {"TILE", true, false, "\"\" | f<FN>[x<FM>] | <ATOM>/f<FM>x<FN>[/k<BK>]",
               "what a worker holds: registers along n and m, or cells of a tensor-core instruction along m and n"},
  [EM_REDUCE] = {"REDUCE", true, false, "[g<W>(a|k)][/(coop|coop-t[/v<C>])][/r<R>]",
                 "how a reduction is shared: across blocks, across a block's threads, in R accumulators"},
  [EM_STAGE] = {"STAGE", true, false, "\"\" | d<D>/(reg|smem|smem-async|smem-tma)[/p<P>][/c<C>][/out]",
                "how operands travel to the workers: ring depth, transport, double buffer, cluster, output"},
  [EM_RASTER] = {"RASTER", false, false, "\"\" | gm<G> | gn<G>, G at least 2", "launch order of the blocks"},
  [EM_PLACE] = {"PLACE", true, true, "fuse | cut", "whether a producer stays in the kernel or becomes one of its own"},
  [EM_LAYOUT] = {"LAYOUT", true, true, "folded | source", "storage layout of a constant"},
};

static const em_knob_info knobs[] = {
  {"FAST_MATH", EM_KNOB_BOOL, NULL, "fast math, and the precision knobs that follow it"},
  {"COLD_CACHE", EM_KNOB_BOOL, NULL, "measured after the L2 cache was evicted"},
  {"F16_MMA_F32_ACC", EM_KNOB_BOOL, NULL, "offer tensor-core instructions with an f16 accumulator"},
  {"FP8_MMA", EM_KNOB_BOOL, NULL, "offer fp8 tensor-core instructions"},
  {"FAST_EXP", EM_KNOB_BOOL, "False", "approximate exponential"},
  {"VECTORIZE_LOADS", EM_KNOB_BOOL, "False", "wide loads"},
  {"VECTORIZE_STORES", EM_KNOB_BOOL, "False", "wide stores"},
  {"INTERLEAVE_LOADS", EM_KNOB_BOOL, "False", "interleaved loads"},
  {"GUARD_REDUCTIONS", EM_KNOB_BOOL, "False", "guarded reductions"},
  {"PAIR_LDMATRIX", EM_KNOB_BOOL, "False", "paired matrix loads"},
  {"SHARED_CARRY", EM_KNOB_INT, "0", "carry kept in shared memory"},
  {"LOOPIFY", EM_KNOB_INT, "0", "listing only"},
  {"UNROLL", EM_KNOB_INT, NULL, "largest trip count that is unrolled"},
};

enum { N_KNOBS = sizeof knobs / sizeof knobs[0] };

static bool name_is(const char *name, const char *s, size_t len)
{
  return strlen(name) == len && memcmp(name, s, len) == 0;
}

const em_family_info *em_family_at(em_family f) { return &families[f]; }

bool em_family_find(const char *name, size_t len, em_family *out)
{
  for (int f = 0; f < EM_N_FAMILIES; f++)
    if (name_is(families[f].name, name, len)) {
      *out = (em_family)f;
      return true;
    }
  return false;
}

size_t em_n_knob_infos(void) { return N_KNOBS; }

const em_knob_info *em_knob_info_at(size_t i) { return i < N_KNOBS ? &knobs[i] : NULL; }

const em_knob_info *em_knob_info_find(const char *name, size_t len)
{
  for (size_t i = 0; i < N_KNOBS; i++)
    if (name_is(knobs[i].name, name, len)) return &knobs[i];
  return NULL;
}

em_key em_key_split(const char *key)
{
  em_key k = {.name_len = strcspn(key, "@")};
  k.route = key[k.name_len] == '@' ? key + k.name_len + 1 : NULL;
  k.is_family = em_family_find(key, k.name_len, &k.family);
  return k;
}
