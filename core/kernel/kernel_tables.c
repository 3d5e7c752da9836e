/* kernel_tables.c - the tables of the Loop IR: dtypes, kinds, operators, statements. */

#include <string.h>

#include "core/kernel/kernel_int.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
  const char *name;
  int bytes;
} dtypes[EM_N_DTYPES] = {{"?", 0},
#define DTYPE_ROW(id, name, bytes) {name, bytes},
                         EM_DTYPES(DTYPE_ROW)
#undef DTYPE_ROW
};

const char *em_dtype_name(em_dtype t) { return dtypes[t].name; }

int em_dtype_bytes(em_dtype t) { return dtypes[t].bytes; }

em_dtype em_dtype_find(const char *name)
{
  for (int t = EM_DTYPE_NONE + 1; t < EM_N_DTYPES; t++)
    if (!strcmp(dtypes[t].name, name)) return (em_dtype)t;
  return EM_DTYPE_NONE;
}

const char *em_kind_name(em_kind k)
{
#define KIND_NAME(id, name) name,
  static const char *const names[] = {EM_KINDS(KIND_NAME)};
#undef KIND_NAME
  return names[k];
}

const char *const kx_node_kind_name[KX_N_NODE_KINDS] = {"input", "constant", "loop"};

/* NumPy's ufuncs with one result, and the private operators. */
static const kx_op ops[] = {
  {"abs", 1, 1, NULL},
  {"absolute", 1, 1, NULL},
  {"acos", 1, 1, NULL},
  {"acosh", 1, 1, NULL},
  {"add", 2, 2, NULL},
  {"arange", 0, 1, NULL},
  {"arccos", 1, 1, NULL},
  {"arccosh", 1, 1, NULL},
  {"arcsin", 1, 1, NULL},
  {"arcsinh", 1, 1, NULL},
  {"arctan", 1, 1, NULL},
  {"arctan2", 2, 2, NULL},
  {"arctanh", 1, 1, NULL},
  {"asin", 1, 1, NULL},
  {"asinh", 1, 1, NULL},
  {"atan", 1, 1, NULL},
  {"atan2", 2, 2, NULL},
  {"atanh", 1, 1, NULL},
  {"bitcast", 1, 1, NULL},
  {"bitwise_and", 2, 2, NULL},
  {"bitwise_count", 1, 1, NULL},
  {"bitwise_invert", 1, 1, NULL},
  {"bitwise_left_shift", 2, 2, NULL},
  {"bitwise_not", 1, 1, NULL},
  {"bitwise_or", 2, 2, NULL},
  {"bitwise_right_shift", 2, 2, "right_shift"},
  {"bitwise_xor", 2, 2, NULL},
  {"cbrt", 1, 1, NULL},
  {"ceil", 1, 1, NULL},
  {"conj", 1, 1, NULL},
  {"conjugate", 1, 1, NULL},
  {"copy", 1, 1, NULL},
  {"copysign", 2, 2, NULL},
  {"cos", 1, 1, NULL},
  {"cosh", 1, 1, NULL},
  {"deg2rad", 1, 1, NULL},
  {"degrees", 1, 1, NULL},
  {"divide", 2, 2, NULL},
  {"divide_rn_f32", 2, 2, NULL},
  {"equal", 2, 2, NULL},
  {"erf", 1, 1, NULL},
  {"exp", 1, 1, NULL},
  {"exp2", 1, 1, NULL},
  {"exp_fast", 1, 1, NULL},
  {"expm1", 1, 1, NULL},
  {"fabs", 1, 1, NULL},
  {"float_power", 2, 2, NULL},
  {"floor", 1, 1, NULL},
  {"floor_divide", 2, 2, NULL},
  {"fmax", 2, 2, NULL},
  {"fmin", 2, 2, NULL},
  {"fmod", 2, 2, NULL},
  {"from_f4e2m1", 1, 1, NULL},
  {"from_f8e4m3", 1, 1, NULL},
  {"from_f8e5m2", 1, 1, NULL},
  {"gcd", 2, 2, NULL},
  {"gelu", 1, 1, NULL},
  {"gelu_tanh", 1, 1, NULL},
  {"greater", 2, 2, NULL},
  {"greater_equal", 2, 2, NULL},
  {"heaviside", 2, 2, NULL},
  {"hypot", 2, 2, NULL},
  {"invert", 1, 1, NULL},
  {"isfinite", 1, 1, NULL},
  {"isinf", 1, 1, NULL},
  {"isnan", 1, 1, NULL},
  {"isnat", 1, 1, NULL},
  {"lcm", 2, 2, NULL},
  {"ldexp", 2, 2, NULL},
  {"left_shift", 2, 2, NULL},
  {"less", 2, 2, NULL},
  {"less_equal", 2, 2, NULL},
  {"log", 1, 1, NULL},
  {"log10", 1, 1, NULL},
  {"log1p", 1, 1, NULL},
  {"log2", 1, 1, NULL},
  {"logaddexp", 2, 2, NULL},
  {"logaddexp2", 2, 2, NULL},
  {"logical_and", 2, 2, NULL},
  {"logical_not", 1, 1, NULL},
  {"logical_or", 2, 2, NULL},
  {"logical_xor", 2, 2, NULL},
  {"maximum", 2, 2, NULL},
  {"minimum", 2, 2, NULL},
  {"mod", 2, 2, NULL},
  {"multiply", 2, 2, NULL},
  {"negative", 1, 1, NULL},
  {"next", 2, 2, NULL},
  {"nextafter", 2, 2, NULL},
  {"not_equal", 2, 2, NULL},
  {"pad", 1, 1, NULL},
  {"positive", 1, 1, NULL},
  {"pow", 2, 2, NULL},
  {"power", 2, 2, NULL},
  {"rad2deg", 1, 1, NULL},
  {"radians", 1, 1, NULL},
  {"reciprocal", 1, 1, NULL},
  {"relu", 1, 1, NULL},
  {"remainder", 2, 2, NULL},
  {"right_shift", 2, 2, NULL},
  {"__rshift__", 2, 2, "right_shift"},
  {"rint", 1, 1, NULL},
  {"rsqrt", 1, 1, NULL},
  {"sigmoid", 1, 1, NULL},
  {"sign", 1, 1, NULL},
  {"signbit", 1, 1, NULL},
  {"silu", 1, 1, NULL},
  {"sin", 1, 1, NULL},
  {"sinh", 1, 1, NULL},
  {"softmax_one", 1, 1, NULL},
  {"softplus", 1, 1, NULL},
  {"spacing", 1, 1, NULL},
  {"sqrt", 1, 1, NULL},
  {"square", 1, 1, NULL},
  {"subtract", 2, 2, NULL},
  {"tan", 1, 1, NULL},
  {"tanh", 1, 1, NULL},
  {"to_f4e2m1", 1, 1, NULL},
  {"to_f8e4m3", 1, 1, NULL},
  {"to_f8e5m2", 1, 1, NULL},
  {"true_divide", 2, 2, NULL},
  {"trunc", 1, 1, NULL},
  {"where", 3, 3, NULL},
};

const kx_op *kx_op_find(const char *name)
{
  for (size_t i = 0; i < COUNT(ops); i++)
    if (!strcmp(ops[i].name, name)) return ops[i].canon ? kx_op_find(ops[i].canon) : &ops[i];
  return NULL;
}

const char *kx_fold_find(const char *name)
{
  static const char *const folds[][2] = {
    {"add", "add"},      {"sum", "add"},      {"multiply", "multiply"}, {"prod", "multiply"}, {"maximum", "maximum"},
    {"amax", "maximum"}, {"fmax", "maximum"}, {"minimum", "minimum"},   {"fmin", "minimum"},  {"next", "next"},
  };
  for (size_t i = 0; i < COUNT(folds); i++)
    if (!strcmp(folds[i][0], name)) return folds[i][1];
  return NULL;
}

/* Longer spellings first, so that the first match is the longest; "//" is "/". */
static const kx_binary_info binaries[] = {
  {KX_OR, "||", KX_LEVEL_OR}, {KX_AND, "&&", 2}, {KX_EQ, "==", 3},  {KX_NE, "!=", 3},
  {KX_LE, "<=", 4},           {KX_GE, ">=", 4},  {KX_SHL, "<<", 5}, {KX_SHR, ">>", 5},
  {KX_DIV, "//", 7},          {KX_LT, "<", 4},   {KX_GT, ">", 4},   {KX_BAND, "&", 4},
  {KX_BOR, "|", 4},           {KX_XOR, "^", 4},  {KX_ADD, "+", 6},  {KX_SUB, "-", 6},
  {KX_MUL, "*", 7},           {KX_DIV, "/", 7},  {KX_MOD, "%", 7},
};

const kx_binary_info *kx_binary_match(const char *s)
{
  for (size_t i = 0; i < COUNT(binaries); i++)
    if (!strncmp(binaries[i].text, s, strlen(binaries[i].text))) return &binaries[i];
  return NULL;
}

const kx_binary_info *kx_binary_of(kx_binary op)
{
  const kx_binary_info *found = NULL;
  for (size_t i = 0; i < COUNT(binaries); i++)
    if (binaries[i].op == op) found = &binaries[i]; /* the last spelling of an operator is the short one */
  return found;
}

/* The first KX_N_INT_FUNCS in the order of kx_func. */
static const kx_func_info funcs[] = {
  {"min", 2, 8},   {"max", 2, 8},  {"abs", 1, 1}, {"exp", 1, 1}, {"log", 1, 1},  {"sqrt", 1, 1}, {"rsqrt", 1, 1},
  {"floor", 1, 1}, {"ceil", 1, 1}, {"sin", 1, 1}, {"cos", 1, 1}, {"tanh", 1, 1}, {"pow", 2, 2},
};

int kx_func_find(const char *name)
{
  for (size_t i = 0; i < COUNT(funcs); i++)
    if (!strcmp(funcs[i].name, name)) return (int)i;
  return -1;
}

const kx_func_info *kx_func_of(int func) { return &funcs[func]; }

#define OFF(member) offsetof(kx_stmt, member)

static const kx_tag_info tags[KX_N_TAGS] = {
  [KX_S_LOOP] = {"Loop",
                 {{"axis", KX_F_AXIS, OFF(axis), true, NULL},
                  {"body", KX_F_BODY, OFF(body), true, NULL},
                  {"unroll", KX_F_BOOL, OFF(flag), false, "false"},
                  {"role", KX_F_RAW, OFF(role), false, NULL},
                  {"carrier", KX_F_RAW, OFF(carrier), false, NULL},
                  {"seed", KX_F_BOOL, OFF(seed), false, "true"}}},
  [KX_S_STRIDED] = {"StridedLoop",
                    {{"axis", KX_F_AXIS, OFF(axis), true, NULL},
                     {"start", KX_F_EXPR, OFF(start), true, NULL},
                     {"step", KX_F_EXPR, OFF(step), true, NULL},
                     {"body", KX_F_BODY, OFF(body), true, NULL}}},
  [KX_S_LOAD] = {"Load",
                 {{"names", KX_F_DEFS, OFF(defs), true, NULL},
                  {"input", KX_F_SOURCE, OFF(buffer), true, NULL},
                  {"index", KX_F_EXPRS, OFF(index), true, NULL},
                  {"dtype", KX_F_DTYPE, OFF(dtype), false, NULL}}},
  [KX_S_ASSIGN] = {"Assign",
                   {{"name", KX_F_DEF, OFF(defs), true, NULL},
                    {"op", KX_F_OP, OFF(op), true, NULL},
                    {"args", KX_F_USES, OFF(uses), true, NULL},
                    {"dtype", KX_F_DTYPE, OFF(dtype), false, NULL}}},
  [KX_S_ACCUM] = {"Accum",
                  {{"name", KX_F_DEF, OFF(defs), true, NULL},
                   {"value", KX_F_USE, OFF(uses), true, NULL},
                   {"op", KX_F_FOLD, OFF(op), false, "add"},
                   {"axes", KX_F_AXES, OFF(axes), true, NULL},
                   {"dtype", KX_F_DTYPE, OFF(dtype), false, NULL},
                   {"base", KX_F_BASE, OFF(base), false, NULL}}},
  [KX_S_WRITE] = {"Write",
                  {{"output", KX_F_TARGET, OFF(buffer), true, NULL},
                   {"index", KX_F_EXPRS, OFF(index), true, NULL},
                   {"values", KX_F_USES, OFF(uses), true, NULL},
                   {"value_dtype", KX_F_DTYPE, OFF(dtype), false, NULL},
                   {"atomic", KX_F_BOOL, OFF(flag), false, "false"},
                   {"swizzle", KX_F_TEXT, OFF(swizzle), false, "NONE"}}},
  [KX_S_SELECT] = {"Select",
                   {{"name", KX_F_DEF, OFF(defs), true, NULL}, {"branches", KX_F_BRANCHES, OFF(uses), true, NULL}}},
  [KX_S_COND] = {"Cond",
                 {{"cond", KX_F_EXPR, OFF(index), true, NULL},
                  {"body", KX_F_BODY, OFF(body), true, NULL},
                  {"else_body", KX_F_BODY, OFF(orelse), false, NULL}}},
  [KX_S_INIT] = {"Init",
                 {{"name", KX_F_DEF, OFF(defs), true, NULL},
                  {"identity", KX_F_NUMBER, OFF(number), true, NULL},
                  {"dtype", KX_F_DTYPE, OFF(dtype), true, NULL}}},
  [KX_S_CONST] = {"Const",
                  {{"name", KX_F_DEF, OFF(defs), true, NULL},
                   {"value", KX_F_NUMBER, OFF(number), true, NULL},
                   {"dtype", KX_F_DTYPE, OFF(dtype), false, NULL}}},
};

const kx_tag_info *kx_tag_of(kx_tag tag) { return &tags[tag]; }

bool kx_tag_find(const char *name, kx_tag *out)
{
  for (int t = 0; t < KX_N_TAGS; t++)
    if (!strcmp(tags[t].name, name)) {
      *out = (kx_tag)t;
      return true;
    }
  return false;
}
