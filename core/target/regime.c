/* regime.c - the text of a regime: what a measurement is true of besides kernel and card. */
#include "core/target/target.h"

#include <string.h>

static const char fast_math_word[] = "--use_fast_math", cold_word[] = "cold-cache";
enum { OPT_MAX = 3 };

const char *em_regime_text(em_regime r, char buf[64])
{
  int n = snprintf(buf, 64, "%s%s%s", r.fast_math ? fast_math_word : "", r.fast_math && r.cold_cache ? " " : "",
                   r.cold_cache ? cold_word : "");
  if (r.opt != EM_REGIME_DEFAULT.opt) snprintf(buf + n, 64 - (size_t)n, "%s-O%d", n ? " " : "", r.opt);
  return buf;
}

/* Takes `word` and the blank after it from *s. */
static bool take_word(const char **s, const char *word)
{
  size_t n = strlen(word);
  if (strncmp(*s, word, n) != 0 || ((*s)[n] != '\0' && (*s)[n] != ' ')) return false;
  *s += n;
  *s += **s == ' ';
  return true;
}

int em_regime_parse(const char *text, em_regime *out, em_err *err)
{
  em_regime r = EM_REGIME_DEFAULT;
  const char *s = text;
  r.fast_math = take_word(&s, fast_math_word);
  r.cold_cache = take_word(&s, cold_word);
  for (int opt = 0; opt <= OPT_MAX; opt++) {
    const char word[] = {'-', 'O', (char)('0' + opt), '\0'};
    if (take_word(&s, word)) r.opt = opt;
  }
  /* One spelling a regime: anything that does not come back is refused. */
  char buf[64];
  if (*s != '\0' || strcmp(em_regime_text(r, buf), text) != 0)
    return em_fail(
      err, EM_E_INPUT,
      "regime \"%.80s\" is not one: expected any of \"%s\", \"%s\", \"-O<0..2>\" in this order, one blank between",
      text, fast_math_word, cold_word);
  *out = r;
  return EM_OK;
}

int em_regime_compare(em_regime a, em_regime b)
{
  if (a.fast_math != b.fast_math) return a.fast_math ? 1 : -1;
  if (a.cold_cache != b.cold_cache) return a.cold_cache ? 1 : -1;
  return (b.opt > a.opt) - (b.opt < a.opt);
}
