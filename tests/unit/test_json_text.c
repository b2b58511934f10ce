/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/json_text.h"

#include "unit.h"

static const ttm_str TEXT = TTM_LIT(
    " { \"a\" : 1.5, \"s\":\"x\\\"}\\n\\u00e9\\ud83d\\ude00\\ud83d.\", \"list\": [ {\"k\":[1,[2]]} , \"b,]\", 3 ],\n"
    "\"o\":{\"a\":-2e1,\"empty\":{},\"none\":[]},\"t\":true}");

static void members(void **state) {
  (void)state;
  assert_view(ttm_json_get_member(TEXT, "a"), "1.5");
  assert_view(ttm_json_get_member(ttm_json_get_member(TEXT, "o"), "a"), "-2e1");
  assert_view(ttm_json_get_member(TEXT, "t"), "true");
  assert_int_equal(ttm_json_get_member(TEXT, "k").n, 0);
  assert_int_equal(ttm_json_get_member(TEXT, "").n, 0);
  assert_int_equal(ttm_json_get_member(TTM_LIT("[1]"), "a").n, 0);
  assert_int_equal(ttm_json_get_member(ttm_json_get_member(ttm_json_get_member(TEXT, "o"), "empty"), "a").n, 0);
}

static void elements(void **state) {
  ttm_str rest = ttm_json_get_member(TEXT, "list"), one;
  (void)state;
  assert_true(ttm_json_get_element(&rest, &one));
  assert_view(one, "{\"k\":[1,[2]]}");
  assert_true(ttm_json_get_element(&rest, &one));
  assert_view(one, "\"b,]\"");
  assert_true(ttm_json_get_element(&rest, &one));
  assert_view(one, "3");
  assert_false(ttm_json_get_element(&rest, &one));
  rest = ttm_json_get_member(ttm_json_get_member(TEXT, "o"), "none");
  assert_false(ttm_json_get_element(&rest, &one));
}

static void values(void **state) {
  ttm_buf text = {0};
  (void)state;
  ttm_json_get_string(&text, ttm_json_get_member(TEXT, "s"));
  assert_view(ttm_buf_str(&text), "x\"}\n\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBD.");
  ttm_buf_clear(&text);
  ttm_json_get_string(&text, TTM_LIT("3"));
  assert_int_equal(text.n, 0);
  assert_true(ttm_json_get_number(ttm_json_get_member(TEXT, "a"), 0) == 1.5);
  assert_true(ttm_json_get_number(TTM_LIT("\"1\""), 7) == 7);
  assert_true(ttm_json_get_number(TTM_LIT("1x"), 7) == 7);
  assert_true(ttm_json_get_number(TTM_LIT(""), 7) == 7);
  assert_true(ttm_json_get_number(TTM_LIT("-12e-1"), 7) == -1.2);
  /* What strtod takes but JSON does not know, and what no double holds. */
  assert_true(ttm_json_get_number(TTM_LIT("-nan"), 7) == 7);
  assert_true(ttm_json_get_number(TTM_LIT("-inf"), 7) == 7);
  assert_true(ttm_json_get_number(TTM_LIT("0x1p9"), 7) == 7);
  assert_true(ttm_json_get_number(TTM_LIT("1e999"), 7) == 7);
  ttm_buf_free(&text);
}

/* Whatever number stands there, what comes out was counted: never an overflow of the conversion. */
static void counts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t count;
  } cases[] = {{"0", 0},
               {"12", 12},
               {"12.9", 12},
               {"9007199254740992", 9007199254740992},
               {"18446744073709549568", 18446744073709549568ull},
               {"18446744073709551616", 7},
               {"-1", 7},
               {"-0.5", 7},
               {"1e300", 7},
               {"-1e300", 7},
               {"1e999", 7},
               {"-nan", 7},
               {"null", 7},
               {"\"3\"", 7},
               {"", 7}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(ttm_json_get_count(ttm_str_of(cases[i].text), 7), cases[i].count);
}

/* Every cut of the text is looked at without reading past its end (ASan watches). */
static void cut_anywhere(void **state) {
  (void)state;
  for (size_t n = 0; n <= TEXT.n; n++) {
    ttm_str cut = heap_view(ttm_str_first(TEXT, n)), rest = ttm_json_get_member(cut, "list"), one;
    ttm_buf text = {0};
    while (ttm_json_get_element(&rest, &one)) ttm_json_get_string(&text, one);
    ttm_json_get_string(&text, ttm_json_get_member(cut, "s"));
    ttm_json_get_member(ttm_json_get_member(cut, "o"), "a");
    ttm_buf_free(&text);
    free((void *)cut.p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(members), cmocka_unit_test(elements), cmocka_unit_test(values),
                                     cmocka_unit_test(counts), cmocka_unit_test(cut_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
