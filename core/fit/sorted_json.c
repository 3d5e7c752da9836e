/*
 * sorted_json.c - the text of metrics files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

static int by_key(const void *a, const void *b)
{
  return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

static void put_number(double x, em_str *out)
{
  char buf[EM_DOUBLE_LEN];
  if (x == floor(x) && fabs(x) < 9007199254740992.0) {
    em_str_printf(out, "%.0f", x + 0.0);
    return;
  }
  snprintf(buf, sizeof buf, "%.6g", x);
  em_str_put(out, em_double_repr(strtod(buf, NULL), buf));
}

static void put_break(em_str *out, size_t depth)
{
  em_str_putc(out, '\n');
  for (size_t i = 0; i < depth; i++) em_str_putc(out, ' ');
}

static int put_value(const cJSON *x, size_t depth, em_str *out, em_err *err);

/* Members in the order of `items`. */
static int put_members(const cJSON *const *items, size_t n, bool object, size_t depth, em_str *out, em_err *err)
{
  int rc = EM_OK;
  em_str_putc(out, object ? '{' : '[');
  for (size_t i = 0; i < n && rc == EM_OK; i++) {
    if (i > 0) em_str_putc(out, ',');
    put_break(out, depth + 1);
    if (object) {
      em_str_put_json(out, items[i]->string);
      em_str_put(out, ": ");
    }
    rc = put_value(items[i], depth + 1, out, err);
  }
  if (n > 0) put_break(out, depth);
  em_str_putc(out, object ? '}' : ']');
  return rc;
}

static int put_container(const cJSON *x, size_t depth, em_str *out, em_err *err)
{
  size_t n = 0, i = 0;
  bool object = cJSON_IsObject(x);
  for (const cJSON *c = x->child; c; c = c->next) n++;
  const cJSON **items = em_calloc(n ? n : 1, sizeof *items);
  if (!items) return em_fail_nomem(err);
  for (const cJSON *c = x->child; c; c = c->next) items[i++] = c;
  if (object && n > 0) qsort(items, n, sizeof *items, by_key);
  int rc = put_members(items, n, object, depth, out, err);
  em_free(items);
  return rc;
}

static int put_value(const cJSON *x, size_t depth, em_str *out, em_err *err)
{
  if (cJSON_IsObject(x) || cJSON_IsArray(x)) return put_container(x, depth, out, err);
  if (cJSON_IsString(x))
    em_str_put_json(out, x->valuestring);
  else if (cJSON_IsNumber(x) && isfinite(x->valuedouble))
    put_number(x->valuedouble, out);
  else
    em_str_put(out, cJSON_IsTrue(x) ? "true" : cJSON_IsFalse(x) ? "false" : "null");
  return EM_OK;
}

int em_metrics_print(const cJSON *json, char **out, em_err *err)
{
  em_str text = {0};
  int rc = put_value(json, 0, &text, err);
  em_str_putc(&text, '\n');
  if (rc == EM_OK) return em_str_take(&text, out, err);
  em_str_free(&text);
  return rc;
}
