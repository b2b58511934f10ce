/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem, memrchr */
#include "base/str.h"

#include <stdlib.h>

#include "base/alloc.h"

char *ttm_str_copy(ttm_str v) {
  char *copy = ttm_alloc(v.n + 1);
  if (copy && v.n) memcpy(copy, v.p, v.n);
  return copy;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool ttm_str_eq_nocase(ttm_str a, ttm_str b) {
  size_t i = 0;
  while (i < a.n && i < b.n && lower(a.p[i]) == lower(b.p[i])) i++;
  return i == a.n && i == b.n;
}

int ttm_hex_digit(char c) {
  char low = lower(c);
  return ttm_is_digit(c) ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

size_t ttm_str_index(ttm_str v, const char *const *names, size_t n) {
  size_t i = 0;
  while (i < n && !ttm_str_eq(v, ttm_str_of(names[i]))) i++;
  return i;
}

size_t ttm_str_find(ttm_str v, ttm_str needle) {
  if (needle.n == 0) return 0;
  if (v.n < needle.n) return TTM_NOT_FOUND;
  const char *at = memmem(v.p, v.n, needle.p, needle.n);
  return at ? (size_t)(at - v.p) : TTM_NOT_FOUND;
}

size_t ttm_str_find_char(ttm_str v, char c) {
  const char *at = v.n ? memchr(v.p, c, v.n) : NULL;
  return at ? (size_t)(at - v.p) : TTM_NOT_FOUND;
}

size_t ttm_str_find_last(ttm_str v, char c) {
#ifdef __linux__
  const char *at = v.n ? memrchr(v.p, c, v.n) : NULL;
  return at ? (size_t)(at - v.p) : TTM_NOT_FOUND;
#else
  while (v.n && v.p[v.n - 1] != c) v.n--;
  return v.n - 1; /* TTM_NOT_FOUND when none is left */
#endif
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

ttm_str ttm_str_trim(ttm_str v) {
  while (v.n && is_blank(v.p[0])) v.p++, v.n--;
  while (v.n && is_blank(v.p[v.n - 1])) v.n--;
  return v;
}

bool ttm_str_take_u64(ttm_str *v, uint64_t *out) {
  uint64_t value = 0;
  size_t i = 0;
  for (; i < v->n && ttm_is_digit(v->p[i]); i++) {
    if (__builtin_mul_overflow(value, (uint64_t)10, &value)) return false;
    if (__builtin_add_overflow(value, (uint64_t)(v->p[i] - '0'), &value)) return false;
  }
  if (i == 0) return false;
  *out = value;
  *v = ttm_str_from(*v, i);
  return true;
}

static size_t digits_at(ttm_str v, size_t start) {
  size_t n = 0;
  while (start + n < v.n && ttm_is_digit(v.p[start + n])) n++;
  return n;
}

bool ttm_str_take_decimal(ttm_str *v, double *out) {
  char text[64]; /* a view has no end that strtod would see */
  size_t whole = digits_at(*v, 0), length = whole;
  if (length < v->n && v->p[length] == '.') length += 1 + digits_at(*v, length + 1);
  if (length - whole <= 1 && !whole) return false; /* nothing, or a point alone */
  if (length >= sizeof text) return false;
  memcpy(text, v->p, length);
  text[length] = '\0';
  *out = strtod(text, NULL);
  *v = ttm_str_from(*v, length);
  return true;
}

bool ttm_str_like(ttm_str v, ttm_str pattern) {
  size_t star = ttm_str_find_char(pattern, '*');
  if (star == TTM_NOT_FOUND) return ttm_str_eq(v, pattern);
  if (!ttm_str_take(&v, ttm_str_first(pattern, star))) return false;
  for (pattern = ttm_str_from(pattern, star + 1); (star = ttm_str_find_char(pattern, '*')) != TTM_NOT_FOUND;) {
    size_t at = ttm_str_find(v, ttm_str_first(pattern, star));
    if (at == TTM_NOT_FOUND) return false;
    v = ttm_str_from(v, at + star);
    pattern = ttm_str_from(pattern, star + 1);
  }
  return ttm_str_ends(v, pattern);
}
