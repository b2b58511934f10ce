/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of top-level runs, with those of programs that ran inside them, in order. Ranks write between each other, and there may be tens
 * of thousands of them: whoever goes from the first operation of each run to its last one looks at those of all ranks every time. */
#ifndef TTM_PROFILE_RUN_OPS_H
#define TTM_PROFILE_RUN_OPS_H

#include "profile/profile.h"

typedef struct ttm_run_ops {
  uint32_t *first; /* by call; TTM_NONE for what is no top-level run, or empty */
  uint32_t *next;  /* by operation; TTM_NONE behind the last one of a run */
} ttm_run_ops;

/* `for (uint32_t op = x.first[call]; op != TTM_NONE; op = x.next[op])`. 0 or TTM_ENOMEM; freed in any case with ttm_run_ops_free. */
int ttm_run_ops_make(ttm_run_ops *out, const ttm_profile *p);
void ttm_run_ops_free(ttm_run_ops *x);

#endif
