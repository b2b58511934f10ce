/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/judge.h"

#include <stdlib.h>
#include <strings.h>

#include "report/words.h"

/* "dram:90%", "l1:1.2MB", "90%" (of DRAM and L1). */
typedef struct budget {
  const char *text;
  ttm_memory memory; /* TTM_MEMORIES: DRAM and L1 */
  double limit;
  bool percent; /* of a bank, or MB of it */
} budget;

static ttm_memory memory_of(const char *name, size_t n) {
  int m = 0;
  while (m < TTM_MEMORIES) {
    const char *known = ttm_memory_name((ttm_memory)m);
    if (strlen(known) == n && !strncasecmp(known, name, n)) break;
    m++;
  }
  return (ttm_memory)m;
}

static int read_budget(budget *out, const char *text, ttm_error *err) {
  const char *colon = strchr(text, ':'), *number = colon ? colon + 1 : text;
  size_t digits = strspn(number, "0123456789."); /* strtod alone also takes signs, exponents, "inf" and "0x10" */
  const char *unit = number + digits;
  char *end = NULL;
  *out = (budget){text, TTM_MEMORIES, digits ? strtod(number, &end) : 0, false};
  if (colon) out->memory = memory_of(text, (size_t)(colon - text));
  bool fine = end == unit && out->limit > 0 && (!colon || out->memory != TTM_MEMORIES);
  out->percent = fine && !strcmp(unit, "%");
  if (fine && (out->percent || (colon && !strcasecmp(unit, "MB")))) return TTM_OK;
  return ttm_error_set(
      err, TTM_EUSAGE,
      "option '--budget' takes 90%%, dram:90%% or dram:900MB (of a bank; dram, l1, l1_small or trace), not '%s'", text);
}

int ttm_judge_options(const ttm_options *options, ttm_error *err) {
  int status = TTM_OK;
  budget ignored;
  for (size_t i = 0; i < options->many_count && !status; i++) {
    if (options->many[i].option == TTM_OPTION_BUDGET) status = read_budget(&ignored, options->many[i].value, err);
  }
  return status;
}

/* False when the log does not tell. What a failing operation held counts too. */
static bool judge_peak(const budget *b, const ttm_findings *f, ttm_memory memory, ttm_buf *out) {
  const ttm_peak *peak = &f->peak[memory];
  const ttm_profile *p = f->profile;
  if (!peak->known || (b->percent && !peak->level.total)) return false;
  bool inside = peak->in_op_bytes > 0;
  double mb = inside ? (double)peak->in_op_bytes / TTM_MB : peak->level.allocated / 1000.0,
         of = peak->level.total / 1000.0;
  if (b->percent ? mb * 100 <= b->limit * of : mb <= b->limit) return true;
  ttm_buf_printf(out, "%s %.2f MB/bank, ", ttm_memory_name(memory), mb);
  if (of > 0) ttm_buf_printf(out, "%.1f%% of %.2f, ", mb * 100 / of, of);
  ttm_buf_printf(out, "is over the budget of %s", b->text);
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
    if (meant && judge_peak(b, f, (ttm_memory)m, out)) told = true;
  }
  if (told) return TTM_OK;
  return ttm_error_set(err, TTM_ENODATA,
                       "the log has no memory state to hold to the budget of %s; 'ttmem doctor' says why", b->text);
}

static void judge_findings(const ttm_findings *f, ttm_buf *out) {
  const ttm_profile *p = f->profile;
  for (size_t i = 0; i < f->incidents.n; i++) {
    ttm_words_incident(out, &p->incidents.at[i]);
    ttm_buf_printf(out, ", log line %u\n", p->incidents.at[i].line);
  }
  for (size_t i = 0; i < f->leaks.n; i++)
    ttm_buf_printf(out, "%.3f MB/bank more after every run: a leak, %u runs seen\n",
                   (double)f->leaks.at[i].per_run / 1000, f->leaks.at[i].runs_seen);
}

int ttm_judge(const ttm_options *options, const ttm_findings *f, ttm_buf *out, ttm_error *err) {
  if (options->given[TTM_OPTION_CHECK]) judge_findings(f, out);
  for (size_t i = 0; i < options->many_count; i++) {
    budget b;
    if (options->many[i].option != TTM_OPTION_BUDGET) continue;
    int status = read_budget(&b, options->many[i].value, err);
    if (!status) status = judge_budget(&b, f, out, err);
    if (status) return status;
  }
  return out->failed ? ttm_error_nomem(err) : TTM_OK;
}
