/* test_compare_measured.c - two fits side by side on measured pools: figures, interval, verdict, bad files. */
#include "tests/unit/unit.h"

#include <math.h>

#include "core/eval/eval_int.h"
#include "tests/unit/scratch.h"

/* Pools of two cards, on card B of two levels; regret@1 of pool i is factor * 2^(draw below spread). */
static const char *made(const char *name, size_t pools, double factor, uint64_t spread, bool held)
{
  em_str text = {0};
  em_err err;
  const char *path = in_scratch(name);
  em_str_printf(&text, "{\"header\":{},\"full_train\":{\"per_golden\":{}%s",
                held ? "},\"cv\":{\"measured\":{\"holdout_per_pool\":{" : ",\"measured\":{\"per_pool\":{");
  for (size_t i = 0; i < 2 * pools; i++) {
    double regret = factor * (double)((size_t)1 << (spread ? em_rng_below(5, (uint64_t)factor, i, spread) : 0));
    em_str_printf(&text,
                  "%s\"%s/p%03zu@O3\":{\"h_opt\":%d,\"measured\":20,\"spearman\":0.5,\"regret1\":%g,\"regret10\":null}",
                  i ? "," : "", i < pools ? "card A" : "card B", i, i < pools || i % 2 ? 3 : 1, regret);
  }
  em_str_put(&text, "}}}}");
  assert_int_equal(em_str_finish(&text, &err), EM_OK);
  put_file(path, text.s, text.len);
  em_str_free(&text);
  return path;
}

static em_compare opened(const char *a, const char *b)
{
  em_compare c;
  em_err err = {0};
  if (em_compare_open(a, b, &c, &err) != EM_OK) fail_msg("%s", err.msg);
  return c;
}

/* Every regret doubled: the change is 1 on each card and level, nothing varies; there is no line over cards. */
static void twice_the_regret(void **state)
{
  (void)state;
  const char *a = made("a", 20, 1, 0, true), *b = made("b", 20, 2, 0, true);
  em_compare c = opened(a, b), back = opened(b, a);
  const em_compare_measured *m = &c.measured;
  assert_true(m->held_out && m->n_pools == 40 && m->n_cells == 3 && c.n_pools == 0 && c.n_cells == 0);
  for (size_t i = 0; i < 3; i++) {
    const em_compare_measured_cell *x = &m->cells[i], *y = &back.measured.cells[i];
    assert_string_equal(x->gpu, i ? "card B" : "card A");
    assert_true(x->h_opt == (i == 1 ? 1 : 3) && x->pools == (i ? 10 : 20) && x->worse == x->pools && x->better == 0);
    assert_true(x->change == 1 && x->low == 1 && x->high == 1 && x->verdict == EM_VERDICT_WORSE);
    assert_true(y->change == -1 && y->low == -1 && y->high == -1 && y->verdict == EM_VERDICT_BETTER);
    assert_true(x->a.at[0].median == 1 && x->b.at[0].median == 2 && x->a.spearman.pools == x->pools);
    assert_true(x->a.at[1].pools == 0 && isnan(x->a.at[1].median));
  }
  assert_string_equal(m->cells[0].b.at[0].worst_pool, "card A/p000@O3");
  em_compare_close(&c);
  em_compare_close(&back);
}

/* Regrets of a pool that lost or gained rows are of other choices. */
static void pools_of_other_rows_are_left_out(void **state)
{
  (void)state;
  const char *a = made("a", 4, 1, 0, true), *path = made("b", 4, 2, 0, true);
  char *text, *at;
  size_t len;
  em_err err;
  assert_int_equal(em_file_read(path, &text, &len, &err), EM_OK);
  assert_non_null(at = strstr(text, "\"measured\":20"));
  memcpy(at, "\"measured\":21", 13);
  put_file(path, text, len);
  em_compare c = opened(a, path);
  assert_true(c.measured.n_pools == 7 && c.measured.unlike == 1);
  em_compare_close(&c);
  em_free(text);
}

/* The interval beside the textbook one, mean +- 1.96 standard errors. */
static void interval_of_many(void **state)
{
  (void)state;
  const char *a = made("a", 200, 1, 5, true), *b = made("b", 200, 2, 5, true);
  em_compare c = opened(a, b);
  const em_compare_measured_cell *x = &c.measured.cells[0];
  double sum = 0, squares = 0;
  for (size_t i = 0; i < 200; i++) {
    double d = log2(c.measured.pools[i].b.at[0] / c.measured.pools[i].a.at[0]);
    sum += d;
    squares += d * d;
  }
  double mean = sum / 200, error = sqrt((squares / 200 - mean * mean) / 200);
  assert_true(fabs(x->change - mean) < 1e-12);
  assert_true(fabs(x->low - (mean - 1.96 * error)) < 0.1 * error &&
              fabs(x->high - (mean + 1.96 * error)) < 0.1 * error);
  em_compare_close(&c);
}

static void itself_and_few_pools(void **state)
{
  (void)state;
  const char *a = made("a", 20, 1, 4, false), *few = made("few", 3, 1, 0, false), *more = made("more", 3, 8, 0, false);
  em_compare same = opened(a, a), c = opened(few, more);
  for (size_t i = 0; i < same.measured.n_cells; i++)
    assert_true(same.measured.cells[i].change == 0 && same.measured.cells[i].verdict == EM_VERDICT_NONE);
  assert_true(!c.measured.held_out && c.measured.cells[0].low == 3 && c.measured.cells[0].verdict == EM_VERDICT_NONE);
  em_compare_close(&same);
  em_compare_close(&c);
}

static void no_memory(void **state)
{
  (void)state;
  em_err err;
  em_compare c;
  const char *a = made("a", 3, 1, 2, true), *b = made("b", 3, 2, 2, true);
  ASSERT_SURVIVES_NOMEM(em_compare_open(a, b, &c, &err), em_compare_close(&c));
}

static void refuses(const char *entry, const char *why)
{
  em_err err;
  em_compare c;
  em_str text = {0};
  const char *path = in_scratch("bad"), *good = made("a", 3, 1, 0, false);
  em_str_printf(&text, "{\"header\":{},\"full_train\":{\"per_golden\":{},\"measured\":{\"per_pool\":{%s}}}}", entry);
  assert_int_equal(em_str_finish(&text, &err), EM_OK);
  put_file(path, text.s, text.len);
  em_str_free(&text);
  assert_int_equal(em_compare_open(path, good, &c, &err), EM_E_INPUT);
  if (!strstr(err.msg, why)) fail_msg("'%s' does not say '%s'", err.msg, why);
}

#define POOL "\"card A/p000@O3\":"

static void bad_files(void **state)
{
  (void)state;
  refuses("", "no pool is ranked by both");
  refuses("\"card A/other\":{}", "no pool is ranked by both");
  refuses(POOL "{}", "measured of pool card A/p000@O3 is not a count");
  refuses(POOL "{\"measured\":2}", "spearman of measured pool card A/p000@O3: expected a number from -1 to 1");
  refuses(POOL "{\"measured\":2,\"spearman\":2}", "spearman of measured pool");
  refuses(POOL "{\"measured\":2,\"spearman\":null,\"regret1\":0.5}", "regret1 of measured pool");
  refuses(POOL "{\"measured\":2,\"spearman\":null,\"regret1\":\"1\"}", "regret1 of measured pool");
  refuses(POOL "{\"measured\":2,\"spearman\":null,\"regret1\":1,\"regret10\":null,\"h_opt\":4}",
          "found 4, expected 0 to 3");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(twice_the_regret), TEST(pools_of_other_rows_are_left_out),
    TEST(interval_of_many), TEST(itself_and_few_pools),
    TEST(no_memory),        TEST(bad_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
