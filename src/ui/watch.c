/* SPDX-License-Identifier: Apache-2.0 */
/* The screen of `ttmem live`. */
#include "base/alloc.h"
#include "report/live/watch_report.h"
#include "ui/text_lines.h"
#include "ui/typed_line.h"

typedef struct watching {
  ttm_panel panel;
  const ttm_ui_watch *source;
  ttm_text_lines lines;
  ttm_use sort, history;
  bool hide; /* idle devices, and mock ones beside real ones */
  ttm_typed_line filter;
  bool dirty; /* a key changed what is shown */
  uint64_t drawn_changes, drawn_looks;
  int drawn_columns;
} watching;

/* ---- Drawing --------------------------------------------------------------------------------------------------------- */

static void put_counts(const ttm_watch *watch, ttm_buf *out) {
  size_t alive = 0, dead = 0;
  for (size_t i = 0; i < watch->devices.n; i++) {
    alive += watch->devices.at[i]->alive;
    dead += watch->devices.at[i]->processes.n - watch->devices.at[i]->alive;
  }
  ttm_put_counted(out, watch->devices.n, "device");
  ttm_buf_printf(out, ", %zu %s", alive, alive == 1 ? "process" : "processes");
  if (dead) ttm_buf_puts(out, ", "), ttm_put_counted(out, dead, "dead slot");
}

/* Row 1: how it is sorted and filtered, and what else goes on. */
static void draw_status(const watching *w, ttm_screen *s) {
  ttm_buf words = {0};
  put_counts(w->source->watch, &words);
  ttm_buf_printf(&words, "   sorted by %s", w->sort < TTM_USES ? ttm_use_name(w->sort) : "number");
  if (w->hide) ttm_buf_puts(&words, ", idle hidden");
  int column = ttm_screen_view(s, 1, 1, TTM_STYLE_DIM, ttm_buf_str(&words));
  ttm_buf_free(&words);
  column = ttm_typed_draw(s, 1, column, "   filter: ", &w->filter);
  if (w->source->recording && !w->filter.typing) {
    column = ttm_screen_words(s, 1, column, TTM_STYLE_PLAIN, "   recording ");
    ttm_screen_text(s, 1, column, TTM_STYLE_PLAIN, ttm_str_of(w->source->recording), s->columns - column);
  }
}

static void put_page(const watching *w, const ttm_screen *s, ttm_buf *out) {
  const ttm_watch *watch = w->source->watch;
  ttm_watch_view view = {.utf8 = s->utf8,
                         .color = true, /* taken apart below, not sent */
                         .columns = (size_t)s->columns - 2,
                         .sort = w->sort,
                         .history = w->history,
                         .filter = w->filter.text,
                         .hide_idle = w->hide,
                         .hide_mock = w->hide};
  if (!watch->devices.n) {
    ttm_buf_puts(out, "Waiting: ");
    return ttm_watch_nothing(out, watch);
  }
  if (ttm_watch_text(out, watch, &view)) out->failed = true;
  if (!out->n)
    ttm_buf_puts(out, w->filter.n ? "Nothing matches the filter; Esc clears it.\n" : "All are idle; i shows them.\n");
  if (!watch->problems.n) return;
  ttm_buf_puts(out, "\n\x1b[33mNot read\x1b[0m\n");
  ttm_watch_problems(out, watch, "  ", s->utf8);
}

/* Text is made anew when something changed, and once a second for the history: most looks find nothing new. */
static bool is_old(const watching *w, const ttm_screen *s) {
  const ttm_watch *watch = w->source->watch;
  return w->dirty || w->drawn_changes != watch->changes || watch->looks - w->drawn_looks >= 10 ||
         w->drawn_columns != s->columns;
}

static void draw_watch(ttm_ui *ui, ttm_panel *panel) {
  watching *w = (watching *)panel;
  ttm_screen *s = &ui->screen;
  if (is_old(w, s)) {
    ttm_buf text = {0};
    put_page(w, s, &text);
    w->dirty = ttm_text_lines_take(&w->lines, &text) != TTM_OK;
    w->drawn_changes = w->source->watch->changes;
    w->drawn_looks = w->source->watch->looks;
    w->drawn_columns = s->columns;
  }
  ttm_text_lines_draw(&w->lines, s, 3, s->rows - 4);
  draw_status(w, s); /* last: it may place the cursor */
}

/* ---- Keys ------------------------------------------------------------------------------------------------------------ */

static unsigned watch_key(ttm_ui *ui, ttm_panel *panel, int key) {
  watching *w = (watching *)panel;
  w->dirty = true;
  if (w->filter.typing) return ttm_typed_key(&w->filter, key), TTM_KEY_TAKEN;
  switch (key) {
    case 's':
      w->sort = (ttm_use)((w->sort + 1) % (TTM_USES + 1));
      return TTM_KEY_TAKEN;
    case 'm':
      w->history = (ttm_use)((w->history + 1) % TTM_USES);
      return TTM_KEY_TAKEN;
    case 'i':
      w->hide = !w->hide;
      return TTM_KEY_TAKEN;
    case '/':
    case 'f':
      w->filter.typing = true;
      return TTM_KEY_TAKEN;
    case TTM_KEY_ESCAPE:
      if (!w->filter.n) return TTM_KEY_IGNORED;
      w->filter = (ttm_typed_line){0};
      return TTM_KEY_TAKEN;
    default:
      return ttm_text_lines_key(&w->lines, key, ui->screen.rows - 4) ? TTM_KEY_TAKEN : TTM_KEY_IGNORED;
  }
}

static bool watch_tick(ttm_ui *ui, ttm_panel *panel) {
  watching *w = (watching *)panel;
  const char *message;
  ui->over = !w->source->tick(w->source->context, &message);
  if (message) ttm_ui_complain(ui, message);
  return true;
}

static void free_watch(ttm_panel *panel) {
  watching *w = (watching *)panel;
  if (w->source->end) w->source->end(w->source->context);
  ttm_text_lines_free(&w->lines);
  ttm_free(w);
}

ttm_panel *ttm_watch_panel(const ttm_ui_watch *source) {
  static const ttm_key_help keys[] = {{"s", "sort"},      {"/", "filter"},         {"m", "memory in the history"},
                                      {"i", "hide idle"}, {"j/k", "scroll"},       {"?", "help"},
                                      {"q", "quit"},      {"Esc", "clear filter"}, {NULL, NULL}};
  static const ttm_panel_class class = {.title = "Live",
                                        .keys = keys,
                                        .draw = draw_watch,
                                        .key = watch_key,
                                        .tick = watch_tick,
                                        .free = free_watch,
                                        .always = true};
  watching *w = ttm_alloc(sizeof *w);
  if (!w) return NULL;
  w->panel.class = &class;
  w->source = source;
  w->hide = !source->all;
  w->sort = TTM_USES;
  w->dirty = true;
  return &w->panel;
}
