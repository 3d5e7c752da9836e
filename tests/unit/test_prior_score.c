/* test_prior_score.c - batches: every code path, any number of threads and any block gives the same bits. */
#include <float.h>
#include <math.h>

#include "core/prior/score_int.h"
#include "tests/unit/prior_models.h"

enum { SEED = 7, N_ROWS = 1000, MAX_COLS = 40 };

static double matrix[N_ROWS * MAX_COLS];
static int32_t col[MAX_COLS];

/* A reference written from the rule alone: float compare, bit i = split i, doubles added in tree order. */
static double by_rule(const em_model *m, const bool *nan_true, const double *row)
{
  double sum = 0;
  for (size_t t = 0; t < em_model_n_trees(m); t++) {
    em_tree_view v;
    size_t leaf = 0;
    assert_true(em_model_tree(m, t, &v));
    for (size_t i = 0; i < v.n_splits; i++) {
      size_t f = v.splits[i].feature;
      float x = col[f] < 0 ? NAN : (float)row[col[f]];
      if ((isnan(x) && nan_true[f]) || x > v.splits[i].border) leaf += (size_t)1 << i;
    }
    sum += v.leaf_values[leaf];
  }
  return 1.25 * sum - 0.5;
}

/* Values hit borders exactly, miss them by a rounding, and are missing or infinite. */
static double awkward(uint64_t i, int n_levels)
{
  double x = (double)em_rng_below(SEED, 1, i, (uint64_t)n_levels) / 8;
  switch (em_rng_below(SEED, 2, i, 12)) {
  case 0: return NAN;
  case 1: return INFINITY;
  case 2: return -INFINITY;
  case 3: return x + 1e-12;
  case 4: return x - 1e-12;
  case 5: return -0.0;
  default: return x + (double)em_rng_below(SEED, 3, i, 2) / 16;
  }
}

typedef struct shape {
  size_t n_features, n_trees, depth_from, depth_to;
  int n_levels;
} shape;

static void put_model(em_str *s, const shape *w, bool *nan_true)
{
  em_str_put(s, "{\"features_info\":{\"float_features\":[");
  for (size_t f = 0; f < w->n_features; f++) {
    bool used = f % 5 != 3;
    nan_true[f] = used && f % 3 == 0;
    em_str_printf(s, "%s{\"borders\":[", f ? "," : "");
    for (int b = 0; used && b < w->n_levels; b++) em_str_printf(s, "%s%.3f", b ? "," : "", b / 8.0);
    em_str_printf(s, "],\"has_nans\":true,\"nan_value_treatment\":\"%s\"}", nan_true[f] ? "AsTrue" : "AsFalse");
  }
  em_str_put(s, "]},\"scale_and_bias\":[1.25,[-0.5]],\"oblivious_trees\":[");
  size_t n_borders = (w->n_features - (w->n_features + 1) / 5) * (size_t)w->n_levels;
  for (size_t t = 0; t < w->n_trees; t++) {
    size_t depth = w->depth_from + em_rng_below(SEED, 4, t, w->depth_to - w->depth_from + 1);
    em_str_printf(s, "%s{\"splits\":[", t ? "," : "");
    for (size_t d = 0; d < depth; d++)
      em_str_printf(s, "%s{\"split_index\":%llu}", d ? "," : "",
                    (unsigned long long)em_rng_below(SEED, 5, 100 * t + d, n_borders));
    em_str_put(s, "],\"leaf_values\":[");
    for (size_t i = 0; i < (size_t)1 << depth; i++)
      em_str_printf(s, "%s%.17g", i ? "," : "", em_rng_f64(SEED, 6, (t << 16) + i) - 0.5);
    em_str_put(s, "]}");
  }
  em_str_put(s, "]}");
}

static void check_shape(const shape *w)
{
  bool nan_true[MAX_COLS];
  em_str text = {0};
  put_model(&text, w, nan_true);
  em_model *m = must_parse(text.s);
  em_str_free(&text);
  for (size_t i = 0; i < N_ROWS * w->n_features; i++) matrix[i] = awkward(i, w->n_levels);
  for (size_t f = 0; f < w->n_features; f++)
    col[f] = f % 7 == 6 ? -1 : (int32_t)(w->n_features - 1 - f); /* turned round, some missing */
  static const size_t rows[] = {N_ROWS, 1, 7, 128, 129};
  for (int p = 0; p < EM_N_PATHS; p++)
    for (size_t k = 0; em_score_ops_of((em_score_path)p) && k < N_OF(rows); k++) {
      double got[N_ROWS];
      em_err err;
      assert_int_equal(em_model_score_path(m, matrix, rows[k], w->n_features, col, 2, (em_score_path)p, got, &err),
                       EM_OK);
      for (size_t r = 0; r < rows[k]; r++)
        if (got[r] != by_rule(m, nan_true, matrix + r * w->n_features))
          fail_msg("path %d, depth %zu..%zu, row %zu of %zu", p, w->depth_from, w->depth_to, r, rows[k]);
    }
  em_model_free(m);
}

/* Depths on both sides of each path's limit, borders on both sides of a byte, matrices narrower than a
 * window. */
static void all_paths_follow_the_rule(void **state)
{
  (void)state;
  static const shape shapes[] = {
    {10, 37, 0, 6, 7},   {1, 5, 1, 3, 1},     {3, 20, 6, 6, 2},    {9, 40, 5, 7, 3},    {12, 33, 6, 6, 15},
    {12, 9, 7, 8, 31},   {12, 9, 8, 10, 63},  {10, 20, 4, 6, 127}, {10, 20, 6, 6, 254}, {10, 20, 6, 6, 255},
    {10, 20, 6, 6, 256}, {8, 20, 3, 6, 1500}, {40, 64, 6, 6, 20},  {10, 3, 12, 13, 9},
  };
  for (size_t i = 0; i < N_OF(shapes); i++) check_shape(&shapes[i]);
}

static void non_symmetric_batches_equal_single_rows(void **state)
{
  (void)state;
  em_model *m = must_parse(
    "{\"features_info\":{\"float_features\":[{\"borders\":[0.5,1,2]},{\"borders\":[1],\"has_nans\":true,"
    "\"nan_value_treatment\":\"AsTrue\"}]},\"trees\":[{\"value\":0.25},"
    "{\"split\":{\"split_index\":1},\"left\":{\"split\":{\"split_index\":3},\"left\":{\"value\":1},"
    "\"right\":{\"value\":10}},"
    "\"right\":{\"split\":{\"split_index\":2},\"left\":{\"value\":100},\"right\":{\"split\":{\"split_"
    "index\":3},"
    "\"left\":{\"value\":1000},\"right\":{\"value\":10000}}}}]}");
  for (size_t i = 0; i < 2 * N_ROWS; i++) matrix[i] = awkward(i, 24);
  double got[N_ROWS];
  em_err err;
  col[0] = 0, col[1] = 1;
  for (int p = 0; p < EM_N_PATHS; p++) {
    if (!em_score_ops_of((em_score_path)p)) continue;
    assert_int_equal(em_model_score_path(m, matrix, N_ROWS, 2, col, 2, (em_score_path)p, got, &err), EM_OK);
    for (size_t r = 0; r < N_ROWS; r++) {
      float a = (float)matrix[2 * r], b = (float)matrix[2 * r + 1];
      bool b_above = b > 1 || isnan(b);
      double want = 0.25 + (!(a > 1) ? (b_above ? 10 : 1) : !(a > 2) ? 100 : b_above ? 10000 : 1000);
      assert_true(got[r] == want);
    }
  }
  size_t splits[2];
  em_model_count_splits(m, splits);
  assert_int_equal(splits[0], 2);
  assert_int_equal(splits[1], 2);
  em_model_free(m);
}

static void threads_do_not_matter(void **state)
{
  (void)state;
  enum { MANY = 20000 };
  static double x[MANY * 4], one[MANY], more[MANY];
  const shape w = {4, 30, 5, 6, 16};
  bool nan_true[MAX_COLS];
  em_str text = {0};
  em_err err;
  put_model(&text, &w, nan_true);
  em_model *m = must_parse(text.s);
  for (size_t i = 0; i < MANY * 4; i++) x[i] = awkward(i, 16);
  for (int f = 0; f < 4; f++) col[f] = f;
  assert_int_equal(em_model_score(m, x, MANY, 4, col, 1, one, &err), EM_OK);
  for (int threads = 0; threads <= 4; threads++) {
    assert_int_equal(em_model_score(m, x, MANY, 4, col, threads, more, &err), EM_OK);
    assert_memory_equal(one, more, sizeof one);
  }
  for (size_t r = 0; r < 200; r++) { /* alone, a row is scored without blocks */
    double alone;
    assert_int_equal(em_model_score(m, x + 4 * r, 1, 4, col, 1, &alone, &err), EM_OK);
    assert_true(alone == one[r]);
  }
  em_str_free(&text);
  em_model_free(m);
}

/* The leaf of each tree, by which the sum can be made by hand. */
static void leaves_give_the_score(void **state)
{
  (void)state;
  const shape w = {10, 25, 0, 9, 12};
  bool nan_true[MAX_COLS];
  em_str text = {0};
  put_model(&text, &w, nan_true);
  em_model *m = must_parse(text.s);
  for (size_t i = 0; i < 100 * w.n_features; i++) matrix[i] = awkward(i, w.n_levels);
  for (int f = 0; f < 10; f++) col[f] = f;
  for (size_t r = 0; r < 100; r++) {
    uint32_t leaf[25];
    double sum = 0;
    em_model_leaves(m, matrix + r * w.n_features, col, leaf);
    for (size_t t = 0; t < w.n_trees; t++) {
      em_tree_view v;
      assert_true(em_model_tree(m, t, &v));
      assert_true(leaf[t] < (uint32_t)1 << v.n_splits);
      sum += v.leaf_values[leaf[t]];
    }
    assert_true(1.25 * sum - 0.5 == by_rule(m, nan_true, matrix + r * w.n_features));
  }
  em_str_free(&text);
  em_model_free(m);
}

/* A model of so many columns that a block's bins do not fit on the stack. */
static void wide_models_ask_for_memory(void **state)
{
  (void)state;
  enum { WIDE = 1100 };
  static double x[20 * WIDE];
  static int32_t all[WIDE];
  em_str text = {0};
  em_err err;
  double got[20];
  em_str_put(&text, "{\"features_info\":{\"float_features\":[");
  for (int f = 0; f < WIDE; f++) em_str_printf(&text, "%s{\"borders\":[0.5]}", f ? "," : "");
  em_str_put(&text, "]},\"oblivious_trees\":[{\"splits\":[{\"split_index\":1099},{\"split_index\":0}],\"leaf_"
                    "values\":[1,2,3,4]}]}");
  em_model *m = must_parse(text.s);
  em_str_free(&text);
  for (int f = 0; f < WIDE; f++) all[f] = f;
  for (int r = 0; r < 20; r++) x[r * WIDE + WIDE - 1] = r % 2;
  ASSERT_SURVIVES_NOMEM(em_model_score(m, x, 20, WIDE, all, 1, got, &err), (void)0);
  for (int r = 0; r < 20; r++) assert_true(got[r] == 1 + r % 2);
  assert_int_equal(em_model_score(m, x + WIDE, 1, WIDE, all, 1, got, &err), EM_OK);
  assert_true(got[0] == 2);
  em_model_free(m);
}

/* Up to eight rows are scored with no allocation at all. */
static void few_rows_need_no_memory(void **state)
{
  (void)state;
  em_model *m = must_parse(
    "{\"features_info\":{\"float_features\":[{\"borders\":[0.5]}]},\"oblivious_trees\":[{\"splits\":"
    "[{\"split_index\":0}],\"leaf_values\":[1,2]}]}");
  const double x[8] = {0, 1, 0, 1, 0, 1, 0, 1};
  double got[8];
  em_err err;
  col[0] = 0;
  em_alloc_fail_at(1, true);
  int rc = em_model_score(m, x, 8, 1, col, 1, got, &err);
  em_alloc_fail_at(0, false);
  assert_int_equal(rc, EM_OK);
  for (int r = 0; r < 8; r++) assert_true(got[r] == 1 + r % 2);
  em_model_free(m);
}

static void no_rows_are_no_work(void **state)
{
  (void)state;
  em_model *m = must_parse("{\"features_info\":{\"float_features\":[{}]},\"oblivious_trees\":[{\"leaf_values\":[1]}]}");
  em_err err;
  col[0] = -1;
  double got[200];
  assert_int_equal(em_model_score(m, matrix, 0, 0, col, 1, got, &err), EM_OK);
  assert_int_equal(em_model_score(m, matrix, 200, 0, col, 1, got, &err), EM_OK); /* a matrix without columns */
  for (int r = 0; r < 200; r++) assert_true(got[r] == 1);
  em_model_free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_paths_follow_the_rule),  cmocka_unit_test(non_symmetric_batches_equal_single_rows),
    cmocka_unit_test(threads_do_not_matter),      cmocka_unit_test(leaves_give_the_score),
    cmocka_unit_test(wide_models_ask_for_memory), cmocka_unit_test(few_rows_need_no_memory),
    cmocka_unit_test(no_rows_are_no_work),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
