/* SPDX-License-Identifier: Apache-2.0 */
/* The one door to the heap, so that tests can make any allocation fail. */
#ifndef TTM_BASE_ALLOC_H
#define TTM_BASE_ALLOC_H

#include <stddef.h>

/* NULL on failure. Zeroed. Freed with ttm_free. */
void *ttm_alloc(size_t size);

/* Like realloc: NULL on failure leaves the old block alone. */
void *ttm_realloc(void *old, size_t size);
void ttm_free(void *p);

#endif
