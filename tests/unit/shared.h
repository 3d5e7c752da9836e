/* shared.h - reference files that a checkout may have beside it: tests use them
 * where they are and skip where they are not. */
#ifndef EM_TESTS_SHARED_H
#define EM_TESTS_SHARED_H

#include <stdio.h>
#include <stdlib.h>

/* Opens <shared>/name for reading; NULL when it is not there. */
static inline FILE *shared_open(const char *name)
{
  const char *root = getenv("EMMY_SHARED");
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", root ? root : "../shared", name);
  return fopen(path, "r");
}

#endif
