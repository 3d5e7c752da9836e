/* screen.c - a view as a scrolling table. */
#include <curses.h>
#include <string.h>

#include "tui/screen.h"

em_screen *em_screen_new(const em_view *view, char *args[EM_MAX_PARAMS], em_err *err)
{
  em_screen *s = em_calloc(1, sizeof *s);
  if (s) s->widest = em_calloc(view->n_columns, sizeof *s->widest);
  if (!s || !s->widest) {
    em_free(s);
    em_fail_nomem(err);
    return NULL;
  }
  s->view = view;
  s->order.sort = -1;
  if (view->sort) {
    s->order.descending = view->sort[0] == '-';
    s->order.sort = em_view_find_column(view, view->sort + s->order.descending);
  }
  for (size_t i = 0; i < EM_MAX_PARAMS; i++) {
    s->args[i] = args[i];
    args[i] = NULL;
  }
  return s;
}

void em_screen_free(em_screen *s)
{
  if (!s) return;
  em_arrangement_free(&s->shown);
  em_cursor_close(s->cursor);
  for (size_t i = 0; i < EM_MAX_PARAMS; i++) em_free(s->args[i]);
  em_free(s->widest);
  em_free(s);
}

size_t em_screen_row(const em_screen *s) { return s->at < s->shown.n ? s->shown.rows[s->at] : SIZE_MAX; }

/* With another prior than the program's a live view needs a worker of its own. */
static int open_cursor(const em_screen *s, em_session *session, em_cursor **out, em_err *err)
{
  em_cursor *c;
  int rc = em_view_open(s->view->name, session, (const char *const *)s->args, &c, err);
  if (rc == EM_OK && s->view->live && em_session_other_prior(c->session)) {
    rc = em_session_start(c->session, err);
    if (rc != EM_OK) em_cursor_close(c);
  }
  if (rc == EM_OK) *out = c;
  return rc;
}

int em_screen_prepare(const em_screen *s, em_session *session, em_fresh *out, em_err *err)
{
  em_fresh f = {0};
  em_cursor *c = s->cursor;
  int rc = c ? EM_OK : open_cursor(s, session, &f.cursor, err);
  if (!c) c = f.cursor;
  if (rc == EM_OK) rc = em_arrange(c, s->order.sort, s->order.descending, s->order.filter, &f.shown, err);
  if (rc != EM_OK) {
    em_cursor_close(f.cursor);
    return rc;
  }
  if (f.cursor && s->view->start) f.start = s->view->start(f.cursor);
  *out = f;
  return EM_OK;
}

void em_screen_take(em_screen *s, em_fresh *fresh)
{
  size_t row = em_screen_row(s);
  em_arrangement_free(&s->shown);
  s->shown = fresh->shown;
  if (fresh->cursor) {
    s->cursor = fresh->cursor;
    s->at = fresh->start;
  }
  for (size_t i = 0; row != SIZE_MAX && i < s->shown.n; i++)
    if (s->shown.rows[i] == row) s->at = i;
  em_screen_goto(s, s->at);
  memset(s->widest, 0, s->view->n_columns * sizeof *s->widest);
  *fresh = (em_fresh){0};
}

int em_screen_reopen(em_screen *s, em_err *err)
{
  em_fresh fresh;
  em_cursor *old = s->cursor;
  s->cursor = NULL;
  int rc = em_screen_prepare(s, old->session, &fresh, err);
  s->cursor = old;
  if (rc != EM_OK) return rc;
  fresh.start = s->at;
  em_screen_take(s, &fresh);
  em_cursor_close(old);
  return EM_OK;
}

int em_screen_arrange(em_screen *s, em_err *err)
{
  em_fresh fresh;
  int rc = em_screen_prepare(s, NULL, &fresh, err);
  if (rc == EM_OK) em_screen_take(s, &fresh);
  return rc;
}

void em_screen_goto(em_screen *s, size_t at)
{
  size_t last = s->shown.n ? s->shown.n - 1 : 0;
  s->at = at < last ? at : last;
}

void em_screen_move(em_screen *s, int64_t by)
{
  if (by < 0 && (size_t)-by > s->at)
    s->at = 0;
  else
    em_screen_goto(s, s->at + (size_t)by);
}

static int last_column(const em_view *v)
{
  int n = 0;
  for (size_t i = 0; i < v->n_columns; i++) n += v->columns[i].width > 0;
  return n - 1;
}

void em_screen_scroll_columns(em_screen *s, int by)
{
  int most = last_column(s->view) - 1;
  s->first_column += by;
  if (s->first_column > most) s->first_column = most;
  if (s->first_column < 0) s->first_column = 0;
}

/* ---- layout of columns ---- */

#define MAX_SHOWN 32
typedef struct layout {
  size_t n;
  size_t column[MAX_SHOWN];
  int width[MAX_SHOWN];
} layout;

static bool is_right(const em_view_column *c) { return c->type == EM_INT || c->type == EM_REAL; }

enum { TEXT_CELLS = 16 }; /* a text that is cut below that says nothing */

/* What it takes to show all that was drawn.  Text is content with its column's wish, and leaves room for others. */
static int tight_width(const em_screen *s, size_t column, int screen)
{
  const em_view_column *c = &s->view->columns[column];
  int title = em_text_width(c->title) + (s->order.sort == (int)column); /* with the arrow of the order */
  int most = screen * 3 / 8 > TEXT_CELLS ? screen * 3 / 8 : TEXT_CELLS, w = s->widest[column];
  if (most > c->width) most = c->width;
  if (!is_right(c) && w > most) w = most;
  return w > title ? w : title;
}

/* What it takes more cells for, where there are some: a steady place of its own, and texts in full. */
static int wished_width(const em_screen *s, size_t column)
{
  const em_view_column *c = &s->view->columns[column];
  int steady = is_right(c) || c->width < TEXT_CELLS ? c->width : TEXT_CELLS;
  return s->widest[column] > steady ? s->widest[column] : steady;
}

/* Column 0, then from the first scrolled one as many as show all they have; the one behind them has what is left,
 * where that is worth it.  What is left over goes to the columns up to their wish, then to a last text. */
static layout lay_out(const em_screen *s, int width)
{
  layout l = {0};
  int used = 1, skip = s->first_column;
  bool full = false;
  for (size_t i = 0; i < s->view->n_columns && l.n < MAX_SHOWN && !full; i++) {
    const em_view_column *c = &s->view->columns[i];
    if (c->width == 0) continue;
    if (i > 0 && skip > 0) {
      skip--;
      continue;
    }
    int w = tight_width(s, i, width);
    full = l.n && used + w + 1 > width;
    if (full && (is_right(c) || used + TEXT_CELLS + 1 > width)) break;
    if (full) w = width - used - 1;
    l.column[l.n] = i;
    l.width[l.n++] = w;
    used += w + 1;
  }
  int spare = width - used;
  for (size_t k = 0; k < l.n && spare > 0; k++) {
    int wish = wished_width(s, l.column[k]) - l.width[k], more = wish < spare ? wish : spare;
    if (more > 0) l.width[k] += more, spare -= more;
  }
  if (l.n && spare > 0 && !is_right(&s->view->columns[l.column[l.n - 1]])) l.width[l.n - 1] += spare;
  return l;
}

/* ---- drawing ---- */

static void put_aligned(int y, int x, int width, bool right, const char *text, int attributes)
{
  int w = em_text_width(text);
  if (right && w < width) {
    em_term_put(y, x, width - w, "", attributes);
    em_term_put(y, x + width - w, w, text, attributes);
  } else {
    em_term_put(y, x, width, text, attributes);
  }
}

static void draw_titles(const em_screen *s, const layout *l, int y)
{
  int x = 1;
  em_term_put(y, 0, COLS, "", em_term_title_attributes());
  for (size_t k = 0; k < l->n; k++) {
    const em_view_column *c = &s->view->columns[l->column[k]];
    char title[64];
    const char *arrow = (int)l->column[k] != s->order.sort ? "" : s->order.descending ? "v" : "^";
    snprintf(title, sizeof title, "%s%s", c->title, arrow);
    put_aligned(y, x, l->width[k], is_right(c), title, em_term_title_attributes());
    x += l->width[k] + 1;
  }
}

static void show_cell(const em_screen *s, size_t row, size_t column, em_str *text)
{
  em_cell cell;
  s->view->cell(s->cursor, row, column, &cell);
  em_str_clear(text);
  em_cell_display(&s->view->columns[column], &cell, em_term_ascii(), text);
}

/* How wide the rows to be drawn are. */
static void measure_rows(em_screen *s)
{
  em_str text = {0};
  for (size_t i = s->top; i < s->shown.n && i < s->top + s->body; i++)
    for (size_t k = 0; k < s->view->n_columns; k++) {
      if (s->view->columns[k].width == 0) continue;
      show_cell(s, s->shown.rows[i], k, &text);
      int w = text.s ? em_text_width(text.s) : 0;
      if (w > s->widest[k]) s->widest[k] = w;
    }
  em_str_free(&text);
}

static void draw_row(const em_screen *s, const layout *l, size_t place, int y)
{
  size_t row = s->shown.rows[place];
  bool selected = place == s->at;
  em_mark m = s->view->mark ? s->view->mark(s->cursor, row) : EM_MARK_NONE;
  int attributes = em_term_attributes(m, selected), x = 1;
  em_str text = {0};
  em_term_put(y, 0, COLS, selected ? ">" : " ", attributes);
  for (size_t k = 0; k < l->n; k++) {
    show_cell(s, row, l->column[k], &text);
    put_aligned(y, x, l->width[k], is_right(&s->view->columns[l->column[k]]), text.s ? text.s : "", attributes);
    x += l->width[k] + 1;
  }
  em_str_free(&text);
}

/* The head's lines; returns how many were drawn, at most `most`. */
static int draw_head(const em_screen *s, int y, int most)
{
  em_str text = {0};
  int n = 0;
  if (s->view->head && most > 0) s->view->head(s->cursor, &text);
  for (char *line = text.s; line && *line && n < most; n++) {
    char *end = strchr(line, '\n');
    if (end) *end = '\0';
    em_term_put(y + n, 0, COLS, line, em_term_attributes(EM_MARK_NONE, false));
    line = end ? end + 1 : NULL;
  }
  em_str_free(&text);
  return n;
}

static int count_lines(const char *text)
{
  int n = 0;
  for (const char *line = text; *line; n++) {
    const char *end = strchr(line, '\n');
    line = end ? end + 1 : line + strlen(line);
  }
  return n;
}

/* The foot's lines, at most `most`, the last of them on line y - 1; returns how many. */
static int draw_foot(const em_screen *s, int y, int most)
{
  em_str text = {0}, line = {0};
  s->view->foot(s->cursor, &text);
  const char *at = text.s ? text.s : "";
  int n = count_lines(at);
  n = n < most ? n : most;
  for (int i = 0; i < n; i++) {
    size_t len = strcspn(at, "\n");
    em_str_clear(&line);
    em_str_putc(&line, ' ');
    em_str_putn(&line, at, len);
    em_term_put(y - n + i, 0, COLS, line.s ? line.s : "", em_term_attributes(EM_MARK_NONE, false));
    at += len + (at[len] == '\n');
  }
  em_str_free(&line);
  em_str_free(&text);
  return n;
}

void em_screen_draw(em_screen *s, int y0, int y1)
{
  /* A low screen gives up the foot first, then the head, then the titles: rows stay. */
  int height = y1 - y0;
  int foot = !s->view->foot || height < 6 ? 0 : height < 20 ? 1 : 4;
  y0 += draw_head(s, y0, height >= 14 ? height - 8 : 0);
  int titles = height >= 3 ? y0++ : -1;
  if (foot) y1 -= draw_foot(s, y1, foot);
  s->body = y1 > y0 ? (size_t)(y1 - y0) : 0;
  if (s->at < s->top) s->top = s->at;
  if (s->body && s->at >= s->top + s->body) s->top = s->at - s->body + 1;
  if (s->body && s->top + s->body > s->shown.n) s->top = s->shown.n > s->body ? s->shown.n - s->body : 0;
  measure_rows(s);
  layout l = lay_out(s, COLS);
  if (titles >= 0) draw_titles(s, &l, titles);
  for (size_t i = 0; i < s->body && s->top + i < s->shown.n; i++) draw_row(s, &l, s->top + i, y0 + (int)i);
  if (s->shown.n == 0 && s->body)
    em_term_put(y0, 1, COLS - 1, s->shown.of ? "no row passes the filter" : "nothing here",
                em_term_attributes(EM_MARK_NONE, false));
}
