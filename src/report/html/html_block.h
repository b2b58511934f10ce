/* SPDX-License-Identifier: Apache-2.0 */
/* Data inside the page: a column of numbers or a text becomes one <script type="text/plain"> element that holds
 * base64(zlib(bytes)). Only letters of the base64 alphabet reach the page, so nothing from a log can become markup. */
#ifndef TTM_REPORT_HTML_BLOCK_H
#define TTM_REPORT_HTML_BLOCK_H

#include "base/out_file.h"

/* A column being gathered. Zero is empty; freed with ttm_html_block_free. */
typedef struct ttm_html_block {
  ttm_buf raw;
  int64_t last; /* value that the next ttm_html_block_delta is compared with */
} ttm_html_block;

/* An unsigned number in as few bytes as it needs (LEB128). */
void ttm_html_block_number(ttm_html_block *block, uint64_t value);

/* The difference to the value before, so that slow changes take one byte. */
void ttm_html_block_delta(ttm_html_block *block, int64_t value);

/* Writes the column into the page as element "data.<id>" (letters, digits, '.') and empties it. 0, TTM_ENOMEM. */
int ttm_html_block_write(ttm_html_block *block, const char *id, ttm_out *out);

/* The same for a text that stands elsewhere. */
int ttm_html_block_write_text(ttm_str text, const char *id, ttm_out *out);

void ttm_html_block_free(ttm_html_block *block);

#endif
