/* repl_line.c - lines from a terminal, edited by libedit, or plain ones from standard input. */
#include <errno.h>
#include <histedit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/repl.h"

#define HISTORY_LINES 2000

struct em_line {
  em_repl *repl;
  bool terminal; /* someone types: prompts are worth while */
  /* edited */
  EditLine *el; /* NULL = plain */
  History *history;
  char *history_path; /* NULL = not kept */
  bool more;
  em_str line;
  /* plain */
  char *buffer;
  size_t cap;
};

static const char *prompt_text(bool more) { return more ? " ...> " : "emmy> "; }

/* ---- history ---- */

/* $XDG_STATE_HOME/emmy/history, or ~/.local/state/emmy/history; NULL when neither is known. */
static char *history_file(void)
{
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  em_str path = {0};
  if (state && *state == '/')
    em_str_printf(&path, "%s/emmy/history", state);
  else if (home && *home)
    em_str_printf(&path, "%s/.local/state/emmy/history", home);
  return path.failed ? NULL : path.s;
}

/* A history that cannot be kept is no reason to refuse work. */
static void save_history(em_line *l)
{
  HistEvent event;
  em_err err;
  if (!l->history_path) return;
  if (em_mkdirs_of(l->history_path, &err) != EM_OK || history(l->history, &event, H_SAVE, l->history_path) < 0)
    em_warn("the history was not kept: %s cannot be written", l->history_path);
}

static void remember(em_line *l, const char *line)
{
  HistEvent event;
  if (line[strspn(line, " \t\n")]) history(l->history, &event, H_ENTER, line);
}

/* ---- completion ---- */

typedef struct choice {
  em_str common, list;
  size_t n;
} choice;

static void narrow(void *ctx, const char *word)
{
  choice *c = ctx;
  if (c->n++ == 0) {
    em_str_put(&c->common, word);
  } else if (c->common.s) {
    size_t same = 0;
    while (c->common.s[same] && c->common.s[same] == word[same]) same++;
    c->common.s[same] = '\0';
    c->common.len = same;
  }
  em_str_printf(&c->list, "%s%s", c->list.len ? "  " : "", word);
}

static void show_choices(const choice *c)
{
  em_str text = {0};
  em_put_wrapped(&text, c->list.s ? c->list.s : "", 0, 78);
  if (text.s && !text.failed) fprintf(stdout, "\n%s", text.s);
  fflush(stdout);
  em_str_free(&text);
}

/* Tab: puts what all choices share; shows them when that is nothing new. */
static unsigned char complete(EditLine *el, int key)
{
  (void)key;
  em_line *l;
  choice c = {0};
  size_t start;
  unsigned char what = CC_ERROR;
  const LineInfo *info = el_line(el);
  size_t len = (size_t)(info->cursor - info->buffer);
  el_get(el, EL_CLIENTDATA, &l);
  em_complete(l->repl, info->buffer, len, &start, narrow, &c);
  if (c.n > 0 && c.common.s && c.common.len > len - start) {
    el_deletestr(el, (int)(len - start));
    if (el_insertstr(el, c.common.s) == 0) what = CC_REFRESH;
  } else if (c.n > 1) {
    show_choices(&c);
    what = CC_REDISPLAY;
  }
  if (c.n == 1 && what == CC_REFRESH && !(start && info->buffer[start - 1] == '\'')) el_insertstr(el, " ");
  em_str_free(&c.common);
  em_str_free(&c.list);
  return what;
}

static char *prompt(EditLine *el)
{
  em_line *l;
  el_get(el, EL_CLIENTDATA, &l);
  return (char *)prompt_text(l->more);
}

/* ---- opening ---- */

static bool can_edit(void)
{
  const char *term = getenv("TERM");
  return term && *term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}

static void open_editor(em_line *l)
{
  HistEvent event;
  l->el = el_init("emmy", stdin, stdout, stderr);
  l->history = history_init();
  if (!l->el || !l->history) return;
  history(l->history, &event, H_SETSIZE, HISTORY_LINES);
  history(l->history, &event, H_SETUNIQUE, 1);
  l->history_path = history_file();
  if (l->history_path) history(l->history, &event, H_LOAD, l->history_path);
  el_set(l->el, EL_CLIENTDATA, l);
  el_set(l->el, EL_PROMPT, prompt);
  el_set(l->el, EL_EDITOR, "emacs");
  el_set(l->el, EL_HIST, history, l->history);
  el_set(l->el, EL_ADDFN, "em-complete", "complete the word", complete);
  el_set(l->el, EL_BIND, "^I", "em-complete", NULL);
  el_source(l->el, NULL);
}

int em_line_open(em_repl *r, bool terminal, em_line **out, em_err *err)
{
  em_line *l = em_calloc(1, sizeof *l);
  if (!l) return em_fail_nomem(err);
  l->repl = r;
  l->terminal = terminal;
  if (terminal && can_edit()) open_editor(l);
  *out = l;
  return EM_OK;
}

void em_line_close(em_line *l)
{
  if (!l) return;
  if (l->el && l->history) save_history(l);
  if (l->history) history_end(l->history);
  if (l->el) el_end(l->el);
  em_free(l->history_path);
  em_str_free(&l->line);
  free(l->buffer); /* getline's */
  em_free(l);
}

/* ---- reading ---- */

static const char *next_edited(em_line *l, bool *cancelled)
{
  int n = 0;
  l->repl->cancel = 0;
  const char *line = el_gets(l->el, &n);
  if (!line || n <= 0) {
    *cancelled = l->repl->cancel; /* an interrupt ends the read */
    fputc('\n', stdout);
    return NULL;
  }
  remember(l, line);
  em_str_clear(&l->line);
  em_str_putn(&l->line, line, strcspn(line, "\n"));
  return l->line.s ? l->line.s : "";
}

/* The end of input, an interrupt, or a failure. */
static int no_line(em_line *l, int errnum, bool *cancelled, em_err *err)
{
  bool failed = ferror(stdin) || errnum == ENOMEM;
  clearerr(stdin);
  if (l->terminal) fputc('\n', stdout);
  *cancelled = errnum == EINTR && l->terminal;
  if (*cancelled || !failed) return EM_OK;
  return errnum == EINTR ? em_fail(err, EM_E_CANCEL, "interrupted")
                         : em_fail_errno(err, EM_E_IO, errnum, "cannot read");
}

static int next_plain(em_line *l, const char **line, bool *cancelled, em_err *err)
{
  if (l->terminal) {
    fputs(prompt_text(l->more), stdout);
    fflush(stdout);
  }
  errno = 0;
  ssize_t n = getline(&l->buffer, &l->cap, stdin);
  if (n < 0) return no_line(l, errno, cancelled, err);
  if (memchr(l->buffer, 0, (size_t)n)) return em_fail(err, EM_E_INPUT, "the line has NUL characters, so it is no text");
  if (n && l->buffer[n - 1] == '\n') l->buffer[n - 1] = '\0';
  *line = l->buffer;
  return EM_OK;
}

int em_line_next(em_line *l, bool more, const char **line, bool *cancelled, em_err *err)
{
  l->more = more;
  *line = NULL;
  *cancelled = false;
  if (!l->el || !l->history) return next_plain(l, line, cancelled, err);
  *line = next_edited(l, cancelled);
  return EM_OK;
}
