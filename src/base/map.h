/* SPDX-License-Identifier: Apache-2.0 */
/* The one hash map: a 64-bit key (an id, an address, a hash) to a 32-bit value, cleared in constant time. It has no order. Zero is the
 * empty map. */
#ifndef TTM_BASE_MAP_H
#define TTM_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct ttm_map {
  struct ttm_map_slot *slots;
  size_t slot_count, n; /* slot_count is a power of two, or 0 */
  uint64_t seed;        /* nobody can choose keys that want the same slot */
  uint32_t generation;  /* slots of another generation are free */
} ttm_map;

/* 0, or TTM_ENOMEM with the map as it was. A key that is there gets the new value, which always succeeds. */
int ttm_map_set(ttm_map *map, uint64_t key, uint32_t value);
/* The value, or `otherwise`. */
uint32_t ttm_map_get(const ttm_map *map, uint64_t key, uint32_t otherwise);
/* The value, or `otherwise`, and gives the slot back: a steady number of keys never makes the map grow. */
uint32_t ttm_map_remove(ttm_map *map, uint64_t key, uint32_t otherwise);
void ttm_map_clear(ttm_map *map);
void ttm_map_free(ttm_map *map);

#endif
