/* keys.c - the key table: from a key or a command to an action. */
#include <string.h>

#include "tui/explore.h"

static const em_action_info actions[] = {
#define ACTION(id, keys, command, argument, help) {keys, command, argument, help},
#include "tui/keys.def"
#undef ACTION
};

const em_action_info *em_action_at(size_t i) { return &actions[i]; }

/* The next key of a blank-separated list; EM_KEY_NONE at its end. */
static int next_key(const char **list)
{
  size_t len;
  *list += strspn(*list, " ");
  if (!**list) return EM_KEY_NONE;
  int key = em_key_parse(*list, &len);
  *list += len;
  return key;
}

em_action em_action_of_key(int key)
{
  for (size_t i = 0; i < EM_N_ACTIONS; i++) {
    const char *list = actions[i].keys;
    for (int k = next_key(&list); k != EM_KEY_NONE; k = next_key(&list))
      if (k == key) return (em_action)i;
  }
  return EM_N_ACTIONS;
}

em_action em_action_of_command(const char *name, size_t len)
{
  for (size_t i = 0; i < EM_N_ACTIONS; i++)
    if (strlen(actions[i].command) == len && memcmp(actions[i].command, name, len) == 0) return (em_action)i;
  return EM_N_ACTIONS;
}

int em_actions_check(em_err *err)
{
  for (size_t i = 0; i < EM_N_ACTIONS; i++) {
    const char *list = actions[i].keys;
    while (*list) {
      const char *at = list;
      int key = next_key(&list);
      if (key == EM_KEY_NONE) return em_fail(err, EM_E_CHECK, "%s: \"%s\" is no key", actions[i].command, at);
      em_action owner = em_action_of_key(key);
      if (owner != (em_action)i)
        return em_fail(err, EM_E_CHECK, "\"%s\" is bound to %s and to %s", at, actions[owner].command,
                       actions[i].command);
    }
  }
  return EM_OK;
}
