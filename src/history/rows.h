/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one run, made once for every kind of store. */
#ifndef TTM_HISTORY_ROWS_H
#define TTM_HISTORY_ROWS_H

#include "analyze/fit_case.h"
#include "analyze/ranks.h"
#include "base/arena.h"
#include "history/schema.h"
#include "train/training.h"

/* Null, or of its column's type. */
typedef struct ttm_history_cell {
  bool known;
  int64_t number;
  ttm_str text; /* valid UTF-8 without NUL */
} ttm_history_cell;

enum { TTM_RUN_ID = 29 }; /* "20261116-081729-3f9a2c81d04e" and its end */

/* Row after row, each with the columns of its table. Zero is empty; freed with ttm_history_rows_free. */
typedef struct ttm_history_rows {
  char run[TTM_RUN_ID];
  TTM_VEC(ttm_history_cell) at[TTM_HISTORY_TABLES];
  ttm_arena texts;
  bool failed;
} ttm_history_rows;

/* What the command knows of the run. NULL where it does not. */
typedef struct ttm_run_about {
  const char *command; /* "analyze" */
  const char *method;  /* "run" (the default), "mock", "replay", "train" */
  const char *model;   /* as the user says; else it follows from the name */
  const char *name;    /* of the report */
  const char *source;  /* path of the log or recording; "-" */
  const char *board;
  const char *report;     /* its folder */
  bool here;              /* the program ran in this folder just now: its commit is the one checked out */
  const ttm_ranks *ranks; /* the run was over these: a device each, in place of those in the findings */
  int exit_status;        /* of the program; below 0: unknown */
} ttm_run_about;

/* Each fills an empty `out`: 0 or TTM_ENOMEM. One run of a file always has the same id: analyzed again, it replaces its rows. */
int ttm_history_of_findings(ttm_history_rows *out, const ttm_run_about *about, const ttm_findings *f);
int ttm_history_of_fit(ttm_history_rows *out, const ttm_run_about *about, const ttm_fit_cases *cases, size_t at);
int ttm_history_of_training(ttm_history_rows *out, const ttm_run_about *about, const ttm_training *training);
void ttm_history_rows_free(ttm_history_rows *rows);

/* The model of a run of that name: dates, times and long numbers at its end are left out ("llama_20261116_081729" is "llama"). Appended. */
void ttm_history_model(ttm_buf *out, ttm_str name);

#endif
