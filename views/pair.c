/* pair.c - two candidates of a pool side by side: what the views that compare them share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "views/views_int.h"

#define A_PARAM                                                                                                        \
  {                                                                                                                    \
    "a", EM_TEXT, false, "first candidate: a rank, \"pick\" (the default) or \"golden\""                               \
  }
#define B_PARAM                                                                                                        \
  {                                                                                                                    \
    "b", EM_TEXT, false, "second candidate: a rank, \"pick\" or \"golden\" (the default)"                              \
  }

const em_param em_pair_params[EM_PAIR_PARAMS + 1] = {EM_POOL_PARAM, A_PARAM, B_PARAM, EM_PRIOR_PARAM};
const em_param em_tree_params[EM_PAIR_PARAMS + 2] = {
  EM_POOL_PARAM,
  A_PARAM,
  B_PARAM,
  {"tree", EM_TEXT, false, "number of the tree, from 1; left out: the one that moves the two apart most"},
  EM_PRIOR_PARAM};

/* ---- opening ---- */

int em_pair_candidate(const em_scored *sc, const char *arg, size_t *row, em_err *err)
{
  int64_t rank;
  if (strcmp(arg, "pick") == 0) {
    *row = sc->order[0];
  } else if (strcmp(arg, "golden") == 0) {
    *row = sc->info.rank.best;
  } else if (em_parse_i64(arg, 1, (int64_t)sc->n, &rank)) {
    *row = sc->order[rank - 1];
  } else {
    return em_fail(err, EM_E_USAGE, "\"%s\" is no candidate of %s: give a rank from 1 to %zu, \"pick\" or \"golden\"",
                   arg, sc->info.label, sc->n);
  }
  return EM_OK;
}

int em_pair_open(em_session *s, const char *const *args, em_pair *out, em_err *err)
{
  size_t pool;
  em_pair p = {0};
  int rc = em_session_find(s, args[0], &pool, err);
  if (rc == EM_OK) rc = em_session_load(s, pool, NULL, &p.scored, err);
  if (rc != EM_OK) return rc;
  rc = em_pair_candidate(p.scored, args[1] ? args[1] : "pick", &p.a, err);
  if (rc == EM_OK) rc = em_pair_candidate(p.scored, args[2] ? args[2] : "golden", &p.b, err);
  if (rc == EM_OK)
    *out = p;
  else
    em_pair_close(s, &p);
  return rc;
}

void em_pair_close(em_session *s, em_pair *p)
{
  if (p->scored) em_session_release(s, p->scored);
  *p = (em_pair){0};
}

/* ---- values ---- */

const char *const em_standing_words[EM_N_STANDINGS] = {[EM_DIFFERS] = "differs",
                                                       [EM_EQUAL] = "equal",
                                                       [EM_MISSING_IN_BOTH] = "missing in both",
                                                       [EM_CONSTANT] = "constant in pool"};

double em_pair_value(const em_pair *p, size_t row, size_t column)
{
  return p->scored->matrix[row * p->scored->cols->n + column];
}

em_standing em_pair_standing(const em_pair *p, size_t column)
{
  double a = em_pair_value(p, p->a, column), b = em_pair_value(p, p->b, column);
  if (a != b && !(isnan(a) && isnan(b))) return EM_DIFFERS;
  if (p->scored->constant[column]) return EM_CONSTANT;
  return isnan(a) ? EM_MISSING_IN_BOTH : EM_EQUAL;
}

/* ---- head ---- */

#define SIDE 30 /* cells of a candidate's column */

static const char *shown(const char *v) { return !v ? "missing" : *v ? v : "-"; }

static void put_line(em_str *out, const char *name, const char *a, const char *b, const char *word)
{
  em_str_printf(out, "%-8s %-*s %-*s%s%s\n", name, SIDE, a, SIDE, b, *word ? " " : "", word);
}

static void put_title(const em_pair *p, char which, size_t row, char text[SIDE * 2])
{
  const em_scored *sc = p->scored;
  size_t tied = em_scored_plateau(sc, row);
  int len = snprintf(text, SIDE * 2, "%c #%u%s%s", which, sc->rank_of[row] + 1, sc->rank_of[row] == 0 ? " pick" : "",
                     em_scored_golden(sc, row) ? " golden" : "");
  if (tied) snprintf(text + len, SIDE * 2 - (size_t)len, ", tied with %zu", tied);
}

static void put_knobs(const em_pair *p, em_str *out)
{
  const em_row *rows = p->scored->rows;
  for (int f = EM_WORK; f <= EM_RASTER; f++) {
    char x[EM_VALUE_LEN], y[EM_VALUE_LEN];
    const char *a = em_row_value(&rows[p->a], (em_family)f, x), *b = em_row_value(&rows[p->b], (em_family)f, y);
    bool same = a && b ? strcmp(a, b) == 0 : a == b;
    if (same && (!a || !*a)) continue; /* missing or unused in both */
    put_line(out, em_family_at((em_family)f)->name, shown(a), shown(b), same ? "" : "differs");
  }
}

static void put_quality(em_session *s, const em_pair *p, em_str *out)
{
  const double *q = p->scored->quality, d = q[p->a] - q[p->b];
  char a[SIDE * 2], b[SIDE * 2], word[32];
  snprintf(a, sizeof a, "%.4f  price %.4g", q[p->a], em_prior_price(em_session_prior(s), q[p->a]));
  snprintf(b, sizeof b, "%.4f  price %.4g", q[p->b], em_prior_price(em_session_prior(s), q[p->b]));
  snprintf(word, sizeof word, "%c +%.4f", d > 0 ? 'A' : 'B', fabs(d));
  put_line(out, "quality", a, b, d == 0 ? "equal" : word);
}

static void measured(const em_scored *sc, size_t row, char text[SIDE * 2])
{
  const em_golden_mark *g = em_scored_golden(sc, row);
  if (!g || isnan(g->us))
    snprintf(text, SIDE * 2, "not measured");
  else if (isnan(g->reference_us))
    snprintf(text, SIDE * 2, "%.1f us", g->us);
  else
    snprintf(text, SIDE * 2, "%.1f us (reference %.1f us)", g->us, g->reference_us);
}

static void put_fits(const em_pair *p, em_str *out)
{
  char a[EM_WHY_LEN], b[EM_WHY_LEN];
  if (!p->scored->space) return;
  bool fits_a = em_space_fits(p->scored->space, &p->scored->rows[p->a], a);
  bool fits_b = em_space_fits(p->scored->space, &p->scored->rows[p->b], b);
  if (!fits_a) em_str_printf(out, "A does not fit: %s\n", a);
  if (!fits_b) em_str_printf(out, "B does not fit: %s\n", b);
}

void em_pair_head(em_session *s, const em_pair *p, em_str *out)
{
  char a[SIDE * 2], b[SIDE * 2], of[32];
  put_title(p, 'A', p->a, a);
  put_title(p, 'B', p->b, b);
  snprintf(of, sizeof of, "of %zu", p->scored->n);
  put_line(out, "", a, b, of);
  put_knobs(p, out);
  put_quality(s, p, out);
  measured(p->scored, p->a, a);
  measured(p->scored, p->b, b);
  put_line(out, "measured", a, b, "");
  put_fits(p, out);
}

void em_pair_crumb(const em_pair *p, em_str *out)
{
  const em_pool_info *i = &p->scored->info;
  em_str_put_safe(out, em_card_label(i));
  em_str_put(out, " / ");
  em_str_put_safe(out, i->label);
}

/* ---- targets ---- */

static bool set_target(const em_pair *p, const char *view, size_t a, size_t b, const char *more, em_target *out)
{
  char x[24], y[24];
  snprintf(x, sizeof x, "%u", p->scored->rank_of[a] + 1);
  snprintf(y, sizeof y, "%u", p->scored->rank_of[b] + 1);
  if (!em_target_set(out, view, p->scored->info.key, x, y)) return false;
  if (!more) return true;
  out->args[EM_PAIR_PARAMS] = em_strdup(more);
  if (out->args[EM_PAIR_PARAMS]) return true;
  em_target_free(out);
  return false;
}

bool em_pair_target(const em_pair *p, const char *view, const char *more, em_target *out)
{
  return set_target(p, view, p->a, p->b, more, out);
}

bool em_pair_swap(const em_pair *p, const char *view, const char *more, em_target *out)
{
  return set_target(p, view, p->b, p->a, more, out);
}

/* ---- taking the difference apart ---- */

void em_pair_parts_free(em_pair_parts *p)
{
  em_free(p->features);
  em_free(p->trees);
  *p = (em_pair_parts){0};
}

static int take_apart(const em_prior *prior, const em_pair *p, const em_pair_parts *parts, int32_t *col, em_err *err)
{
  const em_scored *sc = p->scored;
  em_explainer *e;
  em_prior_map(prior, sc->cols, col);
  if (em_explainer_new(em_prior_model(prior), &e, err) != EM_OK) return err->code;
  int rc = em_explain_difference(e, sc->matrix + p->a * sc->cols->n, sc->matrix + p->b * sc->cols->n, col,
                                 parts->features, parts->trees, err);
  em_explainer_free(e);
  return rc;
}

int em_pair_explain(em_session *s, const em_pair *p, em_pair_parts *out, em_err *err)
{
  const em_prior *prior = em_session_prior(s);
  const em_model *m = em_prior_model(prior);
  size_t n = em_model_n_features(m);
  em_pair_parts parts = {.features = em_calloc(n + 1, sizeof *parts.features),
                         .trees = em_calloc(em_model_n_trees(m) + 1, sizeof *parts.trees)};
  int32_t *col = em_calloc(n + 1, sizeof *col);
  int rc = parts.features && parts.trees && col ? take_apart(prior, p, &parts, col, err) : em_fail_nomem(err);
  em_free(col);
  if (rc == EM_OK)
    *out = parts;
  else
    em_pair_parts_free(&parts);
  return rc;
}

typedef struct sized {
  double size;
  uint32_t index;
} sized;

static int by_size(const void *a, const void *b)
{
  const sized *x = a, *y = b;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

uint32_t *em_order_by_size(const double *values, size_t n)
{
  sized *items = em_calloc(n + 1, sizeof *items);
  uint32_t *order = em_calloc(n + 1, sizeof *order);
  if (items && order) {
    for (size_t i = 0; i < n; i++) items[i] = (sized){fabs(values[i]), (uint32_t)i};
    qsort(items, n, sizeof *items, by_size);
    for (size_t i = 0; i < n; i++) order[i] = items[i].index;
  } else {
    em_free(order);
    order = NULL;
  }
  em_free(items);
  return order;
}

int64_t em_pair_column(em_session *s, const em_pair *p, size_t feature)
{
  return em_columns_index(p->scored->cols, em_prior_columns(em_session_prior(s))->names[feature]);
}

/* ---- cells ---- */

void em_cell_prefers(em_cell *c, double difference)
{
  em_cell_text(c, difference == 0 ? NULL : difference > 0 ? "A" : "B");
}

void em_cell_bar(em_cell *c, double difference, double most)
{
  enum { FULL = 16 };
  char bar[FULL + 1];
  if (difference == 0) {
    em_cell_missing(c);
    return;
  }
  size_t n = (size_t)(FULL * fabs(difference) / most + 0.5);
  n = n < 1 ? 1 : n > FULL ? FULL : n;
  memset(bar, difference > 0 ? '=' : '-', n);
  bar[n] = '\0';
  em_cell_printf(c, "%s", bar);
}
