/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log in a thread of its own while the screen shows how far it is. Whoever goes back leaves the thread to end by itself. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "store/report_dir.h"
#include "store/report_find.h"
#include "ui/report.h"
#include "ui/text_lines.h"

typedef enum stage { READING, JUDGING, WRITING, DONE } stage;

/* Shared by the panel and the thread; the last one that lets go frees it. */
typedef struct job {
  pthread_mutex_t lock; /* guards what follows up to `holders` */
  ttm_progress progress;
  stage stage;
  int status;
  ttm_error err;
  unsigned holders;
  char *log; /* never changes; "" when only the report's folder is there */
  bool write;
  uint64_t expected_bytes;
  ttm_ui_subject subject; /* the thread's until it is DONE, the panel's afterwards */
} job;

typedef struct reading {
  ttm_panel panel;
  job *job;
  struct timespec start;
} reading;

static void let_go(job *j) {
  pthread_mutex_lock(&j->lock);
  bool last = --j->holders == 0;
  pthread_mutex_unlock(&j->lock);
  if (!last) return;
  ttm_ui_subject_free(&j->subject);
  pthread_mutex_destroy(&j->lock);
  ttm_free(j->log);
  ttm_free(j);
}

static void enter_stage(job *j, stage next) {
  pthread_mutex_lock(&j->lock);
  j->stage = next;
  pthread_mutex_unlock(&j->lock);
}

static int note_progress(void *context, const ttm_progress *progress) {
  job *j = context;
  pthread_mutex_lock(&j->lock);
  j->progress = *progress;
  pthread_mutex_unlock(&j->lock);
  return 0;
}

/* ---- The thread ---------------------------------------------------------------------------------------------------- */

/* The report's folder under the root: the log's name, with a number when the report of another log has that one. */
static int choose_folder(job *j, ttm_error *err) {
  ttm_ui_subject *s = &j->subject;
  size_t name, folder;
  int status = ttm_report_root(&s->folder, err);
  if (status) return status;
  ttm_buf_char(&s->folder, '/');
  ttm_report_name(&s->name, j->log);
  name = s->name.n;
  folder = s->folder.n;
  for (unsigned number = 1; number < 1000; number++) {
    s->name.n = name;
    s->folder.n = folder;
    if (number > 1) ttm_buf_printf(&s->name, "-%u", number);
    ttm_buf_put(&s->folder, ttm_buf_str(&s->name));
    ttm_buf_char(&s->name, '\0');
    ttm_buf_char(&s->folder, '\0');
    char *other = NULL;
    if (s->name.failed || s->folder.failed || ttm_report_other_origin(&other, s->folder.at, j->log))
      return ttm_error_nomem(err);
    if (!other) return TTM_OK;
    ttm_free(other);
  }
  return ttm_error_set(err, TTM_EUSAGE, "There are too many reports of this name; delete some.");
}

static int read_log(job *j, ttm_error *err) {
  ttm_ui_subject *s = &j->subject;
  ttm_read_options options = {.size = sizeof options, .keep_ir = j->write, .on_progress = note_progress, .context = j};
  int status = ttm_profile_read_opts(&s->profile, j->log, &options, err);
  if (status) return status;
  enter_stage(j, JUDGING);
  s->changed = j->expected_bytes && s->profile->seen.bytes != j->expected_bytes;
  return ttm_findings_make(&s->findings, s->profile, 0, err);
}

static int do_work(job *j, ttm_error *err) {
  ttm_ui_subject *s = &j->subject;
  ttm_buf said = {0};
  s->rebuilt = !*j->log;
  int status =
      s->rebuilt ? ttm_report_read_json(&s->profile, &s->findings, s->folder.at, 0, &said, err) : read_log(j, err);
  ttm_buf_free(&said);
  if (status) return status;
  if (!j->write) return s->name.failed || s->folder.failed ? ttm_error_nomem(err) : TTM_OK;
  enter_stage(j, WRITING);
  if ((status = choose_folder(j, err))) return status;
  return ttm_report_dir_write(s->findings, s->folder.at, s->name.at, NULL, err);
}

static void *work(void *context) {
  job *j = context;
  ttm_error err = {0};
  int status = do_work(j, &err);
  pthread_mutex_lock(&j->lock);
  j->status = status;
  j->err = err;
  j->stage = DONE;
  pthread_mutex_unlock(&j->lock);
  let_go(j);
  return NULL;
}

/* ---- The panel ----------------------------------------------------------------------------------------------------- */

static double seconds_since(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void put_figures(const ttm_progress *progress, double seconds, bool reading_it, ttm_buf *out) {
  ttm_put_bytes(out, progress->read_bytes);
  ttm_buf_puts(out, ", ");
  ttm_put_counted(out, progress->operations, "operation line");
  if (seconds < 0.2 || !reading_it) return;
  ttm_buf_puts(out, ", ");
  ttm_put_bytes(out, (uint64_t)((double)progress->read_bytes / seconds));
  ttm_buf_puts(out, "/s");
}

static void draw_reading(ttm_ui *ui, ttm_panel *panel) {
  static const char *const words[] = {"Reading", "Analyzing", "Writing the report", "Done"};
  reading *r = (reading *)panel;
  ttm_screen *s = &ui->screen;
  pthread_mutex_lock(&r->job->lock);
  ttm_progress progress = r->job->progress;
  stage at = r->job->stage;
  pthread_mutex_unlock(&r->job->lock);
  double share = at != READING || progress.read_bytes > progress.total_bytes ? 1
                 : progress.total_bytes ? (double)progress.read_bytes / (double)progress.total_bytes
                                        : 0;
  ttm_buf text = {0};
  ttm_buf_printf(&text, "  \x1b[1m%s\x1b[0m\n  \x1b[2m", words[at]);
  ttm_put_text(&text, ttm_str_of(*r->job->log ? r->job->log : r->job->subject.folder.at), SIZE_MAX, ttm_screen_form(s));
  ttm_buf_puts(&text, "\x1b[0m\n\n  \x1b[36m");
  ttm_put_bar(&text, share * 100, s->columns > 74 ? 60 : (size_t)s->columns - 14, s->utf8);
  ttm_buf_printf(&text, "\x1b[1m %3.0f %%\x1b[0m\n\n  \x1b[2m", share * 100);
  put_figures(&progress, seconds_since(&r->start), at == READING, &text);
  ttm_draw_text(s, 2, &text);
}

static void show_failure(ttm_ui *ui, job *j) {
  ttm_buf text = {0};
  ttm_str rest = ttm_str_of(j->err.message);
  ttm_buf_puts(&text, "\x1b[31mThis log cannot be used.\x1b[0m\n\n");
  while (rest.n) { /* the message may have several lines, and names of files in them */
    ttm_put_text(&text, ttm_str_take_to(&rest, '\n'), SIZE_MAX, ttm_screen_form(&ui->screen));
    ttm_buf_char(&text, '\n');
  }
  ttm_ui_replace(ui, ttm_text_panel("Not a log", j->log, &text));
}

static bool tick_reading(ttm_ui *ui, ttm_panel *panel) {
  reading *r = (reading *)panel;
  pthread_mutex_lock(&r->job->lock);
  bool done = r->job->stage == DONE;
  int status = r->job->status;
  pthread_mutex_unlock(&r->job->lock);
  if (!done) return true;
  bool wrote = r->job->write;
  if (status) return show_failure(ui, r->job), false;
  ttm_panel *report = ttm_report_panel(&r->job->subject);
  ttm_ui_replace(ui, report);
  if (report && wrote) ttm_ui_say(ui, "The report is written. s serves it to your browser, Tab shows the other views.");
  return false;
}

static unsigned reading_key(ttm_ui *ui, ttm_panel *panel, int key) {
  (void)ui, (void)panel, (void)key;
  return TTM_KEY_IGNORED;
}

static void free_reading(ttm_panel *panel) {
  let_go(((reading *)panel)->job);
  ttm_free(panel);
}

static job *make_job(const char *log) {
  job *j = ttm_alloc(sizeof *j);
  if (!j) return NULL;
  j->log = ttm_alloc(strlen(log) + 1);
  j->holders = 1;
  pthread_mutex_init(&j->lock, NULL);
  if (j->log) return memcpy(j->log, log, strlen(log)), j;
  let_go(j);
  return NULL;
}

/* Takes the job over, NULL too. */
static ttm_panel *start(job *j) {
  static const ttm_key_help keys[] = {{"q", "back"}, {NULL, NULL}};
  static const ttm_panel_class class = {.title = "Reading",
                                        .keys = keys,
                                        .draw = draw_reading,
                                        .key = reading_key,
                                        .tick = tick_reading,
                                        .free = free_reading};
  pthread_t thread;
  reading *r = j ? ttm_alloc(sizeof *r) : NULL;
  if (!r) {
    if (j) let_go(j);
    return NULL;
  }
  r->panel.class = &class;
  r->job = j;
  clock_gettime(CLOCK_MONOTONIC, &r->start);
  j->holders++;
  if (!pthread_create(&thread, NULL, work, j)) {
    pthread_detach(thread);
    return &r->panel;
  }
  j->holders--;
  free_reading(&r->panel);
  return NULL;
}

ttm_panel *ttm_reading_panel(const char *log) {
  job *j = make_job(log);
  if (j) j->write = true;
  return start(j);
}

ttm_panel *ttm_stored_panel(const char *log, const char *folder, const char *name, uint64_t log_bytes) {
  job *j = folder ? make_job(log ? log : "") : NULL;
  if (!j) return NULL;
  j->expected_bytes = log_bytes;
  ttm_buf_puts(&j->subject.folder, folder);
  ttm_buf_char(&j->subject.folder, '\0');
  ttm_buf_puts(&j->subject.name, name);
  ttm_buf_char(&j->subject.name, '\0');
  return start(j);
}
