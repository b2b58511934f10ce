/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/text_lines.h"

int ttm_text_lines_take(ttm_text_lines *lines, ttm_buf *text) {
  lines->text = *text;
  *text = (ttm_buf){0};
  int status = lines->text.failed ? TTM_ENOMEM : TTM_OK;
  ttm_str all = ttm_buf_str(&lines->text);
  for (size_t at = 0; at < all.n && !status;) {
    size_t end = ttm_str_find_char(ttm_str_from(all, at), '\n');
    status = ttm_vec_push(&lines->starts, at);
    at = end == TTM_NOT_FOUND ? all.n : at + end + 1;
  }
  return status;
}

void ttm_text_lines_free(ttm_text_lines *lines) {
  ttm_buf_free(&lines->text);
  ttm_vec_free(&lines->starts);
}

static ttm_str line_at(const ttm_text_lines *lines, size_t i) {
  ttm_str rest = ttm_str_from(ttm_buf_str(&lines->text), lines->starts.at[i]);
  return ttm_str_first(rest, ttm_str_find_char(rest, '\n'));
}

static ttm_style style_of(ttm_str code) {
  if (ttm_str_eq(code, TTM_LIT("1"))) return TTM_STYLE_BOLD;
  if (ttm_str_eq(code, TTM_LIT("31"))) return TTM_STYLE_BAD;
  if (ttm_str_eq(code, TTM_LIT("32"))) return TTM_STYLE_GOOD;
  if (ttm_str_eq(code, TTM_LIT("33"))) return TTM_STYLE_WARN;
  if (ttm_str_eq(code, TTM_LIT("36"))) return TTM_STYLE_ACCENT;
  if (ttm_str_eq(code, TTM_LIT("2")) || ttm_str_eq(code, TTM_LIT("90"))) return TTM_STYLE_DIM;
  return TTM_STYLE_PLAIN;
}

/* An escape character in the text is ours: foreign ones were taken out. */
static void draw_line(ttm_screen *screen, int row, ttm_str line, bool chosen) {
  ttm_style style = chosen ? TTM_STYLE_SELECTED : TTM_STYLE_PLAIN;
  int column = 1;
  if (chosen) ttm_screen_fill(screen, row, style);
  while (line.n) {
    size_t escape = ttm_str_find_char(line, '\x1b');
    column = ttm_screen_view(screen, row, column, style, ttm_str_first(line, escape));
    if (escape == TTM_NOT_FOUND) return;
    line = ttm_str_from(line, escape + 2);
    size_t m = ttm_str_find_char(line, 'm');
    if (m == TTM_NOT_FOUND) return;
    if (!chosen) style = style_of(ttm_str_first(line, m));
    line = ttm_str_from(line, m + 1);
  }
}

static size_t last_top(const ttm_text_lines *lines, int height) {
  size_t shown = height > 1 ? (size_t)height : 1;
  return lines->starts.n > shown ? lines->starts.n - shown + 1 : 0; /* one row is taken by the note below */
}

void ttm_text_lines_draw(ttm_text_lines *lines, ttm_screen *screen, int row, int height) {
  size_t last = last_top(lines, height);
  if (lines->top > last) lines->top = last;
  int shown = last ? height - 1 : height;
  for (int i = 0; i < shown && lines->top + (size_t)i < lines->starts.n; i++) {
    size_t at = lines->top + (size_t)i;
    draw_line(screen, row + i, line_at(lines, at), at >= lines->mark && at < lines->mark_end);
  }
  if (!last) return;
  size_t until = lines->top + (size_t)shown;
  ttm_screen_print(screen, row + shown, 1, TTM_STYLE_DIM, "-- lines %zu to %zu of %zu --", lines->top + 1,
                   until < lines->starts.n ? until : lines->starts.n, lines->starts.n);
}

void ttm_text_lines_see(ttm_text_lines *lines, int height) {
  size_t shown = height > 2 ? (size_t)height - 1 : 1, first = lines->mark ? lines->mark - 1 : 0;
  if (lines->mark_end > lines->top + shown) lines->top = lines->mark_end - shown;
  if (first < lines->top) lines->top = first;
}

bool ttm_text_lines_key(ttm_text_lines *lines, int key, int height) {
  size_t last = last_top(lines, height);
  ttm_cursor place = {.n = last + 1, .at = lines->top};
  if (!ttm_cursor_key(&place, key, height)) return false;
  lines->top = place.at;
  return true;
}
