/* store_int.h - what the files of the store share. */
#ifndef EM_STORE_INT_H
#define EM_STORE_INT_H

#include <sqlite3.h>

#include "core/store/golden_int.h"
#include "core/store/schema.h"

/* Every statement that runs more than once: X(id, SQL).  Prepared on first use. */
#define EM_STORE_STATEMENTS(X)                                                                                         \
  X(GET_SOURCE, "SELECT id FROM source WHERE digest = ?1")                                                             \
  X(ADD_SOURCE, "INSERT INTO source (digest, name) VALUES (?1, ?2)")                                                   \
  X(GET_CARD, "SELECT id FROM card WHERE gpu_name = ?1 AND cc_major = ?2 AND cc_minor = ?3")                           \
  X(ADD_CARD, "INSERT INTO card (gpu_name, cc_major, cc_minor) VALUES (?1, ?2, ?3)")                                   \
  X(PUT_KERNEL, "INSERT INTO kernel (identity, name, formed, loop_ir) VALUES (?1, ?2, ?3, ?4)"                         \
                " ON CONFLICT (identity) DO UPDATE SET formed = max(formed, excluded.formed),"                         \
                " (name, loop_ir) = (SELECT min(a, b), iif((a, c) < (b, d), c, d) FROM (SELECT excluded.name AS a,"    \
                " kernel.name AS b, excluded.loop_ir AS c, kernel.loop_ir AS d))"                                      \
                " RETURNING id")                                                                                       \
  X(GET_KERNEL, "SELECT loop_ir FROM kernel WHERE id = ?1")                                                            \
  X(GET_SCHEDULE, "SELECT id FROM schedule WHERE digest = ?1")                                                         \
  X(ADD_SCHEDULE, "INSERT INTO schedule (digest, knobs) VALUES (?1, ?2)")                                              \
  X(PUT_ROUTING, "INSERT INTO routing (parent, arm, source) VALUES (?1, ?2, ?3)"                                       \
                 " ON CONFLICT (parent, arm) DO UPDATE SET source = excluded.source RETURNING id")                     \
  X(DROP_CHILDREN, "DELETE FROM routing_child WHERE routing = ?1")                                                     \
  X(ADD_CHILD, "INSERT INTO routing_child (routing, position, child) VALUES (?1, ?2, ?3)")                             \
  X(GET_PERF, "SELECT perf.id, status, us, reference_us, reference_backend, label, source.name, source.digest"         \
              " FROM perf JOIN source ON source.id = perf.source WHERE card = ?1 AND kernel = ?2 AND bindings = ?3"    \
              " AND fast_math = ?4 AND cold_cache = ?5 AND opt = ?6 AND schedule = ?7")                                \
  X(ADD_PERF, "INSERT INTO perf (card, kernel, bindings, fast_math, cold_cache, opt, schedule, status, us,"            \
              " reference_us, reference_backend, tried, error, label, pins, golden, source)"                           \
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)")                  \
  X(SET_PERF, "UPDATE perf SET status = ?8, us = ?9, reference_us = ?10, reference_backend = ?11, tried = ?12,"        \
              " error = ?13, label = coalesce(?14, label), pins = ?15, golden = max(golden, ?16), source = ?17"        \
              " WHERE card = ?1 AND kernel = ?2 AND bindings = ?3 AND fast_math = ?4 AND cold_cache = ?5"              \
              " AND opt = ?6 AND schedule = ?7")                                                                       \
  X(MARK_PERF, "UPDATE perf SET golden = max(golden, ?2), label = coalesce(label, ?3) WHERE id = ?1")                  \
  X(LIST_POOL, "SELECT schedule.knobs, status, us, reference_us, reference_backend, label, source.name, golden"        \
               " FROM perf JOIN schedule ON schedule.id = perf.schedule JOIN source ON source.id = perf.source"        \
               " WHERE card = ?1 AND kernel = ?2 AND bindings = ?3 AND fast_math = ?4 AND cold_cache = ?5"             \
               " AND opt = ?6 AND status <> 'proposal'")

#define EM_STMT_ENUM(id, sql) EM_SQL_##id,
typedef enum em_sql_id { EM_STORE_STATEMENTS(EM_STMT_ENUM) EM_SQL_N } em_sql_id;
#undef EM_STMT_ENUM

struct em_store {
  sqlite3 *db;
  char *path;
  em_lock *lock; /* NULL when reading */
  bool writable;
  bool in_batch;      /* between em_store_begin and em_store_commit */
  bool created, kept; /* this handle made the file; something was committed to it */
  sqlite3_stmt *statements[EM_SQL_N];
};

/* ---- statements (store_sql.c) ---------------------------------------------------- */

/* Fills err from the state of the connection; `doing` completes "cannot ...". */
int em_sql_fail(const em_store *s, const char *doing, em_err *err);
int em_sql_exec(em_store *s, const char *sql, em_err *err) EM_MUST_CHECK;
/* A kept statement, reset and without bindings; or a fresh one, which the caller finalizes. */
int em_sql_get(em_store *s, em_sql_id id, sqlite3_stmt **out, em_err *err) EM_MUST_CHECK;
int em_sql_prepare(em_store *s, const char *sql, sqlite3_stmt **out, em_err *err) EM_MUST_CHECK;
/* One step; *row says whether there is a row. */
int em_sql_step(em_store *s, sqlite3_stmt *st, bool *row, em_err *err) EM_MUST_CHECK;
/* A text column; "" for NULL.  Borrowed until the next step. */
const char *em_sql_text(sqlite3_stmt *st, int column);
int em_sql_strdup(sqlite3_stmt *st, int column, char **out, em_err *err) EM_MUST_CHECK; /* NULL stays NULL */
double em_sql_double(sqlite3_stmt *st, int column);                                     /* NaN for NULL */

/* ---- putting (store_put.c) --------------------------------------------------------- */

int em_put_source(em_store *s, const char *digest, const char *name, int64_t *id, em_err *err) EM_MUST_CHECK;
int em_put_card(em_store *s, const char *gpu_name, int cc_major, int cc_minor, int64_t *id, em_err *err) EM_MUST_CHECK;
int em_put_kernel(em_store *s, const em_kernel *k, const char *name, bool formed, int64_t *id,
                  em_err *err) EM_MUST_CHECK;
int em_put_schedule(em_store *s, const em_knobs *k, int64_t *id, em_err *err) EM_MUST_CHECK;
int em_put_routing(em_store *s, int64_t parent, const em_knobs *arm, const int64_t *children, size_t n, int64_t source,
                   em_err *err) EM_MUST_CHECK;

/* X(id, spelling): from worst to best; a row never turns into a worse one. */
#define EM_PERF_STATUSES(X)    X(PROPOSAL, "proposal") X(FAILED, "failed") X(OK, "ok")
#define EM_PERF_ENUM(id, text) EM_PERF_##id,
typedef enum em_perf_status { EM_PERF_STATUSES(EM_PERF_ENUM) EM_PERF_N } em_perf_status;
#undef EM_PERF_ENUM
bool em_perf_status_find(const char *text, em_perf_status *out);

typedef struct em_perf {
  int64_t card, kernel, schedule, source;
  const char *bindings; /* canonical JSON */
  em_regime regime;
  em_perf_status status;
  double us, reference_us; /* NaN = none */
  const char *reference_backend, *error, *label, *pins, *source_name,
    *source_digest; /* NULL = none; of the source: set */
  int64_t tried;    /* -1 = none */
  bool golden;
} em_perf;
/* What was there of the same key: nothing, a worse one, a better one, one as good (their content decides which stays). */
typedef enum em_put_outcome { EM_PUT_NEW, EM_PUT_REPLACED, EM_PUT_KEPT, EM_PUT_SAME } em_put_outcome;
int em_put_perf(em_store *s, const em_perf *p, em_put_outcome *out, em_err *err) EM_MUST_CHECK;
/* Has it a time exactly when it is a measurement, and only times that are some? */
bool em_perf_has_times(em_perf_status status, double us, double reference_us);
static inline bool em_is_level(int64_t opt) { return opt >= 0 && opt <= EM_REGIME_DEFAULT.opt; } /* the highest */

/* ---- opening (store.c) --------------------------------------------------------------- */

/* A store in memory, for evidence without a file. */
int em_store_open_memory(em_store **out, em_err *err) EM_MUST_CHECK;
/* The rows of a parsed golden file (store_import.c). */
int em_import_golden(em_store *s, const em_golden *g, const char *name, const char *digest, const em_progress *p,
                     em_import *out, em_err *err) EM_MUST_CHECK;
int em_import_skip(em_import *i, const char *reason, size_t count, em_err *err) EM_MUST_CHECK;
/* The rows of another store (store_merge.c): its digest, then the copy. */
int em_store_content_digest(em_store *other, char hex[33], em_err *err) EM_MUST_CHECK;
int em_import_store(em_store *s, em_store *other, const em_progress *p, em_import *out, em_err *err) EM_MUST_CHECK;
/* All measurements of a store, and what a row of that query says; its ids in another store (card, kernel, schedule, source)
 * are left open, its texts borrowed until the next step.  SQLite drops the CHECKs of a store that it opens for
 * reading, so nothing is believed: EM_E_INPUT for what no golden file could say. */
extern const char em_store_list_perf[];
int em_perf_read(const em_store *from, sqlite3_stmt *st, em_perf *out, em_err *err) EM_MUST_CHECK;
int em_store_damaged(const em_store *s, const char *what, em_err *err);

const char *em_base_name(const char *path); /* the part after the last slash */

#endif
