/* SPDX-License-Identifier: Apache-2.0 */
/* `ttmem` alone on a terminal: lends the interactive program what the other rooms can do. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "report/run/diff.h"
#include "report/run/explain.h"
#include "report/run/fit.h"
#include "serve/server.h"
#include "store/report_find.h"
#include "ui/ui.h"

typedef struct lent {
  const ttm_options *options;
  ttm_server *server;
} lent;

static int serve(void *context, const char *folder, const char **url, ttm_error *err) {
  lent *l = context;
  ttm_server_options options = {.path = folder, .port = -1};
  int status = ttm_server_start(&l->server, &options, err);
  if (!status) *url = ttm_server_url(l->server);
  return status;
}

static void unserve(void *context) {
  lent *l = context;
  ttm_server_stop(l->server);
  l->server = NULL;
}

/* A launch leaves signals blocked, so that a second Ctrl-C does not lose the report. The interactive program restores them. */
static int run_script(void *context, char **words, const char *board, ttm_buf *folder, ttm_buf *source,
                      ttm_error *err) {
  const lent *l = context;
  ttm_options options = {.program = l->options->program, .command = &ttm_command_run, .rest = words};
  static const char wait[] = "\nPress Enter to open the report. ";
  char c = 0;
  sigset_t mask;
  options.value[TTM_OPTION_BOARD] = board;
  options.given[TTM_OPTION_BOARD] = board;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  if (ttm_run_kept(&options, folder, source, err) < 0) ttm_cli_error(&options, err);
  if (write(STDOUT_FILENO, wait, sizeof wait - 1) > 0) {
    while (c != '\n' && read(STDIN_FILENO, &c, 1) == 1) continue;
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  if (folder->n) return TTM_OK;
  return ttm_error_set(err, TTM_EIO, "The script could not be started.");
}

/* ---- Documents of other commands ------------------------------------------------------------------------------------- */

static int explain(const ttm_options *options, const ttm_ui_question *q, ttm_buf *out, ttm_error *err) {
  ttm_summary_style style = {.columns = q->columns, .color = true, .utf8 = q->utf8};
  ttm_subject subject = {0};
  int status = ttm_explain_read(&subject, options, options->input[0], err);
  if (!status && ttm_explain_write(subject.findings, &style, out)) status = ttm_error_nomem(err);
  ttm_subject_free(&subject);
  return status;
}

static int fit(const ttm_options *options, ttm_doc *doc, ttm_error *err) {
  ttm_fit_cases cases = {0};
  int status = ttm_fit_log(&cases, options, NULL, err);
  if (!status && ttm_fit_write(doc, &cases, options->per_chip)) status = ttm_error_nomem(err);
  ttm_fit_cases_free(&cases);
  return status;
}

static int compare(const ttm_options *options, ttm_doc *doc, ttm_error *err) {
  ttm_subject subjects[2] = {{0}};
  ttm_diff diff = {0};
  int status = TTM_OK;
  for (int i = 0; i < 2 && !status; i++)
    status = ttm_subject_read(&subjects[i], options, options->input[i], false, err);
  if (!status && ttm_diff_make(&diff, subjects[0].findings, subjects[1].findings, TTM_DIFF_TOLERANCE))
    status = ttm_error_nomem(err);
  if (!status) ttm_diff_write(doc, &diff, options->per_chip);
  if (!status && ttm_doc_end(doc)) status = ttm_error_nomem(err);
  ttm_diff_free(&diff);
  for (int i = 0; i < 2; i++) ttm_subject_free(&subjects[i]);
  return status;
}

/* The folder of a report stands for its log, as on the command line; where that is gone, for its files. */
static int answer(void *context, const ttm_ui_question *q, ttm_buf *out, ttm_error *err) {
  const lent *l = context;
  ttm_doc doc = {.out = out, .columns = q->columns, .color = true, .utf8 = q->utf8};
  ttm_options options = {.program = l->options->program};
  char *logs[2] = {NULL, NULL};
  options.given[TTM_OPTION_QUIET] = true; /* the screen is not ours */
  for (int i = 0; i < 2; i++) {
    bool report = q->command != TTM_UI_EXPLAIN && !ttm_report_source(&logs[i], q->inputs[i], NULL, NULL);
    options.input[options.inputs++] = report ? logs[i] : q->inputs[i];
  }
  int status = q->command == TTM_UI_EXPLAIN ? explain(&options, q, out, err)
               : q->command == TTM_UI_FIT   ? fit(&options, &doc, err)
                                            : compare(&options, &doc, err);
  for (int i = 0; i < 2; i++) ttm_free(logs[i]);
  return status;
}

static int watch(void *context, const ttm_ui_watch **out, ttm_error *err) {
  return ttm_live_begin(out, ((lent *)context)->options, err);
}

int ttm_interact(const ttm_options *options, ttm_error *err) {
  lent l = {.options = options};
  ttm_ui_options ui = {.utf8 = ttm_terminal_utf8(),
                       .color = ttm_terminal_color(STDOUT_FILENO, NULL),
                       .context = &l,
                       .serve = serve,
                       .unserve = unserve,
                       .run = run_script,
                       .answer = answer,
                       .live = watch};
  return ttm_ui_run(&ui, err);
}
