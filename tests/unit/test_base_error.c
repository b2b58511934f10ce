/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "unit.h"

static void carries_code_and_message(void **state) {
  (void)state;
  ttm_error err = {.code = 9, .line = 77, .message = "old"};
  assert_int_equal(ttm_error_set(&err, TTM_EIO, "cannot read %s: %d", "a.log", 5), TTM_EIO);
  assert_int_equal(err.code, TTM_EIO);
  assert_int_equal(err.line, 0);
  assert_string_equal(err.message, "cannot read a.log: 5");
}

static void null_is_fine(void **state) {
  (void)state;
  assert_int_equal(ttm_error_set(NULL, TTM_EFORMAT, "%s", "x"), TTM_EFORMAT);
  assert_int_equal(ttm_error_nomem(NULL), TTM_ENOMEM);
}

static void long_messages_are_cut_and_ended(void **state) {
  (void)state;
  char text[5000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  ttm_error err;
  ttm_error_set(&err, TTM_EUSAGE, "%s", text);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void out_of_memory_has_words(void **state) {
  (void)state;
  ttm_error err = {0};
  assert_int_equal(ttm_error_nomem(&err), TTM_ENOMEM);
  assert_int_equal(err.code, TTM_ENOMEM);
  assert_true(strlen(err.message) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(carries_code_and_message),
      cmocka_unit_test(null_is_fine),
      cmocka_unit_test(long_messages_are_cut_and_ended),
      cmocka_unit_test(out_of_memory_has_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
