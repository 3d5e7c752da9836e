/* card.c - the table of cards and how a name finds its card. */
#include "core/target/target.h"

#include <string.h>
#include <strings.h>

/* What a compute capability fixes, said once for all its cards: compute
 * capability tables of NVIDIA's CUDA programming guide.  A block may not ask
 * for all shared memory of its SM: the driver keeps 1 KiB of it from 8.0 on. */
#define CC_LIMITS(name, major, minor, optin, per_sm, threads, blocks)                                                  \
  .arch = name, .cc_major = major, .cc_minor = minor, .smem_optin = optin, .smem_per_sm = per_sm,                      \
  .threads_per_sm = threads, .blocks_per_sm = blocks, .smem_static = 49152, .regs_per_sm = 65536,                      \
  .regs_per_block = 65536, .max_threads = 1024
/*                        arch        cc      optin   per SM  threads blocks */
#define CC_70  CC_LIMITS("Volta", 7, 0, 98304, 98304, 2048, 32)
#define CC_75  CC_LIMITS("Turing", 7, 5, 65536, 65536, 1024, 16)
#define CC_80  CC_LIMITS("Ampere", 8, 0, 166912, 167936, 2048, 32)
#define CC_86  CC_LIMITS("Ampere", 8, 6, 101376, 102400, 1536, 16)
#define CC_89  CC_LIMITS("Ada", 8, 9, 101376, 102400, 1536, 24)
#define CC_90  CC_LIMITS("Hopper", 9, 0, 232448, 233472, 2048, 32)
#define CC_100 CC_LIMITS("Blackwell", 10, 0, 232448, 233472, 2048, 32)
#define CC_120 CC_LIMITS("Blackwell", 12, 0, 101376, 102400, 1536, 24)

#define ALIASES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define CARD(full, brief, limits, sms, mib, f32, f16, other_names, where)                                              \
  {.name = full,                                                                                                       \
   .short_name = brief,                                                                                                \
   .aliases = other_names,                                                                                             \
   limits,                                                                                                             \
   .sm_count = sms,                                                                                                    \
   .memory_mib = mib,                                                                                                  \
   .peak_f32 = f32,                                                                                                    \
   .peak_f16 = f16,                                                                                                    \
   .source = where},

static const em_card cards[] = {
#include "core/target/cards.def"
};

enum { N_CARDS = sizeof cards / sizeof cards[0], N_NEAR = 3 };

size_t em_n_cards(void) { return N_CARDS; }

const em_card *em_card_at(size_t i) { return i < N_CARDS ? &cards[i] : NULL; }

static bool card_has_name(const em_card *c, const char *name)
{
  if (strcasecmp(c->name, name) == 0 || strcasecmp(c->short_name, name) == 0) return true;
  for (const char *const *alias = c->aliases; *alias; alias++)
    if (strcasecmp(*alias, name) == 0) return true;
  return false;
}

const em_card *em_card_lookup(const char *name)
{
  for (size_t i = 0; i < N_CARDS; i++)
    if (card_has_name(&cards[i], name)) return &cards[i];
  return NULL;
}

const char *em_card_short_name(const char *name)
{
  const em_card *card = em_card_lookup(name);
  return card ? card->short_name : name;
}

static int card_distance(const em_card *c, const char *name)
{
  int best = em_edit_distance(c->name, name);
  int d = em_edit_distance(c->short_name, name);
  best = d < best ? d : best;
  for (const char *const *alias = c->aliases; *alias; alias++) {
    d = em_edit_distance(*alias, name);
    best = d < best ? d : best;
  }
  return best;
}

/* The nearest cards, nearest first, ties in table order. */
static void near_cards(const char *name, const em_card *near[N_NEAR])
{
  int dist[N_NEAR] = {0};
  size_t n = 0;
  for (size_t i = 0; i < N_CARDS; i++) {
    int d = card_distance(&cards[i], name);
    size_t at = n;
    while (at > 0 && d < dist[at - 1]) at--;
    if (at == N_NEAR) continue;
    n += n < N_NEAR;
    for (size_t j = n - 1; j > at; j--) {
      near[j] = near[j - 1];
      dist[j] = dist[j - 1];
    }
    near[at] = &cards[i];
    dist[at] = d;
  }
}

int em_card_find(const char *name, const em_card **out, em_err *err)
{
  *out = em_card_lookup(name);
  if (*out) return EM_OK;
  /* A name longer than any of ours has no near one worth the quadratic search. */
  char shown[81];
  snprintf(shown, sizeof shown, "%s", name);
  const em_card *near[N_NEAR];
  near_cards(shown, near);
  return em_fail(
    err, EM_E_INPUT,
    "card \"%s\" is not known; near names: %s (\"%s\"), %s (\"%s\"), %s (\"%s\"); `emmy target list` shows all", shown,
    near[0]->short_name, near[0]->name, near[1]->short_name, near[1]->name, near[2]->short_name, near[2]->name);
}

int em_card_cc(const em_card *c) { return 10 * c->cc_major + c->cc_minor; }

int em_card_tc_gen(const em_card *c)
{
  static const struct {
    int cc, gen;
  } gens[] = {{70, 1}, {75, 2}, {80, 3}, {86, 3}, {89, 3}, {90, 4}, {100, 5}, {120, 5}};
  for (size_t i = 0; i < sizeof gens / sizeof gens[0]; i++)
    if (gens[i].cc == em_card_cc(c)) return gens[i].gen;
  return c->cc_major;
}
