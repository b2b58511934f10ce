/* SPDX-License-Identifier: Apache-2.0 */
/* A program, run on mock boards: which of them hold it? */
#ifndef TTM_LAUNCH_FIT_SERIES_H
#define TTM_LAUNCH_FIT_SERIES_H

#include "analyze/fit_case.h"
#include "base/vec.h"

struct ttm_crew_options;
struct ttm_crew_run;

typedef struct ttm_fit_series {
  TTM_VEC(const char *) boards; /* in the order of the runs; names, or paths of cluster descriptors */
  char *names;                  /* what --board said, cut up */
  ttm_fit_cases cases;          /* one per board when all went through */
  int interrupted;              /* 128 + the signal that asked to end, or 0 */
} ttm_fit_series;

/* The boards of `names`, separated by commas; NULL: all that are known. 0, TTM_EUSAGE or TTM_ENOMEM. */
int ttm_fit_series_plan(ttm_fit_series *series, const char *names, ttm_error *err);

/* Runs the program `words` on each, several at once; the answers are those of one after the other. 0 also for a program that failed; TTM_EUSAGE
 * when ttnn cannot be had; else TTM_EIO, TTM_ENOMEM. */
int ttm_fit_series_run(ttm_fit_series *series, char *const *words, const struct ttm_crew_options *options,
                       ttm_error *err);

/* True for two names of boards with the same chip. */
bool ttm_fit_same_chip(const char *a, const char *b);
/* True when the answer of one board is that of another: the same chip, and the program used one. */
bool ttm_fit_holds_for(const ttm_fit_case *c, const char *board);
/* Adds the answer of a run. 0, the status of one that could not be run, TTM_ENOMEM. */
int ttm_fit_judge(ttm_fit_cases *cases, const struct ttm_crew_run *run, ttm_error *err);

void ttm_fit_series_free(ttm_fit_series *series);

#endif
