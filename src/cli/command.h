/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share. Each has a file command_*.c with its row (cli/options.h). */
#ifndef TTM_CLI_COMMAND_H
#define TTM_CLI_COMMAND_H

#include "analyze/findings.h"
#include "analyze/fit_case.h"
#include "base/buf.h"
#include "cli/options.h"
#include "report/write/doc.h"
#include "ttmem/table.h"

enum {
  TTM_EXIT_OK = 0,    /* a report was made, also of a run that failed */
  TTM_EXIT_FOUND = 1, /* asked to judge, and it does not hold */
  TTM_EXIT_WRONG = 2, /* wrong usage, unreadable input, nothing to report on */
};
#define TTM_EXITS_CHECK "0 report written; 1 --check failed; 2 wrong usage, unreadable input or no data"

/* Parses, answers --help, --version and wrong usage, runs the command. All of main(). */
int ttm_cli_run(ttm_program program, int argc, char **argv);

/* Runs a program as `ttmem run` does, and appends where the report is and what it was made of (the log or a recording); nothing when the
 * program could not be started. Both may be NULL. Returns as ttm_command.run. */
int ttm_run_kept(const ttm_options *options, ttm_buf *folder, ttm_buf *source, ttm_error *err);
/* `ttmem` alone on a terminal. */
int ttm_interact(const ttm_options *options, ttm_error *err);

/* "ttmem: error: ..." on standard error, control characters made harmless; returns TTM_EXIT_WRONG. */
int ttm_cli_error(const ttm_options *options, const ttm_error *err);

/* Prints help on one command; without one on `options->group`, the commands that share a first word, or on the whole program. */
int ttm_help_print(const ttm_options *options, const ttm_command *command, ttm_error *err);

/* Prints the manual page of a command, of the whole program for NULL, in man's macros. */
int ttm_man_print(const ttm_command *command, ttm_error *err);
/* All pages, one behind the other; each begins with .TH and its name. */
int ttm_man_print_all(ttm_error *err);

/* One line per command: how the program is called. */
void ttm_usage_write(ttm_buf *out, ttm_program program);

/* TTM_EUSAGE when writing to `target` (of -o: "-" is standard output) would lose what is read from `input`. Either may be NULL. */
int ttm_check_output(const char *input, const char *target, ttm_error *err);

/* TTM_EUSAGE when the text cannot be a report's folder and the start of its file names. */
int ttm_check_report_name(const char *name, ttm_error *err);

typedef enum ttm_output_form {
  TTM_OUTPUT_TERMINAL,
  TTM_OUTPUT_JSON,
  TTM_OUTPUT_CSV,
  TTM_OUTPUT_MD,
  TTM_OUTPUT_COMMENT,
  TTM_OUTPUT_HTML,
  TTM_OUTPUT_SVG
} ttm_output_form;

/* Which of --json, --csv, --md, --markdown, --html, --svg was given. 0, or TTM_EUSAGE when more than one was, or -o names an input. */
int ttm_output_form_of(ttm_output_form *out, const ttm_options *options, ttm_error *err);
/* A document of that form (not a comment, not SVG) for standard output or the file of -o. */
ttm_doc ttm_output_doc(ttm_output_form form, const ttm_options *options, ttm_buf *out);
/* Prints the text, or writes the file of -o, unless `status` is a failure; frees it. Returns the status. */
int ttm_output_deliver(const ttm_options *options, ttm_buf *text, int status, ttm_error *err);

/* Where the report or run of that name lies: a folder of the store, or what the history knows of a run by its id (its beginning will do), name or
 * model. *out is NULL for the path of a file, and when there is nothing of that name; freed with ttm_free. 0, TTM_EUSAGE or TTM_ENOMEM. */
int ttm_named_find(char **out, const char *name, ttm_error *err);

/* "7d", "12h", "2w" before now, "2026-11-16" and times of it (UTC): seconds since 1970. False when it is none. */
bool ttm_since_read(const char *text, int64_t *seconds);

/* The percentage of --tolerance ("5", "0.5%"); *out stays when it was not given. 0 or TTM_EUSAGE. */
int ttm_tolerance_read(const ttm_options *options, double *out, ttm_error *err);

/* The boards of --board, separated by commas: a bit per board; all of them for NULL. */
int ttm_boards_named(const char *names, unsigned *out, ttm_error *err);
/* TTM_EXIT_FOUND when --board or --check asked for a verdict and it is no, TTM_EXIT_WRONG when it is unknown. */
int ttm_fit_exit(const ttm_options *options, const ttm_fit_cases *cases);

/* What a command works on. */
typedef struct ttm_subject {
  ttm_profile *profile;
  ttm_findings *findings;
  ttm_buf kept; /* of a report without its log: the text of its findings file; empty when it has none */
} ttm_subject;

/* One that was read before; whoever reads that path gets it, once. */
typedef struct ttm_kept_subject {
  char *path; /* NULL: none */
  ttm_subject subject;
} ttm_kept_subject;

/* As ttm_cli_run, with an input at hand (or NULL). */
int ttm_cli_run_kept(ttm_program program, int argc, char *const *argv, ttm_kept_subject *kept);

/* Where a command reads: the log that the folder of a run or a report stands for; the folder itself when it is a report without its log. NULL: the path as it
 * is. Freed with ttm_free. */
int ttm_input_source(char **out, const ttm_options *options, const char *path, ttm_error *err);

/* Whether the command can do with the files of a report whose log is gone or is another one; says so. */
bool ttm_can_do_without(const ttm_options *options, const char *folder);

/* Reads a log, with the progress line. */
int ttm_cli_read(ttm_profile **out, const ttm_options *options, const char *log, bool keep_ir, ttm_error *err);

/* The same, and draws the conclusions. `log` may be the folder of a report: its JSON files are read then. For a file of another command the
 * error names that one. Freed with ttm_subject_free in any case. */
int ttm_subject_read(ttm_subject *out, const ttm_options *options, const char *log, bool keep_ir, ttm_error *err);
void ttm_subject_free(ttm_subject *subject);

/* What `ttmem explain` explains: a message, or a file with messages. As ttm_subject_read; TTM_ENODATA when there is no message that ttmem knows. */
int ttm_explain_read(ttm_subject *out, const ttm_options *options, const char *input, ttm_error *err);
/* The answers of `ttmem fit` for the log that is the first input. Freed with ttm_fit_cases_free in any case. `partial` (or NULL) gets why the
 * log is not whole. */
int ttm_fit_log(ttm_fit_cases *out, const ttm_options *options, ttm_buf *partial, ttm_error *err);

/* The screen of `ttmem live` inside another program: `*out` is for ttm_ui_watch, and freed at its end. */
struct ttm_ui_watch;
int ttm_live_begin(const struct ttm_ui_watch **out, const ttm_options *options, ttm_error *err);

/* The text of findings.json, or a table of it as CSV, on standard output. */
int ttm_print_findings(const ttm_findings *f, ttm_error *err);
int ttm_print_table(const ttm_findings *f, ttm_table table, ttm_error *err);

/* The summary of `analyze`, as the terminal behind `fd` wants it. `folder` is where the report is, NULL when none was written.
 * 0 or TTM_ENOMEM. */
int ttm_summary_text(const ttm_options *options, const ttm_findings *f, const char *log, const char *folder, int fd,
                     ttm_buf *out);

#endif
