/*
 * kernel.h - a GPU kernel's definition as Loop IR.
 *
 * A kernel is read from the JSON of the public golden files (reference
 * formats.md section 2), checked once while it is read, and then immutable and
 * shareable between threads.  What can be said about it without a schedule is
 * said here: its identity, its kind, its structure stamps (S_ features) and
 * the loop nest that the space enumerates.
 *
 * Axis extents are static (> 0) or symbolic (a name with a size hint).  Size
 * hints never enter identity, stamps or legality.
 */
#ifndef EM_KERNEL_H
#define EM_KERNEL_H

#include "core/base/base.h"

/* Statement and expression nesting beyond this is refused. */
#define EM_NEST_DEPTH 64
#define EM_MAX_RANK   8

/* X(id, spelling, bytes).  Packed f4 holds two values in its byte. */
#define EM_DTYPES(X)                                                                                                   \
  X(F64, "f64", 8)                                                                                                     \
  X(F32, "f32", 4) X(F16, "f16", 2) X(BF16, "bf16", 2) X(F8E4M3, "f8e4m3", 1) X(F8E5M2, "f8e5m2", 1)                   \
    X(F4E2M1X2, "f4e2m1x2", 1) X(F16X2, "f16x2", 4) X(I16, "i16", 2) X(I32, "i32", 4) X(I64, "i64", 8) X(U8, "u8", 1)  \
      X(U16, "u16", 2) X(U32, "u32", 4) X(U64, "u64", 8) X(BOOL, "bool", 1)

#define EM_DTYPE_ENUM(id, name, bytes) EM_##id,
typedef enum em_dtype { EM_DTYPE_NONE, EM_DTYPES(EM_DTYPE_ENUM) EM_N_DTYPES } em_dtype;
#undef EM_DTYPE_ENUM

const char *em_dtype_name(em_dtype t); /* "?" for EM_DTYPE_NONE */
int em_dtype_bytes(em_dtype t);        /* 0 for EM_DTYPE_NONE */
em_dtype em_dtype_find(const char *name);

/* X(id, spelling): the coarse kind of a kernel. */
#define EM_KINDS(X)            X(POINTWISE, "pointwise") X(REDUCE, "reduce") X(CONTRACTION, "contraction") X(OTHER, "other")
#define EM_KIND_ENUM(id, name) EM_KIND_##id,
typedef enum em_kind { EM_KINDS(EM_KIND_ENUM) EM_N_KINDS } em_kind;
#undef EM_KIND_ENUM
const char *em_kind_name(em_kind k);

typedef struct em_kernel em_kernel;

/* Reads one kernel from the `loop_ir` object of a golden file.  `name` is the
 * C kernel name (an identifier; NULL takes the one inside the Loop IR); `at`
 * says where the object stands.  The tree is not kept. */
int em_kernel_parse(const cJSON *loop_ir, const char *name, const em_place *at, em_kernel **out,
                    em_err *err) EM_MUST_CHECK;
/* The same from text (a store column, a file): `file` is for messages. */
int em_kernel_parse_text(const char *text, size_t len, const char *name, const char *file, em_kernel **out,
                         em_err *err) EM_MUST_CHECK;
void em_kernel_free(em_kernel *k);

typedef struct em_binding {
  const char *sym;
  int64_t size;
} em_binding;
typedef struct em_bindings {
  const em_binding *items;
  size_t n;
} em_bindings; /* sorted by sym */
/* A kernel of its own whose nest takes symbolic axes at these sizes instead of their hints: what a pool
 * measured at those sizes is featured with.  Text, identity and legality are the same. */
int em_kernel_copy(const em_kernel *k, em_bindings b, em_kernel **out, em_err *err) EM_MUST_CHECK;

/* Canonical text of the Loop IR: compact, known keys in the documented order,
 * defaults omitted, expressions with the fewest parentheses.  Parsing it gives
 * the same kernel and printing that the same bytes. */
void em_kernel_print(const em_kernel *k, em_str *out);
/* For people: indented loops, one statement a line. */
void em_kernel_print_pretty(const em_kernel *k, em_str *out);

const char *em_kernel_name(const em_kernel *k);
em_kind em_kernel_kind(const em_kernel *k);

/* The digest of the normalised definition: the same under renaming of values,
 * axes, buffers and symbols, and under JSON key order; different for another
 * operation, extent, dtype, shape or index expression.  Size hints do not enter. */
em_digest em_kernel_identity(const em_kernel *k);

/* Names of the symbolic dimensions, in order of first use, with their hints. */
size_t em_kernel_n_symbols(const em_kernel *k);
const char *em_kernel_symbol(const em_kernel *k, size_t i, int64_t *hint);

/* ---- structure stamps (reference features.md section 1.10) ------------------
 * Computed from the body; S_warp_eligible is not here (it needs the space). */

typedef struct em_stamp {
  const char *name;
  double value;
} em_stamp; /* "S_n_load", ... */
/* All stamps that the kernel has, sorted by name; borrowed from the kernel. */
const em_stamp *em_kernel_stamps(const em_kernel *k, size_t *n);
/* One by name; `missing` (NaN) when the kernel does not have it. */
double em_kernel_stamp(const em_kernel *k, const char *name);

/* The text of a shape, for cross-validation folds: kind, extents and dtypes
 * with no dynamic mark, e.g. "contraction 512x512x512 f32"; a symbolic axis
 * counts as its hint (`bindings` override hints; see em_bindings). */
int em_kernel_shape(const em_kernel *k, em_bindings b, char **out, em_err *err) EM_MUST_CHECK;

/* ---- the loop nest, as the space sees it -------------------------------------- */

typedef struct em_axis {
  const char *name; /* borrowed from the kernel */
  int64_t extent;   /* static extent, or 0 when symbolic */
  const char *sym;  /* symbol or size expression when symbolic, else NULL */
  int64_t hint;     /* extent, or the hint of a symbolic one */
} em_axis;

/* One operand of a contraction's product, by how its address moves. */
typedef struct em_operand {
  const char *buffer; /* borrowed; NULL when computed from more than one load or by arithmetic */
  em_dtype dtype;     /* as stored; NONE when it is made of several */
  int rank;           /* of the buffer */
  bool plain;         /* a bare Load (a pure dtype cast may follow) */
  bool cast;          /* a dtype cast stands between load and product */
  bool k_contiguous;  /* the last index moves by one with the reduction axis and not with tile axes */
  bool mn_contiguous; /* the last index moves by one with its own m (A) or n (B) axis, and with no other */
  bool leading_fixed; /* other indices move neither with tile axes nor with k, besides its two tile dims */
} em_operand;

typedef struct em_nest {
  em_kind kind;
  /* Grid axes: the free loops around the outermost statement that stores,
   * outer to inner; free loops of extent 1 count. */
  int n_free;
  em_axis free[EM_MAX_RANK];
  /* Head fold: the (first) reduction loop directly below the free axes. */
  bool has_fold;
  em_axis fold;
  int n_folds;         /* sibling folds in the body: softmax 2, layer norm 2 (or 3) */
  bool sweeps;         /* after its folds each row is swept again by a loop that writes (softmax, norms) */
  const char *fold_op; /* canonical op of the head fold: "add", "maximum", ... */

  /* Contraction only. */
  int m_axis, n_axis;     /* indices into free[]: the trailing two (-1 when fewer than two, and for other kinds) */
  int n_products;         /* product channels folded together */
  int n_extra;            /* varying operands beyond two in a product */
  em_operand a, b;        /* A moves with m, B with n */
  em_dtype product_dtype; /* result type of the product when fixed, else EM_DTYPE_NONE */
  bool row_address;       /* each of the m rows has its own store address (or extent 1) */
  bool epilogue_straight; /* after the fold: no loops, no gathers, stores project the fold */
  bool epilogue_linear;   /* store of a multiple of the sum: a split may add up atomically */
  em_dtype out_dtype;     /* of the (first) stored buffer */
  bool atomic;            /* stores by atomic add: a split's piece */

  /* Why the space does not cover this kernel, or NULL. */
  const char *out_of_scope;
} em_nest;

const em_nest *em_kernel_nest(const em_kernel *k); /* borrowed */

/* ---- builders -------------------------------------------------------------------
 * `emmy kernel new KIND` and tests.  One table declares the kinds. */

typedef struct em_build {
  const char *kind;       /* a name of em_build_kind() */
  int64_t batch, m, n, k; /* what the kind's `dims` names; others 0 */
  em_dtype in, out;       /* out: EM_DTYPE_NONE = in */
  const char *epilogue;   /* linear: "bias", "relu", "gelu", "silu", comma separated; NULL = none */
  const char *op;         /* pointwise: an elementwise op of arity 1 or 2; NULL = "add" */
  bool b_transposed;      /* matmul, linear, bmm: B stored N x K */
  /* Names of dimensions that are symbolic: e.g. "m" -> "seq_len". NULL-terminated
   * pairs are avoided on purpose: at most one symbol per output dimension. */
  const char *sym_batch, *sym_m, *sym_n; /* NULL = static; the size is then the hint */
} em_build;

typedef struct em_build_kind {
  const char *
    name; /* "matmul", "linear", "bmm", "reduce_sum", "reduce_mean", "reduce_max", "softmax", "rms_norm", "layer_norm", "pointwise" */
  const char *dims; /* which of "batch", "m", "n", "k" it takes, e.g. "m n k" */
  const char *doc;
} em_build_kind;
size_t em_n_build_kinds(void);
const em_build_kind *em_build_kind_at(size_t i);

/* Builds the kernel and gives it the name "k_<kind>_<first 6 digits of its
 * identity>".  A spec that makes no sense is EM_E_USAGE. */
int em_kernel_build(const em_build *spec, em_kernel **out, em_err *err) EM_MUST_CHECK;

/* ---- structural fork: a split of the reduction across blocks --------------------
 * The pieces of REDUCE g<width>k ('k') or g<width>a ('a'), in the order of the
 * routing row: 'k' gives "<name>__partial" and "<name>__combine", 'a' one
 * "<name>__partial" that adds atomically.
 * Refused (EM_E_INPUT, saying the rule) where formats.md section 4.8 refuses it. */
int em_kernel_split(const em_kernel *k, int width, char finalize, em_kernel *out[2], size_t *n,
                    em_err *err) EM_MUST_CHECK;

#endif
