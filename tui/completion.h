/*
 * completion.h - completion of command lines in bash and zsh, made from the tables of commands, options, views and cards.
 *
 * What may stand in a place is a list separated by commas: words, and names of sources, which start with '@': @file,
 * @dir and @fit (folders under _tune/fits, and files) are looked up by the shell, as is @column (of the view in the
 * line); the others are lists of words that the scripts hold.
 */
#ifndef EM_COMPLETION_H
#define EM_COMPLETION_H

#include "tui/cli.h"

/* The script for that shell; an unknown one is an error (EM_E_USAGE). */
int em_completion_put(em_str *out, const char *shell, em_err *err) EM_MUST_CHECK;

/* ---- what both scripts are made of ---- */

/* What the value of an option, or of a view's parameter as an option, may be; "@any" when nothing is known. */
const char *em_completion_of_option(const em_option *o);
const char *em_completion_of_param(const em_view *v, const em_param *p);

/* An argument of a command, in the words of its help: "[SOURCE...]". */
typedef struct em_completion_word {
  const char *title;
  int title_len;
  bool many; /* it may come again and again */
  const char *values;
} em_completion_word;
/* The k-th argument; false behind the last. */
bool em_completion_argument(const em_command *c, size_t k, em_completion_word *out);

/* The k-th option that is no parameter of a view; NULL at the end. */
const em_option *em_completion_option(const em_command *c, size_t k);
/* Is the parameter an option of `emmy view` alone, and not one that every session has? */
bool em_completion_is_own(const em_param *p);

/* The sources that are lists: the name of the i-th, NULL at the end, and its words between blanks. */
const char *em_completion_source(size_t i);
void em_completion_put_source(em_str *out, size_t i);

/* The i-th group of commands, as its first one; NULL at the end. */
const em_command *em_completion_group(size_t i);
size_t em_completion_group_len(const em_command *c); /* of the group's name; 0 = in none */
bool em_completion_is_in_group(const em_command *c, const em_command *group);

/* In single quotes, as both shells read them. */
void em_completion_put_quoted(em_str *out, const char *s);

void em_completion_put_bash(em_str *out);
void em_completion_put_zsh(em_str *out);

#endif
