/*
 * fit_params.c - the parameters of a fit, declared once.
 */
#include <stddef.h>
#include <string.h>

#include "core/feature/feature.h"
#include "core/fit/fit_int.h"

#define INT(member)           true, NULL, offsetof(em_fit_params, member)
#define CHOICE(member, names) true, names, offsetof(em_fit_params, member)
#define REAL(member)          false, NULL, offsetof(em_fit_params, member)

static const em_fit_param PARAMS[] = {
  {"iterations", "trees of a bag", INT(iterations), 400, 1, 100000, true},
  {"depth", "splits of a tree", INT(depth), 6, 1, 10, true},
  {"bags", "boostings, each with draws of its own, whose scores are averaged; all in one model", INT(bags), 1, 1, 100,
   true},
  {"learning-rate", "share of a tree's leaf values that is kept", REAL(learning_rate), 0.1, 1e-4, 1, true},
  {"negatives", "rows a pool drawn to rank below its recorded ones; 0 = all", INT(negatives), 1000, 0, 1e6, true},
  {"folds", "folds of the cross-validation, whole shapes or cards in each; 0 = none", INT(folds), 5, 0, 1000, true},
  {"hold-out", "what a fold holds whole: shapes, each with all its cards, or cards, each with all its shapes",
   CHOICE(hold_out, "shape,card"), 0, 0, 1, true},
  {"repeats", "times that the cross-validation is done, each with the next seed; the folds stay", INT(repeats), 1, 1,
   100, false},
  {"early-stopping", "take as many trees as lower the loss of held-out pools, until so many more do not; 0 = take all",
   INT(early_stopping), 0, 0, 1e6, true},
  {"seed", "seed of every random draw", INT(seed), 0, 0, 9007199254740991.0, true},
  {"l2-leaf-reg", "pull of leaf values towards zero, in units of curvature", REAL(l2_leaf_reg), 1, 0, 1e6, true},
  {"random-strength",
   "noise on split scores, in standard deviations of a score without signal; fades as trees are added",
   REAL(random_strength), 0, 0, 1000, true},
  {"bootstrap",
   "how shapes, each with all its cards, are weighted for a tree's structure: all alike, a share of them, or by random "
   "weights",
   CHOICE(bootstrap, "none,bernoulli,bayesian"), 1, 0, 2, true},
  {"subsample", "share of the shapes in each tree's structure (bernoulli)", REAL(subsample), 0.8, 0.01, 1, true},
  {"bagging-temperature", "spread of the random weights: (-ln u)^t (bayesian)", REAL(bagging_temperature), 1, 0, 4,
   true},
  {"rsm", "share of the columns that each level of a tree may split on", REAL(rsm), 0.5, 0.01, 1, true},
  {"score", "what a split must raise", CHOICE(score, "cosine,l2"), 0, 0, 1, true},
  {"split-weight", "what a leaf's gradient is divided by in split scores: its rows, or its curvature",
   CHOICE(split_weight, "rows,curvature"), 1, 0, 1, true},
  {"leaf-method", "steps to a tree's leaf values", CHOICE(leaf_method, "newton,gradient"), 0, 0, 1, true},
  {"leaf-steps", "number of those steps; each halving of a step counts as one", INT(leaf_steps), 10, 1, 1000, true},
  {"objective", "what the trees lower", CHOICE(objective, "QuerySoftMax,PairLogit,YetiRank"), 0, 0, 2, true},
  {"labels", "which pools are learned from: golden ones, measured ones by their latencies, or both",
   CHOICE(labels, "golden,measured,both"), 0, 0, 2, true},
  {"label-temperature", "how fast a row of a measured pool counts less when it is slower: (best / latency)^(1 / t)",
   REAL(label_temperature), 0.1, 0.001, 10, true},
  {"label-smoothing", "most of a recorded row's label that the rows near it share; 0 = none (QuerySoftMax)",
   REAL(label_smoothing), 0.6, 0, 0.9, true},
  {"label-reach",
   "how near they are: d steps away, a doubling of a size or one more of a count each, counts as exp(-d / reach)",
   REAL(label_reach), 0.7, 0.01, 10, true},
  {"borders", "thresholds of a column", INT(borders), 254, 1, EM_FIT_MAX_BORDERS, true},
  {"feat-ver", "version of the columns' vocabulary", INT(feat_ver), EM_FEAT_VER, 0, 1e6, true},
  {"threads", "threads; 0 = all cores; has no influence on the result", INT(threads), 0, 0, 1024, false},
};

#undef INT
#undef CHOICE
#undef REAL

size_t em_n_fit_params(void) { return sizeof PARAMS / sizeof *PARAMS; }

const em_fit_param *em_fit_param_at(size_t i) { return &PARAMS[i]; }

const em_fit_param *em_fit_param_find(const char *name)
{
  for (size_t i = 0; i < em_n_fit_params(); i++)
    if (strcmp(PARAMS[i].name, name) == 0) return &PARAMS[i];
  return NULL;
}

static int64_t *int_of(const em_fit_param *d, em_fit_params *p) { return (int64_t *)(void *)((char *)p + d->offset); }

static double *real_of(const em_fit_param *d, em_fit_params *p) { return (double *)(void *)((char *)p + d->offset); }

double em_fit_param_get(const em_fit_param *d, const em_fit_params *p)
{
  em_fit_params copy = *p;
  return d->integer ? (double)*int_of(d, &copy) : *real_of(d, &copy);
}

void em_fit_defaults(em_fit_params *p)
{
  memset(p, 0, sizeof *p);
  for (size_t i = 0; i < em_n_fit_params(); i++) {
    const em_fit_param *d = &PARAMS[i];
    if (d->integer)
      *int_of(d, p) = (int64_t)d->dflt;
    else
      *real_of(d, p) = d->dflt;
  }
}

static int out_of_range(const em_fit_param *d, const char *found, em_err *err)
{
  char lo[EM_DOUBLE_LEN], hi[EM_DOUBLE_LEN];
  if (d->choices) return em_fail(err, EM_E_INPUT, "%s %s: expected one of %s", d->name, found, d->choices);
  if (d->integer)
    return em_fail(err, EM_E_INPUT, "%s %s: expected an integer from %lld to %lld", d->name, found, (long long)d->lo,
                   (long long)d->hi);
  return em_fail(err, EM_E_INPUT, "%s %s: expected a number from %s to %s", d->name, found, em_double_repr(d->lo, lo),
                 em_double_repr(d->hi, hi));
}

/* Number of the choice that `text` names; -1 = none. */
static int64_t choice_index(const char *choices, const char *text)
{
  size_t len = strlen(text);
  int64_t i = 0;
  for (const char *at = choices; *at; i++) {
    size_t n = strcspn(at, ",");
    if (n == len && strncmp(at, text, n) == 0) return i;
    at += n + (at[n] == ',');
  }
  return -1;
}

int em_fit_param_set(const em_fit_param *d, em_fit_params *p, const char *text, em_err *err)
{
  double x;
  if (d->choices) {
    int64_t i = choice_index(d->choices, text);
    if (i < 0) return out_of_range(d, text, err);
    *int_of(d, p) = i;
  } else if (d->integer) {
    if (!em_parse_i64(text, (int64_t)d->lo, (int64_t)d->hi, int_of(d, p))) return out_of_range(d, text, err);
  } else {
    if (!em_parse_f64(text, &x) || x < d->lo || x > d->hi) return out_of_range(d, text, err);
    *real_of(d, p) = x;
  }
  return EM_OK;
}

const char *em_fit_param_text(const em_fit_param *d, const em_fit_params *p, char buf[EM_FIT_TEXT_LEN])
{
  double x = em_fit_param_get(d, p);
  if (d->choices) {
    const char *at = d->choices;
    for (int64_t i = (int64_t)x; i > 0; i--) at += strcspn(at, ",") + 1;
    snprintf(buf, EM_FIT_TEXT_LEN, "%.*s", (int)strcspn(at, ","), at);
  } else if (d->integer) {
    snprintf(buf, EM_FIT_TEXT_LEN, "%lld", (long long)x);
  } else {
    em_double_repr(x, buf);
  }
  return buf;
}

const char *em_fit_objective_name(const em_fit_params *p, char buf[EM_FIT_TEXT_LEN])
{
  return em_fit_param_text(em_fit_param_find("objective"), p, buf);
}

int em_fit_check(const em_fit_params *p, em_err *err)
{
  for (size_t i = 0; i < em_n_fit_params(); i++) {
    const em_fit_param *d = &PARAMS[i];
    double x = em_fit_param_get(d, p);
    if (x >= d->lo && x <= d->hi) continue;
    char found[EM_FIT_TEXT_LEN];
    snprintf(found, sizeof found, d->integer ? "%.0f" : "%g", x);
    return out_of_range(d, found, err);
  }
  if (p->early_stopping > 0 && p->folds == 0)
    return em_fail(err, EM_E_INPUT,
                   "early-stopping %lld with folds 0: no pool is held out to stop by; expected folds of at least 2",
                   (long long)p->early_stopping);
  if (p->folds == 1)
    return em_fail(err, EM_E_INPUT, "folds 1: one fold leaves nothing to learn from; expected 0 or at least 2");
  return EM_OK;
}
