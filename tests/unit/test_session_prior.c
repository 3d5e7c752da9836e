/* A session's siblings: the same pools under another prior, as a session opened with that prior has them. */
#include <pthread.h>

#include "tests/unit/sql_fixture.h"

static size_t pool_called(em_session *s, const char *name)
{
  size_t i;
  em_err err;
  fixture_must(em_session_find(s, name, &i, &err), &err);
  return i;
}

static em_session *sibling_of(em_session *s, const char *prior)
{
  em_session *out = NULL;
  em_err err;
  fixture_must(em_session_with_prior(s, prior, &out, &err), &err);
  return out;
}

/* The fixture's sources, opened with its other prior from the start. */
static em_session *other_session(void)
{
  const char *golden = in_scratch("golden.json");
  const em_session_options o = {
    .sources = &golden, .n_sources = 1, .prior = in_scratch("other.json"), .feat_ver = EM_FEAT_VER, .threads = 1};
  em_session *s = NULL;
  em_err err;
  fixture_must(em_session_open(&o, &s, &err), &err);
  return s;
}

static void expect_same_info(em_session *a, em_session *b, size_t pool)
{
  em_pool_info x, y;
  em_session_pool(a, pool, &x);
  em_session_pool(b, pool, &y);
  assert_string_equal(x.key, y.key);
  assert_string_equal(x.label, y.label);
  assert_int_equal(x.state, y.state);
  assert_string_equal(x.note, y.note);
  assert_string_equal(x.outside, y.outside);
  assert_true(x.us == y.us && x.n_goldens == y.n_goldens);
  if (x.state != EM_POOL_READY) return;
  assert_int_equal(x.total, y.total);
  assert_int_equal(x.rows, y.rows);
  assert_memory_equal(&x.rank, &y.rank, sizeof x.rank);
  assert_true(em_row_equal(&x.golden, &y.golden) && em_row_equal(&x.pick, &y.pick));
  assert_true(x.golden_quality == y.golden_quality && x.pick_quality == y.pick_quality);
  assert_int_equal(x.pick_fits, y.pick_fits);
}

static void test_ranks_as_a_session_of_that_prior(void **state)
{
  (void)state;
  em_err err;
  em_session *s = fixture_session(), *want = other_session();
  fixture_must(em_session_rank_all(s, NULL, &err), &err); /* so that a sibling could copy too much */
  em_session *got = sibling_of(s, in_scratch("other.json"));
  assert_int_equal(em_session_n_pools(got), em_session_n_pools(s));
  assert_string_equal(em_session_source(got), em_session_source(s));
  assert_string_equal(em_session_prior_path(got), in_scratch("other.json"));
  assert_string_equal(em_session_other_prior(got), in_scratch("other.json"));
  assert_null(em_session_other_prior(s));
  for (size_t i = 0; i < em_session_n_pools(s); i++) expect_same_info(got, want, i); /* waiting */
  fixture_must(em_session_rank_all(got, NULL, &err), &err);
  fixture_must(em_session_rank_all(want, NULL, &err), &err);
  for (size_t i = 0; i < em_session_n_pools(s); i++) expect_same_info(got, want, i);
  em_session_let_go(got);
  em_session_close(s);
  em_session_close(want);
}

/* Other pools are kept in the place of those that were. */
static void take_places(em_session *s)
{
  static const char *const pools[] = {"add.512", "softmax.1024", "square.128"};
  for (size_t i = 0; i < N_OF(pools); i++) {
    em_err err;
    const em_scored *sc;
    fixture_must(em_session_load(s, pool_called(s, pools[i]), NULL, &sc, &err), &err);
    em_session_release(s, sc);
  }
}

/* Whether or not the main session has the pool open, from which the sibling then takes the candidates. */
static void test_candidates_are_the_same(void **state)
{
  (void)state;
  for (int open = 0; open < 2; open++) {
    em_err err;
    const em_scored *mine = NULL, *a, *b;
    em_session *s = fixture_session(), *want = other_session(), *got = sibling_of(s, in_scratch("other.json"));
    size_t pool = pool_called(s, "square.64");
    if (open) fixture_must(em_session_load(s, pool, NULL, &mine, &err), &err);
    fixture_must(em_session_load(got, pool, NULL, &a, &err), &err);
    fixture_must(em_session_load(want, pool, NULL, &b, &err), &err);
    if (open) assert_ptr_equal(a->matrix, mine->matrix);
    em_session_release(s, mine);
    take_places(s);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_goldens, b->n_goldens);
    assert_memory_equal(a->quality, b->quality, a->n * sizeof *a->quality);
    assert_memory_equal(a->order, b->order, a->n * sizeof *a->order);
    for (size_t r = 0; r < a->n; r++) assert_true(em_row_equal(&a->rows[r], &b->rows[r]));
    em_session_release(got, a);
    em_session_release(want, b);
    em_session_let_go(got);
    em_session_close(s);
    em_session_close(want);
  }
}

static void test_asked_again_it_is_the_same(void **state)
{
  (void)state;
  em_session *s = fixture_session(), *a = sibling_of(s, in_scratch("other.json")),
             *b = sibling_of(a, in_scratch("other.json"));
  assert_ptr_equal(a, b);
  assert_ptr_equal(sibling_of(s, NULL), s);
  assert_ptr_equal(sibling_of(a, NULL), a);
  em_session_let_go(a);
  em_session_let_go(b);
  assert_ptr_equal(sibling_of(s, in_scratch("other.json")), a); /* held once more still */
  em_session_let_go(s);
  em_session_let_go(NULL);
  em_session_close(s);
}

/* A fit that is written again is another prior; who holds the old one keeps it. */
static void test_a_changed_file_is_loaded_again(void **state)
{
  (void)state;
  em_session *s = fixture_session(), *before = sibling_of(s, in_scratch("other.json"));
  fixture_prior(in_scratch("other.json"));
  em_session *after = sibling_of(s, in_scratch("other.json"));
  assert_ptr_not_equal(before, after);
  assert_int_equal(em_model_n_trees(em_prior_model(em_session_prior(before))), 1);
  assert_int_equal(em_model_n_trees(em_prior_model(em_session_prior(after))), 3);
  em_session_let_go(before);
  em_session_let_go(after);
  em_session_close(s);
}

static void expect_refused(em_session *s, const char *path, const char *part)
{
  em_session *out;
  em_err err;
  assert_int_equal(em_session_with_prior(s, path, &out, &err), EM_E_INPUT);
  if (!strstr(err.msg, path) || !strstr(err.msg, part)) fail_msg("\"%s\" does not say \"%s\"", err.msg, part);
}

static void test_loading_is_strict(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  char *text;
  size_t len;
  em_err err;
  expect_refused(s, in_scratch("none.json"), "No such file");
  expect_refused(s, in_scratch("golden.json"), "");
  fixture_must(em_file_read(in_scratch("other.json"), &text, &len, &err), &err);
  char *version = strstr(text, "\"feat_ver\":");
  assert_non_null(version);
  version[strlen("\"feat_ver\":")] = '9';
  put_file(in_scratch("later.json"), text, len);
  em_free(text);
  expect_refused(s, in_scratch("later.json"), "feat_ver");
  em_session_close(s);
}

/* Each path is a sibling of its own; those that were let go are closed, all but a few. */
static void test_few_stay_open(void **state)
{
  (void)state;
  em_session *s = fixture_session(), *held[12];
  int64_t live = em_alloc_live(), most = 0;
  for (size_t i = 0; i < N_OF(held); i++) {
    char name[32];
    snprintf(name, sizeof name, "prior-%zu.json", i);
    fixture_other_prior(in_scratch(name));
    held[i] = sibling_of(s, in_scratch(name));
    for (size_t k = 0; k < i; k++) assert_ptr_not_equal(held[i], held[k]);
  }
  most = em_alloc_live() - live;
  for (size_t i = 0; i < N_OF(held); i++) em_session_let_go(held[i]);
  assert_true(em_alloc_live() - live <= most / 2);
  assert_ptr_equal(sibling_of(s, in_scratch("prior-11.json")), held[11]); /* the last one is among them */
  em_session_close(s);
}

static void *ask(void *arg)
{
  em_session *s = arg;
  for (int i = 0; i < 20; i++) {
    em_err err;
    const em_scored *sc;
    em_session *other = sibling_of(s, in_scratch("other.json"));
    fixture_must(em_session_load(other, pool_called(other, "add.512"), NULL, &sc, &err), &err);
    em_session_release(other, sc);
    em_session_let_go(other);
  }
  return NULL;
}

static void test_from_several_threads(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  em_err err;
  pthread_t threads[3];
  fixture_must(em_session_start(s, &err), &err); /* the worker ranks meanwhile */
  for (size_t i = 0; i < N_OF(threads); i++) assert_int_equal(pthread_create(&threads[i], NULL, ask, s), 0);
  for (size_t i = 0; i < N_OF(threads); i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  em_session_close(s);
}

static void test_memory_may_fail(void **state)
{
  (void)state;
  em_session *s = fixture_session(), *out = NULL;
  em_err err;
  int64_t live = em_alloc_live();
  for (uint64_t n = 1; !out; n++) { /* what is opened stays open: it is no leak */
    em_alloc_fail_at(n, false);
    int rc = em_session_with_prior(s, in_scratch("other.json"), &out, &err);
    em_alloc_fail_at(0, false);
    if (rc == EM_OK) break;
    assert_true(rc == EM_E_NOMEM && em_alloc_live() == live && n < 10000);
  }
  const em_scored *sc;
  size_t pool = pool_called(s, "add.512");
  fixture_must(em_session_load(s, pool, NULL, &sc, &err), &err);
  for (uint64_t n = 1;; n++) { /* scoring what the main session lends */
    const em_scored *mine;
    em_alloc_fail_at(n, false);
    int rc = em_session_load(out, pool, NULL, &mine, &err);
    em_alloc_fail_at(0, false);
    if (rc == EM_OK) {
      em_session_release(out, mine);
      break;
    }
    assert_true(rc == EM_E_NOMEM && n < 1000);
  }
  em_session_release(s, sc);
  em_session_let_go(out);
  em_session_close(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_ranks_as_a_session_of_that_prior, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(test_candidates_are_the_same, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(test_asked_again_it_is_the_same, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(test_a_changed_file_is_loaded_again, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(test_loading_is_strict, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(test_few_stay_open, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(test_from_several_threads, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(test_memory_may_fail, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
