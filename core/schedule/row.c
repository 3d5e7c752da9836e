/* row.c - one-site rows: order, text. */
#include "core/schedule/schedule_int.h"

#include <string.h>

/* The families of a row, in the order of its text and of the canonical row order. */
static const em_family row_families[] = {EM_WORK, EM_TILE, EM_REDUCE, EM_STAGE, EM_RASTER};
enum { N_ROW_FAMILIES = sizeof row_families / sizeof row_families[0] };

static uint64_t value_key(const em_row *r, em_family f)
{
  switch (f) {
  case EM_WORK: return em_work_key(r->work);
  case EM_TILE: return em_tile_key(r->tile);
  case EM_REDUCE: return em_reduce_key(r->reduce);
  case EM_STAGE: return em_stage_key(r->stage);
  default: return em_raster_key(r->raster);
  }
}

const char *em_row_value(const em_row *r, em_family f, char buf[EM_VALUE_LEN])
{
  if (!(r->present & EM_HAS(f))) return NULL;
  switch (f) {
  case EM_WORK: return em_work_print(r->work, buf);
  case EM_TILE: return em_tile_print(r->tile, buf);
  case EM_REDUCE: return em_reduce_print(r->reduce, buf);
  case EM_STAGE: return em_stage_print(r->stage, buf);
  case EM_RASTER: return em_raster_print(r->raster, buf);
  default: return NULL;
  }
}

static int compare_value(const em_row *a, const em_row *b, em_family f)
{
  if (value_key(a, f) == value_key(b, f)) return 0;
  char abuf[EM_VALUE_LEN], bbuf[EM_VALUE_LEN];
  return strcmp(em_row_value(a, f, abuf), em_row_value(b, f, bbuf));
}

/* The next family at or after *i that the row spells. */
static const em_family *next_family(const em_row *r, int *i)
{
  for (; *i < N_ROW_FAMILIES; ++*i)
    if (r->present & EM_HAS(row_families[*i])) return &row_families[(*i)++];
  return NULL;
}

int em_row_compare(const em_row *a, const em_row *b)
{
  for (int i = 0, j = 0;;) {
    const em_family *fa = next_family(a, &i), *fb = next_family(b, &j);
    if (!fa || !fb) return (fa != NULL) - (fb != NULL);
    if (*fa != *fb) return strcmp(em_family_at(*fa)->name, em_family_at(*fb)->name);
    int c = compare_value(a, b, *fa);
    if (c != 0) return c;
  }
}

bool em_row_equal(const em_row *a, const em_row *b) { return em_row_compare(a, b) == 0; }

const char *em_row_print(const em_row *r, char buf[EM_ROW_LEN])
{
  char *p = buf;
  for (int i = 0; i < N_ROW_FAMILIES; i++) {
    char value[EM_VALUE_LEN];
    if (!em_row_value(r, row_families[i], value)) continue;
    const char *name = em_family_at(row_families[i])->name;
    if (p > buf) *p++ = ' ';
    p = stpcpy(p, name);
    *p++ = '=';
    p = stpcpy(p, value);
  }
  *p = '\0';
  return buf;
}

static int parse_value(em_row *r, em_family f, const char *value, em_err *err)
{
  em_work w = r->present & EM_HAS(EM_WORK) ? r->work : EM_WORK_MISSING;
  switch (f) {
  case EM_WORK: return em_work_parse(value, &r->work, err);
  case EM_TILE: return em_tile_parse(value, w, &r->tile, err);
  case EM_REDUCE: return em_reduce_parse(value, w, &r->reduce, err);
  case EM_STAGE: return em_stage_parse(value, &r->stage, err);
  default: return em_raster_parse(value, &r->raster, err);
  }
}

/* WORK comes first, so the values after it are read against it. */
static int add_value(em_row *r, em_family f, const char *value, em_err *err)
{
  int rc = parse_value(r, f, value, err);
  if (!rc) r->present |= EM_HAS(f);
  return rc;
}

static int fail_line(em_err *err, const char *line, const char *at)
{
  return em_fail(err, EM_E_INPUT,
                 "row \"%.200s\": at character %td expected FAMILY=value with one blank between, families in the order "
                 "WORK TILE REDUCE STAGE RASTER, each at most once",
                 line, at - line + 1);
}

int em_row_parse(const char *line, em_row *out, em_err *err)
{
  em_row r = {0};
  int i = 0;
  const char *s = line;
  while (*s) {
    size_t word = strcspn(s, " "), name = strcspn(s, "=");
    char value[EM_VALUE_LEN];
    while (i < N_ROW_FAMILIES && !(strlen(em_family_at(row_families[i])->name) == name &&
                                   memcmp(em_family_at(row_families[i])->name, s, name) == 0))
      i++;
    if (i == N_ROW_FAMILIES || name >= word || word - name > sizeof value) return fail_line(err, line, s);
    memcpy(value, s + name + 1, word - name - 1);
    value[word - name - 1] = '\0';
    int rc = add_value(&r, row_families[i++], value, err);
    if (rc) return rc;
    s += word;
    if (*s == ' ' && *++s == '\0') return fail_line(err, line, s);
  }
  *out = r;
  return EM_OK;
}

int em_row_from_knobs(const em_knobs *k, em_row *out, bool *single, em_err *err)
{
  int rc = em_knobs_check(k, NULL, err);
  if (rc) return rc;
  *single = true;
  for (size_t i = 0; i < k->n; i++) {
    em_key key = em_key_split(k->items[i].key);
    if (key.is_family && (key.route || em_knob_is_structural(k->items[i].key, k->items[i].value))) *single = false;
  }
  em_row r = {0};
  for (int i = 0; *single && i < N_ROW_FAMILIES; i++) {
    const char *value = em_knobs_get(k, em_family_at(row_families[i])->name);
    rc = value ? add_value(&r, row_families[i], value, err) : EM_OK;
    if (rc) return rc;
  }
  if (*single) *out = r;
  return EM_OK;
}

int em_row_to_knobs(const em_row *r, em_knobs *out, em_err *err)
{
  *out = (em_knobs){0};
  for (int i = 0; i < N_ROW_FAMILIES; i++) {
    char buf[EM_VALUE_LEN];
    const char *value = em_row_value(r, row_families[i], buf);
    int rc = value ? em_knobs_set(out, em_family_at(row_families[i])->name, value, err) : EM_OK;
    if (rc) {
      em_knobs_free(out);
      return rc;
    }
  }
  return EM_OK;
}
