/* views.c - the list of views, and what they share. */
#include "views/views_int.h"

#include <string.h>
#include <strings.h>

const em_view *const em_views[] = {
#define VIEW(name) &em_view_##name,
#include "views/views.def"
#undef VIEW
  NULL};

const em_view *em_view_find(const char *name)
{
  for (size_t i = 0; em_views[i]; i++)
    if (strcmp(em_views[i]->name, name) == 0) return em_views[i];
  return NULL;
}

int em_view_find_column(const em_view *v, const char *name)
{
  for (size_t i = 0; i < v->n_columns; i++)
    if (strcasecmp(v->columns[i].name, name) == 0) return (int)i;
  return -1;
}

static int unknown_view(const char *name, em_err *err)
{
  em_str names = {0};
  for (size_t i = 0; em_views[i]; i++) em_str_printf(&names, "%s%s", i ? ", " : "", em_views[i]->name);
  em_fail(err, EM_E_USAGE, "no view is called \"%s\"; there are %s", name, names.s ? names.s : "");
  em_str_free(&names);
  return err->code;
}

int em_view_open(const char *name, em_session *s, const char *const *args, em_cursor **out, em_err *err)
{
  const em_view *v = em_view_find(name);
  if (!v) return unknown_view(name, err);
  for (size_t i = 0; i < v->n_params; i++) {
    if (v->params[i].required && !args[i])
      return em_fail(err, EM_E_USAGE, "view %s needs %s: %s", name, v->params[i].name, v->params[i].doc);
  }
  return v->open(s, args, out, err);
}

void em_cursor_close(em_cursor *c)
{
  if (c) c->view->close(c);
}

void em_target_free(em_target *t)
{
  for (size_t i = 0; i < EM_MAX_PARAMS; i++) em_free(t->args[i]);
  *t = (em_target){0};
}

bool em_target_set(em_target *t, const char *view, const char *a, const char *b, const char *c)
{
  const char *args[] = {a, b, c};
  *t = (em_target){.view = view};
  for (size_t i = 0; i < COUNT(args); i++) {
    if (!args[i]) continue;
    t->args[i] = em_strdup(args[i]);
    if (t->args[i]) continue;
    em_target_free(t);
    return false;
  }
  return true;
}

void em_row_short(const em_row *r, char buf[EM_KNOBS_SHORT])
{
  size_t len = 0;
  buf[0] = '\0';
  for (int f = EM_WORK; f <= EM_RASTER; f++) {
    char value[EM_VALUE_LEN];
    const char *v = em_row_value(r, (em_family)f, value);
    if (!v || !*v) continue;
    len += (size_t)snprintf(buf + len, EM_KNOBS_SHORT - len, "%s%s", len ? " " : "", v);
  }
  if (!len) memcpy(buf, "-", 2);
}

void em_cell_family(em_cell *c, const em_row *r, em_family f)
{
  char value[EM_VALUE_LEN];
  const char *v = em_row_value(r, f, value);
  if (!v)
    em_cell_missing(c);
  else if (!*v)
    em_cell_unused(c);
  else
    em_cell_printf(c, "%s", v);
}

int em_plain_open(const em_view *v, em_session *s, em_cursor **out, em_err *err)
{
  em_cursor *c = em_calloc(1, sizeof *c);
  if (!c) return em_fail_nomem(err);
  *c = (em_cursor){v, s};
  *out = c;
  return EM_OK;
}

void em_plain_close(em_cursor *c) { em_free(c); }

const em_model *em_view_model(const em_session *s) { return em_prior_model(em_session_prior(s)); }

int em_pool_open(em_session *s, const char *name, const em_scored **out, em_err *err)
{
  size_t pool;
  if (em_session_find(s, name, &pool, err) != EM_OK) return err->code;
  return em_session_load(s, pool, NULL, out, err);
}

void em_put_crumb(em_str *out, const em_scored *sc, const char *what)
{
  em_str_put_safe(out, em_card_label(&sc->info));
  em_str_put(out, " / ");
  em_str_put_safe(out, sc->info.label);
  em_str_printf(out, " / %s", what);
}

void em_cell_text_or_unused(em_cell *c, const char *s)
{
  if (*s)
    em_cell_text(c, s);
  else
    em_cell_unused(c);
}

bool em_column_is_right(const em_view_column *col) { return col->type == EM_INT || col->type == EM_REAL; }

void em_cell_rank(em_cell *c, size_t rank) { em_cell_int(c, (int64_t)rank + 1); }

const char *em_card_label(const em_pool_info *i) { return i->card ? i->card->short_name : i->gpu; }
