/* test_fit_regret.c - the order of a prior against latencies: values by hand and from scipy, properties, the metrics file. */
#include "tests/unit/unit.h"

#include "tests/unit/fit_pools.h"

static em_regret regret_of(const double *quality, const double *latency, size_t n)
{
  em_regret r;
  em_err err;
  assert_int_equal(em_regret_of(quality, latency, n, &r, &err), EM_OK);
  return r;
}

/* ---- one pool ------------------------------------------------------------------------- */

/* scipy.stats.spearmanr of these lists (1.17): ties on both sides. */
static void spearman_is_that_of_scipy(void **state)
{
  (void)state;
  em_xy a[] = {{1, 10}, {2, 12}, {2, 11}, {4, 11}, {5, 20}, {5, 19}, {5, 25}, {8, 18}};
  em_xy b[] = {{1, 1}, {1, 2}, {2, 3}}, down[] = {{1, 4}, {2, 3}, {3, 2}, {4, 1}};
  assert_true(fabs(em_spearman(a, 8) - 0.7718402554281193) < 1e-15);
  assert_true(fabs(em_spearman(b, 3) - 0.8660254037844387) < 1e-15);
  assert_true(em_spearman(down, 4) == -1);
  const double quality[] = {0.3, -1.25, 0.3, 2.5, 1.0, -1.25, 0.75, 2.5, 0.3, -3.0};
  const double latency[] = {11.5, 20, 9.25, 7, 8.5, 31, 9.25, 6.5, 14, 20};
  assert_true(fabs(regret_of(quality, latency, 10).spearman - 0.9472780613872165) < 1e-15);
}

/* Two rows share the highest quality: the slower one, 7 us, is what a tie is worth; the best is 6.5 us. */
static void ties_are_never_luck(void **state)
{
  (void)state;
  const double quality[] = {0.5, 2.5, 1.0, 2.5}, latency[] = {20, 7, 8.5, 6.5}, flat[] = {1, 1, 1, 1};
  assert_true(regret_of(quality, latency, 4).at[0] == 7 / 6.5);
  em_regret r = regret_of(flat, latency, 4);
  assert_true(r.at[0] == 20 / 6.5 && isnan(r.spearman) && isnan(r.at[1]));
  assert_true(isnan(regret_of(quality, flat, 4).spearman) && regret_of(quality, flat, 4).at[0] == 1);
}

/* Twelve rows, 1 us to 12 us, quality 12 to 1 but for the fastest, which stands last: of the first ten the best takes 2 us.  At
 * the place of rank 10 three are equal, and the slowest two of them fill it. */
static void the_first_ten(void **state)
{
  (void)state;
  double quality[12], latency[12];
  for (size_t i = 0; i < 12; i++) {
    latency[i] = (double)(i + 1);
    quality[i] = i ? 12 - (double)i : -1;
  }
  assert_true(regret_of(quality, latency, 12).at[0] == 2 && regret_of(quality, latency, 12).at[1] == 2);
  for (size_t i = 0; i < 12; i++) quality[i] = i < 3 ? 0 : 20 - (double)i;
  assert_true(regret_of(quality, latency, 12).at[0] == 4); /* 4 us stands first */
  assert_true(regret_of(quality, latency, 12).at[1] == 3); /* nine of 4 us and more, then 3 us of the three equals */
  assert_true(isnan(regret_of(quality + 2, latency + 2, 10).at[1]) &&
              regret_of(quality + 1, latency + 1, 11).at[1] == 1.5);
}

/* Rows without a latency are as if they were not there, wherever they rank. */
static void rows_without_a_latency_are_left_out(void **state)
{
  (void)state;
  const double quality[] = {9, 3, 8, 2, 7, 1, 6, 5}, latency[] = {NAN, 4, INFINITY, 5, 0, 2, -1, 3};
  const double q[] = {3, 2, 1, 5}, t[] = {4, 5, 2, 3};
  em_regret all = regret_of(quality, latency, 8), measured = regret_of(q, t, 4);
  assert_true(all.measured == 4 && all.spearman == measured.spearman && all.at[0] == measured.at[0] &&
              all.at[0] == 1.5);
  em_regret none = regret_of(quality, latency, 1);
  assert_true(none.measured == 0 && isnan(none.spearman) && isnan(none.at[0]) && isnan(none.at[1]));
}

/* ---- properties ---------------------------------------------------------------------------- */

enum { ROWS = 60 };

/* Few values, so that there are ties. */
static void made_pool(uint64_t seed, double quality[ROWS], double latency[ROWS])
{
  for (size_t i = 0; i < ROWS; i++) {
    quality[i] = (double)em_rng_below(seed, 1, i, 25) / 8 - 1.5;
    latency[i] = (double)(1 + em_rng_below(seed, 2, i, 30)) / 4 - quality[i] + 2;
  }
}

static void assert_same(const em_regret *a, const em_regret *b)
{
  assert_true(a->measured == b->measured && a->spearman == b->spearman && a->at[0] == b->at[0] && a->at[1] == b->at[1]);
}

static void rising_functions_change_nothing(void **state)
{
  (void)state;
  double quality[ROWS], latency[ROWS], q[ROWS], t[ROWS];
  for (uint64_t seed = 0; seed < 50; seed++) {
    made_pool(seed, quality, latency);
    em_regret plain = regret_of(quality, latency, ROWS);
    for (size_t i = 0; i < ROWS; i++) q[i] = exp(quality[i]) - 7;
    for (size_t i = 0; i < ROWS; i++) t[i] = 4 * latency[i];
    em_regret other = regret_of(q, t, ROWS); /* a power of two keeps the ratios' bits */
    assert_same(&plain, &other);
    for (size_t i = 0; i < ROWS; i++) t[i] = sqrt(latency[i]);
    assert_true(regret_of(quality, t, ROWS).spearman == plain.spearman);
    for (size_t i = 0; i < ROWS; i++) q[i] = -quality[i];
    assert_true(regret_of(q, latency, ROWS).spearman == -plain.spearman);
  }
}

static void the_order_of_rows_changes_nothing(void **state)
{
  (void)state;
  double quality[ROWS], latency[ROWS];
  for (uint64_t seed = 0; seed < 50; seed++) {
    made_pool(seed, quality, latency);
    em_regret plain = regret_of(quality, latency, ROWS);
    for (size_t i = ROWS - 1; i > 0; i--) {
      size_t k = em_rng_below(seed, 3, i, i + 1);
      double q = quality[i], t = latency[i];
      quality[i] = quality[k];
      latency[i] = latency[k];
      quality[k] = q;
      latency[k] = t;
    }
    em_regret other = regret_of(quality, latency, ROWS);
    assert_same(&plain, &other);
  }
}

/* Regret falls with k, is 1 for an order by latency, and no order beats it; the correlation is then 1. */
static void the_order_by_latency_is_the_best(void **state)
{
  (void)state;
  double quality[ROWS], latency[ROWS], q[ROWS];
  for (uint64_t seed = 0; seed < 50; seed++) {
    made_pool(seed, quality, latency);
    em_regret r = regret_of(quality, latency, ROWS);
    assert_true(r.at[0] >= r.at[1] && r.at[1] >= 1 && fabs(r.spearman) <= 1);
    for (size_t i = 0; i < ROWS; i++) q[i] = 1 / latency[i];
    r = regret_of(q, latency, ROWS);
    assert_true(r.at[0] == 1 && r.at[1] == 1 && fabs(r.spearman - 1) < 1e-15);
  }
}

/* ---- several pools ---------------------------------------------------------------------------- */

static void summary_by_hand(void **state)
{
  (void)state;
  const em_regret several[] = {{.measured = 4, .spearman = -1, .at = {1.5, NAN}}, /* too few rows for rho */
                               {.measured = 5, .spearman = 0.5, .at = {3, NAN}},
                               {.measured = 20, .spearman = 0.25, .at = {1, 1.25}},
                               {.measured = 20, .spearman = 0.25, .at = {3, 1}},
                               {.measured = 1, .spearman = NAN, .at = {NAN, NAN}}};
  const char *keys[] = {"p", "o", "n", "m", "l"};
  em_regret_summary s;
  em_err err;
  assert_int_equal(em_regret_summarise(several, keys, 5, &s, &err), EM_OK);
  assert_int_equal(s.pools, 5);
  assert_true(s.spearman.pools == 3 && s.spearman.median == 0.25 && s.spearman.worst == 0.25);
  assert_string_equal(s.spearman.worst_pool, "m");
  assert_true(s.at[0].pools == 4 && s.at[0].median == 2.25 && s.at[0].worst == 3);
  assert_string_equal(s.at[0].worst_pool, "m");
  assert_true(s.at[1].pools == 2 && s.at[1].median == 1.125 && s.at[1].worst == 1.25);
  assert_string_equal(s.at[1].worst_pool, "n");
  cJSON *json = em_regret_summary_json(&s);
  char *text;
  assert_int_equal(em_metrics_print(cJSON_GetObjectItem(json, "regret10"), &text, &err), EM_OK);
  assert_string_equal(text, "{\n \"groups\": 2,\n \"median\": 1.125,\n \"worst\": 1.25,\n \"worst_pool\": \"n\"\n}\n");
  cJSON_Delete(json);
  em_free(text);
  assert_int_equal(em_regret_summarise(NULL, NULL, 0, &s, &err), EM_OK);
  assert_true(s.spearman.pools == 0 && isnan(s.spearman.median) && s.spearman.worst_pool == NULL);
}

/* ---- the metrics file ----------------------------------------------------------------------------- */

/* Pools of three in five with latencies, by which their fastest row is the recorded one. */
static double *measure(pools *p, bool watched)
{
  double *all = calloc(p->n * p->rows, sizeof *all);
  for (size_t g = 0; g < p->n; g++) {
    double *us = all + g * p->rows;
    if (g % 5 < 2) continue;
    for (size_t r = 0; r < p->rows; r++) us[r] = r == p->positives[g] ? 4 : 5 + 5 * em_rng_f64(3, g, r);
    p->groups[g].latency = us;
    p->groups[g].h_opt = 3;
    p->groups[g].watched = watched;
  }
  return all;
}

static em_fit_result run(const em_fit_group *groups, size_t n, const em_fit_params *q, cJSON **metrics)
{
  em_fit_result r;
  em_err err = {0};
  if (em_fit_run(groups, n, q, NULL, NULL, &r, &err) != EM_OK) fail_msg("%s", err.msg);
  assert_int_equal(em_json_parse(r.metrics, strlen(r.metrics), "metrics", metrics, &err), EM_OK);
  return r;
}

static const cJSON *at(const cJSON *o, const char *key)
{
  const cJSON *x = cJSON_GetObjectItemCaseSensitive(o, key);
  if (!x) fail_msg("no member %s", key);
  return x;
}

static void assert_is(const cJSON *o, const char *key, double value)
{
  char text[32];
  snprintf(text, sizeof text, "%.6g", value);
  assert_true(isnan(value) ? cJSON_IsNull(at(o, key)) : at(o, key)->valuedouble == strtod(text, NULL));
}

/* Each figure is that of the prior's scores; golden and measured pools stand apart; counts are per card. */
static void metrics_hold_the_figures_of_the_prior(void **state)
{
  (void)state;
  pools p = make_pools(30, 20);
  double *us = measure(&p, false), quality[20];
  em_fit_params q = quick_params();
  cJSON *m;
  em_err err;
  q.folds = 3;
  em_fit_result r = run(p.groups, p.n, &q, &m);
  const cJSON *measured = at(at(m, "full_train"), "measured"), *golden = at(at(m, "full_train"), "per_golden");
  assert_int_equal(cJSON_GetArraySize(golden), 12);
  assert_int_equal(cJSON_GetArraySize(at(measured, "per_pool")), 18);
  em_regret figures[2][30];
  const char *keys[2][30];
  size_t n[2] = {0};
  for (size_t g = 0; g < p.n; g++) {
    const em_fit_group *pool = &p.groups[g];
    if (!pool->latency) continue;
    const cJSON *entry = at(at(measured, "per_pool"), pool->key);
    int card = strcmp(pool->gpu, "card B") == 0;
    assert_int_equal(em_prior_score(r.prior, pool->cols, pool->matrix, 20, 1, quality, &err), EM_OK);
    em_regret x = regret_of(quality, pool->latency, 20);
    assert_is(entry, "regret1", x.at[0]);
    assert_is(entry, "regret10", x.at[1]);
    assert_is(entry, "spearman", x.spearman);
    assert_is(entry, "rank", (double)em_rank_of(quality, 20, pool->positives, 1).against);
    keys[card][n[card]] = pool->key;
    figures[card][n[card]++] = x;
  }
  const cJSON *list = at(measured, "summaries");
  assert_int_equal(cJSON_GetArraySize(list), 2);
  for (int card = 0; card < 2; card++) {
    const cJSON *s = cJSON_GetArrayItem(list, card);
    em_regret_summary sum;
    assert_int_equal(em_regret_summarise(figures[card], keys[card], n[card], &sum, &err), EM_OK);
    assert_string_equal(at(at(s, "axes"), "gpu")->valuestring, card ? "card B" : "card A");
    assert_is(s, "groups", (double)n[card]);
    assert_is(at(at(s, "metrics"), "regret1"), "median", sum.at[0].median);
    assert_is(at(at(s, "metrics"), "spearman"), "worst", sum.spearman.worst);
    assert_string_equal(at(at(at(s, "metrics"), "regret1"), "worst_pool")->valuestring, sum.at[0].worst_pool);
  }
  assert_int_equal(cJSON_GetArraySize(at(at(at(m, "cv"), "measured"), "holdout_per_pool")), 18);
  assert_int_equal(cJSON_GetArraySize(at(at(m, "cv"), "holdout_per_golden")), 12);
  assert_int_equal(cJSON_GetArraySize(at(at(at(m, "cv"), "measured"), "summaries")), 4);
  em_json_free(m);
  em_fit_result_free(&r);
  free(us);
  free_pools(&p);
}

/* Watched pools change neither the trees nor the folds nor the others' ranks; they are held out with their shape, and no
 * fit is said to have trained on them. */
static void watched_pools_teach_nothing(void **state)
{
  (void)state;
  pools p = make_pools(30, 20), bare = make_pools(30, 20);
  double *us = measure(&p, true), quality[2][20];
  size_t n = 0;
  em_fit_params q = quick_params();
  cJSON *a, *b;
  em_err err;
  q.folds = 3;
  for (size_t g = 0; g < 30; g++)
    if (!p.groups[g].watched) bare.groups[n++] = p.groups[g];
  p.groups[3].shape = "a shape of its own";
  em_fit_result x = run(p.groups, p.n, &q, &a), y = run(bare.groups, n, &q, &b);
  for (size_t g = 0; g < 30; g++) {
    em_fit_result *fits[] = {&x, &y};
    for (size_t k = 0; k < 2; k++)
      assert_int_equal(em_prior_score(fits[k]->prior, &pool_columns, p.groups[g].matrix, 20, 1, quality[k], &err),
                       EM_OK);
    assert_memory_equal(quality[0], quality[1], sizeof quality[0]);
  }
  char *texts[2];
  assert_int_equal(em_metrics_print(at(at(a, "cv"), "holdout_per_golden"), &texts[0], &err), EM_OK);
  assert_int_equal(em_metrics_print(at(at(b, "cv"), "holdout_per_golden"), &texts[1], &err), EM_OK);
  assert_string_equal(texts[0], texts[1]);
  assert_int_equal(at(at(at(a, "header"), "groups"), "total")->valueint, (int)n);
  assert_int_equal(at(at(at(a, "header"), "groups"), "watched")->valueint, 30 - (int)n);
  assert_null(cJSON_GetObjectItem(at(b, "full_train"), "measured"));
  const cJSON *held = at(at(at(a, "cv"), "measured"), "holdout_per_pool"), *s;
  for (size_t g = 0; g < 30; g++)
    for (size_t other = 0; other < 30; other++)
      if (p.groups[g].watched && !p.groups[other].watched && !strcmp(p.groups[g].shape, p.groups[other].shape))
        assert_int_equal(at(at(held, p.groups[g].key), "fold")->valueint,
                         at(at(at(at(a, "cv"), "holdout_per_golden"), p.groups[other].key), "fold")->valueint);
  cJSON_ArrayForEach(s, at(at(at(a, "cv"), "measured"), "summaries"))
    assert_string_equal(at(at(s, "axes"), "cv_split")->valuestring, "holdout");
  em_free(texts[0]);
  em_free(texts[1]);
  em_json_free(a);
  em_json_free(b);
  em_fit_result_free(&x);
  em_fit_result_free(&y);
  free(us);
  free_pools(&p);
  free_pools(&bare);
}

static void nothing_but_watched_pools_is_refused(void **state)
{
  (void)state;
  pools p = make_pools(3, 10);
  em_fit_params q = quick_params();
  em_fit_result r;
  em_err err;
  for (size_t g = 0; g < 3; g++) p.groups[g].watched = true;
  assert_int_equal(em_fit_run(p.groups, p.n, &q, NULL, NULL, &r, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "no pools to learn from"));
  free_pools(&p);
}

/* Three cross-validations: each pool has its regret@1 with each seed, and the mean of their logarithms. */
static void repeats_list_each_seed(void **state)
{
  (void)state;
  pools p = make_pools(20, 20);
  double *us = measure(&p, true);
  em_fit_params q = quick_params();
  cJSON *m, *one;
  const cJSON *entry;
  q.folds = 2;
  q.negatives = 8;
  q.repeats = 3;
  em_fit_result r = run(p.groups, p.n, &q, &m);
  q.repeats = 1;
  for (int k = 0; k < 3; k++) {
    q.seed = k;
    em_fit_result single = run(p.groups, p.n, &q, &one);
    cJSON_ArrayForEach(entry, at(at(at(m, "cv"), "measured"), "holdout_per_pool"))
    {
      const cJSON *same = at(at(at(at(one, "cv"), "measured"), "holdout_per_pool"), entry->string), *x;
      double sum = 0;
      assert_true(cJSON_GetArrayItem(at(entry, "regret1s"), k)->valuedouble == at(same, "regret1")->valuedouble);
      cJSON_ArrayForEach(x, at(entry, "regret1s")) sum += log2(x->valuedouble);
      assert_true(fabs(at(entry, "mean_log2_regret1")->valuedouble - sum / 3) < 1e-5);
    }
    em_json_free(one);
    em_fit_result_free(&single);
  }
  em_json_free(m);
  em_fit_result_free(&r);
  free(us);
  free_pools(&p);
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  pools p = make_pools(6, 6);
  double *us = measure(&p, true);
  em_fit_params q = quick_params();
  em_fit_result r;
  em_err err;
  q.iterations = 1;
  q.folds = 2;
  ASSERT_SURVIVES_NOMEM(em_fit_run(p.groups, p.n, &q, NULL, NULL, &r, &err), em_fit_result_free(&r));
  free(us);
  free_pools(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(spearman_is_that_of_scipy),
    cmocka_unit_test(ties_are_never_luck),
    cmocka_unit_test(the_first_ten),
    cmocka_unit_test(rows_without_a_latency_are_left_out),
    cmocka_unit_test(rising_functions_change_nothing),
    cmocka_unit_test(the_order_of_rows_changes_nothing),
    cmocka_unit_test(the_order_by_latency_is_the_best),
    cmocka_unit_test(summary_by_hand),
    cmocka_unit_test(metrics_hold_the_figures_of_the_prior),
    cmocka_unit_test(watched_pools_teach_nothing),
    cmocka_unit_test(nothing_but_watched_pools_is_refused),
    cmocka_unit_test(repeats_list_each_seed),
    cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
