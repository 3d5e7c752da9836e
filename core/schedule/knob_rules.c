/* knob_rules.c - what two rows say to each other: unused values, same schedule,
 * agreement, canonical order. */
#include "core/schedule/schedule_int.h"

#include <string.h>

bool em_knob_is_structural(const char *key, const char *value)
{
  em_key k = em_key_split(key);
  return k.is_family && (em_family_at(k.family)->structural || (k.family == EM_REDUCE && value[0] == 'g'));
}

bool em_knob_is_off(const char *key, const char *value)
{
  em_key k = em_key_split(key);
  if (k.is_family) return !em_family_at(k.family)->structural && value[0] == '\0';
  const em_knob_info *info = em_knob_info_find(key, strlen(key));
  return info && info->off && strcmp(info->off, value) == 0;
}

static bool is_bool(const char *key)
{
  const em_knob_info *info = em_knob_info_find(key, strlen(key));
  return info && info->type == EM_KNOB_BOOL;
}

static const em_knob *next_used(const em_knobs *k, size_t *i)
{
  while (*i < k->n) {
    const em_knob *item = &k->items[(*i)++];
    if (!em_knob_is_off(item->key, item->value)) return item;
  }
  return NULL;
}

bool em_knobs_same_schedule(const em_knobs *a, const em_knobs *b)
{
  for (size_t i = 0, j = 0;;) {
    const em_knob *x = next_used(a, &i), *y = next_used(b, &j);
    if (!x || !y) return x == y;
    if (strcmp(x->key, y->key) != 0 || strcmp(x->value, y->value) != 0) return false;
  }
}

/* ---- agreement ---- */

static bool same_family(const em_key *a, const char *key)
{
  em_key b = em_key_split(key);
  return b.is_family && a->is_family && a->family == b.family;
}

/* The bare value of the key's family when the row has no other key of it. */
static const char *only_bare(const em_knobs *measured, const em_key *key)
{
  for (size_t i = 0; i < measured->n; i++)
    if (same_family(key, measured->items[i].key) && strchr(measured->items[i].key, '@')) return NULL;
  return em_knobs_get(measured, em_family_at(key->family)->name);
}

/* Over the candidate's sites of the family: one carries `value`, the others are unused. */
static bool one_site_carries(const em_knobs *candidate, const em_key *key, const char *value)
{
  size_t carrying = 0;
  for (size_t i = 0; i < candidate->n; i++) {
    const em_knob *site = &candidate->items[i];
    if (!same_family(key, site->key) || !strchr(site->key, '@') || em_knob_is_off(site->key, site->value)) continue;
    if (strcmp(site->value, value) != 0) return false;
    carrying++;
  }
  return carrying == (em_knob_is_off(em_family_at(key->family)->name, value) ? 0 : 1);
}

static bool item_agrees(const em_knobs *candidate, const em_knob *item, const em_knobs *measured)
{
  if (is_bool(item->key)) return true;
  const char *value = em_knobs_get(measured, item->key);
  if (value) return strcmp(value, item->value) == 0;
  em_key key = em_key_split(item->key);
  value = key.is_family && key.route ? only_bare(measured, &key) : NULL;
  return !value || one_site_carries(candidate, &key, value);
}

bool em_knobs_agree(const em_knobs *candidate, const em_knobs *measured)
{
  for (size_t i = 0; i < candidate->n; i++)
    if (!item_agrees(candidate, &candidate->items[i], measured)) return false;
  return true;
}

/* ---- canonical row order ---- */

static const struct rank {
  em_family family;
  bool route;
} ranks[] = {
  {EM_PLACE, true},   {EM_LAYOUT, true}, {EM_TILE, true},  {EM_REDUCE, true},  {EM_STAGE, true},  {EM_PLACE, false},
  {EM_LAYOUT, false}, {EM_WORK, false},  {EM_TILE, false}, {EM_REDUCE, false}, {EM_STAGE, false},
};
enum { N_RANKS = sizeof ranks / sizeof ranks[0] }; /* all others come after these */

static size_t rank_of(const char *key)
{
  em_key k = em_key_split(key);
  size_t r = 0;
  while (r < N_RANKS && !(k.is_family && ranks[r].family == k.family && ranks[r].route == (k.route != NULL))) r++;
  return r;
}

/* Walks a row in canonical order; inside a rank the map's own order is right. */
typedef struct walk {
  const em_knobs *k;
  size_t rank, i;
} walk;

static const em_knob *walk_next(walk *w)
{
  for (; w->rank <= N_RANKS; w->rank++, w->i = 0)
    while (w->i < w->k->n) {
      const em_knob *item = &w->k->items[w->i++];
      if (rank_of(item->key) == w->rank && !is_bool(item->key)) return item;
    }
  return NULL;
}

int em_knobs_compare(const em_knobs *a, const em_knobs *b)
{
  walk wa = {.k = a}, wb = {.k = b};
  for (;;) {
    const em_knob *x = walk_next(&wa), *y = walk_next(&wb);
    if (!x || !y) return (x != NULL) - (y != NULL);
    int c = strcmp(x->key, y->key);
    if (c == 0) c = strcmp(x->value, y->value);
    if (c != 0) return c;
  }
}
