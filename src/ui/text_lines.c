/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/text_lines.h"

#include "base/utf8.h"

/* ---- Lines become rows --------------------------------------------------------------------------------------------- */

static ttm_style style_of(ttm_str code) {
  if (code.n == 3 && ttm_str_starts(code, TTM_LIT("10"))) return (ttm_style)(TTM_STYLE_CLASS + (code.p[2] - '0') % 8);
  if (ttm_str_eq(code, TTM_LIT("1"))) return TTM_STYLE_BOLD;
  if (ttm_str_eq(code, TTM_LIT("7"))) return TTM_STYLE_SELECTED;
  if (ttm_str_eq(code, TTM_LIT("31"))) return TTM_STYLE_BAD;
  if (ttm_str_eq(code, TTM_LIT("32"))) return TTM_STYLE_GOOD;
  if (ttm_str_eq(code, TTM_LIT("33"))) return TTM_STYLE_WARN;
  if (ttm_str_eq(code, TTM_LIT("36"))) return TTM_STYLE_ACCENT;
  if (ttm_str_eq(code, TTM_LIT("2")) || ttm_str_eq(code, TTM_LIT("90"))) return TTM_STYLE_DIM;
  return TTM_STYLE_PLAIN;
}

/* Bytes of the character at the start of `rest`, or of the colour there, which sets `style` and has no columns. An escape is ours: foreign
 * ones were taken out. */
static size_t take(ttm_str rest, ttm_style *style, int *columns) {
  *columns = 0;
  if (rest.p[0] == '\t') return 1;
  size_t m = rest.p[0] == '\x1b' ? ttm_str_find_char(rest, 'm') : TTM_NOT_FOUND, n = ttm_utf8_length(rest);
  if (m != TTM_NOT_FOUND) return *style = style_of(ttm_str_first(ttm_str_from(rest, 2), m - 2)), m + 1;
  *columns = (int)ttm_text_columns((ttm_str){rest.p, n});
  return n;
}

/* Where a row may end: behind a blank, else behind a part of a name. */
typedef struct cut {
  size_t at;
  ttm_style style;
  bool blank;
} cut;

static void note_cut(cut *c, char last, size_t at, ttm_style style) {
  bool blank = last == ' ';
  if (blank || (!c->blank && strchr("./|_:,-", last))) *c = (cut){at, style, blank};
}

/* The rows of one line, which ends at byte `end` of the text. Gives the style it ends with. */
static ttm_style break_line(ttm_text_lines *l, size_t at, size_t end, size_t line, ttm_style style, int columns) {
  ttm_str all = ttm_buf_str(&l->text);
  ttm_text_row row = {.at = at, .line = line, .style = style};
  int column = 0, indent = 0, width;
  bool text = false; /* not only blanks so far */
  cut last = {0};
  while (at < end) {
    ttm_style before = style;
    size_t next = at + take(ttm_str_from(all, at), &style, &width);
    if (column + width > columns && column > indent && all.p[at] != ' ') {
      cut here = last.at ? last : (cut){at, before, false};
      row.n = here.at - row.at;
      if (ttm_vec_push(&l->rows, row)) return l->text.failed = true, style;
      row = (ttm_text_row){.at = here.at, .line = line, .indent = indent, .style = here.style};
      at = here.at, style = here.style, column = indent, last = (cut){0};
      continue;
    }
    text |= width && all.p[at] != ' ';
    column += width;
    if (!text || all.p[at] == '\t') indent = column < columns / 2 ? column : 0, last = (cut){0};
    if (text && width) note_cut(&last, all.p[at], next, style);
    at = next;
  }
  row.n = end - row.at;
  l->text.failed |= ttm_vec_push(&l->rows, row) != TTM_OK;
  return style;
}

static void break_lines(ttm_text_lines *l, const ttm_screen *screen) {
  ttm_str all = ttm_buf_str(&l->text);
  ttm_style style = TTM_STYLE_PLAIN;
  if (l->columns == screen->columns) return;
  l->rows.n = 0;
  l->columns = screen->columns;
  for (size_t at = 0, line = 0; at < all.n && !l->text.failed; line++) {
    size_t n = ttm_str_find_char(ttm_str_from(all, at), '\n'), end = n == TTM_NOT_FOUND ? all.n : at + n;
    style = break_line(l, at, end, line, style, screen->columns - 2);
    at = end + 1;
  }
}

int ttm_text_lines_take(ttm_text_lines *l, ttm_buf *text) {
  ttm_buf_free(&l->text);
  l->text = *text;
  *text = (ttm_buf){0};
  l->columns = 0;
  return l->text.failed ? TTM_ENOMEM : TTM_OK;
}

void ttm_text_lines_free(ttm_text_lines *l) {
  ttm_buf_free(&l->text);
  ttm_vec_free(&l->rows);
}

/* ---- Drawing ------------------------------------------------------------------------------------------------------- */

static void draw_row(const ttm_text_lines *l, ttm_screen *screen, int at, const ttm_text_row *row, bool chosen) {
  ttm_str rest = ttm_str_first(ttm_str_from(ttm_buf_str(&l->text), row->at), row->n);
  ttm_style style = row->style;
  int column = 1 + row->indent, width;
  if (chosen) ttm_screen_fill(screen, at, TTM_STYLE_SELECTED);
  while (rest.n) {
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '\x1b' && rest.p[n] != '\t') n++;
    column = ttm_screen_view(screen, at, column, chosen ? TTM_STYLE_SELECTED : style, ttm_str_first(rest, n));
    rest = ttm_str_from(rest, n);
    if (rest.n) rest = ttm_str_from(rest, take(rest, &style, &width));
  }
}

static size_t last_top(const ttm_text_lines *l, int height) {
  size_t shown = height > 1 ? (size_t)height : 1;
  return l->rows.n > shown ? l->rows.n - shown + 1 : 0; /* one row is taken by the note below */
}

void ttm_text_lines_draw(ttm_text_lines *l, ttm_screen *screen, int row, int height) {
  break_lines(l, screen);
  size_t last = last_top(l, height);
  if (l->text.failed) ttm_screen_words(screen, row, 1, TTM_STYLE_BAD, "Out of memory on this host.");
  if (l->top > last) l->top = last;
  int shown = last ? height - 1 : height;
  for (int i = 0; i < shown && l->top + (size_t)i < l->rows.n; i++) {
    const ttm_text_row *at = &l->rows.at[l->top + (size_t)i];
    draw_row(l, screen, row + i, at, at->line >= l->mark && at->line < l->mark_end);
  }
  if (!last) return;
  size_t until = l->top + (size_t)shown;
  ttm_screen_print(screen, row + shown, 1, TTM_STYLE_DIM, "-- lines %zu to %zu of %zu --", l->top + 1,
                   until < l->rows.n ? until : l->rows.n, l->rows.n);
}

void ttm_text_lines_see(ttm_text_lines *l, const ttm_screen *screen, int height) {
  size_t shown = height > 2 ? (size_t)height - 1 : 1, first = 0, end = 0;
  break_lines(l, screen);
  while (first < l->rows.n && l->rows.at[first].line + 1 < l->mark) first++;
  while (end < l->rows.n && l->rows.at[end].line < l->mark_end) end++;
  if (end > l->top + shown) l->top = end - shown;
  if (first < l->top) l->top = first;
}

bool ttm_text_lines_key(ttm_text_lines *l, int key, int height) {
  ttm_cursor place = {.n = last_top(l, height) + 1, .at = l->top, .page = (size_t)height};
  if (!ttm_cursor_key(&place, key)) return false;
  l->top = place.at;
  return true;
}

int ttm_text_rows(const ttm_screen *screen, const ttm_buf *text) {
  ttm_text_lines lines = {.text = *text}; /* borrowed */
  break_lines(&lines, screen);
  int n = (int)lines.rows.n;
  ttm_vec_free(&lines.rows);
  return n;
}

int ttm_draw_text(ttm_screen *screen, int row, ttm_buf *text) {
  ttm_text_lines lines = {0};
  ttm_text_lines_take(&lines, text);
  break_lines(&lines, screen);
  if (row < 0) row = screen->rows - (int)lines.rows.n;
  for (size_t i = 0; i < lines.rows.n; i++) {
    ttm_screen_fill(screen, row, TTM_STYLE_PLAIN);
    draw_row(&lines, screen, row++, &lines.rows.at[i], false);
  }
  ttm_text_lines_free(&lines);
  return row;
}

/* ---- Lists --------------------------------------------------------------------------------------------------------- */

void ttm_put_figure(ttm_buf *out, const char *sign, double mb) {
  ttm_buf figure = {0};
  if (mb >= 0) ttm_buf_puts(&figure, sign), ttm_put_mb(&figure, mb);
  ttm_buf_printf(out, "%*.*s", TTM_FIGURE, (int)figure.n, figure.n ? figure.at : "");
  out->failed |= figure.failed;
  ttm_buf_free(&figure);
}

typedef struct list {
  ttm_screen *screen;
  ttm_put_row *put;
  const void *view;
} list;

/* The rows of the screen that row `i` takes; from `row` up to `end` they are drawn. */
static int list_row(const list *l, size_t i, int row, int end, bool chosen) {
  ttm_text_lines lines = {0};
  ttm_buf text = {0};
  l->put(l->view, l->screen, i, &text);
  ttm_text_lines_take(&lines, &text);
  break_lines(&lines, l->screen);
  int n = lines.rows.n ? (int)lines.rows.n : 1;
  for (int k = 0; k < n && row + k < end && lines.rows.n; k++)
    draw_row(&lines, l->screen, row + k, &lines.rows.at[k], chosen);
  ttm_text_lines_free(&lines);
  return n;
}

/* The first row of a page that ends with row `i`. */
static size_t page_to(const list *l, size_t i, int height) {
  for (height -= list_row(l, i, 0, 0, false); i; i--) {
    height -= list_row(l, i - 1, 0, 0, false);
    if (height < 0) break;
  }
  return i;
}

void ttm_list_draw(ttm_cursor *c, ttm_screen *screen, int row, int height, ttm_put_row *put, const void *view) {
  list l = {screen, put, view};
  int end = row + height;
  if (!c->n) return;
  if (c->at >= c->n) c->at = c->n - 1;
  if (c->at < c->top) c->top = c->at;
  size_t first = page_to(&l, c->at, height),
         last = c->n - c->top <= (size_t)height ? page_to(&l, c->n - 1, height) : c->n;
  if (c->top < first) c->top = first;
  if (c->top > last) c->top = last;
  size_t i = c->top;
  for (; i < c->n && row < end; i++) row += list_row(&l, i, row, end, i == c->at);
  c->page = i - c->top;
}
