/* views_int.h - shared by the views. */
#ifndef EM_VIEWS_INT_H
#define EM_VIEWS_INT_H

#include "views/views.h"

#define VIEW(name) extern const em_view em_view_##name;
#include "views/views.def"
#undef VIEW

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Parameters that many views have. */
#define EM_POOL_PARAM                                                                                                  \
  {                                                                                                                    \
    "pool", EM_TEXT, true, "key, label, or a unique part of one"                                                       \
  }
#define EM_PRIOR_PARAM                                                                                                 \
  {                                                                                                                    \
    "prior", EM_TEXT, false, "file of another prior than the session's"                                                \
  }

/* "w4x1 m16n8k16_f16_f32/f1x4/k2 d2/smem-async": the decided, used values of a row,
 * with "-" for the ones left unused when nothing else is there. */
#define EM_KNOBS_SHORT EM_ROW_LEN
void em_row_short(const em_row *r, char buf[EM_KNOBS_SHORT]);

/* One family of a row as a cell: missing, unused or its spelling. */
void em_cell_family(em_cell *c, const em_row *r, em_family f);

/* The model of the session's prior. */
const em_model *em_view_model(const em_session *s);

/* What the leaves of one tree say together. */
typedef struct em_tree_figures {
  size_t leaves, empty;     /* empty: no training row fell in; 0 when rows are not known */
  double least, most, rows; /* rows NaN: the model has none */
} em_tree_figures;
void em_tree_figures_of(const em_model *m, const em_tree_view *t, em_tree_figures *out);

/* The pool of that name, scored; released by em_session_release. */
int em_pool_open(em_session *s, const char *name, const em_scored **out, em_err *err) EM_MUST_CHECK;
/* "RTX 4090 / square.1024 / what" for the title line. */
void em_put_crumb(em_str *out, const em_scored *sc, const char *what);
/* "1 leaf", "2 leaves". */
void em_put_count(em_str *out, uint64_t n, const char *one, const char *several);
/* Text, or unused when it is empty. */
void em_cell_text_or_unused(em_cell *c, const char *s);

/* Is the column aligned to the right? */
bool em_column_is_right(const em_view_column *col);

/* 32 hexadecimal digits. */
void em_cell_digest(em_cell *c, em_digest d);

/* Ranks are shown from 1. */
void em_cell_rank(em_cell *c, size_t rank);

/* A card's short name, or the name as recorded when the card is unknown. */
const char *em_card_label(const em_pool_info *i);

/* An owned copy of an argument for em_target; NULL leaves the argument out. */
bool em_target_set(em_target *t, const char *view, const char *a, const char *b, const char *c);

/* ---- two candidates of a pool: what several views compare ---- */

typedef struct em_pair {
  const em_scored *scored;
  size_t a, b;
} em_pair; /* rows of the pool */

#define EM_PAIR_PARAMS 3
extern const em_param em_pair_params[EM_PAIR_PARAMS + 1]; /* pool, a, b; prior */
extern const em_param em_tree_params[EM_PAIR_PARAMS + 2]; /* pool, a, b; tree, prior */

/* args: pool, and a and b or NULL.  Closing takes a pair that was never opened. */
int em_pair_open(em_session *s, const char *const *args, em_pair *out, em_err *err) EM_MUST_CHECK;
void em_pair_close(em_session *s, em_pair *p);
/* "pick", "golden" or a rank from 1. */
int em_pair_candidate(const em_scored *sc, const char *arg, size_t *row, em_err *err) EM_MUST_CHECK;

double em_pair_value(const em_pair *p, size_t row, size_t column);
typedef enum em_standing { EM_DIFFERS, EM_EQUAL, EM_MISSING_IN_BOTH, EM_CONSTANT, EM_N_STANDINGS } em_standing;
extern const char *const em_standing_words[EM_N_STANDINGS];
em_standing em_pair_standing(const em_pair *p, size_t column);

/* Knobs, quality, price and times side by side. */
void em_pair_head(em_session *s, const em_pair *p, em_str *out);
void em_pair_crumb(const em_pair *p, em_str *out);
/* Another view of the same two; `more` is its fourth argument, NULL = none. */
bool em_pair_target(const em_pair *p, const char *view, const char *more, em_target *out);
bool em_pair_swap(const em_pair *p, const char *view, const char *more, em_target *out); /* the other way round */

/* The two rows taken apart by the prior's model; a - b. */
typedef struct em_pair_parts {
  double *features, *trees;
} em_pair_parts; /* n_features, n_trees */
int em_pair_explain(em_session *s, const em_pair *p, em_pair_parts *out, em_err *err) EM_MUST_CHECK;
void em_pair_parts_free(em_pair_parts *p);
/* order[i]: the indices of the n values by magnitude, largest first, equal ones by index. */
uint32_t *em_order_by_size(const double *values, size_t n) EM_MUST_CHECK; /* NULL when out of memory */
/* The column of the pool's matrix that a feature of the model reads; -1 = none. */
int64_t em_pair_column(em_session *s, const em_pair *p, size_t feature);

/* "A", "B", or missing when neither is preferred; a bar of '=' for A and '-' for B, as long as its share of `most`. */
void em_cell_prefers(em_cell *c, double difference);
void em_cell_bar(em_cell *c, double difference, double most);

#endif
