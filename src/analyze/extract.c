/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/extract.h"

static void raise_to(uint64_t *peak, uint64_t value) {
  if (value > *peak) *peak = value;
}

/* ---- extract_resource_usage_per_core ------------------------------------------------------------------------------- */

typedef struct per_core {
  ttm_resource_usage *out;
  uint64_t cb, l1, dataflow, scratchpad, total; /* size_t there: they wrap */
  bool wrapped;
} per_core;

static void refuse(ttm_resource_usage *out, const char *why, uint32_t node) {
  if (out->refused) return;
  out->refused = why;
  out->refused_at = node;
}

/* A size as its uint32_t holds it. */
static uint32_t cut(uint64_t bytes) { return bytes == TTM_UNKNOWN ? 0 : (uint32_t)bytes; }

static void add_program_buffer(per_core *s, const ttm_buffer_event *e, uint64_t *sum, uint64_t *peak) {
  if (e->alias & TTM_ALIAS_UNTOLD)
    refuse(s->out,
           e->kind == TTM_EVENT_CIRCULAR ? "a circular buffer has no \"globally_allocated\""
                                         : "a dataflow buffer has no \"borrows_memory\"",
           e->node);
  if (e->alias & TTM_ALIAS_WORD) refuse(s->out, "\"globally_allocated\" is text where a number is needed", e->node);
  if (e->bytes == TTM_UNKNOWN) refuse(s->out, "a buffer of a program has no \"size\"", e->node);
  if (e->alias & TTM_ALIAS) return;
  *sum += cut(e->bytes);
  s->total += cut(e->bytes);
  raise_to(peak, *sum);
  raise_to(&s->out->peak_total, s->total);
}

static void add_buffer(per_core *s, const ttm_buffer_event *e) {
  if (e->word == TTM_WORD_NONE) refuse(s->out, "a buffer has no \"type\"", e->node);
  if (e->word == TTM_WORD_DRAM) return;
  if (e->per_bank == TTM_UNKNOWN)
    refuse(s->out, "L1 buffers have no \"max_size_per_bank\": the capture is older than 0.70", e->node);
  uint64_t bytes = cut(e->per_bank);
  if (e->kind == TTM_EVENT_FREE) {
    s->wrapped |= bytes > s->l1 || bytes > s->total;
    s->l1 -= bytes;
    s->total -= bytes;
    return;
  }
  s->l1 += bytes;
  s->total += bytes;
  raise_to(&s->out->peak_l1, s->l1);
  raise_to(&s->out->peak_total, s->total);
}

static bool extract_per_core(const ttm_profile *p, ttm_resource_usage *out) {
  per_core s = {.out = out};
  if (!p->capture.ordered) refuse(out, "the nodes are not numbered 0, 1, 2, ...", TTM_NONE);
  for (size_t i = 0; i < p->capture.events.n; i++) {
    const ttm_buffer_event *e = &p->capture.events.at[i];
    switch (e->kind) {
      case TTM_EVENT_CIRCULAR:
        add_program_buffer(&s, e, &s.cb, &out->peak_cb);
        break;
      case TTM_EVENT_DATAFLOW:
        add_program_buffer(&s, e, &s.dataflow, &out->peak_dataflow_buffer);
        break;
      case TTM_EVENT_SCRATCHPAD:
        add_program_buffer(&s, e, &s.scratchpad, &out->peak_scratchpad);
        break;
      case TTM_EVENT_PROGRAM_FREE:
        s.total -= s.cb + s.dataflow + s.scratchpad;
        s.cb = s.dataflow = s.scratchpad = 0;
        break;
      case TTM_EVENT_ALLOCATE:
      case TTM_EVENT_FREE:
        add_buffer(&s, e);
        break;
      default:
        break;
    }
  }
  return s.wrapped;
}

/* ---- extract_peak_L1_memory_usage ---------------------------------------------------------------------------------- */

/* Sizes of one core and of whole buffers in one 32-bit sum; circular buffers count even when they lie in a tensor. */
static bool extract_peak_l1(const ttm_profile *p, uint32_t *out) {
  uint32_t program = 0, buffers = 0, peak = 0;
  bool wrapped = false;
  for (size_t i = 0; i < p->capture.events.n; i++) {
    const ttm_buffer_event *e = &p->capture.events.at[i];
    switch (e->kind) {
      case TTM_EVENT_DATAFLOW:
        if (e->alias & TTM_ALIAS) break;
        program += cut(e->bytes);
        break;
      case TTM_EVENT_CIRCULAR:
      case TTM_EVENT_SCRATCHPAD:
        program += cut(e->bytes);
        break;
      case TTM_EVENT_PROGRAM_FREE:
        program = 0;
        break;
      case TTM_EVENT_ALLOCATE:
      case TTM_EVENT_INPUT:
        if (e->word == TTM_WORD_L1) buffers += cut(e->bytes);
        break;
      case TTM_EVENT_FREE:
        if (e->named_word != TTM_WORD_L1) break;
        wrapped |= cut(e->named_bytes) > buffers;
        buffers -= cut(e->named_bytes);
        break;
      default:
        break;
    }
    uint32_t total = program + buffers;
    if (total > peak) peak = total;
  }
  *out = peak;
  return wrapped;
}

/* ---- extract_dram_usage -------------------------------------------------------------------------------------------- */

static void extract_dram(const ttm_profile *p, ttm_dram_extract *out) {
  uint64_t now = 0; /* signed there; unsigned arithmetic is the same and may not trap */
  for (size_t i = 0; i < p->capture.events.n; i++) {
    const ttm_buffer_event *e = &p->capture.events.at[i];
    if (e->kind == TTM_EVENT_ALLOCATE && e->word == TTM_WORD_DRAM && e->bytes != TTM_UNKNOWN) {
      now += e->bytes;
      out->total_allocations += e->bytes;
    } else if (e->kind == TTM_EVENT_FREE && e->named_word == TTM_WORD_DRAM && e->named_bytes != TTM_UNKNOWN) {
      now -= e->named_bytes;
      out->total_deallocations += e->named_bytes;
    }
    if ((int64_t)now > out->peak) out->peak = (int64_t)now;
  }
}

void ttm_extract(const ttm_profile *p, ttm_extracts *out) {
  *out = (ttm_extracts){.per_core.refused_at = TTM_NONE};
  out->wrapped = extract_per_core(p, &out->per_core);
  out->wrapped |= extract_peak_l1(p, &out->peak_l1_memory_usage);
  extract_dram(p, &out->dram);
}
