/* cell.c - values of a view's cells: setting, ordering, showing. */
#include <math.h>
#include <string.h>

#include "views/views.h"

void em_cell_text(em_cell *c, const char *s)
{
  c->type = EM_TEXT;
  c->state = s ? EM_CELL_VALUE : EM_CELL_MISSING;
  c->s = s;
}

void em_cell_printf(em_cell *c, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(c->buf, sizeof c->buf, fmt, ap);
  va_end(ap);
  em_cell_text(c, c->buf);
}

void em_cell_int(em_cell *c, int64_t v)
{
  c->type = EM_INT;
  c->state = EM_CELL_VALUE;
  c->i = v;
}

void em_cell_real(em_cell *c, double v)
{
  c->type = EM_REAL;
  c->state = isnan(v) ? EM_CELL_MISSING : EM_CELL_VALUE;
  c->f = v;
}

void em_cell_flag(em_cell *c, bool v)
{
  c->type = EM_FLAG;
  c->state = EM_CELL_VALUE;
  c->i = v;
}

void em_cell_missing(em_cell *c)
{
  c->type = EM_TEXT;
  c->state = EM_CELL_MISSING;
}

void em_cell_unused(em_cell *c)
{
  c->type = EM_TEXT;
  c->state = EM_CELL_UNUSED;
}

/* Missing cells sort behind all others, whatever the direction of the values. */
static int state_rank(em_cell_state s) { return s == EM_CELL_UNUSED ? 0 : s == EM_CELL_VALUE ? 1 : 2; }

static double number_of(const em_cell *c) { return c->type == EM_REAL ? c->f : (double)c->i; }

int em_cell_compare(const em_cell *a, const em_cell *b)
{
  if (a->state != b->state) return state_rank(a->state) - state_rank(b->state);
  if (a->state != EM_CELL_VALUE) return 0;
  if (a->type == EM_TEXT || b->type == EM_TEXT) {
    if (a->type != b->type) return a->type == EM_TEXT ? 1 : -1;
    return strcmp(a->s, b->s);
  }
  if (a->type != EM_REAL && b->type != EM_REAL) return (a->i > b->i) - (a->i < b->i);
  double x = number_of(a), y = number_of(b);
  return (x > y) - (x < y);
}

/* 41208 -> "41,208": counts are read in groups of three. */
static void put_grouped(em_str *out, int64_t v)
{
  char digits[24];
  int n = snprintf(digits, sizeof digits, "%lld", (long long)v);
  int first = digits[0] == '-' ? 1 : 0;
  for (int i = 0; i < n; i++) {
    if (i > first && (n - i) % 3 == 0) em_str_putc(out, ',');
    em_str_putc(out, digits[i]);
  }
}

static void put_real(const em_view_column *col, double v, em_str *out)
{
  if (!isfinite(v))
    em_str_put(out, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
  else if (col->digits >= 0)
    em_str_printf(out, "%.*f", col->digits, v);
  else if (v == floor(v) && fabs(v) < 1e15)
    em_str_printf(out, "%.0f", v);
  else
    em_str_printf(out, "%.*g", fabs(v) >= 1e-3 && fabs(v) < 1e7 ? 6 : 4, v);
}

void em_cell_display(const em_view_column *col, const em_cell *c, bool ascii, em_str *out)
{
  if (c->state == EM_CELL_MISSING) {
    em_str_put(out, ascii ? "." : "\u00b7");
  } else if (c->state == EM_CELL_UNUSED) {
    em_str_putc(out, '-');
  } else if (c->type == EM_TEXT) {
    em_str_put_safe(out, c->s);
  } else if (c->type == EM_REAL) {
    put_real(col, c->f, out);
  } else if (c->type == EM_FLAG) {
    em_str_put(out, c->i ? "yes" : "no");
  } else if (strcmp(col->unit, "rank") == 0) {
    em_str_printf(out, "#%lld", (long long)c->i);
  } else {
    put_grouped(out, c->i);
  }
}
