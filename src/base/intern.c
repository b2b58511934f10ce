/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include "base/hash.h"

/* There may be a string per operation, so each costs its text, a byte or two of length and a pointer. */
static ttm_str decode(const char *stored) {
  size_t n = 0, shift = 0;
  unsigned char byte;
  do {
    byte = (unsigned char)*stored++;
    n |= (size_t)(byte & 127) << shift;
    shift += 7;
  } while (byte & 128);
  return (ttm_str){stored, n};
}

static const char *encode(ttm_intern *pool, ttm_str s) {
  char header[10];
  size_t n = 0;
  for (size_t rest = s.n; n == 0 || rest; rest >>= 7) header[n++] = (char)((rest & 127) | (rest > 127 ? 128 : 0));
  if (s.n > SIZE_MAX - n) return NULL;
  char *stored = ttm_arena_bytes(&pool->arena, n + s.n);
  if (!stored) return NULL;
  memcpy(stored, header, n);
  memcpy(stored + n, s.p, s.n);
  return stored;
}

static size_t home_slot(const ttm_intern *pool, ttm_str s) {
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
    size_t i = home_slot(pool, decode(pool->strings.at[id]));
    while (slots[i]) i = (i + 1) & (count - 1);
    slots[i] = id;
  }
  return TTM_OK;
}

/* The slot that holds the string, or the free one where it belongs. */
static size_t find_slot(const ttm_intern *pool, ttm_str s) {
  size_t i = home_slot(pool, s);
  while (pool->slots[i] && !ttm_str_eq(decode(pool->strings.at[pool->slots[i]]), s))
    i = (i + 1) & (pool->slot_count - 1);
  return i;
}

int ttm_intern_add(ttm_intern *pool, ttm_str string, uint32_t *out) {
  if (string.n == 0) return *out = 0, TTM_OK;
  if (pool->strings.n == 0 && ttm_vec_push(&pool->strings, "")) return TTM_ENOMEM;
  if (pool->strings.n * 3 >= pool->slot_count * 2 && rehash(pool)) return TTM_ENOMEM;
  size_t slot = find_slot(pool, string);
  if (!pool->slots[slot]) {
    const char *stored = encode(pool, string);
    if (!stored || ttm_vec_push(&pool->strings, stored)) return TTM_ENOMEM;
    pool->slots[slot] = (uint32_t)(pool->strings.n - 1);
  }
  *out = pool->slots[slot];
  return TTM_OK;
}

ttm_str ttm_intern_get(const ttm_intern *pool, uint32_t id) {
  return id < pool->strings.n ? decode(pool->strings.at[id]) : (ttm_str){"", 0};
}

uint32_t ttm_intern_find(const ttm_intern *pool, ttm_str string) {
  return pool->slot_count && string.n ? pool->slots[find_slot(pool, string)] : 0;
}

void ttm_intern_free(ttm_intern *pool) {
  ttm_arena_free(&pool->arena);
  ttm_vec_free(&pool->strings);
  ttm_free(pool->slots);
  *pool = (ttm_intern){0};
}
