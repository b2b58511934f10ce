/* SPDX-License-Identifier: Apache-2.0 */
/* Two sequences side by side: which elements of one are those of the other, in order. */
#ifndef TTM_ANALYZE_ALIGN_H
#define TTM_ANALYZE_ALIGN_H

#include <stdint.h>

typedef struct ttm_sequence {
  const uint32_t *at; /* keys: equal ones may be matched */
  uint32_t n;
} ttm_sequence;

/* match[i] becomes the place of a.at[i] in b, or TTM_NONE; the places rise. Keys are below `keys`. The fewest elements are left over where
 * the two differ by up to some thousand, and a good many otherwise: the time stays near linear. 0 or TTM_ENOMEM. */
int ttm_align(ttm_sequence a, ttm_sequence b, uint32_t keys, uint32_t *match);

#endif
