/* tmpname.c - neighbours of a target that hold what is not finished.
 *
 * A writer keeps its neighbour locked with flock.  The lock ends with the
 * process, however it ends, so a neighbour that can be locked is a leftover. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base_int.h"

#define MARK ".tmp-"

char *em_tmp_name(const char *target)
{
  static atomic_uint counter;
  size_t len = strlen(target), cap = len + 64;
  while (len > 1 && target[len - 1] == '/') len--; /* beside a folder, not in it */
  char *name = em_alloc(cap);
  if (name) snprintf(name, cap, "%.*s" MARK "%ld-%u", (int)len, target, (long)getpid(), atomic_fetch_add(&counter, 1));
  return name;
}

bool em_tmp_claim(int fd, const char *name)
{
  struct stat by_fd, by_name;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK; /* no locks here: then nobody sweeps either */
  return fstat(fd, &by_fd) == 0 && lstat(name, &by_name) == 0 && by_fd.st_ino == by_name.st_ino;
}

static void remove_leftover(const char *path)
{
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) em_remove_tree(path);
  close(fd);
}

/* Is `name` "<base>.tmp-<digits>-<digits>"? */
static bool is_neighbour(const char *name, const char *base, size_t base_len)
{
  static const char digits[] = "0123456789";
  if (strncmp(name, base, base_len) || strncmp(name + base_len, MARK, sizeof MARK - 1)) return false;
  const char *p = name + base_len + sizeof MARK - 1;
  size_t pid = strspn(p, digits);
  if (!pid || p[pid] != '-') return false;
  size_t number = strspn(p + pid + 1, digits);
  return number && !p[pid + 1 + number];
}

void em_tmp_sweep(const char *target)
{
  char *parent = em_parent_dir(target);
  DIR *dir = parent ? opendir(parent) : NULL;
  size_t end = strlen(target);
  while (end > 1 && target[end - 1] == '/') end--;
  size_t start = end;
  while (start > 0 && target[start - 1] != '/') start--;
  for (struct dirent *e; dir && (e = readdir(dir));) {
    em_err ignored; /* what stays is swept another time */
    char *path;
    if (!is_neighbour(e->d_name, target + start, end - start) || em_path_join(&path, &ignored, parent, e->d_name))
      continue;
    remove_leftover(path);
    em_free(path);
  }
  if (dir) closedir(dir);
  em_free(parent);
}
