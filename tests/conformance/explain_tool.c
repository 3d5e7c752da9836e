/*
 * explain_tool.c - explanations of a CatBoost JSON model, for comparison with CatBoost's own.
 *
 *   explain_tool shap   MODEL.json ROWS.npy OUT.npy    SHAP values of each row, the expected score last
 *   explain_tool values MODEL.json OUT.npy             PredictionValuesChange
 *   explain_tool loss   MODEL.json ROWS.npy OUT.npy    LossFunctionChange; ROWS has two columns more: label, group
 *   explain_tool time   MODEL.json ROWS.npy THREADS    processor seconds of `shap`, least of five
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/prior/prior.h"

static int read_model(const char *path, em_model **out, em_err *err)
{
  cJSON *json;
  const em_place at = {.file = path};
  if (em_json_read(path, &json, err)) return err->code;
  int rc = em_model_parse(json, &at, out, err);
  em_json_free(json);
  return rc;
}

static int write_matrix(const char *path, const double *data, size_t rows, size_t cols, em_err *err)
{
  em_out *o;
  if (em_out_open(path, &o, err)) return err->code;
  if (em_npy_write(o, rows, cols)) {
    em_out_abort(o);
    return em_fail(err, EM_E_IO, "%s: the header could not be written", path);
  }
  em_out_write(o, data, rows * cols * sizeof *data);
  return em_out_commit(o, err);
}

/* Column f is feature f. */
static int32_t *identity(size_t n)
{
  int32_t *col = em_calloc(n + 1, sizeof *col);
  for (size_t i = 0; col && i < n; i++) col[i] = (int32_t)i;
  return col;
}

static int shap(const em_model *m, const em_npy *x, int threads, const char *path, em_err *err)
{
  size_t n = em_model_n_features(m);
  if (x->cols != n) return em_fail(err, EM_E_INPUT, "%zu columns for %zu features", x->cols, n);
  int32_t *col = identity(n);
  double *out = em_calloc(x->rows, (n + 1) * sizeof *out);
  em_explainer *e = NULL;
  int rc = col && out ? em_explainer_new(m, &e, err) : em_fail_nomem(err);
  if (rc == EM_OK) rc = em_explain_rows(e, x->data, x->rows, x->cols, col, threads, out, err);
  if (rc == EM_OK && path) rc = write_matrix(path, out, x->rows, n + 1, err);
  em_explainer_free(e);
  em_free(col);
  em_free(out);
  return rc;
}

static int timing(const em_model *m, const em_npy *x, int threads, em_err *err)
{
  double best = 1e9;
  for (int i = 0; i < 5; i++) {
    clock_t start = clock();
    if (shap(m, x, threads, NULL, err)) return err->code;
    double took = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (took < best) best = took;
  }
  printf("%.6f\n", best);
  return EM_OK;
}

static int values(const em_model *m, const char *path, em_err *err)
{
  double *out = em_calloc(em_model_n_features(m) + 1, sizeof *out);
  int rc = out ? em_explain_values_change(m, out, err) : em_fail_nomem(err);
  if (rc == EM_OK) rc = write_matrix(path, out, em_model_n_features(m), 1, err);
  em_free(out);
  return rc;
}

/* Groups are runs of equal numbers in the last column. */
static size_t split_groups(const em_npy *x, double *labels, size_t *ends)
{
  size_t n = 0;
  for (size_t r = 0; r < x->rows; r++) {
    const double *row = x->data + r * x->cols;
    labels[r] = row[x->cols - 2];
    if (r + 1 == x->rows || row[x->cols - 1] != row[2 * x->cols - 1]) ends[n++] = r + 1;
  }
  return n;
}

static int loss(const em_model *m, const em_npy *x, const char *path, em_err *err)
{
  size_t n = em_model_n_features(m);
  if (x->cols != n + 2) return em_fail(err, EM_E_INPUT, "%zu columns for %zu features, label and group", x->cols, n);
  int32_t *col = identity(n);
  double *out = em_calloc(n + 1, sizeof *out), *labels = em_calloc(x->rows, sizeof *labels);
  size_t *ends = em_calloc(x->rows, sizeof *ends);
  em_explainer *e = NULL;
  int rc = col && out && labels && ends ? em_explainer_new(m, &e, err) : em_fail_nomem(err);
  if (rc == EM_OK) {
    em_explain_data d = {
      .matrix = x->data, .rows = x->rows, .stride = x->cols, .col = col, .group_end = ends, .labels = labels};
    d.n_groups = split_groups(x, labels, ends);
    rc = em_explain_loss_change(e, &d, 2, out, NULL, err);
  }
  if (rc == EM_OK) rc = write_matrix(path, out, n, 1, err);
  em_explainer_free(e);
  em_free(col);
  em_free(out);
  em_free(labels);
  em_free(ends);
  return rc;
}

static int on_rows(const char *verb, const em_model *m, const char *rows, const char *last, em_err *err)
{
  em_npy x;
  if (em_npy_map(rows, &x, err)) return err->code;
  int rc = !strcmp(verb, "loss")   ? loss(m, &x, last, err)
           : !strcmp(verb, "time") ? timing(m, &x, atoi(last), err)
                                   : shap(m, &x, 2, last, err);
  em_npy_close(&x);
  return rc;
}

int main(int argc, char **argv)
{
  em_err err;
  em_model *m = NULL;
  if (argc < 4 || argc < (strcmp(argv[1], "values") ? 5 : 4)) {
    fprintf(stderr, "usage: explain_tool shap|loss|time MODEL ROWS OUT|THREADS, explain_tool values MODEL OUT\n");
    return 2;
  }
  int rc = read_model(argv[2], &m, &err);
  if (rc == EM_OK) rc = argc == 4 ? values(m, argv[3], &err) : on_rows(argv[1], m, argv[3], argv[4], &err);
  if (rc != EM_OK) fprintf(stderr, "explain_tool: %s\n", err.msg);
  em_model_free(m);
  return rc == EM_OK ? 0 : 1;
}
