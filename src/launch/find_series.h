/* SPDX-License-Identifier: Apache-2.0 */
/* A program, run with one value of its arguments after the other, on several boards at once: which is the largest that fits each? */
#ifndef TTM_LAUNCH_FIND_SERIES_H
#define TTM_LAUNCH_FIND_SERIES_H

#include "analyze/fit_find.h"
#include "launch/fit_series.h"

/* Searches on every board of `series`, {NAME} in the words replaced by its values, and words what is known then. `series->interrupted` tells whether that is all. 0 also for programs that
 * failed; TTM_EUSAGE, TTM_EIO, TTM_ENOMEM. Answers are kept for later when the options have the files listed. */
int ttm_find_run(ttm_find *find, ttm_fit_series *series, char *const *words, const struct ttm_crew_options *options,
                 ttm_error *err);

#endif
