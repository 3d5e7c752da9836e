/* Views and column selections: the grammar of a spec and what it keeps. */
#include "tests/unit/unit.h"

#include "core/feature/feature.h"

static char *names[] = {
  "D_cells",  "D_threads", "D_w_grid_m", "D_w_grid_n", "H_cc", "MMA_tier", "S_ext_n_symbolic_axis",
  "S_pw_add", "block_size"};
static const em_columns some = {.names = names, .n = N_OF(names)};

/* The selected names, joined by blanks. */
static void assert_selects(const char *spec, const char *expected)
{
  em_columns got;
  em_err err;
  em_str text = {0};
  if (em_columns_select(&some, spec, &got, &err) != EM_OK) fail_msg("%s: %s", spec, err.msg);
  for (size_t i = 0; i < got.n; i++) em_str_printf(&text, "%s%s", i ? " " : "", got.names[i]);
  assert_string_equal(text.s ? text.s : "", expected);
  em_str_free(&text);
  em_columns_free(&got);
}

static void names_globs_and_exclusions(void **state)
{
  (void)state;
  assert_selects("H_cc,D_cells", "D_cells H_cc S_ext_n_symbolic_axis");
  assert_selects("D_w_*", "D_w_grid_m D_w_grid_n S_ext_n_symbolic_axis");
  assert_selects("D_*,-D_w_*", "D_cells D_threads S_ext_n_symbolic_axis");
  assert_selects("-D_w_*,D_*", "D_cells D_threads S_ext_n_symbolic_axis");
  assert_selects(" D_cells , -D_w_grid_m ", "D_cells S_ext_n_symbolic_axis");
  assert_selects("-D_*,-block_size", "H_cc MMA_tier S_ext_n_symbolic_axis S_pw_add");
  assert_selects("*",
                 "D_cells D_threads D_w_grid_m D_w_grid_n H_cc MMA_tier S_ext_n_symbolic_axis S_pw_add block_size");
  assert_selects("S_pw_*", "S_ext_n_symbolic_axis S_pw_add");
}

static void the_dynamic_mark_is_always_kept(void **state)
{
  (void)state;
  assert_selects("D_cells,-S_*", "D_cells S_ext_n_symbolic_axis");
  assert_selects("-*", "S_ext_n_symbolic_axis");
}

static void registered_names_may_be_absent_and_others_present(void **state)
{
  (void)state;
  assert_selects("D_reuse,D_cells", "D_cells S_ext_n_symbolic_axis");
  assert_selects("S_pw_tanh,D_cells", "D_cells S_ext_n_symbolic_axis");
  assert_selects("S_pw_t*,D_cells", "D_cells S_ext_n_symbolic_axis");
  assert_selects("block_*", "S_ext_n_symbolic_axis block_size");
}

static void a_view_stands_for_its_spec(void **state)
{
  (void)state;
  assert_non_null(em_feature_view("schedule"));
  assert_null(em_feature_view("placement"));
  assert_selects("@schedule", "D_cells D_threads D_w_grid_m D_w_grid_n H_cc MMA_tier S_ext_n_symbolic_axis S_pw_add");
  assert_selects("@schedule,-D_w_*,-S_pw_add", "D_cells D_threads H_cc MMA_tier S_ext_n_symbolic_axis");
}

static void assert_refused(const char *spec, const char *part)
{
  em_columns got;
  em_err err;
  assert_int_equal(em_columns_select(&some, spec, &got, &err), EM_E_INPUT);
  if (!strstr(err.msg, part)) fail_msg("%s: \"%s\" lacks \"%s\"", spec, err.msg, part);
}

static void what_selects_nothing_is_an_error_with_near_names(void **state)
{
  (void)state;
  assert_refused("D_thraeds", "near: D_threads");
  assert_refused("D_cells,blok_size", "near: block_size");
  assert_refused("P_*", "\"P_*\"");
  assert_refused("-D_nothing", "\"D_nothing\"");
  assert_refused("D_*,,H_cc", "empty item");
  assert_refused("", "empty item");
  assert_refused("D_*,-", "empty item");
  assert_refused("@placement", "unknown view \"@placement\"; expected @schedule");
  assert_refused("-@schedule", "\"@schedule\"");
  assert_refused("D_*_m", "\"D_*_m\"");
  assert_refused("S_pw_", "\"S_pw_\"");
}

static void a_copy_is_equal_and_its_own(void **state)
{
  (void)state;
  em_columns copy;
  em_err err;
  assert_int_equal(em_columns_copy(&some, &copy, &err), EM_OK);
  assert_int_equal(copy.n, some.n);
  for (size_t i = 0; i < copy.n; i++) {
    assert_string_equal(copy.names[i], some.names[i]);
    assert_ptr_not_equal(copy.names[i], some.names[i]);
    assert_int_equal(em_columns_index(&copy, some.names[i]), (int64_t)i);
  }
  assert_int_equal(em_columns_index(&copy, "D_cell"), -1);
  em_columns_free(&copy);
  em_columns_free(NULL);
}

static int select_refused(em_err *err)
{
  em_columns got;
  int rc = em_columns_select(&some, "D_thraeds", &got, err);
  return rc == EM_E_INPUT ? EM_OK : rc;
}

static void failing_allocations_leak_nothing(void **state)
{
  (void)state;
  em_columns c;
  em_err err;
  ASSERT_SURVIVES_NOMEM(em_columns_copy(&some, &c, &err), em_columns_free(&c));
  ASSERT_SURVIVES_NOMEM(em_columns_select(&some, "@schedule,-D_cells", &c, &err), em_columns_free(&c));
  ASSERT_SURVIVES_NOMEM(select_refused(&err), (void)0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_globs_and_exclusions),
    cmocka_unit_test(the_dynamic_mark_is_always_kept),
    cmocka_unit_test(registered_names_may_be_absent_and_others_present),
    cmocka_unit_test(a_view_stands_for_its_spec),
    cmocka_unit_test(what_selects_nothing_is_an_error_with_near_names),
    cmocka_unit_test(a_copy_is_equal_and_its_own),
    cmocka_unit_test(failing_allocations_leak_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
