/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/mlir_scan.h"
#include "parse/op_line.h"
#include "unit.h"

static void renders(const char *raw, const char *want) {
  ttm_buf out = {0};
  ttm_buf_puts(&out, "x"); /* it appends */
  ttm_str copy = heap_view(ttm_str_of(raw));
  bool some = ttm_location_render(copy, &out);
  ttm_buf_char(&out, 0);
  assert_string_equal(out.at + 1, want);
  assert_int_equal(some, *want != 0);
  free((char *)copy.p);
  ttm_buf_free(&out);
}

static void names(void **state) {
  (void)state;
  renders("\"add.6\"", "add.6");
  renders("\"reduce.1148_pool\"(\"reduce.1148\")", "reduce.1148_pool");
  renders("\"a\"(\"b\"(\"c\"(\"f.py\":1:2)))", "a");
  renders("\"a\"(#loc5)", "a");
  renders("  \"a\"  ", "a");
  renders("\"1|Conv3d[conv1]|/p.py:9|(x), y\"", "1|Conv3d[conv1]|/p.py:9|(x), y");
  renders("\"\"", "");
}

static void files(void **state) {
  (void)state;
  renders("\"/abs/path/x.mlir\":9:14", "/abs/path/x.mlir:9:14");
  renders("\"x.mlir\":9:14 to 10:3", "x.mlir:9:14 to 10:3");
  renders("\"x.mlir\":9:14 to :20", "x.mlir:9:14 to :20");
}

static void escapes(void **state) {
  (void)state;
  renders("\"say \\22hi\\22\"", "say \"hi\"");
  renders("\"a\\\"b\"", "a\"b");
  renders("\"back\\\\slash\\5Cslash\"", "back\\slash\\slash");
  renders("\"two\\nlines\\tand \\0Athree\"", "two\nlines\tand \nthree");
  renders("\"\\C3\\A9\"", "\xc3\xa9");
  renders("\"\\q stays\"", "\\q stays");
  renders("\"\\2\"", "\\2");
}

static void compounds(void **state) {
  (void)state;
  renders("fused[\"a\", \"b\"]", "fused[a, b]");
  renders("fused<\"meta, [\">[\"a\",\"b\"]", "fused[a, b]");
  renders("fused<{x = [1, 2]}>[\"a\"(\"c\"), \"f.py\":1:2]", "fused[a, f.py:1:2]");
  renders("fused[\"a\", fused[\"b\", \"c\"]]", "fused[a, fused[b, c]]");
  renders("callsite(\"a\" at \"b\")", "a at b");
  renders("callsite(\"a\" at callsite(\"b\" at \"f.py\":3:4))", "a at b at f.py:3:4");
  renders("fused[#loc1, #loc2]", "fused[#loc1, #loc2]");
  renders("#loc5", "#loc5");
  renders("loc(\"a\")", "a");
}

static void unknown_is_nothing(void **state) {
  (void)state;
  renders("unknown", "");
  renders("", "");
  renders("fused[unknown, \"a\", unknown]", "fused[a]");
  renders("fused[unknown]", "");
  renders("fused[]", "");
  renders("callsite(unknown at \"b\")", "b");
  renders("callsite(\"a\" at unknown)", "a");
  renders("callsite(unknown at unknown)", "");
}

/* What we cannot read is shown as it stands, never half of it. */
static void malformed(void **state) {
  (void)state;
  static const char *texts[] = {"\"open",         "fused[\"a\"",     "fused[\"a\" \"b\"]",
                                "fused\"a\"",     "callsite(\"a\")", "callsite(\"a\" on \"b\")",
                                "\"a\" trailing", "\"a\"(",          "fused<[\"a\"]",
                                "#x<a, b>",       "!odd(\"x\")",     "fused[,]",
                                "unknownish",     "loc(\"a\""};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) renders(texts[i], texts[i]);
}

static void depth_is_bounded(void **state) {
  (void)state;
  static const char *openers[] = {"fused[", "callsite(", "\"a\"(", "loc(", "fused<", "#a<"};
  enum { N = 300000 };
  char *text = malloc(N);
  assert_non_null(text);
  for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
    size_t n = 0, step = strlen(openers[i]);
    for (; n + step <= N; n += step) memcpy(text + n, openers[i], step);
    ttm_buf out = {0};
    assert_true(ttm_location_render((ttm_str){text, n}, &out));
    assert_int_equal(out.n, n);
    ttm_buf_free(&out);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names),
      cmocka_unit_test(files),
      cmocka_unit_test(escapes),
      cmocka_unit_test(compounds),
      cmocka_unit_test(unknown_is_nothing),
      cmocka_unit_test(malformed),
      cmocka_unit_test(depth_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
