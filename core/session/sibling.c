/* sibling.c - the same pools under another prior. */
#include <string.h>

#include "core/session/session_int.h"

/* A file that is not there has a stamp too: loading it says what is wrong. */
static file_stamp stamp_of(const char *path)
{
  struct stat st;
  if (stat(path, &st) != 0) return (file_stamp){0};
  return (file_stamp){st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim};
}

static bool same_time(struct timespec a, struct timespec b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

static bool is_same(const file_stamp *a, const file_stamp *b)
{
  return a->device == b->device && a->inode == b->inode && a->size == b->size && same_time(a->modified, b->modified) &&
         same_time(a->changed, b->changed);
}

/* Listed as in the main session, not ranked; what only a ranked pool has is not read before it is ranked again. */
static int copy_entries(em_session *main, em_session *s, em_err *err)
{
  s->entries = em_calloc(main->n + 1, sizeof *s->entries);
  if (!s->entries) return em_fail_nomem(err);
  pthread_mutex_lock(&main->lock);
  if (main->n) memcpy(s->entries, main->entries, main->n * sizeof *s->entries);
  pthread_mutex_unlock(&main->lock);
  s->n = main->n;
  for (size_t i = 0; i < s->n; i++) {
    em_pool_info *info = &s->entries[i].info;
    info->state = EM_POOL_WAITING;
    info->note = info->outside = "";
  }
  return EM_OK;
}

/* With the lock of the main session held. */
static em_session *hold(em_session *main, em_session *sibling)
{
  sibling->refs++;
  sibling->used = ++main->clock;
  return sibling;
}

static em_session *hold_open(em_session *main, const char *path, const file_stamp *now)
{
  em_session *found = NULL;
  pthread_mutex_lock(&main->lock);
  for (em_session *s = main->siblings; s && !found; s = s->next)
    if (strcmp(s->prior_path, path) == 0 && is_same(&s->stamp, now)) found = hold(main, s);
  pthread_mutex_unlock(&main->lock);
  return found;
}

static int open_sibling(em_session *main, const char *path, const file_stamp *now, em_session **out, em_err *err)
{
  em_session *s = em_session_new(1, err);
  if (!s) return err->code;
  s->opt = main->opt;
  s->main = main;
  s->stamp = *now;
  s->prior_path = em_strdup(path);
  int rc = s->prior_path ? em_prior_load(path, s->opt.feat_ver, &s->prior, err) : em_fail_nomem(err);
  if (rc == EM_OK) rc = copy_entries(main, s, err);
  if (rc != EM_OK) {
    em_session_close(s);
    return rc;
  }
  pthread_mutex_lock(&main->lock);
  s->next = main->siblings;
  main->siblings = s;
  *out = hold(main, s);
  pthread_mutex_unlock(&main->lock);
  return EM_OK;
}

int em_session_with_prior(em_session *s, const char *path, em_session **out, em_err *err)
{
  em_session *main = s->main ? s->main : s;
  if (!path) {
    pthread_mutex_lock(&main->lock);
    *out = s->main ? hold(main, s) : s;
    pthread_mutex_unlock(&main->lock);
    return EM_OK;
  }
  file_stamp now = stamp_of(path);
  *out = hold_open(main, path, &now);
  return *out ? EM_OK : open_sibling(main, path, &now, out, err);
}

const char *em_session_other_prior(const em_session *s) { return s->main ? s->prior_path : NULL; }

/* With the lock held: takes out the one that was let go longest ago, when there are more than are kept; or NULL. */
static em_session *take_surplus(em_session *main)
{
  em_session **oldest = NULL;
  size_t n = 0;
  for (em_session **at = &main->siblings; *at; at = &(*at)->next) {
    if ((*at)->refs > 0) continue;
    n++;
    if (!oldest || (*at)->used < (*oldest)->used) oldest = at;
  }
  if (n <= KEPT_SIBLINGS) return NULL;
  em_session *taken = *oldest;
  *oldest = taken->next;
  return taken;
}

void em_session_let_go(em_session *s)
{
  if (!s || !s->main) return;
  em_session *main = s->main;
  pthread_mutex_lock(&main->lock);
  s->refs--;
  s->used = ++main->clock;
  em_session *surplus = take_surplus(main);
  pthread_mutex_unlock(&main->lock);
  em_session_close(surplus);
}

void em_session_close_siblings(em_session *s)
{
  while (s->siblings) {
    em_session *first = s->siblings;
    s->siblings = first->next;
    em_session_close(first);
  }
}
