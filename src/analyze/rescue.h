/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory while tensors stood there that nobody was going to use again. */
#ifndef TTM_ANALYZE_RESCUE_H
#define TTM_ANALYZE_RESCUE_H

#include "profile/profile.h"

enum { TTM_RESCUERS = 8 };

typedef struct ttm_rescue {
  uint32_t n;
  struct {
    uint32_t tensor;
    uint64_t bank_bytes;
  } at[TTM_RESCUERS]; /* largest first */
} ttm_rescue;

struct ttm_findings;

/* For f->incidents.at[i]. 0 or TTM_ENOMEM. That a tensor was past its last use is known from the same operation of another run or layer,
 * whose result was used for just as long and then freed. Linear in operations and tensors. */
int ttm_rescue_find(ttm_rescue *out, const struct ttm_findings *f, size_t i);

#endif
