/*
 * view_kernels.c - the kernels of the sources, each with what its pools say.
 */
#include <string.h>

#include "views/views_int.h"

enum { KERNEL, KIND, SHAPE, POOLS, CARDS, RANKED, TOP1, WORST, IDENTITY };

static const em_view_column columns[] = {
  {"kernel", "kernel", EM_TEXT, "", 26, 0, "C name of the kernel"},
  {"kind", "kind", EM_TEXT, "", 11, 0, "pointwise, reduce or contraction"},
  {"shape", "shape", EM_TEXT, "", 34, 0, "extents and dtypes; the fold key of cross-validation"},
  {"pools", "pools", EM_INT, "pools", 5, 0, "pools of this kernel"},
  {"cards", "cards", EM_INT, "cards", 5, 0, "different cards among them"},
  {"ranked", "ranked", EM_INT, "pools", 6, 0, "pools whose golden was ranked"},
  {"top1", "top-1", EM_INT, "pools", 5, 0, "pools whose golden is the cold pick"},
  {"worst_rank", "worst", EM_INT, "rank", 7, 0, "worst golden rank, ties against"},
  {"identity", "identity", EM_TEXT, "", 0, 0, "digest of its normalised definition"},
};

/* A kernel is known by name and shape: golden files of different cards repeat it. */
typedef struct kernel {
  size_t first;
} kernel;

typedef struct cursor {
  em_cursor base;
  kernel *kernels;
  size_t n;
} cursor;

static bool is_same_kernel(const em_pool_info *a, const em_pool_info *b)
{
  return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->shape, b->shape) == 0;
}

static bool is_known(em_session *s, const cursor *c, const em_pool_info *i)
{
  for (size_t k = 0; k < c->n; k++) {
    em_pool_info other;
    em_session_pool(s, c->kernels[k].first, &other);
    if (is_same_kernel(i, &other)) return true;
  }
  return false;
}

static void close_view(em_cursor *base) { em_free(((cursor *)base)->kernels); }

static const em_param params[] = {EM_PRIOR_PARAM};

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  (void)args;
  cursor *c = (cursor *)base;
  em_session *s = base->session;
  size_t n = em_session_n_pools(s);
  c->kernels = em_calloc(n + 1, sizeof *c->kernels);
  if (!c->kernels) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    em_pool_info info;
    em_session_pool(s, i, &info);
    if (!is_known(s, c, &info)) c->kernels[c->n++].first = i;
  }
  return EM_OK;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

typedef struct totals {
  size_t pools, cards, ranked, top1, worst;
} totals;

/* Pools of one kernel; cards are counted by their first pool of it. */
static totals sum_up(em_cursor *base, const em_pool_info *of)
{
  totals t = {0};
  const char *seen[64];
  for (size_t i = 0; i < em_session_n_pools(base->session); i++) {
    em_pool_info info;
    em_session_pool(base->session, i, &info);
    if (!is_same_kernel(&info, of)) continue;
    t.pools++;
    size_t k = 0;
    while (k < t.cards && strcmp(seen[k], info.gpu) != 0) k++;
    if (k == t.cards && k < COUNT(seen)) seen[t.cards++] = info.gpu;
    if (info.state != EM_POOL_READY) continue;
    t.ranked++;
    t.top1 += info.rank.against == 0;
    if (info.rank.against > t.worst) t.worst = info.rank.against;
  }
  return t;
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  em_pool_info i;
  em_session_pool(base->session, ((cursor *)base)->kernels[row].first, &i);
  totals t = {0};
  if (column >= POOLS && column <= WORST) t = sum_up(base, &i);
  switch (column) {
  case KERNEL: em_cell_text(out, i.kernel); break;
  case KIND: em_cell_text(out, em_kind_name(i.kind)); break;
  case SHAPE: em_cell_text(out, i.shape); break;
  case POOLS: em_cell_int(out, (int64_t)t.pools); break;
  case CARDS: em_cell_int(out, (int64_t)t.cards); break;
  case RANKED: em_cell_int(out, (int64_t)t.ranked); break;
  case TOP1: em_cell_int(out, (int64_t)t.top1); break;
  case IDENTITY: em_cell_digest(out, i.identity); break;
  default:
    if (t.ranked)
      em_cell_rank(out, t.worst);
    else
      em_cell_missing(out);
  }
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  em_pool_info i;
  em_session_pool(base->session, ((cursor *)base)->kernels[row].first, &i);
  em_str_put_safe(out, i.kernel);
  em_str_printf(out, ", %s %s; Enter lists its pools", em_kind_name(i.kind), i.shape);
}

static void crumb(em_cursor *base, em_str *out)
{
  em_str_put_safe(out, em_session_source(base->session));
  em_str_put(out, " / kernels");
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  em_pool_info i;
  em_session_pool(base->session, ((cursor *)base)->kernels[row].first, &i);
  return em_target_set(out, "pools", NULL, i.kernel, NULL);
}

const em_view em_view_kernels = {
  .name = "kernels",
  .title = "kernels",
  .doc = "The kernels of the sources and how the prior does on their pools.",
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
  .sentence = sentence,
  .crumb = crumb,
  .enter = enter,
};
