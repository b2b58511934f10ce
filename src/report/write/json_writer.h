/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text, appended to a buffer piece by piece; no tree, no printf for what is written per operation.
 * Whatever the strings hold, the output is valid UTF-8 and valid JSON: bytes that are no UTF-8 become U+FFFD. */
#ifndef TTM_REPORT_JSON_WRITER_H
#define TTM_REPORT_JSON_WRITER_H

#include "base/buf.h"

/* Literal text, such as keys with their quotes. */
#define ttm_json_raw(buf, literal) ttm_buf_put((buf), TTM_LIT(literal))

/* A string with its quotes. */
void ttm_json_string(ttm_buf *buf, ttm_str text);
/* The same without quotes. Whole characters only: a cut UTF-8 sequence counts as invalid. */
void ttm_json_escape(ttm_buf *buf, ttm_str text);

static inline void ttm_json_null(ttm_buf *buf) { ttm_json_raw(buf, "null"); }
static inline void ttm_json_bool(ttm_buf *buf, bool value) {
  ttm_buf_put(buf, value ? TTM_LIT("true") : TTM_LIT("false"));
}
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

/* A value behind its key, which is written as it stands: ",\"bytes\":". */
static inline void ttm_json_key_u64(ttm_buf *buf, const char *key, uint64_t value) {
  ttm_buf_puts(buf, key);
  ttm_buf_u64(buf, value);
}
static inline void ttm_json_key_known(ttm_buf *buf, const char *key, uint64_t value) {
  ttm_buf_puts(buf, key);
  ttm_json_known(buf, value);
}
static inline void ttm_json_key_mib(ttm_buf *buf, const char *key, uint64_t bytes) {
  ttm_buf_puts(buf, key);
  ttm_json_mib(buf, bytes);
}

/* Writes the members of an object or array that come one by one: the comma before all but the first. */
typedef struct ttm_json_comma {
  bool later;
} ttm_json_comma;
static inline void ttm_json_next(ttm_buf *buf, ttm_json_comma *comma, ttm_str between) {
  if (comma->later) ttm_buf_put(buf, between);
  comma->later = true;
}

#endif
