/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report.h"

#include "analyze/words.h"
#include "base/alloc.h"
#include "report/run/ask.h"
#include "report/run/explain.h"
#include "store/catalog.h"
#include "store/report_find.h"
#include "ui/job.h"
#include "ui/text_lines.h"

static const ttm_view_class *const VIEWS[] = {&ttm_view_summary,  &ttm_view_timeline,   &ttm_view_top,
                                              &ttm_view_live,     &ttm_view_operations, &ttm_view_failures,
                                              &ttm_view_findings, &ttm_view_cores};
enum { VIEW_COUNT = sizeof VIEWS / sizeof *VIEWS, MAX_KEYS = 20, OWN_KEYS = 4, TABS = 80 };

typedef struct report {
  ttm_panel panel;
  ttm_panel_class class; /* its own: the keys are those of the view on show */
  ttm_key_help keys[MAX_KEYS + 1];
  ttm_ui_subject subject;
  ttm_job *job;            /* reads the operations; NULL when it is done */
  ttm_error err;           /* why there are none */
  void *views[VIEW_COUNT]; /* made when first looked at */
  size_t at;
} report;

void ttm_ui_subject_free(ttm_ui_subject *subject) {
  ttm_occupancy_free(&subject->occupancy);
  ttm_findings_free(subject->findings);
  ttm_profile_free(subject->profile);
  ttm_findings_free(subject->told);
  ttm_profile_free(subject->told_profile);
  ttm_buf_free(&subject->folder);
  ttm_buf_free(&subject->name);
  *subject = (ttm_ui_subject){0};
}

/* ---- The panel ----------------------------------------------------------------------------------------------------- */

/* The line of keys has room for a few of the view's own, then those of every view; the help shows all. */
static void choose_view(report *r, size_t at) {
  static const ttm_key_help common[] = {
      {"Tab", "view"}, {"b", "bank/chip"},       {"q", "back"}, {"?", "help"}, {"s", "serve"},
      {"f", "fit"},    {"1-8", "choose a view"}, {NULL, NULL}};
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
    column = 1 + ttm_screen_print(s, 1, column, i == r->at ? TTM_STYLE_SELECTED : TTM_STYLE_DIM, "%zu%s%s", i + 1,
                                  named ? " " : "", named ? VIEWS[i]->name : "");
  }
}

static bool is_ready(const report *r) { return r->subject.findings || (r->subject.told && VIEWS[r->at]->tells); }

static void draw_error(ttm_screen *s, const ttm_error *err) {
  ttm_buf text = {0};
  ttm_buf_puts(&text, "\x1b[31mThe operations of this report cannot be read.\x1b[0m\n");
  ttm_job_put_error(&text, err, s);
  ttm_draw_text(s, TTM_VIEW_ROW, &text);
}

static void draw_report(ttm_ui *ui, ttm_panel *panel) {
  report *r = (report *)panel;
  draw_tabs(&ui->screen, r);
  if (!is_ready(r)) return r->job ? ttm_job_draw(r->job, &ui->screen, TTM_VIEW_ROW) : draw_error(&ui->screen, &r->err);
  if (!r->views[r->at]) r->views[r->at] = VIEWS[r->at]->make(&r->subject);
  if (r->views[r->at])
    VIEWS[r->at]->draw(r->views[r->at], &ui->screen);
  else
    ttm_screen_words(&ui->screen, TTM_VIEW_ROW, 1, TTM_STYLE_BAD, "Out of memory on this host.");
}

/* Keys of the panel itself. */
static unsigned own_key(ttm_ui *ui, report *r, int key) {
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
  else if (key == 'f' && r->subject.folder.n)
    ttm_ui_push(ui, ttm_answer_panel(ui, TTM_UI_FIT, r->subject.folder.at, ""));
  else if (key == 's')
    ttm_ui_complain(ui, "Only a report that was written can be served.");
  else
    return TTM_KEY_IGNORED;
  return TTM_KEY_TAKEN;
}

/* A view that is still being read gets its keys when it is there; those that lead to another view work at once. Arrows may mean either: a view
 * with a cursor of its own takes them. */
static unsigned report_key(ttm_ui *ui, ttm_panel *panel, int key) {
  report *r = (report *)panel;
  void *view = r->views[r->at];
  bool elsewhere = key == TTM_KEY_TAB || key == TTM_KEY_BACK_TAB || (key >= '1' && key < '1' + VIEW_COUNT);
  if (r->job && !elsewhere && (!is_ready(r) || key == TTM_KEY_ENTER)) return TTM_KEY_LATER;
  if (is_ready(r) && view && VIEWS[r->at]->key(view, ui, key)) return TTM_KEY_TAKEN;
  return own_key(ui, r, key);
}

static bool tick_report(ttm_ui *ui, ttm_panel *panel) {
  report *r = (report *)panel;
  int status;
  (void)ui;
  if (!r->job || !ttm_job_done(r->job, &status, &r->err)) return r->job != NULL;
  ttm_ui_subject *read = ttm_job_subject(r->job), *s = &r->subject;
  s->gone = status != TTM_OK;
  if (!status) {
    s->profile = read->profile, s->findings = read->findings, s->occupancy = read->occupancy;
    s->changed = read->changed, s->rebuilt = read->rebuilt;
    read->profile = NULL, read->findings = NULL, read->occupancy = (ttm_occupancy){0};
  }
  ttm_job_free(r->job);
  r->job = NULL;
  return true; /* once more: something changed */
}

static void free_report(ttm_panel *panel) {
  report *r = (report *)panel;
  for (size_t i = 0; i < VIEW_COUNT; i++) {
    if (r->views[i]) VIEWS[i]->free(r->views[i]);
  }
  ttm_job_free(r->job);
  ttm_ui_subject_free(&r->subject);
  ttm_free(r);
}

ttm_panel *ttm_report_panel(ttm_ui_subject *subject, ttm_job *job) {
  report *r = ttm_alloc(sizeof *r);
  if (!r) {
    ttm_job_free(job);
    ttm_ui_subject_free(subject);
    return NULL;
  }
  r->class = (ttm_panel_class){.title = "Report",
                               .keys = r->keys,
                               .draw = draw_report,
                               .key = report_key,
                               .tick = tick_report,
                               .free = free_report};
  r->job = job;
  r->subject = *subject;
  *subject = (ttm_ui_subject){0};
  r->panel.class = &r->class;
  r->panel.subject = r->subject.name.at;
  choose_view(r, 0);
  return &r->panel;
}

/* What the report says itself. A report without findings, or of a later ttmem, says nothing before its operations are read. */
static void read_told(ttm_ui_subject *s) {
  ttm_catalog catalog = {0};
  ttm_buf text = {0};
  ttm_error err;
  if (!ttm_catalog_read(&catalog, s->folder.at, NULL) && catalog.entries.n == 1 && !catalog.entries.at[0].later)
    ttm_catalog_findings(&catalog, &catalog.entries.at[0], &text);
  if (!text.n || ttm_report_read_findings(&s->told_profile, &s->told, ttm_buf_str(&text), s->folder.at, &err)) {
    ttm_findings_free(s->told);
    ttm_profile_free(s->told_profile);
    s->told = NULL, s->told_profile = NULL;
  }
  ttm_buf_free(&text);
  ttm_catalog_free(&catalog);
}

ttm_panel *ttm_stored_panel(const char *log, const char *folder, const char *name, bool changed) {
  ttm_ui_subject s = {0};
  if (!folder) return NULL;
  ttm_buf_puts(&s.folder, folder);
  ttm_buf_char(&s.folder, '\0');
  ttm_buf_puts(&s.name, name);
  ttm_buf_char(&s.name, '\0');
  if (!s.folder.failed) read_told(&s);
  ttm_job *job = s.folder.failed || s.name.failed ? NULL : ttm_job_report(log, folder, changed);
  if (job) return ttm_report_panel(&s, job);
  ttm_ui_subject_free(&s);
  return NULL;
}

/* ---- Views that are text ------------------------------------------------------------------------------------------- */

typedef struct text_view {
  ttm_text_lines lines;
  const ttm_ui_subject *subject;
  int rows;               /* of the screen it was made for */
  const ttm_findings *of; /* it was made of */
  const char *note;
  bool failures;
} text_view;

/* What is to be known of where the operations are from; NULL. */
static const char *note_of(const ttm_ui_subject *s) {
  if (s->gone) return "The log and the memory states of this report are gone: these are its findings.";
  if (s->changed && s->rebuilt)
    return "The log has changed since the report was made: this is what the report's files hold.";
  if (s->changed) return "The log has changed since the report was made: the operations are those of today's log.";
  return s->rebuilt ? "The log is gone: this is what the report's files hold." : NULL;
}

static void write_view(text_view *v, const ttm_screen *screen) {
  const ttm_findings *f = v->of;
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
    if (v->note) ttm_buf_printf(&text, "\x1b[33m%s\x1b[0m\n\n", v->note);
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
  const ttm_ui_subject *s = v->subject;
  /* A failure's picture is drawn with the operations at hand when there are some. */
  const ttm_findings *of = v->failures && s->findings ? s->findings : ttm_ui_told(s);
  bool old = v->lines.columns != screen->columns || v->rows != screen->rows || v->note != note_of(s) || v->of != of;
  v->note = note_of(s);
  v->of = of;
  if (old) write_view(v, screen);
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
const ttm_view_class ttm_view_summary = {.name = "Summary",
                                         .keys = SCROLL,
                                         .make = make_summary,
                                         .draw = draw_text_view,
                                         .key = text_view_key,
                                         .free = free_text_view,
                                         .tells = true};
const ttm_view_class ttm_view_failures = {.name = "Failures",
                                          .keys = SCROLL,
                                          .make = make_failures,
                                          .draw = draw_text_view,
                                          .key = text_view_key,
                                          .free = free_text_view,
                                          .tells = true};

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
