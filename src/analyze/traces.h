/* SPDX-License-Identifier: Apache-2.0 */
/* Trace safety. A trace keeps the addresses that its operations had when it was captured, and every replay writes them again, also those of tensors
 * freed since. What was allocated there after the capture and lives across a replay is overwritten; what the trace reads must still be there. */
#ifndef TTM_ANALYZE_TRACES_H
#define TTM_ANALYZE_TRACES_H

#include "profile/profile.h"

/* A captured trace. */
typedef struct ttm_device_trace {
  uint64_t id, replays;
  uint32_t rank;
  uint32_t begin, end;   /* operations of its capture */
  uint32_t first_replay; /* TTM_NONE */
  uint32_t released;     /* operation that released it, or the first behind the closing of its device; TTM_NONE */
  uint64_t regions;      /* address ranges that a replay writes */
} ttm_device_trace;

typedef enum ttm_hazard_kind {
  TTM_HAZARD_TENSOR,  /* a replay overwrites a tensor */
  TTM_HAZARD_KERNELS, /* ... the kernels of a program that was compiled after the capture */
  TTM_HAZARD_FREED,   /* the trace uses a tensor that was freed, and its memory has been given to another */
} ttm_hazard_kind;

/* One trace and tensors from one line of the program, in the same danger from the same line. */
typedef struct ttm_hazard {
  ttm_hazard_kind kind;
  uint32_t trace;
  uint32_t row;    /* buffer: the first of them */
  uint32_t other;  /* buffer that shares its addresses: of the capture, or who has the freed memory; TTM_NONE: ... */
  uint32_t event;  /* ... a circular buffer of a program in the capture */
  uint32_t replay; /* operation: the first replay that does it */
  uint32_t used;   /* operation that takes the tensor after that, a replay included; TTM_NONE */
  uint64_t start, end; /* addresses in both */
  uint32_t times;      /* tensors ... */
  uint32_t used_times; /* ... and those taken afterwards */
  bool room;           /* the largest free block during the capture would have held it */
} ttm_hazard;

typedef struct ttm_traces {
  TTM_VEC(ttm_device_trace) at;
  TTM_VEC(ttm_hazard) hazards; /* those with `used` first */
  uint64_t replays;
} ttm_traces;

/* Content is lost, not only memory that nobody looks at again. */
static inline bool ttm_hazard_is_harm(const ttm_hazard *h) {
  return h->kind != TTM_HAZARD_TENSOR || h->used != TTM_NONE;
}

/* `buffers`: the first buffer of each tensor. 0 or TTM_ENOMEM. */
int ttm_traces_find(ttm_traces *out, const ttm_profile *p, const uint32_t *buffers);
void ttm_traces_free(ttm_traces *traces);

#endif
