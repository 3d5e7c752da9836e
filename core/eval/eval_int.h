/* eval_int.h - what the files of the eval folder share. */
#ifndef EM_EVAL_INT_H
#define EM_EVAL_INT_H

#include "core/eval/eval.h"

/* Is it in this half of the dataset, with `kernel` (NULL = any) in its name or label? */
bool em_eval_wanted(const em_group *g, bool measured, const char *kernel);

/* Fills random and first_option from the pools. */
int em_eval_baselines(const em_dataset *d, em_eval *e, em_err *err) EM_MUST_CHECK;

/* The best of p positives in a uniformly random order of n rows (1 <= p <= n): the chance
 * that its rank is r or more. */
double em_eval_chance_from(size_t n, size_t p, size_t r);
/* Summary expected of such an order over pools of rows[i] and positives[i]: counts are expected counts, rounded; the median is
 * the least rank that half of the pools are expected to reach. */
int em_eval_random(const em_eval_pool *pools, size_t n, em_rank_summary *out, em_err *err) EM_MUST_CHECK;

/* ---- shared by the comparisons (compare.c) ---- */

/* The members of an object by key; n of them.  NULL when out of memory. */
const cJSON **em_members_by_key(const cJSON *object, size_t *n);
/* A whole number of at least 0 among the members of a pool's entry. */
int em_entry_count(const cJSON *entry, const char *name, const char *fit, size_t *out, em_err *err) EM_MUST_CHECK;
/* 95 % interval of the mean of n changes; `means` is scratch of EM_COMPARE_DRAWS. */
void em_compare_interval(const double *change, size_t n, double *means, double *low, double *high);
em_verdict em_compare_verdict(double low, double high, size_t moved);

int em_compare_measured_make(const em_metrics *fits, const char *const *names, em_compare_measured *out,
                             em_err *err) EM_MUST_CHECK;
void em_compare_measured_free(em_compare_measured *c);

#endif
