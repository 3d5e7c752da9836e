/*
 * kernel_build.c - kernels of the common kinds, made as Loop IR text.
 *
 * A kind declares the buffers it reads and writes a body in the style of the
 * published golden files; the text then takes the same way as a file's.  What
 * is narrower than 32 bits is computed in f32.
 */
#include <inttypes.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

typedef enum dim { D_BATCH, D_M, D_N, D_K, D_ONE, N_DIMS } dim;

static const char *const dim_names[N_DIMS] = {"batch", "m", "n", "k", "1"};

typedef struct buffer {
  char name[16];
  em_dtype dtype;
  int rank;
  dim dims[3];
  char value[24];
} buffer; /* value: of a constant, "" otherwise */

#define MAX_BUFFERS 5

typedef struct builder {
  const em_build *b;
  const char *name; /* the kind's */
  int64_t size[N_DIMS];
  const char *sym[N_DIMS];
  buffer in[MAX_BUFFERS]; /* inputs, then constants */
  int n_in;
  buffer out;
  em_str body;
  int n_loads, n_values, n_axes;
  char length[24]; /* of a row, as text */
  em_err *err;
} builder;

typedef int (*body_fn)(builder *w);

/* ---- pieces of a body -------------------------------------------------------------------- */

/* A statement, after a comma unless it is the first of its block. */
static void stmt(builder *w, const char *fmt, ...) EM_PRINTF(2, 3);
static void stmt(builder *w, const char *fmt, ...)
{
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args); /* names and numbers of ours: short */
  va_end(args);
  if (w->body.len && w->body.s[w->body.len - 1] != '[') em_str_putc(&w->body, ',');
  em_str_put(&w->body, text);
}

static void put_dim(builder *w, em_str *out, dim d)
{
  if (!w->sym[d]) {
    em_str_printf(out, "%" PRId64, w->size[d]);
    return;
  }
  em_str_put(out, "{\"sym\":");
  em_str_put_json(out, w->sym[d]);
  em_str_printf(out, ",\"hint\":%" PRId64 "}", w->size[d]);
}

/* Opens a loop over a dimension; returns the number of its axis. */
static int open_loop(builder *w, dim d)
{
  stmt(w, "{\"Loop\":{\"axis\":{\"name\":\"a%d\",\"extent\":", w->n_axes);
  put_dim(w, &w->body, d);
  em_str_put(&w->body, "},\"body\":[");
  return w->n_axes++;
}

static void close_loop(builder *w) { em_str_put(&w->body, "]}}"); }

/* `index` without its brackets: "\"a0\",\"a2\"". */
static int load(builder *w, const char *from, const char *index)
{
  stmt(w, "{\"Load\":{\"names\":[\"in%d\"],\"input\":\"%s\",\"index\":[%s]}}", w->n_loads, from, index);
  return w->n_loads++;
}

static int load2(builder *w, const char *from, int i, int j)
{
  char index[32];
  snprintf(index, sizeof index, j < 0 ? "\"a%d\"" : "\"a%d\",\"a%d\"", i, j);
  return load(w, from, index);
}

/* A value's name, short enough to be passed by value. */
typedef struct ref {
  char s[16];
} ref;

static ref named(const char *prefix, int i)
{
  ref r;
  snprintf(r.s, sizeof r.s, "%s%d", prefix, i);
  return r;
}

static bool narrow(const builder *w) { return em_dtype_bytes(w->b->in) < 4; }

static ref assign(builder *w, const char *op, ref x, const ref *y, bool widen)
{
  stmt(w, "{\"Assign\":{\"name\":\"v%d\",\"op\":\"%s\",\"args\":[\"%s\"%s%s%s]%s}}", w->n_values, op, x.s,
       y ? ",\"" : "", y ? y->s : "", y ? "\"" : "", widen && narrow(w) ? ",\"dtype\":\"f32\"" : "");
  return named("v", w->n_values++);
}

static void accum(builder *w, int acc, ref value, const char *op, int axis, bool widen)
{
  stmt(w, "{\"Accum\":{\"name\":\"acc%d\",\"value\":\"%s\"%s%s%s,\"axes\":[\"a%d\"]%s}}", acc, value.s,
       op ? ",\"op\":\"" : "", op ? op : "", op ? "\"" : "", axis, widen && narrow(w) ? ",\"dtype\":\"f32\"" : "");
}

static void store(builder *w, const char *index, ref value)
{
  stmt(w, "{\"Write\":{\"output\":\"%s\",\"index\":[%s],\"values\":[\"%s\"]}}", w->name, index, value.s);
}

static void store2(builder *w, int i, int j, ref value)
{
  char index[32];
  snprintf(index, sizeof index, j < 0 ? "\"a%d\"" : "\"a%d\",\"a%d\"", i, j);
  store(w, index, value);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static const char *input(builder *w, int rank, dim d0, dim d1, dim d2)
{
  buffer *b = &w->in[w->n_in];
  *b = (buffer){.dtype = w->b->in, .rank = rank, .dims = {d0, d1, d2}};
  snprintf(b->name, sizeof b->name, "x%d", w->n_in++);
  return b->name;
}

/* A scalar of the computation, loaded at the top of the body. */
static ref constant(builder *w, const char *name, const char *value)
{
  buffer *b = &w->in[w->n_in++];
  *b = (buffer){.dtype = EM_F32, .rank = 1, .dims = {D_ONE}};
  snprintf(b->value, sizeof b->value, "%s", value);
  snprintf(b->name, sizeof b->name, "%s", name);
  return named("in", load(w, name, "\"0\""));
}

static void output(builder *w, int rank, dim d0, dim d1, dim d2)
{
  w->out = (buffer){.dtype = w->b->out ? w->b->out : w->b->in, .rank = rank, .dims = {d0, d1, d2}};
  snprintf(w->out.name, sizeof w->out.name, "%s", w->name);
}

/* ---- the kinds ---------------------------------------------------------------------------------- */

/* The epilogue of a linear: "bias" and activations, comma separated. */
static int epilogue(builder *w, int n_axis, ref *value)
{
  static const char *const known[] = {"relu", "gelu", "silu"};
  bool biased = false;
  for (const char *p = w->b->epilogue ? w->b->epilogue : ""; *p;) {
    size_t len = strcspn(p, ",");
    const char *op = NULL;
    for (size_t i = 0; i < 3; i++)
      if (strlen(known[i]) == len && !strncmp(p, known[i], len)) op = known[i];
    if (op) {
      *value = assign(w, op, *value, NULL, false);
    } else if (len == 4 && !strncmp(p, "bias", 4) && !biased) {
      ref bias = named("in", load2(w, input(w, 1, D_N, D_ONE, D_ONE), n_axis, -1));
      *value = assign(w, "add", *value, &bias, false);
      biased = true;
    } else {
      return em_fail(w->err, EM_E_USAGE,
                     "epilogue \"%.80s\": expected bias (once), relu, gelu or silu, separated by commas", p);
    }
    p += len + (p[len] == ',');
  }
  return EM_OK;
}

/* matmul, linear and bmm: B is K x N, or N x K when transposed. */
static int build_contraction(builder *w)
{
  bool batched = w->size[D_BATCH] > 0;
  char prefix[16] = "", index[48];
  dim rows = w->b->b_transposed ? D_N : D_K, cols = w->b->b_transposed ? D_K : D_N;
  const char *x0 = batched ? input(w, 3, D_BATCH, D_M, D_K) : input(w, 2, D_M, D_K, D_ONE);
  const char *x1 = batched ? input(w, 3, D_BATCH, rows, cols) : input(w, 2, rows, cols, D_ONE);
  if (batched) {
    output(w, 3, D_BATCH, D_M, D_N);
    snprintf(prefix, sizeof prefix, "\"a%d\",", open_loop(w, D_BATCH));
  } else {
    output(w, 2, D_M, D_N, D_ONE);
  }
  int m = open_loop(w, D_M), n = open_loop(w, D_N), k = open_loop(w, D_K);
  snprintf(index, sizeof index, "%s\"a%d\",\"a%d\"", prefix, m, k);
  ref a = named("in", load(w, x0, index));
  snprintf(index, sizeof index, "%s\"a%d\",\"a%d\"", prefix, w->b->b_transposed ? n : k, w->b->b_transposed ? k : n);
  ref b = named("in", load(w, x1, index));
  accum(w, 0, assign(w, "multiply", a, &b, true), NULL, k, false);
  close_loop(w);
  ref value = named("acc", 0);
  int rc = epilogue(w, n, &value);
  snprintf(index, sizeof index, "%s\"a%d\",\"a%d\"", prefix, m, n);
  store(w, index, value);
  for (int i = 0; i < 2 + batched; i++) close_loop(w);
  return rc;
}

/* Rows of length k are folded into one value each; a mean then divides. */
static void fold_rows(builder *w, const char *op, bool mean)
{
  const char *x0 = input(w, 2, D_M, D_K, D_ONE);
  output(w, 1, D_M, D_ONE, D_ONE);
  ref n = mean ? constant(w, "count", w->length) : named("", 0), value = named("acc", 0);
  int m = open_loop(w, D_M), k = open_loop(w, D_K);
  accum(w, 0, named("in", load2(w, x0, m, k)), op, k, !op);
  close_loop(w);
  if (mean) value = assign(w, "divide", value, &n, false);
  store2(w, m, -1, value);
  close_loop(w);
}

static int build_sum(builder *w)
{
  fold_rows(w, NULL, false);
  return EM_OK;
}

static int build_max(builder *w)
{
  fold_rows(w, "maximum", false);
  return EM_OK;
}

static int build_mean(builder *w)
{
  fold_rows(w, NULL, true);
  return EM_OK;
}

/* exp(x - max) of one element. */
static ref shifted_exp(builder *w, const char *x0, int m, int k)
{
  ref top = named("acc", 0), x = named("in", load2(w, x0, m, k));
  return assign(w, "exp", assign(w, "subtract", x, &top, true), NULL, false);
}

static int build_softmax(builder *w)
{
  const char *x0 = input(w, 2, D_M, D_K, D_ONE);
  output(w, 2, D_M, D_K, D_ONE);
  int m = open_loop(w, D_M), k = open_loop(w, D_K);
  accum(w, 0, named("in", load2(w, x0, m, k)), "maximum", k, false);
  close_loop(w);
  k = open_loop(w, D_K);
  accum(w, 1, shifted_exp(w, x0, m, k), NULL, k, false);
  close_loop(w);
  k = open_loop(w, D_K);
  ref sum = named("acc", 1), e = shifted_exp(w, x0, m, k);
  store2(w, m, k, assign(w, "divide", e, &sum, false));
  close_loop(w);
  close_loop(w);
  return EM_OK;
}

/* 1 / sqrt(acc / count + eps) */
static ref inverse_root(builder *w, ref acc, ref count, ref eps)
{
  ref mean = assign(w, "divide", acc, &count, false);
  return assign(w, "rsqrt", assign(w, "add", mean, &eps, false), NULL, false);
}

static int build_rms_norm(builder *w)
{
  const char *x0 = input(w, 2, D_M, D_K, D_ONE), *x1 = input(w, 1, D_K, D_ONE, D_ONE);
  output(w, 2, D_M, D_K, D_ONE);
  ref count = constant(w, "count", w->length), eps = constant(w, "eps", "1e-06");
  int m = open_loop(w, D_M), k = open_loop(w, D_K);
  accum(w, 0, assign(w, "square", named("in", load2(w, x0, m, k)), NULL, true), NULL, k, false);
  close_loop(w);
  ref root = inverse_root(w, named("acc", 0), count, eps);
  k = open_loop(w, D_K);
  ref x = named("in", load2(w, x0, m, k)), weight = named("in", load2(w, x1, k, -1));
  store2(w, m, k, assign(w, "multiply", assign(w, "multiply", x, &root, true), &weight, false));
  close_loop(w);
  close_loop(w);
  return EM_OK;
}

static int build_layer_norm(builder *w)
{
  const char *x0 = input(w, 2, D_M, D_K, D_ONE), *x1 = input(w, 1, D_K, D_ONE, D_ONE),
             *x2 = input(w, 1, D_K, D_ONE, D_ONE);
  output(w, 2, D_M, D_K, D_ONE);
  ref count = constant(w, "count", w->length), eps = constant(w, "eps", "1e-05");
  int m = open_loop(w, D_M), k = open_loop(w, D_K);
  accum(w, 0, named("in", load2(w, x0, m, k)), NULL, k, true);
  close_loop(w);
  ref mean = assign(w, "divide", named("acc", 0), &count, false);
  k = open_loop(w, D_K);
  ref centred = assign(w, "subtract", named("in", load2(w, x0, m, k)), &mean, true);
  accum(w, 1, assign(w, "square", centred, NULL, false), NULL, k, false);
  close_loop(w);
  ref root = inverse_root(w, named("acc", 1), count, eps);
  k = open_loop(w, D_K);
  centred = assign(w, "subtract", named("in", load2(w, x0, m, k)), &mean, true);
  ref weight = named("in", load2(w, x1, k, -1)), bias = named("in", load2(w, x2, k, -1));
  ref scaled = assign(w, "multiply", assign(w, "multiply", centred, &root, false), &weight, false);
  store2(w, m, k, assign(w, "add", scaled, &bias, false));
  close_loop(w);
  close_loop(w);
  return EM_OK;
}

static int build_pointwise(builder *w)
{
  const kx_op *op = kx_op_find(w->b->op ? w->b->op : "add");
  if (!op || op->max_args < 1 || op->max_args > 2)
    return em_fail(w->err, EM_E_USAGE,
                   "pointwise: found the operator \"%.80s\", expected an elementwise one of one or two arguments",
                   w->b->op);
  bool flat = w->size[D_M] == 0;
  int rank = flat ? 1 : 2;
  dim d0 = flat ? D_N : D_M, d1 = flat ? D_ONE : D_N;
  for (int i = 0; i < op->max_args; i++) input(w, rank, d0, d1, D_ONE);
  output(w, rank, d0, d1, D_ONE);
  int i = open_loop(w, d0), j = flat ? -1 : open_loop(w, d1);
  ref x = named("in", load2(w, "x0", i, j)), y = x;
  if (op->max_args == 2) y = named("in", load2(w, "x1", i, j));
  store2(w, i, j, assign(w, op->name, x, op->max_args == 2 ? &y : NULL, false));
  for (int l = 0; l < rank; l++) close_loop(w);
  return EM_OK;
}

typedef struct kind_info {
  em_build_kind pub;
  body_fn body;
  const char *may;
} kind_info;

/* `may`: which of sym_n, epilogue, op, b_transposed apply. */
static const kind_info kinds[] = {
  {{"matmul", "m n k", "C = A B; A is m x k, B is k x n (n x k when transposed)"}, build_contraction, "b_transposed"},
  {{"linear", "m n k", "Y = X W with an epilogue: bias, relu, gelu, silu; W is k x n (n x k when transposed)"},
   build_contraction,
   "b_transposed epilogue"},
  {{"bmm", "batch m n k", "a matmul for each of a batch"}, build_contraction, "b_transposed"},
  {{"reduce_sum", "m k", "the sum of each of m rows of length k"}, build_sum, ""},
  {{"reduce_mean", "m k", "the mean of each row"}, build_mean, ""},
  {{"reduce_max", "m k", "the largest of each row"}, build_max, ""},
  {{"softmax", "m k", "softmax of each row"}, build_softmax, ""},
  {{"rms_norm", "m k", "each row divided by its root mean square, times a weight"}, build_rms_norm, ""},
  {{"layer_norm", "m k", "each row normalised to mean 0 and variance 1, times a weight, plus a bias"},
   build_layer_norm,
   ""},
  {{"pointwise", "m n", "an elementwise operator over m x n elements (n when m is 0)"}, build_pointwise, "op"},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

size_t em_n_build_kinds(void) { return N_KINDS; }

const em_build_kind *em_build_kind_at(size_t i) { return &kinds[i].pub; }

/* ---- the graph ------------------------------------------------------------------------------------ */

static void put_buffer(builder *w, em_str *out, const buffer *b)
{
  em_str_printf(out, "[\"%s\",\"%s\",[", b->name, em_dtype_name(b->dtype));
  for (int i = 0; i < b->rank; i++) {
    em_str_put(out, i ? "," : "");
    put_dim(w, out, b->dims[i]);
  }
  em_str_put(out, "]]");
}

/* Names of the inputs, last first as in the published files; constants too when `all`. */
static void put_inputs(builder *w, em_str *out, bool all)
{
  bool first = true;
  for (int i = w->n_in - 1; i >= 0; i--)
    if (all || !*w->in[i].value) {
      em_str_printf(out, "%s\"%s\"", first ? "" : ",", w->in[i].name);
      first = false;
    }
}

static void put_node(builder *w, em_str *out, const buffer *b)
{
  em_str_printf(out, "{\"id\":\"%s\",\"op\":\"%s\",", b->name, *b->value ? "constant" : "input");
  if (*b->value) em_str_printf(out, "\"attrs\":{\"name\":\"%s\",\"value\":%s},", b->name, b->value);
  em_str_put(out, "\"outputs\":[");
  put_buffer(w, out, b);
  em_str_put(out, "]},");
}

static void put_graph(builder *w, em_str *text)
{
  em_str_put(text, "{\"inputs\":[");
  put_inputs(w, text, false);
  em_str_printf(text, "],\"outputs\":[\"%s\"],\"nodes\":[", w->name);
  for (int i = 0; i < w->n_in; i++) put_node(w, text, &w->in[i]);
  em_str_printf(text, "{\"id\":\"%s\",\"op\":\"loop\",\"attrs\":{\"body\":[", w->name);
  em_str_put(text, w->body.s ? w->body.s : "");
  em_str_printf(text, "],\"name\":\"k_%s\"},\"inputs\":[", w->name);
  put_inputs(w, text, true);
  em_str_put(text, "],\"outputs\":[");
  put_buffer(w, text, &w->out);
  em_str_put(text, "]}]}");
  text->failed = text->failed || w->body.failed;
}

/* ---- what is asked for ----------------------------------------------------------------------------- */

static bool has_word(const char *words, const char *word)
{
  size_t len = strlen(word);
  for (const char *p = words; (p = strstr(p, word)); p += len)
    if ((p == words || p[-1] == ' ') && (!p[len] || p[len] == ' ')) return true;
  return false;
}

static int check_dims(builder *w, const kind_info *kind)
{
  for (int d = D_BATCH; d <= D_K; d++) {
    bool takes = has_word(kind->pub.dims, dim_names[d]), optional = kind->body == build_pointwise && d == D_M;
    if (!takes && (w->size[d] || w->sym[d]))
      return em_fail(w->err, EM_E_USAGE, "%s has no dimension %s, it takes %s", kind->pub.name, dim_names[d],
                     kind->pub.dims);
    if (takes && w->size[d] < 1 && !(optional && w->size[d] == 0 && !w->sym[d]))
      return em_fail(w->err, EM_E_USAGE, "%s: dimension %s is %" PRId64 ", expected at least 1", kind->pub.name,
                     dim_names[d], w->size[d]);
    if (w->sym[d] && !em_name_is_identifier(w->sym[d]))
      return em_fail(w->err, EM_E_USAGE, "%s: \"%.80s\" cannot name dimension %s, expected letters, digits and _",
                     kind->pub.name, w->sym[d], dim_names[d]);
    for (int e = D_BATCH; w->sym[d] && e < d; e++)
      if (w->sym[e] && !strcmp(w->sym[e], w->sym[d]) && w->size[e] != w->size[d])
        return em_fail(w->err, EM_E_USAGE, "%s: \"%s\" names dimensions of different sizes", kind->pub.name, w->sym[d]);
  }
  return EM_OK;
}

static int check_options(builder *w, const kind_info *kind)
{
  const em_build *b = w->b;
  const struct {
    const char *name;
    bool given;
  } options[] = {
    {"epilogue", b->epilogue && *b->epilogue},
    {"op", b->op != NULL},
    {"b_transposed", b->b_transposed},
  };
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (options[i].given && !has_word(kind->may, options[i].name))
      return em_fail(w->err, EM_E_USAGE, "%s takes no %s", kind->pub.name, options[i].name);
  const em_dtype types[2] = {b->in, b->out ? b->out : b->in};
  for (int i = 0; i < 2; i++)
    if (types[i] != EM_F32 && types[i] != EM_F16 && types[i] != EM_BF16 && types[i] != EM_F64)
      return em_fail(w->err, EM_E_USAGE, "%s: dtype %s, expected f32, f16, bf16 or f64", kind->pub.name,
                     em_dtype_name(types[i]));
  return EM_OK;
}

static int find_kind(const char *name, const kind_info **out, em_err *err)
{
  em_str known = {0};
  for (size_t i = 0; i < N_KINDS; i++) {
    em_str_printf(&known, "%s%s", i ? ", " : "", kinds[i].pub.name);
    if (name && !strcmp(kinds[i].pub.name, name)) *out = &kinds[i];
  }
  int rc = em_str_finish(&known, err);
  if (!rc && !*out)
    rc = em_fail(err, EM_E_USAGE, "unknown kind of kernel \"%.80s\", expected %s", name ? name : "", known.s);
  em_str_free(&known);
  return rc;
}

/* The name carries the first digits of the identity, which does not depend on it. */
static int name_kernel(em_kernel *k, const char *kind, em_err *err)
{
  char hex[33], name[64];
  em_digest_hex(k->identity, hex);
  snprintf(name, sizeof name, "k_%s_%.6s", kind, hex);
  k->name = k->loop_name = em_arena_strdup(k->arena, name);
  return k->name ? EM_OK : em_fail_nomem(err);
}

int em_kernel_build(const em_build *spec, em_kernel **out, em_err *err)
{
  const kind_info *kind = NULL;
  int rc = find_kind(spec->kind, &kind, err);
  if (rc) return rc;
  builder w = {.b = spec,
               .name = kind->pub.name,
               .err = err,
               .size = {spec->batch, spec->m, spec->n, spec->k, 1},
               .sym = {spec->sym_batch, spec->sym_m, spec->sym_n}};
  em_str text = {0};
  em_kernel *k = NULL;
  if ((rc = check_dims(&w, kind)) || (rc = check_options(&w, kind))) return rc;
  snprintf(w.length, sizeof w.length, "%" PRId64, spec->k);
  if (!(rc = kind->body(&w))) {
    put_graph(&w, &text);
    rc = kx_from_text(&text, w.name, false, &k, err);
  }
  em_str_free(&w.body);
  if (!rc && (rc = name_kernel(k, w.name, err))) em_kernel_free(k);
  if (!rc) *out = k;
  return rc;
}
