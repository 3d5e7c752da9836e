/*
 * golden_int.h - what the parts of the golden file share with each other and
 * with the store.
 */
#ifndef EM_GOLDEN_INT_H
#define EM_GOLDEN_INT_H

#include "core/store/store.h"

/* Sizes of symbolic dimensions, {"sym":size}; read sorted by name.  The names are owned. */
int em_bindings_read(const cJSON *map, const em_place *at, em_binding **out, size_t *n, em_err *err) EM_MUST_CHECK;
/* The optional member "bindings" of an entry. */
int em_bindings_member(const cJSON *obj, const em_place *at, em_binding **out, size_t *n, em_err *err) EM_MUST_CHECK;
int em_bindings_copy(const em_binding *from, size_t n, em_binding **out, em_err *err) EM_MUST_CHECK;
void em_bindings_free(em_binding *b, size_t n);
void em_bindings_print(const em_binding *b, size_t n, em_str *out);

int em_knobs_copy(const em_knobs *from, em_knobs *out, em_err *err) EM_MUST_CHECK;

/* The input regime of a row: checks `pins` against the registered knobs; *text is its
 * canonical JSON (NULL when there is none). */
int em_pins_read(const cJSON *row, const em_place *at, char **text, em_regime *regime, em_err *err) EM_MUST_CHECK;

/* What a row's or an arm's knobs may spell (formats.md 1.5 and 1.6). */
int em_row_knobs_check(const em_knobs *k, const em_place *at, em_err *err) EM_MUST_CHECK;
int em_arm_check(const em_knobs *k, const em_place *at, em_err *err) EM_MUST_CHECK;

/* Gives the kernel the first free ref among its name (nth = 1), name#2, name#3 ..., from *nth on;
 * *nth moves past it.  `taken` answers whether a ref is in use. */
int em_golden_name_kernel(em_golden_kernel *k, unsigned *nth, bool (*taken)(void *ctx, const char *ref), void *ctx,
                          em_err *err) EM_MUST_CHECK;
/* Room for one more entry in a table of g: a table's capacity is the power of two at or
 * above its count, so it is full only at 0 and at powers of two. */
int em_golden_room(void *items, size_t n, size_t size, em_err *err) EM_MUST_CHECK;

void em_golden_kernel_clear(em_golden_kernel *k);
void em_golden_routing_clear(em_golden_routing *r);
void em_golden_row_clear(em_golden_row *r);

#endif
