/* SPDX-License-Identifier: Apache-2.0 */
/* A program, run on one mock board after the other: which of them hold it? */
#ifndef TTM_LAUNCH_FIT_SERIES_H
#define TTM_LAUNCH_FIT_SERIES_H

#include "analyze/fit_case.h"
#include "base/vec.h"
#include "launch/launch.h"

typedef struct ttm_fit_series {
  TTM_VEC(const char *) boards; /* in the order of the runs; names, or paths of cluster descriptors */
  char *names;                  /* what --board said, cut up */
  ttm_fit_cases cases;          /* one per board when all went through */
  int interrupted;              /* 128 + the signal that asked to end, or 0 */
} ttm_fit_series;

/* The boards of `names`, separated by commas; NULL: all that are known. 0, TTM_EUSAGE or TTM_ENOMEM. */
int ttm_fit_series_plan(ttm_fit_series *series, const char *names, ttm_error *err);

/* Runs the program `words` on each; `viewer` is told which, unless `quiet`. 0 also for a program that failed; TTM_EUSAGE when ttnn cannot be
 * had; else TTM_EIO, TTM_ENOMEM. */
int ttm_fit_series_run(ttm_fit_series *series, char *const *words, const ttm_launch_viewer *viewer, bool quiet,
                       ttm_error *err);

/* True when the answer of one board is that of another: the same chip, and the program used one. */
bool ttm_fit_holds_for(const ttm_fit_case *c, const char *board);

typedef struct ttm_fit_tried {
  bool met_ttnn;   /* the program came as far as to import ttnn */
  int interrupted; /* 128 + the signal that asked to end, or 0 */
} ttm_fit_tried;

/* Runs a program once and adds the answer, unless it was interrupted. As ttm_fit_series_run; `options` says what runs where, its folder is ours. */
int ttm_fit_try(ttm_fit_cases *cases, ttm_launch_options *options, ttm_fit_tried *out, ttm_error *err);

void ttm_fit_series_free(ttm_fit_series *series);

#endif
