/* SPDX-License-Identifier: Apache-2.0 */
/* Finding one's way in MLIR text by bracket depth: () [] {} <> must pair up, strings ("..." with \ escapes) are opaque,
 * and `->`, `<=`, `>=` are not brackets. Every call is one pass over the bytes it skips; nesting beyond TTM_SCAN_DEPTH
 * counts as broken, so no input can make a scan recurse or grow. */
#ifndef TTM_PARSE_MLIR_SCAN_H
#define TTM_PARSE_MLIR_SCAN_H

#include "base/buf.h"
#include "base/str.h"

enum { TTM_SCAN_DEPTH = 256 };

/* Blank as MLIR sees it: space, tab, CR, LF. */
static inline bool ttm_scan_is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
ttm_str ttm_scan_trim(ttm_str text);
void ttm_scan_skip_space(ttm_str *text);

/* A byte of a name after its sigil: letters, digits, _ $ . - */
bool ttm_scan_is_name(char c);
/* Takes a run of them; may be empty. */
ttm_str ttm_scan_take_name(ttm_str *text);

/* Offset of the bracket that closes the one at `open`; TTM_NOT_FOUND when there is none or the brackets between are
 * broken. */
size_t ttm_scan_close(ttm_str text, size_t open);

/* The same, looking at no more than *budget bytes and taking those it looked at from it, found or not: for texts in which many brackets may
 * not close. */
size_t ttm_scan_close_in(ttm_str text, size_t open, size_t *budget);

/* Takes the bracket at the start of the text with its partner; *inside is what stands between. */
bool ttm_scan_take_bracketed(ttm_str *text, ttm_str *inside);

/* Offset of the first `stop` outside every bracket and string at or after `from`; text.n when there is none;
 * TTM_NOT_FOUND when brackets or strings are broken on the way. */
size_t ttm_scan_find(ttm_str text, size_t from, char stop);

/* Offset just behind the string whose opening quote stands at `quote`; TTM_NOT_FOUND when it does not end. */
size_t ttm_scan_string_end(ttm_str text, size_t quote);

/* The pieces between top-level commas: `ttm_pieces it = {text, false}; while (ttm_pieces_next(&it, &piece)) ...` */
typedef struct ttm_pieces {
  ttm_str rest;
  bool broken; /* set when the brackets did not pair up: the pieces given so far are all there is */
} ttm_pieces;

/* Next trimmed, non-empty piece; false at the end. */
bool ttm_pieces_next(ttm_pieces *it, ttm_str *piece);

/* Appends the inside of a string with its escapes undone: \22 (two hex digits), \n \t \" \\; others stay as they are.
 */
void ttm_scan_unescape(ttm_str inside, ttm_buf *out);

#endif
