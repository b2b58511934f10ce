/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdlib.h>

void *ttm_alloc(size_t size) { return calloc(1, size ? size : 1); }

void *ttm_realloc(void *old, size_t size) { return realloc(old, size ? size : 1); }

void ttm_free(void *p) { free(p); }
