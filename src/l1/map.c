/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/map.h"

void ttm_l1_map_free(ttm_l1_map *map) {
  ttm_vec_free(&map->buffers);
  ttm_vec_free(&map->tensors);
}

uint64_t ttm_l1_map_buffers_end(const ttm_l1_map *map) {
  uint64_t end = map->base;
  for (size_t i = 0; i < map->buffers.n; i++) {
    if (map->buffers.at[i].end > end) end = map->buffers.at[i].end;
  }
  return end;
}

uint64_t ttm_l1_map_lowest_tensor(const ttm_l1_map *map) {
  uint64_t lowest = map->size > map->small ? map->size - map->small : 0;
  for (size_t i = 0; i < map->tensors.n; i++) {
    if (map->tensors.at[i].at < lowest) lowest = map->tensors.at[i].at;
  }
  return lowest;
}

uint64_t ttm_l1_map_overlap(const ttm_l1_map *map) {
  uint64_t end = ttm_l1_map_buffers_end(map), lowest = ttm_l1_map_lowest_tensor(map);
  return map->buffers.n && end > lowest ? end - lowest : 0;
}

uint64_t ttm_l1_map_free_bytes(const ttm_l1_map *map) {
  uint64_t end = ttm_l1_map_buffers_end(map), lowest = ttm_l1_map_lowest_tensor(map);
  return lowest > end ? lowest - end : 0;
}

const char *ttm_l1_map_buffer_word(const ttm_l1_map *map) {
  return map->dataflow ? "dataflow buffers" : "circular buffers";
}
