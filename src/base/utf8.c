/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <utf8proc.h>

uint32_t ttm_utf8_first(ttm_str text, size_t *length) {
  utf8proc_int32_t c = (unsigned char)text.p[0];
  utf8proc_ssize_t n = c < 0x80 ? 1 : utf8proc_iterate((const utf8proc_uint8_t *)text.p, (utf8proc_ssize_t)text.n, &c);
  *length = n > 0 ? (size_t)n : 1;
  return n > 0 ? (uint32_t)c : TTM_UTF8_BROKEN;
}

size_t ttm_utf8_length(ttm_str text) {
  size_t length;
  ttm_utf8_first(text, &length);
  return length;
}

static bool goes_on(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

ttm_str ttm_utf8_head(ttm_str text, size_t bytes) {
  if (bytes >= text.n) return text;
  size_t n = bytes;
  while (n && bytes - n < TTM_UTF8_BYTES - 1 && goes_on(text.p[n])) n--;
  return ttm_str_first(text, n && !goes_on(text.p[n]) ? n : bytes);
}

size_t ttm_utf8_put(char to[TTM_UTF8_BYTES], uint32_t c) {
  return (size_t)utf8proc_encode_char((utf8proc_int32_t)c, (utf8proc_uint8_t *)to);
}

void ttm_put_character(ttm_buf *out, uint32_t c) {
  char bytes[TTM_UTF8_BYTES];
  ttm_buf_put(out, (ttm_str){bytes, ttm_utf8_put(bytes, c)});
}

unsigned ttm_utf8_columns(uint32_t c) { return c < 0x80 ? 1 : (unsigned)utf8proc_charwidth((utf8proc_int32_t)c); }

/* Default_Ignorable_Code_Point of Unicode has characters to come, too, which utf8proc knows nothing of; two more have a width, but no ink. */
static bool is_blank(uint32_t c) {
  return (c >= 0xE0000 && c <= 0xE0FFF) || (c >= 0xFFF0 && c <= 0xFFF8) || c == 0x2065 || c == 0x2800 || c == 0x1D159;
}

bool ttm_utf8_hides(uint32_t c) {
  if (c < 0x80) return c < 0x20 || c == 0x7F;
  /* No characters; XML refuses U+FFFE and U+FFFF. */
  if ((c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF) || is_blank(c)) return true;
  const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)c);
  return p->ignorable || p->category == UTF8PROC_CATEGORY_CC || p->category == UTF8PROC_CATEGORY_CF ||
         p->category == UTF8PROC_CATEGORY_ZL || p->category == UTF8PROC_CATEGORY_ZP;
}
