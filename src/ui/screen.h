/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal, as far as the panels need it. Foreign text goes through ttm_screen_text or a text that ttm_put_text wrote:
 * nothing else may carry bytes of a log to the terminal. */
#ifndef TTM_UI_SCREEN_H
#define TTM_UI_SCREEN_H

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"

enum { TTM_CLASS_STYLES = 8 };

typedef enum ttm_style {
  TTM_STYLE_PLAIN,
  TTM_STYLE_BOLD,
  TTM_STYLE_DIM,
  TTM_STYLE_GOOD,
  TTM_STYLE_WARN,
  TTM_STYLE_BAD,
  TTM_STYLE_ACCENT,
  TTM_STYLE_BAR,      /* title line and line of keys */
  TTM_STYLE_SELECTED, /* the row the cursor is on */
  TTM_STYLE_CLASS,    /* cells of memory by their class: this and the next, one for each ... */
  TTM_STYLE_EDGE = TTM_STYLE_CLASS + TTM_CLASS_STYLES, /* ... and their edges */
  TTM_STYLES = TTM_STYLE_EDGE + TTM_CLASS_STYLES
} ttm_style;

typedef struct ttm_screen {
  int rows, columns; /* of the terminal; body: row 1 to rows - 2 */
  bool utf8, color;
  void *term;
} ttm_screen;

enum { TTM_MIN_COLUMNS = 40, TTM_MIN_ROWS = 12 };

/* Keys, as a panel sees them: letters as themselves, and these. */
enum {
  TTM_KEY_NONE = -1,
  TTM_KEY_TAB = '\t',
  TTM_KEY_ENTER = '\n',
  TTM_KEY_ESCAPE = 27,
  TTM_KEY_ERASE = 127,
  TTM_KEY_UP = 0x1000,
  TTM_KEY_DOWN,
  TTM_KEY_LEFT,
  TTM_KEY_RIGHT,
  TTM_KEY_PAGE_UP,
  TTM_KEY_PAGE_DOWN,
  TTM_KEY_HOME,
  TTM_KEY_END,
  TTM_KEY_DELETE,
  TTM_KEY_BACK_TAB,
  TTM_KEY_RESIZED,
  TTM_KEY_OTHER,
};

/* TTM_EUSAGE when the terminal is unknown to this machine. */
int ttm_screen_open(ttm_screen *screen, bool utf8, bool color, ttm_error *err);
void ttm_screen_close(ttm_screen *screen);

/* Gives the terminal to somebody else, and takes it back. */
void ttm_screen_leave(ttm_screen *screen);
void ttm_screen_return(ttm_screen *screen);

/* The next key; TTM_KEY_NONE after `milliseconds` without one. */
int ttm_screen_key(ttm_screen *screen, int milliseconds);

/* True when the next key follows at once: it was pasted, not typed. */
bool ttm_screen_has_key(ttm_screen *screen);

void ttm_screen_clear(ttm_screen *screen);
void ttm_screen_show(ttm_screen *screen);

/* Our own words, and text that ttm_put_text made harmless; cut at the right edge. Returns the column after it. */
int ttm_screen_words(ttm_screen *screen, int row, int column, ttm_style style, const char *words);
int ttm_screen_view(ttm_screen *screen, int row, int column, ttm_style style, ttm_str words);
/* Foreign text, in at most `width` columns. */
int ttm_screen_text(ttm_screen *screen, int row, int column, ttm_style style, ttm_str text, int width);
/* printf, for numbers and our own words. */
int ttm_screen_print(ttm_screen *screen, int row, int column, ttm_style style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void ttm_screen_fill(ttm_screen *screen, int row, ttm_style style);
/* Where the typing goes; without a call the cursor is hidden. */
void ttm_screen_cursor(ttm_screen *screen, int row, int column);

/* One of two signs: for terminals that show UTF-8, and for those that do not. */
static inline const char *ttm_sign(const ttm_screen *screen, const char *utf8, const char *ascii) {
  return screen->utf8 ? utf8 : ascii;
}

static inline ttm_text_form ttm_screen_form(const ttm_screen *screen) {
  return screen->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII;
}

/* Above 90 % bad, above 80 % a warning. */
static inline ttm_style ttm_style_of(double percent) {
  return percent > 90 ? TTM_STYLE_BAD : percent > 80 ? TTM_STYLE_WARN : TTM_STYLE_GOOD;
}

/* ---- A row among many --------------------------------------------------------------------------------------------- */

typedef struct ttm_cursor {
  size_t n, at, top; /* rows, the chosen one, the first one on the screen */
  size_t page;       /* rows on the screen */
} ttm_cursor;

/* Arrows, j k, g G, page keys. True when the key was one of them. */
bool ttm_cursor_key(ttm_cursor *cursor, int key);

#endif
