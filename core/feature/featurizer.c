/*
 * featurizer.c - rows of a kernel's space to rows of numbers.
 *
 * Neighbours in an enumeration differ in their last levels, so the values of
 * the earlier levels are kept from one row to the next.  They are functions of the row
 * alone: batches and order change nothing but the time.
 */
#include <string.h>

#include "core/feature/feature_int.h"

static bool varies(int id)
{
  if (id < 0) return false;
  em_feature_group g = em_feature_traits_of((em_feature_id)id)->group;
  return g == EM_GROUP_candidate || g == EM_GROUP_instruction;
}

/* What the rows of one kernel on one card in one regime share. */
typedef struct em_origin {
  const em_kernel *kernel;
  const em_card *card;
  em_regime regime;
} em_origin;

static double constant_value(const em_featurizer *f, const em_origin *from, const char *name, int id)
{
  if (id == EM_F_S_warp_eligible) return f->warp_eligible ? 1.0 : NAN;
  if (id >= 0 && em_feature_traits_of((em_feature_id)id)->group == EM_GROUP_hardware)
    return em_feature_hardware(name, from->card, from->regime);
  return em_feature_find(name) ? em_kernel_stamp(from->kernel, name) : NAN;
}

static void plan_columns(em_featurizer *f, const em_origin *from, const em_columns *cols)
{
  for (size_t i = 0; i < cols->n; i++) {
    int id = em_feature_id_of(cols->names[i]);
    if (varies(id)) {
      f->constant[i] = NAN;
      f->gather[f->n_gather++] = (em_gather){(uint32_t)i, (uint32_t)id};
    } else {
      f->constant[i] = constant_value(f, from, cols->names[i], id);
    }
  }
}

/* The axes that a tile covers: a contraction's own, else the innermost free one. */
static void find_axes(em_featurizer *f, const em_nest *nest)
{
  if (nest->kind == EM_KIND_CONTRACTION) {
    if (nest->m_axis >= 0) f->axis_m = &nest->free[nest->m_axis];
    if (nest->n_axis >= 0) f->axis_n = &nest->free[nest->n_axis];
  } else if (nest->n_free > 0) {
    f->axis_n = &nest->free[nest->n_free - 1];
  }
  if (nest->has_fold) f->axis_k = &nest->fold;
}

static double size_of(const em_axis *axis, double none) { return axis && axis->hint > 0 ? (double)axis->hint : none; }

static void read_sizes(em_featurizer *f, const em_nest *nest)
{
  f->size_m = size_of(f->axis_m, 1.0);
  f->size_n = size_of(f->axis_n, 1.0);
  f->size_k = size_of(f->axis_k, 0.0);
  f->size_rest = 1.0;
  for (int i = 0; i < nest->n_free; i++)
    if (&nest->free[i] != f->axis_m && &nest->free[i] != f->axis_n) f->size_rest *= size_of(&nest->free[i], 1.0);
  f->bytes_k = nest->kind == EM_KIND_CONTRACTION ? em_dtype_bytes(nest->a.dtype) : 0.0;
}

static double stamp_or_0(const em_kernel *k, const char *name)
{
  double x = em_kernel_stamp(k, name);
  return isnan(x) ? 0.0 : x;
}

static void read_facts(em_featurizer *f, const em_origin *from)
{
  const em_kernel *k = from->kernel;
  f->free_prod = stamp_or_0(k, "S_ext_free_prod");
  f->reduce_prod = stamp_or_0(k, "S_ext_reduce_prod");
  f->serial_work = stamp_or_0(k, "S_ext_serial_cell_work");
  f->loads_f4 = stamp_or_0(k, "S_dtype_f4e2m1x2") > 0;
  f->warp_eligible = em_space_warp_eligible(f->space);
  f->sm_count = from->card->sm_count;
  f->smem_optin = (double)from->card->smem_optin;
  f->threads_per_sm = from->card->threads_per_sm;
  find_axes(f, em_kernel_nest(k));
  read_sizes(f, em_kernel_nest(k));
}

int em_featurizer_open(const em_kernel *k, const em_card *card, em_regime regime, const em_space *space,
                       const em_columns *cols, em_featurizer **out, em_err *err)
{
  em_origin from = {.kernel = k, .card = card, .regime = regime};
  em_featurizer *f = em_calloc(1, sizeof *f);
  if (!f) return em_fail_nomem(err);
  f->space = space;
  f->n_cols = cols->n;
  f->constant = em_calloc(cols->n + 1, sizeof *f->constant);
  f->gather = em_calloc(cols->n + 1, sizeof *f->gather);
  if (!f->constant || !f->gather) {
    em_featurizer_free(f);
    return em_fail_nomem(err);
  }
  read_facts(f, &from);
  plan_columns(f, &from, cols);
  *out = f;
  return EM_OK;
}

void em_featurizer_free(em_featurizer *f)
{
  if (!f) return;
  em_free(f->constant);
  em_free(f->gather);
  em_free(f);
}

void em_gather_row(const em_featurizer *f, const double *v, double *out)
{
  memcpy(out, f->constant, f->n_cols * sizeof *out);
  for (size_t g = 0; g < f->n_gather; g++) out[f->gather[g].col] = v[f->gather[g].id];
}

void em_all_missing(double *v)
{
  for (size_t i = 0; i < EM_N_FEATURE_IDS; i++) v[i] = NAN;
}

/* The values of the last row, by how much of it they depend on. */
typedef struct em_last {
  bool any;
  em_row row;
  double tile[EM_N_FEATURE_IDS];   /* WORK, TILE, REDUCE */
  double staged[EM_N_FEATURE_IDS]; /* and STAGE with the resources */
} em_last;

static bool same_tile(const em_row *a, const em_row *b)
{
  return a->present == b->present && memcmp(&a->work, &b->work, sizeof a->work) == 0 &&
         memcmp(&a->tile, &b->tile, sizeof a->tile) == 0 && memcmp(&a->reduce, &b->reduce, sizeof a->reduce) == 0;
}

static void fill_sites(const em_featurizer *f, const em_row *row, em_last *last)
{
  bool tile = last->any && same_tile(&last->row, row);
  if (tile && memcmp(&last->row.stage, &row->stage, sizeof row->stage) == 0) return;
  if (!tile) {
    em_all_missing(last->tile);
    em_feature_tile(f, row, last->tile);
  }
  memcpy(last->staged, last->tile, sizeof last->staged);
  em_feature_stage(f, row, last->staged);
  em_feature_resources(f, row, last->staged);
  last->row = *row;
  last->any = true;
}

void em_featurize(const em_featurizer *f, const em_row *rows, size_t n, double *out)
{
  em_last last = {.any = false};
  for (size_t r = 0; r < n; r++, out += f->n_cols) {
    fill_sites(f, &rows[r], &last);
    em_feature_row(f, &rows[r], last.staged);
    em_gather_row(f, last.staged, out);
  }
}
