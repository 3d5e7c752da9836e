/* Structure stamps: the worked examples of the reference, and its counting rules. */
#include <float.h>
#include <math.h>

#include "tests/unit/kernel_text.h"

typedef struct expected {
  const char *name;
  double value;
} expected;

/* Exactly these stamps, sorted by name. */
static void assert_stamps(em_kernel *k, const expected *want, size_t n_want)
{
  size_t n;
  const em_stamp *got = em_kernel_stamps(k, &n);
  for (size_t i = 0; i < n && i < n_want; i++) {
    if (strcmp(got[i].name, want[i].name) || got[i].value != want[i].value)
      fail_msg("stamp %zu is %s = %g, expected %s = %g", i, got[i].name, got[i].value, want[i].name, want[i].value);
    assert_true(em_kernel_stamp(k, want[i].name) == want[i].value);
  }
  assert_int_equal(n, n_want);
  assert_true(isnan(em_kernel_stamp(k, "S_warp_eligible")));
  em_kernel_free(k);
}

static void example_a_matmul_512_f32(void **state)
{
  (void)state;
  static const expected want[] = {
    {"S_dtype_f32", 2},
    {"S_ext_free_max", 512},
    {"S_ext_free_prod", 262144},
    {"S_ext_n_free_axis", 2},
    {"S_ext_n_reduce_axis", 1},
    {"S_ext_n_symbolic_axis", 0},
    {"S_ext_reduce_max", 512},
    {"S_ext_reduce_prod", 512},
    {"S_ext_serial_cell_work", 512},
    {"S_loop_depth", 3},
    {"S_n_accum", 1},
    {"S_n_assign", 1},
    {"S_n_cond", 0},
    {"S_n_distinct_input", 2},
    {"S_n_free_loop", 2},
    {"S_n_load", 2},
    {"S_n_loop", 3},
    {"S_n_reduce_loop", 1},
    {"S_n_write", 1},
    {"S_pw_multiply", 1},
    {"S_reduce_add", 1},
  };
  assert_stamps(build_of((em_build){.kind = "matmul", .m = 512, .n = 512, .k = 512, .in = EM_F32}), want, N_OF(want));
}

static void example_b_matmul_1024_f16(void **state)
{
  (void)state;
  static const expected want[] = {
    {"S_dtype_f16", 2},
    {"S_ext_free_max", 1024},
    {"S_ext_free_prod", 1048576},
    {"S_ext_n_free_axis", 2},
    {"S_ext_n_reduce_axis", 1},
    {"S_ext_n_symbolic_axis", 0},
    {"S_ext_reduce_max", 1024},
    {"S_ext_reduce_prod", 1024},
    {"S_ext_serial_cell_work", 1024},
    {"S_loop_depth", 3},
    {"S_n_accum", 1},
    {"S_n_assign", 1},
    {"S_n_cond", 0},
    {"S_n_distinct_input", 2},
    {"S_n_free_loop", 2},
    {"S_n_load", 2},
    {"S_n_loop", 3},
    {"S_n_reduce_loop", 1},
    {"S_n_write", 1},
    {"S_pw_multiply", 1},
    {"S_reduce_add", 1},
  };
  assert_stamps(build_of((em_build){.kind = "matmul", .m = 1024, .n = 1024, .k = 1024, .in = EM_F16}), want,
                N_OF(want));
}

static void example_c_row_sums(void **state)
{
  (void)state;
  static const expected want[] = {
    {"S_dtype_f32", 1},
    {"S_ext_free_max", 4096},
    {"S_ext_free_prod", 4096},
    {"S_ext_n_free_axis", 1},
    {"S_ext_n_reduce_axis", 1},
    {"S_ext_n_symbolic_axis", 0},
    {"S_ext_reduce_max", 1024},
    {"S_ext_reduce_prod", 1024},
    {"S_ext_serial_cell_work", 1024},
    {"S_loop_depth", 2},
    {"S_n_accum", 1},
    {"S_n_assign", 0},
    {"S_n_cond", 0},
    {"S_n_distinct_input", 1},
    {"S_n_free_loop", 1},
    {"S_n_load", 1},
    {"S_n_loop", 2},
    {"S_n_reduce_loop", 1},
    {"S_n_write", 1},
    {"S_reduce_add", 1},
  };
  assert_stamps(build_of((em_build){.kind = "reduce_sum", .m = 4096, .k = 1024, .in = EM_F32}), want, N_OF(want));
}

static void assert_stamp(const em_kernel *k, const char *name, double value)
{
  double got = em_kernel_stamp(k, name);
  if (got != value) fail_msg("%s is %g, expected %g", name, got, value);
}

/* Products run over sibling nests too; sibling folds do not multiply the work of a cell. */
static void siblings_multiply_products_but_not_work(void **state)
{
  (void)state;
  em_kernel *k = build_of((em_build){.kind = "softmax", .m = 8, .k = 100, .in = EM_F16});
  assert_stamp(k, "S_ext_reduce_prod", 10000);
  assert_stamp(k, "S_ext_free_prod", 800);
  assert_stamp(k, "S_ext_serial_cell_work", 100);
  assert_stamp(k, "S_reduce_maximum", 1);
  assert_stamp(k, "S_reduce_add", 1);
  assert_stamp(k, "S_dtype_f16", 3);
  assert_stamp(k, "S_n_distinct_input", 1);
  assert_stamp(k, "S_loop_depth", 2);
  em_kernel_free(k);
}

/* Symbolic extents are counted, not multiplied. */
static void symbolic_axes_are_counted_alone(void **state)
{
  (void)state;
  em_kernel *k = build_of((em_build){
    .kind = "bmm", .batch = 2, .m = 77, .n = 32, .k = 16, .in = EM_F32, .sym_m = "rows", .sym_batch = "batch"});
  assert_stamp(k, "S_ext_n_symbolic_axis", 2);
  assert_stamp(k, "S_ext_n_free_axis", 1);
  assert_stamp(k, "S_ext_free_prod", 32);
  assert_stamp(k, "S_n_free_loop", 3);
  em_kernel_free(k);
}

/* Only an Accum directly in a loop makes it a reduce loop; a guard is entered
 * but adds no depth; a strided loop is no loop, but its body counts. */
static void only_the_immediate_body_decides(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(GRAPH(LOOP(
    "a0", 64,
    LOOP(
      "a1", 8,
      LOOP(
        "a2", 4,
        "{\"Cond\":{\"cond\":\"a1 < 3\",\"body\":[" LOAD("p", "x", "\"a0\",\"a1\"") "," ACCUM(
          "s", "p",
          "a2") "]}}") ","
                       "{\"StridedLoop\":{\"axis\":{\"name\":\"a3\",\"extent\":2},\"start\":\"0\",\"step\":\"1\",\"body\":[" WRITE(
                         "y", "\"a0\",\"a1\"", "s") "]}}"))));
  assert_stamp(k, "S_n_reduce_loop", 0);
  assert_stamp(k, "S_n_free_loop", 3);
  assert_stamp(k, "S_n_loop", 3);
  assert_stamp(k, "S_n_cond", 1);
  assert_stamp(k, "S_n_load", 1);
  assert_stamp(k, "S_n_write", 1);
  assert_stamp(k, "S_loop_depth", 3);
  assert_stamp(k, "S_ext_serial_cell_work", 1);
  em_kernel_free(k);
}

static void nested_folds_multiply_the_work(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(
    GRAPH(LOOP("a0", 64,
               LOOP("a1", 8,
                    LOOP("a2", 4, LOAD("p", "x", "\"a0\",\"a1\"") "," ACCUM("s", "p", "a2")) "," ACCUM(
                      "t", "s", "a1")) "," WRITE("z", "\"a0\"", "t"))));
  assert_stamp(k, "S_ext_serial_cell_work", 32);
  assert_stamp(k, "S_n_reduce_loop", 2);
  em_kernel_free(k);
}

static void products_saturate(void **state)
{
  (void)state;
  em_str s = {0};
  em_err err;
  em_str_put(&s, GRAPH_HEAD);
  for (int i = 0; i < 20; i++)
    em_str_printf(&s, "{\"Loop\":{\"axis\":{\"name\":\"b%d\",\"extent\":4611686018427387904},\"body\":[", i);
  for (int i = 0; i < 20; i++) em_str_put(&s, "]}}");
  em_str_put(&s, GRAPH_TAIL);
  assert_int_equal(em_str_finish(&s, &err), EM_OK);
  em_kernel *k = kernel_of(s.s);
  assert_stamp(k, "S_ext_free_prod", DBL_MAX);
  em_kernel_free(k);
  em_str_free(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(example_a_matmul_512_f32),
    cmocka_unit_test(example_b_matmul_1024_f16),
    cmocka_unit_test(example_c_row_sums),
    cmocka_unit_test(siblings_multiply_products_but_not_work),
    cmocka_unit_test(symbolic_axes_are_counted_alone),
    cmocka_unit_test(only_the_immediate_body_decides),
    cmocka_unit_test(nested_folds_multiply_the_work),
    cmocka_unit_test(products_saturate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
