/* SPDX-License-Identifier: Apache-2.0 */
/* Who held which block of DRAM and L1 from when to when, on one rank: of a log by its replay (analyze/replay.h), of a capture or recording by its
 * buffers. A moment is the number of operations that are done, deallocations included: moment n stands right before operation n. The timeline by
 * class, the block map and the live tensors of any moment are all read from here, so that they agree. */
#ifndef TTM_ANALYZE_OCCUPANCY_H
#define TTM_ANALYZE_OCCUPANCY_H

#include "analyze/replay.h"

typedef struct ttm_occupant {
  uint64_t at;                   /* in its bank; TTM_UNKNOWN: the replay found no room, or nothing tells */
  uint64_t bytes;                /* per bank */
  uint32_t from, to;             /* moments: there from `from` on, gone at `to`; TTM_NONE: never */
  uint32_t kept;                 /* moment from which it is the result of an earlier run; TTM_NONE: never */
  uint32_t state_from, state_to; /* the same three as states of the rank: the first that shows it, ... */
  uint32_t state_kept;
  uint32_t op;           /* that made it; TTM_NONE: it was there before, or the host put it there */
  uint32_t tensor, type; /* TTM_NONE when unknown */
  uint32_t name;         /* string: of the argument it is, or comes from; 0 */
  uint8_t memory;        /* TTM_REPLAY_* */
  uint8_t class;         /* ttm_alive_class before `kept` */
  bool part;             /* of an argument that begins in another block */
  bool guess;            /* the class rests on the argument's name alone */
} ttm_occupant;

typedef struct ttm_occupied_memory {
  uint32_t banks;
  uint64_t base, size; /* where a bank begins, and its bytes; 0 when unknown */
  uint64_t states,
      agree; /* states compared, and those whose largest free block is as measured: the placement is right there */
} ttm_occupied_memory;

typedef struct ttm_occupancy {
  const ttm_findings *findings;
  uint32_t rank;
  bool placed; /* addresses are those of the input itself, not of the replay */
  ttm_occupied_memory memories[TTM_REPLAY_MEMORIES];
  TTM_VEC(ttm_occupant) rows; /* by `from` */
} ttm_occupancy;

/* Whether the input tells what is allocated and freed when. */
bool ttm_occupancy_possible(const ttm_profile *p);

/* 0 or TTM_ENOMEM; freed with ttm_occupancy_free in any case. Linear in operations and states. */
int ttm_occupancy_make(ttm_occupancy *out, const ttm_findings *f, uint32_t rank);
void ttm_occupancy_free(ttm_occupancy *occupancy);

/* The class of what is held at a moment. */
static inline ttm_alive_class ttm_occupant_class(const ttm_occupant *o, uint32_t moment) {
  return moment >= o->kept ? TTM_ALIVE_KEPT : (ttm_alive_class)o->class;
}

static inline bool ttm_occupant_is_there(const ttm_occupant *o, uint32_t moment) {
  return o->from <= moment && moment < o->to;
}

#endif
