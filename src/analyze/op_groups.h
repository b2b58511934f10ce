/* SPDX-License-Identifier: Apache-2.0 */
/* The same operation of every layer and run: same name, same result types, locations alike but for their numbers ("layers.0|MLP" and
 * "layers.7|MLP"). In a recording locations are lines of the program, where another number is another operation. */
#ifndef TTM_ANALYZE_OP_GROUPS_H
#define TTM_ANALYZE_OP_GROUPS_H

#include "profile/profile.h"

typedef struct ttm_op_groups {
  const ttm_profile *profile;
  bool untyped;      /* set after init: result types may differ */
  uint32_t *of_text; /* group of each operation text; 0: not asked for yet */
  ttm_intern keys;
} ttm_op_groups;

/* 0 or TTM_ENOMEM; freed with ttm_op_groups_free in any case. */
int ttm_op_groups_init(ttm_op_groups *groups, const ttm_profile *profile);
void ttm_op_groups_free(ttm_op_groups *groups);

/* The group of an operation text: numbers from 1 on, in the order of their first asking. 0 or TTM_ENOMEM. */
int ttm_op_groups_of(ttm_op_groups *groups, uint32_t text, uint32_t *out);

#endif
