/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem fit: which board would hold it. `-- COMMAND` runs the program on mock boards, LOG replays what a log recorded. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/launch_view.h"
#include "cli/terminal.h"
#include "launch/fit_series.h"
#include "report/run/fit_text.h"

/* ---- A program ------------------------------------------------------------------------------------------------------ */

/* Without --board nobody asked for a verdict, but an answer was expected for each. */
static int series_exit(const ttm_options *options, const ttm_fit_series *series) {
  bool no = false, unknown = false;
  for (size_t i = 0; i < series->cases.n; i++) {
    no |= series->cases.at[i].fits == TTM_FITS_NOT;
    unknown |= series->cases.at[i].fits == TTM_FITS_UNKNOWN;
  }
  if (no && options->given[TTM_OPTION_BOARD]) return TTM_EXIT_FOUND;
  return unknown ? TTM_EXIT_WRONG : TTM_EXIT_OK;
}

static int fit_program(const ttm_options *options, ttm_error *err) {
  static const ttm_option of_logs[] = {TTM_OPTION_SCALE_BATCH, TTM_OPTION_WEIGHTS_DTYPE, TTM_OPTION_THREADS};
  ttm_fit_series series = {0};
  ttm_summary_style style = ttm_terminal_style(STDOUT_FILENO, options->value[TTM_OPTION_COLOR]);
  ttm_buf text = {0};
  int status = TTM_OK, exit_status = TTM_EXIT_WRONG;
  for (size_t i = 0; i < sizeof of_logs / sizeof *of_logs && !status; i++) {
    if (options->given[of_logs[i]])
      status = ttm_error_set(err, TTM_EUSAGE, "option '--%s' works with a log, not with a program",
                             ttm_option_table[of_logs[i]].name);
  }
  if (!status) status = ttm_fit_series_plan(&series, options->value[TTM_OPTION_BOARD], err);
  if (!status) {
    ttm_launch_view view;
    ttm_launch_view_begin(&view, options, true);
    ttm_launch_viewer viewer = ttm_launch_view_viewer(&view);
    status = ttm_fit_series_run(&series, options->rest, &viewer, options->given[TTM_OPTION_QUIET], err);
    ttm_launch_view_end(&view);
  }
  if (!status && series.interrupted) {
    status = ttm_error_set(err, TTM_EUSAGE, "stopped after %zu of %zu boards", series.cases.n, series.boards.n);
  } else if (!status) {
    if (options->given[TTM_OPTION_JSON])
      ttm_fit_cases_json(series.cases.at, series.cases.n, &text);
    else
      ttm_fit_cases_write(series.cases.at, series.cases.n, &style, &text);
    status = ttm_terminal_print(&text, err);
    exit_status = series_exit(options, &series);
  }
  if (status) exit_status = ttm_cli_error(options, err);
  if (series.interrupted) exit_status = series.interrupted;
  ttm_fit_series_free(&series);
  return exit_status;
}

/* ---- A log ---------------------------------------------------------------------------------------------------------- */

/* Bit per board. */
static int read_boards(const char *names, unsigned *out, ttm_error *err) {
  *out = names ? 0 : (1u << TTM_BOARDS) - 1;
  while (names) {
    const char *comma = strchr(names, ',');
    ttm_str name = {names, comma ? (size_t)(comma - names) : strlen(names)};
    const ttm_board *board = ttm_board_find(name);
    if (!board) return ttm_board_unknown(name, "", err);
    *out |= 1u << (board - ttm_boards);
    names = comma ? comma + 1 : NULL;
  }
  return TTM_OK;
}

static int read_wishes(const ttm_options *options, ttm_fit_options *out, ttm_error *err) {
  const char *dtype = options->value[TTM_OPTION_WEIGHTS_DTYPE];
  *out = (ttm_fit_options){.batch = 1};
  if (options->value[TTM_OPTION_SCALE_BATCH]) {
    char *end;
    unsigned long n = strtoul(options->value[TTM_OPTION_SCALE_BATCH], &end, 10);
    if (*end || n < 1 || n > TTM_FIT_MOST_BATCH)
      return ttm_error_set(err, TTM_EUSAGE, "option '--scale-batch' takes a number from 1 to %d, not '%s'",
                           TTM_FIT_MOST_BATCH, options->value[TTM_OPTION_SCALE_BATCH]);
    out->batch = (uint32_t)n;
  }
  if (dtype) out->weights_dtype = !strcmp(dtype, "bfp8") ? "bfp_bf8" : !strcmp(dtype, "bfp4") ? "bfp_bf4" : "bf16";
  return TTM_OK;
}

static int put_json(const ttm_fit *fit, const ttm_findings *f, unsigned boards, ttm_buf *out) {
  ttm_fit_case cases[TTM_BOARDS];
  size_t n = 0;
  int status = TTM_OK;
  for (size_t b = 0; b < TTM_BOARDS && !status; b++)
    if (boards >> b & 1) status = ttm_fit_case_of_replay(&cases[n++], &fit->boards[b], f);
  if (!status) status = ttm_fit_cases_json(cases, n, out);
  for (size_t i = 0; i < n; i++) ttm_fit_case_free(&cases[i]);
  return status;
}

static int fit_log(const ttm_options *options, ttm_error *err) {
  ttm_subject subject = {0};
  ttm_fit_options wishes;
  ttm_summary_style style = ttm_terminal_style(STDOUT_FILENO, options->value[TTM_OPTION_COLOR]);
  ttm_buf text = {0};
  ttm_fit fit = {0};
  unsigned boards;
  bool fits = true;
  int status = read_boards(options->value[TTM_OPTION_BOARD], &boards, err);
  if (!status) status = read_wishes(options, &wishes, err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[0], false, err);
  if (!status) status = ttm_fit_make(&fit, subject.findings, &wishes, err);
  if (!status) {
    if (options->given[TTM_OPTION_JSON])
      text.failed |= put_json(&fit, subject.findings, boards, &text) != TTM_OK;
    else
      ttm_fit_write(&fit, subject.findings, &wishes, boards, &style, &text);
    status = ttm_terminal_print(&text, err);
  }
  for (size_t b = 0; b < TTM_BOARDS && !status && options->given[TTM_OPTION_BOARD]; b++)
    fits &= !(boards >> b & 1) || fit.boards[b].fits;
  ttm_subject_free(&subject);
  if (status) return ttm_cli_error(options, err);
  return fits ? TTM_EXIT_OK : TTM_EXIT_FOUND;
}

static int run(const ttm_options *options, ttm_error *err) {
  return options->rest ? fit_program(options, err) : fit_log(options, err);
}

const ttm_command ttm_command_fit = {
    .name = "fit",
    .synopsis = "fit [--board B,...] [--json] -- COMMAND | LOG",
    .help = "which boards have enough memory",
    .more =
        "With a COMMAND (python model.py ARGS) the program runs on a mock board of each kind in turn: ttnn's "
        "real allocator, no hardware. With a LOG its allocations are replayed with the banks of every board, and "
        "the largest batch that fits is computed. --board limits this to one or several boards, separated by "
        "commas; with a COMMAND also paths of cluster descriptors.",
    .examples = "ttmem fit -- python3 model.py\nttmem fit model_profile.log --board n150,p150 --scale-batch 4",
    .exits =
        "0 it fits, or without --board: there is an answer for every board; 1 with --board: it does not fit one "
        "of them; 2 wrong usage, no answer, or the program failed for another reason; 130 stopped by Ctrl-C",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs =
        "a program to run on mock boards: ttmem fit -- python3 model.py; or a log: ttmem fit LOG ('-' reads "
        "standard input)",
    .logs = 1,
    .rest = TTM_REST_BEHIND_DASHES,
    .takes = TTM_TAKES(TTM_OPTION_BOARD, TTM_OPTION_SCALE_BATCH, TTM_OPTION_WEIGHTS_DTYPE, TTM_OPTION_PER,
                       TTM_OPTION_JSON, TTM_OPTION_THREADS, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
