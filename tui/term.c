/* term.c - the terminal. */
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "tui/term.h"

static struct {
  SCREEN *screen;
  FILE *in, *out; /* headless: /dev/null */
  bool headless, ascii, color;
} term;

static volatile sig_atomic_t interrupted, hung_up;

static void on_interrupt(int sig)
{
  (void)sig;
  interrupted = 1;
}

static void on_hangup(int sig)
{
  (void)sig;
  hung_up = 1;
}

static void catch_signals(void)
{
  struct sigaction a = {.sa_handler = on_interrupt};
  sigaction(SIGINT, &a, NULL);
  a.sa_handler = on_hangup;
  sigaction(SIGHUP, &a, NULL);
  sigaction(SIGTERM, &a, NULL);
}

/* Colour pairs by mark; terminal defaults for the background, no dark blue. */
static const short mark_color[] = {[EM_MARK_NONE] = -1,
                                   [EM_MARK_GOLDEN] = COLOR_GREEN,
                                   [EM_MARK_PICK] = COLOR_CYAN,
                                   [EM_MARK_ATTENTION] = COLOR_YELLOW,
                                   [EM_MARK_DIM] = -1};
static const attr_t mark_attributes[] = {[EM_MARK_NONE] = A_NORMAL,
                                         [EM_MARK_GOLDEN] = A_BOLD,
                                         [EM_MARK_PICK] = A_BOLD,
                                         [EM_MARK_ATTENTION] = A_NORMAL,
                                         [EM_MARK_DIM] = A_DIM};

static void start_color_pairs(em_color wish)
{
  const char *no_color = getenv("NO_COLOR");
  term.color = wish == EM_COLOR_ALWAYS || (wish == EM_COLOR_AUTO && !(no_color && *no_color));
  if (!term.color || !has_colors() || start_color() != OK || use_default_colors() != OK || COLOR_PAIRS < 8) {
    term.color = false;
    return;
  }
  for (int m = EM_MARK_NONE; m <= EM_MARK_DIM; m++) init_pair((short)(m + 1), mark_color[m], -1);
}

static int size_of(const char *name, int wish, int otherwise)
{
  int64_t v;
  const char *env = getenv(name);
  if (wish > 0) return wish;
  return env && em_parse_i64(env, 1, 1000, &v) ? (int)v : otherwise;
}

static bool open_screen(const em_term_options *o)
{
  term.headless = o->headless;
  if (!o->headless) {
    term.screen = newterm(NULL, stdout, stdin);
    return term.screen != NULL;
  }
  term.in = fopen("/dev/null", "r");
  term.out = fopen("/dev/null", "w");
  const char *name = getenv("TERM");
  if (term.in && term.out) term.screen = newterm(name && *name ? name : "dumb", term.out, term.in);
  if (term.screen) resizeterm(size_of("LINES", o->lines, 24), size_of("COLUMNS", o->columns, 80));
  return term.screen != NULL;
}

int em_term_enter(const em_term_options *o, em_err *err)
{
  setlocale(LC_CTYPE, "");
  term.ascii = o->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
  set_escdelay(25);
  if (!open_screen(o)) {
    em_term_leave();
    const char *name = getenv("TERM");
    return em_fail(err, EM_E_ENV,
                   "the terminal type \"%s\" is unknown or cannot be used; set TERM (xterm-256color is common), "
                   "or pipe the command to print the pools as a table",
                   name ? name : "");
  }
  atexit(em_term_leave);
  cbreak();
  noecho();
  nonl();
  intrflush(stdscr, FALSE);
  keypad(stdscr, TRUE);
  curs_set(0);
  start_color_pairs(o->color);
  catch_signals();
  return EM_OK;
}

void em_term_leave(void)
{
  if (term.screen) {
    endwin();
    delscreen(term.screen);
    term.screen = NULL;
  }
  if (term.in) fclose(term.in);
  if (term.out) fclose(term.out);
  term.in = term.out = NULL;
}

bool em_term_ascii(void) { return term.ascii; }

void em_term_resize(int lines, int columns)
{
  resizeterm(lines, columns);
  clearok(stdscr, TRUE);
}

/* ---- drawing ---- */

static void put_ascii(char *s)
{
  char *to = s;
  for (const char *from = s; *from; from++) {
    unsigned char c = (unsigned char)*from;
    if (c < 0x80)
      *to++ = *from;
    else if (c >= 0xc0)
      *to++ = '?'; /* one for each character, none for its further bytes */
  }
  *to = '\0';
}

void em_term_put(int y, int x, int width, const char *text, int attributes)
{
  int used = 0;
  em_str safe = {0};
  if (y < 0 || y >= LINES || x >= COLS || width <= 0) return;
  if (width > COLS - x) width = COLS - x;
  em_str_put_safe(&safe, text);
  if (safe.s && term.ascii) put_ascii(safe.s);
  size_t n = safe.s ? em_text_cut(safe.s, width, &used) : 0;
  bool cut = safe.s && safe.s[n];
  if (cut) n = em_text_cut(safe.s, width - 1, &used);
  attrset((attr_t)attributes);
  if (n) mvaddnstr(y, x, safe.s, (int)n);
  if (cut) mvaddstr(y, x + used++, term.ascii ? "~" : "\u2026"); /* an ellipsis */
  for (int i = used; i < width; i++) mvaddch(y, x + i, ' ');
  attrset(A_NORMAL);
  em_str_free(&safe);
}

int em_term_attributes(em_mark mark, bool selected)
{
  attr_t a = mark_attributes[mark];
  if (term.color) a |= COLOR_PAIR(mark + 1);
  return (int)(selected ? (a & ~A_DIM) | A_REVERSE : a);
}

int em_term_title_attributes(void) { return (int)(A_BOLD | A_UNDERLINE); }

void em_term_dump(em_str *out)
{
  for (int y = 0; y < LINES; y++) {
    wchar_t line[1024];
    int n = mvinnwstr(y, 0, line, COLS < 1023 ? COLS : 1023);
    while (n > 0 && line[n - 1] == L' ') n--;
    for (int i = 0; i < n; i++) {
      char bytes[MB_LEN_MAX + 1];
      mbstate_t state = {0};
      size_t len = wcrtomb(bytes, line[i], &state);
      if (len == (size_t)-1)
        em_str_putc(out, '?');
      else
        em_str_putn(out, bytes, len);
    }
    em_str_putc(out, '\n');
  }
}

/* ---- the clipboard ---- */

static void put_base64(const char *text, size_t len, em_str *out)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < len; i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; k++) bits = bits << 8 | (i + k < len ? (unsigned char)text[i + k] : 0);
    for (size_t k = 0; k < 4; k++) em_str_putc(out, i + k > len ? '=' : digits[bits >> (18 - 6 * k) & 63]);
  }
}

int em_term_copy(const char *text, size_t len, em_err *err)
{
  const char *tmux = getenv("TMUX");
  em_str data = {0}, sequence = {0};
  if (term.headless) return em_fail(err, EM_E_ENV, "there is no terminal with a clipboard");
  if (len > EM_TERM_COPY_MAX)
    return em_fail(err, EM_E_USAGE,
                   "a terminal's clipboard takes %d bytes, and this has %zu; :write writes rows to a file",
                   EM_TERM_COPY_MAX, len);
  put_base64(text, len, &data);
  const char *coded = data.s ? data.s : "";
  em_str_printf(&sequence, "\033]52;c;%s\a", coded);
  if (tmux && *tmux) em_str_printf(&sequence, "\033Ptmux;\033\033]52;c;%s\a\033\\", coded);
  bool failed = data.failed;
  em_str_free(&data);
  if (failed) em_str_free(&sequence);
  int rc = failed ? em_fail_nomem(err) : em_str_finish(&sequence, err);
  if (rc == EM_OK && (fputs(sequence.s, stdout) == EOF || fflush(stdout) == EOF))
    rc = em_fail_errno(err, EM_E_IO, errno, "cannot write to the terminal");
  em_str_free(&sequence);
  return rc;
}

/* ---- keys ---- */

/* Names of keys in scripts and in the key table, one line each. */
static const struct {
  const char *name;
  int key, curses;
} names[] = {{"<Enter>", '\r', KEY_ENTER},
             {"<Esc>", 27, 0},
             {"<Tab>", '\t', 0},
             {"<Space>", ' ', 0},
             {"<lt>", '<', 0},
             {"<Backspace>", 127, KEY_BACKSPACE},
             {"<Up>", EM_KEY_UP, KEY_UP},
             {"<Down>", EM_KEY_DOWN, KEY_DOWN},
             {"<Left>", EM_KEY_LEFT, KEY_LEFT},
             {"<Right>", EM_KEY_RIGHT, KEY_RIGHT},
             {"<PageUp>", EM_KEY_PAGE_UP, KEY_PPAGE},
             {"<PageDown>", EM_KEY_PAGE_DOWN, KEY_NPAGE},
             {"<Home>", EM_KEY_HOME, KEY_HOME},
             {"<End>", EM_KEY_END, KEY_END},
             {"<Delete>", EM_KEY_DELETE, KEY_DC},
             {"<BackTab>", EM_KEY_BACKTAB, KEY_BTAB}};
#define N_NAMES (sizeof names / sizeof *names)

static int from_curses(int key)
{
  for (size_t i = 0; i < N_NAMES; i++)
    if (names[i].curses == key) return names[i].key;
  return EM_KEY_OTHER; /* no error: eight of those end the program */
}

/* A terminal that went away answers with an error at once, for ever; a signal leaves one
 * error in the library's queue as well, so a single one says nothing. */
enum { ERRORS_OF_HANGUP = 8 };

enum { REST_MS = 25 };

/* A character from its first byte.  The library's own reader waits behind a wrong byte for 30 more keys, and loses
 * them. */
static int read_character(int byte)
{
  mbstate_t state = {0};
  wchar_t character;
  timeout(REST_MS);
  for (bool first = true;; first = false) {
    char c = (char)byte;
    size_t n = mbrtowc(&character, &c, 1, &state);
    if (n == (size_t)-1 && !first) ungetch(byte);
    if (n == (size_t)-1) return EM_KEY_OTHER;
    if (n != (size_t)-2) return (int)character;
    byte = getch();
    if (byte == ERR) return EM_KEY_OTHER;
    if (byte >= KEY_MIN) {
      ungetch(byte);
      return EM_KEY_OTHER;
    }
  }
}

/* One answer of the library; EM_KEY_NONE for an error or nothing in time. */
static int read_key(int ms)
{
  timeout(ms);
  int key = getch();
  if (key == ERR) return EM_KEY_NONE;
  if (key >= KEY_MIN) return key == KEY_RESIZE ? EM_KEY_RESIZED : from_curses(key);
  if (key >= 0x80) return read_character(key);
  if (key == '\n') return '\r';
  return key == 8 ? 127 : key;
}

int em_term_key(int ms)
{
  for (int i = 0; i < ERRORS_OF_HANGUP; i++) {
    if (interrupted) {
      interrupted = 0;
      return EM_KEY_INTERRUPT;
    }
    if (hung_up) return EM_KEY_HANGUP;
    int key = read_key(ms);
    if (key != EM_KEY_NONE || (ms >= 0 && !interrupted)) return key;
  }
  return EM_KEY_HANGUP;
}

int em_key_parse(const char *s, size_t *len)
{
  for (size_t i = 0; i < N_NAMES; i++) {
    *len = strlen(names[i].name);
    if (strncmp(s, names[i].name, *len) == 0) return names[i].key;
  }
  if (strncmp(s, "<C-", 3) == 0 && s[3] >= 'a' && s[3] <= 'z' && s[4] == '>') {
    *len = 5;
    return s[3] - 'a' + 1;
  }
  wchar_t c;
  mbstate_t state = {0};
  size_t n = mbrtowc(&c, s, strlen(s), &state);
  if (n == 0 || n > MB_LEN_MAX) {
    *len = *s ? 1 : 0;
    return EM_KEY_NONE;
  }
  *len = n;
  return (int)c;
}
