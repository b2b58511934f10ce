/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/typed_line.h"

static bool goes_on(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

size_t ttm_typed_erased(const char *text, size_t n) {
  while (n && goes_on(text[n - 1])) n--;
  return n ? n - 1 : 0;
}

/* Bytes that the last character still lacks. */
static size_t lacking(const char *text, size_t n) {
  if (!n) return 0;
  size_t first = ttm_typed_erased(text, n);
  unsigned char c = (unsigned char)text[first];
  size_t whole = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
  return whole > n - first ? whole - (n - first) : 0;
}

/* A character comes byte by byte; its first one is taken only where all of it has room. */
static bool takes(const ttm_typed_line *line, int key) {
  if (key < ' ' || key > 255 || key == TTM_KEY_ERASE) return false;
  if (goes_on((char)key)) return lacking(line->text, line->n) > 0;
  return line->n + (key < 128 ? 1 : 4) <= TTM_TYPED_BYTES;
}

bool ttm_typed_key(ttm_typed_line *line, int key) {
  size_t before = line->n;
  if (key == TTM_KEY_ENTER || key == TTM_KEY_ESCAPE) line->typing = false;
  if (key == TTM_KEY_ESCAPE) line->n = 0;
  if (key == TTM_KEY_ERASE) line->n = ttm_typed_erased(line->text, line->n);
  if (takes(line, key)) line->text[line->n++] = (char)key;
  line->text[line->n] = '\0';
  return line->n != before;
}

bool ttm_typed_is_in(const ttm_typed_line *line, ttm_str text) {
  for (size_t i = 0; i + line->n <= text.n; i++) {
    if (ttm_str_eq_nocase((ttm_str){text.p + i, line->n}, (ttm_str){line->text, line->n})) return true;
  }
  return false;
}

int ttm_typed_draw(ttm_screen *screen, int row, int column, const char *label, const ttm_typed_line *line) {
  if (!line->typing && !line->n) return column;
  column = ttm_screen_words(screen, row, column, TTM_STYLE_BOLD, label);
  column = ttm_screen_text(screen, row, column, TTM_STYLE_ACCENT, (ttm_str){line->text, line->n},
                           screen->columns - column - 1);
  if (line->typing) ttm_screen_cursor(screen, row, column);
  return column;
}
