/* SPDX-License-Identifier: Apache-2.0 */
/* Trace safety: what replays overwrite, and what traces use that is gone. */
#include "analyze/tell.h"

enum { SHOWN_HAZARDS = 8 };

static const ttm_buffer *buffer_of(const ttm_teller *t, uint32_t row) { return &t->p->capture.buffers.at[row]; }

/* "mask, the result of #7 ttnn.zeros at demo.py:12", as far as the program names it. */
static void say_tensor(ttm_teller *t, uint32_t row) {
  const ttm_buffer *b = buffer_of(t, row);
  if (b->name) ttm_say(&t->text, t->f, "{}, ", TTM_TEXT(ttm_profile_string(t->p, b->name)));
  ttm_say(&t->text, t->f, "the result of {}", TTM_OP(b->op));
}

static void say_times(ttm_teller *t, const ttm_hazard *h) {
  if (h->times > 1) ttm_say(&t->text, t->f, " ×{}", TTM_COUNT(h->times));
}

/* Who shares its addresses. */
static void say_other(ttm_teller *t, const ttm_hazard *h) {
  if (h->other != TTM_NONE) return say_tensor(t, h->other);
  ttm_say(&t->text, t->f, "a circular buffer of {}", TTM_OP(t->p->capture.events.at[h->event].op));
}

/* What a replay does to it, and who notices. */
static void say_harm(ttm_teller *t, const ttm_hazard *h) {
  ttm_buf_puts(&t->text,
               h->kind == TTM_HAZARD_KERNELS ? ", which lie where the capture had " : ", lies where the capture had ");
  say_other(t, h);
  ttm_say(&t->text, t->f, "; {} replays it", TTM_OP(h->replay));
  if (h->kind == TTM_HAZARD_KERNELS) return;
  if (h->used == TTM_NONE)
    ttm_buf_puts(&t->text, ", nothing recorded takes the tensor afterwards");
  else
    ttm_say(&t->text, t->f, ", {} takes the tensor afterwards", TTM_OP(h->used));
}

static void tell_overlap(ttm_teller *t, const ttm_hazard *h) {
  const ttm_device_trace *trace = &t->f->traces.at.at[h->trace];
  const ttm_buffer *own = buffer_of(t, h->row);
  ttm_detail(t, "They share addresses {} to {} of {}, {} of {} B per bank.", TTM_COUNT(h->start), TTM_COUNT(h->end),
             TTM_WORDS(ttm_memory_name((ttm_memory)own->memory)), TTM_COUNT(h->end - h->start),
             TTM_COUNT(own->bank_bytes));
  if (h->kind != TTM_HAZARD_FREED) ttm_detail(t, "Every replay writes there again.");
  ttm_detail(t, "The capture goes from {} to {}.", TTM_OP(trace->begin), TTM_OP(trace->end));
}

static void tell_fix(ttm_teller *t, const ttm_hazard *h) {
  const ttm_device_trace *trace = &t->f->traces.at.at[h->trace];
  ttm_remedy r = {.kind = h->kind == TTM_HAZARD_FREED     ? TTM_FIX_KEEP_INPUT
                          : h->kind == TTM_HAZARD_KERNELS ? TTM_FIX_COMPILE_BEFORE
                          : h->room                       ? TTM_FIX_ALLOCATE_BEFORE
                                                          : TTM_FIX_FREE_BEFORE,
                  .check = TTM_FIX_DERIVED,
                  .bytes = buffer_of(t, h->row)->bank_bytes,
                  .count = h->times,
                  .op = buffer_of(t, h->row)->op,
                  .trace_op = h->room ? trace->begin : h->replay,
                  .row = TTM_NONE};
  ttm_tell_fix(t, &r, NULL);
}

static void tell_hazard(ttm_teller *t, uint32_t i) {
  static const char *const ids[] = {"trace.overwrites", "trace.overwrites-kernels", "trace.uses-freed"};
  const ttm_hazard *h = &t->f->traces.hazards.at[i];
  const ttm_device_trace *trace = &t->f->traces.at.at[h->trace];
  bool harm = ttm_hazard_is_harm(h);
  ttm_statement *s = ttm_tell(t, harm ? ids[h->kind] : "trace.overwrites-unused", TTM_TOPIC_TRACES,
                              harm ? TTM_SEVERITY_WARNING : TTM_SEVERITY_NOTE, TTM_DERIVED);
  if (!s) return;
  s->number = i;
  static const char *const what[] = {"overwrites a live tensor: ", "overwrites the kernels of ",
                                     "uses a freed tensor: "};
  ttm_say(&t->text, t->f, "Trace {} {}", TTM_COUNT(trace->id), TTM_WORDS(what[h->kind]));
  if (h->kind == TTM_HAZARD_KERNELS)
    ttm_say(&t->text, t->f, "{}", TTM_OP(buffer_of(t, h->row)->op));
  else
    say_tensor(t, h->row);
  say_times(t, h);
  if (h->kind == TTM_HAZARD_FREED) {
    ttm_buf_puts(&t->text, ", lay where now ");
    say_other(t, h);
    ttm_say(&t->text, t->f, " lies, when {} replays it", TTM_OP(h->replay));
  } else {
    say_harm(t, h);
  }
  ttm_tell_headline(t);
  tell_overlap(t, h);
  ttm_tell_op(t, buffer_of(t, h->row)->op);
  ttm_tell_quantity(t, "trace", "", (double)trace->id);
  ttm_tell_quantity(t, "address", "", (double)h->start);
  ttm_tell_quantity(t, "overlap_per_bank", "B", (double)(h->end - h->start));
  ttm_tell_quantity(t, "tensors", "", h->times);
  if (harm) tell_fix(t, h);
}

/* What was looked for and not found. */
static void tell_safe(ttm_teller *t) {
  const ttm_traces *traces = &t->f->traces;
  ttm_tell(t, "trace.safe", TTM_TOPIC_TRACES, TTM_SEVERITY_OK, TTM_DERIVED);
  ttm_headline(t, "Traces are safe: in {} of {} no tensor that is used afterwards lies where a trace writes",
               TTM_PLURAL(traces->replays, "replay"), TTM_PLURAL(traces->at.n, "trace"));
}

/* Memory that is neither a leak nor free: who looks at addresses finds it above all tensors. */
static void tell_storage(ttm_teller *t) {
  uint64_t bytes = t->p->capture.peak_traces;
  if (!bytes || !ttm_tell(t, "trace.in-dram", TTM_TOPIC_TRACES, TTM_SEVERITY_NOTE, TTM_MEASURED)) return;
  ttm_headline(t, "Traces took {} per bank at the top of DRAM: trace_region_size is 0", TTM_BYTES(bytes));
  ttm_detail(t, "They stay there until they are released. `ttmem plan` has the trace_region_size that holds them.");
  ttm_tell_quantity(t, "per_bank", "B", (double)bytes);
}

void ttm_tell_traces(ttm_teller *t) {
  const ttm_traces *traces = &t->f->traces;
  if (!traces->at.n) return;
  if (!traces->hazards.n || !ttm_hazard_is_harm(&traces->hazards.at[0])) tell_safe(t);
  for (uint32_t i = 0; i < traces->hazards.n && i < SHOWN_HAZARDS; i++) tell_hazard(t, i);
  if (traces->hazards.n > SHOWN_HAZARDS)
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "and {} more", TTM_COUNT(traces->hazards.n - SHOWN_HAZARDS));
  tell_storage(t);
}
