/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem fit LOG [--board B] [--scale-batch N] [--weights-dtype D]: which board would hold it. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "report/fit_text.h"

static int read_wishes(const ttm_options *options, ttm_fit_options *out, const ttm_board **board, ttm_error *err) {
  const char *name = options->value[TTM_OPTION_BOARD], *dtype = options->value[TTM_OPTION_WEIGHTS_DTYPE];
  *out = (ttm_fit_options){.batch = 1};
  *board = NULL;
  if (name && !(*board = ttm_board_find(ttm_view_of(name)))) {
    return ttm_error_set(err, TTM_EUSAGE, "no board '%s'; known are n150, n300, t3k, galaxy, p100, p150, p300", name);
  }
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

static int print(const ttm_options *options, const ttm_fit *fit, const ttm_findings *f, const ttm_fit_options *wishes,
                 const ttm_board *board, ttm_error *err) {
  ttm_buf text = {0};
  bool closed;
  ttm_summary_style style = {.columns = ttm_terminal_columns(STDOUT_FILENO),
                             .color = ttm_terminal_color(STDOUT_FILENO, options->value[TTM_OPTION_COLOR]),
                             .utf8 = ttm_terminal_utf8()};
  int status = ttm_fit_write(fit, f, wishes, board, &style, &text);
  if (status)
    ttm_error_nomem(err);
  else
    status = ttm_terminal_write(ttm_buf_view(&text), &closed, err);
  ttm_buf_free(&text);
  return status;
}

int ttm_command_fit(const ttm_options *options) {
  ttm_subject subject = {0};
  ttm_fit_options wishes;
  const ttm_board *board;
  ttm_fit fit;
  ttm_error err;
  bool fits = true;
  int status;
  if (!options->inputs) {
    ttm_error_set(&err, TTM_EUSAGE, "fit needs a log: ttmem fit LOG ('-' reads standard input)");
    return ttm_cli_error(options, &err);
  }
  status = read_wishes(options, &wishes, &board, &err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[0], false, &err);
  if (!status) status = ttm_fit_make(&fit, subject.findings, &wishes, &err);
  if (!status) status = print(options, &fit, subject.findings, &wishes, board, &err);
  for (size_t b = 0; b < TTM_BOARDS && !status && board; b++)
    fits &= fit.boards[b].board != board || fit.boards[b].fits;
  ttm_subject_free(&subject);
  if (status) return ttm_cli_error(options, &err);
  return fits ? TTM_EXIT_OK : TTM_EXIT_FOUND;
}
