/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and texts as people read them. Units exist only here: inside, sizes are bytes or 0.001 MB per bank.
 * Texts come out of logs and may hold anything; nothing leaves these functions that a terminal or a markdown reader would obey. */
#ifndef TTM_BASE_FORMAT_H
#define TTM_BASE_FORMAT_H

#include "base/buf.h"

/* MB is 1024 * 1024 bytes everywhere, as in the logs. */
#define TTM_MB 1048576.0
static inline double ttm_mib(uint64_t bytes) { return (double)bytes / TTM_MB; }
/* Of a level, which is 0.001 MB. */
static inline double ttm_mb(int64_t thousandths) { return (double)thousandths / 1000.0; }

/* "1,234,567", inside `room`. */
enum { TTM_COUNT_ROOM = 27 }; /* 20 digits, 6 commas and the end */
const char *ttm_count_text(char room[TTM_COUNT_ROOM], uint64_t n);
void ttm_put_count(ttm_buf *out, uint64_t n);

/* "1 run", "2 runs"; the plural is the noun with an "s". */
void ttm_put_counted(ttm_buf *out, uint64_t n, const char *noun);

/* Bytes in the unit that suits them: "1.95 MB", "384.0 KB", "512 B", "11.99 GB". */
void ttm_put_bytes(ttm_buf *out, uint64_t bytes);

/* Two of them in one unit: "11.5 of 12.0 GB". */
void ttm_put_pair(ttm_buf *out, uint64_t part, uint64_t whole);

/* Megabytes as tables and sentences show them, without the unit: "1,023.0", "12.25", "0.512", "0". Never finer than the log, 0.001 MB. */
void ttm_put_mb(ttm_buf *out, double mb);
/* The same for programs: no separators, to the byte. */
void ttm_put_plain_mb(ttm_buf *out, double mb);

/* part / whole in percent; 0 when the whole is 0. */
static inline double ttm_percent(double part, double whole) { return whole > 0 ? part / whole * 100.0 : 0.0; }

/* The terminal's colour of a memory that is so full: red above 90 %, yellow above 80, else green. */
const char *ttm_level_color(double percent);

/* The same as texts: "%s" with TTM_BYTES_TEXT(bytes) or TTM_COUNT_TEXT(n) in a sentence. They live to the end of the block. */
const char *ttm_bytes_text(char room[TTM_COUNT_ROOM], uint64_t bytes);
#define TTM_BYTES_TEXT(bytes) ttm_bytes_text((char[TTM_COUNT_ROOM]){0}, bytes)
#define TTM_COUNT_TEXT(n) ttm_count_text((char[TTM_COUNT_ROOM]){0}, n)

/* How a text may look where it goes. */
typedef enum ttm_text_form {
  TTM_FORM_MARKDOWN, /* inside a table cell or a sentence: nothing is markup, a link or a picture */
  TTM_FORM_COMMENT, /* the same where people are told of it, as on GitHub: nothing is a link, a mention, an image or markup */
  TTM_FORM_UTF8,  /* a terminal that shows UTF-8 */
  TTM_FORM_ASCII, /* a terminal that does not */
} ttm_text_form;

/* Appends a foreign text on one line: tabs and line ends become a blank, characters that hide '?', broken UTF-8 U+FFFD ('?' in ASCII). A text wider than `columns` loses its middle: both ends tell most of a location. */
void ttm_put_text(ttm_buf *out, ttm_str text, size_t columns, ttm_text_form form);

/* The same for a message, which may have several lines and names in them that must not reach a reader raw. Each ends with a line end. */
void ttm_put_lines(ttm_buf *out, ttm_str text);

/* Columns a text takes after ttm_put_text without shortening (escapes not counted; wide characters count two). */
size_t ttm_text_columns(ttm_str text);

/* Appends blanks until the line that began at byte `start` of `out` is `columns` wide; for text of ttm_put_text. */
void ttm_pad_to(ttm_buf *out, size_t start, size_t columns);

/* A column of 0 to 8 eighths of a line's height, in UTF-8. */
extern const char *const ttm_column_eighths[9];

/* A bar of `columns` columns, in eighths of one, or in '#' without UTF-8; anything above zero shows. Returns where in `out` its
 * empty part begins. */
size_t ttm_put_bar(ttm_buf *out, double percent, size_t columns, bool utf8);

/* Appends a text over as many lines as it takes, none wider than `columns` while its words allow: the first goes on at `column`, the others
 * start `indent` columns in. Ends without a line end; gives the number of lines. */
size_t ttm_put_paragraph(ttm_buf *out, ttm_str words, size_t column, size_t indent, size_t columns, ttm_text_form form);

/* A field of CSV (RFC 4180): in quotes where it needs them, characters that hide written out, ' before what a spreadsheet would compute. */
void ttm_put_csv(ttm_buf *out, ttm_str text);

/* A word as a shell would need it typed: quoted only where it must be. */
void ttm_put_shell_word(ttm_buf *out, const char *word);
/* The same for the name of a file, which is none of our options either: "./-x.log". */
void ttm_put_shell_path(ttm_buf *out, const char *path);

#endif
