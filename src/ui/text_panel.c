/* SPDX-License-Identifier: Apache-2.0 */
/* Text that can be scrolled. */
#include "base/alloc.h"
#include "ui/text_lines.h"

typedef struct text_panel {
  ttm_panel panel;
  ttm_panel_class class; /* its own, for the title */
  ttm_text_lines lines;
  ttm_buf subject;
} text_panel;

static void draw_text(ttm_ui *ui, ttm_panel *panel) {
  ttm_text_lines_draw(&((text_panel *)panel)->lines, &ui->screen, 2, ui->screen.rows - 3);
}

static unsigned text_key(ttm_ui *ui, ttm_panel *panel, int key) {
  if (key == 'h' || key == TTM_KEY_LEFT) return TTM_KEY_CLOSE;
  return ttm_text_lines_key(&((text_panel *)panel)->lines, key, ui->screen.rows - 4) ? TTM_KEY_TAKEN : TTM_KEY_IGNORED;
}

static void free_text(ttm_panel *panel) {
  text_panel *t = (text_panel *)panel;
  ttm_text_lines_free(&t->lines);
  ttm_buf_free(&t->subject);
  ttm_free(t);
}

ttm_panel *ttm_text_panel(const char *title, const char *subject, ttm_buf *text) {
  static const ttm_key_help keys[] = {{"j/k", "scroll"}, {"q", "back"}, {NULL, NULL}};
  text_panel *t = ttm_alloc(sizeof *t);
  if (!t) {
    ttm_buf_free(text);
    return NULL;
  }
  t->class = (ttm_panel_class){.title = title, .keys = keys, .draw = draw_text, .key = text_key, .free = free_text};
  t->panel.class = &t->class;
  bool fine = ttm_text_lines_take(&t->lines, text) == TTM_OK;
  if (subject) {
    ttm_buf_puts(&t->subject, subject);
    ttm_buf_char(&t->subject, '\0');
    t->panel.subject = t->subject.at;
  }
  if (fine && !t->subject.failed) return &t->panel;
  free_text(&t->panel);
  return NULL;
}
