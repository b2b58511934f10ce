/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/map.h"

#include <stdlib.h>

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

static int by_address(const void *a, const void *b) {
  const ttm_l1_region *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

void ttm_l1_regions_sort(ttm_l1_region *regions, size_t n) {
  if (n) qsort(regions, n, sizeof *regions, by_address);
}
