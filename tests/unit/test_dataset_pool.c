/* Pools: the rows are the space's, recorded rows are found or refused by name, draws are uniform. */
#include "tests/unit/goldens.h"

#include <math.h>

#include "core/dataset/dataset.h"

/* ---- evidence by hand ------------------------------------------------------------ */

static em_evidence evidence_of(const em_build *spec)
{
  em_evidence e = {.kernel_name = em_strdup("k"),
                   .formed = true,
                   .gpu_name = em_strdup(CARD),
                   .cc_major = 8,
                   .cc_minor = 9,
                   .regime = EM_REGIME_DEFAULT};
  em_err err;
  if (em_kernel_build(spec, &e.kernel, &err)) fail_msg("%s", err.msg);
  e.identity = em_kernel_identity(e.kernel);
  e.rows = em_calloc(8, sizeof *e.rows);
  return e;
}

static em_evidence matmul_evidence(void)
{
  return evidence_of(&(em_build){.kind = "matmul", .m = 64, .n = 64, .k = 64, .in = EM_F32});
}

static void add_row(em_evidence *e, double us, const char *label, const char *knobs)
{
  em_err err;
  em_evidence_row *r = &e->rows[e->n_rows++];
  *r = (em_evidence_row){.us = us,
                         .reference_us = NAN,
                         .label = em_strdup(label),
                         .source = em_strdup("s.json"),
                         .golden = true,
                         .ok = true};
  if (em_knobs_parse_text(knobs, &r->knobs, &err)) fail_msg("%s", err.msg);
}

static void release(em_evidence *e)
{
  em_evidence *heap = em_alloc(sizeof *heap);
  *heap = *e;
  em_evidence_free(heap);
}

static em_pool *pool_of(const em_evidence *e, size_t sample, uint64_t seed, em_skips *skips)
{
  em_pool *p;
  em_err err;
  if (em_pool_build(e, sample, seed, NULL, skips, &p, &err)) fail_msg("%s", err.msg);
  return p;
}

/* Every leaf of the space, in its order. */
static em_row *leaves_of(const em_evidence *e, size_t *n)
{
  em_space *s;
  const em_card *card;
  em_err err;
  assert_int_equal(em_card_find(e->gpu_name, &card, &err), EM_OK);
  assert_int_equal(em_space_open(e->kernel, card, e->regime, &s, &err), EM_OK);
  *n = (size_t)em_space_count(s);
  em_row *rows = em_calloc(*n + 1, sizeof *rows);
  em_space_cursor c = em_space_begin(s);
  assert_int_equal(em_space_next(&c, rows, *n + 1), *n);
  em_space_free(s);
  return rows;
}

/* ---- whole pools ------------------------------------------------------------------- */

#define FIRST "WORK=t32x8,TILE=f2x4,REDUCE=,STAGE=d2/smem-async,RASTER="
#define OTHER "WORK=,TILE=,REDUCE=,STAGE=,RASTER="

static void a_whole_pool_is_the_space(void **state)
{
  (void)state;
  em_evidence e = matmul_evidence();
  em_skips skips = {0};
  add_row(&e, 5, "better", FIRST);
  add_row(&e, 9, "slow", OTHER);
  em_pool *p = pool_of(&e, 0, 0, &skips);
  size_t n;
  em_row *rows = leaves_of(&e, &n);
  assert_int_equal(p->n_rows, n);
  assert_int_equal(p->total, n);
  for (size_t i = 0; i < n; i++) assert_true(em_row_equal(&p->rows[i], &rows[i]));
  assert_int_equal(p->n_goldens, 2);
  assert_true(p->goldens[0].row < p->goldens[1].row);
  char line[EM_ROW_LEN];
  const em_golden_mark *best = p->goldens[0].us == 5 ? &p->goldens[0] : &p->goldens[1];
  assert_string_equal(em_row_print(&p->rows[best->row], line),
                      "WORK=t32x8 TILE=f2x4 REDUCE= STAGE=d2/smem-async RASTER=");
  assert_string_equal(best->label, "better");
  assert_string_equal(p->label, "better");
  assert_string_equal(p->tier, "thread");
  assert_false(p->dynamic);
  char hex[33], key[128];
  em_digest_hex(e.identity, hex);
  snprintf(key, sizeof key, CARD "/k.%.12s", hex);
  assert_string_equal(p->key, key);
  assert_int_equal(skips.n, 0);
  em_free(rows);
  em_pool_free(p);
  release(&e);
}

static void tiers_and_names_say_what_a_pool_is(void **state)
{
  (void)state;
  static const struct {
    em_build spec;
    const char *row, *tier;
  } cases[] = {
    {{.kind = "matmul", .m = 64, .n = 64, .k = 64, .in = EM_F16}, OTHER, "warp"},
    {{.kind = "reduce_sum", .m = 64, .k = 64, .in = EM_F32}, "WORK=,REDUCE=,RASTER=", "reduce"},
    {{.kind = "pointwise", .m = 64, .n = 64, .in = EM_F32}, "WORK=,TILE=,RASTER=", "pointwise"},
    {{.kind = "matmul", .m = 64, .n = 64, .k = 64, .in = EM_F16, .sym_m = "seq"}, OTHER, "dyn"},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_evidence e = evidence_of(&cases[i].spec);
    em_skips skips = {0};
    add_row(&e, 1, "r", cases[i].row);
    e.bindings = em_calloc(1, sizeof *e.bindings);
    e.bindings[0] = (em_binding){.sym = em_strdup("seq"), .size = 96};
    e.n_bindings = 1;
    em_pool *p = pool_of(&e, 0, 0, &skips);
    assert_non_null(p);
    assert_string_equal(p->tier, cases[i].tier);
    assert_true(p->dynamic == !strcmp(cases[i].tier, "dyn"));
    assert_string_equal(p->name + strlen(p->name) - 7, " seq=96");
    em_pool_free(p);
    release(&e);
  }
}

/* Features are of the sizes that were measured: the hints, which do not enter identity, do not matter. */
static void hints_do_not_enter_features(void **state)
{
  (void)state;
  em_pool *pools[2];
  for (int i = 0; i < 2; i++) {
    em_evidence e = evidence_of(
      &(em_build){.kind = "matmul", .m = i ? 4096 : 32, .n = 64, .k = 64, .in = EM_F16, .sym_m = "seq"});
    em_skips skips = {0};
    em_err err;
    add_row(&e, 1, "r", OTHER);
    e.bindings = em_calloc(1, sizeof *e.bindings);
    e.bindings[0] = (em_binding){.sym = em_strdup("seq"), .size = 96};
    e.n_bindings = 1;
    pools[i] = pool_of(&e, 0, 0, &skips);
    assert_non_null(pools[i]);
    assert_int_equal(em_pool_featurize(pools[i], 1, &err), EM_OK);
    release(&e);
  }
  size_t cells = pools[0]->n_rows * pools[0]->cols.n;
  assert_int_equal(cells, pools[1]->n_rows * pools[1]->cols.n);
  assert_memory_equal(pools[0]->matrix, pools[1]->matrix, cells * sizeof *pools[0]->matrix);
  em_pool_free(pools[0]);
  em_pool_free(pools[1]);
}

static void the_same_schedule_twice_keeps_the_better(void **state)
{
  (void)state;
  em_evidence e = evidence_of(&(em_build){.kind = "pointwise", .m = 64, .n = 64, .in = EM_F32});
  em_skips skips = {0};
  add_row(&e, 7, "with unused families", "WORK=,TILE=f4,REDUCE=,STAGE=,RASTER=");
  add_row(&e, 3, "bare", "WORK=,TILE=f4,RASTER=");
  add_row(&e, 5, "again", "WORK=,TILE=f4,STAGE=,RASTER=");
  em_pool *p = pool_of(&e, 0, 0, &skips);
  assert_int_equal(p->n_goldens, 1);
  assert_true(p->goldens[0].us == 3);
  assert_string_equal(p->goldens[0].label, "bare");
  em_pool_free(p);
  release(&e);
}

/* ---- what is refused -------------------------------------------------------------------- */

static void assert_skipped(const em_evidence *e, const char *reason)
{
  em_skips skips = {0};
  em_pool *p = pool_of(e, 0, 0, &skips);
  assert_null(p);
  assert_int_equal(skips.n, 1);
  assert_string_equal(skips.items[0].gpu, e->gpu_name);
  if (!strstr(skips.items[0].reason, reason)) fail_msg("\"%s\" lacks \"%s\"", skips.items[0].reason, reason);
  em_skips_free(&skips);
}

static void a_pool_that_cannot_be_says_why(void **state)
{
  (void)state;
  em_evidence e = matmul_evidence();
  assert_skipped(&e, "no recorded row");
  add_row(&e, 5, "r", FIRST);
  e.rows[0].ok = false;
  assert_skipped(&e, "no recorded row");
  e.rows[0].ok = true;
  e.rows[0].golden = false;
  assert_skipped(&e, "no recorded row");
  e.rows[0].golden = true;
  e.regime.opt = 1;
  assert_skipped(&e, "not deployable");
  e.regime.opt = 3;
  e.formed = false;
  assert_skipped(&e, "not formed");
  e.formed = true;
  e.gpu_name[0] = 'X';
  assert_skipped(&e, "unknown card");
  release(&e);
}

static void a_row_outside_is_listed_with_its_rule(void **state)
{
  (void)state;
  em_evidence e = matmul_evidence();
  em_skips skips = {0};
  add_row(&e, 5, "inside", FIRST);
  add_row(&e, 4, "huge", "WORK=t32x8,TILE=f2x4,REDUCE=,STAGE=d9/smem-async,RASTER=");
  add_row(&e, 3, "sites", "WORK=,TILE@map.1/inner=,REDUCE=,STAGE=,RASTER=");
  em_pool *p = pool_of(&e, 0, 0, &skips);
  assert_int_equal(p->n_goldens, 1);
  assert_int_equal(skips.n, 2);
  char expected[64];
  snprintf(expected, sizeof expected, "golden not in %llu candidates: huge: ", (unsigned long long)p->total);
  assert_memory_equal(skips.items[0].reason, expected, strlen(expected));
  assert_non_null(strstr(skips.items[0].reason, "STAGE d9/smem-async"));
  assert_non_null(strstr(skips.items[1].reason, "sites: its knobs belong to several sites"));
  em_skips_free(&skips);
  em_pool_free(p);
  em_evidence alone = matmul_evidence();
  add_row(&alone, 4, "huge", "WORK=t32x8,TILE=f2x4,REDUCE=,STAGE=d9/smem-async,RASTER=");
  assert_skipped(&alone, "candidates: huge: ");
  release(&alone);
  release(&e);
}

/* ---- draws --------------------------------------------------------------------------------- */

static void a_draw_keeps_recorded_rows_and_the_order(void **state)
{
  (void)state;
  em_evidence e = matmul_evidence();
  em_skips skips = {0};
  add_row(&e, 5, "a", FIRST);
  add_row(&e, 9, "b", OTHER);
  size_t n, at = 0;
  em_row *rows = leaves_of(&e, &n);
  em_pool *p = pool_of(&e, 100, 7, &skips), *q = pool_of(&e, 100, 7, &skips), *r = pool_of(&e, 100, 8, &skips);
  assert_int_equal(p->n_rows, 100);
  assert_int_equal(p->total, n);
  assert_int_equal(p->n_goldens, 2);
  size_t same = 0;
  for (size_t i = 0; i < 100; i++) {
    while (at < n && !em_row_equal(&rows[at], &p->rows[i])) at++;
    assert_true(at++ < n); /* ascending in the space's order, no row twice */
    assert_true(em_row_equal(&p->rows[i], &q->rows[i]));
    same += em_row_equal(&p->rows[i], &r->rows[i]);
  }
  assert_true(same < 100);
  em_pool_free(p);
  em_pool_free(q);
  em_pool_free(r);
  p = pool_of(&e, 1, 0, &skips); /* smaller than the recorded rows */
  assert_int_equal(p->n_rows, 2);
  em_pool_free(p);
  p = pool_of(&e, n, 0, &skips);
  assert_int_equal(p->n_rows, n);
  em_pool_free(p);
  em_free(rows);
  release(&e);
}

/* Each of n rows is drawn k of n times: over many seeds the counts stay within six
 * standard deviations, and their spread is that of independent draws. */
static void a_draw_is_uniform(void **state)
{
  (void)state;
  em_evidence e = evidence_of(&(em_build){.kind = "reduce_sum", .m = 64, .k = 64, .in = EM_F32});
  em_skips skips = {0};
  add_row(&e, 5, "a", "WORK=,REDUCE=,RASTER=");
  size_t n;
  em_row *rows = leaves_of(&e, &n);
  enum { SEEDS = 2000, DRAW = 11 };
  size_t *hits = em_calloc(n, sizeof *hits);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    em_pool *p = pool_of(&e, DRAW, seed, &skips);
    for (size_t i = 0, at = 0; i < p->n_rows; i++, at++) {
      while (!em_row_equal(&rows[at], &p->rows[i])) at++;
      hits[at]++;
    }
    em_pool_free(p);
  }
  double share = (DRAW - 1.0) / (double)(n - 1), mean = SEEDS * share, sd = sqrt(mean * (1 - share));
  size_t always = 0;
  for (size_t i = 0; i < n; i++) {
    always += hits[i] == SEEDS;
    if (hits[i] != SEEDS && fabs((double)hits[i] - mean) > 6 * sd) fail_msg("row %zu: %zu of %g", i, hits[i], mean);
  }
  assert_int_equal(always, 1); /* the recorded one */
  em_free(hits);
  em_free(rows);
  release(&e);
}

/* ---- features --------------------------------------------------------------------------------- */

static void features_do_not_depend_on_threads(void **state)
{
  (void)state;
  em_evidence e = matmul_evidence();
  em_skips skips = {0};
  em_err err;
  add_row(&e, 5, "a", FIRST);
  em_pool *p = pool_of(&e, 0, 0, &skips), *q = pool_of(&e, 0, 0, &skips);
  assert_int_equal(em_pool_featurize(p, 1, &err), EM_OK);
  assert_int_equal(em_pool_featurize(q, 4, &err), EM_OK);
  assert_true(p->cols.n > 40);
  assert_int_equal(p->cols.n, q->cols.n);
  assert_memory_equal(p->matrix, q->matrix, p->n_rows * p->cols.n * sizeof *p->matrix);
  int64_t threads = em_columns_index(&p->cols, "D_threads");
  assert_true(threads >= 0);
  assert_true(p->matrix[p->goldens[0].row * p->cols.n + (size_t)threads] == 256); /* t32x8 */
  em_pool_free(p);
  em_pool_free(q);
  release(&e);
}

static int report_and_stop(const em_evidence *e, em_err *err)
{
  volatile int cancel = 1;
  em_progress progress = {.cancel = &cancel};
  em_skips skips = {0};
  em_pool *p = NULL;
  return em_pool_build(e, 0, 0, &progress, &skips, &p, err);
}

static void building_can_be_cancelled(void **state)
{
  (void)state;
  em_evidence e = matmul_evidence();
  em_err err;
  add_row(&e, 5, "a", FIRST);
  int64_t live = em_alloc_live();
  assert_int_equal(report_and_stop(&e, &err), EM_E_CANCEL);
  assert_int_equal(em_alloc_live(), live);
  release(&e);
}

static int build_and_free(const em_evidence *e, em_err *err)
{
  em_skips skips = {0};
  em_pool *p = NULL;
  int rc = em_pool_build(e, 3, 0, NULL, &skips, &p, err);
  if (!rc) rc = em_pool_featurize(p, 1, err);
  em_pool_free(p);
  em_skips_free(&skips);
  return rc;
}

static void memory_may_run_out(void **state)
{
  (void)state;
  em_evidence e = evidence_of(&(em_build){.kind = "pointwise", .m = 64, .n = 64, .in = EM_F32});
  em_err err;
  add_row(&e, 5, "a", "WORK=,TILE=f4,RASTER=");
  add_row(&e, 6, "outside", "WORK=t128x8,TILE=f4,RASTER=");
  ASSERT_SURVIVES_NOMEM(build_and_free(&e, &err), (void)0);
  release(&e);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_whole_pool_is_the_space),
    cmocka_unit_test(tiers_and_names_say_what_a_pool_is),
    cmocka_unit_test(hints_do_not_enter_features),
    cmocka_unit_test(the_same_schedule_twice_keeps_the_better),
    cmocka_unit_test(a_pool_that_cannot_be_says_why),
    cmocka_unit_test(a_row_outside_is_listed_with_its_rule),
    cmocka_unit_test(a_draw_keeps_recorded_rows_and_the_order),
    cmocka_unit_test(a_draw_is_uniform),
    cmocka_unit_test(features_do_not_depend_on_threads),
    cmocka_unit_test(building_can_be_cancelled),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
