/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "unit.h"

static void reads_what_it_writes(void **state) {
  (void)state;
  static const uint32_t some[] = {0, 'a', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    char bytes[TTM_UTF8_BYTES];
    size_t n = ttm_utf8_put(bytes, some[i]), length;
    assert_int_equal(ttm_utf8_first((ttm_str){bytes, n}, &length), some[i]);
    assert_int_equal(length, n);
    if (n == 1) continue;
    assert_int_equal(ttm_utf8_first((ttm_str){bytes, n - 1}, &length), TTM_UTF8_BROKEN); /* cut */
    assert_int_equal(length, 1);
  }
}

static void a_head_ends_between_characters(void **state) {
  (void)state;
  ttm_str text = TTM_LIT("a\xC3\xA9\xF0\x9F\x98\x80z");
  static const size_t heads[] = {0, 1, 1, 3, 3, 3, 3, 7, 8, 8};
  for (size_t n = 0; n < sizeof heads / sizeof *heads; n++) assert_int_equal(ttm_utf8_head(text, n).n, heads[n]);
  assert_int_equal(ttm_utf8_head(TTM_LIT("\x80\x80\x80\x80\x80\x80"), 5).n, 5); /* no character anywhere */
  assert_int_equal(ttm_utf8_head(TTM_LIT("\xF0\x9F\x98\x80"), 2).n, 2);         /* who walks through a text gets on */
}

static void wide_and_narrow(void **state) {
  (void)state;
  assert_int_equal(ttm_utf8_columns('a'), 1);
  assert_int_equal(ttm_utf8_columns(0xE9), 1);
  assert_int_equal(ttm_utf8_columns(0x2588), 1); /* our bars */
  assert_int_equal(ttm_utf8_columns(0x2026), 1);
  assert_int_equal(ttm_utf8_columns(TTM_UTF8_BROKEN), 1);
  assert_int_equal(ttm_utf8_columns(0x301), 0); /* an accent over the letter before */
  assert_int_equal(ttm_utf8_columns(0x6F22), 2);
  assert_int_equal(ttm_utf8_columns(0x1F600), 2);
}

static void what_hides(void **state) {
  (void)state;
  static const uint32_t hidden[] = {0,
                                    0x1B,
                                    0x7F,
                                    0x9B,
                                    0xAD /* soft hyphen */,
                                    0x61C,
                                    0x200B,
                                    0x200D,
                                    0x202E,
                                    0x2028,
                                    0x2066,
                                    0xFEFF,
                                    0xFE0F /* a variation */,
                                    0xE0041 /* a tag */,
                                    0x3164,
                                    0x2065 /* ignorable, and no character yet */,
                                    0xFFF0,
                                    0xE0000,
                                    0xE0080,
                                    0xE0FFF,
                                    0x2800 /* Braille without dots */,
                                    0x1D159 /* a note without a head */,
                                    0xFDD0,
                                    0x1FFFE};
  static const uint32_t seen[] = {' ',     'a',    '~',    0xA0,   0xE9, 0x301, 0x2027, 0x6F22, 0xE000, TTM_UTF8_BROKEN,
                                  0x1F600, 0x2801, 0xFFFC, 0xE1000};
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) assert_true(ttm_utf8_hides(hidden[i]));
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) assert_false(ttm_utf8_hides(seen[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_what_it_writes),
      cmocka_unit_test(a_head_ends_between_characters),
      cmocka_unit_test(wide_and_narrow),
      cmocka_unit_test(what_hides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
