/* test_compare.c - two metrics files side by side: figures, interval, verdict. */
#include "tests/unit/unit.h"

#include <math.h>

#include "core/eval/eval_int.h"
#include "tests/unit/scratch.h"

/* Two cards, p pools each; rank(i) of pool i, and `spread` times a draw beside it. */
static const char *made(const char *name, size_t pools, size_t shift, uint64_t spread, const char *part)
{
  em_str text = {0};
  em_err err;
  const char *path = in_scratch(name);
  bool held = strcmp(part, "cv") == 0;
  em_str_printf(&text, "{\"header\":{},\"full_train\":{\"per_golden\":{%s",
                held ? "}},\"cv\":{\"holdout_per_golden\":{" : "");
  for (size_t i = 0; i < 2 * pools; i++)
    em_str_printf(&text, "%s\"%s/p%03zu\":{\"rank\":%zu,\"rank_optimistic\":0,\"pool\":%zu,\"tier\":\"%s\"}",
                  i ? "," : "", i < pools ? "card A" : "card B", i,
                  ((size_t)1 << (4 + shift + (spread ? em_rng_below(5, shift, i, spread) : 0))) - 1,
                  i % 2 ? (size_t)50 : (size_t)20000, i % 3 ? "warp" : "thread");
  em_str_put(&text, held ? "}},\"x\":1}" : "}}}");
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

static const em_compare_cell *total(const em_compare *c) { return &c->cells[c->n_cells - 1]; }

/* A fit beside itself differs in nothing. */
static void itself(void **state)
{
  (void)state;
  const char *a = made("a", 20, 0, 3, "cv");
  em_compare c = opened(a, a);
  assert_true(c.held_out && c.n_pools == 40 && c.only_a == 0 && c.only_b == 0);
  for (size_t i = 0; i < c.n_cells; i++)
    assert_true(c.cells[i].change == 0 && c.cells[i].low == 0 && c.cells[i].high == 0 &&
                c.cells[i].verdict == EM_VERDICT_NONE);
  em_compare_close(&c);
}

/* Every rank doubled: the change is 1 and nothing varies; the other way round it is -1. */
static void twice_the_rank(void **state)
{
  (void)state;
  const char *a = made("a", 20, 0, 0, "cv"), *b = made("b", 20, 1, 0, "cv");
  em_compare c = opened(a, b), back = opened(b, a);
  const em_compare_cell *t = total(&c), *u = total(&back);
  assert_true(t->change == 1 && t->low == 1 && t->high == 1 && t->verdict == EM_VERDICT_WORSE && t->worse == 40);
  assert_true(u->change == -1 && u->low == -1 && u->high == -1 && u->verdict == EM_VERDICT_BETTER && u->better == 40);
  assert_true(t->a.mean_log2 == 4 && t->b.mean_log2 == 5 && t->a.median == 15 && t->a.pools == 40);
  em_compare_close(&c);
  em_compare_close(&back);
}

/* Cells: 2 cards x 2 tiers x 2 sizes, 2 cards, all; each pool in one of each kind. */
static void cells_part_the_pools(void **state)
{
  (void)state;
  const char *a = made("a", 30, 0, 3, "cv"), *b = made("b", 30, 1, 3, "cv");
  em_compare c = opened(a, b);
  size_t small = 0, cards = 0;
  assert_int_equal(c.n_cells, 8 + 2 + 1);
  for (size_t i = 0; i < c.n_cells; i++) {
    if (*c.cells[i].tier)
      small += c.cells[i].a.pools;
    else if (*c.cells[i].gpu)
      cards += c.cells[i].a.pools;
  }
  assert_true(small == 60 && cards == 60 && total(&c)->a.pools == 60);
  assert_true(*total(&c)->gpu == '\0');
  em_compare_close(&c);
}

/* The interval beside the textbook one, mean +- 1.96 standard errors, over many pools. */
static void interval_of_many(void **state)
{
  (void)state;
  const char *a = made("a", 200, 0, 6, "cv"), *b = made("b", 200, 1, 6, "cv");
  em_compare c = opened(a, b);
  double sum = 0, squares = 0, n = (double)c.n_pools;
  for (size_t i = 0; i < c.n_pools; i++) {
    double d = c.pools[i].log2_b - c.pools[i].log2_a;
    sum += d;
    squares += d * d;
  }
  double mean = sum / n, error = sqrt((squares / n - mean * mean) / n);
  const em_compare_cell *t = total(&c);
  assert_true(fabs(t->change - mean) < 1e-12);
  assert_true(fabs(t->low - (mean - 1.96 * error)) < 0.1 * error &&
              fabs(t->high - (mean + 1.96 * error)) < 0.1 * error);
  em_compare_close(&c);
}

/* Few pools that moved show nothing, however far they moved. */
static void few_pools(void **state)
{
  (void)state;
  const char *a = made("a", 2, 0, 0, "cv"), *b = made("b", 2, 9, 0, "cv");
  em_compare c = opened(a, b);
  assert_true(total(&c)->low == 9 && total(&c)->verdict == EM_VERDICT_NONE);
  em_compare_close(&c);
}

/* Without cross-validation in both the ranks are those of pools learned from, and it is said. */
static void learned_pools(void **state)
{
  (void)state;
  const char *a = made("a", 5, 0, 0, "full"), *b = made("b", 7, 1, 0, "full");
  em_compare c = opened(a, b);
  assert_true(!c.held_out && c.n_pools == 8 && c.only_a == 2 && c.only_b == 6);
  em_compare_close(&c);
}

/* Pools 0 to n - 1, each of sampled[i] candidates (0 = the file does not say). */
static const char *sampled(const char *name, const int *counts, size_t n)
{
  em_str text = {0};
  em_err err;
  const char *path = in_scratch(name);
  em_str_put(&text, "{\"header\":{},\"full_train\":{\"per_golden\":{");
  for (size_t i = 0; i < n; i++) {
    em_str_printf(&text, "%s\"card/p%zu\":{\"rank\":1,\"rank_optimistic\":1,\"pool\":9000", i ? "," : "", i);
    if (counts[i]) em_str_printf(&text, ",\"sampled\":%d", counts[i]);
    em_str_putc(&text, '}');
  }
  em_str_put(&text, "}}}");
  assert_int_equal(em_str_finish(&text, &err), EM_OK);
  put_file(path, text.s, text.len);
  em_str_free(&text);
  return path;
}

/* Rank 2 of 200 is no better than rank 2 of 2000, nor worse: such pools are left out, and counted. */
static void ranks_among_other_numbers_of_candidates(void **state)
{
  (void)state;
  const char *a = sampled("a", (const int[]){2000, 2000, 0, 300}, 4);
  const char *b = sampled("b", (const int[]){200, 2000, 200, 0}, 4);
  em_compare c = opened(a, b);
  em_err err;
  assert_true(c.n_pools == 3 && c.unlike == 1 && c.only_a == 0 && c.only_b == 0);
  for (size_t i = 0; i < c.n_pools; i++) assert_string_not_equal(c.pools[i].key, "card/p0");
  em_compare_close(&c);
  a = sampled("a", (const int[]){2000}, 1);
  assert_int_equal(em_compare_open(a, b, &c, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "among as many candidates"));
}

static void order_by_change(void **state)
{
  (void)state;
  em_err err;
  uint32_t *order;
  const char *a = made("a", 20, 0, 4, "cv"), *b = made("b", 20, 1, 4, "cv");
  em_compare c = opened(a, b);
  assert_int_equal(em_compare_order(&c, &order, &err), EM_OK);
  for (size_t i = 1; i < c.n_pools; i++) {
    const em_compare_pool *x = &c.pools[order[i - 1]], *y = &c.pools[order[i]];
    double dx = x->log2_b - x->log2_a, dy = y->log2_b - y->log2_a;
    assert_true(dx < dy || (dx == dy && strcmp(x->key, y->key) < 0));
  }
  em_free(order);
  em_compare_close(&c);
}

static void no_memory(void **state)
{
  (void)state;
  em_err err;
  em_compare c;
  const char *a = made("a", 3, 0, 2, "cv"), *b = made("b", 3, 1, 2, "cv");
  ASSERT_SURVIVES_NOMEM(em_compare_open(a, b, &c, &err), em_compare_close(&c));
}

static void refuses(const char *text, const char *why)
{
  em_err err;
  em_compare c;
  const char *path = in_scratch("bad"), *good = made("a", 3, 0, 0, "cv");
  put_file(path, text, strlen(text));
  assert_int_equal(em_compare_open(good, path, &c, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, why));
}

#define HELD(entry)                                                                                                    \
  "{\"header\":{},\"full_train\":{\"per_golden\":{}},\"cv\":{\"holdout_per_golden\":{\"card A/p000\":" entry "}}}"

static void bad_files(void **state)
{
  (void)state;
  refuses("[]", "no metrics file");
  refuses("{\"header\":{}}", "no metrics file");
  refuses(HELD("{\"rank_optimistic\":0,\"pool\":1}"), "rank of pool card A/p000");
  refuses(HELD("{\"rank\":-1,\"rank_optimistic\":0,\"pool\":1}"), "not a count");
  refuses(HELD("{\"rank\":1.5,\"rank_optimistic\":0,\"pool\":1}"), "not a count");
  refuses(HELD("{\"rank\":1e300,\"rank_optimistic\":0,\"pool\":1}"), "not a count");
  refuses("{\"header\":{},\"full_train\":{\"per_golden\":{}},\"cv\":{\"holdout_per_golden\":{\"x\":{}}}}",
          "no pool is ranked by both");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(itself),
    TEST(twice_the_rank),
    TEST(cells_part_the_pools),
    TEST(interval_of_many),
    TEST(few_pools),
    TEST(learned_pools),
    TEST(ranks_among_other_numbers_of_candidates),
    TEST(order_by_change),
    TEST(no_memory),
    TEST(bad_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
