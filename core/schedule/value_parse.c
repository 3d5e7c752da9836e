/* value_parse.c - reads the values of the families.
 *
 * Each reader takes more than the grammar: widths of 1, leading zeros, upper case,
 * optional tokens in any order.  What it read is then printed, and only a text that
 * comes back unchanged is accepted.  So a wrong spelling of a right value gets the
 * right spelling as its error, and everything else an expectation at a character. */
#include "core/schedule/schedule_int.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

typedef struct reader {
  const em_family_info *family;
  const char *s; /* the whole value */
  size_t at;
  em_err *err;
} reader;

/* As much of a text as a message shows. */
typedef struct clip {
  char s[72];
} clip;
static clip shown(const char *s)
{
  clip c;
  size_t n = strlen(s), most = sizeof c.s - 4;
  if (n <= most) {
    memcpy(c.s, s, n + 1);
    return c;
  }
  while (most > 0 && ((unsigned char)s[most] & 0xc0) == 0x80) /* whole characters only */
    most--;
  memcpy(c.s, s, most);
  memcpy(c.s + most, "...", 4);
  return c;
}

static reader reader_of(em_family f, const char *s, em_err *err)
{
  return (reader){.family = em_family_at(f), .s = s, .at = 0, .err = err};
}

static int fail_expected(reader *r, const char *expected)
{
  clip value = shown(r->s), rest = shown(r->s + r->at);
  if (r->s[r->at] == '\0')
    return em_fail(r->err, EM_E_INPUT, "%s \"%s\": at its end expected %s; grammar: %s", r->family->name, value.s,
                   expected, r->family->grammar);
  return em_fail(r->err, EM_E_INPUT, "%s \"%s\": at character %zu found \"%s\", expected %s; grammar: %s",
                 r->family->name, value.s, r->at + 1, rest.s, expected, r->family->grammar);
}

/* A value that parses but may not stand here. */
static int fail_rule(reader *r, const char *why)
{
  clip value = shown(r->s);
  return em_fail(r->err, EM_E_INPUT, "%s \"%s\": %s", r->family->name, value.s, why);
}

static int check_spelling(reader *r, const char *canonical)
{
  if (strcmp(r->s, canonical) == 0) return EM_OK;
  clip value = shown(r->s);
  return em_fail(r->err, EM_E_INPUT, "%s \"%s\" is not canonical: write \"%s\"", r->family->name, value.s, canonical);
}

static char peek(const reader *r) { return (char)tolower((unsigned char)r->s[r->at]); }

/* Takes `word` where it stands, whatever follows. */
static bool take(reader *r, const char *word)
{
  size_t n = strlen(word);
  if (strncasecmp(r->s + r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

/* Takes `word` where it is a whole token. */
static bool take_token(reader *r, const char *word)
{
  size_t n = strlen(word);
  if (strncasecmp(r->s + r->at, word, n) != 0 || (r->s[r->at + n] != '\0' && r->s[r->at + n] != '/')) return false;
  r->at += n;
  return true;
}

static int read_width(reader *r, unsigned max, unsigned *out)
{
  if (!isdigit((unsigned char)peek(r))) return fail_expected(r, "a width (a decimal number)");
  size_t start = r->at;
  unsigned v = 0;
  for (; isdigit((unsigned char)peek(r)); r->at++) v = v > max ? v : v * 10 + (unsigned)(peek(r) - '0');
  if (v >= 1 && v <= max) {
    *out = v;
    return EM_OK;
  }
  char expected[48];
  snprintf(expected, sizeof expected, "a width of 1 to %u", max);
  r->at = start;
  return fail_expected(r, expected);
}

static int read_width8(reader *r, uint8_t *out)
{
  unsigned v = 0;
  int rc = read_width(r, UINT8_MAX, &v);
  *out = (uint8_t)v;
  return rc;
}

static int read_width16(reader *r, uint16_t *out)
{
  unsigned v = 0;
  int rc = read_width(r, UINT16_MAX, &v);
  *out = (uint16_t)v;
  return rc;
}

/* ["x" width]; 1 when it is not there. */
static int read_times16(reader *r, uint16_t *out)
{
  *out = 1;
  return take(r, "x") ? read_width16(r, out) : EM_OK;
}

static int read_times8(reader *r, uint8_t *out)
{
  *out = 1;
  return take(r, "x") ? read_width8(r, out) : EM_OK;
}

/* ---- WORK ---- */

static int read_work(reader *r, em_work *w)
{
  if (take(r, "t")) {
    w->kind = EM_WORK_THREADS;
    int rc = read_width16(r, &w->n);
    return rc ? rc : read_times16(r, &w->m);
  }
  if (!take(r, "w")) return fail_expected(r, "\"t\" (threads) or \"w\" (warps)");
  w->kind = EM_WORK_WARPS;
  int rc = read_width16(r, &w->m);
  if (!rc) rc = read_times16(r, &w->n);
  if (!rc && take(r, "+p")) rc = read_width8(r, &w->producers);
  return rc;
}

int em_work_parse(const char *s, em_work *out, em_err *err)
{
  reader r = reader_of(EM_WORK, s, err);
  em_work w = {0};
  if (*s) {
    int rc = read_work(&r, &w);
    if (rc) return rc;
    if (s[r.at]) return fail_expected(&r, w.kind == EM_WORK_WARPS ? "\"+p\" or the end" : "\"x\" or the end");
  }
  char canonical[EM_VALUE_LEN];
  int rc = check_spelling(&r, em_work_print(w, canonical));
  if (!rc) *out = w;
  return rc;
}

/* ---- TILE ---- */

static const em_tile no_tile = {.kind = EM_TILE_NONE, .atom = -1, .fn = 1, .fm = 1};

static bool many_threads(em_work w) { return w.kind == EM_WORK_THREADS && (w.n > 1 || w.m > 1); }

static int read_scalar_tile(reader *r, em_work w, em_tile *t)
{
  t->kind = EM_TILE_SCALAR;
  int rc = read_width8(r, &t->fn);
  if (!rc) rc = read_times8(r, &t->fm);
  if (!rc && r->s[r->at]) rc = fail_expected(r, "\"x\" or the end");
  /* One register of one thread is no tile. */
  if (!rc && t->fn == 1 && t->fm == 1 && w.kind != EM_WORK_UNDECIDED && !many_threads(w)) *t = no_tile;
  return rc;
}

static int fail_atom(reader *r, const char *name)
{
  size_t best = 0;
  for (size_t i = 1; i < em_n_atoms(); i++)
    if (em_edit_distance(em_atom_at(i)->name, name) < em_edit_distance(em_atom_at(best)->name, name)) best = i;
  char expected[96];
  snprintf(expected, sizeof expected, "\"f\" or an instruction (the nearest is \"%s\")", em_atom_at(best)->name);
  r->at = 0;
  return fail_expected(r, expected);
}

static int read_atom(reader *r, em_tile *t)
{
  char name[32] = "";
  size_t len = strcspn(r->s, "/");
  for (size_t i = 0; i < len && i + 1 < sizeof name; i++) name[i] = (char)tolower((unsigned char)r->s[i]);
  t->atom = (int8_t)em_atom_find(name, len < sizeof name ? len : 0);
  r->at = len;
  return t->atom < 0 ? fail_atom(r, name) : EM_OK;
}

static int read_warp_tile(reader *r, em_work w, em_tile *t)
{
  t->kind = EM_TILE_WARP;
  t->bk = 1;
  int rc = read_atom(r, t);
  if (!rc && !take(r, "/f")) rc = fail_expected(r, "\"/f<FM>x<FN>\"");
  if (!rc) rc = read_width8(r, &t->fm);
  if (!rc) rc = read_times8(r, &t->fn);
  if (!rc && take(r, "/k")) rc = read_width8(r, &t->bk);
  if (!rc && r->s[r->at]) rc = fail_expected(r, "\"/k<BK>\" or the end");
  if (!rc && w.kind != EM_WORK_WARPS && w.kind != EM_WORK_UNDECIDED)
    rc = fail_rule(r, "a tensor-core tile is held by warps: expected WORK w<M>x<N> beside it");
  return rc;
}

int em_tile_parse(const char *s, em_work w, em_tile *out, em_err *err)
{
  reader r = reader_of(EM_TILE, s, err);
  em_tile t = no_tile;
  int rc = EM_OK;
  if (take(&r, "f"))
    rc = read_scalar_tile(&r, w, &t);
  else if (*s)
    rc = read_warp_tile(&r, w, &t);
  char canonical[EM_VALUE_LEN];
  if (!rc) rc = check_spelling(&r, em_tile_print(t, canonical));
  if (!rc) *out = t;
  return rc;
}

/* ---- optional "/"-tokens, each at most once ---- */

static int token_once(reader *r, unsigned *seen, unsigned bit)
{
  if (*seen & bit) return fail_rule(r, "a token stands twice, expected each at most once");
  *seen |= bit;
  return EM_OK;
}

static int token_width(reader *r, unsigned *seen, unsigned bit, uint8_t *out)
{
  int rc = token_once(r, seen, bit);
  return rc ? rc : read_width8(r, out);
}

/* Between tokens: true when another follows. */
static bool next_token(reader *r, int *rc)
{
  if (*rc || r->s[r->at] == '\0') return false;
  if (!take(r, "/")) *rc = fail_expected(r, "\"/\" or the end");
  return !*rc;
}

/* ---- REDUCE ---- */

static int read_split(reader *r, unsigned *seen, em_reduce *v)
{
  int rc = token_width(r, seen, 1, &v->cta);
  if (rc) return rc;
  v->finalize = take(r, "a") ? 'a' : 'k';
  if (v->finalize == 'k') take(r, "k"); /* a missing letter reads as k and fails by its spelling */
  if (v->cta == 1) v->finalize = 0;
  return EM_OK;
}

static int read_reduce_token(reader *r, unsigned *seen, em_reduce *v)
{
  if (take_token(r, "coop")) {
    v->coop = EM_COOP;
    return token_once(r, seen, 2);
  }
  if (take_token(r, "coop-t")) {
    v->coop = EM_COOP_T;
    return token_once(r, seen, 2);
  }
  if (take(r, "g")) return read_split(r, seen, v);
  if (take(r, "v")) return token_width(r, seen, 4, &v->v);
  if (take(r, "r")) return token_width(r, seen, 8, &v->r);
  return fail_expected(r, "g<W>a, g<W>k, coop, coop-t, v<C> or r<R>");
}

static int check_coop(reader *r, em_work w, em_reduce *v)
{
  if (v->v > 1 && v->coop != EM_COOP_T)
    return fail_rule(r, "v<C> is the columns of a coop-t: expected coop-t before it");
  if (v->coop == EM_COOP_NONE || w.kind == EM_WORK_UNDECIDED) return EM_OK;
  if (w.kind != EM_WORK_THREADS) return fail_rule(r, "the threads of WORK cooperate: expected WORK t<N> beside coop");
  if (w.n == 1) { /* one thread alone does not cooperate */
    v->coop = EM_COOP_NONE;
    v->v = 1;
  }
  return EM_OK;
}

int em_reduce_parse(const char *s, em_work w, em_reduce *out, em_err *err)
{
  reader r = reader_of(EM_REDUCE, s, err);
  em_reduce v = {.cta = 1, .v = 1, .r = 1};
  unsigned seen = 0;
  int rc = EM_OK;
  if (*s) do
      rc = read_reduce_token(&r, &seen, &v);
    while (next_token(&r, &rc));
  if (!rc) rc = check_coop(&r, w, &v);
  char canonical[EM_VALUE_LEN];
  if (!rc) rc = check_spelling(&r, em_reduce_print(v, canonical));
  if (!rc) *out = v;
  return rc;
}

/* ---- STAGE ---- */

static int read_transport(reader *r, em_stage *v)
{
  if (!take(r, "d")) return fail_expected(r, "\"d<D>\" (ring depth)");
  int rc = read_width8(r, &v->depth);
  if (rc) return rc;
  if (!take(r, "/")) return fail_expected(r, "\"/\" and a transport");
  for (int i = 0; i < EM_N_TRANSPORTS; i++)
    if (take_token(r, em_transport_names[i])) {
      v->transport = (uint8_t)(EM_STAGE_REG + i);
      return EM_OK;
    }
  return fail_expected(r, "a transport: reg, smem, smem-async or smem-tma");
}

static int read_stage_token(reader *r, unsigned *seen, em_stage *v)
{
  if (take_token(r, "out")) {
    v->out = true;
    return token_once(r, seen, 1);
  }
  if (take(r, "p")) return token_width(r, seen, 2, &v->p);
  if (take(r, "c")) return token_width(r, seen, 4, &v->c);
  return fail_expected(r, "p<P>, c<C> or out");
}

static int read_stage(reader *r, em_stage *v)
{
  unsigned seen = 0;
  v->p = v->c = 1;
  int rc = read_transport(r, v);
  while (next_token(r, &rc)) rc = read_stage_token(r, &seen, v);
  if (!rc && v->c > 1 && v->transport != EM_STAGE_TMA)
    rc = fail_rule(r, "a cluster shares TMA copies: expected smem-tma before c<C>");
  if (!rc && v->out && v->transport == EM_STAGE_REG)
    rc = fail_rule(r, "the output leaves through shared memory: expected an smem transport before out");
  return rc;
}

int em_stage_parse(const char *s, em_stage *out, em_err *err)
{
  reader r = reader_of(EM_STAGE, s, err);
  em_stage v = {0};
  int rc = *s ? read_stage(&r, &v) : EM_OK;
  char canonical[EM_VALUE_LEN];
  if (!rc) rc = check_spelling(&r, em_stage_print(v, canonical));
  if (!rc) *out = v;
  return rc;
}

/* ---- RASTER, PLACE, LAYOUT ---- */

static int read_raster(reader *r, em_raster *v)
{
  if (take(r, "gm"))
    v->orient = 'm';
  else if (take(r, "gn"))
    v->orient = 'n';
  else
    return fail_expected(r, "\"gm\" or \"gn\"");
  int rc = read_width8(r, &v->group);
  if (!rc && r->s[r->at]) rc = fail_expected(r, "the end");
  if (!rc && v->group == 1) *v = (em_raster){0};
  return rc;
}

int em_raster_parse(const char *s, em_raster *out, em_err *err)
{
  reader r = reader_of(EM_RASTER, s, err);
  em_raster v = {0};
  int rc = *s ? read_raster(&r, &v) : EM_OK;
  char canonical[EM_VALUE_LEN];
  if (!rc) rc = check_spelling(&r, em_raster_print(v, canonical));
  if (!rc) *out = v;
  return rc;
}

static int check_word(em_family f, const char *s, const char *const words[2], em_err *err)
{
  reader r = reader_of(f, s, err);
  for (int i = 0; i < 2; i++)
    if (strcasecmp(s, words[i]) == 0) return check_spelling(&r, words[i]);
  return fail_expected(&r, "one of two words");
}

int em_value_check(em_family f, const char *value, em_work w, em_err *err)
{
  static const char *const places[2] = {"fuse", "cut"}, *const layouts[2] = {"folded", "source"};
  em_work work;
  em_tile tile;
  em_reduce reduce;
  em_stage stage;
  em_raster raster;
  switch (f) {
  case EM_WORK: return em_work_parse(value, &work, err);
  case EM_TILE: return em_tile_parse(value, w, &tile, err);
  case EM_REDUCE: return em_reduce_parse(value, w, &reduce, err);
  case EM_STAGE: return em_stage_parse(value, &stage, err);
  case EM_RASTER: return em_raster_parse(value, &raster, err);
  case EM_PLACE: return check_word(f, value, places, err);
  case EM_LAYOUT: return check_word(f, value, layouts, err);
  case EM_N_FAMILIES: break;
  }
  return em_fail(err, EM_E_INPUT, "no such knob family");
}
