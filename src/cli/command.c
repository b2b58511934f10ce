/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "cli/help.h"
#include "cli/other_input.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "launch/kernel_compiler.h"
#include "store/report_find.h"
#include "ttmem/version.h"

/* ---- Shared by the commands --------------------------------------------------------------------------------------- */

int ttm_cli_error(const ttm_options *options, const ttm_error *err) {
  ttm_buf text = {0};
  ttm_str rest = ttm_str_of(err->message);
  ttm_buf_printf(&text, "%s: error: ", ttm_program_name(options->program));
  while (rest.n) { /* line by line: a message may have several, but the names in it must not reach the terminal raw */
    size_t end = ttm_str_find_char(rest, '\n');
    ttm_put_text(&text, ttm_str_first(rest, end), SIZE_MAX, TTM_FORM_UTF8);
    ttm_buf_char(&text, '\n');
    rest = end == TTM_NOT_FOUND ? (ttm_str){"", 0} : ttm_str_from(rest, end + 1);
  }
  ttm_str no_memory = TTM_LIT("ttmem: error: Out of memory on this host.\n"); /* not even for the message */
  ttm_str shown = text.failed ? no_memory : ttm_buf_str(&text);
  if (write(STDERR_FILENO, shown.p, shown.n) < 0) { /* nobody left to tell */
  }
  ttm_buf_free(&text);
  return TTM_EXIT_WRONG;
}

/* True when both names lead to one file. `log` may be "-": standard input may be redirected from the file that -o names. */
static bool is_same_file(const char *log, const char *target) {
  struct stat a, b;
  bool from_stdin = !strcmp(log, "-");
  if (from_stdin ? fstat(STDIN_FILENO, &a) : stat(log, &a)) return false;
  return !stat(target, &b) && S_ISREG(b.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int ttm_check_output(const char *input, const char *target, ttm_error *err) {
  if (!input || !ttm_terminal_is_file(target) || !is_same_file(input, target)) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "'%s' is the input itself; give -o another name so that it is not lost",
                       target);
}

int ttm_cli_read(ttm_profile **out, const ttm_options *options, const char *log, bool keep_ir, ttm_error *err) {
  ttm_progress_line line;
  ttm_progress_begin(&line, options->given[TTM_OPTION_QUIET]);
  ttm_read_options read = {sizeof read, options->threads, keep_ir, ttm_progress_show, &line};
  int status = ttm_profile_read_opts(out, log, &read, err);
  ttm_progress_end(&line);
  return status;
}

int ttm_subject_read(ttm_subject *out, const ttm_options *options, const char *log, bool keep_ir, ttm_error *err) {
  *out = (ttm_subject){0};
  int status = ttm_cli_read(&out->profile, options, log, keep_ir, err);
  if (status == TTM_ENODATA) ttm_name_other_command(log, err);
  return status ? status : ttm_findings_make(&out->findings, out->profile, options->threads, err);
}

void ttm_subject_free(ttm_subject *subject) {
  ttm_findings_free(subject->findings);
  ttm_profile_free(subject->profile);
  *subject = (ttm_subject){0};
}

/* ---- Commands without a log --------------------------------------------------------------------------------------- */

static int print(const ttm_options *options, ttm_buf *text) {
  ttm_error err;
  return ttm_terminal_print(text, &err) ? ttm_cli_error(options, &err) : TTM_EXIT_OK;
}

static int print_help(const ttm_options *options, ttm_command command) {
  ttm_buf text = {0};
  ttm_help_write(&text, options->program, command);
  return print(options, &text);
}

static int print_group_help(const ttm_options *options, const char *group) {
  ttm_buf text = {0};
  ttm_help_write_group(&text, options->program, group);
  return print(options, &text);
}

static int print_version(const ttm_options *options) {
  ttm_buf text = {0};
  ttm_buf_printf(&text, "%s %s\n", ttm_program_name(options->program), TTM_VERSION);
  return print(options, &text);
}

static int help_on_topic(const ttm_options *options) {
  ttm_error err;
  if (!options->inputs) return print_help(options, TTM_COMMAND_NONE);
  const char *second = options->inputs > 1 ? options->input[1] : NULL;
  ttm_command topic = ttm_command_find(options->program, options->input[0], second);
  if (!second && ttm_command_is_group(options->program, options->input[0]))
    return print_group_help(options, options->input[0]);
  if (topic != TTM_COMMAND_NONE) return print_help(options, topic);
  ttm_error_set(&err, TTM_EUSAGE, "no help on '%s%s%s': there is no such command; 'ttmem --help' lists all of them",
                options->input[0], second ? " " : "", second ? second : "");
  return ttm_cli_error(options, &err);
}

/* The interactive program needs a terminal at both ends. */
static bool can_interact(const ttm_options *options) {
  return options->program == TTM_PROGRAM_TTMEM && isatty(STDIN_FILENO) && ttm_terminal_is_live(STDOUT_FILENO);
}

/* Usage goes to standard error: nothing was reported. */
static int print_usage(const ttm_options *options) {
  ttm_buf text = {0};
  ttm_usage_write(&text, options->program);
  if (write(STDERR_FILENO, text.at, text.n) < 0) { /* nobody left to tell */
  }
  ttm_buf_free(&text);
  return TTM_EXIT_WRONG;
}

/* ---- tt-memory-profiler ------------------------------------------------------------------------------------------- */

static int run_profiler(const ttm_options *options) {
  const char *log = options->value[TTM_OPTION_ANALYZE], *folder = options->value[TTM_OPTION_VISUALIZE];
  ttm_error err;
  if (folder && !log && !options->inputs) return ttm_command_html(options, folder);
  if (folder) {
    ttm_error_set(&err, TTM_EUSAGE, "--visualize takes one report folder and goes with neither --analyze nor a script");
    return ttm_cli_error(options, &err);
  }
  if (!log) return options->inputs ? ttm_command_run(options) : print_usage(options);
  if (!options->inputs) return ttm_command_analyze(options, log);
  ttm_error_set(&err, TTM_EUSAGE, "'%s' is one argument too many: --analyze takes the log", options->input[0]);
  return ttm_cli_error(options, &err);
}

/* ---- Start -------------------------------------------------------------------------------------------------------- */

static int run_command(const ttm_options *options) {
  switch (options->command) {
    case TTM_COMMAND_LLM:
      return ttm_command_llm(options);
    case TTM_COMMAND_ANALYZE:
      return ttm_command_analyze(options, options->inputs ? options->input[0] : NULL);
    case TTM_COMMAND_EXPLAIN:
      return ttm_command_explain(options);
    case TTM_COMMAND_FIT:
      return ttm_command_fit(options);
    case TTM_COMMAND_ASK:
      return ttm_command_ask(options);
    case TTM_COMMAND_DIFF:
      return ttm_command_diff(options);
    case TTM_COMMAND_HTML:
      return ttm_command_html(options, options->inputs ? options->input[0] : NULL);
    case TTM_COMMAND_CB_SIMULATE:
      return ttm_command_cb_simulate(options);
    case TTM_COMMAND_CB_SCAN:
      return ttm_command_cb_scan(options);
    case TTM_COMMAND_CB_LOG:
      return ttm_command_cb_log(options);
    case TTM_COMMAND_CB_ALL:
      return ttm_command_cb_all(options);
    case TTM_COMMAND_GRAPH:
      return ttm_command_graph(options);
    case TTM_COMMAND_TRAIN:
      return ttm_command_train(options);
    case TTM_COMMAND_SERVE:
      return ttm_command_serve(options);
    case TTM_COMMAND_RUN:
      return ttm_command_run(options);
    case TTM_COMMAND_LIVE:
      return ttm_command_live(options);
    case TTM_COMMAND_LAST_RUN:
      return ttm_command_last_run(options);
    case TTM_COMMAND_DOCTOR:
      return ttm_command_doctor(options);
    case TTM_COMMAND_HELP:
      return help_on_topic(options);
    case TTM_COMMAND_PROFILE:
      return run_profiler(options);
    case TTM_COMMAND_NONE:
      if (can_interact(options)) return ttm_command_interactive(options);
      break;
    case TTM_COMMANDS:
      break;
  }
  return print_usage(options);
}

/* The word on the command line that names a log (only diff has a second one), where a folder may stand for the log in it; NULL when the command has none. */
static const char **log_word(ttm_options *options, size_t i) {
  const char **first = options->inputs ? &options->input[0] : NULL;
  if (options->command == TTM_COMMAND_DIFF) return i < options->inputs ? &options->input[i] : NULL;
  if (i) return NULL;
  switch (options->command) {
    case TTM_COMMAND_LLM:
      return options->value[TTM_OPTION_LOGFILE] ? &options->value[TTM_OPTION_LOGFILE] : first;
    case TTM_COMMAND_PROFILE:
      return &options->value[TTM_OPTION_ANALYZE];
    case TTM_COMMAND_ANALYZE:
    case TTM_COMMAND_ASK:
    case TTM_COMMAND_DOCTOR:
    case TTM_COMMAND_EXPLAIN:
    case TTM_COMMAND_FIT:
    case TTM_COMMAND_LAST_RUN:
      return first;
    default:
      return NULL;
  }
}

/* Runs the command; who names the folder of a run or a report means the log behind it. */
static int run_with_log(ttm_options *options) {
  char *logs[2] = {NULL, NULL};
  struct stat st;
  ttm_error err;
  int status = TTM_OK;
  for (size_t i = 0; i < 2 && !status; i++) {
    const char **word = log_word(options, i);
    if (!word || !*word || stat(*word, &st) || !S_ISDIR(st.st_mode)) continue;
    status = ttm_report_source(&logs[i], *word, false, &err);
    if (!status) *word = logs[i];
  }
  int exit_status = status ? ttm_cli_error(options, &err) : run_command(options);
  for (size_t i = 0; i < 2; i++) ttm_free(logs[i]);
  return exit_status;
}

int ttm_cli_run(ttm_program program, int argc, char **argv) {
  ttm_options options;
  ttm_error err;
  if (argc && ttm_is_kernel_compiler(argv[0])) return ttm_kernel_compiler_main(argc, argv);
  signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an errno, not a death */
  signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow */
  if (ttm_options_parse(&options, program, argc, argv, &err)) return ttm_cli_error(&options, &err);
  if (options.given[TTM_OPTION_HELP] && options.group && options.command == TTM_COMMAND_NONE)
    return print_group_help(&options, options.group);
  if (options.given[TTM_OPTION_HELP]) return print_help(&options, options.command);
  if (options.given[TTM_OPTION_VERSION]) return print_version(&options);
  return run_with_log(&options);
}
