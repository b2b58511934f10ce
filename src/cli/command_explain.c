/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem explain [TEXT|FILE|-]: an error message, pasted, in a file, or anywhere in a log. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "report/run/explain.h"
#include "report/run/other_command.h"

enum { LONGEST = 65536 }; /* of a message in a file of its own */

static int read_text(ttm_subject *subject, ttm_str text, ttm_error *err) {
  ttm_read_options read = {.size = sizeof read, .threads = 1};
  int status = ttm_profile_read_bytes(&subject->profile, text.p, text.n, &read, err);
  return status ? status : ttm_findings_make(&subject->findings, subject->profile, 1, err);
}

/* A message of out of memory without its numbers was cut at a line break. */
static bool has_below(const ttm_subject *subject, int kind) {
  for (size_t i = 0; subject->profile && i < subject->profile->incidents.n; i++) {
    const ttm_incident_text *what = &subject->profile->incidents.at[i].what;
    bool cut = what->kind == TTM_INCIDENT_OOM && what->needed_per_bank == TTM_UNKNOWN && kind < TTM_INCIDENT_FATAL;
    if (((int)what->kind < kind && !cut) || what->about) return true;
  }
  return false;
}

/* A message is often copied from where its sentence begins, without the words by which a log is searched for it, or with the line breaks of a
 * terminal. */
static int read_as(ttm_subject *subject, ttm_str text, const char *before, const char *between, ttm_error *err) {
  ttm_buf whole = {0};
  ttm_buf_puts(&whole, before);
  while (text.n) {
    ttm_buf_put(&whole, ttm_str_take_to(&text, '\n'));
    ttm_buf_puts(&whole, text.n ? between : "\n");
  }
  int status = whole.failed ? ttm_error_nomem(err) : read_text(subject, ttm_buf_str(&whole), err);
  ttm_buf_free(&whole);
  return status;
}

/* Takes the other one instead when its failures are better known. */
static bool improve(ttm_subject *subject, ttm_subject *other, int kind) {
  bool better = other->findings && has_below(other, kind);
  ttm_subject_free(better ? subject : other);
  if (better) *subject = *other;
  return better;
}

/* As it is; else in the first form in which its numbers can be read, or at least its subject. */
static int read_message(ttm_subject *subject, ttm_str text, ttm_error *err) {
  static const struct {
    const char *before, *between;
  } forms[] = {{"", " "}, {"", ""}, {"Out of Memory: ", " "}, {"TT_THROW: ", " "}};
  static const int kinds[] = {TTM_INCIDENT_L1_BUFFERS, TTM_INCIDENT_FATAL};
  int status = read_as(subject, text, "", "\n", err);
  for (size_t k = 0; k < 2; k++) {
    if ((status && status != TTM_ENODATA) || has_below(subject, kinds[k])) return status;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
      ttm_subject other = {0};
      read_as(&other, text, forms[i].before, forms[i].between, NULL);
      if (improve(subject, &other, kinds[k])) return TTM_OK;
    }
  }
  return status;
}

/* A message alone in a file may be broken into lines too. */
static bool read_small(ttm_subject *subject, const char *path) {
  ttm_subject other = {0};
  char *text = ttm_alloc(LONGEST);
  FILE *file = text ? fopen(path, "rb") : NULL;
  size_t n = file ? fread(text, 1, LONGEST, file) : 0;
  if (file) fclose(file);
  if (n && n < LONGEST) read_message(&other, (ttm_str){text, n}, NULL);
  ttm_free(text);
  return improve(subject, &other, TTM_INCIDENT_FATAL);
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
    if ((!status || status == TTM_ENODATA) && !has_below(subject, TTM_INCIDENT_L1_BUFFERS) && strcmp(input, "-") != 0 &&
        S_ISREG(st.st_mode) && read_small(subject, input))
      return TTM_OK;
    return status == TTM_ENODATA && !ttm_name_other_command(input, err) ? nothing(input, err) : status;
  }
  int status = read_message(subject, ttm_str_of(input), err);
  if (status == TTM_ENODATA) {
    ttm_error_set(err, TTM_EUSAGE,
                  "'%.60s' is neither a file nor an error message that ttmem knows; quote the whole line, "
                  "or pipe it: ... | ttmem explain -",
                  input);
  }
  return status;
}

int ttm_explain_read(ttm_subject *out, const ttm_options *options, const char *input, ttm_error *err) {
  int status = read_subject(out, options, input, err);
  return !status && !out->findings->incidents.n ? nothing(input, err) : status;
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
  ttm_output_form form;
  if (!options->inputs && isatty(STDIN_FILENO))
    return ttm_error_set(err, TTM_EUSAGE,
                         "explain needs an error message: ttmem explain 'Out of Memory: ...', or a log");
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = ttm_explain_read(&subject, options, input, err);
  if (!status && form == TTM_OUTPUT_CSV)
    status = ttm_print_table(subject.findings, TTM_TABLE_INCIDENTS, err);
  else if (!status && form == TTM_OUTPUT_JSON)
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
    .takes = TTM_TAKES(TTM_OPTION_PER, TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY,
                       TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
