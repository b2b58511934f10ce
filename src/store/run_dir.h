/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of one captured run: made anew each time, never used twice. */
#ifndef TTM_STORE_RUN_DIR_H
#define TTM_STORE_RUN_DIR_H

#include <time.h>

#include "base/buf.h"
#include "base/error.h"

/* Makes `base`/<name>_YYYYMMDD_HHMMSS with its parents and appends its path to `out` (not NUL-terminated). When that folder is
 * there already: <name>_..._2, _3 and so on. 0, TTM_EIO or TTM_ENOMEM. */
int ttm_run_dir_make(ttm_buf *out, const char *base, const char *name, const struct tm *when, ttm_error *err);

/* The name of a run, from the script or program that was started: its file name without ".py", nothing a folder name should not
 * hold. Appended to `out`. */
void ttm_run_name(ttm_buf *out, const char *program);

#endif
