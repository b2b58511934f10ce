/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of texts that may hold any bytes. utf8proc reads, writes, measures and sorts them. */
#ifndef TTM_BASE_UTF8_H
#define TTM_BASE_UTF8_H

#include "base/buf.h"

enum { TTM_UTF8_BROKEN = 0xFFFD, TTM_UTF8_BYTES = 4 };

/* The first character of a text that is not empty, and its length in bytes. Bytes that are no UTF-8 (cut, overlong, a surrogate, past
 * U+10FFFF) are U+FFFD, one at a time. */
uint32_t ttm_utf8_first(ttm_str text, size_t *length);

/* Its length alone. */
size_t ttm_utf8_length(ttm_str text);

/* At most so many bytes from the start of a text, ending between two characters where there are any. Empty only if one of both is. */
ttm_str ttm_utf8_head(ttm_str text, size_t bytes);

/* Writes a character; gives its length. */
size_t ttm_utf8_put(char to[TTM_UTF8_BYTES], uint32_t c);
void ttm_put_character(ttm_buf *out, uint32_t c);

/* Columns of a terminal: 0 for what is put over the character before, 2 for wide ones. */
unsigned ttm_utf8_columns(uint32_t c);

/* True for a character that is not seen but does something: commands a terminal, ends a line, turns or joins what is around it, or hides
 * in a name. */
bool ttm_utf8_hides(uint32_t c);

#endif
