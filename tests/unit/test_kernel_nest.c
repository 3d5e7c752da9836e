/* The loop nest as the space sees it, from bodies that no builder makes. */
#include "tests/unit/kernel_text.h"

/* A graph of given nodes (inputs) and outputs around a body. */
#define NODE(id, dtype, shape)                                                                                         \
  "{\"id\":\"" id "\",\"op\":\"input\",\"outputs\":[[\"" id "\",\"" dtype "\",[" shape "]]]}"
#define KERNEL(nodes, body, outputs)                                                                                   \
  "{\"inputs\":[],\"outputs\":[],\"nodes\":[" nodes ",{\"id\":\"loop\",\"op\":\"loop\",\"attrs\":{\"body\":[" body     \
  "],\"name\":\"k\"},\"outputs\":[" outputs "]}]}"
#define OUT(id, dtype, shape) "[\"" id "\",\"" dtype "\",[" shape "]]"
#define MULTIPLY(name, x, y)  ASSIGN(name, "multiply", "\"" x "\",\"" y "\"")

#define AB NODE("a", "f16", "32,64") "," NODE("b", "f16", "64,128") "," NODE("i", "i32", "64")
#define C  OUT("c", "f32", "32,128")
/* c[m,n] = epilogue(sum over k of what `fold` accumulates) */
#define MNK(fold, epilogue) KERNEL(AB, LOOP("m", 32, LOOP("n", 128, LOOP("k", 64, fold) "," epilogue)), C)
#define LOAD_A              LOAD("p", "a", "\"m\",\"k\"")
#define LOAD_B              LOAD("q", "b", "\"k\",\"n\"")
#define STORE               WRITE("c", "\"m\",\"n\"", "s")
#define PLAIN_FOLD          LOAD_A "," LOAD_B "," MULTIPLY("v", "p", "q") "," ACCUM("s", "v", "k")

static void operands_are_found_by_their_axes(void **state)
{
  (void)state;
  static const char *const texts[] = {
    MNK(PLAIN_FOLD, STORE),
    MNK(LOAD_A "," LOAD_B "," MULTIPLY("v", "q", "p") "," ACCUM("s", "v", "k"), STORE), /* B times A */
    MNK(LOAD_B "," LOAD_A "," MULTIPLY("v", "p", "q") "," ASSIGN("w", "copy", "\"v\"") "," ACCUM("s", "w", "k"), STORE),
  };
  for (size_t i = 0; i < N_OF(texts); i++) {
    em_kernel *k = kernel_of(texts[i]);
    const em_nest *n = em_kernel_nest(k);
    assert_int_equal(n->kind, EM_KIND_CONTRACTION);
    assert_null(n->out_of_scope);
    assert_int_equal(n->n_free, 2);
    assert_string_equal(n->free[0].name, "m");
    assert_int_equal(n->free[1].extent, 128);
    assert_int_equal(n->m_axis, 0);
    assert_int_equal(n->n_axis, 1);
    assert_string_equal(n->fold.name, "k");
    assert_int_equal(n->fold.extent, 64);
    assert_string_equal(n->fold_op, "add");
    assert_int_equal(n->n_products, 1);
    assert_int_equal(n->n_extra, 0);
    assert_string_equal(n->a.buffer, "a");
    assert_string_equal(n->b.buffer, "b");
    assert_int_equal(n->a.dtype, EM_F16);
    assert_true(n->a.plain && n->a.k_contiguous && !n->a.mn_contiguous && n->a.leading_fixed && !n->a.cast);
    assert_true(n->b.plain && !n->b.k_contiguous && n->b.mn_contiguous && n->b.leading_fixed && !n->b.cast);
    assert_int_equal(n->b.rank, 2);
    assert_true(n->row_address && n->epilogue_straight && n->epilogue_linear && !n->atomic);
    assert_int_equal(n->out_dtype, EM_F32);
    em_kernel_free(k);
  }
}

static void transposed_operands_are_seen(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(
    KERNEL(NODE("a", "f32", "64,32") "," NODE("b", "f32", "128,64"),
           LOOP("m", 32,
                LOOP("n", 128,
                     LOOP("k", 64,
                          LOAD("p", "a", "\"k\",\"m\"") "," LOAD("q", "b", "\"n\",\"k\"") "," MULTIPLY(
                            "v", "p", "q") "," ACCUM("s", "v", "k")) "," STORE)),
           C));
  const em_nest *n = em_kernel_nest(k);
  assert_true(!n->a.k_contiguous && n->a.mn_contiguous && n->b.k_contiguous && !n->b.mn_contiguous);
  em_kernel_free(k);
}

/* Leading axes belong to the grid; the trailing two are the tile's. */
static void leading_axes_are_fixed(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(KERNEL(
    NODE("a", "bf16", "2,3,32,64") "," NODE("b", "bf16", "3,64,128"),
    LOOP(
      "x", 2,
      LOOP(
        "y", 3,
        LOOP(
          "m", 32,
          LOOP("n", 128,
               LOOP("k", 64,
                    LOAD("p", "a", "\"x\",\"y\",\"m\",\"k\"") "," LOAD("q", "b", "\"y\",\"k\",\"n\"") "," MULTIPLY(
                      "v", "p", "q") "," ACCUM("s", "v", "k")) "," WRITE("c", "\"x\",\"m\",\"y * 128 + n\"", "s"))))),
    OUT("c", "bf16", "2,32,384")));
  const em_nest *n = em_kernel_nest(k);
  assert_int_equal(n->n_free, 4);
  assert_int_equal(n->m_axis, 2);
  assert_int_equal(n->n_axis, 3);
  assert_true(n->a.leading_fixed && n->b.leading_fixed && n->row_address);
  assert_int_equal(n->a.rank, 4);
  em_kernel_free(k);
}

/* c[m,n] with the operand `from` loaded at `index` instead. */
static em_nest nest_with(const char *from, const char *to, em_kernel **keep)
{
  char *text = replaced(MNK(PLAIN_FOLD, STORE), from, to);
  *keep = kernel_of(text);
  em_free(text);
  return *em_kernel_nest(*keep);
}

static void contiguity_follows_the_last_index(void **state)
{
  (void)state;
  static const struct {
    const char *index;
    bool k_contiguous, leading_fixed;
  } cases[] = {
    {"\"m\",\"k + 3\"", true, true},
    {"\"m\",\"0 * 64 + k\"", true, true},
    {"\"m\",\"k * 2\"", false, true},
    {"\"m\",\"k / 4\"", false, true},
    {"\"m\",\"k % 8 + 1\"", false, true},
    {"\"m\",\"63 - k\"", false, true},
    {"\"0\",\"m * 2 + k\"", false, false},
    {"\"k\",\"m\"", false, true},
    {"\"m / 2\",\"m % 2 * 32 + k\"", false, false},
    {"\"m\",\"k + (k < 3 ? 1 : 0)\"", false, true},
    {"\"m\",\"min(k, 63)\"", false, true},
    {"\"m\",\"2 * k - k\"", true, true},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_kernel *k;
    em_nest n = nest_with("\"m\",\"k\"", cases[i].index, &k);
    if (n.a.k_contiguous != cases[i].k_contiguous || n.a.leading_fixed != cases[i].leading_fixed)
      fail_msg("%s: k_contiguous %d, leading_fixed %d", cases[i].index, n.a.k_contiguous, n.a.leading_fixed);
    em_kernel_free(k);
  }
}

static void casts_and_computed_operands_are_told_apart(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(MNK(
    LOAD_A
    ","
    "{\"Assign\":{\"name\":\"p2\",\"op\":\"copy\",\"args\":[\"p\"],\"dtype\":\"f32\"}}," LOAD_B "," ASSIGN(
      "q2", "exp",
      "\"q\"") ",{\"Assign\":{\"name\":\"v\",\"op\":\"multiply\",\"args\":[\"p2\",\"q2\"],\"dtype\":\"f32\"}}," ACCUM("s",
                                                                                                                      "v",
                                                                                                                      "k"),
    STORE));
  const em_nest *n = em_kernel_nest(k);
  assert_true(n->a.plain && n->a.cast && n->a.k_contiguous);
  assert_string_equal(n->a.buffer, "a");
  assert_true(!n->b.plain && !n->b.cast);
  assert_null(n->b.buffer);
  assert_int_equal(n->b.dtype, EM_F16);
  assert_int_equal(n->product_dtype, EM_F32);
  assert_null(n->out_of_scope);
  em_kernel_free(k);
}

/* A product of three, and a loop-invariant factor that is no operand. */
static void extra_factors_are_counted(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(
    MNK(LOAD_A "," LOAD_B "," LOAD("r", "i", "\"k\"") "," LOAD("u", "i", "\"m\"") "," MULTIPLY(
          "v", "p", "q") "," MULTIPLY("w", "v", "r") "," MULTIPLY("y", "w", "u") "," ACCUM("s", "y", "k"),
        STORE));
  const em_nest *n = em_kernel_nest(k);
  assert_int_equal(n->n_extra, 1);
  assert_int_equal(n->n_products, 1);
  em_kernel_free(k);
  /* a square times another: the operands are the two that differ */
  k = kernel_of(
    MNK(LOAD_A "," LOAD_B "," MULTIPLY("v", "p", "p") "," MULTIPLY("w", "v", "q") "," ACCUM("s", "w", "k"), STORE));
  n = em_kernel_nest(k);
  assert_int_equal(n->n_extra, 1);
  assert_string_equal(n->a.buffer, "a");
  assert_string_equal(n->b.buffer, "b");
  em_kernel_free(k);
}

static void channels_are_counted(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(MNK(PLAIN_FOLD
                               "," LOAD("r", "b", "\"k\",\"n\"") "," MULTIPLY("w", "p", "r") "," ACCUM("t", "w", "k"),
                               MULTIPLY("g", "s", "t") "," WRITE("c", "\"m\",\"n\"", "g")));
  const em_nest *n = em_kernel_nest(k);
  assert_int_equal(n->n_products, 2);
  assert_true(n->epilogue_straight && !n->epilogue_linear);
  em_kernel_free(k);
}

static void kinds_follow_what_is_accumulated(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    em_kind kind;
  } cases[] = {
    {MNK(PLAIN_FOLD, STORE), EM_KIND_CONTRACTION},
    {MNK(LOAD_A "," MULTIPLY("v", "p", "p") "," ACCUM("s", "v", "k"), STORE), EM_KIND_REDUCE}, /* a square */
    {MNK(LOAD_A "," LOAD("q", "a", "\"m\",\"k\"") "," MULTIPLY("v", "p", "q") "," ACCUM("s", "v", "k"), STORE),
     EM_KIND_REDUCE}, /* loaded twice */
    {MNK(LOAD_A "," LOAD("q", "i", "\"m\"") "," MULTIPLY("v", "p", "q") "," ACCUM("s", "v", "k"), STORE),
     EM_KIND_REDUCE}, /* scaled */
    {MNK(LOAD_A "," LOAD_B "," ASSIGN("v", "add", "\"p\",\"q\"") "," ACCUM("s", "v", "k"), STORE), EM_KIND_REDUCE},
    {MNK(LOAD_A "," LOAD_B "," MULTIPLY(
           "v", "p", "q") ",{\"Accum\":{\"name\":\"s\",\"value\":\"v\",\"op\":\"maximum\",\"axes\":[\"k\"]}}",
         STORE),
     EM_KIND_REDUCE},
    {MNK(LOAD_A ",{\"Accum\":{\"name\":\"s\",\"value\":\"p\",\"op\":\"next\",\"axes\":[\"k\"]}}", STORE),
     EM_KIND_OTHER},
    {KERNEL(AB, LOOP("m", 32, LOOP("n", 128, LOAD("s", "a", "\"m\",\"0\"") "," STORE)), C), EM_KIND_POINTWISE},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_kernel *k = kernel_of(cases[i].text);
    if (em_kernel_kind(k) != cases[i].kind || em_kernel_nest(k)->kind != cases[i].kind)
      fail_msg("case %zu is %s", i, em_kind_name(em_kernel_kind(k)));
    em_kernel_free(k);
  }
}

static void epilogues_are_judged(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    bool straight, linear;
  } cases[] = {
    {MNK(PLAIN_FOLD, LOAD("r", "i", "\"n % 64\"") "," MULTIPLY("e", "r", "s") "," WRITE("c", "\"m\",\"n\"", "e")), true,
     true},
    {MNK(PLAIN_FOLD,
         LOAD("r", "i", "\"n % 64\"") "," ASSIGN("e", "divide", "\"s\",\"r\"") "," WRITE("c", "\"m\",\"n\"", "e")),
     true, true},
    {MNK(PLAIN_FOLD,
         LOAD("r", "i", "\"n % 64\"") "," ASSIGN("e", "divide", "\"r\",\"s\"") "," WRITE("c", "\"m\",\"n\"", "e")),
     true, false},
    {MNK(PLAIN_FOLD,
         LOAD("r", "i", "\"n % 64\"") "," ASSIGN("e", "add", "\"s\",\"r\"") "," WRITE("c", "\"m\",\"n\"", "e")),
     true, false},
    {MNK(PLAIN_FOLD, MULTIPLY("e", "s", "s") "," WRITE("c", "\"m\",\"n\"", "e")), true, false},
    {MNK(PLAIN_FOLD,
         ASSIGN("e", "negative", "\"s\"") "," ASSIGN("f", "copy", "\"e\"") "," WRITE("c", "\"m\",\"n\"", "f")),
     true, true},
    {MNK(PLAIN_FOLD, ASSIGN("e", "relu", "\"s\"") "," WRITE("c", "\"m\",\"n\"", "e")), true, false},
    {MNK(PLAIN_FOLD, LOAD("r", "i", "\"n % 64\"") "," LOAD("g", "b", "\"r\",\"n\"") "," ASSIGN(
                       "e", "add", "\"s\",\"g\"") "," WRITE("c", "\"m\",\"n\"", "e")),
     false, false},
    {MNK(PLAIN_FOLD, LOAD("r", "i", "\"0\"") "," STORE "," WRITE("c", "\"m\",\"n\"", "r")), false, false},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_kernel *k = kernel_of(cases[i].text);
    const em_nest *n = em_kernel_nest(k);
    if (n->epilogue_straight != cases[i].straight || n->epilogue_linear != cases[i].linear)
      fail_msg("case %zu: straight %d, linear %d", i, n->epilogue_straight, n->epilogue_linear);
    em_kernel_free(k);
  }
}

static void rows_need_addresses_of_their_own(void **state)
{
  (void)state;
  static const struct {
    const char *index;
    bool own;
  } cases[] = {
    {"\"m\",\"n\"", true},
    {"\"0\",\"n\"", false},
    {"\"m / 4\",\"n\"", false},
    {"\"m / 4\",\"m % 4 * 32 + n % 32\"", true},
    {"\"m / 4\",\"m % 8 * 16 + n % 16\"", false},
    {"\"n % 32\",\"m * 2 + n / 64\"", true},
    {"\"31 - m\",\"n\"", true},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_kernel *k;
    em_nest n = nest_with("\"m\",\"n\"", cases[i].index, &k);
    if (n.row_address != cases[i].own) fail_msg("%s: row_address %d", cases[i].index, n.row_address);
    em_kernel_free(k);
  }
  /* a single row needs none */
  em_kernel *k = kernel_of(KERNEL(NODE("a", "f32", "1,64") "," NODE("b", "f32", "64,128"),
                                  LOOP("m", 1, LOOP("n", 128, LOOP("k", 64, PLAIN_FOLD) "," WRITE("c", "\"n\"", "s"))),
                                  OUT("c", "f32", "128")));
  assert_true(em_kernel_nest(k)->row_address);
  assert_int_equal(em_kernel_nest(k)->n_free, 2);
  em_kernel_free(k);
}

static void one_free_axis_has_no_tile_axes(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(KERNEL(AB,
                                  LOOP("m", 32,
                                       LOOP("k", 64,
                                            LOAD_A "," LOAD("q", "i", "\"k\"") "," MULTIPLY("v", "p", "q") "," ACCUM(
                                              "s", "v", "k")) "," WRITE("c", "\"m\"", "s")),
                                  OUT("c", "f32", "32")));
  const em_nest *n = em_kernel_nest(k);
  assert_int_equal(n->kind, EM_KIND_CONTRACTION);
  assert_int_equal(n->m_axis, -1);
  assert_int_equal(n->n_axis, -1);
  assert_true(n->a.k_contiguous && n->b.k_contiguous);
  em_kernel_free(k);
}

static void symbolic_extents_keep_name_and_hint(void **state)
{
  (void)state;
  em_kernel *k = build_of(
    (em_build){.kind = "linear", .m = 77, .n = 64, .k = 32, .in = EM_F16, .sym_m = "seq_len", .b_transposed = true});
  const em_nest *n = em_kernel_nest(k);
  assert_int_equal(n->free[0].extent, 0);
  assert_string_equal(n->free[0].sym, "seq_len");
  assert_int_equal(n->free[0].hint, 77);
  assert_null(n->free[1].sym);
  assert_int_equal(n->free[1].hint, 64);
  em_kernel_free(k);
}

static void row_kernels_have_folds_and_a_sweep(void **state)
{
  (void)state;
  static const struct {
    const char *kind;
    int folds;
    bool sweeps;
    const char *op;
  } cases[] = {
    {"reduce_sum", 1, false, "add"}, {"reduce_mean", 1, false, "add"}, {"reduce_max", 1, false, "maximum"},
    {"softmax", 2, true, "maximum"}, {"rms_norm", 1, true, "add"},     {"layer_norm", 2, true, "add"},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_kernel *k = build_of((em_build){.kind = cases[i].kind, .m = 8, .k = 256, .in = EM_F16});
    const em_nest *n = em_kernel_nest(k);
    assert_int_equal(n->kind, EM_KIND_REDUCE);
    assert_int_equal(n->n_free, 1);
    assert_int_equal(n->n_folds, cases[i].folds);
    assert_int_equal(n->sweeps, cases[i].sweeps);
    assert_string_equal(n->fold_op, cases[i].op);
    assert_int_equal(n->fold.extent, 256);
    assert_null(n->out_of_scope);
    em_kernel_free(k);
  }
}

/* Two stores in one cell, and a gather that is no operand, are nothing special. */
static void several_outputs_are_one_nest(void **state)
{
  (void)state;
  em_kernel *k = kernel_of(
    KERNEL(AB, LOOP("m", 32, LOOP("n", 128, LOOP("k", 64, PLAIN_FOLD) "," WRITE("d", "\"n\",\"m\"", "s") "," STORE)),
           OUT("c", "f32", "32,128") "," OUT("d", "bf16", "128,32")));
  const em_nest *n = em_kernel_nest(k);
  assert_null(n->out_of_scope);
  assert_int_equal(n->out_dtype, EM_BF16); /* of the first store */
  assert_true(n->row_address && n->epilogue_straight);
  em_kernel_free(k);
  k = kernel_of(
    KERNEL(AB, LOOP("m", 32, LOOP("n", 64, LOAD("j", "i", "\"n\"") "," LOAD("s", "a", "\"m\",\"j\"") "," STORE)), C));
  assert_null(em_kernel_nest(k)->out_of_scope);
  assert_int_equal(em_kernel_nest(k)->kind, EM_KIND_POINTWISE);
  em_kernel_free(k);
}

static void what_the_space_lacks_is_said(void **state)
{
  (void)state;
  static const struct {
    const char *text, *why;
    em_kind kind;
  } cases[] = {
    {MNK(LOAD_A "," LOAD("j", "i", "\"k\"") "," LOAD("q", "b", "\"j\",\"n\"") "," MULTIPLY("v", "p", "q") "," ACCUM(
           "s", "v", "k"),
         STORE),
     "gather index in an operand", EM_KIND_CONTRACTION},
    {MNK(LOAD_A ",{\"Accum\":{\"name\":\"s\",\"value\":\"p\",\"op\":\"next\",\"axes\":[\"k\"]}}", STORE),
     "carried state (next)", EM_KIND_OTHER},
    {KERNEL(AB,
            LOOP("m", 32,
                 LOOP("j", 64, LOAD("o", "a", "\"m\",\"j\"") "," ACCUM("t", "o", "j")) "," LOOP(
                   "n", 128,
                   LOOP("k", 64,
                        LOAD_A "," ASSIGN("u", "divide", "\"p\",\"t\"") "," LOAD_B "," MULTIPLY(
                          "v", "u", "q") "," ACCUM("s", "v", "k")) "," STORE)),
            C),
     "a row reduction fused into a contraction", EM_KIND_CONTRACTION},
    {KERNEL(AB,
            LOOP("m", 32,
                 LOOP("n", 128,
                      LOOP("j", 64, LOAD("o", "a", "\"m\",\"j\"") "," ACCUM("t", "o", "j")) "," LOOP(
                        "k", 64, LOAD_A "," LOAD_B "," MULTIPLY("v", "p", "q") "," ACCUM("s", "v", "k")) "," STORE)),
            C),
     "a contraction after another reduction", EM_KIND_CONTRACTION},
    {KERNEL(AB,
            LOOP("m", 32,
                 LOOP("n", 128,
                      LOOP("k", 64,
                           LOOP("j", 2, LOAD_A "," ACCUM("t", "p", "j")) "," LOAD_B "," MULTIPLY(
                             "v", "t", "q") "," ACCUM("s", "v", "k")) "," STORE)),
            C),
     "nested reduction under a contraction operand", EM_KIND_CONTRACTION},
    {KERNEL(AB,
            LOOP("m", 32, LOAD("s", "a", "\"m\",\"0\"") "," WRITE("c", "\"m\",\"0\"", "s")) "," LOOP(
              "n", 32, LOAD("s", "a", "\"n\",\"1\"") "," WRITE("c", "\"n\",\"1\"", "s")),
            C),
     "several loop nests", EM_KIND_POINTWISE},
    {KERNEL(
       AB,
       LOOP("m", 32,
            LOOP("n", 128, "{\"Cond\":{\"cond\":\"n < m\",\"body\":[" LOAD("s", "a", "\"m\",\"0\"") "," STORE "]}}")),
       C),
     "guarded block (Cond)", EM_KIND_POINTWISE},
    {KERNEL(AB, LOAD("s", "a", "\"0\",\"0\"") "," WRITE("c", "\"0\",\"0\"", "s"), C), "no free loop around the stores",
     EM_KIND_POINTWISE},
    {KERNEL(AB, LOOP("m", 32, LOOP("k", 64, LOAD_A "," ACCUM("s", "p", "k") "," WRITE("c", "\"m\",\"k\"", "s"))), C),
     "no store beside or below the folds", EM_KIND_REDUCE},
    {KERNEL(AB, LOOP("m", 32, LOOP("n", 64, LOAD("j", "i", "\"n\"") "," WRITE("c", "\"m\",\"j\"", "j"))), C),
     "store to an address made of loaded values", EM_KIND_POINTWISE},
    {KERNEL(AB,
            "{\"Loop\":{\"axis\":{\"name\":\"m\",\"extent\":32},\"seed\":false,\"body\":[" LOAD(
              "s", "a", "\"m\",\"0\"") "," WRITE("c", "\"m\",\"0\"", "s") "]}}",
            C),
     "loop that does not seed its accumulators", EM_KIND_POINTWISE},
    {MNK(LOAD_A "," ACCUM("t", "p", "k") "," LOAD_B "," MULTIPLY("v", "p", "q") "," ACCUM("s", "v", "k"), STORE),
     "another state beside the products of a contraction", EM_KIND_CONTRACTION},
    {MNK(PLAIN_FOLD "," ACCUM("t", "p", "k"), STORE), "another state beside the products of a contraction",
     EM_KIND_CONTRACTION},
    {KERNEL(AB,
            LOOP("m", 32,
                 LOOP("n", 128,
                      LOOP("k", 64, PLAIN_FOLD) "," LOOP(
                        "j", 64,
                        LOAD("o", "a", "\"m\",\"j\"") "," ACCUM(
                          "t", "o", "j")) "," ASSIGN("e", "add", "\"s\",\"t\"") "," WRITE("c", "\"m\",\"n\"", "e"))),
            C),
     "another reduction beside a contraction", EM_KIND_CONTRACTION},
    {KERNEL(AB, LOOP("m", 32, LOOP("n", 128, LOOP("k", 64, PLAIN_FOLD) "," LOOP("j", 2, STORE))), C),
     "a second pass after a contraction", EM_KIND_CONTRACTION},
    {MNK(LOAD("p", "a", "\"m\",\"(k + n) % 64\"") "," LOAD_B "," MULTIPLY("v", "p", "q") "," ACCUM("s", "v", "k"),
         STORE),
     "an operand of the product moves with both tile axes", EM_KIND_CONTRACTION},
    {KERNEL(
       AB,
       LOOP("a0", 1,
            LOOP("a1", 1,
                 LOOP("a2", 1,
                      LOOP("a3", 1,
                           LOOP("a4", 1,
                                LOOP("a5", 1,
                                     LOOP("a6", 1,
                                          LOOP("m", 32, LOOP("n", 128, LOAD("s", "a", "\"m\",\"0\"") "," STORE))))))))),
       C),
     "more than 8 free loops", EM_KIND_POINTWISE},
    {MNK("{\"Load\":{\"names\":[\"p\",\"p2\"],\"input\":\"a\",\"index\":[\"m\",\"k\"]}}," LOAD_B
         "," MULTIPLY("v", "p", "q") "," ACCUM("s", "v", "k"),
         STORE),
     "vector load in an operand", EM_KIND_CONTRACTION},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    em_kernel *k = kernel_of(cases[i].text);
    const em_nest *n = em_kernel_nest(k);
    if (!n->out_of_scope || strcmp(n->out_of_scope, cases[i].why) || n->kind != cases[i].kind)
      fail_msg("case %zu: %s, %s", i, em_kind_name(n->kind), n->out_of_scope ? n->out_of_scope : "in scope");
    em_kernel_free(k);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(operands_are_found_by_their_axes),
    cmocka_unit_test(transposed_operands_are_seen),
    cmocka_unit_test(leading_axes_are_fixed),
    cmocka_unit_test(contiguity_follows_the_last_index),
    cmocka_unit_test(casts_and_computed_operands_are_told_apart),
    cmocka_unit_test(extra_factors_are_counted),
    cmocka_unit_test(channels_are_counted),
    cmocka_unit_test(kinds_follow_what_is_accumulated),
    cmocka_unit_test(epilogues_are_judged),
    cmocka_unit_test(rows_need_addresses_of_their_own),
    cmocka_unit_test(one_free_axis_has_no_tile_axes),
    cmocka_unit_test(symbolic_extents_keep_name_and_hint),
    cmocka_unit_test(row_kernels_have_folds_and_a_sweep),
    cmocka_unit_test(several_outputs_are_one_nest),
    cmocka_unit_test(what_the_space_lacks_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
