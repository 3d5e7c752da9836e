/* The explorer on a terminal of its own: what reaches the wire, and how it ends. */
#include "tests/unit/unit.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tui/term.h"

#define FRAME_END "w why" /* near the end of the status line; the last cell of a screen is written apart */

typedef struct terminal {
  int fd;
  pid_t pid;
  char seen[1 << 18];
  size_t n;
} terminal;

static const char *program(void)
{
  const char *path = getenv("EMMY");
  return path && *path ? path : NULL;
}

static void start(terminal *t, const char *name, const char *value)
{
  char golden[1024], prior[1024];
  const char *src = getenv("SRC") ? getenv("SRC") : ".";
  struct winsize size = {.ws_row = 12, .ws_col = 120};
  snprintf(golden, sizeof golden, "%s/tests/fixtures/tiny.json", src);
  snprintf(prior, sizeof prior, "%s/tests/fixtures/tiny-prior.json", src);
  t->n = 0;
  t->pid = forkpty(&t->fd, NULL, NULL, &size);
  assert_true(t->pid >= 0);
  if (t->pid > 0) return;
  setenv("TERM", "xterm-256color", 1);
  unsetenv("NO_COLOR");
  if (name) setenv(name, value, 1);
  execl(program(), program(), "explore", "--prior", prior, golden, (char *)NULL);
  _exit(127);
}

/* Reads until `text` has come since `from`, or nothing came for `quiet` ms; false then. */
static bool wait_for(terminal *t, size_t from, const char *text, int quiet)
{
  struct pollfd p = {.fd = t->fd, .events = POLLIN};
  while (t->n < sizeof t->seen - 1 && poll(&p, 1, quiet) > 0) {
    ssize_t got = read(t->fd, t->seen + t->n, sizeof t->seen - 1 - t->n);
    if (got <= 0) return false;
    t->n += (size_t)got;
    t->seen[t->n] = '\0';
    if (text && strstr(t->seen + from, text)) return true;
  }
  return false;
}

static void type(terminal *t, const char *keys)
{
  assert_int_equal(write(t->fd, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* The exit status, or -1 when it has not ended in ten seconds. */
static int ended(terminal *t)
{
  for (int i = 0; i < 1000; i++) {
    int status;
    if (waitpid(t->pid, &status, WNOHANG) == t->pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    struct timespec ms10 = {.tv_nsec = 10000000};
    nanosleep(&ms10, NULL);
  }
  kill(t->pid, SIGKILL);
  waitpid(t->pid, NULL, 0);
  return -1;
}

/* Ranking has ended, and the last frame is out. */
static void settle(terminal *t)
{
  assert_true(wait_for(t, 0, FRAME_END, 30000));
  wait_for(t, 0, NULL, 1500);
}

/* The program on a terminal of its own, ranked and drawn, with one variable set (NULL = none). */
static terminal *opened(const char *name, const char *value)
{
  terminal *t = test_malloc(sizeof *t);
  start(t, name, value);
  settle(t);
  return t;
}

/* Types the keys that end the program, and expects it to end well. */
static void leave(terminal *t, const char *keys)
{
  type(t, keys);
  assert_int_equal(ended(t), 0);
  close(t->fd);
  test_free(t);
}

static void test_one_interrupt_loses_nothing(void **state)
{
  (void)state;
  if (!program()) skip();
  terminal *t = opened(NULL, NULL);
  size_t from = t->n;
  type(t, "\x03");
  assert_true(wait_for(t, from, "Q leaves", 10000));
  for (int i = 0; i < 2; i++) { /* each by itself: the same message is not drawn again */
    type(t, "\x03");
    wait_for(t, t->n, NULL, 300);
  }
  from = t->n;
  type(t, "?"); /* still alive */
  assert_true(wait_for(t, from, "next row", 10000));
  leave(t, "zQ"); /* any key closes the help */
}

/* Nor does an Esc or a Backspace on the first screen; an interrupt closes the help. */
static void test_one_escape_loses_nothing(void **state)
{
  (void)state;
  if (!program()) skip();
  terminal *t = opened(NULL, NULL);
  static const char *const keys[] = {"\x1b", "\x7f"};
  for (int i = 0; i < 2; i++) {
    size_t from = t->n;
    type(t, keys[i]);
    assert_true(wait_for(t, from, "first screen", 10000));
    type(t, "j"); /* takes the message away */
    wait_for(t, t->n, NULL, 300);
  }
  size_t from = t->n;
  type(t, "?");
  assert_true(wait_for(t, from, "next row", 10000));
  from = t->n;
  type(t, "\x03");
  assert_true(wait_for(t, from, "cold pick", 10000));
  leave(t, "q");
}

/* Keys that the terminal knows and the program does not are no errors of the terminal. */
static void test_function_keys_lose_nothing(void **state)
{
  (void)state;
  if (!program()) skip();
  terminal *t = opened(NULL, NULL);
  size_t from = t->n;
  type(t, "\x1bOP"); /* F1 */
  assert_true(wait_for(t, from, "does nothing", 10000));
  for (int i = 0; i < 12; i++) type(t, "\x1bOQ");
  wait_for(t, t->n, NULL, 300);
  from = t->n;
  type(t, "?");
  assert_true(wait_for(t, from, "next row", 10000));
  leave(t, "zQ");
}

/* A byte that is no character, and half of one, take nothing with them. */
static void test_wrong_bytes_lose_nothing(void **state)
{
  (void)state;
  if (!program()) skip();
  static const char *const wrong[] = {"\xff", "\xe2\x82", "\x80\x80\x80"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    terminal *t = opened("LC_ALL", "C.UTF-8");
    type(t, wrong[i]);
    wait_for(t, t->n, NULL, 200);
    size_t from = t->n;
    type(t, "/\xc3\xa4\xe2\x82\xac"); /* whole ones are characters */
    assert_true(wait_for(t, from, "\xe2\x82\xac", 10000));
    type(t, "\x03"); /* takes what was typed behind it away, too */
    wait_for(t, t->n, NULL, 300);
    leave(t, "Q");
  }
}

/* A closed terminal window ends the program; it does not spin. */
static void test_hangup(void **state)
{
  (void)state;
  if (!program()) skip();
  terminal *t = opened(NULL, NULL);
  close(t->fd);
  assert_int_not_equal(ended(t), -1);
  test_free(t);
}

static void test_idle_is_silent(void **state)
{
  (void)state;
  if (!program()) skip();
  terminal *t = opened(NULL, NULL);
  size_t from = t->n;
  wait_for(t, from, NULL, 2000);
  assert_int_equal(t->n, from);
  leave(t, "Q");
}

/* Does any SGR sequence set a colour (30 to 49, 90 to 107)? */
static bool has_color(const char *s)
{
  for (const char *at = s; (at = strstr(at, "\x1b[")); at++) {
    const char *p = at + 2;
    while (*p >= '0' && *p <= ';') p++;
    if (*p != 'm') continue;
    for (const char *q = at + 2; q < p;) {
      long v = strtol(q, (char **)&q, 10);
      if ((v >= 30 && v <= 38) || (v >= 40 && v <= 48) || v >= 90) return true;
      if (q < p) q++;
    }
  }
  return false;
}

static void expect_color(const char *name, const char *value, bool want)
{
  terminal *t = opened(name, value);
  size_t from = t->n;
  type(t, "\r"); /* candidates: the pick has a colour */
  assert_true(wait_for(t, from, "resident", 10000));
  wait_for(t, from, NULL, 500);
  assert_int_equal(has_color(t->seen), want);
  assert_true(strstr(t->seen, "[7m") || strstr(t->seen, ";7m")); /* the cursor's row is reversed in any case */
  leave(t, "Q");
}

static void test_no_color(void **state)
{
  (void)state;
  if (!program()) skip();
  expect_color("NO_COLOR", "1", false);
  expect_color("NO_COLOR", "", true); /* set but empty: ignored */
}

/* No mouse is asked for, so the terminal's own selection works; the screen is given back. */
static void test_manners(void **state)
{
  (void)state;
  if (!program()) skip();
  terminal *t = opened(NULL, NULL);
  type(t, "Q");
  wait_for(t, 0, "\x1b[?1049l", 10000);
  assert_non_null(strstr(t->seen, "\x1b[?1049h"));
  assert_non_null(strstr(t->seen, "\x1b[?1049l"));
  assert_null(strstr(t->seen, "\x1b[?1000h"));
  assert_int_equal(ended(t), 0);
  close(t->fd);
  test_free(t);
}

/* ---- copying ---- */

static int digit(char c)
{
  const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", *at = strchr(digits, c);
  return c && at ? (int)(at - digits) : -1;
}

/* What the terminal was asked to take since `from`, behind `lead`. */
static char *taken(terminal *t, size_t from, const char *lead)
{
  static char text[4096];
  char *at = strstr(t->seen + from, lead);
  uint32_t bits = 0;
  size_t n = 0;
  assert_non_null(at);
  at += strlen(lead);
  for (int k = 1; digit(*at) >= 0 && n + 1 < sizeof text; at++, k++) {
    bits = bits << 6 | (uint32_t)digit(*at);
    if (k % 4 != 1) text[n++] = (char)(bits >> (6 - 2 * ((k - 1) % 4)));
  }
  text[n] = '\0';
  at += strspn(at, "=");
  assert_int_equal(*at, '\a');
  return text;
}

/* Nothing of a text that is too long reaches the terminal: it would take a part, or nothing at all. */
static void test_too_long_to_copy(void **state)
{
  (void)state;
  em_err err;
  char *text = test_calloc(EM_TERM_COPY_MAX + 2, 1);
  memset(text, 'x', EM_TERM_COPY_MAX + 1);
  assert_int_equal(em_term_copy(text, EM_TERM_COPY_MAX + 1, &err), EM_E_USAGE);
  assert_non_null(strstr(err.msg, "takes 74994 bytes, and this has 74995"));
  test_free(text);
}

/* Demand 22 of explorers: copying needs no window system; inside of tmux it is wrapped besides. */
static void test_copies_to_the_terminal(void **state)
{
  (void)state;
  if (!program()) skip();
  terminal *t = opened("TMUX", "/tmp/tmux-0/default,1,0");
  size_t from = t->n;
  type(t, "y");
  wait_for(t, from, "copied the row", 5000);
  const char *row = taken(t, from, "\033]52;c;");
  assert_memory_equal(row, "card = rtx4080\n", 15);
  assert_non_null(strstr(row, "\ncandidates = 4\n"));
  assert_string_equal(taken(t, from, "\033Ptmux;\033\033]52;c;"), row);
  const char *columns[][2] = {{"us", "1.5"}, {"candidates", "4"}, {"kind", "pointwise"}};
  for (size_t i = 0; i < N_OF(columns); i++) {
    char command[64];
    snprintf(command, sizeof command, ":copy %s\r", columns[i][0]);
    from = t->n;
    type(t, command);
    wait_for(t, from, "bytes", 5000);
    assert_string_equal(taken(t, from, "\033]52;c;"), columns[i][1]);
  }
  leave(t, "Q");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_interrupt_loses_nothing),
                                     cmocka_unit_test(test_one_escape_loses_nothing),
                                     cmocka_unit_test(test_function_keys_lose_nothing),
                                     cmocka_unit_test(test_wrong_bytes_lose_nothing),
                                     cmocka_unit_test(test_hangup),
                                     cmocka_unit_test(test_idle_is_silent),
                                     cmocka_unit_test(test_no_color),
                                     cmocka_unit_test(test_manners),
                                     cmocka_unit_test(test_copies_to_the_terminal),
                                     cmocka_unit_test(test_too_long_to_copy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
