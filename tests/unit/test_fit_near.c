/* test_fit_near.c - label smoothing: what rows near a recorded one share of its label. */
#include "tests/unit/unit.h"

#include <math.h>

#include "core/fit/fit_int.h"

/* A ring of two slots under a tile of 64 columns, the recorded row, and what differs from it in the others. */
static char *names[] = {"D_cell_n", "D_stage_depth", "D_threads", "D_tile_n"};
static const em_columns columns = {names, N_OF(names)};
static const double rows[] = {
  4,  2,   128, 64,  /* recorded */
  4,  3,   128, 64,  /* one more slot: a step */
  4,  8,   128, 64,  /* six more: no more than two steps */
  8,  2,   128, 128, /* twice the columns of a thread, and so of the block: two steps */
  4,  NAN, 128, 64,  /* no ring: a step */
  64, 8,   8,   8,   /* far from it in everything: two steps each */
};
enum { N_ROWS = 6 };
static const double STEPS[N_ROWS] = {0, 1, 2, 2, 1, 8};
static const uint32_t recorded[] = {0};

static const em_fit_group pool = {
  .key = "card/pool",
  .gpu = "card",
  .tier = "thread",
  .shape = "shape",
  .cols = &columns,
  .matrix = rows,
  .rows = N_ROWS,
  .total = N_ROWS,
  .positives = recorded,
  .n_positives = 1,
};

static em_fit_set set_of(const em_fit_group *g, const em_fit_params *p)
{
  em_err err;
  em_fit_set s;
  assert_int_equal(em_fit_set_make(g, &(uint32_t){0}, 1, p, &s, &err), EM_OK);
  assert_int_equal(s.n_rows, N_ROWS);
  return s;
}

static void expect_targets(const em_fit_group *g, const em_fit_params *p, const double expected[N_ROWS])
{
  em_fit_set s = set_of(g, p);
  double sum = 0;
  for (size_t i = 0; i < N_ROWS; i++) {
    assert_true(fabs(s.target[i] - expected[i]) < 1e-9);
    sum += s.target[i];
  }
  assert_true(s.total[0] == sum && fabs(sum - 1) < 1e-8);
  em_fit_set_free(&s);
}

/* A row d steps away counts as exp(-d / reach), the recorded one as 1. */
static void nearer_rows_share_more(void **state)
{
  (void)state;
  em_fit_params p;
  em_fit_defaults(&p);
  p.label_smoothing = 0.9;
  for (p.label_reach = 0.5; p.label_reach < 3; p.label_reach += 0.5) {
    double expected[N_ROWS], sum = 0;
    for (size_t i = 0; i < N_ROWS; i++) sum += exp(-STEPS[i] / p.label_reach);
    for (size_t i = 0; i < N_ROWS; i++) expected[i] = exp(-STEPS[i] / p.label_reach) / sum;
    expect_targets(&pool, &p, expected);
  }
}

static void the_share_has_a_limit(void **state)
{
  (void)state;
  em_fit_params p;
  em_fit_defaults(&p);
  p.label_reach = 10; /* without the limit the other rows would have four fifths */
  p.label_smoothing = 0.25;
  double expected[N_ROWS] = {0.75}, sum = 0;
  for (size_t i = 1; i < N_ROWS; i++) sum += exp(-STEPS[i] / 10);
  for (size_t i = 1; i < N_ROWS; i++) expected[i] = 0.25 * exp(-STEPS[i] / 10) / sum;
  expect_targets(&pool, &p, expected);
}

static void labels_stay_where_nothing_is_to_be_shared(void **state)
{
  (void)state;
  static const double labels[N_ROWS] = {1};
  static char *others[] = {"D_aspect", "D_regs", "D_smem_bytes", "D_waves_resident"};
  const em_columns unplaced = {others, N_OF(others)};
  em_fit_group g = pool;
  em_fit_params p;
  em_fit_defaults(&p);
  assert_true(p.label_smoothing > 0);
  p.label_smoothing = 0;
  expect_targets(&pool, &p, labels);
  em_fit_defaults(&p);
  p.objective = EM_OBJECTIVE_PAIRS; /* it counts pairs, not shares */
  expect_targets(&pool, &p, labels);
  em_fit_defaults(&p);
  g.cols = &unplaced; /* no column says what is near */
  expect_targets(&g, &p, labels);
  em_fit_defaults(&p);
  p.label_reach = 0.01; /* so short that the nearest row counts as exp(-100) */
  expect_targets(&pool, &p, labels);
}

/* Two recorded rows: each other row goes by the nearer one, and all targets together are two. */
static void the_nearer_recorded_row_counts(void **state)
{
  (void)state;
  static const uint32_t two[] = {0, 5};
  em_fit_group g = pool;
  em_fit_params p;
  em_fit_defaults(&p);
  g.positives = two;
  g.n_positives = 2;
  p.label_smoothing = 0.9;
  em_fit_set s = set_of(&g, &p);
  double near = 0;
  for (size_t i = 1; i < 5; i++) near += exp(-STEPS[i] / p.label_reach);
  assert_true(fabs(s.target[0] - 2 / (near + 2)) < 1e-9 && s.target[0] == s.target[5]);
  assert_true(fabs(s.target[1] - exp(-1 / p.label_reach) * 2 / (near + 2)) < 1e-9);
  assert_true(fabs(s.total[0] - 2) < 1e-8);
  em_fit_set_free(&s);
}

/* A pool of one column alone shares labels only where that column is one that tells near from far: a misspelled name in
 * the list of those would leave one out. */
static void what_is_near_is_said_by_registered_columns(void **state)
{
  (void)state;
  em_fit_params p;
  size_t found = 0;
  em_fit_defaults(&p);
  for (size_t i = 0; i < em_n_features(); i++) {
    char *name = (char *)(uintptr_t)em_feature_at(i)->name;
    const em_columns one = {&name, 1};
    const double near[N_ROWS] = {1, 2, 2, 2, 2, 2};
    em_fit_group g = pool;
    g.cols = &one;
    g.matrix = near;
    em_fit_set s = set_of(&g, &p);
    found += s.target[0] < 1;
    em_fit_set_free(&s);
  }
  assert_int_equal(found, 22);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nearer_rows_share_more),
    cmocka_unit_test(the_share_has_a_limit),
    cmocka_unit_test(labels_stay_where_nothing_is_to_be_shared),
    cmocka_unit_test(the_nearer_recorded_row_counts),
    cmocka_unit_test(what_is_near_is_said_by_registered_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
