/*
 * view_fork_tree.c - one level of a pool's fork: the choices under a path, and what the prior thinks of each branch.
 */
#include <math.h>
#include <string.h>

#include "views/views_int.h"

enum { LEVEL, CHOICE, LEAVES, BEST_PRICE, BEST_RANK, BEST_US, NOTES, HELD, PATH };

static const em_view_column columns[] = {
  {"level", "level", EM_TEXT, "", 7, 0, "the knob that the choices fix"},
  {"choice", "choice", EM_TEXT, "", 32, 0, "its value; unused is a choice too"},
  {"leaves", "leaves", EM_INT, "candidates", 9, 0, "candidates under the choice"},
  {"best_price", "best price", EM_REAL, "", 10, -1,
   "least price under the choice; missing when a sampled source holds no candidate of it"},
  {"best_rank", "best", EM_INT, "rank", 8, 0, "rank of that candidate"},
  {"best_us", "best us", EM_REAL, "us", 9, 1, "best recorded time under the choice"},
  {"notes", "notes", EM_TEXT, "", 12, 0, "\"pick\", \"golden\", or both, when they lie under the choice"},
  {"held", "held", EM_INT, "candidates", 0, 0,
   "candidates under the choice that the source holds: fewer when it is sampled"},
  {"path", "path", EM_TEXT, "", 0, 0, "the decided knobs with this choice, for the next level"},
};

static const em_param params[] = {
  EM_POOL_PARAM,
  {"path", EM_TEXT, false, "the knobs decided so far, as in the column path: \"WORK=w4x1\"; none = the first level"},
  EM_PRIOR_PARAM,
};

typedef struct branch {
  em_row prefix;
  uint64_t leaves;
  size_t held, best; /* rank of the best candidate; SIZE_MAX = none is held */
  double us;
  bool pick, golden;
} branch;

typedef struct cursor {
  em_cursor base;
  const em_scored *scored;
  em_family level;
  branch *items;
  size_t n, cap;
  bool failed;
} cursor;

static void close_view(em_cursor *base)
{
  cursor *c = (cursor *)base;
  em_session_release(base->session, c->scored);
  em_free(c->items);
}

static bool add_branch(void *ctx, const em_row *child, em_family level, uint64_t leaves)
{
  cursor *c = ctx;
  em_err err;
  c->failed = em_grow(&c->items, &c->cap, c->n + 1, sizeof *c->items, &err) != EM_OK;
  if (c->failed) return false;
  c->level = level;
  c->items[c->n++] = (branch){.prefix = *child, .leaves = leaves, .best = SIZE_MAX, .us = NAN};
  return true;
}

/* Does the row have the value of the prefix in this family? */
static bool agrees(const em_row *prefix, const em_row *row, em_family f)
{
  switch (f) {
  case EM_WORK: return memcmp(&prefix->work, &row->work, sizeof row->work) == 0;
  case EM_TILE: return memcmp(&prefix->tile, &row->tile, sizeof row->tile) == 0;
  case EM_REDUCE: return memcmp(&prefix->reduce, &row->reduce, sizeof row->reduce) == 0;
  case EM_STAGE: return memcmp(&prefix->stage, &row->stage, sizeof row->stage) == 0;
  default: return memcmp(&prefix->raster, &row->raster, sizeof row->raster) == 0;
  }
}

static bool lies_under(const em_row *prefix, const em_row *row)
{
  for (int f = EM_WORK; f <= EM_RASTER; f++)
    if (prefix->present & EM_HAS(f) && !agrees(prefix, row, (em_family)f)) return false;
  return true;
}

/* Candidates come in the order of their ranks, so that the first one of a branch is its best. */
static void count_candidate(cursor *c, branch *b, size_t rank)
{
  size_t row = c->scored->order[rank];
  const em_golden_mark *golden = em_scored_golden(c->scored, row);
  if (b->held++ == 0) b->best = rank;
  b->pick |= rank == 0;
  b->golden |= golden != NULL;
  if (golden && !(b->us <= golden->us)) b->us = golden->us;
}

enum { ROWS_AT_ONCE = 4096 }; /* between two looks at whether to go on */

static int fill(cursor *c, const em_row *path, em_err *err)
{
  size_t last = 0; /* neighbours in rank often share a branch */
  for (size_t rank = 0; rank < c->scored->n; rank++) {
    if (rank % ROWS_AT_ONCE == 0 && em_progress_step(NULL, "fork", rank, c->scored->n, err)) return err->code;
    const em_row *row = &c->scored->rows[c->scored->order[rank]];
    if (!lies_under(path, row)) continue;
    for (size_t k = 0; k < c->n; k++) {
      size_t i = (last + k) % c->n;
      if (!agrees(&c->items[i].prefix, row, c->level)) continue;
      count_candidate(c, &c->items[i], rank);
      last = i;
      break;
    }
  }
  return EM_OK;
}

/* A path decides the first levels of the fork, without a gap. */
static int check_path(const cursor *c, const em_row *path, em_err *err)
{
  uint8_t open = 0; /* levels of the fork that the path leaves open so far */
  for (int f = EM_WORK; f <= EM_RASTER; f++) {
    if (path->present & EM_HAS(f) && open)
      return em_fail(err, EM_E_INPUT, "the path decides %s before %s: the levels of the fork come in their order",
                     em_family_at((em_family)f)->name, em_family_at((em_family)__builtin_ctz(open))->name);
    if (em_space_families(c->scored->space) & ~path->present & EM_HAS(f)) open |= EM_HAS(f);
  }
  return EM_OK;
}

static int expand(cursor *c, const char *text, em_err *err)
{
  em_row path = {0};
  char spelled[EM_ROW_LEN];
  if (!c->scored->space)
    return em_fail(err, EM_E_INPUT, "%s: its kernel has no space here, so its fork cannot be shown",
                   c->scored->info.label);
  if (text && *text && em_row_parse(text, &path, err) != EM_OK) return err->code;
  if (check_path(c, &path, err) != EM_OK) return err->code;
  em_space_children(c->scored->space, &path, add_branch, c);
  if (c->failed) return em_fail_nomem(err);
  if (c->n == 0)
    return em_fail(err, EM_E_INPUT,
                   "nothing is left to decide under %s; the column path of fork_tree gives the paths of %s",
                   em_row_print(&path, spelled), c->scored->info.label);
  return fill(c, &path, err);
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  cursor *c = (cursor *)base;
  int rc = em_pool_open(base->session, args[0], &c->scored, err);
  return rc == EM_OK ? expand(c, args[1], err) : rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const cursor *c = (cursor *)base;
  const branch *b = &c->items[row];
  bool held = b->best != SIZE_MAX;
  switch (column) {
  case LEVEL: em_cell_text(out, em_family_at(c->level)->name); break;
  case CHOICE: em_cell_family(out, &b->prefix, c->level); break;
  case LEAVES: em_cell_int(out, (int64_t)b->leaves); break;
  case BEST_PRICE:
    em_cell_real(
      out, held ? em_prior_price(em_session_prior(base->session), c->scored->quality[c->scored->order[b->best]]) : NAN);
    break;
  case BEST_RANK:
    if (held)
      em_cell_rank(out, b->best);
    else
      em_cell_missing(out);
    break;
  case BEST_US: em_cell_real(out, b->us); break;
  case NOTES: em_cell_text(out, b->pick ? b->golden ? "pick golden" : "pick" : b->golden ? "golden" : NULL); break;
  case HELD: em_cell_int(out, (int64_t)b->held); break;
  default: em_cell_text(out, em_row_print(&b->prefix, out->buf));
  }
}

static em_mark mark(em_cursor *base, size_t row)
{
  const branch *b = &((cursor *)base)->items[row];
  return b->golden ? EM_MARK_GOLDEN : b->pick ? EM_MARK_PICK : EM_MARK_NONE;
}

static void foot(em_cursor *base, em_str *out)
{
  const cursor *c = (cursor *)base;
  uint64_t leaves = 0;
  for (size_t i = 0; i < c->n; i++) leaves += c->items[i].leaves;
  em_put_count(out, c->n, "choice", "choices");
  em_str_printf(out, " of %s, ", em_family_at(c->level)->name);
  em_put_count(out, leaves, "leaf", "leaves");
  em_str_printf(out, "   pick #1   golden #%zu", c->scored->info.rank.against + 1);
}

static void crumb(em_cursor *base, em_str *out) { em_put_crumb(out, ((cursor *)base)->scored, "fork"); }

/* The next level; of the last one the candidate itself, beside the golden. */
static bool enter(em_cursor *base, size_t row, em_target *out)
{
  const cursor *c = (cursor *)base;
  const branch *b = &c->items[row];
  char text[EM_ROW_LEN];
  if (c->level != EM_RASTER)
    return em_target_set(out, "fork_tree", c->scored->info.key, em_row_print(&b->prefix, text), NULL);
  snprintf(text, sizeof text, "%zu", b->best + 1);
  return b->best != SIZE_MAX && em_target_set(out, "features", c->scored->info.key, text, "golden");
}

const em_view em_view_fork_tree = {
  .name = "fork_tree",
  .title = "fork",
  .doc =
    "One level of a pool's fork: the choices of one knob under the knobs decided so far, how many candidates each leaves, "
    "the best price among them, and where pick and golden lie.",
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
