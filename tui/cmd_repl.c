/* cmd_repl.c - emmy repl. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tui/repl.h"

static em_repl *running; /* whose query an interrupt stops */

static void on_interrupt(int sig)
{
  (void)sig;
  running->cancel = 1;
}

void em_repl_catch_interrupt(em_repl *r)
{
  struct sigaction a = {.sa_handler = on_interrupt};
  running = r;
  r->progress.cancel = &r->cancel;
  sigaction(SIGINT, &a, NULL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
}

static int run_input(em_repl *r, em_err *err)
{
  em_line *in;
  bool terminal = isatty(STDIN_FILENO);
  r->interactive = r->keep_going = terminal;
  r->keep_going |= r->args->opt[EM_OPT_KEEP_GOING].set;
  if (terminal) em_repl_catch_interrupt(r);
  int rc = em_line_open(r, terminal, &in, err);
  if (rc != EM_OK) return rc;
  rc = em_repl_run_lines(r, in, "standard input", err);
  em_line_close(in);
  return rc;
}

static int run_all(em_repl *r, em_err *err)
{
  const em_args *a = r->args;
  if (a->n_listed == 0) return run_input(r, err);
  r->keep_going = a->opt[EM_OPT_KEEP_GOING].set;
  int rc = EM_OK;
  for (size_t i = 0; i < a->n_listed && rc == EM_OK && !r->quit; i++) {
    const char *text = a->listed[i].text;
    if (a->listed[i].option == &em_options[EM_OPT_COMMAND])
      rc = em_repl_run_text(r, "--command", text, err);
    else if (strcmp(text, "-") == 0)
      rc = run_input(r, err);
    else
      rc = em_repl_run_file(r, text, err);
  }
  return rc;
}

static void close_repl(em_repl *r)
{
  em_sql_close(r->sql);
  em_session_close(r->session);
  em_repl_free_sources(r->sources, r->n_sources, r->prior);
  em_out_abort(r->once);
  em_out_abort(r->output);
  em_str_free(&r->log);
}

int em_cmd_repl(const em_args *a, em_err *err)
{
  em_repl r = {.args = a, .width = -1};
  r.render = (em_render){.format = em_args_format(a), .ascii = em_is_ascii(a)};
  r.progress = *em_cli_progress();
  int rc = em_repl_open(&r, a->words, a->n_words, a->opt[EM_OPT_PRIOR].text, err);
  if (rc == EM_OK) rc = run_all(&r, err);
  if (rc == EM_OK && r.output) {
    rc = em_out_commit(r.output, err);
    if (rc == EM_OK) r.output = NULL;
  }
  if (rc == EM_OK && r.failed && !r.interactive)
    rc = em_fail(err, EM_E_INPUT, "%zu error%s", r.failed, r.failed == 1 ? "" : "s");
  close_repl(&r);
  return rc;
}
