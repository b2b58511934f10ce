/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/typed_line.h"
#include "unit.h"

static bool type(ttm_typed_line *line, const char *text) {
  bool changed = false;
  for (const char *c = text; *c; c++) changed |= ttm_typed_key(line, (unsigned char)*c);
  return changed;
}

static void keys(void **state) {
  (void)state;
  ttm_typed_line line = {.typing = true};
  assert_true(type(&line, "soft"));
  assert_string_equal(line.text, "soft");
  assert_true(ttm_typed_key(&line, TTM_KEY_ERASE));
  assert_string_equal(line.text, "sof");
  assert_false(ttm_typed_key(&line, TTM_KEY_UP));
  assert_false(ttm_typed_key(&line, TTM_KEY_ENTER));
  assert_false(line.typing);
  assert_string_equal(line.text, "sof");
  assert_true(ttm_typed_key(&line, TTM_KEY_ESCAPE));
  assert_string_equal(line.text, "");
  assert_false(ttm_typed_key(&line, TTM_KEY_ERASE)); /* nothing there */
}

static void characters_are_whole(void **state) {
  (void)state;
  ttm_typed_line line = {.typing = true};
  type(&line, "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"); /* one to four bytes each */
  static const char *const left[] = {"a\xC3\xA4\xE2\x82\xAC", "a\xC3\xA4", "a", ""};
  for (size_t i = 0; i < 4; i++) {
    assert_true(ttm_typed_key(&line, TTM_KEY_ERASE));
    assert_string_equal(line.text, left[i]);
  }
  for (int i = 0; i < 100; i++) type(&line, "\xE2\x82\xAC"); /* more than there is room for */
  assert_true(line.n >= TTM_TYPED_BYTES - 4 && line.n <= TTM_TYPED_BYTES);
  assert_int_equal(line.n % 3, 0);
}

static void the_rest_of_a_character_needs_its_start(void **state) {
  (void)state;
  ttm_typed_line line = {.typing = true};
  assert_false(type(&line, "\xA4\x82"));
  assert_string_equal(line.text, "");
  assert_false(type(&line, "") || !type(&line, "a"));
  assert_false(type(&line, "\xA4"));
  assert_string_equal(line.text, "a");
}

static void letter_case_does_not_matter(void **state) {
  (void)state;
  ttm_typed_line line = {0};
  assert_true(ttm_typed_is_in(&line, TTM_LIT("")));
  type(&line, "SoftM");
  assert_true(ttm_typed_is_in(&line, TTM_LIT("ttnn.softmax")));
  assert_true(ttm_typed_is_in(&line, TTM_LIT("SOFTM")));
  assert_false(ttm_typed_is_in(&line, TTM_LIT("soft")));
  assert_false(ttm_typed_is_in(&line, TTM_LIT("")));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keys), cmocka_unit_test(characters_are_whole),
                                     cmocka_unit_test(the_rest_of_a_character_needs_its_start),
                                     cmocka_unit_test(letter_case_does_not_matter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
