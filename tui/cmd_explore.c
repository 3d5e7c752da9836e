/* cmd_explore.c - emmy explore. */
#include <string.h>
#include <unistd.h>

#include "tui/cli.h"
#include "tui/explore.h"

static int choose_color(const em_args *a, em_color *out, em_err *err)
{
  static const char *const names[] = {
    [EM_COLOR_AUTO] = "auto", [EM_COLOR_ALWAYS] = "always", [EM_COLOR_NEVER] = "never"};
  const char *wish = a->opt[EM_OPT_COLOR].text;
  for (int i = EM_COLOR_AUTO; i <= EM_COLOR_NEVER; i++) {
    if (strcmp(wish, names[i]) != 0) continue;
    *out = (em_color)i;
    return EM_OK;
  }
  return em_fail(err, EM_E_USAGE, "explore: --color takes auto, always or never, got \"%s\"", wish);
}

/* A view of one pool has nothing to begin with. */
static int check_view(const char *name, em_err *err)
{
  const em_view *v;
  int rc = em_args_view(name, &v, err);
  if (rc != EM_OK) return rc;
  for (size_t i = 0; i < v->n_params; i++)
    if (v->params[i].required)
      return em_fail(err, EM_E_USAGE, "explore: the view %s is opened from a %s, it cannot be the first", name,
                     v->params[i].name);
  return EM_OK;
}

int em_cmd_explore(const em_args *a, em_err *err)
{
  static const char *const no_args[EM_MAX_PARAMS];
  em_session *s;
  em_explore_options o = {.script = a->opt[EM_OPT_SCRIPT].text, .view = a->opt[EM_OPT_VIEW].text};
  o.term.headless = o.script != NULL;
  o.term.ascii = a->opt[EM_OPT_ASCII].set;
  int rc = choose_color(a, &o.term.color, err);
  if (rc == EM_OK) rc = check_view(o.view, err);
  if (rc == EM_OK) rc = em_args_session(a, 0, &s, err);
  if (rc != EM_OK) return rc;
  bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  if (o.script || (terminal && em_is_text_table(a)))
    rc = em_explore(s, &o, err);
  else
    rc = em_view_print(a, o.view, s, no_args, err);
  em_session_close(s);
  return rc;
}
