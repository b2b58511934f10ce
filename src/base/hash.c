/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <sys/auxv.h>

#define XXH_INLINE_ALL /* a call into the library costs a short text as much as its hash */
#include <xxhash.h>

uint64_t ttm_hash(const void *p, size_t n, uint64_t seed) { return XXH3_64bits_withSeed(p, n, seed); }

/* The kernel hands every process 16 random bytes. glibc guards the stack with them, so that only a hash of them is passed on. */
uint64_t ttm_hash_seed(void) {
  const void *random = (const void *)getauxval(AT_RANDOM);
  return random ? ttm_hash(random, 16, 0) : 0;
}
