/*
 * unique_keys.c - names for pools that no two share.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fit/fit_int.h"

static int by_text_then_place(const void *a, const void *b)
{
  const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
  int order = strcmp(*x, *y);
  return order ? order : (x > y) - (x < y);
}

static int text_of(const void *text, const void *b) { return strcmp(text, **(const char *const *const *)b); }

/* "key#2", or the next number that is nobody's own key. */
static int number_key(const char *key, size_t *number, const char *const **sorted, size_t n, char **out, em_err *err)
{
  for (;; ++*number) {
    em_str s = {0};
    em_str_printf(&s, "%s#%zu", key, *number);
    int rc = em_str_take(&s, out, err);
    if (rc != EM_OK || !bsearch(*out, sorted, n, sizeof *sorted, text_of)) return rc;
    em_free(*out);
    *out = NULL;
  }
}

int em_unique_keys(const char *const *keys, size_t n, char **out, em_err *err)
{
  const char *const **sorted = em_calloc(n ? n : 1, sizeof *sorted);
  if (!sorted) return em_fail_nomem(err);
  for (size_t i = 0; i < n; i++) sorted[i] = &keys[i];
  if (n > 0) qsort(sorted, n, sizeof *sorted, by_text_then_place);
  int rc = EM_OK;
  size_t number = 2;
  for (size_t i = 0; i < n && rc == EM_OK; i++) {
    char **name = &out[sorted[i] - keys];
    if (i == 0 || strcmp(*sorted[i], *sorted[i - 1]) != 0) {
      number = 2;
      if (!(*name = em_strdup(*sorted[i]))) rc = em_fail_nomem(err);
    } else {
      rc = number_key(*sorted[i], &number, sorted, n, name, err);
      number++;
    }
  }
  em_free(sorted);
  return rc;
}
