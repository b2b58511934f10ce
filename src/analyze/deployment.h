/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorded model can serve: how large its KV cache may be beside everything else on each board, and what the device has to be opened with.
 *
 * A cache is a tensor that operations write keys or values into (fill_cache, update_cache and their paged forms). With a page table its first
 * dimension counts blocks; without one its third counts the tokens of each user. Of a recording the allocations are replayed with larger and larger
 * caches, page tables with them, through the allocator's rules (analyze/trial.h): the largest that fits is exact as far as the replay is. Of a log,
 * whose caches are arguments that were there before it began, sizes are added up: an estimate. */
#ifndef TTM_ANALYZE_DEPLOYMENT_H
#define TTM_ANALYZE_DEPLOYMENT_H

#include "analyze/statement.h"
#include "analyze/trial.h"

typedef enum ttm_deployed {
  TTM_DEPLOYED_NOT,   /* not even the smallest cache has room */
  TTM_DEPLOYED,       /* `blocks` have room, one more has none */
  TTM_DEPLOYED_CHIPS, /* the program is for a mesh of more chips */
  TTM_DEPLOYED_L1,    /* L1 tensors have no room there: the program would lay them out in another way */
  TTM_DEPLOYED_OTHER, /* of a log: what it recorded does not fit there */
} ttm_deployed;

typedef struct ttm_deployment_board {
  const ttm_board *board;
  ttm_deployed answer;
  bool same_chip;            /* as recorded */
  uint64_t blocks, tokens;   /* of one copy of the model */
  uint64_t copies;           /* of the model, of as many chips as recorded */
  uint64_t bank, peak;       /* DRAM per bank, at most and with that cache */
  ttm_incident_text refusal; /* of one block more */
  uint32_t refused_op;       /* TTM_NONE */
} ttm_deployment_board;

/* A region that a device is opened with, in bytes. */
typedef struct ttm_opened_region {
  uint64_t opened;     /* as recorded; TTM_UNKNOWN */
  uint64_t used, need; /* most that was used, and what a failure or the use asks for; TTM_UNKNOWN */
  bool least;          /* more may be needed: a failure ended it */
  bool in_dram;        /* it was opened without, and the traces lay in DRAM */
} ttm_opened_region;

typedef struct ttm_deployment {
  const ttm_findings *findings;
  ttm_ledger ledger;
  uint8_t *roles;        /* by tensor: TTM_CACHE_* */
  bool paged, cut;       /* cut: the program did not end well, what it would have allocated is not recorded */
  uint64_t caches;       /* tensors at a time */
  uint64_t others;       /* caches of other shapes: they stay as recorded */
  uint64_t blocks;       /* of each, as recorded; without pages: rows of tokens / TTM_CACHE_ROWS */
  uint64_t block_tokens; /* per block; without pages: TTM_CACHE_ROWS for every user */
  uint64_t block_bytes;  /* of all caches together, per chip */
  uint64_t users;        /* rows of the page table, or the first dimension; 0: not known */
  uint64_t chips;        /* of the program */
  uint32_t type;         /* of a cache, the largest; TTM_NONE */
  bool mixed;            /* others have another dtype or width */
  TTM_VEC(ttm_tensor_type) arguments; /* of a log: the caches */
  ttm_opened_region trace, small;
  uint64_t traces; /* that a mock board pretended */
  uint64_t region; /* TRACE that the boards are asked with, in all */
  ttm_deployment_board boards[TTM_BOARDS];
  uint64_t settings_region; /* ... and the settings, for the board recorded or asked for: `settings` */
  bool assumed;             /* nothing tells it: TTM_VLLM_TRACE_REGION */
  ttm_deployment_board settings;
  ttm_statements said; /* of each board in `boards` that is asked for, then the others */
  size_t board_count;
} ttm_deployment;

enum { TTM_CACHE_ROWS = 32 }; /* tokens in a tile */
enum { TTM_CACHE_NONE, TTM_CACHE_TENSOR, TTM_CACHE_PAGES };
enum {
  TTM_VLLM_TRACE_REGION = 50000000
}; /* what vLLM on TT reserves unless told otherwise (worker.py, device_params_from_tt_config) */

/* `boards`: a bit per ttm_boards. `region`: TRACE to reserve, TTM_UNKNOWN: as recorded. 0, TTM_ENODATA for an input that does not tell what is
 * allocated, TTM_ENOMEM. Freed with ttm_deployment_free in any case. */
int ttm_deployment_make(ttm_deployment *out, const ttm_findings *f, unsigned boards, uint64_t region, ttm_error *err);
void ttm_deployment_free(ttm_deployment *plan);

/* Whether a cache was found. */
static inline bool ttm_deployment_known(const ttm_deployment *plan) { return plan->caches != 0; }

/* Words all of it; boards of the mask have a statement each, in their order. 0 or TTM_ENOMEM. */
int ttm_deployment_tell(ttm_deployment *plan, unsigned boards);

#endif
