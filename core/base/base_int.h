/* base_int.h - what the files of core/base share among themselves. */
#ifndef EM_BASE_INT_H
#define EM_BASE_INT_H

#include <locale.h>
#include <sys/types.h>

#include "core/base/base.h"

/* Bytes of the valid UTF-8 character at s (at most n bytes); 0 when there is none. */
size_t em_utf8_step(const char *s, size_t n);

/* Writes `n` bytes of `s` to dst as em_str_put_safe does, as far as whole
 * characters fit in `cap` with a NUL.  Returns whether everything fitted. */
bool em_safe_copy(char *dst, size_t cap, const char *s, size_t n);

/* The "C" locale for the *_l functions; created once, kept for the process. */
locale_t em_c_locale(void);

/* Opens a regular file for reading and fills *size.  Returns the descriptor or -1. */
int em_open_regular(const char *path, size_t *size, em_err *err);

/* fsync of a folder, so that a rename in it survives a power cut; errno on failure. */
int em_sync_dir(const char *path);

/* The folder that holds `path`, allocated; NULL when out of memory. */
char *em_parent_dir(const char *path);

/* Temporary neighbours of a target are called "<target>.tmp-<pid>-<number>"
 * and stay locked while their writer lives. */
char *em_tmp_name(const char *target);
/* Locks the new file or folder `fd`, called `name`.  False when somebody who
 * took it for a leftover was faster: try another name. */
bool em_tmp_claim(int fd, const char *name);
/* Removes what killed writers left beside `target`. */
void em_tmp_sweep(const char *target);

/* Removes a file or a folder with everything in it; 0 or errno. */
int em_remove_tree(const char *path);

#endif
