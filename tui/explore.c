/* explore.c - the explorer's loop and frame. */
#include <curses.h>
#include <string.h>

#include "tui/cli.h"
#include "tui/explore_int.h"

/* What the top screen shows may be of another prior: then its own session is at work. */
static em_session *shown_session(em_explorer *x)
{
  em_screen *s = em_explorer_top(x);
  return s->cursor ? s->cursor->session : x->session;
}

/* ---- drawing ---- */

static void draw_title(em_explorer *x)
{
  em_screen *s = em_explorer_top(x);
  em_str left = {0}, right = {0};
  em_session_status status;
  em_session_status_of(shown_session(x), &status);
  em_str_put(&left, " emmy  ");
  size_t given = 0;
  while (given + 1 < EM_MAX_PARAMS && !s->args[given]) given++;
  if (!s->cursor)
    em_str_printf(&left, "%s", s->args[given] ? s->args[given] : em_session_source(x->session));
  else if (s->view->crumb)
    s->view->crumb(s->cursor, &left);
  em_str_printf(&left, "  %s", s->view->title);
  if (s->cursor && *s->order.filter)
    em_str_printf(&left, " %zu/%zu &%s", s->shown.n, s->shown.of, s->order.filter);
  else if (s->cursor)
    em_str_printf(&left, " %zu", s->shown.n);
  if (status.busy)
    em_str_printf(&right, "ranking %zu/%zu ", status.done, status.total);
  else
    em_str_printf(&right, "prior %s ", em_session_prior_path(shown_session(x)));
  int width = right.s ? em_text_width(right.s) : 0, total = left.s ? em_text_width(left.s) : 0;
  int attributes = em_term_attributes(EM_MARK_NONE, true);
  em_term_put(0, 0, COLS, left.s ? left.s : "", attributes);
  if (total + width + 2 <= COLS) em_term_put(0, COLS - width, width, right.s, attributes);
  em_str_free(&left);
  em_str_free(&right);
}

/* The bytes of the first line of a text of more: up to the last blank that fits, else what fits. */
static size_t line_of(const char *text, int cells)
{
  int used;
  size_t fits = em_text_cut(text, cells, &used), n = fits;
  if (!text[fits] || fits == 0) return strlen(text);
  while (n && text[n] != ' ') n--;
  return n ? n : fits;
}

/* A message in as many lines as it needs, at most half of the screen; from the line `y` on, or only counted (-1). */
static int put_message(em_explorer *x, int y)
{
  em_str text = {0}, line = {0};
  int n = 0;
  em_str_put_safe(&text, x->message);
  for (const char *at = text.s ? text.s : ""; *at && n < (LINES < 2 ? 1 : LINES / 2); n++) {
    size_t len = line_of(at, COLS - 1);
    em_str_clear(&line);
    em_str_putc(&line, ' ');
    em_str_putn(&line, at, len);
    if (y >= 0) em_term_put(y + n, 0, COLS, line.s ? line.s : "", em_term_attributes(EM_MARK_NONE, false));
    at += len;
    at += strspn(at, " ");
  }
  em_str_free(&line);
  em_str_free(&text);
  return n;
}

/* The last line of the screen, or the message that takes more of them. */
static void draw_status(em_explorer *x, int lines)
{
  static const char hints[] = "/ search  & filter  s sort  w why  ? help";
  em_screen *s = em_explorer_top(x);
  em_str text = {0};
  size_t row = em_screen_row(s);
  em_str_putc(&text, ' ');
  if (*x->message)
    em_str_put_safe(&text, x->message);
  else if (s->cursor && row != SIZE_MAX && s->view->sentence)
    s->view->sentence(s->cursor, row, &text);
  int used = text.s ? em_text_width(text.s) : 0, width = (int)sizeof hints - 1;
  if (*x->message)
    put_message(x, LINES - lines);
  else
    em_term_put(LINES - 1, 0, COLS, text.s ? text.s : "", em_term_attributes(EM_MARK_NONE, false));
  if (lines == 1 && used + 2 + width <= COLS)
    em_term_put(LINES - 1, COLS - width, width, hints, em_term_attributes(EM_MARK_DIM, false));
  em_str_free(&text);
}

/* What is being waited for. */
static void put_waiting(em_explorer *x, em_str *out)
{
  em_session_status status;
  if (x->task.job) {
    em_str_printf(out, " %s %s; Esc gives up", em_task_word(x), x->task.screen->view->title);
    return;
  }
  em_session_status_of(x->session, &status);
  em_str_put(out, " enumerating and scoring ");
  em_str_put_safe(out, status.current);
}

static void draw_waiting(em_explorer *x, int y)
{
  em_str text = {0};
  put_waiting(x, &text);
  em_term_put(y, 0, COLS, text.s ? text.s : "", em_term_attributes(EM_MARK_NONE, false));
  em_str_free(&text);
}

/* The help page: the key table, then the view's columns; narrow ones have names and texts on lines of their own. */
static void put_help(const em_view *v, em_str *out)
{
  em_str name = {0}, text = {0};
  int keys = COLS < 76 ? 8 : 46, columns = COLS < 60 ? 8 : 27;
  em_str_printf(&text, "%s: %s", v->title, v->doc);
  em_put_wrapped(out, text.s ? text.s : "", 0, COLS);
  em_str_putc(out, '\n');
  for (size_t i = 0; i < EM_N_ACTIONS; i++) {
    const em_action_info *a = em_action_at(i);
    em_str_clear(&name);
    em_str_printf(&name, "%-24s :%s%s%s", a->keys, a->command, *a->argument ? " " : "", a->argument);
    em_put_item(out, name.s ? name.s : "", a->help, keys, COLS);
  }
  em_str_clear(&text);
  em_str_put(&text, "the views:");
  for (size_t i = 0; em_views[i]; i++) {
    em_str_put(&text, i ? ", " : " ");
    if (i < 9) em_str_printf(&text, "%zu ", i + 1);
    em_str_put(&text, em_views[i]->name);
  }
  em_put_item(out, "1-9, :open VIEW", text.s ? text.s : "", keys, COLS);
  em_str_put(out, "\ncolumns\n");
  for (size_t i = 0; i < v->n_columns; i++) {
    const em_view_column *c = &v->columns[i];
    em_str_clear(&text);
    em_str_printf(&text, "%s%s%s%s", c->doc, *c->unit ? " [" : "", c->unit, *c->unit ? "]" : "");
    em_put_item(out, c->title, text.s ? text.s : "", columns, COLS);
  }
  em_str_free(&name);
  em_str_free(&text);
}

static size_t count_lines(const char *text)
{
  size_t n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

static void draw_help(em_explorer *x)
{
  em_str text = {0}, foot = {0};
  int y = 0;
  put_help(em_explorer_top(x)->view, &text);
  size_t n = count_lines(text.s ? text.s : ""), page = LINES > 1 ? (size_t)LINES - 1 : 0;
  if (x->help_top + page > n) x->help_top = n > page ? n - page : 0;
  size_t skip = x->help_top;
  for (char *line = text.s; line && *line && y < LINES - 1;) {
    char *end = strchr(line, '\n');
    if (end) *end = '\0';
    if (skip)
      skip--;
    else
      em_term_put(y++, 0, COLS, line, em_term_attributes(EM_MARK_NONE, false));
    line = end ? end + 1 : NULL;
  }
  em_str_printf(&foot, " lines %zu-%zu of %zu   j k scroll   any other key closes", x->help_top + 1,
                x->help_top + (size_t)y, n);
  em_term_put(LINES - 1, 0, COLS, foot.s ? foot.s : "", em_term_attributes(EM_MARK_NONE, true));
  em_str_free(&text);
  em_str_free(&foot);
}

static void draw_screen(em_explorer *x)
{
  em_screen *s = em_explorer_top(x);
  erase();
  int status = *x->message ? put_message(x, -1) : 1;
  /* Of one line only the status is left, of two the title too. */
  if (LINES > 1) draw_title(x);
  if (!s->cursor)
    draw_waiting(x, LINES / 2);
  else if (LINES > 2)
    em_screen_draw(s, 1, LINES - status);
  draw_status(x, status);
  x->table_drawn = s->cursor != NULL;
}

/* The work has the cursor to itself: the table stays as it was drawn, or is away till the work is over. */
static void draw_work(em_explorer *x)
{
  if (!x->table_drawn) erase();
  draw_waiting(x, LINES - 1);
}

void em_explorer_draw(em_explorer *x)
{
  if (x->help) {
    erase();
    draw_help(x);
    x->table_drawn = false;
  } else if (x->task.job && em_explorer_top(x)->cursor) {
    draw_work(x);
  } else {
    draw_screen(x);
  }
  if (!x->help && x->prompt.open) em_prompt_draw(&x->prompt, LINES - 1);
  refresh();
}

/* ---- keeping up with the session ---- */

/* Shows what was worked on; opens the top screen once its pool is ranked; orders a live one anew. */
static void keep_up(em_explorer *x)
{
  em_session_status status;
  em_err err;
  if (x->task.job && !em_job_wait(x->task.job, 0)) return;
  if (x->task.job) em_task_finish(x);
  if (x->quit) return;
  em_screen *s = em_explorer_top(x);
  em_session_status_of(shown_session(x), &status);
  if (!s->cursor) {
    size_t pool = em_explorer_pool(x, s);
    if (pool != SIZE_MAX && !em_session_ready(x->session, pool)) return;
    if (em_task_start(x, EM_TASK_OPEN, &err) != EM_OK) em_explorer_say(x, "%s", err.msg);
  } else if (s->view->live && s->generation != status.generation) {
    int rc = EM_OK;
    s->generation = status.generation;
    if (!s->view->waits_for)
      rc = em_screen_reopen(s, &err);
    else if (s->order.sort >= 0 || *s->order.filter)
      rc = em_screen_arrange(s, &err);
    if (rc != EM_OK) em_explorer_say(x, "%s", err.msg);
  }
}

/* ---- keys ---- */

static void on_help_key(em_explorer *x, int key)
{
  em_action action = em_action_of_key(key);
  if (action == EM_ACT_DOWN)
    x->help_top++;
  else if (action == EM_ACT_UP)
    x->help_top -= x->help_top > 0;
  else if (action == EM_ACT_PAGE_DOWN)
    x->help_top += LINES > 2 ? (size_t)LINES - 2 : 1;
  else if (action == EM_ACT_PAGE_UP)
    x->help_top -= x->help_top > (size_t)LINES ? (size_t)LINES - 2 : x->help_top;
  else
    x->help = false;
}

static void on_key(em_explorer *x, int key)
{
  bool given_up;
  if (key == EM_KEY_RESIZED || key == EM_KEY_NONE) return;
  if (key == EM_KEY_HANGUP) {
    x->quit = true;
    return;
  }
  x->message[0] = '\0';
  if (x->prompt.open && key == '\t') {
    em_prompt_complete(x);
    return;
  }
  if (x->prompt.open) {
    if (em_prompt_key(&x->prompt, key, &given_up) && !given_up) em_explorer_act(x, x->prompt.action, x->prompt.text);
    return;
  }
  if (key == EM_KEY_INTERRUPT && x->task.job) {
    em_task_give_up(x);
    return;
  }
  if (key == EM_KEY_INTERRUPT && !x->help) {
    em_explorer_say(x, "Q leaves the program");
    return;
  }
  /* Too small to show what a key would do: only leaving works. */
  em_action action = em_action_of_key(key);
  if (LINES < 3 && action != EM_ACT_QUIT && action != EM_ACT_COMMAND) return;
  if (x->help) {
    on_help_key(x, key);
  } else if (action != EM_N_ACTIONS) {
    em_explorer_act(x, action, NULL);
  } else if (key >= '1' && key <= '9') {
    size_t n = 0;
    while (em_views[n]) n++;
    if ((size_t)(key - '1') < n) em_explorer_act(x, EM_ACT_OPEN, em_views[key - '1']->name);
  } else {
    em_explorer_say(x, "that key does nothing here; ? lists the keys");
  }
}

enum { WORK_MS = 20, RANKING_MS = 100 }; /* how often to look whether there is more to show */

static int patience(em_explorer *x, bool ranking)
{
  if (x->task.job) return WORK_MS;
  return ranking || !em_explorer_top(x)->cursor ? RANKING_MS : -1;
}

/* Waits for a key; meanwhile redraws only when something changed. */
static void from_keyboard(em_explorer *x)
{
  em_session_status before, now;
  em_session_status_of(shown_session(x), &before);
  for (;;) {
    int key = em_term_key(patience(x, before.busy));
    em_session_status_of(shown_session(x), &now);
    if (key != EM_KEY_NONE) on_key(x, key);
    if (key != EM_KEY_NONE || now.generation != before.generation || now.busy != before.busy) return;
    if (x->task.job ? em_job_wait(x->task.job, 0) : !em_explorer_top(x)->cursor) return;
    before = now;
  }
}

/* Is there more to come, or something that is not shown yet? */
static bool is_behind(em_explorer *x)
{
  em_screen *s = em_explorer_top(x);
  em_session_status status;
  em_session_status_of(shown_session(x), &status);
  return x->task.job || !s->cursor || status.busy || (s->view->live && s->generation != status.generation);
}

/* Until nothing is being worked on, so that a dump is the same every time. */
static void settle(em_explorer *x)
{
  do {
    em_session_wait(shown_session(x));
    if (x->task.job) em_job_wait(x->task.job, -1);
    keep_up(x);
  } while (!x->quit && is_behind(x));
}

static void from_script(em_explorer *x)
{
  int key;
  const char *command;
  bool at_once;
  if (!em_script_next(x->script, &key, &command, &at_once)) {
    if (x->task.job && x->task.kind == EM_TASK_WRITE) settle(x); /* what was asked for is not given up */
    x->quit = true;
    return;
  }
  if (!at_once) settle(x);
  if (x->quit) return;
  em_explorer_draw(x); /* paging depends on what was drawn */
  if (command)
    em_explorer_command(x, command);
  else
    on_key(x, key);
}

static int run(em_explorer *x, const em_explore_options *o, em_err *err)
{
  char *args[EM_MAX_PARAMS] = {0};
  const em_view *view = em_view_find(o->view ? o->view : "pools");
  if (!view) return em_fail(err, EM_E_USAGE, "no view is called \"%s\"", o->view);
  int rc = em_explorer_push(x, view, args, err);
  if (rc != EM_OK) return rc;
  em_explorer_draw(x); /* the first frame comes before any ranking */
  rc = em_session_start(x->session, err);
  while (rc == EM_OK && !x->quit) {
    keep_up(x);
    if (x->quit) break;
    em_explorer_draw(x);
    if (x->script)
      from_script(x);
    else
      from_keyboard(x);
  }
  if (rc != EM_OK || x->failed.code == EM_OK) return rc;
  *err = x->failed;
  return err->code;
}

int em_explore(em_session *s, const em_explore_options *o, em_err *err)
{
  em_explorer *x = em_calloc(1, sizeof *x);
  if (!x) return em_fail_nomem(err);
  x->session = s;
  int rc = o->script ? em_script_open(o->script, &x->script, err) : EM_OK;
  if (rc == EM_OK) rc = em_term_enter(&o->term, err);
  if (rc == EM_OK) rc = run(x, o, err);
  em_term_leave();
  if (x->task.job) em_task_give_up(x);
  while (x->depth) em_screen_free(x->stack[--x->depth]);
  em_script_close(x->script);
  em_free(x);
  return rc;
}
