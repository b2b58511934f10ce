/* SPDX-License-Identifier: Apache-2.0 */
#include "report/write/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

/* ---- Structure --------------------------------------------------------------------------------------------------- */

/* ttm_buf_char without the call, while there is room. */
static inline void put_char(ttm_buf *out, char c) {
  if (out->n < out->cap)
    out->at[out->n++] = c;
  else
    ttm_buf_char(out, c);
}

/* The comma, line break and blanks before a member; room for `n` more bytes. */
static inline void separate(ttm_json *j, bool has_key, size_t n) {
  ttm_buf *out = j->out;
  bool in_object = j->objects & 1, comma = j->later, line = j->lines & 1 && (comma || !in_object || j->tall);
  size_t blanks = !j->spaced ? 0 : line ? j->depth << j->tall : comma;
  j->misused |= j->keyed || in_object != has_key || (!j->depth && comma);
  j->later = true;
  if (!ttm_buf_room(out, n + blanks + 2)) return;
  if (comma) out->at[out->n++] = ',';
  if (line) out->at[out->n++] = '\n';
  while (blanks-- > 0) out->at[out->n++] = ' ';
}

/* May the next member take the short way of ttm_json_at? */
static inline bool is_plain(const ttm_json *j) { return j->objects & ~j->lines & 1 && !j->spaced; }

ttm_buf *ttm_json_at_(ttm_json *j, const char *key, size_t n) {
  if (key || !j->keyed) separate(j, key, n + 4);
  j->keyed = false;
  j->plain = is_plain(j);
  if (!key) return j->out;
  put_char(j->out, '"');
  ttm_buf_put(j->out, (ttm_str){key, n});
  ttm_buf_puts(j->out, j->spaced ? "\": " : "\":");
  return j->out;
}

void ttm_json_put_key(ttm_json *j, ttm_str key) {
  separate(j, true, 0);
  ttm_json_string(j->out, key);
  ttm_buf_puts(j->out, j->spaced ? ": " : ":");
  j->keyed = true;
  j->plain = false;
}

void ttm_json_begin_(ttm_json *j, char bracket, bool lines) {
  put_char(j->out, bracket);
  j->misused |= j->depth++ >= 64;
  j->objects = j->objects << 1 | (bracket == '{');
  j->lines = j->lines << 1 | lines;
  j->later = false;
  j->plain = is_plain(j);
}

void ttm_json_end(ttm_json *j) {
  j->misused |= !j->depth || j->keyed;
  if (!j->depth) return;
  bool object = j->objects & 1;
  if (j->later && !object && j->lines & 1 && !j->spaced) put_char(j->out, '\n');
  if (j->later && j->lines & 1 && j->tall) ttm_buf_printf(j->out, "\n%*s", (int)(j->depth - 1) * 2, "");
  put_char(j->out, object ? '}' : ']');
  j->depth--;
  j->objects >>= 1;
  j->lines >>= 1;
  j->later = true;
  j->plain = is_plain(j);
}

int ttm_json_finish(ttm_json *j) {
  put_char(j->out, '\n');
  j->misused |= j->depth || !j->later;
  return j->misused ? TTM_EUSAGE : j->out->failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

/* True when one of the eight bytes needs a closer look: below 0x20, a quote, a backslash, or not ASCII. */
static bool any_special(uint64_t eight) {
  const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
  uint64_t quote = eight ^ (ones * '"'), slash = eight ^ (ones * '\\');
  uint64_t found = (eight - ones * 0x20) | (quote - ones) | (slash - ones) | eight;
  return found & high;
}

static bool is_special(unsigned char c) { return c < 0x20 || c == '"' || c == '\\' || c >= 0x80; }

/* Bytes at `from` that can be copied as they are. */
static size_t plain_run(ttm_str text, size_t from) {
  size_t i = from;
  for (uint64_t eight; text.n - i >= 8; i += 8) {
    memcpy(&eight, text.p + i, 8);
    if (any_special(eight)) break;
  }
  while (i < text.n && !is_special((unsigned char)text.p[i])) i++;
  return i - from;
}

static void put_ascii_escape(ttm_buf *buf, unsigned char c) {
  static const char HEX[] = "0123456789abcdef";
  char named = c == '"' || c == '\\' ? (char)c : c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : 0;
  char escape[6] = {'\\', named};
  if (!named) memcpy(escape, (char[]){'\\', 'u', '0', '0', HEX[c >> 4], HEX[c & 15]}, 6);
  ttm_buf_put(buf, (ttm_str){escape, named ? 2 : 6});
}

/* One special byte or character; returns how many bytes of the text it was. A character that hides is escaped: files are read in
 * terminals and pasted into scripts, too. */
static size_t put_special(ttm_buf *buf, ttm_str text) {
  size_t length;
  uint32_t c = ttm_utf8_first(text, &length);
  if (c < 0x80)
    put_ascii_escape(buf, (unsigned char)c);
  else if (!ttm_utf8_hides(c))
    ttm_put_character(buf, c);
  else if (c < 0x10000)
    ttm_buf_printf(buf, "\\u%04x", (unsigned)c);
  else
    ttm_buf_printf(buf, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (c >> 10)), (unsigned)(0xDC00 | (c & 0x3FF)));
  return length;
}

void ttm_put_utf8(ttm_buf *buf, ttm_str text) {
  ttm_buf_follow(buf, text);
  for (size_t i = 0, run; i < text.n; i += run) {
    for (run = 0; i + run < text.n && (unsigned char)text.p[i + run] < 0x80;) run++;
    ttm_buf_put(buf, (ttm_str){text.p + i, run});
    if (i + run == text.n) break;
    size_t length;
    ttm_put_character(buf, ttm_utf8_first(ttm_str_from(text, i + run), &length));
    run += length;
  }
}

void ttm_json_escape(ttm_buf *buf, ttm_str text) {
  ttm_buf_follow(buf, text);
  for (size_t i = 0; i < text.n;) {
    size_t run = plain_run(text, i);
    ttm_buf_put(buf, (ttm_str){text.p + i, run});
    i += run;
    if (i < text.n) i += put_special(buf, ttm_str_from(text, i));
  }
}

void ttm_json_string(ttm_buf *buf, ttm_str text) {
  ttm_buf_char(buf, '"');
  ttm_json_escape(buf, text);
  ttm_buf_char(buf, '"');
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

void ttm_json_i64(ttm_buf *buf, int64_t value) {
  if (value < 0) ttm_buf_char(buf, '-');
  ttm_buf_u64(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void ttm_json_known(ttm_buf *buf, uint64_t value) {
  if (value == UINT64_MAX)
    ttm_buf_puts(buf, "null");
  else
    ttm_buf_u64(buf, value);
}

/* A point and `width` digits of `fraction`, trailing zeros left out but never all of them. */
static void put_fraction(ttm_buf *buf, uint64_t fraction, size_t width) {
  char digits[24];
  digits[0] = '.';
  for (size_t i = width; i > 0; i--, fraction /= 10) digits[i] = (char)('0' + fraction % 10);
  while (width > 1 && digits[width] == '0') width--;
  ttm_buf_put(buf, (ttm_str){digits, width + 1});
}

void ttm_json_milli(ttm_buf *buf, int64_t thousandths) {
  if (thousandths < 0) ttm_buf_char(buf, '-');
  uint64_t size = thousandths < 0 ? 0 - (uint64_t)thousandths : (uint64_t)thousandths;
  ttm_buf_u64(buf, size / 1000);
  put_fraction(buf, size % 1000, 3);
}

/* Twenty binary places end after at most twenty decimal places, so this is exact; byte counts are seldom odd and end
 * sooner. */
void ttm_json_mib(ttm_buf *buf, uint64_t bytes) {
  const uint64_t mask = ((uint64_t)1 << 20) - 1;
  ttm_buf_u64(buf, bytes >> 20);
  uint64_t rest = bytes & mask;
  char digits[21] = ".0";
  size_t n = rest ? 1 : 2;
  for (; rest; rest &= mask) {
    rest *= 10;
    digits[n++] = (char)('0' + (rest >> 20));
  }
  ttm_buf_put(buf, (ttm_str){digits, n});
}

void ttm_json_mib_diff(ttm_buf *buf, uint64_t a, uint64_t b) {
  if (a < b) ttm_buf_char(buf, '-');
  ttm_json_mib(buf, a < b ? b - a : a - b);
}

void ttm_json_percent(ttm_buf *buf, uint64_t a, uint64_t b, uint64_t whole) {
  const uint64_t scale = 1000000000000000u; /* 15 decimals */
  if (whole == 0) {
    ttm_buf_puts(buf, "0.0");
    return;
  }
  if (a < b) ttm_buf_char(buf, '-');
  __uint128_t part = (__uint128_t)(a < b ? b - a : a - b) * 100;
  __uint128_t units = part / whole; /* up to 71 bits only when `whole` is tiny and `part` absurd */
  __uint128_t fraction = (part % whole * scale + whole / 2) / whole;
  if (fraction == scale) units++, fraction = 0;
  if (units > UINT64_MAX) units = UINT64_MAX;
  ttm_buf_u64(buf, (uint64_t)units);
  put_fraction(buf, (uint64_t)fraction, 15);
}

void ttm_json_double(ttm_buf *buf, double value) {
  if (!isfinite(value)) {
    ttm_buf_puts(buf, "null");
    return;
  }
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  for (char *c = text; *c; c++) {
    if (*c == ',') *c = '.'; /* a program using this library may have set a locale */
  }
  ttm_buf_puts(buf, text);
  if (!strpbrk(text, ".e")) ttm_buf_puts(buf, ".0");
}
