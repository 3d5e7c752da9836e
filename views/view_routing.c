/*
 * view_routing.c - decisions that split a kernel in several, and what they make: routing, as golden files and stores hold it.
 */
#include "views/views_int.h"

enum { KERNEL, ARM, PIECE, PIECES, CHILD, POOLS, FORMED, SOURCE, IDENTITY, CHILD_IDENTITY };

static const em_view_column columns[] = {
  {"kernel", "kernel", EM_TEXT, "", 26, 0, "kernel that is decided about"},
  {"arm", "decision", EM_TEXT, "", 24, 0, "what was decided, as JSON, for the function knob"},
  {"piece", "piece", EM_INT, "", 5, 0, "place among the kernels that the decision makes, from 1"},
  {"pieces", "of", EM_INT, "kernels", 3, 0, "kernels that it makes"},
  {"child", "becomes", EM_TEXT, "", 34, 0, "one of them"},
  {"pools", "pools", EM_INT, "pools", 5, 0, "open pools of that one, on any card"},
  {"formed", "formed", EM_FLAG, "", 6, 0, "has it a definition of its own? else only the whole can be timed"},
  {"source", "source", EM_TEXT, "", 24, 0, "file that the decision comes from"},
  {"identity", "identity", EM_TEXT, "", 0, 0, "identity of the kernel"},
  {"child_identity", "identity of child", EM_TEXT, "", 0, 0, "identity of the one it becomes, as in kernels and pools"},
};

static size_t rows(em_cursor *base) { return em_session_n_routing(base->session); }

static size_t pools_of(em_session *s, em_digest kernel)
{
  size_t n = 0;
  for (size_t i = 0; i < em_session_n_pools(s); i++) {
    em_pool_info info;
    em_session_pool(s, i, &info);
    n += em_digest_eq(info.identity, kernel);
  }
  return n;
}

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const em_routing_piece *p = em_session_routing(base->session, row);
  switch (column) {
  case KERNEL: em_cell_text(out, p->parent); break;
  case ARM: em_cell_text(out, p->arm); break;
  case PIECE: em_cell_int(out, (int64_t)p->position + 1); break;
  case PIECES: em_cell_int(out, (int64_t)p->n); break;
  case CHILD: em_cell_text(out, p->child); break;
  case POOLS: em_cell_int(out, (int64_t)pools_of(base->session, p->child_identity)); break;
  case FORMED: em_cell_flag(out, p->formed); break;
  case SOURCE: em_cell_text(out, p->source); break;
  case IDENTITY: em_cell_digest(out, p->parent_identity); break;
  default: em_cell_digest(out, p->child_identity);
  }
}

static void foot(em_cursor *base, em_str *out)
{
  size_t decisions = 0, n = rows(base);
  for (size_t i = 0; i < n; i++) decisions += em_session_routing(base->session, i)->position == 0;
  em_str_printf(out, "decisions %zu   kernels made %zu   the price of a decision is the sum of its pieces", decisions,
                n);
}

static void crumb(em_cursor *base, em_str *out)
{
  em_str_put_safe(out, em_session_source(base->session));
  em_str_put(out, " / routing");
}

static bool enter(em_cursor *base, size_t row, em_target *out)
{
  const em_routing_piece *p = em_session_routing(base->session, row);
  return em_target_set(out, "pools", NULL, p->child, NULL);
}

static size_t estimate(em_session *s, const char *const *args)
{
  (void)args;
  return em_session_n_routing(s);
}

const em_view em_view_routing = {
  .name = "routing",
  .title = "routing",
  .doc =
    "Recorded decisions that make several kernels of one: a reduction split across blocks, a placement cut. One row for each kernel that a "
    "decision makes; a decision has no time of its own.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .rows = rows,
  .cell = cell,
  .foot = foot,
  .crumb = crumb,
  .enter = enter,
  .estimate = estimate,
};
