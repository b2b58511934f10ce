/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdio.h>

const struct ttm_lost ttm_lost = {0};

bool ttm_buf_grow_(ttm_buf *buf, size_t extra) {
  if (buf->failed) return false;
  if (extra > SIZE_MAX - buf->n || ttm_vec_grow_((void **)&buf->at, &buf->cap, buf->n + extra, 1)) buf->failed = true;
  return !buf->failed;
}

void ttm_buf_put(ttm_buf *buf, ttm_str bytes) {
  ttm_buf_follow(buf, bytes);
  if (!bytes.n || !ttm_buf_room(buf, bytes.n)) return;
  memcpy(buf->at + buf->n, bytes.p, bytes.n);
  buf->n += bytes.n;
}

void ttm_buf_char(ttm_buf *buf, char c) {
  if (ttm_buf_room(buf, 1)) buf->at[buf->n++] = c;
}

void ttm_buf_u64(ttm_buf *buf, uint64_t value) {
  char digits[20];
  size_t i = sizeof digits;
  do digits[--i] = (char)('0' + value % 10);
  while (value /= 10);
  ttm_buf_put(buf, (ttm_str){digits + i, sizeof digits - i});
}

void ttm_buf_vprintf(ttm_buf *buf, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  if (length > 0 && ttm_buf_room(buf, (size_t)length + 1)) {
    vsnprintf(buf->at + buf->n, (size_t)length + 1, format, again);
    buf->n += (size_t)length;
  }
  va_end(again);
}

void ttm_buf_printf(ttm_buf *buf, const char *format, ...) {
  va_list args;
  va_start(args, format);
  ttm_buf_vprintf(buf, format, args);
  va_end(args);
}

char *ttm_buf_take(ttm_buf *buf) {
  ttm_buf_char(buf, '\0');
  char *text = buf->at;
  if (buf->failed) text = NULL, ttm_free(buf->at);
  *buf = (ttm_buf){0};
  return text;
}

void ttm_buf_free(ttm_buf *buf) {
  ttm_free(buf->at);
  *buf = (ttm_buf){0};
}
