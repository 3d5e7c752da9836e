/* cmd_view.c - emmy view: any view as a table. */
#include <string.h>

#include "tui/cli.h"

/* The parameters of all views as options; one that is an option of every session means the same there. */
const em_option *em_view_options(size_t *n)
{
  static em_option options[EM_MAX_MORE];
  static size_t count;
  if (count == 0) {
    for (const em_view *const *v = em_views; *v; v++)
      for (size_t i = 0; i < (*v)->n_params; i++) {
        const em_param *p = &(*v)->params[i];
        bool known = strcmp(p->name, em_options[EM_OPT_CARD].name) == 0 ||
                     strcmp(p->name, em_options[EM_OPT_KERNEL].name) == 0 ||
                     strcmp(p->name, em_options[EM_OPT_PRIOR].name) == 0;
        for (size_t k = 0; k < count; k++) known |= strcmp(options[k].name, p->name) == 0;
        if (!known && count < EM_MAX_MORE)
          options[count++] = (em_option){.name = p->name, .kind = EM_OPTION_TEXT, .arg = "TEXT", .doc = p->doc};
      }
  }
  *n = count;
  return options;
}

bool em_view_value(size_t i, em_str *name, const char **doc)
{
  if (!em_views[i]) return false;
  em_str_put(name, em_views[i]->name);
  *doc = em_views[i]->doc;
  return true;
}

/* The value of a view's parameter: its option's, or NULL. */
static const char *param_text(const em_args *a, const char *name)
{
  size_t n;
  const em_option *options = em_view_options(&n);
  for (size_t k = 0; k < n; k++)
    if (strcmp(options[k].name, name) == 0) return a->more[k].text;
  return NULL;
}

static bool has_param(const em_view *v, const char *name)
{
  for (size_t i = 0; i < v->n_params; i++)
    if (strcmp(v->params[i].name, name) == 0) return true;
  return false;
}

/* An option that the view has no use for would be ignored silently. */
static int refuse_foreign(const em_args *a, const em_view *v, em_err *err)
{
  size_t n;
  const em_option *options = em_view_options(&n);
  for (size_t k = 0; k < n; k++)
    if (a->more[k].set && !has_param(v, options[k].name))
      return em_fail(err, EM_E_USAGE, "view %s takes no --%s", v->name, options[k].name);
  return EM_OK;
}

int em_args_view(const char *name, const em_view **out, em_err *err)
{
  *out = em_view_find(name);
  if (*out) return EM_OK;
  const char *names[64 + 1] = {0};
  em_str near = {0};
  for (size_t i = 0; i < 64 && em_views[i]; i++) names[i] = em_views[i]->name;
  em_put_near(&near, name, names);
  em_fail(err, EM_E_USAGE, "no view is called \"%s\"%s", name, near.s ? near.s : "");
  em_str_free(&near);
  return err->code;
}

int em_cmd_view(const em_args *a, em_err *err)
{
  const em_view *v;
  const char *args[EM_MAX_PARAMS] = {0};
  em_session *s;
  int rc = em_args_view(a->words[0], &v, err);
  if (rc == EM_OK) rc = refuse_foreign(a, v, err);
  for (size_t i = 0; rc == EM_OK && i < v->n_params; i++) {
    args[i] = param_text(a, v->params[i].name);
    if (v->params[i].required && !args[i])
      rc = em_fail(err, EM_E_USAGE, "view %s needs --%s: %s", v->name, v->params[i].name, v->params[i].doc);
  }
  if (rc == EM_OK) rc = em_args_session(a, 1, &s, err);
  if (rc != EM_OK) return rc;
  rc = em_view_print(a, v->name, s, args, err);
  em_session_close(s);
  return rc;
}
