/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation, or those whose name or location holds a text; in log order, or sorted. */
#include <stdlib.h>

#include "analyze/words.h"
#include "base/alloc.h"
#include "ui/report.h"
#include "ui/text_lines.h"
#include "ui/typed_line.h"

typedef enum order { BY_LINE, BY_DELTA, BY_LEVEL, BY_NAME, ORDERS } order;

/* An operation on the list, and what it is sorted by: its name, or a figure. */
typedef struct row {
  ttm_str name;
  int64_t figure;
  uint32_t op;
} row;

typedef struct operations {
  const ttm_ui_subject *subject;
  ttm_memory memory;
  order order;
  row *rows;
  ttm_cursor cursor;
  ttm_typed_line search;
} operations;

/* ---- The list ------------------------------------------------------------------------------------------------------ */

static bool level_before(const operations *o, uint32_t op, ttm_level *out) {
  const ttm_profile *p = o->subject->profile;
  uint32_t state = p->ops.at[op].state;
  return state != TTM_NONE && ttm_state_level(p, state, o->memory, out);
}

/* Figures stand the highest first, those that are unknown last. */
static int64_t figure_of(const operations *o, uint32_t op) {
  ttm_level level;
  int64_t effect;
  if (o->order == BY_DELTA && ttm_op_effect_whole(o->subject->profile, op, o->memory, &effect)) return effect;
  if (o->order == BY_LEVEL && level_before(o, op, &level)) return level.allocated;
  return o->order == BY_DELTA || o->order == BY_LEVEL ? INT64_MIN : 0;
}

static int compare(const void *left, const void *right) {
  const row *a = left, *b = right;
  size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
  int by_name = n ? memcmp(a->name.p, b->name.p, n) : 0;
  if (by_name) return by_name;
  if (a->name.n != b->name.n) return a->name.n < b->name.n ? -1 : 1;
  if (a->figure != b->figure) return a->figure > b->figure ? -1 : 1;
  return a->op < b->op ? -1 : a->op > b->op;
}

static void gather(operations *o) {
  const ttm_profile *p = o->subject->profile;
  o->cursor = (ttm_cursor){0};
  for (uint32_t op = 0; op < p->ops.n; op++) {
    if (!ttm_op_is_element(p, op)) continue;
    if (!ttm_typed_is_in(&o->search, ttm_words_name(p, op)) && !ttm_typed_is_in(&o->search, ttm_words_location(p, op)))
      continue;
    row *r = &o->rows[o->cursor.n++];
    *r = (row){.figure = figure_of(o, op), .op = op};
    if (o->order == BY_NAME) r->name = ttm_words_name(p, op);
  }
  if (o->order != BY_LINE) qsort(o->rows, o->cursor.n, sizeof *o->rows, compare);
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
  uint32_t op = o->rows[i].op;
  double banks = ttm_view_banks(o->subject, o->memory);
  ttm_level level = {0};
  int64_t effect = 0;
  bool known = level_before(o, op, &level);
  bool changed = ttm_op_effect_whole(p, op, o->memory, &effect) && effect;
  ttm_buf_printf(out, "%8u ", p->ops.at[op].line);
  ttm_put_figure(out, "", known ? ttm_mb(level.allocated) * banks : -1);
  ttm_buf_puts(out, effect > 0 ? " \x1b[33m" : " \x1b[32m");
  ttm_put_figure(out, effect < 0 ? "-" : "+", changed ? ttm_mb(effect < 0 ? -effect : effect) * banks : -1);
  ttm_buf_puts(out, "\x1b[0m  \t");
  /* What ran inside the load_cached above, which counts it too, stands further in. */
  if (p->ops.at[op].flags & TTM_OP_CONST_EVAL) ttm_buf_puts(out, "  ");
  ttm_put_operation(out, s, o->subject->findings, op, (ttm_str){0});
}

/* The heading that the list is sorted by stands out. */
static void draw_heads(const operations *o, ttm_screen *s, int row) {
  static const struct {
    int column;
    order order;
    const char *words;
  } heads[] = {{1, BY_LINE, "log line"}, {13, BY_LEVEL, "before"}, {24, BY_DELTA, "delta"}, {31, BY_NAME, "operation"}};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    ttm_screen_words(s, row, heads[i].column, heads[i].order == o->order ? TTM_STYLE_BOLD : TTM_STYLE_DIM,
                     heads[i].words);
}

static void draw_operations(void *view, ttm_screen *s) {
  static const char *const orders[ORDERS] = {"", ", by delta", ", by level", ", by name"};
  operations *o = view;
  int row = TTM_VIEW_ROW;
  int column = ttm_screen_print(s, row - 1, 1, TTM_STYLE_DIM, "%s of %s operations%s, %s in MB per %s%s",
                                TTM_COUNT_TEXT(o->cursor.n), TTM_COUNT_TEXT(o->subject->findings->elements),
                                orders[o->order], ttm_memory_name(o->memory), o->subject->per_chip ? "chip" : "bank",
                                ttm_state_is_predicted(o->subject->profile, TTM_NONE) ? ", predicted" : "");
  draw_heads(o, s, row);
  ttm_list_draw(&o->cursor, s, row + 1, ttm_view_height(s) - 1, put_row, o);
  ttm_typed_draw(s, row - 1, column + 2, "search: ", &o->search);
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
  if (key == 'o') return o->order = (order)((o->order + 1) % ORDERS), gather(o), true;
  if (key == 'm') return o->memory = (ttm_memory)((o->memory + 1) % TTM_MEMORIES), gather(o), true;
  if (key == TTM_KEY_ESCAPE && o->search.n) return type_key(o, key), true;
  if (key == TTM_KEY_ENTER && o->cursor.n) {
    ttm_ui_show_operation(ui, o->subject->findings, o->rows[o->cursor.at].op);
    return true;
  }
  return ttm_cursor_key(&o->cursor, key);
}

static const ttm_key_help KEYS[] = {{"Enter", "details"}, {"o", "sort"},   {"/", "search"},
                                    {"m", "memory"},      {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_operations = {.name = "Operations",
                                            .keys = KEYS,
                                            .make = make_operations,
                                            .draw = draw_operations,
                                            .key = operations_key,
                                            .free = free_operations};
