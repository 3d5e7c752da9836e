/*
 * base.h - what every other folder of core stands on.
 *
 * Errors    em_err is a value that the caller owns, usually on its stack.
 *           Functions that can fail return an int: EM_OK (0) or an em_code,
 *           and fill `err` when they fail.  An `err` argument is never NULL.
 *           A message says file, place, what was found, what was expected and
 *           what to do.  Core never prints and never exits.
 * Memory    Every allocation goes through em_alloc() and friends, which tests
 *           make fail on purpose.  What a function returns through an `out`
 *           argument is the caller's; each type has one `_free`, which takes
 *           NULL.  On failure nothing is returned and nothing leaks.
 * Strings   `const char *` is UTF-8, NUL-terminated, borrowed unless said.
 * Files     Written beside their target, synced, renamed: whole or not at all.
 */
#ifndef EM_BASE_H
#define EM_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#define EM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define EM_MUST_CHECK        __attribute__((warn_unused_result))

/* ---- errors ------------------------------------------------------------ */

/* Each code once: X(id, exit status of the program, short text). */
#define EM_CODES(X)                                                                                                    \
  X(EM_OK, 0, "ok")                                                                                                    \
  X(EM_E_INPUT, 1, "bad input")                                                                                        \
  X(EM_E_USAGE, 2, "usage")                                                                                            \
  X(EM_E_CHECK, 3, "check failed")                                                                                     \
  X(EM_E_ENV, 4, "environment")                                                                                        \
  X(EM_E_NOMEM, 1, "out of memory")                                                                                    \
  X(EM_E_IO, 1, "input or output failed")                                                                              \
  X(EM_E_CANCEL, 1, "cancelled")

#define EM_CODE_ENUM(id, status, text) id,
typedef enum em_code { EM_CODES(EM_CODE_ENUM) EM_N_CODES } em_code;
#undef EM_CODE_ENUM

#define EM_ERR_LEN 1024

typedef struct em_err {
  em_code code;
  char msg[EM_ERR_LEN]; /* always NUL-terminated; control characters escaped */
} em_err;

/* Fills `err` (code and message) and returns `code`.  Text that came from a
 * file may be passed as an argument: control characters leave escaped. */
int em_fail(em_err *err, em_code code, const char *fmt, ...) EM_PRINTF(3, 4);
int em_fail_nomem(em_err *err);

/* em_fail with ": " and the text of `errnum` (an errno value) at the end. */
int em_fail_errno(em_err *err, em_code code, int errnum, const char *fmt, ...) EM_PRINTF(4, 5);

/* Puts "text: " before the message of a failed `err`; returns err->code. */
int em_err_prefix(em_err *err, const char *fmt, ...) EM_PRINTF(2, 3);

int em_exit_status(em_code code); /* design.md section 3.7 */

/* ---- memory ------------------------------------------------------------ */

void *em_alloc(size_t size) EM_MUST_CHECK;
void *em_calloc(size_t n, size_t size) EM_MUST_CHECK;           /* zeroed, overflow-checked */
void *em_realloc(void *p, size_t n, size_t size) EM_MUST_CHECK; /* n * size, overflow-checked; p survives failure */
char *em_strdup(const char *s) EM_MUST_CHECK;
char *em_strndup(const char *s, size_t n) EM_MUST_CHECK;
void em_free(void *p);

/* Memory aligned to 64 bytes (matrices); free with em_free. */
void *em_alloc_aligned(size_t n, size_t size) EM_MUST_CHECK;

/* Grows the array at *items to hold at least `need` items of `size` bytes;
 * *cap is in items.  Returns EM_OK or EM_E_NOMEM; the array survives failure. */
int em_grow(void *items, size_t *cap, size_t need, size_t size, em_err *err) EM_MUST_CHECK;

/* Test hook: the n-th allocation from now fails (1 = the next), and with
 * `sticky` each one after it too; 0 switches it off. */
void em_alloc_fail_at(uint64_t n, bool sticky);
/* Test hook: number of live blocks from em_alloc and friends. */
int64_t em_alloc_live(void);

/* An arena: many small allocations, freed together. */
typedef struct em_arena em_arena;
em_arena *em_arena_new(void);
void *em_arena_alloc(em_arena *a, size_t n, size_t size) EM_MUST_CHECK; /* zeroed; NULL when out of memory */
char *em_arena_strdup(em_arena *a, const char *s) EM_MUST_CHECK;
void em_arena_free(em_arena *a);

/* ---- strings ----------------------------------------------------------- */

/* A growing string.  Starts as {0}.  A failed allocation is remembered in
 * `failed`, later calls do nothing, and em_str_finish reports it once. */
typedef struct em_str {
  char *s; /* NUL-terminated once anything was put; may be NULL while empty */
  size_t len, cap;
  bool failed;
} em_str;

void em_str_put(em_str *b, const char *s);
void em_str_putn(em_str *b, const char *s, size_t n);
void em_str_putc(em_str *b, char c);
void em_str_printf(em_str *b, const char *fmt, ...) EM_PRINTF(2, 3);
bool em_is_utf8(const char *s);
/* A JSON string literal with its quotes; ASCII control characters, '"' and
 * '\\' escaped, bytes that are not UTF-8 (file names may have some) as the text
 * "\xNN", other bytes as they are. */
void em_str_put_json(em_str *b, const char *s);
/* As a terminal may see it: control characters (C0, C1, DEL), marks that turn text around
 * (U+202E and its kind) and bytes that are not UTF-8 become \xNN. */
void em_str_put_safe(em_str *b, const char *s);
void em_str_clear(em_str *b); /* keeps the memory */
void em_str_free(em_str *b);
int em_str_finish(em_str *b, em_err *err) EM_MUST_CHECK;           /* EM_OK, or EM_E_NOMEM after freeing */
int em_str_take(em_str *b, char **out, em_err *err) EM_MUST_CHECK; /* hands over the text, never NULL when EM_OK */

/* The shortest decimal text that reads back as x, as Python's repr writes it
 * ("15.0", "1e-06"); buf holds at least EM_DOUBLE_LEN bytes.  x is finite. */
#define EM_DOUBLE_LEN 32
const char *em_double_repr(double x, char buf[EM_DOUBLE_LEN]);

/* Strict decimal: the whole of s is an integer in [lo, hi], without blanks,
 * plus sign or leading zeros.  False leaves *out as it is. */
bool em_parse_i64(const char *s, int64_t lo, int64_t hi, int64_t *out);
bool em_parse_f64(const char *s, double *out); /* finite, whole string, locale-free */
bool em_name_is_identifier(const char *s);     /* C identifier */

/* Near names for "did you mean": edit distance (insert, delete, substitute,
 * swap), case-insensitive. */
int em_edit_distance(const char *a, const char *b);

/* ---- JSON --------------------------------------------------------------
 * cJSON trees, parsed strictly: one value, no trailing text, no duplicate keys
 * in an object, at most EM_JSON_DEPTH levels, valid UTF-8, no NUL characters.
 * A syntax error names file, line (from 1) and byte (from 0).  A number that is
 * no plain integer below 2^53 keeps its text in `valuestring`, so that it can
 * be written back as it was.  An integer is one written without point and
 * exponent: 15.0 is not.  Trees made with cJSON_Create* are freed with
 * em_json_free too: cJSON allocates through em_alloc. */

#define EM_JSON_DEPTH 256

int em_json_parse(const char *text, size_t len, const char *file, cJSON **out, em_err *err) EM_MUST_CHECK;
int em_json_read(const char *path, cJSON **out, em_err *err) EM_MUST_CHECK; /* a whole file */
void em_json_free(cJSON *json);

/* Compact text ("," and ":" without blanks), keys in tree order. */
void em_json_print(const cJSON *json, em_str *out);

/* Where a value stands, for messages: file plus a path like rows[3].knobs.
 * `where` is built on the stack: a chain from leaf to root. */
typedef struct em_place {
  const char *file;          /* set on the root only */
  const struct em_place *up; /* NULL on the root */
  const char *key;           /* member name, or NULL for an element */
  int64_t index;             /* element number when key is NULL */
} em_place;

int em_fail_at(em_err *err, const em_place *at, const char *fmt, ...) EM_PRINTF(3, 4); /* EM_E_INPUT */

/* Typed members of an object.  The `_need_` forms fail when the member is
 * missing; the `_opt_` forms leave *out as it is.  A wrong type always fails. */
int em_json_need_string(const cJSON *obj, const char *key, const em_place *at, const char **out,
                        em_err *err) EM_MUST_CHECK;
int em_json_opt_string(const cJSON *obj, const char *key, const em_place *at, const char **out,
                       em_err *err) EM_MUST_CHECK;
int em_json_need_i64(const cJSON *obj, const char *key, const em_place *at, int64_t lo, int64_t hi, int64_t *out,
                     em_err *err) EM_MUST_CHECK;
int em_json_opt_i64(const cJSON *obj, const char *key, const em_place *at, int64_t lo, int64_t hi, int64_t *out,
                    em_err *err) EM_MUST_CHECK;
int em_json_need_f64(const cJSON *obj, const char *key, const em_place *at, double *out, em_err *err) EM_MUST_CHECK;
int em_json_opt_f64(const cJSON *obj, const char *key, const em_place *at, double *out, em_err *err) EM_MUST_CHECK;
int em_json_need_bool(const cJSON *obj, const char *key, const em_place *at, bool *out, em_err *err) EM_MUST_CHECK;
int em_json_opt_bool(const cJSON *obj, const char *key, const em_place *at, bool *out, em_err *err) EM_MUST_CHECK;
int em_json_need_array(const cJSON *obj, const char *key, const em_place *at, const cJSON **out,
                       em_err *err) EM_MUST_CHECK;
int em_json_need_object(const cJSON *obj, const char *key, const em_place *at, const cJSON **out,
                        em_err *err) EM_MUST_CHECK;
/* Fails on a member whose name is not in `known` (NULL-terminated). */
int em_json_only_keys(const cJSON *obj, const char *const *known, const em_place *at, em_err *err) EM_MUST_CHECK;
/* An element as an integer / a finite number (NULL item = missing). */
int em_json_i64(const cJSON *item, const em_place *at, int64_t lo, int64_t hi, int64_t *out, em_err *err) EM_MUST_CHECK;
int em_json_f64(const cJSON *item, const em_place *at, double *out, em_err *err) EM_MUST_CHECK;

/* ---- files ------------------------------------------------------------- */

/* Reads a whole regular file; *text has a NUL after its *len bytes. */
int em_file_read(const char *path, char **text, size_t *len, em_err *err) EM_MUST_CHECK;

/* A file's bytes, to be read only: mapped, or of a small file copied, since a process may have no more than some 65,000
 * mappings. */
typedef struct em_map {
  const void *data;
  size_t len;
  char *copy; /* NULL = mapped */
} em_map;
int em_map_open(const char *path, em_map *out, em_err *err) EM_MUST_CHECK;
void em_map_close(em_map *m);
void em_map_rest(const em_map *m); /* not read for a while: its pages need not stay in memory */

/* A file being written.  Nothing is visible at `path` before em_out_commit,
 * which syncs file and folder and renames; em_out_abort (also after a failed
 * commit; NULL allowed) removes what was written.  A failed write is kept and
 * reported by commit.  A target's mode is kept, a symbolic link is followed, a
 * device or pipe is written straight.  What killed writers left beside `path`
 * is removed; living writers hold a lock on theirs. */
typedef struct em_out em_out;
int em_out_open(const char *path, em_out **out, em_err *err) EM_MUST_CHECK;
void em_out_write(em_out *o, const void *data, size_t len);
void em_out_printf(em_out *o, const char *fmt, ...) EM_PRINTF(2, 3);
int em_out_commit(em_out *o, em_err *err) EM_MUST_CHECK; /* frees o when it succeeds */
void em_out_abort(em_out *o);

/* A folder being written: em_outdir_begin makes "<path>.tmp-<pid>-<n>", whose
 * name em_outdir_path gives; commit syncs it and puts it in the place of `path`
 * in one step, then removes what was there: the caller makes sure first that
 * this is its to replace.  abort removes the new folder.  Files in it are
 * written with em_out, which syncs them. */
typedef struct em_outdir em_outdir;
int em_outdir_begin(const char *path, em_outdir **out, em_err *err) EM_MUST_CHECK;
const char *em_outdir_path(const em_outdir *d);
int em_outdir_commit(em_outdir *d, em_err *err) EM_MUST_CHECK; /* frees d when it succeeds */
void em_outdir_abort(em_outdir *d);

int em_mkdirs(const char *path, em_err *err) EM_MUST_CHECK; /* as mkdir -p */
int em_path_join(char **out, em_err *err, const char *a, const char *b) EM_MUST_CHECK;
/* Paths of the folder's entries whose names end in `suffix`, sorted by name; the array and each path are the caller's. */
int em_dir_list(const char *path, const char *suffix, char ***out, size_t *n, em_err *err) EM_MUST_CHECK;
bool em_path_is_dir(const char *path);
bool em_path_exists(const char *path);
int em_file_digest(const char *path, char hex[33], em_err *err) EM_MUST_CHECK; /* em_digest of the bytes */

/* An advisory lock on "<path>.lock", held until em_lock_release.  A second
 * holder gets EM_E_INPUT at once, saying who to wait for. */
typedef struct em_lock em_lock;
int em_lock_acquire(const char *path, em_lock **out, em_err *err) EM_MUST_CHECK;
void em_lock_release(em_lock *l);

/* ---- .npy: float64, C order, two dimensions ----------------------------- */

int em_npy_write(em_out *o, size_t rows, size_t cols); /* the header; the data follow by em_out_write */
typedef struct em_npy {
  em_map map;
  const double *data;
  size_t rows, cols;
} em_npy;
/* Maps the file (no copy); refuses another dtype, order, rank or length. */
int em_npy_map(const char *path, em_npy *out, em_err *err) EM_MUST_CHECK;
void em_npy_close(em_npy *n);

/* ---- digests: XXH3, 128 bits -------------------------------------------- */

typedef struct em_digest {
  uint64_t hi, lo;
} em_digest;
em_digest em_digest_bytes(const void *data, size_t len);
typedef struct em_hasher em_hasher;
em_hasher *em_hasher_new(void); /* NULL when out of memory */
void em_hasher_add(em_hasher *h, const void *data, size_t len);
void em_hasher_add_str(em_hasher *h, const char *s); /* with its NUL: "ab","c" is not "a","bc" */
em_digest em_hasher_end(em_hasher *h);               /* frees h */
void em_digest_hex(em_digest d, char hex[33]);       /* 32 lowercase digits and NUL */
bool em_digest_parse(const char *hex, em_digest *out);
bool em_digest_eq(em_digest a, em_digest b);

/* ---- random numbers ------------------------------------------------------
 * Counter-based: the value is a function of (seed, stream, index) alone, so
 * results depend neither on threads nor on the order of the draws.  With all
 * sums and products modulo 2^64, G = 0x9E3779B97F4A7C15 and mix = the finalizer
 * of SplitMix64:  key = mix(mix(seed + G) + (stream + 1) * G),
 *                 value = mix(mix(key + (index + 1) * G) ^ key). */

uint64_t em_rng_u64(uint64_t seed, uint64_t stream, uint64_t index);
double em_rng_f64(uint64_t seed, uint64_t stream, uint64_t index); /* [0, 1) */
uint64_t em_rng_below(uint64_t seed, uint64_t stream, uint64_t index,
                      uint64_t n); /* unbiased enough: 64-bit multiply-high */
/* k distinct numbers of 0..n-1, ascending, uniformly; k <= n. */
int em_rng_sample(uint64_t seed, uint64_t stream, size_t n, size_t k, size_t *out, em_err *err) EM_MUST_CHECK;

/* ---- parallel loops and cancelling --------------------------------------- */

/* Calls fn(ctx, begin, end) over [0, n) in chunks of exactly `chunk` (the last
 * one shorter), on at most `threads` threads (0 = all cores).  Chunk borders do
 * not depend on the number of threads. */
void em_parallel_for(size_t n, size_t chunk, int threads, void (*fn)(void *ctx, size_t begin, size_t end), void *ctx);
int em_cpu_count(void);

/* Progress and cancelling of long work.  `report` may be NULL; it is called on
 * the thread that does the work.  `cancel` is polled: set it to stop. */
typedef struct em_progress {
  void (*report)(void *ctx, const char *what, size_t done, size_t total);
  void *ctx;
  const volatile int *cancel; /* may be NULL; nonzero = stop; another thread sets it with em_cancel_set */
} em_progress;
/* NULL p allowed.  EM_E_CANCEL (with err filled) when cancelling was asked. */
int em_progress_step(const em_progress *p, const char *what, size_t done, size_t total, em_err *err);
void em_cancel_set(volatile int *cancel);
/* What em_progress_step obeys besides `p`, whatever p is, in the work of this thread: set by whoever may want to give up
 * work that it does not see into, such as a view being opened.  NULL = nothing.  Returns what was set before. */
const volatile int *em_cancel_of_thread(const volatile int *cancel);

#endif
