/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the program's processes on the host: which lines it grew at. Of the machine the program ran on, not of the board. */
#ifndef TTM_ANALYZE_HOST_H
#define TTM_ANALYZE_HOST_H

#include "profile/profile.h"

/* A line of the program, by what the resident memory grew there up to its peak. */
typedef struct ttm_host_line {
  uint32_t at; /* string; 0: where the program was is not known */
  uint32_t op; /* operation of its largest step, TTM_NONE */
  int64_t grew;
  uint64_t step; /* the largest */
} ttm_host_line;

enum { TTM_HOST_LINES = 8 };

typedef struct ttm_host_findings {
  bool known;
  uint64_t first, last, peak; /* bytes: of the first and last sample, and the most there ever was */
  uint32_t peak_sample;
  ttm_host_line lines[TTM_HOST_LINES]; /* most growth first */
  uint32_t line_count;
  uint64_t limit;       /* what the processes may have: of the control group, else of the machine; 0 */
  bool limit_is_cgroup; /* else of the machine */
} ttm_host_findings;

/* True when the program was ended by SIGKILL, and the host's memory was the reason as far as anybody can tell. */
bool ttm_host_is_exhausted(const ttm_profile *p, const ttm_host_findings *found);

/* 0 or TTM_ENOMEM. */
int ttm_host_find(ttm_host_findings *out, const ttm_profile *p);

#endif
