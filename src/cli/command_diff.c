/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem diff BEFORE AFTER: what changed between two logs. */
#include "analyze/words.h"
#include "cli/judge.h"
#include "cli/terminal.h"
#include "report/run/diff.h"

static int read_both(ttm_subject subjects[2], const ttm_options *options, ttm_error *err) {
  const char *const *logs = options->input;
  if (!strcmp(logs[0], "-") && !strcmp(logs[1], "-"))
    return ttm_error_set(err, TTM_EUSAGE, "only one of the logs can be standard input");
  int status = ttm_subject_read(&subjects[0], options, logs[0], false, err);
  return status ? status : ttm_subject_read(&subjects[1], options, logs[1], false, err);
}

int ttm_tolerance_read(const ttm_options *options, double *out, ttm_error *err) {
  const char *text = options->value[TTM_OPTION_TOLERANCE];
  ttm_str rest = ttm_str_of(text);
  bool fine = !text || (ttm_str_take_decimal(&rest, out) && (!rest.n || ttm_str_eq(rest, TTM_LIT("%"))));
  if (fine && *out <= 1000) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "option '--tolerance' takes a percentage from 0 to 1000, not '%s'", text);
}

/* What a log is called on the page: its file, or all of its path when both have the same. */
static void name_logs(const ttm_diff *diff, ttm_str names[2]) {
  ttm_str whole[2];
  for (int s = 0; s < 2; s++) {
    whole[s] = names[s] = ttm_words_source(diff->f[s]->profile);
    size_t at;
    while ((at = ttm_str_find_char(names[s], '/')) != TTM_NOT_FOUND) names[s] = ttm_str_from(names[s], at + 1);
  }
  if (ttm_str_eq(names[0], names[1])) memcpy(names, whole, sizeof whole);
}

static int write_page(const ttm_options *options, const ttm_diff *diff, ttm_error *err) {
  ttm_out out;
  ttm_str names[2];
  bool closed;
  name_logs(diff, names);
  int status = ttm_terminal_open(&out, options->value[TTM_OPTION_OUTPUT], err);
  if (status) return status;
  status = ttm_diff_html(diff, names, options->per_chip, &out, err);
  ttm_out_flush(&out);
  return ttm_terminal_end(&out, status, &closed, err);
}

/* The difference in the form that was asked for. */
static int show(const ttm_options *options, ttm_output_form form, const ttm_diff *diff, ttm_error *err) {
  ttm_buf text = {0};
  int status = TTM_OK;
  if (form == TTM_OUTPUT_HTML) return write_page(options, diff, err);
  if (form == TTM_OUTPUT_JSON) {
    if (ttm_diff_json(&text, diff, TTM_DIFF_TOP)) status = ttm_error_nomem(err);
  } else if (form == TTM_OUTPUT_COMMENT) {
    if (ttm_diff_comment(&text, diff, options->per_chip)) status = ttm_error_nomem(err);
  } else {
    ttm_doc doc = ttm_output_doc(form, options, &text);
    ttm_doc_begin(&doc, "Memory before and after");
    ttm_diff_write(&doc, diff, options->per_chip);
    if (ttm_doc_end(&doc)) status = ttm_error_nomem(err);
  }
  return ttm_output_deliver(options, &text, status, err);
}

/* What --check, --budget and --baseline ask of AFTER. Returns the exit status. */
static int judge(const ttm_options *options, const ttm_diff *diff, ttm_judgement *j) {
  ttm_error err;
  ttm_buf comment = {0};
  int status = TTM_OK;
  if (options->given[TTM_OPTION_CHECK] && ttm_check_diff(&j->checks, diff)) status = ttm_error_nomem(&err);
  if (options->given[TTM_OPTION_CHECK]) j->partial_before = ttm_judge_take(j, "BEFORE", diff->f[0]->profile);
  ttm_judge_take(j, "AFTER", diff->f[1]->profile);
  if (!status) status = ttm_judge_findings(j, options, diff->f[1], &err);
  if (!status && options->given[TTM_OPTION_GITHUB] && ttm_diff_comment(&comment, diff, options->per_chip))
    status = ttm_error_nomem(&err);
  int exit_status = status ? ttm_cli_error(options, &err) : ttm_judge_deliver(j, options, ttm_buf_str(&comment));
  ttm_buf_free(&comment);
  return exit_status;
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_subject subjects[2] = {{0}};
  ttm_judgement judgement;
  ttm_diff diff = {0};
  ttm_output_form form;
  double tolerance = TTM_DIFF_TOLERANCE;
  int status = ttm_judgement_begin(&judgement, options, options->input[1], err);
  if (!status) status = ttm_output_form_of(&form, options, err);
  if (!status) status = ttm_tolerance_read(options, &tolerance, err);
  if (!status) status = read_both(subjects, options, err);
  if (!status && ttm_diff_make(&diff, subjects[0].findings, subjects[1].findings, tolerance))
    status = ttm_error_nomem(err);
  if (!status) status = show(options, form, &diff, err);
  if (!status) status = judge(options, &diff, &judgement);
  ttm_judgement_free(&judgement);
  ttm_diff_free(&diff);
  for (int i = 0; i < 2; i++) ttm_subject_free(&subjects[i]);
  return status;
}

const ttm_command ttm_command_diff = {
    .name = "diff",
    .synopsis = "diff BEFORE AFTER [options]",
    .help = "what changed between two logs",
    .more =
        "Operations are aligned in their order by name, location and results, so that an inserted operation does not "
        "shift the others; a tensor that is freed later is told. "
        "--html writes a page that draws both runs over each other, --markdown a comment for a pull request. "
        "--check fails when a peak grew by more than 1 % (--tolerance), or when a failure or a leak is new; --budget "
        "and --baseline judge AFTER.",
    .examples =
        "ttmem diff monday.log tuesday.log\nttmem diff before.log after.log --check --tolerance 5%\n"
        "ttmem diff before.log after.log --html -o diff.html\n"
        "ttmem diff main.log branch.log --check --markdown -o comment.md",
    .exits =
        "0 done; 1 --check failed: AFTER is worse, or --budget or --baseline failed; 2 wrong usage or unreadable input",
    .min_inputs = 2,
    .max_inputs = 2,
    .needs = "two logs: ttmem diff BEFORE AFTER",
    .logs = 2,
    .takes = TTM_TAKES(TTM_JUDGE_OPTIONS, TTM_OPTION_TOLERANCE, TTM_OPTION_NAME, TTM_OPTION_PER, TTM_OPTION_OUTPUT,
                       TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_MD, TTM_OPTION_MARKDOWN, TTM_OPTION_HTML,
                       TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
