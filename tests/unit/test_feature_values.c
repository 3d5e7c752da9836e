/*
 * The values of features: the worked examples A, B, C and the pooling check of
 * the public format description, and cases worked by hand for what it lacks.
 */
#include "tests/unit/feature_pools.h"

#define LOOP(axis, extent, body)                                                                                       \
  "{\"Loop\":{\"axis\":{\"name\":\"" axis "\",\"extent\":" extent "},\"body\":[" body "]}}"
#define LOAD(name, buffer, row, col)                                                                                   \
  "{\"Load\":{\"names\":[\"" name "\"],\"input\":\"" buffer "\",\"index\":[\"" row "\",\"" col "\"]}},"
#define ACCUM(value, axis) "{\"Accum\":{\"name\":\"acc0\",\"value\":\"" value "\",\"axes\":[\"" axis "\"]}}"
#define WRITE(index)       "{\"Write\":{\"output\":\"y\",\"index\":[" index "],\"values\":[\"acc0\"]}}"
#define INPUT(name, dtype, shape)                                                                                      \
  "{\"id\":\"" name "\",\"op\":\"input\",\"outputs\":[[\"" name "\",\"" dtype "\",[" shape "]]]},"
#define KERNEL(names, inputs, body, dtype, shape)                                                                      \
  "{\"inputs\":[" names "],\"outputs\":[\"y\"],\"nodes\":[" inputs                                                     \
  "{\"id\":\"y\",\"op\":\"loop\",\"attrs\":{\"body\":[" body "],\"name\":\"k\"},\"inputs\":[" names "],"               \
  "\"outputs\":[[\"y\",\"" dtype "\",[" shape "]]]}]}"
#define MATMUL(n, dtype, out)                                                                                                  \
  KERNEL(                                                                                                                      \
    "\"a\",\"b\"", INPUT("a", dtype, n "," n) INPUT("b", dtype, n "," n),                                                      \
    LOOP(                                                                                                                      \
      "i", n,                                                                                                                  \
      LOOP(                                                                                                                    \
        "j", n,                                                                                                                \
        LOOP(                                                                                                                  \
          "k", n,                                                                                                              \
          LOAD("in0", "a", "i", "k")                                                                                           \
            LOAD("in1", "b", "k", "j") "{\"Assign\":{\"name\":\"v0\",\"op\":\"multiply\",\"args\":[\"in0\",\"in1\"]}}," ACCUM( \
              "v0", "k")) "," WRITE("\"i\",\"j\""))),                                                                          \
    out, n "," n)

static const char matmul_a[] = MATMUL("512", "f32", "f32");
static const char matmul_b[] = MATMUL("1024", "f16", "f16");
static const char matmul_f4[] = MATMUL("512", "f4e2m1x2", "f32");
static const char sums_c[] = KERNEL(
  "\"a\"", INPUT("a", "f32", "4096,1024"),
  LOOP("i", "4096", LOOP("k", "1024", LOAD("in0", "a", "i", "k") ACCUM("in0", "k")) "," WRITE("\"i\"")), "f32", "4096");
#define ROW_A "WORK=t32x8 TILE=f2x8 REDUCE= STAGE=d2/smem-async RASTER="
#define ROW_B "WORK=w2x1 TILE=mma_m16n8k16_f16_f32/f4x4/k2 REDUCE= STAGE=d1/smem-async RASTER="
#define ROW_C "WORK=t256 REDUCE=coop RASTER="
#define ADA   "rtx4090"
#define BLANK NAN

static pool pool_text(const char *text, const char *card, em_regime regime, const em_columns *cols)
{
  em_kernel *k;
  em_err err;
  if (em_kernel_parse_text(text, strlen(text), "k", "example", &k, &err) != EM_OK) fail_msg("%s", err.msg);
  return pool_of(k, card, regime, cols);
}

static const struct example {
  const char *name;
  double a, b, c;
} examples[] = {
  {"D_aspect", 0, 2, BLANK},
  {"D_bn_ge_bm", 1, 0, BLANK},
  {"D_cells", 16, 16, BLANK},
  {"D_finalize_kernel", 0, 0, 0},
  {"D_l2_bk", 0, 0, BLANK},
  {"D_l2_bm", 3, 0, BLANK},
  {"D_l2_bn", 5, 0, BLANK},
  {"D_log2_area", 12, 12, BLANK},
  {"D_log2_ctas", 6, 8, 12},
  {"D_log2_waves", -1, 1, 5},
  {"D_near_kchunks", -4, -4, BLANK},
  {"D_neg_masked_k", 0, 0, BLANK},
  {"D_neg_masked_m", 0, 0, BLANK},
  {"D_neg_masked_n", 0, 0, BLANK},
  {"D_pow2_threads", 1, 1, 1},
  {"D_raster_gn", 0, 0, 0},
  {"D_raster_group", 0, 0, 0},
  {"D_reduce_ilp", BLANK, BLANK, 0},
  {"D_reduce_transposed", BLANK, BLANK, 0},
  {"D_reuse", 32, 25.6, BLANK},
  {"D_scalar_on_warp_eligible", 0, 0, 0},
  {"D_serial_cell_work", 9.002815015607053, 10.001408194392809, 2.321928094887362},
  {"D_splitk", 1, 1, 1},
  {"D_splitk_deficit", 2, 0, BLANK},
  {"D_splitk_excess", 0, 0, 0},
  {"D_splitk_roundtrip", 0, 0, 0},
  {"D_stage_async", 1, 1, BLANK},
  {"D_stage_depth", 2, 1, BLANK},
  {"D_stage_reg", BLANK, BLANK, BLANK},
  {"D_stage_reg_depth", 1, 1, BLANK},
  {"D_stage_tma", 0, 0, BLANK},
  {"D_threads", 256, 64, 256},
  {"D_tile_m", 64, 128, BLANK},
  {"D_tile_n", 64, 32, BLANK},
  {"D_w_grid_aspect", BLANK, 1, BLANK},
  {"D_w_grid_m", BLANK, 1, BLANK},
  {"D_w_grid_n", BLANK, 0, BLANK},
  {"D_w_l2_bk", 0, 1, BLANK},
  {"D_wspec_warps", 0, 0, 0},
  {"H_cc", 89, 89, 89},
  {"MMA_acc_bits", BLANK, 32, BLANK},
  {"MMA_tier", 0, 1, 0},
  {"S_ext_n_symbolic_axis", 0, 0, 0},
  /* outside the shipped view */
  {"MMA_atom_m", BLANK, 16, BLANK},
  {"MMA_atom_n", BLANK, 8, BLANK},
  {"MMA_atom_k", BLANK, 16, BLANK},
  {"MMA_a_bits", BLANK, 16, BLANK},
  {"S_warp_eligible", BLANK, 1, BLANK},
  {"S_n_load", 2, 2, 1},
  {"S_n_assign", 1, 1, 0},
  {"S_ext_free_prod", 262144, 1048576, 4096},
  {"S_ext_reduce_prod", 512, 1024, 1024},
  {"S_ext_serial_cell_work", 512, 1024, 1024},
  {"H_total_mem", 25757220864.0, 25757220864.0, 25757220864.0},
  /* ours: B stages a slab of 128 x 32 and one of 32 x 32 halves, A slabs of 64 + 64 columns, 64 deep, twice */
  {"D_smem_bytes", 65536, 10240, 0},
  {"D_smem_frac", 65536 / 101376.0, 10240 / 101376.0, 0},
  {"D_block_threads", 256, 64, 256},
  {"D_stage_cluster", 1, 1, BLANK},
  {"D_stage_out", 0, 0, BLANK},
  {"D_reduce_columns", BLANK, BLANK, 1},
  {"MMA_wgmma", BLANK, 0, BLANK},
  /* 128 multiprocessors of 1536 threads and 102400 bytes; A fits once, B eight times by its registers, C six times by its
     * threads.  A: 64 blocks of 64 x 64, chunks of 64 x 4 bytes; B: 256 blocks of 128 x 32, chunks of 32 x 2 bytes; C: 4096 blocks */
  {"D_grid", 6, 8, 12},
  {"D_balance", -1, 0, 0},
  {"D_tiles_m", 3, 3, BLANK},
  {"D_tiles_n", 3, 5, BLANK},
  {"D_tile_fill", 1, 1, BLANK},
  {"D_traffic", 3, 4.321928094887363, BLANK},
  {"D_cell_m", 8, 64, BLANK},
  {"D_cell_n", 2, 32, BLANK},
  {"D_cell_reuse", 1.6, 2048 / 96.0, BLANK},
  {"D_chunk_bytes", 15, 13.321928094887362, BLANK},
  {"D_chunk_row", 8, 6, BLANK},
  {"D_copy_bytes", 7, 7.321928094887363, BLANK},
  {"D_inflight", 16, 14.321928094887362, BLANK},
  {"D_k_steps", 3, 5, BLANK},
  {"D_resident_ctas", 1, 8, 6},
  {"D_wave_fill", 0.5, 0.25, 4096 / 4608.0},
  {"D_waves_resident", -1, -2, 2.415037499278844},
  {"D_occupancy", 256 / 1536.0, 512 / 1536.0, 1},
  {"D_active_warps", 3, 2, 5.584962500721156},
  {"D_reduce_steps", BLANK, BLANK, 2},
  {"D_reduce_fill", BLANK, BLANK, 1},
};

static void check_example(const char *kernel, const char *text, double (*expected)(const struct example *))
{
  pool p = pool_text(kernel, ADA, EM_REGIME_DEFAULT, NULL);
  for (size_t i = 0; i < N_OF(examples); i++)
    assert_value(examples[i].name, feature_of(&p, text, examples[i].name), expected(&examples[i]));
  pool_close(&p);
}

static double value_a(const struct example *e) { return e->a; }
static double value_b(const struct example *e) { return e->b; }
static double value_c(const struct example *e) { return e->c; }

static void example_a_scalar_tile(void **state)
{
  (void)state;
  check_example(matmul_a, ROW_A, value_a);
}

static void example_b_warp_tile(void **state)
{
  (void)state;
  check_example(matmul_b, ROW_B, value_b);
}

static void example_c_cooperative_reduce(void **state)
{
  (void)state;
  check_example(sums_c, ROW_C, value_c);
}

/* ---- several sites --------------------------------------------------------------- */

static em_knobs knobs_of(const char *const (*pairs)[2], size_t n)
{
  em_knobs k = {0};
  em_err err;
  for (size_t i = 0; i < n; i++) assert_int_equal(em_knobs_set(&k, pairs[i][0], pairs[i][1], &err), EM_OK);
  return k;
}

/* Values of every example's column, of a row as stored. */
static void featurize_pairs(const pool *p, const char *const (*pairs)[2], size_t n, double *out)
{
  em_knobs k = knobs_of(pairs, n);
  em_err err;
  if (em_featurize_knobs(p->f, &k, out, &err) != EM_OK) fail_msg("%s", err.msg);
  em_knobs_free(&k);
}

static pool open_examples(const char *kernel)
{
  char *names[N_OF(examples)];
  for (size_t i = 0; i < N_OF(examples); i++) names[i] = (char *)(uintptr_t)examples[i].name;
  em_columns cols = {.names = names, .n = N_OF(examples)};
  return pool_text(kernel, ADA, EM_REGIME_DEFAULT, &cols);
}

static double value_of(const double *out, const char *name)
{
  for (size_t i = 0; i < N_OF(examples); i++)
    if (strcmp(examples[i].name, name) == 0) return out[i];
  fail_msg("no column %s", name);
  return NAN;
}

static void pooling_sums_over_sites(void **state)
{
  (void)state;
  static const char *const pairs[][2] = {{"WORK", "w2x1"},
                                         {"TILE@inner", "mma_m16n8k16_f16_f32/f4x4/k2"},
                                         {"REDUCE@inner", ""},
                                         {"STAGE@inner", "d1/smem-async"},
                                         {"REDUCE@map.1/reduce", ""},
                                         {"RASTER", ""}};
  static const struct {
    const char *name;
    double value;
  } changed[] = {{"D_threads", 65},
                 {"D_pow2_threads", 2},
                 {"D_splitk", 2},
                 {"D_log2_ctas", 28},
                 {"D_log2_waves", 14},
                 {"D_reduce_ilp", 0},
                 {"D_reduce_transposed", 0},
                 {"D_reduce_columns", 1},
                 /* B is eligible for warp tiles and the new site has none */
                 {"D_scalar_on_warp_eligible", 1},
                 /* 2^20 blocks of a thread, 24 to a multiprocessor */
                 {"D_grid", 28},
                 {"D_waves_resident", -2 + 8.415037499278844},
                 {"D_occupancy", (512 + 24) / 1536.0},
                 {"D_active_warps", 2 + 4.584962500721156},
                 {"D_reduce_steps", 10},
                 {"D_reduce_fill", 1}};
  pool p = open_examples(matmul_b);
  double out[N_OF(examples)];
  featurize_pairs(&p, pairs, N_OF(pairs), out);
  for (size_t i = 0; i < N_OF(examples); i++) {
    double expected = examples[i].b;
    for (size_t c = 0; c < N_OF(changed); c++)
      if (strcmp(changed[c].name, examples[i].name) == 0) expected = changed[c].value;
    assert_value(examples[i].name, out[i], expected);
  }
  pool_close(&p);
}

/* A site that claims no workers does not see WORK when it has rivals; alone it does. */
static void work_belongs_to_the_sites_that_claim_it(void **state)
{
  (void)state;
  static const char *const two[][2] = {
    {"WORK", "t64"}, {"REDUCE@map.1/reduce", "coop"}, {"REDUCE@map.2/reduce", "r2"}, {"RASTER", ""}};
  static const char *const bare[][2] = {
    {"WORK", "t64"}, {"REDUCE", "r4"}, {"REDUCE@map.1/reduce", "coop/r2"}, {"RASTER", ""}};
  pool p = open_examples(sums_c);
  double out[N_OF(examples)];
  featurize_pairs(&p, two, N_OF(two), out);
  assert_value("D_threads", value_of(out, "D_threads"), 64 + 1);
  assert_value("D_reduce_ilp", value_of(out, "D_reduce_ilp"), 0 + 1);
  assert_value("D_block_threads", value_of(out, "D_block_threads"), 64);
  assert_value("D_serial_cell_work", value_of(out, "D_serial_cell_work"), log2(1 + 1024.0 / 64));
  featurize_pairs(&p, bare, N_OF(bare), out);
  assert_value("D_reduce_ilp", value_of(out, "D_reduce_ilp"), 1 + 2);
  assert_value("D_serial_cell_work", value_of(out, "D_serial_cell_work"), log2(1 + 1024.0));
  pool_close(&p);
}

static void a_split_and_its_second_kernel(void **state)
{
  (void)state;
  static const char *const combined[][2] = {
    {"WORK", "t32x8"}, {"TILE", "f2x8"}, {"REDUCE", "g8k"}, {"STAGE", ""}, {"RASTER", ""}};
  static const char *const atomic[][2] = {
    {"WORK", "t32x8"}, {"TILE", "f2x8"}, {"REDUCE", "g8a"}, {"STAGE", ""}, {"RASTER", ""}};
  pool p = open_examples(matmul_a);
  double out[N_OF(examples)];
  featurize_pairs(&p, combined, N_OF(combined), out);
  assert_value("D_splitk", value_of(out, "D_splitk"), 8);
  assert_value("D_finalize_kernel", value_of(out, "D_finalize_kernel"), 1);
  assert_value("D_splitk_roundtrip", value_of(out, "D_splitk_roundtrip"), 18);
  assert_value("D_log2_ctas", value_of(out, "D_log2_ctas"), 9);
  assert_value("D_log2_waves", value_of(out, "D_log2_waves"), 2);
  assert_value("D_splitk_excess", value_of(out, "D_splitk_excess"), 1); /* 4 are needed */
  assert_value("D_splitk_deficit", value_of(out, "D_splitk_deficit"), 0);
  assert_value("D_serial_cell_work", value_of(out, "D_serial_cell_work"), log2(65));
  featurize_pairs(&p, atomic, N_OF(atomic), out);
  assert_value("D_finalize_kernel", value_of(out, "D_finalize_kernel"), 0);
  assert_value("D_splitk_roundtrip", value_of(out, "D_splitk_roundtrip"), 0);
  pool_close(&p);
}

static void knobs_under_their_own_names(void **state)
{
  (void)state;
  static const char *const pairs[][2] = {
    {"WORK", "t256"},           {"REDUCE", "coop"}, {"RASTER", ""},  {"VECTORIZE_LOADS", "True"},
    {"PAIR_LDMATRIX", "False"}, {"UNROLL", "8"},    {"LOOPIFY", "0"}};
  char *names[] = {"PAIR_LDMATRIX", "UNROLL", "VECTORIZE_LOADS", "VECTORIZE_STORES"};
  em_columns cols = {.names = names, .n = N_OF(names)};
  pool p = pool_text(sums_c, ADA, EM_REGIME_DEFAULT, &cols);
  double out[N_OF(names)];
  featurize_pairs(&p, pairs, N_OF(pairs), out);
  assert_value("PAIR_LDMATRIX", out[0], 0);
  assert_value("UNROLL", out[1], 8);
  assert_value("VECTORIZE_LOADS", out[2], 1);
  assert_value("VECTORIZE_STORES", out[3], NAN);
  pool_close(&p);
}

static void assert_knobs_refused(const pool *p, const char *key, const char *value)
{
  double out[N_OF(examples)];
  em_knobs k = {0};
  em_err err;
  assert_int_equal(em_knobs_set(&k, "WORK", "t32", &err), EM_OK);
  assert_int_equal(em_knobs_set(&k, key, value, &err), EM_OK);
  assert_int_equal(em_featurize_knobs(p->f, &k, out, &err), EM_E_INPUT);
  if (!strstr(err.msg, key)) fail_msg("\"%s\" does not name %s", err.msg, key);
  em_knobs_free(&k);
}

static void a_value_that_does_not_parse_is_an_error(void **state)
{
  (void)state;
  pool p = open_examples(matmul_b);
  assert_knobs_refused(&p, "TILE", "f4x");
  assert_knobs_refused(&p, "TILE@inner", "mma_m16n8k16_f16_f32/f4x4"); /* needs warps */
  assert_knobs_refused(&p, "REDUCE@map.1/reduce", "coop/r1");
  assert_knobs_refused(&p, "STAGE", "d0/smem");
  assert_knobs_refused(&p, "RASTER", "gm1");
  assert_knobs_refused(&p, "UNROLL", "many");
  pool_close(&p);
}

/* ---- missing is not unused --------------------------------------------------------- */

static void missing_is_not_zero(void **state)
{
  (void)state;
  pool p = pool_text(matmul_b, ADA, EM_REGIME_DEFAULT, NULL);
  assert_value("D_wspec_warps", feature_of(&p, "WORK= TILE= REDUCE= STAGE= RASTER=", "D_wspec_warps"), 0);
  assert_value("D_wspec_warps", feature_of(&p, "TILE= REDUCE= STAGE= RASTER=", "D_wspec_warps"), NAN);
  assert_value("D_raster_group", feature_of(&p, "WORK= TILE= REDUCE= STAGE= RASTER=", "D_raster_group"), 0);
  assert_value("D_raster_group", feature_of(&p, "WORK= TILE= REDUCE= STAGE=", "D_raster_group"), NAN);
  assert_value("D_raster_gn", feature_of(&p, "WORK= TILE= REDUCE= STAGE=", "D_raster_gn"), NAN);
  assert_value("D_threads", feature_of(&p, "WORK= TILE= REDUCE=", "D_threads"), 1);
  assert_value("D_threads", feature_of(&p, "WORK= TILE=", "D_threads"), NAN);
  assert_value("D_stage_out", feature_of(&p, "WORK= TILE= REDUCE= STAGE=", "D_stage_out"), NAN);
  assert_value("MMA_tier", feature_of(&p, "WORK= TILE=", "MMA_tier"), 0);
  pool_close(&p);
}

static void a_column_that_is_not_registered_is_missing(void **state)
{
  (void)state;
  char *names[] = {"D_threads", "P_n_pieces", "S_pw_tanh"};
  em_columns cols = {.names = names, .n = N_OF(names)};
  pool p = pool_text(matmul_a, ADA, EM_REGIME_DEFAULT, &cols);
  assert_value("D_threads", feature_of(&p, ROW_A, "D_threads"), 256);
  assert_value("P_n_pieces", feature_of(&p, ROW_A, "P_n_pieces"), NAN);
  assert_value("S_pw_tanh", feature_of(&p, ROW_A, "S_pw_tanh"), NAN);
  pool_close(&p);
}

/* ---- what we do otherwise, or besides ------------------------------------------------ */

static void a_tall_tile_stays_tall(void **state)
{
  (void)state;
  pool p = pool_text(matmul_a, ADA, EM_REGIME_DEFAULT, NULL);
  assert_value("D_tile_m", feature_of(&p, "WORK= TILE=f1x4 REDUCE= STAGE= RASTER=", "D_tile_m"), 4);
  assert_value("D_tile_n", feature_of(&p, "WORK= TILE=f1x4 REDUCE= STAGE= RASTER=", "D_tile_n"), 1);
  assert_value("D_aspect", feature_of(&p, "WORK= TILE=f1x4 REDUCE= STAGE= RASTER=", "D_aspect"), 2);
  assert_value("D_aspect", feature_of(&p, "WORK= TILE=f4 REDUCE= STAGE= RASTER=", "D_aspect"), -2);
  pool_close(&p);
}

static void a_tile_with_a_shared_cell_counts_its_threads_once(void **state)
{
  (void)state;
  pool p = pool_text(matmul_a, ADA, EM_REGIME_DEFAULT, NULL);
  assert_value("D_threads", feature_of(&p, "WORK=t128 TILE=f2 REDUCE=coop STAGE= RASTER=", "D_threads"), 128);
  pool_close(&p);
}

static void masks_say_which_axis_the_tile_overhangs(void **state)
{
  (void)state;
  em_build odd = {.kind = "matmul", .m = 96, .n = 100, .k = 72, .in = EM_F16};
  em_build dynamic = {.kind = "matmul", .m = 512, .n = 512, .k = 512, .in = EM_F16, .sym_m = "seq_len"};
  pool p = pool_open(&odd, ADA, EM_REGIME_DEFAULT, NULL);
  static const char tile[] = "WORK=w2x1 TILE=mma_m16n8k16_f16_f32/f3x4/k2 REDUCE= STAGE= RASTER="; /* 96 x 32 x 32 */
  assert_value("D_neg_masked_m", feature_of(&p, tile, "D_neg_masked_m"), 0);
  assert_value("D_neg_masked_n", feature_of(&p, tile, "D_neg_masked_n"), -1);
  assert_value("D_neg_masked_k", feature_of(&p, tile, "D_neg_masked_k"), -1);
  pool_close(&p);
  p = pool_open(&dynamic, ADA, EM_REGIME_DEFAULT, NULL);
  assert_value("D_neg_masked_m", feature_of(&p, tile, "D_neg_masked_m"), -1);
  assert_value("D_neg_masked_n", feature_of(&p, tile, "D_neg_masked_n"), 0);
  assert_value("S_ext_n_symbolic_axis", feature_of(&p, tile, "S_ext_n_symbolic_axis"), 1);
  assert_value("S_ext_free_prod", feature_of(&p, tile, "S_ext_free_prod"), 512);
  pool_close(&p);
}

static void wgmma_is_four_warps_of_64_rows(void **state)
{
  (void)state;
  static const char row[] = "WORK=w4x1+p1 TILE=wgmma_m64n256k16_f16_f32/f1x32/k4 REDUCE= STAGE=d4/smem-tma RASTER=gm8";
  static const struct {
    const char *name;
    double value;
  } facts[] = {{"D_tile_m", 64},         {"D_tile_n", 256},    {"D_threads", 128},
               {"D_block_threads", 160}, {"D_wspec_warps", 1}, {"MMA_wgmma", 1},
               {"MMA_atom_m", 64},       {"MMA_atom_n", 256},  {"MMA_atom_k", 16},
               {"MMA_acc_bits", 32},     {"D_cells", 32},      {"D_stage_tma", 1},
               {"D_stage_async", 1},     {"D_stage_depth", 4}, {"D_raster_group", 8},
               {"D_raster_gn", 0},       {"H_cc", 90},         {"D_smem_bytes", 4 * (64 + 256) * 64 * 2.0}};
  pool p = pool_text(matmul_b, "h100", EM_REGIME_DEFAULT, NULL);
  for (size_t i = 0; i < N_OF(facts); i++)
    assert_value(facts[i].name, feature_of(&p, row, facts[i].name), facts[i].value);
  assert_true(feature_of(&p, row, "D_resident_ctas") == 1);
  pool_close(&p);
}

static void staging_in_registers_and_the_rest_of_stage(void **state)
{
  (void)state;
  pool p = pool_text(matmul_b, "h100", EM_REGIME_DEFAULT, NULL);
#define STAGED(stage) "WORK=w2x1 TILE=mma_m16n8k16_f16_f32/f4x4/k2 REDUCE= STAGE=" stage " RASTER="
  assert_value("D_stage_reg", feature_of(&p, STAGED("d1/reg"), "D_stage_reg"), 1);
  assert_value("D_stage_depth", feature_of(&p, STAGED("d1/reg"), "D_stage_depth"), NAN);
  assert_value("D_stage_out", feature_of(&p, STAGED("d1/smem-async/out"), "D_stage_out"), 1);
  assert_value("D_stage_reg_depth", feature_of(&p, STAGED("d3/smem-async/p2"), "D_stage_reg_depth"), 2);
  assert_value("D_stage_cluster", feature_of(&p, STAGED("d3/smem-tma/c2"), "D_stage_cluster"), 2);
  assert_value("D_stage_async", feature_of(&p, STAGED("d1/smem"), "D_stage_async"), 0);
  pool_close(&p);
}

static void packed_weights_show_their_bits_when_copied_asynchronously(void **state)
{
  (void)state;
  pool p = pool_text(matmul_f4, "rtx5090", EM_REGIME_DEFAULT, NULL);
#define PACKED(stage) "WORK=w2x1 TILE=mma_m16n8k64_e2m1_f32/f1x1 REDUCE= STAGE=" stage " RASTER="
  assert_value("MMA_b_store_bits", feature_of(&p, PACKED("d2/smem-async"), "MMA_b_store_bits"), 4);
  assert_value("MMA_b_store_bits", feature_of(&p, PACKED("d2/smem"), "MMA_b_store_bits"), NAN);
  assert_value("MMA_b_store_bits",
               feature_of(&p, "WORK=t32 TILE=f2 REDUCE= STAGE=d2/smem-async RASTER=", "MMA_b_store_bits"), NAN);
  assert_value("MMA_a_bits", feature_of(&p, PACKED("d2/smem"), "MMA_a_bits"), 8);
  pool_close(&p);
}

static void the_regime_shows(void **state)
{
  (void)state;
  em_regime fast = {.fast_math = true, .cold_cache = true, .opt = 3};
  pool p = pool_text(matmul_b, ADA, fast, NULL);
  assert_value("H_fast_math", feature_of(&p, ROW_B, "H_fast_math"), 1);
  assert_value("H_cold_cache", feature_of(&p, ROW_B, "H_cold_cache"), 1);
  pool_close(&p);
}

static int open_and_close(const pool *p, em_err *err)
{
  em_featurizer *f;
  int rc = em_featurizer_open(p->kernel, p->card, p->regime, p->space, &p->cols, &f, err);
  if (rc == EM_OK) em_featurizer_free(f);
  return rc;
}

static void failing_allocations_leak_nothing(void **state)
{
  (void)state;
  pool p = pool_text(matmul_b, ADA, EM_REGIME_DEFAULT, NULL);
  em_columns all;
  em_err err;
  ASSERT_SURVIVES_NOMEM(em_columns_all(p.kernel, &all, &err), em_columns_free(&all));
  ASSERT_SURVIVES_NOMEM(open_and_close(&p, &err), (void)0);
  em_featurizer_free(NULL);
  pool_close(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(example_a_scalar_tile),
    cmocka_unit_test(example_b_warp_tile),
    cmocka_unit_test(example_c_cooperative_reduce),
    cmocka_unit_test(pooling_sums_over_sites),
    cmocka_unit_test(work_belongs_to_the_sites_that_claim_it),
    cmocka_unit_test(a_split_and_its_second_kernel),
    cmocka_unit_test(knobs_under_their_own_names),
    cmocka_unit_test(a_value_that_does_not_parse_is_an_error),
    cmocka_unit_test(missing_is_not_zero),
    cmocka_unit_test(a_column_that_is_not_registered_is_missing),
    cmocka_unit_test(a_tall_tile_stays_tall),
    cmocka_unit_test(a_tile_with_a_shared_cell_counts_its_threads_once),
    cmocka_unit_test(masks_say_which_axis_the_tile_overhangs),
    cmocka_unit_test(wgmma_is_four_warps_of_64_rows),
    cmocka_unit_test(staging_in_registers_and_the_rest_of_stage),
    cmocka_unit_test(packed_weights_show_their_bits_when_copied_asynchronously),
    cmocka_unit_test(the_regime_shows),
    cmocka_unit_test(failing_allocations_leak_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
