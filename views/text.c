/* text.c - how many terminal cells UTF-8 text takes, and where to cut it. */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "views/views.h"

/* Decodes one character; invalid bytes count as one character of one cell.  Not
 * mbrtowc: the width of a table must not depend on the locale of the process. */
static size_t decode(const char *s, uint32_t *cp)
{
  const unsigned char *u = (const unsigned char *)s;
  size_t n = u[0] < 0x80 ? 1 : (u[0] & 0xe0) == 0xc0 ? 2 : (u[0] & 0xf0) == 0xe0 ? 3 : (u[0] & 0xf8) == 0xf0 ? 4 : 1;
  *cp = n == 1 ? u[0] : u[0] & (0xffu >> (n + 1));
  for (size_t i = 1; i < n; i++) {
    if ((u[i] & 0xc0) != 0x80) {
      *cp = u[0];
      return 1;
    }
    *cp = *cp << 6 | (u[i] & 0x3f);
  }
  return n;
}

/* Ranges of zero and double width (Unicode 15, East Asian Wide and combining marks),
 * coarse at the edges: a doubtful character costs alignment, never memory. */
typedef struct range {
  uint32_t lo, hi;
} range;
static const range zero_width[] = {
  {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},  {0x0e34, 0x0e3a},
  {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x2064},
  {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};
static const range double_width[] = {
  {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},  {0x2614, 0x2615}, {0x26a1, 0x26a1},
  {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2753, 0x2757},   {0x2b1b, 0x2b1c},  {0x2e80, 0x303e}, {0x3041, 0xa4cf},
  {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},  {0xff01, 0xff60}, {0xffe0, 0xffe6},
  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

static bool in_ranges(const range *r, size_t n, uint32_t cp)
{
  for (size_t i = 0; i < n && r[i].lo <= cp; i++)
    if (cp <= r[i].hi) return true;
  return false;
}

static int width_of(uint32_t cp)
{
  if (cp < 0x300) return 1;
  if (in_ranges(zero_width, sizeof zero_width / sizeof *zero_width, cp)) return 0;
  return in_ranges(double_width, sizeof double_width / sizeof *double_width, cp) ? 2 : 1;
}

int em_text_width(const char *s)
{
  int used;
  em_text_cut(s, INT32_MAX, &used);
  return used;
}

size_t em_text_cut(const char *s, int cells, int *used)
{
  size_t at = 0;
  *used = 0;
  while (s[at]) {
    uint32_t cp;
    size_t n = decode(s + at, &cp);
    int w = width_of(cp);
    if (*used > cells - w) break;
    *used += w;
    at += n;
  }
  return at;
}
