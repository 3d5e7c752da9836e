/* lint.h - what clang-tidy cannot see in another file: a function that reports a failure never returns EM_OK, and one that
 * succeeded has left memory. */
#include "core/base/base.h"

#define em_fail(err, code, ...)               ((em_fail)(err, code, __VA_ARGS__), (int)(code))
#define em_fail_errno(err, code, errnum, ...) ((em_fail_errno)(err, code, errnum, __VA_ARGS__), (int)(code))
#define em_fail_nomem(err)                    ((em_fail_nomem)(err), (int)EM_E_NOMEM)
#define em_fail_at(err, at, ...)              ((em_fail_at)(err, at, __VA_ARGS__), (int)EM_E_INPUT)

static inline int em_lint_grow(void *items, size_t *cap, size_t need, size_t size, em_err *err)
{
  int rc = em_grow(items, cap, need, size, err);
  if (rc == EM_OK && !*(void **)items) __builtin_unreachable();
  return rc;
}
#define em_grow em_lint_grow
