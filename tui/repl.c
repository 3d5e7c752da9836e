/* repl.c - texts of statements and dot commands, run one by one. */
#include "tui/repl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_DEPTH 16 /* .read within .read */

/* ---- sessions ---- */

void em_repl_free_sources(char **sources, size_t n, char *prior)
{
  for (size_t i = 0; sources && i < n; i++) em_free(sources[i]);
  em_free(sources);
  em_free(prior);
}

/* A session borrows the names that it was opened with. */
static int copy_names(char *const *sources, size_t n, const char *prior, char ***copies, char **prior_copy, em_err *err)
{
  *copies = em_calloc(n + 1, sizeof **copies);
  *prior_copy = prior ? em_strdup(prior) : NULL;
  bool whole = *copies && (!prior || *prior_copy);
  for (size_t i = 0; whole && i < n; i++) whole = ((*copies)[i] = em_strdup(sources[i])) != NULL;
  if (whole) return EM_OK;
  em_repl_free_sources(*copies, n, *prior_copy);
  return em_fail_nomem(err);
}

int em_repl_open(em_repl *r, char *const *sources, size_t n, const char *prior, em_err *err)
{
  em_session *session = NULL;
  char **copies, *prior_copy;
  int rc = copy_names(sources, n, prior, &copies, &prior_copy, err);
  if (rc != EM_OK) return rc;
  const em_session_options o = {.sources = (const char *const *)copies,
                                .n_sources = n,
                                .prior = prior_copy,
                                .feat_ver = em_args_feat_ver(r->args),
                                .threads = (int)r->args->opt[EM_OPT_THREADS].i};
  rc = em_session_open(&o, &session, err);
  if (rc == EM_OK && !r->sql) rc = em_sql_open(session, &r->progress, &r->sql, err);
  if (rc != EM_OK) {
    em_session_close(session);
    em_repl_free_sources(copies, n, prior_copy);
    return rc;
  }
  em_sql_turn(r->sql, session);
  em_session_close(r->session);
  em_repl_free_sources(r->sources, r->n_sources, r->prior);
  r->sources = copies;
  r->n_sources = n;
  r->prior = prior_copy;
  r->session = session;
  return EM_OK;
}

/* ---- output ---- */

static int put_to(em_out *out, const char *text, size_t len)
{
  if (!out) return em_put(NULL, text, len);
  em_out_write(out, text, len);
  return 0;
}

static int put_result(void *repl, const char *text, size_t len)
{
  em_repl *r = repl;
  return put_to(r->once ? r->once : r->output, text, len);
}

int em_repl_put_text(em_repl *r, em_str *text, em_err *err)
{
  int rc = em_str_finish(text, err);
  if (rc != EM_OK) return rc;
  if (text->len) put_to(r->output, text->s, text->len);
  em_str_free(text);
  return EM_OK;
}

/* The file of .once is whole after the statement, or not there. */
static int end_once(em_repl *r, int rc, em_err *err)
{
  em_out *once = r->once;
  r->once = NULL;
  if (!once) return rc;
  if (rc == EM_OK && (rc = em_out_commit(once, err)) == EM_OK) return EM_OK;
  em_out_abort(once);
  return rc;
}

/* ---- statements ---- */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static em_render rendering(const em_repl *r)
{
  em_render render = r->render;
  render.width = r->once || r->output ? 0 : r->width >= 0 ? r->width : em_terminal_width();
  return render;
}

/* The last statement of a text may end without its semicolon; the next one follows it in the log. */
static void log_text(em_repl *r, const char *text)
{
  em_str_put(&r->log, text);
  if (!em_sql_is_complete(text)) em_str_put(&r->log, ";\n");
}

static int run_sql(em_repl *r, const char *text, size_t *at, em_err *err)
{
  em_render render = rendering(r);
  double start = now();
  int rc = em_sql_run(r->sql, text, strlen(text), &render, put_result, r, at, err);
  em_cli_progress_end();
  rc = end_once(r, rc, err);
  if (r->timer) {
    fflush(stdout);
    fprintf(stderr, "%.3f s\n", now() - start);
  }
  if (rc == EM_OK) log_text(r, text);
  return rc;
}

static size_t lines_before(const char *text, size_t at)
{
  size_t n = 0;
  for (const char *s = text; s < text + at && *s; s++) n += *s == '\n';
  return n;
}

/* Errors of scripts say where; those of a prompt stand below what was typed. */
static void place_error(const em_repl *r, const char *name, size_t line, em_err *err)
{
  if (!r->interactive || r->depth > 0) em_err_prefix(err, "%s:%zu", name, line);
}

/* An interrupt ends the statement at a prompt, and a script with all that is left of it. */
static bool ends_all(const em_repl *r, const em_err *err)
{
  return err->code == EM_E_NOMEM || (err->code == EM_E_CANCEL && (!r->interactive || r->depth > 0));
}

/* After an error: says so and goes on, or gives it to the caller. */
static int after_error(em_repl *r, em_err *err)
{
  em_cli_progress_end();
  if (!r->keep_going || ends_all(r, err)) return err->code;
  fflush(stdout);
  em_warn("%s", err->msg);
  r->failed++;
  return EM_OK;
}

/* Nothing but blanks, semicolons and whole comments. */
static bool is_blank(const char *s)
{
  while (s && *s) {
    const char *end = strncmp(s, "--", 2) == 0   ? strchr(s, '\n')
                      : strncmp(s, "/*", 2) == 0 ? strstr(s + 2, "*/")
                                                 : NULL;
    if (end)
      s = end + (*s == '/' ? 2 : 1);
    else if (strchr(" \t\r\n;", *s))
      s++;
    else
      return false;
  }
  return true;
}

/* What has been read and not run yet. */
typedef struct pending {
  em_str text;
  size_t first;
  size_t scanned; /* bytes of it that were looked at */
  char inside;    /* of those the end: in a text or name that this character closes, or a comment ('*'); 0 = neither */
  bool ended;     /* a semicolon was the last that is no comment */
} pending;

static void clear(pending *p)
{
  em_str_clear(&p->text);
  p->scanned = 0;
  p->inside = '\0';
  p->ended = false;
}

static bool is_empty(const pending *p) { return !p->inside && is_blank(p->text.s); }

/* One character outside of texts and comments, or the two that begin a comment; returns the place behind it. */
static const char *scan_plain(pending *p, const char *s)
{
  if (strncmp(s, "--", 2) == 0) return s + strcspn(s, "\n");
  if (strncmp(s, "/*", 2) == 0) {
    p->inside = '*';
    return s + 2;
  }
  if (strchr("'\"`[", *s)) p->inside = *s == '[' ? ']' : *s;
  if (!strchr(" \t\r\n\f", *s)) p->ended = *s == ';';
  return s + 1;
}

/* Looks at the lines that were put since the last call, so that the longest text is looked at once. */
static void scan(pending *p)
{
  if (p->text.failed) return;
  const char *s = p->text.s + p->scanned;
  while (*s) {
    if (!p->inside) {
      s = scan_plain(p, s);
    } else if (!(s = strstr(s, p->inside == '*' ? "*/" : (char[]){p->inside, '\0'}))) {
      break;
    } else {
      s += p->inside == '*' ? 2 : 1;
      p->inside = '\0';
    }
  }
  p->scanned = p->text.len;
}

static int run_pending(em_repl *r, pending *p, const char *name, em_err *err)
{
  int rc = EM_OK;
  size_t at;
  r->cancel = 0;
  if (p->text.failed) return em_fail_nomem(err);
  if (p->text.s && !is_blank(p->text.s) && run_sql(r, p->text.s, &at, err) != EM_OK) {
    at += strspn(p->text.s + at, " \t\r\n"); /* a statement that failed to run starts after the blanks */
    place_error(r, name, p->first + lines_before(p->text.s, at), err);
    rc = after_error(r, err);
  }
  clear(p);
  return rc;
}

static int take_line(em_repl *r, pending *p, const char *line, const char *name, size_t number, em_err *err)
{
  if (is_empty(p)) {
    clear(p);
    p->first = number;
    if (*line == '.') {
      r->cancel = 0;
      if (em_dot_run(r, line, err) == EM_OK) return EM_OK;
      place_error(r, name, number, err);
      return after_error(r, err);
    }
  }
  em_str_put(&p->text, line);
  em_str_putc(&p->text, '\n');
  scan(p);
  return p->ended && !p->inside && em_sql_is_complete(p->text.s) ? run_pending(r, p, name, err) : EM_OK;
}

static bool at_end(const em_repl *r) { return r->quit || (!r->output && !r->once && em_put_stopped()); }

/* Takes one line more; *end: there is none. */
static int read_line(em_repl *r, em_line *in, pending *p, const char *name, size_t number, bool *end, em_err *err)
{
  const char *line;
  bool cancelled;
  int rc = em_line_next(in, !is_empty(p), &line, &cancelled, err);
  if (rc == EM_OK && line) return take_line(r, p, line, name, number, err);
  *end = rc == EM_OK && !cancelled;
  if (*end) return EM_OK;
  clear(p);
  if (rc == EM_OK) return EM_OK;
  place_error(r, name, number, err);
  return rc == EM_E_INPUT ? after_error(r, err) : rc;
}

int em_repl_run_lines(em_repl *r, em_line *in, const char *name, em_err *err)
{
  pending p = {0};
  int rc = EM_OK;
  bool end = false;
  for (size_t number = 1; rc == EM_OK && !at_end(r) && !end; number++) {
    if (r->interactive) fflush(stdout);
    rc = read_line(r, in, &p, name, number, &end, err);
  }
  if (rc == EM_OK && !at_end(r)) rc = run_pending(r, &p, name, err);
  em_str_free(&p.text);
  return rc;
}

int em_repl_run_text(em_repl *r, const char *name, const char *text, em_err *err)
{
  pending p = {0};
  em_str line = {0};
  int rc = EM_OK;
  for (size_t number = 1; *text && rc == EM_OK && !at_end(r); number++) {
    size_t n = strcspn(text, "\n");
    em_str_clear(&line);
    em_str_putn(&line, text, n);
    rc = line.failed ? em_fail_nomem(err) : take_line(r, &p, n ? line.s : "", name, number, err);
    text += n + (text[n] == '\n');
  }
  if (rc == EM_OK && !at_end(r)) rc = run_pending(r, &p, name, err);
  em_str_free(&line);
  em_str_free(&p.text);
  return rc;
}

int em_repl_run_file(em_repl *r, const char *path, em_err *err)
{
  char *text;
  size_t len;
  if (r->depth == MAX_DEPTH) return em_fail(err, EM_E_INPUT, "%s: .read nests deeper than %d files", path, MAX_DEPTH);
  if (em_file_read(path, &text, &len, err) != EM_OK) return err->code;
  if (memchr(text, 0, len)) {
    em_free(text);
    return em_fail(err, EM_E_INPUT, "%s: has NUL characters, so it is no text", path);
  }
  r->depth++;
  int rc = em_repl_run_text(r, path, text, err);
  r->depth--;
  em_free(text);
  return rc;
}
