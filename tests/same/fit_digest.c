/*
 * fit_digest.c - digests of fits to made-up pools, for tests/same-bytes.sh: one line a setting.
 *
 * Each setting is fitted with 1, 2 and 4 threads; exit status 1 when these differ.
 */
#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))
#include "tests/unit/fit_pools.h"

enum { POOLS = 25, ROWS = 60 };

static void die(const em_err *err)
{
  fprintf(stderr, "fit_digest: %s\n", err->msg);
  exit(1);
}

/* Times that are exact: sums and quotients of small numbers. */
static double *make_latencies(pools *p)
{
  double *all = calloc(p->n * p->rows, sizeof *all);
  if (!all) exit(1);
  for (size_t g = 0; g < p->n; g++)
    for (size_t r = 0; r < p->rows; r++)
      all[g * p->rows + r] = r == p->positives[g] ? 4 : 5 + (double)em_rng_below(3, g, r, 640) / 64;
  return all;
}

/* Of the artifact and the metrics. */
static em_digest digest_of(const pools *p, const em_fit_params *q)
{
  em_fit_result r;
  em_err err;
  em_str text = {0};
  if (em_fit_run(p->groups, p->n, q, NULL, NULL, &r, &err) != EM_OK) die(&err);
  em_prior_print(r.prior, &text);
  em_str_put(&text, r.metrics);
  if (em_str_finish(&text, &err) != EM_OK) die(&err);
  em_digest d = em_digest_bytes(text.s, text.len);
  em_str_free(&text);
  em_fit_result_free(&r);
  return d;
}

static int print_setting(const char *labels, const pools *p, em_fit_params q)
{
  char hex[33], name[EM_FIT_TEXT_LEN];
  q.threads = 1;
  em_digest one = digest_of(p, &q);
  em_digest_hex(one, hex);
  printf("%s %s, depth %d, bootstrap %d: %s\n", labels, em_fit_objective_name(&q, name), (int)q.depth, (int)q.bootstrap,
         hex);
  for (q.threads = 2; q.threads <= 4; q.threads += 2)
    if (!em_digest_eq(one, digest_of(p, &q))) {
      printf("  %d threads give other bytes\n", (int)q.threads);
      return 1;
    }
  return 0;
}

int main(void)
{
  int bad = 0;
  pools p = make_pools(POOLS, ROWS);
  em_fit_params q = quick_params();
  q.folds = 3;
  q.random_strength = 1;
  q.rsm = 0.7;
  q.iterations = 12;
  double *latencies = make_latencies(&p);
  for (int graded = 0; graded < 2; graded++) {
    for (size_t g = 0; graded && g < p.n; g++) p.groups[g].latency = latencies + g * p.rows;
    for (q.objective = 0; q.objective <= EM_OBJECTIVE_YETI; q.objective++)
      for (q.depth = 3; q.depth <= 7; q.depth += 4) {
        q.bootstrap = q.depth == 3 ? EM_BOOTSTRAP_BAYESIAN : EM_BOOTSTRAP_BERNOULLI;
        bad |= print_setting(graded ? "measured" : "golden", &p, q);
      }
  }
  free(latencies);
  free_pools(&p);
  return bad;
}
