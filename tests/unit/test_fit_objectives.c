/* test_fit_objectives.c - graded labels and the objectives on pairs: derivatives, properties, problems solved by hand. */
#include "tests/unit/unit.h"

#include "tests/unit/fit_pools.h"

/* Latencies that follow the made-up rule only a little: any positive times. */
static double *make_latencies(pools *p)
{
  double *all = calloc(p->n * p->rows, sizeof *all);
  for (size_t g = 0; g < p->n; g++) {
    double *us = all + g * p->rows;
    uint32_t best = 0;
    for (size_t r = 0; r < p->rows; r++) {
      us[r] = 10 + 5 * em_rng_f64(3, g, r) + (r == p->positives[g] ? -5 : 0);
      if (us[r] < us[best]) best = (uint32_t)r;
    }
    p->positives[g] = best;
    p->groups[g].latency = us;
  }
  return all;
}

static void make_set(const pools *p, const em_fit_params *q, em_fit_set *out)
{
  em_err err;
  uint32_t *use = calloc(p->n, sizeof *use);
  for (size_t i = 0; i < p->n; i++) use[i] = (uint32_t)i;
  assert_int_equal(em_fit_set_make(p->groups, use, p->n, q, out, &err), EM_OK);
  free(use);
}

static double *make_scores(const em_fit_set *s)
{
  double *score = calloc(s->n_rows, sizeof *score);
  for (size_t i = 0; i < s->n_rows; i++) score[i] = em_rng_f64(5, 0, i) * 4 - 2;
  return score;
}

/* ---- graded labels ---------------------------------------------------------------------- */

/* target = (best / t)^(1 / temperature), all of a pool together 1. */
static void targets_are_ratios_of_latencies(void **state)
{
  (void)state;
  pools p = make_pools(5, 30);
  double *us = make_latencies(&p);
  em_fit_params q = quick_params();
  em_fit_set s;
  q.label_temperature = 0.5;
  make_set(&p, &q, &s);
  for (size_t g = 0; g < p.n; g++) {
    const double *t = p.groups[g].latency;
    double best = t[p.positives[g]], sum = 0;
    for (size_t r = 0; r < p.rows; r++) sum += pow(best / t[r], 2);
    for (size_t r = 0; r < p.rows; r++) assert_true(fabs(s.target[s.start[g] + r] - pow(best / t[r], 2) / sum) < 1e-9);
    assert_true(fabs(s.total[g] - 1) < 1e-8);
  }
  em_fit_set_free(&s);
  free(us);
  free_pools(&p);
}

static void softmax_derivatives_of_graded_labels(void **state)
{
  (void)state;
  pools p = make_pools(4, 12);
  double *us = make_latencies(&p);
  em_fit_params q = quick_params();
  em_fit_set s;
  make_set(&p, &q, &s);
  double *score = make_scores(&s), *mass = calloc(s.n_rows, sizeof *mass), *other = calloc(s.n_rows, sizeof *other);
  em_fit_softmax(&s, score, mass, 1);
  const double h = 1e-3;
  for (size_t i = 0; i < s.n_rows; i++) {
    double at = score[i];
    score[i] = at + h;
    double up = em_fit_softmax(&s, score, other, 1);
    score[i] = at - h;
    double down = em_fit_softmax(&s, score, other, 1);
    score[i] = at;
    assert_true(fabs((down - up) / (2 * h) - (s.target[i] - s.total[s.group[i]] * mass[i])) < 2e-5);
  }
  free(score);
  free(mass);
  free(other);
  em_fit_set_free(&s);
  free(us);
  free_pools(&p);
}

static void latencies_must_be_times(void **state)
{
  (void)state;
  const double bad[] = {0, -1, NAN, INFINITY};
  pools p = make_pools(5, 30);
  double *us = make_latencies(&p);
  for (size_t i = 0; i < N_OF(bad); i++) {
    em_err err;
    em_prior *prior;
    em_fit_params q = quick_params();
    double was = us[3];
    us[3] = bad[i];
    assert_int_equal(em_fit_train(p.groups, p.n, &q, NULL, NULL, &prior, &err), EM_E_INPUT);
    assert_non_null(strstr(err.msg, "candidate 3 has latency"));
    us[3] = was;
  }
  free(us);
  free_pools(&p);
}

/* ---- pairs --------------------------------------------------------------------------------- */

typedef struct paired {
  pools p;
  double *us, *score;
  em_fit_params q;
  em_fit_set s;
  em_fit_pairs pairs;
} paired;

static void open_pairs(paired *o, int64_t objective, bool graded, size_t n, size_t rows)
{
  em_err err;
  *o = (paired){.p = make_pools(n, rows), .q = quick_params()};
  if (graded) o->us = make_latencies(&o->p);
  o->q.objective = objective;
  make_set(&o->p, &o->q, &o->s);
  o->score = make_scores(&o->s);
  assert_int_equal(em_fit_pairs_open(&o->pairs, &o->s, &o->q, &err), EM_OK);
  if (objective == EM_OBJECTIVE_YETI) em_fit_pairs_draw(&o->pairs, &o->s, &o->q, o->score, 0);
}

static void close_pairs(paired *o)
{
  em_fit_pairs_close(&o->pairs);
  em_fit_set_free(&o->s);
  free(o->us);
  free(o->score);
  free_pools(&o->p);
}

/* Pairs fixed. First and second derivative by differences of the loss; gradients of a pool add up to 0. */
static void check_derivatives(int64_t objective, bool graded)
{
  paired o;
  open_pairs(&o, objective, graded, 4, 12);
  const double h = 1e-2;
  double loss = em_fit_pairs_derive(&o.pairs, &o.s, o.score, 1);
  em_fit_slope *slope = calloc(o.s.n_rows, sizeof *slope);
  memcpy(slope, o.pairs.slope, o.s.n_rows * sizeof *slope);
  for (size_t g = 0; g < o.s.n_groups; g++) {
    int64_t sum = 0;
    assert_true(o.pairs.n[g] > 0);
    for (size_t i = o.s.start[g]; i < o.s.start[g + 1]; i++) {
      double at = o.score[i], grad = (double)slope[i].grad / EM_FIT_ONE_GRAD,
             curv = (double)slope[i].curv / EM_FIT_ONE_GRAD;
      o.score[i] = at + h;
      double up = em_fit_pairs_derive(&o.pairs, &o.s, o.score, 1);
      o.score[i] = at - h;
      double down = em_fit_pairs_derive(&o.pairs, &o.s, o.score, 1);
      o.score[i] = at;
      assert_true(fabs((down - up) / (2 * h) - grad) < 2e-5);
      assert_true(fabs((up - 2 * loss + down) / (h * h) - curv) < 1e-4);
      sum += slope[i].grad;
    }
    assert_int_equal(sum, 0);
  }
  free(slope);
  close_pairs(&o);
}

static void pair_derivatives(void **state)
{
  (void)state;
  check_derivatives(EM_OBJECTIVE_PAIRS, false);
  check_derivatives(EM_OBJECTIVE_PAIRS, true);
  check_derivatives(EM_OBJECTIVE_YETI, false);
  check_derivatives(EM_OBJECTIVE_YETI, true);
}

/* Every recorded row above every other; weights of a pool add up to its recorded rows. */
static void pair_logit_takes_all_pairs(void **state)
{
  (void)state;
  paired o;
  open_pairs(&o, EM_OBJECTIVE_PAIRS, false, 4, 12);
  for (size_t g = 0; g < 4; g++) {
    assert_int_equal(o.pairs.n[g], 11);
    for (size_t i = o.pairs.start[g]; i < o.pairs.start[g] + 11; i++) {
      assert_int_equal(o.s.label[o.pairs.pairs[i].win], 1);
      assert_int_equal(o.s.label[o.pairs.pairs[i].lose], 0);
      assert_true(fabs(o.pairs.pairs[i].weight - 1.0 / 11) < 1e-15);
    }
  }
  close_pairs(&o);
  open_pairs(&o, EM_OBJECTIVE_PAIRS, true, 2, 12);
  assert_int_equal(o.pairs.n[0], 66);
  close_pairs(&o);
}

/* 300 graded rows have 44,850 pairs, more than are taken: a draw of them, the faster row first. */
static void many_pairs_are_drawn(void **state)
{
  (void)state;
  paired o;
  open_pairs(&o, EM_OBJECTIVE_PAIRS, true, 1, 300);
  double sum = 0;
  assert_true(o.pairs.n[0] <= EM_FIT_MAX_PAIRS && o.pairs.n[0] > EM_FIT_MAX_PAIRS * 9 / 10);
  for (size_t i = 0; i < o.pairs.n[0]; i++) {
    assert_true(o.us[o.s.pool_row[o.pairs.pairs[i].win]] < o.us[o.s.pool_row[o.pairs.pairs[i].lose]]);
    sum += o.pairs.pairs[i].weight;
  }
  assert_true(fabs(sum - o.s.total[0]) < 1e-9);
  close_pairs(&o);
}

/* Ten orders; no pool gives more than all places of an order could weigh: 0.15 / (1 - 0.85) = 1, and only pairs with
 * different labels. Two draws differ, the same draw does not. */
static void yeti_draws_neighbours(void **state)
{
  (void)state;
  paired o;
  open_pairs(&o, EM_OBJECTIVE_YETI, false, 3, 200);
  em_fit_pair first[64];
  size_t n = o.pairs.n[0];
  assert_true(n > 0 && n <= 20);
  memcpy(first, o.pairs.pairs, n * sizeof *first);
  for (size_t g = 0; g < 3; g++) {
    double sum = 0;
    for (size_t i = o.pairs.start[g]; i < o.pairs.start[g] + o.pairs.n[g]; i++) {
      assert_true(o.s.label[o.pairs.pairs[i].win] && !o.s.label[o.pairs.pairs[i].lose]);
      assert_int_equal(o.s.group[o.pairs.pairs[i].lose], g);
      sum += o.pairs.pairs[i].weight;
    }
    assert_true(sum > 0 && sum <= 1);
  }
  em_fit_pairs_draw(&o.pairs, &o.s, &o.q, o.score, 1);
  assert_true(n != o.pairs.n[0] || memcmp(first, o.pairs.pairs, n * sizeof *first) != 0);
  em_fit_pairs_draw(&o.pairs, &o.s, &o.q, o.score, 0);
  assert_int_equal(o.pairs.n[0], n);
  assert_memory_equal(first, o.pairs.pairs, n * sizeof *first);
  close_pairs(&o);
}

/* All latencies differ, so each neighbour of an order is a pair: place k has 0.15 * 0.85^k of the difference, a tenth of it an
 * order. */
static void yeti_weighs_a_pair_by_its_place(void **state)
{
  (void)state;
  enum { ROWS = 30, NEIGHBOURS = ROWS - 1 };
  paired o;
  open_pairs(&o, EM_OBJECTIVE_YETI, true, 1, ROWS);
  assert_int_equal(o.pairs.n[0], 10 * NEIGHBOURS);
  for (size_t i = 0; i < 10 * NEIGHBOURS; i++) {
    const em_fit_pair *pair = &o.pairs.pairs[i];
    double apart = o.s.target[pair->win] - o.s.target[pair->lose];
    assert_true(apart > 0);
    assert_float_equal(pair->weight / apart, 0.015 * pow(0.85, (double)(i % NEIGHBOURS)), 1e-12);
  }
  close_pairs(&o);
}

/* Adding a constant to a pool's scores changes neither loss nor derivatives. */
static void a_constant_per_pool_changes_nothing(void **state)
{
  (void)state;
  paired o;
  open_pairs(&o, EM_OBJECTIVE_PAIRS, false, 6, 12);
  for (size_t i = 0; i < o.s.n_rows; i++) o.score[i] = (double)(em_rng_u64(5, 0, i) % 64) / 8;
  double before = em_fit_pairs_derive(&o.pairs, &o.s, o.score, 1);
  em_fit_slope *slope = calloc(o.s.n_rows, sizeof *slope);
  memcpy(slope, o.pairs.slope, o.s.n_rows * sizeof *slope);
  for (size_t i = 0; i < o.s.n_rows; i++) o.score[i] += 4.0 * (double)o.s.group[i];
  assert_true(em_fit_pairs_derive(&o.pairs, &o.s, o.score, 1) == before);
  assert_memory_equal(slope, o.pairs.slope, o.s.n_rows * sizeof *slope);
  free(slope);
  close_pairs(&o);
}

/* One recorded row in leaf 1, the others in leaf 0: loss ln(1 + exp(-2 v)) + l2 v^2, v the value of leaf 1. */
static void newton_on_pairs_by_hand(void **state)
{
  (void)state;
  paired o;
  em_err err;
  em_fit_leaves l;
  open_pairs(&o, EM_OBJECTIVE_PAIRS, false, 1, 5);
  uint16_t leaf[5];
  for (size_t i = 0; i < 5; i++) {
    o.score[i] = 0;
    leaf[i] = o.s.label[i];
  }
  em_fit_pairs_derive(&o.pairs, &o.s, o.score, 1);
  assert_int_equal(em_fit_leaves_open(&l, 2, &err), EM_OK);
  l.n = 2;
  o.q.leaf_steps = 100;
  o.q.l2_leaf_reg = 0.5;
  em_fit_pairs_leaves(&o.pairs, &o.s, leaf, &o.q, &l);
  double v = 0; /* 1 / (1 + exp(2 v)) = l2 v, by halving */
  for (double lo = 0, hi = 4; hi - lo > 1e-12;) {
    v = (lo + hi) / 2;
    if (1 / (1 + exp(2 * v)) > 0.5 * v)
      lo = v;
    else
      hi = v;
  }
  assert_true(fabs(l.value[1] - v) < 1e-5 && fabs(l.value[0] + v) < 1e-5);
  assert_true(l.weight[0] == 4 && l.weight[1] == 1);
  em_fit_leaves_close(&l);
  close_pairs(&o);
}

/* ---- whole fits ---------------------------------------------------------------------------- */

static em_fit_result run(const pools *p, const em_fit_params *q)
{
  em_err err = {0};
  em_fit_result r;
  if (em_fit_run(p->groups, p->n, q, NULL, NULL, &r, &err) != EM_OK) fail_msg("%s", err.msg);
  return r;
}

/* Every objective learns the rule, gives the same bytes with one thread and three, and names itself. */
static void every_objective_learns(void **state)
{
  (void)state;
  static const char *const names[] = {"QuerySoftMax", "PairLogit", "YetiRank"};
  for (int64_t objective = 0; objective < 3; objective++)
    for (int graded = 0; graded < 2; graded++) {
      pools p = make_pools(40, 60);
      double *us = graded ? make_latencies(&p) : NULL;
      em_fit_params q = quick_params();
      q.objective = objective;
      q.iterations = 30;
      em_fit_result one = run(&p, &q);
      q.threads = 3;
      em_fit_result three = run(&p, &q);
      assert_string_equal(one.metrics, three.metrics);
      assert_string_equal(em_prior_digest(one.prior), em_prior_digest(three.prior));
      assert_non_null(strstr(one.metrics, names[objective]));
      double quality[60], sum = 0;
      em_err err;
      for (size_t g = 0; g < p.n; g++) {
        assert_int_equal(em_prior_score(one.prior, p.groups[g].cols, p.groups[g].matrix, 60, 1, quality, &err), EM_OK);
        sum += (double)em_rank_of(quality, 60, &p.positives[g], 1).against;
      }
      assert_true(sum / 40 < 12); /* a random order has 29.5 */
      em_fit_result_free(&one);
      em_fit_result_free(&three);
      free(us);
      free_pools(&p);
    }
}

static void no_memory(void **state)
{
  (void)state;
  pools p = make_pools(6, 12);
  em_err err;
  em_prior *prior;
  em_fit_params q = quick_params();
  q.iterations = 2;
  for (q.objective = EM_OBJECTIVE_PAIRS; q.objective <= EM_OBJECTIVE_YETI; q.objective++)
    ASSERT_SURVIVES_NOMEM(em_fit_train(p.groups, p.n, &q, NULL, NULL, &prior, &err), em_prior_free(prior));
  free_pools(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(targets_are_ratios_of_latencies),
    cmocka_unit_test(softmax_derivatives_of_graded_labels),
    cmocka_unit_test(latencies_must_be_times),
    cmocka_unit_test(pair_derivatives),
    cmocka_unit_test(pair_logit_takes_all_pairs),
    cmocka_unit_test(many_pairs_are_drawn),
    cmocka_unit_test(yeti_draws_neighbours),
    cmocka_unit_test(yeti_weighs_a_pair_by_its_place),
    cmocka_unit_test(a_constant_per_pool_changes_nothing),
    cmocka_unit_test(newton_on_pairs_by_hand),
    cmocka_unit_test(every_objective_learns),
    cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
