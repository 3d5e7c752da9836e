/* arena.c - many small allocations that are freed together. */
#include <stdalign.h>
#include <string.h>

#include "core/base/base_int.h"

#define BLOCK_SIZE ((size_t)64 * 1024)
#define BIG_SIZE   (BLOCK_SIZE / 4) /* from here on an allocation gets a block of its own */

typedef struct block {
  struct block *next;
  alignas(max_align_t) char bytes[];
} block;

struct em_arena {
  block *all;
  char *at; /* free room of the current block */
  size_t left;
};

em_arena *em_arena_new(void) { return em_calloc(1, sizeof(em_arena)); }

static char *add_block(em_arena *a, size_t size)
{
  block *b = em_calloc(1, sizeof *b + size);
  if (!b) return NULL;
  b->next = a->all;
  a->all = b;
  return b->bytes;
}

void *em_arena_alloc(em_arena *a, size_t n, size_t size)
{
  const size_t align = alignof(max_align_t);
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - sizeof(block) - align) return NULL;
  bytes = bytes ? (bytes + align - 1) / align * align : align;
  if (bytes >= BIG_SIZE) return add_block(a, bytes);
  if (bytes > a->left) {
    char *room = add_block(a, BLOCK_SIZE);
    if (!room) return NULL;
    a->at = room;
    a->left = BLOCK_SIZE;
  }
  void *p = a->at;
  a->at += bytes;
  a->left -= bytes;
  return p;
}

char *em_arena_strdup(em_arena *a, const char *s)
{
  size_t size = strlen(s) + 1;
  char *p = em_arena_alloc(a, size, 1);
  if (p) memcpy(p, s, size);
  return p;
}

void em_arena_free(em_arena *a)
{
  if (!a) return;
  for (block *b = a->all; b;) {
    block *next = b->next;
    em_free(b);
    b = next;
  }
  em_free(a);
}
