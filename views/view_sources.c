/*
 * view_sources.c - the files that recorded rows come from.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "views/views_int.h"

enum { SOURCE, ROWS, GOLDENS, FAILED, POOLS, CARDS, FASTER };

static const em_view_column columns[] = {
  {"source", "source", EM_TEXT, "", 32, 0, "name of the golden file, as the rows remember it"},
  {"rows", "rows", EM_INT, "rows", 7, 0, "recorded rows of the open pools that come from it"},
  {"goldens", "goldens", EM_INT, "rows", 7, 0, "of these, goldens"},
  {"failed", "failed", EM_INT, "rows", 6, 0, "of these, rows that were tried and did not work"},
  {"pools", "pools", EM_INT, "pools", 6, 0, "pools that it has rows of"},
  {"cards", "cards", EM_INT, "cards", 5, 0, "different cards among them"},
  {"faster", "faster", EM_INT, "rows", 7, 0,
   "rows that are faster than the reference beside them; missing when none has one"},
};

typedef struct source {
  const char *name, *gpu;
  size_t last_pool, rows, goldens, failed, pools, cards, referenced, faster;
} source;

typedef struct cursor {
  em_cursor base;
  source *items;
  size_t n, cap;
} cursor;

static void close_view(em_cursor *base) { em_free(((cursor *)base)->items); }

static source *find(cursor *c, const char *name, em_err *err)
{
  for (size_t i = 0; i < c->n; i++)
    if (strcmp(c->items[i].name, name) == 0) return &c->items[i];
  if (em_grow(&c->items, &c->cap, c->n + 1, sizeof *c->items, err) != EM_OK) return NULL;
  c->items[c->n] = (source){.name = name, .last_pool = SIZE_MAX};
  return &c->items[c->n++];
}

/* Pools come in the order of their cards. */
static int count(cursor *c, const char *name, size_t pool, const char *gpu, const em_evidence_row *row, em_err *err)
{
  source *s = find(c, name ? name : "", err);
  if (!s) return err->code;
  s->rows++;
  s->goldens += !row || row->golden;
  s->failed += row && !row->ok;
  s->referenced += row && row->ok && !isnan(row->reference_us);
  s->faster += row && row->ok && row->us < row->reference_us;
  if (s->last_pool != pool) s->pools++;
  if (!s->gpu || strcmp(s->gpu, gpu) != 0) s->cards++;
  s->last_pool = pool;
  s->gpu = gpu;
  return EM_OK;
}

static int count_pool(cursor *c, size_t pool, em_err *err)
{
  const em_evidence *evidence;
  const em_group *group;
  em_pool_info info;
  int rc = EM_OK;
  em_session_recorded(c->base.session, pool, &evidence, &group);
  em_session_pool(c->base.session, pool, &info);
  for (size_t i = 0; evidence && i < evidence->n_rows && rc == EM_OK; i++)
    rc = count(c, evidence->rows[i].source, pool, info.gpu, &evidence->rows[i], err);
  for (size_t p = 0; group && p < group->n_pools; p++)
    for (size_t i = 0; i < group->pools[p].n_rows && rc == EM_OK; i++)
      rc = count(c, group->pools[p].rows[i].source, pool, info.gpu, NULL, err);
  return rc;
}

static int by_name(const void *a, const void *b)
{
  return strcmp(((const source *)a)->name, ((const source *)b)->name);
}

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  (void)args;
  cursor *c = (cursor *)base;
  em_session *s = base->session;
  int rc = EM_OK;
  for (size_t i = 0; i < em_session_n_pools(s) && rc == EM_OK; i++) rc = count_pool(c, i, err);
  if (rc == EM_OK && c->n) qsort(c->items, c->n, sizeof *c->items, by_name);
  return rc;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const source *s = &((cursor *)base)->items[row];
  switch (column) {
  case SOURCE: em_cell_text_or_unused(out, s->name); break;
  case ROWS: em_cell_int(out, (int64_t)s->rows); break;
  case GOLDENS: em_cell_int(out, (int64_t)s->goldens); break;
  case FAILED: em_cell_int(out, (int64_t)s->failed); break;
  case POOLS: em_cell_int(out, (int64_t)s->pools); break;
  case CARDS: em_cell_int(out, (int64_t)s->cards); break;
  default:
    if (s->referenced)
      em_cell_int(out, (int64_t)s->faster);
    else
      em_cell_missing(out);
  }
}

static void crumb(em_cursor *base, em_str *out)
{
  em_str_put_safe(out, em_session_source(base->session));
  em_str_put(out, " / sources");
}

const em_view em_view_sources = {
  .name = "sources",
  .title = "sources",
  .doc = "The files that the recorded rows of the pools come from, and how many each gave.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .crumb = crumb,
};
