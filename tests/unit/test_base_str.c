/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

static void equality(void **state) {
  (void)state;
  assert_true(ttm_str_eq(TTM_LIT("ab"), ttm_str_of("ab")));
  assert_false(ttm_str_eq(TTM_LIT("ab"), TTM_LIT("abc")));
  assert_false(ttm_str_eq(TTM_LIT("ab"), TTM_LIT("aB")));
  assert_true(ttm_str_eq(TTM_LIT("a\0b"), (ttm_str){"a\0b", 3}));
  assert_false(ttm_str_eq(TTM_LIT("a\0b"), TTM_LIT("a\0c")));
  assert_true(ttm_str_eq((ttm_str){NULL, 0}, TTM_LIT("")));
  assert_int_equal(ttm_str_of(NULL).n, 0);
  assert_true(ttm_str_eq_nocase(TTM_LIT("N150"), TTM_LIT("n150")));
  assert_true(ttm_str_eq_nocase((ttm_str){NULL, 0}, TTM_LIT("")));
  assert_false(ttm_str_eq_nocase(TTM_LIT("n15"), TTM_LIT("n150")));
  assert_false(ttm_str_eq_nocase(TTM_LIT("n150"), TTM_LIT("n15")));
  assert_false(ttm_str_eq_nocase(TTM_LIT("[@`{"), TTM_LIT("{`@["))); /* beside the letters */
}

static void starts_and_ends(void **state) {
  (void)state;
  assert_true(ttm_str_starts(TTM_LIT("ttnn.add"), TTM_LIT("ttnn.")));
  assert_true(ttm_str_starts(TTM_LIT("x"), TTM_LIT("")));
  assert_false(ttm_str_starts(TTM_LIT("tt"), TTM_LIT("ttnn")));
  assert_true(ttm_str_ends(TTM_LIT("log.zst"), TTM_LIT(".zst")));
  assert_true(ttm_str_ends(TTM_LIT(""), TTM_LIT("")));
  assert_false(ttm_str_ends(TTM_LIT("zst"), TTM_LIT(".zst")));
}

static void parts(void **state) {
  (void)state;
  assert_view(ttm_str_from(TTM_LIT("abc"), 1), "bc");
  assert_view(ttm_str_from(TTM_LIT("abc"), 3), "");
  assert_view(ttm_str_from(TTM_LIT("abc"), SIZE_MAX), "");
  assert_view(ttm_str_first(TTM_LIT("abc"), 2), "ab");
  assert_view(ttm_str_first(TTM_LIT("abc"), SIZE_MAX), "abc");
  assert_view(ttm_str_first(TTM_LIT("abc"), 0), "");
}

static void finding(void **state) {
  (void)state;
  ttm_str text = TTM_LIT("one -> two -> three");
  assert_int_equal(ttm_str_find(text, TTM_LIT("->")), 4);
  assert_int_equal(ttm_str_find(text, TTM_LIT("three")), 14);
  assert_int_equal(ttm_str_find(text, TTM_LIT("")), 0);
  assert_int_equal(ttm_str_find(text, TTM_LIT("threes")), TTM_NOT_FOUND);
  assert_int_equal(ttm_str_find(TTM_LIT("ab"), TTM_LIT("abc")), TTM_NOT_FOUND);
  assert_int_equal(ttm_str_find((ttm_str){NULL, 0}, TTM_LIT("a")), TTM_NOT_FOUND);
  assert_int_equal(ttm_str_find(TTM_LIT("a\0b->"), TTM_LIT("\0b")), 1);
  assert_int_equal(ttm_str_find_char(text, '-'), 4);
  assert_int_equal(ttm_str_find_char(text, '!'), TTM_NOT_FOUND);
  assert_int_equal(ttm_str_find_char((ttm_str){NULL, 0}, 'a'), TTM_NOT_FOUND);
  assert_int_equal(ttm_str_find_last(TTM_LIT("a\nb\nc"), '\n'), 3);
  assert_int_equal(ttm_str_find_last(TTM_LIT("abc"), '\n'), TTM_NOT_FOUND);
  assert_int_equal(ttm_str_find_last((ttm_str){NULL, 0}, 'a'), TTM_NOT_FOUND);
  assert_true(ttm_str_contains(text, TTM_LIT("two")));
  assert_false(ttm_str_contains(text, TTM_LIT("four")));
}

static void finding_stays_inside(void **state) {
  (void)state;
  ttm_str v = heap_view(TTM_LIT("aaaab"));
  assert_int_equal(ttm_str_find(v, TTM_LIT("ab")), 3);
  assert_int_equal(ttm_str_find(v, TTM_LIT("bb")), TTM_NOT_FOUND);
  assert_int_equal(ttm_str_find_char(v, '\0'), TTM_NOT_FOUND);
  free((char *)v.p);
}

static void trimming(void **state) {
  (void)state;
  assert_view(ttm_str_trim(TTM_LIT(" \t a b \r")), "a b");
  assert_view(ttm_str_trim(TTM_LIT(" \t\r ")), "");
  assert_view(ttm_str_trim(TTM_LIT("")), "");
  assert_view(ttm_str_trim(TTM_LIT("x\n")), "x\n"); /* a line end is not a blank */
}

static void taking_literals(void **state) {
  (void)state;
  ttm_str v = TTM_LIT("loc(x)");
  assert_false(ttm_str_take(&v, TTM_LIT("LOC")));
  assert_view(v, "loc(x)");
  assert_true(ttm_str_take(&v, TTM_LIT("loc(")));
  assert_view(v, "x)");
}

static void taking_numbers(void **state) {
  (void)state;
  uint64_t n = 7;
  ttm_str v = TTM_LIT("1024x32");
  assert_true(ttm_str_take_u64(&v, &n));
  assert_true(n == 1024);
  assert_view(v, "x32");
  assert_false(ttm_str_take_u64(&v, &n));
  assert_view(v, "x32");

  v = TTM_LIT("18446744073709551615");
  assert_true(ttm_str_take_u64(&v, &n));
  assert_true(n == UINT64_MAX);
  assert_int_equal(v.n, 0);

  v = TTM_LIT("00012 ");
  assert_true(ttm_str_take_u64(&v, &n));
  assert_true(n == 12);
  assert_view(v, " ");
}

static void refusing_numbers(void **state) {
  (void)state;
  static const char *const refused[] = {
      "18446744073709551616", "99999999999999999999", "184467440737095516150", "-1", "+1", " 1", "", "x"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    uint64_t n = 7;
    ttm_str v = ttm_str_of(refused[i]), before = v;
    assert_false(ttm_str_take_u64(&v, &n));
    assert_ptr_equal(v.p, before.p);
    assert_int_equal(v.n, before.n);
  }
}

static void number_at_the_end_of_a_block(void **state) {
  (void)state;
  ttm_str whole = heap_view(TTM_LIT("42")), v = whole;
  uint64_t n;
  assert_true(ttm_str_take_u64(&v, &n));
  assert_true(n == 42);
  free((char *)whole.p);
}

static bool takes_decimal(const char *text, double wanted, const char *rest) {
  double got = -1;
  ttm_str v = heap_view(ttm_str_of(text)); /* nothing behind it that could be read */
  const char *start = v.p;
  bool took = ttm_str_take_decimal(&v, &got);
  bool fine = took && got == wanted && ttm_str_eq(v, ttm_str_of(rest));
  if (!took) assert_true(v.p == start && got == -1);
  free((char *)start);
  return fine;
}

static void taking_decimals(void **state) {
  (void)state;
  assert_true(takes_decimal("90%", 90, "%"));
  assert_true(takes_decimal("1.25MB", 1.25, "MB"));
  assert_true(takes_decimal("1.2", 1.2, ""));
  assert_true(takes_decimal(".5s", .5, "s"));
  assert_true(takes_decimal("5.", 5, ""));
  assert_true(takes_decimal("1.5.2%", 1.5, ".2%"));
  assert_true(takes_decimal("1e3", 1, "e3"));
  assert_true(takes_decimal("0x10", 0, "x10"));
  static const char *const wrong[] = {"", ".", ".x", "%", "-1", "+1", " 1", "inf", "nan", "e3"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(takes_decimal(wrong[i], 0, wrong[i]));
  assert_false(takes_decimal("1000000000000000000000000000000000000000000000000000000000000000", 0, "")); /* 64 */
}

static void stars_stand_for_anything(void **state) {
  (void)state;
  static const struct {
    const char *text, *pattern;
    bool like;
  } cases[] = {{"layers.12.mlp.weight", "layers.*.mlp.weight", true},
               {"layers.12.mlp.bias", "layers.*.mlp.weight", false},
               {"abc", "abc", true},
               {"abc", "ab", false},
               {"abc", "*", true},
               {"", "*", true},
               {"abcbc", "a*bc", true},
               {"abcb", "a*bc", false},
               {"a.1.b.2", "a.*.b.*", true},
               {"xa", "a*", false},
               {"ab", "a*b*c", false},
               {"", "", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(ttm_str_like(ttm_str_of(cases[i].text), ttm_str_of(cases[i].pattern)), cases[i].like);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stars_stand_for_anything),
      cmocka_unit_test(equality),
      cmocka_unit_test(starts_and_ends),
      cmocka_unit_test(parts),
      cmocka_unit_test(finding),
      cmocka_unit_test(finding_stays_inside),
      cmocka_unit_test(trimming),
      cmocka_unit_test(taking_literals),
      cmocka_unit_test(taking_numbers),
      cmocka_unit_test(taking_decimals),
      cmocka_unit_test(refusing_numbers),
      cmocka_unit_test(number_at_the_end_of_a_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
