/*
 * explore.h - the explorer: a stack of screens, each a table of one view.
 */
#ifndef EM_EXPLORE_H
#define EM_EXPLORE_H

#include "tui/term.h"

typedef struct em_explore_options {
  em_term_options term;
  const char *script; /* path of keys and commands to play ("-" = standard input); NULL = the keyboard */
  const char *view;   /* first screen; NULL = pools */
} em_explore_options;

/* Runs until the user leaves.  Starts the session's worker. */
int em_explore(em_session *s, const em_explore_options *o, em_err *err) EM_MUST_CHECK;

/* ---- the key table ---- */

typedef enum em_action {
#define ACTION(id, keys, command, argument, help) EM_ACT_##id,
#include "tui/keys.def"
#undef ACTION
  EM_N_ACTIONS
} em_action;

typedef struct em_action_info {
  const char *keys, *command, *argument, *help;
} em_action_info;
const em_action_info *em_action_at(size_t i);
em_action em_action_of_key(int key); /* EM_N_ACTIONS = none */
em_action em_action_of_command(const char *name, size_t len);
/* Two actions on one key, or a key that cannot be parsed: the message; else EM_OK. */
int em_actions_check(em_err *err) EM_MUST_CHECK;

#endif
