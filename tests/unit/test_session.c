/* A session over a small golden file: listing, finding, ranking, keeping, the worker; and that a
 * dataset of the same pools says the same. */
#include "tests/unit/sql_fixture.h"

static size_t pool_called(em_session *s, const char *name)
{
  size_t i;
  em_err err;
  fixture_must(em_session_find(s, name, &i, &err), &err);
  return i;
}

static em_pool_info info_of(em_session *s, const char *name)
{
  em_pool_info i;
  em_session_pool(s, pool_called(s, name), &i);
  return i;
}

/* Listing knows labels and recorded times, and ranks nothing. */
static void test_lists_at_once(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  assert_int_equal(em_session_n_pools(s), 5); /* the two rows of square.64 share one */
  for (size_t i = 0; i < em_session_n_pools(s); i++) {
    em_pool_info p;
    em_session_pool(s, i, &p);
    assert_int_equal(p.state, EM_POOL_WAITING);
    assert_string_equal(p.gpu, "NVIDIA GeForce RTX 4080");
    if (i > 0) {
      em_pool_info before;
      em_session_pool(s, i - 1, &before);
      assert_true(strcmp(before.label, p.label) <= 0);
    }
  }
  em_pool_info square = info_of(s, "square.64");
  assert_int_equal(square.n_goldens, 2);
  assert_true(square.us == 2.75 && square.reference_us == 5.5); /* the faster of the two */
  assert_int_equal(square.kind, EM_KIND_CONTRACTION);
  em_session_close(s);
}

static void expect_not_found(em_session *s, const char *name, const char *part)
{
  size_t i;
  em_err err;
  assert_int_equal(em_session_find(s, name, &i, &err), EM_E_INPUT);
  if (!strstr(err.msg, part)) fail_msg("\"%s\" does not say \"%s\"", err.msg, part);
}

static void test_find(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  size_t square = pool_called(s, "square.64");
  em_pool_info i;
  em_session_pool(s, square, &i);
  assert_int_equal(pool_called(s, i.key), square);
  assert_int_equal(pool_called(s, i.name), square);
  assert_int_equal(pool_called(s, "SOFTMAX.10"), pool_called(s, "softmax.1024"));
  expect_not_found(s, "square", "names 2 pools");
  expect_not_found(s, "softmx.1024", "the nearest is \"softmax.1024\"");
  em_session_close(s);
}

static em_session *session_of(const char *kernel)
{
  const char *golden = in_scratch("golden.json");
  const em_session_options o = {.sources = &golden,
                                .n_sources = 1,
                                .prior = in_scratch("prior.json"),
                                .feat_ver = EM_FEAT_VER,
                                .kernel = kernel,
                                .threads = 1};
  em_session *s = NULL;
  em_err err;
  fixture_must(em_session_open(&o, &s, &err), &err);
  return s;
}

/* Decisions are listed with what they make; a filter by kernel holds for them too. */
static void test_routing(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  em_pool_info square = info_of(s, "square.64");
  assert_int_equal(em_session_n_routing(s), 3);
  for (size_t i = 0; i < 3; i++) {
    const em_routing_piece *p = em_session_routing(s, i);
    assert_string_equal(p->parent, square.kernel);
    assert_true(em_digest_eq(p->parent_identity, square.identity));
    assert_false(em_digest_eq(p->child_identity, square.identity));
    assert_string_equal(p->source, "golden.json");
    assert_string_equal(p->arm, i == 0 ? "{\"REDUCE\":\"g2a\"}" : "{\"REDUCE\":\"g4k\"}");
    assert_int_equal(p->n, i == 0 ? 1 : 2);
    assert_int_equal(p->position, i == 2);
  }
  em_session *none = session_of("softmax"), *combine = session_of("__COMBINE");
  assert_int_equal(em_session_n_routing(none), 0);
  assert_int_equal(em_session_n_routing(combine), 1);
  em_session_close(none);
  em_session_close(combine);
  em_session_close(s);
}

/* Ranks and orders agree with each other and with a count over the qualities. */
static void test_ranks(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  em_err err;
  const em_scored *sc;
  fixture_must(em_session_load(s, pool_called(s, "square.128"), NULL, &sc, &err), &err);
  assert_int_equal(sc->n, sc->info.total);
  for (size_t r = 0; r < sc->n; r++) {
    assert_int_equal(sc->order[sc->rank_of[r]], r);
    assert_true(sc->against[r] >= sc->rank_of[r]);
    if (r == 0) continue;
    const em_row *a = &sc->rows[sc->order[r - 1]], *b = &sc->rows[sc->order[r]];
    double qa = sc->quality[sc->order[r - 1]], qb = sc->quality[sc->order[r]];
    assert_true(qa > qb || (qa == qb && em_row_compare(a, b) < 0)); /* ties by content */
  }
  assert_int_equal(sc->n_goldens, 1);
  size_t golden = sc->goldens[0].row, better = 0, equal = 0;
  for (size_t r = 0; r < sc->n; r++) {
    better += sc->quality[r] > sc->quality[golden];
    equal += r != golden && sc->quality[r] == sc->quality[golden];
  }
  assert_int_equal(sc->info.rank.optimistic, better);
  assert_int_equal(sc->info.rank.plateau, equal);
  assert_int_equal(sc->info.rank.against, better + equal);
  assert_true(em_row_equal(&sc->info.pick, &sc->rows[sc->order[0]]));
  assert_ptr_equal(em_scored_golden(sc, golden), &sc->goldens[0]);
  assert_null(em_scored_golden(sc, golden + 1));
  em_session_release(s, sc);
  em_session_close(s);
}

/* A column is called constant exactly when every row has the same value in it. */
static void test_constant_columns(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  em_err err;
  const em_scored *sc;
  fixture_must(em_session_load(s, pool_called(s, "softmax.1024"), NULL, &sc, &err), &err);
  assert_true(sc->constant[em_columns_index(sc->cols, "H_cc")]);
  assert_true(sc->constant[em_columns_index(sc->cols, "D_tile_m")]); /* missing in all: a row reduction has no tile */
  assert_false(sc->constant[em_columns_index(sc->cols, "D_threads")]);
  em_session_release(s, sc);
  em_session_close(s);
}

static void test_outside_pool(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  em_err err;
  const em_scored *sc;
  assert_int_equal(em_session_load(s, pool_called(s, "add.outside"), NULL, &sc, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "add.outside has no pool: golden not in"));
  assert_non_null(strstr(err.msg, "WORK t128x8"));
  em_pool_info i = info_of(s, "add.outside");
  assert_int_equal(i.state, EM_POOL_OUTSIDE);
  em_session_close(s);
}

/* Loading again gives the kept candidates; more pools than are kept do not disturb those in use. */
static void test_keeping(void **state)
{
  (void)state;
  static const char *const names[] = {"add.512", "softmax.1024", "square.64", "square.128"};
  em_session *s = fixture_session();
  em_err err;
  const em_scored *held[N_OF(names)], *again;
  for (size_t i = 0; i < N_OF(names); i++)
    fixture_must(em_session_load(s, pool_called(s, names[i]), NULL, &held[i], &err), &err);
  for (size_t i = 0; i < N_OF(names); i++)
    assert_string_equal(held[i]->info.label, i == 3 ? "square.128.fp16" : names[i]);
  fixture_must(em_session_load(s, held[0]->pool, NULL, &again, &err), &err);
  assert_ptr_equal(again, held[0]);
  em_session_release(s, again);
  for (size_t i = 0; i < N_OF(names); i++) em_session_release(s, held[i]);
  em_session_close(s);
}

static void test_worker(void **state)
{
  (void)state;
  em_session *s = fixture_session();
  em_err err;
  em_session_status st;
  const em_scored *sc;
  size_t wanted = pool_called(s, "square.128");
  em_session_status_of(s, &st);
  assert_true(!st.busy && st.done == 0 && st.total == 5);
  fixture_must(em_session_start(s, &err), &err);
  em_session_want(s, wanted);
  em_session_wait(s);
  em_session_status_of(s, &st);
  assert_true(!st.busy && st.done == 5 && st.generation >= 5);
  assert_true(em_session_ready(s, wanted));
  fixture_must(em_session_load(s, wanted, NULL, &sc, &err), &err);
  assert_true(sc->cols->n > em_prior_columns(em_session_prior(s))->n); /* a wanted pool has every column */
  em_session_release(s, sc);
  em_session_close(s);

  s = fixture_session(); /* closing at once stops the worker wherever it is */
  fixture_must(em_session_start(s, &err), &err);
  em_session_close(s);
}

typedef struct summary {
  char label[64];
  em_rank rank;
  em_row pick;
  uint64_t total;
  size_t n_goldens;
  double us[4]; /* of the goldens inside */
  char golden[4][32];
} summary;

static void read_goldens(em_session *s, size_t pool, summary *out)
{
  em_err err;
  const em_scored *sc;
  fixture_must(em_session_load(s, pool, NULL, &sc, &err), &err);
  out->n_goldens = sc->n_goldens;
  for (size_t g = 0; g < sc->n_goldens; g++) {
    out->us[g] = sc->goldens[g].us;
    snprintf(out->golden[g], sizeof out->golden[g], "%s", sc->goldens[g].label);
    assert_string_equal(sc->goldens[g].source, "golden.json");
  }
  em_session_release(s, sc);
}

static size_t summaries(em_session *s, summary *out)
{
  size_t n = 0;
  em_err err;
  fixture_must(em_session_rank_all(s, NULL, &err), &err);
  for (size_t i = 0; i < em_session_n_pools(s); i++) {
    em_pool_info p;
    em_session_pool(s, i, &p);
    if (p.state != EM_POOL_READY) continue;
    snprintf(out[n].label, sizeof out[n].label, "%s", p.label);
    out[n].rank = p.rank;
    out[n].pick = p.pick;
    out[n].total = p.total;
    read_goldens(s, i, &out[n++]);
  }
  return n;
}

/* The same whole pools through a store and a dataset: the same labels, ranks, picks and recorded times. */
static void test_dataset_says_the_same(void **state)
{
  (void)state;
  summary direct[8], stored[8];
  em_err err;
  em_store *store;
  em_import import;
  em_export_report report;
  em_export_options o = {.pool_sample = 0};
  em_session *s = fixture_session();
  size_t n = summaries(s, direct);
  em_session_close(s);
  assert_int_equal(n, 4);

  fixture_must(em_store_open(in_scratch("db"), EM_STORE_WRITE, &store, &err), &err);
  fixture_must(em_store_import(store, in_scratch("golden.json"), NULL, &import, &err), &err);
  em_import_free(&import);
  fixture_must(em_dataset_export(store, in_scratch("dataset"), &o, NULL, &report, &err), &err);
  em_store_close(store);
  static const char *const sources[] = {"db", "dataset"};
  for (size_t k = 0; k < N_OF(sources); k++) {
    const char *path = in_scratch(sources[k]);
    em_session_options options = {
      .sources = &path, .n_sources = 1, .prior = in_scratch("prior.json"), .feat_ver = EM_FEAT_VER};
    fixture_must(em_session_open(&options, &s, &err), &err);
    assert_int_equal(summaries(s, stored), n);
    for (size_t i = 0; i < n; i++) {
      assert_string_equal(stored[i].label, direct[i].label);
      assert_int_equal(stored[i].rank.against, direct[i].rank.against);
      assert_int_equal(stored[i].rank.plateau, direct[i].rank.plateau);
      assert_int_equal(stored[i].total, direct[i].total);
      assert_true(em_row_equal(&stored[i].pick, &direct[i].pick));
      assert_int_equal(stored[i].n_goldens, direct[i].n_goldens);
      for (size_t g = 0; g < direct[i].n_goldens; g++) {
        assert_true(stored[i].us[g] == direct[i].us[g]);
        assert_string_equal(stored[i].golden[g], direct[i].golden[g]);
      }
    }
    em_session_close(s);
  }
}

/* The same pools from a golden file and from a store of it: every key opens its own. */
static void test_sources_that_repeat(void **state)
{
  (void)state;
  em_err err;
  em_store *store;
  em_import import;
  em_session *s;
  em_session_close(fixture_session()); /* makes the files */
  fixture_must(em_store_open(in_scratch("db"), EM_STORE_WRITE, &store, &err), &err);
  fixture_must(em_store_import(store, in_scratch("golden.json"), NULL, &import, &err), &err);
  em_import_free(&import);
  em_store_close(store);
  const char *paths[] = {in_scratch("db"), in_scratch("golden.json")};
  em_session_options o = {.sources = paths, .n_sources = 2, .prior = in_scratch("prior.json"), .feat_ver = EM_FEAT_VER};
  fixture_must(em_session_open(&o, &s, &err), &err);
  assert_int_equal(em_session_n_pools(s), 10);
  for (size_t i = 0; i < em_session_n_pools(s); i++) {
    em_pool_info info;
    em_session_pool(s, i, &info);
    assert_int_equal(pool_called(s, info.key), i);
  }
  em_pool_info first, again; /* sorted by label, so the two of one pool are neighbours */
  char want[512];
  em_session_pool(s, 0, &first);
  em_session_pool(s, 1, &again);
  snprintf(want, sizeof want, "\"rtx4080/%s\" names 2 pools (%s, %s);", first.label, first.key, again.key);
  expect_not_found(s, "rtx4080/add.512", want);
  em_session_close(s);
}

static void test_filters(void **state)
{
  (void)state;
  em_session_close(fixture_session()); /* makes the files */
  em_err err;
  em_session *s;
  const char *path = in_scratch("golden.json");
  em_session_options o = {.sources = &path, .n_sources = 1, .prior = in_scratch("prior.json"), .feat_ver = EM_FEAT_VER};
  o.kernel = "SQUARE";
  fixture_must(em_session_open(&o, &s, &err), &err);
  assert_int_equal(em_session_n_pools(s), 2);
  em_session_close(s);
  o.kernel = NULL;
  o.card = "h100";
  fixture_must(em_session_open(&o, &s, &err), &err);
  assert_int_equal(em_session_n_pools(s), 0);
  em_session_close(s);
  o.card = "h1000";
  assert_int_equal(em_session_open(&o, &s, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "h1000"));
}

/* Strict loading: a session without its prior is an error that names the command that makes one. */
static void test_no_prior(void **state)
{
  (void)state;
  em_session_close(fixture_session());
  em_err err;
  em_session *s;
  const char *path = in_scratch("golden.json");
  em_session_options o = {
    .sources = &path, .n_sources = 1, .prior = in_scratch("absent.json"), .feat_ver = EM_FEAT_VER};
  assert_int_equal(em_session_open(&o, &s, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "absent.json"));
  assert_non_null(strstr(err.msg, "emmy fit"));
}

static int open_and_rank(const em_session_options *o, em_err *err)
{
  em_session *s;
  int rc = em_session_open(o, &s, err);
  if (rc != EM_OK) return rc;
  rc = em_session_rank_all(s, NULL, err);
  em_session_close(s);
  return rc;
}

/* Every allocation may fail; nothing leaks.  Ranking allocates often: later steps are larger. */
static void test_allocation_failures(void **state)
{
  (void)state;
  em_session_close(fixture_session());
  em_err err;
  const char *path = in_scratch("golden.json");
  em_session_options o = {.sources = &path,
                          .n_sources = 1,
                          .prior = in_scratch("prior.json"),
                          .feat_ver = EM_FEAT_VER,
                          .kernel = "add",
                          .threads = 1};
  int64_t live = em_alloc_live();
  int rc = EM_E_NOMEM;
  for (uint64_t n = 1; rc != EM_OK; n += 1 + n / 50) {
    em_alloc_fail_at(n, true);
    rc = open_and_rank(&o, &err);
    em_alloc_fail_at(0, false);
    if (rc != EM_OK) assert_int_equal(rc, EM_E_NOMEM);
    assert_int_equal(em_alloc_live(), live);
  }
}

int main(void)
{
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {IN_SCRATCH(test_lists_at_once),
                                     IN_SCRATCH(test_find),
                                     IN_SCRATCH(test_routing),
                                     IN_SCRATCH(test_ranks),
                                     IN_SCRATCH(test_constant_columns),
                                     IN_SCRATCH(test_outside_pool),
                                     IN_SCRATCH(test_keeping),
                                     IN_SCRATCH(test_worker),
                                     IN_SCRATCH(test_dataset_says_the_same),
                                     IN_SCRATCH(test_sources_that_repeat),
                                     IN_SCRATCH(test_filters),
                                     IN_SCRATCH(test_no_prior),
                                     IN_SCRATCH(test_allocation_failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
