/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <zstd.h>

const char *ttm_memory_name(ttm_memory memory) {
  static const char *const names[] = {"DRAM", "L1", "L1_SMALL", "TRACE"};
  return memory < TTM_MEMORIES ? names[memory] : "?";
}

const char *ttm_log_kind_name(ttm_log_kind kind) {
  static const char *const names[] = {NULL, "full", "blocks", "ops", "submit", "incidents", "capture", "live"};
  return names[kind];
}

ttm_log_kind ttm_log_kind_named(ttm_str name) {
  int kind = TTM_LOG_LIVE;
  while (kind > TTM_LOG_NONE && !ttm_str_eq(name, ttm_str_of(ttm_log_kind_name((ttm_log_kind)kind)))) kind--;
  return (ttm_log_kind)kind;
}

void ttm_profile_free(ttm_profile *p) {
  if (!p || atomic_fetch_sub(&p->more_owners, 1) > 0) return;
  for (size_t g = 0; g < p->graphs.n; g++) {
    ttm_graph *graph = &p->graphs.at[g];
    for (size_t d = 0; d < graph->dumps.n; d++) ttm_free(graph->dumps.at[d].packed);
    ttm_vec_free(&graph->dumps);
    ttm_vec_free(&graph->args);
    ttm_map_free(&graph->locations);
  }
  ttm_vec_free(&p->lists);
  ttm_vec_free(&p->types);
  ttm_vec_free(&p->texts);
  ttm_vec_free(&p->ops);
  ttm_vec_free(&p->states);
  ttm_vec_free(&p->state_bases);
  ttm_vec_free(&p->tensors);
  ttm_vec_free(&p->calls);
  ttm_vec_free(&p->runs);
  ttm_vec_free(&p->ranks);
  ttm_vec_free(&p->weight_lists);
  ttm_vec_free(&p->graphs);
  ttm_vec_free(&p->incidents);
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) ttm_vec_free(&p->held[m]);
  ttm_vec_free(&p->executions);
  ttm_perf_csv_free(&p->perf);
  for (size_t i = 0; i < p->plans.n; i++) ttm_decision_trace_free(&p->plans.at[i]);
  ttm_vec_free(&p->plans);
  ttm_vec_free(&p->capture.buffers);
  ttm_vec_free(&p->capture.core_places);
  ttm_vec_free(&p->capture.events);
  ttm_vec_free(&p->capture.uses);
  ttm_vec_free(&p->capture.writes);
  ttm_vec_free(&p->capture.traces);
  ttm_vec_free(&p->capture.host.samples);
  ttm_vec_free(&p->capture.stacks);
  ttm_vec_free(&p->capture.openings);
  ttm_vec_free(&p->capture.tests);
  ttm_vec_free(&p->capture.test_of);
  ttm_intern_free(&p->strings);
  ttm_free(p);
}

uint64_t ttm_profile_operation_count(const ttm_profile *p) {
  uint64_t n = 0;
  for (uint32_t op = 0; op < p->ops.n; op++) n += ttm_op_is_element(p, op);
  return n;
}

ttm_str ttm_value_print(const ttm_profile *p, ttm_value value, char scratch[TTM_VALUE_CHARS]) {
  if (!(value & TTM_VALUE_NUMBER)) return ttm_profile_string(p, value);
  bool argument = ttm_value_is_argument(value);
  size_t at = TTM_VALUE_CHARS;
  uint32_t number = value & ~TTM_VALUE_ARGUMENT;
  do scratch[--at] = (char)('0' + number % 10);
  while (number /= 10);
  ttm_str prefix = argument ? TTM_LIT("%arg") : TTM_LIT("%");
  at -= prefix.n;
  memcpy(scratch + at, prefix.p, prefix.n);
  return (ttm_str){scratch + at, TTM_VALUE_CHARS - at};
}

bool ttm_state_level(const ttm_profile *p, uint32_t state, ttm_memory memory, ttm_level *out) {
  const ttm_state *s = &p->states.at[state];
  const ttm_state_base *base = &p->state_bases.at[s->base];
  *out = base->levels[memory];
  if (memory == TTM_DRAM) {
    out->allocated = s->dram_allocated;
    out->free = s->dram_free;
    out->largest = s->dram_largest;
  }
  return base->present >> memory & 1;
}

uint32_t ttm_state_rank(const ttm_profile *p, uint32_t state) {
  return p->state_bases.at[p->states.at[state].base].rank;
}

uint32_t ttm_state_next(const ttm_profile *p, uint32_t state) {
  uint32_t rank = ttm_state_rank(p, state);
  for (uint32_t next = state + 1; next < p->states.n; next++)
    if (ttm_state_rank(p, next) == rank) return next;
  return TTM_NONE;
}

uint32_t ttm_state_previous(const ttm_profile *p, uint32_t state) {
  uint32_t rank = ttm_state_rank(p, state);
  while (state-- > 0)
    if (ttm_state_rank(p, state) == rank) return state;
  return TTM_NONE;
}

const ttm_tensor_type *ttm_op_text_output(const ttm_profile *p, const ttm_op_text *text, uint32_t k) {
  if (k >= text->outputs.n) return NULL;
  const ttm_type *type = &p->types.at[p->lists.at[text->outputs.first + k]];
  return type->is_tensor ? &type->tensor : NULL;
}

const ttm_tensor_type *ttm_tensor_type_of(const ttm_profile *p, uint32_t tensor) {
  const ttm_tensor *t = &p->tensors.at[tensor];
  return ttm_op_text_output(p, ttm_op_text_of(p, t->birth), tensor - p->ops.at[t->birth].tensor);
}

ttm_list ttm_profile_weights(const ttm_profile *p, uint32_t weights) {
  return weights < p->weight_lists.n ? p->weight_lists.at[weights] : (ttm_list){0, 0};
}

uint32_t ttm_call_top(const ttm_profile *p, uint32_t call) {
  while (p->calls.at[call].parent != TTM_NONE) call = p->calls.at[call].parent;
  return call;
}

bool ttm_call_is_cut(const ttm_call *call) {
  return !call->finished && (call->name || (call->parent == TTM_NONE && call->before != TTM_NONE));
}

ttm_alignment ttm_profile_alignment_of(const ttm_profile *p, uint32_t dram_banks) {
  for (size_t g = 0; g < p->graphs.n; g++)
    if (p->graphs.at[g].dram_alignment) return (ttm_alignment){.dram = p->graphs.at[g].dram_alignment, .l1 = 16};
  bool blackhole = dram_banks == 7 || dram_banks == 8;
  return (ttm_alignment){.dram = blackhole ? 64 : 32, .l1 = 16};
}

ttm_alignment ttm_profile_alignment(const ttm_profile *p) {
  ttm_level dram;
  ttm_profile_config(p, TTM_DRAM, &dram);
  return ttm_profile_alignment_of(p, dram.banks);
}

bool ttm_profile_config(const ttm_profile *p, ttm_memory memory, ttm_level *out) {
  for (size_t f = 0; f < p->state_bases.n; f++) {
    if (!(p->state_bases.at[f].present >> memory & 1)) continue;
    *out = p->state_bases.at[f].levels[memory];
    return true;
  }
  *out = (ttm_level){0};
  return false;
}

/* The last state in front of a log line, of a rank; TTM_NONE. */
static uint32_t state_before_line(const ttm_profile *p, uint32_t line, uint32_t rank) {
  size_t low = 0, high = p->states.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    *(p->states.at[middle].line < line ? &low : &high) = p->states.at[middle].line < line ? middle + 1 : middle;
  }
  while (low-- > 0)
    if (ttm_state_rank(p, (uint32_t)low) == rank) return (uint32_t)low;
  return TTM_NONE;
}

bool ttm_op_config(const ttm_profile *p, uint32_t op, ttm_memory memory, ttm_level *out) {
  if (op < p->ops.n && p->states.n) {
    uint32_t call = p->ops.at[op].call, state = p->ops.at[op].state;
    if (state == TTM_NONE)
      state = state_before_line(p, p->ops.at[op].line, call < p->calls.n ? p->calls.at[call].rank : 0);
    if (state < p->states.n && ttm_state_level(p, state, memory, out)) return true;
  }
  return ttm_profile_config(p, memory, out);
}

ttm_alignment ttm_op_alignment(const ttm_profile *p, uint32_t op) {
  ttm_level dram;
  ttm_op_config(p, op, TTM_DRAM, &dram);
  return ttm_profile_alignment_of(p, dram.banks);
}

bool ttm_profile_banks_vary(const ttm_profile *p, ttm_memory memory) {
  ttm_level first;
  bool vary = false;
  ttm_profile_config(p, memory, &first);
  for (size_t i = 0; i < p->state_bases.n && !vary; i++)
    vary = p->state_bases.at[i].present >> memory & 1 && p->state_bases.at[i].levels[memory].banks != first.banks;
  return vary;
}

int ttm_profile_dump_text(const ttm_dump *dump, ttm_buf *out) {
  if (!dump->packed) return TTM_ENODATA;
  if (!ttm_buf_room(out, dump->bytes)) return TTM_ENOMEM;
  size_t n = ZSTD_decompress(out->at + out->n, dump->bytes, dump->packed, dump->packed_bytes);
  if (ZSTD_isError(n) || n != dump->bytes) return TTM_EFORMAT;
  out->n += n;
  return TTM_OK;
}
