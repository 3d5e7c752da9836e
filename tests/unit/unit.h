/* unit.h - what every unit test includes first: cmocka and what it needs. */
#ifndef EM_TESTS_UNIT_H
#define EM_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/base.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* Runs `call` (which returns an em_code) with the 1st, 2nd, ... allocation
 * failing until it succeeds.  Each failure must be EM_E_NOMEM and must leave as
 * many live blocks as there were.  After the success `undo` gives back what it
 * made. */
#define ASSERT_SURVIVES_NOMEM(call, undo)                                                                              \
  do {                                                                                                                 \
    int64_t live_ = em_alloc_live();                                                                                   \
    for (uint64_t n_ = 1;; n_++) {                                                                                     \
      em_alloc_fail_at(n_, false);                                                                                     \
      int rc_ = (call);                                                                                                \
      em_alloc_fail_at(0, false);                                                                                      \
      if (rc_ == EM_OK) break;                                                                                         \
      assert_int_equal(rc_, EM_E_NOMEM);                                                                               \
      assert_int_equal(em_alloc_live(), live_);                                                                        \
      assert_true(n_ < 100000);                                                                                        \
    }                                                                                                                  \
    undo;                                                                                                              \
    assert_int_equal(em_alloc_live(), live_);                                                                          \
  } while (0)

#endif
