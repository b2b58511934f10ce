/* SPDX-License-Identifier: Apache-2.0 */
/* Every analysis with its evidence: a text whose rows lead to their operations. */
#include "base/alloc.h"
#include "report/files/report.h"
#include "report/run/analyses.h"
#include "ui/report.h"
#include "ui/text_lines.h"

typedef struct findings_view {
  const ttm_ui_subject *subject;
  ttm_buf json; /* what is shown, when the report kept no findings file */
  ttm_analyses all;
  ttm_text_lines lines;
  TTM_VEC(size_t) rows; /* first lines of what can be chosen */
  ttm_cursor cursor;
  int columns; /* it was made for */
} findings_view;

static void write_view(findings_view *v, const ttm_screen *screen) {
  bool kept = v->subject->kept.n > 0;
  ttm_summary_style style = {
      .columns = screen->columns > 74 ? (unsigned)screen->columns - 2 : 72, .color = true, .utf8 = screen->utf8};
  ttm_text_lines_free(&v->lines);
  ttm_analyses_free(&v->all);
  v->lines = (ttm_text_lines){0};
  v->all = (ttm_analyses){0};
  v->rows.n = 0;
  v->columns = screen->columns;
  if (ttm_analyses_write(&v->all, ttm_buf_str(kept ? &v->subject->kept : &v->json), &style,
                         v->subject->rebuilt && !kept))
    return;
  for (size_t i = 0; i < v->all.lines.n; i++) {
    if (v->all.lines.at[i].part == TTM_LINE_STARTS && ttm_vec_push(&v->rows, i)) return;
  }
  ttm_text_lines_take(&v->lines, &v->all.text);
  v->cursor.n = v->rows.n;
}

static void *make_findings(const ttm_ui_subject *subject, const ttm_screen *screen) {
  findings_view *v = ttm_alloc(sizeof *v);
  if (!v) return NULL;
  v->subject = subject;
  if (!subject->kept.n) {
    ttm_error err;
    ttm_out out = ttm_out_memory();
    if (!ttm_report_findings_json(subject->findings, &out, &err)) v->json = out.buf, out.buf = (ttm_buf){0};
    ttm_out_abandon(&out);
  }
  write_view(v, screen);
  return v;
}

static void draw_findings(void *view, ttm_screen *screen) {
  findings_view *v = view;
  if (v->columns != screen->columns) write_view(v, screen);
  if (v->cursor.at < v->rows.n) {
    v->lines.mark = v->rows.at[v->cursor.at];
    v->lines.mark_end = v->lines.mark + 1;
    while (v->lines.mark_end < v->all.lines.n && v->all.lines.at[v->lines.mark_end].part == TTM_LINE_GOES_ON)
      v->lines.mark_end++;
    ttm_text_lines_see(&v->lines, ttm_view_height(screen));
  }
  ttm_text_lines_draw(&v->lines, screen, TTM_VIEW_ROW, ttm_view_height(screen));
}

static bool findings_key(void *view, ttm_ui *ui, int key) {
  findings_view *v = view;
  if (key != TTM_KEY_ENTER) return ttm_cursor_key(&v->cursor, key, ttm_view_height(&ui->screen) / 2);
  uint32_t index = v->cursor.at < v->rows.n ? v->all.lines.at[v->rows.at[v->cursor.at]].op : TTM_NONE;
  uint32_t op = index == TTM_NONE ? TTM_NONE : ttm_findings_op(v->subject->findings, index);
  if (op == TTM_NONE)
    ttm_ui_say(ui, "This one is about no single operation.");
  else
    ttm_ui_show_operation(ui, v->subject->findings, op);
  return true;
}

static void free_findings(void *view) {
  findings_view *v = view;
  ttm_text_lines_free(&v->lines);
  ttm_analyses_free(&v->all);
  ttm_vec_free(&v->rows);
  ttm_buf_free(&v->json);
  ttm_free(v);
}

static const ttm_key_help KEYS[] = {{"Enter", "operation"}, {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_findings = {"Findings", KEYS, make_findings, draw_findings, findings_key, free_findings};
