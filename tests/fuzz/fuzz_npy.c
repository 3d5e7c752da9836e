/* Any file: refused with a message, or a matrix that lies inside the mapping. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char path[64];
  em_npy n;
  em_err err = {0};
  int fd = memfd_create("npy", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int rc = em_npy_map(path, &n, &err);
  if (rc == EM_OK) {
    size_t at = (size_t)((const char *)n.data - (const char *)n.map.data);
    if (at > size || n.rows * n.cols * sizeof(double) != size - at || at % sizeof(double)) abort();
    em_npy_close(&n);
  } else if (rc != EM_E_INPUT || !*err.msg) {
    abort();
  }
  close(fd);
  return 0;
}
