/* SPDX-License-Identifier: Apache-2.0 */
/* --check, --budget and --baseline, as analyze, diff and fit take them: begin before anything is read, ask about what was found, deliver the
 * answers to the terminal, --junit and --github. */
#ifndef TTM_CLI_JUDGE_H
#define TTM_CLI_JUDGE_H

#include "cli/command.h"
#include "report/ci/ci.h"
#include "report/files/baseline_json.h"

#define TTM_JUDGE_OPTIONS                                                                               \
  TTM_OPTION_CHECK, TTM_OPTION_BUDGET, TTM_OPTION_BASELINE, TTM_OPTION_ALLOW_PARTIAL, TTM_OPTION_JUNIT, \
      TTM_OPTION_GITHUB

typedef struct ttm_judgement {
  ttm_baseline baseline;
  const ttm_baseline_entry *entry; /* NULL without --baseline */
  ttm_buf name;                    /* of the entry, the report and the test suite; NUL-terminated */
  ttm_checks checks;
  ttm_buf partial;     /* why what is judged is not whole; empty when it is */
  bool partial_before; /* what it is compared with is not */
} ttm_judgement;

/* The rule of every command whose exit status is a verdict: a yes needs a whole input. One that is cut or damaged, whose programs have no end, or
 * of which something was not understood is not judged (2), unless --allow-partial marks the verdict instead. A no stands: a failure that is
 * told, a peak above its budget and a board that is too small do not get better by what is missing. A run that died tells its failure, so its
 * log may end there. What is compared with must be whole for a no, too. */

/* Takes note of an input of the judgement, "" or "AFTER". True when it is not whole. */
bool ttm_judge_take(ttm_judgement *j, const char *who, const ttm_profile *p);

/* The exit status by that rule of a command that asks no more than this. `exit_status` is that of the verdict. */
int ttm_judge_exit(const ttm_options *options, const ttm_profile *p, int exit_status);
/* The same when `why` (empty: whole) is known. */
int ttm_judge_exit_why(const ttm_options *options, ttm_str why, int exit_status);
/* TTM_ENODATA when what is to be kept as a measure is not whole. */
int ttm_judge_measure(const ttm_options *options, const ttm_profile *p, ttm_error *err);

/* Reads the questions. `input` gives the name when --name does not; NULL for a program. A wrong one should not cost the minutes that a log
 * takes. 0, TTM_EUSAGE, or what reading the baseline gives. Freed with ttm_judgement_free in any case. */
int ttm_judgement_begin(ttm_judgement *out, const ttm_options *options, const char *input, ttm_error *err);
void ttm_judgement_free(ttm_judgement *judgement);

/* The name of an entry and a report, NUL-terminated: that of --name, else of the input, else (NULL) of the program. */
int ttm_judgement_name(ttm_buf *out, const ttm_options *options, const char *input, ttm_error *err);

/* --budget and --baseline about what was read, about boards. 0 or TTM_ENOMEM. */
int ttm_judge_findings(ttm_judgement *j, const ttm_options *options, const ttm_findings *f, ttm_error *err);
int ttm_judge_fit(ttm_judgement *j, const ttm_options *options, const ttm_fit_cases *cases, ttm_error *err);

/* Says what failed, writes the files. `more` is markdown for the step's summary, or empty. The exit status; errors are printed. */
int ttm_judge_deliver(ttm_judgement *j, const ttm_options *options, ttm_str more);

/* Runs the program behind "--" on the boards of --board, for its answers. Freed with ttm_fit_series_free in any case. */
struct ttm_fit_series;
int ttm_fit_program(struct ttm_fit_series *out, const ttm_options *options, ttm_error *err);

/* Writes the file of --benchmark about `input`. Nothing without that option. 0, TTM_EIO or TTM_ENOMEM. */
int ttm_benchmark_deliver(const ttm_judgement *j, const ttm_options *options, const ttm_findings *f, const char *input,
                          ttm_error *err);

/* Prints workflow commands and appends markdown to the summary of the GitHub step that runs this. 0, TTM_EIO or TTM_ENOMEM; frees both. */
int ttm_github_deliver(ttm_buf *commands, ttm_buf *summary, ttm_error *err);

#endif
