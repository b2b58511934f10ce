/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text on a part of the screen. The text is ours or went through ttm_put_text; colours in it (as the summary writes
 * them) are shown. */
#ifndef TTM_UI_TEXT_LINES_H
#define TTM_UI_TEXT_LINES_H

#include "base/vec.h"
#include "ui/panel.h"

typedef struct ttm_text_lines {
  ttm_buf text;
  TTM_VEC(size_t) starts;
  size_t top;
  size_t mark, mark_end; /* lines that are chosen; none when equal */
} ttm_text_lines;

/* Takes the buffer over, in any case. 0 or TTM_ENOMEM. */
int ttm_text_lines_take(ttm_text_lines *lines, ttm_buf *text);
void ttm_text_lines_free(ttm_text_lines *lines);

/* Rows `row` to row + height - 1; the last one says how much there is when not all fits. */
void ttm_text_lines_draw(ttm_text_lines *lines, ttm_screen *screen, int row, int height);

/* Brings the chosen lines, and the heading above the first, onto `height` rows. */
void ttm_text_lines_see(ttm_text_lines *lines, int height);

/* Scrolls. True when the key was for it. */
bool ttm_text_lines_key(ttm_text_lines *lines, int key, int height);

#endif
