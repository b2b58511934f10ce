/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory while tensors stood there that nobody was going to use again: what freeing them at their last use would have brought. */
#ifndef TTM_ANALYZE_RESCUE_H
#define TTM_ANALYZE_RESCUE_H

#include "profile/profile.h"

typedef struct ttm_rescue {
  uint32_t tensors;    /* so many of them, largest first, would have been enough; 0: none would */
  uint32_t tensor;     /* the largest */
  uint64_t bank_bytes; /* all of them, per bank */
  bool replayed; /* the allocator played again with them freed has the room in one piece; else only the sum is enough */
} ttm_rescue;

struct ttm_findings;

/* For f->incidents.at[i]. 0 or TTM_ENOMEM. That a tensor was past its last use is known from the same operation of another run or layer,
 * whose result was used for just as long and then freed. Linear in operations and tensors. */
int ttm_rescue_find(ttm_rescue *out, const struct ttm_findings *f, size_t i);

#endif
