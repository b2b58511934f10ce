/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with circular buffers, in the one sentence that every screen and file shows: of the simulation, the source scan and the
 * messages of a log. */
#ifndef TTM_L1_WORDS_H
#define TTM_L1_WORDS_H

#include "base/boards.h"
#include "base/buf.h"

typedef enum ttm_cb_level { TTM_CB_ERROR, TTM_CB_WARNING, TTM_CB_NOTE, TTM_CB_LEVELS } ttm_cb_level;
/* "error", "warning", "note". */
const char *ttm_cb_level_name(ttm_cb_level level);

/* Buffers of a core that end above a limit: the lowest L1 tensor, or the end of L1. */
typedef struct ttm_l1_overlap {
  uint64_t end, limit;
  uint64_t tile_bytes; /* 0: tiles are not counted */
  ttm_str cores;       /* "[0-0 - 7-7]"; may be empty */
  bool beyond;         /* the limit is the end of L1 */
  bool dataflow;       /* the buffers are dataflow buffers */
} ttm_l1_overlap;
/* "CB/tensor overlap 7.3 KB per core on [0-0 - 7-7], 4 tiles of 2.0 KB: circular buffers end at 171,360, the lowest L1 tensor starts at
 * 163,840" */
void ttm_words_overlap(ttm_buf *out, const ttm_l1_overlap *overlap);

/* "c_32 does not exist: a Wormhole core has circular buffers 0 to 31" */
void ttm_words_no_index(ttm_buf *out, uint64_t index, ttm_arch_id arch);
/* "c_0 holds one page: producer and consumer take turns; two pages let them overlap" */
void ttm_words_single(ttm_buf *out, ttm_str buffer, const char *unit);

#endif
