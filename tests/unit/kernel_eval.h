/* kernel_eval.h - runs a small kernel as its statements say, in double. */
#ifndef EM_TESTS_KERNEL_EVAL_H
#define EM_TESTS_KERNEL_EVAL_H

#include <math.h>

#include "core/kernel/kernel_int.h"
#include "tests/unit/kernel_text.h"

#define EVAL_BUFFERS 8
#define EVAL_SIZE    4096

typedef struct eval_buffer {
  const char *name;
  double data[EVAL_SIZE];
} eval_buffer;

/* Buffers are found by name, so that kernels run one after another share them. */
typedef struct eval_env {
  eval_buffer buffers[EVAL_BUFFERS];
  int n;
  double value[64];
  int64_t axis[16];
} eval_env;

static inline double *eval_buffer_of(eval_env *e, const char *name)
{
  for (int i = 0; i < e->n; i++)
    if (!strcmp(e->buffers[i].name, name)) return e->buffers[i].data;
  assert_true(e->n < EVAL_BUFFERS);
  e->buffers[e->n].name = name;
  return e->buffers[e->n++].data;
}

static inline int64_t eval_index(const eval_env *e, const kx_expr *x)
{
  if (x->kind == KX_X_INT) return x->i;
  if (x->axis) return e->axis[x->axis->num];
  assert_int_equal(x->kind, KX_X_BINARY);
  int64_t a = eval_index(e, x->args[0]), b = eval_index(e, x->args[1]);
  switch (x->op) {
  case KX_ADD: return a + b;
  case KX_MUL: return a * b;
  default: fail_msg("operator %d is not evaluated", x->op); return 0;
  }
}

static inline double *eval_place(eval_env *e, const kx_stmt *s)
{
  int64_t at = 0;
  for (int i = 0; i < s->buffer->rank; i++) {
    int64_t index = eval_index(e, s->index.items[i]);
    assert_in_range(index, 0, s->buffer->shape[i].hint - 1);
    at = at * s->buffer->shape[i].hint + index;
  }
  assert_in_range(at, 0, EVAL_SIZE - 1);
  return &eval_buffer_of(e, s->buffer->name)[at];
}

static inline double eval_op(const char *op, double x, double y)
{
  if (!strcmp(op, "add")) return x + y;
  if (!strcmp(op, "subtract")) return x - y;
  if (!strcmp(op, "multiply")) return x * y;
  if (!strcmp(op, "divide")) return x / y;
  if (!strcmp(op, "maximum")) return fmax(x, y);
  if (!strcmp(op, "square")) return x * x;
  if (!strcmp(op, "exp")) return exp(x);
  if (!strcmp(op, "rsqrt")) return 1 / sqrt(x);
  if (!strcmp(op, "relu")) return fmax(x, 0);
  if (!strcmp(op, "silu")) return x / (1 + exp(-x));
  if (!strcmp(op, "gelu")) return 0.5 * x * (1 + erf(x / sqrt(2)));
  fail_msg("operator %s is not evaluated", op);
  return 0;
}

static inline void eval_body(eval_env *e, const kx_body *b)
{
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    double arg[2] = {0};
    for (size_t j = 0; j < s->uses.n && j < 2; j++) arg[j] = e->value[s->uses.items[j].value->num];
    double none, *def = s->defs.n ? &e->value[s->defs.items[0].value->num] : &none;
    switch (s->tag) {
    case KX_S_LOAD: *def = *eval_place(e, s); break;
    case KX_S_ASSIGN: *def = eval_op(s->op, arg[0], arg[1]); break;
    case KX_S_ACCUM: *def = eval_op(s->op, *def, arg[0]); break;
    case KX_S_WRITE: *eval_place(e, s) = arg[0] + (s->flag ? *eval_place(e, s) : 0); break;
    case KX_S_LOOP:
      for (const kx_stmt *seed = s->seeds; seed; seed = seed->next_seed)
        e->value[seed->defs.items[0].value->num] = !strcmp(seed->op, "maximum") ? -1e30 : 0;
      for (e->axis[s->axis->num] = 0; e->axis[s->axis->num] < s->axis->extent.hint; e->axis[s->axis->num]++)
        eval_body(e, &s->body);
      break;
    default: fail_msg("statement %d is not evaluated", s->tag);
    }
  }
}

/* Runs `k`; constants get their values, outputs start at 0. */
static inline void eval_kernel(eval_env *e, const em_kernel *k)
{
  for (size_t i = 0; i < k->n_nodes; i++)
    if (k->nodes[i].value) assert_true(em_parse_f64(k->nodes[i].value, eval_buffer_of(e, k->nodes[i].outputs[0].name)));
  for (size_t i = 0; i < k->loop->n_outputs; i++)
    memset(eval_buffer_of(e, k->loop->outputs[i].name), 0, sizeof e->buffers[0].data);
  assert_true(k->n_values <= 64 && k->n_axes <= 16);
  eval_body(e, &k->body);
}

/* Small numbers that differ from place to place. */
static inline void eval_fill(eval_env *e, const char *name)
{
  double *data = eval_buffer_of(e, name);
  for (int i = 0; i < EVAL_SIZE; i++) data[i] = (double)(em_rng_below(7, (uint64_t)name[1], (uint64_t)i, 17)) / 4 - 2;
}

#endif
