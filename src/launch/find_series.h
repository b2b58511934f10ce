/* SPDX-License-Identifier: Apache-2.0 */
/* A program, run with one value of its arguments after the other: which is the largest that fits each board? */
#ifndef TTM_LAUNCH_FIND_SERIES_H
#define TTM_LAUNCH_FIND_SERIES_H

#include "analyze/fit_find.h"
#include "launch/fit_series.h"

typedef struct ttm_find_options {
  char *const *words; /* {NAME} in them is replaced */
  const ttm_launch_viewer *viewer;
  bool quiet;
  bool no_cache;
} ttm_find_options;

/* Searches on every board of `series`, and words what is known then. `series->interrupted` tells whether that is all. 0 also for programs that
 * failed; TTM_EUSAGE, TTM_EIO, TTM_ENOMEM. */
int ttm_find_run(ttm_find *find, ttm_fit_series *series, const ttm_find_options *options, ttm_error *err);

#endif
