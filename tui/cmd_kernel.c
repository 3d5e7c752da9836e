/* cmd_kernel.c - emmy kernel list, show: the kernels of golden files, stores and datasets. */
#include <string.h>

#include "tui/cli.h"

/* ---- list ---- */

/* The view's cursor over all sources; closed by the caller unless it fails. */
static int open_definitions(char **sources, size_t n, em_cursor **out, em_err *err)
{
  const char *args[EM_MAX_PARAMS] = {sources[0]};
  em_cursor *c;
  int rc = em_view_open("definitions", NULL, args, &c, err);
  if (rc != EM_OK) return rc;
  for (size_t i = 1; i < n && rc == EM_OK; i++) rc = em_definitions_add(c, sources[i], err);
  if (rc == EM_OK)
    *out = c;
  else
    em_cursor_close(c);
  return rc;
}

int em_cmd_kernel_list(const em_args *a, em_err *err)
{
  em_cursor *c;
  int rc = open_definitions(a->words, a->n_words, &c, err);
  if (rc != EM_OK) return rc;
  rc = em_cursor_print(a, c, err);
  em_cursor_close(c);
  return rc;
}

/* ---- show ---- */

static void put_axis(em_str *out, const char *role, const em_axis *axis)
{
  em_str_printf(out, "  %-10s %s ", role, axis->name);
  if (axis->sym)
    em_str_printf(out, "%s (hint %lld)\n", axis->sym, (long long)axis->hint);
  else
    em_str_printf(out, "%lld\n", (long long)axis->extent);
}

static void put_nest(em_str *out, const em_nest *n)
{
  em_str_put(out, "\nnest\n");
  for (int i = 0; i < n->n_free; i++)
    put_axis(out, i == n->m_axis ? "free m" : i == n->n_axis ? "free n" : "free", &n->free[i]);
  if (n->has_fold) {
    put_axis(out, "fold", &n->fold);
    em_str_printf(out, "  %-10s %s\n", "operation", n->fold_op);
  }
  if (n->out_of_scope) em_str_printf(out, "  %-10s %s\n", "no space", n->out_of_scope);
}

static void put_stamps(em_str *out, const em_kernel *k)
{
  size_t n;
  char text[EM_DOUBLE_LEN];
  const em_stamp *s = em_kernel_stamps(k, &n);
  em_str_put(out, "\nstamps\n");
  for (size_t i = 0; i < n; i++) em_str_printf(out, "  %-32s %s\n", s[i].name, em_double_repr(s[i].value, text));
}

static const char *text_of(em_cursor *c, size_t row, const char *column, em_cell *cell)
{
  c->view->cell(c, row, (size_t)em_view_find_column(c->view, column), cell);
  return cell->s;
}

static void put_kernel(em_str *out, em_cursor *c, size_t row)
{
  const em_kernel *k = em_definition(c, row);
  em_cell cell;
  em_str_put(out, "kernel    ");
  em_str_put_safe(out, text_of(c, row, "kernel", &cell));
  em_str_printf(out, "\nidentity  %s\n", text_of(c, row, "identity", &cell));
  em_str_printf(out, "kind      %s\nshape     %s\n\n", em_kind_name(em_kernel_kind(k)),
                text_of(c, row, "shape", &cell));
  em_kernel_print_pretty(k, out);
  put_nest(out, em_kernel_nest(k));
  put_stamps(out, k);
}

/* By name, or by the first digits of the identity. */
static bool is_named(em_cursor *c, size_t row, const char *name)
{
  em_cell cell;
  if (strcmp(text_of(c, row, "kernel", &cell), name) == 0) return true;
  return strlen(name) >= 6 && strncmp(text_of(c, row, "identity", &cell), name, strlen(name)) == 0;
}

static int unknown_kernel(em_cursor *c, const char *source, const char *name, em_err *err)
{
  size_t n = c->view->rows(c);
  const char **names = em_calloc(n + 1, sizeof *names);
  em_str near = {0};
  em_cell cell;
  if (!names) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) names[i] = text_of(c, i, "kernel", &cell);
  em_put_near(&near, name, names);
  em_fail(err, EM_E_INPUT, "%s: no kernel is called \"%s\"%s (emmy kernel list shows them)", source, name,
          near.s ? near.s : "");
  em_str_free(&near);
  em_free(names);
  return err->code;
}

int em_cmd_kernel_show(const em_args *a, em_err *err)
{
  em_cursor *c;
  em_str text = {0};
  size_t row = 0;
  int rc = open_definitions(a->words, 1, &c, err);
  if (rc != EM_OK) return rc;
  while (row < c->view->rows(c) && !is_named(c, row, a->words[1])) row++;
  if (row == c->view->rows(c)) {
    rc = unknown_kernel(c, a->words[0], a->words[1], err);
  } else if (a->opt[EM_OPT_JSON].set) {
    em_kernel_print(em_definition(c, row), &text);
    em_str_putc(&text, '\n');
  } else {
    put_kernel(&text, c, row);
  }
  em_cursor_close(c);
  return rc == EM_OK ? em_put_text(&text, err) : rc;
}
