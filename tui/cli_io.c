/* cli_io.c - standard output and error, progress, signals. */
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tui/cli.h"

/* ---- standard output ---- */

static int put_errnum; /* of the first failed write */

static int put_bytes(const char *text, size_t len)
{
  if (!put_errnum && fwrite(text, 1, len, stdout) != len) put_errnum = errno ? errno : EIO;
  return put_errnum;
}

/* Line by line with control characters escaped: what comes from a file steers no terminal. */
static int put_safely(const char *text, size_t len)
{
  em_str all = {0}, line = {0};
  for (size_t at = 0; at < len;) {
    const char *end = memchr(text + at, '\n', len - at);
    size_t n = end ? (size_t)(end - (text + at)) : len - at;
    em_str_clear(&line);
    em_str_putn(&line, text + at, n);
    if (n) em_str_put_safe(&all, line.s ? line.s : "");
    if (end) em_str_putc(&all, '\n');
    at += n + (end != NULL);
  }
  bool failed = all.failed || line.failed;
  int rc = failed ? (put_errnum = ENOMEM) : put_bytes(all.s ? all.s : "", all.len);
  em_str_free(&all);
  em_str_free(&line);
  return rc;
}

int em_put(void *ctx, const char *text, size_t len)
{
  (void)ctx;
  return isatty(STDOUT_FILENO) ? put_safely(text, len) : put_bytes(text, len);
}

int em_put_text(em_str *text, em_err *err)
{
  int rc = em_str_finish(text, err);
  if (rc != EM_OK) return rc;
  em_put(NULL, text->s ? text->s : "", text->len);
  em_str_free(text);
  return EM_OK;
}

bool em_put_stopped(void) { return put_errnum != 0; }

int em_put_end(em_err *err)
{
  if (fflush(stdout) != 0 && !put_errnum) put_errnum = errno;
  if (!put_errnum || put_errnum == EPIPE) return EM_OK;
  return em_fail_errno(err, EM_E_IO, put_errnum, "cannot write to standard output");
}

/* ---- standard error ---- */

static bool progress_shown;

static void clear_progress(void)
{
  if (progress_shown) fputs("\r\033[K", stderr);
  progress_shown = false;
}

void em_warn(const char *fmt, ...)
{
  va_list args;
  char text[EM_ERR_LEN];
  em_str safe = {0};
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  em_str_put_safe(&safe, text);
  clear_progress();
  fprintf(stderr, "emmy: %s\n", safe.s ? safe.s : "out of memory");
  em_str_free(&safe);
}

bool em_is_ascii(const em_args *a) { return a->opt[EM_OPT_ASCII].set || strcmp(nl_langinfo(CODESET), "UTF-8") != 0; }

/* ---- progress ---- */

static volatile int cancelled;

static void on_stop(int sig)
{
  (void)sig;
  cancelled = 1;
}

/* The first signal asks the work to stop, the second one ends the program.  A hang-up that nohup has ignored stays so. */
static void catch_stop(void)
{
  struct sigaction a = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND}, before;
  sigaction(SIGINT, &a, NULL);
  sigaction(SIGTERM, &a, NULL);
  if (sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN) sigaction(SIGHUP, &a, NULL);
}

static int64_t now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One line, drawn over itself ten times a second at most. */
static void report(void *ctx, const char *what, size_t done, size_t total)
{
  static int64_t last;
  (void)ctx;
  int64_t now = now_ms();
  if (now - last < 100) return;
  last = now;
  progress_shown = true;
  fprintf(stderr, "\r%s %zu/%zu\033[K", what, done, total);
  fflush(stderr);
}

const em_progress *em_cli_progress(void)
{
  static em_progress p = {.cancel = &cancelled};
  p.report = isatty(STDERR_FILENO) ? report : NULL;
  catch_stop();
  return &p;
}

void em_cli_progress_end(void)
{
  clear_progress();
  fflush(stderr);
}
