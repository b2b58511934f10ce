/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/parts.h"

bool ttm_memory_of(ttm_str name, ttm_memory *out) {
  static const ttm_str names[TTM_MEMORIES] = {
      [TTM_DRAM] = {"DRAM", 4}, [TTM_L1] = {"L1", 2}, [TTM_L1_SMALL] = {"L1_SMALL", 8}, [TTM_TRACE] = {"TRACE", 5}};
  for (int m = 0; m < TTM_MEMORIES; m++) {
    if (ttm_str_eq(name, names[m])) return *out = (ttm_memory)m, true;
  }
  return false;
}

static void find_highest(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  uint32_t best[TTM_MEMORIES] = {0}, call = TTM_NONE;
  for (uint32_t s = 0; s < p->states.n; s++) {
    /* The memories other than DRAM only change with the shared call. */
    int memories = p->states.at[s].base == call ? 1 : TTM_MEMORIES;
    call = p->states.at[s].base;
    for (int m = 0; m < memories; m++) {
      uint32_t allocated;
      if (!ttm_state_allocated(p, s, (ttm_memory)m, &allocated)) continue;
      if (f->peak[m].known && allocated <= best[m]) continue;
      f->peak[m].known = true;
      f->peak[m].state = s;
      best[m] = allocated;
    }
  }
}

/* A state is printed before its operation, so what raised the level is the operation of the state before. When that
 * state belongs to none (around submit), operations without blocks may have run since: nobody can be named. Nor can anybody when
 * the level rose between two runs by more than the last operation made. */
static void find_cause(const ttm_profile *p, ttm_memory memory, ttm_peak *peak) {
  uint32_t before = ttm_state_previous(p, peak->state), from;
  if (before == TTM_NONE || p->states.at[before].op >= p->ops.n) return;
  if (!ttm_state_allocated(p, before, memory, &from) || from >= peak->level.allocated) return;
  if (!ttm_rise_is_own(p, before, peak->state, memory, from, peak->level.allocated)) return;
  peak->cause = p->states.at[before].op;
  peak->effect = (int64_t)peak->level.allocated - from;
}

/* What a failing operation had allocated inside itself shows in no block, only in its error message. */
static void find_in_op(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  for (uint32_t i = 0; i < p->incidents.n; i++) {
    const ttm_incident_text *what = &p->incidents.at[i].what;
    ttm_memory memory;
    if (what->kind != TTM_INCIDENT_OOM || what->allocated_per_bank == TTM_UNKNOWN) continue;
    if (!ttm_memory_of(what->memory, &memory)) continue;
    ttm_peak *peak = &f->peak[memory];
    if (peak->known && what->allocated_per_bank <= ttm_level_bytes(peak->level.allocated) + TTM_LEVEL_SLACK) continue;
    if (what->allocated_per_bank <= peak->in_op_bytes) continue;
    peak->in_op_bytes = what->allocated_per_bank;
    peak->in_op_incident = i;
  }
}

void ttm_find_peaks(ttm_findings *f) {
  for (int m = 0; m < TTM_MEMORIES; m++) {
    f->peak[m] = (ttm_peak){.state = TTM_NONE, .cause = TTM_NONE, .in_op_incident = TTM_NONE};
  }
  find_highest(f);
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_peak *peak = &f->peak[m];
    if (!peak->known) continue;
    ttm_state_level(f->profile, peak->state, (ttm_memory)m, &peak->level);
    if (peak->level.allocated) find_cause(f->profile, (ttm_memory)m, peak);
  }
  find_in_op(f);
}
