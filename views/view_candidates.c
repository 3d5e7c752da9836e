/*
 * view_candidates.c - the candidates of one pool, in the prior's order.
 */
#include <math.h>
#include <string.h>

#include "views/views_int.h"

enum { RANK, QUALITY, PRICE, WORK, TILE, REDUCE, STAGE, RASTER, GOLDEN, US, FITS, SMEM, REGS, RESIDENT, AGAINST, ROW };

static const em_view_column columns[] = {
  {"rank", "rank", EM_INT, "rank", 7, 0, "place in the prior's order, equal qualities by content; 1 is the pick"},
  {"quality", "quality", EM_REAL, "", 9, 4, "output of the model, higher is better"},
  {"price", "price", EM_REAL, "", 10, -1, "exp(-scale * quality), a stand-in for latency, lower is better"},
  {"work", "WORK", EM_TEXT, "", 8, 0, "worker inventory"},
  {"tile", "TILE", EM_TEXT, "", 30, 0, "register tile, or instruction and cells"},
  {"reduce", "REDUCE", EM_TEXT, "", 9, 0, "partition of the reduction"},
  {"stage", "STAGE", EM_TEXT, "", 17, 0, "ring of shared memory"},
  {"raster", "RASTER", EM_TEXT, "", 6, 0, "launch order"},
  {"golden", "golden", EM_TEXT, "", 7, 0, "\"golden\" when this row was recorded"},
  {"us", "us", EM_REAL, "us", 9, 1, "recorded time"},
  {"fits", "fits", EM_TEXT, "", 24, 0, "\"yes\", or the limit of the card that it exceeds"},
  {"smem_bytes", "smem", EM_INT, "bytes", 0, 0, "dynamic shared memory of a block"},
  {"regs", "regs", EM_INT, "registers", 0, 0, "estimated registers of a thread"},
  {"resident", "resident", EM_INT, "blocks", 0, 0, "blocks per multiprocessor"},
  {"rank_against", "against", EM_INT, "rank", 0, 0, "rank with every tie counted against it"},
  {"row", "row", EM_TEXT, "", 0, 0, "all knob values as text, as the functions knob and agrees take"},
};

static const em_param params[] = {EM_POOL_PARAM, EM_PRIOR_PARAM};

/* Row r of the view is the candidate of rank r. */
typedef struct cursor {
  em_cursor base;
  const em_scored *scored;
} cursor;

static void close_view(em_cursor *base) { em_session_release(base->session, ((cursor *)base)->scored); }

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  return em_pool_open(base->session, args[0], &((cursor *)base)->scored, err);
}

static const em_scored *scored_of(em_cursor *base) { return ((cursor *)base)->scored; }

static size_t rows(em_cursor *base) { return scored_of(base)->n; }

static void resource_cell(const em_scored *sc, const em_row *row, size_t column, em_cell *out)
{
  if (!sc->space) {
    em_cell_missing(out);
    return;
  }
  em_resources r;
  char why[EM_WHY_LEN];
  em_space_resources(sc->space, row, &r);
  switch (column) {
  case SMEM: em_cell_int(out, r.smem_bytes); break;
  case REGS: em_cell_int(out, r.regs); break;
  case RESIDENT: em_cell_int(out, r.resident); break;
  default:
    if (em_space_fits(sc->space, row, why))
      em_cell_text(out, "yes");
    else
      em_cell_printf(out, "%s", why);
  }
}

static void cell(em_cursor *base, size_t rank, size_t column, em_cell *out)
{
  const em_scored *sc = scored_of(base);
  size_t at = sc->order[rank];
  const em_row *row = &sc->rows[at];
  const em_golden_mark *golden = em_scored_golden(sc, at);
  switch (column) {
  case RANK: em_cell_rank(out, rank); break;
  case AGAINST: em_cell_rank(out, sc->against[at]); break;
  case QUALITY: em_cell_real(out, sc->quality[at]); break;
  case PRICE: em_cell_real(out, em_prior_price(em_session_prior(base->session), sc->quality[at])); break;
  case WORK: em_cell_family(out, row, EM_WORK); break;
  case TILE: em_cell_family(out, row, EM_TILE); break;
  case REDUCE: em_cell_family(out, row, EM_REDUCE); break;
  case STAGE: em_cell_family(out, row, EM_STAGE); break;
  case RASTER: em_cell_family(out, row, EM_RASTER); break;
  case GOLDEN: em_cell_text(out, golden ? "golden" : NULL); break;
  case US: em_cell_real(out, golden ? golden->us : NAN); break;
  case ROW: em_cell_text(out, em_row_print(row, out->buf)); break;
  default: resource_cell(sc, row, column, out);
  }
}

static em_mark mark(em_cursor *base, size_t rank)
{
  const em_scored *sc = scored_of(base);
  if (em_scored_golden(sc, sc->order[rank])) return EM_MARK_GOLDEN;
  char why[EM_WHY_LEN];
  if (sc->space && !em_space_fits(sc->space, &sc->rows[sc->order[rank]], why)) return EM_MARK_ATTENTION;
  return rank == 0 ? EM_MARK_PICK : EM_MARK_NONE;
}

static void foot(em_cursor *base, em_str *out)
{
  const em_scored *sc = scored_of(base);
  em_put_count(out, sc->n, "candidate", "candidates");
  if (sc->n < sc->info.total) em_str_printf(out, " of %llu (a sample)", (unsigned long long)sc->info.total);
  em_str_printf(out, "   golden #%zu", sc->info.rank.against + 1);
  if (sc->info.rank.plateau) em_str_printf(out, " in a plateau of %zu", sc->info.rank.plateau + 1);
  if (sc->n_goldens > 1) em_str_printf(out, "   %zu goldens", sc->n_goldens);
}

static void sentence(em_cursor *base, size_t rank, em_str *out)
{
  const em_scored *sc = scored_of(base);
  size_t at = sc->order[rank];
  char text[EM_KNOBS_SHORT];
  em_row_short(&sc->rows[at], text);
  const em_golden_mark *golden = em_scored_golden(sc, at);
  em_str_printf(out, "#%zu %s", rank + 1, text);
  if (golden && !isnan(golden->us)) em_str_printf(out, ", golden, %.1f us", golden->us);
  if (!sc->space) return;
  em_resources r;
  em_space_resources(sc->space, &sc->rows[at], &r);
  em_str_printf(out, ", %d threads, %lld B of shared memory, %d resident", r.threads, (long long)r.smem_bytes,
                r.resident);
}

static void crumb(em_cursor *base, em_str *out)
{
  const em_pool_info *i = &scored_of(base)->info;
  em_str_put_safe(out, em_card_label(i));
  em_str_put(out, " / ");
  em_str_put_safe(out, i->label);
}

/* Enter compares: a golden with the pick, any other row with the golden. */
static bool enter(em_cursor *base, size_t rank, em_target *out)
{
  const em_scored *sc = scored_of(base);
  char a[32], b[32];
  bool golden = em_scored_golden(sc, sc->order[rank]) != NULL;
  snprintf(a, sizeof a, "%zu", golden ? (size_t)1 : rank + 1);
  if (golden)
    snprintf(b, sizeof b, "%zu", rank + 1);
  else
    snprintf(b, sizeof b, "golden");
  return em_target_set(out, "features", sc->info.key, a, b);
}

/* Where the pick is the golden, what it is preferred to. */
static bool why(em_cursor *base, size_t rank, em_target *out)
{
  (void)rank;
  const em_scored *sc = scored_of(base);
  bool golden_first = sc->info.rank.best == sc->order[0] && sc->n > 1;
  return em_target_set(out, "contributions", sc->info.key, "pick", golden_first ? "2" : "golden");
}

static size_t estimate(em_session *s, const char *const *args)
{
  size_t pool;
  em_err err;
  em_pool_info info;
  if (!args[0] || em_session_find(s, args[0], &pool, &err) != EM_OK) return SIZE_MAX;
  em_session_pool(s, pool, &info);
  return info.state == EM_POOL_READY ? info.rows : SIZE_MAX;
}

const em_view em_view_candidates = {
  .name = "candidates",
  .title = "candidates",
  .doc =
    "The candidates of one pool in the prior's order: quality, price, knob values, which were recorded, and whether each fits the card.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .mark = mark,
  .foot = foot,
  .sentence = sentence,
  .crumb = crumb,
  .enter = enter,
  .why = why,
  .key = "rank",
  .estimate = estimate,
};
