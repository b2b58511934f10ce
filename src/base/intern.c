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

/* The string's id, or 0, and its key in `ids`: its hash, or the next number when another string has that one. */
static uint64_t key_of(const ttm_intern *pool, ttm_str s, uint32_t *id) {
  uint64_t key = ttm_hash(s.p, s.n, pool->seed);
  while ((*id = ttm_map_get(&pool->ids, key, 0)) && !ttm_str_eq(decode(pool->strings.at[*id]), s)) key++;
  return key;
}

int ttm_intern_add(ttm_intern *pool, ttm_str string, uint32_t *out) {
  if (string.n == 0) return *out = 0, TTM_OK;
  if (ttm_vec_reserve(&pool->strings, 2)) return TTM_ENOMEM;
  if (pool->strings.n == 0) {
    pool->strings.at[pool->strings.n++] = "";
    pool->seed = ttm_hash_seed();
  }
  uint64_t key = key_of(pool, string, out);
  if (*out) return TTM_OK;
  const char *stored = encode(pool, string);
  if (!stored || ttm_map_set(&pool->ids, key, (uint32_t)pool->strings.n)) return TTM_ENOMEM;
  *out = (uint32_t)pool->strings.n;
  pool->strings.at[pool->strings.n++] = stored;
  return TTM_OK;
}

ttm_str ttm_intern_get(const ttm_intern *pool, uint32_t id) {
  return id < pool->strings.n ? decode(pool->strings.at[id]) : (ttm_str){"", 0};
}

uint32_t ttm_intern_find(const ttm_intern *pool, ttm_str string) {
  uint32_t id = 0;
  if (string.n) key_of(pool, string, &id);
  return id;
}

void ttm_intern_free(ttm_intern *pool) {
  ttm_arena_free(&pool->arena);
  ttm_vec_free(&pool->strings);
  ttm_map_free(&pool->ids);
  *pool = (ttm_intern){0};
}
