/* SPDX-License-Identifier: Apache-2.0 */
/* The streaming JSON reader: what it reads, and that nothing it is given makes it stumble. */
#include <stdio.h>

#include "unit.h"

#include "base/buf.h"
#include "parse/json_pull.h"

/* A document as one line of words: {k:v} and [v] with strings in quotes, so that structure and texts show. */
static void render(ttm_json_pull *j, ttm_buf *out) {
  ttm_str key;
  ttm_json_scalar v;
  switch (ttm_json_peek(j)) {
    case TTM_JSON_OBJECT:
      ttm_buf_char(out, '{');
      ttm_json_enter(j, '{');
      while (ttm_json_key(j, &key)) {
        ttm_buf_put(out, key);
        ttm_buf_char(out, ':');
        render(j, out);
        ttm_buf_char(out, ' ');
      }
      ttm_buf_char(out, '}');
      break;
    case TTM_JSON_ARRAY:
      ttm_buf_char(out, '[');
      ttm_json_enter(j, '[');
      while (ttm_json_item(j)) {
        render(j, out);
        ttm_buf_char(out, ' ');
      }
      ttm_buf_char(out, ']');
      break;
    default:
      if (!ttm_json_value(j, &v)) return;
      if (v.kind == TTM_JSON_STRING) ttm_buf_char(out, '"');
      ttm_buf_put(out, v.text);
      if (v.kind == TTM_JSON_STRING) ttm_buf_char(out, '"');
  }
}

static void check(ttm_str document, const char *wanted, const char *error) {
  ttm_json_pull j;
  ttm_buf out = {0};
  ttm_str heap = heap_view(document);
  ttm_json_init(&j, NULL, heap);
  render(&j, &out);
  ttm_buf_char(&out, '\0');
  assert_string_equal(out.at, wanted);
  if (error)
    assert_string_equal(j.error, error);
  else
    assert_null(j.error);
  ttm_buf_free(&out);
  ttm_json_free(&j);
  free((void *)heap.p);
}

static void reads_documents(void **state) {
  (void)state;
  check(TTM_LIT("{}"), "{}", NULL);
  check(TTM_LIT(" [ ] "), "[]", NULL);
  check(TTM_LIT("{\"a\":1,\"b\":[true,false,null,-2.5e3],\"c\" : \"x\"}"), "{a:1 b:[true false null -2.5e3 ] c:\"x\" }",
        NULL);
  check(TTM_LIT("[[[]],{\"k\"\n:\n\t{}}]"), "[[[] ] {k:{} } ]", NULL);
  check(TTM_LIT("[1,2,]"), "[1 2 ]", NULL); /* some writers leave a comma */
}

static void undoes_escapes(void **state) {
  (void)state;
  check(TTM_LIT("[\"\\\"\\\\\\/\\n\\t\"]"), "[\"\"\\/\n\t\" ]", NULL);
  check(TTM_LIT("[\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"]"), "[\"A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\" ]", NULL);
  check(TTM_LIT("[\"\\ud83d!\",\"\\uZZZZ\",\"\\q\"]"), "[\"\xEF\xBF\xBD!\" \"uZZZZ\" \"q\" ]", NULL);
  check(TTM_LIT("{\"a\\u0062\":0}"), "{ab:0 }", NULL);
}

static void names_what_is_wrong(void **state) {
  (void)state;
  check(TTM_LIT("[1 2]"), "[1 ]", "a comma is missing");
  check(TTM_LIT("{\"a\" 1}"), "{}", "a colon is missing behind a key");
  check(TTM_LIT("{1:2}"), "{}", "a key is no string");
  check(TTM_LIT("[\"abc"), "[ ]", "the text ends inside a string");
  check(TTM_LIT("[1,"), "[1 ]", "the text ends too early");
  check(TTM_LIT(""), "", "the text ends too early");
  check(TTM_LIT("[1,\0]"), "[1 ]", "a zero byte");
  check(TTM_LIT("[;]"), "[ ]", "neither a value nor a bracket");
}

static void integers_are_numbers_or_texts_of_one(void **state) {
  (void)state;
  static const struct {
    ttm_json_scalar v;
    bool is;
    int64_t n;
  } cases[] = {
      {{TTM_JSON_NUMBER, {"24576", 5}}, true, 24576},
      {{TTM_JSON_STRING, {"24576", 5}}, true, 24576},
      {{TTM_JSON_STRING, {"-1", 2}}, true, -1},
      {{TTM_JSON_STRING, {"12 ", 3}}, false, 0},
      {{TTM_JSON_NUMBER, {"1.5", 3}}, false, 0},
      {{TTM_JSON_NUMBER, {"1e3", 3}}, false, 0},
      {{TTM_JSON_STRING, {"", 0}}, false, 0},
      {{TTM_JSON_TRUE, {"true", 4}}, false, 0},
      {{TTM_JSON_NUMBER, {"18446744073709551615", 20}}, true, INT64_MAX},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t n = 0;
    assert_int_equal(ttm_json_integer(&cases[i].v, &n), cases[i].is);
    assert_int_equal(n, cases[i].n);
  }
}

static void skips_whatever_it_is(void **state) {
  (void)state;
  static const char text[] = "{\"a\":{\"b\":[1,{\"c\":\"}]\\\"\"}]},\"d\":\"x\\\\\",\"e\":5}";
  ttm_json_pull j;
  ttm_str key;
  ttm_json_scalar v;
  ttm_json_init(&j, NULL, ttm_str_of(text));
  assert_true(ttm_json_enter(&j, '{'));
  assert_true(ttm_json_key(&j, &key) && ttm_json_skip(&j));
  assert_true(ttm_json_key(&j, &key) && ttm_json_skip(&j));
  assert_true(ttm_json_key(&j, &key));
  assert_view(key, "e");
  assert_true(ttm_json_value(&j, &v));
  assert_view(v.text, "5");
  assert_false(ttm_json_key(&j, &key));
  assert_null(j.error);
  ttm_json_free(&j);
}

static void counts_lines(void **state) {
  (void)state;
  ttm_json_pull j;
  ttm_json_scalar v;
  ttm_json_init(&j, NULL, TTM_LIT("[\n\n  {\n\"a\":\n[\n]},\n\n 7]"));
  assert_true(ttm_json_enter(&j, '[') && ttm_json_item(&j));
  assert_int_equal(j.line, 3);
  assert_true(ttm_json_skip(&j) && ttm_json_item(&j));
  assert_int_equal(j.line, 8);
  assert_true(ttm_json_value(&j, &v));
  ttm_json_free(&j);
}

/* Strings, keys and blanks across every border between two pieces of input: a document larger than many pieces. */
static void borders_do_not_show(void **state) {
  (void)state;
  ttm_buf text = {0};
  uint64_t items = 0, wanted = 0;
  ttm_buf_char(&text, '[');
  for (unsigned i = 0; text.n < 3 * 1024 * 1024; i++, wanted++) {
    ttm_buf_printf(&text, "%s{\"key\\u0031%u\"%*s: %u, \"s\": \"%*s\\\\\\\"%u\"}", i ? "," : "", i, (int)(i % 37), "",
                   i, (int)(i % 501), "", i);
  }
  ttm_buf_char(&text, ']');
  ttm_json_pull j;
  ttm_str key;
  ttm_json_scalar v;
  ttm_json_init(&j, NULL, ttm_buf_str(&text));
  assert_true(ttm_json_enter(&j, '['));
  for (; ttm_json_item(&j); items++) {
    char expect[64];
    assert_true(ttm_json_enter(&j, '{') && ttm_json_key(&j, &key));
    int n = snprintf(expect, sizeof expect, "key1%u", (unsigned)items);
    assert_int_equal(key.n, n);
    assert_memory_equal(key.p, expect, key.n);
    int64_t number;
    assert_true(ttm_json_value(&j, &v) && ttm_json_integer(&v, &number) && number == (int64_t)items);
    assert_true(ttm_json_key(&j, &key) && ttm_json_value(&j, &v));
    n = snprintf(expect, sizeof expect, "\\\"%u", (unsigned)items);
    assert_int_equal(v.text.n, items % 501 + (unsigned)n);
    assert_memory_equal(v.text.p + v.text.n - n, expect, (size_t)n);
    assert_false(ttm_json_key(&j, &key));
  }
  assert_null(j.error);
  assert_int_equal(items, wanted);
  assert_true(j.cap < 2 * 1024 * 1024); /* not the document's size */
  ttm_json_free(&j);
  ttm_buf_free(&text);
}

static void depth_is_limited(void **state) {
  (void)state;
  enum { DEEP = 100000 };
  char *text = malloc(DEEP);
  memset(text, '[', DEEP);
  ttm_json_pull j;
  unsigned depth = 0;
  ttm_json_init(&j, NULL, (ttm_str){text, DEEP});
  while (ttm_json_enter(&j, '[')) depth++;
  assert_int_equal(depth, 1024);
  assert_string_equal(j.error, "nested too deeply");
  ttm_json_free(&j);
  ttm_json_init(&j, NULL, (ttm_str){text, DEEP});
  assert_false(ttm_json_skip(&j)); /* no recursion: the text just ends */
  assert_string_equal(j.error, "the text ends too early");
  ttm_json_free(&j);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_documents),      cmocka_unit_test(undoes_escapes),
      cmocka_unit_test(names_what_is_wrong),  cmocka_unit_test(integers_are_numbers_or_texts_of_one),
      cmocka_unit_test(skips_whatever_it_is), cmocka_unit_test(counts_lines),
      cmocka_unit_test(borders_do_not_show),  cmocka_unit_test(depth_is_limited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
