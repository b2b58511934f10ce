/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem history [MODEL]: the runs of a model over time, the run in which a peak changed, and what is to come. ttmem history bisect: the first bad
 * run, and the judge of `git bisect run`. */
#define _GNU_SOURCE /* strptime, timegm */
#include <stdlib.h>
#include <time.h>

#include "base/format.h"
#include "base/temp_dir.h"
#include "cli/command.h"
#include "cli/judge.h"
#include "cli/terminal.h"
#include "history/show.h"
#include "report/run/statements.h"

/* ---- The question ------------------------------------------------------------------------------------------------- */

enum { HOUR = 3600 };

/* "7d", "12h", "2w" before now. */
static bool read_span(const char *text, int64_t *out) {
  char *end;
  double n = strtod(text, &end);
  int64_t unit = *end == 'h' ? HOUR : *end == 'd' ? 24 * HOUR : *end == 'w' ? 7 * 24 * HOUR : 0;
  if (end == text || !unit || end[1] || !(n >= 0 && n < 1e6)) return false;
  *out = (int64_t)time(NULL) - (int64_t)(n * (double)unit);
  return true;
}

/* "2026-11-16", "2026-11-16 08:17", "2026-11-16T08:17:29Z"; UTC. */
static bool read_day(const char *text, int64_t *out) {
  static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%SZ"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    struct tm day = {0};
    const char *end = strptime(text, forms[i], &day);
    if (end && !*end) return *out = (int64_t)timegm(&day), true;
  }
  return false;
}

bool ttm_since_read(const char *text, int64_t *seconds) { return read_span(text, seconds) || read_day(text, seconds); }

static int read_question(ttm_past_question *out, const ttm_options *options, const char *model, ttm_error *err) {
  const char *since = options->value[TTM_OPTION_SINCE], *board = options->value[TTM_OPTION_BOARD];
  int64_t seconds = 0;
  *out = (ttm_past_question){.model = ttm_str_of(model ? model : ""),
                             .board = ttm_str_of(board ? board : ""),
                             .tolerance = TTM_PAST_TOLERANCE};
  if (since && !ttm_since_read(since, &seconds))
    return ttm_error_set(err, TTM_EUSAGE, "option '--since' takes 7d, 12h, 2w or 2026-11-16, not '%s'", since);
  out->since_us = seconds * 1000000;
  return ttm_tolerance_read(options, &out->tolerance, err);
}

static int read_past(ttm_past *out, ttm_history **history, const ttm_options *options, const char *model,
                     ttm_error *err) {
  ttm_past_question question;
  int status = read_question(&question, options, model, err);
  if (!status) status = ttm_history_open(history, options->value[TTM_OPTION_STORE], false, err);
  if (!status) status = ttm_past_read(out, *history, &question, err);
  if (status || out->series.n) return status;
  return ttm_error_set(err, TTM_ENODATA,
                       model ? "no run of the model '%s' is in the history; 'ttmem history' lists the models"
                             : "no such run is in the history%s",
                       model ? model : "");
}

/* ---- history ------------------------------------------------------------------------------------------------------ */

/* Named as an argument, or by --model. */
static const char *model_of(const ttm_options *options) {
  return options->inputs && !options->rest ? options->input[0] : options->value[TTM_OPTION_MODEL];
}

static int lay_out(const ttm_options *options, ttm_output_form form, const ttm_past *past, ttm_buf *text) {
  ttm_doc doc = ttm_output_doc(form, options, text);
  bool all = !model_of(options) && past->series.n > 1;
  if (form == TTM_OUTPUT_JSON) return ttm_past_json(text, past);
  ttm_doc_begin(&doc, "History");
  if (form == TTM_OUTPUT_CSV)
    ttm_past_runs(&doc, past);
  else if (all)
    ttm_past_overview(&doc, past);
  for (size_t i = 0; i < past->series.n && !all && form != TTM_OUTPUT_CSV; i++)
    ttm_past_series(&doc, past, &past->series.at[i]);
  return ttm_doc_end(&doc);
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_past past = {0};
  ttm_history *history = NULL;
  ttm_output_form form;
  ttm_buf text = {0};
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = read_past(&past, &history, options, model_of(options), err);
  if (!status && lay_out(options, form, &past, &text)) status = ttm_error_nomem(err);
  ttm_past_free(&past);
  ttm_history_close(history);
  return ttm_output_deliver(options, &text, status, err);
}

#define TAKES_QUESTION TTM_OPTION_STORE, TTM_OPTION_MODEL, TTM_OPTION_BOARD, TTM_OPTION_SINCE, TTM_OPTION_TOLERANCE

const ttm_command ttm_command_history = {
    .name = "history",
    .synopsis = "history [MODEL] [options]",
    .help = "runs over time: when a peak changed, and why",
    .more =
        "Every 'analyze', 'run', 'fit' and 'train' adds its run to ~/.ttmem/history.sqlite, unless --no-history or "
        "TTMEM_NO_HISTORY says "
        "no. Without a MODEL all of them are listed; * in MODEL stands for anything. A model is what --model said, "
        "else the report's name "
        "without dates and times at its end. A step must exceed --tolerance and the noise: fewer than 1 in 1,000 flat "
        "series show one.",
    .examples = "ttmem history\nttmem history llama-small --since 30d\nttmem history llama-small --board n150 --json",
    .max_inputs = 1,
    .takes = TTM_TAKES(TAKES_QUESTION, TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_MD, TTM_OPTION_HTML,
                       TTM_OPTION_OUTPUT, TTM_OPTION_COLOR),
    .run = run,
};

/* ---- history bisect ----------------------------------------------------------------------------------------------- */

/* What is bad: a run that fails, or whose peak is above the limit. */
typedef struct badness {
  const ttm_series *series;
  size_t first; /* position of the first bad run */
  bool fails;
  int memory;
  double limit; /* bytes per bank, between before and after */
} badness;

static bool find_failing(badness *out, const ttm_past *past, const ttm_series *s) {
  size_t since = s->runs;
  while (since && ttm_series_run(past, s, since - 1)->failures) since--;
  if (since == s->runs || !since) return false;
  *out = (badness){.series = s, .first = since, .fails = true};
  return true;
}

static bool find_rise(badness *out, const ttm_series *s) {
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) {
    const ttm_step *step = ttm_series_rise(s, m);
    if (!step) continue;
    *out = (badness){.series = s, .first = step->at, .memory = m, .limit = (step->before + step->after) / 2};
    return true;
  }
  return false;
}

static bool find_bad(badness *out, const ttm_past *past) {
  for (size_t i = 0; i < past->series.n; i++)
    if (find_failing(out, past, &past->series.at[i])) return true;
  for (size_t i = 0; i < past->series.n; i++)
    if (find_rise(out, &past->series.at[i])) return true;
  return false;
}

/* The statement that tells it. */
static const ttm_statement *find_said(const badness *bad, const ttm_past *past) {
  const ttm_statements *said = &bad->series->said;
  ttm_str name = ttm_series_run(past, bad->series, bad->first)->run;
  for (size_t i = 0; i < said->at.n; i++) {
    const ttm_statement *s = &said->at.at[i];
    bool topic = bad->fails ? s->topic == TTM_TOPIC_FAILURE : !strcmp(s->id, "history.rose");
    if (topic && ttm_str_contains(s->headline, name)) return s;
  }
  return NULL;
}

static void put_commands(ttm_doc *doc, const ttm_past *past, const badness *bad) {
  const ttm_past_run *after = ttm_series_run(past, bad->series, bad->first),
                     *before = ttm_series_run(past, bad->series, bad->first - 1);
  ttm_buf lines = {0};
  if (!after->commit.n || !before->commit.n || ttm_str_eq(after->commit, before->commit)) return;
  char *plain = ttm_str_copy(bad->series->model);
  ttm_buf_printf(&lines, "git bisect start %.*s %.*s\n", TTM_ARGS(after->commit), TTM_ARGS(before->commit));
  ttm_buf_puts(&lines, "git bisect run ttmem history bisect --model ");
  if (plain) ttm_put_shell_word(&lines, plain);
  ttm_buf_puts(&lines, " -- COMMAND\n");
  doc->out->failed |= !plain;
  ttm_free(plain);
  ttm_doc_heading(doc, "Next");
  ttm_doc_block(doc, ttm_buf_str(&lines));
  doc->out->failed |= lines.failed;
  ttm_buf_free(&lines);
}

static int name_first(const ttm_options *options, const ttm_past *past, const badness *bad, ttm_error *err) {
  ttm_buf text = {0};
  ttm_doc doc = ttm_output_doc(TTM_OUTPUT_TERMINAL, options, &text);
  const ttm_statement *said = find_said(bad, past);
  ttm_doc_begin(&doc, "First bad run");
  if (said) ttm_doc_statement(&doc, &bad->series->said, said, 0);
  put_commands(&doc, past, bad);
  ttm_doc_end(&doc);
  int status = ttm_terminal_print(&text, err);
  return status ? status : TTM_EXIT_FOUND;
}

enum { EXIT_SKIP = 125 }; /* what `git bisect run` takes for: this commit cannot be judged */

/* 0 good, 1 bad, 125 when the program left no peak to judge. */
static int judge(const badness *bad, const ttm_subject *subject) {
  const ttm_findings *f = subject->findings;
  const ttm_peak *peak = &f->peak[bad->memory ? TTM_L1 : TTM_DRAM];
  bool fails = ttm_statements_first(&f->statements, TTM_TOPIC_FAILURE) &&
               ttm_statements_first(&f->statements, TTM_TOPIC_FAILURE)->severity == TTM_SEVERITY_FAILURE;
  double bytes = (double)(peak->in_op_bytes ? peak->in_op_bytes : ttm_level_bytes(peak->level.allocated));
  if (!bad->fails && !peak->known && !peak->in_op_bytes) return EXIT_SKIP;
  bool is_bad = fails || (!bad->fails && bytes > bad->limit);
  ttm_buf text = {0};
  ttm_buf_printf(&text, "ttmem: %s: %s", is_bad ? "bad" : "good",
                 bad->fails ? (fails ? "it fails" : "it does not fail") : "peak ");
  if (!bad->fails) {
    ttm_put_mb(&text, bytes / TTM_MB);
    ttm_buf_puts(&text, " MB per bank, the limit is ");
    ttm_put_mb(&text, bad->limit / TTM_MB);
  }
  ttm_buf_char(&text, '\n');
  ttm_terminal_note(&text);
  return is_bad ? TTM_EXIT_FOUND : TTM_EXIT_OK;
}

/* Runs the program of the commit that is checked out, in a folder that goes away again. */
static int try_program(const ttm_options *given, const badness *bad, ttm_error *err) {
  ttm_options options = *given;
  ttm_subject subject = {0};
  ttm_buf folder = {0}, source = {0};
  ttm_temp_dir dir;
  int status = ttm_temp_dir_make(&dir, "bisect", err);
  if (status) return status;
  options.value[TTM_OPTION_OUTPUT_DIR] = dir.path;
  options.value[TTM_OPTION_BOARD] =
      ttm_str_eq(bad->series->method, TTM_LIT("mock")) ? given->value[TTM_OPTION_BOARD] : NULL;
  options.given[TTM_OPTION_NO_HTML] = options.given[TTM_OPTION_NO_HISTORY] = options.given[TTM_OPTION_QUIET] = true;
  int exit_status = ttm_run_kept(&options, &folder, &source, err);
  ttm_buf_char(&source, '\0');
  if (exit_status >= 0) status = ttm_subject_read(&subject, &options, source.at, false, err);
  int verdict = exit_status < 0 || status ? EXIT_SKIP : judge(bad, &subject);
  if (verdict == TTM_EXIT_OK && ttm_judge_exit(&options, subject.profile, verdict)) verdict = EXIT_SKIP;
  ttm_subject_free(&subject);
  ttm_buf_free(&folder);
  ttm_buf_free(&source);
  ttm_temp_dir_remove(&dir);
  return verdict;
}

static int run_bisect(const ttm_options *options, ttm_error *err) {
  ttm_past past = {0};
  ttm_history *history = NULL;
  badness bad;
  int status = read_past(&past, &history, options, model_of(options), err);
  if (!status && !find_bad(&bad, &past))
    status = ttm_error_set(
        err, TTM_ENODATA,
        "no run is the first bad one: no peak has risen by a step, and nothing fails that did not before");
  if (!status) status = options->rest ? try_program(options, &bad, err) : name_first(options, &past, &bad, err);
  ttm_past_free(&past);
  ttm_history_close(history);
  return status;
}

const ttm_command ttm_command_history_bisect = {
    .name = "history bisect",
    .synopsis = "history bisect [MODEL | --model M -- COMMAND]",
    .help = "the first bad run, or judge a commit for git bisect run",
    .more =
        "Bad is what fails and did not before; else a peak above the middle of its last step up. With a COMMAND the "
        "program runs as under "
        "'ttmem run', its files go away again, and the exit status is the one that 'git bisect run' wants. A history "
        "of mock boards needs --board.",
    .examples =
        "ttmem history bisect llama-small\n"
        "git bisect run ttmem history bisect --model llama-small -- python3 model.py",
    .exits =
        "0 good; 1 bad, or the first bad run was named; 125 the program cannot be judged; 2 wrong usage, or no run is "
        "bad",
    .max_inputs = 1,
    .rest = TTM_REST_BEHIND_DASHES,
    .takes = TTM_TAKES(TAKES_QUESTION, TTM_OPTION_COLOR),
    .run = run_bisect,
};
