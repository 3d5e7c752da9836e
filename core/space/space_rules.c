/*
 * space_rules.c - legality: one table of rules, used to build the space and to
 * say why a row is not in it (reference formats.md sections 4.2, 4.4, 4.6, 4.7).
 *
 * A predicate is true when the rule has nothing against the row; one that
 * speaks of another kind of tile is true at once.
 */
#include <stdio.h>
#include <string.h>

#include "core/space/space_int.h"

enum {
  MAX_CELLS = 32,
  MAX_ACC_REGS = 128,
  TMA_BOX = 256,
  TMA_ALIGN = 16,
  PACKED_THREADS = 128,
  PACKED_WIDEST = 32,
  WARP = 32
};

static bool refuse(em_try *t, int64_t a, int64_t b)
{
  t->num[0] = a;
  t->num[1] = b;
  return false;
}

static bool at_most(em_try *t, int64_t found, int64_t limit) { return found <= limit || refuse(t, found, limit); }
static bool divides(em_try *t, int64_t part, int64_t whole)
{
  return (part > 0 && whole % part == 0) || refuse(t, whole, part);
}

/* Bytes of a row of n elements; extents come from files and may be any 63-bit number. */
static int64_t row_bytes(int64_t n, int elem)
{
  int64_t bytes;
  return __builtin_mul_overflow(n, elem, &bytes) ? INT64_MAX : bytes;
}

static bool contraction(const em_try *t) { return (t->site->families & EM_HAS(EM_STAGE)) != 0; }
static bool pointwise(const em_try *t) { return !(t->site->families & EM_HAS(EM_REDUCE)); }
static bool tiled(const em_try *t) { return t->row.tile.kind != EM_TILE_NONE; }
static bool scalar(const em_try *t) { return t->row.tile.kind == EM_TILE_SCALAR; }
static bool wgmma(const em_try *t) { return t->atom && t->atom->wgmma; }
static bool staged(const em_try *t) { return t->row.stage.transport != EM_STAGE_NONE; }
static bool tma(const em_try *t) { return t->row.stage.transport == EM_STAGE_TMA; }
static bool copied(const em_try *t) { return t->atom && staged(t) && !t->site->fill; }
static bool filled(const em_try *t) { return t->atom && staged(t) && t->site->fill; }
static int64_t chunk(const em_try *t) { return t->atom ? (int64_t)t->row.tile.bk * t->atom->k : 1; }
static int cc(const em_try *t) { return em_card_cc(t->site->card); }
static int bytes_a(const em_try *t) { return em_dtype_bytes(t->site->nest->a.dtype); }
static int bytes_b(const em_try *t) { return em_dtype_bytes(t->site->nest->b.dtype); }

/* ---- WORK -------------------------------------------------------------------------- */

static bool work_pointwise(em_try *t) { return !pointwise(t) || t->row.work.kind == EM_WORK_NONE; }
static bool work_threads(em_try *t) { return at_most(t, em_try_threads(t), t->site->card->max_threads); }
static bool work_warps(em_try *t) { return contraction(t) || t->row.work.kind != EM_WORK_WARPS; }
static bool work_band(em_try *t)
{
  em_work w = t->row.work;
  return w.producers == 0 || at_most(t, w.producers, (int64_t)w.n * w.m);
}

/* ---- TILE: the instruction ------------------------------------------------------------ */

static bool atom_fp4(em_try *t) { return !t->atom || t->atom->ab != EM_F4E2M1X2; }
static bool atom_card(em_try *t)
{
  return !t->atom || em_atom_on_card(t->atom, t->site->card) || refuse(t, cc(t) / 10, cc(t) % 10);
}
static bool atom_dtype(em_try *t) { return !t->atom || t->atom->ab == t->site->atom_ab; }
static bool atom_precision(em_try *t) { return !t->atom || !t->atom->precision_gated || t->site->fast_math; }
static bool atom_fold(em_try *t)
{
  return !t->atom || (t->site->nest->fold_op && strcmp(t->site->nest->fold_op, "add") == 0);
}
static bool atom_operands(em_try *t)
{
  return !t->atom || t->site->nest->n_extra == 0 || refuse(t, t->site->nest->n_extra + 2, 0);
}
static bool atom_rows(em_try *t) { return !t->atom || t->site->nest->row_address; }
static bool atom_epilogue(em_try *t) { return !t->atom || t->site->nest->epilogue_straight; }
/* Threads that convert A gather it, whatever its order. */
static bool atom_a(em_try *t)
{
  const em_operand *a = &t->site->nest->a;
  return !t->atom || a->k_contiguous || !a->plain || a->dtype != t->atom->ab;
}
static bool atom_b(em_try *t)
{
  const em_operand *b = &t->site->nest->b;
  return !t->atom || b->k_contiguous || b->mn_contiguous || !b->plain;
}
static bool atom_byte(em_try *t)
{
  const em_operand *a = &t->site->nest->a, *b = &t->site->nest->b;
  return !t->atom || em_dtype_bytes(t->atom->ab) > 1 || (a->plain && b->plain && a->dtype == b->dtype);
}

/* ---- TILE: the shape ----------------------------------------------------------------- */

static bool tile_axes(em_try *t)
{
  int axes = t->site->nest->n_free;
  return !contraction(t) || !tiled(t) || axes >= 2 || refuse(t, axes, 0);
}
static bool strip_divides(em_try *t)
{
  if (!pointwise(t) || !scalar(t)) return true;
  return t->site->strip_extent > 0 ? divides(t, t->row.tile.fn, t->site->strip_extent) : refuse(t, 0, t->row.tile.fn);
}
static bool tile_holder(em_try *t) { return !contraction(t) || !scalar(t) || t->row.work.kind != EM_WORK_WARPS; }
static bool tile_warps(em_try *t) { return !t->atom || t->row.work.kind == EM_WORK_WARPS; }
static bool scalar_product(em_try *t)
{
  const em_nest *n = t->site->nest;
  return !contraction(t) || !scalar(t) || (n->n_products == 1 && n->n_extra == 0);
}
static bool tile_cells(em_try *t) { return !t->atom || at_most(t, t->g.cells, MAX_CELLS); }
static bool tile_accumulators(em_try *t)
{
  return !t->atom || at_most(t, (int64_t)t->g.cells * t->atom->acc_regs, MAX_ACC_REGS);
}
static bool tile_byte_chunk(em_try *t)
{
  if (!t->atom || em_dtype_bytes(t->atom->ab) > 1) return true;
  return t->site->k ? divides(t, chunk(t), t->site->k) : refuse(t, 0, chunk(t));
}
static bool wgmma_work(em_try *t) { return !wgmma(t) || (t->row.work.m % 4 == 0 && t->row.work.n == 1); }
static bool wgmma_shape(em_try *t)
{
  if (!wgmma(t)) return true;
  int64_t group = t->atom->n / t->atom->cell_n;
  return (t->row.tile.fm == 1 && t->row.tile.fn % group == 0) || refuse(t, group, 0);
}
static bool wgmma_chunk(em_try *t)
{
  enum { CHUNK_BYTES = 128 };
  int64_t bytes = chunk(t) * (t->atom ? em_dtype_bytes(t->atom->ab) : 0);
  return !wgmma(t) || bytes == CHUNK_BYTES || refuse(t, bytes, CHUNK_BYTES);
}
static bool wgmma_registers(em_try *t)
{
  if (!wgmma(t)) return true;
  int64_t threads = em_try_threads(t), limit = t->site->card->regs_per_block / (threads ? threads : 1);
  return at_most(t, em_try_regs(t), limit < 255 ? limit : 255);
}

/* ---- REDUCE -------------------------------------------------------------------------- */

static bool reduces(const em_try *t) { return t->row.reduce.coop != EM_COOP_NONE; }
static bool reduce_split(em_try *t) { return t->row.reduce.cta == 1; }
static bool reduce_tiled(em_try *t) { return !tiled(t) || pointwise(t) || (!reduces(t) && t->row.reduce.r == 1); }
static bool reduce_symbolic(em_try *t)
{
  return !contraction(t) || t->site->k > 0 || (!reduces(t) && t->row.reduce.r == 1);
}
static bool reduce_threads(em_try *t) { return !reduces(t) || t->row.work.kind == EM_WORK_THREADS; }
/* Something must claim the workers: a tile, a cooperating reduce, or the sweep that
 * writes each row after its folds. */
static bool work_claimed(em_try *t)
{
  em_work w = t->row.work;
  if (w.kind == EM_WORK_NONE || tiled(t) || reduces(t) || pointwise(t)) return true;
  return t->site->nest->sweeps && w.kind == EM_WORK_THREADS && w.m == 1 && em_catalog_coop(w.n);
}
static bool coop_width(em_try *t)
{
  return !reduces(t) || em_catalog_coop(t->row.work.n) || refuse(t, t->row.work.n, 0);
}
static bool coop_packed(em_try *t)
{
  em_work w = t->row.work;
  if (!reduces(t) || w.m == 1) return true;
  return (t->row.reduce.coop == EM_COOP && w.n <= PACKED_WIDEST && (int64_t)w.n * w.m == PACKED_THREADS) ||
         refuse(t, PACKED_THREADS, 0);
}
static bool transposed(const em_try *t) { return t->row.reduce.coop == EM_COOP_T; }
static bool coop_t_warps(em_try *t) { return !transposed(t) || divides(t, WARP, t->row.work.n); }
static bool coop_t_chain(em_try *t) { return !transposed(t) || t->site->nest->n_folds <= 1; }
static bool coop_t_epilogue(em_try *t) { return !transposed(t) || !t->site->nest->sweeps; }
static bool coop_t_axis(em_try *t)
{
  if (!transposed(t)) return true;
  for (int i = 0; i < t->site->nest->n_free; i++)
    if (t->site->nest->free[i].extent != 1) return true;
  return false;
}

/* ---- STAGE: the transport --------------------------------------------------------------- */

static bool stage_tiled(em_try *t) { return !staged(t) || tiled(t); }
static bool stage_register(em_try *t) { return t->row.stage.transport != EM_STAGE_REG; }
static bool stage_async_card(em_try *t)
{
  return t->row.stage.transport != EM_STAGE_ASYNC || cc(t) >= 80 || refuse(t, cc(t) / 10, cc(t) % 10);
}
static bool stage_tma_card(em_try *t) { return !tma(t) || cc(t) >= 90 || refuse(t, cc(t) / 10, cc(t) % 10); }
static bool direct_wgmma(em_try *t) { return staged(t) || !wgmma(t); }
static bool direct_channels(em_try *t) { return staged(t) || !t->atom || t->site->nest->n_products <= 1; }
static bool direct_fill(em_try *t) { return staged(t) || !t->atom || !t->site->fill; }
static bool producers_tma(em_try *t) { return t->row.work.producers == 0 || tma(t); }
static bool stage_k_static(em_try *t)
{
  const em_nest *n = t->site->nest;
  if (!staged(t) || t->site->k > 0) return true;
  return filled(t) && !n->a.plain && n->b.plain && n->b.mn_contiguous;
}
static bool stage_k_chunk(em_try *t)
{
  return !t->atom || !staged(t) || t->site->k == 0 || divides(t, chunk(t), t->site->k);
}
static bool stage_n_masked(em_try *t)
{
  if (!staged(t) || (filled(t) && !t->site->nest->b.plain)) return true;
  return t->site->n > 0 ? divides(t, t->g.tile_n, t->site->n) : refuse(t, 0, t->g.tile_n);
}
static bool copy_blocking(em_try *t)
{
  return !copied(t) || t->row.stage.transport != EM_STAGE_SMEM || t->atom->cc_below <= 80;
}
static bool copy_byte_slab(em_try *t)
{
  const em_operand *b = &t->site->nest->b;
  if (!copied(t) || bytes_b(t) != 1 || em_dtype_bytes(t->atom->ab) == 1) return true;
  int64_t span = b->k_contiguous ? chunk(t) : t->g.tile_n;
  return divides(t, TMA_ALIGN, span);
}
static bool fill_transport(em_try *t) { return !filled(t) || t->row.stage.transport == EM_STAGE_SMEM; }
static bool fill_atom(em_try *t) { return !filled(t) || em_dtype_bytes(t->atom->ab) == 2; }
static bool scalar_parallel(em_try *t) { return !scalar(t) || !staged(t) || t->row.work.kind == EM_WORK_THREADS; }
static bool scalar_b(em_try *t) { return !scalar(t) || !staged(t) || !t->site->nest->b.k_contiguous; }
static bool scalar_operands(em_try *t)
{
  const em_nest *n = t->site->nest;
  return !scalar(t) || !staged(t) || (n->a.plain && n->b.plain && bytes_a(t) >= 2 && bytes_b(t) >= 2);
}
static bool scalar_chunk(em_try *t) { return !scalar(t) || !staged(t) || divides(t, EM_LEAST_SLAB_CHUNK, t->site->k); }
static bool tma_box(em_try *t)
{
  if (!tma(t)) return true;
  return at_most(t, t->g.tile_m, TMA_BOX) && at_most(t, t->g.tile_n, TMA_BOX) && at_most(t, chunk(t), TMA_BOX);
}
static bool tma_rank(em_try *t)
{
  const em_operand *o[] = {&t->site->nest->a, &t->site->nest->b};
  for (int i = 0; tma(t) && i < 2; i++)
    if (o[i]->rank < 2 || o[i]->rank > 4 || !o[i]->leading_fixed) return refuse(t, o[i]->rank, 0);
  return true;
}
static bool tma_rows(em_try *t)
{
  if (!tma(t)) return true;
  int64_t b_row = t->site->nest->b.k_contiguous ? t->site->k : t->site->n;
  return divides(t, TMA_ALIGN, row_bytes(t->site->k, bytes_a(t))) &&
         divides(t, TMA_ALIGN, row_bytes(b_row, bytes_b(t)));
}
static bool tma_spans(em_try *t)
{
  if (!tma(t) || !t->atom) return true;
  int64_t b_span = t->site->nest->b.k_contiguous ? chunk(t) : t->g.tile_n;
  return divides(t, TMA_ALIGN, chunk(t) * bytes_a(t)) && divides(t, TMA_ALIGN, b_span * bytes_b(t));
}

/* ---- STAGE: depth and the rest --------------------------------------------------------- */

static bool stage_blocking_depth(em_try *t)
{
  return t->row.stage.transport != EM_STAGE_SMEM || at_most(t, t->row.stage.depth, 2);
}
static bool stage_groups_tile(em_try *t) { return t->row.stage.p <= 1 || t->atom; }
static bool stage_groups(em_try *t)
{
  return t->row.stage.p <= 1 || !t->atom || at_most(t, t->row.stage.p, t->row.tile.bk);
}
static bool stage_cluster(em_try *t) { return t->row.stage.c <= 1; }
static bool stage_out(em_try *t) { return !t->row.stage.out || (t->atom && !tma(t)); }
static bool fill_plain(em_try *t) { return !filled(t) || (t->row.stage.p == 1 && !t->row.stage.out); }
static bool stage_memory(em_try *t) { return !staged(t) || at_most(t, em_stage_bytes(t), t->site->card->smem_optin); }

/* ---- RASTER ---------------------------------------------------------------------------- */

static bool raster_tiled(em_try *t) { return t->row.raster.group == 0 || (contraction(t) && tiled(t)); }
static bool raster_static(em_try *t) { return t->row.raster.group == 0 || t->site->all_static; }

/* ---- the table, by step ------------------------------------------------------------------------- */

static const em_rule work_rules[] = {
  {"work.pointwise", EM_WORK, work_pointwise, "a pointwise kernel gives each thread its own cells, WORK is \"\""},
  {"work.threads", EM_WORK, work_threads, "# threads, a block has at most #"},
  {"work.warps", EM_WORK, work_warps, "only a contraction's tiles are held by warps"},
  {"work.producers", EM_WORK, work_band, "# producer warps, at most as many as the # compute warps"},
};
static const em_rule atom_rules[] = {
  {"atom.fp4", EM_TILE, atom_fp4, "block-scaled fp4 is not offered"},
  {"atom.card", EM_TILE, atom_card, "the card (compute capability #.#) lacks the instruction"},
  {"atom.dtype", EM_TILE, atom_dtype, "the instruction does not take the kernel's operand types"},
  {"atom.precision", EM_TILE, atom_precision, "the instruction loses precision, it needs FAST_MATH"},
  {"atom.fold", EM_TILE, atom_fold, "tensor cores add products, the kernel folds otherwise"},
  {"atom.operands", EM_TILE, atom_operands, "tensor cores multiply two operands, the kernel has #"},
  {"atom.rows", EM_TILE, atom_rows, "rows of the tile share a store address"},
  {"atom.epilogue", EM_TILE, atom_epilogue, "the epilogue loops or gathers, a fragment cannot run it"},
  {"atom.a", EM_TILE, atom_a, "A is not contiguous along K"},
  {"atom.b", EM_TILE, atom_b, "B is contiguous along neither K nor N"},
  {"atom.byte", EM_TILE, atom_byte, "1-byte operands must be stored with one dtype"},
};
static const em_rule tile_rules[] = {
  {"tile.axes", EM_TILE, tile_axes, "a tile needs two free axes, the kernel has #"},
  {"strip.divides", EM_TILE, strip_divides, "the innermost static extent # is not a multiple of #"},
  {"tile.threads", EM_TILE, tile_holder, "a scalar tile is held by threads, not by warps"},
  {"tile.warps", EM_TILE, tile_warps, "a tensor-core tile is held by warps"},
  {"scalar.product", EM_TILE, scalar_product, "a scalar tile needs one product of two operands"},
  {"tile.cells", EM_TILE, tile_cells, "# fragment cells a warp, at most #"},
  {"tile.accumulators", EM_TILE, tile_accumulators, "# accumulator registers, at most #"},
  {"tile.byte-chunk", EM_TILE, tile_byte_chunk, "K (#; 0 = symbolic) is not a multiple of the chunk #"},
  {"wgmma.work", EM_WORK, wgmma_work, "wgmma needs warps in fours along m and one along n"},
  {"wgmma.shape", EM_TILE, wgmma_shape, "wgmma needs f1x<C> with C a multiple of #"},
  {"wgmma.chunk", EM_TILE, wgmma_chunk, "a chunk of # B of K, wgmma takes # B"},
  {"wgmma.registers", EM_TILE, wgmma_registers, "# registers a thread, at most #"},
};
static const em_rule reduce_rules[] = {
  {"reduce.split", EM_REDUCE, reduce_split, "a split is a decision about kernels, its pieces have rows of their own"},
  {"reduce.tiled", EM_REDUCE, reduce_tiled, "a tiled contraction folds serially"},
  {"reduce.symbolic", EM_REDUCE, reduce_symbolic, "a symbolic K folds serially"},
  {"reduce.threads", EM_REDUCE, reduce_threads, "threads of WORK cooperate, WORK has none"},
  {"work.claimed", EM_WORK, work_claimed, "neither TILE nor REDUCE uses these workers"},
  {"coop.width", EM_WORK, coop_width, "# threads do not form a cooperating band of the catalog"},
  {"coop.packed", EM_WORK, coop_packed, "cells share a block only under coop, at most 32 wide, # threads in all"},
  {"coop-t.warps", EM_REDUCE, coop_t_warps, "# threads are not a multiple of #"},
  {"coop-t.chain", EM_REDUCE, coop_t_chain, "the kernel chains folds"},
  {"coop-t.epilogue", EM_REDUCE, coop_t_epilogue, "the epilogue loops"},
  {"coop-t.axis", EM_REDUCE, coop_t_axis, "no output axis for the lanes to run along"},
};
static const em_rule transport_rules[] = {
  {"stage.tiled", EM_STAGE, stage_tiled, "an untiled kernel stages nothing"},
  {"stage.register", EM_STAGE, stage_register, "register slots serve ordered loops, the kernel has none"},
  {"stage.async-card", EM_STAGE, stage_async_card, "cp.async needs compute capability 8.0, the card has #.#"},
  {"stage.tma-card", EM_STAGE, stage_tma_card, "TMA needs compute capability 9.0, the card has #.#"},
  {"direct.wgmma", EM_STAGE, direct_wgmma, "wgmma reads shared memory, its operands must be staged"},
  {"direct.channels", EM_STAGE, direct_channels, "several products in one fold must be staged"},
  {"direct.fill", EM_STAGE, direct_fill, "a computed or converted operand must be staged"},
  {"producers.tma", EM_WORK, producers_tma, "producer warps only issue TMA copies, STAGE has none"},
  {"stage.k-static", EM_STAGE, stage_k_static, "K is symbolic"},
  {"stage.k-chunk", EM_STAGE, stage_k_chunk, "K # is not a multiple of the chunk #"},
  {"stage.n-masked", EM_STAGE, stage_n_masked, "N (#; 0 = symbolic) is not a multiple of the tile's #"},
  {"copy.blocking", EM_STAGE, copy_blocking, "blocking copies serve tensor cores before compute capability 8.0 only"},
  {"copy.byte-slab", EM_STAGE, copy_byte_slab, "rows of # B of a byte slab are not a multiple of # B"},
  {"fill.transport", EM_STAGE, fill_transport, "a computed or converted operand is filled by threads: smem"},
  {"fill.atom", EM_STAGE, fill_atom, "only a 16-bit instruction can be filled by threads"},
  {"scalar.parallel", EM_STAGE, scalar_parallel, "a scalar tile of one thread shares nothing"},
  {"scalar.b", EM_STAGE, scalar_b, "a scalar tile stages no transposed B"},
  {"scalar.operands", EM_STAGE, scalar_operands, "a scalar tile stages stored operands of 2 bytes or more"},
  {"scalar.chunk", EM_STAGE, scalar_chunk, "K # is not a multiple of the least slab chunk #"},
  {"tma.box", EM_STAGE, tma_box, "a box of #, TMA copies at most # along a dimension"},
  {"tma.rank", EM_STAGE, tma_rank,
   "an operand of rank # that TMA cannot address: 2 to 4 dimensions, the outer ones fixed"},
  {"tma.rows", EM_STAGE, tma_rows, "operand rows of # B are not a multiple of # B"},
  {"tma.spans", EM_STAGE, tma_spans, "box rows of # B are not a multiple of # B"},
};
static const em_rule stage_rules[] = {
  {"stage.blocking-depth", EM_STAGE, stage_blocking_depth, "# blocking slots, at most #"},
  {"stage.groups-tile", EM_STAGE, stage_groups_tile, "p double-buffers fragments of tensor-core tiles only"},
  {"stage.groups", EM_STAGE, stage_groups, "# groups, the chunk has #"},
  {"stage.cluster", EM_STAGE, stage_cluster, "clusters are not offered"},
  {"stage.out", EM_STAGE, stage_out, "only a tensor-core tile without TMA leaves through shared memory"},
  {"fill.plain", EM_STAGE, fill_plain, "a compute fill has neither p nor out"},
  {"stage.memory", EM_TILE, stage_memory, "# B of shared memory, card has # B"},
};
static const em_rule raster_rules[] = {
  {"raster.tiled", EM_RASTER, raster_tiled, "only a tiled contraction has an order of tiles"},
  {"raster.static", EM_RASTER, raster_static, "a free axis is symbolic"},
};

#define RULES(list)                                                                                                    \
  {                                                                                                                    \
    list, sizeof list / sizeof list[0]                                                                                 \
  }
static const struct {
  const em_rule *rules;
  size_t n;
} steps[EM_N_STEPS] = {
  [EM_STEP_WORK] = RULES(work_rules),           [EM_STEP_ATOM] = RULES(atom_rules),
  [EM_STEP_TILE] = RULES(tile_rules),           [EM_STEP_REDUCE] = RULES(reduce_rules),
  [EM_STEP_TRANSPORT] = RULES(transport_rules), [EM_STEP_STAGE] = RULES(stage_rules),
  [EM_STEP_RASTER] = RULES(raster_rules),
};

const em_rule *em_rules_of(em_step step, size_t *n)
{
  *n = steps[step].n;
  return steps[step].rules;
}

const em_rule *em_rule_refusing(em_try *t, em_step step)
{
  const em_rule *rules = steps[step].rules, *end = rules + steps[step].n;
  for (const em_rule *r = rules; r < end; r++)
    if (!r->holds(t)) return r;
  return NULL;
}

void em_rule_explain(const em_rule *r, const em_try *t, char why[EM_WHY_LEN])
{
  char value[EM_VALUE_LEN] = "";
  const char *text = em_row_value(&t->row, r->subject, value);
  size_t used = (size_t)snprintf(why, EM_WHY_LEN, "%s %s: ", em_family_at(r->subject)->name,
                                 text && *text ? text : "\"\"");
  int next = 0;
  for (const char *w = r->words; *w && used + 1 < EM_WHY_LEN; w++) {
    if (*w != '#' || next == 2) {
      why[used++] = *w;
      why[used] = '\0';
      continue;
    }
    int put = snprintf(why + used, EM_WHY_LEN - used, "%lld", (long long)t->num[next++]);
    used = used + (size_t)put < EM_WHY_LEN ? used + (size_t)put : EM_WHY_LEN - 1;
  }
}
