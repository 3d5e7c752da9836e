/* dirlist.c - the entries of a folder, sorted. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

static bool ends_in(const char *name, const char *suffix)
{
  size_t n = strlen(name), m = strlen(suffix);
  return n > m && strcmp(name + n - m, suffix) == 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int read_names(DIR *dir, const char *path, const char *suffix, char ***paths, size_t *n, em_err *err)
{
  size_t cap = 0;
  for (;;) {
    errno = 0;
    struct dirent *entry = readdir(dir);
    if (!entry) return errno ? em_fail_errno(err, EM_E_IO, errno, "%s: cannot read the folder", path) : EM_OK;
    if (entry->d_name[0] == '.' || !ends_in(entry->d_name, suffix)) continue;
    int rc = em_grow(paths, &cap, *n + 1, sizeof **paths, err);
    if (rc == EM_OK) rc = em_path_join(&(*paths)[*n], err, path, entry->d_name);
    if (rc != EM_OK) return rc;
    (*n)++;
  }
}

int em_dir_list(const char *path, const char *suffix, char ***out, size_t *n, em_err *err)
{
  DIR *dir = opendir(path);
  if (!dir) return em_fail_errno(err, EM_E_INPUT, errno, "%s: cannot open the folder", path);
  char **paths = NULL;
  *n = 0;
  int rc = read_names(dir, path, suffix, &paths, n, err);
  closedir(dir);
  if (rc != EM_OK) {
    for (size_t i = 0; i < *n; i++) em_free(paths[i]);
    em_free(paths);
    *n = 0;
    return rc;
  }
  if (*n) qsort(paths, *n, sizeof *paths, by_name);
  *out = paths;
  return EM_OK;
}
