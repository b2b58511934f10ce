/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem explain [TEXT|FILE|-]: an error message, pasted, in a file, or anywhere in a log. */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "report/run/explain.h"

static int read_text(ttm_subject *subject, const char *text, ttm_error *err) {
  ttm_read_options read = {.size = sizeof read, .threads = 1};
  int status = ttm_profile_read_bytes(&subject->profile, text, strlen(text), &read, err);
  return status ? status : ttm_findings_make(&subject->findings, subject->profile, 1, err);
}

/* The message is often copied from where its sentence begins, without the words by which a log is searched for it. */
static int read_sentence(ttm_subject *subject, const char *text, ttm_error *err) {
  ttm_buf whole = {0};
  ttm_buf_puts(&whole, "Out of Memory: ");
  ttm_buf_puts(&whole, text);
  ttm_buf_char(&whole, '\0');
  int status = whole.failed ? ttm_error_nomem(err) : read_text(subject, whole.at, err);
  ttm_buf_free(&whole);
  return status;
}

static int nothing(const char *input, ttm_error *err) {
  return ttm_error_set(err, TTM_ENODATA,
                       "%s has no error message that ttmem knows. "
                       "Give whole messages, from 'Out of Memory' or 'TT_FATAL' to the end of the line",
                       strcmp(input, "-") ? input : "standard input");
}

/* A word that names a file is a file; anything else that holds an error message is the message itself. */
static int read_subject(ttm_subject *subject, const ttm_options *options, const char *input, ttm_error *err) {
  struct stat st;
  if (!strcmp(input, "-") || !stat(input, &st)) {
    int status = ttm_subject_read(subject, options, input, false, err);
    return status == TTM_ENODATA && !ttm_name_other_command(input, err) ? nothing(input, err) : status;
  }
  int status = read_text(subject, input, err);
  if (status == TTM_ENODATA && ttm_str_starts(ttm_str_of(input), TTM_LIT("Not enough space")))
    status = read_sentence(subject, input, err);
  if (status == TTM_ENODATA) {
    ttm_error_set(err, TTM_EUSAGE,
                  "'%.60s' is neither a file nor an error message that ttmem knows; quote the whole line, "
                  "or pipe it: ... | ttmem explain -",
                  input);
  }
  return status;
}

static int print(const ttm_options *options, const ttm_findings *f, ttm_error *err) {
  ttm_buf text = {0};
  ttm_summary_style style = ttm_terminal_style(STDOUT_FILENO, options->value[TTM_OPTION_COLOR]);
  text.failed |= ttm_explain_write(f, &style, &text) != TTM_OK;
  return ttm_terminal_print(&text, err);
}

static int run(const ttm_options *options, ttm_error *err) {
  const char *input = options->inputs ? options->input[0] : "-";
  ttm_subject subject = {0};
  if (!options->inputs && isatty(STDIN_FILENO))
    return ttm_error_set(err, TTM_EUSAGE,
                         "explain needs an error message: ttmem explain 'Out of Memory: ...', or a log");
  int status = read_subject(&subject, options, input, err);
  if (!status && !subject.findings->incidents.n) status = nothing(input, err);
  if (!status && options->given[TTM_OPTION_JSON])
    status = subject.kept.n ? ttm_terminal_print(&subject.kept, err) : ttm_print_findings(subject.findings, err);
  else if (!status)
    status = print(options, subject.findings, err);
  ttm_subject_free(&subject);
  return status;
}

const ttm_command ttm_command_explain = {
    .name = "explain",
    .synopsis = "explain [TEXT|FILE|-]",
    .help = "what an error message means, what would have fit",
    .more =
        "TEXT is a pasted out-of-memory or clash message, FILE a log with such messages. Without either, or with "
        "'-', standard input is read.",
    .examples =
        "ttmem explain 'Out of Memory: Not enough space to allocate ...'\n"
        "python3 model.py 2>&1 | ttmem explain -",
    .max_inputs = 1,
    .logs = 1,
    .reports = true,
    .takes = TTM_TAKES(TTM_OPTION_PER, TTM_OPTION_JSON, TTM_OPTION_THREADS, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
