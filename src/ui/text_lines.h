/* SPDX-License-Identifier: Apache-2.0 */
/* Text on a part of the screen. It is ours or went through ttm_put_text; colours in it (as the summary writes them; 100 to 107 stand
 * for the classes of memory) are shown. Nothing is cut:
 * a line that is too long goes on in the next row, below its first word or, where the line has one, its tab. */
#ifndef TTM_UI_TEXT_LINES_H
#define TTM_UI_TEXT_LINES_H

#include "base/vec.h"
#include "ui/panel.h"

/* A row of the screen. */
typedef struct ttm_text_row {
  size_t at, n; /* bytes of the text */
  size_t line;  /* of the text */
  int indent;
  ttm_style style; /* it starts with */
} ttm_text_row;

typedef struct ttm_text_lines {
  ttm_buf text;
  TTM_VEC(ttm_text_row) rows;
  int columns; /* of the screen that the rows are for; 0: there are none yet */
  size_t top;
  size_t mark, mark_end; /* lines that are chosen; none when equal */
} ttm_text_lines;

/* Takes the buffer over, in any case. 0 or TTM_ENOMEM. */
int ttm_text_lines_take(ttm_text_lines *lines, ttm_buf *text);
void ttm_text_lines_free(ttm_text_lines *lines);

/* Rows `row` to row + height - 1; the last one says how much there is when not all fits. */
void ttm_text_lines_draw(ttm_text_lines *lines, ttm_screen *screen, int row, int height);

/* Brings the chosen lines, and the heading above the first, onto `height` rows. */
void ttm_text_lines_see(ttm_text_lines *lines, const ttm_screen *screen, int height);

/* Scrolls. True when the key was for it. */
bool ttm_text_lines_key(ttm_text_lines *lines, int key, int height);

/* How many rows it takes. */
int ttm_text_rows(const ttm_screen *screen, const ttm_buf *text);

/* Draws a text from that row on, below 0 on the last rows of the screen, and frees it. Gives the row below it. */
int ttm_draw_text(ttm_screen *screen, int row, ttm_buf *text);

/* ---- Rows that are written when they are seen ---------------------------------------------------------------------- */

/* Megabytes in TTM_FIGURE columns, to the right; below 0: blanks. */
enum { TTM_FIGURE = 9 };
void ttm_put_figure(ttm_buf *out, const char *sign, double mb);

/* Writes row `i` of a list. */
typedef void ttm_put_row(const void *view, const ttm_screen *screen, size_t i, ttm_buf *out);

/* The rows around the chosen one, on rows `row` to row + height - 1 of the screen. */
void ttm_list_draw(ttm_cursor *cursor, ttm_screen *screen, int row, int height, ttm_put_row *put, const void *view);

#endif
