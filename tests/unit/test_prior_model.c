/* test_prior_model.c - reading and writing CatBoost's JSON model. */
#include <float.h>
#include <math.h>

#include "tests/unit/prior_models.h"

/* Two features with three borders, one between them without any: split_index
 * 0, 1 are of feature 0, split_index 2 is of feature 2. */
#define F0                                                                                                             \
  "{\"borders\":[0.5,1.5],\"feature_index\":0,\"flat_feature_index\":0,\"has_nans\":true,\"nan_value_treatment\":\"AsFalse\"}"
#define F1(b)                                                                                                          \
  "{\"borders\":" b ",\"feature_index\":1,\"flat_feature_index\":1,\"has_nans\":false,\"nan_value_treatment\":\"AsIs\"}"
#define F2                                                                                                             \
  "{\"borders\":[-1],\"feature_index\":2,\"flat_feature_index\":2,\"has_nans\":true,\"nan_value_treatment\":\"AsTrue\"}"
#define FEATURES "\"features_info\":{\"float_features\":[" F0 "," F1("[]") "," F2 "]}"
#define SPLIT(i, f, b)                                                                                                 \
  "{\"split_index\":" #i ",\"float_feature_index\":" #f ",\"border\":" #b ",\"split_type\":\"FloatFeature\"}"
#define TREE     "{\"splits\":[" SPLIT(1, 0, 1.5) "," SPLIT(2, 2, -1) "],\"leaf_values\":[1,20,300,4000]}"
#define TREES(t) "\"oblivious_trees\":[" t "]"
#define MODEL(t) "{" FEATURES "," TREES(t) "}"

/* ---- what scores must be --------------------------------------------------------- */

static void first_split_is_the_lowest_bit(void **state)
{
  (void)state;
  em_model *m = must_parse(MODEL(TREE));
  assert_true(score_one(m, (double[]){1, 0, -2}) == 1);
  assert_true(score_one(m, (double[]){2, 0, -2}) == 20);
  assert_true(score_one(m, (double[]){1, 0, 0}) == 300);
  assert_true(score_one(m, (double[]){2, 0, 0}) == 4000);
  em_model_free(m);
}

/* Strictly above, as 32-bit floats: 1.5 plus less than half a float step is 1.5. */
static void comparison_is_of_floats_and_strict(void **state)
{
  (void)state;
  em_model *m = must_parse(MODEL(TREE));
  assert_true(score_one(m, (double[]){1.5, 0, -2}) == 1);
  assert_true(score_one(m, (double[]){1.5 + 1e-9, 0, -2}) == 1);
  assert_true(score_one(m, (double[]){(double)nextafterf(1.5f, 2), 0, -2}) == 20);
  assert_true(score_one(m, (double[]){INFINITY, 0, -INFINITY}) == 20);
  assert_true(score_one(m, (double[]){1e300, 0, -1e300}) == 20);
  em_model_free(m);
}

static void nan_goes_where_the_feature_says(void **state)
{
  (void)state;
  em_model *m = must_parse(MODEL(TREE));
  assert_true(score_one(m, (double[]){NAN, NAN, -2}) == 1); /* AsFalse */
  assert_true(score_one(m, (double[]){1, 0, NAN}) == 300);  /* AsTrue */
  em_model_free(m);
  m = must_parse("{\"features_info\":{\"float_features\":[" F0 "," F1(
    "[]") ","
          "{\"borders\":[-1],\"has_nans\":false,\"nan_value_treatment\":\"AsTrue\"}]}," TREES(TREE) "}");
  assert_true(score_one(m, (double[]){1, 0, NAN}) == 1); /* without has_nans no treatment counts */
  em_model_free(m);
}

static void missing_column_is_nan(void **state)
{
  (void)state;
  em_model *m = must_parse(MODEL(TREE));
  const int32_t col[3] = {-1, -1, -1};
  const double none = 7;
  double quality;
  em_err err;
  assert_int_equal(em_model_score(m, &none, 1, 1, col, 1, &quality, &err), EM_OK);
  assert_true(quality == 300);
  em_model_free(m);
}

/* CatBoost's nan_mode Min keeps NaN apart by a border at the least float, Max at the greatest. */
static void extreme_borders_survive(void **state)
{
  (void)state;
  em_model *m = must_parse(
    "{\"features_info\":{\"float_features\":[{\"borders\":[-3.40282347e+38,3.4028234663852886e+38],"
    "\"has_nans\":true,\"nan_value_treatment\":\"AsFalse\"}]},"
    "\"oblivious_trees\":[{\"splits\":[" SPLIT(0, 0, -3.40282347e+38) "],\"leaf_values\":[1,2]}]}");
  size_t n;
  const float *b = em_model_borders(m, 0, &n);
  assert_int_equal(n, 2);
  assert_true(b[0] == -FLT_MAX && b[1] == FLT_MAX);
  assert_true(score_one(m, (double[]){NAN}) == 1);
  assert_true(score_one(m, (double[]){-INFINITY}) == 1);
  assert_true(score_one(m, (double[]){(double)-FLT_MAX}) == 1);
  assert_true(score_one(m, (double[]){-1e38}) == 2);
  em_model_free(m);
}

static void scale_and_bias_in_each_spelling(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double want;
  } cases[] = {
    {"", 1},
    {",\"scale_and_bias\":[2,[0.25]]", 2.25},
    {",\"scale_and_bias\":[2,0.25]", 2.25},
    {",\"scale_and_bias\":[3,[]]", 3},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    char text[2048];
    snprintf(text, sizeof text, "{" FEATURES "," TREES(TREE) "%s}", cases[i].text);
    em_model *m = must_parse(text);
    assert_true(score_one(m, (double[]){0, 0, -2}) == cases[i].want);
    em_model_free(m);
  }
}

static void tree_without_splits_is_a_constant(void **state)
{
  (void)state;
  em_model *m = must_parse(MODEL("{\"splits\":null,\"leaf_values\":[5]},{\"leaf_values\":[6]}"));
  assert_int_equal(em_model_n_trees(m), 2);
  assert_true(score_one(m, (double[]){0, 0, 0}) == 11);
  em_model_free(m);
}

static void depth_sixteen_is_read(void **state)
{
  (void)state;
  em_str text = {0};
  em_str_put(&text, "{" FEATURES ",\"oblivious_trees\":[{\"splits\":[");
  for (int i = 0; i < 16; i++) em_str_printf(&text, "%s{\"split_index\":%d}", i ? "," : "", i == 15 ? 2 : 0);
  em_str_put(&text, "],\"leaf_values\":[");
  for (int i = 0; i < 65536; i++) em_str_printf(&text, "%s%d", i ? "," : "", i);
  em_str_put(&text, "]}]}");
  em_model *m = must_parse(text.s);
  assert_true(score_one(m, (double[]){1, 0, -2}) == 32767);
  assert_true(score_one(m, (double[]){0, 0, 0}) == 32768);
  em_str_free(&text);
  em_model_free(m);
}

#define LEAF(v) "{\"value\":" #v ",\"weight\":3}"
#define TREE_IN_TREE                                                                                                   \
  "{\"split\":" SPLIT(0, 0, 0.5) ",\"left\":" LEAF(1) ",\"right\":{\"split\":" SPLIT(                                  \
    2, 2, -1) ",\"left\":{\"value\":[20]},\"right\":" LEAF(300) "}}"

static void non_symmetric_true_goes_right(void **state)
{
  (void)state;
  em_model *m = must_parse("{" FEATURES ",\"scale_and_bias\":[1,[0.5]],\"trees\":[" TREE_IN_TREE "," LEAF(4000) "]}");
  em_tree_view view;
  assert_false(em_model_tree(m, 0, &view));
  assert_true(score_one(m, (double[]){0, 0, 0}) == 4001.5);
  assert_true(score_one(m, (double[]){1, 0, -2}) == 4020.5);
  assert_true(score_one(m, (double[]){1, 0, 0}) == 4300.5);
  uint32_t leaf[2];
  em_model_leaves(m, (double[]){1, 0, 0}, (int32_t[]){0, 1, 2}, leaf);
  assert_int_equal(leaf[0], 2); /* counted from the left */
  assert_int_equal(leaf[1], 0);
  em_model_free(m);
}

/* ---- spellings that other writers use ----------------------------------------------- */

static void same_model_in_other_words(void **state)
{
  (void)state;
  static const char *const same[] = {
    "{\"features_info\":{\"float_features\":[" F0 "," F1("null") "," F2 "]}," TREES(TREE) "}",
    /* borders as text, no indices, no names */
    "{\"features_info\":{\"float_features\":[{\"borders\":[\"0.5\",\"1.5\"],\"has_nans\":true},{},"
    "{\"borders\":[\"-1\"],\"has_nans\":true,\"nan_value_treatment\":\"AsTrue\"}],\"categorical_features\":[]}," TREES(
      TREE) "}",
    /* no split_index: border and feature stand in */
    MODEL("{\"splits\":[{\"border\":1.5,\"float_feature_index\":0},{\"border\":-1,\"float_feature_index\":2}],"
          "\"leaf_values\":[1,20,300,4000]}"),
    /* split_index alone */
    MODEL(
      "{\"splits\":[{\"split_index\":1},{\"split_index\":2}],\"leaf_values\":[1,20,300,4000],\"leaf_weights\":[1,2,3,4]}"),
    "{\"model_info\":{\"params\":\"{}\"}," FEATURES "," TREES(TREE) ",\"ctr_data\":{}}",
  };
  for (size_t i = 0; i < N_OF(same); i++) {
    em_model *m = must_parse(same[i]);
    assert_true(score_one(m, (double[]){2, 0, NAN}) == 4000);
    assert_true(score_one(m, (double[]){NAN, 0, -2}) == 1);
    em_model_free(m);
  }
}

static void printed_text_is_a_fixed_point(void **state)
{
  (void)state;
  static const char *const models[] = {
    MODEL(TREE),
    MODEL("{\"splits\":null,\"leaf_values\":[0.1],\"leaf_weights\":[12]}"),
    "{\"model_info\":{\"params\":{\"x\":1e-7},\"note\":\"a\\u0001b\"}," FEATURES ",\"trees\":[" TREE_IN_TREE "]}",
  };
  for (size_t i = 0; i < N_OF(models); i++) {
    em_model *m = must_parse(models[i]);
    em_str first = {0}, second = {0};
    em_model_print(m, &first);
    em_model *again = must_parse(first.s);
    em_model_print(again, &second);
    assert_string_equal(first.s, second.s);
    assert_true(score_one(m, (double[]){1, 0, NAN}) == score_one(again, (double[]){1, 0, NAN}));
    em_str_free(&first);
    em_str_free(&second);
    em_model_free(m);
    em_model_free(again);
  }
}

/* ---- what is refused ------------------------------------------------------------------- */

static const struct {
  const char *text, *message;
} refused[] = {
  {"[]", "expected a CatBoost model"},
  {"{}", "features_info"},
  {"{\"features_info\":{\"float_features\":[]}," TREES(TREE) "}", "no numeric feature"},
  {"{" FEATURES "}", "oblivious_trees"},
  {MODEL(""), "no trees"},
  {"{" FEATURES ",\"trees\":[]}", "no trees"},
  {"{\"features_info\":{\"float_features\":[" F0
   "],\"categorical_features\":[{\"feature_id\":\"brand\"}]}," TREES(TREE) "}",
   "categorical features (1 of them, the first is brand)"},
  {"{\"features_info\":{\"float_features\":[" F0 "],\"text_features\":[{}]}," TREES(TREE) "}", "text features"},
  {"{\"features_info\":{\"float_features\":[" F0 "],\"embedding_features\":[{}]}," TREES(TREE) "}",
   "embedding features"},
  {"{\"ctr_data\":{\"x\":1}," FEATURES "," TREES(TREE) "}", "ctr_data"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":[1],\"feature_index\":0,\"flat_feature_index\":3}]}," TREES(
     TREE) "}",
   "not numbers"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":[1],\"feature_index\":1}]}," TREES(TREE) "}", "its position"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":[1,1]}]}," TREES(TREE) "}", "must ascend"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":[1,1.00000000001]}]}," TREES(TREE) "}", "must ascend"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":[1e39]}]}," TREES(TREE) "}", "32-bit"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":[true]}]}," TREES(TREE) "}", "borders[0]"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":[\"nan\"]}]}," TREES(TREE) "}", "not a finite number"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":5}]}," TREES(TREE) "}", "not a list"},
  {"{\"features_info\":{\"float_features\":[{\"borders\":[1],\"nan_value_treatment\":\"AsMaybe\"}]}," TREES(TREE) "}",
   "AsMaybe"},
  {MODEL("{\"splits\":[{\"split_index\":3}],\"leaf_values\":[1,2]}"), "split_index is 3; the model has 3 borders"},
  {MODEL("{\"splits\":[{\"split_index\":-1}],\"leaf_values\":[1,2]}"), "split_index is -1"},
  {MODEL("{\"splits\":[{\"float_feature_index\":3,\"border\":1}],\"leaf_values\":[1,2]}"), "float_feature_index is 3"},
  {MODEL("{\"splits\":[{\"float_feature_index\":0,\"border\":1}],\"leaf_values\":[1,2]}"), "not among the borders"},
  {MODEL("{\"splits\":[{\"border\":1}],\"leaf_values\":[1,2]}"), "needs split_index"},
  {MODEL("{\"splits\":[" SPLIT(0, 2, 0.5) "],\"leaf_values\":[1,2]}"), "contradicts itself"},
  {MODEL("{\"splits\":[" SPLIT(0, 0, 1.5) "],\"leaf_values\":[1,2]}"), "contradicts itself"},
  {MODEL("{\"splits\":[{\"split_index\":0,\"split_type\":\"OneHotFeature\"}],\"leaf_values\":[1,2]}"), "OneHotFeature"},
  {MODEL("{\"splits\":[{\"split_index\":0}],\"leaf_values\":[]}"), "0 values, but 1 splits have 2 leaves"},
  {MODEL("{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1]}"), "1 values"},
  {MODEL("{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1,2,3]}"), "3 values"},
  {MODEL("{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1,2,3,4]}"), "2 dimensions"},
  {MODEL("{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1,1e999]}"), "beyond"},
  {MODEL("{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1,\"x\"]}"), "leaf_values[1]"},
  {MODEL("{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1,2],\"leaf_weights\":[1]}"), "1 weights"},
  {MODEL("{\"splits\":{},\"leaf_values\":[1]}"), "not a list"},
  {MODEL("{\"splits\":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}],\"leaf_values\":[1]}"), "at most 16"},
  {MODEL("{\"splits\":[{\"split_index\":0}]}"), "leaf_values"},
  {"{\"features_info\":{\"float_features\":[{}]},\"oblivious_trees\":[{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1,2]}]}",
   "the model has 0 borders"},
  {"{" FEATURES "," TREES(TREE) ",\"scale_and_bias\":[1,[1,2,3]]}", "3 dimensions"},
  {"{" FEATURES "," TREES(TREE) ",\"scale_and_bias\":[1]}", "[scale, [bias]]"},
  {"{" FEATURES "," TREES(TREE) ",\"scale_and_bias\":[1e999,[0]]}", "beyond"},
  {"{" FEATURES "," TREES(TREE) ",\"scale_and_bias\":[1,[1e999]]}", "beyond"},
  {"{" FEATURES ",\"trees\":[{\"split\":" SPLIT(0, 0, 0.5) ",\"left\":" LEAF(1) "}]}", "right"},
  {"{" FEATURES ",\"trees\":[{\"split\":" SPLIT(9, 0, 0.5) ",\"left\":" LEAF(1) ",\"right\":" LEAF(1) "}]}",
   "split_index is 9"},
  {"{" FEATURES ",\"trees\":[{\"value\":[1,2],\"weight\":1}]}", "2 dimensions"},
  {"{" FEATURES ",\"trees\":[{\"value\":null}]}", "value"},
  {"{" FEATURES ",\"trees\":[7]}", "expected a tree node"},
};

static void each_fault_has_its_message(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(refused); i++) {
    em_err err;
    em_model *m = NULL;
    int64_t live = em_alloc_live();
    if (try_parse(refused[i].text, &m, &err) != EM_E_INPUT) fail_msg("case %zu was not refused", i);
    if (!strstr(err.msg, refused[i].message)) fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.msg, refused[i].message);
    assert_int_equal(strncmp(err.msg, "m.json", 6), 0);
    assert_int_equal(em_alloc_live(), live);
  }
}

/* A full tree of 2^bits leaves. */
static void put_full(em_str *s, int bits)
{
  if (!bits) {
    em_str_put(s, "{\"value\":1}");
    return;
  }
  em_str_put(s, "{\"split\":{\"split_index\":0},\"left\":");
  put_full(s, bits - 1);
  em_str_put(s, ",\"right\":");
  put_full(s, bits - 1);
  em_str_putc(s, '}');
}

static void trees_have_at_most_65535_nodes(void **state)
{
  (void)state;
  em_str text = {0};
  em_str_put(&text, "{" FEATURES ",\"trees\":[");
  put_full(&text, 15); /* 2^16 - 1 nodes */
  em_str_put(&text, "]}");
  em_model_free(must_parse(text.s));
  em_str_clear(&text);
  em_str_put(&text, "{" FEATURES ",\"trees\":[");
  put_full(&text, 16);
  em_str_put(&text, "]}");
  em_err err;
  em_model *m;
  assert_int_equal(try_parse(text.s, &m, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "65535 nodes"));
  em_str_free(&text);
}

/* ---- models of the booster ---------------------------------------------------------------- */

static const char *const names[] = {"a", "b"};
static const em_split two[] = {{1, 2.5f}, {0, -1}}, one[] = {{1, 0.5f}};
static const double leaves[] = {1, 2, 3, 4}, weights[] = {5, 6, 0, 7};

static int make(const em_tree_view *trees, size_t n, double scale, em_model **out, em_err *err)
{
  const em_model_build spec = {.n_features = 2,
                               .feature_names = names,
                               .has_nans = (bool[]){true, false},
                               .n_trees = n,
                               .trees = trees,
                               .scale = scale,
                               .bias = 0,
                               .loss = "QuerySoftMax"};
  return em_model_new(&spec, out, err);
}

static void built_model_keeps_its_trees(void **state)
{
  (void)state;
  const em_tree_view trees[] = {{two, 2, leaves, weights}, {one, 1, leaves, NULL}, {NULL, 0, leaves, NULL}};
  em_model *m;
  em_err err;
  assert_int_equal(make(trees, 3, 1, &m, &err), EM_OK);
  size_t n;
  const float *b = em_model_borders(m, 1, &n);
  assert_int_equal(n, 2);
  assert_true(b[0] == 0.5f && b[1] == 2.5f);
  em_tree_view got;
  assert_true(em_model_tree(m, 0, &got));
  assert_int_equal(got.n_splits, 2);
  assert_true(got.splits[0].feature == 1 && got.splits[0].border == 2.5f && got.splits[1].feature == 0);
  assert_memory_equal(got.leaf_values, leaves, sizeof leaves);
  assert_memory_equal(got.leaf_weights, weights, sizeof weights);
  assert_true(em_model_tree(m, 1, &got));
  assert_null(got.leaf_weights);
  assert_true(score_one(m, (double[]){0, 3}) == 4 + 2 + 1);
  em_model_free(m);
}

static void built_model_must_be_sound(void **state)
{
  (void)state;
  static const em_split beyond[] = {{2, 0}}, not_finite[] = {{0, INFINITY}};
  static const double nan_leaf[] = {1, NAN};
  const em_tree_view bad[] = {{beyond, 1, leaves, NULL},
                              {not_finite, 1, leaves, NULL},
                              {one, 1, nan_leaf, NULL},
                              {one, 1, leaves, nan_leaf},
                              {two, 17, leaves, NULL}};
  em_model *m;
  em_err err;
  for (size_t i = 0; i < N_OF(bad); i++) assert_int_equal(make(&bad[i], 1, 1, &m, &err), EM_E_INPUT);
  const em_tree_view good = {one, 1, leaves, NULL};
  assert_int_equal(make(&good, 1, NAN, &m, &err), EM_E_INPUT);
  assert_int_equal(make(&good, 0, 1, &m, &err), EM_E_INPUT);
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  em_model *m;
  em_err err;
  const em_tree_view trees[] = {{two, 2, leaves, weights}, {one, 1, leaves, NULL}};
  ASSERT_SURVIVES_NOMEM(try_parse("{\"model_info\":{\"a\":\"b\"}," FEATURES "," TREES(TREE) "}", &m, &err),
                        em_model_free(m));
  ASSERT_SURVIVES_NOMEM(try_parse("{" FEATURES ",\"trees\":[" TREE_IN_TREE "]}", &m, &err), em_model_free(m));
  ASSERT_SURVIVES_NOMEM(make(trees, 2, 1, &m, &err), em_model_free(m));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(first_split_is_the_lowest_bit),     cmocka_unit_test(comparison_is_of_floats_and_strict),
    cmocka_unit_test(nan_goes_where_the_feature_says),   cmocka_unit_test(missing_column_is_nan),
    cmocka_unit_test(extreme_borders_survive),           cmocka_unit_test(scale_and_bias_in_each_spelling),
    cmocka_unit_test(tree_without_splits_is_a_constant), cmocka_unit_test(depth_sixteen_is_read),
    cmocka_unit_test(non_symmetric_true_goes_right),     cmocka_unit_test(same_model_in_other_words),
    cmocka_unit_test(printed_text_is_a_fixed_point),     cmocka_unit_test(each_fault_has_its_message),
    cmocka_unit_test(trees_have_at_most_65535_nodes),    cmocka_unit_test(built_model_keeps_its_trees),
    cmocka_unit_test(built_model_must_be_sound),         cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
