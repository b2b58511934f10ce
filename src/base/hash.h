/* SPDX-License-Identifier: Apache-2.0 */
/* Non-cryptographic hashing, the same on every machine and run. */
#ifndef TTM_BASE_HASH_H
#define TTM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct ttm_hash128 {
  uint64_t lo, hi;
} ttm_hash128;

/* Strong enough to stand for the text itself: two texts of one log never share it by chance. */
ttm_hash128 ttm_hash_bytes(const void *p, size_t n);

static inline uint64_t ttm_hash_mix(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
