/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"
#include "unit.h"

static void expect(ttm_buf *out, const char *wanted) {
  ttm_buf_char(out, '\0');
  assert_string_equal(out->at, wanted);
  ttm_buf_free(out);
}

static void expect_text(ttm_str text, size_t columns, ttm_text_form form, const char *wanted) {
  ttm_buf out = {0};
  ttm_put_text(&out, text, columns, form);
  expect(&out, wanted);
}

static void counts_have_commas(void **state) {
  (void)state;
  static const struct {
    uint64_t n;
    const char *text;
  } cases[] = {
      {0, "0"}, {999, "999"}, {1000, "1,000"}, {1234567, "1,234,567"}, {UINT64_MAX, "18,446,744,073,709,551,615"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_buf out = {0};
    ttm_put_count(&out, cases[i].n);
    expect(&out, cases[i].text);
  }
  ttm_buf one = {0}, many = {0};
  ttm_put_counted(&one, 1, "run");
  expect(&one, "1 run");
  ttm_put_counted(&many, 0, "run");
  expect(&many, "0 runs");
}

static void bytes_pick_their_unit(void **state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    const char *text;
  } cases[] = {{0, "0 B"},
               {512, "512 B"},
               {1023, "1023 B"},
               {1024, "1.0 KB"},
               {393216, "384.0 KB"},
               {2048000, "1.95 MB"},
               {1048576, "1.00 MB"},
               {10736344498176ull, "9,999.0 GB"},
               {1072693184, "1,023.0 MB"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_buf out = {0};
    ttm_put_bytes(&out, cases[i].bytes);
    expect(&out, cases[i].text);
  }
}

static void percent_of_nothing_is_zero(void **state) {
  (void)state;
  assert_true(ttm_percent(5, 0) == 0);
  assert_true(ttm_percent(1, 4) == 25);
}

static void markdown_cells_stay_cells(void **state) {
  (void)state;
  expect_text(TTM_LIT("layers.0|MLP|mul.0"), 80, TTM_FORM_MARKDOWN, "layers.0\\|MLP\\|mul.0");
  expect_text(TTM_LIT("a\\|b`c<d"), 80, TTM_FORM_MARKDOWN, "a\\\\\\|b\\`c\\<d");
  expect_text(TTM_LIT("a\nb\r\tc"), 80, TTM_FORM_MARKDOWN, "a b  c");
  expect_text(TTM_LIT("a|b"), 80, TTM_FORM_UTF8, "a|b");
}

static void terminals_are_not_driven(void **state) {
  (void)state;
  expect_text(TTM_LIT("\x1b[31mred\x07\x7f"), 80, TTM_FORM_UTF8, "\\x1b[31mred\\x07\\x7f");
  expect_text((ttm_str){"a\0b", 3}, 80, TTM_FORM_UTF8, "a\\x00b");
  expect_text(TTM_LIT("\xC2\x9B"
                      "31m"),
              80, TTM_FORM_UTF8, "\\x9b31m"); /* CSI as one C1 character */
  expect_text(TTM_LIT("a\xE2\x80\xAE"
                      "b"),
              80, TTM_FORM_UTF8, "a\\u202eb"); /* right-to-left override */
  /* An accent is put over a letter of the text, never over what stands before it. */
  expect_text(TTM_LIT("e\xCC\x81 \xCC\x81"), 80, TTM_FORM_UTF8, "e\xCC\x81 \\u0301");
  expect_text(TTM_LIT("\xCC\x81\xCC\x81"), 80, TTM_FORM_UTF8, "\\u0301\xCC\x81");
}

/* Nothing that a log says is markup, a link or a picture. */
static void markdown_is_text(void **state) {
  (void)state;
  expect_text(TTM_LIT("[a](b) ![c](d)"), 80, TTM_FORM_MARKDOWN, "[a]\\(b) ![c]\\(d)");
  expect_text(TTM_LIT("[a]: b [c][d] e[0]"), 80, TTM_FORM_MARKDOWN, "[a]\\: b [c]\\[d] e[0]");
  expect_text(TTM_LIT("https://x www.y z@w <v> a:b /c"), 80, TTM_FORM_MARKDOWN,
              "https:\\//x www\\.y z\\@w \\<v> a:b /c");
  expect_text(TTM_LIT("a&b &#x202e;"), 80, TTM_FORM_MARKDOWN, "a\\&b \\&#x202e;");
  expect_text(TTM_LIT("\xF3\xA0\x81\x81\xC2\xAD"), 80, TTM_FORM_MARKDOWN, "\\\\U000e0041\\\\xad");
  expect_text(TTM_LIT("\xF3\xA0\x81\x81"), 80, TTM_FORM_COMMENT, "&#92;U000e0041");
  expect_text(TTM_LIT("abcdefgh\xE2\x80\xAE"), 8, TTM_FORM_UTF8, "abc\xE2\x80\xA6");
}

static void broken_utf8_is_shown_as_broken(void **state) {
  (void)state;
  expect_text(TTM_LIT("a\xFFz"), 80, TTM_FORM_UTF8, "a\xEF\xBF\xBDz");
  expect_text(TTM_LIT("\xC0\xAF"), 80, TTM_FORM_UTF8, "\xEF\xBF\xBD\xEF\xBF\xBD"); /* overlong */
  expect_text(TTM_LIT("\xED\xA0\x80"), 80, TTM_FORM_ASCII, "???");                 /* surrogate */
  expect_text(TTM_LIT("\xF4\x90\x80\x80"), 80, TTM_FORM_ASCII, "????");            /* past the last character */
  expect_text(TTM_LIT("caf\xC3"), 80, TTM_FORM_UTF8, "caf\xEF\xBF\xBD");           /* cut */
  expect_text(TTM_LIT("caf\xC3\xA9 \xF0\x9F\x98\x80"), 80, TTM_FORM_UTF8, "caf\xC3\xA9 \xF0\x9F\x98\x80");
  expect_text(TTM_LIT("caf\xC3\xA9"), 80, TTM_FORM_ASCII, "caf?");
}

static void long_texts_lose_their_middle(void **state) {
  (void)state;
  expect_text(TTM_LIT("0123456789"), 10, TTM_FORM_UTF8, "0123456789");
  expect_text(TTM_LIT("0123456789"), 9, TTM_FORM_UTF8,
              "0123\xE2\x80\xA6"
              "6789");
  expect_text(TTM_LIT("0123456789"), 9, TTM_FORM_ASCII, "012...789");
  expect_text(TTM_LIT("0123456789"), 0, TTM_FORM_UTF8, "\xE2\x80\xA6");
  expect_text(TTM_LIT("||||||||||"), 5, TTM_FORM_MARKDOWN,
              "\\|\\|\xE2\x80\xA6\\|\\|"); /* escapes are not counted, nor cut */
}

static void shortened_text_is_never_wider(void **state) {
  (void)state;
  static const char mixed[] = "a\xE6\xBC\xA2\xE5\xAD\x97 b\xCC\x81 \xFF\x1b \xF0\x9F\x98\x80 tail";
  ttm_str text = {mixed, sizeof mixed - 1};
  for (size_t columns = 1; columns < 40; columns++) {
    ttm_buf out = {0};
    ttm_put_text(&out, text, columns, TTM_FORM_UTF8);
    assert_true(ttm_text_columns(ttm_buf_str(&out)) <= columns);
    ttm_buf_free(&out);
  }
}

static void numbers_keep_their_unit(void **state) {
  (void)state;
  ttm_buf out = {0};
  assert_int_equal(ttm_put_paragraph(&out, TTM_LIT("it holds 16 B. Free: 33.3 %"), 0, 0, 11, TTM_FORM_UTF8), 3);
  assert_view(ttm_buf_str(&out), "it holds\n16 B. Free:\n33.3 %");
  ttm_buf_free(&out);
}

static void padding_counts_columns(void **state) {
  (void)state;
  ttm_buf out = {0};
  ttm_buf_puts(&out, "ab");
  size_t start = out.n;
  ttm_buf_puts(&out, "\xE6\xBC\xA2");
  ttm_pad_to(&out, start, 4);
  expect(&out, "ab\xE6\xBC\xA2  ");
  ttm_buf empty = {0};
  ttm_pad_to(&empty, 0, 2);
  expect(&empty, "  ");
}

static void expect_field(const char *text, const char *field) {
  ttm_buf out = {0};
  ttm_put_csv(&out, ttm_str_of(text));
  expect(&out, field);
}

static void csv_is_neither_command_nor_formula(void **state) {
  (void)state;
  expect_field("a b", "a b");
  expect_field("a,\"b\"\n", "\"a,\"\"b\"\"\n\"");
  expect_field("a\x1b[31m\xE2\x80\xAE", "a\\x1b[31m\\u202e");
  expect_field("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"");
  expect_field("-cmd|x", "'-cmd|x");
  expect_field("@main_const_eval_0", "@main_const_eval_0");
  expect_field("-1.5", "-1.5");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_have_commas),
      cmocka_unit_test(bytes_pick_their_unit),
      cmocka_unit_test(percent_of_nothing_is_zero),
      cmocka_unit_test(markdown_cells_stay_cells),
      cmocka_unit_test(terminals_are_not_driven),
      cmocka_unit_test(markdown_is_text),
      cmocka_unit_test(broken_utf8_is_shown_as_broken),
      cmocka_unit_test(long_texts_lose_their_middle),
      cmocka_unit_test(shortened_text_is_never_wider),
      cmocka_unit_test(numbers_keep_their_unit),
      cmocka_unit_test(padding_counts_columns),
      cmocka_unit_test(csv_is_neither_command_nor_formula),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
