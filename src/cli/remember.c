/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/remember.h"

#include <stdlib.h>

#include "base/format.h"
#include "cli/terminal.h"
#include "history/store.h"

bool ttm_remembers(const ttm_options *options) {
  const char *no = getenv("TTMEM_NO_HISTORY");
  return !options->given[TTM_OPTION_NO_HISTORY] && !(no && *no);
}

static void say(const ttm_options *options, const ttm_error *err) {
  ttm_buf text = {0};
  if (options->given[TTM_OPTION_QUIET]) return;
  ttm_buf_printf(&text, "%s: note: this run is not in the history: ", ttm_program_name(options->program));
  ttm_put_text(&text, ttm_str_of(err->message), SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_puts(&text, " (--no-history leaves it out)\n");
  ttm_terminal_note(&text);
}

/* Adds the rows, which were made with `status`, and frees them. */
static void add(const ttm_options *options, ttm_history_rows *rows, int status) {
  ttm_history *history = NULL;
  ttm_error err;
  if (status) ttm_error_nomem(&err);
  if (!status) status = ttm_history_open(&history, options->value[TTM_OPTION_STORE], true, &err);
  if (!status) status = ttm_history_add(history, rows, &err);
  if (status) say(options, &err);
  ttm_history_close(history);
  ttm_history_rows_free(rows);
}

void ttm_remember_findings(const ttm_options *options, ttm_run_about about, const ttm_findings *f) {
  ttm_history_rows rows = {0};
  if (!ttm_remembers(options) || f->profile->seen.from_report) return;
  about.model = options->value[TTM_OPTION_MODEL];
  add(options, &rows, ttm_history_of_findings(&rows, &about, f));
}

void ttm_remember_fit(const ttm_options *options, ttm_run_about about, const ttm_fit_cases *cases) {
  about.model = options->value[TTM_OPTION_MODEL];
  for (size_t i = 0; i < cases->at.n && ttm_remembers(options); i++) {
    const ttm_fit_case *one = &cases->at.at[i];
    ttm_history_rows rows = {0};
    if (!one->measured || one->run_on.n) continue; /* of another board */
    about.exit_status = one->exit_status;
    add(options, &rows, ttm_history_of_fit(&rows, &about, cases, i));
  }
}

void ttm_remember_training(const ttm_options *options, ttm_run_about about, const ttm_training *training) {
  ttm_history_rows rows = {0};
  if (!ttm_remembers(options)) return;
  about.model = options->value[TTM_OPTION_MODEL];
  add(options, &rows, ttm_history_of_training(&rows, &about, training));
}
