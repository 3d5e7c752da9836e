/* table.c - tables on standard output: views, and tables that are no view. */
#include "tui/cli.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- a table dressed as a cursor, so that all tables are rendered by one piece of code ---- */

typedef struct cursor {
  em_cursor base;
  em_view view;
  const em_table *table;
} cursor;

static size_t table_rows(em_cursor *c) { return ((cursor *)c)->table->n_rows; }

static void table_cell(em_cursor *c, size_t row, size_t column, em_cell *out)
{
  const em_table *t = ((cursor *)c)->table;
  t->get(t->ctx, row, column, out);
}

int em_table_print(const em_args *a, const em_table *t, em_err *err)
{
  cursor c = {.table = t};
  c.view = (em_view){
    .name = a->command->name, .columns = t->columns, .n_columns = t->n_columns, .rows = table_rows, .cell = table_cell};
  c.base.view = &c.view;
  return em_cursor_print(a, &c.base, err);
}

int em_section_print(const em_args *a, const char *title, const em_table *t, em_err *err)
{
  em_str text = {0};
  em_str_printf(&text, "\n%s\n%s", title, t->n_rows ? "" : "none\n");
  int rc = em_put_text(&text, err);
  return rc == EM_OK && t->n_rows ? em_table_print(a, t, err) : rc;
}

static int print_titled(const em_args *a, em_cursor *c, em_err *err)
{
  em_str text = {0};
  if (c->view->rows(c) == 0) return EM_OK;
  em_str_printf(&text, "\n%s\n", c->view->title);
  int rc = em_put_text(&text, err);
  if (rc == EM_OK) rc = em_cursor_print(a, c, err);
  if (rc != EM_OK || !c->view->foot) return rc;
  c->view->foot(c, &text);
  em_str_putc(&text, '\n');
  return em_put_text(&text, err);
}

int em_print_fit_view(const em_args *a, const char *name, const char *const *fits, em_err *err)
{
  em_cursor *c;
  int rc = em_view_open(name, NULL, fits, &c, err);
  if (rc != EM_OK) return rc;
  rc = print_titled(a, c, err);
  em_cursor_close(c);
  return rc;
}

/* ---- options of tables ---- */

em_format em_args_format(const em_args *a)
{
  return a->opt[EM_OPT_CSV].set        ? EM_FORMAT_CSV
         : a->opt[EM_OPT_JSON].set     ? EM_FORMAT_JSON
         : a->opt[EM_OPT_MARKDOWN].set ? EM_FORMAT_MARKDOWN
                                       : EM_FORMAT_TABLE;
}

bool em_is_text_table(const em_args *a) { return em_args_format(a) == EM_FORMAT_TABLE; }

int em_terminal_width(void)
{
  struct winsize w;
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

static int unknown_column(const em_view *v, const char *name, em_err *err)
{
  const char *names[128 + 1] = {0};
  em_str near = {0};
  for (size_t i = 0; i < v->n_columns && i < 128; i++) names[i] = v->columns[i].name;
  em_put_near(&near, name, names);
  em_fail(err, EM_E_USAGE, "%s has no column \"%s\"%s", v->name, name, near.s ? near.s : "");
  em_str_free(&near);
  return err->code;
}

int em_order_column(const em_view *v, const char *name, int *column, bool *descending, em_err *err)
{
  *descending = name[0] == '-';
  *column = em_view_find_column(v, name + *descending);
  return *column >= 0 ? EM_OK : unknown_column(v, name + *descending, err);
}

/* --sort, else the order the view wants to be shown in. */
static int choose_order(const em_args *a, const em_view *v, int *column, bool *descending, em_err *err)
{
  const char *name = a->opt[EM_OPT_SORT].text ? a->opt[EM_OPT_SORT].text : v->sort;
  *column = -1;
  *descending = false;
  return name ? em_order_column(v, name, column, descending, err) : EM_OK;
}

int em_cursor_print(const em_args *a, em_cursor *c, em_err *err)
{
  int column;
  bool descending;
  em_arrangement shown;
  em_render r = {.format = em_args_format(a),
                 .width = em_terminal_width(),
                 .ascii = em_is_ascii(a),
                 .leave_out = true,
                 .limit = (size_t)a->opt[EM_OPT_LIMIT].i};
  int rc = choose_order(a, c->view, &column, &descending, err);
  if (rc == EM_OK) rc = em_arrange(c, column, descending, a->opt[EM_OPT_FILTER].text, &shown, err);
  if (rc != EM_OK) return rc;
  rc = em_render_view(c, &shown, &r, em_put, NULL, err);
  em_arrangement_free(&shown);
  return rc;
}

/* ---- sessions ---- */

int em_args_feat_ver(const em_args *a)
{
  return a->opt[EM_OPT_FEAT_VER].set ? (int)a->opt[EM_OPT_FEAT_VER].i : EM_FEAT_VER;
}

int em_args_session(const em_args *a, size_t first, em_session **out, em_err *err)
{
  em_session_options o = {.sources = (const char *const *)a->words + first,
                          .n_sources = a->n_words - first,
                          .prior = a->opt[EM_OPT_PRIOR].text,
                          .feat_ver = em_args_feat_ver(a),
                          .kernel = a->opt[EM_OPT_KERNEL].text,
                          .card = a->opt[EM_OPT_CARD].text,
                          .threads = (int)a->opt[EM_OPT_THREADS].i};
  return em_session_open(&o, out, err);
}

static int print_foot(em_cursor *c, em_err *err)
{
  em_str foot = {0};
  c->view->foot(c, &foot);
  if (foot.len) em_str_putc(&foot, '\n');
  return em_put_text(&foot, err);
}

int em_view_print(const em_args *a, const char *name, em_session *s, const char *const *args, em_err *err)
{
  em_cursor *c;
  em_session *shown;
  const em_view *v = em_view_find(name);
  if (em_view_session(v, s, args, &shown, err) != EM_OK) return err->code;
  int rc = v->live ? em_session_rank_all(shown, em_cli_progress(), err) : EM_OK;
  em_cli_progress_end();
  em_session_let_go(shown);
  if (rc == EM_OK) rc = em_view_open(name, s, args, &c, err);
  if (rc != EM_OK) return rc;
  rc = em_cursor_print(a, c, err);
  if (rc == EM_OK && v->foot && em_is_text_table(a)) rc = print_foot(c, err);
  em_cursor_close(c);
  return rc;
}

/* ---- paths ---- */

int em_args_db(const em_args *a, char **out, em_err *err)
{
  if (!a->opt[EM_OPT_DB].text) return em_store_default_path(out, err);
  *out = em_strdup(a->opt[EM_OPT_DB].text);
  return *out ? EM_OK : em_fail_nomem(err);
}

int em_mkdirs_of(const char *path, em_err *err)
{
  const char *slash = strrchr(path, '/');
  if (!slash || slash == path) return EM_OK;
  char *folder = em_strndup(path, (size_t)(slash - path));
  if (!folder) return em_fail_nomem(err);
  int rc = em_mkdirs(folder, err);
  em_free(folder);
  return rc;
}
