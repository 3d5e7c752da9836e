/* schedule_int.h - shared inside core/schedule. */
#ifndef EM_SCHEDULE_INT_H
#define EM_SCHEDULE_INT_H

#include "core/schedule/schedule.h"

/* A key taken apart: "TILE@map.1/inner" is family TILE, route "map.1/inner". */
typedef struct em_key {
  bool is_family;
  em_family family;
  size_t name_len;
  const char *route; /* NULL when bare */
} em_key;
em_key em_key_split(const char *key);

/* One value of any family, canonical against `w`. */
int em_value_check(em_family f, const char *value, em_work w, em_err *err) EM_MUST_CHECK;

/* Spellings that the parser and the printer share, by enum. */
extern const char *const em_transport_names[]; /* EM_STAGE_REG - 1 ... */
enum { EM_N_TRANSPORTS = 4 };

/* A number for each value: equal numbers mean equal texts. */
uint64_t em_work_key(em_work v);
uint64_t em_tile_key(em_tile v);
uint64_t em_reduce_key(em_reduce v);
uint64_t em_stage_key(em_stage v);
uint64_t em_raster_key(em_raster v);

#endif
