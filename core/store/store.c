/* store.c - opening, closing and batches of the store.
 *
 * A writer holds the lock of the file from open to close.  A new file is made beside its
 * name and renamed, so that a store at its name always has its tables; if nothing is
 * ever committed to it, closing removes it again. */
#include "core/store/store_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *em_base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int em_store_default_path(char **out, em_err *err)
{
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache && *cache == '/') return em_path_join(out, err, cache, "emmy/autotune.db");
  if (home && *home) return em_path_join(out, err, home, ".cache/emmy/autotune.db");
  return em_fail(err, EM_E_ENV,
                 "neither XDG_CACHE_HOME nor HOME is set, so there is no default store; name one with --db FILE");
}

enum { HEAD = 72, APP_ID_AT = 68 }; /* of SQLite's header: as much as we look at; four bytes, highest first */

/* false = no regular file that is as long. */
static bool read_head(const char *path, unsigned char head[HEAD])
{
  struct stat st;
  if (stat(path, &st) || !S_ISREG(st.st_mode)) return false;
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  bool whole = fread(head, 1, HEAD, f) == HEAD;
  fclose(f);
  return whole;
}

bool em_store_is_sqlite(const char *path)
{
  static const char magic[16] = "SQLite format 3";
  unsigned char head[HEAD];
  return read_head(path, head) && !memcmp(head, magic, sizeof magic);
}

bool em_store_is_ours(const char *path)
{
  unsigned char head[HEAD];
  const unsigned char *id = head + APP_ID_AT;
  return em_store_is_sqlite(path) && read_head(path, head) &&
         ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) == EM_STORE_APP_ID;
}

const char *em_store_path(const em_store *s) { return s->path; }

/* ---- connections --------------------------------------------------------------------- */

static int connect_file(em_store *s, const char *name, int flags, em_err *err)
{
  sqlite3_close(s->db);
  s->db = NULL;
  if (sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL) != SQLITE_OK)
    return s->db ? em_sql_fail(s, "open the store", err) : em_fail_nomem(err);
  sqlite3_busy_timeout(s->db, 2000);
  return em_sql_exec(s, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL;", err);
}

static int pragma_int(em_store *s, const char *sql, int64_t *out, em_err *err)
{
  sqlite3_stmt *st;
  bool row;
  int rc = em_sql_prepare(s, sql, &st, err);
  if (rc) return rc;
  rc = em_sql_step(s, st, &row, err);
  *out = !rc && row ? sqlite3_column_int64(st, 0) : 0;
  sqlite3_finalize(st);
  return rc;
}

/* Is this a store of ours, and of which version? */
static int read_version(em_store *s, int64_t *version, em_err *err)
{
  int64_t app = 0;
  int rc = pragma_int(s, "PRAGMA application_id", &app, err);
  if (!rc && app != EM_STORE_APP_ID)
    return em_fail(err, EM_E_INPUT,
                   "%s: an SQLite file, but not a store of emmy (application id %lld, expected %d); left as it is, "
                   "name another file",
                   s->path, (long long)app, EM_STORE_APP_ID);
  return rc ? rc : pragma_int(s, "PRAGMA user_version", version, err);
}

static int check_version(em_store *s, em_err *err)
{
  int64_t version = 0;
  int rc = read_version(s, &version, err);
  if (!rc && version != EM_STORE_VERSION)
    rc = em_fail(err, EM_E_INPUT,
                 "%s: a store of version %lld, this program reads version %d; left as it is, build it again with: "
                 "emmy db import --fresh --db FILE SOURCE...",
                 s->path, (long long)version, EM_STORE_VERSION);
  return rc;
}

/* ---- reading ---------------------------------------------------------------------------- */

static bool has_unmerged_wal(const char *path)
{
  em_str wal = {0};
  struct stat st;
  em_str_printf(&wal, "%s-wal", path);
  bool has = wal.failed || (!stat(wal.s, &st) && st.st_size > 0);
  em_str_free(&wal);
  return has;
}

/* A WAL store needs a helper file beside it even for reading.  Where that cannot be made (a
 * read-only file system) the file is opened as one that nobody changes. */
static int connect_immutable(em_store *s, em_err *err)
{
  if (has_unmerged_wal(s->path))
    return em_fail(err, EM_E_IO,
                   "%s: on a read-only file system with changes still in %s-wal; copy both files to a writable folder",
                   s->path, em_base_name(s->path));
  em_str uri = {0};
  em_str_put(&uri, "file:");
  for (const char *p = s->path; *p; p++) {
    if (strchr("%?#", *p))
      em_str_printf(&uri, "%%%02X", (unsigned)*p);
    else
      em_str_putc(&uri, *p);
  }
  em_str_put(&uri, "?immutable=1");
  int rc = em_str_finish(&uri, err);
  if (rc) return rc;
  rc = connect_file(s, uri.s, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
  em_str_free(&uri);
  return rc ? rc : check_version(s, err);
}

static int open_read(em_store *s, em_err *err)
{
  int rc = connect_file(s, s->path, SQLITE_OPEN_READONLY, err);
  if (!rc) rc = check_version(s, err);
  int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_OK;
  return rc && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) ? connect_immutable(s, err) : rc;
}

/* ---- making ------------------------------------------------------------------------------ */

static int create_tables(em_store *s, em_err *err)
{
  em_str sql = {0};
  em_str_printf(&sql, "%sPRAGMA application_id = %d; PRAGMA user_version = %d;", em_store_schema, EM_STORE_APP_ID,
                EM_STORE_VERSION);
  int rc = em_str_finish(&sql, err);
  if (!rc) rc = em_sql_exec(s, sql.s, err);
  em_str_free(&sql);
  return rc;
}

static void remove_store(const char *path)
{
  static const char *const parts[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    em_str name = {0};
    em_str_printf(&name, "%s%s", path, parts[i]);
    if (!name.failed) unlink(name.s);
    em_str_free(&name);
  }
}

/* Closes a store that is about to be renamed.  A checkpoint that fails while closing is
 * not reported, but leaves its journal behind: the file alone is then not whole. */
static int close_whole(em_store *s, const char *path, em_err *err)
{
  em_str wal = {0};
  em_str_printf(&wal, "%s-wal", path);
  int rc = em_str_finish(&wal, err);
  sqlite3_close(s->db);
  s->db = NULL;
  if (!rc && em_path_exists(wal.s))
    rc = em_fail(err, EM_E_IO, "%s: cannot write the new store, is the disk full?", path);
  em_str_free(&wal);
  return rc;
}

/* Makes an empty store at `path`, whole or not at all. */
static int create_file(em_store *s, const char *path, em_err *err)
{
  em_str fresh = {0};
  em_str_printf(&fresh, "%s.new", path);
  int rc = em_str_finish(&fresh, err);
  if (rc) return rc;
  remove_store(fresh.s);
  rc = connect_file(s, fresh.s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
  if (!rc) rc = em_sql_exec(s, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;", err);
  if (!rc) rc = create_tables(s, err);
  if (!rc) rc = em_sql_exec(s, "COMMIT", err);
  em_err closing;
  int closed = close_whole(s, fresh.s, rc ? &closing : err);
  rc = rc ? rc : closed;
  if (!rc && rename(fresh.s, path)) rc = em_fail(err, EM_E_IO, "%s: cannot rename the new store to its name", path);
  if (rc) remove_store(fresh.s);
  em_str_free(&fresh);
  s->created = !rc;
  return rc;
}

/* ---- writing ------------------------------------------------------------------------------ */

static int make_folder(const char *path, em_err *err)
{
  const char *name = em_base_name(path);
  if (name == path || name == path + 1) return EM_OK;
  char *folder = em_strndup(path, (size_t)(name - path) - 1);
  if (!folder) return em_fail_nomem(err);
  int rc = em_mkdirs(folder, err);
  em_free(folder);
  return rc;
}

static int refuse_other_files(const char *path, em_err *err)
{
  if (em_store_is_sqlite(path)) return EM_OK;
  return em_fail(err, EM_E_INPUT, "%s: not a store: expected an SQLite file; left as it is, name another file", path);
}

/* Drops what is there, of whatever version, and makes our tables, inside the open batch. */
static int empty_tables(em_store *s, em_err *err)
{
  sqlite3_stmt *st;
  em_str sql = {0};
  bool row = true;
  int rc = em_sql_prepare(
    s,
    "SELECT printf('DROP %s \"%w\";', type, name) FROM sqlite_schema WHERE type IN ('table', 'view')"
    " AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC",
    &st, err);
  if (rc) return rc;
  while (!(rc = em_sql_step(s, st, &row, err)) && row) em_str_put(&sql, em_sql_text(st, 0));
  sqlite3_finalize(st);
  if (!rc) rc = em_str_finish(&sql, err);
  if (!rc && sql.len) rc = em_sql_exec(s, sql.s, err);
  em_str_free(&sql);
  return rc ? rc : create_tables(s, err);
}

static int open_write(em_store *s, em_store_mode mode, em_err *err)
{
  int rc = make_folder(s->path, err);
  if (!rc) rc = em_lock_acquire(s->path, &s->lock, err);
  if (!rc) rc = em_path_exists(s->path) ? refuse_other_files(s->path, err) : create_file(s, s->path, err);
  if (!rc) rc = connect_file(s, s->path, SQLITE_OPEN_READWRITE, err);
  int64_t version;
  if (!rc) rc = mode == EM_STORE_FRESH ? read_version(s, &version, err) : check_version(s, err);
  if (!rc && mode == EM_STORE_FRESH) rc = em_store_begin(s, err);
  if (!rc && mode == EM_STORE_FRESH && !s->created) rc = empty_tables(s, err);
  return rc;
}

int em_store_open(const char *path, em_store_mode mode, em_store **out, em_err *err)
{
  if (mode == EM_STORE_READ) {
    if (!em_path_exists(path))
      return em_fail(err, EM_E_INPUT, "%s: no such store; make it with: emmy db import --db FILE SOURCE...", path);
    int rc = refuse_other_files(path, err);
    if (rc) return rc;
  }
  em_store *s = em_calloc(1, sizeof *s);
  if (!s) return em_fail_nomem(err);
  s->writable = mode != EM_STORE_READ;
  s->path = em_strdup(path);
  int rc = !s->path ? em_fail_nomem(err) : s->writable ? open_write(s, mode, err) : open_read(s, err);
  if (rc)
    em_store_close(s);
  else
    *out = s;
  return rc;
}

int em_store_open_memory(em_store **out, em_err *err)
{
  em_store *s = em_calloc(1, sizeof *s);
  if (!s) return em_fail_nomem(err);
  s->writable = true;
  s->path = em_strdup("evidence");
  int rc = s->path ? connect_file(s, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err) : em_fail_nomem(err);
  if (!rc) rc = create_tables(s, err);
  if (rc)
    em_store_close(s);
  else
    *out = s;
  return rc;
}

void em_store_close(em_store *s)
{
  if (!s) return;
  for (size_t i = 0; i < EM_SQL_N; i++) sqlite3_finalize(s->statements[i]);
  sqlite3_close(s->db); /* rolls back what was not committed */
  if (s->created && !s->kept) remove_store(s->path);
  em_lock_release(s->lock);
  em_free(s->path);
  em_free(s);
}

/* ---- batches -------------------------------------------------------------------------------- */

int em_store_begin(em_store *s, em_err *err)
{
  if (!s->writable) return em_fail(err, EM_E_USAGE, "%s: opened for reading", s->path);
  int rc = em_sql_exec(s, "BEGIN IMMEDIATE", err);
  s->in_batch = !rc;
  return rc;
}

int em_store_commit(em_store *s, em_err *err)
{
  int rc = em_sql_exec(s, "COMMIT", err);
  if (rc) return rc;
  s->in_batch = false;
  s->kept = true;
  return EM_OK;
}
