/* store_check.c - counts of a store, and of what is wrong in it. */
#include "core/store/store_int.h"

#include <string.h>

static int count_query(em_store *s, const char *sql, size_t *out, em_err *err)
{
  sqlite3_stmt *st;
  bool row;
  int rc = em_sql_prepare(s, sql, &st, err);
  if (rc) return rc;
  rc = em_sql_step(s, st, &row, err);
  *out = !rc && row ? (size_t)sqlite3_column_int64(st, 0) : 0;
  sqlite3_finalize(st);
  return rc;
}

int em_store_count(em_store *s, em_store_counts *out, em_err *err)
{
  const struct {
    const char *sql;
    size_t *to;
  } counts[] = {
    {"SELECT count(*) FROM source", &out->sources},
    {"SELECT count(*) FROM kernel", &out->kernels},
    {"SELECT count(*) FROM routing", &out->routing},
    {"SELECT count(*) FROM schedule", &out->schedules},
    {"SELECT count(*) FROM perf WHERE status = 'ok'", &out->measured},
    {"SELECT count(*) FROM perf WHERE status = 'proposal'", &out->proposals},
    {"SELECT count(*) FROM perf WHERE status = 'failed'", &out->failed},
    {"SELECT count(*) FROM card", &out->cards},
    {"SELECT count(*) FROM (SELECT DISTINCT card, kernel, bindings, fast_math, cold_cache, opt FROM perf WHERE status <> 'proposal')",
     &out->pools},
  };
  int rc = EM_OK;
  for (size_t i = 0; i < sizeof counts / sizeof *counts && !rc; i++)
    rc = count_query(s, counts[i].sql, counts[i].to, err);
  return rc;
}

/* ---- checks: each row of a query is right or wrong ------------------------------------------ */

typedef bool row_is_good(const em_store *s, sqlite3_stmt *st);

static bool never_good(const em_store *s, sqlite3_stmt *st)
{
  (void)s;
  (void)st;
  return false;
}

static bool integrity_is_ok(const em_store *s, sqlite3_stmt *st)
{
  (void)s;
  return !strcmp(em_sql_text(st, 0), "ok");
}

static bool digest_fits(const em_store *s, sqlite3_stmt *st)
{
  (void)s;
  char hex[33];
  em_digest_hex(em_digest_bytes(em_sql_text(st, 1), strlen(em_sql_text(st, 1))), hex);
  return !strcmp(hex, em_sql_text(st, 0));
}

static bool identity_fits(const em_store *s, sqlite3_stmt *st)
{
  em_kernel *k;
  em_err ignored;
  char hex[33];
  const char *text = em_sql_text(st, 2);
  if (em_kernel_parse_text(text, strlen(text), em_sql_text(st, 1), s->path, &k, &ignored)) return false;
  em_digest_hex(em_kernel_identity(k), hex);
  em_kernel_free(k);
  return !strcmp(hex, em_sql_text(st, 0));
}

/* Parses the knobs of column 0 and hands them to a rule. */
static bool knobs_pass(const em_store *s, sqlite3_stmt *st,
                       int (*rule)(const em_knobs *k, const em_place *at, em_err *err))
{
  cJSON *json;
  em_err ignored;
  em_knobs knobs = {0};
  const char *text = em_sql_text(st, 0);
  em_place at = {.file = s->path};
  if (em_json_parse(text, strlen(text), s->path, &json, &ignored)) return false;
  bool good = cJSON_IsObject(json) && !em_knobs_from_json(json, &at, &knobs, &ignored) && !rule(&knobs, &at, &ignored);
  em_knobs_free(&knobs);
  em_json_free(json);
  return good;
}

static bool schedule_is_one(const em_store *s, sqlite3_stmt *st) { return knobs_pass(s, st, em_row_knobs_check); }

static bool arm_is_one(const em_store *s, sqlite3_stmt *st) { return knobs_pass(s, st, em_arm_check); }

static bool card_is_known(const em_store *s, sqlite3_stmt *st)
{
  (void)s;
  const em_card *c = em_card_lookup(em_sql_text(st, 0));
  return c && c->cc_major == sqlite3_column_int(st, 1) && c->cc_minor == sqlite3_column_int(st, 2);
}

static bool perf_is_one(const em_store *s, sqlite3_stmt *st)
{
  em_perf p;
  em_err ignored;
  return em_perf_read(s, st, &p, &ignored) == EM_OK;
}

static const struct {
  const char *what, *sql;
  row_is_good *good;
} checks[] = {
  {"pages or rows that SQLite finds damaged", "PRAGMA integrity_check(100)", integrity_is_ok},
  {"rows that refer to a missing row", "PRAGMA foreign_key_check", never_good},
  {"kernels whose identity is not that of their definition", "SELECT identity, name, loop_ir FROM kernel",
   identity_fits},
  {"schedules whose digest is not that of their knobs", "SELECT digest, knobs FROM schedule", digest_fits},
  {"schedules with a kernel-set decision, or not canonical", "SELECT knobs FROM schedule", schedule_is_one},
  {"measurements whose time, sizes or regime is none", em_store_list_perf, perf_is_one},
  {"decisions with a schedule knob, or not canonical", "SELECT arm FROM routing", arm_is_one},
  {"decisions that make no kernel",
   "SELECT id FROM routing WHERE NOT EXISTS (SELECT 1 FROM routing_child WHERE routing = routing.id)", never_good},
  {"cards that are not in the table of cards", "SELECT gpu_name, cc_major, cc_minor FROM card", card_is_known},
};

static int run_check(em_store *s, size_t i, size_t *bad, em_err *err)
{
  sqlite3_stmt *st;
  bool row = true;
  *bad = 0;
  int rc = em_sql_prepare(s, checks[i].sql, &st, err);
  while (!rc && !(rc = em_sql_step(s, st, &row, err)) && row) *bad += !checks[i].good(s, st);
  sqlite3_finalize(st);
  return rc;
}

int em_store_verify(em_store *s, em_store_check *out, size_t cap, size_t *n, em_err *err)
{
  int rc = EM_OK;
  *n = 0;
  for (size_t i = 0; i < sizeof checks / sizeof *checks && *n < cap && !rc; i++) {
    out[*n].what = checks[i].what;
    rc = run_check(s, i, &out[*n].count, err);
    *n += !rc;
  }
  return rc;
}
