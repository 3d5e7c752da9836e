/* lock.c - one process at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base_int.h"

struct em_lock {
  int fd;
  char *path; /* of the lock file */
};

/* Who holds it: the holder wrote its process id. */
static int fail_held(int fd, const char *path, em_err *err)
{
  char text[24] = "";
  ssize_t n = pread(fd, text, sizeof text - 1, 0);
  int64_t pid;
  if (n > 0 && text[n - 1] == '\n') text[n - 1] = '\0';
  if (n > 0 && em_parse_i64(text, 1, INT64_MAX, &pid))
    return em_fail(err, EM_E_INPUT, "%s: in use by process %lld, wait until it ends or stop it", path, (long long)pid);
  return em_fail(err, EM_E_INPUT, "%s: in use by another process, wait until it ends or stop it", path);
}

/* The last holder removes the file: a lock on a removed file locks nothing. */
static bool still_there(int fd, const char *path)
{
  struct stat by_fd, by_name;
  return fstat(fd, &by_fd) == 0 && stat(path, &by_name) == 0 && by_fd.st_ino == by_name.st_ino &&
         by_fd.st_dev == by_name.st_dev;
}

static int take_lock(em_lock *l, const char *path, em_err *err)
{
  for (;;) {
    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (l->fd < 0) return em_fail_errno(err, EM_E_IO, errno, "%s: cannot make the lock file %s", path, l->path);
    if (flock(l->fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return fail_held(l->fd, path, err);
      return em_fail_errno(err, EM_E_IO, errno, "%s: cannot lock %s", path, l->path);
    }
    if (still_there(l->fd, l->path)) return EM_OK;
    close(l->fd);
  }
}

/* For the message of the next one; a full disk only makes that message poorer. */
static void sign(const em_lock *l)
{
  char text[24];
  int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
  if (ftruncate(l->fd, 0) != 0 || write(l->fd, text, (size_t)n) != n) return;
}

int em_lock_acquire(const char *path, em_lock **out, em_err *err)
{
  em_lock *l = em_calloc(1, sizeof *l);
  if (!l) return em_fail_nomem(err);
  l->fd = -1;
  size_t cap = strlen(path) + sizeof ".lock";
  l->path = em_alloc(cap);
  int rc = EM_OK;
  if (!l->path) {
    rc = em_fail_nomem(err);
  } else {
    snprintf(l->path, cap, "%s.lock", path);
    rc = take_lock(l, path, err);
  }
  if (rc) {
    if (l->fd >= 0) close(l->fd);
    em_free(l->path);
    em_free(l);
    return rc;
  }
  sign(l);
  *out = l;
  return EM_OK;
}

void em_lock_release(em_lock *l)
{
  if (!l) return;
  unlink(l->path); /* while it is held, so that nobody locks the old file unseen */
  close(l->fd);
  em_free(l->path);
  em_free(l);
}
