/* SPDX-License-Identifier: Apache-2.0 */
/* What to change first: at most seven pieces of advice, by the bytes they take off the DRAM peak. None rather than a wrong one. */
#ifndef TTM_ANALYZE_ADVICE_H
#define TTM_ANALYZE_ADVICE_H

#include "profile/profile.h"

typedef enum ttm_advice_kind {
  TTM_ADVICE_FREE_EARLIER, /* late frees at their last use */
  TTM_ADVICE_NO_UPCAST,    /* bf16 weights that are kept as f32 */
  TTM_ADVICE_ONE_FORM,     /* weights that are there in several forms */
  TTM_ADVICE_RESHAPE,      /* a tensor whose tiles are mostly padding */
  TTM_ADVICE_WIDER_ROWS,   /* narrow row-major rows */
  TTM_ADVICE_WEIGHTS_BFP8, /* weights in bfp8: only when memory is short */
  TTM_ADVICE_RELEASE_KEPT, /* results of earlier runs that the host still holds */
  TTM_ADVICE_STOP_LEAK,    /* a leak; the bytes are what the runs seen have left behind */
  TTM_ADVICE_MOVE_PIN,     /* a tensor between two free blocks, when fragmentation was the end */
} ttm_advice_kind;

/* "free_earlier", ...: as in findings.json. */
const char *ttm_advice_name(ttm_advice_kind kind);

typedef struct ttm_advice {
  ttm_advice_kind kind;
  int basis;      /* ttm_basis */
  uint64_t saves; /* bytes per bank off the DRAM peak; MOVE_PIN: the free block there would be */
  uint32_t op;    /* operation to look at, TTM_NONE */
  uint32_t row;   /* of the live set, TTM_NONE */
  uint32_t count; /* tensors or weights it is about */
} ttm_advice;

enum { TTM_ADVICES = 7 };

typedef struct ttm_advices {
  bool known; /* false: what is alive when is not known, so that nothing can be said */
  ttm_advice at[TTM_ADVICES];
  size_t n;
} ttm_advices;

struct ttm_findings;

/* 0 or TTM_ENOMEM. Needs everything else. */
int ttm_advices_make(ttm_advices *out, const struct ttm_findings *f);

#endif
