/*
 * space_build.c - opens a space: every catalog value that no rule refuses.
 */
#include "core/space/space_int.h"

typedef struct builder {
  em_space *s;
  em_err *err;
  int8_t atoms[INT8_MAX]; /* those which the kernel and the card admit */
  size_t n_atoms;
  em_tile *tiles; /* scratch: the catalog under one WORK */
} builder;

static void find_atoms(builder *b)
{
  em_try t = {.site = &b->s->site, .row.work = {.kind = EM_WORK_WARPS, .n = 1, .m = 1}};
  if (!(b->s->site.families & EM_HAS(EM_STAGE))) return;
  for (size_t i = 0; i < em_n_atoms() && i < INT8_MAX; i++) {
    t.row.tile = (em_tile){.kind = EM_TILE_WARP, .atom = (int8_t)i, .fn = 1, .fm = 1, .bk = 1};
    em_try_shape(&t);
    if (!em_rule_refusing(&t, EM_STEP_ATOM)) b->atoms[b->n_atoms++] = (int8_t)i;
  }
}

static uint16_t legal_reduces(em_try *t)
{
  uint16_t mask = 0;
  size_t n = (t->site->families & EM_HAS(EM_REDUCE)) ? EM_N_REDUCES : 1;
  for (size_t i = 0; i < n; i++) {
    t->row.reduce = em_catalog_reduces[i];
    if (!em_rule_refusing(t, EM_STEP_REDUCE)) mask |= (uint16_t)(1u << i);
  }
  t->row.reduce = em_catalog_reduces[0];
  return mask;
}

static uint64_t legal_stages(const em_space *s, em_try *t)
{
  uint64_t mask = 0;
  size_t n = (s->site.families & EM_HAS(EM_STAGE)) ? s->n_stages : 1;
  uint8_t asked = UINT8_MAX;
  bool transport_ok = false;
  for (size_t i = 0; i < n; i++) {
    t->row.stage = s->stages[i];
    if (t->row.stage.transport != asked) {
      asked = t->row.stage.transport;
      transport_ok = !em_rule_refusing(t, EM_STEP_TRANSPORT);
    }
    if (transport_ok && !em_rule_refusing(t, EM_STEP_STAGE)) mask |= UINT64_C(1) << i;
  }
  t->row.stage = s->stages[0];
  return mask;
}

static uint8_t legal_rasters(em_try *t)
{
  uint8_t mask = 0;
  for (size_t i = 0; i < EM_N_RASTERS; i++) {
    t->row.raster = em_catalog_rasters[i];
    if (!em_rule_refusing(t, EM_STEP_RASTER)) mask |= (uint8_t)(1u << i);
  }
  t->row.raster = em_catalog_rasters[0];
  return mask;
}

static int add_tile(builder *b, em_try *t, em_work_option *w)
{
  em_space *s = b->s;
  if (em_rule_refusing(t, EM_STEP_TILE)) return EM_OK;
  em_combo c = {.tile = t->row.tile, .reduces = legal_reduces(t)};
  if (!c.reduces) return EM_OK;
  c.stages = legal_stages(s, t);
  c.rasters = legal_rasters(t);
  if (em_combo_leaves(&c) == 0) return EM_OK;
  int rc = em_grow(&s->combos, &s->cap_combos, s->n_combos + 1, sizeof *s->combos, b->err);
  if (rc) return rc;
  s->combos[s->n_combos++] = c;
  w->n++;
  w->leaves += em_combo_leaves(&c);
  return EM_OK;
}

static int add_work(builder *b, em_work work)
{
  em_space *s = b->s;
  em_work_option w = {.work = work, .first = (uint32_t)s->n_combos};
  em_try t = {.site = &s->site, .row = {.work = work, .reduce = em_catalog_reduces[0]}};
  t.row.tile.atom = -1;
  em_try_shape(&t);
  if (em_rule_refusing(&t, EM_STEP_WORK)) return EM_OK;
  size_t n = em_catalog_tiles(&s->site, work, b->atoms, b->n_atoms, b->tiles);
  for (size_t i = 0; i < n; i++) {
    t.row.tile = b->tiles[i];
    em_try_shape(&t);
    int rc = add_tile(b, &t, &w);
    if (rc) return rc;
  }
  if (w.n == 0) return EM_OK;
  s->works[s->n_works++] = w;
  s->leaves += w.leaves;
  return EM_OK;
}

static int build(em_space *s, em_err *err)
{
  builder b = {.s = s, .err = err};
  em_work works[EM_MAX_WORKS];
  size_t n = em_catalog_works(&s->site, works);
  find_atoms(&b);
  s->n_stages = em_catalog_stages(s->stages);
  s->works = em_calloc(n, sizeof *s->works);
  b.tiles = em_calloc(b.n_atoms * EM_TILES_PER_ATOM + EM_MAX_SCALAR_TILES, sizeof *b.tiles);
  int rc = s->works && b.tiles ? EM_OK : em_fail_nomem(err);
  for (size_t i = 0; !rc && i < n; i++) rc = add_work(&b, works[i]);
  em_free(b.tiles);
  return rc;
}

int em_space_open_nest(const em_nest *nest, const em_card *card, em_regime regime, em_space **out, em_err *err)
{
  em_space *s = em_calloc(1, sizeof *s);
  if (!s) return em_fail_nomem(err);
  em_site_init(&s->site, nest, card, regime);
  s->out_of_scope = em_site_out_of_scope(&s->site);
  int rc = s->out_of_scope ? EM_OK : build(s, err);
  if (rc) {
    em_space_free(s);
    return rc;
  }
  *out = s;
  return EM_OK;
}
