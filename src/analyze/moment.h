/* SPDX-License-Identifier: Apache-2.0 */
/* One memory at one moment: what is alive in it, where it lies, and what is free between. */
#ifndef TTM_ANALYZE_MOMENT_H
#define TTM_ANALYZE_MOMENT_H

#include "analyze/occupancy.h"
#include "analyze/statement.h"

/* A row of the occupancy that lies somewhere. */
typedef struct ttm_placed {
  uint64_t at;
  uint32_t row;
} ttm_placed;

typedef struct ttm_moment {
  const ttm_occupancy *occupancy;
  uint32_t op;                /* that runs next; the number of operations at the end */
  uint32_t state;             /* that was printed there; TTM_NONE: none was */
  ttm_alive_set set;          /* what it measures is what is held, when there is no state */
  uint64_t total;             /* of a bank; 0 when unknown */
  uint64_t room, largest;     /* free per bank, and in one block: as the state says, else as placed */
  bool blocks_known;          /* false: where the blocks lie is not known, and `largest` says nothing */
  bool agrees;                /* the placement leaves the largest free block that was measured */
  TTM_VEC(ttm_placed) rows;   /* by address */
  TTM_VEC(ttm_extent) blocks; /* free ones by address */
} ttm_moment;

/* Where in the input: right before `op`, or at `state` (TTM_NONE: op tells). */
typedef struct ttm_instant {
  uint32_t op, state;
} ttm_instant;

/* Before an operation, in its state if it has one; at the last operation up to a log line; at the highest state of a memory. */
ttm_instant ttm_instant_of_op(const ttm_profile *p, uint32_t op);
ttm_instant ttm_instant_of_line(const ttm_profile *p, uint32_t line);
ttm_instant ttm_instant_of_peak(const ttm_findings *f, ttm_memory memory);
uint32_t ttm_instant_rank(const ttm_profile *p, ttm_instant at);

/* 0 or TTM_ENOMEM; freed with ttm_moment_free in any case. Linear in the rows up to it. */
int ttm_moment_make(ttm_moment *out, const ttm_occupancy *o, ttm_memory memory, ttm_instant at);
void ttm_moment_free(ttm_moment *moment);

/* Adds what there is to say of it: "moment.dram" with the level, "alive.dram" with the live tensors. 0 or TTM_ENOMEM. */
int ttm_moment_tell(ttm_statements *out, const ttm_moment *moment);

#endif
