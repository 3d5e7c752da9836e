/* kernel_json.c - names, and JSON values that are kept as they are. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/kernel_int.h"

/* ---- names ---------------------------------------------------------------------- */

static bool grow_names(em_arena *a, kx_names *t)
{
  size_t n = t->n_buckets ? t->n_buckets * 4 : 64;
  kx_name **buckets = em_arena_alloc(a, n, sizeof *buckets);
  if (!buckets) return false;
  for (size_t i = 0; i < t->n_buckets; i++)
    for (kx_name *next, *p = t->buckets[i]; p; p = next) {
      next = p->next_in_bucket;
      p->next_in_bucket = buckets[p->hash % n];
      buckets[p->hash % n] = p;
    }
  t->buckets = buckets;
  t->n_buckets = n;
  return true;
}

kx_name *kx_intern(em_arena *a, kx_names *t, const char *text, size_t len)
{
  if (t->n >= t->n_buckets && !grow_names(a, t)) return NULL;
  uint64_t hash = em_digest_bytes(text, len).lo;
  kx_name **bucket = &t->buckets[hash % t->n_buckets];
  for (kx_name *p = *bucket; p; p = p->next_in_bucket)
    if (p->hash == hash && !strncmp(p->text, text, len) && !p->text[len]) return p;
  kx_name *name = em_arena_alloc(a, 1, sizeof *name);
  char *copy = em_arena_alloc(a, len + 1, 1);
  if (!name || !copy) return NULL;
  memcpy(copy, text, len);
  *name = (kx_name){.text = copy, .hash = hash, .next_in_bucket = *bucket};
  *bucket = name;
  t->n++;
  return name;
}

/* ---- text that does not depend on the order of keys --------------------------- */

static int by_key(const void *a, const void *b)
{
  return strcmp((*(cJSON *const *)a)->string, (*(cJSON *const *)b)->string);
}

static void put_canon(const cJSON *json, em_str *out);

static bool listed(const char *const *skip, const char *key)
{
  for (; skip && *skip; skip++)
    if (!strcmp(*skip, key)) return true;
  return false;
}

static void put_object(const cJSON *json, const char *const *skip, bool canon, em_str *out)
{
  const cJSON **members = em_calloc((size_t)cJSON_GetArraySize(json) + 1, sizeof(cJSON *));
  size_t n = 0;
  if (!members) {
    out->failed = true;
    return;
  }
  for (const cJSON *m = json->child; m; m = m->next)
    if (!listed(skip, m->string)) members[n++] = m;
  if (canon) qsort(members, n, sizeof *members, by_key);
  em_str_putc(out, '{');
  for (size_t i = 0; i < n; i++) {
    em_str_put(out, i ? "," : "");
    em_str_put_json(out, members[i]->string);
    em_str_putc(out, ':');
    (canon ? put_canon : em_json_print)(members[i], out);
  }
  em_str_putc(out, '}');
  em_free(members);
}

static void put_canon(const cJSON *json, em_str *out)
{
  char buf[EM_DOUBLE_LEN];
  if (cJSON_IsObject(json)) {
    put_object(json, NULL, true, out);
  } else if (cJSON_IsArray(json)) {
    em_str_putc(out, '[');
    for (const cJSON *m = json->child; m; m = m->next) {
      put_canon(m, out);
      em_str_put(out, m->next ? "," : "");
    }
    em_str_putc(out, ']');
  } else if (cJSON_IsNumber(json) && json->valuestring && strpbrk(json->valuestring, ".eE") &&
             isfinite(json->valuedouble)) {
    em_str_put(out, em_double_repr(json->valuedouble, buf)); /* 1e-6 and 1.0e-06 are one number */
  } else {
    em_json_print(json, out);
  }
}

static int keep(em_arena *a, em_str *text, const char **out, em_err *err)
{
  int rc = em_str_finish(text, err);
  if (rc) return rc;
  *out = em_arena_strdup(a, text->s);
  em_str_free(text);
  return *out ? EM_OK : em_fail_nomem(err);
}

int kx_raw_keep(em_arena *a, const cJSON *json, const char *const *skip, kx_raw *out, em_err *err)
{
  em_str text = {0}, canon = {0};
  if (skip)
    put_object(json, skip, false, &text);
  else
    em_json_print(json, &text);
  int rc = keep(a, &text, &out->text, err);
  if (rc) return rc;
  if (skip)
    put_object(json, skip, true, &canon);
  else
    put_canon(json, &canon);
  return keep(a, &canon, &out->canon, err);
}
