/* SPDX-License-Identifier: Apache-2.0 */
/* Every statement with its evidence: a text whose rows lead to their operations. */
#include "base/alloc.h"
#include "report/run/statements.h"
#include "ui/report.h"
#include "ui/text_lines.h"

typedef struct findings_view {
  const ttm_ui_subject *subject;
  ttm_doc_lines about;
  ttm_text_lines lines;
  TTM_VEC(size_t) rows; /* first lines of what can be chosen */
  ttm_cursor cursor;
} findings_view;

static void write_view(findings_view *v, const ttm_screen *screen) {
  ttm_buf text = {0};
  ttm_doc doc = {
      .out = &text, .columns = (unsigned)screen->columns - 2, .color = true, .utf8 = screen->utf8, .lines = &v->about};
  v->about.n = v->rows.n = 0;
  ttm_doc_statements(&doc, &ttm_ui_told(v->subject)->statements);
  text.failed |= ttm_doc_end(&doc) != TTM_OK;
  for (size_t i = 0; i < v->about.n; i++) {
    if (v->about.at[i].text && !v->about.at[i].goes_on && ttm_vec_push(&v->rows, i)) break;
  }
  ttm_text_lines_take(&v->lines, &text);
  v->cursor.n = v->rows.n;
}

static void *make_findings(const ttm_ui_subject *subject) {
  findings_view *v = ttm_alloc(sizeof *v);
  if (v) v->subject = subject;
  return v;
}

static void draw_findings(void *view, ttm_screen *screen) {
  findings_view *v = view;
  if (v->lines.columns != screen->columns) write_view(v, screen);
  v->cursor.page = (size_t)ttm_view_height(screen) / 2;
  if (v->cursor.at < v->rows.n) {
    v->lines.mark = v->rows.at[v->cursor.at];
    v->lines.mark_end = v->lines.mark + 1;
    while (v->lines.mark_end < v->about.n && v->about.at[v->lines.mark_end].goes_on) v->lines.mark_end++;
    ttm_text_lines_see(&v->lines, screen, ttm_view_height(screen));
  }
  ttm_text_lines_draw(&v->lines, screen, TTM_VIEW_ROW, ttm_view_height(screen));
}

static bool findings_key(void *view, ttm_ui *ui, int key) {
  findings_view *v = view;
  if (key != TTM_KEY_ENTER) return ttm_cursor_key(&v->cursor, key);
  uint32_t index = v->cursor.at < v->rows.n ? v->about.at[v->rows.at[v->cursor.at]].operation : TTM_NONE;
  if (!v->subject->findings) return ttm_ui_say(ui, "The operations of this report are gone."), true;
  uint32_t op = index == TTM_NONE ? TTM_NONE : ttm_findings_op(v->subject->findings, index);
  if (op == TTM_NONE)
    ttm_ui_say(ui, "This row names no operation.");
  else
    ttm_ui_show_operation(ui, v->subject->findings, op);
  return true;
}

static void free_findings(void *view) {
  findings_view *v = view;
  ttm_text_lines_free(&v->lines);
  ttm_vec_free(&v->about);
  ttm_vec_free(&v->rows);
  ttm_free(v);
}

static const ttm_key_help KEYS[] = {{"Enter", "operation"}, {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_findings = {.name = "Findings",
                                          .keys = KEYS,
                                          .make = make_findings,
                                          .draw = draw_findings,
                                          .key = findings_key,
                                          .free = free_findings,
                                          .tells = true};
