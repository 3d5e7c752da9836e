/* Splits of the reduction: the pieces together compute what the parent computes. */
#include "tests/unit/kernel_eval.h"

static em_kernel *pieces[2];
static size_t n_pieces;

static void split(const em_kernel *k, int width, char finalize)
{
  em_err err;
  pieces[0] = pieces[1] = NULL;
  if (em_kernel_split(k, width, finalize, pieces, &n_pieces, &err)) fail_msg("%s", err.msg);
}

static void free_pieces(void)
{
  em_kernel_free(pieces[0]);
  em_kernel_free(pieces[1]);
}

static const em_build parents[] = {
  {.kind = "matmul", .m = 5, .n = 7, .k = 24, .in = EM_F32},
  {.kind = "linear", .m = 4, .n = 6, .k = 24, .in = EM_F16, .out = EM_F32, .b_transposed = true, .sym_m = "seq_len"},
  {.kind = "bmm", .batch = 2, .m = 3, .n = 4, .k = 24, .in = EM_BF16, .out = EM_F32},
  {.kind = "reduce_sum", .m = 6, .k = 24, .in = EM_F32},
  {.kind = "reduce_mean", .m = 6, .k = 24, .in = EM_F32},
  {.kind = "linear", .m = 4, .n = 6, .k = 24, .in = EM_F16, .epilogue = "bias,relu"}, /* from here: 'k' only */
  {.kind = "reduce_max", .m = 6, .k = 24, .in = EM_F16},
};
#define N_ATOMIC 5

static eval_env env;

static void pieces_compute_the_parent(void **state)
{
  (void)state;
  static const int widths[] = {2, 3, 4, 24};
  for (size_t i = 0; i < N_OF(parents); i++)
    for (size_t w = 0; w < N_OF(widths); w++)
      for (const char *finalize = i < N_ATOMIC ? "ka" : "k"; *finalize; finalize++) {
        static double want[EVAL_SIZE];
        em_kernel *k = build_of(parents[i]);
        env.n = 0;
        eval_fill(&env, "x0");
        eval_fill(&env, "x1");
        eval_fill(&env, "x2");
        eval_kernel(&env, k);
        memcpy(want, eval_buffer_of(&env, parents[i].kind), sizeof want);
        memset(eval_buffer_of(&env, parents[i].kind), 0, sizeof want);
        split(k, widths[w], *finalize);
        for (size_t p = 0; p < n_pieces; p++) eval_kernel(&env, pieces[p]);
        const double *got = eval_buffer_of(&env, parents[i].kind);
        for (int j = 0; j < EVAL_SIZE; j++)
          if (fabs(got[j] - want[j]) > 1e-12 * (1 + fabs(want[j])))
            fail_msg("%s g%d%c: element %d is %g, expected %g", parents[i].kind, widths[w], *finalize, j, got[j],
                     want[j]);
        free_pieces();
        em_kernel_free(k);
      }
}

static void a_partial_matmul_is_a_contraction(void **state)
{
  (void)state;
  em_kernel *k = build_of(
    (em_build){.kind = "linear", .m = 512, .n = 256, .k = 1024, .in = EM_F16, .b_transposed = true});
  split(k, 4, 'k');
  assert_int_equal(n_pieces, 2);
  const em_nest *n = em_kernel_nest(pieces[0]);
  assert_int_equal(n->kind, EM_KIND_CONTRACTION);
  assert_null(n->out_of_scope);
  assert_int_equal(n->n_free, 3);
  assert_string_equal(n->free[0].name, "a0");
  assert_int_equal(n->free[0].extent, 4);
  assert_int_equal(n->m_axis, 1);
  assert_int_equal(n->free[n->m_axis].extent, 512);
  assert_int_equal(n->free[n->n_axis].extent, 256);
  assert_int_equal(n->fold.extent, 256);
  assert_true(n->a.k_contiguous && n->b.k_contiguous && n->a.leading_fixed && n->b.leading_fixed && n->row_address);
  assert_int_equal(n->product_dtype, EM_F32);
  assert_int_equal(n->out_dtype, EM_F32);
  assert_false(n->atomic);
  n = em_kernel_nest(pieces[1]);
  assert_int_equal(n->kind, EM_KIND_REDUCE);
  assert_int_equal(n->fold.extent, 4);
  assert_int_equal(n->n_free, 2);
  assert_int_equal(n->out_dtype, EM_F16);
  free_pieces();
  em_kernel_free(k);
}

static void an_atomic_piece_adds_to_the_output(void **state)
{
  (void)state;
  em_kernel *k = build_of((em_build){.kind = "matmul", .m = 64, .n = 32, .k = 1024, .in = EM_F16, .out = EM_F32});
  split(k, 4, 'a');
  assert_int_equal(n_pieces, 1);
  assert_null(pieces[1]);
  assert_true(em_kernel_nest(pieces[0])->atomic);
  em_str out = {0};
  em_kernel_print(pieces[0], &out);
  assert_non_null(strstr(out.s, "\"input\":\"x0\",\"index\":[\"a1\",\"a0 * 256 + a3\"]"));
  assert_non_null(strstr(out.s, "\"input\":\"x1\",\"index\":[\"a0 * 256 + a3\",\"a2\"]"));
  assert_non_null(strstr(out.s, "\"index\":[\"a1\",\"a2\"],\"values\":[\"acc0\"],\"atomic\":true"));
  em_str_free(&out);
  free_pieces();
  em_kernel_free(k);
}

static void pieces_are_named_and_read_back(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(parents); i++) {
    em_kernel *k = build_of(parents[i]);
    split(k, 2, 'k');
    static const char *const suffix[] = {"__partial", "__combine"};
    for (size_t p = 0; p < 2; p++) {
      char name[128];
      snprintf(name, sizeof name, "%s%s", em_kernel_name(k), suffix[p]);
      assert_string_equal(em_kernel_name(pieces[p]), name);
      em_str text = {0};
      em_kernel_print(pieces[p], &text);
      char *again = text_of(kernel_of(text.s));
      assert_string_equal(again, text.s);
      assert_true(em_digest_eq(em_kernel_identity(pieces[p]), identity_of(again)));
      em_free(again);
      em_str_free(&text);
    }
    free_pieces();
    em_kernel_free(k);
  }
}

/* Two channels: a workspace for each; names that the parent uses are avoided. */
static void several_states_have_a_workspace_each(void **state)
{
  (void)state;
  env.n = 0;
  em_kernel *k = kernel_of(GRAPH(LOOP(
    "part", 4,
    LOOP(
      "a1", 8,
      LOAD("part0_in", "x", "\"part\",\"a1\"") "," ACCUM(
        "s", "part0_in",
        "a1") ","
              "{\"Accum\":{\"name\":\"t\",\"value\":\"part0_in\",\"op\":\"maximum\",\"axes\":[\"a1\"]}}") "," ASSIGN("r",
                                                                                                                     "divide",
                                                                                                                     "\"s\",\"t\"") "," WRITE("z",
                                                                                                                                              "\"part\"",
                                                                                                                                              "r"))));
  double *x = eval_buffer_of(&env, "x"), *z = eval_buffer_of(&env, "z");
  for (int i = 0; i < EVAL_SIZE; i++) x[i] = 1 + (double)em_rng_below(1, 2, (uint64_t)i, 9);
  split(k, 4, 'k');
  eval_kernel(&env, k);
  double want[4] = {z[0], z[1], z[2], z[3]};
  eval_kernel(&env, pieces[0]);
  eval_kernel(&env, pieces[1]);
  for (int i = 0; i < 4; i++) assert_true(z[i] == want[i]);
  free_pieces();
  em_kernel_free(k);
}

static void refusals_say_the_rule(void **state)
{
  (void)state;
  static const struct {
    em_build parent;
    int width;
    char finalize;
    const char *rule;
  } cases[] = {
    {{.kind = "matmul", .m = 4, .n = 4, .k = 24, .in = EM_F32},
     5,
     'k',
     "the width does not divide the extent of the reduction"},
    {{.kind = "matmul", .m = 4, .n = 4, .k = 24, .in = EM_F32}, 1, 'k', "the width does not divide"},
    {{.kind = "matmul", .m = 4, .n = 4, .k = 24, .in = EM_F32}, 0, 'k', "the width does not divide"},
    {{.kind = "matmul", .m = 4, .n = 4, .k = 24, .in = EM_F32}, 2, 'x', "'a' (atomic) or 'k'"},
    {{.kind = "matmul", .m = 4, .n = 4, .k = 24, .in = EM_F16}, 2, 'a', "16-bit output"},
    {{.kind = "linear", .m = 4, .n = 4, .k = 24, .in = EM_F32, .epilogue = "bias"},
     2,
     'a',
     "an epilogue that only scales the sum"},
    {{.kind = "reduce_max", .m = 4, .k = 24, .in = EM_F32}, 2, 'a', "one state that is added up"},
    {{.kind = "softmax", .m = 4, .k = 24, .in = EM_F32}, 2, 'k', "needed by a second pass"},
    {{.kind = "pointwise", .n = 4, .in = EM_F32}, 2, 'k', "there is no reduction to split"},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_kernel *k = build_of(cases[i].parent), *out[2];
    size_t n;
    em_err err;
    assert_int_equal(em_kernel_split(k, cases[i].width, cases[i].finalize, out, &n, &err), EM_E_INPUT);
    if (!strstr(err.msg, cases[i].rule) || !strstr(err.msg, em_kernel_name(k)))
      fail_msg("case %zu: got \"%s\", expected \"%s\"", i, err.msg, cases[i].rule);
    em_kernel_free(k);
  }
}

static void pieces_are_not_split_again(void **state)
{
  (void)state;
  em_kernel *k = build_of(parents[0]), *out[2];
  size_t n;
  em_err err;
  for (const char *finalize = "ka"; *finalize; finalize++) {
    split(k, 2, *finalize);
    for (size_t p = 0; p < n_pieces; p++) {
      assert_int_equal(em_kernel_split(pieces[p], 2, 'k', out, &n, &err), EM_E_INPUT);
      assert_non_null(strstr(err.msg, "a piece of a split is not split again"));
    }
    free_pieces();
  }
  em_kernel_free(k);
}

static void a_symbolic_reduction_is_not_split(void **state)
{
  (void)state;
  char *text = text_of(build_of((em_build){.kind = "reduce_sum", .m = 3, .k = 24, .in = EM_F32}));
  char *symbolic = replaced(text, "24", "{\"sym\":\"n\",\"hint\":24}");
  em_kernel *k = kernel_of(symbolic), *out[2];
  size_t n;
  em_err err;
  assert_int_equal(em_kernel_split(k, 2, 'k', out, &n, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "the extent of the reduction is symbolic"));
  em_kernel_free(k);
  em_free(text);
  em_free(symbolic);
}

static int split_one(const em_kernel *k, char finalize)
{
  em_err err;
  pieces[0] = pieces[1] = NULL;
  return em_kernel_split(k, 2, finalize, pieces, &n_pieces, &err);
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  em_kernel *k = build_of(parents[0]);
  ASSERT_SURVIVES_NOMEM(split_one(k, 'k'), free_pieces());
  ASSERT_SURVIVES_NOMEM(split_one(k, 'a'), free_pieces());
  em_kernel_free(k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(pieces_compute_the_parent),
    cmocka_unit_test(a_partial_matmul_is_a_contraction),
    cmocka_unit_test(an_atomic_piece_adds_to_the_output),
    cmocka_unit_test(pieces_are_named_and_read_back),
    cmocka_unit_test(several_states_have_a_workspace_each),
    cmocka_unit_test(refusals_say_the_rule),
    cmocka_unit_test(pieces_are_not_split_again),
    cmocka_unit_test(a_symbolic_reduction_is_not_split),
    cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
