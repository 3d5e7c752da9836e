/* sql_query.h - one open connection on the fixture, and statements compared with CSV. */
#ifndef EM_TESTS_SQL_QUERY_H
#define EM_TESTS_SQL_QUERY_H

#include "tests/unit/sql_fixture.h"

static em_session *session;
static em_sql *sql;

static inline int open_fixture(void **state)
{
  em_err err;
  if (scratch_setup(state) != 0) return -1;
  session = fixture_session();
  fixture_must(em_sql_open(session, NULL, &sql, &err), &err);
  return 0;
}

static inline int close_fixture(void **state)
{
  em_sql_close(sql);
  em_session_close(session);
  return scratch_teardown(state);
}

static inline int collect_text(void *ctx, const char *text, size_t len)
{
  em_str_putn(ctx, text, len);
  return 0;
}

/* The rows of all statements; free it.  NULL and *err when it fails. */
static inline char *query_as(em_format format, const char *text, em_err *err)
{
  em_str out = {0};
  em_render r = {.format = format, .bare = format == EM_FORMAT_CSV};
  size_t at;
  if (em_sql_run(sql, text, strlen(text), &r, collect_text, &out, &at, err) != EM_OK) {
    em_str_free(&out);
    return NULL;
  }
  if (!out.s) em_str_put(&out, "");
  return out.s;
}

/* CSV without its header. */
static inline char *query(const char *text)
{
  em_err err;
  char *got = query_as(EM_FORMAT_CSV, text, &err);
  if (!got) fail_msg("%s\n%s", text, err.msg);
  return got;
}

static inline void expect(const char *text, const char *want)
{
  char *got = query(text);
  if (strcmp(got, want) != 0) fail_msg("%s\ngives    %s\nexpected %s", text, got, want);
  em_free(got);
}

/* The message contains `part`. */
static inline void expect_error(const char *text, const char *part)
{
  em_err err;
  char *got = query_as(EM_FORMAT_CSV, text, &err);
  if (got) fail_msg("%.200s\ngives    %s\nexpected an error", text, got);
  if (!strstr(err.msg, part)) fail_msg("%.200s\ngives    %s\nexpected %s", text, err.msg, part);
}

#endif
