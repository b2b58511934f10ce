/* SPDX-License-Identifier: Apache-2.0 */
/* A growing run of bytes to write text into. Zero is empty; the owner frees it.
 * After a failed allocation `failed` stays set and every further append does nothing, so a writer checks once at the end. */
#ifndef TTM_BASE_BUF_H
#define TTM_BASE_BUF_H

#include <stdarg.h>

#include "base/str.h"
#include "base/vec.h"

typedef struct ttm_buf {
  char *at;
  size_t n, cap;
  bool failed;
} ttm_buf;

bool ttm_buf_grow_(ttm_buf *buf, size_t extra);

/* Room for `extra` more bytes; false when there is none. */
static inline bool ttm_buf_room(ttm_buf *buf, size_t extra) {
  return extra <= buf->cap - buf->n ? !buf->failed : ttm_buf_grow_(buf, extra);
}

void ttm_buf_put(ttm_buf *buf, ttm_str bytes);
void ttm_buf_char(ttm_buf *buf, char c);
void ttm_buf_u64(ttm_buf *buf, uint64_t value);
void ttm_buf_printf(ttm_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ttm_buf_vprintf(ttm_buf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void ttm_buf_free(ttm_buf *buf);
/* The text with a NUL behind it, freed with ttm_free; NULL without memory. The buffer is empty then. */
char *ttm_buf_take(ttm_buf *buf);

/* A string literal or C string. */
#define ttm_buf_puts(buf, s) ttm_buf_put((buf), ttm_str_of(s))

static inline void ttm_buf_clear(ttm_buf *buf) { buf->n = 0; }

/* What a failed buffer shows: nothing, at an address of its own, so that a text with a hole is not taken for a whole one. */
extern const struct ttm_lost {
  char before; /* an empty text at the end of another object has another address */
  char text[1];
} ttm_lost;
static inline ttm_str ttm_buf_str(const ttm_buf *buf) {
  return buf->failed ? (ttm_str){ttm_lost.text, 0} : (ttm_str){buf->at ? buf->at : "", buf->n};
}

/* A buffer that takes in what another one lost has failed too. ttm_buf_put sees to it; writers that go through a text byte by
 * byte call this first. */
static inline void ttm_buf_follow(ttm_buf *buf, ttm_str text) { buf->failed |= text.p == ttm_lost.text; }

#endif
