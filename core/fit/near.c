/*
 * near.c - label smoothing: rows near a recorded one share its label.
 *
 * Which of some close candidates was recorded is often chance: their latencies differ by less than a measurement
 * does.  Told that all but one are wrong, the trees learn that chance.  So a part of the label goes to the rows
 * that are a few steps away in the knobs, the less the further; a step is a doubling of a size or one more of a
 * count.  A tile counts by its block, its cells and its threads, so that two rows with other tiles are
 * further apart than two with other rings.
 */
#include <math.h>

#include "core/fit/fit_int.h"

/* What a step is counted in: columns that follow the knobs, not what they amount to on a card. */
static const struct {
  const char *column;
  bool doublings;
} coordinates[] = {
  {"D_cell_m", true},         {"D_cell_n", true},           {"D_l2_bm", false},
  {"D_l2_bn", false},         {"D_raster_gn", false},       {"D_raster_group", false},
  {"D_reduce_columns", true}, {"D_reduce_ilp", true},       {"D_reduce_transposed", false},
  {"D_splitk", true},         {"D_stage_async", false},     {"D_stage_depth", false},
  {"D_stage_out", false},     {"D_stage_reg_depth", false}, {"D_stage_tma", false},
  {"D_threads", true},        {"D_tile_m", true},           {"D_tile_n", true},
  {"D_w_l2_bk", false},       {"D_wspec_warps", false},     {"MMA_acc_bits", false},
  {"MMA_tier", false},
};
enum { N_COORDINATES = sizeof coordinates / sizeof *coordinates };

static const double FARTHEST = 2; /* steps that one coordinate can count */

/* The coordinates that a pool has. */
typedef struct em_frame {
  size_t n;
  size_t column[N_COORDINATES];
  bool doublings[N_COORDINATES];
} em_frame;

static em_frame frame_of(const em_fit_group *pool)
{
  em_frame f = {.n = 0};
  for (size_t i = 0; i < N_COORDINATES; i++) {
    int64_t at = em_columns_index(pool->cols, coordinates[i].column);
    if (at < 0) continue;
    f.column[f.n] = (size_t)at;
    f.doublings[f.n++] = coordinates[i].doublings;
  }
  return f;
}

/* NaN where the row lacks it. */
static double coordinate(const em_frame *f, size_t i, const double *row)
{
  double x = row[f->column[i]];
  if (!isfinite(x)) return NAN;
  return f->doublings[i] ? em_fit_log(x < 0.5 ? 0.5 : x) * EM_FIT_LOG2_E : x;
}

static double steps_between(const em_frame *f, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < f->n; i++) {
    double x = coordinate(f, i, a), y = coordinate(f, i, b);
    if (isnan(x) && isnan(y)) continue;
    double steps = isnan(x) || isnan(y) ? 1 : fabs(x - y);
    sum += steps < FARTHEST ? steps : FARTHEST;
  }
  return sum;
}

static double steps_to_recorded(const em_frame *f, const em_fit_group *pool, const double *row)
{
  double least = INFINITY;
  for (size_t i = 0; i < pool->n_positives; i++) {
    double steps = steps_between(f, row, pool->matrix + pool->positives[i] * pool->cols->n);
    if (steps < least) least = steps;
  }
  return least;
}

void em_fit_share_labels(em_fit_set *s, size_t g, const em_fit_params *p)
{
  const em_fit_group *pool = s->groups[g];
  const em_frame f = frame_of(pool);
  if (f.n == 0) return; /* nothing says which rows are near */
  size_t begin = s->start[g], end = s->start[g + 1];
  int64_t whole = 0; /* fixed point, so that the order of the rows does not matter */
  for (size_t i = begin; i < end; i++) {
    if (s->label[i]) continue;
    double steps = steps_to_recorded(&f, pool, pool->matrix + s->pool_row[i] * pool->cols->n);
    s->target[i] = em_fit_exp(-steps / p->label_reach);
    whole += em_fit_fixed(s->target[i], EM_FIT_ONE_EXP);
  }
  double near = (double)whole / EM_FIT_ONE_EXP, labels = (double)pool->n_positives, share = near / (near + labels);
  if (share > p->label_smoothing) share = p->label_smoothing;
  double each = near > 0 ? share * labels / near : 0, sum = 0;
  for (size_t i = begin; i < end; i++) {
    double target = s->label[i] ? 1 - share : s->target[i] * each;
    s->target[i] = (double)em_fit_fixed(target, EM_FIT_ONE_GRAD) / EM_FIT_ONE_GRAD;
    sum += s->target[i];
  }
  s->total[g] = sum;
}
