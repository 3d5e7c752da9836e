/* file.c - whole files in, paths and folders. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base_int.h"

/* A missing file is the caller's input at fault, the rest is the system's. */
static em_code open_code(int errnum) { return errnum == ENOENT || errnum == ENOTDIR ? EM_E_INPUT : EM_E_IO; }

int em_open_regular(const char *path, size_t *size, em_err *err)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block before it is refused */
  if (fd < 0) {
    em_fail_errno(err, open_code(errno), errno, "%s: cannot open the file for reading", path);
    return -1;
  }
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
    *size = (size_t)st.st_size;
    return fd;
  }
  em_fail(err, EM_E_INPUT, "%s: found a %s, expected a regular file", path,
          S_ISDIR(st.st_mode) ? "folder" : "device or pipe");
  close(fd);
  return -1;
}

static ssize_t read_some(int fd, void *buf, size_t n)
{
  ssize_t got;
  do got = read(fd, buf, n);
  while (got < 0 && errno == EINTR);
  return got;
}

/* Reads to the end: the size may be a lie (/proc) or change meanwhile. */
static int read_all(int fd, size_t expected, const char *path, em_str *text, em_err *err)
{
  size_t want = expected + 1;
  for (;;) {
    int rc = em_grow(&text->s, &text->cap, text->len + want + 1, 1, err);
    if (rc) return rc;
    ssize_t got = read_some(fd, text->s + text->len, text->cap - text->len - 1);
    if (got < 0) return em_fail_errno(err, EM_E_IO, errno, "%s: cannot read the file", path);
    if (got == 0) break;
    text->len += (size_t)got;
    want = 4096;
  }
  text->s[text->len] = '\0';
  return EM_OK;
}

int em_file_read(const char *path, char **text, size_t *len, em_err *err)
{
  size_t size;
  em_str buf = {0};
  int fd = em_open_regular(path, &size, err);
  if (fd < 0) return err->code;
  int rc = read_all(fd, size, path, &buf, err);
  close(fd);
  if (rc) {
    em_str_free(&buf);
    return rc;
  }
  *text = buf.s;
  *len = buf.len;
  return EM_OK;
}

#define COPIED ((size_t)64 * 1024) /* bytes, of the largest file that is copied */

static int copy_small(int fd, size_t size, const char *path, em_map *out, em_err *err)
{
  em_str buf = {0};
  int rc = read_all(fd, size, path, &buf, err);
  if (rc)
    em_str_free(&buf);
  else
    *out = (em_map){buf.s, buf.len, buf.s};
  return rc;
}

int em_map_open(const char *path, em_map *out, em_err *err)
{
  size_t size;
  int fd = em_open_regular(path, &size, err), rc = EM_OK;
  if (fd < 0) return err->code;
  if (size <= COPIED) {
    rc = copy_small(fd, size, path, out, err);
  } else {
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
      rc = em_fail_errno(err, EM_E_IO, errno, "%s: cannot map the file", path);
    else
      *out = (em_map){data, size, NULL};
  }
  close(fd);
  return rc;
}

void em_map_close(em_map *m)
{
  if (m->len && !m->copy) munmap((void *)(uintptr_t)m->data, m->len);
  em_free(m->copy);
  *m = (em_map){0};
}

/* The mapping is of a file and read-only: pages that went are read again.  Advice may be refused, and nothing is lost. */
void em_map_rest(const em_map *m)
{
  if (m->len && !m->copy) (void)madvise((void *)(uintptr_t)m->data, m->len, MADV_DONTNEED);
}

int em_file_digest(const char *path, char hex[33], em_err *err)
{
  enum { CHUNK = 1 << 16 };
  size_t size;
  ssize_t got = 0;
  int fd = em_open_regular(path, &size, err);
  if (fd < 0) return err->code;
  char *buf = em_alloc(CHUNK);
  em_hasher *h = em_hasher_new();
  if (buf && h)
    while ((got = read_some(fd, buf, CHUNK)) > 0) em_hasher_add(h, buf, (size_t)got);
  int errnum = errno;
  close(fd);
  em_free(buf);
  bool nomem = !buf || !h;
  if (h) em_digest_hex(em_hasher_end(h), hex);
  if (nomem) return em_fail_nomem(err);
  return got < 0 ? em_fail_errno(err, EM_E_IO, errnum, "%s: cannot read the file", path) : EM_OK;
}

/* ---- paths and folders -------------------------------------------------- */

int em_path_join(char **out, em_err *err, const char *a, const char *b)
{
  em_str s = {0};
  em_str_put(&s, a);
  if (s.len && s.s[s.len - 1] != '/') em_str_putc(&s, '/');
  em_str_put(&s, b);
  return em_str_take(&s, out, err);
}

bool em_path_is_dir(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool em_path_exists(const char *path)
{
  struct stat st;
  return lstat(path, &st) == 0;
}

int em_mkdirs(const char *path, em_err *err)
{
  char *part = em_strdup(path);
  if (!part) return em_fail_nomem(err);
  int rc = EM_OK;
  for (char *p = part; !rc && *p; p++) {
    if (p[1] && (p[1] != '/' || *p == '/')) continue; /* p is not the end of a name */
    char after = p[1];
    p[1] = '\0';
    int errnum = mkdir(part, 0777) == 0 ? 0 : errno;
    if (errnum && !em_path_is_dir(part))
      rc = em_fail_errno(err, EM_E_IO, errnum, "%s: cannot make the folder %s", path, part);
    p[1] = after;
  }
  em_free(part);
  return rc;
}

char *em_parent_dir(const char *path)
{
  size_t len = strlen(path);
  while (len > 1 && path[len - 1] == '/') len--;
  while (len > 0 && path[len - 1] != '/') len--;
  while (len > 1 && path[len - 1] == '/') len--;
  return len ? em_strndup(path, len) : em_strdup(".");
}

int em_sync_dir(const char *path)
{
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  int errnum = fsync(fd) == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: a file system without it */
  close(fd);
  return errnum;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
  (void)st;
  (void)type;
  (void)at;
  return remove(path) == 0 || errno == ENOENT ? 0 : errno;
}

int em_remove_tree(const char *path)
{
  int rc = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return rc >= 0 ? rc : errno == ENOENT ? 0 : errno;
}
