/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem ask LOG --op N | --tensor NAME | --range A-B | --ops NAME | --at N | --at-peak | --findings */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "report/export/export.h"
#include "report/files/statements_json.h"
#include "report/run/ask.h"
#include "report/run/statements.h"

enum { BEYOND = INT32_MAX }; /* of any log: larger numbers are cut to it */

static bool read_number(const char **text, uint32_t *out) {
  char *end;
  if (**text < '0' || **text > '9') return false;
  unsigned long n = strtoul(*text, &end, 10);
  *text = end;
  *out = n < BEYOND ? (uint32_t)n : BEYOND;
  return true;
}

static int memory_of(const char *name) {
  if (!name) return TTM_ASK_BOTH;
  return strcmp(name, "l1") ? TTM_DRAM : TTM_L1;
}

/* The memory whose peak is meant: the one to speak of first, unless nothing is ever in it. */
static ttm_memory fullest(const ttm_findings *f) {
  ttm_memory first = ttm_findings_memory(f, 0);
  return f->peak[first].level.allocated ? first : ttm_findings_memory(f, 1);
}

/* "12", "#12", "line:4711", "peak". */
static int answer_at(const char *text, const ttm_ask *ask, ttm_error *err) {
  const ttm_findings *f = ask->f;
  uint32_t n;
  if (!strcmp(text, "peak")) return ttm_ask_at(ask, ttm_instant_of_peak(f, fullest(f)), err);
  bool line = !strncmp(text, "line:", 5);
  const char *digits = line ? text + 5 : *text == '#' ? text + 1 : text;
  if (!read_number(&digits, &n) || *digits)
    return ttm_error_set(err, TTM_EUSAGE, "option '--at' takes an operation's index, line:N or peak, not '%s'", text);
  if (line) return ttm_ask_at(ask, ttm_instant_of_line(f->profile, n), err);
  uint32_t op = n < f->elements ? ttm_findings_op(f, n) : TTM_NONE;
  if (op == TTM_NONE)
    return ttm_error_set(err, TTM_ENODATA, "there is no operation %s: the log has %u, counted from 0", text,
                         f->elements);
  return ttm_ask_at(ask, ttm_instant_of_op(f->profile, op), err);
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* For programs the rows that the answer is about go with it, and all statements with --findings. */
static int put_rows(const ttm_options *options, const ttm_findings *f, const ttm_ask_rows *rows, ttm_buf *out,
                    ttm_error *err) {
  ttm_json j = {.out = out};
  int status = TTM_OK;
  ttm_buf_puts(out, ",\n\"rows\":");
  ttm_json_put_sections(&j, NULL);
  if (rows->operations.n)
    status = ttm_export_json_rows(f, TTM_TABLE_OPERATIONS, rows->operations.at, rows->operations.n, &j, err);
  if (rows->tensors.n) qsort(rows->tensors.at, rows->tensors.n, sizeof *rows->tensors.at, by_number);
  if (rows->tensors.n && !status)
    status = ttm_export_json_rows(f, TTM_TABLE_TENSORS, rows->tensors.at, rows->tensors.n, &j, err);
  if (options->given[TTM_OPTION_FINDINGS]) ttm_json_put_statements(&j, &f->statements);
  ttm_json_end(&j);
  return j.misused && !status ? ttm_error_nomem(err) : status;
}

static int answer(const ttm_options *options, const ttm_findings *f, ttm_doc *doc, ttm_ask_rows *rows, ttm_error *err) {
  const char *op = options->value[TTM_OPTION_OP], *range = options->value[TTM_OPTION_RANGE], *text;
  uint32_t first, last;
  ttm_ask ask = {.f = f, .doc = doc, .per_chip = options->per_chip, .whole = ttm_doc_is_data(doc), .rows = rows};
  if (options->given[TTM_OPTION_AT_PEAK]) return ttm_ask_peak(&ask, memory_of(options->value[TTM_OPTION_AT_PEAK]), err);
  if (options->given[TTM_OPTION_AT]) return answer_at(options->value[TTM_OPTION_AT], &ask, err);
  if (options->given[TTM_OPTION_FINDINGS]) return ttm_doc_statements(doc, &f->statements), TTM_OK;
  if (options->given[TTM_OPTION_OPS]) return ttm_ask_find(&ask, ttm_str_of(options->value[TTM_OPTION_OPS]), err);
  if (options->given[TTM_OPTION_TENSOR])
    return ttm_ask_tensor(&ask, ttm_str_of(options->value[TTM_OPTION_TENSOR]), err);
  text = op ? op : range;
  if (*text == '#') text++;
  if (!read_number(&text, &first) || (op && *text))
    return ttm_error_set(
        err, TTM_EUSAGE,
        op ? "option '--op' takes an operation's index, not '%s'" : "option '--range' takes A-B, not '%s'",
        op ? op : range);
  if (op && first == BEYOND) return ttm_error_set(err, TTM_EUSAGE, "there is no operation %s", op);
  if (op) return ttm_ask_op(&ask, first, err);
  if (*text++ != '-' || !read_number(&text, &last) || *text)
    return ttm_error_set(err, TTM_EUSAGE, "option '--range' takes two indices, A-B, not '%s'", range);
  return ttm_ask_range(&ask, first, last, err);
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_subject subject = {0};
  ttm_buf text = {0};
  size_t tensors = options->many_count; /* --tensor is the one option of ask that may be repeated, elsewhere */
  int questions = options->given[TTM_OPTION_OP] + options->given[TTM_OPTION_TENSOR] + options->given[TTM_OPTION_RANGE] +
                  options->given[TTM_OPTION_OPS] + options->given[TTM_OPTION_AT] + options->given[TTM_OPTION_AT_PEAK] +
                  options->given[TTM_OPTION_FINDINGS];
  ttm_output_form form;
  ttm_ask_rows rows = {0};
  if (questions != 1 || tensors > 1) return ttm_error_set(err, TTM_EUSAGE, "ask needs %s", ttm_command_ask.needs);
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[0], false, err);
  ttm_doc doc = ttm_output_doc(form, options, &text);
  if (!status) status = answer(options, subject.findings, &doc, &rows, err);
  if (!status && form == TTM_OUTPUT_JSON) status = put_rows(options, subject.findings, &rows, &doc.data.more, err);
  ttm_vec_free(&rows.operations);
  ttm_vec_free(&rows.tensors);
  if (ttm_doc_end(&doc) && !status) status = ttm_error_nomem(err);
  if (!status) status = ttm_terminal_print(&text, err);
  ttm_buf_free(&text);
  ttm_subject_free(&subject);
  return status;
}

const ttm_command ttm_command_ask = {
    .name = "ask",
    .synopsis = "ask LOG --op N|--ops O|--tensor T|--range A-B|--at N|--findings",
    .help = "one detail in a few lines, for people and agents",
    .examples =
        "ttmem ask model_profile.log --at-peak\nttmem ask model_profile.log --op 7\nttmem ask model_profile.log --at 7",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs =
        "a log and one question: ttmem ask LOG --op N | --ops NAME | --tensor NAME | --range A-B | --at N | --at-peak "
        "| "
        "--findings",
    .logs = 1,
    .reports = true,
    .takes =
        TTM_TAKES(TTM_OPTION_OP, TTM_OPTION_OPS, TTM_OPTION_TENSOR, TTM_OPTION_RANGE, TTM_OPTION_AT, TTM_OPTION_AT_PEAK,
                  TTM_OPTION_FINDINGS, TTM_OPTION_DECISION_TRACE, TTM_OPTION_TIMES, TTM_OPTION_PER, TTM_OPTION_JSON,
                  TTM_OPTION_CSV, TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
