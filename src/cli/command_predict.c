/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem predict: what a compiled program needs, before it runs and after it died. */
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/judge.h"
#include "cli/terminal.h"
#include "report/run/predict.h"

static ttm_runner runner_of(const ttm_options *options, const ttm_profile *p) {
  const char *given = options->value[TTM_OPTION_RUNNER];
  if (!given) return ttm_runner_of(p);
  return strcmp(given, ttm_runner_name(TTM_RUNNER_PYTHON)) ? TTM_RUNNER_COMPILED : TTM_RUNNER_PYTHON;
}

static int print(const ttm_options *options, ttm_output_form form, const ttm_predict_view *view, ttm_error *err) {
  ttm_buf text = {0};
  ttm_doc doc = ttm_output_doc(form, options, &text);
  text.failed |= (form == TTM_OUTPUT_JSON ? ttm_predict_json(view, &text)
                                          : ttm_predict_write(&doc, view, options->per_chip)) != TTM_OK;
  return ttm_terminal_print(&text, err);
}

/* The findings have it already, unless another runner is asked for or the log has finished; `own` is for that. */
static int predict(const ttm_prediction **out, ttm_prediction *own, const ttm_options *options,
                   const ttm_subject *subject, ttm_error *err) {
  ttm_runner runner = runner_of(options, subject->profile);
  *out = &subject->findings->prediction;
  if (runner != ttm_runner_of(subject->profile) || !(*out)->programs.n) {
    if (ttm_predict(own, subject->profile, runner)) return ttm_error_nomem(err);
    *out = own;
  }
  if ((*out)->programs.n) return TTM_OK;
  return ttm_error_set(err, TTM_ENODATA,
                       "%s holds no TTNN module of what it ran, so what its programs need is unknown. Run with "
                       "TTXLA_LOGGER_LEVEL=DEBUG to get it",
                       options->input[0]);
}

/* An answer that is unknown for what was not understood is judged as that, with --allow-partial by the figures there are. */
static int judge(const ttm_options *options, const ttm_fit_cases *cases, const ttm_profile *p) {
  int exit_status = ttm_fit_exit(options, cases);
  if (!options->given[TTM_OPTION_BOARD]) return exit_status;
  if (exit_status == TTM_EXIT_WRONG && p->seen.bad_op_lines) exit_status = TTM_EXIT_OK;
  return ttm_judge_exit(options, p, exit_status);
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_subject subject = {0};
  ttm_prediction own = {0};
  const ttm_prediction *prediction = NULL;
  ttm_fit_cases cases = {0};
  unsigned boards = 0, first = 0;
  ttm_output_form form;
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = ttm_boards_named(options->value[TTM_OPTION_BOARD], &boards, err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[0], false, err);
  if (!status) status = predict(&prediction, &own, options, &subject, err);
  if (!status && ttm_fit_cases_of_prediction(&cases, prediction->programs.at[prediction->whole], boards))
    status = ttm_error_nomem(err);
  while (!(boards >> first & 1) && first + 1 < TTM_BOARDS) first++;
  ttm_predict_view view = {.f = subject.findings,
                           .prediction = prediction,
                           .board = options->given[TTM_OPTION_BOARD] ? &ttm_boards[first] : NULL,
                           .cases = &cases};
  if (!status) status = print(options, form, &view, err);
  int exit_status = status ? ttm_cli_error(options, err) : judge(options, &cases, subject.profile);
  ttm_fit_cases_free(&cases);
  ttm_prediction_free(&own);
  ttm_subject_free(&subject);
  return exit_status;
}

const ttm_command ttm_command_predict = {
    .name = "predict",
    .synopsis = "predict [--board B,...] [options] MODULE.mlir | LOG",
    .help = "what a compiled program needs, before it runs or after it died",
    .more =
        "MODULE.mlir is a TTNN module, from any stage directory of tt-xla or beside the Python that tt-mlir emitted; a "
        "LOG "
        "holds its modules when it was made with TTXLA_LOGGER_LEVEL=DEBUG. Every operation is run through ttnn's "
        "allocation "
        "rules: peak, the operation that raises it, warm-up and steady state, and whether it fits each board. A file "
        "is taken as emitted "
        "Python, a log as compiled; --runner says otherwise.",
    .examples = "ttmem predict ttnn.mlir --board n150,p150\nttmem predict model_profile.log --json",
    .exits =
        "0 it fits, or without --board: there is an answer; 1 with --board: it does not fit one of them; 2 with "
        "--board: unknown, else wrong usage or no module",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a TTNN module or a log that holds one: ttmem predict ttnn.mlir ('-' reads standard input)",
    .logs = 1,
    .takes = TTM_TAKES(TTM_OPTION_BOARD, TTM_OPTION_ALLOW_PARTIAL, TTM_OPTION_RUNNER, TTM_OPTION_PER, TTM_OPTION_JSON,
                       TTM_OPTION_CSV, TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
