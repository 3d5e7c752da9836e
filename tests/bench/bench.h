/* bench.h - what the benchmarks share. */
#ifndef EM_TESTS_BENCH_H
#define EM_TESTS_BENCH_H

#include "core/session/session.h"

double bench_now(void); /* seconds */
void bench_figure(const char *name, double value, const char *unit, const char *promise, const char *what);
void bench_check(int rc, const em_err *err); /* ends the program with the message */
em_kernel *bench_kernel(const char *kind, int64_t m, int64_t n, int64_t k, em_dtype in);
/* A golden file of one row, a candidate that lies in the kernel's pool on an H100. */
void bench_add_golden(em_golden *g, em_kernel *k, double us);
void bench_remove_tree(const char *path);

void bench_sql(void); /* bench_sql.c */

#endif
