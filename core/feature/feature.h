/*
 * feature.h - the numbers that the model sees of a candidate.
 *
 * One registry (features.def) declares every feature: name, group, unit, the
 * tiers that define it, the formula in words.  Feature families whose members depend on the
 * kernel (S_pw_<op>, S_reduce_<op>, S_dtype_<name>) are declared as patterns.
 * A feature a candidate does not have is missing: NaN, which is not zero.
 * Where we differ from the public project, README.md of this folder says so.
 */
#ifndef EM_FEATURE_H
#define EM_FEATURE_H

#include "core/space/space.h"

/* Version of the featurizer; artifacts and datasets of another are refused.
 * Ours counts from 100 so that it never equals one of the public project's. */
#define EM_FEAT_VER 101

typedef struct em_feature {
  const char *name;  /* "D_threads"; a pattern ends in '*' */
  const char *group; /* "hardware", "operation", "candidate", "instruction" */
  const char *unit;  /* "threads", "bytes", "log2", "flag", ... */
  const char
    *tiers; /* which site kinds define it: "S W R", "smem", "kernel", "always", "knob"; words in features.def */
  const char *pooling; /* over the sites of a row: "sum", "max", "min"; "once" = not of a site */
  const char *doc;     /* the formula in words */
} em_feature;
size_t em_n_features(void);
const em_feature *em_feature_at(size_t i);           /* sorted by name */
const em_feature *em_feature_find(const char *name); /* exact name, or the pattern that covers it; NULL = unknown */

/* The views: named column selections, one line of data each ("schedule" = what the fit uses). */
const char *em_feature_view(const char *name); /* the spec; NULL = unknown */

/* An ordered list of column names. */
typedef struct em_columns {
  char **names;
  size_t n;
} em_columns;
void em_columns_free(em_columns *c);
/* Every column that this kernel's rows can have, sorted by name. */
int em_columns_all(const em_kernel *k, em_columns *out, em_err *err) EM_MUST_CHECK;
/* Those of `from` that the spec selects, in order of `from`: comma list of names or `prefix*`, leading '-' excludes,
 * "@view" stands for a view's spec; a spec that only excludes starts from everything; S_ext_n_symbolic_axis is
 * always kept.  A name or glob that selects nothing of the registry and nothing of `from` is an error with near names. */
int em_columns_select(const em_columns *from, const char *spec, em_columns *out, em_err *err) EM_MUST_CHECK;
int em_columns_copy(const em_columns *from, em_columns *out, em_err *err) EM_MUST_CHECK;
int64_t em_columns_index(const em_columns *c, const char *name); /* -1 = not there */

/* Immutable once open: one may serve many threads. */
typedef struct em_featurizer em_featurizer;
/* `space` is what em_space_open made of kernel, card and regime; kernel and space are borrowed.  A column
 * unknown to the registry is always missing. */
int em_featurizer_open(const em_kernel *k, const em_card *card, em_regime regime, const em_space *space,
                       const em_columns *cols, em_featurizer **out, em_err *err) EM_MUST_CHECK;
void em_featurizer_free(em_featurizer *f);
/* n rows -> n x cols doubles, row-major. */
void em_featurize(const em_featurizer *f, const em_row *rows, size_t n, double *out);
/* A row of any number of sites, pooled over them as the registry says.  A schedule value that does not parse
 * is EM_E_INPUT naming the key; a row of one site gives what em_featurize gives. */
int em_featurize_knobs(const em_featurizer *f, const em_knobs *row, double *out, em_err *err) EM_MUST_CHECK;

/* H_ features of a card and regime by name; NaN when it is not one. */
double em_feature_hardware(const char *name, const em_card *card, em_regime regime);

#endif
