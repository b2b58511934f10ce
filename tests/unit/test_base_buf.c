/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "unit.h"

static void appends(void **state) {
  (void)state;
  ttm_buf buf = {0};
  assert_view(ttm_buf_str(&buf), "");
  ttm_buf_puts(&buf, "peak ");
  ttm_buf_u64(&buf, 0);
  ttm_buf_char(&buf, ' ');
  ttm_buf_u64(&buf, UINT64_MAX);
  ttm_buf_put(&buf, TTM_LIT("\0!"));
  ttm_buf_put(&buf, (ttm_str){NULL, 0});
  ttm_buf_printf(&buf, " %s=%d", "x", -3);
  ttm_buf_printf(&buf, "%s", "");
  assert_view(ttm_buf_str(&buf), "peak 0 18446744073709551615\0! x=-3");
  assert_false(buf.failed);
  ttm_buf_free(&buf);
  assert_null(buf.at);
}

static void grows(void **state) {
  (void)state;
  ttm_buf buf = {0};
  for (uint32_t i = 0; i < 20000; i++) ttm_buf_printf(&buf, "%05u", i);
  assert_int_equal(buf.n, 100000);
  assert_memory_equal(buf.at + 5 * 12345, "12345", 5);
  ttm_buf_free(&buf);
}

static void clear_keeps_the_room(void **state) {
  (void)state;
  ttm_buf buf = {0};
  assert_true(ttm_buf_room(&buf, 1000));
  const char *at = buf.at;
  ttm_buf_puts(&buf, "gone");
  ttm_buf_clear(&buf);
  assert_int_equal(buf.n, 0);
  ttm_buf_puts(&buf, "kept");
  assert_ptr_equal(buf.at, at);
  assert_view(ttm_buf_str(&buf), "kept");
  ttm_buf_free(&buf);
}

static void failure_sticks(void **state) {
  (void)state;
  ttm_buf buf = {0};
  ttm_buf_puts(&buf, "abc");
  assert_false(ttm_buf_room(&buf, SIZE_MAX));
  assert_true(buf.failed);
  ttm_buf_char(&buf, 'd');
  ttm_buf_printf(&buf, "%d", 5);
  ttm_buf_u64(&buf, 5);
  assert_int_equal(buf.n, 3);         /* what was there stays, nothing is added */
  assert_view(ttm_buf_str(&buf), ""); /* and is not shown: nobody takes it for the whole */
  ttm_buf_free(&buf);
  assert_false(buf.failed);
}

/* A text that takes in one with a hole has one too, however it is written. */
static void failure_spreads(void **state) {
  (void)state;
  ttm_buf part = {.failed = true}, whole = {0};
  ttm_buf_puts(&whole, "abc");
  ttm_buf_put(&whole, (ttm_str){"", 0});
  assert_false(whole.failed);
  ttm_buf_put(&whole, ttm_str_first(ttm_buf_str(&part), 2));
  assert_true(whole.failed);
  ttm_buf_free(&whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(appends),        cmocka_unit_test(grows),           cmocka_unit_test(clear_keeps_the_room),
      cmocka_unit_test(failure_sticks), cmocka_unit_test(failure_spreads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
