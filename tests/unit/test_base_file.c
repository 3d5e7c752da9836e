/* Files and folders that appear whole or not at all, and locks. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/unit.h"

#include "tests/unit/scratch.h"

static void write_file(const char *path, const char *text)
{
  em_out *o;
  em_err err;
  if (em_out_open(path, &o, &err)) fail_msg("%s", err.msg);
  em_out_printf(o, "%s", text);
  if (em_out_commit(o, &err)) fail_msg("%s", err.msg);
}

static void test_out_commit_and_abort(void **state)
{
  (void)state;
  const char *path = in_scratch("f.txt");
  em_out *o;
  em_err err;
  write_file(path, "old");
  assert_int_equal(em_out_open(path, &o, &err), EM_OK);
  em_out_write(o, "new", 3);
  assert_file_is(path, "old");
  em_out_abort(o);
  em_out_abort(NULL);
  assert_file_is(path, "old");
  assert_int_equal(count_entries(scratch), 1);
  write_file(path, "new");
  assert_file_is(path, "new");
  assert_int_equal(count_entries(scratch), 1);
}

static void test_out_long_text(void **state)
{
  (void)state;
  const char *path = in_scratch("long");
  size_t n = 300000, len;
  char *text = em_alloc(n + 1), *got;
  em_out *o;
  em_err err;
  for (size_t i = 0; i < n; i++) text[i] = (char)('a' + i % 23);
  text[n] = '\0';
  assert_int_equal(em_out_open(path, &o, &err), EM_OK);
  em_out_write(o, "x", 1);
  em_out_printf(o, "%s", text);
  for (size_t i = 0; i < n; i += 1000) em_out_write(o, text + i, 1000);
  assert_int_equal(em_out_commit(o, &err), EM_OK);
  assert_int_equal(em_file_read(path, &got, &len, &err), EM_OK);
  assert_int_equal(len, 2 * n + 1);
  assert_memory_equal(got + 1, text, n);
  assert_memory_equal(got + 1 + n, text, n);
  em_free(got);
  em_free(text);
}

static void test_out_keeps_mode_and_link(void **state)
{
  (void)state;
  const char *path = in_scratch("f"), *link = in_scratch("link");
  struct stat st;
  write_file(path, "1");
  assert_int_equal(chmod(path, 0640), 0);
  assert_int_equal(symlink("f", link), 0);
  write_file(link, "2");
  assert_file_is(path, "2");
  assert_int_equal(lstat(link, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 07777, 0640);
}

/* A disk that takes no more: /dev/full fails each write. */
static void test_out_full_disk(void **state)
{
  (void)state;
  em_out *o;
  em_err err;
  if (access("/dev/full", W_OK) != 0) skip();
  assert_int_equal(em_out_open("/dev/full", &o, &err), EM_OK);
  em_out_write(o, "x", 1);
  assert_int_equal(em_out_commit(o, &err), EM_E_IO);
  assert_non_null(strstr(err.msg, "/dev/full"));
  assert_non_null(strstr(err.msg, "No space left"));
  em_out_abort(o);
}

static void test_out_size_limit(void **state)
{
  (void)state;
  const char *path = in_scratch("f");
  struct rlimit old, small;
  static char data[200000];
  em_out *o;
  em_err err;
  write_file(path, "old");
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 4096;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  assert_int_equal(em_out_open(path, &o, &err), EM_OK);
  em_out_write(o, data, sizeof data);
  int rc = em_out_commit(o, &err);
  em_out_abort(o);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, SIG_DFL);
  assert_int_equal(rc, EM_E_IO);
  assert_file_is(path, "old");
  assert_int_equal(count_entries(scratch), 1);
}

static void test_out_bad_targets(void **state)
{
  (void)state;
  em_out *o = NULL;
  em_err err;
  int64_t live = em_alloc_live();
  assert_int_equal(em_out_open(in_scratch("no/such/f"), &o, &err), EM_E_IO);
  assert_int_equal(em_out_open(scratch, &o, &err), EM_E_INPUT);
  if (geteuid() != 0) { /* root writes where it likes */
    chmod(scratch, 0500);
    assert_int_equal(em_out_open(in_scratch("f"), &o, &err), EM_E_IO);
    chmod(scratch, 0700);
  } else {
    assert_int_equal(em_out_open("/proc/emmy-test", &o, &err), EM_E_IO);
  }
  assert_null(o);
  assert_int_equal(em_alloc_live(), live);
}

/* Forks; the child calls `start` and is killed while it sleeps. */
static void kill_in_the_middle(void (*start)(void))
{
  int ready[2];
  char c;
  assert_int_equal(pipe(ready), 0);
  pid_t pid = fork();
  if (pid == 0) {
    start();
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  assert_int_equal(read(ready[0], &c, 1), 1);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  close(ready[0]);
  close(ready[1]);
}

static void start_file(void)
{
  em_out *o;
  em_err err;
  static char data[100000];
  if (em_out_open(in_scratch("f"), &o, &err)) _exit(1);
  em_out_write(o, data, sizeof data);
}

static void start_folder(void)
{
  em_outdir *d;
  em_err err;
  char *path;
  if (em_outdir_begin(in_scratch("d"), &d, &err) || em_path_join(&path, &err, em_outdir_path(d), "half")) _exit(1);
  put_file(path, "half", 4);
}

static void test_kill_leaves_the_old(void **state)
{
  (void)state;
  write_file(in_scratch("f"), "old");
  assert_int_equal(mkdir(in_scratch("d"), 0700), 0);
  put_file(in_scratch("d/x"), "old", 3);
  kill_in_the_middle(start_file);
  kill_in_the_middle(start_folder);
  assert_file_is(in_scratch("f"), "old");
  assert_file_is(in_scratch("d/x"), "old");
  assert_int_equal(count_entries(in_scratch("d")), 1);
  assert_int_equal(count_entries(scratch), 4); /* two leftovers, which the next writer removes */
  put_file(in_scratch("f.tmp-notours"), "", 0);
  write_file(in_scratch("f"), "new");
  em_outdir *d;
  em_err err;
  assert_int_equal(em_outdir_begin(in_scratch("d/"), &d, &err), EM_OK);
  em_outdir_abort(d);
  assert_int_equal(count_entries(scratch), 3);
}

static void test_living_writers_keep_apart(void **state)
{
  (void)state;
  em_out *a, *b;
  em_err err;
  assert_int_equal(em_out_open(in_scratch("f"), &a, &err), EM_OK);
  em_out_write(a, "a", 1);
  assert_int_equal(em_out_open(in_scratch("f"), &b, &err), EM_OK);
  em_out_write(b, "b", 1);
  assert_int_equal(em_out_commit(b, &err), EM_OK);
  assert_file_is(in_scratch("f"), "b");
  assert_int_equal(em_out_commit(a, &err), EM_OK);
  assert_file_is(in_scratch("f"), "a");
  assert_int_equal(count_entries(scratch), 1);
}

static void fill_folder(em_outdir *d, const char *name)
{
  char *path;
  em_err err;
  assert_int_equal(em_path_join(&path, &err, em_outdir_path(d), name), EM_OK);
  write_file(path, name);
  em_free(path);
}

static void test_outdir(void **state)
{
  (void)state;
  const char *path = in_scratch("d");
  em_outdir *d;
  em_err err;
  assert_int_equal(em_outdir_begin(path, &d, &err), EM_OK);
  fill_folder(d, "one");
  assert_false(em_path_exists(path));
  assert_int_equal(em_outdir_commit(d, &err), EM_OK);
  assert_file_is(in_scratch("d/one"), "one");

  assert_int_equal(em_outdir_begin(path, &d, &err), EM_OK);
  fill_folder(d, "two");
  em_outdir_abort(d);
  em_outdir_abort(NULL);
  assert_file_is(in_scratch("d/one"), "one");

  assert_int_equal(em_outdir_begin(path, &d, &err), EM_OK);
  fill_folder(d, "two");
  assert_file_is(in_scratch("d/one"), "one");
  assert_int_equal(em_outdir_commit(d, &err), EM_OK);
  assert_file_is(in_scratch("d/two"), "two");
  assert_int_equal(count_entries(path), 1);
  assert_int_equal(count_entries(scratch), 1);
}

static void test_outdir_bad_targets(void **state)
{
  (void)state;
  em_outdir *d;
  em_err err;
  put_file(in_scratch("f"), "x", 1);
  assert_int_equal(em_outdir_begin(in_scratch("f"), &d, &err), EM_E_INPUT);
  assert_int_equal(em_outdir_begin(in_scratch("no/such"), &d, &err), EM_E_IO);
  assert_int_equal(count_entries(scratch), 1);
}

static void test_read_refusals(void **state)
{
  (void)state;
  char *text;
  size_t len;
  em_map map;
  em_err err;
  char hex[33];
  assert_int_equal(em_file_read(in_scratch("none"), &text, &len, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "none: cannot open the file for reading: No such file"));
  assert_int_equal(em_file_read(scratch, &text, &len, &err), EM_E_INPUT);
  assert_non_null(strstr(err.msg, "found a folder"));
  assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
  assert_int_equal(em_map_open(in_scratch("pipe"), &map, &err), EM_E_INPUT);
  assert_int_equal(em_file_digest(in_scratch("pipe"), hex, &err), EM_E_INPUT);
}

/* More files at a time than a process may have mappings, and one that is too large to be copied. */
static void test_maps_by_the_thousand(void **state)
{
  (void)state;
  enum { MANY = 70000, LARGE = 1 << 20 };
  em_map *maps = calloc(MANY, sizeof *maps), large;
  char *text = calloc(1, LARGE);
  em_err err;
  memset(text, 'x', LARGE);
  put_file(in_scratch("small"), "abc", 3);
  put_file(in_scratch("large"), text, LARGE);
  for (size_t i = 0; i < MANY; i++)
    if (em_map_open(in_scratch("small"), &maps[i], &err) != EM_OK) fail_msg("%zu: %s", i, err.msg);
  assert_int_equal(em_map_open(in_scratch("large"), &large, &err), EM_OK);
  assert_true(large.len == LARGE && memcmp(large.data, text, LARGE) == 0);
  em_map_rest(&large);
  assert_memory_equal(large.data, text, LARGE);
  em_map_close(&large);
  for (size_t i = 0; i < MANY; i++) {
    em_map_rest(&maps[i]);
    assert_true(maps[i].len == 3 && memcmp(maps[i].data, "abc", 3) == 0);
    em_map_close(&maps[i]);
  }
  free(maps);
  free(text);
}

static void test_empty_and_growing_files(void **state)
{
  (void)state;
  em_map map;
  em_err err;
  char *text;
  size_t len;
  put_file(in_scratch("empty"), "", 0);
  assert_file_is(in_scratch("empty"), "");
  assert_int_equal(em_map_open(in_scratch("empty"), &map, &err), EM_OK);
  assert_int_equal(map.len, 0);
  em_map_close(&map);
  assert_int_equal(em_file_read("/proc/self/status", &text, &len, &err), EM_OK); /* says its size is 0 */
  assert_true(len > 100 && text[len] == '\0');
  em_free(text);
}

static void test_digest_of_file(void **state)
{
  (void)state;
  char hex[33], want[33];
  static char data[300000];
  em_err err;
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 7);
  put_file(in_scratch("f"), data, sizeof data);
  assert_int_equal(em_file_digest(in_scratch("f"), hex, &err), EM_OK);
  em_digest_hex(em_digest_bytes(data, sizeof data), want);
  assert_string_equal(hex, want);
}

static void test_paths(void **state)
{
  (void)state;
  static const char *const cases[][3] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}, {"/", "b", "/b"}};
  em_err err;
  for (size_t i = 0; i < N_OF(cases); i++) {
    char *joined;
    assert_int_equal(em_path_join(&joined, &err, cases[i][0], cases[i][1]), EM_OK);
    assert_string_equal(joined, cases[i][2]);
    em_free(joined);
  }
  assert_int_equal(em_mkdirs(in_scratch("a//b/c/"), &err), EM_OK);
  assert_int_equal(em_mkdirs(in_scratch("a/b/c"), &err), EM_OK);
  assert_true(em_path_is_dir(in_scratch("a/b/c")));
  put_file(in_scratch("a/f"), "", 0);
  assert_false(em_path_is_dir(in_scratch("a/f")));
  assert_int_equal(em_mkdirs(in_scratch("a/f/g"), &err), EM_E_IO);
  assert_non_null(strstr(err.msg, "a/f: File exists"));
}

static void start_lock(void)
{
  em_lock *l;
  em_err err;
  if (em_lock_acquire(in_scratch("db"), &l, &err)) _exit(1);
}

static void test_lock(void **state)
{
  (void)state;
  em_lock *l, *second;
  em_err err;
  char who[64];
  assert_int_equal(em_lock_acquire(in_scratch("db"), &l, &err), EM_OK);
  pid_t pid = fork();
  if (pid == 0) _exit(em_lock_acquire(in_scratch("db"), &second, &err) == EM_E_INPUT ? 0 : 1);
  int status;
  waitpid(pid, &status, 0);
  assert_int_equal(status, 0);
  assert_int_equal(em_lock_acquire(in_scratch("db"), &second, &err), EM_E_INPUT);
  snprintf(who, sizeof who, "in use by process %ld,", (long)getpid());
  assert_non_null(strstr(err.msg, who));
  em_lock_release(l);
  em_lock_release(NULL);
  assert_int_equal(count_entries(scratch), 0);
  kill_in_the_middle(start_lock); /* the killed holder's lock is gone with it */
  assert_int_equal(em_lock_acquire(in_scratch("db"), &l, &err), EM_OK);
  em_lock_release(l);
  assert_int_equal(em_lock_acquire(in_scratch("no/db"), &l, &err), EM_E_IO);
}

/* ---- failing allocations ------------------------------------------------ */

static int make_file(em_err *err)
{
  em_out *o;
  int rc = em_out_open(in_scratch("f"), &o, err);
  if (rc) return rc;
  em_out_printf(o, "%600d", 1); /* longer than what fits on the stack */
  rc = em_out_commit(o, err);
  if (rc) em_out_abort(o);
  return rc;
}

static int make_folder(em_err *err)
{
  em_outdir *d;
  int rc = em_outdir_begin(in_scratch("d"), &d, err);
  if (rc) return rc;
  rc = em_outdir_commit(d, err);
  if (rc) em_outdir_abort(d);
  return rc;
}

static void test_nomem(void **state)
{
  (void)state;
  em_err err;
  char *text, hex[33];
  size_t len;
  em_lock *l = NULL;
  cJSON *json = NULL;
  ASSERT_SURVIVES_NOMEM(make_file(&err), );
  assert_int_equal(count_entries(scratch), 1);
  ASSERT_SURVIVES_NOMEM(make_folder(&err), );
  assert_int_equal(count_entries(scratch), 2);
  ASSERT_SURVIVES_NOMEM(em_file_read(in_scratch("f"), &text, &len, &err), em_free(text));
  ASSERT_SURVIVES_NOMEM(em_file_digest(in_scratch("f"), hex, &err), );
  ASSERT_SURVIVES_NOMEM(em_lock_acquire(in_scratch("f"), &l, &err), em_lock_release(l));
  ASSERT_SURVIVES_NOMEM(em_mkdirs(in_scratch("x/y"), &err), );
  ASSERT_SURVIVES_NOMEM(em_path_join(&text, &err, "a", "b"), em_free(text));
  ASSERT_SURVIVES_NOMEM(em_json_read(in_scratch("f"), &json, &err), em_json_free(json));
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
    IN_SCRATCH(test_out_commit_and_abort),
    IN_SCRATCH(test_out_long_text),
    IN_SCRATCH(test_out_keeps_mode_and_link),
    IN_SCRATCH(test_out_full_disk),
    IN_SCRATCH(test_out_size_limit),
    IN_SCRATCH(test_out_bad_targets),
    IN_SCRATCH(test_kill_leaves_the_old),
    IN_SCRATCH(test_living_writers_keep_apart),
    IN_SCRATCH(test_outdir),
    IN_SCRATCH(test_outdir_bad_targets),
    IN_SCRATCH(test_read_refusals),
    IN_SCRATCH(test_maps_by_the_thousand),
    IN_SCRATCH(test_empty_and_growing_files),
    IN_SCRATCH(test_digest_of_file),
    IN_SCRATCH(test_paths),
    IN_SCRATCH(test_lock),
    IN_SCRATCH(test_nomem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
