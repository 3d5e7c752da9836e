/* writer.c - rows one after another as CSV, JSON, lines or Markdown; tables: writer_table.c. */
#include <math.h>
#include <string.h>

#include "views/writer_int.h"

void em_writer_flush(em_writer *w)
{
  w->failed |= w->line.failed;
  if (!w->failed && !w->stopped && w->line.len && w->put(w->ctx, w->line.s, w->line.len) != 0) w->stopped = true;
  em_str_clear(&w->line);
}

const char *em_writer_shown(em_writer *w, const em_cell *c)
{
  em_str_clear(&w->scratch);
  em_cell_display(&w->columns[w->at], c, w->r.ascii, &w->scratch);
  w->failed |= w->scratch.failed;
  return w->scratch.s ? w->scratch.s : "";
}

static void end_line(em_writer *w)
{
  em_str_putc(&w->line, '\n');
  em_writer_flush(w);
}

/* Exact values: numbers in the shortest form that reads back the same. */
static void put_number(em_str *out, const em_cell *c)
{
  char text[EM_DOUBLE_LEN];
  if (c->type == EM_REAL)
    em_str_put(out, em_double_repr(c->f, text));
  else
    em_str_printf(out, "%lld", (long long)c->i);
}

/* ---- CSV (RFC 4180 quoting, "\n" line ends) ---- */

static void put_csv_text(em_str *out, const char *s)
{
  if (!strpbrk(s, ",\"\n\r")) {
    em_str_put(out, s);
    return;
  }
  em_str_putc(out, '"');
  for (; *s; s++) {
    if (*s == '"') em_str_putc(out, '"');
    em_str_putc(out, *s);
  }
  em_str_putc(out, '"');
}

static void csv_begin(em_writer *w)
{
  if (w->r.bare) return;
  for (size_t i = 0; i < w->n; i++) {
    if (i) em_str_putc(&w->line, ',');
    put_csv_text(&w->line, w->columns[i].name);
  }
  end_line(w);
}

static void csv_cell(em_writer *w, const em_cell *c)
{
  if (w->at) em_str_putc(&w->line, ',');
  if (c->state != EM_CELL_VALUE) return;
  if (c->type == EM_TEXT)
    put_csv_text(&w->line, c->s);
  else if (c->type == EM_REAL && !isfinite(c->f))
    em_str_put(&w->line, c->f > 0 ? "inf" : "-inf");
  else
    put_number(&w->line, c);
}

static const format csv = {csv_begin, csv_cell, end_line, NULL};

/* ---- JSON: an array of objects, one a line ---- */

static void json_begin(em_writer *w) { em_str_putc(&w->line, '['); }

static void json_cell(em_writer *w, const em_cell *c)
{
  em_str *out = &w->line;
  if (w->at)
    em_str_putc(out, ',');
  else
    em_str_put(out, w->row ? ",\n {" : "\n {");
  em_str_put_json(out, w->columns[w->at].name);
  em_str_putc(out, ':');
  if (c->state == EM_CELL_UNUSED)
    em_str_put(out, "\"\"");
  else if (c->state == EM_CELL_MISSING || (c->type == EM_REAL && !isfinite(c->f)))
    em_str_put(out, "null");
  else if (c->type == EM_TEXT)
    em_str_put_json(out, c->s);
  else if (c->type == EM_FLAG)
    em_str_put(out, c->i ? "true" : "false");
  else
    put_number(out, c);
}

static void json_row(em_writer *w)
{
  em_str_putc(&w->line, '}');
  em_writer_flush(w);
}

static void json_end(em_writer *w)
{
  em_str_put(&w->line, w->row ? "\n]" : "]");
  end_line(w);
}

static const format json = {json_begin, json_cell, json_row, json_end};

/* ---- a line a cell, a blank line between rows ---- */

static void line_cell(em_writer *w, const em_cell *c)
{
  if (w->at == 0 && w->row) em_str_putc(&w->line, '\n');
  em_str_put_safe(&w->line, w->columns[w->at].name);
  em_str_printf(&w->line, " = %s\n", em_writer_shown(w, c));
}

static const format line = {NULL, line_cell, em_writer_flush, NULL};

/* ---- Markdown: for people, so it has the columns of a table on screen ---- */

static void put_markdown(em_str *out, const char *s)
{
  for (; *s; s++) {
    if (*s == '|' || *s == '\\') em_str_putc(out, '\\');
    em_str_putc(out, *s);
  }
}

static void markdown_begin(em_writer *w)
{
  if (w->r.bare) return;
  em_str_putc(&w->line, '|');
  for (size_t i = 0; i < w->n; i++) {
    if (!w->columns[i].width) continue;
    em_str_clear(&w->scratch);
    em_str_put_safe(&w->scratch, w->columns[i].title);
    em_str_putc(&w->line, ' ');
    put_markdown(&w->line, w->scratch.s ? w->scratch.s : "");
    em_str_put(&w->line, " |");
  }
  em_str_put(&w->line, "\n|");
  for (size_t i = 0; i < w->n; i++)
    if (w->columns[i].width) em_str_put(&w->line, em_column_is_right(&w->columns[i]) ? " ---: |" : " --- |");
  end_line(w);
}

static void markdown_cell(em_writer *w, const em_cell *c)
{
  if (w->at == 0) em_str_putc(&w->line, '|');
  if (!w->columns[w->at].width) return;
  em_str_putc(&w->line, ' ');
  put_markdown(&w->line, em_writer_shown(w, c));
  em_str_put(&w->line, " |");
}

static const format markdown = {markdown_begin, markdown_cell, end_line, NULL};

/* ---- any format ---- */

static const format *const formats[] = {[EM_FORMAT_TABLE] = &em_writer_table,
                                        [EM_FORMAT_CSV] = &csv,
                                        [EM_FORMAT_JSON] = &json,
                                        [EM_FORMAT_LINE] = &line,
                                        [EM_FORMAT_MARKDOWN] = &markdown};

static void free_writer(em_writer *w)
{
  em_str_free(&w->line);
  em_str_free(&w->scratch);
  em_str_free(&w->held.texts);
  em_free(w->held.lengths);
  em_free(w->width);
  em_free(w->right);
  em_free(w);
}

int em_writer_open(const em_view_column *columns, size_t n, const em_render *r, em_put_fn put, void *ctx,
                   em_writer **out, em_err *err)
{
  em_writer *w = em_calloc(1, sizeof *w);
  if (!w) return em_fail_nomem(err);
  w->columns = columns;
  w->n = n;
  w->r = *r;
  w->put = put;
  w->ctx = ctx;
  w->format = formats[r->format];
  w->width = em_calloc(n + 1, sizeof *w->width);
  w->right = em_calloc(n + 1, sizeof *w->right);
  if (!w->width || !w->right) {
    free_writer(w);
    return em_fail_nomem(err);
  }
  if (w->format->begin) w->format->begin(w);
  *out = w;
  return EM_OK;
}

void em_writer_cell(em_writer *w, const em_cell *c)
{
  w->format->cell(w, c);
  if (++w->at < w->n) return;
  if (w->format->row) w->format->row(w);
  w->row++;
  w->at = 0;
}

bool em_writer_stopped(const em_writer *w) { return w->stopped || w->failed; }

int em_writer_close(em_writer *w, em_err *err)
{
  if (w->format->end) w->format->end(w);
  em_writer_flush(w);
  bool failed = w->failed;
  free_writer(w);
  return failed ? em_fail_nomem(err) : EM_OK;
}
