/* metrics_file.h - what the views over fits share. */
#ifndef EM_METRICS_FILE_H
#define EM_METRICS_FILE_H

#include "views/views_int.h"

/* A 0-based rank of the file as people count; missing when it is NaN. */
void em_cell_file_rank(em_cell *c, double rank);
/* The card that a pool's key or a summary names, by its short name where it is known. */
void em_cell_gpu(em_cell *c, const char *gpu, size_t len);

/* Two objects with sorted keys walked side by side: the next key of either; false at the end. */
typedef struct em_both {
  const cJSON *a, *b;
} em_both; /* starts with the objects' first children */
bool em_both_next(em_both *at, const char **key, const cJSON **a, const cJSON **b);

#endif
