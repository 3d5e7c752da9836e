/* Any manifest beside one matrix of two rows: refused with a message, or a dataset that
 * can be read to its ends. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/dataset/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char dir[] = "/tmp/emmy-fuzz-XXXXXX";
static char manifest[64];

static void put(const char *name, const void *data, size_t size)
{
  FILE *f = fopen(name, "wb");
  if (!f || fwrite(data, 1, size, f) != size || fclose(f)) abort();
}

static void clean(void)
{
  if (chdir(dir)) return;
  unlink("golden/0000.npy"), unlink("golden/0000.rows"), unlink("manifest.json");
  rmdir("golden"), rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  char path[64];
  em_out *o;
  em_err err;
  const double matrix[] = {1, NAN, 3, 4};
  if (!mkdtemp(dir)) abort();
  atexit(clean);
  snprintf(path, sizeof path, "%s/golden", dir);
  if (mkdir(path, 0700)) abort();
  snprintf(path, sizeof path, "%s/golden/0000.npy", dir);
  if (em_out_open(path, &o, &err) || em_npy_write(o, 2, 2)) abort();
  em_out_write(o, matrix, sizeof matrix);
  if (em_out_commit(o, &err)) abort();
  snprintf(path, sizeof path, "%s/golden/0000.rows", dir);
  put(path, "WORK= RASTER=\nWORK=t32 RASTER=\n", 31);
  snprintf(manifest, sizeof manifest, "%s/manifest.json", dir);
  return 0;
}

static void walk(const em_dataset *d)
{
  em_err err;
  double sum = 0;
  for (size_t i = 0; i < em_dataset_n_groups(d); i++) {
    const em_group *g = em_dataset_group(d, i);
    const char *text;
    size_t len;
    for (size_t r = 0; r < g->n_golden; r++) sum += g->matrix[g->golden_ids[r] * g->cols.n + g->cols.n - 1];
    for (size_t r = 0; g->latency_us && r < g->n_rows; r++) sum += g->latency_us[r];
    for (size_t r = 0; r < g->n_rows; r++)
      if (!em_dataset_row(d, i, r, &text, &len, &err) && memchr(text, '\n', len)) abort();
    for (size_t p = 0; p < g->n_pools; p++) {
      const em_kernel *k;
      if (g->pools[p].kernel >= em_dataset_n_kernels(d)) abort();
      (void)!em_dataset_kernel(d, g->pools[p].kernel, &k, &err);
    }
  }
  if (isinf(sum)) return; /* the sum only makes the reads happen */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  em_dataset *d;
  em_err err = {0};
  int64_t live = em_alloc_live();
  put(manifest, data, size);
  int rc = em_dataset_open(dir, EM_FEAT_VER, &d, &err);
  if (rc == EM_OK) {
    walk(d);
    em_dataset_close(d);
  } else if (rc != EM_E_INPUT || !*err.msg) {
    abort();
  }
  if (em_alloc_live() != live) abort();
  return 0;
}
