/*
 * cli.h - the command line: one table of commands, one of options, and what the
 * commands share.
 *
 * Parsing, dispatch, --help, suggestions and the manual pages are made from the two
 * tables.  A command is a function in a file cmd_*.c and an entry in commands.c.
 * Data go to standard output alone; messages go to standard error as "emmy: ...".
 */
#ifndef EM_CLI_H
#define EM_CLI_H

#include "views/views.h"

#define EM_VERSION      "0.1.0"
#define EM_VERSION_DATE "November 29, 2026"

/* ---- the tables ------------------------------------------------------------------------- */

/* A LIST takes a text each time that it is given; of the others the last one counts. */
typedef enum em_option_kind {
  EM_OPTION_FLAG,
  EM_OPTION_TEXT,
  EM_OPTION_LIST,
  EM_OPTION_INT,
  EM_OPTION_REAL
} em_option_kind;

typedef struct em_option {
  const char *name; /* without the dashes */
  char letter;      /* 0 = none */
  em_option_kind kind;
  const char *arg;  /* what help calls its value; "" for a flag */
  const char *dflt; /* its value when not given; NULL = none */
  double lo, hi;    /* of numbers */
  const char *doc;
  const char *values; /* the words it can be, separated by commas; NULL = what `arg` says */
} em_option;

typedef enum em_option_id {
#define OPTION(id, ...) EM_OPT_##id,
#include "tui/options.def"
#undef OPTION
  EM_N_OPTIONS
} em_option_id;

extern const em_option em_options[EM_N_OPTIONS];

typedef struct em_value {
  bool set;         /* given on the command line (else the default, if there is one) */
  const char *text; /* NULL = neither given nor a default */
  int64_t i;
  double f;
} em_value;

typedef struct em_args em_args;
typedef struct em_example {
  const char *command, *what;
} em_example;

typedef struct em_command {
  const char *name;                    /* "db import" */
  const char *args;                    /* "SOURCE..." */
  int least, most;                     /* arguments; most -1 = any number */
  const char *doc;                     /* one line */
  const char *text;                    /* paragraphs separated by "\n\n" */
  const em_option_id *options;         /* ends with EM_N_OPTIONS; --help is everyone's */
  const em_option *(*more)(size_t *n); /* options that come from another table; NULL = none */
  const em_example *examples;          /* ends with a NULL command */
  const char *values_title;            /* what the first argument is one of: "kinds"; NULL = anything */
  bool (*value)(size_t i, em_str *name, const char **doc); /* the i-th of them; false at the end */
  int (*run)(const em_args *a, em_err *err);
} em_command;

extern const em_command em_commands[]; /* in the order of help; ends with a NULL name */

#define EM_MAX_MORE   32 /* options of one command that come from another table */
#define EM_MAX_LISTED 64 /* texts of LIST options in one command line */

typedef struct em_listed {
  const em_option *option;
  const char *text;
} em_listed;

struct em_args {
  const em_command *command;
  em_value opt[EM_N_OPTIONS];
  em_value more[EM_MAX_MORE];      /* in the order of command->more */
  em_listed listed[EM_MAX_LISTED]; /* what LIST options gave, in the order of the command line */
  size_t n_listed;
  char **words;
  size_t n_words;
};

/* The k-th option of a command, --help last; NULL at the end.  *value says where its value goes (a may be NULL). */
const em_option *em_command_option(const em_command *c, size_t k, em_args *a, em_value **value);
const em_command *em_command_find(const char *name);
bool em_command_is_group(const char *word); /* "db": the first word of several commands */
/* Which command argv asks for, and how many words name it.  A path, an option or nothing = explore. */
int em_command_choose(int argc, char **argv, const em_command **out, int *n_words, em_err *err) EM_MUST_CHECK;
/* argv[0] is the last word of the command's name.  *help is set when --help was among the options. */
int em_args_parse(const em_command *c, int argc, char **argv, em_args *out, bool *help, em_err *err) EM_MUST_CHECK;
/* "; did you mean x, y?" from those of `names` (NULL-terminated) that are near; "; there are ..." when
 * none is and they are not too many. */
void em_put_near(em_str *out, const char *name, const char *const *names);
/* Two options of one name or letter in a command, an entry without doc or example ...: the message; else EM_OK. */
int em_tables_check(em_err *err) EM_MUST_CHECK;

void em_help_put(em_str *out);                              /* emmy --help */
void em_help_put_command(em_str *out, const em_command *c); /* emmy COMMAND --help */
void em_help_put_group(em_str *out, const char *group);     /* emmy db: its commands */
/* Manual pages in mdoc: "emmy" or the name of a command. */
void em_manpage_put(em_str *out, const em_command *c);  /* NULL = emmy(1) itself */
void em_manpage_sql_put(em_str *out);                   /* emmy-sql(7): tables, functions, examples */
void em_manpage_name(const em_command *c, em_str *out); /* "emmy-db-import" */
/* Paragraphs broken at blanks to `width` characters, each line after `indent` blanks. */
void em_put_wrapped(em_str *out, const char *text, int indent, int width);
/* A name, and its text wrapped beside it from the column on; below it when the name is longer. */
void em_put_item(em_str *out, const char *name, const char *text, int column, int width);

/* ---- standard output and error ------------------------------------------------------------- */

/* Nonzero when nothing more can be written (full disk, closed pipe): stop; em_put_end says which.  On a terminal
 * control characters are escaped. */
int em_put(void *ctx, const char *text, size_t len);
int em_put_text(em_str *text, em_err *err) EM_MUST_CHECK; /* writes and frees */
bool em_put_stopped(void);                                /* has em_put said so? */
int em_put_end(em_err *err) EM_MUST_CHECK;                /* a reader that went away is no failure */
void em_warn(const char *fmt, ...) EM_PRINTF(1, 2);
bool em_is_ascii(const em_args *a); /* --ascii, or the locale is not UTF-8 */

/* Progress on a terminal's standard error; an interrupt or termination signal sets its cancel flag (the second one
 * ends the program). */
const em_progress *em_cli_progress(void);
void em_cli_progress_end(void);

/* ---- what commands share ----------------------------------------------------------------------- */

/* A table that is no view: columns declared as a view's, cells from `get`; printed as --csv, --json and --md say. */
typedef struct em_table {
  const em_view_column *columns;
  size_t n_columns, n_rows;
  void (*get)(const void *ctx, size_t row, size_t column, em_cell *out);
  const void *ctx;
} em_table;
int em_table_print(const em_args *a, const em_table *t, em_err *err) EM_MUST_CHECK;
/* The same under a title; an empty one says "none". */
int em_section_print(const em_args *a, const char *title, const em_table *t, em_err *err) EM_MUST_CHECK;
/* An open view, as --csv, --json, --md, --sort, --filter and --limit say. */
int em_cursor_print(const em_args *a, em_cursor *c, em_err *err) EM_MUST_CHECK;
/* The column of an order, "-COLUMN" for a descending one; an unknown column is an error that names the near ones. */
int em_order_column(const em_view *v, const char *name, int *column, bool *descending, em_err *err) EM_MUST_CHECK;
int em_terminal_width(void);                /* of standard output; 0 = it is no terminal */
em_format em_args_format(const em_args *a); /* --csv, --json, --md, or a text table */
bool em_is_text_table(const em_args *a);    /* none of these options */

/* From the words (from `first` on) and --prior, --feat-ver, --card, --kernel, --threads. */
int em_args_session(const em_args *a, size_t first, em_session **out, em_err *err) EM_MUST_CHECK;
/* A view by name; near names in the error. */
int em_args_view(const char *name, const em_view **out, em_err *err) EM_MUST_CHECK;
/* A view as a table: ranks the pools where the view shows ranks. */
int em_view_print(const em_args *a, const char *name, em_session *s, const char *const *args,
                  em_err *err) EM_MUST_CHECK;
/* A view over fits under its title; nothing when it has no rows. */
int em_print_fit_view(const em_args *a, const char *name, const char *const *fits, em_err *err) EM_MUST_CHECK;
/* --db or the default; the caller frees. */
int em_args_db(const em_args *a, char **out, em_err *err) EM_MUST_CHECK;
int em_args_feat_ver(const em_args *a);
int em_mkdirs_of(const char *path, em_err *err) EM_MUST_CHECK; /* the folder that a file is to be in */

/* Fails when a file that is to be written would lie among those of the dataset that is read. */
int em_check_outside(const char *path, const char *dataset, em_err *err) EM_MUST_CHECK;

/* The knobs that a row of a dataset uses, as a cell; "-" when it uses none. */
void em_dataset_row_cell(const em_dataset *d, size_t group, size_t row, em_cell *out);
/* The part of `emmy eval prior` on measured pools. */
/* What a dataset left out, by reason: golden rows or measured ones. */
int em_print_dropped(const em_args *a, const em_dataset *d, bool measured, em_err *err) EM_MUST_CHECK;
int em_print_eval_measured(const em_args *a, const em_eval_measured *e, const em_dataset *d, em_err *err) EM_MUST_CHECK;

#define COMMAND(fn) int em_cmd_##fn(const em_args *a, em_err *err);
COMMAND(explore)
COMMAND(view)
COMMAND(db_import)
COMMAND(db_export) COMMAND(db_list) COMMAND(db_check) COMMAND(eval_prior) COMMAND(fit) COMMAND(compare)
  COMMAND(golden_format) COMMAND(golden_check) COMMAND(kernel_new) COMMAND(kernel_list) COMMAND(kernel_show)
    COMMAND(repl) COMMAND(target_list) COMMAND(target_show) COMMAND(help)
#undef COMMAND
      bool em_view_value(size_t i, em_str *name, const char **doc);
bool em_kind_value(size_t i, em_str *name, const char **doc);
const em_option *em_fit_options(size_t *n);  /* from the fit's table of parameters */
const em_option *em_view_options(size_t *n); /* from the views' parameters */

#endif
