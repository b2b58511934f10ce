/* SPDX-License-Identifier: Apache-2.0 */
/* The engine inside the page that needs nothing installed. usage: engine FILE: writes the bytes that `ttmem html FILE -o -` writes. A failure
 * is the program's own sentence, on standard error, and exit status 1. */
#include <unistd.h>

#include "base/error.h"
#include "base/format.h"
#include "report/files/report.h"
#include "report/run/other_command.h"
#include "store/report_dir.h"
#include "ttmem/profile.h"

static int read_input(ttm_profile **out, const char *path, ttm_error *err) {
  ttm_read_options options = TTM_READ_OPTIONS_INIT;
  options.threads = 1;
  options.keep_ir = true;
  int status = ttm_profile_read_opts(out, path, &options, err);
  if (status == TTM_ENODATA) ttm_name_other_command(path, err);
  return status;
}

static int write_page(const ttm_findings *findings, const char *path, ttm_error *err) {
  ttm_buf name = {0};
  ttm_out out;
  ttm_report_name(&name, path);
  int status = name.failed ? ttm_error_nomem(err) : ttm_out_open_fd(&out, STDOUT_FILENO, "the page", err);
  if (!status) {
    status = ttm_report_html(findings, ttm_buf_str(&name), &out, err);
    status ? ttm_out_abandon(&out) : (status = ttm_out_close(&out, err));
  }
  ttm_buf_free(&name);
  return status;
}

static int say(const ttm_error *err) {
  ttm_buf text = {0};
  ttm_put_lines(&text, ttm_str_of(err->message));
  ttm_str shown = text.failed ? TTM_LIT("Out of memory in this browser.\n") : ttm_buf_str(&text);
  return ttm_write_all(STDERR_FILENO, shown.p, shown.n), 1;
}

int main(int argc, char **argv) {
  ttm_error err = {0};
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  int status = argc == 2 ? TTM_OK : ttm_error_set(&err, TTM_EUSAGE, "usage: engine FILE");
  if (!status) status = read_input(&profile, argv[1], &err);
  if (!status) status = ttm_findings_make(&findings, profile, 1, &err);
  if (!status) status = write_page(findings, argv[1], &err);
  return status ? say(&err) : 0; /* the memory goes with the module */
}
