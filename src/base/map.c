/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <string.h>

#include "base/alloc.h"
#include "ttmem/error.h"

enum { FIRST_SLOTS = 32 };

typedef ttm_map_slot slot;

static slot *slot_at(const ttm_map *map, size_t i) { return &map->slots[i & (map->slot_count - 1)]; }

/* Places an entry of the old generation anew, then the one that stood there, and so on. */
static void move(ttm_map *map, slot entry, uint32_t old) {
  while (entry.generation == old) {
    slot *to = ttm_map_find(map, entry.key), displaced = *to;
    *to = (slot){entry.key, entry.value, map->generation};
    entry = displaced;
  }
}

/* In place: two tables side by side would touch half as much memory again. */
static int grow(ttm_map *map) {
  size_t before = map->slot_count, count = before ? before * 2 : FIRST_SLOTS;
  slot *slots = count > SIZE_MAX / sizeof *slots ? NULL : ttm_realloc_busy(map->slots, count * sizeof *slots);
  if (!slots) return TTM_ENOMEM;
  memset(slots + before, 0, (count - before) * sizeof *slots);
  if (!before) map->seed = ttm_hash_seed();
  map->slots = slots;
  map->slot_count = count;
  uint32_t old = map->generation++;
  for (size_t i = 0; i < before; i++) {
    slot entry = slots[i];
    if (entry.generation != old) continue;
    slots[i].generation = 0;
    move(map, entry, old);
  }
  return TTM_OK;
}

int ttm_map_set(ttm_map *map, uint64_t key, uint32_t value) {
  slot *s = map->slot_count ? ttm_map_find(map, key) : NULL;
  if (s && !ttm_map_is_free(map, s)) return s->value = value, TTM_OK;
  if (!s || map->n * 3 >= map->slot_count * 2) { /* a third of the slots stays free */
    if (grow(map)) return TTM_ENOMEM;
    s = ttm_map_find(map, key);
  }
  *s = (slot){key, value, map->generation};
  map->n++;
  return TTM_OK;
}

/* Moves later members of the row into the hole, so that no marks of removed keys are left to fill the map. */
static void close_hole(ttm_map *map, size_t hole) {
  size_t mask = map->slot_count - 1;
  for (size_t i = hole + 1; !ttm_map_is_free(map, slot_at(map, i)); i++) {
    size_t from_home = (i - ttm_map_home(map, slot_at(map, i)->key)) & mask;
    if (from_home < i - hole) continue; /* it would come to stand before its home */
    *slot_at(map, hole) = *slot_at(map, i);
    hole = i;
  }
  slot_at(map, hole)->generation = 0;
}

uint32_t ttm_map_remove(ttm_map *map, uint64_t key, uint32_t otherwise) {
  if (!map->n) return otherwise;
  const slot *s = ttm_map_find(map, key);
  if (ttm_map_is_free(map, s)) return otherwise;
  uint32_t value = s->value;
  map->n--;
  close_hole(map, (size_t)(s - map->slots));
  return value;
}

void ttm_map_clear(ttm_map *map) {
  map->n = 0;
  map->generation++; /* 2^32 clears later an old slot could look taken again: no log has that many programs */
}

void ttm_map_free(ttm_map *map) {
  ttm_free(map->slots);
  *map = (ttm_map){0};
}
