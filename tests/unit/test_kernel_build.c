/* Builders: the published text, and what the kernels compute. */
#include "tests/unit/kernel_eval.h"

/* The body that the published golden file has for this matmul, written by hand. */
static void matmul_has_the_published_form(void **state)
{
  (void)state;
  char *got = text_of(build_of((em_build){.kind = "matmul", .m = 512, .n = 512, .k = 512, .in = EM_F16}));
  char *cut = strstr(got, ",\"name\":\"k_matmul_");
  assert_non_null(cut);
  *cut = '\0';
  assert_string_equal(
    got,
    "{\"inputs\":[\"x1\",\"x0\"],\"outputs\":[\"matmul\"],\"nodes\":[{\"id\":\"x0\",\"op\":\"input\",\"outputs\":[[\"x0\",\"f16\",[512,512]]]},"
    "{\"id\":\"x1\",\"op\":\"input\",\"outputs\":[[\"x1\",\"f16\",[512,512]]]},{\"id\":\"matmul\",\"op\":\"loop\",\"attrs\":{\"body\":["
    "{\"Loop\":{\"axis\":{\"name\":\"a0\",\"extent\":512},\"body\":[{\"Loop\":{\"axis\":{\"name\":\"a1\",\"extent\":512},\"body\":["
    "{\"Loop\":{\"axis\":{\"name\":\"a2\",\"extent\":512},\"body\":[{\"Load\":{\"names\":[\"in0\"],\"input\":\"x0\",\"index\":[\"a0\",\"a2\"]}},"
    "{\"Load\":{\"names\":[\"in1\"],\"input\":\"x1\",\"index\":[\"a2\",\"a1\"]}},"
    "{\"Assign\":{\"name\":\"v0\",\"op\":\"multiply\",\"args\":[\"in0\",\"in1\"],\"dtype\":\"f32\"}},"
    "{\"Accum\":{\"name\":\"acc0\",\"value\":\"v0\",\"axes\":[\"a2\"]}}]}},"
    "{\"Write\":{\"output\":\"matmul\",\"index\":[\"a0\",\"a1\"],\"values\":[\"acc0\"]}}]}}]}}]");
  assert_string_equal(cut + strlen(cut) + 1 + strcspn(cut + 1, "}"),
                      "},\"inputs\":[\"x1\",\"x0\"],\"outputs\":[[\"matmul\",\"f16\",[512,512]]]}]}");
  em_free(got);
}

static void names_carry_the_identity(void **state)
{
  (void)state;
  em_kernel *k = build_of((em_build){.kind = "softmax", .m = 4, .k = 8, .in = EM_BF16});
  char hex[33], name[64];
  em_digest_hex(em_kernel_identity(k), hex);
  snprintf(name, sizeof name, "k_softmax_%.6s", hex);
  assert_string_equal(em_kernel_name(k), name);
  em_kernel_free(k);
}

/* Each built kernel is in canonical form already and reads back as itself. */
static void every_kind_reads_back(void **state)
{
  (void)state;
  static const em_dtype types[] = {EM_F32, EM_F16, EM_BF16};
  for (size_t i = 0; i < em_n_build_kinds(); i++)
    for (size_t t = 0; t < N_OF(types); t++) {
      const em_build_kind *kind = em_build_kind_at(i);
      em_build spec = {.kind = kind->name, .in = types[t], .m = 6, .sym_m = "seq_len"};
      spec.n = strchr(kind->dims, 'n') ? 10 : 0;
      spec.k = strchr(kind->dims, 'k') ? 12 : 0;
      spec.batch = strstr(kind->dims, "batch") ? 3 : 0;
      em_kernel *k = build_of(spec);
      assert_null(em_kernel_nest(k)->out_of_scope);
      assert_int_equal(em_kernel_n_symbols(k), 1);
      em_digest d = em_kernel_identity(k);
      char *text = text_of(k), *again = text_of(kernel_of(text));
      assert_string_equal(text, again);
      assert_true(em_digest_eq(d, identity_of(text)));
      em_free(text);
      em_free(again);
    }
}

static eval_env env;

static const double *run(em_build spec, em_kernel **k)
{
  env.n = 0;
  eval_fill(&env, "x0");
  eval_fill(&env, "x1");
  eval_fill(&env, "x2");
  *k = build_of(spec);
  eval_kernel(&env, *k);
  return eval_buffer_of(&env, spec.kind);
}

static double x(const char *name, int i) { return eval_buffer_of(&env, name)[i]; }

static void assert_near(double got, double want)
{
  if (!(fabs(got - want) <= 1e-12 * (1 + fabs(want)))) fail_msg("%.17g, expected %.17g", got, want);
}

static double gelu(double v) { return 0.5 * v * (1 + erf(v / sqrt(2))); }

static void contractions_compute_products(void **state)
{
  (void)state;
  enum { M = 5, N = 7, K = 6, B = 3 };
  static const em_build specs[] = {
    {.kind = "matmul", .m = M, .n = N, .k = K, .in = EM_F32},
    {.kind = "matmul", .m = M, .n = N, .k = K, .in = EM_F32, .b_transposed = true},
    {.kind = "linear",
     .m = M,
     .n = N,
     .k = K,
     .in = EM_F16,
     .b_transposed = true,
     .epilogue = "bias,gelu",
     .sym_m = "rows"},
    {.kind = "bmm", .m = M, .n = N, .k = K, .batch = B, .in = EM_BF16, .out = EM_F32},
    {.kind = "bmm", .m = M, .n = N, .k = K, .batch = B, .in = EM_F32, .b_transposed = true},
  };
  for (size_t s = 0; s < N_OF(specs); s++) {
    em_kernel *k;
    const double *out = run(specs[s], &k);
    for (int b = 0; b < (specs[s].batch ? B : 1); b++)
      for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
          double sum = 0;
          for (int i = 0; i < K; i++)
            sum += x("x0", (b * M + m) * K + i) * x("x1", b * N * K + (specs[s].b_transposed ? n * K + i : i * N + n));
          assert_near(out[(b * M + m) * N + n], specs[s].epilogue ? gelu(sum + x("x2", n)) : sum);
        }
    em_kernel_free(k);
  }
}

static void rows_are_folded(void **state)
{
  (void)state;
  enum { M = 4, K = 9 };
  static const char *const kinds[] = {"reduce_sum", "reduce_mean", "reduce_max"};
  for (int kind = 0; kind < 3; kind++) {
    em_kernel *k;
    const double *out = run((em_build){.kind = kinds[kind], .m = M, .k = K, .in = EM_F32}, &k);
    for (int m = 0; m < M; m++) {
      double sum = 0, top = -1e30;
      for (int i = 0; i < K; i++) {
        sum += x("x0", m * K + i);
        top = fmax(top, x("x0", m * K + i));
      }
      assert_near(out[m], kind == 0 ? sum : kind == 1 ? sum / K : top);
    }
    em_kernel_free(k);
  }
}

static void rows_are_normalised(void **state)
{
  (void)state;
  enum { M = 3, K = 8 };
  static const char *const kinds[] = {"softmax", "rms_norm", "layer_norm"};
  for (int kind = 0; kind < 3; kind++) {
    em_kernel *k;
    const double *out = run((em_build){.kind = kinds[kind], .m = M, .k = K, .in = EM_F16}, &k);
    for (int m = 0; m < M; m++) {
      const double *row = &eval_buffer_of(&env, "x0")[m * K];
      double sum = 0, squares = 0, exps = 0, spread = 0;
      for (int i = 0; i < K; i++) {
        sum += row[i];
        squares += row[i] * row[i];
        exps += exp(row[i]);
      }
      for (int i = 0; i < K; i++) spread += (row[i] - sum / K) * (row[i] - sum / K);
      for (int i = 0; i < K; i++) {
        double want = kind == 0   ? exp(row[i]) / exps
                      : kind == 1 ? row[i] / sqrt(squares / K + 1e-6) * x("x1", i)
                                  : (row[i] - sum / K) / sqrt(spread / K + 1e-5) * x("x1", i) + x("x2", i);
        assert_near(out[m * K + i], want);
      }
    }
    em_kernel_free(k);
  }
}

static void elements_are_mapped(void **state)
{
  (void)state;
  em_kernel *k;
  const double *out = run((em_build){.kind = "pointwise", .m = 3, .n = 5, .op = "subtract", .in = EM_F32}, &k);
  for (int i = 0; i < 15; i++) assert_near(out[i], x("x0", i) - x("x1", i));
  assert_int_equal(em_kernel_nest(k)->n_free, 2);
  em_kernel_free(k);
  out = run((em_build){.kind = "pointwise", .n = 5, .op = "relu", .in = EM_F32}, &k);
  for (int i = 0; i < 5; i++) assert_near(out[i], fmax(x("x0", i), 0));
  assert_int_equal(em_kernel_nest(k)->n_free, 1);
  em_kernel_free(k);
}

static void one_row_keeps_its_axis(void **state)
{
  (void)state;
  em_kernel *k = build_of(
    (em_build){.kind = "linear", .m = 1, .n = 4096, .k = 4096, .in = EM_F16, .b_transposed = true});
  assert_int_equal(em_kernel_nest(k)->n_free, 2);
  assert_int_equal(em_kernel_nest(k)->free[0].extent, 1);
  em_kernel_free(k);
}

static void bad_specs_are_refused(void **state)
{
  (void)state;
  static const struct {
    em_build spec;
    const char *message;
  } cases[] = {
    {{.kind = "conv", .m = 1, .in = EM_F32}, "unknown kind of kernel \"conv\", expected matmul, linear"},
    {{.kind = "matmul", .m = 1, .n = 1, .in = EM_F32}, "matmul: dimension k is 0"},
    {{.kind = "matmul", .m = 1, .n = 1, .k = 1, .batch = 2, .in = EM_F32},
     "matmul has no dimension batch, it takes m n k"},
    {{.kind = "softmax", .m = 1, .k = 1, .sym_n = "n", .in = EM_F32}, "softmax has no dimension n"},
    {{.kind = "matmul", .m = 1, .n = 1, .k = 1, .in = EM_I32}, "matmul: dtype i32, expected"},
    {{.kind = "matmul", .m = 1, .n = 1, .k = 1, .in = EM_F32, .epilogue = "relu"}, "matmul takes no epilogue"},
    {{.kind = "linear", .m = 1, .n = 1, .k = 1, .in = EM_F32, .epilogue = "bias,bias"},
     "epilogue \"bias\": expected bias (once), relu"},
    {{.kind = "linear", .m = 1, .n = 1, .k = 1, .in = EM_F32, .epilogue = "tanh"}, "epilogue \"tanh\""},
    {{.kind = "pointwise", .n = 1, .in = EM_F32, .op = "where"}, "found the operator \"where\""},
    {{.kind = "matmul", .m = 1, .n = 1, .k = 1, .in = EM_F32, .sym_m = "no-name"},
     "\"no-name\" cannot name dimension m"},
    {{.kind = "matmul", .m = 1, .n = 2, .k = 1, .in = EM_F32, .sym_m = "s", .sym_n = "s"},
     "\"s\" names dimensions of different sizes"},
    {{.kind = "matmul", .m = 4294967296, .n = 4294967296, .k = 1, .in = EM_F32}, "does not fit in 64 bits"},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_kernel *k = NULL;
    em_err err;
    int64_t live = em_alloc_live();
    if (!em_kernel_build(&cases[i].spec, &k, &err) || !strstr(err.msg, cases[i].message))
      fail_msg("case %zu: got \"%s\", expected \"%s\"", i, k ? "success" : err.msg, cases[i].message);
    assert_int_equal(em_alloc_live(), live);
  }
}

static int build(em_kernel **k)
{
  em_err err;
  em_build spec = {
    .kind = "linear", .m = 4, .n = 8, .k = 16, .in = EM_F16, .epilogue = "bias,silu", .sym_m = "seq_len"};
  return em_kernel_build(&spec, k, &err);
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  em_kernel *k = NULL;
  ASSERT_SURVIVES_NOMEM(build(&k), em_kernel_free(k));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(matmul_has_the_published_form),
    cmocka_unit_test(names_carry_the_identity),
    cmocka_unit_test(every_kind_reads_back),
    cmocka_unit_test(contractions_compute_products),
    cmocka_unit_test(rows_are_folded),
    cmocka_unit_test(rows_are_normalised),
    cmocka_unit_test(elements_are_mapped),
    cmocka_unit_test(one_row_keeps_its_axis),
    cmocka_unit_test(bad_specs_are_refused),
    cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
