/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem analyze LOG, and tt-memory-profiler --analyze LOG: the report folder and one screen of summary. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "analyze/words.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/remember.h"
#include "cli/terminal.h"
#include "report/export/export.h"
#include "report/files/report.h"
#include "report/run/text.h"
#include "store/report_dir.h"
#include "store/report_find.h"

/* ---- --check and --budget ------------------------------------------------------------------------------------------ */

/* "dram:90%", "l1:1.2MB", "90%" (of DRAM and L1). */
typedef struct budget {
  const char *text;
  ttm_memory memory; /* TTM_MEMORIES: DRAM and L1 */
  double limit;
  bool percent; /* of a bank, or MB of it */
} budget;

static ttm_memory memory_of(ttm_str name) {
  int m = 0;
  while (m < TTM_MEMORIES && !ttm_str_eq_nocase(name, ttm_str_of(ttm_memory_name((ttm_memory)m)))) m++;
  return (ttm_memory)m;
}

static int read_budget(budget *out, const char *text, ttm_error *err) {
  const char *colon = strchr(text, ':');
  ttm_str unit = ttm_str_of(colon ? colon + 1 : text);
  *out = (budget){.text = text, .memory = colon ? memory_of((ttm_str){text, (size_t)(colon - text)}) : TTM_MEMORIES};
  bool fine = ttm_str_take_decimal(&unit, &out->limit) && out->limit > 0 && (!colon || out->memory != TTM_MEMORIES);
  bool mb = ttm_str_eq_nocase(unit, TTM_LIT("MB"));
  out->percent = ttm_str_eq(unit, TTM_LIT("%"));
  if (fine && (out->percent || (colon && mb))) return TTM_OK;
  return ttm_error_set(
      err, TTM_EUSAGE,
      "option '--budget' takes 90%%, dram:90%% or dram:900MB (of a bank; dram, l1, l1_small or trace), not '%s'", text);
}

/* TTM_EUSAGE when a budget cannot be read. */
static int check_budgets(const ttm_options *options, ttm_error *err) {
  int status = TTM_OK;
  budget ignored;
  for (size_t i = 0; i < options->many_count && !status; i++) {
    if (options->many[i].option == TTM_OPTION_BUDGET) status = read_budget(&ignored, options->many[i].value, err);
  }
  return status;
}

/* What a bank holds, in MB; 0 when neither a state nor the message of the failing operation has it. */
static double bank_mb(const ttm_peak *peak, const ttm_profile *p) {
  if (peak->level.total) return ttm_mb(peak->level.total);
  uint64_t told = peak->in_op_bytes ? p->incidents.at[peak->in_op_incident].what.bank_size : TTM_UNKNOWN;
  return told == TTM_UNKNOWN ? 0 : ttm_mib(told);
}

/* False when the log does not tell. What a failing operation held counts too. */
static bool judge_peak(const budget *b, const ttm_findings *f, ttm_memory memory, const ttm_peak *peak, ttm_buf *out) {
  const ttm_profile *p = f->profile;
  bool inside = peak->in_op_bytes > 0; /* known from the message alone: there may be no state at all */
  double mb = inside ? ttm_mib(peak->in_op_bytes) : ttm_mb(peak->level.allocated), of = bank_mb(peak, p);
  if ((!inside && !peak->known) || (b->percent && !(of > 0))) return false;
  if (b->percent ? mb * 100 <= b->limit * of : mb <= b->limit) return true;
  ttm_buf_printf(out, "%s %.2f MB per bank%s, ", ttm_memory_name(memory), mb,
                 peak->derived && !inside ? " (derived)" : "");
  if (of > 0) ttm_buf_printf(out, "%.1f%% of %.2f, ", mb * 100 / of, of);
  ttm_buf_printf(out, "exceeds the budget of %s", b->text);
  if (f->devices[memory].n > 1 && p->kind != TTM_LOG_CAPTURE)
    ttm_buf_printf(out, " on the device opened in log line %u", p->states.at[peak->opened].line);
  if (inside) {
    ttm_buf_printf(out, "; inside the failing operation, log line %u", p->incidents.at[peak->in_op_incident].line);
  } else if (peak->cause != TTM_NONE) {
    ttm_buf_puts(out, "; raised by ");
    ttm_words_index(out, f, peak->cause);
    ttm_buf_char(out, ' ');
    ttm_put_text(out, ttm_words_name(p, peak->cause), SIZE_MAX, TTM_FORM_UTF8);
    ttm_buf_printf(out, ", log line %u", p->ops.at[peak->cause].line);
  }
  ttm_buf_char(out, '\n');
  return true;
}

static int judge_budget(const budget *b, const ttm_findings *f, ttm_buf *out, ttm_error *err) {
  bool told = false;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    bool meant = b->memory == TTM_MEMORIES ? m == TTM_DRAM || m == TTM_L1 : (int)b->memory == m;
    const ttm_device_peaks *devices = &f->devices[m];
    if (meant && !devices->n) told |= judge_peak(b, f, (ttm_memory)m, &f->peak[m], out);
    for (uint32_t i = 0; meant && i < devices->n; i++) told |= judge_peak(b, f, (ttm_memory)m, &devices->at[i], out);
  }
  if (told) return TTM_OK;
  return ttm_error_set(err, TTM_ENODATA, "the log has no memory state for the budget of %s; 'ttmem doctor' shows why",
                       b->text);
}

/* What fails, or will. */
static void judge_findings(const ttm_statements *all, ttm_buf *out) {
  for (size_t i = 0; i < all->at.n; i++) {
    const ttm_statement *s = &all->at.at[i];
    bool warned = s->severity == TTM_SEVERITY_WARNING && (s->topic == TTM_TOPIC_GROWTH || s->topic == TTM_TOPIC_TRACES);
    if (s->severity != TTM_SEVERITY_FAILURE && !warned) continue;
    ttm_put_text(out, s->headline, SIZE_MAX, TTM_FORM_UTF8);
    if (s->line) ttm_buf_printf(out, " (log line %u)", s->line);
    ttm_buf_char(out, '\n');
  }
}

/* Appends a line for each failure, leak and unsafe trace (--check) and each peak above its budget. TTM_ENODATA when the log has nothing for a budget;
 * the others are judged all the same. */
static int judge(const ttm_options *options, const ttm_findings *f, ttm_buf *out, ttm_error *err) {
  int status = TTM_OK;
  if (options->given[TTM_OPTION_CHECK]) judge_findings(&f->statements, out);
  for (size_t i = 0; i < options->many_count; i++) {
    budget b;
    if (options->many[i].option != TTM_OPTION_BUDGET) continue;
    int wrong = read_budget(&b, options->many[i].value, err);
    if (!wrong) wrong = judge_budget(&b, f, out, err);
    if (wrong) status = wrong; /* the others are judged all the same */
  }
  return out->failed ? ttm_error_nomem(err) : status;
}

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

/* The report's name and folder, NUL-terminated. */
static int choose_place(const ttm_options *options, const char *log, ttm_buf *name, ttm_buf *folder, ttm_error *err) {
  const char *given = options->value[TTM_OPTION_NAME];
  int status;
  if (given && (status = ttm_check_report_name(given, err))) return status;
  if (given)
    ttm_buf_puts(name, given);
  else
    ttm_report_name(name, log);
  if (options->value[TTM_OPTION_OUTPUT_DIR]) {
    ttm_buf_puts(folder, options->value[TTM_OPTION_OUTPUT_DIR]);
  } else if (!options->given[TTM_OPTION_NO_JSON]) {
    if ((status = ttm_report_root(folder, err))) return status;
    ttm_buf_char(folder, '/');
    ttm_buf_put(folder, ttm_buf_str(name));
  }
  ttm_buf_char(name, '\0');
  ttm_buf_char(folder, '\0');
  return name->failed || folder->failed ? ttm_error_nomem(err) : TTM_OK;
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
  ttm_report_options files = {.leave_out = options->given[TTM_OPTION_NO_HTML] ? TTM_REPORT_HTML : 0,
                              .threads = options->threads};
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

/* Failed checks go to standard error: they are not part of the report. */
static int say_judgement(ttm_str lines) {
  ttm_buf text = {0};
  for (size_t end; lines.n; lines = ttm_str_from(lines, end + 1)) {
    end = ttm_str_find_char(lines, '\n');
    ttm_buf_puts(&text, "ttmem: check: ");
    ttm_buf_put(&text, ttm_str_first(lines, end + 1));
  }
  ttm_terminal_note(&text);
  return TTM_EXIT_FOUND;
}

/* Prints what was found. `folder` is NULL when nothing was written. */
static int show(const ttm_options *options, const ttm_findings *f, const char *log, const char *folder,
                ttm_error *err) {
  if (options->given[TTM_OPTION_JSON]) return ttm_print_findings(f, err);
  if (options->given[TTM_OPTION_CSV]) return ttm_print_table(f, TTM_TABLE_STATEMENTS, err);
  return options->given[TTM_OPTION_QUIET] ? TTM_OK : print_summary(options, f, log, folder, err);
}

/* Writes the report, prints the summary and what --check and --budget found; returns the exit status. A failure of one does not stop the
 * others: the log may have taken minutes to read. */
static int deliver(const ttm_options *options, const ttm_findings *f, const char *log, const char *folder,
                   const char *name) {
  ttm_buf broken = {0};
  ttm_error err, unwritten, unjudged;
  int exit_status = TTM_EXIT_OK;
  char *replaced = find_replaced(options, log, folder);
  int lost = write_report(options, f, folder, name, &unwritten);
  if (replaced && !lost) say_replaced(options, replaced);
  ttm_free(replaced);
  int unshown = show(options, f, log, lost || options->given[TTM_OPTION_NO_JSON] ? NULL : folder, &err);
  int unclear = judge(options, f, &broken, &unjudged);
  if (!options->given[TTM_OPTION_NO_JSON])
    ttm_remember_findings(
        options,
        (ttm_run_about){
            .command = "analyze", .name = name, .source = log, .report = lost ? NULL : folder, .exit_status = -1},
        f);
  if (broken.n) exit_status = say_judgement(ttm_buf_str(&broken));
  if (unshown) exit_status = ttm_cli_error(options, &err);
  if (lost) {
    ttm_error_set(&err, lost, "%s; the report was not written; --output-dir DIR writes it elsewhere",
                  unwritten.message);
    exit_status = ttm_cli_error(options, &err);
  }
  if (unclear) exit_status = ttm_cli_error(options, &unjudged);
  ttm_buf_free(&broken);
  return exit_status;
}

static int run(const ttm_options *options, ttm_error *err) {
  const char *log = options->input[0];
  ttm_subject subject = {0};
  ttm_buf name = {0}, folder = {0};
  ttm_output_form form;
  int status = ttm_output_form_of(&form, options, err);
  if (!status)
    status = check_budgets(options, err); /* these before the reading: a wrong name should not cost minutes */
  if (!status) status = choose_place(options, log, &name, &folder, err);
  if (!status) status = ttm_subject_read(&subject, options, log, !options->given[TTM_OPTION_NO_JSON], err);
  if (!status) status = deliver(options, subject.findings, log, folder.at, name.at);
  ttm_subject_free(&subject);
  ttm_buf_free(&folder);
  ttm_buf_free(&name);
  return status;
}

const ttm_command ttm_command_analyze = {
    .name = "analyze",
    .synopsis = "analyze LOG [options]",
    .help = "summary on the terminal, JSON and HTML report",
    .more =
        "LOG may be compressed (.gz, .zst), or '-' for standard input. The files go to ~/.ttmem/reports/NAME/ "
        "(TTMEM_HOME replaces ~/.ttmem). An earlier report of that name is replaced only when the new one is "
        "complete. --json prints findings.json instead of the summary, --csv its statements. --check fails on a "
        "failure, a leak or an unsafe trace.",
    .examples =
        "ttmem analyze model_profile.log.zst\n"
        "python3 -u model.py 2>&1 | tee model.log | ttmem analyze - --name model\n"
        "ttmem analyze nightly.log --check --budget dram:90%",
    .exits = "0 report written; 1 --check or --budget failed; 2 wrong usage, unreadable input or no data",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a log: ttmem analyze LOG ('-' reads standard input)",
    .logs = 1,
    .takes = TTM_TAKES(TTM_OPTION_OUTPUT_DIR, TTM_OPTION_NAME, TTM_OPTION_NO_JSON, TTM_OPTION_NO_HTML, TTM_OPTION_MODEL,
                       TTM_OPTION_NO_HISTORY, TTM_OPTION_CHECK, TTM_OPTION_BUDGET, TTM_OPTION_PER, TTM_OPTION_JSON,
                       TTM_OPTION_CSV, TTM_OPTION_THREADS, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
