/* knobs.c - rows as stored: a sorted map of strings, its checks, JSON and typed text. */
#include "core/schedule/schedule_int.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

void em_knobs_free(em_knobs *k)
{
  if (!k) return;
  for (size_t i = 0; i < k->n; i++) {
    em_free(k->items[i].key);
    em_free(k->items[i].value);
  }
  em_free(k->items);
  *k = (em_knobs){0};
}

/* Where `key` is, or where it would go. */
static size_t find(const em_knobs *k, const char *key, bool *found)
{
  size_t lo = 0, hi = k->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (strcmp(k->items[mid].key, key) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  *found = lo < k->n && strcmp(k->items[lo].key, key) == 0;
  return lo;
}

const char *em_knobs_get(const em_knobs *k, const char *key)
{
  bool found;
  size_t i = find(k, key, &found);
  return found ? k->items[i].value : NULL; /* NOLINT: what is found is among the items */
}

int em_knobs_set(em_knobs *k, const char *key, const char *value, em_err *err)
{
  bool found;
  size_t i = find(k, key, &found);
  em_knob item = {.key = NULL, .value = em_strdup(value)};
  if (!item.value) return em_fail_nomem(err);
  if (found) {
    em_free(k->items[i].value);
    k->items[i].value = item.value;
    return EM_OK;
  }
  if (k->n == EM_KNOBS_MAX) {
    em_free(item.value);
    return em_fail(err, EM_E_INPUT, "knob \"%.80s\": a row holds at most %d knobs", key, EM_KNOBS_MAX);
  }
  item.key = em_strdup(key);
  int rc = item.key ? em_grow(&k->items, &k->cap, k->n + 1, sizeof *k->items, err) : em_fail_nomem(err);
  if (rc) {
    em_free(item.key);
    em_free(item.value);
    return rc;
  }
  memmove(k->items + i + 1, k->items + i, (k->n - i) * sizeof *k->items);
  k->items[i] = item;
  k->n++;
  return EM_OK;
}

/* ---- keys ---- */

/* seg {"/" seg}: each segment but the last is kind "." index, the last a kind. */
static bool route_is_valid(const char *route)
{
  static const char *const kinds[] = {"map", "reduce", "inner", "twist", "scan"};
  for (const char *s = route;;) {
    size_t seg = strcspn(s, "/"), kind = strcspn(s, "./"), i = 0;
    while (i < sizeof kinds / sizeof kinds[0] && !(strlen(kinds[i]) == kind && memcmp(kinds[i], s, kind) == 0)) i++;
    if (i == sizeof kinds / sizeof kinds[0]) return false;
    if (s[seg] == '\0') return kind == seg;
    size_t digits = kind < seg ? strspn(s + kind + 1, "0123456789") : 0;
    if (digits == 0 || kind + 1 + digits != seg || s[kind + 1] == '0') return false;
    s += seg + 1;
  }
}

static bool name_is_clean(const char *name)
{
  for (const char *s = name; *s; s++)
    if ((unsigned char)*s <= ' ' || *s == 0x7f || *s == '=' || *s == ',') return false;
  return *name != '\0';
}

static int check_key(const char *key, em_err *err)
{
  em_key k = em_key_split(key);
  if (!name_is_clean(key))
    return em_fail(err, EM_E_INPUT, "knob name \"%.80s\": expected a name without blanks, \"=\" and \",\"", key);
  if (!k.route || !k.is_family) return EM_OK;
  const char *name = em_family_at(k.family)->name;
  if (!em_family_at(k.family)->per_site)
    return em_fail(err, EM_E_INPUT, "knob \"%.80s\": %s belongs to the whole kernel, write it without \"@\"", key,
                   name);
  /* A layout is of a constant, by its name; everything else is of a node, by its route. */
  if (k.family == EM_LAYOUT ? *k.route == '\0' : !route_is_valid(k.route))
    return em_fail(
      err, EM_E_INPUT,
      "knob \"%.80s\": expected %s@<route>, a route as map.1/twist.2/inner (map, reduce, inner, twist, scan)", key,
      name);
  return EM_OK;
}

/* ---- values ---- */

static int check_extra(const char *key, const em_knob_info *info, const char *value, em_err *err)
{
  int64_t n;
  if (info->type == EM_KNOB_BOOL && strcmp(value, "True") != 0 && strcmp(value, "False") != 0) /* NOLINT: never NULL */
    return em_fail(err, EM_E_INPUT, "%s \"%.80s\": expected True or False", key, value);
  if (info->type == EM_KNOB_INT && !em_parse_i64(value, 0, INT64_MAX, &n))
    return em_fail(err, EM_E_INPUT, "%s \"%.80s\": expected a decimal number, 0 or more", key, value);
  return EM_OK;
}

static int check_item(const em_knob *item, em_work w, em_err *err)
{
  int rc = check_key(item->key, err);
  if (rc) return rc;
  em_key key = em_key_split(item->key);
  if (key.is_family) return em_value_check(key.family, item->value, w, err);
  const em_knob_info *info = em_knob_info_find(item->key, strlen(item->key));
  return info ? check_extra(item->key, info, item->value, err) : EM_OK;
}

int em_knobs_check(const em_knobs *k, size_t *bad, em_err *err)
{
  em_work w = EM_WORK_MISSING;
  const char *work = em_knobs_get(k, em_family_at(EM_WORK)->name);
  if (work && em_work_parse(work, &w, err) != EM_OK) w = EM_WORK_MISSING; /* reported below, at its own item */
  for (size_t i = 0; i < k->n; i++) {
    int rc = check_item(&k->items[i], w, err);
    if (rc && bad) *bad = i;
    if (rc) return rc;
  }
  return EM_OK;
}

/* ---- JSON ---- */

static int json_text(const cJSON *item, const em_place *at, char number[24], const char **text, em_err *err)
{
  int64_t n;
  if (cJSON_IsString(item)) {
    *text = item->valuestring;
    return EM_OK;
  }
  if (cJSON_IsBool(item)) {
    *text = cJSON_IsTrue(item) ? "True" : "False";
    return EM_OK;
  }
  if (!cJSON_IsNumber(item)) return em_fail_at(err, at, "expected a string, a boolean or an integer");
  int rc = em_json_i64(item, at, INT64_MIN, INT64_MAX, &n, err);
  snprintf(number, 24, "%lld", rc ? 0LL : (long long)n);
  *text = number;
  return rc;
}

static int add_json(em_knobs *k, const cJSON *item, const em_place *up, em_err *err)
{
  em_place at = {.up = up, .key = item->string};
  char number[24];
  const char *text = NULL;
  int rc = json_text(item, &at, number, &text, err);
  if (!rc && em_key_split(item->string).is_family && !cJSON_IsString(item))
    rc = em_fail_at(err, &at, "found %s, expected a string", text);
  return rc ? rc : em_knobs_set(k, item->string, text, err);
}

static int check_json(const em_knobs *k, const em_place *up, em_err *err)
{
  em_err why;
  size_t bad = 0;
  int rc = em_knobs_check(k, &bad, &why);
  if (!rc) return EM_OK;
  em_place at = {.up = up, .key = k->items[bad].key}; /* NOLINT: what is bad is among the items */
  return em_fail_at(err, &at, "%s", why.msg);
}

int em_knobs_from_json(const cJSON *obj, const em_place *at, em_knobs *out, em_err *err)
{
  em_knobs k = {0};
  if (!cJSON_IsObject(obj)) return em_fail_at(err, at, "expected an object of knobs");
  const cJSON *item;
  int rc = EM_OK;
  cJSON_ArrayForEach(item, obj)
  {
    rc = add_json(&k, item, at, err);
    if (rc) break;
  }
  if (!rc) rc = check_json(&k, at, err);
  if (rc) {
    em_knobs_free(&k);
    return rc;
  }
  *out = k;
  return EM_OK;
}

static void print_item(const em_knob *item, bool *first, em_str *out)
{
  em_str_putc(out, *first ? '{' : ',');
  *first = false;
  em_str_put_json(out, item->key);
  em_str_putc(out, ':');
  if (strcmp(item->value, "True") == 0)
    em_str_put(out, "true");
  else if (strcmp(item->value, "False") == 0)
    em_str_put(out, "false");
  else
    em_str_put_json(out, item->value);
}

void em_knobs_print_json(const em_knobs *k, em_str *out)
{
  static const em_family order[] = {EM_WORK, EM_TILE, EM_REDUCE, EM_STAGE, EM_RASTER};
  enum { N_ORDER = sizeof order / sizeof order[0] };
  bool first = true;
  for (int f = 0; f <= N_ORDER; f++) /* the last round takes all others */
    for (size_t i = 0; i < k->n; i++) {
      em_key key = em_key_split(k->items[i].key);
      int rank = 0;
      while (rank < N_ORDER && !(key.is_family && key.family == order[rank])) rank++;
      if (rank == f) print_item(&k->items[i], &first, out);
    }
  em_str_put(out, first ? "{}" : "}");
}

/* ---- typed text ---- */

/* The key as stored: family and registered names in upper case, routes in lower. */
static void normalise_key(char *key)
{
  char upper[32];
  size_t len = strcspn(key, "@"), i = 0;
  em_family f;
  for (; i < len && i + 1 < sizeof upper; i++) upper[i] = (char)toupper((unsigned char)key[i]);
  bool family = i == len && em_family_find(upper, len, &f);
  if (!family && (i < len || !em_knob_info_find(upper, len))) return;
  memcpy(key, upper, len);
  for (char *s = key + len; family && f != EM_LAYOUT && *s; s++) /* a constant's name is left as it is */
    *s = (char)tolower((unsigned char)*s);
}

static const char *normalise_value(const char *key, const char *value)
{
  static const char *const yes[] = {"true", "1"}, *const no[] = {"false", "0"};
  const em_knob_info *info = em_knob_info_find(key, strlen(key));
  if (!info || info->type != EM_KNOB_BOOL) return value;
  for (int i = 0; i < 2; i++) {
    if (strcasecmp(value, yes[i]) == 0) return "True";
    if (strcasecmp(value, no[i]) == 0) return "False";
  }
  return value;
}

static char *trim(char *s)
{
  while (*s == ' ') s++;
  for (size_t n = strlen(s); n > 0 && s[n - 1] == ' '; n--) s[n - 1] = '\0';
  return s;
}

static int add_text(em_knobs *k, char *part, em_err *err)
{
  char *eq = strchr(part, '=');
  if (!eq) return em_fail(err, EM_E_INPUT, "knob \"%.80s\": expected KEY=VALUE", part);
  *eq = '\0';
  char *key = trim(part);
  normalise_key(key);
  if (em_knobs_get(k, key)) return em_fail(err, EM_E_INPUT, "knob \"%.80s\" stands twice, expected each once", key);
  return em_knobs_set(k, key, normalise_value(key, trim(eq + 1)), err);
}

int em_knobs_parse_text(const char *text, em_knobs *out, em_err *err)
{
  em_knobs k = {0};
  if (!em_is_utf8(text)) return em_fail(err, EM_E_INPUT, "knobs \"%.80s\": expected UTF-8, as in JSON", text);
  char *copy = em_strdup(text);
  if (!copy) return em_fail_nomem(err);
  int rc = EM_OK;
  char *rest = *trim(copy) ? copy : NULL; /* nothing typed is no knob at all */
  while (!rc && rest) {
    char *part = strsep(&rest, ",");
    rc = add_text(&k, part, err);
  }
  em_free(copy);
  if (!rc) rc = em_knobs_check(&k, NULL, err);
  if (rc)
    em_knobs_free(&k);
  else
    *out = k;
  return rc;
}
