/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/check.h"

#include "analyze/tell.h"

void ttm_checks_free(ttm_checks *all) {
  ttm_vec_free(&all->at);
  ttm_statements_free(&all->said);
  *all = (ttm_checks){0};
}

size_t ttm_checks_count(const ttm_checks *all, ttm_check_outcome outcome) {
  size_t n = 0;
  for (size_t i = 0; i < all->at.n; i++) n += all->at.at[i].outcome == outcome;
  return n;
}

/* A line of the program is a place that its author can open; those of a recording are not. */
static void find_place(const ttm_teller *t, uint32_t op, ttm_check *out) {
  const ttm_profile *p = t->p;
  if (!p) return;
  bool recording = p->capture.recording.is;
  if (recording && op < p->ops.n && ttm_words_source_place(ttm_words_location(p, op), &out->file, &out->line)) return;
  out->file = ttm_profile_string(p, p->path);
  if (ttm_str_eq(out->file, TTM_LIT("-"))) out->file.n = 0;
  if (!recording) out->line = t->out->at.at[out->statement].line;
}

void ttm_check_add(ttm_checks *all, ttm_teller *t, ttm_check_outcome outcome, uint32_t op, const char *name, ...) {
  ttm_buf text = {0};
  va_list args;
  va_start(args, name);
  ttm_buf_vprintf(&text, name, args);
  va_end(args);
  const char *kept = text.failed ? NULL : ttm_arena_copy(&all->said.arena, ttm_buf_str(&text));
  ttm_check check = {.name = {kept, text.n}, .outcome = outcome, .file = TTM_LIT("")};
  t->failed |= !kept || !all->said.at.n;
  if (!t->failed) {
    check.statement = (uint32_t)all->said.at.n - 1;
    find_place(t, op, &check);
    t->failed = ttm_vec_push(&all->at, check) != TTM_OK;
  }
  ttm_buf_free(&text);
}

static int end(ttm_teller *t) {
  t->failed |= t->text.failed;
  ttm_buf_free(&t->text);
  return t->failed ? TTM_ENOMEM : TTM_OK;
}

/* The same statement in our list, without what stands in lists of its own. */
static void repeat(ttm_teller *t, const ttm_statement *s) {
  ttm_statement *copy = ttm_tell(t, s->id, s->topic, s->severity, s->basis);
  if (!copy) return;
  copy->headline = s->headline;
  copy->detail = s->detail;
  copy->line = s->line;
  copy->operation = s->operation;
}

/* ---- Failures and leaks ------------------------------------------------------------------------------------------- */

/* The question that a statement answers with no: growth and unsafe traces will fail, anything else has. TTM_TOPICS: none. */
static ttm_topic check_of(const ttm_statement *s) {
  bool will = s->topic == TTM_TOPIC_GROWTH || s->topic == TTM_TOPIC_TRACES;
  if (s->severity == TTM_SEVERITY_FAILURE || (will && s->severity == TTM_SEVERITY_WARNING))
    return will ? s->topic : TTM_TOPIC_FAILURE;
  return TTM_TOPICS;
}

static void check_topic(ttm_checks *all, ttm_teller *t, ttm_topic topic, const char *name) {
  const ttm_statements *said = &t->f->statements;
  const ttm_statement *fine = NULL;
  uint32_t found = 0;
  for (size_t i = 0; i < said->at.n; i++) {
    const ttm_statement *s = &said->at.at[i];
    if (check_of(s) == TTM_TOPICS && s->topic == topic && !fine) fine = s;
    if (check_of(s) != topic) continue;
    repeat(t, s);
    uint32_t op = s->operation == UINT32_MAX ? TTM_NONE : ttm_findings_op(t->f, s->operation);
    found++ ? ttm_check_add(all, t, TTM_FAILED, op, "%s %u", name, found)
            : ttm_check_add(all, t, TTM_FAILED, op, "%s", name);
  }
  if (found || !fine) return;
  repeat(t, fine);
  ttm_check_add(all, t, fine->severity == TTM_SEVERITY_UNKNOWN ? TTM_SKIPPED : TTM_PASSED, TTM_NONE, "%s", name);
}

int ttm_check_findings(ttm_checks *all, const ttm_findings *f) {
  ttm_teller t = {.f = f, .p = f->profile, .out = &all->said};
  check_topic(all, &t, TTM_TOPIC_FAILURE, "failures");
  check_topic(all, &t, TTM_TOPIC_GROWTH, "growth");
  check_topic(all, &t, TTM_TOPIC_TRACES, "traces");
  return end(&t);
}

int ttm_check_partial(ttm_checks *all, ttm_str why, bool allowed) {
  ttm_teller t = {.out = &all->said};
  ttm_tell(&t, "input.partial", TTM_TOPIC_INPUT, allowed ? TTM_SEVERITY_NOTE : TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
  if (allowed)
    ttm_headline(&t, "a part of the run was judged: {}", TTM_TEXT(why));
  else
    ttm_headline(&t, "the input is not whole, so it was not judged: {}; --allow-partial judges what is there",
                 TTM_TEXT(why));
  ttm_check_add(all, &t, allowed ? TTM_PASSED : TTM_UNJUDGED, TTM_NONE, "whole input");
  return end(&t);
}

/* ---- Budgets ------------------------------------------------------------------------------------------------------ */

/* "exceeds the budget of dram:90% by 89.29 MB", and the basis of `used` in it. True when it holds. */
static bool say_budget(ttm_teller *t, const ttm_budget *b, double used, double capacity) {
  double limit = b->percent ? b->limit * capacity / 100 : b->limit;
  if (used <= limit) ttm_say(&t->text, t->f, " is within the budget of {}", TTM_WORDS(b->text));
  if (used <= limit) return true;
  ttm_say(&t->text, t->f, " exceeds the budget of {} by {}", TTM_WORDS(b->text),
          TTM_MB_OF((uint64_t)((used - limit) * TTM_MB + 0.5)));
  return false;
}

/* What a bank holds, in MB; 0 when neither a state nor the message of the failing operation has it. */
static double bank_mb(const ttm_peak *peak, const ttm_profile *p) {
  if (peak->level.total) return ttm_mb(peak->level.total);
  uint64_t told = peak->in_op_bytes ? p->incidents.at[peak->in_op_incident].what.bank_size : TTM_UNKNOWN;
  return told == TTM_UNKNOWN ? 0 : ttm_mib(told);
}

static void say_cause(ttm_teller *t, const ttm_peak *peak, bool inside) {
  if (inside)
    ttm_say(&t->text, t->f, ", inside the failing operation (log line {})",
            TTM_LINE(t->p->incidents.at[peak->in_op_incident].line));
  else if (peak->cause != TTM_NONE)
    ttm_say(&t->text, t->f, ", raised by {}", TTM_OP(peak->cause));
}

/* False when the log does not tell. What a failing operation held counts too: it may be known from the message alone. */
static bool check_peak(ttm_checks *all, ttm_teller *t, const ttm_budget *b, ttm_memory m, const ttm_peak *peak) {
  bool inside = peak->in_op_bytes > 0, several = t->f->devices[m].n > 1 && t->p->kind != TTM_LOG_CAPTURE;
  double used = inside ? ttm_mib(peak->in_op_bytes) : ttm_mb(peak->level.allocated), capacity = bank_mb(peak, t->p);
  if ((!inside && !peak->known) || (b->percent && !(capacity > 0))) return false;
  ttm_statement *s = ttm_tell(t, "budget.met", TTM_TOPIC_PEAK, TTM_SEVERITY_OK,
                              inside          ? TTM_MEASURED
                              : peak->derived ? TTM_DERIVED
                                              : ttm_words_state_basis(t->p, peak->state));
  ttm_say(&t->text, t->f, "{} peak {}", TTM_WORDS(ttm_memory_name(m)), TTM_WORDS(peak->at_least ? "≥ " : ""));
  ttm_put_mb(&t->text, used);
  if (capacity > 0) ttm_buf_puts(&t->text, " of "), ttm_put_mb(&t->text, capacity);
  ttm_buf_puts(&t->text, " MB per bank");
  if (capacity > 0) ttm_say(&t->text, t->f, " ({})", TTM_SHARE(used, capacity));
  if (several)
    ttm_say(&t->text, t->f, " on the device opened in log line {}", TTM_LINE(t->p->states.at[peak->opened].line));
  bool met = say_budget(t, b, used, capacity);
  if (!met) say_cause(t, peak, inside);
  ttm_tell_headline(t);
  if (!met && s) s->id = "budget.exceeded", s->severity = TTM_SEVERITY_FAILURE;
  uint32_t op = inside ? t->p->incidents.at[peak->in_op_incident].op : peak->cause;
  ttm_tell_op(t, op);
  if (inside) ttm_tell_line(t, t->p->incidents.at[peak->in_op_incident].line);
  ttm_tell_quantity(t, "peak_per_bank", "MB", used);
  ttm_check_add(all, t, met ? TTM_PASSED : TTM_FAILED, op, "budget %s%s%s", b->text,
                b->memory == TTM_MEMORIES ? " " : "", b->memory == TTM_MEMORIES ? ttm_memory_name(m) : "");
  return true;
}

int ttm_check_budget(ttm_checks *all, const ttm_findings *f, const ttm_budget *b) {
  ttm_teller t = {.f = f, .p = f->profile, .out = &all->said};
  bool told = false;
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    bool meant = b->memory == TTM_MEMORIES ? m == TTM_DRAM || m == TTM_L1 : b->memory == m;
    const ttm_device_peaks *devices = &f->devices[m];
    if (meant && !devices->n) told |= check_peak(all, &t, b, m, &f->peak[m]);
    for (uint32_t i = 0; meant && i < devices->n; i++) told |= check_peak(all, &t, b, m, &devices->at[i]);
  }
  if (!told) {
    ttm_tell(&t, "budget.unknown", TTM_TOPIC_PEAK, TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
    ttm_headline(&t, "the log has no memory state for the budget of {}; 'ttmem doctor' shows why", TTM_WORDS(b->text));
    ttm_check_add(all, &t, TTM_UNJUDGED, TTM_NONE, "budget %s", b->text);
  }
  return end(&t);
}

/* ---- Two logs ----------------------------------------------------------------------------------------------------- */

int ttm_check_diff(ttm_checks *all, const ttm_diff *d) {
  const ttm_findings *f = d->f[1];
  ttm_teller t = {.f = f, .p = f->profile, .out = &all->said};
  for (size_t i = 0; i < d->statements.at.n; i++) {
    const ttm_statement *s = &d->statements.at.at[i];
    if (!strcmp(s->id, "diff.worse") || !strcmp(s->id, "diff.not-worse")) {
      repeat(&t, s);
      uint32_t op = s->operation == UINT32_MAX ? TTM_NONE : ttm_findings_op(f, s->operation);
      ttm_check_add(all, &t, s->severity == TTM_SEVERITY_OK ? TTM_PASSED : TTM_FAILED, op, "change");
    }
  }
  return end(&t);
}

/* ---- Boards ------------------------------------------------------------------------------------------------------- */

int ttm_check_fit(ttm_checks *all, const ttm_fit_cases *cases) {
  static const ttm_check_outcome outcomes[] = {
      [TTM_FITS_UNKNOWN] = TTM_UNJUDGED, [TTM_FITS_NOT] = TTM_FAILED, [TTM_FITS] = TTM_PASSED};
  ttm_teller t = {.out = &all->said};
  for (size_t i = 0; i < cases->at.n; i++) {
    const ttm_statement *s = &cases->said.at.at[i];
    ttm_str board = cases->at.at[i].board;
    repeat(&t, s);
    ttm_headline(&t, "{}: {}", TTM_TEXT(board), TTM_TEXT(s->headline));
    ttm_check_add(all, &t, outcomes[cases->at.at[i].fits], TTM_NONE, "fits %.*s", TTM_ARGS(board));
  }
  return end(&t);
}

static void check_board(ttm_checks *all, ttm_teller *t, const ttm_fit_case *c, const ttm_budget *b, ttm_memory m) {
  bool dram = m == TTM_DRAM;
  uint64_t peak = dram ? c->dram_peak : c->l1_peak, capacity = dram ? c->dram_bank : c->l1_core;
  if (!c->measured || !capacity) {
    ttm_tell(t, "budget.unknown", TTM_TOPIC_PEAK, TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
    ttm_headline(t, "{}: there is no {} peak for the budget of {}", TTM_TEXT(c->board), TTM_WORDS(ttm_memory_name(m)),
                 TTM_WORDS(b->text));
    return ttm_check_add(all, t, TTM_UNJUDGED, TTM_NONE, "budget %s %s on %.*s", b->text, ttm_memory_name(m),
                         TTM_ARGS(c->board));
  }
  ttm_statement *s =
      ttm_tell(t, "budget.met", TTM_TOPIC_PEAK, TTM_SEVERITY_OK, c->exit_status < 0 ? TTM_DERIVED : TTM_MEASURED);
  ttm_say(&t->text, t->f, "{}: {} peak {}{} of {} per {} ({})", TTM_TEXT(c->board), TTM_WORDS(ttm_memory_name(m)),
          TTM_WORDS((dram ? c->dram_least : c->l1_least) ? "≥ " : ""), TTM_NUMBER(peak), TTM_MB_OF(capacity),
          TTM_WORDS(dram ? "bank" : "core"), TTM_SHARE(peak, capacity));
  bool met = say_budget(t, b, ttm_mib(peak), ttm_mib(capacity));
  ttm_tell_headline(t);
  if (!met && s) s->id = "budget.exceeded", s->severity = TTM_SEVERITY_FAILURE;
  ttm_check_add(all, t, met ? TTM_PASSED : TTM_FAILED, TTM_NONE, "budget %s %s on %.*s", b->text, ttm_memory_name(m),
                TTM_ARGS(c->board));
}

int ttm_check_fit_budget(ttm_checks *all, const ttm_fit_cases *cases, const ttm_budget *b) {
  ttm_teller t = {.out = &all->said};
  for (size_t i = 0; i < cases->at.n; i++)
    for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++)
      if (b->memory == TTM_MEMORIES || b->memory == m) check_board(all, &t, &cases->at.at[i], b, m);
  return end(&t);
}
