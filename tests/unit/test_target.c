/* The table of cards against published figures, names, and the text of a regime. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <strings.h>

#include "core/target/target.h"
#include "tests/unit/shared.h"

static const em_card *card(const char *name)
{
  em_err err;
  const em_card *c;
  if (em_card_find(name, &c, &err) != EM_OK) fail_msg("%s", err.msg);
  return c;
}

/* The registry of the recorded files: name, cc, SMs, opt-in and per-SM shared memory, memory. */
static void test_recorded_registry(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    int cc, sms;
    int64_t optin, per_sm, mib;
  } rows[] = {
    {"NVIDIA GeForce RTX 4090", 89, 128, 101376, 102400, 24564},
    {"NVIDIA GeForce RTX 4080", 89, 76, 101376, 102400, 15946},
    {"NVIDIA GeForce RTX 5090", 120, 170, 101376, 102400, 32607},
    {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 120, 188, 101376, 102400, 97887},
    {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 120, 188, 101376, 102400, 98304},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 120, 188, 101376, 102400, 98304},
    {"NVIDIA GeForce RTX 5080 Laptop GPU", 120, 60, 101376, 102400, 16303},
    {"NVIDIA L40S", 89, 142, 101376, 102400, 46068},
    {"NVIDIA H100 80GB", 90, 132, 232448, 233472, 81559},
    {"NVIDIA H200 141GB", 90, 132, 232448, 233472, 143771},
    {"NVIDIA B200", 100, 148, 232448, 233472, 183359},
    {"NVIDIA A100 40GB", 80, 108, 166912, 167936, 40960},
    {"NVIDIA A100 80GB", 80, 108, 166912, 167936, 81920},
    {"NVIDIA Tesla V100 SXM2 16GB", 70, 80, 98304, 98304, 16384},
    {"NVIDIA Tesla V100 SXM3 32GB", 70, 80, 98304, 98304, 32768},
  };
  for (size_t i = 0; i < N_OF(rows); i++) {
    const em_card *c = card(rows[i].name);
    assert_string_equal(c->name, rows[i].name);
    assert_int_equal(em_card_cc(c), rows[i].cc);
    assert_int_equal(c->sm_count, rows[i].sms);
    assert_int_equal(c->smem_optin, rows[i].optin);
    assert_int_equal(c->smem_per_sm, rows[i].per_sm);
    assert_int_equal(c->memory_mib, rows[i].mib);
  }
  assert_true(card("rtx4090")->peak_f32 == 82.6 && card("rtx4090")->peak_f16 == 330.3);
  assert_true(card("rtx5090")->peak_f32 == 104.8 && card("rtx5090")->peak_f16 == 419.0);
  assert_true(card("rtxpro6000-maxq")->peak_f32 == 126.0 && card("rtxpro6000-maxq")->peak_f16 == 504.0);
}

/* Resident threads and blocks per SM: CUDA programming guide, table of compute capabilities. */
static void test_occupancy_limits(void **state)
{
  (void)state;
  static const struct {
    int cc, threads, blocks, gen;
    const char *arch;
  } rows[] = {
    {70, 2048, 32, 1, "Volta"},      {75, 1024, 16, 2, "Turing"},     {80, 2048, 32, 3, "Ampere"},
    {86, 1536, 16, 3, "Ampere"},     {89, 1536, 24, 3, "Ada"},        {90, 2048, 32, 4, "Hopper"},
    {100, 2048, 32, 5, "Blackwell"}, {120, 1536, 24, 5, "Blackwell"},
  };
  size_t seen = 0;
  for (size_t i = 0; i < em_n_cards(); i++)
    for (size_t j = 0; j < N_OF(rows); j++) {
      const em_card *c = em_card_at(i);
      if (em_card_cc(c) != rows[j].cc) continue;
      seen++;
      assert_int_equal(c->threads_per_sm, rows[j].threads);
      assert_int_equal(c->blocks_per_sm, rows[j].blocks);
      assert_int_equal(em_card_tc_gen(c), rows[j].gen);
      assert_string_equal(c->arch, rows[j].arch);
    }
  assert_int_equal(seen, em_n_cards()); /* no card outside the table above */
  em_card later = {.cc_major = 13};
  assert_int_equal(em_card_tc_gen(&later), 13);
}

/* f32 figures published by the vendor are close to SMs x lanes x 2 x clock, so a peak
 * outside the clocks that these generations have is a slip of the pen. */
static void test_every_card_is_plausible(void **state)
{
  (void)state;
  for (size_t i = 0; i < em_n_cards(); i++) {
    const em_card *c = em_card_at(i);
    assert_true(c->sm_count >= 20 && c->sm_count <= 200);
    assert_true(c->memory_mib >= 8000 && c->memory_mib <= 200000);
    assert_int_equal(c->smem_static, 49152);
    assert_int_equal(c->regs_per_sm, 65536);
    assert_int_equal(c->regs_per_block, 65536);
    assert_int_equal(c->max_threads, 1024);
    assert_true(c->smem_optin <= c->smem_per_sm);
    assert_true(strlen(c->source) > 10);
    int cc = em_card_cc(c), lanes = cc == 70 || cc == 75 || cc == 80 ? 64 : 128;
    double ghz = c->peak_f32 * 1e3 / (2.0 * lanes * c->sm_count);
    assert_true(c->peak_f32 == 0 || (ghz > 1.3 && ghz < 2.75));
    assert_true(c->peak_f16 == 0 || (c->peak_f16 >= 2 * c->peak_f32 && c->peak_f16 < 32 * c->peak_f32));
  }
  assert_null(em_card_at(em_n_cards()));
}

static void test_names_are_unique(void **state)
{
  (void)state;
  const char *names[512];
  size_t n = 0;
  for (size_t i = 0; i < em_n_cards(); i++) {
    const em_card *c = em_card_at(i);
    names[n++] = c->name;
    names[n++] = c->short_name;
    for (const char *const *alias = c->aliases; *alias; alias++) names[n++] = *alias;
    assert_true(n < N_OF(names) - 16);
    assert_null(strpbrk(c->short_name, " ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      if (strcasecmp(names[i], names[j]) == 0) fail_msg("\"%s\" stands twice in the table", names[i]);
}

static void test_lookup(void **state)
{
  (void)state;
  assert_string_equal(em_card_short_name("NVIDIA H100 80GB"), "h100");
  assert_string_equal(em_card_short_name("a card of tomorrow"), "a card of tomorrow");
  static const char *const pairs[][2] = {
    {"NVIDIA A100-SXM4-40GB", "NVIDIA A100 40GB"},          {"Tesla V100-SXM3-32GB", "NVIDIA Tesla V100 SXM3 32GB"},
    {"NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB"},          {"h100", "NVIDIA H100 80GB"},
    {"nvidia geforce rtx 4090", "NVIDIA GeForce RTX 4090"}, {"RTX4090", "NVIDIA GeForce RTX 4090"},
    {"v100-sxm3", "NVIDIA Tesla V100 SXM3 32GB"},           {"t4", "NVIDIA T4"},
  };
  for (size_t i = 0; i < N_OF(pairs); i++) {
    assert_string_equal(card(pairs[i][0])->name, pairs[i][1]);
    assert_ptr_equal(em_card_lookup(pairs[i][0]), card(pairs[i][1]));
  }
  /* The common cards that a newcomer may ask for. */
  static const char *const wanted[] = {
    "t4",           "rtx2080ti",    "rtx3080",
    "rtx3090",      "rtx4060ti",    "rtx4070",
    "rtx4070super", "rtx4070ti",    "rtx4070tisuper",
    "rtx4080",      "rtx4080super", "rtx4090",
    "rtx5070",      "rtx5070ti",    "rtx5080",
    "rtx5090",      "rtxa4000",     "rtxa5000",
    "rtxa6000",     "rtx6000ada",   "a10",
    "a30",          "a40",          "l4",
    "l40",          "l40s",         "h100",
    "h100-pcie",    "h200",         "gh200",
    "b100",         "b200",
  };
  for (size_t i = 0; i < N_OF(wanted); i++) assert_non_null(em_card_lookup(wanted[i]));
}

static void test_unknown_card(void **state)
{
  (void)state;
  em_err err;
  const em_card *c;
  assert_int_equal(em_card_find("rtx4900", &c, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "\"rtx4900\""));
  assert_non_null(strstr(err.msg, "rtx4090")); /* one swap away: the first of the near names */
  assert_true(strstr(err.msg, "near names: rtx4090") != NULL);
  assert_null(em_card_lookup("rtx4900"));
  assert_null(em_card_lookup(""));
  assert_int_equal(em_card_find("H1\x1b[31m00", &c, &err), EM_E_INPUT);
  assert_null(strchr(err.msg, '\x1b'));
  char huge[5000];
  memset(huge, 'x', sizeof huge - 1);
  huge[sizeof huge - 1] = '\0';
  assert_int_equal(em_card_find(huge, &c, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "emmy target list"));
}

static void test_regime_text(void **state)
{
  (void)state;
  static const struct {
    em_regime regime;
    const char *text;
  } rows[] = {
    {{false, false, 3}, ""},
    {{true, false, 3}, "--use_fast_math"},
    {{false, true, 3}, "cold-cache"},
    {{true, true, 3}, "--use_fast_math cold-cache"},
    {{true, true, 1}, "--use_fast_math cold-cache -O1"},
    {{false, false, 0}, "-O0"},
    {{false, true, 2}, "cold-cache -O2"},
  };
  for (size_t i = 0; i < N_OF(rows); i++) {
    char buf[64];
    em_err err;
    em_regime back;
    assert_string_equal(em_regime_text(rows[i].regime, buf), rows[i].text);
    assert_int_equal(em_regime_parse(rows[i].text, &back, &err), EM_OK);
    assert_int_equal(em_regime_compare(back, rows[i].regime), 0);
  }
  static const char *const bad[] = {" ",
                                    "-O3",
                                    "-O4",
                                    "-O1 -O2",
                                    "cold-cache --use_fast_math",
                                    "--use_fast_math ",
                                    "cold-cache  -O1",
                                    "--use_fast_mathcold-cache",
                                    "fast",
                                    "cold-cache cold-cache"};
  for (size_t i = 0; i < N_OF(bad); i++) {
    em_err err;
    em_regime r = {true, true, 42};
    assert_int_equal(em_regime_parse(bad[i], &r, &err), EM_E_INPUT);
    assert_int_equal(r.opt, 42);
    assert_non_null(strstr(err.msg, bad[i]));
  }
}

static void test_regime_order(void **state)
{
  (void)state;
  static const em_regime sorted[] = {{false, false, 3}, {false, false, 1}, {false, true, 3},
                                     {true, false, 3},  {true, true, 3},   {true, true, 0}};
  for (size_t i = 0; i < N_OF(sorted); i++)
    for (size_t j = 0; j < N_OF(sorted); j++) {
      int c = em_regime_compare(sorted[i], sorted[j]);
      assert_int_equal((c > 0) - (c < 0), (i > j) - (i < j));
    }
  assert_int_equal(em_regime_compare(EM_REGIME_DEFAULT, sorted[0]), 0);
}

/* Every card that the published facts name is in the table, with their compute capability. */
static void test_cards_of_the_facts(void **state)
{
  (void)state;
  FILE *f = shared_open("facts/golden-facts.tsv");
  if (!f) skip();
  char line[1024], name[128], cap[16];
  size_t n = 0;
  assert_non_null(fgets(line, sizeof line, f));
  while (fgets(line, sizeof line, f)) {
    assert_int_equal(sscanf(line, "%127[^\t]\t%15[^\t]", name, cap), 2);
    const em_card *c = card(name);
    char have[16];
    snprintf(have, sizeof have, "%d.%d", c->cc_major, c->cc_minor);
    assert_string_equal(have, cap);
    assert_string_equal(c->name, name);
    n++;
  }
  fclose(f);
  assert_int_equal(n, 432);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_recorded_registry),
    cmocka_unit_test(test_occupancy_limits),
    cmocka_unit_test(test_every_card_is_plausible),
    cmocka_unit_test(test_names_are_unique),
    cmocka_unit_test(test_lookup),
    cmocka_unit_test(test_unknown_card),
    cmocka_unit_test(test_regime_text),
    cmocka_unit_test(test_regime_order),
    cmocka_unit_test(test_cards_of_the_facts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
