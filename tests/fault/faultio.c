/* faultio.c - a library to preload that makes one file operation fail.
 *
 *   EM_FAULT=OPERATION:NAME:N:ERROR LD_PRELOAD=.../faultio.so PROGRAM
 *
 * The N-th call (from 1; "N+": that one and each after it) of OPERATION on a
 * path that contains NAME fails with ERROR, one of ENOSPC EIO EROFS EACCES
 * EMFILE EDQUOT.  OPERATION is open (to write or create), write, fsync, rename,
 * mkdir, unlink or truncate, each with its relatives; rename looks at the new
 * path.  With ERROR = KILL the process is killed there instead. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
  char op[16], name[256], error[16];
  long n;
  bool and_after;
  int errnum;
} fault;

static void read_fault(void)
{
  static const struct {
    const char *name;
    int errnum;
  } errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EROFS", EROFS}, {"EACCES", EACCES},
                {"EMFILE", EMFILE}, {"EDQUOT", EDQUOT}, {"KILL", 0}};
  const char *spec = getenv("EM_FAULT");
  char n[16];
  if (!spec) return;
  bool known = false;
  if (sscanf(spec, "%15[^:]:%255[^:]:%15[^:]:%15s", fault.op, fault.name, n, fault.error) == 4)
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
      if (!strcmp(errors[i].name, fault.error)) {
        fault.errnum = errors[i].errnum;
        known = true;
      }
  if (!known) {
    fprintf(stderr, "faultio: EM_FAULT=%s, expected OPERATION:NAME:N:ERROR\n", spec);
    _exit(99);
  }
  fault.n = atol(n);
  fault.and_after = strchr(n, '+') != NULL;
}

/* Is this call the one?  Then errno is set. */
static bool fails(const char *op, const char *path)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static long calls;
  pthread_once(&once, read_fault);
  if (!fault.n || strcmp(op, fault.op) || !path || !strstr(path, fault.name)) return false;
  long call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (call != fault.n && !(fault.and_after && call > fault.n)) return false;
  if (!fault.errnum) kill(getpid(), SIGKILL);
  errno = fault.errnum;
  return true;
}

static bool fails_fd(const char *op, int fd)
{
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0) return false;
  path[n] = '\0';
  return fails(op, path);
}

/* Defines `name`, which asks `condition` and passes on to the real one. */
#define WRAP(type, name, params, args, condition)                                                                      \
  type name params;                                                                                                    \
  type name params                                                                                                     \
  {                                                                                                                    \
    static type(*real) params;                                                                                         \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);                                                              \
    return (condition) ? (type)-1 : real args;                                                                         \
  }

WRAP(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), fails_fd("write", fd))
WRAP(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), fails_fd("write", fd))
WRAP(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), fails_fd("write", fd))
WRAP(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), fails_fd("write", fd))
WRAP(int, fsync, (int fd), (fd), fails_fd("fsync", fd))
WRAP(int, fdatasync, (int fd), (fd), fails_fd("fsync", fd))
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), fails_fd("truncate", fd))
WRAP(int, ftruncate64, (int fd, off64_t n), (fd, n), fails_fd("truncate", fd))
WRAP(int, rename, (const char *a, const char *b), (a, b), fails("rename", b))
WRAP(int, renameat, (int da, const char *a, int db, const char *b), (da, a, db, b), fails("rename", b))
WRAP(int, renameat2, (int da, const char *a, int db, const char *b, unsigned f), (da, a, db, b, f), fails("rename", b))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), fails("mkdir", path))
WRAP(int, unlink, (const char *path), (path), fails("unlink", path))

/* open and its relatives: the mode is there only when a file may be made. */
#define WRAP_OPEN(name, params, args_mode, path)                                                                       \
  int name params;                                                                                                     \
  int name params                                                                                                      \
  {                                                                                                                    \
    static int(*real) params;                                                                                          \
    va_list more;                                                                                                      \
    va_start(more, flags);                                                                                             \
    bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;                                                  \
    mode_t mode = makes ? (mode_t)va_arg(more, int) : 0;                                                               \
    va_end(more);                                                                                                      \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);                                                              \
    bool writes = (flags & O_ACCMODE) != O_RDONLY || makes;                                                            \
    return writes && fails("open", path) ? -1 : real args_mode;                                                        \
  }

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode), path)
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), path)
WRAP_OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode), path)
WRAP_OPEN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode), path)
