/* SPDX-License-Identifier: Apache-2.0 */
/* musl compares and searches byte by byte or word by word, and logs are compared and searched all day: a static program takes these instead.
 * Vectors of 16 bytes are part of every x86_64 and aarch64. */
#include <stdint.h>
#include <string.h>

typedef unsigned char block __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t halves __attribute__((vector_size(16)));
enum { BLOCK = sizeof(block) };

static inline block at(const unsigned char *p) { return *(const block *)p; }
static inline halves halves_of(block b) { return (halves)b; }
static inline int any(block b) { return (halves_of(b)[0] | halves_of(b)[1]) != 0; }

int memcmp(const void *left, const void *right, size_t n) {
  const unsigned char *l = left, *r = right;
  for (; n >= 4 * BLOCK; n -= 4 * BLOCK, l += 4 * BLOCK, r += 4 * BLOCK)
    if (any((at(l) ^ at(r)) | (at(l + BLOCK) ^ at(r + BLOCK)) | (at(l + 2 * BLOCK) ^ at(r + 2 * BLOCK)) |
            (at(l + 3 * BLOCK) ^ at(r + 3 * BLOCK))))
      break;
  while (n >= BLOCK && !any(at(l) ^ at(r))) n -= BLOCK, l += BLOCK, r += BLOCK;
  while (n && *l == *r) n--, l++, r++;
  return n ? *l - *r : 0;
}

/* Where the first byte that is not 0 stands. */
static inline size_t first(block b) {
  uint64_t low = halves_of(b)[0], high = halves_of(b)[1];
  return low ? (size_t)__builtin_ctzll(low) / 8 : 8 + (size_t)__builtin_ctzll(high) / 8;
}

void *memchr(const void *from, int wanted, size_t n) {
  const unsigned char *p = from, c = (unsigned char)wanted;
  const block all = c - (block){0};
  for (; n >= 4 * BLOCK; n -= 4 * BLOCK, p += 4 * BLOCK)
    if (any((block)(at(p) == all) | (block)(at(p + BLOCK) == all) | (block)(at(p + 2 * BLOCK) == all) |
            (block)(at(p + 3 * BLOCK) == all)))
      break;
  for (; n >= BLOCK; n -= BLOCK, p += BLOCK) {
    block equal = (block)(at(p) == all);
    if (any(equal)) return (void *)(uintptr_t)(p + first(equal));
  }
  while (n && *p != c) n--, p++;
  return n ? (void *)(uintptr_t)p : NULL;
}
