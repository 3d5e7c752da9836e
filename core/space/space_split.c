/*
 * space_split.c - the splits of a reduction across blocks, offered as structural
 * choices (reference formats.md sections 4.3 and 4.8).
 *
 * Whether a kernel can be split is known where it is split: each width is tried
 * on the kernel, so that an offered split can always be made.
 */
#include "core/space/space.h"

int em_space_splits(const em_kernel *k, void (*fn)(void *ctx, int width, char finalize), void *ctx, em_err *err)
{
  static const int widths[] = {2, 4, 8, 16, 32, 64};
  static const char finalizes[] = {'k', 'a'};
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
    for (size_t j = 0; j < sizeof finalizes; j++) {
      em_kernel *pieces[2] = {NULL, NULL};
      size_t n = 0;
      int rc = em_kernel_split(k, widths[i], finalizes[j], pieces, &n, err);
      for (size_t p = 0; p < n; p++) em_kernel_free(pieces[p]);
      if (rc == EM_OK)
        fn(ctx, widths[i], finalizes[j]);
      else if (rc != EM_E_INPUT)
        return rc;
    }
  return EM_OK;
}
