/* test_fit_leaves.c - the steps to leaf values, on functions of one leaf that are solved by hand. */
#include "tests/unit/unit.h"

#include <math.h>

#include "core/fit/fit_int.h"

/* A loss of one leaf's value, less that at 0, with its first two derivatives. */
typedef struct loss_of {
  double (*loss)(double v), (*slope)(double v), (*curvature)(double v);
} loss_of;

static int64_t evaluate(const void *ctx, size_t begin, size_t end, const double *value, const double *factor,
                        int64_t *sums)
{
  const loss_of *f = ctx;
  (void)begin, (void)end, (void)factor;
  sums[0] = llround(-f->slope(*value) * EM_FIT_ONE_GRAD);
  sums[1] = llround(f->curvature(*value) * EM_FIT_ONE_GRAD);
  return llround((f->loss(*value) - f->loss(0)) * EM_FIT_ONE_LOSS);
}

static double value_after(const loss_of *f, int64_t steps)
{
  em_err err;
  em_fit_leaves leaves;
  em_fit_params p;
  em_fit_defaults(&p);
  p.leaf_method = EM_LEAF_NEWTON;
  p.leaf_steps = steps;
  p.l2_leaf_reg = 0;
  assert_int_equal(em_fit_leaves_open(&leaves, 1, &err), EM_OK);
  leaves.n = 1;
  leaves.weight[0] = leaves.base[0] = 1;
  em_fit_step_leaves(&leaves, &p, &(em_fit_objective){.evaluate = evaluate, .ctx = f, .n_groups = 1, .threads = 1});
  double value = leaves.value[0];
  em_fit_leaves_close(&leaves);
  return value;
}

/* Next to no curvature: Newton's first step would be 100. */
static double falling(double v) { return -v; }
static double falling_slope(double v) { return -1 + 0 * v; }
static double flat(double v) { return 0.01 + 0 * v; }
static double rising(double v) { return v; }
static double rising_slope(double v) { return 1 + 0 * v; }

static void no_step_is_longer_than_four(void **state)
{
  (void)state;
  const loss_of down = {falling, falling_slope, flat}, up = {rising, rising_slope, flat};
  assert_float_equal(value_after(&down, 1), 4, 1e-9);
  assert_float_equal(value_after(&down, 3), 12, 1e-9);
  assert_float_equal(value_after(&up, 1), -4, 1e-9);
}

/* sqrt(1 + x^2), x = v - 1.25: Newton's step from x leads to -x^3. */
static double root(double v) { return sqrt(1 + (v - 1.25) * (v - 1.25)); }
static double root_slope(double v) { return (v - 1.25) / root(v); }
static double root_curvature(double v) { return 1 / (root(v) * root(v) * root(v)); }

/* From x = -1.25 to 1.953125, which is worse: half of it, to 0.3515625, is taken, and the next step is whole again. */
static void a_halved_step_is_followed_by_a_whole_one(void **state)
{
  (void)state;
  const loss_of f = {root, root_slope, root_curvature};
  const double x = 0.3515625;
  assert_float_equal(value_after(&f, 1), 0, 0);
  assert_float_equal(value_after(&f, 2), 1.25 + x, 1e-8);
  assert_float_equal(value_after(&f, 3), 1.25 - x * x * x, 1e-8);
  assert_float_equal(value_after(&f, 10), 1.25, 1e-6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_step_is_longer_than_four),
    cmocka_unit_test(a_halved_step_is_followed_by_a_whole_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
