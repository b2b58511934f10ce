/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem --llm --logfile LOG [-o FILE] */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "base/out_file.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/run/text.h"
#include "store/report_dir.h"
#include "store/report_find.h"

static int make_report(const ttm_options *options, ttm_doc_form form, ttm_buf *text, ttm_error *err) {
  const char *log = options->input[0];
  ttm_subject subject;
  ttm_buf name = {0};
  int status = ttm_subject_read(&subject, options, log, false, err);
  if (!status) {
    ttm_report_name(&name, log);
    status = ttm_llm_write(subject.findings, ttm_buf_str(&name), form, options->per_chip, text);
    if (status) ttm_error_nomem(err);
  }
  ttm_buf_free(&name);
  ttm_subject_free(&subject);
  return status;
}

/* The answer that 'ttmem analyze' kept; only what the log alone tells, in the usual form. */
static bool find_report(const ttm_options *options, ttm_doc_form form, ttm_buf *text) {
  bool usual = form == TTM_DOC_MARKDOWN && !options->per_chip && !options->given[TTM_OPTION_DECISION_TRACE] &&
               !options->given[TTM_OPTION_TIMES];
  return usual && ttm_report_kept_markdown(text, options->input[0]);
}

/* 0 for no limit. */
static int read_tokens(const char *text, uint64_t *out, ttm_error *err) {
  ttm_str rest = ttm_str_of(text ? text : "");
  *out = 0;
  if (!text || (ttm_str_take_u64(&rest, out) && !rest.n && *out >= 100)) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "option '--max-tokens' takes a number of at least 100, not '%s'", text);
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_buf text = {0};
  ttm_output_form form;
  uint64_t tokens = 0;
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = read_tokens(options->value[TTM_OPTION_MAX_TOKENS], &tokens, err);
  ttm_doc_form as = form == TTM_OUTPUT_CSV ? TTM_DOC_CSV : form == TTM_OUTPUT_JSON ? TTM_DOC_JSON : TTM_DOC_MARKDOWN;
  if (!status && tokens && as != TTM_DOC_MARKDOWN)
    status = ttm_error_set(err, TTM_EUSAGE, "option '--max-tokens' goes with markdown, not with --json or --csv");
  if (!status && !find_report(options, as, &text)) status = make_report(options, as, &text, err);
  if (!status && tokens) ttm_llm_bound(&text, tokens);
  return ttm_output_deliver(options, &text, status, err);
}

const ttm_command ttm_command_llm = {
    .name = "--llm",
    .synopsis = "--llm --logfile LOG [-o OUT]",
    .help = "markdown report for people and agents",
    .more =
        "Standard output is the report and nothing else. Every number names its log line. LOG may be compressed "
        "(.gz, .zst), or '-' for standard input.",
    .examples = "ttmem --llm --logfile model_profile.log -o report.md\nttmem --llm model_profile.log --max-tokens 4000",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a log: ttmem --llm --logfile LOG ('-' reads standard input)",
    .logs = 1,
    .takes = TTM_TAKES(TTM_OPTION_LLM, TTM_OPTION_LOGFILE, TTM_OPTION_OUTPUT, TTM_OPTION_MAX_TOKENS, TTM_OPTION_PER,
                       TTM_OPTION_DECISION_TRACE, TTM_OPTION_TIMES, TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_THREADS,
                       TTM_OPTION_MAX_MEMORY, TTM_OPTION_QUIET),
    .run = run,
};
