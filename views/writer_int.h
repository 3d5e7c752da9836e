/* writer_int.h - inside of em_writer: what its formats share. */
#ifndef EM_WRITER_INT_H
#define EM_WRITER_INT_H

#include "views/views_int.h"

/* The cells of a table's first rows, as displayed, until the widths are known. */
typedef struct held {
  em_str texts;
  uint32_t *lengths;
  size_t n, cap;
} held;

struct em_writer {
  const em_view_column *columns;
  size_t n;
  em_render r;
  em_put_fn put;
  void *ctx;
  const struct format *format;
  size_t row, at; /* rows done; column of the next cell */
  em_str line;
  bool stopped, failed;
  em_str scratch;
  /* tables */
  held held;
  bool flowing; /* widths are settled, the header is out */
  int *width;
  bool *right;
  size_t left_out; /* the first column that was left out; 0 = none was */
};

/* How a format writes; each may be NULL. */
typedef struct format {
  void (*begin)(em_writer *w);
  void (*cell)(em_writer *w, const em_cell *c);
  void (*row)(em_writer *w);
  void (*end)(em_writer *w);
} format;

extern const format em_writer_table;

void em_writer_flush(em_writer *w);                          /* hands `line` on and clears it */
const char *em_writer_shown(em_writer *w, const em_cell *c); /* as displayed in the column `at`; in `scratch` */

#endif
