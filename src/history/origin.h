/* SPDX-License-Identifier: Apache-2.0 */
/* Where and when a run was: its file, host, commit and the id that follows from them. Private to history. */
#ifndef TTM_HISTORY_ORIGIN_H
#define TTM_HISTORY_ORIGIN_H

#include "base/host_name.h"
#include "history/rows.h"

typedef struct ttm_run_origin {
  char run[TTM_RUN_ID];
  int64_t time_us; /* of the file's last change: when the run ended. Of standard input: now */
  uint64_t bytes;  /* of the file, 0 */
  ttm_buf source;  /* its real path; empty for standard input */
  ttm_buf report;  /* real path of its folder; empty */
  ttm_buf commit;  /* empty when unknown */
  char host[TTM_HOST_NAME];
} ttm_run_origin;

/* 0 or TTM_ENOMEM; freed with ttm_run_origin_free in any case. */
int ttm_run_origin_find(ttm_run_origin *out, const ttm_run_about *about, const char *method, ttm_str board);
void ttm_run_origin_free(ttm_run_origin *origin);

/* Appends the commit that is checked out in `folder` or above it, as git's own files tell; nothing when there is none. */
void ttm_git_head(ttm_buf *out, const char *folder);

#endif
