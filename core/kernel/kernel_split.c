/*
 * kernel_split.c - a reduction shared by several blocks.
 *
 * The pieces are written as Loop IR text around the parent's own statements
 * and read back like any kernel:
 *   a  parts x grid { fold of K / parts; epilogue with atomic stores }
 *   k  parts x grid { fold of K / parts; store of each state to a workspace }
 *      and grid { fold of the workspace over the parts; epilogue }
 * Inside the fold the parent's axis k becomes part * (K / parts) + k.
 */
#include <inttypes.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

#define MAX_STATES 8

typedef enum piece { ATOMIC, PARTIAL, COMBINE } piece;

typedef struct splitter {
  const em_kernel *k;
  int width;
  piece piece;
  bool *needed;                      /* by number of value */
  const kx_stmt *states[MAX_STATES]; /* one Accum for each accumulator of the fold */
  int n_states;
  char part[80]; /* the name of the axis of parts */
  char workspace[MAX_STATES][80];
  char loaded[MAX_STATES][80]; /* what the combining piece reads from them */
  kx_print print;
  bool first; /* nothing in the open block yet */
  em_err *err;
} splitter;

/* ---- what may be split ---------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *tail)
{
  size_t n = strlen(s), m = strlen(tail);
  return n >= m && !strcmp(s + n - m, tail);
}

static const char *atomic_refusal(const em_kernel *k, int n_states)
{
  if (n_states != 1 || strcmp(k->nest.fold_op, "add")) return "an atomic split needs one state that is added up";
  for (size_t i = 0; i < k->loop->n_outputs; i++)
    if (k->loop->outputs[i].dtype == EM_F16 || k->loop->outputs[i].dtype == EM_BF16)
      return "an atomic split of a 16-bit output would round once per part";
  return k->nest.epilogue_linear ? NULL : "an atomic split needs an epilogue that only scales the sum";
}

/* The rule that refuses the split, or NULL. */
static const char *refusal(const em_kernel *k, int width, char finalize, int n_states)
{
  const em_nest *n = &k->nest;
  if (finalize != 'a' && finalize != 'k') return "a split ends with 'a' (atomic) or 'k' (a second kernel)";
  if (n->atomic || ends_with(k->name, "__partial") || ends_with(k->name, "__combine"))
    return "a piece of a split is not split again";
  if (!k->fold) return "there is no reduction to split";
  if (n->out_of_scope) return n->out_of_scope;
  if (n->n_folds != 1 || n->sweeps) return "the result of the fold is needed by a second pass";
  if (!n->fold.extent) return "the extent of the reduction is symbolic";
  if (width < 2 || n->fold.extent % width) return "the width does not divide the extent of the reduction";
  if (n->n_free == EM_MAX_RANK || n_states > MAX_STATES) return "there are too many axes or states";
  return finalize == 'a' ? atomic_refusal(k, n_states) : NULL;
}

/* One Accum per accumulator; an accumulator seeded by an Init, or a fold axis used as a value, cannot be split. */
static const char *find_states(splitter *s)
{
  const kx_stmt *fold = s->k->fold;
  for (const kx_stmt *a = fold ? fold->seeds : NULL; a; a = a->next_seed) {
    const kx_value *v = a->defs.items[0].value;
    if (v->def->tag == KX_S_INIT) return "an accumulator has a seed of its own";
    if (v->def == a && s->n_states++ < MAX_STATES) s->states[s->n_states - 1] = a;
  }
  for (size_t i = 0; fold && i < fold->body.n; i++)
    for (size_t j = 0; j < fold->body.items[i].uses.n; j++)
      if (fold->body.items[i].uses.items[j].axis == fold->axis) return "the axis of the reduction is used as a value";
  return NULL;
}

/* ---- which statements a piece needs ------------------------------------------------------------ */

static void need_expr(splitter *s, const kx_expr *e)
{
  if (e->value) s->needed[e->value->num] = true;
  for (size_t i = 0; i < e->n_args; i++) need_expr(s, e->args[i]);
}

static void need_of(splitter *s, const kx_stmt *st)
{
  for (size_t i = 0; i < st->uses.n; i++)
    if (st->uses.items[i].value) s->needed[st->uses.items[i].value->num] = true;
  for (size_t i = 0; i < st->index.n; i++) need_expr(s, st->index.items[i]);
  for (size_t i = 0; i < st->body.n; i++) need_of(s, &st->body.items[i]);
}

static bool is_grid(const em_kernel *k, const kx_stmt *st)
{
  for (int i = 0; i < k->nest.n_free; i++)
    if (k->grid[i] == st) return true;
  return false;
}

static bool included(const splitter *s, const kx_stmt *st)
{
  if (is_grid(s->k, st)) return true;
  if (st == s->k->fold) return true; /* the combining piece puts its own fold in this place */
  if (st->tag == KX_S_WRITE) return s->piece != PARTIAL;
  for (size_t i = 0; i < st->defs.n; i++)
    if (s->needed[st->defs.items[i].value->num]) return true;
  return false;
}

/* Backwards, so that uses are seen before definitions. */
static void find_needed(splitter *s, const kx_body *b)
{
  for (size_t i = b->n; i-- > 0;) {
    const kx_stmt *st = &b->items[i];
    if (is_grid(s->k, st))
      find_needed(s, &st->body);
    else if (included(s, st) && !(st == s->k->fold && s->piece == COMBINE))
      need_of(s, st);
  }
}

static bool loads(const splitter *s, const kx_body *b, const kx_buffer *buffer, bool all)
{
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *st = &b->items[i];
    bool in = all || (included(s, st) && !(st == s->k->fold && s->piece == COMBINE));
    if (in && ((st->tag == KX_S_LOAD && st->buffer == buffer) || loads(s, &st->body, buffer, all || st == s->k->fold)))
      return true;
  }
  return false;
}

/* ---- names that the parent does not use ---------------------------------------------------------- */

static bool is_known(const em_kernel *k, const char *text)
{
  for (size_t i = 0; i < k->names.n_buckets; i++)
    for (const kx_name *n = k->names.buckets[i]; n; n = n->next_in_bucket)
      if (!strcmp(n->text, text)) return true;
  return false;
}

/* `stem`, or `stem` with a number. */
static void new_name(const em_kernel *k, const char *stem, char out[80])
{
  snprintf(out, 80, "%.60s", stem);
  for (int i = 2; is_known(k, out); i++) snprintf(out, 80, "%.60s_%d", stem, i);
}

/* Stems of different states differ in their middle, so that numbers cannot make two the same. */
static void choose_names(splitter *s)
{
  const char *output = s->k->loop->outputs[0].name;
  char stem[80];
  new_name(s->k, "part", s->part);
  for (int i = 0; i < s->n_states; i++) {
    snprintf(stem, sizeof stem, i ? "%.40s__part%d" : "%.40s__part", em_name_is_identifier(output) ? output : "out", i);
    new_name(s->k, stem, s->workspace[i]);
    snprintf(stem, sizeof stem, "part%d_in", i);
    new_name(s->k, stem, s->loaded[i]);
  }
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void begin(splitter *s)
{
  em_str_put(s->print.out, s->first ? "" : ",");
  s->first = false;
}

static void open_loop(splitter *s, const char *name, const kx_dim *extent)
{
  begin(s);
  em_str_printf(s->print.out, "{\"Loop\":{\"axis\":{\"name\":\"%s\",\"extent\":", name);
  kx_print_dim(&s->print, extent);
  em_str_put(s->print.out, "},\"body\":[");
  s->first = true;
}

static void close_loop(splitter *s)
{
  em_str_put(s->print.out, "]}}");
  s->first = false;
}

/* [part, grid axes...], the place of a state in its workspace. */
static void put_place(splitter *s)
{
  em_str_printf(s->print.out, "[\"%s\"", s->part);
  for (int i = 0; i < s->k->nest.n_free; i++) em_str_printf(s->print.out, ",\"%s\"", s->k->grid[i]->axis->name);
  em_str_putc(s->print.out, ']');
}

static void put_fold(splitter *s)
{
  kx_stmt fold = *s->k->fold;
  kx_axis axis = *fold.axis;
  axis.extent = (kx_dim){.size = s->print.chunk, .hint = s->print.chunk};
  fold.axis = &axis;
  begin(s);
  s->print.from = s->k->fold->axis;
  kx_print_stmt(&s->print, &fold);
  s->print.from = NULL;
}

/* The states leave the partial kernel. */
static void put_state_stores(splitter *s)
{
  for (int i = 0; i < s->n_states; i++) {
    begin(s);
    em_str_put(s->print.out, "{\"Write\":{\"output\":");
    em_str_put_json(s->print.out, s->workspace[i]);
    em_str_put(s->print.out, ",\"index\":");
    put_place(s);
    em_str_printf(s->print.out, ",\"values\":[\"%s\"]}}", s->states[i]->defs.items[0].value->name);
  }
}

/* The states are put together again, under the names that the epilogue knows. */
static void put_combining_fold(splitter *s)
{
  kx_dim parts = {.size = s->width, .hint = s->width};
  open_loop(s, s->part, &parts);
  for (int i = 0; i < s->n_states; i++) {
    const kx_stmt *state = s->states[i];
    begin(s);
    em_str_printf(s->print.out, "{\"Load\":{\"names\":[\"%s\"],\"input\":", s->loaded[i]);
    em_str_put_json(s->print.out, s->workspace[i]);
    em_str_put(s->print.out, ",\"index\":");
    put_place(s);
    em_str_printf(s->print.out, "}},{\"Accum\":{\"name\":\"%s\",\"value\":\"%s\"", state->defs.items[0].value->name,
                  s->loaded[i]);
    if (strcmp(state->op, "add")) em_str_printf(s->print.out, ",\"op\":\"%s\"", state->op);
    em_str_printf(s->print.out, ",\"axes\":[\"%s\"]}}", s->part);
  }
  close_loop(s);
}

static void put_stmt(splitter *s, const kx_stmt *st)
{
  kx_stmt copy = *st;
  copy.flag = copy.flag || (st->tag == KX_S_WRITE && s->piece == ATOMIC);
  begin(s);
  kx_print_stmt(&s->print, &copy);
}

static void put_level(splitter *s, const kx_body *b)
{
  for (size_t i = 0; i < b->n; i++) {
    const kx_stmt *st = &b->items[i];
    if (!included(s, st)) continue;
    if (is_grid(s->k, st)) {
      open_loop(s, st->axis->name, &st->axis->extent);
      put_level(s, &st->body);
      close_loop(s);
    } else if (st == s->k->fold && s->piece == COMBINE) {
      put_combining_fold(s);
    } else if (st == s->k->fold) {
      put_fold(s);
      if (s->piece == PARTIAL) put_state_stores(s);
    } else {
      put_stmt(s, st);
    }
  }
}

/* Partial sums are kept in f32, or wider where the values are wider. */
static em_dtype state_dtype(const kx_stmt *accum)
{
  const kx_value *v = accum->uses.items[0].value;
  em_dtype t = accum->dtype ? accum->dtype : v && v->def->dtype ? v->def->dtype : v ? v->source : EM_DTYPE_NONE;
  switch (t) {
  case EM_F64:
  case EM_I16:
  case EM_I32:
  case EM_I64:
  case EM_U8:
  case EM_U16:
  case EM_U32:
  case EM_U64: return t;
  default: return EM_F32;
  }
}

static void put_workspace(splitter *s, int i)
{
  em_str_putc(s->print.out, '[');
  em_str_put_json(s->print.out, s->workspace[i]);
  em_str_printf(s->print.out, ",\"%s\",[%d", em_dtype_name(state_dtype(s->states[i])), s->width);
  for (int j = 0; j < s->k->nest.n_free; j++) {
    em_str_putc(s->print.out, ',');
    kx_print_dim(&s->print, &s->k->grid[j]->axis->extent);
  }
  em_str_put(s->print.out, "]]");
}

/* The nodes of what the piece reads. */
static void put_sources(splitter *s)
{
  for (size_t i = 0; i < s->k->n_nodes; i++) {
    const kx_node *node = &s->k->nodes[i];
    bool used = false;
    for (size_t j = 0; j < node->n_outputs && node->kind != KX_LOOP; j++)
      used = used || loads(s, &s->k->body, &node->outputs[j], false);
    if (used) {
      begin(s);
      kx_print_node(&s->print, s->k, node);
    }
  }
  for (int i = 0; i < s->n_states && s->piece == COMBINE; i++) {
    begin(s);
    em_str_put(s->print.out, "{\"id\":");
    em_str_put_json(s->print.out, s->workspace[i]);
    em_str_put(s->print.out, ",\"op\":\"input\",\"outputs\":[");
    put_workspace(s, i);
    em_str_put(s->print.out, "]}");
  }
}

/* Names of what the piece reads: the workspaces, then the parent's inputs in its order. */
static void put_inputs(splitter *s, kx_buffer *const *list, size_t n)
{
  s->first = true;
  for (int i = 0; i < s->n_states && s->piece == COMBINE; i++) {
    begin(s);
    em_str_put_json(s->print.out, s->workspace[i]);
  }
  for (size_t i = 0; i < n; i++)
    if (loads(s, &s->k->body, list[i], false)) {
      begin(s);
      em_str_put_json(s->print.out, list[i]->name);
    }
}

static void put_loop_node(splitter *s, const char *name)
{
  kx_dim parts = {.size = s->width, .hint = s->width};
  begin(s);
  em_str_put(s->print.out, "{\"id\":");
  em_str_put_json(s->print.out, s->piece == PARTIAL ? s->workspace[0] : s->k->loop->id);
  em_str_put(s->print.out, ",\"op\":\"loop\",\"attrs\":{\"body\":[");
  s->first = true;
  if (s->piece != COMBINE) open_loop(s, s->part, &parts);
  put_level(s, &s->k->body);
  em_str_put(s->print.out, s->piece != COMBINE ? "]}}" : "");
  em_str_printf(s->print.out, "],\"name\":\"%s\"},\"inputs\":[", name);
  put_inputs(s, s->k->loop->inputs, s->k->loop->n_inputs);
  em_str_put(s->print.out, "],\"outputs\":[");
  s->first = true;
  for (int i = 0; i < s->n_states && s->piece == PARTIAL; i++) {
    begin(s);
    put_workspace(s, i);
  }
  for (size_t i = 0; i < s->k->loop->n_outputs && s->piece != PARTIAL; i++) {
    begin(s);
    kx_print_buffer(&s->print, &s->k->loop->outputs[i]);
  }
  em_str_put(s->print.out, "]}");
}

static void put_graph(splitter *s, const char *name)
{
  em_str *out = s->print.out;
  em_str_put(out, "{\"inputs\":[");
  put_inputs(s, s->k->inputs, s->k->n_inputs);
  em_str_put(out, "],\"outputs\":[");
  s->first = true;
  for (int i = 0; i < s->n_states && s->piece == PARTIAL; i++) {
    begin(s);
    em_str_put_json(out, s->workspace[i]);
  }
  for (size_t i = 0; i < s->k->n_outputs && s->piece != PARTIAL; i++) {
    begin(s);
    em_str_put_json(out, s->k->outputs[i]->name);
  }
  em_str_put(out, "],\"nodes\":[");
  s->first = true;
  put_sources(s);
  put_loop_node(s, name);
  em_str_put(out, "]}");
}

static int make_piece(splitter *s, piece what, const char *suffix, em_kernel **out)
{
  em_str text = {0}, name = {0};
  s->piece = what;
  memset(s->needed, 0, (size_t)s->k->n_values * sizeof *s->needed);
  find_needed(s, &s->k->body);
  em_str_printf(&name, "%s__%s", s->k->name, suffix);
  int rc = em_str_finish(&name, s->err);
  if (rc) return rc;
  s->print.out = &text;
  put_graph(s, name.s);
  s->print.out = NULL;
  rc = kx_from_text(&text, name.s, true, out, s->err);
  em_str_free(&name);
  return rc;
}

int em_kernel_split(const em_kernel *k, int width, char finalize, em_kernel *out[2], size_t *n, em_err *err)
{
  splitter s = {.k = k, .width = width, .err = err};
  const char *why = find_states(&s);
  if (!why) why = refusal(k, width, finalize, s.n_states);
  for (size_t i = 0; !why && i < k->loop->n_outputs; i++)
    if (loads(&s, &k->body, &k->loop->outputs[i], true)) why = "the kernel reads its own output";
  if (why) return em_fail(err, EM_E_INPUT, "%s: REDUCE g%d%c: %s", k->name, width, finalize, why);
  s.print.chunk = k->nest.fold.extent / width;
  s.print.part = s.part;
  choose_names(&s);
  if (!(s.needed = em_calloc((size_t)k->n_values + 1, sizeof *s.needed))) return em_fail_nomem(err);
  em_kernel *pieces[2] = {NULL, NULL};
  int rc = make_piece(&s, finalize == 'a' ? ATOMIC : PARTIAL, "partial", &pieces[0]);
  if (!rc && finalize == 'k' && (rc = make_piece(&s, COMBINE, "combine", &pieces[1]))) em_kernel_free(pieces[0]);
  em_free(s.needed);
  if (rc) return rc;
  *n = finalize == 'k' ? 2 : 1;
  out[0] = pieces[0];
  out[1] = pieces[1];
  return EM_OK;
}
