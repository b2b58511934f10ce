/* SPDX-License-Identifier: Apache-2.0 */
/* Free DRAM that no large tensor can use, and who stands in its way. */
#ifndef TTM_ANALYZE_FRAGMENTATION_H
#define TTM_ANALYZE_FRAGMENTATION_H

#include "profile/profile.h"

enum { TTM_PINS = 5, TTM_REFUSALS = 5 };

/* A tensor, or some that lie side by side, between two free blocks: elsewhere, they would leave one large block. */
typedef struct ttm_pin {
  uint32_t tensor;  /* the largest of them; TTM_NONE: memory that no tensor of the log explains */
  uint32_t tensors; /* how many lie there */
  uint64_t at, size;
  uint64_t merged; /* the free block there would be without them, per bank */
} ttm_pin;

typedef struct ttm_fragmentation {
  bool known;              /* false: no state, or none that tells its largest free block (ttm_blocks_known) */
  uint64_t unknown_states; /* recordings: states that do not tell it; what follows is about the others */
  /* Measured (recordings: derived from addresses): the state at which most free memory was out of reach of a single tensor. */
  uint32_t worst_state;
  uint64_t worst_free, worst_largest; /* bytes per bank */
  /* Derived: the largest tensor the log allocates, and the states at which it would have been refused though enough was free. */
  uint64_t largest_request;
  uint32_t request_op;
  uint64_t refusing_states;
  uint32_t refusing[TTM_REFUSALS]; /* the first of them */
  /* Derived by replay, where its free blocks are the measured ones; at a fragmented out-of-memory, else at the worst state. */
  uint32_t pins_state; /* TTM_NONE when nothing is pinned, or the replay does not agree */
  ttm_pin pins[TTM_PINS];
  size_t pin_count;
} ttm_fragmentation;

struct ttm_findings;

/* Whether states tell the largest free block. Samples and graph captures know sums only; a recording knows every address from when memory
 * was empty. */
static inline bool ttm_blocks_known(const ttm_profile *p) {
  return p->kind != TTM_LOG_LIVE && (p->kind != TTM_LOG_CAPTURE || p->capture.recording.hole_states);
}

/* 0 or TTM_ENOMEM. Needs the incidents' verdicts. */
int ttm_fragmentation_make(ttm_fragmentation *out, const struct ttm_findings *f);

/* 1 - largest/free, in percent; 0 when nothing is free. */
static inline double ttm_fragmentation_pct(uint64_t room, uint64_t largest) {
  return room && largest < room ? 100.0 - 100.0 * (double)largest / (double)room : 0.0;
}

#endif
