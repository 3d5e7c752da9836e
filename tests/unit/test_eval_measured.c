/* test_eval_measured.c - the report over measured pools of an exported dataset. */
#include "tests/unit/unit.h"

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#include "core/eval/eval_int.h"
#include "tests/unit/scratch.h"

#define GOLDEN "data/golden/rtx4080_sm89.json"

/* Every schedule of the file under every kernel, with invented times: benched, but for the goldens.  Times of level 1 too,
 * so that there are two cells. */
#define BENCHED(level)                                                                                                     \
  "INSERT OR IGNORE INTO perf (card, kernel, bindings, fast_math, cold_cache, opt, schedule, status, us, golden, source) " \
  "SELECT p.card, p.kernel, p.bindings, p.fast_math, p.cold_cache, " level                                                 \
  ", s.id, 'ok', 10 + (p.id * 31 + s.id * 17) % 29 / 4.0, "                                                                \
  "0, p.source FROM perf p, schedule s WHERE p.opt = 3;"

typedef struct opened {
  em_dataset *d;
  em_prior *prior;
} opened;

static void bench(void)
{
  sqlite3 *db;
  assert_int_equal(sqlite3_open(in_scratch("db"), &db), SQLITE_OK);
  if (sqlite3_exec(db, BENCHED("3") BENCHED("1"), NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
  sqlite3_close(db);
}

static bool open_dataset(opened *o)
{
  em_err err = {0};
  em_store *s;
  em_import import = {0};
  em_export_report report;
  em_export_options options = {.pool_sample = 60, .threads = 1};
  em_fit_params p;
  if (access(GOLDEN, R_OK) != 0) return false;
  em_fit_defaults(&p);
  p.iterations = 5;
  p.threads = 1;
  assert_int_equal(em_store_open(in_scratch("db"), EM_STORE_WRITE, &s, &err), EM_OK);
  assert_int_equal(em_store_import(s, GOLDEN, NULL, &import, &err), EM_OK);
  em_import_free(&import);
  em_store_close(s);
  bench();
  assert_int_equal(em_store_open(in_scratch("db"), EM_STORE_READ, &s, &err), EM_OK);
  if (em_dataset_export(s, in_scratch("ds"), &options, NULL, &report, &err) != EM_OK) fail_msg("%s", err.msg);
  em_store_close(s);
  assert_true(report.golden_groups > 3 && report.measured_groups > 3);
  assert_int_equal(em_dataset_open(in_scratch("ds"), EM_FEAT_VER, &o->d, &err), EM_OK);
  em_fit_group *groups = calloc(em_dataset_n_groups(o->d), sizeof *groups);
  em_dataset_fit_groups(o->d, EM_LABELS_GOLDEN, groups);
  if (em_fit_train(groups, em_dataset_n_groups(o->d), &p, NULL, NULL, &o->prior, &err) != EM_OK)
    fail_msg("%s", err.msg);
  free(groups);
  return true;
}

static void close_dataset(opened *o)
{
  em_prior_free(o->prior);
  em_dataset_close(o->d);
}

static em_eval_measured judged(const opened *o, const char *kernel, int threads)
{
  em_eval_measured e;
  em_err err;
  if (em_eval_measured_pools(o->d, o->prior, kernel, threads, NULL, &e, &err) != EM_OK) fail_msg("%s", err.msg);
  return e;
}

/* Regret@1 by an independent way: the slowest of the rows that none outranks. */
static void check_pool(const opened *o, const em_eval_measured_pool *p)
{
  const em_group *g = em_dataset_group(o->d, p->group);
  double *q = calloc(g->n_rows, sizeof *q), best = INFINITY, top = -INFINITY, slowest = 0;
  em_err err;
  assert_int_equal(em_prior_score(o->prior, &g->cols, g->matrix, g->n_rows, 1, q, &err), EM_OK);
  for (size_t r = 0; r < g->n_rows; r++) top = fmax(top, q[r]);
  for (size_t r = 0; r < g->n_rows; r++) best = fmin(best, g->latency_us[r]);
  for (size_t r = 0; r < g->n_rows; r++)
    if (q[r] == top) slowest = fmax(slowest, g->latency_us[r]);
  assert_true(g->measured && p->regret.measured == g->n_rows);
  assert_true(g->latency_us[p->first] == slowest && g->latency_us[g->fastest] == best);
  if (g->n_rows > 1)
    assert_true(p->regret.at[0] == slowest / best);
  else
    assert_true(isnan(p->regret.at[0]));
  free(q);
}

static void every_pool_is_judged_once(void **state)
{
  (void)state;
  opened o;
  if (!open_dataset(&o)) skip();
  em_eval_measured e = judged(&o, NULL, 1);
  size_t measured = 0, in_cells = 0, with_regret = 0;
  for (size_t i = 0; i < em_dataset_n_groups(o.d); i++) measured += em_dataset_group(o.d, i)->measured;
  assert_true(e.n_pools == measured && measured > 3);
  for (size_t i = 0; i < e.n_pools; i++) {
    check_pool(&o, &e.pools[i]);
    with_regret += !isnan(e.pools[i].regret.at[0]);
  }
  assert_true(e.n_cells == 2 && e.cells[0].h_opt == 1 && e.cells[1].h_opt == 3);
  for (size_t i = 0; i < e.n_cells; i++) {
    const em_regret_summary *s = &e.cells[i].figures;
    bool found = false;
    in_cells += s->pools;
    with_regret -= s->at[0].pools;
    for (size_t k = 0; k < e.n_pools; k++)
      found |= e.pools[k].key == s->at[0].worst_pool && e.pools[k].regret.at[0] == s->at[0].worst;
    assert_true(found && s->at[0].worst >= s->at[0].median && s->spearman.worst <= s->spearman.median);
  }
  assert_true(in_cells == measured && with_regret == 0);
  em_eval_measured_free(&e);
  close_dataset(&o);
}

static void pools_are_found_by_name_or_label(void **state)
{
  (void)state;
  opened o;
  if (!open_dataset(&o)) skip();
  em_eval_measured all = judged(&o, NULL, 1), none = judged(&o, "no such kernel", 1);
  const em_group *first = em_dataset_group(o.d, all.pools[0].group);
  em_eval_measured by_name = judged(&o, first->name, 1), by_label = judged(&o, first->label, 1);
  assert_true(none.n_pools == 0 && none.n_cells == 0);
  assert_true(by_name.n_pools >= 1 && by_name.n_pools < all.n_pools && by_label.n_pools >= 1);
  em_eval_measured_free(&all);
  em_eval_measured_free(&none);
  em_eval_measured_free(&by_name);
  em_eval_measured_free(&by_label);
  close_dataset(&o);
}

static void json_of_both_halves(void **state)
{
  (void)state;
  opened o;
  em_err err;
  em_eval golden;
  char *a, *b;
  cJSON *root;
  const cJSON *s;
  size_t halves = 0;
  if (!open_dataset(&o)) skip();
  em_eval_measured one = judged(&o, NULL, 1), two = judged(&o, NULL, 2);
  assert_int_equal(em_eval_golden(o.d, o.prior, NULL, 1, NULL, &golden, &err), EM_OK);
  assert_int_equal(em_eval_json(&golden, &one, o.d, o.prior, &a, &err), EM_OK);
  assert_int_equal(em_eval_json(&golden, &two, o.d, o.prior, &b, &err), EM_OK);
  assert_string_equal(a, b);
  assert_int_equal(em_json_parse(a, strlen(a), "eval", &root, &err), EM_OK);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "per_measured")), one.n_pools);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "per_golden")), golden.n_pools);
  cJSON_ArrayForEach(s, cJSON_GetObjectItem(root, "summaries"))
    halves += strcmp(em_metrics_text(s, "axes.half"), "measured") == 0;
  assert_int_equal(halves, one.n_cells);
  em_json_free(root);
  em_free(a);
  em_free(b);
  em_eval_free(&golden);
  em_eval_measured_free(&one);
  em_eval_measured_free(&two);
  close_dataset(&o);
}

static int report(const opened *o, em_err *err)
{
  em_eval_measured e;
  char *text;
  int rc = em_eval_measured_pools(o->d, o->prior, NULL, 1, NULL, &e, err);
  if (rc != EM_OK) return rc;
  rc = em_eval_json(NULL, &e, o->d, o->prior, &text, err);
  em_eval_measured_free(&e);
  if (rc == EM_OK) em_free(text);
  return rc;
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  opened o;
  em_err err;
  if (!open_dataset(&o)) skip();
  ASSERT_SURVIVES_NOMEM(report(&o, &err), (void)0);
  close_dataset(&o);
}

static void cancelling_stops(void **state)
{
  (void)state;
  opened o;
  em_err err;
  em_eval_measured e;
  volatile int stop = 1;
  if (!open_dataset(&o)) skip();
  assert_int_equal(em_eval_measured_pools(o.d, o.prior, NULL, 1, &(em_progress){.cancel = &stop}, &e, &err),
                   EM_E_CANCEL);
  close_dataset(&o);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(every_pool_is_judged_once), TEST(pools_are_found_by_name_or_label),
    TEST(json_of_both_halves),       TEST(every_allocation_may_fail),
    TEST(cancelling_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
