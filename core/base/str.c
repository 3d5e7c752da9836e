/* str.c - a growing string that remembers that memory ran out. */
#include <string.h>

#include "core/base/base_int.h"

/* Room for `more` bytes and a NUL. */
static bool reserve(em_str *b, size_t more)
{
  if (b->failed) return false;
  em_err ignored; /* em_str_finish tells */
  size_t need;
  if (__builtin_add_overflow(b->len, more, &need) || need == SIZE_MAX ||
      em_grow(&b->s, &b->cap, need + 1, 1, &ignored)) {
    b->failed = true;
    return false;
  }
  return true;
}

void em_str_putn(em_str *b, const char *s, size_t n)
{
  if (!reserve(b, n)) return;
  if (n) memcpy(b->s + b->len, s, n);
  b->len += n;
  b->s[b->len] = '\0';
}

void em_str_put(em_str *b, const char *s) { em_str_putn(b, s, strlen(s)); }

void em_str_putc(em_str *b, char c) { em_str_putn(b, &c, 1); }

void em_str_printf(em_str *b, const char *fmt, ...)
{
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  if (n < 0) {
    b->failed = true;
  } else if (reserve(b, (size_t)n)) {
    vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
    b->len += (size_t)n;
  }
  va_end(again);
  va_end(args);
}

/* A control character, a quote or a backslash; a byte that is no text as em_str_put_safe shows it. */
static void put_json_char(em_str *b, char c)
{
  static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
  const char *at = c ? strchr(plain, c) : NULL;
  if (at) {
    em_str_putc(b, '\\');
    em_str_putc(b, letter[at - plain]);
  } else if ((unsigned char)c < 0x20) {
    em_str_printf(b, "\\u%04x", (unsigned)(unsigned char)c);
  } else {
    em_str_printf(b, "\\\\x%02x", (unsigned)(unsigned char)c);
  }
}

/* Bytes of the run that needs no escape. */
static size_t json_run(const char *s, size_t n)
{
  size_t run = 0, step = 1;
  while (run < n && step && (unsigned char)s[run] >= 0x20 && s[run] != '"' && s[run] != '\\') {
    step = em_utf8_step(s + run, n - run);
    run += step;
  }
  return run;
}

void em_str_put_json(em_str *b, const char *s)
{
  size_t n = strlen(s);
  em_str_putc(b, '"');
  for (size_t i = 0; i < n;) {
    size_t run = json_run(s + i, n - i);
    em_str_putn(b, s + i, run);
    i += run;
    if (i < n) put_json_char(b, s[i++]);
  }
  em_str_putc(b, '"');
}

void em_str_put_safe(em_str *b, const char *s)
{
  size_t n = strlen(s);
  for (size_t i = 0; i < n;) {
    char piece[17]; /* four escaped bytes and a NUL */
    size_t step = em_utf8_step(s + i, n - i);
    if (!step) step = 1;
    em_safe_copy(piece, sizeof piece, s + i, step);
    em_str_put(b, piece);
    i += step;
  }
}

void em_str_clear(em_str *b)
{
  b->len = 0;
  if (b->s) b->s[0] = '\0';
}

void em_str_free(em_str *b)
{
  em_free(b->s);
  *b = (em_str){0};
}

int em_str_finish(em_str *b, em_err *err)
{
  if (!b->failed) return EM_OK;
  em_str_free(b);
  return em_fail_nomem(err);
}

int em_str_take(em_str *b, char **out, em_err *err)
{
  em_str_putn(b, "", 0); /* so that an empty string is one */
  int rc = em_str_finish(b, err);
  if (rc) return rc;
  *out = b->s;
  *b = (em_str){0};
  return EM_OK;
}
