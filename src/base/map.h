/* SPDX-License-Identifier: Apache-2.0 */
/* The one hash map: a 64-bit key (an id, an address, a hash) to a 32-bit value, cleared in constant time. It has no order. Zero is the
 * empty map. */
#ifndef TTM_BASE_MAP_H
#define TTM_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

typedef struct ttm_map_slot {
  uint64_t key;
  uint32_t value, generation;
} ttm_map_slot;

typedef struct ttm_map {
  ttm_map_slot *slots;
  size_t slot_count, n; /* slot_count is a power of two, or 0 */
  uint64_t seed;        /* nobody can choose keys that want the same slot */
  uint32_t generation;  /* slots of another generation are free */
} ttm_map;

/* 0, or TTM_ENOMEM with the map as it was. A key that is there gets the new value, which always succeeds. */
int ttm_map_set(ttm_map *map, uint64_t key, uint32_t value);
/* The value, or `otherwise`, and gives the slot back: a steady number of keys never makes the map grow. */
uint32_t ttm_map_remove(ttm_map *map, uint64_t key, uint32_t otherwise);
void ttm_map_clear(ttm_map *map);
void ttm_map_free(ttm_map *map);

/* ---- Inline: every operand of every operation is looked up ---------------------------------------------------------- */

/* Neighbours share a cache line: ids are asked for in the order in which they were given out. */
static inline size_t ttm_map_home(const ttm_map *map, uint64_t key) {
  return (size_t)((ttm_hash_mix((key >> 2) ^ map->seed, UINT64_C(0x9e3779b97f4a7c15)) << 2) + (key & 3));
}

static inline bool ttm_map_is_free(const ttm_map *map, const ttm_map_slot *slot) {
  return slot->generation != map->generation;
}

/* The slot that holds the key, or the free one where it belongs. The map has slots. */
static inline ttm_map_slot *ttm_map_find(const ttm_map *map, uint64_t key) {
  for (size_t i = ttm_map_home(map, key);; i++) {
    ttm_map_slot *slot = &map->slots[i & (map->slot_count - 1)];
    if (ttm_map_is_free(map, slot) || slot->key == key) return slot;
  }
}

/* The value, or `otherwise`. */
static inline uint32_t ttm_map_get(const ttm_map *map, uint64_t key, uint32_t otherwise) {
  if (!map->n) return otherwise;
  const ttm_map_slot *slot = ttm_map_find(map, key);
  return ttm_map_is_free(map, slot) ? otherwise : slot->value;
}

#endif
