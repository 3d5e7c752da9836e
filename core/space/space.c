/*
 * space.c - walks a space: the stream of leaves, membership, the lazy tree.
 */
#include "core/space/space.h"

#include <stdio.h>

#include "core/space/space_int.h"

/* The families of a fork in the order of its levels. */
static const em_family levels[] = {EM_WORK, EM_TILE, EM_REDUCE, EM_STAGE, EM_RASTER};
enum { N_LEVELS = sizeof levels / sizeof levels[0] };

int em_space_open(const em_kernel *k, const em_card *card, em_regime regime, em_space **out, em_err *err)
{
  return em_space_open_nest(em_kernel_nest(k), card, regime, out, err);
}

void em_space_free(em_space *s)
{
  if (!s) return;
  em_free(s->works);
  em_free(s->combos);
  em_free(s);
}

const char *em_space_out_of_scope(const em_space *s) { return s->out_of_scope; }
uint8_t em_space_families(const em_space *s) { return s->site.families; }
uint64_t em_space_count(const em_space *s) { return s->leaves; }

static uint64_t bits(uint64_t mask) { return (uint64_t)__builtin_popcountll(mask); }

uint64_t em_combo_leaves(const em_combo *c) { return bits(c->reduces) * bits(c->stages) * bits(c->rasters); }

bool em_space_warp_eligible(const em_space *s)
{
  for (size_t i = 0; i < s->n_combos; i++)
    if (s->combos[i].tile.kind == EM_TILE_WARP) return true;
  return false;
}

/* ---- streaming ------------------------------------------------------------------------ */

/* state: work option, combo, and what is left of the combo's masks. */
enum { AT_WORK, AT_COMBO, LEFT_REDUCES, LEFT_STAGES, LEFT_RASTERS };

static void enter_combo(em_space_cursor *c, uint64_t combo)
{
  const em_space *s = c->space;
  c->state[AT_COMBO] = combo;
  if (combo >= s->n_combos) return;
  if (combo >= s->works[c->state[AT_WORK]].first + s->works[c->state[AT_WORK]].n) c->state[AT_WORK]++;
  c->state[LEFT_REDUCES] = s->combos[combo].reduces;
  c->state[LEFT_STAGES] = s->combos[combo].stages;
  c->state[LEFT_RASTERS] = s->combos[combo].rasters;
}

em_space_cursor em_space_begin(const em_space *s)
{
  em_space_cursor c = {.space = s};
  enter_combo(&c, 0);
  return c;
}

static uint64_t without_first(uint64_t mask) { return mask & (mask - 1); }

static void advance(em_space_cursor *c, const em_combo *combo)
{
  uint64_t *left = c->state;
  if ((left[LEFT_RASTERS] = without_first(left[LEFT_RASTERS])) != 0) return;
  left[LEFT_RASTERS] = combo->rasters;
  if ((left[LEFT_STAGES] = without_first(left[LEFT_STAGES])) != 0) return;
  left[LEFT_STAGES] = combo->stages;
  if ((left[LEFT_REDUCES] = without_first(left[LEFT_REDUCES])) != 0) return;
  enter_combo(c, left[AT_COMBO] + 1);
}

size_t em_space_next(em_space_cursor *c, em_row *rows, size_t cap)
{
  const em_space *s = c->space;
  size_t n = 0;
  for (; n < cap && c->state[AT_COMBO] < s->n_combos; n++) {
    const em_combo *combo = &s->combos[c->state[AT_COMBO]];
    rows[n] = (em_row){
      .work = s->works[c->state[AT_WORK]].work,
      .tile = combo->tile,
      .reduce = em_catalog_reduces[__builtin_ctzll(c->state[LEFT_REDUCES])],
      .stage = s->stages[__builtin_ctzll(c->state[LEFT_STAGES])],
      .raster = em_catalog_rasters[__builtin_ctzll(c->state[LEFT_RASTERS])],
      .present = s->site.families,
    };
    advance(c, combo);
  }
  return n;
}

/* ---- membership ----------------------------------------------------------------------- */

static bool is_unused(const em_row *row, em_family f)
{
  switch (f) {
  case EM_WORK: return row->work.kind == EM_WORK_NONE;
  case EM_TILE: return row->tile.kind == EM_TILE_NONE;
  case EM_REDUCE:
    return row->reduce.cta <= 1 && row->reduce.coop == EM_COOP_NONE && row->reduce.r <= 1 && row->reduce.v <= 1;
  case EM_STAGE: return row->stage.transport == EM_STAGE_NONE;
  default: return row->raster.group == 0;
  }
}

static void set_unused(em_row *row, em_family f)
{
  switch (f) {
  case EM_WORK: row->work = (em_work){.kind = EM_WORK_NONE}; break;
  case EM_TILE: row->tile = (em_tile){.kind = EM_TILE_NONE, .atom = -1, .fn = 1, .fm = 1}; break;
  case EM_REDUCE: row->reduce = em_catalog_reduces[0]; break;
  case EM_STAGE: row->stage = (em_stage){.transport = EM_STAGE_NONE}; break;
  default: row->raster = em_catalog_rasters[0]; break;
  }
}

/* A missing family is examined as an unused one. */
static void fill_missing(em_row *row)
{
  for (int i = 0; i < N_LEVELS; i++)
    if (!(row->present & EM_HAS(levels[i]))) set_unused(row, levels[i]);
}

static bool same_work(em_work a, em_work b)
{
  return a.kind == b.kind && a.n == b.n && a.m == b.m && a.producers == b.producers;
}

static bool same_tile(em_tile a, em_tile b)
{
  if (a.kind != b.kind || a.kind == EM_TILE_NONE) return a.kind == b.kind;
  return a.atom == b.atom && a.fn == b.fn && a.fm == b.fm && (a.kind == EM_TILE_SCALAR || a.bk == b.bk);
}

static bool same_reduce(em_reduce a, em_reduce b)
{
  return a.cta == b.cta && a.coop == b.coop && a.v == b.v && a.r == b.r && (a.cta == 1 || a.finalize == b.finalize);
}

static bool same_stage(em_stage a, em_stage b)
{
  if (a.transport != b.transport || a.transport == EM_STAGE_NONE) return a.transport == b.transport;
  return a.depth == b.depth && a.p == b.p && a.c == b.c && a.out == b.out;
}

static bool same_raster(em_raster a, em_raster b)
{
  return a.group == b.group && (a.group == 0 || a.orient == b.orient);
}

static const em_work_option *find_work(const em_space *s, em_work w)
{
  for (size_t i = 0; i < s->n_works; i++)
    if (same_work(s->works[i].work, w)) return &s->works[i];
  return NULL;
}

static const em_combo *find_combo(const em_space *s, const em_work_option *w, em_tile tile)
{
  for (uint32_t i = 0; w && i < w->n; i++)
    if (same_tile(s->combos[w->first + i].tile, tile)) return &s->combos[w->first + i];
  return NULL;
}

static bool offers_reduce(const em_combo *c, em_reduce v)
{
  for (size_t i = 0; i < EM_N_REDUCES; i++)
    if (c->reduces >> i & 1 && same_reduce(em_catalog_reduces[i], v)) return true;
  return false;
}

static bool offers_stage(const em_space *s, const em_combo *c, em_stage v)
{
  for (size_t i = 0; i < s->n_stages; i++)
    if (c->stages >> i & 1 && same_stage(s->stages[i], v)) return true;
  return false;
}

static bool offers_raster(const em_combo *c, em_raster v)
{
  for (size_t i = 0; i < EM_N_RASTERS; i++)
    if (c->rasters >> i & 1 && same_raster(em_catalog_rasters[i], v)) return true;
  return false;
}

/* The first family whose value the space does not offer under those before it. */
static bool find_unoffered(const em_space *s, const em_row *row, em_family *f)
{
  const em_work_option *w = find_work(s, row->work);
  const em_combo *c = find_combo(s, w, row->tile);
  if (!w)
    *f = EM_WORK;
  else if (!c)
    *f = EM_TILE;
  else if (!offers_reduce(c, row->reduce))
    *f = EM_REDUCE;
  else if (!offers_stage(s, c, row->stage))
    *f = EM_STAGE;
  else if (!offers_raster(c, row->raster))
    *f = EM_RASTER;
  else
    return false;
  return true;
}

static const char *wrong_families(const em_space *s, const em_row *row, char why[EM_WHY_LEN])
{
  for (int i = 0; i < N_LEVELS; i++) {
    const char *name = em_family_at(levels[i])->name;
    bool has = row->present & EM_HAS(levels[i]), needs = s->site.families & EM_HAS(levels[i]);
    if (has == needs) continue;
    snprintf(why, EM_WHY_LEN, has ? "%s: the kernel has no such choice" : "%s: missing, the kernel decides it", name);
    return "families";
  }
  return NULL;
}

/* Rules speak first: a value outside the catalog may also be illegal, which says more. */
static const char *explain(const em_space *s, const em_row *row, em_family unoffered, char why[EM_WHY_LEN])
{
  em_try t = {.site = &s->site, .row = *row};
  em_try_shape(&t);
  for (em_step step = 0; step < EM_N_STEPS; step++) {
    const em_rule *r = em_rule_refusing(&t, step);
    if (!r) continue;
    em_rule_explain(r, &t, why);
    return r->id;
  }
  char value[EM_VALUE_LEN] = "";
  const char *text = em_row_value(row, unoffered, value);
  snprintf(why, EM_WHY_LEN, "%s %s: not in the catalog of this kernel%s", em_family_at(unoffered)->name,
           text && *text ? text : "\"\"", unoffered == EM_TILE ? " under this WORK" : "");
  return "catalog";
}

static const char *rule_against(const em_space *s, const em_row *row, char why[EM_WHY_LEN])
{
  why[0] = '\0';
  if (s->out_of_scope) {
    snprintf(why, EM_WHY_LEN, "%s", s->out_of_scope);
    return "out_of_scope";
  }
  const char *rule = wrong_families(s, row, why);
  if (rule) return rule;
  em_row r = *row;
  fill_missing(&r);
  em_family unoffered;
  return find_unoffered(s, &r, &unoffered) ? explain(s, &r, unoffered, why) : NULL;
}

bool em_space_contains(const em_space *s, const em_row *row, char why[EM_WHY_LEN])
{
  return !rule_against(s, row, why);
}

const char *em_space_rule_against(const em_space *s, const em_row *row)
{
  char why[EM_WHY_LEN];
  return rule_against(s, row, why);
}

em_row em_space_normalise(const em_space *s, const em_row *row)
{
  em_row r = *row;
  fill_missing(&r);
  for (int i = 0; i < N_LEVELS; i++) {
    em_family f = levels[i];
    uint8_t bit = EM_HAS(f);
    if (s->site.families & bit)
      r.present |= bit;
    else if (is_unused(&r, f))
      r.present &= (uint8_t)~bit;
  }
  return r;
}

/* ---- the lazy tree -------------------------------------------------------------------- */

typedef struct walk {
  const em_space *s;
  em_row child; /* the prefix; each child fills its family */
  em_family level;
  bool (*fn)(void *ctx, const em_row *child, em_family level, uint64_t leaves);
  void *ctx;
} walk;

static bool give(walk *w, uint64_t leaves) { return w->fn(w->ctx, &w->child, w->level, leaves); }

static void give_works(walk *w)
{
  for (size_t i = 0; i < w->s->n_works; i++) {
    w->child.work = w->s->works[i].work;
    if (!give(w, w->s->works[i].leaves)) return;
  }
}

static void give_tiles(walk *w)
{
  const em_work_option *o = find_work(w->s, w->child.work);
  for (uint32_t i = 0; o && i < o->n; i++) {
    const em_combo *c = &w->s->combos[o->first + i];
    w->child.tile = c->tile;
    if (!give(w, em_combo_leaves(c))) return;
  }
}

static void give_reduces(walk *w, const em_combo *c)
{
  for (uint64_t left = c->reduces; left; left = without_first(left)) {
    w->child.reduce = em_catalog_reduces[__builtin_ctzll(left)];
    if (!give(w, bits(c->stages) * bits(c->rasters))) return;
  }
}

static void give_stages(walk *w, const em_combo *c)
{
  if (!offers_reduce(c, w->child.reduce)) return;
  for (uint64_t left = c->stages; left; left = without_first(left)) {
    w->child.stage = w->s->stages[__builtin_ctzll(left)];
    if (!give(w, bits(c->rasters))) return;
  }
}

static void give_rasters(walk *w, const em_combo *c)
{
  if (!offers_reduce(c, w->child.reduce) || !offers_stage(w->s, c, w->child.stage)) return;
  for (uint64_t left = c->rasters; left; left = without_first(left)) {
    w->child.raster = em_catalog_rasters[__builtin_ctzll(left)];
    if (!give(w, 1)) return;
  }
}

void em_space_children(const em_space *s, const em_row *prefix,
                       bool (*fn)(void *ctx, const em_row *child, em_family level, uint64_t leaves), void *ctx)
{
  walk w = {.s = s, .child = *prefix, .fn = fn, .ctx = ctx};
  int i = 0;
  for (; i < N_LEVELS; i++)
    if (s->site.families & EM_HAS(levels[i]) && !(prefix->present & EM_HAS(levels[i]))) break;
  if (i == N_LEVELS || s->n_works == 0) return;
  fill_missing(&w.child);
  w.level = levels[i];
  w.child.present |= EM_HAS(w.level);
  if (w.level == EM_WORK) {
    give_works(&w);
    return;
  }
  if (w.level == EM_TILE) {
    give_tiles(&w);
    return;
  }
  const em_combo *c = find_combo(s, find_work(s, w.child.work), w.child.tile);
  if (!c) return;
  if (w.level == EM_REDUCE)
    give_reduces(&w, c);
  else if (w.level == EM_STAGE)
    give_stages(&w, c);
  else
    give_rasters(&w, c);
}
