/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/parts.h"
#include "base/checked.h"

/* The state's operation runs in the same top-level program run as `call`, or the state is one of that run's own. */
static bool in_same_run(const ttm_profile *p, uint32_t state, uint32_t call) {
  uint32_t op = p->states.at[state].op;
  if (op >= p->ops.n) return op != TTM_STATE_BEFORE_SUBMIT;
  uint32_t other = p->ops.at[op].call;
  if (other == call) return true;
  return other < p->calls.n && call < p->calls.n && ttm_call_top(p, other) == ttm_call_top(p, call);
}

/* A process that was cut off, or a program that died, tells nothing by what comes next: another process, or the cleaning up. A device that
 * is opened anew is empty. *own_run: the state after still belongs to the operation's run. */
static bool is_cut_between(const ttm_profile *p, uint32_t op, uint32_t before, uint32_t after, ttm_memory memory,
                           bool *own_run) {
  uint32_t call = p->ops.at[op].call;
  *own_run = in_same_run(p, after, call);
  if (p->ops.at[op].flags & TTM_OP_FAILED || !ttm_state_same_device(p, before, after, memory)) return true;
  return !*own_run && call < p->calls.n && !p->calls.at[ttm_call_top(p, call)].finished;
}

/* Bytes per bank that the results of an operation take in one memory. */
static uint64_t result_bank_bytes(const ttm_profile *p, uint32_t op, ttm_memory memory, uint32_t banks) {
  static const ttm_buffer_kind kinds[TTM_MEMORIES] = {TTM_BUFFER_DRAM, TTM_BUFFER_L1, TTM_BUFFER_L1_SMALL,
                                                      TTM_BUFFER_TRACE};
  const ttm_op_text *text = ttm_op_text_of(p, op);
  ttm_alignment align = ttm_op_alignment(p, op);
  uint64_t sum = 0;
  for (uint32_t k = 0; k < text->outputs.n; k++) {
    const ttm_tensor_type *type = ttm_op_text_output(p, text, k);
    if (type && type->has_layout && type->buffer == kinds[memory])
      sum = ttm_add_sat(sum, ttm_tensor_bank_bytes(type, banks, align));
  }
  return sum;
}

bool ttm_rise_is_own(const ttm_profile *p, uint32_t before, uint32_t after, ttm_memory memory, uint32_t from,
                     uint32_t to) {
  uint32_t op = p->states.at[before].op;
  bool own_run;
  if (op >= p->ops.n || is_cut_between(p, op, before, after, memory, &own_run)) return false;
  if (to <= from || own_run) return true;
  ttm_level level;
  ttm_state_level(p, before, memory, &level);
  uint64_t own = result_bank_bytes(p, op, memory, level.banks);
  return ttm_level_bytes(to - from) <= ttm_add_sat(own, own / 50 + 2 * TTM_LEVEL_SLACK);
}

/* How much of a fall behind the last operation of a run is that operation's: what the tensor takes that it deallocates. Of an argument
 * nothing tells the size; up to the end of its own run the fall is then the deallocation's all the same. */
static int64_t own_fall(const ttm_profile *p, uint32_t before, bool own_run, int64_t change) {
  uint32_t op = p->states.at[before].op, tensor = p->ops.at[op].tensor;
  ttm_level level;
  if (ttm_op_text_of(p, op)->kind != TTM_OP_DEALLOCATE || change >= 0) return 0;
  const ttm_tensor_type *type = tensor < p->tensors.n ? ttm_tensor_type_of(p, p->tensors.at[tensor].self) : NULL;
  if (!type) return own_run ? change : 0;
  if (!type->has_layout || type->buffer != TTM_BUFFER_DRAM || !ttm_state_level(p, before, TTM_DRAM, &level)) return 0;
  uint64_t size = ttm_tensor_bank_bytes(type, level.banks, ttm_profile_alignment_of(p, level.banks));
  if (ttm_level_bytes((uint64_t)-change) <= ttm_add_sat(size, 2 * TTM_LEVEL_SLACK)) return change;
  return -(int64_t)((ttm_mul_sat(size, 1000) + 524288) / 1048576);
}

/* Whether the change up to `after`, the state behind the operation of `before`, is that operation's. Between two runs, and once a program is over,
 * the host is at work: there it must be what the operation itself makes or frees. */
static bool is_own_change(const ttm_profile *p, uint32_t op, uint32_t before, uint32_t after, ttm_memory memory,
                          uint32_t from, uint32_t to) {
  bool own_run;
  if (is_cut_between(p, op, before, after, memory, &own_run)) return false;
  if (to > from) return ttm_rise_is_own(p, before, after, memory, from, to);
  if (own_run && (to == from || p->states.at[after].op < p->ops.n || p->kind >= TTM_LOG_CAPTURE)) return true;
  ttm_level level;
  ttm_state_level(p, before, memory, &level);
  if (to == from) return result_bank_bytes(p, op, memory, level.banks) <= TTM_LEVEL_SLACK;
  bool frees = ttm_op_text_of(p, op)->kind == TTM_OP_DEALLOCATE;
  return memory == TTM_DRAM ? own_fall(p, before, own_run, (int64_t)to - from) == (int64_t)to - from : frees;
}

bool ttm_effect_between(const ttm_profile *p, uint32_t before, uint32_t after, ttm_memory memory, int64_t *out) {
  uint32_t from, to, op = p->states.at[before].op;
  *out = 0;
  if (op >= p->ops.n || after == TTM_NONE) return false;
  if (!ttm_state_allocated(p, before, memory, &from) || !ttm_state_allocated(p, after, memory, &to)) return false;
  if (!is_own_change(p, op, before, after, memory, from, to)) return false;
  *out = (int64_t)to - from;
  return true;
}

bool ttm_op_effect(const ttm_profile *p, uint32_t op, ttm_memory memory, int64_t *out) {
  *out = 0;
  if (op >= p->ops.n || p->ops.at[op].state >= p->states.n) return false;
  return ttm_effect_between(p, p->ops.at[op].state, ttm_state_next(p, p->ops.at[op].state), memory, out);
}

uint32_t ttm_op_program(const ttm_profile *p, uint32_t op) {
  if (op >= p->ops.n || ttm_op_text_of(p, op)->kind != TTM_OP_LOAD_CACHED || p->ops.at[op].call >= p->calls.n)
    return TTM_NONE;
  uint32_t rank = p->calls.at[p->ops.at[op].call].rank;
  for (uint32_t next = op + 1; next < p->ops.n; next++) { /* other ranks' lines may stand between */
    uint32_t call = p->ops.at[next].call;
    if (call >= p->calls.n || p->calls.at[call].rank != rank) continue;
    while (p->calls.at[call].caller != op && p->calls.at[call].parent < p->calls.n) call = p->calls.at[call].parent;
    return p->calls.at[call].caller == op ? call : TTM_NONE;
  }
  return TTM_NONE;
}

/* The state after the operation and the program it ran inside; TTM_NONE when none was printed. */
static uint32_t state_after(const ttm_profile *p, uint32_t op) {
  uint32_t program = ttm_op_program(p, op), last = program == TTM_NONE ? op : p->calls.at[program].last_op;
  if (last >= p->ops.n || p->ops.at[last].state >= p->states.n) return TTM_NONE;
  return ttm_state_next(p, p->ops.at[last].state);
}

bool ttm_op_effect_whole(const ttm_profile *p, uint32_t op, ttm_memory memory, int64_t *out) {
  *out = 0;
  if (op >= p->ops.n || p->ops.at[op].state >= p->states.n) return false;
  return ttm_effect_between(p, p->ops.at[op].state, state_after(p, op), memory, out);
}

const char *ttm_op_effect_unknown(const ttm_profile *p, uint32_t op, ttm_memory memory) {
  uint32_t before = p->ops.at[op].state, after = before < p->states.n ? state_after(p, op) : TTM_NONE;
  if (p->ops.at[op].flags & TTM_OP_FAILED) return "the operation failed";
  if (after == TTM_NONE) return "no state stands after it";
  if (!ttm_state_same_device(p, before, after, memory)) return "the device was opened anew after it";
  bool own_run;
  return is_cut_between(p, op, before, after, memory, &own_run) ? "its program was cut off"
                                                                : "the host changed memory after it";
}

uint32_t ttm_op_inside(const ttm_profile *p, uint32_t op, ttm_memory memory, uint32_t *ops) {
  uint32_t program = ttm_op_program(p, op), from, level, highest = 0;
  *ops = 0;
  if (program == TTM_NONE || p->ops.at[op].state >= p->states.n) return 0;
  if (!ttm_state_allocated(p, p->ops.at[op].state, memory, &from)) return 0;
  const ttm_call *call = &p->calls.at[program];
  for (uint32_t i = call->first_op; i <= call->last_op && i < p->ops.n; i++) {
    uint32_t other = p->ops.at[i].call;
    if (other >= p->calls.n || p->calls.at[other].rank != call->rank) continue;
    *ops += ttm_op_is_element(p, i);
    if (p->ops.at[i].state < p->states.n && ttm_state_allocated(p, p->ops.at[i].state, memory, &level) &&
        level > from && level - from > highest)
      highest = level - from;
  }
  return highest;
}

/* Who made the change between two states of a rank. */
static void attribute(ttm_findings *f, uint32_t before, uint32_t after, int64_t change) {
  const ttm_profile *p = f->profile;
  ttm_attribution *to = &f->attribution;
  uint32_t op = p->states.at[before].op;
  to->total += change;
  if (op >= p->ops.n) {
    to->host += change;
    return;
  }
  /* When the program is over, what it still held goes: nobody in particular frees it. */
  bool own_run, over = p->states.at[after].op >= p->ops.n && change < 0;
  if (is_cut_between(p, op, before, after, TTM_DRAM, &own_run)) {
    to->host += change;
  } else if (over || !own_run) {
    int64_t fall = p->ops.at[op].flags & TTM_OP_CONST_EVAL ? 0 : own_fall(p, before, own_run, change);
    to->freed += fall;
    to->host += change - fall;
  } else if (p->ops.at[op].flags & TTM_OP_CONST_EVAL) {
    to->const_eval += change;
  } else if (ttm_op_text_of(p, op)->kind == TTM_OP_DEALLOCATE) {
    to->freed += change;
  } else {
    *(change > 0 ? &to->added : &to->given_back) += change;
  }
}

/* What the operation between two states of a rank added to a memory. */
static int consider(ttm_findings *f, ttm_consumer_sums *sums, uint32_t before, uint32_t after, ttm_memory memory) {
  const ttm_profile *p = f->profile;
  uint32_t from, to, op = p->states.at[before].op;
  if (!ttm_state_allocated(p, before, memory, &from) || !ttm_state_allocated(p, after, memory, &to)) return TTM_OK;
  if (to <= from || !ttm_op_is_element(p, op) || !ttm_rise_is_own(p, before, after, memory, from, to)) return TTM_OK;
  return ttm_consumer_sums_add(sums, memory, op, (int64_t)to - from);
}

/* The other memories stand in the shared base: the same base means no change. */
static int consider_all(ttm_findings *f, ttm_consumer_sums *sums, uint32_t before, uint32_t after) {
  const ttm_profile *p = f->profile;
  uint32_t op = p->states.at[before].op;
  if (op >= p->ops.n || p->ops.at[op].flags & TTM_OP_CONST_EVAL) return TTM_OK; /* its load_cached stands for it */
  if (ttm_op_text_of(p, op)->kind == TTM_OP_LOAD_CACHED) after = state_after(p, op);
  if (after == TTM_NONE) return TTM_OK;
  int status = consider(f, sums, before, after, TTM_DRAM);
  bool changed = p->states.at[before].base != p->states.at[after].base;
  for (int m = TTM_L1; changed && m < TTM_MEMORIES && !status; m++)
    status = consider(f, sums, before, after, (ttm_memory)m);
  return status;
}

/* One pass over the states: ttm_state_next for each operation would look past the other ranks again and again. */
static int walk(ttm_findings *f, ttm_consumer_sums *sums, uint32_t *last) {
  const ttm_profile *p = f->profile;
  int status = TTM_OK;
  for (uint32_t r = 0; r < ttm_rank_rows(p); r++) last[r] = TTM_NONE;
  for (uint32_t s = 0; s < p->states.n && !status; s++) {
    uint32_t *before = &last[ttm_rank_clip(p, p->state_bases.at[p->states.at[s].base].rank)], from, to;
    f->attribution.known |= p->states.at[s].op < p->ops.n;
    if (*before != TTM_NONE) {
      if (ttm_state_allocated(p, *before, TTM_DRAM, &from) && ttm_state_allocated(p, s, TTM_DRAM, &to) && to != from)
        attribute(f, *before, s, (int64_t)to - from);
      status = consider_all(f, sums, *before, s);
    }
    *before = s;
  }
  return status;
}

int ttm_find_consumers(ttm_findings *f) {
  uint32_t *last = ttm_alloc_array(ttm_rank_rows(f->profile), sizeof *last);
  ttm_consumer_sums *sums = ttm_consumer_sums_new(f->profile);
  int status = last && sums ? walk(f, sums, last) : TTM_ENOMEM;
  if (!status) status = ttm_consumer_sums_rank(sums, f->consumers);
  ttm_consumer_sums_free(sums);
  ttm_free(last);
  return status;
}
