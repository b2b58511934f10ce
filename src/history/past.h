/* SPDX-License-Identifier: Apache-2.0 */
/* What the history holds of models: their runs in the order of time, the steps and trends of their peaks, and what that means in words. */
#ifndef TTM_HISTORY_PAST_H
#define TTM_HISTORY_PAST_H

#include "analyze/statement.h"
#include "history/steps.h"
#include "history/store.h"

enum { TTM_PAST_MEMORIES = 2 }; /* DRAM and L1 */
#define TTM_PAST_TOLERANCE 1.0  /* percent */

typedef struct ttm_past_peak {
  bool known, at_least;
  int64_t bytes, capacity; /* per bank; 0: unknown */
  int64_t banks;
} ttm_past_peak;

/* Texts are of the arena; empty where unknown. */
typedef struct ttm_past_run {
  ttm_str run, name, command, source, host, commit, failure, report;
  int64_t time_us, failures;
  ttm_past_peak peak[TTM_PAST_MEMORIES];
} ttm_past_run;

/* Runs of one model on one board, obtained in one way: what may be compared. */
typedef struct ttm_series {
  ttm_str model, board, method;
  size_t first, runs; /* in ttm_past.runs */
  ttm_steps steps[TTM_PAST_MEMORIES];
  ttm_trend trend[TTM_PAST_MEMORIES]; /* behind the last step */
  ttm_statements said;
} ttm_series;

/* Zero is empty; freed with ttm_past_free. */
typedef struct ttm_past {
  double tolerance;
  TTM_VEC(ttm_past_run) runs;
  TTM_VEC(ttm_series) series; /* by model, board and method */
  ttm_arena arena;
} ttm_past;

typedef struct ttm_past_question {
  ttm_str model, board; /* empty: all; * stands for anything in a model */
  int64_t since_us;
  double tolerance; /* percent that a step must exceed */
} ttm_past_question;

/* 0, TTM_EIO, TTM_EFORMAT, TTM_ENOMEM. */
int ttm_past_read(ttm_past *out, ttm_history *history, const ttm_past_question *question, ttm_error *err);
void ttm_past_free(ttm_past *past);

static inline const ttm_past_run *ttm_series_run(const ttm_past *past, const ttm_series *s, size_t i) {
  return &past->runs.at[s->first + i];
}
/* "DRAM", "L1". */
const char *ttm_past_memory(int memory);

/* The last step up of a memory; NULL. */
const ttm_step *ttm_series_rise(const ttm_series *s, int memory);

/* Fills `said` of a series: steps with what changed in the live tensors (asked from the history), headroom, failures. */
int ttm_series_tell(ttm_series *s, const ttm_past *past, ttm_history *history, ttm_error *err);

/* Where a run named by its id, the beginning of one, its name or its model lies: the newest of them. Appends the folder of its report, or its log where there is none;
 * *run its id. Nothing when there is no such run. TTM_EUSAGE when the beginning is that of several runs, else as ttm_past_read. */
int ttm_past_locate(ttm_history *history, ttm_str name, ttm_buf *out, ttm_buf *run, ttm_error *err);

/* "2026-11-16 08:17" of UTC. */
enum { TTM_DAY_ROOM = 24 };
const char *ttm_day_text(char room[TTM_DAY_ROOM], int64_t time_us);
#define TTM_DAY(time_us) ttm_day_text((char[TTM_DAY_ROOM]){0}, time_us)

#endif
