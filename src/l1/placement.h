/* SPDX-License-Identifier: Apache-2.0 */
/* Where a program's circular buffers (or dataflow buffers: the same rule) and the tensors of L1 come to lie on a core: tt-metal's own
 * rules (program.cpp allocate_circular_buffers, dataflow_buffer.cpp allocate_dataflow_buffers, bank_manager.cpp), replayed.
 *   - Buffers go up from the base in creation order. A buffer starts behind everything on its own core ranges, on the DRAM
 *     alignment, at one address on all its cores; every range that meets one of its own is then full up to its end.
 *     So buffers on different ranges leave holes.
 *   - Buffers on the memory of a tensor (globally allocated, borrowed) take nothing.
 *   - Tensors go down from the top; a tensor takes the same place on every core, also where it has no data. */
#ifndef TTM_L1_PLACEMENT_H
#define TTM_L1_PLACEMENT_H

#include "l1/core_range.h"

typedef struct ttm_l1_buffer {
  ttm_str name;
  uint64_t bytes; /* on each of its cores */
  ttm_core_set
      cores; /* as the program has them: CreateCircularBuffer merges (ttm_core_set_merge), a ProgramDescriptor does not */
  bool borrowed;    /* lies in a tensor's memory */
  uint64_t address; /* result; for a borrowed one the caller's word */
} ttm_l1_buffer;

/* The end of what one core range holds. There is one per distinct range of all buffers, as in tt-metal. */
typedef struct ttm_l1_range_end {
  ttm_core_range range;
  uint64_t end;  /* 0: nothing on it */
  uint64_t used; /* bytes of buffers on it; the rest up to `end` is holes */
} ttm_l1_range_end;

typedef struct ttm_l1_placement {
  TTM_VEC(ttm_l1_range_end) ranges; /* in order of creation: tt-metal reports the first that is wrong */
} ttm_l1_placement;

/* Fills the buffers' addresses and the ranges. `out` is freed with ttm_l1_placement_free.
 * 0 or TTM_ENOMEM. */
int ttm_l1_place(ttm_l1_buffer *buffers, size_t n, uint64_t base, uint64_t align, ttm_l1_placement *out);
void ttm_l1_placement_free(ttm_l1_placement *placement);

/* The highest end of all ranges; `base` when there is no buffer. */
uint64_t ttm_l1_placement_end(const ttm_l1_placement *placement, uint64_t base);

typedef enum ttm_l1_fit {
  TTM_L1_FITS,
  TTM_L1_CLASHES, /* "... clash with L1 buffers on core range ..." */
  TTM_L1_BEYOND,  /* "... grow to N B which is beyond max L1 size of ..." */
} ttm_l1_fit;

/* tt-metal's check before a program runs. `lowest_tensor` is the lowest address any L1 tensor has (l1_bytes when there is none).
 * *which is the first range that fails; untouched when all fit. */
ttm_l1_fit ttm_l1_check(const ttm_l1_placement *placement, uint64_t lowest_tensor, uint64_t l1_bytes, size_t *which);

/* Where a tensor of `bytes` per core lands when the lowest one so far is at `lowest` and nothing was freed in between; 0 when it does not
 * fit above `base`. */
uint64_t ttm_l1_tensor_at(uint64_t lowest, uint64_t bytes, uint64_t base, uint64_t align);

#endif
