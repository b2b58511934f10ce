/* SPDX-License-Identifier: Apache-2.0 */
/* The former way to write JSON, with commas and quotes by hand. Goes away with its last caller: use report/write/json.h. */
#ifndef TTM_REPORT_JSON_WRITER_H
#define TTM_REPORT_JSON_WRITER_H

#include "report/write/json.h"

#define ttm_json_raw(buf, literal) ttm_buf_put((buf), TTM_LIT(literal))
static inline void ttm_json_null(ttm_buf *buf) { ttm_json_raw(buf, "null"); }
static inline void ttm_json_bool(ttm_buf *buf, bool value) {
  ttm_buf_put(buf, value ? TTM_LIT("true") : TTM_LIT("false"));
}
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

typedef struct ttm_json_comma {
  bool later;
} ttm_json_comma;
static inline void ttm_json_next(ttm_buf *buf, ttm_json_comma *comma, ttm_str between) {
  if (comma->later) ttm_buf_put(buf, between);
  comma->later = true;
}

#endif
