/* cmd_help.c - emmy help. */
#include <string.h>

#include "tui/completion.h"

/* ---- --man DIR ---- */

/* Takes the page's text. */
static int write_page(const char *folder, const char *name, em_str *text, em_err *err)
{
  char *path = NULL;
  em_out *out;
  int rc = em_str_finish(text, err);
  if (rc == EM_OK) rc = em_path_join(&path, err, folder, name);
  if (rc == EM_OK) rc = em_out_open(path, &out, err);
  if (rc == EM_OK) {
    em_out_write(out, text->s, text->len);
    rc = em_out_commit(out, err);
    if (rc != EM_OK) em_out_abort(out);
  }
  em_free(path);
  em_str_free(text);
  return rc;
}

static int write_command_page(const char *folder, const em_command *c, em_err *err)
{
  em_str name = {0}, text = {0};
  em_manpage_name(c, &name);
  em_str_put(&name, ".1");
  em_manpage_put(&text, c);
  text.failed |= name.failed;
  int rc = write_page(folder, name.s ? name.s : "", &text, err);
  em_str_free(&name);
  return rc;
}

static int write_pages(const char *folder, em_err *err)
{
  em_str sql = {0};
  int rc = em_mkdirs(folder, err);
  if (rc == EM_OK) rc = write_command_page(folder, NULL, err);
  for (const em_command *c = em_commands; c->name && rc == EM_OK; c++) rc = write_command_page(folder, c, err);
  if (rc != EM_OK) return rc;
  em_manpage_sql_put(&sql);
  return write_page(folder, "emmy-sql.7", &sql, err);
}

/* ---- the topic ---- */

/* "db" "import" -> the command; a first word alone may be a group. */
static int put_topic(const em_args *a, em_str *text, em_err *err)
{
  const em_command *c;
  char *argv[4] = {(char *)"emmy"};
  int n;
  for (size_t i = 0; i < a->n_words; i++) argv[i + 1] = a->words[i];
  if (a->n_words == 0) {
    em_help_put(text);
    return EM_OK;
  }
  if (a->n_words == 1 && em_command_is_group(a->words[0])) {
    em_help_put_group(text, a->words[0]);
    return EM_OK;
  }
  int rc = em_command_choose((int)a->n_words + 1, argv, &c, &n, err);
  if (rc != EM_OK) return rc;
  if ((size_t)n != a->n_words)
    return em_fail(err, EM_E_USAGE, "no command is called \"%s\" (emmy help lists them)", a->words[a->n_words - 1]);
  em_help_put_command(text, c);
  return EM_OK;
}

int em_cmd_help(const em_args *a, em_err *err)
{
  em_str text = {0};
  if (a->opt[EM_OPT_MAN].set) return write_pages(a->opt[EM_OPT_MAN].text, err);
  const char *shell = a->opt[EM_OPT_COMPLETION].text;
  int rc = shell ? em_completion_put(&text, shell, err) : put_topic(a, &text, err);
  if (rc == EM_OK) return em_put_text(&text, err);
  em_str_free(&text);
  return rc;
}
