/*
 * repl.h - inside of `emmy repl`.
 *
 * repl.c runs texts: it splits them into statements and dot commands, and says where an error is.  repl_dot.c are the
 * dot commands, one table.  repl_line.c reads lines, repl_complete.c completes them.
 */
#ifndef EM_REPL_H
#define EM_REPL_H

#include "tui/cli.h"
#include "views/sql.h"

typedef struct em_line em_line;

typedef struct em_repl {
  const em_args *args;
  /* what is open */
  char **sources;
  size_t n_sources;
  char *prior; /* NULL = the shipped one */
  em_session *session;
  em_sql *sql;
  em_progress progress;
  volatile int cancel;
  /* settings */
  em_render render;
  int width; /* .width; -1 = the terminal's */
  bool timer, keep_going, interactive;
  em_out *output, *once; /* NULL = standard output */
  /* state */
  em_str log;    /* statements that ran, for .save */
  size_t failed; /* errors that were passed over */
  int depth;     /* of .read within .read */
  bool quit;
} em_repl;

/* Opens sources and prior, and only then gives up what was open. */
int em_repl_open(em_repl *r, char *const *sources, size_t n, const char *prior, em_err *err) EM_MUST_CHECK;
void em_repl_free_sources(char **sources, size_t n, char *prior);
/* Runs a text; errors are named "name:line: ..." */
int em_repl_run_text(em_repl *r, const char *name, const char *text, em_err *err) EM_MUST_CHECK;
int em_repl_run_file(em_repl *r, const char *path, em_err *err) EM_MUST_CHECK;
/* Runs what the reader gives, line by line. */
int em_repl_run_lines(em_repl *r, em_line *in, const char *name, em_err *err) EM_MUST_CHECK;
/* At a prompt an interrupt stops the query, never the program. */
void em_repl_catch_interrupt(em_repl *r);
/* To where .output says; frees the text. */
int em_repl_put_text(em_repl *r, em_str *text, em_err *err) EM_MUST_CHECK;

/* ---- dot commands ------------------------------------------------------------------------- */

typedef struct em_dot {
  const char *name, *args, *doc;                               /* ".open", "SOURCE..." */
  int least, most;                                             /* arguments; most -1 = any number */
  int (*run)(em_repl *r, size_t n, char **words, em_err *err); /* words[0] is the command */
} em_dot;
extern const em_dot em_dots[]; /* ends with a NULL name */
int em_dot_run(em_repl *r, const char *line, em_err *err) EM_MUST_CHECK;

/* ---- lines ----------------------------------------------------------------------------------- */

/* Edited lines with history and completion on a terminal that can, else plain ones from standard input. */
int em_line_open(em_repl *r, bool terminal, em_line **out, em_err *err) EM_MUST_CHECK;
void em_line_close(em_line *l); /* writes the history */
/* The next line without its end, NULL at the end of input.  *cancelled: an interrupt, start anew.  EM_E_INPUT: this line is
 * no text, the next one may be; any other error is the end. */
int em_line_next(em_line *l, bool more, const char **line, bool *cancelled, em_err *err) EM_MUST_CHECK;

/* What may stand at the end of `line` of `len` bytes: calls fn(word) for each; *start = where the word begins. */
void em_complete(em_repl *r, const char *line, size_t len, size_t *start, void (*fn)(void *ctx, const char *word),
                 void *ctx);

#endif
