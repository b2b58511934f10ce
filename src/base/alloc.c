/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/spill.h"

void *ttm_alloc(size_t size) {
  void *spilled = ttm_spill_new(size, NULL, 0);
  return spilled ? spilled : calloc(1, size ? size : 1);
}

/* A spilled block that cannot grow where it is. */
static void *regrow(void *old, size_t before, size_t size) {
  void *to = ttm_spill_new(size, old, before);
  if (!to && (to = malloc(size))) memcpy(to, old, before);
  if (to) ttm_spill_free(old);
  return to;
}

void *ttm_realloc(void *old, size_t size) {
  size_t before = ttm_spill_size(old);
  void *grown = before ? ttm_spill_grow(old, size) : realloc(old, size ? size : 1);
  if (before) return grown ? grown : regrow(old, before, size);
  /* Only the heap knows how large the block was: all of the new one is taken over. */
  void *spilled = grown ? ttm_spill_new(size, grown, old ? size : 0) : NULL;
  if (spilled) free(grown);
  return spilled ? spilled : grown;
}

void *ttm_realloc_busy(void *old, size_t size) { return realloc(old, size ? size : 1); }

void ttm_free(void *p) {
  if (ttm_spill_size(p))
    ttm_spill_free(p);
  else
    free(p);
}
