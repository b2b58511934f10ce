/* SPDX-License-Identifier: Apache-2.0 */
/* What the HYBRID allocator gives single cores: a tensor may have an address on every core, beside all that lies in lock step. Placement is exact:
 * tests/ttnn/check_hybrid.py compares every address with ttnn's. Private to src/profile. Zero is none. */
#ifndef TTM_PROFILE_LOAD_PER_CORE_H
#define TTM_PROFILE_LOAD_PER_CORE_H

#include "profile/load/holes.h"
#include "profile/profile.h"

typedef struct ttm_core_block {
  uint64_t at, end;
  uint32_t row; /* buffer */
  uint8_t x, y;
} ttm_core_block;

typedef struct ttm_core_blocks {
  TTM_VEC(ttm_core_block) at;
  bool stale; /* since a block or a hole changed, `most` and `largest` are to be found again */
  uint64_t most, largest;
} ttm_core_blocks;

/* Places buffer `row` on each of `cores` ("{[0-0 - 3-0]}"), as far down as the holes of the lock step and the blocks of the core make it, and notes
 * where (ttm_buffer.places). Without holes, or where ttnn's own address says otherwise, the first core's address counts for all of them. *exact is false
 * then. 0 or TTM_ENOMEM. */
int ttm_core_blocks_add(ttm_core_blocks *blocks, const ttm_holes *holes, ttm_capture *c, uint32_t row, ttm_str cores,
                        bool *exact);
void ttm_core_blocks_remove(ttm_core_blocks *blocks, uint32_t row);
/* Finds `most`, the bytes of the fullest core beside the lock step, and `largest`, the largest block that is free on every core;
 * both 0 without blocks. */
void ttm_core_blocks_measure(ttm_core_blocks *blocks, const ttm_holes *holes);
void ttm_core_blocks_free(ttm_core_blocks *blocks);

#endif
