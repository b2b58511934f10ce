/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "cli/config.h"
#include "cli/max_memory.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "launch/kernel_compiler.h"
#include "report/run/other_command.h"
#include "store/rank_files.h"
#include "store/report_find.h"
#include "ttmem/version.h"

/* ---- Shared by the commands --------------------------------------------------------------------------------------- */

int ttm_cli_error(const ttm_options *options, const ttm_error *err) {
  ttm_buf text = {0};
  char why[TTM_NO_MEMORY_TEXT], line[TTM_NO_MEMORY_TEXT + 32];
  const char *none = ttm_max_memory_explain(options, why);
  ttm_buf_printf(&text, "%s: error: ", ttm_program_name(options->program));
  ttm_put_lines(&text, ttm_str_of(err->code == TTM_ENOMEM ? none : err->message));
  if (text.failed) snprintf(line, sizeof line, "ttmem: error: %s\n", none); /* not even for the message */
  ttm_str shown = text.failed ? ttm_str_of(line) : ttm_buf_str(&text);
  if (write(STDERR_FILENO, shown.p, shown.n) < 0) { /* standard error is closed */
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
  return ttm_error_set(err, TTM_EUSAGE, "'%s' is the input; choose another file for -o", target);
}

int ttm_cli_read(ttm_profile **out, const ttm_options *options, const char *log, bool keep_ir, ttm_error *err) {
  ttm_progress_line line;
  ttm_progress_begin(&line, options->given[TTM_OPTION_QUIET]);
  ttm_read_options read = {sizeof read, options->threads, keep_ir, ttm_progress_show, &line};
  int status = ttm_profile_read_opts(out, log, &read, err);
  ttm_progress_end(&line);
  return status;
}

static bool is_folder(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int ttm_subject_read(ttm_subject *out, const ttm_options *options, const char *log, bool keep_ir, ttm_error *err) {
  const char *plans = options->value[TTM_OPTION_DECISION_TRACE], *times = options->value[TTM_OPTION_TIMES];
  if (times && !strcmp(times, "operations")) times = NULL; /* of an export: without any */
  *out = (ttm_subject){0};
  if (options->kept && options->kept->path && !keep_ir && !plans && !times && !strcmp(options->kept->path, log)) {
    *out = options->kept->subject;
    options->kept->path = NULL; /* it is the reader's now */
    return TTM_OK;
  }
  bool trace = options->command == &ttm_command_export; /* times only place what is there */
  if (is_folder(log) && (plans || (times && !trace)))
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs the log: the files of a report do not do",
                         plans ? "decision-trace" : "times");
  if (is_folder(log)) {
    int status = ttm_report_read_json(&out->profile, &out->findings, log, options->threads, &out->kept, err);
    return status || !times ? status : ttm_profile_add_times(out->profile, times, err);
  }
  int status = ttm_cli_read(&out->profile, options, log, keep_ir, err);
  if (status == TTM_ENODATA) ttm_name_other_command(log, err);
  if (!status && plans) status = ttm_profile_add_plans(out->profile, plans, err);
  if (!status && times) status = ttm_profile_add_times(out->profile, times, err);
  return status ? status : ttm_findings_make(&out->findings, out->profile, options->threads, err);
}

void ttm_subject_free(ttm_subject *subject) {
  ttm_findings_free(subject->findings);
  ttm_profile_free(subject->profile);
  ttm_buf_free(&subject->kept);
  *subject = (ttm_subject){0};
}

/* ---- Start -------------------------------------------------------------------------------------------------------- */

/* The interactive program needs a terminal at both ends. */
static bool can_interact(const ttm_options *options) {
  return options->program == TTM_PROGRAM_TTMEM && isatty(STDIN_FILENO) && ttm_terminal_is_live(STDOUT_FILENO);
}

/* Nothing was asked for. Usage goes to standard error: nothing was reported. */
static int print_usage(const ttm_options *options) {
  ttm_buf text = {0};
  ttm_usage_write(&text, options->program);
  ttm_terminal_note(&text);
  return TTM_EXIT_WRONG;
}

bool ttm_can_do_without(const ttm_options *options, const char *folder) {
  ttm_report_found found = {0};
  bool read = !ttm_report_find(&found, folder, NULL);
  bool can = read && ((options->command->reports && found.memory) ||
                      (options->command == &ttm_command_html && (found.page || found.memory)));
  ttm_report_found_free(&found);
  if (can && !options->given[TTM_OPTION_QUIET])
    fprintf(stderr, "ttmem: the log of this report is gone or has changed; answered from the report's files\n");
  return can;
}

int ttm_input_source(char **out, const ttm_options *options, const char *path, ttm_error *err) {
  *out = NULL;
  if (!is_folder(path)) return TTM_OK;
  int status = ttm_report_source(out, path, NULL, err);
  return status == TTM_ENODATA && ttm_can_do_without(options, path) ? TTM_OK : status;
}

static int find_named(char **out, ttm_options *options, size_t i, ttm_error *err) {
  int status = ttm_named_find(out, options->input[i], err);
  if (*out) options->input[i] = *out;
  return status;
}

/* Runs the command. The folder of a run or a report stands for its log, and so do their names. */
static int run_command(ttm_options *options, ttm_error *err) {
  char *logs[2] = {NULL, NULL}, *named[2] = {NULL, NULL};
  int status = TTM_OK;
  if (options->command->named && options->inputs) status = find_named(&named[0], options, 0, err);
  bool ranks =
      options->command->ranks && (options->inputs > 1 || (options->inputs && ttm_rank_files_is(options->input[0])));
  for (size_t i = 0; i < options->command->logs && i < options->inputs && !options->rest && !ranks && !status; i++) {
    status = find_named(&named[i], options, i, err);
    if (!status) status = ttm_input_source(&logs[i], options, options->input[i], err);
    if (logs[i]) options->input[i] = logs[i];
  }
  if (!status) status = options->command->run(options, err);
  for (size_t i = 0; i < 2; i++) ttm_free(logs[i]), ttm_free(named[i]);
  return status;
}

static int run_asked(ttm_options *options, ttm_error *err) {
  const ttm_command *command = options->command;
  if (!command && can_interact(options)) return ttm_interact(options, err);
  if (!command || (command == &ttm_command_profile && !options->inputs)) return print_usage(options);
  return run_command(options, err);
}

/* What somebody who reads a bug report asks next. */
static void put_build(ttm_buf *out) {
#if defined(__x86_64__)
  const char *machine = "x86_64";
#elif defined(__aarch64__)
  const char *machine = "aarch64";
#else
  const char *machine = "unknown";
#endif
#if defined(__clang__)
  const char *compiler = "";
#else
  const char *compiler = "gcc ";
#endif
#if defined(__GLIBC__)
  const char *libc = "glibc";
#elif defined(__APPLE__)
  const char *libc = "libSystem";
#else
  const char *libc = "musl";
#endif
  ttm_buf_printf(out, "commit %s, built for %s with %s by %s%s\n", TTMEM_COMMIT, machine, libc, compiler, __VERSION__);
}

static int run(ttm_options *options, ttm_error *err) {
  const ttm_command *command = options->command;
  if (options->given[TTM_OPTION_HELP]) return ttm_help_print(options, command, err);
  if (options->given[TTM_OPTION_VERSION]) {
    ttm_buf text = {0};
    ttm_buf_printf(&text, "%s %s\n", ttm_program_name(options->program), TTM_VERSION);
    put_build(&text);
    return ttm_terminal_print(&text, err);
  }
  char *config = NULL;
  int status = ttm_config_apply(options, &config, err);
  if (!status) ttm_max_memory_apply(options);
  if (options->given[TTM_OPTION_NO_SYNC]) ttm_terminal_no_sync();
  if (!status) status = run_asked(options, err);
  ttm_free(config);
  return status;
}

int ttm_cli_run_kept(ttm_program program, int argc, char *const *argv, ttm_kept_subject *kept) {
  ttm_options options;
  ttm_error err;
  int status = ttm_options_parse(&options, program, argc, argv, &err);
  options.kept = kept;
  if (!status) status = run(&options, &err);
  return status < 0 ? ttm_cli_error(&options, &err) : status;
}

int ttm_cli_run(ttm_program program, int argc, char **argv) {
  if (argc && ttm_is_kernel_compiler(argv[0])) return ttm_kernel_compiler_main(argc, argv);
  signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an errno, not a death */
  signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow */
  return ttm_cli_run_kept(program, argc, argv, NULL);
}

/* ---- Output ----------------------------------------------------------------------------------------------------------- */

/* Nothing that is read is written over. */
static int check_inputs(const ttm_options *options, ttm_error *err) {
  const char *target = options->value[TTM_OPTION_OUTPUT];
  int status = ttm_check_output(options->value[TTM_OPTION_LOG_FILE], target, err);
  if (!status) status = ttm_check_output(options->value[TTM_OPTION_SOURCE], target, err);
  for (size_t i = 0; i < options->inputs && !status; i++) status = ttm_check_output(options->input[i], target, err);
  for (size_t i = 0; i < options->many_count && !status; i++) {
    if (options->many[i].option == TTM_OPTION_STRATEGY) status = ttm_check_output(options->many[i].value, target, err);
  }
  return status;
}

int ttm_output_form_of(ttm_output_form *out, const ttm_options *options, ttm_error *err) {
  static const ttm_option asked[] = {TTM_OPTION_JSON,     TTM_OPTION_CSV,  TTM_OPTION_MD,
                                     TTM_OPTION_MARKDOWN, TTM_OPTION_HTML, TTM_OPTION_SVG};
  static const ttm_output_form forms[] = {TTM_OUTPUT_JSON,    TTM_OUTPUT_CSV,  TTM_OUTPUT_MD,
                                          TTM_OUTPUT_COMMENT, TTM_OUTPUT_HTML, TTM_OUTPUT_SVG};
  size_t n = 0;
  *out = TTM_OUTPUT_TERMINAL;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    if (options->given[asked[i]]) *out = forms[i], n++;
  }
  if (n <= 1) return check_inputs(options, err);
  return ttm_error_set(err, TTM_EUSAGE, "give only one of --json, --csv, --md, --html and --svg");
}

ttm_doc ttm_output_doc(ttm_output_form form, const ttm_options *options, ttm_buf *out) {
  static const ttm_doc_form forms[] = {[TTM_OUTPUT_TERMINAL] = TTM_DOC_TERMINAL,
                                       [TTM_OUTPUT_JSON] = TTM_DOC_JSON,
                                       [TTM_OUTPUT_CSV] = TTM_DOC_CSV,
                                       [TTM_OUTPUT_MD] = TTM_DOC_MARKDOWN,
                                       [TTM_OUTPUT_HTML] = TTM_DOC_HTML};
  bool file = ttm_terminal_is_file(options->value[TTM_OPTION_OUTPUT]);
  return (ttm_doc){
      .out = out,
      .form = forms[form],
      .columns = file ? 80 : ttm_terminal_columns(STDOUT_FILENO),
      .color = !file && ttm_terminal_color(STDOUT_FILENO, options->value[TTM_OPTION_COLOR]),
      .utf8 = ttm_terminal_utf8(),
  };
}

int ttm_output_deliver(const ttm_options *options, ttm_buf *text, int status, ttm_error *err) {
  if (!status) status = ttm_terminal_deliver(text, options->value[TTM_OPTION_OUTPUT], err);
  ttm_buf_free(text);
  return status;
}
