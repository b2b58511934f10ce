/* SPDX-License-Identifier: Apache-2.0 */
/* Address ranges that a trace writes: tensors of its capture and the buffers of its programs. Private to analyze/traces.c. */
#ifndef TTM_ANALYZE_TRACE_REGIONS_H
#define TTM_ANALYZE_TRACE_REGIONS_H

#include "analyze/traces.h"
#include "l1/core_range.h"

typedef struct ttm_region {
  uint64_t start, end;
  uint32_t row, event; /* buffer, or event of a program's buffer; the other is TTM_NONE */
  uint32_t cores;      /* string: of a sharded tensor or a program's buffer; 0: all */
  uint8_t memory;
} ttm_region;

typedef TTM_VEC(ttm_region) ttm_regions;

/* The profile, and the sets of cores that its texts name, each read once. */
typedef struct ttm_region_space {
  const ttm_profile *p;
  ttm_core_sets cores;
} ttm_region_space;

/* Where a buffer lies; false when it has no address. */
bool ttm_region_of(const ttm_profile *p, uint32_t row, ttm_region *out);
/* They share memory: the same addresses on a common core. */
int ttm_regions_overlap(ttm_region_space *space, const ttm_region *a, const ttm_region *b, bool *out);
/* Adds those of the programs between the beginning and the end of a capture. */
int ttm_regions_of_programs(ttm_region_space *space, const ttm_device_trace *t, ttm_regions *out);
/* In order, each once. */
void ttm_regions_sort(ttm_regions *regions);

#endif
