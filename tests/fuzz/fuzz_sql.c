/*
 * fuzz_sql.c - statements over the tables of a small session: arbitrary bytes, and what a grammar writes.
 *
 * Whatever is asked, the answer is rows or one clean message, nothing is written to disk, and the connection goes on
 * working.  A statement is interrupted after a while, at once, or in the middle of its rows.  One kind of input asks the
 * same question so that the core serves it and so that SQLite filters and sorts: the answers must be equal.  Runs in
 * the repository's root.
 *
 * The first byte of an input says how it is run: the format, the way of interrupting, and whether the rest is a text or
 * the seed of a question.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/sql_grammar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

enum { PATIENCE_MS = 200, TICK_MS = 10, MOST_BYTES = 1 << 20 };
enum { N_FORMATS = 5, N_WAYS = 4 };
enum { WAIT, WAIT_LESS, INTERRUPTED_AT_ONCE, INTERRUPTED_IN_ROWS }; /* the ways */

static em_session *session;
static volatile int cancel;
static volatile int left_ms; /* until the running statement is stopped */

static void demand(bool holds, const char *what)
{
  if (holds) return;
  fprintf(stderr, "fuzz_sql: %s\n", what);
  abort();
}

/* ---- what is asked ---- */

static void *watch(void *ctx)
{
  (void)ctx;
  for (;;) {
    nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000L}, NULL);
    if (left_ms > 0 && (left_ms -= TICK_MS) <= 0) cancel = 1;
  }
  return NULL;
}

static const char mine[] = GRAMMAR_FOLDER "/mine.db", broken[] = GRAMMAR_FOLDER "/no-database.db";
static struct stat mine_before;

/* Files to attach: one with a table and an index, and one that is no database. */
static void make_files(void)
{
  sqlite3 *db = NULL;
  em_err err;
  if (em_mkdirs(GRAMMAR_FOLDER, &err) != EM_OK) demand(false, err.msg);
  unlink(mine);
  int rc = sqlite3_open(mine, &db);
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(db,
                      "create table items(c1, c2 text); insert into items values (1, 'mm.64'), (null, x'00'); "
                      "create index by_c1 on items(c1); create view all_items as select * from items;",
                      NULL, NULL, NULL);
  demand(rc == SQLITE_OK && sqlite3_close(db) == SQLITE_OK && stat(mine, &mine_before) == 0, "a database to attach");
  FILE *f = fopen(broken, "w");
  demand(f && fputs("SQLite format 3", f) >= 0 && fclose(f) == 0, "a file that is no database");
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
  make_files();
  if (em_session_open(&o, &session, &err) != EM_OK || em_session_rank_all(session, NULL, &err) != EM_OK)
    demand(false, err.msg);
  demand(pthread_create(&thread, NULL, watch, NULL) == 0, "a thread");
  sqlite3_hard_heap_limit64(512 << 20);
}

/* ---- running ---- */

typedef struct taker {
  size_t n;
  size_t interrupt_at; /* 0 = never */
  em_str *keep;        /* NULL = nobody reads it */
} taker;

/* Stops like a reader that has seen enough. */
static int take(void *ctx, const char *text, size_t len)
{
  taker *t = ctx;
  t->n += len;
  if (t->keep) em_str_putn(t->keep, text, len);
  if (t->interrupt_at && t->n >= t->interrupt_at) cancel = 1;
  return t->n > MOST_BYTES;
}

static int run(em_sql *q, const char *text, size_t len, em_format format, int way, em_str *keep, em_err *err)
{
  taker t = {.interrupt_at = way == INTERRUPTED_IN_ROWS ? 1 + len % 4096 : 0, .keep = keep};
  size_t at;
  const em_render r = {.format = format, .width = 80};
  cancel = way == INTERRUPTED_AT_ONCE;
  left_ms = way == WAIT_LESS ? TICK_MS : PATIENCE_MS;
  int rc = em_sql_run(q, text, len, &r, take, &t, &at, err);
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

static void check_files(void)
{
  struct stat now;
  demand(access(GRAMMAR_FOLDER "/new.db", F_OK) != 0, "no file is made");
  demand(stat(mine, &now) == 0 && now.st_size == mine_before.st_size &&
           now.st_mtim.tv_sec == mine_before.st_mtim.tv_sec && now.st_mtim.tv_nsec == mine_before.st_mtim.tv_nsec,
         "an attached file stays as it is");
}

static em_sql *open_sql(void)
{
  static const em_progress p = {.cancel = &cancel};
  em_err err;
  em_sql *q = NULL;
  cancel = 0;
  if (em_sql_open(session, &p, &q, &err) != EM_OK) demand(false, err.msg);
  return q;
}

static void run_text(const char *text, size_t len, em_format format, int way)
{
  em_err err;
  em_sql *q = open_sql();
  if (run(q, text, len, format, way, NULL, &err) != EM_OK) check_message(&err);
  demand(run(q, "select count(*) from cards", 26, EM_FORMAT_CSV, WAIT, NULL, &err) == EM_OK || err.code != EM_E_INPUT,
         "the connection still works");
  em_sql_close(q);
  check_files();
}

/* ---- one question in two ways ---- */

static int ask(uint64_t seed, bool sought, em_str *answer, em_err *err)
{
  grammar g = {.state = seed, .sought = sought};
  em_sql *q = open_sql();
  g_seek(&g);
  demand(!g.out.failed, "memory for a question");
  int rc = run(q, g.out.s, g.out.len, EM_FORMAT_CSV, WAIT, answer, err);
  if (rc != EM_OK && rc != EM_E_CANCEL) fprintf(stderr, "%s\n%s\n", g.out.s, err->msg);
  em_sql_close(q);
  em_str_free(&g.out);
  return rc;
}

static void compare_ways(uint64_t seed)
{
  em_err err;
  em_str a = {0}, b = {0};
  int rc = ask(seed, true, &a, &err);
  if (rc == EM_OK) rc = ask(seed, false, &b, &err);
  demand(rc == EM_OK || rc == EM_E_CANCEL, "a sound question has an answer");
  if (rc == EM_OK)
    demand(a.len == b.len && memcmp(a.s ? a.s : "", b.s ? b.s : "", a.len) == 0, "both ways give the same rows");
  em_str_free(&a);
  em_str_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (!session) open_session();
  if (size == 0) return 0;
  unsigned mode = data[0] / N_FORMATS;
  if (mode / N_WAYS == 1) {
    uint64_t seed = 0;
    memcpy(&seed, data + 1, size - 1 < sizeof seed ? size - 1 : sizeof seed);
    compare_ways(seed);
    return 0;
  }
  char *text = em_strndup((const char *)data + 1, size - 1);
  demand(text, "memory for the text");
  run_text(text, strlen(text), (em_format)(data[0] % N_FORMATS), (int)(mode % N_WAYS));
  em_free(text);
  return 0;
}

/* ---- mutations ---- */

/* A text of the grammar, or a part of one at a place of the old text. */
static size_t grow(uint8_t *data, size_t size, size_t most, grammar *g)
{
  size_t at = 1, end = size;
  bool whole = size < 2 || g_chance(g, 60);
  if (whole) {
    end = 1;
    g_script(g);
    size = size ? size : 1;
    data[0] = (uint8_t)g_below(g, N_FORMATS * N_WAYS + 1); /* the last one: a question */
  } else {
    at = 1 + g_below(g, size);
    end = g_chance(g, 50) ? at : at + g_below(g, size - at + 1);
    g->fuel = 1 + (int)g_below(g, 12);
    if (g_chance(g, 50))
      g_expr(g);
    else
      g_select(g);
  }
  size_t n = g->out.failed ? 0 : g->out.len, rest = whole ? 0 : size - end;
  if (at + n + rest > most) return size;
  memmove(data + at + n, data + end, rest);
  if (n) memcpy(data + at, g->out.s, n);
  return at + n + rest;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
  grammar g = {.state = seed};
  if (most < 2 || g_chance(&g, 25)) return LLVMFuzzerMutate(data, size, most);
  if (g_chance(&g, 15) && most >= 9) {
    uint64_t question = g_next(&g);
    data[0] = N_FORMATS * N_WAYS;
    memcpy(data + 1, &question, sizeof question);
    return 1 + sizeof question;
  }
  size = grow(data, size, most, &g);
  em_str_free(&g.out);
  return size;
}

#ifdef EM_FUZZ_MAIN
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
  (void)data;
  return size < most ? size : most;
}

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
