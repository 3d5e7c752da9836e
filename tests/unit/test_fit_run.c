/* test_fit_run.c - whole fits: same bytes, the metrics file, bad input, cancelling. */
#include "tests/unit/unit.h"

#include "tests/unit/fit_pools.h"

static char *artifact_of(const em_prior *p)
{
  em_str s = {0};
  char *text;
  em_err err;
  em_prior_print(p, &s);
  assert_int_equal(em_str_take(&s, &text, &err), EM_OK);
  return text;
}

static em_fit_result run(const em_fit_group *groups, size_t n, const em_fit_params *p)
{
  em_fit_result r;
  em_err err;
  if (em_fit_run(groups, n, p, NULL, NULL, &r, &err) != EM_OK) fail_msg("%s", err.msg);
  return r;
}

static void assert_same_bytes(const em_fit_result *a, const em_fit_result *b)
{
  char *x = artifact_of(a->prior), *y = artifact_of(b->prior);
  assert_string_equal(x, y);
  assert_string_equal(a->metrics, b->metrics);
  em_free(x);
  em_free(y);
}

/* Everything random switched on. */
static em_fit_params random_params(void)
{
  em_fit_params p = quick_params();
  p.folds = 3;
  p.random_strength = 1;
  p.rsm = 0.7;
  p.negatives = 20;
  p.bootstrap = EM_BOOTSTRAP_BAYESIAN;
  return p;
}

/* ---- same bytes ------------------------------------------------------------------------ */

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
  (void)state;
  pools p = make_pools(25, 40);
  em_fit_params q = random_params();
  em_fit_result one = run(p.groups, p.n, &q);
  for (q.threads = 2; q.threads <= 4; q.threads += 2) {
    em_fit_result more = run(p.groups, p.n, &q);
    assert_same_bytes(&one, &more);
    em_fit_result_free(&more);
  }
  q.threads = 1;
  q.seed = 1;
  em_fit_result other = run(p.groups, p.n, &q);
  assert_string_not_equal(one.metrics, other.metrics);
  em_fit_result_free(&other);
  em_fit_result_free(&one);
  free_pools(&p);
}

static void the_order_of_pools_changes_nothing(void **state)
{
  (void)state;
  pools p = make_pools(25, 40);
  em_fit_params q = random_params();
  em_fit_result a = run(p.groups, p.n, &q);
  for (size_t i = 0; i < p.n / 2; i++) {
    em_fit_group t = p.groups[i];
    p.groups[i] = p.groups[p.n - 1 - i];
    p.groups[p.n - 1 - i] = t;
  }
  em_fit_result b = run(p.groups, p.n, &q);
  assert_same_bytes(&a, &b);
  em_fit_result_free(&a);
  em_fit_result_free(&b);
  free_pools(&p);
}

/* With all rows in the training set, reversing each pool's rows changes nothing either. */
static void the_order_of_rows_changes_nothing(void **state)
{
  (void)state;
  pools p = make_pools(25, 40);
  em_fit_params q = random_params();
  q.negatives = 0;
  em_fit_result a = run(p.groups, p.n, &q);
  size_t cols = pool_columns.n;
  for (size_t g = 0; g < p.n; g++) {
    double *m = p.matrix + g * p.rows * cols, t[16];
    for (size_t r = 0; r < p.rows / 2; r++) {
      memcpy(t, m + r * cols, cols * sizeof *m);
      memcpy(m + r * cols, m + (p.rows - 1 - r) * cols, cols * sizeof *m);
      memcpy(m + (p.rows - 1 - r) * cols, t, cols * sizeof *m);
    }
    p.positives[g] = (uint32_t)p.rows - 1 - p.positives[g];
  }
  em_fit_result b = run(p.groups, p.n, &q);
  assert_same_bytes(&a, &b);
  em_fit_result_free(&a);
  em_fit_result_free(&b);
  free_pools(&p);
}

/* ---- the model ----------------------------------------------------------------------------- */

static const cJSON *at(const cJSON *o, const char *key)
{
  const cJSON *x = cJSON_GetObjectItemCaseSensitive(o, key);
  assert_non_null(x);
  return x;
}

/* split_index counts the borders of all columns in order; border and column beside it must agree. */
static void split_indices_agree_with_the_borders(void **state)
{
  (void)state;
  pools p = make_pools(25, 40);
  em_fit_params q = random_params();
  em_fit_result r = run(p.groups, p.n, &q);
  char *text = artifact_of(r.prior);
  cJSON *root;
  em_err err;
  double border[2000], column[2000];
  int n = 0, splits = 0;
  assert_int_equal(em_json_parse(text, strlen(text), "artifact", &root, &err), EM_OK);
  const cJSON *model = at(root, "model"), *f, *b, *t, *s;
  cJSON_ArrayForEach(f, at(at(model, "features_info"), "float_features"))
    cJSON_ArrayForEach(b, cJSON_GetObjectItemCaseSensitive(f, "borders"))
  {
    column[n] = at(f, "feature_index")->valuedouble;
    border[n++] = b->valuedouble;
  }
  cJSON_ArrayForEach(t, at(model, "oblivious_trees")) cJSON_ArrayForEach(s, at(t, "splits"))
  {
    int i = at(s, "split_index")->valueint;
    assert_in_range(i, 0, n - 1);
    assert_true(border[i] == at(s, "border")->valuedouble && column[i] == at(s, "float_feature_index")->valuedouble);
    splits++;
  }
  assert_true(splits > 10);
  em_json_free(root);
  em_free(text);
  em_fit_result_free(&r);
  free_pools(&p);
}

/* The loss that training ended with is the loss of the finished model's own scores. */
static void the_model_scores_as_the_booster_did(void **state)
{
  (void)state;
  pools p = make_pools(25, 40);
  em_fit_params q = random_params();
  q.negatives = 0;
  q.folds = 0;
  q.label_smoothing = 0; /* the loss of the recorded rows alone */
  em_fit_result r = run(p.groups, p.n, &q);
  double quality[40], loss = 0;
  em_err err;
  for (size_t g = 0; g < p.n; g++) {
    double sum = 0;
    assert_int_equal(em_prior_score(r.prior, &pool_columns, p.groups[g].matrix, 40, 1, quality, &err), EM_OK);
    for (size_t i = 0; i < 40; i++) sum += exp(quality[i]);
    loss -= log(exp(quality[p.positives[g]]) / sum) / (double)p.n;
  }
  const cJSON *fit = at(em_prior_provenance(r.prior), "fit");
  assert_true(fabs(at(at(fit, "loss"), "last")->valuedouble - loss) < 1e-5 * loss);
  assert_true(at(at(fit, "groups"), "total")->valueint == 25 && at(fit, "positives")->valueint == 25);
  assert_int_equal(at(fit, "rows")->valueint, 1000);
  em_fit_result_free(&r);
  free_pools(&p);
}

/* Small pools are trained on whole, so that the training rows are all rows. */
static void provenance_keeps_the_ranges_of_the_rows(void **state)
{
  (void)state;
  pools p = make_pools(6, 20);
  em_fit_params q = quick_params();
  em_fit_result r = run(p.groups, p.n, &q);
  const em_columns *used = em_prior_columns(r.prior);
  const cJSON *ranges = at(at(em_prior_provenance(r.prior), "fit"), "ranges");
  for (size_t c = 0; c < used->n; c++) {
    int64_t column = em_columns_index(&pool_columns, used->names[c]);
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < p.n * 20 && column >= 0; i++) {
      double v = p.groups[i / 20].matrix[i % 20 * pool_columns.n + (size_t)column];
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
    const cJSON *range = cJSON_GetObjectItemCaseSensitive(ranges, used->names[c]);
    assert_int_equal(range != NULL, lo <= hi); /* a column without a value has none */
    if (range)
      assert_true(cJSON_GetArrayItem(range, 0)->valuedouble == lo && cJSON_GetArrayItem(range, 1)->valuedouble == hi);
  }
  em_fit_result_free(&r);
  free_pools(&p);
}

/* ---- the metrics file ----------------------------------------------------------------------------- */

static void metrics_hold_every_pool_under_a_key_of_its_own(void **state)
{
  (void)state;
  pools p = make_pools(12, 20);
  p.groups[4].key = p.groups[7].key = p.groups[2].key; /* three pools of one name */
  p.groups[5].key = "card/pool2#2";
  em_fit_params q = quick_params();
  q.folds = 3;
  em_fit_result r = run(p.groups, p.n, &q);
  cJSON *m;
  em_err err;
  assert_int_equal(em_json_parse(r.metrics, strlen(r.metrics), "metrics", &m, &err), EM_OK);
  const cJSON *full = at(at(m, "full_train"), "per_golden"), *cv = at(m, "cv");
  assert_int_equal(cJSON_GetArraySize(full), 12);
  assert_int_equal(cJSON_GetArraySize(at(cv, "holdout_per_golden")), 12);
  assert_int_equal(cJSON_GetArraySize(at(cv, "train_per_golden")), 12);
  at(full, "card/pool2");
  at(full, "card/pool2#3");
  at(full, "card/pool2#4");
  assert_int_equal(at(at(full, "card/pool0"), "pool")->valueint, 40);
  assert_int_equal(at(at(full, "card/pool0"), "sampled")->valueint, 20);
  em_json_free(m);
  em_fit_result_free(&r);
  free_pools(&p);
}

/* Per card and over all: as many ranks as there are pools; in training, folds - 1 times as many. */
static void metrics_count_per_card_and_split(void **state)
{
  (void)state;
  pools p = make_pools(12, 20);
  em_fit_params q = quick_params();
  q.folds = 3;
  em_fit_result r = run(p.groups, p.n, &q);
  cJSON *m;
  em_err err;
  const int expected[] = {8, 4, 12, 16, 8, 24};
  assert_int_equal(em_json_parse(r.metrics, strlen(r.metrics), "metrics", &m, &err), EM_OK);
  const cJSON *list = at(at(m, "cv"), "summaries");
  assert_int_equal(cJSON_GetArraySize(list), 6);
  for (int i = 0; i < 6; i++) {
    const cJSON *s = cJSON_GetArrayItem(list, i), *gpu = cJSON_GetObjectItem(at(s, "axes"), "gpu");
    assert_string_equal(at(at(s, "axes"), "cv_split")->valuestring, i < 3 ? "holdout" : "train");
    assert_int_equal(at(s, "groups")->valueint, expected[i]);
    if (i % 3 < 2)
      assert_string_equal(gpu->valuestring, i % 3 ? "card B" : "card A");
    else
      assert_null(gpu);
  }
  assert_int_equal(cJSON_GetArraySize(at(at(m, "cv"), "gap")), 2);
  assert_int_equal(cJSON_GetArraySize(at(at(at(m, "cv"), "fold_detail"), "holdout_medians")), 3);
  em_json_free(m);
  em_fit_result_free(&r);
  free_pools(&p);
}

/* 7 shapes in 9 folds: two have no pool; a single shape: its complement is empty. */
static void folds_that_cannot_be_held_out_are_named(void **state)
{
  (void)state;
  pools p = make_pools(14, 20);
  em_fit_params q = quick_params();
  q.folds = 9;
  em_fit_result r = run(p.groups, p.n, &q);
  cJSON *m;
  em_err err;
  assert_int_equal(em_json_parse(r.metrics, strlen(r.metrics), "metrics", &m, &err), EM_OK);
  const cJSON *excluded = at(at(at(m, "cv"), "fold_detail"), "excluded");
  assert_int_equal(cJSON_GetArraySize(excluded), 2);
  assert_non_null(strstr(at(excluded, "8")->valuestring, "fewer shapes than folds"));
  em_json_free(m);
  em_fit_result_free(&r);
  q.folds = 2;
  r = run(p.groups, 1, &q); /* one pool */
  assert_non_null(strstr(r.metrics, "nothing to learn from"));
  em_fit_result_free(&r);
  free_pools(&p);
}

/* ---- bad and odd input ------------------------------------------------------------------------------- */

static void assert_refused(const em_fit_group *groups, size_t n, const em_fit_params *q, const char *text)
{
  em_fit_result r;
  em_err err = {0};
  int64_t live = em_alloc_live();
  assert_int_equal(em_fit_run(groups, n, q, NULL, NULL, &r, &err), EM_E_INPUT);
  if (!strstr(err.msg, text)) fail_msg("'%s' does not say '%s'", err.msg, text);
  assert_int_equal(em_alloc_live(), live);
}

static void unusable_pools_are_refused(void **state)
{
  (void)state;
  pools p = make_pools(5, 20);
  em_fit_params q = quick_params();
  assert_refused(p.groups, 0, &q, "no pools");
  const uint32_t beyond[] = {20}, twice[] = {3, 3};
  em_fit_group *g = &p.groups[3], good = *g;
  g->n_positives = 0;
  assert_refused(p.groups, p.n, &q, "pool card/pool3: no recorded row");
  *g = good;
  g->positives = beyond;
  assert_refused(p.groups, p.n, &q, "recorded row 20, but it has 20 candidates");
  g->positives = twice;
  g->n_positives = 2;
  assert_refused(p.groups, p.n, &q, "ascending");
  *g = good;
  p.matrix[(3 * 20 + 7) * pool_columns.n + 4] = -INFINITY;
  assert_refused(p.groups, p.n, &q, "pool card/pool3: candidate 7 has an infinite D_reuse");
  q.features = "D_cells";
  em_fit_result r = run(p.groups, p.n, &q); /* not a column of the view */
  em_fit_result_free(&r);
  q.learning_rate = 0;
  assert_refused(p.groups, p.n, &q, "learning-rate");
  free_pools(&p);
}

static void columns_without_a_difference_are_refused_or_ignored(void **state)
{
  (void)state;
  pools p = make_pools(5, 20);
  em_fit_params q = quick_params();
  for (size_t i = 0; i < p.n * p.rows; i++) {
    p.matrix[i * pool_columns.n + 1] = 3;
    p.matrix[i * pool_columns.n + 2] = NAN;
    p.matrix[i * pool_columns.n + 7] = 0;
  }
  q.features = "D_cells,D_l2_bm";
  assert_refused(p.groups, p.n, &q, "none of the 3 columns varies");
  q.features = "D_cells,D_l2_bm,D_l2_bn";
  em_fit_result r = run(p.groups, p.n, &q);
  size_t used = 0, n;
  for (size_t f = 0; f < em_model_n_features(em_prior_model(r.prior)); f++) {
    em_model_borders(em_prior_model(r.prior), f, &n);
    used += n > 0;
  }
  assert_int_equal(used, 1);
  em_fit_result_free(&r);
  free_pools(&p);
}

/* Pools where all rows are recorded teach nothing; they are counted and still ranked. */
static void pools_of_recorded_rows_only_are_left_out(void **state)
{
  (void)state;
  pools p = make_pools(6, 20);
  uint32_t all[20];
  for (uint32_t i = 0; i < 20; i++) all[i] = i;
  em_fit_params q = quick_params();
  p.groups[2].positives = all;
  p.groups[2].n_positives = 20;
  em_fit_result r = run(p.groups, p.n, &q);
  const cJSON *fit = at(em_prior_provenance(r.prior), "fit");
  assert_int_equal(at(fit, "rows")->valueint, 100);
  assert_int_equal(at(at(fit, "groups"), "without_negatives")->valueint, 1);
  assert_non_null(strstr(r.metrics, "card/pool2"));
  em_fit_result_free(&r);
  assert_refused(p.groups + 2, 1, &q, "nothing to learn from");
  free_pools(&p);
}

/* Rows with equal features cannot be told apart: both get the same score, and rank against each other. */
static void duplicate_rows_tie(void **state)
{
  (void)state;
  const double twice[] = {0, 1, 1, 0};
  const uint32_t positive[] = {1};
  char *name = "D_cells";
  em_columns cols = {&name, 1};
  em_fit_group g = {.key = "k",
                    .gpu = "g",
                    .tier = "t",
                    .shape = "s",
                    .cols = &cols,
                    .matrix = twice,
                    .rows = 4,
                    .total = 4,
                    .positives = positive,
                    .n_positives = 1};
  em_fit_params q = quick_params();
  q.features = "D_cells";
  em_fit_result r = run(&g, 1, &q);
  double quality[4];
  em_err err;
  assert_int_equal(em_prior_score(r.prior, &cols, twice, 4, 1, quality, &err), EM_OK);
  assert_true(quality[1] == quality[2] && quality[0] == quality[3] && quality[1] > quality[0]);
  assert_non_null(strstr(r.metrics, "\"rank\": 1,\n    \"rank_optimistic\": 0"));
  em_fit_result_free(&r);
}

static void more_than_65535_pools(void **state)
{
  (void)state;
  size_t n = 66000;
  const double matrix[] = {0, 1};
  const uint32_t positive[] = {1};
  char *name = "D_cells", *keys = calloc(n, 16);
  em_columns cols = {&name, 1};
  em_fit_group *groups = calloc(n, sizeof *groups);
  for (size_t i = 0; i < n; i++) {
    snprintf(keys + 16 * i, 16, "k%zu", i);
    groups[i] = (em_fit_group){.key = keys + 16 * i,
                               .gpu = "g",
                               .tier = "t",
                               .shape = keys + 16 * i,
                               .cols = &cols,
                               .matrix = matrix,
                               .rows = 2,
                               .total = 2,
                               .positives = positive,
                               .n_positives = 1};
  }
  em_fit_params q = quick_params();
  em_prior *prior;
  em_err err;
  q.features = "D_cells";
  q.iterations = 1;
  q.bootstrap = EM_BOOTSTRAP_NONE;
  assert_int_equal(em_fit_train(groups, n, &q, NULL, NULL, &prior, &err), EM_OK);
  em_tree_view t;
  assert_true(em_model_tree(em_prior_model(prior), 0, &t));
  assert_true(t.n_splits == 1 && t.leaf_weights[0] == 66000 && t.leaf_weights[1] == 66000);
  em_prior_free(prior);
  free(groups);
  free(keys);
}

/* ---- interruption -------------------------------------------------------------------------------------- */

typedef struct stopper {
  volatile int stop;
  size_t calls, total;
} stopper;

static void stop_at_five(void *ctx, const char *what, size_t done, size_t total)
{
  stopper *s = ctx;
  (void)what;
  assert_int_equal(done, s->calls);
  s->calls++;
  s->total = total;
  s->stop = done == 5;
}

static void cancelling_says_how_far_it_got(void **state)
{
  (void)state;
  pools p = make_pools(12, 20);
  em_fit_params q = quick_params();
  stopper s = {0};
  em_progress progress = {stop_at_five, &s, &s.stop};
  em_fit_result r;
  em_err err;
  int64_t live = em_alloc_live();
  q.folds = 2;
  assert_int_equal(em_fit_run(p.groups, p.n, &q, NULL, &progress, &r, &err), EM_E_CANCEL);
  assert_non_null(strstr(err.msg, "after 5 of 24 trees"));
  assert_int_equal(s.total, 24);
  assert_int_equal(em_alloc_live(), live);
  free_pools(&p);
}

static void cancelling_works_with_any_number_of_threads(void **state)
{
  (void)state;
  pools p = make_pools(12, 20);
  em_fit_params q = quick_params();
  volatile int stop = 1;
  em_progress progress = {.cancel = &stop};
  em_fit_result r;
  em_err err;
  int64_t live = em_alloc_live();
  q.folds = 3;
  q.threads = 4;
  assert_int_equal(em_fit_run(p.groups, p.n, &q, NULL, &progress, &r, &err), EM_E_CANCEL);
  assert_non_null(strstr(err.msg, "of 32 trees"));
  assert_int_equal(em_alloc_live(), live);
  free_pools(&p);
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  pools p = make_pools(4, 6);
  em_fit_params q = quick_params();
  q.iterations = 2;
  q.folds = 2;
  em_fit_result r;
  em_err err;
  cJSON *provenance = cJSON_CreateObject();
  cJSON_AddStringToObject(provenance, "source", "made up");
  ASSERT_SURVIVES_NOMEM(em_fit_run(p.groups, p.n, &q, provenance, NULL, &r, &err), em_fit_result_free(&r));
  cJSON_Delete(provenance);
  free_pools(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(the_order_of_pools_changes_nothing),
    cmocka_unit_test(the_order_of_rows_changes_nothing),
    cmocka_unit_test(split_indices_agree_with_the_borders),
    cmocka_unit_test(the_model_scores_as_the_booster_did),
    cmocka_unit_test(provenance_keeps_the_ranges_of_the_rows),
    cmocka_unit_test(metrics_hold_every_pool_under_a_key_of_its_own),
    cmocka_unit_test(metrics_count_per_card_and_split),
    cmocka_unit_test(folds_that_cannot_be_held_out_are_named),
    cmocka_unit_test(unusable_pools_are_refused),
    cmocka_unit_test(columns_without_a_difference_are_refused_or_ignored),
    cmocka_unit_test(pools_of_recorded_rows_only_are_left_out),
    cmocka_unit_test(duplicate_rows_tie),
    cmocka_unit_test(more_than_65535_pools),
    cmocka_unit_test(cancelling_says_how_far_it_got),
    cmocka_unit_test(cancelling_works_with_any_number_of_threads),
    cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
