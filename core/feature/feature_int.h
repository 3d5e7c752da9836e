/* feature_int.h - what the files of this folder share. */
#ifndef EM_FEATURE_INT_H
#define EM_FEATURE_INT_H

#include <math.h>

#include "core/feature/feature.h"

/* An id per line of the registry, in its order. */
#define FEATURE(id, group, unit, tiers, pooling, doc) EM_F_##id,
#define PATTERN(id, group, unit, tiers, doc)          EM_F_##id,
#define KNOB(id, unit, doc)                           EM_F_##id,
typedef enum em_feature_id {
#include "core/feature/features.def"
  EM_N_FEATURE_IDS
} em_feature_id;

/* Suffixes as the registry spells them. */
typedef enum em_feature_group {
  EM_GROUP_hardware,
  EM_GROUP_operation,
  EM_GROUP_candidate,
  EM_GROUP_instruction
} em_feature_group;
typedef enum em_site_pooling { EM_SITES_sum, EM_SITES_max, EM_SITES_min, EM_SITES_once } em_site_pooling;
typedef enum em_feature_form { EM_FORM_FEATURE, EM_FORM_PATTERN, EM_FORM_KNOB } em_feature_form;

/* The columns of the registry that only the code needs, by id. */
typedef struct em_feature_traits {
  em_feature_group group;
  em_site_pooling pooling;
  em_feature_form form;
} em_feature_traits;
const em_feature_traits *em_feature_traits_of(em_feature_id id);
/* The id of an exact name, or -1. */
int em_feature_id_of(const char *name);

/* Which of the featurizer's columns shows which candidate feature. */
typedef struct em_gather {
  uint32_t col;
  uint32_t id;
} em_gather;

struct em_featurizer {
  const em_space *space;
  size_t n_cols;
  double *constant; /* a row with the values that all rows share, NaN elsewhere */
  em_gather *gather;
  size_t n_gather;
  /* Facts of kernel and card that the formulas use. */
  double free_prod, reduce_prod, serial_work, sm_count, smem_optin, threads_per_sm;
  double size_m, size_n, size_k,
    size_rest;    /* of the tile's axes, 1 where none (k: 0), and of the other free ones; symbolic: the hint */
  double bytes_k; /* of an element of the left operand; 0 = no such */
  bool warp_eligible, loads_f4;
  const em_axis *axis_m, *axis_n, *axis_k; /* of the tile; NULL = no such axis */
};

/* One site's features into `v`, indexed by id; `v` is NaN where they go. */
void em_feature_tile(const em_featurizer *f, const em_row *site, double *v);
void em_feature_stage(const em_featurizer *f, const em_row *site, double *v);
void em_feature_cover(const em_featurizer *f, const em_row *site, double *v);
void em_feature_launch(const em_featurizer *f, const em_row *site, const em_resources *r, double *v);
void em_feature_resources(const em_featurizer *f, const em_row *site, double *v);
/* The features that do not belong to a site; after the sites. */
void em_feature_row(const em_featurizer *f, const em_row *row, double *v);

void em_all_missing(double *v);
/* From values by id to the featurizer's columns. */
void em_gather_row(const em_featurizer *f, const double *v, double *out);

#endif
