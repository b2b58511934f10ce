/* SPDX-License-Identifier: Apache-2.0 */
/* Both logs of a diff as one sequence of places: an operation before and the one after that stands for it, or one of them alone. Every execution
 * has its place, runs that are alike too, so that both levels of memory can be drawn over each other. */
#ifndef TTM_ANALYZE_TIMELINES_H
#define TTM_ANALYZE_TIMELINES_H

#include "analyze/diff.h"

typedef struct ttm_timeline_place {
  uint32_t op[2]; /* before, after; TTM_NONE where it is not */
} ttm_timeline_place;

/* Zero is empty; freed with ttm_timelines_free. */
typedef struct ttm_timelines {
  TTM_VEC(ttm_timeline_place) at; /* the operations of either log in its own order */
  /* By place, 0.001 MB per bank: the highest state from the operation to the next one of its log. Where the log has no operation there, what it held
   * meanwhile. -1 where the log does not tell, or has ended. */
  int32_t *level[2][TTM_MEMORIES];
} ttm_timelines;

/* Of the ranks that both logs call by this dense index. Linear in the operations and states. 0 or TTM_ENOMEM; freed in any case. */
int ttm_timelines_make(ttm_timelines *out, const ttm_diff *diff, uint32_t rank);
void ttm_timelines_free(ttm_timelines *timelines);

#endif
