/*
 * writer_table.c - a text table whose rows stream.
 *
 * The first rows are held back as displayed text; they settle widths and alignment.
 */
#include <string.h>

#include "views/writer_int.h"

#define SAMPLE_ROWS 1000
#define TEXT_CELLS  16 /* a text that is cut below that says little: rather without other columns */
#define LEAST_TEXT  8  /* cells that a text column keeps in any case */

/* Numbers are never cut; a text that is ends in an ellipsis. */
static void put_padded(em_writer *w, const char *text, int cells, bool right)
{
  em_str *out = &w->line;
  int used = em_text_width(text);
  bool cut = !right && used > cells;
  size_t n = cut ? em_text_cut(text, cells - 1, &used) : strlen(text);
  for (int i = used; right && i < cells; i++) em_str_putc(out, ' ');
  em_str_putn(out, text, n);
  if (cut) em_str_put(out, w->r.ascii ? "~" : "\u2026");
  for (int i = used + cut; !right && i < cells; i++) em_str_putc(out, ' ');
}

/* Cells of the table when texts are cut to `most`. */
static int total(const em_writer *w, int most)
{
  int sum = -2;
  for (size_t i = 0; i < w->n; i++)
    if (w->width[i]) sum += 2 + (!w->right[i] && w->width[i] > most ? most : w->width[i]);
  return sum;
}

/* Leaves out last columns, but no more than all behind the second, while the others have no room. */
static void leave_out(em_writer *w)
{
  for (size_t i = w->n; i-- > 2 && total(w, TEXT_CELLS) > w->r.width;) {
    if (!w->width[i]) continue;
    w->width[i] = 0;
    w->left_out = i;
  }
}

/* Takes cells from the widest text column until the table fits. */
static void fit(em_writer *w)
{
  if (w->r.leave_out) leave_out(w);
  while (total(w, w->r.width) > w->r.width) {
    int widest = -1;
    for (size_t i = 0; i < w->n; i++)
      if (!w->right[i] && w->width[i] > LEAST_TEXT && (widest < 0 || w->width[i] > w->width[widest])) widest = (int)i;
    if (widest < 0) return;
    w->width[widest]--;
  }
}

static void put_column(em_writer *w, size_t i, const char *text)
{
  if (!w->width[i]) return;
  if (w->line.len) em_str_put(&w->line, "  ");
  put_padded(w, text, w->width[i], w->right[i]);
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

/* Names what was left out: a table does not look whole that is not. */
static void end(em_writer *w)
{
  flow(w);
  if (!w->left_out) return;
  em_str_put(&w->line, "no room for ");
  for (size_t i = w->left_out; i < w->n; i++)
    if (w->columns[i].width) em_str_printf(&w->line, "%s%s", i > w->left_out ? ", " : "", w->columns[i].title);
  end_line(w);
}

const format em_writer_table = {begin, cell, row, end};
