/* SPDX-License-Identifier: Apache-2.0 */
/* One run over many files: what each rank's file says, in a few numbers, so that a thousand of them need not be held at once; what differs between ranks, and which one
 * failed first. */
#ifndef TTM_ANALYZE_RANKS_H
#define TTM_ANALYZE_RANKS_H

#include "analyze/findings.h"

/* Of one file. Texts are of the arena of the set. */
typedef struct ttm_rank_row {
  ttm_str path;
  uint32_t rank;      /* out of the file's name, else its place in the list */
  uint32_t group;     /* ranks of one group are identical: the same operations and states */
  uint64_t signature; /* of operations and states */
  uint64_t operations;
  ttm_level peak[2];      /* DRAM, L1; no banks: unknown */
  uint64_t peak_bytes[2]; /* per bank, with what a failing operation held */
  uint64_t failures;
  uint32_t failed_after; /* operations before the first failure */
  ttm_str failure;       /* its headline; empty */
  ttm_str raised_by;     /* operation that raised the DRAM peak, and where; empty */
  ttm_str partial;       /* why it is not whole; empty */
} ttm_rank_row;

/* Zero is empty; freed with ttm_ranks_free. */
typedef struct ttm_ranks {
  TTM_VEC(ttm_rank_row) at; /* by rank once they are told */
  uint32_t groups;
  uint32_t first_failed; /* row, TTM_NONE */
  uint32_t leading;      /* row that stands for the run: the first that failed, else the fullest */
  size_t skipped;        /* files without memory */
  ttm_buf partial;       /* why they are not whole: "rank 3: the gzip data is damaged"; of the first few */
  ttm_statements said;   /* "ranks.*" */
  ttm_arena arena;
} ttm_ranks;

/* Adds a file. `place` is its number in the list. 0 or TTM_ENOMEM. */
int ttm_ranks_add(ttm_ranks *ranks, const ttm_findings *f, const char *path, uint32_t place);
/* All are added: orders and groups them and says what that means. `damage` is that of their archive, or NULL. 0 or TTM_ENOMEM. */
int ttm_ranks_tell(ttm_ranks *ranks, const char *damage);
void ttm_ranks_free(ttm_ranks *ranks);

/* The number in "rank12.log", "worker-3.log.gz", "host_7"; UINT32_MAX when the name has none. */
uint32_t ttm_rank_of_name(ttm_str path);

#endif
