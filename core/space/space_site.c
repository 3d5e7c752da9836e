/*
 * space_site.c - what the rules ask of a kernel's nest, worked out once.
 */
#include "core/space/space_int.h"

static bool sixteen_bit(em_dtype t) { return t == EM_F16 || t == EM_BF16; }
static bool byte_float(em_dtype t) { return t == EM_F8E4M3 || t == EM_F8E5M2; }

/* The streamed operands' common dtype selects the instruction; a byte B goes under a
 * 16-bit A as it is, any other operand is computed or converted into what the other
 * one streams. */
static void choose_atom_dtype(em_site *s)
{
  const em_operand *a = &s->nest->a, *b = &s->nest->b;
  s->atom_ab = EM_DTYPE_NONE;
  s->fill = false;
  if (a->plain && b->plain && (a->dtype == b->dtype || (sixteen_bit(a->dtype) && byte_float(b->dtype)))) {
    s->atom_ab = a->dtype;
    return;
  }
  s->fill = true;
  if (b->plain && sixteen_bit(b->dtype) && (!a->plain || em_dtype_bytes(a->dtype) >= 2))
    s->atom_ab = b->dtype;
  else if (a->plain && sixteen_bit(a->dtype) && !b->plain)
    s->atom_ab = a->dtype;
}

static uint8_t families_of(em_kind kind)
{
  uint8_t work = EM_HAS(EM_WORK) | EM_HAS(EM_RASTER);
  switch (kind) {
  case EM_KIND_POINTWISE: return work | EM_HAS(EM_TILE);
  case EM_KIND_REDUCE: return work | EM_HAS(EM_REDUCE);
  case EM_KIND_CONTRACTION: return work | EM_HAS(EM_TILE) | EM_HAS(EM_REDUCE) | EM_HAS(EM_STAGE);
  default: return 0;
  }
}

void em_site_init(em_site *s, const em_nest *nest, const em_card *card, em_regime regime)
{
  *s = (em_site){
    .nest = nest, .card = card, .fast_math = regime.fast_math, .families = families_of(nest->kind), .all_static = true};
  for (int i = 0; i < nest->n_free; i++) {
    if (nest->free[i].extent == 0)
      s->all_static = false;
    else
      s->strip_extent = nest->free[i].extent;
  }
  if (nest->has_fold) s->k = nest->fold.extent;
  if (nest->kind != EM_KIND_CONTRACTION) return;
  if (nest->n_axis >= 0) s->n = nest->free[nest->n_axis].extent;
  choose_atom_dtype(s);
}

const char *em_site_out_of_scope(const em_site *s)
{
  if (s->nest->out_of_scope) return s->nest->out_of_scope;
  if (s->families == 0) return "neither pointwise nor one reduction or contraction: the space has no catalog for it";
  if (s->nest->kind == EM_KIND_CONTRACTION && (s->nest->a.dtype == EM_F4E2M1X2 || s->nest->b.dtype == EM_F4E2M1X2))
    return "block-scaled fp4 operands: their schedules are not offered";
  return NULL;
}
