/* feature_registry.c - look-ups in the table of features.def. */
#include <string.h>

#include "core/feature/feature_int.h"

#define FEATURE(id, group, unit, tiers, pooling, doc) {#id, #group, unit, tiers, #pooling, doc},
#define PATTERN(id, group, unit, tiers, doc)          {#id "*", #group, unit, tiers, "once", doc},
#define KNOB(id, unit, doc)                           {#id, "candidate", unit, "knob", "once", doc},
static const em_feature features[] = {
#include "core/feature/features.def"
};

#define FEATURE(id, group, unit, tiers, pooling, doc) {EM_GROUP_##group, EM_SITES_##pooling, EM_FORM_FEATURE},
#define PATTERN(id, group, unit, tiers, doc)          {EM_GROUP_##group, EM_SITES_once, EM_FORM_PATTERN},
#define KNOB(id, unit, doc)                           {EM_GROUP_candidate, EM_SITES_once, EM_FORM_KNOB},
static const em_feature_traits traits[] = {
#include "core/feature/features.def"
};

size_t em_n_features(void) { return EM_N_FEATURE_IDS; }

const em_feature *em_feature_at(size_t i) { return i < EM_N_FEATURE_IDS ? &features[i] : NULL; }

const em_feature_traits *em_feature_traits_of(em_feature_id id) { return &traits[id]; }

int em_feature_id_of(const char *name)
{
  size_t lo = 0, hi = EM_N_FEATURE_IDS;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    int c = strcmp(name, features[mid].name);
    if (c == 0) return (int)mid;
    if (c < 0)
      hi = mid;
    else
      lo = mid + 1;
  }
  return -1;
}

static const em_feature *find_pattern(const char *name)
{
  for (size_t i = 0; i < EM_N_FEATURE_IDS; i++) {
    size_t prefix = strlen(features[i].name) - 1;
    if (traits[i].form == EM_FORM_PATTERN && strncmp(name, features[i].name, prefix) == 0 && name[prefix] != '\0')
      return &features[i];
  }
  return NULL;
}

const em_feature *em_feature_find(const char *name)
{
  int id = em_feature_id_of(name);
  return id >= 0 ? &features[id] : find_pattern(name);
}

double em_feature_hardware(const char *name, const em_card *card, em_regime regime)
{
  switch (em_feature_id_of(name)) {
  case EM_F_H_cc: return em_card_cc(card);
  case EM_F_H_cold_cache: return regime.cold_cache;
  case EM_F_H_fast_math: return regime.fast_math;
  case EM_F_H_opt: return regime.opt;
  case EM_F_H_regs_per_block: return card->regs_per_block;
  case EM_F_H_sm_count: return card->sm_count;
  case EM_F_H_smem_optin: return (double)card->smem_optin;
  case EM_F_H_smem_per_block: return (double)card->smem_static;
  case EM_F_H_smem_per_sm: return (double)card->smem_per_sm;
  case EM_F_H_tc_gen: return em_card_tc_gen(card);
  case EM_F_H_total_mem: return card->memory_mib > 0 ? (double)card->memory_mib * 1048576.0 : NAN;
  case EM_F_H_warp_size: return 32;
  default: return NAN;
  }
}
