/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem analyze LOG, and tt-memory-profiler --analyze LOG: the report folder and one screen of summary. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "base/format.h"
#include "cli/judge.h"
#include "cli/remember.h"
#include "cli/terminal.h"
#include "report/export/export.h"
#include "report/files/report.h"
#include "report/run/ranks.h"
#include "report/run/text.h"
#include "store/rank_files.h"
#include "store/report_dir.h"
#include "store/report_find.h"

/* ---- The report ----------------------------------------------------------------------------------------------------- */

/* A name becomes a folder and the start of file names: nothing that leads elsewhere or hides. */
int ttm_check_report_name(const char *name, ttm_error *err) {
  bool fine = name[0] != '.' && !strchr(name, '/') && strlen(name) <= 200;
  for (const char *c = name; *c; c++) fine &= (unsigned char)*c >= 0x20 && *c != 0x7F;
  if (fine) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE,
                       "'%s' cannot name a report: at most 200 bytes, no '/', no control characters, no leading '.'",
                       name);
}

/* The report's folder, NUL-terminated. */
static int choose_place(const ttm_options *options, const char *name, ttm_buf *folder, ttm_error *err) {
  int status = options->given[TTM_OPTION_NAME] ? ttm_check_report_name(name, err) : TTM_OK;
  if (status) return status;
  if (options->value[TTM_OPTION_OUTPUT_DIR]) {
    ttm_buf_puts(folder, options->value[TTM_OPTION_OUTPUT_DIR]);
  } else if (!options->given[TTM_OPTION_NO_JSON]) {
    if ((status = ttm_report_root(folder, err))) return status;
    ttm_buf_char(folder, '/');
    ttm_buf_puts(folder, name);
  }
  ttm_buf_char(folder, '\0');
  return folder->failed ? ttm_error_nomem(err) : TTM_OK;
}

/* Two logs of one name have one report folder, and the later report takes it: that is said. NULL when there is nothing to say. */
static char *find_replaced(const ttm_options *options, const char *log, const char *folder) {
  char *origin = NULL;
  bool ours = !options->given[TTM_OPTION_NO_JSON] && !options->value[TTM_OPTION_OUTPUT_DIR];
  if (ours && !options->given[TTM_OPTION_QUIET]) ttm_report_other_origin(&origin, folder, log);
  return origin;
}

static void say_replaced(const ttm_options *options, const char *origin) {
  ttm_buf text = {0};
  if (!*origin) return;
  ttm_buf_printf(&text, "%s: note: replaced the report of ", ttm_program_name(options->program));
  ttm_put_text(&text, ttm_str_of(origin), SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_puts(&text, options->program == TTM_PROGRAM_TTMEM ? "; --name keeps both\n"
                                                            : "; 'ttmem analyze LOG --name NAME' keeps both\n");
  ttm_terminal_note(&text);
}

/* A folder of our own is replaced as a whole; one the user names may hold other things. */
static int write_report(const ttm_options *options, const ttm_findings *f, const char *folder, const char *name,
                        ttm_error *err) {
  if (options->given[TTM_OPTION_NO_JSON]) return TTM_OK;
  bool more = options->given[TTM_OPTION_DECISION_TRACE] || options->given[TTM_OPTION_TIMES]; /* than the log tells */
  ttm_report_options files = {
      .leave_out = (options->given[TTM_OPTION_NO_HTML] ? TTM_REPORT_HTML : 0u) | (more ? TTM_REPORT_MARKDOWN : 0u),
      .threads = options->threads,
      .no_sync = options->given[TTM_OPTION_NO_SYNC]};
  if (options->value[TTM_OPTION_OUTPUT_DIR]) return ttm_report_files_write(f, folder, name, &files, err);
  return ttm_report_dir_write(f, folder, name, &files, err);
}

int ttm_summary_text(const ttm_options *options, const ttm_findings *f, const char *log, const char *folder, int fd,
                     ttm_buf *out) {
  ttm_buf word = {0};
  if (strcmp(log, "-") != 0) {
    ttm_put_shell_path(&word, log);
    ttm_buf_char(&word, '\0');
  }
  ttm_summary_style style = ttm_terminal_style(fd, options->value[TTM_OPTION_COLOR]);
  style.folder = folder;
  style.log = word.n && !word.failed ? word.at : NULL;
  int status = word.failed ? TTM_ENOMEM : ttm_summary_write(f, &style, out);
  ttm_buf_free(&word);
  return status;
}

static int print_summary(const ttm_options *options, const ttm_findings *f, const char *log, const char *folder,
                         ttm_error *err) {
  ttm_buf text = {0};
  text.failed |= ttm_summary_text(options, f, log, folder, STDOUT_FILENO, &text) != TTM_OK;
  return ttm_terminal_print(&text, err);
}

int ttm_print_findings(const ttm_findings *f, ttm_error *err) {
  ttm_out out;
  bool closed;
  int status = ttm_terminal_open(&out, NULL, err);
  if (status) return status;
  status = ttm_report_findings_json(f, &out, err);
  return ttm_terminal_end(&out, status, &closed, err);
}

int ttm_print_table(const ttm_findings *f, ttm_table table, ttm_error *err) {
  ttm_out out;
  bool closed;
  int status = ttm_terminal_open(&out, NULL, err);
  if (status) return status;
  status = ttm_export_csv(f, table, &out, err);
  ttm_out_flush(&out);
  return ttm_terminal_end(&out, status, &closed, err);
}

/* The ranks together; the report is that of the leading one. */
static int show_ranks(const ttm_options *options, const ttm_ranks *ranks, const char *folder, ttm_error *err) {
  ttm_buf text = {0};
  ttm_output_form form;
  int status = ttm_output_form_of(&form, options, err);
  if (status || options->given[TTM_OPTION_QUIET]) return status;
  ttm_doc doc = ttm_output_doc(form, options, &text);
  if (form == TTM_OUTPUT_JSON) {
    text.failed |= ttm_ranks_json(ranks, &text) != TTM_OK;
    return ttm_terminal_print(&text, err);
  }
  ttm_doc_begin(&doc, "One run");
  ttm_ranks_write(&doc, ranks);
  if (folder && form == TTM_OUTPUT_TERMINAL) {
    ttm_doc_heading(&doc, "Report");
    ttm_doc_line(&doc, "%s (of rank %u)", folder, ranks->at.at[ranks->leading].rank);
  }
  text.failed |= ttm_doc_end(&doc) != TTM_OK;
  return ttm_terminal_print(&text, err);
}

/* Prints what was found. `folder` is NULL when nothing was written. */
static int show(const ttm_options *options, const ttm_findings *f, const ttm_ranks *ranks, const char *log,
                const char *folder, ttm_error *err) {
  if (ranks) return show_ranks(options, ranks, folder, err);
  if (options->given[TTM_OPTION_JSON]) return ttm_print_findings(f, err);
  if (options->given[TTM_OPTION_CSV]) return ttm_print_table(f, TTM_TABLE_STATEMENTS, err);
  return options->given[TTM_OPTION_QUIET] ? TTM_OK : print_summary(options, f, log, folder, err);
}

/* Asks what --check, --budget and --baseline ask, and delivers the answers. Returns the exit status. */
static int judge(const ttm_options *options, const ttm_findings *f, const ttm_ranks *ranks, ttm_judgement *j) {
  ttm_error err;
  int status = TTM_OK;
  if (ranks)
    ttm_buf_put(&j->partial, ttm_buf_str(&ranks->partial));
  else
    ttm_judge_take(j, "", f->profile);
  if (options->given[TTM_OPTION_CHECK] && ttm_check_findings(&j->checks, f)) status = ttm_error_nomem(&err);
  if (!status) status = ttm_judge_findings(j, options, f, &err);
  return status ? ttm_cli_error(options, &err) : ttm_judge_deliver(j, options, (ttm_str){"", 0});
}

/* Writes the report, prints the summary and what was judged; returns the exit status. A failure of one does not stop the others: the log may
 * have taken minutes to read. */
static int deliver(const ttm_options *options, const ttm_findings *f, const ttm_ranks *ranks, const char *log,
                   const char *folder, ttm_judgement *j) {
  ttm_error err, unwritten;
  char *replaced = find_replaced(options, log, folder);
  int lost = write_report(options, f, folder, j->name.at, &unwritten);
  if (replaced && !lost) say_replaced(options, replaced);
  ttm_free(replaced);
  int unshown = show(options, f, ranks, log, lost || options->given[TTM_OPTION_NO_JSON] ? NULL : folder, &err);
  int exit_status = judge(options, f, ranks, j);
  ttm_error unmeasured;
  if (ttm_benchmark_deliver(j, options, f, log, &unmeasured)) exit_status = ttm_cli_error(options, &unmeasured);
  if (!options->given[TTM_OPTION_NO_JSON])
    ttm_remember_findings(options,
                          (ttm_run_about){.command = "analyze",
                                          .name = j->name.at,
                                          .source = log,
                                          .report = lost ? NULL : folder,
                                          .ranks = ranks,
                                          .exit_status = -1},
                          f);
  if (unshown) exit_status = ttm_cli_error(options, &err);
  if (lost) {
    ttm_error_set(&err, lost, "%s; the report was not written; --output-dir DIR writes it elsewhere",
                  unwritten.message);
    exit_status = ttm_cli_error(options, &err);
  }
  return exit_status;
}

/* What the report of a set is called when nobody says: "train_rank0.log" is of "train", "rank0.log" of "ranks", a folder or an archive of its own name. */
static void put_set_name(const ttm_options *options, ttm_buf *out) {
  ttm_str name = ttm_str_of(options->input[0]);
  while (name.n > 1 && name.p[name.n - 1] == '/') name.n--;
  for (size_t slash; (slash = ttm_str_find_char(name, '/')) != TTM_NOT_FOUND;) name = ttm_str_from(name, slash + 1);
  if (options->inputs > 1) name = ttm_str_first(name, ttm_str_find(name, TTM_LIT("rank")));
  while (name.n && strchr("-_.", name.p[name.n - 1])) name.n--;
  ttm_buf_put(out, name.n ? name : TTM_LIT("ranks"));
  ttm_buf_char(out, '\0');
}

/* One run over many files: the rank that leads is reported on as a log is, in front of it stands what all of them say together. */
static int run_ranks(const ttm_options *options, ttm_error *err) {
  ttm_rank_files files = {0};
  ttm_ranks ranks = {0};
  ttm_subject subject = {0};
  ttm_judgement judgement = {0};
  ttm_buf folder = {0}, set = {0};
  char *log = NULL;
  put_set_name(options, &set);
  int status = set.failed ? ttm_error_nomem(err) : ttm_judgement_begin(&judgement, options, set.at, err);
  if (!status) status = choose_place(options, judgement.name.at, &folder, err);
  if (!status) status = ttm_rank_files_find(&files, options->input, options->inputs, err);
  if (!status) status = ttm_rank_files_read(&ranks, &files, options->threads, err);
  ttm_str leading = status ? (ttm_str){"", 0} : ranks.at.at[ranks.leading].path;
  if (!status) status = ttm_rank_files_profile(&subject.profile, &files, leading, options->threads, err);
  if (!status) status = ttm_findings_make(&subject.findings, subject.profile, options->threads, err);
  if (!status && !(log = ttm_str_copy(files.archive ? ttm_str_of(files.paths.at[0]) : leading)))
    status = ttm_error_nomem(err);
  if (!status && ranks.skipped && !options->given[TTM_OPTION_QUIET])
    fprintf(stderr, "ttmem: note: %zu files without memory states were left out\n", ranks.skipped);
  if (!status) status = deliver(options, subject.findings, &ranks, log, folder.at, &judgement);
  ttm_judgement_free(&judgement);
  ttm_subject_free(&subject);
  ttm_ranks_free(&ranks);
  ttm_rank_files_free(&files);
  ttm_buf_free(&folder);
  ttm_buf_free(&set);
  ttm_free(log);
  return status;
}

static int run(const ttm_options *options, ttm_error *err) {
  const char *log = options->input[0];
  if (options->inputs > 1 || ttm_rank_files_is(log)) {
    if (!options->given[TTM_OPTION_TIMES] && !options->given[TTM_OPTION_DECISION_TRACE]) return run_ranks(options, err);
    return ttm_error_set(err, TTM_EUSAGE, "options '--times' and '--decision-trace' go with one input, not with ranks");
  }
  ttm_subject subject = {0};
  ttm_judgement judgement;
  ttm_buf folder = {0};
  ttm_output_form form;
  int status = ttm_judgement_begin(&judgement, options, log, err); /* before the reading, which may take minutes */
  if (!status) status = ttm_output_form_of(&form, options, err);
  if (!status) status = choose_place(options, judgement.name.at, &folder, err);
  if (!status) status = ttm_subject_read(&subject, options, log, !options->given[TTM_OPTION_NO_JSON], err);
  if (!status) status = deliver(options, subject.findings, NULL, log, folder.at, &judgement);
  ttm_judgement_free(&judgement);
  ttm_subject_free(&subject);
  ttm_buf_free(&folder);
  return status;
}

const ttm_command ttm_command_analyze = {
    .name = "analyze",
    .synopsis = "analyze LOG... [options]",
    .help = "summary on the terminal, JSON and HTML report",
    .more =
        "LOG may be compressed (.gz, .zst), or '-' for standard input; a graph capture, a recording or a report of "
        "ttnn-visualizer (db.sqlite, or its folder) does as well. The files go to ~/.ttmem/reports/NAME/ "
        "(TTMEM_HOME replaces ~/.ttmem). An earlier report of that name is replaced only when the new one is "
        "complete. Several LOGs, a folder with rank0.log, rank1.log ... or a tar or zip archive of them are the ranks "
        "of one run: skew, the rank that fails first, identical ranks folded. --json prints findings.json instead of "
        "the summary, --csv its statements. --decision-trace compares with what the compiler planned, --times adds "
        "the device times of tt-metal's profiler. --check fails on a failure, a leak or an unsafe trace, --baseline "
        "when a peak exceeds that of a committed file.",
    .examples =
        "ttmem analyze model_profile.log.zst\n"
        "python3 -u model.py 2>&1 | tee model.log | ttmem analyze - --name model\n"
        "ttmem analyze nightly.log --check --budget dram:90% --baseline memory.json",
    .exits = "0 report written; 1 --check, --budget or --baseline failed; 2 wrong usage, unreadable input or no data",
    .min_inputs = 1,
    .max_inputs = TTM_MAX_INPUTS,
    .ranks = true,
    .needs = "a log: ttmem analyze LOG ('-' reads standard input)",
    .logs = 1,
    .takes =
        TTM_TAKES(TTM_OPTION_OUTPUT_DIR, TTM_OPTION_NAME, TTM_OPTION_NO_JSON, TTM_OPTION_NO_HTML, TTM_JUDGE_OPTIONS,
                  TTM_OPTION_BENCHMARK, TTM_OPTION_MODEL, TTM_OPTION_NO_HISTORY, TTM_OPTION_STORE, TTM_OPTION_PER,
                  TTM_OPTION_DECISION_TRACE, TTM_OPTION_TIMES, TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_THREADS,
                  TTM_OPTION_MAX_MEMORY, TTM_OPTION_NO_SYNC, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
