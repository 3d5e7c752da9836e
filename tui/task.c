/*
 * task.c - what may take longer than a frame: a view being opened, ordered, searched or written.
 *
 * It is done behind the screen, one work at a time, always on the top screen.  What is quick is over before a frame is
 * drawn; else keys go on working, and giving up leaves everything as it was.
 */
#include <string.h>

#include "tui/explore_int.h"

enum { QUICK_MS = 10 };

static const char *const words[] = {[EM_TASK_OPEN] = "opening",
                                    [EM_TASK_ORDER] = "ordering",
                                    [EM_TASK_SEARCH] = "searching",
                                    [EM_TASK_WRITE] = "writing"};

const char *em_task_word(const em_explorer *x) { return words[x->task.kind]; }

/* ---- on its own thread ---- */

/* A file being written; `rc` says why it was not. */
typedef struct file {
  em_out *out;
  em_err *err;
  int rc;
} file;

static int put_file(void *ctx, const char *text, size_t len)
{
  file *f = ctx;
  em_out_write(f->out, text, len);
  f->rc = em_progress_step(NULL, "writing", 0, 0, f->err);
  return f->rc;
}

static bool ends_in(const char *s, const char *suffix)
{
  size_t n = strlen(s), m = strlen(suffix);
  return n >= m && strcmp(s + n - m, suffix) == 0;
}

static int write_rows(const em_task *t, em_err *err)
{
  file f = {.err = err};
  em_render r = {.format = ends_in(t->path, ".csv")    ? EM_FORMAT_CSV
                           : ends_in(t->path, ".json") ? EM_FORMAT_JSON
                           : ends_in(t->path, ".md")   ? EM_FORMAT_MARKDOWN
                                                       : EM_FORMAT_TABLE,
                 .ascii = t->ascii};
  int rc = em_out_open(t->path, &f.out, err);
  if (rc != EM_OK) return rc;
  rc = em_render_view(t->screen->cursor, &t->screen->shown, &r, put_file, &f, err);
  if (rc == EM_OK) rc = f.rc;
  if (rc == EM_OK) rc = em_out_commit(f.out, err);
  if (rc != EM_OK) em_out_abort(f.out);
  return rc;
}

static int search(em_task *t, em_err *err)
{
  em_screen *s = t->screen;
  t->found = em_arrangement_search(s->cursor, &s->shown, t->from, t->step, s->search);
  return em_progress_step(NULL, "searching", 0, 0, err);
}

static int run(void *ctx, em_err *err)
{
  em_task *t = ctx;
  switch (t->kind) {
  case EM_TASK_SEARCH: return search(t, err);
  case EM_TASK_WRITE: return write_rows(t, err);
  default: return em_screen_prepare(t->screen, t->session, &t->fresh, err);
  }
}

/* ---- what comes of it ---- */

static void drop_fresh(em_fresh *f)
{
  em_arrangement_free(&f->shown);
  em_cursor_close(f->cursor);
  *f = (em_fresh){0};
}

/* The screen that is not opened goes; with the first one the explorer ends. */
static void close_unopened(em_explorer *x, const em_err *err)
{
  if (x->depth > 1) {
    em_screen_free(x->stack[--x->depth]);
    return;
  }
  x->quit = true;
  x->failed = *err;
}

static void show_hit(em_explorer *x)
{
  em_screen *s = x->task.screen;
  size_t at = x->task.found;
  int step = x->task.step;
  if (at == SIZE_MAX) {
    em_explorer_say(x, "\"%s\" is in none of the %zu rows", s->search, s->shown.n);
    return;
  }
  if ((step > 0 && at < s->at) || (step < 0 && at > s->at))
    em_explorer_say(x, "search went round the %s", step > 0 ? "end" : "start");
  em_screen_goto(s, at);
}

static void apply(em_explorer *x)
{
  em_task *t = &x->task;
  switch (t->kind) {
  case EM_TASK_SEARCH: show_hit(x); break;
  case EM_TASK_WRITE: em_explorer_say(x, "wrote %zu rows to %s", t->screen->shown.n, t->path); break;
  case EM_TASK_ORDER: em_explorer_say(x, "%s", t->said); /* fall through */
  default: em_screen_take(t->screen, &t->fresh);
  }
  if (t->screen->by_name) em_explorer_drop(x, 1, x->depth - 1);
  t->screen->by_name = false;
}

static void undo(em_explorer *x, const em_err *err)
{
  em_task *t = &x->task;
  drop_fresh(&t->fresh);
  if (t->kind == EM_TASK_OPEN) close_unopened(x, err);
  if (t->kind != EM_TASK_ORDER) return;
  t->screen->order = t->before;
  t->screen->at = t->at;
}

static int end(em_explorer *x, em_err *err)
{
  em_job *job = x->task.job;
  x->task.job = NULL;
  return em_job_end(job, err);
}

void em_task_finish(em_explorer *x)
{
  em_err err;
  if (end(x, &err) == EM_OK) {
    apply(x);
  } else {
    em_explorer_say(x, "%s", err.msg);
    if (x->task.kind == EM_TASK_WRITE) em_explorer_not_written(x, &err);
    undo(x, &err);
  }
}

void em_task_give_up(em_explorer *x)
{
  em_err ignored;
  const em_err none = {0};
  if (!x->task.job) return;
  em_job_cancel(x->task.job);
  bool written = end(x, &ignored) == EM_OK && x->task.kind == EM_TASK_WRITE; /* too late to give up */
  if (written)
    apply(x);
  else
    em_explorer_say(x, "gave up %s %s", em_task_word(x), x->task.screen->view->title);
  undo(x, &none);
}

int em_task_start(em_explorer *x, em_task_kind kind, em_err *err)
{
  em_task *t = &x->task;
  t->kind = kind;
  t->screen = em_explorer_top(x);
  t->session = x->session;
  t->fresh = (em_fresh){0};
  if (em_job_start(run, t, &t->job, err) != EM_OK) {
    undo(x, err);
    return err->code;
  }
  if (em_job_wait(t->job, QUICK_MS)) em_task_finish(x);
  return EM_OK;
}
