/* SPDX-License-Identifier: Apache-2.0 */
#include "base/idmap.h"

#include "base/alloc.h"
#include "ttmem/error.h"

struct ttm_idmap_slot {
  uint32_t generation, key, value;
};

/* The slot that holds the key, or the free one where it belongs. */
static struct ttm_idmap_slot *find(const ttm_idmap *map, uint32_t key) {
  size_t i = (key * UINT32_C(0x9e3779b1)) >> 7;
  for (;; i++) {
    struct ttm_idmap_slot *slot = &map->slots[i & (map->slot_count - 1)];
    if (slot->generation != map->generation || slot->key == key) return slot;
  }
}

static int grow(ttm_idmap *map) {
  ttm_idmap bigger = {.slot_count = map->slot_count ? map->slot_count * 2 : 32, .generation = 1};
  bigger.slots = ttm_alloc(bigger.slot_count * sizeof *bigger.slots);
  if (!bigger.slots) return TTM_ENOMEM;
  for (size_t i = 0; i < map->slot_count; i++) {
    if (map->slots[i].generation != map->generation) continue;
    *find(&bigger, map->slots[i].key) = (struct ttm_idmap_slot){1, map->slots[i].key, map->slots[i].value};
    bigger.used++;
  }
  ttm_free(map->slots);
  *map = bigger;
  return TTM_OK;
}

int ttm_idmap_set(ttm_idmap *map, uint32_t key, uint32_t value) {
  if (map->used * 2 >= map->slot_count && grow(map)) return TTM_ENOMEM;
  struct ttm_idmap_slot *slot = find(map, key);
  map->used += slot->generation != map->generation;
  *slot = (struct ttm_idmap_slot){map->generation, key, value};
  return TTM_OK;
}

uint32_t ttm_idmap_get(const ttm_idmap *map, uint32_t key, uint32_t otherwise) {
  if (!map->slot_count) return otherwise;
  const struct ttm_idmap_slot *slot = find(map, key);
  return slot->generation == map->generation ? slot->value : otherwise;
}

void ttm_idmap_clear(ttm_idmap *map) {
  map->used = 0;
  map->generation++; /* 2^32 clears later an old slot could look alive again: no log has that many programs */
}

void ttm_idmap_free(ttm_idmap *map) {
  ttm_free(map->slots);
  *map = (ttm_idmap){0};
}
