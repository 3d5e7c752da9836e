/* Any bytes: refused with a message, or a golden file whose text reads back the same
 * and whose evidence can be had. */
#include <stdlib.h>
#include <string.h>

#include "core/store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int drop(void *ctx, em_evidence *e, em_err *err)
{
  (void)ctx, (void)err;
  em_evidence_free(e);
  return 0;
}

static int look(void *ctx, const em_routing_piece *p, em_err *err)
{
  (void)ctx, (void)err;
  return p->position < p->n && *p->arm == '{' ? 0 : 1;
}

static char *text_of(const em_golden *g)
{
  em_str out = {0};
  em_err err;
  if (em_golden_print(g, &out, &err)) abort();
  return out.s;
}

static void check(em_golden *g)
{
  em_err err;
  em_golden *again;
  em_store *store;
  char *first = text_of(g);
  if (em_golden_parse(first, strlen(first), "again", &again, &err)) abort();
  char *second = text_of(again);
  if (strcmp(first, second)) abort();
  if (em_store_of_goldens((const em_golden *const *)&again, 1, &store, &err)) abort();
  if (em_store_each_evidence(store, drop, NULL, &err)) abort();
  if (em_store_each_routing(store, look, NULL, &err)) abort();
  em_store_close(store);
  em_golden_free(again);
  em_free(first);
  em_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  em_golden *g;
  em_err err = {0};
  int64_t live = em_alloc_live();
  int rc = em_golden_parse((const char *)data, size, "input", &g, &err);
  if (rc == EM_OK) {
    check(g);
    em_golden_free(g);
  } else if (rc != EM_E_INPUT || strncmp(err.msg, "input: ", 7)) {
    abort();
  }
  if (em_alloc_live() != live) abort();
  return 0;
}
