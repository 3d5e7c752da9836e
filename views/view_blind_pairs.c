/*
 * view_blind_pairs.c - candidates that no model of the prior's columns can tell apart: equal in all that it splits on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "views/views_int.h"

enum { RANK, GROUP, SIZE, WORK, TILE, REDUCE, STAGE, RASTER, GOLDEN, US, DIFFERS };

static const em_view_column columns[] = {
  {"rank", "rank", EM_INT, "rank", 7, 0, "place in the prior's order, equal qualities by content; 1 is the pick"},
  {"group_rank", "group", EM_INT, "rank", 7, 0, "best rank of those that this one is blind to, itself included"},
  {"size", "size", EM_INT, "candidates", 6, 0, "candidates of the group"},
  {"work", "WORK", EM_TEXT, "", 8, 0, "worker inventory"},
  {"tile", "TILE", EM_TEXT, "", 30, 0, "register tile, or instruction and cells"},
  {"reduce", "REDUCE", EM_TEXT, "", 9, 0, "partition of the reduction"},
  {"stage", "STAGE", EM_TEXT, "", 17, 0, "ring of shared memory"},
  {"raster", "RASTER", EM_TEXT, "", 6, 0, "launch order"},
  {"golden", "golden", EM_TEXT, "", 7, 0, "\"golden\" when this row was recorded"},
  {"us", "us", EM_REAL, "us", 9, 1, "recorded time"},
  {"differs_in", "differs in", EM_TEXT, "", 20, 0,
   "knobs whose values are not those of the group's first: what the columns do not see"},
};

static const em_param params[] = {
  EM_POOL_PARAM,
  {"candidate", EM_TEXT, false,
   "a rank, \"pick\" or \"golden\": its group alone; left out: every group of two or more"},
  EM_PRIOR_PARAM,
};

typedef struct cursor {
  em_cursor base;
  const em_scored *scored;
  uint32_t *shown;
  size_t n;       /* rows of the pool: groups by best rank, within them by rank */
  uint32_t *best; /* row -> best rank of its group */
  uint32_t *size; /* by best rank: candidates of the group */
  size_t n_groups;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_session_release(base->session, c->scored);
  em_free(c->shown);
  em_free(c->best);
  em_free(c->size);
}

/* From "the least row of the group" to "its best rank". */
static void name_by_rank(cursor *c, const uint32_t *first, uint32_t *best_of_first)
{
  const em_scored *sc = c->scored;
  for (size_t r = 0; r < sc->n; r++) best_of_first[r] = UINT32_MAX;
  for (size_t r = 0; r < sc->n; r++)
    if (sc->rank_of[r] < best_of_first[first[r]]) best_of_first[first[r]] = sc->rank_of[r];
  for (size_t r = 0; r < sc->n; r++) {
    c->best[r] = best_of_first[first[r]];
    c->size[c->best[r]]++;
  }
}

typedef struct place {
  uint32_t best, rank, row;
} place;

static int by_group(const void *a, const void *b)
{
  const place *x = a, *y = b;
  if (x->best != y->best) return x->best < y->best ? -1 : 1;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

/* only: the group to show, UINT32_MAX = all of two or more. */
static int choose(cursor *c, uint32_t only, em_err *err)
{
  const em_scored *sc = c->scored;
  place *places = em_calloc(sc->n + 1, sizeof *places);
  if (!places) return em_fail_nomem(err);
  for (size_t r = 0; r < sc->n; r++)
    if (only == UINT32_MAX ? c->size[c->best[r]] > 1 : c->best[r] == only)
      places[c->n++] = (place){c->best[r], sc->rank_of[r], (uint32_t)r};
  qsort(places, c->n, sizeof *places, by_group);
  for (size_t i = 0; i < c->n; i++) {
    c->shown[i] = places[i].row;
    c->n_groups += i == 0 || places[i].best != places[i - 1].best;
  }
  em_free(places);
  return EM_OK;
}

static int name_groups(cursor *c, em_err *err)
{
  size_t n = c->scored->n + 1;
  uint32_t *first = em_calloc(n, sizeof *first), *scratch = em_calloc(n, sizeof *scratch);
  int rc = EM_E_NOMEM;
  if (!first || !scratch)
    em_fail_nomem(err);
  else if ((rc = em_scored_blind_groups(em_session_prior(c->base.session), c->scored, first, err)) == EM_OK)
    name_by_rank(c, first, scratch);
  em_free(first);
  em_free(scratch);
  return rc;
}

static int group(cursor *c, const char *candidate, em_err *err)
{
  const em_scored *sc = c->scored;
  size_t row = 0;
  if (candidate && em_pair_candidate(sc, candidate, &row, err) != EM_OK) return err->code;
  c->shown = em_calloc(sc->n + 1, sizeof *c->shown);
  c->best = em_calloc(sc->n + 1, sizeof *c->best);
  c->size = em_calloc(sc->n + 1, sizeof *c->size);
  if (!c->shown || !c->best || !c->size) return em_fail_nomem(err);
  if (name_groups(c, err) != EM_OK) return err->code;
  return choose(c, candidate ? c->best[row] : UINT32_MAX, err);
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_pool_open(base->session, args[0], &c->scored, err);
  return rc == EM_OK ? group(c, args[1], err) : rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void differs_cell(const em_row *a, const em_row *b, em_cell *out)
{
  size_t len = 0;
  out->buf[0] = '\0';
  for (int f = EM_WORK; f <= EM_RASTER; f++) {
    char x[EM_VALUE_LEN], y[EM_VALUE_LEN];
    const char *p = em_row_value(a, (em_family)f, x), *q = em_row_value(b, (em_family)f, y);
    if (p && q ? strcmp(p, q) == 0 : p == q) continue;
    len += (size_t)snprintf(out->buf + len, sizeof out->buf - len, "%s%s", len ? " " : "",
                            em_family_at((em_family)f)->name);
  }
  em_cell_text(out, len ? out->buf : NULL);
}

static void cell(em_cursor *base, size_t at, size_t column, em_cell *out)
{
  cursor *c = (cursor *)base;
  const em_scored *sc = c->scored;
  size_t r = c->shown[at];
  const em_row *row = &sc->rows[r];
  const em_golden_mark *golden = em_scored_golden(sc, r);
  switch (column) {
  case RANK: em_cell_rank(out, sc->rank_of[r]); break;
  case GROUP: em_cell_rank(out, c->best[r]); break;
  case SIZE: em_cell_int(out, c->size[c->best[r]]); break;
  case WORK: em_cell_family(out, row, EM_WORK); break;
  case TILE: em_cell_family(out, row, EM_TILE); break;
  case REDUCE: em_cell_family(out, row, EM_REDUCE); break;
  case STAGE: em_cell_family(out, row, EM_STAGE); break;
  case RASTER: em_cell_family(out, row, EM_RASTER); break;
  case GOLDEN: em_cell_text(out, golden ? "golden" : NULL); break;
  case US: em_cell_real(out, golden ? golden->us : NAN); break;
  default: differs_cell(row, &sc->rows[sc->order[c->best[r]]], out);
  }
}

static em_mark mark(em_cursor *base, size_t at)
{
  cursor *c = (cursor *)base;
  if (em_scored_golden(c->scored, c->shown[at])) return EM_MARK_GOLDEN;
  return c->scored->rank_of[c->shown[at]] == c->best[c->shown[at]] ? EM_MARK_NONE : EM_MARK_DIM;
}

static void foot(em_cursor *base, em_str *out)
{
  cursor *c = (cursor *)base;
  em_put_count(out, c->n, "candidate", "candidates");
  em_str_put(out, " in ");
  em_put_count(out, c->n_groups, "group", "groups");
  em_str_put(out, " that the prior's columns cannot tell apart");
}

static void crumb(em_cursor *base, em_str *out) { em_pair_crumb(&(em_pair){.scored = ((cursor *)base)->scored}, out); }

/* Beside the golden: what its columns have that these lack. */
static bool enter(em_cursor *base, size_t at, em_target *out)
{
  cursor *c = (cursor *)base;
  char rank[24];
  snprintf(rank, sizeof rank, "%u", c->scored->rank_of[c->shown[at]] + 1);
  return em_target_set(out, "features", c->scored->info.key, rank, "golden");
}

const em_view em_view_blind_pairs = {
  .name = "blind_pairs",
  .title = "blind pairs",
  .doc =
    "Candidates of a pool with equal values in every column that the prior splits on: no model of these columns can tell them apart, and "
    "the pick among them is by their text alone.",
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
  .crumb = crumb,
  .enter = enter,
};
