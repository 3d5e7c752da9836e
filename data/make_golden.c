/* make_golden.c - the files of data/golden from data/golden-facts.tsv, one file a card.
 *
 *   make_golden FACTS FOLDER
 *
 * A fact is one measured configuration of one plain kernel.  A REDUCE that starts with a
 * split (g4a, g4k) is a decision about which kernels exist: it becomes a routing row and
 * the row of the piece that our own split makes.  With `a` the piece is the whole set, so
 * the time is its own.  With `k` the time is that of two kernels together, for which the
 * format has no place: the piece's row is then a proposal, and counted. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/store/store.h"

/* The columns of the facts: X(id, name). */
#define COLUMNS(X)                                                                                                     \
  X(GPU_NAME, "gpu_name")                                                                                              \
  X(COMPUTE_CAP, "compute_cap") X(KIND, "kind") X(NAME, "name") X(M, "M") X(N, "N") X(K, "K") X(DTYPE_IN, "dtype_in")  \
    X(DTYPE_OUT, "dtype_out") X(DYNAMIC, "dynamic") X(FAST_MATH, "fast_math") X(WORK, "WORK") X(TILE, "TILE")          \
      X(REDUCE, "REDUCE") X(STAGE, "STAGE") X(RASTER, "RASTER") X(US, "us") X(REFERENCE_US, "reference_us")            \
        X(REFERENCE_BACKEND, "reference_backend") X(SOURCE, "source")
#define COLUMN_ENUM(id, name) COL_##id,
enum { COLUMNS(COLUMN_ENUM) N_COLUMNS };
#define COLUMN_NAME(id, name) name,
static const char *const column_names[] = {COLUMNS(COLUMN_NAME)};

typedef struct fact {
  char *field[N_COLUMNS];
} fact;

/* One card's file while it grows. */
typedef struct file {
  const em_card *card;
  em_golden *golden;
  size_t measured, proposals;
} file;

typedef struct files {
  file items[64];
  size_t n;
} files;

/* ---- reading -------------------------------------------------------------------------- */

static int split_line(char *line, fact *f, em_err *err)
{
  int n = 0;
  for (char *p = line; p; n++) {
    char *tab = strchr(p, '\t');
    if (tab) *tab++ = '\0';
    if (n < N_COLUMNS) f->field[n] = p;
    p = tab;
  }
  return n == N_COLUMNS ? EM_OK : em_fail(err, EM_E_INPUT, "found %d columns, expected %d", n, (int)N_COLUMNS);
}

static int check_header(const fact *f, em_err *err)
{
  for (int i = 0; i < N_COLUMNS; i++)
    if (strcmp(f->field[i], column_names[i]))
      return em_fail(err, EM_E_INPUT, "found column \"%s\", expected \"%s\"", f->field[i], column_names[i]);
  return EM_OK;
}

/* "-" is the empty spelling. */
static const char *text(const fact *f, int column) { return strcmp(f->field[column], "-") ? f->field[column] : ""; }

static int size(const fact *f, int column, int64_t *out, em_err *err)
{
  *out = 0;
  if (!*text(f, column) || em_parse_i64(f->field[column], 1, INT32_MAX, out)) return EM_OK;
  return em_fail(err, EM_E_INPUT, "%s: found \"%s\", expected a size", column_names[column], f->field[column]);
}

static int time_us(const fact *f, int column, double *out, em_err *err)
{
  *out = NAN;
  if (!*text(f, column) || (em_parse_f64(f->field[column], out) && *out > 0)) return EM_OK;
  return em_fail(err, EM_E_INPUT, "%s: found \"%s\", expected microseconds", column_names[column], f->field[column]);
}

/* ---- kernels --------------------------------------------------------------------------- */

static int build_kernel(const fact *f, em_kernel **out, em_err *err)
{
  bool bias = !strcmp(f->field[COL_KIND], "linear_bias");
  em_build b = {.kind = bias ? "linear" : f->field[COL_KIND],
                .epilogue = bias ? "bias" : NULL,
                .in = em_dtype_find(f->field[COL_DTYPE_IN]),
                .out = em_dtype_find(f->field[COL_DTYPE_OUT]),
                .b_transposed = strstr(f->field[COL_SOURCE], "B=NxK") != NULL};
  if (*text(f, COL_DYNAMIC)) b.sym_m = f->field[COL_DYNAMIC];
  int rc = size(f, COL_M, &b.m, err);
  if (!rc) rc = size(f, COL_N, &b.n, err);
  if (!rc) rc = size(f, COL_K, &b.k, err);
  return rc ? rc : em_kernel_build(&b, out, err);
}

/* "g4a/coop": width 4, 'a', rest "coop".  False when there is no split. */
static bool parse_split(const char *reduce, int *width, char *finalize, const char **rest)
{
  char *end;
  if (*reduce != 'g') return false;
  *width = (int)strtol(reduce + 1, &end, 10);
  *finalize = *end;
  *rest = *end && end[1] == '/' ? end + 2 : *end ? end + 1 : end;
  return true;
}

/* The kernel that the row belongs to: the fact's own, or the piece of its split. */
static int add_kernels(file *to, const fact *f, size_t *kernel, const char **reduce, bool *timed, em_err *err)
{
  em_kernel *whole, *pieces[2];
  size_t n = 0, children[2] = {0};
  int width;
  char finalize;
  *reduce = text(f, COL_REDUCE);
  *timed = true;
  int rc = build_kernel(f, &whole, err);
  if (rc) return rc;
  if (!parse_split(text(f, COL_REDUCE), &width, &finalize, reduce))
    return em_golden_add_kernel(to->golden, whole, true, kernel, err);
  *timed = finalize == 'a';
  rc = em_kernel_split(whole, width, finalize, pieces, &n, err);
  if (rc) {
    em_kernel_free(whole);
    return rc;
  }
  rc = em_golden_add_kernel(to->golden, whole, true, kernel, err);
  size_t parent = rc ? 0 : *kernel;
  for (size_t i = 0; i < n; i++) {
    if (rc)
      em_kernel_free(pieces[i]);
    else
      rc = em_golden_add_kernel(to->golden, pieces[i], true, &children[i], err);
  }
  em_knobs arm = {0};
  char value[EM_VALUE_LEN];
  snprintf(value, sizeof value, "g%d%c", width, finalize);
  if (!rc) rc = em_knobs_set(&arm, "REDUCE", value, err);
  if (!rc) rc = em_golden_put_routing(to->golden, parent, &arm, children, n, err);
  em_knobs_free(&arm);
  *kernel = children[0];
  return rc;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* The families that a kernel of the kind has. */
static int set_knobs(em_kind kind, const fact *f, const char *reduce, em_knobs *out, em_err *err)
{
  static const struct {
    const char *name;
    int column;
    bool pointwise, reduce;
  } families[] = {
    {"WORK", COL_WORK, true, true},     {"TILE", COL_TILE, true, false},    {"REDUCE", COL_REDUCE, false, true},
    {"STAGE", COL_STAGE, false, false}, {"RASTER", COL_RASTER, true, true},
  };
  int rc = EM_OK;
  for (size_t i = 0; i < sizeof families / sizeof *families && !rc; i++) {
    const char *value = families[i].column == COL_REDUCE ? reduce : text(f, families[i].column);
    bool has = kind == EM_KIND_CONTRACTION || (kind == EM_KIND_POINTWISE ? families[i].pointwise : families[i].reduce);
    if (has)
      rc = em_knobs_set(out, families[i].name, value, err);
    else if (*value)
      rc = em_fail(err, EM_E_INPUT, "%s: found \"%s\", but a %s kernel has no such knob", families[i].name, value,
                   em_kind_name(kind));
  }
  return rc;
}

static int add_row(file *to, const fact *f, size_t kernel, const char *reduce, bool timed, em_err *err)
{
  bool fast = !strcmp(f->field[COL_FAST_MATH], "1");
  em_binding binding = {.sym = f->field[COL_DYNAMIC]};
  em_golden_row row = {.name = f->field[COL_NAME],
                       .kernel = kernel,
                       .pins = fast ? "{\"FAST_MATH\":true}" : "{\"FAST_MATH\":false}",
                       .regime = {.fast_math = fast, .opt = 3},
                       .has_knobs = true,
                       .measured = timed,
                       .tried = -1,
                       .reference_us = NAN};
  int rc = EM_OK;
  if (*text(f, COL_DYNAMIC)) {
    rc = size(f, COL_M, &binding.size, err);
    row.bindings = &binding;
    row.n_bindings = 1;
  }
  if (!rc && timed) rc = time_us(f, COL_US, &row.us, err);
  if (!rc && timed) rc = time_us(f, COL_REFERENCE_US, &row.reference_us, err);
  if (timed && *text(f, COL_REFERENCE_BACKEND)) row.reference_backend = f->field[COL_REFERENCE_BACKEND];
  if (!rc) rc = set_knobs(em_kernel_kind(to->golden->kernels[kernel].kernel), f, reduce, &row.knobs, err);
  if (!rc) rc = em_golden_add_row(to->golden, &row, err);
  em_knobs_free(&row.knobs);
  to->measured += !rc && timed;
  to->proposals += !rc && !timed;
  return rc;
}

static int find_file(files *all, const fact *f, file **out, em_err *err)
{
  const em_card *card;
  int rc = em_card_find(f->field[COL_GPU_NAME], &card, err);
  for (size_t i = 0; i < all->n && !rc; i++) {
    if (all->items[i].card == card) {
      *out = &all->items[i];
      return EM_OK;
    }
  }
  char cap[16];
  if (!rc) {
    snprintf(cap, sizeof cap, "%d.%d", card->cc_major, card->cc_minor);
    if (strcmp(cap, f->field[COL_COMPUTE_CAP]))
      rc = em_fail(err, EM_E_INPUT, "compute_cap: found %s, but %s has %s", f->field[COL_COMPUTE_CAP], card->name, cap);
  }
  if (!rc && all->n == sizeof all->items / sizeof *all->items)
    rc = em_fail(err, EM_E_INPUT, "more than %zu cards", all->n);
  if (rc) return rc;
  *out = &all->items[all->n];
  **out = (file){.card = card};
  rc = em_golden_new(card->name, card->cc_major, card->cc_minor, &(*out)->golden, err);
  all->n += !rc;
  return rc;
}

static int add_fact(files *all, const fact *f, em_err *err)
{
  file *to = NULL;
  size_t kernel = 0;
  const char *reduce = "";
  bool timed = false;
  int rc = find_file(all, f, &to, err);
  if (!rc) rc = add_kernels(to, f, &kernel, &reduce, &timed, err);
  return rc ? rc : add_row(to, f, kernel, reduce, timed, err);
}

static int read_facts(const char *path, char *facts, files *all, em_err *err)
{
  size_t number = 0;
  for (char *line = facts, *next; *line; line = next) {
    fact f = {{0}};
    char *end = strchr(line, '\n');
    next = end ? end + 1 : line + strlen(line);
    if (end) *end = '\0';
    int rc = split_line(line, &f, err);
    if (!rc) rc = number ? add_fact(all, &f, err) : check_header(&f, err);
    number++;
    if (rc) return em_err_prefix(err, "%s: line %zu", path, number);
  }
  return EM_OK;
}

/* ---- writing ------------------------------------------------------------------------------- */

static int write_files(const files *all, const char *folder, em_err *err)
{
  int rc = em_mkdirs(folder, err);
  for (size_t i = 0; i < all->n && !rc; i++) {
    const file *f = &all->items[i];
    em_str path = {0};
    em_str_printf(&path, "%s/%s_sm%d.json", folder, f->card->short_name, em_card_cc(f->card));
    rc = em_str_finish(&path, err);
    if (rc) break;
    rc = em_golden_write(f->golden, path.s, err);
    if (!rc)
      printf("%s: %zu kernels, %zu decisions, %zu measured rows, %zu proposals (timed only as a set)\n", path.s,
             f->golden->n_kernels, f->golden->n_routing, f->measured, f->proposals);
    em_str_free(&path);
  }
  return rc;
}

int main(int argc, char **argv)
{
  em_err err;
  char *facts;
  size_t len;
  files all = {.n = 0};
  if (argc != 3) {
    fprintf(stderr, "usage: make_golden FACTS FOLDER\n");
    return em_exit_status(EM_E_USAGE);
  }
  int rc = em_file_read(argv[1], &facts, &len, &err);
  if (!rc) {
    rc = read_facts(argv[1], facts, &all, &err);
    em_free(facts);
  }
  if (!rc) rc = write_files(&all, argv[2], &err);
  for (size_t i = 0; i < all.n; i++) em_golden_free(all.items[i].golden);
  if (rc) fprintf(stderr, "make_golden: %s\n", err.msg);
  return rc ? em_exit_status(err.code) : 0;
}
