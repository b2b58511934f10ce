/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the wire form of protocol buffers, for writers whose messages are small: an inner one is put into a buffer of its own first. */
#ifndef TTM_REPORT_EXPORT_PROTOBUF_H
#define TTM_REPORT_EXPORT_PROTOBUF_H

#include "base/buf.h"

static inline void ttm_proto_varint(ttm_buf *out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) ttm_buf_char(out, (char)(value | 0x80));
  ttm_buf_char(out, (char)value);
}

static inline void ttm_proto_number(ttm_buf *out, uint32_t field, uint64_t value) {
  ttm_proto_varint(out, (uint64_t)field << 3);
  ttm_proto_varint(out, value);
}

static inline void ttm_proto_bytes(ttm_buf *out, uint32_t field, ttm_str bytes) {
  ttm_proto_varint(out, (uint64_t)field << 3 | 2);
  ttm_proto_varint(out, bytes.n);
  ttm_buf_put(out, bytes);
}

/* Puts an inner message and empties its buffer. */
static inline void ttm_proto_message(ttm_buf *out, uint32_t field, ttm_buf *inner) {
  ttm_proto_bytes(out, field, ttm_buf_str(inner));
  ttm_buf_clear(inner);
}

#endif
