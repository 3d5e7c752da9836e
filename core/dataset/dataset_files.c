/* dataset_files.c - the two files of a group: matrix and row texts. */
#include "core/dataset/dataset_int.h"

int em_group_path(char **out, const char *dir, const char *half, size_t number, const char *suffix, em_err *err)
{
  em_str path = {0};
  if (dir) em_str_printf(&path, "%s/", dir);
  em_str_printf(&path, "%s/%04zu%s", half, number, suffix);
  return em_str_take(&path, out, err);
}

static int write_file(const char *path, const double *matrix, size_t rows, size_t cols, const em_str *lines,
                      em_err *err)
{
  em_out *o;
  int rc = em_out_open(path, &o, err);
  if (rc) return rc;
  if (lines) {
    em_out_write(o, lines->s, lines->len);
  } else {
    rc = em_npy_write(o, rows, cols);
    em_out_write(o, matrix, rows * cols * sizeof *matrix);
  }
  if (!rc) rc = em_out_commit(o, err);
  if (rc) em_out_abort(o);
  return rc;
}

int em_group_write(const char *dir, const char *half, size_t number, const double *matrix, size_t rows, size_t cols,
                   const em_str *lines, em_err *err)
{
  static const char *const suffixes[] = {".npy", ".rows"};
  int rc = EM_OK;
  for (int i = 0; i < 2 && !rc; i++) {
    char *path;
    rc = em_group_path(&path, dir, half, number, suffixes[i], err);
    if (rc) break;
    rc = write_file(path, matrix, rows, cols, i ? lines : NULL, err);
    em_free(path);
  }
  return rc;
}
