/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the device at the moments the log tells. */
#ifndef TTMEM_STATE_H
#define TTMEM_STATE_H

#include "ttmem/profile.h"
#include "ttmem/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One memory state. A log prints it BEFORE its operation. Start from TTM_STATE_INFO_INIT. */
typedef struct ttm_state_info {
  size_t size;        /* of this struct as the caller knows it */
  ttm_str moment;     /* "operation", "before submit", "after submit"; empty for lines that nothing announces */
  uint32_t operation; /* the operation that ran after it, TTM_NONE */
  uint32_t rank;      /* as the log numbers its processes; 0 in a log of one */
  uint32_t line;      /* 1-based line of the log; 0 where there is none */
  ttm_memory_use memory[TTM_MEMORIES]; /* by ttm_memory */
} ttm_state_info;
#define TTM_STATE_INFO_INIT \
  { .size = sizeof(ttm_state_info) }

/* Rows 0 to count - 1 in the order of the log. 0, or TTM_EUSAGE for a row past the end and a struct without its size. */
TTM_API uint32_t ttm_state_count(const ttm_profile *profile);
TTM_API int ttm_state_get(const ttm_profile *profile, uint32_t row, ttm_state_info *out, ttm_error *err);

#ifdef __cplusplus
}
#endif
#endif
