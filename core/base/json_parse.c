/* json_parse.c - a strict JSON reader that builds cJSON trees.
 *
 * cJSON's own reader takes more than JSON (loose numbers, control characters,
 * repeated keys) and drops the text of numbers, so only its tree is used. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base_int.h"

/* A key that was seen, for the search for repeated ones. */
typedef struct seen_key {
  const char *key; /* borrowed from its node */
  size_t offset;
} seen_key;

typedef struct parser {
  const char *text;
  size_t len, at;
  const char *file;
  em_err *err;
  em_str scratch; /* the string or number being read */
  seen_key *keys; /* of all open objects, innermost last */
  size_t n_keys, cap_keys;
  int depth;
} parser;

/* cJSON allocates its nodes as we do ours, so em_json_free can free both. */
__attribute__((constructor)) static void use_our_allocator(void)
{
  cJSON_Hooks hooks = {em_alloc, em_free};
  cJSON_InitHooks(&hooks);
}

void em_json_free(cJSON *json) { cJSON_Delete(json); }

static size_t line_of(const parser *p, size_t offset)
{
  size_t line = 1;
  for (size_t i = 0; i < offset; i++) line += p->text[i] == '\n';
  return line;
}

static int fail_at_byte(parser *p, size_t offset, const char *found, const char *expected)
{
  return em_fail(p->err, EM_E_INPUT, "%s: line %zu, byte %zu: found %s, expected %s", p->file, line_of(p, offset),
                 offset, found, expected);
}

/* The same, quoting what stands at `offset`. */
static int fail_found(parser *p, size_t offset, const char *expected)
{
  if (offset >= p->len) return fail_at_byte(p, offset, "the end of the text (is it cut off?)", expected);
  char found[24];
  size_t step = em_utf8_step(p->text + offset, p->len - offset);
  bool word = step == 1 && p->text[offset] > ' ' && p->text[offset] < 0x7F;
  if (word || step > 1)
    snprintf(found, sizeof found, "'%.*s'", (int)step, p->text + offset);
  else
    snprintf(found, sizeof found, "byte 0x%02x", (unsigned)(unsigned char)p->text[offset]);
  return fail_at_byte(p, offset, found, expected);
}

static void skip_blanks(parser *p)
{
  while (p->at < p->len && strchr(" \t\n\r", p->text[p->at]) && p->text[p->at]) p->at++;
}

static bool next_is(const parser *p, char c) { return p->at < p->len && p->text[p->at] == c; }

static bool take(parser *p, char c)
{
  if (!next_is(p, c)) return false;
  p->at++;
  return true;
}

static cJSON *new_node(parser *p, int type)
{
  cJSON *node = em_calloc(1, sizeof *node);
  if (node)
    node->type = type;
  else
    em_fail_nomem(p->err);
  return node;
}

/* ---- strings ------------------------------------------------------------ */

static bool read_hex4(parser *p, unsigned *out)
{
  *out = 0;
  for (int i = 0; i < 4; i++, p->at++) {
    char c = p->at < p->len ? p->text[p->at] : 0;
    if (c >= '0' && c <= '9')
      *out = *out * 16 + (unsigned)(c - '0');
    else if ((c | 32) >= 'a' && (c | 32) <= 'f')
      *out = *out * 16 + (unsigned)((c | 32) - 'a' + 10);
    else
      return false;
  }
  return true;
}

static void put_code_point(em_str *b, unsigned c)
{
  if (c < 0x80) {
    em_str_putc(b, (char)c);
    return;
  }
  int extra = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
  em_str_putc(b, (char)(lead[extra] | c >> (6 * extra)));
  while (extra-- > 0) em_str_putc(b, (char)(0x80 | (c >> (6 * extra) & 0x3F)));
}

/* After "\u". */
static int read_unicode(parser *p)
{
  size_t start = p->at - 2;
  unsigned c, low;
  if (!read_hex4(p, &c)) return fail_found(p, p->at, "four hexadecimal digits after \\u");
  if (c == 0) return fail_at_byte(p, start, "\\u0000", "text without NUL characters");
  if (c >= 0xD800 && c <= 0xDFFF) {
    bool pair = c < 0xDC00 && take(p, '\\') && take(p, 'u') && read_hex4(p, &low);
    if (!pair || low < 0xDC00 || low > 0xDFFF)
      return fail_at_byte(p, start, "half of a surrogate pair", "both halves, \\ud800\\udc00 to \\udbff\\udfff");
    c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
  }
  put_code_point(&p->scratch, c);
  return EM_OK;
}

/* After a backslash. */
static int read_escape(parser *p)
{
  static const char letter[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
  if (take(p, 'u')) return read_unicode(p);
  const char *at = p->at < p->len && p->text[p->at] ? strchr(letter, p->text[p->at]) : NULL;
  if (!at) return fail_found(p, p->at, "one of \" \\ / b f n r t u after a backslash");
  em_str_putc(&p->scratch, plain[at - letter]);
  p->at++;
  return EM_OK;
}

/* Bytes from here on that stand for themselves. */
static size_t plain_run(const parser *p)
{
  size_t i = p->at;
  while (i < p->len && p->text[i] != '"' && p->text[i] != '\\' && (unsigned char)p->text[i] >= 0x20) {
    size_t step = em_utf8_step(p->text + i, p->len - i);
    if (step == 0) break;
    i += step;
  }
  return i - p->at;
}

/* Reads a string literal into p->scratch; p->at is on the opening quote. */
static int read_string(parser *p)
{
  size_t start = p->at++;
  em_str_clear(&p->scratch);
  for (;;) {
    if (p->at >= p->len) return fail_at_byte(p, start, "a string without an end (is the text cut off?)", "'\"'");
    if (take(p, '"')) return EM_OK;
    if (take(p, '\\')) {
      int rc = read_escape(p);
      if (rc) return rc;
      continue;
    }
    size_t run = plain_run(p);
    if (run == 0) {
      bool control = (unsigned char)p->text[p->at] < 0x20;
      return fail_found(p, p->at, control ? "control characters in strings as \\uXXXX" : "valid UTF-8");
    }
    em_str_putn(&p->scratch, p->text + p->at, run);
    p->at += run;
  }
}

static int copy_scratch(parser *p, char **out)
{
  int rc = em_str_finish(&p->scratch, p->err);
  if (rc) return rc;
  *out = em_strndup(p->scratch.s ? p->scratch.s : "", p->scratch.len);
  return *out ? EM_OK : em_fail_nomem(p->err);
}

static int take_string(parser *p, char **out)
{
  int rc = read_string(p);
  return rc ? rc : copy_scratch(p, out);
}

/* ---- numbers ------------------------------------------------------------ */

static bool skip_digits(parser *p)
{
  size_t start = p->at;
  while (p->at < p->len && p->text[p->at] >= '0' && p->text[p->at] <= '9') p->at++;
  return p->at > start;
}

/* Moves over a number; *plain: it has neither fraction nor exponent. */
static int skip_number(parser *p, bool *plain)
{
  *plain = true;
  take(p, '-');
  if (!take(p, '0') && !skip_digits(p)) return fail_found(p, p->at, "a digit");
  if (take(p, '.')) {
    *plain = false;
    if (!skip_digits(p)) return fail_found(p, p->at, "a digit after the point");
  }
  if (take(p, 'e') || take(p, 'E')) {
    *plain = false;
    if (!take(p, '+')) take(p, '-');
    if (!skip_digits(p)) return fail_found(p, p->at, "a digit of the exponent");
  }
  return EM_OK;
}

#define EXACT_INT 9007199254740992.0 /* 2^53: up to here a double holds every integer */

static int fill_number(parser *p, cJSON *node)
{
  size_t start = p->at;
  bool plain;
  int rc = skip_number(p, &plain);
  if (rc) return rc;
  em_str_clear(&p->scratch);
  em_str_putn(&p->scratch, p->text + start, p->at - start);
  rc = em_str_finish(&p->scratch, p->err);
  if (rc) return rc;
  double v;
  if (!em_parse_f64(p->scratch.s, &v))
    return fail_at_byte(p, start, "a number beyond 1.8e308", "one that fits a double");
  cJSON_SetNumberHelper(node, v); /* also fills valueint, kept inside its range */
  bool exact = plain && fabs(v) < EXACT_INT && !(v == 0 && signbit(v));
  return exact ? EM_OK : copy_scratch(p, &node->valuestring);
}

/* ---- values ------------------------------------------------------------- */

static int read_value(parser *p, cJSON **out);

/* cJSON's list: the first child's `prev` is the last one. */
static void append(cJSON *parent, cJSON *child)
{
  cJSON *first = parent->child;
  if (!first) {
    parent->child = child;
    child->prev = child;
    return;
  }
  cJSON *last = first->prev;
  last->next = child;
  child->prev = last;
  first->prev = child;
}

static int by_key_then_offset(const void *a, const void *b)
{
  const seen_key *x = a, *y = b;
  int c = strcmp(x->key, y->key);
  return c ? c : (x->offset > y->offset) - (x->offset < y->offset);
}

/* Looks at the keys of the object that just ended and forgets them. */
static int check_repeated(parser *p, size_t base)
{
  const seen_key *worst = NULL;
  seen_key *keys = p->keys + base;
  size_t n = p->n_keys - base;
  p->n_keys = base;
  if (n < 2) return EM_OK;
  qsort(keys, n, sizeof *keys, by_key_then_offset);
  for (size_t i = 1; i < n; i++)
    if (!strcmp(keys[i].key, keys[i - 1].key) && (!worst || keys[i].offset < worst->offset)) worst = &keys[i];
  if (!worst) return EM_OK;
  return em_fail(p->err, EM_E_INPUT,
                 "%s: line %zu, byte %zu: found the key \"%.200s\" a second time, expected each key once", p->file,
                 line_of(p, worst->offset), worst->offset, worst->key);
}

static int read_member(parser *p, cJSON *object)
{
  char *key;
  size_t offset = p->at;
  if (!next_is(p, '"')) return fail_found(p, p->at, "a key in double quotes");
  int rc = take_string(p, &key);
  if (rc) return rc;
  cJSON *child = NULL;
  rc = em_grow(&p->keys, &p->cap_keys, p->n_keys + 1, sizeof *p->keys, p->err);
  skip_blanks(p);
  if (!rc && !take(p, ':')) rc = fail_found(p, p->at, "':' after the key");
  if (!rc) {
    p->keys[p->n_keys++] = (seen_key){key, offset}; /* before nested objects push theirs */
    rc = read_value(p, &child);
  }
  if (!child) {
    em_free(key);
    return rc;
  }
  child->string = key;
  append(object, child);
  return EM_OK;
}

static int fill_object(parser *p, cJSON *object)
{
  size_t base = p->n_keys;
  p->at++;
  skip_blanks(p);
  if (take(p, '}')) return EM_OK;
  for (;;) {
    skip_blanks(p);
    int rc = read_member(p, object);
    if (rc) return rc;
    skip_blanks(p);
    if (take(p, '}')) return check_repeated(p, base);
    if (!take(p, ',')) return fail_found(p, p->at, "',' or '}'");
  }
}

static int fill_array(parser *p, cJSON *array)
{
  p->at++;
  skip_blanks(p);
  if (take(p, ']')) return EM_OK;
  for (;;) {
    cJSON *child;
    int rc = read_value(p, &child);
    if (rc) return rc;
    append(array, child);
    skip_blanks(p);
    if (take(p, ']')) return EM_OK;
    if (!take(p, ',')) return fail_found(p, p->at, "',' or ']'");
  }
}

static int fill_nested(parser *p, cJSON *node)
{
  if (p->depth == EM_JSON_DEPTH) {
    char limit[48];
    snprintf(limit, sizeof limit, "at most %d levels", EM_JSON_DEPTH);
    return fail_at_byte(p, p->at, "one more level of nesting", limit);
  }
  p->depth++;
  int rc = cJSON_IsObject(node) ? fill_object(p, node) : fill_array(p, node);
  p->depth--;
  return rc;
}

/* The type of the value that starts here; cJSON_Invalid when none does. */
static int value_type(parser *p)
{
  static const struct {
    const char *word;
    int type;
  } words[] = {{"null", cJSON_NULL}, {"true", cJSON_True}, {"false", cJSON_False}};
  char c = p->at < p->len ? p->text[p->at] : 0;
  if (c == '{') return cJSON_Object;
  if (c == '[') return cJSON_Array;
  if (c == '"') return cJSON_String;
  if (c == '-' || (c >= '0' && c <= '9')) return cJSON_Number;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i].word);
    if (p->len - p->at >= n && !memcmp(p->text + p->at, words[i].word, n)) {
      p->at += n;
      return words[i].type;
    }
  }
  return cJSON_Invalid;
}

static int read_value(parser *p, cJSON **out)
{
  skip_blanks(p);
  int type = value_type(p);
  if (type == cJSON_Invalid) return fail_found(p, p->at, "a JSON value");
  cJSON *node = new_node(p, type);
  if (!node) return EM_E_NOMEM;
  int rc = EM_OK;
  if (type == cJSON_String)
    rc = take_string(p, &node->valuestring);
  else if (type == cJSON_Number)
    rc = fill_number(p, node);
  else if (type == cJSON_Object || type == cJSON_Array)
    rc = fill_nested(p, node);
  else
    node->valueint = type == cJSON_True;
  if (rc) {
    em_json_free(node);
    return rc;
  }
  *out = node;
  return EM_OK;
}

int em_json_parse(const char *text, size_t len, const char *file, cJSON **out, em_err *err)
{
  parser p = {.text = text, .len = len, .file = file, .err = err};
  cJSON *json = NULL;
  int rc = read_value(&p, &json);
  if (!rc) {
    skip_blanks(&p);
    if (p.at < len) rc = fail_found(&p, p.at, "nothing after the value");
  }
  em_str_free(&p.scratch);
  em_free(p.keys);
  if (rc) {
    em_json_free(json);
    return rc;
  }
  *out = json;
  return EM_OK;
}

int em_json_read(const char *path, cJSON **out, em_err *err)
{
  char *text;
  size_t len;
  int rc = em_file_read(path, &text, &len, err);
  if (rc) return rc;
  rc = em_json_parse(text, len, path, out, err);
  em_free(text);
  return rc;
}
