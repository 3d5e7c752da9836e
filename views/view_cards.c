/*
 * view_cards.c - the table of cards.
 */
#include <math.h>
#include <string.h>

#include "views/views_int.h"

enum { CARD, NAME, ARCH, CC, SMS, SMEM, SMEM_SM, MEMORY, F32, F16, POOLS, REGS, THREADS, SOURCE };

static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 18, 0, "short name, for --target"},
  {"name", "name", EM_TEXT, "", 34, 0, "canonical product name"},
  {"arch", "arch", EM_TEXT, "", 9, 0, "architecture"},
  {"cc", "cc", EM_TEXT, "", 4, 0, "compute capability"},
  {"sm_count", "SMs", EM_INT, "", 4, 0, "multiprocessors"},
  {"smem_optin", "smem/block", EM_INT, "bytes", 10, 0, "dynamic shared memory a block may ask for"},
  {"smem_per_sm", "smem/SM", EM_INT, "bytes", 8, 0, "shared memory of a multiprocessor"},
  {"memory_mib", "MiB", EM_INT, "MiB", 8, 0, "device memory; missing when not recorded"},
  {"peak_f32", "f32", EM_REAL, "TFLOP/s", 6, 1, "peak rate; missing when not recorded"},
  {"peak_f16", "f16", EM_REAL, "TFLOP/s", 6, 1, "peak tensor-core rate without sparsity; missing when not recorded"},
  {"pools", "pools", EM_INT, "pools", 6, 0, "pools of the open sources on this card"},
  {"regs_per_sm", "regs/SM", EM_INT, "", 0, 0, "registers of a multiprocessor"},
  {"threads_per_sm", "threads/SM", EM_INT, "", 0, 0, "resident threads of a multiprocessor"},
  {"source", "source", EM_TEXT, "", 0, 0, "where the figures come from"},
};

static size_t rows(em_cursor *base)
{
  (void)base;
  return em_n_cards();
}

/* A table of cards needs no session. */
static size_t pools_on(em_session *s, const em_card *card)
{
  size_t n = 0;
  for (size_t i = 0; s && i < em_session_n_pools(s); i++) {
    em_pool_info info;
    em_session_pool(s, i, &info);
    n += info.card == card;
  }
  return n;
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const em_card *c = em_card_at(row);
  switch (column) {
  case CARD: em_cell_text(out, c->short_name); break;
  case NAME: em_cell_text(out, c->name); break;
  case ARCH: em_cell_text(out, c->arch); break;
  case CC: em_cell_printf(out, "%d.%d", c->cc_major, c->cc_minor); break;
  case SMS: em_cell_int(out, c->sm_count); break;
  case SMEM: em_cell_int(out, c->smem_optin); break;
  case SMEM_SM: em_cell_int(out, c->smem_per_sm); break;
  case MEMORY:
    if (c->memory_mib)
      em_cell_int(out, c->memory_mib);
    else
      em_cell_missing(out);
    break;
  case F32: em_cell_real(out, c->peak_f32 > 0 ? c->peak_f32 : NAN); break;
  case F16: em_cell_real(out, c->peak_f16 > 0 ? c->peak_f16 : NAN); break;
  case POOLS:
    if (base->session)
      em_cell_int(out, (int64_t)pools_on(base->session, c));
    else
      em_cell_missing(out);
    break;
  case REGS: em_cell_int(out, c->regs_per_sm); break;
  case THREADS: em_cell_int(out, c->threads_per_sm); break;
  default: em_cell_text(out, c->source);
  }
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  (void)base;
  const em_card *c = em_card_at(row);
  em_str_printf(out, "%s: %s", c->name, c->source);
}

static void crumb(em_cursor *base, em_str *out)
{
  (void)base;
  em_str_put(out, "cards");
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  const em_card *c = em_card_at(row);
  return pools_on(base->session, c) > 0 && em_target_set(out, "pools", c->short_name, NULL, NULL);
}

static size_t estimate(em_session *s, const char *const *args)
{
  (void)s;
  (void)args;
  return em_n_cards();
}

const em_view em_view_cards = {
  .name = "cards",
  .title = "cards",
  .doc = "The cards that are known, with the limits that legality and features use.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .rows = rows,
  .cell = cell,
  .sentence = sentence,
  .crumb = crumb,
  .enter = enter,
  .estimate = estimate,
};
