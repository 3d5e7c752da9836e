/* value_print.c - the one spelling of each value, and a number that stands for it. */
#include "core/schedule/schedule_int.h"

#include <limits.h>
#include <string.h>

const char *const em_transport_names[EM_N_TRANSPORTS] = {"reg", "smem", "smem-async", "smem-tma"};

/* By hand, not with snprintf: ties among millions of rows are broken by these texts. */
static char *put_digits(char *p, unsigned v)
{
  if (v >= 10) p = put_digits(p, v / 10);
  *p = (char)('0' + v % 10);
  return p + 1;
}

static inline char *put_num(char *p, const char *prefix, unsigned v) { return put_digits(stpcpy(p, prefix), v); }

/* A token that is left out when its width is 1. */
static inline char *put_width(char *p, const char *prefix, unsigned v) { return v > 1 ? put_num(p, prefix, v) : p; }

const char *em_work_print(em_work v, char buf[EM_VALUE_LEN])
{
  char *p = buf;
  if (v.kind == EM_WORK_THREADS) {
    p = put_num(p, "t", v.n);
    p = put_width(p, "x", v.m);
  } else if (v.kind == EM_WORK_WARPS) {
    p = put_num(p, "w", v.m);
    p = put_num(p, "x", v.n);
    if (v.producers > 0) p = put_num(p, "+p", v.producers);
  }
  *p = '\0';
  return buf;
}

const char *em_tile_print(em_tile v, char buf[EM_VALUE_LEN])
{
  char *p = buf;
  if (v.kind == EM_TILE_SCALAR) {
    p = put_num(p, "f", v.fn);
    p = put_width(p, "x", v.fm);
  } else if (v.kind == EM_TILE_WARP) {
    const em_atom *atom = em_atom_at((size_t)v.atom);
    p = stpcpy(p, atom ? atom->name : "?"); /* no atom of the table: not a spelling, so nothing reads it back */
    p = put_num(p, "/f", v.fm);
    p = put_num(p, "x", v.fn);
    p = put_width(p, "/k", v.bk);
  }
  *p = '\0';
  return buf;
}

const char *em_reduce_print(em_reduce v, char buf[EM_VALUE_LEN])
{
  char *p = buf;
  if (v.cta > 1) {
    p = put_num(p, "/g", v.cta);
    *p++ = v.finalize;
  }
  if (v.coop != EM_COOP_NONE) p = stpcpy(p, v.coop == EM_COOP_T ? "/coop-t" : "/coop");
  if (v.coop == EM_COOP_T) p = put_width(p, "/v", v.v);
  p = put_width(p, "/r", v.r);
  *p = '\0';
  return p > buf ? memmove(buf, buf + 1, (size_t)(p - buf)) : buf; /* "/" only between tokens */
}

const char *em_stage_print(em_stage v, char buf[EM_VALUE_LEN])
{
  char *p = buf;
  if (v.transport != EM_STAGE_NONE) {
    p = put_num(p, "d", v.depth);
    *p++ = '/';
    p = stpcpy(p, em_transport_names[v.transport - EM_STAGE_REG]);
    p = put_width(p, "/p", v.p);
    p = put_width(p, "/c", v.c);
    p = v.out ? stpcpy(p, "/out") : p;
  }
  *p = '\0';
  return buf;
}

const char *em_raster_print(em_raster v, char buf[EM_VALUE_LEN])
{
  char *p = buf;
  if (v.group > 1) p = put_num(p, v.orient == 'm' ? "gm" : "gn", v.group);
  *p = '\0';
  return buf;
}

/* ---- numbers that stand for values: fields that are not spelled do not enter ---- */

static uint64_t width(uint64_t v, int shift) { return (v > 1 ? v : 1) << shift; }

uint64_t em_work_key(em_work v)
{
  if (v.kind == EM_WORK_NONE) return 0;
  return v.kind | (v.kind == EM_WORK_WARPS ? (uint64_t)v.producers << 8 : 0) | width(v.n, 16) | width(v.m, 32);
}

uint64_t em_tile_key(em_tile v)
{
  if (v.kind == EM_TILE_NONE) return 0;
  uint64_t key = v.kind | width(v.fn, 16) | width(v.fm, 24);
  return v.kind == EM_TILE_WARP ? key | (uint64_t)(uint8_t)v.atom << 8 | width(v.bk, 32) : key;
}

uint64_t em_reduce_key(em_reduce v)
{
  uint64_t key = v.coop | width(v.r, 8) | width(v.cta, 16);
  key |= v.cta > 1 ? (uint64_t)(uint8_t)v.finalize << 24 : 0;
  return key | (v.coop == EM_COOP_T ? width(v.v, 32) : 0);
}

uint64_t em_stage_key(em_stage v)
{
  if (v.transport == EM_STAGE_NONE) return 0;
  return v.transport | (uint64_t)v.depth << 8 | width(v.p, 16) | width(v.c, 24) | (uint64_t)v.out << 32;
}

uint64_t em_raster_key(em_raster v) { return v.group > 1 ? v.group | (uint64_t)(uint8_t)v.orient << 8 : 0; }

int em_work_threads(em_work w)
{
  int64_t units = (int64_t)w.n * w.m;
  int64_t threads = w.kind == EM_WORK_WARPS ? 32 * (units + w.producers) : w.kind == EM_WORK_THREADS ? units : 1;
  return threads > INT_MAX ? INT_MAX : (int)threads;
}
