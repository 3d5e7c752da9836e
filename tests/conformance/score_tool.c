/*
 * score_tool.c - scores of a CatBoost JSON model, for comparison with CatBoost's own.
 *
 *   score_tool scores MODEL.json ROWS.npy OUT.npy    by every code path of this machine
 *   score_tool print  MODEL.json OUT.json            the model as core/prior writes it
 *   score_tool time   MODEL.json ROWS.npy THREADS    processor seconds by each code path, least of ten
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/prior/score_int.h"

static int die(const em_err *err)
{
  fprintf(stderr, "score_tool: %s\n", err->msg);
  return 1;
}

static int read_model(const char *path, em_model **out, em_err *err)
{
  cJSON *json;
  const em_place at = {.file = path};
  if (em_json_read(path, &json, err)) return err->code;
  int rc = em_model_parse(json, &at, out, err);
  em_json_free(json);
  return rc;
}

static double *score(const em_model *m, const em_npy *x, int threads, em_score_path path, em_err *err)
{
  double *quality = em_calloc(x->rows + 1, sizeof *quality);
  int32_t *col = em_calloc(x->cols + 1, sizeof *col);
  if (!quality || !col || x->cols != em_model_n_features(m)) {
    em_fail(err, EM_E_INPUT, "%zu columns for %zu features, or no memory", x->cols, em_model_n_features(m));
    em_free(quality);
    quality = NULL;
  }
  for (size_t i = 0; col && i < x->cols; i++) col[i] = (int32_t)i;
  if (quality && em_model_score_path(m, x->data, x->rows, x->cols, col, threads, path, quality, err)) {
    em_free(quality);
    quality = NULL;
  }
  em_free(col);
  return quality;
}

/* All paths must give the same bits. */
static int scores(const em_model *m, const em_npy *x, const char *path, em_err *err)
{
  double *first = score(m, x, 1, EM_PATH_PORTABLE, err);
  if (!first) return err->code;
  for (int p = EM_PATH_PORTABLE + 1; p < EM_N_PATHS; p++) {
    if (!em_score_ops_of((em_score_path)p)) continue;
    double *other = score(m, x, 2, (em_score_path)p, err);
    if (!other) return err->code;
    bool same = !memcmp(first, other, x->rows * sizeof *first);
    em_free(other);
    if (!same) return em_fail(err, EM_E_CHECK, "code path %d gives other bits than the portable one", p);
  }
  em_out *o;
  if (em_out_open(path, &o, err) || em_npy_write(o, x->rows, 1)) return EM_E_IO;
  em_out_write(o, first, x->rows * sizeof *first);
  em_free(first);
  return em_out_commit(o, err);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int timing(const em_model *m, const em_npy *x, int threads, em_err *err)
{
  for (int p = 0; p < EM_N_PATHS; p++) {
    const em_score_ops *ops = em_score_ops_of((em_score_path)p);
    double best = 1e9;
    for (int i = 0; ops && i < 10; i++) {
      double start = now();
      double *q = score(m, x, threads, (em_score_path)p, err);
      double took = now() - start;
      if (!q) return err->code;
      em_free(q);
      if (took < best) best = took;
    }
    if (ops) printf("%s %.6f\n", ops->name, best);
  }
  return EM_OK;
}

static int print(const em_model *m, const char *path, em_err *err)
{
  em_str text = {0};
  em_out *o;
  em_model_print(m, &text);
  if (em_str_finish(&text, err) || em_out_open(path, &o, err)) return err->code;
  em_out_write(o, text.s, text.len);
  em_str_free(&text);
  return em_out_commit(o, err);
}

int main(int argc, char **argv)
{
  em_err err;
  em_model *m;
  em_npy x = {0};
  if (argc < 4) {
    fputs("usage: score_tool scores|time MODEL.json ROWS.npy OUT.npy|THREADS, or print MODEL.json OUT.json\n", stderr);
    return 2;
  }
  if (read_model(argv[2], &m, &err)) return die(&err);
  int rc;
  if (!strcmp(argv[1], "print"))
    rc = print(m, argv[3], &err);
  else if (em_npy_map(argv[3], &x, &err))
    rc = err.code;
  else
    rc = !strcmp(argv[1], "scores") ? scores(m, &x, argv[4], &err) : timing(m, &x, atoi(argv[4]), &err);
  em_npy_close(&x);
  em_model_free(m);
  return rc ? die(&err) : 0;
}
