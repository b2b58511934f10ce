/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem html INPUT [-o FILE], and tt-memory-profiler --visualize DIR */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "base/out_file.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/format.h"
#include "report/report.h"
#include "store/report_dir.h"

/* Opens the target and writes the page; *bytes is its size. */
static int write_page(const ttm_findings *f, const char *name, const char *target, uint64_t *bytes, ttm_error *err) {
  ttm_out out;
  int status = strcmp(target, "-") ? ttm_out_open(&out, target, err)
                                   : ttm_out_open_fd(&out, STDOUT_FILENO, "standard output", err);
  if (status) return status;
  status = ttm_report_html(f, ttm_view_of(name), &out, err);
  if (status) {
    ttm_out_abandon(&out);
    return status;
  }
  ttm_out_flush(&out);
  *bytes = out.written;
  return ttm_out_close(&out, err);
}

/* "page: out/llama_report.html (212.3 KB)" */
static int say_where(const char *target, uint64_t bytes, ttm_error *err) {
  ttm_buf text = {0};
  bool closed;
  ttm_buf_puts(&text, "page: ");
  ttm_put_text(&text, ttm_view_of(target), SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_puts(&text, " (");
  ttm_put_bytes(&text, bytes);
  ttm_buf_puts(&text, ")\n");
  int status = text.failed ? ttm_error_nomem(err) : ttm_terminal_write(ttm_buf_view(&text), &closed, err);
  ttm_buf_free(&text);
  return status;
}

int ttm_command_html(const ttm_options *options, const char *input) {
  ttm_subject subject = {0};
  ttm_buf name = {0}, target = {0};
  ttm_error err;
  uint64_t bytes = 0;
  int status;
  if (!input) {
    ttm_error_set(&err, TTM_EUSAGE, "html needs a log or a report folder: ttmem html INPUT [-o FILE]");
    return ttm_cli_error(options, &err);
  }
  if (options->value[TTM_OPTION_NAME])
    ttm_buf_puts(&name, options->value[TTM_OPTION_NAME]);
  else
    ttm_report_name(&name, input);
  if (options->value[TTM_OPTION_OUTPUT]) {
    ttm_buf_puts(&target, options->value[TTM_OPTION_OUTPUT]);
  } else {
    ttm_buf_put(&target, ttm_buf_view(&name));
    ttm_buf_puts(&target, "_report.html");
  }
  ttm_buf_char(&name, '\0');
  ttm_buf_char(&target, '\0');
  status = name.failed || target.failed ? ttm_error_nomem(&err) : TTM_OK;
  if (!status && ttm_same_file(input, target.at)) {
    status = ttm_error_set(&err, TTM_EUSAGE, "'%s' is the log itself; give -o another name so that the log is not lost",
                           target.at);
  }
  if (!status) status = ttm_subject_read(&subject, options, input, true, &err);
  if (!status) status = write_page(subject.findings, name.at, target.at, &bytes, &err);
  if (!status && !options->given[TTM_OPTION_QUIET] && strcmp(target.at, "-"))
    status = say_where(target.at, bytes, &err);
  ttm_subject_free(&subject);
  ttm_buf_free(&target);
  ttm_buf_free(&name);
  return status ? ttm_cli_error(options, &err) : TTM_EXIT_OK;
}
