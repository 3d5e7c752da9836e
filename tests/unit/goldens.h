/* goldens.h - small golden files for tests, as text. */
#ifndef EM_TESTS_GOLDENS_H
#define EM_TESTS_GOLDENS_H

#include "tests/unit/unit.h"

#include "core/store/store.h"

#define CARD "NVIDIA GeForce RTX 4080"
#define CAP  "[8, 9]"

/* The Loop IR of a built kernel; freed by the caller. */
static inline char *loop_ir_of(const em_build *spec)
{
  em_kernel *k;
  em_str out = {0};
  em_err err;
  if (em_kernel_build(spec, &k, &err)) fail_msg("%s", err.msg);
  em_kernel_print(k, &out);
  em_kernel_free(k);
  return out.s;
}

static inline char *pointwise_ir(const char *op)
{
  return loop_ir_of(&(em_build){.kind = "pointwise", .m = 16, .n = 24, .in = EM_F32, .op = op});
}

static inline char *matmul_ir(void)
{
  return loop_ir_of(&(em_build){.kind = "matmul", .m = 64, .n = 64, .k = 64, .in = EM_F16});
}

static inline char *text_of(const char *fmt, ...) EM_PRINTF(1, 2);
static inline char *text_of(const char *fmt, ...)
{
  char *out = em_alloc(1 << 16);
  assert_non_null(out);
  va_list args;
  va_start(args, fmt);
  assert_true(vsnprintf(out, 1 << 16, fmt, args) < 1 << 16);
  va_end(args);
  return out;
}

/* A golden file of one kernel called "k", `rows` its rows, `more` further header keys. */
static inline char *golden_text(const char *loop_ir, const char *more, const char *rows)
{
  return text_of("{\"gpu_name\": \"" CARD "\",\n \"compute_cap\": " CAP ",%s\n \"kernels\": [\n"
                 "  {\"loop_ir\":%s,\"name\":\"k\",\"formed\":true}\n ],\n \"rows\": [\n%s\n ]}\n",
                 more, loop_ir, rows);
}

#define POINTWISE_ROW(name, us, tile)                                                                                  \
  "{\"name\":\"" name "\",\"kernel\":\"k\",\"knobs\":{\"WORK\":\"\",\"TILE\":\"" tile                                  \
  "\",\"RASTER\":\"\"},\"measurements\":{\"emmy_us\":" us "}}"

static inline em_golden *parsed(const char *text)
{
  em_golden *g;
  em_err err;
  if (em_golden_parse(text, strlen(text), "g.json", &g, &err)) fail_msg("%s", err.msg);
  return g;
}

static inline char *printed(const em_golden *g)
{
  em_str out = {0};
  em_err err;
  if (em_golden_print(g, &out, &err)) fail_msg("%s", err.msg);
  return out.s;
}

#endif
