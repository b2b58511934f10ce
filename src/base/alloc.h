/* SPDX-License-Identifier: Apache-2.0 */
/* The one door to the heap, so that tests can make any allocation fail. Large blocks may lie outside of it (base/spill.h). */
#ifndef TTM_BASE_ALLOC_H
#define TTM_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* NULL on failure. Zeroed. Freed with ttm_free. */
void *ttm_alloc(size_t size);

/* An array of n elements; not NULL because n is 0. */
static inline void *ttm_alloc_array(size_t n, size_t element_size) {
  return n > SIZE_MAX / element_size ? NULL : ttm_alloc(n ? n * element_size : 1);
}

/* Like realloc: NULL on failure leaves the old block alone. */
void *ttm_realloc(void *old, size_t size);
/* The same for what is looked into here and there, all the time: it stays on the heap, however large. */
void *ttm_realloc_busy(void *old, size_t size);
void ttm_free(void *p);

#endif
