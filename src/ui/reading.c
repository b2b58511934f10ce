/* SPDX-License-Identifier: Apache-2.0 */
/* Shows how far the reading of a log is, then its report; the same for what other commands answer. */
#include "base/alloc.h"
#include "ui/job.h"

typedef struct reading {
  ttm_panel panel;
  ttm_job *job;
  ttm_buf log;        /* NUL-terminated */
  const char *answer; /* title of the document; NULL: a log becomes a report */
} reading;

static void draw_reading(ttm_ui *ui, ttm_panel *panel) { ttm_job_draw(((reading *)panel)->job, &ui->screen, 2); }

static void show_failure(ttm_ui *ui, const reading *r, const ttm_error *err) {
  ttm_buf text = {0};
  ttm_buf_puts(&text, r->answer ? "\x1b[31m" : "\x1b[31mThis log cannot be used.\x1b[0m\n\n");
  ttm_job_put_error(&text, err, &ui->screen);
  ttm_ui_replace(ui, ttm_text_panel(r->answer ? r->answer : "Not a log", r->answer ? NULL : r->log.at, &text));
}

static void show_report(ttm_ui *ui, const reading *r) {
  ttm_panel *report = ttm_report_panel(ttm_job_subject(r->job), NULL);
  ttm_ui_replace(ui, report);
  if (report) ttm_ui_say(ui, "The report is written. s serves it to your browser, Tab shows the other views.");
}

static bool tick_reading(ttm_ui *ui, ttm_panel *panel) {
  reading *r = (reading *)panel;
  ttm_error err;
  int status;
  if (!ttm_job_done(r->job, &status, &err)) return true;
  if (status)
    show_failure(ui, r, &err);
  else if (r->answer)
    ttm_ui_replace(ui, ttm_text_panel(r->answer, NULL, ttm_job_text(r->job)));
  else
    show_report(ui, r);
  return false;
}

static unsigned reading_key(ttm_ui *ui, ttm_panel *panel, int key) {
  (void)ui, (void)panel, (void)key;
  return TTM_KEY_LATER;
}

static void free_reading(ttm_panel *panel) {
  ttm_job_free(((reading *)panel)->job);
  ttm_buf_free(&((reading *)panel)->log);
  ttm_free(panel);
}

/* Takes the job over, NULL too. */
static ttm_panel *make_reading(ttm_job *job, const char *log, const char *answer) {
  static const ttm_key_help keys[] = {{"q", "back"}, {NULL, NULL}};
  static const ttm_panel_class class = {.title = "Reading",
                                        .keys = keys,
                                        .draw = draw_reading,
                                        .key = reading_key,
                                        .tick = tick_reading,
                                        .free = free_reading};
  reading *r = job ? ttm_alloc(sizeof *r) : NULL;
  if (!r) return ttm_job_free(job), NULL;
  *r = (reading){.panel.class = &class, .job = job, .answer = answer};
  ttm_buf_puts(&r->log, log);
  ttm_buf_char(&r->log, '\0');
  if (!r->log.failed) return &r->panel;
  free_reading(&r->panel);
  return NULL;
}

ttm_panel *ttm_reading_panel(const char *log) { return make_reading(ttm_job_log(log), log, NULL); }

ttm_panel *ttm_answer_panel(const ttm_ui *ui, ttm_ui_command command, const char *first, const char *second) {
  static const char *const titles[] = {"Explain", "Fit", "Compare"};
  ttm_ui_question question = {.command = command,
                              .inputs = {first, second},
                              .columns = (unsigned)ui->screen.columns - 2,
                              .utf8 = ui->screen.utf8};
  return make_reading(ttm_job_answer(ui->options, &question), first, titles[command]);
}
