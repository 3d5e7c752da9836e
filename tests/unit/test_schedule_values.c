/* Knob values: one spelling each, and errors that say the right one. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <stdio.h>

#include "core/schedule/schedule.h"
#include "tests/unit/shared.h"

static em_work work_of(const char *s)
{
  em_err err;
  em_work w;
  if (em_work_parse(s, &w, &err) != EM_OK) fail_msg("%s", err.msg);
  return w;
}

/* Parses `value` of `family` beside `work` and prints it into buf. */
static int round_trip(em_family family, const char *value, em_work work, char buf[EM_VALUE_LEN], em_err *err)
{
  em_work w;
  em_tile t;
  em_reduce r;
  em_stage s;
  em_raster g;
  int rc;
  switch (family) {
  case EM_WORK:
    rc = em_work_parse(value, &w, err);
    if (!rc) em_work_print(w, buf);
    return rc;
  case EM_TILE:
    rc = em_tile_parse(value, work, &t, err);
    if (!rc) em_tile_print(t, buf);
    return rc;
  case EM_REDUCE:
    rc = em_reduce_parse(value, work, &r, err);
    if (!rc) em_reduce_print(r, buf);
    return rc;
  case EM_STAGE:
    rc = em_stage_parse(value, &s, err);
    if (!rc) em_stage_print(s, buf);
    return rc;
  default:
    rc = em_raster_parse(value, &g, err);
    if (!rc) em_raster_print(g, buf);
    return rc;
  }
}

static void assert_canonical(em_family family, const char *value, const char *work)
{
  em_err err;
  char buf[EM_VALUE_LEN];
  if (round_trip(family, value, work_of(work), buf, &err) != EM_OK) fail_msg("WORK \"%s\": %s", work, err.msg);
  assert_string_equal(buf, value);
}

/* ---- the fields of each token, from the grammar's own examples ---- */

static void test_work_fields(void **state)
{
  (void)state;
  em_work w = work_of("t32x8"); /* 32 threads along n, 8 along m */
  assert_true(w.kind == EM_WORK_THREADS && w.n == 32 && w.m == 8 && w.producers == 0);
  assert_int_equal(em_work_threads(w), 256);
  w = work_of("t128");
  assert_true(w.n == 128 && w.m == 1);
  w = work_of("w2x4"); /* 2 warps along m, 4 along n */
  assert_true(w.kind == EM_WORK_WARPS && w.m == 2 && w.n == 4);
  assert_int_equal(em_work_threads(w), 256);
  w = work_of("w4x1+p2"); /* two producer warps at the end of the block */
  assert_int_equal(w.producers, 2);
  assert_int_equal(em_work_threads(w), 4 * 32 + 2 * 32);
  w = work_of("");
  assert_true(w.kind == EM_WORK_NONE && w.n == 0 && w.m == 0);
  assert_int_equal(em_work_threads(w), 1);
  assert_int_equal(em_work_threads(work_of("w65535x65535+p255")), INT_MAX);
  assert_int_equal(em_work_threads(EM_WORK_MISSING), 1);
}

static void test_tile_fields(void **state)
{
  (void)state;
  em_err err;
  em_tile t;
  assert_int_equal(em_tile_parse("f4x8", work_of("t32x8"), &t, &err), EM_OK); /* 4 columns x 8 rows per thread */
  assert_true(t.kind == EM_TILE_SCALAR && t.fn == 4 && t.fm == 8 && t.atom == -1 && t.bk == 0);
  assert_int_equal(em_tile_parse("mma_m16n8k16_f16_f32/f4x8/k2", work_of("w2x2"), &t, &err),
                   EM_OK); /* 4 row x 8 column atoms */
  assert_true(t.kind == EM_TILE_WARP && t.fm == 4 && t.fn == 8 && t.bk == 2);
  assert_string_equal(em_atom_at((size_t)t.atom)->name, "mma_m16n8k16_f16_f32");
  assert_int_equal(em_tile_parse("mma_m16n8k16_f16_f32/f1x1", work_of("w2x2"), &t, &err), EM_OK);
  assert_int_equal(t.bk, 1);
  assert_int_equal(em_tile_parse("", work_of("t32"), &t, &err), EM_OK);
  assert_true(t.kind == EM_TILE_NONE && t.fn == 1 && t.fm == 1);
}

static void test_reduce_stage_raster_fields(void **state)
{
  (void)state;
  em_err err;
  em_reduce r;
  assert_int_equal(em_reduce_parse("g16k/coop-t/v4/r2", work_of("t128"), &r, &err), EM_OK);
  assert_true(r.cta == 16 && r.finalize == 'k' && r.coop == EM_COOP_T && r.v == 4 && r.r == 2);
  assert_int_equal(em_reduce_parse("coop", work_of("t128"), &r, &err), EM_OK);
  assert_true(r.cta == 1 && r.finalize == 0 && r.coop == EM_COOP && r.v == 1 && r.r == 1);
  em_stage s;
  assert_int_equal(em_stage_parse("d3/smem-async/p2", &s, &err), EM_OK);
  assert_true(s.depth == 3 && s.transport == EM_STAGE_ASYNC && s.p == 2 && s.c == 1 && !s.out);
  assert_int_equal(em_stage_parse("d1/reg", &s, &err), EM_OK);
  assert_true(s.depth == 1 && s.transport == EM_STAGE_REG);
  assert_int_equal(em_stage_parse("d4/smem-tma/c2/out", &s, &err), EM_OK);
  assert_true(s.transport == EM_STAGE_TMA && s.c == 2 && s.out);
  em_raster g;
  assert_int_equal(em_raster_parse("gm8", &g, &err), EM_OK);
  assert_true(g.group == 8 && g.orient == 'm');
  assert_int_equal(em_raster_parse("", &g, &err), EM_OK);
  assert_true(g.group == 0 && g.orient == 0);
}

/* ---- every value of the published catalogs is canonical ---- */

static void test_scalar_catalog(void **state)
{
  (void)state;
  static const int par_n[] = {16, 32, 64}, par_m[] = {8, 16}, reg_n[] = {1, 2, 3, 4, 26},
                   reg_m[] = {1, 2, 4, 6, 8, 10, 12, 14, 26};
  static const char *const points[] = {"", "f2", "f3", "f4", "f8"}, *const line[] = {"t32", "t64", "t128", "t256",
                                                                                     "t512"};
  for (size_t i = 0; i < N_OF(points); i++) assert_canonical(EM_TILE, points[i], "");
  for (size_t i = 0; i < N_OF(line); i++) assert_canonical(EM_TILE, "f1", line[i]);
  for (size_t i = 0; i < N_OF(par_n) * N_OF(par_m); i++) {
    char work[32], tile[32];
    snprintf(work, sizeof work, "t%dx%d", par_n[i / N_OF(par_m)], par_m[i % N_OF(par_m)]);
    assert_canonical(EM_WORK, work, "");
    for (size_t j = 0; j < N_OF(reg_n) * N_OF(reg_m); j++) {
      int n = reg_n[j / N_OF(reg_m)], m = reg_m[j % N_OF(reg_m)];
      snprintf(tile, sizeof tile, m > 1 ? "f%dx%d" : "f%d", n, m);
      assert_canonical(EM_TILE, tile, work);
    }
  }
}

static void test_warp_catalog(void **state)
{
  (void)state;
  static const int warps[] = {1, 2, 4, 8, 16}, fm[] = {1, 2, 3, 4, 8}, fn[] = {1, 2, 4, 8, 16, 24, 32},
                   bk[] = {1, 2, 4, 8};
  char work[32], tile[64];
  for (size_t a = 0; a < em_n_atoms(); a++)
    for (size_t i = 0; i < N_OF(fm) * N_OF(fn) * N_OF(bk); i++) {
      int k = bk[i % N_OF(bk)], n = fn[i / N_OF(bk) % N_OF(fn)], m = fm[i / N_OF(bk) / N_OF(fn)];
      snprintf(tile, sizeof tile, k > 1 ? "%s/f%dx%d/k%d" : "%s/f%dx%d", em_atom_at(a)->name, m, n, k);
      snprintf(work, sizeof work, "w%dx%d", warps[i % N_OF(warps)], warps[i / 2 % N_OF(warps)]);
      assert_canonical(EM_WORK, work, "");
      assert_canonical(EM_TILE, tile, work);
    }
  assert_canonical(EM_TILE, "mma_m16n8k16_f16_f32/f26x4/k2", "w1x1");
}

static void test_reduce_catalog(void **state)
{
  (void)state;
  static const int coop[] = {4, 8, 16, 32, 64, 128, 256, 512}, widths[] = {2, 4, 8, 16, 32, 64};
  static const char *const alone[] = {"", "r2", "r4"}, *const with[] = {"coop",      "coop/r2",   "coop/r4",  "coop-t",
                                                                        "coop-t/v2", "coop-t/v4", "coop-t/v8"};
  for (size_t i = 0; i < N_OF(alone); i++) assert_canonical(EM_REDUCE, alone[i], "");
  for (size_t c = 0; c < N_OF(coop); c++) {
    char work[16];
    snprintf(work, sizeof work, "t%d", coop[c]);
    for (size_t i = 0; i < N_OF(with); i++) assert_canonical(EM_REDUCE, with[i], work);
  }
  assert_canonical(EM_REDUCE, "coop/r2", "t4x32"); /* packed cells of a narrow reduce */
  for (size_t i = 0; i < N_OF(widths); i++)
    for (int letter = 0; letter < 2; letter++) {
      char value[32];
      snprintf(value, sizeof value, "g%d%c", widths[i], "ka"[letter]);
      assert_canonical(EM_REDUCE, value, "");
      snprintf(value, sizeof value, "g%d%c/coop/r4", widths[i], "ka"[letter]);
      assert_canonical(EM_REDUCE, value, "t64");
    }
}

static void test_stage_and_raster_catalog(void **state)
{
  (void)state;
  static const char *const transports[] = {"smem", "smem-async", "smem-tma"}, *const tails[] = {"", "/p2", "/out",
                                                                                                "/p2/out"};
  for (int depth = 1; depth <= 8; depth++)
    for (size_t i = 0; i < N_OF(transports) * N_OF(tails); i++) {
      char value[64];
      snprintf(value, sizeof value, "d%d/%s%s", depth, transports[i / N_OF(tails)], tails[i % N_OF(tails)]);
      assert_canonical(EM_STAGE, value, "");
    }
  static const char *const stages[] = {"", "d1/reg", "d2/smem-tma/c2", "d2/smem-tma/p2/c2", "d2/smem-tma/p2/c2/out"};
  for (size_t i = 0; i < N_OF(stages); i++) assert_canonical(EM_STAGE, stages[i], "");
  static const char *const rasters[] = {"", "gm8", "gn4", "gn8", "gm2"};
  for (size_t i = 0; i < N_OF(rasters); i++) assert_canonical(EM_RASTER, rasters[i], "");
  static const char *const works[] = {"", "t1", "t1x8", "t32", "t32x8", "w1x1", "w2x4", "w1x1+p1", "w4x2+p2"};
  for (size_t i = 0; i < N_OF(works); i++) assert_canonical(EM_WORK, works[i], "");
}

/* ---- parse(print(v)) == v over all structs that a text can mean ---- */

static void test_every_tile_struct(void **state)
{
  (void)state;
  em_err err;
  for (int atom = -1; atom < (int)em_n_atoms(); atom++)
    for (int i = 0; i < 20000; i++) {
      uint64_t u = em_rng_u64(7, (uint64_t)(atom + 1), (uint64_t)i);
      em_tile t = {.kind = atom < 0 ? EM_TILE_SCALAR : EM_TILE_WARP,
                   .atom = (int8_t)atom,
                   .fn = (uint8_t)(u % 255 + 1),
                   .fm = (uint8_t)(u / 255 % 255 + 1),
                   .bk = atom < 0 ? 0 : (uint8_t)(u / 65536 % 255 + 1)},
              back;
      char buf[EM_VALUE_LEN];
      assert_true(strlen(em_tile_print(t, buf)) < EM_VALUE_LEN);
      if (em_tile_parse(buf, work_of(atom < 0 ? "t32x8" : "w2x2"), &back, &err) != EM_OK) fail_msg("%s", err.msg);
      assert_memory_equal(&back, &t, sizeof t);
    }
}

static void test_every_small_struct(void **state)
{
  (void)state;
  em_err err;
  char buf[EM_VALUE_LEN];
  for (int i = 0; i < 100000; i++) {
    uint64_t u = em_rng_u64(8, 0, (uint64_t)i);
    uint8_t b[8];
    memcpy(b, &u, sizeof b);
    uint8_t one[4] = {b[0] ? b[0] : 1, b[1] ? b[1] : 1, b[2] ? b[2] : 1, b[3] ? b[3] : 1};
    em_work w = {.kind = b[4] & 1 ? EM_WORK_WARPS : EM_WORK_THREADS,
                 .n = (uint16_t)(one[0] << (b[5] & 8)),
                 .m = one[1]},
            w2;
    w.producers = w.kind == EM_WORK_WARPS ? b[2] : 0;
    assert_int_equal(em_work_parse(em_work_print(w, buf), &w2, &err), EM_OK);
    assert_memory_equal(&w, &w2, sizeof w);
    em_reduce r = {.cta = one[0],
                   .finalize = one[0] == 1 ? 0 : "ka"[b[4] & 1],
                   .coop = (uint8_t)(b[5] % 3),
                   .v = 1,
                   .r = one[1]},
              r2;
    r.v = r.coop == EM_COOP_T ? one[2] : 1;
    assert_int_equal(em_reduce_parse(em_reduce_print(r, buf), work_of("t64"), &r2, &err), EM_OK);
    assert_memory_equal(&r, &r2, sizeof r);
    em_stage s = {.transport = (uint8_t)(b[4] % 4 + EM_STAGE_REG), .depth = one[0], .p = one[1], .c = 1}, s2;
    s.c = s.transport == EM_STAGE_TMA ? one[2] : 1;
    s.out = s.transport != EM_STAGE_REG && (b[5] & 1);
    assert_int_equal(em_stage_parse(em_stage_print(s, buf), &s2, &err), EM_OK);
    assert_memory_equal(&s, &s2, sizeof s);
    em_raster g = {.group = one[0], .orient = "mn"[b[4] & 1]}, g2;
    if (g.group == 1) g = (em_raster){0};
    assert_int_equal(em_raster_parse(em_raster_print(g, buf), &g2, &err), EM_OK);
    assert_memory_equal(&g, &g2, sizeof g);
  }
}

/* ---- refusals ---- */

/* Not canonical, with the spelling that is. */
static void test_wrong_spellings(void **state)
{
  (void)state;
  static const struct {
    em_family family;
    const char *work, *value, *right;
  } rows[] = {
    {EM_WORK, "", "t128x1", "t128"},
    {EM_WORK, "", "t032", "t32"},
    {EM_WORK, "", "T32X8", "t32x8"},
    {EM_WORK, "", "w4", "w4x1"},
    {EM_WORK, "", "w04x2+p01", "w4x2+p1"},
    {EM_TILE, "t32x8", "f4x1", "f4"},
    {EM_TILE, "t32", "f1x1", "f1"},
    {EM_TILE, "", "f1", ""},
    {EM_TILE, "t1", "f1", ""},
    {EM_TILE, "w2x2", "f1", ""},
    {EM_TILE, "t32x8", "f04x8", "f4x8"},
    {EM_TILE, "w2x2", "mma_m16n8k16_f16_f32/f4x8/k1", "mma_m16n8k16_f16_f32/f4x8"},
    {EM_TILE, "w2x2", "mma_m16n8k16_f16_f32/f4", "mma_m16n8k16_f16_f32/f4x1"},
    {EM_TILE, "w2x2", "MMA_M16N8K16_F16_F32/f4x8", "mma_m16n8k16_f16_f32/f4x8"},
    {EM_REDUCE, "t64", "coop/r1", "coop"},
    {EM_REDUCE, "", "r1", ""},
    {EM_REDUCE, "", "g1k", ""},
    {EM_REDUCE, "", "g8", "g8k"},
    {EM_REDUCE, "t64", "r2/coop", "coop/r2"},
    {EM_REDUCE, "t64", "coop-t/v1", "coop-t"},
    {EM_REDUCE, "t64", "coop/g2a", "g2a/coop"},
    {EM_REDUCE, "t1x8", "coop", ""},
    {EM_REDUCE, "", "g02a", "g2a"},
    {EM_STAGE, "", "d2/smem/p1", "d2/smem"},
    {EM_STAGE, "", "d2/smem/c1", "d2/smem"},
    {EM_STAGE, "", "d2/smem/out/p2", "d2/smem/p2/out"},
    {EM_STAGE, "", "D2/SMEM-ASYNC", "d2/smem-async"},
    {EM_STAGE, "", "d02/smem", "d2/smem"},
    {EM_RASTER, "", "gm1", ""},
    {EM_RASTER, "", "gm08", "gm8"},
    {EM_RASTER, "", "GN4", "gn4"},
  };
  for (size_t i = 0; i < N_OF(rows); i++) {
    em_err err;
    char buf[EM_VALUE_LEN], want[200];
    assert_int_equal(round_trip(rows[i].family, rows[i].value, work_of(rows[i].work), buf, &err), EM_E_INPUT);
    snprintf(want, sizeof want, "%s \"%s\" is not canonical: write \"%s\"", em_family_at(rows[i].family)->name,
             rows[i].value, rows[i].right);
    assert_string_equal(err.msg, want);
    /* The advice is good advice. */
    assert_int_equal(round_trip(rows[i].family, rows[i].right, work_of(rows[i].work), buf, &err), EM_OK);
  }
}

/* No value at all: the message names the knob, the value and what was expected. */
static void test_not_values(void **state)
{
  (void)state;
  static const char *const atom = "mma_m16n8k16_f16_f32";
  static const struct {
    em_family family;
    const char *work, *value, *says;
  } rows[] = {
    {EM_WORK, "", "x", "at character 1 found \"x\", expected \"t\""},
    {EM_WORK, "", "t", "at its end expected a width"},
    {EM_WORK, "", "t0", "at character 2 found \"0\", expected a width of 1 to 65535"},
    {EM_WORK, "", "t65536", "expected a width of 1 to 65535"},
    {EM_WORK, "", "t99999999999999999999", "expected a width of 1 to 65535"},
    {EM_WORK, "", "t4294967328", "expected a width of 1 to 65535"}, /* 2^32 + 32 */
    {EM_WORK, "", "t32x8x2", "at character 6 found \"x2\", expected"},
    {EM_WORK, "", "t32+p1", "at character 4 found \"+p1\""},
    {EM_WORK, "", "w2x2+p0", "expected a width of 1 to 255"},
    {EM_WORK, "", "w2x2+p256", "expected a width of 1 to 255"},
    {EM_WORK, "", " t32", "at character 1"},
    {EM_WORK, "", "t32 ", "at character 4"},
    {EM_WORK, "", "t-1", "at character 2"},
    {EM_TILE, "t32x8", "f", "at its end expected"},
    {EM_TILE, "t32x8", "f4x256", "at character 4 found \"256\", expected a width of 1 to 255"},
    {EM_TILE, "t32x8", "f4x8/k2", "at character 5 found \"/k2\""},
    {EM_TILE, "t32x8", "4x8", "expected \"f\" or an instruction"},
    {EM_TILE, "t32x8", "n4", "expected \"f\" or an instruction"},
    {EM_TILE, "w2x2", "mma_m16n8k16_f16_f3/f1x1", "nearest is \"mma_m16n8k16_f16_f32\""},
    {EM_TILE, "w2x2", "wgmma_m64n96k16_f16_f32/f1x12/k4", "nearest is \"wgmma_m64n"},
    {EM_TILE, "w2x2", "a:mma_m16n8k16_f16_f32/w2x2/f1x1", "expected \"f\" or an instruction"},
    {EM_TILE, "w2x2", "mma_m16n8k16_f16_f32", "expected \"/f<FM>x<FN>\""},
    {EM_TILE, "w2x2", "mma_m16n8k16_f16_f32/f1x1/k", "expected a width"},
    {EM_TILE, "w2x2", "mma_m16n8k16_f16_f32/f1x1/k2/k2", "expected \"/k<BK>\" or the end"},
    {EM_TILE, "t32x8", "mma_m16n8k16_f16_f32/f1x1", "expected WORK w<M>x<N>"},
    {EM_TILE, "", "mma_m16n8k16_f16_f32/f1x1", "expected WORK w<M>x<N>"},
    {EM_REDUCE, "", "coop", "expected WORK t<N>"},
    {EM_REDUCE, "w2x2", "coop-t", "expected WORK t<N>"},
    {EM_REDUCE, "t64", "coop/v2", "expected coop-t before it"},
    {EM_REDUCE, "t64", "v2", "expected coop-t before it"},
    {EM_REDUCE, "t64", "coop/coop", "stands twice"},
    {EM_REDUCE, "t64", "r2/r4", "stands twice"},
    {EM_REDUCE, "t64", "coop/", "at its end expected"},
    {EM_REDUCE, "t64", "/coop", "at character 1"},
    {EM_REDUCE, "t64", "coopt", "at character 1"},
    {EM_REDUCE, "", "g2x", "at character 3 found \"x\", expected \"/\" or the end"},
    {EM_REDUCE, "", "g256k", "expected a width of 1 to 255"},
    {EM_STAGE, "", "smem", "expected \"d<D>\""},
    {EM_STAGE, "", "d2", "expected \"/\" and a transport"},
    {EM_STAGE, "", "d2/cp/ring", "at character 4 found \"cp/ring\", expected a transport"},
    {EM_STAGE, "", "d2/smemx", "expected a transport"},
    {EM_STAGE, "", "d0/smem", "expected a width of 1 to 255"},
    {EM_STAGE, "", "d2/smem-async/c2", "expected smem-tma before c<C>"},
    {EM_STAGE, "", "d1/reg/out", "expected an smem transport before out"},
    {EM_STAGE, "", "d2/smem/out/out", "stands twice"},
    {EM_STAGE, "", "d2/smem/q2", "expected p<P>, c<C> or out"},
    {EM_RASTER, "", "g8", "expected \"gm\" or \"gn\""},
    {EM_RASTER, "", "gm", "expected a width"},
    {EM_RASTER, "", "gm8n", "expected the end"},
    {EM_RASTER, "", "gm300", "expected a width of 1 to 255"},
  };
  assert_true(em_atom_find(atom, strlen(atom)) >= 0);
  for (size_t i = 0; i < N_OF(rows); i++) {
    em_err err;
    char buf[EM_VALUE_LEN], begins[100];
    assert_int_equal(round_trip(rows[i].family, rows[i].value, work_of(rows[i].work), buf, &err), EM_E_INPUT);
    snprintf(begins, sizeof begins, "%s \"%s\": ", em_family_at(rows[i].family)->name, rows[i].value);
    if (strncmp(err.msg, begins, strlen(begins)) != 0 || !strstr(err.msg, rows[i].says))
      fail_msg("\"%s\" gave: %s", rows[i].value, err.msg);
  }
}

static void test_hostile_text(void **state)
{
  (void)state;
  em_err err;
  char buf[EM_VALUE_LEN], huge[5000];
  assert_int_equal(round_trip(EM_TILE, "f4\x1b[2J", work_of("t32"), buf, &err), EM_E_INPUT);
  assert_null(strchr(err.msg, '\x1b'));
  memset(huge, 'f', sizeof huge - 1);
  huge[sizeof huge - 1] = '\0';
  for (int f = EM_WORK; f <= EM_RASTER; f++) {
    assert_int_equal(round_trip((em_family)f, huge, work_of("t32"), buf, &err), EM_E_INPUT);
    assert_non_null(strstr(err.msg, em_family_at((em_family)f)->grammar)); /* what was expected is not cut off */
  }
  memset(huge, '0', sizeof huge - 1);
  huge[0] = 't';
  assert_int_equal(round_trip(EM_WORK, huge, work_of(""), buf, &err), EM_E_INPUT);
}

/* A missing WORK leaves open what only WORK decides, and nothing else. */
static void test_undecided_work(void **state)
{
  (void)state;
  em_err err;
  char buf[EM_VALUE_LEN];
  static const char *const tiles[] = {"", "f1", "f4x8", "mma_m16n8k16_f16_f32/f1x1"};
  for (size_t i = 0; i < N_OF(tiles); i++)
    assert_int_equal(round_trip(EM_TILE, tiles[i], EM_WORK_MISSING, buf, &err), EM_OK);
  assert_int_equal(round_trip(EM_REDUCE, "coop-t/v2", EM_WORK_MISSING, buf, &err), EM_OK);
  assert_int_equal(round_trip(EM_TILE, "f4x1", EM_WORK_MISSING, buf, &err), EM_E_INPUT);
  assert_int_equal(round_trip(EM_REDUCE, "coop/v2", EM_WORK_MISSING, buf, &err), EM_E_INPUT);
}

/* ---- atoms: the table of the reference ---- */

static void test_atoms(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    int m, n, k, regs;
    em_dtype ab, acc;
    const char *yes, *no;
    bool gated;
  } rows[] = {
    {"mma_m8n8k4_f16_f32", 16, 16, 4, 8, EM_F16, EM_F32, "v100-sxm3", "a100-40gb", false},
    {"mma_m16n8k16_f16_f32", 16, 8, 16, 4, EM_F16, EM_F32, "a100-40gb", "v100-sxm3", false},
    {"mma_m16n8k16_bf16_f32", 16, 8, 16, 4, EM_BF16, EM_F32, "rtx3090", "t4", false},
    {"mma_m16n8k16_f16_f16", 16, 8, 16, 2, EM_F16, EM_F16, "rtx5090", "t4", true},
    {"mma_m16n8k32_e4m3_f32", 16, 8, 32, 4, EM_F8E4M3, EM_F32, "rtx4090", "rtx3090", true},
    {"mma_m16n8k32_e5m2_f32", 16, 8, 32, 4, EM_F8E5M2, EM_F32, "h100", "a100-40gb", true},
    {"mma_m16n8k64_e2m1_f32", 16, 8, 64, 4, EM_F4E2M1X2, EM_F32, "rtx5090", "b200", false},
    {"wgmma_m64n64k16_f16_f32", 64, 64, 16, 4, EM_F16, EM_F32, "h100", "b200", false},
    {"wgmma_m64n128k16_f16_f32", 64, 128, 16, 4, EM_F16, EM_F32, "h200", "rtx4090", false},
    {"wgmma_m64n256k16_f16_f32", 64, 256, 16, 4, EM_F16, EM_F32, "gh200", "rtx5090", false},
  };
  assert_int_equal(em_n_atoms(), N_OF(rows));
  for (size_t i = 0; i < N_OF(rows); i++) {
    const em_atom *a = em_atom_at(i);
    assert_string_equal(a->name, rows[i].name); /* offer order */
    assert_int_equal(em_atom_find(rows[i].name, strlen(rows[i].name)), (int)i);
    assert_true(a->m == rows[i].m && a->n == rows[i].n && a->k == rows[i].k && a->acc_regs == rows[i].regs);
    assert_true(a->ab == rows[i].ab && a->acc == rows[i].acc && a->precision_gated == rows[i].gated);
    assert_true(em_atom_on_card(a, em_card_lookup(rows[i].yes)));
    assert_false(em_atom_on_card(a, em_card_lookup(rows[i].no)));
    /* The accumulators of one instruction lie in the registers of its lanes, 32 bits each. */
    int lanes = a->wgmma ? 128 : 32, warps = lanes / 32, bits = a->acc == EM_F16 ? 16 : 32;
    int cells = a->m / (warps * a->cell_m) * (a->n / a->cell_n);
    assert_int_equal(cells * a->acc_regs * 32 * lanes, a->m * a->n * bits);
  }
  assert_int_equal(em_atom_find("mma_m16n8k16_f16_f32x", 20), 1);
  assert_int_equal(em_atom_find("mma_m16n8k16_f16_f32x", 21), -1);
  assert_null(em_atom_at(em_n_atoms()));
}

/* w4x1 with m64n128 and f1x16 is one warp group's tile of 64 x 128. */
static void test_wgmma_geometry(void **state)
{
  (void)state;
  em_err err;
  em_tile t;
  em_work w = work_of("w4x1");
  assert_int_equal(em_tile_parse("wgmma_m64n128k16_f16_f32/f1x16/k4", w, &t, &err), EM_OK);
  const em_atom *a = em_atom_at((size_t)t.atom);
  assert_int_equal(w.m * t.fm * a->cell_m, 64);
  assert_int_equal(w.n * t.fn * a->cell_n, 128);
  assert_int_equal(t.bk * a->k, 64);
}

/* ---- published rows ---- */

static size_t check_facts(const char *name)
{
  FILE *f = shared_open(name);
  if (!f) return 0;
  static const em_family order[] = {EM_WORK, EM_TILE, EM_REDUCE, EM_STAGE, EM_RASTER};
  char line[2048];
  size_t n = 0;
  assert_non_null(fgets(line, sizeof line, f)); /* the header */
  while (fgets(line, sizeof line, f)) {
    char *rest = line, *field[16] = {0};
    for (int i = 0; i < 16 && rest; i++) field[i] = strsep(&rest, "\t\n");
    assert_non_null(field[15]);
    for (int i = 0; i < 5; i++)
      assert_canonical(order[i], strcmp(field[11 + i], "-") ? field[11 + i] : "",
                       strcmp(field[11], "-") ? field[11] : "");
    n++;
  }
  fclose(f);
  return n;
}

static void test_published_rows(void **state)
{
  (void)state;
  size_t n = check_facts("facts/golden-facts.tsv") + check_facts("facts/golden-facts-pieces.tsv");
  if (n == 0) skip();
  assert_int_equal(n, 432 + 13);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_work_fields),
    cmocka_unit_test(test_tile_fields),
    cmocka_unit_test(test_reduce_stage_raster_fields),
    cmocka_unit_test(test_scalar_catalog),
    cmocka_unit_test(test_warp_catalog),
    cmocka_unit_test(test_reduce_catalog),
    cmocka_unit_test(test_stage_and_raster_catalog),
    cmocka_unit_test(test_every_tile_struct),
    cmocka_unit_test(test_every_small_struct),
    cmocka_unit_test(test_wrong_spellings),
    cmocka_unit_test(test_not_values),
    cmocka_unit_test(test_hostile_text),
    cmocka_unit_test(test_undecided_work),
    cmocka_unit_test(test_atoms),
    cmocka_unit_test(test_wgmma_geometry),
    cmocka_unit_test(test_published_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
