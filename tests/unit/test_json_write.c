/* SPDX-License-Identifier: Apache-2.0 */
#include "report/write/json.h"

#include <math.h>

#include "unit.h"

/* Runs `call` (which appends to `buf`) and compares. */
#define assert_json(call, literal)            \
  do {                                        \
    ttm_buf json_buf = {0}, *buf = &json_buf; \
    call;                                     \
    assert_view(ttm_buf_str(buf), literal);   \
    ttm_buf_free(buf);                        \
  } while (0)

static void assert_string(ttm_str text, ttm_str want) {
  ttm_str exact = heap_view(text); /* ASan sees a read past the end */
  ttm_buf buf = {0};
  ttm_json_string(&buf, exact);
  assert_int_equal(buf.n, want.n);
  assert_memory_equal(buf.at, want.p, want.n);
  ttm_buf_free(&buf);
  free((char *)exact.p);
}

#define assert_escaped(in, out) assert_string(TTM_LIT(in), TTM_LIT(out))

static void escapes_what_json_must_not_hold(void **state) {
  (void)state;
  assert_escaped("", "\"\"");
  assert_escaped("plain text of more than eight bytes", "\"plain text of more than eight bytes\"");
  assert_escaped("a\"b\\c", "\"a\\\"b\\\\c\"");
  assert_escaped("\n\r\t", "\"\\n\\r\\t\"");
  assert_escaped("\0\x01\x1b[31m\x1f", "\"\\u0000\\u0001\\u001b[31m\\u001f\"");
  assert_escaped("\x7f/", "\"\x7f/\"");
  assert_escaped("1234567\"12345678\\", "\"1234567\\\"12345678\\\\\""); /* at the ends of eight bytes */
}

static void keeps_valid_utf8(void **state) {
  (void)state;
  assert_escaped("\xC2\x80 \xDF\xBF \xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF",
                 "\"\\u0080 \xDF\xBF \xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xF0\x90\x80\x80 \\udbff\\udfff\"");
  assert_escaped("a\xE2\x80\xA8z\xE2\x80\xA9", "\"a\\u2028z\\u2029\"");
  assert_escaped("\xC2\x9B\xC2\xA0\xE2\x80\xAE\xE2\x81\xA6", "\"\\u009b\xC2\xA0\\u202e\\u2066\"");
  assert_escaped("\xE2\x80\xA7\xE2\x80\xAA", "\"\xE2\x80\xA7\\u202a\"");
  assert_escaped("a\xC2\xAD\xE2\x80\x8D\xEF\xB8\x8F\xF3\xA0\x81\x81",
                 "\"a\\u00ad\\u200d\\ufe0f\\udb40\\udc41\""); /* seen nowhere */
}

#define FFFD "\xEF\xBF\xBD"

static void replaces_what_is_no_utf8(void **state) {
  (void)state;
  assert_escaped("\x80", "\"" FFFD "\"");
  assert_escaped("\xC0\xAF", "\"" FFFD FFFD "\"");                   /* overlong */
  assert_escaped("\xE0\x9F\xBF", "\"" FFFD FFFD FFFD "\"");          /* overlong */
  assert_escaped("\xED\xA0\x80", "\"" FFFD FFFD FFFD "\"");          /* surrogate */
  assert_escaped("\xF4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\""); /* beyond U+10FFFF */
  assert_escaped("\xF8\xFF", "\"" FFFD FFFD "\"");
  assert_escaped("ab\xE2\x80", "\"ab" FFFD FFFD "\""); /* cut at the end */
  assert_escaped("\xE2\x80\"", "\"" FFFD FFFD "\\\"\"");
}

/* Every byte, at every offset within a word: copied exactly when it may be, and never a raw control character. */
static void any_bytes_give_ascii_or_utf8(void **state) {
  (void)state;
  for (unsigned a = 0; a < 256; a++) {
    for (unsigned offset = 0; offset < 9; offset++) {
      char text[10] = "aaaaaaaaa";
      text[offset] = (char)a;
      ttm_buf buf = {0};
      ttm_json_string(&buf, (ttm_str){text, 9});
      bool same = a >= 0x20 && a < 0x80 && a != '"' && a != '\\';
      assert_int_equal(buf.n == 11, same);
      assert_int_equal(buf.at[0], '"');
      assert_int_equal(buf.at[buf.n - 1], '"');
      for (size_t i = 1; i + 1 < buf.n; i++) assert_true((unsigned char)buf.at[i] >= 0x20);
      ttm_buf_free(&buf);
    }
  }
}

static void prints_thousandths_like_python(void **state) {
  (void)state;
  assert_json(ttm_json_milli(buf, 0), "0.0");
  assert_json(ttm_json_milli(buf, 430), "0.43");
  assert_json(ttm_json_milli(buf, 1021169), "1021.169");
  assert_json(ttm_json_milli(buf, 1000), "1.0");
  assert_json(ttm_json_milli(buf, 1001), "1.001");
  assert_json(ttm_json_milli(buf, 10), "0.01");
  assert_json(ttm_json_milli(buf, -1), "-0.001");
  assert_json(ttm_json_milli(buf, -163500), "-163.5");
  assert_json(ttm_json_milli(buf, INT64_MIN), "-9223372036854775.808");
}

static void prints_bytes_as_exact_mib(void **state) {
  (void)state;
  assert_json(ttm_json_mib(buf, 0), "0.0");
  assert_json(ttm_json_mib(buf, 1048576), "1.0");
  assert_json(ttm_json_mib(buf, 393216), "0.375");
  assert_json(ttm_json_mib(buf, 5260288), "5.0166015625");
  assert_json(ttm_json_mib(buf, 4786048), "4.5643310546875");
  assert_json(ttm_json_mib(buf, 1), "0.00000095367431640625");
  assert_json(ttm_json_mib(buf, UINT64_MAX), "17592186044415.99999904632568359375");
  assert_json(ttm_json_mib_diff(buf, 1048576, 1572864), "-0.5");
  assert_json(ttm_json_mib_diff(buf, 1572864, 1048576), "0.5");
}

static void prints_percentages(void **state) {
  (void)state;
  assert_json(ttm_json_percent(buf, 5, 5, 5), "0.0");
  assert_json(ttm_json_percent(buf, 3, 1, 2), "100.0");
  assert_json(ttm_json_percent(buf, 1, 0, 3), "33.333333333333333");
  assert_json(ttm_json_percent(buf, 2, 0, 3), "66.666666666666667");
  assert_json(ttm_json_percent(buf, 1, 2, 8), "-12.5");
  assert_json(ttm_json_percent(buf, 1, 0, 0), "0.0");
  assert_json(ttm_json_percent(buf, UINT64_MAX, 1, UINT64_MAX), "100.0");         /* rounds up to the next unit */
  assert_json(ttm_json_percent(buf, UINT64_MAX, 0, 1), "18446744073709551615.0"); /* absurd, but valid */
}

static void prints_doubles_shortest(void **state) {
  (void)state;
  assert_json(ttm_json_double(buf, 0), "0.0");
  assert_json(ttm_json_double(buf, 0.1), "0.1");
  assert_json(ttm_json_double(buf, 0.4547454892181312), "0.4547454892181312");
  assert_json(ttm_json_double(buf, 0.1 + 0.2), "0.30000000000000004");
  assert_json(ttm_json_double(buf, -3), "-3.0");
  assert_json(ttm_json_double(buf, 1e300), "1e+300");
  assert_json(ttm_json_double(buf, (double)NAN), "null");
  assert_json(ttm_json_double(buf, (double)INFINITY), "null");
}

static void prints_integers_and_gaps(void **state) {
  (void)state;
  assert_json(ttm_json_i64(buf, INT64_MIN), "-9223372036854775808");
  assert_json(ttm_json_i64(buf, 7), "7");
  assert_json(ttm_json_known(buf, UINT64_MAX), "null");
  assert_json(ttm_json_known(buf, 0), "0");
}

/* ---- Structure --------------------------------------------------------------------------------------------------- */

/* One of each value. */
static void put_members(ttm_json *j) {
  ttm_buf words = {0};
  ttm_buf_puts(&words, "three\n");
  ttm_json_put_null(j, "null");
  ttm_json_put_bool(j, "bool", true);
  ttm_json_put_u64(j, "u64", UINT64_MAX);
  ttm_json_put_i64(j, "i64", -2);
  ttm_json_put_known(j, "known", UINT64_MAX);
  ttm_json_put_milli(j, "milli", 1500);
  ttm_json_put_mib(j, "mib", 393216);
  ttm_json_put_mib_diff(j, "diff", 0, 1 << 20);
  ttm_json_put_percent(j, "percent", 3, 1, 2);
  ttm_json_put_double(j, "double", 0.1);
  ttm_json_put_fixed(j, "fixed", 2.0 / 3, 3);
  ttm_json_put_str(j, "str", TTM_LIT("\""));
  ttm_json_put_name(j, "name", "one");
  ttm_json_put_name(j, "none", NULL);
  ttm_json_put_words(j, "words", &words);
  ttm_json_put_raw(j, "raw", TTM_LIT("[1]"));
  ttm_json_put_key(j, TTM_LIT("\n"));
  ttm_json_put_array(j, NULL);
  ttm_json_end(j);
  assert_null(words.at);
}

static void writes_members_with_their_keys(void **state) {
  (void)state;
  ttm_buf buf = {0};
  ttm_json j = {.out = &buf};
  ttm_json_put_object(&j, NULL);
  put_members(&j);
  ttm_json_end(&j);
  assert_int_equal(ttm_json_finish(&j), TTM_OK);
  assert_view(ttm_buf_str(&buf),
              "{\"null\":null,\"bool\":true,\"u64\":18446744073709551615,\"i64\":-2,\"known\":null,\"milli\":1.5,"
              "\"mib\":0.375,\"diff\":-1.0,\"percent\":100.0,\"double\":0.1,\"fixed\":0.667,\"str\":\"\\\"\","
              "\"name\":\"one\",\"none\":null,\"words\":\"three\\n\",\"raw\":[1],\"\\n\":[]}\n");
  ttm_buf_free(&buf);
}

/* Sections of a number, rows, an empty array, a nested one. */
static void put_document(ttm_json *j) {
  ttm_json_put_sections(j, NULL);
  ttm_json_put_u64(j, "a", 1);
  ttm_json_put_rows(j, "rows");
  for (uint64_t i = 0; i < 2; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "x", i);
    ttm_json_put_bool(j, "y", false);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_put_rows(j, "none");
  ttm_json_end(j);
  ttm_json_put_array(j, "two");
  ttm_json_put_array(j, NULL);
  ttm_json_end(j);
  ttm_json_put_u64(j, NULL, 2);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void sets_commas_and_lines(void **state) {
  (void)state;
  static const char *const want[] = {
      "{\"a\":1,\n\"rows\":[\n{\"x\":0,\"y\":false},\n{\"x\":1,\"y\":false}\n],\n\"none\":[],\n\"two\":[[],2]}\n",
      "{\"a\": 1,\n \"rows\": [\n  {\"x\": 0, \"y\": false},\n  {\"x\": 1, \"y\": false}],\n \"none\": [],\n \"two\": "
      "[[], 2]}\n"};
  for (int spaced = 0; spaced < 2; spaced++) {
    ttm_buf buf = {0};
    ttm_json j = {.out = &buf, .spaced = spaced};
    put_document(&j);
    assert_int_equal(ttm_json_finish(&j), TTM_OK);
    ttm_buf_char(&buf, 0);
    assert_string_equal(buf.at, want[spaced]);
    ttm_buf_free(&buf);
  }
}

/* A writer that opens, puts or closes out of order is found out, whatever it wrote. */
static void tells_misuse(void **state) {
  (void)state;
#define assert_misused(...)                           \
  do {                                                \
    ttm_buf buf = {0};                                \
    ttm_json json = {.out = &buf}, *j = &json;        \
    __VA_ARGS__;                                      \
    assert_int_equal(ttm_json_finish(j), TTM_EUSAGE); \
    ttm_buf_free(&buf);                               \
  } while (0)
  assert_misused((void)j);                                                    /* no document */
  assert_misused(ttm_json_put_array(j, NULL));                                /* left open */
  assert_misused(ttm_json_put_u64(j, "key", 1));                              /* a key outside */
  assert_misused(ttm_json_put_u64(j, NULL, 1), ttm_json_put_u64(j, NULL, 2)); /* two documents */
  assert_misused(ttm_json_put_u64(j, NULL, 1), ttm_json_end(j));              /* nothing to close */
  assert_misused(ttm_json_put_array(j, NULL), ttm_json_put_null(j, "key"), ttm_json_end(j));
  assert_misused(ttm_json_put_object(j, NULL), ttm_json_put_null(j, NULL), ttm_json_end(j));
  assert_misused(ttm_json_put_array(j, NULL), ttm_json_put_key(j, TTM_LIT("key")), ttm_json_put_null(j, NULL),
                 ttm_json_end(j));
  assert_misused(ttm_json_put_object(j, NULL), ttm_json_put_key(j, TTM_LIT("no value")), ttm_json_end(j));
  assert_misused(ttm_json_put_object(j, NULL), ttm_json_put_key(j, TTM_LIT("one")), ttm_json_put_null(j, "two"),
                 ttm_json_end(j));
  assert_misused({
    for (int i = 0; i < 65; i++) ttm_json_put_array(j, NULL);
    for (int i = 0; i < 65; i++) ttm_json_end(j);
  });
}

static void nests_sixty_four_deep(void **state) {
  (void)state;
  ttm_buf buf = {0};
  ttm_json j = {.out = &buf};
  for (int i = 0; i < 64; i++) i % 2 ? ttm_json_put_array(&j, "a") : ttm_json_put_object(&j, NULL);
  while (j.depth) ttm_json_end(&j);
  assert_int_equal(ttm_json_finish(&j), TTM_OK);
  ttm_buf_free(&buf);
}

static void a_lost_text_is_no_misuse(void **state) {
  (void)state;
  ttm_buf buf = {.failed = true};
  ttm_json j = {.out = &buf};
  put_document(&j);
  assert_int_equal(ttm_json_finish(&j), TTM_ENOMEM);
  ttm_buf fine = {0}, words = {.failed = true};
  j = (ttm_json){.out = &fine};
  ttm_json_put_words(&j, NULL, &words);
  assert_int_equal(ttm_json_finish(&j), TTM_ENOMEM);
  ttm_buf_free(&fine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(escapes_what_json_must_not_hold),
      cmocka_unit_test(keeps_valid_utf8),
      cmocka_unit_test(replaces_what_is_no_utf8),
      cmocka_unit_test(any_bytes_give_ascii_or_utf8),
      cmocka_unit_test(prints_thousandths_like_python),
      cmocka_unit_test(prints_bytes_as_exact_mib),
      cmocka_unit_test(prints_percentages),
      cmocka_unit_test(prints_doubles_shortest),
      cmocka_unit_test(prints_integers_and_gaps),
      cmocka_unit_test(writes_members_with_their_keys),
      cmocka_unit_test(sets_commas_and_lines),
      cmocka_unit_test(tells_misuse),
      cmocka_unit_test(nests_sixty_four_deep),
      cmocka_unit_test(a_lost_text_is_no_misuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
