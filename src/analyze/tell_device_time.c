/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over device time, as the profiler's CSV beside an input has it. */
#include "analyze/device_time.h"
#include "analyze/tell.h"

enum { SHOWN = 5 };

static void tell_join(ttm_teller *t) {
  const ttm_device_time *d = &t->f->time;
  const ttm_perf_join *j = &d->join;
  bool sure = ttm_device_time_is_sure(d);
  ttm_tell(t,
           sure         ? "time.join"
           : j->matched ? "time.doubtful"
                        : "time.unmatched",
           TTM_TOPIC_TIME, sure ? TTM_SEVERITY_NOTE : TTM_SEVERITY_UNKNOWN, j->by_call ? TTM_MEASURED : TTM_DERIVED);
  if (!j->matched) {
    ttm_headline(t, "Device time is unknown: no operation of the input is in the profiler's CSV");
    return;
  }
  if (!sure) ttm_buf_puts(&t->text, "Device time is unknown, the profiler's CSV seems to be of another run: ");
  ttm_headline(t, "{} of {} have a device time: {} of the {} that device {} ran, matched by {}", TTM_COUNT(j->matched),
               TTM_PLURAL(j->ops, "operation"), TTM_NS(d->ns), TTM_NS(j->ns), TTM_LINE(j->device),
               TTM_WORDS(j->by_call ? "GLOBAL CALL COUNT" : "their order"));
  if (!j->by_call)
    ttm_detail(t, "Operations and rows of the CSV are aligned by the kind of work; the input has no call counts.");
  if (j->devices > 1) ttm_detail(t, "The CSV has {} devices.", TTM_COUNT(j->devices));
  if (j->replays) ttm_detail(t, "Replays of traces are left out: {}.", TTM_PLURAL(j->replays, "row"));
  ttm_tell_quantity(t, "operations", "", j->matched);
  ttm_tell_quantity(t, "rows", "", j->rows);
  ttm_tell_quantity(t, "device_time", "ns", (double)j->ns);
  ttm_tell_quantity(t, "matched_time", "ns", (double)d->ns);
}

/* ---- What is held how long ------------------------------------------------------------------------------------------- */

static void tell_tensors(ttm_teller *t, const ttm_time_memory *m) {
  for (size_t i = 0; i < m->tensors.n && i < SHOWN; i++) {
    const ttm_held_time *row = &m->tensors.at[i];
    ttm_say(&t->text, t->f, "{}, {}: {}", TTM_MB_MS(row->byte_ns), TTM_SHARE(row->byte_ns, m->tensors_byte_ns),
            TTM_WORDS(ttm_words_class(t->p, row->class)));
    if (row->name.n) ttm_say(&t->text, t->f, ": {}", TTM_TEXT(row->name));
    if (row->tensors > 1) ttm_say(&t->text, t->f, " ×{}", TTM_COUNT(row->tensors));
    ttm_tell_point(t, TTM_NO_FIGURE, TTM_NONE);
  }
}

static void tell_memory(ttm_teller *t, int which) {
  const ttm_time_memory *m = &t->f->time.memories[which];
  const char *name = ttm_memory_name((ttm_memory)which);
  if (!m->peak || !m->ns) return;
  ttm_tell(t, which == TTM_DRAM ? "time.dram" : "time.l1", TTM_TOPIC_TIME, TTM_SEVERITY_NOTE, TTM_DERIVED);
  ttm_headline(t,
               "{} holds {} per bank on average over {} of device time; {} of it with at least {} % of its peak of {}",
               TTM_WORDS(name), TTM_MB_OF((uint64_t)(m->byte_ns / (double)m->ns)), TTM_NS(m->ns),
               TTM_SHARE(m->full_ns, m->ns), TTM_LINE(TTM_FULL_PCT), TTM_MB_OF(m->peak));
  if (m->tensors.n) ttm_detail(t, "Held longest, as MB per bank times ms:");
  ttm_tell_quantity(t, "average_per_bank", "MB", m->byte_ns / (double)m->ns / TTM_MB);
  ttm_tell_quantity(t, "held", "MB*ms", m->byte_ns / TTM_MB / 1e6);
  ttm_tell_quantity(t, "full_time", "ns", (double)m->full_ns);
  tell_tensors(t, m);
}

static void tell_layers(ttm_teller *t) {
  const ttm_time_memory *m = &t->f->time.memories[t->f->time.full];
  if (m->layers.n < 2) return;
  ttm_tell(t, "time.layers", TTM_TOPIC_TIME, TTM_SEVERITY_NOTE, TTM_DERIVED);
  ttm_headline(t, "{} over device time by layer: {} holds most, {}", TTM_WORDS(ttm_memory_name(t->f->time.full)),
               TTM_TEXT(m->layers.at[0].name), TTM_MB_MS(m->layers.at[0].byte_ns));
  for (size_t i = 0; i < m->layers.n && i < SHOWN; i++)
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "{}: {}, {}", TTM_TEXT(m->layers.at[i].name),
                 TTM_MB_MS(m->layers.at[i].byte_ns), TTM_PLURAL(m->layers.at[i].tensors, "tensor"));
}

/* ---- Slow operations ------------------------------------------------------------------------------------------------- */

void ttm_say_bound(ttm_buf *out, const ttm_findings *f, ttm_bound bound, double ideal_pct) {
  static const char *const words[TTM_BOUNDS] = {"", "bound by DRAM bandwidth", "bound by compute",
                                                "bound by DRAM bandwidth and compute",
                                                "bound by neither DRAM nor compute"};
  if (bound != TTM_BOUND_UNKNOWN) ttm_say(out, f, ", {}", TTM_WORDS(words[bound]));
  if (ideal_pct >= 0) ttm_say(out, f, ", at {} of the model's ideal", TTM_PERCENT(ideal_pct));
}

static void say_slow(ttm_teller *t, const ttm_slow_op *row) {
  ttm_say(&t->text, t->f, "{}", TTM_OP_AT(row->op, row->name));
  if (row->times > 1) ttm_say(&t->text, t->f, " ×{}", TTM_COUNT(row->times));
}

static void tell_slow(ttm_teller *t) {
  const ttm_device_time *d = &t->f->time;
  const char *memory = ttm_memory_name(d->full);
  if (!d->memories[d->full].peak) return;
  ttm_tell(t, d->slow.n ? "time.slow-at-peak" : "time.none-at-peak", TTM_TOPIC_TIME,
           d->slow.n ? TTM_SEVERITY_NOTE : TTM_SEVERITY_OK, TTM_DERIVED);
  if (!d->slow.n) {
    ttm_headline(t, "No operation takes {} % of the device time or more with {} % of the {} peak held",
                 TTM_LINE(TTM_SLOW_PCT), TTM_LINE(TTM_FULL_PCT), TTM_WORDS(memory));
    return;
  }
  ttm_say(&t->text, t->f, "Slow with the {} peak held: ", TTM_WORDS(memory));
  say_slow(t, &d->slow.at[0]);
  ttm_say(&t->text, t->f, " takes {}, {} of the device time, with {} per bank held", TTM_NS(d->slow.at[0].ns),
          TTM_SHARE(d->slow.at[0].ns, d->ns), TTM_MB_OF(d->slow.at[0].held));
  ttm_tell_headline(t);
  ttm_detail(t, "All such operations take {}, {} of the device time.", TTM_NS(d->slow_ns),
             TTM_SHARE(d->slow_ns, d->ns));
  ttm_tell_op(t, d->slow.at[0].op);
  ttm_tell_quantity(t, "time", "ns", (double)d->slow_ns);
  for (size_t i = 0; i < d->slow.n && i < SHOWN; i++) {
    const ttm_slow_op *row = &d->slow.at[i];
    say_slow(t, row);
    ttm_say(&t->text, t->f, ": {}, {}", TTM_NS(row->ns), TTM_SHARE(row->ns, d->ns));
    ttm_say_bound(&t->text, t->f, row->bound, row->ideal_pct);
    ttm_tell_point(t, ttm_mib(row->held), row->op);
  }
}

/* What the CSV says of the limits of the operations. */
static void tell_bounds(ttm_teller *t) {
  const ttm_device_time *d = &t->f->time;
  uint64_t known = d->ns - d->bound_ns[TTM_BOUND_UNKNOWN];
  if (!known) return;
  ttm_tell(t, "time.bound", TTM_TOPIC_TIME, TTM_SEVERITY_NOTE, TTM_ESTIMATED);
  ttm_headline(t, "Of {} with a performance model {} are bound by DRAM, {} by compute, {} by neither", TTM_NS(known),
               TTM_SHARE(d->bound_ns[TTM_BOUND_DRAM] + d->bound_ns[TTM_BOUND_BOTH], known),
               TTM_SHARE(d->bound_ns[TTM_BOUND_COMPUTE] + d->bound_ns[TTM_BOUND_BOTH], known),
               TTM_SHARE(d->bound_ns[TTM_BOUND_SLOW], known));
  if (d->waste.n) ttm_detail(t, "Most time above the model's ideal:");
  ttm_tell_quantity(t, "modelled_time", "ns", (double)known);
  ttm_tell_quantity(t, "slow_time", "ns", (double)d->bound_ns[TTM_BOUND_SLOW]);
  for (size_t i = 0; i < d->waste.n && i < SHOWN; i++) {
    say_slow(t, &d->waste.at[i]);
    ttm_say(&t->text, t->f, ": {} above the ideal, at {} of it", TTM_NS(d->waste.at[i].ns),
            TTM_PERCENT(d->waste.at[i].ideal_pct));
    ttm_tell_point(t, TTM_NO_FIGURE, d->waste.at[i].op);
  }
}

void ttm_tell_device_time(ttm_teller *t) {
  if (!t->f->time.given) return;
  tell_join(t);
  if (!ttm_device_time_is_sure(&t->f->time)) return;
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) tell_memory(t, m);
  tell_layers(t);
  tell_slow(t);
  tell_bounds(t);
}
