/* mdoc.c - text of manual pages. */
#include <string.h>

#include "tui/mdoc.h"

enum { LINE = 78 };

/* As mdoc reads it back: backslash and leading control characters lose their meaning. */
void em_mdoc_escaped(em_str *out, const char *s, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\\')
      em_str_put(out, "\\e");
    else if (s[i] == '-')
      em_str_put(out, "\\-");
    else if (s[i] == '"')
      em_str_put(out, "\\(dq");
    else if ((unsigned char)s[i] == 0xc2 && i + 1 < n && (unsigned char)s[i + 1] == 0xb7) {
      em_str_put(out, "\\(pc");
      i++;
    } else
      em_str_putc(out, s[i]);
  }
}

static bool ends_sentence(const char *word, size_t n)
{
  while (n && (word[n - 1] == ')' || word[n - 1] == '"')) n--;
  return n > 1 && strchr(".?!", word[n - 1]) && !(n > 2 && word[n - 2] == '.');
}

/* One sentence a line, long ones broken; an empty line becomes a paragraph. */
void em_mdoc_text(em_str *out, const char *s)
{
  size_t line = out->len;
  em_str word = {0};
  while (*s) {
    s += strspn(s, " ");
    if (*s == '\n') {
      em_str_put(out, out->len > line ? "\n.Pp\n" : ".Pp\n");
      s += strspn(s, "\n");
      line = out->len;
      continue;
    }
    size_t n = strcspn(s, " \n");
    if (!n) break;
    em_str_clear(&word);
    if (*s == '.' || *s == '\'') em_str_put(&word, "\\&");
    em_mdoc_escaped(&word, s, n);
    if (out->len > line && out->len - line + word.len + 1 > LINE) {
      em_str_putc(out, '\n');
      line = out->len;
    }
    if (out->len > line) em_str_putc(out, ' ');
    em_str_putn(out, word.s ? word.s : "", word.len);
    if (ends_sentence(s, n)) {
      em_str_putc(out, '\n');
      line = out->len;
    }
    s += n;
  }
  if (out->len > line) em_str_putc(out, '\n');
  out->failed |= word.failed;
  em_str_free(&word);
}

void em_mdoc_item(em_str *out, const char *name, const char *text)
{
  em_str sentence = {0};
  em_str_put(out, *name == '.' ? ".It Cm \\&" : ".It Cm ");
  em_mdoc_escaped(out, name, strlen(name));
  em_str_printf(&sentence, "\n%s.", text);
  em_str_putc(out, '\n');
  em_mdoc_text(out, sentence.s ? sentence.s + 1 : "");
  em_str_free(&sentence);
}
