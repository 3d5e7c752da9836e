/*
 * space.h - the candidates of one kernel on one card: catalogs, legality, the
 * lazy tree of a schedule fork and its leaves.
 *
 * A candidate is a complete em_row.  The fork is a tree whose levels fix one
 * family each, in the order WORK, TILE, REDUCE, STAGE, RASTER; a kernel has only
 * the levels of em_space_families (pointwise: WORK TILE RASTER; reduce: WORK
 * REDUCE RASTER; contraction: all five), the other families stay missing in its
 * rows.  Catalogs and rules: reference formats.md section 4, each rule declared
 * once, with the words in which it refuses a row.
 *
 * A space is immutable after em_space_open and borrows kernel and card.
 */
#ifndef EM_SPACE_H
#define EM_SPACE_H

#include "core/schedule/schedule.h"

typedef struct em_space em_space;

int em_space_open(const em_kernel *k, const em_card *card, em_regime regime, em_space **out, em_err *err) EM_MUST_CHECK;
void em_space_free(em_space *s);

/* Why the kernel has no space here (then it has no leaves), or NULL. */
const char *em_space_out_of_scope(const em_space *s);
uint8_t em_space_families(const em_space *s); /* mask of EM_HAS(family) */
/* Whether any leaf of the fork has a warp tile (the stamp S_warp_eligible). */
bool em_space_warp_eligible(const em_space *s);
/* Number of leaves; counted where the catalogs factor, never by building rows. */
uint64_t em_space_count(const em_space *s);

/* Streams the leaves in enumeration order (option 0 of each level first).
 * Fills up to `cap` rows; returns how many, 0 at the end. */
typedef struct em_space_cursor {
  const em_space *space;
  uint64_t state[8];
} em_space_cursor;
em_space_cursor em_space_begin(const em_space *s);
size_t em_space_next(em_space_cursor *c, em_row *rows, size_t cap);

/* The row with the kernel's families filled up: a missing family of the kernel
 * becomes unused, an unused family that the kernel lacks becomes missing
 * (rows that are the same schedule become equal). */
em_row em_space_normalise(const em_space *s, const em_row *row);

/* Is this (normalised) row a leaf?  If not, `why` says which rule refuses which
 * value: "TILE f4x8: 131072 B of shared memory, card has 101376 B". */
#define EM_WHY_LEN 256
bool em_space_contains(const em_space *s, const em_row *row, char why[EM_WHY_LEN]);
/* The id of what refuses the row, for counting by reason: a rule ("stage.memory"), "catalog"
 * (legal, but not offered), "families" or "out_of_scope"; NULL when it is a leaf. */
const char *em_space_rule_against(const em_space *s, const em_row *row);

/* The lazy tree.  `prefix` has decided the first levels (its `present` bits);
 * children fix the next level.  Calls fn for each child that has leaves, with
 * the child's prefix and its number of leaves; stops when fn returns false.
 * Costs the children only. */
void em_space_children(const em_space *s, const em_row *prefix,
                       bool (*fn)(void *ctx, const em_row *child, em_family level, uint64_t leaves), void *ctx);

/* ---- resources of a candidate on the card -------------------------------------
 * Used by legality, by the features D_smem_bytes, D_smem_frac, D_resident_ctas,
 * D_regs, and by the "fits" column. */
typedef struct em_resources {
  int threads;        /* per block, producers included */
  int64_t smem_bytes; /* dynamic shared memory */
  int regs;           /* estimate per thread; formula in space.c */
  int resident;       /* blocks per SM by threads, shared memory, registers and the block limit */
} em_resources;
void em_space_resources(const em_space *s, const em_row *row, em_resources *out);
/* Does it fit the card (threads, shared memory, registers)?  `why` as above. */
bool em_space_fits(const em_space *s, const em_row *row, char why[EM_WHY_LEN]);

/* Tile geometry of a row's site, for resources and features (features.md 1.2). */
typedef struct em_geometry {
  int threads; /* compute threads */
  int cells;
  int64_t tile_m, tile_n;
  int bn, bm; /* thread units of a scalar tile; 0 on a warp tile */
  int bk;     /* chunk in atom-k units; 1 for scalar */
  int br, splitk;
} em_geometry;
void em_geometry_of(em_work w, em_tile t, em_reduce r, em_geometry *out);

/* Splits offered as structural choices, in order: 2k, 2a, 4k, ...; `fn` gets the width and
 * 'k' or 'a' of each one that em_kernel_split can make. */
int em_space_splits(const em_kernel *k, void (*fn)(void *ctx, int width, char finalize), void *ctx,
                    em_err *err) EM_MUST_CHECK;

#endif
