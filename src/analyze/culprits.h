/* SPDX-License-Identifier: Apache-2.0 */
/* Who leaves what behind, run after run: the results that no run frees and whose sizes add up to what the level rises by. */
#ifndef TTM_ANALYZE_CULPRITS_H
#define TTM_ANALYZE_CULPRITS_H

#include "profile/profile.h"

enum { TTM_CULPRITS = 8 };

/* The same operation of every layer is one culprit. */
typedef struct ttm_culprit {
  uint32_t op;         /* the first of them, in the first run that proves it */
  uint32_t tensors;    /* results per run */
  uint64_t bank_bytes; /* of all of them, per bank and run */
} ttm_culprit;

typedef struct ttm_culprits {
  ttm_culprit at[TTM_CULPRITS]; /* largest first */
  uint32_t n;                   /* 0: nothing adds up */
  bool several;                 /* not proved: each one alone would do, or as many others would add up as well */
} ttm_culprits;

struct ttm_findings;

/* Looks at `count` runs (positions in the findings' runs) of one program, each of which left `rise` bytes per bank behind, give or take
 * `slack`. 0 or TTM_ENOMEM. Linear in the operations of these runs. */
int ttm_culprits_find(ttm_culprits *out, const struct ttm_findings *f, const uint32_t *runs, size_t count,
                      uint64_t rise, uint64_t slack);

/* The same where each of `count` rounds left something else behind: run `i` belongs to round `round_of[i]`, which counts up, and left
 * rises[round]. The one operation whose results were as large in every round. */
int ttm_culprits_follow(ttm_culprits *out, const struct ttm_findings *f, const uint32_t *runs, const uint32_t *round_of,
                        size_t count, const uint64_t *rises, uint64_t slack);

#endif
