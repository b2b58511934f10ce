/* SPDX-License-Identifier: Apache-2.0 */
/* What was alive at the peak, adding up to it. */
#include <stdio.h>

#include "analyze/words.h"
#include "base/alloc.h"
#include "ui/report.h"

typedef struct live_view {
  const ttm_ui_subject *subject;
  size_t which; /* 0: DRAM, 1: L1 */
  ttm_cursor cursor;
} live_view;

static const ttm_alive_set *set_of(const live_view *v) { return &v->subject->findings->alive_set[v->which]; }

static void *make_live(const ttm_ui_subject *subject, const ttm_screen *screen) {
  live_view *v = ttm_alloc(sizeof *v);
  (void)screen;
  if (!v) return NULL;
  v->subject = subject;
  v->cursor.n = set_of(v)->groups.n;
  return v;
}

/* One bar of all classes, and what each of them holds. Returns the row after it. */
static int draw_classes(const live_view *v, ttm_screen *s, int row) {
  const ttm_alive_set *set = set_of(v);
  int column = 1;
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    if (!set->by_class[c]) continue;
    char words[64];
    int width =
        snprintf(words, sizeof words, "%s %.2f (%.0f%%)", ttm_words_class(v->subject->profile, (ttm_alive_class)c),
                 ttm_mib(set->by_class[c]), ttm_percent((double)set->by_class[c], (double)set->measured_bytes));
    if (column > 1 && column + width + 3 > s->columns) row++, column = 1;
    column = ttm_screen_words(s, row, column, c == TTM_ALIVE_UNACCOUNTED ? TTM_STYLE_WARN : TTM_STYLE_PLAIN, words) + 3;
  }
  return row + 1;
}

static void draw_row(const live_view *v, ttm_screen *s, int row, size_t i) {
  const ttm_profile *p = v->subject->profile;
  const ttm_alive_group *g = &set_of(v)->groups.at[i];
  const ttm_alive_row *r = g->row < set_of(v)->rows.n ? &set_of(v)->rows.at[g->row] : NULL;
  ttm_style style = i == v->cursor.at ? TTM_STYLE_SELECTED : TTM_STYLE_PLAIN;
  char shape[128] = "";
  if (style == TTM_STYLE_SELECTED) ttm_screen_fill(s, row, style);
  ttm_screen_print(s, row, 1, style, "%9.3f  %-12s", ttm_mib(g->bank_bytes), ttm_words_class(p, g->class));
  if (r && r->type != TTM_NONE && p->types.at[r->type].is_tensor)
    ttm_dims_print(&p->types.at[r->type].tensor.shape, shape, sizeof shape);
  int column = ttm_screen_text(s, row, 25, style, ttm_str_of(shape), 17);
  if (g->tensors > 1)
    column = ttm_screen_print(s, row, column, style, " %s%u", ttm_sign(s, "\xC3\x97", "x"), g->tensors);
  column = column < 46 ? 46 : column + 1;
  if (r && !r->name && g->op != TTM_NONE)
    ttm_draw_operation(s, row, column, style, v->subject->findings, g->op, g->name, s->columns - column - 1);
  else if (g->name.n)
    ttm_screen_text(s, row, column, style, g->name, s->columns - column - 1);
  else if (r && r->arg != TTM_NONE)
    ttm_screen_print(s, row, column, style, "argument %u", r->arg);
}

static void draw_live(void *view, ttm_screen *s) {
  live_view *v = view;
  const ttm_alive_set *set = set_of(v);
  const ttm_peak *peak = &v->subject->findings->peak[v->which ? TTM_L1 : TTM_DRAM];
  int row = TTM_VIEW_ROW;
  ttm_memory memory = v->which ? TTM_L1 : TTM_DRAM;
  v->cursor.n = set->groups.n;
  if (!peak->known) {
    ttm_screen_print(s, row, 1, TTM_STYLE_DIM, "No state of %s is in this log.", ttm_memory_name(memory));
    return;
  }
  double pct = ttm_percent(peak->level.allocated, peak->level.total);
  int column = ttm_screen_print(s, row, 1, TTM_STYLE_BOLD, "%s peak %.3f MB/bank ", ttm_memory_name(memory),
                                ttm_mb(peak->level.allocated));
  column = ttm_screen_print(s, row, column, ttm_style_of(pct), "%.1f%%", pct);
  ttm_screen_print(s, row, column, TTM_STYLE_DIM, "  %s %u = %.1f MB, log line %u", ttm_sign(s, "\xC3\x97", "x"),
                   peak->level.banks, ttm_mb((int64_t)peak->level.allocated * peak->level.banks),
                   v->subject->profile->states.at[peak->state].line);
  row++;
  if (peak->cause != TTM_NONE) {
    column = ttm_screen_print(s, row, 1, TTM_STYLE_DIM, "raised by %.3f: ", ttm_mb(peak->effect));
    ttm_draw_operation(s, row, column, TTM_STYLE_PLAIN, v->subject->findings, peak->cause, (ttm_str){0},
                       s->columns - column - 1);
  } else if (peak->level.allocated) {
    ttm_screen_words(s, row, 1, TTM_STYLE_DIM, "raised outside the operations of this log");
  }
  row += 2;
  if (!set->known || !peak->level.allocated) {
    const char *why = ttm_words_lives_unknown(v->subject->findings);
    if (!peak->level.allocated)
      ttm_screen_words(s, row, 1, TTM_STYLE_DIM, "Nothing was allocated.");
    else
      ttm_screen_print(s, row, 1, TTM_STYLE_DIM, "What it is made of is unknown%s%s.", why ? ": " : "", why ? why : "");
    return;
  }
  row = draw_classes(v, s, row) + 1;
  ttm_screen_print(s, row++, 1, TTM_STYLE_DIM, "%9s  %-12s%-21s name or maker", "MB/bank", "class", "shape");
  int height = s->rows - 1 - row;
  ttm_cursor_see(&v->cursor, height);
  for (int i = 0; i < height && v->cursor.top + (size_t)i < v->cursor.n; i++)
    draw_row(v, s, row + i, v->cursor.top + (size_t)i);
}

static bool live_key(void *view, ttm_ui *ui, int key) {
  live_view *v = view;
  const ttm_alive_set *set = set_of(v);
  if (key == 'm') {
    v->which = !v->which;
    v->cursor = (ttm_cursor){.n = set_of(v)->groups.n};
    return true;
  }
  if (key == TTM_KEY_ENTER && v->cursor.at < set->groups.n) {
    if (set->groups.at[v->cursor.at].op != TTM_NONE)
      ttm_ui_show_operation(ui, v->subject->findings, set->groups.at[v->cursor.at].op);
    else
      ttm_ui_say(ui, "No operation made this one: the host put it there.");
    return true;
  }
  return ttm_cursor_key(&v->cursor, key, ttm_view_height(&ui->screen) - 7);
}

static void free_live(void *view) { ttm_free(view); }

static const ttm_key_help KEYS[] = {{"Enter", "details"}, {"m", "DRAM/L1"}, {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_live = {"Peak", KEYS, make_live, draw_live, live_key, free_live};
