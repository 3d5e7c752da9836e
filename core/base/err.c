/* err.c - errors as values: one line of text, safe to print. */
#include <string.h>

#include "core/base/base_int.h"

/* Fills err->msg from raw text; what does not fit ends in "...". */
static void set_message(em_err *err, const char *raw, size_t len)
{
  static const char more[] = "...";
  if (em_safe_copy(err->msg, sizeof err->msg, raw, len)) return;
  em_safe_copy(err->msg, sizeof err->msg - (sizeof more - 1), raw, len);
  strcat(err->msg, more);
}

/* The raw text may be longer than the message: it is cut while escaping, at
 * the border of a character. */
#define RAW_LEN (2 * EM_ERR_LEN)

static size_t clip(int n)
{
  if (n < 0) return 0;
  return (size_t)n < RAW_LEN ? (size_t)n : RAW_LEN - 1;
}

static int vfail(em_err *err, em_code code, const char *fmt, va_list args)
{
  char raw[RAW_LEN]; /* apart from err->msg, which may be an argument */
  size_t len = clip(vsnprintf(raw, sizeof raw, fmt, args));
  err->code = code;
  set_message(err, raw, len);
  return code;
}

int em_fail(em_err *err, em_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  vfail(err, code, fmt, args);
  va_end(args);
  return code;
}

int em_fail_nomem(em_err *err)
{
  return em_fail(err, EM_E_NOMEM, "out of memory: close other programs or work on a smaller input");
}

int em_fail_errno(em_err *err, em_code code, int errnum, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  vfail(err, code, fmt, args);
  va_end(args);
  return em_fail(err, code, "%s: %s", err->msg, strerror(errnum));
}

int em_err_prefix(em_err *err, const char *fmt, ...)
{
  em_err head;
  va_list args;
  va_start(args, fmt);
  vfail(&head, err->code, fmt, args);
  va_end(args);
  return em_fail(err, err->code, "%s: %s", head.msg, err->msg);
}

int em_exit_status(em_code code)
{
#define STATUS(id, status, text) status,
  static const int status[] = {EM_CODES(STATUS)};
#undef STATUS
  return (unsigned)code < EM_N_CODES ? status[code] : 1;
}
