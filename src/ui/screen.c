/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#define NCURSES_WIDECHAR 1
#include "ui/screen.h"

#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

/* ---- Open and close ------------------------------------------------------------------------------------------------ */

static void make_colors(ttm_screen *screen) {
  screen->color = screen->color && has_colors();
  if (!screen->color) return;
  start_color();
  use_default_colors();
  init_pair(TTM_STYLE_GOOD, COLOR_GREEN, -1);
  init_pair(TTM_STYLE_WARN, COLOR_YELLOW, -1);
  init_pair(TTM_STYLE_BAD, COLOR_RED, -1);
  init_pair(TTM_STYLE_ACCENT, COLOR_CYAN, -1);
  static const short papers[TTM_CLASS_STYLES] = {COLOR_BLUE,   COLOR_CYAN, COLOR_MAGENTA, COLOR_GREEN,
                                                 COLOR_YELLOW, COLOR_RED,  COLOR_WHITE,   COLOR_BLACK};
  static const short inks[TTM_CLASS_STYLES] = {COLOR_WHITE, COLOR_BLACK, COLOR_WHITE, COLOR_BLACK,
                                               COLOR_BLACK, COLOR_WHITE, COLOR_BLACK, COLOR_WHITE};
  for (int i = 0; i < TTM_CLASS_STYLES; i++) {
    bool none = papers[i] == COLOR_BLACK; /* letters alone */
    init_pair((short)(TTM_STYLE_CLASS + i), none ? -1 : inks[i], none ? -1 : papers[i]);
    init_pair((short)(TTM_STYLE_EDGE + i), none ? -1 : papers[i], -1);
  }
}

static void measure(ttm_screen *screen) { getmaxyx(stdscr, screen->rows, screen->columns); }

int ttm_screen_open(ttm_screen *screen, bool utf8, bool color, ttm_error *err) {
  *screen = (ttm_screen){.utf8 = utf8, .color = color};
  screen->term = newterm(NULL, stdout, stdin); /* initscr would end the program */
  if (!screen->term) {
    const char *name = getenv("TERM");
    return ttm_error_set(err, TTM_EUSAGE,
                         "the terminal '%.60s' is not known on this machine; try: TERM=xterm-256color ttmem",
                         name ? name : "");
  }
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  set_escdelay(25);
  make_colors(screen);
  measure(screen);
  return TTM_OK;
}

void ttm_screen_close(ttm_screen *screen) {
  if (!screen->term) return;
  endwin();
  delscreen(screen->term);
  screen->term = NULL;
}

void ttm_screen_leave(ttm_screen *screen) {
  (void)screen;
  def_prog_mode();
  endwin();
}

void ttm_screen_return(ttm_screen *screen) {
  reset_prog_mode();
  clearok(curscr, TRUE);
  refresh();
  measure(screen);
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

static int translate(int key) {
  static const struct {
    int curses, ours;
  } keys[] = {{KEY_UP, TTM_KEY_UP},         {KEY_DOWN, TTM_KEY_DOWN},       {KEY_LEFT, TTM_KEY_LEFT},
              {KEY_RIGHT, TTM_KEY_RIGHT},   {KEY_PPAGE, TTM_KEY_PAGE_UP},   {KEY_NPAGE, TTM_KEY_PAGE_DOWN},
              {KEY_HOME, TTM_KEY_HOME},     {KEY_END, TTM_KEY_END},         {KEY_DC, TTM_KEY_DELETE},
              {KEY_BTAB, TTM_KEY_BACK_TAB}, {KEY_BACKSPACE, TTM_KEY_ERASE}, {'\b', TTM_KEY_ERASE},
              {KEY_ENTER, TTM_KEY_ENTER},   {'\r', TTM_KEY_ENTER},          {KEY_RESIZE, TTM_KEY_RESIZED},
              {'\n', TTM_KEY_ENTER}};
  if (key == ERR) return TTM_KEY_NONE;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (key == keys[i].curses) return keys[i].ours;
  }
  return key < 256 ? key : TTM_KEY_OTHER;
}

int ttm_screen_key(ttm_screen *screen, int milliseconds) {
  timeout(milliseconds);
  int key = translate(getch());
  if (key == TTM_KEY_RESIZED) measure(screen);
  return key;
}

bool ttm_screen_has_key(ttm_screen *screen) {
  (void)screen;
  timeout(20);
  int key = getch();
  if (key != ERR) ungetch(key);
  return key != ERR;
}

/* ---- Output -------------------------------------------------------------------------------------------------------- */

static attr_t attributes(const ttm_screen *screen, ttm_style style) {
  switch (style) {
    case TTM_STYLE_BOLD:
      return A_BOLD;
    case TTM_STYLE_DIM:
      return A_DIM;
    case TTM_STYLE_BAR:
    case TTM_STYLE_SELECTED:
      return A_REVERSE;
    case TTM_STYLE_GOOD:
    case TTM_STYLE_WARN:
    case TTM_STYLE_ACCENT:
      return screen->color ? COLOR_PAIR(style) : A_NORMAL;
    case TTM_STYLE_BAD:
      return screen->color ? COLOR_PAIR(style) : A_BOLD;
    default:
      return style >= TTM_STYLE_CLASS && screen->color ? COLOR_PAIR(style) : A_NORMAL;
  }
}

void ttm_screen_clear(ttm_screen *screen) {
  (void)screen;
  curs_set(0);
  erase();
}

void ttm_screen_show(ttm_screen *screen) {
  (void)screen;
  refresh();
}

/* How many bytes of the text fit into `room` columns. */
static size_t fitting(ttm_str text, size_t room, size_t *columns) {
  size_t end = 0;
  *columns = ttm_text_columns(text);
  if (*columns <= room) return text.n;
  *columns = 0;
  while (end < text.n) {
    size_t next = end + ttm_utf8_length(ttm_str_from(text, end));
    size_t width = ttm_text_columns((ttm_str){text.p + end, next - end});
    if (*columns + width > room) break;
    *columns += width;
    end = next;
  }
  return end;
}

int ttm_screen_view(ttm_screen *screen, int row, int column, ttm_style style, ttm_str words) {
  char text[4096]; /* a copy: waddnstr looks at the byte behind the last one, too */
  size_t columns;
  if (row < 0 || row >= screen->rows || column < 0 || column >= screen->columns) return column;
  size_t n = fitting(words, (size_t)(screen->columns - column), &columns);
  if (n >= sizeof text) n = sizeof text - 1;
  if (n) memcpy(text, words.p, n);
  text[n] = '\0';
  attrset(attributes(screen, style));
  mvaddstr(row, column, text);
  attrset(A_NORMAL);
  return column + (int)columns;
}

int ttm_screen_words(ttm_screen *screen, int row, int column, ttm_style style, const char *words) {
  return ttm_screen_view(screen, row, column, style, ttm_str_of(words));
}

int ttm_screen_text(ttm_screen *screen, int row, int column, ttm_style style, ttm_str text, int width) {
  ttm_buf safe = {0};
  if (width > screen->columns - column) width = screen->columns - column;
  if (width <= 0) return column;
  ttm_put_text(&safe, text, (size_t)width, ttm_screen_form(screen));
  column = ttm_screen_view(screen, row, column, style, ttm_buf_str(&safe));
  ttm_buf_free(&safe);
  return column;
}

int ttm_screen_print(ttm_screen *screen, int row, int column, ttm_style style, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return ttm_screen_words(screen, row, column, style, text);
}

void ttm_screen_fill(ttm_screen *screen, int row, ttm_style style) {
  attrset(attributes(screen, style));
  mvhline(row, 0, ' ' | attributes(screen, style), screen->columns);
  attrset(A_NORMAL);
}

void ttm_screen_cursor(ttm_screen *screen, int row, int column) {
  if (column >= screen->columns) column = screen->columns - 1;
  curs_set(1);
  move(row, column);
}

/* ---- A row among many --------------------------------------------------------------------------------------------- */

static size_t minus(size_t a, size_t b) { return a > b ? a - b : 0; }

bool ttm_cursor_key(ttm_cursor *c, int key) {
  size_t last = minus(c->n, 1), page = c->page > 1 ? c->page - 1 : 1;
  switch (key) {
    case TTM_KEY_UP:
    case 'k':
      c->at = minus(c->at, 1);
      break;
    case TTM_KEY_DOWN:
    case 'j':
      c->at++;
      break;
    case TTM_KEY_PAGE_UP:
    case 2: /* ^B */
      c->at = minus(c->at, page);
      break;
    case TTM_KEY_PAGE_DOWN:
    case ' ':
    case 6: /* ^F */
      c->at += page;
      break;
    case TTM_KEY_HOME:
    case 'g':
      c->at = 0;
      break;
    case TTM_KEY_END:
    case 'G':
      c->at = last;
      break;
    default:
      return false;
  }
  if (c->at > last) c->at = last;
  return true;
}
