/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a JSON text: never a crash, values inside the text, every list comes to an end. */
#include "fuzz.h"

#include "parse/json_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size}, rest, one;
  static const char *const keys[] = {"input", "peak", "incidents", "a", ""};
  ttm_buf out = {0};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    ttm_str value = ttm_json_get_member(text, keys[k]);
    check_inside(text, value);
    ttm_json_get_number(value, 0);
    ttm_json_get_string(&out, value);
    for (rest = value; ttm_json_get_element(&rest, &one);) check_inside(text, one), ttm_json_get_member(one, "kind");
  }
  for (rest = text; ttm_json_get_element(&rest, &one);) ttm_json_get_string(&out, one);
  ttm_buf_free(&out);
  return 0;
}
