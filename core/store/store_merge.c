/* store_merge.c - one store into another.
 *
 * The other store is only as trustworthy as any file: kernels are parsed and their
 * identities recomputed, knobs read as strictly as from a golden file. */
#include "core/store/store_int.h"

#include <stdlib.h>
#include <string.h>

/* The whole content of a store without its row ids; each in an order of its own text. */
static const char list_sources[] = "SELECT digest, name FROM source ORDER BY digest";
static const char list_kernels[] = "SELECT identity, name, formed, loop_ir FROM kernel ORDER BY identity";
static const char list_routing[] =
  "SELECT parent.identity, arm, position, child.identity, source.digest, source.name FROM routing"
  " JOIN kernel AS parent ON parent.id = routing.parent JOIN source ON source.id = routing.source"
  " JOIN routing_child ON routing_child.routing = routing.id JOIN kernel AS child ON child.id = routing_child.child"
  " ORDER BY parent.identity, arm, position";
const char em_store_list_perf[] =
  "SELECT gpu_name, cc_major, cc_minor, identity, bindings, fast_math, cold_cache, opt, knobs, status, us, reference_us,"
  " reference_backend, tried, error, label, pins, golden, source.digest, source.name FROM perf"
  " JOIN card ON card.id = perf.card JOIN kernel ON kernel.id = perf.kernel"
  " JOIN schedule ON schedule.id = perf.schedule JOIN source ON source.id = perf.source"
  " ORDER BY gpu_name, cc_major, cc_minor, identity, bindings, fast_math, cold_cache, opt, knobs";

/* ---- digest ---------------------------------------------------------------------------- */

static void hash_column(em_hasher *h, sqlite3_stmt *st, int column)
{
  int type = sqlite3_column_type(st, column);
  char tag = (char)type;
  em_hasher_add(h, &tag, 1);
  if (type == SQLITE_FLOAT) {
    double x = sqlite3_column_double(st, column);
    em_hasher_add(h, &x, sizeof x);
  } else {
    em_hasher_add_str(h, em_sql_text(st, column));
  }
}

static int hash_query(em_store *s, const char *sql, em_hasher *h, em_err *err)
{
  sqlite3_stmt *st;
  bool row = true;
  int rc = em_sql_prepare(s, sql, &st, err);
  if (rc) return rc;
  while (!(rc = em_sql_step(s, st, &row, err)) && row)
    for (int c = 0; c < sqlite3_column_count(st); c++) hash_column(h, st, c);
  sqlite3_finalize(st);
  return rc;
}

int em_store_content_digest(em_store *other, char hex[33], em_err *err)
{
  static const char *const queries[] = {list_sources, list_kernels, list_routing, em_store_list_perf};
  em_hasher *h = em_hasher_new();
  if (!h) return em_fail_nomem(err);
  int rc = EM_OK;
  for (size_t i = 0; i < sizeof queries / sizeof *queries && !rc; i++) rc = hash_query(other, queries[i], h, err);
  em_digest_hex(em_hasher_end(h), hex);
  return rc;
}

/* ---- copying ----------------------------------------------------------------------------- */

typedef struct known_kernel {
  em_digest identity;
  int64_t id;
} known_kernel;

typedef struct merge {
  em_store *to, *from;
  const char *name;
  known_kernel *kernels; /* of `from`, by identity, with their ids in `to` */
  size_t n_kernels, cap_kernels;
  em_import *out;
} merge;

static int copy_sources(merge *m, sqlite3_stmt *st, em_err *err)
{
  int64_t id;
  return em_put_source(m->to, em_sql_text(st, 0), em_sql_text(st, 1), &id, err);
}

static int copy_kernel(merge *m, sqlite3_stmt *st, em_err *err)
{
  const char *name = em_sql_text(st, 1), *text = em_sql_text(st, 3);
  em_kernel *k;
  known_kernel known = {0};
  int rc = em_kernel_parse_text(text, strlen(text), name, m->from->path, &k, err);
  if (rc) return rc;
  known.identity = em_kernel_identity(k);
  em_digest stored;
  if (!em_digest_parse(em_sql_text(st, 0), &stored) || !em_digest_eq(stored, known.identity))
    rc = em_store_damaged(m->from, "a kernel's identity is not that of its definition", err);
  if (!rc) rc = em_put_kernel(m->to, k, name, sqlite3_column_int(st, 2) != 0, &known.id, err);
  em_kernel_free(k);
  if (!rc) rc = em_grow(&m->kernels, &m->cap_kernels, m->n_kernels + 1, sizeof *m->kernels, err);
  if (rc) return rc;
  m->kernels[m->n_kernels++] = known; /* arrives sorted: hexadecimal text sorts as its number */
  m->out->kernels++;
  return EM_OK;
}

static int by_identity(const void *key, const void *item)
{
  const em_digest *a = key, *b = &((const known_kernel *)item)->identity;
  if (a->hi != b->hi) return a->hi < b->hi ? -1 : 1;
  return (a->lo > b->lo) - (a->lo < b->lo);
}

static int find_kernel(const merge *m, sqlite3_stmt *st, int column, int64_t *id, em_err *err)
{
  em_digest identity;
  const known_kernel *k = NULL;
  if (em_digest_parse(em_sql_text(st, column), &identity) && m->n_kernels)
    k = bsearch(&identity, m->kernels, m->n_kernels, sizeof *m->kernels, by_identity);
  if (!k) return em_store_damaged(m->from, "a row names a kernel that is not there", err);
  *id = k->id;
  return EM_OK;
}

/* A column with a JSON object of knobs. */
static int read_knobs(const merge *m, sqlite3_stmt *st, int column, em_knobs *out, em_err *err)
{
  cJSON *json;
  const char *text = em_sql_text(st, column);
  em_place file = {.file = m->from->path}, at = {.up = &file, .key = "knobs"};
  *out = (em_knobs){0};
  int rc = em_json_parse(text, strlen(text), m->from->path, &json, err);
  if (rc) return rc;
  rc = cJSON_IsObject(json) ? em_knobs_from_json(json, &at, out, err)
                            : em_store_damaged(m->from, "knobs are not an object", err);
  em_json_free(json);
  return rc;
}

/* Parses a column of JSON; `key` says whose. */
static int parse_column(const em_store *from, const char *text, em_place *at, cJSON **out, em_err *err)
{
  int rc = em_json_parse(text, strlen(text), from->path, out, err);
  return rc ? em_err_prefix(err, "a measurement's %s", at->key) : EM_OK;
}

/* Sizes as we print them: another spelling would be another pool. */
static int check_bindings(const em_store *from, const char *text, em_err *err)
{
  cJSON *json;
  em_binding *sizes = NULL;
  size_t n = 0;
  em_str again = {0};
  em_place file = {.file = from->path}, at = {.up = &file, .key = "bindings"};
  int rc = parse_column(from, text, &at, &json, err);
  if (rc) return rc;
  rc = em_bindings_read(json, &at, &sizes, &n, err);
  em_json_free(json);
  if (!rc) em_bindings_print(sizes, n, &again);
  if (!rc) rc = em_str_finish(&again, err);
  if (!rc && strcmp(again.s, text)) rc = em_fail_at(err, &at, "found %s, expected the spelling %s", text, again.s);
  em_bindings_free(sizes, n);
  em_str_free(&again);
  return rc;
}

static int check_pins(const em_store *from, const char *text, em_err *err)
{
  cJSON *json;
  em_str row = {0};
  em_regime regime;
  char *again = NULL;
  em_place file = {.file = from->path}, at = {.up = &file, .key = "pins"};
  if (!text) return EM_OK;
  em_str_printf(&row, "{\"pins\":%s}", text);
  int rc = em_str_finish(&row, err);
  if (!rc) rc = parse_column(from, row.s, &at, &json, err);
  em_str_free(&row);
  if (rc) return rc;
  rc = em_pins_read(json, &file, &again, &regime, err);
  em_json_free(json);
  em_free(again);
  return rc;
}

static bool is_flag(sqlite3_stmt *st, int column)
{
  int64_t v = sqlite3_column_int64(st, column);
  return v == 0 || v == 1;
}

int em_perf_read(const em_store *from, sqlite3_stmt *st, em_perf *p, em_err *err)
{
  int64_t opt = sqlite3_column_int64(st, 7);
  *p = (em_perf){
    .bindings = em_sql_text(st, 4),
    .regime = {.fast_math = sqlite3_column_int(st, 5) != 0,
               .cold_cache = sqlite3_column_int(st, 6) != 0,
               .opt = (int)opt},
    .us = em_sql_double(st, 10),
    .reference_us = em_sql_double(st, 11),
    .reference_backend = (const char *)sqlite3_column_text(st, 12),
    .tried = sqlite3_column_type(st, 13) == SQLITE_NULL ? -1 : sqlite3_column_int64(st, 13),
    .error = (const char *)sqlite3_column_text(st, 14),
    .label = (const char *)sqlite3_column_text(st, 15),
    .pins = (const char *)sqlite3_column_text(st, 16),
    .golden = sqlite3_column_int(st, 17) != 0,
    .source_name = em_sql_text(st, 19),
    .source_digest = em_sql_text(st, 18),
  };
  if (!em_perf_status_find(em_sql_text(st, 9), &p->status))
    return em_store_damaged(from, "a measurement has an unknown status", err);
  if (!em_perf_has_times(p->status, p->us, p->reference_us))
    return em_store_damaged(from, "a measurement's time is none", err);
  if (!is_flag(st, 5) || !is_flag(st, 6) || !is_flag(st, 17) || !em_is_level(opt))
    return em_store_damaged(from, "a measurement is of a regime that there is not", err);
  int rc = check_bindings(from, p->bindings, err);
  return rc ? rc : check_pins(from, p->pins, err);
}

static int read_perf(merge *m, sqlite3_stmt *st, em_perf *p, em_knobs *knobs, em_err *err)
{
  em_place file = {.file = m->from->path}, at = {.up = &file, .key = "knobs"};
  int rc = em_perf_read(m->from, st, p, err);
  if (!rc) rc = em_put_source(m->to, em_sql_text(st, 18), em_sql_text(st, 19), &p->source, err);
  if (!rc)
    rc = em_put_card(m->to, em_sql_text(st, 0), sqlite3_column_int(st, 1), sqlite3_column_int(st, 2), &p->card, err);
  if (!rc) rc = find_kernel(m, st, 3, &p->kernel, err);
  if (!rc) rc = em_row_knobs_check(knobs, &at, err);
  return rc ? rc : em_put_schedule(m->to, knobs, &p->schedule, err);
}

static int copy_perf(merge *m, sqlite3_stmt *st, em_err *err)
{
  em_perf p;
  em_knobs knobs;
  em_put_outcome outcome;
  int rc = read_knobs(m, st, 8, &knobs, err);
  if (rc) return rc;
  rc = read_perf(m, st, &p, &knobs, err);
  if (!rc) rc = em_put_perf(m->to, &p, &outcome, err);
  em_knobs_free(&knobs);
  if (rc) return rc;
  m->out->measured += p.status == EM_PERF_OK;
  m->out->proposals += p.status == EM_PERF_PROPOSAL;
  m->out->replaced += outcome == EM_PUT_REPLACED;
  m->out->kept += outcome == EM_PUT_KEPT;
  return EM_OK;
}

static int run_query(merge *m, const char *sql, int (*copy)(merge *m, sqlite3_stmt *st, em_err *err),
                     const em_progress *p, em_err *err)
{
  sqlite3_stmt *st;
  bool row = true;
  size_t done = 0;
  int rc = em_sql_prepare(m->from, sql, &st, err);
  while (!rc && !(rc = em_sql_step(m->from, st, &row, err)) && row) {
    rc = copy(m, st, err);
    if (!rc && done++ % 256 == 0) rc = em_progress_step(p, m->name, done, 0, err);
  }
  sqlite3_finalize(st);
  return rc;
}

/* ---- routing: one decision is several rows, one a child ----------------------------------------- */

typedef struct decision {
  int64_t parent, source;
  em_knobs arm;
  char *arm_text;
  int64_t *children;
  size_t n, cap;
} decision;

static void decision_clear(decision *d)
{
  em_knobs_free(&d->arm);
  em_free(d->arm_text);
  em_free(d->children);
  *d = (decision){0};
}

static int decision_put(merge *m, decision *d, em_err *err)
{
  int rc = EM_OK;
  if (d->n) {
    rc = em_put_routing(m->to, d->parent, &d->arm, d->children, d->n, d->source, err);
    m->out->routing += !rc;
  }
  decision_clear(d);
  return rc;
}

static int decision_begin(merge *m, decision *d, sqlite3_stmt *st, int64_t parent, em_err *err)
{
  em_place file = {.file = m->from->path}, at = {.up = &file, .key = "arm"};
  d->parent = parent;
  int rc = em_sql_strdup(st, 1, &d->arm_text, err);
  if (!rc) rc = em_put_source(m->to, em_sql_text(st, 4), em_sql_text(st, 5), &d->source, err);
  if (!rc) rc = read_knobs(m, st, 1, &d->arm, err);
  return rc ? rc : em_arm_check(&d->arm, &at, err);
}

static int decision_row(merge *m, decision *d, sqlite3_stmt *st, em_err *err)
{
  int64_t parent = 0, child = 0;
  int rc = find_kernel(m, st, 0, &parent, err);
  if (!rc) rc = find_kernel(m, st, 3, &child, err);
  if (!rc && (!d->n || d->parent != parent || strcmp(d->arm_text, em_sql_text(st, 1)))) {
    rc = decision_put(m, d, err);
    if (!rc) rc = decision_begin(m, d, st, parent, err);
  }
  if (!rc) rc = em_grow(&d->children, &d->cap, d->n + 1, sizeof *d->children, err);
  if (!rc) d->children[d->n++] = child;
  return rc;
}

static int copy_routing(merge *m, em_err *err)
{
  sqlite3_stmt *st;
  decision d = {0};
  bool row = true;
  int rc = em_sql_prepare(m->from, list_routing, &st, err);
  while (!rc && !(rc = em_sql_step(m->from, st, &row, err)) && row) rc = decision_row(m, &d, st, err);
  sqlite3_finalize(st);
  if (!rc) rc = decision_put(m, &d, err);
  decision_clear(&d);
  return rc;
}

int em_import_store(em_store *s, em_store *other, const em_progress *p, em_import *out, em_err *err)
{
  merge m = {.to = s, .from = other, .name = out->source, .out = out};
  int64_t self;
  int rc = em_put_source(s, out->digest, out->source, &self, err);
  if (!rc) rc = run_query(&m, list_sources, copy_sources, NULL, err);
  if (!rc) rc = run_query(&m, list_kernels, copy_kernel, p, err);
  if (!rc) rc = copy_routing(&m, err);
  if (!rc) rc = run_query(&m, em_store_list_perf, copy_perf, p, err);
  em_free(m.kernels);
  return rc;
}
