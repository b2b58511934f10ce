/* SPDX-License-Identifier: Apache-2.0 */
/* Shows how far the reading of a log is, then its report. */
#include "base/alloc.h"
#include "ui/job.h"

typedef struct reading {
  ttm_panel panel;
  ttm_job *job;
  ttm_buf log; /* NUL-terminated */
} reading;

static void draw_reading(ttm_ui *ui, ttm_panel *panel) { ttm_job_draw(((reading *)panel)->job, &ui->screen, 2); }

static void show_failure(ttm_ui *ui, const char *log, const ttm_error *err) {
  ttm_buf text = {0};
  ttm_buf_puts(&text, "\x1b[31mThis log cannot be used.\x1b[0m\n\n");
  ttm_job_put_error(&text, err, &ui->screen);
  ttm_ui_replace(ui, ttm_text_panel("Not a log", log, &text));
}

static bool tick_reading(ttm_ui *ui, ttm_panel *panel) {
  reading *r = (reading *)panel;
  ttm_error err;
  int status;
  if (!ttm_job_done(r->job, &status, &err)) return true;
  if (status) return show_failure(ui, r->log.at, &err), false;
  ttm_panel *report = ttm_report_panel(ttm_job_subject(r->job), NULL);
  ttm_ui_replace(ui, report);
  if (report) ttm_ui_say(ui, "The report is written. s serves it to your browser, Tab shows the other views.");
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

ttm_panel *ttm_reading_panel(const char *log) {
  static const ttm_key_help keys[] = {{"q", "back"}, {NULL, NULL}};
  static const ttm_panel_class class = {.title = "Reading",
                                        .keys = keys,
                                        .draw = draw_reading,
                                        .key = reading_key,
                                        .tick = tick_reading,
                                        .free = free_reading};
  reading *r = ttm_alloc(sizeof *r);
  if (!r) return NULL;
  r->panel.class = &class;
  ttm_buf_puts(&r->log, log);
  ttm_buf_char(&r->log, '\0');
  if (!r->log.failed && (r->job = ttm_job_log(log))) return &r->panel;
  free_reading(&r->panel);
  return NULL;
}
