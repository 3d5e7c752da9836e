/* Reading and printing the Loop IR. */
#include "tests/unit/kernel_text.h"

/* The published golden file's kernels are printed byte for byte. */
static void published_kernels_print_the_same(void **state)
{
  (void)state;
  char *text, *path;
  size_t len, found = 0;
  em_err err;
  const char *shared = getenv("EMMY_SHARED");
  assert_int_equal(em_path_join(&path, &err, shared ? shared : "../shared", "goldens/rtx4080_sm89.json"), EM_OK);
  int rc = em_file_read(path, &text, &len, &err);
  em_free(path);
  if (rc) skip();
  for (char *p = text; (p = strstr(p, "{\"loop_ir\":")); found++) {
    char *begin = p + strlen("{\"loop_ir\":"), *end = strstr(begin, ",\"name\":\"k_matmul");
    while (end && strncmp(end + strlen(",\"name\":\"k_matmul_abcdef\""), ",\"formed\"", 9))
      end = strstr(end + 1, ",\"name\":\"k_matmul");
    assert_non_null(end);
    char *original = em_strndup(begin, (size_t)(end - begin)), *printed = text_of(kernel_of(original));
    assert_string_equal(printed, original);
    em_free(original);
    em_free(printed);
    p = end;
  }
  assert_int_equal(found, 8);
  em_free(text);
}

/* One kernel with every statement and every field, in canonical form. */
static const char everything[] =
  "{\"inputs\":[\"x\",\"i\",\"w\"],\"outputs\":[\"y\"],\"nodes\":["
  "{\"id\":\"x\",\"op\":\"input\",\"outputs\":[[\"x\",\"f16\",[{\"sym\":\"seq_len\",\"hint\":256},64]]]},"
  "{\"id\":\"i\",\"op\":\"input\",\"outputs\":[[\"i\",\"i32\",[{\"expr\":\"seq_len * 2\",\"hint\":512}]]]},"
  "{\"id\":\"w\",\"op\":\"constant\",\"attrs\":{\"name\":\"w\",\"value\":1.50e-06,\"load\":{\"b\":[1,2.0,{\"z\":null}],\"a\":true}},"
  "\"outputs\":[[\"w\",\"f32\",[]]]},"
  "{\"id\":\"y\",\"op\":\"loop\",\"attrs\":{\"body\":["
  "{\"Load\":{\"names\":[\"in0\"],\"input\":\"w\",\"index\":[\"0\"],\"dtype\":\"f64\"}},"
  "{\"Const\":{\"name\":\"v0\",\"value\":-1e+30,\"dtype\":\"f32\"}},"
  "{\"Loop\":{\"axis\":{\"name\":\"a0\",\"extent\":{\"sym\":\"seq_len\",\"hint\":256}},\"body\":["
  "{\"Init\":{\"name\":\"acc0\",\"identity\":0,\"dtype\":\"f32\"}},"
  "{\"Loop\":{\"axis\":{\"name\":\"a1\",\"extent\":32,\"span\":[1,{\"q\":2}]},\"body\":["
  "{\"Load\":{\"names\":[\"in1\",\"in2\"],\"input\":\"x\",\"index\":[\"a0\",\"a1 * 2\"]}},"
  "{\"Assign\":{\"name\":\"v1\",\"op\":\"where\",\"args\":[\"in1\",\"in2\",\"v0\"],\"dtype\":\"f32\"}},"
  "{\"Select\":{\"name\":\"v2\",\"branches\":[{\"value\":\"v1\",\"select\":\"a1 <= a0\"},{\"value\":\"v0\",\"select\":\"true\"}]}},"
  "{\"Accum\":{\"name\":\"acc0\",\"value\":\"v2\",\"op\":\"maximum\",\"axes\":[\"a1\"],\"dtype\":\"f32\",\"base\":\"v1\"}}"
  "],\"unroll\":true,\"role\":\"serial\",\"carrier\":{\"k\":[0.50]},\"seed\":false}},"
  "{\"Cond\":{\"cond\":\"a0 < seq_len - 1 && a0 % 2 == 0\",\"body\":["
  "{\"Load\":{\"names\":[\"in3\"],\"input\":\"i\",\"index\":[\"a0\"]}},"
  "{\"Write\":{\"output\":\"y\",\"index\":[\"a0\",\"in3\"],\"values\":[\"acc0\"],\"value_dtype\":\"f16\",\"atomic\":true,\"swizzle\":\"XOR\"}}"
  "],\"else_body\":[{\"StridedLoop\":{\"axis\":{\"name\":\"a2\",\"extent\":64},\"start\":\"a0 % 2\",\"step\":\"2\",\"body\":["
  "{\"Write\":{\"output\":\"y\",\"index\":[\"a0\",\"a2\"],\"values\":[\"in0\"]}}]}}]}}"
  "]}}],\"name\":\"k_all\"},\"inputs\":[\"x\",\"i\",\"w\"],\"outputs\":[[\"y\",\"f16\",[{\"sym\":\"seq_len\",\"hint\":256},64]]]}],"
  "\"hints\":{\"b\":1,\"a\":[2.50]}}";

static void every_statement_prints_as_it_was_read(void **state)
{
  (void)state;
  char *printed = text_of(kernel_of(everything));
  assert_string_equal(printed, everything);
  em_free(printed);
}

/* Keys in any order, defaults spelled out, blanks, operator aliases, short forms
 * of sizes: one canonical text. */
static void other_spellings_become_canonical(void **state)
{
  (void)state;
  char *printed = text_of(kernel_of(
    "{\"nodes\":[{\"op\":\"loop\",\"outputs\":[[\"y\",\"f32\",[\"n\"]]],\"inputs\":[\"x\"],\"id\":\"y\",\"attrs\":{\"name\":\"k\",\"body\":["
    "{\"Loop\":{\"body\":[{\"Load\":{\"dtype\":null,\"index\":[\"(a0)\"],\"input\":\"x\",\"names\":[\"p\"]}},"
    "{\"Assign\":{\"op\":\"__rshift__\",\"name\":\"q\",\"args\":[\"p\",\"p\"]}},"
    "{\"Write\":{\"values\":[\"q\"],\"atomic\":false,\"swizzle\":\"NONE\",\"index\":[\"a0\"],\"output\":\"y\"}}],"
    "\"unroll\":false,\"seed\":true,\"axis\":{\"extent\":\"n\",\"name\":\"a0\"}}}]}},"
    "{\"id\":\"x\",\"op\":\"input\",\"attrs\":{},\"outputs\":[[\"x\",\"i32\",[{\"sym\":\"n\",\"hint\":7}]]],\"inputs\":[]}],"
    "\"outputs\":[\"y\"],\"inputs\":[\"x\"]}"));
  assert_string_equal(
    printed,
    "{\"inputs\":[\"x\"],\"outputs\":[\"y\"],\"nodes\":["
    "{\"id\":\"y\",\"op\":\"loop\",\"attrs\":{\"body\":[{\"Loop\":{\"axis\":{\"name\":\"a0\",\"extent\":{\"sym\":\"n\",\"hint\":7}},\"body\":["
    "{\"Load\":{\"names\":[\"p\"],\"input\":\"x\",\"index\":[\"a0\"]}},{\"Assign\":{\"name\":\"q\",\"op\":\"right_shift\",\"args\":[\"p\",\"p\"]}},"
    "{\"Write\":{\"output\":\"y\",\"index\":[\"a0\"],\"values\":[\"q\"]}}]}}],\"name\":\"k\"},\"inputs\":[\"x\"],"
    "\"outputs\":[[\"y\",\"f32\",[{\"sym\":\"n\",\"hint\":7}]]]},"
    "{\"id\":\"x\",\"op\":\"input\",\"outputs\":[[\"x\",\"i32\",[{\"sym\":\"n\",\"hint\":7}]]]}]}");
  em_free(printed);
}

static void symbols_have_hints(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(everything);
  int64_t hint = 0;
  assert_int_equal(em_kernel_n_symbols(k), 1);
  assert_string_equal(em_kernel_symbol(k, 0, &hint), "seq_len");
  assert_int_equal(hint, 256);
  em_kernel_free(k);
  /* 512 where no hint is given */
  char *text = replaced(everything, ",\"hint\":256", "");
  k = kernel_of(text);
  em_kernel_symbol(k, 0, &hint);
  assert_int_equal(hint, 512);
  em_kernel_free(k);
  em_free(text);
}

static void every_statement_has_a_pretty_form(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(everything);
  em_str out = {0};
  em_kernel_print_pretty(k, &out);
  assert_string_equal(out.s, "kernel k_all (other)\n"
                             "input    x : f16[seq_len=256, 64]\n"
                             "input    i : i32[seq_len * 2=512]\n"
                             "constant w : f32[] = 1.5e-06\n"
                             "output   y : f16[seq_len=256, 64]\n"
                             "in0 = w[0] : f64\n"
                             "v0 = -1e+30 : f32\n"
                             "for a0 in 0..seq_len=256\n"
                             "  acc0 = 0 : f32\n"
                             "  for a1 in 0..32 unrolled\n"
                             "    in1, in2 = x[a0, a1 * 2]\n"
                             "    v1 = where(in1, in2, v0) : f32\n"
                             "    v2 = select v1 if a1 <= a0, v0 if true\n"
                             "    acc0 = maximum(v1, v2) over a1 : f32\n"
                             "  if a0 < seq_len - 1 && a0 % 2 == 0\n"
                             "    in3 = i[a0]\n"
                             "    y[a0, in3] += acc0 : f16\n"
                             "  else\n"
                             "    for a2 in a0 % 2..64 step 2\n"
                             "      y[a0, a2] = in0\n");
  em_str_free(&out);
  em_kernel_free(k);
}

static void pretty_text_has_a_line_for_each_statement(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(
    GRAPH(LOOP("a0", 64,
               LOOP("a1", 64, LOAD("in0", "x", "\"a0\",\"a1\"") "," ACCUM("acc0", "in0", "a1")) "," WRITE("z", "\"a0\"",
                                                                                                          "acc0"))));
  em_str out = {0};
  em_kernel_print_pretty(k, &out);
  assert_string_equal(out.s, "kernel k_test (reduce)\n"
                             "input    x : f32[64, 64]\n"
                             "input    i : i32[64]\n"
                             "output   y : f32[64, 64]\n"
                             "output   z : f32[64]\n"
                             "for a0 in 0..64\n"
                             "  for a1 in 0..64\n"
                             "    in0 = x[a0, a1]\n"
                             "    acc0 = add(acc0, in0) over a1\n"
                             "  z[a0] = acc0\n");
  em_str_free(&out);
  em_kernel_free(k);
}

#define IN_LOOPS(body) GRAPH(LOOP("a0", 64, LOOP("a1", 64, body)))
#define PLACE          "nodes[2].attrs.body[0].Loop.body[0].Loop.body"
#define X_LOAD         LOAD("in0", "x", "\"a0\",\"a1\"")

typedef struct bad_text {
  const char *text, *message;
} bad_text;

static const bad_text bad_texts[] = {
  {IN_LOOPS("{\"Pack\":{}}"), PLACE "[0]: unsupported statement \"Pack\""},
  {IN_LOOPS("{\"Load\":{},\"Write\":{}}"), PLACE "[0]: expected a statement"},
  {IN_LOOPS("7"), PLACE "[0]: expected a statement"},
  {IN_LOOPS(X_LOAD "," ASSIGN("v0", "frobnicate", "\"in0\"")),
   PLACE "[1].Assign.op: unknown elementwise operator \"frobnicate\""},
  {IN_LOOPS(X_LOAD ",{\"Accum\":{\"name\":\"c\",\"value\":\"in0\",\"op\":\"subtract\",\"axes\":[\"a1\"]}}"),
   PLACE "[1].Accum.op: unknown fold operator \"subtract\""},
  {IN_LOOPS(X_LOAD "," ASSIGN("v0", "add", "\"in0\"")), PLACE "[1].Assign: \"add\" has 1 arguments, expected 2"},
  {IN_LOOPS(LOAD("in0", "x", "\"a0\",\"b7\"")), PLACE "[0].Load.index[1]: unknown name \"b7\""},
  {IN_LOOPS(LOAD("in0", "x", "\"a0\",\"threadIdx.x\"")), PLACE "[0].Load.index[1]: unknown name \"threadIdx.x\""},
  {IN_LOOPS(LOAD("in0", "x", "\"a0\"")),
   PLACE "[0].Load: \"x\" is indexed with 1 expressions, its shape has 2 dimensions"},
  {IN_LOOPS(LOAD("in0", "q", "\"a0\"")), PLACE "[0].Load.input: unknown buffer \"q\""},
  {IN_LOOPS(X_LOAD "," WRITE("x", "\"a0\",\"a1\"", "in0")),
   PLACE "[1].Write.output: \"x\" is not an output of the loop node"},
  {IN_LOOPS(WRITE("y", "\"a0\",\"a1\"", "in0") "," X_LOAD), PLACE "[0].Write: \"in0\" is used before it is defined"},
  {IN_LOOPS(X_LOAD "," X_LOAD), PLACE "[1].Load: \"in0\" is already defined here"},
  {IN_LOOPS(LOOP("a0", 2, X_LOAD)), PLACE "[0].Loop.axis: \"a0\" is already defined here"},
  {IN_LOOPS(X_LOAD "," ACCUM("acc0", "in0", "a7")), PLACE "[1].Accum.axes[0]: \"a7\" is not the axis of a loop around"},
  {GRAPH(LOOP("a0", 64, LOOP("a1", 64, X_LOAD)) "," WRITE("z", "\"0\"", "in0")),
   "nodes[2].attrs.body[1].Write: \"in0\" is used before"},
  {IN_LOOPS("{\"Load\":{\"names\":[\"in0\"],\"input\":\"x\"}}"), PLACE "[0].Load: the member \"index\" is missing"},
  {IN_LOOPS("{\"Load\":{\"names\":[\"in0\"],\"input\":\"x\",\"index\":[],\"colour\":1}}"), "colour"},
  {IN_LOOPS(LOAD("in 0", "x", "\"a0\",\"a1\"")), PLACE "[0].Load.names[0]: found \"in 0\", expected a name"},
  {IN_LOOPS("{\"Assign\":{\"name\":\"v\",\"op\":\"copy\",\"args\":[\"a0\"],\"dtype\":\"f33\"}}"),
   PLACE "[0].Assign.dtype: unknown dtype \"f33\""},
  {IN_LOOPS("{\"Write\":{\"output\":\"y\",\"index\":[\"a0\",\"a1\"],\"values\":[]}}"),
   PLACE "[0].Write: the Write stores no value"},
  {IN_LOOPS("{\"Loop\":{\"axis\":{\"name\":\"a2\",\"extent\":0},\"body\":[]}}"), PLACE "[0].Loop.axis.extent: found 0"},
  {IN_LOOPS("{\"Loop\":{\"axis\":{\"name\":\"a2\",\"extent\":\"n / 0\"},\"body\":[]}}"),
   PLACE "[0].Loop.axis.extent: the size \"n / 0\" divides by zero"},
  {IN_LOOPS("{\"Loop\":{\"axis\":{\"name\":\"a2\",\"extent\":{\"hint\":4}},\"body\":[]}}"),
   PLACE "[0].Loop.axis.extent: expected a size"},
  {"{\"inputs\":[],\"outputs\":[],\"nodes\":[]}", "nodes: no node of op \"loop\""},
  {"{\"inputs\":[],\"outputs\":[],\"nodes\":[{\"id\":\"x\",\"op\":\"torch.matmul\",\"outputs\":[[\"x\",\"f32\",[2]]]}]}",
   "nodes[0].op: found the op \"torch.matmul\", expected"},
  {"{\"inputs\":[],\"outputs\":[],\"nodes\":[{\"id\":\"x\",\"op\":\"input\",\"outputs\":[[\"x\",\"f32\",[4294967296,4294967296]]]},"
   "{\"id\":\"y\",\"op\":\"loop\",\"attrs\":{\"body\":[],\"name\":\"k\"},\"outputs\":[[\"y\",\"f32\",[2]]]}]}",
   "nodes[0].outputs: the size of \"x\" does not fit in 64 bits"},
  {"{\"inputs\":[],\"outputs\":[],\"nodes\":[{\"id\":\"x\",\"op\":\"input\",\"outputs\":[[\"x\",\"f32\",[2]]]},"
   "{\"id\":\"x\",\"op\":\"loop\",\"attrs\":{\"body\":[],\"name\":\"k\"},\"outputs\":[[\"x\",\"f32\",[2]]]}]}",
   "nodes[1].outputs[0][0]: the buffer \"x\" is defined twice"},
  {"{\"inputs\":[],\"outputs\":[],\"nodes\":[{\"id\":\"y\",\"op\":\"loop\",\"attrs\":{\"body\":[],\"name\":\"k-1\"},\"outputs\":[[\"y\",\"f32\",[2]]]}]}",
   "expected a C identifier"},
  {"[]", "expected"},
};

static void bad_text_is_one_clear_error(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(bad_texts); i++) {
    em_kernel *k = NULL;
    em_err err;
    int64_t live = em_alloc_live();
    int rc = em_kernel_parse_text(bad_texts[i].text, strlen(bad_texts[i].text), NULL, "bad.json", &k, &err);
    if (rc != EM_E_INPUT || !strstr(err.msg, bad_texts[i].message) || !strstr(err.msg, "bad.json"))
      fail_msg("text %zu: got \"%s\", expected \"%s\"", i, rc ? err.msg : "success", bad_texts[i].message);
    assert_null(k);
    assert_int_equal(em_alloc_live(), live);
  }
}

/* `depth` loops of one iteration each around a store of the whole. */
static char *nested(int depth)
{
  em_str s = {0};
  em_err err;
  char *text;
  em_str_put(&s, GRAPH_HEAD);
  for (int i = 0; i < depth; i++)
    em_str_printf(&s, "{\"Loop\":{\"axis\":{\"name\":\"b%d\",\"extent\":1},\"body\":[", i);
  for (int i = 0; i < depth; i++) em_str_put(&s, "]}}");
  em_str_put(&s, GRAPH_TAIL);
  assert_int_equal(em_str_take(&s, &text, &err), EM_OK);
  return text;
}

static void nesting_is_limited_to_64(void **state)
{
  (void)state;
  char *ok = nested(EM_NEST_DEPTH), *deep = nested(EM_NEST_DEPTH + 1);
  em_kernel *k = NULL;
  em_err err;
  em_kernel_free(kernel_of(ok));
  assert_int_equal(em_kernel_parse_text(deep, strlen(deep), NULL, "deep", &k, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "statements nest deeper than 64 levels"));
  em_free(ok);
  em_free(deep);
}

static int parse_everything(em_kernel **k)
{
  em_err err;
  return em_kernel_parse_text(everything, strlen(everything), NULL, "test", k, &err);
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  em_kernel *k = NULL;
  ASSERT_SURVIVES_NOMEM(parse_everything(&k), em_kernel_free(k));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(published_kernels_print_the_same),  cmocka_unit_test(every_statement_prints_as_it_was_read),
    cmocka_unit_test(other_spellings_become_canonical),  cmocka_unit_test(symbols_have_hints),
    cmocka_unit_test(every_statement_has_a_pretty_form), cmocka_unit_test(pretty_text_has_a_line_for_each_statement),
    cmocka_unit_test(bad_text_is_one_clear_error),       cmocka_unit_test(nesting_is_limited_to_64),
    cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
