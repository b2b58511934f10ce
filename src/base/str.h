/* SPDX-License-Identifier: Apache-2.0 */
/* A borrowed run of bytes. Not NUL-terminated; may hold any byte. Never owns. */
#ifndef TTM_BASE_STR_H
#define TTM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ttmem/str.h"

#define TTM_LIT(s) ((ttm_str){"" s, sizeof(s) - 1})
#define TTM_NOT_FOUND ((size_t)-1)
/* The arguments of "%.*s". */
#define TTM_ARGS(str) (int)(str).n, (str).p

static inline ttm_str ttm_str_of(const char *cstr) { return (ttm_str){cstr, cstr ? strlen(cstr) : 0}; }

static inline bool ttm_str_eq(ttm_str a, ttm_str b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }

static inline bool ttm_is_digit(char c) { return c >= '0' && c <= '9'; }

/* What a hexadecimal digit stands for; -1 when it is none. */
int ttm_hex_digit(char c);

/* Below, equal to or above 0 as bytes compare; a shorter one comes before what it begins. */
static inline int ttm_str_order(ttm_str a, ttm_str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int order = n ? memcmp(a.p, b.p, n) : 0;
  return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* Equal but for the case of ASCII letters, whatever the locale. */
bool ttm_str_eq_nocase(ttm_str a, ttm_str b);

static inline bool ttm_str_starts(ttm_str v, ttm_str prefix) {
  return v.n >= prefix.n && (prefix.n == 0 || memcmp(v.p, prefix.p, prefix.n) == 0);
}

static inline bool ttm_str_ends(ttm_str v, ttm_str suffix) {
  return v.n >= suffix.n && (suffix.n == 0 || memcmp(v.p + v.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* The part from byte `start` on; empty when start is past the end. */
static inline ttm_str ttm_str_from(ttm_str v, size_t start) {
  return start < v.n ? (ttm_str){v.p + start, v.n - start} : (ttm_str){v.n ? v.p + v.n : v.p, 0};
}

/* The first `n` bytes, or all of them. */
static inline ttm_str ttm_str_first(ttm_str v, size_t n) { return (ttm_str){v.p, n < v.n ? n : v.n}; }

/* Which of the `n` names it is; `n` when it is none of them. */
size_t ttm_str_index(ttm_str v, const char *const *names, size_t n);

/* Offset of `needle`, or TTM_NOT_FOUND. */
size_t ttm_str_find(ttm_str v, ttm_str needle);
size_t ttm_str_find_char(ttm_str v, char c);
size_t ttm_str_find_last(ttm_str v, char c);

static inline bool ttm_str_contains(ttm_str v, ttm_str needle) { return ttm_str_find(v, needle) != TTM_NOT_FOUND; }

/* Takes everything up to `end`, which is dropped, or to the end of *v. */
static inline ttm_str ttm_str_take_to(ttm_str *v, char end) {
  size_t at = ttm_str_find_char(*v, end);
  ttm_str taken = ttm_str_first(*v, at);
  *v = ttm_str_from(*v, taken.n + 1);
  return taken;
}

/* Whether the string is what the pattern says, in which '*' stands for any characters. */
bool ttm_str_like(ttm_str v, ttm_str pattern);

/* Without leading and trailing blanks, tabs and carriage returns. */
ttm_str ttm_str_trim(ttm_str v);

/* The same bytes with a NUL behind them, freed with ttm_free; NULL without memory. */
char *ttm_str_copy(ttm_str v);

/* Reads an unsigned decimal at *v and moves *v past it. False (and *v unchanged) without a digit or on overflow. */
bool ttm_str_take_u64(ttm_str *v, uint64_t *out);

/* The same for "90", "1.5" or ".5". No sign, exponent, "inf" or "0x10", which strtod alone would take. */
bool ttm_str_take_decimal(ttm_str *v, double *out);

/* Moves *v past `literal` when it starts with it. */
static inline bool ttm_str_take(ttm_str *v, ttm_str literal) {
  if (!ttm_str_starts(*v, literal)) return false;
  *v = ttm_str_from(*v, literal.n);
  return true;
}

#endif
