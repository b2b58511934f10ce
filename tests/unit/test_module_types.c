/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/module_dump.h"

#include "unit.h"

static const char DUMP[] =
    "#dram = #ttnn.buffer_type<dram>\n"
    "#loc1 = loc(\"p0.1\")\n"
    "#ttnn_layout = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1xsi32, #dram>, <interleaved>>\n"
    "#ttnn_layout1 = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1xsi32, #system_memory>>\n"
    "#loop = #ttnn.x<#loop>\n"
    "module @X {\n"
    "#late = #ttnn.never\n";

static void check(const char *type, const char *want) {
  ttm_module_types types = {0};
  ttm_str text = heap_view(ttm_str_of(DUMP));
  ttm_buf out = {0};
  assert_int_equal(ttm_module_types_read(&types, text), TTM_OK);
  ttm_module_types_expand(&types, ttm_str_of(type), &out);
  ttm_buf_char(&out, '\0');
  assert_false(out.failed);
  assert_string_equal(out.at, want);
  ttm_buf_free(&out);
  ttm_module_types_free(&types);
  free((char *)text.p);
}

static void aliases_are_written_out(void **state) {
  (void)state;
  check("tensor<1xsi32, #ttnn_layout>",
        "tensor<1xsi32, #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1xsi32, #ttnn.buffer_type<dram>>, "
        "<interleaved>>>");
  check("tensor<4xbf16>", "tensor<4xbf16>");
  check("", "");
}

static void what_is_no_alias_stays(void **state) {
  (void)state;
  check("tensor<1xsi32, #ttnn_layout1>",
        "tensor<1xsi32, #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1xsi32, #system_memory>>>");
  check("#ttnn.buffer_type<l1>, #dram", "#ttnn.buffer_type<l1>, #ttnn.buffer_type<dram>");
  check("#ttnn_layout9 # #loc1 #late", "#ttnn_layout9 # #loc1 #late");
}

static void a_circle_ends(void **state) {
  (void)state;
  check("#loop", "#ttnn.x<#ttnn.x<#ttnn.x<#ttnn.x<#loop>>>>");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aliases_are_written_out),
      cmocka_unit_test(what_is_no_alias_stays),
      cmocka_unit_test(a_circle_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
