/* utf8.c - which bytes are text, and which text is harmless on a terminal. */
#include <string.h>

#include "core/base/base_int.h"

size_t em_utf8_step(const char *s, size_t n)
{
  const unsigned char *u = (const unsigned char *)s;
  if (n == 0) return 0;
  if (u[0] < 0x80) return 1;
  size_t len = u[0] >= 0xF0 ? 4 : u[0] >= 0xE0 ? 3 : 2;
  if (u[0] < 0xC2 || u[0] > 0xF4 || n < len) return 0;
  for (size_t i = 1; i < len; i++)
    if ((u[i] & 0xC0) != 0x80) return 0;
  bool overlong = (u[0] == 0xE0 && u[1] < 0xA0) || (u[0] == 0xF0 && u[1] < 0x90);
  bool surrogate = u[0] == 0xED && u[1] > 0x9F;
  bool too_large = u[0] == 0xF4 && u[1] > 0x8F;
  return overlong || surrogate || too_large ? 0 : len;
}

bool em_is_utf8(const char *s)
{
  size_t n = strlen(s), step = 1;
  for (size_t i = 0; i < n && step; i += step) step = em_utf8_step(s + i, n - i);
  return step > 0;
}

/* C0, DEL, C1 (U+0080 to U+009F), and what turns the order of text around or breaks
 * its line: U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool is_control(const unsigned char *u)
{
  if (u[0] == 0xE2 && u[1] == 0x80) return u[2] == 0x8E || u[2] == 0x8F || (u[2] >= 0xA8 && u[2] <= 0xAE);
  if (u[0] == 0xE2 && u[1] == 0x81) return u[2] >= 0xA6 && u[2] <= 0xA9;
  return u[0] < 0x20 || u[0] == 0x7F || (u[0] == 0xC2 && u[1] < 0xA0);
}

bool em_safe_copy(char *dst, size_t cap, const char *s, size_t n)
{
  static const char digit[] = "0123456789abcdef";
  size_t at = 0, i = 0;
  while (i < n) {
    size_t step = em_utf8_step(s + i, n - i);
    bool escape = step == 0 || is_control((const unsigned char *)s + i);
    size_t take = step ? step : 1, room = escape ? 4 * take : take;
    if (at + room >= cap) break;
    for (size_t k = 0; k < take; k++) {
      unsigned char c = (unsigned char)s[i + k];
      if (escape) {
        dst[at++] = '\\';
        dst[at++] = 'x';
        dst[at++] = digit[c >> 4];
        dst[at++] = digit[c & 15];
      } else {
        dst[at++] = (char)c;
      }
    }
    i += take;
  }
  dst[at] = '\0';
  return i == n;
}
