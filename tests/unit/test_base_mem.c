/* Allocation, the arena and growing strings. */
#include "tests/unit/unit.h"

static void test_sizes_that_overflow(void **state)
{
  (void)state;
  int64_t live = em_alloc_live();
  size_t half = SIZE_MAX / 2 + 2;
  assert_null(em_calloc(half, 2));
  assert_null(em_alloc_aligned(half, 2));
  assert_null(em_alloc_aligned(SIZE_MAX - 8, 1));
  char *p = em_strdup("kept");
  assert_null(em_realloc(p, half, 2));
  assert_string_equal(p, "kept");
  em_free(p);
  size_t cap = 0;
  int64_t *items = NULL;
  em_err err;
  assert_int_equal(em_grow(&items, &cap, half / 4, sizeof *items, &err), EM_E_NOMEM);
  assert_null(items);
  assert_int_equal(em_alloc_live(), live);
}

static void test_empty_blocks(void **state)
{
  (void)state;
  void *blocks[] = {em_alloc(0), em_calloc(0, 8), em_realloc(NULL, 0, 8), em_alloc_aligned(0, 8), em_strndup("abc", 0)};
  for (size_t i = 0; i < N_OF(blocks); i++) {
    assert_non_null(blocks[i]);
    em_free(blocks[i]);
  }
  em_free(NULL);
}

static void test_fail_at(void **state)
{
  (void)state;
  em_alloc_fail_at(2, false);
  void *a = em_alloc(1), *b = em_alloc(1), *c = em_alloc(1);
  assert_true(a && !b && c);
  em_alloc_fail_at(1, true);
  assert_null(em_alloc(1));
  assert_null(em_calloc(1, 1));
  em_alloc_fail_at(0, false);
  em_free(a);
  em_free(c);
}

static void test_grow(void **state)
{
  (void)state;
  int *items = NULL;
  size_t cap = 0;
  em_err err;
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(em_grow(&items, &cap, (size_t)i + 1, sizeof *items, &err), EM_OK);
    items[i] = i;
  }
  for (int i = 0; i < 1000; i++) assert_int_equal(items[i], i);
  em_alloc_fail_at(1, false);
  assert_int_equal(em_grow(&items, &cap, cap + 1, sizeof *items, &err), EM_E_NOMEM);
  assert_int_equal(items[999], 999);
  em_free(items);
}

static void test_aligned(void **state)
{
  (void)state;
  for (size_t n = 1; n < 200; n += 7) {
    char *p = em_alloc_aligned(n, 3);
    assert_int_equal((uintptr_t)p % 64, 0);
    memset(p, 1, n * 3);
    em_free(p);
  }
}

static void test_arena(void **state)
{
  (void)state;
  int64_t live = em_alloc_live();
  em_arena *a = em_arena_new();
  char *texts[3000];
  for (int i = 0; i < 3000; i++) {
    char text[16];
    snprintf(text, sizeof text, "t%d", i);
    texts[i] = em_arena_strdup(a, text);
    unsigned char *p = em_arena_alloc(a, (size_t)(i % 50), 9);
    assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
    for (int k = 0; k < i % 50 * 9; k++) assert_int_equal(p[k], 0);
    memset(p, 0xFF, (size_t)(i % 50) * 9);
  }
  memset(em_arena_alloc(a, 1000000, 1), 0xFF, 1000000);
  for (int i = 0; i < 3000; i++) {
    char text[16];
    snprintf(text, sizeof text, "t%d", i);
    assert_string_equal(texts[i], text);
  }
  assert_null(em_arena_alloc(a, SIZE_MAX / 2, 4));
  assert_null(em_arena_alloc(a, SIZE_MAX, 1));
  em_alloc_fail_at(1, false);
  assert_null(em_arena_alloc(a, 100000, 1));
  em_arena_free(a);
  em_arena_free(NULL);
  assert_int_equal(em_alloc_live(), live);
}

static void test_str(void **state)
{
  (void)state;
  em_str b = {0};
  em_err err;
  em_str_put(&b, "a");
  em_str_putn(&b, "bcd", 2);
  em_str_putc(&b, '-');
  em_str_printf(&b, "%05d|%s", 42, "x");
  assert_string_equal(b.s, "abc-00042|x");
  em_str_clear(&b);
  for (int i = 0; i < 10000; i++) em_str_printf(&b, "%d,", i);
  assert_int_equal(b.len, 48890);
  char *text;
  assert_int_equal(em_str_take(&b, &text, &err), EM_OK);
  assert_null(b.s);
  assert_int_equal(strlen(text), 48890);
  em_free(text);
  assert_int_equal(em_str_take(&b, &text, &err), EM_OK);
  assert_string_equal(text, "");
  em_free(text);
}

static void test_str_escapes(void **state)
{
  (void)state;
  em_str b = {0};
  em_str_put_json(&b, "a\"\\/\b\f\n\r\t\x01\x1f\x7f\xc3\xa9");
  assert_string_equal(b.s, "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\xc3\xa9\"");
  em_str_clear(&b);
  em_str_put_json(&b, "a\xff\"\xe2\x82\xc3\xa9\xed\xa0\x80"); /* a byte, half a character, a whole one, a surrogate */
  assert_string_equal(b.s, "\"a\\\\xff\\\"\\\\xe2\\\\x82\xc3\xa9\\\\xed\\\\xa0\\\\x80\"");
  em_str_clear(&b);
  em_str_put_safe(&b, "a\x1b]0;t\x07\xc2\x9b\xc2\xa0\xe2\x82\xac\xff\xc3");
  assert_string_equal(b.s, "a\\x1b]0;t\\x07\\xc2\\x9b\xc2\xa0\xe2\x82\xac\\xff\\xc3");
  em_str_clear(&b);
  em_str_put_safe(&b, "a\u202eb\u2066\u200d\u2026"); /* the joiner and the ellipsis turn nothing around */
  assert_string_equal(b.s, "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\u200d\u2026");
  em_str_free(&b);
}

static int build_text(char **out, em_err *err)
{
  em_str b = {0};
  for (int i = 0; i < 100; i++) em_str_printf(&b, "line %d\n", i);
  em_str_put_json(&b, "x\n");
  em_str_put_safe(&b, "x\n");
  return em_str_take(&b, out, err);
}

static void test_str_nomem(void **state)
{
  (void)state;
  char *text;
  em_err err;
  ASSERT_SURVIVES_NOMEM(build_text(&text, &err), em_free(text));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sizes_that_overflow),
    cmocka_unit_test(test_empty_blocks),
    cmocka_unit_test(test_fail_at),
    cmocka_unit_test(test_grow),
    cmocka_unit_test(test_aligned),
    cmocka_unit_test(test_arena),
    cmocka_unit_test(test_str),
    cmocka_unit_test(test_str_escapes),
    cmocka_unit_test(test_str_nomem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
