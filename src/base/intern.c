/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include "base/hash.h"

static size_t home_slot(const ttm_intern *pool, ttm_view s) {
  return (size_t)ttm_hash_bytes(s.p, s.n).lo & (pool->slot_count - 1);
}

static int rehash(ttm_intern *pool) {
  size_t count = pool->slot_count ? pool->slot_count * 2 : 64;
  uint32_t *slots = ttm_alloc(count * sizeof *slots);
  if (!slots) return TTM_ENOMEM;
  ttm_free(pool->slots);
  pool->slots = slots;
  pool->slot_count = count;
  for (uint32_t id = 1; id < pool->strings.n; id++) {
    size_t i = home_slot(pool, pool->strings.at[id]);
    while (slots[i]) i = (i + 1) & (count - 1);
    slots[i] = id;
  }
  return TTM_OK;
}

/* The slot that holds the string, or the free one where it belongs. */
static size_t find_slot(const ttm_intern *pool, ttm_view s) {
  size_t i = home_slot(pool, s);
  while (pool->slots[i] && !ttm_view_eq(pool->strings.at[pool->slots[i]], s)) i = (i + 1) & (pool->slot_count - 1);
  return i;
}

int ttm_intern_add(ttm_intern *pool, ttm_view string, uint32_t *out) {
  if (string.n == 0) return *out = 0, TTM_OK;
  if (pool->strings.n == 0 && ttm_vec_push(&pool->strings, (ttm_view){"", 0})) return TTM_ENOMEM;
  if (pool->strings.n * 2 >= pool->slot_count && rehash(pool)) return TTM_ENOMEM;
  size_t slot = find_slot(pool, string);
  if (!pool->slots[slot]) {
    char *copy = ttm_arena_copy(&pool->arena, string);
    if (!copy || ttm_vec_push(&pool->strings, (ttm_view){copy, string.n})) return TTM_ENOMEM;
    pool->slots[slot] = (uint32_t)(pool->strings.n - 1);
  }
  *out = pool->slots[slot];
  return TTM_OK;
}

ttm_view ttm_intern_get(const ttm_intern *pool, uint32_t id) {
  return id < pool->strings.n ? pool->strings.at[id] : (ttm_view){"", 0};
}

uint32_t ttm_intern_find(const ttm_intern *pool, ttm_view string) {
  return pool->slot_count && string.n ? pool->slots[find_slot(pool, string)] : 0;
}

void ttm_intern_free(ttm_intern *pool) {
  ttm_arena_free(&pool->arena);
  ttm_vec_free(&pool->strings);
  ttm_free(pool->slots);
  *pool = (ttm_intern){0};
}
