/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/parts.h"
#include "analyze/replay.h"
#include "analyze/words.h"

bool ttm_memory_of(ttm_str name, ttm_memory *out) {
  static const ttm_str names[TTM_MEMORIES] = {
      [TTM_DRAM] = {"DRAM", 4}, [TTM_L1] = {"L1", 2}, [TTM_L1_SMALL] = {"L1_SMALL", 8}, [TTM_TRACE] = {"TRACE", 5}};
  for (int m = 0; m < TTM_MEMORIES; m++) {
    if (ttm_str_eq(name, names[m])) return *out = (ttm_memory)m, true;
  }
  return false;
}

/* The peak on devices like that of a state; NULL when the state does not tell, or when there are too many kinds. */
static ttm_peak *device_of(ttm_findings *f, uint32_t state, ttm_memory m) {
  ttm_device_peaks *all = &f->devices[m];
  uint32_t allocated, i = 0;
  if (!ttm_state_allocated(f->profile, state, m, &allocated)) return NULL;
  while (i < all->n && !ttm_state_same_device(f->profile, all->at[i].state, state, m)) i++;
  if (i == TTM_DEVICE_KINDS) return NULL;
  if (i == all->n)
    all->at[all->n++] = (ttm_peak){.known = true, .state = state, .opened = state, .measured = allocated};
  return &all->at[i];
}

static void find_highest(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_peak *device[TTM_MEMORIES] = {NULL};
  uint32_t base = TTM_NONE;
  for (uint32_t s = 0; s < p->states.n; s++) {
    /* The kind of device, and the memories other than DRAM, only change with the shared base. */
    bool same = p->states.at[s].base == base;
    base = p->states.at[s].base;
    for (int m = 0; m < (same ? 1 : TTM_MEMORIES); m++) {
      uint32_t allocated;
      if (!same) device[m] = device_of(f, s, (ttm_memory)m);
      if (!device[m] || !ttm_state_allocated(p, s, (ttm_memory)m, &allocated)) continue;
      if (allocated > device[m]->measured) device[m]->state = s, device[m]->measured = allocated;
      if (p->filled && allocated > device[m]->printed && !ttm_state_is_predicted(p, s)) device[m]->printed = allocated;
    }
  }
}

/* A state is printed before its operation, so what raised the level is the operation of the state before. When that
 * state belongs to none (around submit), operations without blocks may have run since: nobody can be named. Nor can anybody when
 * the level rose between two runs by more than the last operation made. */
static void find_cause(const ttm_profile *p, ttm_memory memory, ttm_peak *peak) {
  uint32_t before = ttm_state_previous(p, peak->state), from;
  if (before == TTM_NONE || p->states.at[before].op >= p->ops.n) return;
  if (!ttm_state_allocated(p, before, memory, &from) || from >= peak->measured) return;
  if (!ttm_rise_is_own(p, before, peak->state, memory, from, peak->measured)) return;
  peak->cause = p->states.at[before].op;
  peak->effect = (int64_t)peak->measured - from;
}

/* ---- Operations without states ------------------------------------------------------------------------------------- */

/* The replay stands right before `op`, which has no state of its own; `last` ran before it, when so much was held. */
static void take_unseen(ttm_findings *f, const ttm_replay *r, int m, uint32_t op, uint32_t last, uint64_t before) {
  uint64_t held = ttm_replay_held(&r->memories[m]);
  ttm_memory memory = m == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM;
  ttm_peak *peak = r->last_state == TTM_NONE ? NULL : device_of(f, r->last_state, memory);
  uint64_t shown = peak ? ttm_level_bytes(peak->derived ? peak->level.allocated : peak->measured) : 0;
  if (peak && !peak->derived) shown += shown / 100 + 4 * TTM_LEVEL_SLACK; /* a sum may be off by that much */
  if (!peak || held <= shown) return;
  uint32_t allocated = ttm_level_of_bytes(held), total = r->memories[m].total;
  peak->derived = true;
  peak->before = op;
  peak->state = r->last_state;
  peak->cause = held > before ? last : TTM_NONE;
  peak->effect = held > before ? (int64_t)ttm_level_of_bytes(held - before) : 0;
  peak->level = (ttm_level){r->memories[m].banks, total, allocated, total > allocated ? total - allocated : 0,
                            ttm_level_of_bytes(ttm_bank_largest(&r->memories[m].bank))};
}

static int watch_rank(ttm_findings *f, uint32_t rank) {
  const ttm_profile *p = f->profile;
  ttm_replay replay;
  uint64_t before[TTM_REPLAY_MEMORIES] = {0};
  uint32_t last = TTM_NONE;
  int status = ttm_replay_init(&replay, p, rank);
  for (uint32_t op = 0; op < p->ops.n && !status; op++) {
    if (ttm_op_rank(p, op) != rank) continue;
    status = ttm_replay_to_op(&replay, op);
    for (int m = 0; m < TTM_REPLAY_MEMORIES && !status; m++) {
      if (p->ops.at[op].state == TTM_NONE) take_unseen(f, &replay, m, op, last, before[m]);
      before[m] = ttm_replay_held(&replay.memories[m]);
    }
    last = op;
  }
  ttm_replay_free(&replay);
  return status;
}

/* Operations without states (a lower log level, lost lines) may have come higher than any state that was printed. */
static int find_unseen(ttm_findings *f) {
  enum { MOST_RANKS = 64 };
  const ttm_profile *p = f->profile;
  bool unseen[MOST_RANKS] = {false};
  int status = TTM_OK;
  if ((p->kind != TTM_LOG_FULL && p->kind != TTM_LOG_OPS) || !p->states.n || !ttm_profile_frees_known(p)) return status;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    if (p->ops.at[op].state != TTM_NONE) continue;
    uint32_t rank = ttm_op_rank(p, op);
    if (rank < MOST_RANKS) unseen[rank] = true;
  }
  for (uint32_t rank = 0; rank < MOST_RANKS && !status; rank++)
    if (unseen[rank]) status = watch_rank(f, rank);
  return status;
}

/* ---- Failing operations ----------------------------------------------------------------------------------------------- */

/* What a failing operation had allocated inside itself shows in no block, only in its error message. */
static void take_in_op(ttm_peak *peak, uint64_t bytes, uint32_t incident) {
  if (peak->known && bytes <= ttm_level_bytes(peak->level.allocated) + TTM_LEVEL_SLACK) return;
  if (bytes <= peak->in_op_bytes) return;
  peak->in_op_bytes = bytes;
  peak->in_op_incident = incident;
}

static void find_in_op(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  for (uint32_t i = 0; i < p->incidents.n; i++) {
    const ttm_incident *incident = &p->incidents.at[i];
    ttm_memory memory;
    if (incident->what.kind != TTM_INCIDENT_OOM || incident->what.allocated_per_bank == TTM_UNKNOWN) continue;
    if (!ttm_memory_of(incident->what.memory, &memory)) continue;
    ttm_peak *device = incident->state < p->states.n ? device_of(f, incident->state, memory) : NULL;
    if (device) take_in_op(device, incident->what.allocated_per_bank, i);
    take_in_op(&f->peak[memory], incident->what.allocated_per_bank, i);
  }
}

/* ---- All of them -------------------------------------------------------------------------------------------------------- */

static void settle(ttm_findings *f, ttm_memory m) {
  ttm_peak *highest = &f->peak[m];
  *highest = (ttm_peak){.state = TTM_NONE, .before = TTM_NONE, .cause = TTM_NONE, .in_op_incident = TTM_NONE};
  for (uint32_t i = 0; i < f->devices[m].n; i++) {
    ttm_peak *peak = &f->devices[m].at[i];
    peak->in_op_incident = TTM_NONE;
    peak->at_least = ttm_words_at_least(f->profile) != NULL;
    if (!peak->derived) {
      peak->before = peak->cause = TTM_NONE;
      ttm_state_level(f->profile, peak->state, m, &peak->level);
      if (peak->measured) find_cause(f->profile, m, peak);
    }
    bool higher = peak->level.allocated > highest->level.allocated, first = peak->state < highest->state;
    if (higher || (first && peak->level.allocated == highest->level.allocated)) *highest = *peak;
  }
}

int ttm_find_peaks(ttm_findings *f) {
  find_highest(f);
  int status = find_unseen(f);
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) settle(f, m);
  find_in_op(f);
  return status;
}
