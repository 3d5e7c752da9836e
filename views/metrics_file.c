/* metrics_file.c - what the views over fits share. */
#include <string.h>

#include "views/metrics_file.h"

void em_cell_file_rank(em_cell *c, double rank)
{
  if (rank >= 0 && rank < 9e15)
    em_cell_int(c, (int64_t)rank + 1);
  else
    em_cell_missing(c);
}

void em_cell_gpu(em_cell *c, const char *gpu, size_t len)
{
  em_cell_printf(c, "%.*s", (int)(len < EM_CELL_TEXT ? len : EM_CELL_TEXT - 1), gpu);
  const em_card *card = em_card_lookup(c->buf);
  if (card) em_cell_text(c, card->short_name);
}

bool em_both_next(em_both *at, const char **key, const cJSON **a, const cJSON **b)
{
  if (!at->a && !at->b) return false;
  int d = !at->a ? 1 : !at->b ? -1 : strcmp(at->a->string, at->b->string);
  *a = *b = NULL;
  if (d <= 0 && at->a) {
    *a = at->a;
    *key = at->a->string;
    at->a = at->a->next;
  }
  if (d >= 0 && at->b) {
    *b = at->b;
    *key = at->b->string;
    at->b = at->b->next;
  }
  return true;
}
