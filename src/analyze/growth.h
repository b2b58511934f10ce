/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a program that hold more with every iteration, as captures and recordings show them: results that are kept, and caches that grow.
 * Runs of compiled programs are told apart by the log itself: their growth is a ttm_leak. */
#ifndef TTM_ANALYZE_GROWTH_H
#define TTM_ANALYZE_GROWTH_H

#include "profile/profile.h"

enum {
  TTM_GROWTH_ROWS = 8,
  TTM_GROWTH_FEW = 3,  /* iterations that make one suspect growth ... */
  TTM_GROWTH_SURE = 8, /* ... and that prove it */
};

typedef enum ttm_growth_kind {
  TTM_GROWTH_KEPT,   /* one more tensor, or some, stay with each iteration */
  TTM_GROWTH_CACHE,  /* each iteration's tensor is larger than the one it replaces */
  TTM_GROWTH_UNUSED, /* tensors that are put on the device and not used by anything: weights to come, or forgotten */
} ttm_growth_kind;

/* Results of one line of the program. */
typedef struct ttm_growth_row {
  uint32_t op;         /* that made the first of them */
  uint32_t tensors;    /* alive at the end */
  uint64_t bank_bytes; /* of all of them */
} ttm_growth_row;

typedef struct ttm_growth {
  ttm_growth_kind kind;
  ttm_memory memory;
  uint32_t device;                      /* as the capture names it */
  ttm_growth_row rows[TTM_GROWTH_ROWS]; /* of one loop, largest first */
  uint32_t row_count;
  uint32_t first_op, last_op; /* births of the first row */
  uint32_t iterations;        /* seen */
  uint32_t spacing;           /* so many iterations for each one that keeps something; they are counted as one */
  uint64_t per_iteration;     /* bytes per bank that an iteration adds */
  uint64_t first_bytes;       /* caches: per bank, at first */
  bool sure;                  /* enough iterations to prove it */
  bool at_end;                /* freed, but only behind the last operation */
  bool ended;                 /* the loop ran out of this memory: nothing is left */
  bool exact;                 /* `left` was played through the allocator's rules; otherwise it is about so many */
  uint64_t left;              /* more iterations that fit; TTM_UNKNOWN */
  uint64_t saves;             /* KEPT: what the peak loses, per bank, when each is freed at its last use */
} ttm_growth;

typedef TTM_VEC(ttm_growth) ttm_growths;

/* The buffer that an event allocates or frees, NULL when it does neither or in another memory or device. */
static inline const ttm_buffer *ttm_event_buffer(const ttm_capture *c, const ttm_buffer_event *e, ttm_memory memory,
                                                 uint32_t device) {
  bool changes = (e->kind == TTM_EVENT_ALLOCATE || e->kind == TTM_EVENT_FREE) && e->row != TTM_NONE;
  const ttm_buffer *b = changes ? &c->buffers.at[e->row] : NULL;
  return b && b->memory == memory && b->device == device ? b : NULL;
}

struct ttm_findings;

/* 0 or TTM_ENOMEM; freed with ttm_vec_free in any case. Linear in operations and buffers. Needs the elements, peaks and buffers. */
int ttm_growth_find(ttm_growths *out, const struct ttm_findings *f);

/* Fills `left` and `exact` (growth_end.c). `births` are the buffers of one line of the loop in order, `per` of them in each iteration. */
int ttm_growth_end(ttm_growth *growth, const ttm_profile *p, const uint32_t *births, uint32_t n, uint32_t per);

#endif
