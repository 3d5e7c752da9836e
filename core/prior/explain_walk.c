/*
 * explain_walk.c - the SHAP values of one tree: one walk over its nodes.
 *
 * Reaching a leaf needs, of each feature on its path, either that the feature is known and the row answers that
 * way (`one`), or that it is not known and the background went that way (`zero`, the product of its shares).
 * At the point t a feature is known with probability t; its factor is t * one + (1 - t) * zero, and its SHAP value is
 * the integral of (one - zero) times the other features' factors times the leaf's value.
 */
#include <math.h>
#include <string.h>

#include "core/prior/explain_int.h"

/* ---- Gauss's rule ---------------------------------------------------------------------------- */

void em_gauss_free(em_gauss *g)
{
  em_free(g->t);
  em_free(g->w);
  *g = (em_gauss){0};
}

/* P_n(x) and its derivative. */
static double legendre(size_t n, double x, double *derivative)
{
  double a = 1, b = x;
  for (size_t k = 2; k <= n; k++) {
    double next = ((double)(2 * k - 1) * x * b - (double)(k - 1) * a) / (double)k;
    a = b;
    b = next;
  }
  *derivative = (double)n * (x * b - a) / (x * x - 1);
  return b;
}

/* Newton's steps from the usual first guess reach a root of P_n in a few rounds. */
static double legendre_root(size_t n, size_t i, double *derivative)
{
  double x = cos(M_PI * ((double)i + 0.75) / ((double)n + 0.5));
  for (int round = 0; round < 20; round++) {
    double step = legendre(n, x, derivative) / *derivative;
    x -= step;
    if (fabs(step) < 1e-15) break;
  }
  legendre(n, x, derivative);
  return x;
}

int em_gauss_new(size_t n, em_gauss *out, em_err *err)
{
  em_gauss g = {.n = n, .t = em_calloc(n, sizeof *g.t), .w = em_calloc(n, sizeof *g.w)};
  if (!g.t || !g.w) {
    em_gauss_free(&g);
    return em_fail_nomem(err);
  }
  for (size_t i = 0; i < n; i++) {
    double slope, x = legendre_root(n, i, &slope);
    g.t[i] = (1 + x) / 2;
    g.w[i] = 1 / ((1 - x * x) * slope * slope);
  }
  *out = g;
  return EM_OK;
}

/* ---- the walk ---------------------------------------------------------------------------------- */

typedef struct fraction {
  double zero;
  bool one;
} fraction;

struct em_walk {
  const em_gauss *rule;
  const em_xtree *tree;
  const bool *answer;
  double *phi;
  double *down;   /* level x point: the product of the factors so far */
  double *up;     /* level x point: the sum over the leaves below of value times product */
  fraction *path; /* by slot */
};

void em_walk_free(em_walk *w)
{
  if (!w) return;
  em_free(w->down);
  em_free(w->up);
  em_free(w->path);
  em_free(w);
}

em_walk *em_walk_new(const em_gauss *rule, size_t depth, size_t n_features)
{
  em_walk *w = em_calloc(1, sizeof *w);
  if (!w) return NULL;
  w->rule = rule;
  w->down = em_calloc(depth + 1, rule->n * sizeof *w->down);
  w->up = em_calloc(depth + 1, rule->n * sizeof *w->up);
  w->path = em_calloc(n_features + 1, sizeof *w->path);
  if (w->down && w->up && w->path) return w;
  em_walk_free(w);
  return NULL;
}

static double factor(fraction f, double t) { return (f.one ? t : 0) + (1 - t) * f.zero; }

/* (one - zero) / factor: never 0 / 0, as zero cancels where one is 0. */
static double coefficient(fraction f, double t) { return f.one ? (1 - f.zero) / factor(f, t) : -1 / (1 - t); }

/* The feature's factor changes from `was` to `now`, which has the share of the side taken on top. */
static void multiply(const em_walk *w, size_t level, fraction was, fraction now, double share)
{
  const double *from = w->down + level * w->rule->n;
  double *to = w->down + (level + 1) * w->rule->n;
  for (size_t q = 0; q < w->rule->n; q++) {
    double t = w->rule->t[q];
    to[q] = from[q] * (was.one ? factor(now, t) / factor(was, t) : share);
  }
}

/* The leaves below have `now` on their paths where those above were reckoned with `was`. */
static double collect(const em_walk *w, size_t level, fraction was, fraction now)
{
  double *to = w->up + level * w->rule->n;
  const double *from = w->up + (level + 1) * w->rule->n;
  double sum = 0;
  for (size_t q = 0; q < w->rule->n; q++) {
    double t = w->rule->t[q];
    to[q] += from[q];
    if (was.one) sum += w->rule->w[q] * (coefficient(now, t) - coefficient(was, t)) * from[q];
  }
  return sum;
}

static void walk(em_walk *w, uint32_t at, size_t level)
{
  const em_xnode *n = &w->tree->nodes[at];
  size_t points = w->rule->n;
  double *up = w->up + level * points;
  for (size_t q = 0; q < points; q++) up[q] = n->child[0] ? 0 : n->value * w->down[level * points + q];
  for (int side = 0; side < 2 && n->child[0]; side++) {
    fraction was = w->path[n->slot];
    fraction now = {was.zero * n->share[side], was.one && w->answer[n->question] == (side == 1)};
    if (!now.one && now.zero == 0) continue; /* no leaf there is ever reached */
    multiply(w, level, was, now, n->share[side]);
    w->path[n->slot] = now;
    walk(w, n->child[side], level + 1);
    w->path[n->slot] = was;
    w->phi[n->slot] += collect(w, level, was, now);
  }
}

void em_walk_tree(em_walk *w, const em_xtree *x, const bool *answer, double *phi)
{
  w->tree = x;
  w->answer = answer;
  w->phi = phi;
  for (size_t i = 0; i < x->n_features; i++) {
    w->path[i] = (fraction){1, true}; /* asked nothing yet: factor 1 */
    phi[i] = 0;
  }
  for (size_t q = 0; q < w->rule->n; q++) w->down[q] = 1;
  walk(w, 0, 0);
}
