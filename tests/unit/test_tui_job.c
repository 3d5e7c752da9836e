/* Work behind the screen: its end, its result, giving it up. */
#include "tests/unit/unit.h"

#include <sched.h>

#include "tui/job.h"

/* Goes on until it is told to stop. */
static int endless(void *ctx, em_err *err)
{
  volatile size_t *rounds = ctx;
  int rc;
  while ((rc = em_progress_step(NULL, "endless work", 0, 0, err)) == EM_OK) {
    __atomic_fetch_add(rounds, 1, __ATOMIC_RELAXED);
    sched_yield();
  }
  return rc;
}

static int quick(void *ctx, em_err *err)
{
  int *n = ctx;
  return ++*n < 3 ? EM_OK : em_fail(err, EM_E_INPUT, "%d is enough", *n);
}

static void test_cancel(void **state)
{
  em_err err;
  em_job *j;
  volatile size_t rounds = 0;
  (void)state;
  assert_int_equal(em_job_start(endless, (void *)&rounds, &j, &err), EM_OK);
  while (__atomic_load_n(&rounds, __ATOMIC_RELAXED) < 3) sched_yield();
  assert_false(em_job_wait(j, 0));
  assert_false(em_job_wait(j, 1));
  em_job_cancel(j);
  assert_true(em_job_wait(j, -1));
  assert_int_equal(em_job_end(j, &err), EM_E_CANCEL);
  assert_non_null(strstr(err.msg, "endless work: cancelled"));
}

/* A cancelled job leaves no mark on the thread that asked for it. */
static void test_results(void **state)
{
  em_err err;
  em_job *j;
  int n = 0;
  (void)state;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(em_job_start(quick, &n, &j, &err), EM_OK);
    em_job_cancel(j);
    assert_int_equal(em_job_end(j, &err), EM_OK);
  }
  assert_int_equal(em_job_start(quick, &n, &j, &err), EM_OK);
  assert_true(em_job_wait(j, 60000));
  assert_int_equal(em_job_end(j, &err), EM_E_INPUT);
  assert_string_equal(err.msg, "3 is enough");
  assert_int_equal(em_progress_step(NULL, "here", 0, 0, &err), EM_OK);
}

static int start_quick(em_err *err)
{
  em_job *j;
  int n = 0, rc = em_job_start(quick, &n, &j, err);
  return rc == EM_OK ? em_job_end(j, err) : rc;
}

static void test_allocation_failures(void **state)
{
  em_err err;
  (void)state;
  ASSERT_SURVIVES_NOMEM(start_quick(&err), );
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cancel), cmocka_unit_test(test_results),
                                     cmocka_unit_test(test_allocation_failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
