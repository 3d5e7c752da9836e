/* test_prior_artifact.c - the prior's file: written, read back, refused. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/prior_models.h"

#define MEND "; make a new prior with: emmy fit DATASET WEIGHTS"

static char *const two_names[] = {"D_threads", "H_cc"};
static const em_columns cols = {(char **)two_names, 2};
static char dir[] = "/tmp/emmy-prior-XXXXXX", path[64];

static int make_folder(void **state)
{
  (void)state;
  if (!mkdtemp(dir)) return -1;
  snprintf(path, sizeof path, "%s/prior.json", dir);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  unlink(path);
  return rmdir(dir);
}

static em_model *make_model(void)
{
  static const em_split splits[] = {{0, 64.5f}, {1, 85}};
  static const double leaves[] = {0.1, -0.2, 0.3, 1e-7}, weights[] = {10, 0, 3, 4};
  const em_tree_view tree = {splits, 2, leaves, weights};
  const em_model_build spec = {.n_features = 2,
                               .feature_names = (const char *const *)two_names,
                               .has_nans = (bool[]){true, false},
                               .n_trees = 1,
                               .trees = &tree,
                               .scale = 1,
                               .loss = "QuerySoftMax"};
  em_model *m;
  em_err err;
  if (em_model_new(&spec, &m, &err)) fail_msg("%s", err.msg);
  return m;
}

static em_prior *make_prior(double scale)
{
  em_prior *p;
  em_err err;
  cJSON *where;
  const char *text = "{\"sources\":{\"abc\":12},\"note\":\"x\"}";
  assert_int_equal(em_json_parse(text, strlen(text), "provenance", &where, &err), EM_OK);
  int rc = em_prior_new(make_model(), &cols, EM_FEAT_VER, scale, where, &p, &err);
  em_json_free(where);
  if (rc) fail_msg("%s", err.msg);
  return p;
}

static em_prior *load(void)
{
  em_prior *p;
  em_err err;
  if (em_prior_load(path, EM_FEAT_VER, &p, &err)) fail_msg("%s", err.msg);
  return p;
}

static void write_text(const char *text)
{
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static void saved_prior_is_loaded_whole(void **state)
{
  (void)state;
  em_err err;
  em_prior *p = make_prior(1.5);
  assert_int_equal(em_prior_save(p, path, &err), EM_OK);
  em_prior *q = load();
  em_str a = {0}, b = {0};
  em_prior_print(p, &a);
  em_prior_print(q, &b);
  assert_string_equal(a.s, b.s);
  assert_string_equal(em_prior_digest(p), em_prior_digest(q));
  assert_int_equal(strlen(em_prior_digest(p)), 32);
  assert_int_equal(em_prior_feat_ver(q), EM_FEAT_VER);
  assert_int_equal(em_prior_columns(q)->n, 2);
  assert_string_equal(em_prior_columns(q)->names[1], "H_cc");
  assert_non_null(cJSON_GetObjectItemCaseSensitive(em_prior_provenance(q), "sources"));
  em_str_free(&a);
  em_str_free(&b);
  em_prior_free(p);
  em_prior_free(q);
}

static void text_starts_as_the_format_says(void **state)
{
  (void)state;
  em_prior *p = make_prior(1);
  em_str text = {0};
  em_prior_print(p, &text);
  const char *head =
    "{\n \"feat_ver\": 101,\n \"space\": \"schedule\",\n \"kind\": \"catboost\",\n \"cols\": [\n  \"D_threads\",\n"
    "  \"H_cc\"\n ],\n \"params\": {\"scale\": 1},\n \"provenance\": {\"sources\":{\"abc\":12},\"note\":\"x\"},\n"
    " \"model\": {";
  assert_int_equal(strncmp(text.s, head, strlen(head)), 0);
  em_str_free(&text);
  em_prior_free(p);
}

/* The matrix may have other columns in another order; what it lacks is missing. */
static void columns_are_matched_by_name(void **state)
{
  (void)state;
  char *const names[] = {"X", "H_cc", "D_threads"};
  const em_columns wide = {(char **)names, 3}, narrow = {(char **)names, 2};
  const double wide_row[] = {9, 90, 128}, narrow_row[] = {9, 90};
  double quality;
  em_err err;
  em_prior *p = make_prior(1);
  assert_int_equal(em_prior_score(p, &wide, wide_row, 1, 1, &quality, &err), EM_OK);
  assert_true(quality == 1e-7);
  assert_int_equal(em_prior_score(p, &narrow, narrow_row, 1, 1, &quality, &err), EM_OK);
  assert_true(quality == 0.3);
  ASSERT_SURVIVES_NOMEM(em_prior_score(p, &wide, wide_row, 1, 1, &quality, &err), (void)0);
  em_prior_free(p);
}

static void price_falls_with_quality(void **state)
{
  (void)state;
  em_prior *p = make_prior(2);
  assert_true(em_prior_price(p, 0) == 1);
  assert_true(em_prior_price(p, 0.5) == exp(-1));
  assert_true(em_prior_price(p, 1e9) == exp(-700)); /* clamped, so that prices add */
  assert_true(em_prior_price(p, -1e9) == exp(700));
  em_prior_free(p);
}

/* ---- what is refused ------------------------------------------------------------------ */

#define MODEL2                                                                                                         \
  "{\"features_info\":{\"float_features\":[{\"borders\":[1]},{}]},\"oblivious_trees\":[{\"splits\":null,\"leaf_values\":[1]}]}"
#define HEAD(ver, space)         "{\"feat_ver\":" ver ",\"space\":\"" space "\","
#define REST(cols, scale, model) "\"cols\":[" cols "],\"params\":{\"scale\":" scale "},\"model\":" model "}"

static const struct {
  const char *text, *message;
} refused[] = {
  {"", "byte"},
  {"{\"feat_ver\": 101,", "byte"},
  {"CBM1\001\002", "CatBoost's binary format (CBM1)"},
  {MODEL2, "a CatBoost model alone"},
  {"[1]", "found an array"},
  {HEAD("99", "schedule") REST("\"a\",\"b\"", "1", MODEL2), "feat_ver is 99, expected 101"},
  {"{\"space\":\"schedule\"," REST("\"a\",\"b\"", "1", MODEL2), "feat_ver"},
  {HEAD("101", "placement") REST("\"a\",\"b\"", "1", MODEL2), "space is \"placement\", expected \"schedule\""},
  {"{\"feat_ver\":101," REST("\"a\",\"b\"", "1", MODEL2), "space"},
  {HEAD("101", "schedule") "\"kind\":\"xgboost\"," REST("\"a\",\"b\"", "1", MODEL2), "kind is \"xgboost\""},
  {HEAD("101", "schedule") "\"colour\":1," REST("\"a\",\"b\"", "1", MODEL2), "colour"},
  {HEAD("101", "schedule") REST("\"a\"", "1", MODEL2), "1 columns, but the model has 2"},
  {HEAD("101", "schedule") REST("\"a\",\"a\"", "1", MODEL2), "is there twice"},
  {HEAD("101", "schedule") REST("\"a\",7", "1", MODEL2), "cols[1]"},
  {HEAD("101", "schedule") REST("\"a\",\"b\"", "0", MODEL2), "scale is 0"},
  {HEAD("101", "schedule") REST("\"a\",\"b\"", "\"1\"", MODEL2), "params.scale"},
  {HEAD("101", "schedule") "\"cols\":[\"a\"],\"model\":" MODEL2 "}", "params"},
  {HEAD("101", "schedule") "\"cols\":[\"a\"],\"params\":{\"scale\":1}}", "model"},
  {HEAD("101", "schedule") "\"provenance\":3," REST("\"a\",\"b\"", "1", MODEL2), "provenance"},
  {HEAD("101", "schedule") REST("\"a\",\"b\"", "1", "{\"features_info\":{\"float_features\":[{}]},\"trees\":[]}"),
   "model.trees"},
  {HEAD("101", "schedule") REST(
     "\"a\",\"b\"", "1",
     "{\"features_info\":{\"float_features\":[{\"feature_id\":\"a\"},{\"feature_id\":\"c\"}]},\"oblivious_trees\":[{\"leaf_values\":[1]}]}"),
   "cols[1]: found \"b\", but the model calls this feature \"c\""},
};

static void each_fault_says_what_and_how_to_mend(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_OF(refused); i++) {
    em_prior *p;
    em_err err;
    write_text(refused[i].text);
    int64_t live = em_alloc_live();
    if (em_prior_load(path, EM_FEAT_VER, &p, &err) != EM_E_INPUT) fail_msg("case %zu was not refused", i);
    if (!strstr(err.msg, refused[i].message)) fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.msg, refused[i].message);
    assert_int_equal(strncmp(err.msg, path, strlen(path)), 0);
    assert_string_equal(err.msg + strlen(err.msg) - strlen(MEND), MEND);
    assert_int_equal(em_alloc_live(), live);
  }
}

static void missing_file_says_so(void **state)
{
  (void)state;
  em_prior *p;
  em_err err;
  assert_int_equal(em_prior_load("/nowhere/prior.json", EM_FEAT_VER, &p, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "/nowhere/prior.json: no prior there"));
  assert_string_equal(err.msg + strlen(err.msg) - strlen(MEND), MEND);
}

/* A prior of the public project: another vocabulary, no `kind`. */
static void other_vocabulary_when_asked_for(void **state)
{
  (void)state;
  em_prior *p;
  em_err err;
  write_text(HEAD("5", "schedule") REST("\"D_a\",\"D_b\"", "1.0", MODEL2));
  assert_int_equal(em_prior_load(path, 5, &p, &err), EM_OK);
  assert_int_equal(em_prior_feat_ver(p), 5);
  em_prior_free(p);
}

static void new_prior_must_agree_with_its_model(void **state)
{
  (void)state;
  char *const swapped[] = {"H_cc", "D_threads"}, *const twice[] = {"D_threads", "D_threads"};
  const em_columns bad[] = {{(char **)two_names, 1}, {(char **)swapped, 2}, {(char **)twice, 2}};
  em_prior *p;
  em_err err;
  for (size_t i = 0; i < N_OF(bad); i++)
    assert_int_equal(em_prior_new(make_model(), &bad[i], EM_FEAT_VER, 1, NULL, &p, &err), EM_E_INPUT);
  const double scales[] = {0, -1, NAN, INFINITY};
  for (size_t i = 0; i < N_OF(scales); i++)
    assert_int_equal(em_prior_new(make_model(), &cols, EM_FEAT_VER, scales[i], NULL, &p, &err), EM_E_INPUT);
}

static void failed_save_leaves_the_old_file(void **state)
{
  (void)state;
  em_prior *p = make_prior(1);
  em_err err;
  struct stat before, after;
  assert_int_equal(em_prior_save(p, path, &err), EM_OK);
  assert_int_equal(stat(path, &before), 0);
  em_alloc_fail_at(3, true);
  assert_int_equal(em_prior_save(p, path, &err), EM_E_NOMEM);
  em_alloc_fail_at(0, false);
  assert_int_equal(stat(path, &after), 0);
  assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
  assert_int_not_equal(em_prior_save(p, "/nowhere/prior.json", &err), EM_OK);
  em_prior_free(p);
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  em_prior *p = make_prior(1), *q;
  em_err err;
  ASSERT_SURVIVES_NOMEM(em_prior_save(p, path, &err), (void)0);
  ASSERT_SURVIVES_NOMEM(em_prior_load(path, EM_FEAT_VER, &q, &err), em_prior_free(q));
  em_prior_free(p);
  int64_t live = em_alloc_live();
  for (uint64_t n = 1;; n++) {
    em_model *m = make_model();
    em_alloc_fail_at(n, false);
    int rc = em_prior_new(m, &cols, EM_FEAT_VER, 1, NULL, &p, &err);
    em_alloc_fail_at(0, false);
    if (!rc) break;
    assert_int_equal(rc, EM_E_NOMEM);
    assert_int_equal(em_alloc_live(), live); /* the model went with it */
  }
  em_prior_free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(saved_prior_is_loaded_whole),          cmocka_unit_test(text_starts_as_the_format_says),
    cmocka_unit_test(columns_are_matched_by_name),          cmocka_unit_test(price_falls_with_quality),
    cmocka_unit_test(each_fault_says_what_and_how_to_mend), cmocka_unit_test(missing_file_says_so),
    cmocka_unit_test(other_vocabulary_when_asked_for),      cmocka_unit_test(new_prior_must_agree_with_its_model),
    cmocka_unit_test(failed_save_leaves_the_old_file),      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
