/* json_get.c - typed members of JSON objects, with errors that name the place. */
#include <math.h>
#include <string.h>

#include "core/base/base_int.h"

/* ---- places ------------------------------------------------------------- */

#define PLACE_LEN 512 /* a deeper place loses its end */

static size_t clip_len(int n, size_t cap) { return n < 0 ? 0 : (size_t)n < cap ? (size_t)n : cap - 1; }

/* Writes the path from the root down; returns its length. */
static size_t put_path(char *dst, const em_place *at)
{
  if (!at->up) return 0;
  size_t len = put_path(dst, at->up), room = PLACE_LEN - len;
  int n = at->key ? snprintf(dst + len, room, "%s%s", len ? "." : "", at->key)
                  : snprintf(dst + len, room, "[%lld]", (long long)at->index);
  return len + clip_len(n, room);
}

static const em_place *root_of(const em_place *at)
{
  while (at->up) at = at->up;
  return at;
}

int em_fail_at(em_err *err, const em_place *at, const char *fmt, ...)
{
  char text[EM_ERR_LEN], path[PLACE_LEN] = "";
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  put_path(path, at);
  const char *file = root_of(at)->file;
  return em_fail(err, EM_E_INPUT, "%s%s%s%s%s", file ? file : "", file ? ": " : "", path, *path ? ": " : "", text);
}

/* ---- items -------------------------------------------------------------- */

static bool is(const cJSON *item, int type) { return item && (item->type & 0xFF) == type; }

static const char *kind_of(const cJSON *item)
{
  if (!item) return "nothing";
  switch (item->type & 0xFF) {
  case cJSON_NULL: return "null";
  case cJSON_True: return "true";
  case cJSON_False: return "false";
  case cJSON_Number: return "a number";
  case cJSON_String: return "a string";
  case cJSON_Array: return "an array";
  default: return "an object";
  }
}

static int wrong_kind(const cJSON *item, const em_place *at, const char *expected, em_err *err)
{
  if (is(item, cJSON_String) || (is(item, cJSON_Number) && item->valuestring))
    return em_fail_at(err, at, "found %s, %s%.80s%s, expected %s", kind_of(item), is(item, cJSON_String) ? "\"" : "",
                      item->valuestring, is(item, cJSON_String) ? "\"" : "", expected);
  return em_fail_at(err, at, "found %s, expected %s", kind_of(item), expected);
}

/* An integer that was read keeps its text when a double may not hold it. */
static bool item_i64(const cJSON *item, int64_t *out)
{
  if (!is(item, cJSON_Number)) return false;
  if (item->valuestring) return em_parse_i64(item->valuestring, INT64_MIN, INT64_MAX, out);
  double v = item->valuedouble;
  if (!(fabs(v) <= 9007199254740992.0) || v != floor(v)) return false;
  *out = (int64_t)v;
  return true;
}

int em_json_i64(const cJSON *item, const em_place *at, int64_t lo, int64_t hi, int64_t *out, em_err *err)
{
  int64_t v;
  if (!item_i64(item, &v)) return wrong_kind(item, at, "an integer", err);
  if (v < lo || v > hi)
    return em_fail_at(err, at, "found %lld, expected an integer from %lld to %lld", (long long)v, (long long)lo,
                      (long long)hi);
  *out = v;
  return EM_OK;
}

int em_json_f64(const cJSON *item, const em_place *at, double *out, em_err *err)
{
  if (!is(item, cJSON_Number) || !isfinite(item->valuedouble)) return wrong_kind(item, at, "a finite number", err);
  *out = item->valuedouble;
  return EM_OK;
}

static int item_string(const cJSON *item, const em_place *at, const char **out, em_err *err)
{
  if (!is(item, cJSON_String)) return wrong_kind(item, at, "a string", err);
  *out = item->valuestring;
  return EM_OK;
}

static int item_bool(const cJSON *item, const em_place *at, bool *out, em_err *err)
{
  if (!is(item, cJSON_True) && !is(item, cJSON_False)) return wrong_kind(item, at, "true or false", err);
  *out = is(item, cJSON_True);
  return EM_OK;
}

/* ---- members ------------------------------------------------------------ */

/* Finds obj[key]; *item is NULL when it is missing.  `kind` is NULL when it may be. */
static int find(const cJSON *obj, const char *key, const em_place *at, const char *kind, const cJSON **item,
                em_err *err)
{
  *item = NULL;
  if (!is(obj, cJSON_Object)) return wrong_kind(obj, at, "an object", err);
  *item = cJSON_GetObjectItemCaseSensitive(obj, key);
  if (*item || !kind) return EM_OK;
  return em_fail_at(err, at, "the member \"%s\" is missing, expected %s", key, kind);
}

int em_json_need_string(const cJSON *obj, const char *key, const em_place *at, const char **out, em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, "a string", &item, err);
  return rc ? rc : item_string(item, &here, out, err);
}

int em_json_opt_string(const cJSON *obj, const char *key, const em_place *at, const char **out, em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, NULL, &item, err);
  return rc || !item ? rc : item_string(item, &here, out, err);
}

int em_json_need_i64(const cJSON *obj, const char *key, const em_place *at, int64_t lo, int64_t hi, int64_t *out,
                     em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, "an integer", &item, err);
  return rc ? rc : em_json_i64(item, &here, lo, hi, out, err);
}

int em_json_opt_i64(const cJSON *obj, const char *key, const em_place *at, int64_t lo, int64_t hi, int64_t *out,
                    em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, NULL, &item, err);
  return rc || !item ? rc : em_json_i64(item, &here, lo, hi, out, err);
}

int em_json_need_f64(const cJSON *obj, const char *key, const em_place *at, double *out, em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, "a number", &item, err);
  return rc ? rc : em_json_f64(item, &here, out, err);
}

int em_json_opt_f64(const cJSON *obj, const char *key, const em_place *at, double *out, em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, NULL, &item, err);
  return rc || !item ? rc : em_json_f64(item, &here, out, err);
}

int em_json_need_bool(const cJSON *obj, const char *key, const em_place *at, bool *out, em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, "true or false", &item, err);
  return rc ? rc : item_bool(item, &here, out, err);
}

int em_json_opt_bool(const cJSON *obj, const char *key, const em_place *at, bool *out, em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, NULL, &item, err);
  return rc || !item ? rc : item_bool(item, &here, out, err);
}

int em_json_need_array(const cJSON *obj, const char *key, const em_place *at, const cJSON **out, em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, "an array", &item, err);
  if (rc) return rc;
  if (!is(item, cJSON_Array)) return wrong_kind(item, &here, "an array", err);
  *out = item;
  return EM_OK;
}

int em_json_need_object(const cJSON *obj, const char *key, const em_place *at, const cJSON **out, em_err *err)
{
  const cJSON *item;
  em_place here = {.up = at, .key = key};
  int rc = find(obj, key, at, "an object", &item, err);
  if (rc) return rc;
  if (!is(item, cJSON_Object)) return wrong_kind(item, &here, "an object", err);
  *out = item;
  return EM_OK;
}

static void list_names(char *dst, size_t cap, const char *const *names)
{
  size_t len = 0;
  dst[0] = '\0';
  for (; *names && len < cap - 1; names++)
    len += clip_len(snprintf(dst + len, cap - len, "%s%s", len ? ", " : "", *names), cap - len);
}

int em_json_only_keys(const cJSON *obj, const char *const *known, const em_place *at, em_err *err)
{
  if (!is(obj, cJSON_Object)) return wrong_kind(obj, at, "an object", err);
  for (const cJSON *c = obj->child; c; c = c->next) {
    size_t i = 0;
    while (known[i] && strcmp(known[i], c->string)) i++;
    if (known[i]) continue;
    char names[400];
    list_names(names, sizeof names, known);
    return em_fail_at(err, at, "found the unknown member \"%.80s\", expected only: %s", c->string, names);
  }
  return EM_OK;
}
