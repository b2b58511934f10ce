/* SPDX-License-Identifier: Apache-2.0 */
/* Large blocks outside of memory: each is a temporary file without a name, mapped. What of it was not used for a while is given back to the system, so a table that
 * grows with its input takes room on the disk instead. Only base/alloc.c asks for such blocks; all others see memory. */
#ifndef TTM_BASE_SPILL_H
#define TTM_BASE_SPILL_H

#include <stddef.h>
#include <stdint.h>

/* From here on blocks of `least` bytes and more are put there, `most` bytes of them in all, and never more than half of what the disk has left. A program
 * asks for it, not the library. Of several calls the smallest `least` counts. Beside a block that is there smaller ones follow. */
void ttm_spill_begin(size_t least, uint64_t most);

/* A block that begins with the `n` bytes of `from`, the rest zeros; NULL when it is too small for that, or there is no room: the heap is left then. */
void *ttm_spill_new(size_t size, const void *from, size_t n);
/* Bytes of the block at `p`; 0: it is none of these. The two below take only those. */
size_t ttm_spill_size(const void *p);
/* The block, larger and perhaps elsewhere; NULL when it cannot grow. */
void *ttm_spill_grow(void *p, size_t size);
void ttm_spill_free(void *p);

#endif
