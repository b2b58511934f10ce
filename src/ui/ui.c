/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui.h"

#include "base/alloc.h"
#include "ui/text_lines.h"

/* ---- The stack ----------------------------------------------------------------------------------------------------- */

void ttm_ui_push(ttm_ui *ui, ttm_panel *panel) {
  if (!panel) return ttm_ui_complain(ui, "Out of memory on this host.");
  panel->below = ui->top;
  ui->top = panel;
}

static void pop(ttm_ui *ui) {
  ttm_panel *panel = ui->top;
  ui->top = panel->below;
  panel->class->free(panel);
}

void ttm_ui_replace(ttm_ui *ui, ttm_panel *panel) {
  pop(ui);
  ttm_ui_push(ui, panel);
}

static void set_message(ttm_ui *ui, const char *words, bool bad) {
  ttm_buf_free(&ui->message); /* not only cleared: one that could not be said takes no later one along */
  ttm_put_text(&ui->message, ttm_str_of(words), SIZE_MAX, ttm_screen_form(&ui->screen));
  ui->message_is_bad = bad;
}

void ttm_ui_say(ttm_ui *ui, const char *words) { set_message(ui, words, false); }
void ttm_ui_complain(ttm_ui *ui, const char *words) { set_message(ui, words, true); }

/* ---- Around a panel ------------------------------------------------------------------------------------------------ */

static void draw_title(ttm_ui *ui, const ttm_panel *panel) {
  ttm_screen *s = &ui->screen;
  ttm_screen_fill(s, 0, TTM_STYLE_BAR);
  int column =
      ttm_screen_print(s, 0, 1, TTM_STYLE_BAR, "ttmem %s %s", ttm_sign(s, "\xE2\x80\xBA", ">"), panel->class->title);
  if (!panel->subject) return;
  column = ttm_screen_print(s, 0, column, TTM_STYLE_BAR, " %s ", ttm_sign(s, "\xE2\x80\xBA", ">"));
  ttm_screen_text(s, 0, column, TTM_STYLE_BAR, ttm_str_of(panel->subject), s->columns - column - 1);
}

static void draw_keys(ttm_ui *ui, const ttm_panel *panel) {
  ttm_screen *s = &ui->screen;
  int row = s->rows - 1, column = 1;
  if (ui->message.n) return;
  for (const ttm_key_help *k = panel->class->keys; k && k->keys; k++) {
    int width = (int)(strlen(k->keys) + strlen(k->what)) + 3;
    if (column + width >= s->columns) break;
    ttm_screen_words(s, row, column, TTM_STYLE_BOLD, k->keys);
    ttm_screen_words(s, row, column + (int)strlen(k->keys) + 1, TTM_STYLE_DIM, k->what);
    column += width;
  }
}

/* In place of the keys, and over what stands above them where it is long. */
static void draw_message(ttm_ui *ui) {
  ttm_buf text = {0};
  if (!ui->message.n) return;
  ttm_buf_printf(&text, "\x1b[%sm", ui->message_is_bad ? "31" : "36");
  ttm_buf_put(&text, ttm_buf_str(&ui->message));
  ttm_draw_text(&ui->screen, -1, &text);
}

static void draw(ttm_ui *ui) {
  ttm_screen *s = &ui->screen;
  ttm_screen_clear(s);
  if (s->rows < TTM_MIN_ROWS || s->columns < TTM_MIN_COLUMNS) {
    ttm_screen_words(s, 0, 0, TTM_STYLE_PLAIN, "Please make the window larger.");
  } else {
    draw_title(ui, ui->top);
    draw_keys(ui, ui->top);
    ui->top->class->draw(ui, ui->top);
    draw_message(ui);
  }
  ttm_screen_show(s);
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

static void show_help(ttm_ui *ui) {
  ttm_buf text = {0};
  for (const ttm_key_help *k = ui->top->class->keys; k && k->keys; k++) {
    ttm_buf_printf(&text, "  \x1b[1m%-14s\x1b[0m %s\n", k->keys, k->what);
  }
  ttm_buf_puts(&text,
               "\nEverywhere\n"
               "  \x1b[1marrows, hjkl\x1b[0m   move\n"
               "  \x1b[1mPgUp, PgDn\x1b[0m     a page; g and G go to the first and the last row\n"
               "  \x1b[1mq, Esc\x1b[0m         back\n"
               "  \x1b[1mQ\x1b[0m              leave the program\n"
               "  \x1b[1m?\x1b[0m              this help\n");
  ttm_ui_push(ui, ttm_text_panel("Keys", ui->top->class->title, &text));
}

/* Back, out, and what the keys mean: these never wait. */
static bool is_leaving(const ttm_panel *panel, int key) {
  return key == TTM_KEY_ESCAPE || (!panel->class->typing && (key == 'q' || key == 'Q' || key == '?'));
}

static unsigned give(ttm_ui *ui, int key) {
  ttm_panel *panel = ui->top;
  bool leaving = is_leaving(panel, key); /* asked before: the panel may be gone afterwards */
  unsigned what = panel->class->key(ui, panel, key);
  if (!leaving) return what;
  if (what != TTM_KEY_IGNORED && what != TTM_KEY_LATER) return what;
  if (key == '?') return show_help(ui), TTM_KEY_TAKEN;
  return key == 'Q' ? TTM_KEY_QUIT : TTM_KEY_CLOSE;
}

/* False when the program is to end. */
static bool is_going(ttm_ui *ui, unsigned what) {
  if (what & TTM_KEY_CLOSE) pop(ui);
  return !(what & TTM_KEY_QUIT) && ui->top;
}

static bool handle(ttm_ui *ui, int key) {
  if (key == TTM_KEY_RESIZED) return true;
  ttm_buf_clear(&ui->message);
  bool waits = ui->later.n && !is_leaving(ui->top, key);
  unsigned what = waits ? TTM_KEY_LATER : give(ui, key);
  if (what == TTM_KEY_LATER && ttm_vec_push(&ui->later, key)) ttm_ui_complain(ui, "Out of memory on this host.");
  if (what != TTM_KEY_LATER) ui->later.n = 0; /* whoever leaves did not wait for it */
  return is_going(ui, what);
}

/* Keys that waited, as far as they are wanted now. Each goes to what the one before it brought onto the screen. */
static bool catch_up(ttm_ui *ui) {
  while (ui->later.n) {
    draw(ui);
    ttm_buf_clear(&ui->message);
    unsigned what = give(ui, ui->later.at[0]);
    if (what == TTM_KEY_LATER) return true;
    memmove(ui->later.at, ui->later.at + 1, --ui->later.n * sizeof *ui->later.at);
    if (!is_going(ui, what)) return false;
  }
  return true;
}

/* True when something moves by itself. */
static bool tick_all(ttm_ui *ui) {
  ttm_panel *panel = ui->top;
  while (panel && !(panel->class->tick && (panel == ui->top || panel->class->always))) panel = panel->below;
  return panel && panel->class->tick(ui, panel);
}

int ttm_ui_run(const ttm_ui_options *options, ttm_error *err) {
  ttm_ui ui = {.options = options};
  int status = ttm_screen_open(&ui.screen, options->utf8, options->color, err);
  if (status) return status;
  ttm_ui_push(&ui, options->watch ? ttm_watch_panel(options->watch) : ttm_menu_panel());
  bool going = ui.top != NULL;
  if (!going) status = ttm_error_nomem(err);
  for (bool changed = true; going;) {
    bool moving = tick_all(&ui);
    if (ui.over) break;
    bool waiting = ui.later.n > 0;
    if (!(going = catch_up(&ui))) break;
    if (changed || waiting) draw(&ui);
    /* A resize that comes just before the wait for a key is seen by the next wait only: none lasts for long. */
    int key = ttm_screen_key(&ui.screen, moving ? 100 : 500);
    changed = moving || key != TTM_KEY_NONE; /* the last tick of what moved changed something too */
    if (key != TTM_KEY_NONE) going = handle(&ui, key);
  }
  while (ui.top) pop(&ui);
  ttm_buf_free(&ui.message);
  ttm_vec_free(&ui.later);
  ttm_screen_close(&ui.screen);
  return status;
}
