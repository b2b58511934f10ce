/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <string.h>

/* Odd constants with balanced bits, from the digits of pi. */
#define K0 UINT64_C(0x243f6a8885a308d3)
#define K1 UINT64_C(0x13198a2e03707345)
#define K2 UINT64_C(0xa4093822299f31d1)
#define K3 UINT64_C(0x082efa98ec4e6c89)

static inline uint64_t word(const unsigned char *p) {
  uint64_t w;
  memcpy(&w, p, sizeof w);
  return w;
}

/* Folded multiplication over two independent lanes, 32 bytes a step: about a byte per quarter cycle. */
ttm_hash128 ttm_hash_bytes(const void *data, size_t n) {
  const unsigned char *p = data;
  uint64_t a = K0 ^ n, b = K1 + n;
  size_t left = n;
  for (; left >= 32; left -= 32, p += 32) {
    a = ttm_hash_mix(a ^ word(p), word(p + 8) ^ K2);
    b = ttm_hash_mix(b ^ word(p + 16), word(p + 24) ^ K3);
  }
  unsigned char tail[32] = {0};
  if (left) memcpy(tail, p, left);
  a = ttm_hash_mix(a ^ word(tail), word(tail + 8) ^ K2);
  b = ttm_hash_mix(b ^ word(tail + 16), word(tail + 24) ^ K3);
  uint64_t lo = ttm_hash_mix(a ^ K3, b ^ K1);
  uint64_t hi = ttm_hash_mix(b + K0, a ^ (lo + K2));
  return (ttm_hash128){lo, hi};
}
