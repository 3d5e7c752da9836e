/*
 * fit_steps.c - progress and stopping of a run whose trainings work at the same time.
 */
#include "core/fit/fit_int.h"

void em_fit_steps_open(em_fit_steps *s, const em_progress *progress, size_t total)
{
  *s = (em_fit_steps){.progress = progress, .total = total};
  pthread_mutex_init(&s->lock, NULL);
}

void em_fit_steps_close(em_fit_steps *s) { pthread_mutex_destroy(&s->lock); }

int em_fit_step(em_fit_steps *s, size_t n, em_err *err)
{
  pthread_mutex_lock(&s->lock);
  s->done += n;
  bool stop = s->stop || em_progress_step(s->progress, "fitting trees", s->done, s->total, err) != EM_OK;
  int rc = EM_OK;
  if (stop)
    rc = em_fail(err, EM_E_CANCEL, "fit cancelled after %zu of %zu trees; nothing was written", s->done, s->total);
  pthread_mutex_unlock(&s->lock);
  return rc;
}

void em_fit_stop(em_fit_steps *s)
{
  pthread_mutex_lock(&s->lock);
  s->stop = true;
  pthread_mutex_unlock(&s->lock);
}
