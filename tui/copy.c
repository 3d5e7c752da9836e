/* copy.c - the row under the cursor, or one of its cells, to the terminal's clipboard. */
#include <string.h>

#include "tui/explore_int.h"

static int put(void *ctx, const char *text, size_t len)
{
  em_str_putn(ctx, text, len);
  return 0;
}

/* A line a column: it says itself what it is. */
static int put_row(em_screen *s, uint32_t row, em_str *out, em_err *err)
{
  const em_arrangement one = {&row, 1, s->shown.of};
  const em_render r = {.format = EM_FORMAT_LINE, .ascii = em_term_ascii()};
  return em_render_view(s->cursor, &one, &r, put, out, err);
}

/* A text as it is, a number with all its digits. */
static int put_cell(em_screen *s, size_t row, size_t column, em_str *out, em_err *err)
{
  const em_view_column *c = &s->view->columns[column];
  em_writer *w;
  em_cell cell;
  s->view->cell(s->cursor, row, column, &cell);
  if (cell.state == EM_CELL_VALUE && cell.type == EM_TEXT) {
    em_str_put(out, cell.s);
    return EM_OK;
  }
  int rc = em_writer_open(c, 1, &(em_render){.format = EM_FORMAT_CSV, .bare = true}, put, out, &w, err);
  if (rc != EM_OK) return rc;
  em_writer_cell(w, &cell);
  rc = em_writer_close(w, err);
  if (out->len && out->s[out->len - 1] == '\n') out->s[--out->len] = '\0';
  return rc;
}

void em_explorer_copy(em_explorer *x, em_screen *s, const char *column)
{
  em_err err;
  em_str text = {0};
  size_t row = em_screen_row(s);
  bool whole = !column || !*column;
  int at = whole ? -1 : em_view_find_column(s->view, column);
  if (row == SIZE_MAX) {
    em_explorer_say(x, "there is no row to copy");
    return;
  }
  if (!whole && at < 0) {
    em_explorer_say(x, "no column is called \"%.40s\"; ? lists them", column);
    return;
  }
  int rc = whole ? put_row(s, (uint32_t)row, &text, &err) : put_cell(s, row, (size_t)at, &text, &err);
  size_t len = text.len;
  if (rc == EM_OK) rc = em_str_finish(&text, &err);
  if (rc == EM_OK && len > 0) rc = em_term_copy(text.s, len, &err); /* an empty text would empty the clipboard */
  if (rc != EM_OK)
    em_explorer_say(x, "%s", err.msg);
  else if (len == 0)
    em_explorer_say(x, "%s is empty here", s->view->columns[at].name);
  else
    em_explorer_say(x, "copied %s, %zu bytes", whole ? "the row" : s->view->columns[at].name, len);
  em_str_free(&text);
}
