/* mem.c - the one way to the heap, countable and breakable by tests. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base_int.h"

#define ALIGNMENT 64

static atomic_int_least64_t live_blocks;
static atomic_uint_least64_t fail_countdown; /* 0 = never */
static atomic_bool fail_sticky;

void em_alloc_fail_at(uint64_t n, bool sticky)
{
  atomic_store(&fail_sticky, sticky);
  atomic_store(&fail_countdown, n);
}

int64_t em_alloc_live(void) { return atomic_load(&live_blocks); }

static bool must_fail(void)
{
  uint_least64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
  for (;;) {
    if (left == 0) return false;
    uint_least64_t next = left > 1 ? left - 1 : atomic_load(&fail_sticky) ? 1 : 0;
    if (atomic_compare_exchange_weak(&fail_countdown, &left, next)) return left == 1;
  }
}

static void *counted(void *p)
{
  if (p) atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
  return p;
}

void *em_alloc(size_t size)
{
  if (must_fail()) return NULL;
  return counted(malloc(size ? size : 1));
}

void *em_calloc(size_t n, size_t size)
{
  size_t bytes; /* calloc checks too, but sanitizers end the program there */
  if (__builtin_mul_overflow(n, size, &bytes) || must_fail()) return NULL;
  return counted(bytes ? calloc(n, size) : calloc(1, 1));
}

void *em_realloc(void *p, size_t n, size_t size)
{
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || must_fail()) return NULL;
  void *q = realloc(p, bytes ? bytes : 1);
  return p ? q : counted(q);
}

void *em_alloc_aligned(size_t n, size_t size)
{
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT || must_fail()) return NULL;
  size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return counted(aligned_alloc(ALIGNMENT, rounded ? rounded : ALIGNMENT));
}

char *em_strndup(const char *s, size_t n)
{
  size_t len = strnlen(s, n);
  char *p = em_alloc(len + 1);
  if (!p) return NULL;
  memcpy(p, s, len);
  p[len] = '\0';
  return p;
}

char *em_strdup(const char *s) { return em_strndup(s, strlen(s)); }

void em_free(void *p)
{
  if (!p) return;
  atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
  free(p);
}

int em_grow(void *items, size_t *cap, size_t need, size_t size, em_err *err)
{
  if (need <= *cap) return EM_OK;
  size_t want = *cap < 8 ? 8 : *cap;
  while (want < need) want = want > SIZE_MAX / 2 ? need : want * 2;
  void *old; /* `items` is the address of a pointer to any type: copied, not cast */
  memcpy(&old, items, sizeof old);
  void *grown = em_realloc(old, want, size);
  if (!grown) return em_fail_nomem(err);
  memcpy(items, &grown, sizeof grown);
  *cap = want;
  return EM_OK;
}
