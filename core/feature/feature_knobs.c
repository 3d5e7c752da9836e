/*
 * feature_knobs.c - rows of any number of sites: each site by the formulas of
 * feature_sites.c, then pooled as the registry says.
 *
 * The keys FAMILY@route of one route are a site; the bare keys are one more,
 * evaluated last.  A row without TILE, REDUCE and STAGE has one site that defines nothing but
 * its resources.
 */
#include <string.h>

#include "core/feature/feature_int.h"

static const em_family site_families[] = {EM_TILE, EM_REDUCE, EM_STAGE};
enum { N_SITE_FAMILIES = sizeof site_families / sizeof *site_families };

/* Value of FAMILY@route, or of the bare family when route is NULL; NULL = missing. */
static const char *site_value(const em_knobs *row, em_family family, const char *route)
{
  const char *name = em_family_at(family)->name;
  size_t len = strlen(name);
  for (size_t i = 0; i < row->n; i++) {
    const char *key = row->items[i].key;
    if (strncmp(key, name, len) != 0) continue;
    if (route ? key[len] == '@' && strcmp(key + len + 1, route) == 0 : key[len] == '\0') return row->items[i].value;
  }
  return NULL;
}

/* The least route after `last` (NULL = the first), or NULL at the end. */
static const char *next_route(const em_knobs *row, const char *last)
{
  const char *next = NULL;
  for (size_t i = 0; i < row->n; i++) {
    const char *at = strchr(row->items[i].key, '@');
    for (int f = 0; at && f < N_SITE_FAMILIES; f++) {
      const char *name = em_family_at(site_families[f])->name;
      size_t len = (size_t)(at - row->items[i].key);
      if (strlen(name) != len || strncmp(row->items[i].key, name, len) != 0) continue;
      if ((!last || strcmp(at + 1, last) > 0) && (!next || strcmp(at + 1, next) < 0)) next = at + 1;
    }
  }
  return next;
}

static int parse_value(em_family family, const char *value, em_work work, em_row *out, em_err *err)
{
  switch (family) {
  case EM_WORK: return em_work_parse(value, &out->work, err);
  case EM_TILE: return em_tile_parse(value, work, &out->tile, err);
  case EM_REDUCE: return em_reduce_parse(value, work, &out->reduce, err);
  case EM_STAGE: return em_stage_parse(value, &out->stage, err);
  default: return em_raster_parse(value, &out->raster, err);
  }
}

static int read_family(const em_knobs *row, em_family family, const char *route, em_work work, em_row *out, em_err *err)
{
  const char *value = site_value(row, family, route);
  if (!value) return EM_OK;
  if (parse_value(family, value, work, out, err) != EM_OK)
    return em_err_prefix(err, "%s%s%s", em_family_at(family)->name, route ? "@" : "", route ? route : "");
  out->present |= EM_HAS(family);
  return EM_OK;
}

/* WORK, RASTER and the first REDUCE: what the features of the whole row read. */
static int read_row(const em_knobs *row, em_row *out, em_err *err)
{
  const char *route = site_value(row, EM_REDUCE, NULL) ? NULL : next_route(row, NULL);
  while (route && !site_value(row, EM_REDUCE, route)) route = next_route(row, route);
  int rc = read_family(row, EM_WORK, NULL, out->work, out, err);
  if (rc == EM_OK) rc = read_family(row, EM_RASTER, NULL, out->work, out, err);
  if (rc == EM_OK) rc = read_family(row, EM_REDUCE, route, out->work, out, err);
  return rc;
}

/* One site's row: its own keys, and WORK where the site claims workers or has no rival. */
static int read_site(const em_knobs *row, const em_row *whole, const char *route, bool sole, em_row *site, em_err *err)
{
  const char *tile = site_value(row, EM_TILE, route), *reduce = site_value(row, EM_REDUCE, route);
  bool claims = (tile && *tile) || (reduce && strstr(reduce, "coop"));
  *site = (em_row){.present = whole->present & (EM_HAS(EM_WORK) | EM_HAS(EM_RASTER)), .raster = whole->raster};
  if (sole || claims) site->work = whole->work;
  for (int f = 0; f < N_SITE_FAMILIES; f++) {
    int rc = read_family(row, site_families[f], route, site->work, site, err);
    if (rc != EM_OK) return rc;
  }
  return EM_OK;
}

static double pool_value(em_site_pooling how, double total, double x)
{
  if (isnan(total) || isnan(x)) return isnan(total) ? x : total;
  switch (how) {
  case EM_SITES_max: return total > x ? total : x;
  case EM_SITES_min: return total < x ? total : x;
  default: return total + x;
  }
}

static int add_site(const em_featurizer *f, const em_knobs *row, const em_row *whole, const char *route, bool sole,
                    double *total, em_err *err)
{
  double v[EM_N_FEATURE_IDS];
  em_row site;
  int rc = read_site(row, whole, route, sole, &site, err);
  if (rc != EM_OK) return rc;
  em_all_missing(v);
  em_feature_tile(f, &site, v);
  em_feature_stage(f, &site, v);
  em_feature_resources(f, &site, v);
  for (int id = 0; id < EM_N_FEATURE_IDS; id++)
    total[id] = pool_value(em_feature_traits_of((em_feature_id)id)->pooling, total[id], v[id]);
  return EM_OK;
}

static int add_sites(const em_featurizer *f, const em_knobs *row, const em_row *whole, double *total, em_err *err)
{
  const char *first = next_route(row, NULL);
  bool bare = !first, sole = first && !next_route(row, first);
  for (int i = 0; i < N_SITE_FAMILIES; i++) bare = bare || site_value(row, site_families[i], NULL);
  for (const char *route = first; route; route = next_route(row, route)) {
    int rc = add_site(f, row, whole, route, sole, total, err);
    if (rc != EM_OK) return rc;
  }
  return bare ? add_site(f, row, whole, NULL, true, total, err) : EM_OK;
}

/* A knob of its own name: a boolean as 0 or 1, else its number. */
static int read_knobs(const em_knobs *row, double *v, em_err *err)
{
  for (int id = 0; id < EM_N_FEATURE_IDS; id++) {
    if (em_feature_traits_of((em_feature_id)id)->form != EM_FORM_KNOB) continue;
    const char *name = em_feature_at((size_t)id)->name, *value = em_knobs_get(row, name);
    if (!value) continue;
    if (strcmp(value, "True") == 0)
      v[id] = 1.0;
    else if (strcmp(value, "False") == 0)
      v[id] = 0.0;
    else if (!em_parse_f64(value, &v[id]))
      return em_fail(err, EM_E_INPUT, "%s: found \"%s\", expected True, False or a number", name, value);
  }
  return EM_OK;
}

int em_featurize_knobs(const em_featurizer *f, const em_knobs *row, double *out, em_err *err)
{
  double total[EM_N_FEATURE_IDS];
  em_row whole = {.present = 0};
  em_all_missing(total);
  int rc = read_row(row, &whole, err);
  if (rc == EM_OK) rc = add_sites(f, row, &whole, total, err);
  if (rc == EM_OK) rc = read_knobs(row, total, err);
  if (rc != EM_OK) return rc;
  em_feature_row(f, &whole, total);
  em_gather_row(f, total, out);
  return EM_OK;
}
