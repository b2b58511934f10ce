/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/parts.h"

/* What the walk over the states keeps. Rows of `run_of_call` and `last_run` are positions in the findings' runs. */
typedef struct run_walk {
  ttm_findings *f;
  uint32_t *run_of_call;
  uint32_t *last_run;   /* per rank: run of its previous state, TTM_NONE */
  uint32_t *last_state; /* per rank: its previous state, TTM_NONE */
} run_walk;

static bool dram_of(const ttm_profile *p, uint32_t state, uint32_t *out) {
  return state < p->states.n && ttm_state_allocated(p, state, TTM_DRAM, out);
}

static void raise_peak(ttm_run *run, uint32_t level) {
  if (run->peak == TTM_NONE || level > run->peak) run->peak = level;
}

static int add_runs(run_walk *walk) {
  ttm_findings *f = walk->f;
  const ttm_profile *p = f->profile;
  for (uint32_t i = 0; i < p->calls.n; i++) walk->run_of_call[i] = TTM_NONE;
  for (uint32_t i = 0; i < p->runs.n; i++) {
    uint32_t call = p->runs.at[i], level;
    ttm_run run = {call, TTM_NONE, TTM_NONE, TTM_NONE, TTM_NONE, TTM_NONE};
    if (call >= p->calls.n) continue;
    if (dram_of(p, p->calls.at[call].before, &level)) {
      run.start = level;
      raise_peak(&run, level);
    }
    walk->run_of_call[call] = (uint32_t)f->runs.n;
    if (ttm_vec_push(&f->runs, run)) return TTM_ENOMEM;
  }
  for (uint32_t i = 0; i < p->calls.n; i++) {
    uint32_t top = ttm_call_top(p, i);
    if (top != i && top < p->calls.n) walk->run_of_call[i] = walk->run_of_call[top];
  }
  return TTM_OK;
}

static uint32_t run_of_op(const run_walk *walk, uint32_t op) {
  const ttm_profile *p = walk->f->profile;
  return op < p->ops.n && p->ops.at[op].call < p->calls.n ? walk->run_of_call[p->ops.at[op].call] : TTM_NONE;
}

static void find_edges(run_walk *walk) {
  const ttm_profile *p = walk->f->profile;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    uint32_t i = run_of_op(walk, op);
    if (i == TTM_NONE || !ttm_op_is_element(p, op)) continue;
    ttm_run *run = &walk->f->runs.at[i];
    if (run->first_op == TTM_NONE) run->first_op = op;
    run->last_op = op;
  }
}

static void take_state(run_walk *walk, uint32_t state) {
  ttm_findings *f = walk->f;
  const ttm_profile *p = f->profile;
  const ttm_state *row = &p->states.at[state];
  uint32_t rank = ttm_rank_clip(p, p->state_bases.at[row->base].rank);
  uint32_t *last = &walk->last_run[rank], before = walk->last_state[rank], from;
  uint32_t i = run_of_op(walk, row->op), level;
  if (!dram_of(p, state, &level)) return;
  if (i != TTM_NONE) {
    ttm_run *run = &f->runs.at[i];
    if (run->start == TTM_NONE) run->start = level;
    raise_peak(run, level);
    run->end = level; /* until a later state tells better */
  } else if (row->op == TTM_STATE_BARE && *last != TTM_NONE) {
    ttm_run *open = &f->runs.at[*last];
    if (row->line <= p->calls.at[open->call].last_line) raise_peak(open, level);
  }
  /* The state after the run's last operation shows what that operation did, whoever the state belongs to. It is a peak of the run
   * only when nobody else can have raised it. */
  if (*last != TTM_NONE && *last != i) {
    f->runs.at[*last].end = level;
    if (dram_of(p, before, &from) && ttm_rise_is_own(p, before, state, TTM_DRAM, from, level))
      raise_peak(&f->runs.at[*last], level);
  }
  *last = i;
  walk->last_state[rank] = state;
}

static void settle(run_walk *walk) {
  const ttm_profile *p = walk->f->profile;
  for (size_t i = 0; i < walk->f->runs.n; i++) {
    ttm_run *run = &walk->f->runs.at[i];
    uint32_t level;
    if (dram_of(p, p->calls.at[run->call].after, &level)) {
      run->end = level;
      raise_peak(run, level);
    }
    if (run->end == TTM_NONE) run->end = run->start; /* cut off right after its first state */
  }
}

int ttm_find_runs(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  run_walk walk = {.f = f};
  int status = TTM_ENOMEM;
  walk.run_of_call = ttm_alloc_array(p->calls.n, sizeof *walk.run_of_call);
  walk.last_run = ttm_alloc_array(ttm_rank_rows(p), sizeof *walk.last_run);
  walk.last_state = ttm_alloc_array(ttm_rank_rows(p), sizeof *walk.last_state);
  if (!walk.run_of_call || !walk.last_run || !walk.last_state || add_runs(&walk)) goto done;
  for (uint32_t r = 0; r < ttm_rank_rows(p); r++) walk.last_run[r] = walk.last_state[r] = TTM_NONE;
  find_edges(&walk);
  for (uint32_t s = 0; s < p->states.n; s++) take_state(&walk, s);
  settle(&walk);
  status = TTM_OK;
done:
  ttm_free(walk.run_of_call);
  ttm_free(walk.last_run);
  ttm_free(walk.last_state);
  return status;
}
