/* test_fit_trees.c - bins, objective and trees: properties and problems solved by hand. */
#include "tests/unit/unit.h"

#include "tests/unit/fit_pools.h"

/* A training with its parts open. */
typedef struct opened {
  em_columns cols;
  em_fit_set set;
  em_fit_bins bins;
  em_fit_forest forest;
} opened;

static void open_fit(opened *o, const em_fit_group *groups, size_t n, const em_fit_params *p)
{
  em_err err;
  uint32_t *use = calloc(n, sizeof *use);
  for (size_t i = 0; i < n; i++) use[i] = (uint32_t)i;
  em_fit_steps steps;
  em_fit_steps_open(&steps, NULL, 0);
  assert_int_equal(em_fit_columns(groups, n, p->features, &o->cols, &err), EM_OK);
  assert_int_equal(em_fit_set_make(groups, use, n, p, &o->set, &err), EM_OK);
  assert_int_equal(em_fit_bins_make(&o->set, &o->cols, (size_t)p->borders, 1, &o->bins, &err), EM_OK);
  assert_int_equal(em_fit_boost(&o->set, &o->bins, p, &steps, &o->forest, &err), EM_OK);
  em_fit_steps_close(&steps);
  free(use);
}

static void close_fit(opened *o)
{
  em_columns_free(&o->cols);
  em_fit_set_free(&o->set);
  em_fit_bins_free(&o->bins);
  em_fit_forest_free(&o->forest);
}

static double value_at(const em_fit_set *s, const char *column, size_t row)
{
  const em_fit_group *g = s->groups[s->group[row]];
  return g->matrix[s->pool_row[row] * g->cols->n + (size_t)em_columns_index(g->cols, column)];
}

/* ---- training set and bins ---------------------------------------------------------- */

static void draw_keeps_positives_and_takes_each_row_once(void **state)
{
  (void)state;
  pools p = make_pools(20, 50);
  em_fit_params q = quick_params();
  q.negatives = 13;
  opened o;
  open_fit(&o, p.groups, p.n, &q);
  assert_int_equal(o.set.n_rows, 20 * 14);
  for (size_t g = 0; g < p.n; g++) {
    size_t labels = 0;
    for (size_t i = o.set.start[g]; i < o.set.start[g + 1]; i++) {
      assert_true(i == o.set.start[g] || o.set.pool_row[i] > o.set.pool_row[i - 1]);
      assert_int_equal(o.set.label[i], o.set.pool_row[i] == p.positives[g]);
      labels += o.set.label[i];
    }
    assert_int_equal(labels, 1);
  }
  close_fit(&o);
  free_pools(&p);
}

/* bin = number of borders below the value, for every feature, whatever slot it shares. */
static void codes_say_how_many_borders_are_below(void **state)
{
  (void)state;
  pools p = make_pools(30, 40);
  em_fit_params q = quick_params();
  opened o;
  open_fit(&o, p.groups, p.n, &q);
  assert_int_equal(o.bins.n_features, 8);
  for (size_t i = 0; i < o.bins.n_features; i++) {
    const em_fit_feature *f = &o.bins.features[i];
    assert_int_equal(o.bins.blocks[f->block].per_group, f->column >= 6); /* H_cc, S_ext_n_symbolic_axis */
    for (size_t r = 0; r < o.set.n_rows; r++) {
      float x = (float)value_at(&o.set, o.cols.names[f->column], r);
      size_t below = 0, bin = *em_fit_code(&o.bins, f, &o.set, r) / f->div % f->n_bins;
      while (below < f->n_bins - 1u && x > f->borders[below]) below++;
      assert_int_equal(bin, below);
    }
  }
  close_fit(&o);
  free_pools(&p);
}

/* ---- objective ------------------------------------------------------------------------- */

static void derivatives_are_those_of_the_loss(void **state)
{
  (void)state;
  pools p = make_pools(6, 12);
  uint32_t two[] = {3, 9};
  p.groups[2].positives = two;
  p.groups[2].n_positives = 2;
  em_fit_params q = quick_params();
  opened o;
  open_fit(&o, p.groups, p.n, &q);
  size_t n = o.set.n_rows;
  double *score = calloc(n, sizeof *score), *mass = calloc(n, sizeof *mass), *other = calloc(n, sizeof *other);
  for (size_t i = 0; i < n; i++) score[i] = em_rng_f64(5, 0, i) * 4 - 2;
  em_fit_softmax(&o.set, score, mass, 1);
  const double h = 1e-3;
  for (size_t g = 0; g < p.n; g++) {
    double sum = 0;
    for (size_t i = o.set.start[g]; i < o.set.start[g + 1]; i++) {
      double grad = o.set.target[i] - o.set.total[g] * mass[i];
      sum += grad;
      score[i] += h;
      double up = em_fit_softmax(&o.set, score, other, 1);
      score[i] -= 2 * h;
      double down = em_fit_softmax(&o.set, score, other, 1);
      score[i] += h;
      assert_true(fabs((down - up) / (2 * h) - grad) < 2e-5);
    }
    assert_true(fabs(sum) < 1e-9);
  }
  free(score);
  free(mass);
  free(other);
  close_fit(&o);
  free_pools(&p);
}

static void a_constant_per_pool_changes_nothing(void **state)
{
  (void)state;
  pools p = make_pools(6, 12);
  em_fit_params q = quick_params();
  opened o;
  open_fit(&o, p.groups, p.n, &q);
  size_t n = o.set.n_rows;
  double *score = calloc(n, sizeof *score), *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
  for (size_t i = 0; i < n; i++)
    score[i] = (double)(em_rng_u64(5, 0, i) % 64) / 8; /* exact in binary, also after the shift */
  double before = em_fit_softmax(&o.set, score, a, 1);
  for (size_t i = 0; i < n; i++) score[i] += 4.0 * (double)o.set.group[i];
  assert_true(em_fit_softmax(&o.set, score, b, 1) == before);
  assert_memory_equal(a, b, n * sizeof *a);
  free(score);
  free(a);
  free(b);
  close_fit(&o);
  free_pools(&p);
}

/* ---- trees ------------------------------------------------------------------------------- */

static void loss_falls_with_every_tree(void **state)
{
  (void)state;
  pools p = make_pools(40, 60);
  for (int64_t bootstrap = 0; bootstrap < 3; bootstrap++)
    for (int64_t method = 0; method < 2; method++) {
      em_fit_params q = quick_params();
      q.iterations = 30;
      q.bootstrap = bootstrap;
      q.leaf_method = method;
      q.label_smoothing = 0; /* shared labels cannot be met all */
      opened o;
      open_fit(&o, p.groups, p.n, &q);
      assert_true(fabs(o.forest.loss[0] - log(60)) < 1e-6); /* all candidates alike */
      for (size_t t = 0; t < o.forest.n_trees; t++) assert_true(o.forest.loss[t + 1] < o.forest.loss[t]);
      assert_true(o.forest.loss[o.forest.n_trees] < (method == EM_LEAF_NEWTON ? 1.5 : 3.5));
      close_fit(&o);
    }
  free_pools(&p);
}

/* Every pool once more, on a card of its own: all sums are doubled, and so no tree changes, whatever was drawn.  Were
 * pools drawn one by one, the two would part. */
static void a_tree_sees_all_cards_of_a_shape_or_none(void **state)
{
  (void)state;
  pools p = make_pools(40, 60);
  em_fit_group *both = calloc(2 * p.n, sizeof *both);
  char(*keys)[32] = calloc(p.n, sizeof *keys);
  for (size_t g = 0; g < p.n; g++) {
    snprintf(keys[g], sizeof keys[g], "card C/pool%zu", g);
    both[g] = both[p.n + g] = p.groups[g];
    both[p.n + g].key = keys[g];
  }
  for (int64_t bootstrap = EM_BOOTSTRAP_BERNOULLI; bootstrap <= EM_BOOTSTRAP_BAYESIAN; bootstrap++) {
    em_fit_params q = quick_params();
    q.bootstrap = bootstrap;
    q.subsample = 0.5;
    q.negatives = 0;
    q.l2_leaf_reg = 0;
    opened once, twice;
    open_fit(&once, p.groups, p.n, &q);
    open_fit(&twice, both, 2 * p.n, &q);
    size_t n = once.forest.n_trees;
    for (size_t i = 0; i < n * once.forest.depth; i++) {
      assert_int_equal(once.forest.splits[i].feature, twice.forest.splits[i].feature);
      assert_int_equal(once.forest.splits[i].border, twice.forest.splits[i].border);
    }
    for (size_t i = 0; i < n << once.forest.depth; i++)
      assert_true(fabs(once.forest.values[i] - twice.forest.values[i]) < 1e-6);
    close_fit(&once);
    close_fit(&twice);
  }
  free(both);
  free(keys);
  free_pools(&p);
}

/* The first bag is the fit without bags; the others differ. Softmax loss is convex in the scores, so the mean of the
 * bags loses less than the bags do in the mean. */
static void bags_are_averaged(void **state)
{
  (void)state;
  pools p = make_pools(40, 60);
  em_fit_params q = quick_params();
  opened one, three;
  open_fit(&one, p.groups, p.n, &q);
  assert_true(one.forest.loss_last == one.forest.loss[one.forest.n_trees]);
  q.bags = 3;
  open_fit(&three, p.groups, p.n, &q);
  size_t n = one.forest.n_trees, leaves = n << one.forest.depth;
  assert_int_equal(three.forest.n_trees, 3 * n);
  for (size_t i = 0; i < leaves; i++) assert_true(three.forest.values[i] == one.forest.values[i] / 3);
  assert_memory_not_equal(three.forest.values, three.forest.values + leaves, leaves * sizeof(double));
  assert_memory_not_equal(three.forest.values + leaves, three.forest.values + 2 * leaves, leaves * sizeof(double));
  double mean = (three.forest.loss[n] + three.forest.loss[2 * n] + three.forest.loss[3 * n]) / 3;
  assert_true(three.forest.loss_last < mean);
  close_fit(&one);
  close_fit(&three);
  free_pools(&p);
}

/* One column, one pool: the recorded row has 1, three others 0. */
static const double toy_matrix[] = {0, 1, 0, 0};
static const uint32_t toy_positive[] = {1};
static char *toy_names[] = {"D_cells"};
static const em_columns toy_columns = {toy_names, 1};
static em_fit_group toy_pool(const double *matrix)
{
  return (em_fit_group){.key = "toy",
                        .gpu = "g",
                        .tier = "t",
                        .shape = "s",
                        .cols = &toy_columns,
                        .matrix = matrix,
                        .rows = 4,
                        .total = 4,
                        .positives = toy_positive,
                        .n_positives = 1};
}

static em_fit_params toy_params(void)
{
  em_fit_params q = quick_params();
  q.iterations = 1;
  q.depth = 2;
  q.learning_rate = 1;
  q.features = "D_cells";
  q.bootstrap = EM_BOOTSTRAP_NONE;
  q.leaf_steps = 1000;
  return q;
}

/* -a + ln(e^a + 3 e^b) + l/2 (a^2 + b^2) is least where 1 - p = l a = -l b; with l = 1 / ln 3: a = ln 3 / 2,
 * p = 1/2. A second split parts nothing, so the tree has one. */
static void newton_reaches_the_optimum_found_by_hand(void **state)
{
  (void)state;
  em_fit_group g = toy_pool(toy_matrix);
  em_fit_params q = toy_params();
  q.l2_leaf_reg = 1 / log(3);
  opened o;
  open_fit(&o, &g, 1, &q);
  assert_int_equal(o.forest.n_splits[0], 1);
  const double *v = o.forest.values, *w = o.forest.weights;
  assert_true(w[0] == 3 && w[1] == 1);
  assert_true(fabs(v[1] - log(3) / 2) < 1e-4 && fabs(v[0] + log(3) / 2) < 1e-4);
  assert_true(fabs(o.forest.loss[1] - log(2)) < 1e-5);
  close_fit(&o);
}

/* Step of a leaf = sum of gradients / (rows + l2): 0.75 / (1 + 2) and -0.75 / (3 + 2). */
static void a_gradient_step_by_hand(void **state)
{
  (void)state;
  em_fit_group g = toy_pool(toy_matrix);
  em_fit_params q = toy_params();
  q.leaf_method = EM_LEAF_GRADIENT;
  q.leaf_steps = 1;
  q.l2_leaf_reg = 2;
  opened o;
  open_fit(&o, &g, 1, &q);
  assert_true(fabs(o.forest.values[1] - 0.25) < 1e-9 && fabs(o.forest.values[0] + 0.15) < 1e-9);
  close_fit(&o);
}

/* Missing is a bin of its own, below every value: a column whose values are all the same can still be split.
 */
static void missing_is_told_from_any_value(void **state)
{
  (void)state;
  const double matrix[] = {-1e300, NAN, -5, -5};
  em_fit_group g = toy_pool(matrix);
  em_fit_params q = toy_params();
  q.depth = 1;
  opened o;
  open_fit(&o, &g, 1, &q);
  const em_fit_feature *f = &o.bins.features[0];
  assert_true(f->has_nans && f->borders[0] == -FLT_MAX);
  const double same[] = {5, NAN, 5, 5};
  close_fit(&o);
  g = toy_pool(same);
  open_fit(&o, &g, 1, &q);
  assert_int_equal(o.forest.n_splits[0], 1);
  assert_true(o.bins.features[0].n_bins == 2 && o.bins.features[0].borders[0] == -FLT_MAX);
  assert_true(o.forest.values[0] > 0 && o.forest.values[1] < 0 && o.forest.weights[0] == 1);
  close_fit(&o);
}

/* Leaf weights count training rows, whatever the bootstrap; a leaf without rows is 0. */
static void weights_count_rows_and_empty_leaves_are_zero(void **state)
{
  (void)state;
  pools p = make_pools(12, 9);
  em_fit_params q = quick_params();
  q.depth = 6;
  q.bootstrap = EM_BOOTSTRAP_BAYESIAN;
  size_t empty = 0;
  opened o;
  open_fit(&o, p.groups, p.n, &q);
  for (size_t t = 0; t < o.forest.n_trees; t++) {
    double sum = 0;
    for (size_t l = 0; l < (size_t)1 << o.forest.n_splits[t]; l++) {
      double w = o.forest.weights[(t << 6) + l];
      sum += w;
      empty += w == 0;
      assert_true(w > 0 || o.forest.values[(t << 6) + l] == 0);
    }
    assert_true(sum == (double)o.set.n_rows);
  }
  assert_true(empty > 0);
  close_fit(&o);
  free_pools(&p);
}

/* The splits of a tree over all rows, whose gradients come from their labels alone. */
static size_t splits_of(const opened *o, const em_fit_params *p, size_t tree, em_fit_choice splits[16])
{
  em_fit_search q;
  em_err err;
  assert_int_equal(em_fit_search_open(&q, &o->set, &o->bins, p, &err), EM_OK);
  q.rows.n = o->set.n_rows;
  for (size_t i = 0; i < o->set.n_rows; i++) {
    q.rows.id[i] = (uint32_t)i;
    q.rows.gw[i] = (em_fit_gw){em_fit_fixed(o->set.label[i] - 1. / 40, EM_FIT_ONE_GRAD), (int64_t)EM_FIT_ONE_GRAD};
  }
  size_t n = em_fit_search_tree(&q, tree, splits);
  em_fit_search_close(&q);
  return n;
}

static bool same_splits(const em_fit_choice *a, const em_fit_choice *b, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (a[i].feature != b[i].feature || a[i].border != b[i].border) return false;
  return true;
}

/* Noise on scores moves the first tree; exp(-60) of it moves none. */
static void noise_fades_as_trees_are_added(void **state)
{
  (void)state;
  pools p = make_pools(20, 40);
  em_fit_params q = quick_params();
  em_fit_choice calm[16], noisy[16];
  opened o;
  q.random_strength = 0;
  open_fit(&o, p.groups, p.n, &q);
  q.rsm = 1;
  q.iterations = 100;
  q.learning_rate = 1;
  size_t n = splits_of(&o, &q, 60, calm);
  assert_true(n > 0 && splits_of(&o, &q, 0, noisy) == n && same_splits(calm, noisy, n));
  q.random_strength = 3;
  assert_true(splits_of(&o, &q, 0, noisy) > 0 && !same_splits(calm, noisy, n));
  assert_true(splits_of(&o, &q, 60, noisy) == n && same_splits(calm, noisy, n));
  q.iterations = 60; /* the next bag begins anew */
  assert_true(splits_of(&o, &q, 60, noisy) > 0 && !same_splits(calm, noisy, n));
  close_fit(&o);
  free_pools(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(draw_keeps_positives_and_takes_each_row_once),
    cmocka_unit_test(codes_say_how_many_borders_are_below),
    cmocka_unit_test(derivatives_are_those_of_the_loss),
    cmocka_unit_test(a_constant_per_pool_changes_nothing),
    cmocka_unit_test(loss_falls_with_every_tree),
    cmocka_unit_test(a_tree_sees_all_cards_of_a_shape_or_none),
    cmocka_unit_test(bags_are_averaged),
    cmocka_unit_test(newton_reaches_the_optimum_found_by_hand),
    cmocka_unit_test(a_gradient_step_by_hand),
    cmocka_unit_test(missing_is_told_from_any_value),
    cmocka_unit_test(weights_count_rows_and_empty_leaves_are_zero),
    cmocka_unit_test(noise_fades_as_trees_are_added),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
