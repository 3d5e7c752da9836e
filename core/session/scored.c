/* scored.c - the candidates of one pool: built, featured, scored, ordered. */
#include <string.h>

#include "core/session/session_int.h"

void em_scored_free(scored *sc)
{
  if (!sc) return;
  if (sc->lender) em_session_release(sc->main, &sc->lender->pub);
  em_space_free(sc->space);
  em_pool_free(sc->pool);
  em_free(sc->rows);
  for (size_t i = 0; sc->marks && i < sc->pub.n_goldens; i++) {
    em_free(sc->marks[i].label);
    em_free(sc->marks[i].source);
  }
  em_free(sc->marks);
  em_free(sc->positives);
  em_free(sc->quality);
  em_free(sc->order);
  em_free(sc->rank_of);
  em_free(sc->against);
  em_free(sc->constant);
  em_extrapolation_free(&sc->reach);
  em_free(sc);
}

/* Why nothing came of it: the reasons that em_pool_build gave, joined. */
static void put_skips(const em_skips *skips, em_str *why)
{
  for (size_t i = 0; i < skips->n; i++) em_str_printf(why, "%s%s", i ? "; " : "", skips->items[i].reason);
}

static int enumerate(const entry *e, const em_columns *cols, int threads, const em_progress *p, em_str *why, scored *sc,
                     em_err *err)
{
  em_skips skips = {0};
  int rc = em_pool_build(e->evidence, 0, 0, p, &skips, &sc->pool, err);
  put_skips(&skips, why);
  em_skips_free(&skips);
  if (rc != EM_OK || !sc->pool) return rc;
  if (cols) rc = em_columns_copy(cols, &sc->pool->cols, err);
  if (rc == EM_OK) rc = em_pool_featurize(sc->pool, threads, err);
  if (rc != EM_OK) return rc;
  const em_pool *pool = sc->pool;
  sc->pub.kernel = pool->kernel;
  sc->pub.cols = &pool->cols;
  sc->pub.matrix = pool->matrix;
  sc->pub.rows = pool->rows;
  sc->pub.n = pool->n_rows;
  sc->pub.goldens = pool->goldens;
  sc->pub.n_goldens = pool->n_goldens;
  sc->pub.info.total = pool->total;
  return EM_OK;
}

int em_group_row_schedule(const char *knobs, em_row *out, bool *single, em_err *err)
{
  cJSON *json = NULL;
  em_knobs read = {0};
  em_place at = {.file = "knobs"};
  int rc = em_json_parse(knobs, strlen(knobs), "knobs", &json, err);
  if (rc == EM_OK) rc = em_knobs_from_json(json, &at, &read, err);
  if (rc == EM_OK) rc = em_row_from_knobs(&read, out, single, err);
  em_knobs_free(&read);
  em_json_free(json);
  return rc;
}

/* A recorded row may leave out what it does not use. */
static bool same_schedule(const em_row *a, const em_row *b)
{
  for (int f = EM_WORK; f <= EM_RASTER; f++) {
    char x[EM_VALUE_LEN], y[EM_VALUE_LEN];
    const char *v = em_row_value(a, (em_family)f, x), *w = em_row_value(b, (em_family)f, y);
    if (strcmp(v ? v : "", w ? w : "") != 0) return false;
  }
  return true;
}

/* What was recorded of the golden that has this schedule; of several records the first. */
static int mark_recorded(const struct em_group_row *r, scored *sc, em_err *err)
{
  em_row row;
  bool single;
  int rc = em_group_row_schedule(r->knobs, &row, &single, err);
  if (rc != EM_OK || !single) return rc;
  for (size_t i = 0; i < sc->pub.n_goldens; i++) {
    em_golden_mark *m = &sc->marks[i];
    if (m->source || !same_schedule(&row, &sc->rows[m->row])) continue;
    m->us = r->us;
    m->label = em_strdup(r->label ? r->label : "");
    m->source = em_strdup(r->source ? r->source : "");
    if (!m->label || !m->source) return em_fail_nomem(err);
  }
  return EM_OK;
}

static int mark_goldens(const em_group *g, scored *sc, em_err *err)
{
  sc->marks = em_calloc(g->n_golden ? g->n_golden : 1, sizeof *sc->marks);
  if (!sc->marks) return em_fail_nomem(err);
  sc->pub.goldens = sc->marks;
  for (size_t i = 0; i < g->n_golden; i++)
    sc->marks[sc->pub.n_goldens++] = (em_golden_mark){
      .row = g->golden_ids[i], .us = __builtin_nan(""), .reference_us = __builtin_nan("")};
  for (size_t p = 0; p < g->n_pools; p++)
    for (size_t r = 0; r < g->pools[p].n_rows; r++) {
      int rc = mark_recorded(&g->pools[p].rows[r], sc, err);
      if (rc != EM_OK) return rc;
    }
  return EM_OK;
}

static int read_group(const entry *e, scored *sc, em_err *err)
{
  const em_group *g = em_dataset_group(e->dataset, e->group);
  sc->rows = em_calloc(g->n_rows ? g->n_rows : 1, sizeof *sc->rows);
  if (!sc->rows) return em_fail_nomem(err);
  int rc = em_dataset_rows(e->dataset, e->group, sc->rows, err);
  if (rc == EM_OK) rc = mark_goldens(g, sc, err);
  if (rc == EM_OK) rc = em_dataset_kernel(e->dataset, g->pools[0].kernel, &sc->pub.kernel, err);
  sc->pub.cols = &g->cols;
  sc->pub.matrix = g->matrix;
  sc->pub.rows = sc->rows;
  sc->pub.n = g->n_rows;
  sc->pub.info.total = g->total;
  return rc;
}

/* The main session has the pool open: its candidates are the same, only their scores are another prior's. */
static void borrow(em_session *main, scored *lender, scored *sc)
{
  const em_scored *from = &lender->pub;
  sc->main = main;
  sc->lender = lender;
  sc->pub.kernel = from->kernel;
  sc->pub.space = from->space;
  sc->pub.cols = from->cols;
  sc->pub.matrix = from->matrix;
  sc->pub.rows = from->rows;
  sc->pub.n = from->n;
  sc->pub.goldens = from->goldens;
  sc->pub.n_goldens = from->n_goldens;
  sc->pub.info.total = from->info.total;
}

/* A space for the questions "does it fit" and "how much shared memory". */
static int open_space(const entry *e, scored *sc, em_err *err)
{
  em_regime regime = EM_REGIME_DEFAULT;
  if (!e->info.card) return EM_OK;
  int rc = em_regime_parse(e->info.regime, &regime, err);
  if (rc == EM_OK) rc = em_space_open(sc->pub.kernel, e->info.card, regime, &sc->space, err);
  if (rc == EM_OK && em_space_out_of_scope(sc->space)) {
    em_space_free(sc->space);
    sc->space = NULL;
  }
  sc->pub.space = sc->space;
  return rc;
}

static bool same_cell(double a, double b) { return a == b || (a != a && b != b); }

static void find_constants(scored *sc)
{
  size_t cols = sc->pub.cols->n;
  for (size_t c = 0; c < cols; c++) sc->constant[c] = true;
  for (size_t r = 1; r < sc->pub.n; r++) {
    const double *row = sc->pub.matrix + r * cols;
    for (size_t c = 0; c < cols; c++)
      if (sc->constant[c] && !same_cell(row[c], sc->pub.matrix[c])) sc->constant[c] = false;
  }
}

/* rank_of inverts order; `against` counts a whole run of equal qualities. */
static void fill_ranks(scored *sc)
{
  size_t n = sc->pub.n;
  for (size_t rank = 0; rank < n;) {
    size_t end = rank;
    while (end < n && sc->quality[sc->order[end]] == sc->quality[sc->order[rank]]) end++;
    for (size_t k = rank; k < end; k++) {
      sc->rank_of[sc->order[k]] = (uint32_t)k;
      sc->against[sc->order[k]] = (uint32_t)(end - 1);
    }
    rank = end;
  }
}

static int score(em_session *s, scored *sc, em_err *err)
{
  size_t n = sc->pub.n;
  sc->positives = em_calloc(sc->pub.n_goldens + 1, sizeof *sc->positives);
  sc->quality = em_calloc(n, sizeof *sc->quality);
  sc->order = em_calloc(n, sizeof *sc->order);
  sc->rank_of = em_calloc(n, sizeof *sc->rank_of);
  sc->against = em_calloc(n, sizeof *sc->against);
  sc->constant = em_calloc(sc->pub.cols->n + 1, sizeof *sc->constant);
  if (!sc->positives || !sc->quality || !sc->order || !sc->rank_of || !sc->against || !sc->constant)
    return em_fail_nomem(err);
  int rc = em_prior_score(s->prior, sc->pub.cols, sc->pub.matrix, sc->pub.n, s->opt.threads, sc->quality, err);
  if (rc == EM_OK) rc = em_rank_order(sc->quality, sc->pub.rows, sc->pub.n, sc->order, err);
  if (rc != EM_OK) return rc;
  for (size_t i = 0; i < sc->pub.n_goldens; i++) sc->positives[i] = sc->pub.goldens[i].row;
  fill_ranks(sc);
  find_constants(sc);
  sc->pub.quality = sc->quality;
  sc->pub.order = sc->order;
  sc->pub.rank_of = sc->rank_of;
  sc->pub.against = sc->against;
  sc->pub.constant = sc->constant;
  sc->pub.reach = &sc->reach;
  return em_scored_extrapolation(s->prior, &sc->pub, &sc->reach, err);
}

/* The candidates, without scores; none: sc->pub.n is 0. */
static int fetch(em_session *s, size_t pool, const em_columns *cols, const em_progress *p, em_str *why, scored *sc,
                 em_err *err)
{
  const entry *e = &s->entries[pool];
  scored *lender = s->main ? em_session_kept(s->main, pool) : NULL;
  if (lender) {
    borrow(s->main, lender, sc);
    return EM_OK;
  }
  int rc = e->evidence ? enumerate(e, cols, s->opt.threads, p, why, sc, err) : read_group(e, sc, err);
  return rc == EM_OK && sc->pub.n > 0 ? open_space(e, sc, err) : rc;
}

int em_scored_build(em_session *s, size_t pool, const em_columns *cols, const em_progress *p, em_str *why, scored **out,
                    em_err *err)
{
  scored *sc = em_calloc(1, sizeof *sc);
  if (!sc) return em_fail_nomem(err);
  *out = NULL;
  int rc = fetch(s, pool, cols, p, why, sc, err);
  if (rc == EM_OK && sc->pub.n == 0) {
    em_scored_free(sc);
    return EM_OK;
  }
  if (rc == EM_OK) rc = score(s, sc, err);
  if (rc != EM_OK) {
    em_scored_free(sc);
    return rc;
  }
  *out = sc;
  return EM_OK;
}

/* ---- summary ---- */

static void put_note(em_str *note, const char *fmt, ...) EM_PRINTF(2, 3);
static void put_note(em_str *note, const char *fmt, ...)
{
  char text[EM_WHY_LEN + 64];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  em_str_printf(note, "%s%s", note->len ? "; " : "", text);
}

static void put_differences(const em_row *golden, const em_row *pick, em_str *note)
{
  em_str families = {0};
  for (int f = EM_WORK; f <= EM_RASTER; f++) {
    char a[EM_VALUE_LEN], b[EM_VALUE_LEN];
    const char *x = em_row_value(golden, (em_family)f, a), *y = em_row_value(pick, (em_family)f, b);
    if (x && y && strcmp(x, y) != 0) em_str_printf(&families, " %s", em_family_at((em_family)f)->name);
  }
  if (families.len) put_note(note, "differs in%s", families.s);
  note->failed |= families.failed;
  em_str_free(&families);
}

/* Candidates that the prior's columns cannot tell from the golden; and whether much of the pool is new to the fit, where the
 * prior knows what it was fitted on: a tenth of the columns, as a few always reach a little farther. */
static int put_limits(const em_prior *prior, const scored *sc, size_t golden, em_str *note, em_err *err)
{
  uint32_t *blind;
  size_t n_blind, outside = 0;
  const em_extrapolation *x = &sc->reach;
  if (em_scored_blind(prior, &sc->pub, golden, &blind, &n_blind, err) != EM_OK) return err->code;
  em_free(blind);
  for (size_t i = 0; i < x->n; i++) outside += x->columns[i].known && x->columns[i].reach != EM_REACH_INSIDE;
  if (n_blind) put_note(note, "blind %zu", n_blind);
  if (outside && outside * 10 >= x->n) put_note(note, "outside fit %zu/%zu", outside, x->n);
  return EM_OK;
}

void em_scored_summarise(const em_prior *prior, const scored *sc, em_pool_info *info, em_str *note)
{
  info->rows = sc->pub.n;
  info->total = sc->pub.info.total;
  info->rank = em_rank_of(sc->quality, sc->pub.n, sc->positives, sc->pub.n_goldens);
  size_t pick = sc->order[0];
  info->golden = sc->pub.rows[info->rank.best];
  info->pick = sc->pub.rows[pick];
  info->golden_quality = sc->quality[info->rank.best];
  info->pick_quality = sc->quality[pick];
  char why[EM_WHY_LEN];
  em_err err;
  info->pick_fits = !sc->pub.space || em_space_fits(sc->pub.space, &info->pick, why);
  if (!info->pick_fits) put_note(note, "1st does not fit: %s", why);
  if (info->rank.plateau) put_note(note, "plateau %zu", info->rank.plateau);
  if (!em_row_equal(&info->golden, &info->pick)) put_differences(&info->golden, &info->pick, note);
  if (put_limits(prior, sc, info->rank.best, note, &err) != EM_OK) note->failed = true;
  info->state = EM_POOL_READY;
}
