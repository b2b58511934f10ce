/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3: not cryptographic, the same on every machine for the same seed. */
#ifndef TTM_BASE_HASH_H
#define TTM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Two texts of one log never share it by chance. */
uint64_t ttm_hash(const void *p, size_t n, uint64_t seed);

/* One for the whole process, and another one in the next: with it nobody can write a log whose texts share a hash. No result may
 * depend on it. */
uint64_t ttm_hash_seed(void);

/* One number out of two, for ids. */
static inline uint64_t ttm_hash_mix(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
