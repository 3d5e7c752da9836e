/* published_columns.h - the 43 columns of the public project's shipped model, in its order. */
#ifndef EM_TESTS_PUBLISHED_COLUMNS_H
#define EM_TESTS_PUBLISHED_COLUMNS_H

#define PUBLISHED_COLUMNS                                                                                              \
  "D_aspect", "D_bn_ge_bm", "D_cells", "D_finalize_kernel", "D_l2_bk", "D_l2_bm", "D_l2_bn", "D_log2_area",            \
    "D_log2_ctas", "D_log2_waves", "D_near_kchunks", "D_neg_masked_k", "D_neg_masked_m", "D_neg_masked_n",             \
    "D_pow2_threads", "D_raster_gn", "D_raster_group", "D_reduce_ilp", "D_reduce_transposed", "D_reuse",               \
    "D_scalar_on_warp_eligible", "D_serial_cell_work", "D_splitk", "D_splitk_deficit", "D_splitk_excess",              \
    "D_splitk_roundtrip", "D_stage_async", "D_stage_depth", "D_stage_reg", "D_stage_reg_depth", "D_stage_tma",         \
    "D_threads", "D_tile_m", "D_tile_n", "D_w_grid_aspect", "D_w_grid_m", "D_w_grid_n", "D_w_l2_bk", "D_wspec_warps",  \
    "H_cc", "MMA_acc_bits", "MMA_tier", "S_ext_n_symbolic_axis"

#endif
