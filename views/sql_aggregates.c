/* sql_aggregates.c - median, quantile, geomean, spearman, topk. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "views/sql_int.h"

/* What an aggregate has seen so far; SQLite zeroes it. */
typedef struct samples {
  em_xy *items;
  size_t n, cap;
  double sum;    /* geomean: of logarithms */
  size_t within; /* topk */
  double p;      /* quantile */
  bool failed;
} samples;

static void fail(sqlite3_context *ctx, samples *s, const char *message)
{
  s->failed = true;
  if (message)
    sqlite3_result_error(ctx, message, -1);
  else
    sqlite3_result_error_nomem(ctx);
}

/* The aggregate's memory when this row counts: all its arguments are numbers. */
static samples *counted(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  for (int i = 0; i < argc; i++) {
    int type = sqlite3_value_numeric_type(argv[i]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return NULL;
  }
  samples *s = sqlite3_aggregate_context(ctx, sizeof *s);
  if (!s) sqlite3_result_error_nomem(ctx);
  return s && !s->failed ? s : NULL;
}

static void add(sqlite3_context *ctx, samples *s, double x, double y)
{
  em_err err;
  if (em_grow(&s->items, &s->cap, s->n + 1, sizeof *s->items, &err) != EM_OK)
    fail(ctx, s, NULL);
  else
    s->items[s->n++] = (em_xy){x, y};
}

/* NULL when nothing counted, or it failed before. */
static samples *seen(sqlite3_context *ctx)
{
  samples *s = sqlite3_aggregate_context(ctx, 0);
  return s && s->n && !s->failed ? s : NULL;
}

static void release(sqlite3_context *ctx)
{
  samples *s = sqlite3_aggregate_context(ctx, 0);
  if (s) em_free(s->items);
}

static int by_x(const void *a, const void *b)
{
  const em_xy *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

/* ---- quantiles ---- */

static void quantile_result(sqlite3_context *ctx, samples *s, double p)
{
  qsort(s->items, s->n, sizeof *s->items, by_x);
  double place = p * (double)(s->n - 1);
  size_t at = (size_t)place;
  double low = s->items[at].x, high = s->items[at + 1 < s->n ? at + 1 : at].x, part = place - (double)at;
  sqlite3_result_double(ctx, part == 0 ? low : low * (1 - part) + high * part);
}

static void median_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  samples *s = counted(ctx, argc, argv);
  if (s) add(ctx, s, sqlite3_value_double(argv[0]), 0);
}

static void median_final(sqlite3_context *ctx)
{
  samples *s = seen(ctx);
  if (s) quantile_result(ctx, s, 0.5);
  release(ctx);
}

static void quantile_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  samples *s = counted(ctx, argc, argv);
  if (!s) return;
  s->p = sqlite3_value_double(argv[1]);
  if (!(s->p >= 0 && s->p <= 1))
    fail(ctx, s, "quantile: p lies outside 0 to 1");
  else
    add(ctx, s, sqlite3_value_double(argv[0]), 0);
}

static void quantile_final(sqlite3_context *ctx)
{
  samples *s = seen(ctx);
  if (s) quantile_result(ctx, s, s->p);
  release(ctx);
}

/* ---- means and shares ---- */

static void geomean_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  samples *s = counted(ctx, argc, argv);
  if (!s) return;
  double x = sqlite3_value_double(argv[0]);
  s->n++;
  if (x > 0)
    s->sum += log(x);
  else
    fail(ctx, s, "geomean: a number is not positive");
}

static void geomean_final(sqlite3_context *ctx)
{
  samples *s = seen(ctx);
  if (s) sqlite3_result_double(ctx, exp(s->sum / (double)s->n));
}

static void topk_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  samples *s = counted(ctx, argc, argv);
  if (!s) return;
  s->n++;
  s->within += sqlite3_value_double(argv[0]) <= sqlite3_value_double(argv[1]);
}

static void topk_final(sqlite3_context *ctx)
{
  samples *s = seen(ctx);
  if (s) sqlite3_result_double(ctx, (double)s->within / (double)s->n);
}

/* ---- rank correlation ---- */

static void spearman_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
  samples *s = counted(ctx, argc, argv);
  if (s) add(ctx, s, sqlite3_value_double(argv[0]), sqlite3_value_double(argv[1]));
}

static void spearman_final(sqlite3_context *ctx)
{
  samples *s = seen(ctx);
  double rho = s ? em_spearman(s->items, s->n) : (double)NAN;
  if (!isnan(rho)) sqlite3_result_double(ctx, rho);
  release(ctx);
}

const sql_aggregate em_sql_aggregates[] = {
  {"median", median_step, median_final},    {"quantile", quantile_step, quantile_final},
  {"geomean", geomean_step, geomean_final}, {"spearman", spearman_step, spearman_final},
  {"topk", topk_step, topk_final},          {NULL, NULL, NULL}};
