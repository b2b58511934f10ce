/* SPDX-License-Identifier: Apache-2.0 */
/* Where a bank is free: the holes between what is allocated, by address. Private to src/profile. Zero is "not known": all calls then do
 * nothing. */
#ifndef TTM_PROFILE_LOAD_HOLES_H
#define TTM_PROFILE_LOAD_HOLES_H

#include <stdbool.h>

#include "base/vec.h"

typedef struct ttm_hole {
  uint64_t at, end;
} ttm_hole;

typedef struct ttm_holes {
  bool known;
  bool stale; /* the largest hole was cut: `largest` is to be looked for */
  uint64_t largest;
  TTM_VEC(ttm_hole) at; /* by address, never touching */
} ttm_holes;

/* One hole, all of the bank; what was known before is forgotten. 0 or TTM_ENOMEM. */
int ttm_holes_begin(ttm_holes *holes, uint64_t base, uint64_t bytes);
/* [at, at + bytes) is no hole any more, or is one again; whether it was before does not matter. */
int ttm_holes_take(ttm_holes *holes, uint64_t at, uint64_t bytes);
int ttm_holes_give(ttm_holes *holes, uint64_t at, uint64_t bytes);
uint64_t ttm_holes_largest(ttm_holes *holes);
void ttm_holes_free(ttm_holes *holes);

#endif
