/* test_prior_rank.c - ranks, the cold pick and the order of a pool, against figures worked by hand. */
#include "tests/unit/prior_models.h"

/* Sorted: 9 7 7 7 5 5 2. */
static const double quality[] = {7, 2, 9, 7, 5, 7, 5};

static void check(const uint32_t *positives, size_t n, size_t against, size_t optimistic, size_t plateau, size_t best)
{
  em_rank r = em_rank_of(quality, N_OF(quality), positives, n);
  assert_int_equal(r.against, against);
  assert_int_equal(r.optimistic, optimistic);
  assert_int_equal(r.plateau, plateau);
  assert_int_equal(r.best, best);
}

static void ties_count_against(void **state)
{
  (void)state;
  check((uint32_t[]){2}, 1, 0, 0, 0, 2);
  check((uint32_t[]){3}, 1, 3, 1, 2, 3); /* behind 9 and two other 7s */
  check((uint32_t[]){6}, 1, 5, 4, 1, 6);
  check((uint32_t[]){1}, 1, 6, 6, 0, 1);
}

static void best_positive_is_ranked(void **state)
{
  (void)state;
  check((uint32_t[]){1, 6}, 2, 5, 4, 1, 6);
  check((uint32_t[]){5, 3}, 2, 3, 1, 2, 5); /* the first of equals; the other counts like any row */
  check((uint32_t[]){4, 2, 0}, 3, 0, 0, 0, 2);
}

static void one_row_is_first(void **state)
{
  (void)state;
  const double q = -3;
  em_rank r = em_rank_of(&q, 1, (uint32_t[]){0}, 1);
  assert_true(r.against == 0 && r.optimistic == 0 && r.plateau == 0 && r.best == 0);
}

static void parse_rows(const char *const *lines, size_t n, em_row *rows)
{
  em_err err;
  for (size_t i = 0; i < n; i++)
    if (em_row_parse(lines[i], &rows[i], &err)) fail_msg("%s", err.msg);
}

static const char *const lines[] = {"WORK=t64",  "WORK=t32", "WORK=t128", "WORK=t256",
                                    "WORK=t512", "WORK=t16", "WORK=t8"};

/* Ties by content: WORK texts order as t16 < t256 < t64 among the sevens, t512 < t8 among the fives. */
static void order_breaks_ties_by_content(void **state)
{
  (void)state;
  em_row rows[N_OF(lines)];
  uint32_t order[N_OF(lines)];
  const uint32_t want[] = {2, 5, 3, 0, 4, 6, 1};
  em_err err;
  parse_rows(lines, N_OF(lines), rows);
  assert_int_equal(em_rank_order(quality, rows, N_OF(lines), order, &err), EM_OK);
  assert_memory_equal(order, want, sizeof want);
}

static void order_without_rows_breaks_ties_by_index(void **state)
{
  (void)state;
  uint32_t order[N_OF(quality)];
  const uint32_t want[] = {2, 0, 3, 5, 4, 6, 1};
  em_err err;
  assert_int_equal(em_rank_order(quality, NULL, N_OF(quality), order, &err), EM_OK);
  assert_memory_equal(order, want, sizeof want);
  assert_int_equal(em_rank_pick(quality, NULL, N_OF(quality)), 2);
  assert_int_equal(em_rank_order(quality, NULL, 0, order, &err), EM_OK);
}

/* Whatever the order of enumeration: the same rows in the same ranks. */
static void order_does_not_depend_on_permutation(void **state)
{
  (void)state;
  enum { N = N_OF(lines) };
  em_row rows[N];
  em_err err;
  uint32_t order[N];
  parse_rows(lines, N, rows);
  assert_int_equal(em_rank_order(quality, rows, N, order, &err), EM_OK);
  for (size_t step = 1; step < N; step++) { /* 7 is prime: i * step runs over all rows */
    em_row moved[N];
    double q[N];
    uint32_t got[N];
    for (size_t i = 0; i < N; i++) {
      moved[i] = rows[i * step % N];
      q[i] = quality[i * step % N];
    }
    assert_int_equal(em_rank_order(q, moved, N, got, &err), EM_OK);
    for (size_t i = 0; i < N; i++) assert_true(em_row_equal(&moved[got[i]], &rows[order[i]]));
    assert_int_equal(em_rank_pick(q, moved, N), got[0]);
  }
}

static void pick_breaks_ties_by_content(void **state)
{
  (void)state;
  const double equal[] = {1, 1, 1, 1, 1, 1, 1};
  em_row rows[N_OF(lines)];
  parse_rows(lines, N_OF(lines), rows);
  assert_int_equal(em_rank_pick(equal, rows, N_OF(lines)), 2); /* t128 is the least text */
}

static void order_of_many_is_sorted(void **state)
{
  (void)state;
  enum { N = 5000 };
  static double q[N];
  static uint32_t order[N];
  em_err err;
  for (size_t i = 0; i < N; i++) q[i] = (double)em_rng_below(1, 2, i, 100);
  assert_int_equal(em_rank_order(q, NULL, N, order, &err), EM_OK);
  for (size_t i = 1; i < N; i++)
    assert_true(q[order[i - 1]] > q[order[i]] || (q[order[i - 1]] == q[order[i]] && order[i - 1] < order[i]));
}

static void order_may_run_out_of_memory(void **state)
{
  (void)state;
  uint32_t order[N_OF(quality)];
  em_err err;
  ASSERT_SURVIVES_NOMEM(em_rank_order(quality, NULL, N_OF(quality), order, &err), (void)0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ties_count_against),
    cmocka_unit_test(best_positive_is_ranked),
    cmocka_unit_test(one_row_is_first),
    cmocka_unit_test(order_breaks_ties_by_content),
    cmocka_unit_test(order_without_rows_breaks_ties_by_index),
    cmocka_unit_test(order_does_not_depend_on_permutation),
    cmocka_unit_test(pick_breaks_ties_by_content),
    cmocka_unit_test(order_of_many_is_sorted),
    cmocka_unit_test(order_may_run_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
