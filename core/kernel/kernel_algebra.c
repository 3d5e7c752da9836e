/* kernel_algebra.c - what can be said about index expressions: value, form, dependence. */

#include "core/kernel/kernel_int.h"

bool kx_expr_equal(const kx_expr *a, const kx_expr *b)
{
  if (a->kind != b->kind || a->op != b->op || a->n_args != b->n_args || a->i != b->i || a->axis != b->axis ||
      a->value != b->value || a->sym != b->sym || a->f != b->f)
    return false;
  for (size_t i = 0; i < a->n_args; i++)
    if (!kx_expr_equal(a->args[i], b->args[i])) return false;
  return true;
}

uint32_t kx_expr_mask(const kx_expr *e, uint32_t gather)
{
  if (e->axis) return e->axis->mask;
  if (e->value) return e->value->mask | gather;
  uint32_t mask = 0;
  for (size_t i = 0; i < e->n_args; i++) mask |= kx_expr_mask(e->args[i], gather);
  return mask;
}

static const char *const too_big = "does not fit in 64 bits";

/* Division rounds down and the remainder has the divisor's sign. */
static const char *divide(int64_t a, int64_t b, int64_t *quot, int64_t *rem)
{
  if (b == 0) return "divides by zero";
  if (a == INT64_MIN && b == -1) return too_big;
  *quot = a / b;
  *rem = a % b;
  if (*rem && (*rem < 0) != (b < 0)) {
    *quot -= 1;
    *rem += b;
  }
  return NULL;
}

static const char *shift(kx_binary op, int64_t a, int64_t b, int64_t *out)
{
  if (b < 0 || b > 62) return "shifts by a count outside 0..62";
  if (op == KX_SHL) return __builtin_mul_overflow(a, (int64_t)1 << b, out) ? too_big : NULL;
  int64_t rem;
  return divide(a, (int64_t)1 << b, out, &rem);
}

static const char *binary(kx_binary op, int64_t a, int64_t b, int64_t *out)
{
  int64_t quot, rem;
  const char *why;
  switch (op) {
  case KX_ADD: return __builtin_add_overflow(a, b, out) ? too_big : NULL;
  case KX_SUB: return __builtin_sub_overflow(a, b, out) ? too_big : NULL;
  case KX_MUL: return __builtin_mul_overflow(a, b, out) ? too_big : NULL;
  case KX_DIV:
  case KX_MOD:
    if ((why = divide(a, b, &quot, &rem))) return why;
    *out = op == KX_DIV ? quot : rem;
    return NULL;
  case KX_SHL:
  case KX_SHR: return shift(op, a, b, out);
  case KX_OR: *out = a || b; break;
  case KX_AND: *out = a && b; break;
  case KX_EQ: *out = a == b; break;
  case KX_NE: *out = a != b; break;
  case KX_LE: *out = a <= b; break;
  case KX_GE: *out = a >= b; break;
  case KX_LT: *out = a < b; break;
  case KX_GT: *out = a > b; break;
  case KX_BAND: *out = a & b; break;
  case KX_BOR: *out = a | b; break;
  case KX_XOR: *out = a ^ b; break;
  case KX_N_BINARY: break;
  }
  return NULL;
}

static const char *call(const kx_expr *e, kx_size_fn size, void *ctx, int64_t *out)
{
  if (e->op >= KX_N_INT_FUNCS) return "is not an integer";
  const char *why = kx_expr_eval(e->args[0], size, ctx, out);
  for (size_t i = 1; !why && i < e->n_args; i++) {
    int64_t next = 0;
    why = kx_expr_eval(e->args[i], size, ctx, &next);
    if (e->op == KX_MIN ? next < *out : next > *out) *out = next;
  }
  if (!why && e->op == KX_ABS && *out < 0) why = binary(KX_SUB, 0, *out, out);
  return why;
}

const char *kx_expr_eval(const kx_expr *e, kx_size_fn size, void *ctx, int64_t *out)
{
  int64_t a = 0, b = 0;
  const char *why;
  switch (e->kind) {
  case KX_X_INT:
  case KX_X_BOOL: *out = e->i; return NULL;
  case KX_X_NAME:
    if (!e->sym) return "is not made of sizes alone";
    *out = size(ctx, e->sym);
    return NULL;
  case KX_X_BINARY:
    if ((why = kx_expr_eval(e->args[0], size, ctx, &a)) || (why = kx_expr_eval(e->args[1], size, ctx, &b))) return why;
    return binary((kx_binary)e->op, a, b, out);
  case KX_X_COND:
    if ((why = kx_expr_eval(e->args[0], size, ctx, &a))) return why;
    return kx_expr_eval(e->args[a ? 1 : 2], size, ctx, out);
  case KX_X_CALL: return call(e, size, ctx, out);
  case KX_X_FLOAT:
  case KX_X_CAST: break;
  }
  return "is not an integer";
}

/* A product is linear when one side is a literal or has no part of the axis at all. */
static bool product_linear(const kx_expr *e, int64_t a, int64_t b, int64_t *coef)
{
  const kx_expr *lit = e->args[0]->kind == KX_X_INT ? e->args[0] : e->args[1];
  if (!a && !b) {
    *coef = 0;
    return true;
  }
  return lit->kind == KX_X_INT && !__builtin_mul_overflow(a + b, lit->i, coef);
}

bool kx_expr_linear(const kx_expr *e, const kx_axis *axis, int64_t *coef)
{
  int64_t a, b;
  *coef = 0;
  if (e->kind == KX_X_NAME) {
    *coef = e->axis == axis;
    return !e->value || !(e->value->mask & axis->mask);
  }
  bool sum = e->kind == KX_X_BINARY && (e->op == KX_ADD || e->op == KX_SUB);
  bool product = e->kind == KX_X_BINARY && e->op == KX_MUL;
  if (!sum && !product) return !(kx_expr_mask(e, 0) & axis->mask);
  if (!kx_expr_linear(e->args[0], axis, &a) || !kx_expr_linear(e->args[1], axis, &b)) return false;
  if (product) return product_linear(e, a, b, coef);
  return e->op == KX_ADD ? !__builtin_add_overflow(a, b, coef) : !__builtin_sub_overflow(a, b, coef);
}
