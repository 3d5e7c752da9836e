/* dataset_export.c - a store's pools into a dataset directory.
 *
 * Pools are built and featurized side by side, a batch at a time, and written in the
 * order of the evidence, so the bytes do not depend on the number of threads. */
#include "core/dataset/dataset_int.h"

#include <stdlib.h>
#include <string.h>

/* With whole pools a batch holds one pool a thread; samples are small, and a longer batch
 * keeps the threads busy when one pool takes longer than its neighbours. */
enum { SAMPLED_PER_THREAD = 16 };

/* One pool on its way. */
typedef struct slot {
  em_evidence *e;
  bool wanted; /* has golden rows */
  em_pool *pool;
  em_str lines;
  em_digest digest;
  em_skips skips;
  int rc;
  em_err err;
} slot;

typedef struct export_job {
  const em_export_options *o;
  const em_progress *progress;
  const char *dir;
  em_manifest m;
  em_measured measured;
  char *gpu; /* of the measured groups that are open */
  slot *slots;
  size_t n, cap;
  size_t done, total;
  em_export_report report;
} export_job;

static void clear_slot(slot *s)
{
  em_evidence_free(s->e);
  em_pool_free(s->pool);
  em_str_free(&s->lines);
  em_skips_free(&s->skips);
  *s = (slot){0};
}

/* ---- on the threads ------------------------------------------------------------------- */

static void hash_size(em_hasher *h, size_t n) { em_hasher_add(h, &n, sizeof n); }

/* What makes two pools one training group. */
static int digest_pool(slot *s)
{
  const em_pool *p = s->pool;
  em_hasher *h = em_hasher_new();
  if (!h) return em_fail_nomem(&s->err);
  em_hasher_add_str(h, p->card->name);
  em_hasher_add_str(h, p->tier);
  em_hasher_add_str(h, p->shape);
  hash_size(h, p->dynamic);
  hash_size(h, p->cols.n);
  for (size_t i = 0; i < p->cols.n; i++) em_hasher_add_str(h, p->cols.names[i]);
  em_hasher_add(h, p->matrix, p->n_rows * p->cols.n * sizeof *p->matrix);
  em_hasher_add(h, s->lines.s, s->lines.len);
  s->digest = em_hasher_end(h);
  return EM_OK;
}

static int print_rows(slot *s)
{
  char line[EM_ROW_LEN];
  for (size_t i = 0; i < s->pool->n_rows; i++) {
    em_str_put(&s->lines, em_row_print(&s->pool->rows[i], line));
    em_str_putc(&s->lines, '\n');
  }
  return em_str_finish(&s->lines, &s->err);
}

static int fill_slot(const export_job *j, slot *s)
{
  int rc = em_pool_build(s->e, j->o->pool_sample, j->o->seed, NULL, &s->skips, &s->pool, &s->err);
  if (rc || !s->pool) return rc;
  rc = em_columns_of(s->pool->kernel, j->o->features, &s->pool->cols, &s->err);
  if (!rc) rc = em_pool_featurize(s->pool, 1, &s->err);
  if (!rc) rc = print_rows(s);
  return rc ? rc : digest_pool(s);
}

static void fill_slots(void *ctx, size_t begin, size_t end)
{
  export_job *j = ctx;
  for (size_t i = begin; i < end; i++)
    if (j->slots[i].wanted) j->slots[i].rc = fill_slot(j, &j->slots[i]);
}

/* ---- in order: golden groups -------------------------------------------------------------- */

static size_t count_golden(const em_evidence *e)
{
  size_t n = 0;
  for (size_t i = 0; i < e->n_rows; i++) n += em_row_is_golden(&e->rows[i]);
  return n;
}

/* Skips of a pool go into the manifest's list; each golden row that was lost is counted. */
static int keep_skips(export_job *j, slot *s, em_err *err)
{
  int rc = EM_OK;
  bool whole = !s->pool && s->skips.n == 1; /* one reason for every row of the pool */
  for (size_t i = 0; i < s->skips.n && !rc; i++) {
    const em_skip *k = &s->skips.items[i];
    char *clause;
    rc = em_reason_clause(k->reason, &clause, err);
    if (rc) break;
    rc = em_tally_add(&j->m.dropped_golden, clause, whole ? count_golden(s->e) : 1, err);
    em_free(clause);
    if (!rc) rc = em_skips_add(&j->m.skips, k->gpu, k->name, err, "%s", k->reason);
  }
  j->report.skipped += s->skips.n;
  return rc;
}

static bool key_taken(const em_manifest *m, const char *key)
{
  for (size_t i = 0; i < m->n_golden; i++)
    if (!strcmp(m->golden[i].key, key)) return true;
  return false;
}

static int unique_key(const em_manifest *m, const char *key, char **out, em_err *err)
{
  em_str b = {0};
  em_str_put(&b, key);
  for (int i = 2; !b.failed && key_taken(m, b.s); i++) {
    em_str_clear(&b);
    em_str_printf(&b, "%s#%d", key, i);
  }
  return em_str_take(&b, out, err);
}

static const char *static_tier(const char *tier)
{
  static const char *const tiers[] = {"dyn", "warp", "thread", "reduce", "pointwise", "other"};
  for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++)
    if (!strcmp(tiers[i], tier)) return tiers[i];
  return "other";
}

static int copy_text(const char *text, char **out, em_err *err)
{
  *out = text ? em_strdup(text) : NULL;
  return *out || !text ? EM_OK : em_fail_nomem(err);
}

static int new_group(export_job *j, slot *s, em_group_entry **out, em_err *err)
{
  const em_pool *p = s->pool;
  em_manifest *m = &j->m;
  int rc = em_grow(&m->golden, &m->cap_golden, m->n_golden + 1, sizeof *m->golden, err);
  if (rc) return rc;
  em_group_entry *g = &m->golden[m->n_golden];
  *g = (em_group_entry){
    .digest = s->digest, .tier = static_tier(p->tier), .dynamic = p->dynamic, .total = p->total, .number = m->n_golden};
  rc = unique_key(m, p->key, &g->key, err);
  m->n_golden++;
  if (!rc) rc = copy_text(p->name, &g->name, err);
  if (!rc) rc = copy_text(p->label, &g->label, err);
  if (!rc) rc = copy_text(p->card->name, &g->gpu, err);
  if (!rc) rc = copy_text(p->shape, &g->shape, err);
  if (!rc) rc = em_columns_copy(&p->cols, &g->cols, err);
  if (!rc) rc = em_group_write(j->dir, "golden", g->number, p->matrix, p->n_rows, p->cols.n, &s->lines, err);
  j->report.rows += p->n_rows;
  *out = g;
  return rc;
}

static int by_id(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* golden_ids of the group and of the pool, united. */
static int unite_ids(em_group_entry *g, const em_pool *p, em_err *err)
{
  uint32_t *ids = em_realloc(g->ids, g->n_ids + p->n_goldens, sizeof *ids);
  if (!ids) return em_fail_nomem(err);
  g->ids = ids;
  for (size_t i = 0; i < p->n_goldens; i++) ids[g->n_ids++] = p->goldens[i].row;
  qsort(ids, g->n_ids, sizeof *ids, by_id);
  size_t n = 0;
  for (size_t i = 0; i < g->n_ids; i++)
    if (!n || ids[n - 1] != ids[i]) ids[n++] = ids[i];
  g->n_ids = n;
  return EM_OK;
}

static int keep_pool(export_job *j, slot *s, em_err *err)
{
  em_group_entry *g = NULL;
  for (size_t i = 0; i < j->m.n_golden && !g; i++)
    if (em_digest_eq(j->m.golden[i].digest, s->digest)) g = &j->m.golden[i];
  j->report.pools++;
  j->report.merged += g != NULL;
  int rc = g ? EM_OK : new_group(j, s, &g, err);
  if (!rc) rc = unite_ids(g, s->pool, err);
  return rc ? rc : em_manifest_pool(&j->m, g, s->e, em_row_is_golden, err);
}

/* ---- in order: measured groups --------------------------------------------------------------- */

/* Groups never span cards, and evidence is sorted by card: what is complete is written. */
static int keep_measured(export_job *j, const em_evidence *e, em_err *err)
{
  int rc = EM_OK;
  if (!em_evidence_is_measured(e)) return EM_OK;
  if (j->gpu && strcmp(j->gpu, e->gpu_name)) {
    rc = em_measured_flush(&j->measured, &j->m, j->dir, &j->report.rows, err);
    em_free(j->gpu);
    j->gpu = NULL;
  }
  if (!rc && !j->gpu) rc = copy_text(e->gpu_name, &j->gpu, err);
  return rc ? rc : em_measured_add(&j->measured, &j->m, e, j->o->features, err);
}

/* ---- batches ------------------------------------------------------------------------------------ */

static int keep_slot(export_job *j, slot *s, em_err *err)
{
  if (s->rc) {
    *err = s->err;
    return s->rc;
  }
  int rc = keep_skips(j, s, err);
  if (!rc && s->pool) rc = keep_pool(j, s, err);
  return rc ? rc : keep_measured(j, s->e, err);
}

static int run_batch(export_job *j, em_err *err)
{
  int rc = em_progress_step(j->progress, "export", j->done, j->total, err);
  if (!rc) em_parallel_for(j->n, 1, j->o->threads, fill_slots, j);
  for (size_t i = 0; i < j->n; i++) {
    if (!rc) rc = keep_slot(j, &j->slots[i], err);
    clear_slot(&j->slots[i]);
  }
  j->done += j->n;
  j->n = 0;
  return rc;
}

static int take_evidence(void *ctx, em_evidence *e, em_err *err)
{
  export_job *j = ctx;
  j->slots[j->n++] = (slot){.e = e, .wanted = count_golden(e) > 0};
  return j->n == j->cap ? run_batch(j, err) : EM_OK;
}

static int export_pools(export_job *j, em_store *s, em_err *err)
{
  size_t threads = (size_t)(j->o->threads > 0 ? j->o->threads : em_cpu_count());
  em_store_counts counts;
  int rc = em_store_count(s, &counts, err);
  j->total = counts.pools;
  j->cap = j->o->pool_sample ? threads * SAMPLED_PER_THREAD : threads;
  if (!rc && !(j->slots = em_calloc(j->cap, sizeof *j->slots))) rc = em_fail_nomem(err);
  if (!rc) rc = em_store_each_evidence(s, take_evidence, j, err);
  if (!rc && j->n) rc = run_batch(j, err);
  if (!rc) rc = em_measured_flush(&j->measured, &j->m, j->dir, &j->report.rows, err);
  for (size_t i = 0; i < j->n; i++) clear_slot(&j->slots[i]);
  em_free(j->slots);
  return rc;
}

/* ---- the directory ---------------------------------------------------------------------------------- */

static int make_folders(const char *dir, em_err *err)
{
  int rc = EM_OK;
  for (int i = 0; i < 2 && !rc; i++) {
    char *path;
    rc = em_path_join(&path, err, dir, em_halves[i]);
    if (rc) break;
    rc = em_mkdirs(path, err);
    em_free(path);
  }
  return rc;
}

/* What is there goes when the new folder takes its place, so it must be a dataset and nothing else, or empty. */
static int check_target(const char *dir, em_err *err)
{
  char *manifest, *stranger;
  const char *slash = strrchr(dir, '/'), *last = slash ? slash + 1 : dir;
  if (!*dir || !strcmp(last, ".") || !strcmp(last, ".."))
    return em_fail(err, EM_E_INPUT, "\"%s\": expected the name of a folder, which can be replaced as a whole", dir);
  if (!em_path_is_dir(dir)) return EM_OK;
  int rc = em_path_join(&manifest, err, dir, "manifest.json");
  if (rc) return rc;
  bool dataset = em_path_exists(manifest);
  em_free(manifest);
  rc = em_dataset_stranger(dir, dataset, &stranger, err);
  if (rc || !stranger) return rc;
  rc = dataset
         ? em_fail(err, EM_E_INPUT,
                   "%s: no part of a dataset, and would be lost when %s is replaced; move it, or name another folder",
                   stranger, dir)
         : em_fail(err, EM_E_INPUT,
                   "%s: a folder that is not a dataset (it has no manifest.json); left as it is, name another", dir);
  em_free(stranger);
  return rc;
}

static int export_to(export_job *j, em_store *s, const char *dir, em_err *err)
{
  em_outdir *out;
  int rc = em_outdir_begin(dir, &out, err);
  if (rc) return rc;
  j->dir = em_outdir_path(out);
  rc = make_folders(j->dir, err);
  if (!rc) rc = export_pools(j, s, err);
  if (!rc) rc = em_manifest_write(&j->m, s, j->o, j->dir, err);
  if (!rc) rc = em_outdir_commit(out, err);
  if (rc) em_outdir_abort(out);
  return rc;
}

int em_dataset_export(em_store *s, const char *dir, const em_export_options *o, const em_progress *p,
                      em_export_report *out, em_err *err)
{
  export_job j = {.o = o, .progress = p};
  int rc = check_target(dir, err);
  if (!rc) rc = export_to(&j, s, dir, err);
  j.report.golden_groups = j.m.n_golden;
  j.report.measured_groups = j.m.n_measured;
  em_manifest_free(&j.m);
  em_measured_free(&j.measured);
  em_free(j.gpu);
  if (!rc) *out = j.report;
  return rc;
}
