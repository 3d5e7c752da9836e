/* Golden files: the published one byte for byte, every rule of the format, the older form. */
#include "tests/unit/goldens.h"

#include <math.h>

#include "tests/unit/scratch.h"
#include "tests/unit/shared.h"

static void the_published_file_prints_as_it_is(void **state)
{
  (void)state;
  char *text = NULL;
  size_t len = 0;
  em_err err;
  em_golden *g;
  FILE *f = shared_open("goldens/rtx4080_sm89.json");
  if (!f) skip();
  text = calloc(1, 1 << 16);
  len = fread(text, 1, 1 << 16, f);
  fclose(f);
  assert_int_equal(len, 11742);
  if (em_golden_parse(text, len, "rtx4080_sm89.json", &g, &err)) fail_msg("%s", err.msg);
  assert_int_equal(g->n_kernels, 8);
  assert_int_equal(g->n_programs, 8);
  assert_int_equal(g->n_rows, 9);
  assert_string_equal(g->gpu_name, CARD);
  char *again = printed(g);
  assert_string_equal(again, text);
  em_free(again);
  em_golden_free(g);
  free(text);
}

static void every_field_survives(void **state)
{
  (void)state;
  char *ir = pointwise_ir("exp");
  char *text = text_of(
    "{\"gpu_name\": \"" CARD "\",\n \"compute_cap\": [8, 9],\n \"model\": \"m \\\"1\\\"\",\n"
    " \"model_quant_digest\": \"0123456789abcdef\",\n \"note\": \"a\\u001bb\",\n \"programs\": [\n"
    "  {\"inputs\":[],\"outputs\":[\"y\"],\"nodes\":[{\"id\":\"y\",\"op\":\"constant\",\"attrs\":{\"value\":1.50e-06}}]}\n ],\n"
    " \"kernels\": [\n"
    "  {\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"traced\":0,\"origins\":[\"y\"],\"bindings\":{\"n\":16}},\n"
    "  {\"loop_ir\":%s,\"name\":\"k\",\"formed\":false,\"key\":\"k#2\"}\n ],\n"
    " \"routing\": [\n"
    "  {\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g4k\"},\"children\":[\"k#2\",\"k\"]}\n ],\n"
    " \"rows\": [\n"
    "  {\"name\":\"a\",\"kernel\":\"k#2\",\"bindings\":{\"b\":2,\"c\":3},\"pins\":{\"COLD_CACHE\":true,\"FAST_MATH\":false},"
    "\"knobs\":{\"WORK\":\"\",\"TILE\":\"f4\",\"RASTER\":\"\",\"LOOPIFY\":\"0\",\"VECTORIZE_LOADS\":true},"
    "\"measurements\":{\"emmy_us\":1.25,\"reference_us\":2.0,\"reference_backend\":\"cublas\",\"tried\":17},"
    "\"latency\":{\"" CARD "\":{\"emmy_us\":3.5}}},\n"
    "  {\"name\":\"a\",\"kernel\":\"k\",\"knobs\":{}},\n"
    "  {\"name\":\"a\",\"kernel\":\"k\"}\n ]}\n",
    ir, ir);
  em_golden *g = parsed(text);
  char *again = printed(g);
  assert_string_equal(again, text);
  const em_golden_row *r = &g->rows[0];
  assert_true(r->measured && r->has_knobs && r->regime.cold_cache && !r->regime.fast_math);
  assert_true(r->us == 1.25 && r->reference_us == 2.0);
  assert_int_equal(r->tried, 17);
  assert_int_equal(r->kernel, 1);
  assert_true(g->rows[1].has_knobs && !g->rows[1].measured && isnan(g->rows[1].reference_us));
  assert_false(g->rows[2].has_knobs);
  assert_false(g->kernels[1].formed);
  em_golden_free(g);
  em_free(again);
  em_free(text);
  em_free(ir);
}

static void layout_and_defaults_are_made_canonical(void **state)
{
  (void)state;
  char *ir = pointwise_ir("exp");
  char *loose = text_of(
    "{\"rows\":[{\"pins\":{},\"bindings\":{\"z\":1,\"a\":2},\"kernel\":\"k\",\"name\":\"r\",\"knobs\":null}],\n\n"
    "\"kernels\":[{\"formed\":true,\"name\":\"k\",\"loop_ir\":%s,\"bindings\":{},\"origins\":[],\"traced\":0}],"
    "\"programs\":[ {\"nodes\" : [ ] } ], \"routing\":[],\"compute_cap\":[8,9]}",
    ir);
  char *tight = text_of("{\"compute_cap\": [8, 9],\n \"programs\": [\n  {\"nodes\":[]}\n ],\n \"kernels\": [\n"
                        "  {\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"traced\":0}\n ],\n \"rows\": [\n"
                        "  {\"name\":\"r\",\"kernel\":\"k\",\"bindings\":{\"a\":2,\"z\":1}}\n ]}\n",
                        ir);
  em_golden *g = parsed(loose);
  char *got = printed(g);
  assert_string_equal(got, tight);
  em_golden_free(g);
  em_free(got);
  em_free(loose);
  em_free(tight);
  em_free(ir);
}

/* ---- errors ------------------------------------------------------------------- */

static void refused(const char *text, const char *expected)
{
  em_golden *g;
  em_err err;
  int64_t live = em_alloc_live();
  int rc = em_golden_parse(text, strlen(text), "g.json", &g, &err);
  if (rc != EM_E_INPUT) fail_msg("accepted, expected: %s", expected);
  if (strncmp(err.msg, "g.json: ", 8) || !strstr(err.msg, expected)) fail_msg("\"%s\" lacks \"%s\"", err.msg, expected);
  assert_int_equal(em_alloc_live(), live);
}

static void a_bad_row_is_named(void **state)
{
  (void)state;
#define ROW(body)   "{\"name\":\"r\",\"kernel\":\"k\"," body "}"
#define KNOBS(body) ROW("\"knobs\":{" body "}")
#define TIMES(body) ROW("\"knobs\":{},\"measurements\":{" body "}")
  static const struct {
    const char *row, *expected;
  } cases[] = {
    {"{\"name\":\"r\",\"kernel\":\"q\"}", "rows[0].kernel: \"q\" is no kernel of this file"},
    {"{\"name\":\"\",\"kernel\":\"k\"}", "rows[0].name: "},
    {"{\"kernel\":\"k\"}", "rows[0]: the member \"name\" is missing"},
    {"{\"name\":\"r\",\"kernel\":\"k\"},7", "rows[1]: expected an object"},
    {ROW("\"nobs\":{}"), "rows[0]: found the unknown member \"nobs\""},
    {KNOBS("\"WORK\":\"t0032\",\"RASTER\":\"\""), "rows[0].knobs.WORK"},
    {KNOBS("\"WORK\":\"\",\"TILE\":\"f04\",\"RASTER\":\"\""), "rows[0].knobs.TILE"},
    {KNOBS("\"WORK\":\"\",\"STAGE\":\"d2/cp/ring\",\"RASTER\":\"\""), "rows[0].knobs.STAGE"},
    {KNOBS("\"WORK\":\"\",\"REDUCE\":\"g4k\",\"RASTER\":\"\""),
     "rows[0].knobs.REDUCE: \"g4k\" decides which kernels exist"},
    {KNOBS("\"WORK\":\"\",\"RASTER\":\"\",\"PLACE@map.1/inner\":\"cut\""),
     "rows[0].knobs.PLACE@map.1/inner: \"cut\" decides"},
    {KNOBS("\"WORK\":\"\",\"TILE\":\"\""), "rows[0].knobs: incomplete row: "},
    {KNOBS("\"RASTER\":\"\",\"TILE\":\"\""), "WORK is missing"},
    {KNOBS("\"WORK\":\"\",\"RASTER\":\"\",\"STAGE\":\"\""), "STAGE without"},
    {KNOBS("\"WORK@map.1/inner\":\"\",\"WORK\":\"\",\"RASTER\":\"\""), "rows[0].knobs.WORK@map.1/inner"},
    {ROW("\"measurements\":{\"emmy_us\":1}"), "rows[0].measurements: a measurement needs knobs"},
    {TIMES(""), "rows[0].measurements: the member \"emmy_us\" is missing"},
    {TIMES("\"emmy_us\":0"), "rows[0].measurements.emmy_us: "},
    {TIMES("\"emmy_us\":\"1\""), "rows[0].measurements.emmy_us: "},
    {TIMES("\"emmy_us\":1,\"reference_us\":-2"), "rows[0].measurements.reference_us: "},
    {TIMES("\"emmy_us\":1,\"tried\":1.5"), "rows[0].measurements.tried: "},
    {TIMES("\"emmy_us\":1,\"mean\":1"), "rows[0].measurements: found the unknown member \"mean\""},
    {ROW("\"bindings\":{\"n\":0}"), "rows[0].bindings.n: "},
    {ROW("\"bindings\":[]"), "rows[0].bindings: "},
    {ROW("\"pins\":{\"FASTMATH\":true}"), "rows[0].pins.FASTMATH: "},
    {ROW("\"pins\":{\"FAST_MATH\":1}"), "rows[0].pins.FAST_MATH: expected true or false"},
    {ROW("\"pins\":{\"UNROLL\":true}"), "rows[0].pins.UNROLL: "},
    {ROW("\"pins\":{\"WORK\":1}"), "rows[0].pins.WORK: expected a string"},
    {ROW("\"latency\":{\"card\":{\"eager_us\":1}}"), "rows[0].latency.card: the member \"emmy_us\" is missing"},
  };
  char *ir = pointwise_ir("exp");
  for (size_t i = 0; i < N_OF(cases); i++) {
    char *text = golden_text(ir, "", cases[i].row);
    refused(text, cases[i].expected);
    em_free(text);
  }
  em_free(ir);
}

static void a_bad_header_or_table_is_named(void **state)
{
  (void)state;
#define ROUTING(body) "\"routing\":[" body "],"
  static const struct {
    const char *more, *expected;
  } cases[] = {
    {"\"hints\":{},", "found the unknown member \"hints\""},
    {"\"configs\":[],", "older edition"},
    {"\"model\":3,", "model: "},
    {"\"model_quant_digest\":\"0123456789ABCDEF\",", "model_quant_digest: expected 16"},
    {"\"programs\":[{}],", "programs[0]: the member \"nodes\" is missing"},
    {"\"programs\":{},", "programs: "},
    {ROUTING("{\"parent\":\"q\",\"arm\":{\"REDUCE\":\"g2k\"},\"children\":[\"k\"]}"),
     "routing[0].parent: \"q\" is no kernel"},
    {ROUTING("{\"parent\":\"k\",\"arm\":{},\"children\":[\"k\"]}"), "routing[0].arm: empty arm"},
    {ROUTING("{\"parent\":\"k\",\"arm\":{\"TILE\":\"f4\"},\"children\":[\"k\"]}"),
     "routing[0].arm.TILE: \"f4\" is a schedule value"},
    {ROUTING("{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g2k\"},\"children\":[]}"), "routing[0].children: "},
    {ROUTING("{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g2k\"},\"children\":[\"k\",\"p\"]}"),
     "routing[0].children[1]: \"p\" is no kernel"},
    {ROUTING("{\"parent\":\"k\",\"arm\":{\"REDUCE\":\"g2k\"},\"children\":[3]}"), "routing[0].children[0]: "},
    {ROUTING("{\"parent\":\"k\",\"children\":[\"k\"]}"), "routing[0]: the member \"arm\" is missing"},
  };
  char *ir = pointwise_ir("exp");
  for (size_t i = 0; i < N_OF(cases); i++) {
    char *text = golden_text(ir, cases[i].more, "");
    refused(text, cases[i].expected);
    em_free(text);
  }
  em_free(ir);
}

static void a_bad_kernel_is_named(void **state)
{
  (void)state;
#define PROGRAM "\"programs\":[{\"nodes\":[{\"id\":\"y\"}]}],"
  static const struct {
    const char *head, *kernel, *expected;
  } cases[] = {
    {"", "{\"loop_ir\":%s,\"formed\":true}", "kernels[0]: the member \"name\" is missing"},
    {"", "{\"loop_ir\":%s,\"name\":\"\",\"formed\":true}", "kernels[0].name: "},
    {"", "{\"loop_ir\":%s,\"name\":\"k\"}", "kernels[0]: the member \"formed\" is missing"},
    {"", "{\"loop_ir\":{},\"name\":\"k\",\"formed\":true,\"x\":%s}", "kernels[0]: found the unknown member \"x\""},
    {"", "{\"loop_ir\":{\"a\":%s},\"name\":\"k\",\"formed\":true}", "kernels[0].loop_ir"},
    {"", "{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"traced\":0}", "kernels[0].traced: "},
    {PROGRAM, "{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"origins\":[\"y\"]}", "kernels[0]: origins need traced"},
    {PROGRAM, "{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"traced\":0,\"origins\":[\"y\",\"z\"]}",
     "kernels[0].origins[1]: programs[0] has no node \"z\""},
    {"", "{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"exact_identity\":\"12\"}", "kernels[0].exact_identity: "},
  };
  char *ir = pointwise_ir("exp");
  for (size_t i = 0; i < N_OF(cases); i++) {
    char *format = text_of("{%s\"compute_cap\":[8,9],\"kernels\":[%s]}", cases[i].head, cases[i].kernel);
    char *hole = strstr(format, "%s");
    char *text = text_of("%.*s%s%s", (int)(hole - format), format, ir, hole + 2);
    refused(text, cases[i].expected);
    em_free(text);
    em_free(format);
  }
  char *twice = text_of("{\"compute_cap\":[8,9],\"kernels\":[{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true},"
                        "{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true}]}",
                        ir, ir);
  refused(twice, "kernels[1]: a second kernel is called \"k\"; give it a key such as \"k#2\"");
  em_free(twice);
  em_free(ir);
}

static void a_bad_file_is_named(void **state)
{
  (void)state;
  refused("[]", "expected a golden file");
  refused("{}", "the member \"compute_cap\" is missing");
  refused("{\"compute_cap\":[8]}", "compute_cap: expected [major, minor]");
  refused("{\"compute_cap\":[8,\"9\"]}", "compute_cap[1]: ");
  refused("{\"gpu_name\":\"" CARD "\",\"compute_cap\":[9,0]}",
          "compute_cap: found [9, 0], but " CARD " has compute capability [8, 9]");
  refused("version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS pointer");
  refused("{\"compute_cap\":[8,9],\n \"rows\": [\n  {\"name\":\"a\"", "line 3");
  refused("", "line 1");
}

static void control_characters_are_kept_and_reach_no_message(void **state)
{
  (void)state;
  char *ir = pointwise_ir("exp");
  char *good = golden_text(ir, "", "{\"name\":\"a\\u001b[2Jb\",\"kernel\":\"k\"}");
  em_golden *g = parsed(good);
  assert_string_equal(g->rows[0].name, "a\x1b[2Jb");
  em_golden_free(g);
  char *bad = golden_text(ir, "", "{\"name\":\"a\",\"kernel\":\"\\u001b[2J\"}");
  em_err err;
  assert_int_equal(em_golden_parse(bad, strlen(bad), "g.json", &g, &err), EM_E_INPUT);
  assert_null(strchr(err.msg, '\x1b'));
  em_free(bad);
  em_free(good);
  em_free(ir);
}

/* ---- the older form ----------------------------------------------------------------- */

#define HEX64(c) c c c c c c c c c c c c c c c c
#define ID_A     HEX64("00aa")
#define ID_B     HEX64("00bb")

static void the_older_form_is_rewritten(void **state)
{
  (void)state;
  em_err err;
  em_kernel *k;
  size_t n;
  assert_int_equal(
    em_kernel_build(&(em_build){.kind = "pointwise", .m = 16, .n = 24, .in = EM_F32, .op = "exp"}, &k, &err), EM_OK);
  em_str stamps = {0}, ir = {0};
  const em_stamp *s = em_kernel_stamps(k, &n);
  for (size_t i = 0; i < n; i++) em_str_printf(&stamps, "\"%s\":%.17g,", s[i].name, s[i].value);
  em_kernel_print(k, &ir);
  em_kernel_free(k);
  char *text = text_of(
    "{\"compute_cap\":[8,9],\"kernels\":["
    "{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"exact_identity\":\"" ID_A "\",\"structural_identity\":\"" ID_B
    "\","
    "\"stamps\":{%s\"S_warp_eligible\":1}},"
    "{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"exact_identity\":\"" ID_B "\",\"stamps\":{\"S_n_load\":99}},"
    "{\"loop_ir\":%s,\"name\":\"k\",\"formed\":true,\"exact_identity\":\"" HEX64(
      "00cc") "\"}],"
              "\"rows\":[{\"name\":\"r\",\"kernel\":\"" ID_B "\"},{\"name\":\"r\",\"kernel\":\"k\"}]}",
    ir.s, stamps.s, ir.s, ir.s);
  em_golden *g = parsed(text);
  assert_true(g->kernels[0].older_form && g->kernels[1].older_form);
  assert_false(g->kernels[0].drifted);
  assert_true(g->kernels[1].drifted);
  assert_string_equal(g->kernels[1].ref, "k#2");
  assert_string_equal(g->kernels[2].ref, "k#3");
  assert_int_equal(g->rows[0].kernel, 1);
  assert_int_equal(g->rows[1].kernel, 0);
  char *now = printed(g);
  assert_null(strstr(now, "exact_identity"));
  assert_non_null(strstr(now, "{\"name\":\"r\",\"kernel\":\"k#2\"}"));
  em_golden_free(g);
  g = parsed(now);
  assert_int_equal(g->rows[0].kernel, 1);
  em_golden_free(g);
  em_free(now);
  em_free(text);
  em_str_free(&stamps);
  em_str_free(&ir);
}

/* ---- building and writing --------------------------------------------------------------- */

static em_golden *built(void)
{
  em_golden *g;
  em_err err;
  size_t a, b, again;
  em_kernel *k[3];
  em_knobs knobs = {0}, arm = {0};
  assert_int_equal(em_golden_new(CARD, 8, 9, &g, &err), EM_OK);
  for (int i = 0; i < 3; i++) {
    em_build spec = {.kind = "pointwise", .m = i == 1 ? 32 : 16, .n = 24, .in = EM_F32, .op = "exp"};
    assert_int_equal(em_kernel_build(&spec, &k[i], &err), EM_OK);
  }
  assert_int_equal(em_golden_add_kernel(g, k[0], true, &a, &err), EM_OK);
  assert_int_equal(em_golden_add_kernel(g, k[1], true, &b, &err), EM_OK);
  assert_int_equal(em_golden_add_kernel(g, k[2], true, &again, &err), EM_OK);
  assert_int_equal(a, again);
  assert_int_equal(em_knobs_set(&arm, "REDUCE", "g2a", &err), EM_OK);
  assert_int_equal(em_golden_put_routing(g, a, &arm, &b, 1, &err), EM_OK);
  assert_int_equal(em_golden_put_routing(g, a, &arm, (size_t[]){b, a}, 2, &err), EM_OK);
  assert_int_equal(em_knobs_set(&knobs, "WORK", "", &err), EM_OK);
  assert_int_equal(em_knobs_set(&knobs, "RASTER", "", &err), EM_OK);
  em_golden_row row = {.name = "r",
                       .kernel = b,
                       .has_knobs = true,
                       .knobs = knobs,
                       .measured = true,
                       .us = 2,
                       .reference_us = NAN,
                       .tried = -1};
  assert_int_equal(em_golden_add_row(g, &row, &err), EM_OK);
  row.us = 0;
  assert_int_equal(em_golden_add_row(g, &row, &err), EM_E_INPUT);
  row.us = 1;
  assert_int_equal(em_knobs_set(&row.knobs, "TILE", "f04", &err), EM_OK); /* not canonical */
  assert_int_equal(em_golden_add_row(g, &row, &err), EM_E_INPUT);
  knobs = row.knobs;
  row.knobs = arm;
  assert_int_equal(em_golden_add_row(g, &row, &err), EM_E_INPUT);
  row.has_knobs = row.measured = false, row.kernel = 2;
  assert_int_equal(em_golden_add_row(g, &row, &err), EM_E_INPUT);
  em_knobs_free(&knobs);
  em_knobs_free(&arm);
  return g;
}

static void a_built_file_reads_back(void **state)
{
  (void)state;
  em_err err;
  em_golden *g = built(), *h;
  assert_int_equal(g->n_routing, 1);
  assert_int_equal(g->routing[0].n_children, 2);
  assert_int_equal(em_golden_write(g, in_scratch("g.json"), &err), EM_OK);
  if (em_golden_read(in_scratch("g.json"), &h, &err)) fail_msg("%s", err.msg);
  char *a = printed(g), *b = printed(h);
  assert_string_equal(a, b);
  assert_file_is(in_scratch("g.json"), a);
  em_free(a);
  em_free(b);
  em_golden_free(h);
  em_golden_free(g);
}

static int parse_only(const char *text, em_golden **g, em_err *err)
{
  return em_golden_parse(text, strlen(text), "g.json", g, err);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  em_golden *g = NULL;
  em_err err;
  em_golden *made = built();
  char *text = printed(made);
  em_golden_free(made);
  ASSERT_SURVIVES_NOMEM(parse_only(text, &g, &err), em_golden_free(g));
  g = parsed(text);
  ASSERT_SURVIVES_NOMEM(em_golden_write(g, in_scratch("g.json"), &err), (void)0);
  em_golden_free(g);
  em_free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_published_file_prints_as_it_is),
    cmocka_unit_test(every_field_survives),
    cmocka_unit_test(layout_and_defaults_are_made_canonical),
    cmocka_unit_test(a_bad_row_is_named),
    cmocka_unit_test(a_bad_header_or_table_is_named),
    cmocka_unit_test(a_bad_kernel_is_named),
    cmocka_unit_test(a_bad_file_is_named),
    cmocka_unit_test(control_characters_are_kept_and_reach_no_message),
    cmocka_unit_test(the_older_form_is_rewritten),
    cmocka_unit_test_setup_teardown(a_built_file_reads_back, scratch_setup, scratch_teardown),
    cmocka_unit_test_setup_teardown(memory_may_run_out, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
