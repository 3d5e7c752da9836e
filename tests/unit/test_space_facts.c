/* Recorded configurations lie in the pools of their kernels: each published measurement is
 * looked up in the space of its kernel on its card, the piece's where it names a split. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "core/space/space.h"
#include "tests/unit/shared.h"

enum { N_COLUMNS = 20, MAX_LINE = 2048, MAX_POOLS = 1024, MAX_OUTSIDE = 64, KEY_LEN = 512 };
enum {
  GPU,
  CC,
  KIND,
  NAME,
  M,
  N,
  K,
  IN,
  OUT,
  DYNAMIC,
  FAST,
  WORK,
  TILE,
  REDUCE,
  STAGE,
  RASTER,
  US,
  REF_US,
  REF_BACKEND,
  SOURCE
};

typedef struct pool {
  char key[KEY_LEN];
  uint64_t leaves;
} pool;
typedef struct tally {
  size_t facts, n_pools, outside;
  uint64_t leaves;
  pool pools[MAX_POOLS];
  char refusals[MAX_OUTSIDE][EM_WHY_LEN + KEY_LEN];
} tally;

static bool split_columns(char *line, char *column[N_COLUMNS])
{
  int n = 0;
  line[strcspn(line, "\n")] = '\0';
  for (char *s = line; s && n < N_COLUMNS; n++) column[n] = strsep(&s, "\t");
  return n == N_COLUMNS;
}

static const char *value(const char *column) { return strcmp(column, "-") == 0 ? "" : column; }
static int64_t number(const char *column) { return strtoll(column, NULL, 10); }

/* The kernel that was measured, whole. */
static em_kernel *kernel_of(char *const *c)
{
  em_build b = {.kind = strcmp(c[KIND], "linear_bias") ? c[KIND] : "linear",
                .m = number(c[M]),
                .n = number(c[N]),
                .k = number(c[K])};
  b.in = em_dtype_find(c[IN]);
  b.out = em_dtype_find(c[OUT]);
  if (strcmp(c[KIND], "linear_bias") == 0) b.epilogue = "bias";
  b.b_transposed = strstr(c[SOURCE], "B=NxK") != NULL;
  if (strcmp(c[DYNAMIC], "-")) b.sym_m = c[DYNAMIC];
  em_err err;
  em_kernel *k = NULL;
  if (em_kernel_build(&b, &k, &err)) fail_msg("%s %s: %s", c[KIND], c[NAME], err.msg);
  return k;
}

/* A split is a decision about kernels: the row is the first piece's, without the g token. */
static em_kernel *piece_of(em_kernel *k, char *reduce)
{
  int width = 0, used = 0;
  char finalize = 0;
  if (sscanf(reduce, "g%d%c%n", &width, &finalize, &used) < 2) return k;
  em_kernel *pieces[2] = {NULL, NULL};
  size_t n = 0;
  em_err err;
  if (em_kernel_split(k, width, finalize, pieces, &n, &err)) fail_msg("g%d%c: %s", width, finalize, err.msg);
  em_kernel_free(k);
  if (n == 2) em_kernel_free(pieces[1]);
  if (reduce[used] == '/') used++;
  memmove(reduce, reduce + used, strlen(reduce + used) + 1);
  return pieces[0];
}

static void count_pool(tally *t, const char *key, const em_space *s)
{
  for (size_t i = 0; i < t->n_pools; i++)
    if (strcmp(t->pools[i].key, key) == 0) return;
  assert_true(t->n_pools < MAX_POOLS);
  pool *p = &t->pools[t->n_pools++];
  snprintf(p->key, sizeof p->key, "%s", key);
  p->leaves = em_space_count(s);
  t->leaves += p->leaves;
}

static void check_fact(tally *t, char *const *c)
{
  em_err err;
  char key[KEY_LEN], text[EM_ROW_LEN], why[EM_WHY_LEN], reduce[EM_VALUE_LEN];
  snprintf(reduce, sizeof reduce, "%s", value(c[REDUCE]));
  em_kernel *k = piece_of(kernel_of(c), reduce);
  em_regime regime = EM_REGIME_DEFAULT;
  regime.fast_math = c[FAST][0] == '1';
  const em_card *card = em_card_lookup(c[GPU]);
  assert_non_null(card);
  em_space *s = NULL;
  if (em_space_open(k, card, regime, &s, &err)) fail_msg("%s", err.msg);
  char hex[33];
  em_digest_hex(em_kernel_identity(k), hex);
  snprintf(key, sizeof key, "%s %s %s %s", c[GPU], hex, c[FAST], strcmp(c[DYNAMIC], "-") ? c[M] : "");
  count_pool(t, key, s);
  snprintf(text, sizeof text, "WORK=%s TILE=%s REDUCE=%s STAGE=%s RASTER=%s", value(c[WORK]), value(c[TILE]), reduce,
           value(c[STAGE]), value(c[RASTER]));
  em_row row;
  if (em_row_parse(text, &row, &err)) fail_msg("%s", err.msg);
  row = em_space_normalise(s, &row);
  t->facts++;
  if (!em_space_contains(s, &row, why)) {
    assert_true(t->outside < MAX_OUTSIDE);
    snprintf(t->refusals[t->outside++], sizeof t->refusals[0], "%s | %s %sx%sx%s%s%s", why, c[KIND], c[M], c[N], c[K],
             c[DYNAMIC][0] == '-' ? "" : " dynamic ", text);
  }
  em_space_free(s);
  em_kernel_free(k);
}

static bool read_facts(tally *t, const char *name)
{
  FILE *f = shared_open(name);
  char line[MAX_LINE];
  if (!f) return false;
  for (int n = 0; fgets(line, sizeof line, f); n++) {
    char *column[N_COLUMNS];
    assert_true(split_columns(line, column));
    if (n > 0) check_fact(t, column);
  }
  fclose(f);
  return true;
}

static int by_leaves(const void *a, const void *b)
{
  uint64_t x = ((const pool *)a)->leaves, y = ((const pool *)b)->leaves;
  return (x > y) - (x < y);
}

static bool has_refusal(const tally *t, const char *start)
{
  for (size_t i = 0; i < t->outside; i++)
    if (strncmp(t->refusals[i], start, strlen(start)) == 0) return true;
  return false;
}

static void test_facts(void **state)
{
  (void)state;
  static tally t;
  if (!read_facts(&t, "facts/golden-facts.tsv") || !read_facts(&t, "facts/golden-facts-pieces.tsv")) skip();
  qsort(t.pools, t.n_pools, sizeof t.pools[0], by_leaves);
  print_message("%zu facts, %zu pools, %llu candidates, median %llu, largest %llu\n", t.facts, t.n_pools,
                (unsigned long long)t.leaves, (unsigned long long)t.pools[t.n_pools / 2].leaves,
                (unsigned long long)t.pools[t.n_pools - 1].leaves);
  for (size_t i = 0; i < t.outside; i++) print_message("outside: %s\n", t.refusals[i]);
  assert_int_equal(t.facts, 445);
  /* The honest outsiders: two rows of an older catalog and one whose raster needs a static M. */
  assert_int_equal(t.outside, 3);
  assert_true(has_refusal(&t, "WORK t128x8: "));
  assert_true(has_refusal(&t, "RASTER gm8: a free axis is symbolic"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_facts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
