/*
 * space_resources.c - geometry of a tile, and what a candidate asks of the card.
 *
 * Registers per thread are an estimate; no compiler was asked:
 *   wgmma      58 + channels * fm * fn * acc          (reference 4.4)
 *   mma        40 + channels * fm * fn * acc + p * (fm * A + fn * B), A and B the
 *              registers a lane holds of one cell's operands
 *   scalar     24 + fm * fn + fm + fn                 (f32 accumulators, operands)
 *   untiled    24 + 2 * r * v                         (accumulators, loads in flight)
 * Registers are handed out to a warp in units of 256, shared memory to a block
 * with 1 KiB of the system's own from compute capability 8.0 on.
 */
#include <limits.h>
#include <stdio.h>

#include "core/space/space_int.h"

enum {
  WARP = 32,
  REG_UNIT = 256,
  MAX_REGS = 255,
  SYSTEM_SMEM = 1024,
  BASE_WGMMA = 58,
  BASE_MMA = 40,
  BASE_SCALAR = 24
};

static int as_int(int64_t v) { return v > INT_MAX ? INT_MAX : (int)v; }

static void warp_geometry(em_work w, em_tile t, em_geometry *g)
{
  const em_atom *a = em_atom_at((size_t)t.atom);
  g->threads = as_int((int64_t)w.n * w.m * WARP);
  g->cells = t.fm * t.fn;
  g->tile_m = (int64_t)w.m * t.fm * a->cell_m;
  g->tile_n = (int64_t)w.n * t.fn * a->cell_n;
  g->bk = t.bk;
}

static void scalar_geometry(em_work w, em_tile t, em_geometry *g)
{
  g->bn = w.kind == EM_WORK_THREADS ? w.n : 1;
  g->bm = w.kind == EM_WORK_THREADS ? w.m : 1;
  g->threads = as_int((int64_t)g->bn * g->bm);
  g->cells = t.fm * t.fn;
  g->tile_m = (int64_t)g->bm * t.fm;
  g->tile_n = (int64_t)g->bn * t.fn;
}

void em_geometry_of(em_work w, em_tile t, em_reduce r, em_geometry *out)
{
  int coop = r.coop != EM_COOP_NONE && w.kind == EM_WORK_THREADS ? w.n : 1;
  *out = (em_geometry){
    .threads = coop, .cells = 1, .tile_m = 1, .tile_n = 1, .bk = 1, .br = coop, .splitk = r.cta ? r.cta : 1};
  if (t.kind == EM_TILE_WARP) warp_geometry(w, t, out);
  if (t.kind == EM_TILE_SCALAR) scalar_geometry(w, t, out);
}

void em_try_shape(em_try *t)
{
  em_geometry_of(t->row.work, t->row.tile, t->row.reduce, &t->g);
  t->atom = t->row.tile.kind == EM_TILE_WARP ? em_atom_at((size_t)t->row.tile.atom) : NULL;
}

int64_t em_try_threads(const em_try *t)
{
  em_work w = t->row.work;
  if (w.kind == EM_WORK_NONE) return 1;
  int64_t units = (int64_t)w.n * w.m;
  return w.kind == EM_WORK_WARPS ? WARP * (units + w.producers) : units;
}

/* Registers a lane holds of an m x k (or n x k) operand of one cell. */
static int fragment_regs(const em_atom *a, int rows)
{
  int regs = rows * a->k * em_dtype_bytes(a->ab) / (WARP * 4);
  return regs > 0 ? regs : 1;
}

int em_try_regs(const em_try *t)
{
  em_tile v = t->row.tile;
  if (v.kind == EM_TILE_SCALAR) return BASE_SCALAR + v.fm * v.fn + v.fm + v.fn;
  if (v.kind == EM_TILE_NONE) return BASE_SCALAR + 2 * t->row.reduce.r * t->row.reduce.v;
  const em_atom *a = t->atom;
  int channels = t->site->nest->n_products > 1 ? t->site->nest->n_products : 1;
  int accumulators = channels * v.fm * v.fn * a->acc_regs; /* NOLINT: a warp tile has its atom */
  if (a->wgmma) return BASE_WGMMA + accumulators;
  int buffers = t->row.stage.p > 1 ? t->row.stage.p : 1;
  return BASE_MMA + accumulators + buffers * (v.fm * fragment_regs(a, a->cell_m) + v.fn * fragment_regs(a, a->cell_n));
}

/* ---- on the card ---------------------------------------------------------------------- */

static int64_t block_regs(int64_t threads, int regs)
{
  int64_t per_warp = ((int64_t)regs * WARP + REG_UNIT - 1) / REG_UNIT * REG_UNIT;
  return (threads + WARP - 1) / WARP * per_warp;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int resident_blocks(const em_card *c, int64_t threads, int64_t smem, int regs)
{
  int64_t reserved = em_card_cc(c) >= 80 ? SYSTEM_SMEM : 0;
  if (threads > c->max_threads || smem > c->smem_optin || regs > MAX_REGS ||
      block_regs(threads, regs) > c->regs_per_block)
    return 0;
  int64_t n = least(c->blocks_per_sm, c->threads_per_sm / ((threads + WARP - 1) / WARP * WARP));
  n = least(n, c->regs_per_sm / block_regs(threads, regs));
  if (smem + reserved > 0) n = least(n, c->smem_per_sm / (smem + reserved));
  return (int)n;
}

static em_try try_of(const em_space *s, const em_row *row)
{
  em_try t = {.site = &s->site, .row = *row};
  em_try_shape(&t);
  return t;
}

void em_space_resources(const em_space *s, const em_row *row, em_resources *out)
{
  em_try t = try_of(s, row);
  int64_t threads = em_try_threads(&t);
  out->threads = as_int(threads);
  out->smem_bytes = em_stage_bytes(&t);
  out->regs = em_try_regs(&t);
  out->resident = resident_blocks(s->site.card, threads, out->smem_bytes, out->regs);
}

bool em_space_fits(const em_space *s, const em_row *row, char why[EM_WHY_LEN])
{
  em_try t = try_of(s, row);
  const em_card *c = s->site.card;
  int64_t threads = em_try_threads(&t), smem = em_stage_bytes(&t);
  int regs = em_try_regs(&t);
  char value[EM_VALUE_LEN];
  why[0] = '\0';
  if (threads > c->max_threads)
    snprintf(why, EM_WHY_LEN, "WORK %s: %lld threads, a block has at most %d", em_work_print(row->work, value),
             (long long)threads, c->max_threads);
  else if (smem > c->smem_optin)
    snprintf(why, EM_WHY_LEN, "TILE %s: %lld B of shared memory, card has %lld B", em_tile_print(row->tile, value),
             (long long)smem, (long long)c->smem_optin);
  else if (regs > MAX_REGS)
    snprintf(why, EM_WHY_LEN, "TILE %s: about %d registers a thread, at most %d", em_tile_print(row->tile, value), regs,
             MAX_REGS);
  else if (block_regs(threads, regs) > c->regs_per_block)
    snprintf(why, EM_WHY_LEN, "TILE %s: about %lld registers for %lld threads, a block has %d",
             em_tile_print(row->tile, value), (long long)block_regs(threads, regs), (long long)threads,
             c->regs_per_block);
  return why[0] == '\0';
}
