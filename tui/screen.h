/*
 * screen.h - one open view on the screen: cursor, order, filter, scrolling.
 */
#ifndef EM_SCREEN_H
#define EM_SCREEN_H

#include "tui/term.h"

#define EM_SCREEN_TEXT 256

/* How the rows are chosen and ordered. */
typedef struct em_order {
  int sort; /* column, -1 = the view's own order */
  bool descending;
  char filter[EM_SCREEN_TEXT];
} em_order;

typedef struct em_screen {
  const em_view *view;
  char *args[EM_MAX_PARAMS]; /* owned */
  em_cursor *cursor;         /* NULL while it is being opened, or its pool ranked */
  em_arrangement shown;
  size_t at, top;   /* place of the cursor and of the first row drawn, in `shown` */
  int first_column; /* of those after column 0 */
  int *widest;      /* of each column the widest text drawn since the rows were arranged, owned */
  em_order order;
  char search[EM_SCREEN_TEXT];
  uint64_t generation; /* of the session, at the last arrangement */
  size_t body;         /* rows drawn last time: a page */
  bool by_name;        /* once it is open, what lies between the first screen and it goes */
} em_screen;

/* Takes the arguments over. */
em_screen *em_screen_new(const em_view *view, char *args[EM_MAX_PARAMS], em_err *err);
void em_screen_free(em_screen *s);
/* What a screen is to show next: of a screen that is not open its cursor too, and where that starts.  Made from the
 * screen, which is only read: on any thread, while nobody changes the screen or uses its cursor. */
typedef struct em_fresh {
  em_cursor *cursor;
  em_arrangement shown;
  size_t start;
} em_fresh;
int em_screen_prepare(const em_screen *s, em_session *session, em_fresh *out, em_err *err) EM_MUST_CHECK;
/* Shows it; the cursor stays on its row where it can. */
void em_screen_take(em_screen *s, em_fresh *fresh);
/* Both at once, of an open screen: with a fresh cursor, for a live view whose rows are made when it is opened. */
int em_screen_reopen(em_screen *s, em_err *err) EM_MUST_CHECK;
/* Both at once: orders and filters anew. */
int em_screen_arrange(em_screen *s, em_err *err) EM_MUST_CHECK;
void em_screen_move(em_screen *s, int64_t by);
void em_screen_goto(em_screen *s, size_t at);
size_t em_screen_row(const em_screen *s); /* row of the view under the cursor; SIZE_MAX when nothing is shown */
void em_screen_scroll_columns(em_screen *s, int by);

/* Draws between the lines [y0, y1): head, titles, rows, foot. */
void em_screen_draw(em_screen *s, int y0, int y1);

#endif
