/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/baseline.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/parts.h"
#include "analyze/tell.h"

enum { SHOWN_ROWS = 5, DEFAULT_PERCENT = 1 };

void ttm_baseline_entry_free(ttm_baseline_entry *e) {
  ttm_vec_free(&e->operations);
  for (int m = 0; m < 2; m++) ttm_vec_free(&e->alive[m]);
  ttm_vec_free(&e->boards);
}

/* ---- Taking down -------------------------------------------------------------------------------------------------- */

static uint32_t failures_of(const ttm_findings *f) {
  uint32_t n = 0;
  for (size_t i = 0; i < f->statements.at.n; i++) n += f->statements.at.at[i].severity == TTM_SEVERITY_FAILURE;
  return n;
}

static ttm_basis basis_of(const ttm_findings *f, const ttm_peak *peak) {
  if (peak->in_op_bytes) return TTM_MEASURED;
  return peak->derived ? TTM_DERIVED : ttm_words_state_basis(f->profile, peak->state);
}

/* A memory that is not in use is not guarded, but for the two that every program uses. */
static void take_peak(ttm_baseline_peak *out, const ttm_findings *f, ttm_memory m) {
  const ttm_peak *peak = &f->peak[m];
  int64_t milli = ttm_peak_milli(peak);
  bool inside = peak->in_op_bytes > 0;
  uint32_t op = inside ? f->profile->incidents.at[peak->in_op_incident].op : peak->cause;
  *out = (ttm_baseline_peak){.known = milli > 0 || (!milli && m <= TTM_L1), .at_least = peak->at_least};
  if (!out->known) return;
  out->milli = (uint32_t)milli;
  out->banks = peak->level.banks;
  out->basis = ttm_str_of(ttm_basis_name(basis_of(f, peak)));
  if (op >= f->profile->ops.n) return;
  out->op = ttm_words_name(f->profile, op);
  out->at = ttm_words_location(f->profile, op);
  if (ttm_str_eq(out->at, TTM_LIT("N/A"))) out->at.n = 0;
}

static ttm_baseline_row *find_row(const ttm_baseline_rows *rows, const ttm_baseline_row *row) {
  for (size_t i = 0; i < rows->n; i++)
    if (ttm_str_eq(rows->at[i].kind, row->kind) && ttm_str_eq(rows->at[i].name, row->name)) return &rows->at[i];
  return NULL;
}

/* Largest rows come first, so that the operation of the first is that of the largest. */
static int add_row(ttm_baseline_rows *out, const ttm_profile *p, ttm_baseline_row row) {
  uint32_t line;
  bool source = p->capture.recording.is && row.op < p->ops.n && ttm_words_source_place(row.name, &row.name, &line);
  if (source) row.kind = ttm_words_name(p, row.op);
  ttm_baseline_row *same = source ? find_row(out, &row) : NULL;
  if (!same) return ttm_vec_push(out, row);
  same->count += row.count;
  same->milli += row.milli;
  return TTM_OK;
}

static int by_size(const void *a, const void *b) {
  const ttm_baseline_row *x = a, *y = b;
  if (x->milli != y->milli) return x->milli > y->milli ? -1 : 1;
  return ttm_str_order(x->name, y->name) ? ttm_str_order(x->name, y->name) : ttm_str_order(x->kind, y->kind);
}

/* All of a file count; only so many are written into it. */
static int take_alive(ttm_baseline_rows *out, const ttm_findings *f, int m) {
  const ttm_alive_set *set = &f->alive_set[m];
  int status = TTM_OK;
  for (size_t i = 0; set->known && i < set->groups.n && !status; i++) {
    const ttm_alive_group *g = &set->groups.at[i];
    status = add_row(out, f->profile,
                     (ttm_baseline_row){ttm_str_of(ttm_alive_class_name(f->profile, g->class)), g->name, g->tensors,
                                        g->op, ttm_level_of_bytes(g->bank_bytes)});
  }
  if (out->n) qsort(out->at, out->n, sizeof *out->at, by_size);
  return status;
}

static int take_operations(ttm_baseline_rows *out, const ttm_findings *f) {
  int status = TTM_OK;
  for (size_t i = 0; i < f->consumers[TTM_DRAM].n && !status; i++) {
    const ttm_consumer *c = &f->consumers[TTM_DRAM].at[i];
    status = add_row(
        out, f->profile,
        (ttm_baseline_row){ttm_words_name(f->profile, c->most.op), c->name, c->places, c->most.op, (uint32_t)c->total});
  }
  if (out->n) qsort(out->at, out->n, sizeof *out->at, by_size);
  return status;
}

static ttm_baseline_board board_of(const ttm_fit_case *c) {
  return (ttm_baseline_board){.board = c->board,
                              .fits = c->fits == TTM_FITS,
                              .at_least = c->dram_least || c->l1_least,
                              .milli = {ttm_level_of_bytes(c->dram_peak), ttm_level_of_bytes(c->l1_peak)}};
}

static int take_boards(ttm_baseline_entry *out, const ttm_fit_cases *cases) {
  for (size_t i = 0; i < cases->at.n; i++) {
    const ttm_fit_case *c = &cases->at.at[i];
    ttm_baseline_board board = board_of(c);
    if (c->measured && ttm_vec_push(&out->boards, board)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

int ttm_baseline_take(ttm_baseline_entry *out, const ttm_findings *f, const ttm_fit_cases *cases) {
  int status = f ? take_operations(&out->operations, f) : TTM_OK;
  for (ttm_memory m = 0; f && m < TTM_MEMORIES; m++) take_peak(&out->peak[m], f, m);
  for (int m = 0; f && m < 2 && !status; m++) status = take_alive(&out->alive[m], f, m);
  if (f) out->failures = failures_of(f), out->growth = ttm_leak_sum(f);
  return status || !cases ? status : take_boards(out, cases);
}

/* ---- Comparing ---------------------------------------------------------------------------------------------------- */

/* 0.001 MB that a figure may rise. A state is rounded, so that a difference of two of them may be off by that much. */
static double allowed(const ttm_tolerance *t, uint32_t was) {
  double percent = t->given ? t->percent : DEFAULT_PERCENT, most = fmax(was * percent / 100, t->mb * 1000);
  return fmax(most, TTM_DIFF_NOISE);
}

static void say_tolerance(ttm_buf *out, const ttm_tolerance *t) {
  if (t->mb > 0)
    ttm_put_mb(out, t->mb), ttm_buf_puts(out, " MB");
  else
    ttm_buf_printf(out, "%g %%", t->given ? t->percent : DEFAULT_PERCENT);
}

typedef struct growth {
  const ttm_baseline_row *row;
  int64_t milli;
  bool fresh; /* the baseline does not have it */
} growth;

static int by_growth(const void *a, const void *b) {
  const growth *x = a, *y = b;
  if (x->milli != y->milli) return x->milli > y->milli ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* "weights layers.*.mlp.weight ×18, +8.00 MB per bank". */
static void say_growth(ttm_buf *out, const ttm_findings *f, const growth *g) {
  ttm_say(out, f, "{} {}", TTM_TEXT(g->row->kind), TTM_TEXT(g->row->name));
  if (g->row->count > 1) ttm_say(out, f, " ×{}", TTM_COUNT(g->row->count));
  ttm_say(out, f, ", {} per bank{}", TTM_CHANGE(g->milli),
          TTM_WORDS(g->fresh ? ", not among the largest of the baseline" : ""));
  if (f->profile->capture.recording.is && g->row->op < f->profile->ops.n)
    ttm_say(out, f, ", the largest now by {}", TTM_OP(g->row->op));
}

/* Tells what grew most: the first in the detail, all as rows of evidence. */
static void tell_growth(ttm_teller *t, const ttm_baseline_rows *was, const ttm_baseline_rows *is) {
  growth *all = ttm_alloc_array(is->n, sizeof *all);
  size_t n = 0;
  t->failed |= !all;
  for (size_t i = 0; all && i < is->n; i++) {
    const ttm_baseline_row *old = find_row(was, &is->at[i]);
    int64_t rise = (int64_t)is->at[i].milli - (old ? old->milli : 0);
    if (rise > TTM_DIFF_NOISE && is->at[i].name.n) all[n++] = (growth){&is->at[i], rise, !old};
  }
  if (n) qsort(all, n, sizeof *all, by_growth);
  if (n) ttm_buf_puts(&t->text, "Largest growth: "), say_growth(&t->text, t->f, all), ttm_detail(t, ".");
  for (size_t i = 0; i < n && i < SHOWN_ROWS; i++) {
    say_growth(&t->text, t->f, &all[i]);
    ttm_tell_point(t, ttm_mb(all[i].row->milli), all[i].row->op);
  }
  ttm_free(all);
}

/* "rose by 8.00 MB per bank above the baseline (+0.8 %), from 998.3 to 1,006.3 MB". */
static void say_change(ttm_teller *t, const char *memory, uint32_t was, uint32_t is, bool at_least, const char *per) {
  int64_t change = (int64_t)is - was;
  ttm_say(&t->text, t->f, "{} peak {} by {} per {} {} the baseline", TTM_WORDS(memory),
          TTM_WORDS(change > 0 ? "rose" : "fell"), TTM_MB_OF(ttm_level_bytes((uint64_t)llabs(change))), TTM_WORDS(per),
          TTM_WORDS(change > 0 ? "above" : "below"));
  if (was && change <= was) ttm_buf_printf(&t->text, " (%+.1f %%)", 100.0 * (double)change / was);
  ttm_say(&t->text, t->f, ", from {} to {}{}", TTM_NUMBER(ttm_level_bytes(was)), TTM_WORDS(at_least ? "≥ " : ""),
          TTM_MB_OF(ttm_level_bytes(is)));
}

typedef struct verdict {
  const char *id;
  ttm_severity severity;
  ttm_check_outcome outcome;
} verdict;

static verdict judge(const ttm_tolerance *tolerance, uint32_t was, uint32_t is) {
  double most = allowed(tolerance, was);
  if ((double)is - was > most) return (verdict){"baseline.worse", TTM_SEVERITY_WARNING, TTM_FAILED};
  if ((double)was - is > most) return (verdict){"baseline.better", TTM_SEVERITY_NOTE, TTM_PASSED};
  return (verdict){"baseline.same", TTM_SEVERITY_OK, TTM_PASSED};
}

static void check_peak(ttm_checks *all, ttm_teller *t, const ttm_baseline_entry *e, const ttm_baseline_entry *now,
                       ttm_memory m) {
  const ttm_baseline_peak *was = &e->peak[m], *is = &now->peak[m];
  const ttm_peak *peak = &t->f->peak[m];
  const char *name = ttm_memory_name(m);
  if (!was->known) return;
  if (!is->known && ttm_peak_milli(peak) < 0) {
    ttm_tell(t, "baseline.unknown", TTM_TOPIC_PEAK, TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
    ttm_headline(t, "this input does not tell the {} peak, which the baseline has; 'ttmem doctor' shows why",
                 TTM_WORDS(name));
    return ttm_check_add(all, t, TTM_UNJUDGED, TTM_NONE, "baseline %s peak", name);
  }
  verdict v = judge(&e->tolerance[m], was->milli, is->milli);
  ttm_tell(t, v.id, TTM_TOPIC_PEAK, v.severity, basis_of(t->f, peak));
  if (v.severity == TTM_SEVERITY_OK) {
    ttm_say(&t->text, t->f, "{} peak {}{} per bank is within ", TTM_WORDS(name), TTM_WORDS(is->at_least ? "≥ " : ""),
            TTM_MB_OF(ttm_level_bytes(is->milli)));
    say_tolerance(&t->text, &e->tolerance[m]);
    ttm_say(&t->text, t->f, " of the baseline's {}", TTM_MB_OF(ttm_level_bytes(was->milli)));
  } else {
    say_change(t, name, was->milli, is->milli, is->at_least, "bank");
  }
  uint32_t op = peak->in_op_bytes ? t->p->incidents.at[peak->in_op_incident].op : peak->cause;
  if (v.outcome == TTM_FAILED && op < t->p->ops.n) ttm_say(&t->text, t->f, ", raised by {}", TTM_OP(op));
  ttm_tell_headline(t);
  ttm_tell_op(t, op);
  ttm_tell_quantity(t, "change_per_bank", "MB", ttm_mb((int64_t)is->milli - was->milli));
  if (v.outcome == TTM_FAILED) {
    if (m <= TTM_L1) tell_growth(t, &e->alive[m], &now->alive[m]);
    if (m == TTM_DRAM && !now->alive[m].n) tell_growth(t, &e->operations, &now->operations);
    ttm_buf_puts(&t->text, "The baseline allows ");
    say_tolerance(&t->text, &e->tolerance[m]);
    ttm_buf_char(&t->text, '.');
    ttm_tell_detail(t);
  }
  if (was->basis.n && is->basis.n && !ttm_str_eq(was->basis, is->basis))
    ttm_detail(t, "The baseline is {}, this peak {}.", TTM_TEXT(was->basis), TTM_TEXT(is->basis));
  if (was->at_least || is->at_least)
    ttm_detail(t, "{} is a lower bound.", TTM_WORDS(is->at_least ? "The peak" : "The baseline"));
  ttm_check_add(all, t, v.outcome, op, "baseline %s peak", name);
}

static void check_failures(ttm_checks *all, ttm_teller *t, const ttm_baseline_entry *e, uint32_t now) {
  bool worse = now > e->failures;
  const ttm_statement *first = NULL;
  for (size_t i = 0; i < t->f->statements.at.n && !first; i++)
    if (t->f->statements.at.at[i].severity == TTM_SEVERITY_FAILURE) first = &t->f->statements.at.at[i];
  ttm_tell(t, worse ? "baseline.fails" : "baseline.fails-not-more", TTM_TOPIC_FAILURE,
           worse ? TTM_SEVERITY_FAILURE : TTM_SEVERITY_OK, TTM_MEASURED);
  if (worse && first)
    ttm_headline(t, "{} instead of {} in the baseline: {}", TTM_PLURAL(now, "failure"), TTM_COUNT(e->failures),
                 TTM_TEXT(first->headline));
  else
    ttm_headline(t, "{}, {} in the baseline", TTM_PLURAL(now, "failure"), TTM_COUNT(e->failures));
  uint32_t op = worse && first && first->operation != UINT32_MAX ? ttm_findings_op(t->f, first->operation) : TTM_NONE;
  if (worse && first) ttm_tell_line(t, first->line), ttm_tell_op(t, op);
  ttm_check_add(all, t, worse ? TTM_FAILED : TTM_PASSED, op, "baseline failures");
}

static void check_growth(ttm_checks *all, ttm_teller *t, const ttm_baseline_entry *e, uint32_t now) {
  bool worse = now > e->growth + TTM_DIFF_NOISE;
  ttm_tell(t, worse ? "baseline.grows" : "baseline.grows-not-more", TTM_TOPIC_GROWTH,
           worse ? TTM_SEVERITY_WARNING : TTM_SEVERITY_OK, TTM_DERIVED);
  if (worse)
    ttm_headline(t, "every run leaves {} per bank, {} in the baseline", TTM_MB_OF(ttm_level_bytes(now)),
                 TTM_MB_OF(ttm_level_bytes(e->growth)));
  else
    ttm_headline(t, "no more memory is left by a run than in the baseline");
  ttm_check_add(all, t, worse ? TTM_FAILED : TTM_PASSED, TTM_NONE, "baseline growth");
}

/* ---- Is it the same at all? --------------------------------------------------------------------------------------- */

/* The first memory with other banks; TTM_MEMORIES. */
static ttm_memory other_board(const ttm_baseline_entry *e, const ttm_baseline_entry *now) {
  ttm_memory m = 0;
  while (m < TTM_MEMORIES && (!e->peak[m].banks || !now->peak[m].banks || e->peak[m].banks == now->peak[m].banks)) m++;
  return m;
}

static bool has_operation(const ttm_profile *p, const ttm_baseline_row *row) {
  for (uint32_t i = 0; i < p->ops.n; i++) {
    ttm_str place = ttm_words_location(p, i), file = place;
    uint32_t line;
    if (p->capture.recording.is) ttm_words_source_place(place, &file, &line);
    if (ttm_str_eq(ttm_words_name(p, i), row->kind) && ttm_str_like(file, row->name)) return true;
  }
  return false;
}

/* Nothing of what the baseline names is there. */
static bool other_model(const ttm_baseline_entry *e, const ttm_baseline_entry *now, const ttm_profile *p) {
  bool named = false;
  for (int m = 0; m < 2; m++)
    for (size_t i = 0; i < e->alive[m].n; i++) {
      named |= e->alive[m].at[i].name.n > 0;
      if (e->alive[m].at[i].name.n && find_row(&now->alive[m], &e->alive[m].at[i])) return false;
    }
  for (size_t i = 0; i < e->operations.n; i++) {
    named = true;
    if (has_operation(p, &e->operations.at[i])) return false;
  }
  return named;
}

/* Why they cannot be compared; true when that was told. */
static bool check_same(ttm_checks *all, ttm_teller *t, const ttm_baseline_entry *e, const ttm_baseline_entry *now) {
  ttm_memory m = other_board(e, now);
  if (m == TTM_MEMORIES && !other_model(e, now, t->p)) return true;
  ttm_tell(t, m < TTM_MEMORIES ? "baseline.other-board" : "baseline.other-model", TTM_TOPIC_INPUT, TTM_SEVERITY_UNKNOWN,
           TTM_MEASURED);
  if (m < TTM_MEMORIES)
    ttm_headline(t, "baseline '{}' is of another board: {} has {} there, {} here", TTM_TEXT(e->name),
                 TTM_WORDS(ttm_memory_name(m)), TTM_PLURAL(e->peak[m].banks, "bank"), TTM_COUNT(now->peak[m].banks));
  else
    ttm_headline(t, "baseline '{}' is of another model: none of its operations and live tensors is in this input",
                 TTM_TEXT(e->name));
  ttm_check_add(all, t, TTM_UNJUDGED, TTM_NONE, "baseline");
  return false;
}

int ttm_check_baseline(ttm_checks *all, const ttm_findings *f, const ttm_baseline_entry *e) {
  ttm_teller t = {.f = f, .p = f->profile, .out = &all->said};
  ttm_baseline_entry now = {0};
  bool any = false;
  int status = ttm_baseline_take(&now, f, NULL);
  if (!status && check_same(all, &t, e, &now)) {
    for (ttm_memory m = 0; m < TTM_MEMORIES; m++) any |= e->peak[m].known, check_peak(all, &t, e, &now, m);
    if (any) check_failures(all, &t, e, now.failures), check_growth(all, &t, e, now.growth);
    if (!any) {
      ttm_tell(&t, "baseline.unknown", TTM_TOPIC_PEAK, TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
      ttm_headline(&t, "baseline '{}' has no peak to compare with", TTM_TEXT(e->name));
      ttm_check_add(all, &t, TTM_UNJUDGED, TTM_NONE, "baseline");
    }
  }
  ttm_baseline_entry_free(&now);
  ttm_buf_free(&t.text);
  return status || t.failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- Boards ------------------------------------------------------------------------------------------------------- */

static void check_board_peak(ttm_checks *all, ttm_teller *t, const ttm_baseline_entry *e, const ttm_baseline_board *was,
                             const ttm_baseline_board *is, ttm_memory m, ttm_basis basis) {
  verdict v = judge(&e->tolerance[m], was->milli[m], is->milli[m]);
  ttm_tell(t, v.id, TTM_TOPIC_PEAK, v.severity, basis);
  ttm_say(&t->text, t->f, "{}: ", TTM_TEXT(is->board));
  if (v.severity != TTM_SEVERITY_OK) {
    say_change(t, ttm_memory_name(m), was->milli[m], is->milli[m], is->at_least, m == TTM_DRAM ? "bank" : "core");
  } else {
    ttm_say(&t->text, t->f, "{} peak {} per {} is within ", TTM_WORDS(ttm_memory_name(m)),
            TTM_MB_OF(ttm_level_bytes(is->milli[m])), TTM_WORDS(m == TTM_DRAM ? "bank" : "core"));
    say_tolerance(&t->text, &e->tolerance[m]);
    ttm_say(&t->text, t->f, " of the baseline's {}", TTM_MB_OF(ttm_level_bytes(was->milli[m])));
  }
  ttm_tell_headline(t);
  ttm_check_add(all, t, v.outcome, TTM_NONE, "baseline %s peak on %.*s", ttm_memory_name(m), TTM_ARGS(is->board));
}

static void check_board(ttm_checks *all, ttm_teller *t, const ttm_baseline_entry *e, const ttm_fit_case *c,
                        const ttm_statement *said) {
  const ttm_baseline_board *was = NULL;
  ttm_baseline_board is = board_of(c);
  for (size_t i = 0; i < e->boards.n; i++)
    if (ttm_str_eq(e->boards.at[i].board, c->board)) was = &e->boards.at[i];
  bool lost = was && was->fits && c->fits == TTM_FITS_NOT,
       unknown = was && (c->fits == TTM_FITS_UNKNOWN || !c->measured);
  if (!was || lost || unknown) {
    ttm_tell(t, lost ? "baseline.fails" : "baseline.unknown", TTM_TOPIC_FAILURE,
             lost ? TTM_SEVERITY_FAILURE : TTM_SEVERITY_UNKNOWN, said->basis);
    if (was)
      ttm_headline(t, "{}: {}; {} in the baseline", TTM_TEXT(c->board), TTM_TEXT(said->headline),
                   TTM_WORDS(was->fits ? "fits" : "does not fit"));
    else
      ttm_headline(t, "baseline '{}' does not have {}", TTM_TEXT(e->name), TTM_TEXT(c->board));
    return ttm_check_add(all, t,
                         lost  ? TTM_FAILED
                         : was ? TTM_UNJUDGED
                               : TTM_SKIPPED,
                         TTM_NONE, "baseline %.*s", TTM_ARGS(c->board));
  }
  for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++)
    check_board_peak(all, t, e, was, &is, m, c->exit_status < 0 ? TTM_DERIVED : TTM_MEASURED);
}

int ttm_check_fit_baseline(ttm_checks *all, const ttm_fit_cases *cases, const ttm_baseline_entry *e) {
  ttm_teller t = {.out = &all->said};
  size_t before = all->at.n, skipped = ttm_checks_count(all, TTM_SKIPPED);
  for (size_t i = 0; i < cases->at.n; i++) check_board(all, &t, e, &cases->at.at[i], &cases->said.at.at[i]);
  if (ttm_checks_count(all, TTM_SKIPPED) - skipped == all->at.n - before) { /* not one board to compare with */
    ttm_tell(&t, "baseline.unknown", TTM_TOPIC_FAILURE, TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
    ttm_headline(&t, "baseline '{}' has none of these boards; 'ttmem baseline update --board' takes them down",
                 TTM_TEXT(e->name));
    ttm_check_add(all, &t, TTM_UNJUDGED, TTM_NONE, "baseline");
  }
  ttm_buf_free(&t.text);
  return t.failed ? TTM_ENOMEM : TTM_OK;
}
