/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdio.h>

#include "unit.h"

static int by_lo(const void *a, const void *b) {
  uint64_t x = ((const ttm_hash128 *)a)->lo, y = ((const ttm_hash128 *)b)->lo;
  return (x > y) - (x < y);
}

static ttm_hash128 of(ttm_str v) { return ttm_hash_bytes(v.p, v.n); }
static bool same(ttm_hash128 a, ttm_hash128 b) { return a.lo == b.lo && a.hi == b.hi; }

static void depends_on_bytes_not_on_place(void **state) {
  (void)state;
  unsigned char place[80];
  for (size_t n = 0; n <= 70; n++)
    for (size_t shift = 0; shift < 8; shift++) {
      memset(place, 0xaa, sizeof place);
      memset(place + shift, (int)n, n);
      unsigned char plain[70 + 1];
      memset(plain, (int)n, sizeof plain);
      assert_true(same(ttm_hash_bytes(place + shift, n), ttm_hash_bytes(plain, n)));
    }
}

static void never_reads_past_the_end(void **state) {
  (void)state;
  static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (size_t n = 0; n < sizeof text; n++) {
    ttm_str v = heap_view((ttm_str){text, n});
    assert_true(same(of(v), ttm_hash_bytes(text, n)));
    free((char *)v.p);
  }
  assert_true(same(ttm_hash_bytes(NULL, 0), ttm_hash_bytes("", 0)));
}

static void length_counts(void **state) {
  (void)state;
  static const char zeros[128];
  for (size_t a = 0; a < sizeof zeros; a++)
    for (size_t b = 0; b < a; b++) assert_int_not_equal(ttm_hash_bytes(zeros, a).lo, ttm_hash_bytes(zeros, b).lo);
}

static void every_bit_counts(void **state) {
  (void)state;
  unsigned char text[100] = "some text of which one bit at a time changes";
  ttm_hash128 before = ttm_hash_bytes(text, sizeof text);
  for (size_t bit = 0; bit < sizeof text * 8; bit++) {
    text[bit / 8] ^= (unsigned char)(1u << bit % 8);
    ttm_hash128 after = ttm_hash_bytes(text, sizeof text);
    int moved = __builtin_popcountll(before.lo ^ after.lo);
    assert_true(moved >= 8 && moved <= 56);
    assert_int_not_equal(before.hi, after.hi);
    text[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
}

static void many_alike_texts_stay_apart(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  ttm_hash128 *all = malloc(COUNT * sizeof *all);
  assert_non_null(all);
  char text[64];
  for (uint32_t i = 0; i < COUNT; i++) {
    int n = snprintf(text, sizeof text, "tensor<%ux%uxbf16, #ttnn_layout%u>", i % 97, i, i / 13);
    all[i] = ttm_hash_bytes(text, (size_t)n);
  }
  qsort(all, COUNT, sizeof *all, by_lo);
  for (uint32_t i = 1; i < COUNT; i++) assert_true(all[i].lo != all[i - 1].lo);
  free(all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(depends_on_bytes_not_on_place),
      cmocka_unit_test(never_reads_past_the_end),
      cmocka_unit_test(length_counts),
      cmocka_unit_test(every_bit_counts),
      cmocka_unit_test(many_alike_texts_stay_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
