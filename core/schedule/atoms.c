/* atoms.c - the table of tensor-core instructions, in offer order. */
#include "core/schedule/schedule.h"

#include <limits.h>
#include <string.h>

#define ANY_LATER INT_MAX

/* clang-format off */
static const em_atom atoms[] = {
  {.name = "mma_m8n8k4_f16_f32", .m = 16, .n = 16, .k = 4, .cell_m = 16, .cell_n = 16, .ab = EM_F16, .acc = EM_F32,
   .acc_regs = 8, .cc_min = 70, .cc_below = 80}, /* four quadrants of 8 x 8 x 4 */
  {.name = "mma_m16n8k16_f16_f32", .m = 16, .n = 8, .k = 16, .cell_m = 16, .cell_n = 8, .ab = EM_F16, .acc = EM_F32,
   .acc_regs = 4, .cc_min = 80, .cc_below = ANY_LATER},
  {.name = "mma_m16n8k16_bf16_f32", .m = 16, .n = 8, .k = 16, .cell_m = 16, .cell_n = 8, .ab = EM_BF16, .acc = EM_F32,
   .acc_regs = 4, .cc_min = 80, .cc_below = ANY_LATER},
  {.name = "mma_m16n8k16_f16_f16", .m = 16, .n = 8, .k = 16, .cell_m = 16, .cell_n = 8, .ab = EM_F16, .acc = EM_F16,
   .acc_regs = 2, .cc_min = 80, .cc_below = ANY_LATER, .precision_gated = true},
  {.name = "mma_m16n8k32_e4m3_f32", .m = 16, .n = 8, .k = 32, .cell_m = 16, .cell_n = 8, .ab = EM_F8E4M3, .acc = EM_F32,
   .acc_regs = 4, .cc_min = 89, .cc_below = ANY_LATER, .precision_gated = true},
  {.name = "mma_m16n8k32_e5m2_f32", .m = 16, .n = 8, .k = 32, .cell_m = 16, .cell_n = 8, .ab = EM_F8E5M2, .acc = EM_F32,
   .acc_regs = 4, .cc_min = 89, .cc_below = ANY_LATER, .precision_gated = true},
  {.name = "mma_m16n8k64_e2m1_f32", .m = 16, .n = 8, .k = 64, .cell_m = 16, .cell_n = 8, .ab = EM_F4E2M1X2, .acc = EM_F32,
   .acc_regs = 4, .cc_min = 120, .cc_below = 130}, /* plus one scale per 16 */
  {.name = "wgmma_m64n64k16_f16_f32", .m = 64, .n = 64, .k = 16, .cell_m = 16, .cell_n = 8, .ab = EM_F16, .acc = EM_F32,
   .acc_regs = 4, .cc_min = 90, .cc_below = 100, .wgmma = true},
  {.name = "wgmma_m64n128k16_f16_f32", .m = 64, .n = 128, .k = 16, .cell_m = 16, .cell_n = 8, .ab = EM_F16, .acc = EM_F32,
   .acc_regs = 4, .cc_min = 90, .cc_below = 100, .wgmma = true},
  {.name = "wgmma_m64n256k16_f16_f32", .m = 64, .n = 256, .k = 16, .cell_m = 16, .cell_n = 8, .ab = EM_F16, .acc = EM_F32,
   .acc_regs = 4, .cc_min = 90, .cc_below = 100, .wgmma = true},
};
/* clang-format on */

enum { N_ATOMS = sizeof atoms / sizeof atoms[0] };

size_t em_n_atoms(void) { return N_ATOMS; }

const em_atom *em_atom_at(size_t i) { return i < N_ATOMS ? &atoms[i] : NULL; }

int em_atom_find(const char *name, size_t len)
{
  for (int i = 0; i < N_ATOMS; i++)
    if (strlen(atoms[i].name) == len && memcmp(atoms[i].name, name, len) == 0) return i;
  return -1;
}

bool em_atom_on_card(const em_atom *a, const em_card *c)
{
  int cc = em_card_cc(c);
  return a->cc_min <= cc && cc < a->cc_below;
}
