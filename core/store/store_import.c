/* store_import.c - golden files and other stores into the store. */
#include "core/store/store_int.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

int em_import_skip(em_import *i, const char *reason, size_t count, em_err *err)
{
  for (size_t r = 0; r < i->n_skipped; r++) {
    if (!strcmp(i->skipped[r].reason, reason)) {
      i->skipped[r].count += count;
      return EM_OK;
    }
  }
  em_reason *more = em_realloc(i->skipped, i->n_skipped + 1, sizeof *more);
  if (!more) return em_fail_nomem(err);
  i->skipped = more;
  more[i->n_skipped] = (em_reason){.reason = em_strdup(reason), .count = count};
  if (!more[i->n_skipped].reason) return em_fail_nomem(err);
  i->n_skipped++;
  return EM_OK;
}

void em_import_free(em_import *i)
{
  for (size_t r = 0; r < i->n_skipped; r++) em_free(i->skipped[r].reason);
  em_free(i->skipped);
  em_free(i->source);
  em_free(i->digest);
  *i = (em_import){0};
}

/* ---- one golden file ---------------------------------------------------------------- */

typedef struct golden_job {
  em_store *s;
  const em_golden *g;
  const char *name, *digest;
  int64_t source, card;
  int64_t *kernels; /* ids, one a kernel of the file */
  em_import *out;
} golden_job;

static int put_kernels(golden_job *j, em_err *err)
{
  int rc = EM_OK;
  for (size_t i = 0; i < j->g->n_kernels && !rc; i++) {
    const em_golden_kernel *k = &j->g->kernels[i];
    rc = em_put_kernel(j->s, k->kernel, k->name, k->formed, &j->kernels[i], err);
    j->out->drifted += k->drifted;
  }
  j->out->kernels = j->g->n_kernels;
  return rc;
}

static int put_decision(golden_job *j, const em_golden_routing *r, em_err *err)
{
  int64_t *children = em_calloc(r->n_children, sizeof *children);
  if (!children) return em_fail_nomem(err);
  for (size_t c = 0; c < r->n_children; c++) children[c] = j->kernels[r->children[c]];
  int rc = em_put_routing(j->s, j->kernels[r->parent], &r->arm, children, r->n_children, j->source, err);
  em_free(children);
  j->out->routing += !rc;
  return rc;
}

static int put_scheduled(golden_job *j, const em_golden_row *r, em_err *err)
{
  em_str bindings = {0};
  em_bindings_print(r->bindings, r->n_bindings, &bindings);
  int rc = em_str_finish(&bindings, err);
  if (rc) return rc;
  em_perf p = {.card = j->card,
               .kernel = j->kernels[r->kernel],
               .source = j->source,
               .source_name = j->name,
               .source_digest = j->digest,
               .bindings = bindings.s,
               .regime = r->regime,
               .status = r->measured ? EM_PERF_OK : EM_PERF_PROPOSAL,
               .us = r->measured ? r->us : NAN,
               .reference_us = r->measured ? r->reference_us : NAN,
               .reference_backend = r->reference_backend,
               .label = r->name,
               .pins = r->pins,
               .tried = r->tried,
               .golden = r->measured};
  em_put_outcome outcome;
  rc = em_put_schedule(j->s, &r->knobs, &p.schedule, err);
  if (!rc) rc = em_put_perf(j->s, &p, &outcome, err);
  em_str_free(&bindings);
  if (rc) return rc;
  j->out->measured += r->measured;
  j->out->proposals += !r->measured;
  j->out->replaced += outcome == EM_PUT_REPLACED;
  j->out->kept += outcome == EM_PUT_KEPT;
  return EM_OK;
}

static int put_row(golden_job *j, const em_golden_row *r, em_err *err)
{
  if (!r->has_knobs) {
    j->out->inventory++;
    return EM_OK;
  }
  if (!j->card) return em_import_skip(j->out, "the file names no card (gpu_name)", 1, err);
  return put_scheduled(j, r, err);
}

static int run_golden_job(golden_job *j, const em_progress *p, em_err *err)
{
  const em_golden *g = j->g;
  int rc = em_put_source(j->s, j->digest, j->name, &j->source, err);
  if (!rc && g->gpu_name) rc = em_put_card(j->s, g->gpu_name, g->cc_major, g->cc_minor, &j->card, err);
  if (!rc) rc = put_kernels(j, err);
  for (size_t i = 0; i < g->n_routing && !rc; i++) rc = put_decision(j, &g->routing[i], err);
  for (size_t i = 0; i < g->n_rows && !rc; i++) {
    rc = put_row(j, &g->rows[i], err);
    if (!rc && i % 256 == 0) rc = em_progress_step(p, j->name, i, g->n_rows, err);
  }
  return rc;
}

int em_import_golden(em_store *s, const em_golden *g, const char *name, const char *digest, const em_progress *p,
                     em_import *out, em_err *err)
{
  golden_job j = {.s = s, .g = g, .name = name, .digest = digest, .out = out};
  j.kernels = em_calloc(g->n_kernels ? g->n_kernels : 1, sizeof *j.kernels);
  if (!j.kernels) return em_fail_nomem(err);
  int rc = run_golden_job(&j, p, err);
  em_free(j.kernels);
  return rc;
}

/* ---- any source ------------------------------------------------------------------------ */

static int is_known(em_store *s, const char *digest, bool *known, em_err *err)
{
  sqlite3_stmt *st;
  int rc = em_sql_get(s, EM_SQL_GET_SOURCE, &st, err);
  if (rc) return rc;
  if (sqlite3_bind_text(st, 1, digest, -1, SQLITE_STATIC) != SQLITE_OK) return em_sql_fail(s, "read", err);
  rc = em_sql_step(s, st, known, err);
  sqlite3_reset(st);
  return rc;
}

static int name_import(em_import *out, const char *source, const char *hex, em_err *err)
{
  out->source = em_strdup(em_base_name(source));
  out->digest = em_strdup(hex);
  return out->source && out->digest ? EM_OK : em_fail_nomem(err);
}

static int import_golden_file(em_store *s, const char *path, const em_progress *p, em_import *out, em_err *err)
{
  char *text, hex[33];
  size_t len;
  em_golden *g = NULL;
  int rc = em_file_read(path, &text, &len, err);
  if (rc) return rc;
  em_digest_hex(em_digest_bytes(text, len), hex);
  rc = name_import(out, path, hex, err);
  if (!rc) rc = is_known(s, hex, &out->already, err);
  if (!rc && !out->already) rc = em_golden_parse(text, len, path, &g, err);
  em_free(text);
  if (!rc && !out->already) rc = em_import_golden(s, g, out->source, hex, p, out, err);
  em_golden_free(g);
  return rc;
}

static bool same_file(const char *a, const char *b)
{
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int import_store_file(em_store *s, const char *path, const em_progress *p, em_import *out, em_err *err)
{
  em_store *other;
  char hex[33];
  if (same_file(s->path, path)) return em_fail(err, EM_E_INPUT, "%s: is the store that is imported into", path);
  int rc = em_store_open(path, EM_STORE_READ, &other, err);
  if (rc) return rc;
  rc = em_store_content_digest(other, hex, err);
  if (!rc) rc = name_import(out, path, hex, err);
  if (!rc) rc = is_known(s, hex, &out->already, err);
  if (!rc && !out->already) rc = em_import_store(s, other, p, out, err);
  em_store_close(other);
  return rc;
}

int em_store_import(em_store *s, const char *source, const em_progress *p, em_import *out, em_err *err)
{
  *out = (em_import){0};
  if (!s->writable) return em_fail(err, EM_E_USAGE, "%s: opened for reading", s->path);
  bool own = !s->in_batch; /* a transaction of its own, or a part of the batch */
  int rc = em_sql_exec(s, own ? "BEGIN IMMEDIATE" : "SAVEPOINT import", err);
  if (rc) return rc;
  rc = em_store_is_sqlite(source) ? import_store_file(s, source, p, out, err)
                                  : import_golden_file(s, source, p, out, err);
  if (!rc) rc = em_sql_exec(s, own ? "COMMIT" : "RELEASE import", err);
  if (rc) {
    em_import_free(out);
    sqlite3_exec(s->db, own ? "ROLLBACK" : "ROLLBACK TO import; RELEASE import", NULL, NULL, NULL);
    return rc;
  }
  s->kept = s->kept || own;
  return EM_OK;
}
