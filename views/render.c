/* render.c - a view's rows through a writer. */
#include "views/views.h"

int em_render_view(em_cursor *c, const em_arrangement *a, const em_render *r, em_put_fn put, void *ctx, em_err *err)
{
  const em_view *v = c->view;
  size_t rows = r->limit && r->limit < a->n ? r->limit : a->n;
  bool shown_only = r->format == EM_FORMAT_TABLE || r->format == EM_FORMAT_MARKDOWN;
  em_writer *w;
  if (em_writer_open(v->columns, v->n_columns, r, put, ctx, &w, err) != EM_OK) return err->code;
  for (size_t i = 0; i < rows && !em_writer_stopped(w); i++) {
    for (size_t column = 0; column < v->n_columns; column++) {
      em_cell cell;
      if (!shown_only || v->columns[column].width)
        v->cell(c, a->rows[i], column, &cell);
      else
        em_cell_missing(&cell); /* not shown: not worth computing */
      em_writer_cell(w, &cell);
    }
  }
  return em_writer_close(w, err);
}
