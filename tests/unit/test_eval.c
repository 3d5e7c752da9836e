/* test_eval.c - baselines in closed form; the report over an exported dataset. */
#include "tests/unit/unit.h"

#include <math.h>
#include <unistd.h>

#include "core/eval/eval_int.h"
#include "tests/unit/scratch.h"

/* ---- baselines ------------------------------------------------------------------------- */

/* Of all C(6, 2) = 15 places of two positives among six rows, count those whose first is at r or later. */
static void chances_by_counting(void **state)
{
  (void)state;
  for (size_t r = 0; r < 6; r++) {
    int from = 0;
    for (size_t a = 0; a < 6; a++)
      for (size_t b = a + 1; b < 6; b++) from += a >= r;
    assert_true(fabs(em_eval_chance_from(6, 2, r) - from / 15.0) < 1e-12);
  }
  assert_true(em_eval_chance_from(6, 2, 5) == 0 && em_eval_chance_from(6, 2, 0) == 1);
}

/* One pool of 10 rows and one golden: every rank has chance 1/10. */
static void random_order_of_one_pool(void **state)
{
  (void)state;
  em_eval_pool pool = {.rows = 10, .positives = 1};
  em_rank_summary s;
  em_err err;
  double log2_sum = 0;
  for (int r = 0; r < 10; r++) log2_sum += log2(1 + r) / 10;
  assert_int_equal(em_eval_random(&pool, 1, &s, &err), EM_OK);
  assert_true(s.pools == 1 && s.median == 4 && fabs(s.mean_log2 - log2_sum) < 1e-12);
}

/* Ten pools of 10 rows: one of them is expected first, five within 5, all within 10. */
static void random_order_of_ten_pools(void **state)
{
  (void)state;
  em_eval_pool pools[10];
  em_rank_summary s;
  em_err err;
  for (size_t i = 0; i < 10; i++) pools[i] = (em_eval_pool){.rows = 10, .positives = 1};
  assert_int_equal(em_eval_random(pools, 10, &s, &err), EM_OK);
  assert_true(s.top[0] == 1 && s.top[1] == 5 && s.top[2] == 10 && s.top[5] == 10);
  assert_int_equal(em_eval_random(pools, 0, &s, &err), EM_OK);
  assert_true(s.pools == 0 && isnan(s.median));
}

/* ---- the report ------------------------------------------------------------------------- */

#define GOLDEN "data/golden/rtx4080_sm89.json"

typedef struct opened {
  em_dataset *d;
  em_prior *prior;
} opened;

/* Exports the pools of one golden file and fits a small prior on them. */
static bool open_dataset(opened *o)
{
  em_err err = {0};
  em_store *s;
  em_import import = {0};
  em_export_report report;
  em_export_options options = {.pool_sample = 150, .threads = 1};
  em_fit_params p;
  if (access(GOLDEN, R_OK) != 0) return false;
  em_fit_defaults(&p);
  p.iterations = 5;
  p.threads = 1;
  assert_int_equal(em_store_open(in_scratch("db"), EM_STORE_WRITE, &s, &err), EM_OK);
  assert_int_equal(em_store_import(s, GOLDEN, NULL, &import, &err), EM_OK);
  em_import_free(&import);
  assert_int_equal(em_dataset_export(s, in_scratch("ds"), &options, NULL, &report, &err), EM_OK);
  em_store_close(s);
  assert_int_equal(em_dataset_open(in_scratch("ds"), EM_FEAT_VER, &o->d, &err), EM_OK);
  em_fit_group *groups = calloc(em_dataset_n_groups(o->d), sizeof *groups);
  size_t n = em_dataset_n_groups(o->d);
  em_dataset_fit_groups(o->d, EM_LABELS_GOLDEN, groups);
  if (em_fit_train(groups, n, &p, NULL, NULL, &o->prior, &err) != EM_OK) fail_msg("%s", err.msg);
  free(groups);
  return true;
}

static void close_dataset(opened *o)
{
  em_prior_free(o->prior);
  em_dataset_close(o->d);
}

static em_eval evaluate(const opened *o, const char *kernel)
{
  em_eval e;
  em_err err;
  if (em_eval_golden(o->d, o->prior, kernel, 1, NULL, &e, &err) != EM_OK) fail_msg("%s", err.msg);
  return e;
}

/* Every pool is in one cell of each kind; each rank is that of an independent count over its scores. */
static void cells_cover_every_pool_once(void **state)
{
  (void)state;
  opened o;
  if (!open_dataset(&o)) skip();
  em_eval e = evaluate(&o, NULL);
  size_t fine = 0, cards = 0, all = 0, none = 0;
  for (size_t i = 0; i < e.n_cells; i++) {
    const em_eval_cell *c = &e.cells[i];
    *(*c->bucket ? &fine : *c->gpu ? &cards : &all) += c->ranks.pools;
  }
  assert_true(e.n_pools > 3 && fine == e.n_pools && cards == e.n_pools && all == e.n_pools);
  assert_int_equal(e.random.ranks.pools, e.n_pools);
  for (size_t i = 0; i < e.n_pools; i++) {
    const em_eval_pool *p = &e.pools[i];
    const em_group *g = em_dataset_group(o.d, p->group);
    double *q = calloc(g->n_rows, sizeof *q);
    em_err err;
    size_t above = 0, same = 0, better_than_pick = 0;
    assert_int_equal(em_prior_score(o.prior, &g->cols, g->matrix, g->n_rows, 1, q, &err), EM_OK);
    for (size_t r = 0; r < g->n_rows; r++) {
      above += q[r] > q[p->rank.best];
      same += q[r] == q[p->rank.best] && r != p->rank.best;
      better_than_pick += q[r] > q[p->pick];
    }
    assert_true(p->rank.optimistic == above && p->rank.against == above + same && p->rank.plateau == same);
    assert_int_equal(better_than_pick, 0);
    free(q);
  }
  em_eval_free(&e);
  e = evaluate(&o, "no such kernel");
  assert_true(e.n_pools == none && e.n_cells == 0 && isnan(e.random.ranks.median));
  em_eval_free(&e);
  close_dataset(&o);
}

static void first_option_is_the_place_in_the_enumeration(void **state)
{
  (void)state;
  opened o;
  if (!open_dataset(&o)) skip();
  em_eval e = evaluate(&o, NULL);
  size_t within_ten = 0;
  for (size_t i = 0; i < e.n_pools; i++) within_ten += em_dataset_group(o.d, e.pools[i].group)->golden_ids[0] < 10;
  assert_int_equal(e.first_option.ranks.top[2], within_ten);
  em_eval_free(&e);
  close_dataset(&o);
}

static void json_has_a_key_a_pool_and_the_same_bytes(void **state)
{
  (void)state;
  opened o;
  em_err err;
  char *a, *b;
  cJSON *root;
  if (!open_dataset(&o)) skip();
  em_eval e = evaluate(&o, NULL);
  assert_int_equal(em_eval_json(&e, NULL, o.d, o.prior, &a, &err), EM_OK);
  em_eval_free(&e);
  assert_int_equal(em_eval_golden(o.d, o.prior, NULL, 2, NULL, &e, &err), EM_OK);
  assert_int_equal(em_eval_json(&e, NULL, o.d, o.prior, &b, &err), EM_OK);
  assert_string_equal(a, b);
  assert_int_equal(em_json_parse(a, strlen(a), "eval", &root, &err), EM_OK);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "per_golden")), e.n_pools);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "summaries")), e.n_cells);
  em_json_free(root);
  em_free(a);
  em_free(b);
  em_eval_free(&e);
  close_dataset(&o);
}

static int evaluate_all(const opened *o, em_err *err)
{
  em_eval e;
  char *text;
  int rc = em_eval_golden(o->d, o->prior, NULL, 1, NULL, &e, err);
  if (rc != EM_OK) return rc;
  rc = em_eval_json(&e, NULL, o->d, o->prior, &text, err);
  em_eval_free(&e);
  if (rc == EM_OK) em_free(text);
  return rc;
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  opened o;
  em_err err;
  if (!open_dataset(&o)) skip();
  assert_int_equal(evaluate_all(&o, &err), EM_OK); /* what is read once is read now */
  ASSERT_SURVIVES_NOMEM(evaluate_all(&o, &err), (void)0);
  close_dataset(&o);
}

static void cancelling_stops(void **state)
{
  (void)state;
  opened o;
  em_err err;
  em_eval e;
  volatile int stop = 1;
  if (!open_dataset(&o)) skip();
  assert_int_equal(em_eval_golden(o.d, o.prior, NULL, 1, &(em_progress){.cancel = &stop}, &e, &err), EM_E_CANCEL);
  close_dataset(&o);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(chances_by_counting),
    cmocka_unit_test(random_order_of_one_pool),
    cmocka_unit_test(random_order_of_ten_pools),
    cmocka_unit_test_setup_teardown(cells_cover_every_pool_once, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(first_option_is_the_place_in_the_enumeration, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(json_has_a_key_a_pool_and_the_same_bytes, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(every_allocation_may_fail, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(cancelling_stops, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
