/* cmd_db_import.c - emmy db import. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tui/cli.h"

/* ---- the report ---- */

enum {
  SOURCE,
  KERNELS,
  ROUTING,
  MEASURED,
  PROPOSALS,
  INVENTORY,
  SKIPPED,
  NOTES,
  REPLACED,
  KEPT,
  DRIFTED,
  REASONS,
  DIGEST
};

static const em_view_column columns[] = {
  {"source", "source", EM_TEXT, "", 30, 0, "the file"},
  {"kernels", "kernels", EM_INT, "kernels", 7, 0, "kernels it holds"},
  {"routing", "routing", EM_INT, "rows", 7, 0, "kernel-set decisions"},
  {"measured", "measured", EM_INT, "rows", 8, 0, "measured rows"},
  {"proposals", "proposals", EM_INT, "rows", 9, 0, "rows without a measurement"},
  {"inventory", "inventory", EM_INT, "rows", 9, 0, "rows without knobs"},
  {"skipped", "skipped", EM_INT, "rows", 7, 0, "what could not be used"},
  {"notes", "notes", EM_TEXT, "", 30, 0, "what needs attention"},
  {"replaced", "replaced", EM_INT, "rows", 0, 0, "measurements that replaced a worse one"},
  {"kept", "kept", EM_INT, "rows", 0, 0, "measurements that a better one in the store outranked"},
  {"drifted", "drifted", EM_INT, "kernels", 0, 0, "kernels whose stored identity or stamps are not what they give now"},
  {"reasons", "reasons", EM_TEXT, "", 0, 0, "why rows were skipped, with counts"},
  {"digest", "digest", EM_TEXT, "", 0, 0, "digest of the file"},
};

static int64_t n_skipped(const em_import *i)
{
  int64_t n = 0;
  for (size_t r = 0; r < i->n_skipped; r++) n += (int64_t)i->skipped[r].count;
  return n;
}

static void put_part(em_str *out, size_t n, const char *words)
{
  if (n) em_str_printf(out, "%s%zu %s", out->len ? ", " : "", n, words);
}

static void notes_cell(const em_import *i, em_cell *out)
{
  em_str text = {0};
  if (i->already) em_str_put(&text, "imported before: nothing done");
  put_part(&text, i->replaced, "replaced a worse one");
  put_part(&text, i->kept, "outranked by a better one");
  put_part(&text, i->drifted, "with outdated stamps");
  if (text.len)
    em_cell_printf(out, "%s", text.s);
  else
    em_cell_text(out, "");
  em_str_free(&text);
}

static void reasons_cell(const em_import *i, em_cell *out)
{
  em_str text = {0};
  for (size_t r = 0; r < i->n_skipped; r++)
    em_str_printf(&text, "%s%zu %s", r ? "; " : "", i->skipped[r].count, i->skipped[r].reason);
  em_cell_printf(out, "%s", text.s ? text.s : "");
  em_str_free(&text);
}

static void get(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const em_import *i = (const em_import *)ctx + row;
  switch (column) {
  case SOURCE: em_cell_text(out, i->source); break;
  case KERNELS: em_cell_int(out, (int64_t)i->kernels); break;
  case ROUTING: em_cell_int(out, (int64_t)i->routing); break;
  case MEASURED: em_cell_int(out, (int64_t)i->measured); break;
  case PROPOSALS: em_cell_int(out, (int64_t)i->proposals); break;
  case INVENTORY: em_cell_int(out, (int64_t)i->inventory); break;
  case SKIPPED: em_cell_int(out, n_skipped(i)); break;
  case NOTES: notes_cell(i, out); break;
  case REPLACED: em_cell_int(out, (int64_t)i->replaced); break;
  case KEPT: em_cell_int(out, (int64_t)i->kept); break;
  case DRIFTED: em_cell_int(out, (int64_t)i->drifted); break;
  case REASONS: reasons_cell(i, out); break;
  default: em_cell_text(out, i->digest);
  }
}

static int print_reasons(const em_import *imports, size_t n, em_err *err)
{
  em_str text = {0};
  for (size_t i = 0; i < n; i++)
    for (size_t r = 0; r < imports[i].n_skipped; r++) {
      em_str_put_safe(&text, imports[i].source);
      em_str_printf(&text, ": skipped %zu: ", imports[i].skipped[r].count);
      em_str_put_safe(&text, imports[i].skipped[r].reason);
      em_str_putc(&text, '\n');
    }
  return em_put_text(&text, err);
}

static int print_report(const em_args *a, const em_import *imports, size_t n, em_err *err)
{
  em_table t = {columns, sizeof columns / sizeof *columns, n, get, imports};
  int rc = em_table_print(a, &t, err);
  return rc == EM_OK && em_is_text_table(a) ? print_reasons(imports, n, err) : rc;
}

/* ---- importing ---- */

/* Whatever is wrong with any source is said before the store is touched. */
static int check_source(const char *path, em_err *err)
{
  em_golden *golden;
  em_store *store;
  int rc;
  if (em_store_is_sqlite(path)) {
    rc = em_store_open(path, EM_STORE_READ, &store, err);
    if (rc == EM_OK) em_store_close(store);
  } else {
    rc = em_golden_read(path, &golden, err);
    if (rc == EM_OK) em_golden_free(golden);
  }
  return rc;
}

/* *n counts the sources that are in the store, also when a later one fails. */
static int import_all(const em_args *a, const char *db, em_import *imports, size_t *n, em_err *err)
{
  em_store *store;
  int rc = em_store_open(db, EM_STORE_WRITE, &store, err);
  if (rc != EM_OK) return rc;
  for (*n = 0; *n < a->n_words && rc == EM_OK; *n += rc == EM_OK)
    rc = em_store_import(store, a->words[*n], em_cli_progress(), &imports[*n], err);
  em_store_close(store);
  return rc;
}

static int import_into(const em_args *a, const char *db, em_import *imports, em_err *err)
{
  size_t n = 0;
  int rc = import_all(a, db, imports, &n, err);
  return rc != EM_OK && n > 0 ? em_err_prefix(err, "%zu of %zu sources are imported, then", n, a->n_words) : rc;
}

/* ---- --fresh: a new store beside the old one, which it replaces when it is whole ---- */

static const char *const store_parts[] = {"-wal", "-shm", "", NULL};

static int remove_store(const char *path, const char *const *parts, em_err *err)
{
  for (; *parts; parts++) {
    char *part = NULL;
    em_str name = {0};
    em_str_printf(&name, "%s%s", path, *parts);
    int rc = em_str_take(&name, &part, err);
    if (rc == EM_OK && unlink(part) != 0 && em_path_exists(part))
      rc = em_fail_errno(err, EM_E_IO, errno, "%s: cannot remove it", part);
    em_free(part);
    if (rc != EM_OK) return rc;
  }
  return EM_OK;
}

static int sync_folder_of(const char *path, em_err *err)
{
  const char *slash = strrchr(path, '/');
  char *folder = slash ? em_strndup(path, (size_t)(slash - path) + 1) : em_strdup(".");
  if (!folder) return em_fail_nomem(err);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
  em_free(folder);
  return EM_OK;
}

/* Closing a store moves its log into it and removes the log; one that is still there says that this failed. */
static int check_closed(const char *fresh, em_err *err)
{
  em_str log = {0};
  em_str_printf(&log, "%s-wal", fresh);
  int rc = em_str_finish(&log, err);
  if (rc == EM_OK && em_path_exists(log.s))
    rc = em_fail(err, EM_E_IO, "%s: could not be written whole; is the disk full?", fresh);
  em_str_free(&log);
  return rc;
}

/* The old log goes first: it belongs to no new store. */
static int replace_store(const char *db, const char *fresh, em_err *err)
{
  static const char *const logs[] = {"-wal", "-shm", NULL};
  int rc = check_closed(fresh, err);
  if (rc == EM_OK) rc = remove_store(db, logs, err);
  if (rc == EM_OK && rename(fresh, db) != 0) rc = em_fail_errno(err, EM_E_IO, errno, "%s: cannot replace it", db);
  return rc == EM_OK ? sync_folder_of(db, err) : rc;
}

static int check_replaceable(const char *db, em_err *err)
{
  if (!em_path_exists(db) || em_store_is_ours(db)) return EM_OK;
  return em_fail(err, EM_E_INPUT, "%s: is no store, --fresh does not replace it", db);
}

static int import_fresh(const em_args *a, const char *db, em_import *imports, em_err *err)
{
  em_str name = {0};
  em_lock *lock = NULL;
  size_t n;
  em_str_printf(&name, "%s.fresh", db);
  int rc = name.failed ? em_fail_nomem(err) : check_replaceable(db, err);
  if (rc == EM_OK) rc = em_lock_acquire(db, &lock, err);
  if (rc == EM_OK) rc = remove_store(name.s, store_parts, err); /* of a run that was killed */
  if (rc == EM_OK) rc = import_all(a, name.s, imports, &n, err);
  if (rc == EM_OK) rc = replace_store(db, name.s, err);
  em_err ignored;
  if (rc != EM_OK && lock) (void)!remove_store(name.s, store_parts, &ignored);
  em_lock_release(lock);
  em_str_free(&name);
  return rc;
}

int em_cmd_db_import(const em_args *a, em_err *err)
{
  char *db = NULL;
  bool fresh = a->opt[EM_OPT_FRESH].set;
  if (fresh && !a->opt[EM_OPT_DB].set)
    return em_fail(err, EM_E_USAGE, "db import: --fresh replaces a store, so --db must say which");
  em_import *imports = em_calloc(a->n_words, sizeof *imports);
  int rc = imports ? em_args_db(a, &db, err) : em_fail_nomem(err);
  for (size_t i = 0; i < a->n_words && rc == EM_OK; i++) rc = check_source(a->words[i], err);
  if (rc == EM_OK) rc = em_mkdirs_of(db, err);
  if (rc == EM_OK) rc = fresh ? import_fresh(a, db, imports, err) : import_into(a, db, imports, err);
  em_cli_progress_end();
  if (rc == EM_OK) rc = print_report(a, imports, a->n_words, err);
  for (size_t i = 0; imports && i < a->n_words; i++) em_import_free(&imports[i]);
  em_free(imports);
  em_free(db);
  return rc;
}
