/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/json_text.h"

#include <math.h>
#include <stdlib.h>

#include "parse/json_pull.h"
#include "parse/mlir_scan.h"

/* Bytes of the value at the start of `v`; 0 when there is none. Brackets are counted, not matched: what lies between them is
 * looked at only when somebody asks for it. */
static size_t value_bytes(ttm_str v) {
  size_t depth = 0;
  for (size_t i = 0; i < v.n; i++) {
    char c = v.p[i];
    if (c == '"') {
      size_t end = ttm_scan_string_end(v, i);
      if (end == TTM_NOT_FOUND || !depth) return end == TTM_NOT_FOUND ? 0 : end;
      i = end - 1;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      if (!depth) return i;
      if (!--depth) return i + 1;
    } else if (!depth && (c == ',' || c == ':' || ttm_scan_is_space(c))) {
      return i;
    }
  }
  return depth ? 0 : v.n;
}

static bool take_char(ttm_str *v, char c) {
  ttm_scan_skip_space(v);
  if (!v->n || *v->p != c) return false;
  *v = ttm_str_from(*v, 1);
  return true;
}

static bool take_value(ttm_str *v, ttm_str *value) {
  ttm_scan_skip_space(v);
  *value = ttm_str_first(*v, value_bytes(*v));
  *v = ttm_str_from(*v, value->n);
  return value->n > 0;
}

ttm_str ttm_json_get_member(ttm_str object, const char *key) {
  ttm_str name, value, wanted = ttm_str_of(key);
  if (!take_char(&object, '{')) return (ttm_str){"", 0};
  while (take_value(&object, &name) && take_char(&object, ':') && take_value(&object, &value)) {
    bool is_it = name.n == wanted.n + 2 && name.p[0] == '"' && !memcmp(name.p + 1, wanted.p, wanted.n);
    if (is_it) return value;
    if (!take_char(&object, ',')) break;
  }
  return (ttm_str){"", 0};
}

bool ttm_json_get_element(ttm_str *rest, ttm_str *element) {
  /* The bracket that opened the array, or the comma after the element before. */
  if (!take_char(rest, '[') && !take_char(rest, ',')) return false;
  return take_value(rest, element);
}

/* ---- Values -------------------------------------------------------------------------------------------------------- */

void ttm_json_get_string(ttm_buf *out, ttm_str value) {
  if (value.n < 3 || value.p[0] != '"') return; /* "" */
  size_t start = out->n;
  ttm_buf_put(out, (ttm_str){value.p + 1, value.n - 2});
  if (!out->failed) out->n = start + ttm_json_unescape(out->at + start, value.n - 2);
}

double ttm_json_get_number(ttm_str value, double otherwise) {
  char digits[40];
  if (!value.n || value.n >= sizeof digits || !strchr("-0123456789", value.p[0])) return otherwise;
  memcpy(digits, value.p, value.n);
  digits[value.n] = '\0';
  if (strspn(digits, "+-.0123456789eE") < value.n) return otherwise; /* strtod also takes "-nan" and "0x1p9" */
  char *end;
  double number = strtod(digits, &end);
  return *end || !isfinite(number) ? otherwise : number;
}

uint64_t ttm_json_get_count(ttm_str value, uint64_t otherwise) {
  double number = ttm_json_get_number(value, -1);
  return number >= 0 && number < 0x1p64 ? (uint64_t)number : otherwise;
}
