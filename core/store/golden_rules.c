/* golden_rules.c - what the small objects of a golden file may hold. */
#include "core/store/golden_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- sizes ------------------------------------------------------------------- */

static int by_sym(const void *a, const void *b)
{
  return strcmp(((const em_binding *)a)->sym, ((const em_binding *)b)->sym);
}

int em_bindings_read(const cJSON *map, const em_place *at, em_binding **out, size_t *n, em_err *err)
{
  *out = NULL;
  *n = 0;
  if (!cJSON_IsObject(map)) return em_fail_at(err, at, "expected an object of sizes, such as {\"seq_len\":512}");
  size_t count = (size_t)cJSON_GetArraySize(map), used = 0;
  if (!count) return EM_OK;
  em_binding *b = em_calloc(count, sizeof *b);
  if (!b) return em_fail_nomem(err);
  int rc = EM_OK;
  for (const cJSON *item = map->child; item && !rc; item = item->next) {
    em_place leaf = {.up = at, .key = item->string};
    rc = em_json_i64(item, &leaf, 1, INT32_MAX, &b[used].size, err);
    if (!rc && !(b[used].sym = em_strdup(item->string))) rc = em_fail_nomem(err);
    used += !rc;
  }
  if (rc) {
    em_bindings_free(b, used);
    return rc;
  }
  qsort(b, used, sizeof *b, by_sym);
  *out = b;
  *n = used;
  return EM_OK;
}

int em_bindings_member(const cJSON *obj, const em_place *at, em_binding **out, size_t *n, em_err *err)
{
  const cJSON *map = cJSON_GetObjectItemCaseSensitive(obj, "bindings");
  em_place here = {.up = at, .key = "bindings"};
  *out = NULL;
  *n = 0;
  return map ? em_bindings_read(map, &here, out, n, err) : EM_OK;
}

/* ---- pins -------------------------------------------------------------------- */

enum { PIN_BOOL, PIN_INT, PIN_STRING };
static const char *const pin_types[] = {"true or false", "an integer", "a string"};

/* The registered knobs besides the schedule families, which are strings. */
static const struct pin {
  const char *name;
  int type;
} pins[] = {
  {"FAST_MATH", PIN_BOOL},        {"COLD_CACHE", PIN_BOOL},       {"F16_MMA_F32_ACC", PIN_BOOL},
  {"FP8_MMA", PIN_BOOL},          {"FAST_EXP", PIN_BOOL},         {"VECTORIZE_LOADS", PIN_BOOL},
  {"VECTORIZE_STORES", PIN_BOOL}, {"INTERLEAVE_LOADS", PIN_BOOL}, {"GUARD_REDUCTIONS", PIN_BOOL},
  {"PAIR_LDMATRIX", PIN_BOOL},    {"SHARED_CARRY", PIN_INT},      {"UNROLL", PIN_INT},
  {"LOOPIFY", PIN_INT},
};

static bool find_pin_type(const char *name, int *type)
{
  for (size_t i = 0; i < sizeof pins / sizeof *pins; i++) {
    if (!strcmp(pins[i].name, name)) {
      *type = pins[i].type;
      return true;
    }
  }
  em_family family;
  *type = PIN_STRING;
  return em_family_find(name, strcspn(name, "@"), &family);
}

static int pin_check(const cJSON *pin, const em_place *at, em_err *err)
{
  int type;
  if (!find_pin_type(pin->string, &type))
    return em_fail_at(err, at, "\"%s\" is not a registered knob; pins name knobs such as FAST_MATH or COLD_CACHE",
                      pin->string);
  int64_t whole;
  bool good = type == PIN_BOOL ? cJSON_IsBool(pin) : cJSON_IsString(pin);
  if (type == PIN_INT) return em_json_i64(pin, at, INT32_MIN, INT32_MAX, &whole, err);
  return good ? EM_OK : em_fail_at(err, at, "expected %s", pin_types[type]);
}

static int by_key(const void *a, const void *b)
{
  return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

static int pins_print(const cJSON *map, int count, char **text, em_err *err)
{
  const cJSON **sorted = em_calloc((size_t)count, sizeof *sorted);
  if (!sorted) return em_fail_nomem(err);
  int n = 0;
  for (const cJSON *pin = map->child; pin; pin = pin->next) sorted[n++] = pin;
  qsort(sorted, (size_t)n, sizeof *sorted, by_key);
  em_str out = {0};
  for (int i = 0; i < n; i++) {
    em_str_putc(&out, i ? ',' : '{');
    em_str_put_json(&out, sorted[i]->string);
    em_str_putc(&out, ':');
    em_json_print(sorted[i], &out);
  }
  em_str_putc(&out, '}');
  em_free(sorted);
  return em_str_take(&out, text, err);
}

int em_pins_read(const cJSON *row, const em_place *at, char **text, em_regime *regime, em_err *err)
{
  *text = NULL;
  *regime = EM_REGIME_DEFAULT;
  if (!cJSON_GetObjectItemCaseSensitive(row, "pins")) return EM_OK;
  const cJSON *map;
  int rc = em_json_need_object(row, "pins", at, &map, err);
  em_place here = {.up = at, .key = "pins"};
  for (const cJSON *pin = rc ? NULL : map->child; pin && !rc; pin = pin->next) {
    em_place leaf = {.up = &here, .key = pin->string};
    rc = pin_check(pin, &leaf, err);
    if (!rc && !strcmp(pin->string, "FAST_MATH")) regime->fast_math = cJSON_IsTrue(pin);
    if (!rc && !strcmp(pin->string, "COLD_CACHE")) regime->cold_cache = cJSON_IsTrue(pin);
  }
  int count = rc ? 0 : cJSON_GetArraySize(map);
  return count ? pins_print(map, count, text, err) : rc;
}

/* ---- knobs ------------------------------------------------------------------- */

int em_row_knobs_check(const em_knobs *k, const em_place *at, em_err *err)
{
  bool any = false, consumer = false, stage = false;
  for (size_t i = 0; i < k->n; i++) {
    const char *key = k->items[i].key;
    em_place leaf = {.up = at, .key = key};
    if (em_knob_is_structural(key, k->items[i].value))
      return em_fail_at(err, &leaf,
                        "\"%s\" decides which kernels exist; a row holds the schedule of one kernel, "
                        "put the decision into routing",
                        k->items[i].value);
    em_family family;
    size_t len = strcspn(key, "@");
    if (!em_family_find(key, len, &family)) continue;
    if (key[len] && !em_family_at(family)->per_site)
      return em_fail_at(err, &leaf, "%s belongs to the whole kernel and takes no @route", em_family_at(family)->name);
    any = true;
    consumer = consumer || family == EM_TILE || family == EM_REDUCE;
    stage = stage || family == EM_STAGE;
  }
  if (any && (!em_knobs_get(k, "WORK") || !em_knobs_get(k, "RASTER")))
    return em_fail_at(err, at,
                      "incomplete row: a schedule needs both WORK and RASTER (\"\" where unused), %s is missing",
                      em_knobs_get(k, "WORK") ? "RASTER" : "WORK");
  if (stage && !consumer) return em_fail_at(err, at, "incomplete row: STAGE without a TILE or REDUCE that it feeds");
  return EM_OK;
}

int em_arm_check(const em_knobs *k, const em_place *at, em_err *err)
{
  if (!k->n)
    return em_fail_at(err, at,
                      "empty arm: a routing row needs a decision such as \"REDUCE\":\"g4k\" or \"PLACE@...\":\"cut\"");
  for (size_t i = 0; i < k->n; i++) {
    em_place leaf = {.up = at, .key = k->items[i].key};
    if (!em_knob_is_structural(k->items[i].key, k->items[i].value))
      return em_fail_at(err, &leaf, "\"%s\" is a schedule value; an arm holds PLACE, LAYOUT or a REDUCE split only",
                        k->items[i].value);
  }
  return EM_OK;
}
