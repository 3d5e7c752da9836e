/* Any bytes: refused with a message, or a tree whose text reads back the same. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(cJSON *json)
{
  em_str out = {0};
  em_json_print(json, &out);
  em_json_free(json);
  return out.s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cJSON *json;
  em_err err = {0};
  int64_t live = em_alloc_live();
  int rc = em_json_parse((const char *)data, size, "input", &json, &err);
  if (rc == EM_OK) {
    char *first = text_of(json);
    if (em_json_parse(first, strlen(first), "again", &json, &err)) abort();
    char *second = text_of(json);
    if (strcmp(first, second)) abort();
    em_free(first);
    em_free(second);
  } else if (rc != EM_E_INPUT || !*err.msg) {
    abort();
  }
  if (em_alloc_live() != live) abort();
  return 0;
}
