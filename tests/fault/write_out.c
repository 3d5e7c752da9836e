/* write_out.c - `write_out file PATH` or `write_out folder PATH`: writes "new" by
 * em_out or em_outdir and says how it went.  For the tests of this folder. */
#include <string.h>

#include "core/base/base.h"

static int write_file(const char *path, em_err *err)
{
  em_out *o;
  int rc = em_out_open(path, &o, err);
  if (rc) return rc;
  em_out_printf(o, "new\n");
  rc = em_out_commit(o, err);
  if (rc) em_out_abort(o);
  return rc;
}

static int write_in_folder(em_outdir *d, em_err *err)
{
  char *path;
  int rc = em_path_join(&path, err, em_outdir_path(d), "member");
  if (rc) return rc;
  rc = write_file(path, err);
  em_free(path);
  return rc;
}

static int write_folder(const char *path, em_err *err)
{
  em_outdir *d;
  int rc = em_outdir_begin(path, &d, err);
  if (rc) return rc;
  rc = write_in_folder(d, err);
  if (!rc) rc = em_outdir_commit(d, err);
  if (rc) em_outdir_abort(d);
  return rc;
}

int main(int argc, char **argv)
{
  em_err err;
  if (argc != 3) return 2;
  int rc = strcmp(argv[1], "folder") ? write_file(argv[2], &err) : write_folder(argv[2], &err);
  if (rc) printf("%s\n", err.msg);
  return em_exit_status((em_code)rc);
}
