/* kernel_text.h - short texts to whole kernels, for the tests of core/kernel. */
#ifndef EM_TESTS_KERNEL_TEXT_H
#define EM_TESTS_KERNEL_TEXT_H

#include "tests/unit/unit.h"

#include "core/kernel/kernel.h"

/* A graph of inputs x (f32[64,64]) and i (i32[64]), output y (f32[64,64]) and
 * output z (f32[64]); the body follows. */
#define GRAPH_HEAD                                                                                                     \
  "{\"inputs\":[\"x\",\"i\"],\"outputs\":[\"y\"],\"nodes\":["                                                          \
  "{\"id\":\"x\",\"op\":\"input\",\"outputs\":[[\"x\",\"f32\",[64,64]]]},"                                             \
  "{\"id\":\"i\",\"op\":\"input\",\"outputs\":[[\"i\",\"i32\",[64]]]},"                                                \
  "{\"id\":\"y\",\"op\":\"loop\",\"attrs\":{\"body\":["
#define GRAPH_TAIL                                                                                                     \
  "],\"name\":\"k_test\"},\"inputs\":[\"x\",\"i\"],\"outputs\":[[\"y\",\"f32\",[64,64]],[\"z\",\"f32\",[64]]]}]}"
#define GRAPH(body) GRAPH_HEAD body GRAPH_TAIL

#define LOOP(name, extent, body)                                                                                       \
  "{\"Loop\":{\"axis\":{\"name\":\"" name "\",\"extent\":" #extent "},\"body\":[" body "]}}"
#define LOAD(name, input, index) "{\"Load\":{\"names\":[\"" name "\"],\"input\":\"" input "\",\"index\":[" index "]}}"
#define ASSIGN(name, op, args)   "{\"Assign\":{\"name\":\"" name "\",\"op\":\"" op "\",\"args\":[" args "]}}"
#define ACCUM(name, value, axis) "{\"Accum\":{\"name\":\"" name "\",\"value\":\"" value "\",\"axes\":[\"" axis "\"]}}"
#define WRITE(output, index, value)                                                                                    \
  "{\"Write\":{\"output\":\"" output "\",\"index\":[" index "],\"values\":[\"" value "\"]}}"

static inline em_kernel *kernel_of(const char *text)
{
  em_kernel *k = NULL;
  em_err err;
  if (em_kernel_parse_text(text, strlen(text), NULL, "test", &k, &err)) fail_msg("%s\n%s", err.msg, text);
  return k;
}

/* Takes the text of a kernel and frees the kernel. */
static inline char *text_of(em_kernel *k)
{
  em_str out = {0};
  em_err err;
  char *text;
  em_kernel_print(k, &out);
  assert_int_equal(em_str_take(&out, &text, &err), EM_OK);
  em_kernel_free(k);
  return text;
}

static inline em_digest identity_of(const char *text)
{
  em_kernel *k = kernel_of(text);
  em_digest d = em_kernel_identity(k);
  em_kernel_free(k);
  return d;
}

static inline em_kernel *build_of(em_build spec)
{
  em_kernel *k = NULL;
  em_err err;
  if (em_kernel_build(&spec, &k, &err)) fail_msg("%s", err.msg);
  return k;
}

/* `text` with each `from` replaced by `to`; free with em_free. */
static inline char *replaced(const char *text, const char *from, const char *to)
{
  em_str out = {0};
  em_err err;
  char *result;
  for (const char *p; (p = strstr(text, from)); text = p + strlen(from)) {
    em_str_putn(&out, text, (size_t)(p - text));
    em_str_put(&out, to);
  }
  em_str_put(&out, text);
  assert_int_equal(em_str_take(&out, &result, &err), EM_OK);
  return result;
}

#endif
