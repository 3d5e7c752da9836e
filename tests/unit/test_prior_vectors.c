/* test_prior_vectors.c - the published test vectors of the public project's prior. */
#include <float.h>
#include <math.h>

#include "tests/unit/prior_models.h"
#include "tests/unit/published_columns.h"

#define VECTOR_COLUMNS 43

static const char *const names[VECTOR_COLUMNS] = {PUBLISHED_COLUMNS};

static const double rows[3][VECTOR_COLUMNS] = {
  {0, 1, 16, 0, 0, 3, 5,   12, 6, -1,  -4, 0,  0,   0,   1,   0, 0, NAN, NAN, 32, 0, 9.002815015607053,
   1, 2, 0,  0, 1, 2, NAN, 1,  0, 256, 64, 64, NAN, NAN, NAN, 0, 0, 89,  NAN, 0,  0},
  {2, 0, 16, 0, 0, 0, 0,   12, 8, 1,  -4,  0,  0, 0, 1, 0, 0, NAN, NAN, 25.6, 0, 10.001408194392809,
   1, 0, 0,  0, 1, 1, NAN, 1,  0, 64, 128, 32, 1, 1, 0, 1, 0, 89,  32,  1,    0},
  {NAN, NAN, NAN, 0, NAN, NAN, NAN, NAN, 12,  5,   NAN, NAN, NAN, NAN, 1,   0,   0, 0,  0,   NAN, 0, 2.321928094887362,
   1,   NAN, 0,   0, NAN, NAN, NAN, NAN, NAN, 256, NAN, NAN, NAN, NAN, NAN, NAN, 0, 89, NAN, 0,   0},
};

/* The first four trees; of their leaf values those that the three rows reach. */
static const em_split splits[4][6] = {
  {{31, -FLT_MAX},
   {21, 5.965368747711182f},
   {19, 0.8444444537162781f},
   {2, 3.5f},
   {10, -4.745926380157471f},
   {1, 0.5f}},
  {{24, -FLT_MAX}, {21, 5.871016502380371f}, {17, 0.5f}, {33, 5.5f}, {18, 0.5f}, {31, 34.5f}},
  {{21, 5.486130714416504f}, {17, 0.5f}, {33, 5.5f}, {18, 0.5f}, {31, 33.5f}, {2, 3.5f}},
  {{16, 4}, {27, 1.5f}, {21, 6.187655448913574f}, {27, 2.5f}, {29, 1.5f}, {37, 0.5f}},
};
static const uint32_t leaf[3][4] = {{63, 43, 53, 6}, {31, 43, 53, 36}, {1, 33, 16, 0}};
static const double value[3][4] = {
  {-0.009617354376927532, -0.0052955951485943046, -0.002570861739965486, 0.007412516360227475},
  {0.028062684650338957, -0.0052955951485943046, -0.002570861739965486, -0.015014389060187257},
  {0.33572762944028894, 1.1044263297876051, 0.7816500283081063, 0.17352461227862354},
};

static em_model *four_trees(void)
{
  static double leaves[4][64];
  static bool has_nans[VECTOR_COLUMNS];
  em_tree_view trees[4];
  for (size_t t = 0; t < 4; t++) {
    for (size_t i = 0; i < 64; i++) leaves[t][i] = 1000 + (double)(64 * t + i); /* reached by a wrong leaf only */
    for (size_t r = 0; r < 3; r++) leaves[t][leaf[r][t]] = value[r][t];
    trees[t] = (em_tree_view){.splits = splits[t], .n_splits = 6, .leaf_values = leaves[t]};
  }
  for (size_t i = 0; i < VECTOR_COLUMNS; i++) has_nans[i] = true;
  const em_model_build spec = {.n_features = VECTOR_COLUMNS,
                               .feature_names = names,
                               .has_nans = has_nans,
                               .n_trees = 4,
                               .trees = trees,
                               .scale = 1,
                               .loss = "QuerySoftMax"};
  em_model *m;
  em_err err;
  if (em_model_new(&spec, &m, &err)) fail_msg("%s", err.msg);
  return m;
}

static void leaves_are_the_published_ones(void **state)
{
  (void)state;
  em_model *m = four_trees();
  int32_t col[VECTOR_COLUMNS];
  for (int i = 0; i < VECTOR_COLUMNS; i++) col[i] = i;
  for (size_t r = 0; r < 3; r++) {
    uint32_t got[4];
    em_model_leaves(m, rows[r], col, got);
    assert_memory_equal(got, leaf[r], sizeof got);
  }
  em_model_free(m);
}

static void quality_is_the_sum_in_tree_order(void **state)
{
  (void)state;
  em_model *m = four_trees();
  for (size_t r = 0; r < 3; r++) {
    double want = 0;
    for (size_t t = 0; t < 4; t++) want += value[r][t];
    assert_true(score_one(m, rows[r]) == want);
  }
  em_model_free(m);
}

/* All of that holds for the model that was written and read again. */
static void text_keeps_the_scores(void **state)
{
  (void)state;
  em_model *m = four_trees();
  em_str text = {0};
  em_model_print(m, &text);
  em_model *again = must_parse(text.s);
  for (size_t r = 0; r < 3; r++) assert_true(score_one(m, rows[r]) == score_one(again, rows[r]));
  em_str second = {0};
  em_model_print(again, &second);
  assert_string_equal(text.s, second.s);
  em_str_free(&text);
  em_str_free(&second);
  em_model_free(m);
  em_model_free(again);
}

/* Each step asks what the tree's split says, and its answers spell the published leaf. */
static void paths_lead_to_the_published_leaves(void **state)
{
  (void)state;
  em_model *m = four_trees();
  int32_t col[VECTOR_COLUMNS];
  for (int i = 0; i < VECTOR_COLUMNS; i++) col[i] = i;
  for (size_t r = 0; r < 3; r++)
    for (size_t t = 0; t < 4; t++) {
      em_step steps[EM_MAX_STEPS];
      em_leaf end;
      assert_int_equal(em_model_path(m, t, rows[r], col, steps, &end), 6);
      assert_int_equal(end.index, leaf[r][t]);
      assert_true(end.value == value[r][t]);
      assert_true(isnan(end.weight)); /* these models carry none */
      for (size_t d = 0; d < 6; d++) {
        assert_int_equal(steps[d].feature, splits[t][d].feature);
        assert_true(steps[d].border == splits[t][d].border);
        assert_int_equal(steps[d].above, leaf[r][t] >> d & 1);
      }
    }
  em_model_free(m);
}

static void without_leaf_weights_nothing_is_explained(void **state)
{
  (void)state;
  em_model *m = four_trees();
  em_err err;
  em_explainer *e;
  double importance[VECTOR_COLUMNS];
  assert_int_equal(em_explainer_new(m, &e, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "tree 0 of the model has no leaf weights"));
  assert_int_equal(em_explain_values_change(m, importance, &err), EM_E_INPUT);
  em_model_free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(leaves_are_the_published_ones),
    cmocka_unit_test(quality_is_the_sum_in_tree_order),
    cmocka_unit_test(text_keeps_the_scores),
    cmocka_unit_test(paths_lead_to_the_published_leaves),
    cmocka_unit_test(without_leaf_weights_nothing_is_explained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
