/* cmd_kernel_new.c - emmy kernel new. */
#include <string.h>

#include "tui/cli.h"

enum { MAX_DIMS = 4 };

/* Where a dimension of the table of kinds is in em_build. */
typedef struct dimension {
  const char *name;
  int64_t *size;
  const char **symbol;
} dimension;

bool em_kind_value(size_t i, em_str *name, const char **doc)
{
  if (i >= em_n_build_kinds()) return false;
  em_str_printf(name, "%s %s", em_build_kind_at(i)->name, em_build_kind_at(i)->dims);
  *doc = em_build_kind_at(i)->doc;
  return true;
}

static const em_build_kind *find_kind(const char *name, em_err *err)
{
  const char *names[32 + 1] = {0};
  em_str near = {0};
  for (size_t i = 0; i < em_n_build_kinds() && i < 32; i++) {
    const em_build_kind *k = em_build_kind_at(i);
    if (strcmp(k->name, name) == 0) return k;
    names[i] = k->name;
  }
  em_put_near(&near, name, names);
  em_fail(err, EM_E_USAGE, "kernel new: no kind is called \"%s\"%s", name, near.s ? near.s : "");
  em_str_free(&near);
  return NULL;
}

/* "512", or "seq_len=512" with the name cut off in place. */
static int read_size(char *word, const dimension *d, em_err *err)
{
  char *equals = strchr(word, '='), *digits = equals ? equals + 1 : word;
  if (!em_parse_i64(digits, 0, INT64_MAX, d->size)) /* which kind takes 0 is the builder's to say */
    return em_fail(err, EM_E_USAGE, "kernel new: size %s takes an integer, or NAME=SIZE, got \"%s\"", d->name, word);
  if (!equals) return EM_OK;
  if (!d->symbol)
    return em_fail(err, EM_E_USAGE, "kernel new: %s is no dimension of the output, it cannot be symbolic (\"%s\")",
                   d->name, word);
  *equals = '\0';
  if (!em_name_is_identifier(word))
    return em_fail(err, EM_E_USAGE, "kernel new: \"%s\" is no name for a dimension: letters, digits and _ make one",
                   word);
  *d->symbol = word;
  return EM_OK;
}

static int read_sizes(const em_args *a, const em_build_kind *kind, em_build *b, em_err *err)
{
  const dimension all[MAX_DIMS] = {
    {"batch", &b->batch, &b->sym_batch}, {"m", &b->m, &b->sym_m}, {"n", &b->n, &b->sym_n}, {"k", &b->k, NULL}};
  size_t n = 0;
  for (const char *s = kind->dims; *s;) {
    size_t len = strcspn(s, " ");
    for (int d = 0; d < MAX_DIMS; d++) {
      if (strlen(all[d].name) != len || memcmp(all[d].name, s, len) != 0) continue;
      if (n + 1 < a->n_words) {
        int rc = read_size(a->words[n + 1], &all[d], err);
        if (rc != EM_OK) return rc;
      }
    }
    n++;
    s += len + (s[len] == ' ');
  }
  if (n + 1 == a->n_words) return EM_OK;
  return em_fail(err, EM_E_USAGE, "kernel new: %s takes %zu sizes: %s, got %zu", kind->name, n, kind->dims,
                 a->n_words - 1);
}

static int read_dtype(const char *name, em_dtype *out, em_err *err)
{
  const char *names[EM_N_DTYPES + 1] = {0};
  em_str near = {0};
  *out = em_dtype_find(name);
  if (*out != EM_DTYPE_NONE) return EM_OK;
  for (int t = EM_DTYPE_NONE + 1; t < EM_N_DTYPES; t++) names[t - 1] = em_dtype_name((em_dtype)t);
  em_put_near(&near, name, names);
  em_fail(err, EM_E_USAGE, "kernel new: no type is called \"%s\"%s", name, near.s ? near.s : "");
  em_str_free(&near);
  return err->code;
}

int em_cmd_kernel_new(const em_args *a, em_err *err)
{
  const em_build_kind *kind = find_kind(a->words[0], err);
  if (!kind) return err->code;
  em_build b = {.kind = kind->name,
                .epilogue = a->opt[EM_OPT_EPILOGUE].text,
                .b_transposed = a->opt[EM_OPT_TRANSPOSED].set,
                .op = a->opt[EM_OPT_OP].set ? a->opt[EM_OPT_OP].text : NULL};
  em_kernel *k;
  em_str text = {0};
  int rc = read_sizes(a, kind, &b, err);
  if (rc == EM_OK) rc = read_dtype(a->opt[EM_OPT_DTYPE].text, &b.in, err);
  if (rc == EM_OK && a->opt[EM_OPT_OUT_DTYPE].text) rc = read_dtype(a->opt[EM_OPT_OUT_DTYPE].text, &b.out, err);
  if (rc == EM_OK) rc = em_kernel_build(&b, &k, err);
  if (rc != EM_OK) return rc;
  em_kernel_print(k, &text);
  em_str_putc(&text, '\n');
  em_kernel_free(k);
  return em_put_text(&text, err);
}
