/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of the profiler's CSV is which operation. */
#ifndef TTM_ANALYZE_PERF_JOIN_H
#define TTM_ANALYZE_PERF_JOIN_H

#include "parse/perf_csv.h"
#include "profile/profile.h"

/* Freed with ttm_perf_join_free. */
typedef struct ttm_perf_join {
  const ttm_perf_csv *csv;
  bool by_call;     /* by GLOBAL CALL COUNT; else by aligning both in their order */
  uint64_t device;  /* of the CSV: the first one stands for all ... */
  uint32_t devices; /* ... so many */
  uint32_t rows;    /* of that device, replays of traces left out */
  uint32_t replays; /* these */
  uint32_t ops;     /* operations of the first rank that may run on the device */
  uint32_t matched; /* of them */
  uint64_t ns;      /* that all rows take */
  uint32_t first;   /* row: the clock begins with it */
  uint32_t *row_of; /* by operation: its first row, TTM_NONE */
  uint64_t *ns_of;  /* by operation: what its rows take; 0 without any */
} ttm_perf_join;

/* 0 or TTM_ENOMEM; freed in any case. */
int ttm_perf_join_make(ttm_perf_join *out, const ttm_profile *p, const ttm_perf_csv *csv);
void ttm_perf_join_free(ttm_perf_join *join);

/* Nanoseconds from the first row to the begin of a row, by the device's cycles, else by the host's clock; TTM_PERF_UNKNOWN. */
uint64_t ttm_perf_join_begin(const ttm_perf_join *join, uint32_t row);

#endif
