/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of ttm_findings_make and what they share. Private to analyze. */
#ifndef TTM_ANALYZE_PARTS_H
#define TTM_ANALYZE_PARTS_H

#include "analyze/findings.h"

/* How often each distinct operation text ran; indexed by text. */
typedef struct ttm_tally {
  uint32_t first;      /* first operation with it, TTM_NONE */
  uint32_t n;          /* operations with it */
  uint32_t first_done; /* first and number of those that did not fail */
  uint32_t done;
} ttm_tally;

/* Each returns 0 or TTM_ENOMEM and fills its own fields of the findings. */
int ttm_find_registry(ttm_findings *f);
int ttm_find_elements(ttm_findings *f, ttm_tally *tally); /* needs the registry; fills `tally` */
int ttm_find_consumers(ttm_findings *f);
int ttm_find_peaks(ttm_findings *f);
int ttm_find_alive(ttm_findings *f); /* needs the peaks; fills nothing when the frees are not known */
int ttm_find_padding(ttm_findings *f, const ttm_tally *tally);
int ttm_find_distribution(ttm_findings *f, const ttm_tally *tally);
int ttm_find_verdicts(ttm_findings *f);
int ttm_find_weight_uses(ttm_findings *f);
/* Whether all that use a weight of this name take it as bfp8 without converting it; `uses`: more that is known of it. Needs the uses. */
bool ttm_weight_takes_bfp8(const ttm_findings *f, uint32_t name, uint8_t uses);
void ttm_find_demand(ttm_findings *f); /* needs the registry, the live set and the uses */
int ttm_find_runs(ttm_findings *f);
int ttm_find_programs(ttm_findings *f); /* needs the runs */
int ttm_find_leaks(ttm_findings *f);    /* likewise */
int ttm_find_buffers(ttm_findings *f);  /* of captures, by tensor */

/* Operations of their rank between the two, deallocations and get_device left out. */
uint32_t ttm_elements_between(const ttm_findings *f, uint32_t from, uint32_t to);

/* The memory an incident names; false when it names none of the four. */
bool ttm_memory_of(ttm_str name, ttm_memory *out);

static inline uint32_t ttm_level_of_bytes(uint64_t bytes) { return (uint32_t)((bytes * 1000 + 524288) / 1048576); }

/* What all leaks add with each run, 0.001 MB per bank. */
static inline uint32_t ttm_leak_sum(const ttm_findings *f) {
  uint64_t sum = 0;
  for (size_t i = 0; i < f->leaks.n; i++) sum += f->leaks.at[i].per_run;
  return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/* A peak in 0.001 MB per bank, what a failing operation held included; below 0 when the log does not tell. */
static inline int64_t ttm_peak_milli(const ttm_peak *peak) {
  if (peak->in_op_bytes) return (int64_t)((double)peak->in_op_bytes * 1000 / 1048576 + 0.5);
  return peak->known ? (int64_t)peak->level.allocated : -1;
}

/* The dense rank of an operation. */
static inline uint32_t ttm_op_rank(const ttm_profile *p, uint32_t op) {
  uint32_t call = p->ops.at[op].call;
  return call < p->calls.n ? p->calls.at[call].rank : 0;
}

/* ttm_state_level for the one figure that the walks over all states need. */
static inline bool ttm_state_allocated(const ttm_profile *p, uint32_t state, ttm_memory memory, uint32_t *out) {
  const ttm_state *s = &p->states.at[state];
  const ttm_state_base *base = &p->state_bases.at[s->base];
  *out = memory == TTM_DRAM ? s->dram_allocated : base->levels[memory].allocated;
  return base->present >> memory & 1;
}

/* The first operation behind a state, for walks over the states: `from` is what the state before gave, 0 at first. */
static inline uint32_t ttm_op_after_state(const ttm_profile *p, uint32_t state, uint32_t from) {
  const ttm_state *s = &p->states.at[state];
  if (s->op < p->ops.n) return s->op;
  while (from < p->ops.n && p->ops.at[from].line <= s->line) from++; /* a submit block: lines tell the order */
  return from;
}

/* Did the operation of state `before` raise the memory to state `after` (the next one of its rank), as far as the log can tell?
 * Inside a run nothing else allocates. Between two runs the caller moves inputs around, so there the operation's own results must
 * account for the rise. `from` and `to` are the two levels. */
bool ttm_rise_is_own(const ttm_profile *p, uint32_t before, uint32_t after, ttm_memory memory, uint32_t from,
                     uint32_t to);

/* Rows per rank that a walk needs: at least one, and every rank index fits after ttm_rank_clip. */
static inline uint32_t ttm_rank_rows(const ttm_profile *p) { return p->ranks.n ? (uint32_t)p->ranks.n : 1; }
static inline uint32_t ttm_rank_clip(const ttm_profile *p, uint32_t rank) { return rank < p->ranks.n ? rank : 0; }

/* The live sums of a rank as they stand, without the load_cached foresight of ttm_alive.dram. */
ttm_alive_sum ttm_alive_running(const ttm_alive *live, uint32_t rank);
/* Starts the program run that `op` belongs to, if it is a new one, without taking the operation. */
void ttm_alive_enter(ttm_alive *live, uint32_t op);

#endif
