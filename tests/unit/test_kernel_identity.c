/* The identity: what it ignores and what it sees. */
#include "tests/unit/kernel_text.h"

/* A linear with bias over a symbolic m, and a mask from a Select. */
static const char base[] =
  "{\"inputs\":[\"x0\",\"x1\",\"x2\"],\"outputs\":[\"out\"],\"nodes\":["
  "{\"id\":\"x0\",\"op\":\"input\",\"outputs\":[[\"x0\",\"f16\",[{\"sym\":\"seq\",\"hint\":128},256]]]},"
  "{\"id\":\"x1\",\"op\":\"input\",\"outputs\":[[\"x1\",\"f16\",[256,64]]]},"
  "{\"id\":\"x2\",\"op\":\"constant\",\"attrs\":{\"name\":\"bias\",\"value\":2.5},\"outputs\":[[\"x2\",\"f32\",[1]]]},"
  "{\"id\":\"out\",\"op\":\"loop\",\"attrs\":{\"body\":["
  "{\"Loop\":{\"axis\":{\"name\":\"a0\",\"extent\":{\"sym\":\"seq\",\"hint\":128}},\"body\":["
  "{\"Loop\":{\"axis\":{\"name\":\"a1\",\"extent\":64},\"body\":["
  "{\"Loop\":{\"axis\":{\"name\":\"a2\",\"extent\":256},\"body\":["
  "{\"Load\":{\"names\":[\"in0\"],\"input\":\"x0\",\"index\":[\"a0\",\"a2\"]}},"
  "{\"Load\":{\"names\":[\"in1\"],\"input\":\"x1\",\"index\":[\"a2\",\"a1\"]}},"
  "{\"Assign\":{\"name\":\"v0\",\"op\":\"multiply\",\"args\":[\"in0\",\"in1\"],\"dtype\":\"f32\"}},"
  "{\"Accum\":{\"name\":\"acc0\",\"value\":\"v0\",\"axes\":[\"a2\"]}}]}},"
  "{\"Load\":{\"names\":[\"in2\"],\"input\":\"x2\",\"index\":[\"0\"]}},"
  "{\"Assign\":{\"name\":\"v1\",\"op\":\"add\",\"args\":[\"acc0\",\"in2\"]}},"
  "{\"Select\":{\"name\":\"v2\",\"branches\":[{\"value\":\"v1\",\"select\":\"a1 <= a0 + seq\"},{\"value\":\"in2\",\"select\":\"true\"}]}},"
  "{\"Write\":{\"output\":\"out\",\"index\":[\"a0\",\"a1\"],\"values\":[\"v2\"]}}]}}]}}],\"name\":\"k_one\"},"
  "\"inputs\":[\"x0\",\"x1\",\"x2\"],\"outputs\":[[\"out\",\"f16\",[{\"sym\":\"seq\",\"hint\":128},64]]]}]}";

/* The base with up to six replacements ("from", "to", ..., NULL). */
static em_digest changed(const char *const *pairs)
{
  char *text = em_strdup(base);
  for (; *pairs; pairs += 2) {
    assert_non_null(strstr(text, pairs[0]));
    char *next = replaced(text, pairs[0], pairs[1]);
    em_free(text);
    text = next;
  }
  em_digest d = identity_of(text);
  em_free(text);
  return d;
}

static void names_and_hints_do_not_matter(void **state)
{
  (void)state;
  static const char *const same[][15] = {
    {"in0", "left", "in1", "right", "v0", "product", "acc0", "total", "v1", "shifted", "v2", "masked", NULL},
    {"a0", "row", "a1", "column", "a2", "inner", NULL},
    {"a0", "tmp", "a2", "a0", "a1", "a2", "tmp", "a1", NULL},
    {"\"x0\"", "\"activations\"", "\"x1\"", "\"model.weight\"", "\"out\"", "\"result\"", NULL},
    {"seq", "tokens", NULL},
    {"\"hint\":128", "\"hint\":4096", NULL},
    {",\"hint\":128", "", NULL},
    {"\"id\":\"x0\"", "\"id\":\"node17\"", "\"id\":\"out\"", "\"id\":\"other\"", NULL},
    {"k_one", "k_two", NULL},
    {"\"name\":\"bias\"", "\"name\":\"beta\"", NULL},
    {"\"inputs\":[\"x0\",\"x1\",\"x2\"]", "\"inputs\":[\"x2\",\"x0\",\"x1\"]", NULL},
    {"a1 <= a0 + seq", "(a1)<=((a0)+(seq))", NULL},
    {"\"value\":2.5", "\"value\":2.50", NULL},
    {"\"op\":\"constant\",\"attrs\":{\"name\":\"bias\",\"value\":2.5}",
     "\"attrs\":{\"value\":2.5,\"name\":\"bias\"},\"op\":\"constant\"", NULL},
    {"{\"name\":\"v0\",\"op\":\"multiply\",\"args\":[\"in0\",\"in1\"],\"dtype\":\"f32\"}",
     "{\"dtype\":\"f32\",\"args\":[\"in0\",\"in1\"],\"op\":\"multiply\",\"name\":\"v0\"}", NULL},
  };
  em_digest d = identity_of(base);
  for (size_t i = 0; i < N_OF(same); i++)
    if (!em_digest_eq(d, changed(same[i])))
      fail_msg("case %zu changed the identity: \"%s\" to \"%s\"", i, same[i][0], same[i][1]);
}

static void the_definition_matters(void **state)
{
  (void)state;
  static const char *const other[][5] = {
    {"\"op\":\"add\"", "\"op\":\"subtract\"", NULL},
    {"\"args\":[\"acc0\",\"in2\"]", "\"args\":[\"in2\",\"acc0\"]", NULL},
    {"\"value\":\"v0\",\"axes\"", "\"value\":\"v0\",\"op\":\"maximum\",\"axes\"", NULL},
    {"\"extent\":64", "\"extent\":63", NULL},
    {"\"a1\",\"extent\":64", "\"a1\",\"extent\":{\"sym\":\"n\",\"hint\":64}", NULL},
    {"\"f16\",[256,64]", "\"bf16\",[256,64]", NULL},
    {"\"f16\",[256,64]", "\"f16\",[256,65]", NULL},
    {"\"x1\",\"f16\",[256,64]", "\"x1\",\"f16\",[256,{\"sym\":\"n\",\"hint\":64}]", NULL},
    {"\"dtype\":\"f32\"", "\"dtype\":\"f64\"", NULL},
    {",\"dtype\":\"f32\"", "", NULL},
    {"[\"a2\",\"a1\"]", "[\"a1\",\"a2\"]", NULL},
    {"[\"a2\",\"a1\"]", "[\"a2\",\"a1 + 1\"]", NULL},
    {"a1 <= a0 + seq", "a1 < a0 + seq", NULL},
    {"\"value\":2.5", "\"value\":2.75", NULL},
    {"\"values\":[\"v2\"]", "\"values\":[\"v1\"]", NULL},
    {"\"values\":[\"v2\"]", "\"values\":[\"v2\"],\"atomic\":true", NULL},
    {"\"f16\",[{\"sym\":\"seq\",\"hint\":128},64]", "\"f32\",[{\"sym\":\"seq\",\"hint\":128},64]", NULL},
    {"\"x0\",\"f16\",[{\"sym\":\"seq\",\"hint\":128}", "\"x0\",\"f16\",[{\"sym\":\"other\",\"hint\":128}", NULL},
  };
  em_digest seen[N_OF(other) + 1] = {identity_of(base)};
  for (size_t i = 0; i < N_OF(other); i++) {
    seen[i + 1] = changed(other[i]);
    for (size_t j = 0; j <= i; j++)
      if (em_digest_eq(seen[j], seen[i + 1]))
        fail_msg("case %zu (\"%s\" to \"%s\") has the identity of case %zu", i, other[i][0], other[i][1], j);
  }
}

/* An input that nothing loads is no part of what the kernel computes. */
static void unused_inputs_do_not_matter(void **state)
{
  (void)state;
  static const char *const extra[] = {
    "{\"id\":\"x1\"", "{\"id\":\"x9\",\"op\":\"input\",\"outputs\":[[\"x9\",\"f64\",[3]]]},{\"id\":\"x1\"", NULL};
  assert_true(em_digest_eq(identity_of(base), changed(extra)));
}

static void printing_keeps_the_identity(void **state)
{
  (void)state;
  char *printed = text_of(kernel_of(base));
  assert_true(em_digest_eq(identity_of(base), identity_of(printed)));
  em_free(printed);
}

/* A shape text sees sizes and dtypes, not that an axis is symbolic. */
static void shapes_ignore_what_is_dynamic(void **state)
{
  (void)state;
  em_err err;
  char *fixed, *symbolic, *bound;
  em_kernel *a = build_of((em_build){.kind = "matmul", .m = 512, .n = 256, .k = 64, .in = EM_F16, .out = EM_F32});
  em_kernel *b = build_of(
    (em_build){.kind = "matmul", .m = 512, .n = 256, .k = 64, .in = EM_F16, .out = EM_F32, .sym_m = "seq_len"});
  em_binding size = {"seq_len", 32};
  assert_int_equal(em_kernel_shape(a, (em_bindings){0}, &fixed, &err), EM_OK);
  assert_int_equal(em_kernel_shape(b, (em_bindings){0}, &symbolic, &err), EM_OK);
  assert_int_equal(em_kernel_shape(b, (em_bindings){&size, 1}, &bound, &err), EM_OK);
  assert_string_equal(fixed, "contraction 512x256x64 f16->f32");
  assert_string_equal(symbolic, fixed);
  assert_string_equal(bound, "contraction 32x256x64 f16->f32");
  em_free(fixed);
  em_free(symbolic);
  em_free(bound);
  em_kernel_free(a);
  em_kernel_free(b);
}

/* A copy at other sizes is the same kernel, but its nest has the sizes. */
static void a_copy_takes_sizes(void **state)
{
  (void)state;
  em_err err;
  em_kernel *copy;
  em_kernel *k = build_of((em_build){.kind = "matmul", .m = 512, .n = 256, .k = 64, .in = EM_F16, .sym_m = "seq_len"});
  em_binding size = {"seq_len", 32};
  em_str a = {0}, b = {0};
  assert_int_equal(em_kernel_copy(k, (em_bindings){&size, 1}, &copy, &err), EM_OK);
  assert_true(em_digest_eq(em_kernel_identity(k), em_kernel_identity(copy)));
  em_kernel_print(k, &a);
  em_kernel_print(copy, &b);
  assert_string_equal(a.s, b.s);
  assert_int_equal(em_kernel_nest(k)->free[0].hint, 512);
  assert_int_equal(em_kernel_nest(copy)->free[0].hint, 32);
  assert_int_equal(em_kernel_nest(copy)->free[0].extent, 0);
  assert_int_equal(em_kernel_nest(copy)->free[1].hint, 256);
  em_str_free(&a);
  em_str_free(&b);
  em_kernel_free(copy);
  em_kernel_free(k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_and_hints_do_not_matter), cmocka_unit_test(the_definition_matters),
    cmocka_unit_test(unused_inputs_do_not_matter),   cmocka_unit_test(printing_keeps_the_identity),
    cmocka_unit_test(shapes_ignore_what_is_dynamic), cmocka_unit_test(a_copy_takes_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
