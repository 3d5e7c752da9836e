/* parallel.c - loops over chunks on several threads.
 *
 * With OpenMP its pool of threads is used.  Without it (the ThreadSanitizer
 * builds, whose tool does not see OpenMP's own synchronisation) plain threads
 * do the same work in the same chunks. */
#include <sched.h>

#ifndef _OPENMP
#include <pthread.h>
#endif

#include "core/base/base_int.h"

int em_cpu_count(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int n = CPU_COUNT(&set);
  return n > 0 ? n : 1;
}

typedef struct loop {
  size_t n, chunk, n_chunks;
  void (*fn)(void *ctx, size_t begin, size_t end);
  void *ctx;
} loop;

static void run_chunk(const loop *l, size_t i)
{
  size_t begin = i * l->chunk;
  size_t left = l->n - begin;
  l->fn(l->ctx, begin, begin + (left < l->chunk ? left : l->chunk));
}

#ifdef _OPENMP

static void run_loop(const loop *l, int threads)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t i = 0; i < l->n_chunks; i++) run_chunk(l, i);
}

#else

#define MAX_THREADS 64

static _Thread_local bool inside; /* a loop in a loop stays on its thread, as with OpenMP */

/* The chunks first, first + step, ...: dealt out beforehand, so that each thread
 * surely gets some and the tool sees what it shares with the others. */
typedef struct share {
  const loop *loop;
  size_t first, step;
} share;

static void *work(void *arg)
{
  const share *s = arg;
  bool outer = inside;
  inside = true;
  for (size_t i = s->first; i < s->loop->n_chunks; i += s->step) run_chunk(s->loop, i);
  inside = outer;
  return NULL;
}

static void run_loop(const loop *l, int threads)
{
  pthread_t ids[MAX_THREADS];
  share shares[MAX_THREADS];
  bool started[MAX_THREADS] = {false};
  if (inside) threads = 1;
  if (threads > MAX_THREADS) threads = MAX_THREADS;
  for (int t = 0; t < threads; t++) {
    shares[t] = (share){l, (size_t)t, (size_t)threads};
    started[t] = t > 0 && pthread_create(&ids[t], NULL, work, &shares[t]) == 0;
  }
  for (int t = 0; t < threads; t++)
    if (!started[t]) work(&shares[t]);
  for (int t = 0; t < threads; t++)
    if (started[t]) pthread_join(ids[t], NULL);
}

#endif

void em_parallel_for(size_t n, size_t chunk, int threads, void (*fn)(void *ctx, size_t begin, size_t end), void *ctx)
{
  if (n == 0) return;
  if (chunk == 0) chunk = 1;
  loop l = {.n = n, .chunk = chunk, .n_chunks = (n - 1) / chunk + 1, .fn = fn, .ctx = ctx};
  if (threads <= 0) threads = em_cpu_count();
  if ((size_t)threads > l.n_chunks) threads = (int)l.n_chunks;
  if (threads > 1) {
    run_loop(&l, threads);
    return;
  }
  for (size_t i = 0; i < l.n_chunks; i++) run_chunk(&l, i);
}

static _Thread_local const volatile int *thread_cancel;

const volatile int *em_cancel_of_thread(const volatile int *cancel)
{
  const volatile int *before = thread_cancel;
  thread_cancel = cancel;
  return before;
}

void em_cancel_set(volatile int *cancel) { __atomic_store_n(cancel, 1, __ATOMIC_RELAXED); }

static bool is_set(const volatile int *cancel) { return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED); }

int em_progress_step(const em_progress *p, const char *what, size_t done, size_t total, em_err *err)
{
  if (p && p->report) p->report(p->ctx, what, done, total);
  if (!is_set(p ? p->cancel : NULL) && !is_set(thread_cancel)) return EM_OK;
  return em_fail(err, EM_E_CANCEL, "%s: cancelled after %zu of %zu", what, done, total);
}
