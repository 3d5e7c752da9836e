/*
 * schedule.h - knob values: WORK, TILE, REDUCE, STAGE, RASTER, PLACE, LAYOUT.
 *
 * Each value has exactly one spelling (grammars: em_family_info); the
 * parser refuses any other and says what it expected.  A knob that is absent
 * from a row is *missing* (not decided, or the kernel has no such site); a knob
 * whose value is the empty string is decided to be *unused*.  They are never
 * the same: presence is kept beside each value.
 *
 * Two forms of a row:
 *   em_knobs  the strings as stored, any site keys (FAMILY@route), any extras;
 *   em_row    one site, parsed, at most 32 bytes: what the space enumerates by the million.
 */
#ifndef EM_SCHEDULE_H
#define EM_SCHEDULE_H

#include "core/base/base.h"
#include "core/kernel/kernel.h"
#include "core/target/target.h"

/* ---- families: one table ------------------------------------------------------ */

typedef enum em_family {
  EM_WORK,
  EM_TILE,
  EM_REDUCE,
  EM_STAGE,
  EM_RASTER,
  EM_PLACE,
  EM_LAYOUT,
  EM_N_FAMILIES
} em_family;
typedef struct em_family_info {
  const char *name;
  bool per_site;       /* may carry @route */
  bool structural;     /* PLACE, LAYOUT (and a REDUCE that starts with g) */
  const char *grammar; /* for messages and man pages */
  const char *doc;
} em_family_info;
const em_family_info *em_family_at(em_family f);
bool em_family_find(const char *name, size_t len, em_family *out);

/* The knobs besides the families, one table: what a pin or an extra may be. */
typedef enum em_knob_type { EM_KNOB_BOOL, EM_KNOB_INT } em_knob_type;
typedef struct em_knob_info {
  const char *name;
  em_knob_type type;
  const char *off; /* the spelling that means "unused"; NULL = none does */
  const char *doc;
} em_knob_info;
size_t em_n_knob_infos(void);
const em_knob_info *em_knob_info_at(size_t i);
const em_knob_info *em_knob_info_find(const char *name, size_t len); /* NULL when not registered */

/* ---- atoms: one table -------------------------------------------------------------
 * Geometry is reckoned in cells: a warp holds fm x fn cells of cell_m x cell_n, so
 *   tile_m = warps along m * fm * cell_m,  tile_n = warps along n * fn * cell_n.
 * An mma atom is one warp's instruction and one cell: cell = m x n.  A wgmma atom
 * is the instruction of four warps stacked along m: m = 64, each warp owning 16 rows
 * and all n columns in n/8 cells of 16 x 8.  w4x1 with m64n128 and f1x16 is a tile
 * of 64 x 128. */

typedef struct em_atom {
  const char *name;
  int m, n, k;        /* the instruction: per warp; wgmma: per four warps */
  int cell_m, cell_n; /* what one f-unit covers in a warp */
  em_dtype ab, acc;
  int acc_regs;         /* accumulator registers per lane and cell; wgmma: n/8 times this per instruction */
  int cc_min, cc_below; /* 10*major+minor: cc_min <= cc < cc_below */
  bool wgmma;
  bool precision_gated; /* offered only when FAST_MATH allows it; always legal in a row */
} em_atom;
size_t em_n_atoms(void);
const em_atom *em_atom_at(size_t i);            /* offer order */
int em_atom_find(const char *name, size_t len); /* index or -1 */
bool em_atom_on_card(const em_atom *a, const em_card *c);

/* ---- parsed values ---------------------------------------------------------------
 * Parsers accept the one spelling that the printer writes back, and refuse
 * widths that do not fit the fields.  The structs here are what they fill. */

/* UNDECIDED is for parsers alone: the row has no WORK yet, so rules between WORK and
 * TILE or REDUCE are not checked.  em_work_parse never gives it. */
enum { EM_WORK_NONE, EM_WORK_THREADS, EM_WORK_WARPS, EM_WORK_UNDECIDED };
#define EM_WORK_MISSING ((em_work){.kind = EM_WORK_UNDECIDED})
typedef struct em_work {
  uint8_t kind;
  uint8_t producers; /* +pP */
  uint16_t n, m;     /* threads: n fastest; warps: m rows x n cols.  1 where not spelled; 0 when NONE */
} em_work;

enum { EM_TILE_NONE, EM_TILE_SCALAR, EM_TILE_WARP };
typedef struct em_tile {
  uint8_t kind;
  int8_t atom;    /* index of the atom table, -1 unless WARP */
  uint8_t fn, fm; /* registers (scalar) or cells (warp) along n and m; 1 where not spelled, also when NONE */
  uint8_t bk;     /* chunk in atom-k units, 1 when not spelled; 0 unless WARP */
} em_tile;

enum { EM_COOP_NONE, EM_COOP, EM_COOP_T };
typedef struct em_reduce {
  uint8_t cta;   /* g width, 1 = unsplit */
  char finalize; /* 'a', 'k', or 0 when unsplit */
  uint8_t coop;
  uint8_t v, r; /* 1 when not spelled */
} em_reduce;

enum { EM_STAGE_NONE, EM_STAGE_REG, EM_STAGE_SMEM, EM_STAGE_ASYNC, EM_STAGE_TMA };
typedef struct em_stage {
  uint8_t transport;
  uint8_t depth, p, c; /* p, c: 1 when not spelled; all 0 when NONE */
  bool out;
} em_stage;

typedef struct em_raster {
  uint8_t group;
  char orient;
} em_raster; /* orient 'm', 'n', or 0 = flat (group 0) */

int em_work_parse(const char *s, em_work *out, em_err *err) EM_MUST_CHECK;
/* TILE and REDUCE are read against the row's WORK: a warp tile needs warps, coop needs
 * threads (more than one along n), "f1" needs more than one thread.  A wider scalar tile
 * under warps is a register strip: its units are 1 x 1. */
int em_tile_parse(const char *s, em_work w, em_tile *out, em_err *err) EM_MUST_CHECK;
int em_reduce_parse(const char *s, em_work w, em_reduce *out, em_err *err) EM_MUST_CHECK;
int em_stage_parse(const char *s, em_stage *out, em_err *err) EM_MUST_CHECK;
int em_raster_parse(const char *s, em_raster *out, em_err *err) EM_MUST_CHECK;

#define EM_VALUE_LEN 64 /* the longest spelling and its NUL */
const char *em_work_print(em_work v, char buf[EM_VALUE_LEN]);
const char *em_tile_print(em_tile v, char buf[EM_VALUE_LEN]);
const char *em_reduce_print(em_reduce v, char buf[EM_VALUE_LEN]);
const char *em_stage_print(em_stage v, char buf[EM_VALUE_LEN]);
const char *em_raster_print(em_raster v, char buf[EM_VALUE_LEN]);

/* Compute and producer threads, INT_MAX when more; 1 when NONE or undecided. */
int em_work_threads(em_work w);

/* ---- one-site rows --------------------------------------------------------------- */

typedef struct em_row {
  em_work work;
  em_tile tile;
  em_reduce reduce;
  em_stage stage;
  em_raster raster;
  uint8_t present; /* bit (1 << family): the row spells it (maybe as unused) */
} em_row;
_Static_assert(sizeof(em_row) <= 32, "a pool of a million rows counts every byte");

#define EM_HAS(family) ((uint8_t)(1u << (family)))

/* Content order of two rows: the canonical row order (see em_knobs_compare), by the
 * texts of the values: WORK, TILE, REDUCE, STAGE, RASTER.  0 only for equal rows.  A value
 * is printed only where the two differ, so sorting costs little. */
int em_row_compare(const em_row *a, const em_row *b);
bool em_row_equal(const em_row *a, const em_row *b);
/* "WORK=t32x8 TILE=f2x8 REDUCE= STAGE=d2/smem-async RASTER=": the present
 * families in that order; the line of a .rows file and the tie-break text. */
#define EM_ROW_LEN 384
const char *em_row_print(const em_row *r, char buf[EM_ROW_LEN]);
/* Strict: only what em_row_print writes. */
int em_row_parse(const char *line, em_row *out, em_err *err) EM_MUST_CHECK;
/* One family's spelling; NULL when missing. */
const char *em_row_value(const em_row *r, em_family f, char buf[EM_VALUE_LEN]);

/* ---- rows as stored: sorted maps of strings ----------------------------------------- */

typedef struct em_knob {
  char *key, *value;
} em_knob; /* "TILE" or "TILE@route"; FAST_MATH etc. as extras */
typedef struct em_knobs {
  em_knob *items;
  size_t n, cap;
} em_knobs;               /* sorted by key, keys unique */
#define EM_KNOBS_MAX 1024 /* a row of more is refused: no kernel has as many sites */

void em_knobs_free(em_knobs *k);
int em_knobs_set(em_knobs *k, const char *key, const char *value, em_err *err) EM_MUST_CHECK;
const char *em_knobs_get(const em_knobs *k, const char *key); /* NULL = missing */
/* Every key well formed and every schedule value canonical, TILE and REDUCE against WORK
 * where it is there.  Names that are neither a family nor registered are let pass: other
 * tuners' logs bring parameters of their own.  *bad (may be NULL) is the offending item. */
int em_knobs_check(const em_knobs *k, size_t *bad, em_err *err) EM_MUST_CHECK;
/* From the `knobs` object of a golden row, checked.
 * Booleans become "True"/"False", integers decimal text. */
int em_knobs_from_json(const cJSON *obj, const em_place *at, em_knobs *out, em_err *err) EM_MUST_CHECK;
/* {"WORK":"..","TILE":"..",...}: known families first in golden-file order (WORK, TILE, REDUCE, STAGE, RASTER, each
 * with its sites by route), then others by name.  "True" and "False" are written as booleans. */
void em_knobs_print_json(const em_knobs *k, em_str *out);
/* "K=V,K=V": the form a user types, checked; family and registered names upper-cased, route
 * lower-cased, a registered boolean also as true/false/1/0.  No key twice. */
int em_knobs_parse_text(const char *text, em_knobs *out, em_err *err) EM_MUST_CHECK;

/* One-site projection: the five schedule families; extras are left out.  Fails (EM_E_INPUT) on a
 * value that does not parse.  *single is false, and the row untouched, when the knobs carry site
 * keys or a structural choice. */
int em_row_from_knobs(const em_knobs *k, em_row *out, bool *single, em_err *err) EM_MUST_CHECK;
int em_row_to_knobs(const em_row *r, em_knobs *out, em_err *err) EM_MUST_CHECK;

/* Structural choices among knobs: PLACE, LAYOUT, or REDUCE starting with g. */
bool em_knob_is_structural(const char *key, const char *value);
/* Does this spelling mean "unused" (em_knob_info.off; empty for the schedule families)? */
bool em_knob_is_off(const char *key, const char *value);
/* Same schedule: equal after dropping unused values. */
bool em_knobs_same_schedule(const em_knobs *a, const em_knobs *b);

/* Agreement rule: every knob the candidate spells has the same value in the measured
 * row; absent there = free; a route-suffixed candidate key against a bare row key needs one
 * such site to carry the value and the others OFF; booleans are not compared. */
bool em_knobs_agree(const em_knobs *candidate, const em_knobs *measured);
/* The canonical row order: the rows' (key, value) pairs, registered booleans left out, sorted
 * PLACE@, LAYOUT@, TILE@, REDUCE@, STAGE@ (each by route), PLACE, LAYOUT, WORK, TILE, REDUCE,
 * STAGE, then all others by name (RASTER is one of them); compared pair by pair, key before
 * value, a row that ends first first. */
int em_knobs_compare(const em_knobs *a, const em_knobs *b);

#endif
