/* dataset_files.c - the two files of a group, matrix and row texts; what else lies in a dataset's folder. */
#include "core/dataset/dataset_int.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

const char *const em_halves[2] = {"golden", "measured"};

int em_group_path(char **out, const char *dir, const char *half, size_t number, const char *suffix, em_err *err)
{
  em_str path = {0};
  if (dir) em_str_printf(&path, "%s/", dir);
  em_str_printf(&path, "%s/%04zu%s", half, number, suffix);
  return em_str_take(&path, out, err);
}

bool em_is_group_file(const char *name, const char *suffix)
{
  size_t digits = strspn(name, "0123456789");
  return digits && !strcmp(name + digits, suffix);
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

/* ---- what a dataset has no place for -------------------------------------------------- */

static bool is_top(const char *name)
{
  return !strcmp(name, "manifest.json") || !strcmp(name, em_halves[0]) || !strcmp(name, em_halves[1]);
}

static bool is_of_group(const char *name) { return em_is_group_file(name, ".npy") || em_is_group_file(name, ".rows"); }

static bool nothing(const char *name)
{
  (void)name;
  return false;
}

/* The first entry of a folder, hidden ones too, that is not `known`; *out stays NULL when there is none, or no folder. */
static int find_other(const char *dir, bool (*known)(const char *name), char **out, em_err *err)
{
  DIR *d = opendir(dir);
  if (!d && (errno == ENOENT || errno == ENOTDIR)) return EM_OK;
  if (!d) return em_fail_errno(err, EM_E_IO, errno, "%s: cannot read the folder", dir);
  int rc = EM_OK;
  for (struct dirent *e; rc == EM_OK && !*out && (e = readdir(d));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !known(e->d_name))
      rc = em_path_join(out, err, dir, e->d_name);
  closedir(d);
  return rc;
}

int em_dataset_stranger(const char *dir, bool dataset, char **out, em_err *err)
{
  *out = NULL;
  int rc = find_other(dir, dataset ? is_top : nothing, out, err);
  for (int i = 0; i < 2 && rc == EM_OK && !*out; i++) {
    char *half;
    rc = em_path_join(&half, err, dir, em_halves[i]);
    if (rc) break;
    rc = find_other(half, is_of_group, out, err);
    em_free(half);
  }
  return rc;
}
