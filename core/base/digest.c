/* digest.c - XXH3 with 128 bits. */
#include <string.h>

#define XXH_STATIC_LINKING_ONLY /* the state's size, so that we allocate it */
#include <xxhash.h>

#include "core/base/base_int.h"

struct em_hasher {
  XXH3_state_t state; /* wants 64-byte alignment */
};

static em_digest from_xxh(XXH128_hash_t h) { return (em_digest){h.high64, h.low64}; }

em_digest em_digest_bytes(const void *data, size_t len) { return from_xxh(XXH3_128bits(data, len)); }

em_hasher *em_hasher_new(void)
{
  em_hasher *h = em_alloc_aligned(1, sizeof *h);
  if (!h) return NULL;
  XXH3_INITSTATE(&h->state);
  XXH3_128bits_reset(&h->state);
  return h;
}

void em_hasher_add(em_hasher *h, const void *data, size_t len) { XXH3_128bits_update(&h->state, data, len); }

void em_hasher_add_str(em_hasher *h, const char *s) { em_hasher_add(h, s, strlen(s) + 1); }

em_digest em_hasher_end(em_hasher *h)
{
  em_digest d = from_xxh(XXH3_128bits_digest(&h->state));
  em_free(h);
  return d;
}

void em_digest_hex(em_digest d, char hex[33])
{
  snprintf(hex, 33, "%016llx%016llx", (unsigned long long)d.hi, (unsigned long long)d.lo);
}

static bool parse_half(const char *s, uint64_t *out)
{
  *out = 0;
  for (int i = 0; i < 16; i++) {
    unsigned digit;
    if (s[i] >= '0' && s[i] <= '9')
      digit = (unsigned)(s[i] - '0');
    else if (s[i] >= 'a' && s[i] <= 'f')
      digit = (unsigned)(s[i] - 'a' + 10);
    else
      return false;
    *out = *out << 4 | digit;
  }
  return true;
}

bool em_digest_parse(const char *hex, em_digest *out)
{
  em_digest d;
  if (strlen(hex) != 32 || !parse_half(hex, &d.hi) || !parse_half(hex + 16, &d.lo)) return false;
  *out = d;
  return true;
}

bool em_digest_eq(em_digest a, em_digest b) { return a.hi == b.hi && a.lo == b.lo; }
