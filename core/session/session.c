/* session.c - opening, asking and the worker. */
#include "core/session/session_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- opening ---- */

/* The golden files that ship, sorted by name. */
static int add_shipped(em_session *s, em_err *err)
{
  char *folder = NULL, **paths = NULL;
  size_t n = 0;
  int rc = em_data_path("golden", &folder, err);
  if (rc == EM_OK) rc = em_dir_list(folder, ".json", &paths, &n, err);
  if (rc == EM_OK && n == 0)
    rc = em_fail(err, EM_E_INPUT,
                 "%s: no golden file there; run `make golden` or name a dataset, a store or golden files", folder);
  if (rc == EM_OK) rc = em_session_add_goldens(s, (const char *const *)paths, n, err);
  for (size_t i = 0; i < n; i++) em_free(paths[i]);
  em_free(paths);
  em_free(folder);
  return rc;
}

static bool is_golden_file(const char *path) { return !em_path_is_dir(path) && !em_store_is_sqlite(path); }

/* Golden files are read together, so that rows of one pool from several files meet. */
static int add_sources(em_session *s, em_err *err)
{
  const em_session_options *o = &s->opt;
  if (o->n_sources == 0) return add_shipped(s, err);
  const char **files = em_calloc(o->n_sources, sizeof *files);
  if (!files) return em_fail_nomem(err);
  size_t n = 0;
  int rc = EM_OK;
  for (size_t i = 0; i < o->n_sources && rc == EM_OK; i++) {
    if (is_golden_file(o->sources[i]))
      files[n++] = o->sources[i];
    else
      rc = em_session_add_source(s, o->sources[i], err);
  }
  if (rc == EM_OK && n > 0) rc = em_session_add_goldens(s, files, n, err);
  em_free(files);
  return rc;
}

/* People look for a card, then for a label; keys make the order one of content alone. */
static int by_card_and_label(const void *a, const void *b)
{
  const em_pool_info *x = &((const entry *)a)->info, *y = &((const entry *)b)->info;
  int d = strcmp(x->gpu, y->gpu);
  if (!d) d = strcmp(x->label, y->label);
  return d ? d : strcmp(x->key, y->key);
}

static int load_prior(em_session *s, em_err *err)
{
  if (s->opt.prior)
    s->prior_path = em_strdup(s->opt.prior);
  else if (em_data_path("prior/schedule.json", &s->prior_path, err) != EM_OK)
    return err->code;
  if (!s->prior_path) return em_fail_nomem(err);
  return em_prior_load(s->prior_path, s->opt.feat_ver, &s->prior, err);
}

static int name_source(em_session *s, em_err *err)
{
  em_str text = {0};
  const em_session_options *o = &s->opt;
  if (o->n_sources == 0)
    em_str_put(&text, "shipped goldens");
  else if (o->n_sources == 1)
    em_str_put(&text, o->sources[0]);
  else
    em_str_printf(&text, "%zu sources", o->n_sources);
  return em_str_take(&text, &s->source, err);
}

em_session *em_session_new(size_t n_kept, em_err *err)
{
  em_session *s = em_calloc(1, sizeof *s);
  if (!s) {
    em_fail_nomem(err);
    return NULL;
  }
  s->wanted = s->current = SIZE_MAX;
  s->n_kept = n_kept;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  s->arena = em_arena_new();
  if (s->arena) return s;
  em_fail_nomem(err);
  em_session_close(s);
  return NULL;
}

int em_session_open(const em_session_options *o, em_session **out, em_err *err)
{
  em_session *s = em_session_new(KEPT_POOLS, err);
  if (!s) return err->code;
  s->opt = *o;
  const em_card *card;
  int rc = o->card ? em_card_find(o->card, &card, err) : EM_OK;
  if (rc == EM_OK) rc = name_source(s, err);
  if (rc == EM_OK) rc = load_prior(s, err);
  if (rc == EM_OK) rc = add_sources(s, err);
  if (rc != EM_OK) {
    em_session_close(s);
    return rc;
  }
  if (s->n) qsort(s->entries, s->n, sizeof *s->entries, by_card_and_label);
  *out = s;
  return EM_OK;
}

void em_session_close(em_session *s)
{
  if (!s) return;
  if (s->started) {
    pthread_mutex_lock(&s->lock);
    em_cancel_set(&s->cancel);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->worker, NULL);
  }
  em_session_close_siblings(s);
  for (size_t i = 0; i < KEPT_POOLS; i++) em_scored_free(s->kept[i]);
  for (size_t i = 0; i < s->n && !s->main; i++) em_evidence_free(s->entries[i].evidence);
  em_free(s->entries);
  for (size_t i = 0; i < s->n_datasets; i++) em_dataset_close(s->datasets[i]);
  em_free(s->datasets);
  em_free(s->routing);
  em_skips_free(&s->skips);
  em_prior_free(s->prior);
  em_free(s->source);
  em_free(s->prior_path);
  em_arena_free(s->arena);
  pthread_cond_destroy(&s->changed);
  pthread_mutex_destroy(&s->lock);
  em_free(s);
}

const char *em_session_source(const em_session *s) { return s->main ? s->main->source : s->source; }
const char *em_session_prior_path(const em_session *s) { return s->prior_path; }
const em_prior *em_session_prior(const em_session *s) { return s->prior; }
size_t em_session_n_pools(const em_session *s) { return s->n; }

void em_session_pool(em_session *s, size_t i, em_pool_info *out)
{
  pthread_mutex_lock(&s->lock);
  *out = s->entries[i].info;
  pthread_mutex_unlock(&s->lock);
}

void em_session_recorded(const em_session *s, size_t pool, const em_evidence **evidence, const em_group **group)
{
  const entry *e = &s->entries[pool];
  *evidence = e->evidence;
  *group = e->dataset ? em_dataset_group(e->dataset, e->group) : NULL;
}

size_t em_session_n_routing(const em_session *s) { return s->main ? s->main->n_routing : s->n_routing; }

const em_routing_piece *em_session_routing(const em_session *s, size_t i)
{
  return s->main ? &s->main->routing[i] : &s->routing[i];
}

void em_session_skips(em_session *s, void (*fn)(void *ctx, const em_skip *skip), void *ctx)
{
  const em_skips *skips = s->main ? &s->main->skips : &s->skips;
  for (size_t i = 0; i < skips->n; i++) fn(ctx, &skips->items[i]);
}

/* ---- finding ---- */

/* "rtx4080/matmul.square.1024": labels repeat from card to card. */
static bool is_card_and_label(const em_pool_info *i, const char *name)
{
  size_t n = i->card ? strlen(i->card->short_name) : 0;
  return n && strncasecmp(name, i->card->short_name, n) == 0 && name[n] == '/' && strcmp(name + n + 1, i->label) == 0;
}

static bool is_exact(const em_pool_info *i, const char *name)
{
  return strcmp(i->key, name) == 0 || strcmp(i->label, name) == 0 || strcmp(i->name, name) == 0 ||
         is_card_and_label(i, name);
}

static bool is_part(const em_pool_info *i, const char *name)
{
  return strcasestr(i->key, name) || strcasestr(i->label, name);
}

typedef bool (*matcher)(const em_pool_info *i, const char *name);

static size_t count_matches(const em_session *s, const char *name, matcher match, size_t *first)
{
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++)
    if (match(&s->entries[i].info, name) && n++ == 0) *first = i;
  return n;
}

static const char *nearest_label(const em_session *s, const char *name)
{
  const char *best = NULL;
  int least = 0;
  for (size_t i = 0; i < s->n; i++) {
    int d = em_edit_distance(name, s->entries[i].info.label);
    if (!best || d < least) best = s->entries[i].info.label, least = d;
  }
  return best;
}

/* keys that match, for the message: the first three */
static void put_matches(const em_session *s, const char *name, matcher match, em_str *out)
{
  size_t n = 0;
  for (size_t i = 0; i < s->n && n < 3; i++)
    if (match(&s->entries[i].info, name)) em_str_printf(out, "%s%s", n++ ? ", " : "", s->entries[i].info.key);
}

int em_session_find(em_session *s, const char *name, size_t *index, em_err *err)
{
  matcher match = is_exact;
  size_t n = count_matches(s, name, match, index);
  if (n == 0) n = count_matches(s, name, match = is_part, index);
  if (n == 1) return EM_OK;
  if (n == 0) {
    const char *near = nearest_label(s, name);
    return em_fail(err, EM_E_INPUT, "no pool is called \"%s\"%s%s%s; `emmy view pools SOURCE` lists them", name,
                   near ? "; the nearest is \"" : "", near ? near : "", near ? "\"" : "");
  }
  em_str keys = {0};
  put_matches(s, name, match, &keys);
  em_fail(err, EM_E_INPUT, "\"%s\" names %zu pools (%s%s); give more of the name, or its whole key", name, n,
          keys.s ? keys.s : "", n > 3 ? ", ..." : "");
  em_str_free(&keys);
  return err->code;
}

/* ---- ranking ---- */

/* With the lock held: a copy of the text that lives as long as the session. */
static const char *keep_text(em_session *s, const em_str *text)
{
  const char *kept = text->failed ? NULL : text->len ? em_arena_strdup(s->arena, text->s) : "";
  return kept ? kept : "out of memory";
}

/* Others read what a pool is without the lock, so that is not written again, equal as it is. */
static void put_found(em_pool_info *to, const em_pool_info *from)
{
  size_t at = offsetof(em_pool_info, state);
  memcpy((char *)to + at, (const char *)from + at, sizeof *to - at);
}

/* Publishes what became of a pool. */
static void publish(em_session *s, size_t pool, em_pool_info *fresh, const em_str *outside, const em_str *note)
{
  pthread_mutex_lock(&s->lock);
  em_pool_info *i = &s->entries[pool].info;
  if (i->state == EM_POOL_WAITING) s->done++;
  put_found(i, fresh);
  i->outside = keep_text(s, outside);
  i->note = keep_text(s, note);
  s->generation++;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

/* Builds one pool and publishes its summary; *out may be NULL. */
static int rank_pool(em_session *s, size_t pool, const em_columns *cols, const em_progress *p, scored **out,
                     em_err *err)
{
  em_str outside = {0}, note = {0};
  em_pool_info info;
  em_session_pool(s, pool, &info);
  int rc = em_scored_build(s, pool, cols, p, &outside, out, err);
  if (rc == EM_E_CANCEL) {
    em_str_free(&outside);
    return rc;
  }
  if (outside.s) em_str_put(&note, outside.s);
  if (rc != EM_OK) {
    info.state = EM_POOL_FAILED;
    em_str_clear(&note);
    em_str_put(&note, err->msg);
  } else if (!*out) {
    info.state = EM_POOL_OUTSIDE;
  } else {
    em_scored_summarise(s->prior, *out, &info, &note);
  }
  publish(s, pool, &info, &outside, &note);
  em_str_free(&outside);
  em_str_free(&note);
  if (*out) {
    em_session_pool(s, pool, &(*out)->pub.info);
    (*out)->pub.pool = pool;
  }
  return rc;
}

/* With the lock held: the kept pool, or NULL. */
static scored *find_kept(em_session *s, size_t pool)
{
  for (size_t i = 0; i < s->n_kept; i++)
    if (s->kept[i] && s->kept[i]->pub.pool == pool) return s->kept[i];
  return NULL;
}

/* With the lock held. */
static scored *hold_kept(em_session *s, size_t pool)
{
  scored *sc = find_kept(s, pool);
  if (!sc) return NULL;
  sc->refs++;
  sc->used = ++s->clock;
  return sc;
}

scored *em_session_kept(em_session *s, size_t pool)
{
  pthread_mutex_lock(&s->lock);
  scored *sc = hold_kept(s, pool);
  pthread_mutex_unlock(&s->lock);
  return sc;
}

/* With the lock held: a place for one more; evicts the unused one that was used longest ago.
 * NULL when every kept pool is in use. */
static scored **free_place(em_session *s)
{
  scored **place = NULL;
  for (size_t i = 0; i < s->n_kept; i++) {
    if (!s->kept[i]) return &s->kept[i];
    if (s->kept[i]->refs == 0 && (!place || s->kept[i]->used < (*place)->used)) place = &s->kept[i];
  }
  if (place) em_scored_free(*place);
  return place;
}

/* Keeps a fresh pool, or hands it out unkept when all places are in use. */
static void keep_scored(em_session *s, scored *sc, int refs)
{
  pthread_mutex_lock(&s->lock);
  scored **place = free_place(s);
  sc->refs = refs;
  sc->used = ++s->clock;
  if (place) *place = sc;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  if (!place && refs == 0) em_scored_free(sc);
}

/* With the lock held: while the worker is on this pool there is no use in doing the same. */
static int wait_for_worker(em_session *s, size_t pool, const em_progress *p, em_err *err)
{
  enum { LOOK_NS = 50000000 };
  int rc = EM_OK;
  while (rc == EM_OK && s->started && s->current == pool && !find_kept(s, pool)) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&s->changed, &s->lock, &until);
    rc = em_progress_step(p, "waiting for the pool", 0, 0, err);
  }
  return rc;
}

int em_session_load(em_session *s, size_t pool, const em_progress *p, const em_scored **out, em_err *err)
{
  pthread_mutex_lock(&s->lock);
  int rc = wait_for_worker(s, pool, p, err);
  scored *sc = rc == EM_OK ? hold_kept(s, pool) : NULL;
  pthread_mutex_unlock(&s->lock);
  if (rc != EM_OK) return rc;
  if (!sc) {
    rc = rank_pool(s, pool, NULL, p, &sc, err);
    if (rc != EM_OK) return rc;
    if (!sc) {
      em_pool_info info;
      em_session_pool(s, pool, &info);
      return em_fail(err, EM_E_INPUT, "%s has no pool: %s", info.label, info.note);
    }
    keep_scored(s, sc, 1);
  }
  *out = &sc->pub;
  return EM_OK;
}

void em_session_release(em_session *s, const em_scored *pub)
{
  if (!pub) return;
  scored *sc = (scored *)pub; /* pub is its first member */
  pthread_mutex_lock(&s->lock);
  bool kept = false;
  for (size_t i = 0; i < s->n_kept; i++) kept |= s->kept[i] == sc;
  bool last = --sc->refs == 0;
  pthread_mutex_unlock(&s->lock);
  if (last && !kept) em_scored_free(sc);
}

bool em_session_ready(em_session *s, size_t pool)
{
  pthread_mutex_lock(&s->lock);
  em_pool_state state = s->entries[pool].info.state;
  bool ready = find_kept(s, pool) || state == EM_POOL_OUTSIDE || state == EM_POOL_FAILED;
  pthread_mutex_unlock(&s->lock);
  return ready;
}

const em_golden_mark *em_scored_golden(const em_scored *sc, size_t row)
{
  size_t lo = 0, hi = sc->n_goldens;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (sc->goldens[mid].row < row)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < sc->n_goldens && sc->goldens[lo].row == row ? &sc->goldens[lo] : NULL;
}

/* ---- the worker ---- */

/* With the lock held: the next pool to do, SIZE_MAX when there is none. */
static size_t next_pool(em_session *s, size_t from)
{
  if (s->wanted != SIZE_MAX) return s->wanted;
  for (size_t i = from; i < s->n; i++)
    if (s->entries[i].info.state == EM_POOL_WAITING) return i;
  return SIZE_MAX;
}

/* Ranks one pool outside the lock.  A wanted pool gets every column and is kept. */
static void work_on(em_session *s, size_t pool, bool wanted)
{
  em_err err;
  em_progress p = {.cancel = &s->cancel};
  scored *sc = NULL;
  int rc = rank_pool(s, pool, wanted ? NULL : em_prior_columns(s->prior), &p, &sc, &err);
  if (rc != EM_OK || !sc) return;
  if (wanted)
    keep_scored(s, sc, 0);
  else
    em_scored_free(sc);
}

static void *worker_main(void *arg)
{
  em_session *s = arg;
  pthread_mutex_lock(&s->lock);
  while (!s->cancel) {
    size_t pool = next_pool(s, 0);
    bool wanted = pool != SIZE_MAX && pool == s->wanted;
    if (wanted) s->wanted = SIZE_MAX;
    if (wanted && find_kept(s, pool)) continue;
    s->working = pool != SIZE_MAX;
    s->current = pool;
    if (!s->working) {
      pthread_cond_broadcast(&s->changed);
      pthread_cond_wait(&s->changed, &s->lock);
      continue;
    }
    pthread_mutex_unlock(&s->lock);
    work_on(s, pool, wanted);
    pthread_mutex_lock(&s->lock);
    s->current = SIZE_MAX;
    pthread_cond_broadcast(&s->changed);
  }
  s->working = false;
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

int em_session_start(em_session *s, em_err *err)
{
  if (s->started) return EM_OK;
  s->started = s->working = true; /* busy from here on, so that waiting never misses the start */
  int errnum = pthread_create(&s->worker, NULL, worker_main, s);
  if (errnum == 0) return EM_OK;
  s->started = s->working = false;
  return em_fail_errno(err, EM_E_ENV, errnum, "cannot start a thread");
}

void em_session_want(em_session *s, size_t pool)
{
  pthread_mutex_lock(&s->lock);
  if (s->started) {
    s->wanted = pool;
    s->working = true;
    pthread_cond_broadcast(&s->changed);
  }
  pthread_mutex_unlock(&s->lock);
}

void em_session_status_of(em_session *s, em_session_status *out)
{
  pthread_mutex_lock(&s->lock);
  *out = (em_session_status){.done = s->done,
                             .total = s->n,
                             .busy = s->working,
                             .generation = s->generation,
                             .current = s->current == SIZE_MAX ? "" : s->entries[s->current].info.label};
  pthread_mutex_unlock(&s->lock);
}

void em_session_wait(em_session *s)
{
  pthread_mutex_lock(&s->lock);
  while (s->started && s->working && !s->cancel) pthread_cond_wait(&s->changed, &s->lock);
  pthread_mutex_unlock(&s->lock);
}

int em_session_rank(em_session *s, size_t pool, const em_progress *p, em_err *err)
{
  em_pool_info info;
  em_session_status status;
  scored *sc = NULL;
  em_session_pool(s, pool, &info);
  if (info.state != EM_POOL_WAITING) return EM_OK;
  em_session_status_of(s, &status);
  int rc = em_progress_step(p, "ranking pools", status.done, status.total, err);
  if (rc == EM_OK) rc = rank_pool(s, pool, em_prior_columns(s->prior), p, &sc, err);
  em_scored_free(sc);
  return rc == EM_E_CANCEL || rc == EM_E_NOMEM ? rc : EM_OK;
}

int em_session_rank_all(em_session *s, const em_progress *p, em_err *err)
{
  for (size_t i = 0; i < s->n; i++) {
    int rc = em_session_rank(s, i, p, err);
    if (rc != EM_OK) return rc;
  }
  return em_progress_step(p, "ranking pools", s->n, s->n, err);
}
