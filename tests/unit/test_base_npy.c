/* .npy: the bytes of the format's documentation, and what is refused. */
#include "tests/unit/unit.h"

#include "tests/unit/scratch.h"

static void test_write_and_map(void **state)
{
  (void)state;
  const char *path = in_scratch("m.npy");
  const double data[] = {1.5, -2, 3, 4, 5, 6.25};
  em_out *o;
  em_npy n;
  em_err err;
  char *bytes;
  size_t len;
  assert_int_equal(em_out_open(path, &o, &err), EM_OK);
  em_npy_write(o, 2, 3);
  em_out_write(o, data, sizeof data);
  assert_int_equal(em_out_commit(o, &err), EM_OK);
  assert_int_equal(em_file_read(path, &bytes, &len, &err), EM_OK);
  assert_int_equal(len, 128 + sizeof data);
  static const char head[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), } ";
  assert_memory_equal(bytes, head, sizeof head - 1);
  assert_int_equal(bytes[127], '\n');
  em_free(bytes);
  if (em_npy_map(path, &n, &err)) fail_msg("%s", err.msg);
  assert_int_equal(n.rows, 2);
  assert_int_equal(n.cols, 3);
  assert_memory_equal(n.data, data, sizeof data);
  em_npy_close(&n);
}

/* Writes version `version`, the dict padded to a multiple of 16, `n_data` bytes. */
static void put_npy(const char *path, int version, const char *dict, size_t n_data)
{
  char bytes[8192] = "\x93NUMPY";
  size_t start = version == 1 ? 10 : 12, len = strlen(dict) + 1;
  len += (16 - (start + len) % 16) % 16;
  bytes[6] = (char)version;
  bytes[8] = (char)(len & 0xFF);
  bytes[9] = (char)(len >> 8);
  memset(bytes + start, ' ', len);
  memcpy(bytes + start, dict, strlen(dict));
  bytes[start + len - 1] = '\n';
  put_file(path, bytes, start + len + n_data);
}

static void test_other_spellings(void **state)
{
  (void)state;
  static const char *const dicts[] = {
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }",
    "{'shape':(2,2),'fortran_order':False,'descr':'<f8'}",
    "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (2, 2,)}",
  };
  em_err err;
  for (size_t i = 0; i < N_OF(dicts); i++)
    for (int version = 1; version <= 3; version++) {
      em_npy n;
      put_npy(in_scratch("m.npy"), version, dicts[i], 32);
      if (em_npy_map(in_scratch("m.npy"), &n, &err)) fail_msg("%s", err.msg);
      assert_true(n.rows == 2 && n.cols == 2);
      em_npy_close(&n);
    }
}

static void assert_refused(const char *path, const char *hint)
{
  em_npy n = {0};
  em_err err = {0};
  int rc = em_npy_map(path, &n, &err);
  if (rc != EM_E_INPUT || !strstr(err.msg, hint) || !strstr(err.msg, path))
    fail_msg("expected '%s', code %d, message: %s", hint, rc, err.msg);
  assert_null(n.data);
}

static void test_refusals(void **state)
{
  (void)state;
  static const struct {
    int version;
    const char *dict;
    size_t n_data;
    const char *hint;
  } cases[] = {
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", 16, "float64"},
    {1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 2), }", 32, "float64"},
    {1, "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", 32, "float64"},
    {1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }", 32, "C order"},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", 32, "two dimensions"},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 2), }", 32, "two dimensions"},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 2), }", 32, "two dimensions"},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2), }", 32, "two dimensions"},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 31, "cut off"},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 33, "found 33 bytes of data, expected 32"},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", 0, "fits in memory"},
    {1, "{'descr': '<f8', 'fortran_order': False}", 32, "exactly"},
    {1, "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", 32, "one each"},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)} x", 32, "exactly"},
    {1, "{'descr': '<f8' 'fortran_order': False, 'shape': (2, 2)}", 32, "','"},
    {1, "[1, 2]", 32, "dict"},
    {4, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 32, "version 4"},
  };
  for (size_t i = 0; i < N_OF(cases); i++) {
    put_npy(in_scratch("m.npy"), cases[i].version, cases[i].dict, cases[i].n_data);
    assert_refused(in_scratch("m.npy"), cases[i].hint);
  }
}

static void test_broken_containers(void **state)
{
  (void)state;
  const char *path = in_scratch("m.npy");
  char huge[5000] = "\x93NUMPY\x01";
  put_file(path, "", 0);
  assert_refused(path, "not a .npy file");
  put_file(path, "PK\x03\x04 some zip file", 18);
  assert_refused(path, "not a .npy file");
  put_file(path, "\x93NUMPY\x01\x00\x76\x00{'descr'", 18);
  assert_refused(path, "ends in its header");
  put_file(path, "\x93NUMPY\x02\x00\x06\x00", 10);
  assert_refused(path, "ends in its header");
  put_file(path, "\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
  assert_refused(path, "header of 4294967295 bytes");
  huge[8] = 0x70;
  huge[9] = 0x13;
  put_file(path, huge, sizeof huge);
  assert_refused(path, "header of 4976 bytes");
  put_file(path, "\x93NUMPY\x01\x00\x01\x00\n", 11);
  assert_refused(path, "multiple of 8");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
    IN_SCRATCH(test_write_and_map),
    IN_SCRATCH(test_other_spellings),
    IN_SCRATCH(test_refusals),
    IN_SCRATCH(test_broken_containers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
