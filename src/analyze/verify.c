/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/verify.h"

#include "analyze/tell.h"
#include "analyze/words.h"
#include "base/error.h"

static ttm_basis basis_of(const ttm_verified *v) {
  return v->after.predicted ? TTM_PREDICTED : v->after.estimate ? TTM_ESTIMATED : TTM_DERIVED;
}

/* ---- In words ------------------------------------------------------------------------------------------------------------ */

/* An operation of the input, or of the rest that a module tells; false when it is neither. */
static bool say_op(ttm_teller *t, const ttm_verified *v, const char *before, uint32_t op) {
  const ttm_rest_op *rest = ttm_ledger_rest_op(&v->ledger, op);
  if (op >= t->p->ops.n && !rest) return false;
  ttm_buf_puts(&t->text, before);
  rest ? ttm_say_module_op(&t->text, rest->program, rest->row) : ttm_say(&t->text, t->f, "{}", TTM_OP(op));
  return true;
}

static void tell_refusal(ttm_teller *t, const ttm_verified *v) {
  uint64_t shortfall;
  ttm_verdict verdict = ttm_verdict_of(&v->after.refusal, &shortfall);
  ttm_tell(t, "verify.answer", TTM_TOPIC_FAILURE, TTM_SEVERITY_FAILURE, basis_of(v));
  ttm_buf_puts(&t->text, "Does not fit: ");
  ttm_say_failure(&t->text, &v->after.refusal, verdict, shortfall);
  say_op(t, v, ", in ", v->after.refused_op);
  ttm_tell_headline(t);
  if (v->after.predicted && v->after.failures > v->after.failures_left)
    ttm_detail(t, "What failed has room, what follows it has not.");
  ttm_tell_numbers(t, &v->after.refusal);
  ttm_tell_op(t, v->after.refused_op);
}

static void tell_answer(ttm_teller *t, const ttm_verified *v) {
  const ttm_trial *after = &v->after;
  if (!after->fits) return tell_refusal(t, v);
  ttm_tell(t, "verify.answer", TTM_TOPIC_FAILURE, v->gained ? TTM_SEVERITY_OK : TTM_SEVERITY_WARNING, basis_of(v));
  if (!v->gained)
    ttm_headline(t, "Nothing gained: no peak is lower");
  else if (after->failures == 1)
    ttm_headline(t, "Fits: the allocation that failed has room");
  else if (after->failures)
    ttm_headline(t, "Fits: all {} that failed have room", TTM_PLURAL(after->failures, "allocation"));
  else
    ttm_headline(t, "Fits");
  if (!after->failures) return;
  if (after->predicted)
    ttm_detail(t, after->least ? "So has the rest of the program, as far as its module is understood."
                               : "So has the rest of the program, which its module tells.");
  else if (after->entries_after)
    ttm_detail(t, "So have the {} recorded after it.", TTM_PLURAL(after->entries_after, "allocation"));
  else
    ttm_detail(t, "Nothing is recorded after it: whether the rest fits is unknown.");
}

static void tell_memory(ttm_teller *t, const ttm_verified *v, int m, const char *id, const char *name) {
  const ttm_trial_memory *before = &v->before.memories[m], *after = &v->after.memories[m];
  ttm_tell(t, id, TTM_TOPIC_PEAK, TTM_SEVERITY_NOTE, basis_of(v));
  ttm_headline(t, "{} peak {}{} of {} per bank, {}{} without the change", TTM_WORDS(name),
               TTM_WORDS(v->window || v->rest_lacks ? "≥ " : ""), TTM_NUMBER(after->peak), TTM_MB_OF(after->size),
               TTM_WORDS(v->window ? "≥ " : ""), TTM_MB_OF(before->peak));
  if (after->peak && say_op(t, v, "Reached in ", after->peak_op)) ttm_detail(t, ".");
  ttm_tell_op(t, after->peak_op);
}

static void tell_change(ttm_teller *t, const ttm_change *change, const ttm_trial_match *match, ttm_basis basis) {
  ttm_tell(t, "verify.change", TTM_TOPIC_INPUT, TTM_SEVERITY_NOTE, basis);
  if (change->kind == TTM_CHANGE_BOARD)
    ttm_headline(t, "{}: all tensors", TTM_TEXT(change->text));
  else if (match->matched == match->changed)
    ttm_headline(t, "{}: {}", TTM_TEXT(change->text), TTM_PLURAL(match->changed, "tensor"));
  else
    ttm_headline(t, "{}: {} of {} that match", TTM_TEXT(change->text), TTM_COUNT(match->changed),
                 TTM_PLURAL(match->matched, "tensor"));
  if (match->why && match->changed < match->matched) ttm_detail(t, "One that stays {}.", TTM_WORDS(match->why));
}

static void tell_confidence(ttm_teller *t, const ttm_verified *v) {
  const ttm_ledger *l = &v->ledger;
  ttm_tell(t, "verify.confidence", TTM_TOPIC_INPUT, TTM_SEVERITY_NOTE, TTM_MEASURED);
  if (v->after.estimate)
    ttm_headline(t, "Estimated: {}", TTM_WORDS(v->after.estimate));
  else
    ttm_headline(t, "Replayed on the {} allocations, through the allocator's rules",
                 TTM_WORDS(t->p->predicted ? "predicted" : "recorded"));
  if (v->after.predicted) ttm_detail(t, "What follows them is predicted from the module.");
  if (l->states)
    ttm_detail(t, "Without the change the replay reproduces the largest free block of {} of {}.", TTM_COUNT(l->agree),
               TTM_PLURAL(l->states, "memory state"));
  ttm_detail(t, "L1 counts tensors, not circular buffers.");
  if (v->window) ttm_detail(t, "{}", TTM_WORDS(ttm_words_window(t->p)));
}

static int tell(ttm_verified *v, const ttm_findings *f) {
  ttm_teller t = {.f = f, .p = f->profile, .out = &v->said};
  tell_answer(&t, v);
  tell_memory(&t, v, TTM_REPLAY_DRAM, "verify.dram", "DRAM");
  if (v->before.memories[TTM_REPLAY_L1].peak || v->after.memories[TTM_REPLAY_L1].peak)
    tell_memory(&t, v, TTM_REPLAY_L1, "verify.l1", "L1");
  for (size_t i = 0; i < v->n; i++) tell_change(&t, &v->changes[i], &v->after.match[i], basis_of(v));
  tell_confidence(&t, v);
  ttm_buf_free(&t.text);
  return t.failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- All of it ------------------------------------------------------------------------------------------------------------ */

static bool has_gained(const ttm_verified *v) {
  bool better = v->before.failures > 0;
  if (!v->after.fits) return false;
  for (size_t i = 0; i < v->n; i++)
    better |= v->changes[i].kind == TTM_CHANGE_BOARD || v->changes[i].kind == TTM_CHANGE_BATCH;
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) better |= v->after.memories[m].peak < v->before.memories[m].peak;
  return better;
}

static int read_changes(ttm_verified *out, const char *const *changes, size_t n, ttm_error *err) {
  if (n > TTM_CHANGES) return ttm_error_set(err, TTM_EUSAGE, "at most %d changes can be tried together", TTM_CHANGES);
  int status = TTM_OK;
  for (; out->n < n && !status; out->n++)
    status = ttm_change_parse(&out->changes[out->n], ttm_str_of(changes[out->n]), err);
  return status;
}

int ttm_verify(ttm_verified *out, const ttm_findings *f, const char *const *changes, size_t n, ttm_error *err) {
  *out = (ttm_verified){.n = 0};
  int status = read_changes(out, changes, n, err);
  if (status) return status;
  if (!ttm_ledger_possible(f->profile))
    return ttm_error_set(err, TTM_ENODATA,
                         "a change can be tried on a log with operation lines, a recording or a graph capture: this "
                         "input does not tell what is allocated and freed when");
  status = ttm_ledger_make(&out->ledger, f);
  if (!status) status = ttm_trial_run(&out->before, &out->ledger, NULL, 0);
  if (!status) status = ttm_trial_run(&out->after, &out->ledger, out->changes, out->n);
  if (!status) {
    ttm_trial_judge(&out->after, &out->before, &out->ledger);
    out->gained = has_gained(out);
    out->window = ttm_profile_is_window(f->profile);
    out->rest_lacks = out->after.failures > out->after.failures_left && ttm_trial_rest_fits(&out->after) != 1;
    status = tell(out, f);
  }
  return status ? ttm_error_nomem(err) : TTM_OK;
}

void ttm_verified_free(ttm_verified *v) {
  ttm_ledger_free(&v->ledger);
  ttm_statements_free(&v->said);
}
