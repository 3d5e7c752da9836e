/* The space of hand-made nests: counts worked out from the reference's catalogs, rules and
 * their words, and the properties that tie enumeration, tree and membership together. */
#include "tests/unit/unit.h"

#include "core/space/space_int.h"

/* ---- nests ---------------------------------------------------------------------------- */

static em_axis axis(const char *name, int64_t extent)
{
  return (em_axis){.name = name, .extent = extent, .sym = extent ? NULL : "s", .hint = extent ? extent : 512};
}

static em_nest matmul(int64_t m, int64_t n, int64_t k, em_dtype t)
{
  em_nest v = {.kind = EM_KIND_CONTRACTION,
               .n_free = 2,
               .has_fold = true,
               .n_folds = 1,
               .fold_op = "add",
               .m_axis = 0,
               .n_axis = 1,
               .n_products = 1,
               .row_address = true,
               .epilogue_straight = true,
               .epilogue_linear = true,
               .out_dtype = t};
  v.free[0] = axis("a0", m);
  v.free[1] = axis("a1", n);
  v.fold = axis("a2", k);
  v.a = (em_operand){.buffer = "x", .dtype = t, .rank = 2, .plain = true, .k_contiguous = true, .leading_fixed = true};
  v.b = (em_operand){.buffer = "w", .dtype = t, .rank = 2, .plain = true, .mn_contiguous = true, .leading_fixed = true};
  return v;
}

static em_nest linear(int64_t m, int64_t n, int64_t k, em_dtype t)
{
  em_nest v = matmul(m, n, k, t);
  v.b.mn_contiguous = false;
  v.b.k_contiguous = true;
  return v;
}

static em_nest rows(int64_t m, int64_t k, int folds, bool sweeps)
{
  em_nest v = {.kind = EM_KIND_REDUCE,
               .n_free = 1,
               .has_fold = true,
               .n_folds = folds,
               .sweeps = sweeps,
               .fold_op = "add",
               .m_axis = -1,
               .n_axis = -1,
               .out_dtype = EM_F32};
  v.free[0] = axis("a0", m);
  v.fold = axis("a1", k);
  return v;
}

static em_nest pointwise(int64_t m, int64_t n)
{
  em_nest v = {.kind = EM_KIND_POINTWISE, .n_free = 2, .m_axis = -1, .n_axis = -1, .out_dtype = EM_F32};
  v.free[0] = axis("a0", m);
  v.free[1] = axis("a1", n);
  return v;
}

static const em_card *card(const char *name)
{
  em_err err;
  const em_card *c = NULL;
  if (em_card_find(name, &c, &err)) fail_msg("%s", err.msg);
  return c;
}

static em_space *space_of(const em_nest *nest, const char *card_name, bool fast)
{
  em_err err;
  em_space *s = NULL;
  em_regime regime = EM_REGIME_DEFAULT;
  regime.fast_math = fast;
  if (em_space_open_nest(nest, card(card_name), regime, &s, &err)) fail_msg("%s", err.msg);
  return s;
}

static uint64_t count_of(em_nest nest, const char *card_name, bool fast)
{
  em_space *s = space_of(&nest, card_name, fast);
  uint64_t n = em_space_count(s);
  em_space_free(s);
  return n;
}

static em_row row_of(const char *text)
{
  em_err err;
  em_row r;
  if (em_row_parse(text, &r, &err)) fail_msg("%s", err.msg);
  return r;
}

/* "" when the space has the row, else the refusal. */
static const char *refusal(em_nest nest, const char *card_name, bool fast, const char *text)
{
  static char why[EM_WHY_LEN];
  em_space *s = space_of(&nest, card_name, fast);
  em_row r = row_of(text);
  bool in = em_space_contains(s, &r, why);
  assert_int_equal(in, why[0] == '\0');
  assert_int_equal(in, em_space_rule_against(s, &r) == NULL);
  em_space_free(s);
  return why;
}

static em_resources resources(em_nest nest, const char *card_name, const char *text)
{
  em_space *s = space_of(&nest, card_name, true);
  em_row r = row_of(text);
  em_resources v;
  em_space_resources(s, &r, &v);
  em_space_free(s);
  return v;
}

/* ---- counts --------------------------------------------------------------------------- */

/* One cooperating band: "", r2, r4; coop on 8 widths and on 4 packed blocks, each with r1,
 * r2, r4; coop-t on 5 widths with v1, v2, v4, v8. */
enum { SERIAL = 3, COOP = (8 + 4) * 3, COOP_T = 5 * 4 };
/* Scalar tiles: 5 lines of threads, 4 x 3 - 1 register tiles, 3 x 2 blocks of 4 x 9. */
enum { SCALAR_TILES = 5 + 11 + 6 * 36 };

static void test_scalar_counts(void **state)
{
  (void)state;
  em_nest symbolic_k = matmul(512, 512, 0, EM_F32), symbolic_m = linear(0, 512, 512, EM_F32);
  /* A transposed B is never staged by scalar tiles. */
  assert_int_equal(count_of(linear(512, 512, 512, EM_F32), "v100-sxm2", false),
                   SERIAL + COOP + COOP_T + 2 * SCALAR_TILES);
  assert_int_equal(count_of(symbolic_k, "h100", false), 1 + 2 * SCALAR_TILES);
  assert_int_equal(count_of(symbolic_m, "h100", false), SERIAL + COOP + COOP_T + SCALAR_TILES);
}

static void test_row_counts(void **state)
{
  (void)state;
  assert_int_equal(count_of(rows(512, 2048, 1, false), "rtx4090", false), SERIAL + COOP + COOP_T);
  /* A kernel that sweeps its rows may give any band to the sweep, coop-t needs neither chain nor sweep. */
  assert_int_equal(count_of(rows(512, 2048, 2, true), "rtx4090", false), SERIAL + COOP + 8 * 3);
  assert_int_equal(count_of(rows(0, 0, 1, true), "rtx4090", false), SERIAL + COOP + 8 * 3);
  /* Lanes of coop-t need an output axis to run along. */
  assert_int_equal(count_of(rows(1, 2048, 1, false), "rtx4090", false), SERIAL + COOP);
}

static void test_pointwise_counts(void **state)
{
  (void)state;
  assert_int_equal(count_of(pointwise(512, 4096), "h100", false), 1 + 3);
  assert_int_equal(count_of(pointwise(512, 3840), "h100", false), 1 + 4);
  assert_int_equal(count_of(pointwise(512, 7), "h100", false), 1);
  assert_int_equal(count_of(pointwise(6, 0), "h100", false), 1 + 2); /* strips on the innermost static axis */
}

/* Warp grids: wm, wn of 1 2 4 8 16 with at most 32 warps: 19.  Cells fm x fn: 23 of at most 32. */
static void test_tensor_counts(void **state)
{
  (void)state;
  em_nest direct = matmul(512, 512, 0, EM_F16), bf16 = matmul(512, 512, 0, EM_BF16);
  uint64_t scalar = 1 + 2 * SCALAR_TILES, mma = 2 * 19 * 23 * 4;
  assert_int_equal(count_of(direct, "a100-40gb", false), scalar + mma);
  assert_int_equal(count_of(direct, "a100-40gb", true), scalar + 2 * mma); /* and the f16 accumulator */
  assert_int_equal(count_of(direct, "h100", false), scalar + mma);         /* wgmma must be staged */
  assert_int_equal(count_of(bf16, "a100-40gb", true), scalar + mma);
  assert_int_equal(count_of(direct, "v100-sxm2", false),
                   scalar + 2 * 19 * 17 * 4); /* 8 accumulators a cell: 17 of at most 16 cells */
  assert_int_equal(count_of(bf16, "v100-sxm2", false), scalar);
}

/* Whole pools with staging, producers and wgmma, as counted by another program, in another
 * language, that walks the full product of the catalogs. */
static void test_whole_pools(void **state)
{
  (void)state;
  assert_int_equal(count_of(matmul(2048, 2048, 2048, EM_F16), "h100", false), 99429);
  assert_int_equal(count_of(matmul(2048, 2048, 2048, EM_F16), "rtx5090", true), 148023);
  assert_int_equal(count_of(matmul(512, 12288, 4096, EM_F16), "rtx4090", true), 73565);
  assert_int_equal(count_of(matmul(0, 4096, 14336, EM_F16), "v100-sxm2", false), 9961);
  assert_int_equal(count_of(linear(32, 16384, 3072, EM_F16), "a100-40gb", false), 44231);
  assert_int_equal(count_of(linear(1, 4096, 4096, EM_F16), "h100", false), 95527);
  assert_int_equal(count_of(matmul(2048, 2048, 2048, EM_F32), "rtx4090", false), 2861);
  assert_int_equal(count_of(matmul(0, 1024, 1024, EM_F32), "rtx5090", false), 2245);
}

/* ---- rules and their words -------------------------------------------------------------- */

#define ROW(work, tile, stage) "WORK=" work " TILE=" tile " REDUCE= STAGE=" stage " RASTER="
#define MMA                    "mma_m16n8k16_f16_f32"

static void test_shared_memory(void **state)
{
  (void)state;
  em_nest f32 = matmul(2048, 2048, 2048, EM_F32), f16 = matmul(2048, 2048, 2048, EM_F16);
  /* (128 + 128) * 64 * 2 B a slot, 99 KiB on the card */
  assert_string_equal(refusal(f16, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "d3/smem-async")), "");
  assert_string_equal(refusal(f16, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "d4/smem-async")),
                      "TILE " MMA "/f4x8/k4: 131072 B of shared memory, card has 101376 B");
  assert_string_equal(refusal(f16, "h100", false, ROW("w2x2", MMA "/f4x8/k4", "d4/smem-async")), "");
  /* 8 slots of a chunk of 4: 8 * 4 * (208 + 1664) * 4 B */
  assert_string_equal(refusal(f32, "rtx4090", false, ROW("t64x8", "f26x26", "d8/smem-async")),
                      "STAGE d8/smem-async: N (2048; 0 = symbolic) is not a multiple of the tile's 1664");
  em_nest wide = matmul(2048, 3328, 2048, EM_F32);
  assert_string_equal(refusal(wide, "rtx4090", false, ROW("t64x8", "f26x26", "d8/smem-async")),
                      "TILE f26x26: 239616 B of shared memory, card has 101376 B");
}

static void test_transports(void **state)
{
  (void)state;
  em_nest f16 = matmul(512, 512, 512, EM_F16), f32 = matmul(512, 512, 512, EM_F32);
  assert_string_equal(refusal(f32, "v100-sxm2", false, ROW("t16x8", "f4x8", "d2/smem-async")),
                      "STAGE d2/smem-async: cp.async needs compute capability 8.0, the card has 7.0");
  assert_string_equal(refusal(f32, "rtx4090", false, ROW("t16x8", "f4x8", "d2/smem-tma")),
                      "STAGE d2/smem-tma: TMA needs compute capability 9.0, the card has 8.9");
  assert_string_equal(refusal(f32, "rtx5090", false, ROW("t16x8", "f4x8", "d2/smem-tma")), "");
  assert_string_equal(refusal(f32, "rtx4090", false, ROW("t16x8", "f4x8", "d2/smem")), "");
  assert_string_equal(refusal(f32, "rtx4090", false, ROW("t16x8", "f4x8", "d3/smem")),
                      "STAGE d3/smem: 3 blocking slots, at most 2");
  assert_string_equal(refusal(f32, "rtx4090", false, ROW("t16x8", "f4x8", "d2/smem-async/p2")),
                      "STAGE d2/smem-async/p2: p double-buffers fragments of tensor-core tiles only");
  assert_string_equal(refusal(f32, "rtx4090", false, ROW("", "f4", "d2/smem")),
                      "STAGE d2/smem: a scalar tile of one thread shares nothing");
  assert_string_equal(refusal(f16, "v100-sxm2", false, ROW("w1x1", "mma_m8n8k4_f16_f32/f2x2/k8", "d2/smem/p2")), "");
  assert_string_equal(refusal(f16, "rtx4090", false, ROW("w1x1", MMA "/f2x2", "d2/smem")),
                      "STAGE d2/smem: blocking copies serve tensor cores before compute capability 8.0 only");
  assert_string_equal(refusal(f16, "rtx4090", false, ROW("w1x1", MMA "/f2x2", "d2/smem-async/p2")),
                      "STAGE d2/smem-async/p2: 2 groups, the chunk has 1");
  assert_string_equal(refusal(f16, "rtx5090", false, ROW("w1x1", MMA "/f2x2", "d2/smem-tma/out")),
                      "STAGE d2/smem-tma/out: only a tensor-core tile without TMA leaves through shared memory");
  assert_string_equal(refusal(f16, "rtx5090", false, ROW("w16x1", MMA "/f2x1", "d1/smem-tma")),
                      "STAGE d1/smem-tma: a box of 512, TMA copies at most 256 along a dimension");
  assert_string_equal(refusal(f16, "h100", false, ROW("w1x1", MMA "/f2x2", "d2/smem-tma/c2")),
                      "STAGE d2/smem-tma/c2: clusters are not offered");
}

static void test_masked_and_symbolic(void **state)
{
  (void)state;
  em_nest odd_n = matmul(512, 520, 512, EM_F16), odd_k = matmul(512, 512, 520, EM_F16),
          sym = matmul(0, 512, 512, EM_F16);
  assert_string_equal(refusal(odd_n, "rtx4090", false, ROW("w1x2", MMA "/f2x2", "d2/smem-async")),
                      "STAGE d2/smem-async: N (520; 0 = symbolic) is not a multiple of the tile's 32");
  assert_string_equal(refusal(odd_n, "rtx4090", false, ROW("w1x2", MMA "/f2x2", "")), "");
  assert_string_equal(refusal(odd_k, "rtx4090", false, ROW("w1x2", MMA "/f2x2", "d2/smem-async")),
                      "STAGE d2/smem-async: K 520 is not a multiple of the chunk 16");
  assert_string_equal(refusal(odd_k, "rtx4090", false, ROW("w1x2", MMA "/f2x2", "")), "");
  assert_string_equal(refusal(sym, "rtx4090", false, ROW("w1x2", MMA "/f2x2", "d2/smem-async")), "");
  assert_string_equal(refusal(sym, "rtx4090", false, "WORK=w1x2 TILE=" MMA "/f2x2 REDUCE= STAGE= RASTER=gm8"),
                      "RASTER gm8: a free axis is symbolic");
  assert_string_equal(refusal(matmul(8, 8, 0, EM_F32), "rtx4090", false, "WORK=t64 TILE= REDUCE=coop STAGE= RASTER="),
                      "REDUCE coop: a symbolic K folds serially");
}

/* TMA reads rows of whole 16 B; extents from a file may be as large as they like. */
static void test_tma_rows(void **state)
{
  (void)state;
  em_nest narrow = matmul(512, 1026, 516, EM_F32), huge = matmul(512, 1024, INT64_MAX - 1, EM_F32);
  em_nest moving = matmul(512, 512, 512, EM_F16), flat = moving;
  moving.b.leading_fixed = false;
  flat.a.rank = 1;
  assert_string_equal(refusal(narrow, "h100", false, ROW("t32x8", "f4x4", "d2/smem-tma")),
                      "STAGE d2/smem-tma: N (1026; 0 = symbolic) is not a multiple of the tile's 128");
  assert_string_equal(refusal(huge, "h100", false, ROW("t32x8", "f4x4", "d2/smem-async")),
                      "STAGE d2/smem-async: K 9223372036854775806 is not a multiple of the least slab chunk 4");
  huge.fold.extent = INT64_MAX - 3;
  assert_string_equal(refusal(huge, "h100", false, ROW("t32x8", "f4x4", "d2/smem-tma")),
                      "STAGE d2/smem-tma: operand rows of 9223372036854775807 B are not a multiple of 16 B");
  em_nest odd = matmul(512, 512, 516, EM_F16);
  assert_string_equal(refusal(odd, "h100", false, ROW("t32x8", "f4x4", "d2/smem-async")), "");
  assert_string_equal(refusal(odd, "h100", false, ROW("t32x8", "f4x4", "d2/smem-tma")),
                      "STAGE d2/smem-tma: operand rows of 1032 B are not a multiple of 16 B");
  assert_string_equal(
    refusal(moving, "h100", false, ROW("w1x1", MMA "/f2x2", "d2/smem-tma")),
    "STAGE d2/smem-tma: an operand of rank 2 that TMA cannot address: 2 to 4 dimensions, the outer ones fixed");
  assert_string_equal(
    refusal(flat, "h100", false, ROW("w1x1", MMA "/f2x2", "d2/smem-tma")),
    "STAGE d2/smem-tma: an operand of rank 1 that TMA cannot address: 2 to 4 dimensions, the outer ones fixed");
}

static void test_atoms(void **state)
{
  (void)state;
  em_nest f16 = matmul(512, 512, 512, EM_F16), f32 = matmul(512, 512, 512, EM_F32), shared = f16, looping = f16,
          k_major = f16;
  shared.row_address = false;
  looping.epilogue_straight = false;
  k_major.a.k_contiguous = false;
  const char *row = ROW("w1x1", MMA "/f2x2", "");
  assert_string_equal(refusal(f16, "v100-sxm2", false, row),
                      "TILE " MMA "/f2x2: the card (compute capability 7.0) lacks the instruction");
  assert_string_equal(refusal(f32, "h100", false, row),
                      "TILE " MMA "/f2x2: the instruction does not take the kernel's operand types");
  assert_string_equal(refusal(shared, "h100", false, row), "TILE " MMA "/f2x2: rows of the tile share a store address");
  assert_string_equal(refusal(looping, "h100", false, row),
                      "TILE " MMA "/f2x2: the epilogue loops or gathers, a fragment cannot run it");
  assert_string_equal(refusal(k_major, "h100", false, row), "TILE " MMA "/f2x2: A is not contiguous along K");
  assert_string_equal(refusal(f16, "h100", false, ROW("w1x1", "mma_m16n8k16_f16_f16/f2x2", "")),
                      "TILE mma_m16n8k16_f16_f16/f2x2: the instruction loses precision, it needs FAST_MATH");
  assert_string_equal(refusal(f16, "h100", true, ROW("w1x1", "mma_m16n8k16_f16_f16/f2x2", "")), "");
  assert_string_equal(refusal(f16, "h100", false, ROW("w1x1", MMA "/f4x16", "")),
                      "TILE " MMA "/f4x16: 64 fragment cells a warp, at most 32");
  assert_string_equal(refusal(f16, "v100-sxm2", false, ROW("w1x1", "mma_m8n8k4_f16_f32/f4x8", "")),
                      "TILE mma_m8n8k4_f16_f32/f4x8: 256 accumulator registers, at most 128");
}

static void test_wgmma(void **state)
{
  (void)state;
  em_nest f16 = matmul(4096, 4096, 4096, EM_F16);
  assert_string_equal(refusal(f16, "h100", false, ROW("w8x1", "wgmma_m64n256k16_f16_f32/f1x32/k4", "d4/smem-tma")), "");
  assert_string_equal(refusal(f16, "rtx4090", false, ROW("w8x1", "wgmma_m64n64k16_f16_f32/f1x8/k4", "d2/smem-async")),
                      "TILE wgmma_m64n64k16_f16_f32/f1x8/k4: the card (compute capability 8.9) lacks the instruction");
  assert_string_equal(refusal(f16, "h100", false, ROW("w4x1", "wgmma_m64n64k16_f16_f32/f1x8/k4", "")),
                      "STAGE \"\": wgmma reads shared memory, its operands must be staged");
  assert_string_equal(refusal(f16, "h100", false, ROW("w2x1", "wgmma_m64n64k16_f16_f32/f1x8/k4", "d2/smem-tma")),
                      "WORK w2x1: wgmma needs warps in fours along m and one along n");
  assert_string_equal(refusal(f16, "h100", false, ROW("w4x1", "wgmma_m64n128k16_f16_f32/f1x8/k4", "d2/smem-tma")),
                      "TILE wgmma_m64n128k16_f16_f32/f1x8/k4: wgmma needs f1x<C> with C a multiple of 16");
  assert_string_equal(refusal(f16, "h100", false, ROW("w4x1", "wgmma_m64n64k16_f16_f32/f1x8/k2", "d2/smem-tma")),
                      "TILE wgmma_m64n64k16_f16_f32/f1x8/k2: a chunk of 64 B of K, wgmma takes 128 B");
  /* 58 + 4 * 24 registers, 65536 / 512 in a block of 16 warps */
  assert_string_equal(refusal(f16, "h100", false, ROW("w16x1", "wgmma_m64n64k16_f16_f32/f1x24/k4", "d2/smem-tma")),
                      "TILE wgmma_m64n64k16_f16_f32/f1x24/k4: 154 registers a thread, at most 128");
}

/* An f32 A beside an f16 B is converted while threads fill its slab; only B's copies ring. */
static void test_compute_fill(void **state)
{
  (void)state;
  em_nest mixed = matmul(512, 512, 512, EM_F16), odd;
  mixed.a.dtype = EM_F32;
  odd = mixed;
  odd.fold.extent = 520;
  assert_string_equal(refusal(mixed, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "d2/smem")), "");
  assert_string_equal(refusal(mixed, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "")),
                      "STAGE \"\": a computed or converted operand must be staged");
  assert_string_equal(refusal(mixed, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "d2/smem-async")),
                      "STAGE d2/smem-async: a computed or converted operand is filled by threads: smem");
  assert_string_equal(refusal(mixed, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "d2/smem/p2")),
                      "STAGE d2/smem/p2: a compute fill has neither p nor out");
  assert_string_equal(refusal(odd, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "d2/smem")),
                      "STAGE d2/smem: K 520 is not a multiple of the chunk 64");
  em_nest gathered = mixed;
  gathered.a.k_contiguous = false;
  assert_string_equal(refusal(gathered, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "d2/smem")), "");
  assert_int_equal(resources(mixed, "rtx4090", ROW("w2x2", MMA "/f4x8/k4", "d1/smem")).smem_bytes,
                   (128 + 128) * 64 * 2);
  assert_int_equal(resources(mixed, "rtx4090", ROW("w2x2", MMA "/f4x8/k4", "d2/smem")).smem_bytes,
                   (128 + 2 * 128) * 64 * 2);
}

/* A byte B under a 16-bit A stays bytes in its slab, with 16 B a row against bank conflicts. */
static void test_byte_operands(void **state)
{
  (void)state;
  em_nest under = linear(512, 512, 512, EM_F16), both = linear(512, 512, 512, EM_F8E4M3),
          symbolic = linear(512, 512, 0, EM_F8E4M3);
  under.b.dtype = EM_F8E4M3;
  assert_string_equal(refusal(under, "rtx4090", false, ROW("w2x2", MMA "/f4x8/k4", "d2/smem-async")), "");
  assert_int_equal(resources(under, "rtx4090", ROW("w2x2", MMA "/f4x8/k4", "d2/smem-async")).smem_bytes,
                   2 * (128 * 64 * 2 + 128 * (64 + 16)));
  assert_int_equal(resources(under, "h100", ROW("w2x2", MMA "/f4x8/k4", "d2/smem-tma")).smem_bytes,
                   2 * (128 * 64 * 2 + 128 * 64));
  const char *row = ROW("w1x1", "mma_m16n8k32_e4m3_f32/f2x2/k2", "");
  assert_string_equal(refusal(both, "rtx4090", true, row), "");
  assert_string_equal(refusal(both, "rtx4090", false, row),
                      "TILE mma_m16n8k32_e4m3_f32/f2x2/k2: the instruction loses precision, it needs FAST_MATH");
  assert_string_equal(refusal(both, "a100-40gb", true, row),
                      "TILE mma_m16n8k32_e4m3_f32/f2x2/k2: the card (compute capability 8.0) lacks the instruction");
  assert_string_equal(refusal(symbolic, "rtx4090", true, row),
                      "TILE mma_m16n8k32_e4m3_f32/f2x2/k2: K (0; 0 = symbolic) is not a multiple of the chunk 64");
}

/* Gate and up in one fold: two B slabs, always staged on tensor cores, no scalar tile. */
static void test_channels(void **state)
{
  (void)state;
  em_nest two = matmul(512, 512, 512, EM_F16);
  two.n_products = 2;
  assert_string_equal(refusal(two, "rtx4090", false, ROW("t16x8", "f4x4", "")),
                      "TILE f4x4: a scalar tile needs one product of two operands");
  assert_string_equal(refusal(two, "rtx4090", false, ROW("w2x2", MMA "/f2x4/k4", "")),
                      "STAGE \"\": several products in one fold must be staged");
  assert_string_equal(refusal(two, "rtx4090", false, ROW("w2x2", MMA "/f2x4/k4", "d2/smem-async")), "");
  assert_int_equal(resources(two, "rtx4090", ROW("w2x2", MMA "/f2x4/k4", "d2/smem-async")).smem_bytes,
                   2 * (64 + 2 * 64) * 64 * 2);
}

static void test_workers(void **state)
{
  (void)state;
  em_nest f16 = matmul(512, 512, 512, EM_F16), f32 = matmul(512, 512, 512, EM_F32);
  assert_string_equal(refusal(f16, "rtx5090", false, ROW("w2x2+p1", MMA "/f2x2", "d2/smem-tma")), "");
  assert_string_equal(refusal(f16, "rtx5090", false, ROW("w2x2+p1", MMA "/f2x2", "d2/smem-async")),
                      "WORK w2x2+p1: producer warps only issue TMA copies, STAGE has none");
  assert_string_equal(refusal(f16, "rtx5090", false, ROW("w1x1+p2", MMA "/f2x2", "d2/smem-tma")),
                      "WORK w1x1+p2: 2 producer warps, at most as many as the 1 compute warps");
  assert_string_equal(refusal(f16, "rtx5090", false, ROW("w2x16+p1", MMA "/f2x2", "d2/smem-tma")),
                      "WORK w2x16+p1: 1056 threads, a block has at most 1024");
  assert_string_equal(refusal(f16, "rtx5090", false, ROW("w2x2+p3", MMA "/f2x2", "d2/smem-tma")),
                      "WORK w2x2+p3: not in the catalog of this kernel");
  assert_string_equal(refusal(f16, "rtx5090", false, ROW("w2x2", "f2x2", "")),
                      "TILE f2x2: a scalar tile is held by threads, not by warps");
  assert_string_equal(refusal(f32, "rtx5090", false, ROW("t64", "", "")),
                      "WORK t64: neither TILE nor REDUCE uses these workers");
  assert_string_equal(refusal(f32, "rtx5090", false, ROW("t16x8", "f5x8", "")),
                      "TILE f5x8: not in the catalog of this kernel under this WORK");
  assert_string_equal(refusal(f32, "rtx5090", false, "WORK=t64 TILE=f1 REDUCE=coop STAGE= RASTER="),
                      "REDUCE coop: a tiled contraction folds serially");
  assert_string_equal(refusal(f32, "rtx5090", false, "WORK=t64 TILE= REDUCE=coop STAGE= RASTER=gm8"),
                      "RASTER gm8: only a tiled contraction has an order of tiles");
  assert_string_equal(refusal(f32, "rtx5090", false, "WORK=t16x8 TILE=f2 REDUCE=g2a STAGE= RASTER="),
                      "REDUCE g2a: a split is a decision about kernels, its pieces have rows of their own");
  assert_string_equal(refusal(f32, "rtx5090", false, "WORK=t16x8 TILE=f2 REDUCE= STAGE= RASTER=gn4"),
                      "RASTER gn4: not in the catalog of this kernel");
  em_nest vector = matmul(512, 512, 512, EM_F32);
  vector.n_free = 1;
  vector.m_axis = vector.n_axis = -1;
  assert_string_equal(refusal(vector, "h100", false, ROW("t16x8", "f4x4", "")),
                      "TILE f4x4: a tile needs two free axes, the kernel has 1");
}

static void test_row_kernels(void **state)
{
  (void)state;
  em_nest sum = rows(512, 2048, 1, false), norm = rows(512, 2048, 1, true), chain = rows(512, 2048, 2, true),
          flat = pointwise(512, 4096);
  assert_string_equal(refusal(sum, "h100", false, "WORK=t16x8 REDUCE=coop/r2 RASTER="), "");
  assert_string_equal(refusal(sum, "h100", false, "WORK=t64 REDUCE=coop-t/v4 RASTER="), "");
  assert_string_equal(refusal(sum, "h100", false, "WORK=t16 REDUCE=coop-t RASTER="),
                      "REDUCE coop-t: 16 threads are not a multiple of 32");
  assert_string_equal(refusal(sum, "h100", false, "WORK=t64x2 REDUCE=coop RASTER="),
                      "WORK t64x2: cells share a block only under coop, at most 32 wide, 128 threads in all");
  assert_string_equal(refusal(sum, "h100", false, "WORK=t96 REDUCE=coop RASTER="),
                      "WORK t96: 96 threads do not form a cooperating band of the catalog");
  assert_string_equal(refusal(sum, "h100", false, "WORK=t64 REDUCE= RASTER="),
                      "WORK t64: neither TILE nor REDUCE uses these workers");
  assert_string_equal(refusal(norm, "h100", false, "WORK=t64 REDUCE= RASTER="), "");
  assert_string_equal(refusal(norm, "h100", false, "WORK=t64 REDUCE=coop-t RASTER="),
                      "REDUCE coop-t: the epilogue loops");
  assert_string_equal(refusal(chain, "h100", false, "WORK=t64 REDUCE=coop-t RASTER="),
                      "REDUCE coop-t: the kernel chains folds");
  assert_string_equal(refusal(flat, "h100", false, "WORK=t128x8 TILE=f1x8 RASTER="),
                      "WORK t128x8: a pointwise kernel gives each thread its own cells, WORK is \"\"");
  assert_string_equal(refusal(flat, "h100", false, "WORK= TILE=f3 RASTER="),
                      "TILE f3: the innermost static extent 4096 is not a multiple of 3");
}

static void test_families(void **state)
{
  (void)state;
  char why[EM_WHY_LEN];
  em_nest flat = pointwise(512, 4096);
  em_space *s = space_of(&flat, "h100", false);
  em_row r = row_of("TILE=f4 STAGE=");
  assert_false(em_space_contains(s, &r, why));
  assert_string_equal(why, "WORK: missing, the kernel decides it");
  assert_string_equal(em_space_rule_against(s, &r), "families");
  r = em_space_normalise(s, &r);
  char text[EM_ROW_LEN];
  assert_string_equal(em_row_print(&r, text), "WORK= TILE=f4 RASTER=");
  assert_true(em_space_contains(s, &r, why));
  r = row_of("WORK= TILE=f4 STAGE=d2/smem RASTER=");
  r = em_space_normalise(s, &r);
  assert_false(em_space_contains(s, &r, why));
  assert_string_equal(why, "STAGE: the kernel has no such choice");
  em_space_free(s);
}

static void test_rule_ids(void **state)
{
  (void)state;
  em_nest f32 = matmul(512, 512, 512, EM_F32);
  em_space *s = space_of(&f32, "rtx4090", false);
  em_row r = row_of(ROW("t16x8", "f4x8", "d2/smem-tma"));
  assert_string_equal(em_space_rule_against(s, &r), "stage.tma-card");
  r = row_of(ROW("t16x8", "f5x8", ""));
  assert_string_equal(em_space_rule_against(s, &r), "catalog");
  em_space_free(s);
}

static void test_out_of_scope(void **state)
{
  (void)state;
  em_nest fp4 = matmul(512, 512, 512, EM_F4E2M1X2), other = {.kind = EM_KIND_OTHER}, told = matmul(8, 8, 8, EM_F32);
  told.out_of_scope = "carries a state";
  em_nest *nests[] = {&fp4, &other, &told};
  for (int i = 0; i < 3; i++) {
    em_space *s = space_of(nests[i], "b200", false);
    em_row r;
    assert_non_null(em_space_out_of_scope(s));
    r = row_of("WORK=");
    assert_string_equal(em_space_rule_against(s, &r), "out_of_scope");
    assert_int_equal(em_space_count(s), 0);
    em_space_cursor c = em_space_begin(s);
    assert_int_equal(em_space_next(&c, &r, 1), 0);
    em_space_free(s);
  }
}

/* ---- properties ------------------------------------------------------------------------- */

static int by_content(const void *a, const void *b) { return em_row_compare(a, b); }

static em_row *all_rows(const em_space *s, size_t *n)
{
  size_t cap = (size_t)em_space_count(s) + 7;
  em_row *out = malloc(cap * sizeof *out);
  assert_non_null(out);
  em_space_cursor c = em_space_begin(s);
  *n = 0;
  for (size_t got = 1; got > 0; *n += got) got = em_space_next(&c, out + *n, cap - *n < 97 ? cap - *n : 97);
  return out;
}

typedef struct tree {
  const em_space *s;
  uint64_t leaves, expected;
  size_t depth;
  const em_row *rows;
} tree;

static bool descend(void *ctx, const em_row *child, em_family level, uint64_t leaves)
{
  tree *t = ctx;
  (void)level;
  if (child->present == em_space_families(t->s)) {
    assert_int_equal(leaves, 1);
    assert_true(em_row_equal(child, &t->rows[t->leaves])); /* the tree's order is the stream's */
    t->leaves++;
    return true;
  }
  uint64_t before = t->leaves;
  em_space_children(t->s, child, descend, t);
  assert_int_equal(t->leaves - before, leaves);
  return true;
}

static bool stop_at_once(void *ctx, const em_row *child, em_family level, uint64_t leaves)
{
  (void)child, (void)level, (void)leaves;
  ++*(size_t *)ctx;
  return false;
}

static void check_space(em_nest nest, const char *card_name, bool fast)
{
  em_space *s = space_of(&nest, card_name, fast);
  size_t n;
  em_row *all = all_rows(s, &n);
  char why[EM_WHY_LEN];
  assert_int_equal(n, em_space_count(s));
  for (size_t i = 0; i < n; i++) {
    em_try t = {.site = &s->site, .row = all[i]};
    em_try_shape(&t);
    assert_true(em_space_contains(s, &all[i], why));
    for (em_step step = 0; step < EM_N_STEPS; step++) assert_null(em_rule_refusing(&t, step));
  }
  tree t = {.s = s, .rows = all};
  em_row root = {0};
  em_space_children(s, &root, descend, &t);
  assert_int_equal(t.leaves, n);
  size_t calls = 0;
  em_space_children(s, &root, stop_at_once, &calls);
  assert_int_equal(calls, 1);
  em_space_children(s, &all[0], stop_at_once, &calls); /* a leaf has no children */
  assert_int_equal(calls, 1);
  qsort(all, n, sizeof *all, by_content);
  for (size_t i = 1; i < n; i++) assert_true(em_row_compare(&all[i - 1], &all[i]) < 0);
  free(all);
  em_space_free(s);
}

static void test_tree_and_stream(void **state)
{
  (void)state;
  check_space(pointwise(512, 3840), "h100", false);
  check_space(rows(512, 2048, 2, true), "v100-sxm2", false);
  check_space(rows(1, 2048, 1, false), "v100-sxm2", false);
  check_space(matmul(512, 512, 512, EM_F32), "rtx5090", false);
  check_space(linear(1, 512, 96, EM_F16), "h100", false);
  check_space(matmul(0, 72, 64, EM_F16), "v100-sxm2", true);
}

static uint32_t rnd(uint64_t *seed)
{
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*seed >> 33);
}

static em_row random_row(uint64_t *seed)
{
  static const uint8_t widths[] = {1, 2, 3, 4, 8, 16, 24, 26, 32, 64, 128};
#define PICK() widths[rnd(seed) % (sizeof widths / sizeof widths[0])]
  em_row r = {.present = EM_HAS(EM_WORK) | EM_HAS(EM_TILE) | EM_HAS(EM_REDUCE) | EM_HAS(EM_STAGE) | EM_HAS(EM_RASTER)};
  r.work = (em_work){.kind = (uint8_t)(rnd(seed) % 3), .n = PICK(), .m = PICK()};
  if (r.work.kind == EM_WORK_NONE) r.work = (em_work){.kind = EM_WORK_NONE};
  if (r.work.kind == EM_WORK_WARPS) r.work.producers = (uint8_t)(rnd(seed) % 4);
  r.tile = (em_tile){
    .kind = r.work.kind == EM_WORK_WARPS ? EM_TILE_WARP : EM_TILE_SCALAR, .atom = -1, .fn = PICK(), .fm = PICK()};
  if (r.tile.kind == EM_TILE_WARP) {
    r.tile.atom = (int8_t)(rnd(seed) % em_n_atoms());
    r.tile.bk = PICK();
  } else if (rnd(seed) % 4 == 0 || (r.tile.fn == 1 && r.tile.fm == 1 && r.work.kind == EM_WORK_NONE)) {
    r.tile = (em_tile){.kind = EM_TILE_NONE, .atom = -1, .fn = 1, .fm = 1};
  }
  r.reduce = (em_reduce){.cta = 1, .v = 1, .r = rnd(seed) % 3 ? 1 : PICK()};
  if (r.work.kind == EM_WORK_THREADS && rnd(seed) % 2) r.reduce.coop = (uint8_t)(1 + rnd(seed) % 2);
  if (rnd(seed) % 3)
    r.stage = (em_stage){.transport = (uint8_t)(EM_STAGE_REG + rnd(seed) % 4),
                         .depth = PICK(),
                         .p = (uint8_t)(1 + rnd(seed) % 2),
                         .c = 1,
                         .out = rnd(seed) % 4 == 0};
  if (rnd(seed) % 3 == 0) r.raster = (em_raster){.group = 8, .orient = 'm'};
  return r;
}

/* A row is a leaf exactly when it is enumerated; every refusal has words. */
static void test_random_rows(void **state)
{
  (void)state;
  em_nest nests[] = {matmul(512, 512, 512, EM_F16), linear(512, 512, 512, EM_F32), matmul(0, 520, 0, EM_BF16)};
  uint64_t seed = 7;
  for (int k = 0; k < 3; k++) {
    em_space *s = space_of(&nests[k], "h100", k == 0);
    size_t n, inside = 0;
    em_row *all = all_rows(s, &n);
    qsort(all, n, sizeof *all, by_content);
    for (int i = 0; i < 60000; i++) {
      char why[EM_WHY_LEN];
      em_row r = random_row(&seed);
      bool in = em_space_contains(s, &r, why);
      assert_int_equal(in, bsearch(&r, all, n, sizeof *all, by_content) != NULL);
      assert_int_equal(in, why[0] == '\0');
      inside += in;
    }
    assert_true(inside > 20);
    free(all);
    em_space_free(s);
  }
}

static void test_option_zero(void **state)
{
  (void)state;
  em_nest f16 = matmul(512, 512, 512, EM_F16);
  em_space *s = space_of(&f16, "h100", false);
  em_space_cursor c = em_space_begin(s);
  em_row first[2];
  char text[EM_ROW_LEN];
  assert_int_equal(em_space_next(&c, first, 2), 2);
  assert_string_equal(em_row_print(&first[0], text), "WORK= TILE= REDUCE= STAGE= RASTER=");
  assert_string_equal(em_row_print(&first[1], text), "WORK= TILE= REDUCE=r2 STAGE= RASTER=");
  assert_true(em_space_warp_eligible(s));
  em_space_free(s);
}

/* ---- resources ---------------------------------------------------------------------------- */

static void test_resources(void **state)
{
  (void)state;
  em_nest f16 = matmul(2048, 2048, 2048, EM_F16), f32 = matmul(2048, 2048, 2048, EM_F32);
  em_resources r = resources(f16, "h100", ROW("w8x1+p1", "wgmma_m64n256k16_f16_f32/f1x32/k4", "d4/smem-tma"));
  assert_int_equal(r.threads, 8 * 32 + 32);
  assert_int_equal(r.smem_bytes, 4 * (128 + 256) * 64 * 2);
  assert_int_equal(r.regs, 58 + 32 * 4);
  assert_int_equal(r.resident, 1);
  /* the chunk of K is resolved: 128 fits once, (128 + 64) * 128 * 4 B = 98304 B */
  r = resources(f32, "rtx4090", ROW("t16x16", "f4x8", "d1/smem-async"));
  assert_int_equal(r.smem_bytes, 98304);
  assert_int_equal(r.resident, 1);
  r = resources(f32, "rtx4090", ROW("t16x16", "f4x8", "d2/smem-async"));
  assert_int_equal(r.smem_bytes, 98304); /* two slots of 64 */
  /* 24 + 8 + 6 registers, 5 units of 256 a warp; 8 warps: 6 blocks by 1536 threads an SM, 6 by 65536 registers */
  r = resources(f32, "rtx4090", ROW("t16x16", "f4x2", ""));
  assert_int_equal(r.regs, 38);
  assert_int_equal(r.smem_bytes, 0);
  assert_int_equal(r.resident, 6);
  r = resources(f32, "rtx4090", "WORK= TILE= REDUCE= STAGE= RASTER=");
  assert_int_equal(r.threads, 1);
  assert_int_equal(r.resident, card("rtx4090")->blocks_per_sm);
  /* an output tile of 128 x 128 x 2 B leaves in the room of one slot of (128 + 128) * 16 * 2 B, or in more */
  r = resources(f16, "rtx4090", ROW("w2x2", MMA "/f4x8", "d1/smem-async/out"));
  assert_int_equal(r.smem_bytes, 128 * 128 * 2);
}

static void test_fits(void **state)
{
  (void)state;
  em_nest f32 = matmul(2048, 2048, 2048, EM_F32);
  em_space *s = space_of(&f32, "rtx4090", false);
  char why[EM_WHY_LEN];
  em_row r = row_of(ROW("t32x8", "f4x26", "d2/smem-async"));
  assert_true(em_space_fits(s, &r, why));
  r = row_of(ROW("t32x8", "f26x26", ""));
  assert_false(em_space_fits(s, &r, why));
  assert_string_equal(why, "TILE f26x26: about 752 registers a thread, at most 255");
  r = row_of(ROW("t64x16", "f4x14", "")); /* 24 + 56 + 18 = 98 registers, 13 units of 256 for each of 32 warps */
  assert_false(em_space_fits(s, &r, why));
  assert_string_equal(why, "TILE f4x14: about 106496 registers for 1024 threads, a block has 65536");
  r = row_of(ROW("t64x32", "f2", ""));
  assert_false(em_space_fits(s, &r, why));
  assert_string_equal(why, "WORK t64x32: 2048 threads, a block has at most 1024");
  em_space_free(s);
}

static void test_geometry(void **state)
{
  (void)state;
  em_geometry g;
  em_row r = row_of(ROW("w2x4+p1", MMA "/f4x2/k8", ""));
  em_geometry_of(r.work, r.tile, r.reduce, &g);
  assert_int_equal(g.threads, 256);
  assert_int_equal(g.cells, 8);
  assert_int_equal(g.tile_m, 2 * 4 * 16);
  assert_int_equal(g.tile_n, 4 * 2 * 8);
  assert_int_equal(g.bk, 8);
  assert_int_equal(g.bn, 0);
  r = row_of(ROW("w4x1", "wgmma_m64n128k16_f16_f32/f1x16/k4", ""));
  em_geometry_of(r.work, r.tile, r.reduce, &g);
  assert_int_equal(g.tile_m, 64);
  assert_int_equal(g.tile_n, 128);
  r = row_of(ROW("t32x8", "f4x10", ""));
  em_geometry_of(r.work, r.tile, r.reduce, &g);
  assert_int_equal(g.tile_m, 80);
  assert_int_equal(g.tile_n, 128);
  r = row_of("WORK=t64 TILE= REDUCE=coop/r2 STAGE= RASTER=");
  em_geometry_of(r.work, r.tile, r.reduce, &g);
  assert_int_equal(g.threads, 64);
  assert_int_equal(g.br, 64);
  assert_int_equal(g.bn, 0);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void test_allocation_failure(void **state)
{
  (void)state;
  em_nest f16 = matmul(512, 512, 512, EM_F16);
  em_err err;
  em_space *s = NULL;
  ASSERT_SURVIVES_NOMEM(em_space_open_nest(&f16, card("h100"), EM_REGIME_DEFAULT, &s, &err), em_space_free(s));
  em_space_free(NULL);
}

static void test_rules_are_named_once(void **state)
{
  (void)state;
  const em_rule *seen[128];
  size_t n_seen = 0;
  for (em_step step = 0; step < EM_N_STEPS; step++) {
    size_t n;
    const em_rule *rules = em_rules_of(step, &n);
    assert_true(n > 0 && n_seen + n <= 128);
    for (size_t i = 0; i < n; i++) seen[n_seen++] = &rules[i];
  }
  for (size_t i = 0; i < n_seen; i++)
    for (size_t j = 0; j < i; j++) {
      assert_string_not_equal(seen[i]->id, seen[j]->id);
      assert_true(seen[i]->holds != seen[j]->holds);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_scalar_counts),
    cmocka_unit_test(test_row_counts),
    cmocka_unit_test(test_pointwise_counts),
    cmocka_unit_test(test_tensor_counts),
    cmocka_unit_test(test_whole_pools),
    cmocka_unit_test(test_shared_memory),
    cmocka_unit_test(test_transports),
    cmocka_unit_test(test_masked_and_symbolic),
    cmocka_unit_test(test_atoms),
    cmocka_unit_test(test_wgmma),
    cmocka_unit_test(test_tma_rows),
    cmocka_unit_test(test_compute_fill),
    cmocka_unit_test(test_byte_operands),
    cmocka_unit_test(test_channels),
    cmocka_unit_test(test_workers),
    cmocka_unit_test(test_row_kernels),
    cmocka_unit_test(test_families),
    cmocka_unit_test(test_rule_ids),
    cmocka_unit_test(test_out_of_scope),
    cmocka_unit_test(test_tree_and_stream),
    cmocka_unit_test(test_random_rows),
    cmocka_unit_test(test_option_zero),
    cmocka_unit_test(test_resources),
    cmocka_unit_test(test_fits),
    cmocka_unit_test(test_geometry),
    cmocka_unit_test(test_allocation_failure),
    cmocka_unit_test(test_rules_are_named_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
