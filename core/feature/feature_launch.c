/*
 * feature_launch.c - how a candidate's launch meets the card: its grid, the
 * waves, the warps and bytes that a multiprocessor holds.
 *
 * These formulas count whole blocks and take a symbolic axis at its hint, so that a
 * dynamic kernel's grid is the grid of the size it was tuned for.
 */
#include "core/feature/feature_int.h"

static double larger(double a, double b) { return a > b ? a : b; }

static double smaller(double a, double b) { return a < b ? a : b; }

static double l2(double x) { return log2(larger(x, 1.0)); }

/* How a site covers the output. */
typedef struct em_cover {
  em_geometry g;
  double tiles_m, tiles_n; /* 1 without the axis */
  double blocks;
} em_cover;

/* False where the site has neither tile nor REDUCE. */
static bool cover_of(const em_featurizer *f, const em_row *site, em_cover *c)
{
  bool tiled = (site->present & EM_HAS(EM_TILE)) && site->tile.kind != EM_TILE_NONE;
  if (!tiled && !(site->present & EM_HAS(EM_REDUCE))) return false;
  em_geometry_of(site->work, site->tile, site->reduce, &c->g);
  c->tiles_m = tiled ? ceil(f->size_m / larger((double)c->g.tile_m, 1.0)) : f->size_m;
  c->tiles_n = tiled ? ceil(f->size_n / larger((double)c->g.tile_n, 1.0)) : f->size_n;
  c->blocks = c->tiles_m * c->tiles_n * f->size_rest * c->g.splitk;
  return true;
}

/* Rows and columns of the output that one thread, or one warp, holds in registers. */
static void fill_cells(const em_row *site, double *v)
{
  bool warp = site->tile.kind == EM_TILE_WARP;
  const em_atom *atom = warp ? em_atom_at((size_t)site->tile.atom) : NULL;
  double m = site->tile.fm * (warp ? atom->cell_m : 1), n = site->tile.fn * (warp ? atom->cell_n : 1);
  v[EM_F_D_cell_m] = m;
  v[EM_F_D_cell_n] = n;
  v[EM_F_D_cell_reuse] = m * n / larger(m + n, 1.0);
}

static void fill_reduction(const em_featurizer *f, const em_row *site, const em_cover *c, double *v)
{
  double step = larger((double)c->g.br * site->reduce.r, 1.0);
  if (!(f->size_k > 0)) return;
  v[EM_F_D_reduce_steps] = l2(f->size_k / step);
  v[EM_F_D_reduce_fill] = f->size_k / (ceil(f->size_k / step) * step);
}

void em_feature_cover(const em_featurizer *f, const em_row *site, double *v)
{
  em_cover c;
  if (!cover_of(f, site, &c)) return;
  bool tiled = site->tile.kind != EM_TILE_NONE;
  double m = tiled ? (double)c.g.tile_m : 1.0, n = tiled ? (double)c.g.tile_n : 1.0;
  double useful = f->size_m * f->size_n * f->size_rest, busiest = ceil(c.blocks / f->sm_count) * m * n / c.g.splitk;
  v[EM_F_D_grid] = l2(c.blocks);
  v[EM_F_D_balance] = log2(useful / f->sm_count / busiest);
  if (!tiled) {
    fill_reduction(f, site, &c, v);
    return;
  }
  v[EM_F_D_tiles_m] = l2(c.tiles_m);
  v[EM_F_D_tiles_n] = l2(c.tiles_n);
  v[EM_F_D_tile_fill] = f->size_m * f->size_n / (c.tiles_m * m * c.tiles_n * n);
  v[EM_F_D_traffic] = log2(c.tiles_m * c.tiles_n * (m + n) / (f->size_m + f->size_n));
  fill_cells(site, v);
}

/* The ring that a site stages through, where it has one. */
static void fill_ring(const em_featurizer *f, const em_row *site, const em_resources *r, double blocks,
                      const em_cover *c, double *v)
{
  double chunk = (double)r->smem_bytes / larger(site->stage.depth, 1.0);
  double row = chunk / larger((double)(c->g.tile_m + c->g.tile_n), 1.0);
  v[EM_F_D_chunk_bytes] = l2(chunk);
  v[EM_F_D_chunk_row] = l2(row);
  v[EM_F_D_copy_bytes] = l2(chunk / larger(c->g.threads, 1.0));
  v[EM_F_D_inflight] = l2((double)r->smem_bytes * blocks);
  if (f->size_k > 0 && f->bytes_k > 0) v[EM_F_D_k_steps] = l2(f->size_k * f->bytes_k / larger(row, 1.0));
}

void em_feature_launch(const em_featurizer *f, const em_row *site, const em_resources *r, double *v)
{
  em_cover c;
  if (!cover_of(f, site, &c)) return;
  double resident = larger(r->resident, 1.0), slots = f->sm_count * resident;
  double blocks = smaller(resident, larger(c.blocks / f->sm_count, 1.0)); /* of a busy multiprocessor, as a mean */
  v[EM_F_D_wave_fill] = c.blocks / (ceil(c.blocks / slots) * slots);
  v[EM_F_D_waves_resident] = log2(c.blocks / slots);
  v[EM_F_D_occupancy] = resident * r->threads / f->threads_per_sm;
  v[EM_F_D_active_warps] = l2(blocks * ceil(r->threads / 32.0));
  if (r->smem_bytes > 0) fill_ring(f, site, r, blocks, &c, v);
}
