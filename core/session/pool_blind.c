/* pool_blind.c - candidates that a prior cannot tell apart: equal qualities, equal rows. */
#include <math.h>
#include <stdlib.h>

#include "core/session/session_int.h"

size_t em_scored_plateau(const em_scored *sc, size_t row)
{
  size_t end = sc->against[row], at = sc->rank_of[row];
  while (at > 0 && sc->quality[sc->order[at - 1]] == sc->quality[row]) at--;
  return end - at;
}

/* Columns of the matrix that the model splits on.  One that the pool lacks is missing in every row. */
typedef struct used {
  size_t *columns;
  size_t n;
} used;

static int find_used(const em_prior *prior, const em_scored *sc, used *out, em_err *err)
{
  const em_model *m = em_prior_model(prior);
  const em_columns *cols = em_prior_columns(prior);
  *out = (used){.columns = em_calloc(cols->n + 1, sizeof *out->columns)};
  if (!out->columns) return em_fail_nomem(err);
  for (size_t f = 0; f < cols->n; f++) {
    size_t borders;
    em_model_borders(m, f, &borders);
    int64_t at = em_columns_index(sc->cols, cols->names[f]);
    if (borders && at >= 0) out->columns[out->n++] = (size_t)at;
  }
  return EM_OK;
}

/* The value as splits compare it; all that is missing is one value, and so is zero. */
static float seen(const em_scored *sc, size_t row, size_t column)
{
  float v = (float)sc->matrix[row * sc->cols->n + column];
  return isnan(v) ? NAN : v == 0 ? 0 : v;
}

static bool same(float a, float b) { return a == b || (isnan(a) && isnan(b)); }

static bool is_blind(const em_scored *sc, const used *u, size_t a, size_t b)
{
  for (size_t i = 0; i < u->n; i++)
    if (!same(seen(sc, a, u->columns[i]), seen(sc, b, u->columns[i]))) return false;
  return true;
}

int em_scored_blind(const em_prior *prior, const em_scored *sc, size_t row, uint32_t **out, size_t *n, em_err *err)
{
  used u;
  uint32_t *rows = NULL;
  size_t found = 0, cap = 0;
  int rc = find_used(prior, sc, &u, err);
  if (rc == EM_OK) rc = em_grow(&rows, &cap, 1, sizeof *rows, err);
  for (size_t r = 0; r < sc->n && rc == EM_OK; r++) {
    /* Equal rows have equal qualities: that is asked first. */
    if (r == row || sc->quality[r] != sc->quality[row] || !is_blind(sc, &u, r, row)) continue;
    rc = em_grow(&rows, &cap, found + 1, sizeof *rows, err);
    if (rc == EM_OK) rows[found++] = (uint32_t)r;
  }
  em_free(u.columns);
  if (rc != EM_OK) {
    em_free(rows);
    return rc;
  }
  *out = rows;
  *n = found;
  return EM_OK;
}

/* ---- all groups ---- */

enum { ROWS_AT_ONCE = 4096 }; /* between two looks at whether to go on */

typedef struct tagged {
  em_digest digest;
  uint32_t row;
} tagged;

static int by_digest(const void *a, const void *b)
{
  const tagged *x = a, *y = b;
  if (x->digest.hi != y->digest.hi) return x->digest.hi < y->digest.hi ? -1 : 1;
  if (x->digest.lo != y->digest.lo) return x->digest.lo < y->digest.lo ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

static int tag_rows(const em_scored *sc, const used *u, tagged *tags, em_err *err)
{
  float *values = em_calloc(u->n + 1, sizeof *values);
  if (!values) return em_fail_nomem(err);
  int rc = EM_OK;
  for (size_t r = 0; r < sc->n && rc == EM_OK; r++) {
    if (r % ROWS_AT_ONCE == 0) rc = em_progress_step(NULL, "blind pairs", r, sc->n, err);
    for (size_t i = 0; i < u->n; i++) values[i] = seen(sc, r, u->columns[i]);
    tags[r] = (tagged){em_digest_bytes(values, u->n * sizeof *values), (uint32_t)r};
  }
  em_free(values);
  return rc;
}

int em_scored_blind_groups(const em_prior *prior, const em_scored *sc, uint32_t *first, em_err *err)
{
  used u;
  if (find_used(prior, sc, &u, err) != EM_OK) return err->code;
  tagged *tags = em_calloc(sc->n + 1, sizeof *tags);
  int rc = EM_E_NOMEM;
  if (!tags) {
    em_fail_nomem(err);
  } else if ((rc = tag_rows(sc, &u, tags, err)) == EM_OK) {
    qsort(tags, sc->n, sizeof *tags, by_digest);
    for (size_t i = 0; i < sc->n; i++)
      first[tags[i].row] = i && em_digest_eq(tags[i].digest, tags[i - 1].digest) ? first[tags[i - 1].row] : tags[i].row;
  }
  em_free(tags);
  em_free(u.columns);
  return rc;
}
