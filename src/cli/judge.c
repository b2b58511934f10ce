/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/words.h"
#include "base/format.h"
#include "base/host_name.h"
#include "cli/terminal.h"
#include "launch/plan.h"
#include "store/report_dir.h"

/* ---- Questions ---------------------------------------------------------------------------------------------------- */

static ttm_memory memory_of(ttm_str name) {
  int m = 0;
  while (m < TTM_MEMORIES && !ttm_str_eq_nocase(name, ttm_str_of(ttm_memory_name((ttm_memory)m)))) m++;
  return (ttm_memory)m;
}

/* "dram:90%", "l1:1.2MB", "90%" (of DRAM and L1). */
static int read_budget(ttm_budget *out, const char *text, ttm_error *err) {
  const char *colon = strchr(text, ':');
  ttm_str unit = ttm_str_of(colon ? colon + 1 : text);
  *out =
      (ttm_budget){.text = text, .memory = colon ? memory_of((ttm_str){text, (size_t)(colon - text)}) : TTM_MEMORIES};
  bool fine = ttm_str_take_decimal(&unit, &out->limit) && out->limit > 0 && (!colon || out->memory != TTM_MEMORIES);
  bool mb = ttm_str_eq_nocase(unit, TTM_LIT("MB"));
  out->percent = ttm_str_eq(unit, TTM_LIT("%"));
  if (fine && (out->percent || (colon && mb))) return TTM_OK;
  return ttm_error_set(
      err, TTM_EUSAGE,
      "option '--budget' takes 90%%, dram:90%% or dram:900MB (of a bank; dram, l1, l1_small or trace), not '%s'", text);
}

static int check_budgets(const ttm_options *options, ttm_error *err) {
  int status = TTM_OK;
  for (size_t i = 0; i < options->many_count && !status; i++) {
    ttm_budget b;
    if (options->many[i].option != TTM_OPTION_BUDGET) continue;
    status = read_budget(&b, options->many[i].value, err);
    if (!status && options->command == &ttm_command_fit && b.memory != TTM_MEMORIES && b.memory > TTM_L1)
      status =
          ttm_error_set(err, TTM_EUSAGE, "'fit' knows the peaks of dram and l1, not that of '--budget %s'", b.text);
  }
  return status;
}

static bool asks(const ttm_options *options) {
  return options->given[TTM_OPTION_CHECK] || options->given[TTM_OPTION_BUDGET] || options->given[TTM_OPTION_BASELINE];
}

/* Answers without a question, and files that would be lost. */
static int check_outputs(const ttm_options *options, ttm_error *err) {
  const char *junit = options->value[TTM_OPTION_JUNIT], *baseline = options->value[TTM_OPTION_BASELINE];
  if (options->given[TTM_OPTION_FIND] && asks(options))
    return ttm_error_set(err, TTM_EUSAGE, "--check, --budget and --baseline judge a run, not the search of --find");
  bool boards = options->command == &ttm_command_fit && options->given[TTM_OPTION_BOARD];
  if ((junit || options->given[TTM_OPTION_GITHUB]) && !asks(options) && !boards)
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' tells what was checked: give --check, --budget or --baseline",
                         junit ? "junit" : "github");
  static const ttm_option written[] = {TTM_OPTION_JUNIT, TTM_OPTION_BENCHMARK};
  for (size_t w = 0; w < sizeof written / sizeof *written; w++) {
    const char *target = options->value[written[w]];
    int lost = ttm_check_output(baseline, target, err);
    for (size_t i = 0; i < options->inputs; i++) lost |= ttm_check_output(options->input[i], target, err);
    if (lost)
      return ttm_error_set(err, TTM_EUSAGE, "'%s' is read; choose another file for --%s", target,
                           ttm_option_table[written[w]].name);
  }
  return TTM_OK;
}

/* The entry of that name, else the only one. */
static int choose_entry(ttm_judgement *j, const char *path, bool named, ttm_error *err) {
  const ttm_baseline *b = &j->baseline;
  j->entry = ttm_baseline_find(b, ttm_str_of(j->name.at));
  if (j->entry) return TTM_OK;
  if (!named && b->entries.n == 1) return j->entry = &b->entries.at[0], TTM_OK;
  ttm_buf all = {0};
  for (size_t i = 0; i < b->entries.n && all.n < 300; i++) {
    ttm_buf_puts(&all, i ? ", " : "it has ");
    ttm_put_text(&all, b->entries.at[i].name, 60, TTM_FORM_UTF8);
  }
  if (!b->entries.n) ttm_buf_puts(&all, "it has none");
  ttm_buf_char(&all, '\0');
  int status = all.failed
                   ? ttm_error_nomem(err)
                   : ttm_error_set(err, TTM_EUSAGE,
                                   "%s has no entry '%s'; %s. --name chooses one, 'ttmem baseline update' adds one",
                                   path, j->name.at, all.at);
  ttm_buf_free(&all);
  return status;
}

int ttm_judgement_name(ttm_buf *out, const ttm_options *options, const char *input, ttm_error *err) {
  const char *name = options->value[TTM_OPTION_NAME];
  ttm_launch_plan plan = {0};
  int status = TTM_OK;
  if (name) {
    ttm_buf_puts(out, name);
  } else if (input) {
    ttm_report_name(out, input);
  } else { /* a program is called as its run would be */
    status = ttm_launch_plan_make(&plan, options->rest, false, NULL, err);
    if (!status) ttm_buf_puts(out, plan.name.at);
    ttm_launch_plan_free(&plan);
  }
  ttm_buf_char(out, '\0');
  return !status && out->failed ? ttm_error_nomem(err) : status;
}

int ttm_judgement_begin(ttm_judgement *out, const ttm_options *options, const char *input, ttm_error *err) {
  const char *name = options->value[TTM_OPTION_NAME], *baseline = options->value[TTM_OPTION_BASELINE];
  *out = (ttm_judgement){0};
  int status = check_budgets(options, err);
  if (!status) status = check_outputs(options, err);
  if (status) return status;
  status = ttm_judgement_name(&out->name, options, input, err);
  if (status) return status;
  if (!baseline) return TTM_OK;
  if (access(baseline, F_OK))
    return ttm_error_set(err, TTM_EIO, "there is no baseline %s; 'ttmem baseline update' writes it", baseline);
  status = ttm_baseline_read(&out->baseline, baseline, err);
  return status ? status : choose_entry(out, baseline, name != NULL, err);
}

void ttm_judgement_free(ttm_judgement *j) {
  ttm_baseline_free(&j->baseline);
  ttm_buf_free(&j->name);
  ttm_buf_free(&j->partial);
  ttm_checks_free(&j->checks);
}

int ttm_judge_findings(ttm_judgement *j, const ttm_options *options, const ttm_findings *f, ttm_error *err) {
  int status = TTM_OK;
  for (size_t i = 0; i < options->many_count && !status; i++) {
    ttm_budget b;
    if (options->many[i].option != TTM_OPTION_BUDGET) continue;
    status = read_budget(&b, options->many[i].value, err);
    if (!status && ttm_check_budget(&j->checks, f, &b)) status = ttm_error_nomem(err);
  }
  if (!status && j->entry && ttm_check_baseline(&j->checks, f, j->entry)) status = ttm_error_nomem(err);
  return status;
}

int ttm_judge_fit(ttm_judgement *j, const ttm_options *options, const ttm_fit_cases *cases, ttm_error *err) {
  int status = TTM_OK;
  bool fits = options->given[TTM_OPTION_CHECK] || options->given[TTM_OPTION_BOARD];
  if (fits && ttm_check_fit(&j->checks, cases)) status = ttm_error_nomem(err);
  for (size_t i = 0; i < options->many_count && !status; i++) {
    ttm_budget b;
    if (options->many[i].option != TTM_OPTION_BUDGET) continue;
    status = read_budget(&b, options->many[i].value, err);
    if (!status && ttm_check_fit_budget(&j->checks, cases, &b)) status = ttm_error_nomem(err);
  }
  if (!status && j->entry && ttm_check_fit_baseline(&j->checks, cases, j->entry)) status = ttm_error_nomem(err);
  return status;
}

/* ---- Answers ------------------------------------------------------------------------------------------------------ */

/* A line for what failed, what could not be judged, and what got better. They go to standard error: they are no part of the report. */
static void say_check(ttm_buf *out, const ttm_checks *all, const ttm_check *check) {
  const ttm_statement *s = &all->said.at.at[check->statement];
  static const char *const labels[] = {"note", "check", NULL, "error"};
  if (check->outcome == TTM_SKIPPED || (check->outcome == TTM_PASSED && s->severity != TTM_SEVERITY_NOTE)) return;
  ttm_buf_printf(out, "ttmem: %s: ", labels[check->outcome]);
  ttm_put_text(out, s->headline, SIZE_MAX, TTM_FORM_UTF8);
  if (s->basis != TTM_MEASURED && check->outcome != TTM_UNJUDGED)
    ttm_buf_printf(out, " (%s)", ttm_basis_name(s->basis));
  if (s->topic == TTM_TOPIC_FAILURE && s->line && !ttm_str_contains(s->headline, TTM_LIT("log line")))
    ttm_buf_printf(out, " (log line %u)", s->line);
  if (s->detail.n && !strncmp(s->id, "baseline.", 9))
    ttm_buf_puts(out, ". "), ttm_put_text(out, s->detail, SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_char(out, '\n');
}

static int write_junit(const ttm_ci *ci, const char *path, ttm_error *err) {
  ttm_buf text = {0};
  int status = ttm_junit_write(ci, &text) ? ttm_error_nomem(err) : ttm_terminal_deliver(&text, path, err);
  ttm_buf_free(&text);
  return status;
}

/* Several commands of one step share its summary, and GitHub drops all of it when it is too long. */
static int append_summary(const char *path, ttm_str text, ttm_error *err) {
  struct stat st;
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return ttm_error_set(err, TTM_EIO, "cannot write %s: %s", path, strerror(errno));
  uint64_t there = fstat(fd, &st) || st.st_size < 0 ? 0 : (uint64_t)st.st_size;
  bool full = there + text.n > TTM_GITHUB_SUMMARY_LIMIT;
  int wrong = full ? 0 : ttm_write_all(fd, text.p, text.n);
  if (full) fprintf(stderr, "ttmem: note: the summary of this step has no room left\n");
  if (close(fd) && !wrong) wrong = errno;
  return wrong ? ttm_error_set(err, TTM_EIO, "cannot write %s: %s", path, strerror(wrong)) : TTM_OK;
}

int ttm_github_deliver(ttm_buf *commands, ttm_buf *summary, ttm_error *err) {
  const char *path = getenv("GITHUB_STEP_SUMMARY");
  int status = commands->failed || summary->failed ? ttm_error_nomem(err) : TTM_OK;
  if (!status && path && *path) status = append_summary(path, ttm_buf_str(summary), err);
  ttm_terminal_note(commands); /* the runner reads standard error too; standard output may be JSON */
  ttm_buf_free(summary);
  return status;
}

static int tell_github(const ttm_ci *ci, ttm_str more, ttm_error *err) {
  ttm_buf commands = {0}, summary = {0};
  ttm_github_commands(ci, getenv("GITHUB_WORKSPACE"), &commands);
  summary.failed |= ttm_github_summary(ci, &summary) != TTM_OK;
  if (more.n && summary.n + more.n <= TTM_GITHUB_SUMMARY_LIMIT / 2) ttm_buf_put(&summary, more);
  return ttm_github_deliver(&commands, &summary, err);
}

/* See cli/judge.h. Questions that nobody asked need no whole input. */
static void judge_partial(ttm_judgement *j, const ttm_options *options) {
  bool no = ttm_checks_count(&j->checks, TTM_FAILED) && !j->partial_before;
  ttm_str why = ttm_buf_str(&j->partial);
  if (j->checks.at.n && why.n)
    j->partial.failed |= ttm_check_partial(&j->checks, why, no || options->given[TTM_OPTION_ALLOW_PARTIAL]) != TTM_OK;
}

bool ttm_judge_take(ttm_judgement *j, const char *who, const ttm_profile *p) {
  size_t n = j->partial.n;
  ttm_buf_printf(&j->partial, "%s%s%s", n ? "; " : "", who, *who ? ": " : "");
  bool partial = ttm_words_partial(&j->partial, p);
  if (!partial) j->partial.n = n;
  return partial;
}

int ttm_judge_exit_why(const ttm_options *options, ttm_str why, int exit_status) {
  ttm_judgement j = {0};
  ttm_buf line = {0};
  bool allowed = exit_status == TTM_EXIT_FOUND || options->given[TTM_OPTION_ALLOW_PARTIAL];
  if (exit_status == TTM_EXIT_WRONG || !why.n) return exit_status;
  if (ttm_check_partial(&j.checks, why, allowed))
    line.failed = true;
  else
    say_check(&line, &j.checks, &j.checks.at.at[0]);
  ttm_error err;
  ttm_error_nomem(&err);
  if (line.failed) allowed = ttm_cli_error(options, &err) == TTM_EXIT_OK;
  ttm_terminal_note(&line);
  ttm_judgement_free(&j);
  return allowed ? exit_status : TTM_EXIT_WRONG;
}

int ttm_judge_exit(const ttm_options *options, const ttm_profile *p, int exit_status) {
  ttm_buf why = {0};
  if (exit_status == TTM_EXIT_WRONG) return exit_status;
  ttm_words_partial(&why, p);
  ttm_error err;
  ttm_error_nomem(&err);
  exit_status = why.failed ? ttm_cli_error(options, &err) : ttm_judge_exit_why(options, ttm_buf_str(&why), exit_status);
  ttm_buf_free(&why);
  return exit_status;
}

int ttm_judge_measure(const ttm_options *options, const ttm_profile *p, ttm_error *err) {
  int exit_status = ttm_judge_exit(options, p, TTM_EXIT_OK);
  return exit_status ? ttm_error_set(err, TTM_ENODATA, "nothing was kept of a part of a run") : TTM_OK;
}

int ttm_judge_deliver(ttm_judgement *j, const ttm_options *options, ttm_str more) {
  const char *junit = options->value[TTM_OPTION_JUNIT];
  const char *input = options->rest ? "" : options->input[options->inputs - 1];
  ttm_ci ci = {options->command->name, ttm_str_of(j->name.at), ttm_str_of(strcmp(input, "-") != 0 ? input : ""),
               &j->checks};
  ttm_buf lines = {0};
  ttm_error err;
  size_t asked = j->checks.at.n;
  judge_partial(j, options);
  if (asked && j->partial.failed) return ttm_error_nomem(&err), ttm_cli_error(options, &err);
  int exit_status = ttm_checks_count(&j->checks, TTM_UNJUDGED) ? TTM_EXIT_WRONG
                    : ttm_checks_count(&j->checks, TTM_FAILED) ? TTM_EXIT_FOUND
                                                               : TTM_EXIT_OK;
  for (size_t i = 0; i < j->checks.at.n; i++)
    if (asks(options) || i >= asked) say_check(&lines, &j->checks, &j->checks.at.at[i]);
  ttm_terminal_note(&lines);
  if (junit && write_junit(&ci, junit, &err)) exit_status = ttm_cli_error(options, &err);
  if (options->given[TTM_OPTION_GITHUB] && tell_github(&ci, more, &err)) exit_status = ttm_cli_error(options, &err);
  return exit_status;
}

/* ---- Benchmarks --------------------------------------------------------------------------------------------------- */

/* A run ends when its log was last written; of standard input that is now. */
static void put_time(char out[32], const char *input) {
  struct stat st;
  struct tm utc;
  time_t when = strcmp(input, "-") != 0 && !stat(input, &st) ? st.st_mtime : time(NULL);
  if (!gmtime_r(&when, &utc) || !strftime(out, 32, "%Y-%m-%dT%H:%M:%S+00:00", &utc)) *out = '\0';
}

/* NULL for what is empty. */
static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

int ttm_benchmark_deliver(const ttm_judgement *j, const ttm_options *options, const ttm_findings *f, const char *input,
                          ttm_error *err) {
  char when[32], host[TTM_HOST_NAME];
  ttm_buf text = {0};
  if (!options->given[TTM_OPTION_BENCHMARK]) return TTM_OK;
  put_time(when, input);
  ttm_benchmark benchmark = {
      .model = ttm_str_of(j->name.at),
      .time = when,
      .host = variable("RUNNER_NAME") ? variable("RUNNER_NAME") : ttm_host_name(host), /* as tt-metal's own */
      .entry = j->entry,
      .repository = variable("GITHUB_REPOSITORY"),
      .commit = variable("GITHUB_SHA"),
      .branch = variable("GITHUB_REF_NAME"),
      .run_id = variable("GITHUB_RUN_ID"),
      .user = variable("GITHUB_TRIGGERING_ACTOR"),
  };
  text.failed |= ttm_benchmark_write(&benchmark, f, &text) != TTM_OK;
  return ttm_terminal_deliver(&text, options->value[TTM_OPTION_BENCHMARK], err);
}
