/*
 * metrics.c - finding and reading the metrics.json of a fit.
 */
#include <math.h>
#include <string.h>

#include "core/eval/eval_int.h"

const cJSON *em_metrics_member(const cJSON *object, const char *path)
{
  char key[64];
  while (object && *path) {
    size_t n = strcspn(path, ".");
    if (n >= sizeof key) return NULL;
    memcpy(key, path, n);
    key[n] = '\0';
    object = cJSON_GetObjectItemCaseSensitive(object, key);
    path += n + (path[n] == '.');
  }
  return object;
}

double em_metrics_number(const cJSON *object, const char *path)
{
  const cJSON *m = em_metrics_member(object, path);
  return cJSON_IsNumber(m) ? m->valuedouble : NAN;
}

const char *em_metrics_text(const cJSON *object, const char *path)
{
  const cJSON *m = em_metrics_member(object, path);
  return cJSON_IsString(m) ? m->valuestring : NULL;
}

/* The file itself, in the folder, or in the folder of that name among the fits. */
static int find_file(const char *fit, char **out, em_err *err)
{
  char *folder = NULL;
  if (em_path_exists(fit) && !em_path_is_dir(fit)) {
    *out = em_strdup(fit);
    return *out ? EM_OK : em_fail_nomem(err);
  }
  int rc = em_path_is_dir(fit) ? em_path_join(&folder, err, fit, "") : em_path_join(&folder, err, EM_FITS_FOLDER, fit);
  if (rc == EM_OK) rc = em_path_join(out, err, folder, "metrics.json");
  em_free(folder);
  if (rc != EM_OK || em_path_exists(*out)) return rc;
  em_fail(err, EM_E_INPUT,
          "%s: no such fit: give a metrics.json, the folder that holds one, or a folder's name under " EM_FITS_FOLDER
          " (emmy fit makes them)",
          fit);
  em_free(*out);
  *out = NULL;
  return err->code;
}

int em_metrics_open(const char *fit, em_metrics *out, em_err *err)
{
  char *path = NULL;
  *out = (em_metrics){0};
  int rc = find_file(fit, &path, err);
  if (rc == EM_OK) rc = em_json_read(path, &out->json, err);
  if (rc == EM_OK) {
    out->header = em_metrics_member(out->json, "header");
    out->train = em_metrics_member(out->json, "full_train.per_golden");
    out->holdout = em_metrics_member(out->json, "cv.holdout_per_golden");
    out->measured = em_metrics_member(out->json, "full_train.measured.per_pool");
    out->measured_holdout = em_metrics_member(out->json, "cv.measured.holdout_per_pool");
    if (!cJSON_IsObject(out->holdout)) out->holdout = NULL;
    if (!cJSON_IsObject(out->measured)) out->measured = NULL;
    if (!cJSON_IsObject(out->measured_holdout)) out->measured_holdout = NULL;
    if (!cJSON_IsObject(out->header) || !cJSON_IsObject(out->train))
      rc = em_fail(err, EM_E_INPUT, "%s: has no header and full_train.per_golden, so it is no metrics file of emmy fit",
                   path);
  }
  if (rc != EM_OK) em_metrics_close(out);
  em_free(path);
  return rc;
}

void em_metrics_close(em_metrics *m)
{
  em_json_free(m->json);
  *m = (em_metrics){0};
}
