/* test_fit_parts.c - the fit's arithmetic, parameters, folds, summaries and borders. */
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>

#include "core/fit/fit_int.h"

static double ulps(double a, double b) { return fabs(a - b) / (nextafter(fabs(b), INFINITY) - fabs(b)); }

static void exp_and_log_are_close_to_the_true_ones(void **state)
{
  (void)state;
  assert_true(em_fit_exp(0) == 1.0 && em_fit_log(1) == 0.0);
  for (int i = 0; i < 20000; i++) {
    double x = (em_rng_f64(1, 0, (uint64_t)i) - 0.5) * (i % 2 ? 4 : 1390);
    assert_true(ulps(em_fit_exp(x), exp(x)) <= 2);
    double y = exp(x / 3);
    assert_true(ulps(em_fit_log(y), log(y)) <= 2);
  }
  assert_true(em_fit_exp(1e9) == em_fit_exp(700) && em_fit_exp(-1e9) == em_fit_exp(-700));
}

static void parameters_check_their_ranges(void **state)
{
  (void)state;
  em_fit_params p;
  em_err err;
  em_fit_defaults(&p);
  assert_int_equal(em_fit_check(&p, &err), EM_OK);
  for (size_t i = 0; i < em_n_fit_params(); i++) {
    const em_fit_param *d = em_fit_param_at(i);
    char text[EM_FIT_TEXT_LEN];
    assert_ptr_equal(em_fit_param_find(d->name), d);
    assert_true(d->dflt >= d->lo && d->dflt <= d->hi);
    em_fit_params q = p;
    assert_int_equal(em_fit_param_set(d, &q, em_fit_param_text(d, &p, text), &err), EM_OK);
    assert_true(em_fit_param_get(d, &q) == d->dflt);
    assert_int_equal(em_fit_param_set(d, &q, "-1e99", &err), EM_E_INPUT);
    assert_non_null(strstr(err.msg, d->name));
  }
}

static void out_of_range_is_told_with_the_range(void **state)
{
  (void)state;
  em_fit_params p;
  em_err err;
  em_fit_defaults(&p);
  p.depth = 17;
  assert_int_equal(em_fit_check(&p, &err), EM_E_INPUT);
  assert_string_equal(err.msg, "depth 17: expected an integer from 1 to 10");
  p.depth = 6;
  p.learning_rate = NAN;
  assert_int_equal(em_fit_check(&p, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "learning-rate nan: expected a number from 0.0001 to 1.0"));
  p.learning_rate = 0.1;
  p.folds = 1;
  assert_int_equal(em_fit_check(&p, &err), EM_E_INPUT);
  const em_fit_param *d = em_fit_param_find("score");
  assert_int_equal(em_fit_param_set(d, &p, "l2", &err), EM_OK);
  assert_int_equal(p.score, EM_SCORE_L2);
  assert_int_equal(em_fit_param_set(d, &p, "l", &err), EM_E_INPUT);
  assert_string_equal(err.msg, "score l: expected one of cosine,l2");
}

/* Worked by hand: A has 3 pools, B and C 2, D 1; A -> 0, B -> 1 (0 < 3), C -> 1 (2 < 3), D -> 0 (3 < 4). */
static void folds_take_whole_shapes_or_cards_largest_first(void **state)
{
  (void)state;
  const char *shapes[] = {"D", "C", "B", "A", "A", "B", "C", "A"};
  const uint32_t expected[] = {0, 1, 1, 0, 0, 1, 1, 0};
  em_fit_group groups[N_OF(shapes)] = {{0}};
  uint32_t fold[N_OF(shapes)];
  em_err err;
  for (size_t i = 0; i < N_OF(shapes); i++) groups[i] = (em_fit_group){.shape = shapes[i], .gpu = "one card"};
  assert_int_equal(em_fit_folds(groups, N_OF(shapes), EM_HOLD_OUT_SHAPES, 2, fold, &err), EM_OK);
  assert_memory_equal(fold, expected, sizeof expected);
  for (size_t i = 0; i < N_OF(shapes); i++) groups[i] = (em_fit_group){.shape = "one shape", .gpu = shapes[i]};
  assert_int_equal(em_fit_folds(groups, N_OF(shapes), EM_HOLD_OUT_CARDS, 2, fold, &err), EM_OK);
  assert_memory_equal(fold, expected, sizeof expected);
}

static void summaries_by_hand(void **state)
{
  (void)state;
  em_rank ranks[] = {{.against = 7, .optimistic = 4}, {.against = 0}, {.against = 3, .optimistic = 3}, {.against = 1}};
  em_rank_summary s;
  em_err err;
  assert_int_equal(em_rank_summarise(ranks, 4, &s, &err), EM_OK);
  assert_int_equal(s.pools, 4);
  assert_true(s.median == 2 && s.median_optimistic == 1.5);
  assert_true(fabs(s.mean_log2 - 1.5) < 1e-12); /* log2 of 1, 2, 4, 8 */
  assert_int_equal(s.top[0], 1);
  assert_int_equal(s.top[1], 3);
  assert_int_equal(s.top[2], 4);
  assert_int_equal(em_rank_summarise(ranks, 0, &s, &err), EM_OK);
  assert_true(isnan(s.median) && isnan(s.mean_log2) && s.top[5] == 0);
}

static void check_borders(const float *values, size_t n, size_t max, const float *expected, size_t n_expected)
{
  uint32_t keys[64], tmp[64];
  float got[EM_FIT_MAX_BORDERS];
  for (size_t i = 0; i < n; i++) keys[i] = em_fit_key(values[n - 1 - i]);
  assert_int_equal(em_fit_borders(keys, tmp, n, max, got), n_expected);
  for (size_t i = 0; i < n_expected; i++) assert_true(got[i] == expected[i]);
}

#define CHECK_BORDERS(max, values, ...)                                                                                \
  do {                                                                                                                 \
    const float want[] = {__VA_ARGS__};                                                                                \
    check_borders(values, N_OF(values), max, want, N_OF(want));                                                        \
  } while (0)

/* Expected values: what CatBoost 1.2's own quantization (GreedyLogSum) saves for these columns. */
static void borders_are_those_of_catboost(void **state)
{
  (void)state;
  const float even[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const float skewed[] = {1, 1, 1, 1, 1, 2, 2, 3, 5, 8, 13, 21, 34};
  const float around[] = {-8, -4, -2, -1, 0, 0, 0, 0, 0, 1, 1, 1, 10, 100, 1000, 10000};
  const float some[] = {0.1f, 0.2f, 0.2f, 0.2f, 0.7f, 0.9f, 1.5f, 2.5f};
  CHECK_BORDERS(3, even, 2.5f, 4.5f, 6.5f);
  CHECK_BORDERS(4, skewed, 1.5f, 2.5f, 4, 10.5f);
  CHECK_BORDERS(8, skewed, 1.5f, 2.5f, 4, 6.5f, 10.5f, 17, 27.5f);
  CHECK_BORDERS(5, around, -3, -0.5f, 0.5f, 5.5f, 550);
  CHECK_BORDERS(3, some, 0.150000006f, 0.4499999881f, 1.200000048f);
}

static void borders_part_neighbours_and_extremes(void **state)
{
  (void)state;
  const float same[] = {3, 3, 3};
  check_borders(same, 3, 254, NULL, 0);
  check_borders(same, 0, 254, NULL, 0);
  const float near[] = {1, nextafterf(1, 2), nextafterf(nextafterf(1, 2), 2)};
  uint32_t keys[3] = {em_fit_key(near[0]), em_fit_key(near[1]), em_fit_key(near[2])}, tmp[3];
  float got[EM_FIT_MAX_BORDERS];
  assert_int_equal(em_fit_borders(keys, tmp, 3, 254, got), 2);
  assert_true(near[1] > got[0] && !(near[0] > got[0]) && near[2] > got[1] && !(near[1] > got[1]));
  const float far[] = {-FLT_MAX, 0, FLT_MAX};
  CHECK_BORDERS(254, far, -FLT_MAX / 2, FLT_MAX / 2);
}

static void metrics_text_is_sorted_and_rounded(void **state)
{
  (void)state;
  cJSON *o;
  char *text;
  em_err err;
  const char *in = "{\"b\":[1.23456789,2,null,true,\"x\\n\"],\"a\":{},\"B\":[]}";
  assert_int_equal(em_json_parse(in, strlen(in), "in", &o, &err), EM_OK);
  assert_int_equal(em_metrics_print(o, &text, &err), EM_OK);
  assert_string_equal(
    text, "{\n \"B\": [],\n \"a\": {},\n \"b\": [\n  1.23457,\n  2,\n  null,\n  true,\n  \"x\\n\"\n ]\n}\n");
  em_free(text);
  em_json_free(o);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(exp_and_log_are_close_to_the_true_ones),
    cmocka_unit_test(parameters_check_their_ranges),
    cmocka_unit_test(out_of_range_is_told_with_the_range),
    cmocka_unit_test(folds_take_whole_shapes_or_cards_largest_first),
    cmocka_unit_test(summaries_by_hand),
    cmocka_unit_test(borders_are_those_of_catboost),
    cmocka_unit_test(borders_part_neighbours_and_extremes),
    cmocka_unit_test(metrics_text_is_sorted_and_rounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
