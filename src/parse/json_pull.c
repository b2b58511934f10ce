/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/json_pull.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"

enum { PIECE = 256 * 1024, PADDING = 32, MOST_DEPTH = 1024 };

void ttm_json_init(ttm_json_pull *j, ttm_source *source, ttm_str first) {
  *j = (ttm_json_pull){.source = source, .rest = first, .line = 1};
}

void ttm_json_free(ttm_json_pull *j) { ttm_free(j->buf); }

static bool fail(ttm_json_pull *j, int status, const char *error) {
  if (!j->error) {
    j->error = error;
    j->status = status;
  }
  j->at = j->n = 0; /* every later look finds the end */
  j->ended = true;
  if (j->buf) memset(j->buf, 0, PADDING);
  return false;
}

/* ---- Bytes --------------------------------------------------------------------------------------------------------- */

static int read_more(ttm_json_pull *j, size_t room, size_t *got) {
  if (j->rest.n) {
    *got = room < j->rest.n ? room : j->rest.n;
    memcpy(j->buf + j->n, j->rest.p, *got);
    j->rest = ttm_str_from(j->rest, *got);
    return TTM_OK;
  }
  *got = 0;
  return j->source ? ttm_source_read(j->source, j->buf + j->n, room, got, &j->io) : TTM_OK;
}

/* Brings more input behind what is there from `keep` on; `at` moves along. False at the end of the input or on an error. */
static bool refill(ttm_json_pull *j, size_t keep) {
  if (j->ended) return false;
  size_t held = j->n - keep;
  if (held > TTM_JSON_LONGEST_STRING) return fail(j, TTM_EFORMAT, "a string is longer than 64 MB");
  if (!j->buf || held + PIECE > j->cap) {
    size_t cap = held ? (held + PIECE) * 2 : PIECE;
    char *buf = ttm_realloc(j->buf, cap + PADDING);
    if (!buf) return fail(j, TTM_ENOMEM, "out of memory");
    j->buf = buf;
    j->cap = cap;
  }
  if (held && keep) memmove(j->buf, j->buf + keep, held);
  j->passed += keep;
  j->at -= keep;
  j->n = held;
  size_t got;
  int rc = read_more(j, j->cap - j->n, &got);
  if (rc) return fail(j, rc, "reading failed");
  j->n += got;
  j->ended = got == 0;
  memset(j->buf + j->n, 0, PADDING);
  return got > 0;
}

/* ---- Scanning: both stop at a byte that wants a look, or at the zero behind the input ------------------------------- */

static inline size_t skip_blanks(const char *p, size_t at, uint64_t *lines) {
#ifdef __SSE2__
  for (;;) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
    /* Blanks are 9, 10, 13 and 32; anything else stops. */
    __m128i newline = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
    __m128i blank = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')), newline),
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r'))));
    unsigned other = ~(unsigned)_mm_movemask_epi8(blank) & 0xFFFF;
    unsigned n = other ? (unsigned)__builtin_ctz(other) : 16;
    unsigned newlines = (unsigned)_mm_movemask_epi8(newline) & ((1u << n) - 1);
    for (; newlines; newlines &= newlines - 1) ++*lines; /* mostly one: before popcnt it costs a call */
    at += n;
    if (other) return at;
  }
#else
  for (;; at++) {
    if (p[at] == '\n')
      ++*lines;
    else if (p[at] != ' ' && p[at] != '\t' && p[at] != '\r')
      return at;
  }
#endif
}

/* To the next quote, backslash or control character. */
static inline size_t skip_plain(const char *p, size_t at) {
#ifdef __SSE2__
  for (;; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
    __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes));
    unsigned mask = (unsigned)_mm_movemask_epi8(stop);
    if (mask) return at + (unsigned)__builtin_ctz(mask);
  }
#else
  while (p[at] != '"' && p[at] != '\\' && (unsigned char)p[at] >= 0x20) at++;
  return at;
#endif
}

/* To the next quote, bracket, line end or zero, outside strings. */
static inline size_t skip_between(const char *p, size_t at) {
#ifdef __SSE2__
  for (;; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
    __m128i bracket =
        _mm_and_si128(bytes, _mm_set1_epi8((char)0xD9)); /* all four become 0x59; so do Y _ y, which is harmless */
    __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
    stop = _mm_or_si128(stop, _mm_cmpeq_epi8(bracket, _mm_set1_epi8(0x59)));
    stop = _mm_or_si128(stop, _mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
    unsigned mask = (unsigned)_mm_movemask_epi8(stop);
    if (mask) return at + (unsigned)__builtin_ctz(mask);
  }
#else
  while (p[at] && p[at] != '"' && p[at] != '\n' && p[at] != '{' && p[at] != '}' && p[at] != '[' && p[at] != ']') at++;
  return at;
#endif
}

/* The next byte that is no blank, 0 at the end. `at` stands on it. */
static inline char next_byte(ttm_json_pull *j) {
  if (!j->buf && !refill(j, 0)) return 0;
  for (;;) {
    if ((unsigned char)j->buf[j->at] > ' ') return j->buf[j->at];
    j->at = skip_blanks(j->buf, j->at, &j->line);
    if (j->at > j->n) j->at = j->n; /* the zeros behind the input are no blanks, but a stray one inside may be passed */
    if (j->at < j->n) return j->buf[j->at] ? j->buf[j->at] : (fail(j, TTM_EFORMAT, "a zero byte"), '\0');
    if (!refill(j, j->at)) return 0;
  }
}

/* ---- Strings ------------------------------------------------------------------------------------------------------- */

static unsigned hex4(const char *p) {
  unsigned v = 0;
  for (int i = 0; i < 4; i++) {
    int digit = ttm_hex_digit(p[i]);
    if (digit < 0) return UINT32_MAX;
    v = v << 4 | (unsigned)digit;
  }
  return v;
}

/* One escape at p (behind the backslash) of at most n bytes; *used of them. What is no escape stays as it is. */
static size_t unescape_one(const char *p, size_t n, char *to, size_t *used) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  *used = 1;
  const char *plain = n && p[0] ? strchr(from, p[0]) : NULL;
  if (plain) return to[0] = into[plain - from], 1;
  unsigned c = n >= 5 && p[0] == 'u' ? hex4(p + 1) : UINT32_MAX;
  if (c == UINT32_MAX) return to[0] = n ? p[0] : '\\', 1;
  *used = 5;
  if (c >= 0xD800 && c < 0xDC00 && n >= 11 && p[5] == '\\' && p[6] == 'u') {
    unsigned low = hex4(p + 7);
    if (low >= 0xDC00 && low < 0xE000) {
      *used = 11;
      return ttm_utf8_put(to, 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00));
    }
  }
  return ttm_utf8_put(to, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
}

size_t ttm_json_unescape(char *p, size_t n) {
  size_t to = 0;
  for (size_t at = 0; at < n;) {
    if (p[at] != '\\') {
      p[to++] = p[at++];
      continue;
    }
    size_t used;
    char bytes[4];
    size_t m = unescape_one(p + at + 1, n - at - 1, bytes, &used);
    memcpy(p + to, bytes, m);
    to += m;
    at += 1 + used < n - at ? 1 + used : n - at;
  }
  return to;
}

/* The string whose opening quote is at `at`. With `out` NULL it is passed over and may be of any length. */
static bool read_string(ttm_json_pull *j, ttm_str *out) {
  size_t i = j->at + 1;
  bool escaped = false;
  for (;;) {
    i = skip_plain(j->buf, i);
    if (i < j->n && j->buf[i] == '"') break;
    if (i < j->n && j->buf[i] == '\\' && i + 1 < j->n) {
      escaped = true;
      i += 2;
      continue;
    }
    if (i + 1 < j->n || (i < j->n && j->buf[i] != '\\')) {
      i++; /* a control character inside: not allowed, not harmful */
      continue;
    }
    /* The input held ends inside the string. */
    if (i > j->n) i = j->n;
    size_t keep = out ? j->at : i, into = i - keep;
    if (!out) j->at = i;
    if (!refill(j, keep)) return fail(j, TTM_EFORMAT, "the text ends inside a string");
    i = into;
  }
  if (out) {
    char *start = j->buf + j->at + 1;
    size_t n = i - j->at - 1;
    *out = (ttm_str){start, escaped ? ttm_json_unescape(start, n) : n};
    j->unescaped |= escaped;
  }
  j->at = i + 1;
  return true;
}

/* ---- Structure ----------------------------------------------------------------------------------------------------- */

ttm_json_kind ttm_json_peek(ttm_json_pull *j) {
  static const uint8_t kinds[256] = {
      ['\0'] = TTM_JSON_NONE, ['{'] = TTM_JSON_OBJECT, ['['] = TTM_JSON_ARRAY, ['"'] = TTM_JSON_STRING,
      ['t'] = TTM_JSON_TRUE,  ['f'] = TTM_JSON_FALSE,  ['n'] = TTM_JSON_NULL, /* anything else begins a number */
  };
  return (ttm_json_kind)kinds[(unsigned char)next_byte(j)];
}

/* The bracket has been seen. */
static bool enter(ttm_json_pull *j) {
  if (j->depth == MOST_DEPTH) return fail(j, TTM_EFORMAT, "nested too deeply");
  j->depth++;
  j->at++;
  j->fresh = true;
  return true;
}

bool ttm_json_enter(ttm_json_pull *j, char bracket) {
  if (next_byte(j) == bracket) return enter(j);
  return fail(j, TTM_EFORMAT, bracket == '{' ? "no object here" : "no array here");
}

static bool leave(ttm_json_pull *j) {
  j->at++;
  j->depth--;
  j->fresh = false;
  return false;
}

/* To the next member of the container; false behind its last one or on an error. */
static bool next_member(ttm_json_pull *j, char closing) {
  char c = next_byte(j);
  if (c == closing && j->depth) return leave(j);
  if (!j->fresh) {
    if (c != ',') return fail(j, TTM_EFORMAT, c ? "a comma is missing" : "the text ends too early");
    j->at++;
    c = next_byte(j);
    if (c == closing) return leave(j); /* a trailing comma: some writers leave one */
  }
  j->fresh = false;
  return c ? true : fail(j, TTM_EFORMAT, "the text ends too early");
}

bool ttm_json_key(ttm_json_pull *j, ttm_str *key) {
  if (!next_member(j, '}')) return false;
  if (j->buf[j->at] != '"') return fail(j, TTM_EFORMAT, "a key is no string");
  ttm_str text;
  if (!read_string(j, &text)) return false;
  *key = text;
  if (j->buf[j->at] != ':') {
    /* Blanks, or the end of what is held: getting there may move the key. */
    if (text.n > sizeof j->spare) text.n = sizeof j->spare;
    memcpy(j->spare, text.p, text.n);
    *key = (ttm_str){j->spare, text.n};
    if (next_byte(j) != ':') return fail(j, TTM_EFORMAT, "a colon is missing behind a key");
  }
  j->at++;
  return true;
}

bool ttm_json_gap_since(ttm_json_pull *j, uint64_t from, uint64_t line, bool closes, ttm_json_gap *out) {
  if (!closes) next_byte(j); /* blanks behind the colon belong to it */
  uint64_t n = ttm_json_position(j) - from, lines = j->line - line;
  if (j->error || j->unescaped || from < j->passed || n > sizeof out->text) return false;
  *out = (ttm_json_gap){.n = (uint8_t)n, .lines = (uint8_t)lines, .closes = closes};
  memcpy(out->text, j->buf + (from - j->passed), n);
  return true;
}

bool ttm_json_item(ttm_json_pull *j) { return next_member(j, ']'); }

/* ---- Values -------------------------------------------------------------------------------------------------------- */

static bool is_word(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' || c == '+' || c == '.';
}

/* A number or a bare word, all of it in the buffer. */
static bool read_word(ttm_json_pull *j, ttm_str *out) {
  size_t i = j->at;
  for (;;) {
    while (is_word(j->buf[i])) i++;
    if (i < j->n) break;
    size_t length = i - j->at;
    if (length > 4096) return fail(j, TTM_EFORMAT, "a number of thousands of digits");
    if (!refill(j, j->at)) {
      if (j->error) return false;
      break;
    }
    i = j->at + length;
  }
  if (i == j->at) return fail(j, TTM_EFORMAT, "neither a value nor a bracket");
  *out = (ttm_str){j->buf + j->at, i - j->at};
  j->at = i;
  return true;
}

bool ttm_json_digits(ttm_json_pull *j, int64_t *out) {
  enum { MOST = 18 };
  const char *p = j->buf + j->at;
  int64_t number = 0;
  size_t n = 0;
  for (; n < MOST && ttm_is_digit(p[n]); n++) number = number * 10 + (p[n] - '0');
  if (!n || (p[n] != ',' && is_word(p[n])) || j->at + n >= j->n) return false;
  j->at += n;
  *out = number;
  return true;
}

static bool skip_container(ttm_json_pull *j) {
  uint64_t depth = 0;
  for (;;) {
    j->at = skip_between(j->buf, j->at);
    if (j->at >= j->n) {
      j->at = j->n;
      if (!refill(j, j->at)) return fail(j, TTM_EFORMAT, "the text ends too early");
      continue;
    }
    switch (j->buf[j->at]) {
      case '"':
        if (!read_string(j, NULL)) return false;
        continue;
      case '\n':
        j->line++;
        break;
      case '{':
      case '[':
        depth++;
        break;
      case '}':
      case ']':
        if (--depth == 0) return j->at++, true;
        break;
      default:
        break;
    }
    j->at++;
  }
}

/* The value of this kind that comes next; *text is that of a scalar. With `text` NULL a string may be of any length. */
static bool read_value(ttm_json_pull *j, ttm_json_kind kind, ttm_str *text) {
  ttm_str ignored;
  j->fresh = false;
  if (kind == TTM_JSON_NONE) return fail(j, TTM_EFORMAT, "the text ends too early");
  if (kind == TTM_JSON_OBJECT || kind == TTM_JSON_ARRAY) return skip_container(j);
  return kind == TTM_JSON_STRING ? read_string(j, text) : read_word(j, text ? text : &ignored);
}

bool ttm_json_skip(ttm_json_pull *j) { return read_value(j, ttm_json_peek(j), NULL); }

bool ttm_json_value(ttm_json_pull *j, ttm_json_scalar *out) {
  *out = (ttm_json_scalar){ttm_json_peek(j), {"", 0}};
  return read_value(j, out->kind, &out->text);
}

bool ttm_json_enter_if(ttm_json_pull *j, char bracket) {
  return next_byte(j) == bracket ? enter(j) : (ttm_json_skip(j), false);
}

bool ttm_json_integer(const ttm_json_scalar *v, int64_t *out) {
  if (v->kind != TTM_JSON_NUMBER && v->kind != TTM_JSON_STRING) return false;
  ttm_str text = v->text;
  bool negative = text.n && text.p[0] == '-';
  uint64_t number;
  text = ttm_str_from(text, negative);
  if (!ttm_str_take_u64(&text, &number) || text.n) return false;
  if (number > (uint64_t)INT64_MAX) number = (uint64_t)INT64_MAX; /* no memory is that large; sums saturate anyway */
  *out = negative ? -(int64_t)number : (int64_t)number;
  return true;
}
