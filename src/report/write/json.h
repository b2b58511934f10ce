/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text, written member by member into a buffer: no tree, no printf for what is written per operation. The writer sets commas,
 * quotes, colons and line breaks.
 *
 *   ttm_json j = {.out = buf};
 *   ttm_json_put_sections(&j, NULL);                 {
 *   ttm_json_put_u64(&j, "bytes", 7);                "bytes":7,
 *   ttm_json_put_rows(&j, "names");                  "names":[
 *   ttm_json_put_str(&j, NULL, TTM_LIT("a"));        "a",
 *   ttm_json_put_str(&j, NULL, TTM_LIT("b"));        "b"
 *   ttm_json_end(&j);                                ]
 *   ttm_json_end(&j);                                }
 *   return ttm_json_finish(&j);
 *
 * Every put takes the key of the member; NULL in an array and for the document itself. Keys are ours and need no escaping.
 * Whatever the strings hold, the output is valid UTF-8 and valid JSON: bytes that are no UTF-8 become U+FFFD. */
#ifndef TTM_REPORT_JSON_H
#define TTM_REPORT_JSON_H

#include "base/buf.h"
#include "ttmem/error.h"

/* Zero but for `out`, `spaced` and `tall`. Containers may be 64 deep. */
typedef struct ttm_json {
  ttm_buf *out;     /* borrowed; what it loses for lack of memory ttm_json_finish tells */
  bool spaced;      /* {"a": 1, "b": 2} instead of {"a":1,"b":2}, and lines are indented: for people */
  bool tall;        /* spaced, and brackets around lines stand on lines of their own: for files that are reviewed */
  bool later;       /* the innermost container has a member: a comma comes before the next one */
  bool plain;       /* the next member needs its key, a comma before it at most, and nothing else */
  bool keyed;       /* ttm_json_put_key wrote the key of the value that comes next */
  bool misused;     /* a key where none belongs, none where one does, an end too many or too few */
  uint32_t depth;   /* containers begun and not ended */
  uint64_t objects; /* of those, the innermost in the lowest bit: is it an object? */
  uint64_t lines;   /* likewise: does each member have its own line? */
} ttm_json;

/* ---- The text of values ------------------------------------------------------------------------------------------ */

/* A string with its quotes. */
void ttm_json_string(ttm_buf *buf, ttm_str text);
/* The same without quotes. Whole characters only: a cut UTF-8 sequence counts as invalid. */
void ttm_json_escape(ttm_buf *buf, ttm_str text);
/* Nothing escaped, only bytes that are no UTF-8 become U+FFFD. */
void ttm_put_utf8(ttm_buf *buf, ttm_str text);
void ttm_json_i64(ttm_buf *buf, int64_t value);
/* null for UINT64_MAX, the mark of a number nobody gave. */
void ttm_json_known(ttm_buf *buf, uint64_t value);
/* Thousandths: 430 -> 0.43, 1021169 -> 1021.169, 0 -> 0.0, -1 -> -0.001. */
void ttm_json_milli(ttm_buf *buf, int64_t thousandths);
/* Bytes as MiB, all digits: 1 MiB = 1.0, 393216 -> 0.375. */
void ttm_json_mib(ttm_buf *buf, uint64_t bytes);
/* a - b, as MiB. */
void ttm_json_mib_diff(ttm_buf *buf, uint64_t a, uint64_t b);
/* 100 * (a - b) / whole to 15 decimals; 0.0 when whole is 0. */
void ttm_json_percent(ttm_buf *buf, uint64_t a, uint64_t b, uint64_t whole);
/* The shortest decimal that reads back as the same double; null when it is not finite. */
void ttm_json_double(ttm_buf *buf, double value);

/* ---- Keys and containers ----------------------------------------------------------------------------------------- */

ttm_buf *ttm_json_at_(ttm_json *j, const char *key, size_t n);
void ttm_json_begin_(ttm_json *j, char bracket, bool lines);

/* What stands before a value. The caller appends the value itself to the buffer this returns. Inline, because a key is mostly a literal:
 * its length is known then, and it costs a few moves. */
static inline ttm_buf *ttm_json_at(ttm_json *j, const char *key) {
  ttm_buf *out = j->out;
  size_t n = key ? strlen(key) : 0;
  if (!key || !j->plain || n + 4 > out->cap - out->n) return ttm_json_at_(j, key, n);
  char *at = out->at + out->n;
  *at = ',';
  at += j->later;
  *at = '"';
  memcpy(at + 1, key, n);
  memcpy(at + 1 + n, "\":", 2);
  out->n += n + 3 + j->later;
  j->later = true;
  return out;
}

/* A key from outside, which is escaped. The put of its value takes NULL for a key. */
void ttm_json_put_key(ttm_json *j, ttm_str key);

static inline void ttm_json_put_object(ttm_json *j, const char *key) {
  ttm_json_at(j, key);
  ttm_json_begin_(j, '{', false);
}
static inline void ttm_json_put_array(ttm_json *j, const char *key) {
  ttm_json_at(j, key);
  ttm_json_begin_(j, '[', false);
}
/* An object whose members begin lines: {"a":1,\n"b":2} */
static inline void ttm_json_put_sections(ttm_json *j, const char *key) {
  ttm_json_at(j, key);
  ttm_json_begin_(j, '{', true);
}
/* An array whose members have a line each: [\n1,\n2\n] */
static inline void ttm_json_put_rows(ttm_json *j, const char *key) {
  ttm_json_at(j, key);
  ttm_json_begin_(j, '[', true);
}
/* Closes the innermost container. */
void ttm_json_end(ttm_json *j);

/* The line break behind a document. TTM_OK, TTM_ENOMEM, or TTM_EUSAGE after a misuse (a bug of the caller). */
int ttm_json_finish(ttm_json *j);

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static inline void ttm_json_put_null(ttm_json *j, const char *key) {
  ttm_buf_put(ttm_json_at(j, key), TTM_LIT("null"));
}
static inline void ttm_json_put_bool(ttm_json *j, const char *key, bool value) {
  ttm_buf_put(ttm_json_at(j, key), value ? TTM_LIT("true") : TTM_LIT("false"));
}
static inline void ttm_json_put_u64(ttm_json *j, const char *key, uint64_t value) {
  ttm_buf_u64(ttm_json_at(j, key), value);
}
static inline void ttm_json_put_i64(ttm_json *j, const char *key, int64_t value) {
  ttm_json_i64(ttm_json_at(j, key), value);
}
static inline void ttm_json_put_known(ttm_json *j, const char *key, uint64_t value) {
  ttm_json_known(ttm_json_at(j, key), value);
}
static inline void ttm_json_put_milli(ttm_json *j, const char *key, int64_t thousandths) {
  ttm_json_milli(ttm_json_at(j, key), thousandths);
}
static inline void ttm_json_put_mib(ttm_json *j, const char *key, uint64_t bytes) {
  ttm_json_mib(ttm_json_at(j, key), bytes);
}
static inline void ttm_json_put_mib_diff(ttm_json *j, const char *key, uint64_t a, uint64_t b) {
  ttm_json_mib_diff(ttm_json_at(j, key), a, b);
}
static inline void ttm_json_put_percent(ttm_json *j, const char *key, uint64_t a, uint64_t b, uint64_t whole) {
  ttm_json_percent(ttm_json_at(j, key), a, b, whole);
}
static inline void ttm_json_put_double(ttm_json *j, const char *key, double value) {
  ttm_json_double(ttm_json_at(j, key), value);
}
/* A fixed number of decimals. */
static inline void ttm_json_put_fixed(ttm_json *j, const char *key, double value, int decimals) {
  ttm_buf_printf(ttm_json_at(j, key), "%.*f", decimals, value);
}
static inline void ttm_json_put_str(ttm_json *j, const char *key, ttm_str text) {
  ttm_json_string(ttm_json_at(j, key), text);
}
/* null for an empty one. */
static inline void ttm_json_put_known_str(ttm_json *j, const char *key, ttm_str text) {
  ttm_buf_follow(j->out, text);
  text.n ? ttm_json_put_str(j, key, text) : ttm_json_put_null(j, key);
}
/* A name out of a table; null for NULL. */
static inline void ttm_json_put_name(ttm_json *j, const char *key, const char *name) {
  name ? ttm_json_put_str(j, key, ttm_str_of(name)) : ttm_json_put_null(j, key);
}
/* Words gathered in a buffer of their own, which is freed. */
static inline void ttm_json_put_words(ttm_json *j, const char *key, ttm_buf *words) {
  ttm_json_put_str(j, key, ttm_buf_str(words));
  ttm_buf_free(words);
}
/* JSON that was written before. */
static inline void ttm_json_put_raw(ttm_json *j, const char *key, ttm_str json) {
  ttm_buf_put(ttm_json_at(j, key), json);
}

#endif
