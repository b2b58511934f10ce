/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation in log order, or those whose name or location holds a text. */
#include "analyze/words.h"
#include "base/alloc.h"
#include "ui/report.h"
#include "ui/typed_line.h"

typedef struct operations {
  const ttm_ui_subject *subject;
  uint32_t *rows; /* operations on the list */
  ttm_cursor cursor;
  ttm_typed_line search;
} operations;

static void gather(operations *o) {
  const ttm_profile *p = o->subject->profile;
  o->cursor = (ttm_cursor){0};
  for (uint32_t op = 0; op < p->ops.n; op++) {
    if (!ttm_op_is_element(p, op)) continue;
    if (ttm_typed_is_in(&o->search, ttm_words_name(p, op)) || ttm_typed_is_in(&o->search, ttm_words_location(p, op)))
      o->rows[o->cursor.n++] = op;
  }
}

static void free_operations(void *view) {
  ttm_free(((operations *)view)->rows);
  ttm_free(view);
}

static void *make_operations(const ttm_ui_subject *subject, const ttm_screen *screen) {
  operations *o = ttm_alloc(sizeof *o);
  (void)screen;
  if (!o) return NULL;
  o->subject = subject;
  o->rows = ttm_alloc(((size_t)subject->findings->elements + 1) * sizeof *o->rows);
  if (!o->rows) {
    free_operations(o);
    return NULL;
  }
  gather(o);
  return o;
}

static void draw_row(const operations *o, ttm_screen *s, int row, size_t i) {
  const ttm_profile *p = o->subject->profile;
  uint32_t op = o->rows[i];
  ttm_style style = i == o->cursor.at ? TTM_STYLE_SELECTED : TTM_STYLE_PLAIN;
  ttm_level level;
  int64_t effect;
  if (style == TTM_STYLE_SELECTED) ttm_screen_fill(s, row, style);
  ttm_screen_print(s, row, 1, style, "%8u", p->ops.at[op].line);
  if (p->ops.at[op].state != TTM_NONE && ttm_state_level(p, p->ops.at[op].state, TTM_DRAM, &level)) {
    ttm_screen_print(s, row, 10, style, "%10.3f", ttm_mb(level.allocated));
  }
  if (ttm_op_effect_whole(p, op, TTM_DRAM, &effect) && effect) {
    ttm_style sign = style != TTM_STYLE_PLAIN ? style : effect > 0 ? TTM_STYLE_WARN : TTM_STYLE_GOOD;
    ttm_screen_print(s, row, 21, sign, "%+10.3f", ttm_mb(effect));
  }
  int column =
      p->ops.at[op].flags & TTM_OP_CONST_EVAL ? 35 : 33; /* inside the load_cached above, which counts it too */
  ttm_draw_operation(s, row, column, style, o->subject->findings, op, (ttm_str){0}, s->columns - column - 1);
}

static void draw_operations(void *view, ttm_screen *s) {
  operations *o = view;
  int row = TTM_VIEW_ROW, height = ttm_view_height(s) - 1;
  ttm_screen_print(s, row - 1, 1, TTM_STYLE_DIM, "%zu of %u operations", o->cursor.n, o->subject->findings->elements);
  ttm_screen_words(s, row, 1, TTM_STYLE_DIM, "log line DRAM MB/bank      added  operation");
  ttm_cursor_see(&o->cursor, height);
  for (int i = 0; i < height && o->cursor.top + (size_t)i < o->cursor.n; i++) {
    draw_row(o, s, row + 1 + i, o->cursor.top + (size_t)i);
  }
  ttm_typed_draw(s, row - 1, 34, "search: ", &o->search);
}

static void type_key(operations *o, int key) {
  if (ttm_typed_key(&o->search, key)) gather(o);
}

static bool operations_key(void *view, ttm_ui *ui, int key) {
  operations *o = view;
  if (o->search.typing) return type_key(o, key), true;
  if (key == '/') {
    o->search = (ttm_typed_line){.typing = true};
    gather(o);
    return true;
  }
  if (key == TTM_KEY_ESCAPE && o->search.n) return type_key(o, key), true;
  if (key == TTM_KEY_ENTER && o->cursor.n) {
    ttm_ui_show_operation(ui, o->subject->findings, o->rows[o->cursor.at]);
    return true;
  }
  return ttm_cursor_key(&o->cursor, key, ttm_view_height(&ui->screen) - 1);
}

static const ttm_key_help KEYS[] = {{"Enter", "details"}, {"/", "search"}, {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_operations = {"Operations",    KEYS,           make_operations,
                                            draw_operations, operations_key, free_operations};
