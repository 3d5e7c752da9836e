/* test_fit_repeats.c - repeated cross-validation and early stopping. */
#include "tests/unit/unit.h"

#include "tests/unit/fit_pools.h"

static cJSON *metrics_of(const pools *p, const em_fit_params *q)
{
  em_err err = {0};
  em_fit_result r;
  cJSON *m;
  if (em_fit_run(p->groups, p->n, q, NULL, NULL, &r, &err) != EM_OK) fail_msg("%s", err.msg);
  assert_int_equal(em_json_parse(r.metrics, strlen(r.metrics), "metrics", &m, &err), EM_OK);
  em_fit_result_free(&r);
  return m;
}

static const cJSON *at(const cJSON *o, const char *key)
{
  const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
  assert_non_null(v);
  return v;
}

/* The ranks of seed k in a run of three are those of a run of its own with that seed: same folds, paired by pool. */
static void each_repeat_is_a_run_with_its_seed(void **state)
{
  (void)state;
  pools p = make_pools(21, 40);
  em_fit_params q = quick_params();
  const cJSON *pool, *all;
  q.folds = 3;
  q.negatives = 20;
  q.seed = 5;
  q.repeats = 3;
  cJSON *three = metrics_of(&p, &q);
  all = cJSON_GetArrayItem(at(at(three, "cv"), "repeated"), 2); /* two cards, then all */
  double log2_sum = 0;
  q.repeats = 1;
  for (int k = 0; k < 3; k++) {
    q.seed = 5 + k;
    cJSON *one = metrics_of(&p, &q);
    const cJSON *held = at(at(one, "cv"), "holdout_per_golden");
    assert_int_equal(cJSON_GetArraySize(held), 21);
    cJSON_ArrayForEach(pool, held)
    {
      const cJSON *entry = at(at(at(three, "cv"), "holdout_per_golden"), pool->string);
      assert_int_equal(cJSON_GetArrayItem(at(entry, "ranks"), k)->valueint, at(pool, "rank")->valueint);
      assert_int_equal(at(entry, "fold")->valueint, at(pool, "fold")->valueint);
      log2_sum += log2(1 + at(pool, "rank")->valuedouble) / 21;
    }
    const cJSON *seed = cJSON_GetArrayItem(at(all, "per_seed"), k);
    const cJSON *summary = cJSON_GetArrayItem(at(at(one, "cv"), "summaries"), 2);
    assert_int_equal(at(seed, "seed")->valueint, 5 + k);
    assert_true(at(at(seed, "rank"), "mean_log2")->valuedouble ==
                at(at(at(summary, "metrics"), "rank"), "mean_log2")->valuedouble);
    assert_null(cJSON_GetObjectItem(at(one, "cv"), "repeated"));
    em_json_free(one);
  }
  assert_true(fabs(at(at(all, "mean"), "mean_log2")->valuedouble - log2_sum / 3) < 1e-5);
  em_json_free(three);
  free_pools(&p);
}

/* Two pools in which nothing varies but one row: a seed that does not draw it cannot hold the other pool out. */
static void a_seed_that_holds_nothing_out_counts_for_nothing(void **state)
{
  (void)state;
  pools p = make_pools(2, 40);
  em_fit_params q = quick_params();
  for (size_t i = 0; i < 2 * 40 * N_OF(pool_names); i++) p.matrix[i] = i % (40 * N_OF(pool_names)) == 60;
  p.positives[0] = p.positives[1] = 0;
  q.folds = 2;
  q.negatives = 20;
  q.repeats = 6;
  cJSON *six = metrics_of(&p, &q);
  const cJSON *pool, *rank;
  size_t excluded = 0, held_out = 0;
  cJSON_ArrayForEach(pool, at(at(six, "cv"), "holdout_per_golden"))
  {
    double sum = 0, n = 0;
    q.repeats = 1;
    q.seed = 0;
    cJSON_ArrayForEach(rank, at(pool, "ranks"))
    {
      cJSON *one = metrics_of(&p, &q);
      const cJSON *same = cJSON_GetObjectItemCaseSensitive(at(at(one, "cv"), "holdout_per_golden"), pool->string);
      assert_true(same ? rank->valuedouble == at(same, "rank")->valuedouble : cJSON_IsNull(rank));
      if (same) sum += log2(1 + rank->valuedouble);
      n += same != NULL;
      excluded += same == NULL;
      held_out += same != NULL;
      em_json_free(one);
      q.seed++;
    }
    assert_true(fabs(at(pool, "mean_log2")->valuedouble - sum / n) < 1e-4);
  }
  assert_true(excluded > 0 && held_out > 0);
  const cJSON *all = cJSON_GetArrayItem(at(at(six, "cv"), "repeated"), 2);
  assert_true(at(at(all, "mean"), "median")->valuedouble > 0);
  em_json_free(six);
  free_pools(&p);
}

static void patience(void **state)
{
  (void)state;
  const double loss[] = {9, 8, 7, 7.5, 7.2, 6, 6.5, 6.4, 6.3, 5};
  assert_int_equal(em_fit_stop_at(loss, 9, 1), 2);
  assert_int_equal(em_fit_stop_at(loss, 9, 2), 2);
  assert_int_equal(em_fit_stop_at(loss, 9, 3), 5);
  assert_int_equal(em_fit_stop_at(loss, 9, 4), 9);
  assert_int_equal(em_fit_stop_at((double[]){1, 2, 3}, 2, 5), 1);
}

/* The loss on the training rows themselves, tree by tree, is what training saw. */
static void curve_of_the_training_rows(void **state)
{
  (void)state;
  pools p = make_pools(12, 30);
  em_fit_params q = quick_params();
  em_err err;
  em_columns cols;
  em_fit_set set;
  em_fit_bins bins;
  em_fit_forest forest;
  em_fit_steps steps;
  uint32_t use[12];
  double loss[9] = {0};
  for (uint32_t i = 0; i < 12; i++) use[i] = i;
  em_fit_steps_open(&steps, NULL, 0);
  assert_int_equal(em_fit_columns(p.groups, p.n, q.features, &cols, &err), EM_OK);
  assert_int_equal(em_fit_set_make(p.groups, use, p.n, &q, &set, &err), EM_OK);
  assert_int_equal(em_fit_bins_make(&set, &cols, 254, 1, &bins, &err), EM_OK);
  assert_int_equal(em_fit_boost(&set, &bins, &q, &steps, &forest, &err), EM_OK);
  assert_int_equal(em_fit_add_curve(&forest, &bins, &cols, &set, &q, loss, &err), EM_OK);
  for (size_t t = 0; t <= 8; t++) assert_true(fabs(loss[t] / 12 - forest.loss[t]) < 1e-9);
  em_fit_steps_close(&steps);
  em_fit_forest_free(&forest);
  em_fit_bins_free(&bins);
  em_fit_set_free(&set);
  em_columns_free(&cols);
  free_pools(&p);
}

/* Stopping early gives the fit that was asked for with so many trees, with any number of threads. */
static void stopped_fit_is_a_shorter_fit(void **state)
{
  (void)state;
  pools p = make_pools(21, 40);
  em_fit_params q = quick_params();
  q.folds = 3;
  q.iterations = 60;
  q.learning_rate = 1;
  q.l2_leaf_reg = 0;
  for (q.objective = 0; q.objective < 3; q.objective++) {
    em_fit_params s = q;
    s.early_stopping = 5;
    cJSON *stopped = metrics_of(&p, &s);
    s.threads = 3;
    cJSON *again = metrics_of(&p, &s);
    assert_true(cJSON_Compare(stopped, again, true));
    const cJSON *header = at(stopped, "header"), *trees = at(at(header, "trainer_params"), "iterations");
    assert_int_equal(at(at(header, "early_stopping"), "asked")->valueint, 60);
    assert_true(trees->valueint >= 1 && trees->valueint < 60);
    s = q;
    s.iterations = trees->valueint;
    cJSON *shorter = metrics_of(&p, &s);
    assert_true(cJSON_Compare(at(stopped, "cv"), at(shorter, "cv"), true));
    em_json_free(stopped);
    em_json_free(again);
    em_json_free(shorter);
  }
  free_pools(&p);
}

static void stopping_needs_folds(void **state)
{
  (void)state;
  em_fit_params q = quick_params();
  em_err err;
  q.early_stopping = 5;
  assert_int_equal(em_fit_check(&q, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "no pool is held out"));
}

static void no_memory(void **state)
{
  (void)state;
  pools p = make_pools(6, 12);
  em_err err;
  em_fit_result r;
  em_fit_params q = quick_params();
  q.iterations = 2;
  q.folds = 2;
  q.repeats = 2;
  q.early_stopping = 1;
  ASSERT_SURVIVES_NOMEM(em_fit_run(p.groups, p.n, &q, NULL, NULL, &r, &err), em_fit_result_free(&r));
  free_pools(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_repeat_is_a_run_with_its_seed),
    cmocka_unit_test(a_seed_that_holds_nothing_out_counts_for_nothing),
    cmocka_unit_test(patience),
    cmocka_unit_test(curve_of_the_training_rows),
    cmocka_unit_test(stopped_fit_is_a_shorter_fit),
    cmocka_unit_test(stopping_needs_folds),
    cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
