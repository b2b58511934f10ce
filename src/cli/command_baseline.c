/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem baseline update FILE INPUT: what a model needs now is what is accepted. ttmem baseline show FILE: what that is. */
#include <errno.h>
#include <sys/stat.h>

#include "base/format.h"
#include "cli/judge.h"
#include "cli/terminal.h"
#include "launch/fit_series.h"
#include "report/files/baseline_json.h"

/* ---- update ------------------------------------------------------------------------------------------------------- */

/* A file that is not there yet has no entries. */
static int read_file(ttm_baseline *out, const char *path, ttm_error *err) {
  struct stat st;
  if (stat(path, &st) && errno == ENOENT) return TTM_OK;
  return ttm_baseline_read(out, path, err);
}

/* Each answer must be there to be kept. */
static int check_boards(const ttm_fit_cases *cases, ttm_error *err) {
  for (size_t i = 0; i < cases->at.n; i++)
    if (cases->at.at[i].fits == TTM_FITS_UNKNOWN)
      return ttm_error_set(err, TTM_ENODATA, "%.*s: %.*s", TTM_ARGS(cases->at.at[i].board),
                           TTM_ARGS(ttm_str_first(cases->said.at.at[i].headline, 800)));
  return TTM_OK;
}

/* The boards of --board. */
static int fit_boards(ttm_fit_cases *out, const ttm_options *options, const ttm_findings *f, ttm_error *err) {
  ttm_fit_options wishes = {.batch = 1, .partial = options->given[TTM_OPTION_ALLOW_PARTIAL]};
  ttm_fit fit = {0};
  unsigned boards;
  int status = ttm_boards_named(options->value[TTM_OPTION_BOARD], &boards, err);
  if (!status) status = ttm_fit_make(&fit, f, &wishes, err);
  if (!status && ttm_fit_cases_of_replay(out, &fit, &wishes, f, boards)) status = ttm_error_nomem(err);
  return status ? status : check_boards(out, err);
}

/* Nothing to compare with is no baseline. */
static int check_peaks(const ttm_baseline_entry *entry, const char *input, ttm_error *err) {
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++)
    if (entry->peak[m].known && entry->peak[m].milli) return TTM_OK;
  return ttm_error_set(err, TTM_ENODATA, "%s tells no peak of any memory; 'ttmem doctor' shows why", input);
}

/* "baseline: memory.json: llama added, DRAM 1,006.3 MB per bank". */
static int tell(const ttm_options *options, const ttm_baseline_entry *entry, bool added, ttm_error *err) {
  ttm_buf text = {0};
  if (options->given[TTM_OPTION_QUIET]) return TTM_OK;
  ttm_buf_puts(&text, "baseline: ");
  ttm_put_text(&text, ttm_str_of(options->input[0]), SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_puts(&text, ": ");
  ttm_put_text(&text, entry->name, SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_puts(&text, added ? " added" : " renewed");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    if (!entry->peak[m].known || !entry->peak[m].milli) continue;
    ttm_buf_printf(&text, ", %s %s", ttm_memory_name(m), entry->peak[m].at_least ? "≥ " : "");
    ttm_put_mb(&text, ttm_mb(entry->peak[m].milli));
    ttm_buf_printf(&text, " MB per bank (%.*s)", TTM_ARGS(entry->peak[m].basis));
  }
  for (size_t i = 0; i < entry->boards.n; i++)
    ttm_buf_printf(&text, ", %.*s %s", TTM_ARGS(entry->boards.at[i].board),
                   entry->boards.at[i].fits ? "fits" : "does not fit");
  ttm_buf_char(&text, '\n');
  if (entry->failures) ttm_buf_puts(&text, "note: the input fails, so that what it needs in all is not in it\n");
  return ttm_terminal_print(&text, err);
}

static int write_entry(const ttm_options *options, const ttm_baseline *old, const ttm_findings *f,
                       const ttm_fit_cases *cases, ttm_str name, ttm_error *err) {
  const char *path = options->input[0];
  ttm_baseline_entry entry = {.name = name};
  ttm_buf text = {0};
  int status = ttm_baseline_take(&entry, f, cases) ? ttm_error_nomem(err) : TTM_OK;
  if (!status && f) status = check_peaks(&entry, options->input[1], err);
  if (!status && ttm_baseline_renew(old, &entry, &text)) status = ttm_error_nomem(err);
  if (!status) status = ttm_terminal_deliver(&text, path, err);
  if (!status) status = tell(options, &entry, !ttm_baseline_find(old, name), err);
  ttm_buf_free(&text);
  ttm_baseline_entry_free(&entry);
  return status;
}

static int update_from_program(const ttm_options *options, const ttm_baseline *old, ttm_str name, ttm_error *err) {
  ttm_fit_series series = {0};
  int status = ttm_fit_program(&series, options, err);
  if (!status) status = check_boards(&series.cases, err);
  if (!status) status = write_entry(options, old, NULL, &series.cases, name, err);
  ttm_fit_series_free(&series);
  return status;
}

static int update_from_input(const ttm_options *options, const ttm_baseline *old, ttm_str name, ttm_error *err) {
  ttm_subject subject = {0};
  ttm_fit_cases cases = {0};
  int status = ttm_check_output(options->input[1], options->input[0], err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[1], false, err);
  if (!status) status = ttm_judge_measure(options, subject.profile, err);
  if (!status && options->given[TTM_OPTION_BOARD]) status = fit_boards(&cases, options, subject.findings, err);
  if (!status) status = write_entry(options, old, subject.findings, &cases, name, err);
  ttm_fit_cases_free(&cases);
  ttm_subject_free(&subject);
  return status;
}

static int run_update(const ttm_options *options, ttm_error *err) {
  ttm_baseline old = {0};
  ttm_buf name = {0};
  int status = ttm_judgement_name(&name, options, options->rest ? NULL : options->input[1], err);
  if (!status) status = read_file(&old, options->input[0], err);
  if (!status)
    status = (options->rest ? update_from_program : update_from_input)(options, &old, ttm_str_of(name.at), err);
  ttm_buf_free(&name);
  ttm_baseline_free(&old);
  return status;
}

const ttm_command ttm_command_baseline_update = {
    .name = "baseline update",
    .synopsis = "baseline update FILE INPUT | -- COMMAND",
    .help = "take what a model needs now for its baseline",
    .more =
        "FILE is JSON that is kept in the repository, with an entry per model: the peak of each memory, the operations "
        "and live tensors that make it. 'analyze', 'diff' and 'fit' compare with it (--baseline FILE). The entry takes "
        "the name of INPUT, or --name. Tolerances, notes and the entries of other models stay as they are.\n"
        "--board also takes down what INPUT needs on other boards, for 'fit'; with a COMMAND the program runs on a "
        "mock "
        "board of each.",
    .examples =
        "ttmem baseline update memory.json nightly.log --name llama\n"
        "ttmem analyze nightly.log --baseline memory.json --name llama",
    .min_inputs = 2,
    .max_inputs = 2,
    .needs = "a file and an input: ttmem baseline update FILE INPUT",
    .logs = 2,
    .rest = TTM_REST_BEHIND_DASHES,
    .takes = TTM_TAKES(TTM_OPTION_NAME, TTM_OPTION_BOARD, TTM_OPTION_ALLOW_PARTIAL, TTM_OPTION_THREADS,
                       TTM_OPTION_MAX_MEMORY, TTM_OPTION_QUIET),
    .run = run_update,
};

/* ---- show --------------------------------------------------------------------------------------------------------- */

static void put_tolerance(ttm_doc *doc, const ttm_tolerance *t) {
  if (t->mb > 0)
    ttm_doc_cell(doc, "%g MB", t->mb);
  else
    ttm_doc_cell(doc, "%g %%", t->given ? t->percent : 1.0);
}

static void put_entry(ttm_doc *doc, const ttm_baseline_entry *e) {
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    const ttm_baseline_peak *peak = &e->peak[m];
    if (!peak->known) continue;
    ttm_doc_cell_text(doc, e->name);
    ttm_doc_cell(doc, "%s", ttm_memory_name(m));
    ttm_doc_cell_mb(doc, ttm_mb(peak->milli));
    ttm_doc_cell(doc, "%.*s%s", TTM_ARGS(peak->basis), peak->at_least ? ", lower bound" : "");
    put_tolerance(doc, &e->tolerance[m]);
    ttm_doc_cell(doc, "%.*s %.*s", TTM_ARGS(peak->op), TTM_ARGS(peak->at));
  }
}

/* What it takes of the boards that were asked for. */
static void put_boards(ttm_doc *doc, const ttm_baseline_entry *e) {
  for (size_t i = 0; i < e->boards.n; i++) {
    const ttm_baseline_board *board = &e->boards.at[i];
    for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++) {
      ttm_doc_cell_text(doc, e->name);
      ttm_doc_cell(doc, "%s on %.*s", ttm_memory_name(m), TTM_ARGS(board->board));
      ttm_doc_cell_mb(doc, ttm_mb(board->milli[m]));
      ttm_doc_cell(doc, "%s%s", board->fits ? "fits" : "does not fit", board->at_least ? ", lower bound" : "");
      put_tolerance(doc, &e->tolerance[m]);
      ttm_doc_cell(doc, "-");
    }
  }
}

static int run_show(const ttm_options *options, ttm_error *err) {
  static const char *const heads[] = {"Entry", "Memory", ">MB per bank", "Basis", ">Tolerance", "Raised by"};
  ttm_baseline baseline;
  ttm_output_form form;
  ttm_buf text = {0};
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = ttm_baseline_read(&baseline, options->input[0], err);
  if (status) return status;
  ttm_doc doc = ttm_output_doc(form, options, &text);
  if (!baseline.entries.n) ttm_doc_line(&doc, "The baseline has no entries.");
  if (baseline.entries.n) ttm_doc_table(&doc, heads, 6);
  for (size_t i = 0; i < baseline.entries.n; i++)
    put_entry(&doc, &baseline.entries.at[i]), put_boards(&doc, &baseline.entries.at[i]);
  ttm_doc_table_end(&doc);
  text.failed |= ttm_doc_end(&doc) != TTM_OK;
  ttm_baseline_free(&baseline);
  return ttm_terminal_print(&text, err);
}

const ttm_command ttm_command_baseline_show = {
    .name = "baseline show",
    .synopsis = "baseline show FILE",
    .help = "the peaks and tolerances of a baseline",
    .examples = "ttmem baseline show memory.json",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a baseline: ttmem baseline show FILE",
    .takes = TTM_TAKES(TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_COLOR),
    .run = run_show,
};
