/* datapath.c - where the shipped data lie. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/session/session.h"

#ifndef EMMY_DATADIR
#define EMMY_DATADIR "/usr/local/share/emmy"
#endif

/* The folder of the running program, or NULL. */
static char *program_folder(void)
{
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return NULL;
  path[n] = '\0';
  char *slash = strrchr(path, '/');
  return slash ? em_strndup(path, (size_t)(slash - path)) : NULL;
}

/* *out = folder/name when that exists; EM_OK with *out NULL when not. */
static int try_folder(const char *folder, const char *name, char **out, em_err *err)
{
  char *path;
  int rc = em_path_join(&path, err, folder, name);
  if (rc != EM_OK) return rc;
  if (em_path_exists(path)) {
    *out = path;
    return EM_OK;
  }
  em_free(path);
  return EM_OK;
}

static int try_beside_program(const char *name, char **out, em_err *err)
{
  char *folder = program_folder(), *data = NULL;
  if (!folder) return EM_OK;
  int rc = em_path_join(&data, err, folder, "data");
  if (rc == EM_OK) rc = try_folder(data, name, out, err);
  em_free(data);
  em_free(folder);
  return rc;
}

int em_data_path(const char *name, char **out, em_err *err)
{
  const char *env = getenv("EMMY_DATA");
  char *found = NULL;
  int rc = EM_OK;
  if (env && *env) {
    rc = try_folder(env, name, &found, err);
  } else {
    rc = try_beside_program(name, &found, err);
    if (rc == EM_OK && !found) rc = try_folder("data", name, &found, err);
    if (rc == EM_OK && !found) rc = try_folder(EMMY_DATADIR, name, &found, err);
  }
  if (rc != EM_OK) return rc;
  if (!found)
    return em_fail(err, EM_E_INPUT,
                   "%s: not found in %s; set EMMY_DATA to the folder of the shipped data, or name the file", name,
                   env && *env ? env : "data/ beside the program, ./data and " EMMY_DATADIR);
  *out = found;
  return EM_OK;
}
