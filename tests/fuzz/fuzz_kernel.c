/* Loop IR text: what can be read prints, reads back as itself and keeps its identity. */
#include <stdlib.h>
#include <string.h>

#include "core/kernel/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const em_kernel *k)
{
  em_str out = {0};
  em_err err;
  char *text;
  em_kernel_print(k, &out);
  if (em_str_take(&out, &text, &err)) abort();
  return text;
}

/* Everything that can be asked of a kernel; the answers only must not crash. */
static void ask(const em_kernel *k)
{
  em_err err;
  em_str pretty = {0};
  char *shape = NULL;
  em_kernel *pieces[2];
  size_t n = 0;
  em_kernel_print_pretty(k, &pretty);
  em_str_free(&pretty);
  if (!em_kernel_shape(k, (em_bindings){0}, &shape, &err)) em_free(shape);
  for (const char *finalize = "ka"; *finalize; finalize++)
    if (!em_kernel_split(k, 2, *finalize, pieces, &n, &err))
      for (size_t i = 0; i < n; i++) em_kernel_free(pieces[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  em_kernel *k, *again;
  em_err err;
  if (em_kernel_parse_text((const char *)data, size, "k", "fuzz", &k, &err)) return 0;
  ask(k);
  char *text = print(k);
  if (em_kernel_parse_text(text, strlen(text), "k", "again", &again, &err)) abort();
  char *same = print(again);
  if (strcmp(text, same) || !em_digest_eq(em_kernel_identity(k), em_kernel_identity(again))) abort();
  em_free(text);
  em_free(same);
  em_kernel_free(k);
  em_kernel_free(again);
  return 0;
}
