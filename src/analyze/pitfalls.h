/* SPDX-License-Identifier: Apache-2.0 */
/* Why the numbers of tt-metal's extractors differ from what a capture's program really took, or why a capture cannot tell. Each is
 * reported only where it is seen to matter. */
#ifndef TTM_ANALYZE_PITFALLS_H
#define TTM_ANALYZE_PITFALLS_H

#include "analyze/extract.h"
#include "l1/core_use.h"

typedef enum ttm_pitfall {
  TTM_PITFALL_REFUSED,      /* tt-metal throws on this capture */
  TTM_PITFALL_UNDERFLOW,    /* its sums went below zero */
  TTM_PITFALL_WINDOW,       /* buffers from before the capture are not in its sums */
  TTM_PITFALL_CACHED,       /* programs from the cache record no circular buffers */
  TTM_PITFALL_DATAFLOW,     /* run mode NORMAL records no dataflow buffers and scratchpads */
  TTM_PITFALL_CORES,        /* it adds buffers of different cores */
  TTM_PITFALL_MESH,         /* it adds the same buffers of several devices */
  TTM_PITFALL_FINISHED,     /* it adds buffers of programs that are over */
  TTM_PITFALL_ALIASED,      /* peak_L1 counts buffers that lie in a tensor */
  TTM_PITFALL_MIXED_UNITS,  /* peak_L1 adds whole tensors to bytes of one core */
  TTM_PITFALL_BLOCKS,       /* the allocator rounds each buffer up to a block */
  TTM_PITFALL_PADDING,      /* dram_usage leaves out what pages and banks round up */
  TTM_PITFALL_KERNELS,      /* kernel binaries are in dram_usage */
  TTM_PITFALL_REGIONS,      /* L1_SMALL counts as L1, TRACE as DRAM */
  TTM_PITFALL_DEVICE_NAMES, /* buffers and circular buffers name their device differently */
  TTM_PITFALL_ADDRESSES,    /* nothing was really allocated: ends and gaps follow from tt-metal's rule */
  TTM_PITFALL_BOARD,        /* the capture does not name the board */
  TTM_PITFALL_UNREAD,       /* it is cut, or holds nodes nobody knows */
  TTM_PITFALLS
} ttm_pitfall;

/* A short word for scripts: "cached_programs". */
const char *ttm_pitfall_name(ttm_pitfall pitfall);

/* Bit per ttm_pitfall that applies. */
uint32_t ttm_pitfalls_find(const ttm_profile *p, const ttm_extracts *x, const ttm_core_use *use);

/* True when the corrected numbers lack something the capture does not hold, so that they are a lower bound. */
bool ttm_pitfalls_incomplete(uint32_t found);

/* Appends the sentence for a pitfall that applies. */
void ttm_pitfall_write(ttm_buf *out, ttm_pitfall pitfall, const ttm_profile *p, const ttm_extracts *x,
                       const ttm_core_use *use);

#endif
