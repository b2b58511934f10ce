/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/hash.h"

#define XXH_INLINE_ALL /* a call into the library costs a short text as much as its hash */
#include <xxhash.h>

#include "base/os.h"

uint64_t ttm_hash(const void *p, size_t n, uint64_t seed) { return XXH3_64bits_withSeed(p, n, seed); }

uint64_t ttm_hash_seed(void) { return ttm_os_random(); }
