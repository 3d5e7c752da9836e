/*
 * space_stage.c - how many bytes a staged tile needs (reference formats.md
 * section 4.6).
 *
 * Tensor core, copied operands: depth slots, each the A slab and a B slab per
 * product channel.  Tensor core, compute fill: the slab that threads fill is
 * single, the copied one rings.  Scalar: depth slots of a chunk of K that is
 * resolved here.  An output tile that leaves through shared memory (`out`)
 * does so after the last chunk, in the room of the slots.
 */
#include "core/space/space_int.h"

/* 1-byte slabs copied by cp.async carry 16 B a row against bank conflicts. */
static int64_t row_pad(const em_try *t, int64_t elem_bytes)
{
  enum { BYTE_SLAB_PAD = 16 };
  return elem_bytes == 1 && t->row.stage.transport == EM_STAGE_ASYNC ? BYTE_SLAB_PAD : 0;
}

/* Element size in the slab: a converted operand is stored as the atom reads it. */
static int64_t slab_bytes_of(const em_try *t, const em_operand *o)
{
  int64_t atom = em_dtype_bytes(t->atom->ab), own = em_dtype_bytes(o->dtype);
  return o->plain && own == 1 ? own : atom;
}

static int64_t slab_a(const em_try *t, int64_t chunk)
{
  int64_t bytes = slab_bytes_of(t, &t->site->nest->a);
  return t->g.tile_m * (chunk + row_pad(t, bytes)) * bytes;
}

static int64_t slab_b(const em_try *t, int64_t chunk)
{
  const em_nest *nest = t->site->nest;
  int64_t bytes = slab_bytes_of(t, &nest->b), pad = row_pad(t, bytes);
  int64_t one = nest->b.k_contiguous ? t->g.tile_n * (chunk + pad) * bytes : chunk * (t->g.tile_n + pad) * bytes;
  return one * (nest->n_products > 1 ? nest->n_products : 1);
}

static int64_t warp_bytes(const em_try *t)
{
  int64_t chunk = (int64_t)t->g.bk * t->atom->k, depth = t->row.stage.depth;
  int64_t a = slab_a(t, chunk), b = slab_b(t, chunk);
  if (!t->site->fill) return depth * (a + b);
  bool b_copied = t->site->nest->b.plain && em_dtype_bytes(t->site->nest->b.dtype) <= em_dtype_bytes(t->atom->ab);
  return a + (b_copied ? depth : 1) * b;
}

static int64_t scalar_bytes(const em_try *t, int64_t chunk)
{
  const em_nest *nest = t->site->nest;
  return t->row.stage.depth * chunk *
         (t->g.tile_m * em_dtype_bytes(nest->a.dtype) + t->g.tile_n * em_dtype_bytes(nest->b.dtype));
}

int64_t em_stage_slab_chunk(const em_try *t)
{
  for (int64_t chunk = 128; chunk >= EM_LEAST_SLAB_CHUNK; chunk /= 2)
    if (t->site->k % chunk == 0 && scalar_bytes(t, chunk) <= t->site->card->smem_optin) return chunk;
  return 0;
}

int64_t em_stage_bytes(const em_try *t)
{
  if (t->row.stage.transport < EM_STAGE_SMEM || !(t->site->families & EM_HAS(EM_STAGE)) ||
      t->row.tile.kind == EM_TILE_NONE)
    return 0;
  if (!t->atom) {
    int64_t chunk = em_stage_slab_chunk(t);
    return scalar_bytes(t, chunk ? chunk : EM_LEAST_SLAB_CHUNK);
  }
  int64_t ring = warp_bytes(t), tile = t->g.tile_m * t->g.tile_n * em_dtype_bytes(t->site->nest->out_dtype);
  return t->row.stage.out && tile > ring ? tile : ring;
}
