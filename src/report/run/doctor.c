/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "analyze/words.h"
#include "profile/diagnose.h"

enum { COMMAND_COLUMN = 12, LONGEST = 1024 };

#define RUN_IT "ttmem run -- python3 model.py"

/* ---- The list ----------------------------------------------------------------------------------------------------- */

void ttm_doctor_say(ttm_doctor *d, const char *mark, const char *format, ...) {
  ttm_buf text = {0};
  va_list args;
  va_start(args, format);
  ttm_buf_vprintf(&text, format, args);
  va_end(args);
  ttm_doc_labelled(&d->doc, mark, TTM_DOC_PLAIN, ttm_buf_str(&text));
  d->doc.out->failed |= text.failed;
  ttm_buf_free(&text);
}

void ttm_doctor_finding(ttm_doctor *d, const char *title, const char *why, const char *fix) {
  ttm_buf commands = {0};
  d->findings++;
  ttm_doc_labelled(&d->doc, "finding", TTM_DOC_BAD, ttm_str_of(title));
  if (why) ttm_doc_labelled(&d->doc, "", TTM_DOC_PLAIN, ttm_str_of(why));
  for (ttm_str rest = ttm_str_of(fix ? fix : ""); rest.n;) {
    ttm_buf_printf(&commands, "%*s", COMMAND_COLUMN, "");
    ttm_put_text(&commands, ttm_str_take_to(&rest, '\n'), SIZE_MAX, d->doc.utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII);
    ttm_buf_char(&commands, '\n');
  }
  ttm_doc_block(&d->doc, ttm_buf_str(&commands)); /* to be copied: never broken */
  d->doc.out->failed |= commands.failed;
  ttm_buf_free(&commands);
}

/* ---- The log ------------------------------------------------------------------------------------------------------ */

static const char *fix_of_kind(ttm_log_kind kind) {
  switch (kind) {
    case TTM_LOG_BLOCKS:
      return TTM_EXPORT_OPERATIONS;
    case TTM_LOG_OPS:
      return TTM_EXPORT_STATES "\nttrt run --memory-log-level operation program.ttnn";
    case TTM_LOG_SUBMIT:
      return TTM_EXPORT_STATES "\n" TTM_EXPORT_OPERATIONS;
    case TTM_LOG_INCIDENTS:
      return "cmake -G Ninja -B build -DTT_RUNTIME_DEBUG=ON\n" TTM_EXPORT_OPERATIONS "\n" TTM_EXPORT_STATES
             "\n" TTM_EXPORT_DUMPS;
    case TTM_LOG_NONE:
    case TTM_LOG_FULL:
    case TTM_LOG_CAPTURE:
    case TTM_LOG_LIVE:
      break;
  }
  return NULL;
}

static void check_kind(ttm_doctor *d, const ttm_profile *p) {
  const ttm_seen *seen = &p->seen;
  if (p->kind == TTM_LOG_FULL && !p->filled)
    ttm_doctor_say(d, "ok", "operation lines (%s) and memory states (%s)", TTM_COUNT_TEXT(seen->op_lines),
                   TTM_COUNT_TEXT(seen->blocks));
  else
    ttm_doctor_finding(d, ttm_words_kind(p), ttm_words_missing(p), fix_of_kind(p->filled ? TTM_LOG_SUBMIT : p->kind));
}

/* The first line of the dumps, or TTM_NONE. */
static uint32_t first_dump(const ttm_profile *p) {
  uint32_t first = TTM_NONE;
  for (size_t g = 0; g < p->graphs.n; g++) {
    for (size_t i = 0; i < p->graphs.at[g].dumps.n; i++) {
      uint32_t line = p->graphs.at[g].dumps.at[i].first_line;
      if (line < first) first = line;
    }
  }
  return first;
}

static void check_dumps(ttm_doctor *d, const ttm_profile *p) {
  const ttm_seen *seen = &p->seen;
  uint32_t first = first_dump(p), last_op = p->ops.n ? p->ops.at[p->ops.n - 1].line : TTM_NONE;
  if (!seen->dumps && !seen->loguru)
    ttm_doctor_finding(
        d, "no module dumps and no tt-xla lines",
        "Weight names and IR are unknown. Module dumps go to standard error: it was not logged together with standard "
        "output, or the program does not use tt-xla.",
        TTM_EXPORT_DUMPS "\n" TTM_RUN_AND_KEEP);
  else if (!seen->dumps)
    ttm_doctor_finding(d, "no module dumps", "Weight names and IR are unknown: TTXLA_LOGGER_LEVEL was not DEBUG.",
                       TTM_EXPORT_DUMPS);
  else if (first != TTM_NONE && last_op != TTM_NONE && first > last_op)
    ttm_doctor_finding(
        d, "standard error was appended to standard output",
        "Every module dump comes after the last operation, so programs cannot be matched with their modules. pytest "
        "does this unless it runs with -s.",
        RUN_IT "\n" TTM_RUN_AND_KEEP "\npytest -s test_model.py 2>&1 | tee model_profile.log");
  else
    ttm_doctor_say(d, "ok", "module dumps (%s)", TTM_COUNT_TEXT(seen->dumps));
}

static void check_end(ttm_doctor *d, const ttm_profile *p) {
  const ttm_seen *seen = &p->seen;
  char title[LONGEST];
  if (seen->cut)
    ttm_doctor_finding(d, "the log is truncated: it ends inside a line or a block",
                       "The program was killed, the disk was full, or it still runs. The complete part was used.",
                       RUN_IT);
  else if (seen->unfinished && !p->incidents.n) {
    snprintf(title, sizeof title, "programs that did not finish, without an error message (%s)",
             TTM_COUNT_TEXT(seen->unfinished));
    ttm_doctor_finding(d, title, "The program was killed or hung, or the error went to a stream that was not logged.",
                       RUN_IT);
  } else
    ttm_doctor_say(d, "ok", "the log is complete");
}

static void check_lines(ttm_doctor *d, const ttm_profile *p) {
  uint64_t torn = ttm_words_not_understood(&p->seen);
  char title[LONGEST];
  if (torn) {
    snprintf(title, sizeof title, "unusable lines or states (%s)", TTM_COUNT_TEXT(torn));
    ttm_doctor_finding(
        d, title,
        "Lines are torn when several processes write to one file, or when Python buffers its own "
        "output. The LLM report lists them with their log lines. One pipe for all processes keeps lines whole.",
        RUN_IT "\nmpirun --tag-output ... 2>&1 | tee model_profile.log");
  }
  if (p->seen.trace_cache)
    ttm_doctor_finding(
        d, "a trace was captured or replayed: replayed operations print nothing",
        "Their memory shows in the states around them; the operation that allocated it is unknown. Turn the compile "
        "option enable_trace off to see every operation in every run.",
        "torch_xla.set_custom_compile_options({\"enable_trace\": \"false\"})");
}

#define NO_LOG ": logger variables and TT_RUNTIME_DEBUG do not apply"

void ttm_doctor_log(ttm_doctor *d, const ttm_profile *p) {
  if (p->kind == TTM_LOG_CAPTURE) {
    ttm_doctor_say(d, "ok",
                   p->capture.schema         ? "a report of ttnn-visualizer" NO_LOG
                   : p->capture.recording.is ? "a recording of ttmem run" NO_LOG
                                             : "a graph capture of ttnn" NO_LOG);
    return;
  }
  if (p->kind == TTM_LOG_LIVE) {
    ttm_doctor_say(d, "ok", "samples of ttmem live" NO_LOG);
    return;
  }
  check_kind(d, p);
  if (p->kind != TTM_LOG_INCIDENTS) check_dumps(d, p);
  check_end(d, p);
  check_lines(d, p);
}
