/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a JSON object, one call each; the comma comes by itself. Names are ours and need no escaping. */
#ifndef TTM_REPORT_JSON_FIELDS_H
#define TTM_REPORT_JSON_FIELDS_H

#include "report/write/json_writer.h"

static inline void ttm_field(ttm_buf *out, ttm_json_comma *comma, const char *name) {
  ttm_json_next(out, comma, TTM_LIT(", "));
  ttm_buf_printf(out, "\"%s\": ", name);
}

/* null for UINT64_MAX, the mark of a number nobody gave. */
static inline void ttm_field_u64(ttm_buf *out, ttm_json_comma *comma, const char *name, uint64_t value) {
  ttm_field(out, comma, name);
  ttm_json_known(out, value);
}

/* One decimal. */
static inline void ttm_field_real(ttm_buf *out, ttm_json_comma *comma, const char *name, double value) {
  ttm_field(out, comma, name);
  ttm_buf_printf(out, "%.1f", value);
}

static inline void ttm_field_text(ttm_buf *out, ttm_json_comma *comma, const char *name, ttm_str value) {
  ttm_field(out, comma, name);
  ttm_json_string(out, value);
}

static inline void ttm_field_bool(ttm_buf *out, ttm_json_comma *comma, const char *name, bool value) {
  ttm_field(out, comma, name);
  ttm_json_bool(out, value);
}

#endif
