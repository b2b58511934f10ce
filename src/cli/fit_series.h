/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem fit -- COMMAND: the program, run on one mock board after the other. */
#ifndef TTM_CLI_FIT_SERIES_H
#define TTM_CLI_FIT_SERIES_H

#include "base/vec.h"
#include "cli/options.h"
#include "report/run/fit_case.h"

typedef struct ttm_fit_series {
  TTM_VEC(const char *) boards; /* in the order of the runs; names, or paths of cluster descriptors */
  char *names;                  /* what --board said, cut up */
  TTM_VEC(ttm_fit_case) cases;  /* one per board when all went through */
  int interrupted;              /* somebody asked to end: 128 + the signal */
} ttm_fit_series;

/* The boards that --board names, separated by commas; all that are known without it. 0, TTM_EUSAGE or TTM_ENOMEM. */
int ttm_fit_series_plan(ttm_fit_series *series, const char *names, ttm_error *err);

/* Runs `options->rest` on each. 0 also for a program that failed; TTM_EUSAGE when ttnn cannot be had; else TTM_EIO, TTM_ENOMEM. */
int ttm_fit_series_run(ttm_fit_series *series, const ttm_options *options, ttm_error *err);

void ttm_fit_series_free(ttm_fit_series *series);

#endif
