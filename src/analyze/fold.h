/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated layers as one row: names that are alike but for numbers of their own fold into one group, which is called by what they share:
 * "layers.0.mlp.weight" and "layers.17.mlp.weight" are "layers.*.mlp.weight". A number inside a word ("adapter1", "conv2d") is part of the
 * name. Every table folds this way. */
#ifndef TTM_ANALYZE_FOLD_H
#define TTM_ANALYZE_FOLD_H

#include "base/buf.h"
#include "base/intern.h"

typedef struct ttm_fold_group {
  ttm_str first;    /* name of the first member; borrowed */
  uint32_t members; /* names added */
  uint64_t differ;  /* bit per number of the name: not all members have it the same */
} ttm_fold_group;

/* Zero is empty. `whole`: names fold only when they are equal; for places of a program ("model.py:12") and times, where another number is another place. */
typedef struct ttm_fold {
  bool whole;
  ttm_intern keys;
  TTM_VEC(ttm_fold_group) groups;
  ttm_buf key; /* reused */
} ttm_fold;

/* The group of a member, new or not: groups count from 0. Members of different `kind` never fold. `name` is borrowed. 0 or TTM_ENOMEM. */
int ttm_fold_add(ttm_fold *fold, ttm_str name, uint64_t kind, uint32_t *group);
/* Appends the name of a group. */
void ttm_fold_name(const ttm_fold *fold, uint32_t group, ttm_buf *out);
/* The same as a string of the arena; its bytes are NULL without memory. */
ttm_str ttm_fold_name_in(const ttm_fold *fold, uint32_t group, ttm_arena *arena);
void ttm_fold_free(ttm_fold *fold);

#endif
