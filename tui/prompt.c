/* prompt.c - one line of text at the bottom of the screen. */
#include <curses.h>
#include <limits.h>
#include <string.h>
#include <wchar.h>

#include "tui/explore_int.h"

void em_prompt_start(em_prompt *p, em_action action, const char *text)
{
  *p = (em_prompt){.open = true, .action = action};
  snprintf(p->text, sizeof p->text, "%s", text);
}

/* Drops the last character, whole. */
static void drop_last(em_prompt *p)
{
  size_t n = strlen(p->text);
  while (n && ((unsigned char)p->text[n - 1] & 0xc0) == 0x80) n--;
  if (n) p->text[n - 1] = '\0';
}

static void append(em_prompt *p, int key)
{
  char bytes[MB_LEN_MAX + 1];
  mbstate_t state = {0};
  size_t n = wcrtomb(bytes, (wchar_t)key, &state), len = strlen(p->text);
  if (n == (size_t)-1 || len + n >= sizeof p->text) return;
  memcpy(p->text + len, bytes, n);
  p->text[len + n] = '\0';
}

bool em_prompt_key(em_prompt *p, int key, bool *given_up)
{
  *given_up = false;
  p->offers[0] = '\0';
  if (key == '\r') {
    p->open = false;
    return true;
  }
  if (key == 27 || key == EM_KEY_INTERRUPT || ((key == 127) && !*p->text)) {
    p->open = false;
    *given_up = true;
    return true;
  }
  if (key == 127)
    drop_last(p);
  else if (key == 'u' - 'a' + 1)
    p->text[0] = '\0';
  else if (key >= ' ' && key < EM_KEY_FIRST)
    append(p, key);
  return false;
}

em_word em_word_at(const char *text)
{
  em_word w = {.start = text + strspn(text, " ")};
  w.quoted = *w.start == '\'' || *w.start == '"';
  const char ends[2] = {w.quoted ? *w.start : ' ', '\0'};
  w.text = w.start + w.quoted;
  w.len = strcspn(w.text, ends);
  w.end = w.text + w.len + (w.text[w.len] != '\0');
  return w;
}

void em_prompt_draw(const em_prompt *p, int y)
{
  const char *sign = p->action == EM_ACT_SEARCH ? "/" : p->action == EM_ACT_FILTER ? "&" : ":";
  em_str line = {0};
  int tail = em_text_width(p->text) - (COLS - 3);
  const char *text = p->text;
  /* A long line shows its end: that is where one types. */
  while (tail > 0 && *text) {
    int used;
    size_t n = em_text_cut(text, 2, &used);
    text += n ? n : 1;
    tail -= used ? used : 1;
  }
  em_str_printf(&line, "%s%s_", sign, text);
  em_term_put(y, 0, COLS, line.s ? line.s : sign, em_term_attributes(EM_MARK_NONE, false));
  int used = em_text_width(line.s ? line.s : sign);
  if (*p->offers && used + 2 < COLS)
    em_term_put(y, used + 2, COLS - used - 2, p->offers, em_term_attributes(EM_MARK_DIM, false));
  em_str_free(&line);
}
