/* SPDX-License-Identifier: Apache-2.0 */
/* A small hash map from id to id, cleared in constant time. Zero is the empty map. */
#ifndef TTM_BASE_IDMAP_H
#define TTM_BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct ttm_idmap {
  struct ttm_idmap_slot *slots;
  size_t slot_count, used;
  uint32_t generation; /* slots of another generation are free */
} ttm_idmap;

/* 0 or TTM_ENOMEM. */
int ttm_idmap_set(ttm_idmap *map, uint32_t key, uint32_t value);
/* The value, or `otherwise`. */
uint32_t ttm_idmap_get(const ttm_idmap *map, uint32_t key, uint32_t otherwise);
void ttm_idmap_clear(ttm_idmap *map);
void ttm_idmap_free(ttm_idmap *map);

#endif
