/* SPDX-License-Identifier: Apache-2.0 */
/* One core's L1 with addresses: what is reserved at the bottom, the program's buffers growing up from the base, tensors growing down
 * from the top. Pure data: src/report/write/l1_picture.h draws it. */
#ifndef TTM_L1_MAP_H
#define TTM_L1_MAP_H

#include "base/basis.h"
#include "base/boards.h"
#include "base/str.h"
#include "base/vec.h"

/* One thing in L1. Buffers and tensors have a lane each, so that an overlap shows. */
typedef struct ttm_l1_region {
  uint64_t at, end;
  ttm_str name; /* borrowed; may be empty */
} ttm_l1_region;

/* The owner frees the vectors with ttm_l1_map_free. */
typedef struct ttm_l1_map {
  ttm_arch_id arch; /* TTM_ARCHES when not known */
  ttm_basis arch_basis;
  uint64_t size; /* of the core's L1 */
  uint64_t base; /* buffers start here; below is reserved */
  ttm_basis base_basis;
  uint64_t small;                 /* bytes of L1_SMALL at the top; 0 also when unknown */
  bool dataflow;                  /* the buffers are dataflow buffers */
  TTM_VEC(ttm_l1_region) buffers; /* ascending */
  TTM_VEC(ttm_l1_region) tensors; /* ascending */
} ttm_l1_map;

void ttm_l1_map_free(ttm_l1_map *map);

/* By address. */
void ttm_l1_regions_sort(ttm_l1_region *regions, size_t n);

/* Where the lowest tensor starts; size - small when there are none. */
uint64_t ttm_l1_map_lowest_tensor(const ttm_l1_map *map);

/* "circular buffers" or "dataflow buffers". */
const char *ttm_l1_map_buffer_word(const ttm_l1_map *map);

#endif
