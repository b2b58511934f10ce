/* SPDX-License-Identifier: Apache-2.0 */
/* L1 of the fullest core, and what the input holds and lacks: nothing said about a thing does not mean that there is nothing. */
#include "analyze/tell.h"

/* ---- L1 of a core ------------------------------------------------------------------------------------------------------ */

static void say_use(ttm_buf *out, const ttm_findings *f) {
  static const char *const kinds[TTM_PROGRAM_KINDS] = {"circular buffers", "dataflow buffers", "scratchpads"};
  const ttm_core_use *u = &f->core_use;
  const ttm_core_moment *m = &u->fullest;
  const ttm_capture *c = &f->profile->capture;
  ttm_say(out, f, "{}{}", TTM_WORDS(c->empty_programs || ttm_profile_is_window(f->profile) ? "≥ " : ""),
          TTM_BYTES(m->total));
  if (u->limit && m->total <= u->limit) ttm_say(out, f, " of {}", TTM_BYTES(u->limit));
  if (m->event < c->events.n)
    ttm_say(out, f, " on core {}-{} in {}", TTM_COUNT(m->x), TTM_COUNT(m->y), TTM_OP(c->events.at[m->event].op));
  ttm_say(out, f, ": tensors {}", TTM_BYTES(m->tensors));
  if (m->small) ttm_say(out, f, ", L1_SMALL {}", TTM_BYTES(m->small));
  for (int k = 0; k < TTM_PROGRAM_KINDS; k++)
    if (m->program[k]) ttm_say(out, f, ", {} {}", TTM_WORDS(kinds[k]), TTM_BYTES(m->program[k]));
  if (u->limit && m->total > u->limit) ttm_say(out, f, "; a core has {}", TTM_BYTES(u->limit));
}

void ttm_tell_l1_core(ttm_teller *t) {
  const ttm_capture *c = &t->p->capture;
  const ttm_core_use *use = &t->f->core_use;
  if (!use->fullest.total) return;
  ttm_tell(t, "l1.core", TTM_TOPIC_L1_CORE, TTM_SEVERITY_NOTE, TTM_DERIVED);
  say_use(&t->text, t->f);
  ttm_tell_headline(t);
  if (use->gap_event < c->events.n && !ttm_findings_has_clashed(t->f))
    ttm_detail(t, "{}{} between a program's buffers and the lowest tensor at the narrowest point.",
               TTM_WORDS(ttm_profile_is_window(t->p) ? "At most " : ""), TTM_BYTES((uint64_t)use->gap));
  if (ttm_profile_is_window(t->p)) ttm_detail(t, "{}", TTM_WORDS(ttm_words_window(t->p)));
  if (c->empty_programs)
    ttm_detail(t, "{} of {} programs reported no circular buffers: this is a lower bound.",
               TTM_COUNT(c->empty_programs), TTM_COUNT(c->programs));
  if (use->fullest.event < c->events.n) ttm_tell_op(t, c->events.at[use->fullest.event].op);
  ttm_tell_quantity(t, "fullest", "B", (double)use->fullest.total);
  ttm_tell_quantity(t, "limit", "B", (double)use->limit);
}

/* ---- The input ---------------------------------------------------------------------------------------------------------- */

static void note(ttm_teller *t, uint64_t n, const char *noun, const char *words) {
  if (n) ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "{} {}", TTM_PLURAL(n, noun), TTM_WORDS(words));
}

static void tell_gaps(ttm_teller *t) {
  const ttm_seen *seen = &t->p->seen;
  if (seen->damage)
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "the input ends early: {}", TTM_WORDS(seen->damage));
  else if (seen->cut)
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "the log is cut: it ends inside a line or a block");
  note(t, seen->bad_op_lines, "operation line", "could not be read: cut or torn");
  note(t, seen->bad_blocks, "memory line", "could not be read");
  note(t, seen->unpaired, "memory state", "without its operation line");
  note(t, seen->holes, "place", "where lines are missing: a tensor that nothing made, a program that never started");
  if (!t->p->incidents.n) note(t, seen->unfinished, "program run", "without an end");
  if (seen->trace_cache)
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE,
                 "traces were captured or replayed: operations inside a replay are not in this log");
  for (uint32_t i = 0; i < seen->note_count && i < TTM_KEPT_NOTES; i++)
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "log line {}: \"{}\"", TTM_LINE(seen->notes[i].line),
                 TTM_TEXT(ttm_profile_string(t->p, seen->notes[i].text)));
}

/* How a recording ended: by itself, given up with a reason, or not at all. */
static void tell_end(ttm_teller *t, const ttm_recording *r) {
  ttm_str why = ttm_profile_string(t->p, r->reason);
  if (r->ended && why.n && !ttm_str_eq(why, TTM_LIT("exit")) && !ttm_str_eq(why, TTM_LIT("os._exit")))
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "the recording ends before the program: {}", TTM_TEXT(why));
  if (r->ended) return;
  ttm_buf_puts(&t->text, t->p->capture.schema
                             ? "the last operation of the report has no end: the program was killed or crashed in it"
                             : "the recording has no end: the program was killed or crashed, or still runs");
  if (r->last != TTM_NONE) ttm_say(&t->text, t->f, "; the last operation it began is {}", TTM_OP(r->last));
  ttm_tell_point(t, TTM_NO_FIGURE, r->last);
}

static void tell_recording(ttm_teller *t) {
  const ttm_recording *r = &t->p->capture.recording;
  if (!r->is) return;
  tell_end(t, r);
  note(t, r->lost, "operation", "before the end with name and line only: its piece was not written");
  note(t, r->corrections, "memory view",
       "differed from the sum of the recorded buffers; the allocator's figure was taken");
  note(t, r->hole_corrections, "memory view", "showed another largest free block than the recorded buffers give");
  note(t, r->unseen_frees, "buffer", "freed unseen by another thread, counted until its place was used again");
  note(t, r->traces, "trace",
       "not captured, because ttnn cannot capture one on a mock board: its operations ran, replays did nothing, TRACE "
       "memory is not counted");
  note(t, r->waits, "wait",
       "for an event not done on a mock board, where ttnn crashes in it: operations of all command queues run in the "
       "order "
       "of their calls");
  note(t, r->sub_devices, "load",
       "of a sub-device manager without the workers of a board, which a mock board has not: the allocator is the "
       "program's own");
  note(t, r->elsewhere, "operation", "not recorded");
  note(t, r->late, "operation", "recorded behind later ones of another thread");
}

void ttm_tell_input(ttm_teller *t) {
  const char *missing = ttm_words_missing(t->p);
  uint64_t gaps = ttm_words_not_understood(&t->p->seen);
  ttm_statement *s = ttm_tell(t, "input", TTM_TOPIC_INPUT, TTM_SEVERITY_OK, TTM_MEASURED);
  ttm_headline(t, "{}", TTM_WORDS(ttm_words_kind(t->p)));
  if (missing) ttm_detail(t, "{}", TTM_WORDS(missing));
  tell_gaps(t);
  tell_recording(t);
  if (!s) return;
  s = &t->out->at.at[t->out->at.n - 1];
  if (missing) s->severity = TTM_SEVERITY_UNKNOWN;
  if (gaps || t->p->seen.holes || t->p->seen.cut) s->severity = TTM_SEVERITY_WARNING;
}
