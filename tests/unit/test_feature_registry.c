/* The registry: complete, sorted, and what the card and the kernel say under its names. */
#include "tests/unit/published_columns.h"
#include "tests/unit/unit.h"

#include <math.h>

#include "core/feature/feature.h"

static void registry_is_sorted_and_unique(void **state)
{
  (void)state;
  for (size_t i = 1; i < em_n_features(); i++) {
    const char *before = em_feature_at(i - 1)->name, *name = em_feature_at(i)->name;
    if (strcmp(before, name) >= 0) fail_msg("%s stands before %s", before, name);
  }
  assert_null(em_feature_at(em_n_features()));
}

static bool one_of(const char *word, const char *const *words, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(word, words[i]) == 0) return true;
  return false;
}

static void every_entry_is_filled_in(void **state)
{
  (void)state;
  static const char *const groups[] = {"hardware", "operation", "candidate", "instruction"};
  static const char *const tiers[] = {"S W", "S W R", "W", "R", "smem", "reg", "kernel", "always", "knob"};
  static const char *const poolings[] = {"sum", "max", "min", "once"};
  for (size_t i = 0; i < em_n_features(); i++) {
    const em_feature *f = em_feature_at(i);
    if (!*f->doc || !*f->unit) fail_msg("%s has no unit or no words", f->name);
    if (!one_of(f->group, groups, N_OF(groups))) fail_msg("%s: group %s", f->name, f->group);
    if (!one_of(f->tiers, tiers, N_OF(tiers))) fail_msg("%s: tiers %s", f->name, f->tiers);
    if (!one_of(f->pooling, poolings, N_OF(poolings))) fail_msg("%s: pooling %s", f->name, f->pooling);
  }
}

/* The columns of the public project's shipped model, and what the pages on the prior name besides. */
static void the_published_vocabulary_is_there(void **state)
{
  (void)state;
  static const char *const names[] = {PUBLISHED_COLUMNS, "D_smem_bytes", "D_smem_frac",     "D_resident_ctas",
                                      "H_fast_math",     "H_total_mem",  "S_warp_eligible", "S_pw_multiply",
                                      "S_reduce_add",    "S_dtype_f16"};
  for (size_t i = 0; i < N_OF(names); i++)
    if (!em_feature_find(names[i])) fail_msg("%s is not registered", names[i]);
}

static void a_pattern_covers_its_members_alone(void **state)
{
  (void)state;
  assert_string_equal(em_feature_find("S_pw_tanh")->name, "S_pw_*");
  assert_string_equal(em_feature_find("S_dtype_?")->name, "S_dtype_*");
  assert_null(em_feature_find("S_pw_"));
  assert_null(em_feature_find("S_pw"));
  assert_null(em_feature_find("D_thread"));
  assert_null(em_feature_find("P_max_n_load"));
  assert_null(em_feature_find(""));
}

/* A knob of its own name has the type that the schedule's table gives it. */
static void knobs_are_registered_knobs(void **state)
{
  (void)state;
  size_t n = 0;
  for (size_t i = 0; i < em_n_features(); i++) {
    const em_feature *f = em_feature_at(i);
    if (strcmp(f->tiers, "knob") != 0) continue;
    const em_knob_info *info = em_knob_info_find(f->name, strlen(f->name));
    if (!info) fail_msg("%s is no knob", f->name);
    assert_int_equal(info->type == EM_KNOB_BOOL, strcmp(f->unit, "flag") == 0);
    n++;
  }
  assert_true(n > 0);
  assert_null(em_feature_find("LOOPIFY"));
  assert_null(em_feature_find("FAST_MATH"));
}

static void the_card_as_published(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    double value;
  } facts[] = {{"H_cc", 89},
               {"H_sm_count", 128},
               {"H_tc_gen", 3},
               {"H_smem_optin", 101376},
               {"H_smem_per_sm", 102400},
               {"H_smem_per_block", 49152},
               {"H_regs_per_block", 65536},
               {"H_warp_size", 32},
               {"H_opt", 3},
               {"H_total_mem", 25757220864.0},
               {"H_fast_math", 0},
               {"H_cold_cache", 0}};
  const em_card *card;
  em_err err;
  assert_int_equal(em_card_find("NVIDIA GeForce RTX 4090", &card, &err), EM_OK);
  for (size_t i = 0; i < N_OF(facts); i++)
    if (em_feature_hardware(facts[i].name, card, EM_REGIME_DEFAULT) != facts[i].value) fail_msg("%s", facts[i].name);
  em_regime other = {.fast_math = true, .cold_cache = true, .opt = 1};
  assert_true(em_feature_hardware("H_fast_math", card, other) == 1);
  assert_true(em_feature_hardware("H_cold_cache", card, other) == 1);
  assert_true(em_feature_hardware("H_opt", card, other) == 1);
  assert_true(isnan(em_feature_hardware("D_threads", card, other)));
  assert_true(isnan(em_feature_hardware("H_nothing", card, other)));
}

static void memory_that_is_not_known_is_missing(void **state)
{
  (void)state;
  em_card card = {.memory_mib = 0, .cc_major = 8, .cc_minor = 9};
  assert_true(isnan(em_feature_hardware("H_total_mem", &card, EM_REGIME_DEFAULT)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(registry_is_sorted_and_unique),       cmocka_unit_test(every_entry_is_filled_in),
    cmocka_unit_test(the_published_vocabulary_is_there),   cmocka_unit_test(a_pattern_covers_its_members_alone),
    cmocka_unit_test(knobs_are_registered_knobs),          cmocka_unit_test(the_card_as_published),
    cmocka_unit_test(memory_that_is_not_known_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
