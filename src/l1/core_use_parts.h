/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses behind ttm_core_use: where a program's buffers end, where the lowest tensor starts. Private to src/l1. */
#ifndef TTM_L1_CORE_USE_PARTS_H
#define TTM_L1_CORE_USE_PARTS_H

#include "base/map.h"
#include "l1/core_use.h"
#include "l1/placement.h"

/* The tightest program so far, kept to be drawn. */
typedef struct ttm_kept_program {
  TTM_VEC(ttm_l1_buffer) buffers; /* cores borrowed from `sets`, names from the profile */
  TTM_VEC(ttm_l1_region) tensors;
} ttm_kept_program;

typedef struct ttm_core_regions {
  const ttm_profile *p;
  uint64_t base, top, align; /* of L1; tensors are allocated top-down from top */
  ttm_map set_of_text;       /* string of core ranges -> sets */
  TTM_VEC(ttm_core_set) sets;
  TTM_VEC(ttm_l1_buffer) buffers; /* of the running program */
  TTM_VEC(uint32_t) events;       /* of each of them */
  TTM_VEC(uint32_t) alive;        /* L1 buffers */
  uint64_t unplaced;              /* bytes of those without an address */
  ttm_kept_program kept;
} ttm_core_regions;

int ttm_core_regions_init(ttm_core_regions *r, const ttm_profile *p);
/* A buffer of the running program; *cores are its own, empty when they cannot be read. */
int ttm_core_regions_add(ttm_core_regions *r, uint32_t event, const ttm_core_set **cores);
/* An L1 buffer (others are ignored) came or went. */
int ttm_core_regions_tensor(ttm_core_regions *r, uint32_t buffer, bool came);
/* The running program has all its buffers: notes end and gap in *out. */
int ttm_core_regions_close(ttm_core_regions *r, ttm_core_use *out);
void ttm_core_regions_clear(ttm_core_regions *r);
/* Fills out->map with the tightest program. */
int ttm_core_regions_map(ttm_core_regions *r, ttm_core_use *out);
void ttm_core_regions_free(ttm_core_regions *r);

#endif
