/*
 * kernel_nest.c - the loop nest as the space sees it.
 *
 * The grid is the chain of free loops around the first block that folds or
 * stores (the cell).  What a value depends on is a set of bits, one per grid
 * axis, computed in one pass in the order of the statements; operands, the
 * store and the epilogue are then judged by these bits and by the linear part
 * of index expressions.
 */
#include <string.h>

#include "core/kernel/kernel_int.h"

#define BIT_FOLD   (1u << EM_MAX_RANK)       /* the head fold's axis */
#define BIT_OTHER  (1u << (EM_MAX_RANK + 1)) /* any other axis */
#define BIT_STATE  (1u << (EM_MAX_RANK + 2)) /* the head fold's result */
#define BIT_REDUCE (1u << (EM_MAX_RANK + 3)) /* another reduction's result */
#define BIT_GATHER (1u << (EM_MAX_RANK + 4)) /* an address made of loaded values */

typedef struct finder {
  em_kernel *k;
  em_nest *n;
  bool carried;
} finder;

/* ---- which statements are where -------------------------------------------------------- */

static bool folds_over(const kx_body *b, const kx_axis *axis)
{
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    for (size_t j = 0; j < s->axes.n; j++)
      if (s->axes.items[j] == axis) return true;
    if (folds_over(&s->body, axis) || folds_over(&s->orelse, axis)) return true;
  }
  return false;
}

/* An Accum inside reduces over its axis. */
static bool is_fold(const kx_stmt *loop) { return folds_over(&loop->body, loop->axis); }

static bool has_tag(const kx_body *b, kx_tag tag)
{
  for (size_t i = 0; i < b->n; i++)
    if (b->items[i].tag == tag || has_tag(&b->items[i].body, tag) || has_tag(&b->items[i].orelse, tag)) return true;
  return false;
}

static bool is_block(const kx_stmt *s) { return s->axis || s->tag == KX_S_COND; }

static bool stores_inside(const kx_stmt *s)
{
  return s->tag == KX_S_WRITE || has_tag(&s->body, KX_S_WRITE) || has_tag(&s->orelse, KX_S_WRITE);
}

/* The only loop of a block that folds nothing and stores, when the block does
 * neither by itself: the next grid axis. */
static const kx_stmt *next_grid_loop(const kx_body *b)
{
  const kx_stmt *next = NULL;
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    if (!is_block(s) && s->tag != KX_S_WRITE && s->tag != KX_S_ACCUM) continue;
    if (next || s->tag != KX_S_LOOP || is_fold(s)) return NULL;
    next = s;
  }
  return next && stores_inside(next) ? next : NULL;
}

static em_axis axis_of(const kx_axis *a)
{
  return (em_axis){.name = a->name,
                   .extent = a->extent.expr ? 0 : a->extent.size,
                   .sym = a->extent.expr ? a->extent.text : NULL,
                   .hint = a->extent.hint};
}

static void refuse(em_nest *n, const char *why)
{
  if (!n->out_of_scope) n->out_of_scope = why;
}

static void find_grid(finder *f)
{
  em_kernel *k = f->k;
  k->cell = &k->body;
  for (const kx_stmt *l; (l = next_grid_loop(k->cell)); k->cell = &l->body) {
    if (f->n->n_free == EM_MAX_RANK) {
      refuse(f->n, "more than 8 free loops");
      return;
    }
    k->grid[f->n->n_free] = l;
    f->n->free[f->n->n_free++] = axis_of(l->axis);
  }
}

static void find_folds(finder *f)
{
  em_nest *n = f->n;
  int stores = 0;
  for (size_t i = 0; i < f->k->cell->n; i++) {
    const kx_stmt *s = &f->k->cell->items[i];
    if (s->tag == KX_S_LOOP && is_fold(s)) {
      if (!f->k->fold) {
        f->k->fold = s;
        n->has_fold = true;
        n->fold = axis_of(s->axis);
      }
      n->n_folds++;
    } else if (s->tag == KX_S_LOOP && stores_inside(s)) {
      n->sweeps = n->sweeps || n->has_fold;
      stores++;
    } else if (s->tag == KX_S_WRITE) {
      stores += stores == 0;
    }
  }
  if (stores == 0) refuse(n, "no store beside or below the folds");
  if (stores > 1) refuse(n, "several loop nests");
}

/* ---- what values depend on --------------------------------------------------------------- */

static uint32_t ref_mask(const kx_ref *r) { return r->axis ? r->axis->mask : r->value->mask; }

static uint32_t refs_mask(const kx_refs *refs)
{
  uint32_t mask = 0;
  for (size_t i = 0; i < refs->n; i++) mask |= ref_mask(&refs->items[i]);
  return mask;
}

static uint32_t index_mask(const kx_exprs *list, uint32_t gather)
{
  uint32_t mask = 0;
  for (size_t i = 0; i < list->n; i++) mask |= kx_expr_mask(list->items[i], gather);
  return mask;
}

static void mark_body(const em_kernel *k, const kx_body *b);

static void mark_axis(const em_kernel *k, const kx_stmt *s)
{
  s->axis->mask = s == k->fold ? BIT_FOLD : BIT_OTHER;
  for (int i = 0; i < k->nest.n_free; i++)
    if (k->grid[i] == s) s->axis->mask = 1u << i;
}

/* The stored dtype of what varies along the fold in a value; NONE when there are several. */
static em_dtype source_dtype(const kx_stmt *s)
{
  em_dtype found = EM_DTYPE_NONE;
  if (s->tag == KX_S_LOAD) return s->buffer->dtype;
  for (size_t i = 0; i < s->uses.n; i++) {
    const kx_value *arg = s->uses.items[i].value;
    if (!arg || !(arg->mask & BIT_FOLD)) continue;
    if (!arg->source || (found && arg->source != found)) return EM_DTYPE_NONE;
    found = arg->source;
  }
  return found;
}

static void mark_stmt(const em_kernel *k, const kx_stmt *s)
{
  if (s->axis) mark_axis(k, s);
  for (const kx_stmt *seed = s->seeds; seed; seed = seed->next_seed)
    seed->defs.items[0].value->mask = s == k->fold ? BIT_STATE : BIT_REDUCE;
  mark_body(k, &s->body);
  mark_body(k, &s->orelse);
  uint32_t mask = refs_mask(&s->uses) | index_mask(&s->index, s->tag == KX_S_LOAD ? BIT_GATHER : 0);
  if (s->tag == KX_S_ACCUM) /* its own axes are folded away */
    mask = (mask & ~(s->loop == k->fold ? BIT_FOLD : BIT_OTHER)) | (s->loop == k->fold ? BIT_STATE : BIT_REDUCE);
  em_dtype source = source_dtype(s);
  for (size_t i = 0; i < s->defs.n; i++) {
    s->defs.items[i].value->mask |= mask;
    s->defs.items[i].value->source = source;
  }
}

static void mark_body(const em_kernel *k, const kx_body *b)
{
  for (size_t i = 0; i < b->n; i++) mark_stmt(k, &b->items[i]);
}

/* ---- products ---------------------------------------------------------------------------- */

/* The factors of a product that vary along its fold, whose bit is `vary`. */
typedef struct factors {
  const kx_value *items[EM_NEST_DEPTH];
  int n;
  uint32_t vary;
} factors;

static bool is_op(const kx_value *v, const char *op)
{
  return v && v->def->tag == KX_S_ASSIGN && !strcmp(v->def->op, op);
}

/* Through pure dtype casts to what is cast. */
static const kx_value *uncast(const kx_value *v)
{
  while (is_op(v, "copy") && v->def->uses.items[0].value) v = v->def->uses.items[0].value;
  return v;
}

/* The same value, or the same load made twice. */
static bool same_source(const kx_value *a, const kx_value *b)
{
  a = uncast(a);
  b = uncast(b);
  if (a == b) return true;
  if (a->def->tag != KX_S_LOAD || b->def->tag != KX_S_LOAD || a->def->buffer != b->def->buffer || a->def->defs.n != 1 ||
      b->def->defs.n != 1)
    return false;
  for (size_t i = 0; i < a->def->index.n; i++)
    if (!kx_expr_equal(a->def->index.items[i], b->def->index.items[i])) return false;
  return true;
}

/* False when there are too many to hold. */
static bool collect_factors(const kx_value *v, factors *out, int depth)
{
  const kx_value *bare = uncast(v);
  if (is_op(bare, "multiply") && depth < EM_NEST_DEPTH) {
    for (size_t i = 0; i < 2; i++) {
      const kx_ref *r = &bare->def->uses.items[i];
      if (r->value && (r->value->mask & out->vary) && !collect_factors(r->value, out, depth + 1)) return false;
    }
    return true;
  }
  if (out->n == EM_NEST_DEPTH) return false;
  out->items[out->n++] = v;
  return true;
}

/* A contraction adds up products of two different operands that both vary. */
static bool is_product(const kx_stmt *accum, factors *out)
{
  *out = (factors){.vary = accum->loop->axis->mask};
  const kx_value *v = accum->uses.items[0].value;
  if (strcmp(accum->op, "add") || !v || !is_op(uncast(v), "multiply") || !collect_factors(v, out, 0)) return false;
  for (int i = 1; i < out->n; i++)
    if (!same_source(out->items[0], out->items[i])) return true;
  return false;
}

/* ---- operands ------------------------------------------------------------------------------ */

static uint32_t bit_of(int axis) { return axis < 0 ? 0 : 1u << axis; }

/* Whether the last index moves by one with `axis`, and not with `other`. */
static bool contiguous(const kx_stmt *load, const kx_stmt *loop, uint32_t other)
{
  int64_t coef;
  if (!load->index.n || !loop) return false;
  const kx_expr *last = load->index.items[load->index.n - 1];
  return kx_expr_linear(last, loop->axis, &coef) && coef == 1 &&
         !(kx_expr_mask(last, BIT_GATHER) & (other | BIT_GATHER));
}

/* One index moves with its own axis alone, one with the fold alone, the others with neither tile axis nor fold. */
static bool leading_fixed(const kx_stmt *load, uint32_t own, uint32_t tile)
{
  int n_own = 0, n_fold = 0;
  for (size_t i = 0; i < load->index.n; i++) {
    uint32_t m = kx_expr_mask(load->index.items[i], BIT_GATHER) & (tile | BIT_FOLD | BIT_GATHER);
    n_own += own && m == own;
    n_fold += m == BIT_FOLD;
    if (m && m != own && m != BIT_FOLD) return false;
  }
  return n_own <= 1 && n_fold == 1;
}

static void fill_operand(finder *f, const kx_value *v, int own, int other, em_operand *out)
{
  const kx_value *src = uncast(v);
  uint32_t tile = bit_of(f->n->m_axis) | bit_of(f->n->n_axis);
  *out = (em_operand){.cast = src != v};
  if (src->mask & (BIT_STATE | BIT_REDUCE)) refuse(f->n, "nested reduction under a contraction operand");
  if (src->mask & BIT_OTHER) refuse(f->n, "an operand moves with a loop outside the nest");
  if (src->mask & BIT_GATHER) refuse(f->n, "gather index in an operand");
  if (bit_of(other) & src->mask) refuse(f->n, "an operand of the product moves with both tile axes");
  out->dtype = src->source;
  if (src->def->tag != KX_S_LOAD) return;
  if (src->def->defs.n != 1) refuse(f->n, "vector load in an operand");
  const kx_stmt *load = src->def;
  out->buffer = load->buffer->name;
  out->rank = load->buffer->rank;
  out->plain = true;
  out->cast = out->cast || (load->dtype && load->dtype != load->buffer->dtype);
  out->k_contiguous = contiguous(load, f->k->fold, tile);
  out->mn_contiguous = own >= 0 && contiguous(load, f->k->grid[own], BIT_FOLD | (tile & ~bit_of(own)));
  out->leading_fixed = leading_fixed(load, bit_of(own), tile);
}

/* A is the factor that moves with m, B the one that moves with n. */
static void find_operands(finder *f, const factors *fs)
{
  em_nest *n = f->n;
  const kx_value *x = fs->items[0], *y = fs->items[1];
  uint32_t m_bit = bit_of(n->m_axis), n_bit = bit_of(n->n_axis);
  for (int i = 2; i < fs->n && same_source(x, y); i++) y = fs->items[i];
  bool swapped = ((x->mask & n_bit) && !(y->mask & n_bit)) || ((y->mask & m_bit) && !(x->mask & m_bit));
  fill_operand(f, swapped ? y : x, n->m_axis, n->n_axis, &n->a);
  fill_operand(f, swapped ? x : y, n->n_axis, n->m_axis, &n->b);
}

/* ---- the fold -------------------------------------------------------------------------------- */

static void note_accum(finder *f, const kx_stmt *s)
{
  em_nest *n = f->n;
  factors fs;
  bool product = is_product(s, &fs);
  if (!n->fold_op) n->fold_op = s->op;
  if (!product) {
    if (n->kind == EM_KIND_CONTRACTION) refuse(n, "another state beside the products of a contraction");
    return;
  }
  if (n->kind != EM_KIND_CONTRACTION && s != f->k->fold->seeds)
    refuse(n, "another state beside the products of a contraction");
  n->kind = EM_KIND_CONTRACTION;
  if (n->n_products++ > 0) return;
  n->n_extra = fs.n - 2;
  n->product_dtype = uncast(s->uses.items[0].value)->def->dtype;
  find_operands(f, &fs);
}

static void judge_fold(finder *f)
{
  em_nest *n = f->n;
  n->m_axis = n->n_free >= 2 ? n->n_free - 2 : -1;
  n->n_axis = n->n_free >= 2 ? n->n_free - 1 : -1;
  n->kind = EM_KIND_REDUCE;
  for (size_t i = 0; i < f->k->fold->body.n; i++)
    if (f->k->fold->body.items[i].tag == KX_S_ACCUM) note_accum(f, &f->k->fold->body.items[i]);
  if (!n->fold_op) n->fold_op = f->k->fold->seeds ? f->k->fold->seeds->op : "add";
  for (size_t i = 0; i < f->k->fold->body.n; i++)
    if (is_block(&f->k->fold->body.items[i])) refuse(n, "nested loop or guard inside a reduction");
  if (has_tag(&f->k->fold->body, KX_S_WRITE)) refuse(n, "store inside a reduction");
  if (n->kind != EM_KIND_CONTRACTION) n->m_axis = n->n_axis = -1;
  if (n->kind == EM_KIND_CONTRACTION && n->n_folds > 1) refuse(n, "another reduction beside a contraction");
  if (n->kind == EM_KIND_CONTRACTION && n->sweeps) refuse(n, "a second pass after a contraction");
}

/* A fold somewhere below the cell's own folds: a contraction there names the kernel's kind. */
static void find_inner_folds(finder *f, const kx_body *b, bool below)
{
  factors fs;
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    bool inside = below || (is_block(s) && !(b == f->k->cell && is_fold(s)));
    if (s->tag == KX_S_ACCUM && below) {
      bool product = is_product(s, &fs);
      refuse(f->n,
             product && f->n->has_fold ? "a row reduction fused into a contraction" : "a reduction below another loop");
      f->n->kind = product ? EM_KIND_CONTRACTION : f->n->kind == EM_KIND_POINTWISE ? EM_KIND_REDUCE : f->n->kind;
    } else if (s->tag == KX_S_ACCUM && is_product(s, &fs)) {
      f->n->kind = EM_KIND_CONTRACTION; /* a later sibling fold; the first one was judged already */
      if (s->loop != f->k->fold) refuse(f->n, "a contraction after another reduction");
    }
    find_inner_folds(f, &s->body, inside);
    find_inner_folds(f, &s->orelse, inside);
  }
}

/* ---- the store ------------------------------------------------------------------------------- */

/* Whether some part of `e` is axis / c (KX_DIV) or axis % c (KX_MOD); *c is given or found. */
static bool has_part(const kx_expr *e, const kx_axis *axis, int op, int64_t *c)
{
  if (e->kind == KX_X_BINARY && e->op == op && e->args[0]->axis == axis && e->args[1]->kind == KX_X_INT &&
      (!*c || *c == e->args[1]->i)) {
    *c = e->args[1]->i;
    return true;
  }
  for (size_t i = 0; i < e->n_args; i++)
    if (has_part(e->args[i], axis, op, c)) return true;
  return false;
}

/* Each value of the axis has an address of its own: an index is linear in it,
 * or quotient and remainder by one number are both there. */
static bool own_address(const kx_stmt *write, const kx_axis *axis)
{
  int64_t coef, div = 0;
  bool quotient = false, remainder = false;
  for (size_t i = 0; i < write->index.n; i++) {
    if (kx_expr_linear(write->index.items[i], axis, &coef) && coef != 0) return true;
    quotient = quotient || has_part(write->index.items[i], axis, KX_DIV, &div);
  }
  for (size_t i = 0; quotient && i < write->index.n; i++)
    remainder = remainder || has_part(write->index.items[i], axis, KX_MOD, &div);
  return remainder;
}

/* A constant multiple of the fold's result: nothing is added, and it is a factor once. */
static bool multiple_of_state(const kx_value *v, int depth)
{
  while (is_op(v, "copy") || is_op(v, "negative")) {
    if (!(v = v->def->uses.items[0].value)) return false;
  }
  if (v->def->tag == KX_S_ACCUM || v->def->tag == KX_S_INIT) return (v->mask & BIT_STATE) != 0;
  if (depth == EM_NEST_DEPTH || !(is_op(v, "multiply") || is_op(v, "divide"))) return false;
  const kx_ref *x = &v->def->uses.items[0], *y = &v->def->uses.items[1];
  if (y->value && (y->value->mask & BIT_STATE)) {
    if (is_op(v, "divide") || (ref_mask(x) & BIT_STATE)) return false;
    return multiple_of_state(y->value, depth + 1);
  }
  return x->value && (x->value->mask & BIT_STATE) && multiple_of_state(x->value, depth + 1);
}

static void judge_store(finder *f, const kx_stmt *s, bool *first)
{
  em_nest *n = f->n;
  bool row = n->m_axis < 0 || n->free[n->m_axis].extent == 1 || own_address(s, f->k->grid[n->m_axis]->axis);
  n->row_address = row && (*first || n->row_address);
  n->atomic = n->atomic || s->flag;
  if (*first) n->out_dtype = s->buffer->dtype;
  *first = false;
  for (size_t i = 0; i < s->uses.n; i++) {
    const kx_ref *r = &s->uses.items[i];
    if (!(ref_mask(r) & BIT_STATE)) n->epilogue_straight = false;
    if (!r->value || !multiple_of_state(r->value, 0)) n->epilogue_linear = false;
  }
  if (strcmp(s->swizzle, "NONE")) refuse(n, "swizzled store");
  if (index_mask(&s->index, BIT_GATHER) & BIT_GATHER) refuse(n, "store to an address made of loaded values");
}

static void judge_stores(finder *f, const kx_body *b, bool *first)
{
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    if (s->tag == KX_S_WRITE) judge_store(f, s, first);
    judge_stores(f, &s->body, first);
    judge_stores(f, &s->orelse, first);
  }
}

static void judge_epilogue(finder *f)
{
  bool first = true, after = false;
  f->n->epilogue_straight = f->n->epilogue_linear = f->n->has_fold;
  judge_stores(f, &f->k->body, &first);
  for (size_t i = 0; i < f->k->cell->n; i++) {
    const kx_stmt *s = &f->k->cell->items[i];
    bool gather = s->tag == KX_S_LOAD && (index_mask(&s->index, BIT_GATHER) & BIT_GATHER);
    if (after && (is_block(s) || gather)) f->n->epilogue_straight = f->n->epilogue_linear = false;
    after = after || s == f->k->fold;
  }
}

/* ---- what the space does not know ---------------------------------------------------------- */

static void judge_statements(finder *f, const kx_body *b)
{
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *s = &b->items[i];
    bool carried = s->carrier.text || s->base.n || (s->tag == KX_S_ACCUM && !strcmp(s->op, "next"));
    f->carried = f->carried || carried;
    if (carried) refuse(f->n, "carried state (next)");
    if (s->tag == KX_S_COND) refuse(f->n, "guarded block (Cond)");
    if (s->tag == KX_S_STRIDED) refuse(f->n, "strided loop");
    if (s->tag == KX_S_LOOP && !s->seed) refuse(f->n, "loop that does not seed its accumulators");
    judge_statements(f, &s->body);
    judge_statements(f, &s->orelse);
  }
}

void kx_nest(em_kernel *k)
{
  finder f = {.k = k, .n = &k->nest};
  k->nest = (em_nest){.kind = EM_KIND_POINTWISE, .m_axis = -1, .n_axis = -1};
  k->fold = NULL;
  judge_statements(&f, &k->body);
  find_grid(&f);
  find_folds(&f);
  mark_body(k, &k->body);
  if (k->fold) judge_fold(&f);
  find_inner_folds(&f, k->cell, false);
  judge_epilogue(&f);
  if (f.carried) k->nest.kind = EM_KIND_OTHER;
  if (k->nest.n_free == 0) refuse(f.n, "no free loop around the stores");
}
