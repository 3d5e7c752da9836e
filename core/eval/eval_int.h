/* eval_int.h - what the files of the eval folder share. */
#ifndef EM_EVAL_INT_H
#define EM_EVAL_INT_H

#include "core/eval/eval.h"

/* Fills random and first_option from the pools. */
int em_eval_baselines(const em_dataset *d, em_eval *e, em_err *err) EM_MUST_CHECK;

/* The best of p positives in a uniformly random order of n rows (1 <= p <= n): the chance
 * that its rank is r or more. */
double em_eval_chance_from(size_t n, size_t p, size_t r);
/* Summary expected of such an order over pools of rows[i] and positives[i]: counts are expected counts, rounded; the median is
 * the least rank that half of the pools are expected to reach. */
int em_eval_random(const em_eval_pool *pools, size_t n, em_rank_summary *out, em_err *err) EM_MUST_CHECK;

#endif
