/* prior_models.h - what several tests of core/prior use. */
#ifndef EM_TESTS_PRIOR_MODELS_H
#define EM_TESTS_PRIOR_MODELS_H

#include "tests/unit/unit.h"

#include "core/prior/prior.h"

/* EM_OK and *out, or the code and the message. */
static inline int try_parse(const char *text, em_model **out, em_err *err)
{
  cJSON *json;
  const em_place at = {.file = "m.json"};
  if (em_json_parse(text, strlen(text), "m.json", &json, err)) return err->code;
  int rc = em_model_parse(json, &at, out, err);
  em_json_free(json);
  return rc;
}

static inline em_model *must_parse(const char *text)
{
  em_err err;
  em_model *m = NULL;
  if (try_parse(text, &m, &err)) fail_msg("%s", err.msg);
  return m;
}

/* The columns 0, 1, 2, ... of a row are the model's features. */
static inline double score_one(const em_model *m, const double *row)
{
  em_err err;
  double quality;
  int32_t col[64];
  for (int i = 0; i < 64; i++) col[i] = i;
  assert_int_equal(em_model_score(m, row, 1, em_model_n_features(m), col, 1, &quality, &err), EM_OK);
  return quality;
}

#endif
