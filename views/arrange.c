/* arrange.c - which rows of a cursor are shown, and in which order. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "views/views.h"

/* Asked once a row, looks once in a while whether to go on. */
static int go_on(size_t row, size_t rows, em_err *err)
{
  return row % 256 == 0 ? em_progress_step(NULL, "rows", row, rows, err) : EM_OK;
}

/* Does any of the columns [first, last) of this row contain `text`, as displayed? */
static bool row_contains(em_cursor *c, size_t row, size_t first, size_t last, const char *text, em_str *scratch)
{
  for (size_t i = first; i < last; i++) {
    em_cell cell;
    c->view->cell(c, row, i, &cell);
    if (cell.state == EM_CELL_MISSING) continue;
    em_str_clear(scratch);
    em_cell_display(&c->view->columns[i], &cell, true, scratch);
    if (scratch->s && strcasestr(scratch->s, text)) return true;
  }
  return false;
}

/* A filter's parts: [!][column:]text. */
typedef struct filter {
  bool invert;
  size_t first, last;
  const char *text;
} filter;

static filter parse_filter(const em_view *v, const char *s)
{
  filter f = {.first = 0, .last = v->n_columns, .text = s};
  if (*f.text == '!') {
    f.invert = true;
    f.text++;
  }
  const char *colon = strchr(f.text, ':');
  if (!colon) return f;
  for (size_t i = 0; i < v->n_columns; i++) {
    const char *names[] = {v->columns[i].name, v->columns[i].title};
    for (size_t k = 0; k < 2; k++) {
      if (strlen(names[k]) != (size_t)(colon - f.text) || strncasecmp(names[k], f.text, strlen(names[k])) != 0)
        continue;
      f.first = i;
      f.last = i + 1;
      f.text = colon + 1;
      return f;
    }
  }
  return f;
}

/* Sorting reads each cell once: numbers as numbers, texts as copies. */
typedef struct sort_key {
  em_cell_state state;
  bool is_text;
  double number;
  char *text;
  uint32_t row;
} sort_key;

static int compare_keys(const sort_key *a, const sort_key *b)
{
  em_cell x = {.state = a->state, .type = a->is_text ? EM_TEXT : EM_REAL, .f = a->number, .s = a->text};
  em_cell y = {.state = b->state, .type = b->is_text ? EM_TEXT : EM_REAL, .f = b->number, .s = b->text};
  return em_cell_compare(&x, &y);
}

static int ascending(const void *pa, const void *pb)
{
  const sort_key *a = pa, *b = pb;
  int d = compare_keys(a, b);
  return d ? d : (a->row > b->row) - (a->row < b->row);
}

static int descending(const void *pa, const void *pb)
{
  const sort_key *a = pa, *b = pb;
  bool a_missing = a->state == EM_CELL_MISSING, b_missing = b->state == EM_CELL_MISSING;
  int d = a_missing || b_missing ? a_missing - b_missing : -compare_keys(a, b);
  return d ? d : (a->row > b->row) - (a->row < b->row);
}

static int read_key(em_cursor *c, uint32_t row, size_t column, sort_key *key, em_err *err)
{
  em_cell cell;
  c->view->cell(c, row, column, &cell);
  *key = (sort_key){.state = cell.state, .is_text = cell.type == EM_TEXT, .row = row};
  if (cell.state != EM_CELL_VALUE) return EM_OK;
  if (key->is_text) {
    key->text = em_strdup(cell.s);
    return key->text ? EM_OK : em_fail_nomem(err);
  }
  key->number = cell.type == EM_REAL ? cell.f : (double)cell.i;
  return EM_OK;
}

static int sort_rows(em_cursor *c, size_t column, bool desc, em_arrangement *a, em_err *err)
{
  sort_key *keys = em_calloc(a->n ? a->n : 1, sizeof *keys);
  if (!keys) return em_fail_nomem(err);
  int rc = EM_OK;
  for (size_t i = 0; i < a->n && rc == EM_OK; i++)
    if ((rc = go_on(i, a->n, err)) == EM_OK) rc = read_key(c, a->rows[i], column, &keys[i], err);
  if (rc == EM_OK) {
    qsort(keys, a->n, sizeof *keys, desc ? descending : ascending);
    for (size_t i = 0; i < a->n; i++) a->rows[i] = keys[i].row;
  }
  for (size_t i = 0; i < a->n; i++) em_free(keys[i].text);
  em_free(keys);
  return rc;
}

static int filter_rows(em_cursor *c, const char *text, em_arrangement *a, em_err *err)
{
  filter f = parse_filter(c->view, text);
  em_str scratch = {0};
  int rc = EM_OK;
  for (size_t row = 0; row < a->of && !scratch.failed && rc == EM_OK; row++) {
    if (row_contains(c, row, f.first, f.last, f.text, &scratch) != f.invert) a->rows[a->n++] = (uint32_t)row;
    rc = go_on(row, a->of, err);
  }
  if (scratch.failed) rc = em_fail_nomem(err);
  em_str_free(&scratch);
  return rc;
}

int em_arrange(em_cursor *c, int column, bool desc, const char *text, em_arrangement *out, em_err *err)
{
  em_arrangement a = {.of = c->view->rows(c)};
  a.rows = em_calloc(a.of ? a.of : 1, sizeof *a.rows);
  if (!a.rows) return em_fail_nomem(err);
  int rc = EM_OK;
  if (text && *text) {
    rc = filter_rows(c, text, &a, err);
  } else {
    for (size_t i = 0; i < a.of; i++) a.rows[i] = (uint32_t)i;
    a.n = a.of;
  }
  if (rc == EM_OK && column >= 0) rc = sort_rows(c, (size_t)column, desc, &a, err);
  if (rc != EM_OK) {
    em_free(a.rows);
    return rc;
  }
  *out = a;
  return EM_OK;
}

void em_arrangement_free(em_arrangement *a)
{
  em_free(a->rows);
  *a = (em_arrangement){0};
}

size_t em_arrangement_search(em_cursor *c, const em_arrangement *a, size_t from, int step, const char *text)
{
  size_t found = SIZE_MAX;
  em_str scratch = {0};
  em_err cancelled;
  for (size_t k = 0; k < a->n && found == SIZE_MAX && go_on(k, a->n, &cancelled) == EM_OK; k++) {
    size_t at = step > 0 ? (from + k) % a->n : (from + a->n - k) % a->n;
    if (row_contains(c, a->rows[at], 0, c->view->n_columns, text, &scratch)) found = at;
  }
  em_str_free(&scratch);
  return found;
}
