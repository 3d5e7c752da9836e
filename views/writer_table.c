/*
 * writer_table.c - a text table whose rows stream.
 *
 * The first rows are held back as displayed text; they settle widths and alignment.
 */
#include <string.h>

#include "views/writer_int.h"

#define SAMPLE_ROWS 1000
#define LEAST_TEXT  8 /* cells that a text column keeps when the table is too wide */

static void put_padded(em_str *out, const char *text, int cells, bool right)
{
  int used = em_text_width(text);
  size_t n = right || used <= cells ? strlen(text) : em_text_cut(text, cells, &used);
  for (int i = used; right && i < cells; i++) em_str_putc(out, ' ');
  em_str_putn(out, text, n);
  for (int i = used; !right && i < cells; i++) em_str_putc(out, ' ');
}

/* Takes cells from the widest text column until the table fits; numbers are never cut. */
static void fit(em_writer *w)
{
  for (;;) {
    int sum = -2, widest = -1;
    for (size_t i = 0; i < w->n; i++) {
      sum += w->width[i] ? w->width[i] + 2 : 0;
      if (!w->right[i] && w->width[i] > LEAST_TEXT && (widest < 0 || w->width[i] > w->width[widest])) widest = (int)i;
    }
    if (sum <= w->r.width || widest < 0) return;
    w->width[widest]--;
  }
}

static void put_column(em_writer *w, size_t i, const char *text)
{
  if (!w->width[i]) return;
  if (w->line.len) em_str_put(&w->line, "  ");
  put_padded(&w->line, text, w->width[i], w->right[i]);
}

/* Ends a line without the blanks of an empty last column. */
static void end_line(em_writer *w)
{
  em_str *out = &w->line;
  while (out->len && out->s[out->len - 1] == ' ') out->s[--out->len] = '\0';
  em_str_putc(out, '\n');
  em_writer_flush(w);
}

static void put_header(em_writer *w)
{
  if (w->r.bare) return;
  for (size_t i = 0; i < w->n; i++) {
    em_str_clear(&w->scratch);
    em_str_put_safe(&w->scratch, w->columns[i].title);
    put_column(w, i, w->scratch.s ? w->scratch.s : "");
  }
  end_line(w);
}

/* The held rows, in the widths that they have settled. */
static void flow(em_writer *w)
{
  if (w->flowing) return;
  w->flowing = true;
  if (w->r.width > 0) fit(w);
  put_header(w);
  const char *text = w->held.texts.s;
  for (size_t k = 0; k < w->held.n && !w->held.texts.failed; k++) {
    put_column(w, k % w->n, text);
    text += w->held.lengths[k] + 1;
    if ((k + 1) % w->n == 0) end_line(w);
  }
  em_str_clear(&w->held.texts);
}

static void begin(em_writer *w)
{
  for (size_t i = 0; i < w->n; i++) {
    if (w->columns[i].width) w->width[i] = w->r.bare ? 1 : em_text_width(w->columns[i].title);
    if (w->columns[i].width && w->width[i] == 0) w->width[i] = 1;
    w->right[i] = em_column_is_right(&w->columns[i]);
  }
}

static void hold(em_writer *w, const char *text)
{
  em_err err;
  held *h = &w->held;
  size_t len = strlen(text);
  if (em_grow(&h->lengths, &h->cap, h->n + 1, sizeof *h->lengths, &err) != EM_OK) {
    w->failed = true;
    return;
  }
  h->lengths[h->n++] = (uint32_t)len;
  em_str_putn(&h->texts, text, len + 1);
  w->failed |= h->texts.failed;
}

static void cell(em_writer *w, const em_cell *c)
{
  const char *text = w->width[w->at] ? em_writer_shown(w, c) : "";
  if (w->flowing) {
    put_column(w, w->at, text);
    return;
  }
  int width = w->width[w->at] ? em_text_width(text) : 0;
  if (width > w->width[w->at]) w->width[w->at] = width;
  hold(w, text);
}

static void row(em_writer *w)
{
  if (w->flowing)
    end_line(w);
  else if (w->row + 1 >= SAMPLE_ROWS)
    flow(w);
}

const format em_writer_table = {begin, cell, row, flow};
