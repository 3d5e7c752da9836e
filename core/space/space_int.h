/*
 * space_int.h - how the space is built: catalogs propose values, one table of
 * rules refuses some, and what is left is kept as combos.
 *
 * A combo is one WORK with one TILE and, as bit masks over three short
 * catalogs, the REDUCE, STAGE and RASTER values that may follow.  Those three
 * never constrain each other once WORK and TILE are fixed (a REDUCE other than
 * "" needs TILE "", which admits only STAGE "" and RASTER ""), so the leaves of
 * a combo are the product of its masks: they are counted by counting bits.
 */
#ifndef EM_SPACE_INT_H
#define EM_SPACE_INT_H

#include "core/space/space.h"

/* What the rules ask of kernel and card, worked out once. */
typedef struct em_site {
  const em_nest *nest;
  const em_card *card;
  bool fast_math;
  uint8_t families;
  int64_t n, k;         /* static extents of the n axis and the fold; 0 = symbolic or absent */
  bool all_static;      /* every free axis is static */
  int64_t strip_extent; /* innermost static free axis; 0 = none */
  em_dtype atom_ab;     /* operand dtype of the atoms that could serve, EM_DTYPE_NONE = none */
  bool fill;            /* an operand is computed or converted: staged by a compute fill */
} em_site;

/* A row under examination.  A refusing rule leaves its numbers in `num`. */
typedef struct em_try {
  const em_site *site;
  em_row row;
  em_geometry g;       /* of row.work, row.tile, row.reduce */
  const em_atom *atom; /* of a warp tile, else NULL */
  int64_t num[2];
} em_try;

void em_site_init(em_site *site, const em_nest *nest, const em_card *card, em_regime regime);
const char *em_site_out_of_scope(const em_site *site); /* the reason, or NULL */
void em_try_shape(em_try *t);                          /* refreshes g and atom from the row */

/* ---- catalogs: what is proposed, in order (space_catalog.c) -------------------- */

enum { EM_MAX_WORKS = 96, EM_N_REDUCES = 10, EM_MAX_STAGES = 64, EM_N_RASTERS = 2 };
enum { EM_TILES_PER_ATOM = 5 * 7 * 4, EM_MAX_SCALAR_TILES = 48 };

size_t em_catalog_works(const em_site *site, em_work out[EM_MAX_WORKS]);
/* Tiles under one WORK; `atoms` lists the atoms worth proposing. */
size_t em_catalog_tiles(const em_site *site, em_work w, const int8_t *atoms, size_t n_atoms, em_tile *out);
extern const em_reduce em_catalog_reduces[EM_N_REDUCES];
extern const em_raster em_catalog_rasters[EM_N_RASTERS];
size_t em_catalog_stages(em_stage out[EM_MAX_STAGES]);
bool em_catalog_coop(int width); /* is it a width of the cooperative reduce? */

/* ---- rules: what is refused, and in which words (space_rules.c) ------------------ */

/* What a rule needs to know; a rule of one step never looks at the next. */
typedef enum em_step {
  EM_STEP_WORK,
  EM_STEP_ATOM,
  EM_STEP_TILE,
  EM_STEP_REDUCE,
  EM_STEP_TRANSPORT,
  EM_STEP_STAGE,
  EM_STEP_RASTER,
  EM_N_STEPS
} em_step;

typedef struct em_rule {
  const char *id;
  em_family subject; /* whose value the refusal names */
  bool (*holds)(em_try *t);
  const char *words; /* each # stands for the next of em_try.num */
} em_rule;

const em_rule *em_rules_of(em_step step, size_t *n);
/* The first rule of the step that refuses, or NULL. */
const em_rule *em_rule_refusing(em_try *t, em_step step);
void em_rule_explain(const em_rule *r, const em_try *t, char why[EM_WHY_LEN]);

/* ---- staging resolution (space_stage.c) -------------------------------------------- */

enum { EM_LEAST_SLAB_CHUNK = 4 };
/* Slab chunk of a staged scalar tile: the largest of the catalog's that divides K and
 * fits the card at this depth, or 0. */
int64_t em_stage_slab_chunk(const em_try *t);
/* Dynamic shared memory of the row; a scalar tile for which no chunk fits is reckoned
 * with the least one. */
int64_t em_stage_bytes(const em_try *t);

int em_try_regs(const em_try *t);        /* register estimate, space_resources.c */
int64_t em_try_threads(const em_try *t); /* per block, producers included */

/* ---- the space ------------------------------------------------------------------- */

typedef struct em_combo {
  em_tile tile;
  uint8_t rasters;
  uint16_t reduces;
  uint64_t stages;
} em_combo;

typedef struct em_work_option {
  em_work work;
  uint32_t first, n; /* its combos */
  uint64_t leaves;
} em_work_option;

struct em_space {
  em_site site;
  const char *out_of_scope;
  em_stage stages[EM_MAX_STAGES];
  size_t n_stages;
  em_work_option *works;
  size_t n_works;
  em_combo *combos;
  size_t n_combos, cap_combos;
  uint64_t leaves;
};

uint64_t em_combo_leaves(const em_combo *c);

/* em_space_open on a nest alone. */
int em_space_open_nest(const em_nest *nest, const em_card *card, em_regime regime, em_space **out,
                       em_err *err) EM_MUST_CHECK;

#endif
