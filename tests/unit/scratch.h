/* scratch.h - a folder of its own for a unit test that writes files. */
#ifndef EM_TESTS_SCRATCH_H
#define EM_TESTS_SCRATCH_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[512];

static inline int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
  (void)st, (void)type, (void)at;
  return remove(path);
}

/* For cmocka_unit_test_setup_teardown: `scratch` names the folder. */
static inline int scratch_setup(void **state)
{
  (void)state;
  const char *base = getenv("TMPDIR");
  snprintf(scratch, sizeof scratch, "%s/emmy-test-XXXXXX", base && *base ? base : "/tmp");
  return mkdtemp(scratch) ? 0 : -1;
}

static inline int scratch_teardown(void **state)
{
  (void)state;
  return nftw(scratch, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of `name` in the scratch folder; good for eight calls of the same thread. */
static inline const char *in_scratch(const char *name)
{
  static _Thread_local char paths[8][1024];
  static _Thread_local unsigned turn;
  char *path = paths[turn++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
  return path;
}

static inline void put_file(const char *path, const void *data, size_t len)
{
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(data, 1, len, f), len);
  assert_int_equal(fclose(f), 0);
}

static inline void assert_file_is(const char *path, const char *text)
{
  char *got;
  size_t len;
  em_err err;
  if (em_file_read(path, &got, &len, &err)) fail_msg("%s", err.msg);
  assert_string_equal(got, text);
  em_free(got);
}

/* How many entries a folder has. */
static inline int count_entries(const char *path)
{
  int n = 0;
  DIR *d = opendir(path);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  closedir(d);
  return n;
}

#endif
