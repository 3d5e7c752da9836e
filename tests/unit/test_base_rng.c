/* Digests, random numbers, parallel loops, cancelling. */
#include <stdatomic.h>

#include "tests/unit/unit.h"

static void test_digest(void **state)
{
  (void)state;
  char hex[33];
  em_digest back;
  /* XXH3-128 of nothing, as the algorithm's authors publish it */
  em_digest_hex(em_digest_bytes("", 0), hex);
  assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
  assert_true(em_digest_parse(hex, &back));
  assert_true(em_digest_eq(back, em_digest_bytes("", 0)));
  assert_false(em_digest_eq(back, em_digest_bytes("a", 1)));
  static const char *const bad[] = {"", "99aa06d3014798d86001c324468d497", "99aa06d3014798d86001c324468d497f0",
                                    "99AA06d3014798d86001c324468d497f", "99aa06d3014798d86001c324468d497g"};
  for (size_t i = 0; i < N_OF(bad); i++) assert_false(em_digest_parse(bad[i], &back));
}

static void test_hasher(void **state)
{
  (void)state;
  static char data[5000];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * i);
  em_hasher *h = em_hasher_new();
  for (size_t i = 0; i < sizeof data; i += 50) em_hasher_add(h, data + i, 50);
  assert_true(em_digest_eq(em_hasher_end(h), em_digest_bytes(data, sizeof data)));
  em_hasher *a = em_hasher_new(), *b = em_hasher_new();
  em_hasher_add_str(a, "ab");
  em_hasher_add_str(a, "c");
  em_hasher_add_str(b, "a");
  em_hasher_add_str(b, "bc");
  assert_false(em_digest_eq(em_hasher_end(a), em_hasher_end(b)));
  em_alloc_fail_at(1, false);
  assert_null(em_hasher_new());
}

/* Values of an independent program with the formula of base.h. */
static void test_rng_values(void **state)
{
  (void)state;
  static const struct {
    uint64_t seed, stream, index, value;
  } table[] = {
    {0, 0, 0, 0x9717a8266f6f70ccu},        {0, 0, 1, 0x9794065964e27759u},
    {0, 1, 0, 0x2e0dcfe92ddbb2d6u},        {1, 0, 0, 0x55abe32958f2fe8au},
    {42, 7, 1000000, 0xdf9f7fd3d3b99becu}, {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x657de5bb9bec24b5u},
  };
  for (size_t i = 0; i < N_OF(table); i++)
    assert_true(em_rng_u64(table[i].seed, table[i].stream, table[i].index) == table[i].value);
  assert_true(em_rng_f64(0, 0, 0) == 0.590204724677674);
}

/* Chi-squared of 64 cells over neighbours in each of the three arguments: with
 * 63 degrees of freedom a fair source stays below 120 with probability 0.99998. */
static void test_rng_is_uniform(void **state)
{
  (void)state;
  enum { CELLS = 64, DRAWS = 64000 };
  for (int axis = 0; axis < 3; axis++) {
    int count[CELLS] = {0};
    double chi = 0;
    for (uint64_t i = 0; i < DRAWS; i++)
      count[em_rng_below(axis == 0 ? i : 5, axis == 1 ? i : 6, axis == 2 ? i : 7, CELLS)]++;
    for (int c = 0; c < CELLS; c++) chi += (count[c] - 1000.0) * (count[c] - 1000.0) / 1000.0;
    assert_true(chi < 120 && chi > 25);
  }
}

static void test_rng_ranges(void **state)
{
  (void)state;
  for (uint64_t i = 0; i < 10000; i++) {
    double x = em_rng_f64(3, 4, i);
    assert_true(x >= 0 && x < 1);
    assert_true(em_rng_below(3, 4, i, 10) < 10);
    assert_int_equal(em_rng_below(3, 4, i, 1), 0);
  }
}

static void test_sample(void **state)
{
  (void)state;
  size_t out[100];
  em_err err;
  static const size_t sizes[][2] = {{100, 100}, {101, 100}, {1000000, 100}, {SIZE_MAX - 1, 100},
                                    {5, 0},     {0, 0},     {1, 1}};
  for (size_t i = 0; i < N_OF(sizes); i++) {
    size_t n = sizes[i][0], k = sizes[i][1];
    assert_int_equal(em_rng_sample(9, i, n, k, out, &err), EM_OK);
    for (size_t j = 0; j < k; j++) assert_true(out[j] < n && (j == 0 || out[j] > out[j - 1]));
  }
  ASSERT_SURVIVES_NOMEM(em_rng_sample(9, 9, 1000, 100, out, &err), );
}

/* Each of the 20 subsets of 3 of 6 must come up about equally often; with 19
 * degrees of freedom chi-squared stays below 55 with probability 0.99998. */
static void test_sample_is_uniform(void **state)
{
  (void)state;
  int count[64] = {0}, seen = 0;
  double chi = 0;
  em_err err;
  for (uint64_t i = 0; i < 20000; i++) {
    size_t s[3];
    assert_int_equal(em_rng_sample(1, i, 6, 3, s, &err), EM_OK);
    count[1 << s[0] | 1 << s[1] | 1 << s[2]]++;
  }
  for (int m = 0; m < 64; m++)
    if (count[m]) {
      seen++;
      chi += (count[m] - 1000.0) * (count[m] - 1000.0) / 1000.0;
    }
  assert_int_equal(seen, 20);
  assert_true(chi < 55);
}

enum { N = 10007, CHUNK = 64 };

typedef struct sums {
  double of_chunk[N / CHUNK + 1];
  atomic_int calls;
  bool wrong_border;
} sums;

static void sum_chunk(void *ctx, size_t begin, size_t end)
{
  sums *s = ctx;
  double sum = 0;
  if (begin % CHUNK || end != (begin + CHUNK < N ? begin + CHUNK : N)) s->wrong_border = true;
  for (size_t i = begin; i < end; i++) sum += em_rng_f64(1, 2, i);
  s->of_chunk[begin / CHUNK] = sum;
  atomic_fetch_add(&s->calls, 1);
}

static void test_parallel_is_deterministic(void **state)
{
  (void)state;
  static sums one, many;
  em_parallel_for(N, CHUNK, 1, sum_chunk, &one);
  assert_int_equal(one.calls, N / CHUNK + 1);
  static const int threads[] = {0, 2, 3, 4, 100};
  for (size_t t = 0; t < N_OF(threads); t++) {
    many = (sums){0};
    em_parallel_for(N, CHUNK, threads[t], sum_chunk, &many);
    assert_false(many.wrong_border);
    assert_int_equal(many.calls, N / CHUNK + 1);
    assert_memory_equal(many.of_chunk, one.of_chunk, sizeof one.of_chunk);
  }
  many = (sums){0};
  em_parallel_for(0, CHUNK, 4, sum_chunk, &many);
  assert_int_equal(many.calls, 0);
}

static void inner_loop(void *ctx, size_t begin, size_t end)
{
  for (size_t i = begin; i < end; i++) atomic_fetch_add((atomic_int *)ctx, 1);
}

static void outer_loop(void *ctx, size_t begin, size_t end)
{
  for (size_t i = begin; i < end; i++) em_parallel_for(100, 7, 4, inner_loop, ctx);
}

static void test_parallel_nests(void **state)
{
  (void)state;
  atomic_int count = 0;
  em_parallel_for(50, 1, 4, outer_loop, &count);
  assert_int_equal(count, 5000);
  assert_true(em_cpu_count() >= 1);
}

static void count_report(void *ctx, const char *what, size_t done, size_t total)
{
  assert_string_equal(what, "work");
  *(size_t *)ctx = done * 100 / total;
}

static void test_progress(void **state)
{
  (void)state;
  em_err err;
  size_t percent = 0;
  volatile int cancel = 0;
  em_progress p = {count_report, &percent, &cancel};
  assert_int_equal(em_progress_step(NULL, "work", 1, 4, &err), EM_OK);
  assert_int_equal(em_progress_step(&p, "work", 1, 4, &err), EM_OK);
  assert_int_equal(percent, 25);
  cancel = 1;
  assert_int_equal(em_progress_step(&p, "work", 2, 4, &err), EM_E_CANCEL);
  assert_string_equal(err.msg, "work: cancelled after 2 of 4");
}

/* What a thread obeys holds without a progress, and beside one; whoever sets it puts back what was there. */
static void test_cancel_of_thread(void **state)
{
  (void)state;
  em_err err;
  volatile int outer = 0, inner = 0;
  const em_progress p = {.cancel = &inner};
  assert_null(em_cancel_of_thread(&outer));
  assert_int_equal(em_progress_step(NULL, "work", 0, 1, &err), EM_OK);
  em_cancel_set(&outer);
  assert_int_equal(em_progress_step(NULL, "work", 0, 1, &err), EM_E_CANCEL);
  assert_int_equal(em_progress_step(&p, "work", 0, 1, &err), EM_E_CANCEL);
  assert_ptr_equal(em_cancel_of_thread(&inner), &outer);
  assert_int_equal(em_progress_step(NULL, "work", 0, 1, &err), EM_OK);
  assert_ptr_equal(em_cancel_of_thread(NULL), &inner);
  assert_int_equal(em_progress_step(NULL, "work", 0, 1, &err), EM_OK);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_digest),
    cmocka_unit_test(test_hasher),
    cmocka_unit_test(test_rng_values),
    cmocka_unit_test(test_rng_is_uniform),
    cmocka_unit_test(test_rng_ranges),
    cmocka_unit_test(test_sample),
    cmocka_unit_test(test_sample_is_uniform),
    cmocka_unit_test(test_parallel_is_deterministic),
    cmocka_unit_test(test_parallel_nests),
    cmocka_unit_test(test_progress),
    cmocka_unit_test(test_cancel_of_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
