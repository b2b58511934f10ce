/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/json_text.h"

#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"

static ttm_str skip_blanks(ttm_str v) {
  while (v.n && (*v.p == ' ' || *v.p == '\t' || *v.p == '\n' || *v.p == '\r')) v.p++, v.n--;
  return v;
}

/* Bytes of the string at the start of `v`, quotes included; 0 when it does not end. */
static size_t string_bytes(ttm_str v) {
  for (size_t i = 1; i < v.n; i++) {
    if (v.p[i] == '"') return i + 1;
    if (v.p[i] == '\\') i++;
  }
  return 0;
}

/* Bytes of the value at the start of `v`; 0 when there is none. Brackets are counted, not matched: what lies between them is
 * looked at only when somebody asks for it. */
static size_t value_bytes(ttm_str v) {
  size_t depth = 0;
  for (size_t i = 0; i < v.n; i++) {
    char c = v.p[i];
    if (c == '"') {
      size_t n = string_bytes(ttm_str_from(v, i));
      if (!n) return 0;
      i += n - 1;
      if (!depth) return i + 1;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      if (!depth) return i;
      if (!--depth) return i + 1;
    } else if (!depth && (c == ',' || c == ':' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
      return i;
    }
  }
  return depth ? 0 : v.n;
}

static bool take_char(ttm_str *v, char c) {
  *v = skip_blanks(*v);
  if (!v->n || *v->p != c) return false;
  *v = ttm_str_from(*v, 1);
  return true;
}

static bool take_value(ttm_str *v, ttm_str *value) {
  *v = skip_blanks(*v);
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

static bool take_hex4(ttm_str v, uint32_t *out) {
  *out = 0;
  if (v.n < 4) return false;
  for (size_t i = 0; i < 4; i++) {
    char c = v.p[i];
    uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                            : 16;
    if (digit > 15) return false;
    *out = *out << 4 | digit;
  }
  return true;
}

/* The character of "uXXXX" or "uXXXX\uYYYY" at the start of `v`; returns the bytes it took. A lone half becomes U+FFFD. */
static size_t put_unicode(ttm_buf *out, ttm_str v) {
  uint32_t high, low;
  if (!take_hex4(ttm_str_from(v, 1), &high)) return ttm_put_character(out, TTM_UTF8_BROKEN), 1;
  if (high < 0xD800 || high > 0xDFFF) return ttm_put_character(out, high), 5;
  ttm_str second = ttm_str_from(v, 5);
  bool pair = high < 0xDC00 && ttm_str_take(&second, TTM_LIT("\\u")) && take_hex4(second, &low) && low >= 0xDC00 &&
              low <= 0xDFFF;
  if (!pair) return ttm_put_character(out, TTM_UTF8_BROKEN), 5;
  ttm_put_character(out, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
  return 11;
}

void ttm_json_get_string(ttm_buf *out, ttm_str value) {
  static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
  if (value.n < 2 || value.p[0] != '"') return;
  value = (ttm_str){value.p + 1, value.n - 2};
  while (value.n) {
    size_t plain = ttm_str_find_char(value, '\\');
    ttm_buf_put(out, ttm_str_first(value, plain));
    if (plain == TTM_NOT_FOUND || plain + 1 >= value.n) return;
    value = ttm_str_from(value, plain + 1);
    const char *letter = memchr(letters, value.p[0], sizeof letters - 1);
    size_t used = 1;
    if (value.p[0] == 'u')
      used = put_unicode(out, value);
    else
      ttm_buf_char(out, letter ? meant[letter - letters] : value.p[0]);
    value = ttm_str_from(value, used);
  }
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
