/* cmd_target.c - emmy target list, show. */
#include "tui/cli.h"

static const char *const no_args[EM_MAX_PARAMS];

int em_cmd_target_list(const em_args *a, em_err *err) { return em_view_print(a, "cards", NULL, no_args, err); }

/* ---- one card: the columns of the view of cards, one a row ---- */

enum { PROPERTY, VALUE, UNIT, MEANING };

static const em_view_column columns[] = {
  {"property", "property", EM_TEXT, "", 16, 0, "column of the view of cards"},
  {"value", "value", EM_TEXT, "", 40, 0, "its value for this card"},
  {"unit", "unit", EM_TEXT, "", 8, 0, "unit of the value"},
  {"meaning", "meaning", EM_TEXT, "", 40, 0, "what it says"},
};

typedef struct card_row {
  em_cursor *cards;
  size_t row;
} card_row;

static void get(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const card_row *c = ctx;
  const em_view_column *property = &c->cards->view->columns[row];
  em_cell value;
  em_str text = {0};
  switch (column) {
  case PROPERTY: em_cell_text(out, property->name); return;
  case UNIT: em_cell_text(out, property->unit); return;
  case MEANING: em_cell_text(out, property->doc); return;
  default: break;
  }
  c->cards->view->cell(c->cards, c->row, row, &value);
  if (value.state == EM_CELL_MISSING) {
    em_cell_missing(out);
    return;
  }
  em_cell_display(property, &value, true, &text);
  em_cell_printf(out, "%s", text.s ? text.s : "");
  em_str_free(&text);
}

int em_cmd_target_show(const em_args *a, em_err *err)
{
  const em_card *card;
  card_row c = {0};
  int rc = em_card_find(a->words[0], &card, err);
  if (rc == EM_OK) rc = em_view_open("cards", NULL, no_args, &c.cards, err);
  if (rc != EM_OK) return rc;
  while (em_card_at(c.row) != card) c.row++;
  em_table t = {columns, sizeof columns / sizeof *columns, c.cards->view->n_columns, get, &c};
  rc = em_table_print(a, &t, err);
  em_cursor_close(c.cards);
  return rc;
}
