/* test_fit_input.c - odd input and other orders of the same input, for every objective and kind of label. */
#include "tests/unit/unit.h"

#include "tests/unit/fit_pools.h"

enum { OBJECTIVES = 3 };

/* Latencies by a hidden rule; the fastest is the recorded row. */
static double *make_latencies(pools *p)
{
  double *all = calloc(p->n * p->rows, sizeof *all);
  for (size_t g = 0; g < p->n; g++) {
    double *us = all + g * p->rows;
    for (size_t r = 0; r < p->rows; r++) us[r] = r == p->positives[g] ? 4 : 5 + 5 * em_rng_f64(3, g, r);
    p->groups[g].latency = us;
  }
  return all;
}

static em_prior *fitted(const em_fit_group *groups, size_t n, const em_fit_params *q)
{
  em_prior *prior;
  em_err err;
  if (em_fit_train(groups, n, q, NULL, NULL, &prior, &err) != EM_OK) fail_msg("%s", err.msg);
  return prior;
}

static int in_sample(const em_prior *p, const char *member)
{
  const cJSON *fit = cJSON_GetObjectItemCaseSensitive(em_prior_provenance(p), "fit");
  const cJSON *x = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(fit, "groups"), member);
  assert_non_null(x);
  return x->valueint;
}

/* ---- little to learn from ------------------------------------------------------------------ */

static void one_pool_is_enough(void **state)
{
  (void)state;
  for (int64_t objective = 0; objective < OBJECTIVES; objective++)
    for (int graded = 0; graded < 2; graded++) {
      pools p = make_pools(1, 30);
      double *us = graded ? make_latencies(&p) : NULL, quality[30];
      em_fit_params q = quick_params();
      em_err err;
      q.objective = objective;
      q.iterations = 60;
      q.depth = 5;
      q.bootstrap = EM_BOOTSTRAP_NONE;
      em_prior *prior = fitted(p.groups, 1, &q);
      assert_int_equal(em_prior_score(prior, &pool_columns, p.matrix, 30, 1, quality, &err), EM_OK);
      assert_int_equal(em_rank_of(quality, 30, p.positives, 1).against, 0);
      em_prior_free(prior);
      free(us);
      free_pools(&p);
    }
}

/* Where every row is as fast as every other there is nothing to tell apart: no score differs. */
static void equal_latencies_teach_nothing(void **state)
{
  (void)state;
  for (int64_t objective = 0; objective < OBJECTIVES; objective++) {
    pools p = make_pools(6, 20);
    double same[20], quality[20];
    em_fit_params q = quick_params();
    em_err err;
    q.objective = objective;
    for (size_t r = 0; r < 20; r++) same[r] = 7.25;
    for (size_t g = 0; g < p.n; g++) {
      p.groups[g].latency = same;
      p.positives[g] = 0;
    }
    em_prior *prior = fitted(p.groups, p.n, &q);
    assert_int_equal(em_prior_score(prior, &pool_columns, p.matrix, 20, 1, quality, &err), EM_OK);
    for (size_t r = 0; r < 20; r++) assert_true(fabs(quality[r]) < 1e-9);
    em_prior_free(prior);
    free_pools(&p);
  }
}

/* Latencies that differ by many orders of magnitude leave the slow rows nothing, which is no failure. */
static void latencies_of_all_magnitudes(void **state)
{
  (void)state;
  for (int64_t objective = 0; objective < OBJECTIVES; objective++) {
    pools p = make_pools(6, 20);
    double us[20], quality[20];
    em_fit_params q = quick_params();
    em_err err;
    q.objective = objective;
    q.label_temperature = 0.001;
    for (size_t r = 0; r < 20; r++) us[r] = pow(10, 15.0 * (double)r - 140);
    for (size_t g = 0; g < p.n; g++) {
      p.groups[g].latency = us;
      p.positives[g] = 0;
    }
    em_prior *prior = fitted(p.groups, p.n, &q);
    assert_int_equal(em_prior_score(prior, &pool_columns, p.matrix, 20, 1, quality, &err), EM_OK);
    for (size_t r = 0; r < 20; r++) assert_true(isfinite(quality[r]));
    em_prior_free(prior);
    free_pools(&p);
  }
}

static void a_measured_pool_of_one_row_is_left_out(void **state)
{
  (void)state;
  pools p = make_pools(4, 20);
  const double us = 3;
  em_fit_params q = quick_params();
  p.groups[2].latency = &us;
  p.groups[2].rows = p.groups[2].total = 1;
  p.positives[2] = 0;
  em_prior *prior = fitted(p.groups, p.n, &q);
  assert_int_equal(in_sample(prior, "total"), 4);
  assert_int_equal(in_sample(prior, "without_negatives"), 1);
  em_prior_free(prior);
  free_pools(&p);
}

/* ---- the same input in another order --------------------------------------------------------- */

static void turn_pools(pools *p)
{
  for (size_t i = 0; i < p->n / 2; i++) {
    em_fit_group t = p->groups[i];
    p->groups[i] = p->groups[p->n - 1 - i];
    p->groups[p->n - 1 - i] = t;
  }
}

static void turn_rows(pools *p, double *latencies)
{
  size_t cols = pool_columns.n;
  for (size_t g = 0; g < p->n; g++) {
    double *m = p->matrix + g * p->rows * cols, t[8], *us = latencies + g * p->rows;
    for (size_t r = 0, s = p->rows - 1; r < s; r++, s--) {
      memcpy(t, m + r * cols, sizeof t);
      memcpy(m + r * cols, m + s * cols, sizeof t);
      memcpy(m + s * cols, t, sizeof t);
      double x = us[r];
      us[r] = us[s];
      us[s] = x;
    }
    p->positives[g] = (uint32_t)p->rows - 1 - p->positives[g];
  }
}

/* The digest of the artifact with graded labels: of pools as they come, turned round, with rows turned round.  Of
 * YetiRank the rows stay: its orders are drawn row by row. */
static void no_order_of_pools_or_rows_matters(void **state)
{
  (void)state;
  for (int64_t objective = 0; objective < OBJECTIVES; objective++) {
    pools p = make_pools(15, 20);
    double *us = make_latencies(&p);
    em_fit_params q = quick_params();
    char first[64];
    q.objective = objective;
    q.negatives = 0;
    q.random_strength = 1;
    q.rsm = 0.7;
    q.bootstrap = EM_BOOTSTRAP_BAYESIAN;
    em_prior *prior = fitted(p.groups, p.n, &q);
    snprintf(first, sizeof first, "%s", em_prior_digest(prior));
    em_prior_free(prior);
    turn_pools(&p);
    prior = fitted(p.groups, p.n, &q);
    assert_string_equal(em_prior_digest(prior), first);
    em_prior_free(prior);
    if (objective != EM_OBJECTIVE_YETI) {
      turn_rows(&p, us);
      prior = fitted(p.groups, p.n, &q);
      assert_string_equal(em_prior_digest(prior), first);
      em_prior_free(prior);
    }
    free(us);
    free_pools(&p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_pool_is_enough),
    cmocka_unit_test(equal_latencies_teach_nothing),
    cmocka_unit_test(latencies_of_all_magnitudes),
    cmocka_unit_test(a_measured_pool_of_one_row_is_left_out),
    cmocka_unit_test(no_order_of_pools_or_rows_matters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
