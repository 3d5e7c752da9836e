/* Spaces of kernels as they are built: the nest says what the rules expect of it. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "core/space/space.h"

static em_kernel *built(em_build b)
{
  em_err err;
  em_kernel *k = NULL;
  if (em_kernel_build(&b, &k, &err)) fail_msg("%s", err.msg);
  return k;
}

static em_space *space_of(const em_kernel *k, const char *card_name)
{
  em_err err;
  const em_card *card = NULL;
  em_space *s = NULL;
  if (em_card_find(card_name, &card, &err) || em_space_open(k, card, EM_REGIME_DEFAULT, &s, &err))
    fail_msg("%s", err.msg);
  return s;
}

static uint64_t count_of(em_build b, const char *card_name)
{
  em_kernel *k = built(b);
  em_space *s = space_of(k, card_name);
  if (em_space_out_of_scope(s)) fail_msg("%s: %s", b.kind, em_space_out_of_scope(s));
  uint64_t n = em_space_count(s);
  em_space_free(s);
  em_kernel_free(k);
  return n;
}

#define MATMUL(M, N, K, T) .m = (M), .n = (N), .k = (K), .in = (T)

/* Counted by another program from the same rules. */
static void test_contractions(void **state)
{
  (void)state;
  assert_int_equal(count_of((em_build){.kind = "matmul", MATMUL(2048, 2048, 2048, EM_F16)}, "h100"), 99429);
  assert_int_equal(count_of((em_build){.kind = "bmm", .batch = 8, MATMUL(2048, 2048, 2048, EM_F16)}, "h100"), 99429);
  assert_int_equal(count_of((em_build){.kind = "linear", MATMUL(1, 4096, 4096, EM_F16), .b_transposed = true}, "h100"),
                   95527);
  assert_int_equal(
    count_of((em_build){.kind = "linear", MATMUL(2048, 2048, 2048, EM_F32), .epilogue = "bias,gelu"}, "rtx4090"), 2861);
  assert_int_equal(
    count_of((em_build){.kind = "matmul", MATMUL(512, 1024, 1024, EM_F32), .sym_m = "seq_len"}, "rtx5090"), 2245);
}

static void test_row_kernels(void **state)
{
  (void)state;
  enum { SERIAL = 3, COOP = 36, COOP_T = 20, SWEPT = 24 };
  static const char *const sums[] = {"reduce_sum", "reduce_mean", "reduce_max"}, *const sweeps[] = {
                                                                                   "softmax", "rms_norm", "layer_norm"};
  for (size_t i = 0; i < N_OF(sums); i++)
    assert_int_equal(count_of((em_build){.kind = sums[i], .m = 512, .k = 2048, .in = EM_F32}, "rtx4090"),
                     SERIAL + COOP + COOP_T);
  for (size_t i = 0; i < N_OF(sweeps); i++)
    assert_int_equal(
      count_of((em_build){.kind = sweeps[i], .m = 512, .k = 2048, .in = EM_F32, .sym_m = "seq_len"}, "rtx4090"),
      SERIAL + COOP + SWEPT);
  assert_int_equal(count_of((em_build){.kind = "pointwise", .m = 512, .n = 3840, .in = EM_F32}, "v100-sxm2"), 5);
}

/* ---- splits --------------------------------------------------------------------------------- */

typedef struct splits {
  char text[128];
} splits;

static void note_split(void *ctx, int width, char finalize)
{
  splits *v = ctx;
  size_t used = strlen(v->text);
  snprintf(v->text + used, sizeof v->text - used, "%s%d%c", used ? " " : "", width, finalize);
}

static void assert_splits(const em_kernel *k, const char *expected)
{
  em_err err;
  splits v = {""};
  assert_int_equal(em_space_splits(k, note_split, &v, &err), EM_OK);
  assert_string_equal(v.text, expected);
}

static void check_splits(em_build b, const char *expected)
{
  em_kernel *k = built(b);
  assert_splits(k, expected);
  em_kernel_free(k);
}

static void test_splits(void **state)
{
  (void)state;
  check_splits((em_build){.kind = "matmul", MATMUL(512, 512, 512, EM_F32)},
               "2k 2a 4k 4a 8k 8a 16k 16a 32k 32a 64k 64a");
  check_splits((em_build){.kind = "matmul", MATMUL(512, 512, 96, EM_F16)},
               "2k 4k 8k 16k 32k"); /* atomics would round f16 sums; 64 does not divide 96 */
  check_splits((em_build){.kind = "linear", MATMUL(512, 512, 4, EM_F32), .epilogue = "relu"}, "2k 4k");
  check_splits((em_build){.kind = "pointwise", .m = 512, .n = 512, .in = EM_F32}, "");
}

/* The pieces of a split are tiled and staged like any kernel, but are not split again. */
static void test_pieces(void **state)
{
  (void)state;
  em_kernel *k = built((em_build){.kind = "matmul", MATMUL(512, 1024, 2048, EM_F32), .sym_m = "seq_len"}),
            *pieces[2] = {NULL, NULL};
  size_t n = 0;
  em_err err;
  assert_int_equal(em_kernel_split(k, 2, 'a', pieces, &n, &err), EM_OK);
  assert_int_equal(n, 1);
  em_space *s = space_of(pieces[0], "rtx5090");
  em_row row;
  char why[EM_WHY_LEN];
  assert_int_equal(em_row_parse("WORK=t32x8 TILE=f4x6 REDUCE= STAGE=d3/smem-tma RASTER=", &row, &err), EM_OK);
  if (!em_space_contains(s, &row, why)) fail_msg("%s", why);
  assert_splits(pieces[0], "");
  em_space_free(s);
  em_kernel_free(pieces[0]);
  em_kernel_free(k);
}

static void test_split_nomem(void **state)
{
  (void)state;
  em_kernel *k = built((em_build){.kind = "matmul", MATMUL(8, 8, 8, EM_F32)});
  em_err err;
  splits v = {""};
  ASSERT_SURVIVES_NOMEM((v.text[0] = '\0', em_space_splits(k, note_split, &v, &err)), (void)0);
  assert_string_equal(v.text, "2k 2a 4k 4a 8k 8a");
  em_kernel_free(k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_contractions), cmocka_unit_test(test_row_kernels), cmocka_unit_test(test_splits),
    cmocka_unit_test(test_pieces),       cmocka_unit_test(test_split_nomem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
