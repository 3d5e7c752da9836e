/*
 * kernel_int.h - the kernel as it is held in memory; for core/kernel only.
 *
 * Everything belongs to the kernel's arena.  A kernel is built in four steps,
 * each in its own file: kernel_read.c turns JSON into statements whose names
 * are interned but not bound; kernel_resolve.c binds each name to what defines
 * it; then stamps, nest and identity are computed once.  After that nothing
 * is written any more.
 */
#ifndef EM_KERNEL_INT_H
#define EM_KERNEL_INT_H

#include "core/kernel/kernel.h"

#define KX_DEFAULT_HINT 512
#define KX_EXPR_NODES   4096 /* bounds the recursion over long left-leaning sums */

typedef struct kx_name kx_name;
typedef struct kx_expr kx_expr;
typedef struct kx_stmt kx_stmt;

/* ---- operators (kernel_tables.c) ------------------------------------------ */

typedef struct kx_op {
  const char *name;
  int min_args, max_args;
  const char *canon; /* the spelling this one is an alias of, or NULL */
} kx_op;

const kx_op *kx_op_find(const char *name);  /* elementwise; aliases folded */
const char *kx_fold_find(const char *name); /* canonical fold operator, or NULL */

/* Binary operators of index expressions, by binding strength. */
enum { KX_LEVEL_COND = 0, KX_LEVEL_OR = 1, KX_LEVEL_PRIMARY = 8 };
typedef enum kx_binary {
  KX_OR,
  KX_AND,
  KX_EQ,
  KX_NE,
  KX_LE,
  KX_GE,
  KX_SHL,
  KX_SHR,
  KX_LT,
  KX_GT,
  KX_BAND,
  KX_BOR,
  KX_XOR,
  KX_ADD,
  KX_SUB,
  KX_MUL,
  KX_DIV,
  KX_MOD,
  KX_N_BINARY
} kx_binary;
typedef struct kx_binary_info {
  kx_binary op;
  const char *text;
  int level;
} kx_binary_info;
const kx_binary_info *kx_binary_match(const char *s); /* the longest operator s begins with, or NULL */
const kx_binary_info *kx_binary_of(kx_binary op);     /* its canonical spelling */

typedef enum kx_func { KX_MIN, KX_MAX, KX_ABS, KX_N_INT_FUNCS } kx_func; /* those with an integer value */
typedef struct kx_func_info {
  const char *name;
  int min_args, max_args;
} kx_func_info;
int kx_func_find(const char *name); /* -1 when unknown */
const kx_func_info *kx_func_of(int func);

/* ---- entities ---------------------------------------------------------------- */

typedef struct kx_sym {
  const char *name;
  int64_t hint;
  bool has_hint;
  int num;
} kx_sym;

/* A size: static when expr is NULL. */
typedef struct kx_dim {
  int64_t size;
  kx_expr *expr;
  int64_t hint;
  bool has_hint;
  const char *text;
} kx_dim;

typedef struct kx_axis {
  const char *name;
  int num;
  kx_dim extent;
  uint32_t mask; /* kernel_nest.c */
} kx_axis;

typedef struct kx_value {
  const char *name;
  int num;
  const kx_stmt *def;  /* the (first) statement that defines it */
  const kx_stmt *seed; /* an accumulator's: the loop it is seeded before */
  uint32_t mask;       /* kernel_nest.c: what it depends on */
  em_dtype source;     /* kernel_nest.c: the stored dtype of what varies in it */
} kx_value;

/* Text of a JSON value that is kept as it is, and its form with sorted keys. */
typedef struct kx_raw {
  const char *text, *canon;
} kx_raw;

typedef enum kx_node_kind { KX_INPUT, KX_CONSTANT, KX_LOOP, KX_N_NODE_KINDS } kx_node_kind;

typedef struct kx_buffer {
  const char *name;
  int num;
  em_dtype dtype;
  int rank;
  kx_dim *shape;
  const struct kx_node *node;
} kx_buffer;

typedef struct kx_node {
  const char *id;
  kx_node_kind kind;
  kx_raw attrs;      /* input, constant */
  const char *value; /* constant: canonical text of its scalar, or NULL */
  size_t n_inputs, n_outputs;
  kx_buffer **inputs;
  kx_buffer *outputs;
} kx_node;

/* A name and everything it may stand for.  Names are never shadowed, so one
 * binding at a time is enough. */
struct kx_name {
  const char *text;
  uint64_t hash;
  kx_name *next_in_bucket;
  kx_sym *sym;
  kx_buffer *buffer;
  kx_value *value;
  kx_axis *axis;
  kx_name *next_bound; /* others bound by the same block */
};

typedef struct kx_names {
  kx_name **buckets;
  size_t n_buckets, n;
} kx_names;
kx_name *kx_intern(em_arena *a, kx_names *t, const char *text, size_t len); /* NULL: out of memory */

/* ---- expressions (kernel_expr.c) ---------------------------------------------- */

typedef enum kx_expr_kind {
  KX_X_INT,
  KX_X_FLOAT,
  KX_X_BOOL,
  KX_X_NAME,
  KX_X_BINARY,
  KX_X_COND,
  KX_X_CALL,
  KX_X_CAST
} kx_expr_kind;

struct kx_expr {
  kx_expr_kind kind;
  int op;        /* kx_binary, kx_func or em_dtype */
  int64_t i;     /* KX_X_INT, KX_X_BOOL */
  double f;      /* KX_X_FLOAT */
  kx_name *name; /* KX_X_NAME, and one of the next three once bound */
  kx_axis *axis;
  kx_value *value;
  kx_sym *sym;
  size_t n_args;
  kx_expr **args;
};

/* How names are printed: as they are, or by number (identity); and one axis
 * may be replaced (a split's part). */
typedef struct kx_print {
  em_str *out;
  bool numbered;
  int n_syms, n_buffers; /* numbered: given so far */
  const kx_axis *from;   /* replaced by: part * chunk + from */
  const char *part;
  int64_t chunk;
} kx_print;

int kx_expr_parse(em_arena *a, kx_names *names, const char *text, const em_place *at, kx_expr **out,
                  em_err *err) EM_MUST_CHECK;
void kx_expr_print(kx_print *p, const kx_expr *e);
bool kx_expr_equal(const kx_expr *a, const kx_expr *b); /* both bound */

/* The integer value with sizes of symbols from `size`; NULL or a reason. */
typedef int64_t (*kx_size_fn)(void *ctx, const kx_sym *sym);
const char *kx_expr_eval(const kx_expr *e, kx_size_fn size, void *ctx, int64_t *out);

/* True when e = coef * axis + (something without axis). */
bool kx_expr_linear(const kx_expr *e, const kx_axis *axis, int64_t *coef);
/* What the expression depends on; `gather` is added when it names a value. */
uint32_t kx_expr_mask(const kx_expr *e, uint32_t gather);

/* ---- statements ----------------------------------------------------------------- */

typedef enum kx_tag {
  KX_S_LOOP,
  KX_S_STRIDED,
  KX_S_LOAD,
  KX_S_ASSIGN,
  KX_S_ACCUM,
  KX_S_WRITE,
  KX_S_SELECT,
  KX_S_COND,
  KX_S_INIT,
  KX_S_CONST,
  KX_N_TAGS
} kx_tag;

typedef struct kx_body {
  size_t n;
  kx_stmt *items;
} kx_body;
typedef struct kx_exprs {
  size_t n;
  kx_expr **items;
} kx_exprs;
/* A use or definition of a value.  An axis may be used like a value. */
typedef struct kx_ref {
  kx_name *name;
  kx_value *value;
  kx_axis *axis;
} kx_ref;
typedef struct kx_refs {
  size_t n;
  kx_ref *items;
} kx_refs;
typedef struct kx_axes {
  size_t n;
  kx_axis **items;
} kx_axes;

struct kx_stmt {
  kx_tag tag;
  kx_axis *axis;     /* Loop, StridedLoop */
  kx_raw axis_extra; /* members of the axis object besides name and extent, or NULL */
  kx_body body, orelse;
  kx_refs defs;         /* what it defines; Accum: what it updates */
  kx_refs uses;         /* Assign args, Accum value, Write values, Select branch values */
  kx_refs base;         /* Accum: none or one */
  kx_exprs index;       /* Load, Write; Select: predicates; Cond: one */
  kx_exprs start, step; /* StridedLoop: one each */
  kx_axes axes;         /* Accum */
  kx_stmt *seeds;       /* Loop: the Accums seeded before it, linked by next_seed */
  kx_stmt *next_seed;
  const kx_stmt *loop; /* Accum: the loop it is seeded before */
  kx_buffer *buffer;   /* Load, Write */
  const char *op;      /* Assign, Accum: canonical spelling */
  em_dtype dtype;
  bool flag;            /* Loop: unroll; Write: atomic */
  bool seed;            /* Loop */
  const char *swizzle;  /* Write */
  kx_raw number;        /* Init, Const */
  kx_raw role, carrier; /* Loop */
};

/* The fields of each statement: reading, printing and identity follow this one
 * table (kernel_tables.c). */
typedef enum kx_field_type {
  KX_F_AXIS,
  KX_F_BODY,
  KX_F_DEF,
  KX_F_DEFS,
  KX_F_USE,
  KX_F_USES,
  KX_F_BASE,
  KX_F_AXES,
  KX_F_SOURCE,
  KX_F_TARGET,
  KX_F_OP,
  KX_F_FOLD,
  KX_F_DTYPE,
  KX_F_EXPR,
  KX_F_EXPRS,
  KX_F_BOOL,
  KX_F_TEXT,
  KX_F_NUMBER,
  KX_F_RAW,
  KX_F_BRANCHES
} kx_field_type;

typedef struct kx_field {
  const char *key;
  kx_field_type type;
  size_t off; /* of the member of kx_stmt */
  bool required;
  const char *absent; /* the default, for types that have one */
} kx_field;

#define KX_MAX_FIELDS 8
typedef struct kx_tag_info {
  const char *name;
  kx_field fields[KX_MAX_FIELDS];
} kx_tag_info;
const kx_tag_info *kx_tag_of(kx_tag tag);
bool kx_tag_find(const char *name, kx_tag *out);
#define KX_AT(stmt, field, type)  ((type *)(void *)((char *)(stmt) + (field)->off))
#define KX_CAT(stmt, field, type) ((type const *)(const void *)((const char *)(stmt) + (field)->off))

extern const char *const kx_node_kind_name[KX_N_NODE_KINDS];

/* ---- the kernel ---------------------------------------------------------------- */

struct em_kernel {
  em_arena *arena;
  const char *name;      /* the C kernel name */
  const char *loop_name; /* the same inside the Loop IR, or NULL */
  kx_names names;
  size_t n_nodes;
  kx_node *nodes;
  kx_node *loop; /* the one node of kind loop */
  kx_body body;
  size_t n_inputs, n_outputs;
  kx_buffer **inputs, **outputs;
  kx_raw hints;
  kx_sym **syms;
  size_t n_syms, cap_syms;
  int n_axes, n_values;
  em_digest identity;
  em_kind kind;
  em_stamp *stamps;
  size_t n_stamps;
  em_nest nest;
  const kx_stmt *grid[EM_MAX_RANK]; /* the loops of nest.free */
  const kx_body *cell;              /* what they run: prologue, folds, epilogue */
  const kx_stmt *fold;              /* the head fold's loop, or NULL */
};

/* kernel_read.c: fills the kernel from JSON, names unbound. */
int kx_read(em_kernel *k, const cJSON *loop_ir, const em_place *at, em_err *err) EM_MUST_CHECK;
/* kernel_resolve.c: binds names, checks scopes; gives new canonical names (in0, v0, acc0, a0). */
int kx_resolve(em_kernel *k, const em_place *at, em_err *err) EM_MUST_CHECK;
int kx_rename(em_kernel *k, em_err *err) EM_MUST_CHECK;
/* kernel_print.c */
void kx_print_dim(kx_print *p, const kx_dim *d);
void kx_print_stmt(kx_print *p, const kx_stmt *s);
void kx_print_buffer(kx_print *p, const kx_buffer *b); /* [name,dtype,shape] */
void kx_print_node(kx_print *p, const em_kernel *k, const kx_node *n);
int kx_identify(em_kernel *k, em_err *err) EM_MUST_CHECK;
/* kernel_json.c: an object may leave out the members named in `skip` (NULL-terminated, or NULL). */
int kx_raw_keep(em_arena *a, const cJSON *json, const char *const *skip, kx_raw *out, em_err *err) EM_MUST_CHECK;
/* kernel_stamp.c, kernel_nest.c */
int kx_stamp(em_kernel *k, em_err *err) EM_MUST_CHECK;
void kx_nest(em_kernel *k);

/* kernel.c: text of the JSON (which it frees) to a kernel named `name`, with
 * canonical names when `rename`; for builders and splits, whose text is ours. */
int kx_from_text(em_str *text, const char *name, bool rename, em_kernel **out, em_err *err) EM_MUST_CHECK;

#endif
