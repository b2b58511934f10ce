/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that added most to a memory. */
#include "analyze/words.h"
#include "base/alloc.h"
#include "ui/report.h"

typedef struct top_view {
  const ttm_ui_subject *subject;
  ttm_memory memory;
  ttm_cursor cursor;
} top_view;

static const ttm_consumers *rows_of(const top_view *v) { return &v->subject->findings->consumers[v->memory]; }

static void gather(top_view *v) { v->cursor = (ttm_cursor){.n = rows_of(v)->n}; }

static void *make_top(const ttm_ui_subject *subject, const ttm_screen *screen) {
  top_view *v = ttm_alloc(sizeof *v);
  (void)screen;
  if (!v) return NULL;
  v->subject = subject;
  gather(v);
  return v;
}

/* Names and locations matter more. */
static int bar_columns(const ttm_screen *s) { return s->columns >= 120 ? 20 : 8; }

static void draw_row(top_view *v, ttm_screen *s, int row, size_t i) {
  const ttm_consumer *added = &rows_of(v)->at[i];
  ttm_style style = i == v->cursor.at ? TTM_STYLE_SELECTED : TTM_STYLE_PLAIN;
  int bar = bar_columns(s), filled;
  int column = 1;
  if (style == TTM_STYLE_SELECTED) ttm_screen_fill(s, row, style);
  column = ttm_screen_print(s, row, column, style, "%9.3f ", ttm_mb(added->total));
  filled = (int)((double)added->total / (double)rows_of(v)->at[0].total * bar + 0.5);
  for (int b = 0; b < bar; b++) {
    column = ttm_screen_words(s, row, column, style == TTM_STYLE_PLAIN ? TTM_STYLE_ACCENT : style,
                              b < filled || !b ? ttm_sign(s, "\xE2\x96\x88", "#") : " ");
  }
  if (added->places > 1)
    column = ttm_screen_print(s, row, column, style, " %s%-5u    ", ttm_sign(s, "\xC3\x97", "x"), added->places);
  else if (added->runs > 1)
    column = ttm_screen_print(s, row, column, style, " %5u runs ", added->runs);
  else
    column = ttm_screen_words(s, row, column, style, "            ");
  column = ttm_screen_print(s, row, column, style, "%8u  ", v->subject->profile->ops.at[added->most.op].line);
  ttm_draw_operation(s, row, column, style, v->subject->findings, added->most.op, added->name, s->columns - column - 1);
}

static void draw_top(void *view, ttm_screen *s) {
  top_view *v = view;
  int row = TTM_VIEW_ROW, height = ttm_view_height(s) - 2;
  ttm_screen_print(s, row, 1, TTM_STYLE_BOLD, "Added most to %s, MB per bank; repeated layers are one row",
                   ttm_memory_name(v->memory));
  if (!v->cursor.n) {
    ttm_screen_words(s, row + 2, 1, TTM_STYLE_DIM, "No operation of this log added anything.");
    return;
  }
  ttm_screen_print(s, row + 1, 1, TTM_STYLE_DIM, "%9s %-*s %10s %8s  operation", "added", bar_columns(s), "", "",
                   "log line");
  ttm_cursor_see(&v->cursor, height);
  for (int i = 0; i < height && v->cursor.top + (size_t)i < v->cursor.n; i++) {
    draw_row(v, s, row + 2 + i, v->cursor.top + (size_t)i);
  }
}

static bool top_key(void *view, ttm_ui *ui, int key) {
  top_view *v = view;
  if (key == 'm') {
    v->memory = (ttm_memory)((v->memory + 1) % TTM_MEMORIES);
    gather(v);
    return true;
  }
  if (key == TTM_KEY_ENTER && v->cursor.n) {
    ttm_ui_show_operation(ui, v->subject->findings, rows_of(v)->at[v->cursor.at].most.op);
    return true;
  }
  return ttm_cursor_key(&v->cursor, key, ttm_view_height(&ui->screen) - 2);
}

static void free_top(void *view) { ttm_free(view); }

static const ttm_key_help KEYS[] = {{"Enter", "details"}, {"m", "memory"}, {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_top = {"Top", KEYS, make_top, draw_top, top_key, free_top};
