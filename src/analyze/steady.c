/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated runs folded: how often each program ran, how far the first runs differ from the later ones. */
#include "analyze/parts.h"

enum { ROUNDING = 2, MOST_PROGRAMS = 64 };

static bool alike(const ttm_run *a, const ttm_run *b) {
  if (a->start == TTM_NONE || b->start == TTM_NONE || a->peak == TTM_NONE || b->peak == TTM_NONE) return false;
  uint32_t x = a->peak - a->start, y = b->peak - b->start; /* a leak lifts start and peak alike */
  return (x > y ? x - y : y - x) <= ROUNDING;
}

static void take_run(ttm_findings *f, ttm_program_runs *program, uint32_t run) {
  const ttm_run *row = &f->runs.at[run];
  if (program->runs++ == 0) {
    program->first_run = program->steady_from = run;
  } else if (!alike(&f->runs.at[program->last_run], row)) {
    program->steady_from = run;
    program->changes = program->runs - 1;
  }
  program->last_run = run;
  if (row->peak != TTM_NONE && (program->peak == TTM_NONE || row->peak > program->peak)) {
    program->peak = row->peak;
    program->peak_run = run;
  }
}

int ttm_find_programs(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_intern keys = {0};
  int status = TTM_OK;
  for (uint32_t run = 0; run < f->runs.n && !status; run++) {
    const ttm_frame *frame = &p->frames.at[f->runs.at[run].frame];
    uint32_t key[3] = {frame->rank, frame->name, frame->graph}, id;
    status = ttm_intern_add(&keys, (ttm_view){(const char *)key, sizeof key}, &id);
    if (status || id > MOST_PROGRAMS) continue;
    if (id > f->programs.n)
      status = ttm_vec_push(&f->programs, (ttm_program_runs){.frame = f->runs.at[run].frame, .peak = TTM_NONE});
    if (!status) take_run(f, &f->programs.at[id - 1], run);
  }
  ttm_intern_free(&keys);
  return status;
}
