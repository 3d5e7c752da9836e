/* outfile.c - a file that appears whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base_int.h"

#define BUF_SIZE ((size_t)64 * 1024)
#define TRIES    100

struct em_out {
  char *path;   /* as the caller gave it, for messages */
  char *target; /* with symbolic links followed */
  char *parent; /* the folder of the target */
  char *tmp;    /* NULL when writing straight to a device or pipe */
  int fd;
  int errnum; /* of the first failed write, 0 so far */
  bool nomem; /* em_out_printf ran out of memory */
  size_t used;
  char buf[BUF_SIZE];
};

static void out_free(em_out *o)
{
  if (o->fd >= 0) close(o->fd);
  em_free(o->path);
  em_free(o->target);
  em_free(o->parent);
  em_free(o->tmp);
  em_free(o);
}

/* A new file beside the target, with the target's mode if there is one. */
static int open_beside(em_out *o, const struct stat *old, em_err *err)
{
  em_tmp_sweep(o->target);
  for (int i = 0; i < TRIES; i++) {
    em_free(o->tmp);
    o->tmp = em_tmp_name(o->target);
    if (!o->tmp) return em_fail_nomem(err);
    o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd < 0 && errno == EEXIST) continue;
    if (o->fd < 0) break;
    if (em_tmp_claim(o->fd, o->tmp)) {
      if (old && fchmod(o->fd, old->st_mode & 07777) != 0) break;
      return EM_OK;
    }
    close(o->fd);
    o->fd = -1;
  }
  int errnum = errno;
  if (o->fd >= 0) unlink(o->tmp);
  return em_fail_errno(err, EM_E_IO, errnum, "%s: cannot make a file beside it, check the folder", o->path);
}

/* The file that a write to `path` would change. */
static char *follow_links(const char *path)
{
  char *real = realpath(path, NULL);
  char *copy = em_strdup(real ? real : path);
  free(real);
  return copy;
}

static int out_start(em_out *o, const char *path, em_err *err)
{
  struct stat st;
  o->path = em_strdup(path);
  o->target = follow_links(path);
  o->parent = o->target ? em_parent_dir(o->target) : NULL;
  if (!o->path || !o->parent) return em_fail_nomem(err);
  bool exists = stat(o->target, &st) == 0;
  if (exists && S_ISDIR(st.st_mode))
    return em_fail(err, EM_E_INPUT, "%s: found a folder, expected the name of a file", path);
  if (!exists || S_ISREG(st.st_mode)) return open_beside(o, exists ? &st : NULL, err);
  o->fd = open(o->target, O_WRONLY | O_CLOEXEC);
  return o->fd >= 0 ? EM_OK : em_fail_errno(err, EM_E_IO, errno, "%s: cannot open it for writing", path);
}

int em_out_open(const char *path, em_out **out, em_err *err)
{
  em_out *o = em_alloc(sizeof *o);
  if (!o) return em_fail_nomem(err);
  *o = (em_out){.fd = -1};
  int rc = out_start(o, path, err);
  if (rc) {
    out_free(o);
    return rc;
  }
  *out = o;
  return EM_OK;
}

static void write_through(em_out *o, const char *p, size_t len)
{
  while (len > 0 && !o->errnum) {
    ssize_t n = write(o->fd, p, len);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      o->errnum = errno;
      return;
    }
    p += n;
    len -= (size_t)n;
  }
}

static void flush(em_out *o)
{
  write_through(o, o->buf, o->used);
  o->used = 0;
}

void em_out_write(em_out *o, const void *data, size_t len)
{
  if (len > BUF_SIZE - o->used) flush(o);
  if (len >= BUF_SIZE) {
    write_through(o, data, len);
  } else if (len) {
    memcpy(o->buf + o->used, data, len);
    o->used += len;
  }
}

static void print_long(em_out *o, size_t len, const char *fmt, va_list args) EM_PRINTF(3, 0);
static void print_long(em_out *o, size_t len, const char *fmt, va_list args)
{
  char *text = em_alloc(len + 1);
  if (!text) {
    o->nomem = true;
    return;
  }
  vsnprintf(text, len + 1, fmt, args);
  em_out_write(o, text, len);
  em_free(text);
}

void em_out_printf(em_out *o, const char *fmt, ...)
{
  char text[512];
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int n = vsnprintf(text, sizeof text, fmt, args);
  if (n < 0)
    o->errnum = o->errnum ? o->errnum : errno;
  else if ((size_t)n < sizeof text)
    em_out_write(o, text, (size_t)n);
  else
    print_long(o, (size_t)n, fmt, again);
  va_end(again);
  va_end(args);
}

/* Everything on disk and visible; 0 or errno. */
static int publish(em_out *o)
{
  flush(o);
  if (o->errnum || !o->tmp) return o->errnum;
  if (fsync(o->fd) != 0 || rename(o->tmp, o->target) != 0) return errno;
  em_free(o->tmp); /* no longer ours to remove */
  o->tmp = NULL;
  return em_sync_dir(o->parent);
}

int em_out_commit(em_out *o, em_err *err)
{
  if (o->nomem) return em_fail_nomem(err);
  int errnum = publish(o);
  if (errnum) {
    o->errnum = errnum;
    return em_fail_errno(err, EM_E_IO, errnum, "%s: cannot write the file", o->path);
  }
  out_free(o);
  return EM_OK;
}

void em_out_abort(em_out *o)
{
  if (!o) return;
  if (o->tmp) unlink(o->tmp);
  out_free(o);
}
