/* cmd_fit.c - emmy fit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/cli.h"

/* ---- options: the fit's own table ---- */

const em_option *em_fit_options(size_t *n)
{
  static em_option options[EM_MAX_MORE];
  static char defaults[EM_MAX_MORE][EM_FIT_TEXT_LEN];
  static char docs[EM_MAX_MORE][256];
  em_fit_params p;
  *n = em_n_fit_params() < EM_MAX_MORE ? em_n_fit_params() : EM_MAX_MORE;
  if (options[0].name) return options;
  em_fit_defaults(&p);
  for (size_t i = 0; i < *n; i++) {
    const em_fit_param *d = em_fit_param_at(i);
    em_fit_param_text(d, &p, defaults[i]);
    snprintf(docs[i], sizeof docs[i], "%s%s%s", d->doc, d->choices ? ": one of " : "", d->choices ? d->choices : "");
    /* Text: em_fit_param_set knows ranges and choices. */
    options[i] = (em_option){.name = d->name,
                             .kind = EM_OPTION_TEXT,
                             .arg = d->choices ? "NAME" : "N",
                             .dflt = defaults[i],
                             .doc = docs[i],
                             .values = d->choices};
  }
  return options;
}

static int read_params(const em_args *a, em_fit_params *p, em_err *err)
{
  size_t n;
  em_fit_options(&n);
  em_fit_defaults(p);
  for (size_t i = 0; i < n; i++) {
    if (em_fit_param_set(em_fit_param_at(i), p, a->more[i].text, err) == EM_OK) continue;
    err->code = EM_E_USAGE;
    return em_err_prefix(err, "fit");
  }
  p->features = a->opt[EM_OPT_FEATURES].text;
  if (em_fit_check(p, err) == EM_OK) return EM_OK;
  err->code = EM_E_USAGE;
  return em_err_prefix(err, "fit");
}

/* ---- where the results go ---- */

typedef struct places {
  const char *weights;
  char *dir; /* --out without slashes at its end; NULL = the next free number */
} places;

static bool folder_of(const char *path, char **out, em_err *err)
{
  const char *slash = strrchr(path, '/');
  *out = slash ? em_strndup(path, (size_t)(slash - path) + 1) : em_strdup("./");
  if (!*out) em_fail_nomem(err);
  return *out != NULL;
}

/* Found out before the training, not after it: can `path` be made in its folder? */
static int check_writable(const char *path, em_err *err)
{
  char *folder;
  int rc = em_mkdirs_of(path, err);
  if (rc != EM_OK || !folder_of(path, &folder, err)) return err->code;
  if (access(folder, W_OK) != 0) rc = em_fail_errno(err, EM_E_IO, errno, "%s: cannot write there", folder);
  em_free(folder);
  return rc;
}

/* The name without links and dots, of a folder that is there. */
static int real_folder(const char *folder, char **out, em_err *err)
{
  char *real = realpath(folder, NULL);
  if (!real) return em_fail_errno(err, EM_E_IO, errno, "%s: cannot find the folder", folder);
  *out = em_strdup(real);
  free(real);
  return *out ? EM_OK : em_fail_nomem(err);
}

/* The same of a path in a folder that is there; the path itself may not be. */
static int real_path(const char *path, char **out, em_err *err)
{
  char *folder = NULL, *real = NULL;
  const char *slash = strrchr(path, '/');
  if (!folder_of(path, &folder, err)) return err->code;
  int rc = real_folder(folder, &real, err);
  if (rc == EM_OK) rc = em_path_join(out, err, real, slash ? slash + 1 : path);
  em_free(real);
  em_free(folder);
  return rc;
}

/* Is it the folder, or below it? */
static bool is_within(const char *path, const char *folder)
{
  size_t n = strlen(folder);
  return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The file would be in the way of the folder; folders that were made for it go again. */
static int refuse_weights(const places *to, em_err *err)
{
  char *folder = em_strdup(to->weights), *slash;
  if (!folder) return em_fail_nomem(err);
  while (em_path_exists(to->dir) && (slash = strrchr(folder, '/'))) {
    *slash = '\0';
    if (rmdir(folder) != 0) break;
  }
  em_free(folder);
  return em_fail(err, EM_E_INPUT, "%s: lies in the folder of --out, which appears as a whole; name a file elsewhere",
                 to->weights);
}

static int check_weights(const places *to, em_err *err)
{
  char *weights = NULL, *dir = NULL;
  if (!to->dir) return EM_OK;
  int rc = real_path(to->weights, &weights, err);
  if (rc == EM_OK) rc = real_path(to->dir, &dir, err);
  if (weights && dir && is_within(weights, dir)) rc = refuse_weights(to, err);
  em_free(weights);
  em_free(dir);
  return rc;
}

int em_check_outside(const char *path, const char *dataset, em_err *err)
{
  char *file = NULL, *folder = NULL;
  int rc = real_path(path, &file, err);
  if (rc == EM_OK) rc = real_folder(dataset, &folder, err);
  if (file && folder && is_within(file, folder))
    rc = em_fail(err, EM_E_INPUT, "%s: lies in the dataset %s; name a file elsewhere", path, dataset);
  em_free(file);
  em_free(folder);
  return rc;
}

static int check_names(const places *to, em_err *err)
{
  size_t n = strlen(to->weights);
  if (em_path_is_dir(to->weights))
    return em_fail(err, EM_E_INPUT, "%s: is a folder, expected the file to write the prior to", to->weights);
  if (n == 0 || to->weights[n - 1] == '/')
    return em_fail(err, EM_E_INPUT, "\"%s\": expected the name of the file to write the prior to", to->weights);
  if (to->dir && !*to->dir) return em_fail(err, EM_E_INPUT, "--out \"\": expected the name of a folder");
  if (to->dir && em_path_exists(to->dir))
    return em_fail(err, EM_E_INPUT, "%s: exists; --out wants the name of a folder that does not", to->dir);
  return EM_OK;
}

static int check_places(const places *to, const char *dataset, em_err *err)
{
  int rc = check_names(to, err);
  if (rc == EM_OK) rc = check_writable(to->dir ? to->dir : EM_FITS_FOLDER "/0001", err);
  if (rc == EM_OK) rc = check_writable(to->weights, err);
  if (rc == EM_OK) rc = check_weights(to, err);
  return rc == EM_OK ? em_check_outside(to->weights, dataset, err) : rc;
}

static int places_of(const em_args *a, places *out, em_err *err)
{
  const char *dir = a->opt[EM_OPT_OUT_DIR].text;
  *out = (places){.weights = a->words[1]};
  if (!dir) return EM_OK;
  size_t n = strlen(dir);
  while (n > 1 && dir[n - 1] == '/') n--;
  out->dir = em_strndup(dir, n);
  return out->dir ? EM_OK : em_fail_nomem(err);
}

/* Makes the folder, so that nobody else takes it: --out, or the first number that is free. */
static int make_folder(const char *wish, char **out, em_err *err)
{
  for (int number = 1; number <= 9999; number++) {
    em_str name = {0};
    if (wish)
      em_str_put(&name, wish);
    else
      em_str_printf(&name, EM_FITS_FOLDER "/%04d", number);
    int rc = em_str_take(&name, out, err);
    if (rc != EM_OK || mkdir(*out, 0777) == 0) return rc;
    int errnum = errno;
    if (wish || errnum != EEXIST) rc = em_fail_errno(err, EM_E_IO, errnum, "%s: cannot make the folder", *out);
    em_free(*out);
    *out = NULL;
    if (rc != EM_OK) return rc;
  }
  return em_fail(err, EM_E_INPUT, EM_FITS_FOLDER ": holds fits up to 9999; remove some, or say --out DIR");
}

static int write_text(const char *folder, const char *name, const char *text, em_err *err)
{
  char *path;
  em_out *out = NULL;
  int rc = em_path_join(&path, err, folder, name);
  if (rc != EM_OK) return rc;
  rc = em_out_open(path, &out, err);
  em_free(path);
  if (rc != EM_OK) return rc;
  em_out_write(out, text, strlen(text));
  rc = em_out_commit(out, err);
  if (rc != EM_OK) em_out_abort(out);
  return rc;
}

static int save_prior(const char *folder, const em_prior *prior, em_err *err)
{
  char *path;
  int rc = em_path_join(&path, err, folder, "prior.json");
  if (rc != EM_OK) return rc;
  rc = em_prior_save(prior, path, err);
  em_free(path);
  return rc;
}

/* Folder and files appear whole: they are written beside and put in the place of the empty folder. */
static int write_results(const places *to, const em_fit_result *r, char **folder, em_err *err)
{
  em_outdir *dir = NULL;
  int rc = make_folder(to->dir, folder, err);
  if (rc != EM_OK) return rc;
  rc = em_outdir_begin(*folder, &dir, err);
  if (rc == EM_OK) rc = save_prior(em_outdir_path(dir), r->prior, err);
  if (rc == EM_OK) rc = write_text(em_outdir_path(dir), "metrics.json", r->metrics, err);
  if (rc == EM_OK) rc = em_prior_save(r->prior, to->weights, err);
  if (rc == EM_OK) rc = em_outdir_commit(dir, err);
  if (rc == EM_OK) return EM_OK;
  em_outdir_abort(dir);
  rmdir(*folder);
  return rc;
}

/* ---- the table: the summaries of metrics.json ---- */

typedef struct summary {
  const char *gpu, *split;
  const cJSON *json;
} summary;

enum { CARD, SPLIT, POOLS, MEDIAN, OPTIMISTIC, LOG2, TOP };

#define TOP_COLUMN(k) {"top" #k, "top-" #k, EM_INT, "pools", 7, 0, "pools whose golden is among the best " #k},
static const em_view_column columns[] = {
  {"card", "card", EM_TEXT, "", 30, 0, "card, or all of them"},
  {"split", "split", EM_TEXT, "", 8, 0, "all: trained on everything; holdout, train: cross-validation"},
  {"pools", "pools", EM_INT, "pools", 6, 0, "pools"},
  {"median", "median", EM_REAL, "", 7, 1, "median rank of the golden from 1, ties against it"},
  {"median_optimistic", "optimistic", EM_REAL, "", 10, 1, "the same with ties ignored"},
  {"mean_log2", "mean log2", EM_REAL, "", 9, 2, "mean of log2 of the rank"},
  EM_TOP_KS(TOP_COLUMN)};

static double number_at(const cJSON *json, const char *a, const char *b)
{
  const cJSON *v = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, a), b);
  return cJSON_IsNumber(v) ? v->valuedouble : __builtin_nan("");
}

static void get(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const summary *s = (const summary *)ctx + row;
  const cJSON *metrics = cJSON_GetObjectItemCaseSensitive(s->json, "metrics");
  const cJSON *groups = cJSON_GetObjectItemCaseSensitive(s->json, "groups");
  switch (column) {
  case CARD: em_cell_text(out, s->gpu); break;
  case SPLIT: em_cell_text(out, s->split); break;
  case POOLS: em_cell_int(out, cJSON_IsNumber(groups) ? (int64_t)groups->valuedouble : 0); break;
  case MEDIAN: em_cell_real(out, number_at(metrics, "rank", "median") + 1); break;
  case OPTIMISTIC: em_cell_real(out, number_at(metrics, "rank", "median_optimistic") + 1); break;
  case LOG2: em_cell_real(out, number_at(metrics, "rank", "mean_log2")); break;
  default: em_cell_int(out, (int64_t)number_at(metrics, columns[column].name, "count"));
  }
}

static const char *axis(const cJSON *json, const char *name, const char *otherwise)
{
  const cJSON *v = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "axes"), name);
  return cJSON_IsString(v) ? v->valuestring : otherwise;
}

static const cJSON *summaries_of(const cJSON *metrics, const char *part)
{
  return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(metrics, part), "summaries");
}

static int print_metrics(const em_args *a, const char *text, em_err *err)
{
  static const char *const parts[] = {"full_train", "cv"};
  cJSON *metrics;
  const cJSON *s;
  int rc = em_json_parse(text, strlen(text), "metrics.json", &metrics, err);
  if (rc != EM_OK) return rc;
  size_t n = 0, size = 0;
  for (int p = 0; p < 2; p++) size += (size_t)cJSON_GetArraySize(summaries_of(metrics, parts[p]));
  summary *all = em_calloc(size + 1, sizeof *all);
  if (!all) rc = em_fail_nomem(err);
  for (int p = 0; p < 2 && all; p++)
    cJSON_ArrayForEach(s, summaries_of(metrics, parts[p]))
      all[n++] = (summary){axis(s, "gpu", "all"), axis(s, "cv_split", "all"), s};
  em_table t = {columns, sizeof columns / sizeof *columns, n, get, all};
  if (rc == EM_OK && (n || !em_is_text_table(a))) rc = em_table_print(a, &t, err);
  em_free(all);
  em_json_free(metrics);
  return rc;
}

/* ---- the run ---- */

static int train(const em_dataset *d, const em_fit_params *p, em_fit_result *out, em_err *err)
{
  em_fit_group *groups = em_calloc(em_dataset_n_groups(d) + 1, sizeof *groups);
  if (!groups) return em_fail_nomem(err);
  em_dataset_fit_groups(d, p->labels, groups);
  int rc = em_fit_run(groups, em_dataset_n_groups(d), p, em_dataset_provenance(d), em_cli_progress(), out, err);
  em_free(groups);
  return rc;
}

static int report(const em_args *a, const em_fit_result *r, const char *folder, em_err *err)
{
  em_str text = {0};
  const char *fits[EM_MAX_PARAMS] = {folder};
  int rc = print_metrics(a, r->metrics, err);
  if (rc == EM_OK && em_is_text_table(a)) rc = em_print_fit_view(a, "fit_measured", fits, err);
  if (rc != EM_OK || !em_is_text_table(a)) return rc;
  em_str_put(&text, "wrote ");
  em_str_put_safe(&text, a->words[1]);
  em_str_put(&text, " and ");
  em_str_put_safe(&text, folder);
  em_str_put(&text, "/{prior,metrics}.json\n");
  return em_put_text(&text, err);
}

int em_cmd_fit(const em_args *a, em_err *err)
{
  em_fit_params p;
  em_dataset *d;
  em_fit_result r = {0};
  places to = {0};
  char *folder = NULL;
  int rc = read_params(a, &p, err);
  if (rc == EM_OK) rc = em_dataset_open(a->words[0], (int)p.feat_ver, &d, err);
  if (rc != EM_OK) return rc;
  rc = places_of(a, &to, err);
  if (rc == EM_OK) rc = check_places(&to, a->words[0], err);
  if (rc == EM_OK) rc = train(d, &p, &r, err);
  em_cli_progress_end();
  if (rc == EM_OK) rc = write_results(&to, &r, &folder, err);
  if (rc == EM_OK) rc = report(a, &r, folder, err);
  em_free(folder);
  em_free(to.dir);
  em_fit_result_free(&r);
  em_dataset_close(d);
  return rc;
}
