/* commands.c - the table of commands. */
#include "tui/cli.h"

#define OPTIONS(...)                                                                                                   \
  (const em_option_id[]) { __VA_ARGS__, EM_N_OPTIONS }
#define EXAMPLES(...)                                                                                                  \
  (const em_example[])                                                                                                 \
  {                                                                                                                    \
    __VA_ARGS__, { NULL, NULL }                                                                                        \
  }

/* Options that go together. */
#define SESSION EM_OPT_PRIOR, EM_OPT_FEAT_VER, EM_OPT_CARD, EM_OPT_KERNEL, EM_OPT_THREADS
#define OUTPUT  EM_OPT_CSV, EM_OPT_JSON, EM_OPT_MARKDOWN, EM_OPT_ASCII
#define ROWS    EM_OPT_SORT, EM_OPT_FILTER, EM_OPT_LIMIT

#define SOURCES_TEXT                                                                                                    \
  "A SOURCE is a golden file (.json), a store, or a dataset directory; several may be mixed.  Without one the shipped " \
  "golden files are used."

const em_command em_commands[] = {
  {.name = "explore",
   .args = "[SOURCE...]",
   .most = -1,
   .run = em_cmd_explore,
   .doc = "browse pools, candidates and feature rows in the terminal",
   .text =
     "Opens the explorer on the pools of the sources: how many candidates each has, where its golden ranks under the "
     "prior, and the cold pick.  Pools are enumerated, turned into feature rows and scored behind the screen, one at a "
     "time, the open one first.\n\n" SOURCES_TEXT "\n\n"
     "When standard input or output is no terminal, or with --csv, --json or --md, all pools are ranked and the view is "
     "printed as a table instead, as \"emmy view\" does.",
   .options = OPTIONS(SESSION, EM_OPT_VIEW, EM_OPT_SCRIPT, EM_OPT_COLOR, OUTPUT),
   .examples = EXAMPLES({"emmy", "browse the shipped golden files"},
                        {"emmy explore --card rtx4090 --kernel matmul", "a part of them"},
                        {"emmy explore _data/dataset", "browse a dataset"})},
  {.name = "view",
   .args = "VIEW [SOURCE...]",
   .least = 1,
   .most = -1,
   .run = em_cmd_view,
   .more = em_view_options,
   .doc = "print one of the explorer's views as a table",
   .text = "Prints the view of that name.  The manual lists the columns of each in emmy(1).\n\n" SOURCES_TEXT,
   .values_title = "views",
   .value = em_view_value,
   .options = OPTIONS(SESSION, ROWS, OUTPUT),
   .examples = EXAMPLES({"emmy view pools --card rtx4080 --sort -golden_rank", "the pools whose golden ranks worst"},
                        {"emmy view candidates --card rtx4080 --pool matmul.square.512 --limit 10 --csv",
                         "the ten best candidates of a pool"},
                        {"emmy view features --card rtx4080 --pool matmul.square.512 --a pick --b golden",
                         "feature rows of pick and golden"},
                        {"emmy view contributions --card rtx4080 --pool matmul.square.512",
                         "why the prior prefers the pick to the golden"})},
  {.name = "repl",
   .args = "[SOURCE...]",
   .most = -1,
   .run = em_cmd_repl,
   .doc = "ask questions in SQL: a prompt, or statements of a script",
   .text =
     "Every view is a table, every parameter of a view an argument of the table: select * from "
     "candidates('square.1024').  emmy-sql(7) lists tables, columns and functions, with examples.  Statements only read; "
     "temporary tables may be written, and other SQLite files attached for reading.\n\n"
     "At a terminal statements are edited, completed with Tab and kept in a history; a statement ends with a semicolon "
     "and may take several lines; an interrupt stops the query, not the program.  A line that starts with a dot is a "
     "command: .help lists them.\n\n"
     "With --command, --file or standard input that is no terminal the statements run one after another, and the first "
     "error, named with source and line, ends the program with exit status 1.\n\n" SOURCES_TEXT,
   .options = OPTIONS(EM_OPT_COMMAND, EM_OPT_SQL_FILE, EM_OPT_KEEP_GOING, EM_OPT_PRIOR, EM_OPT_FEAT_VER, EM_OPT_THREADS,
                      OUTPUT),
   .examples = EXAMPLES(
     {"emmy repl", "a prompt on the shipped golden files"},
     {"emmy repl -c \"select card, count(*), topk(golden_rank, 1) from pools group by card\"", "one question"},
     {"emmy repl --csv -f report.sql _data/dataset > report.csv", "a script"})},
  {.name = "db import",
   .args = "SOURCE...",
   .least = 1,
   .most = -1,
   .run = em_cmd_db_import,
   .doc = "import golden files or another store",
   .text =
     "Imports golden files and other stores, and says for each how many kernels, routing rows, measured rows and "
     "proposals it held and what was skipped, by reason.  A better measurement of the same configuration replaces a "
     "worse one.\n\n"
     "Golden files are read and checked, and stores opened, before the first source is imported.  Each is imported in one transaction; with "
     "--fresh the old store stays as it is until all of them are in the new one.",
   .options = OPTIONS(EM_OPT_DB, EM_OPT_FRESH, OUTPUT),
   .examples = EXAMPLES({"emmy db import --db _data/dataset.db --fresh data/golden/*.json", "the shipped golden files"},
                        {"emmy db import --db _data/tune.db ~/.cache/emmy/autotune.db", "another store"})},
  {.name = "db export",
   .args = "DIR",
   .least = 1,
   .most = 1,
   .run = em_cmd_db_export,
   .doc = "write the store's pools as a dataset directory",
   .text =
     "Enumerates the pool of every kernel that has golden rows, draws a sample of it in which the golden rows are "
     "always kept, and writes the feature matrices, the rows and a manifest to DIR, which replaces an earlier dataset "
     "there, if nothing else lies in that folder.  The same store and options give the same bytes.  What could not be used is counted by reason and "
     "listed in the manifest.",
   .options = OPTIONS(EM_OPT_DB, EM_OPT_SAMPLE, EM_OPT_SEED, EM_OPT_FEATURES, EM_OPT_THREADS, OUTPUT),
   .examples = EXAMPLES({"emmy db export --db _data/dataset.db _data/dataset", "2000 candidates a pool"},
                        {"emmy db export --db _data/dataset.db --pool-sample 0 _data/whole", "whole pools"})},
  {.name = "db list",
   .args = "",
   .run = em_cmd_db_list,
   .doc = "list the sources of a store",
   .text = "Prints every source that was imported, with its digest and the number of its rows.",
   .options = OPTIONS(EM_OPT_DB, ROWS, OUTPUT),
   .examples = EXAMPLES({"emmy db list --db _data/dataset.db", "what was imported"})},
  {.name = "db check",
   .args = "",
   .run = em_cmd_db_check,
   .doc = "count what a store holds and verify it",
   .text =
     "Prints the numbers of sources, kernels, rows and cards, and of everything that contradicts itself: each of those "
     "should be 0.  The exit status is 3 when one is not.",
   .options = OPTIONS(EM_OPT_DB, OUTPUT),
   .examples = EXAMPLES({"emmy db check --db _data/dataset.db", "verify a store"})},
  {.name = "eval prior",
   .args = "DATASET",
   .least = 1,
   .most = 1,
   .run = em_cmd_eval_prior,
   .doc = "report how well a prior ranks the pools of a dataset",
   .text =
     "Ranks the golden rows of every pool and prints, per card, tier and pool size: pools, median rank with every tie "
     "counted against the golden and with ties ignored, and how many goldens are among the best 1, 5, 10, 25, 50 and "
     "100.  Two baselines stand beside: a random order, and the first option of the enumeration.  Then follow the "
     "pools that are ranked worst, and what was skipped and why.  Ranks count from 1; in --json files from 0.\n\n"
     "--pools measured judges the measured pools instead, per card and level of optimization, never over several: "
     "Spearman's rank correlation of predicted cost and latency (1 is the order of the latencies), and regret@1 and "
     "regret@10, the least latency among the prior's first one or ten over the least of the pool (1 is best; 1.4 is 40 % "
     "slower).  Of equal scores the slowest counts as first.  Beside each figure stand the number of pools that it is of (rho needs "
     "five rows, regret@k more than k) and the worst pool.  Then follow the pools of the greatest regret.  --pools both "
     "prints both reports.  --csv and --md print the first table of each alone.\n\n"
     "Columns that the prior splits on and no pool of DATASET has are named on standard error: they count as missing "
     "values, and the figures are not what the prior is worth.",
   .options = OPTIONS(EM_OPT_POOLS, EM_OPT_PRIOR, EM_OPT_KERNEL, EM_OPT_JSON_FILE, EM_OPT_USED, EM_OPT_FEAT_VER,
                      EM_OPT_THREADS, EM_OPT_CSV, EM_OPT_MARKDOWN, EM_OPT_ASCII),
   .examples = EXAMPLES(
     {"emmy eval prior _data/dataset", "the shipped prior"},
     {"emmy eval prior _data/dataset --prior _tune/fits/offline.json --json report.json", "a fit of yours"},
     {"emmy eval prior _data/tune --pools measured", "against the latencies of measured pools"})},
  {.name = "fit",
   .args = "DATASET WEIGHTS",
   .least = 2,
   .most = 2,
   .run = em_cmd_fit,
   .more = em_fit_options,
   .doc = "fit a prior to a dataset",
   .text =
     "Trains boosted oblivious trees on the golden groups of DATASET: recorded rows are positives, a uniform draw of the "
     "rest are negatives.  Writes the artifact to WEIGHTS, and artifact (prior.json) and metrics.json to a fresh folder, "
     "by default the next free number under _tune/fits.  With folds it also trains on each complement and reports the "
     "held-out ranks.  The same dataset and options give the same bytes, with any number of threads.\n\n"
     "--labels measured or both learns from the latencies of measured pools.  Pools of the other kind are only watched: "
     "the report has ranks of all goldens, and rank correlation and regret (see emmy-eval-prior(1)) of all measured pools.",
   .options = OPTIONS(EM_OPT_OUT_DIR, EM_OPT_FEATURES, OUTPUT),
   .examples = EXAMPLES(
     {"emmy fit _data/dataset _tune/fits/offline.json", "with the default parameters"},
     {"emmy fit --iterations 100 --depth 5 --folds 0 _data/dataset small.json", "quicker, without cross-validation"})},
  {.name = "compare",
   .args = "FIT_A FIT_B",
   .least = 2,
   .most = 2,
   .run = em_cmd_compare,
   .doc = "compare the ranks of two fits, and say whether one is better",
   .text =
     "Puts the figures of two fits side by side, by card, tier and pool size, by card, and over all, for the pools that "
     "both rank; then the pools that moved most each way, and a verdict.  A fit is a metrics.json, the folder that "
     "holds one, or a folder's name under _tune/fits.  Ranks are held-out ones where both fits were cross-validated; else "
     "they are those of pools that the fits learned from, and the verdict says so.  Pools that are not of as many "
     "candidates for both fits, such as samples of different sizes, are left out and counted.\n\n"
     "The verdict is about the mean change of log2(rank): a paired bootstrap over the pools gives its 95 % interval, and "
     "the second fit is better or worse when the interval leaves out 0.  Where fewer than six pools moved no difference is "
     "shown.  The draws are seeded: the same files give the same interval.\n\n"
     "On measured pools that both fits judge the change is in log2(regret@1), per card and level of optimization.\n\n"
     "--csv and --json print the figures on golden pools; \"emmy view fit_diff\" has all of them, \"emmy view "
     "fit_measured_compare\" those on measured pools.",
   .options = OPTIONS(EM_OPT_FAIL_WORSE, ROWS, OUTPUT),
   .examples = EXAMPLES({"emmy compare 0001 0002", "the first two fits under _tune/fits"},
                        {"emmy compare --fail-on-regression shipped/metrics.json _tune/fits/0003",
                         "in a script: exit status 3 when worse"})},
  {.name = "golden format",
   .args = "FILE",
   .least = 1,
   .most = 1,
   .run = em_cmd_golden_format,
   .doc = "print a golden file in its canonical form",
   .text =
     "Reads FILE strictly and prints it in the one canonical form, byte-stable: header keys one a line, one entry a "
     "line.  Formatting a formatted file changes nothing.",
   .options = OPTIONS(EM_OPT_OUT_FILE),
   .examples = EXAMPLES({"emmy golden format data/golden/rtx4080_sm89.json -o formatted.json", "to a file"},
                        {"emmy golden format rows.json -o rows.json", "in place"})},
  {.name = "golden check",
   .args = "FILE...",
   .least = 1,
   .most = -1,
   .run = em_cmd_golden_check,
   .doc = "check golden files, and whether they are in canonical form",
   .text =
     "Reads each FILE strictly and prints what it holds.  A file that cannot be read is an error (exit status 1); one "
     "that reads well but is not in canonical form, or whose stored identities are not what the kernels give, is a "
     "failed check (exit status 3).",
   .options = OPTIONS(OUTPUT),
   .examples = EXAMPLES({"emmy golden check data/golden/*.json", "all shipped files"})},
  {.name = "kernel new",
   .args = "KIND SIZE...",
   .least = 1,
   .most = -1,
   .run = em_cmd_kernel_new,
   .doc = "print the Loop IR of a kernel",
   .text =
     "Builds a kernel and prints its Loop IR as JSON.  The sizes are those that the kind takes, in its order; an output "
     "dimension given as NAME=SIZE is symbolic, and SIZE is its hint.",
   .values_title = "kinds",
   .value = em_kind_value,
   .options = OPTIONS(EM_OPT_DTYPE, EM_OPT_OUT_DTYPE, EM_OPT_EPILOGUE, EM_OPT_OP, EM_OPT_TRANSPOSED),
   .examples = EXAMPLES(
     {"emmy kernel new matmul 512 512 512 --dtype f16", "a square matrix product"},
     {"emmy kernel new linear seq_len=512 4096 1024 --dtype f16 --epilogue bias,gelu", "with a symbolic dimension"})},
  {.name = "kernel list",
   .args = "SOURCE...",
   .least = 1,
   .most = -1,
   .run = em_cmd_kernel_list,
   .doc = "list the kernels of golden files, stores and datasets",
   .text =
     "Prints name, kind, shape and identity of every kernel, and what keeps it out of the space, if anything does.",
   .options = OPTIONS(ROWS, OUTPUT),
   .examples = EXAMPLES({"emmy kernel list data/golden/rtx4080_sm89.json", "the kernels of one card"})},
  {.name = "kernel show",
   .args = "SOURCE KERNEL",
   .least = 2,
   .most = 2,
   .run = em_cmd_kernel_show,
   .doc = "print one kernel: its loops, identity and structure stamps",
   .text =
     "Prints the kernel for people: identity, kind, loop nest and structure stamps.  KERNEL is a name or the first "
     "digits of an identity.  With --json the Loop IR is printed instead.",
   .options = OPTIONS(EM_OPT_JSON),
   .examples = EXAMPLES({"emmy kernel show data/golden/rtx4080_sm89.json k_matmul_66e804", "by name"})},
  {.name = "target list",
   .args = "",
   .run = em_cmd_target_list,
   .doc = "list the cards that are known",
   .text = "Prints every card with the limits that legality and features use.",
   .options = OPTIONS(ROWS, OUTPUT),
   .examples = EXAMPLES({"emmy target list --filter arch:ampere", "cards of one architecture"})},
  {.name = "target show",
   .args = "CARD",
   .least = 1,
   .most = 1,
   .run = em_cmd_target_show,
   .doc = "print all that is known of one card",
   .text = "CARD is the product name, an alias or the short name, in any case.",
   .options = OPTIONS(OUTPUT),
   .examples = EXAMPLES({"emmy target show h100", "by short name"},
                        {"emmy target show \"NVIDIA H100 80GB HBM3\"", "by product name"})},
  {.name = "help",
   .args = "[COMMAND]",
   .most = 2,
   .run = em_cmd_help,
   .doc = "explain the program or one command",
   .text = "Without COMMAND lists the commands.",
   .options = OPTIONS(EM_OPT_MAN, EM_OPT_COMPLETION),
   .examples = EXAMPLES({"emmy help db import", "the same as emmy db import --help"},
                        {"emmy help --man man", "write the manual pages"},
                        {"emmy help --completion bash > ~/.local/share/bash-completion/completions/emmy",
                         "complete command lines in bash, without make install"})},
  {.name = NULL},
};
