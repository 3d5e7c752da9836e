/* Any bytes: refused with a message, or a model whose text reads back the same
 * and which scores rows alone as it does in blocks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/prior/prior.h"

enum { ROWS = 40, COLS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse(const char *text, size_t len, em_model **out, em_err *err)
{
  cJSON *json;
  const em_place at = {.file = "input"};
  if (em_json_parse(text, len, "input", &json, err)) return err->code;
  int rc = em_model_parse(json, &at, out, err);
  em_json_free(json);
  return rc;
}

static void same_text(const em_model *m)
{
  em_err err;
  em_model *again;
  em_str first = {0}, second = {0};
  em_model_print(m, &first);
  if (parse(first.s, first.len, &again, &err)) abort();
  em_model_print(again, &second);
  if (strcmp(first.s, second.s) != 0) abort();
  em_model_free(again);
  em_str_free(&first);
  em_str_free(&second);
}

static void same_scores(const em_model *m)
{
  static const double x[COLS] = {-INFINITY, 0.5, NAN};
  double rows[ROWS * COLS], block[ROWS], alone;
  em_err err;
  size_t n = em_model_n_features(m);
  int32_t *col = em_calloc(n, sizeof *col);
  if (!col) abort();
  for (size_t i = 0; i < n; i++) col[i] = (int32_t)(i % (COLS + 1)) - 1;
  for (size_t i = 0; i < ROWS * COLS; i++) rows[i] = i % 2 ? x[i / 2 % COLS] : (double)i / 8;
  if (em_model_score(m, rows, ROWS, COLS, col, 1, block, &err)) abort();
  for (size_t r = 0; r < ROWS; r++)
    if (em_model_score(m, rows + r * COLS, 1, COLS, col, 1, &alone, &err) ||
        memcmp(&alone, &block[r], sizeof alone) != 0)
      abort();
  em_free(col);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  em_model *m;
  em_err err = {0};
  int64_t live = em_alloc_live();
  int rc = parse((const char *)data, size, &m, &err);
  if (rc == EM_OK) {
    same_text(m);
    same_scores(m);
    em_model_free(m);
  } else if (rc != EM_E_INPUT || !*err.msg) {
    abort();
  }
  if (em_alloc_live() != live) abort();
  return 0;
}
