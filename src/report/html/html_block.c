/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html_block.h"

#include <zlib.h>

enum { PACKED_CHUNK = 3 * 16384, INPUT_CHUNK = 1 << 30, LEVEL = 6 };

void ttm_html_block_number(ttm_html_block *block, uint64_t value) {
  if (!ttm_buf_room(&block->raw, 10)) return;
  char *at = block->raw.at + block->raw.n;
  for (; value >= 0x80; value >>= 7) *at++ = (char)(value | 0x80);
  *at++ = (char)value;
  block->raw.n = (size_t)(at - block->raw.at);
}

void ttm_html_block_delta(ttm_html_block *block, int64_t value) {
  uint64_t difference = (uint64_t)value - (uint64_t)block->last;
  block->last = value;
  /* Small negative numbers must be small too: 0, -1, 1, -2 become 0, 1, 2, 3. */
  ttm_html_block_number(block, difference << 1 ^ (0 - (difference >> 63)));
}

static void put_base64(ttm_buf *out, const unsigned char *p, size_t n) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (!ttm_buf_room(out, (n + 2) / 3 * 4)) return;
  char *at = out->at + out->n;
  for (; n >= 3; n -= 3, p += 3) {
    uint32_t three = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
    for (int shift = 18; shift >= 0; shift -= 6) *at++ = letters[three >> shift & 63];
  }
  if (n) {
    uint32_t rest = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0);
    *at++ = letters[rest >> 18 & 63];
    *at++ = letters[rest >> 12 & 63];
    *at++ = n > 1 ? letters[rest >> 6 & 63] : '=';
    *at++ = '=';
  }
  out->n = (size_t)(at - out->at);
}

/* Compresses all of `text`; whole groups of three bytes go out as they come, so only the last piece is padded. */
static int put_packed(z_stream *z, ttm_str text, unsigned char *packed, ttm_out *out) {
  int state;
  z->next_out = packed;
  z->avail_out = PACKED_CHUNK;
  do {
    if (!z->avail_in) {
      size_t n = text.n < INPUT_CHUNK ? text.n : INPUT_CHUNK;
      z->next_in = (Bytef *)text.p;
      z->avail_in = (uInt)n;
      text = ttm_str_from(text, n);
    }
    state = deflate(z, text.n ? Z_NO_FLUSH : Z_FINISH);
    if (state == Z_STREAM_ERROR) return TTM_ENOMEM;
    if (z->avail_out && state != Z_STREAM_END) continue;
    put_base64(&out->buf, packed, PACKED_CHUNK - z->avail_out);
    ttm_out_flow(out);
    z->next_out = packed;
    z->avail_out = PACKED_CHUNK;
  } while (state != Z_STREAM_END);
  return TTM_OK;
}

int ttm_html_block_write_text(ttm_str text, const char *id, ttm_out *out) {
  z_stream z = {0};
  unsigned char *packed = ttm_realloc(NULL, PACKED_CHUNK);
  int code = packed && deflateInit(&z, LEVEL) == Z_OK ? TTM_OK : TTM_ENOMEM;
  if (!code) {
    ttm_buf_printf(&out->buf, "<script type=\"text/plain\" id=\"data.%s\">", id);
    code = put_packed(&z, text, packed, out);
    ttm_buf_puts(&out->buf, "</script>\n");
    deflateEnd(&z);
  }
  ttm_free(packed);
  return code;
}

int ttm_html_block_write(ttm_html_block *block, const char *id, ttm_out *out) {
  int code = block->raw.failed ? TTM_ENOMEM : ttm_html_block_write_text(ttm_buf_str(&block->raw), id, out);
  ttm_buf_clear(&block->raw);
  block->last = 0;
  return code;
}

void ttm_html_block_free(ttm_html_block *block) {
  ttm_buf_free(&block->raw);
  *block = (ttm_html_block){0};
}
