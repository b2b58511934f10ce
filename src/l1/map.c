/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/map.h"

void ttm_l1_map_free(ttm_l1_map *map) {
  ttm_vec_free(&map->buffers);
  ttm_vec_free(&map->tensors);
}

uint64_t ttm_l1_map_lowest_tensor(const ttm_l1_map *map) {
  uint64_t lowest = map->size > map->small ? map->size - map->small : 0;
  for (size_t i = 0; i < map->tensors.n; i++) {
    if (map->tensors.at[i].at < lowest) lowest = map->tensors.at[i].at;
  }
  return lowest;
}

const char *ttm_l1_map_buffer_word(const ttm_l1_map *map) {
  return map->dataflow ? "dataflow buffers" : "circular buffers";
}
