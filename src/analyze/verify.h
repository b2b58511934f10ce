/* SPDX-License-Identifier: Apache-2.0 */
/* What changes would bring: the input played with them and without, compared and in words. */
#ifndef TTM_ANALYZE_VERIFY_H
#define TTM_ANALYZE_VERIFY_H

#include "analyze/statement.h"
#include "analyze/trial.h"

/* `said`: "verify.answer", "verify.dram", "verify.l1", a "verify.change" per change, "verify.confidence". Freed with ttm_verified_free. */
typedef struct ttm_verified {
  ttm_ledger ledger;
  ttm_change changes[TTM_CHANGES];
  size_t n;
  ttm_trial before, after;
  bool
      gained; /* everything fits, and something is better for it: a failure less, a lower peak, another board or batch that fits */
  bool window;     /* of a graph capture: what was there before it is missing, both peaks are lower bounds */
  bool rest_lacks; /* what failed now fits, and what follows is unknown or does not: the peak after is a lower bound */
  ttm_statements said;
} ttm_verified;

/* The texts are borrowed. 0, TTM_EUSAGE for a change that is none, TTM_ENODATA when the input does not tell what is freed when, or TTM_ENOMEM. */
int ttm_verify(ttm_verified *out, const ttm_findings *f, const char *const *changes, size_t n, ttm_error *err);
void ttm_verified_free(ttm_verified *verified);

#endif
