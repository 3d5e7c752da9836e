/* pool.c - from a pool's evidence to its candidates and their features. */
#include "core/dataset/dataset_int.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- skips and reasons -------------------------------------------------------------- */

static void clear_skip(em_skip *s)
{
  em_free(s->gpu);
  em_free(s->name);
  em_free(s->reason);
}

int em_skips_add(em_skips *s, const char *gpu, const char *name, em_err *err, const char *fmt, ...)
{
  char text[EM_ERR_LEN];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  int rc = em_grow(&s->items, &s->cap, s->n + 1, sizeof *s->items, err);
  if (rc) return rc;
  em_skip item = {.gpu = em_strdup(gpu), .name = em_strdup(name), .reason = em_strdup(text)};
  if (!item.gpu || !item.name || !item.reason) {
    clear_skip(&item);
    return em_fail_nomem(err);
  }
  s->items[s->n++] = item;
  return EM_OK;
}

void em_skips_free(em_skips *s)
{
  for (size_t i = 0; i < s->n; i++) clear_skip(&s->items[i]);
  em_free(s->items);
  *s = (em_skips){0};
}

int em_reason_clause(const char *reason, char **out, em_err *err)
{
  em_str b = {0};
  for (const char *p = reason; *p && *p != ':'; p++) {
    bool word = p > reason && (isalnum((unsigned char)p[-1]) || p[-1] == '_');
    if (isdigit((unsigned char)*p) && !word) {
      em_str_putc(&b, 'N');
      p += strspn(p, "0123456789") - 1;
    } else {
      em_str_putc(&b, *p);
    }
  }
  return em_str_take(&b, out, err);
}

int em_tally_add(em_tally *t, const char *clause, size_t count, em_err *err)
{
  for (size_t i = 0; i < t->n; i++) {
    if (!strcmp(t->items[i].reason, clause)) {
      t->items[i].count += count;
      return EM_OK;
    }
  }
  int rc = em_grow(&t->items, &t->cap, t->n + 1, sizeof *t->items, err);
  if (rc) return rc;
  em_reason r = {.reason = em_strdup(clause), .count = count};
  if (!r.reason) return em_fail_nomem(err);
  t->items[t->n++] = r;
  return EM_OK;
}

void em_tally_free(em_tally *t)
{
  for (size_t i = 0; i < t->n; i++) em_free(t->items[i].reason);
  em_free(t->items);
}

/* ---- who ------------------------------------------------------------------------------ */

int em_pool_name(const em_evidence *e, char **out, em_err *err)
{
  char hex[33];
  em_str b = {0};
  em_digest_hex(e->identity, hex);
  em_str_printf(&b, "%s.%.12s", e->kernel_name, hex);
  for (size_t i = 0; i < e->n_bindings; i++)
    em_str_printf(&b, " %s=%lld", e->bindings[i].sym, (long long)e->bindings[i].size);
  return em_str_take(&b, out, err);
}

static int copy_bindings(const em_evidence *e, em_pool *p, em_err *err)
{
  if (!e->n_bindings) return EM_OK;
  p->bindings = em_calloc(e->n_bindings, sizeof *p->bindings);
  for (size_t i = 0; p->bindings && i < e->n_bindings; i++, p->n_bindings++) {
    p->bindings[i] = (em_binding){.sym = em_strdup(e->bindings[i].sym), .size = e->bindings[i].size};
    if (!p->bindings[i].sym) break;
  }
  return p->n_bindings == e->n_bindings ? EM_OK : em_fail_nomem(err);
}

static int copy_text(const char *text, char **out, em_err *err)
{
  *out = text ? em_strdup(text) : NULL;
  return *out || !text ? EM_OK : em_fail_nomem(err);
}

static const char *tier_of(const em_kernel *k, const em_space *space)
{
  if (em_kernel_n_symbols(k)) return "dyn";
  if (em_kernel_kind(k) != EM_KIND_CONTRACTION) return em_kind_name(em_kernel_kind(k));
  return em_space_warp_eligible(space) ? "warp" : "thread";
}

static int fill_identity(em_pool *p, const em_evidence *e, const em_card *card, const em_space *space, em_err *err)
{
  em_str key = {0};
  p->card = card;
  p->regime = e->regime;
  p->dynamic = em_kernel_n_symbols(e->kernel) > 0;
  int rc = em_kernel_copy(e->kernel, (em_bindings){.items = e->bindings, .n = e->n_bindings}, &p->kernel, err);
  if (!rc) rc = copy_bindings(e, p, err);
  if (!rc) rc = copy_text(tier_of(e->kernel, space), &p->tier, err);
  if (!rc) rc = em_kernel_shape(e->kernel, (em_bindings){.items = e->bindings, .n = e->n_bindings}, &p->shape, err);
  if (!rc) rc = em_pool_name(e, &p->name, err);
  if (rc) return rc;
  em_str_printf(&key, "%s/%s", card->name, p->name);
  return em_str_take(&key, &p->key, err);
}

void em_pool_free(em_pool *p)
{
  if (!p) return;
  for (size_t i = 0; i < p->n_goldens; i++) {
    em_free(p->goldens[i].label);
    em_free(p->goldens[i].source);
  }
  for (size_t i = 0; i < p->n_bindings; i++) em_free((char *)p->bindings[i].sym);
  em_free(p->bindings);
  em_free(p->goldens);
  em_free(p->key);
  em_free(p->name);
  em_free(p->label);
  em_free(p->tier);
  em_free(p->shape);
  em_kernel_free(p->kernel);
  em_free(p->rows);
  em_free(p->matrix);
  em_columns_free(&p->cols);
  em_free(p);
}

/* ---- the golden rows that lie inside ------------------------------------------------------ */

typedef struct wanted {
  em_row row; /* normalised */
  const em_evidence_row *from;
  bool seen;
} wanted;

typedef struct builder {
  const em_evidence *e;
  const em_space *space;
  const char *name; /* of the pool, for skips */
  em_skips *skips;
  wanted *goldens;
  size_t n_goldens;
  size_t *draw;
  size_t n_draw; /* ascending numbers among the rows that are not golden */
  bool whole;
  em_pool *pool;
} builder;

static int skip(builder *b, const em_evidence_row *r, const char *why, em_err *err)
{
  return em_skips_add(b->skips, b->e->gpu_name, b->name, err, "golden not in %llu candidates: %s: %s",
                      (unsigned long long)em_space_count(b->space), r->label ? r->label : r->source, why);
}

/* The row is inside: keep it, or the better one of two that are the same schedule. */
static void keep_golden(builder *b, const em_row *row, const em_evidence_row *r)
{
  for (size_t i = 0; i < b->n_goldens; i++) {
    if (!em_row_equal(&b->goldens[i].row, row)) continue;
    if (r->us < b->goldens[i].from->us) b->goldens[i].from = r;
    return;
  }
  b->goldens[b->n_goldens++] = (wanted){.row = *row, .from = r};
}

static int locate_golden(builder *b, const em_evidence_row *r, em_err *err)
{
  em_row row = {0};
  bool single = false;
  char why[EM_WHY_LEN];
  int rc = em_row_from_knobs(&r->knobs, &row, &single, err);
  if (rc == EM_E_INPUT) return skip(b, r, err->msg, err);
  if (rc) return rc;
  if (!single) return skip(b, r, "its knobs belong to several sites, the space has one", err);
  row = em_space_normalise(b->space, &row);
  if (!em_space_contains(b->space, &row, why)) return skip(b, r, why, err);
  keep_golden(b, &row, r);
  return EM_OK;
}

bool em_row_is_golden(const em_evidence_row *r) { return r->golden && r->ok; }

static int locate_goldens(builder *b, em_err *err)
{
  int rc = EM_OK;
  b->goldens = em_calloc(b->e->n_rows, sizeof *b->goldens);
  if (!b->goldens) return em_fail_nomem(err);
  for (size_t i = 0; i < b->e->n_rows && !rc; i++)
    if (em_row_is_golden(&b->e->rows[i])) rc = locate_golden(b, &b->e->rows[i], err);
  return rc;
}

/* ---- enumeration ----------------------------------------------------------------------------- */

static int draw_rows(builder *b, size_t sample, uint64_t seed, em_err *err)
{
  uint64_t total = em_space_count(b->space);
  b->pool->total = total;
  b->whole = !sample || total <= sample;
  uint64_t kept = b->whole ? total : sample > b->n_goldens ? sample : b->n_goldens;
  if (kept > UINT32_MAX)
    return em_fail(err, EM_E_INPUT, "%s: %llu candidates, at most %u fit; use a pool sample", b->pool->key,
                   (unsigned long long)total, UINT32_MAX);
  b->pool->rows = em_calloc((size_t)kept, sizeof *b->pool->rows);
  if (!b->pool->rows) return em_fail_nomem(err);
  if (b->whole || kept == b->n_goldens) return EM_OK;
  b->n_draw = (size_t)kept - b->n_goldens;
  b->draw = em_calloc(b->n_draw, sizeof *b->draw);
  if (!b->draw) return em_fail_nomem(err);
  uint64_t stream = em_digest_bytes(b->pool->key, strlen(b->pool->key)).lo;
  return em_rng_sample(seed, stream, (size_t)total - b->n_goldens, b->n_draw, b->draw, err);
}

static bool take_golden(builder *b, const em_row *row)
{
  for (size_t i = 0; i < b->n_goldens; i++) {
    if (!b->goldens[i].seen && em_row_equal(&b->goldens[i].row, row)) {
      em_golden_mark *m = &b->pool->goldens[b->pool->n_goldens++];
      *m = (em_golden_mark){.row = (uint32_t)b->pool->n_rows,
                            .us = b->goldens[i].from->us,
                            .reference_us = b->goldens[i].from->reference_us,
                            .label = b->goldens[i].from->label,
                            .source = b->goldens[i].from->source};
      return b->goldens[i].seen = true;
    }
  }
  return false;
}

/* The marks borrowed their texts while rows streamed by. */
static int own_marks(em_pool *p, em_err *err)
{
  int rc = EM_OK;
  const em_golden_mark *best = NULL;
  for (size_t i = 0; i < p->n_goldens; i++) { /* all of them, so that all can be freed */
    em_golden_mark *m = &p->goldens[i];
    const char *label = m->label, *source = m->source;
    int bad = copy_text(label, &m->label, err), worse = copy_text(source, &m->source, err);
    rc = rc ? rc : bad ? bad : worse;
    if (!best || m->us < best->us) best = m;
  }
  return rc || !best ? rc : copy_text(best->label, &p->label, err);
}

enum { CHUNK = 4096 };

static int stream_rows(builder *b, const em_progress *p, em_err *err)
{
  em_pool *pool = b->pool;
  uint64_t seen = 0, others = 0;
  size_t next = 0, n;
  em_row *chunk = em_calloc(CHUNK, sizeof *chunk);
  if (!chunk) return em_fail_nomem(err);
  int rc = EM_OK;
  em_space_cursor cursor = em_space_begin(b->space);
  while (!rc && (n = em_space_next(&cursor, chunk, CHUNK))) {
    for (size_t i = 0; i < n && seen + i < pool->total; i++) {
      bool keep = take_golden(b, &chunk[i]) || b->whole;
      if (!keep && next < b->n_draw && b->draw[next] == others++) {
        keep = true;
        next++;
      }
      if (keep) pool->rows[pool->n_rows++] = chunk[i];
    }
    seen += n;
    rc = em_progress_step(p, pool->name, (size_t)seen, (size_t)pool->total, err);
  }
  em_free(chunk);
  if (!rc && (seen != pool->total || pool->n_goldens != b->n_goldens))
    rc = em_fail(err, EM_E_CHECK,
                 "%s: the space says %llu candidates and enumerates %llu, %zu of %zu recorded rows among them",
                 pool->key, (unsigned long long)pool->total, (unsigned long long)seen, pool->n_goldens, b->n_goldens);
  return rc;
}

static int fill_pool(builder *b, const em_card *card, size_t sample, uint64_t seed, const em_progress *p, em_err *err)
{
  int rc = fill_identity(b->pool, b->e, card, b->space, err);
  if (!rc) rc = draw_rows(b, sample, seed, err);
  if (!rc && !(b->pool->goldens = em_calloc(b->n_goldens, sizeof *b->pool->goldens))) rc = em_fail_nomem(err);
  if (rc) return rc;
  rc = stream_rows(b, p, err);
  if (rc) b->pool->n_goldens = 0; /* their texts are not owned yet */
  return rc ? rc : own_marks(b->pool, err);
}

static int build(builder *b, const em_card *card, size_t sample, uint64_t seed, const em_progress *p, em_pool **out,
                 em_err *err)
{
  const char *out_of_scope = em_space_out_of_scope(b->space);
  if (out_of_scope) return em_skips_add(b->skips, b->e->gpu_name, b->name, err, "out of scope: %s", out_of_scope);
  int rc = locate_goldens(b, err);
  if (rc || !b->n_goldens) return rc;
  b->pool = em_calloc(1, sizeof *b->pool);
  if (!b->pool) return em_fail_nomem(err);
  rc = fill_pool(b, card, sample, seed, p, err);
  if (rc)
    em_pool_free(b->pool);
  else
    *out = b->pool;
  return rc;
}

/* Why there is no pool, before any space is opened; NULL = go on. */
static const char *not_admitted(const em_evidence *e, const em_card *card)
{
  size_t goldens = 0;
  for (size_t i = 0; i < e->n_rows; i++) goldens += em_row_is_golden(&e->rows[i]);
  if (!card) return "unknown card";
  if (!e->formed) return "not formed: only the program of its parent makes this kernel";
  if (e->regime.opt != 3) return "not deployable: measured at a lower optimization level";
  return goldens ? NULL : "no recorded row";
}

int em_pool_build(const em_evidence *e, size_t sample, uint64_t seed, const em_progress *p, em_skips *skips,
                  em_pool **out, em_err *err)
{
  *out = NULL;
  char *name;
  em_space *space;
  const em_card *card = em_card_lookup(e->gpu_name);
  const char *refused = not_admitted(e, card);
  int rc = em_pool_name(e, &name, err);
  if (rc) return rc;
  if (refused) {
    rc = em_skips_add(skips, e->gpu_name, name, err, "%s", refused);
    em_free(name);
    return rc;
  }
  rc = em_space_open(e->kernel, card, e->regime, &space, err);
  if (!rc) {
    builder b = {.e = e, .space = space, .name = name, .skips = skips};
    rc = build(&b, card, sample, seed, p, out, err);
    em_free(b.goldens);
    em_free(b.draw);
    em_space_free(space);
  }
  em_free(name);
  return rc;
}

/* ---- features ------------------------------------------------------------------------------------ */

int em_columns_of(const em_kernel *k, const char *spec, em_columns *out, em_err *err)
{
  em_columns all;
  if (!spec) return em_columns_all(k, out, err);
  int rc = em_columns_all(k, &all, err);
  if (rc) return rc;
  rc = em_columns_select(&all, spec, out, err);
  em_columns_free(&all);
  return rc;
}

typedef struct feature_job {
  const em_featurizer *featurizer;
  em_pool *pool;
} feature_job;

static void featurize_chunk(void *ctx, size_t begin, size_t end)
{
  const feature_job *j = ctx;
  em_featurize(j->featurizer, j->pool->rows + begin, end - begin, j->pool->matrix + begin * j->pool->cols.n);
}

int em_pool_featurize(em_pool *p, int threads, em_err *err)
{
  em_space *space;
  em_featurizer *f;
  int rc = p->cols.n ? EM_OK : em_columns_of(p->kernel, NULL, &p->cols, err);
  if (rc) return rc;
  double *matrix = em_alloc_aligned(p->n_rows * p->cols.n, sizeof *matrix);
  if (!matrix) return em_fail_nomem(err);
  rc = em_space_open(p->kernel, p->card, p->regime, &space, err);
  if (!rc) {
    rc = em_featurizer_open(p->kernel, p->card, p->regime, space, &p->cols, &f, err);
    if (!rc) {
      em_free(p->matrix);
      p->matrix = matrix;
      feature_job job = {.featurizer = f, .pool = p};
      em_parallel_for(p->n_rows, 1024, threads, featurize_chunk, &job);
      em_featurizer_free(f);
    }
    em_space_free(space);
  }
  if (rc) em_free(matrix);
  return rc;
}
