/* explore_int.h - inside of the explorer. */
#ifndef EM_EXPLORE_INT_H
#define EM_EXPLORE_INT_H

#include "tui/explore.h"
#include "tui/job.h"
#include "tui/screen.h"

#define EM_PROMPT_LEN EM_SCREEN_TEXT

/* The line being typed at the bottom; `action` is what it is for. */
typedef struct em_prompt {
  bool open;
  em_action action;
  char text[EM_PROMPT_LEN];
  char offers[EM_ERR_LEN]; /* what Tab found that may stand here, shown until the next key */
} em_prompt;

void em_prompt_start(em_prompt *p, em_action action, const char *text);
/* Handles a key; true when Enter ended it (the text stands), or it was given up (open is then false and *given_up set). */
bool em_prompt_key(em_prompt *p, int key, bool *given_up);
void em_prompt_draw(const em_prompt *p, int y);

/* A word of a command's argument; one with blanks stands in quotes of either kind. */
typedef struct em_word {
  const char *start; /* its quote, if it has one */
  const char *text;  /* without the quote */
  size_t len;
  const char *end; /* where the next word is looked for: behind the quote or the blank that ends it */
  bool quoted;
} em_word;
em_word em_word_at(const char *text); /* the first one; len 0 and not quoted = none */

/* A script: keys and ":commands", one or more a line. */
typedef struct em_script em_script;
int em_script_open(const char *path, em_script **out, em_err *err) EM_MUST_CHECK;
void em_script_close(em_script *s);
/* The next step: a key (*command NULL), or a command's text; false at the end.  *at_once: it does not wait for work. */
bool em_script_next(em_script *s, int *key, const char **command, bool *at_once);

/* What is being done behind the screen, with the top screen. */
typedef enum em_task_kind { EM_TASK_OPEN, EM_TASK_ORDER, EM_TASK_SEARCH, EM_TASK_WRITE } em_task_kind;
typedef struct em_task {
  em_job *job; /* NULL = nothing; else the rest is the job's, and the screen's cursor too */
  em_task_kind kind;
  em_screen *screen;
  em_session *session;
  em_fresh fresh;  /* OPEN, ORDER: what comes of it */
  em_order before; /* ORDER: how it was, and what to say when it is done */
  size_t at;
  char said[EM_SCREEN_TEXT];
  size_t from, found; /* SEARCH */
  int step;
  char path[EM_PROMPT_LEN]; /* WRITE */
  bool ascii;
} em_task;

#define EM_MAX_SCREENS 24

typedef struct em_explorer {
  em_session *session;
  em_screen *stack[EM_MAX_SCREENS];
  size_t depth;
  em_prompt prompt;
  bool help;
  size_t help_top;
  char message[EM_ERR_LEN]; /* shown until the next key; "" = none */
  em_task task;
  bool table_drawn; /* the last frame shows the top screen's table */
  em_err failed;    /* why the first screen could not be opened, or a script's file not be written */
  em_script *script;
  bool quit;
} em_explorer;

/* actions.c: what each action does.  `argument` is the text behind a command or typed at a prompt; NULL = none given. */
void em_explorer_act(em_explorer *x, em_action action, const char *argument);
/* "name argument"; an unknown name is a message. */
void em_explorer_command(em_explorer *x, const char *text);
void em_explorer_say(em_explorer *x, const char *fmt, ...) EM_PRINTF(2, 3);
/* A file that was asked for: nobody reads messages of a script, so there it ends the program. */
void em_explorer_not_written(em_explorer *x, const em_err *err);
/* Pushes a screen; it opens behind the screen, at once or when its pool has been ranked. */
int em_explorer_push(em_explorer *x, const em_view *view, char *args[EM_MAX_PARAMS], em_err *err) EM_MUST_CHECK;
em_screen *em_explorer_top(em_explorer *x);
/* Closes the screens [from, to) of the stack. */
void em_explorer_drop(em_explorer *x, size_t from, size_t to);
/* The pool that the worker ranks for a screen; SIZE_MAX when its view has none, or another prior ranks it. */
size_t em_explorer_pool(em_explorer *x, const em_screen *s);
void em_explorer_draw(em_explorer *x);

/* copy.c: the row under the cursor, or one of its cells; NULL or "" = the row. */
void em_explorer_copy(em_explorer *x, em_screen *s, const char *column);

/* prompt_complete.c: adds to the prompt's line what all that may stand there have in common; of several it shows which. */
void em_prompt_complete(em_explorer *x);

/* task.c.  Starts what the task says besides `kind`; what is quick is over when it returns. */
int em_task_start(em_explorer *x, em_task_kind kind, em_err *err) EM_MUST_CHECK;
void em_task_finish(em_explorer *x);            /* waits for the end; shows what came of it */
void em_task_give_up(em_explorer *x);           /* everything is as before; nothing when there is no task */
const char *em_task_word(const em_explorer *x); /* "opening" */

#endif
