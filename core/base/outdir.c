/* outdir.c - a folder that appears whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base_int.h"

#define TRIES 100

struct em_outdir {
  char *path, *tmp;
  int fd; /* of tmp: holds its lock */
};

static void outdir_free(em_outdir *d)
{
  if (d->fd >= 0) close(d->fd);
  em_free(d->path);
  em_free(d->tmp);
  em_free(d);
}

static int outdir_start(em_outdir *d, const char *path, em_err *err)
{
  size_t len = strlen(path);
  while (len > 1 && path[len - 1] == '/') len--;
  d->path = em_strndup(path, len);
  if (!d->path) return em_fail_nomem(err);
  if (em_path_exists(d->path) && !em_path_is_dir(d->path))
    return em_fail(err, EM_E_INPUT, "%s: found a file, expected a folder or nothing", path);
  em_tmp_sweep(d->path);
  for (int i = 0; i < TRIES; i++) {
    em_free(d->tmp);
    d->tmp = em_tmp_name(d->path);
    if (!d->tmp) return em_fail_nomem(err);
    if (mkdir(d->tmp, 0777) != 0) {
      if (errno == EEXIST) continue;
      break;
    }
    d->fd = open(d->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->fd < 0) break;
    if (em_tmp_claim(d->fd, d->tmp)) return EM_OK;
    close(d->fd);
    d->fd = -1;
  }
  int errnum = errno;
  rmdir(d->tmp); /* made, but not opened */
  return em_fail_errno(err, EM_E_IO, errnum, "%s: cannot make a folder beside it, check the folder around it", path);
}

int em_outdir_begin(const char *path, em_outdir **out, em_err *err)
{
  em_outdir *d = em_alloc(sizeof *d);
  if (!d) return em_fail_nomem(err);
  *d = (em_outdir){.fd = -1};
  int rc = outdir_start(d, path, err);
  if (rc) {
    outdir_free(d);
    return rc;
  }
  *out = d;
  return EM_OK;
}

const char *em_outdir_path(const em_outdir *d) { return d->tmp; }

/* Puts tmp in the place of path; afterwards tmp names what was there, if
 * anything.  In one step where the system can, else with a moment in between.
 * Returns 0 or errno. */
static int swap_in(em_outdir *d, bool *replaced)
{
  *replaced = em_path_exists(d->path);
  if (!*replaced) return rename(d->tmp, d->path) == 0 ? 0 : errno;
  if (renameat2(AT_FDCWD, d->tmp, AT_FDCWD, d->path, RENAME_EXCHANGE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  char *aside = em_tmp_name(d->path);
  if (!aside) return ENOMEM;
  int errnum = rename(d->path, aside) == 0 ? 0 : errno;
  if (!errnum && rename(d->tmp, d->path) != 0) {
    errnum = errno;
    rename(aside, d->path);
  }
  if (!errnum) {
    em_free(d->tmp);
    d->tmp = aside;
    return 0;
  }
  em_free(aside);
  return errnum;
}

int em_outdir_commit(em_outdir *d, em_err *err)
{
  bool replaced = false;
  char *parent = em_parent_dir(d->path);
  if (!parent) return em_fail_nomem(err);
  int errnum = fsync(d->fd) == 0 ? 0 : errno;
  if (!errnum) errnum = swap_in(d, &replaced);
  if (!errnum) errnum = em_sync_dir(parent);
  em_free(parent);
  if (errnum == ENOMEM) return em_fail_nomem(err);
  if (errnum) return em_fail_errno(err, EM_E_IO, errnum, "%s: cannot put the new folder in place", d->path);
  if (replaced) em_remove_tree(d->tmp); /* a leftover is swept another time */
  outdir_free(d);
  return EM_OK;
}

void em_outdir_abort(em_outdir *d)
{
  if (!d) return;
  em_remove_tree(d->tmp);
  outdir_free(d);
}
