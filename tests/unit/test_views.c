/* Views without a session: cells, order, filter, search, rendering, widths. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "views/views.h"

/* A view over a fixed table: name, rank, time; one missing, one unused value. */
static const struct {
  const char *name;
  int64_t rank;
  double us;
} table[] = {{"gemm,wide", 3, 12.5},
             {"say \"hi\"", 1, NAN},
             {"soft\x1b[2Jmax", 41208, 0.25},
             {"", 2, 7},
             {"\u5bbd\u5b57", 2, 1e-9}};

static const em_view_column columns[] = {{"name", "name", EM_TEXT, "", 10, 0, "a name"},
                                         {"rank", "rank", EM_INT, "rank", 6, 0, "a rank"},
                                         {"n", "count", EM_INT, "candidates", 6, 0, "the same as a count"},
                                         {"us", "us", EM_REAL, "us", 8, 2, "a time"},
                                         {"hidden", "hidden", EM_FLAG, "", 0, 0, "not on screen"}};

static size_t rows(em_cursor *c)
{
  (void)c;
  return sizeof table / sizeof *table;
}

static void cell(em_cursor *c, size_t row, size_t column, em_cell *out)
{
  (void)c;
  switch (column) {
  case 0:
    if (*table[row].name)
      em_cell_text(out, table[row].name);
    else
      em_cell_unused(out);
    break;
  case 3: em_cell_real(out, table[row].us); break;
  case 4: em_cell_flag(out, row % 2 == 0); break;
  default: em_cell_int(out, table[row].rank);
  }
}

static const em_view view = {.name = "t", .title = "t", .columns = columns, .n_columns = 5, .rows = rows, .cell = cell};
static em_cursor cursor = {&view, NULL};

static void expect_order(int column, bool descending, const char *filter, size_t n, const uint32_t *want)
{
  em_err err;
  em_arrangement a;
  assert_int_equal(em_arrange(&cursor, column, descending, filter, &a, &err), EM_OK);
  assert_int_equal(a.of, rows(&cursor));
  assert_int_equal(a.n, n);
  for (size_t i = 0; i < n; i++) assert_int_equal(a.rows[i], want[i]);
  em_arrangement_free(&a);
}

static void test_sort(void **state)
{
  (void)state;
  expect_order(-1, false, NULL, 5, (uint32_t[]){0, 1, 2, 3, 4});
  expect_order(1, false, NULL, 5, (uint32_t[]){1, 3, 4, 0, 2}); /* equal ranks keep the view's order */
  expect_order(1, true, NULL, 5, (uint32_t[]){2, 0, 3, 4, 1});
  expect_order(3, false, NULL, 5, (uint32_t[]){4, 2, 3, 0, 1}); /* missing last ... */
  expect_order(3, true, NULL, 5, (uint32_t[]){0, 3, 2, 4, 1});  /* ... in both directions */
  expect_order(0, false, NULL, 5, (uint32_t[]){3, 0, 1, 2, 4}); /* unused before values */
}

static void test_filter(void **state)
{
  (void)state;
  expect_order(-1, false, "GEMM", 1, (uint32_t[]){0});
  expect_order(-1, false, "!gemm", 4, (uint32_t[]){1, 2, 3, 4});
  expect_order(-1, false, "rank:2", 3, (uint32_t[]){2, 3, 4}); /* #41208 contains a 2; so do #2 and #2 */
  expect_order(-1, false, "41,208", 1, (uint32_t[]){2});       /* as displayed, in the count column */
  expect_order(1, true, "name:m", 2, (uint32_t[]){2, 0});
  expect_order(-1, false, "no such text", 0, NULL);
}

static void test_search(void **state)
{
  (void)state;
  em_err err;
  em_arrangement a;
  assert_int_equal(em_arrange(&cursor, -1, false, NULL, &a, &err), EM_OK);
  assert_int_equal(em_arrangement_search(&cursor, &a, 1, 1, "gemm"), 0); /* wraps */
  assert_int_equal(em_arrangement_search(&cursor, &a, 4, -1, "hi"), 1);
  assert_true(em_arrangement_search(&cursor, &a, 0, 1, "absent") == SIZE_MAX);
  em_arrangement_free(&a);
}

static int collect(void *ctx, const char *text, size_t len)
{
  em_str_putn(ctx, text, len);
  return 0;
}

static char *render_as(em_render r)
{
  em_err err;
  em_arrangement a;
  em_str out = {0};
  assert_int_equal(em_arrange(&cursor, -1, false, NULL, &a, &err), EM_OK);
  assert_int_equal(em_render_view(&cursor, &a, &r, collect, &out, &err), EM_OK);
  em_arrangement_free(&a);
  return out.s;
}

static char *render(em_format format, int width) { return render_as((em_render){.format = format, .width = width}); }

static void expect_text(char *got, const char *want)
{
  assert_string_equal(got, want);
  em_free(got);
}

static void test_table(void **state)
{
  (void)state;
  expect_text(render(EM_FORMAT_TABLE, 0), "name              rank   count     us\n"
                                          "gemm,wide           #3       3  12.50\n"
                                          "say \"hi\"            #1       1      \u00b7\n"
                                          "soft\\x1b[2Jmax  #41208  41,208   0.25\n"
                                          "-                   #2       2   7.00\n"
                                          "\u5bbd\u5b57                #2       2   0.00\n");
}

static void test_narrow_table_cuts_text_only(void **state)
{
  (void)state;
  char *got = render(EM_FORMAT_TABLE, 30);
  assert_non_null(
    strstr(got, "gemm,wi\u2026      #3       3  12.50\n")); /* eight cells stay, the last says that it is cut */
  assert_non_null(strstr(got, "#41208  41,208   0.25\n"));
  em_free(got);
  got = render_as((em_render){.format = EM_FORMAT_TABLE, .width = 30, .ascii = true});
  assert_non_null(strstr(got, "gemm,wi~ "));
  em_free(got);
}

/* 17 cells of name and 8 of rank are all that 26 hold; a table that may leave out columns does so before it cuts texts. */
static void test_narrow_table_leaves_out_last_columns(void **state)
{
  (void)state;
  em_render r = {.format = EM_FORMAT_TABLE, .width = 26, .leave_out = true};
  expect_text(render_as(r), "name              rank\n"
                            "gemm,wide           #3\n"
                            "say \"hi\"            #1\n"
                            "soft\\x1b[2Jmax  #41208\n"
                            "-                   #2\n"
                            "\u5bbd\u5b57                #2\n"
                            "no room for count, us\n");
  r.width = 38;
  char *whole = render_as(r);
  assert_null(strstr(whole, "no room"));
  em_free(whole);
}

/* RFC 4180 quoting; control characters are exact; missing is empty, as is unused. */
static void test_csv(void **state)
{
  (void)state;
  expect_text(render(EM_FORMAT_CSV, 0), "name,rank,n,us,hidden\n"
                                        "\"gemm,wide\",3,3,12.5,1\n"
                                        "\"say \"\"hi\"\"\",1,1,,0\n"
                                        "soft\x1b[2Jmax,41208,41208,0.25,1\n"
                                        ",2,2,7.0,0\n"
                                        "\u5bbd\u5b57,2,2,1e-09,1\n");
}

static void test_json(void **state)
{
  (void)state;
  char *got = render(EM_FORMAT_JSON, 0);
  em_err err;
  cJSON *json;
  assert_int_equal(em_json_parse(got, strlen(got), "view", &json, &err), EM_OK);
  assert_int_equal(cJSON_GetArraySize(json), 5);
  const cJSON *second = cJSON_GetArrayItem(json, 1);
  assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(second, "us")));
  assert_string_equal(cJSON_GetObjectItemCaseSensitive(second, "name")->valuestring, "say \"hi\"");
  assert_string_equal(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(json, 3), "name")->valuestring, "");
  assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(json, 0), "hidden")));
  em_json_free(json);
  em_free(got);
}

static void test_markdown(void **state)
{
  (void)state;
  expect_text(render(EM_FORMAT_MARKDOWN, 0), "| name | rank | count | us |\n| --- | ---: | ---: | ---: |\n"
                                             "| gemm,wide | #3 | 3 | 12.50 |\n"
                                             "| say \"hi\" | #1 | 1 | \u00b7 |\n"
                                             "| soft\\\\x1b[2Jmax | #41208 | 41,208 | 0.25 |\n"
                                             "| - | #2 | 2 | 7.00 |\n"
                                             "| \u5bbd\u5b57 | #2 | 2 | 0.00 |\n");
}

static int stop_after_one(void *ctx, const char *text, size_t len)
{
  (void)text;
  (void)len;
  return ++*(int *)ctx >= 2;
}

/* A closed pipe ends the rendering, and is no error. */
static void test_reader_goes_away(void **state)
{
  (void)state;
  em_err err;
  em_arrangement a;
  int calls = 0;
  em_render r = {.format = EM_FORMAT_CSV};
  assert_int_equal(em_arrange(&cursor, -1, false, NULL, &a, &err), EM_OK);
  assert_int_equal(em_render_view(&cursor, &a, &r, stop_after_one, &calls, &err), EM_OK);
  assert_int_equal(calls, 2);
  em_arrangement_free(&a);
}

static void test_widths(void **state)
{
  (void)state;
  int used;
  assert_int_equal(em_text_width("abc"), 3);
  assert_int_equal(em_text_width("\u5bbd\u5b57"), 4);
  assert_int_equal(em_text_width("e\u0301"), 1); /* combining acute */
  assert_int_equal(em_text_width("\U0001f600"), 2);
  assert_int_equal(em_text_width("\xff\xfe"), 2); /* invalid bytes: a cell each, no overrun */
  for (int cells = 0; cells <= 10; cells++) {
    size_t n = em_text_cut("a\u5bbdb\u5b57c", cells, &used);
    assert_true(used <= cells && n <= strlen("a\u5bbdb\u5b57c"));
  }
  assert_int_equal(em_text_cut("a\u5bbdb", 2, &used), 1); /* never half of a wide character */
  assert_int_equal(used, 1);
}

static void test_allocation_failures(void **state)
{
  (void)state;
  em_err err;
  int rc = EM_E_NOMEM;
  int64_t live = em_alloc_live();
  for (uint64_t n = 1; rc != EM_OK; n++) {
    em_arrangement a = {0};
    em_str out = {0};
    em_render r = {.format = EM_FORMAT_TABLE};
    em_alloc_fail_at(n, false);
    rc = em_arrange(&cursor, 0, true, "m", &a, &err);
    if (rc == EM_OK) rc = em_render_view(&cursor, &a, &r, collect, &out, &err);
    if (rc == EM_OK && out.failed) rc = EM_E_NOMEM; /* the collector's own memory */
    em_alloc_fail_at(0, false);
    assert_true(rc == EM_OK || rc == EM_E_NOMEM);
    em_arrangement_free(&a);
    em_str_free(&out);
    assert_int_equal(em_alloc_live(), live);
  }
}

/* Every view is declared whole: an undocumented column would have no manual entry. */
static void test_declarations(void **state)
{
  (void)state;
  for (size_t i = 0; em_views[i]; i++) {
    const em_view *v = em_views[i];
    assert_ptr_equal(em_view_find(v->name), v);
    assert_true(v->rows && v->cell && *v->doc && *v->title);
    assert_true(v->n_columns > 0 && v->n_params <= EM_MAX_PARAMS);
    assert_true(v->columns[0].width > 0);
    for (size_t c = 0; c < v->n_columns; c++) {
      assert_true(em_name_is_identifier(v->columns[c].name));
      assert_true(*v->columns[c].doc && v->columns[c].unit);
      assert_int_equal(em_view_find_column(v, v->columns[c].name), c); /* names are unique */
    }
    for (size_t p = 0; p < v->n_params; p++) assert_true(*v->params[p].doc);
    if (v->sort) assert_true(em_view_find_column(v, v->sort + (*v->sort == '-')) >= 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sort),
                                     cmocka_unit_test(test_filter),
                                     cmocka_unit_test(test_search),
                                     cmocka_unit_test(test_table),
                                     cmocka_unit_test(test_narrow_table_cuts_text_only),
                                     cmocka_unit_test(test_narrow_table_leaves_out_last_columns),
                                     cmocka_unit_test(test_csv),
                                     cmocka_unit_test(test_json),
                                     cmocka_unit_test(test_markdown),
                                     cmocka_unit_test(test_reader_goes_away),
                                     cmocka_unit_test(test_widths),
                                     cmocka_unit_test(test_allocation_failures),
                                     cmocka_unit_test(test_declarations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
