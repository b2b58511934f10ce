/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated runs folded: how often each program ran, how far its usual runs rise, and which runs are not like them. */
#include "analyze/parts.h"
#include "base/map.h"

enum { ROUNDING = 2, MOST_PROGRAMS = 64 };

/* What stands behind one row of the findings' programs. */
typedef struct vote {
  uint32_t rise;  /* the usual one so far, TTM_NONE */
  uint32_t count; /* runs that rise so far, give or take the rounding */
  bool finished;  /* one of them came to its end */
} vote;

typedef struct folding {
  ttm_findings *f;
  uint32_t *program; /* per run: position + 1 in the findings' programs, 0 beyond MOST_PROGRAMS */
  ttm_map counts;    /* by program and rise */
  vote votes[MOST_PROGRAMS];
} folding;

/* How far a run goes above its start: a leak lifts start and peak alike. TTM_NONE when no state tells. */
static uint32_t rise_of(const ttm_run *run) {
  return run->start == TTM_NONE || run->peak == TTM_NONE ? TTM_NONE : run->peak - run->start;
}

static uint64_t key_of(uint32_t program, uint32_t rise) { return (uint64_t)program << 32 | rise; }

static int sort_runs(folding *x) {
  const ttm_profile *p = x->f->profile;
  ttm_intern keys = {0};
  int status = TTM_OK;
  for (uint32_t run = 0; run < x->f->runs.n && !status; run++) {
    const ttm_run *row = &x->f->runs.at[run];
    const ttm_call *call = &p->calls.at[row->call];
    uint32_t key[3] = {call->rank, call->name, call->graph}, id, rise = rise_of(row);
    status = ttm_intern_add(&keys, (ttm_str){(const char *)key, sizeof key}, &id);
    if (status || id > MOST_PROGRAMS) continue;
    if (id > x->f->programs.n)
      status = ttm_vec_push(&x->f->programs, (ttm_program_runs){.call = row->call, .peak = TTM_NONE});
    x->program[run] = id;
    if (status || rise == TTM_NONE) continue;
    uint32_t count = ttm_map_get(&x->counts, key_of(id - 1, rise), 0);
    status = ttm_map_set(&x->counts, key_of(id - 1, rise), count + 1);
  }
  ttm_intern_free(&keys);
  return status;
}

/* Most runs decide; among equally many, those that came to their end, and then the later ones, which are past the warm-up. */
static void cast_vote(folding *x, uint32_t run) {
  const ttm_run *row = &x->f->runs.at[run];
  uint32_t rise = rise_of(row), program = x->program[run] - 1, count = 0;
  if (rise == TTM_NONE) return;
  for (uint32_t r = rise > ROUNDING ? rise - ROUNDING : 0; r <= rise + ROUNDING; r++)
    count += ttm_map_get(&x->counts, key_of(program, r), 0);
  bool finished = x->f->profile->calls.at[row->call].finished;
  vote *best = &x->votes[program];
  if (count < best->count || (count == best->count && finished < best->finished)) return;
  *best = (vote){rise, count, finished};
}

static void take_run(folding *x, uint32_t run) {
  const ttm_run *row = &x->f->runs.at[run];
  ttm_program_runs *program = &x->f->programs.at[x->program[run] - 1];
  uint32_t usual = x->votes[x->program[run] - 1].rise, rise = rise_of(row);
  bool told = rise != TTM_NONE && usual != TTM_NONE;
  bool alike = told && (rise > usual ? rise - usual : usual - rise) <= ROUNDING;
  bool seen_usual = program->runs > program->warm_up;
  if (program->runs++ == 0) program->first_run = run;
  if (alike || usual == TTM_NONE) program->usual_run = run;
  if (!alike) *(seen_usual ? &program->odd : &program->warm_up) += 1;
  program->last_run = run;
  if (row->peak != TTM_NONE && (program->peak == TTM_NONE || row->peak > program->peak)) {
    program->peak = row->peak;
    program->peak_run = run;
  }
}

int ttm_find_programs(ttm_findings *f) {
  folding x = {.f = f};
  x.program = ttm_alloc_array(f->runs.n, sizeof *x.program);
  int status = x.program ? sort_runs(&x) : TTM_ENOMEM;
  for (size_t i = 0; i < MOST_PROGRAMS; i++) x.votes[i].rise = TTM_NONE;
  for (uint32_t run = 0; run < f->runs.n && !status; run++) {
    if (x.program[run]) cast_vote(&x, run);
  }
  for (uint32_t run = 0; run < f->runs.n && !status; run++) {
    if (x.program[run]) take_run(&x, run);
  }
  ttm_free(x.program);
  ttm_map_free(&x.counts);
  return status;
}
