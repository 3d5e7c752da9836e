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
  em_session *shown;
  if (em_view_session(v, s, args, &shown, err) != EM_OK) return err->code;
  em_cursor *c = em_calloc(1, v->size ? v->size : sizeof *c);
  if (!c) {
    em_session_let_go(shown);
    return em_fail_nomem(err);
  }
  *c = (em_cursor){v, shown};
  int rc = v->open ? v->open(c, args, err) : EM_OK;
  if (rc == EM_OK)
    *out = c;
  else
    em_cursor_close(c);
  return rc;
}

void em_cursor_close(em_cursor *c)
{
  if (!c) return;
  if (c->view->close) c->view->close(c);
  em_session_let_go(c->session);
  em_free(c);
}

/* ---- another prior ---- */

/* The parameter's number; n_params when there is none. */
static size_t prior_param(const em_view *v)
{
  size_t i = 0;
  while (i < v->n_params && strcmp(v->params[i].name, "prior") != 0) i++;
  return i;
}

int em_view_session(const em_view *v, em_session *s, const char *const *args, em_session **out, em_err *err)
{
  size_t i = prior_param(v);
  *out = s;
  return s ? em_session_with_prior(s, i < v->n_params ? args[i] : NULL, out, err) : EM_OK;
}

static bool inherit(const em_cursor *c, em_target *t)
{
  const char *prior = c->session ? em_session_other_prior(c->session) : NULL;
  const em_view *to = em_view_find(t->view);
  size_t i = prior_param(to);
  if (!prior || i == to->n_params) return true;
  t->args[i] = em_strdup(prior);
  if (!t->args[i]) em_target_free(t);
  return t->args[i] != NULL;
}

static bool find_way(em_cursor *c, em_way way, size_t row, em_target *out)
{
  const em_view *v = c->view;
  switch (way) {
  case EM_WAY_ENTER: return v->enter && v->enter(c, row, out);
  case EM_WAY_WHY: return v->why && v->why(c, row, out);
  case EM_WAY_SWAP: return v->swap && v->swap(c, out);
  default: return v->turn && v->turn(c, out);
  }
}

bool em_cursor_way(em_cursor *c, em_way way, size_t row, em_target *out)
{
  return find_way(c, way, row, out) && inherit(c, out);
}

/* ---- targets ---- */

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

void em_put_count(em_str *out, uint64_t n, const char *one, const char *several)
{
  em_str_printf(out, "%llu %s", (unsigned long long)n, n == 1 ? one : several);
}

void em_cell_text_or_unused(em_cell *c, const char *s)
{
  if (*s)
    em_cell_text(c, s);
  else
    em_cell_unused(c);
}

bool em_column_is_right(const em_view_column *col) { return col->type == EM_INT || col->type == EM_REAL; }

void em_cell_digest(em_cell *c, em_digest d)
{
  char hex[33];
  em_digest_hex(d, hex);
  em_cell_printf(c, "%s", hex);
}

void em_cell_rank(em_cell *c, size_t rank) { em_cell_int(c, (int64_t)rank + 1); }

const char *em_card_label(const em_pool_info *i) { return i->card ? i->card->short_name : i->gpu; }
