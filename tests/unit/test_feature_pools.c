/*
 * Features of whole pools: no two candidates look alike to a model, and
 * neither order nor batches nor the form of a row change a value.
 */
#include "tests/unit/feature_pools.h"

static const struct pool_case {
  const char *name, *card;
  em_build spec;
  bool fast_math;
} cases[] = {
  {"f32 matmul", "rtx4090", {.kind = "matmul", .m = 512, .n = 512, .k = 512, .in = EM_F32}, false},
  {"odd f32 matmul", "rtx4090", {.kind = "matmul", .m = 100, .n = 60, .k = 36, .in = EM_F32}, false},
  {"f16 matmul", "rtx4090", {.kind = "matmul", .m = 1024, .n = 1024, .k = 1024, .in = EM_F16}, true},
  {"f16 matmul, wgmma", "h100", {.kind = "matmul", .m = 1024, .n = 512, .k = 2048, .in = EM_F16}, true},
  {"f16 matmul, Volta", "v100-sxm2", {.kind = "matmul", .m = 512, .n = 512, .k = 512, .in = EM_F16}, false},
  {"symbolic linear",
   "a100-80gb",
   {.kind = "linear", .m = 512, .n = 1024, .k = 256, .in = EM_BF16, .sym_m = "seq_len", .b_transposed = true},
   false},
  {"sums", "rtx4090", {.kind = "reduce_sum", .m = 4096, .k = 1024, .in = EM_F32}, false},
  {"softmax", "rtx5090", {.kind = "softmax", .m = 4096, .k = 1024, .in = EM_F16}, false},
  {"rms norm", "l40s", {.kind = "rms_norm", .m = 2048, .k = 4096, .in = EM_BF16}, false},
  {"pointwise", "rtx4090", {.kind = "pointwise", .m = 1024, .n = 768, .in = EM_F32}, false},
};

typedef struct matrix {
  em_row *rows;
  double *values;
  size_t n;
} matrix;

static pool open_case(const struct pool_case *c)
{
  em_regime regime = EM_REGIME_DEFAULT;
  regime.fast_math = c->fast_math;
  return pool_open(&c->spec, c->card, regime, NULL);
}

static matrix enumerate(const pool *p, size_t at_most)
{
  matrix m = {.n = (size_t)em_space_count(p->space)};
  if (m.n > at_most) m.n = at_most;
  assert_true(m.n > 0);
  m.rows = em_alloc(m.n * sizeof *m.rows);
  m.values = em_alloc(m.n * p->cols.n * sizeof *m.values);
  assert_true(m.rows && m.values);
  em_space_cursor c = em_space_begin(p->space);
  for (size_t got = 0; got < m.n;) {
    size_t step = em_space_next(&c, m.rows + got, m.n - got);
    assert_true(step > 0);
    got += step;
  }
  em_featurize(p->f, m.rows, m.n, m.values);
  return m;
}

static void matrix_free(matrix *m)
{
  em_free(m->rows);
  em_free(m->values);
}

/* ---- blind pairs ------------------------------------------------------------------ */

static size_t row_bytes;

static int by_bytes(const void *a, const void *b)
{
  return memcmp(*(const double *const *)a, *(const double *const *)b, row_bytes);
}

static size_t blind_pairs(const pool *p, const matrix *m)
{
  const double **order = em_alloc(m->n * sizeof *order);
  size_t pairs = 0;
  assert_non_null(order);
  for (size_t i = 0; i < m->n; i++) order[i] = m->values + i * p->cols.n;
  row_bytes = p->cols.n * sizeof *m->values;
  qsort(order, m->n, sizeof *order, by_bytes);
  for (size_t i = 1; i < m->n; i++) {
    if (by_bytes(&order[i - 1], &order[i]) != 0) continue;
    char a[EM_ROW_LEN], b[EM_ROW_LEN];
    const em_row *x = &m->rows[(size_t)(order[i - 1] - m->values) / p->cols.n],
                 *y = &m->rows[(size_t)(order[i] - m->values) / p->cols.n];
    if (pairs++ == 0) print_message("blind: %s | %s\n", em_row_print(x, a), em_row_print(y, b));
  }
  em_free(order);
  return pairs;
}

static void no_two_candidates_look_alike(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(cases); i++) {
    pool p = open_case(&cases[i]);
    matrix m = enumerate(&p, SIZE_MAX);
    size_t pairs = blind_pairs(&p, &m);
    if (pairs > 0) fail_msg("%s: %zu blind pairs among %zu candidates", cases[i].name, pairs, m.n);
    matrix_free(&m);
    pool_close(&p);
  }
}

/* ---- the same values however they are asked for -------------------------------------- */

static void batches_do_not_matter(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(cases); i++) {
    pool p = open_case(&cases[i]);
    matrix m = enumerate(&p, 3000);
    size_t size = p.cols.n * sizeof(double);
    double *again = em_alloc(m.n * size);
    assert_non_null(again);
    for (size_t at = 0, step = 1; at < m.n; at += step, step = step % 7 + 1) {
      if (step > m.n - at) step = m.n - at;
      em_featurize(p.f, m.rows + at, step, again + at * p.cols.n);
    }
    assert_memory_equal(again, m.values, m.n * size);
    em_free(again);
    matrix_free(&m);
    pool_close(&p);
  }
}

static void order_does_not_matter(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(cases); i++) {
    pool p = open_case(&cases[i]);
    matrix m = enumerate(&p, 3000);
    em_row *shuffled = em_alloc(m.n * sizeof *shuffled);
    double *values = em_alloc(m.n * p.cols.n * sizeof *values);
    assert_true(shuffled && values);
    size_t stride = 7919; /* a prime above m.n: each row once */
    for (size_t r = 0; r < m.n; r++) shuffled[r] = m.rows[r * stride % m.n];
    em_featurize(p.f, shuffled, m.n, values);
    for (size_t r = 0; r < m.n; r++)
      assert_memory_equal(values + r * p.cols.n, m.values + r * stride % m.n * p.cols.n, p.cols.n * sizeof *values);
    em_free(shuffled);
    em_free(values);
    matrix_free(&m);
    pool_close(&p);
  }
}

static void a_stored_row_of_one_site_is_the_row(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(cases); i++) {
    pool p = open_case(&cases[i]);
    matrix m = enumerate(&p, 3000);
    double *out = em_alloc(p.cols.n * sizeof *out);
    assert_non_null(out);
    for (size_t r = 0; r < m.n; r += 13) {
      em_knobs knobs = {0};
      em_err err;
      assert_int_equal(em_row_to_knobs(&m.rows[r], &knobs, &err), EM_OK);
      if (em_featurize_knobs(p.f, &knobs, out, &err) != EM_OK) fail_msg("%s", err.msg);
      assert_memory_equal(out, m.values + r * p.cols.n, p.cols.n * sizeof *out);
      em_knobs_free(&knobs);
    }
    em_free(out);
    matrix_free(&m);
    pool_close(&p);
  }
}

/* ---- the registry against the pools ---------------------------------------------------- */

static void every_stamp_is_registered_and_a_column(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(cases); i++) {
    pool p = open_case(&cases[i]);
    size_t n;
    const em_stamp *stamps = em_kernel_stamps(p.kernel, &n);
    for (size_t s = 0; s < n; s++) {
      if (!em_feature_find(stamps[s].name)) fail_msg("%s is not registered", stamps[s].name);
      if (em_columns_index(&p.cols, stamps[s].name) < 0) fail_msg("%s is no column", stamps[s].name);
    }
    for (size_t c = 1; c < p.cols.n; c++) assert_true(strcmp(p.cols.names[c - 1], p.cols.names[c]) < 0);
    for (size_t c = 0; c < p.cols.n; c++) assert_true(strchr(p.cols.names[c], '*') == NULL);
    pool_close(&p);
  }
}

/* Missing exactly where the tiers of the registry say so. */
static bool defined_on(const char *tiers, const em_row *r)
{
  bool sited = (r->present & (EM_HAS(EM_TILE) | EM_HAS(EM_REDUCE))) != 0;
  bool warp = r->tile.kind == EM_TILE_WARP, scalar = r->tile.kind == EM_TILE_SCALAR;
  bool reduce = sited && !warp && !scalar && (r->present & EM_HAS(EM_REDUCE));
  if (strcmp(tiers, "S W R") == 0) return warp || scalar || reduce;
  if (strcmp(tiers, "S W") == 0) return warp || scalar;
  if (strcmp(tiers, "W") == 0) return warp;
  if (strcmp(tiers, "R") == 0) return reduce;
  if (strcmp(tiers, "smem") == 0) return r->stage.transport >= EM_STAGE_SMEM;
  if (strcmp(tiers, "reg") == 0) return r->stage.transport == EM_STAGE_REG;
  return strcmp(tiers, "kernel") == 0;
}

static void candidate_features_are_where_their_tiers_say(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(cases); i++) {
    pool p = open_case(&cases[i]);
    matrix m = enumerate(&p, 20000);
    for (size_t c = 0; c < p.cols.n; c++) {
      const em_feature *f = em_feature_find(p.cols.names[c]);
      bool candidate = strcmp(f->group, "candidate") == 0 || strcmp(f->group, "instruction") == 0;
      if (!candidate || strcmp(f->name, "MMA_b_store_bits") == 0) continue;
      for (size_t r = 0; r < m.n; r++) {
        double x = m.values[r * p.cols.n + c];
        if (isinf(x) || isnan(x) == defined_on(f->tiers, &m.rows[r])) {
          char text[EM_ROW_LEN];
          fail_msg("%s, %s is %g, tiers %s", em_row_print(&m.rows[r], text), f->name, x, f->tiers);
        }
      }
    }
    matrix_free(&m);
    pool_close(&p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_two_candidates_look_alike),
    cmocka_unit_test(batches_do_not_matter),
    cmocka_unit_test(order_does_not_matter),
    cmocka_unit_test(a_stored_row_of_one_site_is_the_row),
    cmocka_unit_test(every_stamp_is_registered_and_a_column),
    cmocka_unit_test(candidate_features_are_where_their_tiers_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
