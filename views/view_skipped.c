/*
 * view_skipped.c - what could not be used, and why: nothing is dropped silently.
 */
#include <string.h>

#include "views/views_int.h"

enum { CARD, NAME, REASON };

static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 26, 0, "card as recorded"},
  {"name", "name", EM_TEXT, "", 30, 0, "kernel, pool or golden row"},
  {"reason", "reason", EM_TEXT, "", 60, 0, "why it is not used"},
};

/* Borrowed texts; all outlive the cursor. */
typedef struct item {
  const char *card, *name, *reason;
} item;

typedef struct cursor {
  em_cursor base;
  item *items;
  size_t n, cap;
  bool failed;
} cursor;

static void add(cursor *c, const char *card, const char *name, const char *reason)
{
  em_err err;
  c->failed = c->failed || em_grow(&c->items, &c->cap, c->n + 1, sizeof *c->items, &err) != EM_OK;
  if (!c->failed) c->items[c->n++] = (item){card, name, reason};
}

static void add_skip(void *ctx, const em_skip *skip) { add(ctx, skip->gpu, skip->name, skip->reason); }

static void close_view(em_cursor *base) { em_free(((cursor *)base)->items); }

static int open_view(em_cursor *base, const char *const *args, em_err *err)
{
  (void)args;
  cursor *c = (cursor *)base;
  em_session *s = base->session;
  em_session_skips(s, add_skip, c);
  for (size_t i = 0; i < em_session_n_pools(s); i++) {
    em_pool_info info;
    em_session_pool(s, i, &info);
    if (info.state == EM_POOL_FAILED)
      add(c, info.gpu, info.label, info.note);
    else if (*info.outside)
      add(c, info.gpu, info.label, info.outside);
  }
  return c->failed ? em_fail_nomem(err) : EM_OK;
}

static size_t rows(em_cursor *base) { return ((cursor *)base)->n; }

static void cell(em_cursor *base, size_t row, size_t column, em_cell *out)
{
  const item *i = &((cursor *)base)->items[row];
  em_cell_text(out, column == CARD ? i->card : column == NAME ? i->name : i->reason);
}

static void sentence(em_cursor *base, size_t row, em_str *out)
{
  em_str_put_safe(out, ((cursor *)base)->items[row].reason);
}

static void crumb(em_cursor *base, em_str *out)
{
  em_str_put_safe(out, em_session_source(base->session));
  em_str_put(out, " / skipped");
}

const em_view em_view_skipped = {
  .name = "skipped",
  .live = true,
  .title = "skipped",
  .doc = "What the sources held that could not be used, each with its reason.",
  .columns = columns,
  .n_columns = COUNT(columns),
  .size = sizeof(cursor),
  .open = open_view,
  .close = close_view,
  .rows = rows,
  .cell = cell,
  .sentence = sentence,
  .crumb = crumb,
};
