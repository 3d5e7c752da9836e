/*
 * view_ranks.c - where goldens rank, counted by card, tier and size of their pools.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "views/views_int.h"

/* The columns of top-k come from the one table of ks. */
enum { CARD, TIER, SIZE, POOLS, MEDIAN, OPTIMISTIC, MEAN_LOG2, FIRST_TOP };

static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 18, 0, "short name of the card; missing where cards are counted together"},
  {"tier", "tier", EM_TEXT, "", 10, 0, "tier of the pools; missing where tiers are counted together"},
  {"size", "size", EM_TEXT, "", 6, 0, "candidates of the pools; missing where sizes are counted together"},
  {"pools", "pools", EM_INT, "pools", 6, 0, "pools whose golden was ranked"},
  {"median", "median", EM_REAL, "rank", 7, 1, "median rank of the goldens from 1, every tie counted against them"},
  {"median_optimistic", "ties ignored", EM_REAL, "rank", 12, 1, "the same with ties ignored"},
  {"mean_log2", "mean log2", EM_REAL, "log2", 9, 2, "mean of log2(rank)"},
#define TOP(k) {"top" #k, "top-" #k, EM_INT, "pools", 7, 0, "pools whose golden ranks " #k " or better"},
  EM_TOP_KS(TOP)
#undef TOP
    {"worst", "worst", EM_INT, "rank", 8, 0, "worst rank"},
};
enum { WORST = COUNT(columns) - 1 };

enum { PRIOR_ARG, BY_ARG };
static const em_param params[] = {
  EM_PRIOR_PARAM,
  {"by", EM_TEXT, false,
   "which pools are counted together: by \"card\" (the default), \"tier\", \"size\", \"both\" card and tier, \"each\" card, "
   "tier and size, or \"all\""},
};

static const struct way {
  const char *word;
  bool card, tier, size;
} ways[] = {{"card", true, false, false}, {"tier", false, true, false}, {"size", false, false, true},
            {"both", true, true, false},  {"each", true, true, true},   {"all", false, false, false}};

typedef struct group {
  const char *card, *tier; /* NULL = counted together */
  size_t size;             /* bucket; SIZE_MAX = counted together */
  em_rank *ranks;
  size_t n, cap, worst;
  em_rank_summary summary;
} group;

typedef struct cursor {
  em_cursor base;
  group *items;
  size_t n, cap;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  for (size_t i = 0; i < c->n; i++) em_free(c->items[i].ranks);
  em_free(c->items);
}

static int compare_texts(const char *a, const char *b) { return a && b ? strcmp(a, b) : 0; }

static int by_name(const void *pa, const void *pb)
{
  const group *a = pa, *b = pb;
  int d = compare_texts(a->card, b->card);
  if (!d) d = compare_texts(a->tier, b->tier);
  return d ? d : (a->size > b->size) - (a->size < b->size);
}

static group *find(cursor *c, const group *like, em_err *err)
{
  for (size_t i = 0; i < c->n; i++)
    if (by_name(&c->items[i], like) == 0) return &c->items[i];
  if (em_grow(&c->items, &c->cap, c->n + 1, sizeof *c->items, err) != EM_OK) return NULL;
  c->items[c->n] = *like;
  return &c->items[c->n++];
}

static int add_pool(cursor *c, size_t pool, const struct way *way, em_err *err)
{
  em_pool_info i;
  em_session_pool(c->base.session, pool, &i);
  if (i.state != EM_POOL_READY) return EM_OK;
  group like = {.card = way->card ? em_card_label(&i) : NULL,
                .tier = way->tier ? i.tier : NULL,
                .size = way->size ? em_eval_bucket(i.total) : SIZE_MAX};
  group *g = find(c, &like, err);
  if (!g || em_grow(&g->ranks, &g->cap, g->n + 1, sizeof *g->ranks, err) != EM_OK) return err->code;
  g->ranks[g->n++] = i.rank;
  if (i.rank.against > g->worst) g->worst = i.rank.against;
  return EM_OK;
}

static int summarise(cursor *c, const struct way *way, em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0; i < em_session_n_pools(c->base.session) && rc == EM_OK; i++) rc = add_pool(c, i, way, err);
  for (size_t i = 0; i < c->n && rc == EM_OK; i++)
    rc = em_rank_summarise(c->items[i].ranks, c->items[i].n, &c->items[i].summary, err);
  if (rc == EM_OK && c->n) qsort(c->items, c->n, sizeof *c->items, by_name);
  return rc;
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  const char *by = args[BY_ARG] ? args[BY_ARG] : "card";
  size_t way = 0;
  while (way < COUNT(ways) && strcmp(ways[way].word, by) != 0) way++;
  if (way == COUNT(ways))
    return em_fail(err, EM_E_USAGE, "ranks are counted by card, tier, size, both, each or all, not by \"%s\"", by);
  return summarise((cursor *)base, &ways[way], err);
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const group *g = &((cursor *)base)->items[row];
  switch (column) {
  case CARD: em_cell_text(out, g->card); break;
  case TIER: em_cell_text(out, g->tier); break;
  case SIZE: em_cell_text(out, g->size == SIZE_MAX ? NULL : em_eval_bucket_name(g->size)); break;
  case POOLS: em_cell_int(out, (int64_t)g->n); break;
  case MEDIAN: em_cell_real(out, g->summary.median + 1); break;
  case OPTIMISTIC: em_cell_real(out, g->summary.median_optimistic + 1); break;
  case MEAN_LOG2: em_cell_real(out, g->summary.mean_log2); break;
  case WORST: em_cell_rank(out, g->worst); break;
  default: em_cell_int(out, (int64_t)g->summary.top[column - FIRST_TOP]);
  }
}

static void crumb(em_cursor *base, em_str *out)
{
  em_str_put_safe(out, em_session_source(base->session));
  em_str_put(out, " / ranks");
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  const group *g = &((cursor *)base)->items[row];
  return em_target_set(out, "pools", g->card, NULL, NULL);
}

const em_view em_view_ranks = {
  .name = "ranks",
  .title = "ranks",
  .doc =
    "Where the goldens rank among the candidates of their pools under the prior, counted by card, tier and size of the pool.",
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
  .crumb = crumb,
  .enter = enter,
};
