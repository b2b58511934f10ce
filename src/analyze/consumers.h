/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that added most to a memory. The same operation of every layer and run is one row. */
#ifndef TTM_ANALYZE_CONSUMERS_H
#define TTM_ANALYZE_CONSUMERS_H

#include "profile/profile.h"

typedef struct ttm_effect {
  uint32_t op;
  int64_t effect; /* 0.001 MB per bank */
} ttm_effect;

typedef struct ttm_consumer {
  ttm_str name;    /* where they stand, folded: "layers.*.mlp|dot.2" */
  ttm_effect most; /* the one that added most, the first of them */
  int64_t total;   /* all of them in the run in which they added most, 0.001 MB per bank */
  uint32_t places; /* so many are they in that run */
  uint32_t run;    /* top-level call of that run; TTM_NONE outside runs */
  uint32_t runs;   /* runs in which they added anything */
  uint32_t first_member, members;
} ttm_consumer;

enum { TTM_TOP = 10, TTM_CONSUMER_MEMBERS = 64 };

typedef struct ttm_consumers {
  ttm_consumer at[TTM_TOP]; /* largest total first */
  size_t n;
  TTM_VEC(ttm_effect) members; /* of each row the first TTM_CONSUMER_MEMBERS, in log order */
  ttm_arena arena;             /* of the names */
} ttm_consumers;

/* Gathers what every operation added, to be called in log order. Zero is empty. */
typedef struct ttm_consumer_sums ttm_consumer_sums;

/* NULL without memory. */
ttm_consumer_sums *ttm_consumer_sums_new(const ttm_profile *p);
/* `effect` is above 0. 0 or TTM_ENOMEM. */
int ttm_consumer_sums_add(ttm_consumer_sums *sums, ttm_memory memory, uint32_t op, int64_t effect);
/* Fills `out`, an array of TTM_MEMORIES, freed with ttm_consumers_free. 0 or TTM_ENOMEM. */
int ttm_consumer_sums_rank(ttm_consumer_sums *sums, ttm_consumers *out);
void ttm_consumer_sums_free(ttm_consumer_sums *sums);
void ttm_consumers_free(ttm_consumers *consumers);

#endif
