/* cmd_db_export.c - emmy db export. */
#include "tui/cli.h"

enum { DATASET, GOLDEN, MEASURED, POOLS, CANDIDATES, MERGED, SKIPPED };

static const em_view_column columns[] = {
  {"dataset", "dataset", EM_TEXT, "", 24, 0, "the folder that was written"},
  {"golden_groups", "golden groups", EM_INT, "groups", 13, 0, "groups of golden pools"},
  {"measured_groups", "measured groups", EM_INT, "groups", 15, 0, "groups of measured pools"},
  {"pools", "pools", EM_INT, "pools", 5, 0, "golden pools in the groups"},
  {"candidates", "candidates", EM_INT, "candidates", 10, 0, "rows of all matrices"},
  {"merged", "merged", EM_INT, "pools", 6, 0, "pools that share a group, their matrices being equal"},
  {"skipped", "skipped", EM_INT, "", 7, 0, "what could not be used; the dataset lists it (emmy view skipped)"},
};

typedef struct result {
  const char *dir;
  em_export_report r;
} result;

static void get(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const result *x = ctx;
  (void)row;
  switch (column) {
  case DATASET: em_cell_text(out, x->dir); break;
  case GOLDEN: em_cell_int(out, (int64_t)x->r.golden_groups); break;
  case MEASURED: em_cell_int(out, (int64_t)x->r.measured_groups); break;
  case POOLS: em_cell_int(out, (int64_t)x->r.pools); break;
  case CANDIDATES: em_cell_int(out, (int64_t)x->r.rows); break;
  case MERGED: em_cell_int(out, (int64_t)x->r.merged); break;
  default: em_cell_int(out, (int64_t)x->r.skipped);
  }
}

int em_cmd_db_export(const em_args *a, em_err *err)
{
  char *db = NULL;
  em_store *store;
  em_export_options o = {.pool_sample = (size_t)a->opt[EM_OPT_SAMPLE].i,
                         .seed = (uint64_t)a->opt[EM_OPT_SEED].i,
                         .features = a->opt[EM_OPT_FEATURES].text,
                         .threads = (int)a->opt[EM_OPT_THREADS].i};
  result x = {.dir = a->words[0]};
  int rc = em_args_db(a, &db, err);
  if (rc == EM_OK) rc = em_store_open(db, EM_STORE_READ, &store, err);
  em_free(db);
  if (rc != EM_OK) return rc;
  rc = em_mkdirs_of(x.dir, err);
  if (rc == EM_OK) rc = em_dataset_export(store, x.dir, &o, em_cli_progress(), &x.r, err);
  em_cli_progress_end();
  em_store_close(store);
  if (rc != EM_OK) return rc;
  em_table t = {columns, sizeof columns / sizeof *columns, 1, get, &x};
  return em_table_print(a, &t, err);
}
