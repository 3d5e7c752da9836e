/* test_reports.c - what users of CatBoost reported of models like ours, where no other test states it; the whole list,
 * with all tests, is in tests/conformance/README.md. */
#include "tests/unit/unit.h"

#include <pthread.h>

#include "tests/unit/fit_pools.h"
#include "tests/unit/prior_models.h"

static const int32_t identity[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* ---- values ---------------------------------------------------------------------------- */

#define FEATURE(borders, treatment)                                                                                    \
  "{\"borders\":[" borders "],\"has_nans\":true,\"nan_value_treatment\":\"" treatment "\"}"

/* Two features of each treatment, all four asked by one tree: the leaf number says who went right. */
static void missing_scores_as_an_infinity(void **state)
{
  (void)state;
  em_model *m = must_parse(
    "{\"features_info\":{\"float_features\":[" FEATURE("0", "AsTrue") "," FEATURE("3.40282347e+38", "AsTrue") "," FEATURE(
      "0", "AsFalse") "," FEATURE("-3.40282347e+38",
                                  "AsFalse") "]},\"oblivious_trees\":[{\"splits\":[{\"split_index\":0},"
                                             "{\"split_index\":1},{\"split_index\":2},{\"split_index\":3}],"
                                             "\"leaf_values\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}]}");
  const double missing[] = {NAN, NAN, NAN, NAN}, ends[] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
  assert_true(score_one(m, missing) == 3 && score_one(m, ends) == 3);
  for (int i = 0; i < 16; i++) {
    double a[4], b[4];
    for (int f = 0; f < 4; f++) {
      a[f] = i >> f & 1 ? NAN : 1;
      b[f] = i >> f & 1 ? ends[f] : 1;
    }
    assert_true(score_one(m, a) == score_one(m, b));
  }
  em_model_free(m);
}

/* One border; values just below, at and above it, as floats and as doubles that a float cannot hold. */
static void extremes_denormals_and_zeros(void **state)
{
  (void)state;
  static const struct {
    const char *border;
    double value;
    bool right;
  } cases[] = {
    {"0", -0.0, false},
    {"0", 0.0, false},
    {"0", 1e-45, true},  /* the least float above 0 */
    {"0", 1e-46, false}, /* as a float it is 0 */
    {"0", -1e-45, false},
    {"-0.0", 0.0, false},
    {"-0.0", 1e-45, true},
    {"1e-45", 1e-45, false},
    {"1e-45", 3e-45, true},
    {"-1e-45", -0.0, true},
    {"1.17549435e-38", 1.17549421e-38, false}, /* normal border, denormal value */
    {"3.40282347e+38", 3.4028234663852886e38, false},
    {"3.40282347e+38", INFINITY, true},
    {"3.40282347e+38", 1e300, true},
    {"3.40282326e+38", 3.4028234663852886e38, true},
    {"-3.40282347e+38", -INFINITY, false},
    {"-3.40282347e+38", -1e300, false},
    {"-3.40282347e+38", -3.4028234663852886e38, false},
    {"-3.40282347e+38", -3.40282326e38, true},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    char text[512];
    snprintf(text, sizeof text,
             "{\"features_info\":{\"float_features\":[{\"borders\":[%s]}]},\"oblivious_trees\":[{\"splits\":"
             "[{\"split_index\":0}],\"leaf_values\":[0,1]}]}",
             cases[i].border);
    em_model *m = must_parse(text);
    double rows[20], quality[20];
    em_err err;
    for (int r = 0; r < 20; r++) rows[r] = cases[i].value; /* twenty rows take another way than one */
    assert_int_equal(em_model_score(m, rows, 20, 1, identity, 1, quality, &err), EM_OK);
    if ((score_one(m, rows) == 1) != cases[i].right || (quality[19] == 1) != cases[i].right)
      fail_msg("%g and the border %s", cases[i].value, cases[i].border);
    em_model_free(m);
  }
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Any float, but for those that are no numbers. */
static float any_float(uint64_t i)
{
  for (uint64_t k = 0;; k++) {
    uint32_t bits = (uint32_t)em_rng_u64(17, i, k);
    float x;
    memcpy(&x, &bits, sizeof x);
    if (isfinite(x)) return x;
  }
}

static void check_border(const char *text, float border)
{
  em_model *m = must_parse(text);
  size_t n;
  const float *b = em_model_borders(m, 0, &n);
  double below = (double)nextafterf(border, -INFINITY), above = (double)nextafterf(border, INFINITY);
  double at = (double)border;
  assert_true(n == 1 && *b == border);
  assert_true(score_one(m, &below) == 0 && score_one(m, &at) == 0 && score_one(m, &above) == 1);
  em_model_free(m);
}

/* Borders come back to the bit from nine digits, as CatBoost writes them now, from seventeen, as it did, and from our own
 * text; and so do the sides of what lies next to them. */
static void borders_come_back_from_text(void **state)
{
  (void)state;
  for (uint64_t i = 0; i < 2000; i++) {
    const float border = any_float(i);
    for (int digits = 9; digits <= 17; digits += 8) {
      char text[256];
      em_str ours = {0};
      snprintf(text, sizeof text,
               "{\"features_info\":{\"float_features\":[{\"borders\":[%.*g]}]},\"oblivious_trees\":[{\"splits\":"
               "[{\"split_index\":0}],\"leaf_values\":[0,1]}]}",
               digits, (double)border);
      check_border(text, border);
      em_model *m = must_parse(text);
      em_model_print(m, &ours);
      check_border(ours.s, border);
      em_model_free(m);
      em_str_free(&ours);
    }
  }
}

#define BODY                                                                                                           \
  "\"features_info\":{\"float_features\":[{\"borders\":[0.5]}]},\"oblivious_trees\":[{\"splits\":[{\"split_index\":0}],\"leaf_values\":[1,2]}]"

static void model_info_says_nothing_of_scores(void **state)
{
  (void)state;
  static const char *const same[] = {
    "{" BODY "}",
    "{\"model_info\":{}," BODY "}",
    "{\"model_info\":{\"params\":{}}," BODY "}",
    "{\"model_info\":{\"params\":\"\"}," BODY "}",
    "{\"model_info\":{\"params\":{\"loss_function\":{}},\"class_params\":{},\"train_finish_time\":\"\"}," BODY "}",
  };
  for (size_t i = 0; i < N_OF(same); i++) {
    em_model *m = must_parse(same[i]);
    em_str text = {0};
    em_model_print(m, &text);
    em_model *again = must_parse(text.s);
    assert_true(score_one(again, (double[]){0}) == 1 && score_one(again, (double[]){1}) == 2);
    em_str_free(&text);
    em_model_free(m);
    em_model_free(again);
  }
}

/* A file that ends early is no model, wherever it ends. */
static void no_beginning_of_a_model_is_one(void **state)
{
  (void)state;
  const char whole[] = "{" BODY ",\"scale_and_bias\":[1,[0]]}";
  for (size_t len = 0; len + 1 < sizeof whole; len++) {
    char part[sizeof whole] = {0};
    em_err err;
    em_model *m;
    int64_t live = em_alloc_live();
    memcpy(part, whole, len);
    if (try_parse(part, &m, &err) != EM_E_INPUT) fail_msg("the first %zu bytes were taken for a model", len);
    assert_int_equal(em_alloc_live(), live);
  }
  em_model_free(must_parse(whole));
}

/* ---- many threads ------------------------------------------------------------------------------ */

enum { SHARED_ROWS = 300, SHARING = 8 };

typedef struct share {
  const em_model *m;
  const double *matrix, *want;
  bool same;
} share;

/* Alone, few and many rows: each path. */
static void *score_again(void *ctx)
{
  share *s = ctx;
  double quality[SHARED_ROWS];
  em_err err;
  static const size_t sizes[] = {1, 7, SHARED_ROWS};
  s->same = true;
  for (int round = 0; round < 30; round++) {
    size_t n = sizes[round % 3], from = n == SHARED_ROWS ? 0 : (size_t)round;
    s->same = s->same && em_model_score(s->m, s->matrix + from * 8, n, 8, identity, 1, quality, &err) == EM_OK &&
              memcmp(quality, s->want + from, n * sizeof *quality) == 0;
  }
  return NULL;
}

static void threads_share_a_model(void **state)
{
  (void)state;
  pools p = make_pools(12, 25);
  em_fit_params q = quick_params();
  em_prior *prior;
  em_err err;
  double want[SHARED_ROWS];
  share all[SHARING];
  pthread_t threads[SHARING];
  q.features = "D_*,H_cc,S_ext_n_symbolic_axis";
  assert_int_equal(em_fit_train(p.groups, p.n, &q, NULL, NULL, &prior, &err), EM_OK);
  const em_model *m = em_prior_model(prior);
  assert_int_equal(em_model_n_features(m), 8);
  assert_int_equal(em_model_score(m, p.matrix, SHARED_ROWS, 8, identity, 1, want, &err), EM_OK);
  for (int i = 0; i < SHARING; i++) {
    all[i] = (share){m, p.matrix, want, false};
    assert_int_equal(pthread_create(&threads[i], NULL, score_again, &all[i]), 0);
  }
  for (int i = 0; i < SHARING; i++) {
    pthread_join(threads[i], NULL);
    assert_true(all[i].same);
  }
  em_prior_free(prior);
  free_pools(&p);
}

/* ---- fits ------------------------------------------------------------------------------------------ */

/* A fit reads columns by name: their places in the matrix do not matter. */
static void the_order_of_columns_changes_nothing(void **state)
{
  (void)state;
  pools p = make_pools(25, 40);
  em_fit_params q = quick_params();
  em_fit_result a, b;
  em_err err;
  q.folds = 3;
  q.random_strength = 1;
  q.rsm = 0.7;
  assert_int_equal(em_fit_run(p.groups, p.n, &q, NULL, NULL, &a, &err), EM_OK);
  char *names[8];
  for (size_t c = 0; c < 8; c++) names[c] = pool_names[7 - c];
  const em_columns turned = {names, 8};
  for (size_t r = 0; r < p.n * p.rows; r++)
    for (size_t c = 0; c < 4; c++) {
      double *x = p.matrix + 8 * r, t = x[c];
      x[c] = x[7 - c];
      x[7 - c] = t;
    }
  for (size_t g = 0; g < p.n; g++) p.groups[g].cols = &turned;
  assert_int_equal(em_fit_run(p.groups, p.n, &q, NULL, NULL, &b, &err), EM_OK);
  assert_string_equal(em_prior_digest(a.prior), em_prior_digest(b.prior));
  assert_string_equal(a.metrics, b.metrics);
  em_fit_result_free(&a);
  em_fit_result_free(&b);
  free_pools(&p);
}

static void check_sums(const em_model *m, const double *matrix, size_t rows)
{
  em_explainer *e;
  em_err err;
  double shap[9], quality;
  assert_int_equal(em_explainer_new(m, &e, &err), EM_OK);
  for (size_t r = 0; r < rows; r++) {
    double sum = 0;
    assert_int_equal(em_explain_rows(e, matrix + 8 * r, 1, 8, identity, 1, shap, &err), EM_OK);
    for (size_t f = 0; f <= 8; f++) sum += shap[f];
    assert_int_equal(em_model_score(m, matrix + 8 * r, 1, 8, identity, 1, &quality, &err), EM_OK);
    assert_true(fabs(sum - quality) < 1e-12);
  }
  em_explainer_free(e);
}

/* SHAP values of each objective's priors add up to the score: as fitted, read back, and with a scale and a bias. */
static void values_of_ranking_models_add_up(void **state)
{
  (void)state;
  for (int64_t objective = 0; objective < 3; objective++) {
    pools p = make_pools(15, 30);
    em_fit_params q = quick_params();
    em_prior *prior;
    em_err err;
    em_str text = {0};
    q.objective = objective;
    q.depth = 6;
    q.features = "D_*,H_cc,S_ext_n_symbolic_axis";
    assert_int_equal(em_fit_train(p.groups, p.n, &q, NULL, NULL, &prior, &err), EM_OK);
    check_sums(em_prior_model(prior), p.matrix, 100);
    em_model_print(em_prior_model(prior), &text);
    em_model *again = must_parse(text.s);
    check_sums(again, p.matrix, 100);
    const char written[] = "\"scale_and_bias\": [1, [0]]", instead[] = "\"scale_and_bias\": [-3,[7]]";
    char *scale = strstr(text.s, written);
    assert_non_null(scale);
    memcpy(scale, instead, sizeof instead - 1);
    em_model *scaled = must_parse(text.s);
    double plain, other;
    assert_int_equal(em_model_score(again, p.matrix, 1, 8, identity, 1, &plain, &err), EM_OK);
    assert_int_equal(em_model_score(scaled, p.matrix, 1, 8, identity, 1, &other, &err), EM_OK);
    assert_true(fabs(other - (7 - 3 * plain)) < 1e-12);
    check_sums(scaled, p.matrix, 100);
    em_model_free(again);
    em_model_free(scaled);
    em_str_free(&text);
    em_prior_free(prior);
    free_pools(&p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(missing_scores_as_an_infinity),        cmocka_unit_test(extremes_denormals_and_zeros),
    cmocka_unit_test(borders_come_back_from_text),          cmocka_unit_test(model_info_says_nothing_of_scores),
    cmocka_unit_test(no_beginning_of_a_model_is_one),       cmocka_unit_test(threads_share_a_model),
    cmocka_unit_test(the_order_of_columns_changes_nothing), cmocka_unit_test(values_of_ranking_models_add_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
