/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/mlir_scan.h"

#include <string.h>

#include "unit.h"

enum { LONGEST = 50 };

/* `n` plain bytes with `byte` at `at`, on the heap at their exact size, so that reading past them is an ASan report. */
static ttm_str plain_but(size_t n, size_t at, char byte) {
  char text[LONGEST];
  memset(text, 'x', n);
  text[at] = byte;
  return heap_view((ttm_str){text, n});
}

/* Searched 16 bytes at a time: each byte counts the same at each place. */
static void test_every_byte_at_every_place(void **state) {
  (void)state;
  for (size_t n = 1; n < LONGEST; n++) {
    for (size_t at = 0; at < n; at++) {
      for (int byte = 0; byte < 256; byte++) {
        char c = (char)byte;
        bool broken = byte && strchr("()[]{}<>\"", c);
        ttm_str text = plain_but(n, at, c);
        assert_int_equal(ttm_scan_find(text, 0, ','), c == ',' ? at : broken ? TTM_NOT_FOUND : n);
        free((char *)text.p);
      }
    }
  }
}

static void test_stops_only_outside(void **state) {
  (void)state;
  for (size_t n = 3; n < LONGEST; n++) {
    for (size_t close = 1; close < n - 1; close++) {
      char text[LONGEST];
      memset(text, ',', n);
      text[0] = '[';
      text[close] = ']';
      ttm_str view = heap_view((ttm_str){text, n});
      assert_int_equal(ttm_scan_find(view, 0, ','), close + 1);
      assert_int_equal(ttm_scan_close(view, 0), close);
      free((char *)view.p);
    }
  }
}

/* What was looked at is taken from the budget, found or not. */
static void a_budget(void **state) {
  (void)state;
  ttm_str text = TTM_LIT("f(a, (b))g(c");
  size_t budget = 100;
  assert_int_equal(ttm_scan_close_in(text, 1, &budget), 8);
  assert_int_equal(budget, 93);
  assert_int_equal(ttm_scan_close_in(text, 10, &budget), TTM_NOT_FOUND);
  assert_int_equal(budget, 91);
  assert_int_equal(ttm_scan_close_in(TTM_LIT("(a]b)"), 0, &budget), TTM_NOT_FOUND);
  assert_int_equal(budget, 89);
  assert_int_equal(ttm_scan_close_in(TTM_LIT("(\"a)"), 0, &budget), TTM_NOT_FOUND);
  assert_int_equal(budget, 85);
  budget = 7;
  assert_int_equal(ttm_scan_close_in(text, 1, &budget), TTM_NOT_FOUND);
  assert_int_equal(budget, 0);
  assert_int_equal(ttm_scan_close_in(text, 1, &budget), TTM_NOT_FOUND);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_budget),
      cmocka_unit_test(test_every_byte_at_every_place),
      cmocka_unit_test(test_stops_only_outside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
