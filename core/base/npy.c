/* npy.c - the .npy container: float64, C order, two dimensions.
 *
 * magic "\x93NUMPY", version (2 bytes), length of the header (2 bytes, 4 from
 * version 2 on, little endian), the header (a Python dict literal, padded with
 * blanks and ended by a line feed so that the data are aligned), the data. */
#include <string.h>

#include "core/base/base_int.h"

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

#define HEADER_MAX  4096 /* ours need 128; a longer one describes something else */
#define HEADER_STEP 64   /* the data start at a multiple of this */

int em_npy_write(em_out *o, size_t rows, size_t cols)
{
  char head[2 * HEADER_STEP];
  memset(head, ' ', sizeof head);
  memcpy(head, magic, sizeof magic);
  head[6] = 1; /* version 1.0 */
  head[7] = 0;
  head[8] = (char)(sizeof head - 10);
  head[9] = 0;
  int n = snprintf(head + 10, sizeof head - 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %zu), }", rows,
                   cols);
  head[10 + n] = ' ';
  head[sizeof head - 1] = '\n';
  em_out_write(o, head, sizeof head);
  return EM_OK;
}

/* ---- the header's dict -------------------------------------------------- */

typedef struct header {
  const char *p; /* NUL-terminated copy, so that reading stops by itself */
  const char *path;
  em_err *err;
  unsigned seen; /* bit per key, in the order of `keys` */
  size_t rows, cols;
} header;

static int fail_here(const header *h, const char *expected)
{
  return em_fail(h->err, EM_E_INPUT, "%s: .npy header: found \"%.40s\", expected %s; write the file again", h->path,
                 h->p, expected);
}

static void skip_blanks(header *h)
{
  while (*h->p == ' ' || *h->p == '\n') h->p++;
}

static bool take(header *h, const char *word)
{
  skip_blanks(h);
  size_t n = strlen(word);
  if (strncmp(h->p, word, n)) return false;
  h->p += n;
  return true;
}

static bool take_size(header *h, size_t *out)
{
  char text[24];
  int64_t v;
  skip_blanks(h);
  size_t n = strspn(h->p, "0123456789");
  if (n == 0 || n >= sizeof text) return false;
  memcpy(text, h->p, n);
  text[n] = '\0';
  if (!em_parse_i64(text, 0, INT64_MAX, &v)) return false;
  h->p += n;
  *out = (size_t)v;
  return true;
}

static int read_descr(header *h)
{
  if (take(h, "'<f8'") || take(h, "\"<f8\"")) return EM_OK;
  return fail_here(h, "the dtype '<f8' (float64, little endian)");
}

static int read_order(header *h) { return take(h, "False") ? EM_OK : fail_here(h, "'fortran_order': False (C order)"); }

static int read_shape(header *h)
{
  const char *start = h->p;
  bool two = take(h, "(") && take_size(h, &h->rows) && take(h, ",") && take_size(h, &h->cols);
  if (two) take(h, ",");
  if (two && take(h, ")")) return EM_OK;
  h->p = start;
  return fail_here(h, "a shape of two dimensions (rows, columns)");
}

static const struct {
  const char *single, *twofold;
  int (*read)(header *h);
} keys[] = {
  {"'descr'", "\"descr\"", read_descr},
  {"'fortran_order'", "\"fortran_order\"", read_order},
  {"'shape'", "\"shape\"", read_shape},
};
#define N_KEYS (sizeof keys / sizeof *keys)

static int read_entry(header *h)
{
  for (size_t i = 0; i < N_KEYS; i++) {
    if ((h->seen >> i & 1) || !(take(h, keys[i].single) || take(h, keys[i].twofold))) continue;
    h->seen |= 1u << i;
    if (!take(h, ":")) return fail_here(h, "':' after the key");
    skip_blanks(h);
    return keys[i].read(h);
  }
  return fail_here(h, "one each of 'descr', 'fortran_order', 'shape'");
}

static int read_dict(header *h)
{
  if (!take(h, "{")) return fail_here(h, "a Python dict");
  while (!take(h, "}")) {
    int rc = read_entry(h);
    if (rc) return rc;
    if (take(h, ",")) continue;
    skip_blanks(h);
    if (*h->p != '}') return fail_here(h, "',' or '}'");
  }
  skip_blanks(h);
  if (*h->p || h->seen != (1u << N_KEYS) - 1) return fail_here(h, "exactly 'descr', 'fortran_order' and 'shape'");
  return EM_OK;
}

/* ---- the file ----------------------------------------------------------- */

/* Finds the header: *at and *len in the mapping. */
static int find_header(const em_map *map, const char *path, size_t *at, size_t *len, em_err *err)
{
  const unsigned char *d = map->data;
  if (map->len < 10 || memcmp(d, magic, sizeof magic))
    return em_fail(err, EM_E_INPUT, "%s: not a .npy file: expected the bytes \\x93NUMPY at its start", path);
  if (d[6] < 1 || d[6] > 3)
    return em_fail(err, EM_E_INPUT, "%s: found .npy version %d.%d, expected 1.0, 2.0 or 3.0", path, d[6], d[7]);
  *at = d[6] == 1 ? 10 : 12;
  *len = (size_t)d[8] | (size_t)d[9] << 8;
  if (d[6] > 1 && map->len >= 12) *len |= (size_t)d[10] << 16 | (size_t)d[11] << 24;
  if (*len > HEADER_MAX)
    return em_fail(err, EM_E_INPUT, "%s: found a .npy header of %zu bytes, expected at most %d", path, *len,
                   HEADER_MAX);
  if (map->len < *at || map->len - *at < *len)
    return em_fail(err, EM_E_INPUT, "%s: the .npy file ends in its header (%zu bytes), write it again", path, map->len);
  if ((*at + *len) % sizeof(double))
    return em_fail(err, EM_E_INPUT,
                   "%s: the data start at byte %zu, expected a multiple of 8; write it with numpy.save", path,
                   *at + *len);
  return EM_OK;
}

static int read_header(em_npy *n, const char *path, em_err *err)
{
  char text[HEADER_MAX + 1];
  size_t at = 0, len = 0, bytes;
  int rc = find_header(&n->map, path, &at, &len, err);
  if (rc) return rc;
  memcpy(text, (const char *)n->map.data + at, len);
  text[len] = '\0';
  header h = {.p = text, .path = path, .err = err};
  rc = read_dict(&h);
  if (rc) return rc;
  size_t have = n->map.len - at - len;
  if (__builtin_mul_overflow(h.rows, h.cols, &bytes) || __builtin_mul_overflow(bytes, sizeof(double), &bytes))
    return em_fail(err, EM_E_INPUT, "%s: found the shape (%zu, %zu), expected one that fits in memory", path, h.rows,
                   h.cols);
  if (bytes != have)
    return em_fail(err, EM_E_INPUT, "%s: found %zu bytes of data, expected %zu for the shape (%zu, %zu)%s", path, have,
                   bytes, h.rows, h.cols, have < bytes ? "; is the file cut off?" : "");
  n->data = (const double *)(const void *)((const char *)n->map.data + at + len);
  n->rows = h.rows;
  n->cols = h.cols;
  return EM_OK;
}

int em_npy_map(const char *path, em_npy *out, em_err *err)
{
  em_npy n = {0};
  int rc = em_map_open(path, &n.map, err);
  if (rc) return rc;
  rc = read_header(&n, path, err);
  if (rc) {
    em_map_close(&n.map);
    return rc;
  }
  *out = n;
  return EM_OK;
}

void em_npy_close(em_npy *n)
{
  em_map_close(&n->map);
  *n = (em_npy){0};
}
