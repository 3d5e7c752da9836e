/* feature_columns.c - lists of column names, and the views that select among them. */
#include <stdlib.h>
#include <string.h>

#include "core/feature/feature_int.h"

/* Kept by every view: it says which rows are dynamic. */
static const char always_kept[] = "S_ext_n_symbolic_axis";

static const struct em_view_spec {
  const char *name, *spec;
} view_specs[] = {
  {"schedule", "D_*,H_*,MMA_tier,MMA_acc_bits,S_*"},
};
enum { N_VIEW_SPECS = sizeof view_specs / sizeof *view_specs };

const char *em_feature_view(const char *name)
{
  for (size_t i = 0; i < N_VIEW_SPECS; i++)
    if (strcmp(view_specs[i].name, name) == 0) return view_specs[i].spec;
  return NULL;
}

/* ---- lists ------------------------------------------------------------------ */

void em_columns_free(em_columns *c)
{
  if (!c) return;
  for (size_t i = 0; i < c->n; i++) em_free(c->names[i]);
  em_free(c->names);
  *c = (em_columns){.names = NULL, .n = 0};
}

/* Copies `n` names; NULL entries are left out. */
static int copy_names(const char *const *names, size_t n, em_columns *out, em_err *err)
{
  em_columns c = {.names = em_calloc(n + 1, sizeof *c.names), .n = 0};
  if (!c.names) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) {
    if (!names[i]) continue;
    c.names[c.n] = em_strdup(names[i]);
    if (!c.names[c.n]) {
      em_columns_free(&c);
      return em_fail_nomem(err);
    }
    c.n++;
  }
  *out = c;
  return EM_OK;
}

int em_columns_copy(const em_columns *from, em_columns *out, em_err *err)
{
  return copy_names((const char *const *)from->names, from->n, out, err);
}

int64_t em_columns_index(const em_columns *c, const char *name)
{
  for (size_t i = 0; i < c->n; i++)
    if (strcmp(c->names[i], name) == 0) return (int64_t)i;
  return -1;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

int em_columns_all(const em_kernel *k, em_columns *out, em_err *err)
{
  size_t n_stamps, n = 0;
  const em_stamp *stamps = em_kernel_stamps(k, &n_stamps);
  const char **names = em_calloc(EM_N_FEATURE_IDS + n_stamps, sizeof *names);
  if (!names) return em_fail_nomem(err);
  for (int id = 0; id < EM_N_FEATURE_IDS; id++)
    if (em_feature_traits_of((em_feature_id)id)->form != EM_FORM_PATTERN) names[n++] = em_feature_at((size_t)id)->name;
  for (size_t i = 0; i < n_stamps; i++)
    if (em_feature_id_of(stamps[i].name) < 0 && em_feature_find(stamps[i].name)) names[n++] = stamps[i].name;
  qsort(names, n, sizeof *names, by_name);
  int rc = copy_names(names, n, out, err);
  em_free(names);
  return rc;
}

/* ---- selection ---------------------------------------------------------------- */

typedef struct em_selection {
  const em_columns *from;
  bool *in, *out; /* per column: some item includes, excludes it */
  bool includes;  /* some item includes; else everything is */
} em_selection;

/* One item of a spec: `len` bytes at `s`, without '-' and '*'. */
typedef struct em_item {
  const char *s;
  size_t len;
  bool glob, exclude;
} em_item;

static bool item_covers(const em_item *it, const char *name)
{
  return strncmp(name, it->s, it->len) == 0 && (it->glob || name[it->len] == '\0');
}

/* Whether a name of the registry, or some name under one of its patterns, is meant. */
static bool item_known(const em_item *it)
{
  for (size_t i = 0; i < EM_N_FEATURE_IDS; i++) {
    const char *name = em_feature_at(i)->name;
    if (item_covers(it, name)) return true;
    if (em_feature_traits_of((em_feature_id)i)->form != EM_FORM_PATTERN) continue;
    size_t prefix = strlen(name) - 1;
    if (it->len > prefix && strncmp(it->s, name, prefix) == 0) return true;
  }
  return false;
}

enum { N_NEAR = 3 };

/* Keeps the nearest names, nearest first, ties by name. */
static void offer_near(const char *near[N_NEAR], int dist[N_NEAR], const char *name, int d)
{
  for (int i = 0; i < N_NEAR; i++) {
    if (near[i] && strcmp(near[i], name) == 0) return;
    if (near[i] && (dist[i] < d || (dist[i] == d && strcmp(near[i], name) < 0))) continue;
    memmove(near + i + 1, near + i, (size_t)(N_NEAR - 1 - i) * sizeof *near);
    memmove(dist + i + 1, dist + i, (size_t)(N_NEAR - 1 - i) * sizeof *dist);
    near[i] = name;
    dist[i] = d;
    return;
  }
}

static int fail_unknown(const em_columns *from, const em_item *it, em_err *err)
{
  const char *near[N_NEAR] = {NULL};
  int dist[N_NEAR] = {0};
  char *word = em_strndup(it->s, it->len);
  if (!word) return em_fail_nomem(err);
  for (size_t i = 0; i < EM_N_FEATURE_IDS; i++) {
    const char *name = em_feature_at(i)->name;
    offer_near(near, dist, name, em_edit_distance(word, name));
  }
  for (size_t i = 0; i < from->n; i++) offer_near(near, dist, from->names[i], em_edit_distance(word, from->names[i]));
  em_fail(
    err, EM_E_INPUT,
    "feature selection: \"%s%s\" selects no feature; expected names, prefix* or @view, \"-\" before what to leave out; "
    "near: %s, %s, %s",
    word, it->glob ? "*" : "", near[0], near[1], near[2]);
  em_free(word);
  return err->code;
}

static int apply_item(em_selection *sel, const em_item *it, em_err *err)
{
  bool found = item_known(it);
  for (size_t i = 0; i < sel->from->n; i++) {
    if (!item_covers(it, sel->from->names[i])) continue;
    (it->exclude ? sel->out : sel->in)[i] = true;
    found = true;
  }
  if (!found) return fail_unknown(sel->from, it, err);
  if (!it->exclude) sel->includes = true;
  return EM_OK;
}

static int apply_spec(em_selection *sel, const char *spec, em_err *err);

static int apply_view(em_selection *sel, const char *s, size_t len, em_err *err)
{
  for (size_t i = 0; i < N_VIEW_SPECS; i++)
    if (strlen(view_specs[i].name) == len && strncmp(view_specs[i].name, s, len) == 0)
      return apply_spec(sel, view_specs[i].spec, err);
  em_str known = {0};
  for (size_t i = 0; i < N_VIEW_SPECS; i++) em_str_printf(&known, "%s@%s", i ? ", " : "", view_specs[i].name);
  int rc = em_str_finish(&known, err);
  if (rc != EM_OK) return rc;
  rc = em_fail(err, EM_E_INPUT, "feature selection: unknown view \"@%.*s\"; expected %s", (int)len, s, known.s);
  em_str_free(&known);
  return rc;
}

static int apply_word(em_selection *sel, const char *s, size_t len, em_err *err)
{
  while (len > 0 && *s == ' ') s++, len--;
  while (len > 0 && s[len - 1] == ' ') len--;
  if (len > 0 && *s == '@') return apply_view(sel, s + 1, len - 1, err);
  em_item it = {.s = s, .len = len};
  if (it.len > 0 && *it.s == '-') it.exclude = true, it.s++, it.len--;
  if (it.len > 0 && it.s[it.len - 1] == '*') it.glob = true, it.len--;
  if (it.len == 0 && !it.glob)
    return em_fail(err, EM_E_INPUT, "feature selection: empty item; expected names, prefix* or @view between commas");
  return apply_item(sel, &it, err);
}

static int apply_spec(em_selection *sel, const char *spec, em_err *err)
{
  for (const char *s = spec;; s++) {
    size_t len = strcspn(s, ",");
    int rc = apply_word(sel, s, len, err);
    if (rc != EM_OK || s[len] == '\0') return rc;
    s += len;
  }
}

static bool selected(const em_selection *sel, size_t i)
{
  if (strcmp(sel->from->names[i], always_kept) == 0) return true;
  return (sel->in[i] || !sel->includes) && !sel->out[i];
}

int em_columns_select(const em_columns *from, const char *spec, em_columns *out, em_err *err)
{
  bool *marks = em_calloc(2 * from->n + 1, sizeof *marks);
  const char **names = em_calloc(from->n + 1, sizeof *names);
  em_selection sel = {.from = from, .in = marks, .out = marks ? marks + from->n : NULL};
  int rc = marks && names ? apply_spec(&sel, spec, err) : em_fail_nomem(err);
  for (size_t i = 0; rc == EM_OK && i < from->n; i++) names[i] = selected(&sel, i) ? from->names[i] : NULL;
  if (rc == EM_OK) rc = copy_names(names, from->n, out, err);
  em_free(marks);
  em_free(names);
  return rc;
}
