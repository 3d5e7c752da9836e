/*
 * feature_sites.c - the formulas: what a candidate's knobs say about its sites.
 *
 * Values go into an array indexed by feature id, which is NaN before; what a
 * function does not set stays missing.  `0.0 - x` instead of `-x` keeps zeros
 * positive, so that equal rows are equal bytes.
 */
#include "core/feature/feature_int.h"

static double l2(double x) { return log2(x > 1.0 ? x : 1.0); }

static double larger(double a, double b) { return a > b ? a : b; }

static bool has(const em_row *r, em_family family) { return (r->present & EM_HAS(family)) != 0; }

/* Splits of the reduction that would fill the card, or that K is long enough for. */
static double splits_needed(const em_featurizer *f, double free_blocks)
{
  double fill = 2.0 * f->sm_count / larger(free_blocks, 1.0);
  double depth = f->reduce_prod > 0 ? f->reduce_prod / sqrt(larger(f->free_prod, 1.0)) : 1.0;
  return larger(larger(fill, depth), 1.0);
}

/* What every site with a tile or a REDUCE has. */
static void fill_blocks(const em_featurizer *f, const em_row *site, const em_geometry *g, double area, double *v)
{
  bool combines = g->splitk > 1 && site->reduce.finalize == 'k';
  v[EM_F_D_threads] = g->threads;
  v[EM_F_D_pow2_threads] = g->threads > 0 && (g->threads & (g->threads - 1)) == 0;
  v[EM_F_D_splitk] = g->splitk;
  v[EM_F_D_finalize_kernel] = combines;
  v[EM_F_D_scalar_on_warp_eligible] = site->tile.kind != EM_TILE_WARP && f->warp_eligible;
  if (!(f->free_prod > 0)) return;
  double free_blocks = f->free_prod / area, blocks = free_blocks * g->splitk;
  v[EM_F_D_log2_ctas] = l2(blocks);
  v[EM_F_D_log2_waves] = log2(larger(blocks / f->sm_count, 0.001));
  v[EM_F_D_splitk_excess] = l2(g->splitk / splits_needed(f, free_blocks));
  v[EM_F_D_splitk_roundtrip] = combines ? l2(f->free_prod) : 0.0;
}

static double masked(const em_axis *axis, int64_t step)
{
  if (!axis || step < 1) return 0.0;
  return axis->extent == 0 || axis->extent % step != 0 ? -1.0 : 0.0;
}

static void fill_masks(const em_featurizer *f, const em_row *site, const em_geometry *g, double *v)
{
  int64_t chunk = site->tile.kind == EM_TILE_WARP ? (int64_t)g->bk * em_atom_at((size_t)site->tile.atom)->k : 1;
  v[EM_F_D_neg_masked_m] = masked(f->axis_m, g->tile_m);
  v[EM_F_D_neg_masked_n] = masked(f->axis_n, g->tile_n);
  v[EM_F_D_neg_masked_k] = masked(f->axis_k, chunk);
}

/* What scalar and warp tiles share. */
static void fill_tile(const em_featurizer *f, const em_row *site, const em_geometry *g, double *v)
{
  bool warp = site->tile.kind == EM_TILE_WARP;
  double m = (double)g->tile_m, n = (double)g->tile_n, area = larger(m * n, 1.0);
  double chunks = f->reduce_prod > 0 ? larger(f->reduce_prod / g->br / g->bk, 1.0) : 1.0;
  fill_blocks(f, site, g, area, v);
  fill_masks(f, site, g, v);
  v[EM_F_D_cells] = g->cells;
  v[EM_F_D_tile_m] = m;
  v[EM_F_D_tile_n] = n;
  v[EM_F_D_log2_area] = l2(area);
  v[EM_F_D_reuse] = area / (m + n);
  v[EM_F_D_aspect] = l2(m) - l2(n);
  v[EM_F_D_near_kchunks] = 0.0 - fabs(l2(chunks) - 5.0);
  v[EM_F_D_l2_bn] = l2(g->bn);
  v[EM_F_D_l2_bm] = l2(g->bm);
  v[EM_F_D_bn_ge_bm] = g->bn > 0 && g->bn >= g->bm;
  v[EM_F_D_l2_bk] = warp ? 0.0 : l2(g->bk);
  v[EM_F_D_w_l2_bk] = warp ? l2(g->bk) : 0.0;
  if (f->free_prod > 0) v[EM_F_D_splitk_deficit] = l2(splits_needed(f, f->free_prod / area) / larger(g->splitk, 1.0));
}

static void fill_warp(const em_row *site, double *v)
{
  const em_atom *atom = em_atom_at((size_t)site->tile.atom);
  v[EM_F_D_w_grid_m] = l2(site->work.m);
  v[EM_F_D_w_grid_n] = l2(site->work.n);
  v[EM_F_D_w_grid_aspect] = v[EM_F_D_w_grid_m] - v[EM_F_D_w_grid_n];
  v[EM_F_MMA_tier] = 1.0;
  v[EM_F_MMA_wgmma] = atom->wgmma;
  v[EM_F_MMA_atom_m] = atom->m;
  v[EM_F_MMA_atom_n] = atom->n;
  v[EM_F_MMA_atom_k] = atom->k;
  v[EM_F_MMA_a_bits] = 8.0 * em_dtype_bytes(atom->ab);
  v[EM_F_MMA_acc_bits] = 8.0 * em_dtype_bytes(atom->acc);
}

static void fill_reduce(const em_row *site, double *v)
{
  v[EM_F_D_reduce_ilp] = l2(site->reduce.r);
  v[EM_F_D_reduce_transposed] = site->reduce.coop == EM_COOP_T;
  v[EM_F_D_reduce_columns] = larger(site->reduce.v, 1.0);
}

void em_feature_tile(const em_featurizer *f, const em_row *site, double *v)
{
  em_geometry g;
  bool tiled = has(site, EM_TILE) && site->tile.kind != EM_TILE_NONE;
  if (!tiled && !has(site, EM_REDUCE)) return;
  em_geometry_of(site->work, site->tile, site->reduce, &g);
  em_feature_cover(f, site, v);
  if (!tiled) {
    fill_blocks(f, site, &g, 1.0, v);
    fill_reduce(site, v);
    return;
  }
  fill_tile(f, site, &g, v);
  if (site->tile.kind == EM_TILE_WARP) fill_warp(site, v);
}

void em_feature_stage(const em_featurizer *f, const em_row *site, double *v)
{
  const em_stage *s = &site->stage;
  if (!has(site, EM_STAGE) || s->transport == EM_STAGE_NONE) return;
  if (s->transport == EM_STAGE_REG) {
    v[EM_F_D_stage_reg] = 1.0;
    return;
  }
  bool async = s->transport == EM_STAGE_ASYNC || s->transport == EM_STAGE_TMA;
  v[EM_F_D_stage_depth] = s->depth;
  v[EM_F_D_stage_async] = async;
  v[EM_F_D_stage_tma] = s->transport == EM_STAGE_TMA;
  v[EM_F_D_stage_reg_depth] = s->p;
  v[EM_F_D_stage_cluster] = s->c;
  v[EM_F_D_stage_out] = s->out;
  if (async && f->loads_f4 && site->tile.kind == EM_TILE_WARP) v[EM_F_MMA_b_store_bits] = 4.0;
}

void em_feature_resources(const em_featurizer *f, const em_row *site, double *v)
{
  em_resources r;
  em_row whole = em_space_normalise(f->space, site); /* what is missing needs nothing */
  em_space_resources(f->space, &whole, &r);
  v[EM_F_D_smem_bytes] = (double)r.smem_bytes;
  v[EM_F_D_smem_frac] = (double)r.smem_bytes / f->smem_optin;
  v[EM_F_D_resident_ctas] = r.resident;
  v[EM_F_D_regs] = r.regs;
  em_feature_launch(f, site, &r, v);
}

void em_feature_row(const em_featurizer *f, const em_row *row, double *v)
{
  if (isnan(v[EM_F_MMA_tier])) v[EM_F_MMA_tier] = 0.0;
  if (has(row, EM_WORK)) {
    v[EM_F_D_wspec_warps] = row->work.producers;
    v[EM_F_D_block_threads] = em_work_threads(row->work);
  }
  if (has(row, EM_RASTER)) {
    v[EM_F_D_raster_group] = row->raster.group;
    v[EM_F_D_raster_gn] = row->raster.orient == 'n';
  }
  if (f->serial_work > 0) {
    double shared = has(row, EM_REDUCE) ? (double)row->reduce.cta * (row->reduce.coop ? row->work.n : 1) : 1.0;
    v[EM_F_D_serial_cell_work] = log2(1.0 + f->serial_work / larger(shared, 1.0));
  }
}
