/* num.c - numbers and names as text, whatever the locale. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base_int.h"

static locale_t c_locale;

static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t em_c_locale(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_c_locale);
  return c_locale;
}

/* ---- double to text ----------------------------------------------------- */

#define MAX_DIGITS 17 /* always enough for a double */

typedef struct decimal {
  char digits[MAX_DIGITS + 1]; /* d1 d2 ... meaning d1.d2... * 10^exp */
  int exp;
} decimal;

/* The n-digit decimal nearest to x > 0. */
static decimal round_to_digits(double x, int n)
{
  char text[64];
  decimal d = {0};
  snprintf(text, sizeof text, "%.*e", n - 1, x);
  const char *p = text;
  for (int k = 0; k < n; p++) /* the decimal sign is the locale's: skipped whatever it is */
    if (isdigit((unsigned char)*p)) d.digits[k++] = *p;
  d.exp = atoi(strchr(p, 'e') + 1);
  return d;
}

static double value_of(const decimal *d)
{
  char text[64];
  snprintf(text, sizeof text, "%se%d", d->digits, d->exp - (int)strlen(d->digits) + 1);
  return strtod_l(text, NULL, em_c_locale());
}

/* The next decimal of the same length. */
static void step_up(decimal *d)
{
  int i = (int)strlen(d->digits) - 1;
  while (i >= 0 && d->digits[i] == '9') d->digits[i--] = '0';
  if (i >= 0) {
    d->digits[i]++;
  } else {
    d->digits[0] = '1';
    d->exp++;
  }
}

/* Does an n-digit decimal read back as x?  The nearest one does if any, save
 * at a power of two: doubles lie closer below it than above, so the nearest
 * may miss (below) where the next (above) still hits. */
static bool try_digits(double x, int n, decimal *d)
{
  *d = round_to_digits(x, n);
  if (value_of(d) == x) return true;
  int e;
  if (frexp(x, &e) != 0.5) return false;
  step_up(d);
  return value_of(d) == x;
}

static decimal shortest(double x)
{
  decimal d;
  /* A normal double has 15 safe digits: a shorter text is those without zeros. */
  int n = fpclassify(x) == FP_SUBNORMAL ? 1 : 15;
  while (n < MAX_DIGITS && !try_digits(x, n, &d)) n++;
  if (n == MAX_DIGITS) d = round_to_digits(x, n);
  size_t len = strlen(d.digits);
  while (len > 1 && d.digits[len - 1] == '0') d.digits[--len] = '\0';
  return d;
}

/* Python's rule: an exponent below -4 or from 16 on is written as one. */
static void write_decimal(const decimal *d, bool negative, char buf[EM_DOUBLE_LEN])
{
  char text[2 * EM_DOUBLE_LEN], *p = text; /* at most 25 bytes, but a compiler cannot know */
  size_t room = sizeof text - 1;
  if (negative) *p++ = '-';
  int len = (int)strlen(d->digits);
  if (d->exp < -4 || d->exp >= 16)
    snprintf(p, room, "%c%s%se%c%02d", d->digits[0], len > 1 ? "." : "", d->digits + 1, d->exp < 0 ? '-' : '+',
             abs(d->exp));
  else if (d->exp < 0)
    snprintf(p, room, "0.%.*s%s", -d->exp - 1, "0000", d->digits);
  else if (len <= d->exp + 1)
    snprintf(p, room, "%s%.*s.0", d->digits, d->exp + 1 - len, "0000000000000000");
  else
    snprintf(p, room, "%.*s.%s", d->exp + 1, d->digits, d->digits + d->exp + 1);
  memcpy(buf, text, strlen(text) + 1);
}

const char *em_double_repr(double x, char buf[EM_DOUBLE_LEN])
{
  decimal d = {.digits = "0"};
  if (x != 0) d = shortest(fabs(x));
  write_decimal(&d, signbit(x), buf);
  return buf;
}

/* ---- text to number ----------------------------------------------------- */

bool em_parse_i64(const char *s, int64_t lo, int64_t hi, int64_t *out)
{
  bool negative = s[0] == '-';
  const char *p = s + negative;
  if (!isdigit((unsigned char)p[0]) || (p[0] == '0' && (p[1] || negative))) return false;
  int64_t v = 0;
  for (; *p; p++) {
    if (!isdigit((unsigned char)*p)) return false;
    int digit = negative ? -(*p - '0') : *p - '0';
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v)) return false;
  }
  if (v < lo || v > hi) return false;
  *out = v;
  return true;
}

bool em_parse_f64(const char *s, double *out)
{
  if (!*s || s[strspn(s, "0123456789+-.eE")]) return false; /* no blanks, hex, inf, nan */
  char *end;
  double v = strtod_l(s, &end, em_c_locale());
  if (*end || !isfinite(v)) return false;
  *out = v;
  return true;
}

/* ---- names -------------------------------------------------------------- */

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool em_name_is_identifier(const char *s)
{
  if (!*s || (*s >= '0' && *s <= '9')) return false;
  while (is_word(*s)) s++;
  return !*s;
}

#define MAX_NAME 128 /* nobody mistypes a longer one */

static char fold(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static int min3(int a, int b, int c)
{
  int m = a < b ? a : b;
  return m < c ? m : c;
}

int em_edit_distance(const char *a, const char *b)
{
  size_t na = strlen(a), nb = strlen(b);
  if (na > MAX_NAME || nb > MAX_NAME) {
    size_t longer = na > nb ? na : nb;
    return longer < INT_MAX ? (int)longer : INT_MAX;
  }
  int rows[3][MAX_NAME + 1]; /* row i of the usual table is rows[i % 3] */
  for (size_t j = 0; j <= nb; j++) rows[0][j] = (int)j;
  for (size_t i = 1; i <= na; i++) {
    int *now = rows[i % 3], *up = rows[(i + 2) % 3], *upup = rows[(i + 1) % 3];
    now[0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      char ca = fold(a[i - 1]), cb = fold(b[j - 1]);
      now[j] = min3(up[j] + 1, now[j - 1] + 1, up[j - 1] + (ca != cb));
      bool swapped = i > 1 && j > 1 && ca == fold(b[j - 2]) && fold(a[i - 2]) == cb;
      if (swapped && upup[j - 2] + 1 < now[j]) now[j] = upup[j - 2] + 1;
    }
  }
  return rows[na % 3][nb];
}
