/* json_print.c - cJSON trees as compact text. */
#include <math.h>

#include "core/base/base_int.h"

static void put_number(const cJSON *item, em_str *out)
{
  char buf[EM_DOUBLE_LEN];
  double v = item->valuedouble;
  if (item->valuestring)
    em_str_put(out, item->valuestring);
  else if (!isfinite(v))
    em_str_put(out, "null"); /* JSON has no other word for it */
  else if (v == floor(v) && fabs(v) < 9007199254740992.0)
    em_str_printf(out, "%lld", (long long)v);
  else
    em_str_put(out, em_double_repr(v, buf));
}

static void put_children(const cJSON *parent, bool keys, em_str *out)
{
  for (const cJSON *c = parent->child; c; c = c->next) {
    if (c != parent->child) em_str_putc(out, ',');
    if (keys) {
      em_str_put_json(out, c->string ? c->string : "");
      em_str_putc(out, ':');
    }
    em_json_print(c, out);
  }
}

void em_json_print(const cJSON *json, em_str *out)
{
  switch (json->type & 0xFF) {
  case cJSON_True: em_str_put(out, "true"); break;
  case cJSON_False: em_str_put(out, "false"); break;
  case cJSON_Number: put_number(json, out); break;
  case cJSON_String: em_str_put_json(out, json->valuestring ? json->valuestring : ""); break;
  case cJSON_Raw: em_str_put(out, json->valuestring ? json->valuestring : "null"); break;
  case cJSON_Array:
    em_str_putc(out, '[');
    put_children(json, false, out);
    em_str_putc(out, ']');
    break;
  case cJSON_Object:
    em_str_putc(out, '{');
    put_children(json, true, out);
    em_str_putc(out, '}');
    break;
  default: em_str_put(out, "null");
  }
}
