/* store_put.c - one fact at a time into the store.
 *
 * Each function finds or makes a row and gives its id.  Which of two measurements of the same
 * key stays is decided by their content, so the order of imports does not matter; of two decisions of the
 * same kernel and arm the later one stays, as golden files have it. */
#include "core/store/store_int.h"

#include <math.h>
#include <string.h>

/* ---- binding ----------------------------------------------------------------------- */

/* Binds in order; the first failure is remembered. */
typedef struct binder {
  sqlite3_stmt *st;
  int next, failed;
} binder;

static void bind_text(binder *b, const char *text)
{
  b->next++;
  if (text) b->failed |= sqlite3_bind_text(b->st, b->next, text, -1, SQLITE_TRANSIENT);
}

static void bind_i64(binder *b, int64_t v) { b->failed |= sqlite3_bind_int64(b->st, ++b->next, v); }

static void bind_f64(binder *b, double v)
{
  b->next++;
  if (!isnan(v)) b->failed |= sqlite3_bind_double(b->st, b->next, v);
}

/* Runs the bound statement; *id is its first column, when it gives a row and id is wanted. */
static int run(em_store *s, binder *b, bool *row, int64_t *id, em_err *err)
{
  if (b->failed) return em_sql_fail(s, "write", err);
  int rc = em_sql_step(s, b->st, row, err);
  if (!rc && *row && id) *id = sqlite3_column_int64(b->st, 0);
  return rc;
}

/* The same to its end; *id when the statement returns one. */
static int run_once(em_store *s, binder *b, int64_t *id, em_err *err)
{
  bool row;
  int rc = run(s, b, &row, id, err);
  sqlite3_reset(b->st);
  return rc;
}

static int start(em_store *s, em_sql_id id, binder *b, em_err *err)
{
  *b = (binder){0};
  return em_sql_get(s, id, &b->st, err);
}

/* ---- interned rows: look up, else insert --------------------------------------------- */

typedef void bind_key(binder *b, const void *key);

static int find_or_add(em_store *s, em_sql_id get, bind_key *get_key, em_sql_id add, bind_key *add_key, const void *key,
                       int64_t *id, em_err *err)
{
  binder b;
  bool row = false;
  int rc = start(s, get, &b, err);
  if (rc) return rc;
  get_key(&b, key);
  rc = run(s, &b, &row, id, err);
  sqlite3_reset(b.st);
  if (rc || row) return rc;
  rc = start(s, add, &b, err);
  if (rc) return rc;
  add_key(&b, key);
  rc = run_once(s, &b, NULL, err);
  if (!rc) *id = sqlite3_last_insert_rowid(s->db);
  return rc;
}

typedef struct text_pair {
  const char *digest, *text;
} text_pair;

static void bind_digest(binder *b, const void *key) { bind_text(b, ((const text_pair *)key)->digest); }

static void bind_pair(binder *b, const void *key)
{
  bind_digest(b, key);
  bind_text(b, ((const text_pair *)key)->text);
}

int em_put_source(em_store *s, const char *digest, const char *name, int64_t *id, em_err *err)
{
  text_pair key = {.digest = digest, .text = name};
  return find_or_add(s, EM_SQL_GET_SOURCE, bind_digest, EM_SQL_ADD_SOURCE, bind_pair, &key, id, err);
}

int em_put_schedule(em_store *s, const em_knobs *k, int64_t *id, em_err *err)
{
  em_str text = {0};
  em_knobs_print_json(k, &text);
  int rc = em_str_finish(&text, err);
  if (rc) return rc;
  char hex[33];
  em_digest_hex(em_digest_bytes(text.s, text.len), hex);
  text_pair key = {.digest = hex, .text = text.s};
  rc = find_or_add(s, EM_SQL_GET_SCHEDULE, bind_digest, EM_SQL_ADD_SCHEDULE, bind_pair, &key, id, err);
  em_str_free(&text);
  return rc;
}

typedef struct card_key {
  const char *gpu_name;
  int major, minor;
} card_key;

static void bind_card(binder *b, const void *key)
{
  const card_key *c = key;
  bind_text(b, c->gpu_name);
  bind_i64(b, c->major);
  bind_i64(b, c->minor);
}

int em_put_card(em_store *s, const char *gpu_name, int cc_major, int cc_minor, int64_t *id, em_err *err)
{
  const em_card *known = em_card_lookup(gpu_name);
  card_key key = {.gpu_name = known ? known->name : gpu_name, .major = cc_major, .minor = cc_minor};
  return find_or_add(s, EM_SQL_GET_CARD, bind_card, EM_SQL_ADD_CARD, bind_card, &key, id, err);
}

/* ---- kernels and routing ---------------------------------------------------------------- */

int em_put_kernel(em_store *s, const em_kernel *k, const char *name, bool formed, int64_t *id, em_err *err)
{
  em_str text = {0};
  char hex[33];
  em_kernel_print(k, &text);
  em_digest_hex(em_kernel_identity(k), hex);
  binder b;
  int rc = em_str_finish(&text, err);
  if (rc) return rc;
  rc = start(s, EM_SQL_PUT_KERNEL, &b, err);
  if (!rc) {
    bind_text(&b, hex);
    bind_text(&b, name);
    bind_i64(&b, formed);
    bind_text(&b, text.s);
    rc = run_once(s, &b, id, err);
  }
  em_str_free(&text);
  return rc;
}

static int replace_children(em_store *s, int64_t routing, const int64_t *children, size_t n, em_err *err)
{
  binder b;
  int rc = start(s, EM_SQL_DROP_CHILDREN, &b, err);
  if (rc) return rc;
  bind_i64(&b, routing);
  rc = run_once(s, &b, NULL, err);
  for (size_t i = 0; i < n && !rc; i++) {
    rc = start(s, EM_SQL_ADD_CHILD, &b, err);
    if (rc) return rc;
    bind_i64(&b, routing);
    bind_i64(&b, (int64_t)i);
    bind_i64(&b, children[i]);
    rc = run_once(s, &b, NULL, err);
  }
  return rc;
}

int em_put_routing(em_store *s, int64_t parent, const em_knobs *arm, const int64_t *children, size_t n, int64_t source,
                   em_err *err)
{
  em_str text = {0};
  binder b;
  int64_t id = 0;
  em_knobs_print_json(arm, &text);
  int rc = em_str_finish(&text, err);
  if (rc) return rc;
  rc = start(s, EM_SQL_PUT_ROUTING, &b, err);
  if (!rc) {
    bind_i64(&b, parent);
    bind_text(&b, text.s);
    bind_i64(&b, source);
    rc = run_once(s, &b, &id, err);
  }
  em_str_free(&text);
  return rc ? rc : replace_children(s, id, children, n, err);
}

/* ---- measurements -------------------------------------------------------------------------- */

#define STATUS_TEXT(id, text) [EM_PERF_##id] = text,
static const char *const status_texts[] = {EM_PERF_STATUSES(STATUS_TEXT)};
#undef STATUS_TEXT

bool em_perf_status_find(const char *text, em_perf_status *out)
{
  for (int i = 0; i < EM_PERF_N; i++) {
    if (!strcmp(status_texts[i], text)) {
      *out = (em_perf_status)i;
      return true;
    }
  }
  return false;
}

static bool is_time(double us) { return us > 0 && isfinite(us); }

bool em_perf_has_times(em_perf_status status, double us, double reference_us)
{
  return (status == EM_PERF_OK ? is_time(us) : isnan(us)) && (isnan(reference_us) || is_time(reference_us));
}

static void bind_perf_key(binder *b, const em_perf *p)
{
  bind_i64(b, p->card);
  bind_i64(b, p->kernel);
  bind_text(b, p->bindings);
  bind_i64(b, p->regime.fast_math);
  bind_i64(b, p->regime.cold_cache);
  bind_i64(b, p->regime.opt);
  bind_i64(b, p->schedule);
}

static int write_perf(em_store *s, em_sql_id id, const em_perf *p, em_err *err)
{
  binder b;
  int rc = start(s, id, &b, err);
  if (rc) return rc;
  bind_perf_key(&b, p);
  bind_text(&b, status_texts[p->status]);
  bind_f64(&b, p->us);
  bind_f64(&b, p->reference_us);
  bind_text(&b, p->reference_backend);
  b.next++;
  if (p->tried >= 0) b.failed |= sqlite3_bind_int64(b.st, b.next, p->tried);
  bind_text(&b, p->error);
  bind_text(&b, p->label);
  bind_text(&b, p->pins);
  bind_i64(&b, p->golden);
  bind_i64(&b, p->source);
  return run_once(s, &b, NULL, err);
}

/* Numbers ascending, "none" last. */
static int compare_times(double a, double b)
{
  if (isnan(a) || isnan(b)) return (int)isnan(a) - (int)isnan(b);
  return (a > b) - (a < b);
}

/* Status first, then the time; below 0: p is better than the stored row. */
static int compare_quality(const em_perf *p, sqlite3_stmt *stored)
{
  em_perf_status status;
  if (!em_perf_status_find(em_sql_text(stored, 1), &status)) return -1;
  if (p->status != status) return p->status > status ? -1 : 1;
  return compare_times(p->us, em_sql_double(stored, 2));
}

/* Equally good ones are told apart by what else they say, so that the answer does not depend on which came first. */
static int compare_content(const em_perf *p, sqlite3_stmt *stored)
{
  int c = compare_times(p->reference_us, em_sql_double(stored, 3));
  const char *const texts[] = {p->reference_backend, p->label, p->source_name, p->source_digest};
  for (int i = 0; i < 4 && !c; i++) c = strcmp(texts[i] ? texts[i] : "", em_sql_text(stored, 4 + i));
  return c;
}

static int mark(em_store *s, int64_t id, const em_perf *p, em_err *err)
{
  binder b;
  int rc = start(s, EM_SQL_MARK_PERF, &b, err);
  if (rc) return rc;
  bind_i64(&b, id);
  bind_i64(&b, p->golden);
  bind_text(&b, p->label);
  return run_once(s, &b, NULL, err);
}

int em_put_perf(em_store *s, const em_perf *p, em_put_outcome *out, em_err *err)
{
  binder b;
  bool row = false;
  int64_t id = 0;
  int rc = start(s, EM_SQL_GET_PERF, &b, err);
  if (rc) return rc;
  bind_perf_key(&b, p);
  rc = run(s, &b, &row, &id, err);
  if (rc) return rc;
  int c = row ? compare_quality(p, b.st) : 0;
  *out = !row ? EM_PUT_NEW : c < 0 ? EM_PUT_REPLACED : c > 0 ? EM_PUT_KEPT : EM_PUT_SAME;
  bool stays = row && (c ? c : compare_content(p, b.st)) >= 0;
  sqlite3_reset(b.st);
  if (stays) return mark(s, id, p, err);
  return write_perf(s, row ? EM_SQL_SET_PERF : EM_SQL_ADD_PERF, p, err);
}
