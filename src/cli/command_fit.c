/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem fit: which board would hold it. `-- COMMAND` runs the program on mock boards, LOG replays what a log recorded. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/words.h"
#include "cli/judge.h"
#include "cli/launch_view.h"
#include "cli/remember.h"
#include "cli/terminal.h"
#include "launch/crew.h"
#include "launch/find_series.h"
#include "launch/plan.h"
#include "report/run/find.h"
#include "report/run/fit.h"
#include "store/report_dir.h"

/* Prints the answers. */
static int put_cases(const ttm_options *options, const ttm_fit_cases *cases, ttm_error *err) {
  ttm_buf text = {0};
  ttm_output_form form;
  if (ttm_output_form_of(&form, options, err)) return TTM_EUSAGE;
  ttm_doc doc = ttm_output_doc(form, options, &text);
  text.failed |=
      (form == TTM_OUTPUT_JSON ? ttm_fit_json(cases, &text) : ttm_fit_write(&doc, cases, options->per_chip)) != TTM_OK;
  return ttm_terminal_print(&text, err);
}

/* A table of all boards is an answer; these ask for a yes. */
static bool is_judged(const ttm_options *options) {
  return options->given[TTM_OPTION_BOARD] || options->given[TTM_OPTION_CHECK];
}

static bool has_answer(const ttm_fit_cases *cases, ttm_fits answer) {
  bool has = false;
  for (size_t i = 0; i < cases->at.n; i++) has |= cases->at.at[i].fits == answer;
  return has;
}

int ttm_fit_exit(const ttm_options *options, const ttm_fit_cases *cases) {
  if (!is_judged(options)) return TTM_EXIT_OK;
  return has_answer(cases, TTM_FITS_NOT)       ? TTM_EXIT_FOUND
         : has_answer(cases, TTM_FITS_UNKNOWN) ? TTM_EXIT_WRONG
                                               : TTM_EXIT_OK;
}

int ttm_boards_named(const char *names, unsigned *out, ttm_error *err) {
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

/* What --check, --budget and --baseline ask of the boards. Returns the exit status. */
static int judge(const ttm_options *options, const ttm_fit_cases *cases, ttm_judgement *j) {
  ttm_error err;
  int status = ttm_judge_fit(j, options, cases, &err);
  return status ? ttm_cli_error(options, &err) : ttm_judge_deliver(j, options, (ttm_str){"", 0});
}

/* A no is surer than no answer. */
static int worse_of(int a, int b) { return a == TTM_EXIT_FOUND || b == TTM_EXIT_FOUND ? TTM_EXIT_FOUND : a ? a : b; }

/* ---- A program ------------------------------------------------------------------------------------------------------ */

/* Without --board "does not fit" is no failure; an unknown answer is. */
static int series_exit(const ttm_options *options, const ttm_fit_cases *cases) {
  int exit_status = ttm_fit_exit(options, cases);
  return exit_status || !has_answer(cases, TTM_FITS_UNKNOWN) ? exit_status : TTM_EXIT_WRONG;
}

/* The program's name is the model's. */
static void remember_program(const ttm_options *options, const ttm_fit_cases *cases) {
  ttm_launch_plan plan = {0};
  if (!ttm_launch_plan_make(&plan, options->rest, false, NULL, NULL))
    ttm_remember_fit(options, (ttm_run_about){.command = "fit", .name = plan.name.at, .here = true}, cases);
  ttm_launch_plan_free(&plan);
}

/* With --find: the search. */
static int run_series(const ttm_options *options, ttm_fit_series *series, ttm_find *find, ttm_error *err) {
  ttm_launch_view view;
  ttm_launch_view_begin(&view, options, true);
  ttm_launch_viewer viewer = ttm_launch_view_viewer(&view);
  ttm_crew_options crew = {(unsigned)options->bytes[TTM_OPTION_JOBS], &viewer, options->given[TTM_OPTION_QUIET],
                           find->variable_count && !options->given[TTM_OPTION_NO_CACHE]};
  int status = find->variable_count ? ttm_find_run(find, series, options->rest, &crew, err)
                                    : ttm_fit_series_run(series, options->rest, &crew, err);
  ttm_launch_view_end(&view);
  return status;
}

int ttm_fit_program(ttm_fit_series *out, const ttm_options *options, ttm_error *err) {
  ttm_find none = {0};
  int status = ttm_fit_series_plan(out, options->value[TTM_OPTION_BOARD], err);
  if (!status) status = run_series(options, out, &none, err);
  if (!status && out->interrupted) status = ttm_error_set(err, TTM_EUSAGE, "stopped before the last board");
  return status;
}

static int put_find(const ttm_options *options, const ttm_find *find, ttm_error *err) {
  ttm_buf text = {0};
  ttm_output_form form;
  if (ttm_output_form_of(&form, options, err)) return TTM_EUSAGE;
  ttm_doc doc = ttm_output_doc(form, options, &text);
  text.failed |= (form == TTM_OUTPUT_JSON ? ttm_find_json(find, &text) : ttm_find_write(&doc, find)) != TTM_OK;
  return ttm_terminal_print(&text, err);
}

/* An answer is a largest value. That not even the smallest fits is a failure only where a board was named. */
static int find_exit(const ttm_options *options, const ttm_find *find) {
  bool none = false, unknown = false;
  for (size_t i = 0; i < find->rows.n; i++) {
    none |= !strcmp(find->said.at.at[i].id, "find.none");
    unknown |= find->said.at.at[i].severity == TTM_SEVERITY_UNKNOWN;
  }
  return none && options->given[TTM_OPTION_BOARD] ? TTM_EXIT_FOUND : unknown ? TTM_EXIT_WRONG : TTM_EXIT_OK;
}

static int put_answers(const ttm_options *options, const ttm_fit_series *series, const ttm_find *find, ttm_judgement *j,
                       int *exit_status, ttm_error *err) {
  int status = TTM_OK;
  if (find->rows.n) {
    status = put_find(options, find, err);
    *exit_status = find_exit(options, find);
  } else if (!series->interrupted) {
    status = put_cases(options, &series->cases, err);
    *exit_status = worse_of(series_exit(options, &series->cases), judge(options, &series->cases, j));
    remember_program(options, &series->cases);
  }
  if (status || !series->interrupted) return status;
  if (find->rows.n) return ttm_error_set(err, TTM_EUSAGE, "stopped; the search is not at its end");
  return ttm_error_set(err, TTM_EUSAGE, "stopped after %zu of %zu boards", series->cases.at.n, series->boards.n);
}

static int read_variables(const ttm_options *options, ttm_find *find, ttm_error *err) {
  ttm_output_form form;
  int status = ttm_output_form_of(&form, options, err); /* before anything runs */
  for (size_t i = 0; i < options->many_count && !status; i++)
    if (options->many[i].option == TTM_OPTION_FIND) status = ttm_find_add_variable(find, options->many[i].value, err);
  if (!status && options->given[TTM_OPTION_NO_CACHE] && !find->variable_count)
    status = ttm_error_set(err, TTM_EUSAGE, "option '--no-cache' works with --find");
  return status;
}

static int fit_program(const ttm_options *options, ttm_judgement *j, ttm_error *err) {
  static const ttm_option of_logs[] = {TTM_OPTION_SCALE_BATCH, TTM_OPTION_WEIGHTS_DTYPE, TTM_OPTION_THREADS};
  ttm_fit_series series = {0};
  ttm_find find = {0};
  int exit_status = TTM_EXIT_WRONG, status = read_variables(options, &find, err);
  for (size_t i = 0; i < sizeof of_logs / sizeof *of_logs && !status; i++) {
    if (options->given[of_logs[i]])
      status = ttm_error_set(err, TTM_EUSAGE, "option '--%s' works with a log, not with a program",
                             ttm_option_table[of_logs[i]].name);
  }
  if (!status) status = ttm_fit_series_plan(&series, options->value[TTM_OPTION_BOARD], err);
  if (!status) status = run_series(options, &series, &find, err);
  if (!status) status = put_answers(options, &series, &find, j, &exit_status, err);
  if (status) exit_status = ttm_cli_error(options, err);
  if (series.interrupted) exit_status = series.interrupted;
  ttm_find_free(&find);
  ttm_fit_series_free(&series);
  return exit_status;
}

/* ---- A log ---------------------------------------------------------------------------------------------------------- */

static int read_wishes(const ttm_options *options, ttm_fit_options *out, ttm_error *err) {
  *out = (ttm_fit_options){.batch = 1,
                           .weights_dtype = options->value[TTM_OPTION_WEIGHTS_DTYPE],
                           .partial = options->given[TTM_OPTION_ALLOW_PARTIAL]};
  if (options->value[TTM_OPTION_SCALE_BATCH]) {
    char *end;
    unsigned long n = strtoul(options->value[TTM_OPTION_SCALE_BATCH], &end, 10);
    if (*end || n < 1 || n > TTM_FIT_MOST_BATCH)
      return ttm_error_set(err, TTM_EUSAGE, "option '--scale-batch' takes a number from 1 to %d, not '%s'",
                           TTM_FIT_MOST_BATCH, options->value[TTM_OPTION_SCALE_BATCH]);
    out->batch = (uint32_t)n;
  }
  return TTM_OK;
}

static int log_exit(const ttm_options *options, const ttm_fit_cases *cases) {
  return is_judged(options) ? series_exit(options, cases) : TTM_EXIT_OK;
}

int ttm_fit_log(ttm_fit_cases *out, const ttm_options *options, ttm_buf *partial, ttm_error *err) {
  ttm_subject subject = {0};
  ttm_fit_options wishes;
  ttm_fit fit = {0};
  unsigned boards;
  int status = ttm_boards_named(options->value[TTM_OPTION_BOARD], &boards, err);
  if (!status) status = read_wishes(options, &wishes, err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[0], false, err);
  if (!status) status = ttm_fit_make(&fit, subject.findings, &wishes, err);
  if (!status && ttm_fit_cases_of_replay(out, &fit, &wishes, subject.findings, boards)) status = ttm_error_nomem(err);
  if (!status && partial) ttm_words_partial(partial, subject.profile);
  ttm_subject_free(&subject);
  return status;
}

/* Only what was recorded is a run: another batch or dtype is a thought. */
static void remember_log(const ttm_options *options, const ttm_fit_cases *cases) {
  ttm_buf name = {0};
  if (options->given[TTM_OPTION_SCALE_BATCH] || options->given[TTM_OPTION_WEIGHTS_DTYPE]) return;
  ttm_report_name(&name, options->input[0]);
  ttm_buf_char(&name, '\0');
  if (!name.failed)
    ttm_remember_fit(options, (ttm_run_about){.command = "fit", .name = name.at, .source = options->input[0]}, cases);
  ttm_buf_free(&name);
}

static int fit_log(const ttm_options *options, ttm_judgement *j, ttm_error *err) {
  static const ttm_option of_programs[] = {TTM_OPTION_FIND, TTM_OPTION_NO_CACHE, TTM_OPTION_JOBS};
  ttm_fit_cases cases = {0};
  for (size_t i = 0; i < sizeof of_programs / sizeof *of_programs; i++)
    if (options->given[of_programs[i]])
      return ttm_error_set(err, TTM_EUSAGE,
                           "option '--%s' works with a program, not with a log: ttmem fit --find "
                           "'BATCH=1..256' -- python3 model.py --batch {BATCH}",
                           ttm_option_table[of_programs[i]].name);
  int status = ttm_fit_log(&cases, options, &j->partial, err);
  if (!status) status = put_cases(options, &cases, err);
  int exit_status =
      status ? ttm_cli_error(options, err) : worse_of(log_exit(options, &cases), judge(options, &cases, j));
  if (!status) remember_log(options, &cases);
  ttm_fit_cases_free(&cases);
  return exit_status;
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_judgement judgement;
  ttm_output_form form;
  int status = ttm_judgement_begin(&judgement, options, options->rest ? NULL : options->input[0], err);
  if (!status) status = ttm_output_form_of(&form, options, err); /* before a program runs */
  if (!status) status = options->rest ? fit_program(options, &judgement, err) : fit_log(options, &judgement, err);
  ttm_judgement_free(&judgement);
  return status;
}

const ttm_command ttm_command_fit = {
    .name = "fit",
    .synopsis = "fit [--board B,...] [options] -- COMMAND | LOG",
    .help = "which boards have enough memory",
    .more =
        "With a COMMAND (python model.py ARGS) the program runs on a mock board of each kind: ttnn's "
        "real allocator, no hardware. Boards run side by side, as many as processors and memory of the host allow. "
        "With a LOG its allocations are replayed with the banks of every board, and "
        "the largest batch that fits is computed. --board limits this to one or several boards, separated by "
        "commas; with a COMMAND also paths of cluster descriptors. --check fails when it does not fit one of them, "
        "--budget "
        "and --baseline when it takes more than they allow.\n"
        "--find searches for the largest value of an argument that fits each board, {VAR} in the COMMAND: 1..256 every "
        "number, 32..256+32 steps, 1024..131072*2 powers, 1,2,4 a list. It fits and the next value asked for is "
        "refused, "
        "both by running the program; the answer has what ends the memory, where, and what a step costs. With several "
        "--find the first is searched for, once for every combination of the others. Answers are kept in "
        "~/.cache/ttmem until a file that the program read, its command, its environment or ttmem changes.",
    .examples =
        "ttmem fit -- python3 model.py\nttmem fit --find 'BATCH=1..256' -- python3 model.py --batch {BATCH}\n"
        "ttmem fit model_profile.log --board n150,p150 --scale-batch 4",
    .exits =
        "0 it fits, or without --board: there is an answer for every board, or a LOG was read; 1 with --board or "
        "--check: "
        "it does not fit one of them, or --budget or --baseline failed; 2 wrong usage, no answer (a LOG that is not "
        "whole has none), or the program failed for "
        "another reason; 130 stopped by Ctrl-C. With --find: 0 every board has an answer; 1 with --board: not even the "
        "smallest value fits one of them; 2 a board has none",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs =
        "a program to run on mock boards: ttmem fit -- python3 model.py; or a log: ttmem fit LOG ('-' reads "
        "standard input)",
    .logs = 1,
    .rest = TTM_REST_BEHIND_DASHES,
    .takes = TTM_TAKES(TTM_OPTION_BOARD, TTM_OPTION_FIND, TTM_OPTION_NO_CACHE, TTM_OPTION_JOBS, TTM_OPTION_SCALE_BATCH,
                       TTM_OPTION_WEIGHTS_DTYPE, TTM_JUDGE_OPTIONS, TTM_OPTION_NAME, TTM_OPTION_MODEL,
                       TTM_OPTION_NO_HISTORY, TTM_OPTION_STORE, TTM_OPTION_PER, TTM_OPTION_JSON, TTM_OPTION_CSV,
                       TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
