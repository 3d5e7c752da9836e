/*
 * script.c - keys and commands from a file.
 *
 * A line that starts with ':' is a command; with '#', a comment; anything else is keys, as
 * the key table spells them: "/gemm<Enter>nn".  Behind a '!' a line is played at once, while what came before may
 * still be worked on.
 */
#include <string.h>

#include "tui/explore_int.h"

struct em_script {
  char *text;
  char *line, *next; /* the line being played; NULL before the first and after the last */
  bool at_once;      /* of the line */
};

static int read_stdin(char **text, em_err *err)
{
  em_str all = {0};
  char block[4096];
  size_t n;
  while ((n = fread(block, 1, sizeof block, stdin)) > 0) em_str_putn(&all, block, n);
  return em_str_take(&all, text, err);
}

int em_script_open(const char *path, em_script **out, em_err *err)
{
  em_script *s = em_calloc(1, sizeof *s);
  if (!s) return em_fail_nomem(err);
  size_t len;
  int rc = strcmp(path, "-") == 0 ? read_stdin(&s->text, err) : em_file_read(path, &s->text, &len, err);
  if (rc != EM_OK) {
    em_script_close(s);
    return rc;
  }
  s->next = s->text;
  *out = s;
  return EM_OK;
}

void em_script_close(em_script *s)
{
  if (!s) return;
  em_free(s->text);
  em_free(s);
}

static bool next_line(em_script *s)
{
  if (!s->next || !*s->next) return false;
  s->line = s->next;
  char *end = strchr(s->line, '\n');
  s->next = end ? end + 1 : NULL;
  if (end) *end = '\0';
  s->at_once = *s->line == '!';
  s->line += s->at_once;
  return true;
}

bool em_script_next(em_script *s, int *key, const char **command, bool *at_once)
{
  *command = NULL;
  while (!s->line || !*s->line) {
    if (!next_line(s)) return false;
    char first = *s->line;
    if (first == ':') *command = s->line + 1;
    if (first == ':' || first == '#') s->line = NULL;
    *at_once = s->at_once;
    if (*command) return true;
  }
  size_t len;
  *key = em_key_parse(s->line, &len);
  s->line += len;
  return true;
}
