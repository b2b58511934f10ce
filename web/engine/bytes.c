/* SPDX-License-Identifier: Apache-2.0 */
/* memchr, memrchr and memcmp, sixteen bytes at a time: those of WASI's C library go byte by byte, and reading a log is mostly these. */
#define _GNU_SOURCE /* memrchr */
#include <string.h>
#include <wasm_simd128.h>

enum { WIDE = 16 };

void *memchr(const void *from, int wanted, size_t n) {
  const unsigned char *p = from, *end = p + n, c = (unsigned char)wanted;
  v128_t all = wasm_u8x16_splat(c);
  for (; end - p >= WIDE; p += WIDE) {
    v128_t equal = wasm_i8x16_eq(wasm_v128_load(p), all);
    if (wasm_v128_any_true(equal)) return (void *)(p + __builtin_ctz(wasm_i8x16_bitmask(equal)));
  }
  for (; p < end; p++)
    if (*p == c) return (void *)p;
  return NULL;
}

void *memrchr(const void *from, int wanted, size_t n) {
  const unsigned char *p = from, c = (unsigned char)wanted;
  v128_t all = wasm_u8x16_splat(c);
  for (; n >= WIDE; n -= WIDE) {
    unsigned equal = wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(p + n - WIDE), all));
    if (equal) return (void *)(p + n - WIDE + 31 - __builtin_clz(equal));
  }
  while (n--)
    if (p[n] == c) return (void *)(p + n);
  return NULL;
}

int memcmp(const void *one, const void *other, size_t n) {
  const unsigned char *a = one, *b = other;
  for (; n >= WIDE; n -= WIDE, a += WIDE, b += WIDE) {
    v128_t differ = wasm_v128_xor(wasm_v128_load(a), wasm_v128_load(b));
    if (wasm_v128_any_true(differ)) break;
  }
  for (; n; n--, a++, b++)
    if (*a != *b) return *a - *b;
  return 0;
}
