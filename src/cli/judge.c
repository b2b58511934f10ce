/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/judge.h"

#include "analyze/words.h"

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

int ttm_judge_options(const ttm_options *options, ttm_error *err) {
  int status = TTM_OK;
  budget ignored;
  for (size_t i = 0; i < options->many_count && !status; i++) {
    if (options->many[i].option == TTM_OPTION_BUDGET) status = read_budget(&ignored, options->many[i].value, err);
  }
  return status;
}

/* What a bank holds, in MB; 0 when neither a state nor the message of the failing operation tells. */
static double bank_mb(const ttm_peak *peak, const ttm_profile *p) {
  if (peak->level.total) return ttm_mb(peak->level.total);
  uint64_t told = peak->in_op_bytes ? p->incidents.at[peak->in_op_incident].what.bank_size : TTM_UNKNOWN;
  return told == TTM_UNKNOWN ? 0 : ttm_mib(told);
}

/* False when the log does not tell. What a failing operation held counts too. */
static bool judge_peak(const budget *b, const ttm_findings *f, ttm_memory memory, ttm_buf *out) {
  const ttm_peak *peak = &f->peak[memory];
  const ttm_profile *p = f->profile;
  bool inside = peak->in_op_bytes > 0; /* known from the message alone: there may be no state at all */
  double mb = inside ? ttm_mib(peak->in_op_bytes) : ttm_mb(peak->level.allocated), of = bank_mb(peak, p);
  if ((!inside && !peak->known) || (b->percent && !(of > 0))) return false;
  if (b->percent ? mb * 100 <= b->limit * of : mb <= b->limit) return true;
  ttm_buf_printf(out, "%s %.2f MB per bank, ", ttm_memory_name(memory), mb);
  if (of > 0) ttm_buf_printf(out, "%.1f%% of %.2f, ", mb * 100 / of, of);
  ttm_buf_printf(out, "exceeds the budget of %s", b->text);
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
  return ttm_error_set(err, TTM_ENODATA, "the log has no memory state for the budget of %s; 'ttmem doctor' shows why",
                       b->text);
}

static void judge_findings(const ttm_findings *f, ttm_buf *out) {
  const ttm_profile *p = f->profile;
  for (size_t i = 0; i < f->incidents.n; i++) {
    ttm_words_incident(out, &p->incidents.at[i]);
    ttm_buf_printf(out, ", log line %u\n", p->incidents.at[i].line);
  }
  for (size_t i = 0; i < f->leaks.n; i++)
    ttm_buf_printf(out, "leak: %.3f MB per bank more after every run, %u runs\n", ttm_mb(f->leaks.at[i].per_run),
                   f->leaks.at[i].runs_seen);
}

int ttm_judge(const ttm_options *options, const ttm_findings *f, ttm_buf *out, ttm_error *err) {
  int status = TTM_OK;
  if (options->given[TTM_OPTION_CHECK]) judge_findings(f, out);
  for (size_t i = 0; i < options->many_count; i++) {
    budget b;
    if (options->many[i].option != TTM_OPTION_BUDGET) continue;
    int wrong = read_budget(&b, options->many[i].value, err);
    if (!wrong) wrong = judge_budget(&b, f, out, err);
    if (wrong) status = wrong; /* the others are judged all the same */
  }
  return out->failed ? ttm_error_nomem(err) : status;
}
