/*
 * fuzz_sql.c - arbitrary statements over the tables of a small session.
 *
 * Whatever is asked, the answer is rows or one clean message, nothing is written to disk, and the connection goes on
 * working.  A statement that takes long is stopped as an interrupt would stop it.  Runs in the repository's root.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "views/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATIENCE_MS = 200, TICK_MS = 10, MOST_BYTES = 1 << 20 };

static em_session *session;
static volatile int cancel;
static volatile int left_ms; /* until the running statement is stopped */

static void demand(bool holds, const char *what)
{
  if (holds) return;
  fprintf(stderr, "fuzz_sql: %s\n", what);
  abort();
}

static void *watch(void *ctx)
{
  (void)ctx;
  for (;;) {
    nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000L}, NULL);
    if (left_ms > 0 && (left_ms -= TICK_MS) <= 0) cancel = 1;
  }
  return NULL;
}

static void open_session(void)
{
  static const char *const sources[] = {"tests/fixtures/tiny.json"};
  const em_session_options o = {.sources = sources,
                                .n_sources = 1,
                                .prior = "tests/fixtures/tiny-prior.json",
                                .feat_ver = EM_FEAT_VER,
                                .threads = 1};
  em_err err;
  pthread_t thread;
  if (em_session_open(&o, &session, &err) != EM_OK) {
    fprintf(stderr, "fuzz_sql: %s\n", err.msg);
    exit(1);
  }
  if (em_session_rank_all(session, NULL, &err) != EM_OK || pthread_create(&thread, NULL, watch, NULL) != 0) abort();
  sqlite3_hard_heap_limit64(512 << 20);
}

/* Stops like a reader that has seen enough. */
static int take(void *ctx, const char *text, size_t len)
{
  size_t *taken = ctx;
  (void)text;
  *taken += len;
  return *taken > MOST_BYTES;
}

static int run(em_sql *q, const char *text, size_t len, em_format format, em_err *err)
{
  size_t taken = 0, at;
  const em_render r = {.format = format, .width = 80};
  cancel = 0;
  left_ms = PATIENCE_MS;
  int rc = em_sql_run(q, text, len, &r, take, &taken, &at, err);
  left_ms = 0;
  demand(rc == EM_OK || at <= len, "an error stands in the text");
  return rc;
}

static void check_message(const em_err *err)
{
  demand(err->code == EM_E_INPUT || err->code == EM_E_CANCEL || err->code == EM_E_NOMEM, "a known kind of error");
  demand(err->msg[0] != '\0', "an error has a message");
  for (const char *s = err->msg; *s; s++) demand((unsigned char)*s >= ' ' && *s != 0x7f, "a message is clean");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  em_err err;
  em_sql *q;
  const em_progress p = {.cancel = &cancel};
  if (!session) open_session();
  if (size == 0) return 0;
  char *text = em_strndup((const char *)data + 1, size - 1);
  if (!text || em_sql_open(session, &p, &q, &err) != EM_OK) abort();
  if (run(q, text, strlen(text), (em_format)(data[0] % 5), &err) != EM_OK) check_message(&err);
  demand(run(q, "select count(*) from cards", 26, EM_FORMAT_CSV, &err) == EM_OK || err.code != EM_E_INPUT,
         "the connection still works");
  em_sql_close(q);
  em_free(text);
  return 0;
}

#ifdef EM_FUZZ_MAIN
int main(int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    em_err err;
    char *text;
    size_t len;
    if (em_file_read(argv[i], &text, &len, &err) != EM_OK) {
      fprintf(stderr, "fuzz_sql: %s\n", err.msg);
      return 1;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)text, len);
    em_free(text);
  }
  return argc < 2 ? 2 : 0;
}
#endif
