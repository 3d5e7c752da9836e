/* kernel_stamp.c - the structure stamps (S_ features), counted over the whole body. */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

/* The fixed stamps: present in every kernel, 0 when nothing is counted. */
#define FIXED(X)                                                                                                       \
  X(N_LOAD, "S_n_load")                                                                                                \
  X(N_WRITE, "S_n_write") X(N_ACCUM, "S_n_accum") X(N_COND, "S_n_cond") X(N_ASSIGN, "S_n_assign")                      \
    X(N_INPUT, "S_n_distinct_input") X(N_LOOP, "S_n_loop") X(N_REDUCE, "S_n_reduce_loop") X(N_FREE, "S_n_free_loop")   \
      X(DEPTH, "S_loop_depth") X(FREE_AXES, "S_ext_n_free_axis") X(REDUCE_AXES, "S_ext_n_reduce_axis")                 \
        X(FREE_PROD, "S_ext_free_prod") X(REDUCE_PROD, "S_ext_reduce_prod") X(FREE_MAX, "S_ext_free_max")              \
          X(REDUCE_MAX, "S_ext_reduce_max") X(SYMBOLIC, "S_ext_n_symbolic_axis")                                       \
            X(CELL_WORK, "S_ext_serial_cell_work")
#define FIXED_ENUM(id, name) F_##id,
enum { FIXED(FIXED_ENUM) N_FIXED };
#undef FIXED_ENUM
#define FIXED_NAME(id, name) name,
static const char *const fixed_names[] = {FIXED(FIXED_NAME)};
#undef FIXED_NAME

/* A stamp that is present only when something is counted: per operator or dtype. */
typedef struct counter {
  const char *prefix, *what;
  double n;
} counter;

typedef struct census {
  double fixed[N_FIXED];
  counter *counters;
  size_t n, cap;
  em_err *err;
} census;

static double times(double a, double b)
{
  double p = a * b;
  return isfinite(p) ? p : DBL_MAX;
}

static int count(census *c, const char *prefix, const char *what)
{
  for (size_t i = 0; i < c->n; i++)
    if (!strcmp(c->counters[i].prefix, prefix) && !strcmp(c->counters[i].what, what)) {
      c->counters[i].n++;
      return EM_OK;
    }
  int rc = em_grow(&c->counters, &c->cap, c->n + 1, sizeof *c->counters, c->err);
  if (!rc) c->counters[c->n++] = (counter){prefix, what, 1};
  return rc;
}

/* Only what stands directly in the loop decides. */
static bool is_reduce(const kx_stmt *loop)
{
  for (size_t i = 0; i < loop->body.n; i++)
    if (loop->body.items[i].tag == KX_S_ACCUM) return true;
  return false;
}

static void count_loop(census *c, const kx_stmt *s)
{
  bool reduce = is_reduce(s);
  double extent = (double)s->axis->extent.size;
  c->fixed[F_N_LOOP]++;
  c->fixed[reduce ? F_N_REDUCE : F_N_FREE]++;
  if (s->axis->extent.expr) {
    c->fixed[F_SYMBOLIC]++;
    return;
  }
  double *prod = &c->fixed[reduce ? F_REDUCE_PROD : F_FREE_PROD], *max = &c->fixed[reduce ? F_REDUCE_MAX : F_FREE_MAX];
  c->fixed[reduce ? F_REDUCE_AXES : F_FREE_AXES]++;
  *prod = times(*prod, extent);
  *max = extent > *max ? extent : *max;
}

static int count_stmt(census *c, const kx_stmt *s)
{
  int rc;
  switch (s->tag) {
  case KX_S_LOAD: c->fixed[F_N_LOAD]++; return count(c, "S_dtype_", em_dtype_name(s->buffer->dtype));
  case KX_S_ASSIGN: c->fixed[F_N_ASSIGN]++; return count(c, "S_pw_", s->op);
  case KX_S_ACCUM:
    c->fixed[F_N_ACCUM]++;
    if ((rc = count(c, "S_reduce_", s->op))) return rc;
    break;
  case KX_S_WRITE: c->fixed[F_N_WRITE]++; break;
  case KX_S_COND: c->fixed[F_N_COND]++; break;
  case KX_S_LOOP: count_loop(c, s); break;
  default: break;
  }
  return EM_OK;
}

static int count_body(census *c, const kx_body *b, int depth)
{
  int rc = EM_OK;
  if (depth > c->fixed[F_DEPTH]) c->fixed[F_DEPTH] = depth;
  for (size_t i = 0; !rc && i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    if ((rc = count_stmt(c, s)) || (rc = count_body(c, &s->body, depth + (s->tag == KX_S_LOOP)))) return rc;
    rc = count_body(c, &s->orelse, depth);
  }
  return rc;
}

/* What one output cell does one after another: nested reduces multiply, siblings take the largest. */
static double cell_work(const kx_body *b)
{
  double most = 1;
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    double own = s->tag == KX_S_LOOP && !s->axis->extent.expr && is_reduce(s) ? (double)s->axis->extent.size : 1;
    most = fmax(most, fmax(times(own, cell_work(&s->body)), cell_work(&s->orelse)));
  }
  return most;
}

static void mark_loaded(const kx_body *b, double *n)
{
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    if (s->tag == KX_S_LOAD && s->buffer->num < 0) {
      s->buffer->num = 0;
      (*n)++;
    }
    mark_loaded(&s->body, n);
    mark_loaded(&s->orelse, n);
  }
}

/* Buffers are numbered only later (identity), so the number serves as the mark here. */
static double distinct_inputs(em_kernel *k)
{
  double n = 0;
  mark_loaded(&k->body, &n);
  for (size_t i = 0; i < k->n_nodes; i++)
    for (size_t j = 0; j < k->nodes[i].n_outputs; j++) k->nodes[i].outputs[j].num = -1;
  return n;
}

static int by_name(const void *a, const void *b)
{
  return strcmp(((const em_stamp *)a)->name, ((const em_stamp *)b)->name);
}

static int keep_stamps(em_kernel *k, const census *c)
{
  k->stamps = em_arena_alloc(k->arena, N_FIXED + c->n, sizeof *k->stamps);
  if (!k->stamps) return em_fail_nomem(c->err);
  for (size_t i = 0; i < N_FIXED; i++) k->stamps[i] = (em_stamp){fixed_names[i], c->fixed[i]};
  for (size_t i = 0; i < c->n; i++) {
    size_t len = strlen(c->counters[i].prefix) + strlen(c->counters[i].what) + 1;
    char *name = em_arena_alloc(k->arena, len, 1);
    if (!name) return em_fail_nomem(c->err);
    snprintf(name, len, "%s%s", c->counters[i].prefix, c->counters[i].what);
    k->stamps[N_FIXED + i] = (em_stamp){name, c->counters[i].n};
  }
  k->n_stamps = N_FIXED + c->n;
  qsort(k->stamps, k->n_stamps, sizeof *k->stamps, by_name);
  return EM_OK;
}

int kx_stamp(em_kernel *k, em_err *err)
{
  census c = {.err = err};
  c.fixed[F_FREE_PROD] = c.fixed[F_REDUCE_PROD] = 1;
  c.fixed[F_N_INPUT] = distinct_inputs(k);
  c.fixed[F_CELL_WORK] = cell_work(&k->body);
  int rc = count_body(&c, &k->body, 0);
  if (!rc) rc = keep_stamps(k, &c);
  em_free(c.counters);
  return rc;
}

const em_stamp *em_kernel_stamps(const em_kernel *k, size_t *n)
{
  *n = k->n_stamps;
  return k->stamps;
}

double em_kernel_stamp(const em_kernel *k, const char *name)
{
  em_stamp key = {name, 0};
  const em_stamp *found = bsearch(&key, k->stamps, k->n_stamps, sizeof key, by_name);
  return found ? found->value : NAN;
}
