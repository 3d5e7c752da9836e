/* sql_fixture.h - a small session for the tests of SQL: a golden file and a prior, made in the scratch folder. */
#ifndef EM_TESTS_SQL_FIXTURE_H
#define EM_TESTS_SQL_FIXTURE_H

#include <math.h>

#include "tests/unit/unit.h"

#include "tests/unit/scratch.h"
#include "views/sql.h"

/* A pool of the fixture: a kernel, the leaf that was recorded, its time.  `row` instead of a leaf: spelled out. */
typedef struct fixture_row {
  em_build build;
  const char *label, *row;
  uint64_t leaf;
  double us;
} fixture_row;

static const fixture_row fixture_rows[] = {
  {{.kind = "pointwise", .m = 512, .n = 512, .in = EM_F32}, "add.512", NULL, 3, 4.5},
  {{.kind = "pointwise", .m = 512, .n = 1024, .in = EM_F32}, "add.outside", "WORK=t128x8 TILE=f4 RASTER=", 0, 5.25},
  {{.kind = "softmax", .m = 256, .k = 1024, .in = EM_F32}, "softmax.1024", NULL, 20, 6.125},
  {{.kind = "matmul", .m = 64, .n = 64, .k = 64, .in = EM_F32}, "square.64", NULL, 700, 2.75},
  {{.kind = "matmul", .m = 64, .n = 64, .k = 64, .in = EM_F32}, "square.64 again", NULL, 900, 3.5},
  {{.kind = "matmul", .m = 128, .n = 128, .k = 128, .in = EM_F16}, "square.128.fp16", NULL, 1500, 3.25},
};

static inline void fixture_must(int rc, const em_err *err)
{
  if (rc != EM_OK) fail_msg("%s", err->msg);
}

/* The leaf of that number in the space of the card. */
static inline em_row fixture_leaf(const em_kernel *k, const em_card *card, uint64_t number)
{
  em_err err;
  em_space *space;
  em_row row;
  fixture_must(em_space_open(k, card, EM_REGIME_DEFAULT, &space, &err), &err);
  assert_true(number < em_space_count(space));
  em_space_cursor c = em_space_begin(space);
  for (uint64_t i = 0; i <= number; i++) assert_int_equal(em_space_next(&c, &row, 1), 1);
  em_space_free(space);
  return row;
}

/* The kernel split in two, and in one that adds. */
static inline void fixture_split(em_golden *g, size_t parent, const char *half, int width, char finalize)
{
  em_err err;
  em_kernel *pieces[2];
  em_knobs arm = {0};
  size_t n, children[2];
  fixture_must(em_kernel_split(g->kernels[parent].kernel, width, finalize, pieces, &n, &err), &err);
  for (size_t i = 0; i < n; i++) fixture_must(em_golden_add_kernel(g, pieces[i], true, &children[i], &err), &err);
  fixture_must(em_knobs_set(&arm, "REDUCE", half, &err), &err);
  fixture_must(em_golden_put_routing(g, parent, &arm, children, n, &err), &err);
  em_knobs_free(&arm);
}

static inline void fixture_golden(const char *path)
{
  em_err err;
  em_golden *g;
  const em_card *card;
  fixture_must(em_card_find("rtx4080", &card, &err), &err);
  fixture_must(em_golden_new(card->name, card->cc_major, card->cc_minor, &g, &err), &err);
  for (size_t i = 0; i < N_OF(fixture_rows); i++) {
    const fixture_row *f = &fixture_rows[i];
    em_kernel *k;
    em_row row;
    em_golden_row golden = {.name = (char *)f->label,
                            .regime = EM_REGIME_DEFAULT,
                            .has_knobs = true,
                            .measured = true,
                            .us = f->us,
                            .reference_us = 2 * f->us,
                            .reference_backend = (char *)"library",
                            .tried = -1};
    fixture_must(em_kernel_build(&f->build, &k, &err), &err);
    if (f->row)
      fixture_must(em_row_parse(f->row, &row, &err), &err);
    else
      row = fixture_leaf(k, card, f->leaf);
    fixture_must(em_row_to_knobs(&row, &golden.knobs, &err), &err);
    fixture_must(em_golden_add_kernel(g, k, true, &golden.kernel, &err), &err);
    fixture_must(em_golden_add_row(g, &golden, &err), &err);
    em_knobs_free(&golden.knobs);
    if (strcmp(f->label, "square.64") == 0) {
      fixture_split(g, golden.kernel, "g4k", 4, 'k');
      fixture_split(g, golden.kernel, "g2a", 2, 'a');
    }
  }
  fixture_must(em_golden_write(g, path, &err), &err);
  em_golden_free(g);
}

static inline void fixture_write_prior(const em_tree_view *trees, size_t n, double scale, const char *path)
{
  static char *const names[] = {"D_cells", "D_smem_bytes", "D_threads"};
  const em_columns cols = {(char **)names, N_OF(names)};
  const em_model_build spec = {.n_features = N_OF(names),
                               .feature_names = (const char *const *)names,
                               .has_nans = (const bool[]){true, true, false},
                               .n_trees = n,
                               .trees = trees,
                               .scale = scale,
                               .loss = "QuerySoftMax"};
  em_err err;
  em_model *m;
  em_prior *p;
  fixture_must(em_model_new(&spec, &m, &err), &err);
  fixture_must(em_prior_new(m, &cols, EM_FEAT_VER, 1, NULL, &p, &err), &err);
  fixture_must(em_prior_save(p, path, &err), &err);
  em_prior_free(p);
}

/* Three trees over three columns: one that orders, one shallow, one of a single leaf. */
static inline void fixture_prior(const char *path)
{
  static const em_split a[] = {{2, 48}, {0, 3.5f}}, b[] = {{1, 4096}};
  static const double a_leaves[] = {-0.5, 0.25, 0.125, 1}, a_weights[] = {40, 10, 5, 25}, b_leaves[] = {0, 0.375},
                      b_weights[] = {60, 20}, c_leaves[] = {0.0625}, c_weights[] = {80};
  const em_tree_view trees[] = {
    {a, 2, a_leaves, a_weights}, {b, 1, b_leaves, b_weights}, {NULL, 0, c_leaves, c_weights}};
  fixture_write_prior(trees, N_OF(trees), 1, path);
}

/* Another one, of one tree: few threads are better. */
static inline void fixture_other_prior(const char *path)
{
  static const em_split split[] = {{2, 48}};
  static const double leaves[] = {1, -1}, weights[] = {20, 10};
  fixture_write_prior(&(em_tree_view){split, 1, leaves, weights}, 1, 1, path);
}

/* The scratch folder has to be there. */
static inline em_session *fixture_session(void)
{
  const char *golden = in_scratch("golden.json"), *prior = in_scratch("prior.json");
  const em_session_options o = {
    .sources = &golden, .n_sources = 1, .prior = prior, .feat_ver = EM_FEAT_VER, .threads = 1};
  em_err err;
  em_session *s = NULL;
  fixture_golden(golden);
  fixture_prior(prior);
  fixture_other_prior(in_scratch("other.json"));
  fixture_must(em_session_open(&o, &s, &err), &err);
  return s;
}

#endif
