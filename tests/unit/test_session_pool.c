/* test_session_pool.c - what a pool says of the prior, over pools whose answers are plain to see. */
#include <math.h>

#include "tests/unit/prior_models.h"

#include "core/session/session.h"

/* ---- a prior of three columns, one of them unread, and a pool of six candidates ---------------------- */

#define FEATURE(i, nans, treatment, borders)                                                                           \
  "{\"feature_index\":" #i ",\"flat_feature_index\":" #i ",\"has_nans\":" nans ",\"nan_value_treatment\":\"" treatment \
  "\",\"borders\":[" borders "]}"
static const char model_text[] = "{\"features_info\":{\"float_features\":[" FEATURE(0, "false", "AsIs", "2,6") "," FEATURE(
  1, "true", "AsFalse",
  "-3.40282347e+38,0.5") "," FEATURE(2, "false", "AsIs",
                                     "") "," FEATURE(3, "false", "AsIs",
                                                     "8") "]},"
                                                          "\"oblivious_trees\":[{\"splits\":[{\"split_index\":0},{\"split_index\":1},{\"split_index\":2}],\"leaf_values\":[0,1,2,3,4,5,6,7]},"
                                                          "{\"splits\":[{\"split_index\":3},{\"split_index\":4}],\"leaf_values\":[0,1,2,3]}]}";

static em_prior *make_prior_of(const cJSON *provenance)
{
  static char *names[] = {"D_a", "D_b", "D_unread", "D_absent"};
  em_prior *p;
  em_err err;
  if (em_prior_new(must_parse(model_text), &(em_columns){names, 4}, EM_FEAT_VER, 1, provenance, &p, &err))
    fail_msg("%s", err.msg);
  return p;
}

static em_prior *make_prior(void) { return make_prior_of(NULL); }

static char *pool_names[] = {"D_a", "D_b", "D_unread"};
static em_columns pool_columns = {pool_names, 3};

/* Quality order 5 0 2 4 | 1 3: two plateaus. */
enum { ROWS = 6 };
static const double quality[ROWS] = {7, 4, 7, 4, 5, 9};
static const uint32_t order[ROWS] = {5, 0, 2, 4, 1, 3}, rank_of[ROWS] = {1, 4, 2, 5, 3, 0},
                      against[ROWS] = {2, 5, 2, 5, 3, 0};

static void check_plateau(void **state)
{
  (void)state;
  const em_scored sc = {.n = ROWS, .quality = quality, .order = order, .rank_of = rank_of, .against = against};
  const size_t want[ROWS] = {1, 1, 1, 1, 0, 0};
  for (size_t r = 0; r < ROWS; r++) assert_int_equal(em_scored_plateau(&sc, r), want[r]);
}

/* Rows 0 and 2 differ in the unread column and by less than 32 bits tell; 1 and 3 in what is missing. */
static const double blind_matrix[ROWS * 3] = {1, NAN, 10,  3,   1, NAN, 1 + 1e-12, NAN, 20,
                                              3, NAN, NAN, 0.0, 1, 1,   -0.0,      1,   2};

static void check_blind(void **state)
{
  (void)state;
  em_prior *p = make_prior();
  static const double equal[ROWS] = {0};
  const em_scored sc = {.n = ROWS, .cols = &pool_columns, .matrix = blind_matrix, .quality = equal};
  const uint32_t want[ROWS] = {0, 1, 0, 3, 4, 4};
  uint32_t first[ROWS];
  em_err err;
  assert_int_equal(em_scored_blind_groups(p, &sc, first, &err), EM_OK);
  assert_memory_equal(first, want, sizeof want);
  for (size_t r = 0; r < ROWS; r++) {
    uint32_t *rows;
    size_t n, others = 0;
    assert_int_equal(em_scored_blind(p, &sc, r, &rows, &n, &err), EM_OK);
    for (uint32_t k = 0; k < ROWS; k++)
      if (k != r && want[k] == want[r]) assert_int_equal(rows[others++], k);
    assert_int_equal(n, others);
    em_free(rows);
  }
  em_prior_free(p);
}

static int try_blind(const em_prior *p, const em_scored *sc, em_err *err)
{
  uint32_t *rows, first[ROWS];
  size_t n;
  if (em_scored_blind(p, sc, 0, &rows, &n, err)) return err->code;
  em_free(rows);
  return em_scored_blind_groups(p, sc, first, err);
}

static void check_extrapolation(void **state)
{
  (void)state;
  em_prior *p = make_prior();
  const em_scored sc = {.n = 2, .cols = &pool_columns, .matrix = (const double[]){1, NAN, 3, 10.5, 1, 3}};
  em_extrapolation x;
  em_err err;
  assert_int_equal(em_scored_extrapolation(p, &sc, &x, &err), EM_OK);
  assert_int_equal(x.n, 3); /* D_unread has no border */
  /* D_a: borders 2 and 6 lie 4 apart, so up to 10 was in reach; 1 is not below -2. */
  assert_true(x.columns[0].reach == EM_REACH_ABOVE && x.columns[0].rows_outside == 1 && x.columns[0].n_borders == 2);
  assert_true(x.columns[0].lo == 1 && x.columns[0].hi == 10.5 && x.columns[0].from == -2 && x.columns[0].to == 10 &&
              !x.columns[0].known);
  /* D_b: missing was seen, and its border is none of the values'; 1 is within 0.5 +- 1. */
  assert_true(x.columns[1].reach == EM_REACH_INSIDE && x.columns[1].n_borders == 1 && x.columns[1].rows_missing == 1);
  /* The pool has no D_absent, the training rows all had one. */
  assert_true(x.columns[2].feature == 3 && x.columns[2].reach == EM_REACH_MISSING && x.columns[2].rows_outside == 2);
  assert_true(isnan(x.columns[2].lo));
  assert_int_equal(x.n_outside, 2);
  em_extrapolation_free(&x);
  em_prior_free(p);
}

/* What the fit says of its rows goes before what the borders let guess. */
static void check_known_ranges(void **state)
{
  (void)state;
  cJSON *provenance;
  em_err err;
  const char text[] = "{\"fit\":{\"ranges\":{\"D_a\":[1,11],\"D_b\":[0,0.75]}}}";
  assert_int_equal(em_json_parse(text, sizeof text - 1, "p.json", &provenance, &err), EM_OK);
  em_prior *p = make_prior_of(provenance);
  const em_scored sc = {.n = 2, .cols = &pool_columns, .matrix = (const double[]){1, NAN, 3, 10.5, 1, 3}};
  em_extrapolation x;
  assert_int_equal(em_scored_extrapolation(p, &sc, &x, &err), EM_OK);
  assert_true(x.columns[0].known && x.columns[0].reach == EM_REACH_INSIDE && x.columns[0].rows_outside == 0);
  assert_true(x.columns[1].known && x.columns[1].reach == EM_REACH_ABOVE && x.columns[1].rows_outside == 1);
  assert_false(x.columns[2].known);
  em_extrapolation_free(&x);
  em_prior_free(p);
  em_json_free(provenance);
}

static int try_extrapolation(const em_prior *p, const em_scored *sc, em_err *err)
{
  em_extrapolation x;
  if (em_scored_extrapolation(p, sc, &x, err)) return err->code;
  em_extrapolation_free(&x);
  return EM_OK;
}

/* ---- knobs -------------------------------------------------------------------------------------------- */

static void parse_rows(const char *const *lines, em_row *rows)
{
  em_err err;
  for (size_t i = 0; i < ROWS; i++)
    if (em_row_parse(lines[i], &rows[i], &err)) fail_msg("%s: %s", lines[i], err.msg);
}

static void check_change(const em_scored *sc, size_t a, size_t b, size_t row, size_t n, const char *families)
{
  em_counterfactual c;
  em_str text = {0};
  em_scored_counterfactual(sc, a, b, &c);
  for (int f = 0; f < EM_N_FAMILIES; f++)
    if (c.changed[f]) em_str_printf(&text, " %s", em_family_at((em_family)f)->name);
  assert_int_equal(c.row, row);
  assert_int_equal(c.n_families, n);
  assert_string_equal(text.s ? text.s : "", families);
  em_str_free(&text);
}

static void check_counterfactual(void **state)
{
  (void)state;
  em_row rows[ROWS];
  static const char *const lines[ROWS] = {"WORK=t32x8 TILE=f4 REDUCE= STAGE=d2/smem-async RASTER=",  /* rank 1 */
                                          "WORK=t32x8 TILE=f2 REDUCE= STAGE= RASTER=",               /* rank 4 */
                                          "WORK=t32x8 TILE=f4 REDUCE= STAGE= RASTER=",               /* rank 2 */
                                          "WORK=t16x8 TILE=f2 REDUCE= STAGE= RASTER=",               /* rank 5 */
                                          "WORK=t64x8 TILE=f2 REDUCE= STAGE= RASTER=",               /* rank 3 */
                                          "WORK=t64x8 TILE=f8 REDUCE= STAGE=d2/smem-async RASTER="}; /* rank 0 */
  parse_rows(lines, rows);
  const em_scored sc = {
    .n = ROWS, .rows = rows, .quality = quality, .order = order, .rank_of = rank_of, .against = against};
  check_change(&sc, 5, 1, 5, 3, " WORK TILE STAGE"); /* only the pick itself is as good */
  check_change(&sc, 2, 1, 2, 1, " TILE");
  check_change(&sc, 0, 1, 2, 1, " TILE"); /* as good as row 0, which is two knobs away */
  check_change(&sc, 4, 3, 4, 1, " WORK");
  check_change(&sc, 3, 1, 1, 0, "");      /* as good already */
  check_change(&sc, 4, 1, 2, 1, " TILE"); /* as small as WORK of row 4, and ranked better */
}

/* Missing and unused are not the same choice. */
static void check_missing_is_a_change(void **state)
{
  (void)state;
  em_row rows[2];
  em_err err;
  assert_int_equal(em_row_parse("WORK=t32 RASTER=", &rows[0], &err), EM_OK);
  assert_int_equal(em_row_parse("WORK=t32", &rows[1], &err), EM_OK);
  const em_scored sc = {.n = 2, .rows = rows, .quality = (const double[]){2, 1}, .order = (const uint32_t[]){0, 1}};
  check_change(&sc, 0, 1, 0, 1, " RASTER");
}

static void memory_may_fail(void **state)
{
  (void)state;
  em_prior *p = make_prior();
  static const double equal[ROWS] = {0};
  const em_scored sc = {.n = ROWS, .cols = &pool_columns, .matrix = blind_matrix, .quality = equal};
  em_err err;
  ASSERT_SURVIVES_NOMEM(try_blind(p, &sc, &err), (void)0);
  ASSERT_SURVIVES_NOMEM(try_extrapolation(p, &sc, &err), (void)0);
  em_prior_free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(check_plateau),        cmocka_unit_test(check_blind),
    cmocka_unit_test(check_extrapolation),  cmocka_unit_test(check_known_ranges),
    cmocka_unit_test(check_counterfactual), cmocka_unit_test(check_missing_is_a_change),
    cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
