/*
 * view_pools.c - the start: every pool, where its golden ranks, and the cold pick.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "views/views_int.h"

/* Column numbers and their declarations, in the same order. */
enum {
  CARD,
  KERNEL,
  GOLDEN,
  CANDIDATES,
  NOTES,
  PICK,
  TIES,
  US,
  KIND,
  TIER,
  KEY,
  REFERENCE,
  ROWS,
  OPTIMISTIC,
  GOLDEN_QUALITY,
  GOLDEN_PRICE,
  PICK_PRICE,
  GOLDEN_ROW,
  PICK_ROW,
  GOLDENS,
  SHAPE,
  REGIME,
  BINDINGS,
  IDENTITY
};

static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 9, 0, "short name of the card"},
  {"kernel", "kernel", EM_TEXT, "", 30, 0, "label of the golden row, or the pool's name"},
  {"golden_rank", "golden", EM_INT, "rank", 7, 0,
   "rank of the best golden, every tie counted against it; 1 is the pick"},
  {"candidates", "candidates", EM_INT, "candidates", 10, 0, "leaves of the whole space"},
  {"notes", "notes", EM_TEXT, "", 36, 0, "what needs attention, in words"},
  {"pick", "cold pick", EM_TEXT, "", 44, 0, "what the prior alone takes: the used knob values"},
  {"ties", "ties", EM_INT, "candidates", 7, 0, "other candidates with exactly the golden's quality"},
  {"us", "us", EM_REAL, "us", 9, 1, "best recorded time"},
  {"kind", "kind", EM_TEXT, "", 11, 0, "pointwise, reduce or contraction"},
  {"tier", "tier", EM_TEXT, "", 9, 0, "warp, thread, reduce, pointwise; dyn when an extent is symbolic"},
  {"pool", "pool", EM_TEXT, "", 0, 0, "key of the pool, for commands"},
  {"reference_us", "reference", EM_REAL, "us", 0, 1, "time of the recorded reference"},
  {"rows", "rows", EM_INT, "candidates", 0, 0, "candidates held: fewer when the source is sampled"},
  {"golden_rank_optimistic", "optimistic", EM_INT, "rank", 0, 0, "rank of the golden with ties ignored"},
  {"golden_quality", "golden quality", EM_REAL, "", 0, 4, "output of the model for the golden"},
  {"golden_price", "golden price", EM_REAL, "", 0, -1, "price of the golden"},
  {"pick_price", "pick price", EM_REAL, "", 0, -1, "price of the cold pick"},
  {"golden_row", "golden row", EM_TEXT, "", 0, 0, "all knob values of the golden as text"},
  {"pick_row", "pick row", EM_TEXT, "", 0, 0, "all knob values of the cold pick as text"},
  {"goldens", "goldens", EM_INT, "rows", 0, 0, "golden rows recorded, inside or outside the pool"},
  {"shape", "shape", EM_TEXT, "", 0, 0, "extents and dtypes; the fold key of cross-validation"},
  {"regime", "regime", EM_TEXT, "", 16, 0, "what the times are true of; unused = the default"},
  {"bindings", "bindings", EM_TEXT, "", 0, 0, "sizes of symbolic extents; unused = there are none"},
  {"identity", "identity", EM_TEXT, "", 0, 0, "digest of the kernel's normalised definition"},
};

static const em_param params[] = {
  {"card", EM_TEXT, false, "only pools of this card"},
  {"kernel", EM_TEXT, false, "only pools of this kernel (its C name)"},
  EM_PRIOR_PARAM,
};

typedef struct cursor {
  em_cursor base;
  uint32_t *pools; /* indices of the session */
  size_t n;
} cursor;

static void close_view(em_cursor *base) { em_free(((cursor *)base)->pools); }

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  em_session *s = base->session;
  const em_card *card = NULL;
  if (args[0] && em_card_find(args[0], &card, err) != EM_OK) return err->code;
  size_t n = em_session_n_pools(s);
  c->pools = em_calloc(n + 1, sizeof *c->pools);
  if (!c->pools) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    em_pool_info info;
    em_session_pool(s, i, &info);
    if ((card && info.card != card) || (args[1] && strcmp(info.kernel, args[1]) != 0)) continue;
    c->pools[c->n++] = (uint32_t)i;
  }
  return EM_OK;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void info_of(em_cursor *base, size_t row, em_pool_info *info)
{
  em_session_pool(base->session, ((cursor *)base)->pools[row], info);
}

/* Columns that only a ranked pool has. */
static void ranked_cell(em_session *s, const em_pool_info *i, size_t column, em_cell *out)
{
  if (i->state != EM_POOL_READY) {
    em_cell_missing(out);
    return;
  }
  char pick[EM_KNOBS_SHORT];
  switch (column) {
  case CANDIDATES: em_cell_int(out, (int64_t)i->total); break;
  case GOLDEN: em_cell_rank(out, i->rank.against); break;
  case OPTIMISTIC: em_cell_rank(out, i->rank.optimistic); break;
  case TIES: em_cell_int(out, (int64_t)i->rank.plateau); break;
  case ROWS: em_cell_int(out, (int64_t)i->rows); break;
  case GOLDEN_QUALITY: em_cell_real(out, i->golden_quality); break;
  case GOLDEN_PRICE: em_cell_real(out, em_prior_price(em_session_prior(s), i->golden_quality)); break;
  case PICK_PRICE: em_cell_real(out, em_prior_price(em_session_prior(s), i->pick_quality)); break;
  case GOLDEN_ROW: em_cell_text(out, em_row_print(&i->golden, out->buf)); break;
  case PICK_ROW: em_cell_text(out, em_row_print(&i->pick, out->buf)); break;
  default: em_row_short(&i->pick, pick); em_cell_printf(out, "%s", pick);
  }
}

static const char *state_note(const em_pool_info *i, em_cell *out)
{
  const char *word[] = {[EM_POOL_WAITING] = "waiting",
                        [EM_POOL_READY] = "",
                        [EM_POOL_OUTSIDE] = "out of pool",
                        [EM_POOL_FAILED] = "failed"};
  const char *w = word[i->state];
  if (!*w) return i->note;
  snprintf(out->buf, sizeof out->buf, "%s%s%s", w, *i->note ? ": " : "", i->note);
  return out->buf;
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  em_pool_info i;
  info_of(base, row, &i);
  switch (column) {
  case CARD: em_cell_text(out, em_card_label(&i)); break;
  case KERNEL: em_cell_text(out, i.label); break;
  case KIND: em_cell_text(out, em_kind_name(i.kind)); break;
  case TIER: em_cell_text(out, i.tier); break;
  case US: em_cell_real(out, i.us); break;
  case REFERENCE: em_cell_real(out, i.reference_us); break;
  case NOTES: em_cell_text(out, state_note(&i, out)); break;
  case KEY: em_cell_text(out, i.key); break;
  case GOLDENS: em_cell_int(out, (int64_t)i.n_goldens); break;
  case SHAPE: em_cell_text(out, i.shape); break;
  case REGIME: em_cell_text_or_unused(out, i.regime); break;
  case BINDINGS: em_cell_text_or_unused(out, i.bindings); break;
  case IDENTITY: em_cell_digest(out, i.identity); break;
  default: ranked_cell(base->session, &i, column, out);
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  em_pool_info i;
  info_of(base, row, &i);
  if (i.state == EM_POOL_WAITING) return EM_MARK_DIM;
  if (i.state != EM_POOL_READY || !i.pick_fits) return EM_MARK_ATTENTION;
  return i.rank.against == 0 ? EM_MARK_GOLDEN : EM_MARK_NONE;
}

static int by_value(const void *a, const void *b)
{
  const size_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* "top-1 181 of 337 (54%)   top-10 309 (92%)   median #1   worst #112" */
static void foot(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  size_t *ranks = em_calloc(c->n + 1, sizeof *ranks), n = 0, top1 = 0, top10 = 0;
  if (!ranks) return;
  for (size_t row = 0; row < c->n; row++) {
    em_pool_info i;
    info_of(base, row, &i);
    if (i.state != EM_POOL_READY) continue;
    ranks[n++] = i.rank.against;
    top1 += i.rank.against < 1;
    top10 += i.rank.against < 10;
  }
  qsort(ranks, n, sizeof *ranks, by_value);
  if (n == 0)
    em_str_printf(out, "0 of %zu pools ranked", c->n);
  else
    em_str_printf(out, "top-1 %zu of %zu (%.0f%%)   top-10 %zu (%.0f%%)   median #%zu   worst #%zu", top1, n,
                  100.0 * (double)top1 / (double)n, top10, 100.0 * (double)top10 / (double)n, ranks[(n - 1) / 2] + 1,
                  ranks[n - 1] + 1);
  em_free(ranks);
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  em_pool_info i;
  info_of(base, row, &i);
  if (i.state != EM_POOL_READY) {
    em_cell scratch;
    em_str_put_safe(out, state_note(&i, &scratch));
    return;
  }
  char golden[EM_KNOBS_SHORT];
  em_row_short(&i.golden, golden);
  double below = i.pick_quality - i.golden_quality;
  if (i.rank.against == 0)
    em_str_printf(out, "the prior picks the golden %s", golden);
  else
    em_str_printf(out, "golden #%zu of %zu: %s, ", i.rank.against + 1, i.rows, golden);
  if (i.rank.against > 0 && below > 0)
    em_str_printf(out, "below the pick by %.3g", below);
  else if (i.rank.against > 0)
    em_str_put(out, "as good as the pick to the prior");
  if (!isnan(i.us)) em_str_printf(out, ", %.1f us", i.us);
}

static void crumb(em_cursor *base, em_str *out) { em_str_put_safe(out, em_session_source(base->session)); }

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  em_pool_info i;
  info_of(base, row, &i);
  return em_target_set(out, "candidates", i.key, NULL, NULL);
}

/* Where the pick is the golden, what it is preferred to. */
static bool why(em_cursor *base, size_t row, em_target *out)
{
  em_pool_info i;
  info_of(base, row, &i);
  bool golden_first = i.state == EM_POOL_READY && i.rows > 1 && em_row_equal(&i.golden, &i.pick);
  return em_target_set(out, "contributions", i.key, "pick", golden_first ? "2" : "golden");
}

/* What the golden file says needs no ranking. */
static size_t waits_for(em_cursor *base, size_t row, size_t column)
{
  switch (column) {
  case CARD:
  case KERNEL:
  case KIND:
  case TIER:
  case US:
  case KEY:
  case REFERENCE:
  case GOLDENS:
  case SHAPE:
  case REGIME:
  case BINDINGS:
  case IDENTITY: return SIZE_MAX;
  default: return ((cursor *)base)->pools[row];
  }
}

/* Exact without arguments; with them, as if the pools were spread evenly. */
static size_t estimate(em_session *s, const char *const *args)
{
  size_t n = em_session_n_pools(s);
  return args[0] || args[1] ? n / 4 + 1 : n;
}

const em_view em_view_pools = {
  .name = "pools",
  .title = "pools",
  .doc =
    "Every pool of the sources: how many candidates it has, where its golden ranks under the prior, and the cold pick.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .params = params,
  .n_params = COUNT(params),
  .live = true,
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
  .estimate = estimate,
  .waits_for = waits_for,
};
