/* job.c - work on a thread of its own. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "tui/job.h"

struct em_job {
  int (*fn)(void *ctx, em_err *err);
  void *ctx;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool ended;
  volatile int cancel;
  int rc;
  em_err err;
};

static void *run(void *arg)
{
  em_job *j = arg;
  em_cancel_of_thread(&j->cancel);
  int rc = j->fn(j->ctx, &j->err);
  pthread_mutex_lock(&j->lock);
  j->rc = rc;
  j->ended = true;
  pthread_cond_broadcast(&j->changed);
  pthread_mutex_unlock(&j->lock);
  return NULL;
}

static void free_job(em_job *j)
{
  pthread_cond_destroy(&j->changed);
  pthread_mutex_destroy(&j->lock);
  em_free(j);
}

/* Signals are for the thread of the screen: it waits for them. */
static int start_thread(em_job *j)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int errnum = pthread_create(&j->thread, NULL, run, j);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return errnum;
}

int em_job_start(int (*fn)(void *ctx, em_err *err), void *ctx, em_job **out, em_err *err)
{
  pthread_condattr_t clock;
  em_job *j = em_calloc(1, sizeof *j);
  if (!j) return em_fail_nomem(err);
  j->fn = fn;
  j->ctx = ctx;
  pthread_mutex_init(&j->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&j->changed, &clock);
  pthread_condattr_destroy(&clock);
  int errnum = start_thread(j);
  if (errnum != 0) {
    free_job(j);
    return em_fail_errno(err, EM_E_ENV, errnum, "cannot start a thread");
  }
  *out = j;
  return EM_OK;
}

bool em_job_wait(em_job *j, int ms)
{
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += ms / 1000;
  end.tv_nsec += ms % 1000 * 1000000L;
  if (end.tv_nsec >= 1000000000L) end.tv_sec++, end.tv_nsec -= 1000000000L;
  int rc = 0;
  pthread_mutex_lock(&j->lock);
  while (!j->ended && ms != 0 && rc != ETIMEDOUT)
    rc = ms < 0 ? pthread_cond_wait(&j->changed, &j->lock) : pthread_cond_timedwait(&j->changed, &j->lock, &end);
  bool ended = j->ended;
  pthread_mutex_unlock(&j->lock);
  return ended;
}

void em_job_cancel(em_job *j) { em_cancel_set(&j->cancel); }

int em_job_end(em_job *j, em_err *err)
{
  pthread_join(j->thread, NULL);
  int rc = j->rc;
  if (rc != EM_OK) *err = j->err;
  free_job(j);
  return rc;
}
