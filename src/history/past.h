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
/* " per bank", or nothing for a training log, which tells of the whole device. */
const char *ttm_series_per(const ttm_series *s);

/* The last step up of a memory; NULL. */
const ttm_step *ttm_series_rise(const ttm_series *s, int memory);

/* Fills `said` of a series: steps with what changed in the live tensors (asked from the history), headroom, failures. */
int ttm_series_tell(ttm_series *s, const ttm_past *past, ttm_history *history, ttm_error *err);

/* ---- Parts of a large history ------------------------------------------------------------------------------------- */

/* A page of all runs, newest first: those that hold every word of `search` (the first 16) in their id, model, board, method, command, name, host, commit or failure. The series of `out`
 * are stretches of runs that are alike; no steps are looked for and nothing is said. *found counts the runs of all pages. As ttm_past_read. */
typedef struct ttm_past_page {
  ttm_str search;
  uint64_t skip, most;
} ttm_past_page;
int ttm_past_list(ttm_past *out, uint64_t *found, ttm_history *history, const ttm_past_page *page, ttm_error *err);

/* The last runs of a model on a board, as ttm_past_read has them; the method may be empty: all. Without `told` as in a page. */
typedef struct ttm_past_last {
  ttm_str model, board, method;
  uint64_t most;
  bool told;
} ttm_past_last;
int ttm_past_read_last(ttm_past *out, ttm_history *history, const ttm_past_last *wanted, ttm_error *err);

/* The runs with these ids, in this order, as in a page: none, one or two. */
int ttm_past_read_two(ttm_past *out, ttm_history *history, ttm_str first, ttm_str second, ttm_error *err);
/* The series that holds a run. */
const ttm_series *ttm_past_series_of(const ttm_past *past, size_t run);
/* What changed from the first run to the second; freed by the caller in any case. */
int ttm_past_tell_two(ttm_statements *out, const ttm_past *past, ttm_history *history, ttm_error *err);

/* A page of models and boards, those with the newest runs first; the search is in their names. */
typedef struct ttm_past_model {
  ttm_str model, board;
  int64_t runs, newest_us;
} ttm_past_model;
typedef struct ttm_past_models {
  TTM_VEC(ttm_past_model) at;
  ttm_arena arena;
} ttm_past_models;
int ttm_past_list_models(ttm_past_models *out, uint64_t *found, ttm_history *history, const ttm_past_page *page,
                         ttm_error *err);
void ttm_past_models_free(ttm_past_models *models);

/* What the report of a run said, statement by statement: severity, headline, detail. */
int ttm_past_told(ttm_history *history, ttm_str run, ttm_history_take *take, void *context, ttm_error *err);

/* Whether no later run has put its report where this one's was. */
int ttm_past_owns_report(bool *out, const ttm_past_run *run, ttm_history *history, ttm_error *err);

/* ---- One run ------------------------------------------------------------------------------------------------------ */

/* Where a run named by its id, the beginning of one, its name or its model lies: the newest of them. Appends the folder of its report, or its log where there is none;
 * *run its id. Nothing when there is no such run. TTM_EUSAGE when the beginning is that of several runs, else as ttm_past_read. */
int ttm_past_locate(ttm_history *history, ttm_str name, ttm_buf *out, ttm_buf *run, ttm_error *err);

/* "2026-11-16 08:17" of UTC. */
enum { TTM_DAY_ROOM = 24 };
const char *ttm_day_text(char room[TTM_DAY_ROOM], int64_t time_us);
#define TTM_DAY(time_us) ttm_day_text((char[TTM_DAY_ROOM]){0}, time_us)

#endif
