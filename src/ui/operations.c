/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation in log order, or those whose name or location holds a text. */
#include "analyze/words.h"
#include "base/alloc.h"
#include "ui/report.h"
#include "ui/text_lines.h"
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

static void *make_operations(const ttm_ui_subject *subject) {
  operations *o = ttm_alloc(sizeof *o);
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

static void put_row(const void *view, const ttm_screen *s, size_t i, ttm_buf *out) {
  const operations *o = view;
  const ttm_profile *p = o->subject->profile;
  uint32_t op = o->rows[i], state = p->ops.at[op].state;
  double banks = ttm_view_banks(o->subject, TTM_DRAM);
  ttm_level level = {0};
  int64_t effect = 0;
  bool known = state != TTM_NONE && ttm_state_level(p, state, TTM_DRAM, &level);
  bool changed = ttm_op_effect_whole(p, op, TTM_DRAM, &effect) && effect;
  ttm_buf_printf(out, "%8u ", p->ops.at[op].line);
  ttm_put_figure(out, "", known ? ttm_mb(level.allocated) * banks : -1);
  ttm_buf_puts(out, effect > 0 ? " \x1b[33m" : " \x1b[32m");
  ttm_put_figure(out, effect < 0 ? "-" : "+", changed ? ttm_mb(effect < 0 ? -effect : effect) * banks : -1);
  ttm_buf_puts(out, "\x1b[0m  \t");
  /* What ran inside the load_cached above, which counts it too, stands further in. */
  if (p->ops.at[op].flags & TTM_OP_CONST_EVAL) ttm_buf_puts(out, "  ");
  ttm_put_operation(out, s, o->subject->findings, op, (ttm_str){0});
}

static void draw_operations(void *view, ttm_screen *s) {
  operations *o = view;
  int row = TTM_VIEW_ROW;
  ttm_screen_print(s, row - 1, 1, TTM_STYLE_DIM, "%s of %s operations, DRAM in MB per %s", TTM_COUNT_TEXT(o->cursor.n),
                   TTM_COUNT_TEXT(o->subject->findings->elements), o->subject->per_chip ? "chip" : "bank");
  ttm_screen_words(s, row, 1, TTM_STYLE_DIM, "log line    before     delta  operation");
  ttm_list_draw(&o->cursor, s, row + 1, ttm_view_height(s) - 1, put_row, o);
  ttm_typed_draw(s, row - 1, 50, "search: ", &o->search);
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
  return ttm_cursor_key(&o->cursor, key);
}

static const ttm_key_help KEYS[] = {{"Enter", "details"}, {"/", "search"}, {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_operations = {.name = "Operations",
                                            .keys = KEYS,
                                            .make = make_operations,
                                            .draw = draw_operations,
                                            .key = operations_key,
                                            .free = free_operations};
