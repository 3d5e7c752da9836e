/*
 * target.h - the cards: names, limits, and what a measurement is true of.
 *
 * One table, cards.def, declares every card.  An unknown name is an error that
 * lists near names, never a fallback.  Cards are static: pointers stay valid.
 */
#ifndef EM_TARGET_H
#define EM_TARGET_H

#include "core/base/base.h"

typedef struct em_card {
  const char *name;           /* canonical product name, as golden files spell it */
  const char *short_name;     /* for people and --target: "h100", "rtx4090" */
  const char *const *aliases; /* driver names, NULL-terminated */
  const char *arch;           /* "Volta", ..., "Blackwell" */
  int cc_major, cc_minor;     /* compute capability */
  int sm_count;
  int64_t smem_optin;  /* bytes of dynamic shared memory a block may ask for */
  int64_t smem_per_sm; /* bytes */
  int64_t smem_static; /* bytes a block has without asking: 49152 */
  int regs_per_sm, threads_per_sm, blocks_per_sm;
  int regs_per_block; /* 65536 */
  int max_threads;    /* per block: 1024 */
  int64_t memory_mib; /* 0 = unknown */
  double peak_f32,
    peak_f16;         /* TFLOP/s without sparsity, f16 at the faster of its published accumulations; 0 = not recorded */
  const char *source; /* where the figures come from */
} em_card;

size_t em_n_cards(void);
const em_card *em_card_at(size_t i);
/* By canonical name, alias or short name, case-insensitive. */
int em_card_find(const char *name, const em_card **out, em_err *err) EM_MUST_CHECK;
/* NULL when unknown: for readers that count instead of failing. */
const em_card *em_card_lookup(const char *name);
const char *em_card_short_name(const char *name); /* for tables; `name` itself when unknown */

int em_card_cc(const em_card *c);     /* 10 * major + minor */
int em_card_tc_gen(const em_card *c); /* tensor-core generation, H_tc_gen */

/* The regime: what a measurement is true of besides kernel and card. */
typedef struct em_regime {
  bool fast_math;
  bool cold_cache;
  int opt; /* optimization level; 3 is deployable */
} em_regime;
#define EM_REGIME_DEFAULT ((em_regime){.fast_math = false, .cold_cache = false, .opt = 3})
/* "" for the default, else words joined by a blank: "--use_fast_math cold-cache -O1". */
const char *em_regime_text(em_regime r, char buf[64]);
/* Strict: only what em_regime_text writes for opt 0 to 3. */
int em_regime_parse(const char *text, em_regime *out, em_err *err) EM_MUST_CHECK;
/* The default sorts first: plain before fast math, hot before cold, -O3 before -O0. */
int em_regime_compare(em_regime a, em_regime b);

#endif
