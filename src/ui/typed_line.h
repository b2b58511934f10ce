/* SPDX-License-Identifier: Apache-2.0 */
/* A short line of text that is typed: a search, a filter. */
#ifndef TTM_UI_TYPED_LINE_H
#define TTM_UI_TYPED_LINE_H

#include "ui/screen.h"

enum { TTM_TYPED_BYTES = 64 };

/* Zero is empty. */
typedef struct ttm_typed_line {
  char text[TTM_TYPED_BYTES + 1]; /* NUL-terminated */
  size_t n;
  bool typing; /* keys are for it */
} ttm_typed_line;

/* Enter ends the typing, Esc too and empties the line, Backspace takes a character back. True when the text changed. */
bool ttm_typed_key(ttm_typed_line *line, int key);

/* True when the text holds what was typed; letter case does not matter. Nothing typed is in every text. */
bool ttm_typed_is_in(const ttm_typed_line *line, ttm_str text);

/* "search: text", with the cursor behind it while it is typed; nothing when there is neither. Returns the column after it. To be
 * called last: it places the cursor. */
int ttm_typed_draw(ttm_screen *screen, int row, int column, const char *label, const ttm_typed_line *line);

/* Length of the text without its last character. */
size_t ttm_typed_erased(const char *text, size_t n);

#endif
