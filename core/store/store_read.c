/* store_read.c - evidence, routing and sources out of the store. */
#include "core/store/store_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- evidence: the list of pools ------------------------------------------------------- */

/* A pool's key as stored: ids, and what the order is made of. */
typedef struct pool_ref {
  int64_t card, kernel;
  em_evidence e; /* without kernel and rows */
  char *bindings;
} pool_ref;

typedef struct pool_list {
  pool_ref *items;
  size_t n, cap;
} pool_list;

static void clear_row(em_evidence_row *r)
{
  em_knobs_free(&r->knobs);
  em_free(r->reference_backend);
  em_free(r->label);
  em_free(r->source);
}

static void clear_evidence(em_evidence *e)
{
  for (size_t i = 0; i < e->n_rows; i++) clear_row(&e->rows[i]);
  em_free(e->rows);
  em_kernel_free(e->kernel);
  em_free(e->kernel_name);
  em_free(e->gpu_name);
  em_bindings_free(e->bindings, e->n_bindings);
}

void em_evidence_free(em_evidence *e)
{
  if (!e) return;
  clear_evidence(e);
  em_free(e);
}

static void free_pools(pool_list *l)
{
  for (size_t i = 0; i < l->n; i++) {
    clear_evidence(&l->items[i].e);
    em_free(l->items[i].bindings);
  }
  em_free(l->items);
}

static int compare_digests(em_digest a, em_digest b)
{
  if (a.hi != b.hi) return a.hi < b.hi ? -1 : 1;
  return (a.lo > b.lo) - (a.lo < b.lo);
}

static int by_pool(const void *x, const void *y)
{
  const pool_ref *a = x, *b = y;
  int c = strcmp(a->e.gpu_name, b->e.gpu_name);
  if (!c) c = (a->e.cc_major * 10 + a->e.cc_minor) - (b->e.cc_major * 10 + b->e.cc_minor);
  if (!c) c = strcmp(a->e.kernel_name, b->e.kernel_name);
  if (!c) c = compare_digests(a->e.identity, b->e.identity);
  if (!c) c = em_regime_compare(a->e.regime, b->e.regime);
  return c ? c : strcmp(a->bindings, b->bindings);
}

/* {"sym":size,...} of a bindings column. */
static int parse_bindings(const em_store *s, const char *text, em_evidence *e, em_err *err)
{
  cJSON *json;
  int rc = em_json_parse(text, strlen(text), s->path, &json, err);
  if (rc) return rc;
  em_place file = {.file = s->path}, at = {.up = &file, .key = "bindings"};
  rc = em_bindings_read(json, &at, &e->bindings, &e->n_bindings, err);
  em_json_free(json);
  return rc;
}

static int read_identity(const em_store *s, const char *text, em_digest *out, em_err *err)
{
  if (em_digest_parse(text, out)) return EM_OK;
  return em_fail(err, EM_E_INPUT, "%s: kernel identity \"%s\": expected 32 hexadecimal digits", s->path, text);
}

static int read_pool_ref(const em_store *s, sqlite3_stmt *st, pool_ref *p, em_err *err)
{
  p->card = sqlite3_column_int64(st, 0);
  p->kernel = sqlite3_column_int64(st, 1);
  p->e.cc_major = sqlite3_column_int(st, 3);
  p->e.cc_minor = sqlite3_column_int(st, 4);
  p->e.formed = sqlite3_column_int(st, 7) != 0;
  p->e.regime = (em_regime){.fast_math = sqlite3_column_int(st, 8) != 0,
                            .cold_cache = sqlite3_column_int(st, 9) != 0,
                            .opt = sqlite3_column_int(st, 10)};
  int rc = read_identity(s, em_sql_text(st, 5), &p->e.identity, err);
  if (!rc && !em_is_level(sqlite3_column_int64(st, 10)))
    rc = em_store_damaged(s, "a measurement is of a regime that there is not", err);
  if (!rc) rc = em_sql_strdup(st, 2, &p->e.gpu_name, err);
  if (!rc) rc = em_sql_strdup(st, 6, &p->e.kernel_name, err);
  if (!rc) rc = em_sql_strdup(st, 11, &p->bindings, err);
  return rc ? rc : parse_bindings(s, p->bindings, &p->e, err);
}

static int list_pools(em_store *s, pool_list *l, em_err *err)
{
  sqlite3_stmt *st;
  bool row = true;
  int rc = em_sql_prepare(
    s,
    "SELECT DISTINCT card, kernel, gpu_name, cc_major, cc_minor, identity, name, formed, fast_math,"
    " cold_cache, opt, bindings FROM perf JOIN card ON card.id = card JOIN kernel ON kernel.id = kernel"
    " WHERE status <> 'proposal'",
    &st, err);
  while (!rc && !(rc = em_sql_step(s, st, &row, err)) && row) {
    rc = em_grow(&l->items, &l->cap, l->n + 1, sizeof *l->items, err);
    if (rc) break;
    l->items[l->n] = (pool_ref){0};
    rc = read_pool_ref(s, st, &l->items[l->n++], err);
  }
  sqlite3_finalize(st);
  if (!rc && l->n) qsort(l->items, l->n, sizeof *l->items, by_pool);
  return rc;
}

/* ---- evidence: one pool ---------------------------------------------------------------------- */

static int load_kernel(em_store *s, const pool_ref *p, em_evidence *e, em_err *err)
{
  sqlite3_stmt *st;
  bool row;
  int rc = em_sql_get(s, EM_SQL_GET_KERNEL, &st, err);
  if (rc) return rc;
  sqlite3_bind_int64(st, 1, p->kernel);
  rc = em_sql_step(s, st, &row, err);
  if (!rc) {
    const char *text = row ? em_sql_text(st, 0) : "";
    rc = em_kernel_parse_text(text, strlen(text), e->kernel_name, s->path, &e->kernel, err);
  }
  sqlite3_reset(st);
  return rc;
}

static int read_evidence_row(const em_store *s, sqlite3_stmt *st, em_evidence_row *r, em_err *err)
{
  cJSON *json;
  const char *text = em_sql_text(st, 0);
  em_place file = {.file = s->path}, at = {.up = &file, .key = "knobs"};
  int rc = em_json_parse(text, strlen(text), s->path, &json, err);
  if (rc) return rc;
  rc = em_knobs_from_json(json, &at, &r->knobs, err);
  em_json_free(json);
  em_perf_status status = EM_PERF_FAILED;
  r->ok = em_perf_status_find(em_sql_text(st, 1), &status) && status == EM_PERF_OK;
  r->us = em_sql_double(st, 2);
  r->reference_us = em_sql_double(st, 3);
  r->golden = sqlite3_column_int(st, 7) != 0;
  if (!rc && !em_perf_has_times(status, r->us, r->reference_us))
    rc = em_store_damaged(s, "a measurement's time is none", err);
  if (!rc) rc = em_sql_strdup(st, 4, &r->reference_backend, err);
  if (!rc) rc = em_sql_strdup(st, 5, &r->label, err);
  return rc ? rc : em_sql_strdup(st, 6, &r->source, err);
}

/* Measured rows by time, then failures; equal ones by content. */
static int by_time(const void *x, const void *y)
{
  const em_evidence_row *a = x, *b = y;
  if (a->ok != b->ok) return a->ok ? -1 : 1;
  if (a->ok && a->us != b->us) return a->us < b->us ? -1 : 1;
  return em_knobs_compare(&a->knobs, &b->knobs);
}

static int load_rows(em_store *s, const pool_ref *p, em_evidence *e, em_err *err)
{
  sqlite3_stmt *st;
  bool row = true;
  size_t cap = 0;
  int rc = em_sql_get(s, EM_SQL_LIST_POOL, &st, err);
  if (rc) return rc;
  const int64_t key[] = {p->card, p->kernel, 0, e->regime.fast_math, e->regime.cold_cache, e->regime.opt};
  for (int i = 0; i < 6; i++)
    if (i != 2) sqlite3_bind_int64(st, i + 1, key[i]);
  if (sqlite3_bind_text(st, 3, p->bindings, -1, SQLITE_STATIC) != SQLITE_OK) rc = em_sql_fail(s, "read", err);
  while (!rc && !(rc = em_sql_step(s, st, &row, err)) && row) {
    rc = em_grow(&e->rows, &cap, e->n_rows + 1, sizeof *e->rows, err);
    if (rc) break;
    e->rows[e->n_rows] = (em_evidence_row){0};
    rc = read_evidence_row(s, st, &e->rows[e->n_rows++], err);
  }
  sqlite3_reset(st);
  sqlite3_clear_bindings(st);
  if (!rc && e->n_rows) qsort(e->rows, e->n_rows, sizeof *e->rows, by_time);
  return rc;
}

/* Moves the head out of the list and fills the rest. */
static int load_evidence(em_store *s, pool_ref *p, em_evidence **out, em_err *err)
{
  em_evidence *e = em_alloc(sizeof *e);
  if (!e) return em_fail_nomem(err);
  *e = p->e;
  p->e = (em_evidence){0};
  int rc = load_kernel(s, p, e, err);
  if (!rc) rc = load_rows(s, p, e, err);
  if (rc)
    em_evidence_free(e);
  else
    *out = e;
  return rc;
}

int em_store_each_evidence(em_store *s, int (*fn)(void *ctx, em_evidence *e, em_err *err), void *ctx, em_err *err)
{
  pool_list l = {0};
  int rc = list_pools(s, &l, err);
  for (size_t i = 0; i < l.n && !rc; i++) {
    em_evidence *e = NULL;
    rc = load_evidence(s, &l.items[i], &e, err);
    if (!rc) rc = fn(ctx, e, err);
  }
  free_pools(&l);
  return rc;
}

static int import_goldens(em_store *s, const em_golden *const *goldens, size_t n, em_err *err)
{
  em_import counts = {0};
  int rc = em_store_begin(s, err);
  for (size_t i = 0; i < n && !rc; i++) {
    char number[24]; /* stands for the digest: the same file may be given twice */
    snprintf(number, sizeof number, "%zu", i);
    rc = em_import_golden(s, goldens[i], goldens[i]->path ? em_base_name(goldens[i]->path) : "golden", number, NULL,
                          &counts, err);
  }
  em_import_free(&counts);
  return rc ? rc : em_store_commit(s, err);
}

int em_store_of_goldens(const em_golden *const *goldens, size_t n, em_store **out, em_err *err)
{
  em_store *s;
  int rc = em_store_open_memory(&s, err);
  if (rc) return rc;
  rc = import_goldens(s, goldens, n, err);
  if (rc)
    em_store_close(s);
  else
    *out = s;
  return rc;
}

/* ---- routing ------------------------------------------------------------------------------------ */

static const char list_pieces[] =
  "SELECT parent.name, child.name, parent.identity, child.identity, arm, position, child.formed, source.name,"
  " (SELECT count(*) FROM routing_child AS other WHERE other.routing = routing.id) FROM routing"
  " JOIN routing_child ON routing_child.routing = routing.id JOIN kernel AS parent ON parent.id = routing.parent"
  " JOIN kernel AS child ON child.id = routing_child.child JOIN source ON source.id = routing.source"
  " ORDER BY parent.name, parent.identity, arm, position";

static int read_piece(const em_store *s, sqlite3_stmt *st, em_routing_piece *p, em_err *err)
{
  *p = (em_routing_piece){.parent = em_sql_text(st, 0),
                          .child = em_sql_text(st, 1),
                          .arm = em_sql_text(st, 4),
                          .position = (size_t)sqlite3_column_int64(st, 5),
                          .n = (size_t)sqlite3_column_int64(st, 8),
                          .formed = sqlite3_column_int(st, 6) != 0,
                          .source = em_sql_text(st, 7)};
  int rc = read_identity(s, em_sql_text(st, 2), &p->parent_identity, err);
  return rc ? rc : read_identity(s, em_sql_text(st, 3), &p->child_identity, err);
}

int em_store_each_routing(em_store *s, int (*fn)(void *ctx, const em_routing_piece *p, em_err *err), void *ctx,
                          em_err *err)
{
  sqlite3_stmt *st;
  em_routing_piece p;
  bool row = true;
  int rc = em_sql_prepare(s, list_pieces, &st, err);
  while (!rc && !(rc = em_sql_step(s, st, &row, err)) && row) {
    rc = read_piece(s, st, &p, err);
    if (!rc) rc = fn(ctx, &p, err);
  }
  sqlite3_finalize(st);
  return rc;
}

/* ---- sources ------------------------------------------------------------------------------------ */

int em_store_each_source(em_store *s, int (*fn)(void *ctx, const char *name, const char *digest, size_t rows),
                         void *ctx, em_err *err)
{
  sqlite3_stmt *st;
  bool row = true;
  int rc = em_sql_prepare(s,
                          "SELECT name, digest, (SELECT count(*) FROM perf WHERE perf.source = source.id) FROM source"
                          " ORDER BY name, digest",
                          &st, err);
  while (!rc && !(rc = em_sql_step(s, st, &row, err)) && row)
    rc = fn(ctx, em_sql_text(st, 0), em_sql_text(st, 1), (size_t)sqlite3_column_int64(st, 2));
  sqlite3_finalize(st);
  return rc;
}
