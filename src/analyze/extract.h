/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers tt-metal's own extractors give for a graph capture, computed exactly as tt-metal computes them
 * (ttnn/core/graph/graph_trace_utils.cpp): wrap-around, mixed units and all. What they mean, and what is wrong with them, is told by
 * src/l1/core_use.h and src/l1/pitfalls.h. Pure functions over a profile of kind TTM_LOG_CAPTURE. */
#ifndef TTM_ANALYZE_EXTRACT_H
#define TTM_ANALYZE_EXTRACT_H

#include "profile/profile.h"

/* extract_resource_usage_per_core; its fields are extract_circular_buffers_peak_size_per_core,
 * extract_l1_buffer_allocation_peak_size_per_core and extract_peak_memory_usage (those three cut to 32 bits there). */
typedef struct ttm_resource_usage {
  uint64_t peak_cb, peak_l1, peak_dataflow_buffer, peak_scratchpad, peak_total;
  /* NULL, or why tt-metal throws instead of giving numbers; the fields then hold what the sums were with the missing parts left
   * out. */
  const char *refused;
  uint32_t refused_at; /* node, when there is one; TTM_NONE */
} ttm_resource_usage;

/* extract_dram_usage. */
typedef struct ttm_dram_extract {
  int64_t peak;
  uint64_t total_allocations, total_deallocations;
} ttm_dram_extract;

typedef struct ttm_extracts {
  ttm_resource_usage per_core;
  uint32_t peak_l1_memory_usage; /* extract_peak_L1_memory_usage */
  ttm_dram_extract dram;
  bool wrapped; /* a sum went below zero: numbers near 2^32 or 2^64 are no memory */
} ttm_extracts;

void ttm_extract(const ttm_profile *p, ttm_extracts *out);

#endif
