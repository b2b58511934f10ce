/* SPDX-License-Identifier: Apache-2.0 */
/* A trial: the allocations of a ledger played through the bank allocator again, with changes. What it comes to is exact ("replayed") as far as the
 * input is told exactly and the change says what every tensor then takes; else it is estimated, and says why. */
#ifndef TTM_ANALYZE_TRIAL_H
#define TTM_ANALYZE_TRIAL_H

#include "analyze/change.h"

typedef struct ttm_trial_memory {
  uint64_t peak;     /* per bank */
  uint64_t size;     /* of a bank, then */
  uint32_t peak_op;  /* during which it is reached, as entries have it; TTM_NONE */
  uint64_t recorded; /* the peak without the rest that a module tells */
} ttm_trial_memory;

/* What became of one change. */
typedef struct ttm_trial_match {
  uint64_t matched, changed; /* tensors that the pattern means, and those that could be changed so */
  const char *why;           /* of the others, or NULL: "is row-major ..." */
} ttm_trial_match;

/* What became of the rest of a run that did not finish. */
typedef struct ttm_trial_rest {
  bool reached;        /* what failed has room; then: */
  bool fits;           /* all of it does */
  uint32_t refused_op; /* otherwise: as entries have it */
  uint64_t shortfall;  /* bytes per bank */
} ttm_trial_rest;

typedef struct ttm_trial {
  ttm_trial_memory memories[TTM_REPLAY_MEMORIES];
  ttm_trial_match match[TTM_CHANGES];
  uint32_t failures;         /* allocations that the input says were refused ... */
  uint32_t failures_left;    /* ... and those that still are */
  uint64_t left;             /* bit per incident, of the first 64: among the latter */
  bool fits;                 /* everything found room */
  ttm_incident_text refusal; /* unless it fits: the first, as ttnn would word it, without the sentence */
  uint32_t refused_op;       /* whose, as entries have it; TTM_NONE also where no operation explains the memory */
  uint64_t
      entries_after; /* allocations after the last failure that found room: the rest, as far as the input tells it */
  ttm_trial_rest rests[TTM_RESTS]; /* of the ledger */
  bool predicted;                  /* one of them was reached ... */
  bool least;                      /* ... that was not all understood */
  uint64_t misplaced;              /* blocks that lie elsewhere than the input says, and failures that look otherwise */
  const char *estimate;            /* why it is no more than an estimate; NULL: exact */
} ttm_trial;

/* A block that is held. */
typedef struct ttm_trial_block {
  uint64_t at, size;
  uint32_t holding;
} ttm_trial_block;
typedef TTM_VEC(ttm_trial_block) ttm_trial_blocks;

/* Whether what the input tells after its last failure fits as well: 1 yes, 0 no, -1 it tells nothing. */
int ttm_trial_rest_fits(const ttm_trial *after);

/* What is held, without any change, where the input says that `incident` was refused: in that memory, by address. Empty when the ledger does not
 * have it. *bank_size is that of a bank. 0 or TTM_ENOMEM; freed by the caller. */
int ttm_trial_at_failure(ttm_trial_blocks *out, const ttm_ledger *ledger, uint32_t incident, uint64_t *bank_size);

/* 0 or TTM_ENOMEM. At most TTM_CHANGES of them. Linear in the entries of the ledger. */
int ttm_trial_run(ttm_trial *out, const ttm_ledger *ledger, const ttm_change *changes, size_t n);

/* Compares what the changes came to with `before`, the trial without any: whether the replay is faithful enough to be believed. */
void ttm_trial_judge(ttm_trial *after, const ttm_trial *before, const ttm_ledger *ledger);

#endif
