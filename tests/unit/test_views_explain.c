/* The views that explain, over the fixture's session: that their figures add up, agree with the model's borders and
 * with each other, and that every one leads on. */
#include "tests/unit/sql_fixture.h"

static em_session *session;

static int open_session(void **state)
{
  int rc = scratch_setup(state);
  session = fixture_session();
  return rc;
}

static int close_session(void **state)
{
  em_session_close(session);
  return scratch_teardown(state);
}

static em_cursor *open_view(const char *view, const char *a, const char *b, const char *c, const char *d)
{
  const char *args[EM_MAX_PARAMS] = {a, b, c, d};
  em_cursor *out = NULL;
  em_err err;
  fixture_must(em_view_open(view, session, args, &out, &err), &err);
  return out;
}

static em_cell cell_of(em_cursor *c, size_t row, const char *column)
{
  em_cell out;
  int at = em_view_find_column(c->view, column);
  assert_true(at >= 0);
  c->view->cell(c, row, (size_t)at, &out);
  return out;
}

static double real(em_cursor *c, size_t row, const char *column)
{
  em_cell cell = cell_of(c, row, column);
  return cell.state == EM_CELL_VALUE ? cell.f : NAN;
}

/* "" where it is missing; valid until the next call.  A cell's text may lie in the cell itself: it is filled in place. */
static const char *word(em_cursor *c, size_t row, const char *column)
{
  static em_cell cell;
  int at = em_view_find_column(c->view, column);
  assert_true(at >= 0);
  c->view->cell(c, row, (size_t)at, &cell);
  return cell.state == EM_CELL_VALUE ? cell.s : "";
}

static const em_scored *load(const char *pool)
{
  size_t i;
  em_err err;
  const em_scored *sc;
  fixture_must(em_session_find(session, pool, &i, &err), &err);
  fixture_must(em_session_load(session, i, NULL, &sc, &err), &err);
  return sc;
}

static const char *const pools[] = {"add.512", "softmax.1024", "square.64", "square.128"};

/* ---- parts ---- */

static double quality_difference(const char *pool, const char *other)
{
  const em_scored *sc = load(pool);
  size_t b = strcmp(other, "golden") == 0 ? sc->info.rank.best : sc->order[atoi(other) - 1];
  double d = sc->quality[sc->order[0]] - sc->quality[b];
  em_session_release(session, sc);
  return d;
}

/* Parts add up to the difference, come by size, and speak for whom their sign says. */
static void check_parts(const char *view, const char *pool, const char *b)
{
  em_cursor *c = open_view(view, pool, "pick", b, NULL), *other = open_view(view, pool, b, "pick", NULL);
  double sum = 0, back = 0, before = INFINITY;
  for (size_t r = 0; r < c->view->rows(c); r++) {
    double part = real(c, r, "quality");
    assert_true(fabs(part) <= before);
    before = fabs(part);
    assert_string_equal(word(c, r, "prefers"), part > 0 ? "A" : part < 0 ? "B" : "");
    const char *bar = word(c, r, "bar");
    assert_true(strspn(bar, part > 0 ? "=" : "-") == strlen(bar) && (part == 0) == (*bar == '\0') && strlen(bar) <= 16);
    sum += part;
    back += real(other, r, "quality");
  }
  assert_true(fabs(sum - quality_difference(pool, b)) < 1e-12);
  assert_true(fabs(sum + back) < 1e-12);
  em_cursor_close(c);
  em_cursor_close(other);
}

static void test_parts_add_up(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(pools); i++)
    for (int k = 0; k < 2; k++) {
      check_parts("contributions", pools[i], k ? "2" : "golden");
      check_parts("tree_diff", pools[i], k ? "2" : "golden");
    }
}

/* ---- one tree ---- */

/* Leaves as the paths of the view spell them: an oblivious tree's first split is the lowest bit. */
static void check_tree(const char *pool, const char *number, double *sum)
{
  em_cursor *c = open_view("tree", pool, "pick", "golden", number),
            *trees = open_view("tree_diff", pool, "pick", "golden", NULL);
  int64_t a = 0, b = 0;
  for (size_t r = 0; r < c->view->rows(c); r++) {
    double border = real(c, r, "border"), x = real(c, r, "a"), y = real(c, r, "b");
    bool above_a = strcmp(word(c, r, "answer_a"), "yes") == 0, above_b = strcmp(word(c, r, "answer_b"), "yes") == 0;
    assert_int_equal(above_a, x > border);
    assert_int_equal(above_b, y > border);
    assert_int_equal(strcmp(word(c, r, "part"), "they part") == 0, above_a != above_b);
    a |= (int64_t)above_a << r;
    b |= (int64_t)above_b << r;
  }
  for (size_t r = 0; r < trees->view->rows(trees); r++) {
    if (cell_of(trees, r, "tree").i != atoi(number)) continue;
    assert_int_equal(cell_of(trees, r, "leaf_a").i, a);
    assert_int_equal(cell_of(trees, r, "leaf_b").i, b);
    *sum += real(trees, r, "value_a") - real(trees, r, "value_b");
  }
  em_cursor_close(c);
  em_cursor_close(trees);
}

static void test_tree_agrees_with_borders(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(pools); i++) {
    double sum = 0;
    check_tree(pools[i], "1", &sum);
    check_tree(pools[i], "2", &sum);
    check_tree(pools[i], "3", &sum); /* a single leaf: no row */
    assert_true(fabs(sum - quality_difference(pools[i], "golden")) < 1e-12);
  }
}

static void expect_refused(const char *view, const char *a, const char *b, const char *c, const char *d,
                           const char *says)
{
  const char *args[EM_MAX_PARAMS] = {a, b, c, d};
  em_cursor *out;
  em_err err;
  assert_int_equal(em_view_open(view, session, args, &out, &err), EM_E_USAGE);
  if (!strstr(err.msg, says)) fail_msg("\"%s\" does not say \"%s\"", err.msg, says);
}

static void test_wrong_arguments(void **state)
{
  (void)state;
  expect_refused("tree", "square.64", "pick", "golden", "4", "the prior has trees 1 to 3");
  expect_refused("tree", "square.64", "pick", "golden", "0", "\"0\" is no tree");
  expect_refused("contributions", "square.64", "best", NULL, NULL, "\"best\" is no candidate");
  expect_refused("tree_diff", "square.64", "1", "99999999", NULL, "give a rank from 1");
  expect_refused("blind_pairs", "square.64", "0", NULL, NULL, "\"0\" is no candidate");
  expect_refused("extrapolation", NULL, NULL, NULL, NULL, "needs pool");
}

/* ---- above and below the table ---- */

static char *text_of(em_cursor *c, void (*put)(em_cursor *c, em_str *out))
{
  em_str out = {0};
  em_err err;
  char *text;
  put(c, &out);
  fixture_must(em_str_take(&out, &text, &err), &err);
  return text;
}

static void expect_says(em_cursor *c, void (*put)(em_cursor *c, em_str *out), const char *says)
{
  char *text = text_of(c, put);
  if (!strstr(text, says)) fail_msg("\"%s\" does not say \"%s\"", text, says);
  em_free(text);
}

/* Recorded in 3.25 us, the library in twice that. */
static void test_why_says_what_matters(void **state)
{
  (void)state;
  em_cursor *c = open_view("contributions", "square.128", "pick", "golden", NULL);
  expect_says(c, c->view->head, "A #1 pick");
  expect_says(c, c->view->head, " golden");
  expect_says(c, c->view->head, "3.2 us (reference 6.5 us)");
  expect_says(c, c->view->head, "differs\n");
  expect_says(c, c->view->foot, "of 3 used columns may lie outside");
  expect_says(c, c->view->foot, "nearest golden pool: rtx4080 square.64");
  expect_says(c, c->view->foot, "for A: ");
  expect_says(c, c->view->foot, "constant in this pool");
  em_cursor_close(c);
}

/* What the foot proposes is true: by the ranks and by the rows. */
static void test_change_is_the_smallest(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(pools); i++) {
    const em_scored *sc = load(pools[i]);
    for (size_t b = 0; b < sc->n; b += 1 + sc->n / 17) {
      em_counterfactual got;
      size_t least = SIZE_MAX, a = sc->order[sc->rank_of[b] / 2];
      em_scored_counterfactual(sc, a, b, &got);
      for (size_t r = 0; r < sc->n; r++) {
        if (sc->quality[r] < sc->quality[a]) continue;
        size_t n = 0;
        for (int f = EM_WORK; f <= EM_RASTER; f++) {
          char x[EM_VALUE_LEN], y[EM_VALUE_LEN];
          const char *p = em_row_value(&sc->rows[r], (em_family)f, x), *q = em_row_value(&sc->rows[b], (em_family)f, y);
          n += p && q ? strcmp(p, q) != 0 : p != q;
        }
        if (n < least) least = n;
      }
      assert_int_equal(got.n_families, least);
      assert_true(sc->quality[got.row] >= sc->quality[a]);
    }
    em_session_release(session, sc);
  }
}

/* ---- pools ---- */

static bool same_columns(const em_scored *sc, size_t a, size_t b)
{
  const em_columns *used = em_prior_columns(em_session_prior(session));
  for (size_t i = 0; i < used->n; i++) {
    int64_t at = em_columns_index(sc->cols, used->names[i]);
    if (at < 0) continue;
    double x = sc->matrix[a * sc->cols->n + (size_t)at], y = sc->matrix[b * sc->cols->n + (size_t)at];
    if (x != y && !(isnan(x) && isnan(y))) return false;
  }
  return true;
}

static void check_blind(const char *pool)
{
  const em_scored *sc = load(pool);
  em_cursor *c = open_view("blind_pairs", pool, NULL, NULL, NULL);
  size_t want = 0;
  for (size_t r = 0; r < sc->n; r++) {
    bool blind = false;
    for (size_t k = 0; k < sc->n && !blind; k++) blind = k != r && same_columns(sc, r, k);
    want += blind;
  }
  assert_int_equal(c->view->rows(c), want);
  for (size_t i = 0; i < want; i++) {
    size_t row = sc->order[cell_of(c, i, "rank").i - 1], first = sc->order[cell_of(c, i, "group_rank").i - 1];
    assert_true(same_columns(sc, row, first));
    assert_true(cell_of(c, i, "size").i > 1);
  }
  em_cursor_close(c);
  em_session_release(session, sc);
}

static void test_blind_pairs(void **state)
{
  (void)state;
  check_blind("add.512");
  check_blind("softmax.1024");
  em_cursor *one = open_view("blind_pairs", "softmax.1024", "pick", NULL, NULL);
  assert_true(one->view->rows(one) >= 1); /* itself at least */
  for (size_t i = 0; i < one->view->rows(one); i++)
    assert_int_equal(cell_of(one, i, "group_rank").i, cell_of(one, 0, "group_rank").i);
  em_cursor_close(one);
}

static void test_extrapolation(void **state)
{
  (void)state;
  em_cursor *c = open_view("extrapolation", "square.64", NULL, NULL, NULL);
  const em_scored *sc = load("square.64");
  assert_int_equal(c->view->rows(c), 3);
  for (size_t r = 0; r < 3; r++) {
    int64_t at = em_columns_index(sc->cols, word(c, r, "feature"));
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; at >= 0 && i < sc->n; i++) {
      double v = sc->matrix[i * sc->cols->n + (size_t)at];
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
    assert_true(real(c, r, "lo") == lo && real(c, r, "hi") == hi);
    bool outside = hi > real(c, r, "seen_to") || lo < real(c, r, "seen_from");
    if (outside) assert_string_not_equal(word(c, r, "reach"), "inside");
  }
  em_session_release(session, sc);
  em_cursor_close(c);
}

static void test_nearest_golden_pool(void **state)
{
  (void)state;
  size_t square, softmax, nearest;
  double distance;
  em_err err;
  em_pool_info near;
  fixture_must(em_session_find(session, "square.64", &square, &err), &err);
  fixture_must(em_session_find(session, "softmax.1024", &softmax, &err), &err);
  assert_true(em_session_nearest_golden(session, square, &nearest, &distance));
  em_session_pool(session, nearest, &near);
  assert_string_equal(near.label, "square.128.fp16");
  assert_true(distance >= 3); /* three extents twice as large */
  assert_false(em_session_nearest_golden(session, softmax, &nearest, &distance));
}

static void test_importance(void **state)
{
  (void)state;
  em_cursor *c = open_view("importance", NULL, "square.64", NULL, NULL);
  double sum = 0;
  for (size_t r = 0; r < c->view->rows(c); r++) {
    sum += real(c, r, "importance");
    assert_false(isnan(real(c, r, "loss_change")));
    assert_int_equal(cell_of(c, r, "splits").i, 1); /* each column is asked about once */
  }
  assert_true(fabs(sum - 100) < 1e-9);
  em_cursor_close(c);
  c = open_view("importance", NULL, NULL, NULL, NULL);
  assert_true(isnan(real(c, 0, "loss_change")));
  em_cursor_close(c);
}

/* ---- ways on ---- */

static void follow(em_target *t, const char *view)
{
  em_cursor *c = NULL;
  em_err err;
  assert_string_equal(t->view, view);
  fixture_must(em_view_open(t->view, session, (const char *const *)t->args, &c, &err), &err);
  em_cursor_close(c);
  em_target_free(t);
}

static void test_ways_on(void **state)
{
  (void)state;
  static const struct {
    const char *view, *enter, *turn;
  } ways[] = {{"contributions", "tree_diff", "tree_diff"},
              {"tree_diff", "tree", "features"},
              {"tree", NULL, "tree"},
              {"features", NULL, "contributions"}};
  for (size_t i = 0; i < N_OF(ways); i++) {
    em_cursor *c = open_view(ways[i].view, "square.64", "3", "golden", NULL);
    em_target t;
    if (ways[i].enter) {
      assert_true(c->view->enter(c, 0, &t));
      follow(&t, ways[i].enter);
    }
    assert_true(c->view->turn(c, &t));
    assert_string_equal(t.args[1], "3");
    follow(&t, ways[i].turn);
    assert_true(c->view->swap(c, &t));
    assert_string_equal(t.args[2], "3");
    follow(&t, ways[i].view);
    em_cursor_close(c);
  }
}

/* From the list of pools, why leads to the explanation of one. */
static void test_why_leads_here(void **state)
{
  (void)state;
  em_cursor *c = open_view("pools", NULL, NULL, NULL, NULL);
  em_target t;
  assert_true(c->view->why(c, 0, &t));
  assert_string_equal(t.view, "contributions");
  em_target_free(&t);
  em_cursor_close(c);
}

/* Another prior is kept on the way, where the next view has one. */
static void test_ways_keep_the_prior(void **state)
{
  (void)state;
  const char *other = in_scratch("other.json");
  static const struct {
    const char *view, *args[EM_MAX_PARAMS];
    size_t prior; /* the parameter's number */
    em_way way;
    const char *to;
    size_t prior_there;
  } ways[] = {{"pools", {0}, 2, EM_WAY_ENTER, "candidates", 1},
              {"pools", {0}, 2, EM_WAY_WHY, "contributions", 3},
              {"candidates", {"square.64"}, 1, EM_WAY_ENTER, "features", 3},
              {"contributions", {"square.64"}, 3, EM_WAY_TURN, "tree_diff", 3},
              {"tree_diff", {"square.64"}, 3, EM_WAY_ENTER, "tree", 4},
              {"tree", {"square.64"}, 4, EM_WAY_SWAP, "tree", 4},
              {"fork_tree", {"square.64"}, 2, EM_WAY_ENTER, "fork_tree", 2},
              {"trees", {0}, 0, EM_WAY_ENTER, "splits", 0}};
  for (size_t i = 0; i < N_OF(ways); i++) {
    const char *args[EM_MAX_PARAMS];
    em_cursor *c = NULL, *next = NULL;
    em_target t;
    em_err err;
    memcpy(args, ways[i].args, sizeof args);
    args[ways[i].prior] = other;
    fixture_must(em_view_open(ways[i].view, session, args, &c, &err), &err);
    assert_string_equal(em_session_prior_path(c->session), other);
    assert_true(em_cursor_way(c, ways[i].way, 0, &t));
    assert_string_equal(t.view, ways[i].to);
    assert_string_equal(t.args[ways[i].prior_there], other);
    fixture_must(em_view_open(t.view, session, (const char *const *)t.args, &next, &err), &err);
    assert_ptr_equal(next->session, c->session);
    em_cursor_close(next);
    em_cursor_close(c);
    em_target_free(&t);
  }
}

/* From the session's own prior none is passed on; where there is no way, it is said. */
static void test_ways_without_a_prior(void **state)
{
  (void)state;
  em_target t;
  em_cursor *c = open_view("contributions", "square.64", NULL, NULL, NULL);
  assert_true(em_cursor_way(c, EM_WAY_TURN, 0, &t));
  assert_null(t.args[3]);
  em_target_free(&t);
  assert_false(em_cursor_way(c, EM_WAY_WHY, 0, &t));
  em_cursor_close(c);
}

/* ---- memory ---- */

static int open_and_close(const char *view, const char *pool, em_err *err)
{
  const char *args[EM_MAX_PARAMS] = {0};
  args[strcmp(view, "importance") == 0] = pool;
  em_cursor *c;
  int rc = em_view_open(view, session, args, &c, err);
  if (rc == EM_OK) em_cursor_close(c);
  return rc;
}

static void test_memory_may_fail(void **state)
{
  (void)state;
  static const char *const views[] = {"contributions", "tree_diff",     "tree",      "features",
                                      "blind_pairs",   "extrapolation", "importance"};
  const em_scored *sc = load("softmax.1024"); /* held, so that opening does not build the pool */
  em_err err;
  for (size_t i = 0; i < N_OF(views); i++)
    ASSERT_SURVIVES_NOMEM(open_and_close(views[i], "softmax.1024", &err), (void)0);
  em_session_release(session, sc);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_parts_add_up),
    cmocka_unit_test(test_tree_agrees_with_borders),
    cmocka_unit_test(test_wrong_arguments),
    cmocka_unit_test(test_why_says_what_matters),
    cmocka_unit_test(test_change_is_the_smallest),
    cmocka_unit_test(test_blind_pairs),
    cmocka_unit_test(test_extrapolation),
    cmocka_unit_test(test_nearest_golden_pool),
    cmocka_unit_test(test_importance),
    cmocka_unit_test(test_ways_on),
    cmocka_unit_test(test_why_leads_here),
    cmocka_unit_test(test_ways_keep_the_prior),
    cmocka_unit_test(test_ways_without_a_prior),
    cmocka_unit_test(test_memory_may_fail),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
