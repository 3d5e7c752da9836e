/* pool_change.c - the smallest change of knobs that would have made the prior prefer a candidate. */
#include <string.h>

#include "core/session/session_int.h"

/* Values are canonical, so equal texts are equal bytes; their structs have no padding. */
static bool same_value(const em_row *a, const em_row *b, em_family f)
{
  if ((a->present ^ b->present) & EM_HAS(f)) return false;
  switch (f) {
  case EM_WORK: return memcmp(&a->work, &b->work, sizeof a->work) == 0;
  case EM_TILE: return memcmp(&a->tile, &b->tile, sizeof a->tile) == 0;
  case EM_REDUCE: return memcmp(&a->reduce, &b->reduce, sizeof a->reduce) == 0;
  case EM_STAGE: return memcmp(&a->stage, &b->stage, sizeof a->stage) == 0;
  default: return memcmp(&a->raster, &b->raster, sizeof a->raster) == 0;
  }
}

static size_t compare(const em_row *a, const em_row *b, bool changed[EM_N_FAMILIES])
{
  size_t n = 0;
  memset(changed, 0, EM_N_FAMILIES * sizeof *changed);
  for (int f = EM_WORK; f <= EM_RASTER; f++) n += changed[f] = !same_value(a, b, (em_family)f);
  return n;
}

void em_scored_counterfactual(const em_scored *sc, size_t a, size_t b, em_counterfactual *out)
{
  *out = (em_counterfactual){.row = b};
  if (sc->quality[b] >= sc->quality[a]) return;
  out->n_families = EM_N_FAMILIES + 1;
  for (size_t rank = 0; rank < sc->n && sc->quality[sc->order[rank]] >= sc->quality[a]; rank++) {
    em_counterfactual c = {.row = sc->order[rank]};
    c.n_families = compare(&sc->rows[c.row], &sc->rows[b], c.changed);
    if (c.n_families < out->n_families) *out = c;
  }
}
