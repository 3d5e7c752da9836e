/* test_prior_explain.c - explanations: trees worked by hand, and Shapley's own formula over all coalitions. */
#include <float.h>
#include <math.h>

#include "tests/unit/prior_models.h"

#define FEATURES 5
#define BORDERS  3 /* of each feature: -1, 0, 1 */

/* ---- models of random trees, as this test sees them and as text -------------------------------------- */

typedef struct node {
  int feature, border; /* border -1, 0 or 1 */
  int child[2];        /* 0 = leaf */
  double value, weight;
} node;

typedef struct tree {
  node nodes[1024];
  int n;
} tree;

typedef struct random {
  uint64_t seed, at;
} random_state;
static uint64_t below(random_state *r, uint64_t n) { return em_rng_below(r->seed, 1, r->at++, n); }
static double real(random_state *r) { return 2 * em_rng_f64(r->seed, 1, r->at++) - 1; }

/* A third of the leaves have no rows; those have the value 0, as in CatBoost's own models. */
static void make_leaf(node *x, random_state *r)
{
  x->weight = below(r, 3) ? (double)(1 + below(r, 50)) : 0;
  x->value = x->weight > 0 ? real(r) : 0;
}

static void put_features(em_str *out)
{
  em_str_put(out, "{\"features_info\":{\"float_features\":[");
  for (int f = 0; f < FEATURES; f++)
    em_str_printf(
      out,
      "%s{\"feature_index\":%d,\"flat_feature_index\":%d,\"has_nans\":false,\"nan_value_treatment\":\"AsIs\","
      "\"borders\":[-1,0,1]}",
      f ? "," : "", f, f);
  em_str_put(out, "]},");
}

static void put_split(em_str *out, int feature, int border)
{
  em_str_printf(out, "{\"split_index\":%d}", feature * BORDERS + border + 1);
}

/* An oblivious tree: the last split asks first. */
static void make_oblivious(tree *t, random_state *r, int depth, em_str *out)
{
  int feature[16], border[16], leaves = 1 << depth;
  em_str_put(out, "{\"splits\":[");
  for (int d = 0; d < depth; d++) {
    feature[d] = (int)below(r, FEATURES);
    border[d] = (int)below(r, BORDERS) - 1;
    if (d) em_str_putc(out, ',');
    put_split(out, feature[d], border[d]);
  }
  t->n = 2 * leaves - 1;
  for (int i = 0; i < leaves - 1; i++) {
    int level = 0;
    while ((2 << level) - 1 <= i) level++;
    t->nodes[i] = (node){feature[depth - 1 - level], border[depth - 1 - level], {2 * i + 1, 2 * i + 2}, 0, 0};
  }
  em_str_put(out, "],\"leaf_values\":[");
  for (int i = 0; i < leaves; i++) {
    t->nodes[leaves - 1 + i] = (node){0};
    make_leaf(&t->nodes[leaves - 1 + i], r);
    em_str_printf(out, "%s%.17g", i ? "," : "", t->nodes[leaves - 1 + i].value);
  }
  em_str_put(out, "],\"leaf_weights\":[");
  for (int i = 0; i < leaves; i++) em_str_printf(out, "%s%.17g", i ? "," : "", t->nodes[leaves - 1 + i].weight);
  em_str_put(out, "]}");
}

static int make_branch(tree *t, random_state *r, int depth, em_str *out)
{
  int at = t->n++;
  t->nodes[at] = (node){0};
  if (depth == 0 || (t->n > 1 && below(r, 4) == 0)) {
    make_leaf(&t->nodes[at], r);
    em_str_printf(out, "{\"value\":%.17g,\"weight\":%.17g}", t->nodes[at].value, t->nodes[at].weight);
    return at;
  }
  t->nodes[at].feature = (int)below(r, FEATURES);
  t->nodes[at].border = (int)below(r, BORDERS) - 1;
  em_str_put(out, "{\"split\":");
  put_split(out, t->nodes[at].feature, t->nodes[at].border);
  em_str_put(out, ",\"left\":");
  t->nodes[at].child[0] = make_branch(t, r, depth - 1, out);
  em_str_put(out, ",\"right\":");
  t->nodes[at].child[1] = make_branch(t, r, depth - 1, out);
  em_str_putc(out, '}');
  return at;
}

#define SCALE (-1.5)
#define BIAS  0.25

static em_model *make_model(random_state *r, bool oblivious, int n_trees, int depth, tree *trees)
{
  em_str out = {0};
  put_features(&out);
  em_str_put(&out, oblivious ? "\"oblivious_trees\":[" : "\"trees\":[");
  for (int i = 0; i < n_trees; i++) {
    if (i) em_str_putc(&out, ',');
    trees[i].n = 0;
    if (oblivious)
      make_oblivious(&trees[i], r, depth, &out);
    else
      make_branch(&trees[i], r, depth, &out);
  }
  em_str_printf(&out, "],\"scale_and_bias\":[%g,[%g]]}", SCALE, BIAS);
  em_model *m = must_parse(out.s);
  em_str_free(&out);
  return m;
}

static void make_row(random_state *r, double *row)
{
  for (int f = 0; f < FEATURES; f++) row[f] = below(r, 10) ? 2 * real(r) : NAN;
}

static const int32_t identity[FEATURES] = {0, 1, 2, 3, 4};

/* ---- Shapley's formula ------------------------------------------------------------------------------- */

static double weight_below(const tree *t, int at)
{
  const node *n = &t->nodes[at];
  return n->child[0] ? weight_below(t, n->child[0]) + weight_below(t, n->child[1]) : n->weight;
}

/* The mean of the tree where only the features of `known` are known. */
static double mean_given(const tree *t, int at, const double *row, unsigned known)
{
  const node *n = &t->nodes[at];
  if (!n->child[0]) return n->value;
  if (known >> n->feature & 1) return mean_given(t, n->child[row[n->feature] > n->border], row, known);
  double a = weight_below(t, n->child[0]), b = weight_below(t, n->child[1]);
  if (a + b == 0) return 0; /* below there are but zeros */
  return (a * mean_given(t, n->child[0], row, known) + b * mean_given(t, n->child[1], row, known)) / (a + b);
}

static double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

static double shapley(const tree *t, const double *row, int feature)
{
  double sum = 0;
  for (unsigned s = 0; s < 1u << FEATURES; s++) {
    if (s >> feature & 1) continue;
    int size = __builtin_popcount(s);
    double gain = mean_given(t, 0, row, s | 1u << feature) - mean_given(t, 0, row, s);
    sum += gain * factorial(size) * factorial(FEATURES - 1 - size) / factorial(FEATURES);
  }
  return sum;
}

static em_explainer *open_explainer(const em_model *m)
{
  em_explainer *e = NULL;
  em_err err;
  if (em_explainer_new(m, &e, &err)) fail_msg("%s", err.msg);
  return e;
}

static void explain_row(em_explainer *e, const double *row, double shap[FEATURES + 1])
{
  em_err err;
  assert_int_equal(em_explain_rows(e, row, 1, FEATURES, identity, 1, shap, &err), EM_OK);
}

static void check_coalitions(bool oblivious, int depth, uint64_t seed)
{
  enum { TREES = 3 };
  static tree trees[TREES];
  random_state r = {seed, 0};
  em_model *m = make_model(&r, oblivious, TREES, depth, trees);
  em_explainer *e = open_explainer(m);
  for (int i = 0; i < 10; i++) {
    double row[FEATURES], shap[FEATURES + 1], expected = 0;
    make_row(&r, row);
    explain_row(e, row, shap);
    for (int f = 0; f < FEATURES; f++) {
      double want = 0;
      for (int t = 0; t < TREES; t++) want += SCALE * shapley(&trees[t], row, f);
      assert_true(fabs(shap[f] - want) < 1e-12);
    }
    for (int t = 0; t < TREES; t++) expected += SCALE * mean_given(&trees[t], 0, row, 0);
    assert_true(fabs(shap[FEATURES] - (expected + BIAS)) < 1e-12);
  }
  em_explainer_free(e);
  em_model_free(m);
}

/* Depth 7 over five features: some are asked about more than once. */
static void values_are_shapley_values(void **state)
{
  (void)state;
  for (int depth = 0; depth <= 7; depth++)
    for (uint64_t seed = 0; seed < 4; seed++) {
      check_coalitions(true, depth, seed);
      check_coalitions(false, depth, 100 + seed);
    }
}

/* ---- worked by hand ------------------------------------------------------------------------------------- */

#define TWO_FEATURES                                                                                                    \
  "\"features_info\":{\"float_features\":["                                                                             \
  "{\"feature_index\":0,\"flat_feature_index\":0,\"has_nans\":false,\"nan_value_treatment\":\"AsIs\",\"borders\":[0]}," \
  "{\"feature_index\":1,\"flat_feature_index\":1,\"has_nans\":false,\"nan_value_treatment\":\"AsIs\",\"borders\":[0]}]}"
#define AND_TREE                                                                                                       \
  "{\"splits\":[{\"split_index\":0},{\"split_index\":1}],\"leaf_values\":[0,0,0,8],\"leaf_weights\":[1,1,1,1]}"
#define SKEWED_TREE                                                                                                    \
  "{\"splits\":[{\"split_index\":0},{\"split_index\":1}],\"leaf_values\":[1,5,2,8],\"leaf_weights\":[4,1,2,1]}"

static void check_hand(const char *tree_text, double x0, double x1, double phi0, double phi1, double expected)
{
  em_str text = {0};
  em_str_printf(&text, "{" TWO_FEATURES ",\"oblivious_trees\":[%s]}", tree_text);
  em_model *m = must_parse(text.s);
  em_explainer *e = open_explainer(m);
  const double row[2] = {x0, x1};
  double shap[3];
  em_err err;
  assert_int_equal(em_explain_rows(e, row, 1, 2, identity, 1, shap, &err), EM_OK);
  assert_true(fabs(shap[0] - phi0) < 1e-14 && fabs(shap[1] - phi1) < 1e-14 && fabs(shap[2] - expected) < 1e-14);
  assert_true(fabs(em_explainer_expected(e) - expected) < 1e-14);
  em_explainer_free(e);
  em_model_free(m);
  em_str_free(&text);
}

/* AND: the mean is 2, one true half knows 4, both 8: of the 6 each has earned 3.  One false half alone costs
 * the mean 2 and the other's true one 4: (2 + 4) / 2; the true half earns (2 + 0) / 2. */
static void and_of_two(void **state)
{
  (void)state;
  check_hand(AND_TREE, 1, 1, 3, 3, 2);
  check_hand(AND_TREE, -1, -1, -1, -1, 2);
  check_hand(AND_TREE, 1, -1, 1, -3, 2);
}

/* Leaves of weights 4, 1 | 2, 1, split 1 first: the means are 9/5 and 4, in all 21/8.
 * Feature 0 above alone: 5 * 5/8 + 8 * 3/8 = 49/8; feature 1 above alone: 4; both: 8. */
static void shares_are_training_weights(void **state)
{
  (void)state;
  check_hand(SKEWED_TREE, 1, 1, (49. / 8 - 21. / 8 + 8 - 4) / 2, (4 - 21. / 8 + 8 - 49. / 8) / 2, 21. / 8);
}

static void importance_of_pairs(void **state)
{
  (void)state;
  em_model *m = must_parse("{" TWO_FEATURES ",\"oblivious_trees\":[" SKEWED_TREE "]}");
  double got[2];
  em_err err;
  assert_int_equal(em_explain_values_change(m, got, &err), EM_OK);
  /* Two values of weights a, b that differ by d: d^2 a b / (a + b). */
  double zero = 16 * 4. / 5 + 36 * 2. / 3, one = 1 * 8. / 6 + 9 * 1. / 2;
  assert_true(fabs(got[0] - 100 * zero / (zero + one)) < 1e-12);
  assert_true(fabs(got[1] - 100 * one / (zero + one)) < 1e-12);
  em_model_free(m);
}

/* A group of the rows that score 8 and 0 where the mean is 2; without a feature the 8 is 5 and the 0 is 1. */
static void loss_without_a_feature(void **state)
{
  (void)state;
  em_model *m = must_parse("{" TWO_FEATURES ",\"oblivious_trees\":[" AND_TREE "]}");
  em_explainer *e = open_explainer(m);
  const double matrix[] = {1, 1, -1, -1, 1, 1};
  const double labels[] = {1, 0, 0};
  const size_t ends[] = {2, 3};
  em_explain_data d = {
    .matrix = matrix, .rows = 3, .stride = 2, .col = identity, .group_end = ends, .n_groups = 2, .labels = labels};
  double importance[2], loss;
  em_err err;
  assert_int_equal(em_explain_loss_change(e, &d, 1, importance, &loss, &err), EM_OK);
  assert_true(fabs(loss - log1p(exp(-8))) < 1e-14);
  for (int f = 0; f < 2; f++) assert_true(fabs(importance[f] - (log1p(exp(-4)) - log1p(exp(-8)))) < 1e-14);
  em_explainer_free(e);
  em_model_free(m);
}

static void bad_groups_are_refused(void **state)
{
  (void)state;
  em_model *m = must_parse("{" TWO_FEATURES ",\"oblivious_trees\":[" AND_TREE "]}");
  em_explainer *e = open_explainer(m);
  const double matrix[] = {1, 1, -1, -1};
  static const struct {
    double labels[2];
    size_t ends[2];
    const char *says;
  } bad[] = {
    {{0, 0}, {1, 2}, "no row has a label"},           {{1, -1}, {1, 2}, "row 1 has label -1"},
    {{1, 0}, {2, 1}, "group 1 ends at row 1"},        {{1, 0}, {1, 3}, "group 1 ends at row 3"},
    {{1, 0}, {1, 1}, "the groups end at row 1 of 2"},
  };
  for (size_t i = 0; i < N_OF(bad); i++) {
    em_explain_data d = {.matrix = matrix,
                         .rows = 2,
                         .stride = 2,
                         .col = identity,
                         .group_end = bad[i].ends,
                         .n_groups = 2,
                         .labels = bad[i].labels};
    double importance[2];
    em_err err;
    assert_int_equal(em_explain_loss_change(e, &d, 1, importance, NULL, &err), EM_E_INPUT);
    assert_non_null(strstr(err.msg, bad[i].says));
  }
  em_explainer_free(e);
  em_model_free(m);
}

/* ---- properties --------------------------------------------------------------------------------------------- */

/* Also where rows fall in leaves that no training row reached, and where those have values (as old files do). */
static void rows_sum_up_to_their_scores(void **state)
{
  (void)state;
  static tree trees[20];
  random_state r = {7, 0};
  for (int i = 0; i < 8; i++) {
    em_model *m = make_model(&r, i % 2 == 0, 20, i, trees);
    em_explainer *e = open_explainer(m);
    for (int k = 0; k < 50; k++) {
      double row[FEATURES], shap[FEATURES + 1], sum = 0;
      make_row(&r, row);
      explain_row(e, row, shap);
      for (int f = 0; f <= FEATURES; f++) sum += shap[f];
      assert_true(fabs(sum - score_one(m, row)) < 1e-12);
    }
    em_explainer_free(e);
    em_model_free(m);
  }
}

static void leaves_without_rows_may_have_values(void **state)
{
  (void)state;
  em_model *m = must_parse("{" TWO_FEATURES
                           ",\"oblivious_trees\":[{\"splits\":[{\"split_index\":0},{\"split_index\":1}],"
                           "\"leaf_values\":[1,2,3,4],\"leaf_weights\":[5,5,0,0]}]}");
  em_explainer *e = open_explainer(m);
  for (int i = 0; i < 4; i++) {
    const double row[2] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1};
    double shap[3];
    em_err err;
    assert_int_equal(em_explain_rows(e, row, 1, 2, identity, 1, shap, &err), EM_OK);
    assert_true(fabs(shap[0] + shap[1] + shap[2] - (1 + i)) < 1e-14);
  }
  em_explainer_free(e);
  em_model_free(m);
}

/* Depth 16 over many features: CatBoost's largest. */
static void deep_trees_sum_up(void **state)
{
  (void)state;
  em_str text = {0};
  em_str_put(&text, "{\"features_info\":{\"float_features\":[");
  for (int f = 0; f < 16; f++)
    em_str_printf(
      &text,
      "%s{\"feature_index\":%d,\"flat_feature_index\":%d,\"has_nans\":false,\"nan_value_treatment\":\"AsIs\","
      "\"borders\":[0]}",
      f ? "," : "", f, f);
  em_str_put(&text, "]},\"oblivious_trees\":[{\"splits\":[");
  for (int d = 0; d < 16; d++) em_str_printf(&text, "%s{\"split_index\":%d}", d ? "," : "", d);
  em_str_put(&text, "],\"leaf_values\":[");
  for (int i = 0; i < 65536; i++) em_str_printf(&text, "%s%d", i ? "," : "", i);
  em_str_put(&text, "],\"leaf_weights\":[");
  for (int i = 0; i < 65536; i++) em_str_printf(&text, "%s1", i ? "," : "");
  em_str_put(&text, "]}]}");
  em_model *m = must_parse(text.s);
  em_explainer *e = open_explainer(m);
  int32_t col[16];
  double row[16], shap[17];
  for (int f = 0; f < 16; f++) {
    col[f] = f;
    row[f] = f % 3 ? 1 : -1;
  }
  em_err err;
  assert_int_equal(em_explain_rows(e, row, 1, 16, col, 1, shap, &err), EM_OK);
  /* The value is the sum of the bits, so each feature has half of its bit, with its sign. */
  for (int f = 0; f < 16; f++) assert_true(fabs(shap[f] - row[f] * (1 << f) / 2) < 1e-9);
  assert_true(fabs(shap[16] - 65535 / 2.) < 1e-9);
  em_explainer_free(e);
  em_model_free(m);
  em_str_free(&text);
}

static void differences_add_up(void **state)
{
  (void)state;
  static tree trees[9];
  random_state r = {11, 0};
  for (int i = 0; i < 6; i++) {
    em_model *m = make_model(&r, i % 2 == 0, 9, 4, trees);
    em_explainer *e = open_explainer(m);
    double a[FEATURES], b[FEATURES], features[FEATURES], by_tree[9], f_sum = 0, t_sum = 0;
    em_err err;
    make_row(&r, a);
    make_row(&r, b);
    assert_int_equal(em_explain_difference(e, a, b, identity, features, by_tree, &err), EM_OK);
    for (int f = 0; f < FEATURES; f++) f_sum += features[f];
    for (int t = 0; t < 9; t++) t_sum += by_tree[t];
    double want = score_one(m, a) - score_one(m, b);
    assert_true(fabs(f_sum - want) < 1e-12 && fabs(t_sum - want) < 1e-12);
    em_explainer_free(e);
    em_model_free(m);
  }
}

/* The step that leaves the path of the other row is the first with another answer, and both paths end in a leaf
 * of the weight and value that the tree has there. */
static void paths_of_other_trees(void **state)
{
  (void)state;
  static tree trees[1];
  random_state r = {23, 0};
  em_model *m = make_model(&r, false, 1, 7, trees);
  for (int i = 0; i < 50; i++) {
    double row[FEATURES];
    em_step steps[EM_MAX_STEPS];
    em_leaf leaf;
    int at = 0;
    make_row(&r, row);
    size_t n = em_model_path(m, 0, row, identity, steps, &leaf);
    for (size_t k = 0; k < n; k++) {
      const node *x = &trees[0].nodes[at];
      assert_int_equal(steps[k].feature, x->feature);
      assert_true(steps[k].border == (float)x->border);
      assert_int_equal(steps[k].above, (float)row[x->feature] > (float)x->border);
      at = x->child[steps[k].above];
    }
    assert_int_equal(trees[0].nodes[at].child[0], 0);
    assert_true(leaf.weight == trees[0].nodes[at].weight && leaf.value == SCALE * trees[0].nodes[at].value);
  }
  em_model_free(m);
}

/* More rows than a block, tables kept from rows before, any number of threads: the same bits. */
static void threads_change_nothing(void **state)
{
  (void)state;
  enum { ROWS = 5000 };
  static tree trees[6];
  static double matrix[ROWS * FEATURES], one[ROWS * (FEATURES + 1)], many[ROWS * (FEATURES + 1)];
  random_state r = {3, 0};
  for (int i = 0; i < ROWS; i++) make_row(&r, matrix + i * FEATURES);
  for (int kind = 0; kind < 2; kind++) {
    em_model *m = make_model(&r, kind == 0, 6, 6, trees);
    em_err err;
    em_explainer *a = open_explainer(m), *b = open_explainer(m);
    assert_int_equal(em_explain_rows(a, matrix, ROWS, FEATURES, identity, 1, one, &err), EM_OK);
    explain_row(b, matrix + 77 * FEATURES, many);
    assert_int_equal(em_explain_rows(b, matrix, ROWS, FEATURES, identity, 4, many, &err), EM_OK);
    assert_memory_equal(one, many, sizeof one);
    em_explainer_free(a);
    em_explainer_free(b);
    em_model_free(m);
  }
}

/* ---- what may fail ---------------------------------------------------------------------------------------------- */

static int everything(const em_model *m, em_err *err)
{
  const double matrix[2 * FEATURES] = {-2, 2, 0.5, 0, NAN, 1, 1, -1, -1, 2}, labels[2] = {1, 0};
  const size_t ends[1] = {2};
  em_explain_data d = {.matrix = matrix,
                       .rows = 2,
                       .stride = FEATURES,
                       .col = identity,
                       .group_end = ends,
                       .n_groups = 1,
                       .labels = labels};
  double features[FEATURES];
  em_explainer *e;
  if (em_explainer_new(m, &e, err)) return err->code;
  int rc = em_explain_difference(e, matrix, matrix + FEATURES, identity, features, NULL, err);
  if (rc == EM_OK) rc = em_explain_loss_change(e, &d, 1, features, NULL, err);
  if (rc == EM_OK) rc = em_explain_values_change(m, features, err);
  em_explainer_free(e);
  return rc;
}

static void memory_may_fail(void **state)
{
  (void)state;
  static tree trees[3];
  random_state r = {5, 0};
  em_err err;
  for (int kind = 0; kind < 2; kind++) {
    em_model *m = make_model(&r, kind == 0, 3, 3, trees);
    ASSERT_SURVIVES_NOMEM(everything(m, &err), (void)0);
    em_model_free(m);
  }
}

static void bad_weights_are_refused(void **state)
{
  (void)state;
  static const char *const bad[] = {"[1,-1]", "[1.7e308,1.7e308]"};
  for (size_t i = 0; i < N_OF(bad); i++) {
    em_str text = {0};
    em_str_printf(&text,
                  "{" TWO_FEATURES ",\"oblivious_trees\":[{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1,2],"
                  "\"leaf_weights\":%s}]}",
                  bad[i]);
    em_model *m = must_parse(text.s);
    em_explainer *e;
    em_err err;
    assert_int_equal(em_explainer_new(m, &e, &err), EM_E_INPUT);
    assert_non_null(strstr(err.msg, "negative or add up to infinity"));
    em_model_free(m);
    em_str_free(&text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_are_shapley_values),
    cmocka_unit_test(and_of_two),
    cmocka_unit_test(shares_are_training_weights),
    cmocka_unit_test(importance_of_pairs),
    cmocka_unit_test(loss_without_a_feature),
    cmocka_unit_test(bad_groups_are_refused),
    cmocka_unit_test(rows_sum_up_to_their_scores),
    cmocka_unit_test(leaves_without_rows_may_have_values),
    cmocka_unit_test(deep_trees_sum_up),
    cmocka_unit_test(differences_add_up),
    cmocka_unit_test(paths_of_other_trees),
    cmocka_unit_test(threads_change_nothing),
    cmocka_unit_test(memory_may_fail),
    cmocka_unit_test(bad_weights_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
