/* One-site rows: their text, their order, and the way from and to stored rows. */
#include "tests/unit/unit.h"

#include "core/schedule/schedule.h"

static em_row row_of(const char *line)
{
  em_err err;
  em_row r;
  if (em_row_parse(line, &r, &err) != EM_OK) fail_msg("%s", err.msg);
  return r;
}

static int sign(int c) { return (c > 0) - (c < 0); }

static void test_text(void **state)
{
  (void)state;
  static const char *const same[] = {
    "",
    "WORK=t32x8 TILE=f2x8 REDUCE= STAGE=d2/smem-async RASTER=",
    "WORK= RASTER=",
    "TILE=f4",
    "REDUCE=coop",
    "WORK=w4x1+p1 TILE=wgmma_m64n256k16_f16_f32/f1x32/k4 REDUCE= STAGE=d8/smem-tma/p2/c2/out RASTER=gn8",
    "WORK=t65535x65535 TILE=f255x255 REDUCE=g255k/coop-t/v255/r255 STAGE=d255/smem-tma/p255/c255/out RASTER=gm255",
  };
  for (size_t i = 0; i < N_OF(same); i++) {
    char buf[EM_ROW_LEN];
    em_row r = row_of(same[i]);
    assert_string_equal(em_row_print(&r, buf), same[i]);
  }
}

static void test_missing_is_not_unused(void **state)
{
  (void)state;
  char buf[EM_VALUE_LEN];
  em_row r = row_of("WORK=t32 REDUCE=");
  assert_int_equal(r.present, EM_HAS(EM_WORK) | EM_HAS(EM_REDUCE));
  assert_string_equal(em_row_value(&r, EM_REDUCE, buf), "");
  assert_null(em_row_value(&r, EM_TILE, buf));
  assert_null(em_row_value(&r, EM_PLACE, buf));
  em_row unused = row_of("WORK=t32 TILE= REDUCE=");
  assert_false(em_row_equal(&r, &unused));
  assert_int_not_equal(em_row_compare(&r, &unused), 0);
}

static void test_bad_lines(void **state)
{
  (void)state;
  static const char *const bad[][2] = {
    {" WORK=t32", "at character 1"},
    {"WORK=t32 ", "at character 10"},
    {"WORK=t32  TILE=", "at character 10"},
    {"TILE=f4 WORK=t32", "at character 9"},
    {"WORK=t32 WORK=t32", "at character 10"},
    {"WORK", "at character 1"},
    {"work=t32", "at character 1"},
    {"PLACE=fuse", "at character 1"},
    {"TILE@inner=f4", "at character 1"},
    {"WORK=t32 TILE=f4x1", "write \"f4\""},
    {"WORK=t32 TILE=mma_m16n8k16_f16_f32/f1x1", "expected WORK w"},
    {"WORK=t32\tTILE=", "WORK \"t32\\x09TILE=\""},
    {"WORK=t3200000000000000000000000000000000000000000000000000000000000000000", "at character 1"},
  };
  for (size_t i = 0; i < N_OF(bad); i++) {
    em_err err;
    em_row r = {.present = 0xff};
    assert_int_equal(em_row_parse(bad[i][0], &r, &err), EM_E_INPUT);
    assert_int_equal(r.present, 0xff); /* untouched */
    if (!strstr(err.msg, bad[i][1])) fail_msg("\"%s\" gave: %s", bad[i][0], err.msg);
  }
}

/* ---- a random row, from few values so that equal ones meet ---- */

static em_row random_row(uint64_t seed, uint64_t i)
{
  uint8_t b[16];
  uint64_t u[2] = {em_rng_u64(seed, 0, i), em_rng_u64(seed, 1, i)};
  memcpy(b, u, sizeof b);
  static const uint16_t widths[] = {1, 2, 4, 10, 12, 16, 32, 100, 128, 255};
  em_row r = {.present = b[0] & 0x40 ? 0x1f : b[0] & 0x1f, .reduce = {.cta = 1, .v = 1, .r = 1}};
  if (b[1] % 3) r.work = (em_work){.kind = b[1] % 3, .n = widths[b[2] % 10], .m = widths[b[3] % 10]};
  if (r.work.kind == EM_WORK_WARPS) r.work.producers = b[1] / 3 % 3;
  r.tile = (em_tile){.kind = EM_TILE_NONE, .atom = -1, .fn = 1, .fm = 1};
  if (b[4] % 4) {
    r.tile.fn = (uint8_t)widths[b[5] % 10];
    r.tile.fm = (uint8_t)widths[b[6] % 10];
    bool warp = r.work.kind == EM_WORK_WARPS;
    r.tile.kind = warp ? EM_TILE_WARP : EM_TILE_SCALAR;
    r.tile.atom = warp ? (int8_t)(b[4] / 4 % em_n_atoms()) : -1;
    r.tile.bk = warp ? (uint8_t)widths[b[7] % 4] : 0;
    if (!warp && r.tile.fn == 1 && r.tile.fm == 1) r.tile.fn = 2; /* f1 needs more threads than some rows have */
  }
  if (b[8] % 2) r.reduce.r = (uint8_t)widths[b[8] / 2 % 5];
  if (b[8] % 5 == 0) r.reduce.cta = 4, r.reduce.finalize = "ka"[b[9] % 2];
  if (r.work.kind == EM_WORK_THREADS && r.work.n > 1) r.reduce.coop = b[9] % 3;
  if (r.reduce.coop == EM_COOP_T) r.reduce.v = (uint8_t)widths[b[9] / 3 % 4];
  if (b[10] % 3)
    r.stage = (em_stage){.transport = (uint8_t)(1 + b[10] / 3 % 4),
                         .depth = (uint8_t)widths[b[11] % 5],
                         .p = (uint8_t)(1 + b[12] % 2),
                         .c = 1};
  r.stage.out = r.stage.transport > EM_STAGE_REG && b[12] & 4;
  if (r.stage.transport == EM_STAGE_TMA) r.stage.c = (uint8_t)(1 + b[13] % 2);
  if (b[14] % 3) r.raster = (em_raster){.group = (uint8_t)widths[1 + b[15] % 9], .orient = "mn"[b[14] % 2]};
  return r;
}

static em_knobs knobs_of(const em_row *r)
{
  em_err err;
  em_knobs k;
  assert_int_equal(em_row_to_knobs(r, &k, &err), EM_OK);
  return k;
}

/* The cheap order of parsed rows is the order of the texts, pair by pair. */
static void test_order_is_that_of_the_texts(void **state)
{
  (void)state;
  size_t equal = 0;
  for (uint64_t i = 0; i < 60000; i++) {
    em_row a = random_row(1, i), b = random_row(2, i);
    if (i % 3 == 0) { /* near rows: one family differs, or none */
      b = a;
      em_row c = random_row(3, i);
      if (i % 2) b.stage = c.stage;
      if (i % 5 == 1) b.raster = c.raster;
      if (i % 7 == 1) b.present = c.present;
    }
    em_knobs ka = knobs_of(&a), kb = knobs_of(&b);
    int c = sign(em_row_compare(&a, &b));
    assert_int_equal(c, sign(em_knobs_compare(&ka, &kb)));
    assert_int_equal(c, -sign(em_row_compare(&b, &a)));
    assert_int_equal(c == 0, em_row_equal(&a, &b));
    char abuf[EM_ROW_LEN], bbuf[EM_ROW_LEN];
    assert_int_equal(c == 0, strcmp(em_row_print(&a, abuf), em_row_print(&b, bbuf)) == 0);
    equal += c == 0;
    em_knobs_free(&ka);
    em_knobs_free(&kb);
  }
  assert_true(equal > 1000);
}

/* Text and stored form give the row back; fields of absent families do not matter. */
static void test_round_trips(void **state)
{
  (void)state;
  em_err err;
  for (uint64_t i = 0; i < 20000; i++) {
    em_row a = random_row(4, i), back, again;
    if (!(a.present & EM_HAS(EM_WORK)) && i % 2) a.present |= EM_HAS(EM_WORK);
    char buf[EM_ROW_LEN], buf2[EM_ROW_LEN];
    em_row_print(&a, buf);
    if (em_row_parse(buf, &back, &err) != EM_OK) fail_msg("%s", err.msg);
    assert_true(em_row_equal(&a, &back));
    assert_string_equal(em_row_print(&back, buf2), buf);
    if (a.reduce.cta > 1 && (a.present & EM_HAS(EM_REDUCE))) continue; /* a split is structural */
    em_knobs k = knobs_of(&a);
    bool single = false;
    if (em_row_from_knobs(&k, &again, &single, &err) != EM_OK) fail_msg("%s", err.msg);
    assert_true(single && em_row_equal(&a, &again));
    em_knobs_free(&k);
  }
}

static void test_sorting_is_total(void **state)
{
  (void)state;
  enum { N = 60 };
  em_row rows[N];
  for (uint64_t i = 0; i < N; i++) rows[i] = random_row(5, i);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        if (em_row_compare(&rows[i], &rows[j]) <= 0 && em_row_compare(&rows[j], &rows[k]) <= 0)
          assert_true(em_row_compare(&rows[i], &rows[k]) <= 0);
}

static void test_one_site_projection(void **state)
{
  (void)state;
  static const struct {
    const char *knobs;
    bool single;
    const char *row;
  } rows[] = {
    {"WORK=t32,TILE=f4,REDUCE=,STAGE=,RASTER=", true, "WORK=t32 TILE=f4 REDUCE= STAGE= RASTER="},
    {"WORK=t128,REDUCE=coop", true, "WORK=t128 REDUCE=coop"},
    {"WORK=t32,TILE=f4,LOOPIFY=0,FAST_MATH=true", true, "WORK=t32 TILE=f4"},
    {"", true, ""},
    {"WORK=t32,TILE@inner=f4", false, NULL},
    {"WORK=t32,REDUCE=g4k", false, NULL},
    {"PLACE=fuse", false, NULL},
    {"LAYOUT@w=source,WORK=t32", false, NULL},
  };
  for (size_t i = 0; i < N_OF(rows); i++) {
    em_err err;
    em_knobs k;
    em_row r = {.present = 0xff};
    bool single;
    char buf[EM_ROW_LEN];
    assert_int_equal(em_knobs_parse_text(rows[i].knobs, &k, &err), EM_OK);
    assert_int_equal(em_row_from_knobs(&k, &r, &single, &err), EM_OK);
    assert_int_equal(single, rows[i].single);
    if (single)
      assert_string_equal(em_row_print(&r, buf), rows[i].row);
    else
      assert_int_equal(r.present, 0xff);
    em_knobs_free(&k);
  }
  em_err err;
  em_knobs k = {0};
  em_row r;
  bool single;
  assert_int_equal(em_knobs_set(&k, "TILE", "f4x1", &err), EM_OK);
  assert_int_equal(em_row_from_knobs(&k, &r, &single, &err), EM_E_INPUT);
  em_knobs_free(&k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_text),
    cmocka_unit_test(test_missing_is_not_unused),
    cmocka_unit_test(test_bad_lines),
    cmocka_unit_test(test_order_is_that_of_the_texts),
    cmocka_unit_test(test_round_trips),
    cmocka_unit_test(test_sorting_is_total),
    cmocka_unit_test(test_one_site_projection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
