/* actions.c - what each action of the key table does. */
#include <curses.h>
#include <string.h>

#include "tui/cli.h"
#include "tui/explore_int.h"

void em_explorer_say(em_explorer *x, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(x->message, sizeof x->message, fmt, ap);
  va_end(ap);
}

em_screen *em_explorer_top(em_explorer *x) { return x->stack[x->depth - 1]; }

static void report(em_explorer *x, int rc, const em_err *err)
{
  if (rc != EM_OK) em_explorer_say(x, "%s", err->msg);
}

/* ---- the stack ---- */

size_t em_explorer_pool(em_explorer *x, const em_screen *s)
{
  const char *name = NULL;
  size_t pool;
  em_err err;
  for (size_t i = 0; i < s->view->n_params; i++) {
    if (!s->args[i]) continue;
    if (strcmp(s->view->params[i].name, "prior") == 0) return SIZE_MAX;
    if (strcmp(s->view->params[i].name, "pool") == 0) name = s->args[i];
  }
  return name && em_session_find(x->session, name, &pool, &err) == EM_OK ? pool : SIZE_MAX;
}

void em_explorer_drop(em_explorer *x, size_t from, size_t to)
{
  for (size_t i = from; i < to; i++) em_screen_free(x->stack[i]);
  memmove(x->stack + from, x->stack + to, (x->depth - to) * sizeof *x->stack);
  x->depth -= to - from;
}

static int push(em_explorer *x, const em_view *view, char *args[EM_MAX_PARAMS], bool by_name, em_err *err)
{
  if (x->depth == EM_MAX_SCREENS) return em_fail(err, EM_E_USAGE, "%d screens are open; go back first", EM_MAX_SCREENS);
  em_screen *s = em_screen_new(view, args, err);
  if (!s) return err->code;
  s->by_name = by_name;
  size_t pool = em_explorer_pool(x, s);
  x->stack[x->depth++] = s;
  if (pool == SIZE_MAX || em_session_ready(x->session, pool)) return em_task_start(x, EM_TASK_OPEN, err);
  em_session_want(x->session, pool);
  return EM_OK;
}

int em_explorer_push(em_explorer *x, const em_view *view, char *args[EM_MAX_PARAMS], em_err *err)
{
  return push(x, view, args, false, err);
}

static void push_target(em_explorer *x, em_target *t)
{
  em_err err;
  const em_view *view = em_view_find(t->view);
  int rc = view ? em_explorer_push(x, view, t->args, &err) : em_fail(&err, EM_E_USAGE, "no view is called %s", t->view);
  report(x, rc, &err);
  em_target_free(t);
}

/* One Esc too many, or one that a pasted text holds, does not end the program. */
static void go_back(em_explorer *x, bool leaves)
{
  if (x->depth > 1)
    em_screen_free(x->stack[--x->depth]);
  else if (leaves)
    x->quit = true;
  else
    em_explorer_say(x, "this is the first screen; q leaves the program");
}

/* The next word of a command's argument, owned.  NULL at the end, or for "-". */
static int next_word(const char **text, char **out, em_err *err)
{
  em_word w = em_word_at(*text);
  *text = w.end;
  *out = NULL;
  if (!w.quoted && (w.len == 0 || (w.len == 1 && *w.text == '-'))) return EM_OK;
  *out = em_strndup(w.text, w.len);
  return *out ? EM_OK : em_fail_nomem(err);
}

/* The place of an argument among those of a view; its end when the view has none of that name. */
static size_t place_of(const em_view *v, const char *name)
{
  size_t i = 0;
  while (i < v->n_params && strcmp(v->params[i].name, name) != 0) i++;
  return i;
}

/* Copies an argument by its name, where it was left out and is at hand. */
static int take_argument(const em_view *to, char *args[EM_MAX_PARAMS], const em_view *from, char *const *given,
                         const char *name, em_err *err)
{
  size_t i = place_of(to, name), k = place_of(from, name);
  if (i == to->n_params || args[i] || k == from->n_params || !given[k]) return EM_OK;
  args[i] = em_strdup(given[k]);
  return args[i] ? EM_OK : em_fail_nomem(err);
}

/* Where the row under the cursor leads, as a pool and what is to be compared in it. */
static bool pool_of_row(em_screen *s, em_target *out)
{
  size_t row = em_screen_row(s);
  return row != SIZE_MAX &&
         (em_cursor_way(s->cursor, EM_WAY_WHY, row, out) || em_cursor_way(s->cursor, EM_WAY_ENTER, row, out));
}

/* A view of one pool, left without it, takes the pool one is in or at, what is compared in it, and the prior. */
static int take_pool_here(em_explorer *x, const em_view *view, char *args[EM_MAX_PARAMS], em_err *err)
{
  static const char *const names[] = {"pool", "a", "b", "prior"};
  em_screen *s = em_explorer_top(x);
  const em_view *from = s->view;
  char *const *given = s->args;
  em_target deeper = {0};
  size_t i = place_of(view, "pool"), k = place_of(from, "pool");
  int rc = EM_OK;
  if (i == view->n_params || args[i] || !view->params[i].required) return EM_OK;
  if ((k == from->n_params || !given[k]) && pool_of_row(s, &deeper)) {
    from = em_view_find(deeper.view);
    given = deeper.args;
    k = place_of(from, "pool");
  }
  for (size_t n = 0; rc == EM_OK && k < from->n_params && given[k] && n < sizeof names / sizeof *names; n++)
    rc = take_argument(view, args, from, given, names[n], err);
  em_target_free(&deeper);
  return rc;
}

/* "candidates mm.64": the view, and its arguments in the order of its parameters. */
static int parse_open(em_explorer *x, const char *text, const em_view **view, char *args[EM_MAX_PARAMS], em_err *err)
{
  char *name;
  int rc = next_word(&text, &name, err);
  if (rc != EM_OK) return rc;
  rc = em_args_view(name ? name : "", view, err);
  em_free(name);
  for (size_t i = 0; rc == EM_OK && i < (*view)->n_params; i++) rc = next_word(&text, &args[i], err);
  if (rc == EM_OK && text[strspn(text, " ")])
    return em_fail(err, EM_E_USAGE, "%s takes %zu arguments", (*view)->name, (*view)->n_params);
  if (rc == EM_OK) rc = take_pool_here(x, *view, args, err);
  for (size_t i = 0; rc == EM_OK && i < (*view)->n_params; i++)
    if (!args[i] && (*view)->params[i].required)
      rc = em_fail(err, EM_E_USAGE, "%s: %sname its %s: %s", (*view)->name,
                   i == place_of(*view, "pool") ? "open it from a pool, or " : "", (*view)->params[i].name,
                   (*view)->params[i].doc);
  return rc;
}

static bool is_plain(char *const args[EM_MAX_PARAMS])
{
  size_t i = 0;
  while (i < EM_MAX_PARAMS && !args[i]) i++;
  return i == EM_MAX_PARAMS;
}

/* A named view starts a new stack above the first one, once it is open. */
static void open_named(em_explorer *x, const char *text)
{
  em_err err;
  const em_view *view;
  char *args[EM_MAX_PARAMS] = {0};
  int rc = parse_open(x, text, &view, args, &err);
  if (rc == EM_OK && is_plain(args) && x->stack[0]->view == view)
    em_explorer_drop(x, 1, x->depth);
  else if (rc == EM_OK)
    rc = push(x, view, args, true, &err);
  report(x, rc, &err);
  for (size_t i = 0; i < EM_MAX_PARAMS; i++) em_free(args[i]);
}

static void enter(em_explorer *x, em_screen *s)
{
  em_target target;
  size_t row = em_screen_row(s);
  if (row == SIZE_MAX || !em_cursor_way(s->cursor, EM_WAY_ENTER, row, &target))
    em_explorer_say(x, "nothing deeper here");
  else
    push_target(x, &target);
}

static void why(em_explorer *x, em_screen *s)
{
  em_target target;
  size_t row = em_screen_row(s);
  if (row == SIZE_MAX || !em_cursor_way(s->cursor, EM_WAY_WHY, row, &target))
    em_explorer_say(x, "go to a pool first");
  else
    push_target(x, &target);
}

static void swap(em_explorer *x, em_screen *s)
{
  em_target target;
  if (!em_cursor_way(s->cursor, EM_WAY_SWAP, 0, &target)) {
    em_explorer_say(x, "nothing to swap here");
    return;
  }
  em_screen_free(x->stack[--x->depth]);
  push_target(x, &target);
}

/* In the place of what it is another look at: back leads to where both were opened from. */
static void turn(em_explorer *x, em_screen *s)
{
  em_target target;
  if (!em_cursor_way(s->cursor, EM_WAY_TURN, 0, &target)) {
    em_explorer_say(x, "there is no other look at this");
    return;
  }
  em_screen_free(x->stack[--x->depth]);
  push_target(x, &target);
}

/* ---- finding, ordering ---- */

static void start(em_explorer *x, em_task_kind kind)
{
  em_err err;
  report(x, em_task_start(x, kind, &err), &err);
}

static void search(em_explorer *x, em_screen *s, size_t from, int step)
{
  if (!*s->search) {
    em_explorer_say(x, "no search text; / asks for one");
    return;
  }
  x->task.from = from;
  x->task.step = step;
  start(x, EM_TASK_SEARCH);
}

static void next_hit(em_explorer *x, em_screen *s, int step)
{
  if (s->shown.n == 0) return;
  size_t from = step > 0 ? (s->at + 1) % s->shown.n : (s->at + s->shown.n - 1) % s->shown.n;
  search(x, s, from, step);
}

static void next_golden(em_explorer *x, em_screen *s)
{
  for (size_t k = 1; s->view->mark && k <= s->shown.n; k++) {
    size_t at = (s->at + k) % s->shown.n;
    if (s->view->mark(s->cursor, s->shown.rows[at]) != EM_MARK_GOLDEN) continue;
    em_screen_goto(s, at);
    return;
  }
  em_explorer_say(x, "no golden row here");
}

/* From the row at `at` on, where that is still shown; then says `said`. */
static void arrange(em_explorer *x, em_screen *s, const em_order *order, size_t at, const char *said)
{
  x->task.before = s->order;
  x->task.at = s->at;
  snprintf(x->task.said, sizeof x->task.said, "%s", said);
  s->order = *order;
  s->at = at;
  start(x, EM_TASK_ORDER);
}

/* A text as it is, or not at all: of its beginning other rows would be shown than were asked for. */
static bool take_text(em_explorer *x, char to[EM_SCREEN_TEXT], const char *text)
{
  if (strlen(text) >= EM_SCREEN_TEXT) {
    em_explorer_say(x, "a text to look for may have %d bytes here", EM_SCREEN_TEXT - 1);
    return false;
  }
  memcpy(to, text, strlen(text) + 1);
  return true;
}

static void set_filter(em_explorer *x, em_screen *s, const char *text)
{
  em_order order = s->order;
  char said[EM_SCREEN_TEXT] = "", name[EM_SCREEN_TEXT];
  if (!take_text(x, order.filter, text)) return;
  const char *word = text + (*text == '!');
  size_t n = strcspn(word, ":");
  snprintf(name, sizeof name, "%.*s", (int)n, word);
  if (word[n] && em_view_find_column(s->view, name) < 0)
    snprintf(said, sizeof said, "no column is called \"%.40s\": all were looked through for the whole text", name);
  arrange(x, s, &order, 0, said);
}

/* Next sortable column to the right, then the view's own order. */
static void sort(em_explorer *x, em_screen *s, const char *column)
{
  em_err err;
  em_order order = s->order;
  int next = order.sort + 1;
  char said[EM_SCREEN_TEXT] = "in the view's own order";
  order.descending = false;
  if (column && *column) {
    int rc = em_order_column(s->view, column, &next, &order.descending, &err);
    report(x, rc, &err);
    if (rc != EM_OK) return;
  } else {
    while (next < (int)s->view->n_columns && s->view->columns[next].width == 0) next++;
    if (next >= (int)s->view->n_columns) next = -1;
  }
  order.sort = next;
  if (next >= 0)
    snprintf(said, sizeof said, "sorted by %s%s", s->view->columns[next].title, order.descending ? ", descending" : "");
  arrange(x, s, &order, s->at, said);
}

static void reverse(em_explorer *x, em_screen *s)
{
  em_order order = s->order;
  if (order.sort < 0) order.sort = 0;
  order.descending = !order.descending;
  arrange(x, s, &order, s->at, "");
}

static void go_to(em_explorer *x, em_screen *s, const char *text)
{
  int64_t n;
  if (text && em_parse_i64(text, 1, INT64_MAX, &n))
    em_screen_goto(s, (size_t)n - 1);
  else
    em_explorer_say(x, "goto needs a row number from 1");
}

/* ---- files ---- */

static void write_rows(em_explorer *x, const char *path)
{
  x->task.ascii = em_term_ascii();
  if (snprintf(x->task.path, sizeof x->task.path, "%s", path) < (int)sizeof x->task.path)
    start(x, EM_TASK_WRITE);
  else
    em_explorer_say(x, "a file's name may have %d characters here", EM_PROMPT_LEN - 1);
}

void em_explorer_not_written(em_explorer *x, const em_err *err)
{
  em_explorer_say(x, "%s", err->msg);
  if (!x->script) return;
  x->failed = *err;
  x->quit = true;
}

static void dump_screen(em_explorer *x, const char *path)
{
  em_err err;
  em_out *out;
  em_str text = {0};
  em_explorer_draw(x);
  em_term_dump(&text);
  int rc = em_str_finish(&text, &err);
  if (rc == EM_OK && (rc = em_out_open(path, &out, &err)) == EM_OK) {
    em_out_write(out, text.s, text.len);
    rc = em_out_commit(out, &err);
    if (rc != EM_OK) em_out_abort(out);
  }
  em_str_free(&text);
  if (rc != EM_OK) em_explorer_not_written(x, &err);
}

static void resize(em_explorer *x, const char *size)
{
  int lines, columns;
  char end;
  if (!x->script || sscanf(size, "%dx%d%c", &lines, &columns, &end) != 2 || lines < 1 || columns < 1 || lines > 500 ||
      columns > 1000)
    em_explorer_say(x, "resize takes LINESxCOLUMNS, as 24x80, in a script");
  else
    em_term_resize(lines, columns);
}

/* ---- dispatch ---- */

/* Actions that need a text ask for it when none was given. */
static bool asks_for_text(em_explorer *x, em_screen *s, em_action action, const char *argument)
{
  if (argument) return false;
  switch (action) {
  case EM_ACT_SEARCH: em_prompt_start(&x->prompt, action, ""); return true;
  case EM_ACT_FILTER: em_prompt_start(&x->prompt, action, s->order.filter); return true;
  default: return false;
  }
}

/* Actions on the program, possible on any screen. */
static bool act_on_program(em_explorer *x, em_action action, const char *argument)
{
  switch (action) {
  case EM_ACT_BACK:
  case EM_ACT_CLOSE: go_back(x, action == EM_ACT_CLOSE); return true;
  case EM_ACT_QUIT: x->quit = true; return true;
  case EM_ACT_REDRAW: clearok(curscr, TRUE); return true;
  case EM_ACT_HELP:
    x->help = true;
    x->help_top = 0;
    return true;
  case EM_ACT_COMMAND:
    if (argument)
      em_explorer_command(x, argument);
    else
      em_prompt_start(&x->prompt, action, "");
    return true;
  case EM_ACT_OPEN: open_named(x, argument ? argument : ""); return true;
  case EM_ACT_DUMP: dump_screen(x, argument ? argument : ""); return true;
  case EM_ACT_RESIZE: resize(x, argument ? argument : ""); return true;
  default: return false;
  }
}

void em_explorer_act(em_explorer *x, em_action action, const char *argument)
{
  if (x->task.job && (action == EM_ACT_BACK || action == EM_ACT_CLOSE || action == EM_ACT_OPEN)) {
    em_task_give_up(x);
    if (action != EM_ACT_OPEN) return;
  }
  em_screen *s = em_explorer_top(x);
  if (act_on_program(x, action, argument)) return;
  if (x->task.job) return; /* the screen says so */
  if (!s->cursor) {
    em_explorer_say(x, "the pool is being ranked");
    return;
  }
  if (asks_for_text(x, s, action, argument)) return;
  size_t page = s->body > 1 ? s->body - 1 : 1;
  switch (action) {
  case EM_ACT_DOWN: em_screen_move(s, 1); break;
  case EM_ACT_UP: em_screen_move(s, -1); break;
  case EM_ACT_PAGE_DOWN: em_screen_move(s, (int64_t)page); break;
  case EM_ACT_PAGE_UP: em_screen_move(s, -(int64_t)page); break;
  case EM_ACT_FIRST: em_screen_goto(s, 0); break;
  case EM_ACT_LAST: em_screen_goto(s, SIZE_MAX); break;
  case EM_ACT_LEFT: em_screen_scroll_columns(s, -1); break;
  case EM_ACT_RIGHT: em_screen_scroll_columns(s, 1); break;
  case EM_ACT_ENTER: enter(x, s); break;
  case EM_ACT_WHY: why(x, s); break;
  case EM_ACT_GOLDEN: next_golden(x, s); break;
  case EM_ACT_SWAP: swap(x, s); break;
  case EM_ACT_TURN: turn(x, s); break;
  case EM_ACT_SEARCH:
    if (take_text(x, s->search, argument)) search(x, s, s->at, 1);
    break;
  case EM_ACT_NEXT: next_hit(x, s, 1); break;
  case EM_ACT_PREVIOUS: next_hit(x, s, -1); break;
  case EM_ACT_FILTER: set_filter(x, s, argument); break;
  case EM_ACT_SORT: sort(x, s, argument); break;
  case EM_ACT_REVERSE: reverse(x, s); break;
  case EM_ACT_GOTO: go_to(x, s, argument); break;
  case EM_ACT_COPY: em_explorer_copy(x, s, argument); break;
  case EM_ACT_WRITE:
    if (argument && *argument)
      write_rows(x, argument);
    else
      em_explorer_say(x, "write needs a file name");
    break;
  default: break;
  }
}

void em_explorer_command(em_explorer *x, const char *text)
{
  size_t n = strcspn(text, " ");
  const char *argument = text + n + strspn(text + n, " ");
  em_action action = em_action_of_command(text, n);
  if (action != EM_ACT_DUMP) x->message[0] = '\0'; /* a dump shows what was said last */
  if (n == 0) return;
  if (action == EM_N_ACTIONS)
    em_explorer_say(x, "no command is called \"%.*s\"; ? lists them", (int)n, text);
  else if (action != EM_ACT_COMMAND)
    em_explorer_act(x, action, *argument || action == EM_ACT_FILTER ? argument : NULL);
}
