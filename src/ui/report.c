/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report.h"

#include "analyze/words.h"
#include "base/alloc.h"
#include "report/run/ask.h"
#include "report/run/explain.h"
#include "ui/text_lines.h"

static const ttm_view_class *const VIEWS[] = {&ttm_view_summary, &ttm_view_timeline,   &ttm_view_top,
                                              &ttm_view_live,    &ttm_view_operations, &ttm_view_failures,
                                              &ttm_view_findings};
enum { VIEW_COUNT = sizeof VIEWS / sizeof *VIEWS, MAX_KEYS = 16, OWN_KEYS = 4, TABS = 80 };

typedef struct report {
  ttm_panel panel;
  ttm_panel_class class; /* its own: the keys are those of the view on show */
  ttm_key_help keys[MAX_KEYS + 1];
  ttm_ui_subject subject;
  void *views[VIEW_COUNT]; /* made when first looked at */
  size_t at;
} report;

void ttm_ui_subject_free(ttm_ui_subject *subject) {
  ttm_findings_free(subject->findings);
  ttm_profile_free(subject->profile);
  ttm_buf_free(&subject->folder);
  ttm_buf_free(&subject->name);
  *subject = (ttm_ui_subject){0};
}

/* ---- The panel ----------------------------------------------------------------------------------------------------- */

/* The line of keys has room for a few of the view's own, then those of every view; the help shows all. */
static void choose_view(report *r, size_t at) {
  static const ttm_key_help common[] = {{"Tab", "view"}, {"b", "bank/chip"},       {"q", "back"}, {"?", "help"},
                                        {"s", "serve"},  {"1-7", "choose a view"}, {NULL, NULL}};
  const ttm_key_help *own = VIEWS[at]->keys;
  size_t n = 0;
  r->at = at;
  while (own->keys && n < OWN_KEYS) r->keys[n++] = *own++;
  for (const ttm_key_help *k = common; k->keys; k++) r->keys[n++] = *k;
  while (own->keys && n < MAX_KEYS) r->keys[n++] = *own++;
  r->keys[n] = (ttm_key_help){NULL, NULL};
}

/* On a narrow screen only the chosen one has a name. */
static void draw_tabs(ttm_screen *s, const report *r) {
  int column = 1;
  for (size_t i = 0; i < VIEW_COUNT; i++) {
    bool named = i == r->at || s->columns >= TABS;
    column = ttm_screen_print(s, 1, column, i == r->at ? TTM_STYLE_SELECTED : TTM_STYLE_DIM, " %zu%s%s ", i + 1,
                              named ? " " : "", named ? VIEWS[i]->name : "");
  }
}

static void draw_report(ttm_ui *ui, ttm_panel *panel) {
  report *r = (report *)panel;
  draw_tabs(&ui->screen, r);
  if (!r->views[r->at]) r->views[r->at] = VIEWS[r->at]->make(&r->subject);
  if (r->views[r->at])
    VIEWS[r->at]->draw(r->views[r->at], &ui->screen);
  else
    ttm_screen_words(&ui->screen, TTM_VIEW_ROW, 1, TTM_STYLE_BAD, "Out of memory on this host.");
}

static unsigned report_key(ttm_ui *ui, ttm_panel *panel, int key) {
  report *r = (report *)panel;
  void *view = r->views[r->at];
  if (view && VIEWS[r->at]->key(view, ui, key)) return TTM_KEY_TAKEN;
  if (key == TTM_KEY_TAB || key == TTM_KEY_RIGHT || key == 'l')
    choose_view(r, (r->at + 1) % VIEW_COUNT);
  else if (key == TTM_KEY_BACK_TAB || key == TTM_KEY_LEFT || key == 'h')
    choose_view(r, (r->at + VIEW_COUNT - 1) % VIEW_COUNT);
  else if (key >= '1' && key < '1' + VIEW_COUNT)
    choose_view(r, (size_t)(key - '1'));
  else if (key == 'b')
    r->subject.per_chip = !r->subject.per_chip;
  else if (key == 's' && r->subject.folder.n)
    ttm_ui_push(ui, ttm_serving_panel(ui, r->subject.folder.at, r->subject.name.at));
  else if (key == 's')
    ttm_ui_complain(ui, "Only a report that was written can be served.");
  else
    return TTM_KEY_IGNORED;
  return TTM_KEY_TAKEN;
}

static void free_report(ttm_panel *panel) {
  report *r = (report *)panel;
  for (size_t i = 0; i < VIEW_COUNT; i++) {
    if (r->views[i]) VIEWS[i]->free(r->views[i]);
  }
  ttm_ui_subject_free(&r->subject);
  ttm_free(r);
}

ttm_panel *ttm_report_panel(ttm_ui_subject *subject) {
  report *r = ttm_alloc(sizeof *r);
  if (!r) {
    ttm_ui_subject_free(subject);
    return NULL;
  }
  r->class = (ttm_panel_class){
      .title = "Report", .keys = r->keys, .draw = draw_report, .key = report_key, .free = free_report};
  r->subject = *subject;
  *subject = (ttm_ui_subject){0};
  r->panel.class = &r->class;
  r->panel.subject = r->subject.name.at;
  choose_view(r, 0);
  return &r->panel;
}

/* ---- Views that are text ------------------------------------------------------------------------------------------- */

typedef struct text_view {
  ttm_text_lines lines;
  const ttm_ui_subject *subject;
  int rows; /* of the screen it was made for */
  bool failures;
} text_view;

static void write_view(text_view *v, const ttm_screen *screen) {
  const ttm_findings *f = v->subject->findings;
  ttm_buf text = {0};
  ttm_summary_style style = {.columns = (unsigned)screen->columns - 2,
                             .color = true,
                             .utf8 = screen->utf8,
                             .rows = (unsigned)ttm_view_height(screen) + 2};
  if (v->failures && f->incidents.n) {
    ttm_explain_write(f, &style, &text);
  } else if (v->failures) {
    const ttm_statement *none = ttm_statements_first(&f->statements, TTM_TOPIC_FAILURE);
    if (none) ttm_put_text(&text, none->headline, SIZE_MAX, ttm_screen_form(screen)), ttm_buf_char(&text, '.');
  } else {
    const char *note = v->subject->changed ? "The log has changed since the report was made: this is the log of today."
                       : v->subject->rebuilt ? "The log is gone: this is what the report's files hold."
                                             : NULL;
    if (note) ttm_buf_printf(&text, "\x1b[33m%s\x1b[0m\n\n", note);
    ttm_summary_write(f, &style, &text);
  }
  ttm_text_lines_take(&v->lines, &text);
  v->rows = screen->rows;
}

static void *make_text(const ttm_ui_subject *subject, bool failures) {
  text_view *v = ttm_alloc(sizeof *v);
  if (!v) return NULL;
  v->subject = subject;
  v->failures = failures;
  return v;
}

static void *make_summary(const ttm_ui_subject *subject) { return make_text(subject, false); }
static void *make_failures(const ttm_ui_subject *subject) { return make_text(subject, true); }

static void draw_text_view(void *view, ttm_screen *screen) {
  text_view *v = view;
  if (v->lines.columns != screen->columns || v->rows != screen->rows) write_view(v, screen);
  ttm_text_lines_draw(&v->lines, screen, TTM_VIEW_ROW - 1, ttm_view_height(screen) + 1);
}

static bool text_view_key(void *view, ttm_ui *ui, int key) {
  return ttm_text_lines_key(&((text_view *)view)->lines, key, ttm_view_height(&ui->screen) + 1);
}

static void free_text_view(void *view) {
  ttm_text_lines_free(&((text_view *)view)->lines);
  ttm_free(view);
}

static const ttm_key_help SCROLL[] = {{"j/k", "scroll"}, {NULL, NULL}};
const ttm_view_class ttm_view_summary = {"Summary",      SCROLL,        make_summary,
                                         draw_text_view, text_view_key, free_text_view};
const ttm_view_class ttm_view_failures = {"Failures",     SCROLL,        make_failures,
                                          draw_text_view, text_view_key, free_text_view};

/* ---- Shared -------------------------------------------------------------------------------------------------------- */

void ttm_put_operation(ttm_buf *out, const ttm_screen *screen, const ttm_findings *f, uint32_t op, ttm_str place) {
  ttm_text_form form = ttm_screen_form(screen);
  if (ttm_op_is_element(f->profile, op)) { /* a deallocation is not counted */
    ttm_words_index(out, f, op);
    ttm_buf_char(out, ' ');
  }
  ttm_put_text(out, ttm_words_name(f->profile, op), SIZE_MAX, form);
  if (!place.n) place = ttm_words_location(f->profile, op);
  if (ttm_str_eq(place, TTM_LIT("N/A"))) return;
  ttm_buf_puts(out, " \x1b[2m");
  ttm_put_text(out, place, SIZE_MAX, form);
  ttm_buf_puts(out, "\x1b[0m");
}

void ttm_ui_show_operation(ttm_ui *ui, const ttm_findings *f, uint32_t op) {
  ttm_buf text = {0};
  ttm_doc doc = {.out = &text, .columns = (unsigned)ui->screen.columns - 2, .color = true, .utf8 = ui->screen.utf8};
  if (op >= f->profile->ops.n) return ttm_ui_say(ui, "This state stands before no operation.");
  ttm_ask_operation(&(ttm_ask){.f = f, .doc = &doc, .whole = true}, op);
  ttm_doc_end(&doc);
  ttm_ui_push(ui, ttm_text_panel("Operation", NULL, &text));
}

double ttm_view_banks(const ttm_ui_subject *subject, ttm_memory memory) {
  const ttm_peak *peak = &subject->findings->peak[memory];
  return subject->per_chip && peak->known && peak->level.banks ? peak->level.banks : 1;
}
