/*
 * term.h - the terminal: entering and leaving curses, colours, glyphs, keys.
 *
 * The only place that starts or ends curses.  Leaving is idempotent and happens on
 * exit and on fatal signals too.  Headless mode draws the same cells to nowhere, for
 * scripts and tests.
 */
#ifndef EM_TERM_H
#define EM_TERM_H

#include "views/views.h"

typedef enum em_color { EM_COLOR_AUTO, EM_COLOR_ALWAYS, EM_COLOR_NEVER } em_color;

typedef struct em_term_options {
  bool headless;
  em_color color;     /* AUTO: unless NO_COLOR is set and not empty */
  bool ascii;         /* force ASCII glyphs; else by the locale's codeset */
  int lines, columns; /* headless size; 0 = $LINES, $COLUMNS, or 24 x 80 */
} em_term_options;

/* EM_E_ENV when the terminal is unknown: the message says what to do instead. */
int em_term_enter(const em_term_options *o, em_err *err) EM_MUST_CHECK;
void em_term_leave(void);
bool em_term_ascii(void);
void em_term_resize(int lines, int columns); /* headless */

/* Text of at most `width` cells at (y, x), padded with blanks to `width`.  Control
 * characters in it are escaped; in ASCII mode other characters become '?'. */
void em_term_put(int y, int x, int width, const char *text, int attributes);
int em_term_attributes(em_mark mark, bool selected); /* curses attributes */
int em_term_title_attributes(void);

/* Keys as numbers: a Unicode character, a control character, or EM_KEY_*. */
enum {
  EM_KEY_NONE = -1,
  EM_KEY_RESIZED = -2,
  EM_KEY_INTERRUPT = -3,
  EM_KEY_HANGUP = -4,
  EM_KEY_OTHER = -5, /* one that the key table has no name for */
  EM_KEY_FIRST = 0x200000,
  EM_KEY_UP = EM_KEY_FIRST,
  EM_KEY_DOWN,
  EM_KEY_LEFT,
  EM_KEY_RIGHT,
  EM_KEY_PAGE_UP,
  EM_KEY_PAGE_DOWN,
  EM_KEY_HOME,
  EM_KEY_END,
  EM_KEY_DELETE,
  EM_KEY_BACKTAB
};
/* Waits up to `ms` (-1 = for ever) for a key. */
int em_term_key(int ms);
/* "<Enter>", "<C-l>", "<Up>", "x" -> number and number of bytes read; EM_KEY_NONE when it is no key. */
int em_key_parse(const char *s, size_t *len);

/* Hands a text to the terminal for its clipboard (OSC 52), which works over ssh too; inside of tmux also as what tmux passes
 * on.  Whether the terminal takes it, it does not say.  EM_E_USAGE when it is too long, EM_E_ENV when headless. */
#define EM_TERM_COPY_MAX 74994 /* its base64 is 99,992 bytes: terminals take 100,000 */
int em_term_copy(const char *text, size_t len, em_err *err) EM_MUST_CHECK;

/* The screen as text, blanks at line ends dropped. */
void em_term_dump(em_str *out);

#endif
