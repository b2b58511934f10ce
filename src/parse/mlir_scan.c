/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/mlir_scan.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What a byte means to the scanner; 0 for the many that mean nothing. */
enum { PLAIN, OPEN, CLOSE, ANGLE_OPEN, ANGLE_CLOSE, QUOTE };

static const uint8_t KIND[256] = {
    ['('] = OPEN,  ['['] = OPEN,       ['{'] = OPEN,        [')'] = CLOSE, [']'] = CLOSE,
    ['}'] = CLOSE, ['<'] = ANGLE_OPEN, ['>'] = ANGLE_CLOSE, ['"'] = QUOTE,
};

static char closer_of(char open) { return open == '(' ? ')' : (char)(open + 2); } /* as ASCII has them */

bool ttm_scan_is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '.' || c == '-';
}

ttm_str ttm_scan_take_name(ttm_str *text) {
  size_t n = 0;
  while (n < text->n && ttm_scan_is_name(text->p[n])) n++;
  ttm_str name = ttm_str_first(*text, n);
  *text = ttm_str_from(*text, n);
  return name;
}

void ttm_scan_skip_space(ttm_str *text) {
  while (text->n && ttm_scan_is_space(text->p[0])) *text = ttm_str_from(*text, 1);
}

ttm_str ttm_scan_trim(ttm_str text) {
  ttm_scan_skip_space(&text);
  while (text.n && ttm_scan_is_space(text.p[text.n - 1])) text.n--;
  return text;
}

size_t ttm_scan_string_end(ttm_str text, size_t quote) {
  for (size_t at = quote + 1; at < text.n; at++) {
    if (text.p[at] == '"') return at + 1;
    if (text.p[at] == '\\') at++; /* whatever follows, a quote too, belongs to the string */
  }
  return TTM_NOT_FOUND;
}

/* `->` and `>=` hold a > that closes nothing, `<=` a < that opens nothing. */
static bool is_operator(ttm_str text, size_t at) {
  if (at + 1 < text.n && text.p[at + 1] == '=') return true;
  return text.p[at] == '>' && at > 0 && text.p[at - 1] == '-';
}

#ifdef __SSE2__
/* Which of 16 bytes mean something or are `stop`, a bit each. ( and ), < and >, [ and {, ] and } differ in one bit each. */
static unsigned marks_of(const char *p, char stop) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
  __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));                                   /* [ ] are { } */
  __m128i round = _mm_cmpeq_epi8(_mm_and_si128(bytes, _mm_set1_epi8(~1)), _mm_set1_epi8('(')); /* ( ) */
  __m128i angle = _mm_cmpeq_epi8(_mm_and_si128(bytes, _mm_set1_epi8(~2)), _mm_set1_epi8('<')); /* < > */
  __m128i open = _mm_cmpeq_epi8(folded, _mm_set1_epi8('{')), close = _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'));
  __m128i other = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(stop)));
  __m128i all = _mm_or_si128(_mm_or_si128(_mm_or_si128(round, angle), _mm_or_si128(open, close)), other);
  return (unsigned)_mm_movemask_epi8(all);
}
#endif

/* The next byte that means something: inside brackets a bracket or quote, outside also `stop`. Most bytes pass through
 * here. */
static size_t skip_plain(ttm_str text, size_t at, bool inside, char stop) {
  if (inside) stop = '"'; /* which stops all the same */
#ifdef __SSE2__
  for (; at + 16 <= text.n; at += 16) {
    unsigned marks = marks_of(text.p + at, stop);
    if (marks) return at + (size_t)__builtin_ctz(marks);
  }
#endif
  while (at < text.n && KIND[(unsigned char)text.p[at]] == PLAIN && text.p[at] != stop) at++;
  return at;
}

/* One pass from *from. Ends at a `stop` (a plain byte) at depth 0, or (with `to_close`) at the bracket that brings the
 * depth back to 0. *from becomes the byte at which it ended or broke. */
static size_t walk(ttm_str text, size_t *from, char stop, bool to_close) {
  char expected[TTM_SCAN_DEPTH]; /* the closers still owed, innermost last */
  size_t depth = 0, at = *from;
  for (;; at++) {
    *from = at = skip_plain(text, at, depth > 0, stop);
    if (at >= text.n) return depth == 0 && !to_close ? text.n : TTM_NOT_FOUND;
    char c = text.p[at];
    switch (KIND[(unsigned char)c]) {
      case PLAIN:
        return to_close ? TTM_NOT_FOUND : at; /* only `stop` stops at a plain byte */
      case QUOTE:
        at = ttm_scan_string_end(text, at);
        if (at == TTM_NOT_FOUND) return *from = text.n, TTM_NOT_FOUND;
        at--;
        break;
      case ANGLE_OPEN:
        if (is_operator(text, at)) break; /* fall through */
      case OPEN:
        if (depth == TTM_SCAN_DEPTH) return TTM_NOT_FOUND;
        expected[depth++] = closer_of(c);
        break;
      case ANGLE_CLOSE:
        if (is_operator(text, at)) break; /* fall through */
      default:
        if (depth == 0 || expected[depth - 1] != c) return TTM_NOT_FOUND;
        if (--depth == 0 && to_close) return at;
        break;
    }
  }
}

size_t ttm_scan_close(ttm_str text, size_t open) { return walk(text, &open, 0, true); }

size_t ttm_scan_close_in(ttm_str text, size_t open, size_t *budget) {
  size_t end = open, most = *budget > SIZE_MAX - open ? SIZE_MAX : open + *budget;
  size_t close = *budget ? walk(ttm_str_first(text, most), &end, 0, true) : TTM_NOT_FOUND;
  *budget -= end - open;
  return close;
}

bool ttm_scan_take_bracketed(ttm_str *text, ttm_str *inside) {
  size_t close = ttm_scan_close(*text, 0);
  if (close == TTM_NOT_FOUND) return false;
  *inside = (ttm_str){text->p + 1, close - 1};
  *text = ttm_str_from(*text, close + 1);
  return true;
}

size_t ttm_scan_find(ttm_str text, size_t from, char stop) { return walk(text, &from, stop, false); }

bool ttm_pieces_next(ttm_pieces *it, ttm_str *piece) {
  while (it->rest.n) {
    size_t comma = ttm_scan_find(it->rest, 0, ',');
    if (comma == TTM_NOT_FOUND) {
      it->broken = true;
      return false;
    }
    *piece = ttm_scan_trim(ttm_str_first(it->rest, comma));
    it->rest = ttm_str_from(it->rest, comma + 1);
    if (piece->n) return true;
  }
  return false;
}

/* The byte an escape stands for and its length in the text; length 1 (the backslash itself) when it is none we know. */
static size_t unescape_one(ttm_str at, char *byte) {
  static const char from[] = "nt\"\\", into[] = "\n\t\"\\";
  *byte = '\\';
  const char *plain = at.n < 2 ? NULL : memchr(from, at.p[1], sizeof from - 1);
  if (plain) return *byte = into[plain - from], 2;
  int high = at.n < 3 ? -1 : ttm_hex_digit(at.p[1]), low = at.n < 3 ? -1 : ttm_hex_digit(at.p[2]);
  if (high < 0 || low < 0) return 1;
  *byte = (char)(high * 16 + low);
  return 3;
}

void ttm_scan_unescape(ttm_str inside, ttm_buf *out) {
  while (inside.n) {
    size_t plain = ttm_str_find_char(inside, '\\');
    ttm_buf_put(out, ttm_str_first(inside, plain));
    inside = ttm_str_from(inside, plain);
    if (!inside.n) break;
    char byte;
    size_t used = unescape_one(inside, &byte);
    ttm_buf_char(out, byte);
    inside = ttm_str_from(inside, used);
  }
}
