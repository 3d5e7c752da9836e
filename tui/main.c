/* main.c - the program emmy: choose a command, run it, report. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tui/cli.h"

/* A closed standard stream would be the next file we open: data would go there.  What takes its place cannot be
 * written to, or read from. */
static void keep_standard_streams(void)
{
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static bool is_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

/* What needs no command; false when it is not that. */
static bool answer(int argc, char **argv, int *rc, em_err *err)
{
  em_str text = {0};
  if (argc == 2 && is_help(argv[1]))
    em_help_put(&text);
  else if (argc == 2 && strcmp(argv[1], "--version") == 0)
    em_str_put(&text, "emmy " EM_VERSION "\n");
  else if (argc == 3 && em_command_is_group(argv[1]) && is_help(argv[2]))
    em_help_put_group(&text, argv[1]);
  else
    return false;
  *rc = em_put_text(&text, err);
  return true;
}

static int run(int argc, char **argv, em_err *err)
{
  const em_command *command;
  em_args args;
  int n_words;
  bool help;
  int rc = em_command_choose(argc, argv, &command, &n_words, err);
  if (rc == EM_OK) rc = em_args_parse(command, argc - n_words, argv + n_words, &args, &help, err);
  if (rc != EM_OK) return rc;
  if (!help) return command->run(&args, err);
  em_str text = {0};
  em_help_put_command(&text, command);
  return em_put_text(&text, err);
}

int main(int argc, char **argv)
{
  em_err err, flush;
  int rc;
  keep_standard_streams();
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_IGN);
  if (!answer(argc, argv, &rc, &err)) rc = run(argc, argv, &err);
  em_cli_progress_end();
  if (em_put_end(&flush) != EM_OK && rc == EM_OK) {
    rc = flush.code;
    err = flush;
  }
  if (rc != EM_OK) em_warn("%s", err.msg);
  return em_exit_status((em_code)rc);
}
