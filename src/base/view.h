/* SPDX-License-Identifier: Apache-2.0 */
/* A borrowed run of bytes. Not NUL-terminated; may hold any byte. Never owns. */
#ifndef TTM_BASE_VIEW_H
#define TTM_BASE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct ttm_view {
  const char *p;
  size_t n;
} ttm_view;

#define TTM_LIT(s) ((ttm_view){"" s, sizeof(s) - 1})
#define TTM_NOT_FOUND ((size_t)-1)

static inline ttm_view ttm_view_of(const char *cstr) { return (ttm_view){cstr, cstr ? strlen(cstr) : 0}; }

static inline bool ttm_view_eq(ttm_view a, ttm_view b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* The same but for the case of ASCII letters, whatever the locale. */
bool ttm_view_eq_nocase(ttm_view a, ttm_view b);

static inline bool ttm_view_starts(ttm_view v, ttm_view prefix) {
  return v.n >= prefix.n && (prefix.n == 0 || memcmp(v.p, prefix.p, prefix.n) == 0);
}

static inline bool ttm_view_ends(ttm_view v, ttm_view suffix) {
  return v.n >= suffix.n && (suffix.n == 0 || memcmp(v.p + v.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* The part from byte `start` on; empty when start is past the end. */
static inline ttm_view ttm_view_from(ttm_view v, size_t start) {
  return start < v.n ? (ttm_view){v.p + start, v.n - start} : (ttm_view){v.n ? v.p + v.n : v.p, 0};
}

/* The first `n` bytes, or all of them. */
static inline ttm_view ttm_view_first(ttm_view v, size_t n) { return (ttm_view){v.p, n < v.n ? n : v.n}; }

/* Offset of `needle`, or TTM_NOT_FOUND. */
size_t ttm_view_find(ttm_view v, ttm_view needle);
size_t ttm_view_find_char(ttm_view v, char c);

static inline bool ttm_view_contains(ttm_view v, ttm_view needle) { return ttm_view_find(v, needle) != TTM_NOT_FOUND; }

/* Without leading and trailing blanks, tabs and carriage returns. */
ttm_view ttm_view_trim(ttm_view v);

/* The same bytes with a NUL behind them, freed with ttm_free; NULL without memory. */
char *ttm_view_copy(ttm_view v);

/* Reads an unsigned decimal at *v and moves *v past it. False (and *v unchanged) without a digit or on overflow. */
bool ttm_view_take_u64(ttm_view *v, uint64_t *out);

/* The same for "90", "1.5" or ".5". No sign, exponent, "inf" or "0x10", which strtod alone would take. */
bool ttm_view_take_decimal(ttm_view *v, double *out);

/* Moves *v past `literal` when it starts with it. */
static inline bool ttm_view_take(ttm_view *v, ttm_view literal) {
  if (!ttm_view_starts(*v, literal)) return false;
  *v = ttm_view_from(*v, literal.n);
  return true;
}

#endif
