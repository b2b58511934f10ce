/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a log that its last runs are told from: their lines up to the end, and before them the dumps of the modules they
 * execute. What comes out is a log again. */
#ifndef TTM_REPORT_LAST_RUN_H
#define TTM_REPORT_LAST_RUN_H

#include "base/out_file.h"
#include "profile/profile.h"

typedef struct ttm_last_run {
  uint32_t first_line;     /* kept from here to the end */
  uint32_t runs;           /* top-level runs in it */
  uint32_t all_runs;       /* in the whole log */
  TTM_VEC(uint32_t) dumps; /* first lines of the dumps kept from before, ascending */
} ttm_last_run;

/* Where the last `runs` runs of every rank begin. With a marker instead: behind its last line that is followed by an operation or
 * a state, since programs print it at the end of a run; the log is read for it. `what` is freed with ttm_vec_free(&what->dumps) in
 * any case. TTM_ENODATA when there is no run, or no such line. */
int ttm_last_run_find(ttm_last_run *what, const ttm_profile *p, const char *log, uint32_t runs, const char *marker,
                      ttm_error *err);

/* Copies those lines of the log. */
int ttm_last_run_write(const ttm_last_run *what, const char *log, ttm_out *out, ttm_error *err);

#endif
