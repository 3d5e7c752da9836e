/* Every view, asked in SQL and rendered as CSV: one declaration, the same rows. */
#include "tests/unit/sql_query.h"

/* Arguments that each view is asked with; a view without a line here fails the test. */
static const struct {
  const char *view;
  const char *args[EM_MAX_PARAMS];
  size_t least;
} calls[] = {{"pools", {NULL}, 5},
             {"pools", {"rtx4080"}, 5},
             {"candidates", {"add.512"}, 4},
             {"candidates", {"square.64"}, 2063},
             {"features", {"softmax.1024", "1", "2"}, 40},
             {"kernels", {NULL}, 5},
             {"kernels", {"other.json"}, 5},
             {"cards", {NULL}, 30},
             {"skipped", {NULL}, 1},
             {"feature_registry", {NULL}, 80},
             {"importance", {NULL}, 3},
             {"importance", {NULL, "square.64"}, 3},
             {"contributions", {"square.64", "pick", "golden"}, 3},
             {"trees", {NULL}, 3},
             {"tree_diff", {"square.64", "pick", "golden"}, 3},
             {"tree", {"square.64", "pick", "golden", "1"}, 2},
             {"blind_pairs", {"square.64"}, 2},
             {"extrapolation", {"square.64"}, 3},
             {"fork_tree", {"square.64"}, 10},
             {"fork_tree", {"square.64", "WORK=t16x16"}, 5},
             {"tree_path", {"square.64", "golden"}, 4},
             {"splits", {NULL}, 3},
             {"splits", {NULL, "2"}, 1},
             {"ranks", {NULL}, 1},
             {"ranks", {NULL, "both"}, 3},
             {"ranks", {NULL, "each"}, 3},
             {"measurements", {NULL}, 6},
             {"measurements", {"square.64"}, 2},
             {"routing", {NULL}, 3},
             {"sources", {NULL}, 1},
             {"definitions", {"golden.json"}, 8},
             {"definitions", {"store.db"}, 5},
             {"imports", {"store.db"}, 1},
             {"fits", {"fits"}, 2},
             {"fit_metrics", {"fits/a"}, 3},
             {"fit_ranks", {"fits/b"}, 2},
             {"fit_diff", {"fits/a", "fits/b"}, 3},
             {"fit_compare", {"fits/a", "fits/b"}, 1},
             {"fit_measured", {"fits-measured/m"}, 3},
             {"fit_measured_pools", {"fits-measured/m"}, 2},
             {"fit_measured_compare", {"fits-measured/m", "fits-measured/m"}, 1},
             {"schema_doc", {NULL}, 200},
             {"schema_doc", {"pools"}, 15},
             {"pools", {NULL, NULL, "other.json"}, 5},
             {"candidates", {"square.64", "other.json"}, 2063},
             {"features", {"softmax.1024", "1", "2", "other.json"}, 40},
             {"feature_registry", {"other.json"}, 80},
             {"importance", {"other.json", "square.64"}, 3},
             {"contributions", {"square.64", NULL, NULL, "other.json"}, 3},
             {"trees", {"other.json"}, 1},
             {"tree_diff", {"square.64", NULL, NULL, "other.json"}, 1},
             {"tree", {"square.64", "pick", "golden", NULL, "other.json"}, 1},
             {"blind_pairs", {"square.64", NULL, "other.json"}, 2},
             {"extrapolation", {"square.64", "other.json"}, 1},
             {"fork_tree", {"square.64", NULL, "other.json"}, 10},
             {"tree_path", {"square.64", "golden", "other.json"}, 1},
             {"splits", {"other.json"}, 1},
             {"ranks", {"other.json"}, 1}};

/* Paths of the scratch folder. */
static const char *resolved(const char *arg)
{
  bool path = arg && (strncmp(arg, "fits", 4) == 0 || strcmp(arg, "other.json") == 0 ||
                      strcmp(arg, "golden.json") == 0 || strcmp(arg, "store.db") == 0);
  return path ? in_scratch(arg) : arg;
}

/* ---- a fit is a metrics file ---- */

static const char fit_a[] =
  "{\"header\":{\"artifact\":\"aa\",\"columns\":[\"D_cells\"],\"features\":\"@schedule\",\"groups\":{\"total\":2},"
  "\"objective\":\"QuerySoftMax\",\"trainer_params\":{\"depth\":6,\"iterations\":100,\"learning-rate\":0.1}},"
  "\"full_train\":{\"per_golden\":{"
  "\"NVIDIA GeForce RTX 4080/p1\":{\"pool\":500,\"positives\":1,\"rank\":0,\"rank_optimistic\":0,\"sampled\":200},"
  "\"NVIDIA GeForce RTX 4080/p2\":{\"pool\":90,\"positives\":2,\"rank\":7,\"rank_optimistic\":5,\"sampled\":90}},"
  "\"summaries\":[{\"axes\":{},\"groups\":2,\"metrics\":{\"rank\":{\"mean_log2\":1.5,\"median\":3.5,\"median_optimistic\":2.5},"
  "\"top1\":{\"count\":1},\"top5\":{\"count\":1},\"top10\":{\"count\":2},\"top25\":{\"count\":2},\"top50\":{\"count\":2},\"top100\":{\"count\":2}}}]},"
  "\"cv\":{\"holdout_per_golden\":{\"NVIDIA GeForce RTX 4080/p2\":{\"fold\":1,\"rank\":15,\"rank_optimistic\":15}},"
  "\"summaries\":[{\"axes\":{\"cv_split\":\"holdout\"},\"groups\":1,\"metrics\":{\"rank\":{\"mean_log2\":4,\"median\":15,\"median_optimistic\":15},\"top1\":{\"count\":0},\"top10\":{\"count\":0}}},"
  "{\"axes\":{\"cv_split\":\"train\",\"gpu\":\"NVIDIA GeForce RTX 4080\"},\"groups\":1,\"metrics\":{}}]}}";

static const char fit_b[] =
  "{\"header\":{\"artifact\":\"bb\"},\"full_train\":{\"per_golden\":{"
  "\"NVIDIA GeForce RTX 4080/p2\":{\"pool\":90,\"positives\":2,\"rank\":3,\"rank_optimistic\":3,\"sampled\":90},"
  "\"NVIDIA GeForce RTX 4080/p3\":{\"pool\":4,\"positives\":1,\"rank\":1,\"rank_optimistic\":1,\"sampled\":4}}}}";

#define FIGURES                                                                                                        \
  "{\"spearman\":{\"groups\":1,\"median\":0.5,\"worst\":0.5,\"worst_pool\":\"card/x@O3\"},"                            \
  "\"regret1\":{\"groups\":2,\"median\":1.25,\"worst\":1.5,\"worst_pool\":\"card/y@O3\"},"                             \
  "\"regret10\":{\"groups\":0,\"median\":null,\"worst\":null}}"
#define SUMMARY(more) "{\"axes\":{\"gpu\":\"card\",\"h_opt\":3" more "},\"groups\":2,\"metrics\":" FIGURES "}"
#define MEASURED(regret)                                                                                               \
  "{\"h_opt\":3,\"measured\":6,\"rank\":2,\"rank_optimistic\":1,\"regret1\":" regret                                   \
  ",\"regret10\":null,\"rows\":6,\"spearman\":0.5"

static const char fit_m[] =
  "{\"header\":{},\"full_train\":{\"per_golden\":{},\"measured\":{\"per_pool\":{\"card/x@O3\":" MEASURED("1") "},\"card/y@O3\":" MEASURED(
    "1.5") "}},\"summaries\":[" SUMMARY("") "]}},"
                                            "\"cv\":{\"measured\":{\"holdout_per_pool\":{\"card/x@O3\":" MEASURED("2") ",\"fold\":1}},\"summaries\":[" SUMMARY(
                                              ",\"cv_split\":\"holdout\"") "," SUMMARY(",\"cv_split\":\"train\"") "]}}}";

static void write_fit(const char *folder_name, const char *name, const char *text)
{
  em_err err;
  char *folder, *path;
  fixture_must(em_path_join(&folder, &err, in_scratch(folder_name), name), &err);
  fixture_must(em_mkdirs(folder, &err), &err);
  fixture_must(em_path_join(&path, &err, folder, "metrics.json"), &err);
  put_file(path, text, strlen(text));
  em_free(folder);
  em_free(path);
}

static void write_store(void)
{
  em_err err;
  em_store *store;
  em_import counts;
  fixture_must(em_store_open(in_scratch("store.db"), EM_STORE_FRESH, &store, &err), &err);
  fixture_must(em_store_import(store, in_scratch("golden.json"), NULL, &counts, &err), &err);
  fixture_must(em_store_commit(store, &err), &err);
  em_import_free(&counts);
  em_store_close(store);
}

static int open_all(void **state)
{
  em_err err;
  em_session *other;
  if (open_fixture(state) != 0) return -1;
  write_fit("fits", "a", fit_a);
  write_fit("fits", "b", fit_b);
  write_fit("fits-measured", "m", fit_m);
  write_store();
  fixture_must(em_session_rank_all(session, NULL, &err), &err);
  fixture_must(em_session_with_prior(session, in_scratch("other.json"), &other, &err), &err);
  fixture_must(em_session_rank_all(other, NULL, &err), &err);
  em_session_let_go(other);
  return 0;
}

/* ---- the same rows ---- */

static void put_call(em_str *out, size_t call)
{
  const em_view *v = em_view_find(calls[call].view);
  em_str_printf(out, "select * from %s", v->name);
  for (size_t i = 0; i < v->n_params; i++) {
    const char *arg = resolved(calls[call].args[i]);
    em_str_printf(out, i ? ", " : "(");
    if (arg)
      em_str_printf(out, "'%s'", arg);
    else
      em_str_put(out, i == 0 ? "null" : "null");
  }
  if (v->n_params) em_str_putc(out, ')');
}

static char *render_view(size_t call)
{
  em_err err;
  em_cursor *c;
  em_arrangement a;
  em_str out = {0};
  const char *args[EM_MAX_PARAMS];
  em_render r = {.format = EM_FORMAT_CSV};
  for (size_t i = 0; i < EM_MAX_PARAMS; i++) args[i] = resolved(calls[call].args[i]);
  fixture_must(em_view_open(calls[call].view, session, args, &c, &err), &err);
  assert_true(c->view->rows(c) >= calls[call].least);
  fixture_must(em_arrange(c, -1, false, NULL, &a, &err), &err);
  fixture_must(em_render_view(c, &a, &r, collect_text, &out, &err), &err);
  em_arrangement_free(&a);
  em_cursor_close(c);
  return out.s;
}

static char *render_sql(size_t call)
{
  em_err err;
  em_str text = {0}, out = {0};
  em_render r = {.format = EM_FORMAT_CSV};
  size_t at;
  put_call(&text, call);
  if (em_sql_run(sql, text.s, text.len, &r, collect_text, &out, &at, &err) != EM_OK)
    fail_msg("%s\n%s", text.s, err.msg);
  em_str_free(&text);
  return out.s;
}

static void test_sql_and_csv_agree(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(calls); i++) {
    char *view = render_view(i), *asked = render_sql(i);
    if (strcmp(view, asked) != 0) fail_msg("%s\nview:\n%.800s\nSQL:\n%.800s", calls[i].view, view, asked);
    em_free(view);
    em_free(asked);
  }
}

static void test_every_view_is_asked(void **state)
{
  (void)state;
  for (size_t v = 0; em_views[v]; v++) {
    size_t n = 0;
    for (size_t i = 0; i < N_OF(calls); i++) n += strcmp(calls[i].view, em_views[v]->name) == 0;
    if (n == 0) fail_msg("view %s is not tested", em_views[v]->name);
  }
}

/* Names need no quotes, and none hides another. */
static void test_columns_can_be_named(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(calls); i++) {
    const em_view *v = em_view_find(calls[i].view);
    for (size_t c = 0; c < v->n_columns; c++) {
      em_err err;
      em_str text = {0};
      put_call(&text, i);
      char *rest = strstr(text.s, " from ");
      em_str statement = {0};
      em_str_printf(&statement, "select x.%s%s x limit 0", v->columns[c].name, rest);
      char *got = query_as(EM_FORMAT_CSV, statement.s, &err);
      if (!got) fail_msg("%s\n%s", statement.s, err.msg);
      em_free(got);
      em_str_free(&statement);
      em_str_free(&text);
    }
  }
}

static void test_estimates_are_exact(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(calls); i++) {
    em_err err;
    em_cursor *c;
    const em_view *v = em_view_find(calls[i].view);
    const char *args[EM_MAX_PARAMS];
    for (size_t k = 0; k < EM_MAX_PARAMS; k++) args[k] = resolved(calls[i].args[k]);
    /* Of filtered pools it is a guess; another prior is not loaded to count its trees. */
    if (!v->estimate || ((strcmp(v->name, "pools") == 0 || strcmp(v->name, "trees") == 0) && args[0])) continue;
    fixture_must(em_view_open(v->name, session, args, &c, &err), &err);
    assert_int_equal(v->estimate(session, args), v->rows(c));
    em_cursor_close(c);
  }
}

/* ---- what single views say ---- */

static void test_schema_doc_lists_everything(void **state)
{
  (void)state;
  size_t n = 0;
  char want[32];
  for (size_t v = 0; em_views[v]; v++) n += em_views[v]->n_columns + em_views[v]->n_params;
  snprintf(want, sizeof want, "%zu\n", n);
  expect("select count(*) from schema_doc", want);
  expect("select name, kind, unit from schema_doc('features') where kind <> 'column'",
         "pool,argument,\narg_a,optional,\narg_b,optional,\nprior,optional,\n");
  expect_error("select * from schema_doc('poolz')", "no table is called \"poolz\"");
}

/* The branches of a level share the candidates out; each child's leaves are its own level's sum. */
static void test_fork(void **state)
{
  (void)state;
  expect(
    "select sum(leaves) = (select candidates from pools where kernel = 'square.64'), sum(held) = sum(leaves), count(distinct level), min(level) "
    "from fork_tree('square.64')",
    "1,1,1,WORK\n");
  expect(
    "select count(*) from fork_tree('square.64') f where leaves <> (select sum(leaves) from fork_tree('square.64', f.path))",
    "0\n");
  expect(
    "select min(best_rank), count(*) filter (where notes like '%pick%'), count(*) filter (where notes like '%golden%') > 0 "
    "from fork_tree('square.64')",
    "1,1,1\n");
  expect(
    "select count(*) from fork_tree('square.64') f where best_price is not (select min(price) from candidates('square.64') c where c.work = f.choice)",
    "0\n");
  expect("select min(best_us) from fork_tree('square.64')", "2.75\n");
  expect_error("select * from fork_tree('square.64', 'TILE=f2')", "the path decides TILE before WORK");
  expect_error("select * from fork_tree('square.64', 'WORK=t16x8 REDUCE=')", "the path decides REDUCE before TILE");
  expect_error("select * from fork_tree('square.64', 'WORK=t3x3')", "nothing is left to decide under WORK=t3x3");
  expect_error("select * from fork_tree('square.64', 'nonsense')", "");
}

/* The leaves' values add up to the quality (the model's scale is 1 and its bias 0). */
static void test_tree_path(void **state)
{
  (void)state;
  expect(
    "with leaf as (select distinct tree, leaf_value from tree_path('square.64', 'golden')) "
    "select count(*), sum(leaf_value) = (select quality from candidates('square.64') where rank = "
    "(select max(rank) from candidates('square.64') where quality = (select golden_quality from pools where kernel = 'square.64'))) from leaf",
    "3,1\n");
  expect("select count(*) from tree_path('square.64', 'golden') where passes <> (value > border)", "0\n");
  expect("select tree, level is null, feature is null, leaf, leaf_value from tree_path('square.64') where tree = 3",
         "3,1,1,0,0.0625\n");
  expect_error("select * from tree_path('square.64', 'first')", "\"first\" is no candidate of square.64");
}

static void test_splits(void **state)
{
  (void)state;
  expect(
    "select tree, level, feature, border, depth, least_value, most_value, training_rows from splits",
    "1,1,D_threads,48.0,2,-0.5,1.0,80.0\n1,2,D_cells,3.5,2,-0.5,1.0,80.0\n2,1,D_smem_bytes,4096.0,1,0.0,0.375,80.0\n");
  expect_error("select * from splits(null, 4)", "\"4\" is no tree of the prior: give a number from 1 to 3");
}

static void test_trees(void **state)
{
  (void)state;
  expect("select * from trees", "1,2,D_threads>48 D_cells>3.5,-0.5,1.0,1.5,80.0,4,0\n"
                                "2,1,D_smem_bytes>4096,0.0,0.375,0.375,80.0,2,0\n3,0,,0.0625,0.0625,0.0,80.0,1,0\n");
  expect("select tree from trees where tree between 2 and 9 order by tree desc", "3\n2\n");
  expect("select count(*) from trees t, splits(null, t.tree) s where s.depth = t.depth", "3\n");
}

/* Leaf values are in the unit of quality: a scale below 0 makes the least value the greatest. */
static void test_trees_of_a_scaled_model(void **state)
{
  (void)state;
  static const em_split split[] = {{2, 48}};
  static const double leaves[] = {1, -0.25}, weights[] = {20, 10};
  fixture_write_prior(&(em_tree_view){split, 1, leaves, weights}, 1, -2, in_scratch("scaled.json"));
  char sql_text[1024];
  const char *path = in_scratch("scaled.json");
  snprintf(sql_text, sizeof sql_text, "select least_value, most_value, spread from trees('%s')", path);
  expect(sql_text, "-2.0,0.5,2.5\n");
  snprintf(sql_text, sizeof sql_text, "select least_value, most_value from splits('%s')", path);
  expect(sql_text, "-2.0,0.5\n");
  snprintf(sql_text, sizeof sql_text,
           "select min(leaf_value), max(leaf_value) from tree_path('square.64', 'pick', '%s')", path);
  expect(sql_text, "0.5,0.5\n");
}

static void write_crooked(const char *path)
{
  static char *const names[] = {"D_cells"};
  static const char text[] =
    "{\"features_info\":{\"float_features\":[{\"borders\":[3.5],\"feature_index\":0,\"flat_feature_index\":0,"
    "\"has_nans\":false,\"nan_value_treatment\":\"AsIs\"}]},\"trees\":[{\"split\":{\"split_index\":0,"
    "\"float_feature_index\":0,\"border\":3.5,\"split_type\":\"FloatFeature\"},\"left\":{\"value\":1,\"weight\":3},"
    "\"right\":{\"value\":2,\"weight\":5}}]}";
  const em_columns cols = {(char **)names, N_OF(names)};
  const em_place at = {.file = "crooked"};
  em_err err;
  em_model *m;
  em_prior *p;
  cJSON *json;
  fixture_must(em_json_parse(text, strlen(text), "crooked", &json, &err), &err);
  fixture_must(em_model_parse(json, &at, &m, &err), &err);
  em_json_free(json);
  fixture_must(em_prior_new(m, &cols, EM_FEAT_VER, 1, NULL, &p, &err), &err);
  fixture_must(em_prior_save(p, path, &err), &err);
  em_prior_free(p);
}

/* A tree that is not symmetric has no levels: it is listed, ranks, and leads nowhere. */
static void test_trees_without_levels(void **state)
{
  (void)state;
  char text[1200];
  const char *crooked = in_scratch("crooked.json"), *args[EM_MAX_PARAMS] = {crooked};
  em_cursor *c;
  em_target target;
  em_err err;
  write_crooked(crooked);
  snprintf(text, sizeof text,
           "select tree, depth is null, splits is null, spread is null, leaves is null from trees('%s')", crooked);
  expect(text, "1,1,1,1,1\n");
  snprintf(text, sizeof text, "select distinct quality from candidates('square.64', '%s')", crooked);
  expect(text, "2.0\n1.0\n");
  snprintf(text, sizeof text, "select * from splits('%s')", crooked);
  expect_error(text, "the trees of this prior are not symmetric");
  fixture_must(em_view_open("trees", session, args, &c, &err), &err);
  assert_false(em_cursor_way(c, EM_WAY_ENTER, 0, &target));
  em_str foot = {0};
  c->view->foot(c, &foot);
  assert_string_equal(foot.s, "1 tree, 1 of them not symmetric"); /* and not: 0 leaves */
  em_str_free(&foot);
  em_cursor_close(c);
}

/* The other prior is one tree: 1 up to 48 threads, -1 above. */
static void test_prior_argument(void **state)
{
  (void)state;
  char text[1200];
  const char *other = in_scratch("other.json");
  snprintf(text, sizeof text, "select * from trees('%s')", other);
  expect(text, "1,1,D_threads>48,-1.0,1.0,2.0,30.0,2,0\n");
  snprintf(text, sizeof text, "select feature, border from splits('%s', 1)", other);
  expect(text, "D_threads,48.0\n");
  snprintf(text, sizeof text, "select feature, importance from importance('%s') where importance > 0", other);
  expect(text, "D_threads,100.0\n");
  snprintf(text, sizeof text,
           "select count(*), sum(c.quality = iif(f.a > 48, -1, 1)) from candidates('square.64', '%s') c, "
           "features('square.64', c.rank, 1, '%s') f where c.rank %% 100 = 1 and f.feature = 'D_threads'",
           other, other);
  expect(text, "21,21\n");
  snprintf(text, sizeof text,
           "select count(*), sum(a.quality = b.quality), count(distinct b.quality) from candidates('square.64') a "
           "join candidates('square.64', '%s') b using (row)",
           other);
  expect(text, "2063,0,2\n");
  snprintf(text, sizeof text,
           "select count(*), sum(p.golden_rank = (select min(rank_against) from candidates(p.pool, '%s') "
           "where golden is not null)) from pools(null, null, '%s') p where p.golden_rank is not null",
           other, other);
  expect(text, "4,4\n");
  snprintf(
    text, sizeof text,
    "select worst = (select max(golden_rank) from pools(null, null, '%s')), worst = (select max(golden_rank) from pools) "
    "from ranks('%s')",
    other, other);
  expect(text, "1,0\n");
  snprintf(
    text, sizeof text,
    "select count(*), sum(d.quality) = (select sum(quality) from contributions('square.64', 'pick', 2063, '%s')) "
    "from tree_diff('square.64', 'pick', 2063, '%s') d",
    other, other);
  expect(text, "1,1\n");
  expect_error("select * from candidates('square.64', 'nothing.json')", "nothing.json");
  snprintf(text, sizeof text, "select * from ranks('%s')", in_scratch("golden.json"));
  expect_error(text, "golden.json");
}

static void test_ranks(void **state)
{
  (void)state;
  expect(
    "select card, tier is null, pools, worst = (select max(golden_rank) from pools), top1 = (select count(*) from pools where golden_rank = 1) from ranks",
    "rtx4080,1,4,1,1\n");
  expect(
    "select card is null, tier is null, pools, median = (select median(golden_rank) from pools) from ranks(null, 'all')",
    "1,1,4,1\n");
  expect("select sum(pools) from ranks(null, 'tier')", "4\n");
  expect("select card is null, tier is null, size, pools from ranks(null, 'size')",
         "1,1,<100,2\n1,1,<10k,1\n1,1,>=10k,1\n");
  expect("select sum(candidates < 100), sum(candidates between 1000 and 9999), sum(candidates >= 10000) from pools",
         "2,1,1\n");
  expect("select count(*), count(card), count(tier), count(size), sum(pools) from ranks(null, 'each')", "4,4,4,4,4\n");
  expect_error("select * from ranks(null, 'pool')",
               "ranks are counted by card, tier, size, both, each or all, not by \"pool\"");
}

static void test_measurements(void **state)
{
  (void)state;
  expect("select us, reference_us, speedup, golden, status, source, label from measurements('square.64') order by us",
         "2.75,5.5,2.0,1,ok,golden.json,square.64\n3.5,7.0,2.0,1,ok,golden.json,square.64 again\n");
  expect("select count(*) from measurements m, candidates(m.pool) c where c.us = m.us and not agrees(c.row, m.row)",
         "0\n");
  expect("select source, rows, goldens, failed, pools, cards, faster from sources", "golden.json,6,6,0,5,1,6\n");
}

/* Two decisions about one kernel: a split whose two kernels sum up one after another, and one that adds. */
static void test_routing(void **state)
{
  (void)state;
  expect(
    "select knob(arm, 'REDUCE'), piece, pieces, substr(child, instr(child, '__')), formed, pools, source from routing",
    "g2a,1,1,__partial,1,0,golden.json\ng4k,1,2,__partial,1,0,golden.json\ng4k,2,2,__combine,1,0,golden.json\n");
  expect(
    "select count(distinct r.kernel), count(distinct r.child_identity), min(p.kernel), max(k.pools) from routing r "
    "join pools p using (identity) join kernels k on k.identity = r.identity",
    "1,3,square.64,1\n");
}

/* The file defines what its routing makes, too; of the store the pools' kernels are listed. */
static void test_definitions_and_imports(void **state)
{
  (void)state;
  char text[1200];
  snprintf(text, sizeof text,
           "select count(*), count(distinct identity), sum(kernel like '%%\\_\\_%%' escape '\\'), sum(notes <> '') "
           "from definitions('%s')",
           in_scratch("golden.json"));
  expect(text, "8,8,3,0\n");
  snprintf(
    text, sizeof text,
    "select count(*) from definitions('%s') s join definitions('%s') g using (identity) join kernels k using (identity) "
    "where s.kernel = k.kernel and s.shape = k.shape and g.shape = k.shape and g.kind = k.kind",
    in_scratch("store.db"), in_scratch("golden.json"));
  expect(text, "5\n");
  snprintf(text, sizeof text, "select source, length(digest), rows from imports('%s')", in_scratch("store.db"));
  expect(text, "golden.json,32,6\n");
  expect_error("select * from imports('nothing.db')", "nothing.db");
  expect_error("select * from definitions('nothing.json')", "nothing.json");
}

static void test_fits(void **state)
{
  (void)state;
  char text[1200];
  snprintf(text, sizeof text,
           "select fit, pools, top1, median, holdout_top1, holdout_median, iterations, depth from fits('%s')",
           in_scratch("fits"));
  expect(text, "a,2,1,4.5,0,16.0,100,6\nb,,,,,,,\n");
  snprintf(text, sizeof text, "select part, card, pools, median, top1, top10 from fit_metrics('%s')",
           in_scratch("fits/a"));
  expect(text, "whole,,2,4.5,1,2\nholdout,,1,16.0,0,0\ntrain,rtx4080,1,,,\n");
  snprintf(
    text, sizeof text,
    "select pool, card, rank, rank_optimistic, holdout_rank, fold, candidates, sampled, positives from fit_ranks('%s/metrics.json')",
    in_scratch("fits/a"));
  expect(text,
         "NVIDIA GeForce RTX 4080/p1,rtx4080,1,1,,,500,200,1\nNVIDIA GeForce RTX 4080/p2,rtx4080,8,6,16,1,90,90,2\n");
  snprintf(text, sizeof text, "select substr(pool, -2), rank_a, rank_b, change, standing from fit_diff('%s', '%s')",
           in_scratch("fits/a"), in_scratch("fits/b"));
  expect(text, "p1,1,,,only A\np2,8,4,-1.0,better\np3,,2,,only B\n");
  expect_error("select * from fit_ranks('no such fit')", "no such fit: give a metrics.json");
  snprintf(text, sizeof text, "select * from fit_ranks('%s')", in_scratch("prior.json"));
  expect_error(text, "has no header and full_train.per_golden");
}

static void test_skipped_says_why(void **state)
{
  (void)state;
  expect("select name, reason like '%WORK t128x8%' from skipped", "add.outside,1\n");
}

static int render_once(const char *text, em_err *err)
{
  em_str out = {0};
  em_render r = {.format = EM_FORMAT_CSV};
  size_t at;
  int rc = em_sql_run(sql, text, strlen(text), &r, collect_text, &out, &at, err);
  if (rc == EM_OK && out.failed) rc = em_fail_nomem(err);
  em_str_free(&out);
  return rc;
}

static void test_allocation_failures(void **state)
{
  (void)state;
  const char *const views[] = {"fork_tree",    "tree_path",  "trees",   "splits",      "ranks",
                               "measurements", "sources",    "fits",    "fit_metrics", "fit_ranks",
                               "fit_diff",     "schema_doc", "routing", "definitions", "imports"};
  em_err err;
  size_t pool;
  const em_scored *kept;
  fixture_must(em_session_find(session, "square.64", &pool, &err), &err);
  fixture_must(em_session_load(session, pool, NULL, &kept, &err), &err); /* so that nothing is cached on the way */
  for (size_t i = 0; i < N_OF(calls); i++) {
    bool mine = false;
    for (size_t k = 0; k < N_OF(views); k++) mine |= strcmp(views[k], calls[i].view) == 0;
    if (!mine) continue;
    em_str text = {0};
    put_call(&text, i);
    em_str_put(&text, " limit 3");
    ASSERT_SURVIVES_NOMEM(render_once(text.s, &err), );
    em_str_free(&text);
  }
  em_session_release(session, kept);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sql_and_csv_agree),
                                     cmocka_unit_test(test_every_view_is_asked),
                                     cmocka_unit_test(test_columns_can_be_named),
                                     cmocka_unit_test(test_estimates_are_exact),
                                     cmocka_unit_test(test_schema_doc_lists_everything),
                                     cmocka_unit_test(test_fork),
                                     cmocka_unit_test(test_tree_path),
                                     cmocka_unit_test(test_splits),
                                     cmocka_unit_test(test_trees),
                                     cmocka_unit_test(test_trees_of_a_scaled_model),
                                     cmocka_unit_test(test_trees_without_levels),
                                     cmocka_unit_test(test_prior_argument),
                                     cmocka_unit_test(test_ranks),
                                     cmocka_unit_test(test_measurements),
                                     cmocka_unit_test(test_routing),
                                     cmocka_unit_test(test_definitions_and_imports),
                                     cmocka_unit_test(test_fits),
                                     cmocka_unit_test(test_skipped_says_why),
                                     cmocka_unit_test(test_allocation_failures)};
  return cmocka_run_group_tests(tests, open_all, close_fixture);
}
