/*
 * space_catalog.c - the values proposed for each family, in order: the first
 * value of a level is its option 0 (reference formats.md section 4.3).
 *
 * A catalog says nothing about legality; the rules do.  The reference's one
 * wide plan per atom (f26x4, 104 cells) is left out: its own bounds on
 * fragment cells and accumulator registers refuse it for every atom.
 */
#include "core/space/space_int.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const uint8_t strips[] = {2, 3, 4, 8};                     /* pointwise: cells of one thread */
static const uint16_t line_units[] = {32, 64, 128, 256, 512};     /* scalar tile, threads along n only */
static const uint8_t own_n[] = {1, 2, 3, 4}, own_m[] = {1, 2, 4}; /* register only: one thread */
static const uint8_t par_units_n[] = {16, 32, 64}, par_units_m[] = {8, 16};
static const uint8_t par_n[] = {1, 2, 4, 26}, par_m[] = {1, 2, 4, 6, 8, 10, 12, 14, 26};
static const uint8_t warps[] = {1, 2, 4, 8, 16};
static const uint8_t cells_m[] = {1, 2, 3, 4, 8}, cells_n[] = {1, 2, 4, 8, 16, 24, 32}, chunks[] = {1, 2, 4, 8};
_Static_assert(COUNT(cells_m) * COUNT(cells_n) * COUNT(chunks) == EM_TILES_PER_ATOM,
               "the scratch array of tiles follows the catalog");
enum { MAX_PRODUCERS = 2, PACKED_THREADS = 128, PACKED_WIDEST = 32 };

static const uint16_t coops[] = {4, 8, 16, 32, 64, 128, 256, 512}; /* width 1 is REDUCE "r2", "r4" on WORK "" */

const em_reduce em_catalog_reduces[EM_N_REDUCES] = {
  {1, 0, EM_COOP_NONE, 1, 1}, {1, 0, EM_COOP_NONE, 1, 2}, {1, 0, EM_COOP_NONE, 1, 4}, {1, 0, EM_COOP, 1, 1},
  {1, 0, EM_COOP, 1, 2},      {1, 0, EM_COOP, 1, 4},      {1, 0, EM_COOP_T, 1, 1},    {1, 0, EM_COOP_T, 2, 1},
  {1, 0, EM_COOP_T, 4, 1},    {1, 0, EM_COOP_T, 8, 1},
};

const em_raster em_catalog_rasters[EM_N_RASTERS] = {{0, 0}, {8, 'm'}};

bool em_catalog_coop(int width)
{
  for (size_t i = 0; i < COUNT(coops); i++)
    if (coops[i] == width) return true;
  return false;
}

/* ---- WORK ------------------------------------------------------------------------- */

typedef struct works {
  em_work *out;
  size_t n;
} works;

static void add_work(works *l, uint8_t kind, uint16_t n, uint16_t m, uint8_t producers)
{
  em_work w = {.kind = kind, .producers = producers, .n = n, .m = m};
  for (size_t i = 0; i < l->n; i++)
    if (l->out[i].kind == kind && l->out[i].n == n && l->out[i].m == m && l->out[i].producers == producers) return;
  if (l->n < EM_MAX_WORKS) l->out[l->n++] = w;
}

static void add_coop_works(works *l)
{
  for (size_t i = 0; i < COUNT(coops); i++) add_work(l, EM_WORK_THREADS, coops[i], 1, 0);
  for (size_t i = 0; i < COUNT(coops) && coops[i] <= PACKED_WIDEST; i++)
    add_work(l, EM_WORK_THREADS, coops[i], (uint16_t)(PACKED_THREADS / coops[i]), 0);
}

static void add_tile_works(works *l)
{
  for (size_t i = 0; i < COUNT(line_units); i++) add_work(l, EM_WORK_THREADS, line_units[i], 1, 0);
  for (size_t i = 0; i < COUNT(par_units_n); i++)
    for (size_t j = 0; j < COUNT(par_units_m); j++) add_work(l, EM_WORK_THREADS, par_units_n[i], par_units_m[j], 0);
  for (size_t i = 0; i < COUNT(warps); i++)
    for (size_t j = 0; j < COUNT(warps); j++)
      for (int p = 0; p <= MAX_PRODUCERS; p++) add_work(l, EM_WORK_WARPS, warps[j], warps[i], (uint8_t)p);
}

size_t em_catalog_works(const em_site *site, em_work out[EM_MAX_WORKS])
{
  works l = {.out = out, .n = 0};
  add_work(&l, EM_WORK_NONE, 0, 0, 0);
  if (site->families & EM_HAS(EM_REDUCE)) add_coop_works(&l);
  if (site->families & EM_HAS(EM_STAGE)) add_tile_works(&l);
  return l.n;
}

/* ---- TILE ------------------------------------------------------------------------- */

static bool in_u8(const uint8_t *set, size_t n, int v)
{
  for (size_t i = 0; i < n; i++)
    if (set[i] == v) return true;
  return false;
}

static bool in_lines(int v)
{
  for (size_t i = 0; i < COUNT(line_units); i++)
    if (line_units[i] == v) return true;
  return false;
}

static em_tile scalar(uint8_t fn, uint8_t fm)
{
  return (em_tile){.kind = EM_TILE_SCALAR, .atom = -1, .fn = fn, .fm = fm, .bk = 0};
}

static size_t strip_tiles(em_tile *out)
{
  size_t n = 0;
  for (size_t i = 0; i < COUNT(strips); i++) out[n++] = scalar(strips[i], 1);
  return n;
}

static size_t own_tiles(em_tile *out)
{
  size_t n = 0;
  for (size_t i = 0; i < COUNT(own_n); i++)
    for (size_t j = 0; j < COUNT(own_m); j++)
      if (own_n[i] * own_m[j] > 1) out[n++] = scalar(own_n[i], own_m[j]);
  return n;
}

static size_t parallel_tiles(em_tile *out)
{
  size_t n = 0;
  for (size_t i = 0; i < COUNT(par_n); i++)
    for (size_t j = 0; j < COUNT(par_m); j++) out[n++] = scalar(par_n[i], par_m[j]);
  return n;
}

static size_t warp_tiles(const int8_t *atoms, size_t n_atoms, em_tile *out)
{
  size_t n = 0;
  for (size_t a = 0; a < n_atoms; a++)
    for (size_t i = 0; i < COUNT(cells_m); i++)
      for (size_t j = 0; j < COUNT(cells_n); j++)
        for (size_t k = 0; k < COUNT(chunks); k++)
          out[n++] = (em_tile){
            .kind = EM_TILE_WARP, .atom = atoms[a], .fn = cells_n[j], .fm = cells_m[i], .bk = chunks[k]};
  return n;
}

size_t em_catalog_tiles(const em_site *site, em_work w, const int8_t *atoms, size_t n_atoms, em_tile *out)
{
  size_t n = 0;
  out[n++] = (em_tile){.kind = EM_TILE_NONE, .atom = -1, .fn = 1, .fm = 1, .bk = 0};
  if (!(site->families & EM_HAS(EM_TILE))) return n;
  if (!(site->families & EM_HAS(EM_STAGE))) return n + strip_tiles(out + n);
  if (w.kind == EM_WORK_WARPS) return n + warp_tiles(atoms, n_atoms, out + n);
  if (w.kind == EM_WORK_NONE) return n + own_tiles(out + n);
  if (w.m == 1 && in_lines(w.n)) out[n++] = scalar(1, 1);
  if (in_u8(par_units_n, COUNT(par_units_n), w.n) && in_u8(par_units_m, COUNT(par_units_m), w.m))
    n += parallel_tiles(out + n);
  return n;
}

/* ---- STAGE ------------------------------------------------------------------------ */

size_t em_catalog_stages(em_stage out[EM_MAX_STAGES])
{
  static const uint8_t transports[] = {EM_STAGE_SMEM, EM_STAGE_ASYNC, EM_STAGE_TMA}, depths[] = {1, 2, 3, 4, 8};
  enum { MAX_GROUPS = 2 };
  _Static_assert(1 + COUNT(transports) * COUNT(depths) * MAX_GROUPS * 2 <= EM_MAX_STAGES, "one bit a value");
  size_t n = 0;
  out[n++] = (em_stage){.transport = EM_STAGE_NONE, .depth = 0, .p = 0, .c = 0, .out = false};
  for (size_t t = 0; t < COUNT(transports); t++)
    for (size_t d = 0; d < COUNT(depths); d++)
      for (int p = 1; p <= MAX_GROUPS; p++)
        for (int o = 0; o < 2; o++)
          out[n++] = (em_stage){.transport = transports[t], .depth = depths[d], .p = (uint8_t)p, .c = 1, .out = o != 0};
  return n;
}
